"""What the load generators of a run left, as if it were one's: the first's files are beside the run's own."""

from pathlib import Path

from loomlab.records.load import MOST_GENERATORS
from loomlab.records.requestlog import RequestLog
from loomlab.tools.tool import Tool, ToolReport


def folder_of(raw: Path, number: int) -> Path:
    """Where the load generator of that number leaves its files."""
    return raw if number == 1 else raw / f"generator-{number}"


def folders_of(raw: Path) -> list[Path]:
    """Those that there are."""
    every = [folder_of(raw, number) for number in range(1, MOST_GENERATORS + 1)]
    return [folder for folder in every if folder == raw or folder.is_dir()]


def finish(driver: Tool, raw: Path) -> None:
    """As the tool's own."""
    for folder in folders_of(raw):
        driver.finish(folder)


def report_of(driver: Tool, raw: Path) -> ToolReport:
    """Raises as the tool's own."""
    return ToolReport.merged([driver.report(folder) for folder in folders_of(raw)])


def requests_of(driver: Tool, raw: Path, floor_ms: int) -> RequestLog | None:
    """None where one has none; raises as the tool's own."""
    logs = [driver.requests(folder, floor_ms) for folder in folders_of(raw)]
    known = [log for log in logs if log is not None]
    return RequestLog.merged(known) if len(known) == len(logs) else None
