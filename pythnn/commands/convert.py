"""``pythnn convert``: a .t7 file in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .. import nn, t7
from .._files import replacing
from .._models.errors import entry_of, explained, items_of, load_value, module_in
from .._models.inputs import asked_or_guessed
from .._models.rows import refuse_unknown, rows_of
from .._shown import shown
from ._weights import weights_in, write_npz

__all__ = ["convert_file"]


def convert_file(
    path: Path,
    out: Path,
    shapes: list[str],
    key: str | None,
    as_ascii: bool,
    any_size: bool | None = None,
) -> None:
    """Writes the value of a file, or what is under `key`, to `out`."""
    writers = {".npz": _write_npz, ".onnx": _write_onnx, ".t7": _write_t7}
    write = writers.get(out.suffix)
    if write is None:
        known = ", ".join(sorted(writers))
        raise click.UsageError(f"{out} should end in one of {known}: the name says the format")
    if shapes and write is not _write_onnx:
        raise click.UsageError("--input is for .onnx only")
    if any_size is not None and write is not _write_onnx:
        raise click.UsageError("--any-size and --fixed-size are for .onnx only")
    if as_ascii and write is not _write_t7:
        raise click.UsageError("--ascii is for .t7 only")
    to_look_at = write is not _write_onnx
    value = entry_of(load_value(path, to_look_at=to_look_at), key, path)
    if write is _write_t7:
        _write_t7(out, value, as_ascii)
    elif write is _write_npz:
        _write_npz(out, _only_module(value))
    else:
        _write_onnx(out, module_in(value, path, key), shapes, any_size)


def _write_t7(out: Path, value: Any, as_ascii: bool) -> None:
    with explained(f"{out} cannot be written"):
        t7.save(out, value, "ascii" if as_ascii else "binary")
    click.echo(f"{shown(out)}: {out.stat().st_size:,} bytes")


def _only_module(value: Any) -> Any:
    """The module of a table that has one, so that names begin with it; else the value."""
    modules = [item for _, item in items_of(value) if isinstance(item, nn.Module)]
    return modules[0] if len(modules) == 1 else value


def _write_npz(out: Path, value: Any) -> None:
    """Names are places, modules counted from 1, and fields: 3.1.weight."""
    arrays, unknown = weights_in(value)
    if not arrays:
        raise click.ClickException(f"there are no arrays to write to {out}")
    with explained(f"{out} cannot be written"), replacing(out) as file:
        write_npz(file, arrays)
    count = sum(array.size for array in arrays.values())
    click.echo(f"{shown(out)}: {len(arrays)} arrays, {count:,} numbers")
    if unknown:
        names = ", ".join(sorted(unknown))
        click.echo(f"Note: pythnn does not know {names}. Arrays there have the names of fields.")


def _write_onnx(out: Path, module: Any, shapes: list[str], any_size: bool | None) -> None:
    try:
        from .. import onnx
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    rows = rows_of(module)
    refuse_unknown(rows)
    module.float()
    module.evaluate()
    example = asked_or_guessed(module, rows, shapes)
    with explained(f"{out} cannot be written"):
        model = onnx.to_onnx(
            module, example.given, dynamic_batch=example.is_batch, dynamic_size=any_size
        )
        onnx.write(out, model)
    if example.is_guess:
        click.echo("The shape of the input is a guess; --input says another.", err=True)
    text = " and ".join(map(_shape_of, model.graph.input))
    click.echo(f"{shown(out)}: opset {onnx.OPSET}, input {text}")


def _shape_of(given: Any) -> str:
    """The shape of an input of a model, with names for free sizes."""
    dims = given.type.tensor_type.shape.dim
    names = (dim.dim_param.removeprefix(f"{given.name}_") or str(dim.dim_value) for dim in dims)
    return " x ".join(names)
