"""Well-known networks as modules of Lua Torch, with random parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import pythnn
from pythnn import nn

__all__ = ["NETWORKS", "Network"]


@dataclass(frozen=True)
class Network:
    """A network and the shape of one of its inputs."""

    name: str
    make: Callable[[], Any]
    shape: tuple[int, ...]
    indices: int = 0
    """The input is this many kinds of indices, from 1 on; 0: numbers."""
    states: tuple[int, ...] = ()
    """The sizes of states that a recurrent network takes beside the input."""
    steps: int = 0
    """The input is a sequence of this many steps, which come before the batch; 0: it is none."""
    batches: tuple[int, ...] = (1, 16)
    """The numbers of inputs with which it is measured."""

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers in training."""
        return any(isinstance(one, nn.Dropout) for one in self.make().listModules())

    def model(self, dtype: Any = np.float32) -> Any:
        """The network in evaluation, with the same parameters each time."""
        pythnn.manual_seed(1)
        model = self.make()
        numbers = np.random.default_rng(1)
        for one in model.listModules():
            if isinstance(one, nn.BatchNormalization):  # as after training, not before
                size = one.running_mean.size
                one.running_mean = 0.2 * numbers.standard_normal(size)
                one.running_var = 0.5 + numbers.random(size)
        model.type(dtype)
        model.evaluate()
        return model

    def input(self, batch: int, dtype: Any = np.float32) -> Any:
        """A batch of inputs."""
        numbers = np.random.default_rng(2)
        shape = (batch, *self.shape)
        if self.steps:
            shape = (self.steps, *shape)
        if self.indices:
            given = numbers.integers(1, self.indices + 1, shape)
        else:
            given = numbers.standard_normal(shape).astype(dtype)
        states = [0.3 * numbers.standard_normal((batch, n)).astype(dtype) for n in self.states]
        return [given, *states] if states else given


def conv(i: int, o: int, k: int, s: int = 1, p: int | None = None) -> Any:
    pad = k // 2 if p is None else p
    return nn.SpatialConvolution(i, o, k, k, s, s, pad, pad)


def relu() -> Any:
    return nn.ReLU(True)


def normalized(i: int, o: int, k: int, s: int = 1, p: int | None = None) -> list[Any]:
    return [conv(i, o, k, s, p).noBias(), nn.SpatialBatchNormalization(o)]


def pool(k: int, s: int, p: int = 0) -> Any:
    return nn.SpatialMaxPooling(k, k, s, s, p, p)


def flat(size: int) -> Any:
    return nn.View(size)


# ---- Classifiers of photographs


def alexnet() -> Any:
    return nn.Sequential(
        conv(3, 64, 11, 4, 2), relu(), pool(3, 2), conv(64, 192, 5), relu(), pool(3, 2),
        conv(192, 384, 3), relu(), conv(384, 256, 3), relu(), conv(256, 256, 3), relu(),
        pool(3, 2), flat(9216), nn.Dropout(0.5), nn.Linear(9216, 4096), relu(), nn.Dropout(0.5),
        nn.Linear(4096, 4096), relu(), nn.Linear(4096, 1000), nn.LogSoftMax(),
    )  # fmt: skip


def vgg(*stages: Sequence[int]) -> Any:
    model, planes = nn.Sequential(), 3
    for stage in stages:
        for outputs in stage:
            model.add(conv(planes, outputs, 3)).add(relu())
            planes = outputs
        model.add(pool(2, 2))
    for i, o in ((25088, 4096), (4096, 4096)):
        if i == 25088:
            model.add(flat(i))
        model.add(nn.Linear(i, o)).add(relu()).add(nn.Dropout(0.5))
    return model.add(nn.Linear(4096, 1000)).add(nn.LogSoftMax())


def residual(branch: list[Any], shortcut: Any) -> Any:
    table = nn.ConcatTable(nn.Sequential(*branch), shortcut)
    return nn.Sequential(table, nn.CAddTable(True), relu())


def basic(i: int, o: int, s: int) -> Any:
    branch = [*normalized(i, o, 3, s), relu(), *normalized(o, o, 3)]
    same = i == o and s == 1
    return residual(branch, nn.Identity() if same else nn.Sequential(*normalized(i, o, 1, s)))


def bottleneck(i: int, o: int, s: int) -> Any:
    n = o // 4
    branch = [*normalized(i, n, 1), relu(), *normalized(n, n, 3, s), relu(), *normalized(n, o, 1)]
    same = i == o and s == 1
    return residual(branch, nn.Identity() if same else nn.Sequential(*normalized(i, o, 1, s)))


def resnet(block: Any, counts: Sequence[int], width: int) -> Any:
    model = nn.Sequential(*normalized(3, 64, 7, 2), relu(), pool(3, 2, 1))
    planes = 64
    for stage, count in enumerate(counts):
        outputs = width * 2**stage
        for index in range(count):
            model.add(block(planes, outputs, 2 if stage and not index else 1))
            planes = outputs
    model.add(nn.SpatialAveragePooling(7, 7, 1, 1)).add(flat(planes))
    return model.add(nn.Linear(planes, 1000))


