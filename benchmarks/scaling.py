"""How training scales with processes: measured on this machine, and by a model of a network.

    python -m benchmarks.scaling              # the model
    python -m benchmarks.scaling --measure    # also one and two processes, under mpiexec

The model. p processes evaluate s shards of t seconds each; a process has s / p of them, rounded up.
The exchange of n bytes is a reduce-scatter and an allgather, in each of which a process sends p - 1
messages and (p - 1) / p of n bytes, one after the other: it takes 2 (p - 1) (latency + n / (p b))
for a bandwidth of b. Each process adds p - 1 ranges of n / p bytes, at the speed of memory m, which
reads two numbers and writes one: 3 n (p - 1) / (p m). Before it, all wait for the slowest, which
the model leaves out, and agree in 2 log2(p) messages.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from statistics import median

PROCESSES = (1, 2, 8, 16, 32, 64, 128, 256, 512)


@dataclass(frozen=True)
class Network:
    """What connects the processes."""

    name: str
    latency: float  # seconds for each message, with what mpi4py and MPI spend on it
    bandwidth: float  # bytes per second of each process
    memory: float = 10e9  # bytes per second, at which a process adds


NETWORKS = (
    Network("Ethernet, 10 Gbit/s", 20e-6, 1.1e9),
    Network("InfiniBand, 100 Gbit/s", 2e-6, 11e9),
)


def step_seconds(
    network: Network, processes: int, shards: int, shard_seconds: float, nbytes: int
) -> float:
    """The time of one call of ``gradients``, by the model."""
    computing = math.ceil(shards / processes) * shard_seconds
    if processes == 1:
        return computing
    others = processes - 1
    exchange = 2 * others * (network.latency + nbytes / processes / network.bandwidth)
    adding = 3 * nbytes * others / processes / network.memory
    agreeing = 2 * math.ceil(math.log2(processes)) * network.latency
    return computing + exchange + adding + agreeing


def table(network: Network, shards: int, shard_seconds: float, nbytes: int) -> str:
    """Speed-ups and efficiencies for all numbers of processes."""
    alone = step_seconds(network, 1, shards, shard_seconds, nbytes)
    lines = [
        f"{network.name}: {shards} shards of {1e3 * shard_seconds:g} ms, {nbytes / 1e6:g} MB",
        "processes  step (ms)  times as fast  efficiency",
    ]
    for processes in PROCESSES:
        seconds = step_seconds(network, processes, shards, shard_seconds, nbytes)
        speedup = alone / seconds
        lines.append(
            f"{processes:9d}  {1e3 * seconds:9.1f}  {speedup:13.1f}  {speedup / processes:9.0%}"
        )
    return "\n".join(lines)


# ---- Measured

SHARDS, IMAGES = 8, 64  # images of a shard, which take more than 10 ms on any processor of today
STEPS, WARM_UP = 30, 5


def measure() -> None:
    """The time of steps, in each of the processes that were started; process 0 prints it."""
    import numpy as np

    import pythnn
    from pythnn import distributed, nn

    comm = distributed.world()
    pythnn.set_num_threads(1)
    model = nn.Sequential(
        nn.SpatialConvolution(3, 32, 3, 3, 1, 1, 1, 1), nn.ReLU(), nn.SpatialMaxPooling(2, 2),
        nn.SpatialConvolution(32, 64, 3, 3, 1, 1, 1, 1), nn.ReLU(), nn.SpatialMaxPooling(2, 2),
        nn.View(64 * 64), nn.Linear(64 * 64, 256), nn.ReLU(), nn.Linear(256, 10),
    ).float()  # fmt: skip
    distributed.broadcast(model, comm)
    model.getParameters()
    images = np.random.default_rng(0).standard_normal((IMAGES, 3, 32, 32)).astype(np.float32)

    def evaluate(_: int) -> None:
        output = model.forward(images)
        model.backward(images, output)

    seconds = []
    for _ in range(STEPS):
        begin = time.perf_counter()
        distributed.gradients(comm, model, range(SHARDS), evaluate)
        seconds.append(time.perf_counter() - begin)
    if comm.rank == 0:
        print(median(seconds[WARM_UP:]), min(seconds[WARM_UP:]))


def measured(processes: int) -> list[float]:
    """The median and the least time of a step with so many processes."""
    command = ["mpiexec", "-n", str(processes), sys.executable, "-m", "benchmarks.scaling", "--run"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="one and two processes, here")
    parser.add_argument("--run", action="store_true", help="as one of these processes")
    parser.add_argument("--shards", type=int, default=512)
    parser.add_argument("--milliseconds", type=float, default=10, help="for each shard")
    parser.add_argument("--megabytes", type=float, default=100, help="of gradients")
    arguments = parser.parse_args()
    if arguments.run:
        measure()
        return
    if arguments.measure:
        times = {processes: [0.0, 0.0] for processes in (1, 2)}
        for processes in times:
            times[processes] = measured(processes)
            middle, least = (1e3 * seconds for seconds in times[processes])
            print(f"{processes} processes: {middle:.1f} ms a step, {least:.1f} ms at least")
        ratios = [one / two for one, two in zip(*times.values(), strict=True)]
        print(f"two are {ratios[0]:.2f} times as fast as one, {ratios[1]:.2f} at best\n")
    for network in NETWORKS:
        seconds, nbytes = arguments.milliseconds / 1e3, int(arguments.megabytes * 1e6)
        print(table(network, arguments.shards, seconds, nbytes) + "\n")


if __name__ == "__main__":
    main()
