"""Orders that somebody else wrote: what they may hold, and which of them the lab goes on with."""

import json
from pathlib import Path
from typing import Any

import pytest

from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.files import checksum
from loomlab.records.order import order_file, read_order
from ordered import STAMP, resume
from saying import exit_code
from test_strangers import made

SCENARIO: dict[str, Any] = {"title": "", "question": "", "experiment": None, "run": None, "differs": [], "scale": 1}
RUN = ("runs", 0)
LOAD = (*RUN, "request", "load")
WORDS = (
    "../victim", "/results/victim", "..", ".", ".set-aside", "-x", "", "a b", "a/b", "a\nPATH=b", "a\n", "$(x)", "*",
    "a\u2028b", "a\0", "\uff0e\uff0e\uff0fvictim", "\u0661-a", "a" * 201,
)  # fmt: skip
"""None of which is a name."""
SETTINGS = [
    *((name, "x") for name in ("GC\nPATH", "GC=g1 PATH", "", "gc")),
    *(("GC", value) for value in ("g1\nX=x", "g1 X=x", "$(x)", "`x`", "*", "a[x]", "g1\n", "g1\r")),
    ("JDK", "25/../x"),
]
SUBJECT = {"service": "a", "image": "a"}
OTHER_WORDS: list[tuple[tuple[str | int, ...], Any]] = [
    (("planned",), "../victim"), (("planned",), f"{STAMP}\nPATH=b"), (("sides",), {"a b": {}}),
    (("sides",), {"a": {"image": "--privileged"}}), (("sides",), {"a": {"environment": {"A=b": "c"}}}),
    (("sides",), {"a": {"environment": {"A": "b\nc"}}}), (("sides",), {"a": {"settings": {"GC": "$(x)"}}}),
    (("subject",), SUBJECT | {"service": "--rm"}), (("subject",), SUBJECT | {"image": "-v/:/x"}),
    (("subject",), SUBJECT | {"companions": ["a b"]}), (("colours",), {"a": "url(x)"}),
    ((*RUN, "request", "side"), "../x"), ((*RUN, "request", "partner"), "a b"),
    ((*RUN, "request", "approach_cpus"), "0;reboot"), ((*RUN, "request", "backend_cpus"), "0-4095," * 500 + "0"),
    ((*RUN, "request", "foreign"), {"port": 8080, "ready": "/a\nb"}),
]  # fmt: skip
"""Other places of words that the shell, Compose or a page has."""


def changed(folder: Path, *changes: tuple[tuple[str | int, ...], Any]) -> str:
    """The order, with these values at these places."""
    order = json.loads(order_file(folder).read_text())
    for (*way, last), value in changes:
        within: Any = order
        for step in way:
            within = within[step]
        within[last] = value
    return json.dumps(order)


def refused(folder: Path, *changes: tuple[tuple[str | int, ...], Any]) -> bool:
    """Whether the order is, with these values at these places."""
    before = order_file(folder).read_bytes()
    assert read_order(folder)
    order_file(folder).write_text(changed(folder, *changes))
    try:
        read_order(folder)
    except ParseError:
        return True
    finally:
        order_file(folder).write_bytes(before)
    return False


@pytest.mark.parametrize("word", WORDS)
def test_a_name_is_one_word_and_stays_in_its_folder(tmp_path: Path, word: str) -> None:
    folder = made(tmp_path)

    assert refused(folder, (("experiment",), word))
    assert refused(folder, (("scenario",), SCENARIO | {"name": word}))
    assert refused(folder, ((*RUN, "run"), word))
    assert refused(folder, ((*RUN, "request", "tool"), word))
    assert refused(folder, ((*RUN, "request", "approach"), word), ((*LOAD, "origin"), f"http://{word}:8080"))


@pytest.mark.parametrize(("place", "value"), OTHER_WORDS)
def test_no_other_word_is_more_than_one(tmp_path: Path, place: tuple[str | int, ...], value: Any) -> None:
    assert refused(made(tmp_path), (place, value))


NOT_PLANNED: list[tuple[tuple[str | int, ...], Any]] = [
    (("settings", "JVM_OPTS"), "-XX:OnError=id"), ((*RUN, "settings", "JVM_OPTS"), "-agentlib:jdwp"),
    (("settings", "APPROACH_MEMORY"), "900g"), (("settings", "LOADGEN_CPUSET"), "0-1"), (("settings", "GC"), "zgc"),
    (("asked", "GC"), "zgc"), (("asked", "APPROACH"), "none"), (("asked", "JVM_OPTS"), "-agentlib:jdwp"),
    ((*LOAD, "targets", 0, "body"), "/proc/self/environ"), ((*LOAD, "connections"), 10**6), ((*RUN, "run"), "7-other"),
    ((*RUN, "longest_s"), 10**9), ((*RUN, "block"), 2),
    (("lab_sha256",), None), (("host", "cpu_model"), "EPYC"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "value"), NOT_PLANNED)
def test_what_the_lab_would_not_plan_does_not_go_on(tmp_path: Path, place: tuple[str | int, ...], value: Any) -> None:
    folder = made(tmp_path)
    order_file(folder).write_text(changed(folder, (place, value)))
    before = checksum(folder)

    with pytest.raises(UsageError, match=f"RESUME={folder.name} "):
        resume(folder)

    assert checksum(folder) == before


def test_options_of_the_jvm_are_not_taken_from_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path)
    order_file(folder).write_text(changed(folder, (("asked", "JVM_OPTS"), "-Xss1m")))

    assert exit_code("resume", folder.name, "--results", str(folder.parent)) == 2
    assert "JVM_OPTS, and is not resumed" in capsys.readouterr().err


def test_an_order_sets_a_plans_variables_in_words(tmp_path: Path) -> None:
    folder = made(tmp_path)
    places: list[tuple[str | int, ...]] = [("settings",), (*RUN, "settings")]

    passed = [(place, one) for place in places for one in SETTINGS if not refused(folder, ((*place, one[0]), one[1]))]

    assert passed == []
    assert refused(folder, (("note",), "take care\nBASH_ENV=x"))
    assert not refused(folder, (("settings", "GC"), "g1"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("origin", "http://elsewhere:8080"), ("origin", "-g/results/victim/summary.json"),
        ("targets", [{"target": "@elsewhere/"}]), ("targets", [{"target": "/a\nGET http://elsewhere/"}]),
        ("targets", [{"target": "/", "headers": ["A: b\n@/etc/passwd"]}]), ("targets", []),
    ],
)  # fmt: skip
def test_a_load_is_the_approachs_own_and_no_option_of_the_tool(tmp_path: Path, name: str, value: Any) -> None:
    """Of an order of another version, too, of which unknown fields are left out."""
    folder = made(tmp_path)

    assert refused(folder, ((*LOAD, name), value))
    assert refused(folder, ((*LOAD, name), value), ((*RUN, "newer"), 1))
