"""Writes tests/golden anew from the ab and the hey that are installed: `python make_golden.py` (ab's -g files are cut
to 40 rows)."""

import re
import signal
import subprocess
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from loads import load_of
from loomlab.records.load import Closed
from loomlab.tools.hey import Hey
from misbehaving import running

GOLDEN = Path(__file__).parent / "golden"
ADDRESS, NOBODY = "http://127.0.0.9:8080", "http://no-such-host.invalid:8080"
ROWS_KEPT = 40
LIMITED = ("-k", "-l", "-r", "-s", "3", "-t", "3", "-n", "100000")


def run(command: list[str], behaviour: str | None, end: signal.Signals | None = None) -> str:
    """What it printed, against a server that behaves so (None: there is none); `end` is sent to it after a second."""
    with running("127.0.0.9", 0.1, behaviour) if behaviour else nullcontext():
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603
        if end is not None:
            time.sleep(1)
            process.send_signal(end)
        text, _ = process.communicate()
    print(*command[:1], behaviour, "exit", process.returncode)  # noqa: T201
    return text


def ab(
    name: str, behaviour: str | None, *options: str, origin: str = ADDRESS, end: signal.Signals | None = None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        requests = Path(folder) / "requests.tsv"
        command = ["ab", *options, "-c", "20", "-g", str(requests), f"{origin}/capabilities"]
        (GOLDEN / f"{name}.txt").write_text(run(command, behaviour, end))
        if requests.exists():
            lines = requests.read_text().splitlines(keepends=True)
            kept = [lines[0], *lines[1 :: max(len(lines) // ROWS_KEPT, 1)]]
            unanswered = [line for line in lines[1:] if line.endswith("\t0\n") and line not in kept][:3]
            (GOLDEN / f"{name}.tsv").write_text("".join(kept + unanswered))


def hey(
    name: str,
    behaviour: str | None,
    requests: int = 120,
    origin: str = ADDRESS,
    end: signal.Signals | None = None,
) -> None:
    """Without the address of this host's name server."""
    with tempfile.TemporaryDirectory() as folder:
        command = Hey().command(load_of(Closed(requests, 9), origin=origin), Path(folder))
        text = re.sub(r" on [0-9.]+:53: ", " on 127.0.0.53:53: ", run(command, behaviour, end))
        (GOLDEN / "hey" / f"{name}.txt").write_text(text)


def main() -> None:
    for behaviour in ("well", "non2xx", "reset", "close", "noka", "stall"):
        ab(behaviour, behaviour, *LIMITED)
    ab("count", "well", "-k", "-l", "-r", "-s", "3", "-t", "9", "-n", "200")
    ab("interrupted", "well", "-k", "-l", "-r", "-t", "9", "-n", "100000", end=signal.SIGINT)
    ab("refused", None, *LIMITED)
    ab("refused-abort", None, "-k", "-l", "-t", "3", "-n", "1000")
    ab("unknown-host", None, *LIMITED, origin=NOBODY)
    for behaviour in ("well", "non2xx", "slow", "reset", "close", "noka"):
        hey(behaviour, behaviour)
    hey("interrupted", "well", 100_000, end=signal.SIGINT)
    hey("refused", None)
    hey("unknown-host", None, origin=NOBODY)


if __name__ == "__main__":
    main()
