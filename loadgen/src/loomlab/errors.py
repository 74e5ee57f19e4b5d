"""What can go wrong, by exit code; each message is one sentence: what, the value, the cure."""

EXIT_INVALID = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


class LoomlabError(Exception):
    """Something a user can act on; printed without a stack trace."""

    exit_code = 1


class UsageError(LoomlabError):
    """The request was wrong."""

    exit_code = EXIT_USAGE


class CannotMeasureError(LoomlabError):
    """Nothing could be measured here."""


class ParseError(LoomlabError):
    """A file is not what the tool is known to write."""
