"""Reads files of others that are damaged at random: each is read, or refused with an error of the lab's own.

`fuzz.py SEED CASES OUT` keeps in OUT the first damaged file of each kind of failure, and a line of tries.jsonl;
`fuzz.py FILE` reads one of these files again, and shows where it fails."""

import gzip
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tarfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from loomlab.answer.summary import finish, resume, summarise
from loomlab.basics.errors import LoomlabError
from loomlab.judge.judge import judged
from loomlab.plan.requests import targets_of
from loomlab.plan.scenarios import Scenario
from loomlab.records.files import RunFiles, parse
from loomlab.records.order import changing
from loomlab.report.experiment import beside, read_experiment
from loomlab.report.page import write_report
from loomlab.run.management import exposed_values
from loomlab.run.prometheus import UnreachableError
from loomlab.show.server import metrics_of
from loomlab.tools.known import KNOWN, tool
from loomlab.tools.programs import COLUMNS
from ordered import TWO_CPUS, lab_in
from rawrun import RawRun
from report_folder import PAIR, folder_of
from test_strangers import made
from test_tools import GOLDEN, REPORT, ROWS, STARTED

SLOWEST_S, MOST_MEMORY = 30, 6 << 30
REFUSALS = (LoomlabError, UnreachableError)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 0.5, 2**63, 10**400, -(10**18), 1e9, 1e11, 1e15, 1e308, 5e-324, "", "x", "1e999", "\ud800",
    "\0", "\x1b]0;x\x07", "../x", "=1+1", "9" * 5000, [], {}, [[]], [None] * 9, {"": None}, {"a": {"b": []}},
)  # fmt: skip
TEXTS = (
    b"", b"0", b"-1", b"1e999", b"nan", b"inf", b"9" * 25, b"9" * 5000, b"\xff", b"\0", b"\n", b",", b"\t", b"*a",
    b"&a ", b"[" * 1000,
)  # fmt: skip


MIX = b"""requests:
  - {get: "/orders/{id}?name={name}", values: ids.csv, weight: 3, headers: {Authorization: "Bearer ${TOKEN}"}}
  - {post: /orders, body: order.json}
"""


class SlowError(BaseException):
    """It took longer than any file may."""


@dataclass(frozen=True)
class Target:
    """Files of a folder, and what reads it; what writes there gets a new one for each case. `share`: of all cases."""

    files: dict[str, bytes]
    read: Callable[[Path], object]
    share: float
    writes: bool = False


