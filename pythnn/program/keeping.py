"""Weights that stay: what layers make of them is kept from run to run."""

from __future__ import annotations

from collections.abc import Iterable

from .._library import lib
from .._state import State
from ..graph.functions import functions
from ..graph.operations import Constant, Kernel, Operation

__all__ = ["keeping_states"]

_KEEPERS = (
    "Linear_updateGradInput",
    "Linear_updateOutput",
    "SeqLSTM_updateOutput",
    "SpatialConvolutionJoined_updateOutput",
    "SpatialConvolutionMM_updateOutput",
    "SpatialDilatedConvolution_updateOutput",
    "SpatialFullConvolutionJoined_updateOutput",
    "SpatialFullConvolution_updateOutput",
    "SpatialFullDilatedConvolution_updateOutput",
    "VolumetricConvolutionMM_updateOutput",
    "VolumetricConvolution_updateOutput",
    "VolumetricDilatedConvolution_updateOutput",
    "VolumetricFullConvolution_updateOutput",
    "VolumetricFullDilatedConvolution_updateOutput",
)
"""Functions that leave in a state what they make of a weight."""


def keeping_states(operations: Iterable[Operation]) -> dict[int, State]:
    """States for the operations that can keep what they make of their weights, by their ids."""
    return {id(one): _keeping_state() for one in operations if _keeps(one)}


def _keeps(operation: Operation) -> bool:
    if not isinstance(operation, Kernel) or operation.function not in _KEEPERS:
        return False
    place = functions[operation.function].index_of("weight")
    return place is not None and isinstance(operation.arguments[place], Constant)


def _keeping_state() -> State:
    state = State()
    lib.THNN_State_setKeepsWeights(state._open(), True)
    return state
