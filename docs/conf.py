"""Sphinx's settings: ``make docs`` writes build/docs."""

from __future__ import annotations

import inspect
from typing import Any

from sphinx.domains.python import PyClasslike
from sphinx.util.inspect import stringify_signature

import pythnn
from pythnn import nn

project = "pythnn"
author = "the pythnn authors"
release = version = pythnn.__version__
copyright = author  # noqa: A001 - Sphinx asks for this name

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
exclude_patterns: list[str] = []
default_role = "code"  # `x` in docstrings names an argument
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository

autodoc_default_options = {"members": True, "member-order": "groupwise"}
autodoc_inherit_docstrings = False  # an overriding method does what the base class says
autodoc_preserve_defaults = True
autodoc_typehints = "none"  # except for classes of pythnn.nn, below; aliases would be spelt out
autosummary_generate = False  # its tables only; the pages are written by hand
napoleon_google_docstring = False
napoleon_use_param = False
add_module_names = False  # the heading of a page says which module it is about

html_theme = "furo"
html_title = f"pythnn {release}"


def _absolute_values(_: Any, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
    """Docstrings have |x| for what reStructuredText would take for a substitution."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def _parameters_last(_: Any, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
    """Puts prose and examples before the parameters; after them, napoleon takes it for more."""
    if "Parameters" not in lines:
        return
    begin = lines.index("Parameters")
    paragraphs = "\n".join(lines[begin:]).split("\n\n")
    section = 1
    while section < len(paragraphs) and paragraphs[section].startswith(" "):
        section += 1
    prose, parameters = paragraphs[section:], paragraphs[:section]
    lines[begin:] = "\n\n".join([*prose, *parameters, ""]).split("\n")


def _constructor(
    _: Any, what: str, __: str, thing: Any, ___: Any, ____: Any, _____: Any
) -> tuple[str, str] | None:
    """The arguments of a class of pythnn.nn: those of its __init__, since __new__ takes any."""
    if what != "class" or not issubclass(thing, (nn.Object, nn.Node)):
        return None
    signature = inspect.signature(thing)
    if "named" in signature.parameters:  # Object itself, which nobody makes
        return "", ""
    signature = signature.replace(return_annotation=inspect.Signature.empty)
    return stringify_signature(signature, unqualified_typehints=True), ""


class Class(PyClasslike):
    """A class whose constructor takes nothing has its brackets, too."""

    def needs_arglist(self) -> bool:
        """Whether there are always brackets."""
        return True


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _parameters_last, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", _absolute_values)
    app.add_directive_to_domain("py", "class", Class, override=True)
    app.connect("autodoc-process-signature", _constructor)
