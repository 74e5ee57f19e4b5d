"""Whether approaches differ in more than the concurrency model: compares their /about, one answer of each, and the
bytes of their answers. Pure functions of what the runs recorded."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from loomlab.records.models import Probe

BYTES_LIMIT = 0.02
NULL = "null"
IDENTITY = frozenset({"approach", "concurrency"})
CALIBRATED = frozenset({"cpu_iterations_per_microsecond"})
"""What each process measures when it starts: never the same twice."""
THREAD_KINDS = "thread_kinds"
GROUPED = (THREAD_KINDS, "inbound.internals.dispatch", "inbound.internals", "outbound.internals")
"""Members of /about whose own members are explained together; the first that fits counts."""

Values = Mapping[str, Any]
Told = list[tuple[str, Any]]
"""Approaches, and what a run of each told."""


@dataclass(frozen=True)
class Subject:
    """What one run recorded of its approach; None: it did not. `cell` is its load, `twin_of` the approach that it is
    once more; one that does not tell is heard only if two approaches have no load in common without it."""

    approach: str
    about: Mapping[str, Any] | None = None
    probe: Probe | None = None
    constant_body: bool = False
    response_bytes_per_request: float | None = None
    cell: int = 1
    twin_of: str | None = None
    tells: bool = True


@dataclass
class Audit:
    """Sentences: `suspicions` are differences that nothing explains, `notes` explained ones that did occur.
    `unexplained` has the first by what differs: a member of /about by its dotted name, or a fact of an answer."""

    suspicions: list[str] = field(default_factory=list)
    unexplained: dict[str, Told] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Explanation:
    """Why `fields` of /about may differ: only between runs of different groups, within one they must be equal. A run's
    group follows from all its values. `or_null`: a group may only say null where the others say a value."""

    fields: frozenset[str]
    why: str
    group: Callable[[Values], Any]
    or_null: bool = False


def _server(values: Values) -> Any:
    return values.get("inbound.server")


def _approach(values: Values) -> Any:
    return values["approach"]


def _own_client(values: Values) -> Any:
    """Event-driven approaches share a client, and so do the others, but for virtual-netty and its default."""
    if values.get("concurrency") in {"reactive", "completable-future"}:
        return "event-driven"
    return "netty" if values.get("inbound.server") == "netty" else "others"


def _client(values: Values) -> Any:
    return values.get("outbound.client")


def _model(values: Values) -> Any:
    return values.get("concurrency")


def _pooled(values: Values) -> bool:
    return bool(values.get("concurrency") == "platform-threads")


EXPLAINED = (
    Explanation(
        frozenset(
            {"inbound.server", "inbound.version", "inbound.framework", "inbound.transport", "inbound.socket_threads"}
        ),
        "an approach is a server and a concurrency model; how many threads serve sockets is the server's default",
        _server,
    ),
    Explanation(
        frozenset({"inbound.executor", "inbound.socket_thread_kind", "inbound.internals.dispatch"}),
        "the model decides what runs the handlers, and in Jetty what serves sockets",
        _approach,
    ),
    Explanation(frozenset({"inbound.internals"}), "a server has internals of its own", _server),
    Explanation(frozenset({"outbound.internals"}), "a client has internals of its own", _client),
    Explanation(
        frozenset({"inbound.max_threads"}),
        "only platform threads come from a pool of a fixed size",
        _pooled,
        or_null=True,
    ),
    Explanation(frozenset({THREAD_KINDS}), "the kind of thread that serves an endpoint is the model", _model),
    Explanation(
        frozenset({"inbound.max_connections", "inbound.backlog", "inbound.keep_alive_ms", "inbound.tcp_no_delay"}),
        "a server that lacks the setting or does not report it says null; the others are equal",
        _server,
        or_null=True,
    ),
    Explanation(
        frozenset({"outbound.client"}),
        "each approach has a default client; with HTTP_CLIENT=reactor all have the same",
        _own_client,
    ),
    Explanation(
        frozenset({"outbound.version", "outbound.pool_policy", "outbound.event_loops"}),
        "a client has a version, a pool and threads of its own",
        _client,
    ),
    Explanation(
        frozenset(
            f"outbound.{name}"
            for name in (
                "max_connections", "max_connections_per_route", "connect_timeout_ms", "response_timeout_ms",
                "pool_timeout_ms", "keep_alive_ms", "tcp_no_delay",
            )
        ),
        "a client that lacks the setting or does not report it says null; the others are equal",
        _client,
        or_null=True,
    ),
)  # fmt: skip


def audit(subjects: Iterable[Subject]) -> Audit:
    """Of the runs of one experiment, repeats of an approach among them."""
    runs = list(subjects)
    found = Audit()
    _configurations(runs, found)
    _answers(runs, found)
    _bytes(runs, found)
    return found


def flat(about: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested objects as dotted names; lists stay values."""
    values: dict[str, Any] = {}
    for name, value in about.items():
        if isinstance(value, Mapping):
            values |= flat(value, f"{prefix}{name}.")
        else:
            values[f"{prefix}{name}"] = value
    return values


