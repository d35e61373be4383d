"""Modules in a graph: nngraph's gModule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..._errors import THNNArgumentError, THNNError
from ..containers.container import Container
from ..object.module import does_the_usual
from ..object.node import Graph, Node, Step, graph_of
from ..object.object import register
from ..object.tables import add_into, added, zeros_like
from ..object.text import tree
from ..object.values import describe
from ..table.shaping import SelectTable
from .nngraph import FIELDS, graph_of_fields, to_fields
from .repeating import OF_CALLS, repeats

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["gModule"]

LONGEST_LABEL = 60


@repeats
@register
class gModule(Container, kernel=True):
    """A graph of modules, as nngraph connects them.

    ``gModule([a, b], [c])`` is the graph from the nodes `a` and `b` to `c`; several inputs or
    outputs are tables. ``modules`` has the modules in the order in which they compute.
    """

    _outputs: list[Any] | None = None  # of each step in the last forward call
    _gradients: list[Any] | None = None  # of those, in the last updateGradInput

    def __init__(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> None:
        super().__init__()
        self.graph, self.modules = graph_of(inputs, outputs)
        self.verbose = False
        for name in ("output", "gradInput"):  # fields that nngraph's class does not have at first
            del self.tensors.__dict__[name]
        if len(outputs) > 1:
            self.tensors.output = []

    # ---- Computing

    def follow(
        self, input: Any, run: Callable[[int, Any], Any], known: Sequence[Any] = ()
    ) -> list[Any]:
        """The output of each step, where `run` gives a module's for its index and its input.

        `known` are the outputs of the first steps, if they are there.
        """
        graph: Graph = self.graph
        if graph.inputs > 1 and not (isinstance(input, list) and len(input) == graph.inputs):
            wanted = f"a table of {graph.inputs}"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        outputs: list[Any] = [*known]
        start = graph.start
        for i, step in enumerate(graph.steps[len(outputs) :], len(outputs)):
            value = input if i == start else _gathered(step, outputs)
            outputs.append(value if step.module is None else run(step.module, value))
        return outputs

    def updateOutput(self, input: Any) -> Any:
        return self.go_on(input, ())

    def go_on(self, input: Any, known: Sequence[Any]) -> Any:
        """The output, where those of the first steps are known."""
        self.__dict__["_outputs"] = self.follow(
            input, lambda index, value: self.ask(index, "updateOutput", value), known
        )
        self.__dict__["_gradients"] = None
        self.tensors.output = self.__dict__["_outputs"][-1]
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        graph: Graph = self.graph
        outputs = self._of_last("forward", self._outputs)
        sums = _Sums(len(graph.steps))
        sums.add(len(graph.steps) - 1, gradOutput, None)
        for i in range(len(graph.steps) - 1, -1, -1):
            step = graph.steps[i]
            gradient = sums.total(i, outputs)
            if gradient is None:
                continue
            through, entry = gradient, step.entry
            if step.module is not None:
                value = input if i == graph.start else _gathered(step, outputs)
                through = self.ask(step.module, "updateGradInput", value, gradient)
                if entry is None and _selects(self.modules[step.module], value):
                    entry = self.modules[step.module].place(value)
            if len(step.inputs) == 1:
                # Of what a SelectTable gives back, one entry counts: the others are zeros.
                sums.add(step.inputs[0], through if entry == step.entry else gradient, entry)
            elif step.inputs and through is not None:
                for source, part in zip(step.inputs, through, strict=True):
                    sums.add(source, part, step.entry)
        self.__dict__["_gradients"] = sums.totals
        self.tensors.gradInput = sums.totals[graph.start]
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self._each_down("accGradParameters", input, scale)

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        self._each_down("accUpdateGradParameters", input, lr)

    def _each_down(self, method: str, input: Any, factor: Any) -> None:
        """Calls a method that returns nothing of each module, the last one first."""
        graph: Graph = self.graph
        outputs = self._of_last("forward", self._outputs)
        gradients = self._of_last("updateGradInput", self._gradients)
        learns = method == "accGradParameters"  # which does nothing where it is the usual one
        for i in reversed(range(len(graph.steps))):
            step = graph.steps[i]
            if step.module is None or gradients[i] is None:
                continue
            if not (learns and does_the_usual(self.modules[step.module], method)):
                value = input if i == graph.start else _gathered(step, outputs)
                self.ask(step.module, method, value, gradients[i], factor)

    def _of_last(self, method: str, values: list[Any] | None) -> list[Any]:
        if values is None:
            raise THNNError(f"{self.typename()}: backward needs a call of {method} before it")
        return values

    # ---- State

    def clearState(self) -> Self:
        self._forget()
        return super().clearState()

    def type(self, type: Any = None, tensorCache: Any = None) -> Any:
        if type is not None:
            self._forget()
        return super().type(type, tensorCache)

    def _forget(self) -> None:
        self.__dict__.update(dict.fromkeys(OF_CALLS))

    def _set_fields(self, fields: dict[str, Any]) -> None:
        modules = list(fields.get("modules") or [])
        self.__dict__["graph"] = graph_of_fields(fields, modules)
        others = {name: value for name, value in fields.items() if name not in FIELDS}
        super()._set_fields({**others, "modules": modules})

    def _own_fields(self) -> dict[str, Any]:
        fields = super()._own_fields()
        return {name: value for name, value in fields.items() if name not in OF_CALLS}

    def _to_fields(self) -> dict[str, Any]:
        fields = self._own_fields()
        graph = fields.pop("graph")
        return {**fields, **to_fields(graph, self.modules)}

    @property
    def forwardnodes(self) -> list[Node]:
        """The nodes in the order in which they compute, with module, inputs and annotations."""
        nodes: list[Node] = []
        for step in self.graph.steps:
            module = None if step.module is None else self.modules[step.module]
            node = Node(module, [nodes[place] for place in step.inputs])
            node.entry = step.entry
            nodes.append(node.annotate(**step.annotations))
        return nodes

    # ---- Text

    def sources(self) -> list[str]:
        """What each step of the graph works on, in words, such as ``(1), input[2]``."""
        taken: list[str] = []
        labels: list[str] = []
        for i, step in enumerate(self.graph.steps):
            taken.append("input" if i == self.graph.start else _label(step, labels))
            labels.append(taken[-1] if step.module is None else f"({step.module + 1})")
        return taken

    def __repr__(self) -> str:
        sources = self.sources()
        lines = [
            f"({step.module + 1}): {self.modules[step.module]!r} <- {taken or 'nothing'}"
            f"{step.notes}"
            for step, taken in zip(self.graph.steps, sources, strict=True)
            if step.module is not None
        ]
        # The last step passes on what is the output, unless it is a module's.
        last = self.graph.steps[-1]
        output = sources[-1] if last.module is None else f"({last.module + 1})"
        return tree(self, [*lines, f"output <- {output}"])


class _Sums:
    """Gradients of the outputs of all steps; most have one part, the gradient itself."""

    def __init__(self, count: int) -> None:
        self.totals: list[Any] = [None] * count
        self.sums: dict[int, _Sum] = {}
        """Those of several parts, by the step."""

    def add(self, step: int, gradient: Any, entry: int | None) -> None:
        """Adds one of the output of a step, or of an entry of that; None is none."""
        if gradient is None:
            return
        if step not in self.sums:
            if entry is None and self.totals[step] is None:
                self.totals[step] = gradient
                return
            self.sums[step] = _Sum()
            self.sums[step].add(self.totals[step])
        self.sums[step].add(gradient, entry)

    def total(self, step: int, outputs: list[Any]) -> Any:
        """The gradient of the output of a step, to which no more is added; None for none."""
        if step in self.sums:
            self.totals[step] = self.sums[step].total(outputs[step])
        return self.totals[step]


class _Sum:
    """Gradients of a step's output, which add up: of the whole, and of entries of a table."""

    def __init__(self) -> None:
        self.parts: dict[int | None, Any] = {}
        self.own: set[int | None] = set()

    def add(self, gradient: Any, entry: int | None = None) -> None:
        """Adds one, if there is any."""
        if gradient is None:
            return
        if entry not in self.parts:
            self.parts[entry] = gradient
            return
        if entry in self.own:
            self.parts[entry] = add_into(self.parts[entry], gradient)
        else:  # the first one is somebody's gradInput
            self.own.add(entry)
            self.parts[entry] = added(self.parts[entry], gradient)

    def total(self, output: Any) -> Any:
        """The gradient of an output; None where there is none."""
        entries = {entry: part for entry, part in self.parts.items() if entry is not None}
        if entries:
            whole = enumerate(output)
            self.add([entries[i] if i in entries else zeros_like(one) for i, one in whole])
        return self.parts.get(None)


def _selects(module: Any, value: Any) -> bool:
    """Whether a module selects an entry of a table, as its class does it."""
    is_table = isinstance(value, list)
    return is_table and type(module) is SelectTable and "updateGradInput" not in module.__dict__


def _gathered(step: Step, outputs: list[Any]) -> Any:
    """What a step works on: one output, an entry of it, or a table of several."""
    if step.entry is None:
        if len(step.inputs) == 1:
            return outputs[step.inputs[0]]
        return [outputs[source] for source in step.inputs]
    table = outputs[step.inputs[0]]
    if not isinstance(table, list) or step.entry >= len(table):
        wanted = f"a table with an entry {step.entry + 1}"
        raise THNNArgumentError.expected("nn.gModule", 1, "input", wanted, describe(table))
    return table[step.entry]


def _label(step: Step, labels: list[str]) -> str:
    """What a step works on, in words."""
    taken = ", ".join(labels[source] for source in step.inputs)
    if len(taken) > LONGEST_LABEL:
        taken = f"{len(step.inputs)} values"
    if step.entry is not None:
        return f"{taken}[{step.entry + 1}]"
    return taken if len(step.inputs) == 1 else f"{{{taken}}}"
