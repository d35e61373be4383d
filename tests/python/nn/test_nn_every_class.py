"""What every class of nn can do, whatever it computes: gradients, copies, files, kept results.

The objects and their inputs are those of the recorded cases.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.nn_recorded import Replay, arrays, classes, read

import pythnn
from pythnn import Tensor, nn
from pythnn._tensor import kind_of_dtype

# Classes that have nothing to compute with, and why.
NOT_COMPUTING = {
    "Container": "the base of containers: it has no forward",
    "Criterion": "the base of criterions: it has no forward",
    "Module": "the base of modules: its output stays empty",
    "StochasticGradient": "trains; test_trainer replays it",
}
# Classes whose backward is no derivative of their forward, and why.
NO_DERIVATIVE = {
    "Copy": "recorded with ints, which have none",
    "GradientReversal": "turns the gradient round",
    "Kmeans": "its output is an index; the gradient is that of the distance",
    "L1Cost": "the sign at 0 is a choice",
    "L1Penalty": "adds the gradient of a penalty that is not in the output",
    "OneHot": "its input is an index",
    "ZeroGrad": "stops the gradient",
}
# Classes whose gradients of parameters are lists of rows.
SPARSE_GRADIENTS = {"IndexLinear"}
STEP = 1e-6


def names(kind: str) -> list[str]:
    return [
        stem
        for stem in classes()
        if stem not in NOT_COMPUTING and any(case["kind"] == kind for case in read(stem))
    ]


def test_all_classes_are_there() -> None:
    assert len(classes()) == 190
    for name in classes():
        assert getattr(nn, name) is nn.registry[f"nn.{name}"]


# ---- Building


class Example:
    """An object, and a call to make with it, of the first recorded case that has gradients."""

    def __init__(self, stem: str, type: str | None = None) -> None:
        self.case = next(case for case in read(stem) if _is_usable(stem, case))
        self.replay = Replay(self.case["name"], type, stem)
        self.step = next(step for step in self.case["steps"] if _has_gradient(step))
        self.input = self.replay.value(self.step["input"])
        self.is_criterion = self.case["kind"] == "criterion"
        if self.is_criterion:
            self.target = self.replay.value(self.step["target"])
        else:
            self.gradient = self.replay.value(self.step["gradOutput"])

    def build(self) -> Any:
        made = self.replay.construct()
        if not self.is_criterion:
            if "mode" in self.step:
                getattr(made, self.step["mode"])()
            self.replay.call(made, self.step.get("calls", []))
            made.zeroGradParameters()
        return made

    def forward(self, made: Any, given: Any) -> Any:
        """The output for a copy of this input, with the same random numbers each time."""
        pythnn.manual_seed(self.step.get("forward_seed", 1))
        given = copy.deepcopy(given)
        return made.forward(given, self.target) if self.is_criterion else made.forward(given)

    def both(self, made: Any, given: Any) -> tuple[Any, Any]:
        """Output and gradient of the input."""
        pythnn.manual_seed(self.step.get("forward_seed", 1))
        given = copy.deepcopy(given)
        if self.is_criterion:
            return made.forward(given, self.target), made.backward(given, self.target)
        output = made.forward(given)
        kept = copy.deepcopy(output)
        return kept, made.backward(given, copy.deepcopy(self.gradient))

    def value(self, made: Any, given: Any) -> float:
        """The number whose gradient backward computes."""
        output = self.forward(made, given)
        if self.is_criterion:
            return float(output)
        return sum(
            float((one * other).sum())
            for (_, one), (_, other) in zip(
                _leaves(output), _leaves(copy.deepcopy(self.gradient)), strict=True
            )
        )


def _has_gradient(step: dict[str, Any]) -> bool:
    return step.get("gradInput") is not None and "raises" not in step


def _is_usable(stem: str, case: dict[str, Any]) -> bool:
    return (
        case["kind"] in ("module", "criterion")
        and case["type"] == "torch.DoubleTensor"
        and not case.get("quirk")
        and any(_has_gradient(step) and _is_finite(stem, step) for step in case["steps"])
    )


def _is_finite(stem: str, step: dict[str, Any]) -> bool:
    keys = [leaf.item() for _, leaf in _leaves(list(step.values())) if leaf.dtype.kind == "U"]
    return all(np.isfinite(arrays(stem)[key]).all() for key in keys if key in arrays(stem))


def _leaves(value: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Arrays and numbers of a table, and where they are."""
    if isinstance(value, (list, tuple)):
        for i, entry in enumerate(value):
            yield from _leaves(entry, (*path, i))
    elif value is not None:
        yield path, np.asarray(value)


