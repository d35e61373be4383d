"""What the documentation shows of whole networks: tables and a picture for each kind of run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..report import caption, replace_between
from .rows import NO_PEERS, Row, mean_ratio

__all__ = ["markdown", "pictures", "update_page"]

BEGIN, END = "<!-- begin: networks -->", "<!-- end: networks -->"

_COLOURS = {
    "ours": "#0b6e4f",
    "PyTorch": "#e07a1f",
    "PyTorch compiled": "#f0b67f",
    "onnxruntime": "#4361b8",
    "OpenVINO": "#8b5fbf",
}


def update_page(page: Path, rows: Sequence[Row], facts: dict[str, str]) -> None:
    """Replaces what stands between the markers of a page, and writes the pictures beside it."""
    images = pictures(rows, facts, page.parent / "images")
    content = "\n".join(markdown(rows, facts, {k: f"images/{v.name}" for k, v in images.items()}))
    replace_between(page, BEGIN, END, content)


def _kinds(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.kind, row.dtype), []).append(row)
    return found


def _sides(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row.times))


def markdown(
    rows: Sequence[Row], facts: dict[str, str], images: dict[tuple[str, str], str]
) -> Iterable[str]:
    """The lines of all tables; `images` are the pictures of kinds."""
    yield "| | |"
    yield "|---|---|"
    yield from (f"| {name} | {value} |" for name, value in facts.items())
    for key, members in _kinds(rows).items():
        kind, dtype = key
        yield f"\n## {kind.capitalize()}, {dtype}\n"
        yield from _means(members)
        if key in images:
            yield f"\n![Speed of each side, that of pythnn being 1]({images[key]})"
        yield ""
        yield from _table(members)


def _means(rows: Sequence[Row]) -> Iterable[str]:
    """The mean ratio to each peer, and the smallest."""
    yield "| peer | geometric mean | smallest |"
    yield "|---|---|---|"
    for peer in (None, *(name for name in _sides(rows) if name not in NO_PEERS)):
        compared = [row for row in rows if not math.isnan(row.ratio(peer))]
        if not compared:
            continue
        least = min(compared, key=lambda row: row.ratio(peer))
        where = f"{least.network}, {least.batch} x, {_threads(least.threads)}"
        mean, ratio = mean_ratio(compared, peer), least.ratio(peer)
        yield f"| {peer or 'the fastest of each row'} | {mean:.2f} | {ratio:.2f} ({where}) |"


def _threads(count: int) -> str:
    return f"{count} thread{'s' if count > 1 else ''}"


def _table(rows: Sequence[Row]) -> Iterable[str]:
    sides = _sides(rows)
    yield f"| network | batch | threads | {' | '.join(sides)} | ratio |"
    yield "|---" * (len(sides) + 4) + "|"
    for row in rows:
        yield line(row, sides)


def line(row: Row, sides: Sequence[str]) -> str:
    """A row of a table: milliseconds."""
    cells = [row.network, str(row.batch), str(row.threads)]
    cells += [f"{1e3 * row.times[name]:.3g}" if name in row.times else "" for name in sides]
    cells.append("" if math.isnan(row.ratio()) else f"{row.ratio():.2f}")
    return f"| {' | '.join(cells)} |"


def pictures(
    rows: Sequence[Row], facts: dict[str, str], folder: Path
) -> dict[tuple[str, str], Path]:
    """A picture for each kind and type: how fast each side is, ours being 1."""
    made = {}
    for (kind, dtype), members in _kinds(rows).items():
        file = folder / f"networks-{kind}-{dtype}.svg"
        folder.mkdir(parents=True, exist_ok=True)
        _draw(members, facts, f"{kind}, {dtype}", file)
        made[kind, dtype] = file
    return made


def _draw(rows: Sequence[Row], facts: dict[str, str], title: str, file: Path) -> None:
    """A panel for each batch and number of threads, a group of bars for each network."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "pythnn", "font.size": 8})
    import matplotlib.pyplot as plt

    panels = list(dict.fromkeys((row.batch, row.threads) for row in rows))
    names = list(dict.fromkeys(row.network for row in rows))
    sides = [name for name in _sides(rows) if name in _COLOURS]
    figure, axes = plt.subplots(
        len(panels), 1, figsize=(8, 1.5 + 1.7 * len(panels)), squeeze=False, sharex=True,
        layout="constrained",
    )  # fmt: skip
    width = 0.8 / len(sides)
    for axis, panel in zip(axes[:, 0], panels, strict=True):
        for i, side in enumerate(sides):
            shown = [r for r in rows if (r.batch, r.threads) == panel and side in r.times]
            places = [names.index(r.network) + (i - (len(sides) - 1) / 2) * width for r in shown]
            speeds = [r.times["ours"] / r.times[side] for r in shown]
            label = "pythnn" if side == "ours" else side
            axis.bar(places, speeds, width, color=_COLOURS[side], label=label)
        axis.axhline(1, color="#333333", linewidth=0.6)
        axis.set_ylabel(f"{panel[0]} x, {_threads(panel[1])}")
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(axis="x", length=0)
    axes[-1, 0].set_xticks(range(len(names)), names, rotation=45, ha="right")
    axes[0, 0].set_title(f"{title}: speed, pythnn's being 1", loc="left", fontweight="bold")
    handles: Any = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper right", ncols=len(sides), frameon=False)
    figure.supxlabel(caption(facts), fontsize=5, color="#555555")
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)
