"""The report as a reader meets it: in a browser, on a screen, on a phone and in print."""

import shutil

import numpy as np
import pytest

from structlearn import StructuralSVM
from structlearn.models import Chain, Grammar
from structlearn.report import write_report

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="Chromium is not installed")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --disable-dev-shm-usage --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
EVIL = "<script>document.title='attacked'</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report with many mistakes, long words and a hostile label."""
    rng = np.random.default_rng(0)
    words = ["dog", "cat", "sleeps", "a-very-" + "long-" * 30 + "word", EVIL]
    X = [[{"word": words[k]} for k in rng.integers(5, size=rng.integers(1, 12))] for _ in range(120)]
    Y = [[("N", "N", "V", "A", EVIL)[words.index(t["word"])] if rng.random() < 0.8 else "N" for t in x] for x in X]
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, StructuralSVM(Chain(), track_loss=True).fit(X, Y), X, Y, title="Tags", learning_curve=(X, Y))
    return path.as_uri()


@pytest.fixture(scope="module")
def tree_page(tmp_path_factory):
    """A report with the tree of a long sentence, of which a phrase is wrong."""
    words = [(EVIL, "N"), ("a-very-" + "long-" * 30 + "word", "N"), *(("dog", "N") for _ in range(30))]
    tree = ("S", ("NP", *((tag, word) for word, tag in words)))
    path = tmp_path_factory.mktemp("trees") / "report.html"
    write_report(path, StructuralSVM(Grammar(), C=10).fit([words], [tree]), [words], [("S", ("XP", *tree[1][1:]))])
    return path.as_uri()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def visit(browser, page):
    def visit(width=1280, scheme="light", media="", scripts=True, page=page):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
        browser.get(page)
        # Said once the page is there, since the way from another page to this one forgets it.
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        if scripts:
            browser.execute_script("localStorage.clear()")
        browser.refresh()
        return browser

    yield visit
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    messages = browser.get_log("browser")
    assert messages == []


def each(driver, selector, what="e.textContent"):
    return driver.execute_script(
        f"return Array.from(document.querySelectorAll(arguments[0])).map((e) => {what})", selector
    )


def shown(driver, selector):
    return each(driver, selector, "e.checkVisibility()").count(True)


def click(driver, selector):
    driver.execute_script(
        "document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click', {bubbles: true}))", selector
    )


def choose(driver, name, value):
    driver.execute_script(
        "const e = document.querySelector(`#mistake-controls [name=${arguments[0]}]`); e.value = arguments[1];"
        "e.dispatchEvent(new Event('input', {bubbles: true}))",
        name,
        value,
    )


def test_data_never_run(visit):
    driver = visit()
    assert driver.title == "Tags"
    assert EVIL in each(driver, ".panel h3")


def test_a_click_on_a_heading_sorts_the_table(visit):
    driver = visit()
    values = "table.sortable tbody td:nth-child(6)"
    heading = "table.sortable thead th:nth-child(6)"
    unsorted = [float(n) for n in each(driver, values, "e.dataset.value")]
    assert unsorted != sorted(unsorted, reverse=True)
    for order, backwards in (("descending", True), ("ascending", False)):
        click(driver, f"{heading} button")
        assert [float(n) for n in each(driver, values, "e.dataset.value")] == sorted(unsorted, reverse=backwards)
        assert each(driver, heading, "e.ariaSort") == [order]
    click(driver, "table.sortable thead th:first-child button")
    names = each(driver, "table.sortable tbody th")
    assert names == sorted(names)


def test_mistakes_are_shown_in_portions_and_sorted(visit):
    driver = visit()
    n = len(each(driver, ".mistake"))
    assert n > 40
    assert shown(driver, ".mistake") == 20
    click(driver, ".mistakes + .more button")
    assert shown(driver, ".mistake") == 40
    for key, attribute, sign in (("margin", "margin", -1), ("long", "length", -1), ("short", "length", 1)):
        choose(driver, "sort", key)
        values = [sign * float(value) for value in each(driver, ".mistake", f"e.dataset.{attribute}")]
        assert values == sorted(values)


