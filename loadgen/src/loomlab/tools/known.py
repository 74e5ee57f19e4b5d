"""The load generators by name."""

from typing import Literal

from loomlab.basics.errors import UsageError
from loomlab.tools.ab import Ab
from loomlab.tools.hey import Hey
from loomlab.tools.programs import LabUsers, Vegeta
from loomlab.tools.tool import Tool

WARMER, HOLDER, SWEEPER = "ab", "hey", "users"
"""Those that warm the backend up; hold requests after a run, as ab sends one alone first; load pairs in turn."""
KNOWN: dict[str, Tool] = {one.name: one for one in (Ab(), Hey(), Vegeta(), LabUsers())}
CLOSED_TOOLS = [one.name for one in KNOWN.values() if "closed" in one.shapes]
RATE_TOOLS = [one.name for one in KNOWN.values() if "open-rate" in one.shapes]
ToolName = Literal["ab", "hey", "vegeta", "users"]


def tool(name: str) -> Tool:
    if name not in KNOWN:
        raise UsageError(f"Unknown tool {name!r}: use one of {', '.join(KNOWN)}.")
    return KNOWN[name]
