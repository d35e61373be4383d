"""What functions on arrays refuse, in their own words, and which shapes they keep.

The calls are those of the cases of ``support.functional_modules``: each argument of each is
replaced by things that do not fit, one at a time.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.functional_cases import F as _F
from support.functional_cases import normal
from support.functional_modules import CASES

from pythnn import Tensor, THNNArgumentError, THNNError
from pythnn import functional as F  # noqa: N812

Call = tuple[str, dict[str, Any]]

FUNCTIONS = sorted(n for n in vars(F) if hasattr(getattr(F, n), "__wrapped__"))
OF_C = re.compile(
    r"\b([kd][TWH]|pad[TWH]|p[TWH]|adj[TWH]|dilation[TWH]|o(utput)?(Width|Height|width|height)"
    r"|n(In|Out)putPlane|gradOutput|gradInput|input|updateOutput|updateGradInput"
    r"|accGradParameters|TH\w*|scale_factor|sizeAverage|connTable|[a-z]+[A-Z]\w*"
    r"|(Spatial|Temporal|Volumetric)\w+)\b"
)


class Recorder:
    """pythnn.functional, which notes what is called."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Any:
        function = getattr(F, name)

        def call(*given: Any, **named: Any) -> Any:
            bound = inspect.signature(function).bind(*given, **named)
            bound.apply_defaults()
            self.calls.append((name, dict(bound.arguments)))
            return function(*given, **named)

        return call


def recorded() -> dict[str, dict[str, Any]]:
    """A call of every function that fits."""
    recorder = Recorder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_F, "target", recorder)
        for case in CASES.values():
            output = np.asarray(case.forward(*case.arrays))
            case.backward(np.ones(output.shape), *case.arrays)
    recorder.rrelu(normal(3, 4))
    recorder.rrelu_backward(normal(3, 4), normal(3, 4), normal(3, 4))
    recorder.embedding_renorm([0, 1], normal(3, 2), 1.0)
    recorder.one_hot([0, 1], 3)
    recorder.convolution_plan((2, 4, 5, 5), (2, 2, 3, 3), groups=2)
    return dict(reversed(recorder.calls))


CALLS = recorded()


def call(name: str, arguments: dict[str, Any]) -> Any:
    function = getattr(F, name)
    bound = inspect.signature(function).bind_partial()
    bound.arguments.update(arguments)
    return function(*bound.args, **bound.kwargs)


def kind_of(name: str, argument: str) -> str:
    return str(inspect.signature(getattr(F, name)).parameters[argument].annotation)


def test_every_function_is_called() -> None:
    assert sorted(CALLS) == FUNCTIONS


def refusal(name: str, arguments: dict[str, Any]) -> str | None:
    """The message of the error, which has to be in the function's own words; None without one."""
    try:
        call(name, arguments)
    except THNNArgumentError as error:
        message = str(error)
        assert message.startswith(f"functional.{name}: "), message
        assert error.function == f"functional.{name}"
        if error.argument is not None:
            place = (
                list(inspect.signature(getattr(F, name)).parameters).index(
                    error.argument.partition("[")[0]
                )
                + 1
            )
            assert error.position == place
            assert f"argument #{place} '{error.argument}': expected " in message
        words = re.sub(r"'[^']*' \(str\)|float(32|64)|int64", "", message.split(": ", 1)[1])
        assert not OF_C.search(words), message
        return message
    except MemoryError as error:
        assert "functional" in str(error) or "allocate" in str(error)
        return str(error)
    return None


NO_ARRAYS = [
    "x",
    b"x",
    {"a": 1.0},
    [[1.0], [1.0, 2.0]],
    object(),
    np.ma.masked_array(np.ones((2, 3)), np.eye(2, 3)),
    np.ones((2, 3), np.complex128),
    np.ones((2, 3), np.float16),
    np.array(["a", "b"]),
    np.zeros(2, "datetime64[s]"),
]


