"""What two approaches differ in, by their /about."""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from loomlab.records.models import Contrast, Difference

PARTS: Mapping[str, tuple[str, str]] = {
    "concurrency": ("", "concurrency"),
    "server": ("inbound", "server"),
    "framework": ("inbound", "framework"),
    "client": ("outbound", "client"),
}
"""Where /about tells of each."""
FINER: Mapping[str, tuple[str, str]] = {
    "transport": ("inbound", "transport"),
    "socket threads": ("inbound", "socket_thread_kind"),
    "internals of the server": ("inbound", "internals"),
    "internals of the client": ("outbound", "internals"),
}
"""What may differ within one server, or one client."""
COARSER: Mapping[str, str] = {"inbound": "server", "outbound": "client"}
NONE = "none"


def contrasts_of(abouts: Mapping[str, Mapping[str, Any] | None]) -> list[Contrast]:
    """Of every two approaches, in their order. *controlled*: the concurrency model differs and nothing else does;
    *stack*: more differs, or something else; *unknown*: one of the two did not tell."""
    return [_contrast(one, other, abouts) for one, other in itertools.combinations(abouts, 2)]


def _contrast(a: str, b: str, abouts: Mapping[str, Mapping[str, Any] | None]) -> Contrast:
    one, other = abouts[a], abouts[b]
    if one is None or other is None:
        return Contrast(a=a, b=b, kind="unknown", differs=[])
    differs = _differences(PARTS, one, other)
    coarse = {difference.part for difference in differs}
    differs += _differences({part: at for part, at in FINER.items() if COARSER[at[0]] not in coarse}, one, other)
    controlled = [difference.part for difference in differs] == ["concurrency"]
    return Contrast(a=a, b=b, kind="controlled" if controlled else "stack", differs=differs)


def _differences(
    parts: Mapping[str, tuple[str, str]], one: Mapping[str, Any], other: Mapping[str, Any]
) -> list[Difference]:
    return [
        Difference(part=part, a=_told(one, place), b=_told(other, place))
        for part, place in parts.items()
        if _told(one, place) != _told(other, place)
    ]


def _told(about: Mapping[str, Any], place: tuple[str, str]) -> str:
    where, name = place
    told = about.get(where) if where else about
    value = told.get(name) if isinstance(told, Mapping) else None
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {each}" for key, each in sorted(value.items())) or NONE
    return NONE if value is None else str(value)


def contrast_notes(contrasts: Iterable[Contrast]) -> list[str]:
    """What must stand beside a table: which rows may be compared as models, and what else the others differ in."""
    found = list(contrasts)
    notes = [
        f"{one.a} and {one.b} differ in the concurrency model alone (controlled contrast)."
        for one in found
        if one.kind == "controlled"
    ]
    stacks: dict[str, list[str]] = {}
    for one in found:
        if one.kind == "stack":
            stacks.setdefault(_beside_model(one), []).append(f"{one.a} and {one.b}")
    notes += [_stack_note(what, "; ".join(pairs)) for what, pairs in stacks.items()]
    unknown = [f"{one.a} and {one.b}" for one in found if one.kind == "unknown"]
    if unknown:
        notes.append(f"What {'; '.join(unknown)} differ in is not known: /about was not recorded.")
    return notes


def _stack_note(what: str, pairs: str) -> str:
    if not what:
        return (
            f"{pairs} do not differ in what /about tells: a difference between them is chance, or of versions, limits "
            "or settings."
        )
    return f"{pairs} differ in {what} (stack contrast): a difference between them is not the concurrency model's alone."


def _beside_model(contrast: Contrast) -> str:
    """Empty where nothing differs."""
    parts = [difference.part for difference in contrast.differs]
    beside = [part for part in parts if part != "concurrency"]
    return ", ".join(beside) + ("" if not beside else " besides the model" if beside != parts else ", not in the model")
