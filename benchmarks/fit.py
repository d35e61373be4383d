"""Fits the costs of the convolution engine's algorithms to timings, and writes them as C.

    python -m benchmarks.fit            writes thnn/generic/convolution/engine/costs.c and costs.h
    python -m benchmarks.fit --check    fails where these differ from what would be written

An algorithm counts how often it does each of a few things; what it is expected to take is the sum
of these counts, each times its cost. `costs/expected.json` has the names of the things, what they
are, and what they were expected to cost before there were any timings. The tables of timings beside
it, which `test_convolution_float time` prints, have a row for each layer, pass and algorithm: the
cycles that were measured, and the counts that are not 0, each after the number of its thing. Rows
of Winograd's algorithms with weights that are kept and come from memory, as in a network of many
layers, are of `test_convolution_float time 70 2e5 6e7 winograd kept`: their passes end in "kept".
For each instruction set, real type and algorithm the fit minimizes the sum of

    ((counts * costs) / cycles - 1)^2          over the timings
    TRUST * ((cost / expected) - 1)^2          over the costs, which are not negative

so that a cost that the timings say little about keeps its expected value, as do all costs at an
instruction set without timings. Factors and the like, which are never counted, are always kept.

The timings with AVX2 are of a processor that has nothing wider (AMD EPYC, Zen 2), by `time 170 2e5
2e8`: of two runs the lesser times, of the first layers. To these come layers of 2e8 to 1.5e9
operations: 70 of one tap, and with float those of `time 160 2e8 1.5e9`, twice; and all algorithms
with kept weights from memory, by `time 70 2e5 2e8 "" kept`, twice. Costs are fitted to them, and
multiplied by the factors with which the algorithms chosen for these layers take the least time in
the mean.

Processors that compute vectors of 64 bytes in halves have costs of their own. With AVX-512 they are
those of AVX-512, each algorithm's times one factor: that with which the algorithms chosen for the
layers of their own timings take the least time in the mean. All costs fitted to these timings chose
worse: an algorithm whose times are estimated badly is chosen most where they are underestimated.
With AVX2 and float, of which there are more timings, all costs are fitted and get factors, too;
what is expected are the fitted costs of AVX-512, with which what is chosen takes 3.5 % longer than
the fastest algorithm, and with those of AVX2 3.8 %. There all algorithms were timed with kept
weights from memory as well, by `time 40 2e5 2e8 "" kept`. The factors alone follow from these: the
machine was slower when they were made, by a quarter. With AVX2 and double, the costs are those of
AVX2.

The algorithms LATER, which transform, are fitted and get their factors last, while the costs of the
others stay. Since they gain most in large layers, these were timed, too, with all algorithms
(`-large`, of `time 300 5e7 1.5e9`); the others' costs do not follow from these. Their cycles are
not those of the other tables, since the program that timed them could take two for one: both are
multiplied so that the others take what they are expected to, in the median. Those with CAUTION are
taken where they gain more than a little, but at AVX2, where layers were not chosen worse without.
Of the passes in which FOURIER were chosen on processors of the latter kind with AVX-512, 8 of 207
took more than 15 % longer than another algorithm, and with this caution 5 of 190; with AVX2 13 of
213, and 7 of 192.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import sys
import textwrap
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).parent / "costs"
ENGINE = Path(__file__).parent.parent / "thnn/generic/convolution/engine"
LEVELS = ("baseline", "avx2", "avx512", "neon", "avx512split", "avx2split")
"""Instruction sets in the order of the table."""
REALS = ("float", "double")
TRUST = 0.2
"""The weight of an expected cost, in timings. For other layers, 0.2 chooses better than 2."""

WHOLE, SPLIT = "avx512", "avx512split"
"""AVX-512, and where vectors of 64 bytes are computed in halves."""
AVX2, AVX2_SPLIT = "avx2", "avx2split"
"""AVX2, and with AVX2 where AVX-512 would compute in halves."""
FACTORS = (0.6, 0.7, 0.8, 0.9, 1.1, 1.25, 1.4, 1.6)
"""What a factor is multiplied by in turn, where that is better."""

FOURIER = ("fourier", "fourierWeight")
WINOGRAD = tuple(f"winograd{of}{tiles}" for of in ("", "Weight") for tiles in ("", "4", "25", "42"))
LATER = {"float": (*FOURIER, *WINOGRAD), "double": FOURIER}
"""Algorithms that are fitted after the others."""
CAUTION = dict.fromkeys((*FOURIER, "winogradWeight42"), 1.1)
"""What costs are multiplied by, so that algorithms are taken where they gain more than a little."""

ALONE = ("packedProducts", "storedByte")
"""A cost that has a factor of its own at AVX2_SPLIT: all products of a layer with few image planes
wait for stores, but layers with many, where stores overlap with products, decide about the fit."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Thing:
    """Something that an algorithm does, counts, and that has a cost."""

    name: str
    about: str
    expected: float | dict[str, float]

    def cost(self, level: str, real: str) -> float:
        if isinstance(self.expected, dict):
            return self.expected.get(level, self.expected.get(real, 0.0))
        return self.expected


