"""Calls that are prepared compute what bodies do, with arrays and memory of their own."""

from __future__ import annotations

import copy
import gc
import inspect
import itertools
import pickle
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from support.functional_calls import calls_of
from support.functional_modules import CASES

from pythnn import State, THNNError, functional
from pythnn._calls import recorded
from pythnn._calls.recorded import Kept

CALLS = 4
"""The first two run the body, the others what was prepared."""


def _arrays(value: Any) -> list[Any]:
    """All arrays and numbers of a result."""
    if isinstance(value, Kept):
        return _arrays([value.runs, value.parameters])
    if isinstance(value, (tuple, list)):
        return [one for entry in value for one in _arrays(entry)]
    return [value] if isinstance(value, (np.ndarray, float, np.floating)) else []


def _moved(value: Any, dtype: Any) -> Any:
    """Other numbers in the same shapes; indices stay."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.ascontiguousarray(value[::-1] if value.ndim else value).astype(dtype)
    if isinstance(value, (tuple, list)) and _arrays(value):
        return type(value)([_moved(entry, dtype) for entry in value])
    return value


def _same(found: Any, wanted: Any) -> None:
    one, other = _arrays(found), _arrays(wanted)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def _shared(array: Any, value: Any) -> bool:
    return any(np.shares_memory(array, other) for other in _arrays(value))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_bits_of_bodies(name, dtype):
    for function_name, given, named in calls_of(CASES[name]):
        if any(isinstance(value, Kept) for value in given):
            continue  # see test_recurrent_gradients
        function = getattr(functional, function_name)
        first, other = _moved(list(given), dtype), _moved(_moved(list(given), dtype), dtype)
        try:
            results = [function(*first, **named) for _ in range(CALLS)]
        except THNNError:
            continue  # numbers of another order are none that the function takes
        kept = [np.array(a) for a in _arrays(results[-1])]
        for found in results[1:]:
            _same(found, results[0])
        wanted = inspect.unwrap(function)
        _same(function(*other, **named), wanted(*other, **named))
        _same(results[-1], kept)  # memory of an earlier result is not used again
        own = [a for a in _arrays(results[-1]) if not _shared(a, first)]
        assert not any(_shared(a, results[-2]) for a in own)


def _layers(kind: str, dtype: Any) -> tuple[Any, ...]:
    rng, gates = np.random.default_rng(1), {"rnn": 1, "gru": 3, "lstm": 4}[kind]

    def normal(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(dtype)

    inputs = (2, 2, 6, 6)
    each = [(gates * 3, n) for n in inputs]
    weights = tuple(
        (normal(*of_x), normal(gates * 3, 3), normal(gates * 3), normal(gates * 3)) for of_x in each
    )
    start = normal(4, 2, 3)
    x, grad = normal(3, 2, 2), normal(3, 2, 6)
    return x, (start, start) if kind == "lstm" else start, weights, grad


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_recurrent_gradients(kind, dtype):
    x, start, weights, grad = _layers(kind, dtype)
    forward, backward = (getattr(functional, n) for n in (kind, f"{kind}_backward"))
    named = {"layers": 2, "bidirectional": True}
    results = []
    for _ in range(2 * CALLS):  # the gradients are prepared once what they take is
        y, last, saved = forward(x, start, weights, **named)
        results.append((y, last, saved, backward(grad, None, saved)))
    for found in results[1:]:
        _same(found, results[0])
    for first, second in combinations([a for found in results for a in _arrays(found[3])], 2):
        assert not np.shares_memory(first, second)  # whoever changes one changes no other


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("number", range(16))
def test_parameters_of_layers_are_looked_at(number, flat):
    x, start, weights, _ = _layers("lstm", "float64")
    whole = [array for of_one in weights for array in of_one]

    def run(arrays: list[Any]) -> Any:
        nested = [arrays[i : i + 4] for i in range(0, len(arrays), 4)]
        given = arrays if flat else nested
        return functional.lstm(x, start, given, layers=2, bidirectional=True)[0]

    for _ in range(CALLS):
        wanted = run(whole)
    array = whole[number]
    lacking, other = [*whole[:number], *whole[number + 1 :]], list(whole)
    with pytest.raises(THNNError, match="parameters"):
        run(lacking)
    for wrong in (array[:-1], array[None], array.astype(">f8")[..., :-1]):
        other[number] = wrong
        with pytest.raises(THNNError, match="parameters"):
            run(other)
    gaps = np.zeros((*array.shape, 2))
    gaps[..., 0] = array
    for right in (gaps[..., 0], array.astype(">f8"), array.view(np.memmap)):
        other[number] = right
        _same(run(other), wanted)


def test_keys_tell_settings_apart():
    x, weight = np.ones((1, 1, 4, 4)), np.ones((1, 1, 2, 2))
    for _ in range(CALLS):
        assert functional.conv2d(x, weight, stride=(1, 1)).shape == (1, 1, 3, 3)
    for stride in ((True, 1), (1.0, 1), True, 1.0, None):
        with pytest.raises(THNNError):
            functional.conv2d(x, weight, stride=stride)
    for _ in range(CALLS):
        assert np.signbit(functional.threshold(-x, 0.0, -0.0)).all()
        assert not np.signbit(functional.threshold(-x, 0.0, 0.0)).any()


def test_arrays_with_gaps_and_other_types():
    x = np.arange(32.0).reshape(4, 8)
    for _ in range(CALLS):
        functional.softmax(np.ascontiguousarray(x[:, ::2]))
        found = functional.softmax(x[:, ::2])
        assert np.array_equal(found, functional.softmax(x[:, ::2].copy()))
        big = functional.softmax(x[:, ::2].astype(">f8"))
        assert np.array_equal(found, big)
        lines = np.asfortranarray(x[:, ::2])
        assert np.array_equal(found, functional.softmax(lines))


def _in_columns(value: Any, chosen: int | None, count: Iterator[int]) -> Any:
    """Arrays with the first axis innermost: all of them, or the chosen one."""
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return np.asfortranarray(value) if next(count) == chosen or chosen is None else value
    if type(value) in (tuple, list):
        return type(value)([_in_columns(entry, chosen, count) for entry in value])
    return value


@pytest.mark.parametrize("name", CASES)
def test_elements_in_other_orders(name):
    for function_name, given, named in calls_of(CASES[name]):
        if any(isinstance(value, Kept) for value in given):
            continue
        function = getattr(functional, function_name)
        wanted = [function(*given, **named) for _ in range(CALLS)][-1]
        total = itertools.count()
        _in_columns(given, -1, total)
        for chosen in (None, *range(next(total))):
            found = function(*_in_columns(given, chosen, itertools.count()), **named)
            for one, other in zip(_arrays(found), _arrays(wanted), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_what_is_written_must_be_writable():
    x, mean, var = np.ones((4, 3)), np.zeros(3), np.ones(3)
    for _ in range(CALLS):
        functional.batch_norm(x, None, None, mean, var)
    assert mean.tolist() == pytest.approx([1 - 0.9**CALLS] * 3)
    mean.flags.writeable = False
    with pytest.raises(THNNError, match="read-only"):
        functional.batch_norm(x, None, None, mean, var)


def test_threads_do_not_meet():
    rng = np.random.default_rng(2)
    inputs = [rng.standard_normal((8, 64)) for _ in range(8)]
    weight, bias = rng.standard_normal((32, 64)), rng.standard_normal(32)
    wanted = [functional.linear(x, weight, bias) for x in inputs]

    def work(i: int) -> bool:
        calls = (functional.linear(inputs[i], weight, bias) for _ in range(300))
        return all(np.array_equal(found, wanted[i]) for found in calls)

    with ThreadPoolExecutor(len(inputs)) as pool:
        assert all(pool.map(work, range(len(inputs))))


def test_saved_states_can_be_copied():
    x, start, weights, grad = _layers("lstm", "float64")
    for _ in range(CALLS):
        saved = functional.lstm(x, start, weights, layers=2, bidirectional=True)[2]
    wanted = functional.lstm_backward(grad, None, saved)
    for other in (copy.deepcopy(saved), pickle.loads(pickle.dumps(saved))):
        _same(functional.lstm_backward(grad, None, other), wanted)


def test_added_gradients():
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((2, 3, 5, 5)), rng.standard_normal((4, 3, 3, 3))
    grad = np.ones((2, 4, 3, 3))
    alone = functional.conv2d_backward(grad, x, weight)
    for _ in range(CALLS):
        sums = {"x": np.ones_like(x), "weight": np.ones_like(weight)}
        found = functional.conv2d_backward(grad, x, weight, needs=("x", "weight"), add_to=sums)
        assert found[0] is sums["x"]
        assert found[1] is sums["weight"]
        assert found[2] is None
        assert np.allclose(found[0], alone[0] + 1)
        assert np.allclose(found[1], alone[1] + 1)


def _algorithms(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The algorithm of the state of each call of C that is prepared from now on."""
    seen: list[Any] = []
    address = recorded.Recording._state

    def remember(self: Any, value: Any) -> Any:
        seen.append(value.convolution)
        return address(self, value)

    monkeypatch.setattr(recorded.Recording, "_state", remember)
    return seen


