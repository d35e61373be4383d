"""Chromium without a window, told what to do by the DevTools protocol over two pipes."""

from __future__ import annotations

import base64
import io
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from PIL import Image

__all__ = ["Browser", "chromium"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 120  # seconds for an answer, after which the browser is taken for stuck


def chromium():
    """The path of Chromium; skips the test where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = f"no Chromium on PATH ({', '.join(NAMES)})"
        if os.environ.get("PYTHNN_REQUIRE_BROWSER") == "1":
            pytest.fail(f"{reason}, and PYTHNN_REQUIRE_BROWSER=1")
        pytest.skip(reason)
    return found


class Browser:
    """One page in a browser."""

    def __init__(self, program: str, profile: Path) -> None:
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()

        def wire() -> None:
            # Chromium reads from 3 and writes to 4; the pipes may have these numbers already.
            high = [os.dup2(fd, n) for n, fd in ((60, commands), (61, answers))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        arguments = [
            program,
            "--headless=new",
            "--no-sandbox",  # which containers lack; the pages are our own
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=wire,
            env={**os.environ, "HOME": str(profile)},
        )
        os.close(commands)
        os.close(answers)
        self._text = b""
        self._count = 0
        self._session = None
        self.problems: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """Ends the browser."""
        os.close(self._commands)
        os.close(self._answers)
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def call(self, method: str, **parameters: object) -> dict:
        """The result of a command; notes problems of the page on the way."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._count:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def wait_for(self, event: str) -> None:
        """Waits for an event of the page."""
        while self._receive().get("method") != event:
            pass

    def _receive(self) -> dict:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._text:
            ready, _, _ = select.select([self._answers], [], [], end - time.monotonic())
            assert ready, "Chromium does not answer"
            part = os.read(self._answers, 1 << 20)
            assert part, "Chromium ended"
            self._text += part
        text, self._text = self._text.split(b"\0", 1)
        message = json.loads(text)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, parameters: dict) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(str(parameters["args"]))
        elif method == "Log.entryAdded":
            self.problems.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            address = parameters["request"]["url"]
            if not address.startswith(("data:", "file:", "about:")):
                self.problems.append(f"asks for {address}")

    # ---- Pages

    def show(self, path: Path, width: int, height: int = 900, scheme: str = "light") -> None:
        """Opens a file in a window of this size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.call("Page.navigate", url=path.absolute().as_uri())
        self.wait_for("Page.loadEventFired")

    def value(self, script: str) -> object:
        """The value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key: str) -> None:
        """Presses Tab or Enter."""
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **(text if kind == "keyDown" else {}),
            )

    def screenshot(self, *, whole: bool = False) -> Image.Image:
        """What is seen, or the whole page."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
