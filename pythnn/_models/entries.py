"""What a model's input is made of, by the layers that each part of it meets first.

Found without running anything: the walk follows the input through the model, and stops where a
layer says what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import nn
from ..nn.other_packages import JustElement, JustTable

__all__ = ["Entry", "input_of"]

MAX_VISITS = 20_000  # of layers, by the walk: shared layers may make a tree that has no end
MAX_DEPTH = 200  # of containers in containers: those deeper say nothing

_INDICES = (nn.LookupTable, nn.OneHot)
_TELLING = (
    nn.IndexLinear,
    nn.Linear,
    nn.LookupTable,
    nn.OneHot,
    nn.SparseLinear,
    nn.SpatialConvolution,
    nn.SpatialConvolutionLocal,
    nn.SpatialConvolutionMM,
    nn.SpatialConvolutionMap,
    nn.SpatialDepthWiseConvolution,
    nn.SpatialFullConvolution,
    nn.SpatialFullConvolutionMap,
    nn.TemporalConvolution,
    nn.TemporalRowConvolution,
    nn.VolumetricConvolution,
    nn.VolumetricFullConvolution,
)
"""Layers whose fields say what they take."""

_SAME_VALUES = (
    nn.Collapse,
    nn.Contiguous,
    nn.Convert,
    nn.Copy,
    nn.Identity,
    nn.Narrow,
    nn.Padding,
    nn.PrintSize,
    nn.Replicate,
    nn.Reshape,
    nn.Select,
    nn.Squeeze,
    nn.Transpose,
    nn.Unsqueeze,
    nn.View,
    nn.ZeroGrad,
)
"""Layers that move values and do not change them: indices stay indices."""

_PAIRS = (
    nn.Bilinear,
    nn.CAddTensorTable,
    nn.CDivTable,
    nn.CSubTable,
    nn.CosineDistance,
    nn.DotProduct,
    nn.IndexLinear,
    nn.MM,
    nn.MV,
    nn.MaskedSelect,
    nn.MixtureTable,
    nn.PairwiseDistance,
    nn.ZipTableOneToMany,
    nn.inn.ROIPooling,
)
"""Layers that take a table of two."""

_OF_INDICES = (nn.Index, nn.NCEModule, nn.NeuraltalkLanguageModel, nn.SoftMaxTree)
"""Layers that take a table of numbers and of indices."""

_TABLES = (
    nn.CAddTable,
    nn.CMaxTable,
    nn.CMinTable,
    nn.CMulTable,
    nn.FlattenTable,
    nn.JoinTable,
    nn.MapTable,
    nn.ZipTable,
)
"""Layers that take a table, as long as it may be."""

_OF_CLASSES = (
    nn.ClassNLLCriterion,
    nn.ClassSimplexCriterion,
    nn.CrossEntropyCriterion,
    nn.MultiLabelMarginCriterion,
    nn.MultiMarginCriterion,
    nn.SpatialClassNLLCriterion,
)
"""Criterions whose targets are indices of classes."""

_SUMS = (nn.CAddTable, nn.CMaxTable, nn.CMinTable, nn.CMulTable, nn.CDivTable, nn.CSubTable)
"""Layers whose result has the shape of each entry."""


class Entry:
    """A part of an input: a tensor, or a table of entries."""

    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        """Of a table, by their place from 0."""
        self.is_table = False
        self.count: int | None = None
        """How many entries there are; None where any number of them will do."""
        self.takers: list[Any] = []
        """The layers that get the tensor's values as they are."""
        self.teller: Any = None
        """The first layer that says which shape it takes."""
        self.kind = "numbers"
        """Or "indices", counted from 1; or "sparse", pairs of an index and a number."""

    def entry(self, place: int) -> Entry:
        """The entry at a place, which makes this a table."""
        self.is_table = True
        if place not in self.entries:
            self.entries[place] = Entry()
        return self.entries[place]

    def make_table(self, count: int | None = None) -> None:
        """Notes that a layer takes a table, of `count` entries."""
        self.is_table = True
        for place in range(count or 0):
            self.entry(place)
        self.count = max(count or 0, self.count or 0) or None

    def leaves(self) -> list[Entry]:
        """The tensors, in order; of a table of any length, those that are known."""
        if not self.is_table:
            return [self]
        return [leaf for _, entry in sorted(self.entries.items()) for leaf in entry.leaves()]

    @property
    def is_open(self) -> bool:
        """Whether it is or has a table of any length."""
        if not self.is_table:
            return False
        return self.count is None or any(entry.is_open for entry in self.entries.values())

    def nested(self, values: list[Any]) -> Any:
        """Values, one for each leaf, as the module takes them; one for all of them, in a table."""
        if not self.is_table:
            return values[0] if len(values) == 1 else values
        if self.is_open or len(values) != len(self.leaves()):
            return list(values)
        return self._filled(iter(values))

    def _filled(self, values: Iterator[Any]) -> Any:
        if not self.is_table:
            return next(values)
        return [entry._filled(values) for _, entry in sorted(self.entries.items())]

    @property
    def text(self) -> str:
        """What it takes, in a few words: the kind, and the layer that says so."""
        what = {"sparse": "entries x 2 (index, value)"}.get(self.kind, self.kind)
        layer = self.teller or (self.takers[0] if self.takers else None)
        return what if layer is None else f"{what} for {_name(layer)}"


