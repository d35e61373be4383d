"""Every class of the packages beside nn: gradients by differences, copies, files, types."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest
from support.nn_recorded import classes
from support.package_examples import EXAMPLES, Example
from support.programs import leaves

import pythnn
from pythnn import nn

# Classes that compute nothing by themselves, and those that other tests make.
ELSEWHERE = {
    "AbstractRecurrent": "the base of recurrent modules",
    "AbstractSequencer": "the base of sequencers",
    "CharOneHot": "test_nngraph_recorded has char-rnn's networks",
    "DataParallelTable": "test_nn_other_packages",
    "InstanceNormalization": "test_nn_other_packages",
    "JustElement": "test_nngraph_recorded",
    "JustTable": "test_nn_graph",
    "PullTable": "is made by PushTable, whose example has it",
    "ModuleFromCriterion": "test_nngraph_recorded",
    "ShaveImage": "test_nn_other_packages",
    "TotalVariation": "test_nn_other_packages",
    "gModule": "test_nn_graph",
}
STEP = 1e-6
MODULES = [name for name, example in EXAMPLES.items() if example.target is None]
CRITERIONS = [name for name, example in EXAMPLES.items() if example.target is not None]


def class_of(name: str) -> Any:
    """The class of an example: ``inn.ROIPooling`` is nn.inn.ROIPooling."""
    found: Any = nn
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_every_class_has_an_example() -> None:
    named = {class_of(name) for name in {**EXAMPLES, **ELSEWHERE, **dict.fromkeys(classes())}}
    computing = [cls for cls in nn.registry.values() if issubclass(cls, (nn.Module, nn.Criterion))]
    assert not [cls.typename() for cls in computing if cls not in named]


class Call:
    """An object of an example, the same numbers drawn in each call."""

    def __init__(self, name: str) -> None:
        self.example: Example = EXAMPLES[name]
        self.is_criterion = self.example.target is not None
        pythnn.manual_seed(5)
        self.made = self.example.build()
        self.given = copy.deepcopy(self.example.input)
        if not self.is_criterion:
            output = self.forward()
            rng = np.random.default_rng(3)
            self.weights = self._weights(output, rng)

    def _weights(self, output: Any, rng: Any) -> Any:
        if isinstance(output, list):
            return [self._weights(entry, rng) for entry in output]
        return rng.standard_normal(output.shape).astype(output.dtype)

    def forward(self, made: Any = None, given: Any = None) -> Any:
        made = self.made if made is None else made
        given = self.given if given is None else given
        pythnn.manual_seed(7)
        if self.is_criterion:
            return made.forward(given, self.example.target)
        if self.example.steps:
            made.forget()
            return [np.array(made.forward(step)) for step in given]
        if self.example.resets:
            made.forget()
        return copy.deepcopy(made.forward(given))

    def backward(self, made: Any = None, given: Any = None) -> Any:
        """Output and gradient, after a forward call."""
        made = self.made if made is None else made
        given = self.given if given is None else given
        output = self.forward(made, given)
        if self.is_criterion:
            return output, copy.deepcopy(made.backward(given, self.example.target))
        for inside in made.listModules():
            if isinstance(inside, nn.Reinforce):
                inside.reinforce(np.array([1.0, -2.0]))
        made.zeroGradParameters()
        weights = copy.deepcopy(self.weights)
        if self.example.steps:
            pairs = list(zip(given, weights, strict=True))[::-1]
            return output, [np.array(made.backward(*pair)) for pair in pairs][::-1]
        return output, copy.deepcopy(made.backward(given, weights))

    def value(self) -> float:
        output = self.forward()
        if self.is_criterion:
            return float(output)
        pairs = zip(leaves(output), leaves(self.weights), strict=True)
        return sum(float((one * other).sum()) for one, other in pairs)

    def slope(self, array: Any, place: Any) -> float:
        kept = array[place]
        array[place] = kept + STEP
        above = self.value()
        array[place] = kept - STEP
        below = self.value()
        array[place] = kept
        return (above - below) / (2 * STEP)


@pytest.mark.parametrize("name", [n for n, e in EXAMPLES.items() if not e.no_derivative])
def test_gradients(name: str) -> None:
    call = Call(name)
    only = call.example.differentiable
    gradients = leaves(only(call.backward()[1]))
    found = [] if call.is_criterion else [
        gradient.copy() for gradient in (call.made.parameters() or ([], []))[1]
    ]  # fmt: skip
    pairs = list(zip(leaves(only(call.given)), gradients, strict=True))
    inputs = len(pairs)
    if not call.is_criterion:
        pairs += zip((call.made.parameters() or ([], []))[0], found, strict=True)
    for i, (array, gradient) in enumerate(pairs):
        for place in list(np.ndindex(array.shape))[:12] if array.dtype.kind == "f" else ():
            if i < inputs and not array[place]:
                continue  # of a sample of zeros, which is padding
            wanted = call.slope(array, place)
            assert gradient[place] == pytest.approx(wanted, rel=1e-5, abs=1e-7), (i, place)


def saved(made: Any, format: str) -> Any:
    file = io.BytesIO()
    pythnn.save(file, made, format=format)
    file.seek(0)
    return pythnn.load(file)


COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
    "binary": lambda made: saved(made, "binary"),
    "ascii": lambda made: saved(made, "ascii"),
}


def same(found: Any, wanted: Any, tolerance: float = 1e-14) -> None:
    ours, theirs = leaves(found), leaves(wanted)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_copies_do_the_same(name: str, how: str) -> None:
    call = Call(name)
    if how != "deepcopy":  # a copy of one that was used, too
        call.backward()
    other = COPIES[how](call.made)
    assert type(other) is type(call.made)
    same(call.backward(other), call.backward())
    if not call.is_criterion:
        same(other.parameters() or [], call.made.parameters() or [])


@pytest.mark.parametrize("name", MODULES)
def test_float_is_double_rounded(name: str) -> None:
    call = Call(name)
    wanted = call.backward()
    call.made.float()

    def single(value: Any) -> Any:
        if isinstance(value, list):
            return [single(entry) for entry in value]
        return value.astype(np.float32) if value.dtype == np.float64 else value

    call.weights = single(call.weights)
    found = call.backward(given=single(call.given))
    same(found, wanted, 1e-4)
    kinds = {leaf.dtype for leaf in leaves(found) if leaf.size}
    if name != "NCEModule":  # its second gradient, of targets, is double
        assert np.dtype(np.float64) not in kinds


@pytest.mark.parametrize("name", MODULES)
def test_clear_state_forgets_nothing_that_counts(name: str) -> None:
    call = Call(name)
    wanted = call.backward()
    assert call.made.clearState() is call.made
    same(call.backward(), wanted)


@pytest.mark.parametrize("name", MODULES)
def test_flat_parameters(name: str) -> None:
    call = Call(name)
    if call.made.parameters() is None or not call.made.parameters()[0]:
        return
    wanted, gradients = call.backward(), [np.array(g) for g in call.made.parameters()[1]]
    flat, flat_gradient = call.made.getParameters()
    same(call.backward(), wanted)
    same(call.made.parameters()[1], gradients)
    assert all(np.shares_memory(p, flat) for p in call.made.parameters()[0])
    assert all(np.shares_memory(p, flat_gradient) for p in call.made.parameters()[1])


@pytest.mark.parametrize("name", EXAMPLES)
def test_text(name: str) -> None:
    made = EXAMPLES[name].build()
    assert repr(made).startswith(type(made).typename())
