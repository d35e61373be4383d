#!/usr/bin/env python3
"""Train the network of digits.py by several processes, to the same bits for any number of them.

    mpirun -n 2 python examples/digits_mpi.py
    mpirun -n 4 python examples/digits_mpi.py        # the file is the same

After each epoch demo-output/ has checkpoint.t7, from which `--resume` goes on, with any number of
processes; in the end digits-mpi.t7 is there, a model as any other.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import digits
import numpy as np

import pythnn
from pythnn import distributed, nn, optim

BATCH = 32
SHARDS = 8  # of a batch: up to as many processes have something to do
CONFIG = {"learningRate": 0.05, "momentum": 0.9, "dampening": 0}


class Training:
    """A network, its optimiser, and the epochs that are done."""

    def __init__(self, comm: Any, seed: int) -> None:
        self.comm, self.seed = comm, seed
        self.images, self.classes, self.held_out, self.their_classes = digits.data(seed)
        self.model, self.criterion = digits.network(), nn.ClassNLLCriterion().float()
        distributed.broadcast(self.model, comm)
        self.parameters, self.sums = self.model.getParameters()
        self.state: dict[str, Any] = {}
        self.epochs = 0

    def evaluate(self, samples: Any) -> float:
        """The loss of a shard, whose gradient is added to those of the model."""
        images, classes = self.images[samples], self.classes[samples]
        loss = self.criterion.forward(self.model.forward(images), classes)
        self.model.backward(images, self.criterion.backward(self.model.output, classes))
        return float(loss)

    def epoch(self) -> float:
        """Goes through all images once, but for those that fill no batch; returns the mean loss."""
        self.model.training()
        order = np.random.default_rng([self.seed, self.epochs]).permutation(len(self.images))
        losses: list[float] = []
        for start in range(0, len(order) - BATCH + 1, BATCH):
            shards = np.array_split(order[start : start + BATCH], SHARDS)

            def mean_loss(_: Any, shards: Any = shards) -> tuple[float, Any]:
                total = distributed.gradients(self.comm, self.model, shards, self.evaluate)
                self.sums /= SHARDS
                return total / SHARDS, self.sums

            losses += optim.sgd(mean_loss, self.parameters, CONFIG, self.state)[1]
        self.epochs += 1
        return float(np.mean(losses))

    def accuracy(self) -> float:
        """The part of the held-out images that are recognised."""
        self.model.evaluate()
        return digits.accuracy(self.model, self.held_out, self.their_classes)

    def save(self, path: Path) -> None:
        """Writes what training goes on from."""
        distributed.checkpoint(self.comm, path, self.model, self.state, epochs=self.epochs)

    def resume(self, path: Path) -> None:
        """Goes on from a file of :meth:`save`."""
        found = distributed.resume(self.comm, path, self.model)
        self.state, self.epochs = found["state"], found["epochs"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("demo-output"))
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    arguments = parser.parse_args()
    comm = distributed.world()
    pythnn.manual_seed(arguments.seed)
    arguments.output.mkdir(parents=True, exist_ok=True)
    checkpoint = arguments.output / "checkpoint.t7"
    training = Training(comm, arguments.seed)
    if arguments.resume:
        training.resume(checkpoint)
    while training.epochs < arguments.epochs:
        loss = training.epoch()
        training.save(checkpoint)
        if comm.rank == 0:
            print(f"epoch {training.epochs}: loss {loss:.4f}", flush=True)
    found = training.accuracy()
    if comm.rank == 0:
        print(f"{100 * found:.1f} % of {len(training.held_out)} held-out digits are recognised")
        pythnn.save(arguments.output / "digits-mpi.t7", training.model.clearState())


if __name__ == "__main__":
    main()
