"""Noise contrastive estimation: a layer of many classes, trained against a few drawn ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _random
from ..._errors import THNNArgumentError
from ..._products import add_product, multiply
from ..._tensor import Tensor
from ..criterion.criterion import Criterion
from ..linear.linear import Linear
from ..object.object import Object, register
from ..object.types import contents_of, type_of_tensors
from ..object.values import array_module, describe, whole

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["AliasMultinomial", "NCECriterion", "NCEModule"]


@register("torch.AliasMultinomial")
class AliasMultinomial(Object):
    """Draws places from 1 with given probabilities, in constant time each: the alias method."""

    _of_fixed_type = ("J",)
    _results = ()

    @property
    def _type(self) -> str:
        """The type of the shares; Lua's object has no such field."""
        return type_of_tensors(contents_of(self))

    @_type.setter
    def _type(self, name: str) -> None:
        pass

    def __init__(self, probs: ArrayLike) -> None:
        scaled = np.array(probs, np.float64).ravel()
        scaled *= scaled.size / scaled.sum()
        other = np.zeros(scaled.size, np.int64)
        small = [place for place, share in enumerate(scaled) if share < 1]
        large = [place for place, share in enumerate(scaled) if share >= 1]
        while small and large:
            least, most = small.pop(), large.pop()
            other[least] = most + 1
            scaled[most] -= 1 - scaled[least]
            (small if scaled[most] < 1 else large).append(most)
        for place in small + large:  # what rounding left
            scaled[place] = 1
        self.J = other
        self.q = scaled
        self.dpnn_parameters = ["J", "q"]

    def draw(self) -> int:
        """One place."""
        return int(self.batchdraw(1)[0])

    def batchdraw(self, count: int) -> Any:
        """`count` places."""
        places = np.array([_random.integer(self.q.size) for _ in range(count)], np.int64)
        kept = _random.uniform((count,), 0, 1) <= np.asarray(self.q)[places - 1]
        return np.where(kept, places, np.asarray(self.J)[places - 1])


