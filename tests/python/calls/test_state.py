"""State, Generator, and the number of threads."""

from __future__ import annotations

import copy
import gc
import pickle
from contextlib import suppress

import numpy as np
import pytest
from support.bounds import WINOGRAD, WINOGRAD4, assert_sums
from support.memory import counting_memory

import pythnn
from pythnn import (
    Generator,
    State,
    Tensor,
    THNNArgumentError,
    THNNError,
    THNNMemoryError,
    lib,
    thnn,
)


@pytest.fixture
def kept_threads():
    before = pythnn.get_num_threads()
    yield
    pythnn.set_num_threads(before)


@pytest.mark.usefixtures("kept_threads")
def test_number_of_threads():
    assert pythnn.get_num_threads() >= 1
    pythnn.set_num_threads(3)
    assert pythnn.get_num_threads() == 3
    pythnn.set_num_threads(np.int64(2))
    assert pythnn.get_num_threads() == 2
    for bad in (0, -1, 2**31, True, 1.0, None, "2"):
        with pytest.raises(THNNArgumentError, match="set_num_threads: argument #1 'threads'"):
            pythnn.set_num_threads(bad)
    assert pythnn.get_num_threads() == 2


def test_defaults():
    state = State()
    assert state.threads is None
    assert state.workspace_limit == 8 << 20
    assert state.convolution == "auto"
    assert state.deterministic is False
    assert state.minimum_work == 32768
    assert (state.use_cudnn, state.precision) == ("auto", "as_input")
    assert not state.closed


def test_choices():
    state = State(
        threads=2,
        minimum_work=10,
        workspace_limit=1 << 20,
        convolution="gemm",
        deterministic=True,
        use_cudnn=False,
        precision="float64",
    )
    assert (state.use_cudnn, state.precision) == (False, "float64")
    assert "use_cudnn=False, precision='float64'" in repr(state)
    assert (state.threads, state.minimum_work, state.workspace_limit) == (2, 10.0, 1 << 20)
    assert (state.convolution, state.deterministic) == ("gemm", True)
    assert "convolution='gemm'" in repr(state)
    state.threads = None
    assert state.threads is None
    state.convolution = "direct"
    assert state.convolution == "direct"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threads", 0),
        ("threads", -1),
        ("threads", True),
        ("threads", 1.5),
        ("threads", 2**31),
        ("minimum_work", "1"),
        ("minimum_work", None),
        ("minimum_work", True),
        ("minimum_work", float("nan")),
        ("workspace_limit", 0),
        ("workspace_limit", 1000),
        ("workspace_limit", 2**70),
        ("workspace_limit", 1e9),
        ("convolution", "fourier"),
        ("convolution", 1),
        ("convolution", ["auto"]),
        ("convolution", ("auto", "gemm", "fourier")),
        ("convolution", ("auto", "gemm", 1)),
        ("convolution", {"output": "cudnn_fourier"}),
        ("convolution", {"input": "gemm"}),
        ("use_cudnn", "always"),
        ("use_cudnn", 1),
        ("use_cudnn", None),
        ("precision", "float16"),
        ("precision", None),
        ("accuracy", "low"),
        ("accuracy", None),
        ("deterministic", 1),
        ("deterministic", None),
    ],
)
def test_bad_choices(name, value):
    state = State()
    before = repr(state)
    with pytest.raises(THNNArgumentError, match="expected"):
        setattr(state, name, value)
    assert repr(state) == before
    if value is not None:
        with pytest.raises(THNNArgumentError, match="expected"):
            State(**{name: value})


def test_closed_state():
    with State() as state:
        assert state.threads is None
    assert state.closed
    assert repr(state) == "State(closed)"
    state.close()
    for use in (lambda: state.threads, lambda: setattr(state, "threads", 1), state.__enter__):
        with pytest.raises(THNNError, match="the State is closed"):
            use()


