"""The cost of a call: calls on so little data that nothing else is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from pythnn import nn

from .cases import Case, Contents, Normal, Part, Zeros
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


CHAIN, TINY = 100, (2, 4)


def modules(name: str, levels: int) -> Case:
    """100 modules one after the other on a tiny array, each in containers of so many levels."""

    @cache
    def ours(dtype: Any) -> Any:
        layers: list[Any] = [nn.Tanh() for _ in range(CHAIN)]
        for _ in range(levels):
            layers = [nn.Sequential(layer) for layer in layers]
        return nn.Sequential(*layers).type(dtype)

    @cache
    def theirs(torch: Any) -> Any:
        layers = [torch.nn.Tanh() for _ in range(CHAIN)]
        for _ in range(levels):
            layers = [torch.nn.Sequential(layer) for layer in layers]
        return torch.nn.Sequential(*layers)

    def our_gradients(t: Any) -> Any:
        net = ours(t.x.dtype)
        net.forward(t.x)
        return (net.backward(t.x, t.gradOutput),)

    def output(torch: Any, t: Any) -> Any:
        with torch.no_grad():
            return theirs(torch)(t.x)

    def gradients(torch: Any, t: Any) -> Any:
        leaf = t.x.detach().requires_grad_()
        return torch.autograd.grad(theirs(torch)(leaf), leaf, t.gradOutput)

    return Case(
        name,
        "overhead",
        {"x": Normal(TINY), "gradOutput": Normal(TINY)},
        (
            Part("output", (), output, function=lambda t: ours(t.x.dtype).forward(t.x)),
            Part("output and gradients", (), gradients, function=our_gradients),
        ),
        arrays=True,
    )


OVERHEAD = [
    *overhead(arrays=False),
    *overhead(arrays=True),
    modules("Tanh_100_modules", 0),
    modules("Tanh_100_modules_in_Sequentials", 1),
]
