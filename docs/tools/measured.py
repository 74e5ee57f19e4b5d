"""The README's answer, charts and results/measured.md, from kept summaries: `python measured.py LAB FOLDER`."""

import gzip
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from string import ascii_uppercase
from typing import NamedTuple

from loomlab.answer.figures import (
    CAPACITY,
    CPU,
    CPU_WITH_DATABASE,
    MEMORY,
    P50,
    P99,
    PARTS,
    RSS,
    THREADS,
    THROUGHPUT,
    Figure,
    measured_figures,
)
from loomlab.answer.loads import load_groups
from loomlab.answer.text import host_lines, stretch_lines
from loomlab.basics.format import counted, number, percent
from loomlab.basics.grouping import grouped
from loomlab.records.contrasts import Comparison
from loomlab.records.models import Summary
from loomlab.report.chart import INK, SOFT, drawing, named_rows, new_axes
from loomlab.report.experiment import Experiment, effect_cell, table_of, with_interval
from loomlab.report.opening import caveats_of, opening_of
from loomlab.statistics.comparison import FEWEST_FINE_BLOCKS
from loomlab.statistics.paired import why_not

FLIP = (
    "make flip SUBJECTS=examples/orders/compose.yaml SERVICE=orders READY=/actuator/health/readiness "
    "METRICS=/actuator/prometheus ENDPOINT=/orders/1 RATE=200 SLO='p99<1s,errors<0.1%' "
    "A=ENV:SPRING_THREADS_VIRTUAL_ENABLED=false B=ENV:SPRING_THREADS_VIRTUAL_ENABLED=true "
    "SLOW=PAYMENTS_ANSWERS_AFTER_MS=1000 SMALL=ENV:SERVER_TOMCAT_THREADS_MAX=30 REPEATS=3"
)
KEPT = {
    "headline": ("With the read time-out", "make sweep CONCURRENCY=500,2000"),
    "headline-earlier": ("The same on another host", "make sweep CONCURRENCY=500,2000"),
    "headline-slower": ("The same on a slower host", "make sweep CONCURRENCY=500,2000"),
    "headline-untimed": ("Without a read time-out", "make sweep CONCURRENCY=500,2000 RESPONSE_TIMEOUT_MS=0"),
    "webflux-tomcat": (
        "From WebFlux to Tomcat",
        "make sweep APPROACH=tomcat-virtual,webflux-netty CONCURRENCY=500,2000",
    ),
    "connections-10000": ("10,000 connections", "make sweep CONCURRENCY=10000 TOOL=ab REPEATS=2"),
    "capacity": (
        "Capacity",
        "make capacity SLO='p99<1500ms,errors<0.1%' ENDPOINT='/capabilities?cpuMicros=1000' DELAY=uniform:200:400",
    ),
    "capacity-carriers": (
        "Capacity, one carrier thread and two",
        "make capacity APPROACH=tomcat-virtual SLO='p99<1500ms,errors<0.1%' ENDPOINT='/capabilities?cpuMicros=1000' "
        "DELAY=uniform:200:400 A=CARRIERS=1 B=CARRIERS=2 REPEATS=3 FAIL='capacity_rps<-10%'",
    ),
    "pool-5": ("A pool of 5 connections", "make sweep CONCURRENCY=100 DELAY=20 POOL=5 REPEATS=3"),
    "pool-50": ("A pool of 50 connections", "make sweep CONCURRENCY=100 DELAY=20 POOL=50 REPEATS=3"),
    "hang": ("A backend that hangs", "make scenario NAME=slow-backend APPROACH=headline REPEATS=3"),
    "hang-limit": (
        "A backend that hangs, with a bound",
        "make scenario NAME=slow-backend APPROACH=headline REPEATS=3 LIMIT=400",
    ),
    "mix": ("A mixed load", "make sweep RATE=100 REQUESTS_FILE=examples/mix.yaml DELAY=uniform:200:400 REPEATS=3"),
    "mix-carriers": (
        "A mixed load, one carrier thread and two",
        "make compare APPROACH=tomcat-virtual RATE=100 REQUESTS_FILE=examples/mix.yaml DELAY=uniform:200:400 "
        "A=CARRIERS=1 B=CARRIERS=2 REPEATS=3",
    ),
    "database-reads": (
        "Reading from a database",
        "make sweep REQUESTS_FILE=examples/database/reads.yaml RATE=1000 REPEATS=3",
    ),
    "database-untimed": (
        "Reading from a database without a read time-out",
        "make sweep APPROACH=tomcat-platform,tomcat-virtual REQUESTS_FILE=examples/database/reads.yaml RATE=1000 "
        "REPEATS=3 RESPONSE_TIMEOUT_MS=0",
    ),
    "database-orders": (
        "Transactions",
        "make sweep REQUESTS_FILE=examples/database/orders.yaml RATE=300 REPEATS=3",
    ),
    "database-jdk": (
        "A database on JDK 21 and on 25",
        "make compare APPROACH=tomcat-virtual REQUESTS_FILE=examples/database/reads.yaml RATE=1000 A=JDK=21 B=JDK=25 "
        "REPEATS=3",
    ),
    "database-jdk-netty": (
        "The same on Netty",
        "make compare APPROACH=virtual-netty REQUESTS_FILE=examples/database/reads.yaml RATE=1000 A=JDK=21 B=JDK=25 "
        "REPEATS=3",
    ),
    "database-carriers": (
        "A database, one carrier thread and four",
        "make compare APPROACH=tomcat-virtual JDK=21 REQUESTS_FILE=examples/database/reads.yaml RATE=1000 "
        "A=CARRIERS=1 B=CARRIERS=4 REPEATS=3",
    ),
    "database-pools": (
        "What a pool of 5, 20 and 100 connections holds",
        "make capacity APPROACH=tomcat-virtual ENDPOINT='/orders/slow?millis=20' SLO='p99<100ms,errors<0.1%' A=POOL=5 "
        "B=POOL=20 C=POOL=100 REPEATS=3",
    ),
    "database-stall": (
        "A pool of 5, 20 and 100 connections while statements stall",
        "make compare APPROACH=tomcat-virtual REQUESTS_FILE=examples/database/stall.yaml RATE=100 CONCURRENCY=400 "
        "A=POOL=5 B=POOL=20 C=POOL=100 REPEATS=3",
    ),
    "database-stall-reactive": (
        "The same in reactive code",
        "make compare APPROACH=webflux-netty REQUESTS_FILE=examples/database/stall.yaml RATE=100 CONCURRENCY=400 "
        "A=POOL=5 B=POOL=20 C=POOL=100 REPEATS=3",
    ),
    "orders": ("A user's service, platform and virtual threads", FLIP),
    "orders-capacity": ("The same, its capacity", FLIP),
    "orders-slow": ("The same, with slow answers", FLIP),
    "orders-small": ("The same, with a pool of 30 threads", FLIP),
    "all-ten": ("All ten approaches", "make sweep APPROACH=all CONCURRENCY=1000 TOOL=hey REPEATS=2"),
}
"""Title and command of each summary in results/measured/, which is gzipped JSON."""
WITHOUT_TABLE = {
    "capacity-carriers", "headline-earlier", "headline-slower", "database-pools", "database-untimed", "orders-capacity",
    "capacity", "mix-carriers",
}  # fmt: skip
"""Those whose sentences are enough."""
PAIRS = {
    "tomcat-virtual": "**virtual instead of platform threads**, on Tomcat",
    "virtual-netty": "**virtual threads instead of reactive code**, on Netty",
}
"""Contrasts of the answer, by the side whose figures are compared with the other's."""
SHOWN = (CPU, CPU_WITH_DATABASE, MEMORY, P50, P99, THROUGHPUT, RSS, THREADS)
DARK = {"ink": "#e6e8eb", "soft": "#a3abb5", "grid": "#2a2f37"}
ADVICE = re.compile(r"[;:,] (?:and )?(?:find out|measure again|raise|see|use)\b.*")
NUMBER = re.compile(r"\b\d[\d,]*(?:\.\d+)?\b")
ROW_IN, EDGE_IN = 0.45, 0.75


