"""A process is searched for the highest rate that it holds, trial by trial, and then loaded at shares of that."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loomlab.records.capacity import ABOVE, LONGEST_TRIAL_S, PERCENT, Capacity, Search, Trial
from loomlab.records.files import RunFiles, write_json
from loomlab.records.load import Load, OpenRate, RateStep
from loomlab.run.measure import Measurement
from loomlab.run.process import at_rate
from loomlab.run.staircase import BELOW, Staircase, rate_of, rung_of
from loomlab.run.warmer import cpu_ms_without_jit

type Assess = Callable[[RunFiles, Search], Trial]
BUSY_START = 0.5  # of the CPUs, where only the warm-up is known
WARM = 0.8  # of the rate that a search begins with
FEWEST_CONNECTIONS = 100
FEWEST_WAVES = 6  # in a trial, beside the first
REST_S = 3  # where a service does not tell what is in flight
LONGEST_REST_S = 60


@dataclass
class CapacitySearch:
    """The search itself, and the runs at shares of what it finds, of one process."""

    runs: Sequence[Measurement]  # the first is the search
    assess: Assess
    known_rps: float | None  # of another process of the same service

    def __post_init__(self) -> None:
        self.main = self.runs[0]
        search = self.main.request.search
        assert search
        self.search: Search = search
        self._planned = self.main.request.load
        start_rps = min(self.known_rps or search.start_rps, search.most_rps)
        self._start, self._highest = rung_of(start_rps), rung_of(search.most_rps)
        if self.known_rps:
            self._start = max(self._start - BELOW, 0)

    def run(self) -> bool:
        """Leaves raw/ of all; True when they came to their end."""
        main = self.main
        main.live.phase("warm-up")
        warm_rps = WARM * rate_of(self._start)
        # Two steps: the warm-up then offers no more than what the CPUs carry.
        shape = OpenRate((RateStep(warm_rps / 2, 1), RateStep(warm_rps, 1)))
        load = replace(_at(self._planned, warm_rps, 1, self.search.held_s), shape=shape)
        main.request = main.request.model_copy(update={"load": load})
        main.begin()
        main.wait_for_samples()
        found = Capacity(objectives=self.search.objectives)
        if not main.stop.requested:
            found = self._search()
        # An overload leaves larger pools than the rate that is held.
        main.measure_memory(replace(main.request.load, connections=self._planned.connections))
        main.finish()
        for run in self.runs[1:]:
            if not main.stop.requested and found.rps and not found.cut_off:
                self._load_at(run, found.rps)
        return not main.stop.requested

    def _search(self) -> Capacity:
        main, search = self.main, self.search
        stairs = Staircase(self._start_rung(), self._highest)
        found, kept = Capacity(objectives=search.objectives), dict[int, Measurement]()
        while (rung := stairs.next) is not None and not main.stop.requested:
            main.progress.show("search", _standing(stairs, rung))
            trial = self._trial(len(found.trials) + 1, rate_of(rung))
            if main.stop.requested:
                break
            told = self.assess(trial.files, search)
            main.progress.say(f"{rate_of(rung):,.0f}/s {told.outcome}{f': {told.why}' if told.why else ''}.")
            stairs.tell(rung, told.outcome)
            found.trials.append(told)
            if told.outcome == "held" or stairs.held is None:
                kept[rung] = trial
            write_json(main.files.capacity, found)
            if told.outcome != "held" and not _rested(trial):
                found.cut_off = f"requests were still in flight {LONGEST_REST_S} s after an overload"
                break
        held, failed = stairs.held, stairs.failed
        if stairs.next is not None and not found.cut_off:
            found.cut_off = "it was stopped"
        elif stairs.spoilt:
            found.cut_off = "the host disturbed too many trials"
        lowest = [one for one in found.trials if one.outcome == "failed" and rung_of(one.rate_rps) == failed]
        found.rps = None if held is None else rate_of(held)
        found.failed_rps = None if failed is None else rate_of(failed)
        found.gave_out = next((one.gave_out for one in lowest if one.gave_out), None)
        shares = [one.cpu_share for one in lowest if one.cpu_share is not None]
        found.failed_cpu_share = max(shares, default=None)
        elsewhere = any(one.elsewhere for one in lowest)
        found.at_least = held is not None and (failed is None or elsewhere or found.cut_off is not None)
        write_json(main.files.capacity, found)
        if shown := kept.get(held) if held is not None else next(reversed(kept.values()), None):
            self._keep(shown)
        return found

    def _start_rung(self) -> int:
        """By what requests cost at the end of the warm-up, where nothing else is known."""
        costs_ms = [cost for burst in self.main.warmup.bursts[-2:] if (cost := cpu_ms_without_jit(burst))]
        if self.known_rps or not costs_ms:
            return self._start
        cpus = self.main.approach.process().cpus or 1
        return min(self._start, max(rung_of(BUSY_START * 1000 * cpus / max(costs_ms)), 0))

    def _trial(self, number: int, rate_rps: float) -> Measurement:
        main = self.main
        load = _at(self._planned, rate_rps, self._lasts_s(rate_rps), self.search.held_s)
        request = main.request.model_copy(update={"load": load})
        trial = replace(main, request=request, run_dir=main.run_dir / "trials" / f"{number:02}", earlier=main)
        main.live.follow(request, main.run_dir)
        trial.begin()
        trial.apply_load(main.live)
        trial.finish()
        return trial

    def _lasts_s(self, rate_rps: float) -> int:
        """Until there are enough requests above its percentiles, which takes longer at low rates, and where answers may
        take long."""
        tails = [1 - PERCENT[one.figure] / 100 for one in self.search.objectives if one.figure in PERCENT]
        allowed_s = [one.below / 1000 for one in self.search.objectives if one.of_latency]
        answer_s = self.main.endpoint.mean_ms / 1000
        needed_s = max(ABOVE / min(tails) / rate_rps if tails else 0, FEWEST_WAVES * max(answer_s, 1))
        return max(self.search.trial_s, min(math.ceil(needed_s + max([answer_s, *allowed_s])) + 2, LONGEST_TRIAL_S))

    def _keep(self, trial: Measurement) -> None:
        """The trial at capacity becomes the run's own."""
        main = self.main
        for path in trial.files.raw.iterdir():
            if not (own := main.files.raw / path.name).exists():
                os.link(path, own)
        main.request = main.request.model_copy(update={"load": trial.request.load})
        write_json(main.files.request, main.request)

    def _load_at(self, run: Measurement, capacity_rps: float) -> None:
        share, lasts_s = run.request.capacity_share or 1, run.request.load.shape.duration_s
        planned_s = self._planned.connections / self.search.most_rps
        load = _at(run.request.load, share * capacity_rps, lasts_s, planned_s)
        run.request = run.request.model_copy(update={"load": load})
        run.earlier = self.main
        self.main.live.follow(run.request, run.run_dir)
        self.main.live.phase("warm-up")
        run.begin()
        run.apply_load(self.main.live)
        run.finish()
        _rested(run)


def _at(load: Load, rate_rps: float, lasts_s: int, held_s: float) -> Load:
    """At that rate, with connections for requests that are in flight so long."""
    connections = max(FEWEST_CONNECTIONS, math.ceil(rate_rps * held_s))
    return replace(at_rate(load, rate_rps, lasts_s), connections=connections)


def _rested(run: Measurement) -> bool:
    """Whether nothing is in flight any more."""
    if run.approach.process().inflight is None:
        run.stop.pause(REST_S)
    run.drain(LONGEST_REST_S)
    return not run.approach.process().inflight


def _standing(stairs: Staircase, rung: int) -> str:
    held, failed = (None if one is None else f"{rate_of(one):,.0f}/s" for one in (stairs.held, stairs.failed))
    known = " and ".join(filter(None, (held and f"{held} held", failed and f"{failed} failed")))
    return f"trial {len(stairs.tries) + 1}, {rate_of(rung):,.0f}/s{f'; {known}' if known else ''}"
