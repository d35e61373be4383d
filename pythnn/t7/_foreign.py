"""Files that are no .t7 files: what they are, and what to do."""

from __future__ import annotations

import re

__all__ = ["HEAD", "describe_foreign", "goes_on", "is_numbers", "looks_ascii", "looks_binary"]

HEAD = 512  # bytes that tell what a file is

_PYTORCH = "; load it with PyTorch, or save the model's arrays with numpy there"
_MAGIC: list[tuple[bytes, str]] = [
    (
        b"version https://git-lfs",
        "a git-lfs pointer, not the file it stands for; run `git lfs pull` where it came from",
    ),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file; read it with h5py"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first (gunzip)"),
    (b"BZh", "compressed with bzip2; unpack it first (bunzip2)"),
    (b"\xfd7zXZ\x00", "compressed with xz; unpack it first (unxz)"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first (unzstd)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it first"),
    (b"Rar!", "a RAR archive; unpack it first"),
    (b"\x93NUMPY", "a numpy array (.npy); read it with numpy.load"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program or shared library (ELF)"),
    (b"\x1bLJ", "LuaJIT bytecode"),
    (b"\x1bLua", "Lua bytecode"),
]
_WEB_PAGE = re.compile(rb"\s*<(!doctype html|html|\?xml)", re.IGNORECASE)


def looks_binary(head: bytes) -> bool:
    """Whether a file begins with a type tag as in the binary format."""
    if len(head) > 4 and not any(head[:257]):
        return False  # nil, but nothing begins with that
    return len(head) >= 4 and head[0] <= 8 and head[1:4] == b"\0\0\0"


_WORDS = re.compile(rb"[A-Za-z]")
_SINGLE = b"0125"  # tags of values that are not made of others
_NAMED = b"4678"  # tags of objects and functions, in which there are words


def looks_ascii(head: bytes) -> bool:
    """Whether a file begins with a type tag as in the ascii format."""
    if re.match(rb"[0-8]\s", head) is None:
        return False
    return head[:1] not in _NAMED or _WORDS.search(head) is not None


def is_numbers(text: bytes) -> bool:
    """Whether a text is numbers alone, as far as its beginning tells."""
    return _WORDS.search(text[:HEAD]) is None and _as_text(text[:HEAD]) is not None


def goes_on(text: bytes, end: int) -> bool:
    """Whether a file of which a value ends at `end` is other text that only begins like one.

    A list of numbers, such as labels, may begin like a single value or a table of numbers. It then
    goes on.
    """
    if not text[end:].strip():
        return False
    return text[:1] in _SINGLE or _WORDS.search(text[:end]) is None


def describe_foreign(head: bytes) -> str:
    """What a file is that begins with these bytes and not with a type tag."""
    if not head:
        return "an empty file"
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return what
    if head.startswith(b"PK\x03\x04"):
        if b"data.pkl" in head or b"/version" in head or b".format_version" in head:
            return "a zip archive written by PyTorch" + _PYTORCH
        return "a zip archive (.npz, or written by PyTorch): unpack it, or load it with those"
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        return "a Python pickle, as PyTorch's older .pt and .pth files are" + _PYTORCH
    if head[257:262] == b"ustar":
        return "a tar archive (PyTorch's oldest files are such); unpack it first"
    if _WEB_PAGE.match(head):
        return "a web page, perhaps the error of a download; download it again"
    if head[:3] == b"\0\0\0" and head[3:4] in (b"\1", b"\2", b"\3", b"\4", b"\5"):
        return "a .t7 file of a big-endian machine, which cannot be read"
    if not any(head[:257]):
        return "a file of zeros, perhaps an unfinished download; download it again"
    text = _as_text(head)
    if text is not None:
        return f"plain text that begins with {text[:40]!r}"
    return f"a file of another kind that begins with the bytes {head[:8].hex(' ')}"


def _as_text(head: bytes) -> str | None:
    """The bytes as text, or None where they hold anything else."""
    try:
        text = head[: HEAD - 4].decode()  # a character may be cut off at the end
    except UnicodeDecodeError:
        return None
    return text if all(c.isprintable() or c in "\r\n\t\f" for c in text) else None
