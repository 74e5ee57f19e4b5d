"""Writes tests/golden/k6 anew from the k6 that is installed: `python make_golden_k6.py`."""

import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from loomlab.records.load import Closed, Load, OpenRate, RateStep, Target, Users, UserStage
from loomlab.tools.k6 import K6, SCRIPT
from recorder import Recorder, recording

GOLDEN = Path(__file__).parent / "golden" / "k6"
NOWHERE = "http://127.0.0.1:1"
STOP_AFTER_REQUESTS = 45
"""Some 2 s, as k6 writes its samples every second."""


def k6(name: str, load: Load, stop: Callable[[subprocess.Popen[bytes]], None] | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder)
        command = K6().command(load, raw, name)
        with K6().output(raw, name).open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)  # noqa: S603
            if stop:
                stop(process)
            print(name, "exit", process.wait())  # noqa: T201
        for made in raw.iterdir():
            text = made.read_text().replace(str(SCRIPT.resolve()), SCRIPT.name).replace(folder, "raw")
            (GOLDEN / made.name).write_text(text.replace(load.origin, "http://approach:8080"))


def when_under_way(server: Recorder, signal_number: signal.Signals) -> Callable[[subprocess.Popen[bytes]], None]:
    def stop(process: subprocess.Popen[bytes]) -> None:
        while len(server.asked) < STOP_AFTER_REQUESTS and process.poll() is None:
            pass
        process.send_signal(signal_number)

    return stop


def main() -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    closed = Load("", (Target("/ok"),), connections=4, shape=Closed(requests=24, duration_s=10), timeout_s=1)
    with recording(0.05) as server:
        here = replace(closed, origin=server.origin)
        k6("well", here)
        paths = ("/ok", "/status/503", "/status/302", "/reset", "/close", "/never")
        k6("failures", replace(here, targets=tuple(Target(path) for path in paths)))
        k6("limited", replace(here, shape=Closed(requests=1000, duration_s=1), connections=1))
        k6("dropped", replace(here, shape=OpenRate((RateStep(40, 1),)), connections=1))
        k6("users", replace(here, shape=Users((UserStage(4, 1), UserStage(0, 1)), (0.1, 0.2))))
        k6("missing-body", replace(here, targets=(Target("/ok", "POST", body=Path("/no/such/body.json")),)))
        k6("bad-url", replace(here, targets=(Target("/%zz"),)))
    k6("options-refused", replace(closed, origin=NOWHERE, shape=Closed(requests=1, duration_s=1)))
    k6("refused", replace(closed, origin=NOWHERE))
    k6("unknown-host", replace(closed, origin="http://no-such-host.invalid"))
    for name, number in (("interrupted", signal.SIGINT), ("killed", signal.SIGKILL)):
        with recording(0.1) as server:
            endless = replace(closed, origin=server.origin, shape=Closed(requests=1000, duration_s=60), connections=2)
            k6(name, endless, when_under_way(server, number))


if __name__ == "__main__":
    main()
