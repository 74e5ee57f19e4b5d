"""The lab's names of figures, as `run.json` has them, and their units."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel

from loomlab.records.models import Run

QUOTIENTS = {
    "error_share": ("errors", "requests"),
    "ended_rps": ("requests", "duration_s"),
    "answered_rps": ("answers", "duration_s"),
    "rate_share": ("answered_rps", "rate"),
}
"""Figures of two others. All are of the whole run: what ended in it, answered or not, and what was answered."""
DERIVED = (*QUOTIENTS, "answers", "time_outs", "cpu_share")
"""And `requests` without `errors`, those of them that timed out, and the approach's `cpu_seconds` of its CPUs' in the
interior."""
UNITS = {"ms": "ms", "s": "s", "seconds": "s", "bytes": "bytes"}
"""Of a figure, by the last word of its name."""
LATENCIES = ("latency_ms.", "latency_from_start_ms.")
IN_UNIT = {("s", "ms"): 1000.0, ("ms", "s"): 0.001, ("KiB", "bytes"): 1024.0}


def unit_of(figure: str) -> str | None:
    """None where the name tells no unit."""
    if figure.startswith("live_bytes_per_request."):
        return "bytes"
    return "ms" if figure.startswith(LATENCIES) else UNITS.get(figure.rpartition("_")[2])


def factor(unit: str, figure: str) -> float | None:
    """By which a value in `unit` becomes one of the figure; None where that cannot be."""
    wanted = unit_of(figure)
    return 1.0 if wanted in {None, unit} else IN_UNIT.get((unit, str(wanted)))


def _known(figure: str) -> str:
    if figure not in DERIVED and not _is_field(Run, figure.split(".")):
        raise ValueError(f"use a figure of run.json such as latency_ms.p99, or one of {', '.join(DERIVED)}")
    return figure


def _is_field(model: type[BaseModel], path: list[str]) -> bool:
    if path[0] not in model.model_fields:
        return False
    kind = model.model_fields[path[0]].annotation
    inner = [one for one in (kind, *getattr(kind, "__args__", ())) if isinstance(one, type)]
    models = [one for one in inner if issubclass(one, BaseModel)]
    return not models if len(path) == 1 else any(_is_field(one, path[1:]) for one in models)


Figure = Annotated[str, AfterValidator(_known)]
