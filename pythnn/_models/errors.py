"""Mistakes of users, as one line that says what to do."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from .. import nn, t7
from .._shown import shown, shown_name
from ..t7._foreign import HEAD, describe_foreign, looks_binary
from ..t7._values import name_text
from .rows import rows_of

__all__ = [
    "Inside",
    "description_of",
    "entry_of",
    "explained",
    "items_of",
    "load_value",
    "module_in",
    "modules_inside",
]


@contextmanager
def explained(what: str, advice: Callable[[], str] | None = None) -> Iterator[None]:
    """Turns whatever goes wrong inside into an error that begins with `what`.

    What `advice` returns stands at its end.
    """
    try:
        yield
    except click.ClickException:
        raise
    except MemoryError as error:
        raise click.ClickException(f"{what}: not enough memory. {error}") from error
    except Exception as error:
        # A file decides what runs here, so any error may be its fault rather than ours.
        message, more = f"{what}: {_reason(error)}", advice() if advice is not None else ""
        raise click.ClickException(f"{message.rstrip('.')}; {more}" if more else message) from error


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
            click.echo(f"Cannot run: {shown(error)}", err=True)
            return value


def entry_of(value: Any, key: str | None, path: Path) -> Any:
    """What is under a key, such as ``opt.net``; without one the value itself.

    Of names that have dots themselves the longest that is there counts.
    """
    names = key.split(".") if key else []
    while names:
        items = dict(_items_at(value))
        longest = min(len(names), max((name.count(".") + 1 for name in items), default=0))
        count = next((n for n in range(longest, 0, -1) if ".".join(names[:n]) in items), 0)
        if not count:
            raise click.UsageError(_missing(value, names[0], items, path))
        value = items[".".join(names[:count])]
        del names[:count]
    return value


def _missing(value: Any, name: str, items: dict[str, Any], path: Path) -> str:
    if not items:
        what = value.typename() if hasattr(value, "typename") else type(value).__name__
        return (
            f"{path} has no {name!r}: at that place is a {what}, no table. Leave it out of --key."
        )
    hint = ""
    if isinstance(value, nn.Object):
        hint = " Parts of a module are shown by --depth, and run as a whole."
    return f"{path} has no {name!r}; there is {', '.join(items)}.{hint}"


def module_in(value: Any, path: Path, key: str | None = None) -> Any:
    """The module that a value is, or the one in a table; `key` leads from the file to the value.

    Raises UsageError where there are several, ClickException where there is none.
    """
    if isinstance(value, nn.Module):
        return value
    direct = [name for name, item in items_of(value) if isinstance(item, nn.Module)]
    if len(direct) == 1:
        return dict(items_of(value))[direct[0]]
    inside = modules_inside(value, key)
    best = f"--key {shlex.quote(inside[0].key)}" if inside else ""
    if direct:
        raise click.UsageError(
            f"{path} holds several modules: {', '.join(direct)}. Choose one with --key. The one "
            f"with the most parameters is {best}."
        )
    if isinstance(value, t7.TorchObject):
        raise click.ClickException(
            f"{path} holds a {shown_name(value.torch_class)}, a class that pythnn does not know. "
            "Write it in Python, register it (pythnn.nn.register) and load the file there."
            + (f" Or run a module inside, with {best}." if inside else "")
        )
    if inside:
        others = f", of {len(inside)} modules" if len(inside) > 1 else ""
        raise click.UsageError(
            f"{path} holds no module at the top, but deeper{others}. `pythnn inspect {path}` shows "
            f"what is in it. Choose the largest with {best}."
        )
    names = ", ".join(name for name, _ in items_of(value)) or type(value).__name__
    raise click.ClickException(
        f"{path} holds no module but {names}. `pythnn inspect {path}` shows what is in it; "
        "--key takes a name, or several with dots between them."
    )


@dataclass(frozen=True)
class Inside:
    """A module in a value that is none."""

    key: str  # that leads to it from the file
    module: Any
    count: int  # of its parameters


def modules_inside(value: Any, key: str | None = None) -> list[Inside]:
    """The modules in tables and in objects of unknown classes, those with most parameters first.

    Modules inside of modules do not count. `key` leads from the file to the value. Of a module in
    several places the first one counts that a key leads to.
    """
    found: list[Inside] = []
    seen: set[int] = set()
    pending = deque([(value, key or "")])
    while pending:
        at, place = pending.popleft()
        if id(at) in seen:
            continue
        seen.add(id(at))
        if isinstance(at, nn.Module):
            found.append(Inside(place, at, rows_of(at)[0].count))
            continue
        names: set[str] = set()
        for name, item in _items_at(at):
            if name in names or not name.isprintable():
                continue  # the key of another entry, or one that nobody can type
            names.add(name)
            pending.append((item, f"{place}.{name}" if place else name))
    return sorted(found, key=lambda inside: -inside.count)


def items_of(value: Any) -> list[tuple[str, Any]]:
    """The entries of a table, keys as text."""
    if isinstance(value, (dict, t7.Table)):
        return [(name_text(name), item) for name, item in value.items()]
    if isinstance(value, list):
        return [(str(i), item) for i, item in enumerate(value, 1)]
    return []


def _items_at(value: Any) -> list[tuple[str, Any]]:
    """The entries of a table, or the fields of an object of an unknown class."""
    return items_of(value.fields if isinstance(value, t7.TorchObject) else value)