def arrays_of(name: str) -> Iterator[tuple[str, Any]]:
    for argument, value in CALLS[name].items():
        kind = kind_of(name, argument)
        if kind.startswith(("Real", "Indices", "Written")) and value is not None:
            yield argument, np.asarray(value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_array(name: str) -> None:
    for argument, value in arrays_of(name):
        for wrong in [*NO_ARRAYS, None]:
            kind = kind_of(name, argument)
            if wrong is None and "None" in kind:
                continue
            if kind.startswith("Indices") and getattr(wrong, "dtype", None) == np.float16:
                continue  # whole numbers
            message = refusal(name, {**CALLS[name], argument: wrong})
            assert message is not None
            assert f"'{argument}'" in message, message
        masked = np.ma.masked_array(value, np.zeros(value.shape, bool))
        assert "masked array" in (refusal(name, {**CALLS[name], argument: masked}) or "")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_are_not_mixed(name: str) -> None:
    reals = [a for a, v in arrays_of(name) if not kind_of(name, a).startswith("Indices")]
    for argument in reals[1:]:
        value = np.asarray(CALLS[name][argument], np.float32)
        if isinstance(CALLS[name][reals[0]], np.ndarray):
            assert refusal(name, {**CALLS[name], argument: value}), argument


@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_shapes(name: str) -> None:
    """Another shape is refused, or it fits, and then results have the shapes they have to."""
    for argument, value in arrays_of(name):
        others = [value[None], value[None, None], value[..., None], value.T.copy()]
        others += [np.concatenate([value, value], axis) for axis in range(value.ndim)]
        others += [value[0].copy()] if value.ndim and len(value) else []
        others += [np.array(value.flat[0])] if value.ndim else []
        for other in others:
            if other.shape == value.shape:
                continue
            given = {**CALLS[name], argument: other}
            if refusal(name, given) is not None:
                continue
            assert argument != "grad_output" or name in OF_ANY_SIZE
            check_shapes(name, given)


OF_ANY_SIZE = {
    *("adaptive_avg_pool2d_backward", "max_unpool2d_backward", "max_unpool3d_backward"),
    *("gaussian_mixture2d_backward",),  # one number stands for all samples
    *("sparse_linear_backward", "upsample_bilinear2d_backward", "upsample_trilinear3d_backward"),
    *(f"conv{n}d_grad_{of}" for n in (1, 2, 3) for of in ("input", "weight")),
}
"""Functions that learn the size of the output from its gradient."""


def check_shapes(name: str, given: dict[str, Any]) -> None:
    """Gradients have the shapes of what they are gradients of."""
    found = call(name, given)
    if not name.endswith("_backward") or "shape" in given:
        return
    gradients = found if isinstance(found, tuple) else (found,)
    sources = [
        n for n in ("x", "output", "weight", "grid", "state", "cell", "x1", "a") if n in given
    ]
    shapes = {np.shape(given[source]) for source in sources}
    assert gradients[0].shape in shapes or name.startswith(("gru", "lstm", "index")), name


WRONG_SIZES = [
    1.0,
    1.5,
    "same",
    None,
    True,
    [],
    (1,),
    (1, 2, 3, 4),
    (1.0, 1.0),
    0,
    -1,
    2**40,
    -(2**70),
    [1, [2]],
    np.array(1.0),
    np.ones((2, 2)),
]


def is_of_one_axis(name: str, kind: str) -> bool:
    """Whether an argument has one size for the only dimension."""
    return "1d" in name and kind.startswith(("Size", "Border"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sizes(name: str) -> None:
    for argument in CALLS[name]:
        kind = kind_of(name, argument)
        if not kind.startswith(("int", "Size", "Sequence", "Padding")):
            continue
        for wrong in WRONG_SIZES:
            if wrong is None and "None" in kind:
                continue
            if isinstance(wrong, tuple) and wrong == (1,) and is_of_one_axis(name, kind):
                continue
            message = refusal(name, {**CALLS[name], argument: wrong})
            if isinstance(wrong, (float, str, bool, tuple, list, np.ndarray)) or wrong is None:
                assert message, (argument, wrong)
                assert f"'{argument}'" in message


def other_forms(name: str, argument: str, value: Any) -> Iterator[Any]:
    """The same number, flag or sizes as others write it."""
    kind = kind_of(name, argument)
    if kind == "Any":
        return  # an array, or the shape of one
    if type(value) is bool:
        yield np.bool_(value)
    elif type(value) is int:
        yield from (np.int64(value), np.int16(value), np.array(value))
        if is_of_one_axis(name, kind):
            yield from ((value,), [value], np.array([value]))
    elif type(value) is float:
        yield from (np.float64(value), np.array(value))
    elif type(value) is tuple and all(type(size) is int for size in value):
        yield from (list(value), np.array(value), tuple(np.int32(size) for size in value))


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(is_same, one, other))
    if not isinstance(one, (float, np.ndarray)):
        return type(one) is type(other)  # None, or what is kept for a backward function
    return np.array_equal(one, other)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("dropout", "rrelu")])
