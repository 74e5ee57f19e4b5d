"""The user's variables: each is declared once, with all that is said and checked of it."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo

from loomlab.basics.errors import UsageError
from loomlab.records.delay import LONGEST_MS, delay_of
from loomlab.records.record import Record
from loomlab.tools.known import KNOWN, ToolName

RUNS = tuple(f"run-{name}" for name in KNOWN)
MEASURING = (*RUNS, "sweep", "scenario")
OF_LOADS = (*RUNS, "sweep")
WITH_PAPER = (*MEASURING, "reproduce")
STARTING = (*MEASURING, "reproduce", "finish", "up", "smoke")
MOST_CONNECTIONS, MOST_REPEATS = 1_000_000, 100
PATHS = ("/capabilities", "/meetings", "/epoch-millis", "/movies", "/pinned")
QUERY = {
    "delayInMillis": range(LONGEST_MS + 1),
    "cpuMicros": range(1_000_001),
    "calls": range(1, 21),
    "parallel": ("true", "false"),
}
"""Parameters of endpoints, and what they may be."""


def _written(pattern: str, what: str) -> BeforeValidator:
    """A check of how a value is written."""

    def check(text: Any) -> Any:
        if isinstance(text, str) and not re.fullmatch(pattern, text):
            raise ValueError(f"it is not {what}")
        return text

    return BeforeValidator(check)


def _seconds(text: Any) -> Any:
    time = re.fullmatch(r"([0-9]{1,4})(s|m|)", str(text))
    if time is None:
        raise ValueError("it is not a time such as 60s or 2m")
    return int(time[1]) * (60 if time[2] == "m" else 1)


def _rising(numbers: list[Any]) -> list[Any]:
    rising = sorted(set(numbers))
    if numbers != rising:
        raise ValueError(f"it does not rise from load to load: use {','.join(f'{number:g}' for number in rising)}")
    return numbers


def _known(kind: str, *others: str) -> AfterValidator:
    """A name of that kind that the lab has, or another word; of approaches, several with commas between them."""

    def check(text: str, info: ValidationInfo) -> str:
        parts = text.split(",") if kind == "approaches" else [text]
        names = info.context[kind] if info.context else parts
        unknown = [part for part in parts if part not in names]
        if unknown and text not in others:
            raise ValueError(f"{unknown[0]!r} is unknown: use {', '.join([*others, *names])}")
        return text

    return AfterValidator(check)


def _endpoint(text: str) -> str:
    """The path with its query, as it is written."""
    path, _, query = text.partition("?")
    block = re.fullmatch(r"/httpbin/block/((?:0|[1-9][0-9]?)(?:\.[0-9]{1,3})?)", path)
    if not (float(block[1]) <= 60 if block else path in PATHS):
        raise ValueError(
            f"it is unknown: use one of {', '.join(PATHS)}, or /httpbin/block/SECONDS with up to 60 seconds and three "
            "decimals"
        )
    if not re.fullmatch(r"[A-Za-z0-9._~%=&+-]*", query):
        raise ValueError("it has characters that a query cannot have")
    given = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name in QUERY]
    for name, value in given:
        allowed = QUERY[name]
        number = isinstance(allowed, range) and re.fullmatch("0|[1-9][0-9]*", value) is not None
        if (int(value) if number else value) not in allowed or len({name for name, _ in given}) < len(given):
            limits = f"a number from {allowed[0]} to {allowed[-1]}" if isinstance(allowed, range) else "true or false"
            raise ValueError(f"its {name} is not {limits}, once")
    return text


def variable(
    name: str, verbs: Sequence[str], meaning: str, default: str, example: str, value: Any = None, **limits: Any
) -> Any:
    """The field of a variable: `verbs` take it, and those with a ! need it; `default` is what applies without it, in
    words; the model has `value` then."""
    table: dict[str, Any] = {"verbs": [*verbs], "default": default}
    return Field(value, alias=name, description=meaning, examples=[example], json_schema_extra=table, **limits)


Whole = Annotated[int, _written("0|[1-9][0-9]{0,8}", "a whole number")]
Rate = Annotated[
    float, _written(r"[0-9]{1,6}(\.[0-9]{1,3})?", "a number with up to three decimals"), Field(gt=0, le=100_000)
]
Share = _written(r"0|0?\.[0-9]{1,4}|1(\.0{1,4})?", "a share from 0 to 1, with up to four decimals")
Seconds = Annotated[int, BeforeValidator(_seconds), Field(ge=1, le=3600)] | None
Port = Annotated[Whole, Field(ge=1, le=65535)] | None
Flag = Literal["1"] | None
Parts = BeforeValidator(lambda text: text.split(",") if isinstance(text, str) else text)
Rising = AfterValidator(_rising)


class Asked(Record):
    """What the user asks for with a verb of make. None, or an empty list: not asked for, so that the lab or a scenario
    says it."""

    verb: str
    approach: Annotated[str, _known("approaches", "headline", "all")] | None = variable(
        "APPROACH", MEASURING, "`headline` (four approaches), `all` (ten), or [names](#the-parts) separated by commas",
        "`headline`", "tomcat-platform,tomcat-virtual",
    )  # fmt: skip
    connections: Annotated[list[Annotated[Whole, Field(ge=1, le=MOST_CONNECTIONS)]], Parts, Rising] = variable(
        "CONCURRENCY", ("run-ab!", "run-hey!", "run-users!", "run-vegeta", "sweep"),
        "connections, each with one request at a time; of a sweep, several",
        "required; with `RATE`, four times as many as it keeps busy, at least 100; with `sweep`, a sixteenth, "
        "a quarter and all of those that the host can hold", "1000", [],
    )  # fmt: skip
    rates_rps: Annotated[list[Rate], Parts, Rising] = variable(
        "RATE", ("run-vegeta!", "sweep"),
        "offered rate, requests per second, sent on schedule even if answers are late (vegeta)",
        "none", "500", [],
    )  # fmt: skip
    duration_s: Seconds = variable(
        "DURATION", WITH_PAPER, "length of the measured part, such as `60s` or `2m`", "{duration}", "60s"
    )
    requests: Whole | None = variable(
        "REQUESTS", OF_LOADS, "number of requests, instead of `DURATION`", "none", "120000", ge=1, le=100_000_000
    )
    repeats: Whole | None = variable(
        "REPEATS", WITH_PAPER, "how often each approach is measured at each load", "{repeats}", "3",
        ge=1, le=MOST_REPEATS,
    )  # fmt: skip
    seed: Whole = variable("SEED", WITH_PAPER, "seed of the random order", "random", "1", 0)
    endpoint: Annotated[str, AfterValidator(_endpoint)] = variable(
        "ENDPOINT", OF_LOADS,
        "the request: `/capabilities`, `/meetings`, `/epoch-millis`, `/movies`, `/httpbin/block/SECONDS`, `/pinned`. "
        "[Parameters](services/CONTRACT.md#ports-and-paths) add CPU work and more backend calls: "
        "`'/capabilities?calls=5&parallel=true'`",
        "`/capabilities`", "/httpbin/block/0.3", "/capabilities",
    )  # fmt: skip
    delay: Annotated[str, AfterValidator(lambda text: delay_of(text) and text)] = variable(
        "DELAY", (*OF_LOADS, "up"),
        "how long the backend waits before it answers, in ms: `300`, `uniform:200:400` (from, to), `lognormal:300:900` "
        "(median, p99)", "{env}", "300",
    )  # fmt: skip
    error_share: Annotated[str, Share] = variable(
        "ERROR_SHARE", (*MEASURING, "up"), "share of backend calls that fail, 0 to 1", "{env}", "0.01"
    )
    style: Literal["lean", "idiomatic"] = variable(
        "STYLE", (*MEASURING, "up"),
        "`lean`: the least code that does the work; `idiomatic`: the code as Spring's guides write it "
        "([what it is](docs/cost-per-request.md#as-people-write-it)), in the headline set only", "{env}", "idiomatic",
    )  # fmt: skip
    jdk: Literal["25", "21"] | None = variable("JDK", (*MEASURING, "up"), "Java version, `25` or `21`", "{env}", "21")
    gc: Literal["g1", "parallel", "serial", "zgc"] = variable(
        "GC", (*WITH_PAPER, "up"), "garbage collector: `parallel`, `g1`, `serial`, `zgc`", "{env}", "g1"
    )
    http_client: Literal["default", "apache", "jdk", "reactor"] = variable(
        "HTTP_CLIENT", (*WITH_PAPER, "up"),
        "the client of the backend in approaches whose threads wait for it: `apache`, `jdk`, `reactor`",
        "{env}: `reactor` for virtual-netty, else `apache`", "reactor",
    )  # fmt: skip
    save_movies: Literal["true", "false"] = variable(
        "SAVE_MOVIES", (*MEASURING, "up"), "`true`: movies that are posted are kept in memory", "{env}", "true"
    )
    platform_threads: Whole | None = variable(
        "PLATFORM_THREADS", (*MEASURING, "up"), "size of the thread pool", "as many as `CONCURRENCY` needs", "1000",
        ge=1, le=32_000,
    )  # fmt: skip
    backend_connections: Whole | None = variable(
        "BACKEND_CONNECTIONS", (*MEASURING, "up"), "size of the pool of connections to the backend",
        "as many as `CONCURRENCY` needs", "1000", ge=1, le=MOST_CONNECTIONS,
    )  # fmt: skip
    size: Annotated[str, _known("sizes", "auto")] = variable(
        "SIZE", (*WITH_PAPER, "scenarios"),
        "CPU and memory limits: `auto`, `ec2` (a c5.4xlarge for the approach, two c5.2xlarge for the rest), "
        "`ec2-c5.2xlarge`, `smoke`",
        "`auto`: half of the CPUs for the approach, a quarter each for backend and load generator; with two CPUs these "
        "two share one", "smoke", "auto",
    )  # fmt: skip
    tool: ToolName | Literal[""] = variable(
        "TOOL", ("sweep",), f"load generator of a sweep: {', '.join(f'`{name}`' for name in KNOWN)}",
        "`ab`; with `RATE`, `vegeta`", "hey", "",
    )  # fmt: skip
    scenario: Annotated[str, _known("scenarios")] | None = variable(
        "NAME", ("scenario!",), "the scenario, as `make scenarios` lists it", "required", "smoketest"
    )
    paper: Annotated[str, _known("papers")] | None = variable(
        "PAPER", ("reproduce!", "keep-published!", "scenario", *RUNS),
        "the published experiment, as `make papers` lists it",
        "required", "virtual-threads-hey",
    )  # fmt: skip
    scale: Annotated[str, _written(r"auto|1|0?\.(?!0+$)[0-9]{1,4}", "a factor from 0.0001 to 1")] = variable(
        "SCALE", ("scenario", "reproduce"),
        "how much of a scenario's load is run; `auto`: as much as the host holds", "1", "auto", "1",
    )  # fmt: skip
    plan: Flag = variable("PLAN", WITH_PAPER, "`1` prints the runs and their time, and starts nothing", "off", "1")
    aa: Flag = variable(
        "AA", MEASURING, "`1` measures the first approach twice in every block, which shows the lab's own noise",
        "off", "1",
    )  # fmt: skip
    margin: Annotated[float, Share] | None = variable(
        "MARGIN", MEASURING, "margin of equivalence, a share", "{margins}", "0.05", ge=0.01, le=0.5
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
BENCHES = "bench-tests bench-verdict bench-healthy bench-warmup bench-style bench-floor bench-internals"
OTHERS = (
    ("RESUME", "latest", "finish report", "", "`latest`, or a folder of `results/`"),
    ("PART", "live", "test-all", "all of them", "a part of the longer tests"),
    ("TRIES", "3", BENCHES, "", "how often"),
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
    extra: Any = FIELDS[name].json_schema_extra
    return [verb.removesuffix("!") for verb in extra["verbs"]]


def table() -> Iterator[tuple[str, ...]]:
    """A row for each variable: name, example, verbs, default and meaning, for the host's shell and `make help`."""
    for name, field in FIELDS.items():
        extra: Any = field.json_schema_extra
        yield name, _example(name), " ".join(extra["verbs"]), extra["default"], str(field.description)
    yield from OTHERS


