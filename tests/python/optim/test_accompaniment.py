"""What accompanies training: counts of classes, logs, checks of gradients."""

from __future__ import annotations

import doctest
import math
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pythnn import THNNArgumentError, THNNError, nn, optim
from pythnn.nn import checking
from pythnn.optim import _checkgrad, _confusion, _logger

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("module", [_checkgrad, _confusion, _logger, checking])
def test_examples(module: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    globs = {**vars(module), "np": np, "nn": nn, "Path": Path}
    result = doctest.testmod(module, extraglobs=globs, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted
    assert not result.failed


def test_confusion_of_classes() -> None:
    matrix = optim.ConfusionMatrix(3)
    matrix.add([0.1, 0.7, 0.2], 2)
    matrix.add(1, [0, 1, 0])
    matrix.batchAdd(np.array([2, 1]), np.array([[1], [1]]))
    np.testing.assert_array_equal(matrix.mat, [[1, 1, 0], [1, 1, 0], [0, 0, 0]])
    matrix.updateValids()
    np.testing.assert_array_equal(matrix.valids, [0.5, 0.5, math.nan])
    np.testing.assert_allclose(matrix.unionvalids, [1 / 3, 1 / 3, math.nan])
    assert matrix.averageValid == matrix.totalValid == 0.5
    assert matrix.averageUnionValid == pytest.approx(1 / 3)
    assert "global correct: 50%" in str(matrix)
    matrix.zero()
    assert not matrix.mat.any()
    assert "nan" in str(matrix)


@pytest.mark.parametrize(
    ("predictions", "targets", "message"),
    [
        ([4], [1], "classes from 1 to 3"),
        ([1], [0], "classes from 1 to 3"),
        (np.zeros((2, 2)), [1, 1], "samples x 3 scores"),
        ([1, 2], [1], "2 targets"),
    ],
)
def test_what_is_no_class(predictions: Any, targets: Any, message: str) -> None:
    with pytest.raises(THNNArgumentError, match=message):
        optim.ConfusionMatrix(3).batchAdd(predictions, targets)


def test_as_many_names_as_classes() -> None:
    assert optim.ConfusionMatrix(["a", "b"]).nclasses == 2
    with pytest.raises(THNNArgumentError, match="as many as classes"):
        optim.ConfusionMatrix(3, ["a", "b"])


def test_a_log_and_its_plot(tmp_path: Path) -> None:
    log = optim.Logger(tmp_path / "train.log")
    log.setNames(["loss", "<error>"]).style({"<error>": "+"})
    for step in range(1, 6):
        log.add([1 / step, 10.0**-step])
    lines = (tmp_path / "train.log").read_text().splitlines()
    assert lines[0] == "loss\t<error>"
    assert len(lines) == 6
    drawn = ET.parse(log.plot()).getroot()  # noqa: S314
    kinds = [element.tag.split("}")[1] for element in drawn]
    assert (kinds.count("polyline"), kinds.count("circle")) == (1, 5)
    assert "<error>" in [element.text for element in drawn]
    heights = [float(one.get("cy", "")) for one in drawn if one.tag.endswith("circle")]
    log.setlogscale()
    path = log.plot(tmp_path / "other.svg")
    other = ET.parse(path).getroot()  # noqa: S314
    circles = [one for one in other if one.tag.endswith("circle")]
    logarithmic = [float(one.get("cy", "")) for one in circles]
    assert heights[3] - heights[1] < logarithmic[3] - logarithmic[1]


def test_a_log_takes_its_columns_alone(tmp_path: Path) -> None:
    log = optim.Logger(tmp_path / "train.log", timestamp=True)
    assert log.filename.name.startswith("train-20")
    log.add({"a": 1, "b": 2})
    with pytest.raises(THNNArgumentError, match="a, b"):
        log.add({"a": 1})
    with pytest.raises(THNNArgumentError, match="2 numbers"):
        log.add([1, 2, 3])
    with pytest.raises(THNNError, match="names already"):
        log.setNames(["c"])
    assert optim.Logger(tmp_path / "empty.log").plot().exists()


def test_gradients_against_differences() -> None:
    x = RNG.standard_normal(4)
    kept = x.copy()
    error, given, estimated = optim.checkgrad(lambda x: ((x**3).sum(), 3 * x**2), x)
    assert error < 1e-6
    np.testing.assert_allclose(given, estimated, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(x, kept)
    assert optim.checkgrad(lambda x: ((x**3).sum(), 2 * x**2), x)[0] > 0.1
    with pytest.raises(THNNArgumentError, match="writable array"):
        optim.checkgrad(lambda x: (x.sum(), 0 * x + 1), np.arange(3))


class Wrong(nn.Linear):
    """Forgets the scale of the gradients of its parameters."""

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        super().accGradParameters(input, gradOutput, 2 * scale)


def test_gradients_of_modules_and_criterions() -> None:
    errors = nn.check_gradients(Wrong(3, 2), RNG.standard_normal((4, 3)))
    assert errors["input"] < 1e-6
    assert errors["parameter[1]"] == pytest.approx(1 / 3, rel=1e-4)
    table = [RNG.standard_normal((2, 3)), RNG.standard_normal((2, 3))]
    errors = nn.check_gradients(nn.CMulTable(), table)
    assert set(errors) == {"input[1]", "input[2]"}
    assert max(errors.values()) < 1e-6
    dropped = nn.check_gradients(nn.Dropout(0.5), RNG.standard_normal((4, 5)))
    assert dropped["input"] < 1e-6
    lookup = nn.check_gradients(nn.LookupTable(5, 2), np.array([1, 4, 4]))
    assert set(lookup) == {"parameter[1]"}
    loss = nn.check_gradients(nn.MSECriterion(), RNG.standard_normal(3), RNG.standard_normal(3))
    assert loss["input"] < 1e-6
    with pytest.raises(THNNArgumentError, match="a module or a criterion"):
        nn.check_gradients(np.tanh, np.ones(3))
