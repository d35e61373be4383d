"""``pythnn report``: the graph of a model, where it is drawn, and what it shows."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image
from test_report import Page, pixels_of

import pythnn
from pythnn import nn
from pythnn._cli import main
from pythnn._models.entries import input_of
from pythnn._models.inputs import accepted
from pythnn._models.rows import rows_of
from pythnn.report import _graph, _layout, _running
from pythnn.report._shapes import short_shape
from pythnn.t7 import TorchObject


def names_and_edges(module, **known):
    """The classes of a graph's nodes, and its edges as pairs of them."""
    graph = _graph.graph_of(module, **known)
    names = [node.name or type(node.module).__name__ for node in graph.nodes]
    return names, [(names[e.begin], names[e.end], e.entry) for e in graph.edges]


@pytest.fixture
def draw(tmp_path, monkeypatch):
    """Writes the page about a module and reads it."""
    monkeypatch.chdir(tmp_path)

    def page_of(module, *arguments):
        pythnn.save("model.t7", module)
        result = CliRunner().invoke(main, ["report", "model.t7", *arguments])
        assert result.exit_code == 0, result.output
        return Page(Path("model.html").read_text("utf-8"))

    return page_of


def residual():
    """A gModule with a shortcut."""
    image = nn.Identity()()
    inner = nn.ReLU()(nn.SpatialConvolution(2, 2, 3, 3, 1, 1, 1, 1)(image)).annotate(
        name="branch", stage=2, _debugLabel="[file.lua]:7"
    )
    return nn.gModule([image], [nn.CAddTable()([image, inner])])


# ---- What takes the output of what


def test_graph_of_gmodule():
    names, edges = names_and_edges(residual())
    assert sorted(names) == sorted(
        ["input", "Identity", "SpatialConvolution", "ReLU", "CAddTable", "output"]
    )
    assert edges == [
        ("input", "Identity", None),
        ("Identity", "SpatialConvolution", None),
        ("SpatialConvolution", "ReLU", None),
        ("Identity", "CAddTable", None),
        ("ReLU", "CAddTable", None),
        ("CAddTable", "output", None),
    ]


def test_graph_of_branches():
    branches = nn.ConcatTable().add(nn.Identity()).add(nn.Sequential().add(nn.Tanh()).add(nn.Abs()))
    _, edges = names_and_edges(nn.Sequential().add(nn.ReLU()).add(branches).add(nn.CAddTable()))
    assert edges == [
        ("input", "ReLU", None),
        ("ReLU", "Identity", None),
        ("ReLU", "Tanh", None),
        ("Tanh", "Abs", None),
        ("Identity", "CAddTable", None),
        ("Abs", "CAddTable", None),
        ("CAddTable", "output", None),
    ]


def test_annotated_containers_are_opened():
    image = nn.Identity()()
    chain = nn.Sequential().add(nn.Tanh()).add(nn.Abs())
    both = nn.ConcatTable().add(nn.Square()).add(nn.Sqrt())
    first = chain(image).annotate(name="branch", _debugLabel="[file.lua]:7")
    second = both(first).annotate(_debugLabel="[file.lua]:8")
    graph = _graph.graph_of(nn.gModule([image], [nn.CAddTable()(second)]))
    notes = {type(node.module).__name__: node.notes for node in graph.nodes}
    assert notes["Tanh"] == {}
    assert notes["Abs"] == {"name": "branch"}
    assert notes["Square"] == notes["Sqrt"] == {}
    assert "ConcatTable" not in notes


def test_graph_of_tables():
    each = nn.ParallelTable().add(nn.Tanh()).add(nn.Abs())
    model = nn.Sequential().add(each).add(nn.SelectTable(-1))
    _, edges = names_and_edges(model, input=[np.ones(2), np.ones(3)])
    assert edges == [
        ("input 1", "Tanh", None),
        ("input 2", "Abs", None),
        ("Abs", "SelectTable", None),
        ("SelectTable", "output", None),
    ]
    _, edges = names_and_edges(nn.Sequential().add(nn.SplitTable(1)).add(each))
    assert ("SplitTable", "Tanh", 1) in edges
    assert ("SplitTable", "Abs", 2) in edges


def test_joining_containers_are_a_box():
    _, edges = names_and_edges(nn.Concat(2).add(nn.Tanh()).add(nn.Abs()))
    assert ("Tanh", "Concat", None) in edges
    assert ("Abs", "Concat", None) in edges
    assert ("Concat", "output", None) in edges


def test_a_gmodule_that_splits():
    table = nn.Identity()()
    first, second = nn.SplitTable(1)(table).split(2)
    _, edges = names_and_edges(nn.gModule([table], [nn.CMulTable()([second, first])]))
    assert ("SplitTable", "CMulTable", 1) in edges
    assert ("SplitTable", "CMulTable", 2) in edges


