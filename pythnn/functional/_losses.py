"""What losses are made of: their value, and targets as the C functions count them."""

from __future__ import annotations

from typing import Any

from ._arrays import Array, Unfit, integer, on_host

__all__ = ["classes_of", "ignored_class", "loss_value"]

_IGNORED = -(2**62)
"""A target that nobody means."""


def loss_value(output: Any) -> float:
    """The loss that was written there."""
    if on_host(output):
        loss: float = output.item()
        return loss
    on_device: float = output.reshape(())
    return on_device


def classes_of(x: Array, target: Any) -> Any:
    """Targets of samples as the C functions count them; one alone is a sample."""
    shape = x.shape[:-1]
    is_one = target.size == 1 and target.ndim < 2 and x.size == x.shape[-1]
    if target.shape != shape and not is_one:
        wanted = f"shape {shape}, a class for each sample"
        raise Unfit("target", wanted, f"shape {tuple(target.shape)}")
    return (target + 1).reshape(shape or (1,))


def ignored_class(index: int | None) -> int:
    """A target that does not count, as the C functions count."""
    if index is None:
        return _IGNORED
    return integer("ignore_index", index) + 1
