"""Holds the order of the folders of thnn/: each includes only what stands to the left of it.

    TH -> simd -> work -> call -> geometry -> generic/<family> -> cuda

A family includes itself and generic/shared/; a family of cuda/generic/ also its twin of generic/.
The public headers may be included from everywhere. `make lint` runs this.
"""

import re
import sys
from pathlib import Path

ORDER = ("TH", "simd", "work", "call", "geometry", "generic", "cuda")
PUBLIC = ("THNN.h", "THNNExtra.h", "THNNState.h", "THNNSimd.h")
INCLUDE = re.compile(r'^#\s*include\s+"([^"]+)"', re.MULTILINE)


def family(path: str) -> str:
    """The family of modules that a file belongs to: "" for what all families share."""
    parts = path.removeprefix("cuda/").split("/")
    inside = parts[0] == "generic" and len(parts) > 2
    return parts[1] if inside and parts[1] != "shared" else ""


def violation(including: str, included: str) -> str | None:
    """What is wrong about one include, both paths relative to thnn/."""
    from_room, to_room = including.split("/")[0], included.split("/")[0]
    if included in PUBLIC:
        return None
    if including in PUBLIC:
        return None if to_room in ("TH", "generic") else "a public header includes public ones only"
    if ORDER.index(to_room) > ORDER.index(from_room):
        return f"{to_room}/ stands to the right of {from_room}/"
    if family(included) and family(included) != family(including):
        return f"{family(included)} is another family"
    return None


def violations(root: Path) -> list[str]:
    """Every include of the tree that breaks the order."""
    found = []
    for path in sorted(root.rglob("*.[ch]*")):
        including = path.relative_to(root).as_posix()
        for name in INCLUDE.findall(path.read_text()):
            beside = (path.parent / name).resolve()
            target = beside if beside.is_file() else (root / name).resolve()
            if not target.is_file():
                found.append(f"{including}: there is no {name}")
                continue
            why = violation(including, target.relative_to(root).as_posix())
            if why:
                found.append(f"{including} includes {name}: {why}")
    return found


if __name__ == "__main__":
    lines = violations((Path(__file__).parent.parent / "thnn").resolve())
    sys.exit("\n".join(lines) if lines else 0)
