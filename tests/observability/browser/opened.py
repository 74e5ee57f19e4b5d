"""A report that is open in a window."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, Playwright, ViewportSize

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
DESK: ViewportSize = {"width": 1280, "height": 900}
OWN = {"file:", "data:"}
"""How addresses begin that need no network."""


@dataclass
class Opened:
    """A page, and all that it said, threw or asked for since it was opened."""

    page: Page
    said: list[str] = field(default_factory=list)


def launch(playwright: Playwright) -> Browser:
    """Debian's Chromium; its sandbox needs privileges that a container has not."""
    return playwright.chromium.launch(
        executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
    )


def opened(
    report: Path, name: str, windows: dict[str, BrowserContext], pages: dict[tuple[Path, str], Opened]
) -> Opened:
    """The one in `pages`, which it is put into at first."""
    if (report, name) not in pages:
        one = pages[report, name] = Opened(windows[name].new_page())
        one.page.on("console", lambda message: one.said.append(f"{message.type}: {message.text}"))
        one.page.on("pageerror", lambda error: one.said.append(f"error: {error}"))
        one.page.on("request", lambda asked: one.said.append(asked.url[:80]) if asked.url[:5] not in OWN else None)
        one.page.goto(report.as_uri())
    return pages[report, name]
