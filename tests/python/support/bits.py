"""Results that have to be the same bits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pythnn import State


def check_threads_and_gaps(
    run: Callable[[Mapping[str, np.ndarray], State | None], Sequence[np.ndarray]],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Whatever the number of threads, and with gaps between elements, `run` gives the same bits."""
    with State(threads=1) as alone:
        wanted = run(arrays, alone)
    for threads in (2, 3):
        with State(threads=threads, minimum_work=1) as state:
            for found, right in zip(run(arrays, state), wanted, strict=True):
                np.testing.assert_array_equal(found, right)
    wide = {}
    for name, array in arrays.items():
        memory = np.full((*array.shape, 2), 7, array.dtype)
        memory[..., 0] = array
        wide[name] = memory[..., 0]
    for found, right in zip(run(wide, None), wanted, strict=True):
        np.testing.assert_array_equal(found, right)
