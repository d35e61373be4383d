"""Algorithms of convolutions by name, how one is chosen, and what is remembered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.bounds import assert_half_of_the_digits
from test_grouped_convolution import Call, check, random_call

from pythnn import State, Tensor, THNNArgumentError, THNNError, thnn
from pythnn import functional as F  # noqa: N812

NAMES = ("gemm", "direct", "winograd", "winograd4", "fft_tiling")
METHODS = ("guess_once", "guess_on_shape_change", "time_once", "time_on_shape_change")
RESULTS = ("output", "grad_input", "grad_weight")
MIXED = [
    ("gemm", "direct", "winograd"),
    ("winograd", "gemm", "gemm"),
    ("gemm", "winograd", "gemm"),
    ("fft_tiling", "gemm", "fft_tiling"),
    ("direct", "fft_tiling", "gemm"),
]

rng = np.random.default_rng(0)
X = rng.standard_normal((2, 4, 9, 8)).astype(np.float32)
W = rng.standard_normal((6, 2, 3, 3)).astype(np.float32)
SETTINGS: dict[str, Any] = {"groups": 2, "padding": 1}


@pytest.fixture
def times() -> Any:
    return F.convolution_times


def computed(convolution: Any, x: np.ndarray = X, **settings: Any) -> list[bytes]:
    """Output and gradients, bit by bit."""
    with State(convolution=convolution) as state:
        return with_state(state, x, **settings)


def with_state(state: State | None, x: np.ndarray = X, **settings: Any) -> list[bytes]:
    settings = {**SETTINGS, **settings, "state": state}
    output = F.conv2d(x, W, **settings)
    grad = np.cos(np.arange(output.size, dtype=np.float32)).reshape(output.shape)
    grads = F.conv2d_backward(grad, x, W, **settings, needs=("x", "weight"))
    return [a.tobytes() for a in (output, *grads[:2])]


def test_results_of_algorithms_differ_in_their_last_bits() -> None:
    """What the tests below stand on: Winograd's are not those of sums of products."""
    for one, other in zip(computed("gemm"), computed("winograd"), strict=True):
        assert one != other


@pytest.mark.parametrize("name", [*NAMES, *METHODS])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("transposed", [False, True])
def test_each_computes_the_definition(transposed: bool, seed: int, name: str) -> None:
    call = random_call(2, transposed, seed)
    if name.startswith("winograd"):
        call = three_by_three(transposed, seed)
    if name == "fft_tiling":
        call = unit_stride(transposed, seed)
    with State(convolution=name) as state:
        check(call, "float32", state, spreads=name == "fft_tiling" or name.startswith("time"))


def three_by_three(transposed: bool, seed: int) -> Call:
    for attempt in range(seed * 100, 10**6):
        call = random_call(2, transposed, attempt)
        if call.kernel == (3, 3) and call.stride == (1, 1):
            return call
    raise AssertionError


def unit_stride(transposed: bool, seed: int) -> Call:
    for attempt in range(seed * 100, 10**6):
        call = random_call(2, transposed, attempt)
        if call.stride == call.dilation == (1, 1):
            return call
    raise AssertionError


def test_one_for_each_result() -> None:
    by_name = {name: computed(name) for name in NAMES}
    for three in MIXED:
        wanted = [by_name[name][i] for i, name in enumerate(three)]
        assert computed(three) == wanted
        assert computed(list(three)) == wanted
        assert computed(dict(zip(RESULTS, three, strict=True))) == wanted
    with State(convolution={"grad_weight": "gemm"}) as state:
        assert state.convolution == ("auto", "auto", "gemm")