def _at(value: Any, path: tuple[int, ...]) -> Any:
    for i in path:
        value = value[i]
    return value


# ---- Gradients


def check_derivative(
    value: Callable[[], float], place: np.ndarray, found: np.ndarray, where: str
) -> None:
    """Compares with differences of both sides; where the two differ there is a kink."""
    middle = value()
    flat, gradient = place.reshape(-1), found.reshape(-1)
    for i in range(flat.size):
        before = flat[i]
        flat[i] = before + STEP
        above = value()
        flat[i] = before - STEP
        below = value()
        flat[i] = before
        right, left = (above - middle) / STEP, (middle - below) / STEP
        scale = max(1.0, abs(right), abs(left))
        if abs(right - left) > 1e-3 * scale:
            continue
        wanted = (above - below) / (2 * STEP)
        assert abs(gradient[i] - wanted) <= 1e-5 * scale, (
            f"{where}[{i}]: {gradient[i]} instead of {wanted}"
        )


@pytest.mark.parametrize("stem", [n for n in names("module") if n not in NO_DERIVATIVE])
def test_gradients_of_modules(stem: str) -> None:
    example = Example(stem)
    made = example.build()
    _, gradients = example.both(made, example.input)
    gradients = copy.deepcopy(gradients)
    parameters, parameter_gradients = made.parameters() or ([], [])
    kept = [gradient.copy() for gradient in parameter_gradients]
    given = example.input
    for path, gradient in _leaves(gradients):
        place = _at(given, path)
        if isinstance(place, np.ndarray) and place.dtype == np.float64 and gradient.size:
            check_derivative(
                lambda: example.value(made, given), place, gradient, f"{stem}: input{path}"
            )
    if stem in SPARSE_GRADIENTS:
        return
    for i, (parameter, gradient) in enumerate(zip(parameters, kept, strict=True)):
        check_derivative(
            lambda: example.value(made, given), parameter, gradient, f"{stem}: parameter {i + 1}"
        )


@pytest.mark.parametrize("stem", [n for n in names("criterion") if n not in NO_DERIVATIVE])
def test_gradients_of_criterions(stem: str) -> None:
    example = Example(stem)
    made = example.build()
    _, gradients = example.both(made, example.input)
    gradients, given = copy.deepcopy(gradients), example.input
    for path, gradient in _leaves(gradients):
        check_derivative(
            lambda: example.value(made, given), _at(given, path), gradient, f"{stem}: input{path}"
        )


# ---- Copies and files


def save_and_load(made: Any) -> Any:
    file = io.BytesIO()
    pythnn.save(file, made)
    file.seek(0)
    return pythnn.load(file)


