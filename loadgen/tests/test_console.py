"""What a run says while it goes."""

import io

from loomlab.run.console import CLEAR, Progress


def test_a_phase_begins_at_once_and_then_speaks_now_and_then() -> None:
    stream = io.StringIO()
    progress = Progress(stream, "2/3 tomcat-virtual")

    progress.show("warm-up", "burst 1")
    progress.show("warm-up", "too early")
    progress.show("measure", "10 requests", " 12 %")
    progress.say("A message.")
    progress.end()

    assert stream.getvalue().splitlines() == [
        "[2/3 tomcat-virtual] warm-up  burst 1",
        "[2/3 tomcat-virtual] measure 12 %  10 requests",
        "A message.",
    ]


def test_a_terminal_keeps_one_line_of_progress() -> None:
    stream = io.StringIO()
    progress = Progress(stream, "1/1 x", terminal=True)

    progress.show("measure", "10 requests")
    progress.say("A message.")
    progress.show("collect", "waiting")
    progress.end()

    assert stream.getvalue() == (
        f"{CLEAR}[1/1 x] measure  10 requests{CLEAR}A message.\n{CLEAR}[1/1 x] collect  waiting{CLEAR}"
    )
