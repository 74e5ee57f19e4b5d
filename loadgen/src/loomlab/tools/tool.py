"""What every load generator does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from loomlab.records.files import RunFiles
from loomlab.records.load import Load
from loomlab.records.requestfile import requests_kept
from loomlab.records.requestlog import RequestLog


@dataclass(frozen=True)
class ToolReport:
    """What a tool said. None: it did not say. `failed` counts each failed request once and leaves out `non_2xx`;
    `attempted` is what succeeded, failed or was answered with another status, without what was in flight at the end.
    `dropped` are requests the tool should have started and did not. `duration_s` is from the first request to the last
    answer. `aborted` is the tool's own reason when it gave up without a report."""

    completed: int | None = None
    attempted: int | None = None
    failed: int | None = None
    non_2xx: int | None = None
    dropped: int | None = None
    keepalive_requests: int | None = None
    received_bytes: int | None = None
    duration_s: float | None = None
    aborted: str | None = None


class Tool(Protocol):
    """A load generator. `report` and `requests` are pure functions of files, so that reports can be made again; a run's
    files are those in `raw` whose names begin with `stem`."""

    name: str
    discards: bool
    """Whether it loses what is in flight at its end, and everything after a long silence."""
    stops_by_time: bool
    quotas: bool
    """Whether each connection has a number of requests of its own, and idles when they are done."""
    tells_unended: bool
    """Whether it tells of requests that never ended, so that none is missing where a connection dies."""
    most_requests: int
    """That it can tell of in one run."""
    resolution_ms: float
    """To whose multiples it rounds latencies."""

    def check(self, load: Load) -> None:
        """Raises UsageError for what the tool cannot do."""

    def command(self, load: Load, raw: Path, stem: str) -> list[str]:
        """The command line; writes the files it needs."""

    def output(self, raw: Path, stem: str) -> Path:
        """Where the tool's stdout and stderr are kept."""

    def finish(self, raw: Path, stem: str) -> None:
        """Makes, from what the tool left, the files that are kept; what is large is thinned or compressed. Does not
        raise for what the tool failed to leave."""

    def report(self, raw: Path, stem: str) -> ToolReport:
        """Raises ParseError for files that are not the tool's, OSError for one that cannot be read."""

    def requests(self, raw: Path, stem: str, floor_ms: int) -> RequestLog | None:
        """Per-request data, None when the tool left none; no true answer takes less than `floor_ms`. Raises
        ParseError for files that are not the tool's."""

    @property
    def done_query(self) -> str | None:
        """PromQL for the requests that have ended, by `outcome` (`ok`, `failed`), from the tool's own live figures;
        None where it has none."""


def requests_of(files: RunFiles, tool: Tool, floor_ms: int) -> RequestLog | None:
    """The requests of a run, parsed once and then kept beside its raw files; as `Tool.requests`."""
    sources = sorted(files.raw.glob(f"{tool.name}*"))
    return requests_kept(files.run_dir / "requests.npz", sources, lambda: tool.requests(files.raw, tool.name, floor_ms))
