"""What ``pythnn inspect`` and ``pythnn info`` show, on terminals and in pipes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import pythnn
from pythnn import nn
from pythnn._cli import main
from pythnn._models.measuring import Measured
from pythnn._models.rows import rows_of
from pythnn.commands._memory import memory_text
from pythnn.commands._tree import lines_of_rows
from pythnn.t7 import TorchObject


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def done(*arguments):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result.output


def on_terminal(*arguments, columns, **environment):
    """What a command writes to a terminal of a width."""
    terminal, end = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CI")}
    plain |= {"COLUMNS": str(columns), "TERM": "xterm-256color", **environment}
    command = [sys.executable, "-m", "pythnn", *arguments]
    with subprocess.Popen(command, stdout=end, stderr=end, stdin=end, env=plain):
        os.close(end)
        parts = []
        try:
            while part := os.read(terminal, 1 << 16):
                parts.append(part)
        except OSError:  # what Linux says at the end
            pass
    os.close(terminal)
    return b"".join(parts).decode().replace("\r\n", "\n")


def lines(module, results=None, **options):
    options = {"depth": 50, "width": None, **options}
    return [line.plain for line in lines_of_rows(rows_of(module), results or {}, **options)]


def block(size=3):
    return nn.Sequential().add(nn.Linear(size, size)).add(nn.ReLU(True))


def stacked(*modules):
    model = nn.Sequential()
    for module in modules:
        model.add(module)
    return model


# ---- The tree


def test_repeated_blocks_are_folded():
    model = stacked(nn.Linear(2, 3), *(block() for _ in range(7)), nn.Linear(3, 2))
    shown = lines(model)
    assert len(shown) == 8
    assert " ".join(shown[6].split()) == "(3) to (8) as (2) 6 times more 72"
    assert len(lines(model, fold=False)) == 2 + 2 + 7 * 3
    flat = stacked(*(layer for _ in range(6) for layer in (nn.Linear(3, 3), nn.ReLU())))
    assert " ".join(lines(flat)[-1].split()) == "(3) to (12) as (1) to (2) 5 times more 60"
    different = stacked(*(block(size) for size in range(1, 8)))
    assert lines(different) == lines(different, fold=False)


def test_figures_of_folded_blocks_are_sums():
    model = stacked(*(nn.Linear(3, 3) for _ in range(6)))
    results = {id(m): Measured(0.001, np.zeros((1, 3))) for m in model.listModules()}
    found = " ".join(lines(model, results)[-1].split())
    assert found == "(2) to (6) as (1) 5 times more 60 1 x 3 5.00 120 B"


def test_shared_modules_are_not_folded():
    linear = nn.Linear(2, 2)
    shown = lines(stacked(linear, linear, linear, linear, linear))
    assert shown[2].split()[:2] == ["(1)", "nn.Linear(2"]
    assert "the same as (1)" in shown[3]


def test_depth_is_that_of_modules():
    model = stacked(stacked(stacked(nn.Linear(2, 2))), nn.Tanh())
    pythnn.save("m.t7", model)
    text = done("inspect", "m.t7", "--depth", "1")
    assert "(1) nn.Sequential, … 2 inside" in text
    assert "Linear" not in text
    assert "Linear" in done("inspect", "m.t7", "--depth", "3")
    assert "Linear" in done("inspect", "m.t7")


def test_graphs_show_edges_and_annotations():
    x, y = nn.Identity()(), nn.Identity()()
    first = nn.Linear(3, 4)(x).annotate(name="embedding")
    total = nn.CAddTable()([first, y])
    graph = nn.gModule([x, y], [nn.Tanh()(total), total])
    text = "\n".join(lines(graph))
    assert "nn.Linear(3 -> 4) <- (1) [name: embedding]" in text
    assert "(4) nn.CAddTable <- {(3), (2)}" in text or "nn.CAddTable <- {" in text
    assert "output <- {(" in text
    assert graph.sources()[graph.graph.start] == "input"
    first.annotate(**{"name": "a\x1b[31m\n", "\x1bkey": "x" * 10**5})
    text = "\n".join(lines(nn.gModule([x, y], [total])))
    assert r"[name: a\x1b[31m\n, \x1bkey: xxx" in text
    assert max(map(len, text.splitlines())) < 400


# ---- Terminals


@pytest.mark.parametrize("columns", [30, 50, 80, 200])
def test_lines_fit_the_width_and_nothing_is_lost(columns):
    model = stacked(
        nn.SpatialConvolution(100, 1000, 3, 3, 2, 2, 111, 111), stacked(stacked(nn.Linear(2, 2)))
    )
    shown = lines(model, width=columns)
    assert max(map(len, shown)) <= columns
    assert (
        "".join("".join(shown).split()).count("nn.SpatialConvolution(100->1000,3x3,2,2,111,111)")
        == 1
    )
    assert "901,006" in "".join(shown)


@pytest.mark.parametrize("columns", [40, 100])
def test_terminal(columns):
    model = stacked(*(block(size) for size in (3, 3, 3, 4)))
    pythnn.save("model.t7", stacked(model))
    text = on_terminal("inspect", "model.t7", columns=columns)
    assert "\x1b[" in text
    assert "\x1b[36m" in text  # numbers of parameters
    plain = on_terminal("inspect", "model.t7", columns=columns, NO_COLOR="1")
    assert "\x1b[36m" not in plain
    shown = re.sub(r"\x1b\[[0-9;]*m", "", plain).splitlines()
    assert max(map(len, shown)) <= columns


def test_pipe_has_no_colour_and_no_folding_of_lines():
    pythnn.save("m.t7", stacked(nn.SpatialConvolution(100, 1000, 3, 3, 2, 2, 111, 111)))
    environment = {**os.environ, "COLUMNS": "20"}
    command = [sys.executable, "-m", "pythnn", "inspect", "m.t7"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "\x1b" not in text.stdout
    assert "nn.SpatialConvolution(100 -> 1000, 3x3, 2,2, 111,111)" in text.stdout
    assert all(line == line.rstrip() for line in text.stdout.splitlines())


def test_info_in_a_pipe_has_no_padding():
    command = [sys.executable, "-m", "pythnn", "info"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"pythnn: {pythnn.__version__}\n" in text
    assert "  " not in text
    assert all(line == line.strip() for line in text.splitlines())
    assert "BLAS" in on_terminal("info", columns=80)


# ---- What a file holds


def test_memory_of_a_file():
    model = (
        nn.Sequential().add(nn.SpatialConvolution(2, 5, 3, 3)).add(nn.SpatialBatchNormalization(5))
    )
    model.float()
    text = memory_text(model)
    parameters = model.getParameters()[0].nbytes
    assert parameters == 105 * 4
    assert f"{parameters} B parameters, {parameters} B gradients, 40 B running statistics" in text
    model.evaluate()
    model.forward(np.ones((1, 2, 9, 9), np.float32))
    assert "B results and scratch" in memory_text(model)
    assert "clearState()" in memory_text(model)
    assert memory_text(nn.Tanh()) == ""


def test_shared_memory_counts_once():
    linear = nn.Linear(3, 4)
    twin = linear.clone("weight", "bias", "gradWeight", "gradBias")
    size = 16 * 8
    text = memory_text(stacked(linear, twin))
    assert text == f"{2 * size} B of tensors: {size} B parameters, {size} B gradients"
    unknown = TorchObject(
        "my.Layer", {"weight": np.zeros(5), "more": [np.zeros(3), np.zeros(3)[:1]]}
    )
    assert memory_text(unknown) == "88 B of tensors: 88 B other tensors"


def test_modules_of_a_checkpoint_are_shown_with_their_keys():
    net, small = nn.Linear(4, 2), nn.Linear(1, 1)
    pythnn.save("c.t7", {"epoch": 1, "protos": {"small": small, "rnn": stacked(net)}})
    text = done("inspect", "c.t7")
    assert "--key protos.rnn: nn.Sequential, 10 parameters" in text
    assert "--key protos.small: nn.Linear, 2 parameters" in text
    assert "(1) nn.Linear(4 -> 2)" in text
    model = TorchObject("nn.LanguageModel", {"net": stacked(net)})
    pythnn.save("u.t7", {"model": model})
    assert "--key model.net: nn.Sequential, 10 parameters" in done("inspect", "u.t7")


def test_run_guesses_and_takes_medians():
    pythnn.save("m.t7", stacked(nn.Linear(4, 2)))
    text = done("inspect", "m.t7", "--run")
    assert "input 1 x 4, a guess; times are medians of" in text
    assert "1 x 2" in text


def test_a_long_output_does_not_push_others_below_their_names():
    table = nn.ConcatTable()
    for _ in range(4):
        table.add(nn.Identity())
    model = stacked(nn.Linear(3, 3), table)
    results = {id(m): Measured(0.001, np.zeros((1, 3))) for m in model.listModules()}
    results[id(table)] = Measured(0.001, [np.zeros((1, 3))] * 9)
    shown = lines(model, results, width=80)
    assert max(map(len, shown)) <= 80
    (linear,) = (line for line in shown if "Linear" in line)
    assert "1 x 3" in linear
    assert "".join(shown).count("1 x 3, 1 x 3") >= 1


def test_parameter_of_rows_of_different_lengths(monkeypatch):
    ragged = [[1.0], [1.0, 2.0]]
    monkeypatch.setattr(nn.Linear, "parameterTensors", lambda _: ([ragged], [ragged]))
    assert rows_of(nn.Linear(2, 2))
