"""pythnn.lib and pythnn.ffi: the C functions themselves, with errors as exceptions."""

from __future__ import annotations

import gc
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.memory import counting_memory

import pythnn
from pythnn import THNNArgumentError, THNNError, THNNMemoryError, ffi, lib, thnn
from pythnn._library import native

NULL = ffi.NULL


def floats(*sizes):
    make = getattr(lib, f"THFloatTensor_newWithSize{len(sizes)}d")
    return ffi.gc(make(*sizes), lib.THFloatTensor_free)


def test_functions_and_results():
    tensor = floats(2, 3)
    assert lib.THFloatTensor_fill(tensor, 2.0) is None
    assert lib.THFloatTensor_get2d(tensor, 1, 2) == 2.0
    assert lib.THFloatTensor_nElement(tensor) == 6
    assert lib.THFloatTensor_sumall(tensor) == 12.0
    assert ffi.typeof(tensor) is ffi.typeof("THFloatTensor *")
    assert tensor.nDimension == 2
    assert list(tensor.size[0:2]) == [2, 3]
    assert ffi.string(lib._THSizeDesc([2, 3], 2).str) == b"[2 x 3]"


def test_constants_and_variables():
    assert lib.TH_INDEX_BASE == 1
    assert lib.TH_STORAGE_RESIZABLE == 2
    assert ffi.addressof(lib.THDefaultAllocator).malloc != NULL
    assert lib.THNN_CONVOLUTION_GEMM == 1
    assert lib.THNN_CONVOLUTION_WINOGRAD == 3
    assert lib.THNN_CONVOLUTION_WINOGRAD4 == 4
    assert lib.THNN_CONVOLUTION_FFT_TILING == 5


def test_names():
    names = dir(lib)
    assert {"THFloatTensor_new", "THNN_DoubleThreshold_updateOutput", "THRandom_random"} <= set(
        names
    )
    assert not [n for n in names if n.startswith(("call_", "value_", "arrays_", "pythnn"))]
    for name in names:
        assert getattr(lib, name) is not None
    for missing in ("THSetErrorHandler", "_THError", "call_THFloatTensor_free", "pythnn_failed"):
        with pytest.raises(AttributeError, match="no public function"):
            getattr(lib, missing)
    assert "THFloatTensor_fill" in repr(lib.THFloatTensor_fill)
    assert "THFloatTensor *" in lib.THFloatTensor_fill.__doc__


def test_every_function_of_the_headers_is_there():
    """All of thnn.json whose module is there, in both real types."""
    from pythnn import thnn

    for name in thnn.__all__:
        assert callable(getattr(lib, f"THNN_Float{name}"))
        assert callable(getattr(lib, f"THNN_Double{name}"))


def test_columns_by_definition():
    image = np.arange(9, dtype=np.float32).reshape(1, 3, 3)
    columns = np.empty((4, 4), np.float32)
    lib.THNN_Floatim2col(
        ffi.from_buffer("float[]", image), 1, 3, 3, 2, 2, 2, 2, 0, 0, 1, 1, 1, 1,
        ffi.from_buffer("float[]", columns),
    )  # fmt: skip
    expected = np.lib.stride_tricks.sliding_window_view(image[0], (2, 2))
    np.testing.assert_array_equal(columns, expected.transpose(2, 3, 0, 1).reshape(4, 4))


# ---- Errors


def test_argument_error():
    with pytest.raises(THNNArgumentError) as caught:
        lib.THFloatTensor_get1d(floats(2), 5)
    assert caught.value.function == "THFloatTensor_get1d"
    assert caught.value.position
    assert re.fullmatch(r".*\.c:\d+", caught.value.location)
    assert " at " not in str(caught.value)


def test_error_of_a_function_with_a_result():
    with pytest.raises(THNNError):
        lib.THFloatTensor_newWithSize1d(2**62)
    assert (
        lib.THFloatTensor_get1d(
            ffi.gc(lib.THFloatTensor_newWithSize1d(1), lib.THFloatTensor_free), 0
        )
        is not None
    )


def test_rejected_by_a_kernel():
    tensor = floats(2, 3)
    with pytest.raises(THNNArgumentError, match="argument #3 'output'"):
        lib.THNN_FloatThreshold_updateOutput(NULL, tensor, NULL, 0.0, 0.0, False)


