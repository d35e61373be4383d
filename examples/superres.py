#!/usr/bin/env python3
"""Train a network that doubles the size of photographs; compare it with bicubic interpolation.

    python examples/superres.py         # about a minute on two cores

The network is made of raw THNN calls, one class per module. It is trained on one photograph
(china.jpg) and judged on another that it has never seen (flower.jpg):

    photograph ─┬─ conv 5x5 ─ relu ─ conv 3x3 ─ relu ─ conv 3x3 ─ relu ─ full conv 6x6, stride 2 ─┐
                └─ bilinear ─────────────────────────────────────────────────────────────────── (+)

Photographs are halved with Pillow's antialiased BICUBIC filter. Every colour channel is a grey
image of its own, with values from 0 to 1. No layer pads its input: a patch comes out exactly as it
would in the middle of the photograph. Before and after: demo-output/superres.png.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import pythnn
from pythnn import Tensor, thnn

Array: TypeAlias = NDArray[np.float32]

DATA = Path(__file__).resolve().parent / "data"
TRAINING_PHOTOGRAPH, TEST_PHOTOGRAPH = "china.jpg", "flower.jpg"
TRAINING_SCALES = 0.7, 1.0, 1.4  # the same edges, sharper and softer

FEATURES = 32
MARGIN = 5  # pixels of context that the layers need around a patch: 2 + 1 + 1 + 1
PATCH = 24  # pixels, before doubling
BATCH = 16
RATE = 2e-3  # of learning, at its highest
WARM_UP = 50  # steps in which the rate rises from 0

CROP = 80  # pixels of the test photograph, magnified in the picture
CROPS = (262, 176), (350, 240)  # their left upper corners


# --- The network: raw calls -----------------------------------------------------------------------


class Convolution:
    """SpatialConvolutionMM with a square kernel, stride 1, no padding."""

    def __init__(self, n_input: int, n_output: int, k: int, rng: np.random.Generator) -> None:
        deviation = np.sqrt(2 / (n_input * k * k))
        self.weight = rng.normal(0, deviation, (n_output, n_input, k, k)).astype(np.float32)
        self.bias = np.zeros(n_output, np.float32)
        self.grad_weight, self.grad_bias = np.zeros_like(self.weight), np.zeros_like(self.bias)
        self.geometry = k, k, 1, 1, 0, 0  # kW, kH, dW, dH, padW, padH
        self.output, self.grad_input = Tensor(dtype=np.float32), Tensor(dtype=np.float32)

    def forward(self, x: Tensor) -> Tensor:
        thnn.SpatialConvolutionMM_updateOutput(
            None, x, self.output, self.weight, self.bias, None, None, *self.geometry
        )
        return self.output

    def accumulate(self, x: Tensor, grad_output: Tensor) -> None:
        thnn.SpatialConvolutionMM_accGradParameters(
            None, x, grad_output, self.grad_weight, self.grad_bias, None, None, *self.geometry, 1.0
        )

    def backward(self, x: Tensor, grad_output: Tensor) -> Tensor:
        thnn.SpatialConvolutionMM_updateGradInput(
            None, x, grad_output, self.grad_input, self.weight, None, None, *self.geometry
        )
        return self.grad_input


class Rectifier:
    """Threshold at 0: relu."""

    def __init__(self) -> None:
        self.output, self.grad_input = Tensor(dtype=np.float32), Tensor(dtype=np.float32)

    def forward(self, x: Tensor) -> Tensor:
        thnn.Threshold_updateOutput(None, x, self.output, 0.0, 0.0, False)
        return self.output

    def accumulate(self, x: Tensor, grad_output: Tensor) -> None:
        """Nothing to learn here."""

    def backward(self, x: Tensor, grad_output: Tensor) -> Tensor:
        thnn.Threshold_updateGradInput(None, x, grad_output, self.grad_input, 0.0, 0.0, False)
        return self.grad_input


class Doubling:
    """SpatialFullConvolution 6x6 with stride 2; its padding cuts off what does not see all taps.

    Input n x planes x h x w, output n x 1 x 2(h-2) x 2(w-2). Begins close to 0, that is, with the
    plain bilinear result.
    """

    def __init__(self, n_input: int, rng: np.random.Generator) -> None:
        self.weight = rng.normal(0, 1e-3, (n_input, 1, 6, 6)).astype(np.float32)
        self.bias = np.zeros(1, np.float32)
        self.grad_weight, self.grad_bias = np.zeros_like(self.weight), np.zeros_like(self.bias)
        self.geometry = 6, 6, 2, 2, 4, 4, 0, 0  # kW, kH, dW, dH, padW, padH, adjW, adjH
        self.output, self.grad_input = Tensor(dtype=np.float32), Tensor(dtype=np.float32)

    def forward(self, x: Tensor) -> Tensor:
        thnn.SpatialFullConvolution_updateOutput(
            None, x, self.output, self.weight, self.bias, None, None, *self.geometry
        )
        return self.output

    def accumulate(self, x: Tensor, grad_output: Tensor) -> None:
        thnn.SpatialFullConvolution_accGradParameters(
            None, x, grad_output, self.grad_weight, self.grad_bias, None, None, *self.geometry, 1.0
        )

    def backward(self, x: Tensor, grad_output: Tensor) -> Tensor:
        thnn.SpatialFullConvolution_updateGradInput(
            None, x, grad_output, self.grad_input, self.weight, None, *self.geometry
        )
        return self.grad_input


class MeanSquaredError:
    """MSECriterion, averaged."""

    def __init__(self) -> None:
        self.output, self.grad_input = np.zeros(1, np.float32), Tensor(dtype=np.float32)

    def forward(self, x: Tensor, target: Array) -> float:
        thnn.MSECriterion_updateOutput(None, x, target, self.output, True)
        return float(self.output[0])

    def backward(self, x: Tensor, target: Array) -> Tensor:
        thnn.MSECriterion_updateGradInput(None, x, target, self.grad_input, True)
        return self.grad_input


def bilinear(low: Array) -> Array:
    """n x 1 x h x w to n x 1 x 2h x 2w with SpatialUpSamplingBilinear; equal to Pillow's BILINEAR.

    The module lays the corner pixels of input and output on each other, while a halved photograph
    has its pixels half-way between those of the original: pixel i of the double size lies at
    i/2 - 1/4. So the input gets a border of one pixel, the module samples it every quarter of a
    pixel, and every second of those samples is the one wanted.
    """
    n, planes, h, w = low.shape
    quarters = np.empty((n, planes, 4 * h + 5, 4 * w + 5), np.float32)  # at -1, -3/4, -1/2, -1/4, …
    thnn.SpatialUpSamplingBilinear_updateOutput(None, edged(low, 1), quarters, 4 * h + 5, 4 * w + 5)
    return np.ascontiguousarray(quarters[:, :, 3 : 4 * h + 3 : 2, 3 : 4 * w + 3 : 2])


def edged(images: Array, margin: int) -> Array:
    """The images with their outermost pixels repeated around them."""
    around: Array = np.pad(images, ((0, 0), (0, 0), (margin, margin), (margin, margin)), "edge")
    return around


class Network:
    def __init__(self, rng: np.random.Generator) -> None:
        self.layers: list[Convolution | Rectifier | Doubling] = [
            Convolution(1, FEATURES, 5, rng),
            Rectifier(),
            Convolution(FEATURES, FEATURES, 3, rng),
            Rectifier(),
            Convolution(FEATURES, FEATURES, 3, rng),
            Rectifier(),
            Doubling(FEATURES, rng),
        ]
        learning = [layer for layer in self.layers if not isinstance(layer, Rectifier)]
        self.parameters = [p for layer in learning for p in (layer.weight, layer.bias)]
        self.gradients = [g for layer in learning for g in (layer.grad_weight, layer.grad_bias)]

    def forward(self, low: Tensor, base: Array) -> Tensor:
        """low: n x 1 x (h + 2 MARGIN) x (w + 2 MARGIN); base, result: n x 1 x 2h x 2w."""
        self.inputs = []
        x = low
        for layer in self.layers:
            self.inputs.append(x)
            x = layer.forward(x)
        x.numpy()[...] += base
        return x

    def backward(self, grad_output: Tensor) -> None:
        """Sets `gradients` to those of the loss, given its gradient with respect to the output."""
        for gradient in self.gradients:
            gradient.fill(0)
        for layer, x in zip(reversed(self.layers), reversed(self.inputs), strict=True):
            layer.accumulate(x, grad_output)
            if layer is not self.layers[0]:  # nobody asks for the gradient of the photograph
                grad_output = layer.backward(x, grad_output)

    def double(self, image: Image.Image) -> Image.Image:
        low = channels(image)
        return picture(self.forward(Tensor(edged(low, MARGIN)), bilinear(low)).numpy())


class Adam:
    """Kingma and Ba, "Adam: a method for stochastic optimization" (2015)."""

    def __init__(self, parameters: list[Array]) -> None:
        self.parameters = parameters
        self.mean = [np.zeros_like(p) for p in parameters]
        self.square = [np.zeros_like(p) for p in parameters]
        self.steps = 0

    def step(self, gradients: list[Array], rate: float) -> None:
        self.steps += 1
        rate *= np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        moments = zip(self.mean, self.square, strict=True)
        for p, g, (mean, square) in zip(self.parameters, gradients, moments, strict=True):
            mean += 0.1 * (g - mean)
            square += 0.001 * (g * g - square)
            p -= rate * mean / (np.sqrt(square) + 1e-8)


# --- Photographs ----------------------------------------------------------------------------------


def load(name: str, scale: float = 1.0) -> Image.Image:
    """A photograph in RGB, scaled, cropped to even width and height."""
    image = Image.open(DATA / name).convert("RGB")
    size = round(image.width * scale), round(image.height * scale)
    if size != image.size:
        image = image.resize(size, Image.Resampling.BICUBIC)
    return image.crop((0, 0, image.width // 2 * 2, image.height // 2 * 2))


def halved(image: Image.Image) -> Image.Image:
    return image.resize((image.width // 2, image.height // 2), Image.Resampling.BICUBIC)


def channels(image: Image.Image) -> Array:
    """3 x 1 x h x w, values from 0 to 1."""
    pixels = np.asarray(image, np.float32) / 255
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[:, None])


def picture(images: Array) -> Image.Image:
    """The inverse of channels(); values outside 0 to 1 are clipped."""
    pixels = np.rint(images[:, 0].transpose(1, 2, 0).clip(0, 1) * 255)
    return Image.fromarray(pixels.astype(np.uint8))


def psnr(image: Image.Image, original: Image.Image) -> tuple[float, float]:
    """Peak signal-to-noise ratio in dB, over the whole picture: of RGB, of luminance (BT.601)."""
    error = (np.asarray(image, np.float64) - np.asarray(original, np.float64)) / 255
    luminance = error @ (0.299, 0.587, 0.114)
    return decibel(np.mean(error**2)), decibel(np.mean(luminance**2))


def decibel(squared_error: float | np.floating) -> float:
    return float(-10 * np.log10(squared_error))


# --- Training -------------------------------------------------------------------------------------


@dataclass
class Plate:
    """One photograph at one scale, ready to have patches cut out."""

    low: Array  # 3 x 1 x (h + 2 MARGIN) x (w + 2 MARGIN)
    base: Array  # 3 x 1 x 2h x 2w
    high: Array  # 3 x 1 x 2h x 2w

    @classmethod
    def of(cls, image: Image.Image) -> Plate:
        low = channels(halved(image))
        return cls(edged(low, MARGIN), bilinear(low), channels(image))

    def patch(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """One channel of a random place, turned and mirrored at random."""
        _, _, h, w = self.base.shape
        channel, y, x = rng.integers((3, h // 2 - PATCH + 1, w // 2 - PATCH + 1))
        low = self.low[channel, :, y : y + PATCH + 2 * MARGIN, x : x + PATCH + 2 * MARGIN]
        at = channel, slice(None), slice(2 * y, 2 * (y + PATCH)), slice(2 * x, 2 * (x + PATCH))
        turns, mirror = rng.integers((4, 2))
        parts = [np.rot90(part, turns, (1, 2)) for part in (low, self.base[at], self.high[at])]
        low, base, high = (np.flip(part, 2) if mirror else part for part in parts)
        return low, base, high


def train(network: Network, steps: int, rng: np.random.Generator, console: Console) -> None:
    plates = [Plate.of(load(TRAINING_PHOTOGRAPH, scale)) for scale in TRAINING_SCALES]
    area = np.array([plate.base.size for plate in plates], np.float64)
    criterion, adam = MeanSquaredError(), Adam(network.parameters)
    average = 0.0
    with Progress(
        TextColumn("training on {task.fields[photograph]}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed}/{task.total}  {task.fields[quality]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
    ) as progress:
        task = progress.add_task("", total=steps, photograph=TRAINING_PHOTOGRAPH, quality="")
        for step in range(steps):
            chosen = rng.choice(len(plates), BATCH, p=area / area.sum())
            patches = [plates[plate].patch(rng) for plate in chosen]
            low, base, high = (np.stack(part) for part in zip(*patches, strict=True))

            output = network.forward(Tensor(low), base)
            loss = criterion.forward(output, high)
            network.backward(criterion.backward(output, high))
            rate = RATE * min(1, (step + 1) / WARM_UP) * (1 + np.cos(np.pi * step / steps)) / 2
            adam.step(network.gradients, rate)

            average += (loss - average) * max(0.02, 1 / (step + 1))
            progress.update(task, advance=1, quality=f"PSNR {decibel(average):5.2f} dB")


# --- The result -----------------------------------------------------------------------------------


def comparison(panels: dict[str, Image.Image]) -> Image.Image:
    """Magnified crops, one column per panel, one row per entry of CROPS."""
    size, gap, label = 3 * CROP, 8, 34
    columns, rows = len(panels), len(CROPS)
    sheet = Image.new("RGB", (columns * (size + gap) + gap, rows * (size + gap) + label), "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(15)
    for column, (name, image) in enumerate(panels.items()):
        left = gap + column * (size + gap)
        draw.text((left + size // 2, label // 2), name, "black", font, anchor="mm")
        for row, (x, y) in enumerate(CROPS):
            crop = image.crop((x, y, x + CROP, y + CROP))
            magnified = crop.resize((size, size), Image.Resampling.NEAREST)
            sheet.paste(magnified, (left, label + row * (size + gap)))
    return sheet


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--steps", type=int, default=3000, help="of training (default: %(default)s)")
    add("--seed", type=int, default=0, help="same seed, same result (default: %(default)s)")
    add("--threads", type=int, help="default: all cores")
    add("--output", type=Path, default=Path("demo-output"), help="folder (default: %(default)s)")
    options = parser.parse_args()
    if options.threads is not None:
        pythnn.set_num_threads(options.threads)
    console = Console()
    rng = np.random.default_rng(options.seed)

    network = Network(rng)
    train(network, options.steps, rng, console)

    original = load(TEST_PHOTOGRAPH)
    low = halved(original)
    results = {
        "bilinear": picture(bilinear(channels(low))),
        "bicubic": low.resize(original.size, Image.Resampling.BICUBIC),
        "network": network.double(low),
    }
    table = Table(title=f"{TEST_PHOTOGRAPH}, not seen in training", min_width=42)
    for heading in ("PSNR, dB", "RGB", "luminance"):
        table.add_column(heading, justify="left" if heading == "PSNR, dB" else "right")
    for name, image in results.items():
        table.add_row(name, *(f"{value:.2f}" for value in psnr(image, original)))
    console.print(table)

    panels = {
        "low resolution": low.resize(original.size, Image.Resampling.NEAREST),
        f"bicubic, {psnr(results['bicubic'], original)[0]:.1f} dB": results["bicubic"],
        f"pythnn network, {psnr(results['network'], original)[0]:.1f} dB": results["network"],
        "original": original,
    }
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output / "superres.png"
    comparison(panels).save(file, optimize=True)
    console.print(f"before and after: {file}")


if __name__ == "__main__":
    main()
