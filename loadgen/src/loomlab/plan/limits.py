"""What hosts can hold; beyond it a request is refused before anything starts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from loomlab.basics.errors import HostError, UsageError
from loomlab.plan.host import Host
from loomlab.records.load import Closed, Load, OpenRate, Users
from loomlab.tools.tool import Tool

PORTS = 64_511
"""1024 to 65535 of one address, which compose.yaml gives every container."""
GENERATOR_FILES, APPROACH_FILES = 50, 500
"""Descriptors of the tool and of a JVM beside those of their connections."""
THREADS = 32_000
"""Linux' default vm.max_map_count leaves room for so many."""
ANSWER_MS = 20_000
"""Every tool gives a request up after 30 s."""
QUEUE_MS = 30_000
KEPT_BYTES = 40
"""Of a request, packed."""
SAMPLES_BYTES_PER_SECOND = 10_000
FASTEST_RPS = 20_000
"""What a closed load without delays may reach."""
SPARE_MB = 100


@dataclass(frozen=True)
class Pool:
    """Backend connections, the same for every approach."""

    connections: int
    suspicion: str | None = None
    """Why they are fewer than were wanted."""


def check_answer(endpoint: str, delay: str, answer_ms: float) -> None:
    """Raises UsageError where the tools would not wait for an answer."""
    if answer_ms > ANSWER_MS:
        raise UsageError(
            f"ENDPOINT={endpoint} with DELAY={delay} answers after at least {answer_ms:.0f} ms, which is too close "
            f"to the tools' time-out of 30 s: use delays of at most {ANSWER_MS} ms in total."
        )


def handover(cpus: int) -> int:
    """Backend connections beyond the concurrency, for every approach: reactor-netty hands an answer on before its
    connection is back in the pool, so that each event loop may hold two for a moment. Its loops are as many as CPUs,
    and four at least (LoopResources.DEFAULT_IO_WORKER_COUNT of reactor-netty 1.3)."""
    return max(4, cpus)


def pool_of(
    host: Host, connections: int, asked: int | None, wait_ms: float, whose: str | None = None, at_once: int = 1
) -> Pool:
    """As many backend connections as were asked for, else as requests can hold and `handover` more, or what open files
    and ports leave. `wait_ms` is how long a request holds `at_once` of them, 0: it needs none. Raises HostError where
    the host cannot hold the connections, and UsageError or HostError where requests would time out in the pool's queue.
    `whose`: what the connections follow from, such as RATE=500, where they were not asked for."""
    files, busy = host.open_files, connections * at_once
    wanted = asked or busy + handover(host.cpus)
    what = f"{whose} with {connections} connections" if whose else f"CONCURRENCY={connections}"

    def fewer(most: int | None = None) -> str:
        if whose:
            return "use a lower RATE" if whose.startswith("RATE=") else "use SCALE=auto"
        return f"use CONCURRENCY={most} or less" if most else "use a lower CONCURRENCY"

    if connections > PORTS - GENERATOR_FILES:
        raise HostError(
            f"{what} needs more than the {PORTS} ephemeral ports of one address: {fewer(PORTS - GENERATOR_FILES)}."
        )
    room = min(files - connections - APPROACH_FILES, PORTS)
    if room < 1:
        raise HostError(
            f"{what} needs {connections + APPROACH_FILES + 1} open files and the hard limit is {files}: "
            f"raise it (ulimit -Hn of the engine), or {fewer(files * 9 // 10 - APPROACH_FILES)}."
        )
    pool = min(room, wanted)
    cut = pool < (wanted if asked is None else min(asked, busy)) and wait_ms > 0
    queue_ms = wait_ms * busy / pool
    if queue_ms > QUEUE_MS and cut:
        raise HostError(
            f"{what} leaves {pool} of {files} open files for backend connections, so a request "
            f"would wait {queue_ms // 1000:.0f} s: raise the hard limit (ulimit -Hn of the engine), or {fewer()}."
        )
    if queue_ms > QUEUE_MS:
        raise UsageError(
            f"BACKEND_CONNECTIONS={pool} lets a request of CONCURRENCY={connections} wait {queue_ms // 1000:.0f} s for "
            f"a connection: use BACKEND_CONNECTIONS={math.floor(queue_ms * pool / QUEUE_MS) + 1} or more."
        )
    each = f" of {at_once} calls at once" if at_once > 1 else ""
    cause = f"open files stop at {files}" if room < PORTS else f"one address has {PORTS} ports"
    suspicion = (
        f"the backend pool of every approach is {pool} connections for {connections} concurrent requests{each}, "
        f"because {cause}"
    )
    return Pool(pool, suspicion if cut else None)


def check_space(
    free_mb: int, tool: Tool, loads: Sequence[Load], runs_of_each: int, answer_ms: float, *, counted: bool
) -> None:
    """Raises HostError where results of so many runs would not fit; `counted`: closed loads end at their requests."""
    requests = [_most_requests(load, answer_ms, counted=counted) for load in loads]
    samples = sum(load.shape.duration_s for load in loads) * SAMPLES_BYTES_PER_SECOND
    kept = runs_of_each * (sum(requests) * KEPT_BYTES + samples)
    need_mb = SPARE_MB + (kept + max(requests) * tool.bytes_per_request) // 2**20
    if free_mb < need_mb:
        raise HostError(
            f"results/ has {free_mb} MB free and this experiment may need {need_mb} MB: "
            "delete old experiments, free the disk, or use a shorter DURATION or fewer REPEATS."
        )


def _most_requests(load: Load, answer_ms: float, *, counted: bool) -> int:
    """No more than its rate offers, or its connections can ask for within its time."""
    shape = load.shape
    if isinstance(shape, OpenRate):
        return shape.requests
    wait_s = answer_ms / 1000 + (shape.think_s[0] if isinstance(shape, Users) else 0)
    most = int(min(load.connections / max(wait_s, 0.001), FASTEST_RPS) * shape.duration_s)
    return min(most, shape.requests) if counted and isinstance(shape, Closed) else most
