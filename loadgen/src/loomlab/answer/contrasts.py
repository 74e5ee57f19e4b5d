"""What two approaches differ in, by their /about."""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from loomlab.answer.parity import ByApproach, Subject, audit, flat
from loomlab.records.contrasts import Contrast, Difference

PARTS: Mapping[str, str] = {
    "concurrency": "concurrency",
    "style": "style",
    "inbound.server": "server",
    "inbound.framework": "framework",
    "outbound.client": "client",
}
"""What members of /about are called."""
FINER: Mapping[str, Mapping[str, str]] = {
    "inbound.server": {
        "inbound.transport": "transport",
        "inbound.socket_thread_kind": "kind of the socket threads",
        "inbound.socket_threads": "number of socket threads",
        "inbound.internals": "internals of the server",
    },
    "outbound.client": {"outbound.internals": "internals of the client"},
}
"""What may differ within one server, or one client."""
NAMES: Mapping[str, str] = {**PARTS, **{member: name for finer in FINER.values() for member, name in finer.items()}}
USUAL = {"virtual-threads": 0, "platform-threads": 2}
NEVER_NULL = ("concurrency", "inbound.server", "outbound.client")
NONE = "none"
MOST_PAIRS = 4
"""That a note names; summary.json has all."""


def contrasts_of(subjects: Iterable[Subject]) -> list[Contrast]:
    """Of every two approaches, in the order of their names. *controlled*: the concurrency model differs and nothing
    else does that the parity audit does not explain; *stack*: more differs, or something else; *unknown*: a run of one
    of the two did not tell, or its runs told different models; *same*: one is the other once more, and is held against
    no third."""
    runs = list(subjects)
    twins = {run.approach: run.twin_of for run in runs if run.twin_of}
    found = []
    for a, b in itertools.combinations(sorted({run.approach for run in runs}), 2):
        contrast = _contrast(a, b, [run for run in runs if run.approach in {a, b}])
        if twins.get(a) == b or twins.get(b) == a:
            found.append(contrast.model_copy(update={"kind": "same"}))
        elif not {a, b} & twins.keys():
            found.append(_turned(contrast))
    return sorted(found, key=lambda one: (one.a, one.b))


def _turned(contrast: Contrast) -> Contrast:
    """What is asked about over what is usual: virtual threads over anything else, anything over platform threads."""
    a, b = next(((one.a, one.b) for one in contrast.differs if one.part == "concurrency"), ("", ""))
    if USUAL.get(a, 1) <= USUAL.get(b, 1):
        return contrast
    differs = [Difference(part=one.part, a=one.b, b=one.a) for one in contrast.differs]
    return contrast.model_copy(update={"a": contrast.b, "b": contrast.a, "differs": differs})


def _contrast(a: str, b: str, both: Sequence[Subject]) -> Contrast:
    """Within the loads that both had, of runs that tell where that leaves such a load; of all runs where none does."""
    telling = [run for run in both if run.tells]
    runs = telling if _shared_loads(telling) else both
    if not all(_complete(run.about) for run in runs) or len(set(_recorded("concurrency", runs))) > 2:
        return Contrast(a=a, b=b, kind="unknown", differs=[])
    differs: dict[str, ByApproach] = {}
    for load in _shared_loads(runs) or [runs]:
        for what, values in _differing(load).items():
            differs.setdefault(what, []).extend(values)
    return Contrast(
        a=a,
        b=b,
        kind="controlled" if list(differs) == ["concurrency"] else "stack",
        differs=[
            Difference(part=NAMES.get(what, what), a=_values_of(a, values), b=_values_of(b, values))
            for what, values in differs.items()
        ],
    )


def _shared_loads(runs: Sequence[Subject]) -> Sequence[Sequence[Subject]]:
    """The runs of each load that both approaches had."""
    loads = [[run for run in runs if run.cell == cell] for cell in sorted({run.cell for run in runs})]
    return [load for load in loads if len({run.approach for run in load}) == 2]


def _complete(about: Mapping[str, Any] | None) -> bool:
    """Whether it tells all that a contrast is named by; null tells, too, that there is none."""
    return about is not None and (
        all(isinstance(_member(about, name), str) for name in NEVER_NULL)
        and all(_member(about, name) is not ... for name in NAMES)
    )


def _member(about: Mapping[str, Any], name: str) -> Any:
    """... where there is none."""
    value: Any = about
    for step in name.split("."):
        value = value.get(step, ...) if isinstance(value, Mapping) else ...
    return value


