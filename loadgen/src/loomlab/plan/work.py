"""What all approaches are to do, by the user's variables or a scenario; and what hosts can hold of it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from loomlab.basics.errors import HostError, UsageError
from loomlab.basics.waves import LONGEST_RUN_S, LONGEST_SLICE_S, RAMP_S, SLICE_WAVES, SLICES
from loomlab.plan.capacity import Room, largest_scale, most_of, room_of, rounded_down
from loomlab.plan.host import APPROACH_FILES, GENERATOR_FILES, PORTS, Host, Lab, memory_mb_of, size_of
from loomlab.plan.requests import targets_of
from loomlab.plan.scenarios import hangs_of, load_scenario, scaled_scenario, scenario_loads
from loomlab.plan.searching import search_shapes, searched
from loomlab.plan.sides import sides_of
from loomlab.plan.subject import Model, subject_of, target_of
from loomlab.plan.values import endpoint_text
from loomlab.plan.variables import Asked
from loomlab.records.capacity import Search
from loomlab.records.endpoints import NO_DELAY, Delay, Endpoint, answer_ms, completed, delay_of, endpoint_of
from loomlab.records.load import Closed, Load, OpenRate, RateStep, Shape, Target
from loomlab.records.models import Foreign, Hang, ScaledScenario
from loomlab.records.order import Side, Subject
from loomlab.tools.known import SWEEPER, tool
from loomlab.tools.tool import Tool

OF_SUBJECTS = ("SERVICE", "PORT", "READY", "METRICS", "CA_FILE")
REQUESTS = Path("/requests")  # the folder of REQUESTS_FILE, in a container
OPEN_RUN_S = 60
TIMEOUT_S = 30  # the same for every tool; after so long a silence ab gives up and discards everything
SWEEP_REPEATS = 5  # the fewest for an interval that is not called coarse
IN_FLIGHT_FACTOR, FEWEST_FOR_RATE = 4, 100
"""Connections for a rate: as many as it keeps busy, times this, and at least so many."""
UNKNOWN_ANSWER_MS = 1000  # what an answer of a service of the user's is taken to last
RUNGS = (16, 4, 1)  # a ladder's connections: what the host holds, divided by these
MOST_PAIRED_THREADS = 5_000
REQUEST_CPU_MS = 0.35  # CPU that a request takes, roughly, beside what it asks for
MOST_RUNG = 20_000  # the most that the published benchmarks with ab have, whatever the tool
ANSWER_MS = 20_000  # every tool gives a request up after 30 s
QUEUE_MS = 30_000
DATABASE_POOL, MOST_DATABASE_POOL = 20, 200  # connections; database/postgresql.conf has room for two such pools
SEARCH_REPEATS = 6  # processes, each with a capacity of its own


@dataclass(frozen=True)
class Work:
    asked: Asked  # what the user asks for, completed by the scenario
    loads: list[Load]  # one after another
    approaches: list[str]
    repeats: int
    subject: Subject | None = None  # in place of approaches
    foreign: Foreign | None = None  # how a service of the user's is asked
    sides: dict[str, tuple[Side, Asked]] = field(default_factory=dict)  # of `compare`, each with what is asked for then
    pairs: list[tuple[str, str]] = field(default_factory=list)  # services that are loaded in turn; none: each is alone
    why_alone: str | None = None
    search: Search | None = None  # for the capacity of each process: loads are then at shares of it
    hangs: list[Hang] = field(default_factory=list)
    scenario: ScaledScenario | None = None

    @property
    def connections(self) -> int:
        return max(load.connections for load in self.loads)

    @property
    def endpoint(self) -> Endpoint:
        return _endpoint_of(self.loads[0].targets, delay_of(self.delay))

    @property
    def delay(self) -> str:
        """As requests have it."""
        return NO_DELAY if self.foreign else self.asked.delay

    @property
    def answer_ms(self) -> float:
        return answer_ms(self.endpoint, delay_of(self.delay))

    @property
    def free(self) -> bool:
        """Whether the lab may set duration and requests that were not asked for."""
        return self.scenario is None and self.loads[0].closed_model

    @property
    def subjects(self) -> list[str]:
        """What a block holds: each approach, and the first one's twin; or the sides of one."""
        return [*self.sides] or [*self.approaches, *([f"{self.approaches[0]}-twin"] if self.asked.aa else [])]