def test_modules_take_each_result_s_algorithm() -> None:
    """thnn and nn too, not only functional."""
    window = (3, 3, 1, 1, 1, 1)
    x, w = X, rng.standard_normal((5, 4, 3, 3)).astype(np.float32)

    def run(convolution: Any) -> list[bytes]:
        y, gx, gw = Tensor(dtype=x.dtype), Tensor(dtype=x.dtype), np.zeros_like(w)
        with State(convolution=convolution) as state:
            thnn.SpatialConvolutionMM_updateOutput(state, x, y, w, None, None, None, *window)
            thnn.SpatialConvolutionMM_updateGradInput(state, x, y, gx, w, None, None, *window)
            thnn.SpatialConvolutionMM_accGradParameters(
                state, x, y, gw, None, None, None, *window, 1.0
            )
        return [y.numpy().tobytes(), gx.numpy().tobytes(), gw.tobytes()]

    gemm, mixed = run("gemm"), run(("gemm", "direct", "winograd"))
    assert mixed[0] == gemm[0]
    assert mixed[1] == run(("gemm", "direct", "gemm"))[1] != gemm[1]
    assert mixed[2] == run(("gemm", "gemm", "winograd"))[2] != gemm[2]


def strided_weight_gradient(taps: int, state: State) -> Any:
    """Of a kernel of taps x taps with a stride of 2 that has 3 x 3 results."""
    output, x, w = (np.ones((n, 2, size, size)) for n, size in ((1, 3), (1, 4 + taps), (2, taps)))
    return F.conv2d_backward(output, x, w, stride=2, needs=("weight",), state=state)[1]


@pytest.mark.parametrize(
    ("convolution", "call", "reason"),
    [
        ("winograd", lambda s: F.conv2d(X, W[..., :2], groups=2, state=s), "kernels of 3 x 3, for"),
        ("winograd", lambda s: F.conv2d(X, W, groups=2, stride=3, state=s), "a stride of 1"),
        (
            "winograd4",
            lambda s: F.conv2d(X, W[..., :2], groups=2, state=s),
            "2 x 2 or 3 x 3 or 5 x 5, for",
        ),
        (
            "winograd",
            lambda s: F.conv1d(X[:, :, 0], W[..., 0], groups=2, state=s),
            "kernels of 3 x 3",
        ),
        (
            ("auto", "auto", "winograd"),
            lambda s: strided_weight_gradient(4, s),
            "no gradient of the weight for kernels of 4 x 4",
        ),
        (
            ("auto", "auto", "winograd"),
            lambda s: strided_weight_gradient(3, s),
            "no gradient of the weight for kernels of 3 x 3",
        ),
        ("fft", lambda s: F.conv2d(X, W, groups=2, state=s), "which only cuDNN has"),
        ("fft_tiling", lambda s: F.conv2d(X, W, groups=2, stride=4, state=s), "no larger than"),
        ("cudnn", lambda s: F.conv2d(X, W, groups=2, state=s), "for arrays on a CUDA device"),
        ("cudnn_algo_1", lambda s: F.conv2d(X, W, groups=2, state=s), "for arrays on a CUDA"),
    ],
)
def test_what_does_not_apply(convolution: Any, call: Any, reason: str) -> None:
    """A name is refused, and says why; auto and the others pass it over."""
    with (
        State(convolution=convolution) as state,
        pytest.raises(THNNArgumentError, match=f"'state'.* applies.*{reason}"),
    ):
        call(state)
    for method in ("auto", *METHODS):
        with State(convolution=method) as state:
            assert_half_of_the_digits(call(state), call(None))


@pytest.mark.parametrize(
    "convolution", [("auto", "winograd", "auto"), ("auto", "auto", "winograd")]
)
@pytest.mark.parametrize("precision", ["as_input", "float64"])
def test_a_refused_name_changes_nothing(convolution: Any, precision: Any) -> None:
    x, weight, start = X.astype("f"), W[..., :2].astype("f"), np.ones_like(X, "f")
    output = F.conv2d(x, weight, groups=2)
    with (
        State(convolution=convolution, precision=precision) as state,
        pytest.raises(THNNArgumentError, match="'state'"),
    ):
        F.conv2d_backward(output, x, weight, groups=2, add_to={"x": start}, state=state)
    assert (start == 1).all()


