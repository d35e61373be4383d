"""Replays the recorded calls of the original library on ours."""

from __future__ import annotations

import pytest
from support import golden
from support.deviations import adapted, deviation

CASES = [c for m in golden.modules() for c in golden.cases(m)]
VALUE_CASES = [c for c in CASES if not c.is_error]
ERROR_CASES = [c for c in CASES if c.is_error]
KINDS = ["tensors", "strided tensors", "arrays", "strided arrays"]


def name_of(case: golden.Case) -> str:
    return f"{case.function}-{case.name}"


@pytest.mark.parametrize("real", golden.REALS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", VALUE_CASES, ids=name_of)
def test_value(case: golden.Case, kind: str, real: str) -> None:
    call = golden.prepare(adapted(case), real, kind)
    call.run()
    golden.check_results(call)
    golden.check_sharing(call)
    call.close()


@pytest.mark.parametrize("real", golden.REALS)
@pytest.mark.parametrize("kind", ["tensors", "arrays"])
@pytest.mark.parametrize("case", ERROR_CASES, ids=name_of)
def test_rejected(case: golden.Case, kind: str, real: str) -> None:
    call = golden.prepare(case, real, kind)
    before = call.snapshot()
    with pytest.raises((golden.Error, TypeError, ValueError)):
        call.run()
    assert call.snapshot() == before
    call.close()


FUNCTIONS = sorted({r["function"] for r in golden.altered_rows()})


@pytest.mark.parametrize("real", golden.REALS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_altered(function: str, real: str) -> None:
    """Every recorded call with one argument altered: what went wrong in the original is rejected
    and changes nothing, what it accepted gives the same result."""
    problems = []
    for number, row in enumerate(golden.altered_rows()):
        if row["function"] != function:
            continue
        case = golden.altered(number)
        expected = deviation(function, case.name) or case.outcome
        call = golden.prepare(case, real, "tensors")
        before = call.snapshot()
        try:
            call.run()
        except (golden.Error, TypeError, ValueError) as error:
            if expected == "accepted" and not case.undefined:
                problems.append(f"{number} {case.name}: rejected: {error}")
            if call.snapshot() != before:
                problems.append(f"{number} {case.name}: rejected, but changed a tensor")
        else:
            if case.undefined or expected == "implemented":
                continue
            if expected != "accepted":
                problems.append(f"{number} {case.name}: not rejected (original: {case.outcome})")
            elif row["alteration"] != "NULL" and not any(
                a.kind == "generator" for a in case.arguments
            ):
                try:
                    golden.check_results(call)
                except AssertionError as error:
                    problems.append(f"{number} {case.name}: {error}")
        call.close()
    assert not problems, f"{len(problems)} problems:\n" + "\n".join(problems)
