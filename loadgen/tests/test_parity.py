"""What differs between approaches, explained or not."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from loomlab.answer.parity import Audit, Subject, audit, flat
from loomlab.records.models import Answer, Probe

ABOUTS = Path(__file__).parent / "golden" / "abouts"


def about(approach: str, **changes: Any) -> dict[str, Any]:
    server, _, kind = approach.partition("-")
    model = {"platform": "platform-threads", "virtual": "virtual-threads", "async": "completable-future"}[kind]
    values = {
        "approach": approach,
        "concurrency": model,
        "jvm.max_heap_bytes": 100,
        "jvm.vm_arguments": ["-XX:+UseG1GC"],
        "inbound.server": server,
        "inbound.backlog": 16384,
        "inbound.max_requests_per_connection": None,
        "inbound.max_threads": 1000 if kind == "platform" else None,
        "outbound.client": "reactor-netty" if kind == "async" else "apache-httpclient",
        "outbound.max_connections_per_route": 1000,
        "thread_kinds./capabilities": {"platform": "platform", "virtual": "virtual", "async": "event-loop"}[kind],
    } | changes
    nested: dict[str, Any] = {}
    for name, value in values.items():
        part, dot, rest = name.partition(".")
        if dot:
            nested.setdefault(part, {})[rest] = value
        else:
            nested[name] = value
    return nested


def of(approach: str, **changes: Any) -> Subject:
    return Subject(approach, about=about(approach, **changes), response_bytes_per_request=150)


def test_what_the_model_and_the_server_explain_is_noted_once(snapshot: SnapshotAssertion) -> None:
    got = audit([of("tomcat-platform"), of("jetty-virtual"), of("microhttp-async"), of("tomcat-platform")])

    assert got.suspicions == []
    assert got.notes == snapshot


@pytest.mark.parametrize("recorded", ["headline", "all"])
def test_what_approaches_told_of_themselves_on_two_cpus_is_explained(recorded: str) -> None:
    abouts = json.loads((ABOUTS / f"{recorded}.json").read_text())

    assert audit(Subject(name, told) for name, told in abouts.items()).suspicions == []


@pytest.mark.parametrize(
    ("approach", "member", "value"),
    [
        ("tomcat-virtual", "inbound.framework", "other"),
        ("tomcat-virtual", "inbound.transport", "socket"),
        ("tomcat-virtual", "inbound.internals.processor_cache", 200),
        ("tomcat-virtual", "inbound.internals.processor_cache", "-1"),
        ("tomcat-virtual", "inbound.socket_threads", 16),
        ("tomcat-virtual", "outbound.client", "jdk-httpclient"),
        ("tomcat-virtual", "outbound.pool_policy", "one lock"),
        ("virtual-netty", "inbound.internals.unsafe", True),
        ("virtual-netty", "outbound.internals.unsafe", True),
        ("virtual-netty", "outbound.event_loops", 16),
        ("virtual-netty", "outbound.version", "0"),
    ],
)
def test_internals_of_one_server_or_client_that_differ_are_suspect(approach: str, member: str, value: Any) -> None:
    abouts = json.loads((ABOUTS / "headline.json").read_text())
    *way, last = member.split(".")
    within = abouts[approach]
    for step in way:
        within = within[step]
    within[last] = value

    got = audit(Subject(name, told) for name, told in abouts.items())

    assert list(got.unexplained) == [member]
    assert [one.partition(" differs")[0] for one in got.suspicions] == [f"Parity: {member}"]


def test_how_jetty_dispatches_follows_from_the_model_and_is_one_for_an_approach() -> None:
    dispatch = "inbound.internals.dispatch"
    platform, virtual = (of(f"jetty-{kind}", **{dispatch: kind}) for kind in ("platform", "virtual"))

    assert audit([platform, virtual]).suspicions == []
    assert list(audit([virtual, of("jetty-virtual", **{dispatch: "platform"})]).unexplained) == [dispatch]


def test_the_client_that_was_asked_for_is_explained() -> None:
    abouts = json.loads((ABOUTS / "headline.json").read_text())
    of_reactor = abouts["webflux-netty"]["outbound"]
    others = {name: told | {"outbound": of_reactor} for name, told in abouts.items()}

    assert audit(Subject(name, told) for name, told in others.items()).suspicions == []


def test_what_each_process_calibrates_is_no_difference() -> None:
    one, other = (of("tomcat-platform", cpu_iterations_per_microsecond=value) for value in (250, 251))

    assert audit([one, other]) == Audit()


def test_alike_approaches_leave_nothing_to_say() -> None:
    assert audit([of("tomcat-platform"), of("tomcat-platform")]) == Audit()
    assert audit([]) == Audit()


@pytest.mark.parametrize(
    "other",
    [
        of("tomcat-virtual", **{"jvm.max_heap_bytes": 90}),
        of("tomcat-virtual", **{"jvm.vm_arguments": ["-Xss1m"]}),
        of("tomcat-virtual", **{"inbound.backlog": 100}),
        of("tomcat-virtual", **{"inbound.max_requests_per_connection": 100}),
        of("tomcat-virtual", **{"outbound.client": "jdk-httpclient"}),
        of("jetty-platform", **{"inbound.max_threads": 200, "inbound.server": "tomcat"}),
        of("jetty-platform", **{"thread_kinds./capabilities": "virtual", "inbound.server": "tomcat"}),
        of("tomcat-virtual", **{"brand.new": 7}),
        of("jetty-virtual", **{"inbound.max_threads": 50}),
        of("jetty-virtual", **{"inbound.backlog": 1}),
        of("microhttp-async", **{"outbound.max_connections_per_route": 7}),
        replace(of("tomcat-virtual"), about=None),
        replace(of("tomcat-virtual"), response_bytes_per_request=154),
    ],
)
def test_what_nothing_explains_is_told_with_its_values_and_approaches(
    other: Subject, snapshot: SnapshotAssertion
) -> None:
    assert audit([of("tomcat-platform"), other]).suspicions == snapshot


@pytest.mark.parametrize("size", [0, None])
def test_a_size_that_is_none_neither_differs_nor_hides_a_difference(size: float | None) -> None:
    runs = [of("tomcat-platform"), replace(of("tomcat-virtual"), response_bytes_per_request=size)]

    assert audit(runs).suspicions == []
    assert len(audit([*runs, replace(of("jetty-virtual"), response_bytes_per_request=200)]).suspicions) == 1


def test_null_is_explained_for_named_fields_only_and_does_not_excuse_the_others() -> None:
    untold = of("jetty-virtual", **{"inbound.backlog": None})

    assert audit([of("tomcat-platform"), untold]).suspicions == []
    assert len(audit([of("tomcat-platform"), untold, of("tomcat-virtual", **{"inbound.backlog": 1})]).suspicions) == 1
    assert len(audit([of("tomcat-platform"), of("tomcat-virtual", **{"inbound.backlog": None})]).suspicions) == 1
    assert audit([of("tomcat-platform"), of("tomcat-platform", **{"jvm.max_heap_bytes": None})]).suspicions


def test_without_any_record_the_comparison_was_not_made(snapshot: SnapshotAssertion) -> None:
    got = audit([Subject("tomcat-platform"), Subject("tomcat-virtual")])

    assert got.suspicions == []
    assert got.notes == snapshot


def answer(**changes: Any) -> Answer:
    headers = [("Content-Type", "text/plain"), ("Content-Length", "9"), ("Date", "today")]
    return Answer(status="HTTP/1.1 200 OK", headers=headers, body_bytes=9, kept=True).model_copy(update=changes)


def probed(approach: str, version: str = "1.1", constant_body: bool = False, **changes: Any) -> Subject:
    return replace(
        of(approach),
        about=about("tomcat-platform"),
        probe=Probe(target="/x", answers={version: answer(**changes)}),
        constant_body=constant_body,
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"status": "HTTP/1.1 503 Busy"}, 'status .* \\["503"\\] from tomcat-virtual'),
        ({"headers": [("Content-Type", "text/plain"), ("Content-Length", "9")]}, "header names"),
        ({"headers": [("content-type", "text/html"), ("Content-Length", "9"), ("Date", "x")]}, "Content-Type"),
        ({"kept": False}, "keeping an HTTP/1.1 connection"),
        ({"body_bytes": 10, "constant_body": True}, "body's length"),
    ],
)
def test_answers_that_differ_are_told(changes: dict[str, Any], said: str) -> None:
    constant = changes.get("constant_body", False)
    got = audit([probed("tomcat-platform", constant_body=constant), probed("tomcat-virtual", **changes)])

    assert len(got.suspicions) == 1
    assert re.search(said, got.suspicions[0])


@pytest.mark.parametrize(
    ("version", "changes", "suspicions"),
    [
        ("1.1", {"status": "HTTP/1.1 200 "}, 0),
        ("1.1", {"body_bytes": 10}, 0),
        ("1.1", {"headers": [*answer().headers, ("Connection", "keep-alive")]}, 0),
        ("1.0", {"headers": [*answer().headers, ("Connection", "keep-alive")]}, 1),
    ],
)
def test_what_a_server_may_choose(version: str, changes: dict[str, Any], suspicions: int) -> None:
    got = audit([probed("tomcat-platform", version), probed("tomcat-virtual", version, **changes)])

    assert len(got.suspicions) == suspicions


def test_a_probe_without_an_answer_is_told(snapshot: SnapshotAssertion) -> None:
    silent = replace(of("tomcat-platform"), probe=Probe(target="/x", error="nobody there"))

    assert audit([silent]).suspicions == snapshot


def test_nested_values_are_named_by_their_path() -> None:
    assert flat({"a": 1, "b": {"c": [2], "d": {"e": None}}}) == {"a": 1, "b.c": [2], "b.d.e": None}