def test_a_field_of_the_heat_map_filters_the_mistakes(visit):
    driver = visit()
    cell = 'g.cell[data-true="N"][data-predicted="V"]'
    click(driver, cell)
    pairs = each(driver, ".mistake:not([hidden])", "e.dataset.pairs.split('\\x1e')")
    assert pairs
    assert all("N\x1fV" in found for found in pairs)
    assert len(pairs) < len(each(driver, ".mistake"))
    assert each(driver, f"{cell}.chosen", "e.ariaPressed") == ["true"]
    assert "N taken for V" in each(driver, "button.pair")[0]
    click(driver, "button.pair")
    assert shown(driver, ".mistake") == 20


def test_a_field_can_be_chosen_with_the_keyboard(visit):
    driver = visit()
    driver.execute_script(
        "const cell = document.querySelector('g.cell[data-true]'); cell.focus();"
        "cell.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))"
    )
    assert shown(driver, "button.pair") == 1


def test_mistakes_are_filtered_by_label_and_text(visit):
    driver = visit()
    choose(driver, "label", EVIL)
    found = each(driver, ".mistake:not([hidden])", "e.dataset.pairs")
    assert found
    assert all(EVIL in pairs for pairs in found)
    choose(driver, "label", "")
    choose(driver, "text", "SLEEPS")
    found = each(driver, ".mistake:not([hidden])")
    assert found
    assert all("sleeps" in text for text in found)
    choose(driver, "text", "no such word")
    assert shown(driver, ".mistake") == 0
    assert each(driver, "#mistake-controls output")[0].startswith("0 of")


def test_features_are_filtered(visit):
    driver = visit()
    driver.execute_script(
        "const e = document.querySelector('#feature-controls input'); e.value = 'word=dog';"
        "e.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert set(each(driver, ".panel:not([hidden]) li:not([hidden]) .feature")) == {"word=dog"}


def test_the_theme_follows_the_system_and_the_button(visit):
    def ground():
        return driver.execute_script("return getComputedStyle(document.body).backgroundColor")

    driver = visit(scheme="light")
    light = ground()
    driver = visit(scheme="dark")
    dark = ground()
    assert dark != light
    click(driver, "button.theme")
    assert ground() == light
    driver.refresh()
    assert ground() == light
    click(driver, "button.theme")
    assert ground() == dark


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_page_never_scrolls_sideways(visit, width):
    driver = visit(width=width)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    # The window of a phone grows with what does not fit.
    assert driver.execute_script("return innerWidth") == width


def test_without_scripts_everything_can_be_read(visit):
    driver = visit(scripts=False)
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert shown(driver, ".mistake") == len(each(driver, ".mistake")) > 40
    assert shown(driver, "#mistake-controls") == 0
    assert shown(driver, "svg.heat-map") == 2


def test_print_has_no_controls_and_few_mistakes(visit):
    driver = visit(media="print", scheme="dark")
    assert shown(driver, "nav, .controls, .theme, .more") == 0
    assert shown(driver, ".mistake") == 20
    assert driver.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_tooltips_come_with_the_pointer(visit):
    driver = visit()
    driver.execute_script(
        "document.querySelector('g.cell[data-true]').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))"
    )
    assert "was taken for" in each(driver, ".tip.shown")[0]
    driver.execute_script("document.body.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))")
    assert each(driver, ".tip.shown") == []


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_wide_trees_scroll_within_their_frame_and_marks_stand_out(visit, tree_page, scheme):
    driver = visit(width=390, scheme=scheme, page=tree_page)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
    assert len(each(driver, "svg.tree")) == 2
    assert all(each(driver, ".drawing figure", "e.scrollWidth > e.clientWidth"))
    assert EVIL[:29] + "…" in each(driver, ".tree text")
    assert each(driver, ".tree .given, .tree .true") == ["✗ NP", "✓ XP"]
    colours = each(driver, ".tree text, .tree .given, .tree .true", "getComputedStyle(e).fill")
    assert len(set(colours)) == 4