def work_of(asked: Asked, host: Host, lab: Lab, model: Model | None = None) -> Work:
    """The work, with the model that Compose makes of a service of the user's; raises UsageError for what there is not,
    and where the tools would not wait for an answer."""
    if asked.apart:
        _check_swarm(asked)
    work = _of_scenario(asked, host, lab, asked.scenario) if asked.scenario else _of_variables(asked, host, lab, model)
    for each in () if work.foreign else [own for _, own in work.sides.values()] or [asked]:
        _check_style(each, work.approaches, lab)
    if work.endpoint.database:
        _check_database(work, lab)
    driver = tool(work.asked.tool)
    if driver.http == "1.0" and (without := [name for name in work.approaches if name in lab.without_http10]):
        rest = ",".join(name for name in work.approaches if name not in without)
        cure = "use run-hey or run-vegeta" + (f", or APPROACH={rest}" if rest else "")
        raise UsageError(f"{driver.name} speaks HTTP/1.0, which {without[0]} does not: {cure}.")
    for load in work.loads:
        for share in load.shares(work.asked.generators):
            driver.check(share)
    accepted = int(lab.defaults.get("MAX_CONNECTIONS", work.connections))
    if work.asked.generators > 1 and not work.foreign and work.connections > accepted:
        fact = f"CONCURRENCY={work.connections} is more than MAX_CONNECTIONS={accepted} of the approaches"
        raise UsageError(f"{fact}: use a lower CONCURRENCY, or raise that in .env.")
    if work.answer_ms > ANSWER_MS:
        raise UsageError(
            f"ENDPOINT={work.loads[0].targets[0].target} with DELAY={work.asked.delay} answers after at least "
            f"{work.answer_ms:.0f} ms, which is too close to the tools' time-out of 30 s: use delays of at most "
            f"{ANSWER_MS} ms in total."
        )
    return work


def _check_swarm(asked: Asked) -> None:
    if asked.cpus and asked.cpu_mode != "quota":
        cure = "leave it out, or use CPU_MODE=quota"
        raise UsageError(f"CPUS={asked.cpus} does not go with LAB=swarm, where a service has all of its node: {cure}.")
    if asked.jfr:
        raise UsageError("JFR=1 does not go with LAB=swarm, where a recording stays on its node: leave it out.")


def _check_style(asked: Asked, approaches: Sequence[str], lab: Lab) -> None:
    if asked.style == "idiomatic" and (others := [name for name in approaches if name not in lab.idiomatic]):
        cure = f"use STYLE=lean, or APPROACH={','.join(lab.idiomatic)}"
        raise UsageError(f"STYLE=idiomatic does not exist for {others[0]}: {cure}.")
    if asked.style == "idiomatic" and asked.limit:
        raise UsageError(f"LIMIT={asked.limit} does not go with STYLE=idiomatic: use STYLE=lean.")
    if asked.platform_threads and asked.limit:
        both = f"LIMIT={asked.limit} and PLATFORM_THREADS={asked.platform_threads}"
        raise UsageError(f"{both} both are the size of the pool of threads: use one of them.")
    if asked.style == "idiomatic" and asked.http_client != "default":
        fact = f"HTTP_CLIENT={asked.http_client} does not go with STYLE=idiomatic"
        raise UsageError(f"{fact}, where each approach has its own client: use HTTP_CLIENT=default, or STYLE=lean.")


def _check_database(work: Work, lab: Lab) -> None:
    target = work.loads[0].targets[0].target
    if others := [name for name in work.approaches if name not in lab.databases]:
        cure = f"use APPROACH={','.join(lab.databases)}, or some of these"
        raise UsageError(f"ENDPOINT={target} asks the database, which {others[0]} does not: {cure}.")
    for own in [own for _, own in work.sides.values()] or [work.asked]:
        if own.style == "idiomatic":
            raise UsageError(f"ENDPOINT={target} does not go with STYLE=idiomatic: use STYLE=lean.")
        if own.pool and own.pool > MOST_DATABASE_POOL:
            raise UsageError(f"POOL={own.pool} is more than the database takes: use at most {MOST_DATABASE_POOL}.")


