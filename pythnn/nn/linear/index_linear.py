"""A linear layer of sparse vectors, whose gradients are sparse too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ... import thnn
from ..._errors import THNNArgumentError
from ..._products import multiply
from ..._tensor import Tensor
from ..object.initial import draw
from ..object.module import Module
from ..object.object import register
from ..object.parameters import TensorLists
from ..object.values import array_module, to_arrays

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["IndexLinear"]

_STATE_COLUMNS = 4  # of each row, in front of the weights, when values are normalised


class _Samples(NamedTuple):
    """Samples one after the other."""

    keys: Tensor
    values: Tensor
    sizes: Tensor
    is_flat: bool
    is_single: bool


def _joined(parts: list[Any], dtype: Any) -> Tensor:
    arrays = to_arrays(parts)
    joined = array_module(arrays).concatenate([array.reshape(-1) for array in arrays])
    return Tensor.from_array(joined.astype(dtype))


@register
class IndexLinear(Module, kernel=True):
    """Linear for sparse input: output = bias + sum of value * row of weight, over keys and values.

    Input: a table of keys and values; of a table of keys and one of values, for a batch; or of
    keys, values and sizes, for a batch of samples one after the other. Keys count from 1, or with
    `keysOffset` from 1 - keysOffset. weight: inputSize x outputSize; output: [batch x] outputSize.

    With `normalize` values are divided by the largest magnitude that their key has had in training;
    four columns in front of the weights keep what that takes.

    The gradients of the weight are lists of rows, one for each key of each call.
    """

    weightDecay: Any = 0  # a field of files, and not the method of other modules

    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        doGradInput: bool = False,
        keysOffset: int | None = None,
        weight: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        normalize: bool | None = None,
    ) -> None:
        super().__init__()
        own = self.tensors
        self.normalize = _STATE_COLUMNS if normalize else 0
        if weight is not None and bias is not None:
            own.weight, own.bias = Tensor(weight), Tensor(bias)
            inputSize, outputSize = own.weight.shape[0], own.bias.size
        else:
            columns = outputSize + self.normalize
            own.weight = Tensor.zeros(inputSize, columns, dtype=np.float64)
            own.bias = Tensor.zeros(outputSize, dtype=np.float64)
        self.inputSize = inputSize
        self.outputSize = outputSize
        own.gradBias = Tensor.zeros(outputSize, dtype=np.float64)
        for name in ("gradWeight", "gradWeightBuffer", "valuesBuffer", "normalizedValues"):
            setattr(own, name, Tensor(dtype=np.float64))
        self.running: dict[str, Any] = {}
        self._forget()
        self.sizesCache: Any = {}
        self.cumSumSizesCache: Any = {}
        self.weightDecay = 0
        self.doGradInput = bool(doGradInput)
        self.offset = -1 if keysOffset is None else keysOffset - 1

    def reset(self, stdv: Any = None) -> Any:
        """Draws all parameters from [-s, s], and then scales the bias by a millionth.

        s = sqrt(3) stdv, by default 1 / sqrt(columns of weight). What `normalize` keeps becomes 0.
        Returns itself.
        """
        own = self.tensors
        draw(stdv, own.weight.shape[1], own.weight, own.bias)
        bias, weight = own.bias.array(), own.weight.array()
        bias *= 1e-6
        weight[:, : self.normalize] = 0
        return self

    def _samples(self, input: Any) -> _Samples:
        if not isinstance(input, list) or len(input) not in (2, 3):
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "a table {keys, values} or {keys, values, sizes}",
                repr(input),
            )  # fmt: skip
        keys, values, *sizes = input
        weight = self.tensors.weight
        is_flat, is_single = bool(sizes), not sizes and not isinstance(keys, list)
        if is_single:
            keys, values = [keys], [values]
        if is_flat:
            keys, values, counts = [keys], [values], _joined(sizes, np.int64)
        else:
            counts = Tensor(np.array([part.size for part in keys]), device=weight.device)
        return _Samples(
            _joined(keys, np.int64), _joined(values, weight.dtype), counts, is_flat, is_single
        )

    def updateOutput(self, input: Any) -> Any:
        own, samples = self.tensors, self._samples(input)
        output = self.result("output", own.weight)
        scaled = self.result("normalizedValues", own.weight)
        thnn.IndexLinear_updateOutput(
            None, samples.keys, self.offset, samples.values, samples.sizes, samples.sizes, output,
            own.weight, own.bias, scaled, int(bool(self.train)),
        )  # fmt: skip
        if samples.is_single:
            output.resize(self.outputSize)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput: Any = []
        if self.doGradInput:
            if self.normalize:
                raise THNNArgumentError.expected(
                    self.typename(), 1, "doGradInput", "False with normalize", "True"
                )
            gradInput = self._gradients(self._samples(input), gradOutput)
        self.assign("gradInput", gradInput)
        return gradInput

    def _gradients(self, samples: _Samples, gradOutput: Any) -> Any:
        weight = self.weight
        xp = array_module(weight)
        values = multiply(gradOutput.array().reshape(-1, self.outputSize), weight.T)
        keys = xp.arange(1, len(weight) + 1)
        if samples.is_flat:
            return [Tensor(xp.tile(keys, (len(values), 1))), Tensor(values)]
        if samples.is_single:
            return [Tensor(keys), Tensor(values[0])]
        return [[Tensor(keys) for _ in values], [Tensor(row) for row in values]]

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        own, samples = self.tensors, self._samples(input)
        rows = Tensor(dtype=own.weight.dtype, device=own.weight.device)
        values = own.normalizedValues if self.normalize else samples.values
        thnn.IndexLinear_accGradParameters(
            None, samples.keys, self.offset, values, samples.sizes, None,
            gradOutput.contiguous(), rows, own.gradBias, own.weight, own.bias, None,
            self.weightDecay, scale,
        )  # fmt: skip
        columns = (2 if self.normalize else 1) * self.outputSize
        rows.resize(samples.keys.size, columns)
        running = self.field("running")
        running["keys"].append(samples.keys)
        running["gradWeight"].append(rows)
        running["counter"] += 1

    def _runs(self, name: str) -> list[Tensor]:
        """What is kept of each backward call since the gradients were zeroed."""
        kept: list[Tensor] = self.field("running")[name]
        return kept

    def _forget(self) -> None:
        empty = {"cumSumSizes": [], "keys": [], "gradWeight": [], "counter": 1}
        self.assign("running", empty)

    def _upgrade(self) -> None:
        """Leaves out what Lua keeps of calls before the gradients were zeroed."""
        running = self.field("running")
        calls = int(running["counter"]) - 1
        for name in ("cumSumSizes", "keys", "gradWeight"):
            running[name] = list(running[name] or [])[:calls]

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        own, samples = self.tensors, self._samples(input)
        values = own.normalizedValues if self.normalize else samples.values
        thnn.IndexLinear_accUpdateGradParameters(
            None, samples.keys, self.offset, values, samples.sizes, None,
            gradOutput.contiguous(), own.weight, own.bias, self.weightDecay, lr,
        )  # fmt: skip

    sharedAccUpdateGradParameters = accUpdateGradParameters

    def parameterTensors(self) -> TensorLists | None:
        own = self.tensors
        return [own.weight, own.bias], [*self._runs("gradWeight"), own.gradBias]

    def zeroGradParameters(self) -> None:
        self.tensors.gradBias.zero()
        self._forget()

    def updateParameters(self, learningRate: Any) -> None:
        own = self.tensors
        if self._runs("keys"):
            thnn.IndexLinear_updateParameters(
                None, _joined(self._runs("gradWeight"), own.weight.dtype), own.gradBias, own.weight,
                own.bias, _joined(self._runs("keys"), np.int64), None, self.offset,
                self.weightDecay, learningRate,
            )  # fmt: skip

    def clearState(self) -> Self:
        self.clear("gradWeightBuffer", "valuesBuffer", "normalizedValues", "keys", "values")
        self.clear("sizes", "cumSumSizes")
        self.zeroGradParameters()
        self.sizesCache, self.cumSumSizesCache = {}, {}
        return super().clearState()
