"""What hosts can hold; beyond it a request is refused before anything starts."""

import math

from loomlab.basics.errors import HostError, UsageError
from loomlab.plan.host import APPROACH_FILES, GENERATOR_FILES, PORTS, Host
from loomlab.plan.work import Work
from loomlab.records.load import Closed, Load, OpenRate, Users
from loomlab.tools.tool import Tool

ANSWER_MS = 20_000
"""Every tool gives a request up after 30 s."""
QUEUE_MS = 30_000
KEPT_BYTES = 40
"""Of a request, packed."""
SAMPLES_BYTES_PER_SECOND = 10_000
FASTEST_RPS = 20_000
"""What a closed load without delays may reach."""
SPARE_MB = 100


def handover(cpus: int) -> int:
    """Backend connections beyond the concurrency, for every approach: reactor-netty hands an answer on before its
    connection is back in the pool, so that each event loop may hold two for a moment. Its loops are as many as CPUs,
    and four at least (LoopResources.DEFAULT_IO_WORKER_COUNT of reactor-netty 1.3)."""
    return max(4, cpus)


def check_answer(work: Work) -> None:
    """Raises UsageError where the tools would not wait for an answer."""
    if work.answer_ms > ANSWER_MS:
        raise UsageError(
            f"ENDPOINT={work.loads[0].targets[0].target} with DELAY={work.asked.delay} answers after at least "
            f"{work.answer_ms:.0f} ms, which is too close to the tools' time-out of 30 s: use delays of at most "
            f"{ANSWER_MS} ms in total."
        )


def backend_pool(work: Work, host: Host) -> tuple[int, str | None]:
    """As many backend connections as were asked for, else as requests can hold and `handover` more, or what open files
    and ports leave; and why they are fewer than were wanted. Raises HostError where the host cannot hold the
    connections, and UsageError or HostError where requests would time out in the pool's queue."""
    asked, files, connections, endpoint = work.asked, host.open_files, work.connections, work.endpoint
    what, cure = f"CONCURRENCY={connections}", "use a lower CONCURRENCY"
    if asked.scenario:
        what, cure = f"NAME={asked.scenario} with {connections} connections", "use SCALE=auto"
    elif asked.rates_rps and not asked.connections:
        what, cure = f"RATE={asked.rates_rps[-1]:.9g} with {connections} connections", "use a lower RATE"
    raising = f"raise the hard limit (ulimit -Hn of the engine), or {cure}"
    if connections > (most := PORTS - GENERATOR_FILES):
        raise HostError(f"{what} needs more than the {PORTS} ports of one address, enough for {most}: {cure}.")
    room = min(files - connections - APPROACH_FILES, PORTS)
    if room < 1:
        raise HostError(
            f"{what} needs {connections + APPROACH_FILES + 1} open files and the hard limit is {files}, enough for "
            f"{files * 9 // 10 - APPROACH_FILES} connections: {raising}."
        )
    busy = connections * endpoint.at_once
    wanted = asked.backend_connections or busy + handover(host.cpus)
    pool = min(room, wanted)
    cut = bool(endpoint.backend_calls) and pool < (min(wanted, busy) if asked.backend_connections else wanted)
    queue_ms = work.answer_ms * busy / pool if endpoint.backend_calls else 0
    if queue_ms > QUEUE_MS:
        waits = f"a request of {what} would wait {queue_ms // 1000:.0f} s for a backend connection"
        if cut:
            raise HostError(f"{waits}, of which {files} open files allow {pool}: {raising}.")
        enough = math.floor(queue_ms * pool / QUEUE_MS) + 1
        raise UsageError(f"BACKEND_CONNECTIONS={pool} is too few: {waits}; use BACKEND_CONNECTIONS={enough} or more.")
    if not cut:
        return pool, None
    calls = f" of {endpoint.at_once} calls at once" if endpoint.at_once > 1 else ""
    cause = f"open files stop at {files}" if room < PORTS else f"one address has {PORTS} ports"
    requests = f"{connections} concurrent requests{calls}"
    return pool, f"the backend pool of every approach is {pool} connections for {requests}, because {cause}"


def check_space(work: Work, host: Host, generator: Tool) -> None:
    """Raises HostError where the results would not fit."""
    requests = [_most_requests(work, load) for load in work.loads]
    samples = sum(load.shape.duration_s for load in work.loads) * SAMPLES_BYTES_PER_SECOND
    kept = work.repeats * len(work.subjects) * (sum(requests) * KEPT_BYTES + samples)
    need_mb = SPARE_MB + (kept + max(requests) * generator.bytes_per_request) // 2**20
    if host.free_mb < need_mb:
        raise HostError(
            f"results/ has {host.free_mb} MB free and this experiment may need {need_mb} MB: "
            "delete old experiments, free the disk, or use a shorter DURATION or fewer REPEATS."
        )


def _most_requests(work: Work, load: Load) -> int:
    """No more than its rate offers, or its connections can ask for within its time."""
    shape, fit_requests = load.shape, work.free and work.asked.requests is None
    if isinstance(shape, OpenRate):
        return shape.requests
    wait_s = work.answer_ms / 1000 + (shape.think_s[0] if isinstance(shape, Users) else 0)
    most = int(min(load.connections / max(wait_s, 0.001), FASTEST_RPS) * shape.duration_s)
    return min(most, shape.requests) if isinstance(shape, Closed) and not fit_requests else most