def _of_variables(asked: Asked, host: Host, lab: Lab, model: Model | None) -> Work:
    subject, foreign, delay = None, None, delay_of(asked.delay)
    if asked.target:
        asked, foreign = target_of(asked)
    elif model is not None:
        subject, foreign = subject_of(asked, model, lab.services)
        asked = asked.model_copy(update={"approach": subject.service})
    elif alone := next((name for name in OF_SUBJECTS if name in asked.given), None):
        cure = "set SUBJECTS, IMAGE or TARGET, too"
        raise UsageError(f"{alone}={asked.given[alone]} is for a service of yours: {cure}.")
    delay = delay_of(NO_DELAY) if foreign else delay
    target = asked.endpoint if foreign else completed(asked.endpoint, delay)
    if asked.jfr and (asked.limits or (asked.repeats or 1) > 1):
        name = "FAIL" if asked.limits else "REPEATS"
        fact = f"{name}={asked.given[name]} does not go with JFR=1"
        raise UsageError(f"{fact}, which records one run of each: leave it out.")
    targets: tuple[Target, ...] = (Target(target, "GET", endpoint_of(target, delay).headers),)
    if asked.requests_file:
        targets = targets_of(REQUESTS / Path(asked.requests_file).name)
        targets = targets if foreign else _own_targets(targets, delay)
    if foreign and not foreign.ready and targets[0].method != "GET":
        cure = "use READY=/health, or put a GET first"
        raise UsageError(f"READY is not set, and {targets[0].label} is no request to ask beforehand: {cure}.")
    endpoint = _endpoint_of(targets, delay)
    answer, connections = UNKNOWN_ANSWER_MS if foreign else answer_ms(endpoint, delay), asked.connections
    room = most_of(tool(asked.tool), _room_of(asked, host, lab), 0, 1)[1].values() if foreign else ()
    shapes: list[tuple[int, Shape]] = []
    for rate in asked.rates_rps:
        enough = max(FEWEST_FOR_RATE, int(min((IN_FLIGHT_FACTOR * (int(rate) + 1) * answer / 1000, *room))))
        steps = (RateStep(rate, asked.duration_s or OPEN_RUN_S),)
        shapes.append((connections[0] if connections else enough, OpenRate(steps)))
    search = searched(asked, _room_of(asked, host, lab), endpoint, delay) if asked.objectives else None
    shapes += search_shapes(search) if search else []
    if not shapes:
        if endpoint.database and not connections:
            fact = f"{targets[0].target} is answered as soon as the database does, so no CONCURRENCY follows from it"
            raise UsageError(f"{fact}: use for instance RATE=300 or CONCURRENCY=20.")
        connections = connections or ladder(tool(asked.tool), _room_of(asked, host, lab), endpoint, answer)
        shapes += [(each, Closed(asked.requests or each, asked.duration_s or LONGEST_RUN_S)) for each in connections]
    origin = (foreign and foreign.origin) or ""
    work = Work(
        asked=asked,
        loads=[Load(origin, targets, connections, shape, TIMEOUT_S) for connections, shape in shapes],
        approaches=[f"{asked.approach}"] if foreign else lab.named(asked.approach or "headline"),
        repeats=1
        if asked.jfr
        else asked.repeats or (SEARCH_REPEATS if search else SWEEP_REPEATS if asked.sweep else 1),
        subject=subject,
        foreign=foreign,
        sides=sides_of(asked, lab, subject),
        search=search,
    )
    singly = asked.design == "alone" or search is not None or origin != ""
    return in_pairs(work, host, lab) if asked.sweep and not singly else work


def _room_of(asked: Asked, host: Host, lab: Lab) -> Room:
    return room_of(host, asked.size, lab.sizes, apart=asked.apart)


def _endpoint_of(targets: Sequence[Target], delay: Delay) -> Endpoint:
    """The first one's, with the shortest wait and the mean work of all."""
    every = [endpoint_of(one.target, delay) for one in targets]
    return replace(every[0], floor_ms=min(one.floor_ms for one in every), work_ms=fmean(one.work_ms for one in every))


def _own_targets(targets: Sequence[Target], delay: Delay) -> tuple[Target, ...]:
    """Of the lab's endpoints, with what these need; raises UsageError where there is no such one."""
    own = []
    calls = set()
    for target in targets:
        try:
            path = endpoint_text(target.target)
        except ValueError as error:
            raise UsageError(f"REQUESTS_FILE: {target.target:.80}: {error}.") from None
        endpoint = endpoint_of(path, delay)
        own.append(replace(target, target=completed(path, delay), headers=(*endpoint.headers, *target.headers)))
        calls.add((endpoint.backend_calls, endpoint.at_once, endpoint.database))
    if len(calls) > 1:
        raise UsageError(
            "REQUESTS_FILE: its requests make different numbers of backend calls, or only some ask the database: use "
            "requests that do the same, such as /capabilities with and without cpuMicros."
        )
    return tuple(own)


