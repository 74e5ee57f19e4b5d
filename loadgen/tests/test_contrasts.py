"""What approaches differ in, by their /about and their answers, explained or not."""

import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from abouts import ALL, NETTYS, TOMCATS, about, named, subject
from loomlab.answer.parity import Audit, Subject, audit, contrasts_of, what_differs
from loomlab.answer.text import lines
from loomlab.records.contrasts import Contrast
from loomlab.records.models import Answer, Probe


def contrast(a: str, b: str, one: dict[str, Any] | None, other: dict[str, Any] | None) -> Contrast:
    (found,) = contrasts_of([subject(a, one), subject(b, other)])
    return found


def parts(found: Contrast) -> list[str]:
    return [one.part for one in found.differs]


def test_two_stacks_differ_in_server_framework_and_client_and_finer_parts_go_without_saying() -> None:
    got = contrast("tomcat-virtual", "webflux-netty", about("tomcat-virtual"), about("webflux-netty"))
    named = about("webflux-netty", inbound__server_header="Netty")

    assert (got.kind, parts(got)) == ("stack", ["concurrency", "server", "framework", "client"])
    assert parts(contrast("tomcat-virtual", "webflux-netty", about("tomcat-virtual"), named))[-1] == (
        "inbound.server_header"
    )


@pytest.mark.parametrize(
    ("change", "part", "a", "b"),
    [
        ({"style": "idiomatic"}, "style", "lean", "idiomatic"),
        ({"inbound__framework": None}, "framework", "spring-webmvc", "none"),
        ({"outbound__client": "jdk-httpclient"}, "client", "apache-httpclient", "jdk-httpclient"),
        ({"inbound__socket_thread_kind": "virtual"}, "inbound.socket_thread_kind", "platform", "virtual"),
        ({"inbound__internals__dispatch": "other"}, "inbound.internals.dispatch", "none", "other"),
        ({"outbound__internals": {"unsafe": False}}, "outbound.internals.unsafe", "none", "false"),
        ({"inbound__version": "10"}, "inbound.version", ALL["tomcat-platform"]["inbound"]["version"], "10"),
        ({"inbound__tcp_no_delay": ...}, "inbound.tcp_no_delay", "true", "none"),
        ({"outbound__pool.size": 7}, "outbound.pool.size", "none", "7"),
        ({"jvm__gc_beans": ["ZGC"]}, "jvm.gc_beans", '["PS MarkSweep", "PS Scavenge"]', '["ZGC"]'),
    ],
)  # fmt: skip
def test_what_differs_besides_the_model_makes_it_of_stacks(change: dict[str, Any], part: str, a: str, b: str) -> None:
    got = contrast(*TOMCATS, about(TOMCATS[0]), about(TOMCATS[1], **change))
    assert got.kind == "stack"
    assert [(one.part, one.b, one.a) for one in got.differs if one.part != "concurrency"] == [(part, a, b)]


@pytest.mark.parametrize("other_first", [True, False])
def test_a_run_made_with_other_settings_than_the_others_of_its_approach_counts(other_first: bool) -> None:
    usual, other = (about(TOMCATS[0], outbound__client=client) for client in ("apache-httpclient", "jdk-httpclient"))
    one, last = (other, usual) if other_first else (usual, other)
    (got,) = contrasts_of([subject(TOMCATS[0], one), named(TOMCATS[1]), subject(TOMCATS[0], last)])

    assert (got.kind, parts(got)) == ("stack", ["concurrency", "client"])
    assert got.differs[1].b == f"{one['outbound']['client']}; {last['outbound']['client']}"
    assert got.differs[1].a == "apache-httpclient"


@pytest.mark.parametrize("undecided", TOMCATS)
def test_an_approach_of_two_models_is_not_compared(undecided: str) -> None:
    told = [named(name) for name in TOMCATS]
    models = ("platform-threads", "virtual-threads")
    told += [named(undecided, concurrency=model) for model in models]

    assert [one.kind for one in contrasts_of(told)] == ["unknown"]


def test_of_all_approaches_one_pair_each_of_three_servers_is_controlled() -> None:
    got = contrasts_of(subject(name, told) for name, told in ALL.items())

    controlled = {TOMCATS[::-1], NETTYS[::-1], ("microhttp-virtual", "microhttp-platform")}
    assert {(one.a, one.b) for one in got if one.kind == "controlled"} == controlled
    assert {one.kind for one in got} == {"controlled", "stack"}
    assert len(got) == 45


