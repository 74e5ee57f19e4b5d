"""A summary in words: summary.md, and the table on the screen."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from loomlab.answer.contrasts import contrast_notes
from loomlab.answer.figures import EVERY, P99, WAITING, Figure
from loomlab.basics.format import UNKNOWN, counted, fixed
from loomlab.records.load import Load, OpenRate, Users
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Run, SideBySide, Summary

BEFORE, TEXT_COLUMNS = ("#", "approach", "load"), frozenset({"approach", "verdict"})
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
        case OpenRate():
            rates = [f"{step.rate_rps:,g}" for step in load.shape.steps]
            return f"{'–'.join(dict.fromkeys((rates[0], rates[-1])))}/s"
        case Users():
            return f"≤{max(stage.users for stage in load.shape.stages):,} u."
        case _:
            return f"{load.connections:,}"


def held_cell(held: LiveBytes) -> str:
    """KiB of heap, of stacks and off-heap, and of the kernel."""
    parts = (held.heap, held.stacks_off_heap, held.kernel)
    kib = (UNKNOWN if part is None else f"{round(part / 2**10):,}" for part in parts)
    return UNKNOWN if parts == (None, None, None) else "/".join(kib)


def _errors(run: Run) -> str:
    if run.errors is None:
        return UNKNOWN
    if not run.errors or not run.requests:
        return str(run.errors)
    share = 100 * run.errors / run.requests
    return f"{run.errors:,} ({share:.0f}%)" if share >= 10 else f"{run.errors:,} ({share:.2g}%)"


def _columns() -> Iterator[tuple[str, Callable[[Run], str]]]:
    """The table's columns after those of BEFORE: heading and cell."""
    for figure in EVERY:
        if figure is WAITING:
            yield "held KiB", lambda run: held_cell(run.live_bytes_per_request)
        elif figure.column:
            heading, decimals = figure.column
            yield heading, _cell_of(figure, decimals)
        if figure is P99:
            yield "errors", _errors
    yield "verdict", lambda run: run.verdict


def _cell_of(figure: Figure, decimals: int) -> Callable[[Run], str]:
    return lambda run: fixed(figure.of(run), decimals)


COLUMNS = tuple(_columns())
HEADINGS = (*BEFORE, *(heading for heading, _ in COLUMNS))


def cells(run: Run) -> tuple[str, ...]:
    """One row of the table, in the order of the headings."""
    return (run.run.partition("-")[0], run.approach, load_cell(run.load), *(cell(run) for _, cell in COLUMNS))


@dataclass(frozen=True)
class Remark:
    """What is said of a run, or once of every run, which has no verdict."""

    who: str
    verdict: str | None
    reason: str


def remarks(runs: Sequence[Run]) -> list[Remark]:
    """Why the verdicts are what they are, and percentiles are missing."""
    return _remarks(runs, lambda run: [*run.reasons, *_withheld(run)])


def _remarks(runs: Sequence[Run], texts_of: Callable[[Run], list[str]]) -> list[Remark]:
    said = [(run, text) for run in runs for text in texts_of(run)]
    often = Counter(text for _, text in said)
    shared = {text: Remark("every run", None, text) for _, text in said if len(runs) > 1 and often[text] == len(runs)}
    return [*shared.values(), *(Remark(run.run, run.verdict, text) for run, text in said if text not in shared)]


def _withheld(run: Run) -> list[str]:
    withheld = run.latency_ms.withheld
    return [f"Its {name} is not given: {withheld[name]}." for name in ("p50", "p99") if name in withheld]


def model_notes(runs: Sequence[Run]) -> list[str]:
    """What figures are of, and how each tool sent its requests."""
    models = dict.fromkeys((run.tool, run.load.closed_model) for run in runs)
    return [INTERIOR_NOTE] + [
        (CLOSED_MODEL_NOTE if closed else OPEN_MODEL_NOTE).format(tool=name) for name, closed in models
    ]


def footnotes(summary: Summary) -> list[str]:
    """What must be read beside the table."""
    runs, declared = summary.runs, declared_notes(summary)
    notes = [f"{one.who}{f' ({one.verdict})' if one.verdict else ''}: {one.reason}" for one in remarks(runs)]
    notes += [f"{one.who}: {one.reason}" for one in _remarks(runs, lambda run: run.notes)]
    notes += [*contrast_notes(summary.contrasts), *declared]
    if declared:
        notes.append(
            "Each interval is of one contrast's ratios within blocks; lower and higher hold for "
            f"{counted(len(declared), 'contrast')} together, no difference and equivalent for each by itself "
            "(docs/statistics.md). Suspect runs count, invalid ones do not."
        )
    notes += summary.notes
    if runs:
        interior, *models = model_notes(runs)
        styles = dict.fromkeys(run.style for run in runs if run.style in STYLE_NOTES)
        waiting = [
            f"{one.run} {one.live_requests:,}" for one in runs if one.live_requests and not one.load.closed_model
        ]
        notes += [interior, HELD_NOTE]
        notes += [f"Held was measured while so many requests waited: {', '.join(waiting)}."] if waiting else []
        notes += [*models, *(STYLE_NOTES[style] for style in styles)]
    return notes


