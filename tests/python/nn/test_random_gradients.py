"""Gradients of random models, in evaluation and in training, against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.differences import NOT_SMOOTH, check_gradients
from support.random_trees import Trees

from pythnn import nn


@pytest.mark.parametrize("part", range(4))
def test_random_gradients(part: int) -> None:
    notes = [note for seed in range(part, 120, 4) for note in check_gradients(seed)]
    assert NOT_SMOOTH not in notes


@pytest.mark.parametrize("seed", [213, 545])
def test_where_a_value_is_not_smooth_there_is_no_gradient(seed: int) -> None:
    """A threshold of 0.3 gets x + 0.3 - x, which lies on either side by a rounding; ReLU gets what
    normalisation makes of ones."""
    assert check_gradients(seed) == [NOT_SMOOTH]


def test_a_gradient_that_is_a_little_wrong_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def updateGradInput(self: nn.Module, x: Any, gradient: Any) -> Any:
        found = right(self, x, gradient)
        np.asarray(found)[...] *= 1.001
        return found

    right = nn.Tanh.updateGradInput
    monkeypatch.setattr(nn.Tanh, "updateGradInput", updateGradInput)
    models = (Trees(seed, inplace=False).model().module for seed in range(60))
    seed = next(seed for seed, model in enumerate(models) if "nn.Tanh" in repr(model))
    with pytest.raises(AssertionError, match="differences are off by"):
        check_gradients(seed)
