"""Forward calls that stop before they would cost too much: for inputs that nobody asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .. import nn
from .rows import Row, tensors_in

__all__ = ["Budget", "TooCostlyError", "hooked"]

Shape = tuple[int, ...]
Run = Callable[[Any], Any]

_CONVOLUTIONS = (
    nn.SpatialConvolution,
    nn.SpatialConvolutionLocal,
    nn.SpatialConvolutionMM,
    nn.SpatialConvolutionMap,
    nn.SpatialDepthWiseConvolution,
    nn.VolumetricConvolution,
)
_TRANSPOSED = (
    nn.SpatialFullConvolution,
    nn.SpatialFullConvolutionMap,
    nn.VolumetricFullConvolution,
)
_DENSE = (
    nn.Bilinear,
    nn.Linear,
    nn.PartialLinear,
    nn.TemporalConvolution,
    nn.TemporalRowConvolution,
)
_UPSAMPLING = (nn.SpatialUpSamplingNearest, nn.SpatialUpSamplingBilinear, nn.UpSampling)
_BORDERS = (
    nn.SpatialReflectionPadding,
    nn.SpatialReplicationPadding,
    nn.SpatialZeroPadding,
    nn.VolumetricReplicationPadding,
)


class TooCostlyError(Exception):
    """A forward call would cost more than is worth for a guess."""


@dataclass
class Budget:
    """What forward calls may cost, and what those so far did."""

    nbytes: float = 2e9
    """Of all outputs of one call: layers keep them."""
    multiply_adds: float = 1e11
    """Of all calls together: some seconds. VGG-19 does 2e10 on an image of 224 x 224."""
    calls: int = 300_000
    """Of modules, in all calls together: shared ones may make a tree that has no end."""
    spent: float = 0.0

    @contextmanager
    def watching(self, rows: list[Row]) -> Iterator[Callable[[], None]]:
        """While this is open, a layer that would exceed the budget raises TooCostlyError.

        The function that it gives begins another call of the model.
        """
        left = self.nbytes

        def begin() -> None:
            nonlocal left
            left = self.nbytes

        def watched(module: Any, run: Run) -> Run:
            def update_output(input: Any) -> Any:
                nonlocal left
                self.calls -= 1
                cost, largest = 0.0, _largest(input)
                if largest is not None and not isinstance(module, nn.Container):
                    made = _output_shape(module, tuple(largest.shape))
                    left -= math.prod(made) * largest.dtype.itemsize
                    cost = _cost(module, tuple(largest.shape), made)
                if left < 0 or self.calls < 0 or self.spent + cost > self.multiply_adds:
                    raise TooCostlyError(module.typename())
                self.spent += cost
                return run(input)

            return update_output

        with hooked(rows, watched):
            yield begin


@contextmanager
def hooked(rows: list[Row], wrapped: Callable[[Any, Run], Run]) -> Iterator[None]:
    """While this is open, modules do ``wrapped(module, updateOutput)`` for updateOutput."""
    modules = [row.value for row in rows if isinstance(row.value, nn.Module)]
    hooks: list[_Hook] = []
    for module in modules:
        module.__dict__["updateOutput"] = _Hook(module, wrapped, hooks)
    try:
        yield
    finally:
        for hook in hooks:
            hook.module.__dict__.pop("updateOutput", None)


class _Hook:
    """A module's updateOutput; of a copy of the module, that one's."""

    def __init__(self, module: Any, wrapped: Callable[[Any, Run], Run], hooks: list[_Hook]) -> None:
        self.module = module
        self.wrapped = wrapped
        self.hooks = hooks
        self.run = wrapped(module, lambda taken: type(module).updateOutput(module, taken))
        hooks.append(self)

    def __call__(self, input: Any) -> Any:
        return self.run(input)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Hook:
        return _Hook(memo[id(self.module)], self.wrapped, self.hooks)


def _largest(input: Any) -> Any:
    """The largest tensor of an input; None where there is none."""
    return max(tensors_in(input), key=lambda tensor: tensor.size, default=None)


def _cost(module: Any, given: Shape, made: Shape) -> float:
    """An estimate of the multiply-adds of a layer that has not run.

    Each weight counts once at each place: of the input where it paints the output.
    """
    try:
        weight = math.prod(module.field("weight").shape)
        if isinstance(module, nn.SpatialConvolutionLocal):
            return float(weight * math.prod(made[:-3]))
        if isinstance(module, (*_CONVOLUTIONS, *_TRANSPOSED)):
            places = given if isinstance(module, _TRANSPOSED) else made
            planes = 3 if module.typename().startswith("nn.Spatial") else 4
            return float(weight * (math.prod(places) // places[-planes]))
        return float(weight * math.prod(made[:-1])) if isinstance(module, _DENSE) else 0.0
    except Exception:  # the fields of a file may be anything
        return 0.0


def _output_shape(module: Any, given: Shape) -> Shape:
    """The shape that a layer makes of one, as far as it decides about the size."""
    try:
        if isinstance(module, _CONVOLUTIONS):
            return _planes(module, given, _convolved)
        if isinstance(module, _TRANSPOSED):
            return _planes(module, given, _transposed)
        if isinstance(module, _UPSAMPLING):
            return _upsampled(module, given)
        if isinstance(module, _BORDERS):
            widths = sum(max(0, getattr(module, side)) for side in module._sides)
            return (*given[:-2], given[-2] + widths, given[-1] + widths)
        if isinstance(module, (nn.Linear, nn.PartialLinear)):
            return (*given[:-1], module.field("weight").shape[0])
        if isinstance(module, nn.LookupTable):
            return (*given, module.field("weight").shape[1])
        if isinstance(module, nn.OneHot):
            return (*given, int(module.outputSize))
        if isinstance(module, (nn.TemporalConvolution, nn.TemporalRowConvolution)):
            return (*given[:-1], max(given[-1], getattr(module, "outputFrameSize", 0)))
        if isinstance(module, nn.Replicate):
            return (int(module.nfeatures), *given)
    except Exception:  # the fields of a file may be anything
        return given
    return given


def _planes(module: Any, given: Shape, resized: Callable[[Any, str, int], int]) -> Shape:
    axes = "HW" if module.typename().startswith("nn.Spatial") else "THW"
    inner = [resized(module, a, n) for a, n in zip(axes, given[-len(axes) :], strict=True)]
    planes = int(module.nOutputPlane)
    if isinstance(module, nn.SpatialDepthWiseConvolution):
        planes *= int(module.nInputPlane)
    return (*given[: -len(axes) - 1], planes, *inner)


def _field(module: Any, name: str, default: int) -> int:
    value = module.field(name)
    return default if value is None else int(value)


def _convolved(module: Any, axis: str, size: int) -> int:
    reach = _field(module, f"dilation{axis}", 1) * (_field(module, f"k{axis}", 1) - 1) + 1
    room = size + 2 * _field(module, f"pad{axis}", 0) - reach
    return max(0, room // _field(module, f"d{axis}", 1) + 1)


def _transposed(module: Any, axis: str, size: int) -> int:
    grown = (size - 1) * _field(module, f"d{axis}", 1) - 2 * _field(module, f"pad{axis}", 0)
    return max(0, grown + _field(module, f"k{axis}", 1) + _field(module, f"adj{axis}", 0))


def _upsampled(module: Any, given: Shape) -> Shape:
    factor = module.field("scale_factor")
    sizes = given[2:]
    if factor is not None:
        return (*given[:2], *(size * int(factor) for size in sizes))
    wanted = [module.field(name) for name in ("odepth", "oheight", "owidth")]
    return (*given[:2], *(int(size or 1) for size in wanted[-len(sizes) :]))
