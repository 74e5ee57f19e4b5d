"""What several suites start from."""

from pathlib import Path

import pytest
from hypothesis import settings

from rawrun import RawRun

settings.register_profile("lab", deadline=None)  # a busy host is no failure; pytest-timeout ends a test that hangs
settings.load_profile("lab")


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A good run's folder."""
    return RawRun().write(tmp_path / "1-app")
