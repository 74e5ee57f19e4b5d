"""Whether approaches differ in more than the model, and in what: by their /about, and by answers and their bytes."""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from loomlab.answer.loads import counting
from loomlab.basics.errors import ParseError
from loomlab.basics.grouping import grouped
from loomlab.records.contrasts import Contrast, Difference, Kind
from loomlab.records.endpoints import delay_of, endpoint_of
from loomlab.records.files import Record, RunFiles, read_json, read_record
from loomlab.records.models import Probe, Run
from loomlab.records.order import order_of

BYTES_LIMIT = 0.02
POOL, DEFAULT_CLIENT = "(pool of threads)", "(default client)"
"""Beside the members of /about, what some of them follow from."""
NO_DIFFERENCE = {"approach", "concurrency", "limit", POOL, DEFAULT_CLIENT, "cpu_iterations_per_microsecond"}
"""What an approach is, how it bounds requests, what each process calibrates when it starts, never the same twice."""
type ByApproach = list[tuple[str, Any]]  # approaches, and what a run of each recorded
PARTS = {
    "concurrency": "concurrency",
    "style": "style",
    "inbound.server": "server",
    "inbound.framework": "framework",
    "outbound.client": "client",
}
"""What members of /about are called, without which two approaches are not compared."""
OF_SOCKETS = ("inbound.socket_thread_kind", "inbound.internals.dispatch")
"""What the model decides within some servers, so that the audit explains it, and is more than the model."""
CLIENT_OF_DATABASE = "database.client"  # None where no request asks one
NEVER_NULL = ("concurrency", "inbound.server", "outbound.client")
USUAL = {"virtual-threads": 0, "platform-threads": 2}
NONE = "none"
EXPLAINED_NOTE = "Explained difference"


@dataclass(frozen=True)
class Subject:
    """A run with what it recorded of its approach; None: it did not."""

    run: Run
    about: Mapping[str, Any] | None = None
    probe: Probe | None = None
    image: str | None = None
    own: Mapping[str, str] = field(default_factory=dict)  # variables of its container that its side alone sets

    @property
    def approach(self) -> str:
        return self.run.approach

    @cached_property
    def members(self) -> dict[str, Any]:
        return flat(self.about or {})


def subjects_of(experiment_dir: Path, runs: Sequence[Run]) -> list[Subject]:
    """A run that does not count costs its block and tells nothing, unless its approach has no other."""
    counted = {run.run: run.approach for run in counting(runs)}
    order, subjects = order_of(experiment_dir), []
    for run in (run for run in runs if run.run in counted or run.approach not in counted.values()):
        files = RunFiles(experiment_dir / "runs" / run.run)
        about: Any = None
        probe: Probe | None = None
        image: str | None = None
        with suppress(ParseError):  # damaged since it was judged
            about, probe = read_json(files.about), read_record(files.probe, Probe)
            match read_json(files.container):
                case [{"Image": str(told)}]:
                    image = told
        about = about if isinstance(about, dict) and "error" not in about else None
        side = order and order.sides.get(run.approach)
        subjects.append(Subject(run, about, probe, image, side.variables if side else {}))
    return subjects


@dataclass
class Audit:
    suspicions: list[str] = field(default_factory=list)  # differences that nothing explains
    unexplained: dict[str, ByApproach] = field(default_factory=dict)
    """The same by what differs: a member of /about by its dotted name, or a fact of an answer."""
    notes: list[str] = field(default_factory=list)  # explained differences that did occur
    sides: bool = False  # of one approach, whose differences were asked for

    def compare(self, name: str, values: ByApproach) -> None:
        sides = grouped(values, lambda value: _json(value[1]))
        if len(sides) > 1:
            text = "; ".join(f"{value} from {_names(name for name, _ in own)}" for value, own in sides.items())
            by_approach = grouped(values, lambda value: value[0]).values()
            alike = all(len({_json(value) for _, value in each}) == 1 for each in by_approach)
            if not (self.sides and alike):  # between sides a difference was asked for, within one it was not
                self.suspicions.append(f"Parity: {name} differs and nothing explains it: {text}.")
            self.unexplained[name] = values


class Explanation(Record):
    why: str
    group: str
    fields: list[str]
    or_null: bool = False

    def explains(self, name: str, runs: Sequence[Mapping[str, Any]]) -> bool:
        groups = grouped(runs, lambda run: _json(run.get(self.group)))
        values = [{_json(run.get(name)) for run in group} for group in groups.values()]
        several = self.or_null and len(set().union(*values) - {_json(None)}) > 1
        return not several and all(len(own) == 1 for own in values)


