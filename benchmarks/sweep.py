"""Compares layers of random shapes with PyTorch: those that nobody tuned for.

    python -m benchmarks.sweep                          200 layers, float32, one thread
    python -m benchmarks.sweep --seed 7 --threads 2     others, with two threads
    python -m benchmarks.sweep --only pooling softmax   some kinds
    python -m benchmarks.sweep --networks               instead, those of known networks

Prints the ratio of PyTorch's time to ours by family, and every part in which we are slower. Times
include the call from Python, on both sides. Results are compared in the same run.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from . import (
    convolutions,
    criteria,
    layers,
    losses,
    planes,
    pointwise,
    pooling,
    products,
    sequences,
    shapes,
)
from .cases import Case
from .environment import LEVELS, facts, import_torch, settle

MOST_ELEMENTS = 20_000_000
LEAST_ELEMENTS = 3_000
MOST_FLOPS = 1_500_000_000
LEAST_FLOPS = 200_000

SIZES = (4, 5, 6, 7, 8, 10, 12, 13, 14, 16, 20, 24, 28, 32, 40, 56, 64, 80, 112, 160, 224)
PLANES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)

MAPS = (
    pointwise.threshold, pointwise.leaky_relu, pointwise.elu, pointwise.sigmoid, pointwise.tanh,
    pointwise.softplus, pointwise.log_sigmoid, pointwise.hard_tanh, pointwise.soft_shrink,
    pointwise.hard_shrink, pointwise.absolute, pointwise.square, pointwise.square_root,
    pointwise.prelu, shapes.rrelu,
)  # fmt: skip
ELEMENT_CRITERIA = (
    criteria.mean_squared_error, criteria.smooth_l1, criteria.binary_cross_entropy,
    criteria.soft_margin, layers.absolute_error, layers.divergence,
)  # fmt: skip
CLASS_CRITERIA = (criteria.class_nll, layers.multi_margin, losses.multi_label_margin)


class Draw:
    """Draws layers; a kind is a method without an argument."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311, shapes are no secrets
        self.choice = self.random.choice

    def batch(self) -> int:
        return self.choice((1, 1, 2, 4, 8, 16, 32, 64))

    def planes(self) -> int:
        return self.choice(PLANES)

    def size(self, least: int = 1, most: int = 224) -> int:
        return self.choice([n for n in SIZES if least <= n <= most])

    def maps(self) -> tuple[int, int, int, int]:
        height = self.size()
        return self.batch(), self.planes(), height, height + self.choice((0, 0, 1, 3))

    def layer(self) -> tuple[int, int, int]:
        return self.batch(), self.planes(), self.planes()

    def convolution(self) -> Case:
        k, s = self.choice((1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 7)), self.choice((1, 1, 1, 2, 2, 3))
        p = self.choice((0, k // 2, k // 2))
        return convolutions.convolution(*self.layer(), self.size(k), k, s, p)

    def dilated(self) -> Case:
        return convolutions.dilated(*self.layer(), self.size(5), k=3, p=self.choice((0, 2)), d=2)

    def transposed(self) -> Case:
        k, s = self.choice((1, 2, 3, 4, 5)), self.choice((1, 2, 2, 3))
        return convolutions.transposed(
            *self.layer(), self.size(), max(k, s), s, self.choice((0, 1)) % k
        )

    def volumetric(self) -> Case:
        k, side = self.choice((1, 2, 3, 3, 5)), self.size(5, 32)
        return convolutions.volumetric(
            *self.layer(), (self.choice((8, 16)), side, side), k, p=k // 2
        )

    def pointwise(self) -> Case:
        return self.choice(MAPS)(self.maps())

    def window(self) -> tuple[int, int, int]:
        k = self.choice((2, 2, 3, 3, 3, 4, 5, 7))
        return k, self.choice((1, 2, 2, 3, k)), self.choice((0, 0, k // 2))

    def max_pooling(self) -> Case:
        k, s, p = self.window()
        return planes.max_pooling(self.batch(), self.planes(), self.size(k), k, s, p)

    def average_pooling(self) -> Case:
        k, s, p = self.window()
        return planes.average_pooling(self.batch(), self.planes(), self.size(k), k, s, p)

    def adaptive_pooling(self) -> Case:
        size = self.size()
        pool = self.choice((planes.adaptive_max_pooling, layers.adaptive_average_pooling))
        return pool(self.batch(), self.planes(), size, self.random.randint(1, size))

    def fractional_pooling(self) -> Case:
        size = self.size()
        out = self.random.randint(max(1, size // 3), size - 2)
        return pooling.fractional(self.batch(), self.planes(), (size, size), (out, out))

    def dilated_pooling(self) -> Case:
        side = self.size(7)
        return pooling.dilated_max_pooling(self.batch(), self.planes(), (side, side), k=3, d=2)

    def temporal_pooling(self) -> Case:
        frames, size = self.choice((10, 50, 200)), self.choice((16, 64, 256))
        return pooling.temporal_max_pooling(self.batch(), frames, size, k=self.choice((2, 3)))

    def unpooling(self) -> Case:
        return pooling.max_unpooling(self.batch(), self.planes(), self.size(most=112))

    def volumetric_unpooling(self) -> Case:
        side = self.size(most=28)
        volume = (self.choice((4, 8)), side, side)
        return pooling.volumetric_unpooling(self.batch(), self.planes(), volume)

    def softmax(self) -> Case:
        rows = self.choice((1, 16, 64, 128, 512, 2048)), self.choice((2, 5, 21, 100, 1000, 10000))
        maps = self.batch(), self.choice((3, 10, 21, 64)), self.size(), self.size()
        return pointwise.softmax(self.choice((rows, maps)), self.choice(("SoftMax", "LogSoftMax")))

    def normalisation(self) -> Case:
        return pointwise.batch_normalization(self.maps())

    def across_maps(self) -> Case:
        return shapes.across_maps(self.batch(), self.planes(), self.size())

    def criterion(self) -> Case:
        shape = self.choice((1, 32, 128, 1000)), self.choice((10, 100, 1000, 3000))
        return self.choice(ELEMENT_CRITERIA)(shape)

    def class_criterion(self) -> Case:
        batch, classes = self.choice((1, 16, 128, 1000)), self.choice((5, 10, 100, 1000))
        return self.choice(CLASS_CRITERIA)(batch, classes)

    def map_criterion(self) -> Case:
        return losses.spatial_class_nll(self.batch(), self.choice((2, 10, 21)), self.size())

    def linear(self) -> Case:
        sizes = (10, 64, 100, 256, 512, 1000, 2048)
        return products.linear(self.batch(), self.choice(sizes), self.choice(sizes))

    def table(self) -> Case:
        words, width = self.choice((100, 1000, 50000)), self.choice((8, 50, 64, 128, 300, 512))
        return products.lookup_table(words, width, self.choice((16, 128, 1000, 5000)))

    def bags(self) -> Case:
        words, width = self.choice((1000, 10000)), self.choice((8, 32, 64, 100, 128))
        bags, each = self.choice((16, 512)), self.choice((4, 8, 16))
        return sequences.bags(words, width, bags, each, self.choice(("sum", "mean")))

    def recurrent(self) -> Case:
        cell = self.choice((layers.gru, layers.lstm))
        return cell(self.batch(), self.choice((16, 100, 128, 512, 1000)))

    def gated_linear(self) -> Case:
        return layers.gated_linear(self.batch(), 2 * self.planes(), self.size())

    def bilinear(self) -> Case:
        size = self.size()
        out = self.choice((2 * size, 3 * size, self.size(2)))
        return planes.bilinear(self.batch(), self.planes(), size, out)

    def nearest(self) -> Case:
        return planes.nearest(self.batch(), self.planes(), self.size(), self.choice((2, 2, 3, 4)))

    def grid_sampler(self) -> Case:
        return planes.grid_sampler(self.batch(), self.planes(), self.size(most=112))

    def padding(self) -> Case:
        size = self.size()
        p = self.random.randint(1, min(4, size - 1))
        reflected = planes.reflection_padding(self.batch(), self.planes(), size, p)
        replicated = shapes.replication_padding(self.batch(), self.planes(), (size, size), p)
        return self.choice((reflected, replicated))


KINDS: dict[str, Callable[[Draw], Case]] = {
    kind.__name__: kind
    for kind in (
        Draw.convolution, Draw.dilated, Draw.transposed, Draw.volumetric, Draw.pointwise,
        Draw.max_pooling, Draw.average_pooling, Draw.adaptive_pooling, Draw.fractional_pooling,
        Draw.dilated_pooling, Draw.temporal_pooling, Draw.unpooling, Draw.volumetric_unpooling,
        Draw.softmax, Draw.normalisation, Draw.across_maps, Draw.criterion, Draw.class_criterion,
        Draw.map_criterion, Draw.linear, Draw.table, Draw.bags, Draw.recurrent, Draw.gated_linear,
        Draw.bilinear, Draw.nearest, Draw.grid_sampler, Draw.padding,
    )
}  # fmt: skip


def _is_fit(case: Case) -> bool:
    """Neither empty nor so small that Python's call is what is measured, nor too large."""
    extents = [tensor.shape for tensor in case.tensors.values()]
    flops = max(part.flops for part in case.parts)
    return (
        min(map(min, extents)) > 0
        and LEAST_ELEMENTS < sum(map(math.prod, extents)) < MOST_ELEMENTS
        and (flops == 0 or LEAST_FLOPS < flops < MOST_FLOPS)
    )


def draw(seed: int, count: int, kinds: list[str]) -> Iterator[Case]:
    """As many cases, the same ones for the same arguments."""
    source = Draw(seed)
    for _ in range(count):
        case = KINDS[source.choice(kinds)](source)
        while not _is_fit(case):
            case = KINDS[source.choice(kinds)](source)
        yield case


NETWORKS = (
    # ResNet: planes in, planes out, size, kernel, stride, padding
    (3, 64, 224, 7, 2, 3), (64, 64, 56, 1, 1, 0), (64, 64, 56, 3, 1, 1), (64, 256, 56, 1, 1, 0),
    (256, 64, 56, 1, 1, 0), (256, 128, 56, 1, 1, 0), (64, 128, 56, 3, 2, 1),
    (128, 128, 56, 3, 2, 1), (256, 512, 56, 1, 2, 0), (512, 128, 28, 1, 1, 0),
    (128, 128, 28, 3, 1, 1), (128, 512, 28, 1, 1, 0), (512, 256, 28, 1, 1, 0),
    (256, 256, 28, 3, 2, 1), (512, 1024, 28, 1, 2, 0), (1024, 256, 14, 1, 1, 0),
    (256, 256, 14, 3, 1, 1), (256, 1024, 14, 1, 1, 0), (1024, 512, 14, 1, 1, 0),
    (512, 512, 14, 3, 2, 1), (1024, 2048, 14, 1, 2, 0), (2048, 512, 7, 1, 1, 0),
    (512, 512, 7, 3, 1, 1), (512, 2048, 7, 1, 1, 0),
    (3, 32, 32, 3, 1, 1), (16, 16, 32, 3, 1, 1), (32, 32, 32, 3, 1, 1), (64, 64, 8, 3, 1, 1),
    # VGG
    (3, 64, 224, 3, 1, 1), (64, 64, 224, 3, 1, 1), (64, 128, 112, 3, 1, 1),
    (256, 512, 28, 3, 1, 1), (512, 512, 28, 3, 1, 1), (512, 512, 14, 3, 1, 1),
    # AlexNet, SqueezeNet, GoogLeNet
    (3, 96, 227, 11, 4, 0), (96, 256, 27, 5, 1, 2), (256, 384, 13, 3, 1, 1),
    (384, 256, 13, 3, 1, 1), (64, 16, 55, 1, 1, 0), (16, 64, 55, 1, 1, 0), (16, 64, 55, 3, 1, 1),
    (192, 32, 28, 1, 1, 0), (16, 32, 28, 5, 1, 2), (832, 384, 7, 1, 1, 0),
)  # fmt: skip


def networks() -> Iterator[Case]:
    """Convolutions of known networks, for one and for four images."""
    for batch in (1, 4):
        for n_in, n_out, size, k, s, p in NETWORKS:
            yield convolutions.convolution(batch, n_in, n_out, size, k=k, s=s, p=p)


@dataclass(frozen=True)
class Compared:
    name: str
    family: str
    ours: float
    peer: float
    """Seconds per call."""

    @property
    def ratio(self) -> float:
        return self.peer / self.ours


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sweep",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--seed", type=int, default=0)
    add("--count", type=int, default=200, help="layers (default: %(default)s)")
    add("--dtype", default="float32", choices=["float32", "float64"])
    add("--threads", type=int, default=1)
    add("--only", nargs="+", default=list(KINDS), choices=KINDS, metavar="KIND",
        help=f"kinds of layers: {', '.join(KINDS)}")  # fmt: skip
    add("--networks", action="store_true", help="the convolutions of known networks instead")
    add("--simd", choices=LEVELS, help="keep both sides to this instruction set")
    add("--seconds", type=float, default=0.04, help="per side and part (default: %(default)s)")
    return parser.parse_args()


def main() -> int:
    options = _arguments()
    settle(options.simd)
    torch = import_torch()

    from rich.console import Console
    from rich.progress import track

    import pythnn

    from .measure import Bound, is_wrong, seconds_per_call

    console = Console(soft_wrap=True)
    for name, value in facts(torch).items():
        console.print(f"{name:16} {value}", highlight=False)
    pythnn.set_num_threads(options.threads)
    torch.set_num_threads(options.threads)
    torch.inference_mode().__enter__()

    found: list[Compared] = []
    wrong: list[str] = []
    drawn = networks() if options.networks else draw(options.seed, options.count, options.only)
    for case in track(list(drawn), description="layers", console=console):
        bound = Bound(case, options.dtype, torch)
        for part in case.parts:
            error, torch_error = bound.errors(part, None)
            samples = seconds_per_call([bound.ours(part, None), bound.peer(part)], options.seconds)
            name = f"{case.name} {part.name}"
            found.append(Compared(name, case.family, *map(min, samples)))
            tolerance = case.tolerance[options.dtype]
            if error is not None and is_wrong(error, torch_error, tolerance):
                wrong.append(name)

    for family in (None, *sorted({row.family for row in found})):
        ratios = [row.ratio for row in found if family in (None, row.family)]
        console.print(
            f"{family or 'all':16} {len(ratios):4} parts, geometric mean "
            f"{statistics.geometric_mean(ratios):.2f}, below 1.0: {sum(r < 1 for r in ratios)}, "
            f"below 0.8: {sum(r < 0.8 for r in ratios)}",
            highlight=False,
        )
    for row in sorted(found, key=lambda row: row.ratio):
        if row.ratio < 1:
            times = f"{row.ours * 1e6:.1f} and {row.peer * 1e6:.1f} us"
            console.print(f"{row.ratio:5.2f} {row.name}, {times}", highlight=False)
    for name in wrong:
        console.print(f"wrong result: {name}", style="red", highlight=False)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
