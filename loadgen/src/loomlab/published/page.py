"""docs/reproduced.md: what five published experiments claim, and what the lab finds."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from loomlab.published.answers import INCONCLUSIVE, NOT_REPRODUCED, REPRODUCED, UNTESTED, Answer, Part, answers_of
from loomlab.published.paper import Published, paper_names, published
from loomlab.published.runs import PublishedRun, kept_runs

OUTCOMES = (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, UNTESTED)
HEAD = """\
# Are they true here?

What five published experiments claim, and what the lab finds. [papers.md](papers.md#reproducing-one) says how a claim
is answered. A claim is reproduced if it is at every load that it is about; the row shows the load that decides. In
brackets: the load that was run in place of the published one, and the interval at 95 %, each by itself. Approaches of
different servers are whole stacks.
"""
UNITS = {
    "_bytes": (2**20, " MiB"),
    "_share": (0.01, " %"),
    "_ms_per_request": (1, " ms"),
    "_s": (1, " s"),
    "_rps": (1, " requests/s"),
}


@dataclass(frozen=True)
class Reproduced:
    """A paper with the runs that answer it."""

    published: Published
    runs: list[PublishedRun]

    @property
    def answers(self) -> list[Answer]:
        """Of each claim, in the paper's order."""
        return answers_of(self.published, self.runs)


def reproduced(papers: Path, scenarios: Path) -> list[Reproduced]:
    """Every paper, with the runs that the repository keeps."""
    return [
        Reproduced(published(papers, name, scenarios), kept_runs(papers / "measured" / f"{name}.csv"))
        for name in paper_names(papers)
    ]


def page_of(papers: Sequence[Reproduced]) -> str:
    """The page, in Markdown."""
    return "\n".join([HEAD, *_overview(papers), *(line for one in papers for line in _section(one))]) + "\n"


def _overview(papers: Sequence[Reproduced]) -> Iterator[str]:
    yield "| paper | claims | " + " | ".join(OUTCOMES) + " |"
    yield "|:--|--:|--:|--:|--:|--:|"
    for one in papers:
        counts = Counter(answer.outcome for answer in one.answers)
        told = " | ".join(str(counts[outcome]) for outcome in OUTCOMES)
        yield f"| [{one.published.name}](#{one.published.name}) | {counts.total()} | {told} |"
    yield ""


def _section(one: Reproduced) -> Iterator[str]:
    paper, name = one.published.paper, one.published.name
    source = f"[{paper.title}]({paper.url})" if paper.url else paper.title
    yield from (f"## {name}", "", f"{source}, {paper.author or 'author not named'}, {paper.year}. {paper.ran_on}")
    yield from [" ".join(paper.notes)] if paper.notes else []
    yield from (_made(one), "", f"![{name}](images/reproduced-{name}.svg)", "")
    yield from ("| claim | answer | published | here |", "|:--|:--|:--|:--|")
    for answer in one.answers:
        yield f"| {' | '.join((answer.claim.says, answer.outcome, *told_of(answer)))} |"
    yield ""


def _made(one: Reproduced) -> str:
    """When and where the runs were made, and the command."""
    if not one.runs:
        return "Nothing was measured yet."
    dates = sorted({run.date for run in one.runs})
    hosts = " or ".join(dict.fromkeys(run.host for run in one.runs))
    verdicts = ", ".join(f"{count} {name}" for name, count in Counter(run.verdict for run in one.runs).items())
    return (
        f"Here: {' to '.join(dict.fromkeys((dates[0], dates[-1])))}, `make reproduce PAPER={one.published.name}`, "
        f"{max(run.cpus for run in one.runs):g} CPU ({hosts}); runs: {verdicts}."
    )


def told_of(answer: Answer) -> tuple[str, str]:
    """What was published, and what was found, of the part that decides a claim."""
    part = answer.deciding
    if part is None:
        return "", answer.claim.untestable or ""
    published = " and ".join(number(value, part.figure, answer) for value in part.published)
    if part.centre is None:
        return published, part.why
    load = f"{part.level:,}" + (f" [{part.amount:,g}]" if part.amount not in {None, part.level} else "")
    alike = sum(other.outcome == answer.outcome for other in answer.parts)
    so = f"; so in {alike} of {len(answer.parts)}" if len(answer.parts) > 1 else ""
    more = f"; {part.why}" if answer.outcome == UNTESTED else so
    return published, f"{_of(part, answer)} at {load}: {_interval(part, answer)}{more}"


def _of(part: Part, answer: Answer) -> str:
    name = part.figure.removeprefix("latency_from_start_ms.").removeprefix("latency_ms.")
    return f"{name} of {part.of}" if answer.claim.of or len(answer.claim.approaches) > 1 else name


def _interval(part: Part, answer: Answer) -> str:
    centre, low, high = (number(value, part.figure, answer) for value in (part.centre, part.low, part.high))
    return centre if low == high else f"{centre} ({low.split()[0]} to {high.split()[0]})"


def number(value: float | None, figure: str, answer: Answer) -> str:
    """A figure in a unit that people read, or a ratio."""
    if value is None:
        return ""
    if answer.claim.of:
        return f"{value:.3g}"
    divisor, unit = next(((by, unit) for end, (by, unit) in UNITS.items() if figure.endswith(end)), (1, ""))
    if answer.claim.grows:
        return f"{value / 1024:,.0f} KiB"
    return f"{value / divisor:,.4g}{' ms' if figure.startswith('latency_') else unit}"
