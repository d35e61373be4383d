"""Models in onnxruntime as here, random networks among them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import onnxruntime

import pythnn
from pythnn import THNNError, onnx
from support.onnx_networks import flag, is_finite, leaves, network, upto
from support.onnx_rows import network_of

SILENT = onnxruntime.SessionOptions()
SILENT.log_severity_level = 4
SILENT.intra_op_num_threads = 1


ROUNDED = "allowed what roundings make of them"
ONE_SIZE = "written for one size"
NO_OTHER_SIZE = "tried at one size only: others were refused, or have windows without elements"

_RUNS = 16
_ROUNDINGS = 8
"""Units in the last place of the largest input of a layer by which its inputs are changed: each
library's layer rounds more than once, and in an order of its own."""
_SIZES = 20
"""Other sizes that are tried until the network takes one."""


def check(module: Any, model: Any, given: Any, where: str = "") -> list[str]:
    """That a written model gives for an input what the module does.

    Returns ``[ROUNDED]`` where it does so only because roundings change the result as much.
    """
    wanted = [np.array(leaf) for leaf in leaves(module.forward(copy.deepcopy(given)))]
    session = onnxruntime.InferenceSession(model.SerializeToString(), SILENT)
    names = [one.name for one in session.get_inputs()]
    found = session.run(None, dict(zip(names, leaves(given), strict=True)))
    notes = []
    for i, (mine, theirs) in enumerate(zip(wanted, found, strict=True)):
        assert theirs.shape == mine.shape, where
        usual = 1e-4 * max(largest_of(mine), 1e-3) + 1e-3 * np.abs(mine)
        difference, allowed = np.abs(theirs - mine), usual
        if not (difference <= usual).all():  # NaN, too
            allowed = usual + 2 * rounding(module, given, i)
            notes = [ROUNDED]
        np.testing.assert_array_less(difference, allowed, err_msg=where)
    return notes


def rounding(module: Any, given: Any, which: int) -> Any:
    """How far the elements of a result move where the inputs of all layers do by roundings.

    A network that divides differences of equal numbers loses all digits, and the square root of
    such a difference half of them. Each of several runs in double changes what each layer gets, at
    random.
    """
    numbers = np.random.default_rng(0)
    unit = _ROUNDINGS * float(np.finfo(np.float32).eps) / 2

    def result(scale: float) -> Any:
        moved = copy.deepcopy(module).double()
        for layer in moved.listModules():
            if not hasattr(layer, "modules"):
                layer.updateOutput = changed(layer.updateOutput, scale)
        doubles = [np.array(leaf, np.float64) for leaf in leaves(given)]
        results = leaves(moved.forward(doubles if isinstance(given, list) else doubles[0]))
        return np.array(results[which])

    def changed(compute: Any, scale: float) -> Any:
        def computed(values: Any) -> Any:
            for leaf in leaves(values):
                array = np.asarray(leaf)
                if array.dtype.kind == "f" and array.flags.writeable:
                    positive = (array >= 0).all()  # for roots and logarithms it stays so
                    array += scale * largest_of(array) * numbers.uniform(-1, 1, array.shape)
                    if positive:
                        np.abs(array, out=array)
            return compute(values)

        return computed

    exact = result(0)
    return np.max([np.abs(result(unit) - exact) for _ in range(_RUNS)], 0)


def largest_of(array: Any) -> float:
    """The largest magnitude, but for what a window without elements gives."""
    magnitudes = np.abs(array)
    return float(magnitudes[magnitudes < 1e30].max(initial=0))


def sizes_of(model: Any) -> list[Any]:
    dims = model.graph.input[0].type.tensor_type.shape.dim
    return [dim.dim_param or dim.dim_value for dim in dims]


def check_network(seed: int) -> list[str]:
    """A random network on images, of the size that it was written for and of another.

    Returns what was not checked as everywhere: ``ROUNDED``, ``ONE_SIZE``, ``NO_OTHER_SIZE``.
    """
    rng = np.random.default_rng(seed)
    pythnn.manual_seed(seed)
    shape = upto(rng, 5), upto(rng, 9), upto(rng, 9)
    net = network(rng, shape)
    net.evaluate()
    batched, count = flag(rng), upto(rng, 3, 2)
    x = rng.standard_normal((count, *shape), np.float32)
    model = onnx.to_onnx(net, x, dynamic_batch=batched)
    where = f"seed {seed}: {net!r}"
    notes = check(net, model, x, where)
    if not isinstance(sizes_of(model)[2], str):
        return [*notes, ONE_SIZE]
    for _ in range(_SIZES):
        larger = (count + 3 * batched, shape[0], *(size + upto(rng, 6, 0) for size in shape[1:]))
        other = rng.standard_normal(larger, np.float32)
        if takes(net, other):
            return [*notes, *check(net, model, other, where)]
    return [*notes, NO_OTHER_SIZE]


def takes(net: Any, given: Any) -> bool:
    """Whether a network takes an input, with windows that all have elements; see given_by."""
    try:
        net.forward(given.copy())
    except THNNError:
        return False
    return is_finite(net)


def check_network_of(kind: str, seed: int) -> list[str]:
    """A random network on one of ``onnx_rows.KINDS``, with batches of two sizes."""
    rng = np.random.default_rng(seed)
    pythnn.manual_seed(seed)
    net, shape = network_of(rng, kind)
    net.evaluate()
    model = onnx.to_onnx(net, rng.standard_normal((2, *shape), np.float32))
    notes: list[str] = []
    for batch in (2, 5):
        given = rng.standard_normal((batch, *shape), np.float32)
        notes += check(net, model, given, f"{kind}, seed {seed}: {net!r}")
    return notes
