#!/usr/bin/env python3
"""Train a small network on handwritten digits with pythnn.nn, and save it for Lua Torch.

    python examples/digits.py          # ten seconds

The data are scikit-learn's digits: 1797 images of 8 x 8, a quarter of them held out. Afterwards
demo-output/ has digits.t7, labels.txt and a folder of digits that the network has never seen:

    pythnn inspect demo-output/digits.t7 --input 1x8x8
    pythnn run demo-output/digits.t7 demo-output/digits --labels demo-output/labels.txt --top 2
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rich.console import Console
from rich.progress import track
from sklearn.datasets import load_digits

import pythnn
from pythnn import nn

Images: TypeAlias = NDArray[np.float32]
Labels: TypeAlias = NDArray[np.int64]

BATCH = 32
RATE = 0.05  # of learning, falling to 0
MOMENTUM = 0.9
SAMPLES = 8  # images to try the saved network on


def data(seed: int) -> tuple[Images, Labels, Images, Labels]:
    """Images from 0 to 1 and classes from 1, for training and held out."""
    digits = load_digits()
    images = (digits.images[:, None] / 16).astype(np.float32)
    classes = digits.target.astype(np.int64) + 1  # Lua counts from 1
    order = np.random.default_rng(seed).permutation(len(images))
    held_out, training = order[: len(order) // 4], order[len(order) // 4 :]
    return images[training], classes[training], images[held_out], classes[held_out]


def network() -> nn.Sequential:
    """Two convolutions with max pooling, and a linear classifier with log-probabilities."""
    model = nn.Sequential()
    model.add(nn.SpatialConvolution(1, 16, 3, 3, 1, 1, 1, 1)).add(nn.ReLU(True))
    model.add(nn.SpatialMaxPooling(2, 2, 2, 2))
    model.add(nn.SpatialConvolution(16, 32, 3, 3, 1, 1, 1, 1)).add(nn.ReLU(True))
    model.add(nn.SpatialMaxPooling(2, 2, 2, 2))
    model.add(nn.View(32 * 2 * 2)).add(nn.Dropout(0.3))
    model.add(nn.Linear(32 * 2 * 2, 10)).add(nn.LogSoftMax())
    return model.float()


def train(
    model: nn.Module, images: Images, classes: Labels, epochs: int, seed: int, console: Console
) -> None:
    """Stochastic gradient descent with momentum, written out."""
    criterion = nn.ClassNLLCriterion().float()
    parameters, gradients = model.getParameters()  # all of them, as one array each
    velocity = np.zeros_like(parameters)
    rng = np.random.default_rng(seed)
    model.training()
    for epoch in track(range(epochs), "training", console=console, transient=True):
        rate = RATE * (1 - epoch / epochs)
        order = rng.permutation(len(images))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            model.zeroGradParameters()
            output = model.forward(images[batch])
            criterion.forward(output, classes[batch])
            model.backward(images[batch], criterion.backward(output, classes[batch]))
            velocity *= MOMENTUM
            velocity -= rate * gradients
            parameters += velocity
    model.evaluate()


def accuracy(model: nn.Module, images: Images, classes: Labels) -> float:
    """The part of images whose best class is the right one."""
    return float((model.forward(images).argmax(1) + 1 == classes).mean())


def save(model: nn.Module, images: Images, classes: Labels, folder: Path) -> None:
    """The model as .t7 and what to try it on."""
    (folder / "digits").mkdir(parents=True, exist_ok=True)
    pythnn.save(folder / "digits.t7", model.clearState())
    (folder / "labels.txt").write_text("\n".join(map(str, range(10))) + "\n")
    for i in range(SAMPLES):
        pixels = np.rint(images[i, 0] * 255).astype(np.uint8)
        name = f"image{i + 1}-of-{classes[i] - 1}.png"
        Image.fromarray(pixels).save(folder / "digits" / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path("demo-output"))
    arguments = parser.parse_args()
    console = Console()
    pythnn.manual_seed(arguments.seed)
    images, classes, held_out, their_classes = data(arguments.seed)
    model = network()
    train(model, images, classes, arguments.epochs, arguments.seed, console)
    found = accuracy(model, held_out, their_classes)
    console.print(f"{100 * found:.1f} % of {len(held_out)} held-out digits are recognised")
    save(model, held_out, their_classes, arguments.output)
    console.print(f"saved {arguments.output / 'digits.t7'}")


if __name__ == "__main__":
    main()
