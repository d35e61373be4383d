"""A program of several processes: trains networks, and writes what becomes of them.

    mpiexec -n N python training.py FOLDER

Process 0 writes FOLDER/N.npz, with an array for each case; all processes must have the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pythnn
from pythnn import distributed, nn, optim

COMM = distributed.world()
FOLDER = Path(sys.argv[1])
SAMPLES = 23
CASES: dict[str, Callable[[], Any]] = {}

random = np.random.default_rng(5)
IMAGES = random.standard_normal((SAMPLES, 1, 8, 8)).astype(np.float32)
SEQUENCES = random.standard_normal((SAMPLES, 6, 5))
CLASSES = random.integers(1, 4, SAMPLES)


def case(function: Callable[[], Any]) -> Callable[[], Any]:
    CASES[function.__name__] = function
    return function


class Training:
    """A network, and steps on batches of all samples."""

    def __init__(self, net: nn.Module, inputs: Any, method: str = "sgd", **options: Any) -> None:
        self.net, self.inputs, self.options = net, inputs, options
        self.criterion = nn.ClassNLLCriterion().type(net.type())
        self.method, self.state = getattr(optim, method), {}
        distributed.broadcast(net, COMM)
        self.parameters, self.sums = net.getParameters()
        self.losses: list[float] = []

    def evaluate(self, samples: Any) -> float:
        x, target = self.inputs[samples], CLASSES[samples]
        loss = self.criterion.forward(self.net.forward(x), target)
        self.net.backward(x, self.criterion.backward(self.net.output, target))
        return loss

    def steps(self, count: int, shards: int, **settings: Any) -> Training:
        parts = np.array_split(np.arange(SAMPLES), shards)

        def loss(_: Any) -> tuple[float, Any]:
            found = distributed.gradients(COMM, self.net, parts, self.evaluate, **self.options)
            return found, self.sums

        for _ in range(count):
            self.losses += self.method(loss, self.parameters, settings, self.state)[1]
        return self

    def result(self) -> Any:
        """Everything that training has changed, and what comes next from the generator."""
        statistics = [
            one.running_var
            for one in self.net.listModules()
            if one.field("running_var") is not None
        ]
        draw = pythnn._random.default_generator().random()
        parts = [self.parameters, self.sums, self.losses, [draw], *statistics]
        return np.concatenate([np.asarray(part, np.float64) for part in parts])


def convolutional(dropout: float = 0.3) -> nn.Module:
    pythnn.manual_seed(COMM.rank)  # broadcast makes them equal
    return nn.Sequential(
        nn.SpatialConvolution(1, 4, 3, 3), nn.SpatialBatchNormalization(4), nn.ReLU(),
        nn.SpatialMaxPooling(2, 2), nn.View(36), nn.Dropout(dropout), nn.Linear(36, 3),
        nn.LogSoftMax(),
    ).float()  # fmt: skip


def recurrent() -> nn.Module:
    pythnn.manual_seed(COMM.rank)
    cell = nn.Sequencer(nn.LSTM(5, 7))
    cell.remember("both")  # shards do not see each other all the same
    return nn.Sequential(
        nn.SplitTable(2), cell, nn.SelectTable(-1), nn.Linear(7, 3), nn.LogSoftMax()
    )


@case
def convolution() -> Any:
    training = Training(convolutional(), IMAGES)
    return training.steps(4, 7, learningRate=0.02, momentum=0.9).result()


@case
def recurrence() -> Any:
    return Training(recurrent(), SEQUENCES, "adam").steps(4, 5, learningRate=0.01).result()


@case
def line_search() -> Any:
    """Many calls for each step, whose number depends on their values."""
    return Training(recurrent(), SEQUENCES, "lbfgs").steps(1, 8, maxIter=4).result()


@case
def fewer_shards_than_processes() -> Any:
    return Training(convolutional(), IMAGES).steps(2, 2, learningRate=0.02).result()


@case
def one_shard_is_a_plain_loop() -> Any:
    ours = Training(convolutional(0), IMAGES).steps(3, 1, learningRate=0.1)
    plain = Training(convolutional(0), IMAGES)
    distributed.broadcast(plain.net, COMM)

    def loss(_: Any) -> tuple[float, Any]:
        plain.net.zeroGradParameters()
        return plain.evaluate(np.arange(SAMPLES)), plain.sums

    for _ in range(3):
        optim.sgd(loss, plain.parameters, {"learningRate": 0.1}, plain.state)
    assert (ours.parameters == plain.parameters).all()
    assert (ours.net.get(2).running_var == plain.net.get(2).running_var).all()
    return ours.result()


@case
def statistics_are_means_of_those_of_shards() -> Any:
    training = Training(convolutional(), IMAGES)
    layer = training.net.get(2)
    found = []
    for part in np.array_split(np.arange(SAMPLES), 4):
        layer.running_mean, layer.running_var = np.zeros(4), np.ones(4)
        training.evaluate(part)
        found.append(layer.running_mean.copy())
    layer.running_mean, layer.running_var = np.zeros(4), np.ones(4)
    training.steps(1, 4)
    np.testing.assert_allclose(layer.running_mean, np.mean(found, 0), rtol=1e-5)
    layer.evaluate()
    before = layer.running_mean.copy()
    training.steps(1, 3)
    assert (layer.running_mean == before).all()  # not even rounded
    return training.result()


@case
def without_a_flat_array() -> Any:
    """Gradients in arrays of the layers' own, one shared and one frozen."""
    pythnn.manual_seed(COMM.rank)
    first, second, frozen = nn.Linear(5, 5), nn.Linear(5, 5), nn.Linear(5, 3)
    second.share(first, "weight", "gradWeight")
    frozen.parameters = lambda: None
    net = nn.Sequential(first, nn.Tanh(), second, frozen, nn.LogSoftMax())
    distributed.broadcast(net, COMM)
    criterion = nn.ClassNLLCriterion()

    def evaluate(sample: int) -> None:
        x, target = SEQUENCES[sample, :1], CLASSES[sample : sample + 1]
        criterion.forward(net.forward(x), target)
        net.backward(x, criterion.backward(net.output, target))

    assert distributed.gradients(COMM, net, range(SAMPLES), evaluate) == 0
    assert (first.gradWeight == second.gradWeight).all()
    return np.concatenate([g.ravel() for g in (*net.parameters()[1], frozen.weight)])


