"""Programs compute what models compute."""

from __future__ import annotations

import copy
import json
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.nn_recorded import Replay, classes, read
from support.programs import check_same, check_tree, forward, image, run, shuffled

import pythnn
from pythnn import nn
from pythnn.program import instance

NNGRAPH = Path(__file__).parents[2] / "data" / "nngraph"
GRAPHS = json.loads((NNGRAPH / "index.json").read_text())

# ---- Every class, and random models


@pytest.mark.parametrize("fuse", [False, True], ids=["plain", "fused"])
@pytest.mark.parametrize("stem", classes())
@pytest.mark.filterwarnings("ignore:.*does not know")
def test_every_class(stem: str, fuse: bool) -> None:
    for case in read(stem):
        if case["kind"] != "module":
            continue
        replay = Replay(case["name"], stem=stem)
        inputs = [replay.value(step["input"]) for step in case["steps"] if "input" in step]
        model = replay.construct()
        model.evaluate()
        for x in inputs[:1]:
            try:
                wanted = forward(model, x)
            except pythnn.THNNError as error:
                with pytest.raises(type(error)):
                    pythnn.compile(model, x, fuse=fuse)
                continue
            program = pythnn.compile(model, x, fuse=fuse)
            if "Fractional" in stem and model.newRandomPool:
                continue  # draws the places of windows once, when it is compiled
            check_same(run(program, x), wanted, fuse)
            other = shuffled(x, np.random.default_rng(1))
            with suppress(pythnn.THNNArgumentError):  # numbers that should be indices
                check_same(run(program, other), forward(model, other), fuse)


@pytest.mark.parametrize("fuse", [False, True], ids=["plain", "fused"])
@pytest.mark.parametrize("part", range(8))
def test_random_models(part: int, fuse: bool) -> None:
    for seed in range(20 * part, 20 * part + 20):
        check_tree(seed, fuse)


@pytest.mark.parametrize("entry", GRAPHS, ids=lambda entry: entry["name"])
def test_graphs(entry: Any) -> None:
    model = pythnn.load(NNGRAPH / entry["binary"])
    model.evaluate()
    with np.load(NNGRAPH / entry["npz"]) as arrays:
        x = _recorded(arrays, entry["input"])
    check_same(pythnn.compile(model, x, fuse=False)(x), forward(model, x), False)
    check_same(pythnn.compile(model, x)(x), forward(model, x), True)


def _recorded(arrays: Any, names: Any) -> Any:
    return [_recorded(arrays, n) for n in names] if isinstance(names, list) else arrays[names]


# ---- What a program is


def small(bias: bool = True) -> nn.Sequential:
    convolution = nn.SpatialConvolution(3, 4, 3, 3, 1, 1, 1, 1)
    normalization = nn.SpatialBatchNormalization(4)
    normalization.running_mean = np.arange(4) / 4
    normalization.running_var = np.arange(1, 5)
    return nn.Sequential(
        convolution if bias else convolution.noBias(),
        normalization,
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.SpatialMaxPooling(2, 2, 2, 2),
        nn.View(4 * 4 * 4),
        nn.Linear(64, 5),
        nn.LogSoftMax(),
    )


def functions(program: Any) -> list[str]:
    return [step.function.removesuffix("_updateOutput") for step in program.steps]


@pytest.mark.parametrize("bias", [False, True])
def test_normalisation_dropout_and_views_are_no_steps(bias: bool) -> None:
    model = small(bias)
    program = pythnn.compile(model, image())
    kept = ["SpatialConvolutionJoined", "SpatialGreatest", "Linear", "LogSoftMax"]
    assert functions(program) == kept
    place = "1:SpatialConvolution + 2:SpatialBatchNormalization + 3:ReLU"
    assert program.steps[0].place == place
    model.evaluate()
    check_same(program(image()), forward(model, image()), True)


def test_indices_are_found_for_unpooling_only() -> None:
    pooling = nn.SpatialMaxPooling(2, 2, 2, 2)
    other = nn.SpatialDilatedMaxPooling(2, 2, 2, 2, 0, 0, 2, 1)
    model = nn.Sequential(pooling, nn.SpatialMaxUnpooling(pooling), other)
    model.evaluate()
    program = pythnn.compile(model, image())
    assert functions(program) == ["SpatialMaxPooling", "SpatialMaxUnpooling", "SpatialGreatest"]
    check_same(program(image()), forward(model, image()), False)


