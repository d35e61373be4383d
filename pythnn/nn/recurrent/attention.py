"""RecurrentAttention and SpatialGlimpse: looking at parts of images, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ..containers.container import Container
from ..containers.decorator import Decorator
from ..object.module import Module
from ..object.object import register
from ..object.tables import add_into, added, copied, zeros_like
from ..object.values import array_module
from ..pooling.spatial import SpatialAveragePooling
from ._steps import first_of
from .sequencer import _recurrent

__all__ = ["RecurrentAttention", "SpatialGlimpse"]


@register
class RecurrentAttention(Container, kernel=True):
    """Gives `rnn` {input, action} for `nStep` steps; `action` makes each of the output before.

    The first action is that for zeros of `hiddenSize`. The gradient reaches actions through
    ``reinforce`` alone, but for `forwardActions`, with which the output of each step is {output,
    action}.
    """

    def __init__(self, rnn: Module, action: Module, nStep: int, hiddenSize: Sequence[int]) -> None:
        super().__init__()
        self.rnn, self.action = _recurrent(rnn), _recurrent(action)
        self.nStep, self.hiddenSize = nStep, list(hiddenSize)
        self.modules = [self.rnn, self.action]
        self.forwardActions = False
        self.actions: Any = []
        self.gradHidden: Any = []
        self.tensors.output = []

    def _hidden(self, step: int, input: Any) -> Any:
        """What the action of a step is made of."""
        if step:
            before = self.field("output")[step - 1]
            return before[0] if self.forwardActions else before
        batch = first_of(input).shape[:1]
        sizes = self.field("hiddenSize")
        sizes = sizes.tolist() if hasattr(sizes, "tolist") else sizes
        return Tensor.zeros(*batch, *(int(size) for size in sizes), dtype=self.dtype)

    def updateOutput(self, input: Any) -> Any:
        self.forget()
        outputs: list[Any] = []
        self.tensors.output = outputs
        actions = []
        for step in range(int(self.nStep)):
            actions.append(self.action.updateOutput(self._hidden(step, input)))
            output = self.rnn.updateOutput([input, actions[-1]])
            outputs.append([output, actions[-1]] if self.forwardActions else output)
            self.tensors.output = outputs
        self.assign("actions", actions)
        return self.tensors.output

    def _back(self, input: Any, gradOutput: Any, scale: Any) -> Any:
        actions = self.field("actions")
        total, later = None, None
        for step in reversed(range(int(self.nStep))):
            gradient, of_action = gradOutput[step], zeros_like(actions[step])
            if self.forwardActions:
                gradient, of_action = gradient
            if later is not None:
                gradient = added(gradient, later)
            later = self.action.backward(self._hidden(step, input), of_action, scale)
            found = self.rnn.backward([input, actions[step]], gradient, scale)[0]
            total = copied(found) if total is None else add_into(total, found)
        return total

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self.backward(input, gradOutput, 0)

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        self.tensors.gradInput = self._back(input, gradOutput, scale)
        return self.tensors.gradInput


@register
class SpatialGlimpse(Decorator):
    """Cuts `depth` squares out of images around places, each `scale` times as large as the last.

    Input: {batch x planes x height x width, batch x 2}: places are from -1 to 1, first along the
    height. All squares are reduced to `size`; output: batch x depth * planes x size x size. Only
    images get a gradient.
    """

    def __init__(self, size: int, depth: int = 3, scale: int = 2) -> None:
        super().__init__(SpatialAveragePooling(2, 2, 2, 2))
        self.module = self.modules[0]
        self.height = self.width = size
        self.depth, self.scale = depth, scale
        self.tensors.gradInput = [Tensor(dtype=np.float64) for _ in range(2)]

    def _squares(self, images: Any, places: Any) -> Any:
        """For each image and depth: sizes, padding, and where the square starts."""
        for sample, place in enumerate(places):
            height, width = int(self.height), int(self.width)
            for depth in range(int(self.depth)):
                pad = (height - 1) // 2, (width - 1) // 2
                free = (images.shape[2] + 2 * pad[0] - height,
                        images.shape[3] + 2 * pad[1] - width)  # fmt: skip
                start = [int(min(f, max(0, (float(p) + 1) / 2 * f)))
                         for f, p in zip(free, place, strict=True)]  # fmt: skip
                yield sample, depth, (height, width), pad, start
                height, width = height * int(self.scale), width * int(self.scale)

    def updateOutput(self, input: Any) -> Any:
        images, places = input
        single = images.ndim == 3
        if single:
            images, places = images[None], places.reshape(1, 2)
        xp = array_module(images)
        small = int(self.height), int(self.width)
        batch, planes = images.shape[:2]
        output = xp.empty((batch, int(self.depth), planes, *small), images.dtype)
        for sample, depth, size, pad, start in self._squares(images, places):
            padded = xp.pad(images[sample], [(0, 0), (pad[0],) * 2, (pad[1],) * 2])
            square = padded[:, start[0] : start[0] + size[0], start[1] : start[1] + size[1]]
            blocks = square.reshape(
                planes, small[0], size[0] // small[0], small[1], size[1] // small[1]
            )
            output[sample, depth] = blocks.mean((2, 4))
        output = output.reshape(batch, -1, *small)
        self.output = output[0] if single else output
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        images, places = input
        single = images.ndim == 3
        if single:
            images, places, gradOutput = images[None], places.reshape(1, 2), gradOutput[None]
        xp = array_module(images)
        small = int(self.height), int(self.width)
        gradient = xp.zeros_like(images)
        parts = gradOutput.reshape(images.shape[0], int(self.depth), images.shape[1], *small)
        for sample, depth, size, pad, start in self._squares(images, places):
            block = size[0] // small[0], size[1] // small[1]
            square = parts[sample, depth].repeat(block[0], 1).repeat(block[1], 2)
            sizes = images.shape[2] + 2 * pad[0], images.shape[3] + 2 * pad[1]
            padded = xp.zeros((images.shape[1], *sizes), images.dtype)
            padded[:, start[0] : start[0] + size[0], start[1] : start[1] + size[1]] = square / (
                block[0] * block[1]
            )
            gradient[sample] += padded[
                :, pad[0] : pad[0] + images.shape[2], pad[1] : pad[1] + images.shape[3]
            ]
        self.gradInput = [gradient[0] if single else gradient, xp.zeros_like(input[1])]
        return self.gradInput
