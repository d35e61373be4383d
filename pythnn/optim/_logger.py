"""A table of numbers that grows with training, in a file, and a plot of it."""

from __future__ import annotations

import html
import math
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._errors import THNNArgumentError, THNNError

__all__ = ["Logger"]

_COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf")
_WIDTH, _HEIGHT, _MARGIN = 640, 400, 60
_TICKS = 5


class Logger:
    """Writes lines of numbers to a file, with tabs between them, and draws them.

    Parameters
    ----------
    filename : the file, which is made anew
    timestamp : whether the time is put in its name

    ``add`` takes a dict of names and numbers, or, after ``setNames``, numbers in that order.

    >>> log = Logger("train.log")
    >>> log.add({"loss": 0.5, "accuracy": 0.8})
    >>> log.add({"loss": 0.25, "accuracy": 0.9})
    >>> print(Path("train.log").read_text(), end="")
    loss	accuracy
    0.5	0.8
    0.25	0.9
    """

    def __init__(self, filename: str | os.PathLike[str], timestamp: bool = False) -> None:
        path = Path(filename)
        if timestamp:
            path = path.with_name(f"{path.stem}-{time.strftime('%Y-%m-%d-%H-%M-%S')}{path.suffix}")
        self.filename = path
        self.names: list[str] = []
        self.symbols: list[list[float]] = []
        self.styles: list[str] = []
        self.semilog = False
        path.write_text("")

    def setNames(self, names: Sequence[str]) -> Logger:
        """Names the columns, once, before numbers are added; returns itself."""
        if self.names:
            raise THNNError("optim.Logger.setNames: the columns have names already")
        self.names = [str(name) for name in names]
        self.symbols = [[] for _ in self.names]
        self._write("\t".join(self.names))
        return self

    def add(self, symbols: Mapping[str, float] | Sequence[float]) -> None:
        """Adds a line: numbers by the names of their columns, or in the columns' order."""
        if isinstance(symbols, Mapping):
            if not self.names:
                self.setNames(list(symbols))
            if set(symbols) != set(self.names):
                wanted, found = ", ".join(self.names), ", ".join(map(str, symbols))
                raise THNNArgumentError.expected("optim.Logger.add", 1, "symbols", wanted, found)
            symbols = [symbols[name] for name in self.names]
        if len(symbols) != len(self.names):
            raise THNNArgumentError.expected(
                "optim.Logger.add", 1, "symbols", f"{len(self.names)} numbers (see setNames)",
                str(len(symbols)),
            )  # fmt: skip
        numbers = [float(number) for number in symbols]
        for column, number in zip(self.symbols, numbers, strict=True):
            column.append(number)
        self._write("\t".join(f"{number:g}" for number in numbers))

    def _write(self, line: str) -> None:
        with self.filename.open("a") as file:
            file.write(line + "\n")

    def style(self, styles: Mapping[str, str] | Sequence[str]) -> Logger:
        """How each column is drawn: "-" as a line, "+" as points, "-+" as both; returns itself."""
        if isinstance(styles, Mapping):
            styles = [styles.get(name, "-") for name in self.names]
        self.styles = list(styles)
        return self

    def setlogscale(self, state: bool = True) -> Logger:
        """Has the plot's numbers on a logarithmic axis; returns itself."""
        self.semilog = bool(state)
        return self

    def plot(self, filename: str | os.PathLike[str] | None = None) -> Path:
        """Draws all columns by the number of their line; returns the file.

        That is an SVG image, by default beside the log under the same name.
        """
        path = self.filename.with_suffix(".svg") if filename is None else Path(filename)
        path.write_text(self._drawn())
        return path

    # ---- Drawing

    def _height(self, number: float) -> float:
        """A number on the axis; NaN where the axis does not have it."""
        if not self.semilog:
            return number if math.isfinite(number) else math.nan
        return math.log10(number) if number > 0 and math.isfinite(number) else math.nan

    def _drawn(self) -> str:
        heights = [[self._height(number) for number in column] for column in self.symbols]
        known = [one for column in heights for one in column if not math.isnan(one)]
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        if low == high:
            low, high = low - 0.5, high + 0.5
        count = max((len(column) for column in heights), default=0)

        def place(line: float, height: float) -> tuple[float, float]:
            across = (line - 1) / max(count - 1, 1) * (_WIDTH - 2 * _MARGIN)
            up = (height - low) / (high - low) * (_HEIGHT - 2 * _MARGIN)
            return round(_MARGIN + across, 2), round(_HEIGHT - _MARGIN - up, 2)

        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
            ' font-family="sans-serif" font-size="12">',
            f"<title>{html.escape(self.filename.name)}</title>",
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
            f'<path d="M{_MARGIN} {_MARGIN}V{_HEIGHT - _MARGIN}H{_WIDTH - _MARGIN}"'
            ' fill="none" stroke="black"/>',
        ]
        for tick in range(_TICKS):
            height = low + (high - low) * tick / (_TICKS - 1)
            shown = 10**height if self.semilog else height
            x, y = place(1, height)
            parts.append(f'<text x="{x - 6}" y="{y + 4}" text-anchor="end">{shown:.4g}</text>')
        for line in sorted({1, (count + 1) // 2, count} - {0}):
            x, y = place(line, low)
            parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">{line}</text>')
        for number, column in enumerate(heights):
            color = _COLORS[number % len(_COLORS)]
            points = [place(i, y) for i, y in enumerate(column, 1) if not math.isnan(y)]
            style = self.styles[number] if number < len(self.styles) else "-"
            if "-" in style and points:
                joined = " ".join(f"{x},{y}" for x, y in points)
                parts.append(f'<polyline points="{joined}" fill="none" stroke="{color}"/>')
            if "+" in style or len(points) == 1:
                parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{color}"/>' for x, y in points]
            name = html.escape(self.names[number])
            parts.append(
                f'<text x="{_WIDTH - _MARGIN}" y="{20 + 16 * number}" text-anchor="end"'
                f' fill="{color}">{name}</text>'
            )
        return "\n".join([*parts, "</svg>"]) + "\n"
