"""What `docker stack deploy` takes of a model that Compose made. Of Compose's keys it refuses some, and ignores others
without a word; so each is kept, changed, told of as lost, or refused here."""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loomlab.basics.errors import UsageError

type Keys = dict[str, Any]

ROLE = re.compile(r"node\.labels\.loom-lab\.role\s*==\s*(approach|backend|monitor)")
ANY_ROLE = "node.labels.loom-lab.role == approach, backend or monitor"
KEPT = {
    "cap_add", "cap_drop", "command", "configs", "entrypoint", "environment", "hostname", "image", "init", "logging",
    "read_only", "secrets", "stop_grace_period", "stop_signal", "sysctls", "tty", "ulimits", "user", "working_dir",
}  # fmt: skip
"""Keys of a service that apply as they are."""
CHANGED = {"deploy", "healthcheck", "labels", "networks", "restart", "tmpfs", "volumes"}
OF_COMPOSE = {"build", "profiles", "pull_policy"}
"""Those that say nothing of a container that is to run."""
LOST = {
    "container_name": "the swarm names containers",
    "cpu_shares": "what is on one node has equal shares of its CPUs",
    "cpuset": "a container has all CPUs of its node",
    "depends_on": "services start in no order",
    "devices": "a container has no device of its node",
    "memswap_limit": "a container may swap as much as it has memory",
    "ports": "no port of a node leads to it",
    "security_opt": "a process may gain rights by a file that has them",
    "tmpfs": "nothing can be executed in it",
}
"""Those that a swarm has not, and what holds without them."""
RESTARTS = {"no": "none", "always": "any", "unless-stopped": "any", "on-failure": "on-failure"}
CHECKS = {"disable", "interval", "retries", "start_interval", "start_period", "test", "timeout"}
MOUNT_OPTIONS = {"bind": {"create_host_path"}, "volume": {"nocopy"}}
"""Of the kinds of mounts; a swarm makes no folder on a node."""
OF_FILE = {"volumes": {"name"}, "configs": {"name", "file"}, "secrets": {"name", "file"}}
"""What a file has beside services and networks."""


@dataclass(frozen=True)
class Stack:
    """The file, which services lost what of Compose's model in it, and which mount which folder of their node."""

    file: Keys
    lost: dict[str, list[str]]
    folders: dict[str, list[str]]

    def sentences(self) -> Iterator[str]:
        for key, services in sorted(self.lost.items()):
            yield f"{key} of {', '.join(services)}: {LOST[key]}."
        for folder, services in sorted(self.folders.items()):
            yield f"{folder} must be on the node of {', '.join(services)}."


def stack_of(model: Mapping[str, Any], root: str = "", images: Mapping[str, str] | None = None) -> Stack:
    """Of all services of the model, of the lab in `root` on the manager; `images` are IDs by name, of which no node can
    have others. Raises UsageError for a key or a value that a swarm would not apply."""
    told = _known("the model", model, {"name", "services", "networks", *OF_FILE})
    file, lost, folders = dict[str, Keys](services={}, networks={}), dict[str, list[str]](), dict[str, list[str]]()
    for name, one in told["services"].items():
        service = _known(name, one, KEPT | CHANGED | OF_COMPOSE | LOST.keys())
        if service.get("environment", {}).get("LAB_TRANSPORT") == "epoll":
            raise UsageError(f"{name} has TRANSPORT=epoll, a library that it cannot run from /tmp there: use nio.")
        swarms = file["services"][name] = _service(name, told["name"], service)
        swarms["labels"]["com.docker.compose.project.working_dir"] = root
        swarms["image"] = (images or {}).get(service["image"], service["image"])
        for key in LOST.keys() & service.keys():
            if service[key] and (key != "tmpfs" or any(":" in path for path in service[key])):
                lost.setdefault(key, []).append(name)
        for folder in dict.fromkeys(mount["source"] for mount in swarms["volumes"] if mount["type"] == "bind"):
            folders.setdefault(folder, []).append(name)
    for name, one in told.get("networks", {}).items():
        file["networks"][name] = _known(f"the network {name}", one or {}, {"name", "external"})
    for kind, keys in OF_FILE.items():
        file[kind] = {name: _known(f"{name} of {kind}", one or {}, keys) for name, one in told.get(kind, {}).items()}
    return Stack(file, lost, folders)


