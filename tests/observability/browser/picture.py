"""`python -m browser.picture DASHBOARD.json URL FILE.png`: the whole dashboard as Grafana shows it in Chromium."""

import json
import sys
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

from browser.opened import launch

WIDTH_PX, ROW_PX, ABOVE_PX = 1920, 38, 160
"""Of the page, of a row of Grafana's grid with the gap below it, and of what is above the grid."""
DRAWN_WITHIN_MS = 60_000


def page_size(dashboard: Path) -> ViewportSize:
    """So high that every panel is in view: Grafana asks for no data of the others."""
    places = [panel["gridPos"] for panel in json.loads(dashboard.read_text())["panels"]]
    return {"width": WIDTH_PX, "height": ABOVE_PX + ROW_PX * max(place["y"] + place["h"] for place in places)}


def take(dashboard: Path, grafana_url: str, picture: Path) -> None:
    """Writes a PNG of the last hour, once nothing is asked for any more."""
    uid = json.loads(dashboard.read_text())["uid"]
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport=page_size(dashboard))
        page.goto(f"{grafana_url}/d/{uid}?kiosk&theme=light", wait_until="networkidle", timeout=DRAWN_WITHIN_MS)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
