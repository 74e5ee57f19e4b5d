"""Grafana's units that the dashboards use, as text."""

from collections.abc import Callable
from datetime import UTC, datetime
from math import isfinite


def _plain(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _bytes(value: float) -> str:
    for name, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(value) >= size:
            return f"{_plain(value / size)} {name}"
    return f"{_plain(value)} B"


def _seconds(value: float) -> str:
    if value == 0 or abs(value) >= 1:
        return f"{_plain(value)} s"
    return f"{_plain(value * 1000)} ms" if abs(value) >= 0.001 else f"{_plain(value * 1e6)} µs"


UNITS: dict[str, Callable[[float], str]] = {
    "none": _plain,
    "bytes": _bytes,
    "s": _seconds,
    "ms": lambda value: f"{_plain(value)} ms",
    "percentunit": lambda value: f"{_plain(100 * value)} %",
    "reqps": lambda value: f"{_plain(value)} req/s",
    "cps": lambda value: f"{_plain(value)} /s",
    "suffix:cores": lambda value: f"{_plain(value)} cores",
    "dateTimeAsIso": lambda value: f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d %H:%M:%S}",
}


def written(value: float, unit: str) -> str:
    """The value with its unit, as a legend shows it."""
    return UNITS[unit](value) if isfinite(value) else "–"
