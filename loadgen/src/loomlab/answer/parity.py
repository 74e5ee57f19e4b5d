"""Whether approaches differ in more than the concurrency model: compares their /about, one answer of each, and the
bytes of their answers."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from loomlab.answer.loads import telling
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.files import RunFiles, read_json, read_record
from loomlab.records.models import Probe, Run

BYTES_LIMIT = 0.02
NULL = "null"
NO_DIFFERENCE = frozenset({"approach", "concurrency", "cpu_iterations_per_microsecond"})
"""What an approach is; and what each process calibrates when it starts, never the same twice."""
LEAN = {"style": "lean"}
"""What /about did not tell when there was no other style."""

type Values = Mapping[str, Any]
"""Members of /about by their dotted names."""
type ByApproach = list[tuple[str, Any]]
"""Approaches, and what a run of each recorded."""


@dataclass(frozen=True)
class Subject:
    """What one run recorded of its approach; None: it did not."""

    approach: str
    about: Mapping[str, Any] | None = None
    probe: Probe | None = None
    constant_body: bool = False
    response_bytes_per_request: float | None = None
    cell: int = 1
    """Its load."""
    twin_of: str | None = None
    """The approach that it is once more."""
    tells: bool = True
    """False: it is heard only if two approaches have no load in common without it."""


def subjects_of(experiment_dir: Path, runs: Sequence[Run]) -> list[Subject]:
    """A run that does not count costs its block and tells nothing, unless its approach has no other."""
    heard = {run.run for run in telling(runs)}
    subjects = []
    for run in runs:
        files = RunFiles(experiment_dir / "runs" / run.run)
        about = read_json(files.about)
        subject = Subject(
            approach=run.approach,
            about=LEAN | about if isinstance(about, dict) and "error" not in about else None,
            probe=read_record(files.probe, Probe),
            constant_body=endpoint_of(run.endpoint, delay_of(run.delay)).constant_body and len(run.load.targets) == 1,
            response_bytes_per_request=run.response_bytes_per_request,
            cell=run.cell,
            twin_of=run.twin_of,
            tells=run.run in heard,
        )
        subjects.append(subject)
    return subjects


@dataclass
class Audit:
    """Sentences."""

    suspicions: list[str] = field(default_factory=list)
    """Differences that nothing explains."""
    unexplained: dict[str, ByApproach] = field(default_factory=dict)
    """The same by what differs: a member of /about by its dotted name, or a fact of an answer."""
    notes: list[str] = field(default_factory=list)
    """Explained differences that did occur."""

    def compare(self, name: str, values: ByApproach) -> None:
        """Adds a suspicion where the values differ."""
        by_value: dict[str, list[str]] = {}
        for approach, value in values:
            by_value.setdefault(_json(value), []).append(approach)
        if len(by_value) > 1:
            sides = "; ".join(f"{value} from {_names(approaches)}" for value, approaches in by_value.items())
            self.suspicions.append(f"Parity: {name} differs and nothing explains it: {sides}.")
            self.unexplained[name] = values


class Explanation(NamedTuple):
    """Why fields of /about may differ: only between runs of different groups, within one they must be equal."""

    why: str
    group: Callable[[Values], Any]
    fields: str
    """One that ends with a dot stands for itself with all of its members."""
    or_null: bool = False
    """A group may only say null where the others say a value."""

    def covers(self, name: str) -> bool:
        return any(f"{name}.".startswith(one) if one.endswith(".") else name == one for one in self.fields.split())


def _member(name: str) -> Callable[[Values], Any]:
    return lambda values: values.get(name)


def _own_client(values: Values) -> str:
    """Event-driven approaches share a client, and so do the others, but for virtual-netty and its default."""
    if values.get("concurrency") in {"reactive", "completable-future"}:
        return "event-driven"
    return "netty" if values.get("inbound.server") == "netty" else "others"


_server, _client, _model = _member("inbound.server"), _member("outbound.client"), _member("concurrency")
EXPLAINED = (
    Explanation(
        "an approach is a server and a concurrency model; how many threads serve sockets is the server's default",
        _server,
        "inbound.server inbound.version inbound.framework inbound.transport inbound.socket_threads",
    ),
    Explanation(
        "the model decides what runs the handlers, and in Jetty what serves sockets",
        _member("approach"),
        "inbound.executor inbound.socket_thread_kind inbound.internals.dispatch.",
    ),
    Explanation("a server has internals of its own", _server, "inbound.internals."),
    Explanation("a client has internals of its own", _client, "outbound.internals."),
    Explanation(
        "only platform threads come from a pool of a fixed size",
        lambda values: values.get("concurrency") == "platform-threads",
        "inbound.max_threads",
        or_null=True,
    ),
    Explanation("the kind of thread that serves an endpoint is the model", _model, "thread_kinds."),
    Explanation(
        "a server that lacks the setting or does not report it says null; the others are equal",
        _server,
        "inbound.max_connections inbound.backlog inbound.keep_alive_ms inbound.tcp_no_delay",
        or_null=True,
    ),
    Explanation(
        "each approach has a default client; with HTTP_CLIENT=reactor all have the same", _own_client, "outbound.client"
    ),
    Explanation(
        "a client has a version, a pool and threads of its own",
        _client,
        "outbound.version outbound.pool_policy outbound.event_loops",
    ),
    Explanation(
        "a client that lacks the setting or does not report it says null; the others are equal",
        _client,
        "outbound.max_connections outbound.max_connections_per_route outbound.connect_timeout_ms "
        "outbound.response_timeout_ms outbound.pool_timeout_ms outbound.keep_alive_ms outbound.tcp_no_delay",
        or_null=True,
    ),
)


def audit(subjects: Iterable[Subject]) -> Audit:
    """Of the runs of one experiment, repeats of an approach among them."""
    runs = list(subjects)
    found = Audit()
    _configurations(runs, found)
    probed = [(run, run.probe) for run in runs if run.probe]
    found.suspicions += [f"The probe found no answer: {probe.error}." for _, probe in probed if probe.error]
    answers = [(run.approach, _answer_facts(probe, run.constant_body)) for run, probe in probed]
    for name in sorted({name for _, facts in answers for name in facts}):
        found.compare(name, [(approach, facts[name]) for approach, facts in answers if name in facts])
    _sizes(runs, found)
    return found


def flat(about: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested objects as dotted names; lists stay values."""
    values: dict[str, Any] = {}
    for name, value in about.items():
        values |= flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return values


