"""`make compare`: the sides of one approach, what each has of its own, and what differs then."""

import json
from pathlib import Path
from typing import Any

import pytest

from abouts import about, subject
from loomlab.answer.parity import audit, contrasts_of
from loomlab.basics.errors import UsageError
from loomlab.plan.overlay import overlay_lines
from loomlab.plan.planning import command_of, plan, shell_lines
from loomlab.records.order import Order
from ordered import STAMP, TWO_CPUS, lab_in
from report_folder import NAMES, run_of


def compare(folder: Path, **given: str) -> Order:
    lab = lab_in(folder)
    asked = lab.asked("compare", {"APPROACH": "tomcat-virtual", "CONCURRENCY": "500", "SEED": "1"} | given)
    return plan(asked, TWO_CPUS, lab, STAMP)


def overlay(order: Order) -> dict[str, dict[str, Any]]:
    """What Compose is told of each service, without what takes the ports and profiles away."""
    found, name = dict[str, dict[str, Any]](), ""
    for line in [*overlay_lines(order, "/lab$")][1:]:
        key, _, value = line.strip().partition(": ")
        if value:
            found[name][key] = value if "!" in value else json.loads(value)
        else:
            name = key.removesuffix(":")
            found[name] = {}
    return found


def test_two_sides_are_a_pair_of_services_with_settings_of_their_own(tmp_path: Path) -> None:
    order = compare(
        tmp_path, A="GC=g1; JVM_OPTS=-Xss512k -XX:+UseCompactObjectHeaders", B="ENV:COLOUR=$red${KEY}; JDK=21"
    )

    a, b = "tomcat-virtual-a", "tomcat-virtual-b"
    assert {(run.request.name, run.request.partner) for run in order.runs} == {(a, b), (b, a)}
    assert {(run.request.name, run.request.gc, run.request.jdk) for run in order.runs} == {
        (a, "g1", 25),
        (b, "parallel", 21),
    }
    assert max(run.request.repeat for run in order.runs) == 5
    assert " A='GC=g1; JVM_OPTS=" in command_of(order)
    assert "OTHER_JDKS=21" in [*shell_lines(order)]
    told = overlay(order)
    extends = {"file": "/lab$$/compose.yaml", "service": "tomcat-virtual"}
    options = "-Xss512k;-XX:+UseCompactObjectHeaders"
    assert told[a] == {
        "ports": "!reset []", "extends": extends, "profiles": "!override [sides]",
        "environment": {"GC": "g1", "LAB_JVM_OPTS": options, "LAB_APPROACH": a},
    }  # fmt: skip
    assert told[b]["environment"] == {"COLOUR": "$$red${KEY}", "LAB_APPROACH": b}
    assert (told[b]["image"], told[b]["pull_policy"]) == ("loom-lab/tomcat-virtual:jdk21", "never")


def test_a_pool_and_a_limit_of_a_side_are_set_wherever_they_bound_requests(tmp_path: Path) -> None:
    told = overlay(compare(tmp_path, APPROACH="tomcat-platform", A="POOL=20", B="LIMIT=50"))

    a, b = (told[f"tomcat-platform-{side}"]["environment"] for side in "ab")
    assert (a["LAB_BACKEND_CONNECTIONS"], a["LAB_DATABASE_POOL"], "LAB_LIMIT" in a) == ("20", "20", False)
    assert (b["LAB_LIMIT"], b["LAB_PLATFORM_THREADS"]) == ("50", "50")


def test_an_image_of_a_side_is_taken_whatever_its_jdk(tmp_path: Path) -> None:
    assert compare(tmp_path, A="JDK=21;IMAGE=mine:2").sides["tomcat-virtual-a"].image == "mine:2"


def test_what_a_side_sets_to_nothing_is_taken_from_it(tmp_path: Path) -> None:
    order = compare(tmp_path, JVM_OPTS="-Xss512k", A="JVM_OPTS=")
    assert overlay(order)["tomcat-virtual-a"]["environment"]["LAB_JVM_OPTS"] == ""


def test_a_side_sets_every_variable_of_its_container_that_the_lab_sets_so(tmp_path: Path) -> None:
    own = overlay(compare(tmp_path, A="POOL=501", B="POOL=600"))["tomcat-virtual-b"]["environment"]
    assert (own["LAB_BACKEND_CONNECTIONS"], own["LAB_DATABASE_POOL"]) == ("600", "600")


