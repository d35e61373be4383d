"""What the extension modules offer to Python besides guards: read from ``pythnn/_native``."""

from __future__ import annotations

from pathlib import Path

from .headers import parse, preprocess

__all__ = ["native_declarations"]

_FOLDER = Path(__file__).resolve().parents[1] / "_native"


def native_declarations(compiler: list[str], include: Path, header: str) -> str:
    """The declarations of a header and of those of its folder that it includes, for cffi.

    Functions with PYTHNN_API are called by Python; those that are ``extern`` without it are
    Python's own.
    """
    found = parse(preprocess(compiler, [include, _FOLDER], [header]), _FOLDER)
    lines = [*found.types, *found.variables, *(f"{f.prototype()};" for f in found.functions)]
    if found.imported:
        own = " ".join(f"{f.prototype()};" for f in found.imported)
        lines.append(f'extern "Python+C" {{ {own} }}')
    return "\n".join(["", *lines, ""])