def test_numbers_of_numpy(name: str) -> None:
    wanted = call(name, CALLS[name])
    for argument, value in CALLS[name].items():
        for form in other_forms(name, argument, value):
            found = call(name, {**CALLS[name], argument: form})
            assert is_same(found, wanted), (argument, form)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numbers_and_flags(name: str) -> None:
    for argument in CALLS[name]:
        kind = kind_of(name, argument)
        wrongs = {
            "float": ["x", [1.0], True],
            "bool": ["x", 1, 0.0, None],
            "str": ["x", b"x", ["x"], np.ones((2, 2)), None],
            "Generator | None": [3, np.ones((2, 2)), np.random.default_rng(0)],
        }
        for wrong in wrongs.get(kind, []):
            message = refusal(name, {**CALLS[name], argument: wrong})
            assert message, (argument, wrong)
            assert f"'{argument}'" in message, message


# ---- Shapes without elements or dimensions

ELEMENTWISE = [
    *("absolute", "elu", "hard_shrink", "hard_tanh", "leaky_relu", "log_sigmoid", "relu"),
    *("sigmoid", "soft_shrink", "softplus", "sqrt", "square", "tanh", "threshold"),
]
SHAPES = [(), (0,), (1,), (3,), (2, 0), (0, 2), (2, 3), (0, 2, 3), (2, 1, 0, 3), (1, 2, 1, 2, 1)]


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", [*ELEMENTWISE, "rrelu", "prelu"])
def test_shapes_are_kept(name: str, shape: tuple[int, ...], real: Any) -> None:
    x = np.full(shape, 0.25, real)
    more = {"prelu": (np.array([0.5], real),)}.get(name, ())
    output = getattr(F, name)(x, *more)
    slopes = ()
    if name == "rrelu":
        output, one = output
        slopes = (one,)
        assert one.shape == shape
    assert (output.shape, output.dtype) == (shape, real)
    gradient = getattr(F, f"{name}_backward")(np.ones(shape, real), output, *slopes, *more)
    gradient = gradient[0] if isinstance(gradient, tuple) else gradient
    assert (gradient.shape, gradient.dtype) == (shape, real)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_keeps_shapes(name: str, shape: tuple[int, ...]) -> None:
    for axis in range(-len(shape), len(shape)):
        output = getattr(F, name)(np.ones(shape), axis)
        assert output.shape == shape
        assert getattr(F, f"{name}_backward")(output, output, axis).shape == shape
    for axis in (len(shape), -len(shape) - 1):
        with pytest.raises(
            THNNArgumentError, match=f"functional.{name}: .*'axis': expected an axis"
        ):
            getattr(F, name)(np.ones(shape), axis)


