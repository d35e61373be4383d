"""What was measured: rows, in a file for machines too."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ..report import geometric_mean

__all__ = ["NO_PEERS", "Row", "load", "mean_ratio", "save"]

NO_PEERS = ("ours", "modules")
"""Sides that are this library."""


@dataclass
class Row:
    """The shortest times of all sides, in seconds."""

    network: str
    kind: str
    """"inference" or "training"."""
    dtype: str
    batch: int
    threads: int
    times: dict[str, float] = field(default_factory=dict)

    def ratio(self, peer: str | None = None) -> float:
        """A peer's time over ours, of the fastest one by default; NaN where there is none."""
        others = [t for name, t in self.times.items() if name not in NO_PEERS]
        time = min(others, default=math.nan) if peer is None else self.times.get(peer, math.nan)
        return time / self.times["ours"]


def mean_ratio(rows: Iterable[Row], peer: str | None = None) -> float:
    """The geometric mean of ratios."""
    ratios = [row.ratio(peer) for row in rows]
    return geometric_mean(ratio for ratio in ratios if not math.isnan(ratio))


def save(rows: Sequence[Row], facts: dict[str, str], file: Path) -> None:
    """Writes rows and what they depend on."""
    file.parent.mkdir(parents=True, exist_ok=True)
    content = {"facts": facts, "rows": [asdict(row) for row in rows]}
    file.write_text(json.dumps(content, indent=1) + "\n")


def load(file: Path) -> tuple[list[Row], dict[str, str]]:
    """Reads what :func:`save` wrote."""
    content = json.loads(file.read_text())
    return [Row(**values) for values in content["rows"]], content["facts"]
