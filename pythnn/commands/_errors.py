"""Mistakes of users, as one line that says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from .. import t7
from ..t7._foreign import HEAD, describe_foreign, looks_binary

__all__ = ["description_of", "entry_of", "explained", "items_of", "load_value", "module_in"]


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turns whatever goes wrong inside into an error that begins with `what`."""
    try:
        yield
    except click.ClickException:
        raise
    except MemoryError as error:
        raise click.ClickException(f"{what}: not enough memory. {error}") from error
    except Exception as error:
        # A file decides what runs here, so any error may be its fault rather than ours.
        raise click.ClickException(f"{what}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        folder = Path(error.filename).parent
        if not folder.is_dir():
            return f"there is no folder {folder}; make it first"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    name = "" if isinstance(error, (OSError, ValueError)) else f"{type(error).__name__}: "
    return f"{name}{error}"


def description_of(path: Path) -> str:
    """What a file is by its first bytes, for messages about one that should be something else."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if looks_binary(head):
        return "a .t7 file of Lua Torch"
    what = describe_foreign(head)
    return f"{what} that is damaged" if what.endswith(" image") else what


def load_value(path: Path, *, to_look_at: bool = False) -> Any:
    """What a .t7 file holds.

    `to_look_at`: where modules cannot be made of it, the objects as the file has them.
    """
    with explained(f"{path} cannot be read"):
        try:
            return t7.load(path)
        except t7.T7Error as error:
            if not to_look_at or error.__cause__ is None:
                raise
            value = t7.load(path, classes=False)
            click.echo(f"Cannot run: {error}", err=True)
            return value


def entry_of(value: Any, key: str | None, path: Path) -> Any:
    """What is under a key, such as ``opt.net``; without one the value itself."""
    for name in key.split(".") if key else ():
        value = _item(value, name, path)
    return value


def module_in(value: Any, path: Path) -> Any:
    """The module that a value is, or the one in a table."""
    from .. import nn

    if isinstance(value, nn.Module):
        return value
    found = [name for name, item in items_of(value) if isinstance(item, nn.Module)]
    if len(found) == 1:
        return dict(items_of(value))[found[0]]
    if found:
        raise click.UsageError(
            f"{path} holds several modules: {', '.join(found)}. Choose one with --key."
        )
    if isinstance(value, t7.TorchObject):
        inside = [
            f"{name}.{key}" if key else name
            for name, field in items_of(value.fields)
            for key, item in [("", field), *items_of(field)]
            if isinstance(item, nn.Module)
        ]
        raise click.ClickException(
            f"{path} holds a {value.torch_class}, a class that pythnn does not know. Write it in "
            "Python, register it (pythnn.nn.register) and load the file there."
            + (f" Or run a module inside, with --key {inside[0]}." if inside else "")
        )
    names = ", ".join(name for name, _ in items_of(value)) or type(value).__name__
    raise click.ClickException(
        f"{path} holds no module but {names}. `pythnn inspect {path}` shows what is in it; "
        "--key takes a name, or several with dots between them."
    )


def items_of(value: Any) -> list[tuple[str, Any]]:
    """The entries of a table, keys as text."""
    if isinstance(value, (dict, t7.Table)):
        return [(str(name), item) for name, item in value.items()]
    if isinstance(value, list):
        return [(str(i), item) for i, item in enumerate(value, 1)]
    return []


def _item(value: Any, name: str, path: Path) -> Any:
    if isinstance(value, t7.TorchObject):
        value = value.fields
    items = dict(items_of(value))
    if not items:
        what = value.typename() if hasattr(value, "typename") else type(value).__name__
        raise click.UsageError(
            f"{path} has no {name!r}: at that place is a {what}, no table. Leave it out of --key."
        )
    if name not in items:
        raise click.UsageError(f"{path} has no {name!r}; there is {', '.join(items)}.")
    return items[name]