def test_state_reaches_the_library():
    x = np.random.default_rng(0).normal(size=(2, 3, 9, 9)).astype(np.float32)
    w = np.random.default_rng(1).normal(size=(4, 3, 3, 3)).astype(np.float32)
    results = []
    for convolution in ("gemm", "direct", "winograd"):
        y = Tensor(dtype=np.float32)
        with State(convolution=convolution, workspace_limit=64 << 10) as state:
            assert state.convolution == convolution
            thnn.SpatialConvolutionMM_updateOutput(
                state, x, y, w, None, None, None, 3, 3, 1, 1, 1, 1
            )
        results.append(y.numpy())
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    places = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    wanted = np.einsum("nchwij,ocij->nohw", places.astype(float), w)
    magnitudes = np.einsum("nchwij,ocij->nohw", np.abs(places).astype(float), np.abs(w))
    for result in results:
        assert_sums(result, wanted, 27, magnitudes.max(), growth=WINOGRAD)


# ---- Random numbers


def test_sequence_is_the_original_one():
    generator = Generator(1234)
    expected = np.random.RandomState(1234).randint(0, 2**32, 2000, dtype=np.uint32)
    assert [generator.random() for _ in range(2000)] == expected.tolist()
    generator.manual_seed(1234)
    assert generator.uniform() == expected[0] / 2**32
    assert generator.uniform(-1, 3) == expected[1] / 2**32 * 4 - 1
    assert generator.seed == 1234


def test_distributions():
    generator = Generator(5)
    draws = np.array([generator.normal(2, 3) for _ in range(20000)])
    assert abs(draws.mean() - 2) < 0.1
    assert abs(draws.std() - 3) < 0.1
    assert 0.2 < np.mean([generator.bernoulli(0.25) for _ in range(5000)]) < 0.3
    with pytest.raises(THNNError):
        generator.normal(0, -1)
    with pytest.raises(THNNError):
        generator.bernoulli(2)


def test_seeds():
    assert Generator(0).random() == Generator(2**32).random()
    assert Generator(2**64 - 1).seed == 2**64 - 1
    assert Generator().seed != Generator().seed
    assert repr(Generator(3)) == "Generator(seed=3)"
    for bad in (-1, 2**64, 1.0, "1", True):
        with pytest.raises(THNNArgumentError, match="Generator: argument #1 'seed'"):
            Generator(bad)


@pytest.mark.parametrize(
    "duplicate",
    [
        copy.copy,
        copy.deepcopy,
        lambda g: pickle.loads(pickle.dumps(g)),
        lambda g: Generator.from_bytes(g.to_bytes()),
    ],
)
@pytest.mark.parametrize("draws", [0, 1, 623, 624, 1000])
def test_duplicates(duplicate, draws):
    generator = Generator(7)
    for _ in range(draws):
        generator.random()
    other = duplicate(generator)
    assert [generator.random() for _ in range(1300)] == [other.random() for _ in range(1300)]


def test_damaged_pickles():
    restore, (content,) = Generator(7).__reduce__()
    for damaged in (content[:-1], b"", bytes(len(content)), b"\xff" * len(content)):
        for read in (restore, Generator.from_bytes):
            with pytest.raises(ValueError, match="not the state of a Generator"):
                read(damaged)


def test_closed_generator():
    with Generator(1) as generator:
        generator.random()
    assert generator.closed
    assert repr(generator) == "Generator(closed)"
    for use in (generator.random, generator.uniform, lambda: generator.seed, generator.__enter__):
        with pytest.raises(THNNError, match="the Generator is closed"):
            use()
    with pytest.raises(THNNError, match="closed"):
        copy.copy(generator)


def planned_row(state, which):
    """The row of the engine's table that is planned for 3x3 kernels between 32 planes of 12x12."""
    sizes = [1, 2, 32, 32, 1, 12, 12, 1, 12, 12, 1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 1, 1]
    choice = pythnn.ffi.new("THNNConvolutionChoice *")
    pythnn.lib.THNN_FloatGroupedConvolution_plan(state._c, which, False, False, sizes, choice)
    return pythnn.ffi.string(choice.row).decode()


