"""Colours: one an approach, the same in every panel and in every report."""

import json
from pathlib import Path

from grafana_foundation_sdk.models.dashboard import DynamicConfigValue

PALETTE_FILE = Path(__file__).parents[2] / "palette.json"
APPROACHES: dict[str, str] = json.loads(PALETTE_FILE.read_text())
"""Approach to colour, #RRGGBB."""
OTHERS = {"backend": "#3D3D8F", "loadgen": "#B0413E", "prometheus": "#E6522C", "cadvisor": "#5B7C99"}
"""The lab's own containers, which share panels with an approach."""
INVALID, SUSPECT, FINE, IDLE = "#C4162A", "#FF9830", "#37872D", "#808080"


def series_of(service: str) -> str:
    """A Grafana regular expression for the series of a service: its name alone, or a run's folder, which ends in it."""
    return f"/(^|-){service}$/"


def fixed(colour: str) -> DynamicConfigValue:
    return DynamicConfigValue(id_val="color", value={"mode": "fixed", "fixedColor": colour})
