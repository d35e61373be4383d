"""The order of the folders of thnn/ and pythnn/: it holds, and what breaks it is found."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
spec = importlib.util.spec_from_file_location("layout", ROOT / "tests" / "layout.py")
layout = importlib.util.module_from_spec(spec)
spec.loader.exec_module(layout)


def test_order_holds():
    assert layout.violations(ROOT / "thnn") == []
    assert layout.import_violations(ROOT / "pythnn") == []


def tree(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_names_lengths_and_readmes_hold():
    assert layout.misnamed(ROOT / "thnn") == []
    for name in ("thnn", "pythnn", "cmake", "tests", "benchmarks"):
        assert layout.lengthy(ROOT / name) + layout.crowded(ROOT / name) == []


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("generic/pooling/max.c", "void THNN_(pool)(int n)\n{\n}\n", ["pool"]),
        ("cuda/generic/pooling/max.cu", "void THCUNN_(pool)(int n)\n{\n}\n", ["pool"]),
        ("generic/pooling/max.c", "void THNN_(max_pool)(int n)\n{\n}\n", []),
        ("generic/pooling/max/rows.c", "void THNN_(max_pool)(int n)\n{\n}\n", []),
        ("generic/pooling/max.c", "static void THNN_(pool)(int n)\n{\n}\n", []),
        ("generic/pooling/Max.c", "void THNN_(Pooling_update)(int n)\n{\n}\n", []),
    ],
)
def test_shared_functions_have_the_names_of_their_files(tmp_path, file, text, found):
    exported = "THNN_API void THNN_(Pooling_update)(\n    int n);\n"
    root = tree(tmp_path, {"generic/THNN.h": exported, file: text})
    assert [line.split("defines ")[1].split(":")[0] for line in layout.misnamed(root)] == found


def test_long_files_are_found(tmp_path):
    lists = {"generic/THNN.h": "\n" * 601, "call/plan.c": "\n" * 600}
    long = {"call/check.c": "\n" * 601, "call/names.py": "\n" * 601, "data/x.py": "\n" * 601}
    root = tree(tmp_path / "thnn", {**lists, **long})
    assert layout.lengthy(root) == [
        "thnn/call/check.c has 601 lines: cut it by topic",
        "thnn/call/names.py has 601 lines: cut it by topic",
    ]


def test_folders_with_many_files_need_a_readme(tmp_path):
    root = tree(tmp_path, {f"call/{n}.c": "" for n in range(11)})
    (line,) = layout.crowded(root)
    assert "call has more than ten files" in line
    (root / "call" / "README.md").touch()
    assert layout.crowded(root) == []


HEADERS = dict.fromkeys(
    (
        "THNNState.h",
        "simd/simd.h",
        "work/sizes.h",
        "call/plan.h",
        "geometry/pooling.h",
        "generic/template.h",
        "generic/shared/matrix.h",
        "generic/pooling/max.h",
        "generic/linear/checks.h",
        "cuda/THC/THCPlan.h",
        "cuda/generic/pooling/max.cuh",
    ),
    "",
)


@pytest.mark.parametrize(
    ("file", "include", "found"),
    [
        ("simd/loops/pooling.c", "work/sizes.h", "work/ stands to the right of simd/"),
        ("work/threads.c", "call/plan.h", "call/ stands to the right of work/"),
        ("geometry/cell.c", "generic/template.h", "generic/ stands to the right of geometry/"),
        ("call/plan.c", "cuda/THC/THCPlan.h", "cuda/ stands to the right of call/"),
        ("generic/pooling/max.c", "generic/linear/checks.h", "linear is another family"),
        ("generic/shared/matrix.c", "generic/linear/checks.h", "linear is another family"),
        ("generic/linear/Linear.c", "../pooling/max.h", "pooling is another family"),
        ("cuda/generic/linear/Linear.cu", "cuda/generic/pooling/max.cuh", "another family"),
        ("cuda/generic/linear/Linear.cu", "generic/pooling/max.h", "another family"),
        ("THNNState.h", "call/plan.h", "a public header includes public ones only"),
        ("call/plan.c", "call/nowhere.h", "there is no call/nowhere.h"),
    ],
)
def test_violations_are_found(tmp_path, file, include, found):
    root = tree(tmp_path, {**HEADERS, file: f'#include "{include}"\n'})
    (line,) = layout.violations(root)
    assert line.startswith(file)
    assert found in line


@pytest.mark.parametrize(
    ("file", "include"),
    [
        ("simd/loops/pooling.c", "THNNState.h"),
        ("generic/pooling/max.c", "generic/pooling/max.h"),
        ("generic/pooling/max.c", "generic/shared/matrix.h"),
        ("generic/pooling/max.c", "simd/simd.h"),
        ("cuda/generic/pooling/max.cu", "generic/pooling/max.h"),
        ("cuda/generic/pooling/max.cu", "cuda/generic/pooling/max.cuh"),
    ],
)
def test_what_is_allowed(tmp_path, file, include):
    root = tree(tmp_path, {**HEADERS, file: f'#include "{include}"\n'})
    assert layout.violations(root) == []


# ---- pythnn/

PACKAGE = dict.fromkeys(
    (
        "__init__.py",
        "_errors.py",
        "_tensor/__init__.py",
        "_tensor/host.py",
        "_tensor/device.py",
        "_calls/host.py",
        "t7/__init__.py",
        "nn/__init__.py",
        "nn/object/module.py",
        "nn/linear/linear.py",
        "report/write.py",
    ),
    "",
)


@pytest.mark.parametrize(
    ("file", "line", "found"),
    [
        ("_tensor/host.py", "from .._calls import host", "_calls stands to the right of _tensor"),
        ("t7/__init__.py", "def f():\n    from ..nn import Linear", "nn stands to the right of t7"),
        (
            "nn/object/module.py",
            "from ..linear.linear import L",
            "nn stands to the right of nn/obj",
        ),
        ("nn/linear/linear.py", "from ...report import write", "report stands to the right of nn"),
        ("_errors.py", "from . import nn", "nn stands to the right of _errors"),
        ("other/module.py", "", "give PACKAGES of"),
    ],
)
def test_imports_from_the_right_are_found(tmp_path, file, line, found):
    root = tree(tmp_path, {**PACKAGE, file: line})
    (violation,) = layout.import_violations(root)
    assert violation.startswith(file)
    assert found in violation


def test_circles_within_a_folder_are_found(tmp_path):
    host, device = "def f():\n    from .device import g", "from . import host"
    root = tree(tmp_path, {**PACKAGE, "_tensor/host.py": host, "_tensor/device.py": device})
    (violation,) = layout.import_violations(root)
    assert "_tensor/device.py imports _tensor/host.py imports _tensor/device.py" in violation


def test_imports_that_are_allowed(tmp_path):
    only_types = "if TYPE_CHECKING:\n    from ..nn import Module"
    root = tree(
        tmp_path,
        {
            **PACKAGE,
            "_calls/host.py": "from .._tensor import device\nfrom .._errors import E",
            "t7/__init__.py": only_types,
            "nn/__init__.py": "from .. import t7\nfrom .linear.linear import *",
            "nn/linear/linear.py": "from ..object.module import Module",
        },
    )
    assert layout.import_violations(root) == []
