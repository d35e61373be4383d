"""The convolution engine's table of costs, and the fit that writes it."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[3]))  # behind the installed package

from benchmarks import ablation, fit

Tables = tuple[fit.Algorithms, dict[tuple[str, str, str], fit.Timings], list[fit.Row]]

DECIMAL = re.compile(r"(?<![\w.])\d+\.\d")


@pytest.fixture(scope="module")
def tables() -> Tables:
    """What algorithms do, and the committed timings, by algorithm and as they are."""
    rows = fit.read_rows()
    return fit.algorithms(), fit.timings_of(rows), rows


def test_the_table_is_what_the_fit_writes() -> None:
    for path, text in fit.written().items():
        assert path.read_text() == text, f"{path.name}: run python -m benchmarks.fit"


def test_no_other_number_of_the_engine_has_a_decimal_point() -> None:
    sources = [*fit.ENGINE.rglob("*.[ch]"), fit.ENGINE.parent / "grouped.c"]
    assert len(sources) > 30
    found = [path.name for path in sources if DECIMAL.search(path.read_text())]
    assert found == ["costs.c"]


def test_costs_that_timings_determine_are_found() -> None:
    counts = np.random.default_rng(0).uniform(1, 100, (4000, 3)) * [40, 6, 1]
    true, expected = np.array([0.5, 3.0, 20.0]), np.array([1.0, 1.0, 40.0])
    found = fit.fit(fit.Timings(counts, counts @ true), expected)
    np.testing.assert_allclose(found, true, rtol=0.1)  # the expected costs still have some weight


def test_costs_that_timings_do_not_determine_are_kept() -> None:
    counts = np.ones((50, 3)) * [1.0, 0.0, 0.0]
    found = fit.fit(fit.Timings(counts, counts.sum(1) * 2), np.array([1.0, 7.0, 0.5]))
    np.testing.assert_allclose(found[1:], [7.0, 0.5])


def test_costs_are_not_negative() -> None:
    counts = np.array([[1.0, 2.0], [1.0, 4.0], [1.0, 8.0]] * 40)
    found = fit.fit(fit.Timings(counts, 10 - counts[:, 1]), np.array([5.0, 1.0]))
    assert found[1] == 0


def test_a_cost_can_depend_on_the_instruction_set_or_on_the_real_type() -> None:
    known = {"a": [fit.Thing("b", "", {"avx2": 2, "neon": 3}), fit.Thing("c", "", {"float": 4})]}
    assert fit.costs_of(known, {}, "avx2", "float") == {"a": [2, 4]}
    assert fit.costs_of(known, {}, "neon", "double") == {"a": [3, 0]}


def test_factors_choose_what_is_faster() -> None:
    """One algorithm's cycles are half of what its costs say: it should be chosen more often."""
    rows = [
        fit.Row(fit.SPLIT, "float", name, "0", f"1 1 1 {size}:3:1:1:1", cycles, [size])
        for size in range(10, 30)
        for name, cycles in (("slow", size), ("fast", 0.8 * size))
    ]
    costs = {"slow": np.array([1.0]), "fast": np.array([1.6])}
    factors = fit.calibrated(costs, rows)
    assert 1.6 * factors["fast"] < factors["slow"]


def test_costs_of_split_vectors_are_those_of_whole_ones_times_factors(
    tables: Tables,
) -> None:
    known, timed, rows = tables
    for real in fit.REALS:
        whole = fit.costs_of(known, timed, fit.WHOLE, real)
        split = fit.costs_of(known, timed, fit.SPLIT, real, rows)
        for name, costs in whole.items():
            if name in fit.LATER[real]:
                continue
            of = {round(b / a, 2) for a, b in zip(costs, split[name], strict=True) if a}
            assert len(of - {1}) <= 2, name  # one factor, but for roundings; and what is no cost


def test_costs_at_avx2_are_fitted_ones_times_factors(
    tables: Tables,
) -> None:
    known, timed, rows = tables
    for real in fit.REALS:
        fitted = fit.costs_of(known, timed, fit.AVX2, real)
        costs = fit.costs_of(known, timed, fit.AVX2, real, rows)
        assert fitted != costs
        for name, before in fitted.items():
            ratios = [b / a for a, b in zip(before, costs[name], strict=True) if a]
            # Costs have four digits, so that a ratio of two is off by up to 1e-3.
            factors = [ratio for ratio in ratios if abs(ratio - 1) > 1e-3]
            assert not factors or max(factors) < min(factors) * (1 + 2e-3), name


COUNTED_LIKE = {"winograd4Last": "winograd4"}
"""Rows that count the things of another one."""


def test_the_names_of_costs_are_those_of_the_engine_s_rows() -> None:
    rows = set(re.findall(r"\bROW\((\w+), +[A-Z]", (fit.ENGINE / "engine.c").read_text()))
    assert {COUNTED_LIKE.get(row, row) for row in rows} <= set(fit.algorithms())
    assert set(COUNTED_LIKE) < rows


FOR_ACCURACY = {"winograd", "winogradWeight"}
"""Rows that compute what tiles of 4x4 may not, with State(accuracy="high"): the table is about the
default, where those take most layers."""

BELOW_AVX2 = {"pointwise"}
"""Rows that are for instruction sets of which there are no timings."""


def test_every_algorithm_gains_something() -> None:
    """The README's table: each gains 2 % in the mean of the passes that it is timed in."""
    lines = (fit.ENGINE / "README.md").read_text()
    others = FOR_ACCURACY | BELOW_AVX2
    for name, passes, _, _, overall in ablation.table():
        assert overall > (1 if name in others else 1.02), name
        assert f"| `{name}` | {passes} |" in lines


def test_later_algorithms_leave_the_costs_of_the_others(
    tables: Tables,
) -> None:
    known, timed, rows = tables
    others = [row for row in rows if row.algorithm not in fit.FOURIER and not row.large]
    for level in (fit.SPLIT, fit.AVX2_SPLIT):
        with_them = fit.costs_of(known, timed, level, "float", rows)
        without = fit.costs_of(known, timed, level, "float", others)
        changed = {name for name in with_them if with_them[name] != without[name]}
        assert changed == set(fit.LATER["float"])
