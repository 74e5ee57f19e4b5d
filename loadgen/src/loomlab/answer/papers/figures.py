"""The lab's names of figures, as `run.json` has them, and their units."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel

from loomlab.records.models import Run

QUOTIENTS = {"error_share": ("errors", "requests"), "rate_share": ("throughput_rps", "started_rps")}
"""Figures that `run.json` has the two parts of."""
DERIVED = (*QUOTIENTS, "cpu_share")
"""And the approach's `cpu_seconds` of its CPUs' in the interior."""
UNITS = {"ms": "ms", "s": "s", "seconds": "s", "bytes": "bytes"}
"""Of a figure, by the last word of its name."""
IN_UNIT = {("s", "ms"): 1000.0, ("ms", "s"): 0.001, ("KiB", "bytes"): 1024.0}


def unit_of(figure: str) -> str | None:
    """None where the name tells no unit."""
    return "ms" if figure.startswith("latency_ms.") else UNITS.get(figure.rpartition("_")[2])


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
