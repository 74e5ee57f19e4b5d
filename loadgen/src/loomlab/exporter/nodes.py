"""What each node of a swarm is, as the exporter on it tells: for an experiment's facts, and for `make doctor`."""

import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Annotated

import typer
from pydantic import TypeAdapter

from loomlab.exporter.engine import NODE_PORT
from loomlab.records.models import NodeFacts
from loomlab.run.prometheus import UnreachableError, answered, samples_of

EXPORTER = "cadvisor"
MOST_APART_MS = 100
LISTED = TypeAdapter(list[NodeFacts])


def told_by_nodes(listed: Sequence[NodeFacts], addresses: Sequence[str], port: int = NODE_PORT) -> list[NodeFacts]:
    """With what their exporters tell, if they answer, and how far their clocks are ahead of this one."""
    told = dict[str, dict[str, object]]()
    for address in addresses:
        with suppress(UnreachableError, KeyError):
            samples = {one.name: one for one in samples_of(answered(f"http://{address}:{port}/metrics"))}
            ahead_ms = round(1000 * (samples["lab_node_clock_seconds"].value - time.time()))
            facts = samples["lab_node_info"].labels
            told[facts["name"]] = {**facts, "clock_off_ms": ahead_ms}
    return [NodeFacts.model_validate(node.model_dump() | told.get(node.name, {})) for node in listed]


def _nodes() -> list[NodeFacts]:
    """Those that stdin lists."""
    found = []
    with suppress(OSError):  # there is no exporter
        found = socket.getaddrinfo(EXPORTER, NODE_PORT, socket.AF_INET, socket.SOCK_STREAM)
    return told_by_nodes(LISTED.validate_json(sys.stdin.read()), sorted({str(address[0]) for *_, address in found}))


def tell_nodes() -> None:
    """Print the nodes that stdin lists, with what their exporters tell, as JSON."""
    print(*(node.model_dump_json(exclude={"image_ids"}) for node in _nodes()), sep=", ")  # noqa: T201


def check_nodes(
    image: Annotated[list[str], typer.Option(help="ROLE=NAME=ID, of an image that the role's node must have.")],
    files: Annotated[int, typer.Option(help="Open files that the largest load needs.")],
    threads: Annotated[int, typer.Option(help="Threads that it needs.")],
) -> None:
    """Print what the nodes that stdin lists have and lack, a line each."""
    for finding in findings(_nodes(), [tuple(one.split("=")) for one in image], files, threads):
        print(*finding, sep="\t")  # noqa: T201


def _off(node: NodeFacts) -> str:
    off_ms = node.clock_off_ms or 0
    return f"{abs(off_ms)} ms {'behind' if off_ms < 0 else 'ahead of'} this host's"


def findings(
    nodes: Sequence[NodeFacts], images: Sequence[tuple[str, ...]], files: int, threads: int
) -> Iterator[tuple[str, ...]]:  # kind, name, what, and the cure, as bin/doctor prints them
    """An approach's image may be missing, as long as it is not measured."""
    for name, several in Counter(node.name for node in nodes).items():
        if several > 1:
            yield "fails", f"node {name}", f"{several} nodes have this name", "run hostnamectl set-hostname on one"
    for node in nodes:
        if node.kernel is None:
            cure = "start its engine, and open 2377/tcp, 7946/tcp, 7946/udp and 4789/udp between nodes"
            yield "fails", f"node {node.name}", "its exporter does not answer over the overlay", cure
            continue
        size = f"{(node.nano_cpus or 0) // 10**9} CPUs ({node.cpu_model or 'not told'})"
        size += f", {(node.memory_bytes or 0) / 2**30:.1f} GiB"
        yield "fine", f"node {node.name}", f"kernel {node.kernel}, {size}, clock {_off(node)}, MTU {node.mtu}"
        lacks = [name for role, name, digest in images if role == node.role and digest not in node.image_ids.split()]
        if lacks:
            cure = f"docker save {' '.join(lacks)} | ssh {node.name} docker load"
            kind = "caveat" if node.role == "approach" else "fails"
            yield kind, f"images {node.name}", f"it lacks this engine's {', '.join(lacks)}", cure
        if abs(node.clock_off_ms or 0) > MOST_APART_MS:
            cure = "run chrony or systemd-timesyncd on every node"
            yield "caveat", f"clock {node.name}", _off(node), cure
        for name, has, needs, cure in (
            ("open files", node.open_files, files, "raise LimitNOFILE of docker.service and containerd.service"),
            ("threads", node.threads, threads, "raise vm.max_map_count, kernel.pid_max and kernel.threads-max"),
        ):
            if has is not None and has < needs:
                yield "caveat", f"{name} {node.name}", f"{has}, and CONCURRENCY=10000 needs {needs}", cure
    mtus = {node.name: node.mtu for node in nodes if node.mtu}
    if len({*mtus.values()}) > 1:
        told = ", ".join(f"{name} {mtu}" for name, mtu in mtus.items())
        yield "caveat", "MTU", told, "set one for all engines (mtu in /etc/docker/daemon.json)"
