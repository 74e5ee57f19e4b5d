"""What the verdict says, in the approved words: an example of each sentence. `pytest --snapshot-update` writes them
again; every other test asks for the rule, its outcome and its figures."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from syrupy.assertion import SnapshotAssertion

from good import BURST, GOOD, OPEN, fast, rate, warmup
from loomlab.judge import verdict
from loomlab.judge.containers import container_failure
from loomlab.judge.facts import container_of
from loomlab.judge.judge import judge_run
from loomlab.judge.rule import RULES
from loomlab.records.measured import BackendDelays, Halves, Measured
from loomlab.records.models import RuleResult
from rawrun import RawRun
from test_judge_facts import STATES, inspected
from test_verdict import CASES, MISSING

COMPILING = BURST.model_copy(update={"phase": "compile", "requests": 10_000, "jit_cpu_s": 1.0})
OTHERS: list[dict[str, Any]] = [
    {},
    OPEN,
    rate(1000),
    rate(1000) | {"latency_fall": Halves(fall=-0.3, margin=0.1)},
    rate(1000) | fast(1001),
    OPEN | {"missed_steps": (500.0,)},
    OPEN | {"held_steps": (500.0,), "missed_steps": (800.0, 1000.0), "errors": 9000},
    {"steady": False, "whole_run": True, "interior_s": None, "little_ratio": None, "waves": None},
    {"whole_run": True, "interior_s": None, "little_ratio": None, "waves": None},
    {"waves": 15.0},
    {"waits_told": False, "clock_step_s": None, "keepalive_requests": None, "oom_kills": None},
    {"mean_ms": None, "p99_ms": None},
    {"backend_calls": 0, "delay_asked": None},
    {"shortest_ms": 0},
    {"backend_pool": None, "platform_threads": None, "throttled_ratio": None},
    {"foreign_cpu_share": 0.3, "steal_shares": {"approach": 0.3}},
    {"backend_delays": BackendDelays(before=None, after=None)},
    {"backend_delays": BackendDelays(before=None, after="7")},
    {"slow_ms": (950.0 * 602,)},
    {"gc_share": 0.21, "gc_cpu_share": 0.33},
    {"cpu_fall": Halves(fall=0.11, margin=0.02)},
    warmup(compiled=False, bursts=[COMPILING, COMPILING]),
    warmup(compiled=False, bursts=[COMPILING, COMPILING], changing="latency still fell"),
    warmup(compiled=False, bursts=[COMPILING, COMPILING.model_copy(update={"jit_cpu_s": 0.0})]),
    warmup(compiled=False, bursts=[COMPILING]),
    warmup(compiled=None, failed=True),
]


def cold(run: RawRun) -> None:
    (run.warmup or {}).update(compiled=False, bursts=[])


RAW: list[Callable[[RawRun], None]] = [
    cold,
    lambda run: run.tool.update(stopped_by="stall"),
    lambda run: run.tool.update(stopped_by="hard cap"),
    lambda run: run.tool.update(stopped_by="interrupt", killed=True),
]


def results(folder: Path) -> Iterator[RuleResult]:
    for figures in (*OTHERS, *(case[3] for case in CASES), *(missing for _, missing in MISSING)):
        yield from verdict.judge(Measured(**GOOD | figures)).rules
    for place, change in enumerate(RAW):
        run = RawRun()
        change(run)
        yield from judge_run(run.write(folder / f"{place}-app")).rules
    for changes, state, _ in STATES:
        failure = container_failure(container_of(inspected(changes, state)), 1_794_996_000)
        yield from verdict.judge(Measured(**GOOD | {"container_failure": failure})).rules


def test_each_sentence_of_the_verdict_is_the_approved_one(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    place = {rule.name: number for number, rule in enumerate(RULES)}
    examples: dict[tuple[int, str, str], str] = {}
    for one in results(tmp_path):
        if one.reason:
            shape = re.sub(r"\d[\d.,]*", "0", one.reason)
            examples.setdefault((place[one.rule], one.outcome, shape), f"{one.rule} {one.outcome}: {one.reason}")

    assert "\n".join(examples[key] for key in sorted(examples)) == snapshot
