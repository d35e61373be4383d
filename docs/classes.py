"""Writes classes.md: all classes of pythnn.nn, what each is, and which package it comes from."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from pythnn import nn

PAGE = Path(__file__).with_name("classes.md")
# Packages by the end of the name of the Python module, the most special first.
PACKAGES = {
    "recurrent.torch_rnn": "torch-rnn",
    "recurrent": "rnn",
    "dpnn": "dpnn",
    "packages.nnx": "nnx",
    "packages.inn": "inn",
    "packages.cudnn": "cudnn",
    "packages.densecap": "densecap",
    "packages.neuraltalk": "neuraltalk2",
    "packages.stn": "stnbhwd",
    "packages.style": "neural-style",
    "packages.tree": "nnx",
    "packages.w2nn": "waifu2x",
}
# Classes of another package than others of their Python module.
EXCEPTIONS = {
    "torch/rnn": (
        "LinearRNN", "LookupRNN", "RecGRU", "RecLSTM", "ReverseSequence", "ReverseUnreverse",
        "SeqBGRU", "SeqBLSTM", "StepGRU", "StepLSTM", "VariableLength",
    ),
    "dpnn": ("ReverseTable", "SpatialGlimpse"),
    "fast-neural-style": (
        "InstanceNormalization", "PerceptualCriterion", "ShaveImage", "TotalVariation",
    ),
    "char-rnn": ("CharOneHot",),
    "cunn": ("DataParallelTable",),
    "XNOR-Net": ("BinActiveZ",),
    "neuraltalk2": ("FeatExpander",),
    "lstm-char-cnn": ("LinearNB",),
    "VAE-Torch": ("Sampler",),
    "eyescream": ("SpatialConvolutionUpsample",),
    "OpenFace": ("TripletEmbeddingCriterion",),
    "nngraph": ("JustElement", "JustTable", "ModuleFromCriterion", "gModule"),
}  # fmt: skip
OWN_NAMES = ("cudnn.", "inn.", "w2nn.")
"""Packages whose classes are not named ``nn.``, and that are modules of pythnn.nn."""
HEADING = """# All classes

{count} classes of Lua Torch's packages compute when a file has them, and can be made. Names are
those of `pythnn.nn`; those of the packages cudnn, inn and w2nn are in `pythnn.nn.cudnn`,
`pythnn.nn.inn` and `pythnn.nn.w2nn`. The [reference](reference/nn.md) has their arguments and
methods. `python docs/classes.py` writes this page.

| class | what it is | package |
|---|---|---|
"""


def package_of(cls: type) -> str:
    """The Lua package that a class comes from."""
    for package, names in EXCEPTIONS.items():
        if cls.__name__ in names and not cls.typename().startswith(OWN_NAMES):
            return package
    modules = [
        name
        for name, module in sys.modules.items()
        if name.startswith("pythnn.nn.")
        and cls.__name__ in getattr(module, "__all__", ())
        and getattr(module, cls.__name__) is cls
    ]
    for end, package in PACKAGES.items():
        if any(f".{end}" in name for name in modules):
            return package
    return "nn"


def name_of(cls: type) -> str:
    """What a class is called in pythnn.nn."""
    package, _, name = cls.typename().rpartition(".")
    return f"{package}.{name}" if cls.typename().startswith(OWN_NAMES) else cls.__name__


def page() -> str:
    """The whole page."""
    classes = {
        cls
        for cls in (*nn.registry.values(), nn.NeuraltalkLanguageModel, nn.TorchRnnLSTM)
        if issubclass(cls, (nn.Module, nn.Criterion))
    }
    rows = []
    for cls in sorted(classes, key=lambda cls: name_of(cls).lower()):
        first = inspect.getdoc(cls).splitlines()[0].replace("|", "\\|").replace("*", "\\*")
        rows.append(f"| `{name_of(cls)}` | {first} | {package_of(cls)} |")
    return HEADING.format(count=len(rows)) + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
