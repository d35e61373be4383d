"""Lowerings of layers that compute with every element alone, by functions of TH's."""

from __future__ import annotations

from typing import Any

from .. import nn
from .._tensor import Tensor
from .lowering import Lowering, called, lowers


def _is_real(x: Any) -> bool:
    return isinstance(x, Tensor) and x.dtype.kind == "f"


def _spread(module: Any, parameter: Tensor, x: Tensor) -> Tensor:
    """A parameter with the shape of the input; raises what the layer raises."""
    shape = module._spread(x.array()).shape
    return parameter.contiguous().view(*shape).expand(*x.shape)


@lowers(nn.Add, nn.CAdd)
def _sum(lowering: Lowering, module: Any, x: Any) -> Any:
    if not _is_real(x):
        return called(lowering, module, x)
    output = Tensor.empty(*x.shape, dtype=x.dtype)
    lowering.on_tensor("cadd", output, x, 1, _spread(module, module.tensors.bias, x))
    return output


@lowers(nn.Mul, nn.CMul)
def _product(lowering: Lowering, module: Any, x: Any) -> Any:
    if not _is_real(x):
        return called(lowering, module, x)
    output = Tensor.empty(*x.shape, dtype=x.dtype)
    lowering.on_tensor("cmul", output, x, _spread(module, module.tensors.weight, x))
    return output


@lowers(nn.RReLU)
def _leaky(lowering: Lowering, module: Any, x: Any) -> Any:
    if not _is_real(x):
        return called(lowering, module, x)
    output = Tensor.empty(*x.shape, dtype=x.dtype)
    slope = (module.lower + module.upper) / 2
    lowering.kernel("LeakyReLU_updateOutput", None, x, output, slope, module.inplace)
    return output


@lowers(nn.SoftMin)
def _softmin(lowering: Lowering, module: Any, x: Any) -> Any:
    if not _is_real(x):
        return called(lowering, module, x)
    opposite, output = (Tensor.empty(*x.shape, dtype=x.dtype) for _ in range(2))
    lowering.on_tensor("mul", opposite, x, -1)
    lowering.kernel("SoftMax_updateOutput", None, opposite, output)
    return output


@lowers(nn.SoftSign)
def _softsign(lowering: Lowering, module: Any, x: Any) -> Any:
    if not _is_real(x):
        return called(lowering, module, x)
    divisor, output = (Tensor.empty(*x.shape, dtype=x.dtype) for _ in range(2))
    lowering.on_tensor("abs", divisor, x)
    lowering.on_tensor("add", divisor, divisor, 1)
    lowering.on_tensor("cdiv", output, x, divisor)
    return output


@lowers(nn.TanhShrink)
def _tanh_shrink(lowering: Lowering, module: Any, x: Any) -> Any:
    if not _is_real(x):
        return called(lowering, module, x)
    output = Tensor.empty(*x.shape, dtype=x.dtype)
    lowering.on_tensor("cadd", output, x, -1, lowering.recorded(module.tanh, x))
    return output
