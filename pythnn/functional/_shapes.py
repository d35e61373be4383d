"""Shapes of arguments, as the decorator of a function gives them.

``"[batch] planes height width"``: three dimensions, or four in a batch. ``"..."``: any; where it is
given for several arguments, the same. ``"batch planes ..."``: two or more. The same name is the
same size in all arguments of a function, a number is a size. All or none of a function's arguments
have the batch.
"""

from __future__ import annotations

from typing import Any

from ._arrays import Unfit

__all__ = ["Shapes"]

_BATCH, _ANY = "[batch]", "..."


class _Shape:
    """The shape of one argument."""

    def __init__(self, text: str) -> None:
        names = text.split()
        self.batch = _BATCH in names
        self.rest = _ANY in names
        self.names = [name for name in names if name not in (_BATCH, _ANY)]
        self.is_any = names == [_ANY]
        self.count = len(self.names)

    def place(self, i: int) -> int:
        """Where a name's dimension is in a shape: from the end, as a batch may stand first."""
        return i if self.rest else i - self.count

    def wanted(self, sizes: dict[str, int]) -> str:
        """The shape in words, with the sizes that are known."""
        words = ["[batch x]"] if self.batch else []
        words_of = [n.replace("_", " ") for n in self.names]
        known = [
            f"{sizes[n]} ({word})" if n in sizes else word
            for n, word in zip(self.names, words_of, strict=True)
        ]
        text = " ".join([*words, " x ".join(known)])
        return text + (" [x ...]" if self.rest else "")


class Shapes:
    """The shapes of the arguments of a function, in their order."""

    def __init__(self, shapes: dict[str, str]) -> None:
        self.shapes = {name: _Shape(text) for name, text in shapes.items()}
        # What conditions have named so far: the expression for a size, and the batch.
        self._known: dict[str, str] = {}
        self._batch: tuple[str, int] | None = None
        self._any: str | None = None

    def of_any_shape(self, name: str) -> bool:
        """Whether an argument may have any shape."""
        return name in self.shapes and self.shapes[name].is_any

    def has_batch(self, name: str, shape: tuple[int, ...] | None = None) -> bool:
        """Whether an argument may come in batches; with a shape, whether that is one."""
        wanted = self.shapes.get(name)
        if wanted is None:
            return True
        if not wanted.batch:
            return wanted.names[:1] == ["batch"]
        return shape is None or len(shape) == wanted.count + 1

    # ---- As code

    def conditions(self, name: str) -> list[str]:
        """Expressions that are true for an array of an argument that is in shape."""
        shape = self.shapes.get(name)
        if shape is None:
            return []
        if shape.is_any:
            if self._any is None:
                self._any = name
                return []
            return [f"{name}.shape == {self._any}.shape"]
        local = f"{name}_shape"
        found = [f"({local} := {name}.shape) is not None"]
        count = shape.count
        if shape.rest:
            found.append(f"len({local}) >= {count}")
        elif not shape.batch:
            found.append(f"len({local}) == {count}")
        elif self._batch is None:
            found.append(f"{count} <= len({local}) <= {count + 1}")
            self._batch = (local, count)
        else:
            other, its_count = self._batch
            found.append(f"len({local}) == len({other}) + {count - its_count}")
            found.append(f"(len({local}) == {count} or {local}[0] == {other}[0])")
        for i, size in enumerate(shape.names):
            expression = f"{local}[{shape.place(i)}]"
            if size.isdigit():
                found.append(f"{expression} == {size}")
            elif size in self._known:
                found.append(f"{expression} == {self._known[size]}")
            else:
                self._known[size] = expression
        return found

    # ---- As a check that says what is wrong

    def bind(self, given: dict[str, Any]) -> dict[str, int]:
        """The sizes by name; raises Unfit for an array of another shape."""
        sizes: dict[str, int] = {}
        batch: tuple[int, ...] | None = None
        first: tuple[str, tuple[int, ...]] | None = None
        for name, shape in self.shapes.items():
            if given[name] is None:
                continue
            found = tuple(given[name].shape)
            if shape.is_any:
                if first is not None and found != first[1]:
                    wanted = f"the shape of {first[0]}, {first[1]}"
                    raise Unfit(name, wanted, f"shape {found}")
                first = first or (name, found)
                continue
            leading = len(found) - shape.count
            fits = leading >= 0 if shape.rest else leading in ((0, 1) if shape.batch else (0,))
            if fits and shape.batch:
                own = found[:leading]
                if batch is not None and own != batch:
                    many = f"a batch of {batch[0]}" if batch else "no batch"
                    wanted = f"{shape.wanted(sizes)} with {many}"
                    raise Unfit(name, wanted, f"shape {found}")
                batch = own
            if not fits:
                raise Unfit(name, shape.wanted(sizes), f"shape {found}")
            own_sizes: dict[str, int] = {}
            for i, size in enumerate(shape.names):
                extent = found[shape.place(i)]
                wanted_size = int(size) if size.isdigit() else sizes.get(size, own_sizes.get(size))
                if wanted_size is not None and extent != wanted_size:
                    raise Unfit(name, shape.wanted(sizes), f"shape {found}")
                own_sizes[size] = extent
            sizes |= own_sizes
        return sizes
