"""Reads a scenario file; what is wrong in it is named by file, line and field."""

from pathlib import Path

from loomlab.plan.scenarios.model import (
    BackendHang,
    ClosedLoad,
    LadderLoad,
    Publication,
    RateLoad,
    RequestKind,
    Scenario,
    SpikeLoad,
)
from loomlab.records.yamlfile import Grammar, parse, path_of

SCENARIO = Grammar(
    Scenario,
    kind="scenario",
    fields="title and load",
    parts={
        "closed": ClosedLoad,
        "rate": RateLoad,
        "rate-ladder": LadderLoad,
        "smooth-spike": SpikeLoad,
        "stepped-spike": SpikeLoad,
        "requests": RequestKind,
        "hangs": BackendHang,
        "published": Publication,
    },
    tagged=frozenset({"load"}),
)


def load_scenario(folder: Path, name: str) -> Scenario:
    """The scenario of that name; raises UsageError with the nearest names for another one."""
    path = path_of(folder, name, "scenario", "make scenarios")
    return parse_scenario(path.read_text(encoding="utf-8", errors="replace"), path.name)


def parse_scenario(text: str, file: str) -> Scenario:
    """Raises UsageError with one line for each mistake: file, line, field, value and what is allowed."""
    return parse(text, file, SCENARIO)
