"""What several suites start from."""

from pathlib import Path

import pytest

from rawrun import RawRun


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A good run's folder."""
    return RawRun().write(tmp_path / "1-app")
