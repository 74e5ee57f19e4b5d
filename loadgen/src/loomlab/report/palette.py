"""Colours and marks: one an approach, the same in every plot."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
OTHERS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C564B", "#7F7F7F", "#6A3D9A", "#F0E442")
"""For approaches whose colour the experiment did not record (Okabe and Ito, Color Universal Design, and two more)."""
SHAPES = {"circle": ("o", "●"), "square": ("s", "■"), "triangle": ("^", "▲"), "diamond": ("D", "◆"), "down": ("v", "▼")}
"""By name: the mark of charts, and the sign of text."""


@dataclass(frozen=True)
class Look:
    """`shape` tells approaches apart where colours do not."""

    colour: str
    shape: str

    @property
    def marker(self) -> str:
        """As matplotlib calls it."""
        return SHAPES[self.shape][0]

    @property
    def sign(self) -> Markup:
        """For tables."""
        return Markup('<span class="key" style="color:{}">{}</span> ').format(self.colour, SHAPES[self.shape][1])


def looks(approaches: Sequence[str], recorded: Mapping[str, str]) -> dict[str, Look]:
    """`recorded` is what order.json has; what is no colour is not taken."""
    known = {name: recorded[name] for name in approaches if COLOUR.fullmatch(recorded.get(name, ""))}
    free = [colour for colour in OTHERS if colour.upper() not in {one.upper() for one in known.values()}] or OTHERS
    left = [name for name in approaches if name not in known]
    known |= {name: free[place % len(free)] for place, name in enumerate(left)}
    return {name: Look(known[name], [*SHAPES][place % len(SHAPES)]) for place, name in enumerate(approaches)}
