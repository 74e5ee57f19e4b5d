"""One measurement: warm-up, the measured run, and everything about it as raw files."""

import math
import os
import re
import time
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from loomlab.basics.errors import HostError
from loomlab.basics.grouping import parse_cpu_list
from loomlab.basics.waves import RAMP_S, chosen_duration_s
from loomlab.records.endpoints import delay_of, endpoint_of
from loomlab.records.files import TOOL, RunFiles, read_record, settle, write_json
from loomlab.records.load import Closed, Load
from loomlab.records.measured import BackendDelays
from loomlab.records.models import HostLog, Request, ToolRun
from loomlab.records.raw import MemoryAnswer, Warmup
from loomlab.run.console import Progress, Stop
from loomlab.run.foreign import UNREACHED, ForeignService, Target
from loomlab.run.generators import FOLDER, Generators
from loomlab.run.live import PORT, LiveFigures, LiveProgress
from loomlab.run.management import Backend, Management, Waits, hanging, probe
from loomlab.run.memory_probe import LEFTOVERS_S, LiveSet
from loomlab.run.process import LONGEST_DRAIN_S, Bursts, Generator, boot_id, network_counters
from loomlab.run.prometheus import Prometheus, UnreachableError, json_object
from loomlab.run.warmer import Warmer, latency_ms
from loomlab.tools import several
from loomlab.tools.known import HOLDER, tool
from loomlab.tools.tool import Tool

HARD_CAP_MARGIN_S = 15.0
PROBE_MARGIN_S = 30.0
COMPANIONS_S = 60  # so long a service of the user's may fail because what it calls is not up yet
SPARE_REQUESTS = 2  # so many times those that fit: time ends the run


