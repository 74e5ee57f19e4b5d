"""How far what Prometheus tells is from what the kernel or the load generator counted."""

import statistics

from watching.series import Series


class NothingToCompareError(Exception):
    """Too few samples of one side; the message says which and how many."""


def growth_ratio(told: Series, own: Series, start: float, end: float, shortest_seconds: float) -> float:
    """Growth of a counter by its scrapes, divided by the growth of the own one between the same two moments, which are
    the first and the last scrape of the window; raises NothingToCompareError when they are nearer than asked."""
    scrapes = told.between(start, end).samples
    seconds = scrapes[-1][0] - scrapes[0][0] if scrapes else 0.0
    if seconds < shortest_seconds:
        raise NothingToCompareError(f"The scrapes cover {seconds:.1f} s, and {shortest_seconds:.0f} s are wanted.")
    return (scrapes[-1][1] - scrapes[0][1]) / own.growth(scrapes[0][0], scrapes[-1][0])


def rate_ratio(rates: Series, own: Series, start: float, end: float, window_seconds: float) -> float:
    """Mean of a rate over the window before each moment, divided by that of the own counter's growth in the same
    windows, all of them between start and end."""
    moments = rates.between(start + window_seconds, end).samples
    grown = sum(own.growth(time - window_seconds, time) for time, _ in moments)
    if not grown:
        raise NothingToCompareError(f"There are {len(moments)} rates over whole windows, and no growth in them.")
    return window_seconds * sum(rate for _, rate in moments) / grown


def level_ratio(told: Series, own: Series, start: float, end: float, fewest: int) -> float:
    """Median ratio of a gauge's scrapes to the own figure. A scrape takes a while, so each is held against the values
    of the second before and after it: between the least and the most of them the ratio is 1, else that to the nearer.
    """
    ratios = []
    for time, value in told.between(start, end).samples:
        near = own.between(time - 1, time + 1).values
        if near:
            ratios.append(value / min(max(value, min(near)), max(near)))
    if len(ratios) < fewest:
        raise NothingToCompareError(f"There are {len(ratios)} samples of both, and {fewest} are wanted.")
    return statistics.median(ratios)


def unlike_any_scrape(rule: Series, scrapes: Series, oldest_seconds: float) -> list[tuple[float, float]]:
    """The samples of a rule that repeats a gauge's last scrape, where no scrape of so many seconds has their value."""

    def recent(time: float) -> list[float]:
        return scrapes.between(time - oldest_seconds, time).values

    return [(time, value) for time, value in rule.samples if value not in recent(time)]


def counted(counter: list[Series], first_answer: float, settled: float) -> float:
    """Growth of all series of a counter, from the last scrape that no answer of the run can be in, to the last one
    before `settled`; a series that is not there yet counts from 0."""
    total = 0.0
    for series in counter:
        before = series.between(0, first_answer).values
        upto = series.between(0, settled).values
        total += (upto[-1] if upto else 0.0) - (before[-1] if before else 0.0)
    return total
