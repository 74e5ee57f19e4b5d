"""From run.json files and environment.json to summary.json, summary.md and the table on the screen."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from loomlab.answer.again import again_notes
from loomlab.answer.blocks import made_of
from loomlab.answer.comparisons import comparison_notes, reading_notes, with_comparisons
from loomlab.answer.contrasts import contrast_notes
from loomlab.answer.environment import environment_of
from loomlab.answer.figures import EVERY, P99, WAITING, Figure
from loomlab.answer.subjects import compared_by_raw
from loomlab.basics.errors import ParseError, UsageError
from loomlab.records.files import RunFiles, read_record, write_json, write_text
from loomlab.records.load import Load, OpenRate, Users
from loomlab.records.memory import LiveBytes
from loomlab.records.models import Run, SideBySide, Summary
from loomlab.records.order import order_of

FOLDER = re.compile(r"^(\d{8}T\d{6}Z)-(.+)$")
UNKNOWN = "–"
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
STAND_IN_NOTE = "Measured on stand-in base images, not on the official ones."
INTERRUPTED_NOTE = "The experiment was interrupted: the runs that are missing were not made."


def summarise(experiment_dir: Path, interrupted: bool) -> Summary:
    """Writes summary.json and summary.md and returns the summary; raises UsageError when there is nothing to sum up."""
    if not (experiment_dir / "runs").is_dir():
        raise UsageError(f"{experiment_dir} is not an experiment: it has no runs/; name a folder below results/.")
    environment = environment_of(experiment_dir)
    order = order_of(experiment_dir)
    runs, notes = _runs(experiment_dir, interrupted)
    judged = {run.run for run in runs}
    if not runs and order is None and not interrupted:
        raise UsageError(f"{experiment_dir} holds no judged run: run `loomlab judge` on its runs first.")
    if interrupted:
        notes.append(INTERRUPTED_NOTE)
    if environment.get("stand_in_images"):
        notes.append(STAND_IN_NOTE)
    notes += [str(note) for note in environment.get("notes", [])]
    notes += again_notes(runs)
    early = made_of(order, runs).early if order else None
    notes += [early] if early else []
    contrasts, parities = compared_by_raw(experiment_dir, runs)
    suspect = {run.cell: list(environment.get("suspect", [])) for run in runs}
    for cell, parity in parities.items():
        suspect[cell] += parity.suspicions
    runs = [with_suspicions(run, suspect[run.cell]) for run in runs]
    margin = order.margin if order else None
    name = experiment_dir.resolve().name
    folder = FOLDER.match(name)
    summary = Summary(
        experiment=folder[2] if folder else name,
        started=_started(folder[1] if folder else None, runs),
        finished=None if interrupted else max((run.finished for run in runs if run.finished), default=None),
        notes=list(dict.fromkeys([*notes, *(note for parity in parities.values() for note in parity.notes)])),
        environment=environment,
        missing=[run.run for run in order.runs if run.run not in judged] if order else [],
        scenario=order.scenario if order else read_record(experiment_dir / "scenario.json", SideBySide),
        margin=margin,
        contrasts=contrasts if early else with_comparisons(contrasts, runs, margin, order),
        runs=runs,
    )
    write_json(experiment_dir / "summary.json", summary)
    write_text(experiment_dir / "summary.md", markdown(summary))
    return summary


def with_suspicions(run: Run, suspicions: list[str]) -> Run:
    """The run with what makes every run of its experiment suspect."""
    if not suspicions:
        return run
    level = "suspect" if run.verdict == "valid" else run.verdict
    added = [reason for reason in suspicions if reason not in run.reasons]
    return run.model_copy(update={"verdict": level, "reasons": run.reasons + added})


def _runs(experiment_dir: Path, interrupted: bool) -> tuple[list[Run], list[str]]:
    """In the order they were planned, tries of one beside each other; a note for each folder that was not judged, of an
    interrupted experiment also for one whose verdict is damaged."""
    runs: list[Run] = []
    notes: list[str] = []
    for run_dir in sorted((experiment_dir / "runs").iterdir(), key=_run_order):
        if not run_dir.is_dir() or run_dir.name.startswith("."):
            continue
        try:
            run = _run(run_dir)
        except ParseError:
            if not interrupted:
                raise
            run = None
        if run:
            runs.append(run)
        else:
            notes.append(f"Run {run_dir.name} was not judged: it is not in the table.")
    return runs, notes


def _run(run_dir: Path) -> Run | None:
    try:
        return read_record(RunFiles(run_dir).run, Run)
    except ParseError as error:
        raise ParseError(
            f"{RunFiles(run_dir).run} is damaged, or of another version of the lab: run loomlab judge on its folder, "
            "which makes it again from its raw files."
        ) from error


def _run_order(run_dir: Path) -> tuple[int, str]:
    number = run_dir.name.partition("-")[0]
    return (int(number) if number.isdecimal() else 0, run_dir.name)


def _started(stamp: str | None, runs: list[Run]) -> str | None:
    if stamp is None:
        return min((run.started for run in runs), default=None)
    return datetime.strptime(stamp, "%Y%m%dT%H%M%S%z").isoformat().replace("+00:00", "Z")


def columns() -> list[tuple[str, Callable[[Run], str]]]:
    """The table's columns after those of BEFORE: heading and cell."""
    found: list[tuple[str, Callable[[Run], str]]] = []
    for figure in EVERY:
        if figure is WAITING:
            found.append(("held KiB", lambda run: held_cell(run.live_bytes_per_request)))
        elif figure.column:
            found.append((figure.column.heading, partial(_cell, figure, figure.column.decimals)))
        if figure is P99:
            found.append(("errors", _errors))
    return [*found, ("verdict", lambda run: run.verdict)]


