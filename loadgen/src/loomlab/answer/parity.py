"""Whether approaches differ in more than the model: by their /about, and by answers and their bytes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from loomlab.answer.loads import counting
from loomlab.basics.grouping import grouped
from loomlab.records.delay import delay_of
from loomlab.records.endpoints import endpoint_of
from loomlab.records.files import RunFiles, read_json, read_record
from loomlab.records.models import Probe, Run
from loomlab.records.record import Record

BYTES_LIMIT = 0.02
POOL, DEFAULT_CLIENT = "(pool of threads)", "(default client)"
"""Beside the members of /about, what some of them follow from."""
NO_DIFFERENCE = {"approach", "concurrency", POOL, DEFAULT_CLIENT, "cpu_iterations_per_microsecond"}
"""What an approach is; and what each process calibrates when it starts, never the same twice."""

type ByApproach = list[tuple[str, Any]]  # approaches, and what a run of each recorded


@dataclass(frozen=True)
class Subject:
    """A run with what it recorded of its approach; None: it did not."""

    run: Run
    about: Mapping[str, Any] | None = None
    probe: Probe | None = None

    @property
    def approach(self) -> str:
        return self.run.approach

    @cached_property
    def members(self) -> dict[str, Any]:
        """Of /about, by their dotted names."""
        return flat(self.about or {})


def subjects_of(experiment_dir: Path, runs: Sequence[Run]) -> list[Subject]:
    """A run that does not count costs its block and tells nothing, unless its approach has no other."""
    counted = {run.run: run.approach for run in counting(runs)}
    subjects = []
    for run in (run for run in runs if run.run in counted or run.approach not in counted.values()):
        files = RunFiles(experiment_dir / "runs" / run.run)
        about = read_json(files.about)
        about = about if isinstance(about, dict) and "error" not in about else None
        subjects.append(Subject(run, about, read_record(files.probe, Probe)))
    return subjects


@dataclass
class Audit:
    """Sentences."""

    suspicions: list[str] = field(default_factory=list)  # differences that nothing explains
    unexplained: dict[str, ByApproach] = field(default_factory=dict)
    """The same by what differs: a member of /about by its dotted name, or a fact of an answer."""
    notes: list[str] = field(default_factory=list)  # explained differences that did occur

    def compare(self, name: str, values: ByApproach) -> None:
        """Adds a suspicion where the values differ."""
        sides = grouped(values, lambda value: _json(value[1]))
        if len(sides) > 1:
            text = "; ".join(f"{value} from {_names(name for name, _ in own)}" for value, own in sides.items())
            self.suspicions.append(f"Parity: {name} differs and nothing explains it: {text}.")
            self.unexplained[name] = values


class Explanation(Record):
    """Why fields of /about may differ, as explained.yaml has it."""

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
    several, found = list(subjects), Audit()
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
        client = "event-driven" if model in {"reactive", "completable-future"} else client
        follows = {"approach": one.approach, POOL: model == "platform-threads", DEFAULT_CLIENT: client}
        known.append(one.members | follows)
    unknown = _names(one.approach for one in subjects if one.about is None)
    if unknown and known:
        found.suspicions.append(f"The effective configuration of {unknown} is unknown: /about was not recorded.")
    elif unknown:
        found.notes.append("The effective configurations were not compared: no run recorded /about.")
    explained: dict[str, list[str]] = {}
    for name in sorted({name for values in known for name in values} - NO_DIFFERENCE):
        explanations = (one for one in EXPLAINED if any(fnmatchcase(name, field) for field in one.fields))
        explanation = next(explanations, None)
        if explanation is None or not explanation.explains(name, known):
            found.compare(name, [(values["approach"], values.get(name)) for values in known])
        elif len({_json(values.get(name)) for values in known}) > 1:
            explained.setdefault(explanation.why, []).append(name)
    found.notes += [f"Explained difference in {', '.join(names)}: {why}." for why, names in explained.items()]


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
