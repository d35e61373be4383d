"""Trees of classes, and classes of projects around public models, against their definitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bounds import FUNCTION, assert_layers_agree, assert_near

import pythnn
from pythnn import THNNArgumentError, nn
from pythnn.t7 import TorchObject

RNG = np.random.default_rng(3)
TREE = {9: [1, 2, 8], 8: [3, 4], 2: [5, 6, 7]}
LEAVES = {1: [(9, 0)], 3: [(9, 2), (8, 0)], 4: [(9, 2), (8, 1)], 6: [(9, 1), (2, 1)]}


def real(*shape: int) -> Any:
    return RNG.standard_normal(shape)


def read(name: str, fields: dict[str, Any], tmp_path: Path) -> Any:
    """An object of a file that another program wrote."""
    pythnn.save(tmp_path / "object.t7", TorchObject(name, fields))
    return pythnn.load(tmp_path / "object.t7")


def test_a_tree_of_classes() -> None:
    tree = nn.SoftMaxTree(4, TREE, 9)
    x, leaves = real(4, 4), list(LEAVES)
    wanted = []
    for row, leaf in zip(x, leaves, strict=True):
        total = 0.0
        for parent, child in LEAVES[leaf]:
            (weight, bias), _ = tree.getNodeParameters(parent)
            sums = weight @ row + bias
            total += sums[child] - np.log(np.exp(sums).sum())
        wanted.append(total)
    assert_layers_agree(tree.forward([x, np.array(leaves)]), np.array(wanted))
    alone = tree.forward([x[1], np.array([leaves[1]])])
    assert_layers_agree(alone, np.array(wanted[1:2]))


def test_probabilities_of_all_leaves_of_a_tree_sum_to_one() -> None:
    tree, row = nn.SoftMaxTree(4, TREE, 9), real(4)
    leaves = np.array([1, 3, 4, 5, 6, 7])
    logarithms = tree.forward([np.tile(row, (6, 1)), leaves])
    assert_layers_agree(np.exp(logarithms).sum(), np.ones(()))


def test_a_tree_trains_without_gradients_of_its_own() -> None:
    tree = nn.SoftMaxTree(4, TREE, 9, True)
    criterion, given = nn.TreeNLLCriterion(), [real(4, 4), np.array(list(LEAVES))]
    assert tree.field("gradWeight") is None
    losses = []
    for _ in range(20):
        output = tree.forward(given)
        losses.append(criterion.forward(output, None))
        assert losses[-1] == pytest.approx(-output.mean(), rel=1e-14)
        tree.backwardUpdate(given, criterion.backward(tree.output, None), 1.0)
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize(
    "hierarchy", [{}, {1: [2, 3]}, {9: [1, 1]}, {9: [1, 2], 5: [3]}, {9: [0, 1]}, {9: [1, 9]}]
)
def test_what_is_no_tree(hierarchy: Any) -> None:
    with pytest.raises(THNNArgumentError, match="hierarchy"):
        nn.SoftMaxTree(4, hierarchy, 9)


@pytest.mark.parametrize("leaves", [[1], [1, 2, 10], [1, 2, 0], [1, 2, 9]])
def test_what_are_no_leaves(leaves: list[int]) -> None:
    with pytest.raises(THNNArgumentError, match="3 nodes of the tree"):
        nn.SoftMaxTree(4, TREE, 9).forward([real(3, 4), np.array(leaves)])


def test_leaky_rectifier_of_waifu2x(tmp_path: Path) -> None:
    layer = read("w2nn.LeakyReLU", {"negative_scale": 0.1}, tmp_path)
    assert type(layer) is nn.w2nn.LeakyReLU
    assert layer.forward(np.array([-2.0, 0, 3])).tolist() == [-0.2, 0, 3]
    assert layer.backward(np.array([-2.0, 0, 3]), np.ones(3)).tolist() == [0.1, 0.1, 1]


def test_values_are_clipped_in_place(tmp_path: Path) -> None:
    layer, x = read("w2nn.InplaceClip01", {}, tmp_path), np.array([-1.0, 0.25, 2])
    assert layer.forward(x).tolist() == [0, 0.25, 1]
    assert x.tolist() == [0, 0.25, 1]
    assert layer.backward(x, np.array([1.0, 2, 3])).tolist() == [1, 2, 3]


def test_planes_are_scaled() -> None:
    layer, images, factors = nn.w2nn.ScaleTable(), real(2, 3, 2, 2), real(2, 3, 1, 1)
    np.testing.assert_array_equal(layer.forward([images, factors]), images * factors)
    with pytest.raises(THNNArgumentError, match="a table of"):
        layer.forward([images, factors[:1]])


def test_signs_pass_gradients_between_minus_one_and_one() -> None:
    x = np.array([-1.0, -0.5, 0, 0.5, 1, 2])
    layer = nn.BinActiveZ()
    assert layer.forward(x).tolist() == [-1, -1, 0, 1, 1, 1]
    assert layer.backward(x, np.full(6, 3.0)).tolist() == [0, 3, 3, 3, 0, 0]


def test_rows_are_repeated() -> None:
    found = nn.FeatExpander(2).forward(np.array([[1.0, 2], [3, 4]]))
    assert found.tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]


def test_samples_have_the_means_and_variances_that_are_given() -> None:
    pythnn.manual_seed(1)
    layer, count = nn.Sampler(), 4000
    found = layer.forward([np.full(count, 2.0), np.full(count, np.log(9.0))])
    error = 5 * 3 / np.sqrt(count)  # five standard errors of the mean
    assert abs(found.mean() - 2) < error
    assert abs(found.std() - 3) < error
    assert_near(found, 2 + 3 * layer.eps, 2 * FUNCTION, 2 + 3 * abs(layer.eps))


def test_a_convolution_that_makes_larger_images(tmp_path: Path) -> None:
    layer = nn.SpatialConvolutionUpsample(2, 3, 3, 5)
    plain = nn.SpatialConvolution(2, 12, 3, 5, 1, 1, 1, 2)
    plain.weight, plain.bias = layer.weight, layer.bias
    for x in (real(2, 4, 3), real(2, 2, 4, 3)):
        wanted = plain.forward(x).reshape(*x.shape[:-3], 3, 8, 6)
        np.testing.assert_array_equal(layer.forward(x), wanted)
    pythnn.save(tmp_path / "layer.t7", layer)
    again = pythnn.load(tmp_path / "layer.t7")
    np.testing.assert_array_equal(again.forward(x), wanted)
    with pytest.raises(THNNArgumentError, match="odd sides"):
        nn.SpatialConvolutionUpsample(2, 3, 2, 3)


def test_triplets() -> None:
    criterion = nn.TripletEmbeddingCriterion(0.5)
    anchor, like, unlike = np.array([[0.0, 0], [1, 1]]), np.array([[1.0, 0], [1, 1]]), real(2, 2)
    unlike[...] = [[0, 1], [3, 1]]
    assert criterion.forward([anchor, like, unlike], None) == pytest.approx(0.25)
    gradients = criterion.backward([anchor, like, unlike], None)
    assert [one[1].any() for one in gradients] == [False] * 3  # which is far enough already


def test_the_tables_of_a_tree_stay_whole_numbers() -> None:
    tree = nn.SoftMaxTree(4, TREE, 9).float()
    names = ("childIds", "childParent", "parentChildren", "parentIds")
    assert {tree.field(name).dtype for name in names} == {np.dtype(np.int32)}
    assert {children.dtype for children in tree.hierarchy.values()} == {np.dtype(np.int32)}
    assert tree.weight.dtype == np.float32
