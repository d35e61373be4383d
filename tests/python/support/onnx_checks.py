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


def check(module: Any, model: Any, given: Any, where: str = "") -> None:
    """That a written model gives for an input what the module does."""
    wanted = [np.array(leaf) for leaf in leaves(module.forward(copy.deepcopy(given)))]
    session = onnxruntime.InferenceSession(model.SerializeToString(), SILENT)
    names = [one.name for one in session.get_inputs()]
    found = session.run(None, dict(zip(names, leaves(given), strict=True)))
    for i, (mine, theirs) in enumerate(zip(wanted, found, strict=True)):
        assert theirs.shape == mine.shape, where
        usual = mine[np.abs(mine) < 1e30]  # not what a window without elements gives
        largest = max(np.abs(usual).max(initial=0), 1e-3)
        difference, allowed = np.abs(theirs - mine), 1e-4 * largest + 1e-3 * np.abs(mine)
        if not (difference <= allowed).all():  # NaN, too
            allowed += 10 * rounding(module, given, i)
        np.testing.assert_array_less(difference, allowed, err_msg=where)


def rounding(module: Any, given: Any, which: int) -> Any:
    """The largest error of a tensor that a module in float32 gives, as far as it can be told.

    A network that divides differences of equal numbers loses all digits: it is off from what it
    gives in double, or happens to be right where the other's is off by roundings of the largest
    number inside, which normalisation with 1e-3 beside the variance multiplies by up to 32.
    """
    exact = copy.deepcopy(module).double()
    doubles = [np.asarray(leaf, np.float64) for leaf in leaves(copy.deepcopy(given))]
    results = leaves(exact.forward(doubles if isinstance(given, list) else doubles[0]))
    mine = leaves(module.forward(copy.deepcopy(given)))[which]
    inside = (leaf for one in module.listModules() for leaf in leaves(one.output))
    largest = max(np.abs(np.array(leaf)).max(initial=0) for leaf in inside)
    off = np.abs(np.array(results[which]) - np.array(mine)).max()
    return max(off, 32 * np.finfo(np.float32).eps * largest)


def sizes_of(model: Any) -> list[Any]:
    dims = model.graph.input[0].type.tensor_type.shape.dim
    return [dim.dim_param or dim.dim_value for dim in dims]


def check_network(seed: int) -> None:
    """A random network on images, of the size that it was written for and of another."""
    rng = np.random.default_rng(seed)
    pythnn.manual_seed(seed)
    shape = upto(rng, 5), upto(rng, 9), upto(rng, 9)
    net = network(rng, shape)
    net.evaluate()
    batched, count = flag(rng), upto(rng, 3, 2)
    x = rng.standard_normal((count, *shape), np.float32)
    model = onnx.to_onnx(net, x, dynamic_batch=batched)
    where = f"seed {seed}: {net!r}"
    check(net, model, x, where)
    larger = (count + 3 * batched, shape[0], *(size + upto(rng, 6, 0) for size in shape[1:]))
    if isinstance(sizes_of(model)[2], str):
        other = rng.standard_normal(larger, np.float32)
        try:
            net.forward(other.copy())
        except THNNError:
            return  # a size that the network refuses
        if not is_finite(net):
            return  # windows without elements, which there are at this size; see given_by
        check(net, model, other, where)


def check_network_of(kind: str, seed: int) -> None:
    """A random network on one of ``onnx_rows.KINDS``, with batches of two sizes."""
    rng = np.random.default_rng(seed)
    pythnn.manual_seed(seed)
    net, shape = network_of(rng, kind)
    net.evaluate()
    model = onnx.to_onnx(net, rng.standard_normal((2, *shape), np.float32))
    for batch in (2, 5):
        given = rng.standard_normal((batch, *shape), np.float32)
        check(net, model, given, f"{kind}, seed {seed}: {net!r}")