def _configurations(runs: Sequence[Subject], found: Audit) -> None:
    known = [flat(run.about) | {"approach": run.approach} for run in runs if run.about is not None]
    unknown = [run.approach for run in runs if run.about is None]
    if not known:
        found.notes += ["The effective configurations were not compared: no run recorded /about."] if runs else []
        return
    if unknown:
        found.suspicions.append(
            f"The effective configuration of {_names(unknown)} is unknown: /about was not recorded."
        )
    explained: dict[str, list[str]] = {}
    for name in sorted({name for values in known for name in values} - NO_DIFFERENCE):
        explanation = next((one for one in EXPLAINED if one.covers(name)), None)
        if explanation is None or not _explains(explanation, name, known):
            found.compare(name, [(values["approach"], values.get(name)) for values in known])
        elif len({_json(values.get(name)) for values in known}) > 1:
            explained.setdefault(explanation.why, []).append(name)
    found.notes += [f"Explained difference in {', '.join(names)}: {why}." for why, names in explained.items()]


def _explains(explanation: Explanation, name: str, known: Sequence[Values]) -> bool:
    groups: dict[str, set[str]] = {}
    for values in known:
        groups.setdefault(_json(explanation.group(values)), set()).add(_json(values.get(name)))
    if explanation.or_null and len(set().union(*groups.values()) - {NULL}) > 1:
        return False
    return all(len(values) == 1 for values in groups.values())


def _answer_facts(probe: Probe, constant_body: bool) -> dict[str, Any]:
    """What must be the same in the answers of every approach, by name. Over HTTP/1.1 the header Connection says nothing
    that its absence does not."""
    facts: dict[str, Any] = {}
    for version, answer in probe.answers.items():
        headers = {name.lower(): value for name, value in answer.headers}
        silent = {"connection"} if version == "1.1" else set()
        facts |= {
            f"the HTTP/{version} status": answer.status.split()[1:2],
            f"the HTTP/{version} header names": sorted(headers.keys() - silent),
            f"the HTTP/{version} Content-Type": headers.get("content-type"),
            f"keeping an HTTP/{version} connection": answer.kept,
        }
        if constant_body:
            facts[f"the HTTP/{version} body's length in bytes"] = answer.body_bytes
    return facts


def _sizes(runs: Sequence[Subject], found: Audit) -> None:
    sizes = sorted((run.response_bytes_per_request or 0, run.approach) for run in runs)
    sizes = [(size, approach) for size, approach in sizes if size > 0]
    if not sizes or sizes[-1][0] <= (1 + BYTES_LIMIT) * sizes[0][0]:
        return
    (least, smallest), (most, largest) = sizes[0], sizes[-1]
    found.unexplained["the bytes of an answer"] = [(approach, round(size, 1)) for size, approach in sizes]
    found.suspicions.append(
        f"Answers differ in size: {least:.1f} bytes per request from {smallest}, {most:.1f} from {largest} "
        f"(the limit is {100 * BYTES_LIMIT:.0f} %)."
    )


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _names(approaches: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(approaches))
