"""Damaged, hostile and foreign files: T7Error, no memory but the file's, no recursion."""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import io
import pickle
import random
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from support.t7_bytes import (
    NIL,
    chars,
    integer,
    longs,
    number,
    reference,
    storage,
    string,
    table,
    torch,
)
from support.t7_bytes import tensor as tensor_bytes

import pythnn
from pythnn import T7Error
from pythnn.t7 import _source

T7 = Path(__file__).parents[2] / "data" / "t7"


FUZZ = Path(__file__).parents[2] / "fuzz"


def _fuzz_target():
    sys.path.append(str(FUZZ))  # at the end: its modules must hide nothing
    spec = importlib.util.spec_from_file_location("fuzz_t7", FUZZ / "t7.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fuzz = _fuzz_target()
damage = importlib.import_module("damage")


def read(data):
    return pythnn.load(io.BytesIO(data))


def double_tensor(sizes, strides, first, count=4):
    """One tensor over a storage of `count` elements."""
    memory = storage(2, "Double", np.arange(float(count)).tobytes(), count)
    return tensor_bytes(1, "Double", sizes, strides, first, memory)


# ---- Claims that the file does not keep


def test_tensor_in_its_storage():
    assert read(double_tensor([2, 2], [2, 1], 1)).tolist() == [[0, 1], [2, 3]]
    assert read(double_tensor([3], [1], 2)).tolist() == [1, 2, 3]
    assert read(double_tensor([2, 1], [3, 999], 1)).tolist() == [[0], [3]]


@pytest.mark.parametrize(
    ("sizes", "strides", "first"),
    [
        ([5], [1], 1),
        ([4], [1], 2),
        ([2, 2], [3, 1], 1),
        ([2], [4], 1),
        ([1], [1], 5),
        ([1], [1], 2**40),
        ([2**40], [1], 1),
        ([2, 2**40], [2**40, 1], 1),
    ],
)
def test_tensor_that_reaches_outside(sizes, strides, first):
    with pytest.raises(T7Error, match=r"reaches outside its storage.*\(at byte 0\)") as caught:
        read(double_tensor(sizes, strides, first))
    assert caught.value.offset == 0


@pytest.mark.parametrize(
    ("sizes", "strides", "first"),
    [
        ([-1], [1], 1),
        ([2, -2], [1, 1], 1),
        ([2], [-1], 2),
        ([2], [2**63 - 1], 1),
        ([2**62, 4], [0, 0], 1),
        ([0, 2**62], [1, 1], 1),
        ([2], [1], 0),
        ([2], [1], -5),
    ],
)
def test_tensor_that_cannot_be(sizes, strides, first):
    with pytest.raises(T7Error):
        read(double_tensor(sizes, strides, first))


def test_expanded_tensor_takes_no_memory():
    huge = read(double_tensor([2**50], [0], 2))
    assert huge.shape == (2**50,)
    assert huge[2**49] == 1
    file = io.BytesIO()
    pythnn.save(file, huge)
    assert len(file.getvalue()) < 300


SMALL = 40  # bytes that follow the claim


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (table(1, count=2**31 - 1), "a table of 2147483647 entries in the last 40 bytes"),
        (table(1, count=-1), "a table of -1 entries"),
        (integer(2) + integer(2**31 - 1), "a string of 2147483647 bytes in the last 40"),
        (integer(2) + integer(-1), "a string of -1 bytes"),
        (storage(1, "Double", b"", 2**40), "a storage of 1099511627776 elements of 8 bytes"),
        (storage(1, "Byte", b"", 41), "a storage of 41 elements of 1 bytes in the last 40"),
        (storage(1, "Byte", b"", -1), "a storage of -1 elements"),
        (torch(1, "tds.Hash", longs(2**50)), "tds.Hash of 1125899906842624 entries"),
        (torch(1, "tds.Vec", longs(-3)), "tds.Vec of -3 entries"),
        (torch(1, "torch.IntTensor", integer(-1)), "a tensor of -1 dimensions"),
        (torch(1, "torch.IntTensor", integer(2**30)), "a tensor of 1073741824 dimensions"),
        (integer(8) + integer(1) + integer(-7), "a string of -7 bytes"),
        (integer(4) + integer(-1), "an object with the index -1"),
        (integer(9), "not a .t7 file"),
        (table(1, integer(9), count=1), "a value of the unknown type 9"),
        (integer(5) + integer(2), "a boolean that is 2"),
    ],
)
def test_claims(monkeypatch, data, message):
    allocated = []
    make = _source.Elements.__init__
    monkeypatch.setattr(
        _source.Elements,
        "__init__",
        lambda self, dtype, count: allocated.append(count) or make(self, dtype, count),
    )
    with pytest.raises(T7Error, match=message):
        read(data + bytes(SMALL))
    assert sum(allocated) <= SMALL + 8


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (table(1, NIL, number(1)), "nil or nan for a key"),
        (table(1, number(np.nan), number(1)), "nil or nan for a key"),
        (table(1, number(1), reference(4, 1)), "object 1 is of type 3, here 4"),
        (tensor_bytes(1, "Double", [2], [1], 1, reference(4, 1)), "without a storage"),
        (tensor_bytes(1, "Double", [2], [1], 1, NIL), "size 2 without memory"),
        (tensor_bytes(1, "Double", [2], [1], 1, number(3)), "without a storage"),
        (
            tensor_bytes(1, "Double", [2], [1], 1, storage(2, "Float", bytes(8), 2)),
            "a torch.DoubleTensor in a torch.FloatStorage",
        ),
        (tensor_bytes(1, "Int", [1] * 33, [1] * 33, 1, NIL), "33 dimensions; up to 32"),
    ],
)
def test_wrong_graphs(data, message):
    with pytest.raises(T7Error, match=message):
        read(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3\n1\n1000000\n", "a table of 1000000 entries"),
        ("2\n1000000\nabc\n", "a string of 1000000 bytes in the last 4"),
        ("1\nx\n", "no number where one should be"),
        ("1\n1_0\n", "no number where one should be"),
        ("2\n1.5\n", "no whole number"),
        ("3\n99999999999\n1\n", "more than 32 bits"),
        ("4\n1\n3\nV 1\n19\ntorch.DoubleStorage\n1000000\n1 2 3\n", "a storage of 1000000"),
        ("4\n1\n3\nV 1\n16\ntorch.IntStorage\n2\n1 x\n", "an element that is no number"),
        ("4\n1\n3\nV 1\n16\ntorch.IntStorage\n2\n1 99999999999\n", "an element that is no number"),
        ("4\n1\n3\nV 1\n16\ntorch.IntStorage\n3\n1 2\n", "a storage of 3 elements"),
        ("1\n", "no number where"),
    ],
)
def test_wrong_text(text, message):
    with pytest.raises(T7Error, match=message):
        read(text.encode())


