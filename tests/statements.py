"""``statements.py BUILD [GCOV]``: how many statements of thnn/ the tests of a build have run.

A line counts as run if any object that was compiled from it has run it: files are compiled for
several types of numbers. Prints the share of each folder, and every line that has not run.
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "thnn"


def counted(build: Path, gcov: str) -> dict[Path, dict[int, int]]:
    """How often each line of each file was run: the most of all objects."""
    counts: dict[Path, dict[int, int]] = collections.defaultdict(dict)
    for notes in sorted(build.rglob("*.gcno")):
        command = [gcov, "--json-format", "--stdout", str(notes)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=build)
        for text in done.stdout.splitlines():
            for file in json.loads(text)["files"]:
                path = Path(os.path.normpath(build / file["file"]))
                if not path.exists():  # ccache names files from a folder of its own
                    path = ROOT / file["file"]
                lines = counts[path]
                for line in file["lines"]:
                    number, count = line["line_number"], line["count"]
                    lines[number] = max(lines.get(number, 0), count)
    return {path: lines for path, lines in counts.items() if LIBRARY in path.parents}


def folder_of(path: Path) -> str:
    """The folder, or the family of modules, that a file is in."""
    return "/".join(path.relative_to(LIBRARY).parts[:-1][:2])


def ranges(lines: list[int]) -> str:
    """Numbers as text, "3, 5 to 7"."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and runs[-1][-1] == line - 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def main(build: str, gcov: str = "gcov") -> None:
    """Prints what has not run, and the shares; see above."""
    counts = counted(Path(build).resolve(), gcov)
    totals: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for path, lines in sorted(counts.items()):
        missed = [line for line, count in sorted(lines.items()) if not count]
        for name in (folder_of(path), "all"):
            totals[name][0] += len(lines) - len(missed)
            totals[name][1] += len(lines)
        if missed:
            print(f"{path.relative_to(ROOT)}: {ranges(missed)}")
    for name, (run, total) in totals.items():
        print(f"{name}: {run} of {total} statements, {100 * run / total:.1f} %")


if __name__ == "__main__":
    main(*sys.argv[1:])
