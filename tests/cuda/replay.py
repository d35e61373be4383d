"""Runs the Python tests of a folder for ctest: status 77 where what they need is missing.

That is a failure where CI is set: tests/gpu counts on these runs. So is a module that skips itself
where PYTHNN_REQUIRE_GPU=1 says that there is a device for it.

replay.py FOLDER MODULE…
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

PASSED, NOTHING = 0, 5
"""What pytest returns: also when modules that need a device were all that there was to skip."""


class Skipped:
    """Whether whole modules were skipped: ctest then says that the test did not run."""

    any = False

    def pytest_collectreport(self, report: Any) -> None:
        self.any |= report.skipped


def run(folder: str, *needed: str) -> int:
    missing = [name for name in ("pytest", *needed) if find_spec(name) is None]
    if missing:
        print(f"these tests need more: pip install {' '.join(missing)}")
        return 1 if os.environ.get("CI") else 77
    modules = Skipped()
    # What a crash says goes to the file descriptor: it must not be captured.
    arguments = ["-q", "--capture=sys", folder]
    status: int = import_module("pytest").main(arguments, plugins=[modules])
    if not modules.any or status not in (PASSED, NOTHING):
        return status
    return 1 if os.environ.get("PYTHNN_REQUIRE_GPU") == "1" else 77


sys.exit(run(*sys.argv[1:]))
