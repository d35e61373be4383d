"""What a change of type makes of fields, and of values on their way through DontCast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import nn

X = np.random.default_rng(0).standard_normal((4, 3))


def dtype_of(criterion: Any, path: str) -> Any:
    for name in path.split("."):
        criterion = criterion[int(name)] if name.isdigit() else getattr(criterion, name)
    return criterion if isinstance(criterion, list) else criterion.dtype


FIELDS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "ClassNLLCriterion": (nn.ClassNLLCriterion, {"target": np.float32, "gradInput": np.float32}),
    "SpatialClassNLLCriterion": (nn.SpatialClassNLLCriterion, {"target": np.float32}),
    "CrossEntropyCriterion": (
        nn.CrossEntropyCriterion,
        {"nll.target": np.float32, "gradInput": np.float32},
    ),
    "CosineEmbeddingCriterion": (
        nn.CosineEmbeddingCriterion,
        {"_idx": np.uint8, "gradInput.0": np.float32},
    ),
    "ParallelCriterion": (
        lambda: nn.ParallelCriterion().add(nn.ClassNLLCriterion()),
        {"criterions.0.target": np.float32, "gradInput": []},
    ),
    "MultiCriterion": (nn.MultiCriterion, {"gradInput": np.float32}),
    "LookupTable": (
        lambda: nn.LookupTable(3, 2),
        {"_count": np.int32, "_input": np.int64, "weight": np.float32, "gradInput": np.float32},
    ),
    "SelectTable": (lambda: nn.SelectTable(1), {"output": [], "gradInput": []}),
    "NarrowTable": (lambda: nn.NarrowTable(1), {"output": [], "gradInput": []}),
    "JoinTable": (lambda: nn.JoinTable(1), {"output": np.float32, "gradInput": []}),
    "SpatialMaxPooling": (lambda: nn.SpatialMaxPooling(2, 2), {"indices": np.float32}),
    "MaskedSelect": (
        nn.MaskedSelect,
        {"_maskIndices": np.int64, "_gradMask": np.uint8, "_gradBuffer": np.float32},
    ),
    "Constant": (lambda: nn.Constant(np.array([1, 2])), {"value": np.float32}),
}


@pytest.mark.parametrize("name", FIELDS)
def test_types_of_fields_after_float(name: str) -> None:
    make, wanted = FIELDS[name]
    found = make().float()
    assert {path: dtype_of(found, path) for path in wanted} == wanted


def test_a_module_criterion_has_no_results_before_a_call() -> None:
    criterion = nn.ModuleCriterion(nn.MSECriterion(), nn.Linear(3, 2))
    for one in (criterion, criterion.clone().float()):
        assert {"gradInput", "output"}.isdisjoint(one._to_fields())
        assert one.gradInput is one.output is None
    criterion(X, np.ones((4, 2)))
    assert {"gradInput", "output"} <= set(criterion._to_fields())


@pytest.mark.parametrize("layer", [nn.Max(1), nn.Min(2), nn.SpatialMaxPooling(2, 1)])
def test_indices_of_a_call_before_do_not_hinder(layer: Any) -> None:
    x = X.reshape(1, 4, 3) if isinstance(layer, nn.SpatialMaxPooling) else X
    for dtype in (np.float64, np.float32):
        layer.type(dtype)
        given = x.astype(dtype)
        assert layer.forward(given).dtype == layer.backward(given, layer.output).dtype == dtype


@pytest.mark.parametrize("inner", [np.float32, np.float64])
@pytest.mark.parametrize("castout", [True, False, None])
def test_dont_cast(inner: Any, castout: bool | None) -> None:
    """Without castout results are of the module's type, gradients too; castin sees to the input."""
    outer = np.float32 if inner == np.float64 else np.float64
    layer = nn.DontCast(nn.Linear(3, 2).type(inner), True, castout).type(outer)
    wanted = inner if castout is False else outer
    for given in (X.astype(np.float32), X, np.arange(12).reshape(4, 3), np.ones((4, 3), np.uint8)):
        for _ in range(2):
            assert layer.forward(given).dtype == wanted
            assert layer.backward(given, np.ones((4, 2), wanted)).dtype == wanted
        assert {array.dtype for array in layer.parameters()[1]} == {np.dtype(inner)}


# ---- Samples without a batch, and what is drawn


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.BatchNormalization(3), (3,)),
        (nn.SpatialBatchNormalization(3), (3, 2, 2)),
        (nn.VolumetricBatchNormalization(3), (3, 2, 1, 2)),
    ],
)
def test_batch_normalisation_of_a_sample(layer: Any, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape)
    layer.training()
    with pytest.raises(pythnn.THNNArgumentError, match="'input'"):
        layer.forward(x)
    layer.evaluate()
    wanted, slopes = layer.forward(x[None]), layer.backward(x[None], x[None])
    np.testing.assert_array_equal(layer.forward(x), wanted)
    np.testing.assert_array_equal(layer.backward(x, x), slopes)


@pytest.mark.parametrize("layer", [nn.SplitTable(1), nn.SplitTable(-1), nn.SplitTable(1, 1)])
def test_split_table_of_a_vector_gives_numbers(layer: Any) -> None:
    x = np.array([1.5, 2, -3])
    found = layer.forward(x)
    assert found == layer.output == [1.5, 2, -3]
    assert all(type(one) is float for one in found)
    np.testing.assert_array_equal(
        layer.backward(x, [1.0, np.array(2.0), np.array([3.0])]), [1, 2, 3]
    )
    with pytest.raises(pythnn.THNNArgumentError, match="'gradOutput': expected 3 entries, found 2"):
        layer.backward(x, [1.0, 2.0])


@pytest.mark.parametrize("share", [0, 0.3, 0.5, 0.95, 1])
def test_kmeans_draws_one_of_the_farthest(share: float) -> None:
    samples = np.random.default_rng(1).standard_normal((20, 2))
    layer = nn.Kmeans(4, 2)
    pythnn.manual_seed(3)
    layer.initKmeansPlus(samples, share)
    pythnn.manual_seed(3)
    draw = pythnn._random.integer
    chosen = [samples[draw(20) - 1]]
    for _ in range(3):
        distances = [min(((s - c) ** 2).sum() for c in chosen) for s in samples]
        farthest = sorted(range(20), key=lambda i: -distances[i])
        chosen.append(samples[farthest[draw(max(int(np.ceil((1 - share) * 20)), 1)) - 1]])
    np.testing.assert_array_equal(layer.weight, chosen)
    assert layer.p == share
    layer.initKmeansPlus(samples)
    assert layer.p == share
    with pytest.raises(pythnn.THNNArgumentError, match="initKmeansPlus.*a share from 0 to 1"):
        layer.initKmeansPlus(samples, 2)


@pytest.mark.parametrize("castout", [False, None])
def test_dont_cast_converts_indices_on_their_way_in(castout: bool | None) -> None:
    layer = nn.DontCast(nn.LookupTable(5, 2), True, castout).float()
    x = np.array([[1, 2], [3, 5]])
    wanted = np.float64 if castout is False else np.float32
    assert layer.forward(x).dtype == wanted
    assert layer.backward(x, np.ones((2, 2, 2), wanted)).dtype == wanted
