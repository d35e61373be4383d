"""Where this library differs from the recorded behaviour of the original on purpose.

Each row is a function pattern, a pattern of the case's name (for an altered call
"case: argument alteration"), and what happens here: "rejected", "accepted", or "implemented" where
the original's result means nothing and ours is defined otherwise. docs/compatibility.md gives the
reason of each.
"""

from __future__ import annotations

import copy
from fnmatch import fnmatchcase

from recorded import Case

DEVIATIONS: list[tuple[str, str, str]] = [
    # A weight whose kernel is not the one that the arguments say: the original reads its elements
    # in another order, or columns that nobody filled.
    ("Spatial*DilatedConvolution_*", "*: *eight size of dimension [34] one *", "rejected"),
    ("VolumetricDilatedConvolution_*", "*: *eight size of dimension [345] one *", "rejected"),
    ("SpatialFullConvolution_*", "*: *eight size of dimension [34] one *", "rejected"),
    ("SpatialFull*Convolution_updateOutput", "*: k[WH] = 50", "rejected"),
    # The original reads the unfolded input that an earlier call left in finput; here finput is
    # scratch, and the input is unfolded again.
    ("SpatialConvolutionMM_accGradParameters", "*: input size of dimension *", "implemented"),
    ("VolumetricConvolutionMM_accGradParameters", "*: input size of dimension *", "implemented"),
    # The original takes the number of planes from the input that it is the gradient of.
    ("VolumetricConvolutionMM_updateGradInput", "*: input size of dimension * smaller", "rejected"),
    # A key that stands for no row of the weight: the original reads or writes outside it.
    ("IndexLinear_updateOutput", "*: keys contains the value *", "rejected"),
    ("IndexLinear_accUpdateGradParameters", "*: keys contains the value *", "rejected"),
    ("IndexLinear_updateParameters", "*: runningKeys contains the value *", "rejected"),
    # Entries out of order, or of a sample or feature 0: the original mixes up samples.
    ("SparseLinear_*", "*: input size of dimension 1 one larger", "implemented"),
    ("SparseLinear_*", "*: input row index *", "rejected"),
    ("SparseLinear_*", "*: input feature index *", "rejected"),
    # Indices outside the plane or the window: the original adds to other elements, or to none.
    ("SpatialAdaptiveMaxPooling_updateGradInput", "*: indices contains the value *", "rejected"),
    ("SpatialMaxPooling_updateGradInput", "*: indices contains the value -1", "rejected"),
    ("SpatialDilatedMaxPooling_updateGradInput", "*: indices contains the value -1", "rejected"),
    ("*MaxPooling_updateGradInput", "*: indices contains the value 1000", "rejected"),
    # Shapes that no forward call gives: the original reads their elements in another order.
    ("SpatialAdaptiveMaxPooling_updateGradInput", "*: indices size of dimension [34] *", "rejected"),
    ("SpatialAdaptive*Pooling_updateGradInput", "*: input * extra leading *", "rejected"),
    # A negative stride: the original computes output sizes from it and adds nothing.
    ("SpatialSubSampling_*", "*: d[WH] = -1", "rejected"),
    # The original ignores the padding, and insists that it is not zero.
    ("VolumetricConvolution_*", "*", "implemented"),
]


def deviation(function: str, case: str) -> str | None:
    """What happens here in place of the recorded behaviour, or None."""
    for functions, cases, outcome in DEVIATIONS:
        if fnmatchcase(function, functions) and fnmatchcase(case, cases):
            return outcome
    return None


def adapted(case: Case) -> Case:
    """The call that gives here what the recorded call gave there."""
    if case.module != "VolumetricConvolution":
        return case
    adapted = copy.copy(case)
    adapted.arguments = [copy.copy(a) for a in case.arguments]
    for name in ("pT", "pW", "pH"):
        adapted[name].value = 0  # which is what the original does with any padding
    return adapted
