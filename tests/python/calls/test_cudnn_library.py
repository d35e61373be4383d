"""What is told to cuDNN, against the real library as far as it answers without a GPU.

That is where it is installed: `pip install nvidia-cudnn-cu12`, or PYTHNN_CUDNN with its path. What
it would compute is tested by a stand-in (tests/gpu/test_cudnn.py).
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pythnn import THNNError
from pythnn._cuda.cudnn import convolution, descriptors, layers, library
from pythnn._cuda.cudnn.handle import handle_of, is_there
from pythnn._cuda.driver import device_names
from pythnn._state import CUDNN_NAMES

if library.missing():
    pytest.skip(f"there is no cuDNN: {library.missing()}", allow_module_level=True)

REALS = {"float32": 0, "float64": 1}
rng = np.random.default_rng(0)


@pytest.fixture(scope="module")
def cudnn() -> library.Library:
    return library.load()


@pytest.fixture(scope="module")
def raw(cudnn: library.Library) -> Any:
    """The library itself, for functions that tell what descriptors hold."""
    return ctypes.CDLL(cudnn.name)


def drawn(n: int, low: int, high: int) -> tuple[int, ...]:
    return tuple(int(v) for v in rng.integers(low, high, n))


def ints(count: int) -> Any:
    return (ctypes.c_int * count)()


def test_version_and_functions(cudnn: library.Library) -> None:
    assert 90000 <= cudnn.version < 100000


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("n", [4, 5])
def test_tensors(cudnn: library.Library, raw: Any, n: int, real: str) -> None:
    shape = drawn(n, 1, 9)
    made = descriptors.tensor(cudnn, real, shape)
    kind, count, sizes, strides = ctypes.c_int(), ctypes.c_int(), ints(n), ints(n)
    pointer = ctypes.c_void_p(made.pointer)
    assert not raw.cudnnGetTensorNdDescriptor(
        pointer, n, ctypes.byref(kind), ctypes.byref(count), sizes, strides
    )
    assert (kind.value, count.value) == (REALS[real], n)
    assert tuple(sizes) == shape
    assert tuple(strides) == tuple(s // 8 for s in np.empty(shape).strides)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("n", [2, 3])
def test_convolutions(cudnn: library.Library, raw: Any, n: int, flip: bool) -> None:
    """Settings come back as they were given, and the library has the sizes that pythnn expects."""
    for _ in range(20):
        groups, batch = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        weight = (2 * groups, 3, *drawn(n, 1, 4))
        padding, stride, dilation = drawn(n, 0, 3), drawn(n, 1, 3), drawn(n, 1, 3)
        sizes = drawn(n, 7, 12)
        window = descriptors.convolution(cudnn, "float32", padding, stride, dilation, groups, flip)
        image = descriptors.tensor(cudnn, "float32", (batch, 3 * groups, *sizes))
        kernels = descriptors.filter_of(cudnn, "float32", weight)
        pointers = [ctypes.c_void_p(d.pointer) for d in (window, image, kernels)]
        found = ints(n + 2)
        assert not raw.cudnnGetConvolutionNdForwardOutputDim(*pointers, n + 2, found)
        extents = [d * (k - 1) + 1 for k, d in zip(weight[2:], dilation, strict=True)]
        lines = zip(sizes, padding, extents, stride, strict=True)
        assert tuple(found) == (
            batch,
            weight[0],
            *((i + 2 * p - e) // s + 1 for i, p, e, s in lines),
        )
        count, mode, kind = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        three = ints(n), ints(n), ints(n)
        assert not raw.cudnnGetConvolutionNdDescriptor(
            pointers[0], n, ctypes.byref(count), *three, ctypes.byref(mode), ctypes.byref(kind)
        )
        assert tuple(map(tuple, three)) == (padding, stride, dilation)
        assert (count.value, mode.value, kind.value) == (n, int(not flip), 0)
        for question, answer in (("GroupCount", groups), ("MathType", 3)):
            number = ctypes.c_int()
            assert not getattr(raw, f"cudnnGetConvolution{question}")(
                pointers[0], ctypes.byref(number)
            )
            assert number.value == answer


@pytest.mark.parametrize("n", [2, 3])
def test_poolings(cudnn: library.Library, raw: Any, n: int) -> None:
    for mode in layers._MODES.values():
        window, stride = drawn(n, 2, 4), drawn(n, 1, 3)
        padding, sizes = drawn(n, 0, 2), drawn(n, 5, 9)
        pooling = descriptors.pooling(cudnn, mode, window, padding, stride)
        image = descriptors.tensor(cudnn, "float64", (2, 3, *sizes))
        found = ints(n + 2)
        assert not raw.cudnnGetPoolingNdForwardOutputDim(
            ctypes.c_void_p(pooling.pointer), ctypes.c_void_p(image.pointer), n + 2, found
        )
        lines = zip(sizes, padding, window, stride, strict=True)
        assert tuple(found) == (2, 3, *((i + 2 * p - w) // s + 1 for i, p, w, s in lines))


def test_refused_numbers_are_errors(cudnn: library.Library) -> None:
    with pytest.raises(library.CudnnError, match="cudnnSetConvolutionNdDescriptor failed: CUDNN_"):
        descriptors.convolution(cudnn, "float32", (0, 0), (0, 1), (1, 1), 1, False)


@pytest.mark.skipif(bool(device_names()), reason="there is a GPU")
def test_without_a_gpu() -> None:
    """No handle: "auto" passes cuDNN over, and others learn why."""
    assert not is_there(0)
    with pytest.raises(
        THNNError, match=r"cuDNN \(.*\) does not work on cuda:0: cudnnCreate failed"
    ):
        handle_of(0)


def test_numbers_are_those_of_the_header(cudnn: library.Library) -> None:
    folder = Path(cudnn.name).parent.parent / "include"
    headers = [folder / f"cudnn_{name}.h" for name in ("cnn", "ops", "graph")]
    if not all(header.is_file() for header in headers):
        pytest.skip("the library came without its headers")
    text = "".join(header.read_text() for header in headers)
    numbers = {n: int(v) for n, v in re.findall(r"\b(CUDNN_\w+) *= *(\d+)", text)}
    short = {"output": "FWD", "grad_input": "BWD_DATA", "grad_weight": "BWD_FILTER"}
    for operation, names in convolution.ALGORITHMS.items():
        prefix = f"CUDNN_CONVOLUTION_{short[operation]}_ALGO_"
        expected = {n: v for n, v in numbers.items() if n.startswith(prefix)}
        count = expected.pop(f"{prefix}COUNT")
        spelled = {
            prefix + name.removeprefix("cudnn_").removeprefix("algo_").upper(): number
            for name, number in names.items()
        }
        assert spelled == expected
        assert len(names) == count
    assert {
        "max": numbers["CUDNN_POOLING_MAX_DETERMINISTIC"],
        "mean of all": numbers["CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING"],
        "mean of elements": numbers["CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING"],
    } == layers._MODES
    assert (
        numbers["CUDNN_SOFTMAX_ACCURATE"],
        numbers["CUDNN_SOFTMAX_LOG"],
        numbers["CUDNN_SOFTMAX_MODE_CHANNEL"],
    ) == (layers._ACCURATE, layers._LOG, layers._ALONG_CHANNELS)
    assert (
        numbers["CUDNN_BATCHNORM_PER_ACTIVATION"],
        numbers["CUDNN_BATCHNORM_SPATIAL"],
    ) == (layers._PER_ACTIVATION, layers._SPATIAL)
    assert numbers["CUDNN_FMA_MATH"] == descriptors._FMA_MATH
    assert numbers["CUDNN_TENSOR_NCHW"] == descriptors._NCHW
    assert {
        "float32": numbers["CUDNN_DATA_FLOAT"],
        "float64": numbers["CUDNN_DATA_DOUBLE"],
    } == descriptors._DATA_TYPES
    declared = {
        name: len(re.findall(",", arguments)) + 1
        for name, arguments in re.findall(r"\b(cudnn\w+)\(([^;{}]*)\);", _without_comments(text))
    }
    for name, letters in library._SIGNATURES.items():
        assert declared.get(name, len(letters)) == len(letters), name
    assert sum(name in declared for name in library._SIGNATURES) > len(library._SIGNATURES) - 3


def _without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def test_names_of_algorithms() -> None:
    named = {name for names in convolution.ALGORITHMS.values() for name in names}
    assert {"cudnn", *named} == set(CUDNN_NAMES)