def _configurations(runs: list[Subject], found: Audit) -> None:
    known = [flat(run.about) | {"approach": run.approach} for run in runs if run.about is not None]
    unknown = [run.approach for run in runs if run.about is None]
    if not known:
        found.notes += ["The effective configurations were not compared: no run recorded /about."] if runs else []
        return
    if unknown:
        found.suspicions.append(
            f"The effective configuration of {_names(unknown)} is unknown: /about was not recorded."
        )
    explained: dict[Explanation, list[str]] = {}
    for name in sorted({name for values in known for name in values} - IDENTITY - CALIBRATED):
        if len({_shown(values.get(name)) for values in known}) == 1:
            continue
        explanation = _explanation(name)
        if explanation is None or not _equal_in_groups(name, known, explanation):
            _differences(name, [(values["approach"], values.get(name)) for values in known], found)
        else:
            explained.setdefault(explanation, []).append(name)
    found.notes += [f"Explained difference in {', '.join(names)}: {one.why}." for one, names in explained.items()]


def _explanation(name: str) -> Explanation | None:
    name = next((group for group in GROUPED if f"{name}.".startswith(f"{group}.")), name)
    return next((one for one in EXPLAINED if name in one.fields), None)


def _equal_in_groups(name: str, known: list[dict[str, Any]], explanation: Explanation) -> bool:
    groups: dict[str, set[str]] = {}
    for values in known:
        groups.setdefault(_shown(explanation.group(values)), set()).add(_shown(values.get(name)))
    if explanation.or_null and len(set().union(*groups.values()) - {NULL}) > 1:
        return False
    return all(len(shown) == 1 for shown in groups.values())


def _answers(runs: list[Subject], found: Audit) -> None:
    probed = [(run, run.probe) for run in runs if run.probe]
    found.suspicions += [f"The probe found no answer: {probe.error}." for _, probe in probed if probe.error]
    seen = [(run.approach, answer_facts(probe, run.constant_body)) for run, probe in probed]
    for name in sorted({name for _, facts in seen for name in facts}):
        _differences(name, [(who, facts[name]) for who, facts in seen if name in facts], found)


def answer_facts(probe: Probe, constant_body: bool) -> dict[str, Any]:
    """What must be the same in the answers of every approach, by name. Over HTTP/1.1 the header Connection says nothing
    that its absence does not."""
    facts: dict[str, Any] = {}
    for version, answer in probe.answers.items():
        headers = {name.lower(): value for name, value in answer.headers}
        names = headers.keys() - ({"connection"} if version == "1.1" else set())
        facts |= {
            f"the HTTP/{version} status": answer.status.split()[1:2],
            f"the HTTP/{version} header names": sorted(names),
            f"the HTTP/{version} Content-Type": headers.get("content-type"),
            f"keeping an HTTP/{version} connection": answer.kept,
        }
        if constant_body:
            facts[f"the HTTP/{version} body's length in bytes"] = answer.body_bytes
    return facts


def _bytes(runs: list[Subject], found: Audit) -> None:
    told = [(run.response_bytes_per_request or 0, run.approach) for run in runs]
    sizes = sorted(one for one in told if one[0] > 0)
    if not sizes:
        return
    (least, smallest), (most, largest) = sizes[0], sizes[-1]
    if most > (1 + BYTES_LIMIT) * least:
        found.unexplained["the bytes of an answer"] = [(who, round(size, 1)) for size, who in sizes]
        found.suspicions.append(
            f"Answers differ in size: {least:.1f} bytes per request from {smallest}, {most:.1f} from {largest} "
            f"(the limit is {100 * BYTES_LIMIT:.0f} %)."
        )


def _differences(name: str, told: Told, found: Audit) -> None:
    """One sentence where the values differ, none where they do not."""
    by_value: dict[str, list[str]] = {}
    for approach, value in told:
        by_value.setdefault(_shown(value), []).append(approach)
    if len(by_value) < 2:
        return
    sides = "; ".join(f"{shown} from {_names(approaches)}" for shown, approaches in by_value.items())
    found.suspicions.append(f"Parity: {name} differs and nothing explains it: {sides}.")
    found.unexplained[name] = told


def _shown(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _names(approaches: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(approaches))
