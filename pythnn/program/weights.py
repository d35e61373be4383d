"""What is made of a model's parameters, once for all sizes of inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from weakref import WeakSet

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

_SMALL = 1 << 18
"""Bytes up to which tensors are told apart by their numbers: more than known layers' statistics."""


_PLANS_OF_STATE = 8
"""Plans for sizes of inputs that a state has room for: see THNN_State_setKeepsWeights."""


@dataclass
class _Kept:
    """What a layer keeps: plans get another state when this one has no room for theirs."""

    weight: Tensor
    """It lives as long as the state, which knows it by its address."""
    state: State
    plans: int = 0


class Weights:
    """What the plans of a program share.

    That is, parameters that are folded into one another, and states in which layers keep what they
    make of their weights. Callers hold a lock, the same for all methods.
    """

    def __init__(self, keeps: bool) -> None:
        self.keeps = keeps
        """Whether layers keep anything."""
        self._kept: dict[Hashable, _Kept] = {}
        self._states: WeakSet[State] = WeakSet()
        """All that are in use: plans have those of before."""
        self._folded: dict[Hashable, tuple[list[Tensor], tuple[Constant, ...]]] = {}
        self._table_nbytes = 0

    def folded(
        self,
        sources: list[Tensor],
        numbers: Hashable,
        make: Callable[[], tuple[Constant, ...]],
    ) -> tuple[Constant, ...]:
        """What `make` makes of tensors and numbers, or has made of the same ones."""
        key = (*map(_contents, sources), numbers)
        if key not in self._folded:
            # The sources are kept, so that no other tensor gets their addresses.
            self._folded[key] = sources, make()
        return self._folded[key][1]

    def table(
        self, sources: list[Tensor], numbers: Hashable, make: Callable[[], Constant]
    ) -> Constant:
        """The same for one tensor that is larger than a weight, and counts as kept."""

        def counted() -> tuple[Constant, ...]:
            made = make()
            self._table_nbytes += made.value.nbytes
            return (made,)

        return self.folded(sources, numbers, counted)[0]

    def states_of(self, operations: Iterable[Operation]) -> dict[int, State]:
        """The states for operations that can keep what they make of their weights, by their ids."""
        found = {}
        for operation in operations if self.keeps else ():
            weight = _weight_of(operation)
            if weight is not None:
                key = operation.place, operation.function, _identity(weight)
                found[id(operation)] = self._state_of(key, weight)
        return found

    def _state_of(self, key: Hashable, weight: Tensor) -> State:
        kept = self._kept.get(key)
        if kept is None or kept.plans == _PLANS_OF_STATE:
            kept = self._kept[key] = _Kept(weight, _keeping_state())
            self._states.add(kept.state)
        kept.plans += 1
        return kept.state

    @property
    def kept_nbytes(self) -> int:
        """The bytes that layers keep now, and those of tables."""
        kept = sum(lib.THNN_State_keptBytes(one._open()) for one in list(self._states))
        return int(kept) + self._table_nbytes


def _identity(tensor: Tensor) -> Hashable:
    return tensor.address, tensor.shape, tensor.strides, tensor.dtype


def _contents(tensor: Tensor) -> Hashable:
    """The numbers in a small tensor, or where a large one is.

    Each plan has copies of a model's statistics; parameters have one place for all plans.
    """
    if tensor.nbytes > _SMALL:
        return _identity(tensor)
    return hashlib.blake2b(tensor.numpy().tobytes()).digest(), tensor.shape, tensor.dtype


def _weight_of(operation: Operation) -> Tensor | None:
    """The weight of which an operation can keep what it makes."""
    if not isinstance(operation, Kernel) or operation.function not in _KEEPERS:
        return None
    place = functions[operation.function].index_of("weight")
    weight = None if place is None else operation.arguments[place]
    return weight.value if isinstance(weight, Constant) else None


def _keeping_state() -> State:
    state = State()
    lib.THNN_State_setKeepsWeights(state._open(), True)
    return state
