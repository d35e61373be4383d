"""What notebooks show of modules, graphs, programs and Tensors."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import pythnn
from pythnn import nn
from pythnn.graph import lower


class Shown(HTMLParser):
    """The text of a piece of HTML; fails where an element is not closed in order, or is unknown."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []
        self.folds = 0
        self.feed(value._repr_html_())
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag in ("b", "details", "div", "pre", "span", "summary")
        assert {name for name, _ in attrs} <= {"open", "style"}
        self.open.append(tag)
        self.folds += tag == "details"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.text += "\n" if tag in ("div", "summary") else ""

    def handle_data(self, data: str) -> None:
        self.text += data


def model() -> nn.Sequential:
    inside = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 2))
    return nn.Sequential(nn.View(6), inside, nn.LogSoftMax())


def test_modules() -> None:
    made = model()
    shown = Shown(made)
    assert "nn.Sequential · 38 parameters\n(1) nn.View(6)\n" in shown.text
    assert "(2) nn.Sequential · 38 parameters\n(1) nn.Linear(6 -> 4) · 28 parameters" in shown.text
    assert shown.folds == 2
    made.forward(np.zeros((3, 2, 3)))
    text = Shown(made).text
    assert "nn.Sequential · 3 x 2 · 38 parameters" in text
    assert "(1) nn.Linear(6 -> 4) · 3 x 4 · 28 parameters" in text
    assert "· 1 parameter\n" in Shown(nn.Mul()).text


def test_shared_parameters_count_once() -> None:
    layer = nn.Linear(2, 2)
    assert "nn.Sequential · 6 parameters" in Shown(nn.Sequential(layer, layer)).text


def test_graphs() -> None:
    shown = Shown(lower(model(), np.zeros((3, 6))))
    assert shown.text.startswith("Graph: 4 operations · 96 multiply-adds\n")
    assert "2:Sequential · 3 x 2 · 96 multiply-adds\n1:Linear: Linear · 3 x 4 · 72" in shown.text
    assert shown.folds == 2


def test_programs() -> None:
    shown = Shown(pythnn.compile(model(), np.zeros((3, 6))))
    assert shown.text.startswith("Program of nn.Sequential: 4 steps in 0.00 MB · 96 multiply-adds")
    assert "2:Tanh: Tanh · 3 x 4" in shown.text
    assert "3:LogSoftMax: LogSoftMax · 3 x 2" in shown.text
    rectified = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2))
    assert "2:ReLU: Threshold" in Shown(pythnn.compile(rectified, np.zeros((3, 6)))).text


def test_tensors() -> None:
    text = Shown(pythnn.Tensor([[1.5, 2], [3, 4]])).text
    assert text.startswith("Tensor · 2 x 2 · float64\n")
    assert "[1.5, 2. ],\n" in text
    assert "empty" in Shown(pythnn.Tensor(dtype=np.float32)).text
    closed = pythnn.Tensor([1.0])
    closed.close()
    assert Shown(closed).text == "Tensor(closed)\n"


MARKUP = "<script>alert('&\"')</script>"


class Marked(nn.Module):
    """A class of a user's whose text is markup."""

    def updateOutput(self, input: Any) -> Any:
        self.output = input + 1
        return self.output

    def __repr__(self) -> str:
        return MARKUP

    @classmethod
    def typename(cls) -> str:
        """A name as a file may have it."""
        return f"nn.{MARKUP}"


def test_what_users_write_is_escaped() -> None:
    made = nn.Sequential(nn.Linear(2, 2), Marked())
    for value in (made, lower(made, np.zeros((1, 2))), pythnn.compile(made, np.zeros((1, 2)))):
        assert "script" in Shown(value).text  # which fails on an element of that name


def test_no_tree_is_too_large() -> None:
    shown = Shown(nn.Sequential(*(nn.Identity() for _ in range(3000))))
    assert "… and 2,001 more" in shown.text
    deep: nn.Module = nn.Identity()
    for _ in range(80):
        deep = nn.Sequential(deep)
    assert "…" in Shown(deep).text
    around = nn.Sequential(nn.Identity())
    around.modules.append(around)
    assert "it is inside itself" in Shown(around).text
    many = nn.Sequential(*(nn.Tanh() for _ in range(1200)))
    assert "… and 200 more" in Shown(lower(many, np.zeros(3))).text


def test_damaged_modules_are_shown() -> None:
    layer = nn.Linear(2, 2)
    layer.assign("weight", None)
    layer.assign("output", [])
    shown = Shown(nn.Sequential(layer))
    assert "nn.Linear" in shown.text


@pytest.mark.parametrize("value", [np.nan, 3.0])
def test_outputs_that_are_no_tensors(value: float) -> None:
    made = nn.Identity()
    made.assign("output", value)
    assert "nn.Identity" in Shown(made).text
