"""Classes of other packages that well-known models of Lua Torch are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _random, thnn
from .._errors import THNNArgumentError
from .._tensor import Tensor
from .containers.container import Container
from .containers.decorator import Decorator
from .criterion.criterion import Criterion
from .object.module import Module
from .object.object import register
from .object.tables import zeros_like
from .object.values import array_module, describe
from .padding.border import SpatialZeroPadding
from .shape.plumbing import Identity
from .shape.selection import OneHot

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "CharOneHot",
    "DataParallelTable",
    "InstanceNormalization",
    "JustElement",
    "JustTable",
    "ModuleFromCriterion",
    "ShaveImage",
    "TotalVariation",
]


@register
class DataParallelTable(Decorator, kernel=True):
    """cunn's container for several GPUs: acts as its first module, which the others replicate.

    It keeps that module alone; `dimension` is that of the batch.
    """

    def __init__(
        self,
        dimension: int | None = None,
        flattenParams: bool = False,
        usenccl: bool = False,
    ) -> None:
        Container.__init__(self)
        self.dimension = dimension
        self.gpuAssignments: list[int] = []

    def add(self, module: Module, gpus: int | Sequence[int] = 1) -> Self:
        """Takes the module, unless it has one; `gpus` count from 1. Returns itself."""
        self.modules = self.modules or [module]
        self.gpuAssignments += [gpus] if isinstance(gpus, int) else list(gpus)
        return self

    def _upgrade(self) -> None:
        self.modules = list(self.field("modules") or [])[:1]


@register("nngraph.JustElement")
class JustElement(Module, kernel=True):
    """nngraph's, for the entry of a table of one."""

    def updateOutput(self, input: Any) -> Any:
        if not isinstance(input, list) or len(input) != 1:
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", "a table of 1", describe(input)
            )
        self.tensors.output = input[0]
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = [gradOutput]
        return self.tensors.gradInput


@register("nngraph.JustTable")
class JustTable(Module, kernel=True):
    """nngraph's, for a table of one whose entry is the input."""

    def updateOutput(self, input: Any) -> Any:
        self.tensors.output = [input]
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = gradOutput[0]
        return self.tensors.gradInput


@register
class ModuleFromCriterion(Module):
    """A criterion as a module of nngraph: the input is a table of its input and its target.

    The gradient of the input is the criterion's times `gradOutput`, that of the target is 0.
    """

    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        self.criterion = criterion
        self.tensors.output = Tensor.zeros(1, dtype=np.float64)
        self.tensors.gradInput = [Tensor(dtype=np.float64), Tensor(dtype=np.float64)]

    def _given(self, input: Any) -> tuple[Any, Any]:
        if not isinstance(input, list) or len(input) != 2:
            wanted = "a table of the criterion's input and target"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        return input[0], input[1]

    def updateOutput(self, input: Any) -> Any:
        given, target = self._given(input)
        value = self.criterion.forward(given, target)
        self.output = array_module(given).full((1,), value, self.dtype)
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        given, target = self._given(input)
        gradient = self.criterion.backward(given, target)
        self.gradInput = [_times(gradient, gradOutput.reshape(-1)[0]), zeros_like(target)]
        return self.gradInput


def _times(value: Any, factor: Any) -> Any:
    if isinstance(value, list):
        return [_times(entry, factor) for entry in value]
    return value * factor