@dataclass
class Measurement:
    request: Request
    run_dir: Path
    prometheus_url: str
    stop: Stop
    progress: Progress
    earlier: "Measurement | None" = None  # of the same process at a smaller load

    def __post_init__(self) -> None:
        self._began = time.time()
        self.tool = tool(self.request.tool)
        self.files = RunFiles(self.run_dir)
        self.approach = _service_of(self.request)
        self.backend = Backend("backend")
        count = self.request.generators
        self.generator = Generators(self.run_dir / FOLDER, count) if count > 1 else Generator()
        if self.request.outside or count > 1:
            self.tool = copy(self.tool)
            self.tool.counter = None  # nothing of the lab scrapes it, or that of one alone
        self.prometheus = Prometheus(self.prometheus_url)
        delay = delay_of(self.request.delay)
        self.endpoint = endpoint_of(self.request.endpoint, delay)
        self.waits = Waits(self.endpoint, delay, self.backend, self.progress)

    def run(self) -> bool:
        """Leaves raw/; True when it came to its end, False when it was stopped."""
        self.live.phase("warm-up")
        self.generator.wait_until_ready(self.stop)
        self.begin()
        self.wait_for_samples()
        if not self.stop.requested:
            self.apply_load(self.live)
        self.end()
        return not self.stop.requested

    def wait_until_ready(self) -> None:
        """Of a service of the user's, which Compose cannot ask; raises HostError."""
        if isinstance(self.approach, Target):
            self.approach.wait_until_ready(self.stop)

    @cached_property
    def live(self) -> LiveFigures:
        """What the world sees of it; served from now on."""
        return LiveFigures(self.request, self.run_dir, self.progress, None if self.request.outside else PORT)

    def begin(self) -> None:
        """Looks at the approach and warms it up; the load is then as it will be measured."""
        self.files.raw.mkdir(parents=True, exist_ok=True)
        write_json(self.files.request, self.request)
        self.before: MemoryAnswer = self.earlier.before if self.earlier else self.approach.memory()
        self.about = self._look()
        self.warmup: Warmup = self.earlier.warmup if self.earlier else self._warm_up()
        write_json(self.files.warmup, self.warmup)
        load = fitted(self.request, self.tool, self.warmup, self.endpoint.mean_ms)
        self.request = self.request.model_copy(update={"load": load})
        write_json(self.files.request, self.request)

    def wait_for_samples(self, moment: float | None = None) -> None:
        """Past that moment, by default its beginning; of what the lab runs."""
        foreign = self.request.foreign
        tells = foreign is None or foreign.metrics is not None
        if not self.request.outside:
            self.prometheus.wait_for_samples(self.request.name, moment or self._began, self.stop, tells=tells)

    def drain(self, longest_s: float) -> None:
        self._bursts(self.tool).drain(longest_s)

    def _bursts(self, driver: Tool, longest_drain_s: float = LONGEST_DRAIN_S) -> Bursts:
        return Bursts(driver, self.approach, self.stop, longest_drain_s, generator=self.generator)

    def end(self) -> None:
        """Measures what waiting requests hold, and finishes."""
        self.measure_memory(self.request.load)
        self.finish()

    def measure_memory(self, load: Load) -> None:
        """What waiting requests of it hold: as many as it has in flight, or as pools are kept for."""
        if not self.stop.requested and not self.request.outside:
            bursts = self._bursts(tool(HOLDER), LEFTOVERS_S)
            request = self.request.model_copy(update={"load": load})
            log = LiveSet(request, self.about, bursts, self.waits).measure(self.before, self.warmup)
            write_json(self.files.memory, log)

    def finish(self) -> None:
        """Notes that the run came to its end."""
        if not self.stop.requested:
            settle(self.run_dir)
            write_json(self.files.request, self.request.model_copy(update={"finished": True}))

    def _look(self) -> dict[str, Any] | None:
        """What the approach tells of itself; how it answers is only kept."""
        target, origin, foreign = self.request.load.targets[0], self.request.load.origin, self.request.foreign
        timeout_s = self.endpoint.floor_ms / 1000 + PROBE_MARGIN_S
        if target.method == "GET":
            headers = tuple(map(_sent, target.headers))
            first = foreign if not self.earlier else None  # later ones may find it dead by an overload
            again_until = time.monotonic() + COMPANIONS_S if first and not first.origin else 0
            while True:
                then = target.target if foreign else "/about"
                found = probe(origin, target.target, headers, timeout_s, self.tool.http, then)
                odd = next((one.status for one in found.answers.values() if " 2" not in one.status), found.error)
                failing = odd and (found.error or " 5" in odd)
                if not failing or self.stop.requested or time.monotonic() > again_until:
                    break
                self.stop.pause(1)
            write_json(self.files.probe, found)
            if first and found.error:
                cure = UNREACHED if first.origin else "see raw/, and check PORT"
                raise HostError(f"{found.error}: {cure}.")
            if first and odd:
                raise HostError(f"{target.target} of {origin} is answered {odd}: only answers 2xx are measured.")
        if foreign:
            return None
        try:
            about = (self.earlier and self.earlier.about) or json_object(f"{self.request.load.origin}/about")
        except UnreachableError as error:
            self.progress.say(f"The effective configuration is unknown: {error}.")
            about = {"error": str(error)}
        write_json(self.files.about, about)
        return about

    def _warm_up(self) -> Warmup:
        request = self.request
        bursts = self._bursts(self.tool)
        warmup = Warmer(bursts, self.waits, request.load, request.warmup_cap_s).run(settles=request.partner is None)
        if warmup.failed and (request.foreign or any(target.kind for target in request.load.targets)):
            raise HostError(
                f"No request to {request.name} was answered 2xx in the warm-up: see raw/, and your requests."
            )
        if warmup.failed:
            self.progress.say("The warm-up got no answer: measuring anyway, so that the run can be judged.")
        elif cause := warmup.digest.cause:
            self.progress.say(f"The warm-up was cut short by its cap of {request.warmup_cap_s:.0f} s: {cause}.")
        return warmup

    def apply_load(self, live: LiveFigures) -> None:
        """The measured phase is told for as long as the tool runs: what is drawn of it is of nothing else."""
        approach, driver, files, load = self.request.name, self.tool, self.files, self.request.load
        duration_s = load.shape.duration_s
        # One that ends by its requests takes as much longer as it is slower than the warm-up.
        margin_s = HARD_CAP_MARGIN_S if driver.stops_by_time else max(HARD_CAP_MARGIN_S, duration_s / 2)
        asked = None if self.request.outside else self.prometheus_url
        progress = LiveProgress(approach, load, driver, asked, self.progress)
        delay_before = self.delay()
        peaks_reset = self.approach.reset_peaks()
        network_before = network_counters()
        with hanging(self.request.hangs, self.backend, self.progress):
            live.phase("measure")
            longest_s = duration_s + load.timeout_s + margin_s
            run, samples = self.generator.send(driver, load, files.raw, longest_s, self.stop, progress.show, RAMP_S)
            live.phase("collect")
        host = HostLog(
            samples=samples,
            network_before=network_before,
            network_after=network_counters(),
            peaks_reset=peaks_reset,
            boot_id=boot_id(),
        )
        self.keep(run, host, delay_before)

    def delay(self) -> str | None:
        """The backend's, where requests are of a service that may ask it."""
        return None if self.request.outside else self.backend.delay()

    def keep(self, run: ToolRun, host: HostLog, delay_before: str | None, partner: str | None = None) -> None:
        """Writes what the load showed, and waits for its last samples."""
        write_json(self.files.tool, run)
        write_json(self.files.host, host)
        write_json(self.files.backend, BackendDelays(before=delay_before, after=self.delay()))
        several.finish(self.tool, self.files.raw)
        runs = (read_record(folder / TOOL, ToolRun) for folder in several.folders_of(self.files.raw))
        ended = max(one.ended for one in runs if one)
        if self.request.outside:
            return
        self.progress.show("collect", "waiting for the last samples")
        self.wait_for_samples(ended)
        companions = self.request.foreign.companions if self.request.foreign else ()
        beside = [*filter(None, (partner,)), *companions]
        metrics = self.prometheus.collect(self.request.name, run.started, ended, beside)
        write_json(self.files.metrics, metrics)
        if metrics["error"]:
            self.progress.say(f"Metrics are missing: {metrics['error']}.")