# ---- Measuring


def edited(times: Any, folder: Path, best: dict[str, str]) -> Path:
    """A file of the remembered times in which these algorithms are the fastest, by result."""
    file = folder / "times.json"
    times.save(file)
    content = json.loads(file.read_text())
    for row in content["convolution_times"]:
        row[-1] = dict.fromkeys(row[-1], 1.0) | {best[row[0]]: 0.5}
    file.write_text(json.dumps(content))
    return file


def test_times_are_remembered_and_taken_from_files(times: Any, tmp_path: Path) -> None:
    by_name = {name: computed(name) for name in NAMES}
    assert computed("time_on_shape_change")
    assert len(times) == 3
    computed("time_once")
    assert len(times) == 3, "nothing is measured twice"
    for three in MIXED:
        file = edited(times, tmp_path, dict(zip(RESULTS, three, strict=True)))
        times.clear()
        times.load(file)
        wanted = [by_name[name][i] for i, name in enumerate(three)]
        for method in ("time_once", "time_on_shape_change"):
            assert computed(method) == wanted, method


def test_once_and_on_shape_change(times: Any, tmp_path: Path) -> None:
    """One keeps to its first choice where that applies; the other chooses for each geometry."""
    smaller = np.ascontiguousarray(X[:, :, 1:])
    for x, best in ((X, "gemm"), (smaller, "winograd")):
        computed("time_on_shape_change", x)
        times.load(edited(times, tmp_path, dict.fromkeys(RESULTS, best)))
        if x is X:
            times.save(tmp_path / "first.json")
    times.load(tmp_path / "first.json")
    for method, second in (("time_once", "gemm"), ("time_on_shape_change", "winograd")):
        with State(convolution=method) as state:
            assert with_state(state) == computed("gemm")
            assert with_state(state, smaller) == computed(second, smaller), method


def test_a_first_choice_that_does_not_apply_is_passed_over(times: Any, tmp_path: Path) -> None:
    computed("time_once")
    times.load(edited(times, tmp_path, dict.fromkeys(RESULTS, "winograd")))
    with State(convolution="time_once") as state:
        assert with_state(state) == computed("winograd")
        assert with_state(state, stride=3) == computed("auto", stride=3)


def test_measuring_adds_nothing_to_results() -> None:
    start = np.ones_like(X)
    output = F.conv2d(X, W, **SETTINGS)
    with State(convolution="time_once") as state:
        F.conv2d_backward(output, X, W, **SETTINGS, add_to={"x": start}, state=state)
    wanted = F.conv2d_grad_input(output, W, X.shape[2:], **SETTINGS)
    assert_half_of_the_digits(start, 1 + wanted)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"convolution_times": 1}',
        '{"convolution_times": [[1, 2]]}',
        '{"convolution_times": [["output", false, false, "float32", 1, 9, [1, 2], {"fft": 1.0}]]}',
        '{"convolution_times": [["x", false, false, "float32", 1, 9, [1, 2], {"gemm": 1.0}]]}',
    ],
)
def test_files_of_something_else(times: Any, tmp_path: Path, text: str) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)
    with pytest.raises(THNNError, match=r"file.json does not hold times of convolutions"):
        times.load(file)
    assert len(times) == 0


# ---- States


def test_the_state_s_other_choices_hold() -> None:
    """Those of the moment, not of an earlier call."""
    with State(convolution="guess_once", workspace_limit=1 << 20) as state:
        with_state(state)
        assert state._with_algorithm("gemm").workspace_limit == 1 << 20
        state.workspace_limit = 2 << 20
        state.threads = 3
        found = state._with_algorithm("gemm")
        assert (found.workspace_limit, found.threads) == (2 << 20, 3)
        assert state.convolution == "guess_once"


@pytest.mark.parametrize("wrong", ["gemm", 1, object(), np.ones(2)])
def test_what_is_no_state(wrong: Any) -> None:
    with pytest.raises(THNNArgumentError, match="'state': expected a State or None"):
        F.conv2d(X, W, groups=2, state=wrong)


