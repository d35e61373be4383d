"""``THNNCaller.h`` has a macro for each kernel; this file, run as a program, writes it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_interface import interface

HEADER = Path(__file__).parents[3] / "thnn/THNNCaller.h"
TOP = """\
/* All of THNN, whose errors also say where a program has called:
 *   Linear_updateOutput: argument #2 … at thnn/call/check.c:43, called at layer.c:52
 * Each kernel is a macro here that notes file and line of its call (THSetCaller of
 * TH/THHandlers.h) and calls the function; (THNN_FloatAbs_updateOutput)(…) calls it alone.
 * Libraries are the same. Written by tests/python/package/test_caller_lines.py. */
#ifndef THNN_CALLER_H
#define THNN_CALLER_H

#include "THNNExtra.h"
#include <TH/THHandlers.h>

/* clang-format off */

#define THNN_CALL(function, ...) \\
  (THSetCaller(__FILE__, __LINE__), function(__VA_ARGS__), THSetCaller(NULL, 0))

"""
END = "\n#endif\n"


def header() -> str:
    """The text of the header, from the functions of the others."""
    kernel = re.compile(r"function: void (THNN_(?:Float|Double)\w+)\(")
    names = sorted(match[1] for line in interface() if (match := kernel.match(line)))
    return TOP + "".join(f"#define {n}(...) THNN_CALL({n}, __VA_ARGS__)\n" for n in names) + END


def test_every_kernel_has_a_macro() -> None:
    if not HEADER.parent.is_dir():
        pytest.skip("the tests stand alone, without the headers")
    assert HEADER.read_text() == header(), f"python {Path(__file__).name} writes it again"


if __name__ == "__main__":
    HEADER.write_text(header())
