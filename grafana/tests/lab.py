"""The files of the repository that the tests compare."""

import json
import os
import re
from pathlib import Path

from loomlab_dashboards.frame import Json

LAB = Path(os.environ.get("LAB_ROOT", Path(__file__).parents[2]))
COMMITTED: dict[str, Json] = {
    path.stem: json.loads(path.read_text()) for path in sorted((LAB / "grafana" / "dashboards").glob("*.json"))
}


def approaches() -> list[str]:
    """Those that compose.yaml builds."""
    built = re.findall(r"APPROACH: ([a-z0-9-]+)", (LAB / "compose.yaml").read_text())
    return [name for name in built if name != "backend"]


def recording_rules() -> set[str]:
    files = (LAB / "prometheus" / "rules").glob("*.yml")
    return {name for file in files for name in re.findall(r"^ *- record: (\S+)$", file.read_text(), re.MULTILINE)}


def documented_metrics() -> set[str]:
    """What docs/metrics.md names in code type."""
    return set(re.findall(r"`([a-zA-Z_:][\w:]*)", (LAB / "docs" / "metrics.md").read_text()))
