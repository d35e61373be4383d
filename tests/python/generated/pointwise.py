"""Element-by-element modules, on tensors of few elements."""

from __future__ import annotations

import numpy as np
from pointwise_definition import MODULES, call_backward, call_forward

from pythnn import State, Tensor

from . import Draw, close, family


@family(400)
def every_module(draw: Draw) -> None:
    names = [module.name for module in MODULES]
    module = MODULES[names.index(draw.one_of("module", names))]
    shape = draw.sizes("shape", draw.between("dimensions", 1, 5), 33)[:3]
    x, g = draw.integers(*shape), draw.integers(*shape)
    in_place = module.inplace and draw.one_of("in place", [False, True])
    given = np.array(draw.laid_out(x), copy=True) if in_place else draw.laid_out(x)
    y = None if in_place else Tensor(dtype=draw.real)
    with State(threads=2, minimum_work=1) as state:
        call_forward(module, given, y, in_place, state)
    output = given if in_place else y.numpy()
    wanted = module.forward(x.astype(float))
    close("output", output, wanted, np.abs(wanted) + 1, 40)
    wide = output.astype(float) if module.takes_output else x.astype(float)
    gx, given = (None, g.copy()) if in_place else (Tensor(dtype=draw.real), draw.laid_out(g))
    saved = output.copy() if module.takes_output else None
    with State(threads=2, minimum_work=1) as state:
        call_backward(module, output if in_place else x, given, gx, saved, in_place, state)
    if in_place and not module.takes_output:
        wide = output.astype(float)
    found = given if in_place else gx.numpy()
    wanted = g * module.slope(wide)
    close("gradInput", found, wanted, np.abs(g) + np.abs(wanted), 40)