def resnet20() -> Any:
    model, planes = nn.Sequential(*normalized(3, 16, 3), relu()), 16
    for outputs in (16, 32, 64):
        for index in range(3):
            model.add(basic(planes, outputs, 2 if outputs > 16 and not index else 1))
            planes = outputs
    model.add(nn.SpatialAveragePooling(8, 8, 1, 1)).add(flat(64)).add(nn.Linear(64, 10))
    return model


def inception(i: int, a: int, b: tuple[int, int], c: tuple[int, int], d: int) -> Any:
    return nn.Concat(
        2,
        nn.Sequential(conv(i, a, 1), relu()),
        nn.Sequential(conv(i, b[0], 1), relu(), conv(b[0], b[1], 3), relu()),
        nn.Sequential(conv(i, c[0], 1), relu(), conv(c[0], c[1], 5), relu()),
        nn.Sequential(pool(3, 1, 1), conv(i, d, 1), relu()),
    )


def googlenet() -> Any:
    model = nn.Sequential(conv(3, 64, 7, 2), relu(), pool(3, 2, 1), nn.SpatialCrossMapLRN(5))
    for layer in (conv(64, 64, 1), relu(), conv(64, 192, 3), relu()):
        model.add(layer)
    model.add(nn.SpatialCrossMapLRN(5)).add(pool(3, 2, 1))
    planes = 192
    rows = (
        (64, (96, 128), (16, 32), 32), (128, (128, 192), (32, 96), 64), None,
        (192, (96, 208), (16, 48), 64), (160, (112, 224), (24, 64), 64),
        (128, (128, 256), (24, 64), 64), (112, (144, 288), (32, 64), 64),
        (256, (160, 320), (32, 128), 128), None,
        (256, (160, 320), (32, 128), 128), (384, (192, 384), (48, 128), 128),
    )  # fmt: skip
    for row in rows:
        if row is None:
            model.add(pool(3, 2, 1))
            continue
        a, b, c, d = row
        model.add(inception(planes, a, b, c, d))
        planes = a + b[1] + c[1] + d
    model.add(nn.SpatialAveragePooling(7, 7, 1, 1)).add(flat(1024))
    return model.add(nn.Linear(1024, 1000)).add(nn.LogSoftMax())


def fire(i: int, squeezed: int, expanded: int) -> Any:
    both = nn.Concat(
        2,
        nn.Sequential(conv(squeezed, expanded, 1), relu()),
        nn.Sequential(conv(squeezed, expanded, 3), relu()),
    )
    return nn.Sequential(conv(i, squeezed, 1), relu(), both)


def squeezenet() -> Any:
    model = nn.Sequential(conv(3, 64, 3, 2, 0), relu(), pool(3, 2))
    rows = ((64, 16, 64), (128, 16, 64), None, (128, 32, 128), (256, 32, 128), None,
            (256, 48, 192), (384, 48, 192), (384, 64, 256), (512, 64, 256))  # fmt: skip
    for row in rows:
        model.add(pool(3, 2) if row is None else fire(*row))
    model.add(conv(512, 1000, 1)).add(relu()).add(nn.SpatialAveragePooling(13, 13, 1, 1))
    return model.add(flat(1000)).add(nn.LogSoftMax())


# ---- Images from images


def unet(depth: int = 3, i: int = 3, planes: int = 32) -> Any:
    inside = [conv(i, planes, 3), relu(), conv(planes, planes, 3), relu()]
    if not depth:
        return nn.Sequential(*inside)
    below = nn.Sequential(
        pool(2, 2), unet(depth - 1, planes, 2 * planes),
        nn.SpatialFullConvolution(2 * planes, planes, 2, 2, 2, 2),
    )  # fmt: skip
    both = nn.Concat(2, nn.Identity(), below)
    after = [conv(2 * planes, planes, 3), relu(), conv(planes, planes, 3), relu()]
    return nn.Sequential(*inside, both, *after)


def style() -> Any:
    def block() -> Any:
        branch = nn.Sequential(*normalized(128, 128, 3), relu(), *normalized(128, 128, 3))
        return nn.Sequential(nn.ConcatTable(branch, nn.Identity()), nn.CAddTable())

    def up(i: int, o: int) -> list[Any]:
        full = nn.SpatialFullConvolution(i, o, 3, 3, 2, 2, 1, 1, 1, 1)
        return [full, nn.SpatialBatchNormalization(o), relu()]

    return nn.Sequential(
        nn.SpatialReflectionPadding(4, 4, 4, 4), *normalized(3, 32, 9, 1, 0), relu(),
        *normalized(32, 64, 3, 2), relu(), *normalized(64, 128, 3, 2), relu(),
        *(block() for _ in range(5)), *up(128, 64), *up(64, 32),
        nn.SpatialReflectionPadding(4, 4, 4, 4), conv(32, 3, 9, 1, 0), nn.Tanh(),
        nn.MulConstant(150),
    )  # fmt: skip


