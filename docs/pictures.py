"""Makes the pictures of the documentation that show pythnn at work.

    python docs/pictures.py

Trains the network of examples/digits.py and writes what a terminal shows of it to
images/terminal.svg, and the report about it, on a screen and on a phone, to images/report.png.
Needs scikit-learn, Chromium, and script and stty of util-linux and coreutils.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
COLUMNS = 98  # of the terminal
COMMANDS = (
    "pythnn inspect digits.t7 --input 1x8x8",
    "pythnn run digits.t7 digits/image1-of-6.png --labels labels.txt --top 3",
)
SCREEN, PHONE = (1280, 1000), (390, 1000)


def in_terminal(command: str, folder: Path) -> str:
    """What a command writes to a terminal, with its colours."""
    script = f"stty cols {COLUMNS}; {sys.executable} -m {command}"
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    done = subprocess.run(
        ["script", "--quiet", "--return", "--command", script, os.devnull],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode().replace("\r\n", "\n")


def terminal(folder: Path) -> str:
    """The commands and what they print, as SVG that loads nothing."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for command in COMMANDS:
        console.print(Text(f"$ {command}", "bold"))
        console.print(Text.from_ansi(in_terminal(command, folder)))
    picture = console.export_svg(title="pythnn", unique_id="pythnn")
    return re.sub(r"@font-face \{.*?\}\n", "", picture, flags=re.DOTALL)


def report(folder: Path) -> Image.Image:
    """The page about the model on a screen, and on a phone in the dark."""
    sys.path.insert(0, str(ROOT / "tests" / "python"))
    from support.browser import Browser, chromium

    image = min((folder / "digits").glob("*.png"))
    command = f"pythnn report digits.t7 --preset gray --labels labels.txt --image {image}"
    subprocess.run([sys.executable, "-m", *shlex.split(command)], cwd=folder, check=True)
    browser = Browser(chromium(), folder / "profile")
    shots = []
    for (width, height), scheme in ((SCREEN, "light"), (PHONE, "dark")):
        browser.show(folder / "digits.html", width, height, scheme)
        shots.append(browser.screenshot().crop((0, 0, width, height)))
    browser.close()
    gap = 24  # pixels between the two
    both = Image.new("RGB", (SCREEN[0] + gap + PHONE[0], SCREEN[1]), "white")
    both.paste(shots[0], (0, 0))
    both.paste(shots[1], (SCREEN[0] + gap, 0))
    return both.quantize(64)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        example = [sys.executable, ROOT / "examples" / "digits.py", "--output", folder]
        subprocess.run(example, check=True)
        (IMAGES / "terminal.svg").write_text(terminal(folder))
        report(folder).save(IMAGES / "report.png", optimize=True)


if __name__ == "__main__":
    main()
