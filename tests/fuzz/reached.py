"""Which lines and branches of a folder's files have run, as far as Python tells (from 3.12 on)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType
from typing import Any


class Reached:
    """Counts them while it runs. What has been counted costs no time any more."""

    def __init__(self, folder: Path) -> None:
        self.count = 0
        self.works = hasattr(sys, "monitoring")
        self._folder = str(folder)
        self._ways: dict[tuple[int, int], set[int]] = {}
        self._ours: dict[int, bool] = {}
        if self.works:
            self._start()

    def _start(self) -> None:
        monitoring: Any = sys.monitoring
        tool, events = monitoring.COVERAGE_ID, monitoring.events
        disable = monitoring.DISABLE

        def on_line(code: CodeType, _line: int) -> Any:
            self.count += self._is_ours(code)
            return disable

        def on_branch(code: CodeType, start: int, end: int) -> Any:
            if not self._is_ours(code):
                return disable
            ways = self._ways.setdefault((id(code), start), set())
            if end not in ways:
                ways.add(end)
                self.count += 1
            return disable if len(ways) > 1 else None

        monitoring.use_tool_id(tool, "reached")
        monitoring.register_callback(tool, events.LINE, on_line)
        monitoring.register_callback(tool, events.BRANCH, on_branch)
        monitoring.set_events(tool, events.LINE | events.BRANCH)

    def _is_ours(self, code: CodeType) -> bool:
        ours = self._ours.get(id(code))
        if ours is None:
            ours = self._ours[id(code)] = code.co_filename.startswith(self._folder)
        return ours