def in_pairs(work: Work, host: Host, lab: Lab) -> Work:
    """The work in pairs, or why each approach is measured alone; raises UsageError or HostError for DESIGN=slices."""
    names, asked = work.approaches, work.asked
    pairs = [(lab.against[name], name) for name in names if lab.against.get(name) in names]
    if len(names) == 2:
        pairs = [(names[0], names[1])]
    if asked.aa:
        pairs = [(names[0], f"{names[0]}-twin")]
    if len(work.sides) == 2:
        pairs = [(work.subjects[0], work.subjects[1])]
    unpaired = [name for name in work.subjects if all(name not in pair for pair in pairs)]
    why = next(_no_pairs(work, host, unpaired), None)
    kind: type[Exception] = UsageError if why else HostError
    why = why or next(_no_room(work, host, lab, pairs), None)
    if why and asked.design == "slices":
        raise kind(f"DESIGN=slices is not possible: {why}, or DESIGN=alone.")
    return replace(work, why_alone=why.partition(":")[0]) if why else replace(work, pairs=pairs)


def _no_pairs(work: Work, host: Host, unpaired: Sequence[str]) -> Iterator[str]:
    """Why what is asked for cannot be loaded in turn, with cures."""
    asked = work.asked
    if asked.jfr:
        yield "JFR=1 records one process at a time: leave it out"
    if asked.rates_rps:
        yield f"RATE={asked.rates_rps[0]:.9g} is offered to one approach at a time: use CONCURRENCY"
    if asked.requests:
        yield f"REQUESTS={asked.requests} has no meaning in slices: use DURATION"
    if asked.generators > 1:
        yield f"GENERATORS={asked.generators} load one approach at a time: leave it out"
    if not tool(asked.tool).keeps_open:
        yield f"TOOL={asked.tool} connects anew for each slice: use TOOL={SWEEPER}"
    if asked.aa and len(work.approaches) > 1:
        yield f"AA=1 takes one approach in slices: use for instance APPROACH={work.approaches[0]}"
    elif len(work.sides) > 2:
        yield f"C={asked.c!r} makes three sides: leave C out"
    elif unpaired:
        yield f"{', '.join(unpaired)} has no partner here: name two approaches"
    wave_s = max(work.answer_ms / 1000, *(wave_cpu_s(work, load, host) for load in work.loads))
    slice_s = RAMP_S + max(SLICE_WAVES * wave_s, (asked.duration_s or 0) / SLICES)
    if slice_s > LONGEST_SLICE_S:
        why = f"over the limit of {LONGEST_SLICE_S} s after which servers may close idle connections"
        yield f"a slice would take {slice_s:.0f} s, {why}: lower DELAY, DURATION or CONCURRENCY"


