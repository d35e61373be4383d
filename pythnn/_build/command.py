"""The command of the build: writes the generated files of pythnn, or of a package for CUDA."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from .generate import cpu_files
from .generate_cuda import cuda_files
from .headers import HeaderError

__all__ = ["main"]


def write_if_changed(path: Path, text: str) -> None:
    """Leaves an equal file alone, so that nothing is compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="_build", description=__doc__)
    parser.add_argument("--compiler", required=True, help="C compiler, with options")
    parser.add_argument("--include", required=True, type=Path, help="folder of THNN.h")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--version", required=True, help="of the package")
    parser.add_argument("--cuda", metavar="PACKAGE", help="of the extension for CUDA to write")
    options = parser.parse_args()
    root = options.include.resolve()
    compiler = shlex.split(options.compiler)
    try:
        if options.cuda:
            files = cuda_files(root, compiler, options.version, options.cuda)
        else:
            files = cpu_files(root, compiler, options.version)
    except HeaderError as error:
        sys.exit(f"pythnn's build script: {error}")
    options.output.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_if_changed(options.output / name, content)