@register
class InstanceNormalization(Module, kernel=True):
    """output = (input - mean) / sqrt(variance + eps) * weight + bias, for batch x nOutput x h x w.

    Mean and variance are those of each plane of each image, in use as in training. Of style
    transfer, as in fast-neural-style.
    """

    affine = True

    def __init__(
        self, nOutput: int, eps: float = 1e-5, momentum: float = 0, affine: bool = True
    ) -> None:
        super().__init__()
        self.nOutput = nOutput
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.prev_batch_size = -1  # so that Lua makes its buffers anew
        names = ["running_mean", "running_var"]
        for name in names + ["weight", "bias", "gradWeight", "gradBias"] * affine:
            setattr(self.tensors, name, Tensor.zeros(nOutput, dtype=np.float64))
        self.tensors.running_var.fill(1)
        if affine:
            self.tensors.weight.copy_from(_random.uniform((nOutput,), 0, 1))

    def _rows(self, tensor: Tensor) -> Tensor:
        """The planes of all images as the features of one image."""
        return tensor.contiguous().view(1, -1, *tensor.shape[2:])

    def _repeated(self, name: str, images: int) -> Tensor | None:
        tensor = self.field(name)
        if tensor is None:
            return None
        repeated: Tensor = tensor.unsqueeze(0).expand(images, tensor.size).contiguous()
        return repeated.view(-1)

    def updateOutput(self, input: Any) -> Any:
        features = int(self.nOutput)
        if input.ndim != 4 or input.shape[1] != features:
            wanted = f"batch x {features} x height x width"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input", wanted, f"shape {input.shape}"
            )
        images = input.shape[0]
        output = self.result("output", input).resize(input.shape)
        mean, std, unused, unused_too = (
            self.result(name, input).resize(images * features)
            for name in ("save_mean", "save_std", "seen_mean", "seen_var")
        )
        thnn.BatchNormalization_updateOutput(
            None, self._rows(input), self._rows(output), self._repeated("weight", images),
            self._repeated("bias", images), unused.zero(), unused_too.zero(), mean, std, True, 0,
            self.eps,
        )  # fmt: skip
        return output

    def _go_back(
        self, input: Any, gradOutput: Any, scale: Any, gradInput: Any, slopes: Any
    ) -> None:
        own = self.tensors
        gradWeight, gradBias = slopes
        thnn.BatchNormalization_backward(
            None, self._rows(input), self._rows(gradOutput), gradInput, gradWeight, gradBias,
            self._repeated("weight", input.shape[0]), own.seen_mean, own.seen_var, own.save_mean,
            own.save_std, True, scale, self.eps,
        )  # fmt: skip

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradInput = self.result("gradInput", input).resize(input.shape)
        self._go_back(input, gradOutput, 1, self._rows(gradInput), (None, None))
        return gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        own = self.tensors
        if own.gradWeight is None:
            return
        slopes = [own.save_mean.clone().zero() for _ in range(2)]
        self._go_back(input, gradOutput, scale, None, slopes)
        for total, slope in zip((own.gradWeight, own.gradBias), slopes, strict=True):
            array = total.array()
            array += slope.array().reshape(-1, array.size).sum(0)

    def clearState(self) -> Self:
        self.clear("save_mean", "save_std", "seen_mean", "seen_var")
        return super().clearState()

    def __repr__(self) -> str:
        return f"{self.typename()} ({self.nOutput})"


@register("OneHot")
class CharOneHot(OneHot):
    """nn.OneHot under the name that it has in char-rnn's files; its gradient is empty."""

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = array_module(gradOutput).zeros(0, gradOutput.dtype)
        return self.gradInput


@register
class ShaveImage(SpatialZeroPadding):
    """Cuts `size` rows and columns off each side of images, as fast-neural-style does."""

    def __init__(self, size: int) -> None:
        super().__init__(-size)
        self.size = size

    def _upgrade(self) -> None:
        super()._upgrade()
        for side in self._sides:
            self.assign(side, -self.size)


@register
class TotalVariation(Identity, kernel=True):
    """output = input; backward adds `strength` times the gradient of the total variation.

    That is half the sum of the squared differences to the right and below, of all but the last
    row and column. Of fast-neural-style.
    """

    def __init__(self, strength: float) -> None:
        super().__init__()
        self.strength = strength

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        image, gradient = input.array(), gradOutput.array().copy()
        corner = image[..., :-1, :-1]
        across = self.strength * (corner - image[..., :-1, 1:])
        down = self.strength * (corner - image[..., 1:, :-1])
        gradient[..., :-1, :-1] += across + down
        gradient[..., :-1, 1:] -= across
        gradient[..., 1:, :-1] -= down
        self.assign("gradInput", gradient)
        return self.tensors.gradInput
