"""Models in evaluation as programs.

All that can be settled before a run is settled once::

    program = pythnn.compile(model, example)
    y = program(x)
"""

from __future__ import annotations

from .plan import Step
from .program import Program, compile  # noqa: A004 (its name)

__all__ = ["Program", "Step", "compile"]
