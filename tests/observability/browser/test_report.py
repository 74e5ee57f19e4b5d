"""A report is whole, quiet and readable: on a desk, on a phone, on paper, without JavaScript."""

from playwright.sync_api import Page, ViewportSize

from browser.opened import DESK, Opened

SECTIONS = ("found", "charts", "results", "seconds", "caveats", "environment", "reproduce", "runs")
SMALLEST_TEXT_PX = 8
A4: ViewportSize = {"width": 703, "height": 1032}
"""Within the page's margins, at 96 dots an inch."""
CUT_OFF = """() => [...document.querySelectorAll("figure > svg text")].filter(text => {
  const one = text.getBoundingClientRect(), whole = text.ownerSVGElement.getBoundingClientRect();
  const beside = one.left < whole.left - 1 || one.right > whole.right + 1;
  return beside || one.top < whole.top - 1 || one.bottom > whole.bottom + 1;
}).map(text => text.textContent)"""
TEXT_HEIGHTS = (
    """() => [...document.querySelectorAll("figure > svg text")].map(text => text.getBoundingClientRect().height)"""
)
FRAME = 5
"""What even an empty plot draws: its ground and four edges."""
OVERFLOWING = """() => [...document.querySelectorAll("main *")]
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".wide"))
  .map(one => one.tagName + " " + one.textContent.slice(0, 40))"""
DRAWN = """plots => plots.map(plot => {
  const { width, height } = plot.getBoundingClientRect();
  return [{ width, height }, plot.querySelectorAll('g[id^="axes_"] > :is(g[id^="line2d_"], g[id^="patch_"])').length];
})"""


MOST_SCREENS = {1280: 6 * 800, 390: 20 * 844}
"""Of 800 and of 844 pixels, by the window's width, for a sweep of 40 runs."""
FAINT = """() => {
  const grey = part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const light = colour => colour.match(/[\\d.]+/g).slice(0, 3)
    .reduce((sum, part, place) => sum + [0.2126, 0.7152, 0.0722][place] * grey(part / 255), 0.05);
  return [...document.querySelectorAll('figure g[id^="axes_"] > g[id^="line2d_"] :is(path, use)')].flatMap(mark => {
    const { stroke, strokeOpacity } = getComputedStyle(mark);
    if (stroke === "none" || strokeOpacity < 1) return [];
    const pair = [stroke, getComputedStyle(mark.closest("figure")).backgroundColor].map(light);
    return Math.max(...pair) / Math.min(...pair) < 3 ? [stroke] : [];
  });
}"""


def test_it_says_nothing_and_asks_for_nothing(shown: Opened) -> None:
    assert shown.said == []


def test_every_plot_is_drawn(shown: Opened) -> None:
    plots = shown.page.locator("figure.plot > svg")
    assert plots.count() > 2
    for box, marks in plots.evaluate_all(DRAWN):
        assert min(box["width"], box["height"]) > 40
        assert marks > FRAME


def test_nothing_makes_it_scroll_sideways(shown: Opened) -> None:
    assert shown.page.evaluate(OVERFLOWING) == []
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_is_a_few_screens_long(shown: Opened) -> None:
    height, width = shown.page.evaluate("[document.documentElement.scrollHeight, innerWidth]")
    assert height <= MOST_SCREENS[width]


def test_lines_and_dots_stand_out_from_the_ground_light_and_dark(shown: Opened) -> None:
    assert shown.page.evaluate(FAINT) == []


def test_labels_of_plots_are_whole_and_large_enough(shown: Opened) -> None:
    assert shown.page.evaluate(CUT_OFF) == []
    assert min(shown.page.evaluate(TEXT_HEIGHTS)) >= SMALLEST_TEXT_PX


def test_nothing_of_the_folder_has_run(shown: Opened) -> None:
    assert shown.page.evaluate("window.alerted") is None
    assert shown.page.locator("img").count() == 0


def test_it_can_be_read_without_javascript(plain: Page) -> None:
    for section in SECTIONS:
        assert plain.locator(f"#{section}").is_visible()
        assert plain.locator(f"#{section} h2").inner_text()
    assert plain.locator("#found li").first.is_visible()
    assert plain.locator("#results tbody tr").first.is_visible()
    assert plain.locator("figure.plot > svg").first.is_visible()


def test_it_prints_on_white(on_desk: Opened) -> None:
    on_desk.page.emulate_media(media="print", color_scheme="dark")

    colour = on_desk.page.evaluate("getComputedStyle(document.body).backgroundColor")
    printed = on_desk.page.pdf(format="A4")
    on_desk.page.set_viewport_size(A4)
    overflowing = on_desk.page.evaluate(OVERFLOWING)
    on_desk.page.set_viewport_size(DESK)
    on_desk.page.emulate_media(media="screen", color_scheme="light")

    assert colour == "rgb(255, 255, 255)"
    assert len(printed) > 20_000
    assert overflowing == []
    assert on_desk.said == []
