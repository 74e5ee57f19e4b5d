"""What a run says while it goes."""

import io

from loomlab.run.console import CLEAR, Progress


def test_a_phase_begins_at_once_and_then_speaks_now_and_then() -> None:
    stream = io.StringIO()
    progress = Progress(stream, "2/3 tomcat-virtual")

    progress.show("warm-up", 12.4, 105.6, "burst 1")
    progress.show("warm-up", 13, 104, "too early")
    progress.show("measure", 100, -3, "over time")
    progress.show("collect", None, None, "waiting")
    progress.say("A message.")
    progress.end()

    assert stream.getvalue().splitlines() == [
        "[2/3 tomcat-virtual] warm-up 12 %, 106 s left  burst 1",
        "[2/3 tomcat-virtual] measure 100 %, 0 s left  over time",
        "[2/3 tomcat-virtual] collect  waiting",
        "A message.",
    ]


def test_a_terminal_keeps_one_line_of_progress() -> None:
    stream = io.StringIO()
    progress = Progress(stream, "1/1 x", terminal=True)

    progress.show("measure", 50, 30, "10 requests")
    progress.say("A message.")
    progress.show("collect", None, None, "waiting")
    progress.end()

    assert stream.getvalue() == (
        f"{CLEAR}[1/1 x] measure 50 %, 30 s left  10 requests{CLEAR}A message.\n{CLEAR}[1/1 x] collect  waiting{CLEAR}"
    )
