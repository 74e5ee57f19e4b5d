"""docs/reproduced.md: every claim with its answer, and what was published beside what was measured."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from loomlab.answer.papers.answers import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, UNTESTED, Answer, Part, answers_of
from loomlab.answer.papers.beside import Beside, beside, mean_of, runs_of, setup_rows
from loomlab.answer.papers.figures import LATENCIES
from loomlab.answer.papers.library import Listed
from loomlab.answer.papers.measured import KeptExperiment, KeptRun, Measured, read_measured
from loomlab.answer.papers.model import NoTest, Paper, RatioTest, SlopeTest, Test

OUTCOMES = (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, UNTESTED)
PUBLISHED = "loadgen/published"
HEAD = """\
# Are they true here?

What five published experiments claim, and what the lab finds. `make reproduce PAPER=…` writes this page from what is
kept in `loadgen/published/measured/`; [papers.md](papers.md#reproducing-one) says how claims are answered and what the
four answers mean. Levels are those of the published run, with the load that was run here in brackets. Intervals are at
95 %, each by itself; of three or four blocks they are coarse. Figures are of the lab as it was on their date: later
changes that the [changelog](../CHANGELOG.md) marks *figures* may move them.

Approaches of different servers are whole stacks. With `HTTP_CLIENT=default` they also call the backend through
different clients: webflux-netty, virtual-netty and microhttp-async through reactor-netty, the others through Apache
HttpClient. So a claim that compares, for instance, tomcat-virtual with webflux-netty says nothing about the concurrency
model alone.
"""
KIB = 1024
UNITS = {
    ".heap": (KIB, " KiB"),
    "_bytes": (2**20, " MiB"),
    "_share": (0.01, " %"),
    "_ms": (1, " ms"),
    "_ms_per_request": (1, " ms"),
    "_s": (1, " s"),
    "_rps": (1, " requests/s"),
}


@dataclass(frozen=True)
class Answered:
    """A paper with what was measured of it, and where that is kept."""

    listed: Listed
    measured: dict[str, Measured]
    folder: Path

    @property
    def paper(self) -> Paper:
        return self.listed.paper

    @property
    def answers(self) -> list[Answer]:
        return answers_of(self.paper, self.measured)

    @property
    def experiments(self) -> list[KeptExperiment]:
        """Oldest first."""
        return sorted((one for kept in self.measured.values() for one in kept.experiments), key=lambda one: one.started)


def answered(listed: Sequence[Listed], folder: Path) -> list[Answered]:
    """Each of the papers, from what is kept below the folder."""
    return [Answered(one, read_measured(folder, one.name), folder / one.name) for one in listed]


def page_of(papers: Sequence[Answered]) -> str:
    return "\n".join([HEAD, *_overview(papers), *(line for one in papers for line in _section(one))]) + "\n"


def _overview(papers: Sequence[Answered]) -> Iterator[str]:
    yield "| paper | claims | " + " | ".join(OUTCOMES) + " | measured |"
    yield "|:--|--:|--:|--:|--:|--:|:--|"
    for one in papers:
        answers = one.answers
        counts = [sum(answer.outcome == outcome for answer in answers) for outcome in OUTCOMES]
        cells = [
            f"[{one.listed.name}](#{one.listed.name})",
            str(len(answers)),
            *map(str, counts),
            _dates(one.experiments),
        ]
        yield _row(cells)
    yield ""


def _section(one: Answered) -> Iterator[str]:
    paper = one.paper
    source = f"[{paper.title}]({paper.url})" if paper.url else paper.title
    yield f"## {one.listed.name}"
    yield ""
    yield f"{source}, {paper.author or 'author not named'}, {paper.year}."
    yield ""
    yield from (f"- {remark}" for remark in paper.remarks)
    yield from [""] if paper.remarks else []
    for step, measured in one.measured.items():
        yield from (f"- {line}" for line in _experiments(one.listed.name, step, measured))
    yield from _hosts(one)
    for step, path in _pictures(one):
        yield from ["", f"![{step}](../{PUBLISHED}/{path})"]
        if told := _drawn_from(paper, one.measured[step]):
            yield from ["", told]
    if one.measured:
        yield ""
    yield "| claim | answer | here | why |"
    yield "|:--|:--|:--|:--|"
    yield from (_row(_claim(answer, paper.levels.unit)) for answer in one.answers)
    yield ""
    yield from _beside(one)
    yield from _doubted(one)


def _experiments(paper: str, step: str, measured: Measured) -> Iterator[str]:
    """A line for those that differ only in the order of their runs, which SEED sets."""
    if measured.left_out:
        yield f"{step}: left out. {measured.left_out}"
    alike: dict[tuple[str, ...], list[KeptExperiment]] = {}
    for one in measured.experiments:
        told = (
            " ".join([f"PAPER={paper}", *(f"{key}={value}" for key, value in one.asked.items() if key != "SEED")]),
            f"{one.setup.get('machine', 'machine not recorded')}; JDK {one.setup.get('JDK', 'not recorded')}",
            *one.left_out,
        )
        alike.setdefault(told, []).append(one)
    for (asked, host, *left_out), experiments in alike.items():
        blocks = _blocks(experiments)
        seeds = ", ".join(one.asked["SEED"] for one in experiments if "SEED" in one.asked)
        yield (
            f"{step}: {_dates(experiments)}, `make reproduce {asked}`"
            + (f" with SEED={seeds}" if seeds else "")
            + f"; {blocks} block{'' if blocks == 1 else 's'}; {host}; runs: {_verdicts(experiments)}"
        )
        yield from (f"{step}: {sentence}" for sentence in left_out)
    if len(measured.declared) > 1:
        looks = ", then with ".join(map(str, measured.declared))
        yield f"{step}: answered with {looks} blocks; each look finds more differences where there are none"


def _hosts(one: Answered) -> Iterator[str]:
    if len({kept.setup.get("machine") for measured in one.measured.values() for kept in measured.experiments}) > 1:
        yield ""
        yield (
            "The blocks were measured on different hosts, as named above. A ratio between approaches compares runs of "
            "one block, and so of one host. If ratios differ between hosts, their interval is wider. Other figures are "
            "averaged over the hosts."
        )


def _verdicts(experiments: Sequence[KeptExperiment]) -> str:
    runs = [run for one in experiments for run in one.runs]
    counts = {level: sum(run.verdict == level for run in runs) for level in ("valid", "suspect", "invalid")}
    verdicts = ", ".join(f"{count} {level}" for level, count in counts.items() if count)
    spoilt = sum(run.spoilt for run in runs)
    return verdicts + (f", {spoilt} of these spoilt by the host" if spoilt else "")


def _dates(experiments: Sequence[KeptExperiment]) -> str:
    dates = sorted({one.started[:10] for one in experiments})
    return " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "not yet"


def _pictures(one: Answered) -> Iterator[tuple[str, str]]:
    """Of the scenarios, where `keep` has put one."""
    for step in one.listed.scenarios:
        if step in one.measured and (one.folder / f"{step}.svg").exists():
            yield step, f"measured/{one.listed.name}/{step}.svg"


def _drawn_from(paper: Paper, measured: Measured) -> str | None:
    """Said where it is not all that is kept."""
    of = next((one for one in measured.experiments if one.name == measured.drawn_from), None)
    if of is None:
        return None
    made = f"made on {of.started[:10]} ({of.name})"
    kind = paper.drawn.kind if paper.drawn else None
    every = _blocks(measured.experiments)
    if kind == "course" and every > 1:
        return f"The charts show one run of each approach, {made}."
    blocks = min(_blocks([of]), 2) if kind == "iterations" else _blocks([of])
    return f"The charts are of {blocks} of these {every} blocks, {made}." if blocks < every else None


def _blocks(experiments: Sequence[KeptExperiment]) -> int:
    return len({(one.name, run.repeat) for one in experiments for run in one.runs})


def _claim(answer: Answer, unit: str) -> list[str]:
    claim = answer.claim
    said = f"{claim.says} ({', '.join(claim.place)})" + (f" *{claim.remark}*" if claim.remark else "")
    return [said, f"**{answer.outcome}**", "<br>".join(found_of(answer, unit)), "<br>".join(why_of(answer, unit))]


def found_of(answer: Answer, unit: str) -> list[str]:
    """Of each figure a line that names it and its limits, then each level with its interval, and what was published of
    it."""
    test = answer.claim.decided_by
    if isinstance(test, NoTest):
        return []
    by_figure: dict[str, list[str]] = {}
    for part in answer.parts:
        if part.centre is None:
            continue
        ends = part.centre, part.low or 0.0, part.high or 0.0
        ratio = isinstance(test, RatioTest)
        centre, low, high = _ratios(*ends) if ratio else [_amount(test, value, part.figure, unit) for value in ends]
        own = [_amount(test, value, part.figure, unit) for value in part.published]
        published = f"; published {', '.join(own)}" if own else ""
        figure = f"{_name(part)}, {_limits(test, part.figure, unit)}"
        found = f"{_place(answer, part, unit)}: {centre} ({low} to {high}){published}"
        by_figure.setdefault(figure, []).append(found)
    return [line for figure, found in by_figure.items() for line in (figure, *found)]


def why_of(answer: Answer, unit: str) -> list[str]:
    """Each reason with where it holds, a line for each contrast: of the parts that decide, and then of the others, with
    their answer."""
    if answer.why:
        return [answer.why]
    whys = [_why(answer, part) for part in answer.parts]
    alike = len({*whys}) == 1 or len({_name(part) for part in answer.parts}) == 1
    reasons: dict[tuple[str, str], list[Part]] = {}
    for part, why in sorted(zip(answer.parts, whys, strict=True), key=lambda one: one[0].outcome != answer.outcome):
        reasons.setdefault((why, "" if alike else f"{_name(part)} at "), []).append(part)
    told = []
    for (why, name), parts in reasons.items():
        places = [*dict.fromkeys(_load_of(answer, part) for part in parts)]
        where = ", ".join(places) + ("" if parts[0].level is None else f" {unit}")
        told.append(f"{name}{where}: {why}")
    return told


def _why(answer: Answer, part: Part) -> str:
    if part.outcome == answer.outcome:
        return part.why
    return part.outcome + (f", {part.why}" if part.outcome in {INCONCLUSIVE, UNTESTED} else "")


def _name(part: Part) -> str:
    return f"{part.figure} of {part.of}"


def _limits(test: Test, figure: str, unit: str) -> str:
    told = [
        f"{word} {_amount(test, limit, figure, unit)}"
        for word, limit in (("above", test.above), ("below", test.below))
        if limit is not None
    ]
    return f"to be {' and '.join(told)}"


def _place(answer: Answer, part: Part, unit: str) -> str:
    return f"{_load_of(answer, part)} {unit}"


def _load_of(answer: Answer, part: Part) -> str:
    """The level, or the scenario where there are several, and what it is held against."""
    if part.level is None:
        return part.at
    several = len({one.at for one in answer.parts}) > 1
    here = part.at + _run_as(part.level, part.amount) if several else _load(part.level, part.amount)
    if part.base is None:
        return here
    base = _load(part.base, part.base_amount)
    return f"{base} to {here}" if isinstance(answer.claim.decided_by, SlopeTest) else f"{here} against {base}"


def _amount(test: Test, value: float, figure: str, unit: str) -> str:
    """As the test has it: a ratio, a figure, or a figure for each connection or user."""
    if isinstance(test, RatioTest):
        return number(value)
    if isinstance(test, SlopeTest):
        each = f"{number(value / KIB)} KiB" if figure.endswith("_bytes") else _told(value, figure)
        return f"{each} per {unit.removesuffix('s')}"
    return _told(value, figure)


def _told(value: float | None, figure: str) -> str:
    if value is None:
        return "–"
    divisor, unit = next((UNITS[end] for end in UNITS if figure.endswith(end)), (1, ""))
    if figure.startswith(LATENCIES):
        unit = " ms"
    return number(value / divisor) + unit


def _ratios(centre: float, low: float, high: float) -> list[str]:
    """With as many decimals as give the interval's width three digits: its ends may be close to each other and to 1."""
    width = high - low
    decimals = min(6, max(2, 2 - math.floor(math.log10(width)))) if width > 0 else 3
    return [f"{value:,.{decimals}f}" for value in (centre, low, high)]


def number(value: float) -> str:
    """With four digits that count."""
    return f"{value:,.0f}" if abs(value) >= 999.95 else f"{value:.4g}"


def _beside(one: Answered) -> Iterator[str]:
    """Of each of the scenarios that were run: the set-up, the paper's figures by its tables, and what it announced."""
    for step in one.listed.scenarios:
        measured = one.measured.get(step)
        if measured is None or not measured.experiments:
            continue
        runs = runs_of(measured)
        rows = [row for row in beside(one.paper, runs) if row.values]
        yield f"<details><summary>Published beside measured: {step}</summary>"
        yield ""
        yield "| where | what | published | here |"
        yield "|:--|:--|--:|--:|"
        yield from (_row(["set-up", *cells]) for cells in setup_rows(one.paper, measured.experiments))
        yield from (_row(_figure(row, one.paper.levels.unit)) for row in rows)
        yield from map(_row, _announced(one.paper, runs))
        yield ""
        yield from (f"- {note}" for note in notes_of(one.paper, [row.cell.table for row in rows]))
        yield from ["", "</details>", ""]


def _announced(paper: Paper, runs: Sequence[KeptRun]) -> Iterator[list[str]]:
    """What the text says will follow, of every approach at every level."""
    approaches = dict.fromkeys(table.approach for table in paper.tables if table.approach)
    figures = [figure for announced in paper.announced for figure in announced.measured]
    amounts = {run.level: run.amount for run in runs}
    for figure, approach, level in product(figures, approaches, paper.levels.values):
        mean = mean_of(runs, figure, approach, level)
        if mean is not None:
            where = f"{approach}, {_load(level, amounts[level])} {paper.levels.unit}"
            yield [where, figure, "announced", _told(mean, figure)]


def _doubted(one: Answered) -> Iterator[str]:
    """The runs that are not valid; those of one approach and load with the same kinds of reasons share a row."""
    alike: dict[tuple[str, str, int, float, str, tuple[str, ...]], list[KeptRun]] = {}
    for step, measured in one.measured.items():
        for run in runs_of(measured):
            if run.verdict != "valid":
                kinds = tuple(_kind(reason) for reason in run.reasons)
                alike.setdefault((step, run.approach, run.level, run.amount, run.verdict, kinds), []).append(run)
    if not alike:
        return
    yield "<details><summary>Runs that are not valid, and why</summary>"
    yield ""
    yield "| experiment | runs | verdict | reasons, of the last of them |"
    yield "|:--|:--|:--|:--|"
    for (step, approach, level, amount, verdict, _), runs in alike.items():
        of = f"{len(runs)} of {approach}, {_load(level, amount)} {one.paper.levels.unit}"
        yield _row([step, of, verdict, " ".join(runs[-1].reasons)])
    yield from ["", "</details>", ""]


def _kind(reason: str) -> str:
    """How it begins, but for its figures."""
    return " ".join([word for word in reason.split() if word.isalpha()][:3])


def notes_of(paper: Paper, tables: Sequence[str]) -> list[str]:
    """Of these tables: what of their rows is not the same thing here, each once."""
    return [*dict.fromkeys(note for table in paper.tables if table.name in tables for note in table.notes)]


def _figure(row: Beside, unit: str) -> list[str]:
    cell = row.cell
    what = f"{cell.row.strip(':')}{f', {cell.column}' if cell.column else ''}, {cell.unit}"
    low, high = number(min(row.values)), number(max(row.values))
    span = f" ({low} to {high})" if len(row.values) > 1 else ""
    measured = number(row.centre or 0.0) + span + (", invalid" if row.invalid else "")
    return [f"{cell.table}, {_load(cell.level, row.amount)} {unit}", what, number(cell.value), measured]


def _load(level: int | None, amount: float | None) -> str:
    return f"{level:,}" + _run_as(level, amount)


def _run_as(level: int | None, amount: float | None) -> str:
    """In brackets what was run in the place of the published load."""
    return "" if amount in {None, level} else f" [{amount:,g}]"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
