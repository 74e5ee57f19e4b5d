"""`make compare`: the sides of one approach, what each has of its own, what differs then, and the gate."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import typer

from abouts import about, subject
from loomlab.answer.gate import expectation, outcomes_of, write_junit
from loomlab.answer.parity import audit, contrasts_of
from loomlab.basics.errors import EXIT_INVALID, EXIT_UNRESOLVED, UsageError
from loomlab.cli import results as results_of_cli
from loomlab.plan.overlay import overlay_lines
from loomlab.plan.planning import command_of, plan, shell_lines
from loomlab.records.contrasts import Contrast
from loomlab.records.files import write_json
from loomlab.records.models import RuleResult, Summary
from loomlab.records.order import Order, order_file
from loomlab.records.raw import LiveBytes
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
    requests = [run.request for run in order.runs]
    assert {(one.name, one.gc, one.jdk) for one in requests} == {(a, "g1", 25), (b, "parallel", 21)}
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


A, B = "tomcat-virtual-a", "tomcat-virtual-b"
BLOCKS, DEVIATION, TIMES = 8, 0.034, 2000
CPU_LIMIT = "cpu_ms_per_request>+10%"
HOST, OWN = (
    RuleResult(rule=rule, outcome="failed", level="invalid", host_cause=rule == "stolen", reason="so")
    for rule in ("stolen", "errors")
)


def summary_of(order: Order, ratios: list[float], **changes: object) -> Summary:
    """One block for each ratio of B's CPU per request to A's."""
    load = order.runs[0].request.load
    runs = [
        run_of(name, block, twin_of="tomcat-virtual", load=load, cell=1, run=f"{block}-{name}", cpu_ms_per_request=cpu)
        for block, ratio in enumerate(ratios, 1)
        for name, cpu in ((A, 1.0), (B, ratio))
    ]
    contrasts = [Contrast(a=B, b=A, kind="settings", differs=[])]
    return Summary(
        experiment="c", started=None, finished="then", notes=[], environment={}, contrasts=contrasts,
        runs=[run.model_copy(update=changes) for run in runs],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("limit", "ratios", "result", "words"),
    [
        (CPU_LIMIT, [1.2, 1.22, 1.21], "beyond", r"\+19 to \+24 % against .*-a, beyond the limit of \+10 %"),
        (CPU_LIMIT, [0.99, 1.0, 1.01], "within", r"−2\.5 to \+2\.5 % .* within the limit of \+10 %\."),
        (CPU_LIMIT, [1.02, 1.08, 1.16], "unresolved", r"which does not resolve \+10 %; about \d+ blocks would\."),
        (CPU_LIMIT, [1.2, 1.2], "unresolved", "2 blocks count, and 3 are needed for an interval"),
        ("cpu_ms_per_request<-10%", [0.8, 0.81, 0.79], "beyond", "beyond the limit of −10 %"),
        ("cpu_ms_per_request<-10%", [1.2, 1.21, 1.19], "within", "within"),
    ],
)
def test_a_limit_is_held_or_not(limit: str, ratios: list[float], result: str, words: str, tmp_path: Path) -> None:
    order = compare(tmp_path, B="GC=g1", FAIL=limit)
    (got,) = outcomes_of(summary_of(order, ratios), order)

    assert (got.result, got.side, got.load) == (result, B, "500 connections")
    assert re.search(words, got.sentence), got.sentence


def test_a_limit_on_what_was_not_measured_is_not_resolved(tmp_path: Path) -> None:
    order = compare(tmp_path, B="GC=g1", FAIL=f"{CPU_LIMIT};live_bytes_per_request>+10%")
    summary = summary_of(order, [0.99, 1.0, 1.01], capacity_share=0.8)
    assert [one.result for one in outcomes_of(summary, order)] == ["within", "unresolved"]


def test_of_what_may_be_negative_the_share_is_of_the_mean_of_a(tmp_path: Path) -> None:
    order = compare(tmp_path, B="GC=g1", FAIL="live_bytes_per_request>+10%")
    for more, result in ((1.3, "beyond"), (1.05, "within")):
        summary = summary_of(order, [1.0] * 3)
        for number, run in enumerate(summary.runs):
            heap = 100 * 2**10 * (more if run.approach == B else 1) + number
            run.live_bytes_per_request = LiveBytes(heap=heap, stacks_off_heap=0, kernel=0)
        assert [one.result for one in outcomes_of(summary, order)] == [result]


@pytest.mark.parametrize(
    ("change", "beyond", "within"),
    [
        (1.0, (0, 0.001), (0.97, 1)),
        (1.05, (0, 0.01), (0.3, 1)),
        (1.12, (0, 0.4), (0, 0.025)),
        (1.2, (0.9, 1), (0, 0.001)),
    ],
)
def test_of_simulated_experiments_few_are_called_wrong(
    change: float, beyond: tuple[float, float], within: tuple[float, float], tmp_path: Path
) -> None:
    """Below the limit of 10 % not more than 2.5 % are beyond it, above it not more than 2.5 % within it."""
    order, draw = compare(tmp_path, B="GC=g1", FAIL=CPU_LIMIT), np.random.default_rng(46)
    series = change * np.exp(draw.normal(0, DEVIATION, (TIMES, BLOCKS)))
    got = [outcomes_of(summary_of(order, list(ratios)), order)[0].result for ratios in series]
    assert beyond[0] <= got.count("beyond") / TIMES <= beyond[1]
    assert within[0] <= got.count("within") / TIMES <= within[1]


def test_how_likely_equals_pass_is_told_beforehand(tmp_path: Path) -> None:
    order = compare(tmp_path / "lab", B="GC=g1", FAIL=CPU_LIMIT)
    assert "95 %" in expectation(order, tmp_path)
    assert "FAIL" not in expectation(order.model_copy(update={"limits": []}), tmp_path)


def test_each_limit_is_a_test_case(tmp_path: Path) -> None:
    order = compare(tmp_path / "lab", B="GC=g1", FAIL=f"{CPU_LIMIT}; throughput_rps<-5%")
    summary = summary_of(order, [1.2, 1.21, 1.22])
    host, own = (run_of(B, 9, verdict="invalid", reasons=["bad"], rules=[rule], run=rule.rule) for rule in (HOST, OWN))
    told = summary.model_copy(update={"runs": [*summary.runs, host, own]})
    write_junit(tmp_path / "junit.xml", told, outcomes_of(summary, order))
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()  # noqa: S314 - written here
    assert [(case.get("name"), [child.tag for child in case]) for case in suite] == [
        ("errors", ["failure"]),
        (f"{CPU_LIMIT} at 500 connections", ["failure"]),
        ("throughput_rps<-5% at 500 connections", []),
    ]


@pytest.mark.parametrize(
    ("ratios", "broken", "code"),
    [
        ([0.99, 1.0, 1.01], [], 0),
        ([1.2, 1.22, 1.21], [], EXIT_INVALID),
        ([1.02, 1.08, 1.16], [], EXIT_UNRESOLVED),
        ([0.99, 1.0, 1.01, 1.0], [HOST], 0),
        ([0.99, 1.0, 1.01, 1.0], [OWN], EXIT_INVALID),
        ([1.0, 1.0, 1.0], [HOST], EXIT_UNRESOLVED),
    ],
)
def test_a_limit_decides_the_exit_code_and_so_does_a_run_that_a_side_spoilt(
    ratios: list[float], broken: list[RuleResult], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = compare(tmp_path, B="GC=g1", FAIL=CPU_LIMIT, REPEATS=f"{len(ratios)}")
    summary = summary_of(order, ratios)
    for run in summary.runs[-1:] if broken else ():
        run.verdict, run.rules = "invalid", broken
    write_json(order_file(tmp_path), order)
    monkeypatch.setattr(results_of_cli, "summarise", lambda *_, **__: summary)
    monkeypatch.setattr(results_of_cli, "_show", lambda *_: None)
    monkeypatch.setattr(results_of_cli, "unmade_blocks", lambda *_: None)

    got = 0
    try:
        results_of_cli.sum_up(tmp_path)
    except typer.Exit as stopped:
        got = stopped.exit_code

    assert got == code
    assert (tmp_path / "junit.xml").exists()


@pytest.mark.parametrize(
    ("limit", "cure"),
    [
        ("cpu>+10%", "cpu is no figure of it: use cpu_ms_per_request"),
        ("cpu_ms_per_request>10%", "is no limit: use for instance"),
        (" ; ", "it has no limit"),
        ("cpu_ms_per_request>+10ms", "is no limit"),
        ("cpu_ms_per_request>+0%", "is no limit"),
        ("capacity_rps<-10%", "use make capacity"),
    ],
)
def test_an_unknown_figure_or_unit_is_refused(limit: str, cure: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=cure):
        compare(tmp_path, B="GC=g1", FAIL=limit)