COPIES = {
    "clone": lambda made: made.clone(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
    "t7": save_and_load,
}


def same(first: Any, second: Any, tolerance: float = 0.0) -> None:
    ours, theirs = list(_leaves(first)), list(_leaves(second))
    assert [path for path, _ in ours] == [path for path, _ in theirs]
    for (path, one), (_, other) in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(
            one, other, rtol=tolerance, atol=tolerance, err_msg=f"{path}", equal_nan=True
        )


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("stem", [*names("module"), *names("criterion")])
def test_copies_do_the_same(stem: str, how: str) -> None:
    example = Example(stem)
    made = example.build()
    for used in (False, True):
        if used:
            example.both(made, example.input)
        if not example.is_criterion:
            made.zeroGradParameters()
        other = COPIES[how](made)
        assert type(other) is type(made)
        assert other._to_fields().keys() == made._to_fields().keys()
        if not example.is_criterion and made.parameters() is not None:
            check_apart(made, other)
        wanted, found = example.both(made, example.input), example.both(other, example.input)
        same(found, wanted)
        if not example.is_criterion:
            same(other.parameters() or [], made.parameters() or [])


def check_apart(made: Any, other: Any) -> None:
    """The copy has the same parameters in memory of its own."""
    mine, theirs = made.parameters(), other.parameters()
    same(theirs, mine)
    for one, another in zip(mine[0] + mine[1], theirs[0] + theirs[1], strict=True):
        assert not np.shares_memory(one, another)


@pytest.mark.parametrize("stem", names("module"))
def test_flat_parameters_keep_their_values(stem: str) -> None:
    example = Example(stem)
    made, other = example.build(), example.build()
    if made.parameters() is None or stem in SPARSE_GRADIENTS:
        return
    flat, flat_gradient = made.getParameters()
    same(made.parameters(), other.parameters())
    assert all(np.shares_memory(p, flat) for p in made.parameters()[0])
    same(example.both(made, example.input), example.both(other, example.input))
    same(made.parameters()[1], other.parameters()[1])
    assert all(np.shares_memory(p, flat_gradient) for p in made.parameters()[1])
    made.zeroGradParameters()
    assert not flat_gradient.any()


# ---- Types


# A DontCast keeps its module in double, whatever the rest is.
CAST = [stem for stem in (*names("module"), *names("criterion")) if stem != "DontCast"]


@pytest.mark.parametrize("stem", CAST)
def test_float_is_double_rounded(stem: str) -> None:
    example, single = Example(stem), Example(stem, "torch.FloatTensor")
    made = single.build()
    output, gradient = single.both(made, single.input)
    for _, leaf in [*_leaves(output), *_leaves(gradient)]:
        assert leaf.dtype != np.float64 or leaf.ndim == 0
    wanted = example.both(example.build(), example.input)
    same((output, gradient), wanted, 1e-4)
    back = made.double()
    assert back.type() == "torch.DoubleTensor"
    same(example.both(back, example.input)[0], wanted[0], 1e-4)


# ---- Results that somebody holds


def inputs_of(example: Example) -> list[Any]:
    """The input, and others of other sizes that the recording has."""
    steps = [step for step in example.case["steps"] if _has_gradient(step)]
    return [example.replay.value(step["input"]) for step in steps]


@pytest.mark.parametrize("stem", [*names("module"), *names("criterion")])
def test_results_that_are_held_never_change(stem: str) -> None:
    example = Example(stem)
    made = example.build()
    held, kept = [], []
    for _ in range(2):
        for step in filter(_has_gradient, example.case["steps"]):
            example.step, example.input = step, example.replay.value(step["input"])
            if example.is_criterion:
                example.target = example.replay.value(step["target"])
            else:
                example.gradient = example.replay.value(step["gradOutput"])
                if "mode" in step:
                    getattr(made, step["mode"])()
                example.replay.call(made, step.get("calls", []))
            pythnn.manual_seed(step.get("forward_seed", 1))
            given = copy.deepcopy(example.input)
            if example.is_criterion:
                loss = made.forward(given, example.target)
                results = [made.backward(given, example.target), loss]
            else:
                output = made.forward(given)
                # An in-place layer may change its output here, once.
                results = [made.backward(given, copy.deepcopy(example.gradient)), output]
            held.append(results)
            kept.append(copy.deepcopy(results))
    for one, other in zip(held, kept, strict=True):
        same(one, other)


@pytest.mark.parametrize("stem", [*names("module"), *names("criterion")])
def test_read_only_and_reversed_inputs(stem: str) -> None:
    """Any memory serves as an input."""
    example = Example(stem)
    wanted = example.forward(example.build(), example.input)

    def rearranged(value: Any) -> Any:
        if isinstance(value, list):
            return [rearranged(entry) for entry in value]
        if not isinstance(value, np.ndarray):
            return value
        turned = np.flip(value).copy()
        array = np.flip(turned)
        array.flags.writeable = False
        return array

    pythnn.manual_seed(example.step.get("forward_seed", 1))
    made, given = example.build(), rearranged(example.input)
    pythnn.manual_seed(example.step.get("forward_seed", 1))
    found = made.forward(given, example.target) if example.is_criterion else made.forward(given)
    same(found, wanted, 1e-14)


@pytest.mark.parametrize("stem", names("module"))
def test_tensors_give_tensors(stem: str) -> None:
    example = Example(stem)
    made = example.build()

    def as_tensors(value: Any) -> Any:
        if isinstance(value, list):
            return [as_tensors(entry) for entry in value]
        known = isinstance(value, np.ndarray) and kind_of_dtype(value.dtype) is not None
        return Tensor(value) if known else value

    def as_arrays(value: Any) -> Any:
        if isinstance(value, list):
            return [as_arrays(entry) for entry in value]
        assert not isinstance(value, np.ndarray)
        return value.numpy() if isinstance(value, Tensor) else value

    wanted = example.forward(made, example.input)
    pythnn.manual_seed(example.step.get("forward_seed", 1))
    made = example.build()
    pythnn.manual_seed(example.step.get("forward_seed", 1))
    same(as_arrays(made.forward(as_tensors(example.input))), wanted)


@pytest.mark.parametrize("stem", names("module"))
def test_clear_state_forgets_nothing_that_counts(stem: str) -> None:
    example = Example(stem)
    made, other = example.build(), example.build()
    example.both(made, example.input)
    example.both(other, example.input)
    assert made.clearState() is made
    for name in ("output", "gradInput"):
        assert not any(leaf.size for _, leaf in _leaves(getattr(made, name)) if leaf.ndim)
    same(example.both(made, example.input), example.both(other, example.input))