LOSSES = [
    *("absolute_loss", "binary_cross_entropy", "kl_div_loss", "margin_loss", "mse_loss"),
    *("smooth_l1_loss", "soft_margin_loss"),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_any_shape(name: str, shape: tuple[int, ...]) -> None:
    x, target = np.full(shape, 0.25), np.full(shape, 1.0)
    if x.size:
        assert isinstance(getattr(F, name)(x, target), float)
    else:
        assert getattr(F, name)(x, target, average=False) == 0
        with pytest.raises(THNNArgumentError, match="'x': expected elements to average over"):
            getattr(F, name)(x, target)
    assert getattr(F, f"{name}_backward")(x, target).shape == shape
    more, as_many = np.ones((*shape, 2)), x[None]
    for one, other in ((x, more), (more, x), (x, as_many), (as_many, x)):
        with pytest.raises(THNNArgumentError, match="'target': expected the shape of x"):
            getattr(F, name)(one, other)


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "shape", "more", "result"),
    [
        ("linear", (0, 4), (np.ones((2, 4)), np.ones(2)), (0, 2)),
        ("conv2d", (0, 3, 5, 6), (np.ones((2, 3, 2, 2)), np.ones(2)), (0, 2, 4, 5)),
        ("depthwise_conv2d", (0, 3, 5, 6), (np.ones((2, 3, 2, 2)),), (0, 6, 4, 5)),
        ("conv_transpose2d", (0, 3, 5, 6), (np.ones((3, 2, 2, 2)),), (0, 2, 6, 7)),
        ("conv3d", (0, 1, 2, 2, 2), (np.ones((4, 1, 2, 2, 1)),), (0, 4, 1, 1, 2)),
        ("conv_transpose3d", (0, 1, 2, 2, 2), (np.ones((1, 4, 2, 2, 1)),), (0, 4, 3, 3, 2)),
        ("temporal_conv1d", (0, 5, 3), (np.ones((4, 6)), np.ones(4), 2), (0, 4, 4)),
        ("row_conv1d", (0, 5, 3), (np.ones((3, 1, 2)),), (0, 4, 3)),
        ("avg_pool2d", (0, 3, 6, 5), (2,), (0, 3, 3, 2)),
        ("avg_pool3d", (0, 3, 4, 6, 5), (2,), (0, 3, 2, 3, 2)),
        ("adaptive_avg_pool2d", (0, 3, 6, 5), (2,), (0, 3, 2, 2)),
        ("upsample_nearest2d", (0, 3, 6, 5), (2,), (0, 3, 12, 10)),
        ("upsample_bilinear2d", (0, 3, 6, 5), (4,), (0, 3, 4, 4)),
        ("upsample_trilinear3d", (0, 3, 6, 5, 4), (4,), (0, 3, 4, 4, 4)),
        ("grid_sample2d", (0, 3, 6, 5), (np.ones((0, 2, 3, 2)),), (0, 3, 2, 3)),
        ("reflection_pad2d", (0, 3, 6, 5), (1,), (0, 3, 8, 7)),
        ("replication_pad3d", (0, 3, 6, 5, 4), (1,), (0, 3, 8, 7, 6)),
        ("feature_lp_pool", (0, 6), (2.0, 2, 2), (0, 3)),
        ("glu", (0, 6), (), (0, 3)),
    ],
)
def test_empty_batches(
    name: str, shape: tuple[int, ...], more: tuple[Any, ...], result: tuple[int, ...], real: Any
) -> None:
    given = [m.astype(real) if isinstance(m, np.ndarray) else m for m in more]
    output = getattr(F, name)(np.ones(shape, real), *given)
    assert (output.shape, output.dtype) == (result, real)


@pytest.mark.parametrize("name", ["max_pool1d", "max_pool2d", "max_pool3d", "adaptive_max_pool2d"])
def test_empty_batches_of_maxima(name: str) -> None:
    shape = {"max_pool1d": (0, 4, 3), "max_pool3d": (0, 3, 4, 4, 4)}.get(name, (0, 3, 4, 4))
    x = np.ones(shape)
    output, indices = getattr(F, name)(x, 2)
    assert 0 in output.shape
    more = () if name.startswith("adaptive") else (2,)
    assert indices.shape == ((2, *output.shape) if name.startswith("adaptive") else output.shape)
    assert getattr(F, f"{name}_backward")(output, x, indices, *more).shape == shape


