"""CPU sets."""

import pytest

from loomlab.basics.cpus import parse_cpu_list


@pytest.mark.parametrize(("text", "cpus"), [("", None), ("1", {"1"}), ("0-2,5", {"0", "1", "2", "5"})])
def test_cpu_lists(text: str, cpus: set[str] | None) -> None:
    assert parse_cpu_list(text) == cpus
