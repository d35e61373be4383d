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
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pythnn import nn

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

SHARDS = 8
STEPS, WARM_UP = 30, 5
CASES = ("convolutions", "a large linear layer")
"""What is trained, in shards of more than 10 ms: gradients of 1.5 MB, and of 4.3 MB."""


def launcher() -> str | None:
    """The mpiexec that was installed with this Python, or that of the system."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def network_of(case: str) -> tuple[nn.Module, int]:
    """A network for images of 32 x 32, and how many of them are a shard."""
    from pythnn import nn

    def convolution(inputs: int, outputs: int, stride: int = 1) -> list[nn.Module]:
        size = (3, 3, stride, stride, 1, 1)
        return [nn.SpatialConvolution(inputs, outputs, *size), nn.ReLU()]

    if case == "convolutions":
        layers = [*convolution(3, 64), *convolution(64, 128, 2)]
        layers += [*convolution(128, 128), *convolution(128, 128)]
        layers += [nn.SpatialAveragePooling(16, 16), nn.View(128), nn.Linear(128, 10)]
        return nn.Sequential(*layers).float(), 8
    layers = [*convolution(3, 32), nn.SpatialMaxPooling(2, 2)]
    layers += [*convolution(32, 64), nn.SpatialMaxPooling(2, 2), nn.View(64 * 64)]
    layers += [nn.Linear(64 * 64, 256), nn.ReLU(), nn.Linear(256, 10)]
    return nn.Sequential(*layers).float(), 64


def measure(case: str) -> None:
    """The time of steps, in each of the processes that were started; process 0 prints it.

    In turns with those of steps without an exchange, whose shards are evaluated and no more: what
    processes that only share the machine could do.
    """
    import numpy as np

    import pythnn
    from pythnn import distributed

    comm = distributed.world()
    pythnn.set_num_threads(1)
    model, count = network_of(case)
    distributed.broadcast(model, comm)
    model.getParameters()
    images = np.random.default_rng(0).standard_normal((count, 3, 32, 32)).astype(np.float32)

    def evaluate(_: int) -> None:
        output = model.forward(images)
        model.backward(images, output)

    def alone() -> None:
        for shard in distributed.own_shards(comm, SHARDS):
            evaluate(shard)

    def together() -> None:
        distributed.gradients(comm, model, range(SHARDS), evaluate)

    seconds: dict[str, list[float]] = {"together": [], "alone": []}
    for _ in range(STEPS):
        for step in (together, alone):
            comm.Barrier()
            begin = time.perf_counter()
            step()
            seconds[step.__name__].append(time.perf_counter() - begin)
    if comm.rank == 0:
        print(*(median(times[WARM_UP:]) for times in seconds.values()))


def measured(case: str, processes: int) -> list[float]:
    """The median times of a step with so many processes, and of one without the exchange."""
    mpiexec = launcher()
    if mpiexec is None:
        sys.exit("There is no mpiexec: pip install '.[mpi]' mpich, or install the system's MPI.")
    command = [mpiexec, "-n", str(processes), sys.executable, "-m", "benchmarks.scaling"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, "--run", case], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return [float(word) for word in done.stdout.split()]


def compare(case: str) -> str:
    """One and two processes, and the machine's ceiling."""
    lines, times = [case], {processes: measured(case, processes) for processes in (1, 2)}
    for processes, (together, alone) in times.items():
        lines.append(
            f"  {processes} process{'es' * (processes > 1)}: {1e3 * together:.1f} ms a step,"
            f" {1e3 * alone:.1f} without the exchange"
        )
    together, alone = (one / two for one, two in zip(*times.values(), strict=True))
    lines.append(f"  two are {together:.2f} times as fast as one; the machine allows {alone:.2f}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="one and two processes, here")
    parser.add_argument("--run", choices=CASES, help="as one of these processes")
    parser.add_argument("--shards", type=int, default=512)
    parser.add_argument("--milliseconds", type=float, default=10, help="for each shard")
    parser.add_argument("--megabytes", type=float, default=100, help="of gradients")
    arguments = parser.parse_args()
    if arguments.run:
        measure(arguments.run)
        return
    if arguments.measure:
        for case in CASES:
            print(compare(case))
    for network in NETWORKS:
        seconds, nbytes = arguments.milliseconds / 1e3, int(arguments.megabytes * 1e6)
        print(table(network, arguments.shards, seconds, nbytes) + "\n")


if __name__ == "__main__":
    main()
