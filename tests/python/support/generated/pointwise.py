"""Element-by-element modules, on tensors of few elements."""

from __future__ import annotations

import numpy as np

from pythnn import Generator, Tensor
from support.definitions.pointwise import MODULES, backward_arguments, forward_arguments

from . import RESULT, Draw, family


def shape_of(draw: Draw) -> tuple[int, ...]:
    return draw.sizes("shape", draw.between("dimensions", 1, 4), 17)


@family(400)
def every_module(draw: Draw) -> None:
    names = [module.name for module in MODULES]
    module = MODULES[names.index(draw.one_of("module", names))]
    shape = shape_of(draw)
    x, g = draw.integers(*shape), draw.integers(*shape)
    in_place = module.inplace and draw.one_of("in place", [False, True])
    given = x.copy() if in_place else draw.laid_out(x)
    y = None if in_place else Tensor(dtype=draw.real)
    draw.call(f"{module.name}_updateOutput", *forward_arguments(module, given, y, in_place))
    output = given if y is None else y.numpy()
    wanted = module.forward(x.astype(float))
    draw.close("output", output, wanted, np.abs(wanted) + 1, 40)
    given, gx = (g.copy(), None) if in_place else (draw.laid_out(g), Tensor(dtype=draw.real))
    seen = output if module.takes_output or in_place else x
    arguments = backward_arguments(module, seen, given, gx, output.copy(), in_place)
    draw.call(f"{module.name}_updateGradInput", *arguments)
    found = given if gx is None else gx.numpy()
    wanted = g * module.slope(seen.astype(float))
    draw.close("gradInput", found, wanted, np.abs(g) + np.abs(wanted), 40)


@family(100)
def sqrt(draw: Draw) -> None:
    shape = shape_of(draw)
    x, g = np.abs(draw.integers(*shape)), draw.integers(*shape)
    output = draw.result("Sqrt_updateOutput", x, RESULT, 0)
    wanted = np.sqrt(x.astype(float))
    draw.close("output", output, wanted, wanted, 2)
    found = draw.result("Sqrt_updateGradInput", x, g, RESULT, output)
    wide = output.astype(float)
    wanted = np.divide(g, 2 * wide, out=np.zeros(shape), where=wide != 0)
    draw.close("gradInput", found, wanted, wanted, 2)


@family(150)
def rrelu(draw: Draw) -> None:
    """With slopes that are drawn, which are checked for their range, and with their mean."""
    shape, lower, upper = shape_of(draw), 0.125, draw.one_of("upper", [0.125, 0.375])
    x, g = draw.integers(*shape), draw.integers(*shape)
    train = draw.one_of("train", [True, False])
    settings = (lower, upper, train, False)
    output, noise = draw.results("RReLU_updateOutput", x, RESULT, RESULT, *settings, Generator(5))
    slope = np.where(x > 0, 1, (lower + upper) / 2)
    if train:
        draw.equal("slopes above 0", noise[x > 0], np.ones((x > 0).sum()))
        assert ((noise >= lower) & (noise <= upper))[x <= 0].all(), noise
        slope = noise.astype(float)
    draw.close("output", output, x * slope, x * slope, 2)
    found = draw.result("RReLU_updateGradInput", x, g, RESULT, noise, *settings)
    # Where slopes hardly differ, their mean is taken in training as well.
    mean = np.where(x > 0, 1, (lower + upper) / 2)
    wanted = g * (slope if train and upper - lower > 1e-6 else mean)
    draw.close("gradInput", found, wanted, wanted, 2)
