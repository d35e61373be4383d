"""What a run leaves: a table, a file for machines, plots, and what the documentation shows."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .measure import ON_GPU, Row, workers

PARTS = ("output", "gradInput", "gradParameters")


def milliseconds(seconds: float | None) -> str:
    """Enough digits to compare by."""
    if seconds is None:
        return "-"
    value = 1e3 * seconds
    return f"{value:.2f}" if value >= 1 else f"{value:.3f}" if value >= 0.1 else f"{value:.5f}"


def ratio(row: Row) -> str:
    """With a star where the machine ran fewer threads at once than were measured."""
    if row.ratio is None:
        return "-"
    return f"{row.ratio:.2f}{'*' if row.short_of_cores else ''}"


def geometric_mean(values: Iterable[float]) -> float:
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else math.nan


_HEADINGS = (
    "case", "part", "dtype", "thr", "algorithm",
    "ms", "torch ms", "ratio", "of limit", "C µs", "torch C µs", "error", "torch error",
)  # fmt: skip


def table_cells(row: Row) -> list[str]:
    def microseconds(seconds: float | None) -> str:
        return "" if seconds is None else f"{1e6 * seconds:.2f}"

    def error(value: float | None) -> str:
        return "-" if value is None else f"{value:.0e}"

    return [
        row.case,
        row.part,
        row.dtype,
        workers(row.threads),
        row.algorithm,
        milliseconds(row.ours),
        milliseconds(row.torch),
        ratio(row),
        f"{row.work / row.ours / row.limit:.0%}",
        microseconds(row.ours_c),
        microseconds(row.torch_c),
        error(row.error),
        error(row.torch_error),
    ]


class TerminalTable:
    """Rows as they come, then a summary."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._widths = (40, 14, 8, 4, 9, 9, 9, 6, 8, 8, 10, 6, 11)
        self._line(_HEADINGS, "bold")

    def _line(self, cells: Sequence[str], style: str) -> None:
        text = " ".join(
            cell.ljust(width) if i < 3 or i == 4 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, self._widths, strict=True))
        )
        self._console.print(text, style=style, highlight=False, soft_wrap=True)

    def add(self, row: Row) -> None:
        style = "" if row.ratio is None else "green" if row.ratio >= 1 else "yellow"
        if row.wrong or (row.ratio is not None and row.ratio < 0.95):
            style = "red"
        self._line(table_cells(row), style)


def summary(rows: Sequence[Row]) -> Table:
    """Per family: geometric mean and smallest of the ratios."""
    table = Table(title="PyTorch's time / ours")
    for heading in ("family", "dtype", "threads", "algorithm", "rows", "mean", "smallest"):
        table.add_column(heading)
    for group, members in _groups(rows):
        ratios = [row.ratio for row in members if row.ratio is not None]
        if ratios:
            smallest = min((row for row in members if row.ratio), key=lambda row: row.ratio or 0)
            table.add_row(
                *group,
                str(len(ratios)),
                f"{geometric_mean(ratios):.2f}",
                f"{min(ratios):.2f} ({smallest.case} {smallest.part})",
            )
    return table


def _groups(rows: Sequence[Row]) -> list[tuple[tuple[str, ...], list[Row]]]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        key = (row.family, row.dtype, str(row.threads), row.algorithm)
        groups.setdefault(key, []).append(row)
    return list(groups.items())


# --- Files ----------------------------------------------------------------------------------------


def save(rows: Sequence[Row], facts: dict[str, str], file: Path) -> None:
    content = {"facts": facts, "rows": [row.as_dict() for row in rows]}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1) + "\n")


def load(file: Path) -> tuple[list[Row], dict[str, str]]:
    content = json.loads(file.read_text())
    rows = []
    for values in content["rows"]:
        values.pop("ratio")
        rows.append(Row(**values))
    return rows, content["facts"]


# --- Plots ----------------------------------------------------------------------------------------

_OURS, _TORCH, _LIMIT = "#0b6e4f", "#e07a1f", "#333333"


