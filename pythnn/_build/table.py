"""The function table: what ``THNN.h`` says about each function, checked and split into fields."""

from __future__ import annotations

import keyword
import re
import textwrap
from dataclasses import dataclass

from .headers import Function, Header, HeaderError, Parameter


@dataclass(frozen=True)
class Dialect:
    """How a library spells the types of its functions."""

    reals: tuple[str, ...]
    """The real types in the names of functions."""
    tensor_kinds: dict[str, str]
    other_kinds: dict[str, str]

    @property
    def real(self) -> str:
        """A pattern for the real types."""
        return "|".join(sorted(self.reals, reverse=True))

    def without_real(self, ctype: str) -> str:
        """A type as the template has it."""
        if ctype in ("float", "double"):
            return "accreal"
        return re.sub(rf"^TH({self.real})Tensor", "THTensor", ctype)


_NUMBERS = {"int": "int", "int64_t": "int64", "double": "double", "_Bool": "bool"}
CPU = Dialect(
    ("Float", "Double"),
    {
        "THFloatTensor *": "real",
        "THDoubleTensor *": "real",
        "THLongTensor *": "index",
        "THIntTensor *": "integer",
    },
    {"THNNState *": "state", "THGenerator *": "generator", **_NUMBERS},
)
CUDA = Dialect(
    ("Cuda", "CudaDouble"),
    {
        "THCudaTensor *": "real",
        "THCudaDoubleTensor *": "real",
        "THCudaLongTensor *": "index",
        "THCudaIntTensor *": "integer",
    },
    {"THCState *": "state", "void *": "generator", "float": "double", **_NUMBERS},
)
ROLES = ("in", "out", "inout", "accumulate", "scratch")

_TENSOR_COMMENT = re.compile(r"(?P<role>\w+)(?P<optional>, optional)?: (?P<text>.+)")


@dataclass(frozen=True)
class Argument:
    name: str
    kind: str
    """What a Dialect calls the type."""
    role: str
    """One of ROLES; empty for what is not a tensor."""
    optional: bool
    text: str

    @property
    def python_name(self) -> str:
        """The name with an underscore where Python has the word for itself: lambda_."""
        return f"{self.name}_" if keyword.iskeyword(self.name) else self.name


@dataclass(frozen=True)
class Entry:
    """A function of THNN.h, both real types in one."""

    name: str
    text: str
    arguments: tuple[Argument, ...]
    inplace: tuple[str, str] | None
    """With an `inplace` argument: the tensor worked on, and the one that becomes its view."""


def _argument(parameter: Parameter, place: str, dialect: Dialect) -> Argument:
    name, comment = parameter.name, parameter.comment
    if keyword.iskeyword(name):
        name += "_"  # lambda, as PEP 8 has it
    if not comment:
        raise HeaderError(f"{place}: argument '{name}' has no comment")
    comment = re.sub(r"\bNULL\b", "None", comment)
    if parameter.ctype in dialect.other_kinds:
        return Argument(name, dialect.other_kinds[parameter.ctype], "", False, comment)
    if parameter.ctype not in dialect.tensor_kinds:
        raise HeaderError(f"{place}: argument '{name}' has the unknown type '{parameter.ctype}'")
    match = _TENSOR_COMMENT.fullmatch(comment)
    if match is None or match["role"] not in ROLES:
        raise HeaderError(
            f"{place}: the comment of '{name}' should read '<role>[, optional]: <shape>' "
            f"with a role out of {', '.join(ROLES)}; it reads '{comment}'"
        )
    if (match["role"] == "scratch") > bool(match["optional"]):
        raise HeaderError(f"{place}: '{name}' is scratch, so it should be optional: NULL will do")
    kind = dialect.tensor_kinds[parameter.ctype]
    return Argument(name, kind, match["role"], bool(match["optional"]), match["text"])


