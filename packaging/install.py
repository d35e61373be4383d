"""Installs packages as pip does, and says meanwhile how far it has got.

    python packaging/install.py WHAT ARGUMENT…

WHAT is a name for people; the arguments are those of pip install. What pip and the compiler say is
shown where they fail, and with VERBOSE=1 in the environment.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

NINJA = re.compile(r"\[(\d+)/(\d+)\]")  # steps that are done, and all of them
INTERVAL = 10  # seconds between lines where there is no terminal


class Progress:
    """One line that is written again on a terminal, and elsewhere a line now and then."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.begun = self.shown = time.monotonic()
        self.same_line = sys.stdout.isatty()
        self.show("installing")

    def show(self, state: str, last: bool = False) -> None:
        """Says what is being done; ``last`` ends the line."""
        text = f"{self.what}: {state} ({time.monotonic() - self.begun:.0f} s)"
        if self.same_line:
            print(f"\r\033[K{text}", end="\n" if last else "", flush=True)
        else:
            print(text, flush=True)
        self.shown = time.monotonic()

    def read(self, line: str) -> None:
        """Looks for what ninja has done in a line of pip's."""
        step = NINJA.search(line)
        if step and (self.same_line or time.monotonic() - self.shown >= INTERVAL):
            self.show(f"compiled {step[1]} of {step[2]}")


def main() -> int:
    """Runs pip; the result is its exit status."""
    what, *arguments = sys.argv[1:]
    command = [sys.executable, "-m", "pip", "install", "-v", *arguments]
    if os.environ.get("VERBOSE"):
        return subprocess.run(command, check=False).returncode
    progress, lines = Progress(what), []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        for line in pip.stdout or ():
            lines.append(line)
            progress.read(line)
    progress.show("failed" if pip.returncode else "installed", last=True)
    if pip.returncode:
        sys.stderr.writelines(lines)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main())
