"""What approaches told of themselves in GET /about."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from loomlab.answer.parity import Subject
from loomlab.records.models import Probe, Run

GOLDEN = Path(__file__).parent / "golden"
ALL: dict[str, dict[str, Any]] = json.loads((GOLDEN / "abouts.json").read_text())
TOMCATS = ("tomcat-platform", "tomcat-virtual")
NETTYS = ("webflux-netty", "virtual-netty")
PLAIN = Run.model_validate_json((GOLDEN / "report" / "run.json").read_text())


def about(approach: str, **changes: Any) -> dict[str, Any]:
    """That approach's; `part__member` is changed, and `part__member=...` taken out."""
    told = deepcopy(ALL[approach])
    for name, value in changes.items():
        *way, last = name.split("__")
        within = told
        for step in way:
            within = within[step]
        if value is ...:
            del within[last]
        else:
            within[last] = value
    return told


def subject(approach: str, told: Any = None, probe: Probe | None = None, **run: Any) -> Subject:
    """A run of that approach that told this of it; the rest are fields of the run."""
    return Subject(PLAIN.model_copy(update={"approach": approach} | run), told, probe)


def named(approach: str, cell: int = 1, **changes: Any) -> Subject:
    """A run that told what that approach tells, but for the changes."""
    return subject(approach, about(approach, **changes), cell=cell)
