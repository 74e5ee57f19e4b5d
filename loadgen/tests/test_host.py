"""What the host has."""

from pathlib import Path

import pytest

from loomlab.plan.host import cpu_model, cpu_order, cpus_given, governor, this_host


def topology(folder: Path, *cores: tuple[int, int]) -> Path:
    """A CPU for each pair of package and core."""
    for number, (package, core) in enumerate(cores):
        place = folder / f"cpu{number}" / "topology"
        place.mkdir(parents=True)
        (place / "physical_package_id").write_text(f"{package}\n")
        (place / "core_id").write_text(f"{core}\n")
    return folder


def test_hardware_threads_of_a_core_are_next_to_each_other(tmp_path: Path) -> None:
    assert cpu_order(range(4), topology(tmp_path, (0, 0), (0, 1), (0, 0), (0, 1))) == [0, 2, 1, 3]


def test_a_package_after_the_other(tmp_path: Path) -> None:
    assert cpu_order(range(4), topology(tmp_path, (0, 0), (1, 0), (0, 1), (1, 1))) == [0, 2, 1, 3]


@pytest.mark.parametrize("count", [1, 3])
def test_where_the_kernel_does_not_tell_all_cpus_go_by_number(tmp_path: Path, count: int) -> None:
    assert cpu_order(range(count), topology(tmp_path, (0, 1), (0, 0))) == list(range(count))


def test_only_cpus_that_the_engine_may_use_are_handed_out(tmp_path: Path) -> None:
    assert cpu_order([1, 3], topology(tmp_path, (0, 0), (0, 1), (0, 0), (0, 0))) == [3, 1]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("cpuset.cpus.effective", "3,7-9\n", [3, 7, 8, 9]),
        ("cpuset/cpuset.effective_cpus", "0-3\n", [0, 1, 2, 3]),
        ("cpuset/cpuset.cpus", "2\n", [2]),
    ],
)
def test_the_engine_may_use_what_its_cgroup_has(tmp_path: Path, name: str, text: str, expected: list[int]) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)

    assert cpus_given(tmp_path) == expected
    (tmp_path / name).write_text("\n")
    assert cpus_given(tmp_path) == cpus_given(tmp_path / "none") == list(range(len(cpus_given(tmp_path))))


def test_this_host_has_something_of_everything(tmp_path: Path) -> None:
    host = this_host(tmp_path)

    assert sorted(host.cpu_order) == list(range(host.cpus))
    assert host.memory_mb > 500
    assert host.open_files >= 1024
    assert host.free_mb > 0


def test_a_cpu_tells_its_model(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel\t\t: 49\nmodel name\t: AMD EPYC 7R32\nprocessor\t: 1\nmodel name\t: x\n")

    assert cpu_model(info) == "AMD EPYC 7R32"
    info.write_text("processor : 0\nCPU part : 0xd0c\n")
    assert cpu_model(info) is None
    assert cpu_model(tmp_path / "none") is None


def test_governors_are_told_once_each_and_none_where_there_is_none(tmp_path: Path) -> None:
    for number, name in enumerate(("performance", "powersave", "performance")):
        place = tmp_path / f"cpu{number}" / "cpufreq"
        place.mkdir(parents=True)
        (place / "scaling_governor").write_text(f"{name}\n")

    assert governor(tmp_path) == "performance, powersave"
    assert governor(tmp_path / "none") is None