@case
def scattered() -> Any:
    """Each process has its shards alone."""
    data = {"x": IMAGES, "y": CLASSES} if COMM.rank == COMM.size - 1 else None
    mine = distributed.scatter(COMM, data, np.int64(5), root=COMM.size - 1)
    assert list(mine) == list(distributed.own_shards(COMM, 5))
    bounds = np.arange(6) * SAMPLES // 5
    for shard, part in mine.items():
        own = slice(bounds[shard], bounds[shard + 1])
        assert (part["x"] == IMAGES[own]).all()
        assert (part["y"] == CLASSES[own]).all()
    pair = distributed.scatter(COMM, (IMAGES[:, 0, 0, 0], CLASSES) if not COMM.rank else None, 3)
    assert all(isinstance(part, tuple) and len(part[0]) == len(part[1]) for part in pair.values())
    net = nn.Sequential(nn.View(64), nn.Linear(64, 3)).float()
    distributed.broadcast(net, COMM)
    _, sums = net.getParameters()

    def evaluate(shard: int) -> float:
        output = net.forward(mine[shard]["x"])
        net.backward(mine[shard]["x"], output)
        return float(output.sum())

    distributed.gradients(COMM, net, np.arange(5), evaluate)
    return sums


@case
def checkpoints() -> Any:
    """Training goes on from a file of other processes as from its own."""
    training = Training(convolutional(), IMAGES, "adam").steps(2, 5, learningRate=0.01)
    path = FOLDER / f"{COMM.size}.t7"
    distributed.checkpoint(COMM, path, training.net, training.state, step=2, names=["a"])
    expected = training.steps(2, 5, learningRate=0.01).result()
    for processes in range(1, COMM.size + 1):
        resumed = Training(convolutional(), IMAGES, "adam")
        found = distributed.resume(COMM, FOLDER / f"{processes}.t7", resumed.net)
        assert (found["step"], found["names"]) == (2, ["a"])
        resumed.state, resumed.losses = found["state"], training.losses[:2]
        assert (resumed.steps(2, 5, learningRate=0.01).result() == expected).all()
    return expected


@case
def momentum_of_the_modules() -> Any:
    """Is in the checkpoint too: dpnn's updateGradParameters keeps it in a field."""

    def train(training: Training) -> Any:
        for _ in range(2):
            distributed.gradients(COMM, training.net, [np.arange(9), [9, 10]], training.evaluate)
            training.net.updateGradParameters(0.9)
            training.net.updateParameters(0.01)
        return training.parameters

    training, resumed = (Training(convolutional(), IMAGES) for _ in range(2))
    train(training)
    path = FOLDER / f"momentum-{COMM.size}.t7"
    distributed.checkpoint(COMM, path, training.net)
    expected = train(training)
    assert distributed.resume(COMM, path, resumed.net) == {"state": {}}
    assert (train(resumed) == expected).all()
    return expected


METHODS: dict[str, dict[str, float]] = {
    "adadelta": {}, "adagrad": {}, "adam": {}, "adamax": {}, "asgd": {"t0": 1}, "rmsprop": {},
    "cg": {"maxIter": 2}, "lbfgs": {"maxIter": 2}, "rprop": {},
    "nag": {"momentum": 0.9}, "sgd": {"momentum": 0.9},
}  # fmt: skip


@case
def states_of_all_methods() -> Any:
    found = []
    for method, config in METHODS.items():
        training = Training(nn.Sequential(nn.Select(2, 1), nn.Linear(5, 3)), SEQUENCES, method)
        path = FOLDER / f"{method}-{COMM.size}.t7"
        distributed.checkpoint(COMM, path, training.steps(2, 3, **config).net, training.state)
        expected = training.steps(2, 3, **config).parameters.copy()
        training.state = distributed.resume(COMM, path, training.net)["state"]
        assert (training.steps(2, 3, **config).parameters == expected).all(), method
        found.append(expected)
    return np.stack(found)


@case
def any_order() -> Any:
    training = Training(convolutional(), IMAGES, deterministic=False)
    return training.steps(2, 7, learningRate=0.02).result()


@case
def part_of_the_processes() -> Any:
    """A communicator of processes 0 and 1, where there are more."""
    some = COMM.Split(COMM.rank < 2, COMM.rank)
    if COMM.rank >= 2:
        return None
    net = nn.Linear(5, 5)
    distributed.broadcast(net, some)

    def evaluate(x: Any) -> float:
        net.backward(x, net.forward(x))
        return float(net.output.sum())

    value = distributed.gradients(some, net, SEQUENCES, evaluate)
    return np.append(net.gradWeight, value)


def main() -> None:
    found = {}
    for name, function in CASES.items():
        pythnn.manual_seed(1)
        result = function()
        everybody = [one for one in COMM.allgather(result) if one is not None]
        assert all(one.tobytes() == everybody[0].tobytes() for one in everybody), name
        found[name] = everybody[0]
    if COMM.rank == 0:
        np.savez(FOLDER / f"{COMM.size}.npz", **found)


main()
