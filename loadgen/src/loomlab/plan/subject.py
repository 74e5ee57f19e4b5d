"""A service of the user's, by the model that Compose makes of its file, by its image alone, or where it answers."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from loomlab.basics.errors import UsageError
from loomlab.plan.values import address_of
from loomlab.plan.variables import Asked
from loomlab.records.models import Foreign
from loomlab.records.order import Subject

TAKEN = {
    "command", "configs", "devices", "entrypoint", "environment", "extra_hosts", "group_add", "healthcheck", "hostname",
    "image", "init", "ipc", "platform", "privileged", "read_only", "runtime", "secrets", "security_opt", "shm_size",
    "stop_grace_period", "stop_signal", "sysctls", "tmpfs", "tty", "ulimits", "user", "volumes", "working_dir",
    "cap_add", "cap_drop",
}  # fmt: skip
"""Keys of a service that apply as they are."""
OF_LAB = {
    "annotations", "attach", "blkio_config", "build", "container_name", "cpu_count", "cpu_percent", "cpu_period",
    "cpu_quota", "cpu_shares", "cpus", "cpuset", "depends_on", "deploy", "develop", "expose", "labels", "logging",
    "mem_limit", "mem_reservation", "mem_swappiness", "memswap_limit", "networks", "pids_limit", "ports", "profiles",
    "pull_policy", "scale",
}  # fmt: skip
"""Those that the lab sets for all, or that say nothing of one container; of what is left, users are told."""
OPENING = {"cap_add", "devices", "ipc", "privileged"}
"""Those that let a container do more than an approach may."""
WITHOUT = {
    "JDK", "GC", "HTTP_CLIENT", "STYLE", "TRANSPORT", "CARRIERS", "PLATFORM_THREADS", "LIMIT", "POOL",
    "DELAY", "SAVE_MOVIES", "ERROR_SHARE", "RESPONSE_TIMEOUT_MS", "APPROACH", "JVM_OPTS",
}  # fmt: skip
"""Variables that say nothing to a service of the user's."""
OF_CONTAINERS = {
    "SUBJECTS", "SERVICE", "IMAGE", "PORT", "METRICS", "CPUS", "CPU_MODE", "JFR", "AA", "DESIGN", "GENERATORS",
}  # fmt: skip
"""And those that say nothing to one that the lab does not run."""
SHORTEST_SECRET, HIDDEN = 6, b"***"  # shorter values are words and numbers that figures have, too
SIDES, NAMES = ("a", "b", "c", "twin"), "[a-z0-9][a-z0-9-]{0,62}"
type Model = Mapping[str, Any]


def subject_of(asked: Asked, model: Model, taken: Sequence[str]) -> tuple[Subject, Foreign]:
    """The service and how it is asked; `taken` are the names of the lab's own. Raises UsageError."""
    _check(asked)
    services: Model = model.get("services") or {}
    name = asked.service or _only(services)
    if name not in services:
        raise UsageError(f"SERVICE={name} is no service of {asked.subjects}: use one of {', '.join(services)}.")
    companions = list(_companions(name, services))
    _check_names(name, companions, taken)
    for one in (name, *companions):
        _check_volumes(one, services[one])
    _check_secrets(model.get("secrets") or {})
    service: Model = services[name]
    image = asked.image or service.get("image") or f"{model.get('name')}-{name}"
    metrics = re.fullmatch(r"(\d*)(/.*)", asked.metrics or "")
    port = asked.port or _port(name, service)
    metrics_port = metrics and int(metrics[1] or port)
    try:
        foreign = Foreign(
            port=port,
            ready=asked.ready or "",
            metrics=metrics and metrics[2],
            metrics_port=metrics_port,
            companions=companions,
        )
        return Subject(service=name, image=image, companions=companions, told=list(_told(service))), foreign
    except ValidationError as error:
        first = error.errors()[0]
        value = f"{first['loc'][0]} {first['input']!r:.80}"
        raise UsageError(f"{name} cannot be measured: its {value} is not one that the lab can use.") from None


def target_of(asked: Asked) -> tuple[Asked, Foreign]:
    """What is asked for of TARGET, with its path and query as the endpoint, and how it is asked. Raises UsageError."""
    _check(asked)
    address = address_of(asked.target or "")
    more = {"approach": address.name, "endpoint": address.target or asked.endpoint}
    return asked.model_copy(update=more), Foreign(port=address.port, ready=asked.ready, origin=address.origin)


def _check(asked: Asked) -> None:
    if mistake := next(_mistakes(asked), None):
        raise UsageError(mistake)


