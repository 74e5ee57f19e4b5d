"""The user's variables: each is declared once, with all that is said and checked of it."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from loomlab.basics.errors import UsageError
from loomlab.plan.objectives import limits_of, objectives_of
from loomlab.plan.values import (
    PAGE,
    Flag,
    Parts,
    Port,
    Rate,
    Rising,
    Seconds,
    Share,
    Whole,
    address_of,
    endpoint_of_any,
    jvm_options,
    known,
    written,
)
from loomlab.records.capacity import Objective
from loomlab.records.endpoints import NO_DELAY, delay_of
from loomlab.records.files import NAME, Record, checked
from loomlab.records.load import MOST_GENERATORS
from loomlab.records.models import PATH
from loomlab.records.order import IMAGE, Limit
from loomlab.tools.known import CLOSED_TOOLS, KNOWN, RATE_TOOLS, SWEEPER, ToolName

RUNS = tuple(f"run-{name}" for name in KNOWN)
NEEDING_CONNECTIONS = tuple(f"run-{name}!" for name in CLOSED_TOOLS)
OF_RATES = tuple(f"run-{name}" for name in RATE_TOOLS)
COMPARING, SIDED = ("sweep", "compare"), ("compare", "capacity")
MEASURING = (*RUNS, *COMPARING, "capacity", "flip", "scenario")
OF_LOADS = (*RUNS, *COMPARING)
OF_SERVICES = (*OF_LOADS, "capacity", "flip")
OF_TARGETS = (*RUNS, "sweep")
REPRODUCING = (*MEASURING, "reproduce")
SERVING = (*MEASURING, "up")
STARTING = (*MEASURING, "reproduce", "finish", "up", "smoke", "doctor")
MOST_CONNECTIONS, MOST_REPEATS = 1_000_000, 100


class Variable(NamedTuple):
    name: str
    example: str
    verbs: str  # of make that take it, with spaces between them; those with a ! need it
    default: str
    """What applies without it, in words."""
    meaning: str
    handed_on: bool = False  # to Compose, for every run, or for the run that needs it


VARIABLES: dict[str, Variable] = {}  # the fields of Asked, in the order in which they are told


def variable(
    name: str, verbs: Sequence[str], meaning: str, default: str, example: str, value: Any = None, **limits: Any
) -> Any:
    """The field of a variable; the model has `value` without it."""
    handed_on = name == "SEED" or ("up" in verbs and "finish" not in verbs)
    VARIABLES[name] = Variable(name, example, " ".join(verbs), default, meaning, handed_on)
    return Field(value, alias=name, **limits)


class Asked(Record):
    """What the user asks for. None, or an empty list: not asked for, so that the lab or a scenario says it."""

    verb: str
    approach: Annotated[str, known("approaches", "headline", "all")] | None = variable(
        "APPROACH", MEASURING, "`headline` (four approaches), `all`, or [names](#approaches) separated by commas",
        "`headline`", "tomcat-platform,tomcat-virtual",
    )  # fmt: skip
    subjects: str | None = variable(
        "SUBJECTS", OF_SERVICES,
        "a Compose file of yours with the service to measure, in place of `APPROACH`", "none", "~/orders/compose.yaml",
    )  # fmt: skip
    target: Annotated[str, checked(address_of)] | None = variable(
        "TARGET", OF_TARGETS,
        "a URL that the lab only loads ([what it then knows](../how-to/target.md)), in place of `APPROACH`; its path "
        "and query are the request",
        "none", "https://orders.example.org/orders/1",
    )  # fmt: skip
    ca_file: str | None = variable(
        "CA_FILE", OF_TARGETS, "the certificates, as PEM, that an https `TARGET` is trusted by",
        "those of Debian", "ca.pem",
    )  # fmt: skip
    service: Annotated[str, written(NAME, "a service's name")] | None = variable(
        "SERVICE", OF_SERVICES, "the service of `SUBJECTS`", "the only one that publishes a port", "orders"
    )
    image: Annotated[str, written(IMAGE, "the name of an image")] | None = variable(
        "IMAGE", OF_SERVICES, "an image of yours to measure, alone or in place of the service's", "the service's",
        "orders:1.4",
    )  # fmt: skip
    port: Port = variable("PORT", OF_SERVICES, "where it answers", "the only one that it publishes", "8080")
    ready: Annotated[str, written(PATH, "a path")] | None = variable(
        "READY", OF_SERVICES, "what it answers 2xx when it is ready", "required for a service of yours", "/health"
    )
    metrics: Annotated[str, written(PAGE, "a path without a query, or one behind a port")] | None = variable(
        "METRICS", OF_SERVICES, "its page of Prometheus' format, on `PORT` or another", "none",
        "8081/actuator/prometheus",
    )  # fmt: skip
    requests_file: str | None = variable(
        "REQUESTS_FILE", OF_SERVICES,
        "kinds of request, with weights ([how](../how-to/your-service.md#requests))", "none", "mix.yaml",
    )  # fmt: skip
    connections: Annotated[list[Annotated[Whole, Field(ge=1, le=MOST_CONNECTIONS)]], Parts, Rising] = variable(
        "CONCURRENCY", (*NEEDING_CONNECTIONS, *OF_RATES, *COMPARING),
        "connections, each with one request at a time; a sweep takes several",
        "required; with `RATE`, four times as many as it keeps busy (of a service of yours, four times the rate), at "
        "least 100; with `sweep`, a sixteenth, a quarter and all of those that the host can handle", "1000", [],
    )  # fmt: skip
    rates_rps: Annotated[list[Rate], Parts, Rising] = variable(
        "RATE", (*(f"{verb}!" for verb in OF_RATES), *COMPARING, "flip!"),
        "offered rate, requests per second, sent on schedule even if answers are late", "none", "500", [],
    )  # fmt: skip
    duration_s: Seconds | None = variable(
        "DURATION", REPRODUCING,
        "length of the measured part, such as `60s` or `2m`; in slices, of an approach's four together; of a search's "
        "trials the least",
        "{duration}", "60s",
    )  # fmt: skip
    requests: Whole | None = variable(
        "REQUESTS", OF_LOADS, "number of requests, instead of `DURATION`", "none", "120000", ge=1, le=100_000_000
    )
    objectives: Annotated[list[Objective], BeforeValidator(objectives_of)] = variable(
        "SLO", ("capacity!", "flip!"),
        "what must hold: limits of latency (`p50`, `p90`, `p95`, `p99`, `p99.9`, `max`, `mean`) and `errors`",
        "required", "p99<1200ms,errors<0.1%", [],
    )  # fmt: skip
    repeats: Whole | None = variable(
        "REPEATS", REPRODUCING, "how often each approach is measured at each load", "{repeats}", "3", ge=1,
        le=MOST_REPEATS,
    )  # fmt: skip
    seed: Whole = variable("SEED", REPRODUCING, "seed of the random order", "random", "1", 0)
    endpoint: Annotated[str, AfterValidator(endpoint_of_any)] = variable(
        "ENDPOINT", OF_SERVICES,
        "the request: `/capabilities`, `/meetings`, `/epoch-millis`, `/movies`, `/httpbin/block/SECONDS`, `/pinned`, "
        "or of [the database](../../services/CONTRACT.md#the-database) `/orders/42`, `/orders?customer=7`, "
        "`/orders/slow?millis=20`. "
        "[Parameters](../../services/CONTRACT.md#ports-and-paths) add CPU work and more backend calls: "
        "`'/capabilities?calls=5&parallel=true'`",
        "`/capabilities`", "/httpbin/block/0.3", "/capabilities",
    )  # fmt: skip
    delay: Annotated[str, written(f"(?!{NO_DELAY}$).*", "a delay"), checked(delay_of)] = variable(
        "DELAY", (*OF_SERVICES, "up"),
        "how long the backend waits before it answers, in ms: `300`, `uniform:200:400` (from, to), `lognormal:300:900` "
        "(median, p99)", "{env}", "300",
    )  # fmt: skip
    error_share: Annotated[str, Share] = variable(
        "ERROR_SHARE", SERVING, "share of backend calls that fail, 0 to 1", "{env}", "0.01"
    )
    style: Literal["lean", "idiomatic"] = variable(
        "STYLE", SERVING,
        "`lean`: the least code that does the work; `idiomatic`: the code as Spring's guides write it "
        "([what it is](../explanation/cost-per-request.md#idiomatic-spring-style)), in the headline set only", "{env}",
        "idiomatic",
    )  # fmt: skip
    jdk: Literal["25", "21", "26", "27"] = variable(
        "JDK", SERVING, "Java version: `25`, `21`, or, where a registry answers, `26` or `27` (not tried yet)",
        "{env}", "21",
    )  # fmt: skip
    gc: Literal["g1", "parallel", "serial", "zgc"] = variable(
        "GC", (*REPRODUCING, "up"), "garbage collector: `parallel`, `g1`, `serial`, `zgc`", "{env}", "g1"
    )
    http_client: Literal["default", "apache", "jdk", "reactor"] = variable(
        "HTTP_CLIENT", (*REPRODUCING, "up"),
        "the backend's client in approaches whose threads wait for it: `apache`, `jdk`, `reactor`",
        "{env}: `reactor` for virtual-netty, else `apache`", "reactor",
    )  # fmt: skip
    response_timeout_ms: Annotated[Whole, Field(le=60_000)] = variable(
        "RESPONSE_TIMEOUT_MS", SERVING,
        "how long clients wait for a silent backend, in ms; `0`: forever", "{env}", "0",
    )  # fmt: skip
    transport: Literal["nio", "epoll"] = variable(
        "TRANSPORT", SERVING,
        "sockets of the approaches on Netty: `nio`, the JDK's, or `epoll`, Netty's own", "{env}", "epoll",
    )  # fmt: skip
    carriers: Whole | None = variable(
        "CARRIERS", SERVING, "carrier threads of virtual threads", "as many as the approach has CPUs", "2", ge=1, le=256
    )
    jvm_opts: Annotated[str, AfterValidator(jvm_options)] | None = variable(
        "JVM_OPTS", SERVING,
        "more options for the approaches' JVMs, separated by spaces", "none",
        "-XX:+UseCompactObjectHeaders",
    )  # fmt: skip
    cpus: Whole | None = variable(
        "CPUS", MEASURING, "CPUs of the approach, with `SIZE=auto`", "half of the host's", "4", ge=1, le=1024
    )
    cpu_mode: Literal["cpuset", "quota"] = variable(
        "CPU_MODE", MEASURING,
        "`cpuset`: CPUs of its own; `quota`: a CFS quota of as many on all CPUs, as Kubernetes sets it",
        "`cpuset`", "quota", "cpuset",
    )  # fmt: skip
    save_movies: Literal["true", "false"] = variable(
        "SAVE_MOVIES", SERVING, "`true` keeps posted movies in memory", "{env}", "true"
    )
    platform_threads: Whole | None = variable(
        "PLATFORM_THREADS", SERVING, "size of the thread pool", "as many as `CONCURRENCY` needs", "1000", ge=1,
        le=32_000,
    )  # fmt: skip
    limit: Whole | None = variable(
        "LIMIT", SERVING,
        "requests that an approach serves at once; others wait: for a thread of the pool, for a semaphore on virtual "
        "threads, for a permit in reactive approaches", "none", "200", ge=1, le=32_000,
    )  # fmt: skip
    pool: Whole | None = variable(
        "POOL", SERVING, "size of the pool of connections to the backend, or to the database",
        "as many as `CONCURRENCY` needs; to the database 20", "1000", ge=1, le=MOST_CONNECTIONS,
    )  # fmt: skip
    size: Annotated[str, known("sizes", "auto")] = variable(
        "SIZE", (*REPRODUCING, "scenarios"),
        "CPU and memory limits: `auto`, `ec2` (a c5.4xlarge for the approach, two c5.2xlarge for the rest), "
        "`ec2-c5.2xlarge`, `smoke`",
        "`auto`: half of the CPUs for the approach, a quarter each for backend and load generator; with two CPUs these "
        "two share one", "smoke", "auto",
    )  # fmt: skip
    generators: Whole = variable(
        "GENERATORS", OF_TARGETS,
        "load generators that share connections, requests and rate ([when](../how-to/own-case.md#more-load)), up to "
        f"{MOST_GENERATORS}", "1", "2", 1, ge=1, le=MOST_GENERATORS,
    )  # fmt: skip
    tool: ToolName | Literal[""] = variable(
        "TOOL", COMPARING, f"load generator of a sweep: {', '.join(f'`{name}`' for name in KNOWN)}",
        "`users`; with `RATE`, `vegeta`", "hey", "",
    )  # fmt: skip
    design: Literal["slices", "alone"] | None = variable(
        "DESIGN", COMPARING,
        "`slices`: pairs are up together and loaded in turn; `alone`: each approach by itself",
        "`slices` where [possible](commands-and-files.md#a-sweep)", "alone",
    )  # fmt: skip
    scenario: str | None = variable(
        "NAME", ("scenario!",), "the scenario, as `make scenarios` lists it", "required", "smoketest"
    )
    benchmark: Annotated[str, known("published")] | None = variable(
        "BENCHMARK", ("reproduce!", "keep-published!", "scenario", *RUNS),
        "the published benchmark, as `make published` lists it", "required", "virtual-threads-hey",
    )  # fmt: skip
    scale: Annotated[str, written(r"auto|1|0?\.(?!0+$)[0-9]{1,4}", "a factor from 0.0001 to 1")] = variable(
        "SCALE", ("scenario", "reproduce"),
        "how much of a scenario's load is run; `auto`: as much as the host can handle", "1", "auto", "1",
    )  # fmt: skip
    plan: Flag = variable("PLAN", REPRODUCING, "`1` prints the runs and their time, and measures nothing", "off", "1")
    a: str | None = variable(
        "A", (*SIDED, "flip"),
        "what side A has of its own, `;` between several: `JDK`, `GC`, `JVM_OPTS` and other settings of an approach, "
        "`IMAGE`, or `ENV:NAME` for a variable of its container",
        "nothing of its own", "GC=parallel",
    )  # fmt: skip
    b: str | None = variable("B", (*SIDED, "flip"), "the same of side B", "nothing of its own", "GC=g1")
    c: str | None = variable("C", SIDED, "the same of a side C", "no side C", "GC=zgc")
    limits: Annotated[list[Limit], BeforeValidator(limits_of)] = variable(
        "FAIL", SIDED,
        "limits of the other sides against A, `;` between several, by figures of run.json: exit code 1 beyond one, 5 "
        "where that is not resolved",
        "none", "cpu_ms_per_request>+10%;latency_ms.p99>+15%", [],
    )  # fmt: skip
    aa: Flag = variable(
        "AA", (*RUNS, "sweep", "scenario"),
        "`1` measures the first approach twice in every block, which shows the lab's own noise", "off", "1",
    )  # fmt: skip
    jfr: Flag = variable(
        "JFR", OF_LOADS,
        "`1` records by JFR which code keeps a virtual thread on its carrier (*pinned*) for over 1 ms, in one run of "
        "each; nothing is compared",
        "off", "1",
    )  # fmt: skip
    margin: Annotated[float, Share] | None = variable(
        "MARGIN", MEASURING, "equivalence margin, a share", "{margins}", "0.05", ge=0.01, le=0.5
    )
    warmup_cap_s: Seconds | None = variable("WARMUP_CAP", REPRODUCING, "the longest warm-up", "{warmup}", "120s")
    lab: Literal["compose", "swarm"] = variable(
        "LAB", (*STARTING, "down", "clean"),
        "`compose`: this host; `swarm`: [the nodes of a swarm](../how-to/beyond-one-machine.md)", "`compose`", "swarm",
        "compose",
    )  # fmt: skip
    prometheus_port: Port = variable("PROMETHEUS_PORT", STARTING, "Prometheus' port on 127.0.0.1", "{env}", "19090")
    grafana_port: Port = variable("GRAFANA_PORT", STARTING, "Grafana's port", "{env}", "13000")
    results_port: Port = variable("RESULTS_PORT", STARTING, "port of `results/`", "{env}", "19080")
    given: dict[str, str] = Field(default_factory=dict)

    @property
    def sweep(self) -> bool:
        """Whether it is about what differs."""
        return self.verb in {*COMPARING, *SIDED}

    @property
    def apart(self) -> bool:
        """Whether this host is the load generator's alone."""
        return self.lab == "swarm"

    @property
    def settings(self) -> dict[str, str]:
        """Variables of Compose for every run."""
        values = {name: getattr(self, name.lower()) for name, each in VARIABLES.items() if each.handed_on}
        return {name: f"{value}".replace(" ", ";") for name, value in values.items() if value is not None}


