"""A summary in words: summary.md, and the table on the screen."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from loomlab.answer.contrasts import contrast_notes
from loomlab.answer.figures import EVERY
from loomlab.basics.format import counted, fixed
from loomlab.records.load import Load, OpenRate, Users
from loomlab.records.models import Run, Summary

COLUMNS = [figure for figure in EVERY if figure.column]
HEADINGS = ("#", "approach", "load", *(figure.column[0] for figure in EVERY if figure.column), "verdict")
TEXT_COLUMNS = frozenset({"approach", "verdict"})
WIDEST_TABLE = 120
CLOSED_MODEL_NOTE = (
    "{tool} was used in a closed model: while an answer is late it sends nothing on that connection, so p99 and max "
    "leave out requests that users would have sent meanwhile (coordinated omission); "
    "throughput cannot exceed connections ÷ latency."
)
OPEN_MODEL_NOTE = (
    "{tool} was used in an open model: requests are due at their times even if earlier ones are unanswered, and "
    "latency counts from the time a request was due, however late it was sent."
)
INTERIOR_NOTE = (
    "Requests/s, latencies, CPU (ms per request) and allocation per request cover the interior, without the connect "
    "wave and the drain; errors, GC (its share of the CPU time), RSS and threads cover the whole run; percentiles are "
    "nearest-rank; – means not measured."
)
HELD_NOTE = (
    "Held is the memory of one waiting request, measured after the run: heap / thread stacks and other off-heap "
    "memory / kernel memory. The second figure varies by some MB on its own, so a few KiB of it say nothing; 1 MB is "
    "10 KiB per request where 100 wait, and 1 KiB where 1,000 wait. It may be negative. RSS shows how much of a "
    "fixed-size heap was ever touched, not what requests hold."
)
STYLE_NOTES = {
    "lean": "Style lean: the endpoints call the client and write their answers themselves, so a request takes less CPU "
    "than in a Spring service as people write it (STYLE=idiomatic).",
    "idiomatic": "Style idiomatic: the endpoints are annotated controllers with Spring's converters, RestClient or "
    "WebClient, and the actuator's observations.",
}


def load_cell(load: Load) -> str:
    """Connections of a closed load, users at most, or rates."""
    match load.shape:
        case OpenRate(steps):
            return f"{'–'.join(dict.fromkeys(f'{step.rate_rps:,g}' for step in (steps[0], steps[-1])))}/s"
        case Users():
            return f"≤{load.shape.most:,} u."
        case _:
            return f"{load.connections:,}"


def cells(run: Run) -> tuple[str, ...]:
    """One row of the table, in the order of the headings."""
    number = run.run.partition("-")[0]
    return (number, run.approach, load_cell(run.load), *(figure.cell(run) for figure in COLUMNS), run.verdict)


@dataclass(frozen=True)
class Remark:
    """What is said of a run, or once of every run, which has no verdict."""

    who: str
    verdict: str | None
    reason: str


def remarks(runs: Sequence[Run]) -> list[Remark]:
    """Why the verdicts are what they are, and percentiles are missing."""

    def texts(run: Run) -> list[str]:
        withheld = ((name, run.latency_ms.withheld.get(name)) for name in ("p50", "p99"))
        return [*run.reasons, *(f"Its {name} is not given: {why}." for name, why in withheld if why)]

    return _remarks(runs, texts)


def _remarks(runs: Sequence[Run], texts_of: Callable[[Run], list[str]]) -> list[Remark]:
    """First what is said of every run, where there are several."""
    texts = [(run, text) for run in runs for text in texts_of(run)]
    often = Counter(text for _, text in texts)
    shared = {text: None for _, text in texts if len(runs) > 1 and often[text] == len(runs)}
    own = [Remark(run.run, run.verdict, text) for run, text in texts if text not in shared]
    return [*(Remark("every run", None, text) for text in shared), *own]


def model_notes(runs: Sequence[Run]) -> list[str]:
    """What figures are of, and how each tool sent its requests."""
    tools = dict.fromkeys((run.tool, run.load.closed_model) for run in runs)
    notes = ((CLOSED_MODEL_NOTE if closed else OPEN_MODEL_NOTE).format(tool=name) for name, closed in tools)
    return [INTERIOR_NOTE, *notes]


def footnotes(summary: Summary, contrasts: bool = True) -> list[str]:
    """What must be read beside the table, with what is said of the contrasts that were declared or without it."""
    runs = summary.runs
    comparisons = [one for contrast in summary.contrasts for one in contrast.comparisons if one.word != "exploratory"]
    declared = [one.sentence + (f" Left out: {'; '.join(one.dropped)}." if one.dropped else "") for one in comparisons]
    notes = [f"{one.who}{f' ({one.verdict})' if one.verdict else ''}: {one.reason}" for one in remarks(runs)]
    notes += [f"{one.who}: {one.reason}" for one in _remarks(runs, lambda run: run.notes)]
    notes += [*contrast_notes(summary.contrasts), *(declared if contrasts else ())]
    if declared:
        notes.append(
            "Each interval is of one contrast's ratios within blocks; lower and higher hold for "
            f"{counted(len(declared), 'contrast')} together, no difference and equivalent for each by itself "
            "(docs/statistics.md). Suspect runs count, invalid ones do not."
        )
    notes += summary.notes
    if runs:
        interior, *models = model_notes(runs)
        styles = dict.fromkeys(run.style for run in runs)
        held = [run for run in runs if run.live_requests and not run.load.closed_model]
        waiting = ", ".join(f"{run.run} {run.live_requests:,}" for run in held)
        notes += [interior, HELD_NOTE]
        notes += [f"Held was measured while so many requests waited: {waiting}."] if waiting else []
        notes += [*models, *(STYLE_NOTES[style] for style in styles if style in STYLE_NOTES)]
    return notes


def stretch_lines(run: Run) -> list[str]:
    """What a run shows step by step, how it got over hangs of the backend, and what its failures were."""
    lines = [
        f"{run.run}, {step.offered_rps:,g} requests/s: {step.started_rps:,.1f} started, "
        f"{step.throughput_rps:,.1f} answered a second, p50 {fixed(step.latency_ms.p50)} ms, "
        f"p99 {fixed(step.latency_ms.p99)} ms, {step.errors:,} errors: {'held' if step.held else 'not held'}."
        for step in run.steps
    ]
    for hang in run.episodes:
        recovery = hang.recovery_s
        back = "not back within the run" if recovery is None else f"back {recovery:,.0f} s after its end"
        lines.append(
            f"{run.run}, backend's hang of {hang.end - hang.start:,.0f} s: p50 before {fixed(hang.before_p50_ms)} ms, "
            f"the longest answer {fixed(hang.worst_ms)} ms, {back}."
        )
    if run.failures:
        kinds = ", ".join(f"{count:,} × {reason}" for reason, count in run.failures.items())
        took = run.failed_latency_ms.p50
        lines.append(f"{run.run}, failed: {kinds}" + (f"; they took {fixed(took)} ms at p50." if took else "."))
    return lines


def collector_line(run: Run) -> str | None:
    """What the collector and the compilers took of a run; None where nothing is known."""
    parts = {
        "GC pauses {:,}": run.gc.pauses,
        "{:.2f} s in all": run.gc.pause_seconds,
        "the longest {:.0f} ms at most": run.gc.longest_pause_ms if run.gc.pauses else None,
        "GC {:.2f} CPU s": run.gc.cpu_seconds,
        "compilers {:.2f} CPU s": run.jit_cpu_seconds,
        "{:,} times pinned": run.virtual_threads_pinned or None,
    }
    known = [text.format(value) for text, value in parts.items() if value is not None]
    return f"{run.run}: {', '.join(known)}." if known else None


def environment_line(environment: dict[str, Any]) -> str:
    """The host in one line."""
    memory = environment.get("memory_bytes")
    parts = {
        "{} CPUs": environment.get("cpus"),
        "{:.1f} GiB": memory and memory / 2**30,
        **{f"{name} {{}}": environment.get(name) for name in ("engine", "kernel")},
        "cgroup v{}": environment.get("cgroup"),
        "size {}": environment.get("size"),
    }
    return f"Host: {', '.join(text.format(value) for text, value in parts.items() if value) or 'unknown'}."


def markdown(summary: Summary, opening: Sequence[str] = ()) -> str:
    """summary.md; `opening` are lines that stand before the table of all runs, in place of what is said of the
    contrasts; names and texts stay text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - most commands need none

    templates = Environment(  # noqa: S701 - `finalize` escapes for Markdown
        loader=PackageLoader("loomlab.answer"),
        undefined=StrictUndefined,
        finalize=_as_text,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template("summary.md").render(
        summary=summary,
        opening=opening,
        table=table_lines(HEADINGS, [cells(run) for run in summary.runs], TEXT_COLUMNS),
        notes=footnotes(summary, contrasts=not opening),
        lists={
            "Steps, episodes and failures:": [line for run in summary.runs for line in stretch_lines(run)],
            "Collector and compilers, over the whole run:": [*filter(None, map(collector_line, summary.runs))],
        },
        host=environment_line(summary.environment),
    )


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], left: frozenset[str]) -> list[str]:
    """A table in Markdown; the other columns are aligned right."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (headings, *rows)]
    rule = "|".join(":--" if heading in left else "--:" for heading in headings)
    return [lines[0], f"|{rule}|", *lines[1:]]


def _as_text(value: object) -> str:
    """Text in which nothing begins HTML, a link or a picture, nor another line."""
    return " ".join(str(value).splitlines()).replace("<", "&lt;").replace("[", "\\[")


def show(summary: Summary, console: Console) -> None:
    """The table, the reasons and the notes; plain text when the output is not a terminal."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in TEXT_COLUMNS else "right", no_wrap=True)
    colours = {"valid": "green", "suspect": "yellow", "invalid": "red"}
    for run in summary.runs:
        *figures, verdict = map(escape, cells(run))
        table.add_row(*figures, f"[{colours[run.verdict]}]{verdict}[/]")
    console.print(f"\n{escape(summary.experiment)}, started {summary.started or 'unknown'}", highlight=False)
    console.print(table)
    lines = [*(line for run in summary.runs for line in stretch_lines(run)), *footnotes(summary)]
    for line in (*(f"- {line}" for line in lines), environment_line(summary.environment)):
        console.print(escape(line), highlight=False)