@pytest.mark.parametrize(
    ("client", "kind", "differ"),
    [("default", "stack", ["concurrency", "client"]), ("reactor", "controlled", ["concurrency"])],
)
def test_microhttps_three_are_controlled_where_they_share_a_client(client: str, kind: str, differ: list[str]) -> None:
    shared = {"outbound": ALL["microhttp-async"]["outbound"]} if client == "reactor" else {}
    got = contrasts_of(subject(name, told | shared) for name, told in ALL.items() if name.startswith("microhttp"))

    assert [(one.a, one.b, one.kind, parts(one)) for one in got] == [
        ("microhttp-async", "microhttp-platform", kind, differ),
        ("microhttp-virtual", "microhttp-async", kind, differ),
        ("microhttp-virtual", "microhttp-platform", "controlled", ["concurrency"]),
    ]


def test_pools_may_differ_from_load_to_load() -> None:
    small: dict[str, Any] = {"outbound__max_connections": 54, "outbound__max_connections_per_route": 54}
    told = [*map(named, TOMCATS), named(TOMCATS[0], cell=2, inbound__max_threads=50, **small)]
    (got,) = contrasts_of([*told, named(TOMCATS[1], cell=2, inbound__max_threads=None, **small)])

    assert got.kind == "controlled"


def test_what_differs_under_one_of_the_loads_counts() -> None:
    told = [named(name, cell=cell) for cell in (1, 2) for name in TOMCATS]
    told[3] = named(TOMCATS[1], cell=2, jvm__max_heap_bytes=7)
    (in_one,) = contrasts_of(told)
    told[1] = named(TOMCATS[1], jvm__max_heap_bytes=6)
    (both,) = contrasts_of(told)

    assert (in_one.kind, parts(in_one)) == ("stack", ["concurrency", "jvm.max_heap_bytes"])
    assert [(one.b, one.a) for one in both.differs] == [("platform-threads", "virtual-threads"), ("920649728", "6; 7")]


def test_without_a_load_in_common_everything_is_compared() -> None:
    told = [named(name, cell=cell) for cell, name in enumerate(TOMCATS, 1)]
    other = named(TOMCATS[1], cell=2, jvm__version="21.0.9", outbound__max_connections=54)

    assert [one.kind for one in contrasts_of(told)] == ["controlled"]
    assert [parts(one) for one in contrasts_of([told[0], other])] == [
        ["concurrency", "jvm.version", "outbound.max_connections"]
    ]


@pytest.mark.parametrize(
    "change",
    [
        None, {"concurrency": None}, {"concurrency": ...}, {"outbound": "apache"}, {"inbound__server": None},
        {"inbound__framework": ...},
    ],
)  # fmt: skip
def test_what_did_not_tell_is_not_compared(change: dict[str, Any] | None) -> None:
    untold, told = None if change is None else about(TOMCATS[0], **change), about(TOMCATS[1])
    for both in ((untold, told), (told, untold), (untold, untold)):
        assert contrast(*TOMCATS, *both).kind == "unknown"


@pytest.mark.parametrize("first", [(*NETTYS, *TOMCATS), (*TOMCATS, *NETTYS)])
def test_what_is_asked_about_is_held_against_what_is_usual_whoever_ran_first(first: tuple[str, ...]) -> None:
    got = contrasts_of(named(name) for name in first)

    assert [(one.a, one.b) for one in got] == [
        ("tomcat-virtual", "tomcat-platform"), ("tomcat-virtual", "virtual-netty"), ("tomcat-virtual", "webflux-netty"),
        ("virtual-netty", "tomcat-platform"), ("virtual-netty", "webflux-netty"), ("webflux-netty", "tomcat-platform"),
    ]  # fmt: skip


def test_a_twin_is_held_against_its_own_approach_alone() -> None:
    told = [named(name) for name in (*TOMCATS, "webflux-netty")]
    twin = subject("tomcat-virtual-twin", about("tomcat-virtual"), twin_of="tomcat-virtual")
    got = contrasts_of([*told, twin])

    assert [(one.a, one.b, one.differs) for one in got if one.kind == "same"] == [
        ("tomcat-virtual", "tomcat-virtual-twin", [])
    ]
    assert len(got) == 4
    assert sum("tomcat-virtual-twin" in note for note in lines("contrasts.txt", contrasts=got)) == 1


def test_a_reader_is_told_which_rows_are_comparable(snapshot: SnapshotAssertion) -> None:
    told = [named(name) for name in (*TOMCATS, "webflux-netty")]
    alone = [subject("a", about(TOMCATS[0])), subject("b", about(TOMCATS[0]))]
    other = [alone[0], subject("c", about(TOMCATS[0], outbound__client="jdk-httpclient"))]

    twin = [alone[0], subject("a-twin", about(TOMCATS[0]), twin_of="a")]
    every = ([*told, subject("d", None)], alone, other, twin)

    notes = [note for subjects in every for note in lines("contrasts.txt", contrasts=contrasts_of(subjects))]
    assert "\n".join(notes) == snapshot


