"""Reads the C headers: preprocessed text in, declarations with their comments out.

The compiler preprocesses (keeping comments), so macros and templates need no second description
here. What is left of the library's own headers is a small subset of C, and anything outside it
stops the build.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path


class HeaderError(Exception):
    """A header holds something that this parser does not understand."""


@dataclass(frozen=True)
class Token:
    text: str
    file: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def is_comment(self) -> bool:
        return self.text.startswith("/*")

    @property
    def last_line(self) -> int:
        return self.line + self.text.count("\n")


@dataclass(frozen=True)
class Parameter:
    ctype: str
    """Type as in C, ``THFloatTensor *``."""
    name: str
    comment: str


@dataclass(frozen=True)
class Function:
    name: str
    result: str
    parameters: tuple[Parameter, ...]
    variadic: bool
    comment: str
    place: str

    def prototype(self, name: str | None = None) -> str:
        """The declaration without attributes and comments."""
        arguments = ", ".join(spell(p.ctype, p.name) for p in self.parameters) or "void"
        if self.variadic:
            arguments += ", ..."
        return f"{spell(self.result, name or self.name)}({arguments})"


@dataclass
class Header:
    """What the headers declare, in their order."""

    types: list[str] = field(default_factory=list)
    """Type definitions, as C text."""
    functions: list[Function] = field(default_factory=list)
    """Functions with the export attribute."""
    imported: list[Function] = field(default_factory=list)
    """Functions that are ``extern``, but not exported: somebody else has them."""
    variables: list[str] = field(default_factory=list)
    """Exported variables, as C text."""


def spell(ctype: str, name: str) -> str:
    """``int`` and ``x`` to ``int x``, ``T *`` and ``x`` to ``T *x``."""
    return f"{ctype}{name}" if ctype.endswith("*") else f"{ctype} {name}"


def preprocess(compiler: Sequence[str], include: Sequence[Path], headers: Iterable[str]) -> str:
    """Preprocesses the headers of these folders, keeping comments and line markers."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "headers.c"
        source.write_text("".join(f"#include <{header}>\n" for header in headers))
        folders = [f"-I{folder}" for folder in include]
        command = [*compiler, "-E", "-C", *folders, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HeaderError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


_TOKEN = re.compile(
    r"""
    (?P<marker>^\#[ ](?P<line>\d+)[ ]"(?P<file>[^"]*)"[^\n]*\n)
  | (?P<directive>^\#[^\n]*\n)
  | (?P<newline>\n)
  | (?P<space>[ \t\r\f]+|\\\n)
  | (?P<comment>/\*.*?\*/)
  | (?P<linecomment>//[^\n]*)
  | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<word>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<punctuation>\.\.\.|<<|>>|[-+*/%&|^~!<>=?:;,.()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def tokenize(text: str, *roots: Path) -> Iterator[Token]:
    """The tokens that stand in files under one of the folders."""
    file, line, wanted = "", 1, False
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            if not wanted:  # system headers may hold anything
                position += 1
                continue
            raise HeaderError(f"{file}:{line}: unexpected character {text[position]!r}")
        position = match.end()
        kind = match.lastgroup
        if match["marker"]:
            file, line = match["file"], int(match["line"])
            wanted = any(Path(file).is_relative_to(root) for root in roots)
            continue
        if wanted and kind in ("word", "number", "string", "punctuation", "comment"):
            yield Token(match[0], file, line)
        elif wanted and kind == "linecomment":
            raise HeaderError(f"{file}:{line}: write comments as /* … */")
        line += match[0].count("\n")


def clean(comment: str) -> str:
    """The text of a comment; lines are joined, empty lines keep paragraphs apart."""
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment[2:-2].split("\n")]
    lines = [line for line in lines if not re.search(r"-{8,}$", line)]  # headings of sections
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip())
    return "\n\n".join(" ".join(part.split()) for part in paragraphs)


def _join(tokens: Iterable[Token]) -> str:
    text = " ".join(token.text for token in tokens)
    return re.sub(r"\* (?=[\w*])", "*", text)


def _ctype(tokens: Sequence[Token]) -> str:
    """A type's tokens as text, spelled as clang-format spells it."""
    words = [token.text for token in tokens if token.text != "struct"]
    return re.sub(r"\* (?=\*)", "*", " ".join(words))


_QUALIFIERS = {"const", "struct", "unsigned", "signed"}


class _Parser:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.header = Header()

    def parse(self) -> Header:
        comment: Token | None = None
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.is_comment:
                comment = token
                self.at += 1
                continue
            if token.text == ";":
                self.at += 1
                continue
            declaration = self._declaration()
            self._classify(declaration, comment)
            comment = None
        return self.header

    def _declaration(self) -> list[Token]:
        """Tokens up to the `;` or the closing `}` of a function body, and the comment after it."""
        start, depth = self.at, 0
        while True:
            if self.at == len(self.tokens):
                raise HeaderError(f"{self.tokens[start].place}: a declaration without end")
            token = self.tokens[self.at]
            self.at += 1
            if token.text in "({[":
                depth += 1
            elif token.text in ")}]":
                depth -= 1
                body = token.text == "}" and depth == 0
                if body and self.tokens[start].text in ("static", "inline"):
                    return list(self.tokens[start : self.at])
            elif token.text == ";" and depth == 0:
                break
        end = token.line
        while (
            self.at < len(self.tokens)
            and self.tokens[self.at].is_comment
            and self.tokens[self.at].line == end
            and self.tokens[self.at].file == token.file
        ):
            self.at += 1
        return list(self.tokens[start : self.at])

    def _classify(self, declaration: list[Token], comment: Token | None) -> None:
        code = [token for token in declaration if not token.is_comment]
        first = code[0]
        words = [token.text for token in code]
        if first.text in ("static", "_Static_assert"):
            return  # inline helpers of C users
        if first.text in ("typedef", "enum", "struct"):
            self.header.types.append(_join(code))
            return
        exported = False
        if words[0] == "extern":
            del declaration[0]
        while declaration[0].text == "__attribute__":
            attribute = self._attribute(declaration)
            exported |= any("visibility" in token.text for token in attribute)
            del declaration[: len(attribute)]
        if not any(token.text == "(" for token in declaration):
            if not exported:
                raise HeaderError(f"{first.place}: neither a function nor exported: {_join(code)}")
            code = [token for token in declaration if not token.is_comment]
            self.header.variables.append("extern " + _join(code))
            return
        function = self._function(declaration, comment)
        if exported:
            self.header.functions.append(function)
        elif words[0] == "extern":
            self.header.imported.append(function)

    def _attribute(self, declaration: list[Token]) -> list[Token]:
        """The tokens of the attribute that a declaration begins with."""
        depth = 0
        for index, token in enumerate(declaration[1:], 1):
            if token.text == "(":
                depth += 1
            elif token.text == ")":
                depth -= 1
                if depth == 0:
                    return declaration[: index + 1]
        raise HeaderError(f"{declaration[0].place}: an attribute without end")

    def _function(self, declaration: list[Token], comment: Token | None) -> Function:
        opening = next(i for i, token in enumerate(declaration) if token.text == "(")
        head = [token for token in declaration[:opening] if not token.is_comment]
        rest = declaration[opening + 1 :]
        depth, closing = 1, -1
        for index, token in enumerate(rest):
            if token.text == "(":
                depth += 1
            elif token.text == ")":
                depth -= 1
                if depth == 0:
                    closing = index
                    break
        tail = [token.text for token in rest[closing + 1 :] if not token.is_comment]
        if len(head) < 2 or closing < 0 or tail not in ([";"],):
            raise HeaderError(f"{declaration[0].place}: not a prototype: {_join(declaration)}")
        comments = [token for token in rest[closing + 1 :] if token.is_comment]
        parameters, variadic = self._parameters(rest[:closing], comments)
        return Function(
            name=head[-1].text,
            result=_ctype(head[:-1]),
            parameters=parameters,
            variadic=variadic,
            comment=clean(comment.text) if comment else "",
            place=head[-1].place,
        )

    def _parameters(
        self, tokens: list[Token], last_comments: list[Token]
    ) -> tuple[tuple[Parameter, ...], bool]:
        """A comment belongs to the parameters of its line that have none yet."""
        parameters: list[Parameter] = []
        open_from, depth, variadic = 0, 0, False
        current: list[Token] = []

        def finish() -> None:
            nonlocal variadic
            words = [token.text for token in current]
            if words in ([], ["void"]):
                pass
            elif words == ["..."]:
                variadic = True
            else:
                parameters.append(self._parameter(current))
            current.clear()

        def describe(comment: Token) -> None:
            nonlocal open_from
            for index in range(open_from, len(parameters)):
                p = parameters[index]
                parameters[index] = Parameter(p.ctype, p.name, clean(comment.text))
            open_from = len(parameters)

        for token in tokens:
            if token.is_comment:
                if current:
                    raise HeaderError(f"{token.place}: put the comment behind the comma")
                describe(token)
                continue
            if token.text in "([":
                depth += 1
            elif token.text in ")]":
                depth -= 1
            if token.text == "," and depth == 0:
                finish()
            else:
                current.append(token)
        finish()
        for comment in last_comments:
            describe(comment)
        return tuple(parameters), variadic

    def _parameter(self, tokens: list[Token]) -> Parameter:
        words = [token.text for token in tokens]
        if "(" in words:  # pointer to function: void (*name)(…)
            star = words.index("*", words.index("("))
            name = words[star + 1]
            ctype = _join(tokens[: star + 1]) + _join(tokens[star + 2 :])
            raise HeaderError(
                f"{tokens[0].place}: give the function pointer '{name}' a type name ({ctype})"
            )
        if len(words) < 2 or not re.fullmatch(r"[A-Za-z_]\w*", words[-1]):
            raise HeaderError(f"{tokens[0].place}: a parameter needs a type and a name: {words}")
        if any(not re.fullmatch(r"[A-Za-z_]\w*|\*", word) for word in words):
            raise HeaderError(f"{tokens[0].place}: not understood: {' '.join(words)}")
        if words[-2] in _QUALIFIERS:
            raise HeaderError(f"{tokens[0].place}: a parameter without a name: {' '.join(words)}")
        return Parameter(_ctype(tokens[:-1]), words[-1], "")


def parse(text: str, *roots: Path) -> Header:
    """The declarations, in preprocessed text, of the headers under one of the folders."""
    return _Parser(list(tokenize(text, *roots))).parse()
