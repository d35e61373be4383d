"""The classes of neuraltalk2, which describes images by sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _random
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..activation.noise import Dropout
from ..activation.pointwise import Sigmoid, Tanh
from ..activation.softmax import LogSoftMax
from ..containers.container import Container
from ..criterion.criterion import Criterion
from ..graph.graph import gModule
from ..linear.linear import Linear
from ..linear.lookup import LookupTable
from ..object.module import Module
from ..object.object import register
from ..object.values import array_module, describe, whole
from ..recurrent._steps import share_again
from ..shape.plumbing import Identity
from ..shape.shape import Reshape
from ..table.arithmetic import CAddTable, CMulTable
from ..table.shaping import SplitTable

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LanguageModelCriterion", "NeuraltalkLanguageModel"]


def _words(name: str, position: int, value: Any, limit: int) -> Any:
    """A matrix of words as int64: words x sentences, of numbers from 0 to `limit`."""
    array = value.cpu().numpy() if isinstance(value, Tensor) else np.asarray(value)
    if array.ndim != 2 or not array.size:
        wanted = "words x sentences of numbers of words"
        raise THNNArgumentError.expected(name, position, "input", wanted, describe(value))
    words = whole(array)
    if words.min() < 0 or words.max() > limit:
        found = f"{words.min()} to {words.max()}"
        wanted = f"words from 0, which is padding, to {limit}"
        raise THNNArgumentError.expected(name, position, "input", wanted, found)
    return words


def _lstm(inputs: int, outputs: int, size: int, layers: int, dropout: float) -> gModule:
    """One step: {x, c and h of each layer} to {c and h of each layer, log-probabilities}."""
    given = [Identity()() for _ in range(2 * layers + 1)]
    made: list[Any] = []
    for layer in range(layers):
        before = given[0] if layer == 0 else made[-1]
        if layer and dropout > 0:
            before = Dropout(dropout)(before)
        c, h = given[2 * layer + 1 : 2 * layer + 3]
        width = size if layer else inputs
        sums = CAddTable()([Linear(width, 4 * size)(before), Linear(size, 4 * size)(h)])
        gates = SplitTable(2)(Reshape(4, size)(sums)).split(4)
        written, kept, shown = (Sigmoid()(gate) for gate in gates[:3])
        next_c = CAddTable()([CMulTable()([kept, c]), CMulTable()([written, Tanh()(gates[3])])])
        made += [next_c, CMulTable()([shown, Tanh()(next_c)])]
    top = Dropout(dropout)(made[-1]) if dropout > 0 else made[-1]
    return gModule(given, [*made, LogSoftMax()(Linear(size, outputs)(top))])


class NeuraltalkLanguageModel(Module, kernel=True):
    """neuraltalk2's ``nn.LanguageModel``: {images, sentences} to log-probabilities of words.

    Images are batch x input_encoding_size; sentences words x batch of numbers from 1 to
    `vocab_size`, with 0 after their ends. Output: (words + 2) x batch x (vocab_size + 1): what
    follows the image, the start of the sentence, and each word; the last number means its end.
    Sentences have at most `seq_length` words.
    """

    _torch_name = "nn.LanguageModel"
    NEEDED_FIELDS = ("core", "lookup_table", "seq_length", "vocab_size")
    """Fields by which files tell this class from torch-rnn's of the same name."""
    core: Any
    lookup_table: Any

    def __init__(
        self,
        vocab_size: int,
        input_encoding_size: int,
        rnn_size: int,
        num_layers: int = 1,
        dropout: float = 0,
        seq_length: int = 16,
    ) -> None:
        super().__init__()
        self.vocab_size, self.input_encoding_size = vocab_size, input_encoding_size
        self.rnn_size, self.num_layers, self.seq_length = rnn_size, num_layers, seq_length
        words = vocab_size + 1
        self.core = _lstm(input_encoding_size, words, rnn_size, num_layers, dropout)
        self.lookup_table = LookupTable(words, input_encoding_size)
        self.num_state = 2 * num_layers
        self.init_state = [
            Tensor.zeros(1, rnn_size, dtype=np.float64) for _ in range(2 * num_layers)
        ]
        self.tensors.gradInput = [Tensor(dtype=np.float64) for _ in range(2)]

    # ---- The parts, and the copies of them for the steps

    def children(self) -> list[Module]:
        """None: Lua keeps the two modules outside ``modules``."""
        return []

    def getModulesList(self) -> list[Module]:
        """The modules that have parameters."""
        return [self.core, self.lookup_table]

    def createClones(self) -> None:
        """Makes copies of the modules for all steps, which share their parameters."""
        steps = range(int(self.seq_length) + 1)
        self.assign("clones", [self.core, *(self.core.sharedClone() for _ in steps)])
        tables = [self.lookup_table, *(self.lookup_table.sharedClone() for _ in steps)]
        self.assign("lookup_tables", tables)

    def _upgrade(self) -> None:
        super()._upgrade()
        share_again(self.getModulesList(), self._copies())

    def _copies(self) -> list[Any]:
        """The copies, as far as there are any."""
        return [*(self.field("clones") or [])[1:], *(self.field("lookup_tables") or [])[1:]]

    def parameterTensors(self) -> Any:
        return Container(self.core, self.lookup_table).parameterTensors()

    def training(self) -> None:
        for module in (*self.getModulesList(), *self._copies()):
            module.training()
        super().training()

    def evaluate(self) -> None:
        for module in (*self.getModulesList(), *self._copies()):
            module.evaluate()
        super().evaluate()

    def clearState(self) -> Self:
        for module in self.getModulesList():
            module.clearState()
        for name in ("clones", "lookup_tables", "inputs", "lookup_tables_inputs", "slopes"):
            self.assign(name, None)
        return super().clearState()

    # ---- Training

    def _given(self, input: Any) -> tuple[Any, Any]:
        """The images, and the words as int64."""
        wanted = f"a table of images, batch x {self.input_encoding_size}, and sentences"
        if not isinstance(input, list) or len(input) != 2:
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        images = input[0]
        words = _words(self.typename(), 1, input[1], int(self.vocab_size))
        if images.ndim != 2 or images.shape != (words.shape[1], int(self.input_encoding_size)):
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        if len(words) > int(self.seq_length):
            wanted = f"sentences of at most {int(self.seq_length)} words"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, f"{len(words)}")
        return images, words

    def _start(self, images: Any) -> list[Any]:
        """States of zeros."""
        shape = images.shape[0], int(self.rnn_size)
        return [
            Tensor(dtype=images.dtype, device=images.device).resize(*shape).zero()
            for _ in range(int(self.num_state))
        ]

    def updateOutput(self, input: Any) -> Any:
        images, words = self._given(input)
        if self.field("clones") is None:
            self.createClones()
        batch, end = images.shape[0], int(self.vocab_size) + 1
        looked_up = [None, np.full(batch, end)]
        for row in words:
            if not row.any():  # no sentence goes on
                break
            looked_up.append(np.maximum(row, 1))
        output = self.result("output", images).resize(len(words) + 2, batch, end).zero()
        state, inputs = self._start(images), []
        for step, indices in enumerate(looked_up):
            x = images if indices is None else self.lookup_tables[step].updateOutput(indices)
            inputs.append([x, *state])
            *state, scores = self.clones[step].updateOutput(inputs[-1])
            output.select(0, step).copy_from(scores)
        self.assign("inputs", inputs)
        self.assign("lookup_tables_inputs", looked_up)
        return output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        images, _ = self._given(input)
        state, slopes = self._start(images), []
        found = state[0]
        for step in reversed(range(len(self.field("inputs")))):
            slopes.append([*state, gradOutput.select(0, step)])
            given = self.field("inputs")[step]
            found, *state = self.clones[step].updateGradInput(given, slopes[-1])
            slopes[-1].append(found)
        self.assign("slopes", slopes[::-1])
        self.tensors.gradInput = [found, Tensor(dtype=found.dtype, device=found.device)]
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        for step, (*slopes, found) in enumerate(self.field("slopes")):
            self.clones[step].accGradParameters(self.field("inputs")[step], slopes, scale)
            if step:
                indices = self.field("lookup_tables_inputs")[step]
                self.lookup_tables[step].accGradParameters(indices, found, scale)

    # ---- Use

    def sample(
        self,
        imgs: Any,
        sample_max: bool = True,
        beam_size: int = 1,
        temperature: float = 1,
    ) -> tuple[Any, Any]:
        """Sentences for images: words and their log-probabilities, both `seq_length` x batch.

        Each word is the likeliest, or, without `sample_max`, drawn: the lower the `temperature`,
        the likelier are the likeliest. With a `beam_size` above 1, that number of beginnings of a
        sentence is kept at each word, and the likeliest whole one of all is the result. A sentence
        ends where a word is `vocab_size` + 1, or 0.
        """
        images = np.asarray(imgs)
        if images.ndim != 2 or images.shape[1] != int(self.input_encoding_size):
            raise THNNArgumentError.expected(
                f"{self.typename()}.sample", 1, "imgs", f"batch x {self.input_encoding_size}",
                describe(images),
            )  # fmt: skip
        words = np.zeros((int(self.seq_length), len(images)), np.int64)
        logarithms = np.zeros(words.shape, images.dtype)
        if not sample_max or beam_size <= 1:
            state, scores = self._begun(images)
            for step in range(len(words)):
                chosen = _likeliest(scores) if sample_max else _drawn(scores, temperature)
                words[step] = chosen
                logarithms[step] = np.take_along_axis(scores, chosen[:, None] - 1, 1)[:, 0]
                if step + 1 < len(words):
                    state, scores = self._step(chosen, state)
            return words, logarithms
        for place in range(len(images)):
            found = self._by_beams(images[place : place + 1], int(beam_size))
            words[:, place], logarithms[:, place] = found
        return words, logarithms

    def _step(self, words: Any, state: list[Any]) -> tuple[list[Any], Any]:
        """The states after words, and the log-probabilities of what follows."""
        *state, scores = self.core.forward([self.lookup_table.forward(words), *state])
        return state, scores

    def _begun(self, images: Any) -> tuple[list[Any], Any]:
        """The states at the start of a sentence, and the log-probabilities of the first word."""
        shape = len(images), int(self.rnn_size)
        state = [np.zeros(shape, images.dtype) for _ in range(int(self.num_state))]
        *state, _ = self.core.forward([images, *state])
        return self._step(np.full(len(images), int(self.vocab_size) + 1), state)

    def _by_beams(self, image: Any, beams: int) -> tuple[Any, Any]:
        """The words of the likeliest sentence, and their log-probabilities."""
        length, end = int(self.seq_length), int(self.vocab_size) + 1
        state, scores = self._begun(image)
        words, logarithms = np.zeros((length, 1), np.int64), np.zeros((length, 1))
        best, best_words, best_logarithms = -np.inf, words[:, 0], logarithms[:, 0]
        for step in range(length):
            totals = logarithms.sum(0)[:, None] + scores
            places = np.argsort(-totals, axis=None, kind="stable")[:beams]
            rows, columns = np.unravel_index(places, totals.shape)
            words, logarithms = words[:, rows], logarithms[:, rows]
            words[step], logarithms[step] = columns + 1, scores[rows, columns]
            for beam in range(len(rows)):
                total = logarithms[:, beam].sum()
                if total > best and (words[step, beam] == end or step + 1 == length):
                    best, best_words, best_logarithms = total, words[:, beam], logarithms[:, beam]
            if step + 1 < length:
                state, scores = self._step(words[step], [one[rows] for one in state])
        return best_words, best_logarithms