@register
class NCEModule(Linear):
    """A linear layer of `outputSize` classes that computes the targets and `k` drawn classes alone.

    Input: {batch x inputSize, batch of targets}. Output: {model's score of the target, model's
    scores of the drawn classes, noise's probability of the target, those of the drawn}, of sizes
    batch and batch x k. Scores are exp(weight input + bias) / `Z`; without `Z`, the first call
    estimates it. `unigrams` are the frequencies of the classes, by which they are drawn: `k` for
    the batch, or, with ``batchnoise`` False, for each sample. With ``normalized``, evaluation gives
    the probabilities of all classes, or their logarithms with ``logsoftmax``.
    """

    normalized: Any = None
    logsoftmax: Any = None
    aliasmultinomial: Any = None
    Z: Any
    _results = ("output", "gradInput")

    def __init__(
        self,
        inputSize: int,
        outputSize: int,
        k: int,
        unigrams: ArrayLike,
        Z: float | None = None,
    ) -> None:
        super().__init__(inputSize, outputSize)
        frequencies = np.array(unigrams, np.float64).ravel()
        if frequencies.size != outputSize or not frequencies.sum() > 0:
            raise THNNArgumentError.expected(
                self.typename(), 4, "unigrams", f"{outputSize} frequencies", describe(unigrams)
            )
        self.k = k
        self.tensors.unigrams = Tensor(frequencies / frequencies.sum())
        self.tensors.Z = Tensor(np.array([-1.0 if Z is None else Z], np.float64))
        self.batchnoise = True
        self.tensors.output = [Tensor(dtype=np.float64) for _ in range(4)]
        self.tensors.gradInput = [Tensor(dtype=np.float64) for _ in range(2)]
        self.fastNoise()

    def reset(self, stdv: Any = None) -> Any:
        """Draws the weight as Linear does; the bias makes all classes equally likely."""
        super().reset(stdv)
        if stdv is None:
            self.tensors.bias.fill(-np.log(self.tensors.bias.size))
        return self

    def fastNoise(self) -> Self:
        """Draws by the alias method; returns itself."""
        self.aliasmultinomial = AliasMultinomial(np.asarray(self.unigrams))
        return self

    # ---- Noise

    def noiseSample(self, count: int) -> Any:
        """`count` classes by their frequencies."""
        if self.aliasmultinomial is not None:
            return self.aliasmultinomial.batchdraw(count)
        sums = np.cumsum(np.asarray(self.unigrams, np.float64))
        drawn = _random.uniform((count,), 0, 1) * sums[-1]
        return np.searchsorted(sums, drawn).clip(0, sums.size - 1) + 1

    def _draw(self, batch: int) -> None:
        """Draws the classes of a call: `k`, or batch x k."""
        count = int(self.k)
        if self.batchnoise:
            drawn = self.noiseSample(count)
        else:  # the first of each row is left to the target
            drawn = self.noiseSample(batch * (count + 1)).reshape(batch, count + 1)[:, 1:]
        self.assign("sampleidx", Tensor(np.ascontiguousarray(drawn)))

    # ---- Forward

    def _given(self, input: Any) -> tuple[Any, Any]:
        inputs = self.tensors.weight.shape[1]
        if (
            not isinstance(input, list)
            or len(input) != 2
            or getattr(input[0], "ndim", 0) != 2
            or input[0].shape[1] != inputs
        ):
            wanted = f"a table of batch x {inputs} and a batch of targets"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        given, target = input
        target = whole(np.asarray(target)).reshape(-1)
        classes = self.tensors.weight.shape[0]
        if target.size != len(given) or target.min() < 1 or target.max() > classes:
            wanted = f"{len(given)} targets from 1 to {classes}"
            raise THNNArgumentError.expected(
                self.typename(), 1, "input[2]", wanted, describe(input[1])
            )
        return given, target - 1

    def _computes_all(self) -> bool:
        return self.train is False and bool(self.normalized)

    def _all(self, given: Any) -> Any:
        """The logarithms of the probabilities of all classes."""
        xp = array_module(given)
        sums = multiply(given, self.weight.T) + self.bias
        sums -= sums.max(1, keepdims=True)
        return sums - xp.log(xp.exp(sums).sum(1, keepdims=True))

    def _scores(self, given: Any, target: Any) -> tuple[Any, Any, Any]:
        """The sums of targets and of drawn classes, and the drawn classes, from 0."""
        weight, bias = self.weight, self.bias
        drawn = np.asarray(self.sampleidx) - 1
        of_target = (given * weight[target]).sum(1) + bias[target]
        if drawn.ndim == 1:
            return of_target, multiply(given, weight[drawn].T) + bias[drawn], drawn
        of_drawn = (given[:, None] * weight[drawn]).sum(2) + bias[drawn]
        return of_target, of_drawn, drawn

    def updateOutput(self, input: Any) -> Any:
        given, target = self._given(input)
        xp = array_module(given)
        if self._computes_all():
            logarithms = self._all(given)
            self.output = logarithms if self.logsoftmax else xp.exp(logarithms)
            return self.output
        self._draw(len(given))
        of_target, of_drawn, drawn = (
            part if i == 2 else xp.exp(part) for i, part in enumerate(self._scores(given, target))
        )
        if float(self.Z[0]) <= 0:
            self.Z = [of_drawn.mean() * self.tensors.weight.shape[0]]
        z = given.dtype.type(self.Z[0])
        noise = self.unigrams
        of_noise = xp.broadcast_to(noise[drawn], of_drawn.shape)
        self.output = [of_target / z, of_drawn / z, noise[target], of_noise.copy()]
        return self.output

    # ---- Backward

    def _slopes(self, gradOutput: Any) -> tuple[Any, Any]:
        """The gradients of the sums: those of scores, times the scores."""
        return gradOutput[0] * self.output[0], gradOutput[1] * self.output[1]

    def _of_all(self, given: Any, gradOutput: Any) -> Any:
        """The gradients of all sums."""
        xp = array_module(given)
        shares = xp.exp(self._all(given))
        if self.logsoftmax:
            return gradOutput - shares * gradOutput.sum(1, keepdims=True)
        return shares * (gradOutput - (shares * gradOutput).sum(1, keepdims=True))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        given, target = self._given(input)
        weight = self.weight
        if self._computes_all():
            gradient = multiply(self._of_all(given, gradOutput), weight)
        else:
            of_target, of_drawn = self._slopes(gradOutput)
            drawn = np.asarray(self.sampleidx) - 1
            gradient = of_target[:, None] * weight[target]
            if drawn.ndim == 1:
                gradient += multiply(of_drawn, weight[drawn])
            else:
                gradient += (of_drawn[:, :, None] * weight[drawn]).sum(1)
        self.gradInput = [gradient, np.zeros(len(given))]
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        given, target = self._given(input)
        if self._computes_all():
            slopes = self._of_all(given, gradOutput)
            add_product(self.gradWeight, slopes.T, given, scale)
            self.gradBias += scale * slopes.sum(0)
            return
        of_target, of_drawn = (scale * slope for slope in self._slopes(gradOutput))
        drawn = np.asarray(self.sampleidx) - 1
        xp = array_module(given)
        weight, bias = self.gradWeight, self.gradBias
        xp.add.at(weight, target, of_target[:, None] * given)
        xp.add.at(bias, target, of_target)
        if drawn.ndim == 1:
            xp.add.at(weight, drawn, multiply(of_drawn.T, given))
            xp.add.at(bias, drawn, of_drawn.sum(0))
        else:
            xp.add.at(weight, drawn, of_drawn[:, :, None] * given[:, None])
            xp.add.at(bias, drawn, of_drawn)

    def clearState(self) -> Self:
        """Empties what the next call computes; returns itself."""
        super().clearState()
        self.tensors.output = [Tensor(dtype=self.dtype) for _ in range(4)]
        self.tensors.gradInput = [Tensor(dtype=self.dtype) for _ in range(2)]
        self.clear("sampleidx")
        return self


