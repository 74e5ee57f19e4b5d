"""Reports in headless Chromium: every report.html below REPORTS, each in windows of several widths."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright

from browser.opened import DESK, Opened, launch, opened

REPORTS = Path(os.environ.get("REPORTS", "/reports"))
PHONE: ViewportSize = {"width": 390, "height": 844}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "report" in metafunc.fixturenames:
        found = sorted(REPORTS.rglob("report.html"))
        assert found, f"{REPORTS} has no report.html: write some, as tests/step page does."
        metafunc.parametrize("report", found, ids=[path.parent.parent.name for path in found])


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def windows(browser: Browser) -> dict[str, BrowserContext]:
    """Dark on the phone, light on the desk; `plain` is without JavaScript."""
    return {
        "desk": browser.new_context(viewport=DESK, color_scheme="light"),
        "phone": browser.new_context(viewport=PHONE, color_scheme="dark"),
        "plain": browser.new_context(viewport=PHONE, java_script_enabled=False),
    }


@pytest.fixture(scope="session")
def pages() -> dict[tuple[Path, str], Opened]:
    """Each is opened once."""
    return {}


@pytest.fixture(params=["desk", "phone"])
def shown(
    report: Path,
    request: pytest.FixtureRequest,
    windows: dict[str, BrowserContext],
    pages: dict[tuple[Path, str], Opened],
) -> Opened:
    return opened(report, request.param, windows, pages)


@pytest.fixture
def on_desk(report: Path, windows: dict[str, BrowserContext], pages: dict[tuple[Path, str], Opened]) -> Opened:
    return opened(report, "desk", windows, pages)


@pytest.fixture
def plain(report: Path, windows: dict[str, BrowserContext], pages: dict[tuple[Path, str], Opened]) -> Page:
    return opened(report, "plain", windows, pages).page
