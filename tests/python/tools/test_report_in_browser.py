"""``pythnn report``: the page in a real browser, on a screen and on a phone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image
from support.browser import Browser, chromium

import pythnn
from pythnn import nn
from pythnn._cli import main

DATA = Path(__file__).parents[2] / "data" / "t7"
MODELS = ("alexnet_small", "resnet_like", "textnet")
WIDTHS = (1280, 390)  # a small screen, and a phone


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Browser(chromium(), tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def wide_graph():
    """Twelve branches of two layers with long names, nine levels deep, that give a table."""
    branches = nn.ConcatTable()
    for _ in range(12):
        layer = nn.VolumetricFullConvolution(2, 2, 13, 13, 13, 12, 12, 12, 10, 10, 10, 11, 11, 11)
        branches.add(nn.Sequential().add(layer).add(nn.VolumetricBatchNormalization(2)))
    model = branches
    for _ in range(9):
        model = nn.Sequential().add(model)
    return model


def image_to_image():
    """A gModule that halves an image, and adds what it makes of it to the image."""
    image = nn.Identity()()
    halved = nn.SpatialConvolution(3, 4, 3, 3, 2, 2, 1, 1)(image)
    whole = nn.SpatialFullConvolution(4, 3, 2, 2, 2, 2)(nn.ReLU()(halved)).annotate(name="grow")
    return nn.gModule([image], [nn.CAddTable()([image, whole])])


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
    pythnn.save(folder / "nested.t7", wide_graph())
    pythnn.save(folder / "unet.t7", image_to_image())
    calls = {name: [DATA / f"{name}.t7"] for name in MODELS}
    calls["nested"] = [folder / "nested.t7", "--input", "2x1x1x1"]
    calls["unet"] = [folder / "unet.t7", "--image", folder / "photo.jpg", "--size", "64"]
    calls["image"] = [DATA / "resnet_like.t7", "--image", folder / "photo.jpg"]
    calls["long"] = [folder / f"{100 * 'n'}.t7"]
    for name, arguments in calls.items():
        output = folder / f"{name}.html"
        result = CliRunner().invoke(main, ["report", *map(str, arguments), "-o", str(output)])
        assert result.exit_code == 0, result.output
    return folder


BROKEN_WORDS = """(() => { const broken = [], range = document.createRange();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; node = texts.nextNode();) {
      if (node.parentElement.closest('svg')) continue;
      for (const word of node.data.matchAll(/[^\\s-]+/g)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map(r => Math.round(r.top)));
        if (lines.size > 1) broken.push(word[0]);
      }
    }
    return broken; })()"""


CUT_OFF = """[...document.querySelectorAll('.table, .table th, .table td, dd, summary')]
    .filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != 'none')
    .map(e => e.textContent)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*MODELS, "image", "long", "nested", "unet"])
def test_page(browser, pages, name, width, scheme):
    browser.problems.clear()
    browser.show(pages / f"{name}.html", width, scheme=scheme)
    browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.value("document.documentElement.scrollWidth") == width
    beyond = (
        "[...document.querySelectorAll('body *')].filter(e => !e.closest('.graph')"
        " && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 99))"
    )
    assert browser.value(beyond) == []
    assert browser.value(CUT_OFF) == []
    if name != "long":
        assert browser.value(BROKEN_WORDS) == []
    broken = "[...document.images].filter(i => !i.naturalWidth).length"
    assert browser.value(broken) == 0
    pixels = np.asarray(browser.screenshot())
    assert pixels.shape == (900, width, 3)
    colours = pixels.astype(np.int32) @ (1 << 16, 1 << 8, 1)  # sorted faster than rows
    shares = np.unique(colours, return_counts=True)[1] / (900 * width)
    assert len(shares) > 50  # text has many shades
    assert shares.max() < 0.95
    assert (pixels[5, 5].mean() < 100) == (scheme == "dark")
    assert browser.problems == []


def test_only_words_beyond_a_line_are_broken(browser, pages):
    browser.show(pages / "long.html", 390)
    assert min(map(len, browser.value(BROKEN_WORDS))) > 100


@pytest.mark.parametrize("width", WIDTHS)
def test_graph_is_seen_whole(browser, pages, width):
    """Boxes hold their text, do not cover each other, and fit the page."""
    browser.show(pages / "unet.html", width)
    boxes = """[...document.querySelectorAll('.graph .box')].map(box => {
        const b = box.getBoundingClientRect();
        const fits = [...box.parentElement.querySelectorAll('text')].every(t => {
            const r = t.getBoundingClientRect();
            return r.left >= b.left && r.right <= b.right && r.top >= b.top && r.bottom <= b.bottom;
        });
        return [b.left, b.top, b.right, b.bottom, fits]; })"""
    found = browser.value(boxes)
    assert len(found) == 7
    for i, (left, top, right, bottom, fits) in enumerate(found):
        assert fits
        assert left >= 0
        assert right <= width
        for other_left, other_top, other_right, other_bottom, _ in found[:i]:
            assert (
                right <= other_left
                or other_right <= left
                or bottom <= other_top
                or (other_bottom <= top)
            )


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