def test_two_normalisations_join_one_layer() -> None:
    model = nn.Sequential(
        nn.Linear(3, 2),
        nn.BatchNormalization(2),
        nn.BatchNormalization(2),
        nn.BatchNormalization(2),
    )
    model.evaluate()
    x = image(4, 3)
    program = pythnn.compile(model, x)
    assert functions(program) == ["Linear"]
    check_same(program(x), forward(model, x), True)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_numbers_join_the_layer_before_them(bias: bool, inplace: bool) -> None:
    convolution = nn.SpatialConvolution(3, 4, 3, 3)
    layers = [nn.AddConstant(0.5, inplace), nn.MulConstant(-2, inplace), nn.MulConstant(3, inplace)]
    model = nn.Sequential(
        convolution if bias else convolution.noBias(), nn.SpatialBatchNormalization(4), *layers
    )
    model.evaluate()
    program = pythnn.compile(model, image())
    (step,) = program.steps
    assert step.place.endswith(" + 3:AddConstant + 4:MulConstant + 5:MulConstant")
    check_same(program(image()), forward(model, image()), True)
    split = nn.Sequential(
        nn.SpatialConvolution(3, 4, 3, 3),
        nn.ConcatTable(nn.MulConstant(2), nn.AddConstant(1)),
        nn.CAddTable(),
    )
    check_same(pythnn.compile(split, image())(image()), forward(split, image()), True)


def test_what_others_read_is_not_joined() -> None:
    model = nn.Sequential(
        nn.Linear(3, 3), nn.ConcatTable(nn.BatchNormalization(3), nn.Identity()), nn.CSubTable()
    )
    model.evaluate()
    x = image(4, 3)
    check_same(pythnn.compile(model, x)(x), forward(model, x), True)


def test_results_of_layers_that_are_outputs_stay() -> None:
    model = nn.Sequential(
        nn.Linear(3, 3), nn.ConcatTable(nn.Identity(), nn.BatchNormalization(3), nn.ReLU(True))
    )
    model.evaluate()
    x = image(4, 3)
    check_same(pythnn.compile(model, x)(x), forward(model, x), True)


def test_sums_and_slices_make_no_copies() -> None:
    branch = nn.Sequential(nn.SpatialConvolution(4, 4, 3, 3, 1, 1, 1, 1), nn.ReLU(True))
    block = nn.Sequential(nn.ConcatTable(branch, nn.Identity()), nn.CAddTable())
    both = nn.Concat(2, branch.clone(), block.clone())
    model = nn.Sequential(nn.SpatialConvolution(3, 4, 1, 1), block, both)
    program = pythnn.compile(model, image(1, 3, 8, 8))
    assert "Tensor.copy" not in functions(program)


def convolved(inputs: int = 4) -> Any:
    return nn.SpatialConvolution(inputs, 4, 3, 3, 1, 1, 1, 1)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    "shortcut", [nn.Identity(), convolved(), nn.Tanh(), nn.ReLU(True)], ids=str
)
def test_sums_and_relu_join_convolutions(shortcut: Any, first: bool, inplace: bool) -> None:
    branch = nn.Sequential(convolved(), nn.ReLU(inplace), convolved())
    entries = [branch, shortcut.clone()] if first else [shortcut.clone(), branch]
    model = nn.Sequential(
        convolved(3), nn.ConcatTable(*entries), nn.CAddTable(inplace), nn.ReLU(inplace)
    )
    program = pythnn.compile(model, image())
    check_same(program(image()), forward(model, image()), True)
    if first or not inplace:
        assert {"Tensor.copy", "Tensor.cadd"}.isdisjoint(functions(program))
        assert functions(program)[-1] == "SpatialConvolutionJoined"
        assert program.steps[-1].place.endswith(" + 3:CAddTable + 4:ReLU")


