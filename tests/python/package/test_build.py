"""The build script: what it reads out of the C headers, and what it refuses to guess."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import inspect
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pythnn
from pythnn import thnn
from pythnn._table import FUNCTIONS

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "pythnn"


def script(name):
    if str(SOURCE) not in sys.path:
        sys.path.append(str(SOURCE))  # at the end: its modules must hide nothing
    return importlib.import_module(f"_build.{name}")


API = 'extern __attribute__((visibility("default"))) '


def parse(text):
    headers = script("headers")
    return headers.parse(f'# 1 "/h/generic/THNN.h"\n{text}\n', Path("/h"))


def prototypes(
    comment="in: any shape", name="Float", function="Abs_updateOutput", before="/* It. */"
):
    return f"""{before}
{API}void THNN_{name}{function}(
    THNNState *state, /* may be NULL */
    TH{name}Tensor *input, /* {comment} */
    double scale); /* a factor */
"""


def table(text):
    return script("table").read_table(parse(text), "generic/THNN.h")


def both(**changes):
    return prototypes(**changes) + prototypes(**changes, name="Double")


def test_a_function():
    (entry,) = table(both())
    assert (entry.name, entry.text, entry.inplace) == ("Abs_updateOutput", "It.", None)
    state, tensor, scale = entry.arguments
    assert (state.kind, state.role, state.text) == ("state", "", "may be None")
    assert (tensor.kind, tensor.role, tensor.optional, tensor.text) == (
        "real",
        "in",
        False,
        "any shape",
    )
    assert (scale.kind, scale.text) == ("double", "a factor")


def test_comments():
    headers = script("headers")
    assert headers.clean("/* one\n * two\n *\n * three */") == "one two\n\nthree"
    assert headers.clean("/* ---- Heading -----------\n *\n * text */") == "text"
    (entry,) = table(both(before="/* Copyright. */\n/* It\n * does. */"))
    assert entry.text == "It does."


def test_one_comment_for_a_line_of_arguments():
    header = parse(f"{API}int f(int kW, int kH, /* kernel */\n long long n); /* count */")
    (function,) = header.functions
    assert [p.comment for p in function.parameters] == ["kernel", "kernel", "count"]
    assert function.prototype("g") == "int g(int kW, int kH, long long n)"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"comment": "any shape"}, "should read '<role>"),
        ({"comment": "input: any shape"}, "should read '<role>"),
        ({"comment": "scratch: unused"}, "should be optional"),
        ({"before": ""}, "no comment before it"),
    ],
)
def test_bad_comments(changes, problem):
    with pytest.raises(script("headers").HeaderError, match=problem):
        table(both(**changes))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (prototypes(), "exists for Float only"),
        (prototypes() + prototypes(name="Double", comment="out: any shape"), "differs between"),
        (both().replace("double scale", "float scale"), "unknown type 'float'"),
        (both().replace("/* a factor */", ""), "'scale' has no comment"),
        (both().replace("void THNN", "int THNN"), "should return void"),
        (both().replace("in: any", "in, optional: any"), "no required tensor"),
        (both().replace("double scale", "_Bool inplace"), "with an argument 'inplace'"),
        (f"{API}void THNN_Other(int x);", "is not THNN_<real><name>"),
        ("", "no function in"),
    ],
)
def test_bad_tables(text, problem):
    with pytest.raises(script("headers").HeaderError, match=problem):
        table(text)


@pytest.mark.parametrize(
    "text",
    [
        "int variable;",
        f"{API}int f(int (*callback)(void));",
        f"{API}int f(int);",
        f"{API}int f(unsigned);",
        f"{API}int f(int a[3]);",
        f'{API}int f(int a) __asm__("g");',
        "int f(int a",
        f"{API}int f(int a); // comment",
        f"{API}int f(int a /* first */, int b);",
        "@",
    ],
)
def test_not_understood(text):
    with pytest.raises(script("headers").HeaderError):
        parse(text)


def test_what_is_skipped():
    header = parse(
        "static inline int helper(int x) { return x; }\nint internal(int x);\n"
        f"typedef struct T {{ int x; /* one */ }} T;\n{API}T *f(const T *t);\n{API}int counter;\n"
    )
    assert [f.prototype() for f in header.functions] == ["T *f(const T *t)"]
    assert header.types == ["typedef struct T { int x ; } T ;"]
    assert header.variables == ["extern int counter ;"]


def test_functions_left_out_must_exist():
    generate = script("generate")
    with pytest.raises(script("headers").HeaderError, match="names what no header declares"):
        generate.guarded_functions(parse(f"{API}int f(int x);"), generate.LEFT_OUT)


def test_build_is_repeatable(tmp_path, compiler):
    include = SOURCE.parent / "thnn"
    command = [sys.executable, str(SOURCE / "_build"), "--compiler", compiler, "--version", "1.2.3"]
    command += ["--include", str(include), "--output", str(tmp_path)]
    subprocess.run(command, check=True)
    first = {p.name: (p.read_text(), p.stat().st_mtime_ns) for p in tmp_path.iterdir()}
    assert set(first) == {"_cffi.c", "_functions.py", "_table.py", "_version.py", "thnn.pyi"}
    subprocess.run(command, check=True)
    assert first == {p.name: (p.read_text(), p.stat().st_mtime_ns) for p in tmp_path.iterdir()}


def test_preprocessor_errors_are_shown(tmp_path, compiler):
    headers = script("headers")
    with pytest.raises(headers.HeaderError, match=r"missing\.h"):
        headers.preprocess([compiler], [tmp_path], ["missing.h"])


# ---- What was generated


def test_functions_that_can_be_read():
    """Each is there with its types, its text, and lines of the project's width."""
    source = Path(importlib.util.find_spec("pythnn._functions").origin).read_text()
    assert max(map(len, source.splitlines())) <= 120
    functions = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)}
    assert set(functions) == set(thnn.__all__) == set(FUNCTIONS)
    for name, node in functions.items():
        made = getattr(thnn, name)
        assert [a.arg for a in node.args.args] == list(inspect.signature(made).parameters)
        assert all(a.annotation is not None for a in node.args.args)
        assert "\nParameters\n" in inspect.getdoc(made)
        assert inspect.getsource(made).startswith(f"def {name}(")
        assert made.__module__ == "pythnn.thnn"