def _cell(figure: Figure, decimals: int, run: Run) -> str:
    return _number(figure.of(run), decimals)


def headings() -> tuple[str, ...]:
    """The table's headings."""
    return (*BEFORE, *(heading for heading, _ in columns()))


def cells(run: Run) -> tuple[str, ...]:
    """One row of the table, in the order of the headings."""
    return (
        run.run.partition("-")[0], run.approach, load_cell(run.load), *(cell(run) for _, cell in columns())
    )  # fmt: skip


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
    return UNKNOWN if parts == (None, None, None) else "/".join(map(_kib, parts))


def _kib(value: float | None) -> str:
    return UNKNOWN if value is None else f"{round(value / 2**10):,}"


def _number(value: float | None, decimals: int) -> str:
    return UNKNOWN if value is None else f"{value:,.{decimals}f}"


def _errors(run: Run) -> str:
    if run.errors is None:
        return UNKNOWN
    if not run.errors or not run.requests:
        return str(run.errors)
    share = 100 * run.errors / run.requests
    return f"{run.errors:,} ({share:.0f}%)" if share >= 10 else f"{run.errors:,} ({share:.2g}%)"


def withheld_notes(run: Run) -> list[str]:
    """Why percentiles of the table are missing."""
    withheld = run.latency_ms.withheld
    return [f"Its {name} is not given: {withheld[name]}." for name in ("p50", "p99") if name in withheld]


def _shared(of_each_run: list[list[str]]) -> list[str]:
    if len(of_each_run) < 2:
        return []
    return [text for text in of_each_run[0] if all(text in texts for texts in of_each_run)]


def footnotes(summary: Summary) -> list[str]:
    """What must be read beside the table; what is said of every run stands once."""
    shared = _shared([run.reasons for run in summary.runs])
    of_runs = {run.run: [*run.notes, *withheld_notes(run)] for run in summary.runs}
    noted = _shared([*of_runs.values()])
    notes = [f"every run: {reason}" for reason in shared]
    notes += [
        f"{run.run} ({run.verdict}): {reason}" for run in summary.runs for reason in run.reasons if reason not in shared
    ]
    notes += [f"every run: {note}" for note in noted]
    notes += [f"{name}: {note}" for name, told in of_runs.items() for note in told if note not in noted]
    notes += contrast_notes(summary.contrasts)
    notes += [*comparison_notes(summary.contrasts), *reading_notes(summary.contrasts), *summary.notes]
    if summary.runs:
        notes += [INTERIOR_NOTE, HELD_NOTE, *_waiting_notes(summary.runs)]
        notes += [*_model_notes(summary.runs), *_style_notes(summary.runs)]
    return notes


def _waiting_notes(runs: list[Run]) -> list[str]:
    """Under a closed load as many wait as there are connections."""
    counts = [f"{run.run} {run.live_requests:,}" for run in runs if run.live_requests and not run.load.closed_model]
    return [f"Held was measured while so many requests waited: {', '.join(counts)}."] if counts else []


def _style_notes(runs: list[Run]) -> list[str]:
    return [STYLE_NOTES[style] for style in dict.fromkeys(run.style for run in runs) if style in STYLE_NOTES]


def _model_notes(runs: list[Run]) -> list[str]:
    models = dict.fromkeys((run.tool, run.load.closed_model) for run in runs)
    return [(CLOSED_MODEL_NOTE if closed else OPEN_MODEL_NOTE).format(tool=name) for name, closed in models]


