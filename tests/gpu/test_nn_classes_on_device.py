"""Every class of nn on a device: the results are those of the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import test_nn_every_class as every_class

import pythnn

# Classes that are left out, and why.
LEFT_OUT = {
    "DontCast": "keeps its module on the CPU, as it is there to do",
    "Index": "not yet written for devices",
    "IndexLinear": "not yet written for devices",
    "LinearWeightNorm": "not yet written for devices",
    "MaskedSelect": "fake_cupy has no such indexing",
    "Max": "fake_cupy has no put_along_axis",
    "Maxout": "fake_cupy has no put_along_axis",
    "Min": "fake_cupy has no put_along_axis",
    "Parallel": "fake_cupy has no __array_function__",
    "PartialLinear": "fake_cupy has no such indexing",
    "PixelShuffle": "fake_cupy reshapes into copies",
    "RReLU": "a device draws other numbers",
    "SparseLinear": "not yet written for devices",
    "TemporalDynamicKMaxPooling": "fake_cupy has no put_along_axis",
}


def examples() -> list[str]:
    found = {
        **dict.fromkeys(every_class.names("module")),
        **dict.fromkeys(every_class.names("criterion")),
    }
    return [stem for stem in found if stem not in LEFT_OUT]


def there(xp: Any, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [there(xp, entry) for entry in value]
    return xp.asarray(value) if isinstance(value, np.ndarray) else value


def leaves(value: Any) -> list[np.ndarray]:
    if isinstance(value, (list, tuple)):
        return [leaf for entry in value for leaf in leaves(entry)]
    return [np.asarray(value.get() if hasattr(value, "get") else value, float)]


@pytest.mark.parametrize("stem", examples())
def test_a_call_is_that_of_the_cpu(xp: Any, stem: str) -> None:
    example = every_class.Example(stem)
    extra = example.target if example.is_criterion else example.gradient
    results = []
    for name in ("torch.DoubleTensor", "torch.CudaDoubleTensor"):
        pythnn.manual_seed(1)
        made = example.build().type(name)
        given = [example.input, extra]
        if name.startswith("torch.Cuda"):
            given = there(xp, given)
        forward = made.forward(*given) if example.is_criterion else made.forward(given[0])
        results.append([forward, made.backward(*given)])
    expected, found = map(leaves, results)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-8)
