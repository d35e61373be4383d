"""Writes the files that the build needs: the cffi source, the function table, the functions."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterable
from pathlib import Path

import cffi

from .functions import functions_source
from .headers import Function, Header, HeaderError, parse, preprocess, spell
from .native import native_declarations
from .steps import step_definitions, steps_table
from .table import CPU, Entry, read_table

PUBLIC_HEADERS = (
    "TH/TH.h",
    "TH/THBlock.h",
    "TH/THHandlers.h",
    "TH/THMemory.h",
    "TH/THThreads.h",
    "THNN.h",
    "THNNExtra.h",
)
TABLE_HEADERS = (
    "generic/THNN.h",
    "generic/THNNExtraModules.h",
    "generic/THNNExtraSequences.h",
)

# Functions that pythnn.lib does not have, and why.
LEFT_OUT = {
    "_THError": "variadic: raises, which only C code should",
    "_THArgCheck": "variadic: raises, which only C code should",
    "_THAssertionFailed": "variadic: raises, which only C code should",
    "THSetErrorHandler": "each guard installs the handler",
    "THSetArgErrorHandler": "each guard installs the handler",
    "THGetErrorHandler": "each guard installs the handler",
    "THGetArgErrorHandler": "each guard installs the handler",
    "THSetDefaultErrorHandler": "belongs to the host program",
    "THSetDefaultArgErrorHandler": "belongs to the host program",
    "THGetErrorFacts": "each guard reads them",
    "THSetCaller": "names a line of C",
    "_THMemoryError": "variadic: raises, which only C code should",
}

# Macros that Python needs; cffi reads their values from the compiler.
CONSTANTS = (
    "TH_INDEX_BASE",
    "TH_STORAGE_REFCOUNTED",
    "TH_STORAGE_RESIZABLE",
    "TH_STORAGE_FREEMEM",
    "TH_STORAGE_VIEW",
    "TH_TENSOR_REFCOUNTED",
    "TH_BLOCK_ALIGNMENT",
)

# What names of guards begin with: of functions without a result, which return the error's code,
# and of those with one.
CALL, VALUE = "call_", "value_"
# What names of guards of functions that take arrays instead of tensors begin with.
ARRAYS = "arrays_"


def guard_name(function: Function) -> str:
    return (CALL if function.result == "void" else VALUE) + function.name


def needs_object(function: Function) -> str | None:
    """The name of the first parameter when a NULL there would be used, not answered."""
    if not function.parameters or re.search(r"_(free|new\w*)$", function.name):
        return None
    first = function.parameters[0]
    is_object = re.fullmatch(r"(const )?TH\w+(Tensor|Storage|Generator) \*", first.ctype) or (
        first.ctype == "THGenerator *"
    )
    return first.name if is_object and not function.name.startswith("THNN_") else None


def guard(function: Function) -> str:
    """The C function that Python calls: no error of TH leaves it."""
    names = ", ".join(p.name for p in function.parameters)
    call = f"{function.name}({names})"
    void = function.result == "void"
    result = "int" if void else function.result
    shown = Function(function.name, result, function.parameters, False, "", "")
    lines = [f"static {shown.prototype(guard_name(function))}", "{"]
    lines.append("  pythnn_Guard guard;")
    failure = "PYTHNN_ARGUMENT_ERROR"
    if not void:
        failure = f"({result}){{0}}"
        lines.append(f"  {spell(result, 'result')};")
    name = needs_object(function)
    if name is not None:
        lines.append(f"  if (!{name}) {{")
        lines.append(f'    pythnn_rejectNull("{function.name}", 1, "{name}");')
        lines.append(f"    return {failure};")
        lines.append("  }")
    if void:
        lines.append("  if (PYTHNN_PROTECT(guard))")
        lines.append(f"    {call};")
        lines.append("  return pythnn_leave(&guard);")
    else:
        lines.append("  if (PYTHNN_PROTECT(guard)) {")
        lines.append(f"    result = {call};")
        lines.append("    pythnn_leave(&guard);")
        lines.append("    return result;")
        lines.append("  }")
        lines.append("  pythnn_leave(&guard);")
        lines.append(f"  return {failure};")
    return "\n".join([*lines, "}"])


def array_call(function: Function, entry: Entry) -> tuple[str, str]:
    """The function for contiguous arrays only: its prototype, and its definition.

    Each tensor is passed as an address and a layout, or as two NULLs for None; scratch tensors are
    not passed at all.
    """
    parameters: list[str] = []
    arguments: list[str] = []
    slots: list[str] = []
    for a, p in zip(entry.arguments, function.parameters, strict=True):
        if a.role == "scratch":
            arguments.append("NULL")
        elif a.role:
            parameters += [f"const void *{a.name}", f"const int64_t *{a.name}Layout"]
            tensor = f"({p.ctype})&slots[{len(slots)}].tensor"
            arguments.append(f"{a.name} ? {tensor} : NULL" if a.optional else tensor)
            item = f"sizeof *((({p.ctype})0)->storage->data)"
            place = f"pythnn_place(&slots[{len(slots)}], {a.name}, {a.name}Layout, {item})"
            slots.append(f"({a.name} && {place})" if a.optional else place)
        else:
            parameters.append(spell(p.ctype, p.name))
            arguments.append(p.name)
    prototype = f"int {ARRAYS}{function.name}({', '.join(parameters)})"
    lines = [
        f"static {prototype}",
        "{",
        f"  pythnn_Slot slots[{len(slots)}];",
        f"  if ({' || '.join(slots)})",
        "    return PYTHNN_MISALIGNED;",
        "  pythnn_Guard guard;",
        "  if (PYTHNN_PROTECT(guard))",
        f"    {function.name}({', '.join(arguments)});",
        "  return pythnn_leave(&guard);",
        "}",
    ]
    return prototype + ";", "\n".join(lines)


def array_calls(header: Header, entries: list[Entry]) -> list[tuple[str, str]]:
    """Prototypes and definitions for all functions of the table."""
    by_name = {f.name: f for f in header.functions}
    return [array_call(by_name[f"THNN_{real}{e.name}"], e) for e in entries for real in CPU.reals]


def guarded_functions(header: Header, left_out: Iterable[str]) -> list[Function]:
    """The functions that get a guard."""
    names = {function.name for function in header.functions}
    missing = set(left_out) - names
    if missing:
        raise HeaderError(f"LEFT_OUT names what no header declares: {', '.join(sorted(missing))}")
    functions = [f for f in header.functions if f.name not in left_out]
    for function in functions:
        if function.variadic:
            raise HeaderError(f"{function.place}: {function.name} is variadic: add it to LEFT_OUT")
    return functions


def cdef(header: Header, functions: list[Function], constants: Iterable[str]) -> str:
    """What cffi is told: types, constants, guards."""
    parts = [*header.types, *header.variables, *(f"#define {name} ..." for name in constants)]
    for function in functions:
        result = "int" if function.result == "void" else function.result
        shown = Function(function.name, result, function.parameters, False, "", "")
        parts.append(shown.prototype(guard_name(function)) + ";")
    return "\n".join(parts)


def emit(module: str, declarations: str, include: str, definitions: Iterable[str]) -> str:
    """The C source of an extension module."""
    ffi = cffi.FFI()
    try:
        ffi.cdef(declarations)
    except (cffi.CDefError, cffi.FFIError) as error:
        raise HeaderError(f"cffi does not understand the declarations: {error}") from error
    preamble = "\n\n".join(['#include "guard.h"', f'#include "{include}"', *definitions])
    ffi.set_source(module, preamble, py_limited_api=True)
    text = io.StringIO()
    with contextlib.redirect_stdout(None):  # it reports the name of the file
        ffi.emit_c_code(text)
    return text.getvalue()


def extension_source(header: Header, entries: list[Entry], native: str) -> str:
    """The C source of the extension module ``pythnn._cffi``."""
    functions = guarded_functions(header, LEFT_OUT)
    on_arrays = array_calls(header, entries)
    declarations = cdef(header, functions, CONSTANTS) + native
    declarations += "\n".join(prototype for prototype, _ in on_arrays)
    definitions = [guard(f) for f in functions] + [definition for _, definition in on_arrays]
    definitions += step_definitions(header)
    return emit("pythnn._cffi", declarations, "native.h", definitions)


GENERATED = "Generated by the build; do not edit."


def table_source(header: Header, entries: list[Entry]) -> str:
    """The module ``pythnn._table``."""
    lines = [f'"""{GENERATED}"""', "", "FUNCTIONS = {"]
    for e in entries:
        arguments = tuple((a.name, a.kind, a.role, a.optional) for a in e.arguments)
        lines.append(f"    {e.name!r}: ({arguments!r}, {e.inplace!r}),")
    lines += ["}", "", "STEPS = {"]
    lines += [f"    {name!r}: {step!r}," for name, step in steps_table(header).items()]
    return "\n".join([*lines, "}", ""])


def stub_source() -> str:
    """The stub ``pythnn/thnn.pyi``: without it, type checkers would take any name for a function."""
    lines = [f"# {GENERATED}"]
    lines += [f"from ._functions import {name}" for name in ("*", "__all__ as __all__")]
    return "\n".join([*lines, ""])


def version_source(version: str) -> str:
    """The module ``_version``."""
    return f'"""{GENERATED}"""\n\n__version__ = {version!r}\n'


def cpu_files(root: Path, compiler: list[str], version: str) -> dict[str, str]:
    """The generated files of the package pythnn."""
    header = parse(preprocess(compiler, [root], PUBLIC_HEADERS), root)
    entries = [entry for file in TABLE_HEADERS for entry in read_table(header, file)]
    return {
        "_cffi.c": extension_source(
            header, entries, native_declarations(compiler, root, "native.h")
        ),
        "_table.py": table_source(header, entries),
        "_version.py": version_source(version),
        "_functions.py": functions_source(entries, GENERATED),
        "thnn.pyi": stub_source(),
    }