def _inplace(arguments: tuple[Argument, ...], place: str) -> tuple[str, str] | None:
    if not any(a.name == "inplace" for a in arguments):
        return None
    worked_on = [a.name for a in arguments if re.search(r"overwritten .*when inplace", a.text)]
    shares = [a.name for a in arguments if re.search(r"shares .* storage when inplace", a.text)]
    if len(worked_on) != 1 or len(shares) != 1:
        raise HeaderError(
            f"{place}: with an argument 'inplace' one tensor should be 'overwritten … when "
            f"inplace' and one should say 'shares … storage when inplace'; found {worked_on} "
            f"and {shares}"
        )
    return worked_on[0], shares[0]


def _entry(name: str, functions: dict[str, Function], dialect: Dialect) -> Entry:
    first, second = (functions[real] for real in dialect.reals)
    same = [(dialect.without_real(p.ctype), p.name, p.comment) for p in first.parameters] == [
        (dialect.without_real(p.ctype), p.name, p.comment) for p in second.parameters
    ]
    if not same or first.comment != second.comment:
        raise HeaderError(f"{first.place}: {name} differs between float and double")
    if first.result != "void" or first.variadic:
        raise HeaderError(f"{first.place}: {name} should return void and take fixed arguments")
    if not first.comment:
        raise HeaderError(f"{first.place}: {name} has no comment before it")
    arguments = tuple(_argument(p, first.place, dialect) for p in first.parameters)
    if not any(a.kind == "real" and not a.optional for a in arguments):
        raise HeaderError(f"{first.place}: {name} has no required tensor of real type")
    text = re.sub(r"\bNULL\b", "None", first.comment)
    return Entry(name, text, arguments, _inplace(arguments, first.place))


def read_table(header: Header, file: str, dialect: Dialect = CPU) -> list[Entry]:
    """The functions of the header file with this name, in its order."""
    found: dict[str, dict[str, Function]] = {}
    for function in header.functions:
        if not function.place.rpartition(":")[0].endswith(file):
            continue
        match = re.fullmatch(rf"THNN_({dialect.real})(\w+)", function.name)
        if match is None:
            raise HeaderError(f"{function.place}: {function.name} is not THNN_<real><name>")
        found.setdefault(match[2], {})[match[1]] = function
    for name, functions in found.items():
        if len(functions) != len(dialect.reals):
            raise HeaderError(f"{name} exists for {', '.join(functions)} only")
    if not found:
        raise HeaderError(f"no function in {file}")
    return [_entry(name, functions, dialect) for name, functions in found.items()]


_KIND_WORDS = {
    "real": "float32 or float64 array or Tensor",
    "index": "int64 array or Tensor",
    "integer": "int32 array or Tensor",
    "state": "State or None",
    "generator": "Generator",
    "int": "int",
    "int64": "int",
    "double": "float",
    "bool": "bool",
}
_ROLE_WORDS = {
    "in": "read",
    "out": "written; a Tensor is resized, an array must have the shape",
    "inout": "read and written",
    "accumulate": "added to",
    "scratch": "never read, never checked",
}


def docstring(entry: Entry) -> str:
    """What ``help(thnn.<name>)`` shows."""
    lines = [*textwrap.wrap(entry.text, 88), "", "Parameters", "----------"]
    for a in entry.arguments:
        words = _KIND_WORDS[a.kind]
        if a.role == "scratch":
            words = "None, array or Tensor"
        elif a.optional or (entry.inplace and a.name == entry.inplace[1]):
            words += " or None"
        lines.append(f"{a.python_name} : {words}")
        text = f"[{a.role}] {a.text} ({_ROLE_WORDS[a.role]})" if a.role else a.text
        lines += textwrap.wrap(text, 84, initial_indent="    ", subsequent_indent="    ")
    notes = [
        "All tensors of real type are float32, or all are float64; the first one decides. "
        "Indices count from 1.",
    ]
    if entry.inplace:
        source, view = entry.inplace
        notes.append(
            f"With inplace, {view} is a Tensor, or None, or the same memory as {source}; with "
            f"arrays it is None or the array passed as {source}."
        )
    lines += ["", "Notes", "-----"]
    for note in notes:
        lines += textwrap.wrap(note, 88)
    lines += [
        "",
        "Raises",
        "------",
        "THNNArgumentError",
        "    An argument does not fit; every argument is left as it was.",
        "THNNMemoryError",
        "    Not enough memory.",
    ]
    return "\n".join(lines)