def declared_notes(summary: Summary) -> list[str]:
    """What is said of the contrasts that were declared."""
    return [
        one.sentence + (f" Left out: {'; '.join(one.dropped)}." if one.dropped else "")
        for contrast in summary.contrasts
        for one in contrast.comparisons
        if one.word != "exploratory"
    ]


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
    parts = []
    if run.gc.pauses is not None and run.gc.pause_seconds is not None:
        parts.append(f"GC pauses {run.gc.pauses:,}, {run.gc.pause_seconds:.2f} s in all")
    if run.gc.pauses and run.gc.longest_pause_ms is not None:
        parts.append(f"the longest {run.gc.longest_pause_ms:.0f} ms at most")
    for name, seconds in (("GC", run.gc.cpu_seconds), ("compilers", run.jit_cpu_seconds)):
        if seconds is not None:
            parts.append(f"{name} {seconds:.2f} CPU s")
    if run.virtual_threads_pinned:
        parts.append(f"{run.virtual_threads_pinned:,} times pinned")
    return f"{run.run}: {', '.join(parts)}." if parts else None


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
    said = declared_notes(summary) if opening else []
    finished = summary.finished or "not: interrupted"
    lines = [f"# {summary.experiment}", "", f"Started {summary.started or 'unknown'}, finished {finished}."]
    lines += ["", *opening] if opening else []
    lines += ["", *table_lines(HEADINGS, [cells(run) for run in summary.runs], TEXT_COLUMNS)]
    lines += ["", *(f"- {note}" for note in footnotes(summary) if note not in said)]
    lines += _bullets("Steps, episodes and failures:", [line for run in summary.runs for line in stretch_lines(run)])
    collectors = [line for run in summary.runs if (line := collector_line(run))]
    lines += _bullets("Collector and compilers, over the whole run:", collectors)
    lines += _scenario(summary.scenario) if summary.scenario else []
    lines += ["", environment_line(summary.environment)]
    sizes = summary.environment.get("sizes")
    if isinstance(sizes, dict) and sizes:
        lines += ["", "Sizes: " + ", ".join(f"`{key}={value}`" for key, value in sizes.items()) + "."]
    return "\n".join(map(_as_text, lines)) + "\n"


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], left: frozenset[str]) -> list[str]:
    """A table in Markdown; the other columns are aligned right."""
    rule = "|".join(":--" if heading in left else "--:" for heading in headings)
    return [_row(headings), f"|{rule}|", *map(_row, rows)]


def _row(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def _bullets(title: str, lines: Sequence[str]) -> list[str]:
    return ["", title, "", *(f"- {line}" for line in lines)] if lines else []


def _scenario(scenario: SideBySide) -> list[str]:
    origin = f"{scenario.experiment}, {scenario.run}" if scenario.experiment else "the lab's own"
    published = "published" if scenario.experiment else "designed"
    headings = ("parameter", published, f"here, scale {scenario.scale:g}")
    rows = [(one.name, one.published, one.here) for one in scenario.parameters]
    lines = ["", f"## {scenario.name}", "", f"{scenario.title} ({origin}). {scenario.question}", ""]
    lines += table_lines(headings, rows, frozenset(headings))
    return [*lines, *([""] if scenario.differs else []), *(f"- {text}" for text in scenario.differs)]


def _as_text(line: str) -> str:
    """A line in which nothing begins HTML, a link or a picture, nor another line."""
    return " ".join(line.splitlines()).replace("<", "&lt;").replace("[", "\\[")


def show(summary: Summary, console: Console) -> None:
    """The table, the reasons and the notes; plain text when the output is not a terminal."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in TEXT_COLUMNS else "right", no_wrap=True)
    colours = {"valid": "green", "suspect": "yellow", "invalid": "red"}
    for run in summary.runs:
        *figures, verdict = (escape(cell) for cell in cells(run))
        table.add_row(*figures, f"[{colours[run.verdict]}]{verdict}[/]")
    console.print(f"\n{escape(summary.experiment)}, started {summary.started or 'unknown'}", highlight=False)
    console.print(table)
    stretches = [line for run in summary.runs for line in stretch_lines(run)]
    for line in (*stretches, *footnotes(summary)):
        console.print(f"- {escape(line)}", highlight=False)
    console.print(escape(environment_line(summary.environment)), highlight=False)
