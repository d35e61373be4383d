"""What a page is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._models.images import Recipe
from .._models.rows import Row
from ._running import Run

__all__ = ["Report"]

MAX_ROWS = 1000  # shown of a tree
MAX_DEPTH = 50  # of modules in modules


@dataclass
class Report:
    """What is known about a model."""

    name: str
    file_size: int
    value: Any
    rows: list[Row]
    key: str | None = None
    was_training: bool | None = None  # when it was saved
    note: str = ""  # why it was not run
    origin: str = ""  # of the input
    run: Run | None = None
    recipe: Recipe | None = None  # of an image
    classes: list[tuple[str, float]] = field(default_factory=list)
    are_odds: bool = False  # whether the numbers of the classes are probabilities

    @property
    def shown(self) -> list[tuple[int, Row]]:
        """The rows on the page, with their numbers."""
        rows = [(i, row) for i, row in enumerate(self.rows, 1) if row.depth <= MAX_DEPTH]
        return rows[:MAX_ROWS]
