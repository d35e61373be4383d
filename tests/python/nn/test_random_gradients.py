"""Gradients of random models, in evaluation and in training, against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.differences import check_gradients
from support.random_trees import Trees

from pythnn import nn


@pytest.mark.parametrize("part", range(4))
def test_random_gradients(part: int) -> None:
    for seed in range(part, 120, 4):
        check_gradients(seed)


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