@pytest.mark.parametrize(
    "activation",
    [
        nn.ReLU(), nn.ReLU(True), nn.ReLU6(), nn.Threshold(0.25, -1), nn.LeakyReLU(0.2),
        nn.LeakyReLU(0.2, True), nn.ELU(0.5), nn.HardTanh(-0.25, 0.5), nn.Tanh(), nn.Sigmoid(),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(
    "layer",
    [
        nn.SpatialConvolution(3, 4, 3, 3),
        nn.SpatialDilatedConvolution(3, 4, 3, 3, 1, 1, 2, 2, 2, 2),
        nn.SpatialFullConvolution(3, 4, 4, 4, 2, 2, 1, 1),
    ],
    ids=str,
)
def test_activations_are_done_by_the_convolution(layer: Any, activation: Any) -> None:
    model = nn.Sequential(layer, nn.SpatialBatchNormalization(4), activation)
    model.evaluate()
    program = pythnn.compile(model, image())
    assert len(program.steps) == 1
    check_same(program(image()), forward(model, image()), True)


def test_only_what_ends_there_is_joined() -> None:
    """Convolutions that others read, sums of more than one tensor, second activations."""
    relu = nn.ReLU()
    shared = nn.Sequential(convolved(3), nn.ConcatTable(relu, nn.Identity()), nn.CSubTable())
    three = nn.Sequential(
        convolved(3), nn.ConcatTable(convolved(), nn.Identity(), nn.Tanh()), nn.CAddTable()
    )
    twice = nn.Sequential(
        convolved(3), nn.ConcatTable(nn.Identity(), nn.Identity()), nn.CAddTable()
    )
    change = nn.Sequential(
        convolved(3),
        nn.ConcatTable(nn.Sequential(nn.Tanh(), convolved()), nn.MulConstant(3, True)),
        nn.CAddTable(),
    )
    outputs = nn.Sequential(convolved(3), nn.ConcatTable(nn.Identity(), nn.ReLU()))
    other = nn.Sequential(convolved(3), nn.Threshold(0.5, 0), nn.Threshold(0, -1), nn.ReLU())
    for model in (shared, three, twice, change, outputs, other):
        program = pythnn.compile(model, image())
        for found, wanted in zip(program(image()), forward(model, image()), strict=True):
            check_same(found, wanted, True)


@pytest.mark.parametrize(
    ("layer", "joins"),
    [
        (nn.SpatialConvolution(3, 4, 3, 3), True),
        (nn.SpatialConvolution(3, 4, 3, 3, 2, 2, 1, 1), True),
        (nn.SpatialDilatedConvolution(3, 4, 3, 3, 1, 1, 0, 0, 2, 2), True),
        (nn.SpatialAveragePooling(4, 3), True),
        (nn.SpatialAveragePooling(2, 2), False),
        (nn.SpatialAveragePooling(4, 3, 2, 2).ceil(), False),
        (nn.SpatialAveragePooling(4, 3).setCountExcludePad(), False),
        (nn.SpatialMaxPooling(4, 4, 1, 1), False),
    ],
    ids=str,
)
def test_zeros_around_planes_become_padding(layer: Any, joins: bool) -> None:
    model = nn.Sequential(nn.SpatialZeroPadding(2, 2, 1, 1), layer)
    model.evaluate()
    program = pythnn.compile(model, -image())
    assert (len(program.steps) == 1) == joins
    assert not joins or program.steps[0].place.startswith("1:SpatialZeroPadding + 2:")
    check_same(program(-image()), forward(model, -image()), True)
    plain = pythnn.compile(model, -image(), fuse=False)
    check_same(plain(-image()), forward(model, -image()), False)


@pytest.mark.parametrize("sides", [(1, 2, 1, 1), (1, 1, 0, 1), (-1, 2, 1, 1), (2, 0, 0, 2)])
def test_other_borders_are_not_joined(sides: tuple[int, ...]) -> None:
    model = nn.Sequential(nn.SpatialZeroPadding(*sides), nn.SpatialConvolution(3, 4, 3, 3))
    program = pythnn.compile(model, image())
    assert len(program.steps) > 1
    check_same(program(image()), forward(model, image()), True)


def test_zeros_around_planes_that_others_read_stay() -> None:
    padding, convolution = nn.SpatialZeroPadding(1), nn.SpatialConvolution(3, 3, 3, 3, 1, 1, 1, 1)
    shared = nn.Sequential(padding, nn.ConcatTable(convolution, nn.Identity()), nn.CAddTable())
    check_same(pythnn.compile(shared, image())(image()), forward(shared, image()), True)
    changed = nn.Sequential(
        nn.MulConstant(1),
        nn.ConcatTable(nn.SpatialZeroPadding(1), nn.MulConstant(3, True)),
        nn.ParallelTable(convolution, nn.Identity()),
    )
    check_same(pythnn.compile(changed, image())(image()), forward(changed, image()), True)


def test_text_and_profile() -> None:
    program = pythnn.compile(small(), image())
    text = repr(program)
    assert (
        "1:SpatialConvolution + 2:SpatialBatchNormalization + 3:ReLU: SpatialConvolutionJoined"
        " -> 2x4x8x8" in text
    )
    rows = program.profile(image())
    assert [step for step, _ in rows] == program.steps
    assert all(seconds > 0 for _, seconds in rows)


# ---- Inputs and results


def test_results_belong_to_the_caller() -> None:
    program = pythnn.compile(small(), image())
    first = program(image())
    kept = first.copy()
    program(image(seed=1))
    np.testing.assert_array_equal(first, kept)
    first[...] = 0
    np.testing.assert_array_equal(program(image()), kept)


def wide(dtype: type = np.float32) -> nn.Module:
    """A model with a large result."""
    pythnn.manual_seed(3)
    return nn.Sequential(nn.Linear(40, 1500), nn.Sigmoid()).type(dtype)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has results of any size count as large."""
    monkeypatch.setattr(instance, "_LARGE", 0)


@pytest.mark.usefixtures("large")
def test_large_results_belong_to_the_caller() -> None:
    model, x = wide(), image(20, 40).astype(np.float32)
    program = pythnn.compile(model, x)
    first = program(x)
    check_same(first, forward(model, x), True)
    kept = first.copy()
    second = program(2 * x)
    np.testing.assert_array_equal(first, kept)
    first[...] = 0
    out = np.zeros((1500, 20), np.float32).T
    assert program(x, out=out) is out
    np.testing.assert_array_equal(out, kept)
    np.testing.assert_array_equal(program(x), kept)
    check_same(second, forward(model, 2 * x), True)


@pytest.mark.usefixtures("large")
def test_large_results_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    x = image(20, 40).astype(np.float32)
    program = pythnn.compile(wide(), x)
    kept = program(x)
    monkeypatch.delattr(instance, "taken_over")
    np.testing.assert_array_equal(program(x), kept)


@pytest.mark.usefixtures("large")
def test_large_results_are_not_held() -> None:
    x = image(20, 40).astype(np.float32)
    program = pythnn.compile(wide(), x)
    result = weakref.ref(program(x))
    assert result() is None


@pytest.mark.usefixtures("large")
def test_a_failing_step_leaves_large_results_alone() -> None:
    model = nn.Sequential(nn.LookupTable(9, 1500), nn.Sigmoid()).float()
    x = np.arange(1, 10)
    program = pythnn.compile(model, x)
    first = program(x)
    kept = first.copy()
    with pytest.raises(pythnn.THNNArgumentError):
        program(x + 1)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(program(x), kept)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("seed", range(60))
def test_results_of_any_size_are_written_where_they_stay(seed: int) -> None:
    check_tree(seed, fuse=True)


def test_results_go_where_they_should() -> None:
    program = pythnn.compile(small(), image())
    out = np.zeros((5, 2)).T
    assert program(image(), out=out) is out
    np.testing.assert_array_equal(out, program(image()))
    with pytest.raises(pythnn.THNNArgumentError, match=r"'out': expected .*\(2, 5\)"):
        program(image(), out=np.zeros((5, 2)))
    with pytest.raises(pythnn.THNNArgumentError, match=r"'out': expected .*float64"):
        program(image(), out=np.zeros((2, 5), np.float32))


def test_tables() -> None:
    model = nn.ParallelTable(nn.Linear(3, 2), nn.Identity())
    x = [image(4, 3), image(2, 2)]
    program = pythnn.compile(model, *x)
    check_same(program(*x), forward(model, x), True)
    check_same(program(x), forward(model, x), True)
    out = [np.empty((4, 2)), np.empty((2, 2))]
    assert program(*x, out=out) is out
    check_same(out, forward(model, x), True)
    with pytest.raises(pythnn.THNNArgumentError, match="'out'"):
        program(*x, out=out[:1])


def test_other_sizes_and_types_are_planned_when_they_come() -> None:
    model = small()
    model.evaluate()
    program = pythnn.compile(model, image())
    for batch in range(1, 12):
        x = image(batch, 3, 8, 8)
        check_same(program(x), forward(model, x), True)
    with pytest.raises(pythnn.THNNArgumentError):
        program(image().astype(np.float32))
    with pytest.raises(pythnn.THNNArgumentError):
        program(image(2, 4, 8, 8))
    check_same(program(image()), forward(model, image()), True)
    for wrong in [(image().astype(np.float32),), (image(), image()), ([image()] * 2,)]:
        with pytest.raises(pythnn.THNNArgumentError):
            program(*wrong)


def test_parameters_are_those_of_compiling_until_update() -> None:
    model = small()
    model.evaluate()
    program = pythnn.compile(model, image())
    before = program(image())
    for parameter in model.parameters()[0]:
        parameter[...] *= 1.5
    model.get(2).running_mean = np.ones(4)
    np.testing.assert_array_equal(program(image()), before)
    check_same(program(image(3, 3, 8, 8))[:2], program(image(3, 3, 8, 8)[:2]), True)
    program.update()
    check_same(program(image()), forward(model, image()), True)


def test_the_model_stays_as_it_is() -> None:
    model = small()
    fields = {name: copy.deepcopy(vars(one)) for name, one in enumerate(model.listModules())}
    pythnn.compile(model, image())(image())
    assert model.train is not False
    for name, one in enumerate(model.listModules()):
        assert vars(one).keys() == fields[name].keys()
    model.evaluate()


def test_threads_run_one_program_at_once() -> None:
    inputs = [image(seed=seed) for seed in range(4)]
    model = small()
    first = pythnn.compile(model, image())
    wanted = [first(x) for x in inputs]
    program = pythnn.compile(model, image())  # the first runs keep weights
    failures = []

    def work(x: Any, result: Any) -> None:
        for _ in range(50):
            if not np.array_equal(program(x), result):
                failures.append(x)

    threads = [
        threading.Thread(target=work, args=pair) for pair in zip(inputs, wanted, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_bits_do_not_depend_on_threads() -> None:
    program = pythnn.compile(small(), image())
    kept = pythnn.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 4):
            pythnn.set_num_threads(threads)
            results.append(program(image()))
    finally:
        pythnn.set_num_threads(kept)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


# ---- What is no list of kernels


class Doubled(nn.Module):
    """A class of a user's."""

    def updateOutput(self, input: Any) -> Any:  # noqa: N802
        self.output = 2 * input
        return self.output


class Positive(nn.Module):
    """A class whose result's size depends on numbers."""

    def updateOutput(self, input: Any) -> Any:  # noqa: N802
        self.output = input[input > 0]
        return self.output


def test_classes_of_users_are_called() -> None:
    model = nn.Sequential(nn.Linear(3, 2), Doubled(), nn.ReLU(True))
    x = image(4, 3)
    program = pythnn.compile(model, x)
    assert functions(program)[1] == "nn.Doubled.updateOutput"
    check_same(program(x), forward(model, x), True)


def test_sizes_that_depend_on_numbers() -> None:
    model = nn.Sequential(nn.Identity(), Positive())
    program = pythnn.compile(model, np.array([1.0, -1.0, 2.0]))
    for x in ([1.0, -1.0, 2.0], [1.0, -1.0, -2.0], [3.0, 1.0, 2.0]):
        check_same(program(np.array(x)), forward(model, np.array(x)), False)


def test_no_run_remembers_another() -> None:
    model = nn.Sequencer(nn.Recurrent(2, nn.Linear(3, 2), nn.Linear(2, 2), nn.Tanh(), 5))
    model.remember("both")
    model.evaluate()
    x = [image(1, 3), image(1, 3)]
    program = pythnn.compile(model, *x)
    wanted = forward(model, x)
    for _ in range(2):
        check_same(program(*x), wanted, False)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(pythnn.THNNArgumentError, match="'model': expected an nn.Module"):
        pythnn.compile(3, image())
    with pytest.raises(pythnn.THNNArgumentError, match="'examples'"):
        pythnn.compile(small())


def test_errors_of_layers_say_where_they_are() -> None:
    with pytest.raises(pythnn.THNNArgumentError) as caught:
        pythnn.compile(small(), image(2, 4, 8, 8))
    with pytest.raises(pythnn.THNNArgumentError) as wanted:
        small().forward(image(2, 4, 8, 8))
    assert str(caught.value) == str(wanted.value)
