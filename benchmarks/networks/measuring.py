"""Measuring a row: all sides take turns, and what they compute is compared."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from .models import Network
from .peers import Maker, Runner, our_training, ours
from .rows import Row

__all__ = ["exactly", "measure"]

ERRORS = {"float32": 1e-4, "float64": 1e-10}
"""Of the largest result: what two ways of computing a network may differ by."""
ROUNDINGS = 2.0**-20
"""What roundings of float32 amount to after some tens of layers, as a part of the numbers."""
MOVES, SPREAD = 3, 16
"""In how many ways numbers are moved by ROUNDINGS, and how many times as far as the results of
float64 then move those of float32 may be from them.

A ReLU whose input is about 0 passes a gradient or does not, by a rounding: one of a million
elements changes the next results by a thousandth. How far that is depends on where it happens, so
it is known but for a factor.
"""
SLICE = 0.05
"""Seconds of a side's turn."""


def measure(row: Row, network: Network, peers: dict[str, Maker], seconds: float) -> list[str]:
    """Fills in the shortest times of a row; returns what to say of results that differ."""
    dtype = np.dtype(row.dtype)
    model, x = network.model(dtype), network.input(row.batch, dtype)
    is_training = row.kind == "training"
    make = our_training if is_training else ours
    runners: dict[str, Runner] = {"ours": make(model, x, row.threads)}
    runners |= {name: peer(model, x, row.threads) for name, peer in peers.items()}
    outputs = {name: _results(runner, x, is_training) for name, runner in runners.items()}
    messages = []
    if not (is_training and network.draws):
        messages = [f"{row.network}, {row.kind}: {m}" for m in _differing(row, network, outputs)]
    row.times = dict.fromkeys(runners, math.inf)
    end = time.perf_counter() + seconds * len(runners)
    while True:
        for name, runner in runners.items():
            row.times[name] = min(row.times[name], _shortest(runner, x))
        if time.perf_counter() > end:
            return messages


def _results(runner: Runner, x: Any, is_training: bool) -> Any:
    """What a network computes; in training in the second step, which depends on gradients."""
    if is_training:
        runner(x)
    return runner(x)


def _differing(row: Row, network: Network, outputs: dict[str, Any]) -> list[str]:
    """What to say of peers whose results are not ours, by more than roundings explain."""
    differ = {name: _error(found, outputs["ours"]) for name, found in outputs.items()}
    large = [name for name, error in differ.items() if not error <= ERRORS[row.dtype]]
    said = {name: f"{name} differs by {differ[name]:.1e} of the largest" for name in large}
    if not large or row.dtype == "float64":
        return list(said.values())
    exact = exactly(row, network)
    moved = max(_error(exactly(row, network, seed), exact) for seed in range(1, MOVES + 1))
    own = _error(outputs["ours"], exact)
    messages = []
    for name in large:
        other = _error(outputs[name], exact)
        if not max(own, other) <= SPREAD * moved:
            far = f"from float64 by {other:.1e}, ours by {own:.1e}, and that moves by {moved:.1e}"
            messages.append(f"{said[name]}; {far}")
    return messages


def exactly(row: Row, network: Network, seed: int | None = None) -> Any:
    """What we compute in float64, of the numbers that the float32 network has.

    With a seed all numbers, inputs and parameters, are moved by ROUNDINGS at random.
    """
    is_training = row.kind == "training"
    model, x = network.model(np.float32).double(), network.input(row.batch, np.float32)
    inputs = [_as_float64(one) for one in x] if isinstance(x, list) else _as_float64(x)
    if seed is not None:
        draws = np.random.default_rng(seed)
        given = inputs if isinstance(inputs, list) else [inputs]
        for one in (*given, *(model.parameters() or ([],))[0]):
            if one.dtype == np.float64:
                one *= 1 + ROUNDINGS * draws.uniform(-1, 1, one.shape)
    make = our_training if is_training else ours
    return _results(make(model, inputs, row.threads), inputs, is_training)


def _as_float64(array: Any) -> Any:
    return array.astype(np.float64) if array.dtype == np.float32 else array


def _shortest(runner: Runner, x: Any) -> float:
    """The shortest of the calls that fit a turn, at least two."""
    best, end, count = math.inf, time.perf_counter() + SLICE, 0
    while count < 2 or time.perf_counter() < end:
        begin = time.perf_counter()
        runner(x)
        best = min(best, time.perf_counter() - begin)
        count += 1
    return best


def _error(found: Any, wanted: Any) -> float:
    """The largest difference, as a part of the largest number of each output."""
    if isinstance(wanted, list):
        return max(map(_error, found, wanted))
    difference = np.abs(np.reshape(found, wanted.shape) - wanted).max()
    return float(difference / np.abs(wanted).max())
