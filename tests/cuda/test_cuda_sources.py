"""Rules that the sources of the CUDA library keep; no device is needed."""

from __future__ import annotations

import re

from device import INCLUDE

SOURCES = sorted(p for p in (INCLUDE / "cuda").rglob("*") if p.suffix in (".cu", ".cuh", ".cpp"))
LARGEST_BLOCK = 512
LAUNCH = (INCLUDE / "cuda" / "THC" / "THCLaunch.h").read_text()
THREADS = {name: int(value) for name, value in re.findall(r"(THC_\w*THREADS) = (\d+)", LAUNCH)}


def test_no_launch_has_larger_blocks() -> None:
    assert THREADS["THC_MAXIMUM_THREADS"] == LARGEST_BLOCK, "what THC_mayLaunch lets through"


def test_kernels_say_how_large_their_blocks_are() -> None:
    """The compiler shares out registers by it: without, a kernel may need too many to start."""
    kernels = [k for source in SOURCES for k in re.findall(r"__global__[^{;]*", source.read_text())]
    assert len(kernels) > 20
    for kernel in kernels:
        bound = re.search(r"__launch_bounds__\((\w+)\)", kernel)
        assert bound, kernel
        assert THREADS[bound[1]] <= LARGEST_BLOCK, kernel


def test_what_no_source_may_use() -> None:
    for source in SOURCES:
        text = source.read_text()
        assert "cudaDeviceSynchronize" not in text, source
        assert "<<<" not in text, f"{source}: kernels are launched by THC_LAUNCH"
        added = re.findall(r"\batomicAdd\(&(\w+)", text)
        assert set(added) <= {"found"}, f"{source}: an atomic addition, perhaps of real numbers"
