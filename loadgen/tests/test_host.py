"""What the host has, and how it is shared out."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomlab.basics.errors import HostError, UsageError
from loomlab.basics.grouping import parse_cpu_list
from loomlab.plan.capacity import Room, largest_scale, need_of, room_of
from loomlab.plan.host import APPROACH_FILES, Host, auto_size, size_of, this_host
from loomlab.plan.scenarios import RequestKind, Scenario, load_scenario, names
from ordered import SCENARIOS, SMALL

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


def test_model_governors_huge_pages_and_swap_are_what_the_kernel_tells(tmp_path: Path) -> None:
    info = "processor\t: 0\nmodel\t\t: 49\nmodel name\t: AMD EPYC 7R32\nprocessor\t: 1\nmodel name\t: x"
    names = enumerate(("performance", "powersave", "performance"))
    governors = {f"sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor": name for number, name in names}
    memory = {
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
        "proc/meminfo": "MemTotal:       24635676 kB\nSwapCached:            0 kB\nSwapTotal:       2097148 kB",
    }
    told = this_host(tmp_path, kernel(tmp_path / "told", {"proc/cpuinfo": info} | governors | memory))
    silent = this_host(tmp_path, kernel(tmp_path / "silent", {"proc/cpuinfo": "processor : 0\nCPU part : 0xd0c"}))

    assert (told.cpu_model, told.governor, told.thp, told.swap_mb) == (
        "AMD EPYC 7R32", "performance, powersave", "madvise", 2047,
    )  # fmt: skip
    assert (silent.cpu_model, silent.governor, silent.thp, silent.swap_mb) == (None, None, None, None)


def host(cpus: int, memory_mb: int = 24_000, order: list[int] | None = None) -> Host:
    return Host(cpus=cpus, memory_mb=memory_mb, open_files=20_000, cpu_order=order or list(range(cpus)), free_mb=9_999)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (host(1), ["0", "0", "0", "0"]), (host(2), ["0", "1", "1", "1"]), (host(4), ["0,1", "2", "3", "2,3"]),
        (host(8, order=[0, 4, 1, 5, 2, 6, 3, 7]), ["0,4,1,5", "2,6", "3,7", "2,3,6,7"]),
    ],
)  # fmt: skip
def test_cpus_are_split_two_to_one_to_one_and_few_are_shared(given: Host, expected: list[str]) -> None:
    size = auto_size(given, 1000)
    assert [size[f"{part}_CPUSET"] for part in ("APPROACH", "BACKEND", "LOADGEN", "MONITORING")] == expected


def test_the_approach_gets_as_many_cpus_as_are_asked_for() -> None:
    size = auto_size(host(8), 1000, own_cpus=6)

    assert (size["APPROACH_CPUSET"], size["BACKEND_CPUSET"], size["LOADGEN_CPUSET"]) == ("0,1,2,3,4,5", "6", "7")
    with pytest.raises(HostError, match="CPUS=2 of 2 leaves none"):
        auto_size(host(2), 1000, own_cpus=2)
    with pytest.raises(UsageError, match="SIZE=ec2"):
        size_of("ec2", host(64, 70_000), 1, SIZES, own_cpus=2)


@pytest.mark.parametrize(
    ("connections", "memory_mb", "expected"),
    [(10_000, 24_000, "6024m 1024m 6000m"), (200, 24_000, "1124m 1024m 2148m"), (10_000, 3000, "1500m 750m 750m")],
)
def test_memory_follows_the_connections_up_to_a_share_of_host(connections: int, memory_mb: int, expected: str) -> None:
    size = auto_size(host(2, memory_mb), connections)
    assert " ".join(size[f"{part}_MEMORY"] for part in ("APPROACH", "BACKEND", "LOADGEN")) == expected


def test_the_sizes_of_the_lab_set_every_part() -> None:
    assert sorted(path.stem for path in SIZES.glob("*.env")) == ["ec2", "ec2-c5.2xlarge", "smoke"]
    for path in SIZES.glob("*.env"):
        assert set(size_of(path.stem, host(64, 70_000), 1, SIZES)) == set(auto_size(host(2), 1))
    assert size_of("ec2", host(32, 70_000), 1, SIZES)["APPROACH_CPUSET"] == "0-15"


def test_a_load_generator_on_a_host_of_its_own_has_all_of_it() -> None:
    for name in ("ec2", "auto"):
        assert size_of(name, host(8, 15_500), 1, SIZES, apart=True)["LOADGEN_CPUSET"] == "0,1,2,3,4,5,6,7"
    with pytest.raises(HostError, match="15360 MB"):
        size_of("ec2", host(8, 9_000), 1, SIZES, apart=True)
    for name, approach_cpus in (("ec2", 16), ("auto", 4)):
        room = room_of(host(8, 15_500), name, SIZES, apart=True)
        assert (room.approach_cpus, room.generator_cpus, room.shared) == (approach_cpus, 8, False)


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        (host(32, 2560), None), (host(31, 2560), "32 CPUs.* 31 "), (host(32, 2559), "2560 MB.* 2559 MB"),
        (host(32, 2560, order=[*range(1, 33)]), r"CPU 0\b"),
    ],
)  # fmt: skip
def test_a_named_size_needs_cpus_of_sets_and_sum_of_memories(tmp_path: Path, given: Host, refusal: str | None) -> None:
    (tmp_path / "big.env").write_text(SMALL.replace("CPUSET=1", "CPUSET=4-31"))

    if refusal is None:
        assert size_of("big", given, 1, tmp_path)["LOADGEN_CPUSET"] == "4-31"
    else:
        with pytest.raises(HostError, match=f"^SIZE=big .*{refusal}.*: use SIZE=auto"):
            size_of("big", given, 1, tmp_path)


ALL = {name: load_scenario(SCENARIOS, name) for name in names(SCENARIOS)}
HUGE = ALL["60k-vus-smooth-spike-get-post-movies"]
SPIKE = HUGE.model_copy(update={"load": HUGE.load.model_copy(update={"users": 100_000})})
WORK = ALL["cpu-work"].model_copy(update={"requests": [RequestKind(get="/capabilities?cpuMicros=4500")]})
FANNING_OUT = SPIKE.model_copy(
    update={
        "approaches": ["tomcat-platform"],
        "load": SPIKE.load.model_copy(update={"users": 10_000}),
        "requests": [RequestKind(get="/capabilities?calls=5&parallel=true")],
    }
)
BIG = Room(approach_cpus=256, generator_cpus=256, shared=False, generator_memory_mb=512_000, open_files=1_048_576)
ROOMS = st.builds(
    Room,
    approach_cpus=st.integers(1, 64),
    generator_cpus=st.integers(1, 64),
    shared=st.booleans(),
    generator_memory_mb=st.integers(256, 256_000),
    open_files=st.integers(1024, 2_000_000),
)


@given(name=st.sampled_from(sorted(ALL)), room=ROOMS)
def test_more_room_never_gives_a_smaller_scale(name: str, room: Room) -> None:
    scale, limit = largest_scale(ALL[name], room)
    larger = replace(room, approach_cpus=2 * room.approach_cpus, open_files=2 * room.open_files)

    assert 0 < scale <= largest_scale(ALL[name], larger)[0] <= 1
    assert (limit is None) is (scale == 1.0)


@pytest.mark.parametrize(
    ("scenario", "room", "scale", "limit"),
    [
        (ALL["loom-vs-webflux"], replace(BIG, approach_cpus=1), 0.1, "the approach's CPU"),
        (ALL["loom-vs-webflux"], replace(BIG, generator_cpus=1), 0.25, "vegeta's CPU"),
        (ALL["loom-vs-webflux"], replace(BIG, generator_cpus=1, shared=True), 0.16, "vegeta's CPU"),
        (ALL["project-loom-comparison"], replace(BIG, open_files=10_500), 0.25, "open files"),
        (HUGE, replace(BIG, open_files=30_500), 0.5, "open files"),
        (HUGE, replace(BIG, generator_memory_mb=181), 0.1, "the memory of users"),
        (SPIKE, BIG, 0.64, "the ports of one address"),
        (SPIKE.model_copy(update={"approaches": ["tomcat-platform"]}), BIG, 0.32, "threads"),
        (FANNING_OUT, BIG, 0.53, "threads"),
        (ALL["cpu-work"], replace(BIG, approach_cpus=1), 1.0, None),
        (WORK, replace(BIG, approach_cpus=1), 0.5, "the approach's CPU"),
        (ALL["project-loom-comparison"], BIG, 0.49, "ab's CPU"),
        (ALL["smoketest"], replace(BIG, approach_cpus=1, generator_cpus=1, shared=True), 1.0, None),
        *((scenario, BIG, 1.0, None) for scenario in ALL.values() if scenario.tool != "ab"),
    ],
)
def test_what_limits_the_scale_is_named(scenario: Scenario, room: Room, scale: float, limit: str | None) -> None:
    assert largest_scale(scenario, room) == (scale, limit)


@pytest.mark.parametrize(
    ("name", "connections", "open_files", "rate_rps", "minutes"),
    [
        ("project-loom-comparison-spring", 20_000, 40_500, 20_000 / 0.9, 3 * 5 * (120 * 0.9 + 75 + 28) / 60),
        ("loom-vs-webflux", 10_000, 10_500, 10_000, 2 * 2 * (60 + 75 + 28) / 60),
        ("25k-vus-smooth-spike-get-movies", 25_000, 25_500, 25_000 / 2.1, 3 * (300 + 75 + 28) / 60),
        ("fan-out", 1_000, 6 * 1_000 + APPROACH_FILES, 300, 4 * (60 + 75 + 28) / 60),
        ("rate-ladder", 8_000, 16_500, 4000, 3 * (300 + 75 + 28) / 60),
    ],
)
def test_a_need_is_of_all_runs(name: str, connections: int, open_files: int, rate_rps: float, minutes: float) -> None:
    need = need_of(ALL[name])
    assert (need.connections, need.open_files) == (connections, open_files)
    assert (need.rate_rps, need.minutes) == pytest.approx((rate_rps, minutes))
