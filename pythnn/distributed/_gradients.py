"""The gradient of a batch, by all processes.

How partial sums travel: the vector of all elements is cut into as many ranges as there are
processes. Each process sends the owner of a range its part of that range (a reduce-scatter); the
owner adds, in the order of the tree, what all have sent, and sends the sums to all (an allgather).
Where the numbers of shards and of processes are powers of two, a process sends and receives
2 (p - 1) / p vectors, as by recursive halving and doubling, which is the least there can be. Unlike
halving, any number of processes leaves the sums that the tree gives: the order of additions is that
of the owner, not that in which messages go. The price is p - 1 messages in place of log2(p).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _random
from .._errors import THNNArgumentError, THNNError
from ._group import Group, group_of
from ._state import Array, Elements, check_module
from ._tree import TreeSum, nodes_of, share

__all__ = ["gradients"]

Shard = TypeVar("Shard")


def gradients(
    comm: Any,
    module: Any,
    shards: Sequence[Shard],
    evaluate: Callable[[Shard], Any],
    *,
    deterministic: bool = True,
) -> float:
    """Sums the gradients of a batch over its shards, each of which one process evaluates.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm or None
        The processes that take part; None for all. Each of them makes the same call.
    module : nn.Module
        Its gradients are those of the whole batch afterwards, in all processes, where they lay
        before: in ``getParameters()[1]``, or in the layers' own arrays.
    shards : sequence
        The parts of the whole batch, the same in all processes: samples, or better their indices.
        The process evaluates only those that :func:`own_shards` says.
    evaluate : function of a shard
        It adds the shard's gradient to those of `module`, which are 0 before, by forward and
        backward calls, and returns a number, such as the loss, or None.
    deterministic : bool
        False lets MPI's ``Allreduce`` choose the order in which processes are added; the last bits
        then depend on how many there are.

    Returns the sum of what `evaluate` returned, over all shards, in all processes.

    Shards do not see each other: before each one, recurrent modules ``forget``, running statistics
    are those of before the call, and the random generator starts from a seed of the shard's own.
    Afterwards statistics are the mean of those that the shards left, and the generator goes on
    where one draw leaves it. What else `evaluate` draws, as from numpy, must depend on the shard
    alone.

    Raises THNNArgumentError for arguments that do not fit; THNNError when the processes do not have
    the same shards, elements of gradients and random generator; what `evaluate` raises, and in the
    other processes :class:`ProcessError` with its message.
    """
    group = group_of("gradients", 1, comm)
    facts, error = np.zeros(len(_FACTS)), None
    try:
        check_module("gradients", 2, module)
        _check_arguments(shards, evaluate)
        elements = Elements(module)
        draw = _random.default_generator().random()
        facts[:] = len(shards), elements.size, draw
        total, values = _evaluated(group, module, shards, evaluate, elements, draw)
    except BaseException as raised:  # raised again when all processes know
        error = raised
    _check_same(group, group.gather("gradients", facts, error))
    if group.size > 1:
        values = _of_all(group, len(shards), values)
        parts = [elements.on_host(vector) for vector in total.values]
        if deterministic:
            summed = _by_ranges(group, len(shards), parts, elements)
        else:
            summed = _by_mpi(group, parts, elements)
    else:
        summed = elements.on_host(total.values[0])
    elements.assign(summed, len(shards))
    return float(sum(values))


def _check_arguments(shards: Any, evaluate: Any) -> None:
    if not (hasattr(shards, "__len__") and hasattr(shards, "__getitem__")) or not len(shards):
        found = "none" if hasattr(shards, "__len__") else type(shards).__name__
        raise THNNArgumentError.expected(
            "distributed.gradients", 3, "shards", "a sequence with at least one", found
        )
    if not callable(evaluate):
        raise THNNArgumentError.expected(
            "distributed.gradients", 4, "evaluate", "a function of a shard", type(evaluate).__name__
        )


# ---- The shards of this process


def _evaluated(
    group: Group,
    module: Any,
    shards: Sequence[Shard],
    evaluate: Callable[[Shard], Any],
    elements: Elements,
    draw: int,
) -> tuple[TreeSum[Array], list[float]]:
    """The sums over this process's shards, as far as the tree adds them, and their values."""
    total: TreeSum[Array] = TreeSum(len(shards), elements.added)
    values = []
    with elements.kept_statistics() as restore_statistics, _kept_generator():
        for shard in share(len(shards), group.rank, group.size):
            restore_statistics()
            module.forget()
            module.zeroGradParameters()
            _random.manual_seed(_seed(draw, shard))
            values.append(_number(evaluate(shards[shard])))
            total.push((0, shard), elements)
            if total.values[-1] is elements:  # nothing to add it to, until the next shard is there
                total.values[-1] = elements.copied()
    return total, values


