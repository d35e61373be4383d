"""Zeros around planes in the padding of the layer that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..graph.functions import functions
from ..graph.operations import Kernel, Operation, View
from .uses import argument, uses

__all__ = ["join_padding"]

_CONVOLUTIONS = ("SpatialConvolutionMM_updateOutput", "SpatialDilatedConvolution_updateOutput")
_AVERAGE = "SpatialAveragePooling_updateOutput"


def join_padding(operations: Sequence[Operation], results: Iterable[View]) -> list[Operation]:
    """The operations, with zeros that only a convolution or an average reads in its padding."""
    kept = list(operations)
    read_later = {view.buffer for view in results}
    for reader in operations:
        if not isinstance(reader, Kernel) or not _counts_zeros(reader):
            continue
        padded = reader.reads[0]
        makers = [one for one in kept if uses(one, padded.buffer) and one is not reader]
        if padded.buffer in read_later or len(makers) != 2:
            continue
        zero, copy = makers
        width = _width(zero, copy, padded)
        if width is None or not _stays(kept, copy, reader):
            continue
        joined = _joined(reader, copy, *width)
        if joined is not None:
            kept[kept.index(reader)] = joined
            kept.remove(zero)
            kept.remove(copy)
    return kept


def _counts_zeros(kernel: Kernel) -> bool:
    """Whether a window of the layer has the same result if zeros are padding."""
    if kernel.function == _AVERAGE:
        return bool(argument(kernel, "count_include_pad")) and not argument(kernel, "ceil_mode")
    return kernel.function in _CONVOLUTIONS


def _width(zero: Operation, copy: Operation, padded: View) -> tuple[int, int] | None:
    """The rows and columns of zeros on each side; None where sides differ, or it is no padding."""
    if (zero.function, copy.function) != ("Tensor.zero", "Tensor.copy"):
        return None
    inner, outer = copy.writes[0], zero.writes[0]
    if not outer.is_whole or outer.shape != padded.shape or not padded.is_whole:
        return None
    if inner.strides != outer.strides or inner.shape[:-2] != outer.shape[:-2]:
        return None
    rows, columns = (outer.shape[axis] - inner.shape[axis] for axis in (-2, -1))
    if rows % 2 or columns % 2 or copy.reads[0].shape != inner.shape:
        return None
    at_centre = inner.offset == rows // 2 * outer.shape[-1] + columns // 2
    return (rows // 2, columns // 2) if at_centre else None


def _stays(operations: Sequence[Operation], copy: Operation, reader: Kernel) -> bool:
    """Whether what is copied is still there when the layer reads it."""
    between = operations[operations.index(copy) + 1 : operations.index(reader)]
    source = copy.reads[0].buffer
    return not any(view.buffer is source for one in between for view in one.writes)


def _joined(reader: Kernel, copy: Operation, rows: int, columns: int) -> Kernel | None:
    """The layer with wider padding; None where it would be wider than its windows allow."""
    function, arguments, source = functions[reader.function], list(reader.arguments), copy.reads[0]
    for pad, size, more in (("padH", "kH", rows), ("padW", "kW", columns)):
        place = function.index_of(pad)
        assert place is not None  # noqa: S101 (these layers have both)
        wide, window = arguments[place], argument(reader, size)
        assert isinstance(wide, int)  # noqa: S101 (a width)
        assert isinstance(window, int)  # noqa: S101 (a size)
        if reader.function == _AVERAGE and 2 * (wide + more) > window:
            return None
        arguments[place] = wide + more
    arguments[1] = source
    reads = [source, *reader.reads[1:]]
    place_of_both = f"{copy.place} + {reader.place.rpartition('.')[2]}"
    return Kernel(reader.function, arguments, reads, reader.writes, place_of_both)
