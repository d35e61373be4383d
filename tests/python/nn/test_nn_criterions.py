"""Criterions beyond the recorded cases: targets of other types, settings, errors, files."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import nn

rng = np.random.default_rng(1)
LOGS = np.log(rng.dirichlet(np.ones(4), 3))


def both(criterion: Any, *arguments: Any) -> tuple[float, Any]:
    return criterion.forward(*arguments), criterion.backward(*arguments)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.float32, np.float64])
def test_classes_of_any_type(dtype: Any) -> None:
    target = np.array([4, 1, 2])
    for criterion in (nn.ClassNLLCriterion(), nn.CrossEntropyCriterion(), nn.MultiMarginCriterion(),
                      nn.ClassSimplexCriterion(4)):  # fmt: skip
        loss, gradient = both(criterion, LOGS, target)
        other_loss, other_gradient = both(criterion, LOGS, target.astype(dtype))
        assert other_loss == loss
        np.testing.assert_array_equal(other_gradient, gradient)


@pytest.mark.parametrize("target", [0, 5, -1])
def test_classes_that_are_not_there(target: int) -> None:
    for criterion in (nn.ClassNLLCriterion(), nn.MultiMarginCriterion(),
                      nn.ClassSimplexCriterion(4)):  # fmt: skip
        with pytest.raises(pythnn.THNNArgumentError):
            criterion.forward(LOGS[0], target)


def test_ignored_samples_count_for_nothing() -> None:
    criterion = nn.ClassNLLCriterion(None, True, 3)
    loss, gradient = both(criterion, LOGS, np.array([3, 1, 3]))
    assert loss == pytest.approx(-LOGS[1, 0])
    assert gradient.tolist() == [[0] * 4, [-1, 0, 0, 0], [0] * 4]
    _, gradient = both(criterion, LOGS, np.array([3, 3, 3]))
    assert not gradient.any()


def test_weights_are_those_of_a_sample() -> None:
    weights, given = np.array([0.5, 2.0]), rng.uniform(0.1, 0.9, (3, 2))
    target = rng.integers(0, 2, (3, 2)).astype(float)
    plain = nn.BCECriterion(None, False)
    single = [plain.forward(given[:, i], target[:, i]) for i in range(2)]
    weighted = nn.BCECriterion(weights, False)
    assert weighted.forward(given, target) == pytest.approx(weights @ single)
    assert len(weighted) == 2
    assert len(plain) == 0
    assert plain  # although its length is 0
    for cls in (nn.BCECriterion, nn.ClassNLLCriterion, nn.MultiLabelSoftMarginCriterion):
        with pytest.raises(pythnn.THNNArgumentError, match="one dimension"):
            cls(np.ones((2, 2)))


def test_weights_of_float32_stay() -> None:
    criterion = nn.ClassNLLCriterion(np.ones(4, np.float32))
    assert criterion.forward(LOGS.astype(np.float32), [1, 2, 3]) == pytest.approx(
        nn.ClassNLLCriterion().forward(LOGS, [1, 2, 3]), rel=1e-6
    )


def test_cross_entropy_takes_up_size_average() -> None:
    criterion = nn.CrossEntropyCriterion()
    mean = criterion.forward(LOGS, [1, 2, 3])
    criterion.sizeAverage = False
    assert criterion.forward(LOGS, [1, 2, 3]) == pytest.approx(3 * mean)


def test_large_numbers_stay_finite() -> None:
    given = np.array([[800.0, -800.0]])
    for target in (np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])):
        loss, gradient = both(nn.MultiLabelSoftMarginCriterion(), given, target)
        assert loss == pytest.approx(800 * target[0, 1])
        assert np.isfinite(gradient).all()
    loss, gradients = both(nn.DistanceRatioCriterion(), list(given.T))
    assert loss == pytest.approx(1600)
    assert gradients[0] == pytest.approx([1])


def test_cosine_of_zeros_is_0() -> None:
    loss, gradients = both(nn.CosineEmbeddingCriterion(), [np.zeros(3), np.ones(3)], 1)
    assert loss == 1
    assert np.isfinite(gradients).all()


def test_pairs_that_are_far_enough_apart_cost_nothing() -> None:
    far = [np.array([3.0, 0.0]), np.array([0.0, 3.0])]
    for criterion in (nn.L1HingeEmbeddingCriterion(5), nn.CosineEmbeddingCriterion(0.5)):
        loss, gradients = both(criterion, far, -1)
        assert loss == 0
        assert not np.any(gradients)


def test_sums_of_criterions_survive_a_file() -> None:
    inner = nn.ParallelCriterion(True).add(nn.AbsCriterion(), 0.5).add(nn.MSECriterion())
    criterion = nn.MultiCriterion().add(inner, 2).add(inner)
    file = io.BytesIO()
    pythnn.save(file, criterion)
    assert b"DoubleStorage" in file.getvalue()
    file.seek(0)
    loaded = pythnn.load(file)
    given = [rng.normal(size=3), rng.normal(size=3)]
    assert loaded.forward(given, given[0]) == criterion.forward(given, given[0])
    loaded.add(nn.ParallelCriterion(True).add(nn.AbsCriterion()))
    assert list(loaded.weights) == [2, 1, 1]


def test_sizes_that_do_not_fit() -> None:
    wrong = [np.ones(4), np.ones(3)]
    for criterion in (nn.L1HingeEmbeddingCriterion(), nn.CosineEmbeddingCriterion(),
                      nn.MarginRankingCriterion(), nn.DistanceRatioCriterion()):  # fmt: skip
        with pytest.raises(pythnn.THNNArgumentError, match="4 elements, found 3"):
            criterion.forward(wrong, 1)
    with pytest.raises(pythnn.THNNArgumentError, match="4 elements, found 3"):
        nn.HingeEmbeddingCriterion().forward(*wrong)
