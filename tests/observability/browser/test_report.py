"""A report is whole, quiet and readable: on a desk, on a phone, on paper, without JavaScript."""

from pathlib import Path

from playwright.sync_api import BrowserContext, Page

SECTIONS = ("answer", "table", "contrasts", "ratios", "latency", "course", "doubts", "environment", "again", "raw")
SMALLEST_TEXT_PX = 8
INKED = """canvas => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return pixels.filter((value, place) => place % 4 === 3 && value > 0).length;
}"""
CUT_OFF = """() => [...document.querySelectorAll("figure > svg text")].filter(text => {
  const one = text.getBoundingClientRect(), whole = text.ownerSVGElement.getBoundingClientRect();
  const beside = one.left < whole.left - 1 || one.right > whole.right + 1;
  return beside || one.top < whole.top - 1 || one.bottom > whole.bottom + 1;
}).map(text => text.textContent)"""
TEXT_HEIGHTS = (
    """() => [...document.querySelectorAll("figure > svg text")].map(text => text.getBoundingClientRect().height)"""
)
OVERFLOWING = """() => [...document.querySelectorAll("main *")]
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => one.tagName + " " + one.textContent.slice(0, 40))"""
FINDS_DRAWN = 200
"""Pixels of a canvas that are not empty, at least: axes alone have more than a blank one."""


def opened(window: BrowserContext, report: Path) -> tuple[Page, list[str]]:
    """The page, and all that it said, threw or asked for."""
    page, said = window.new_page(), []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on(
        "request",
        lambda asked: said.append(f"asked for {asked.url[:80]}") if asked.url[:5] not in {"file:", "data:"} else None,
    )
    page.goto(report.as_uri())
    return page, said


def test_it_says_nothing_and_asks_for_nothing(window: BrowserContext, report: Path) -> None:
    _, said = opened(window, report)

    assert said == []


def test_every_plot_is_drawn(window: BrowserContext, report: Path) -> None:
    page, _ = opened(window, report)

    plots = page.locator("figure.plot > svg")
    assert plots.count() > 2
    for plot in plots.all():
        box = plot.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) > 40
        assert plot.locator(".mark, .phase, .curve").count() > 0
    panels = page.locator("figure.course canvas")
    assert panels.count() == (6 if page.locator("#courses").count() else 0)
    for panel in panels.all():
        assert panel.evaluate(INKED) > FINDS_DRAWN


def test_other_runs_are_drawn_when_they_are_chosen(window: BrowserContext, report: Path) -> None:
    page, said = opened(window, report)
    groups = page.locator("#course-group option").all_text_contents()

    for group in groups[:3]:
        page.locator("#course-group").select_option(label=group)
        assert page.locator("figure.course").count() == 6
    assert said == []


def test_nothing_makes_it_scroll_sideways(window: BrowserContext, report: Path) -> None:
    page, _ = opened(window, report)

    assert page.evaluate(OVERFLOWING) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_labels_of_plots_are_whole_and_large_enough(window: BrowserContext, report: Path) -> None:
    page, _ = opened(window, report)

    assert page.evaluate(CUT_OFF) == []
    assert min(page.evaluate(TEXT_HEIGHTS)) >= SMALLEST_TEXT_PX


def test_it_can_be_read_without_javascript(plain: BrowserContext, report: Path) -> None:
    page, _ = opened(plain, report)

    for section in SECTIONS:
        assert page.locator(f"#{section}").is_visible()
        assert page.locator(f"#{section} h2").inner_text()
    assert page.locator("#answer .sentence").first.is_visible()
    assert page.locator("#table tbody tr").first.is_visible()
    assert page.locator("figure.plot > svg").first.is_visible()
    if page.locator("#courses").count():
        assert "JavaScript, which is off" in page.locator("#course").inner_text()


def test_it_prints_on_white(window: BrowserContext, report: Path) -> None:
    page, said = opened(window, report)
    page.emulate_media(media="print")

    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert colour == "rgb(255, 255, 255)"
    assert len(page.pdf(format="A4")) > 20_000
    assert said == []
