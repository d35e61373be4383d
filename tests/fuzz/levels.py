"""Which functions give the same bits at every instruction set of this machine.

    python tests/fuzz/levels.py                  as calls are usually made
    python tests/fuzz/levels.py --reproducible   with State(reproducible=True)
    python tests/fuzz/levels.py --write          writes the digests that a release has to reproduce

makes the recorded calls at each of them, and lists the functions whose results differ from those of
the highest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "python"))

from support.digests import built, calls, digests, is_own

from pythnn import State

FOLDER = Path(__file__).parents[1] / "data/digests"
LEVELS = ("avx512", "avx2", "baseline")
REPRODUCIBLE = "--reproducible"


def found(reproducible: bool) -> dict[str, str]:
    with State(threads=1, reproducible=reproducible) as state:
        return digests(calls(state))


def at(level: str, *options: str) -> dict[str, str]:
    """The digests of a process with that instruction set."""
    done = subprocess.run(
        [sys.executable, __file__, "--print", *options],
        env={**os.environ, "THNN_SIMD": level},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    options = [REPRODUCIBLE] if REPRODUCIBLE in sys.argv else []
    levels = LEVELS[:-1] if options else LEVELS  # the baseline has no fused multiply-adds
    highest, *others = ((level, at(level, *options)) for level in levels)
    print(f"{highest[0]}: {len(highest[1])} pairs of a function and a real type")
    for level, digest in others:
        differing = sorted(name for name in digest if digest[name] != highest[1][name])
        print(f"{level}: {len(differing)} differ: {', '.join(differing)}")


def write(name: str, digest: dict[str, str]) -> None:
    """Writes digests; those of usual calls without what BLAS computes."""
    usual = name.startswith("usual")
    lines = [f"{key} {digest[key]}\n" for key in sorted(digest) if not usual or is_own(key)]
    (FOLDER / name).write_text("".join(lines))


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(json.dumps(found(REPRODUCIBLE in sys.argv)))
    elif "--write" in sys.argv:
        write("recorded.txt", found(True))
        for level in LEVELS:
            write(f"usual_{level}.txt", at(level))
        (FOLDER / "built.txt").write_text(built() + "\n")
    else:
        main()
