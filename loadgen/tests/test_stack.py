"""What a swarm gets of a model of Compose's: what is kept, changed, lost and refused."""

import io
import json
import re
import sys
from copy import deepcopy
from typing import Any

import pytest
import yaml

from loomlab.basics.errors import UsageError
from loomlab.plan.stack import stack_of
from saying import exit_code

MODEL: dict[str, Any] = yaml.safe_load("""
name: loom-lab
services:
  tomcat:
    {profiles: [all], build: {context: x}, command: null, cpuset: "0", memswap_limit: "1610612736", restart: "no",
     security_opt: ["no-new-privileges:true"], image: "loom-lab/tomcat:jdk25", environment: {GC: parallel, PRICE: 5$$},
     healthcheck: {test: [CMD, "true"], interval: 10m0s, start_interval: 200ms}, labels: {loom-lab.experiment: x},
     networks: {load: {aliases: [approach]}}, ports: [{host_ip: 127.0.0.1, target: 8080, published: "8080"}],
     tmpfs: ["/tmp:exec"], x-against: tomcat-platform,
     deploy: {placement: {constraints: [node.labels.loom-lab.role == approach]},
       resources: {limits: {cpus: 1.5, memory: "1610612736", pids: 40000}}}}
  results:
    {image: loom-lab/results, networks: {load: null}, tmpfs: [/tmp],
     deploy: {placement: {constraints: [node.labels.loom-lab.role==monitor]}},
     volumes: [{type: bind, source: /lab/results, target: /results, bind: {create_host_path: true}},
       {type: bind, source: /lab/results, target: /again, read_only: true},
       {type: volume, source: data, target: /data, volume: {}}]}
  cadvisor:
    {image: x, deploy: {mode: global, placement: {}}, devices: ["/dev/kmsg:/dev/kmsg:r"], restart: "on-failure:3"}
networks: {load: {name: loom-lab_under_load, ipam: {}, external: true}}
volumes: {data: {name: loom-lab_data}}
x-logging: {driver: json-file}
""")


def test_what_containers_need_is_kept_on_the_node_of_their_role() -> None:
    stack = stack_of(MODEL, "/lab", {"loom-lab/tomcat:jdk25": "sha256:1"})
    approach, results, cadvisor = stack.file["services"].values()

    assert approach["deploy"] == {
        "mode": "replicated",
        "endpoint_mode": "dnsrr",
        "placement": MODEL["services"]["tomcat"]["deploy"]["placement"],
        "resources": {"limits": {"cpus": "1.5", "memory": "1610612736", "pids": 40000}},
        "restart_policy": {"condition": "none"},
    }
    kept = {key: MODEL["services"]["tomcat"][key] for key in ("environment", "healthcheck", "networks")}
    told = {"project": "loom-lab", "service": "tomcat", "project.working_dir": "/lab"}
    own = {f"com.docker.compose.{name}": value for name, value in told.items()}
    labels, mounts = {"loom-lab.experiment": "x"} | own, [{"type": "tmpfs", "target": "/tmp"}]  # noqa: S108
    changed = {"image": "sha256:1", "labels": labels, "volumes": mounts, "deploy": approach["deploy"]}
    assert approach == kept | changed
    assert results["volumes"][0] == {"type": "bind", "source": "/lab/results", "target": "/results"}
    assert (results["image"], cadvisor["deploy"]["mode"]) == ("loom-lab/results", "global")
    assert cadvisor["deploy"]["restart_policy"] == {"condition": "on-failure", "max_attempts": 3}
    assert stack.file["networks"] == {"load": {"name": "loom-lab_under_load", "external": True}}
    assert stack.file["volumes"] == MODEL["volumes"]
    lost = {key: ["tomcat"] for key in ("cpuset", "memswap_limit", "ports", "security_opt", "tmpfs")}
    assert (stack.lost, stack.folders) == (lost | {"devices": ["cadvisor"]}, {"/lab/results": ["results"]})
    assert len([*stack.sentences()]) == 7


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("services/cadvisor/privileged", True, "privileged"),
        ("services/cadvisor/deploy/replicas", 2, "replicas"),
        ("services/cadvisor/deploy/mode", "replicated", "anywhere"),
        ("services/results/deploy/placement/constraints", ["node.role == manager"], "node.role == manager"),
        ("services/results/restart", "sometimes", "sometimes"),
        ("services/results/tmpfs", ["/x:size=1m"], "/x:size=1m"),
        ("services/results/networks/load", {"ipv4_address": "10.0.0.9"}, "ipv4_address"),
        ("services/tomcat/environment", {"LAB_TRANSPORT": "epoll"}, "TRANSPORT=epoll"),
        ("volumes/data/external", True, "external"),
        ("networks/load/ipam", {"driver": "mine"}, "ipam"),
        ("include", ["x.yaml"], "include"),
    ],
)
def test_what_a_swarm_would_not_apply_is_refused(path: str, value: object, told: str) -> None:
    model = place = deepcopy(MODEL)
    *parents, last = path.split("/")
    for key in parents:
        place[key] = place[key] or {}
        place = place[key]
    place[last] = value

    with pytest.raises(UsageError, match=f"{re.escape(told)}.*: (leave|use)") as refused:
        stack_of(model)
    assert "/" not in path or path.split("/")[1] in str(refused.value)


def test_the_command_prints_the_file(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(MODEL)))

    assert exit_code("stack") == 0
    assert json.loads(capsys.readouterr().out) == stack_of(MODEL).file
