"""The classes that are known under a Torch name."""

from __future__ import annotations

from typing import Any

__all__ = ["registry"]

registry: dict[str, type[Any]] = {}
"""Torch class names, such as ``nn.Linear``, and their classes."""