def test_closed_states_are_refused() -> None:
    with State(convolution="gemm") as state:
        pass
    with pytest.raises(THNNError, match="the State is closed"):
        F.conv2d(X, W, groups=2, state=state)


# ---- Precision


@pytest.mark.parametrize("transposed", [False, True])
def test_sums_of_doubles(transposed: bool) -> None:
    """With arrays of float32: every result is the double one, rounded."""
    w = rng.standard_normal((4, 3, 3, 3)).astype(np.float32)
    name = "conv_transpose2d" if transposed else "conv2d"
    forward, backward = getattr(F, name), getattr(F, f"{name}_backward")
    settings: dict[str, Any] = {"groups": 2 if transposed else 1, "padding": 1}
    x = X if transposed else X[:, :3]
    wide = forward(x.astype(float), w.astype(float), **settings)
    grad = np.cos(wide).astype(np.float32)
    grads = backward(*(a.astype(float) for a in (grad, x, w)), **settings)
    with State(precision="float64") as state:
        settings["state"] = state
        found = forward(x, w, **settings)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, wide.astype(np.float32))
        for one, other in zip(backward(grad, x, w, **settings), grads, strict=True):
            np.testing.assert_array_equal(one, other.astype(np.float32))
        for key, one in zip(("x", "weight", "bias"), grads, strict=True):
            start = np.full(one.shape, 0.1, np.float32)
            total = (start.astype(float) + one).astype(np.float32)
            added = backward(grad, x, w, needs=(key,), add_to={key: start}, **settings)
            assert any(a is start for a in added)
            assert_half_of_the_digits(start, total)
    with State(precision="float32") as state:
        np.testing.assert_array_equal(
            forward(x, w, **{**settings, "state": state}),
            forward(x, w, **{**settings, "state": None}),
        )


# ---- Plans


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("name", NAMES)
def test_plans(name: str, result: str) -> None:
    limit = 1 << 20
    with State(convolution=name, workspace_limit=limit, threads=1) as state:
        plan = F.convolution_plan(X, W, result, **SETTINGS, state=state)
        assert plan.algorithm == name
        assert 0 <= plan.scratch_bytes < 2 * limit
        assert plan.cost > 0
        shapes = F.convolution_plan(
            X.shape, W.shape, result, **SETTINGS, dtype=np.float32, state=state
        )
        assert shapes == plan
    alone = F.convolution_plan((4, 8), (4, 1, 3), result, groups=4)
    assert alone.algorithm == "direct"
    back = F.convolution_plan((2, 6, 5, 5), W.shape, result, groups=2, transposed=True)
    assert back.algorithm in NAMES


def test_plans_say_what_was_chosen(times: Any, tmp_path: Path) -> None:
    """Of known times the fastest; before there are any, what costs say. Asking chooses nothing."""
    guessed = F.convolution_plan(X, W, **SETTINGS).algorithm
    fastest = next(name for name in NAMES if name != guessed)
    for method in ("time_once", "time_on_shape_change"):
        times.clear()
        with State(convolution=method) as state:
            settings: dict[str, Any] = {**SETTINGS, "state": state}
            assert F.convolution_plan(X, W, **settings).algorithm == guessed
            assert len(times) == 0
            F.conv2d(X, W, **settings)
            times.load(edited(times, tmp_path, dict.fromkeys(RESULTS, fastest)))
            if method == "time_on_shape_change":
                assert F.convolution_plan(X, W, **settings).algorithm == fastest
        with State(convolution=method) as state:
            settings["state"] = state
            plan = F.convolution_plan(X, W, **settings)
            with State(convolution=fastest) as named:
                assert plan == F.convolution_plan(X, W, **SETTINGS, state=named)
            assert F.conv2d(X, W, **settings).tobytes() == computed(fastest)[0]
            times.clear()
            kept = fastest if method == "time_once" else guessed
            assert F.convolution_plan(X, W, **settings).algorithm == kept


