"""``exports.py NM LIBRARY…``: the libraries export what the public headers declare, all of it.

Beside that libTHNN exports what its other headers declare for libTHCUNN, which stands on it.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path += [str(ROOT / "tests/python"), str(ROOT / "tests/python/package")]

from test_interface import interface  # noqa: E402


def declared() -> set[str]:
    """The functions and variables of the public headers."""
    lines = [line for line in interface() if not line.startswith("typedef")]
    matches = (re.search(r"(\w+)(?=\(| ?;$)", line) for line in lines)
    return {match[1] for match in matches if match}


def exported(nm: str, library: str) -> set[str]:
    """The symbols that a library defines for others."""
    command = [nm, "-D", "--defined-only", library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if " A " not in line}


def for_cuda() -> set[str]:
    """What headers within the library declare for libTHCUNN: each by its name, none templated."""
    headers = (ROOT / "thnn").rglob("*.h")
    declaration = re.compile(r"^THNN_API [\w *]*?(\w+)\(", re.MULTILINE)
    return {name for file in headers for name in declaration.findall(file.read_text())}


def main(nm: str, *libraries: str) -> None:
    """Ends with the names that should not be exported, or are not."""
    public = declared()
    symbols = set().union(*(exported(nm, library) for library in libraries))
    problems = [f"declared, but not exported: {name}" for name in sorted(public - symbols)]
    hidden = symbols - public - for_cuda()
    problems += [f"exported, but in no header: {name}" for name in sorted(hidden)]
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
