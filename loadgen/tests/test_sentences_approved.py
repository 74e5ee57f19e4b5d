"""What the verdict says, in the approved words: an example of each sentence. `pytest --snapshot-update` writes them
again; every other test asks for the rule, its outcome and its figures."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from syrupy.assertion import SnapshotAssertion

from good import BURST, LADDER, OPEN, fast, judge, rate, warmup
from loomlab.judge.rules import RULES
from loomlab.records.measured import Slow
from loomlab.records.models import RuleResult
from rawrun import RawRun
from test_verdict import CASES, MISSING, cpu_falling, delays, falling

COMPILING = BURST.model_copy(update={"phase": "compile", "requests": 10_000, "jit_cpu_s": 1.0})
OTHERS: list[dict[str, Any]] = [
    {}, OPEN, rate(1000), rate(1000) | falling(-0.3), rate(1000) | fast(1001), OPEN | {"missed_steps": (500.0,)},
    LADDER | {"missed_steps": (800.0, 1000.0), "errors": 9000},
    {"steady": False, "whole_run": True, "interior_s": None, "little_ratio": None, "waves": None},
    {"whole_run": True, "interior_s": None, "little_ratio": None, "waves": None}, {"waves": 15.0},
    {"waits_told": False, "clock_step_s": None},
    {"mean_ms": None, "p99_ms": None}, {"backend_calls": 0, "delay_asked": None}, {"shortest_ms": 0},
    {"backend_pool": None, "platform_threads": None, "throttled_ratio": None},
    {"foreign_cpu_share": 0.3, "steal_shares": {"approach": 0.3}}, delays(None, None), delays(None, "7"),
    {"slow": Slow(requests=1, longest_ms=571_900, omitted=601)}, {"gc_share": 0.21, "gc_cpu_share": 0.33},
    {"partner": "other", "partner_cpus": 0.03, "threads_started": 60.0, "ratio_shift": 0.25}, cpu_falling(0.11, 0.02),
    warmup(compiled=False, bursts=[COMPILING, COMPILING]),
    warmup(compiled=False, bursts=[COMPILING, COMPILING], changing="latency still fell"),
    warmup(compiled=False, bursts=[COMPILING, COMPILING.model_copy(update={"jit_cpu_s": 0.0})]),
    warmup(compiled=False, bursts=[COMPILING]), warmup(compiled=None, failed=True),
]  # fmt: skip


RAW: list[Callable[[RawRun], None]] = [
    lambda run: run.warmup.update(compiled=False, bursts=[]), lambda run: run.tool.update(stopped_by="stall"),
    lambda run: run.tool.update(stopped_by="hard cap"),
    lambda run: run.tool.update(stopped_by="interrupt", killed=True),
    lambda run: run.state.update(OOMKilled=True, Running=False), lambda run: run.state.update(OOMKilled=True),
    lambda run: run.container.update(RestartCount=2), lambda run: run.state.update(Running=False, ExitCode=137),
    lambda run: run.state.update(StartedAt="2026-11-18T11:20:20.6Z"),
]  # fmt: skip


def results(folder: Path) -> Iterator[RuleResult]:
    for figures in (*OTHERS, *(case[3] for case in CASES), *(missing for _, missing in MISSING)):
        yield from judge(**figures).rules
    for change in RAW:
        run = RawRun()
        change(run)
        yield from run.judged(folder).rules


def test_each_sentence_of_the_verdict_is_the_approved_one(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    place = {rule.name: number for number, rule in enumerate(RULES)}
    examples: dict[tuple[int, str, str], str] = {}
    for one in results(tmp_path):
        if one.reason:
            shape = re.sub(r"\d[\d.,]*", "0", one.reason)
            examples.setdefault((place[one.rule], one.outcome, shape), f"{one.rule} {one.outcome}: {one.reason}")

    assert "\n".join(examples[key] for key in sorted(examples)) == snapshot
