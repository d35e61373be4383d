"""Errors of the C functions in the words of the functions of this package."""

from __future__ import annotations

import re
from typing import Any

from .._errors import THNNArgumentError, THNNError

__all__ = ["translated"]

# By C argument, what it comes from here: the first one that a function has.
_SOURCES: dict[str, tuple[str, ...]] = {
    "bias1": ("biases",),
    "bias2": ("biases",),
    "buffer": (),
    "ceilMode": ("ceil_mode",),
    "connTable": ("table",),
    "count_include_pad": ("count_padding",),
    "cx": ("cell",),
    "cy": ("after",),
    "dim": ("axis",),
    "featFirst": ("features_first",),
    "gradOutput": ("grad_output",),
    "gradOutputCell": ("grad_after",),
    "hx": ("state",),
    "idx": ("indices",),
    "ignore_index": ("ignore_index",),
    "input": ("x", "indices", "rows"),
    "inplace": (),
    "batchMode": ("batch",),
    "lambda_": ("threshold",),
    "lambda": ("threshold",),
    "lower": ("lower",),
    "max_val": ("high",),
    "maxNorm": ("max_norm",),
    "min_val": ("low",),
    "mode": ("mode", "mean"),
    "negval": ("negative_slope",),
    "noise": ("slopes",),
    "normType": ("p",),
    "offset2bag": ("bags",),
    "paddingValue": ("padding_index",),
    "randomSamples": ("samples",),
    "scaleGradByFreq": ("scale_by_frequency",),
    "scale_factor": ("factor",),
    "sizeAverage": ("average",),
    "storage": ("storage", "gates"),
    "train": ("training",),
    "val": ("value",),
    "dT": ("stride",), "dW": ("stride",), "dH": ("stride",),
    "kT": ("window", "kernel", "weight"), "kW": ("window", "kernel", "weight"),
    "kH": ("window", "kernel", "weight"),
    "nInputPlane": ("weight", "x"), "nOutputPlane": ("weight",),
    "inputFrameSize": ("x",), "outputFrameSize": ("weight",),
    "inputWidth": ("input_size", "x", "shape"), "inputHeight": ("input_size", "x", "shape"),
    "inputDepth": ("input_size", "x", "shape"),
    "nbatch": ("shape",), "nchannels": ("shape",),
    "output": ("output",),
    "width": ("width",),
}  # fmt: skip
_PREFIXES = {
    "adj": ("output_padding",),
    "a": ("output_padding",),
    "dilation": ("dilation",),
    "o": ("size",),
    "output": ("size", "output_size"),
    "p": ("padding",),
    "pad": ("padding",),
    "pad_": ("padding",),
    "poolSize": ("window",),
}
_ENDS = re.compile(
    r"(adj|a|dilation|output|o|pad_|pad|p|poolSize)"
    r"(?:[TWH]|Width|Height|Depth|width|height|[lrtb]|left|right|top|bottom|front|back"
    r"|Left|Right|Top|Bottom|Front|Back)"
)
_WORDS = {
    "nBatch": "batch", "nClasses": "classes", "nFeature": "features", "nInputFrame": "frames in",
    "nInputPlane": "planes in", "nOutputFrame": "frames out", "nOutputPlane": "planes out",
    "nPlane": "planes", "inputFrameSize": "features in", "outputFrameSize": "features out",
    "outputHeight": "height out", "outputWidth": "width out", "inputHeight": "height in",
    "inputWidth": "width in", "gradInput": "the gradient", "gradWeight": "the gradient of weight",
}  # fmt: skip
"""C words for what is no argument here."""
_OF_INPUT = re.compile(r"\b(of|like|as|than|in|for) (the )?(input|gradOutput|target|weight)\b")
_MESSAGE = re.compile(
    r".*?'(?P<name>\w+)': expected (?P<wanted>.*), found (?P<found>.*)", re.DOTALL
)


def translated(front: Any, error: Exception) -> Exception:
    """An error that speaks of the function and its arguments; other errors as they are."""
    if not isinstance(error, THNNError):
        return error
    if isinstance(error, THNNArgumentError):
        message = _MESSAGE.fullmatch(str(error))
        if message is None:
            return error
        argument = _argument(front, message["name"])
        wanted, found = _in_words(front, message["wanted"]), _in_words(front, message["found"])
        if argument is None:
            wanted = f"arguments that give {message['name']} {wanted}"
            return THNNArgumentError(
                f"{front.name}: expected {wanted}, found {found}", function=front.name
            )
        if front.kinds.get(argument) == "Indices" and front.index_base:
            wanted, found = _from_zero(wanted), _from_zero(found)
        refused: THNNArgumentError = front.refuse(argument, wanted, found)
        return refused
    text = re.sub(r"^\w+?_\w+:", f"{front.name}:", str(error), count=1)
    error.args = (text, *error.args[1:])
    return error


def _argument(front: Any, name: str) -> str | None:
    """The argument that a C argument comes from."""
    ends = _ENDS.fullmatch(name)
    sources = _SOURCES.get(name) or (_PREFIXES[ends[1]] if ends else ()) or (name,)
    if name not in _SOURCES and name in front.positions:
        return name
    return next((source for source in sources if source in front.positions), None)


def _in_words(front: Any, text: str) -> str:
    """A part of a message without the names of C arguments."""

    def of_argument(found: re.Match[str]) -> str:
        return f"{found[1]} {_argument(front, found[3]) or found[3]}"

    def word(found: re.Match[str]) -> str:
        name = found[0]
        if name in _WORDS:
            return _WORDS[name]
        if name in _SOURCES and name not in (
            "input",
            "output",
            "width",
            "mode",
            "lower",
            "storage",
        ):
            return _argument(front, name) or name
        if _ENDS.fullmatch(name) and re.search("[A-Z_]", name):
            return _argument(front, name) or name
        return name

    text = text.replace("an input plane", "a plane of x").replace("an input ", "sizes ")
    text = _OF_INPUT.sub(of_argument, text)
    text = re.sub(r"'(\w+)'", lambda m: f"'{_argument(front, m[1]) or m[1]}'", text)
    return re.sub(r"\b[A-Za-z_]\w*\b", word, text)


def _from_zero(text: str) -> str:
    """Indices that count from 1 as ones that count from 0."""
    if re.fullmatch(r"-?\d+", text):
        return str(int(text) - 1)
    text = re.sub(
        r"from (\d+) to (\d+)", lambda m: f"from {int(m[1]) - 1} to {int(m[2]) - 1}", text
    )
    return text.replace(", from 1,", ", from 0,").replace("0 at the end", "-1 at the end")
