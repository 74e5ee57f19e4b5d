"""What a tool left is packed whole, or stays as the tool left it."""

import errno
import gzip
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from loomlab.basics.errors import ParseError
from loomlab.records.files import whole
from loomlab.tools.hey import REQUEST_COLUMNS
from loomlab.tools.known import tool
from loomlab.tools.packed import pack, packed_lines
from loomlab.tools.vegeta import _pack

GOLDEN = Path(__file__).parent / "golden"
LEFT = {
    "ab": ("well.tsv", "ab-requests.tsv", "ab-requests.tsv.gz"),
    "hey": ("hey/well.txt", "hey.txt", "hey-requests.csv.gz"),
}
"""By tool: a golden file, what it is as the tool leaves it, and what it is packed into."""


def full(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", LEFT)
def test_what_cannot_be_packed_whole_stays_as_the_tool_left_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    golden, plain, packed = LEFT[name]
    shutil.copy(GOLDEN / golden, tmp_path / plain)
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            tool(name).finish(tmp_path, name)

    assert [path.name for path in tmp_path.iterdir()] == [plain]
    assert (tmp_path / plain).read_bytes() == (GOLDEN / golden).read_bytes()

    tool(name).finish(tmp_path, name)
    assert [*packed_lines(tmp_path / packed)]


def test_heys_output_keeps_its_rows_until_its_summary_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(GOLDEN / "hey" / "well.txt", tmp_path / "hey.txt")
    replaced = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if target.name == "hey.txt":
            raise KeyboardInterrupt
        return replaced(self, target)

    with monkeypatch.context() as process:
        process.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            tool("hey").finish(tmp_path, "hey")

    assert (tmp_path / "hey.txt").read_bytes() == (GOLDEN / "hey" / "well.txt").read_bytes()
    tool("hey").finish(tmp_path, "hey")
    assert next(packed_lines(tmp_path / "hey-requests.csv.gz")).strip() == REQUEST_COLUMNS


def test_vegetas_requests_are_packed_whole_or_not_at_all(tmp_path: Path) -> None:
    def rows() -> Iterable[str]:
        yield "1,200,2,0,0,\n"
        raise OSError(errno.EIO, "gone")

    with pytest.raises(OSError, match="gone"):
        _pack(rows(), tmp_path / "packed")

    assert [*tmp_path.iterdir()] == []
    assert _pack(["1,200,2,0,0,\n"], tmp_path / "packed") == 1
    assert [*packed_lines(tmp_path / "packed")][1:] == ["1,2,200,\n"]


def test_packing_is_on_the_disk_before_what_it_was_made_from_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, packed, done = tmp_path / "plain", tmp_path / "packed", []
    plain.write_bytes(b"a line\n")
    synced = os.fsync

    def fsync(file: int) -> None:
        done.append((plain.exists(), packed.exists(), os.fstat(file).st_size > 0))
        synced(file)

    monkeypatch.setattr(os, "fsync", fsync)
    pack(plain, packed)

    assert done == [(True, False, True)]
    assert not plain.exists()
    assert [*packed_lines(packed)] == ["a line\n"]


def test_a_file_that_fails_halfway_leaves_the_old_one(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("as it was")

    with pytest.raises(ZeroDivisionError), whole(old) as sink:
        sink.write(b"half")
        raise ZeroDivisionError

    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert old.read_text() == "as it was"


@pytest.mark.parametrize("left", range(0, 60, 7))
def test_a_packed_file_that_was_cut_off_is_damaged(tmp_path: Path, left: int) -> None:
    path = tmp_path / "requests.gz"
    path.write_bytes(gzip.compress(bytes(range(256)) * 4)[: left + 1])

    with pytest.raises(ParseError, match=r"requests\.gz is damaged"):
        [*packed_lines(path)]
