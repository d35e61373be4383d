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


IMAGES = real(2, 4)
SENTENCES = np.array([[1, 2], [5, 0], [3, 0]])


def talker(layers: int = 1) -> Any:
    pythnn.manual_seed(7)
    return nn.NeuraltalkLanguageModel(5, 4, 3, layers, seq_length=3)


def steps_of(model: Any, image: Any, words: list[int]) -> Any:
    """The log-probabilities after the image, the start and each word, for one layer."""
    linears = {one.weight.shape: one for one in model.core.findModules("nn.Linear")[0]}
    into, back, out = (linears[shape] for shape in ((12, 4), (12, 3), (6, 3)))
    c = h = np.zeros(3)
    found = []
    for x in (image, *(model.lookup_table.weight[word - 1] for word in (6, *words))):
        sums = into.weight @ x + into.bias + back.weight @ h + back.bias
        write, keep, show = 1 / (1 + np.exp(-sums[:9].reshape(3, 3)))
        c = keep * c + write * np.tanh(sums[9:])
        h = show * np.tanh(c)
        scores = out.weight @ h + out.bias
        found.append(scores - np.log(np.exp(scores).sum()))
    return np.array(found)


def test_a_talker_gives_the_words_after_each_beginning_of_a_sentence() -> None:
    model = talker()
    output = model.forward([IMAGES, SENTENCES])
    assert_layers_agree(output[:, 0], steps_of(model, IMAGES[0], [1, 5, 3]))
    # A sentence that has ended goes on with word 1, which no target asks for.
    assert_layers_agree(output[:, 1], steps_of(model, IMAGES[1], [2, 1, 1]))
    short = model.forward([IMAGES, np.array([[1, 2], [0, 0], [0, 0]])])
    assert_layers_agree(short[:3], output[:3])
    assert not short[3:].any()


def test_the_loss_of_sentences_counts_their_words_and_ends() -> None:
    logarithms = np.array(talker().forward([IMAGES, SENTENCES]))
    places = [(1, 0, 1), (2, 0, 5), (3, 0, 3), (4, 0, 6), (1, 1, 2), (2, 1, 6)]
    wanted = -np.mean([logarithms[t, b, word - 1] for t, b, word in places])
    criterion = nn.LanguageModelCriterion()
    assert_near(criterion.forward(logarithms, SENTENCES), wanted, FUNCTION)
    gradient = criterion.backward(logarithms, SENTENCES)
    assert np.count_nonzero(gradient) == len(places)
    assert all(gradient[t, b, word - 1] == -1 / len(places) for t, b, word in places)


@pytest.mark.parametrize("layers", [1, 2])
def test_gradients_of_a_talker_agree_with_differences(layers: int) -> None:
    model, criterion = talker(layers), nn.LanguageModelCriterion()
    parameters, gradients = model.getParameters()

    def loss() -> Any:
        return criterion.forward(model.forward([IMAGES, SENTENCES]), SENTENCES)

    output = model.forward([IMAGES, SENTENCES])
    criterion.forward(output, SENTENCES)
    slopes = model.backward([IMAGES, SENTENCES], criterion.backward(output, SENTENCES))
    checked = [(parameters, gradients), (IMAGES, np.array(slopes[0]))]
    for values, found in checked:
        for place in RNG.permutation(values.size)[:30]:
            kept, sides = values.flat[place], []
            for step in (1e-5, -1e-5):
                values.flat[place] = kept + step
                sides.append(loss())
            values.flat[place] = kept
            assert abs((sides[0] - sides[1]) / 2e-5 - found.flat[place]) < 1e-8


def test_a_talker_samples_the_likeliest_words_and_beams_the_likeliest_sentence() -> None:
    model = talker()
    words, logarithms = model.sample(IMAGES)
    for place, image in enumerate(IMAGES):
        sentence = list(words[:, place])
        scores = steps_of(model, image, sentence)[1:4]
        assert sentence == list(scores.argmax(1) + 1)
        assert_layers_agree(logarithms[:, place], scores.max(1))
    # With as many beams as beginnings, the best of all sentences is found.
    beams, logarithms = model.sample(IMAGES, beam_size=36)
    for place, image in enumerate(IMAGES):
        best, wanted = -np.inf, None
        for sentence in np.ndindex(6, 6, 6):
            chosen = [word + 1 for word in sentence]
            chosen = chosen[: chosen.index(6) + 1] if 6 in chosen else chosen
            scores = steps_of(model, image, chosen)[1:]
            total = sum(scores[t, word - 1] for t, word in enumerate(chosen))
            if total > best:
                best, wanted = total, chosen
        assert list(beams[: len(wanted), place]) == wanted
        assert_near(logarithms[:, place].sum(), best, FUNCTION)
    drawn = {tuple(model.sample(IMAGES, sample_max=False)[0].ravel()) for _ in range(5)}
    assert len(drawn) > 1
    cold, _ = model.sample(IMAGES, sample_max=False, temperature=1e-4)
    assert cold.tolist() == words.tolist()


def test_files_tell_language_models_apart_by_their_fields(tmp_path: Path) -> None:
    model = talker(2)
    wanted = np.array(model.forward([IMAGES, SENTENCES]))
    for state in ("used", "cleared"):
        if state == "cleared":
            model.clearState()
        pythnn.save(tmp_path / "lm.t7", model)
        again = pythnn.load(tmp_path / "lm.t7")
        assert isinstance(again, nn.NeuraltalkLanguageModel)
        parameters, _ = again.getParameters()
        parameters *= 1  # moved to one storage, which the copies for the steps share
        assert_layers_agree(again.forward([IMAGES, SENTENCES]), wanted)
        parameters[...] = 0
        assert np.ptp(again.forward([IMAGES, SENTENCES])) == 0
    pythnn.save(tmp_path / "other.t7", nn.LanguageModel("ab", "lstm", 2, 2, 1))
    assert isinstance(pythnn.load(tmp_path / "other.t7"), nn.LanguageModel)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (IMAGES, "a table of images"),
        ([IMAGES[:, :3], SENTENCES], "batch x 4"),
        ([IMAGES, SENTENCES[:, :1]], "batch x 4"),
        ([IMAGES, SENTENCES + 3], "to 5, found 3 to 8"),
        ([IMAGES, np.vstack([SENTENCES, SENTENCES])], "at most 3 words"),
    ],
)
def test_a_talker_names_what_does_not_fit(given: Any, message: str) -> None:
    with pytest.raises(THNNArgumentError, match=message):
        talker().forward(given)
