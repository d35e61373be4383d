"""Recorded calls of Chainer, MXNet, Theano and of recurrent layers (``tests/data/seeds``)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FOLDER = Path(__file__).resolve().parents[2] / "data" / "seeds"
TOLERANCE = {np.float64: 1e-9, np.float32: 1e-5}
"""By which results may be off, of the size of the largest one; the recordings are in float64."""


class Case(NamedTuple):
    """A recorded call."""

    name: str
    op: str
    args: dict[str, Any]
    needs: dict[str, str]
    """MXNet: what to do with each gradient."""
    arrays: dict[str, np.ndarray | None]

    def as_(self, real: Any, gaps: bool = False) -> dict[str, Any]:
        """The arrays in another type, and with gaps between their elements."""
        return {name: _as(array, real, gaps) for name, array in self.arrays.items()}


def _as(array: np.ndarray | None, real: Any, gaps: bool) -> np.ndarray | None:
    if array is None or array.dtype.kind != "f":
        return array
    if not gaps:
        return array.astype(real)
    wide = np.zeros((*array.shape, 3), real)
    wide[..., 1] = array
    return wide[..., 1]


def on_device(xp: Any, arrays: dict[str, Any], gaps: bool) -> dict[str, Any]:
    """The arrays on a device, where they can have gaps too: a copy of one with gaps has none."""
    found = {}
    for name, array in arrays.items():
        if array is None or array.dtype.kind != "f" or not gaps:
            found[name] = None if array is None else xp.asarray(array)
        else:
            wide = np.zeros((*array.shape, 3), array.dtype)
            wide[..., 1] = array
            found[name] = xp.asarray(wide)[..., 1]
    return found


@cache
def _arrays(system: str) -> dict[str, np.ndarray]:
    with np.load(FOLDER / f"{system}.npz") as file:
        return dict(file)


def cases(system: str, *ops: str) -> list[Case]:
    """The recorded calls of some operations of a system."""
    listed = json.loads((FOLDER / f"{system}.json").read_text())["cases"]
    return [
        Case(
            f"{system} {i} {case['op']}",
            case["op"],
            case["args"],
            case.get("grad_req", {}),
            {n: key and _arrays(system)[key] for n, key in case["arrays"].items()},
        )
        for i, case in enumerate(listed)
        if case["op"] in ops
    ]


def check(found: Any, wanted: np.ndarray, real: Any, what: str) -> None:
    """Results are those of the recording, in their shape and type."""
    assert found.shape == wanted.shape, what
    assert found.dtype == real, what
    limit = TOLERANCE[real] * max(1, np.abs(wanted).max(initial=0))
    worst = np.abs(np.asarray(found, np.float64) - wanted).max(initial=0)
    assert worst <= limit, f"{what}: off by {worst:.3g}"
