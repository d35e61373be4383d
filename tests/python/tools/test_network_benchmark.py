"""The benchmark of whole networks: its networks run, and its page says what was measured."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[3]))  # behind the installed package

from benchmarks.networks import __main__ as command
from benchmarks.networks import measuring, page
from benchmarks.networks.layers import LAYERS
from benchmarks.networks.measuring import measure
from benchmarks.networks.models import NETWORKS
from benchmarks.networks.peers import INFERENCE, our_training
from benchmarks.networks.rows import Row, load, mean_ratio, save

SMALL_NAMES = "LeNet", "text", "char-rnn step", "ResNet-20 of CIFAR", "language model, 1000 words"
SMALL = [n for n in NETWORKS if n.name in SMALL_NAMES]


@pytest.mark.parametrize("network", SMALL, ids=lambda network: network.name)
def test_small_networks_run(network):
    row = Row(network.name, "inference", "float32", 2, 1)
    assert measure(row, network, {"modules": INFERENCE["modules"]}, 0) == []
    assert 0 < row.times["ours"] < np.inf
    assert set(row.times) == {"ours", "modules"}
    step = our_training(network.model(), network.input(2), 1)
    first = [np.array(one) for one in _tables(step(network.input(2)))]
    second = _tables(step(network.input(2)))
    assert any(np.abs(a - b).max() > 0 for a, b in zip(first, second, strict=True))


def test_layers_are_single_convolutions_of_different_names():
    assert len({layer.name for layer in LAYERS}) == len(LAYERS) > 40
    layer = next(one for one in LAYERS if one.name == "64-64_8_k3p1")
    row = Row(layer.name, "inference", "float32", 2, 1)
    assert measure(row, layer, {"modules": INFERENCE["modules"]}, 0) == []
    assert layer.model().forward(layer.input(2)).shape == (2, 64, 8, 8)


def test_layers_are_not_for_the_document(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["networks", "--layers", "--document"])
    with pytest.raises(SystemExit):
        command.main()
    assert "--layers" in capsys.readouterr().err


def _tables(value):
    return value if isinstance(value, list) else [value]


def test_results_that_differ_are_told():
    network = next(n for n in SMALL if n.name == "LeNet")
    row = Row(network.name, "inference", "float32", 1, 1)

    def other(model, *_):
        return lambda given: model.forward(given) + 1

    (message,) = measure(row, network, {"other": other}, 0)
    assert message.startswith("LeNet, inference: other differs by ")


@pytest.mark.parametrize("kind", ["inference", "training"])
@pytest.mark.parametrize(("distance", "is_told"), [(0.5, False), (2, True)])
def test_roundings_that_a_network_magnifies_are_no_difference(monkeypatch, kind, distance, is_told):
    """They are compared with what float64 results move by when all numbers are moved a little."""
    monkeypatch.setitem(measuring.ERRORS, "float32", 0)
    network = next(n for n in SMALL if n.name == "LeNet")
    row = Row(network.name, kind, "float32", 2, 1)
    exact = measuring.exactly(row, network)
    moves = [measuring.exactly(row, network, 1 + i) - exact for i in range(measuring.MOVES)]
    far = max(moves, key=lambda move: np.abs(move).max())
    assert np.abs(far).max() > 0

    def other(*_):
        return lambda _: exact + distance * measuring.SPREAD * far

    messages = measure(row, network, {"other": other}, 0)
    assert len(messages) == is_told
    if is_told:
        assert "; from float64 by " in messages[0]


ROWS = [
    Row(
        "LeNet", "inference", "float32", 1, 1, {"ours": 2e-3, "modules": 1e-3, "A": 4e-3, "B": 1.0}
    ),
    Row("text", "inference", "float32", 1, 1, {"ours": 2e-3, "modules": 1e-3, "A": 1e-3, "B": 1.0}),
    Row("text", "inference", "float32", 1, 2, {"ours": 2e-3, "modules": 1e-3}),
    Row("text", "training", "float64", 16, 2, {"ours": 1.0, "PyTorch": 3.0}),
]


def test_ratios():
    assert ROWS[0].ratio() == 2
    assert ROWS[0].ratio("B") == 500
    assert np.isnan(ROWS[2].ratio())
    assert mean_ratio(ROWS[:3]) == pytest.approx(1)


def test_the_page(tmp_path):
    save(ROWS, {"machine": "a machine"}, tmp_path / "networks.json")
    rows, facts = load(tmp_path / "networks.json")
    assert rows == ROWS
    document = tmp_path / "networks.md"
    document.write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n")
    page.update_page(document, rows, facts)
    text = document.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "| machine | a machine |" in text
    assert "| LeNet | 1 | 1 | 2 | 1 | 4 | 1e+03 | 2.00 |" in text
    assert "| text | 1 | 2 | 2 | 1 |  |  | nan |" not in text
    assert "| the fastest of each row | 1.00 | 0.50 (text, 1 x, 1 thread) |" in text
    assert "## Training, float64" in text
    for name in ("networks-inference-float32.svg", "networks-training-float64.svg"):
        assert f"(images/{name})" in text
        assert (tmp_path / "images" / name).read_text().startswith("<?xml")


def test_the_page_of_the_documentation_has_a_place_for_figures():
    text = (Path(__file__).resolve().parents[3] / "docs" / "networks.md").read_text()
    assert text.count(page.BEGIN) == text.count(page.END) == 1
