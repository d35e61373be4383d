"""Modules as text, in the form of Lua Torch's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._tensor import Tensor

__all__ = ["branches", "numbered", "shape_text", "tree"]


def shape_text(value: Any) -> str:
    """The shape of an output: sizes, or those of each entry of a table."""
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(map(shape_text, value)) + "}"
    if isinstance(value, (Tensor, np.ndarray)):
        return " x ".join(map(str, value.shape))
    return type(value).__name__


def tree(module: Any, lines: list[str]) -> str:
    """The name of a module with lines in braces."""
    inside = "\n".join(lines).replace("\n", "\n  ")
    return f"{module.typename()} {{\n  {inside}\n}}"


def numbered(modules: list[Any]) -> list[str]:
    """Each module after its number."""
    return [f"({i + 1}): {module!r}" for i, module in enumerate(modules)]


def branches(module: Any) -> str:
    """A container whose modules stand side by side between input and output."""
    lines = ["input"]
    for i, text in enumerate(numbered(module.modules)):
        is_last = i + 1 == len(module.modules)
        mark, rest = ("   `-> ", "       ") if is_last else ("  |`-> ", "  |    ")
        lines.append(mark + text.replace("\n", f"\n{rest}"))
    return tree(module, [*lines, "   ... -> output"])
