"""The command that makes an experiment again asks for the same runs."""

import random
import shlex
from pathlib import Path

import pytest

from loomlab.plan.asked import asked_of
from loomlab.plan.host import Host
from loomlab.plan.planning import plan
from loomlab.records.order import Order
from loomlab.report.command import command_of
from ordered import SETTINGS, STAMP, TWO_CPUS, lab_in, planned
from report_folder import HEADLINE


def asked(folder: Path, verb: str, host: Host, **variables: str) -> Order:
    lab = lab_in(folder / "lab")
    return plan(asked_of(verb, {"SEED": "1"} | variables, lab), host, lab, STAMP)


POOL = "BACKEND_CONNECTIONS"
FEW_FILES = TWO_CPUS.model_copy(update={"open_files": 3300})


@pytest.mark.parametrize(
    ("verb", "variables", "host", "said"),
    [
        ("sweep", {"CONCURRENCY": "500,2000"}, TWO_CPUS, ""),
        ("sweep", {"CONCURRENCY": "500,2000", "PLATFORM_THREADS": "500"}, TWO_CPUS, "PLATFORM_THREADS=500"),
        ("sweep", {"CONCURRENCY": "500,2000", "PLATFORM_THREADS": "2000"}, TWO_CPUS, "PLATFORM_THREADS=2000"),
        ("ab", {"CONCURRENCY": "500", "PLATFORM_THREADS": "500"}, TWO_CPUS, ""),
        ("sweep", {"CONCURRENCY": "500,2000", "BACKEND_CONNECTIONS": "1000"}, TWO_CPUS, "BACKEND_CONNECTIONS=1000"),
        ("sweep", {"CONCURRENCY": "500,2000", "BACKEND_CONNECTIONS": "9000"}, TWO_CPUS, ""),
        ("sweep", {"CONCURRENCY": "500,2000"}, FEW_FILES, ""),
        ("sweep", {"CONCURRENCY": "500,2000", "BACKEND_CONNECTIONS": "900"}, FEW_FILES, ""),
        ("sweep", {"CONCURRENCY": "500,2000", "BACKEND_CONNECTIONS": "700"}, FEW_FILES, "BACKEND_CONNECTIONS=700"),
        ("ab", {"CONCURRENCY": "500", "ENDPOINT": "/capabilities?calls=4&parallel=true"}, TWO_CPUS, ""),
        ("ab", {"CONCURRENCY": "500", "ENDPOINT": "/movies", "BACKEND_CONNECTIONS": "7"}, TWO_CPUS, f"{POOL}=7"),
        ("sweep", {"RATE": "100,200.5", "BACKEND_CONNECTIONS": "400"}, TWO_CPUS, "BACKEND_CONNECTIONS=400"),
        ("scenario", {"NAME": "smoketest", "PLATFORM_THREADS": "77"}, TWO_CPUS, "PLATFORM_THREADS=77"),
        ("scenario", {"NAME": "smoketest"}, TWO_CPUS, ""),
    ],
)  # fmt: skip
def test_it_gives_the_same_runs_again(
    tmp_path: Path, verb: str, variables: dict[str, str], host: Host, said: str
) -> None:
    approaches = {"APPROACH": "tomcat-virtual"}
    order = asked(tmp_path, verb, host, **variables, **approaches)

    make, told_verb, *words = shlex.split(command_of(order))
    again = asked(tmp_path, told_verb.removeprefix("run-"), host, **dict(word.split("=", 1) for word in words))

    assert make == "make"
    assert [word for word in words if word.startswith(("PLATFORM_", "BACKEND_"))] == ([said] if said else [])
    assert [run.settings for run in again.runs] == [run.settings for run in order.runs]
    assert (again.suspect, again.settings) == (order.suspect, order.settings)


@pytest.mark.parametrize("seed", range(5))
def test_the_command_lists_approaches_as_they_were_asked_for(tmp_path: Path, seed: int) -> None:
    asked = random.Random(seed).sample(HEADLINE, len(HEADLINE))  # noqa: S311 - an order, no secret
    order = planned(tmp_path, approaches=asked, seed=seed, repeats=2, duration_s=90, warmup_cap_s=40)

    command = command_of(order)

    assert command == (
        f"make run-ab CONCURRENCY=1000 DURATION=90s ENDPOINT=/capabilities DELAY=300 APPROACH={','.join(asked)} "
        f"REPEATS=2 SEED={seed} SIZE=auto JDK=25 GC=parallel WARMUP_CAP=40"
    )


def test_the_command_says_a_style_that_is_not_the_default(tmp_path: Path) -> None:
    lean = planned(tmp_path / "lean")
    idiomatic = planned(tmp_path / "idiomatic", settings=SETTINGS | {"STYLE": "idiomatic"})

    assert "STYLE=" not in command_of(lean)
    assert " STYLE=idiomatic " in command_of(idiomatic)


def test_the_command_of_a_rate_and_of_a_scenario(tmp_path: Path) -> None:
    rate = planned(tmp_path, tool="vegeta", approaches=["tomcat-virtual"], rate_rps=12.5, connections=None)
    scenario = planned(tmp_path, tool="vegeta", scenario="smoketest", connections=None, approaches=["tomcat-virtual"])

    assert "make run-vegeta CONCURRENCY=100 RATE=12.5 DURATION=60s ENDPOINT=" in command_of(rate)
    assert command_of(scenario).startswith(
        "make scenario NAME=smoketest SCALE=1 DURATION=60s APPROACH=tomcat-virtual REPEATS="
    )


@pytest.mark.parametrize(
    ("name", "value"), [("HTTP_CLIENT", "reactor"), ("ERROR_SHARE", "0.1"), ("SAVE_MOVIES", "true")]
)
def test_the_command_says_every_setting_that_is_not_the_usual(tmp_path: Path, name: str, value: str) -> None:
    order = planned(tmp_path, settings=SETTINGS | {name: value}, requests=5000)

    assert f" {name}={value} " in command_of(order)
    assert " REQUESTS=5000 " in command_of(order)
