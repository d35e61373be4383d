"""Element-by-element modules, on tensors of few elements."""

from __future__ import annotations

import numpy as np
from pointwise_definition import MODULES, backward_arguments, forward_arguments

from pythnn import Tensor

from . import Draw, close, family


@family(400)
def every_module(draw: Draw) -> None:
    names = [module.name for module in MODULES]
    module = MODULES[names.index(draw.one_of("module", names))]
    shape = draw.sizes("shape", draw.between("dimensions", 1, 5), 33)[:3]
    x, g = draw.integers(*shape), draw.integers(*shape)
    in_place = module.inplace and draw.one_of("in place", [False, True])
    given = x.copy() if in_place else draw.laid_out(x)
    y = None if in_place else Tensor(dtype=draw.real)
    draw.call(f"{module.name}_updateOutput", *forward_arguments(module, given, y, in_place))
    output = given if y is None else y.numpy()
    wanted = module.forward(x.astype(float))
    close("output", output, wanted, np.abs(wanted) + 1, 40)
    given, gx = (g.copy(), None) if in_place else (draw.laid_out(g), Tensor(dtype=draw.real))
    seen = output if module.takes_output or in_place else x
    arguments = backward_arguments(module, seen, given, gx, output.copy(), in_place)
    draw.call(f"{module.name}_updateGradInput", *arguments)
    found = given if gx is None else gx.numpy()
    wanted = g * module.slope(seen.astype(float))
    close("gradInput", found, wanted, np.abs(g) + np.abs(wanted), 40)
