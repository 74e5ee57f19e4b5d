"""The load generators: one module each, one interface."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from loomlab.errors import UsageError
from loomlab.requestlog import RequestLog


@dataclass(frozen=True)
class Load:
    """What a tool is to do; `silence_limit_s` is after how long without an answer it may give up."""

    url: str
    concurrency: int
    requests: int
    duration_s: int
    silence_limit_s: int
    headers: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolReport:
    """What a tool said. None: it did not say. `failed` counts each failed request once and leaves out `non_2xx`;
    `attempted` is what succeeded, failed or was answered with another status, without what was in flight at the end.
    `aborted` is the tool's own reason when it gave up without a report."""

    completed: int | None = None
    attempted: int | None = None
    failed: int | None = None
    non_2xx: int | None = None
    keepalive_requests: int | None = None
    received_bytes: int | None = None
    duration_s: float | None = None
    aborted: str | None = None


class Tool(Protocol):
    """A load generator; parsing is pure, so that reports can be made again from files."""

    name: str
    closed_model: bool

    def check(self, load: Load) -> None:
        """Raises UsageError for what the tool cannot do."""

    def command(self, load: Load, raw: Path, stem: str) -> list[str]:
        """The command line; what it writes goes to `raw`, under names that begin with `stem`."""

    def output(self, raw: Path, stem: str) -> Path:
        """Where the tool's stdout and stderr are kept."""

    def parse(self, text: str) -> ToolReport:
        """Raises ParseError for a text that is not the tool's."""

    def pack(self, raw: Path, stem: str) -> None:
        """Compresses what is large."""

    def requests(self, raw: Path, stem: str, floor_ms: int) -> RequestLog | None:
        """Per-request data, None when the tool left none; no true answer takes less than `floor_ms`."""


def tool(name: str) -> Tool:
    """The tool of that name; raises UsageError for another one."""
    from loomlab.tools.ab import Ab  # noqa: PLC0415 - the tools import this module's types

    known: dict[str, Callable[[], Tool]] = {"ab": Ab}
    if name not in known:
        raise UsageError(f"Unknown tool {name!r}: use one of {', '.join(known)}.")
    return known[name]()
