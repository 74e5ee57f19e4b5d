"""What tools and hosts can hold; beyond it a request is refused before anything starts."""

import math
from dataclasses import dataclass

from loomlab.basics.errors import HostError, UsageError
from loomlab.plan.host import Host

AB_CONNECTIONS = 20_000
"""ab.c, MAX_CONCURRENCY."""
HEY_REQUESTS = 1_000_000
"""hey's report.go, maxRes: it forgets later ones."""
PORTS = 64_511
"""1024 to 65535 of one address, which compose.yaml gives every container."""
GENERATOR_FILES, APPROACH_FILES = 50, 500
"""Descriptors of the tool and of a JVM beside those of their connections."""
THREADS = 32_000
"""Linux' default vm.max_map_count leaves room for so many."""
ANSWER_MS = 20_000
"""Every tool gives a request up after 30 s."""
QUEUE_MS = 30_000
WAVES = 120
"""An example of requests per connection."""


@dataclass(frozen=True)
class Pool:
    """Backend connections, the same for every approach; `suspicion`: why they are fewer than were wanted."""

    connections: int
    suspicion: str | None = None


def check_load(tool: str, connections: int, requests: int | None) -> None:
    """Raises UsageError for what the tool cannot do, or what makes no load."""
    if tool == "ab" and connections > AB_CONNECTIONS:
        raise UsageError(
            f"CONCURRENCY={connections} is more than ab's {AB_CONNECTIONS} connections: "
            f"use CONCURRENCY={AB_CONNECTIONS} or less."
        )
    if requests is None:
        return
    if tool == "hey" and requests > HEY_REQUESTS:
        raise UsageError(
            f"REQUESTS={requests} is not a whole number from 1 to {HEY_REQUESTS}: "
            f"use for instance REQUESTS={min(connections * WAVES, HEY_REQUESTS)}."
        )
    if requests < connections:
        raise UsageError(
            f"REQUESTS={requests} is less than CONCURRENCY={connections}: "
            f"use REQUESTS={connections * WAVES}, or leave it out."
        )


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


def room_for_pool(open_files: int, connections: int) -> int:
    """Backend connections that open files and ports leave beside those of the load."""
    return min(open_files - connections - APPROACH_FILES, PORTS)


def pool_of(
    host: Host, connections: int, asked: int | None, wait_ms: float, whose: str | None = None, at_once: int = 1
) -> Pool:
    """As many backend connections as were asked for, else as requests can hold and `handover` more, or what open files
    and ports leave. `wait_ms` is how long a request holds `at_once` of them, 0: it needs none. Raises HostError where
    the host cannot hold the connections, and UsageError or HostError where requests would time out in the pool's queue.
    `whose`: what the connections follow from, such as RATE=500, where they were not asked for."""
    files = host.open_files
    busy = connections * at_once
    wanted = asked or busy + handover(host.cpus)
    what = f"{whose} with {connections} connections" if whose else f"CONCURRENCY={connections}"

    def fewer(most: int | None = None) -> str:
        if whose:
            return "use a lower RATE" if whose.startswith("RATE=") else "use SCALE=auto"
        return "use a lower CONCURRENCY" if most is None else f"use CONCURRENCY={most} or less"

    if connections + GENERATOR_FILES > PORTS:
        raise HostError(
            f"{what} needs more than the {PORTS} ephemeral ports of one address: {fewer(PORTS - GENERATOR_FILES)}."
        )
    room = room_for_pool(files, connections)
    if connections + GENERATOR_FILES > files or room < 1:
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
    if not cut:
        return Pool(pool)
    each = f" of {at_once} calls at once" if at_once > 1 else ""
    cause = f"open files stop at {files}" if room < PORTS else f"one address has {PORTS} ports"
    return Pool(
        pool,
        f"the backend pool of every approach is {pool} connections for {connections} concurrent requests{each}, "
        f"because {cause}",
    )