def module(index, fields):
    """A module with one field."""
    return torch(index, "nn.Identity", table(index + 1, string(b"x"), fields))


def test_modules_that_share_a_large_table():
    entries = [number(i + 1) + number(0) for i in range(2000)]
    entries.append(number(2001) + tensor_bytes(2, "Double", [], [], 1, NIL))
    shared = table(1, *entries, count=2001)
    modules = [number(i + 2) + module(10 + 2 * i, reference(3, 1)) for i in range(400)]
    data = table(5, number(1), shared, *modules, count=401)
    with pytest.raises(T7Error, match="without end"):
        read(data)
    assert len(read(table(5, number(1), shared, *modules[:5], count=6))) == 6


def test_modules_with_tables_without_end():
    cycle = table(1, number(1), reference(3, 1))
    with pytest.raises(T7Error, match="without end"):
        read(module(10, cycle))
    ladder = table(60, number(1), number(0))
    for i in range(59, 20, -1):
        ladder = table(i, number(1), ladder, number(2), reference(3, i + 1))
    with pytest.raises(T7Error, match="without end"):
        read(module(10, ladder))
    rungs = read(ladder)
    assert rungs[0] is rungs[1]


def test_module_with_an_expanded_tensor():
    huge = double_tensor([2**40], [0], 1)
    assert read(huge).size == 2**40
    with pytest.raises(T7Error, match="1099511627776 elements in a module"):
        read(module(10, huge))
    assert read(module(10, double_tensor([1000], [0], 1))).x.shape == (1000,)


# ---- Types of tensors that Torch does not have