def test_wrong_pointer_type():
    with pytest.raises(TypeError):
        lib.THDoubleTensor_nElement(floats(2))
    with pytest.raises(TypeError):
        lib.THFloatTensor_nElement(None)


@pytest.mark.parametrize(
    "call",
    [
        lambda: lib.THFloatTensor_nElement(NULL),
        lambda: lib.THFloatTensor_fill(NULL, 1.0),
        lambda: lib.THLongTensor_copy(NULL, NULL),
        lambda: lib.THIntStorage_size(NULL),
        lambda: lib.THRandom_random(NULL),
        lambda: lib.THGenerator_copy(NULL, NULL),
    ],
)
def test_null_objects(call):
    with pytest.raises(THNNArgumentError, match="expected an object, found NULL"):
        call()


def test_free_takes_null():
    lib.THFloatTensor_free(NULL)
    lib.THGenerator_free(NULL)
    lib.THNN_State_free(NULL)


def test_freed_and_foreign_states():
    tensor = floats(2)
    with pytest.raises(THNNArgumentError, match="argument #1 'state'"):
        lib.THNN_FloatThreshold_updateOutput(
            ffi.cast("THNNState *", ffi.new("char[256]")), tensor, tensor, 0.0, 0.0, False
        )


def test_memory_error():
    with counting_memory() as memory:
        memory.fail_from(1)
        with pytest.raises(THNNMemoryError, match="not enough memory") as caught:
            lib.THAlloc(100)
        memory.fail_from(0)
    assert isinstance(caught.value, MemoryError)
    with pytest.raises(THNNMemoryError):
        lib.THAlloc(2**62)


def test_fields_of_errors():
    """Function, argument and place come from where the error is raised, not out of its text."""
    x = np.ones(3)
    with pytest.raises(THNNArgumentError) as caught:
        thnn.Linear_updateOutput(None, x, np.ones(2), np.ones((2, 4)), None, None)
    error = caught.value
    assert (error.function, error.argument, error.position) == ("Linear_updateOutput", "input", 2)
    assert re.fullmatch(r"\S+\.[ch]:\d+", error.location)
    assert error.location not in str(error)
    with pytest.raises(THNNArgumentError) as caught:
        lib.THFloatTensor_newSelect(floats(2, 2), 5, 0)
    error = caught.value
    assert (error.function, error.argument) == ("THFloatTensor_newSelect", None)
    assert error.position == 2
    with pytest.raises(THNNArgumentError) as caught:
        lib.THFloatTensor_nElement(ffi.NULL)
    error = caught.value
    assert (error.argument, error.position, error.location) == ("self", 1, None)


def test_the_extension_has_nothing_for_tests():
    """What it offers besides the C libraries is used by the package."""
    package = Path(pythnn.__file__).parent
    text = "".join(path.read_text() for path in package.rglob("*.py"))
    offered = {name for name in dir(native) if name.startswith("pythnn_")}
    assert len(offered) > 10
    assert {name for name in offered if name not in text} == set()


def test_errors_in_threads():
    """Each thread has its own error; a thread that never called before has one too."""

    def use(n):
        with pytest.raises(THNNArgumentError) as caught:
            lib.THNN_State_setThreads(state, -n)
        return str(caught.value)

    state = ffi.gc(lib.THNN_State_new(), lib.THNN_State_free)
    for _ in range(20):
        with ThreadPoolExecutor(8) as pool:
            texts = list(pool.map(use, range(1, 33)))
        for n, text in enumerate(texts, 1):
            assert text.endswith(f"found {-n}")


def test_errors_in_many_short_threads():
    failures = []

    def use():
        try:
            lib.THFloatTensor_newNarrow(tensor, 0, 5, 5)
        except THNNError as error:
            failures.append(error)

    tensor = floats(2)
    for _ in range(50):
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
    assert len(failures) == 50


def test_no_leaks():
    def use():
        tensor = floats(3, 4)
        ffi.gc(lib.THFloatTensor_newClone(tensor), lib.THFloatTensor_free)
        with pytest.raises(THNNError):
            lib.THFloatTensor_newSelect(tensor, 9, 9)
        with pytest.raises(THNNError):
            lib.THFloatTensor_resize2d(tensor, 2**40, 2**40)

    use()
    with counting_memory() as memory:
        for _ in range(10):
            use()
        gc.collect()
        assert memory.live == 0
