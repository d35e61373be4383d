"""How many instructions libTHNN's loops take, with NEON and with AVX2, counted under QEMU.

    python -m benchmarks.instructions build/aarch64/root

The folder is one that ``packaging/aarch64-root`` has filled; gcc for both processors, cmake, ninja
and qemu-user are needed, too. Builds a static library for each processor in build/instructions, and
prints for each call of ``calls.c`` the share of fused multiply-adds among all instructions of the
functions that do most of them. Counts do not depend on the machine, nor on what else it does.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).parents[2]
HERE = Path(__file__).parent
BUILD = SOURCES / "build" / "instructions"
LEAST_SHARE = 0.05
"""Functions with a smaller share of a call's multiply-adds are left out."""


@dataclass(frozen=True)
class Target:
    """A processor, the compiler for it, and QEMU's command that runs what this makes."""

    processor: str
    vectors: str
    lanes: int
    compiler: tuple[str, ...]
    options: tuple[str, ...]
    emulator: tuple[str, ...]


def targets(root: Path) -> list[Target]:
    """Both processors. `root` is the root file system of aarch64."""
    toolchain = SOURCES / "cmake" / "aarch64-linux-gnu.cmake"
    return [
        Target(
            "aarch64",
            "NEON",
            4,
            ("aarch64-linux-gnu-gcc", f"--sysroot={root}"),
            ("--toolchain", str(toolchain), f"-DTHNN_TARGET={root}"),
            ("qemu-aarch64", "-cpu", "neoverse-n1", "-L", str(root)),
        ),
        Target("x86_64", "AVX2", 8, ("gcc",), (), ("qemu-x86_64", "-cpu", "Haswell")),
    ]


def _run(*command: str | Path) -> str:
    """What a command prints; ends the program with all of it where the command fails."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def build(target: Target) -> Path:
    """The program of ``calls.c`` for a processor."""
    folder = BUILD / target.processor
    static = ("-DBUILD_SHARED_LIBS=OFF", "-DTHNN_OPENMP=OFF", "-DTHNN_TESTS=OFF", "-DTHNN_CUDA=off")
    release = (
        *static,
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DPython_EXECUTABLE={sys.executable}",
    )
    _run("cmake", "-S", SOURCES, "-B", folder, "-G", "Ninja", *release, *target.options)
    _run("cmake", "--build", folder, "--target", "THNN")
    _run("cmake", "--install", folder, "--prefix", folder / "prefix")
    program = folder / "calls"
    prefix = folder / "prefix"
    cache = (folder / "CMakeCache.txt").read_text()
    blas = Path(re.findall(r"^CBLAS_\w*LIBRARY:FILEPATH=(\S+)$", cache, re.M)[0])
    libraries = [next(prefix.rglob("libTHNN.a")), next(prefix.rglob("libTH-pythnn.a")), blas]
    headers = f"-I{next(prefix.rglob('THNN.h')).parent}"
    compile_ = [*target.compiler, "-O2", headers, HERE / "calls.c", "-o", program]
    _run(*compile_, *libraries, f"-Wl,-rpath,{blas.parent}", "-lm")
    return program


def counted(target: Target, program: Path, plugin: Path, call: str) -> tuple[int, int, list[str]]:
    """Instructions and multiply-adds of the functions that matter, and their names."""
    emulator = (*target.emulator, "-E", "THNN_SIMD=avx2", "-plugin", str(plugin))
    text = _run(*emulator, program, call)
    found = re.findall(r"^counted (\S+) (\d+) (\d+)$", text, re.M)
    rows = [(name, int(count), int(products)) for name, count, products in found]
    total = sum(products for _, _, products in rows)
    most = sorted(rows, key=lambda row: -row[2])
    kept = [row for row in most if row[2] >= LEAST_SHARE * total]
    names = [re.sub(r"\.(constprop|isra|part)\.\d+", "", name) for name, _, _ in kept]
    return sum(row[1] for row in kept), sum(row[2] for row in kept), list(dict.fromkeys(names))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.instructions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("root", type=Path, help="what packaging/aarch64-root has filled")
    arguments = parser.parse_args()
    both = targets(arguments.root.resolve())
    programs = [build(target) for target in both]
    plugin = BUILD / "counter.so"
    _run("gcc", "-O2", "-shared", "-fPIC", HERE / "counter.c", "-o", plugin)
    calls = _run(programs[1]).splitlines()
    titles = [f"{t.vectors} | numbers per instruction | functions" for t in both]
    print("| call |", " | ".join(titles), "|")
    print("|---" * (1 + 3 * len(both)) + "|")
    for call in calls:
        cells = [call]
        for target, program in zip(both, programs, strict=True):
            instructions, products, names = counted(target, program, plugin, call)
            share = products / instructions if instructions else 0
            cells += [f"{100 * share:.0f} %", f"{target.lanes * share:.1f}", ", ".join(names)]
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