def _example(name: str) -> str:
    (example,) = FIELDS[name].examples or [""]
    return str(example)


def model_of(
    verb: str, given: Mapping[str, str], names: Mapping[str, Sequence[str]], defaults: Mapping[str, str]
) -> Asked:
    """What is asked for with a verb of make; `names` are those that the lab has of each kind, `defaults` those of .env.
    Raises UsageError for a value that cannot be. That a variable goes with its verb is checked on the host
    (bin/variables.sh)."""
    asked = {name: value for name in FIELDS if verb in verbs_of(name) and (value := given.get(name))}
    fields: dict[str, Any] = {
        "SEED": str(random.SystemRandom().randrange(1_000_000)),
        "verb": verb,
        "given": {name: value for name, value in asked.items() if name not in OF_NO_RUN},
        "warmup_load_s": int(given.get("WARMUP_LOAD_S") or 0),
    }
    fields |= {name: defaults[name] for name in OF_ENV if name in defaults} | asked
    try:
        model = Asked.model_validate(fields, context=names)
    except ValidationError as error:
        raise UsageError(_refusal(error, fields)) from error
    for name, loads in (("CONCURRENCY", model.connections), ("RATE", model.rates_rps)):
        if len(loads) > 1 and not model.sweep:
            cure = f"use one of them, or make sweep {name}={asked[name]}"
            raise UsageError(f"{name}={asked[name]} is more than one load: {cure}.")
    own = "vegeta" if model.rates_rps else "ab"
    return model.model_copy(update={"tool": (model.tool or own) if model.sweep else verb.removeprefix("run-")})


def _refusal(error: ValidationError, fields: Mapping[str, Any]) -> str:
    """The first mistake, in a sentence with the cure."""
    first = error.errors()[0]
    name, message = str(first["loc"][0]), first["msg"].removeprefix("Value error, ").removesuffix(".")
    cure = "" if ": use " in message else f"; use for instance {name}={_example(name)}"
    return f"{name}={fields[name]}: {message}{cure}."
