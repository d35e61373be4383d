"""``pythnn report``: the page in a real browser, on a screen and on a phone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from browser import Browser, chromium
from click.testing import CliRunner
from PIL import Image

import pythnn
from pythnn import nn
from pythnn._cli import main

DATA = Path(__file__).parents[1] / "data" / "t7"
MODELS = ("alexnet_small", "resnet_like", "textnet")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Browser(chromium(), tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages about recorded models, about one image, and one with names that are long."""
    folder = tmp_path_factory.mktemp("pages")
    rows, columns = np.mgrid[:60, :80]
    colour = np.stack([3 * columns, 4 * rows, 255 - 3 * columns], 2).astype(np.uint8)
    Image.fromarray(colour).save(folder / "photo.jpg")
    model = nn.Sequential().add(nn.Linear(3, 2))
    model.modules.append(pythnn.t7.TorchObject("my." + 300 * "long", {"weight": np.ones(2)}))
    pythnn.save(folder / f"{100 * 'n'}.t7", model)
    calls = {name: [DATA / f"{name}.t7"] for name in MODELS}
    calls["image"] = [DATA / "resnet_like.t7", "--image", folder / "photo.jpg"]
    calls["long"] = [folder / f"{100 * 'n'}.t7"]
    for name, arguments in calls.items():
        output = folder / f"{name}.html"
        result = CliRunner().invoke(main, ["report", *map(str, arguments), "-o", str(output)])
        assert result.exit_code == 0, result.output
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("name", [*MODELS, "image", "long"])
def test_page(browser, pages, name, width, scheme):
    browser.problems.clear()
    browser.show(pages / f"{name}.html", width, scheme=scheme)
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.value("document.documentElement.scrollWidth") == width
    beyond = (
        "[...document.querySelectorAll('body *')].filter(e => !e.closest('.table')"
        " && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 99))"
    )
    assert browser.value(beyond) == []
    broken = "[...document.images].filter(i => !i.naturalWidth).length"
    assert browser.value(broken) == 0
    pixels = np.asarray(browser.screenshot())
    assert pixels.shape == (900, width, 3)
    shares = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)[1] / (900 * width)
    assert len(shares) > 50  # text has many shades
    assert shares.max() < 0.95
    assert (pixels[5, 5].mean() < 100) == (scheme == "dark")
    assert browser.problems == []


def test_wide_table_scrolls_in_itself(browser, pages):
    browser.show(pages / "resnet_like.html", 390)
    table = "document.querySelector('.table')"
    assert browser.value(f"{table}.scrollWidth > {table}.clientWidth")
    assert browser.value(f"getComputedStyle({table}).overflowX") == "auto"


def test_keyboard_opens_a_layer(browser, pages):
    browser.show(pages / "resnet_like.html", 1200)
    focused = "document.activeElement"
    for _ in range(200):
        browser.press("Tab")
        if browser.value(f"{focused}.tagName") == "SUMMARY":
            break
    assert browser.value(f"{focused}.tagName") == "SUMMARY"
    assert browser.value(f"getComputedStyle({focused}).outlineStyle") == "solid"
    before = browser.value(f"{focused}.parentElement.open")
    browser.press("Enter")
    assert browser.value(f"{focused}.parentElement.open") is not before


def test_links_open_what_they_lead_to(browser, pages):
    browser.show(pages / "image.html", 1200)
    details = "document.querySelector('#layer-2').closest('details')"
    assert browser.value(f"{details}.open") is False
    browser.value("document.querySelector('a[href=\"#layer-2\"]').click()")
    browser.value("location.hash = '#layer-2'")
    assert browser.value(f"{details}.open") is True


def test_scripts_of_a_page_do_not_run(browser, pages):
    text = (pages / "textnet.html").read_text("utf-8")
    (pages / "script.html").write_text(text.replace("<main>", "<main><script>bad = 1</script>"))
    browser.show(pages / "script.html", 1200)
    assert browser.value("typeof bad") == "undefined"
    assert any("Content Security Policy" in problem for problem in browser.problems)


def test_colours_are_legible(browser, pages):
    luminance = """(() => { const light = c => { const n = c.match(/[\\d.]+/g).slice(0, 3)
        .map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * n[0] + 0.7152 * n[1] + 0.0722 * n[2]; };
        const ground = light(getComputedStyle(document.body).backgroundColor);
        return ['h1', '.quiet', 'dt', '.table a', 'figcaption'].map(s => {
        const ink = light(getComputedStyle(document.querySelector(s)).color);
        return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05); }); })()"""
    for scheme in ("light", "dark"):
        browser.show(pages / "resnet_like.html", 1200, scheme=scheme)
        assert min(browser.value(luminance)) >= 4.5  # WCAG 2.2, AA