def test_gradients_of_empty_batches() -> None:
    x, weight = np.ones((0, 3, 5, 5)), normal(2, 3, 2, 2)
    grad_x, grad_weight, grad_bias = F.conv2d_backward(np.ones((0, 2, 4, 4)), x, weight)
    assert (grad_x.shape, grad_weight.shape, grad_bias.shape) == (x.shape, weight.shape, (2,))
    assert not grad_weight.any()
    assert not grad_bias.any()
    start = {"x": np.ones(x.shape), "weight": np.ones(weight.shape)}
    grad_x, grad_weight, grad_bias = F.conv2d_backward(
        np.ones((0, 2, 4, 4)), x, weight, needs=("x", "weight"), add_to=start
    )
    assert (grad_x.shape, grad_bias) == (x.shape, None)
    assert (start["weight"] == 1).all()
    assert grad_weight is start["weight"]
    assert F.conv2d_grad_input(np.ones((0, 2, 4, 4)), weight, 5).shape == x.shape
    assert not F.conv2d_grad_weight(np.ones((0, 2, 4, 4)), x, 2).any()
    grads = F.linear_backward(np.ones((0, 2)), np.ones((0, 4)), np.ones((2, 4)))
    assert [g.shape for g in grads] == [(0, 4), (2, 4), (2,)]
    grads = F.batch_norm(np.ones((0, 2)), None, None, np.zeros(2), np.ones(2), training=False)
    assert [g.shape for g in grads] == [(0, 2), (2,), (2,)]
    with pytest.raises(THNNArgumentError, match="'x': expected samples to take the mean of"):
        F.batch_norm(np.ones((0, 2)))
    new, storage = F.gru_cell(np.ones((0, 6)), np.ones((0, 6)), np.ones((0, 2)))
    assert [g.shape for g in F.gru_cell_backward(new, storage)] == [(0, 6), (0, 6), (0, 2)]


@pytest.mark.parametrize(
    ("name", "shape", "more"),
    [
        ("conv2d", (1, 0, 5, 5), (np.ones((2, 0, 2, 2)),)),
        ("conv2d", (0, 5, 5), (np.ones((2, 1, 2, 2)),)),
        ("conv2d", (1, 3, 0, 5), (np.ones((2, 3, 2, 2)),)),
        ("linear", (2, 0), (np.ones((2, 0)),)),
        ("linear", (2,), (np.ones((0, 2)),)),
        ("max_pool2d", (2, 3, 0, 4), (2,)),
        ("avg_pool2d", (0, 4, 4), (2,)),
    ],
)
def test_other_sizes_of_none(name: str, shape: tuple[int, ...], more: tuple[Any, ...]) -> None:
    assert refusal(name, inspect.signature(getattr(F, name)).bind(np.ones(shape), *more).arguments)


# ---- Some of them in full


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda: F.linear(np.ones((2, 3, 4)), np.ones((5, 4))),
            "linear: argument #2 'weight': expected outputs x 12 (inputs), found shape (5, 4)",
        ),
        (
            lambda: F.linear(np.ones((2, 4)), np.ones((5, 3))),
            "linear: argument #2 'weight': expected outputs x 4 (inputs), found shape (5, 3)",
        ),
        (
            lambda: F.mse_loss(np.ones((2, 3)), np.ones((3, 2))),
            "mse_loss: argument #2 'target': expected the shape of x, (2, 3), found shape (3, 2)",
        ),
        (
            lambda: F.nll_loss(np.zeros((2, 4)), [0, 4]),
            "nll_loss: argument #2 'target': expected indices from 0 to 3, found 4 at [1]",
        ),
        (
            lambda: F.nll_loss(np.zeros((2, 4)), [0, -1]),
            "nll_loss: argument #2 'target': expected indices from 0 to 3, found -1 at [1]",
        ),
        (
            lambda: F.nll_loss(np.zeros((1, 4)), [1.7]),
            "nll_loss: argument #2 'target': expected whole numbers, found 1.7",
        ),
        (
            lambda: F.conv2d(np.ones((1, 5, 5)), np.ones((1, 1, 2, 2)), stride=1.0),
            "conv2d: argument #4 'stride': expected an int or 2 ints, found 1.0",
        ),
        (
            lambda: F.conv2d(np.ones((1, 5, 5)), np.ones((1, 1, 2, 2)), padding="wide"),
            "conv2d: argument #5 'padding': expected an int, 2 ints, 2 pairs (before, after), or"
            " 'valid', 'full', 'half' or 'same', found 'wide'",
        ),
        (
            lambda: F.conv2d(np.ones((1, 5, 5)), np.ones((1, 1, 2, 2)), stride=0),
            "conv2d: argument #4 'stride': expected at least 1, found 0",
        ),
        (
            lambda: F.conv2d(np.ma.ones((1, 5, 5)), np.ones((1, 1, 2, 2))),
            "conv2d: argument #1 'x': expected an array of float32 or float64 without a"
            " mask: fill it, as with .filled(0), found a masked array",
        ),
        (
            lambda: F.max_pool2d(np.ones((1, 4, 4)), 2, padding=3),
            "max_pool2d: argument #4 'padding': expected at most 1, below the window, found 3",
        ),
    ],
)
def test_messages(use: Any, message: str) -> None:
    with pytest.raises(THNNArgumentError) as error:
        use()
    assert str(error.value) == f"functional.{message}"


