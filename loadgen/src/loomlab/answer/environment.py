"""What an experiment ran on: the engine's facts, as the host's shell wrote them, and what was planned."""

from pathlib import Path
from typing import Any

from loomlab.basics.errors import ParseError
from loomlab.records.files import read_json, read_record, write_json
from loomlab.records.order import Order, order_file


def environment_of(experiment_dir: Path) -> dict[str, Any]:
    """environment.json, written from engine.json and order.json where there are these. Raises ParseError for a file
    that holds something else."""
    written = experiment_dir / "environment.json"
    order = read_record(order_file(experiment_dir), Order)
    if order is not None:
        told = _told(experiment_dir / "engine.json")
        planned = _planned(order)
        sizes = planned["sizes"] | told.pop("inherited", {})
        write_json(written, planned | told | {"sizes": sizes})
    return _told(written)


def _told(path: Path) -> dict[str, Any]:
    told = read_json(path) or {}
    if not isinstance(told, dict):
        raise ParseError(f"{path} does not hold an object: the experiment cannot be told.")
    return told


def _planned(order: Order) -> dict[str, Any]:
    request, settings = order.runs[0].request, order.settings
    return {
        "jdk": request.jdk,
        "gc": request.gc,
        "http_client": request.http_client,
        "endpoint": request.endpoint,
        "backend": {"delay": request.delay, "error_share": settings["ERROR_SHARE"], "seed": settings["SEED"]},
        "size": order.size,
        "seed": order.seed,
        "open_files": order.host["open_files"],
        "started": order.planned,
        "sizes": {key: value for key, value in settings.items() if key.endswith(("_CPUS", "_CPUSET", "_MEMORY"))}
        | order.runs[0].settings,
        "suspect": order.suspect,
    }
