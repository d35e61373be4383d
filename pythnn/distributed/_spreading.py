"""What all processes begin with: the same module, and their parts of the data."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _random
from .._errors import THNNArgumentError
from .._tensor import is_on_device, on_host
from ._group import Group, group_of
from ._state import check_module, kept_tensors
from ._tree import share

__all__ = ["broadcast", "own_shards", "scatter"]


def broadcast(module: Any, comm: Any = None, root: int = 0) -> None:
    """Gives all processes the parameters, running statistics and random generator of one.

    Parameters
    ----------
    module : nn.Module
        Made in the same way in all processes. Its tensors stay where they are, as in the flat array
        of ``getParameters``; frozen parameters are sent too.
    comm : mpi4py.MPI.Intracomm, optional
        The processes; all by default.
    root : int
        The process whose values all get.

    Raises THNNArgumentError when the modules of two processes differ in make, shapes or types.
    """
    group = group_of("broadcast", 2, comm)
    group.agree("broadcast", lambda: _check_arguments(group, module, root))
    tensors = kept_tensors(module)
    make = [type(one).__name__ for one in module.listModules()]
    make += [f"{one.dtype} of {one.shape}" for one in tensors]
    wanted = group.from_root("broadcast", root, lambda: make)
    group.agree("broadcast", lambda: _check_make(wanted, make))
    for tensor in tensors:
        values = np.ascontiguousarray(tensor.cpu().numpy())
        group.comm.Bcast(values, root)
        if group.rank != root:
            tensor.copy_from(values)
    _random.set_state(group.comm.bcast(_random.default_generator(), root))


def _check_arguments(group: Group, module: Any, root: int) -> None:
    check_module("broadcast", 1, module)
    _check_root("broadcast", 3, group, root)


def _check_root(function: str, position: int, group: Group, root: int) -> None:
    if not isinstance(root, Integral) or not 0 <= root < group.size:
        raise THNNArgumentError.expected(
            f"distributed.{function}", position, "root", f"a process from 0 to {group.size - 1}",
            repr(root),
        )  # fmt: skip


def _check_make(wanted: list[str], found: list[str]) -> None:
    """Raises THNNArgumentError unless the module is made like that of the root."""
    if wanted == found:
        return
    places = zip([*wanted, "nothing"], [*found, "nothing"], strict=False)
    first, other = next(pair for pair in places if pair[0] != pair[1])
    raise THNNArgumentError.expected(
        "distributed.broadcast", 1, "module", f"{first}, as in the process that sends", other
    )


def own_shards(comm: Any, shards: int) -> range:
    """Which of a number of shards this process evaluates: a row of them, about the same in all."""
    group = group_of("own_shards", 1, comm)
    if not isinstance(shards, Integral) or shards < 0:
        raise THNNArgumentError.expected(
            "distributed.own_shards", 2, "shards", "a number of shards", repr(shards)
        )
    return share(shards, group.rank, group.size)


def scatter(comm: Any, data: Any, shards: int, root: int = 0) -> dict[int, Any]:
    """Sends each process the shards of a data set that it evaluates.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm or None
        The processes; None for all.
    data : array, or dict, list or tuple of arrays
        Samples along the first axis, as many in each array. Only the process `root` needs it.
    shards : int
        The number of shards that the samples are cut into, in their order and as evenly as they go.
    root : int
        The process that has the data.

    Returns the shards of :func:`own_shards` by their numbers: each in the form of `data`, with its
    samples. ``gradients(comm, module, range(shards), evaluate)`` goes with it.

    Raises THNNArgumentError for data of another form.
    """
    group = group_of("scatter", 1, comm)
    own_shards(group.comm, shards)
    group.agree("scatter", lambda: _check_root("scatter", 4, group, root))
    arrays: list[NDArray[Any]] = []

    def look() -> Any:
        form, found = _arrays_of(data)
        arrays.extend(found)
        return form, [(one.dtype, one.shape) for one in found]

    form, layouts = group.from_root("scatter", root, look)
    samples = layouts[0][1][0]
    bounds = [shard * samples // shards for shard in range(shards + 1)]
    shares = [share(shards, process, group.size) for process in range(group.size)]
    counts = [bounds[one.stop] - bounds[one.start] for one in shares]
    received = [
        _scattered(group, arrays[i] if arrays else None, layout, counts, root)
        for i, layout in enumerate(layouts)
    ]
    mine = shares[group.rank]
    first = bounds[mine.start]
    return {
        shard: _in_form(
            form, [one[bounds[shard] - first : bounds[shard + 1] - first] for one in received]
        )
        for shard in mine
    }


def _arrays_of(data: Any) -> tuple[Any, list[NDArray[Any]]]:
    """The form of the data, and their arrays in the CPU's memory."""
    form: Any = None
    if isinstance(data, dict):
        form, values = list(data), list(data.values())
    elif isinstance(data, (list, tuple)):
        form, values = (tuple if isinstance(data, tuple) else list), list(data)
    else:
        values = [data]
    arrays = [
        on_host(value) if is_on_device(value) else np.ascontiguousarray(value) for value in values
    ]
    if not arrays or any(one.dtype.hasobject or not one.ndim for one in arrays):
        raise _wanted("arrays of numbers, with samples along the first axis", data)
    if len({len(one) for one in arrays}) > 1:
        raise _wanted("as many samples in each array", [one.shape for one in arrays])
    return form, arrays


def _wanted(wanted: str, found: Any) -> THNNArgumentError:
    return THNNArgumentError.expected("distributed.scatter", 2, "data", wanted, repr(found))


def _scattered(
    group: Group,
    array: NDArray[Any] | None,
    layout: tuple[np.dtype[Any], tuple[int, ...]],
    counts: list[int],
    root: int,
) -> NDArray[Any]:
    """The samples of an array that this process gets."""
    dtype, (_, *sample) = layout
    received = np.empty((counts[group.rank], *sample), dtype)
    if group.size == 1:
        assert array is not None  # noqa: S101 (this process is the root)
        received[...] = array
        return received
    row = group.mpi.BYTE.Create_contiguous(dtype.itemsize * int(np.prod(sample))).Commit()
    try:
        sent = None if array is None else [array, counts, None, row]
        group.comm.Scatterv(sent, [received, counts[group.rank], row], root)
    finally:
        row.Free()
    return received


def _in_form(form: Any, arrays: list[NDArray[Any]]) -> Any:
    """Arrays in the form that the data had: keys of a dict, a class, or None for one array."""
    if form is None:
        return arrays[0]
    return dict(zip(form, arrays, strict=True)) if isinstance(form, list) else form(arrays)
