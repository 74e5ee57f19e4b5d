"""What Compose reads beside compose.yaml: the services that an experiment measures, and those that they depend on."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from loomlab.plan.subject import TAKEN, Model
from loomlab.records.order import JAVA_OPTIONS, Order, Side

VOLUME, OF_VOLUME = "recordings:/jfr", "volumes: {recordings: {external: true, name: loom-lab-jfr}}"
OF_TARGET = ("  loadgen:", "    network_mode: host", "    networks: !reset null", "    sysctls: !reset null")
"""The load generator, whose network is the host's where the host's names and its loopback are to be reached."""
MOST_PIDS = 40_000  # as approaches have it in compose.yaml


def overlay_lines(order: Order, root: str, model: Model | None = None) -> Iterator[str]:
    """Of YAML, with the lab's folder on the host. What is measured publishes no port. No image of the user's is pulled:
    a folder of results may be a stranger's."""
    yield "services:"
    if order.outside:
        yield from OF_TARGET
        return
    if order.subject:
        for name, service in _of_user(order, model or {}):
            yield f"  {json.dumps(name)}: {_json(service)}"
        told = {kind: (model or {}).get(kind) for kind in ("secrets", "configs")}
        yield from (f"{kind}: {_json(files)}" for kind, files in told.items() if files)
        yield from [OF_VOLUME] if order.recorded else []
        return
    for request in {run.request.name: run.request for run in order.runs}.values():
        yield f"  {request.name}:"
        yield "    ports: !reset []"
        side, recording = order.sides.get(request.name, Side()), _recording(order, request.name)
        values: dict[str, Any] = {}
        if recording:
            values = {"environment": {JAVA_OPTIONS: recording}, "volumes": [VOLUME]}
        if request.side:
            own = values.get("environment", {}) | side.environment | {"LAB_APPROACH": request.name}
            values |= {"extends": {"file": f"{root}/compose.yaml", "service": request.approach}, "environment": own}
        values |= {"image": side.image, "pull_policy": "never"} if side.image else {}
        yield from (f"    {key}: {_escaped(_json(value))}" for key, value in values.items())
        yield from ["    profiles: !override [sides]"] if request.side else []
    if order.recorded:
        yield OF_VOLUME


def _recording(order: Order, service: str) -> str | None:
    """Options of its JVM, which leaves a file when it ends."""
    if not order.recorded:
        return None
    event = (f"+jdk.VirtualThreadPinned#{setting}" for setting in ("enabled=true", "stackTrace=true", "threshold=1ms"))
    settings = ("settings=none", *event, f"filename=/jfr/{service}.jfr", "dumponexit=true", "maxsize=64m")
    return f"-XX:StartFlightRecording:{','.join(settings)}"


def _json(value: Any) -> str:
    """Without the pairs of surrogates that YAML does not know."""
    return json.dumps(value, ensure_ascii=False)


def _of_user(order: Order, model: Model) -> Iterator[tuple[str, dict[str, Any]]]:
    """The service's sides, or itself, and its companions, as Compose wrote them, with what is the lab's."""
    assert order.subject
    services, cpus = model.get("services") or {}, order.settings
    labels = {
        "loom-lab.experiment": order.experiment,
        "loom-lab.were-up": "${LAB_WERE_UP:-}",
        "loom-lab.results": "${LAB_EXPERIMENT:+${LAB_RESULTS:-}}",
    }
    own = {"labels": labels, "networks": ["load"], "restart": "no", "pull_policy": "never", "profiles": ["sides"]}
    own |= {"logging": {"driver": "json-file", "options": {"max-size": "10m", "max-file": "2"}}}
    for run in {run.request.name: run.request for run in order.runs}.values():
        side = order.sides.get(run.name, Side())
        service = _taken(services.get(order.subject.service, {}), order.subject.companions)
        told: dict[str, Any] = {name: _escaped(value) for name, value in side.environment.items()}
        # A variable of the environment would take the place of the image's, which bin/run has asked for.
        of_image = f"${{OF_IMAGE_{re.sub('[^A-Z0-9]', '_', run.name.upper())}:-}}"
        of_side = told.pop(JAVA_OPTIONS, "")
        options = [service["environment"].get(JAVA_OPTIONS, of_image), of_side, _recording(order, run.name)]
        if any(options[1:]):
            told[JAVA_OPTIONS] = " ".join(filter(None, options))
        service["volumes"] += [VOLUME] if order.recorded else []
        service["environment"] = service["environment"] | told
        limits = {"cpus": cpus["APPROACH_CPUS"], "memory": cpus["APPROACH_MEMORY"], "pids": MOST_PIDS}
        limited = {
            "cpuset": cpus["APPROACH_CPUSET"],
            "memswap_limit": cpus["APPROACH_MEMORY"],
            "deploy": _placed("approach") | {"resources": {"limits": limits}},
        }
        yield run.name, service | own | limited | {"image": side.image or order.subject.image}
    for name in order.subject.companions:
        service = _taken(services[name], order.subject.companions)
        image = services[name].get("image") or f"{model.get('name')}-{name}"
        placed = {"cpuset": cpus["BACKEND_CPUSET"], "networks": _aliases(services[name]), "deploy": _placed("backend")}
        yield name, service | own | placed | {"image": image}


def _placed(role: str) -> dict[str, Any]:
    """On which node of a swarm."""
    return {"placement": {"constraints": [f"node.labels.loom-lab.role == {role}"]}}


def _aliases(service: Model) -> dict[str, Any]:
    """The network, where it has all of its other names."""
    networks = [each or {} for each in (service.get("networks") or {}).values()]
    names = [alias for each in networks for alias in each.get("aliases") or ()]
    return {"load": {"aliases": [*names, *filter(None, (service.get("container_name"),))]}}


def _escaped(text: str) -> str:
    """For Compose, which is to put in variables that are written as `${NAME}`, and no others."""
    return re.sub(r"\$(?!\{[A-Za-z_][A-Za-z0-9_]*\})", "$$", text)


def _taken(service: Model, companions: Sequence[str]) -> dict[str, Any]:
    """Volumes with names are fresh each time, so that no run finds what another left."""
    taken = {key: value for key, value in service.items() if key in TAKEN and value is not None}
    environment = taken.get("environment") or {}
    volumes = [
        {key: value for key, value in volume.items() if key != "source" or volume.get("type") != "volume"}
        for volume in taken.get("volumes", ())
    ]
    needs = {name: need for name, need in (service.get("depends_on") or {}).items() if name in companions}
    return taken | {"environment": environment, "volumes": volumes, "depends_on": needs}
