"""Digests of what the recorded calls give, by function and real type."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))  # behind the installed package

from benchmarks.environment import compiler
from pythnn import State
from support import golden
from support.deviations import adapted

REALS = ("float", "double")
_PRODUCTS = re.compile(r"^Linear_|(?<!DepthWise)(?<!Row)Convolution(?!Map)")


def is_own(name: str) -> bool:
    """Whether no product of a function is left to BLAS, whose sums depend on the processor, and no
    algorithm chosen by what BLAS takes on it."""
    return not _PRODUCTS.search(name)


def built() -> str:
    """The machine and the compiler that the library is of. Compilers fuse different multiplications
    with additions, and add up in different orders."""
    return f"{platform.machine()}, {compiler()}"


def read(path: Path) -> dict[str, str]:
    """The digests of a file, by function and real type."""
    return {name: digest for name, _, digest in map(_parts, path.read_text().splitlines())}


def _parts(line: str) -> tuple[str, str, str]:
    return line.rpartition(" ")


def calls(state: State) -> Iterator[golden.Call]:
    """The recorded calls with a state, once they have run."""
    recorded = (case for module in golden.modules() for case in golden.cases(module))
    for case in (adapted(case) for case in recorded if not case.is_error):
        for real in REALS:
            call = golden.prepare(case, real, "strided tensors")
            if call.case.arguments[0].kind == "state":
                call.values[0] = state
            call.run()
            yield call
            call.close()


def digests(done: Iterator[golden.Call]) -> dict[str, str]:
    """A digest of all results of each function and real type."""
    found: dict[str, hashlib._Hash] = {}
    for call in done:
        digest = found.setdefault(f"{call.case.function} {call.real}", hashlib.sha256())
        for argument, value in call.tensors():
            if argument.role != "scratch":
                digest.update(golden.as_array(value).tobytes())
    return {name: digest.hexdigest() for name, digest in found.items()}
