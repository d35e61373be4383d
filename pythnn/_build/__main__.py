"""``python pythnn/_build``: works without pythnn itself, which is not built yet."""

import importlib
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
importlib.import_module("_build.command").main()
