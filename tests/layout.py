"""Holds the order of folders: each knows only what stands to the left of it.

In thnn/, by what files include:

    TH -> simd -> work -> call -> geometry -> generic/<family> -> cuda

A family includes itself and generic/shared/; a family of cuda/generic/ also its twin of generic/.
The public headers may be included from everywhere.

In pythnn/, by what files import, at their top or in a function (PACKAGES below). No file imports
itself, through whatever others.

Templated functions that the modules of thnn/ share have the name of their file: THNN_(file_verb).
No file of code has more than 600 lines, but for the lists of prototypes (LISTS), and each folder
with more than ten files has a README. `make lint` runs this.
"""

import ast
import re
import sys
from pathlib import Path

ORDER = ("TH", "simd", "work", "call", "geometry", "generic", "cuda")
PUBLIC = ("THNN.h", "THNNExtra.h", "THNNState.h", "THNNSimd.h", "THNNCaller.h")
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


PROTOTYPE = re.compile(r"\bTHNN_API \w+ THNN_\((\w+)\)|\bTHC_API \w+ THCUNN_\((\w+)\)")
DEFINITION = re.compile(r"^(?!static\b)\w[\w *]*\bTH(?:CU)?NN_\((\w+)\)\(", re.MULTILINE)


def misnamed(root: Path) -> list[str]:
    """The templated functions that are neither exported nor named after their file or folder."""
    exported = {
        name
        for header in root.rglob("generic/TH*.h")
        for names in PROTOTYPE.findall(header.read_text())
        for name in names
    }
    return [
        f"{path.relative_to(root)} defines {name}: call it {path.stem}_…"
        for path in sorted([*root.glob("generic/**/*.c"), *root.glob("cuda/generic/**/*.cu")])
        for name in DEFINITION.findall(path.read_text())
        if name not in exported and name.split("_")[0] not in (path.stem, path.parent.name)
    ]


LISTS = ("thnn/generic/THNN.h", "thnn/cuda/generic/THCUNN.h")
CODE = (".c", ".cmake", ".cpp", ".cu", ".cuh", ".h", ".py", ".txt")


def lengthy(root: Path) -> list[str]:
    """The files of code with more than 600 lines."""
    files = {p.relative_to(root.parent).as_posix(): p for p in sorted(root.rglob("*"))}
    lines = {
        name: len(path.read_text().splitlines())
        for name, path in files.items()
        if path.suffix in CODE and "/data/" not in name and name not in LISTS
    }
    return [
        f"{name} has {count} lines: cut it by topic" for name, count in lines.items() if count > 600
    ]


def crowded(root: Path) -> list[str]:
    """The folders with more than ten files and no README."""
    folders = [folder for folder in (root, *root.rglob("*")) if folder.is_dir()]
    return [
        f"{folder} has more than ten files and no README.md"
        for folder in sorted(folders)
        if not {"data", "__pycache__"} & set(folder.parts)
        and sum(file.is_file() for file in folder.iterdir()) > 10
        and not (folder / "README.md").is_file()
    ]


# ---- pythnn/

PACKAGES = (
    "_shown _html _errors _later _version _table _plain _overlap _copying _files _closing _library",
    "_generator _state _cuda _tensor _random _calls _functions thnn _products functional t7",
    "nn/object nn graph program optim distributed _models onnx",
    "commands report _info _cli __init__ __main__",
)
ROOMS = " ".join(PACKAGES).split()
OLD_NAMES = ("_cuda/tensor.py",)
"""Modules under the names of before, for pickles: they import what has moved to the right."""


def room(file: str) -> str:
    """The folder of ROOMS that a file of pythnn/ is in, or the file itself without its suffix."""
    inside = [r for r in ROOMS if f"{file.removesuffix('.py')}/".startswith(f"{r}/")]
    return max(inside, key=len, default="")


def file_of(root: Path, module: tuple[str, ...]) -> str | None:
    """The file of a module, relative to the package's folder."""
    path = root.joinpath(*module)
    for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
        if module and file.is_file():
            return file.relative_to(root).as_posix()
    return "__init__.py" if not module else None


def imports(root: Path, path: Path) -> set[str]:
    """The files of the package that a file imports, but for those that only types need."""
    here = path.relative_to(root).parts[:-1]
    found = set()
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        pending += ast.iter_child_nodes(node)
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = here[: len(here) + 1 - node.level] + tuple(
            filter(None, (node.module or "").split("."))
        )
        found |= {file_of(root, (*base, a.name)) or file_of(root, base) for a in node.names}
    return {file for file in found if file}


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The files of one circle of imports; empty without any."""
    done: set[str] = set()
    for start in sorted(graph):
        way: list[str] = []
        pending = [(start, False)]
        while pending:
            file, left = pending.pop()
            if left:
                done.add(way.pop())
            elif file in way:
                return [*way[way.index(file) :], file]
            elif file not in done:
                way.append(file)
                pending += [(file, True), *((other, False) for other in sorted(graph[file]))]
    return []


def import_violations(root: Path) -> list[str]:
    """Every import of the package that breaks the order, and one circle."""
    files = [p for p in sorted(root.rglob("*.py")) if p.relative_to(root).parts[0] != "_build"]
    graph = {path.relative_to(root).as_posix(): imports(root, path) for path in files}
    found = [
        f"{file} imports {other}: {room(other)} stands to the right of {room(file)}"
        for file, others in graph.items()
        for other in sorted(others)
        if room(file)
        and room(other)
        and ROOMS.index(room(other)) > ROOMS.index(room(file))
        and file not in OLD_NAMES
    ]
    found += [
        f"{file} is in no room: give PACKAGES of {__file__} its place"
        for file in graph
        if not room(file)
    ]
    around = circle({file: others & graph.keys() for file, others in graph.items()})
    return [*found, f"a circle: {' imports '.join(around)}"] if around else found


if __name__ == "__main__":
    tree = Path(__file__).resolve().parent.parent
    lines = violations(tree / "thnn") + import_violations(tree / "pythnn")
    lines += misnamed(tree / "thnn")
    for name in ("thnn", "pythnn", "cmake", "tests", "benchmarks"):
        lines += lengthy(tree / name) + crowded(tree / name)
    sys.exit("\n".join(lines) if lines else 0)
