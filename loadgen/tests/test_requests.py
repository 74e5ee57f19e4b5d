"""Requests of the user's own, by REQUESTS_FILE."""

from pathlib import Path

import pytest

from loomlab.basics.errors import UsageError
from loomlab.plan.requests import targets_of

MIX = """requests:
  - {get: "/orders/{id}?name={name}", values: ids.csv, weight: 2, headers: {Authorization: "Bearer ${TOKEN}"}}
  - {post: /orders, body: order.json}
"""


def written(folder: Path, mix: str = MIX, ids: str = "id,name\n1,a\n2,b\n3,c\n") -> Path:
    (folder / "ids.csv").write_text(ids)
    (folder / "order.json").write_text("{}")
    (folder / "mix.yaml").write_text(mix)
    return folder / "mix.yaml"


def test_rounds_have_as_many_of_each_as_it_weighs_and_rows_come_in_turn(tmp_path: Path) -> None:
    got = targets_of(written(tmp_path))

    assert [(one.method, one.target) for one in got] == [
        ("GET", "/orders/1?name=a"), ("GET", "/orders/2?name=b"), ("POST", "/orders"),
        ("GET", "/orders/3?name=c"), ("GET", "/orders/1?name=a"), ("POST", "/orders"),
    ]  # fmt: skip
    assert got[0].headers == ("Authorization: Bearer ${TOKEN}",)
    assert (got[0].body, got[2].body) == (None, tmp_path / "order.json")


@pytest.mark.parametrize(
    ("old", "new", "cure"),
    [
        ("weight: 2", "weight: 0", "weight is 0"),
        ("get: ", "put: ", "put: there is no such field"),
        (", body: order.json", "", "post with a path and a body"),
        ("body: order.json", "body: ../order.json", "body is '../order.json'"),
        ("body: order.json", "body: other.json", "there is no other.json beside it"),
        ("values: ids.csv", "values: other.csv", "there is no other.csv beside it"),
        ("{id}", "{number}", "ids.csv has no column number"),
        (", values: ids.csv", "", "no values name id"),
        ("${TOKEN}", "${TOKEN:-dev}", "Authorization is"),
        ("Authorization", "Host", "Host is what the load generator sends itself"),
    ],
)
def test_what_is_no_mix_is_refused_with_the_cure(old: str, new: str, cure: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        targets_of(written(tmp_path, MIX.replace(old, new)))
    assert cure in str(refused.value)


@pytest.mark.parametrize(
    ("ids", "cure"), [("id,name\n", "no rows"), ("id,name\n1\n", "other columns"), ("id,name\n1,a b\n", "encode")]
)
def test_values_that_no_path_takes_are_refused(ids: str, cure: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=cure):
        targets_of(written(tmp_path, ids=ids))
    with pytest.raises(UsageError, match=r"there is no none\.yaml"):
        targets_of(tmp_path / "none.yaml")


def test_ten_thousand_requests_are_the_most(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="use at most 10,000"):
        targets_of(written(tmp_path, ids="id,name\n" + "1,a\n" * 7000))
