"""Where this library differs from the recorded behaviour of the original on purpose.

Each row is a function pattern, a pattern of the case's name (for an altered call
"case: argument alteration"), and what happens here: "rejected", "accepted", or "implemented" where
the original's result means nothing and ours is defined otherwise. docs/compatibility.md gives the
reason of each.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

DEVIATIONS: list[tuple[str, str, str]] = [
    # A weight whose kernel is not kH x kW: the original reads it in another order, or reads
    # columns that nobody filled.
    ("Spatial*Convolution*", "*: *eight size of dimension [34] one *", "rejected"),
    ("SpatialFullConvolution_updateOutput", "*: k[WH] = 50", "rejected"),
]


def deviation(function: str, case: str) -> str | None:
    """What happens here in place of the recorded behaviour, or None."""
    for functions, cases, outcome in DEVIATIONS:
        if fnmatchcase(function, functions) and fnmatchcase(case, cases):
            return outcome
    return None
