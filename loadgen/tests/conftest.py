"""Fixtures of several files."""

import fcntl
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest


@pytest.fixture
def alone() -> Iterator[None]:
    """Real tools run one at a time, whichever process tests them: runs serve their state on one port."""
    with Path(gettempdir(), "loomlab-runs").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
