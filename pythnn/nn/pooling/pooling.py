"""What poolings have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _random
from ..._errors import THNNArgumentError, THNNError
from ..._tensor import Tensor
from ..object.window import Windowed, comma

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FractionalMaxPooling", "MaxPooling", "MaxUnpooling", "Pooling"]


class Pooling(Windowed):
    """A layer that makes one element of each window.

    The last window of an axis may reach beyond the input after ``ceil``, not after ``floor``.
    """

    ceil_mode: bool = False

    def ceil(self) -> Self:
        """Rounds the number of windows up; returns itself."""
        self.ceil_mode = True
        return self

    def floor(self) -> Self:
        """Rounds the number of windows down; returns itself."""
        self.ceil_mode = False
        return self

    def _extra_text(self) -> str:
        """What a class says after windows, steps and padding."""
        return ""

    def __repr__(self) -> str:
        window, padding = "x".join(map(str, self._sizes("k"))), self._sizes("pad")
        padded = f", {comma(padding)}" if any(padding) else ""
        inside = f"{window}, {comma(self._sizes('d'))}{padded}{self._extra_text()}"
        return f"{self.typename()}({inside})"


class MaxPooling(Pooling, kernel=True):
    """A pooling that keeps in ``indices`` where the largest elements are."""

    _scratch = ("indices",)

    def updateOutput(self, input: Any) -> Any:
        self._set_sizes_of(input)
        output, indices = self.result("output", input), self.result("indices", np.int64)
        self._run("updateOutput", input, output, indices)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        self._run("updateGradInput", input, gradOutput, gradInput, self.tensors.indices)
        return gradInput

    def _set_sizes_of(self, input: Any) -> None:
        """Keeps the sizes of the input, which unpooling restores."""
        names = ("iwidth", "iheight", "itime")[: len(self._axes)]
        for name, size in zip(names, reversed(input.shape), strict=False):
            if self.__dict__.get(name) != size:
                setattr(self, name, size)


class FractionalMaxPooling(Windowed, kernel=True):
    """Max pooling in windows of poolSize… whose places are drawn.

    `sizes` are the output's, from 1 on, or ratios of the input's in (0, 1).
    """

    _scratch = ("indices", "randomSamples")
    _order: str
    """The axes of a tensor's last dimensions."""

    def __init__(self, pool_sizes: tuple[Any, ...], sizes: tuple[Any, ...]) -> None:
        super().__init__()
        if min(pool_sizes) < 2:
            raise THNNArgumentError.expected(
                self.typename(), 1, "pool sizes", "2 or more", str(pool_sizes)
            )
        self._set_sizes(poolSize=pool_sizes)
        self.newRandomPool = False
        if all(size >= 1 and size == int(size) for size in sizes):
            self._set_sizes(out=[int(size) for size in sizes])
        elif all(0 < size < 1 for size in sizes):
            self._set_sizes(ratio=sizes)
        else:
            raise THNNArgumentError.expected(
                self.typename(), len(pool_sizes) + 1, "sizes",
                "output sizes from 1 on or ratios in (0, 1)", str(sizes),
            )  # fmt: skip

    def fixPoolingRegions(self, val: bool = True) -> Self:
        """Draws the places of windows once and not in each call; returns itself."""
        self.newRandomPool = val
        return self

    def _draw(self, input: Any) -> None:
        dims = len(self._order)
        batch = input.shape[0] if input.ndim > dims + 1 else 1
        shape = (batch, input.shape[-dims - 1], dims)
        held = self.tensors.randomSamples
        if held is None or held.shape[:2] != shape[:2] or not self.newRandomPool:
            samples = _random.uniform(shape, 0, 1).astype(input.dtype)
            self.assign("randomSamples", Tensor.from_numpy(samples).to(input.device))

    def _output_sizes(self, input: Any) -> list[int]:
        if any(self._sizes("out")):
            return self._sizes("out")
        sizes = dict(zip(reversed(self._order), reversed(input.shape), strict=False))
        ratios = zip(self._axes, self._sizes("ratio"), strict=True)
        return [int(sizes[axis] * ratio) for axis, ratio in ratios]

    def updateOutput(self, input: Any) -> Any:
        if input.ndim not in (len(self._order) + 1, len(self._order) + 2):
            dims = f"{len(self._order) + 1} dimensions, or one more"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", dims, f"shape {input.shape}"
            )
        self._draw(input)
        output, indices = self.result("output", input), self.result("indices", np.int64)
        sizes = (*self._output_sizes(input), *self._sizes("poolSize"))
        last = (*sizes, indices, self.tensors.randomSamples)
        self._run("updateOutput", input, output, last=last)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input)
        sizes = (*self._output_sizes(input), *self._sizes("poolSize"))
        last = (*sizes, self.tensors.indices)
        self._run("updateGradInput", input, gradOutput, gradInput, last=last)
        return gradInput

    def __repr__(self) -> str:
        sizes = self._sizes("out") if any(self._sizes("out")) else self._sizes("ratio")
        output = "x".join(map(str, sizes))
        return f"{self.typename()}({output}, {comma(self._sizes('poolSize'))})"


class MaxUnpooling(Windowed, kernel=True):
    """Puts elements where a max pooling took them in its last call, among zeros."""

    def __init__(self, poolingModule: MaxPooling, wanted: type[MaxPooling]) -> None:
        super().__init__()
        if not isinstance(poolingModule, wanted):
            raise THNNArgumentError.expected(
                self.typename(), 1, "poolingModule", wanted.typename(), repr(poolingModule)
            )
        windows, steps = poolingModule._sizes("k"), poolingModule._sizes("d")
        if windows != steps:
            raise THNNArgumentError.expected(
                self.typename(), 1, "poolingModule", "steps as large as its windows",
                f"windows {windows}, steps {steps}",
            )  # fmt: skip
        self.pooling = poolingModule

    def setParams(self) -> None:
        """Takes over where the pooling took its elements."""
        if self.pooling.field("iwidth") is None:
            raise THNNError(f"{self.typename()}: call forward of its pooling module first")
        self.assign("indices", self.pooling.field("indices"))
        for name in ("time", "height", "width"):
            if (size := self.pooling.field(f"i{name}")) is not None:
                self.assign(f"o{name}", size)

    def _rest(self, step: str) -> list[Any]:
        names = {"T": "otime", "W": "owidth", "H": "oheight"}
        return [getattr(self, names[axis]) for axis in self._axes]

    def updateOutput(self, input: Any) -> Any:
        self.setParams()
        output = self.result("output", input)
        self._run("updateOutput", input, output, self.tensors.indices)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.setParams()
        gradInput = self.result("gradInput", input)
        self._run("updateGradInput", input, gradOutput, gradInput, self.tensors.indices)
        return gradInput

    def __repr__(self) -> str:
        return f"{self.typename()} associated to {self.pooling!r}"
