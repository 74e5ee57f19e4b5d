from pathlib import Path

import pytest
from matplotlib import image

from loomlab_dashboards.__main__ import DASHBOARDS
from loomlab_dashboards.prometheus import Prometheus, Series
from loomlab_dashboards.render import Picture, render
from loomlab_dashboards.substitute import Window, queries, values_of

WINDOW = Window(1000, 1060)


class Answers(Prometheus):
    """Of every query the same series."""

    def __init__(self, over: list[Series], at: list[Series]) -> None:
        self._over, self._at = over, at
        self.asked: list[str] = []

    def over(self, window: Window, expr: str) -> list[Series]:
        self.asked.append(f"{expr} from {window.start}")
        return self._over

    def at(self, time: float, expr: str) -> list[Series]:
        self.asked.append(f"{expr} at {time}")
        return self._at


@pytest.mark.parametrize("name", DASHBOARDS)
def test_all_panels_are_asked_and_drawn(name: str, tmp_path: Path) -> None:
    document = DASHBOARDS[name]()
    labels = {"service": "tomcat-virtual", "le": "1"}
    over = {"metric": labels, "values": [[1000, "1"], [1002, "1"]]}
    at = {"metric": {"run": "e/1-tomcat-virtual", "seconds": "3"}, "value": [1060, "1"]}
    answers = Answers([over], [at])
    render(document, answers, WINDOW, values_of(document, WINDOW, {}), tmp_path / "drawn.png")
    for query in queries(document, values_of(document, WINDOW, {})):
        assert f"{query.expr} {'at 1060' if query.kind == 'instant' else 'from 1000'}" in answers.asked
    assert image.imread(tmp_path / "drawn.png").shape[1] == 1920


@pytest.mark.parametrize("name", DASHBOARDS)
def test_every_panel_without_data_says_so(name: str) -> None:
    document = DASHBOARDS[name]()
    picture = Picture(document, Answers([], []), WINDOW, values_of(document, WINDOW, {}))
    picture.draw()
    panels = [panel for panel in document["panels"] if panel["type"] != "row"]
    wanted = [panel["fieldConfig"]["defaults"].get("noValue", "No data") for panel in panels]
    assert [text.get_text() for axes in picture.figure.axes for text in axes.texts] == wanted


@pytest.mark.parametrize(("name", "told"), [("compare", True), ("one-run", False)])
def test_a_legend_tells_what_the_panel_has_it_tell(name: str, told: bool) -> None:
    document = DASHBOARDS[name]()
    series = {"metric": {"service": "tomcat-virtual", "le": "1"}, "values": [[1000, "1"], [1002, "3"]]}
    picture = Picture(document, Answers([series], []), WINDOW, values_of(document, WINDOW, {}))
    picture.draw()
    (cpu,) = [panel for panel in document["panels"] if panel["title"] == "CPU"]
    place = [panel for panel in document["panels"] if panel["type"] != "row"].index(cpu)
    legend = picture.figure.axes[place].get_legend()
    assert legend is not None
    assert ("tomcat-virtual   mean 2 cores   max 3 cores" in [text.get_text() for text in legend.texts]) == told
    (limit,) = [line for line in picture.figure.axes[place].lines if str(line.get_label()).startswith("limit")]
    assert limit.get_linestyle() == "--"