EXPLAINED = [*map(Explanation.model_validate, yaml.safe_load(Path(__file__).with_name("explained.yaml").read_text()))]


def audit(subjects: Iterable[Subject]) -> Audit:
    """Of the runs of one experiment, repeats of an approach among them."""
    several = list(subjects)
    found = Audit(sides=any(one.run.is_side for one in several))
    _compare_configurations(several, found)
    _compare_answers(several, found)
    sizes = sorted((one.run.response_bytes_per_request or 0, one.approach) for one in several)
    sizes = [(size, approach) for size, approach in sizes if size > 0]
    if sizes and sizes[-1][0] > (1 + BYTES_LIMIT) * sizes[0][0]:
        (least, smallest), (most, largest) = sizes[0], sizes[-1]
        found.unexplained["the bytes of an answer"] = [(approach, round(size, 1)) for size, approach in sizes]
        found.suspicions.append(
            f"Answers differ in size: {least:.1f} bytes per request from {smallest}, {most:.1f} from {largest} "
            f"(the limit is {100 * BYTES_LIMIT:.0f} %)."
        )
    return found


def flat(about: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested objects as dotted names; lists stay values."""
    values: dict[str, Any] = {}
    for name, value in about.items():
        values |= flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return values


def _compare_configurations(subjects: Sequence[Subject], found: Audit) -> None:
    """Event-driven approaches share a client, and so do the others, but for virtual-netty and its default."""
    known = []
    for one in (one for one in subjects if one.about is not None):
        model = one.members.get("concurrency")
        client = "netty" if one.members.get("inbound.server") == "netty" else "others"
        client = "event-driven" if model in ("reactive", "completable-future") else client
        follows = {"approach": one.approach, POOL: model == "platform-threads", DEFAULT_CLIENT: client}
        known.append(one.members | follows)
    unknown = _names(one.approach for one in subjects if one.about is None)
    if unknown and known:
        found.suspicions.append(f"The effective configuration of {unknown} is unknown: /about was not recorded.")
    elif unknown and not all(one.run.foreign for one in subjects):
        found.notes.append("The effective configurations were not compared: no run recorded /about.")
    explained: dict[str, list[str]] = {}
    for name in sorted({name for values in known for name in values} - NO_DIFFERENCE):
        explanations = (one for one in EXPLAINED if any(fnmatchcase(name, field) for field in one.fields))
        explanation = next(explanations, None)
        if explanation is None or not explanation.explains(name, known):
            found.compare(name, [(values["approach"], values.get(name)) for values in known])
        elif len({_json(values.get(name)) for values in known}) > 1:
            explained.setdefault(explanation.why, []).append(name)
    found.notes += [f"{EXPLAINED_NOTE} in {', '.join(names)}: {why}." for why, names in explained.items()]


def _compare_answers(subjects: Sequence[Subject], found: Audit) -> None:
    """Facts of every answer. Over HTTP/1.1 the header Connection says nothing that its absence does not."""
    facts: dict[str, ByApproach] = {}
    for one in subjects:
        probe = one.probe or Probe(target="")
        found.suspicions += [f"The probe found no answer: {probe.error}."] if probe.error else []
        for version, answer in probe.answers.items():
            headers = {name.lower(): value for name, value in answer.headers}
            silent = {"connection"} if version == "1.1" else set()
            told: dict[str, Any] = {
                f"the HTTP/{version} status": answer.status.split()[1:2],
                f"the HTTP/{version} header names": sorted(headers.keys() - silent),
                f"the HTTP/{version} Content-Type": headers.get("content-type"),
                f"keeping an HTTP/{version} connection": answer.kept,
            }
            if len(one.run.load.targets) == 1 and endpoint_of(one.run.endpoint, delay_of(one.run.delay)).constant_body:
                told[f"the HTTP/{version} body's length in bytes"] = answer.body_bytes
            for name, value in told.items():
                facts.setdefault(name, []).append((one.approach, value))
    for name in sorted(facts):
        found.compare(name, facts[name])


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _names(approaches: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(approaches))


def contrasts_of(subjects: Iterable[Subject]) -> list[Contrast]:
    """Of every two approaches: virtual threads over anything else, and anything over platform threads. *controlled*:
    only the model differs, and what the audit explains; *stack*: more does; *unknown*: a run did not tell, or two told
    different models of one; *settings*: sides of `compare`; *same*: one is the other once more, and is held against no
    third."""
    several = sorted(subjects, key=lambda one: one.run.cell)
    originals = {one.approach: one.run.twin_of for one in several if one.run.twin_of}
    sides = {one.approach for one in several if one.run.is_side}
    partners = {one.approach: one.run.partner for one in several}
    models = {one.approach: one.members.get("concurrency") for one in several}
    runs, found = grouped(several, lambda one: one.approach), []
    for a, b in itertools.combinations(sorted(models, key=lambda name: (USUAL.get(str(models[name]), 1), name)), 2):
        both = sorted(runs[a] + runs[b], key=lambda one: one.run.cell)
        if {a, b} <= sides:
            a, b = max(a, b), min(a, b)  # noqa: PLW2901 - the later over the earlier
            found.append(_of_settings(a, b, both))
            continue
        contrast = _contrast(a, b, both)
        if originals.get(a) == b or originals.get(b) == a:
            found.append(contrast.model_copy(update={"kind": "same"}))
        elif not {a, b} & originals.keys() and {partners.get(a), partners.get(b)} <= {a, b, None}:
            found.append(contrast)
    return sorted(found, key=lambda contrast: (contrast.a, contrast.b))


def _of_settings(a: str, b: str, subjects: list[Subject]) -> Contrast:
    """Whatever they tell; also by their images, which of two approaches always differ."""
    images: ByApproach = [(one.approach, one.image and one.image.removeprefix("sha256:")[:12]) for one in subjects]
    found = {"image": images} if len({image for _, image in images}) > 1 else {}
    for name in dict.fromkeys(name for one in subjects for name in one.own):
        found[name] = [(one.approach, one.own.get(name)) for one in subjects]
    for load in grouped(subjects, lambda one: one.run.cell).values():
        for name, values in _differing(load).items():
            found.setdefault(name, []).extend(values)
    return Contrast(a=a, b=b, kind="settings", differs=_differences(a, b, found))


def _differences(a: str, b: str, found: Mapping[str, ByApproach]) -> list[Difference]:
    parts = ((PARTS.get(name, name), values) for name, values in found.items())
    return [Difference(part=part, a=_values_of(a, values), b=_values_of(b, values)) for part, values in parts]


def _contrast(a: str, b: str, subjects: list[Subject]) -> Contrast:
    """Within the loads that both had, as pools follow the load; of all runs where there is none."""
    models = {(one.approach, _json(one.members.get("concurrency"))) for one in subjects}
    is_complete = all(
        PARTS.keys() <= one.members.keys() and all(isinstance(one.members[name], str) for name in NEVER_NULL)
        for one in subjects
    )
    if not is_complete or len(models) > 2:
        return Contrast(a=min(a, b), b=max(a, b), kind="unknown", differs=[])
    loads = grouped(subjects, lambda one: one.run.cell).values()
    differs: dict[str, ByApproach] = {}
    for load in [load for load in loads if len({one.approach for one in load}) == 2] or [subjects]:
        for name, values in _differing(load).items():
            differs.setdefault(name, []).extend(values)
    kind: Kind = "controlled" if list(differs) == ["concurrency"] else "stack"
    return Contrast(a=a, b=b, kind=kind, differs=_differences(a, b, differs))


def _differing(subjects: Sequence[Subject]) -> dict[str, ByApproach]:
    found: dict[str, ByApproach] = {}
    for name in (*PARTS, *OF_SOCKETS, CLIENT_OF_DATABASE):
        values = [(one.approach, one.members.get(name)) for one in subjects]
        another_server = name in OF_SOCKETS and "inbound.server" in found
        if not another_server and any(value != values[0][1] for _, value in values):
            found[name] = values
    return found | audit(subjects).unexplained


def _values_of(approach: str, values: ByApproach) -> str:
    own = (NONE if value is None else value for name, value in values if name == approach)
    return "; ".join(dict.fromkeys(value if isinstance(value, str) else json.dumps(value) for value in own)) or NONE


def what_differs(contrast: Contrast) -> str:
    """Each part with what a and b have there, on one line."""
    if contrast.kind == "unknown":
        return "not known"
    return "; ".join(f"{one.part}: {one.a} / {one.b}" for one in contrast.differs) or "nothing that was recorded"
