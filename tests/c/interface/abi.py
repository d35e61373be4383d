"""``abi.py BUILD [--write]``: compares the libraries of a build with debugging information with
``tests/data/api/*.abi.xz``, by libabigail.

What the baseline has must stay as it is, in sizes, offsets and types, or the libraries get new
SONAMEs; more functions harm nobody. ``--write`` makes the baseline that of this build. Types that
programs only have pointers to, and what is exported for libTHCUNN alone, may change.
"""

import lzma
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[3]
BASELINE = ROOT / "tests/data/api"
LIBRARIES = {"libTH": "thnn/TH/libTH-pythnn.so", "libTHNN": "thnn/libTHNN.so"}
PROCESSOR, SYSTEM = "x86_64", "Linux"  # of the baseline
PRIVATE = "[suppress_function]\n  symbol_version = THNN_PRIVATE\n"


def public_headers(build: Path, folder: Path) -> Path:
    """A folder with what programs include, which is what the build installs."""
    command = ["cmake", "--install", str(build), "--prefix", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "include"


def describe(library: Path, headers: Path, description: Path) -> None:
    """Writes the interface of a library as XML, without the build's folders."""
    command = ["abidw", "--headers-dir", str(headers), "--drop-private-types", "--no-show-locs"]
    command += ["--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed"]
    subprocess.run([*command, "--out-file", str(description), str(library)], check=True)


def same(before: Path, now: Path, private: Path) -> bool:
    """Whether programs that were compiled with one run with the other; prints what prevents it."""
    command = ["abidiff", "--no-added-syms", "--suppressions", str(private), str(before), str(now)]
    return subprocess.run(command, check=False).returncode == 0


def main(build: Path, *arguments: str) -> None:
    """Ends with the differences."""
    for tool in ("abidw", "abidiff"):
        if not shutil.which(tool):
            print(
                f"skipped: there is no {tool} on this machine (Debian: apt install abigail-tools)"
            )
            return
    if (platform.system(), platform.machine()) != (SYSTEM, PROCESSOR):
        print(f"skipped: the baseline is for {SYSTEM} on {PROCESSOR}")
        return
    changed = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        private = folder / "private"
        private.write_text(PRIVATE)
        headers = public_headers(build, folder / "installed")
        for name, library in LIBRARIES.items():
            now, before = folder / f"{name}.abi", folder / f"{name}.before.abi"
            describe(build / library, headers, now)
            kept = BASELINE / f"{name}.abi.xz"
            if "--write" in arguments:
                kept.write_bytes(lzma.compress(now.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
                continue
            before.write_bytes(lzma.decompress(kept.read_bytes()))
            print(f"{name}: compared with {kept.relative_to(ROOT)}", flush=True)
            changed += [] if same(before, now, private) else [name]
    if changed:
        sys.exit(
            f"programs that were compiled against {' and '.join(changed)} of before would not run "
            "with this one: undo the change, or give the library a new SONAME and write the "
            "baseline with --write"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
