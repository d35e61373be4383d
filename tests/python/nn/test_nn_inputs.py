"""Which inputs layers take for batches, and which they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.bounds import assert_layers_agree

import pythnn
from pythnn import nn

X = np.arange(24.0).reshape(4, 6)

BATCHES = {
    "View, one sample": (lambda: nn.View(6), X[:1], (6,)),
    "View, a batch of one": (lambda: nn.View(6).setNumInputDims(1), X[:1], (1, 6)),
    "View, -1 in a sample": (lambda: nn.View(2, -1).setNumInputDims(1), X, (4, 2, 3)),
    "Reshape, not a batch": (lambda: nn.Reshape(1, 6, False), X[:1], (1, 6)),
    "Reshape, a batch": (lambda: nn.Reshape(6, True), X[:1], (1, 6)),
    "Unsqueeze": (lambda: nn.Unsqueeze(1, 1), X, (4, 1, 6)),
    "Transpose": (lambda: nn.Transpose([1, 2]).setNumInputDims(2), X[None], (1, 6, 4)),
    "Sum, last dimension": (lambda: nn.Sum(-1, 1), X, (4,)),
    "Sum, batch": (lambda: nn.Sum(1, 1), X, (4,)),
    "Sum, not squeezed": (lambda: nn.Sum(1, None, False, False), X, (1, 6)),
    "Padding": (lambda: nn.Padding(1, 2, 1), X, (4, 8)),
    "CAdd": (lambda: nn.CAdd(1, 2, 3), X, (4, 6)),
}

REFUSED = {
    "Add": (lambda: nn.Add(3), X),
    "Bilinear": (lambda: nn.Bilinear(6, 6, 2), [X, X[:3]]),
    "CMul": (lambda: nn.CMul(4, 5), X),
    "CosineDistance": (lambda: nn.CosineDistance(), [X, X[:3]]),
    "Cosine": (lambda: nn.Cosine(4, 2), X),
    "DotProduct": (lambda: nn.DotProduct(), [X, X[:, :1]]),
    "Euclidean": (lambda: nn.Euclidean(3, 2), X),
    "Index": (lambda: nn.Index(1), [X, np.array([0])]),
    "MM": (lambda: nn.MM(), [X[None], np.stack([X, X])]),
    "MM, inner sizes": (lambda: nn.MM(), [X, X]),
    "MV": (lambda: nn.MV(True), [X, X[0]]),
    "MaskedSelect": (lambda: nn.MaskedSelect(), [X, np.ones(3, np.uint8)]),
    "Narrow": (lambda: nn.Narrow(1, 2, 4), X),
    "OneHot": (lambda: nn.OneHot(3), np.array([4])),
    "PairwiseDistance": (lambda: nn.PairwiseDistance(), [X[0], X[0, :1]]),
    "Replicate": (lambda: nn.Replicate(2, 4), X),
    "Select": (lambda: nn.Select(1, 1), X[0]),
    "Squeeze": (lambda: nn.Squeeze(3), X),
    "Sum": (lambda: nn.Sum(3), X),
    "Transpose": (lambda: nn.Transpose([1, 3]), X),
    "Unsqueeze": (lambda: nn.Unsqueeze(4), X),
    "View": (lambda: nn.View(6), X.T),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches(name: str) -> None:
    make, given, shape = BATCHES[name]
    module = make()
    assert module.forward(given).shape == shape
    assert module.backward(given, np.ones(shape)).shape == given.shape


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    make, given = REFUSED[name]
    with pytest.raises(pythnn.THNNArgumentError):
        make().forward(given)


def test_gradients_of_views_may_be_in_pieces() -> None:
    for make in (lambda: nn.View(2, 3), lambda: nn.Reshape(2, 3), lambda: nn.Unsqueeze(2)):
        module: Any = make()
        output = module.forward(X)
        gradient = np.asfortranarray(output)
        np.testing.assert_array_equal(module.backward(X, gradient), X)


def test_repeated_indices_add_up() -> None:
    module = nn.Index(2)
    module.forward([X, np.array([1, 3, 1])])
    gradient, _ = module.backward([X, np.array([1, 3, 1])], np.ones((4, 3)))
    assert gradient[0].tolist() == [2, 0, 1, 0, 0, 0]


def test_updates_in_place_use_the_parameters_before() -> None:
    pythnn.manual_seed(1)
    module = nn.WeightedEuclidean(6, 3)
    other = module.clone()
    gradient = np.ones((4, 3))
    for one in (module, other):
        one.zeroGradParameters()
        one.forward(X)
        one.updateGradInput(X, gradient)
    module.accUpdateGradParameters(X, gradient, 0.1)
    other.accGradParameters(X, gradient)
    other.updateParameters(0.1)
    assert_layers_agree(module.weight, other.weight)
    assert_layers_agree(module.diagCov, other.diagCov)
