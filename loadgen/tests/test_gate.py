"""The gate of `make compare`: exit codes, sentences and junit.xml by what the sides cost."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer

from loomlab.answer.gate import chance_of_passing, outcomes_of, write_junit
from loomlab.basics.errors import EXIT_INVALID, EXIT_UNRESOLVED, UsageError
from loomlab.cli import results as results_of_cli
from loomlab.records.contrasts import Contrast
from loomlab.records.files import write_json
from loomlab.records.models import Latency, RuleResult, Summary
from loomlab.records.order import Order, order_file
from loomlab.records.raw import LiveBytes
from report_folder import run_of
from test_sides import compare

A, B = "tomcat-virtual-a", "tomcat-virtual-b"
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
        (
            CPU_LIMIT,
            [1.2, 1.22, 1.21],
            "beyond",
            r"\+19 to \+24 % against tomcat-virtual-a, beyond the limit of \+10 %",
        ),
        (CPU_LIMIT, [0.99, 1.0, 1.01], "within", r"−2\.5 to \+2\.5 % .* within the limit of \+10 %\."),
        (CPU_LIMIT, [1.02, 1.08, 1.16], "unresolved", r"which does not resolve \+10 %; about \d+ blocks would\."),
        (CPU_LIMIT, [1.2, 1.2], "unresolved", "2 blocks count, and 3 are needed for an interval"),
        ("cpu_ms_per_request<-10%", [0.8, 0.81, 0.79], "beyond", "beyond the limit of −10 %"),
        ("cpu_ms_per_request<-10%", [1.2, 1.21, 1.19], "within", "within"),
    ],
)
def test_a_limit_is_held_or_not_or_not_resolved(
    limit: str, ratios: list[float], result: str, words: str, tmp_path: Path
) -> None:
    order = compare(tmp_path, B="GC=g1", FAIL=limit)
    (got,) = outcomes_of(summary_of(order, ratios), order)

    assert (got.result, got.side, got.load) == (result, B, "500 connections")
    assert re.search(words, got.sentence), got.sentence


def test_of_what_may_be_negative_the_share_is_of_the_mean_of_a(tmp_path: Path) -> None:
    order = compare(tmp_path, B="GC=g1", FAIL="live_bytes_per_request>+10%")
    for more, result in ((1.3, "beyond"), (1.05, "within")):
        summary = summary_of(order, [1.0] * 3)
        for number, run in enumerate(summary.runs):
            heap = 100 * 2**10 * (more if run.approach == B else 1) + number
            run.live_bytes_per_request = LiveBytes(heap=heap, stacks_off_heap=0, kernel=0)
        assert [one.result for one in outcomes_of(summary, order)] == [result]


def test_the_tail_of_a_closed_load_is_told_as_such(tmp_path: Path) -> None:
    order = compare(tmp_path, B="GC=g1", FAIL="latency_ms.p99>+15%")
    summary = summary_of(order, [1.0] * 3)
    for number, run in enumerate(summary.runs):
        run.latency_ms = Latency(p50=905, p99=(1200 if run.approach == B else 1190) + number)
    (got,) = outcomes_of(summary, order)
    assert (got.result, "(tails of a closed load)" in got.sentence) == ("within", True)


def test_how_likely_equals_pass_is_told_beforehand(tmp_path: Path) -> None:
    order = compare(tmp_path, B="GC=g1", FAIL=CPU_LIMIT)
    assert chance_of_passing(order) == (
        "If nothing differs, FAIL passes on CPU per request in 95 % of such experiments."
    )
    assert chance_of_passing(order.model_copy(update={"limits": []})) is None


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
    ],
)
def test_an_unknown_figure_or_unit_is_refused(limit: str, cure: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=cure):
        compare(tmp_path, B="GC=g1", FAIL=limit)
