"""The user's request, as the variables have it."""

import random
from collections.abc import Mapping

from pydantic import Field

from loomlab.basics.errors import UsageError
from loomlab.plan.lab import Lab
from loomlab.plan.variables import check, stanzas
from loomlab.records.record import Record

SAID_BY_SCENARIO = ("CONCURRENCY", "REQUESTS", "RATE", "ENDPOINT", "DELAY")


SWEEP = "sweep"
OF_NO_RUN = {"PLAN", "RESUME", "PROMETHEUS_PORT", "GRAFANA_PORT", "RESULTS_PORT"}
"""Variables that change nothing that is measured."""


class Asked(Record):
    """None, or an empty list: not asked for, so that the lab or a scenario says it. `settings` are the approaches' and
    the backend's, by the names of their variables; `given` are the variables as the user gave them."""

    verb: str
    tool: str
    scenario: str | None
    paper: str | None = None
    scale: str
    approaches: list[str] | None
    connections: list[int]
    requests: int | None
    rates_rps: list[float]
    duration_s: int | None
    warmup_cap_s: int | None
    warmup_load_s: int
    endpoint: str
    delay: str
    repeats: int | None
    seed: int
    twin: bool
    margin: float | None
    size: str
    jdk: int | None
    platform_threads: int | None
    backend_connections: int | None
    settings: dict[str, str]
    given: dict[str, str] = Field(default_factory=dict)

    @property
    def sweep(self) -> bool:
        """Whether it may have several loads."""
        return self.verb == SWEEP


def asked_of(verb: str, variables: Mapping[str, str], lab: Lab) -> Asked:
    """`verb` is a tool, scenario or sweep. Raises UsageError for a value that the table refuses, and for one that does
    not go with the verb or a scenario."""
    given = {name: value for name, value in variables.items() if value}
    check(given, lab.words)
    scenario = given.get("NAME")
    for name in SAID_BY_SCENARIO if scenario else ():
        if name in given:
            raise UsageError(
                f"{name}={given[name]} does not go with NAME={scenario}, because the scenario sets it: "
                "use SCALE, or a target such as make run-ab."
            )

    def whole(name: str) -> int | None:
        return int(given[name]) if name in given else None

    def seconds(name: str) -> int | None:
        text = given.get(name)
        return None if text is None else int(text[:-1]) * 60 if text.endswith("m") else int(text.removesuffix("s"))

    seed = whole("SEED")
    return Asked(
        verb=verb,
        tool=given.get("TOOL", "vegeta" if "RATE" in given else "ab") if verb == SWEEP else verb,
        scenario=scenario,
        paper=given.get("PAPER"),
        scale=given.get("SCALE", "1"),
        approaches=lab.named(given["APPROACH"]) if "APPROACH" in given else None,
        connections=[int(number) for number in _loads("CONCURRENCY", verb, given)],
        requests=whole("REQUESTS"),
        rates_rps=[float(number) for number in _loads("RATE", verb, given)],
        duration_s=seconds("DURATION"),
        warmup_cap_s=seconds("WARMUP_CAP"),
        warmup_load_s=int(given.get("WARMUP_LOAD_S", 0)),
        endpoint=given.get("ENDPOINT", "/capabilities"),
        delay=given.get("DELAY", lab.defaults["DELAY"]),
        repeats=whole("REPEATS"),
        seed=random.SystemRandom().randrange(1_000_000) if seed is None else seed,
        twin="AA" in given,
        margin=float(given["MARGIN"]) if "MARGIN" in given else None,
        size=given.get("SIZE", "auto"),
        jdk=whole("JDK"),
        platform_threads=whole("PLATFORM_THREADS"),
        backend_connections=whole("BACKEND_CONNECTIONS"),
        settings={
            name: given.get(name, lab.defaults[name])
            for name in ("GC", "HTTP_CLIENT", "STYLE", "ERROR_SHARE", "SAVE_MOVIES")
        },
        given={name: given[name] for name in stanzas() if name in given and name not in OF_NO_RUN},
    )


def _loads(name: str, verb: str, given: Mapping[str, str]) -> list[str]:
    """The numbers of a list; raises UsageError where they do not rise, or the verb takes one only."""
    told = given[name].split(",") if name in given else []
    rising = [number for _, number in sorted({float(number): number for number in told}.items())]
    cure = f"{name}={','.join(rising)}"
    if len(told) > 1 and verb != SWEEP:
        raise UsageError(f"{name}={given[name]} is more than one load: use one of them, or make sweep {cure}.")
    if rising != told:
        raise UsageError(f"{name}={given[name]} does not rise from load to load: use {cure}.")
    return told