@contextmanager
def _kept_generator() -> Iterator[None]:
    """Sets the random generator back at the end."""
    kept = copy.copy(_random.default_generator())
    try:
        yield
    finally:
        _random.set_state(kept)


def _seed(draw: int, shard: int) -> int:
    """The seed of a shard, in 32 bits: those of all shards and draws are far from each other."""
    return int(np.random.SeedSequence([draw, shard]).generate_state(1)[0])


def _number(value: Any) -> float:
    """What `evaluate` returned."""
    if value is None:
        return 0.0
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise THNNArgumentError.expected(
            "distributed.gradients", 4, "evaluate", "a function that returns a number or None",
            f"one that returns {type(value).__name__}",
        ) from error  # fmt: skip


# ---- All processes

_FACTS = (
    ("shards", "give all processes the whole batch's"),
    ("elements of gradients and statistics", "make the same module in all"),
    (
        "a draw from the random generator",
        "call distributed.broadcast(module, comm) before training",
    ),
)
"""What all processes have in common, and what to do where they do not."""


def _check_same(group: Group, found: list[NDArray[np.float64]]) -> None:
    """Raises THNNError unless all processes have the same facts."""
    for process, facts in enumerate(found):
        for (name, what_to_do), first, fact in zip(_FACTS, found[0], facts, strict=True):
            if first != fact:
                raise THNNError(
                    f"distributed.gradients: the processes differ in {name}: {first:.0f} in process"
                    f" 0 of {group.size}, {fact:.0f} in process {process}; {what_to_do}"
                )


def _of_all(group: Group, shards: int, values: list[float]) -> list[float]:
    """The values of all shards."""
    counts = [len(share(shards, process, group.size)) for process in range(group.size)]
    found = np.empty(shards)
    group.comm.Allgatherv(np.array(values, np.float64), [found, counts])
    return list(map(float, found))


def _by_ranges(
    group: Group, shards: int, parts: list[NDArray[Any]], elements: Elements
) -> NDArray[Any]:
    """The sums over all shards, of which each process adds one range of the elements."""
    bounds = list(pairwise(i * elements.size // group.size for i in range(group.size + 1)))
    lengths = [stop - start for start, stop in bounds]
    nodes = [nodes_of(shards, process, group.size) for process in range(group.size)]
    own = lengths[group.rank]
    if len(parts) == 1:
        sent = parts[0]
    else:
        pieces = [part[start:stop] for start, stop in bounds for part in parts]
        sent = np.concatenate(pieces) if parts else np.empty(0, elements.dtype)
    received = np.empty((sum(map(len, nodes)), own), elements.dtype)
    group.comm.Alltoallv(
        [sent, [len(parts) * length for length in lengths]],
        [received, [len(theirs) * own for theirs in nodes]],
    )
    total: TreeSum[NDArray[Any]] = TreeSum(shards, _added)
    for node, row in zip((node for theirs in nodes for node in theirs), received, strict=True):
        total.push(node, row)
    summed = parts[0] if parts else np.empty(elements.size, elements.dtype)
    group.comm.Allgatherv(total.values[0], [summed, lengths])
    return summed


def _added(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    left += right
    return left


def _by_mpi(group: Group, parts: list[NDArray[Any]], elements: Elements) -> NDArray[Any]:
    """The sums over all shards, in the order of MPI's Allreduce."""
    summed = parts[0] if parts else np.zeros(elements.size, elements.dtype)
    for part in parts[1:]:
        summed += part
    received = np.empty_like(summed)
    group.comm.Allreduce(summed, received)
    return received
