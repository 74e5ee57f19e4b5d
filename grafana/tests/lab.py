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
