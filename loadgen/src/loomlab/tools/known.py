"""The load generators by name."""

from collections.abc import Callable

from loomlab.basics.errors import UsageError
from loomlab.tools.ab import Ab
from loomlab.tools.hey import Hey
from loomlab.tools.tool import Tool
from loomlab.tools.users import UsersProgram
from loomlab.tools.vegeta import Vegeta

KNOWN: dict[str, Callable[[], Tool]] = {"ab": Ab, "hey": Hey, "vegeta": Vegeta, "users": UsersProgram}


def tool(name: str) -> Tool:
    """The tool of that name; raises UsageError for another one."""
    if name not in KNOWN:
        raise UsageError(f"Unknown tool {name!r}: use one of {', '.join(KNOWN)}.")
    return KNOWN[name]()


def resolution_ms(name: str) -> float:
    """To whose multiples that tool rounds latencies; 0 if it is not known."""
    return KNOWN[name]().resolution_ms if name in KNOWN else 0
