"""Writes the files of a package for CUDA: the cffi source and the function table."""

from __future__ import annotations

from pathlib import Path

from .generate import (
    GENERATED,
    PUBLIC_HEADERS,
    TABLE_HEADERS,
    cdef,
    emit,
    guard,
    guarded_functions,
    version_source,
)
from .headers import HeaderError, parse, preprocess
from .native import native_declarations
from .table import CUDA, Entry, read_table

__all__ = ["cuda_files"]

# Macros that Python needs; cffi reads their values from the compiler.
CONSTANTS = ("TH_STORAGE_RESIZABLE",)


def check_twins(entries: list[Entry], cpu: list[Entry]) -> None:
    """Raises unless a function's arguments stand where the CPU's stand, whatever their names."""
    twins = {entry.name: entry for entry in cpu}
    for entry in entries:
        twin = twins.get(entry.name)
        if twin is None:
            raise HeaderError(f"{entry.name} has no twin on the CPU")
        if len(entry.arguments) != len(twin.arguments):
            raise HeaderError(f"{entry.name} has not as many arguments on CUDA as on the CPU")
        for mine, theirs in zip(entry.arguments, twin.arguments, strict=True):
            if mine.kind != theirs.kind and mine.role != "scratch":
                raise HeaderError(
                    f"{entry.name} has a {mine.kind} '{mine.name}' on CUDA where the CPU's has a "
                    f"{theirs.kind} '{theirs.name}'"
                )


def table_source(entries: list[Entry]) -> str:
    """The module ``_table``: kind, role and whether it is optional, of each argument."""
    lines = [f'"""{GENERATED}"""', "", "FUNCTIONS = {"]
    for e in entries:
        arguments = tuple((a.kind, a.role, a.optional) for a in e.arguments)
        lines.append(f"    {e.name!r}: {arguments!r},")
    return "\n".join([*lines, "}", ""])


def cuda_files(root: Path, compiler: list[str], version: str, package: str) -> dict[str, str]:
    """The generated files of the package with this name."""
    cpu = parse(preprocess(compiler, [root], PUBLIC_HEADERS), root)
    twins = [entry for file in TABLE_HEADERS for entry in read_table(cpu, file)]
    public = sorted(f"cuda/{path.name}" for path in (root / "cuda").glob("*.h"))
    header = parse(preprocess(compiler, [root], public), root / "cuda", root / "generic")
    tables = [*TABLE_HEADERS, "cuda/generic/THCUNN.h"]
    entries = [entry for table in tables for entry in read_table(header, table, CUDA)]
    check_twins(entries, twins)
    functions = guarded_functions(header, ())
    declarations = cdef(header, functions, CONSTANTS)
    declarations += native_declarations(compiler, root, "cuda.h")
    includes = "\n".join(f"#include <{name}>" for name in public)
    return {
        "_cffi.c": emit(
            f"{package}._cffi", declarations, "cuda.h", [includes, *map(guard, functions)]
        ),
        "_table.py": table_source(entries),
        "_version.py": version_source(version),
    }
