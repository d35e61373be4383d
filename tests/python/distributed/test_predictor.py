"""Models in workers: loaded once, the same for all who call them."""

from __future__ import annotations

import os
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import THNNArgumentError, nn
from pythnn.distributed import Predictor, _predictor

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))

IMAGES = np.random.default_rng(2).integers(0, 256, (10, 3, 6, 6), np.uint8)


@pytest.fixture
def model(tmp_path: Path) -> nn.Module:
    """A model in model.t7, which is the current folder's."""
    pythnn.manual_seed(3)
    made = nn.Sequential(
        nn.SpatialConvolution(3, 4, 3, 3), nn.SpatialBatchNormalization(4), nn.ReLU(), nn.View(64)
    )
    made.add(nn.Linear(64, 5)).add(nn.LogSoftMax()).float().evaluate()
    pythnn.save(tmp_path / "model.t7", made)
    os.chdir(tmp_path)
    return made


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    _predictor._loaded.cache_clear()


def scaled(images: Any) -> Any:
    return images.astype(np.float32) / 255


def test_columns(model: nn.Module) -> None:
    batch = {"image": IMAGES, "name": np.arange(10)}
    predict = Predictor("model.t7", input="image", output="scores", fuse=False)
    found = predict(batch)
    assert list(found) == ["image", "name", "scores"]
    assert (found["scores"] == model.forward(IMAGES.astype(np.float32))).all()
    assert found["image"] is IMAGES
    assert "scores" not in batch
    few = Predictor("model.t7", input="image", prepare=scaled, columns=["name"], fuse=False)(batch)
    assert list(few) == ["name", "output"]
    assert (few["output"] == model.forward(scaled(IMAGES))).all()
    fused = Predictor("model.t7", input="image", prepare=scaled)({"image": IMAGES[:3]})
    np.testing.assert_allclose(fused["output"], few["output"][:3], rtol=1e-5, atol=1e-5)


def test_tables_of_inputs_and_of_results(tmp_path: Path) -> None:
    net = nn.Sequential(
        nn.ParallelTable(nn.Linear(2, 3), nn.Linear(4, 3)), nn.CAddTable(),
        nn.ConcatTable(nn.Identity(), nn.Sum(2)),
    )  # fmt: skip
    pythnn.save(tmp_path / "checkpoint.t7", {"model": net, "epoch": 3})
    batch = {"a": np.ones((2, 2)), "b": np.ones((2, 4))}
    options: dict[str, Any] = {"input": ("a", "b"), "key": "model"}
    found = Predictor("checkpoint.t7", output=("each", "sum"), columns=(), **options)(batch)
    each, total = net.forward([batch["a"], batch["b"]])
    assert list(found) == ["each", "sum"]
    assert (found["each"] == each).all()
    assert (found["sum"] == total).all()
    with pytest.raises(THNNArgumentError, match="'output': expected names of 2 results"):
        Predictor("checkpoint.t7", **options)(batch)
    with pytest.raises(THNNArgumentError, match="'key': expected a key of .*found 'net', not in"):
        Predictor("checkpoint.t7", key="net")({"input": batch["a"]})
    with pytest.raises(THNNArgumentError, match="expected a file with a model, or the key of one"):
        Predictor("checkpoint.t7")({"input": batch["a"]})


@pytest.mark.parametrize("samples", [0, 1, 2])
def test_small_batches_have_as_many_results(model: nn.Module, samples: int) -> None:
    """View takes a batch of one for a sample."""
    found = Predictor("model.t7", input="image", fuse=False)({"image": IMAGES[:samples]})
    wanted = model.forward(IMAGES.astype(np.float32))[:samples]
    assert found["output"].shape == (samples, 5)
    np.testing.assert_allclose(found["output"], wanted, rtol=1e-5, atol=1e-5)


def test_a_model_without_a_batch_is_refused(tmp_path: Path) -> None:
    pythnn.save(tmp_path / "mean.t7", nn.Mean(1))
    with pytest.raises(THNNArgumentError, match="a result 'output' for each of 4 samples, found"):
        Predictor("mean.t7")({"input": np.ones((4, 3))})


def test_wrong_batches(model: nn.Module) -> None:  # noqa: ARG001
    predict = Predictor("model.t7", input="image")
    with pytest.raises(THNNArgumentError, match=r"a column 'image', found \['images'\]"):
        predict({"images": IMAGES})
    ragged = np.empty(2, object)
    ragged[:] = [IMAGES[0], IMAGES[1, :, :3]]
    with pytest.raises(THNNArgumentError, match="numbers of one shape in column 'image'"):
        predict({"image": ragged})
    with pytest.raises(FileNotFoundError):
        Predictor("none.t7")({"input": IMAGES})


def test_a_worker_loads_a_file_once(model: nn.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of a predictor find it, threads too; a file that was replaced is another one."""
    loads: list[str] = []
    load = _predictor.t7.load

    def counting(path: str) -> Any:
        loads.append(path)
        return load(path)

    monkeypatch.setattr(_predictor.t7, "load", counting)
    predict = Predictor("model.t7", input="image", fuse=False)
    copies = [pickle.loads(pickle.dumps(predict)) for _ in range(4)]
    monkeypatch.chdir("/")  # the path was meant from where it was given
    assert not loads
    wanted, found = model.forward(IMAGES.astype(np.float32)), [None] * 4

    def work(place: int) -> None:
        found[place] = copies[place]({"image": IMAGES})["output"]

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((one == wanted).all() for one in found)
    assert loads == [predict.path]
    model.get(5).bias += 1
    model.get(5).weight *= 2
    pythnn.save(predict.path, model)
    assert (predict({"image": IMAGES})["output"] == model.forward(IMAGES.astype(np.float32))).all()
    assert len(loads) == 2


def test_threads_are_the_workers(model: nn.Module) -> None:  # noqa: ARG001
    before = pythnn.get_num_threads()
    try:
        Predictor("model.t7", input="image", threads=1)({"image": IMAGES})
        assert pythnn.get_num_threads() == 1
    finally:
        pythnn.set_num_threads(before)


# ---- Several workers


def test_dask(model: nn.Module) -> None:
    pytest.importorskip("dask.bag", reason="no dask: pip install 'dask'")
    import predict_dask

    found = predict_dask.classes_of("model.t7", scaled(IMAGES), workers=2, batch=3)
    assert (found == model.forward(scaled(IMAGES)).argmax(1)).all()


@pytest.mark.filterwarnings("default")
def test_ray(model: nn.Module) -> None:
    pytest.importorskip("ray.data", reason="no ray: pip install 'ray[data]'")
    import predict_ray

    found = predict_ray.classes_of("model.t7", scaled(IMAGES), workers=2, batch=3)
    assert (found == model.forward(scaled(IMAGES)).argmax(1)).all()