BENCHES = "bench-tests bench-verdict bench-healthy bench-floor"
OTHERS = (
    Variable(
        "SLOW",
        "DELAY=2000",
        "flip",
        "`DELAY=900`; with `DELAY`, another request, or a service of yours, none",
        "what makes answers slow that it waits for, `;` between several: variables of the lab, `ENV:NAME=` of the "
        "service, or variables of your Compose file",
    ),
    Variable(
        "SMALL",
        "POOL=20",
        "flip",
        "`POOL` as large as `RATE`; with `DELAY`, another request, or a service of yours, none",
        "what makes pools small, in the same way",
    ),
    Variable("RESUME", "latest", "finish report", "", "`latest`, or a folder of `results/`"),
    Variable(
        "BESIDE", "latest", "report", "", "another experiment, whose figures are printed beside those of `RESUME`"
    ),
    Variable("KEEP", "20", "prune!", "", "how many of the newest experiments stay"),
    Variable("PART", "live", "test-all", "all of them", "a part of the longer tests"),
    Variable("TRIES", "3", BENCHES, "", "how often"),
    Variable("SHORT", "1", "bench-observer", "off", "`1`: five minutes in place of 13"),
    Variable("VARIABLE", "RATE", "help", "", "the variable to explain"),
    Variable("RESULTS_URL", "http://host:9080", "up", "", "where browsers find `results/`, for links on dashboards"),
    Variable("GRAFANA_ADMIN_PASSWORD", "secret", "up", "", "for changing dashboards"),
)
"""Those that plan no experiment."""
OF_NO_RUN = {"PLAN", "PROMETHEUS_PORT", "GRAFANA_PORT", "RESULTS_PORT"}  # they change nothing that is measured


