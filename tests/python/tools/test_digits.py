"""The digits example: it learns, and what it saves runs from the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples"))

import digits
from rich.console import Console

import pythnn
from pythnn._cli import main


def test_learns_and_runs_from_the_command_line(tmp_path):
    pythnn.manual_seed(0)
    images, classes, held_out, their_classes = digits.data(0)
    model = digits.network()
    digits.train(model, images, classes, 8, 0, Console(quiet=True))
    assert digits.accuracy(model, held_out, their_classes) > 0.97

    digits.save(model, held_out, their_classes, tmp_path)
    loaded = pythnn.load(tmp_path / "digits.t7")
    assert (loaded.forward(held_out) == model.forward(held_out)).all()

    shown = CliRunner().invoke(
        main, ["inspect", str(tmp_path / "digits.t7"), "--input", "1x8x8"], catch_exceptions=False
    )
    assert "1 x 16 x 8 x 8" in shown.output
    labels = ["--labels", str(tmp_path / "labels.txt"), "--top", "1"]
    ran = CliRunner().invoke(
        main,
        ["run", str(tmp_path / "digits.t7"), str(tmp_path / "digits"), *labels],
        catch_exceptions=False,
    )
    # The last line, which some releases of click have among the results, says how fast that was.
    lines = [line for line in ran.output.splitlines() if ".png: " in line]
    assert len(lines) == digits.SAMPLES
    right = [line.split(".png: ")[0][-1] == line.split(".png: ")[1][0] for line in lines]
    assert sum(right) >= digits.SAMPLES - 1
