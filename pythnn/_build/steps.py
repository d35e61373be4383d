"""Steps of programs: C functions that are called with arguments kept in memory.

``../_native/native.h`` declares what Python sees of them.
"""

from __future__ import annotations

import re

from .headers import Function, Header

__all__ = ["call_of_words", "is_step", "signature", "step_definitions", "steps_table"]

_STEP = re.compile(
    r"THNN_(Float|Double)\w+|TH(Float|Double|Long|Int)Tensor_"
    r"(abs|add|cadd|cdiv|cmul|copy(Double|Float|Int|Long)?|fill|mul|zero)"
)

_RUN = """
int pythnn_runSteps(const pythnn_Step *steps, int count)
{
  pythnn_Guard guard;
  if (PYTHNN_PROTECT(guard))
    for (const pythnn_Step *step = steps; step < steps + count; step++)
      stepFunctions[step->function](step->arguments);
  return pythnn_leave(&guard);
}
"""


def is_step(function: Function) -> bool:
    """Whether programs may call a function."""
    return function.result == "void" and _STEP.fullmatch(function.name) is not None


def _field(ctype: str) -> str:
    """The field of a word that holds an argument."""
    if ctype.endswith("*"):
        return "object"
    return "real" if ctype in ("float", "double") else "whole"


def signature(function: Function) -> tuple[str, ...]:
    """The fields of words that a function's arguments are in."""
    return tuple(_field(p.ctype) for p in function.parameters)


def call_of_words(function: Function, name: str, word: str) -> str:
    """The C function that makes a call of another with arguments from words, of a type like
    pythnn_Word."""
    arguments = ", ".join(
        f"({p.ctype})arguments[{i}].{_field(p.ctype)}" for i, p in enumerate(function.parameters)
    )
    return f"static void {name}(const {word} *arguments)\n{{\n  {function.name}({arguments});\n}}"


def _steps(header: Header) -> list[Function]:
    return [function for function in header.functions if is_step(function)]


def step_definitions(header: Header) -> list[str]:
    """The C code of all steps, and of what runs them."""
    functions = _steps(header)
    names = ",\n".join(f"  step_{function.name}" for function in functions)
    table = f"static void (*const stepFunctions[])(const pythnn_Word *) = {{\n{names},\n}};"
    calls = [call_of_words(f, f"step_{f.name}", "pythnn_Word") for f in functions]
    return [*calls, table, _RUN]


def steps_table(header: Header) -> dict[str, tuple[int, tuple[str, ...]]]:
    """For each step its place among all, and the fields of its arguments."""
    return {f.name: (i, signature(f)) for i, f in enumerate(_steps(header))}
