"""Recurrent layers over sequences compute on a device what they do on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pythnn import nn

MAKERS = {
    "SeqLSTM": lambda: nn.SeqLSTM(3, 4),
    "SeqLSTMP": lambda: nn.SeqLSTMP(3, 5, 4),
    "SeqGRU": lambda: nn.SeqGRU(3, 4),
    "VanillaRNN": lambda: nn.VanillaRNN(3, 4),
    "TorchRnnLSTM": lambda: nn.TorchRnnLSTM(3, 4),
    "RecGRU": lambda: nn.Sequencer(nn.RecGRU(3, 4)),
    "RecLSTM": lambda: nn.Sequencer(nn.RecLSTM(3, 4)),
    "FastLSTM": lambda: nn.Sequencer(nn.FastLSTM(3, 4)),
    "GRU": lambda: nn.Sequencer(nn.GRU(3, 4)),
    "LSTM": lambda: nn.Sequencer(nn.LSTM(3, 4)),
    "no peepholes": lambda: nn.Sequencer(nn.LSTM(3, 4, None, False)),
    "between layers": lambda: nn.Sequencer(
        nn.Sequential(nn.Linear(3, 4), nn.FastLSTM(4, 4), nn.Tanh(), nn.GRU(4, 4))
    ),
    "step by step": lambda: nn.Sequencer(
        nn.Sequential(nn.Sequential(nn.FastLSTM(3, 4), nn.LSTM(4, 4), nn.GRU(4, 4)))
    ),
    "cudnn.LSTM": lambda: nn.cudnn.LSTM(3, 4, 2),
    "cudnn.GRU": lambda: nn.cudnn.GRU(3, 4, 2),
    "cudnn.BatchBRNNReLU": lambda: nn.cudnn.BatchBRNNReLU(3, 2, 2),
}


def trained(model: Any, x: Any, slopes: Any) -> list[np.ndarray]:
    """The output, and all gradients."""
    model.training()
    model.zeroGradParameters()
    output = model.forward(x)
    found = [output, model.backward(x, slopes), *model.parameters()[1]]
    return [one.get() if hasattr(one, "get") else np.array(one) for one in found]


CASES = [(name, False) for name in MAKERS]
CASES += [(name, True) for name in MAKERS if name.startswith(("Seq", "Rec"))]


@pytest.mark.parametrize(("name", "pads"), CASES)
def test_sequences(xp: Any, name: str, pads: bool) -> None:
    model = MAKERS[name]()
    numbers = np.random.default_rng(1)
    x = numbers.standard_normal((5, 3, 3)).astype("float32")
    if pads:
        model.maskZero(1)
        x[1, 0] = x[2, 2] = 0
    slopes = numbers.standard_normal((5, 3, 4)).astype("float32")
    model.float()
    wanted = trained(model, x, slopes)
    model.type("torch.CudaTensor")
    found = trained(model, xp.asarray(x), xp.asarray(slopes))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["StepGRU", "StepLSTM"])
def test_a_step_with_a_mask(xp: Any, name: str) -> None:
    model = getattr(nn, name)(3, 4).float()
    numbers = np.random.default_rng(2)
    sizes = (3, 4) if name == "StepGRU" else (3, 4, 4)
    given = [numbers.standard_normal((2, size)).astype("float32") for size in sizes]
    model.setZeroMask(np.array([1, 0]))
    wanted = model.forward(given)
    found = model.type("torch.CudaTensor").forward([xp.asarray(one) for one in given])
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, list) else [(found, wanted)]
    for one, other in pairs:
        np.testing.assert_allclose(one.get(), other, rtol=1e-4, atol=1e-5)
