"""What two approaches differ in, by their /about."""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from loomlab.answer.parity import Subject, Told, audit, flat
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
NAMES: Mapping[str, str] = {**PARTS, **{at: name for finer in FINER.values() for at, name in finer.items()}}
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
    names = sorted({run.approach for run in runs})
    found = []
    for a, b in itertools.combinations(names, 2):
        contrast = _contrast(a, b, _heard([run for run in runs if run.approach in {a, b}]))
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


def _contrast(a: str, b: str, runs: Sequence[Subject]) -> Contrast:
    if not (all(_complete(run.about) for run in runs) and _one_model_each(runs)):
        return Contrast(a=a, b=b, kind="unknown", differs=[])
    differs: dict[str, Told] = {}
    for load in _loads(runs):
        for what, told in _differing(load).items():
            differs.setdefault(what, []).extend(told)
    return Contrast(
        a=a,
        b=b,
        kind="controlled" if list(differs) == ["concurrency"] else "stack",
        differs=[
            Difference(part=NAMES.get(what, what), a=_shown_of(a, told), b=_shown_of(b, told))
            for what, told in differs.items()
        ],
    )


def _complete(about: Mapping[str, Any] | None) -> bool:
    """Whether it tells all that a contrast is named by; null tells, too, that there is none."""
    if about is None or not all(isinstance(_value(about, at), str) for at in NEVER_NULL):
        return False
    return all(_has(about, at) for at in NAMES)


def _one_model_each(runs: Sequence[Subject]) -> bool:
    models = set(_told("concurrency", runs))
    return len(models) == len({approach for approach, _ in models})


def _heard(runs: Sequence[Subject]) -> Sequence[Subject]:
    """Those that tell; all, where the two approaches have no load in common without the others."""
    telling = [run for run in runs if run.tells]
    return telling if _in_common(telling) else runs


def _loads(runs: Sequence[Subject]) -> Sequence[Sequence[Subject]]:
    """The runs of each load that both approaches had; all runs where they had none in common."""
    return _in_common(runs) or [runs]


def _in_common(runs: Sequence[Subject]) -> Sequence[Sequence[Subject]]:
    by_load = [[run for run in runs if run.cell == cell] for cell in sorted({run.cell for run in runs})]
    return [load for load in by_load if len({run.approach for run in load}) == 2]


def _differing(runs: Sequence[Subject]) -> dict[str, Told]:
    """What the runs do not all tell alike: the parts first, then what is finer, then whatever the audit finds."""
    found = _differ(PARTS, runs)
    for part, finer in FINER.items():
        if part not in found:
            found |= _differ(finer, runs)
    unexplained = audit(runs).unexplained
    said = tuple(f"{what}." for what in found)
    return found | {what: told for what, told in unexplained.items() if not f"{what}.".startswith(said)}


def _differ(places: Iterable[str], runs: Sequence[Subject]) -> dict[str, Told]:
    told = {place: _told(place, runs) for place in places}
    return {place: values for place, values in told.items() if any(value != values[0][1] for _, value in values)}


def _told(place: str, runs: Sequence[Subject]) -> Told:
    return [(run.approach, _value(run.about or {}, place)) for run in runs]


def _has(about: Mapping[str, Any], place: str) -> bool:
    *way, name = place.split(".")
    within: Any = about
    for step in way:
        within = within.get(step) if isinstance(within, Mapping) else None
    return isinstance(within, Mapping) and name in within


def _value(about: Mapping[str, Any], place: str) -> Any:
    """A member's; of one that has members itself, those by their names."""
    values, within = flat(about), f"{place}."
    return values.get(
        place, {name.removeprefix(within): value for name, value in values.items() if name.startswith(within)}
    )


def _shown_of(approach: str, told: Told) -> str:
    """What its runs told, each value once."""
    return "; ".join(dict.fromkeys(_shown(value) for who, value in told if who == approach)) or NONE


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_shown(each)}" for key, each in sorted(value.items())) or NONE
    if value is None:
        return NONE
    return value if isinstance(value, str) else json.dumps(value)


def what_differs(contrast: Contrast) -> str:
    """Each part with what a and b have there, on one line."""
    if contrast.kind == "unknown":
        return "not known"
    return "; ".join(f"{one.part}: {one.a} / {one.b}" for one in contrast.differs) or "nothing that was recorded"


def contrast_notes(contrasts: Iterable[Contrast]) -> list[str]:
    """What must stand beside a table: which rows may be compared as models, and what else the others differ in."""
    found = list(contrasts)
    notes = [
        f"{one.a} and {one.b} differ in the concurrency model alone (controlled contrast)."
        for one in found
        if one.kind == "controlled"
    ]
    notes += [
        f"{one.a} and {one.b} are one approach, measured twice: any difference is chance."
        for one in found
        if one.kind == "same"
    ]
    stacks: dict[str, list[Contrast]] = {}
    for one in found:
        if one.kind == "stack":
            stacks.setdefault(_besides_model(one), []).append(one)
    notes += [_stack_note(what, _pairs(pairs)) for what, pairs in stacks.items()]
    return [*notes, *_client_notes(found), *unknown_notes(found)]


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
        told = "; ".join(f"{client} ({', '.join(approaches)})" for client, approaches in sorted(users.items()))
        yield f"Clients of the backend: {told}."


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


def _stack_note(what: str, pairs: str) -> str:
    if not what:
        return f"{pairs} do not differ in anything that was recorded: any difference in their figures is chance."
    return f"{pairs} differ in {what} (stack contrast): a difference between them is not due to the model alone."


def _besides_model(contrast: Contrast) -> str:
    """Empty where nothing differs."""
    parts = [difference.part for difference in contrast.differs]
    besides = [part for part in parts if part != "concurrency"]
    if not besides:
        return ""
    return ", ".join(besides) + (", not in the model" if besides == parts else " besides the model")
