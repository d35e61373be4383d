"""Where this library differs from the recorded behaviour of the original on purpose.

Each row is a function pattern, a pattern of the case's name (for an altered call
"case: argument alteration"), and what happens here: "rejected", "accepted", or "implemented" where
the original's result means nothing and ours is defined otherwise. docs/compatibility.md gives the
reason of each.
"""

from __future__ import annotations

import copy
from fnmatch import fnmatchcase

from support.recorded import Case

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
    (
        "SpatialAdaptiveMaxPooling_updateGradInput",
        "*: indices size of dimension [34] *",
        "rejected",
    ),
    ("SpatialAdaptive*Pooling_updateGradInput", "*: input * extra leading *", "rejected"),
    # A negative stride: the original computes output sizes from it and adds nothing.
    ("SpatialSubSampling_*", "*: d[WH] = -1", "rejected"),
    # The original ignores the padding, and insists that it is not zero.
    ("VolumetricConvolution_*", "*", "implemented"),
    # More frames in gradOutput than there are: the original adds up some windows twice.
    ("TemporalConvolution_*", "*: gradOutput size of dimension 2 one larger", "implemented"),
    ("TemporalConvolution_*", "k5s2: gradOutput size of dimension 1 one larger", "implemented"),
    ("TemporalConvolution_*", "*: input size of dimension 2 one smaller", "implemented"),
    # The original takes negative padding off the output, but reads the input from its beginning.
    ("TemporalRowConvolution_updateOutput", "*: padW = -3", "implemented"),
    # The original exchanges height and width of the input.
    (
        "SpatialDepthWiseConvolution_updateOutput",
        "*: input size of dimension [34] *",
        "implemented",
    ),
    # More planes in gradOutput than there are: the original mixes up samples.
    ("SpatialDepthWiseConvolution_*", "*: weight size of dimension 1 one smaller", "implemented"),
    # An input of other sizes than inputHeight x inputWidth: the original reads its elements in
    # another order or, where it unfolded the input before, has no use for the sizes.
    ("SpatialConvolutionLocal_*", "*: input size of dimension [34] one *", "rejected"),
    ("SpatialConvolutionLocal_*", "*: input[WH]* = *", "rejected"),
    ("SpatialConvolutionLocal_accGradParameters", "*: pad[WH] = *", "implemented"),
    # Of a table with more columns the original reads entries as if there were two.
    ("Spatial*ConvolutionMap_*", "*: connTable size of dimension 2 one larger", "implemented"),
    # The original has these numbers for the distance of samples, or has no use for them.
    ("Spatial*ConvolutionMap_*", "*: n*putPlane = *", "rejected"),
    # More planes than nInputPlane or nOutputPlane, or columns that no window reaches: the original
    # mixes up planes and samples.
    ("SpatialConvolutionMap_updateGradInput", "*: input size of dimension [24] *", "implemented"),
    ("SpatialConvolutionMap_updateGradInput", "*: gradOutput size of dimension 2 *", "implemented"),
    ("SpatialConvolutionMap_accGradParameters", "batch*: input * [24] one larger", "implemented"),
    # Sizes that do not belong together: the original correlates what they happen to describe.
    ("SpatialConvolutionMap_updateGradInput", "*: input one dimension fewer", "rejected"),
    ("SpatialConvolutionMap_updateGradInput", "*: gradOutput one extra *", "rejected"),
    ("SpatialConvolutionMap_accGradParameters", "*: input * extra leading *", "rejected"),
    ("SpatialConvolutionMap_accGradParameters", "batch*: input * 3 one smaller", "rejected"),
    ("SpatialConvolutionMap_accGradParameters", "k3: input * 2 one smaller", "rejected"),
    ("SpatialConvolutionMap_accGradParameters", "batch*: gradOutput * [34] one larger", "rejected"),
    ("SpatialConvolutionMap_accGradParameters", "k3: gradOutput * 2 one larger", "rejected"),
    ("Spatial*ConvolutionMap_accGradParameters", "*: gradWeight * [23] one larger", "rejected"),
    ("SpatialFullConvolutionMap_*", "*: input size of dimension [23] one larger", "rejected"),
    ("SpatialFullConvolutionMap_*", "*: gradOutput size of dimension [23] *", "rejected"),
    ("SpatialFullConvolutionMap_*", "*: gradOutput * extra leading *", "rejected"),
    ("SpatialFullConvolutionMap_updateGradInput", "*: weight * [23] one larger", "rejected"),
    ("SpatialFullConvolutionMap_updateGradInput", "*: dH = -1", "rejected"),
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
