"""Results that nobody reads, which need not be computed."""

from __future__ import annotations

from collections import Counter

from ..graph.functions import functions
from ..graph.operations import Buffer, Kernel, Operation, View
from .uses import with_arguments

__all__ = ["drop_indices"]

_POOLINGS = ("SpatialMaxPooling_updateOutput", "SpatialDilatedMaxPooling_updateOutput")
_REDUCTION = "Reduction_updateOutput"
_VALUES = "SpatialGreatest_updateOutput"
_NO_DILATION = {"dilationW": 1, "dilationH": 1}


def drop_indices(operations: list[Operation]) -> list[Operation]:
    """The operations, with maxima and minima that find values only where nobody reads indices."""
    uses = Counter(view.buffer for one in operations for view in (*one.reads, *one.writes))
    return [_of_values(one) if _has_unused_indices(one, uses) else one for one in operations]


def _has_unused_indices(operation: Operation, uses: Counter[Buffer]) -> bool:
    if not isinstance(operation, Kernel) or operation.function not in (*_POOLINGS, _REDUCTION):
        return False
    return len(operation.writes) > 1 and uses[operation.writes[1].buffer] == 1


def _of_values(pooling: Operation) -> Kernel:
    """A max pooling or a reduction without indices."""
    assert isinstance(pooling, Kernel)  # noqa: S101 (_has_unused_indices)
    writes: list[View] = pooling.writes[:1]
    if pooling.function == _REDUCTION:
        kept = [None if one is pooling.writes[1] else one for one in pooling.arguments]
        return Kernel(_REDUCTION, kept, pooling.reads, writes, pooling.place)
    names = [argument.name for argument in functions[pooling.function].arguments]
    given = {**_NO_DILATION, **dict(zip(names, pooling.arguments, strict=True))}
    return Kernel(_VALUES, with_arguments(_VALUES, given), pooling.reads, writes, pooling.place)
