"""Measuring a row: all sides take turns, and what they compute is compared."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from .models import Network
from .peers import Maker, Runner, our_training, ours
from .rows import Row

__all__ = ["measure"]

ERRORS = {"float32": 1e-4, "float64": 1e-10}
"""Of the largest result: what two ways of computing a network may differ by."""
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
    outputs = {}
    for name, runner in runners.items():
        for _ in range(2 if is_training else 1):  # the second step depends on the gradients
            outputs[name] = runner(x)
    messages = []
    if not (is_training and network.draws):
        for name in peers:
            error = _error(outputs[name], outputs["ours"])
            if not error <= ERRORS[row.dtype]:
                differs = f"{name} differs by {error:.1e} of the largest"
                messages.append(f"{row.network}, {row.kind}: {differs}")
    row.times = dict.fromkeys(runners, math.inf)
    end = time.perf_counter() + seconds * len(runners)
    while True:
        for name, runner in runners.items():
            row.times[name] = min(row.times[name], _shortest(runner, x))
        if time.perf_counter() > end:
            return messages


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
