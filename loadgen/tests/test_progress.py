"""The progress lines a host script reads."""

import io

from loomlab.run.progress import Progress


def test_a_phase_begins_at_once_and_then_speaks_once_a_second() -> None:
    stream = io.StringIO()
    progress = Progress(stream)

    progress.show("warm-up", 12.4, 105.6, "burst 1")
    progress.show("warm-up", 13, 104, "too early")
    progress.show("collect", None, None, "waiting")
    progress.say("A message.")

    assert stream.getvalue().splitlines() == [
        "progress warm-up 12 106 burst 1",
        "progress collect - - waiting",
        "A message.",
    ]


def test_time_left_is_never_negative() -> None:
    stream = io.StringIO()
    Progress(stream).show("measure", 100, -3, "over time")

    assert stream.getvalue() == "progress measure 100 0 over time\n"