def _name(layer: Any) -> str:
    try:
        text = repr(layer)
    except Exception:  # fields from a file may be anything
        text = layer.typename()
    return text if "\n" not in text and len(text) <= 60 else str(layer.typename())


@dataclass(frozen=True)
class _Value:
    """A value inside the model: what became of parts of the input."""

    sources: tuple[Entry, ...] = ()  # none: what it was made of does not show any more
    is_same: bool = True  # the very values of the source, perhaps in another shape
    is_whole: bool = True  # the source itself, not a part of it
    table: tuple[_Value, ...] | None = None
    is_split: bool = False  # a table of its slices

    def entry(self, place: int) -> _Value:
        """The entry of a table at a place from 0."""
        if self.table is not None:
            return self.table[place] if -len(self.table) <= place < len(self.table) else _LOST
        if self.is_split:
            return replace(self, is_split=False)
        if self.is_same and self.is_whole and len(self.sources) == 1 and place >= 0:
            return _Value((self.sources[0].entry(place),))
        return _LOST

    def make_table(self, count: int | None = None) -> None:
        """Notes that a layer takes it as a table."""
        if self.table is None and self.is_same and self.is_whole:
            for source in self.sources:
                source.make_table(count)

    def taken_by(self, layer: Any, kind: str = "numbers") -> None:
        """Notes a layer that works on the values."""
        for source in self.sources:
            if not self.is_same or source.is_table:
                continue
            source.takers.append(layer)
            if kind != "numbers":
                source.kind = kind

    def told_by(self, layer: Any) -> None:
        """Notes a layer that says which shape it takes."""
        for source in self.sources:
            if source.teller is None and self.is_whole:
                source.teller = layer


_LOST = _Value()


def input_of(module: Any) -> Entry:
    """What a module takes, as far as its layers say."""
    root = Entry()
    try:
        _Walk().follow(module, _Value((root,)))
    except Exception:  # the fields of a file may be anything
        return Entry()
    return root


