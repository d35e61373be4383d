"""``pythnn convert``: a .t7 file in another format."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np

from .. import nn, t7
from ._errors import entry_of, explained, load_value, module_in
from ._measuring import parse_shape
from ._modules import first_layer, refuse_unknown, rows_of

__all__ = ["convert_file"]

# Sides of images that networks of Lua Torch were made for, the most usual first.
SIDES = tuple(dict.fromkeys((224, 32, 28, 64, 96, 128, 227, 231, 256, 299, *range(8, 320))))
FRAMES = (20, 50, 100)


def convert_file(path: Path, out: Path, shapes: list[str], key: str | None, as_ascii: bool) -> None:
    """Writes the value of a file, or what is under `key`, to `out`."""
    writers = {".npz": _write_npz, ".onnx": _write_onnx, ".t7": _write_t7}
    write = writers.get(out.suffix)
    if write is None:
        known = ", ".join(sorted(writers))
        raise click.UsageError(f"{out} should end in one of {known}: the name says the format")
    if shapes and write is not _write_onnx:
        raise click.UsageError("--input is for .onnx only")
    if as_ascii and write is not _write_t7:
        raise click.UsageError("--ascii is for .t7 only")
    value = entry_of(load_value(path, to_look_at=write is _write_t7), key, path)
    if write is _write_t7:
        _write_t7(out, value, as_ascii)
        return
    module = module_in(value, path)
    if write is _write_npz:
        _write_npz(out, module)
    else:
        _write_onnx(out, module, shapes)


def _write_t7(out: Path, value: Any, as_ascii: bool) -> None:
    with explained(f"{out} cannot be written"):
        t7.save(out, value, "ascii" if as_ascii else "binary")
    click.echo(f"{out}: {out.stat().st_size:,} bytes")


def _names(module: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """The parameters of a module and of those inside, each with its place in the tree."""
    if not isinstance(module, nn.Container):
        for name, _ in module.parameterFields:
            tensor = module.field(name)
            if tensor is not None:
                yield f"{place}{name}", np.asarray(tensor)
        for name in ("running_mean", "running_var"):
            if module.field(name) is not None:
                yield f"{place}{name}", np.asarray(module.field(name))
    for i, child in enumerate(module.children(), 1):
        yield from _names(child, f"{place}{i}.")


def _write_npz(out: Path, module: Any) -> None:
    """Names are places in the tree, from 1, and fields: 3.1.weight."""
    refuse_unknown(rows_of(module))
    arrays = dict(_names(module))
    with explained(f"{out} cannot be written"):
        np.savez(out, **arrays)
    count = sum(array.size for array in arrays.values())
    click.echo(f"{out}: {len(arrays)} arrays, {count:,} numbers")


def _write_onnx(out: Path, module: Any, shapes: list[str]) -> None:
    try:
        from .. import onnx
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    rows = rows_of(module)
    refuse_unknown(rows)
    module.float()
    module.evaluate()
    given = [[parse_shape(text) for text in shapes]] if shapes else _guesses(first_layer(rows))
    example, batched = _taken(module, given, first_layer(rows))
    with explained(f"{out} cannot be written"):
        onnx.save(out, module, example, dynamic_batch=batched)
    text = " and ".join(
        " x ".join(["batch" if batched else str(array.shape[0]), *map(str, array.shape[1:])])
        for array in (example if isinstance(example, list) else [example])
    )
    click.echo(f"{out}: opset {onnx.OPSET}, input {text}")


def _taken(module: Any, guesses: Iterable[list[tuple[int, ...]]], first: Any) -> tuple[Any, bool]:
    """The first example that the model takes, and whether that is with a batch in front.

    Zeros, or the index 1 where the first layer looks indices up.
    """
    indices = isinstance(first, nn.LookupTable)
    fill, dtype = (1, np.int64) if indices else (0, np.float32)
    reason = ""
    for shapes in guesses:
        for batch in ((1,), ()):
            arrays = [np.full((*batch, *shape), fill, dtype) for shape in shapes]
            example = arrays if len(arrays) > 1 else arrays[0]
            try:
                module.forward(copy.deepcopy(example))  # some modules work in place
            except Exception as error:  # a file decides what runs: any error says "not this shape"
                reason = reason or f"{type(error).__name__}: {error}"
                continue
            return example, bool(batch)
    raise click.ClickException(
        "cannot tell what input the model takes; say it with --input, such as --input 3x224x224 "
        f"(what was tried first: {reason})"
    )


def _guesses(first: Any) -> Iterator[list[tuple[int, ...]]]:
    """Shapes that the first layer may be meant for, each as a list of one."""
    yield from ([shape] for shape in _shapes(first))


def _shapes(first: Any) -> Iterator[tuple[int, ...]]:
    planes = first.field("nInputPlane")
    if isinstance(first, nn.Linear):
        yield (first.weight.shape[1],)
    elif isinstance(first, nn.LookupTable):
        yield from ((frames,) for frames in FRAMES)
    elif first.field("inputFrameSize") is not None:
        yield from ((frames, first.inputFrameSize) for frames in FRAMES)
    elif planes is not None and first.field("kT") is not None:
        yield from ((planes, 16, side, side) for side in SIDES)
    else:
        for count in [planes] if planes is not None else [3, 1]:
            yield from ((count, side, side) for side in SIDES)
