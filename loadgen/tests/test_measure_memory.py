"""The live set of a real server under the real ab, from the first request to run.json."""

from pathlib import Path

import pytest

from loomlab.records.memory import LiveBytes
from server import HELD, running
from test_measure import complete, judged, measure, raw, small
from test_prometheus import prometheus


@pytest.mark.real_tool
def test_what_requests_hold_is_measured_after_the_run(tmp_path: Path) -> None:
    out = small(tmp_path, "127.0.0.19", endpoint="/epoch-millis?delayInMillis=50", warmup_cap_s=5)
    with running("127.0.0.19", 0.05), prometheus(complete("127.0.0.19")) as (url, _):
        process = measure(out, prometheus_url=url)
        process.communicate(timeout=60)
    assert process.returncode == 0

    run = judged(out)

    assert run.live_requests == 20
    assert run.live_bytes_per_request == LiveBytes(heap=HELD["heap_used_bytes"])
    few = "because only 20 requests waited, and 100 are needed"
    assert run.notes == [f"What a waiting request holds is not known: stacks_off_heap {few}; kernel {few}."]
    memory = raw(out, "memory.json")
    assert memory["before"]["answered"] < raw(out, "tool.json")["started"]
    assert memory["loaded"]["asked"] > raw(out, "tool.json")["ended"]
    assert memory["hold"]["started"] < memory["waiting"]["asked"] < memory["idle"]["asked"]
    assert (memory["hold"]["requests"], memory["hold"]["errors"]) == (20, 0)