def _mistakes(asked: Asked) -> Iterator[str]:
    target = asked.target and address_of(asked.target)
    cure = "leave it out, or set it in your Compose file or by ENV:NAME in make compare"
    if target:
        cure = "leave it out, or measure a service that the lab runs (SUBJECTS, IMAGE)"
        wrong = (name for name in asked.given if name in OF_CONTAINERS)
        yield from (
            f"{name}={asked.given[name]} does not go with TARGET, which the lab does not run: {cure}." for name in wrong
        )
    wrong = (name for name in asked.given if name in WITHOUT)
    yield from (f"{name}={asked.given[name]} is of the lab's own services: {cure}." for name in wrong)
    if not asked.ready and not target:
        yield "READY is not set: use READY=/health, or another path that is answered 2xx when it is ready."
    if not (asked.connections or asked.rates_rps or asked.objectives):
        yield "CONCURRENCY is not set: use for instance CONCURRENCY=200."
    told = [f"{name}={asked.given[name]}" for name in ("ENDPOINT", "REQUESTS_FILE") if name in asked.given]
    told += [f"the path of TARGET={asked.target}"] if target and target.target else []
    if len(told) > 1:
        yield f"{' and '.join(told)} all say what is requested: leave all but one out."
    if not told:
        yield "ENDPOINT is not set: use for instance ENDPOINT=/orders/1, or REQUESTS_FILE."
    if any(limit.figure == "live_bytes_per_request" for limit in asked.limits):
        yield "FAIL: live_bytes_per_request is known of the lab's own services only: leave it out."


def _check_names(name: str, companions: Sequence[str], taken: Sequence[str]) -> None:
    if clash := {name, *companions} & {*taken, *(f"{name}-{side}" for side in SIDES)}:
        fact = f"{min(clash)} is a name of the lab's own, too"
        raise UsageError(f"{fact}: give the service another one (SERVICE, of an image alone).")
    if not re.fullmatch(NAMES, name):
        raise UsageError(f"{name} cannot be a host's name: use small letters, digits and hyphens.")


def _port(name: str, service: Model) -> int:
    ports = [*dict.fromkeys(int(one["target"]) for one in service.get("ports", ()) if "target" in one)]
    if len(ports) != 1:
        fact = f"PORT is not set, and {name} publishes {len(ports) or 'no'} ports"
        raise UsageError(f"{fact}: use PORT=8080, or its own.")
    return ports[0]


def _check_volumes(name: str, service: Model) -> None:
    """Of what is mounted from the host, nothing may be written: two sides would write it at once, and it would stay."""
    for volume in service.get("volumes", ()):
        if volume.get("type") == "bind" and not volume.get("read_only"):
            source = volume.get("source")
            raise UsageError(
                f"{name} may write to {source} on this host: mount it read-only (:ro), or use a named volume."
            )


def _check_secrets(secrets: Model) -> None:
    """Compose does not put the values of these into its model."""
    if name := next((name for name, one in secrets.items() if "environment" in one), None):
        raise UsageError(f"the secret {name} is of the environment: use file: in your Compose file for the lab.")


def _only(services: Model) -> str:
    names = [name for name, service in services.items() if service.get("ports")]
    if len(names) != 1:
        raise UsageError(
            f"SERVICE is not set, and {len(names) or 'no'} services publish ports: use one of {', '.join(services)}."
        )
    return names[0]


def _companions(name: str, services: Model) -> Iterator[str]:
    """What it depends on, and those on, once each."""
    found, left = {name}, [name]
    while left:
        for other in services[left.pop()].get("depends_on") or {}:
            if other in services and other not in found:
                found.add(other)
                left.append(other)
                yield other


def _told(service: Model) -> Iterator[str]:
    yield from (f"{key} is {service[key]}"[:200] for key in sorted(OPENING) if service.get(key))
    if not service.get("read_only"):
        yield "its root can be written"
    if dropped := [key for key in service if key not in TAKEN | OF_LAB]:
        yield f"without its {', '.join(dropped)}"


def secrets_of(model: Model, others: Sequence[str] = ()) -> list[str]:
    """Values of the user's environment, and these others, that no log may hold, the longest first."""
    services = (model.get("services") or {}).values()
    values = {str(value).replace("$$", "$") for one in services for value in (one.get("environment") or {}).values()}
    return sorted((value for value in values | {*others} if len(value) >= SHORTEST_SECRET), key=len, reverse=True)


def hide(text: bytes, secrets: Sequence[str]) -> bytes:
    """The text without them, as they are or as JSON writes them."""
    for secret in secrets:
        for form in dict.fromkeys((secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])):
            text = text.replace(form.encode(), HIDDEN)
    return text
