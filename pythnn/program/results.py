"""Results of runs, which go to callers."""

from __future__ import annotations

from typing import Any

from .._errors import THNNArgumentError
from ..nn.object.values import describe, is_array

__all__ = ["check_out", "taken_over"]


def check_out(results: Any, out: Any) -> None:
    """Raises THNNArgumentError unless `out` is None or has the shapes and types of results."""
    if out is None:
        return
    if isinstance(results, list):
        if not isinstance(out, (list, tuple)) or len(out) != len(results):
            raise _refused(f"a list of {len(results)}", describe(out))
        for result, place in zip(results, out, strict=True):
            check_out(result, place)
    elif not is_array(out) or (out.shape, out.dtype) != (results.shape, results.dtype):
        wanted = f"an array of {results.dtype}, shape {results.shape}"
        found = f"one of {out.dtype}, shape {out.shape}" if is_array(out) else describe(out)
        raise _refused(wanted, found)


def taken_over(results: Any, out: Any) -> Any:
    """Copies of results, in tables too; or `out` with them."""
    if isinstance(results, list):
        places = [None] * len(results) if out is None else out
        made = [taken_over(one, place) for one, place in zip(results, places, strict=True)]
        return made if out is None else out
    if out is None:
        return results.copy() if is_array(results) else results
    out[...] = results
    return out


def _refused(wanted: str, found: str) -> THNNArgumentError:
    return THNNArgumentError.expected("Program", 2, "out", wanted, found)
