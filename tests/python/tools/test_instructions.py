"""What counts the instructions of libTHNN's loops."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

COUNTER = Path(__file__).parents[3] / "benchmarks" / "instructions" / "counter.c"
PROGRAM = """
#include <immintrin.h>
__attribute__((noinline, target("avx2,fma"))) static void products(float *numbers)
{
  __m256 sum = _mm256_loadu_ps(numbers);
  for (int i = 0; i < 1000; i++)
    sum = _mm256_fmadd_ps(sum, sum, sum);
  _mm256_storeu_ps(numbers, sum);
}
static float numbers[8] = {1};
int main(void) { products(numbers); return 0; }
"""


def test_counts_multiply_adds(compiler: str, tmp_path: Path) -> None:
    emulator = shutil.which("qemu-x86_64")
    if not emulator:
        pytest.skip("no qemu-x86_64 (Debian: apt install qemu-user)")
    source, program, plugin = (tmp_path / name for name in ("program.c", "program", "counter.so"))
    source.write_text(PROGRAM)
    if subprocess.run([compiler, "-O1", str(source), "-o", str(program)], check=False).returncode:
        pytest.skip("the compiler makes no programs for x86-64")
    shared = [compiler, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([*shared, str(COUNTER), "-o", str(plugin)], check=True)
    command = [emulator, "-cpu", "Haswell", "-plugin", str(plugin), str(program)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    (name, instructions, products), *others = re.findall(r"counted (\S+) (\d+) (\d+)", printed)
    assert not others
    assert (name, int(products)) == ("products", 1000)
    assert 2000 < int(instructions) < 6000
