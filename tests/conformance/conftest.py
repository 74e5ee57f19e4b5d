"""Fixtures: the backend, the approach, golden bodies."""

import asyncio
import resource
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from approach import SETTLING_SECONDS, Approach, Settings
from backend import Backend
from wire import get

GOLDEN = Path(__file__).parent / "golden"

type Golden = Callable[[str, bytes], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--approach", required=True, help="Compose service under test, reachable under that name")
    parser.addoption("--concurrency", required=True, help="its CONCURRENCY in compose.yaml")
    parser.addoption("--http10", default="", help="its x-http10 in compose.yaml; false: it refuses HTTP/1.0")
    parser.addoption("--update-golden", action="store_true", help="write golden/ instead of comparing with it")


def pytest_configure() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@pytest.fixture(scope="session")
def settings() -> Settings:
    return Settings.from_environment()


@pytest.fixture(scope="session")
async def running_backend() -> AsyncIterator[Backend]:
    backend = Backend()
    await backend.listen()
    yield backend
    await backend.refuse()


@pytest.fixture(scope="session")
async def approach(running_backend: Backend, pytestconfig: pytest.Config) -> Approach:
    """The approach, once it reaches the backend."""
    assert running_backend
    asked = pytestconfig.getoption
    approach = Approach(asked("--approach"), asked("--concurrency"), speaks_http10=asked("--http10") != "false")
    deadline = time.monotonic() + SETTLING_SECONDS
    while (await approach.ask(get("/capabilities"))).status != 200:
        assert time.monotonic() < deadline, f"{approach.name} does not reach the backend of the suite."
        await asyncio.sleep(0.1)
    about = await approach.about()
    approach.server, approach.client = about["inbound"]["server"], about["outbound"]["client"]
    approach.java = int(about["jvm"]["version"].partition(".")[0])
    return approach


@pytest.fixture
def backend(running_backend: Backend) -> Backend:
    """The backend, with a record of calls that starts with the test."""
    running_backend.forget()
    return running_backend


@pytest.fixture(scope="session")
def golden(pytestconfig: pytest.Config) -> Golden:
    """Compares a body with the file of that name below golden/, byte for byte."""

    def compare(name: str, body: bytes) -> None:
        path = GOLDEN / name
        if pytestconfig.getoption("--update-golden"):
            path.write_bytes(body)
        assert path.exists(), f"{path.name} is missing below golden/: run with --update-golden and review it."
        assert body == path.read_bytes()

    return compare