NeuraltalkLanguageModel.__module__ = "pythnn.nn"


def _likeliest(scores: Any) -> Any:
    """The likeliest word of each sentence."""
    return scores.argmax(1) + 1


def _drawn(scores: Any, temperature: float) -> Any:
    """A word for each sentence, by its probability."""
    highest = scores.max(1, keepdims=True)
    chances = np.exp((scores - highest) / temperature).cumsum(1)
    drawn = _random.uniform((len(scores), 1), 0, 1) * chances[:, -1:]
    return np.minimum((chances <= drawn).sum(1), scores.shape[1] - 1) + 1


@register
class LanguageModelCriterion(Criterion):
    """neuraltalk2's loss: the mean of -log(probability) of all words, and of sentences' ends.

    Input: what a NeuraltalkLanguageModel returns for sentences; target: these. The first entry of
    the input, which follows the image, does not count.
    """

    def _wanted(self, input: Any, target: Any) -> tuple[Any, Any, Any]:
        """The places of the log-probabilities that count: steps, sentences and words."""
        xp = array_module(input)
        words = _words(self.typename(), 2, target, max(input.shape[-1] - 1, 0))
        shape = len(words) + 2, words.shape[1]
        if input.ndim != 3 or input.shape[:2] != shape:
            wanted = f"{shape[0]} x {shape[1]} x (words + 1), for this target"
            raise THNNArgumentError.expected(self.typename(), 1, "input", wanted, describe(input))
        ended = np.vstack([words, np.zeros_like(words[:1])])
        first = np.argmax(ended == 0, 0)
        ended[first, np.arange(words.shape[1])] = input.shape[2]
        steps, sentences = np.nonzero(ended)
        places = steps + 1, sentences, ended[steps, sentences] - 1
        return tuple(xp.asarray(one) for one in places)

    def updateOutput(self, input: Any, target: Any) -> Any:
        self.output = float(-input[self._wanted(input, target)].mean())
        return self.output

    def updateGradInput(self, input: Any, target: Any) -> Any:
        places = self._wanted(input, target)
        gradient = array_module(input).zeros_like(input)
        gradient[places] = -1 / len(places[0])
        self.gradInput = gradient
        return self.gradInput
