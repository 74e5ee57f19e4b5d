"""The user's variables: each is declared once, with all that is said and checked of it."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from loomlab.basics.errors import UsageError
from loomlab.plan import values
from loomlab.plan.values import one_of, rising, taken, whole
from loomlab.records.record import Record

RUNS = ("run-ab", "run-hey", "run-vegeta", "run-users")
MEASURING = (*RUNS, "sweep", "scenario")
OF_LOADS = (*RUNS, "sweep")
STARTING = (*MEASURING, "reproduce", "finish", "up", "smoke")
MOST_CONNECTIONS, MOST_REPEATS = 1_000_000, 100


@dataclass(frozen=True)
class Words:
    """The names that the lab has: of approaches, of sizes, of scenarios, of papers."""

    approaches: Sequence[str]
    sizes: Sequence[str]
    scenarios: Sequence[str]
    papers: Sequence[str]


def variable(name: str, verbs: Sequence[str], meaning: str, default: str, example: str, value: Any = None) -> Any:
    """The field of a variable: `verbs` take it, and those with a ! need it; `default` is what applies without it, in
    words; the model has `value` then."""
    told = {"verbs": [*verbs], "default": default}
    return Field(value, alias=name, description=meaning, examples=[example], json_schema_extra=told)


Numbers = Annotated[list[int], rising("a whole number from 1 to 1000000", MOST_CONNECTIONS, "[1-9][0-9]{0,6}")]
Rates = Annotated[list[float], rising("a rate above 0 and up to 100000", 100_000, r"[0-9]{1,6}(\.[0-9]{1,3})?")]
Seconds = Annotated[int | None, taken(values.seconds_of)]
Port = Annotated[int | None, whole(1, 65535)]
WITH_PAPER = (*MEASURING, "reproduce")


class Asked(Record):
    """What the user asks for with a verb of make. None, or an empty list: not asked for, so that the lab or a scenario
    says it."""

    verb: str
    approach: Annotated[str | None, BeforeValidator(values.approaches)] = variable(
        "APPROACH", MEASURING, "`headline` (four approaches), `all` (ten), or [names](#the-parts) separated by commas",
        "`headline`", "tomcat-platform,tomcat-virtual",
    )  # fmt: skip
    connections: Numbers = variable(
        "CONCURRENCY", ("run-ab!", "run-hey!", "run-users!", "run-vegeta", "sweep"),
        "connections, each with one request at a time; of a sweep, several",
        "required; with `RATE`, four times as many as it keeps busy, at least 100; with `sweep`, a sixteenth, "
        "a quarter and all of those that the host can hold", "1000", [],
    )  # fmt: skip
    rates_rps: Rates = variable(
        "RATE", ("run-vegeta!", "sweep"),
        "offered rate, requests per second, sent on schedule even if answers are late (vegeta)",
        "none", "500", [],
    )  # fmt: skip
    duration_s: Seconds = variable(
        "DURATION", WITH_PAPER, "length of the measured part, such as `60s` or `2m`", "{duration}", "60s"
    )
    requests: Annotated[int | None, whole(1, 100_000_000)] = variable(
        "REQUESTS", OF_LOADS, "number of requests, instead of `DURATION`", "none", "120000"
    )
    repeats: Annotated[int | None, whole(1, MOST_REPEATS)] = variable(
        "REPEATS", WITH_PAPER, "how often each approach is measured at each load", "{repeats}", "3"
    )
    seed: Annotated[int, whole(0, 999_999_999)] = variable(
        "SEED", WITH_PAPER, "seed of the random order", "random", "1", 0
    )
    endpoint: Annotated[str, taken(values.endpoint)] = variable(
        "ENDPOINT", OF_LOADS,
        "the request: `/capabilities`, `/meetings`, `/epoch-millis`, `/movies`, `/httpbin/block/SECONDS`, `/pinned`. "
        "[Parameters](services/CONTRACT.md#ports-and-paths) add CPU work and more backend calls: "
        "`'/capabilities?calls=5&parallel=true'`",
        "`/capabilities`", "/httpbin/block/0.3", "/capabilities",
    )  # fmt: skip
    delay: Annotated[str, taken(values.delay)] = variable(
        "DELAY", (*OF_LOADS, "up"),
        "how long the backend waits before it answers, in ms: `300`, `uniform:200:400` (from, to), `lognormal:300:900` "
        "(median, p99)", "{env}", "300",
    )  # fmt: skip
    error_share: Annotated[str, values.share(0, 1)] = variable(
        "ERROR_SHARE", (*MEASURING, "up"), "share of backend calls that fail, 0 to 1", "{env}", "0.01"
    )
    style: Annotated[str, one_of("lean", "idiomatic")] = variable(
        "STYLE", (*MEASURING, "up"),
        "`lean`: the least code that does the work; `idiomatic`: the code as Spring's guides write it "
        "([what it is](docs/cost-per-request.md#as-people-write-it)), in the headline set only", "{env}", "idiomatic",
    )  # fmt: skip
    jdk: Annotated[int | None, one_of("25", "21")] = variable(
        "JDK", (*MEASURING, "up"), "Java version, `25` or `21`", "{env}", "21"
    )
    gc: Annotated[str, one_of("g1", "parallel", "serial", "zgc")] = variable(
        "GC", (*WITH_PAPER, "up"), "garbage collector: `parallel`, `g1`, `serial`, `zgc`", "{env}", "g1"
    )
    http_client: Annotated[str, one_of("default", "apache", "jdk", "reactor")] = variable(
        "HTTP_CLIENT", (*WITH_PAPER, "up"),
        "the client of the backend in approaches whose threads wait for it: `apache`, `jdk`, `reactor`",
        "{env}: `reactor` for virtual-netty, else `apache`", "reactor",
    )  # fmt: skip
    save_movies: Annotated[str, one_of("true", "false")] = variable(
        "SAVE_MOVIES", (*MEASURING, "up"), "`true`: movies that are posted are kept in memory", "{env}", "true"
    )
    platform_threads: Annotated[int | None, whole(1, 32_000)] = variable(
        "PLATFORM_THREADS", (*MEASURING, "up"), "size of the thread pool", "as many as `CONCURRENCY` needs", "1000"
    )
    backend_connections: Annotated[int | None, whole(1, MOST_CONNECTIONS)] = variable(
        "BACKEND_CONNECTIONS", (*MEASURING, "up"), "size of the pool of connections to the backend",
        "as many as `CONCURRENCY` needs", "1000",
    )  # fmt: skip
    size: Annotated[str, values.named("sizes", "auto")] = variable(
        "SIZE", (*WITH_PAPER, "scenarios"),
        "CPU and memory limits: `auto`, `ec2` (a c5.4xlarge for the approach, two c5.2xlarge for the rest), "
        "`ec2-c5.2xlarge`, `smoke`",
        "`auto`: half of the CPUs for the approach, a quarter each for backend and load generator; with two CPUs these "
        "two share one", "smoke", "auto",
    )  # fmt: skip
    tool: Annotated[str, one_of("ab", "hey", "vegeta", "users")] = variable(
        "TOOL",
        ("sweep",),
        "load generator of a sweep: `ab`, `hey`, `vegeta`, `users`",
        "`ab`; with `RATE`, `vegeta`",
        "hey",
        "",
    )
    scenario: Annotated[str | None, values.named("scenarios")] = variable(
        "NAME", ("scenario!",), "the scenario, as `make scenarios` lists it", "required", "smoketest"
    )
    paper: Annotated[str | None, values.named("papers")] = variable(
        "PAPER", ("reproduce!", "keep-published!", "scenario", *RUNS),
        "the published experiment, as `make papers` lists it",
        "required", "virtual-threads-hey",
    )  # fmt: skip
    scale: Annotated[str, taken(values.scale)] = variable(
        "SCALE", ("scenario", "reproduce"),
        "how much of a scenario's load is run; `auto`: as much as the host holds", "1", "auto", "1",
    )  # fmt: skip
    plan: Annotated[str | None, one_of("1")] = variable(
        "PLAN", WITH_PAPER, "`1` prints the runs and their time, and starts nothing", "off", "1"
    )
    aa: Annotated[str | None, one_of("1")] = variable(
        "AA",
        MEASURING,
        "`1` measures the first approach twice in every block, which shows the lab's own noise",
        "off",
        "1",
    )
    margin: Annotated[float | None, values.share(0.01, 0.5)] = variable(
        "MARGIN", MEASURING, "margin of equivalence, a share", "{margins}", "0.05"
    )
    warmup_cap_s: Seconds = variable("WARMUP_CAP", WITH_PAPER, "the longest warm-up", "{warmup}", "120s")
    prometheus_port: Port = variable("PROMETHEUS_PORT", STARTING, "Prometheus' port on 127.0.0.1", "{env}", "19090")
    grafana_port: Port = variable("GRAFANA_PORT", STARTING, "Grafana's", "{env}", "13000")
    results_port: Port = variable("RESULTS_PORT", STARTING, "that of `results/`", "{env}", "19080")
    warmup_load_s: int = 0
    given: dict[str, str] = Field(default_factory=dict)

    @property
    def sweep(self) -> bool:
        """Whether it may have several loads."""
        return self.verb == "sweep"

    @property
    def twin(self) -> bool:
        """Whether the first approach is measured twice in each block."""
        return self.aa is not None

    @property
    def settings(self) -> dict[str, str]:
        """The settings of all approaches and of the backend, by the names of Compose's variables."""
        names = ("gc", "http_client", "style", "error_share", "save_movies")
        return {name.upper(): getattr(self, name) for name in names}