def test_sources_say_that_they_are_not_built(tmp_path):
    """As where Python is started in a clone of the project."""
    built = shutil.ignore_patterns(
        "*.so*", "_functions.py", "_table.py", "_version.py", "__pycache__"
    )
    shutil.copytree(SOURCE, tmp_path / "pythnn", ignore=built)
    command = [sys.executable, "-c", "import pythnn"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{tmp_path}/pythnn holds pythnn's sources" in done.stderr
    assert "pip install ." in done.stderr


def test_functions_satisfy_a_type_checker(tmp_path):
    pytest.importorskip("mypy", reason="mypy is installed by make lint, which runs this test")
    package = tmp_path / "pythnn"
    built = Path(importlib.util.find_spec("pythnn._table").origin).parent
    shutil.copytree(built, package, ignore=shutil.ignore_patterns("*.so*", "__pycache__"))
    example = tmp_path / "example.py"
    example.write_text(
        "import numpy as np\n"
        "from pythnn import State, Tensor, thnn\n"
        "x = np.zeros(3, np.float32)\n"
        "thnn.Threshold_updateOutput(None, x, Tensor(x), 0.0, 0.0, False)\n"
        "with State(threads=1) as state:\n"
        "    thnn.Threshold_updateOutput(state, Tensor(x), None, 0, 0.0, inplace=True)\n"
        "thnn.Threshold_updateOutput(None, [1.0], x, 0.0, 0.0, False)\n"
        "thnn.Threshold_updateOutput(None, x, x, 0.0, 0.0)\n"
        "thnn.Missing_updateOutput(None)\n"
        "State(convolution='fourier')\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    command += ["--cache-dir", str(tmp_path), str(example), str(package / "_functions.py")]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    lines = [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line]
    assert lines == ["7", "8", "9", "10"], done.stdout + done.stderr


def test_version():
    assert pythnn.__version__.count(".") == 2


def test_metadata():
    """A page, an address, and each version of Python from the oldest that is required."""
    metadata = importlib.metadata.metadata("pythnn")
    assert metadata["Project-URL"].startswith("Homepage, https://")
    assert metadata["License-Expression"] == "BSD-3-Clause"
    address = metadata["Author-email"].partition("<")[2].removesuffix(">")
    assert address in (ROOT / "SECURITY.md").read_text()
    versions = [
        int(line.rpartition(".")[2])
        for line in metadata.get_all("Classifier")
        if line.startswith("Programming Language :: Python :: 3.")
    ]
    oldest = int(metadata["Requires-Python"].removeprefix(">=3."))
    assert versions == list(range(oldest, max(versions) + 1))
    assert sys.version_info.minor in versions