def _differing(runs: Sequence[Subject]) -> dict[str, ByApproach]:
    """What the runs do not all tell alike: the parts first, then what is finer, then whatever the audit finds."""
    found = _differences(PARTS, runs)
    for part, finer in FINER.items():
        if part not in found:
            found |= _differences(finer, runs)
    named = tuple(f"{what}." for what in found)
    return found | {
        what: values for what, values in audit(runs).unexplained.items() if not f"{what}.".startswith(named)
    }


def _differences(names: Iterable[str], runs: Sequence[Subject]) -> dict[str, ByApproach]:
    recorded = {name: _recorded(name, runs) for name in names}
    return {name: values for name, values in recorded.items() if any(value != values[0][1] for _, value in values)}


def _recorded(name: str, runs: Sequence[Subject]) -> ByApproach:
    """A member that has members itself is their values by their dotted names."""
    members = ((run.approach, _member(run.about or {}, name)) for run in runs)
    return [
        (approach, flat(value) if isinstance(value, Mapping) else {} if value is ... else value)
        for approach, value in members
    ]


def _values_of(approach: str, values: ByApproach) -> str:
    """What its runs recorded, each value once."""
    return "; ".join(dict.fromkeys(_text(value) for name, value in values if name == approach)) or NONE


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(each)}" for key, each in sorted(value.items())) or NONE
    if value is None:
        return NONE
    return value if isinstance(value, str) else json.dumps(value)


def what_differs(contrast: Contrast) -> str:
    """Each part with what a and b have there, on one line."""
    if contrast.kind == "unknown":
        return "not known"
    return "; ".join(f"{one.part}: {one.a} / {one.b}" for one in contrast.differs) or "nothing that was recorded"


def contrast_notes(contrasts: Sequence[Contrast]) -> list[str]:
    """What must stand beside a table: which rows may be compared as models, and what else the others differ in."""
    said = {
        "controlled": "differ in the concurrency model alone (controlled contrast).",
        "same": "are one approach, measured twice: any difference is chance.",
    }
    notes = [f"{one.a} and {one.b} {text}" for kind, text in said.items() for one in contrasts if one.kind == kind]
    stacks: dict[str, list[Contrast]] = {}
    for one in contrasts:
        if one.kind == "stack":
            stacks.setdefault(_besides_model(one), []).append(one)
    notes += [f"{_pairs(pairs)} {besides}" for besides, pairs in stacks.items()]
    return [*notes, *_client_notes(contrasts), *unknown_notes(contrasts)]


def _besides_model(contrast: Contrast) -> str:
    besides = [one.part for one in contrast.differs if one.part != "concurrency"]
    if not besides:
        return "do not differ in anything that was recorded: any difference in their figures is chance."
    end = ", not in the model" if len(besides) == len(contrast.differs) else " besides the model"
    parts = f"{', '.join(besides)}{end}"
    return f"differ in {parts} (stack contrast): a difference between them is not due to the model alone."


def _client_notes(contrasts: Iterable[Contrast]) -> Iterator[str]:
    """Who calls the backend with which client, where these differ."""
    clients: dict[str, set[str]] = {}
    for one in contrasts:
        for client in (difference for difference in one.differs if difference.part == "client"):
            clients.setdefault(one.a, set()).update(client.a.split("; "))
            clients.setdefault(one.b, set()).update(client.b.split("; "))
    users: dict[str, list[str]] = {}
    for approach, used in sorted(clients.items()):
        users.setdefault(" or ".join(sorted(used)), []).append(approach)
    if users:
        sides = "; ".join(f"{client} ({', '.join(approaches)})" for client, approaches in sorted(users.items()))
        yield f"Clients of the backend: {sides}."


def unknown_notes(contrasts: Iterable[Contrast]) -> list[str]:
    unknown = [one for one in contrasts if one.kind == "unknown"]
    if not unknown:
        return []
    return [
        f"How {_pairs(unknown)} differ is not known: raw/about.json is incomplete, or reports two concurrency "
        "models for one approach."
    ]


def _pairs(contrasts: Sequence[Contrast]) -> str:
    named = "; ".join(f"{one.a} and {one.b}" for one in contrasts[:MOST_PAIRS])
    return named + (f"; {len(contrasts) - MOST_PAIRS} pairs more" if len(contrasts) > MOST_PAIRS else "")
