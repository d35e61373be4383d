"""Losses inside networks, of neural-style and fast-neural-style, and the latter's criterion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._errors import THNNArgumentError
from ..._products import product
from ..._tensor import Tensor
from ..criterion.criterion import Criterion
from ..criterion.elements import MSECriterion, SmoothL1Criterion
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe
from ..other_packages import TotalVariation

__all__ = ["ContentLoss", "GramMatrix", "PerceptualCriterion", "StyleLoss", "TVLoss"]

_TINY = 1e-8  # added to norms that divide


@register
class GramMatrix(Module):
    """The products of all pairs of planes, [batch x] planes x planes.

    With the field ``normalize`` they are divided by the number of elements of an image.
    """

    normalize: Any = None

    def __init__(self, normalize: bool = False) -> None:
        super().__init__()
        if normalize:
            self.normalize = True

    def _rows(self, input: Any) -> tuple[Any, Any]:
        """The planes as rows, and what they are divided by."""
        if getattr(input, "ndim", 0) not in (3, 4):
            wanted = "[batch x] planes x height x width"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        rows = input.reshape(*input.shape[:-2], -1)
        return rows, rows.shape[-1] * rows.shape[-2] if self.normalize else 1

    def updateOutput(self, input: Any) -> Any:
        rows, divisor = self._rows(input)
        self.output = product(rows, rows.swapaxes(-1, -2)) / divisor
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        rows, divisor = self._rows(input)
        both = gradOutput + gradOutput.swapaxes(-1, -2)
        self.gradInput = (product(both, rows) / divisor).reshape(input.shape)
        return self.gradInput


def _criterion(loss_type: str, name: str) -> Criterion:
    known = {"L2": MSECriterion, "SmoothL1": SmoothL1Criterion}
    if loss_type not in known:
        wanted = " or ".join(known)
        raise THNNArgumentError.expected(name, 2, "loss_type", wanted, repr(loss_type))
    return known[loss_type]()


class _LossInside(Module):
    """Passes its input on; ``loss`` is a loss of it, whose gradient backward adds.

    The field ``mode`` is "none", "capture", which takes the input as target, or "loss". In files of
    old versions, without it, there is always a loss.
    """

    crit: Any
    normalize: Any = None
    strength: Any

    def __init__(self, strength: float, normalize: bool = False, loss_type: str = "L2") -> None:
        super().__init__()
        self.strength = strength
        self.normalize = bool(normalize)
        self.tensors.target = Tensor(dtype=np.float64)
        self.loss = 0
        self.crit = _criterion(loss_type, self.typename())
        self.mode = "none"

    def _compared(self, input: Any) -> Any:
        """What is compared with the target."""
        return input

    def _back(self, input: Any, gradient: Any) -> Any:
        """The gradient of the input for that of what is compared."""
        return gradient

    def _has_loss(self, compared: Any) -> bool:
        if self.field("mode") not in (None, "loss"):
            return False
        target = self.field("target")
        return target is not None and compared.size % max(target.size, 1) == 0 < target.size

    def _target(self, compared: Any) -> Any:
        """The target; one is for all of a batch."""
        xp, target = array_module(compared), self.target
        if target.size == compared.size:
            return target.reshape(compared.shape)
        return xp.broadcast_to(target, compared.shape).copy()

    def _capture(self, compared: Any) -> None:
        self.tensors.target = Tensor(compared.copy())

    def updateOutput(self, input: Any) -> Any:
        compared = self._compared(input)
        if self.field("mode") == "capture":
            self._capture(compared)
        elif self._has_loss(compared):
            self.loss = self.crit.forward(compared, self._target(compared)) * self.strength
        self.output = input
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        compared = self._compared(input)
        if not self._has_loss(compared):
            self.gradInput = gradOutput.copy()
            return self.gradInput
        gradient = self.crit.backward(compared, self._target(compared))
        gradient = self._back(input, gradient)
        if self.normalize:
            gradient = gradient / (abs(gradient).sum() + _TINY)
        self.gradInput = gradient * self.strength + gradOutput
        return self.gradInput


@register
class ContentLoss(_LossInside):
    """`strength` times the loss between the input and a target, of neural-style.

    Passes its input on; ``loss`` is the loss, and backward adds its gradient, with `normalize`
    divided by its sum of absolute values. The field ``mode`` is "none", "capture", which takes the
    input as target, or "loss". `loss_type` is "L2" or "SmoothL1".
    """


@register
class StyleLoss(_LossInside):
    """ContentLoss of the input's GramMatrix, divided by the number of elements of the input.

    With the field ``blend_weight``, "capture" adds that many times the matrix to the target.
    """

    blend_weight: Any = None

    def __init__(self, strength: float, normalize: bool = False, loss_type: str = "L2") -> None:
        super().__init__(strength, normalize, loss_type)
        self.gram = GramMatrix()

    def _layer(self) -> Any:
        return self.field("agg_layer") or self.field("gram")

    def _divisor(self, input: Any) -> int:
        """What neural-style divides by here, and fast-neural-style in its layer."""
        return 1 if self.field("agg_layer") is not None else input.size

    def _compared(self, input: Any) -> Any:
        compared = self._layer().forward(input) / self._divisor(input)
        self.assign("G", compared)
        return compared

    def _back(self, input: Any, gradient: Any) -> Any:
        return self._layer().backward(input, gradient / self._divisor(input))

    def _capture(self, compared: Any) -> None:
        weight = self.blend_weight
        if weight is None:
            super()._capture(compared)
        elif not self.tensors.target.size:
            super()._capture(compared * weight)
        else:
            super()._capture(self.target + compared * weight)


@register
class TVLoss(TotalVariation, kernel=True):
    """neural-style's name for TotalVariation."""


@register
class PerceptualCriterion(Criterion):
    """fast-neural-style's criterion: the losses inside a network, which has a target for each.

    `cnn` has ContentLoss and StyleLoss layers; the target is a dict with ``content_target`` and
    ``style_target``, images that the network is shown first, or either alone.
    """

    net: Any

    def __init__(self, cnn: Module) -> None:
        super().__init__()
        self.net = cnn
        modules = cnn.listModules()
        self.content_loss_layers = [one for one in modules if isinstance(one, ContentLoss)]
        self.style_loss_layers = [one for one in modules if isinstance(one, StyleLoss)]

    def _layers(self, *names: str) -> Sequence[Any]:
        return [layer for name in names for layer in self.field(name) or []]

    def _all(self) -> Sequence[Any]:
        return self._layers("content_loss_layers", "style_loss_layers")

    def _show(self, image: Any, *names: str) -> None:
        for layer in self._all():
            layer.mode = "none"
        for layer in self._layers(*names):
            layer.mode = "capture"
        self.net.forward(image)

    def setContentTarget(self, target: Any) -> None:
        """Shows the network an image whose content is the target."""
        self._show(target, "content_loss_layers")

    def setStyleTarget(self, target: Any) -> None:
        """Shows the network an image whose style is the target."""
        self._show(target, "style_loss_layers")

    def updateOutput(self, input: Any, target: Any) -> Any:
        given = target if isinstance(target, dict) else {}
        if given.get("content_target") is not None:
            self.setContentTarget(given["content_target"])
        if given.get("style_target") is not None:
            self.setStyleTarget(given["style_target"])
        for layer in self._all():
            layer.mode = "loss"
        shown = self.net.forward(input)
        self.__dict__["_zeros"] = array_module(input).zeros_like(shown)
        self.output = float(sum(layer.loss for layer in self._all()))
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        self.gradInput = self.net.updateGradInput(input, self.__dict__["_zeros"])
        return self.gradInput
