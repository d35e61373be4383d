"""Training that was interrupted goes on with the same bits."""

from __future__ import annotations

import copy
import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from .. import _random, t7
from .._errors import THNNArgumentError
from .._generator import Generator
from .._tensor import Tensor, array_module
from ..nn import Module
from ._group import group_of
from ._state import check_module, kept_tensors

__all__ = ["checkpoint", "resume"]

_OWN = ("model", "generator")


def checkpoint(
    comm: Any, path: str | os.PathLike[str], module: Any, state: Any = None, **more: Any
) -> None:
    """Writes all that training goes on from to a ``.t7`` file, which process 0 writes.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm or None
        The processes, which have the same values; None for all.
    path : path
        A file there is replaced when the new one is complete.
    module : nn.Module
        Saved as ``model``, without results of calls: :func:`pythnn.load`, and ``pythnn run``, take
        the file as a model. Classes of your own have to be registered (``nn.register``).
    state : dict, optional
        The state of an optimiser.
    more
        Other values by name, of the kinds that :func:`pythnn.save` takes: the epoch, for example.

    The random generator is saved with them. Raises what :func:`pythnn.save` raises, and in the
    other processes :class:`ProcessError`.
    """
    group = group_of("checkpoint", 1, comm)

    def write() -> None:
        check_module("checkpoint", 3, module)
        wrong = set(_OWN) & set(more)
        if wrong:
            raise THNNArgumentError.expected(
                "distributed.checkpoint", 5, "more", f"other names than {' and '.join(_OWN)}",
                sorted(wrong)[0],
            )  # fmt: skip
        if group.rank:
            return
        generator = np.frombuffer(_random.default_generator().to_bytes(), np.uint8)
        model = copy.deepcopy(module).clearState()
        t7.save(path, {"model": model, "generator": generator, "state": state, **more})

    group.agree("checkpoint", write)


def resume(comm: Any, path: str | os.PathLike[str], module: Any) -> dict[str, Any]:
    """Goes on from a file of :func:`checkpoint`, which process 0 reads, with the same bits.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm or None
        The processes, as many as there are now; None for all.
    path : path
        The file.
    module : nn.Module
        Made as the saved one was. Its tensors are written where they are, as in the flat array of
        ``getParameters``.

    Returns ``state`` and whatever else was saved, by name; arrays are where the module has its
    parameters. The random generator goes on where it stood.

    Raises T7Error for another file, and THNNArgumentError for a module of another make.
    """
    group = group_of("resume", 1, comm)
    content = group.from_root("resume", 0, lambda: Path(path).read_bytes())

    def restore() -> dict[str, Any]:
        check_module("resume", 3, module)
        found = t7.load(io.BytesIO(content))
        if not isinstance(found, dict) or not set(_OWN) <= set(found):
            raise THNNArgumentError.expected(
                "distributed.resume", 2, "path", "a file of distributed.checkpoint", os.fspath(path)
            )
        _restore(module, found.pop("model"))
        _random.set_state(_generator_of(found.pop("generator")))
        parameters = module.parameters()
        library = array_module(parameters[0][0]) if parameters and parameters[0] else np
        placed: dict[str, Any] = _placed(found, library)
        return {"state": {}, **placed}

    return group.agree("resume", restore)


def _generator_of(content: Any) -> Generator:
    """The generator that a file has the state of."""
    return Generator.from_bytes(np.asarray(content, np.uint8).tobytes())


def _restore(module: Module, saved: Any) -> None:
    """Copies the tensors of a saved module into those of a module of the same make."""
    if not isinstance(saved, Module) or _make(saved) != _make(module):
        raise THNNArgumentError.expected(
            "distributed.resume", 3, "module", f"one of the saved make:\n{saved}", repr(module)
        )
    kept = kept_tensors(module)
    device = kept[0].device if kept else "cpu"
    for own, other in zip(module.listModules(), saved.listModules(), strict=True):
        for name, value in other.tensors.__dict__.items():
            if name not in ("output", "gradInput"):
                _restore_field(own, name, value, device)


def _make(module: Module) -> list[Any]:
    """What modules have to have in common."""
    classes = [one.typename() for one in module.listModules()]
    return classes + [(one.dtype, one.shape) for one in kept_tensors(module)]


def _restore_field(module: Module, name: str, value: Any, device: str) -> None:
    """Copies what a field had into its tensors, or makes it the field where there is none yet.

    Where shapes differ, it is one that the next call computes.
    """
    held, many = module.field(name), isinstance(value, list)
    values = value if many else [value]
    if not all(isinstance(one, Tensor) for one in values):
        return
    if held is None:
        moved = [one.to(device) for one in values]
        module.assign(name, moved if many else moved[0])
        return
    targets = held if isinstance(held, list) else [held]
    if list(map(_shape, targets)) == list(map(_shape, values)):
        for tensor, saved in zip(targets, values, strict=True):
            if tensor.size:
                tensor.copy_from(saved)


def _shape(value: Any) -> Any:
    return value.shape if isinstance(value, Tensor) else None


def _placed(value: Any, library: Any) -> Any:
    """Values whose arrays of real numbers are those of a library."""
    if isinstance(value, dict):
        return {key: _placed(entry, library) for key, entry in value.items()}
    if isinstance(value, list):
        return [_placed(entry, library) for entry in value]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return library.asarray(value)
    return value
