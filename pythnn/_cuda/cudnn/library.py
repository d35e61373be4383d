"""The library cuDNN: found, checked, loaded, and its functions, which raise."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..._errors import THNNError

__all__ = ["VARIABLE", "CudnnError", "Library", "load", "missing"]

VARIABLE = "PYTHNN_CUDNN"
"""Environment variable: path or name of the library to load in place of the one found."""

_MAJOR = 9
_NAME = f"libcudnn.so.{_MAJOR}"
_INSTALL = (
    "pip install nvidia-cudnn-cu12 or nvidia-cudnn-cu13, by the CUDA version that nvidia-smi "
    f"shows, or set {VARIABLE} to the path of {_NAME}"
)
_MESSAGE_BYTES = 512
"""More than any of cuDNN's messages has."""

_TYPES = {"p": ctypes.c_void_p, "i": ctypes.c_int, "z": ctypes.c_size_t, "d": ctypes.c_double}
_SIGNATURES = {
    "cudnnCreate": "p",
    "cudnnDestroy": "p",
    "cudnnSetStream": "pp",
    "cudnnCreateTensorDescriptor": "p",
    "cudnnSetTensorNdDescriptor": "piipp",
    "cudnnDestroyTensorDescriptor": "p",
    "cudnnCreateFilterDescriptor": "p",
    "cudnnSetFilterNdDescriptor": "piiip",
    "cudnnDestroyFilterDescriptor": "p",
    "cudnnCreateConvolutionDescriptor": "p",
    "cudnnSetConvolutionNdDescriptor": "pipppii",
    "cudnnSetConvolutionGroupCount": "pi",
    "cudnnSetConvolutionMathType": "pi",
    "cudnnDestroyConvolutionDescriptor": "p",
    "cudnnCreatePoolingDescriptor": "p",
    "cudnnSetPoolingNdDescriptor": "piiippp",
    "cudnnDestroyPoolingDescriptor": "p",
    "cudnnGetConvolutionForwardAlgorithm_v7": "pppppipp",
    "cudnnGetConvolutionBackwardDataAlgorithm_v7": "pppppipp",
    "cudnnGetConvolutionBackwardFilterAlgorithm_v7": "pppppipp",
    "cudnnGetConvolutionForwardWorkspaceSize": "pppppip",
    "cudnnGetConvolutionBackwardDataWorkspaceSize": "pppppip",
    "cudnnGetConvolutionBackwardFilterWorkspaceSize": "pppppip",
    "cudnnConvolutionForward": "pppppppipzppp",
    "cudnnConvolutionBackwardData": "pppppppipzppp",
    "cudnnConvolutionBackwardFilter": "pppppppipzppp",
    "cudnnConvolutionBackwardBias": "ppppppp",
    "cudnnAddTensor": "ppppppp",
    "cudnnPoolingForward": "pppppppp",
    "cudnnPoolingBackward": "pppppppppppp",
    "cudnnSoftmaxForward": "piipppppp",
    "cudnnSoftmaxBackward": "piipppppppp",
    "cudnnBatchNormalizationForwardTraining": "pipppppppppdppdpp",
    "cudnnBatchNormalizationForwardInference": "pipppppppppppd",
    "cudnnBatchNormalizationBackward": "pippppppppppppppdpp",
}
"""The letters of the arguments' types (_TYPES). All functions return a status."""


_NOT_SUPPORTED = range(3000, 4000)
"""Statuses of calls whose sizes or types cuDNN does not have."""


class CudnnError(THNNError):
    """A function of cuDNN has failed."""

    is_unsupported = False
    """Whether cuDNN does not have what was asked for."""


class Library:
    """The functions of a cuDNN, by their names."""

    def __init__(self, name: str) -> None:
        library = ctypes.CDLL(name)
        library.cudnnGetVersion.restype = ctypes.c_size_t
        self.name, self.version = name, int(library.cudnnGetVersion())
        self._functions: dict[str, Any] = {}
        for function, letters in _SIGNATURES.items():
            found = getattr(library, function)
            found.argtypes, found.restype = [_TYPES[letter] for letter in letters], ctypes.c_int
            self._functions[function] = found
        self._text = library.cudnnGetErrorString
        self._text.argtypes, self._text.restype = [ctypes.c_int], ctypes.c_char_p
        self._details = library.cudnnGetLastErrorString
        self._details.argtypes, self._details.restype = [ctypes.c_char_p, ctypes.c_size_t], None

    def status(self, function: str, *arguments: Any) -> int:
        """Calls a function; 0 where it succeeded."""
        found: int = self._functions[function](*arguments)
        return found

    def call(self, function: str, *arguments: Any) -> None:
        """Calls a function; raises CudnnError where it fails."""
        status = self._functions[function](*arguments)
        if status:
            details = ctypes.create_string_buffer(_MESSAGE_BYTES)
            self._details(details, _MESSAGE_BYTES)
            text, more = self._text(status).decode(), details.value.decode(errors="replace")
            error = CudnnError(f"{function} failed: {text}" + (f" ({more})" if more else ""))
            error.is_unsupported = status in _NOT_SUPPORTED
            raise error


def _candidates() -> Iterator[str]:
    """What may be the library: what the variable says, or the wheel's, then the system's."""
    named = os.environ.get(VARIABLE)
    if named:
        yield named
        return
    try:
        spec = importlib.util.find_spec("nvidia.cudnn")
    except ModuleNotFoundError:
        spec = None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        file = Path(folder, "lib", _NAME)
        if file.is_file():
            yield str(file)
    yield _NAME


@functools.cache
def _found() -> Library | str:
    """The library, or why there is none; looked for once."""
    why = ""
    for name in _candidates():
        try:
            library = Library(name)
        except (OSError, AttributeError) as error:  # no such file, or no such function in it
            why = why or str(error)
            continue
        if library.version // 10000 == _MAJOR:
            return library
        why = why or f"{name} has version {library.version}, and {_MAJOR} is needed"
    return why


def load() -> Library:
    """The library.

    Raises THNNError where there is none.
    """
    found = _found()
    if isinstance(found, str):
        raise THNNError(f"cuDNN {_MAJOR} cannot be loaded ({found}): {_INSTALL}")
    return found


def missing() -> str:
    """Why there is no library; empty where there is one."""
    found = _found()
    return found if isinstance(found, str) else ""
