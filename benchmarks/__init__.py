"""pythnn against PyTorch, in one process: ``python -m benchmarks --help``."""

import sys
from pathlib import Path

# python -m puts the current folder first, where the sources would hide the built package.
if Path(sys.path[0]).resolve() == Path(__file__).resolve().parents[1]:
    del sys.path[0]
