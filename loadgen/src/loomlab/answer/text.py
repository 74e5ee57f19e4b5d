"""A summary in words: summary.md, and the table on the screen."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from loomlab.answer.capacity import capacity_lines
from loomlab.answer.figures import EVERY
from loomlab.answer.parity import EXPLAINED_NOTE, what_differs
from loomlab.basics.format import fixed, number, plain
from loomlab.records.load import Load
from loomlab.records.models import Run, Summary
from loomlab.statistics.comparison import FEWEST_BLOCKS

COLUMNS = [figure for figure in EVERY if figure.column]
HEADINGS = ("#", "approach", "load", *(figure.column[0] for figure in EVERY if figure.column), "verdict")
TEXT_COLUMNS = frozenset({"approach", "verdict"})
WIDEST_TABLE, LONGEST_LINE = 120, 10_000


def load_cell(load: Load) -> str:
    amounts, unit = load.amounts
    text = "–".join(f"{amount:,.9g}" for amount in amounts)
    return {"requests/s": f"{text}/s", "users": f"≤{text} u."}.get(unit, text)


def cells(run: Run) -> tuple[str, ...]:
    number = run.run.partition("-")[0]
    return (number, run.approach, load_cell(run.load), *(figure.cell(run) for figure in COLUMNS), run.verdict)


@dataclass(frozen=True)
class Remark:
    """What is said of a run, or once of every run, which has no verdict."""

    who: str
    verdict: str | None
    reason: str


def _doubts(run: Run) -> list[str]:
    # Trials are short, and what piles up beyond capacity depends on how long that lasts.
    names = () if (run.capacity_share or 0) >= 1 else ("p50", "p99")
    withheld = ((name, run.latency_ms.withheld.get(name)) for name in names)
    return [*run.reasons, *(f"Its {name} is not given: {why}." for name, why in withheld if why)]


def remarks(runs: Sequence[Run], texts_of: Callable[[Run], list[str]] = _doubts) -> list[Remark]:
    """First what is said of every run, where there are several."""
    texts = [(run, text) for run in runs for text in texts_of(run)]
    often = Counter(text for _, text in texts)
    shared = {text: None for _, text in texts if len(runs) > 1 and often[text] == len(runs)}
    own = [Remark(run.run, run.verdict, text) for run, text in texts if text not in shared]
    return [*(Remark("every run", None, text) for text in shared), *own]


def model_notes(runs: Sequence[Run]) -> list[str]:
    return lines("methods.txt", **_methods(runs))


def _methods(runs: Sequence[Run]) -> dict[str, object]:
    tools = [*dict.fromkeys((run.tool, run.load.closed_model) for run in runs)]
    return {"tools": tools, "in_turn": any(run.partner for run in runs), "foreign": any(run.foreign for run in runs)}


def footnotes(summary: Summary, brief: bool = False) -> list[str]:
    """What must be read beside the table. Brief: without how figures are measured, and without differences between
    approaches that belong to them, but with what is said of the contrasts that were declared."""
    runs = summary.runs
    every = ((contrast.kind, one) for contrast in summary.contrasts for one in contrast.comparisons)
    comparisons = [one for kind, one in every if kind == "settings" or one.word != "exploratory"]
    return lines(
        "notes.txt",
        remarks=[*remarks(runs), *(replace(one, verdict=None) for one in remarks(runs, lambda run: run.notes))],
        contrasts=summary.contrasts,
        declared=comparisons,
        what_differs=what_differs,
        notes=[note for note in summary.notes if not (brief and note.startswith(EXPLAINED_NOTE))],
        brief=brief,
        single=brief and len({run.approach for run in runs}) > 1 and all(run.repeat < FEWEST_BLOCKS for run in runs),
        **_methods(runs),
    )


def stretch_lines(runs: Sequence[Run]) -> list[str]:
    """What runs show step by step and by kind of request; how they got over hangs of the backend; what their failures
    were."""
    return lines("stretches.txt", runs=runs, fixed=fixed, number=number)


def host_lines(environment: Mapping[str, Any]) -> list[str]:
    """The host, and nodes where there are several."""
    return lines("host.txt", host=defaultdict(lambda: None, environment))


def markdown(summary: Summary, opening: Sequence[str]) -> str:
    """summary.md; `opening` stands before the table; names stay plain text."""
    return _rendered(
        "summary.md",
        # No HTML, link, picture or other line.
        lambda value: _one_line(value).replace("<", "&lt;").replace("[", "&#91;"),
        summary=summary,
        opening=opening,
        table=table_lines(HEADINGS, [cells(run) for run in summary.runs], TEXT_COLUMNS),
        notes=footnotes(summary),
        stretches=stretch_lines(summary.runs),
        host=host_lines(summary.environment),
    )


def lines(template: str, **values: object) -> list[str]:
    """Of plain text, whatever lines the values have."""
    return [line for line in _rendered(template, _one_line, **values).splitlines() if line]


def _rendered(template: str, finalize: Callable[[object], str], **values: object) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - most commands need none

    templates = Environment(  # noqa: S701 - `finalize` escapes for Markdown
        loader=PackageLoader("loomlab.answer"),
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return templates.get_template(template).render(values)


def _one_line(value: object) -> str:
    return plain(" ".join(str(value).splitlines()))[:LONGEST_LINE]


def readable(value: Any) -> Any:
    """For a page: a text without what `plain` replaces; markup and what is no text as it is."""
    return plain(value, lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], left: frozenset[str]) -> list[str]:
    escaped = ([re.sub(r"[\\|]", r"\\\g<0>", cell) for cell in row] for row in (headings, *rows))
    lines = [f"| {' | '.join(row)} |" for row in escaped]
    rule = "|".join(":--" if heading in left else "--:" for heading in headings)
    return [lines[0], f"|{rule}|", *lines[1:]]


def show(summary: Summary, console: Console) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in TEXT_COLUMNS else "right", no_wrap=True)
    colours = {"valid": "green", "suspect": "yellow", "invalid": "red"}
    for run in summary.runs:
        *figures, verdict = (escape(_one_line(cell)) for cell in cells(run))
        table.add_row(*figures, f"[{colours[run.verdict]}]{verdict}[/]")
    console.print(f"\n{escape(_one_line(summary.experiment))}, started {summary.started or 'unknown'}", highlight=False)
    console.print(table)
    lines = (f"- {line}" for line in (*stretch_lines(summary.runs), *footnotes(summary, brief=True)))
    for line in (*capacity_lines(summary.runs, summary.contrasts), *lines, *host_lines(summary.environment)):
        console.print(escape(_one_line(line)), highlight=False)