def files_of(folder: Path, pattern: str = "*") -> dict[str, bytes]:
    """By their paths within the folder."""
    found = (path for path in sorted(folder.rglob(pattern)) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def targets(scratch: Path) -> Iterator[tuple[str, Target]]:
    """By name."""
    runs = {"ab": files_of(RawRun().write(scratch / "run"))}
    for archive in sorted((GOLDEN / "replay").glob("*.tar.xz")):
        name = archive.name.partition(".")[0]
        with tarfile.open(archive) as raw:
            raw.extractall(scratch / name, filter="data")
        runs[name] = files_of(scratch / name)
    yield from ((f"judge-{name}", Target(files, judge, 0.5)) for name, files in runs.items())
    yield from ((f"read-{name}", Target(left_by(name), partial(read, name), 8)) for name in KNOWN)
    killed = made(scratch, runs=2)
    yield "finish", Target(files_of(killed), finish, 1, writes=True)
    with changing(killed) as order:
        order.runs[1].state = "planned"
    again = partial(resume, host=TWO_CPUS, lab=lab_in(scratch / "lab"))
    yield "resume", Target(files_of(killed), again, 0.5, writes=True)
    folder = folder_of(scratch, PAIR, repeats=3)
    records = files_of(folder, "*.json")
    yield "summarise", Target(records, partial(summarise, interrupted=False), 1, writes=True)
    yield "report", Target(files_of(folder), write_report, 0.02, writes=True)
    yield "beside", Target(records, twice, 0.5)
    yield "metrics", Target({f"{folder.name}/{name}": text for name, text in records.items()}, metrics, 2)
    yield "page", Target({"page": (GOLDEN / "backend-metrics.txt").read_bytes()}, page, 2)
    yield "requests", Target({"mix.yaml": MIX, "ids.csv": b"id,name\n1,a\n2,b\n", "order.json": b"{}"}, requests, 2)
    for path in sorted(GOLDEN.parents[1].glob("scenarios/*.yaml")):
        yield f"scenario-{path.stem}", Target({path.name: path.read_bytes()}, scenario, 0.1)


def judge(folder: Path) -> object:
    return judged(RunFiles(folder))


def left_by(name: str) -> dict[str, bytes]:
    """What a tool left, packed."""
    rows = f"{COLUMNS}\n{''.join(ROWS)}".encode()
    left = {
        "ab": {"ab.txt": (GOLDEN / "reset.txt").read_bytes(), "ab-requests.tsv": (GOLDEN / "reset.tsv").read_bytes()},
        "hey": {"hey.txt": (GOLDEN / "hey" / "reset.txt").read_bytes(), "hey-load.json": STARTED},
    }.get(name, {f"{name}-requests.csv": rows, f"{name}-report.json": json.dumps(REPORT).encode()})
    with TemporaryDirectory() as raw:
        write(Path(raw), {f"{name}.txt": b"no such host\n"} | left)
        tool(name).finish(Path(raw))
        return files_of(Path(raw))


def read(name: str, raw: Path) -> object:
    return tool(name).report(raw), tool(name).requests(raw, 5)


def twice(folder: Path) -> object:
    return beside(read_experiment(folder), read_experiment(folder))


def metrics(folder: Path) -> object:
    return metrics_of(folder, "http://results")


def page(folder: Path) -> object:
    return exposed_values((folder / "page").read_text(errors="replace"))


def scenario(folder: Path) -> object:
    (path,) = folder.iterdir()
    return parse(path.read_text(errors="replace"), path.name, Scenario, "load")


def requests(folder: Path) -> object:
    return targets_of(folder / "mix.yaml")


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def damaged(chance: random.Random, content: bytes) -> bytes:
    """The file with one mistake or a few; of a packed one often with those inside."""
    if content[:2] == b"\x1f\x8b" and chance.random() < 0.7:
        return gzip.compress(damaged(chance, gzip.decompress(content)), 1)
    if content[:1] in {b"{", b"["} and chance.random() < 0.7:
        value = json.loads(content)
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            value = damaged_value(chance, value)
        return json.dumps(value).encode()
    for _ in range(chance.choice((1, 1, 1, 2, 5, 20))):
        content = damaged_bytes(chance, content)
    return content


def damaged_value(chance: random.Random, value: Any) -> Any:
    """With one member changed, taken out or added, at any depth."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.05:
        return deepcopy(chance.choice(VALUES))
    place = chance.choice([*value] if isinstance(value, dict) else range(len(value)))
    change = chance.random()
    if change < 0.1:
        del value[place]
    elif change < 0.2 and isinstance(value, dict):
        value[chance.choice(("le", "x", ""))] = deepcopy(chance.choice(VALUES))
    elif change < 0.2 and isinstance(value, list):
        value.insert(place, deepcopy(value[place]))
    else:
        value[place] = damaged_value(chance, value[place])
    return value


def damaged_bytes(chance: random.Random, content: bytes) -> bytes:
    """A number, a stretch or a line is another one, is gone, or is there twice; or the end is missing."""
    begin = chance.randrange(len(content) + 1)
    end = min(begin + chance.choice((0, 1, 1, 4, 40)), len(content))
    kind = chance.randrange(5)
    if kind == 0 and (number := NUMBER.search(content, begin)):
        return content[: number.start()] + chance.choice(TEXTS) + content[number.end() :]
    if kind == 1:
        return content[:begin]
    if kind == 2:
        lines = content.splitlines(keepends=True) or [b""]
        lines[chance.randrange(len(lines))] = chance.choice(lines) * chance.randrange(3)
        return b"".join(lines)
    return content[:begin] + (chance.choice(TEXTS), content[begin:end] * 2)[kind % 2] + content[end:]


def kind_of(name: str, error: BaseException) -> str:
    """The target, the error, and the last line of the lab's that it came through."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "/loomlab/" in one.filename]
    where = f"{Path(frames[-1].filename).name}-{frames[-1].lineno}" if frames else "nowhere"
    return f"{name.partition('-')[0]}-{type(error).__name__}-{where}"


def outcome(target: Target, folder: Path) -> BaseException | None:
    """What it fails with; None: it is read. Raises what refuses it."""
    signal.alarm(SLOWEST_S)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            target.read(folder)
    except REFUSALS:
        raise
    except (Exception, SlowError) as error:
        return error
    finally:
        signal.alarm(0)
    return None


def cases(seed: int, count: int, every: dict[str, Target], scratch: Path, out: Path) -> Counter[str]:
    """How often each kind of failure came; `read` and `refused` are the others."""
    chance, found = random.Random(seed), Counter[str]()  # noqa: S311 - no secret
    folders = {name: scratch / f"case-{name}" for name in every}
    for _ in range(count):
        (name,) = chance.choices([*every], [target.share for target in every.values()])
        target, folder = every[name], folders[name]
        if target.writes or not folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
            write(folder, target.files)
        file = chance.choice([*target.files])
        content = damaged(chance, target.files[file])
        (folder / file).write_bytes(content)
        kind = "refused"
        with suppress(*REFUSALS):
            error = outcome(target, folder)
            kind = "read" if error is None else kind_of(name, error)
        found[kind] += 1
        if kind not in {"read", "refused"} and found[kind] == 1:
            kept = f"{kind}-{sha256(content).hexdigest()[:8]}"
            (out / kept).write_bytes(json.dumps([name, file]).encode() + b"\n" + content)
        if not target.writes:
            (folder / file).write_bytes(target.files[file])
    return found


def main(words: Sequence[str]) -> int:
    """0: every file was read or refused."""
    warnings.simplefilter("ignore")
    os.fsync = lambda fd: None  # noqa: ARG005 - as the real one
    signal.signal(signal.SIGALRM, slow)
    with TemporaryDirectory() as scratch:
        every = dict(targets(Path(scratch)))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        if len(words) == 1:
            head, _, content = Path(words[0]).read_bytes().partition(b"\n")
            name, file = json.loads(head)
            write(folder := Path(scratch, "again"), every[name].files | {file: content})
            every[name].read(folder)
            return 0
        seed, count, out = int(words[0]), int(words[1]), Path(words[2])
        found = cases(seed, count, every, Path(scratch), out)
    failed = {kind: times for kind, times in found.items() if kind not in {"read", "refused"}}
    told = f"seed {seed}: {count:,} cases, {found['read']:,} read, {found['refused']:,} refused"
    print(f"{told}, {sum(failed.values()):,} failed in {len(failed)} kinds")  # noqa: T201
    print("".join(f"  {times:,} × {kind}, kept in {out}\n" for kind, times in failed.items()), end="")  # noqa: T201
    ended = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    tried = {"mode": "fuzz", "kind": "files", "seed": seed, "ended": ended, "tries": count}
    with (out / "tries.jsonl").open("a", encoding="utf-8") as tries:
        tries.write(json.dumps(tried | {"wrong": sum(failed.values())}) + "\n")
    return 1 if failed else 0


def slow(*_: object) -> None:
    raise SlowError


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