def stretch_lines(run: Run) -> list[str]:
    """What a run shows step by step, how it got over hangs of the backend, and what its failures were."""
    lines = [
        f"{run.run}, {step.offered_rps:,g} requests/s: {step.started_rps:,.1f} started, "
        f"{step.throughput_rps:,.1f} answered a second, p50 {_number(step.latency_ms.p50, 0)} ms, "
        f"p99 {_number(step.latency_ms.p99, 0)} ms, {step.errors:,} errors: {'held' if step.held else 'not held'}."
        for step in run.steps
    ]
    for hang in run.episodes:
        recovery = hang.recovery_s
        back = "not back within the run" if recovery is None else f"back {recovery:,.0f} s after its end"
        lines.append(
            f"{run.run}, backend's hang of {hang.end - hang.start:,.0f} s: "
            f"p50 before {_number(hang.before_p50_ms, 0)} ms, "
            f"the longest answer {_number(hang.worst_ms, 0)} ms, {back}."
        )
    if run.failures:
        kinds = ", ".join(f"{count:,} × {reason}" for reason, count in run.failures.items())
        took = run.failed_latency_ms.p50
        lines.append(f"{run.run}, failed: {kinds}" + (f"; they took {_number(took, 0)} ms at p50." if took else "."))
    return lines


def _stretches(runs: list[Run]) -> list[str]:
    lines = [f"- {line}" for run in runs for line in stretch_lines(run)]
    return ["", "Steps, episodes and failures:", "", *lines] if lines else []


def _scenario(scenario: SideBySide | None) -> list[str]:
    if scenario is None:
        return []
    origin = f"{scenario.experiment}, {scenario.run}" if scenario.experiment else "the lab's own"
    lines = ["", f"## {scenario.name}", "", f"{scenario.title} ({origin}). {scenario.question}", ""]
    published = "published" if scenario.experiment else "designed"
    lines += [f"| parameter | {published} | here, scale {scenario.scale:g} |", "|:--|:--|:--|"]
    rows = ((one.name, one.published, one.here) for one in scenario.parameters)
    lines += ["| " + " | ".join(map(table_cell, row)) + " |" for row in rows]
    return [*lines, *([""] if scenario.differs else []), *(f"- {text}" for text in scenario.differs)]


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
    parts = [
        f"{label} {environment[key]}"
        for label, key in (
            ("engine", "engine"),
            ("kernel", "kernel"),
            ("cgroup v", "cgroup"),
            ("size", "size"),
        )
        if environment.get(key) is not None
    ]
    if environment.get("cpus"):
        parts.insert(0, f"{environment['cpus']} CPUs")
    if environment.get("memory_bytes"):
        parts.insert(1, f"{environment['memory_bytes'] / 2**30:.1f} GiB")
    return "Host: " + (", ".join(parts).replace("cgroup v ", "cgroup v") or "unknown") + "."


def markdown(summary: Summary, opening: Sequence[str] = ()) -> str:
    """summary.md; `opening` are lines that stand before the table of all runs, in place of what is said of the
    contrasts; names and texts stay text."""
    lines = [f"# {summary.experiment}", ""]
    lines.append(f"Started {summary.started or 'unknown'}, finished {summary.finished or 'not: interrupted'}.")
    lines += ["", *opening] if opening else []
    lines += ["", "| " + " | ".join(headings()) + " |"]
    lines.append("|" + "|".join(":--" if name in TEXT_COLUMNS else "--:" for name in headings()) + "|")
    lines += ["| " + " | ".join(map(table_cell, cells(run))) + " |" for run in summary.runs]
    said = comparison_notes(summary.contrasts) if opening else []
    lines += ["", *(f"- {note}" for note in footnotes(summary) if note not in said)]
    lines += _stretches(summary.runs)
    collectors = [line for run in summary.runs if (line := collector_line(run))]
    lines += ["", "Collector and compilers, over the whole run:", ""] if collectors else []
    lines += [f"- {line}" for line in collectors]
    lines += _scenario(summary.scenario)
    lines += ["", environment_line(summary.environment)]
    sizes = summary.environment.get("sizes")
    if isinstance(sizes, dict) and sizes:
        lines += ["", "Sizes: " + ", ".join(f"`{key}={value}`" for key, value in sizes.items()) + "."]
    return "\n".join(map(_as_text, lines)) + "\n"


def table_cell(text: str) -> str:
    return text.replace("|", "\\|")


def _as_text(line: str) -> str:
    """A line in which nothing begins HTML, a link or a picture, nor another line."""
    return " ".join(line.splitlines()).replace("<", "&lt;").replace("[", "\\[")


def show(summary: Summary, console: Console) -> None:
    """The table, the reasons and the notes; plain text when the output is not a terminal."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for name in headings():
        table.add_column(name, justify="left" if name in TEXT_COLUMNS else "right", no_wrap=True)
    colours = {"valid": "green", "suspect": "yellow", "invalid": "red"}
    for run in summary.runs:
        *figures, level = (escape(cell) for cell in cells(run))
        table.add_row(*figures, f"[{colours[run.verdict]}]{level}[/]")
    console.print(f"\n{escape(summary.experiment)}, started {summary.started or 'unknown'}", highlight=False)
    console.print(table)
    for line in (line for run in summary.runs for line in stretch_lines(run)):
        console.print(f"- {escape(line)}", highlight=False)
    for note in footnotes(summary):
        console.print(f"- {escape(note)}", highlight=False)
    console.print(escape(environment_line(summary.environment)), highlight=False)
