"""A program of several processes that trains on a device; test_distributed_on_device runs it.

    mpiexec -n N python training_by_processes.py FOLDER

Process 0 writes FOLDER/N.npy, with the parameters, sums and statistics; and a checkpoint, N.t7.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

if os.environ.get("PYTHNN_CUDA_PACKAGE") == "pythnn_cuda_emulated":
    import fake_cupy

    fake_cupy.install()

import cupy

import pythnn
from pythnn import distributed, nn, optim

COMM = distributed.world()
FOLDER = Path(sys.argv[1])
IMAGES = np.random.default_rng(1).standard_normal((12, 1, 6, 6)).astype(np.float32)
CONFIG = {"learningRate": 0.01}

pythnn.manual_seed(COMM.rank)
net = nn.Sequential(
    nn.SpatialConvolution(1, 2, 3, 3), nn.SpatialBatchNormalization(2), nn.ReLU(), nn.View(32),
    nn.Dropout(0.2), nn.Linear(32, 3),
).cuda()  # fmt: skip
distributed.broadcast(net, COMM)
parameters, sums = net.getParameters()


def evaluate(samples: Any) -> float:
    x = cupy.asarray(IMAGES[samples])
    net.backward(x, net.forward(x))
    return float(net.output.sum())


def steps(count: int, state: dict[str, Any]) -> Any:
    def loss(_: Any) -> tuple[float, Any]:
        shards = np.array_split(np.arange(12), 5)
        return distributed.gradients(COMM, net, shards, evaluate), sums

    for _ in range(count):
        optim.adam(loss, parameters, CONFIG, state)
    parts = [parameters, sums, net.get(2).running_mean]
    assert all(isinstance(part, cupy.ndarray) for part in (*parts, state["m"]))
    return np.concatenate([part.get() for part in parts])


state: dict[str, Any] = {}
steps(2, state)
distributed.checkpoint(COMM, FOLDER / f"{COMM.size}.t7", net, state)
expected = steps(1, state)
state = distributed.resume(COMM, FOLDER / f"{COMM.size}.t7", net)["state"]
assert (steps(1, state) == expected).all()
everybody = COMM.allgather(expected)
assert all((one == expected).all() for one in everybody)
if COMM.rank == 0:
    np.save(FOLDER / f"{COMM.size}.npy", expected)
