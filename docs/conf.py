"""Sphinx's settings: ``make docs`` writes build/docs."""

from __future__ import annotations

from typing import Any

import pythnn

project = "pythnn"
author = "the pythnn authors"
release = version = pythnn.__version__
copyright = author  # noqa: A001 - Sphinx asks for this name

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
exclude_patterns: list[str] = []
default_role = "code"  # `x` in docstrings names an argument
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository

autodoc_default_options = {"members": True, "member-order": "groupwise"}
autodoc_typehints = "none"  # they are in the signatures of the sources; aliases would be spelt out
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_param = False

html_theme = "furo"
html_title = f"pythnn {release}"


def _absolute_values(_: Any, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
    """Docstrings have |x| for what reStructuredText would take for a substitution."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _absolute_values)
