"""Which functions give the same bits at every instruction set of this machine.

    python tests/fuzz/levels.py

makes the recorded calls at each of them, and lists the functions whose results differ from those of
the highest.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "python"))

from support import golden
from support.deviations import adapted

from pythnn import State

LEVELS = ("avx512", "avx2", "baseline")


def digests() -> dict[str, str]:
    """A digest of the results of all recorded calls, of each function and real type."""
    found: dict[str, hashlib._Hash] = {}
    recorded = (case for module in golden.modules() for case in golden.cases(module))
    with State(threads=1) as state:
        for case in (adapted(case) for case in recorded if not case.is_error):
            for real in ("float", "double"):
                call = golden.prepare(case, real, "strided tensors")
                if call.case.arguments[0].kind == "state":
                    call.values[0] = state
                call.run()
                call.close()
                digest = found.setdefault(f"{case.function} ({real})", hashlib.sha256())
                for argument, value in call.tensors():
                    if argument.role != "scratch":
                        digest.update(golden.as_array(value).tobytes())
    return {name: digest.hexdigest() for name, digest in found.items()}


def at(level: str) -> dict[str, str]:
    """The digests of a process with that instruction set."""
    done = subprocess.run(
        [sys.executable, __file__, level],
        env={**os.environ, "THNN_SIMD": level},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    highest, *others = ((level, at(level)) for level in LEVELS)
    print(f"{highest[0]}: {len(highest[1])} pairs of a function and a real type")
    for level, found in others:
        differing = sorted(name for name in found if found[name] != highest[1][name])
        print(f"{level}: {len(differing)} differ: {', '.join(differing)}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(digests()))
    else:
        main()
