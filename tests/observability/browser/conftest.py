"""Reports in headless Chromium: every report.html below REPORTS, each in windows of several widths."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

REPORTS = Path(os.environ.get("REPORTS", "/reports"))
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "report" in metafunc.fixturenames:
        found = sorted(REPORTS.rglob("report.html"))
        assert found, f"{REPORTS} has no report.html: write some, as tests/step page does."
        metafunc.parametrize("report", found, ids=[path.parent.parent.name for path in found])


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's; its sandbox needs privileges that a container has not."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture(params=["desk", "phone"])
def window(browser: Browser, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    phone = request.param == "phone"
    context = browser.new_context(viewport=PHONE if phone else DESK, color_scheme="dark" if phone else "light")  # type: ignore[arg-type]
    yield context
    context.close()


@pytest.fixture
def plain(browser: Browser) -> Iterator[BrowserContext]:
    """Without JavaScript."""
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)  # type: ignore[arg-type]
    yield context
    context.close()
