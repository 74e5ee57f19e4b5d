from pathlib import Path

import pytest

from lab import COMMITTED, LAB
from loomlab_dashboards.__main__ import DASHBOARDS, write


def test_there_is_a_file_a_dashboard() -> None:
    assert set(COMMITTED) == set(DASHBOARDS)


@pytest.mark.parametrize("name", DASHBOARDS)
def test_the_committed_file_is_what_the_code_writes(name: str, tmp_path: Path) -> None:
    write(tmp_path)
    committed = LAB / "grafana" / "dashboards" / f"{name}.json"
    assert committed.read_text() == (tmp_path / f"{name}.json").read_text(), "Run `make dashboards`."
