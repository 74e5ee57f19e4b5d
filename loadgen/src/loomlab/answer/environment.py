"""What an experiment ran on: the engine's facts, as the host's shell wrote them, and what was planned."""

from pathlib import Path
from typing import Any

from loomlab.records.files import RunFiles, read_json, write_json
from loomlab.records.order import Order, order_of

SAME = ("engine", "cpus", "memory_bytes", "kernel", "architecture", "container_metrics", "stand_in_images", "inherited")
"""Facts of the host and the engine that all runs of an experiment should share."""


def environment_of(experiment_dir: Path) -> dict[str, Any]:
    """environment.json, written from engine.json and order.json where there are these."""
    path, order = experiment_dir / "environment.json", order_of(experiment_dir)
    if order is None:
        return dict(read_json(path) or {})
    request, settings, facts = order.runs[0].request, order.settings, _engine(experiment_dir)
    sizes = {key: value for key, value in settings.items() if key.endswith(("_CPUS", "_CPUSET", "_MEMORY"))}
    sizes |= order.runs[0].settings | facts.pop("inherited", {})
    environment = {
        **{name: getattr(request, name) for name in ("jdk", "gc", "http_client", "style", "endpoint")},
        "backend": {"delay": request.delay, "error_share": settings.get("ERROR_SHARE"), "seed": settings.get("SEED")},
        "size": order.size,
        "seed": order.seed,
        **{name: order.host.get(name) for name in ("open_files", "cpu_model", "governor")},
        "tool_versions": {request.tool: order.tool_version},
        "started": order.planned,
        "jvm": _jvms(experiment_dir, order),
        **facts,
        "sizes": sizes,
        "suspect": order.suspect + facts.get("suspect", []),
    }
    write_json(path, environment)
    return environment


def _engine(experiment_dir: Path) -> dict[str, Any]:
    """The newest facts; `suspect`: in a sentence, what of them was another before the experiment was resumed."""
    facts: dict[str, Any] = read_json(experiment_dir / "engine.json") or {}
    changed: dict[str, None] = {}
    for path in sorted(experiment_dir.glob("engine-*.json")):
        later = read_json(path)
        images, later_images = facts.get("images", {}), later.get("images", {})
        changed |= dict.fromkeys(name for name in SAME if facts.get(name) != later.get(name))
        changed |= dict.fromkeys(
            f"image of {service}" for service, image in later_images.items() if images.get(service, image) != image
        )
        notes = list(dict.fromkeys([*facts.get("notes", []), *later.get("notes", [])]))
        facts |= later | {"images": images | later_images, "notes": notes}
    text = f"the experiment was resumed on a changed host or with changed images: {', '.join(changed)}"
    return facts | ({"suspect": [text]} if changed else {})


def _jvms(experiment_dir: Path, order: Order) -> dict[str, dict[str, Any]]:
    """Of each approach, as its first run that told it has it: version and arguments."""
    found: dict[str, dict[str, Any]] = {}
    for run in order.runs:
        about = read_json(RunFiles(experiment_dir / "runs" / run.run).about)
        jvm = about.get("jvm") if isinstance(about, dict) else None
        if isinstance(jvm, dict) and run.request.approach not in found:
            found[run.request.approach] = {"version": jvm.get("version"), "arguments": jvm.get("vm_arguments")}
    return found
