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


class Training:
    def __init__(self) -> None:
        pythnn.manual_seed(COMM.rank)
        self.net = nn.Sequential(
            nn.SpatialConvolution(1, 2, 3, 3), nn.SpatialBatchNormalization(2), nn.ReLU(),
            nn.View(32), nn.Dropout(0.2), nn.Linear(32, 3),
        ).cuda()  # fmt: skip
        distributed.broadcast(self.net, COMM)
        self.parameters, self.sums = self.net.getParameters()
        self.state: dict[str, Any] = {}

    def evaluate(self, samples: Any) -> float:
        x = cupy.asarray(IMAGES[samples])
        self.net.backward(x, self.net.forward(x))
        return float(self.net.output.sum())

    def steps(self, count: int) -> Any:
        def loss(_: Any) -> tuple[float, Any]:
            shards = np.array_split(np.arange(12), 5)
            return distributed.gradients(COMM, self.net, shards, self.evaluate), self.sums

        for _ in range(count):
            optim.adam(loss, self.parameters, CONFIG, self.state)
        parts = [self.parameters, self.sums, self.net.get(2).running_mean]
        assert all(isinstance(part, cupy.ndarray) for part in (*parts, self.state["m"]))
        return np.concatenate([part.get() for part in parts])


path = FOLDER / f"{COMM.size}.t7"
training, resumed = Training(), Training()
training.steps(2)
distributed.checkpoint(COMM, path, training.net, training.state)
expected = training.steps(1)
resumed.state = distributed.resume(COMM, path, resumed.net)["state"]
assert (resumed.steps(1) == expected).all()
everybody = COMM.allgather(expected)
assert all((one == expected).all() for one in everybody)
if COMM.rank == 0:
    np.save(FOLDER / f"{COMM.size}.npy", expected)
