"""Arrays from numpy's files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from .._models.errors import description_of

__all__ = ["ARRAYS", "read_arrays"]

ARRAYS = {".npy": b"\x93NUMPY", ".npz": b"PK"}  # and what such files begin with


def read_arrays(path: Path) -> list[NDArray[Any]]:
    """The array of a .npy file, or those of a .npz file in the order of their names.

    Numbers in names count as such, so that numpy.savez(file, a, b, …) keeps its order.

    ValueError where the file is neither, is cut off, or holds Python objects.
    """
    kind = path.suffix.lower()
    with path.open("rb") as file:
        if not file.read(8).startswith(ARRAYS[kind]):
            raise ValueError(f"not a {kind} file of numpy but {description_of(path)}")
        file.seek(0)
        try:
            loaded = np.load(file)
            if kind == ".npy":
                return [loaded]
            return [loaded[name] for name in sorted(loaded.files, key=_order)]
        except (BadZipFile, EOFError, ValueError) as error:
            holds_objects = "pickle" in str(error)
            what = "it holds Python objects, not numbers" if holds_objects else "it is damaged"
            raise ValueError(f"{what}; write it again with numpy.save or numpy.savez") from error


def _order(name: str) -> list[tuple[bool, int, str]]:
    """What names are sorted by: arr_2 comes before arr_10."""
    parts = re.split(r"(\d+)", name)
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]
