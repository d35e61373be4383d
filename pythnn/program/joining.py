"""Sums and activations in the convolution before them, which does them as it stores its results.

The numbers are those of the operations one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._library import lib
from ..graph.functions import functions
from ..graph.operations import Buffer, Kernel, Operand, Operation, View
from .uses import argument, users, uses, with_arguments

__all__ = ["join_convolutions"]

_JOINED = {
    "SpatialConvolutionJoined_updateOutput": "SpatialConvolutionJoined_updateOutput",
    "SpatialConvolutionMM_updateOutput": "SpatialConvolutionJoined_updateOutput",
    "SpatialDilatedConvolution_updateOutput": "SpatialConvolutionJoined_updateOutput",
    "SpatialFullConvolutionJoined_updateOutput": "SpatialFullConvolutionJoined_updateOutput",
    "SpatialFullConvolution_updateOutput": "SpatialFullConvolutionJoined_updateOutput",
    "SpatialFullDilatedConvolution_updateOutput": "SpatialFullConvolutionJoined_updateOutput",
}
"""Convolutions, and the functions that compute them with what follows them."""
_NOTHING_JOINED = {
    "addend": None, "activation": lib.THNN_ACTIVATION_NONE, "first": 0, "second": 0,
    "dilationW": 1, "dilationH": 1,
}  # fmt: skip
_ACTIVATIONS: dict[str, tuple[int, tuple[str, ...]]] = {
    "ELU_updateOutput": (lib.THNN_ACTIVATION_ELU, ("alpha",)),
    "HardTanh_updateOutput": (lib.THNN_ACTIVATION_HARD_TANH, ("min_val", "max_val")),
    "LeakyReLU_updateOutput": (lib.THNN_ACTIVATION_LEAKY_RELU, ("negval",)),
    "Sigmoid_updateOutput": (lib.THNN_ACTIVATION_SIGMOID, ()),
    "Tanh_updateOutput": (lib.THNN_ACTIVATION_TANH, ()),
    "Threshold_updateOutput": (lib.THNN_ACTIVATION_THRESHOLD, ("threshold", "val")),
}
"""Activations as the convolutions number them, and the names of their parameters."""


def join_convolutions(operations: Sequence[Operation], results: Iterable[View]) -> list[Operation]:
    """The operations, with sums of two tensors and activations in the convolutions before them.

    That is, where nobody else reads what the convolution makes.
    """
    kept = list(operations)
    read_later = {view.buffer for view in results}
    for operation in operations:
        if isinstance(operation, Kernel):
            _join_sum(kept, operation, read_later)
    for operation in kept[:]:
        if isinstance(operation, Kernel):
            _join_activation(kept, operation, read_later)
    return kept


def _is_open(convolution: Kernel) -> bool:
    """Whether a kernel is a convolution to which something can be joined."""
    if convolution.function not in _JOINED or argument(convolution, "activation"):
        return False
    return convolution.writes[0].is_whole


def _joined(convolution: Kernel, operation: Kernel, output: View, **changed: Operand) -> Kernel:
    """A convolution and what follows it, with arguments for that; it writes `output`."""
    joined = _JOINED[convolution.function]
    names = [one.name for one in functions[convolution.function].arguments]
    given = {**_NOTHING_JOINED, **dict(zip(names, convolution.arguments, strict=True))}
    made = View(output.buffer, convolution.writes[0].shape, convolution.writes[0].strides)
    arguments = with_arguments(joined, {**given, **changed, "output": made})
    reads = [*convolution.reads, *(one for one in changed.values() if isinstance(one, View))]
    place = f"{convolution.place} + {operation.place.rpartition('.')[2]}"
    return Kernel(joined, arguments, reads, [made], place)


# ---- Sums


def _join_sum(kept: list[Operation], total: Kernel, read_later: set[Buffer]) -> None:
    """Joins total = total + addend to a convolution that makes either, where that is possible."""
    if total.function != "Tensor.cadd" or total.arguments[2] != 1:
        return
    made, addend = total.writes[0], total.reads[-1]
    of_buffer = users(kept)
    before = of_buffer[made.buffer][: of_buffer[made.buffer].index(total)]
    if len(before) != 1 or made.buffer is addend.buffer:
        return
    (first,) = before
    if first.function == "Tensor.copy" and first.reads and first.writes[0].is_whole:
        pairs = [(first.reads[0], addend), (addend, first.reads[0])]
        gone: list[Operation] = [first]
    else:
        pairs, gone = [(made, addend)], []
    for own, other in pairs:
        makers = of_buffer[own.buffer]
        convolution = makers[0]
        last = gone[0] if gone and own is not addend else total
        alone = own.buffer is made.buffer or (
            len(makers) == 2 and makers[1] is last and own.buffer not in read_later
        )
        if not alone or not isinstance(convolution, Kernel) or not _is_open(convolution):
            continue
        if argument(convolution, "addend") is not None or convolution.writes[0] != own:
            continue
        if not _fits(own, other, made) or not _stays(kept, convolution, total, gone, other):
            continue
        kept[kept.index(total)] = _joined(convolution, total, made, addend=other)
        for one in (convolution, *gone):
            kept.remove(one)
        return


def _fits(own: View, other: View, made: View) -> bool:
    """Whether operands and result are whole tensors of one shape."""
    return own.is_whole and made.is_whole and own.shape == other.shape == made.shape


def _stays(
    kept: list[Operation],
    convolution: Kernel,
    total: Kernel,
    gone: Sequence[Operation],
    other: View,
) -> bool:
    """Whether the convolution can be computed where the sum is."""
    begin, end = kept.index(convolution), kept.index(total)
    read = {view.buffer for view in convolution.reads}
    for one in kept[begin + 1 : end]:
        if any(view.buffer in read for view in one.writes):
            return False
    since = kept.index(gone[0]) if gone else begin
    if not gone or all(view.buffer is not other.buffer for view in gone[0].reads):
        return True
    return not any(
        view.buffer is other.buffer for one in kept[since + 1 : end] for view in one.writes
    )


# ---- Activations


def _join_activation(kept: list[Operation], operation: Kernel, read_later: set[Buffer]) -> None:
    """Joins an activation to the convolution whose result it reads."""
    if operation.function not in _ACTIVATIONS:
        return
    activation, names = _ACTIVATIONS[operation.function]
    x, output = operation.reads[0], operation.writes[0]
    of_buffer = users(kept)
    convolution, *others = of_buffer[x.buffer]
    if not isinstance(convolution, Kernel) or not _is_open(convolution):
        return
    if convolution.writes[0].buffer is not x.buffer or others[0] is not operation:
        return
    in_place = x.buffer is output.buffer
    if not in_place and (len(others) > 1 or x.buffer in read_later):
        return
    if not in_place and of_buffer[output.buffer][0] is not operation:
        return
    if not (x.is_whole and output.is_whole) or x.size != output.size:
        return
    between = kept[kept.index(convolution) + 1 : kept.index(operation)]
    if any(uses(one, output.buffer) for one in between):
        return
    parameters = zip(("first", "second"), names, strict=False)
    given = {own: argument(operation, name) for own, name in parameters}
    kept[kept.index(convolution)] = _joined(
        convolution, operation, output, activation=activation, **given
    )
    kept.remove(operation)