def test_a_state_names_a_row_of_the_engine():
    with State() as state:
        automatic = [planned_row(state, which) for which in range(3)]
        for row, which in (("gemm", 0), ("direct", 1), ("lines", 0), ("winogradWeight", 2)):
            pythnn.lib.THNN_State_setConvolutionRow(state._c, row.encode())
            assert planned_row(state, which) == row
        pythnn.lib.THNN_State_setConvolutionRow(state._c, b"linear")  # which does not apply
        assert [planned_row(state, which) for which in range(3)] == automatic
        for row in (b"", b"x" * 32):
            with pytest.raises(THNNArgumentError, match="a name of 1 to 31 characters, found"):
                pythnn.lib.THNN_State_setConvolutionRow(state._c, row)
        pythnn.lib.THNN_State_setConvolutionRow(state._c, pythnn.ffi.NULL)
        assert pythnn.lib.THNN_State_convolutionRow(state._c) == pythnn.ffi.NULL


def test_one_algorithm_for_each_result():
    with State(convolution=("gemm", "auto", "winograd")) as state:
        assert state.convolution == ("gemm", "auto", "winograd")
        algorithms = [pythnn.lib.THNN_State_convolutionAlgorithmOf(state._c, i) for i in range(3)]
        assert algorithms == [1, 0, 3]
        state.convolution = {"grad_input": "direct"}
        assert state.convolution == ("auto", "direct", "auto")
        state.convolution = ["time_once"] * 3
        assert state.convolution == "time_once"
        assert pythnn.lib.THNN_State_convolutionAlgorithm(state._c) == 0
        for which, algorithm in ((3, 0), (0, 6)):
            with pytest.raises(THNNArgumentError, match="expected 0 "):
                pythnn.lib.THNN_State_setConvolutionAlgorithmOf(state._c, which, algorithm)
        choice = pythnn.ffi.new("THNNConvolutionChoice *")
        for which, sizes in ((3, [1] * 22), (0, [1] * 10 + [0] + [1] * 11)):
            with pytest.raises(THNNArgumentError, match="GroupedConvolution_plan: argument"):
                pythnn.lib.THNN_FloatGroupedConvolution_plan(
                    state._c, which, False, False, sizes, choice
                )


