"""A viewer of a dashboard: all its queries, again and again, as a browser sends them that refreshes it."""

import signal
import threading
import time
from collections.abc import Sequence

from watching.panels import PanelQuery
from watching.prometheus import Prometheus

SHOWN_SECONDS = 3600
"""What a dashboard shows at first."""
POINTS = 600
"""Of a line, at most, as the queries were written for."""


def look(prometheus: Prometheus, queries: Sequence[PanelQuery], now: float) -> None:
    """Once."""
    for query in queries:
        if query.kind == "range":
            prometheus.range(query.expr, now - SHOWN_SECONDS, now, SHOWN_SECONDS / POINTS)
        else:
            prometheus.instant(query.expr, now)


def view(prometheus: Prometheus, queries: Sequence[PanelQuery], every_seconds: float) -> None:
    """Until SIGTERM. A look that takes longer than it should delays the next one, as in a browser."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    while not stop.is_set():
        began = time.monotonic()
        look(prometheus, queries, time.time())
        stop.wait(max(began + every_seconds - time.monotonic(), 0))
