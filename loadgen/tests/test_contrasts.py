"""What approaches differ in, by their /about."""

from typing import Any

import pytest

from loomlab.answer.contrasts import contrast_notes, contrasts_of
from loomlab.records.models import Contrast


def about(concurrency: str, server: str, framework: str | None, client: str) -> dict[str, Any]:
    return {
        "concurrency": concurrency,
        "inbound": {"server": server, "framework": framework, "transport": "nio"},
        "outbound": {"client": client, "version": "1"},
    }


TOMCAT_PLATFORM = about("platform-threads", "tomcat", "spring-webmvc", "apache-httpclient")
TOMCAT_VIRTUAL = about("virtual-threads", "tomcat", "spring-webmvc", "apache-httpclient")
WEBFLUX = about("reactive", "netty", "spring-webflux", "reactor-netty")
MICROHTTP = about("virtual-threads", "microhttp", None, "apache-httpclient")


def contrast(one: dict[str, Any] | None, other: dict[str, Any] | None) -> Contrast:
    (only,) = contrasts_of({"one": one, "other": other})
    return only


def test_a_contrast_in_the_model_alone_is_controlled() -> None:
    got = contrast(TOMCAT_PLATFORM, TOMCAT_VIRTUAL)

    assert got.kind == "controlled"
    assert [(one.part, one.a, one.b) for one in got.differs] == [("concurrency", "platform-threads", "virtual-threads")]


def test_one_server_that_serves_its_sockets_in_another_way_is_another_stack() -> None:
    inbound = TOMCAT_VIRTUAL["inbound"] | {"socket_thread_kind": "virtual", "internals": {"dispatch": "new thread"}}

    got = contrast(TOMCAT_PLATFORM, TOMCAT_VIRTUAL | {"inbound": inbound})

    assert got.kind == "stack"
    assert [one.part for one in got.differs] == ["concurrency", "socket threads", "internals of the server"]
    assert (got.differs[2].a, got.differs[2].b) == ("none", "dispatch: new thread")


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        (WEBFLUX, ["concurrency", "server", "framework", "client"]),
        (MICROHTTP, ["concurrency", "server", "framework"]),
        (TOMCAT_PLATFORM | {"outbound": {"client": "jdk"}}, ["client"]),
        (TOMCAT_VIRTUAL | {"outbound": {"client": "reactor-netty"}}, ["concurrency", "client"]),
        (TOMCAT_PLATFORM, []),
    ],
)
def test_a_contrast_in_anything_else_is_one_of_stacks(other: dict[str, Any], differs: list[str]) -> None:
    got = contrast(TOMCAT_PLATFORM, other)

    assert got.kind == "stack"
    assert [one.part for one in got.differs] == differs


@pytest.mark.parametrize("untold", [None])
def test_what_did_not_tell_is_not_compared(untold: None) -> None:
    assert contrast(TOMCAT_PLATFORM, untold).kind == "unknown"


def test_other_versions_limits_and_executors_are_no_other_stack() -> None:
    other = TOMCAT_VIRTUAL | {"inbound": TOMCAT_VIRTUAL["inbound"] | {"executor": "x"}, "jvm": {"carriers": 4}}

    assert contrast(TOMCAT_PLATFORM, other).kind == "controlled"


def test_a_reader_is_told_which_rows_are_comparable_and_what_else_the_others_differ_in() -> None:
    told = {"a": TOMCAT_PLATFORM, "b": TOMCAT_VIRTUAL, "c": WEBFLUX, "d": None}

    assert contrast_notes(contrasts_of(told)) == [
        "a and b differ in the concurrency model alone (controlled contrast).",
        "a and c; b and c differ in server, framework, client besides the model (stack contrast): "
        "a difference between them is not the concurrency model's alone.",
        "What a and d; b and d; c and d differ in is not known: /about was not recorded.",
    ]
