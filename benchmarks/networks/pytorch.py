"""The same networks as modules of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from pythnn import nn

__all__ = ["module_of"]


def _window(m: Any, prefix: str) -> tuple[int, int]:
    return getattr(m, f"{prefix}H"), getattr(m, f"{prefix}W")


def module_of(m: Any) -> Any:
    """The PyTorch module that computes what a module of ours does, with its parameters."""
    t = torch.nn
    if isinstance(m, nn.gModule):
        return _CharacterCells(m)
    inside = [module_of(one) for one in m.modules] if isinstance(m, nn.Container) else []
    made: Any
    if isinstance(m, nn.Sequential):
        return t.Sequential(*inside)
    if isinstance(m, nn.Concat):
        return _Joined(inside)
    if isinstance(m, nn.Bottle):
        return inside[0]
    if isinstance(m, nn.SeqLSTM):
        return _Layer(m)
    if isinstance(m, nn.ConcatTable):
        return _Table(inside)
    if isinstance(m, nn.CAddTable):
        return _Sum()
    if isinstance(m, nn.SpatialFullConvolution):
        made = t.ConvTranspose2d(
            m.nInputPlane, m.nOutputPlane, _window(m, "k"), _window(m, "d"), _window(m, "pad"),
            _window(m, "adj"), bias=m.bias is not None,
        )  # fmt: skip
    elif isinstance(m, nn.SpatialConvolution):
        made = t.Conv2d(
            m.nInputPlane, m.nOutputPlane, _window(m, "k"), _window(m, "d"), _window(m, "pad"),
            bias=m.bias is not None,
        )  # fmt: skip
    elif isinstance(m, nn.SpatialBatchNormalization):
        mean, variance = torch.from_numpy(m.running_mean), torch.from_numpy(m.running_var)
        made = t.BatchNorm2d(len(mean), m.eps, m.momentum, dtype=mean.dtype)
        made.running_mean.copy_(mean)
        made.running_var.copy_(variance)
    elif isinstance(m, nn.Linear):
        made = t.Linear(m.weight.shape[1], m.weight.shape[0])
    elif isinstance(m, nn.LookupTable):
        made = _Rows(m.weight.shape)
    elif isinstance(m, nn.TemporalConvolution):
        made = _Frames(m.inputFrameSize, m.outputFrameSize, m.kW, m.dW)
    else:
        return _plain(m)
    _copy_parameters(made, m)
    return made


def _copy_parameters(made: Any, m: Any) -> None:
    made.to(torch.from_numpy(m.weight).dtype)
    with torch.no_grad():
        made.weight.copy_(torch.from_numpy(_weight(m)))
        if m.field("bias") is not None:
            made.bias.copy_(torch.from_numpy(m.bias))


def _weight(m: Any) -> Any:
    if isinstance(m, nn.TemporalConvolution):
        frames = m.weight.reshape(m.outputFrameSize, m.kW, m.inputFrameSize)
        return np.ascontiguousarray(frames.transpose(0, 2, 1))
    return m.weight


def _plain(m: Any) -> Any:
    """The layers without parameters."""
    t = torch.nn
    if isinstance(m, nn.SpatialMaxPooling):
        return t.MaxPool2d(
            _window(m, "k"), _window(m, "d"), _window(m, "pad"), ceil_mode=m.ceil_mode
        )
    makers: dict[type, Callable[[], Any]] = {
        nn.ReLU: lambda: t.ReLU(inplace=True),
        nn.LeakyReLU: lambda: t.LeakyReLU(m.negval, inplace=True),
        nn.Tanh: t.Tanh,
        nn.Sigmoid: t.Sigmoid,
        nn.LogSoftMax: lambda: t.LogSoftmax(-1),
        nn.Dropout: lambda: t.Dropout(m.p),
        nn.Identity: t.Identity,
        nn.View: lambda: t.Flatten(1),
        nn.SpatialAveragePooling: lambda: t.AvgPool2d(_window(m, "k"), _window(m, "d")),
        nn.SpatialCrossMapLRN: lambda: t.LocalResponseNorm(m.size, m.alpha, m.beta, m.k),
        nn.SpatialReflectionPadding: lambda: t.ReflectionPad2d(
            (m.pad_l, m.pad_r, m.pad_t, m.pad_b)
        ),
        nn.MulConstant: lambda: _Scaled(m.constant_scalar),
        nn.Max: _Largest,
    }
    return makers[type(m)]()


class _Joined(torch.nn.Module):
    def __init__(self, parts: Any) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(parts)

    def forward(self, x: Any) -> Any:
        return torch.cat([part(x) for part in self.parts], 1)


class _Table(torch.nn.Module):
    def __init__(self, parts: Any) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(parts)

    def forward(self, x: Any) -> Any:
        return [part(x) for part in self.parts]


class _Sum(torch.nn.Module):
    def forward(self, xs: Any) -> Any:
        return xs[0] + xs[1]


class _Scaled(torch.nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: Any) -> Any:
        return x * self.factor


class _Largest(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.max(1)[0]


class _Rows(torch.nn.Module):
    def __init__(self, shape: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(tuple(shape)))

    def forward(self, x: Any) -> Any:
        return torch.nn.functional.embedding(x - 1, self.weight)


class _CharacterCells(torch.nn.Module):
    """The step of an LSTM that models.char_rnn builds, by PyTorch's cells."""

    def __init__(self, m: Any) -> None:
        super().__init__()
        *pairs, last = [one for one in m.listModules() if isinstance(one, nn.Linear)]
        self.kinds = last.weight.shape[0]
        self.cells = torch.nn.ModuleList(_cell(*pairs[i : i + 2]) for i in range(0, len(pairs), 2))
        self.last = module_of(last)

    def forward(self, x: Any, *states: Any) -> Any:
        given = torch.nn.functional.one_hot(x - 1, self.kinds).to(states[0].dtype)
        outputs = []
        for i, cell in enumerate(self.cells):
            c, h = states[2 * i : 2 * i + 2]
            given, c = cell(given, (h, c))
            outputs += [c, given]
        return [*outputs, torch.nn.functional.log_softmax(self.last(given), -1)]