FIELDS = {str(field.alias): field for field in Asked.model_fields.values() if field.alias}
"""By the variables' names, in the order in which they are told."""
OTHERS = (
    ("RESUME", "latest", "finish report", "", "`latest`, or a folder of `results/`"),
    ("PART", "live", "test-all", "all of them", "a part of the longer tests"),
    (
        "TRIES",
        "3",
        "bench-tests bench-verdict bench-healthy bench-warmup bench-style bench-floor bench-internals",
        "",
        "how often",
    ),
    ("SHORT", "1", "bench-observer", "off", "`1`: five minutes in place of 13"),
    ("VARIABLE", "RATE", "help", "", "the variable to tell of"),
    ("RESULTS_URL", "http://host:9080", "up", "", "where browsers find `results/`, for links on dashboards"),
    ("GRAFANA_ADMIN_PASSWORD", "secret", "up", "", "for who wants to change dashboards"),
)
"""Variables that plan no experiment, as `table` gives them."""
OF_NO_RUN = {"PLAN", "PROMETHEUS_PORT", "GRAFANA_PORT", "RESULTS_PORT"}
"""Variables that change nothing that is measured."""
OF_ENV = ("GC", "HTTP_CLIENT", "STYLE", "ERROR_SHARE", "SAVE_MOVIES", "DELAY")
"""Variables whose defaults are those of .env."""


