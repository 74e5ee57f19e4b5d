"""Colours: one an approach, the same in every panel and in every report."""

import os
import re
from pathlib import Path

LAB = Path(os.environ.get("LAB_ROOT", Path(__file__).parents[3]))
SERVICE = re.compile(r'^  ([a-z0-9-]+):\n(?:    .*\n)*?    x-colour: "(#[0-9A-F]{6})"$', re.MULTILINE)
APPROACHES: dict[str, str] = dict(SERVICE.findall((LAB / "compose.yaml").read_text()))
"""Approach to colour, #RRGGBB, as compose.yaml describes it."""
OTHERS = {"backend": "#3D3D8F", "loadgen": "#B0413E", "prometheus": "#E6522C", "cadvisor": "#5B7C99"}
"""The lab's own containers, which share panels with an approach."""
INVALID, SUSPECT, FINE, IDLE = "#C4162A", "#FF9830", "#37872D", "#808080"
UP = "#3274D9"
"""That a target answers makes no run fine."""


def series_of(service: str) -> str:
    """A Grafana regular expression for the series of a service: its name, or a run's folder, which ends in it."""
    return f"/(^|-){service}(, at the generator)?$/"
