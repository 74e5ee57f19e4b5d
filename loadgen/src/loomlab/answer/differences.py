"""What two approaches differ in, by their /about."""

import itertools
import json
from collections.abc import Iterable, Sequence

from loomlab.answer.parity import ByApproach, Subject, audit
from loomlab.basics.grouping import grouped
from loomlab.records.contrasts import Contrast, Difference

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
NEVER_NULL = ("concurrency", "inbound.server", "outbound.client")
USUAL = {"virtual-threads": 0, "platform-threads": 2}
NONE = "none"
MOST_PAIRS = 4  # that a note names of those that differ in more than the model; summary.json has all


def contrasts_of(subjects: Iterable[Subject]) -> list[Contrast]:
    """Of every two approaches: virtual threads over anything else, and anything over platform threads. *controlled*:
    only the model differs, and what the audit explains; *stack*: more does; *unknown*: a run did not tell, or two told
    different models of one; *same*: one is the other once more, and is held against no third."""
    several = sorted(subjects, key=lambda one: one.run.cell)
    twins = {one.approach: one.run.twin_of for one in several if one.run.twin_of}
    partners = {one.approach: one.run.partner for one in several}
    models = {one.approach: one.members.get("concurrency") for one in several}
    found = []
    for a, b in itertools.combinations(sorted(models, key=lambda name: (USUAL.get(str(models[name]), 1), name)), 2):
        contrast = _contrast(a, b, [one for one in several if one.approach in {a, b}])
        if twins.get(a) == b or twins.get(b) == a:
            found.append(contrast.model_copy(update={"kind": "same"}))
        elif not {a, b} & twins.keys() and {partners.get(a), partners.get(b)} <= {a, b, None}:
            found.append(contrast)
    return sorted(found, key=lambda contrast: (contrast.a, contrast.b))


def _contrast(a: str, b: str, subjects: list[Subject]) -> Contrast:
    """Within the loads that both had, as pools follow the load; of all runs where there is none."""
    models = {(one.approach, one.members.get("concurrency")) for one in subjects}
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
    return Contrast(
        a=a,
        b=b,
        kind="controlled" if list(differs) == ["concurrency"] else "stack",
        differs=[
            Difference(part=PARTS.get(name, name), a=_values_of(a, values), b=_values_of(b, values))
            for name, values in differs.items()
        ],
    )


def _differing(subjects: Sequence[Subject]) -> dict[str, ByApproach]:
    """What they do not all tell alike: the parts first, then whatever the audit finds."""
    found: dict[str, ByApproach] = {}
    for name in (*PARTS, *OF_SOCKETS):
        values = [(one.approach, one.members.get(name)) for one in subjects]
        another_server = name in OF_SOCKETS and "inbound.server" in found
        if not another_server and any(value != values[0][1] for _, value in values):
            found[name] = values
    return found | audit(subjects).unexplained


def _values_of(approach: str, values: ByApproach) -> str:
    """What its runs recorded, each value once."""
    own = (NONE if value is None else value for name, value in values if name == approach)
    return "; ".join(dict.fromkeys(value if isinstance(value, str) else json.dumps(value) for value in own)) or NONE


def what_differs(contrast: Contrast) -> str:
    """Each part with what a and b have there, on one line."""
    if contrast.kind == "unknown":
        return "not known"
    return "; ".join(f"{one.part}: {one.a} / {one.b}" for one in contrast.differs) or "nothing that was recorded"


def contrast_notes(contrasts: Sequence[Contrast]) -> list[str]:
    """What must stand beside a table: which rows may be compared as models, and what else the others differ in."""
    texts = {
        "controlled": "differ in the concurrency model alone (controlled contrast).",
        "same": "are one approach, measured twice: any difference is chance.",
    }
    notes = [f"{one.a} and {one.b} {text}" for kind, text in texts.items() for one in contrasts if one.kind == kind]
    stacks = grouped((one for one in contrasts if one.kind == "stack"), _besides_model)
    return [*notes, *(f"{_pairs(pairs)} {besides}" for besides, pairs in stacks.items()), *unknown_notes(contrasts)]


def _besides_model(contrast: Contrast) -> str:
    besides = [one.part for one in contrast.differs if one.part != "concurrency"]
    if not besides:
        return "do not differ in anything that was recorded: any difference in their figures is chance."
    end = ", not in the model" if len(besides) == len(contrast.differs) else " besides the model"
    parts = f"{', '.join(besides)}{end}"
    return f"differ in {parts} (stack contrast): a difference between them is not due to the model alone."


def unknown_notes(contrasts: Iterable[Contrast]) -> list[str]:
    """Why it is not known what some differ in."""
    unknown = [one for one in contrasts if one.kind == "unknown"]
    why = "raw/about.json is incomplete, or reports two concurrency models for one approach."
    return [f"How {_pairs(unknown)} differ is not known: {why}"] if unknown else []


def _pairs(contrasts: Sequence[Contrast]) -> str:
    named = "; ".join(f"{one.a} and {one.b}" for one in contrasts[:MOST_PAIRS])
    return named + (f"; {len(contrasts) - MOST_PAIRS} pairs more" if len(contrasts) > MOST_PAIRS else "")