def _service_of(request: Request) -> Management:
    """What is asked of the service under test, beside its load."""
    foreign = request.foreign
    if foreign is None:
        return Management(request.name)
    if foreign.origin:
        return Target(foreign.origin, foreign.ready, request.load.connections)
    return ForeignService(
        request.name, foreign, request.quota_cpus or len(parse_cpu_list(request.approach_cpus) or ()) or None
    )


def _sent(header: str) -> str:
    """With a variable of the environment in place of each `${NAME}`, as load generators have it."""
    return re.sub(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", lambda found: os.environ.get(found[1], ""), header)


def fitted(request: Request, driver: Tool, warmup: Warmup, answer_ms: float) -> Load:
    """The load with what was left to the lab, by the latency that the warm-up ended with, else `answer_ms`."""
    load, shape = request.load, request.load.shape
    if not isinstance(shape, Closed) or request.partner:
        return load
    settled = [burst for burst in warmup.bursts if burst.phase == "settle"]
    latency_s = (latency_ms(settled) or max(answer_ms, 1)) / 1000
    duration_s = chosen_duration_s(latency_s) if request.fit_duration else shape.duration_s
    fitting = max(math.floor(duration_s / latency_s), 1) * load.connections
    requests = shape.requests
    if request.fit_requests:
        requests = fitting * (SPARE_REQUESTS if driver.stops_by_time else 1)
    elif settled and not driver.stops_by_time:
        requests = min(fitting, requests)
    most = max(share.connections for share in load.shares(request.generators))
    requests = min(requests, driver.max_requests // most * load.connections)
    return replace(load, shape=replace(shape, requests=requests, duration_s=duration_s))
