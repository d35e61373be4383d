"""The table of all classes is complete, and says what their docstrings say."""

from __future__ import annotations

import importlib.util
import re
from typing import Any

from support.documents import ROOT

from pythnn import nn


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("classes", ROOT / "docs" / "classes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_its_generator_writes() -> None:
    classes = generator()
    assert classes.PAGE.read_text() == classes.page(), "run python docs/classes.py"


def test_every_class_has_one_row() -> None:
    text = (ROOT / "docs" / "classes.md").read_text()
    named = re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE)
    assert len(named) == len(set(named))
    for name, cls in nn.registry.items():
        if issubclass(cls, (nn.Module, nn.Criterion)):
            known = name if name.startswith(("cudnn.", "inn.", "w2nn.")) else cls.__name__
            assert known in named


def test_packages_are_those_of_lua() -> None:
    classes = generator()
    wanted = {
        "Linear": "nn", "SeqLSTM": "rnn", "RecLSTM": "torch/rnn", "LanguageModel": "torch-rnn",
        "NeuraltalkLanguageModel": "neuraltalk2",
        "NCEModule": "dpnn", "SpatialPyramid": "nnx", "BilinearSamplerBHWD": "stnbhwd",
        "ContentLoss": "neural-style", "PerceptualCriterion": "fast-neural-style",
        "gModule": "nngraph",
    }  # fmt: skip
    for name, package in wanted.items():
        assert classes.package_of(getattr(nn, name)) == package
    assert classes.package_of(nn.cudnn.LSTM) == "cudnn"
    assert classes.package_of(nn.inn.ROIPooling) == "inn"
