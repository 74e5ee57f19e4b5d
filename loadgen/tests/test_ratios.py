"""Ratios of a benchmark's rounds, put into its table."""

import io
import json

import pytest

from loomlab.cli import main


def printed(
    text: str, ratios: list[list[float]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"text": text, "ratios": ratios}) + "\n"))
    with pytest.raises(SystemExit) as ended:
        main(["ratios"])
    assert ended.value.code in {0, None}
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("ratios", "told"),
    [
        ([], "–"),
        ([1.2], "1.200"),
        ([0.8, 1.25], "1.000"),
        # Logarithms -0.1, 0, 0.1: a half width of 4.303 x 0.1 / sqrt(3).
        ([0.904837418, 1.0, 1.105170918], "1.000 [0.780, 1.282]"),
        ([0.5, 0.5, 0.5, 0.5], "0.500 [0.500, 0.500]"),
    ],
)
def test_an_interval_stands_beside_the_mean_from_three_on(
    ratios: list[float], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed("a ÷ b: {0}", [ratios], monkeypatch, capsys) == f"a ÷ b: {told}\n"


def test_every_list_has_its_place(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed("{0}, then {1}", [[2], [3]], monkeypatch, capsys) == "2.000, then 3.000\n"


@pytest.mark.parametrize(
    ("count", "of", "told"),
    [(0, 0, "–"), (0, 4, "0 of 4 [0 to 60 %]"), (1, 20, "1 of 20 [0 to 25 %]"), (4, 4, "4 of 4 [40 to 100 %]")],
)
def test_a_share_has_its_exact_interval(
    count: int, of: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = json.dumps({"text": "{0}, claimed {1}", "ratios": [[2]], "shares": [[count, of]]})
    monkeypatch.setattr("sys.stdin", io.StringIO(lines + "\n"))
    with pytest.raises(SystemExit):
        main(["ratios"])
    assert capsys.readouterr().out == f"2.000, claimed {told}\n"
