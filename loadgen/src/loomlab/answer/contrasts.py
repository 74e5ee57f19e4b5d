"""What two approaches differ in, by their /about."""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loomlab.answer.parity import Subject, audit
from loomlab.records.contrasts import Contrast, Difference

PARTS: Mapping[str, str] = {
    "concurrency": "concurrency",
    "server": "inbound.server",
    "framework": "inbound.framework",
    "client": "outbound.client",
}
"""Where /about tells of each."""
FINER: Mapping[str, tuple[str, ...]] = {
    "server": ("inbound.transport", "inbound.socket_thread_kind", "inbound.socket_threads", "inbound.internals"),
    "client": ("outbound.internals",),
}
"""What may differ within one server, or one client."""
NAMES: Mapping[str, str] = {
    "inbound.transport": "transport",
    "inbound.socket_thread_kind": "kind of the socket threads",
    "inbound.socket_threads": "number of socket threads",
    "inbound.internals": "internals of the server",
    "outbound.internals": "internals of the client",
}
_NAMED = [*((at, part) for part, at in PARTS.items()), *NAMES.items()]
NONE = "none"
MOST_PAIRS = 4
"""That a note names; summary.json has all."""


def contrasts_of(subjects: Iterable[Subject]) -> list[Contrast]:
    """Of every two approaches, in the order of their first runs. *controlled*: the concurrency model differs and
    nothing else does that the parity audit does not explain; *stack*: more differs, or something else; *unknown*: a run
    of one of the two did not tell."""
    runs = list(subjects)
    names = list(dict.fromkeys(run.approach for run in runs))
    return [
        _contrast(a, b, [run for run in runs if run.approach in {a, b}]) for a, b in itertools.combinations(names, 2)
    ]


def _contrast(a: str, b: str, runs: Sequence[Subject]) -> Contrast:
    if not all(_told(run.about) for run in runs):
        return Contrast(a=a, b=b, kind="unknown", differs=[])
    abouts = {run.approach: run.about or {} for run in reversed(runs)}
    one, other = abouts[a], abouts[b]
    differs = [_difference(part, at, one, other) for part, at in PARTS.items() if _differ(at, one, other)]
    within = [at for part, places in FINER.items() if part not in {each.part for each in differs} for at in places]
    differs += [_difference(NAMES[at], at, one, other) for at in within if _differ(at, one, other)]
    said = [at for at, part in _NAMED if part in {each.part for each in differs}]
    differs += [
        _difference(at, at, one, other)
        for at in _unexplained(runs)
        if not any(f"{at}.".startswith(f"{place}.") for place in said)
    ]
    controlled = [each.part for each in differs] == ["concurrency"]
    return Contrast(a=a, b=b, kind="controlled" if controlled else "stack", differs=differs)


def _told(about: Mapping[str, Any] | None) -> bool:
    """All that a contrast is named by; null is told, too."""
    if about is None or not isinstance(about.get("concurrency"), str):
        return False
    return all(_parent(about, at) is not None for at in (*PARTS.values(), *NAMES))


def _unexplained(runs: Sequence[Subject]) -> list[str]:
    by_cell = [[run for run in runs if run.cell == cell] for cell in sorted({run.cell for run in runs})]
    return list(dict.fromkeys(name for cell in by_cell for name in audit(cell).unexplained))


def _parent(about: Mapping[str, Any], place: str) -> Mapping[str, Any] | None:
    """What holds that member; None where it is not there."""
    *way, name = place.split(".")
    within: Any = about
    for step in way:
        within = within.get(step) if isinstance(within, Mapping) else None
    return within if isinstance(within, Mapping) and name in within else None


def _value(about: Mapping[str, Any], place: str) -> Any:
    parent = _parent(about, place)
    return None if parent is None else parent[place.rpartition(".")[2]]


def _differ(place: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(_value(one, place) != _value(other, place))


def _difference(part: str, place: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Difference:
    return Difference(part=part, a=_shown(_value(one, place)), b=_shown(_value(other, place)))


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_shown(each)}" for key, each in sorted(value.items())) or NONE
    if value is None:
        return NONE
    return value if isinstance(value, str) else json.dumps(value)


def contrast_notes(contrasts: Iterable[Contrast]) -> list[str]:
    """What must stand beside a table: which rows may be compared as models, and what else the others differ in."""
    found = list(contrasts)
    notes = [
        f"{one.a} and {one.b} differ in the concurrency model alone (controlled contrast)."
        for one in found
        if one.kind == "controlled"
    ]
    stacks: dict[str, list[Contrast]] = {}
    for one in found:
        if one.kind == "stack":
            stacks.setdefault(_besides_model(one), []).append(one)
    notes += [_stack_note(what, _pairs(pairs)) for what, pairs in stacks.items()]
    unknown = [one for one in found if one.kind == "unknown"]
    if unknown:
        notes.append(f"What {_pairs(unknown)} differ in is not known: not all of it was recorded in raw/about.json.")
    return notes


def _pairs(contrasts: Sequence[Contrast]) -> str:
    named = "; ".join(f"{one.a} and {one.b}" for one in contrasts[:MOST_PAIRS])
    return named + (f"; {len(contrasts) - MOST_PAIRS} pairs more" if len(contrasts) > MOST_PAIRS else "")


def _stack_note(what: str, pairs: str) -> str:
    if not what:
        return f"{pairs} do not differ in anything that was recorded: a difference between them is chance."
    return f"{pairs} differ in {what} (stack contrast): a difference between them is not the concurrency model's alone."


def _besides_model(contrast: Contrast) -> str:
    """Empty where nothing differs."""
    parts = [difference.part for difference in contrast.differs]
    besides = [part for part in parts if part != "concurrency"]
    if not besides:
        return ""
    return ", ".join(besides) + (", not in the model" if besides == parts else " besides the model")
