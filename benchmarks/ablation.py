"""What the convolution engine loses without each of its algorithms, from the committed timings.

    python -m benchmarks.ablation

Of every layer and pass whose timings lie in `costs/`, the algorithm that the engine chooses is
compared with the one that it would choose if a row of its table were missing. Prints a row for each
algorithm: in how many of the passes for which it is timed it is chosen, and the geometric mean of
how much longer the others take, over those in which it is chosen and over all.
"""

from __future__ import annotations

import itertools
import statistics

import numpy as np

from . import fit

Key = tuple[str, str, str, str]
"""Instruction set, real type, pass and layer."""


def _passes() -> dict[Key, dict[str, tuple[float, float]]]:
    """The expected and the measured cycles of each algorithm in each pass of a layer."""
    known, rows = fit.algorithms(), fit.read_rows()
    timed = fit.timings_of(rows)
    found: dict[Key, dict[str, tuple[float, float]]] = {}
    for level, real in itertools.product(fit.LEVELS, fit.REALS):
        own = [row for row in rows if (row.level, row.real) == (level, real)]
        costs = fit.costs_of(known, timed, level, real, rows)
        for (part, layer), among in fit.compared(own).items():
            found[level, real, part, layer] = {
                row.algorithm: (float(np.dot(row.counts, costs[row.algorithm])), row.cycles)
                for row in among
            }
    return found


def _chosen(rows: dict[str, tuple[float, float]], without: str = "") -> str | None:
    """The algorithm that the engine would choose."""
    left = {name: cost for name, (cost, _) in rows.items() if name != without}
    return min(left, key=lambda name: left[name]) if left else None


def table() -> list[tuple[str, int, int, float, float]]:
    """For each algorithm: passes, those in which it is chosen, the loss in these, and in all."""
    passes, losses = _passes(), []
    for algorithm in fit.algorithms():
        ratios = []
        applies = [rows for rows in passes.values() if algorithm in rows and len(rows) > 1]
        for rows in applies:
            other = _chosen(rows, algorithm)
            if other and _chosen(rows) == algorithm:
                ratios.append(rows[other][1] / rows[algorithm][1])
        if ratios:
            all_ratios = ratios + [1.0] * (len(applies) - len(ratios))
            mean = statistics.geometric_mean
            losses.append((algorithm, len(applies), len(ratios), mean(ratios), mean(all_ratios)))
    return losses


def main() -> None:
    """Prints the table as Markdown."""
    print("| left out | passes | chosen | longer where it was chosen | longer in all |")
    print("|---|---|---|---|---|")
    for name, applies, chosen, where, overall in table():
        print(
            f"| `{name}` | {applies} | {chosen / applies:.0%} "
            f"| {where - 1:.1%} | {overall - 1:.1%} |"
        )


if __name__ == "__main__":
    main()
