"""Orders as the lab plans them."""

import json
from pathlib import Path
from typing import Any

from loomlab.answer.summary import resume as resumed
from loomlab.plan.host import Host, Lab
from loomlab.plan.planning import plan
from loomlab.plan.variables import VARIABLES, Asked
from loomlab.records.files import write_json
from loomlab.records.order import Order, order_file

SCENARIOS = Path(__file__).parent.parent / "scenarios"
TWO_CPUS = Host(cpus=2, memory_mb=24_000, open_files=20_000, cpu_order=[0, 1], free_mb=10_000)
STAMP = "20260101T000000Z"
SETTINGS = {"GC": "parallel", "HTTP_CLIENT": "default", "STYLE": "lean", "ERROR_SHARE": "0", "SAVE_MOVIES": "false"}
SETTINGS |= {"RESPONSE_TIMEOUT_MS": "20000", "TRANSPORT": "nio"}
ENV = {"JDK": "25", "DELAY": "300"} | SETTINGS
AGAINST = {"tomcat-virtual": "tomcat-platform", "virtual-netty": "webflux-netty"}
APPROACHES = (
    "tomcat-platform", "tomcat-virtual", "webflux-netty", "jetty-platform", "jetty-virtual", "virtual-netty",
    "microhttp-platform", "microhttp-virtual", "microhttp-async", "helidon-virtual",
)  # fmt: skip
SERVICES: dict[str, dict[str, Any]] = {
    name: {
        "image": f"loom-lab/{name}:jdk${{JDK}}",
        "environment": {
            "GC": "${GC}",
            "LAB_JVM_OPTS": "${JVM_OPTS:-}",
            "LAB_STYLE": "${STYLE}",
            "OWN": "1",
            "LAB_BACKEND_CONNECTIONS": "${POOL}",
            "LAB_DATABASE_POOL": "${POOL}",
            "LAB_LIMIT": "${LIMIT:-0}",
            "LAB_PLATFORM_THREADS": "${PLATFORM_THREADS}",
        },
        "profiles": ["headline", "idiomatic", "all"] if number < 3 else ["all"],
        "x-against": AGAINST.get(name, ""),
    }
    for number, name in enumerate(APPROACHES)
}
SERVICES["helidon-virtual"]["x-http10"] = False
SERVICES["webflux-netty"]["x-database"] = SERVICES["tomcat-virtual"]["x-database"] = True
SMALL = """\
# A small one.
APPROACH_CPUS=0
APPROACH_CPUSET=0
APPROACH_MEMORY=1g
BACKEND_CPUS=0
BACKEND_CPUSET=1
BACKEND_MEMORY=512m
LOADGEN_CPUS=0
LOADGEN_CPUSET=1
LOADGEN_MEMORY=1g
MONITORING_CPUSET=1
"""


def lab_in(folder: Path, scenarios: Path = SCENARIOS) -> Lab:
    """A checkout with what plans are made of."""
    (folder / "sizes").mkdir(parents=True, exist_ok=True)
    (folder / "sizes" / "smoke.env").write_text(SMALL)
    env = ENV | {"MAX_CONNECTIONS": "65000"}
    (folder / ".env").write_text("# Defaults.\n" + "".join(f"{name}={value}\n" for name, value in env.items()))
    (folder / "compose.yaml").write_text(json.dumps({"services": {"backend": {}} | SERVICES}))
    return Lab(folder, scenarios)


def asked_for(**changes: Any) -> Asked:
    """1,000 connections under ab, with the defaults; `changes` are of the model's fields, of which `rate_rps`,
    `approaches` and `twin` may be given in short."""
    tool = changes.get("tool", "ab")
    plain = {"verb": f"run-{tool}", "tool": tool, "connections": 1000, "delay": "300", "jdk": "25", "seed": 1}
    asked = SETTINGS | plain | changes.pop("settings", {}) | changes
    for field, given in (("connections", asked["connections"]), ("rates_rps", asked.pop("rate_rps", None))):
        asked[field] = list(given) if isinstance(given, tuple) else [given] if given is not None else []
    if approaches := asked.pop("approaches", None):
        asked["approach"] = ",".join(approaches)
    if asked.pop("twin", False):
        asked["aa"] = "1"
    model = Asked.model_validate(asked)
    return model.model_copy(update={"given": given_for(model)})


def given_for(asked: Asked) -> dict[str, str]:
    """The variables of the user that ask for it, but for the seed."""
    every = ((f"{each.alias}", getattr(asked, field)) for field, each in Asked.model_fields.items())
    told = ((name, value if isinstance(value, list) else [value]) for name, value in every if value)
    return {name: ",".join(map(str, values)) for name, values in told if name in VARIABLES and name != "SEED"}


def planned(folder: Path, host: Host = TWO_CPUS, scenarios: Path = SCENARIOS, **changes: Any) -> Order:
    """What the lab plans for that request."""
    return plan(asked_for(**changes), host, lab_in(folder / "lab", scenarios), STAMP)


def resume(folder: Path, **host: Any) -> Order:
    """On the host and with the lab that it was begun with."""
    lab = lab_in(folder.parent.parent / "lab")
    return resumed(folder, TWO_CPUS.model_copy(update=host), lab)


def ordered(folder: Path, address: str, scenarios: Path = SCENARIOS, **changes: Any) -> Path:
    """The folder of the one run, against that address, of an experiment below `folder` that has its order."""
    order = planned(folder, scenarios=scenarios, approaches=[address], **changes)
    experiment = folder / order.experiment
    (experiment / "runs").mkdir(parents=True)
    write_json(order_file(experiment), order)
    return experiment / "runs" / order.runs[0].run
