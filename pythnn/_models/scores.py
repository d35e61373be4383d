"""Scores of classes, their names and probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from .. import nn
from .errors import explained
from .rows import Row, tensors_in

__all__ = ["last_layer", "probabilities", "read_labels", "scores_in"]

Array = NDArray[Any]


def last_layer(rows: list[Row]) -> Any:
    """The last object of a tree, which gives the output."""
    return next((r.value for r in reversed(rows) if r.value is not rows[0].value), rows[0].value)


def scores_in(output: Any) -> Array | None:
    """The output as scores, one for each class; of a batch in rows. None for anything else."""
    arrays = tensors_in(output)
    scores = np.asarray(arrays[0]).squeeze() if len(arrays) == 1 else np.empty(0)
    is_any = scores.ndim in (1, 2) and scores.size > 1
    return scores.astype(np.float64) if is_any else None


def probabilities(scores: Array, last: Any, softmax: bool = False) -> tuple[Array, bool]:
    """The scores, as probabilities where the last layer or `softmax` says so; whether they are."""
    if isinstance(last, getattr(nn, "SoftMax", ())):
        return scores, True
    if softmax or isinstance(last, getattr(nn, "LogSoftMax", ())):
        odds = np.exp(scores - scores.max())
        return odds / odds.sum(), True
    return scores, False


def read_labels(path: Path, count: int) -> list[str]:
    """The names of `count` classes, one on each line of a file."""
    with explained(f"{path} cannot be read"):
        labels = [line.strip() for line in path.read_text("utf-8").rstrip().splitlines()]
    if len(labels) != count:
        raise click.ClickException(f"{path} has {len(labels)} lines, the model {count} classes.")
    return labels