def plots(rows: Sequence[Row], facts: dict[str, str], folder: Path) -> list[Path]:
    """One picture per family and type, the default algorithm; the limit is the top of each axis."""
    files = []
    families = dict.fromkeys((row.family, row.dtype) for row in rows if row.family != "overhead")
    for family, dtype in families:
        chosen = [
            row
            for row in rows
            if (row.family, row.dtype) == (family, dtype) and row.algorithm in ("auto", "")
        ]
        if chosen:
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"{family}-{dtype}.svg"
            _plot(chosen, facts, f"{family}, {dtype}", file)
            files.append(file)
    return files


def _plot(rows: Sequence[Row], facts: dict[str, str], title: str, file: Path) -> None:
    """A panel per number of threads; a group per case, in it a pair of bars per part."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "pythnn", "font.size": 8})
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    threads = sorted({row.threads for row in rows})
    cases = list(dict.fromkeys(row.case for row in rows))
    parts = list(dict.fromkeys(row.part for row in rows))
    step = 1 / (len(parts) + 0.6)
    computing = any(row.flops for row in rows)
    unit = "GFLOP/s" if computing else "GB/s"
    width = max(7.0, 1.5 + 0.13 * len(cases) * (len(parts) + 1))
    figure, axes = plt.subplots(
        len(threads),
        1,
        figsize=(width, 1.8 + 2.3 * len(threads)),
        squeeze=False,
        sharex=True,
        layout="constrained",
    )
    for axis, count in zip(axes[:, 0], threads, strict=True):
        shown = [row for row in rows if row.threads == count]
        for row in shown:
            x = cases.index(row.case) + (parts.index(row.part) - (len(parts) - 1) / 2) * step
            scale = row.work / 1e9
            axis.bar(x - 0.21 * step, scale / row.ours, 0.4 * step, color=_OURS)
            if row.torch:
                axis.bar(x + 0.21 * step, scale / row.torch, 0.4 * step, color=_TORCH)
            axis.hlines(
                row.limit / 1e9, x - step / 2, x + step / 2, color=_LIMIT, linewidth=0.8, zorder=3
            )
        axis.set_ylim(0, max(row.limit for row in shown) / 1e9)
        axis.set_xlim(-0.6, len(cases) - 0.4)
        where = "GPU" if count == ON_GPU else f"{count} thread{'s' if count > 1 else ''}"
        axis.set_ylabel(f"{unit}, {where}")
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(axis="x", length=0)
        axis.grid(axis="y", color="#dddddd", linewidth=0.5)
        axis.set_axisbelow(True)
    if len(cases) > 6:
        axes[-1, 0].set_xticks(range(len(cases)), cases, rotation=90, fontsize=7)
    else:
        names = [case.replace("_", "\n", 1) for case in cases]
        axes[-1, 0].set_xticks(range(len(cases)), names, fontsize=7)
    limit = "multiply-adds in registers" if computing else "memcpy of as many bytes"
    if rows[0].threads == ON_GPU:
        limit = "the GPU's peak" if computing else "a copy of as many bytes"
    handles = [
        Patch(color=_OURS, label="pythnn"),
        Patch(color=_TORCH, label="PyTorch"),
        Line2D([], [], color=_LIMIT, label=f"limit: {limit}"),
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=3, frameon=False)
    heading = f"{title}: {', '.join(parts)}"
    axes[0, 0].set_title(heading, loc="left", fontsize=9, fontweight="bold")
    lines = textwrap.wrap(caption(facts), round(17 * width))
    figure.supxlabel("\n".join(lines), fontsize=6, color="#555555")
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def caption(facts: dict[str, str]) -> str:
    shown = ("machine", "GPU", "instruction set", "BLAS", "CUDA", "compiler", "PyTorch", "commit")
    return " · ".join(f"{name} {facts[name]}" for name in shown if name in facts)


# --- docs/performance-tables.md, and the summary in docs/performance.md ---------------------------

BEGIN, END = "<!-- begin: measured -->", "<!-- end: measured -->"
BEGIN_FAMILIES, END_FAMILIES = "<!-- begin: families -->", "<!-- end: families -->"


def update_document(
    document: Path, rows: Sequence[Row], facts: dict[str, str], images: Sequence[Path]
) -> None:
    """Replaces what stands between the two markers."""
    measured = "\n".join(_measured(rows, facts, images, document.parent))
    replace_between(document, BEGIN, END, measured)


def update_summary(document: Path, rows: Sequence[Row]) -> None:
    """Replaces the table of families between the markers of a document for readers."""
    replace_between(document, BEGIN_FAMILIES, END_FAMILIES, "\n".join(_family_means(rows)))


def _family_means(rows: Sequence[Row]) -> Iterable[str]:
    """One line per family: the mean ratio per type, threads side by side, and the extremes."""
    compared = [row for row in rows if row.ratio is not None]
    kinds = list(dict.fromkeys(row.dtype for row in compared))
    yield f"| | {' | '.join(kinds)} | smallest | largest |"
    yield "|---|" + "---|" * (len(kinds) + 2)
    for family in dict.fromkeys(row.family for row in compared):
        members = [row for row in compared if row.family == family]
        ratios = [row.ratio for row in members if row.ratio is not None]
        cells = [_means(row for row in members if row.dtype == kind) for kind in kinds]
        cells += [f"{min(ratios):.2f}", f"{max(ratios):.1f}"]
        yield f"| {family} | {' | '.join(cells)} |"


def _means(rows: Iterable[Row]) -> str:
    """The geometric mean of the ratios for each number of threads."""
    by_threads: dict[int, list[float]] = {}
    for row in rows:
        if row.ratio is not None:
            by_threads.setdefault(row.threads, []).append(row.ratio)
    return ", ".join(f"{geometric_mean(by_threads[count]):.2f}" for count in sorted(by_threads))


def replace_between(document: Path, begin: str, end: str, content: str) -> None:
    """Puts `content` between two markers of a document."""
    head, rest = document.read_text().split(begin)
    _, tail = rest.split(end)
    document.write_text(f"{head}{begin}\n\n{content}\n\n{end}{tail}")


def _measured(
    rows: Sequence[Row], facts: dict[str, str], images: Sequence[Path], folder: Path
) -> Iterable[str]:
    yield "| | |"
    yield "|---|---|"
    yield from (f"| {name} | {value} |" for name, value in facts.items())
    sections = dict.fromkeys((row.family, row.level) for row in rows)
    for family, level in sorted(sections, key=lambda section: section[1] != rows[0].level):
        if level == rows[0].level:
            yield f"\n## {family.capitalize()}\n"
            for image in images:
                if image.stem.startswith(f"{family}-"):
                    yield f"![{image.stem}]({image.relative_to(folder)})\n"
        else:
            yield f"\n## {family.capitalize()}, both sides kept to {level}\n"
        yield from _family_table(
            [row for row in rows if (row.family, row.level) == (family, level)]
        )


def _family_table(rows: Sequence[Row]) -> Iterable[str]:
    """One line per case, part, type and algorithm; threads side by side."""
    threads = sorted({row.threads for row in rows})
    in_c = any(row.ours_c for row in rows)
    slash = "/".join(workers(count) for count in threads)
    columns = [
        "case", "part", "type", "algorithm",
        f"ours {slash} ms", f"PyTorch {slash} ms", f"ratio {slash}", "of limit", "error",
    ]  # fmt: skip
    if in_c:
        columns.append(f"loop in C, ours and PyTorch {slash} µs")
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    lines: dict[tuple[str, ...], dict[int, Row]] = {}
    for row in rows:
        line = lines.setdefault((row.case, row.part, row.dtype, row.algorithm), {})
        line[row.threads] = row
    for key, by_threads in lines.items():
        found = [by_threads[count] for count in threads if count in by_threads]
        cells = [
            *key,
            "/".join(milliseconds(row.ours) for row in found),
            "/".join(milliseconds(row.torch) for row in found),
            "/".join(ratio(row) for row in found),
            "/".join(f"{row.work / row.ours / row.limit:.0%}" for row in found),
            "-" if found[0].error is None else f"{found[0].error:.0e}",
        ]
        if in_c:
            ours = "/".join(_microseconds(row.ours_c) for row in found)
            theirs = "/".join(_microseconds(row.torch_c) for row in found)
            cells.append(f"{ours} and {theirs}" if found[0].ours_c else "")
        yield f"| {' | '.join(cells)} |"


def _microseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1e6 * seconds:.2f}"


def read_guard(file: Path) -> dict[str, float]:
    if not file.exists():
        return {}
    values: dict[str, Any] = json.loads(file.read_text())
    return {key: float(value) for key, value in values.items()}
