"""Layers that change the type of values, or the order and number of their dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._errors import THNNArgumentError
from ..containers.container import Container
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module

__all__ = ["Convert", "Copy"]

_DTYPES = {
    "torch.ByteTensor": np.uint8,
    "torch.CharTensor": np.int8,
    "torch.DoubleTensor": np.float64,
    "torch.FloatTensor": np.float32,
    "torch.IntTensor": np.int32,
    "torch.LongTensor": np.int64,
    "torch.ShortTensor": np.int16,
}


@register
class Copy(Module):
    """Converts the input to the type `outtype`, and gradients to `intype`.

    When the two are equal, values pass as they are, unless `forceCopy`. With `dontCast`,
    :meth:`type` changes nothing.
    """

    _passes = False
    dontCast: bool | None = None

    def __init__(
        self,
        intype: str = "torch.DoubleTensor",
        outtype: str = "torch.DoubleTensor",
        forceCopy: bool = False,
        dontCast: bool | None = None,
    ) -> None:
        super().__init__()
        self.dontCast = dontCast
        self.assign("gradInput", np.empty(0, self._dtype(1, "intype", intype)))
        self.assign("output", np.empty(0, self._dtype(2, "outtype", outtype)))
        if intype == outtype and not forceCopy:
            self._passes = True

    def _dtype(self, position: int, name: str, type: str) -> Any:
        if type not in _DTYPES:
            raise THNNArgumentError.expected(
                self.typename(), position, name, f"one of {', '.join(_DTYPES)}", repr(type)
            )
        return _DTYPES[type]

    def updateOutput(self, input: Any) -> Any:
        self.output = input if self._passes else input.astype(self.field("output").dtype)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        dtype = self.field("gradInput").dtype
        self.gradInput = gradOutput if self._passes else gradOutput.astype(dtype)
        return self.gradInput

    def type(self, type: Any = None, tensorCache: Any = None) -> Any:
        if type is not None and self.dontCast:
            return self
        return super().type(type, tensorCache)


@register
class Convert(Container):
    """Converts from shape `inputShape` to `outputShape`, and to the type of the module.

    A shape has a letter for each dimension: b for the batch, which is first where it is not
    mentioned, then for instance c, h and w, or t, or f for all others as one. The default for
    the input is any shape, and for the output that of the input. Possible are

    - the same letters in another order,
    - to ``bf`` or ``fb``: all other dimensions become one,
    - to ``b``: the first of each sample's values,
    - to ``bt``: the same, with a second dimension of size 1.

    An input with one dimension less than `inputShape` is one sample.
    """

    transposition: bool | None = None

    def __init__(self, inputShape: str = "b*", outputShape: str | None = None) -> None:
        super().__init__()
        self.inputShape = inputShape if "b" in inputShape else "b" + inputShape
        target = outputShape or self.inputShape
        self.outputShape = target if "b" in target else "b" + target
        self.inputBatchDim = self.inputShape.index("b") + 1
        self.outputBatchDim = self.outputShape.index("b") + 1
        self.nInputDim = -1 if "*" in self.inputShape else len(self.inputShape)
        self.nOutputDim = -1 if "*" in self.outputShape else len(self.outputShape)
        self.transposition = sorted(self.inputShape) == sorted(self.outputShape) or None
        self._check()

    def _check(self) -> None:
        possible = (
            self.transposition
            or sorted(self.outputShape) == ["b", "f"]
            or self.outputShape in ("b", "bt")
        )
        if not possible:
            raise THNNArgumentError.expected(
                self.typename(),
                2,
                "outputShape",
                f"a shape that {self.inputShape} can be converted to",
                repr(self.outputShape),
            )

    def _converted(self, value: Any) -> Any:
        """A batch in its new shape, where possible a view."""
        xp = array_module(value)
        if self.inputShape == self.outputShape:
            return value
        if self.transposition:
            order = [self.inputShape.index(letter) for letter in self.outputShape]
            return xp.ascontiguousarray(value.transpose(order))
        value = xp.moveaxis(value, self.inputBatchDim - 1, 0)
        value = value.reshape(value.shape[0], -1)
        if self.outputShape in ("b", "bt"):
            return value[:, 0 if self.outputShape == "b" else slice(1)].copy()
        return xp.ascontiguousarray(xp.moveaxis(value, 0, self.outputBatchDim - 1))

    def _is_sample(self, input: Any) -> bool:
        return "*" not in self.inputShape and input.ndim == self.nInputDim - 1

    def updateOutput(self, input: Any) -> Any:
        if "*" not in self.inputShape and input.ndim not in (self.nInputDim, self.nInputDim - 1):
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", f"a shape like {self.inputShape}", f"{input.shape}"
            )
        value = input.astype(self.dtype, copy=False)
        if self._is_sample(input):
            output = self._converted(value[None])
            self.output = output if output.ndim == 1 else output[0]
        else:
            self.output = self._converted(value)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        shape = input[None].shape if self._is_sample(input) else input.shape
        gradient = gradOutput.astype(self.dtype, copy=input.dtype != self.dtype)
        self.gradInput = self._restored(gradient, shape).reshape(input.shape)
        return self.gradInput

    def _restored(self, gradient: Any, shape: tuple[int, ...]) -> Any:
        """The gradient of a batch of this shape from that of its conversion."""
        xp = array_module(gradient)
        if self.inputShape == self.outputShape:
            return gradient
        if self.transposition:
            letters = self.outputShape
            order = [letters.index(letter) for letter in self.inputShape]
            made = [shape[self.inputShape.index(letter)] for letter in letters]
            return xp.ascontiguousarray(gradient.reshape(made).transpose(order))
        batch = self.inputBatchDim - 1
        samples = shape[batch]
        others = shape[:batch] + shape[batch + 1 :]
        if self.outputShape in ("b", "bt"):
            rows = xp.zeros((samples, int(np.prod(others))), gradient.dtype)
            rows[:, 0] = gradient.reshape(-1)
        else:
            made_shape = (samples, -1) if self.outputBatchDim == 1 else (-1, samples)
            rows = xp.moveaxis(gradient.reshape(made_shape), self.outputBatchDim - 1, 0)
        return xp.moveaxis(rows.reshape(samples, *others), 0, batch)