def test_what_differs_stands_with_the_first_sides_before_the_seconds() -> None:
    known = contrast(*TOMCATS, about(TOMCATS[0]), about(TOMCATS[1], style="idiomatic"))

    assert (known.a, known.b) == TOMCATS[::-1]
    assert what_differs(known) == "concurrency: virtual-threads / platform-threads; style: idiomatic / lean"
    assert what_differs(contrast(*TOMCATS, None, None)) == "not known"


def test_how_sockets_are_served_goes_without_saying_between_two_servers() -> None:
    (got,) = contrasts_of(subject(name, ALL[name]) for name in ("jetty-virtual", "tomcat-platform"))
    assert not {"inbound.internals.dispatch", "inbound.socket_thread_kind"} & {*parts(got)}


def test_of_pairs_that_were_loaded_in_turn_only_the_two_of_each_are_compared() -> None:
    told = [subject(a, about(a), partner=b) for one in (TOMCATS, NETTYS) for a, b in (one, one[::-1])]
    assert {frozenset((one.a, one.b)) for one in contrasts_of(told)} == {frozenset(TOMCATS), frozenset(NETTYS)}


def sized(approach: str, size: float | None = 150) -> Subject:
    return subject(approach, about(approach), response_bytes_per_request=size)


def test_what_approaches_told_of_themselves_is_explained() -> None:
    reactor = {"outbound": ALL["webflux-netty"]["outbound"]}
    for changes in ({}, reactor):
        assert audit(subject(name, told | changes) for name, told in ALL.items()).suspicions == []


def test_what_the_model_and_the_server_explain_is_noted_once() -> None:
    notes = audit([named("microhttp-platform"), named("microhttp-virtual"), named("microhttp-platform")]).notes

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

    got = audit([*(named(name) for name in ALL if name != approach), named(approach, **changes)])

    assert list(got.unexplained) == [member]
    assert [one.partition(" differs")[0] for one in got.suspicions] == [f"Parity: {member}"]


def test_sizes_that_differ_and_what_is_not_known_are_told() -> None:
    silent = subject("tomcat-virtual", probe=Probe(target="/x", error="nobody there"))

    (sizes,) = audit([sized("tomcat-platform"), sized("tomcat-virtual", 154)]).suspicions
    assert "150.0 bytes per request from tomcat-platform, 154.0 from tomcat-virtual" in sizes
    assert audit([named("tomcat-platform"), silent]).suspicions == [
        "The effective configuration of tomcat-virtual is unknown: /about was not recorded.",
        "The probe found no answer: nobody there.",
    ]
    assert audit([subject("tomcat-platform"), subject("tomcat-virtual")]) == Audit(
        notes=["The effective configurations were not compared: no run recorded /about."]
    )


def test_how_jetty_dispatches_follows_from_the_model_and_is_one_for_an_approach() -> None:
    platform, virtual = (named(f"jetty-{kind}", inbound__internals__dispatch=kind) for kind in ("platform", "virtual"))

    assert audit([platform, virtual]).suspicions == []
    assert list(audit([virtual, named("jetty-virtual", inbound__internals__dispatch="platform")]).unexplained) == [
        "inbound.internals.dispatch"
    ]


def test_alike_approaches_leave_nothing_to_say_and_what_each_process_calibrates_is_no_difference() -> None:
    one, other = (named("tomcat-platform", cpu_iterations_per_microsecond=value) for value in (250, 251))
    assert audit([one, other]) == audit([one, one]) == audit([]) == Audit()


@pytest.mark.parametrize("size", [0, None, 153])
def test_a_size_that_is_none_or_near_neither_differs_nor_hides_a_difference(size: float | None) -> None:
    runs = [sized("tomcat-platform"), sized("tomcat-virtual", size)]
    assert audit(runs).suspicions == []
    assert len(audit([*runs, sized("jetty-virtual", 200)]).suspicions) == 1


def test_null_is_explained_for_a_whole_server_and_does_not_excuse_the_others() -> None:
    untold = named("jetty-virtual", inbound__backlog=None)
    assert audit([named("tomcat-platform"), untold]).suspicions == []
    assert len(audit([named("tomcat-platform"), untold, named("tomcat-virtual", inbound__backlog=1)]).suspicions) == 1


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
