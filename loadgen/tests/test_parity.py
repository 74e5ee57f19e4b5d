"""What differs between approaches, explained or not."""

import re
from typing import Any

import pytest

from abouts import ALL, HEADLINE, about, named, subject
from loomlab.answer.parity import Audit, Subject, audit, flat
from loomlab.records.models import Answer, Probe


def of(approach: str, **changes: Any) -> Subject:
    return named(approach, ALL, **changes)


def sized(approach: str, size: float | None = 150) -> Subject:
    return subject(approach, about(approach, ALL), response_bytes_per_request=size)


@pytest.mark.parametrize("recorded", [HEADLINE, ALL], ids=["headline", "all"])
def test_what_approaches_told_of_themselves_is_explained(recorded: dict[str, dict[str, Any]]) -> None:
    reactor = {"outbound": recorded["webflux-netty"]["outbound"]}
    for changes in ({}, reactor):
        assert audit(subject(name, told | changes) for name, told in recorded.items()).suspicions == []


def test_what_the_model_and_the_server_explain_is_noted_once() -> None:
    notes = audit([of("microhttp-platform"), of("microhttp-virtual"), of("microhttp-platform")]).notes

    pool = "Explained difference in inbound.max_threads: only platform threads come from a pool of a fixed size."
    assert pool in notes
    assert len([note for note in notes if "thread_kinds./capabilities" in note]) == 1


@pytest.mark.parametrize(
    ("approach", "changes"),
    [
        ("tomcat-virtual", {"inbound__framework": "other"}), ("tomcat-virtual", {"inbound__transport": "socket"}),
        ("tomcat-virtual", {"inbound__internals__processor_cache": 200}),
        ("tomcat-virtual", {"inbound__socket_threads": 16}), ("tomcat-virtual", {"outbound__client": "jdk-httpclient"}),
        ("tomcat-virtual", {"outbound__pool_policy": "one lock"}),
        ("virtual-netty", {"inbound__internals__unsafe": True}),
        ("virtual-netty", {"outbound__internals__unsafe": True}), ("virtual-netty", {"outbound__event_loops": 16}),
        ("tomcat-virtual", {"jvm__max_heap_bytes": 90}), ("tomcat-virtual", {"brand_new": 7}),
        ("jetty-platform", {"inbound__max_threads": 50}), ("jetty-virtual", {"inbound__backlog": 1}),
        ("tomcat-virtual", {"inbound__backlog": None}), ("webflux-netty", {"outbound__max_connections_per_route": 7}),
    ],
)  # fmt: skip
def test_what_nothing_explains_is_suspect(approach: str, changes: dict[str, Any]) -> None:
    (member,) = (name.replace("__", ".") for name in changes)

    got = audit([*(of(name) for name in ALL if name != approach), of(approach, **changes)])

    assert list(got.unexplained) == [member]
    assert [one.partition(" differs")[0] for one in got.suspicions] == [f"Parity: {member}"]


def test_sizes_that_differ_and_what_is_not_known_are_told() -> None:
    silent = subject("tomcat-virtual", probe=Probe(target="/x", error="nobody there"))

    (sizes,) = audit([sized("tomcat-platform"), sized("tomcat-virtual", 154)]).suspicions
    assert "150.0 bytes per request from tomcat-platform, 154.0 from tomcat-virtual" in sizes
    assert audit([of("tomcat-platform"), silent]).suspicions == [
        "The effective configuration of tomcat-virtual is unknown: /about was not recorded.",
        "The probe found no answer: nobody there.",
    ]
    assert audit([subject("tomcat-platform"), subject("tomcat-virtual")]) == Audit(
        notes=["The effective configurations were not compared: no run recorded /about."]
    )


def test_how_jetty_dispatches_follows_from_the_model_and_is_one_for_an_approach() -> None:
    dispatch = "inbound__internals__dispatch"
    platform, virtual = (of(f"jetty-{kind}", **{dispatch: kind}) for kind in ("platform", "virtual"))

    assert audit([platform, virtual]).suspicions == []
    assert list(audit([virtual, of("jetty-virtual", **{dispatch: "platform"})]).unexplained) == [
        "inbound.internals.dispatch"
    ]


def test_alike_approaches_leave_nothing_to_say_and_what_each_process_calibrates_is_no_difference() -> None:
    one, other = (of("tomcat-platform", cpu_iterations_per_microsecond=value) for value in (250, 251))
    assert audit([one, other]) == audit([one, one]) == audit([]) == Audit()


@pytest.mark.parametrize("size", [0, None, 153])
def test_a_size_that_is_none_or_near_neither_differs_nor_hides_a_difference(size: float | None) -> None:
    runs = [sized("tomcat-platform"), sized("tomcat-virtual", size)]
    assert audit(runs).suspicions == []
    assert len(audit([*runs, sized("jetty-virtual", 200)]).suspicions) == 1


def test_null_is_explained_for_a_whole_server_and_does_not_excuse_the_others() -> None:
    untold = of("jetty-virtual", inbound__backlog=None)
    assert audit([of("tomcat-platform"), untold]).suspicions == []
    assert len(audit([of("tomcat-platform"), untold, of("tomcat-virtual", inbound__backlog=1)]).suspicions) == 1


HEADERS = [("Content-Type", "text/plain"), ("Content-Length", "9"), ("Date", "today")]


def probed(version: str, endpoint: str, **changes: Any) -> Subject:
    answer = Answer(status="HTTP/1.1 200 OK", headers=HEADERS, body_bytes=9, kept=True).model_copy(update=changes)
    probe = Probe(target="/x", answers={version: answer})
    return subject("tomcat-virtual", about("tomcat-virtual"), probe, endpoint=endpoint)


@pytest.mark.parametrize(
    ("version", "changes", "said"),
    [
        ("1.1", {"status": "HTTP/1.1 503 Busy"}, r'status .* \["503"\] from tomcat-virtual'),
        ("1.1", {"headers": HEADERS[:2]}, "header names"),
        ("1.1", {"headers": [("content-type", "text/html"), *HEADERS[1:]]}, "Content-Type"),
        ("1.1", {"kept": False}, "keeping an HTTP/1.1 connection"),
        ("1.1", {"body_bytes": 10, "endpoint": "/meetings"}, "body's length"),
        ("1.0", {"headers": [*HEADERS, ("Connection", "keep-alive")]}, "header names"),
        ("1.1", {"headers": [*HEADERS, ("Connection", "keep-alive")]}, None),
        ("1.1", {"status": "HTTP/1.1 200 "}, None),
        ("1.1", {"body_bytes": 10}, None),
    ],
)
def test_answers_that_differ_too_much_are_told(version: str, changes: dict[str, Any], said: str | None) -> None:
    changed = {"endpoint": "/capabilities"} | changes
    got = audit([probed(version, changed["endpoint"]), probed(version, **changed)])

    assert len(got.suspicions) == (said is not None)
    assert said is None or re.search(said, got.suspicions[0])


def test_nested_values_are_named_by_their_path() -> None:
    assert flat({"a": 1, "b": {"c": [2], "d": {"e": None}}}) == {"a": 1, "b.c": [2], "b.d.e": None}
