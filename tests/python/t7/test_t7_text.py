"""The ascii format: numbers as any C library prints them, text of other programs, garbage."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from support.bounds import assert_identical

import pythnn
from pythnn import T7Error
from pythnn.t7 import TorchObject

FORMATS = ["binary", "ascii"]


def written(value, format):
    file = io.BytesIO()
    pythnn.save(file, value, format)
    return file.getvalue()


def read(data):
    return pythnn.load(io.BytesIO(data))


def _everyone_s_spellings() -> list[tuple[str, float]]:
    """How C libraries spell NaN and infinity, with either sign, small and capital."""
    nan = ["nan", "nan(ind)", "nan(snan)", "nan(0x8000000000000)", "NaNQ", "NaNS"]
    nan += ["1.#IND", "1.#QNAN", "1.#SNAN", "1.#IND00", "1.#QNAN0", "1.#IND0000000000000e+000"]
    infinite = ["inf", "infinity", "1.#INF", "1.#INF00", "1.#INF000e+000"]
    found = []
    for sign in ("", "-", "+"):
        for change in (str, str.lower, str.upper):
            found += [(sign + change(word), math.nan) for word in nan]
            found += [(sign + change(word), float(f"{sign}inf")) for word in infinite]
    return found


def test_nan_and_infinity_of_all_c_libraries():
    spellings = _everyone_s_spellings()
    wanted = [value for _, value in spellings]
    found = [read(f"1\n{text}\n".encode()) for text, _ in spellings]
    np.testing.assert_array_equal(found, wanted)
    words = " ".join(text for text, _ in spellings)
    for name, dtype in (("Float", np.float32), ("Double", np.float64)):
        head = f"4\n1\n3\nV 1\n{12 + len(name)}\ntorch.{name}Tensor\n1\n{len(wanted)}\n1\n1\n"
        storage = f"4\n2\n3\nV 1\n{13 + len(name)}\ntorch.{name}Storage\n{len(wanted)}\n"
        tensor = read(f"{head}{storage}{words}\n".encode())
        assert_identical(tensor, np.array(wanted, dtype))


@pytest.mark.parametrize(
    "text", ["1.#", "1.#INX", "nan(", "nanx", "2.#INF", "1.#INF5", "--inf", ""]
)
def test_other_words_are_no_numbers(text):
    with pytest.raises(T7Error, match="no number"):
        read(f"1\n{text}\n".encode())


TEXTS_OF_NUMBERS = {
    "matrix": "2 0 0 0\n0 0 5 1\n3 3 0 2\n" * 50,
    "labels": "1\n3\n2\n2\n1\n",
    "flags": "5 1 0 1 1 0\n1 0 0 1 1 0\n",
    "zeros": "0 1 2\n3 4 5\n",
    "table": "1 2.5 3.5\n4 5 6\n",
    "indices": "3 3 0 2\n1 1 1 1\n",
    "column of fours": "4\n4\n1\n2\n",
    "cut string": "2\n900\n1\n",
    "sevens": "7 7 1\n8 8 1\n",
    "words after a number": "1 5 is a number\n",
}


@pytest.mark.parametrize("text", TEXTS_OF_NUMBERS.values(), ids=TEXTS_OF_NUMBERS)
def test_a_text_of_numbers_is_no_t7_file(text, tmp_path):
    path = tmp_path / "numbers.txt"
    path.write_text(text)
    with pytest.raises(T7Error, match="not a .t7 file of Lua Torch but plain text that begins"):
        pythnn.load(path)


def test_short_values_in_ascii_files(tmp_path):
    """What a text of numbers is told apart from: nothing but white space stands behind a value."""
    path = tmp_path / "value.t7"
    for value in (None, True, False, 7, -1.5, "", "12\n3", [1, 2, [3]], {}, {2: 5}):
        pythnn.save(path, value, "ascii")
        assert pythnn.load(path) == value
        path.write_bytes(path.read_bytes() + b"\n \n")
        assert pythnn.load(path) == value
    pythnn.save(path, ["text"], "ascii")
    with path.open("ab") as file:
        pythnn.save(file, 1, "ascii")
    assert pythnn.load(path) == ["text"]


# Signalling NaNs, the largest number, infinity: what memory that nobody wrote to may hold.
_BITS = {
    np.float16: [0x7D01, 0xFD01, 0x7BFF, 0x7C00],
    np.float32: [0x7FA00001, 0xFFA12345, 0x7F7FFFFF, 0x7F800000],
    np.float64: [0x7FF4000000000001, 0xFFF4000000000001, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", _BITS)
def test_garbage_in_buffers_is_no_warning(dtype, format):
    bits = np.array(_BITS[dtype], f"u{np.dtype(dtype).itemsize}").view(dtype)
    kind = {np.float16: "CudaHalf", np.float32: "Float", np.float64: "Double"}[dtype]
    fields = {"_type": f"torch.{kind}Tensor", "output": bits, "gradInput": bits.copy()}
    weights = {"weight": np.ones((2, 3), dtype), "gradWeight": np.resize(bits, (2, 3))}
    model = read(written(TorchObject("nn.Linear", {**fields, **weights}), format))
    assert read(written(model.float(), format)).double().float().dtype == np.float32
    assert model.getParameters()[0].tolist() == [1] * 6