class Answer(NamedTuple):
    what: str
    experiment: Experiment
    side: str
    load: str

    def by(self, figure: Figure, load: str | None = None) -> Comparison:
        every = self.experiment.comparisons(figure, load or self.load)
        return next(one for one in every if one.a == self.side)


def kept(docs: Path) -> dict[str, Experiment]:
    """Those experiments of `KEPT` that there are."""
    found = {}
    for name in KEPT:
        if (path := docs / "results" / "measured" / f"{name}.json.gz").exists():
            summary = Summary.model_validate_json(gzip.decompress(path.read_bytes()), extra="ignore")
            found[name] = Experiment(name, summary, None, load_groups(summary.runs))
    return found


def answers(experiments: Mapping[str, Experiment]) -> list[Answer]:
    """A row each, at the highest load: the pairs with the read time-out, the first one also without it; and the way
    from WebFlux to Tomcat."""
    timed, untimed = experiments["headline"], experiments.get("headline-untimed")
    load = timed.loads[-1].label
    rows = [Answer(what, timed, side, load) for side, what in PAIRS.items()]
    if untimed:
        rows.insert(1, Answer("the same without a read time-out of backend calls", untimed, rows[0].side, load))
    if across := experiments.get("webflux-tomcat"):
        rows.append(Answer("**Tomcat on virtual threads instead of WebFlux**", across, "tomcat-virtual", load))
    return rows


