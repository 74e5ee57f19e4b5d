"""The files of the repository that the tests compare, and what they say of a panel."""

import json
import os
import re
from pathlib import Path
from typing import Any

from loomlab_dashboards.frame import Json
from loomlab_dashboards.substitute import panels

LAB = Path(os.environ.get("LAB_ROOT", Path(__file__).parents[2]))
COMMITTED: dict[str, Json] = {
    path.stem: json.loads(path.read_text()) for path in sorted((LAB / "grafana" / "dashboards").glob("*.json"))
}


def approaches() -> list[str]:
    """Those that compose.yaml builds."""
    built = re.findall(r"APPROACH: ([a-z0-9-]+)", (LAB / "compose.yaml").read_text())
    return [name for name in built if name != "backend"]


def panel_of(dashboard: str, title: str) -> Json:
    """The panel of that title in the committed dashboard."""
    (panel,) = [panel for panel in panels(COMMITTED[dashboard]) if panel["title"] == title]
    return panel


def override(panel: Json, field: str, setting: str) -> Any:
    """What the panel's first fitting override sets of a field of that name; None where none does."""
    for each in panel["fieldConfig"]["overrides"]:
        kind, wanted = each["matcher"]["id"], each["matcher"]["options"]
        if wanted == field if kind == "byName" else re.search(wanted[1:-1], field):
            return next((one["value"] for one in each["properties"] if one["id"] == setting), None)
    return None


def settings(panel: Json) -> dict[str, Json]:
    """Its transformations by name."""
    return {step["id"]: step["options"] for step in panel["transformations"]}