def generator() -> Any:
    model, planes = nn.Sequential(), 100
    for outputs, k, s, p in ((512, 4, 1, 0), (256, 4, 2, 1), (128, 4, 2, 1), (64, 4, 2, 1)):
        model.add(nn.SpatialFullConvolution(planes, outputs, k, k, s, s, p, p))
        model.add(nn.SpatialBatchNormalization(outputs)).add(relu())
        planes = outputs
    return model.add(nn.SpatialFullConvolution(64, 3, 4, 4, 2, 2, 1, 1)).add(nn.Tanh())


def discriminator() -> Any:
    model = nn.Sequential(conv(3, 64, 4, 2, 1), nn.LeakyReLU(0.2, True))
    for i in (64, 128, 256):
        for layer in (*normalized(i, 2 * i, 4, 2, 1), nn.LeakyReLU(0.2, True)):
            model.add(layer)
    return model.add(conv(512, 1, 4, 1, 0)).add(nn.Sigmoid()).add(flat(1))


# ---- Small ones, text


def lenet() -> Any:
    return nn.Sequential(
        conv(1, 6, 5), nn.Tanh(), pool(2, 2), conv(6, 16, 5, 1, 0), nn.Tanh(), pool(2, 2),
        flat(400), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(),
        nn.Linear(84, 10), nn.LogSoftMax(),
    )  # fmt: skip


def text() -> Any:
    return nn.Sequential(
        nn.LookupTable(10000, 128), nn.TemporalConvolution(128, 256, 3), nn.ReLU(True),
        nn.Max(2), nn.Linear(256, 20), nn.LogSoftMax(),
    )  # fmt: skip


def char_rnn(kinds: int = 65, units: int = 128, layers: int = 2) -> Any:
    """One step of char-rnn's LSTM: index and states to states and logarithms of probabilities."""
    inputs = [nn.Identity()() for _ in range(2 * layers + 1)]
    x, features, outputs = nn.OneHot(kinds)(inputs[0]), kinds, []
    for layer in range(layers):
        c, h = inputs[2 * layer + 1 : 2 * layer + 3]
        both = nn.CAddTable()([nn.Linear(features, 4 * units)(x), nn.Linear(units, 4 * units)(h)])
        parts = nn.SplitTable(2)(nn.Reshape(4, units)(both))
        i, f, o, g = (nn.SelectTable(n)(parts) for n in (1, 2, 3, 4))
        i, f, o, g = (*(nn.Sigmoid()(gate) for gate in (i, f, o)), nn.Tanh()(g))
        c = nn.CAddTable()([nn.CMulTable()([f, c]), nn.CMulTable()([i, g])])
        h = nn.CMulTable()([o, nn.Tanh()(c)])
        outputs += [c, h]
        x, features = h, units
    outputs.append(nn.LogSoftMax()(nn.Linear(units, kinds)(x)))
    return nn.gModule(inputs, outputs)


def language_model(words: int, units: int = 512) -> Any:
    """An LSTM that predicts each next word."""
    scores = nn.Sequential(nn.Linear(units, words), nn.LogSoftMax())
    return nn.Sequential(
        nn.LookupTable(words, units), nn.SeqLSTM(units, units), nn.Bottle(scores, 2)
    )


VGG11 = ((64,), (128,), (256, 256), (512, 512), (512, 512))
VGG16 = ((64, 64), (128, 128), (256,) * 3, (512,) * 3, (512,) * 3)
PHOTO = (3, 224, 224)

NETWORKS = (
    Network("AlexNet", alexnet, PHOTO),
    Network("VGG-11", lambda: vgg(*VGG11), PHOTO),
    Network("VGG-16", lambda: vgg(*VGG16), PHOTO),
    Network("ResNet-18", lambda: resnet(basic, (2, 2, 2, 2), 64), PHOTO),
    Network("ResNet-50", lambda: resnet(bottleneck, (3, 4, 6, 3), 256), PHOTO),
    Network("ResNet-20 of CIFAR", resnet20, (3, 32, 32)),
    Network("GoogLeNet", googlenet, PHOTO),
    Network("SqueezeNet", squeezenet, PHOTO),
    Network("U-Net", unet, (3, 128, 128)),
    Network("fast-neural-style", style, (3, 256, 256)),
    Network("DCGAN generator", generator, (100, 1, 1)),
    Network("DCGAN discriminator", discriminator, (3, 64, 64)),
    Network("LeNet", lenet, (1, 28, 28)),
    Network("text", text, (50,), indices=10000),
    Network("char-rnn step", char_rnn, (), indices=65, states=(128,) * 4),
    *(
        Network(
            f"language model, {words} words",
            partial(language_model, words),
            (),
            indices=words,
            steps=20,
            batches=(32,),
        )
        for words in (1000, 10000)
    ),
)
