"""Every class of nn on a device: results and copies, where it lies, where it moves."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import test_nn_every_class as every_class
from support.bounds import AROUND_A_SUM, assert_half_of_the_digits, assert_near

import pythnn
from pythnn import nn

# Classes that are left out, and why.
LEFT_OUT = {
    "DontCast": "keeps its module on the CPU, as it is there to do",
    "RReLU": "a device draws other numbers: test_rrelu",
}


def examples() -> list[str]:
    found = {
        **dict.fromkeys(every_class.names("module")),
        **dict.fromkeys(every_class.names("criterion")),
    }
    return [stem for stem in found if stem not in LEFT_OUT]


def there(xp: Any, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [there(xp, entry) for entry in value]
    return xp.asarray(value) if isinstance(value, np.ndarray) else value


def leaves(value: Any) -> list[np.ndarray]:
    if isinstance(value, (list, tuple)):
        return [leaf for entry in value for leaf in leaves(entry)]
    return [np.asarray(value.get() if hasattr(value, "get") else value)]


def call(xp: Any, example: every_class.Example, made: Any) -> list[np.ndarray]:
    """Results of a forward and a backward call, and gradients of parameters, on the CPU."""
    extra = example.target if example.is_criterion else example.gradient
    given = copy.deepcopy([example.input, extra])
    if made.type().startswith("torch.Cuda"):
        given = there(xp, given)
    pythnn.manual_seed(1)
    if not example.is_criterion:
        made.zeroGradParameters()
    forward = made.forward(*given) if example.is_criterion else made.forward(given[0])
    results = [forward, made.backward(*given)]
    if not example.is_criterion and made.parameters():
        results.append(list(made.parameters()[1]))
    return [leaf.copy() for leaf in leaves(results)]


def check(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for one, other in zip(expected, found, strict=True):
        assert_half_of_the_digits(other, one)


def on_device(example: every_class.Example) -> Any:
    made = example.build().type("torch.CudaDoubleTensor")
    assert example.is_criterion or made.type() == "torch.CudaDoubleTensor"
    return made


@pytest.mark.parametrize("stem", examples())
def test_a_call_is_that_of_the_cpu(xp: Any, stem: str) -> None:
    example = every_class.Example(stem)
    check(call(xp, example, on_device(example)), call(xp, example, example.build()))


def through_a_file(made: Any) -> Any:
    loaded = every_class.save_and_load(made)
    assert loaded.type() in ("torch.DoubleTensor", "torch.FloatTensor"), "files are for everybody"
    return loaded.type("torch.CudaDoubleTensor")


COPIES = {
    "itself": lambda made: made,
    "cleared": lambda made: getattr(made, "clearState", lambda: made)(),
    "clone": lambda made: made.clone(),
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
    "there and back": lambda made: made.double(),
    "t7": through_a_file,
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("stem", examples())
def test_copies_do_the_same(xp: Any, stem: str, how: str) -> None:
    example = every_class.Example(stem)
    made = on_device(example)
    expected = call(xp, example, made)
    copied = COPIES[how](made)
    check(call(xp, example, copied), expected)
    where = np.ndarray if how == "there and back" else xp.ndarray
    if not example.is_criterion:
        for tensors in copied.parameters() or ():
            assert all(isinstance(tensor, where) for tensor in tensors)


@pytest.mark.parametrize("stem", [n for n in examples() if n in every_class.names("module")])
def test_parameters(xp: Any, stem: str) -> None:
    """They are drawn, stepped and flattened where they are."""
    example = every_class.Example(stem)
    made, twin = on_device(example), example.build()
    for module in (made, twin):
        pythnn.manual_seed(3)
        module.reset()
    check(call(xp, example, made), call(xp, example, twin))
    for module in (made, twin):
        module.updateParameters(0.1)
    check(call(xp, example, made), call(xp, example, twin))
    if made.parameters() is None or stem in every_class.SPARSE_GRADIENTS:
        return
    flat, gradient = made.getParameters()
    check([flat.get(), gradient.get()], list(twin.getParameters()))
    check(call(xp, example, made), call(xp, example, twin))
    given = copy.deepcopy([example.input, example.gradient])
    twin.backwardUpdate(*given, 0.1)
    made.backwardUpdate(*there(xp, [example.input, example.gradient]), 0.1)
    check([flat.get()], [twin.getParameters()[0]])


def test_rrelu(xp: Any) -> None:
    x = np.random.default_rng(0).standard_normal((6, 7))
    layer, twin = (nn.RReLU(0.1, 0.4).type(t) for t in ("torch.CudaDoubleTensor", np.float64))
    layer.evaluate()
    twin.evaluate()
    for module, given in ((layer, xp.asarray(x)), (twin, x)):
        module.forward(given)
        module.backward(given, given)
    assert_near(layer.output.get(), twin.output, AROUND_A_SUM)
    assert_near(layer.gradInput.get(), twin.gradInput, AROUND_A_SUM)
    layer.training()
    slopes = layer.forward(xp.asarray(x)).get() / x
    assert (slopes[x > 0] == 1).all()
    drawn = slopes[x < 0]
    assert ((drawn >= 0.1) & (drawn <= 0.4)).all()
    assert len(np.unique(drawn)) == drawn.size
    gradient = layer.backward(xp.asarray(x), xp.asarray(np.ones_like(x)))
    assert_near(gradient.get(), slopes, AROUND_A_SUM)
