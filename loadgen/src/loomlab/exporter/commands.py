"""The commands that tell, and ask for, what containers take."""

import signal
import socket
from pathlib import Path
from typing import Annotated

import typer
from prometheus_client import CollectorRegistry, start_http_server

from loomlab.exporter.engine import Engine
from loomlab.exporter.page import ContainerFigures
from loomlab.exporter.seen import prove
from loomlab.exporter.trees import tree_at


def register(app: typer.Typer) -> None:
    """Adds the commands to the program."""
    app.command(name="export-cgroups")(export_cgroups)
    app.command(name="sees-containers")(sees_containers)


def export_cgroups(
    cgroups: Annotated[Path, typer.Option(help="The host's cgroups.")] = Path("/host/cgroup"),
    engine: Annotated[Path, typer.Option(help="The engine's socket.")] = Path("/var/run/docker.sock"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the page is served.")] = 8080,
) -> None:
    """Serve CPU, memory and threads of Compose's containers as cAdvisor does, from the kernel's cgroup files."""
    registry = CollectorRegistry()
    registry.register(ContainerFigures(tree_at(cgroups), Engine(engine)))
    start_http_server(port, registry=registry)
    signal.pause()


def sees_containers(
    url: Annotated[str, typer.Argument(help="A page of container metrics.")],
    container: Annotated[str, typer.Option(help="What the ID of the container that this runs in begins with.")] = "",
    cap_s: Annotated[float, typer.Option(min=0, help="The longest it may take.")] = 15,
) -> None:
    """Spend CPU time, and say whether the page tells that, RSS and threads of the container that this runs in."""
    prove(url, container or socket.gethostname(), cap_s)
    print("CPU, RSS and threads of a container arrive.")  # noqa: T201
