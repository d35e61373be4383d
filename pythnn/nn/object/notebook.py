"""Modules as notebooks show them: a tree that can be folded."""

from __future__ import annotations

import warnings
from typing import Any

from ..._html import Html, element, folded, join, quiet
from .text import shape_text

__all__ = ["html_of_module"]

MOST_LINES = 1000
"""Modules that are shown; a page of more would be of no use."""
MOST_DEPTH = 50
"""Modules in modules, likewise."""
LONGEST_TEXT = 100
"""Characters of what a layer says of itself."""


def html_of_module(module: Any) -> Html:
    """A module and all inside, with the shapes of their last outputs and their parameters."""
    return _Tree().lines(module, "", [])


class _Tree:
    def __init__(self) -> None:
        self.left = MOST_LINES

    def lines(self, module: Any, name: str, above: list[Any]) -> Html:
        """A module, and what is inside it folded."""
        self.left -= 1
        inside = _inside(module)
        facts = _facts(module)
        if any(module is one for one in above):
            return _line(name, module.typename(), "it is inside itself")
        if not inside:
            return _line(name, _text_of(module), *facts)
        line = join(name, element("b", module.typename()), quiet(*facts))
        if len(above) >= MOST_DEPTH or self.left <= 0:
            return element("div", line, " \N{HORIZONTAL ELLIPSIS}")
        children = []
        for index, child in enumerate(inside, 1):
            if self.left <= 0:
                rest = f"{len(inside) - index + 1:,} more"
                children.append(_line("", f"\N{HORIZONTAL ELLIPSIS} and {rest}"))
                break
            children.append(self.lines(child, f"({index}) ", [*above, module]))
        return folded(line, *children, is_open=not above)


def _line(name: str, text: str, *facts: str) -> Html:
    return element("div", name, text, quiet(*facts))


def _inside(module: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of objects of unknown classes, which are left out
        return list(module.children())


def _facts(module: Any) -> list[str]:
    """The shape of the last output, and the number of parameters."""
    output = module.field("output")
    shape = shape_text(output) if getattr(output, "size", 0) or isinstance(output, list) else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parameters, _ = module.parameterTensors() or ([], [])
        count = sum({tensor.address: tensor.size for tensor in parameters}.values())
    except Exception:  # a module inside may be damaged
        count = 0
    plural = "" if count == 1 else "s"
    return [shape, f"{count:,} parameter{plural}" if count else ""]


def _text_of(module: Any) -> str:
    """What a layer says of itself; its class where that is no short line."""
    try:
        text = repr(module)
    except Exception:  # fields from a file may be anything
        text = module.typename()
    return module.typename() if "\n" in text or len(text) > LONGEST_TEXT else text