def verbs_of(name: str) -> list[str]:
    """The verbs of make that take the variable."""
    told: Any = FIELDS[name].json_schema_extra
    return [verb.removesuffix("!") for verb in told["verbs"]]


def table() -> Iterator[tuple[str, ...]]:
    """A row for each variable: name, example, verbs, default and meaning, for the host's shell and `make help`."""
    for name, field in FIELDS.items():
        told: Any = field.json_schema_extra
        yield name, str((field.examples or [""])[0]), " ".join(told["verbs"]), told["default"], str(field.description)
    yield from OTHERS


def model_of(verb: str, given: Mapping[str, str], words: Words, defaults: Mapping[str, str]) -> Asked:
    """What is asked for with a verb of make; `defaults` are those of .env. Raises UsageError for a value that cannot
    be. That a variable goes with its verb is checked on the host (bin/variables.sh)."""
    asked = {name: value for name in FIELDS if verb in verbs_of(name) and (value := given.get(name))}
    told = {name: defaults[name] for name in OF_ENV if name in defaults} | asked
    told["given"] = {name: value for name, value in asked.items() if name not in OF_NO_RUN}
    told.setdefault("SEED", str(random.SystemRandom().randrange(1_000_000)))
    try:
        found = Asked.model_validate(
            told | {"verb": verb, "warmup_load_s": int(given.get("WARMUP_LOAD_S") or 0)}, context=words
        )
    except ValidationError as error:
        raise UsageError(_refusal(error, asked)) from error
    for name, loads in (("CONCURRENCY", found.connections), ("RATE", found.rates_rps)):
        if len(loads) > 1 and not found.sweep:
            cure = f"use one of them, or make sweep {name}={asked[name]}"
            raise UsageError(f"{name}={asked[name]} is more than one load: {cure}.")
    own = "vegeta" if found.rates_rps else "ab"
    return found.model_copy(update={"tool": (found.tool or own) if found.sweep else verb.removeprefix("run-")})


def _refusal(error: ValidationError, given: Mapping[str, str]) -> str:
    """The first mistake, in a sentence with the cure."""
    first = error.errors()[0]
    name, message = str(first["loc"][0]), first["msg"].removeprefix("Value error, ")
    cure = "" if ": use " in message else f": use for instance {name}={(FIELDS[name].examples or [''])[0]}"
    return f"{name}={given.get(name, first['input'])} {message}{cure}."