def model_of(
    verb: str, given: Mapping[str, str], names: Mapping[str, Sequence[str]], defaults: Mapping[str, str]
) -> Asked:
    """What is asked for with a verb of make; `names` are the lab's of each kind, `defaults` those of .env. Raises
    UsageError for a wrong value. That a variable goes with its verb, and none lacks, is checked by bin/variables.sh."""
    taken = [name for name, each in VARIABLES.items() if verb in each.verbs.replace("!", "").split()]
    asked = {name: value for name in taken if (value := given.get(name))}
    fields: dict[str, Any] = {"SEED": str(random.SystemRandom().randrange(1_000_000)), "verb": verb}
    fields["given"] = {name: value for name, value in asked.items() if name not in OF_NO_RUN}
    own = {name for name, each in VARIABLES.items() if each.default.startswith("{env}")}
    fields |= {name: defaults[name] for name in own & defaults.keys()} | asked
    try:
        model = Asked.model_validate(fields, context=names)
    except ValidationError as error:
        first = error.errors()[0]
        name, message = f"{first['loc'][0]}", first["msg"].removeprefix("Value error, ").removesuffix(".")
        cure = "" if "use " in message else f"; use for instance {name}={VARIABLES[name].example}"
        value = re.sub(r"[^\x20-\x7e]", "?", f"{fields[name]:.60}")
        raise UsageError(f"{name}={value}: {message}{cure}.") from error
    for name, loads in (("CONCURRENCY", model.connections), ("RATE", model.rates_rps)):
        if len(loads) > 1 and not model.sweep:
            cure = f"use one of them, or make sweep {name}={asked[name]}"
            raise UsageError(f"{name}={asked[name]} is more than one load: {cure}.")
    for name, many, cure in (
        ("REQUESTS", model.requests, "use DURATION"),
        ("CONCURRENCY", len(model.connections) > 1, "use one number, or leave it out"),
    ):
        if model.rates_rps and many:
            raise UsageError(f"{name}={asked[name]} does not go with RATE={asked['RATE']}: {cure}.")
    usual = RATE_TOOLS[0] if model.rates_rps or model.objectives else SWEEPER
    return model.model_copy(update={"tool": (model.tool or usual) if model.sweep else verb.removeprefix("run-")})