def answer(experiments: Mapping[str, Experiment]) -> list[str]:
    """Lines of the README: memory at the highest load, CPU at each."""
    rows, loads = answers(experiments), [load.label for load in experiments["headline"].loads]
    headings = ["", "memory per in-flight request", *(f"CPU per request at {load}" for load in loads)]
    lines = ["| " + " | ".join(headings) + " |", "|:--" * len(headings) + "|"]
    for row in rows:
        cells = [_cell(row.by(MEMORY)), *(_cell(row.by(CPU, load)) for load in loads)]
        lines.append("| " + " | ".join([row.what, *cells]) + " |")
    days = dict.fromkeys((row.experiment.summary.started or "")[:10] for row in rows)
    brackets = f"95 % intervals are in brackets; memory is that at {rows[0].load}."
    apart = "Compare within a row only: not all are of one machine."
    return [*lines, "", f"Measured on {' and '.join(days)}; {brackets} {apart} [Every run](docs/results/measured.md)."]


def _cell(one: Comparison) -> str:
    within = f", within ±{percent(one.margin or 0)}"
    words = {"no difference": within, "equivalent": within, "not significant": f", not significant{why_not(one)}"}
    few = f", {counted(len(one.blocks), 'block')} only" if len(one.blocks) < FEWEST_FINE_BLOCKS else ""
    means = f"{number(one.a_mean)} instead of {number(one.b_mean)} {one.unit}".rstrip()
    return f"{means}: {with_interval(*effect_cell(one))}{words.get(one.word, '')}{few}"


def memory(experiments: Mapping[str, Experiment]) -> list[str]:
    """The parts of memory per in-flight request at the highest load, in lines."""
    experiment = experiments["headline"]
    return table_of([row for row in experiment.rows if row.load is experiment.loads[-1]], [MEMORY, *PARTS])


def page(experiments: Mapping[str, Experiment]) -> str:
    """Each experiment's command, host, sentences and table."""
    doubts = {name: _doubts(experiment) for name, experiment in experiments.items()}
    shared = [one for one in next(iter(doubts.values())) if all(one in each for each in doubts.values())]
    hosts = {name: " ".join(host_lines(each.summary.environment)) for name, each in experiments.items()}
    letters = dict(zip(dict.fromkeys(hosts.values()), ascii_uppercase, strict=False))
    lines = ["# Measured", "", "What the lab found with its own services, one experiment per section.", *shared, ""]
    lines += [f"- {text.replace('Host:', f'Host {letter}:')}" for text, letter in letters.items()]
    for name, experiment in experiments.items():
        title, command = KEPT[name]
        summary, opening = experiment.summary, opening_of(experiment)
        compared = any(one.interval for one in experiment.comparisons(CPU))
        unclear = [opening.unclear] if opening.unclear else []
        searched = CAPACITY in measured_figures(experiment.runs)  # what else it compares is at shares of each one's own
        told = [*opening.found, *unclear, *([] if searched else opening.more)] if compared else opening.more
        # The table has exploratory figures, and advice is empty on a page of results.
        said = [sentence for sentence in told if "exploratory" not in sentence and "REPEATS=" not in sentence]
        own = (one for one in doubts[name] if one not in shared)
        lines += ["", f"## {title}", f"`{command}`, {(summary.started or '')[:10]}, host {letters[hosts[name]]}."]
        lines += [f"{caveats_of(experiment).counts} [Summary](measured/{name}.json.gz).", ""]
        stretches = _means(map(_of_approach, stretch_lines(summary.runs)))
        lines += [f"- {sentence}" for sentence in (*said, *own, *stretches)]
        lines += ["", *table_of(experiment.rows, _shown(experiment))] if name not in WITHOUT_TABLE else []
    return "\n".join(lines) + "\n"


def _shown(experiment: Experiment) -> list[Figure]:
    told = measured_figures(experiment.runs)
    return [one for one in SHOWN if one in told and (one is not P50 or not experiment.summary.runs[0].closed_model)]


