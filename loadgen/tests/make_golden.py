"""Writes tests/golden anew from the ab that is installed: `python make_golden.py` (-g files are cut to 40 rows)."""

import signal
import subprocess
import tempfile
import time
from pathlib import Path

from server import running

GOLDEN = Path(__file__).parent / "golden"
ROWS_KEPT = 40


def ab(name: str, url: str, *options: str, interrupt_after_s: float | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        requests = Path(folder) / "requests.tsv"
        command = ["ab", *options, "-c", "20", "-g", str(requests), url]
        with (GOLDEN / f"{name}.txt").open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)  # noqa: S603
            if interrupt_after_s is not None:
                time.sleep(interrupt_after_s)
                process.send_signal(signal.SIGINT)
            code = process.wait()
        print(name, "exit", code)  # noqa: T201
        if requests.exists():
            lines = requests.read_text().splitlines(keepends=True)
            step = max(len(lines) // ROWS_KEPT, 1)
            kept = [lines[0], *lines[1::step]]
            unanswered = [line for line in lines[1:] if line.endswith("\t0\n") and line not in kept][:3]
            (GOLDEN / f"{name}.tsv").write_text("".join(kept + unanswered))


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    limited = ("-k", "-l", "-r", "-s", "3", "-t", "3", "-n", "100000")
    for behaviour in ("well", "non2xx", "reset", "close", "noka", "stall"):
        with running("127.0.0.9", 0.1, behaviour):
            ab(behaviour, "http://127.0.0.9:8080/capabilities", *limited)
    with running("127.0.0.9", 0.1):
        ab("count", "http://127.0.0.9:8080/", "-k", "-l", "-r", "-s", "3", "-t", "9", "-n", "200")
        ab("interrupted", "http://127.0.0.9:8080/", "-k", "-l", "-r", "-t", "9", "-n", "100000", interrupt_after_s=2)
    ab("refused", "http://127.0.0.9:8080/", *limited)
    ab("refused-abort", "http://127.0.0.9:8080/", "-k", "-l", "-t", "3", "-n", "1000")
    ab("unknown-host", "http://no-such-host.invalid:8080/", *limited)


if __name__ == "__main__":
    main()
