"""``exports.py NM LIBTH LIBTHNN [LIBTHCUNN]``: what the libraries export, and to whom.

libTH and libTHNN export what the public headers declare, all of it, without a version. Beside
that libTHNN exports, with the version THNN_PRIVATE, what its other headers declare so for
libTHCUNN. With libTHCUNN as the last argument it is this that is looked at: it exports what its
headers declare, and takes all that is private.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
sys.path += [str(ROOT / "tests/python"), str(ROOT / "tests/python/package")]

from support.compiling import c_compiler  # noqa: E402
from test_interface import interface, script  # noqa: E402

VERSION = "THNN_PRIVATE"
FOR_TESTS = {"THC_largestIndex"}  # which the emulation exports, and no other build (THCLaunch.h)


def declared() -> set[str]:
    """The functions and variables of the public headers."""
    lines = [line for line in interface() if not line.startswith("typedef")]
    matches = (re.search(r"(\w+)(?=\(| ?;$)", line) for line in lines)
    return {match[1] for match in matches if match}


def declared_for_cuda() -> set[str]:
    """The functions of libTHCUNN's headers."""
    headers, folder = script("headers"), ROOT / "thnn"
    public = ["cuda/THCUNN.h", "cuda/THCUNNExtra.h"]
    text = headers.preprocess([c_compiler()], [folder], public)
    functions = headers.parse(text, folder / "cuda", folder / "generic").functions
    return {f.name for f in functions} - declared()


def private() -> set[str]:
    """What headers within the library declare for libTHCUNN: each by its name, none templated."""
    headers = (ROOT / "thnn").rglob("*.h")
    declaration = re.compile(rf"^{VERSION} [\w\s*]*?(\w+)\(", re.MULTILINE)
    return {name for file in headers for name in declaration.findall(file.read_text())}


def symbols(nm: str, library: str, which: str) -> tuple[set[str], set[str]]:
    """The symbols of a library that are ``defined`` or ``undefined``: public and private ones."""
    command = [nm, "-D", f"--{which}-only", library]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    names = [line.split()[-1] for line in lines if " A " not in line]
    inside = {name.split("@")[0] for name in names if name.endswith(f"@{VERSION}")}
    return {name for name in names if "@" not in name}, inside


def differences(wanted: set[str], found: set[str], more: str, less: str) -> list[str]:
    """A line for each name that is in one of two sets."""
    return [f"{more}: {name}" for name in sorted(found - wanted)] + [
        f"{less}: {name}" for name in sorted(wanted - found)
    ]


def main(nm: str, th: str, thnn: str, thcunn: str = "") -> None:
    """Ends with the names that should not be exported, or are not."""
    public, inside = symbols(nm, thnn, "defined")
    if thcunn:
        found, _ = symbols(nm, thcunn, "defined")
        _, taken = symbols(nm, thcunn, "undefined")
        found, wanted = found - FOR_TESTS, declared_for_cuda()
        problems = differences(inside, taken, "private, but not there", "private, but not taken")
    else:
        found, wanted = public | symbols(nm, th, "defined")[0], declared()
        problems = differences(
            private(),
            inside,
            f"in private.map, but not declared {VERSION}",
            f"declared {VERSION}, but not in private.map",
        )
    sys.exit(
        "\n".join(
            differences(wanted, found, "exported, but in no header", "declared, but not exported")
            + problems
        )
        or 0
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