@pytest.mark.parametrize("name", ["fft", "cudnn", "winograd", "fft_tiling"])
def test_plans_of_names_that_do_not_apply(name: str) -> None:
    """They are refused, as the call is."""
    settings: dict[str, Any] = {**SETTINGS, "stride": 4}
    with State(convolution=name) as state:
        messages = []
        for function in (F.conv2d, F.convolution_plan):
            with pytest.raises(THNNArgumentError, match="'state': expected an algorithm") as error:
                function(X, W, **settings, state=state)
            messages.append(str(error.value).partition("expected")[2])
    assert messages[0] == messages[1]
    with pytest.raises(THNNError, match="the State is closed"):
        F.convolution_plan(X, W, state=state)


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"x": (0, 4)}, "x"),
        ({"x": 3}, "x"),
        ({"x": (2, 4, 9)}, "x"),
        ({"weight": (6, 2)}, "weight"),
        ({"weight": None}, "weight"),
        ({"result": "input"}, "result"),
        ({"result": 1}, "result"),
        ({"dtype": "int32"}, "dtype"),
        ({"transposed": 1}, "transposed"),
        ({"add": None}, "add"),
        ({"groups": 3}, "weight|x"),
        ({"state": "auto"}, "state"),
    ],
)
def test_plans_of_nothing(change: dict[str, Any], argument: str) -> None:
    given = {"x": X, "weight": W, **SETTINGS, **change}
    with pytest.raises(THNNArgumentError, match=f"convolution_plan: argument #.* '({argument})'"):
        F.convolution_plan(**given)


def test_the_cost_of_adding_is_that_of_the_image() -> None:
    """Of its elements, however many the map has. Only dilated results are not added at once."""
    with State(convolution="winograd", threads=1) as state:
        settings: dict[str, Any] = {"result": "grad_input", "groups": 2, "dilation": 2}
        settings["state"] = state
        costs = []
        for padding in (0, 2):
            shapes = (8, 64, 57, 57), (64, 32, 3, 3)
            with_add, without = (
                F.convolution_plan(*shapes, padding=padding, add=add, **settings)
                for add in (True, False)
            )
            assert with_add.algorithm == without.algorithm == "winograd"
            costs.append(with_add.cost - without.cost)
    assert costs[0] > 0
    assert costs[0] == pytest.approx(costs[1], rel=1e-6)


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("name", ["auto", *NAMES])
@pytest.mark.parametrize("groups", [2, 4])
def test_groups_cost_what_they_cost_one_by_one(groups: int, name: str, result: str) -> None:
    """Nothing is copied: a group's planes are read and written where they lie."""
    with State(convolution=name, threads=1) as state:
        settings: dict[str, Any] = {"result": result, "padding": 1, "state": state}
        planes = 128 // groups
        together = F.convolution_plan(
            (8, 128, 28, 28), (128, planes, 3, 3), groups=groups, **settings
        )
        one = F.convolution_plan((8, planes, 28, 28), (planes, planes, 3, 3), **settings)
    assert together[:2] == one[:2]
    assert together.cost == pytest.approx(groups * one.cost, rel=1e-12)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("name", ["auto", *NAMES])
def test_adding_takes_no_memory_and_no_pass(name: str, groups: int) -> None:
    """But for transforms of tiles, after which another algorithm may have to begin again."""
    with State(convolution=name, threads=1) as state:
        with_add, without = (
            F.convolution_plan(
                (8, 64, 57, 57), (64, 64 // groups, 3, 3), "grad_input",
                padding=1, groups=groups, add=add, state=state,
            )
            for add in (True, False)
        )  # fmt: skip
    if without.algorithm == "fft_tiling":
        assert with_add.scratch_bytes > without.scratch_bytes
        assert with_add.cost > without.cost
    else:
        assert with_add == without