def test_large_models_are_drawn_with_closed_containers():
    block = nn.Sequential()
    for _ in range(30):
        block.add(nn.ConcatTable().add(nn.Tanh()).add(nn.Abs())).add(nn.CAddTable())
    model = nn.Sequential()
    for _ in range(20):
        model.add(nn.Sequential().add(block.clone()))
    names, _ = names_and_edges(model)
    assert names == ["input", *["Sequential"] * 20, "output"]
    assert {node.inside for node in _graph.graph_of(model).nodes[1:-1]} == {60}


def test_shared_modules_are_not_visited_without_end():
    module = nn.Tanh()
    for _ in range(60):
        module = nn.ConcatTable().add(module).add(module)
    assert len(names_and_edges(module)[0]) <= _graph.MAX_NODES
    empty = nn.gModule([node := nn.Identity()()], [node])
    empty.graph = type(empty.graph)((empty.graph.steps[0],), 0, 1)
    twice = nn.Sequential()
    for _ in range(200):
        twice.add(nn.ConcatTable().add(empty).add(empty))
    _graph.graph_of(twice)
    loop = nn.Sequential()
    loop.modules.append(loop)
    assert names_and_edges(loop)[0] == ["input", "Sequential", "output"]


def test_damaged_containers_are_a_box():
    model = nn.ConcatTable().add(nn.Tanh()).add(nn.Abs())
    model.modules.append(3)
    assert names_and_edges(model)[0] == ["input", "ConcatTable", "output"]
    assert _graph.graph_of(TorchObject("my.Net", {})) is None


# ---- Where it is drawn


