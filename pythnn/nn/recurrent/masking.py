"""Rows of zeros as padding: they get zeros, and no gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..containers.decorator import Decorator
from ..criterion.criterion import Criterion
from ..linear.lookup import LookupTable
from ..object.module import Module
from ..object.object import register
from ..object.tables import zeros_like
from ..object.values import array_module, describe
from ._steps import first_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LookupTableMaskZero", "MaskZero", "MaskZeroCriterion", "TrimZero"]


def _padding(name: str, input: Any, dimensions: int) -> Any:
    """Which samples are all zeros: a mask of the batch, or of one without a batch."""
    first = first_of(input)
    if getattr(first, "ndim", -1) not in (dimensions, dimensions + 1):
        wanted = f"{dimensions} or {dimensions + 1} dimensions (nInputDim is {dimensions})"
        raise THNNArgumentError.expected(name, 1, "input", wanted, describe(first))
    rows = first.shape[0] if first.ndim > dimensions else 1
    return (first.reshape(rows, -1) == 0).all(1)


def _masked(value: Any, mask: Any) -> Any:
    """A copy with zeros where the mask is set."""
    if isinstance(value, list):
        return [_masked(entry, mask) for entry in value]
    made = value.copy()
    if mask.size == 1 and made.shape[:1] != (1,):
        if mask[0]:
            made[...] = 0
    else:
        made[mask] = 0
    return made


def _set_mask(owner: Any, zeroMask: Any) -> None:
    """Makes a mask the field ``zeroMask``, whatever its shape; None and False take it away."""
    owner.__dict__.pop("zeroMask", None)
    owner.tensors.__dict__.pop("zeroMask", None)
    if zeroMask is not None and zeroMask is not False:
        owner.assign("zeroMask", zeroMask)


def _given_mask(owner: Any) -> Any:
    """The mask that was given, as truth values in one row; None without one."""
    given = owner.field("zeroMask")
    if given is None or given is False:
        return None
    array = given.numpy() if isinstance(given, Tensor) else np.asarray(given)
    return array.astype(bool).ravel()


@register
class MaskZero(Decorator):
    """Gives zeros, and no gradient, for samples whose (first) input is all zeros.

    `nInputDim` is the number of dimensions of one sample. A module without that, of torch/rnn, has
    the mask that ``setZeroMask`` was given.
    """

    def __init__(self, module: Module, nInputDim: int = 1) -> None:
        super().__init__(module)
        self.nInputDim = nInputDim

    maskinput: Any = False
    maskoutput: Any = True

    def setZeroMask(self, zeroMask: Any) -> Self:
        """Sets which samples are padding, True or 1 for each; returns itself."""
        _set_mask(self, zeroMask)
        super().setZeroMask(zeroMask)
        return self

    def _mask(self, input: Any) -> Any:
        given = _given_mask(self)
        dimensions = self.field("nInputDim")
        if given is None and dimensions is not None:
            return _padding(self.typename(), input, int(dimensions))
        return given

    def _without(self, value: Any, input: Any, wanted: Any = True) -> Any:
        mask = self._mask(input) if wanted else None
        return value if mask is None else _masked(value, mask)

    def _gradient(self, input: Any, gradOutput: Any) -> Any:
        return self._without(gradOutput, input, self.maskoutput)

    def updateOutput(self, input: Any) -> Any:
        given = self._without(input, input, self.maskinput)
        output = self.inside.updateOutput(given)
        self.output = self._without(output, input, self.maskoutput)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        given = self._without(input, input, self.maskinput)
        found = self.inside.updateGradInput(given, self._gradient(input, gradOutput))
        self.gradInput = self._without(found, input, self.maskinput)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        given = self._without(input, input, self.maskinput)
        self.inside.accGradParameters(given, self._gradient(input, gradOutput), scale)


@register
class TrimZero(MaskZero):
    """MaskZero whose module does not compute the samples that are padding."""

    def _trimmed(self, value: Any, kept: Any) -> Any:
        if isinstance(value, list):
            return [self._trimmed(entry, kept) for entry in value]
        return value[kept]

    def _filled(self, value: Any, kept: Any) -> Any:
        if isinstance(value, list):
            return [self._filled(entry, kept) for entry in value]
        made = array_module(value).zeros((kept.size, *value.shape[1:]), value.dtype)
        made[kept] = value
        return made

    def _kept(self, input: Any) -> Any:
        """The samples to compute; None where there is no batch or all are padding."""
        first = first_of(input)
        dimensions = int(self.field("nInputDim") or 1)
        if getattr(first, "ndim", 0) <= dimensions:
            return None
        mask = self._mask(input)
        return None if mask is None or mask.all() else ~mask

    def updateOutput(self, input: Any) -> Any:
        kept = self._kept(input)
        if kept is None:
            return super().updateOutput(input)
        self.output = self._filled(self.inside.updateOutput(self._trimmed(input, kept)), kept)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        kept = self._kept(input)
        if kept is None:
            return super().updateGradInput(input, gradOutput)
        parts = self._trimmed(input, kept), self._trimmed(gradOutput, kept)
        self.gradInput = self._filled(self.inside.updateGradInput(*parts), kept)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        kept = self._kept(input)
        if kept is None:
            super().accGradParameters(input, gradOutput, scale)
            return
        self.inside.accGradParameters(
            self._trimmed(input, kept), self._trimmed(gradOutput, kept), scale
        )


@register
class LookupTableMaskZero(LookupTable, kernel=True):
    """LookupTable in which the index 0 gives zeros: its first row, of nIndex + 1."""

    def __init__(self, nIndex: int, nOutput: int) -> None:
        super().__init__(nIndex + 1, nOutput)

    def _one_more(self, input: Any) -> Any:
        return Tensor(np.asarray(input.numpy() if isinstance(input, Tensor) else input) + 1)

    def updateOutput(self, input: Any) -> Any:
        self.tensors.weight.array()[0] = 0
        return super().updateOutput(self._one_more(input))

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        super().accGradParameters(self._one_more(input), gradOutput, scale)


@register
class MaskZeroCriterion(Criterion):
    """A criterion of the samples whose input is not all zeros."""

    def __init__(self, criterion: Criterion, nInputDim: int = 1) -> None:
        super().__init__()
        self.criterion = criterion
        self.nInputDim = nInputDim

    def _parts(self, value: Any, kept: Any) -> Any:
        if isinstance(value, list):
            return [self._parts(entry, kept) for entry in value]
        return value[kept] if getattr(value, "ndim", 0) else value

    def _kept(self, input: Any) -> Any:
        given = _given_mask(self)
        dimensions = self.field("nInputDim")
        if given is not None:
            return ~given
        if dimensions is not None:
            return ~_padding(self.typename(), input, int(dimensions))
        return np.ones(first_of(input).shape[0], bool)

    def setZeroMask(self, zeroMask: Any) -> Self:
        """Sets which samples are padding, True or 1 for each; returns itself."""
        _set_mask(self, zeroMask)
        return self

    def _one_sample(self, input: Any) -> bool:
        dimensions = self.field("nInputDim")
        return dimensions is not None and first_of(input).ndim == int(dimensions)

    def updateOutput(self, input: Any, target: Any) -> Any:
        kept = self._kept(input)
        if not kept.any():
            self.output = 0
        elif self._one_sample(input):
            self.output = self.criterion.updateOutput(input, target)
        else:
            self.output = self.criterion.updateOutput(
                self._parts(input, kept), self._parts(target, kept)
            )
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        kept = self._kept(input)
        if not kept.any():
            self.gradInput = zeros_like(input)
        elif self._one_sample(input):
            self.gradInput = self.criterion.updateGradInput(input, target)
        else:
            found = self.criterion.updateGradInput(
                self._parts(input, kept), self._parts(target, kept)
            )
            self.gradInput = self._filled(zeros_like(input), found, kept)
        return self.gradInput

    def _filled(self, made: Any, found: Any, kept: Any) -> Any:
        if isinstance(made, list):
            return [self._filled(*pair, kept) for pair in zip(made, found, strict=True)]
        made[kept] = found
        return made
