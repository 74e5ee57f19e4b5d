"""Fixtures of several files."""

import fcntl
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest


@pytest.fixture
def alone() -> Iterator[None]:
    """Runs serve their state on one port: one at a time, whichever process tests them."""
    with Path(gettempdir(), "loomlab-runs").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
