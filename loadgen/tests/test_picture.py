"""The strips of a run over time."""

import pytest

from loomlab.report.palette import Look
from loomlab.report.picture import Strip, strip_panels
from test_opening import made


@pytest.mark.parametrize(("highest_ms", "title"), [(301, "latency, ms (logarithmic)"), (299, "latency, ms")])
def test_an_axis_with_a_logarithmic_scale_says_so(highest_ms: float, title: str) -> None:
    strip = Strip("latency, ms", {"p50": {0: 100, 1: 100}, "max": {0: 100, 1: highest_ms}}, log=True)
    ((panel,),) = strip_panels([(made("tomcat-virtual"), [strip])], {"tomcat-virtual": Look("#0072B2", "circle")})

    assert panel is not None
    assert f">{title}</text>" in panel.drawn
