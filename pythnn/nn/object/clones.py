"""Copies of a module that have its parameters, such as those for the steps of a sequence."""

from __future__ import annotations

import copy
from typing import Any

__all__ = ["STATISTICS", "shared_clone", "shared_tensors", "step_clone"]

STATISTICS = ("running_mean", "running_var")
"""Fields that normalisations gather in training, beside parameters."""


def shared_tensors(module: Any, parameters: bool = True, gradients: bool = True) -> list[Any]:
    """The parameters, their gradients and the running statistics of one module."""
    names = [pair[0] for pair in module.parameterFields] if parameters else []
    names += STATISTICS if parameters else ()
    names += [pair[1] for pair in module.parameterFields] if gradients else []
    if module.field("lazy"):  # a dropout whose noise is the same in all steps
        names.append("noise")
    found = (module.field(name) for name in names)
    return [tensor for tensor in found if tensor is not None]


def shared_clone(module: Any, *kept: Any, parameters: bool = True, gradients: bool = True) -> Any:
    """A copy that has the same Tensors as parameters, gradients and running statistics.

    The objects `kept` are not copied where they occur; `parameters` and `gradients` say whether
    these are shared.
    """
    shared = [
        tensor
        for inside in module.listModules()
        for tensor in shared_tensors(inside, parameters, gradients)
    ]
    return copy.deepcopy(module, {id(value): value for value in (*shared, *kept)})


def step_clone(module: Any, parameters: bool = True, gradients: bool = True) -> Any:
    """A copy for another step: modules inside that go from step to step themselves stay one."""
    if module._goes_through_steps:
        return module
    recurrent = [one for one in module.listModules() if one._goes_through_steps]
    return shared_clone(module, *recurrent, parameters=parameters, gradients=gradients)
