"""What is made of a model's parameters, once for all sizes of inputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from .._library import lib
from .._state import State
from .._tensor import Tensor
from ..graph.functions import functions
from ..graph.operations import Constant, Kernel, Operation

__all__ = ["Weights"]

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

_SMALL = 1 << 16
"""Bytes of the statistics of more planes than the layers of known networks have."""


class Weights:
    """What the plans of a program share.

    That is, parameters that are folded into one another, and states in which layers keep what they
    make of their weights. It has to be used under a lock while it is asked for what may be new.
    """

    def __init__(self, keeps: bool) -> None:
        self._keeps = keeps
        self._states: dict[Hashable, State] = {}
        self._folded: dict[Hashable, tuple[list[Tensor], tuple[Constant, ...]]] = {}

    def folded(
        self,
        sources: list[Tensor],
        numbers: Hashable,
        make: Callable[[], tuple[Constant, ...]],
    ) -> tuple[Constant, ...]:
        """What `make` makes of tensors and numbers, or has made of the same ones."""
        key = (*map(_contents, sources), numbers)
        if key not in self._folded:
            self._folded[key] = sources, make()  # tensors that live on have their addresses alone
        return self._folded[key][1]

    def states_of(self, operations: Iterable[Operation]) -> dict[int, State]:
        """The states for operations that can keep what they make of their weights, by their ids."""
        keys = {id(one): _layer(one) for one in operations} if self._keeps else {}
        return {
            one: self._states.setdefault(key, _keeping_state())
            for one, key in keys.items()
            if key is not None
        }

    @property
    def kept_nbytes(self) -> int:
        """The bytes that layers keep now."""
        return sum(lib.THNN_State_keptBytes(one._open()) for one in list(self._states.values()))


def _identity(tensor: Tensor) -> Hashable:
    return tensor.address, tensor.shape, tensor.strides, tensor.dtype


def _contents(tensor: Tensor) -> Hashable:
    """The numbers in a small tensor, or where a large one is.

    Each plan has copies of a model's statistics; parameters have one place for all plans.
    """
    if tensor.nbytes > _SMALL:
        return _identity(tensor)
    return tensor.numpy().tobytes(), tensor.shape, tensor.dtype


def _layer(operation: Operation) -> Hashable:
    """What tells an operation with a weight to keep from the others of a model; None for others."""
    if not isinstance(operation, Kernel) or operation.function not in _KEEPERS:
        return None
    place = functions[operation.function].index_of("weight")
    weight = None if place is None else operation.arguments[place]
    if not isinstance(weight, Constant):
        return None
    return operation.place, operation.function, _identity(weight.value)


def _keeping_state() -> State:
    state = State()
    lib.THNN_State_setKeepsWeights(state._open(), True)
    return state