@register
class NCECriterion(Criterion):
    """The loss for NCEModule: whether target and drawn classes come from model or from noise.

    Minus the sum over the batch of log(Pt / (Pt + k Nt)) and, over the drawn classes, of
    log(k Ns / (Ps + k Ns)); with `sizeAverage`, True at first, divided by the batch. Input: the
    table {Pt, Ps, Nt, Ns}; the target does not matter.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sizeAverage = True
        self.tensors.gradInput = [Tensor(dtype=np.float64) for _ in range(4)]

    def _given(self, input: Any) -> list[Any]:
        if not isinstance(input, list) or len(input) != 4 or getattr(input[1], "ndim", 0) != 2:
            wanted = "the table of 4 tensors that nn.NCEModule gives"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        return [part.reshape(input[1].shape if i % 2 else -1) for i, part in enumerate(input)]

    def _divisor(self, targets: Any) -> int:
        return len(targets) if self.sizeAverage else 1

    def updateOutput(self, input: Any, target: Any) -> Any:
        model, models, noise, noises = self._given(input)
        xp, count = array_module(models), models.shape[1]
        total = xp.log(model / (model + count * noise)).sum()
        total += xp.log(count * noises / (models + count * noises)).sum()
        self.output = -float(total) / self._divisor(model)
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        model, models, noise, noises = self._given(input)
        count, divisor = models.shape[1], self._divisor(model)
        of_target = -count * noise / (model * (model + count * noise)) / divisor
        of_drawn = 1 / (models + count * noises) / divisor
        zeros = array_module(models).zeros_like
        found = [of_target.reshape(input[0].shape), of_drawn, zeros(input[2]), zeros(input[3])]
        self.gradInput = found
        return self.gradInput
