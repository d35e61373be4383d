"""How the low-level functions take their arguments: arrays, Tensors, scalars, None."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import pythnn
from pythnn import State, Tensor, THNNArgumentError, THNNError, thnn

REALS = [np.float32, np.float64]


def threshold(x, y, inplace=False, state=None, threshold=0.0, val=0.0):
    thnn.Threshold_updateOutput(state, x, y, threshold, val, inplace)


def relu(x):
    return np.where(x > 0, x, 0).astype(x.dtype)


def sample(shape=(2, 3), dtype=np.float32):
    return np.random.default_rng(1).normal(size=shape).astype(dtype)


def check_refused(call, argument, position, found, function="Threshold_updateOutput"):
    with pytest.raises(THNNArgumentError) as caught:
        call()
    error = caught.value
    assert (error.function, error.argument, error.position) == (function, argument, position)
    assert str(error).startswith(f"{function}: argument #{position} '{argument}': expected ")
    assert found in str(error)
    assert " at " not in str(error)


# ---- What is accepted


@pytest.mark.parametrize("dtype", REALS)
def test_arrays(dtype):
    x = sample(dtype=dtype)
    y = np.full_like(x, 7)
    assert threshold(x, y) is None
    np.testing.assert_array_equal(y, relu(x))


@pytest.mark.parametrize("dtype", REALS)
def test_tensors_are_resized(dtype):
    x = Tensor(sample(dtype=dtype))
    y = Tensor(dtype=dtype)
    threshold(x, y)
    np.testing.assert_array_equal(y.numpy(), relu(x.numpy()))
    threshold(Tensor(sample((4, 5, 6), dtype)), y)
    assert y.shape == (4, 5, 6)


def test_a_view_is_resized_where_it_begins():
    """Its storage grows by what lies before it, too."""
    base = Tensor(np.arange(10.0))
    view = base.narrow(0, 6, 2)
    thnn.Abs_updateOutput(None, Tensor(-np.arange(100.0)), view)
    assert view.tolist() == list(range(100))
    assert (view.storage_offset, view.storage.size) == (6, 106)
    assert base.tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]


def test_arrays_and_tensors_together():
    x = sample()
    y = Tensor(dtype=x.dtype)
    threshold(x, y)
    np.testing.assert_array_equal(y.numpy(), relu(x))
    z = np.empty_like(x)
    threshold(Tensor(x), z)
    np.testing.assert_array_equal(z, relu(x))


@pytest.mark.parametrize(
    "cut",
    [
        np.s_[::2, 1:4],
        np.s_[::-1, ::-1],
        np.s_[:, ::-2],
        np.s_[1:2, :],
        np.s_[..., None],
        np.s_[2],
    ],
)
def test_strided_inputs_and_outputs(cut):
    x = sample((6, 8))
    y = np.full((6, 8), 7, np.float32)
    threshold(x[cut], y[cut])
    expected = np.full_like(y, 7)
    expected[cut] = relu(x[cut])
    np.testing.assert_array_equal(y, expected)


def test_transposed_and_broadcast_inputs():
    x = sample((3, 4))
    y = np.empty((4, 3), np.float32)
    threshold(x.T, y)
    np.testing.assert_array_equal(y, relu(x.T))
    wide = np.broadcast_to(x[:, :1], (3, 4))
    z = np.empty((3, 4), np.float32)
    threshold(wide, z)
    np.testing.assert_array_equal(z, relu(wide))


def test_misaligned_arrays():
    raw = np.zeros(4 * 6 + 1, np.uint8)
    x = raw[1:].view(np.float32)
    x[:] = [-1, 2, -3, 4, -5, 6]
    assert not x.flags.aligned
    y = np.empty(6, np.float32)
    threshold(x, y)
    np.testing.assert_array_equal(y, relu(x))
    threshold(y, x)
    np.testing.assert_array_equal(x, y)


def test_fields_of_structures():
    records = np.zeros(5, np.dtype([("a", "i1"), ("x", "f4"), ("b", "i2")]))
    records["x"] = [-1, 2, -3, 4, -5]
    y = np.empty(5, np.float32)
    threshold(records["x"], y)
    np.testing.assert_array_equal(y, relu(records["x"]))
    threshold(y, records["x"])
    np.testing.assert_array_equal(records["x"], y)
    assert not records["a"].any()
    assert not records["b"].any()


def test_scalar_array_is_one_element():
    x, y = np.array(-2.0), np.array(5.0)
    threshold(x, y)
    assert y == 0
    z = np.array([9.0])
    threshold(x, z)
    assert z == 0


def test_read_only_and_subclass_inputs(tmp_path):
    x = sample()
    x.flags.writeable = False
    y = np.empty_like(x)
    threshold(x, y)
    np.testing.assert_array_equal(y, relu(x))
    path = tmp_path / "x.npy"
    np.save(path, x)
    threshold(np.load(path, mmap_mode="r"), y[:])
    np.testing.assert_array_equal(y, relu(x))


def test_equal_dtypes_of_other_identity():
    x = sample().astype(np.dtype("=f4", metadata={"a": 1}))
    y = np.empty((2, 3), np.float32)
    threshold(x, y)
    np.testing.assert_array_equal(y, relu(x))


def test_output_overlapping_an_input():
    memory = sample((10,))
    expected = relu(memory[:8])
    threshold(memory[:8], memory[2:])
    np.testing.assert_array_equal(memory[2:], expected)


def test_scratch_is_never_looked_at():
    x, weight, bias = sample((1, 3, 3)), sample((1, 2, 2, 2)), sample((2,))
    y = np.empty((2, 4, 4), np.float32)
    expected = np.empty_like(y)
    rest = (2, 2, 1, 1, 0, 0, 0, 0)
    thnn.SpatialFullConvolution_updateOutput(None, x, expected, weight, bias, None, None, *rest)
    for scratch in (np.zeros(3), Tensor(dtype=np.int64), [1, 2], "text"):
        thnn.SpatialFullConvolution_updateOutput(None, x, y, weight, bias, scratch, scratch, *rest)
        np.testing.assert_array_equal(y, expected)


def test_optional_tensors():
    x, weight = sample((1, 3, 3)), sample((1, 2, 2, 2))
    y, z = np.empty((2, 2, 4, 4), np.float32)
    rest = (2, 2, 1, 1, 0, 0, 0, 0)
    full = thnn.SpatialFullConvolution_updateOutput
    full(None, x, y, weight, None, None, None, *rest)
    full(None, x, z, weight, np.zeros(2, np.float32), None, None, *rest)
    np.testing.assert_array_equal(y, z)
    u = Tensor(dtype=np.float32)
    full(None, Tensor(x), u, Tensor(weight), None, None, None, *rest)
    np.testing.assert_array_equal(y, u.numpy())


# ---- In place


def test_inplace_tensors_share_storage():
    x, y = Tensor(sample()), Tensor(dtype=np.float32)
    threshold(x, y, inplace=True)
    assert y.shares_storage(x)
    np.testing.assert_array_equal(y.numpy(), relu(sample()))
    threshold(x, None, inplace=True)


@pytest.mark.parametrize("cut", [np.s_[:, :], np.s_[:, ::2], np.s_[::-1]])
@pytest.mark.parametrize("with_output", [False, True])
def test_inplace_arrays(cut, with_output):
    x = sample()
    expected = x.copy()
    expected[cut] = relu(expected[cut])
    threshold(x[cut], x[cut] if with_output else None, inplace=True)
    np.testing.assert_array_equal(x, expected)


def test_inplace_array_of_a_tensor():
    x = Tensor(sample())
    threshold(x, x.numpy(), inplace=True)
    np.testing.assert_array_equal(x.numpy(), relu(sample()))
    x = Tensor(sample())
    threshold(x.numpy(), x, inplace=True)
    np.testing.assert_array_equal(x.numpy(), relu(sample()))


@pytest.mark.parametrize(
    "other",
    [
        lambda x: x.copy(),
        lambda x: x[:, :2],
        lambda x: Tensor(x),
        lambda x: Tensor(dtype=x.dtype),
        lambda x: x.astype(np.float64),
        lambda x: list(x),
    ],
)
def test_inplace_with_other_memory(other):
    x = sample()
    before = x.copy()
    check_refused(lambda: threshold(x, other(x), inplace=True), "output", 3, "found other memory")
    np.testing.assert_array_equal(x, before)


def test_inplace_needs_writable_input():
    x = sample()
    x.flags.writeable = False
    check_refused(lambda: threshold(x, None, inplace=True), "input", 2, "read-only")


def test_inplace_backward():
    x, gradient = sample(), sample((2, 3)) + 1
    expected = np.where(x > 0, gradient, 0)
    thnn.Threshold_updateGradInput(None, x, gradient, None, 0.0, 0.0, True)
    np.testing.assert_array_equal(gradient, expected)


# ---- What is refused


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ([1.0, 2.0], "type list"),
        (None, "None"),
        ("text", "'text' (str)"),
        (3.0, "3.0 (float)"),
        (np.float32(3), "(float32)"),
        (sample().astype(np.float16), "an array of float16"),
        (sample().astype(">f4"), "byte-swapped float32"),
        (sample().astype(object), "an array of object"),
        (np.zeros(3, np.int64), "an array of int64"),
        (np.zeros(3, bool), "an array of bool"),
        (np.zeros(3, np.complex64), "an array of complex64"),
        (np.zeros(3, [("a", "f4")]), "an array of structures"),
        (np.ma.masked_array([1.0], [True]), "a masked array"),
        (Tensor(np.zeros(3, np.int64)), "a Tensor of int64"),
        (memoryview(b"1234"), "type memoryview"),
    ],
)
def test_input_of_another_type(value, found):
    y = np.empty(3, np.float32)
    check_refused(lambda: threshold(value, y), "input", 2, found)
    check_refused(lambda: threshold(value, Tensor(y)), "input", 2, found)


@pytest.mark.parametrize("kind", [np.asarray, Tensor])
@pytest.mark.parametrize("other", [np.asarray, Tensor])
def test_mixed_reals(kind, other):
    x, y = kind(sample()), other(sample(dtype=np.float64))
    check_refused(lambda: threshold(x, y), "output", 3, "float64")
    check_refused(lambda: threshold(y, x), "output", 3, "float32")


def test_missing_output():
    check_refused(lambda: threshold(sample(), None), "output", 3, "None")
    check_refused(lambda: threshold(Tensor(sample()), None), "output", 3, "None")


def test_outputs_that_cannot_be_written():
    x = sample()
    frozen = np.empty_like(x)
    frozen.flags.writeable = False
    check_refused(lambda: threshold(x, frozen), "output", 3, "a read-only one")
    check_refused(lambda: threshold(x, frozen[:, ::-1]), "output", 3, "a read-only one")
    overlapping = np.broadcast_to(np.zeros(3, np.float32), (2, 3))
    overlapping.flags.writeable = True
    check_refused(lambda: threshold(x, overlapping), "output", 3, "overlaps itself")
    windows = np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), (2, 3), (4, 4))
    check_refused(lambda: threshold(x, windows), "output", 3, "overlaps itself")
    halves = np.lib.stride_tricks.as_strided(np.zeros(40, np.float32), (2, 3), (2, 8))
    check_refused(lambda: threshold(x, halves), "output", 3, "overlaps itself")


@pytest.mark.parametrize("strides", [(12, 8), (18, 6)])
def test_interleaved_output_does_not_overlap(strides):
    memory = np.zeros(12, np.float32)
    y = np.lib.stride_tricks.as_strided(memory, (2, 3), strides)
    threshold(sample(), y)
    np.testing.assert_array_equal(y, relu(sample()))


@pytest.mark.parametrize(
    "shape", [(3, 2), (6,), (2, 4), (1, 2, 3), (2, 2), (0,), (0, 3), (2, 0), ()]
)
def test_output_array_of_another_shape(shape):
    x = sample()
    y = np.full(shape, 7, np.float32)
    check_refused(lambda: threshold(x, y), "output", 3, "expected [2 x 3] (it cannot be resized)")
    assert (y == 7).all()


def test_output_array_that_is_larger():
    """Memory enough is no reason to write to part of it."""
    x = sample()
    y = np.full((4, 3), 7, np.float32)
    check_refused(lambda: threshold(x, y), "output", 3, "[4 x 3]")
    assert (y == 7).all()


def test_view_of_an_array_cannot_grow():
    y = Tensor.from_numpy(np.zeros(2, np.float32))
    check_refused(lambda: threshold(Tensor(sample()), y), "output", 3, "cannot be resized")


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_empty_input(shape):
    x = np.zeros(shape, np.float32)
    threshold(x, x.copy())
    check_refused(lambda: threshold(x, np.zeros((2, 3), np.float32)), "output", 3, "[2 x 3]")
    y = Tensor(sample())
    threshold(x, y)
    assert y.shape == (0,)


@pytest.mark.parametrize(
    ("value", "found"), [("1", "'1' (str)"), (None, "None"), (True, "True"), (1j, "complex")]
)
def test_bad_floats(value, found):
    for make in (np.asarray, Tensor):
        x, y = make(sample()), make(sample())
        check_refused(lambda x=x, y=y: threshold(x, y, threshold=value), "threshold", 4, found)


@pytest.mark.parametrize("value", [1, np.float32(1), np.int16(1), np.uint64(1)])
def test_good_floats(value):
    x = Tensor(sample())
    y = Tensor(dtype=np.float32)
    threshold(x, y, threshold=value)
    np.testing.assert_array_equal(y.numpy(), np.where(sample() > 1, sample(), 0))


def test_huge_float():
    x = Tensor(sample())
    check_refused(lambda: threshold(x, x, threshold=10**400), "threshold", 4, "1000")


@pytest.mark.parametrize("value", [1, 0, None, "yes", np.float32(1)])
def test_bad_bools(value):
    x = Tensor(sample())
    check_refused(lambda: threshold(x, x, inplace=value), "inplace", 6, "expected True or False")


def test_good_bools():
    x = Tensor(sample())
    threshold(x, Tensor(dtype=np.float32), inplace=np.True_)


@pytest.mark.parametrize("make", [np.asarray, Tensor])
@pytest.mark.parametrize(
    ("value", "found"),
    [
        (2.0, "2.0 (float)"),
        (np.float32(2), "(float32)"),
        (True, "True (bool)"),
        ("2", "'2' (str)"),
        (None, "None"),
        (2**31, "2147483648 (int)"),
        (-(2**31) - 1, "-2147483649 (int)"),
        (10**30, "1000000000000000000000000000000 (int)"),
        (np.array([2, 3]), "an array of int64"),
    ],
)
def test_bad_ints(make, value, found):
    x = make(sample((1, 1, 3, 3)))
    y = make(sample((1, 1, 6, 6)))
    check_refused(
        lambda: thnn.SpatialUpSamplingBilinear_updateOutput(None, x, y, 6, value),
        "outputWidth",
        5,
        found,
        "SpatialUpSamplingBilinear_updateOutput",
    )


@pytest.mark.parametrize("value", [np.int64(6), np.uint8(6), np.array(6)])
def test_good_ints(value):
    x = sample((1, 1, 3, 3))
    y = np.empty((1, 1, 6, 6), np.float32)
    thnn.SpatialUpSamplingBilinear_updateOutput(None, x, y, 6, value)
    assert y[0, 0, -1, -1] == x[0, 0, -1, -1]


@pytest.mark.parametrize("make", [np.asarray, Tensor])
def test_bad_states(make):
    x, y = make(sample()), make(sample())
    state = State()
    threshold(x, y, state=state)
    state.close()
    check_refused(lambda: threshold(x, y, state=state), "state", 1, "a closed State")
    check_refused(lambda: threshold(x, y, state=0), "state", 1, "0 (int)")


def test_closed_tensors():
    x, y = Tensor(sample()), Tensor(dtype=np.float32)
    y.close()
    check_refused(lambda: threshold(x, y), "output", 3, "a closed Tensor")
    check_refused(lambda: threshold(sample(), y), "output", 3, "a closed Tensor")
    x.close()
    check_refused(lambda: threshold(x, np.empty((2, 3), np.float32)), "input", 2, "closed")


def test_wrong_number_of_arguments():
    with pytest.raises(TypeError, match="Threshold_updateOutput"):
        thnn.Threshold_updateOutput(None, sample())


def test_rejected_by_the_library():
    x = sample((2, 3, 3))
    with pytest.raises(THNNArgumentError, match="expected ") as caught:
        thnn.SpatialUpSamplingBilinear_updateOutput(None, x, x.copy(), 6, 6)
    error = caught.value
    assert (error.argument, error.position) == ("input", 2)
    assert error.location is not None
    assert error.location.split(":")[0].endswith(".c")
    assert "[2 x 3 x 3]" in str(error)


def test_error_survives_pickle():
    import pickle

    with pytest.raises(THNNArgumentError) as caught:
        threshold(None, None)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is THNNArgumentError
    assert str(again) == str(caught.value)
    assert again.__dict__ == caught.value.__dict__


def test_exceptions():
    assert issubclass(THNNError, RuntimeError)
    assert issubclass(THNNArgumentError, (THNNError, ValueError))
    assert issubclass(pythnn.THNNMemoryError, THNNError)
    assert issubclass(pythnn.THNNMemoryError, MemoryError)


# ---- The module


def test_help_describes_every_argument():
    for name in thnn.__all__:
        function = getattr(thnn, name)
        doc = inspect.getdoc(function)
        assert function.__name__ == name
        for argument in inspect.signature(function).parameters:
            assert f"\n{argument} : " in doc, (name, argument)


def test_help_shows_roles_shapes_and_options():
    doc = inspect.getdoc(thnn.SpatialFullConvolution_updateOutput)
    assert "[in] nInputPlane x nOutputPlane x kH x kW" in doc
    assert "bias : float32 or float64 array or Tensor or None" in doc
    assert "NULL" not in doc


def test_keyword_arguments():
    x, y = sample(), np.empty((2, 3), np.float32)
    thnn.Threshold_updateOutput(
        state=None, input=x, output=y, threshold=0.0, val=0.0, inplace=False
    )
    np.testing.assert_array_equal(y, relu(x))


def test_module_lists_its_functions():
    assert "Threshold_updateOutput" in dir(thnn)
    assert not [name for name in dir(thnn) if name.startswith("_")]
    with pytest.raises(AttributeError, match="has no attribute 'Treshold"):
        thnn.Treshold_updateOutput  # noqa: B018


PLANES, FRAMES, THREE = np.zeros((2, 4, 5, 5)), np.zeros((6, 4)), np.zeros(3)
RESULT = Tensor(dtype=np.float64)
LOCAL = (None, None, 2, 2, 1, 1, 0, 0, 5, 5, 4, 4)
OF_FOUR_PLANES = {
    "SpatialSubSampling_updateOutput": (PLANES, RESULT, THREE, THREE, 2, 2, 1, 1),
    "SpatialSubSampling_accGradParameters": (
        PLANES, np.zeros((2, 4, 4, 4)), THREE, THREE, 2, 2, 1, 1, 1.0,
    ),
    "TemporalSubSampling_updateOutput": (FRAMES, RESULT, THREE, THREE, 2, 1, 3),
    "TemporalSubSampling_updateGradInput": (FRAMES, np.zeros((5, 4)), RESULT, THREE, 2, 1),
    "TemporalSubSampling_accGradParameters": (
        FRAMES, np.zeros((5, 4)), THREE, THREE, 2, 1, 1.0,
    ),
    "SpatialConvolutionLocal_updateOutput": (
        PLANES, RESULT, np.zeros((16, 2, 12)), np.zeros((2, 4, 4)), *LOCAL,
    ),
    "SpatialConvolutionLocal_updateGradInput": (
        PLANES, np.zeros((2, 2, 4, 4)), RESULT, np.zeros((4, 4, 2, 3, 2, 2)), *LOCAL,
    ),
}  # fmt: skip
"""Arguments of functions whose input has four planes, and their parameters three."""


@pytest.mark.parametrize("function", OF_FOUR_PLANES)
def test_other_planes_are_the_input_s_fault(function):
    arguments = OF_FOUR_PLANES[function]
    found = " x ".join(map(str, arguments[0].shape))
    with pytest.raises(THNNArgumentError, match=rf"#2 'input': expected size 3 .*found .{found}."):
        getattr(thnn, function)(None, *arguments)


def test_frames_of_another_size_are_the_input_s_fault():
    """The weight belongs to frames of three features; a weight that fits no frames is at fault."""
    y, bias = Tensor(dtype=np.float64), np.zeros(20)
    call = thnn.TemporalConvolution_updateOutput
    with pytest.raises(THNNArgumentError, match="#2 'input': expected size 3 .*found .256 x 1."):
        call(None, np.zeros((256, 1)), y, np.zeros((20, 105)), bias, 35, 1, 3, 20)
    with pytest.raises(THNNArgumentError, match="#4 'weight': expected size 105"):
        call(None, np.zeros((256, 3)), y, np.zeros((20, 104)), bias, 35, 1, 3, 20)