def typed_module(index, name, kind):
    return torch(index, "nn.Tanh", table(index + 1, string(name), kind))


@pytest.mark.parametrize("name", ["_type", "intype", "outtype", "moduleType"])
@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (string(b"torch.QuarterTensor"), "'torch.QuarterTensor'"),
        (string(b"float"), "'float'"),
        (string(b""), "''"),
        (number(3), "3"),
        (table(90), "list"),
    ],
)
def test_module_of_an_unknown_type(name, kind, found):
    what = rf"{name} of nn.Tanh is {found}, which is no type of tensors .*\(at byte 0\)"
    with pytest.raises(T7Error, match=what) as caught:
        read(typed_module(1, name.encode(), kind))
    assert caught.value.offset == 0


def test_place_of_a_module_of_an_unknown_type():
    inner = typed_module(20, b"_type", string(b"torch.QuarterTensor"))
    fine = typed_module(30, b"_type", string(b"torch.CudaTensor"))
    layers = table(10, number(1), fine, number(2), inner)
    net = torch(11, "nn.Sequential", table(12, string(b"modules"), layers))
    with pytest.raises(T7Error, match=r"_type of nn.Tanh at opt.net.modules.2 is 'torch.Quar"):
        read(table(13, string(b"opt"), table(14, string(b"net"), net)))
    vec = torch(15, "tds.Vec", longs(1) + net)
    with pytest.raises(T7Error, match=r"nn.Tanh at 1.modules.2 is"):
        read(vec)


def test_place_at_the_end_of_a_long_path():
    deep = b"".join(integer(3) + integer(i) + integer(1) + number(i) for i in range(10, 20_000))
    with pytest.raises(T7Error, match=r"nn.Tanh at …(\.\d+){19}\.19999 is"):
        read(deep + typed_module(1, b"_type", string(b"torch.QuarterTensor")))


@pytest.mark.parametrize(
    "name", ["torch.QuarterTensor", "torch.Tensor", "torch.CudaStorage2Storage"]
)
def test_tensor_of_an_unknown_type(name):
    with pytest.raises(T7Error, match=f"a {name}, a type that Torch does not have") as caught:
        read(module(1, torch(10, name, integer(0))))
    assert caught.value.offset > 0


def test_module_of_a_type_that_nothing_computes_in():
    whole = read(typed_module(1, b"_type", string(b"torch.LongTensor")))
    assert whole.type() == "torch.LongTensor"
    with pytest.raises(ValueError, match=r"expected one of torch.FloatTensor, .*LongTensor"):
        _ = whole.dtype
    assert whole.float().dtype == np.float32


# ---- Every file, cut off and changed


@pytest.mark.parametrize("name", ["tables_nested", "tensors_layout", "closure", "criteria_class"])
@pytest.mark.parametrize("kind", [".t7", ".ascii.t7"])
def test_cut_off_anywhere(name, kind):
    data = (T7 / (name + kind)).read_bytes()
    # The last characters of text may be its newline, and the rest of a number.
    end = len(data) if kind == ".t7" else data.rstrip().rfind(b"\n")
    for length in range(0, end, 1 if len(data) < 1000 else 7):
        with pytest.raises(T7Error):
            read(data[:length])


@pytest.mark.parametrize("seed", range(4))
def test_fuzzing(seed):
    rng = random.Random(seed)  # noqa: S311
    corpus = [path.read_bytes() for path in sorted(T7.glob("*.t7")) if path.stat().st_size < 5000]
    assert len(corpus) >= 8
    loaded = sum(fuzz.fuzz_one(damage.damage_bytes(rng.choice(corpus), rng)) for _ in range(500))
    assert 20 < loaded < 480  # neither nothing nor all was damaged


@pytest.mark.parametrize("seed", range(4, 12))
def test_fuzzing_every_file(seed):
    rng = random.Random(seed)  # noqa: S311
    corpus = [path.read_bytes() for path in sorted(T7.glob("*.t7"))]
    corpus += [path.read_bytes() for path in sorted((T7.parent / "nn" / "t7").glob("*.t7"))]
    for _ in range(5000):
        fuzz.fuzz_one(damage.damage_bytes(rng.choice(corpus), rng))


