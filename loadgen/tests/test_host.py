"""What the host has."""

from pathlib import Path

import pytest

from loomlab.plan.host import cpu_order, this_host


def topology(folder: Path, *cores: tuple[int, int]) -> Path:
    """A CPU for each pair of package and core."""
    for number, (package, core) in enumerate(cores):
        place = folder / f"cpu{number}" / "topology"
        place.mkdir(parents=True)
        (place / "physical_package_id").write_text(f"{package}\n")
        (place / "core_id").write_text(f"{core}\n")
    return folder


def test_hardware_threads_of_a_core_are_next_to_each_other(tmp_path: Path) -> None:
    assert cpu_order(4, topology(tmp_path, (0, 0), (0, 1), (0, 0), (0, 1))) == [0, 2, 1, 3]


def test_a_package_after_the_other(tmp_path: Path) -> None:
    assert cpu_order(4, topology(tmp_path, (0, 0), (1, 0), (0, 1), (1, 1))) == [0, 2, 1, 3]


@pytest.mark.parametrize("count", [1, 3])
def test_where_the_kernel_does_not_tell_all_cpus_go_by_number(tmp_path: Path, count: int) -> None:
    assert cpu_order(count, topology(tmp_path, (0, 1), (0, 0))) == list(range(count))


def test_this_host_has_something_of_everything(tmp_path: Path) -> None:
    host = this_host(tmp_path)

    assert sorted(host.cpu_order) == list(range(host.cpus))
    assert host.memory_mb > 500
    assert host.open_files >= 1024
    assert host.free_mb > 0
