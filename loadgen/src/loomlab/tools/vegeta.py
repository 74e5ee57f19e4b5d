"""vegeta, as the library of `lab-rates` (tools/lab-rates in Go): every offered rate."""

from collections.abc import Mapping
from typing import Any

from loomlab.basics.errors import UsageError
from loomlab.records.load import Load, OpenRate
from loomlab.tools.program import Program

METRICS_PORT = 8880
LONGEST_RATE_UNIT_S = 1000

_DONE = 'label_replace(sum(request_seconds_count{{job="vegeta",status{match}"2.."}}), "outcome", "{outcome}", "", "")'


class Vegeta(Program):
    """Requests start when they are due, dealt out in turn. With all connections busy they start late; what is over a
    second late at the end is not started, and told as unsent. Go sends a GET again when a kept connection closes before
    a byte of the answer; such a request counts once."""

    name = "vegeta"
    program = "lab-rates"
    done_query = f"{_DONE.format(match='=~', outcome='ok')} or {_DONE.format(match='!~', outcome='failed')}"

    def check(self, load: Load) -> None:
        if not isinstance(load.shape, OpenRate):
            raise UsageError(
                "vegeta offers only rates, but a closed load or users were asked for: use ab, hey or users."
            )
        lowest_rps = min(step.rate_rps for step in load.shape.steps)
        if lowest_rps < 1 / LONGEST_RATE_UNIT_S:
            raise UsageError(
                f"vegeta's rate must be at least one request in {LONGEST_RATE_UNIT_S} s, got {lowest_rps}/s: "
                "raise RATE."
            )

    def told(self, load: Load) -> Mapping[str, Any]:
        assert isinstance(load.shape, OpenRate)
        steps = [{"rate_rps": step.rate_rps, "seconds": step.duration_s} for step in load.shape.steps]
        return {
            "origin": load.origin,
            "connections": load.connections,
            "metrics_port": METRICS_PORT,
            "steps": steps,
        }