class _Walk:
    def __init__(self) -> None:
        self.visits = 0
        self.depth = 0

    def follow(self, module: Any, value: _Value) -> _Value:
        """What the module makes of a value."""
        self.visits += 1
        nothing_left = not value.sources and value.table is None
        if nothing_left or self.visits > MAX_VISITS or self.depth > MAX_DEPTH:
            return _LOST
        self.depth += 1
        try:
            for classes, handler in _HANDLERS:
                if isinstance(module, classes):
                    return handler(self, module, value)
            return self._other(module, value)
        finally:
            self.depth -= 1

    # ---- Containers

    def sequential(self, module: Any, value: _Value) -> _Value:
        for inside in module.modules:
            value = self.follow(inside, value)
        return value

    def graph(self, module: Any, value: _Value) -> _Value:
        graph = module.graph
        made: list[_Value] = []
        if graph.inputs > 1:
            value.make_table(graph.inputs)
        for number, step in enumerate(graph.steps):
            if number == graph.start:
                taken = value
            elif step.entry is not None:
                taken = made[step.inputs[0]].entry(step.entry)
            elif len(step.inputs) == 1:
                taken = made[step.inputs[0]]
            else:
                taken = _Value(table=tuple(made[source] for source in step.inputs))
            inside = None if step.module is None else module.modules[step.module]
            made.append(taken if inside is None else self.follow(inside, taken))
        return made[-1] if made else _LOST

    def parallel_table(self, module: Any, value: _Value) -> _Value:
        value.make_table(len(module.modules))
        results = [self.follow(m, value.entry(i)) for i, m in enumerate(module.modules)]
        return _Value(table=tuple(results))

    def concat_table(self, module: Any, value: _Value) -> _Value:
        return _Value(table=tuple(self.follow(inside, value) for inside in module.modules))

    def concat(self, module: Any, value: _Value) -> _Value:
        self.concat_table(module, value)
        return _LOST

    def parallel(self, module: Any, value: _Value) -> _Value:
        for inside in module.modules:
            self.follow(inside, replace(value, is_whole=False))
        return _LOST

    def map_table(self, module: Any, value: _Value) -> _Value:
        value.make_table()
        for inside in module.modules[:1]:
            self.follow(inside, value.entry(0))
        return _LOST

    def inside(self, module: Any, value: _Value) -> _Value:
        """A container that begins with its first module."""
        return self.follow(module.modules[0], value) if module.modules else _LOST

    def step(self, module: Any, value: _Value) -> _Value:
        """A module of one step of a sequence, whose state is not in the input."""
        states = len(module._state)
        taken = _Value(table=(value, *[_LOST] * states)) if states else value
        found = self.follow(module.inside, taken)
        return found.entry(0) if states > 1 else found

    # ---- Layers

    def select_table(self, module: Any, value: _Value) -> _Value:
        index = module.index
        if not isinstance(index, int):
            return _LOST
        value.make_table()
        return value.entry(index - 1 if index > 0 else index)

    def narrow_table(self, module: Any, value: _Value) -> _Value:
        value.make_table()
        begin = int(module.offset) - 1
        entries = [value.entry(begin + i) for i in range(min(int(module.length), 100))]
        return _Value(table=tuple(entries))

    def index(self, module: Any, value: _Value) -> _Value:
        value.make_table(2)
        value.entry(0).taken_by(module)
        value.entry(1).taken_by(module, "indices")
        return _LOST

    def language_model(self, module: Any, value: _Value) -> _Value:
        return self.follow(module.net, value)

    def criterion(self, module: Any, value: _Value) -> _Value:
        value.make_table(2)
        kind = "indices" if isinstance(module.criterion, _OF_CLASSES) else "numbers"
        value.entry(0).taken_by(module)
        value.entry(1).taken_by(module, kind)
        return _LOST

    def just_element(self, _: Any, value: _Value) -> _Value:
        value.make_table(1)
        return value.entry(0)

    def just_table(self, _: Any, value: _Value) -> _Value:
        return _Value(table=(value,))

    def index_linear(self, module: Any, value: _Value) -> _Value:
        value.make_table(2)
        value.entry(0).taken_by(module, "indices")
        value.entry(1).taken_by(module)
        for place in range(2):
            value.entry(place).told_by(module)
        return _LOST

    def pair(self, module: Any, value: _Value) -> _Value:
        value.make_table(2)
        return self.table(module, value)

    def table(self, module: Any, value: _Value) -> _Value:
        """A layer that computes with the entries of a table."""
        value.make_table()
        entries = self._entries_of(value)
        for entry in entries:
            entry.taken_by(module)
        if not isinstance(module, _SUMS):
            return _LOST
        sources = tuple(source for entry in entries for source in entry.sources)
        return _Value(sources, is_same=False) if sources else _LOST

    def _entries_of(self, value: _Value) -> tuple[_Value, ...]:
        if value.table is not None:
            return value.table
        known = value.sources[0].entries if len(value.sources) == 1 else {}
        return tuple(value.entry(place) for place in sorted(known))

    def looks_up(self, module: Any, value: _Value) -> _Value:
        value.taken_by(module, "indices")
        value.told_by(module)
        return _LOST

    def sparse(self, module: Any, value: _Value) -> _Value:
        value.taken_by(module, "sparse")
        value.told_by(module)
        return _LOST

    def tells(self, module: Any, value: _Value) -> _Value:
        value.taken_by(module)
        value.told_by(module)
        return _LOST

    def split_table(self, module: Any, value: _Value) -> _Value:
        value.taken_by(module)
        return replace(value, is_whole=False, is_split=True) if value.sources else _LOST

    def passes(self, module: Any, value: _Value) -> _Value:
        if value.table is not None and not isinstance(module, (nn.Identity, nn.ZeroGrad)):
            return _LOST
        return value

    def _other(self, module: Any, value: _Value) -> _Value:
        if isinstance(module, nn.Container):
            return self.inside(module, value)
        value.taken_by(module)
        return replace(value, is_same=False, table=None) if value.sources else _LOST


_HANDLERS: tuple[tuple[Any, Callable[[_Walk, Any, _Value], _Value]], ...] = (
    (nn.AbstractRecurrent, _Walk.step),
    (nn.gModule, _Walk.graph),
    (nn.Sequential, _Walk.sequential),
    (nn.ParallelTable, _Walk.parallel_table),
    (nn.MapTable, _Walk.map_table),
    (nn.ConcatTable, _Walk.concat_table),
    (nn.Concat, _Walk.concat),
    (nn.Parallel, _Walk.parallel),
    (nn.SelectTable, _Walk.select_table),
    (nn.NarrowTable, _Walk.narrow_table),
    (nn.SplitTable, _Walk.split_table),
    (JustElement, _Walk.just_element),
    (JustTable, _Walk.just_table),
    ((nn.CriterionTable, nn.ModuleFromCriterion), _Walk.criterion),
    (_OF_INDICES, _Walk.index),
    (nn.LanguageModel, _Walk.language_model),
    (nn.IndexLinear, _Walk.index_linear),
    (_INDICES, _Walk.looks_up),
    (nn.SparseLinear, _Walk.sparse),
    (_TELLING, _Walk.tells),
    (_PAIRS, _Walk.pair),
    (_TABLES, _Walk.table),
    (_SAME_VALUES, _Walk.passes),
)
"""What is done with a class of module; the first that fits counts."""