Algorithms = dict[str, list[Thing]]


def algorithms() -> Algorithms:
    """The things of each algorithm, as the engine's table of costs has them."""
    read = json.loads((FOLDER / "expected.json").read_text())
    return {
        algorithm: [Thing(name, about, expected) for name, (about, expected) in things.items()]
        for algorithm, things in read.items()
    }


@dataclass(frozen=True)
class Timings:
    """What was measured of one algorithm at one instruction set, with one real type."""

    counts: Array
    cycles: Array


@dataclass(frozen=True)
class Row:
    """One pass of one layer by one algorithm."""

    level: str
    real: str
    algorithm: str
    part: str
    layer: str
    cycles: float
    counts: list[float]
    large: bool = False


def read_rows() -> list[Row]:
    """The committed timings."""
    things = {name: len(of) for name, of in algorithms().items()}
    rows = []
    for path in sorted(FOLDER.glob("*.csv")):
        with path.open(newline="") as file:
            for read in csv.DictReader(file):
                counts = [0.0] * things[read["algorithm"]]
                for entry in read.pop("counts").split():
                    thing, count = entry.split(":")
                    counts[int(thing)] = float(count)
                cycles = float(read.pop("cycles"))
                large = path.stem.endswith("-large")
                rows.append(Row(cycles=cycles, counts=counts, large=large, **read))
    return rows


def timings_of(rows: list[Row]) -> dict[tuple[str, str, str], Timings]:
    """Timings by (level, real, algorithm)."""
    found: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        found[row.level, row.real, row.algorithm].append(row)
    return {
        key: Timings(np.array([row.counts for row in of]), np.array([row.cycles for row in of]))
        for key, of in found.items()
    }


def _not_negative(matrix: Array, wanted: Array) -> Array:
    """The x >= 0 that minimizes |matrix x - wanted|^2, by coordinate descent from 1."""
    products, target = matrix.T @ matrix, matrix.T @ wanted
    x = np.ones(len(target))
    for _ in range(2000):
        before = x.copy()
        for i in range(len(x)):
            if products[i, i] > 0:
                x[i] = max(0.0, x[i] + (target[i] - products[i] @ x) / products[i, i])
        if np.abs(x - before).max() < 1e-10:
            break
    return x


def fit(timings: Timings, expected: Array) -> Array:
    """The costs that agree best with the timings and with what was expected."""
    relative = timings.counts * expected / timings.cycles[:, None]
    trust = np.sqrt(TRUST) * np.eye(len(expected))
    ones = np.ones(len(relative) + len(expected))
    ones[len(relative) :] *= np.sqrt(TRUST)
    return _not_negative(np.vstack([relative, trust]), ones) * expected


def is_pointwise(layer: str) -> bool:
    """Whether a layer has one tap and no stride."""
    return all(size.split(":")[1:3] == ["1", "1"] for size in layer.split()[3:])


def has_few_taps(layer: str) -> bool:
    """Whether a layer has up to 3x3 taps, not all of them in a row."""
    taps = [int(size.split(":")[1]) for size in layer.split()[4:]]
    return taps[0] > 1 and max(taps) <= 3


