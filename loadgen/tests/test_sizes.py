"""How the host is shared out by SIZE=auto and by the files of sizes."""

from pathlib import Path

import pytest

from loomlab.basics.errors import HostError
from loomlab.plan.host import Host
from loomlab.plan.sizes import KEYS, auto_size, named_size
from ordered import SMALL


def host(cpus: int, memory_mb: int = 24_000, order: list[int] | None = None) -> Host:
    return Host(cpus=cpus, memory_mb=memory_mb, open_files=20_000, cpu_order=order or list(range(cpus)), free_mb=9_999)


def sets(of: Host) -> list[str]:
    size = auto_size(of, 1000)
    return [size[f"{part}_CPUSET"] for part in ("APPROACH", "BACKEND", "LOADGEN", "MONITORING")]


def test_the_sizes_of_the_lab_set_every_part_and_need_their_cpus() -> None:
    sizes = Path(__file__).parents[2] / "sizes"
    if not sizes.exists():
        sizes = Path("/lab/sizes")
    names = sorted(path.stem for path in sizes.glob("*.env"))

    assert names == ["ec2", "ec2-c5.2xlarge", "smoke"]
    for name in names:
        assert set(named_size(name, host(64, 70_000), sizes)) == set(KEYS)
    assert named_size("ec2", host(32, 70_000), sizes)["APPROACH_CPUSET"] == "0-15"
    with pytest.raises(HostError, match=r"SIZE=ec2 .* 32 CPUs"):
        named_size("ec2", host(31, 70_000), sizes)


@pytest.mark.parametrize(
    ("cpus", "expected"),
    [
        (1, ["0", "0", "0", "0"]),
        (2, ["0", "1", "1", "1"]),
        (4, ["0,1", "2", "3", "2,3"]),
        (8, ["0,1,2,3", "4,5", "6,7", "4,5,6,7"]),
    ],
)
def test_cpus_are_split_two_to_one_to_one_and_few_are_shared(cpus: int, expected: list[str]) -> None:
    assert sets(host(cpus)) == expected


def test_hardware_threads_of_one_core_go_to_the_same_part() -> None:
    assert sets(host(8, order=[0, 4, 1, 5, 2, 6, 3, 7])) == ["0,4,1,5", "2,6", "3,7", "2,3,6,7"]


@pytest.mark.parametrize(
    ("connections", "memory_mb", "expected"),
    [(10_000, 24_000, "6024m"), (200, 24_000, "1124m"), (10_000, 8000, "4000m")],
)
def test_the_approachs_memory_follows_the_connections_up_to_half_of_the_host(
    connections: int, memory_mb: int, expected: str
) -> None:
    assert auto_size(host(2, memory_mb), connections)["APPROACH_MEMORY"] == expected


def test_a_named_size_asks_for_the_cpus_of_its_sets_and_the_sum_of_its_memories(tmp_path: Path) -> None:
    (tmp_path / "big.env").write_text(SMALL.replace("CPUSET=1", "CPUSET=4-31"))

    assert set(named_size("big", host(32, 2560), tmp_path)) == set(KEYS)
    with pytest.raises(HostError, match=r"^SIZE=big .*32.* 31: use SIZE=auto"):
        named_size("big", host(31, 2560), tmp_path)
    with pytest.raises(HostError, match=r"^SIZE=big .*2560 MB.* 2559 MB: use SIZE=auto"):
        named_size("big", host(32, 2559), tmp_path)


def test_a_named_size_whose_cpus_the_engine_may_not_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.env").write_text(SMALL)

    with pytest.raises(HostError, match=r"^SIZE=small .*CPU 0 .*3,7,9,11: use SIZE=auto"):
        named_size("small", host(4, order=[3, 7, 9, 11]), tmp_path)
