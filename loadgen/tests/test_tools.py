"""What load generators have in common: what they refuse, their versions, and how what they leave is packed."""

import errno
import gzip
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loads import CLOSED, LADDER, SPIKE, load_of, rate
from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.load import Closed, Load, Target, Users, UserStage
from loomlab.records.requestlog import RequestLog
from loomlab.tools.known import KNOWN, tool
from loomlab.tools.tool import reason

GOLDEN = Path(__file__).parent / "golden"
SOURCES = Path(__file__).parents[1]
POST = Target("/movies", "POST", body=Path("b.json"))
LEFT = {
    "ab": ("well.tsv", "ab-requests.tsv", "ab-requests.tsv.gz"),
    "hey": ("hey/well.txt", "hey.txt", "hey-requests.csv.gz"),
    "users": ("well.tsv", "users-requests.csv", "users-requests.csv.gz"),
}
"""By tool: a golden file, what it is as the tool leaves it, and what it is packed into."""
REAL_LINES = [
    line
    for name in ("reset.txt", "reset.tsv", "hey/reset.txt")
    for line in (GOLDEN / name).read_bytes().splitlines(keepends=True)
]
STARTED = b'{"requests": 9, "connections": 2, "timeout_s": 1, "started": 1700000000}'


@pytest.mark.parametrize(
    ("name", "load", "cure"),
    [
        ("ab", load_of(Closed(20_000, 60), 20_000), None),
        ("ab", load_of(Closed(30_000, 60), 20_001), "CONCURRENCY=20000 or less"),
        ("ab", load_of(Closed(99, 60), 100), "each of 100 connections, got 99: raise REQUESTS"),
        ("ab", load_of(LADDER), "use vegeta or users"),
        ("ab", load_of(SPIKE), "use vegeta or users"),
        ("ab", load_of(CLOSED, 1, "/a", "/b"), "2 were asked for: use users"),
        ("ab", load_of(CLOSED, 1, POST), "use hey or users"),
        ("hey", load_of(Closed(1_000_000, 60), 20, POST), None),
        ("hey", load_of(Closed(1_000_001, 60)), "use REQUESTS=1000000 or less"),
        ("hey", load_of(Closed(120, 60), 121), "each of 121 connections, got 120"),
        ("hey", load_of(LADDER), "use vegeta or users"),
        ("hey", load_of(SPIKE), "use vegeta or users"),
        ("hey", load_of(CLOSED, 20, "/a", "/b", "/c"), "3 were asked for: use users"),
        ("vegeta", load_of(LADDER, 20, "/a", POST), None),
        ("vegeta", load_of(CLOSED), "use ab, hey or users"),
        ("vegeta", load_of(SPIKE), "use ab, hey or users"),
        ("vegeta", load_of(rate(0.001)), None),
        ("users", load_of(SPIKE, 20, "/a", POST), None),
        ("users", load_of(CLOSED), None),
        ("users", load_of(LADDER), "use vegeta"),
        ("users", load_of(Closed(100, 60), 101), "each of 101 connections, got 100"),
        ("users", load_of(Users((UserStage(0, 5),))), "got 0: raise SCALE"),
        ("users", load_of(Users((UserStage(1, 5),)), 20, "/a", "/b"), "2 kinds of requests"),
    ],
)
def test_what_a_tool_cannot_do_is_refused_with_a_cure(name: str, load: Load, cure: str | None) -> None:
    if cure is None:
        tool(name).check(load)
    else:
        with pytest.raises(UsageError, match=cure):
            tool(name).check(load)


def test_an_unknown_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="'wrk'"):
        tool("wrk")


def test_a_tool_has_the_version_that_the_image_is_built_with(tmp_path: Path) -> None:
    for pins in ("tools/go.mod", "users/Cargo.toml"):
        (tmp_path / "loadgen" / pins).parent.mkdir(parents=True)
        shutil.copy(SOURCES / pins, tmp_path / "loadgen" / pins)

    assert [str(tool(name).version(tmp_path))[:2] for name in ("hey", "vegeta", "users")] == ["v0", "v1", "1."]
    assert tool("hey").version(tmp_path / "loadgen") is None


@pytest.mark.parametrize("name", LEFT)
def test_what_cannot_be_packed_whole_is_packed_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    golden, plain, packed = LEFT[name]
    shutil.copy(GOLDEN / golden, tmp_path / plain)
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            tool(name).finish(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [plain]
    assert (tmp_path / plain).read_bytes() == (GOLDEN / golden).read_bytes()

    tool(name).finish(tmp_path)
    once = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    tool(name).finish(tmp_path)

    assert gzip.decompress(once[packed]).splitlines()[1:]
    assert once == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def full(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", KNOWN)
def test_a_tool_that_left_no_rows_has_no_requests(tmp_path: Path, name: str) -> None:
    tool(name).finish(tmp_path)

    assert tool(name).requests(tmp_path, 100) is None


@pytest.mark.parametrize("name", KNOWN)
@given(data=st.data())
def test_any_files_are_figures_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    raw = tmp_path_factory.mktemp("raw")
    lines = st.lists(st.sampled_from(REAL_LINES)).map(b"".join)
    for left, contents in {
        f"{name}.txt": st.binary() | lines,
        f"{name}-load.json": st.binary() | st.just(STARTED),
        f"{name}-report.json": st.binary() | st.none(),
        tool(name).rows(raw, ".gz").name: st.binary() | (st.binary() | lines).map(gzip.compress),
    }.items():
        if (content := data.draw(contents)) is not None:
            (raw / left).write_bytes(content)

    with suppress(ParseError):
        report = tool(name).report(raw)
        assert report.duration_s is not None or report.aborted is not None
    with suppress(ParseError):
        assert isinstance(tool(name).requests(raw, 5), RequestLog)


@pytest.mark.parametrize("left", [1, 15, 40])
def test_a_packed_file_that_was_cut_off_is_damaged(tmp_path: Path, left: int) -> None:
    (tmp_path / "ab.txt").touch()
    (tmp_path / "ab-requests.tsv.gz").write_bytes(gzip.compress(bytes(range(256)) * 4)[:left])

    with pytest.raises(ParseError, match=r"ab-requests\.tsv\.gz .* was cut off"):
        tool("ab").requests(tmp_path, 100)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ('Get "http://a/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)', "time-out"),
        ('Post "http://a/": dial tcp 10.0.0.1:8080: i/o timeout', "time-out"),
        ("read tcp 10.0.0.1:4->10.0.0.2:80: read: connection timed out", "time-out"),
        ("write tcp 10.0.0.1:4->10.0.0.2:80: write: broken pipe", "connection closed"),
        ('Get "http://a/": dial tcp: lookup a on 10.0.0.1:53: read udp 10.0.0.1:4: i/o timeout', "no address"),
        (
            'Get "http://a/": dial tcp 10.0.0.2:80: connect: cannot assign requested address',
            "connect: cannot assign requested address",
        ),
        ('Get "http://a/lookup EOF": malformed HTTP response "x"', 'malformed HTTP response "x"'),
        ("x" * 99, "x" * 60),
        ("", "no reason given"),
    ],
)
def test_an_error_is_named_by_its_kind(error: str, kind: str) -> None:
    assert reason(error) == kind
