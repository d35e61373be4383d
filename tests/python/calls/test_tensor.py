"""pythnn.Tensor: contents, views, life, and what it shares with arrays."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import weakref

import numpy as np
import pytest
from support.memory import counting_memory

import pythnn
from pythnn import Tensor, THNNArgumentError, THNNError, thnn

DTYPES = [np.float32, np.float64, np.int64, np.int32]


def numbers(shape=(2, 3), dtype=np.float32):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


# ---- Making


@pytest.mark.parametrize("dtype", DTYPES)
def test_copy_of_an_array(dtype):
    a = numbers(dtype=dtype)
    t = Tensor(a)
    assert (t.shape, t.strides, t.dtype, t.ndim) == ((2, 3), (3, 1), dtype, 2)
    assert (t.size, len(t), t.nbytes) == (6, 2, a.nbytes)
    assert t.is_contiguous
    a[:] = 9
    np.testing.assert_array_equal(t.numpy(), numbers(dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_empty(dtype):
    t = Tensor(dtype=dtype)
    assert (t.shape, t.strides, t.dtype, t.ndim, t.size) == ((0,), (1,), dtype, 1, 0)
    assert t.numpy().shape == (0,)
    assert t.numpy().dtype == dtype
    assert np.asarray(t).shape == (0,)
    assert repr(t)


def test_conversions():
    assert Tensor([1.5, 2.5]).dtype == np.float64
    assert Tensor([[1, 2]]).dtype == np.int64
    assert Tensor([1, 2], dtype=np.float32).dtype == np.float32
    assert Tensor(np.ones(2, bool), dtype="float32").tolist() == [1, 1]
    assert Tensor(numbers().astype(">f4"), dtype=np.float32).tolist() == numbers().tolist()
    assert Tensor(Tensor([1.0])).tolist() == [1.0]
    assert Tensor(np.array(3.0)).shape == (1,)
    assert Tensor(np.zeros((0, 3))).shape == (0,)
    assert Tensor(numbers()[:, ::-2]).tolist() == [[2, 0], [5, 3]]
    assert Tensor([1.9, -1.9], dtype=np.int32).tolist() == [1, -1]


@pytest.mark.parametrize(
    "make",
    [
        Tensor,
        lambda: Tensor([True]),
        lambda: Tensor(["a"]),
        lambda: Tensor([None]),
        lambda: Tensor([1j], dtype=np.float32),
        lambda: Tensor(np.zeros(2, np.float16)),
        lambda: Tensor(dtype=np.uint8),
        lambda: Tensor(numbers().astype(">f4")),
        lambda: Tensor.empty(2, -1, dtype=np.float32),
        lambda: Tensor.empty(2, 0, dtype=np.float32),
        lambda: Tensor.empty(2.0, dtype=np.float32),
        lambda: Tensor.empty(2**63, dtype=np.float32),
    ],
)
def test_refused(make):
    with pytest.raises(THNNArgumentError, match="expected"):
        make()


def test_too_large():
    with pytest.raises(THNNError):
        Tensor.empty(2**62, 2**62, dtype=np.float32)
    with pytest.raises(THNNError):
        Tensor.empty(2**61, dtype=np.float32)


def test_empty_and_zeros():
    assert Tensor.empty(2, 3, dtype=np.float32).shape == (2, 3)
    assert Tensor.empty((2, 3), dtype=np.float32).shape == (2, 3)
    assert Tensor.zeros(2, dtype=np.int32).tolist() == [0, 0]
    assert Tensor.empty(0, dtype=np.float32).shape == (0,)


# ---- Sharing memory with arrays


def test_array_shares_memory():
    t = Tensor(numbers())
    a = t.numpy()
    a[0, 0] = 7
    assert t.numpy()[0, 0] == 7
    t.fill(3)
    assert (a == 3).all()
    assert a.flags.writeable


def test_array_keeps_memory():
    t = Tensor(numbers((100, 100)))
    a, b, c = t.numpy(), np.asarray(t), np.from_dlpack(t)
    t.close()
    gc.collect()
    others = [Tensor.zeros(100, 100, dtype=np.float32) for _ in range(20)]
    for kept in (a, b, c):
        np.testing.assert_array_equal(kept, numbers((100, 100)))
    del others


@pytest.mark.parametrize("export", [Tensor.numpy, np.asarray, np.from_dlpack])
def test_growth_leaves_arrays_alone(export):
    t = Tensor(numbers())
    a = export(t)
    t.resize(1000, 1000).fill(7)
    np.testing.assert_array_equal(a, numbers())
    thnn.Threshold_updateOutput(None, Tensor(np.ones((2000, 1000), np.float32)), t, 0.0, 0.0, False)
    np.testing.assert_array_equal(a, numbers())


def test_memory_goes_with_its_last_user():
    with counting_memory() as memory:
        t = Tensor(numbers((10, 10)))
        a = t.numpy()
        view = a[2:, ::2]
        b = np.asarray(t)
        t.close()
        del a
        gc.collect()
        assert memory.live > 0
        assert view[0, 0] == 20
        del view, b
        gc.collect()
        assert memory.live == 0


def test_array_interface_and_dlpack():
    t = Tensor(numbers((4, 6)))
    view = t.select(0, 2).narrow(0, 1, 3)
    for array in (np.asarray(view), np.from_dlpack(view), np.array(view, copy=True)):
        assert array.tolist() == [13, 14, 15]
    assert np.asarray(t.transpose(0, 1)).tolist() == numbers((4, 6)).T.tolist()
    np.asarray(view)[0] = -1
    assert t.numpy()[2, 1] == -1
    assert t.__dlpack_device__() == (1, 0)
    assert np.add(t, 1).shape == (4, 6)


def test_from_numpy_shares_memory():
    a = numbers((4, 6))
    t = Tensor.from_numpy(a[1:, ::2])
    assert (t.shape, t.strides) == ((3, 3), (6, 2))
    t.fill(-1)
    assert (a[1:, ::2] == -1).all()
    assert a[0, 0] == 0
    a[1, 0] = 5
    assert t.numpy()[0, 0] == 5
    assert np.shares_memory(t.numpy(), a)


def test_from_numpy_keeps_the_array():
    a = numbers()
    alive = weakref.ref(a)
    count = sys.getrefcount(a)
    t = Tensor.from_numpy(a)
    assert sys.getrefcount(a) == count + 1
    out = Tensor(dtype=np.float32)
    thnn.Threshold_updateOutput(None, t, out, 0.0, 0.0, True)
    t.close()
    del a
    gc.collect()
    assert alive() is not None
    assert out.tolist() == numbers().tolist()
    array = out.numpy()
    out.close()
    gc.collect()
    assert alive() is not None
    assert array.tolist() == numbers().tolist()
    del array
    gc.collect()
    assert alive() is None


def test_from_numpy_cannot_grow():
    a = numbers()
    t = Tensor.from_numpy(a)
    with pytest.raises(THNNError, match="not resizable"):
        t.resize(100)
    assert t.shape == (2, 3)
    assert t.resize(3).shape == (3,)
    assert Tensor.from_numpy(np.zeros((0, 3))).shape == (0,)
    assert Tensor.from_numpy(np.array(2.0)).shape == (1,)


@pytest.mark.parametrize(
    "array",
    [
        [1.0],
        np.ones(3, np.float16),
        np.ones(3, ">f4"),
        np.ones(3)[::-1],
        np.broadcast_to(np.ones(1), (3,)),
        np.lib.stride_tricks.as_strided(np.zeros(4), (2, 3), (8, 8)),
        np.zeros(25, np.uint8)[1:].view(np.float64),
        np.frombuffer(b"12345678"),
    ],
)
def test_from_numpy_refuses(array):
    with pytest.raises(THNNArgumentError, match="Tensor.from_numpy: argument #1 'array'"):
        Tensor.from_numpy(array)


# ---- Contents


def test_fill_zero_copy():
    t = Tensor(numbers())
    assert t.fill(2) is t
    assert t.tolist() == [[2, 2, 2]] * 2
    assert t.zero().tolist() == [[0, 0, 0]] * 2
    assert t.copy_from(range(6)).tolist() == numbers().tolist()
    assert t.copy_from(Tensor([[5, 4], [3, 2], [1, 0]])).tolist() == [[5, 4, 3], [2, 1, 0]]
    with pytest.raises(THNNArgumentError, match="expected 6 elements, found 5"):
        t.copy_from(range(5))
    with pytest.raises(THNNArgumentError, match="Tensor.fill"):
        t.fill("x")
    with pytest.raises(THNNArgumentError, match="Tensor.fill"):
        Tensor([1]).fill(1.5)
    with pytest.raises(THNNArgumentError, match="Tensor.fill"):
        Tensor([1], dtype=np.int32).fill(2**40)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_copies_of_a_tensor_into_another_and_into_itself(dtype):
    t, other = Tensor(np.arange(6), dtype=dtype), Tensor.zeros(3, 2, dtype=dtype)
    assert other.copy_from(t).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert other.transpose(0, 1).copy_from(t).tolist() == [[0, 1, 2], [3, 4, 5]]
    t.narrow(0, 1, 5).copy_from(t.narrow(0, 0, 5))
    assert t.tolist() == [0, 0, 1, 2, 3, 4]
    with pytest.raises(THNNArgumentError, match="6 elements"):
        other.copy_from(Tensor(np.ones(5), dtype=dtype))


def test_lists_that_are_no_arrays():
    endless: list = []
    endless.append(endless)
    for source in ([[1.0], [1.0, 2.0]], endless):
        with pytest.raises(THNNArgumentError, match="#1 .source.: expected numbers, found what"):
            Tensor(source)
        with pytest.raises(THNNArgumentError, match=r"Tensor\.copy_from: argument #1 'source'"):
            Tensor(np.ones(3)).copy_from(source)


def test_copies():
    t = Tensor(numbers()).transpose(0, 1)
    assert not t.is_contiguous
    c = t.clone()
    assert c.is_contiguous
    assert not c.shares_storage(t)
    assert c.tolist() == t.tolist()
    assert t.contiguous().is_contiguous
    assert c.contiguous().shares_storage(c)
    assert t.astype(np.int32).tolist() == t.tolist()
    assert Tensor([3.5]).item() == 3.5
    with pytest.raises(THNNError, match="one element"):
        t.item()


# ---- Sizes and views


def test_resize():
    t = Tensor(numbers())
    storage = t.storage
    assert t.resize(3, 2).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert t.resize((2,)).tolist() == [0, 1]
    assert t.resize().shape == (0,)
    assert t.resize(6).tolist() == [0, 1, 2, 3, 4, 5]
    assert t.storage is storage
    for bad in ((-1,), (2, 0), ("a",), (1.5,)):
        with pytest.raises(THNNArgumentError, match="Tensor.resize"):
            t.resize(*bad)
    assert t.shape == (6,)


def test_views():
    a = numbers((4, 5, 6))
    t = Tensor(a)

    def same(view, array):
        assert view.shares_storage(t)
        np.testing.assert_array_equal(view.numpy(), array)

    same(t.select(1, 2), a[:, 2])
    same(t.select(-1, -1), a[..., -1])
    same(t.select(0, 1).select(0, 1).select(0, 1), a[1, 1, 1:2])
    same(t.narrow(1, 1, 3), a[:, 1:4])
    same(t.transpose(0, 2), a.transpose(2, 1, 0))
    same(t.transpose(0, -1), a.transpose(2, 1, 0))
    same(t.unfold(2, 3, 2), np.lib.stride_tricks.sliding_window_view(a, 3, 2)[:, :, ::2])
    same(t.view(20, -1), a.reshape(20, 6))
    same(t.view((120,)), a.ravel())
    same(t.narrow(0, 0, 1).squeeze(), a[0])
    same(t.narrow(0, 0, 1).squeeze(0), a[0])
    same(t.unsqueeze(1), a[:, None])
    same(t.unsqueeze(-1), a[..., None])
    same(t.narrow(1, 0, 1).expand(4, 7, 6), np.broadcast_to(a[:, :1], (4, 7, 6)))
    same(t.as_strided((2, 3), (1, 10), 4), a.ravel()[[[4, 14, 24], [5, 15, 25]]])
    assert t.narrow(0, 1, 2).storage_offset == 30


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.select(3, 0),
        lambda t: t.select(0, 4),
        lambda t: t.select(0, -5),
        lambda t: t.select(0, 1.0),
        lambda t: t.narrow(0, 3, 2),
        lambda t: t.narrow(0, -1, 1),
        lambda t: t.narrow(0, 0, 0),
        lambda t: t.transpose(0, 3),
        lambda t: t.transpose(-4, 0),
        lambda t: t.unfold(0, 5, 1),
        lambda t: t.unfold(0, 1, 0),
        lambda t: t.view(7, -1),
        lambda t: t.view(-1, -1),
        lambda t: t.transpose(0, 1).view(120),
        lambda t: t.expand(3, 5, 6),
        lambda t: t.unsqueeze(4),
        lambda t: t.squeeze(3),
        lambda t: t.as_strided((2,), (-1,)),
        lambda t: t.as_strided((2,), (1, 1)),
        lambda t: t.as_strided((2,), (1,), -1),
    ],
)
def test_bad_views(view):
    with pytest.raises(THNNError):
        view(Tensor(numbers((4, 5, 6))))


def test_set():
    t, other = Tensor(numbers()), Tensor(dtype=np.float32)
    assert other.set(t) is other
    assert other.shares_storage(t)
    assert other.tolist() == numbers().tolist()
    for bad in (Tensor([1.0]), None, numbers()):
        with pytest.raises(THNNArgumentError, match=r"Tensor\.set"):
            other.set(bad)


def test_views_into_one_flat_storage():
    flat = Tensor.zeros(10, dtype=np.float32)
    weight, bias = flat.as_strided((2, 3), (3, 1)), flat.as_strided((2,), (1,), 6)
    flat.copy_from(range(10))
    assert weight.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert bias.tolist() == [6, 7]
    assert flat.storage is weight.storage
    assert flat.storage.size == 10
    assert flat.storage.numpy().tolist() == list(range(10))


# ---- Life


def test_closed():
    t = Tensor(numbers())
    with t as same:
        assert same is t
        assert not t.closed
    assert t.closed
    t.close()
    t.free()
    assert repr(t) == "Tensor(closed)"
    for use in (
        lambda: t.shape,
        t.numpy,
        lambda: t.fill(1),
        lambda: t.resize(2),
        lambda: t.select(0, 0),
        lambda: t.set(Tensor(numbers())),
        lambda: Tensor(numbers()).set(t),
        lambda: Tensor(numbers()).shares_storage(t),
        lambda: np.asarray(t),
        lambda: pickle.dumps(t),
        lambda: t.storage,
        t.__enter__,
    ):
        with pytest.raises(THNNError, match="closed"):
            use()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_duplicates(duplicate):
    for t in (
        Tensor(numbers()),
        Tensor(numbers((2, 3, 4))).transpose(0, 2).narrow(1, 1, 2),
        Tensor(dtype=np.int32),
        Tensor.from_numpy(numbers()[:, ::2]),
    ):
        other = duplicate(t)
        assert (other.dtype, other.shape, other.strides) == (t.dtype, t.shape, t.strides)
        assert other.tolist() == t.tolist()
        assert not t.size or not other.shares_storage(t)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_duplicates_keep_sharing(duplicate):
    flat = Tensor(numbers((10,)))
    first, second, third = duplicate([flat, flat.narrow(0, 2, 3), Tensor(numbers())])
    assert first.shares_storage(second)
    assert not first.shares_storage(third)
    first.fill(-1)
    assert second.tolist() == [-1, -1, -1]
    assert flat.tolist() == list(range(10))


def test_copy_shares():
    t = Tensor(numbers())
    assert copy.copy(t).shares_storage(t)


def test_repr():
    assert repr(Tensor([[1.0, 2.0]])) == "Tensor([[1., 2.]], shape=(1, 2), dtype=float64)"
    assert len(repr(Tensor.zeros(1000, 1000, dtype=np.float32))) < 2000
    assert "6 float32" in repr(Tensor(numbers()).storage)


def test_storage_is_not_made_by_hand():
    with pytest.raises(TypeError):
        pythnn.Storage()


def test_no_leaks():
    def use():
        t = Tensor(numbers((3, 4)))
        t.select(0, 1).narrow(0, 1, 2).clone()
        t.transpose(0, 1).contiguous()
        t.view(12).expand(5, 12)
        t.resize(10, 10).numpy()
        copy.deepcopy([t, t.narrow(0, 0, 2)])
        pickle.loads(pickle.dumps(t))
        Tensor.from_numpy(numbers())
        np.from_dlpack(t)
        with pytest.raises(THNNError):
            t.select(0, 1000)
        with pytest.raises(THNNError):
            Tensor.from_numpy(numbers()).resize(100)

    use()
    with counting_memory() as memory:
        for _ in range(5):
            use()
        gc.collect()
        assert memory.live == 0


def test_failing_allocations():
    """Whatever allocation fails: a clean error, the tensor as before, no leak."""
    a = numbers((3, 4))

    def use():
        t = Tensor(a)
        u = t.select(0, 1).clone()
        return [t.resize(100, 100), u, Tensor.from_numpy(a), t.view(-1)]

    use()
    failures = 0
    with counting_memory() as memory:
        for n in range(1, 200):
            memory.fail_from(n)
            try:
                made = use()
            except pythnn.THNNMemoryError as error:
                failures += 1
                assert "not enough memory" in str(error)
            else:
                del made
                break
            finally:
                memory.fail_from(0)
            gc.collect()
            assert memory.live == 0
        assert failures > 3
        gc.collect()
        assert memory.live == 0
