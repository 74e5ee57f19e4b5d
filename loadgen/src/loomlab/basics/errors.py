"""What can go wrong, by exit code; each message is one sentence: what, the value, the cure."""

import traceback
from pathlib import Path

EXIT_INVALID = 1
EXIT_USAGE = 2
EXIT_HOST = 3
EXIT_LAB = 4
EXIT_UNRESOLVED = 5
EXIT_INTERRUPTED = 130
PACKAGE = Path(__file__).parents[1]


class LoomlabError(Exception):
    """Something a user can act on; printed without a stack trace."""

    exit_code = EXIT_LAB


class UsageError(LoomlabError, ValueError):
    """The request was wrong. A ValueError, too: so pydantic tells it as a mistake in a field."""

    exit_code = EXIT_USAGE


class HostError(LoomlabError):
    exit_code = EXIT_HOST


class CannotMeasureError(LoomlabError):
    """Nothing could be measured here."""


class ParseError(LoomlabError):
    """A file is not what the tool is known to write."""


def told(error: Exception) -> str:
    """What a user is told of it, who can act only on errors of the lab's own and of files; of others also where."""
    if isinstance(error, LoomlabError | OSError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(PACKAGE)] or frames
    at = "".join(f" in {Path(frame.filename).name}, line {frame.lineno}" for frame in own[-1:])
    return f"the lab failed at it ({' '.join(repr(error).split()):.200}{at})"
