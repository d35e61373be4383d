"""A program of several processes, of which process 1 fails in the way that is asked for.

mpiexec -n N python failing.py HOW
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

import pythnn
from pythnn import THNNError, distributed, nn

COMM = MPI.COMM_WORLD
HOW = sys.argv[1]
IS_ONE = COMM.rank == 1
SHARDS = list(np.ones((6, 3)))

if HOW == "raises_first" and IS_ONE:
    raise OSError("no such file: images.npz")
pythnn.manual_seed(COMM.rank)
net = nn.Linear(3, 2)
distributed.broadcast(net, COMM)


def evaluate(sample: Any) -> float:
    net.backward(sample, net.forward(sample))
    return 1.0


def fail(_: Any) -> float:
    raise ValueError("sample 17 is damaged")


def leave(_: Any) -> float:
    sys.exit(3)


def end(_: Any = None) -> float:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0.0


def attempt(work: Callable[[], Any]) -> None:
    """Something that fails in all processes: each prints its error."""
    try:
        work()
    except (THNNError, ValueError) as error:
        print(f"{COMM.rank}: {error}", flush=True)
    else:
        raise AssertionError("nothing was raised")


def gradients(shards: Any = SHARDS, evaluate: Any = evaluate, module: Any = net) -> float:
    return distributed.gradients(COMM, module, shards, evaluate)


if HOW == "caught":
    other = nn.Linear(3, 4 if IS_ONE else 2)
    attempt(lambda: gradients(evaluate=fail if IS_ONE else evaluate))
    attempt(lambda: gradients(evaluate=(lambda _: "a loss") if IS_ONE else evaluate))
    attempt(lambda: gradients(SHARDS[1:] if IS_ONE else SHARDS))
    attempt(lambda: gradients(module=other))
    attempt(lambda: distributed.broadcast(other, COMM))
    attempt(lambda: distributed.checkpoint(COMM, "x.t7", 3 if IS_ONE else net))
    pythnn.manual_seed(COMM.rank)
    attempt(gradients)
    distributed.broadcast(net, COMM)

in_evaluate = {"raises": fail, "exits": leave, "killed": end}
for step in range(3):
    if IS_ONE and step == 1:
        if HOW == "raises_between":
            raise OSError("no such file: batch-1.npz")
        if HOW == "leaves":
            sys.exit(0)
        if HOW == "killed_between":
            end()
    value = gradients(evaluate=in_evaluate.get(HOW, evaluate) if IS_ONE else evaluate)
print(f"trained: {value}")