def _doubts(experiment: Experiment) -> list[str]:
    caveats = caveats_of(experiment)
    found = [(one.verdict or "every run", one.reason) for one in caveats.of_runs if one.verdict != "valid"]
    # Without advice, which is empty on a page of results.
    of_runs = _once((verdict, ADVICE.sub(".", reason)) for verdict, reason in found)
    return list(dict.fromkeys([*caveats.whole, *_dropped(experiment), *caveats.host, *of_runs]))


def _once(told: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What of the same subject differs by numbers alone, once, with the largest ones: a subject and a text each."""
    for (subject, _), alike in grouped(told, lambda one: (one[0], NUMBER.sub("", one[1]))).items():
        largest = max((text for _, text in alike), key=lambda text: [*map(_value, NUMBER.findall(text))])
        several = f" ({len(alike)}, for instance)" if len(alike) > 1 else ""
        yield f"{subject}{several}: {largest}"


def _means(told: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What of the same subject differs by numbers alone, once, with the means of these: a subject and a text each."""
    for (subject, _), alike in grouped(told, lambda one: (one[0], NUMBER.sub("", one[1]))).items():
        columns = zip(*(NUMBER.findall(text) for _, text in alike), strict=True)
        means = iter([each[0] if len({*each}) == 1 else number(fmean(map(_value, each))) for each in columns])
        several = f" (means of {len(alike)})" if len(alike) > 1 else ""
        yield f"{subject}{several}: {_replaced(alike[0][1], means)}"


def _replaced(text: str, numbers: Iterator[str]) -> str:
    return NUMBER.sub(lambda _: next(numbers), text)


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _of_approach(line: str) -> tuple[str, str]:
    """The approach of the run that the line tells of, and what it tells."""
    run, told = re.split("[,:] ", line, maxsplit=1)
    return run.partition("-")[2], told


def _dropped(experiment: Experiment) -> Iterator[str]:
    told = measured_figures(experiment.runs)
    of_page = (CPU, MEMORY) if CAPACITY in told else (CPU, MEMORY, P99)
    for figure in (figure for figure in of_page if figure in told):
        for one in experiment.comparisons(figure):
            if one.dropped and one.blocks:
                blocks = ", ".join(reason.partition(" (")[0] for reason in one.dropped)
                yield f"{one.figure} of {one.a} and {one.b} at {one.load} is not compared in {blocks}."


def chart(rows: Sequence[Answer]) -> str:
    """Memory and CPU of each answer, in percent of the other side's, with their intervals, as SVG."""
    axes = new_axes(ROW_IN * 2 * len(rows) + EDGE_IN)
    names: list[str] = []
    for figure, row in product((MEMORY, CPU), rows):
        one = row.by(figure)
        percents = [_percent(one, value) for value in (one.effect, one.low, one.high) if value is not None]
        axes.plot(percents[1:], [len(names)] * len(percents[1:]), color=SOFT, linewidth=4, alpha=0.5)
        axes.plot(percents[:1], [len(names)], "o", color=INK, markersize=5)
        names.append(f"{figure.title}: {row.what.replace('*', '')}")
    named_rows(axes, names)
    axes.axvline(0, color=SOFT, linestyle="--", linewidth=1)
    axes.set_xlabel("change, %")
    return drawing(axes, "what virtual threads change").svg


def _percent(comparison: Comparison, effect: float) -> float:
    return 100 * (effect / (comparison.b_mean or 1) if comparison.by_difference else effect - 1)


def write(lab: Path, folder: Path) -> None:
    """Below `folder` as below `lab`."""
    experiments, docs = kept(lab / "docs"), folder / "docs"
    (docs / "results" / "measured.md").write_text(page(experiments), encoding="utf-8")
    for name, lines in {"README.md": answer, "docs/explanation/memory.md": memory}.items():
        before, begin, after = (lab / name).read_text(encoding="utf-8").partition("<!-- measured -->\n")
        _, end, after = after.partition("<!-- /measured -->")
        text = "\n".join(lines(experiments))
        (folder / name).write_text(f"{before}{begin}{text}\n{end}{after}", encoding="utf-8")
    light = chart(answers(experiments))
    dark = re.sub(r"var\(--(\w+), (#\w+)\)", lambda ink: DARK.get(ink[1], ink[2]), light)
    for name, svg in {"light": light, "dark": dark}.items():
        (docs / "images" / f"answer-{name}.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:]))
