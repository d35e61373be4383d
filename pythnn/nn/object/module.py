"""Module, the base of all layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from ... import thnn
from ..._errors import THNNError
from ..._later import programs
from ..._tensor import Array, Tensor
from .flat import flatten
from .node import Node, are_nodes
from .notebook import html_of_module
from .object import Object, register
from .parameters import TensorLists, tensors_of
from .tables import are_alike
from .training_aids import TrainingAids
from .types import device_of_type
from .unknown import known_modules
from .values import to_arrays

if TYPE_CHECKING:
    from typing_extensions import Self

    from ...program import Program

__all__ = ["Module", "does_the_usual", "has_no_parameters", "learns_nothing"]


@register
class Module(TrainingAids, Object, kernel=True):
    """A function of an input, with parameters and gradients.

    A layer overrides ``updateOutput``, ``updateGradInput`` and, when it has parameters,
    ``accGradParameters``. Inputs and outputs are arrays, or lists of them for Lua's tables.
    ``pythnn/nn/README.md`` shows how to write one.
    """

    _goes_through_steps: ClassVar[bool] = False
    """Whether the module itself goes from step to step of a sequence: it is not copied for each."""
    parameterFields: ClassVar[tuple[tuple[str, str], ...]] = (
        ("weight", "gradWeight"),
        ("bias", "gradBias"),
    )
    """Names of the parameters and of their gradients; absent ones do not count."""
    _shares_parameters: ClassVar[bool] = False
    """Whether one of these fields is the class's."""
    train: bool | None = None
    """Whether training() or evaluate() was called last; None as long as neither was."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._shares_parameters = any(hasattr(cls, name) for name, _ in cls.parameterFields)

    def __init__(self) -> None:
        self.tensors.gradInput = Tensor(dtype=np.float64)
        self.tensors.output = Tensor(dtype=np.float64)
        self._type = "torch.DoubleTensor"

    def __getattr__(self, name: str) -> Any:
        if any(name in pair for pair in self.parameterFields):
            return to_arrays(getattr(self.tensors, name))
        return super().__getattr__(name)

    # ---- Computing

    def _kernel(self, name: str, *arguments: Any) -> None:
        """Calls a function of :mod:`pythnn.thnn`; :mod:`pythnn.graph` writes such calls down."""
        getattr(thnn, name)(*arguments)

    def updateOutput(self, input: Any) -> Any:
        """Computes and returns ``output``."""
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        """Computes and returns ``gradInput``; `input` as in the forward call before."""
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        """Adds `scale` times the gradient of the parameters to the gradient fields."""

    def compile(self, *examples: Any, fuse: bool = True, keep_weights: bool = True) -> Program:
        """A program that computes what this module computes: see :func:`pythnn.compile`."""
        made: Program = programs.compile(self, *examples, fuse=fuse, keep_weights=keep_weights)
        return made

    def forward(self, input: Any) -> Any:
        """The output for an input."""
        return self.updateOutput(input)

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        """The gradient of the input; adds to those of the parameters.

        `input` is that of the forward call before, `gradOutput` has the form of its output.
        """
        gradInput = self.updateGradInput(input, gradOutput)
        if not does_the_usual(self, "accGradParameters"):
            self.accGradParameters(input, gradOutput, scale)
        return gradInput

    @overload
    def __call__(self, input: Node | Sequence[Node] = ()) -> Node: ...
    @overload
    def __call__(self, input: Any, gradOutput: Any = None) -> Any: ...
    def __call__(self, input: Any = (), gradOutput: Any = None) -> Any:
        """The output, and with `gradOutput` the gradient of the input too.

        With a :class:`Node`, a list of them, or nothing: a node of a graph (:class:`gModule`).
        """
        if are_nodes(input):
            return Node(self, input)
        output = self.forward(input)
        return output if gradOutput is None else (output, self.backward(input, gradOutput))

    def backwardUpdate(self, input: Any, gradOutput: Any, lr: Any) -> Any:
        """The gradient of the input; takes a step of size `lr` down that of the parameters."""
        gradInput = self.updateGradInput(input, gradOutput)
        self.accUpdateGradParameters(input, gradOutput, lr)
        return gradInput

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        """A step of size `lr` down the gradient, without touching the gradient fields."""
        if self.field("shared"):
            self.sharedAccUpdateGradParameters(input, gradOutput, lr)
        else:
            self.defaultAccUpdateGradParameters(input, gradOutput, lr)

    def defaultAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        """The step when no parameter is shared."""
        own = self.tensors
        kept = {gradient: self.field(gradient) for _, gradient in self.parameterFields}
        try:
            for parameter, gradient in self.parameterFields:
                setattr(own, gradient, self.field(parameter))
            self.accGradParameters(input, gradOutput, -lr)
        finally:
            for gradient, tensor in kept.items():
                setattr(own, gradient, tensor)

    def sharedAccUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        """The step when parameters are shared: the gradient fields are used, and lost."""
        if tensors_of(self) is not None:
            self.zeroGradParameters()
            self.accGradParameters(input, gradOutput, 1)
            self.updateParameters(lr)

    def _repr_html_(self) -> str:
        """The tree of modules, for notebooks: folded, with shapes of outputs and parameters."""
        return html_of_module(self)

    # ---- Parameters

    def parameterTensors(self) -> TensorLists | None:
        """Parameters and gradients as Tensors, or None: what :meth:`parameters` is made of.

        In place of a gradient that was taken away, as from models saved for use alone, is None.
        """
        parameters, gradients = [], []
        for name, gradient in self.parameterFields:
            parameter = self.field(name)
            if parameter is not None:
                parameters.append(parameter)
                gradients.append(self.field(gradient))
        return (parameters, gradients) if parameters else None

    def parameters(self) -> tuple[list[Array], list[Array]] | None:
        """Lists of the parameters and of their gradients; None when there are none.

        Containers, ``getParameters``, ``zeroGradParameters`` and ``updateParameters`` leave out
        what an override does not return: ``layer.parameters = lambda: None`` freezes a layer.
        """
        tensors = self.parameterTensors()
        return None if tensors is None else (to_arrays(tensors[0]), to_arrays(tensors[1]))

    def has_parameters_of_its_own(self) -> bool:
        """Whether ``parameters`` was replaced, in a class or in this object."""
        return "parameters" in self.__dict__ or type(self).parameters is not Module.parameters

    def getParameters(self) -> tuple[Array, Array]:
        """All parameters in one new array, and all gradients in another.

        The module's own are views of these from now on. Memory that parameters share occurs once.
        """
        parameters, gradients = tensors_of(self) or ([], [])
        present = [gradient for gradient in gradients if gradient is not None]
        device = device_of_type(self._type)
        return flatten(parameters, self.dtype, device), flatten(present, self.dtype, device)

    def zeroGradParameters(self) -> None:
        """Sets the gradients of the parameters to 0."""
        for gradient in (tensors_of(self) or ([], []))[1]:
            if gradient is not None:
                gradient.zero()

    def updateParameters(self, learningRate: Any) -> None:
        """Subtracts `learningRate` times the gradients from the parameters."""
        for parameter, gradient in zip(*(tensors_of(self) or ([], [])), strict=True):
            if gradient is None:
                raise THNNError(
                    f"{self.typename()}.updateParameters: a parameter has no gradient: it was taken"
                    " away; assign zeros to it, such as gradWeight, before backward"
                )
            if isinstance(learningRate, (int, float)) and are_alike((parameter, gradient)):
                parameter._call("cadd", parameter._c, -learningRate, gradient._c)
                continue
            values = parameter.array()
            values -= learningRate * gradient.array().reshape(values.shape)

    def reset(self, stdv: Any = None) -> None:
        """Draws new initial parameters."""

    def share(self, module: Module, *names: str) -> Self:
        """Uses the tensors of another module of the same make in these fields; returns itself."""
        for name in names:
            mine, theirs = self.field(name), module.field(name)
            if isinstance(mine, Tensor) and isinstance(theirs, Tensor):
                mine.set(theirs)
                self.assign("shared", True)
                module.assign("shared", True)
        return self

    def clone(self, *names: str) -> Self:
        """A deep copy, which shares the fields named."""
        copied = super().clone()
        return copied.share(self, *names) if names else copied

    # ---- State

    def training(self) -> None:
        """Chooses the behaviour for training."""
        self.train = True

    def evaluate(self) -> None:
        """Chooses the behaviour for use."""
        self.train = False

    def clearState(self) -> Self:
        """Empties output, gradInput and whatever else the next call computes; returns itself."""
        self.clear("output", "gradInput")
        return self

    def forget(self) -> Self:
        """Has the recurrent modules inside start new sequences; returns itself."""
        for module in self.children():
            module.forget()
        return self

    def remember(self, remember: str | None = None) -> Self:
        """Has the sequencers inside go on from their last state; returns itself.

        `remember` is "train", "eval", "both", the default, or "neither".
        """
        for module in self.children():
            module.remember(remember)
        return self

    # ---- The tree of modules

    def children(self) -> list[Module]:
        """The modules inside, without objects of classes that pythnn does not know.

        These are passed over by all that goes through a tree of modules, after one warning.
        """
        return known_modules(self)

    def apply(self, callback: Callable[[Module], Any]) -> None:
        """Calls the function with this module, then with all inside, depth first and each once."""
        seen: set[int] = set()
        pending: list[Module] = [self]
        kept: list[Module] = []  # so that no id is given twice
        while pending:
            module = pending.pop()
            if id(module) not in seen:
                seen.add(id(module))
                kept.append(module)
                callback(module)
                pending += module.children()[::-1]

    def listModules(self) -> list[Module]:
        """The module itself and all inside, depth first."""
        found: list[Module] = []
        Module.apply(self, found.append)
        return found

    def findModules(
        self, typename: Any, container: Module | None = None
    ) -> tuple[list[Module], list[Module]]:
        """All modules of a class, by its Torch name or itself, and the container of each.

        The container of this module, unless given, is the module itself.
        """
        name = typename if isinstance(typename, str) else typename.typename()
        found: list[Module] = []
        containers: list[Module] = []
        seen: set[int] = set()
        pending: list[tuple[Module, Module]] = [(self, container or self)]
        while pending:
            module, around = pending.pop()
            if module.typename() == name:
                found.append(module)
                containers.append(around)
            if id(module) not in seen:
                seen.add(id(module))
                pending += [(child, module) for child in module.children()[::-1]]
        return found, containers

    def replace(self, callback: Callable[[Module], Module]) -> Module:
        """Puts what the function makes of it in the place of every module; returns its own."""
        replaced: dict[int, Module] = {}
        met: list[Module] = []

        def note(module: Module) -> None:
            replaced[id(module)] = callback(module)
            met.append(module)

        self.apply(note)
        for module in met:
            modules = module.__dict__.get("modules") or []
            modules[:] = [replaced.get(id(inside), inside) for inside in modules]
        return replaced[id(self)]


def does_the_usual(module: Module, method: str) -> bool:
    """Whether a method of a module is that of :class:`Module`: neither class nor object has one."""
    if method in module.__dict__:
        return False
    return getattr(type(module), method) is getattr(Module, method)


def learns_nothing(module: Module) -> bool:
    """Whether all that ``backward`` of a module does is ``updateGradInput``."""
    return does_the_usual(module, "backward") and does_the_usual(module, "accGradParameters")


_OF_PARAMETERS = frozenset(
    ("parameters", "parameterTensors", "zeroGradParameters", "updateParameters")
)


def has_no_parameters(module: Module) -> bool:
    """Whether the methods of a module that go through its parameters surely have nothing to do."""
    own, kind, fields = module.__dict__, type(module), module.tensors.__dict__
    for name, _ in kind.parameterFields:
        if fields.get(name) is not None or name in own:
            return False
    return (
        kind.parameterTensors is Module.parameterTensors
        and kind.parameters is Module.parameters
        and kind.zeroGradParameters is Module.zeroGradParameters
        and kind.updateParameters is Module.updateParameters
        and own.keys().isdisjoint(_OF_PARAMETERS)
        and not kind._shares_parameters
    )