def test_states(monkeypatch):
    """Calls with a state are prepared, each for what the state says at the time."""
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((1, 2, 5, 5)), rng.standard_normal((3, 2, 3, 3))
    wanted, found = functional.conv2d(x, weight), _algorithms(monkeypatch)
    state = State(convolution="direct")
    for choice in ("direct", "winograd", "guess_once"):
        state.convolution = choice
        for _ in range(CALLS):
            assert np.allclose(functional.conv2d(x, weight, state=state), wanted)
    assert found[:2] == ["direct", "winograd"]
    assert found[2:] == [functional.convolution_plan(x, weight, state=state).algorithm]
    found.clear()
    state.convolution = "time_on_shape_change"
    for _ in range(CALLS):
        functional.conv2d(x, weight, state=state)
    assert not found  # what was measured may change, so that each call looks it up
    state.convolution = "fft"
    with pytest.raises(THNNError, match="argument #9 'state'"):
        functional.conv2d(x, weight, state=state)


def test_closed_states_are_refused_and_forgotten():
    x, weight = np.ones((1, 2, 5, 5)), np.ones((3, 2, 3, 3))
    state = State(convolution="direct")
    for _ in range(CALLS):
        functional.conv2d(x, weight, state=state)
    alive = weakref.ref(state)
    state.close()
    with pytest.raises(THNNError, match="closed"):
        functional.conv2d(x, weight, state=state)
    del state
    gc.collect()  # the error has frames that have it
    assert alive() is None


RUN_EACH_TIME = {"embedding"}
"""Functions of cases that no call of theirs prepares."""


def _unwanted(*_: Any, **__: Any) -> None:
    """In the place of a body that must not run."""
    raise AssertionError


def test_what_is_prepared(monkeypatch):
    found = set()
    for case in CASES.values():
        for name, given, named in calls_of(case):
            if any(isinstance(value, Kept) for value in given):
                continue  # see test_recurrent_gradients
            function = getattr(functional, name)
            plans = function.__globals__["plan_of"].__self__
            plans.clear()
            for _ in range(CALLS):
                function(*given, **named)
            monkeypatch.setitem(function.__globals__, "body", _unwanted)
            monkeypatch.setitem(function.__globals__, "slow", _unwanted)
            try:
                function(*given, **named)
            except AssertionError:
                found.add(name)
            monkeypatch.undo()
    assert found == RUN_EACH_TIME