def _no_room(work: Work, host: Host, lab: Lab, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Why the host cannot hold two approaches at once, with cures."""
    most, at_once = work.connections, work.endpoint.at_once
    files, calls = 2 * most * at_once + APPROACH_FILES, at_once if at_once > 1 else 0
    each = (work.asked.platform_threads or most) * (1 + calls)
    threads = max(sum("-platform" in name for name in pair) for pair in pairs) * each
    if threads > MOST_PAIRED_THREADS:
        fact = f"two approaches would use {threads} platform threads, and the limit is {MOST_PAIRED_THREADS}"
        yield f"{fact}: lower CONCURRENCY or PLATFORM_THREADS"
    if work.endpoint.backend_calls and files > min(host.open_files, PORTS):
        fact = f"the backend would need {files} connections and files for two approaches, and the limit is"
        yield f"{fact} {min(host.open_files, PORTS)}: lower CONCURRENCY"
    sizes = (size_of(work.asked.size, host, most, lab.sizes, count, apart=work.asked.apart) for count in (1, 2))
    alone, both = (memory_mb_of(size["APPROACH_MEMORY"]) for size in sizes)
    if both < alone or ((lab.sizes / f"{work.asked.size}.env").exists() and both + alone > host.memory_mb):
        need = f"two approaches of {alone} MB need more than this host's {host.memory_mb} MB"
        yield f"{need}: lower CONCURRENCY, or use another SIZE"


def wave_cpu_s(work: Work, load: Load, host: Host) -> float:
    """The CPU of one request on each connection, roughly, on half of the CPUs."""
    return load.connections * (REQUEST_CPU_MS + work.endpoint.work_ms) // max(1, host.cpus // 2) / 1000


def ladder(generator: Tool, room: Room, endpoint: Endpoint, answer_ms: float) -> list[int]:
    """Connections up to the most at which the host is not what limits the runs, as `SCALE=auto` has it."""
    rates_rps, connections = most_of(generator, room, endpoint.work_ms, endpoint.connections_held)
    most = min(*connections.values(), min(rates_rps.values()) * answer_ms / 1000, MOST_RUNG)
    return sorted({int(rounded_down(max(int(most / rung), 1), 1)) for rung in RUNGS})


def _of_scenario(asked: Asked, host: Host, lab: Lab, name: str) -> Work:
    scenario = load_scenario(lab.scenarios, name)
    for approach in scenario.approaches:
        if approach not in lab.approaches:
            raise UsageError(f"{name}.yaml names {approach}: use names of {', '.join(lab.approaches)}.")
    room = _room_of(asked, host, lab)
    factor = largest_scale(scenario, room)[0] if asked.scale == "auto" else float(asked.scale)
    completing = {
        "tool": scenario.tool,
        "delay": scenario.delay,
        "platform_threads": asked.platform_threads or scenario.platform_threads,
        "jdk": asked.given.get("JDK") or f"{scenario.jdk}",
    }
    return Work(
        asked=asked.model_copy(update=completing),
        loads=scenario_loads(scenario, lab.scenarios, factor, asked.duration_s),
        approaches=lab.named(asked.approach) if asked.approach else list(scenario.approaches),
        repeats=asked.repeats or scenario.repeats,
        hangs=hangs_of(scenario, asked.duration_s),
        scenario=scaled_scenario(name, scenario, factor),
    )


def handover(cpus: int) -> int:
    """Backend connections beyond the concurrency: reactor-netty hands an answer on before its connection is back in the
    pool, one for each event loop, of which there are four at least (reactor-netty 1.3, DEFAULT_IO_WORKER_COUNT)."""
    return max(4, cpus)


def backend_pool(work: Work, host: Host) -> tuple[int, str | None]:
    """Backend connections as asked for, else as many as requests hold and `handover` more, or what files and ports
    leave, and why these are fewer. Raises HostError or UsageError where the host, or its queue, cannot hold it."""
    asked, files, connections, endpoint = work.asked, host.open_files, work.connections, work.endpoint
    what, cure = f"CONCURRENCY={connections}", "use a lower CONCURRENCY"
    if asked.scenario:
        what, cure = f"NAME={asked.scenario} with {connections} connections", "use SCALE=auto"
    elif asked.rates_rps and not asked.connections:
        what, cure = f"RATE={asked.rates_rps[-1]:.9g} with {connections} connections", "use a lower RATE"
    raising = f"raise the hard limit (ulimit -Hn of the engine), or {cure}"
    if connections > (most := asked.generators * (PORTS - GENERATOR_FILES)):
        cure = cure if asked.scenario else f"{cure}, or more GENERATORS"
        of = "one address" if asked.generators == 1 else f"each of {asked.generators} addresses"
        raise HostError(f"{what} needs more than the {PORTS} ports of {of}, enough for {most}: {cure}.")
    room = min(files - connections - APPROACH_FILES, PORTS)
    if room < 1:
        fact = f"{what} needs {connections + APPROACH_FILES + 1} open files and the hard limit is {files}"
        raise HostError(f"{fact}, enough for {files * 9 // 10 - APPROACH_FILES} connections: {raising}.")
    busy = connections * endpoint.at_once
    wanted = asked.pool or (DATABASE_POOL if endpoint.database else busy + handover(host.cpus))
    pool = min(room, wanted)
    cut = bool(endpoint.backend_calls) and pool < (min(wanted, busy) if asked.pool else wanted)
    queue_ms = work.answer_ms * busy / pool if endpoint.backend_calls or endpoint.database else 0
    if queue_ms > QUEUE_MS:
        waits = f"a request of {what} would wait {queue_ms // 1000:.0f} s for a connection"
        if cut:
            raise HostError(f"{waits}, of which {files} open files allow {pool}: {raising}.")
        enough = math.floor(queue_ms * pool / QUEUE_MS) + 1
        raise UsageError(f"POOL={pool} is too few: {waits}; use POOL={enough} or more.")
    if not cut:
        return pool, None
    calls = f" of {endpoint.at_once} calls at once" if endpoint.at_once > 1 else ""
    cause = f"open files stop at {files}" if room < PORTS else f"one address has {PORTS} ports"
    requests = f"{connections} concurrent requests{calls}"
    return pool, f"the backend pool of every approach is {pool} connections for {requests}, because {cause}"