def _convolved(state: State | None, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    y = np.empty((x.shape[0], weight.shape[0], x.shape[2], x.shape[3]), x.dtype)
    pad = weight.shape[2] // 2
    kernel, padding = weight.shape[2:], (pad, pad)
    thnn.SpatialConvolutionMM_updateOutput(
        state, x, y, weight, None, None, None, *kernel, 1, 1, *padding
    )
    return y


@pytest.mark.parametrize(
    ("row", "kernel"), [("pointwise", 1), ("direct", 5), ("winograd", 3), ("fourier", 5)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("kept_threads")
def test_kept_weights(row: str, kernel: int, dtype: type) -> None:
    numbers = np.random.default_rng(1)
    x = numbers.standard_normal((2, 16, 12, 12)).astype(dtype)
    weight = numbers.standard_normal((32, 16, kernel, kernel)).astype(dtype)
    other = numbers.standard_normal(weight.shape).astype(dtype)
    bounds = (
        WINOGRAD * 16 * kernel**2 * np.finfo(dtype).eps * np.abs(weight).max() * np.abs(x).max()
    )
    state = State()
    lib.THNN_State_setConvolutionRow(state._open(), row.encode())
    lib.THNN_State_setKeepsWeights(state._open(), True)
    assert lib.THNN_State_keepsWeights(state._open())
    first = _convolved(state, x, weight)
    np.testing.assert_allclose(first, _convolved(None, x, weight), rtol=0, atol=bounds)
    for threads in (1, 2, 3):
        pythnn.set_num_threads(threads)
        np.testing.assert_array_equal(_convolved(state, x, weight), first)
    wanted = _convolved(None, x, other)
    np.testing.assert_allclose(_convolved(state, x, other), wanted, rtol=0, atol=2 * bounds)
    np.testing.assert_allclose(_convolved(state, x[:1], weight), first[:1], rtol=0, atol=bounds)
    weight[...] = other
    np.testing.assert_array_equal(_convolved(state, x, weight), first)
    lib.THNN_State_setKeepsWeights(state._open(), False)
    assert not lib.THNN_State_keepsWeights(state._open())
    np.testing.assert_allclose(_convolved(state, x, weight), wanted, rtol=0, atol=2 * bounds)


def _keeping(row: str = "") -> State:
    state = State()
    if row:
        lib.THNN_State_setConvolutionRow(state._open(), row.encode())
    lib.THNN_State_setKeepsWeights(state._open(), True)
    return state


@pytest.mark.parametrize(
    ("row", "kernel"),
    [
        ("pointwise", 1),
        ("packedProducts", 1),
        ("direct", 3),
        ("winograd", 3),
        ("winograd4", 3),
        ("winograd25", 5),
        ("fourier", 5),
        ("lines", 3),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kept_weights_serve_all_sizes(row: str, kernel: int, dtype: type) -> None:
    numbers = np.random.default_rng(1)
    weight = numbers.standard_normal((48, 33, kernel, kernel)).astype(dtype)
    state, kept = _keeping(row), []
    for size in [(1, 12, 12), (2, 12, 12), (1, 9, 30), (5, 20, 6), (1, 41, 33)]:
        x = numbers.standard_normal((size[0], 33, *size[1:])).astype(dtype)
        alone = _keeping(row)
        wanted = _convolved(alone, x, weight)
        kept.append(lib.THNN_State_keptBytes(alone._open()))
        for _ in range(2):
            np.testing.assert_array_equal(_convolved(state, x, weight), wanted)
    most = lib.THNN_State_keptBytes(state._open())
    if row in ("direct", "winograd"):  # which every processor has, for all of these sizes
        assert kept[0] > weight.nbytes
        assert most < kept[0] + len(kept) * weight.nbytes / 10
    assert most <= sum(kept)
    lib.THNN_State_setKeepsWeights(state._open(), False)
    assert lib.THNN_State_keptBytes(state._open()) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kept_weights_of_several_algorithms(dtype: type) -> None:
    """Sizes for which the costs choose different ones do not take each other's weights."""
    numbers = np.random.default_rng(1)
    weight = numbers.standard_normal((64, 64, 3, 3)).astype(dtype)
    state, every = _keeping(), 0
    for batch, size in [(1, 4), (1, 7), (1, 14), (1, 28), (4, 28), (1, 56)]:
        x = numbers.standard_normal((batch, 64, size, size)).astype(dtype)
        alone = _keeping()
        wanted = _convolved(alone, x, weight)
        every += lib.THNN_State_keptBytes(alone._open())
        for _ in range(2):
            np.testing.assert_array_equal(_convolved(state, x, weight), wanted)
    assert lib.THNN_State_keptBytes(state._open()) < every


def test_no_more_is_kept_than_for_eight_sizes() -> None:
    weight = np.random.default_rng(1).standard_normal((32, 16, 3, 3)).astype(np.float32)
    with counting_memory() as memory:
        state = _keeping()
        before = memory.live
        for width in range(4, 30):
            x = np.random.default_rng(width).standard_normal((1, 16, 12, width))
            x = x.astype(np.float32)
            wanted = _convolved(None, x, weight)
            bounds = WINOGRAD4 * 144 * np.finfo(np.float32).eps * 4 * np.abs(x).max()
            np.testing.assert_allclose(_convolved(state, x, weight), wanted, rtol=0, atol=bounds)
        assert memory.live == before + 8


@pytest.mark.parametrize(
    ("batch", "planes", "size", "window"),
    [
        (1, (20, 70), (8, 8), (4, 4, 2, 2, 1, 1, 1, 1)),
        (2, (9, 33), (4, 7), (3, 3, 1, 2, 1, 1, 1, 1)),
        (1, (5, 16), (3, 4), (3, 2, 1, 1, 2, 1, 2, 2)),
        (3, (7, 40), (2, 2), (5, 5, 1, 1, 2, 2, 1, 1)),
        (1, (6, 8), (9, 9), (3, 3, 4, 4, 1, 0, 1, 1)),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("kept_threads")
def test_kept_weights_of_small_maps(
    dtype: type,
    batch: int,
    planes: tuple[int, int],
    size: tuple[int, int],
    window: tuple[int, ...],
) -> None:
    """Their images are copied with zeros around them."""
    numbers = np.random.default_rng(1)
    x = numbers.standard_normal((batch, planes[0], *size)).astype(dtype)
    weight = numbers.standard_normal((planes[1], planes[0], window[1], window[0])).astype(dtype)
    bias = numbers.standard_normal(planes[1]).astype(dtype)

    def computed(state: State, given: np.ndarray) -> np.ndarray:
        lib.THNN_State_setConvolutionRow(state._open(), b"direct")
        y = Tensor(dtype=dtype)
        thnn.SpatialDilatedConvolution_updateOutput(
            state, given, y, weight, bias, None, None, *window
        )
        return y.numpy()

    kept = State(minimum_work=1)
    lib.THNN_State_setKeepsWeights(kept._open(), True)
    wanted = computed(State(), x)
    terms = weight[0].size
    most = terms * np.abs(weight).max() * np.abs(x).max()
    first = computed(kept, x).copy()
    assert_sums(first, wanted, terms, most)
    for threads in (1, 2, 3):
        pythnn.set_num_threads(threads)
        np.testing.assert_array_equal(computed(kept, x), first)
    assert_sums(computed(kept, 2 * x), computed(State(), 2 * x), terms, 2 * most)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sizes", [(16, 128, 512), (7, 900, 130), (16, 2, 3), (1, 128, 512)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("kept_threads")
def test_kept_weights_of_linear(dtype: type, sizes: tuple[int, int, int], bias: bool) -> None:
    batch, inputs, outputs = sizes
    numbers = np.random.default_rng(1)
    x = numbers.standard_normal((batch, inputs)).astype(dtype)
    weight = numbers.standard_normal((outputs, inputs)).astype(dtype)
    b = numbers.standard_normal(outputs).astype(dtype) if bias else None
    other = numbers.standard_normal(weight.shape).astype(dtype)

    def computed(state: State | None, w: np.ndarray, given: np.ndarray = x) -> np.ndarray:
        y = np.empty((len(given), outputs), dtype)
        thnn.Linear_updateOutput(state, given, y, w, b, None)
        return y

    state = State()
    lib.THNN_State_setKeepsWeights(state._open(), True)
    first = computed(state, weight)
    magnitudes = np.abs(x) @ np.abs(weight).T + (0 if b is None else np.abs(b))
    assert_sums(first, computed(None, weight), inputs, magnitudes.max())
    for threads in (1, 2, 3):
        pythnn.set_num_threads(threads)
        np.testing.assert_array_equal(computed(state, weight), first)
    assert_sums(computed(state, other), computed(None, other), inputs, 2 * magnitudes.max())
    assert_sums(computed(state, weight, x[:1]), first[:1], inputs, magnitudes.max())
    assert (_convolved(state, np.ones((1, 1, 3, 3)), np.ones((1, 1, 1, 1))) == 1).all()
    lib.THNN_State_setKeepsWeights(state._open(), False)
    weight[...] = other
    np.testing.assert_array_equal(computed(state, weight), computed(None, other))


@pytest.mark.parametrize("sizes", [(16, 128, 512), (7, 130, 900), (40, 50, 3000), (1, 128, 512)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("kept_threads")
def test_kept_weights_of_linear_backwards(dtype: type, sizes: tuple[int, int, int]) -> None:
    batch, inputs, outputs = sizes
    numbers = np.random.default_rng(1)
    slopes = numbers.standard_normal((batch, outputs)).astype(dtype)
    weight = numbers.standard_normal((outputs, inputs)).astype(dtype)

    def computed(state: State | None, w: np.ndarray) -> np.ndarray:
        made = np.empty((batch, inputs), dtype)
        thnn.Linear_updateGradInput(state, made, slopes, made, w)
        return made

    state = State()
    lib.THNN_State_setKeepsWeights(state._open(), True)
    first = computed(state, weight)
    magnitudes = np.abs(slopes) @ np.abs(weight)
    assert_sums(first, computed(None, weight), outputs, magnitudes.max())
    for threads in (1, 2, 3):
        pythnn.set_num_threads(threads)
        np.testing.assert_array_equal(computed(state, weight), first)
    # What is kept is for one function: the other one of the same layer does without.
    y = np.empty((batch, outputs), dtype)
    thnn.Linear_updateOutput(state, first, y, weight, None, None)
    wanted = np.empty_like(y)
    thnn.Linear_updateOutput(None, first, wanted, weight, None, None)
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("batch", [1, 2, 3, 4, 20])
@pytest.mark.parametrize("units", [5, 91, 600])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("kept_threads")
def test_kept_weights_of_steps(dtype: type, units: int, batch: int) -> None:
    steps, numbers = 3, np.random.default_rng(1)
    weight = (numbers.standard_normal((units, 4 * units)) / units).astype(dtype)
    given = numbers.standard_normal((steps, batch, 4 * units)).astype(dtype)
    first = numbers.uniform(-1, 1, (batch, units)).astype(dtype)

    def computed(state: State | None, count: int = batch) -> np.ndarray:
        gates = given[:, :count].copy()
        output, cells = (np.zeros((steps + 1, count, units), dtype) for _ in range(2))
        output[0] = cells[0] = first[:count]
        thnn.SeqLSTM_updateOutput(state, gates, weight, None, None, output, cells)
        return output

    state = State()
    lib.THNN_State_setKeepsWeights(state._open(), True)
    found = computed(state)
    # Gates are sums of terms below 1, and what they do to outputs grows by less than 4 a step.
    assert_sums(found, computed(None), units, 4**steps)
    for threads in (1, 2, 3):
        pythnn.set_num_threads(threads)
        np.testing.assert_array_equal(computed(state), found)
    assert_sums(computed(state, 1), computed(None, 1), units, 4**steps)


def test_what_is_kept_is_made_again_for_other_settings() -> None:
    numbers = np.random.default_rng(1)
    x = numbers.standard_normal((1, 32, 12, 12)).astype(np.float32)
    weight = numbers.standard_normal((32, 32, 3, 3)).astype(np.float32)
    state, lasting = State(), State()
    lib.THNN_State_setKeepsWeights(state._open(), True)
    settings = [
        {"convolution": "winograd4"},
        {"accuracy": "high"},
        {"convolution": "gemm"},
        {"convolution": "winograd", "accuracy": "standard"},
        {"convolution": "direct"},
    ]
    found = set()
    for changes in settings:
        for one in (state, lasting):
            for name, value in changes.items():
                setattr(one, name, value)
        wanted = _convolved(lasting, x, weight)
        first = _convolved(state, x, weight)
        np.testing.assert_allclose(first, wanted, rtol=0, atol=1e-3)
        np.testing.assert_array_equal(_convolved(state, x, weight), first)
        found.add(first.tobytes())
    # Where instruction sets have blocks of few planes, two algorithms can add up in the same order.
    assert len(found) > 2


def test_what_is_kept_is_freed() -> None:
    x, weight = np.ones((1, 16, 12, 12)), np.ones((32, 16, 3, 3))
    with counting_memory() as memory:
        state = State()
        lib.THNN_State_setKeepsWeights(state._open(), True)
        before = memory.live
        for _ in range(3):
            _convolved(state, x, weight)
        assert memory.live == before + 1
        for nth in range(1, 6):
            lib.THNN_State_setKeepsWeights(state._open(), False)
            lib.THNN_State_setKeepsWeights(state._open(), True)
            memory.fail_from(nth)
            with suppress(THNNMemoryError):
                _convolved(state, x, weight)
            memory.fail_from(0)
            assert memory.live <= before + 1
        inside = _convolved(state, x, weight)[0, 0, 1:-1, 1:-1]
        bound = WINOGRAD4 * 144 * np.finfo(np.float64).eps
        np.testing.assert_allclose(inside, 144, rtol=0, atol=bound)
        del state
        gc.collect()
        assert memory.live == before - 2