@pytest.mark.parametrize("kind", ["*.t7", "*.ascii.t7"])
def test_fuzzing_of_items(kind):
    rng = random.Random(1)  # noqa: S311
    paths = [path for path in sorted(T7.glob(kind)) if path.stat().st_size < 5000]
    corpus = fuzz.Corpus([path.read_bytes() for path in paths])
    assert {item.kind for entry in corpus.entries for item in entry.items} == {
        "int", "long", "double", "chars", "elements",
    }  # fmt: skip
    assert b"torch.DoubleTensor" in corpus.strings
    for entry in corpus.entries:  # items follow each other up to the end, but for newlines
        ends = [0, *(item.end for item in entry.items), len(entry.data)]
        starts = [*(item.start for item in entry.items), len(entry.data)]
        between = [entry.data[end:start] for end, start in zip(ends, starts, strict=False)]
        assert not b"".join(between).strip()
    loaded = sum(fuzz.fuzz_one(corpus.next(rng)) for _ in range(500))
    assert 20 < loaded < 480


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python has no sys.monitoring")
def test_fuzzing_goes_on_from_files_that_reach_something(tmp_path):
    done = subprocess.run(
        [sys.executable, FUZZ / "t7.py", "--count", "2000", "--seed", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    kept = re.search(r"for which (\d+) files were kept", done.stdout)
    assert int(kept[1]) > 0


def test_fuzzing_sees_an_array_that_reaches_outside():
    memory = np.zeros(8)
    outside = np.lib.stride_tricks.as_strided(memory[:2], (9,), (8,))
    with pytest.raises(IndexError):
        fuzz.check_bounds(_over(memory, outside))


def _over(memory, outside):
    class View(np.ndarray):
        base = property(lambda _: memory)

    return outside.view(View)


def test_hostile_nesting():
    depth = 50_000
    data = b"".join(integer(3) + integer(i) + integer(1) + number(1) for i in range(1, depth))
    with pytest.raises(T7Error, match="the file ends"):
        read(data)
    value = read(data + number(1))
    while isinstance(value, list):
        value = value.pop()
    assert value == 1


# ---- Files that are something else


def zipped(name):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, b"\x80\x02}q\x00.")
    return file.getvalue()


FOREIGN_FILES = [
    (b"", "an empty file"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:12\n", "git lfs pull"),
    (zipped("archive/data.pkl"), "a zip archive written by PyTorch; load it with PyTorch"),
    (zipped("array.npy"), "a zip archive"),
    (pickle.dumps({"a": 1}, protocol=2), "a Python pickle, as PyTorch's"),
    (b"\x89HDF\r\n\x1a\n" + bytes(20), "an HDF5 file"),
    (gzip.compress(b"x", mtime=0), "compressed with gzip"),
    (b"BZh91AY", "compressed with bzip2"),
    (b"\x93NUMPY\x01\x00", r"numpy.load"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"<!DOCTYPE html><html>", "a web page"),
    (b"require 'nn'\nmodel = nn.Sequential()\n", "plain text that begins with \"require 'nn'"),
    (b"7 reasons to\n", "no whole number"),
    (bytes(257) + b"ustar" + bytes(200), "a tar archive"),
    (b"\0\0\0\4\0\0\0\1", "big-endian"),
    (b"\0\0\0", "a file of zeros"),
    (bytes(range(200, 256)), "a file of another kind that begins with the bytes c8 c9"),
]


@pytest.mark.parametrize(
    ("data", "message"), FOREIGN_FILES, ids=[message for _, message in FOREIGN_FILES]
)
def test_foreign_files(data, message):
    with pytest.raises(T7Error, match=message):
        read(data)


def test_errors_are_value_errors_with_their_place():
    with pytest.raises(ValueError, match="at byte 12") as caught:
        read(integer(3) + integer(1) + integer(1) + chars(b"")[:4])
    assert caught.value.offset == 12
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.args, again.offset) == (T7Error, caught.value.args, 12)


def test_offset_counts_from_where_the_file_stood():
    file = io.BytesIO(b"head" + string(b"x")[:7])
    file.seek(4)
    with pytest.raises(T7Error, match="at byte"):
        pythnn.load(file)


def test_module_with_one_table_twice():
    twice = table(20, number(1), table(21, number(1), number(7)), number(2), reference(3, 21))
    assert read(module(10, twice)).x == [[7], [7]]
