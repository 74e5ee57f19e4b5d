"""What approaches told of themselves on two CPUs, changed here and there."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

ABOUTS = Path(__file__).parent / "golden" / "abouts"
HEADLINE: dict[str, dict[str, Any]] = json.loads((ABOUTS / "headline.json").read_text())
ALL: dict[str, dict[str, Any]] = json.loads((ABOUTS / "all.json").read_text())
OLD: dict[str, dict[str, Any]] = json.loads((ABOUTS / "before-internals.json").read_text())
TOMCATS = ("tomcat-platform", "tomcat-virtual")
NETTYS = ("webflux-netty", "virtual-netty")


def about(approach: str, library: dict[str, dict[str, Any]] = HEADLINE, **changes: Any) -> dict[str, Any]:
    """That approach's; `part__member` is changed, and `part__member=...` taken out."""
    told = deepcopy(library[approach])
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
