"""nnx's softmax over the classes of a tree, and its criterion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _random
from ..._errors import THNNArgumentError
from ..._products import multiply
from ..._tensor import Tensor
from ..criterion.criterion import Criterion
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SoftMaxTree", "TreeNLLCriterion"]


@register
class SoftMaxTree(Module):
    """The logarithms of the probabilities of leaves of a tree: {batch x inputSize, batch leaves}.

    `hierarchy` has the children of each node that has some. A node's children share its probability
    by a softmax of linear functions of the input, so that a call computes the path to its leaf
    alone. Output: one number for each sample. `accUpdate` does without gradients of parameters:
    only ``accUpdateGradParameters`` trains then. `static` and `verbose` change nothing here.
    """

    _of_fixed_type = ("childIds", "childParent", "hierarchy", "parentChildren", "parentIds")

    def __init__(
        self,
        inputSize: int,
        hierarchy: Mapping[int, ArrayLike],
        rootId: int = 1,
        accUpdate: bool = False,
        static: bool = True,
        verbose: bool = False,
    ) -> None:
        super().__init__()
        self.inputSize, self.rootId = inputSize, rootId
        self.accUpdate, self.static = accUpdate, static
        families = {
            parent: np.asarray(children, np.int32).reshape(-1)
            for parent, children in hierarchy.items()
        }
        self._check(families, rootId)
        self.tensors.hierarchy = {parent: Tensor(one) for parent, one in families.items()}
        self._count(families)
        names = ("weight", "bias") if accUpdate else ("weight", "bias", "gradWeight", "gradBias")
        for name in names:
            shape = (self.nChildNode, inputSize)[: 2 if name.endswith("eight") else 1]
            self.assign(name, Tensor.zeros(*shape, dtype=np.float64))
        gradients = [Tensor(dtype=np.float64), Tensor(dtype=np.int32)]
        self.tensors.gradInput = gradients
        self.reset()

    def _check(self, families: Mapping[int, Any], rootId: int) -> None:
        """Refuses what is no tree from the root."""
        wanted = "a mapping of nodes, from 1, to their children, each the child of one node"
        known = np.concatenate([[rootId], *families.values()])
        if (
            rootId not in families
            or known.min() < 1
            or len(np.unique(known)) < len(known)
            or not set(families) <= set(known.tolist())
            or not all(one.size for one in families.values())
        ):
            found = describe(dict(families))
            raise THNNArgumentError.expected(self.typename(), 2, "hierarchy", wanted, found)

    def _count(self, families: Mapping[int, Any]) -> None:
        """Sets the fields that say where each node's parameters are."""
        sizes = {parent: len(children) for parent, children in families.items()}
        self.nChildNode, self.nParentNode = sum(sizes.values()), len(sizes)
        self.maxParentId, self.maxFamily = max(sizes), max(sizes.values())
        children = np.concatenate(list(families.values()))
        self.maxChildId = int(children.max())
        self.maxNodeId = max(self.maxParentId, self.maxChildId)
        self.minNodeId = min(int(children.min()), *sizes)
        places = np.full((self.maxParentId, 2), -1, np.int32)
        parents = np.full((self.maxChildId, 2), -1, np.int32)
        start = 1
        for parent, family in families.items():
            places[parent - 1] = start, len(family)
            parents[family - 1, 0] = parent
            parents[family - 1, 1] = np.arange(1, len(family) + 1)
            start += len(family)
        self.tensors.childIds = Tensor(children)
        self.tensors.parentIds = Tensor(np.array(list(families), np.int32))
        self.tensors.parentChildren, self.tensors.childParent = Tensor(places), Tensor(parents)

    def reset(self, stdv: Any = None) -> Any:
        """Draws from [-s, s]: s = sqrt(3) stdv, by default 1 / sqrt(nodes but the root x inputs).

        The biases are drawn too.
        """
        weight = self.tensors.weight
        limit = 1 / np.sqrt(weight.size) if stdv is None else np.sqrt(3) * stdv
        for tensor in (weight, self.tensors.bias):
            tensor.copy_from(_random.uniform(tensor.shape, -limit, limit))
        return self

    def accUpdateOnly(self) -> Self:
        """Gives up the gradients: only accUpdateGradParameters trains then; returns itself."""
        self.accUpdate = True
        self.tensors.gradWeight = self.tensors.gradBias = None
        return self

    def getNodeParameters(self, parentId: int) -> tuple[list[Any], list[Any]]:
        """Weight and bias of the children of a node, and the gradients of both."""
        rows = self._rows(parentId)
        pairs = [("weight", "bias"), ("gradWeight", "gradBias")]
        made = ([self.field(name) for name in pair] for pair in pairs)
        found = [[one.array()[rows] for one in pair if one is not None] for pair in made]
        return found[0], found[1]

    def _numbers(self, name: str) -> Any:
        """A field of whole numbers."""
        return self.field(name).cpu().numpy()

    def _rows(self, parent: int) -> slice:
        """The rows of the parameters of a node's children."""
        start, count = (int(one) for one in self._numbers("parentChildren")[parent - 1])
        return slice(start - 1, start - 1 + count)

    def _given(self, input: Any) -> tuple[Any, Any]:
        """The inputs as a batch, and the leaves."""
        inputs = self.tensors.weight.shape[1]
        if (
            not isinstance(input, list)
            or len(input) != 2
            or getattr(input[0], "ndim", 0) not in (1, 2)
            or input[0].shape[-1] != inputs
        ):
            wanted = f"a table of [batch x] {inputs} and of leaves"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        x = input[0].reshape(-1, inputs)
        given = input[1].get() if hasattr(input[1], "get") else input[1]
        leaves = np.asarray(given).reshape(-1).astype(np.int64)
        known = self._numbers("childParent")[:, 0] > 0
        if (
            len(leaves) != len(x)
            or leaves.min() < 1
            or leaves.max() > len(known)
            or not known[leaves - 1].all()
        ):
            wanted = f"{len(x)} nodes of the tree"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input[2]", wanted, describe(input[1])
            )
        return x, leaves

    def _steps(self, leaves: Any) -> list[tuple[int, Any, Any]]:
        """Nodes on the paths to leaves: each with its samples and which child is on their path."""
        parents = self._numbers("childParent")
        samples, nodes, found = np.arange(len(leaves)), leaves, []
        while len(nodes):
            above, child = parents[nodes - 1].T
            for parent in np.unique(above):
                here = above == parent
                found.append((int(parent), samples[here], child[here] - 1))
            inside = above != int(self.rootId)
            samples, nodes = samples[inside], above[inside]
        return found

    def _logarithms(self, x: Any, parent: int) -> Any:
        """The logarithms of the shares of a node's children."""
        rows, xp = self._rows(parent), array_module(x)
        sums = multiply(x, self.weight[rows].T) + self.bias[rows]
        sums -= sums.max(1, keepdims=True)
        return sums - xp.log(xp.exp(sums).sum(1, keepdims=True))

    def updateOutput(self, input: Any) -> Any:
        x, leaves = self._given(input)
        output = array_module(x).zeros(len(x), x.dtype)
        for parent, samples, child in self._steps(leaves):
            shares = self._logarithms(x[samples], parent)
            output[samples] += shares[np.arange(len(samples)), child]
        self.output = output
        return output

    def _slopes(self, input: Any, gradOutput: Any) -> Any:
        """Nodes with the inputs of their samples and the gradients of the children's sums."""
        x, leaves = self._given(input)
        gradient = gradOutput.reshape(-1)
        for parent, samples, child in self._steps(leaves):
            slopes = -array_module(x).exp(self._logarithms(x[samples], parent))
            slopes[np.arange(len(samples)), child] += 1
            yield parent, samples, x[samples], slopes * gradient[samples][:, None]

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        x, leaves = self._given(input)
        xp = array_module(x)
        gradient = xp.zeros_like(x)
        for parent, samples, _, slopes in self._slopes(input, gradOutput):
            gradient[samples] += multiply(slopes, self.weight[self._rows(parent)])
        self.gradInput = [gradient.reshape(input[0].shape), xp.zeros(len(leaves), np.int32)]
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self._gather(input, gradOutput, self.gradWeight, self.gradBias, scale)

    def accUpdateGradParameters(self, input: Any, gradOutput: Any, lr: Any) -> None:
        """Changes the parameters themselves, by `lr` times their gradients."""
        self._gather(input, gradOutput, self.weight, self.bias, -lr)

    sharedAccUpdateGradParameters = accUpdateGradParameters

    def _gather(self, input: Any, gradOutput: Any, weight: Any, bias: Any, scale: Any) -> None:
        found = list(self._slopes(input, gradOutput))  # before any parameter changes
        for parent, _, x, slopes in found:
            rows = self._rows(parent)
            weight[rows] += scale * multiply(slopes.T, x)
            bias[rows] += scale * slopes.sum(0)

    def clearState(self) -> Self:
        self.clear("_nodeBuffer", "_multiBuffer")
        return super().clearState()


@register
class TreeNLLCriterion(Criterion):
    """The mean of the numbers that SoftMaxTree gives, negated; the target plays no part."""

    def updateOutput(self, input: Any, target: Any = None) -> Any:
        self.output = -float(input.mean())
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        xp = array_module(input)
        self.gradInput = xp.full(input.shape, -1 / input.size, input.dtype)
        return self.gradInput
