"""What the experiment ran on, as the page lists it."""

from collections.abc import Mapping
from typing import Any

from loomlab.answer.parity import flat
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
ELSEWHERE = {"notes", "suspect", "started", "jvm"}
"""What other parts of the page have."""
OF_ABOUT = {
    "jvm.version": "JVM",
    "jvm.vendor": "vendor",
    "jvm.vm_arguments": "arguments",
    "jvm.max_heap_bytes": "heap at most",
    "jvm.gc_beans": "collectors",
    "jvm.carriers": "carriers",
    "concurrency": "concurrency",
    "style": "style",
    "inbound.server": "server",
    "inbound.version": "its version",
    "inbound.framework": "framework",
    "outbound.client": "client",
    "outbound.version": "client's version",
}
type Rows = list[tuple[str, str]]


def environment_rows(environment: Mapping[str, Any]) -> Rows:
    """All that was recorded, what has a label first."""
    rest = dict.fromkeys(sorted(environment.keys() - LABELS.keys() - ELSEWHERE))
    return [(LABELS.get(key, key), _text(key, environment[key])) for key in (*LABELS, *rest) if key in environment]


def approach_rows(experiment: Experiment) -> list[tuple[str, Rows]]:
    """What each approach told of itself in its first run that has it."""
    abouts: dict[str, Rows] = {}
    for run in experiment.runs:
        about = flat(experiment.raw_json(run, "about.json") or {})
        rows = [(label, _text(key, about[key])) for key, label in OF_ABOUT.items() if about.get(key) is not None]
        if rows:
            abouts.setdefault(run.approach, rows)
    return sorted(abouts.items())


def tool_commands(experiment: Experiment) -> Rows:
    """What the first run of each load told its tool."""
    processes = ((at.label, experiment.raw_json(at.runs[0], "tool.json")) for at in experiment.loads)
    return [(label, " ".join(process["command"])) for label, process in processes if process]


def _text(key: str, value: Any) -> str:
    if key.endswith("_bytes") and isinstance(value, int | float):
        return f"{value / 2**30:.1f} GiB" if value >= 2**30 else f"{value / 2**20:.0f} MiB"
    match value:
        case None:
            return "not recorded"
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{name} {_text('', one)}" for name, one in value.items()) or "none"
        case list():
            return ", ".join(_text("", one) for one in value) or "none"
        case _:
            return str(value)