def has_few_filters(layer: str) -> bool:
    """Whether a layer has a filter for each pair of a few planes, but of 16 or more."""
    inputs, outputs = map(int, layer.split()[1:3])
    return min(inputs, outputs) >= 16 and inputs * outputs <= 1024


def is_asked(row: Row) -> bool:
    """Whether the engine asks an algorithm for its costs in such a layer, if none is named."""
    if row.algorithm in FOURIER:
        few = has_few_filters(row.layer) and row.algorithm != "fourierWeight"
        return few or not has_few_taps(row.layer)
    return row.algorithm != "direct" or not is_pointwise(row.layer)


def compared(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    """The rows of each pass of a layer, among which the engine chooses."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if is_asked(row):
            found[row.part, row.layer].append(row)
    return {key: among for key, among in found.items() if _is_choice(among)}


def _is_choice(among: list[Row]) -> bool:
    """Whether all algorithms were timed; with kept weights, mostly only Winograd's were."""
    applies_always = any(row.algorithm in ("gemm", "linear") for row in among)
    return len(among) > 1 and (applies_always or not is_kept(among[0]))


def is_kept(row: Row) -> bool:
    """Whether the weights were kept ones, which come from memory."""
    return row.part.endswith("kept")


def calibrated(
    costs: dict[str, Array], rows: list[Row], chosen: Sequence[str] | None = None
) -> dict[str, float]:
    """A factor for each algorithm: with these, the choice takes the least time in the mean.

    Unless they are among `chosen`, which are all by default, algorithms have the factor 1.
    """
    algorithms = list(costs)
    passes = list(compared(rows).values())
    shape = (len(passes), max(map(len, passes), default=1))
    # Of each pass the algorithms, what they are expected to take, and what they took.
    index, expected, took = np.zeros(shape, int), np.full(shape, np.inf), np.full(shape, np.inf)
    for number, among in enumerate(passes):
        for place, row in enumerate(among):
            index[number, place] = algorithms.index(row.algorithm)
            expected[number, place] = np.dot(row.counts, costs[row.algorithm])
            took[number, place] = row.cycles
    best = took.min(1)

    def loss(factors: Array) -> float:
        chosen = np.argmin(expected * factors[index], 1)
        return float(np.mean(took[np.arange(len(passes)), chosen] / best))

    factors = np.ones(len(costs))
    least, before = loss(factors), np.inf
    while least < before:
        before = least
        for place, algorithm in enumerate(algorithms):
            for factor in FACTORS if chosen is None or algorithm in chosen else ():
                other = factors.copy()
                other[place] *= factor
                if (found := loss(other)) < least - 5e-5:
                    least, factors = found, other
    return dict(zip(algorithms, map(float, factors), strict=True))


def costs_of(
    known: Algorithms,
    timed: dict[tuple[str, str, str], Timings],
    level: str,
    real: str,
    rows: Sequence[Row] = (),
) -> dict[str, list[float]]:
    """What each algorithm's things cost; those at AVX2, SPLIT and AVX2_SPLIT need the rows, too."""
    own = [row for row in rows if (row.level, row.real) == (level, real)]
    if level == AVX2_SPLIT and not own:
        return costs_of(known, timed, AVX2, real, rows)
    if level in (SPLIT, AVX2_SPLIT):
        first = [row for row in own if not row.large and row.algorithm not in FOURIER]
        others = _times_factors if level == SPLIT else _fitted_times_factors
        return _with_later(others(known, timed, real, first), own, LATER[real])
    costs = {}
    for algorithm, things in known.items():
        found = np.array([thing.cost(level, real) for thing in things])
        timings = timed.get((level, real, algorithm))
        costs[algorithm] = found if timings is None else fit(timings, found)
    if level == AVX2 and own:
        _multiply_counted(costs, own)
    return {name: _rounded(of) for name, of in costs.items()}


def _multiply_counted(costs: dict[str, Array], rows: list[Row]) -> None:
    """Multiplies what is ever counted of each algorithm by its factor."""
    factors = calibrated(costs, rows)
    for (_, _, algorithm), timings in timings_of(rows).items():
        costs[algorithm][timings.counts.any(axis=0)] *= factors[algorithm]


def _rounded(costs: Array) -> list[float]:
    return [float(f"{cost:.4g}") for cost in costs]


def _times_factors(known: Algorithms, timed: dict[tuple[str, str, str], Timings],
                   real: str, rows: Sequence[Row]) -> dict[str, list[float]]:  # fmt: skip
    """The costs at SPLIT: those at WHOLE of what is ever counted, times factors."""
    costs = {name: np.array(of) for name, of in costs_of(known, timed, WHOLE, real).items()}
    own = [row for row in rows if (row.level, row.real) == (SPLIT, real)]
    factors = calibrated(costs, own) if own else {}
    for _, of, algorithm in timed:
        if of == real and algorithm not in FOURIER:
            factor = factors.pop(algorithm, 1.0)
            costs[algorithm][timed[WHOLE, real, algorithm].counts.any(axis=0)] *= factor
    return {name: _rounded(of) for name, of in costs.items()}


def _with_later(
    costs: dict[str, list[float]], rows: list[Row], later: Sequence[str]
) -> dict[str, list[float]]:
    """The costs of the algorithms `later` are fitted to the rows, times factors."""
    found = {name: np.array(of) for name, of in costs.items()}
    rows = _at_one_clock(rows, found, later)
    of_later = timings_of([row for row in rows if row.algorithm in later and not is_kept(row)])
    for (_, _, algorithm), timings in of_later.items():
        found[algorithm] = fit(timings, found[algorithm])
    factors = calibrated(found, rows, later) if of_later else {}
    for _, _, algorithm in of_later:
        found[algorithm] *= CAUTION.get(algorithm, 1.0) * factors[algorithm]
    return {name: _rounded(of) for name, of in found.items()}


def _at_one_clock(rows: list[Row], costs: dict[str, Array], later: Sequence[str]) -> list[Row]:
    """The rows, with the cycles of each table multiplied by a factor.

    With it, the algorithms that are not `later` take what they are expected to, in the median.
    """
    found = []
    for large in (False, True):
        table = [row for row in rows if row.large == large]
        shares = [
            np.dot(row.counts, costs[row.algorithm]) / row.cycles
            for row in table
            if row.algorithm not in later and not is_kept(row)
        ]
        factor = float(np.median(shares)) if shares else 1.0
        found += [dataclasses.replace(row, cycles=row.cycles * factor) for row in table]
    return found


def _fitted_times_factors(known: Algorithms, timed: dict[tuple[str, str, str], Timings],
                          real: str, rows: Sequence[Row]) -> dict[str, list[float]]:  # fmt: skip
    """The costs at AVX2_SPLIT: fitted, times factors; what is not counted costs as expected.

    What is expected of the rest are the costs at WHOLE.
    """
    costs = {name: np.array([thing.cost(AVX2, real) for thing in of]) for name, of in known.items()}
    expected = costs_of(known, timed, WHOLE, real)
    own = [row for row in rows if (row.level, row.real) == (AVX2_SPLIT, real)]
    for (_, _, algorithm), timings in timings_of([row for row in own if not is_kept(row)]).items():
        found = fit(timings, np.array(expected[algorithm]))
        costs[algorithm] = np.where(timings.counts.any(axis=0), found, costs[algorithm])
    _multiply_counted(costs, own)
    _calibrate_alone(known, costs, own)
    return {name: _rounded(of) for name, of in costs.items()}


def _calibrate_alone(known: Algorithms, costs: dict[str, Array], rows: list[Row]) -> None:
    """Multiplies the cost ALONE by a factor of its own, chosen as those of algorithms are."""
    algorithm, name = ALONE
    place = [thing.name for thing in known[algorithm]].index(name)
    passes = list(compared(rows).values())

    def loss(factor: float) -> float:
        tried = {**costs, algorithm: costs[algorithm].copy()}
        tried[algorithm][place] *= factor
        ratios = []
        for among in passes:
            chosen = min(among, key=lambda row: np.dot(row.counts, tried[row.algorithm]))
            ratios.append(chosen.cycles / min(row.cycles for row in among))
        return float(np.mean(ratios))

    costs[algorithm][place] *= min((1.0, *FACTORS), key=loss)


# ---- Writing C


def _constant(name: str) -> str:
    """The name in C: FEW_BLOCKS for fewBlocks."""
    return "".join(f"_{letter}" if letter.isupper() else letter for letter in name).upper()


def _wrapped(text: str) -> str:
    """A member of the table, in lines of the width that the project's code has."""
    return textwrap.fill(
        text, 100, initial_indent=" " * 4, subsequent_indent=" " * 6, break_on_hyphens=False
    )


def _named(constant: str, about: str) -> str:
    """A constant of an enum and what it is, in front of it where one line is too short."""
    line = f"  {constant}, /* {about} */"
    if len(line) <= 100:
        return line + "\n"
    comment = textwrap.fill(f"/* {about} */", 100, initial_indent="  ", subsequent_indent="   * ")
    return f"{comment}\n  {constant},\n"


HEADER = """\
/* Generated by `python -m benchmarks.fit`: the table of costs of the engine's algorithms.
 *
 * An algorithm counts how often it does each of the things that are named here. What it is expected
 * to take is the sum of these counts, each times its cost in cycles of one core. Factors and what
 * else is no cost are read by the algorithm that counts. */
#ifndef THNN_CONVOLUTION_COSTS_H
#define THNN_CONVOLUTION_COSTS_H

#include "generic/template.h"

/* clang-format off */
"""


def header(known: Algorithms) -> str:
    """The names of everything that has a cost."""
    text = HEADER
    for algorithm, things in known.items():
        prefix = _constant(algorithm)
        text += "enum {\n"
        for thing in things:
            text += _named(f"{prefix}_{_constant(thing.name)}", thing.about)
        text += f"  {prefix}_COSTS\n}};\n\n"
    most = max(map(len, known.values()))
    text += f"enum {{ MOST_COSTS = {most} }}; /* of one algorithm */\n\ntypedef struct Costs {{\n"
    for algorithm in known:
        text += f"  double {algorithm}[{_constant(algorithm)}_COSTS];\n"
    text += "} Costs;\n\n/* The rows of the table: THNNSimdLevel, aarch64, and AVX-512 and AVX2\n"
    text += " * where vectors of 64 bytes are computed in halves. */\n"
    text += "enum { COSTS_NEON = 3, COSTS_SPLIT, COSTS_AVX2_SPLIT, COSTS_LEVELS };\n"
    text += "extern const Costs THNN_(costs)[COSTS_LEVELS];\n\n#endif\n"
    return text


def table(known: Algorithms, timed: dict[tuple[str, str, str], Timings], rows: list[Row]) -> str:
    """The costs of everything."""
    text = "/* Generated by `python -m benchmarks.fit`: the costs that costs.h names. */\n"
    text += "/* clang-format off */\n"
    text += '#include "generic/convolution/engine/costs.h"\n\n'
    text += "const Costs THNN_(costs)[COSTS_LEVELS] = {\n"
    for real in REALS:
        text += f"#{'if' if real == 'float' else 'elif'} defined(THNN_REAL_{real.upper()})\n"
        for level in LEVELS:
            text += f"  {{ /* {level} */\n"
            for algorithm, costs in costs_of(known, timed, level, real, rows).items():
                numbers = ", ".join(f"{cost:g}" for cost in costs)
                text += _wrapped(f".{algorithm} = {{{numbers}}},") + "\n"
            text += "  },\n"
    return text + "#endif\n};\n"


def written() -> dict[Path, str]:
    """The generated files."""
    known, rows = algorithms(), read_rows()
    costs = table(known, timings_of(rows), rows)
    return {ENGINE / "costs.h": header(known), ENGINE / "costs.c": costs}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="only compare")
    check = parser.parse_args().check
    for path, text in written().items():
        if not check:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path} is not what `python -m benchmarks.fit` writes: run it again.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