def drawn(sizes, edges):
    """A layout, of which no two boxes overlap and every edge leads downwards."""
    layout = _layout.layered(sizes, edges)
    corners = [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        for (x, y), (w, h) in zip(layout.centres, sizes, strict=True)
    ]
    for left, top, right, bottom in corners:
        assert left >= -1e-6
        assert right <= layout.width + 1e-6
        assert top >= -1e-6
        assert bottom <= layout.height + 1e-6
    for a, b in itertools.combinations(corners, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    for (begin, end), route in zip(edges, layout.routes, strict=True):
        (first, _), (_, last) = route[0], route[-1]
        assert first == pytest.approx((layout.centres[begin][0], corners[begin][3]))
        assert last[1] == pytest.approx(corners[end][1])
        assert corners[end][0] <= last[0] <= corners[end][2]
        heights = [y for line in route for _, y in line]
        assert heights == sorted(heights)
        for x, (top, bottom) in [(line[0][0], (line[0][1], line[1][1])) for line in route[1:-1]]:
            for left, upper, right, lower in corners:  # past boxes, not through them
                assert not (left < x < right and upper < bottom and lower > top)
    return layout


def test_random_graphs_are_drawn_without_overlaps():
    rng = np.random.default_rng(5)
    for _ in range(40):
        count = int(rng.integers(1, 25))
        sizes = [(float(rng.integers(20, 200)), float(rng.integers(10, 60))) for _ in range(count)]
        edges = [
            (int(rng.integers(0, end)), end) for end in range(1, count) for _ in range(end % 3)
        ]
        drawn(sizes, edges)


def test_a_chain_is_a_straight_line():
    layout = drawn([(50, 20), (90, 20), (70, 30)], [(0, 1), (1, 2)])
    assert [x for x, _ in layout.centres] == pytest.approx([45, 45, 45])


def test_branches_do_not_cross():
    edges = [(0, 1), (0, 2), (1, 4), (2, 3), (3, 5), (4, 5)]
    layout = drawn([(40, 20)] * 6, edges)
    x = [centre[0] for centre in layout.centres]
    assert (x[1] < x[2]) == (x[4] < x[3])


def test_dense_graphs_are_drawn_soon():
    edges = [(a, b) for b in range(60) for a in range(b)]
    drawn([(100, 40)] * 60, edges)


# ---- The page


def test_page_shows_the_graph(draw):
    page = draw(residual(), "--input", "2x6x6")
    (svg,) = [a for a in page.all("svg") if a["aria-label"].startswith("Graph")]
    assert svg["aria-label"] == "Graph of 6 boxes and 6 connections"
    assert len(page.all("path", class_="edge")) == len(page.all("path", class_="head")) == 6
    assert len(page.all("path", class_="box")) == 4
    text = page.text
    assert "SpatialConvolution (2 → 2, 3x3, 1,1, 1,1) 1 x 2 x 6 x 6" in text
    assert re.search(r"ReLU 1 x 2 x 6 x 6 branch stage: 2 ", text)
    assert "_debugLabel" not in text
    assert [a["href"] for a in page.all("a") if a["href"].startswith("#row-")] == [
        "#row-2", "#row-3", "#row-4", "#row-5",
    ]  # fmt: skip


def test_chains_need_no_drawing(draw):
    page = draw(nn.Sequential().add(nn.Linear(3, 2)).add(nn.Tanh()))
    assert "Graph" not in page.text


def test_closed_containers_say_what_is_inside(draw):
    model = nn.gModule([x := nn.Identity()()], [nn.Bottle(nn.Linear(3, 2))(x)])
    assert "Bottle 1 module inside" in draw(model, "--no-run").text


def test_annotations_are_escaped(draw):
    evil = "</title></svg><script>alert(1)</script>\x1b[31m"
    node = nn.Identity()()
    page = draw(nn.gModule([node], [nn.Tanh()(node).annotate(name=evil, other=3)]), "--input", "3")
    assert not page.all("script")
    assert "\x1b" not in page.text
    assert "other: 3" in page.text


def test_graph_of_a_model_that_was_not_run(draw):
    page = draw(residual(), "--no-run")
    assert "Graph" in page.text
    assert "size of its output" not in page.text


# ---- Results of images


@pytest.fixture
def photo(tmp_path):
    rows, columns = np.mgrid[:16, :16]
    colour = np.stack([16 * columns, 16 * rows, 255 - 16 * columns], 2).astype(np.uint8)
    Image.fromarray(colour).save(tmp_path / "photo.png")


@pytest.mark.usefixtures("photo")
@pytest.mark.parametrize("options", [["byte"], ["signed"], ["signed", "--channels", "BGR"]])
def test_result_of_an_image_to_image_model(draw, options):
    page = draw(nn.Identity(), "--image", "photo.png", "--size", "16", "--preset", *options)
    assert "Input and output" in page.text
    (source,) = [a["src"] for a in page.all("img", class_="output")]
    with pixels_of(source) as made, Image.open("photo.png") as given:
        difference = np.abs(np.asarray(made, int) - np.asarray(given, int))
    assert difference.max() <= 1


@pytest.mark.usefixtures("photo")
def test_planes_and_tables_of_results(draw):
    maps = nn.SpatialConvolution(3, 20, 1, 1)
    model = nn.ConcatTable().add(maps).add(nn.Identity()).add(nn.View(-1))
    page = draw(nn.Sequential().add(model), "--image", "photo.png", "--size", "16")
    assert len(page.all("img", class_="output")) == 1
    assert "20 x 16 x 16 : 16 of 20 planes of the output" in page.text


@pytest.mark.usefixtures("photo")
def test_classes_are_no_image(draw):
    model = nn.Sequential().add(nn.View(-1)).add(nn.Linear(3 * 16 * 16, 5))
    page = draw(model, "--image", "photo.png", "--size", "16")
    assert "Input and output" not in page.text
    assert not page.all("img", class_="output")


# ---- Tables of many tensors


def test_shapes_of_tables():
    one, other = np.ones((1, 2)), np.ones(3)
    assert short_shape([one, other]) == "{1 x 2, 3}"
    assert short_shape([one] * 12) == "{1 x 2, 12 times}"
    assert short_shape([one, other] * 6) == "{1 x 2, 3, 1 x 2, … 9 more}"
    assert short_shape([[one] * 5, other]) == "{{1 x 2, 5 times}, 3}"


# ---- Progress


def test_progress_names_layers():
    model = nn.Sequential().add(nn.Linear(3, 2)).add(nn.Tanh())
    told: list[str] = []
    example = accepted(model, [np.ones(3)], input_of(model))
    _running.run_on(model, rows_of(model), example, pictures=False, stage=told.append)
    assert told[:2] == ["first run, layer 1 of 2", "first run, layer 2 of 2"]
    assert told[-2:] == ["last run, layer 1 of 2", "last run, layer 2 of 2"]
    assert "measuring" in told


def test_progress_is_for_terminals(tmp_path):
    pythnn.save(tmp_path / "model.t7", residual())
    command = [sys.executable, "-m", "pythnn", "report", "model.t7", "--input", "2x6x6"]
    piped = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert piped.stderr == b""
    terminal, end = os.openpty()
    try:
        environment = {**os.environ, "TERM": "xterm"}
        shown = subprocess.run(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=end, env=environment, check=True
        )
        os.close(end)
        assert os.read(terminal, 1 << 16)
    finally:
        os.close(terminal)
    # Not more: the times that are measured make a page longer or shorter by some bytes.
    assert shown.stdout.startswith(b"model.html: ")
