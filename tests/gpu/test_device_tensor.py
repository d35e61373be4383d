"""pythnn.Tensor on a device."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pythnn import Tensor, THNNArgumentError, THNNError, thnn

DTYPES = [np.float32, np.float64, np.int64, np.int32]
VALUES = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(xp: Any, dtype: Any) -> None:
    values = VALUES.astype(dtype)
    tensor = Tensor(values).cuda()
    assert tensor.is_cuda
    assert (tensor.device, tensor.dtype, tensor.shape) == ("cuda:0", dtype, (2, 3, 4))
    assert tensor.is_contiguous
    back = tensor.cpu()
    assert not back.is_cuda
    assert back.device == "cpu"
    np.testing.assert_array_equal(back.numpy(), values)
    assert tensor.tolist() == values.tolist()
    assert tensor.to("cuda:0") is tensor is tensor.cuda() is tensor.to("cuda")
    assert back.to("cpu") is back is back.cpu()


def test_made_of_arrays(xp: Any) -> None:
    array = xp.asarray(VALUES)
    copied, shared = Tensor(array), Tensor.from_array(array)
    array[...] = 1.0
    np.testing.assert_array_equal(copied.cpu().numpy(), VALUES)
    assert (shared.cpu().numpy() == 1).all()
    shared.fill(2)
    assert (array.get() == 2).all()
    assert shared.is_exported
    assert Tensor(array, dtype=np.float32).dtype == np.float32
    assert Tensor(VALUES, dtype=np.float32, device="cuda:0").device == "cuda:0"
    on_host = Tensor(array, device="cpu")
    assert not on_host.is_cuda
    assert (on_host.numpy() == 2).all()
    assert not Tensor.from_array(VALUES.copy()).is_cuda


def test_the_array_of_a_tensor(xp: Any) -> None:
    tensor = Tensor(VALUES).cuda()
    array = tensor.narrow(1, 1, 2).transpose(0, 2).array()
    np.testing.assert_array_equal(array.get(), VALUES[:, 1:3].transpose(2, 1, 0))
    array[...] = 5.0
    assert (tensor.cpu().numpy()[:, 1:3] == 5).all()
    assert tensor.is_exported
    tensor.resize(1000)
    assert not tensor.is_exported
    assert (array.get() == 5).all()
    del array
    gc.collect()
    assert Tensor(dtype=np.float32, device="cuda").array().shape == (0,)


def test_interface(xp: Any) -> None:
    tensor = Tensor(VALUES).cuda()
    interface = tensor.transpose(0, 1).__cuda_array_interface__
    assert interface["shape"] == (3, 2, 4)
    assert interface["strides"] == (32, 96, 8)
    assert interface["data"] == (tensor.address, False)
    assert interface["stream"] == 1
    assert tensor.__dlpack_device__() == (2, 0)
    assert Tensor(VALUES).__dlpack_device__() == (1, 0)


def test_not_for_numpy(xp: Any) -> None:
    tensor = Tensor(VALUES).cuda()
    for use in (tensor.numpy, lambda: np.asarray(tensor), lambda: np.add(tensor, 1)):
        with pytest.raises(THNNError, match=r"on cuda:0: \.cpu\(\)\.numpy\(\) copies"):
            use()


VIEWS: list[Callable[[Any], Any]] = [
    lambda t: t.select(1, -1),
    lambda t: t.select(0, 1).select(0, 2).select(0, 3),
    lambda t: t.narrow(2, 1, 2),
    lambda t: t.transpose(0, 2),
    lambda t: t.transpose(0, 2).contiguous(),
    lambda t: t.unfold(2, 3, 1),
    lambda t: t.unsqueeze(0),
    lambda t: t.unsqueeze(3),
    lambda t: t.narrow(0, 1, 1).squeeze(),
    lambda t: t.narrow(0, 1, 1).squeeze(0),
    lambda t: t.squeeze(0),
    lambda t: t.view(4, -1),
    lambda t: t.narrow(0, 0, 1).expand(5, 3, 4),
    lambda t: t.as_strided((2, 2), (3, 5), 4),
    lambda t: t.clone(),
    lambda t: t.astype(np.int32),
    lambda t: t.clone().zero(),
    lambda t: t.clone().copy_from(np.ones((4, 6))),
    lambda t: t.transpose(0, 1).contiguous().resize(6, 4),
]


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_those_of_the_cpu(xp: Any, view: Callable[[Any], Any]) -> None:
    expected, found = view(Tensor(VALUES)), view(Tensor(VALUES).cuda())
    assert (found.shape, found.strides) == (expected.shape, expected.strides)
    assert (found.dtype, found.device) == (expected.dtype, "cuda:0")
    np.testing.assert_array_equal(found.cpu().numpy(), expected.numpy())


WRONG: list[Callable[[Any], Any]] = [
    lambda t: t.narrow(0, 1, 5),
    lambda t: t.narrow(0, -1, 1),
    lambda t: t.unfold(0, 3, 1),
    lambda t: t.select(0, 2),
    lambda t: t.copy_from(np.ones(3)),
    lambda t: t.fill("one"),
    lambda t: t.to("gpu"),
    lambda t: t.to("cuda:99"),
    lambda t: t.set(Tensor(VALUES)),
    lambda t: t.as_strided((100,), (1,)),
    lambda t: Tensor(["a"], device="cuda"),
    lambda t: Tensor(t, dtype=np.int8),
    lambda t: Tensor(device="cuda"),
]


@pytest.mark.parametrize("use", WRONG)
def test_refused(xp: Any, use: Callable[[Any], Any]) -> None:
    tensor = Tensor(VALUES).cuda()
    with pytest.raises(THNNArgumentError):
        use(tensor)
    np.testing.assert_array_equal(tensor.cpu().numpy(), VALUES)


def test_arrays_that_no_tensor_can_be(xp: Any) -> None:
    array = xp.asarray(VALUES)
    for wrong in (array[::-1], xp.asarray(VALUES.astype(np.float16))):
        with pytest.raises(THNNArgumentError):
            Tensor.from_array(wrong)


def test_sharing_survives_copies(xp: Any) -> None:
    first = Tensor(VALUES).cuda()
    pair = [first, first.select(0, 1)]
    assert pair[0].storage is pair[1].storage
    for copied in (copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        assert copied[0].shares_storage(copied[1])
        assert not copied[0].shares_storage(first)
        copied[1].fill(7)
        expected = VALUES.copy()
        expected[1] = 7
        np.testing.assert_array_equal(copied[0].cpu().numpy(), expected)
    empty = copy.deepcopy(Tensor(dtype=np.int64, device="cuda"))
    assert (empty.shape, empty.device, empty.dtype) == ((0,), "cuda:0", np.int64)


def test_closed(xp: Any) -> None:
    tensor = Tensor(VALUES).cuda()
    tensor.close()
    assert repr(tensor) == "Tensor(closed)"
    with pytest.raises(THNNError, match="closed"):
        tensor.fill(1)
    with pytest.raises(THNNError, match="closed"):
        thnn.Abs_updateOutput(None, tensor, tensor)


def test_shown(xp: Any) -> None:
    shown = repr(Tensor(np.float32([1, 2])).cuda())
    assert shown == "Tensor([1., 2.], shape=(2,), dtype=float32, device='cuda:0')"


def test_resized_by_a_call(xp: Any) -> None:
    output = Tensor(dtype=np.float64, device="cuda")
    for shape in [(2, 3), (4, 5), (1,)]:
        x = xp.asarray(-np.ones(shape))
        thnn.Abs_updateOutput(None, x, output)
        assert output.shape == shape
        assert (output.cpu().numpy() == 1).all()
    assert Tensor(np.float64([3])).cuda().item() == 3


def test_a_view_is_resized_where_it_begins(xp: Any) -> None:
    base = Tensor(np.arange(10.0)).cuda()
    view = base.narrow(0, 6, 2)
    thnn.Abs_updateOutput(None, Tensor(-np.arange(100.0)).cuda(), view)
    assert view.tolist() == list(range(100))
    assert view.storage_offset == 6
    assert base.tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]
