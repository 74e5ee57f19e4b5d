"""What an experiment ran on: the engine's facts, as the host's shell wrote them, and what was planned."""

from pathlib import Path
from typing import Any

from loomlab.basics.errors import ParseError
from loomlab.records.files import RunFiles, read_json, write_json
from loomlab.records.order import Order, order_of

SAME = ("engine", "cpus", "memory_bytes", "kernel", "architecture", "container_metrics", "stand_in_images", "inherited")
"""Facts of the host and the engine that all runs of an experiment should share."""


def environment_of(experiment_dir: Path) -> dict[str, Any]:
    """environment.json, written from engine.json and order.json where there are these. Raises ParseError for a file
    that holds something else."""
    written = experiment_dir / "environment.json"
    order = order_of(experiment_dir)
    if order is not None:
        told, changed = _engine(experiment_dir)
        planned = _planned(order) | {"jvm": _jvms(experiment_dir, order)}
        sizes = planned["sizes"] | told.pop("inherited", {})
        write_json(written, planned | told | {"sizes": sizes, "suspect": planned["suspect"] + changed})
    return _told(written)


def _engine(experiment_dir: Path) -> tuple[dict[str, Any], list[str]]:
    """What the engine told, and what of it was another when the experiment was resumed."""
    told = _told(experiment_dir / "engine.json")
    changed: dict[str, None] = {}
    for path in sorted(experiment_dir.glob("engine-*.json")):
        later = _told(path)
        images, later_images = told.get("images", {}), later.get("images", {})
        changed |= dict.fromkeys(name for name in SAME if told.get(name) != later.get(name))
        changed |= dict.fromkeys(
            f"image of {service}" for service, image in later_images.items() if images.get(service, image) != image
        )
        notes = list(dict.fromkeys([*told.get("notes", []), *later.get("notes", [])]))
        told = told | later | {"images": images | later_images, "notes": notes}
    return told, [
        f"the experiment was resumed on a changed host or with changed images: {', '.join(changed)}"
    ] if changed else []


def _told(path: Path) -> dict[str, Any]:
    try:
        told = read_json(path) or {}
    except ParseError:
        told = None
    if not isinstance(told, dict):
        raise ParseError(f"{path} is not a JSON object: delete it, and sum the experiment up again with make finish.")
    return told


def _planned(order: Order) -> dict[str, Any]:
    request, settings = order.runs[0].request, order.settings
    return {
        "jdk": request.jdk,
        "gc": request.gc,
        "http_client": request.http_client,
        "style": request.style,
        "endpoint": request.endpoint,
        "backend": {
            "delay": request.delay,
            "error_share": settings.get("ERROR_SHARE"),
            "seed": settings.get("SEED"),
        },
        "size": order.size,
        "seed": order.seed,
        "open_files": order.host.get("open_files"),
        "cpu_model": order.host.get("cpu_model"),
        "governor": order.host.get("governor"),
        "tool_versions": {request.tool: order.tool_version},
        "started": order.planned,
        "sizes": {key: value for key, value in settings.items() if key.endswith(("_CPUS", "_CPUSET", "_MEMORY"))}
        | order.runs[0].settings,
        "suspect": order.suspect,
    }


def _jvms(experiment_dir: Path, order: Order) -> dict[str, dict[str, Any]]:
    """Of each approach, as its first run that told it has it: version and arguments."""
    found: dict[str, dict[str, Any]] = {}
    for run in order.runs:
        about = read_json(RunFiles(experiment_dir / "runs" / run.run).about)
        jvm = about.get("jvm") if isinstance(about, dict) else None
        if isinstance(jvm, dict):
            told = {"version": jvm.get("version"), "arguments": jvm.get("vm_arguments")}
            found.setdefault(run.request.approach, told)
    return found