def test_three_sides_are_measured_alone_and_one_that_is_left_out_is_the_approach_as_it_is(tmp_path: Path) -> None:
    order = compare(tmp_path / "three", A="GC=g1", B="GC=zgc", C="GC=serial", REPEATS="1")
    assert sorted(run.request.name[-1] for run in order.runs) == ["a", "b", "c"]
    assert all(run.request.partner is None for run in order.runs)
    assert "three sides" in (order.note or "")

    order = compare(tmp_path / "two", B="GC=zgc")
    assert {run.request.gc for run in order.runs} == {"parallel", "zgc"}
    assert order.sides["tomcat-virtual-a"].environment == {}


@pytest.mark.parametrize(
    ("given", "cure"),
    [
        ({}, r'A="" and B="" are the same: use for instance A="GC=parallel"'),
        ({"A": "GC=g1", "B": "GC=g1"}, "are the same"),
        ({"A": "GC=parallel"}, "are the same"),
        ({"A": "JDK=25", "B": "JVM_OPTS="}, "are the same"),
        ({"A": "ENV:COLOUR=red;GC=g1", "B": "GC=g1; ENV:COLOUR=red"}, "are the same"),
        ({"A": "GC=quick"}, "^GC=quick: .*'g1'"),
        ({"A": "GC"}, "A: 'GC' is no NAME=VALUE"),
        ({"B": "GC=g1;GC=zgc"}, "B: GC stands there twice"),
        ({"B": "DELAY=5"}, "B: DELAY is nothing that one side may have of its own: use STYLE, JDK"),
        ({"B": "ENV:JAVA_TOOL_OPTIONS=-Xss1m"}, "is for JVM options: use JVM_OPTS"),
        ({"B": f"JVM_OPTS={'-Xss512k ' * 30}"}, "it has 269 characters: use at most 200"),
        ({"B": "ENV:GC=g1"}, "ENV:GC is what the lab sets by GC: use GC=g1"),
        ({"B": "ENV:COLOUR=\x1b"}, "cannot be printed"),
        ({"B": "JVM_OPTS=-XX:+UseG1GC", "A": "GC=zgc"}, "is a collector: use GC"),
        ({"B": "GC=g1", "APPROACH": "headline"}, "APPROACH=headline is several: use one"),
        ({"B": "STYLE=idiomatic", "APPROACH": "jetty-virtual"}, "STYLE=idiomatic does not exist for jetty-virtual"),
        ({"B": "GC=g1", "C": "GC=zgc", "DESIGN": "slices"}, "three sides: leave C out"),
    ],
)
def test_what_is_no_comparison_is_refused_with_the_cure(given: dict[str, str], cure: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=cure):
        compare(tmp_path, **given)


def test_sides_are_held_against_the_first_and_what_differs_between_them_is_told_and_no_fault() -> None:
    both = [
        subject(f"tomcat-virtual-{side}", about("tomcat-virtual", jvm__gc=gc), twin_of="tomcat-virtual")
        for side, gc in (("a", "parallel"), ("b", "g1"))
    ]

    (found,) = contrasts_of(both)
    assert (found.a, found.b, found.kind) == ("tomcat-virtual-b", "tomcat-virtual-a", "settings")
    assert [(one.part, one.a, one.b) for one in found.differs] == [("jvm.gc", "g1", "parallel")]
    assert audit(both).suspicions == []
    assert run_of(NAMES[0], twin_of="x").is_side
    assert not run_of(f"{NAMES[0]}-twin", twin_of=NAMES[0]).is_side


def test_a_recording_is_of_one_run_of_each_alone_and_in_a_volume_of_its_own(tmp_path: Path) -> None:
    order = compare(tmp_path / "sides", B="GC=g1", JFR="1")

    assert [(run.request.partner, run.request.repeat) for run in order.runs] == [(None, 1)] * 2
    assert "RECORDED=1" in [*shell_lines(order)]
    assert any("JFR" in reason for reason in order.suspect)
    *lines, last = overlay_lines(order, "/lab")
    assert last == "volumes: {recordings: {external: true, name: loom-lab-jfr}}"
    for name in ("tomcat-virtual-a", "tomcat-virtual-b"):
        assert any(f"filename=/jfr/{name}.jfr" in line for line in lines)

    with pytest.raises(UsageError, match="REPEATS=3 does not go with JFR=1"):
        compare(tmp_path / "repeated", B="GC=g1", JFR="1", REPEATS="3")
    with pytest.raises(UsageError, match=r"FAIL=.* does not go with JFR=1"):
        compare(tmp_path / "gate", B="GC=g1", JFR="1", FAIL="throughput_rps<-5%")
    with pytest.raises(UsageError, match="JFR=1 records one process at a time: leave it out, or DESIGN=alone"):
        compare(tmp_path / "slices", B="GC=g1", JFR="1", DESIGN="slices")