def _service(name: str, project: str, told: Keys) -> Keys:
    """What a swarm runs of it. By the labels cAdvisor, the lab's exporter and Prometheus know its container."""
    networks, checks = told.get("networks", {}), told.get("healthcheck")
    mounts = [_mount(name, volume) for volume in told.get("volumes", ())]
    return {key: value for key, value in told.items() if key in KEPT} | {
        "labels": told.get("labels", {}) | {"com.docker.compose.project": project, "com.docker.compose.service": name},
        "networks": {key: _known(f"{name}'s network {key}", one or {}, {"aliases"}) for key, one in networks.items()},
        "volumes": mounts + [_tmpfs(name, *path.partition(":")) for path in told.get("tmpfs", ())],
        "deploy": _deploy(name, told.get("deploy", {}), told.get("restart", "no")),
        **({"healthcheck": _known(f"{name}'s healthcheck", checks, CHECKS)} if checks else {}),
    }


def _deploy(name: str, deploy: Keys, restart: str) -> Keys:
    """With the role of its node, or a global mode. A swarm restarts what ends, unless told not to. Names lead to
    containers, for virtual addresses need IPVS."""
    told = _known(f"{name}'s deploy", deploy, {"mode", "placement", "resources"})
    limits = _known(f"{name}'s resources", told.get("resources", {}), {"limits"}).get("limits", {})
    limits = _known(f"{name}'s limits", limits, {"cpus", "memory", "pids"})
    placed = _known(f"{name}'s placement", told.get("placement", {}), {"constraints"}).get("constraints", [])
    roles, mode = [match and match[1] for match in map(ROLE.fullmatch, placed)], told.get("mode", "replicated")
    if (mode, len(roles)) not in {("replicated", 1), ("global", 0)} or None in roles:
        fact = f"{name} has the mode {mode} and the placement {', '.join(placed) or 'anywhere'}"
        raise UsageError(f"{fact}: use one constraint {ANY_ROLE}, or mode: global without one.")
    condition, _, attempts = restart.partition(":")
    if condition not in RESTARTS:
        raise UsageError(f"{name} has restart: {restart}, which no swarm takes: use one of {', '.join(RESTARTS)}.")
    return {
        "mode": mode,
        "endpoint_mode": "dnsrr",
        "placement": {"constraints": placed},
        "resources": {"limits": limits | ({"cpus": str(limits["cpus"])} if "cpus" in limits else {})},
        "restart_policy": {"condition": RESTARTS[condition]} | ({"max_attempts": int(attempts)} if attempts else {}),
    }


def _mount(name: str, volume: Keys) -> Keys:
    told = _known(f"{name}'s volume", volume, {"type", "source", "target", "read_only", *MOUNT_OPTIONS})
    if told["type"] not in MOUNT_OPTIONS:
        raise UsageError(f"{name} mounts a {told['type']} at {told['target']}: use a bind or a volume.")
    options = _known(f"{name}'s {told['target']}", told.pop(told["type"], {}), MOUNT_OPTIONS[told["type"]])
    return told | ({"volume": options} if options and told["type"] == "volume" else {})


def _tmpfs(name: str, path: str, _: str, options: str) -> Keys:
    if options not in {"", "exec"}:
        raise UsageError(f"{name} has the tmpfs {path}:{options}, whose options no swarm takes: leave them out.")
    return {"type": "tmpfs", "target": path}


def _known(place: str, keys: Mapping[str, Any], kept: Container[str]) -> Keys:
    """Those of them that say something; raises UsageError for another one than these."""
    told = {key: value for key, value in keys.items() if value not in (None, {}) and not key.startswith("x-")}
    if strange := next((key for key in told if key not in kept), None):
        raise UsageError(f"{place} has {strange}: {told[strange]!r:.80}, which no swarm takes: leave it out.")
    return told
