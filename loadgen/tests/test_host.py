"""What the host has, and how it is shared out."""

from pathlib import Path
from typing import Any

import pytest

from loomlab.basics.cpus import parse_cpu_list
from loomlab.basics.errors import HostError
from loomlab.plan.host import Host, auto_size, size_of, this_host
from ordered import SMALL

SIZES = next((path for path in (Path(__file__).parents[2] / "sizes", Path("/lab/sizes")) if path.exists()), Path())


@pytest.mark.parametrize(("text", "cpus"), [("", None), ("1", {"1"}), ("0-2,5", {"0", "1", "2", "5"})])
def test_cpu_lists(text: str, cpus: set[str] | None) -> None:
    assert parse_cpu_list(text) == cpus
    for wrong in ("x", "5-3", "0-99999", "1,,2"):
        with pytest.raises(ValueError, match=r".+"):
            parse_cpu_list(wrong)


def kernel(root: Path, files: dict[str, str]) -> Path:
    """A host's /sys and /proc with these files."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    return root


@pytest.mark.parametrize(
    ("cores", "cpus", "order"),
    [
        (((0, 0), (0, 1), (0, 0), (0, 1)), [0, 1, 2, 3], [0, 2, 1, 3]),
        (((0, 0), (1, 0), (0, 1), (1, 1)), [0, 1, 2, 3], [0, 2, 1, 3]),
        (((0, 0), (0, 1), (0, 0), (0, 0)), [1, 3], [3, 1]),
        ((), [0, 1, 2], [0, 1, 2]),
    ],
    ids=["threads of a core are neighbours", "by package", "only those given", "by number where none is told"],
)
def test_cpus_are_ordered_by_package_and_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: tuple[Any, ...], cpus: list[int], order: list[int]
) -> None:
    for number, (package, core) in enumerate(cores):
        folder = f"sys/devices/system/cpu/cpu{number}/topology"
        kernel(tmp_path, {f"{folder}/physical_package_id": f"{package}", f"{folder}/core_id": f"{core}"})
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {*cpus})

    assert this_host(tmp_path, tmp_path).cpu_order == order


def test_model_and_governors_are_what_the_kernel_tells(tmp_path: Path) -> None:
    info = "processor\t: 0\nmodel\t\t: 49\nmodel name\t: AMD EPYC 7R32\nprocessor\t: 1\nmodel name\t: x"
    names = enumerate(("performance", "powersave", "performance"))
    governors = {f"sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor": name for number, name in names}
    told = this_host(tmp_path, kernel(tmp_path / "told", {"proc/cpuinfo": info} | governors))
    silent = this_host(tmp_path, kernel(tmp_path / "silent", {"proc/cpuinfo": "processor : 0\nCPU part : 0xd0c"}))

    assert (told.cpu_model, told.governor) == ("AMD EPYC 7R32", "performance, powersave")
    assert (silent.cpu_model, silent.governor) == (None, None)


def host(cpus: int, memory_mb: int = 24_000, order: list[int] | None = None) -> Host:
    return Host(cpus=cpus, memory_mb=memory_mb, open_files=20_000, cpu_order=order or list(range(cpus)), free_mb=9_999)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (host(1), ["0", "0", "0", "0"]),
        (host(2), ["0", "1", "1", "1"]),
        (host(4), ["0,1", "2", "3", "2,3"]),
        (host(8, order=[0, 4, 1, 5, 2, 6, 3, 7]), ["0,4,1,5", "2,6", "3,7", "2,3,6,7"]),
    ],
)
def test_cpus_are_split_two_to_one_to_one_and_few_are_shared(given: Host, expected: list[str]) -> None:
    size = auto_size(given, 1000)

    assert [size[f"{part}_CPUSET"] for part in ("APPROACH", "BACKEND", "LOADGEN", "MONITORING")] == expected


@pytest.mark.parametrize(
    ("connections", "memory_mb", "expected"),
    [(10_000, 24_000, "6024m 1024m 6000m"), (200, 24_000, "1124m 1024m 2148m"), (10_000, 3000, "1500m 750m 750m")],
)
def test_memory_follows_the_connections_up_to_a_share_of_the_host(
    connections: int, memory_mb: int, expected: str
) -> None:
    size = auto_size(host(2, memory_mb), connections)

    assert " ".join(size[f"{part}_MEMORY"] for part in ("APPROACH", "BACKEND", "LOADGEN")) == expected


def test_the_sizes_of_the_lab_set_every_part() -> None:
    assert sorted(path.stem for path in SIZES.glob("*.env")) == ["ec2", "ec2-c5.2xlarge", "smoke"]
    for path in SIZES.glob("*.env"):
        assert set(size_of(path.stem, host(64, 70_000), 1, SIZES)) == set(auto_size(host(2), 1))
    assert size_of("ec2", host(32, 70_000), 1, SIZES)["APPROACH_CPUSET"] == "0-15"


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        (host(32, 2560), None),
        (host(31, 2560), "32 CPUs.* 31 "),
        (host(32, 2559), "2560 MB.* 2559 MB"),
        (host(32, 2560, order=[*range(1, 33)]), r"CPU 0\b"),
    ],
)
def test_a_named_size_needs_the_cpus_of_its_sets_and_the_sum_of_its_memories(
    tmp_path: Path, given: Host, refusal: str | None
) -> None:
    (tmp_path / "big.env").write_text(SMALL.replace("CPUSET=1", "CPUSET=4-31"))

    if refusal is None:
        assert size_of("big", given, 1, tmp_path)["LOADGEN_CPUSET"] == "4-31"
    else:
        with pytest.raises(HostError, match=f"^SIZE=big .*{refusal}.*: use SIZE=auto"):
            size_of("big", given, 1, tmp_path)
