"""The commands that tell, and ask for, what containers take."""

import signal
import socket
from pathlib import Path
from typing import Annotated

import typer
from prometheus_client import CollectorRegistry, start_http_server

from loomlab.exporter.containers import ContainerFigures
from loomlab.exporter.seen import prove


def register(app: typer.Typer) -> None:
    """Adds the commands to the program."""
    app.command(name="export-containers")(export_containers)
    app.command(name="sees-containers")(sees_containers)


def export_containers(
    engine: Annotated[Path, typer.Option(help="The engine's socket.")] = Path("/var/run/docker.sock"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the page is served.")] = 8080,
) -> None:
    """Serve CPU, memory and threads of Compose's containers as cAdvisor does, as the engine tells them."""
    registry = CollectorRegistry()
    registry.register(ContainerFigures(engine))
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