class Subclass(np.ndarray):
    pass


def test_what_is_taken() -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(F.relu(x.tolist()), x)
    np.testing.assert_array_equal(F.relu(Tensor(x)), x)
    np.testing.assert_array_equal(F.relu(x[::-1, ::2]), x[::-1, ::2])
    np.testing.assert_array_equal(F.relu(x.astype(">f8")), x)
    assert F.relu(x.astype(int)).dtype == np.float64
    assert F.mse_loss(x.astype(np.float32), x.tolist()) == 0
    assert type(F.relu(x.view(Subclass))) is np.ndarray
    assert F.nll_loss(np.zeros((2, 4)), np.array([0, 3], np.uint8)) == 0
    assert F.nll_loss(np.zeros((2, 4)), [0.0, 3.0]) == 0
    frozen = x.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(F.relu(frozen), x)
    with pytest.raises(THNNArgumentError, match="'weight': expected a writable array"):
        F.embedding_renorm([0], frozen, 1.0)


@pytest.mark.parametrize("index", [-1, 3])
def test_indices_of_rows(index: int) -> None:
    weight, places = normal(3, 2), np.array([0, index])
    for use in (
        lambda: F.embedding(places, weight),
        lambda: F.embedding_backward(np.ones((2, 2)), places, weight),
        lambda: F.embedding_renorm(places, weight, 1.0),
        lambda: F.embedding_bag(places, np.array([0]), weight),
    ):
        with pytest.raises(THNNArgumentError, match=rf"'indices': .* from 0 to 2, found {index}"):
            use()


def test_pairs_of_biases() -> None:
    x, state = normal(2, 6), normal(2, 2)
    with_arrays = F.gru_cell(x, x, state, (np.ones(6), np.zeros(6)))[0]
    np.testing.assert_array_equal(F.gru_cell(x, x, state, [[1.0] * 6, [0] * 6])[0], with_arrays)
    for wrong in ((np.ones(6),), "x", 5, (np.ones(6), np.ones(5)), (np.ones(6), None), np.ones(3)):
        with pytest.raises(THNNArgumentError, match=r"argument #4 'biases(\[1\])?': expected"):
            F.gru_cell(x, x, state, wrong)


def test_memory_errors_name_the_function() -> None:
    with pytest.raises((THNNError, MemoryError)):
        F.upsample_nearest2d(np.ones((1, 1, 1)), 2**24)


def test_tables_that_must_not_be_written():
    weight = np.ones((3, 2))
    weight.flags.writeable = False
    keys, values, sizes = np.arange(3), np.array([1.0, 2.0, 3.0]), np.array([1, 2])
    for _ in range(3):  # by the body, and prepared
        output = F.index_linear(keys, values, sizes, weight, np.zeros(2))
        assert output.tolist() == [[1, 1], [5, 5]]
