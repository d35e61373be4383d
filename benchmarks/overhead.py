"""The cost of a call: calls on so little data that nothing else is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .cases import Case, Contents, Zeros
from .convolutions import transposed
from .criteria import mean_squared_error
from .pointwise import threshold


def overhead(arrays: bool) -> Iterator[Case]:
    """Calls on so little data that nothing but the call is measured."""
    kind = "arrays" if arrays else "Tensors"
    for case in (threshold((16,)), mean_squared_error((16,))):
        name = f"{case.name.split('_')[0]}_{kind}"
        tensors: dict[str, Contents] = dict(case.tensors, output=Zeros(case.tensors["input"].shape))
        if "target" in case.tensors:
            tensors["output"] = Zeros((1,))
        tensors["gradInput"] = Zeros(case.tensors["input"].shape)
        yield replace(case, name=name, family="overhead", tensors=tensors, arrays=arrays)
    full = transposed(1, 1, 1, 4, k=2)
    tensors = dict(full.tensors, output=Zeros((1, 1, 5, 5)), gradInput=Zeros((1, 1, 4, 4)))
    name = f"SpatialFullConvolution_{kind}"
    yield replace(full, name=name, family="overhead", tensors=tensors, arrays=arrays)


OVERHEAD = [*overhead(arrays=False), *overhead(arrays=True)]