def _cell(of_input: Any, of_state: Any) -> Any:
    """A cell whose gates are in PyTorch's order: ours has the output gate before the candidate."""
    units = of_state.weight.shape[1]
    cell = torch.nn.LSTMCell(of_input.weight.shape[1], units)
    cell.to(torch.from_numpy(of_input.weight).dtype)
    with torch.no_grad():
        for name, layer in (("ih", of_input), ("hh", of_state)):
            for kind in ("weight", "bias"):
                gates = np.split(getattr(layer, kind), 4)
                ordered = np.concatenate([gates[0], gates[1], gates[3], gates[2]])
                getattr(cell, f"{kind}_{name}").copy_(torch.from_numpy(ordered))
    return cell


class _Layer(torch.nn.Module):
    """A layer of an LSTM, without its states; ours has the output gate before the new cell."""

    def __init__(self, m: Any) -> None:
        super().__init__()
        units = m.weight.shape[1] // 4
        inputs = m.weight.shape[0] - units
        self.layer = torch.nn.LSTM(inputs, units, dtype=torch.from_numpy(m.weight).dtype)
        numbers = {"weight_ih": m.weight[:inputs].T, "weight_hh": m.weight[inputs:].T}
        numbers |= {"bias_ih": m.bias, "bias_hh": np.zeros_like(m.bias)}
        with torch.no_grad():
            for name, rows in numbers.items():
                i, f, o, c = np.split(rows, 4)
                ordered = torch.from_numpy(np.concatenate([i, f, c, o]))
                getattr(self.layer, f"{name}_l0").copy_(ordered)
        # Of PyTorch's two biases ours has one: both would go down the gradient.
        self.layer.bias_hh_l0.requires_grad_(False)

    def forward(self, x: Any) -> Any:
        return self.layer(x)[0]


class _Frames(torch.nn.Module):
    def __init__(self, i: int, o: int, k: int, s: int) -> None:
        super().__init__()
        layer = torch.nn.Conv1d(i, o, k, s)
        self.weight, self.bias, self.stride = layer.weight, layer.bias, s

    def forward(self, x: Any) -> Any:
        y = torch.nn.functional.conv1d(x.transpose(1, 2), self.weight, self.bias, self.stride)
        return y.transpose(1, 2)
