"""What the experiment ran on, as the page lists it."""

from collections.abc import Iterator, Mapping
from typing import Any

from loomlab.report.folder import Experiment

LABELS = {
    "cpu_model": "CPU",
    "governor": "CPU governor",
    "cpus": "CPUs",
    "memory_bytes": "memory",
    "kernel": "kernel",
    "os": "system",
    "architecture": "architecture",
    "engine": "engine",
    "cgroup": "cgroup",
    "container_metrics": "container metrics from",
    "jdk": "JDK",
    "gc": "collector",
    "http_client": "backend client",
    "style": "style",
    "endpoint": "endpoint",
    "backend": "backend",
    "size": "size",
    "seed": "seed",
    "open_files": "open files",
    "sizes": "limits",
    "images": "images",
    "stand_in_images": "stand-in base images",
    "tool_versions": "tools",
}
ELSEWHERE = frozenset({"notes", "suspect", "started", "jvm"})
"""What other parts of the page have."""
OF_ABOUT = (
    ("JVM", ("jvm", "version")),
    ("vendor", ("jvm", "vendor")),
    ("arguments", ("jvm", "vm_arguments")),
    ("heap at most", ("jvm", "max_heap_bytes")),
    ("collectors", ("jvm", "gc_beans")),
    ("carriers", ("jvm", "carriers")),
    ("concurrency", ("concurrency",)),
    ("style", ("style",)),
    ("server", ("inbound", "server")),
    ("its version", ("inbound", "version")),
    ("framework", ("inbound", "framework")),
    ("client", ("outbound", "client")),
    ("client's version", ("outbound", "version")),
)


def environment_rows(environment: Mapping[str, Any]) -> list[tuple[str, str]]:
    """All that was recorded, what has a name first."""
    known = [key for key in LABELS if key in environment]
    rest = sorted(key for key in environment if key not in LABELS and key not in ELSEWHERE)
    return [(LABELS.get(key, key), _shown(key, environment[key])) for key in (*known, *rest)]


def _shown(key: str, value: Any) -> str:
    if key.endswith("_bytes") and isinstance(value, int | float):
        return f"{value / 2**30:.1f} GiB" if value >= 2**30 else f"{value / 2**20:.0f} MiB"
    match value:
        case None:
            return "not recorded"
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{name} {_shown('', one)}" for name, one in value.items()) or "none"
        case list():
            return ", ".join(_shown("", one) for one in value) or "none"
        case _:
            return str(value)


def approach_rows(experiment: Experiment) -> list[tuple[str, list[tuple[str, str]]]]:
    """What each approach told of itself in its first run that has it."""
    return [(name, rows) for name in experiment.approaches if (rows := list(_of_about(_about(experiment, name))))]


def _about(experiment: Experiment, approach: str) -> Any:
    told = (experiment.raw_json(run, "about.json") for run in experiment.runs if run.approach == approach)
    return next((about for about in told if isinstance(about, dict)), None)


def _of_about(about: Any) -> Iterator[tuple[str, str]]:
    for label, way in OF_ABOUT:
        value = about
        for step in way:
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None:
            yield label, _shown(way[-1], value)


def commands_of(experiment: Experiment) -> list[tuple[str, str]]:
    """What the first run of each load told its tool."""
    found = []
    for at in experiment.loads:
        tool = experiment.raw_json(at.runs[0], "tool.json")
        command = tool.get("command") if isinstance(tool, dict) else None
        if isinstance(command, list):
            found.append((at.label, " ".join(str(word) for word in command)))
    return found
