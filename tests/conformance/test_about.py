"""/about tells the settings that are in effect, and they are those that were asked for."""

import json
from typing import Any

import pytest

from approach import WITHOUT_C2, Approach, Settings
from conftest import Golden

INBOUND = {"max_connections": "MAX_CONNECTIONS", "backlog": "BACKLOG", "keep_alive_ms": "KEEP_ALIVE_MS"}
OUTBOUND = {
    "max_connections": "POOL",
    "max_connections_per_route": "POOL",
    "connect_timeout_ms": "CONNECT_TIMEOUT_MS",
    "response_timeout_ms": "RESPONSE_TIMEOUT_MS",
    "pool_timeout_ms": "POOL_TIMEOUT_MS",
    "keep_alive_ms": "KEEP_ALIVE_MS",
}
COLLECTORS = {"g1": "G1 Young Generation", "parallel": "PS Scavenge", "serial": "Copy", "zgc": "ZGC Minor Cycles"}
CLIENTS = {"apache": "apache-httpclient", "jdk": "jdk-httpclient", "reactor": "reactor-netty"}


@pytest.fixture
async def about(approach: Approach) -> dict[str, Any]:
    return await approach.about()


def test_has_the_same_members_everywhere(approach: Approach, about: dict[str, Any], golden: Golden) -> None:
    members = {name: list(value) if isinstance(value, dict) else None for name, value in about.items()}
    golden("about-members.json", json.dumps(members, indent=2).encode() + b"\n")
    assert about["approach"] == approach.name


def client_asked_for(approach: Approach, name: str) -> str:
    """What HTTP_CLIENT means for that approach; where no thread waits it has no effect."""
    if approach.thread_kind == "event-loop":
        return CLIENTS["reactor"]
    if name == "default":
        return CLIENTS["reactor" if approach.server == "netty" else "apache"]
    return CLIENTS[name]


def test_jdk_compiler_collector_client_and_style_are_those_that_were_asked_for(
    approach: Approach, about: dict[str, Any], settings: Settings
) -> None:
    assert approach.java == settings["JDK"]
    assert COLLECTORS[settings.values["GC"]] in about["jvm"]["gc_beans"]
    assert about["outbound"]["client"] == client_asked_for(approach, settings.values["HTTP_CLIENT"])
    assert about["style"] == settings.values["STYLE"]
    assert (WITHOUT_C2 in about["jvm"]["vm_arguments"]) is (WITHOUT_C2 in settings.values["JAVA_TOOL_OPTIONS"])


def told(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


async def test_the_metrics_tell_what_approaches_differ_in(approach: Approach, about: dict[str, Any]) -> None:
    (labels,) = (await approach.scrape()).series("lab_approach_info")
    internals = about["inbound"]["internals"]
    assert labels == {
        "approach": approach.name,
        "concurrency": about["concurrency"],
        "style": about["style"],
        "server": about["inbound"]["server"],
        "framework": about["inbound"]["framework"] or "none",
        "client": about["outbound"]["client"],
        "sockets": about["inbound"]["socket_thread_kind"] or "none",
        "internals": ", ".join(f"{name}: {told(value)}" for name, value in sorted(internals.items())) or "none",
    }


def test_classes_come_from_the_images_archive_but_under_zgc(about: dict[str, Any]) -> None:
    archived = f"-XX:SharedArchiveFile=/app/classes-{about['style']}.jsa" in about["jvm"]["vm_arguments"]
    assert archived is not any("ZGC" in collector for collector in about["jvm"]["gc_beans"])


@pytest.mark.parametrize("member", INBOUND)
def test_inbound(approach: Approach, about: dict[str, Any], settings: Settings, member: str) -> None:
    asked = None if member == "max_connections" and approach.limits_no_connections else settings[INBOUND[member]]
    assert about["inbound"][member] == asked


@pytest.mark.parametrize("member", OUTBOUND)
def test_outbound(about: dict[str, Any], settings: Settings, member: str) -> None:
    assert about["outbound"][member] == settings[OUTBOUND[member]]


def test_nothing_limits_a_connection(approach: Approach, about: dict[str, Any]) -> None:
    assert about["inbound"]["max_requests_per_connection"] is None
    assert about["inbound"]["tcp_no_delay"] is True
    assert about["outbound"]["tcp_no_delay"] is (None if approach.client == CLIENTS["jdk"] else True)


def test_platform_threads_are_as_many_as_asked_for(
    approach: Approach, about: dict[str, Any], settings: Settings
) -> None:
    asked = settings["PLATFORM_THREADS"] if approach.thread_kind == "platform" else None
    assert about["inbound"]["max_threads"] == asked
