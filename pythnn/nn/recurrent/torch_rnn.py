"""The classes of jcjohnson's torch-rnn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _random, thnn
from ..._errors import THNNArgumentError
from ..._tensor import Tensor
from ..activation.noise import Dropout
from ..containers.container import Sequential
from ..containers.decorator import Decorator
from ..linear.linear import Linear
from ..linear.lookup import LookupTable
from ..normalization.batch import BatchNormalization
from ..object.module import Module
from ..object.object import register
from ..shape.shape import View
from ._cell_math import add_product_of_rows, rows_of
from .sequence import SeqLSTM, _Sequence

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LanguageModel", "TemporalAdapter", "TorchRnnLSTM", "VanillaRNN"]


class _Remembering(_Sequence, kernel=True):
    """Batch x time x features; ``remember_states`` goes on from the state of the call before."""

    remember_states: Any = False

    def _is_batch_first(self) -> bool:
        return True

    def _remembers(self) -> bool:
        return bool(self.remember_states)

    def resetStates(self) -> None:
        """Starts from a state of zeros."""
        self.forget()


class TorchRnnLSTM(_Remembering, SeqLSTM, kernel=True):
    """torch-rnn's ``nn.LSTM``: batch x time x input_dim, or a table {[c0, ]h0, that}."""

    _torch_name = "nn.LSTM"

    def __init__(self, input_dim: int, hidden_dim: int) -> None:
        SeqLSTM.__init__(self, input_dim, hidden_dim)
        for name in (
            "inputsize",
            "hiddensize",
            "outputsize",
            "batchfirst",
            "maskzero",
            "_remember",
        ):
            del self.__dict__[name]
        self.input_dim, self.hidden_dim = input_dim, hidden_dim
        self.remember_states = False


TorchRnnLSTM.__module__ = "pythnn.nn"


@register
class VanillaRNN(_Remembering, kernel=True):
    """h = tanh(input Wx + h before Wh + bias), batch x time x input_dim; or {h0, that}."""

    _gates = 1

    def __init__(self, input_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.input_dim, self.hidden_dim = input_dim, hidden_dim
        self._make(input_dim, hidden_dim, hidden_dim)
        for name in ("h0", "buffer1", "buffer2", "grad_h0", "grad_x"):
            self.assign(name, Tensor(dtype=np.float64))
        self.tensors.gradInput = [Tensor(dtype=np.float64) for _ in range(2)]
        self.remember_states = False

    def _fed_back(self) -> int:
        return int(self.tensors.weight.shape[1])

    def _fed_back_as_rows(self) -> Any:
        """The weight of the output before, transposed."""
        return self._weights()[1].transpose(0, 1)

    def updateOutput(self, input: Any) -> Any:
        given, x = self._given(input)
        steps, batch, _ = x.shape
        states = self.result("_output", x).resize(steps + 1, batch, self._fed_back())
        self.assign("h0", states.select(0, 0))
        self.__dict__["_from_zeros"] = self._begin(
            self.tensors.h0, given[-1] if given else None, "_last_output", "userPrevOutput"
        )
        thnn.RNNSteps_updateOutput(
            None, self._products(x), self._fed_back_as_rows(), self.tensors.bias, states,
            False, False,
        )  # fmt: skip
        output = states.narrow(0, 1, steps)
        if self._remembers():
            self.assign("_last_output", output.select(0, steps - 1).clone())
        self.tensors.output = self._formed("output", output, input)
        return self.tensors.output

    def _go_back(self, input: Any, gradOutput: Any) -> Any:
        given, x = self._given(input)
        states, da = self.tensors._output, self.result("buffer2", x)
        dh = self.result("grad_h0", x).resize(*states.shape[1:]).zero()
        gradient = self._batch(self._by_time(gradOutput))
        thnn.RNNSteps_updateGradInput(
            None, states, self._fed_back_as_rows(), gradient, da, dh, False, False
        )
        dx = self._of_input(da, x, input)
        return [dh, dx] if given else dx, (x, da)

    def _gather(self, gradients: Any, scale: Any) -> None:
        x, da = gradients
        self._add_for_input(x, da, scale)
        before, first = self._before()
        if first < len(da):
            fed_back = self.tensors.gradWeight.narrow(0, x.shape[2], self._fed_back())
            rest = da.narrow(0, first, len(da) - first)
            add_product_of_rows(fed_back, rows_of(before), rows_of(rest), scale)


@register
class TemporalAdapter(Decorator, kernel=True):
    """Applies a module for batch x features to batch x time x features."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.net = module

    def _upgrade(self) -> None:
        super()._upgrade()
        if not self.__dict__.get("modules"):
            self.modules = [self.net]

    def _flat(self, value: Tensor) -> Tensor:
        return value.contiguous().view(-1, *value.shape[2:])

    def updateOutput(self, input: Any) -> Any:
        output = self.inside.updateOutput(self._flat(input))
        self.tensors.output = output.view(*input.shape[:2], *output.shape[1:])
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        gradient = self.inside.updateGradInput(self._flat(input), self._flat(gradOutput))
        self.tensors.gradInput = gradient.view(input.shape)
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self.inside.accGradParameters(self._flat(input), self._flat(gradOutput), scale)


@register
class LanguageModel(Module, kernel=True):
    """torch-rnn's model: batch x time of indices of tokens to scores, batch x time x tokens.

    `idx_to_token` are the tokens, whose indices count from 1; `model_type` is "lstm" or "rnn". The
    layers go on from their last states until ``resetStates``.
    """

    NEEDED_FIELDS = ("net", "rnns", "view1", "view2")
    """Fields without which an object of a file is of another class."""
    token_to_idx: dict[str, int]
    net: Any

    def __init__(
        self,
        idx_to_token: Sequence[str],
        model_type: str = "lstm",
        wordvec_size: int = 64,
        rnn_size: int = 128,
        num_layers: int = 2,
        dropout: float = 0,
        batchnorm: bool = False,
    ) -> None:
        super().__init__()
        for name in ("output", "gradInput"):  # fields that Lua's class does not have
            del self.tensors.__dict__[name]
        kinds = {"lstm": TorchRnnLSTM, "rnn": VanillaRNN}
        if model_type not in kinds:
            raise THNNArgumentError.expected(
                self.typename(), 2, "model_type", "lstm or rnn", repr(model_type)
            )
        self.idx_to_token = list(idx_to_token)
        self.token_to_idx = {token: i for i, token in enumerate(self.idx_to_token, 1)}
        self.vocab_size = len(self.idx_to_token)
        self.model_type, self.wordvec_dim, self.rnn_size = model_type, wordvec_size, rnn_size
        self.num_layers, self.dropout, self.batchnorm = num_layers, dropout, int(batchnorm)
        self.rnns: list[Any] = []
        self.bn_view_in: list[Any] = []
        self.bn_view_out: list[Any] = []
        self.net = Sequential(LookupTable(self.vocab_size, wordvec_size))
        for layer in range(num_layers):
            rnn = kinds[model_type](rnn_size if layer else wordvec_size, rnn_size)
            rnn.remember_states = True
            self.rnns.append(rnn)
            self.net.add(rnn)
            if batchnorm:
                self._add_view(self.bn_view_in, 1, 1, -1)
                self.net.add(BatchNormalization(rnn_size))
                self._add_view(self.bn_view_out, 1, -1)
            if dropout > 0:
                self.net.add(Dropout(dropout))
        views: list[Any] = []
        self._add_view(views, 1, 1, -1)
        self.net.add(Linear(rnn_size, self.vocab_size))
        self._add_view(views, 1, -1)
        self.view1, self.view2 = views

    def _add_view(self, kept: list[Any], *sizes: int) -> None:
        """Adds a View, whose sizes each call sets, to the network and to a list."""
        view = View(*sizes)
        view.setNumInputDims(len(sizes))
        kept.append(view)
        self.net.add(view)

    # ---- Text

    def encode_string(self, text: Any) -> Any:
        """The indices of the tokens of a text; THNNArgumentError for one that is unknown."""
        for token in text:
            if token not in self.token_to_idx:
                raise THNNArgumentError.expected(
                    f"{self.typename()}.encode_string", 1, "text",
                    "the model's tokens, those of idx_to_token", repr(token),
                )  # fmt: skip
        return np.array([self.token_to_idx[token] for token in text], np.int64)

    def decode_string(self, indices: Any) -> str:
        """The text of indices."""
        return "".join(str(self.idx_to_token[int(i) - 1]) for i in np.asarray(indices).ravel())

    def sample(
        self,
        length: int = 100,
        start_text: Any = "",
        temperature: float = 1,
        sample: bool = True,
    ) -> str:
        """A text of `length` tokens that begins with `start_text`, each drawn after those before.

        Scores are divided by `temperature` first: the lower it is, the likelier are the likeliest.
        Without `sample` the next token is always the likeliest.
        """
        self.resetStates()
        chosen = list(self.encode_string(start_text))
        scores = np.zeros(int(self.vocab_size))
        if chosen:
            scores = np.asarray(self.forward(np.array([chosen])))[0, -1]
        while len(chosen) < length:
            chances = np.exp((scores - scores.max()) / temperature).cumsum()
            place = int(scores.argmax())
            if sample:
                drawn = float(_random.uniform((1,), 0, 1)[0]) * chances[-1]
                place = min(int(np.searchsorted(chances, drawn, "right")), len(chances) - 1)
            chosen.append(place + 1)
            scores = np.asarray(self.forward(np.array([[place + 1]])))[0, -1]
        self.resetStates()
        return self.decode_string(chosen)

    def children(self) -> list[Module]:
        """The network, which Lua keeps outside ``modules``."""
        return []

    def parameterTensors(self) -> Any:
        return self.net.parameterTensors()

    def training(self) -> None:
        self.net.training()
        super().training()

    def evaluate(self) -> None:
        self.net.evaluate()
        super().evaluate()

    def clearState(self) -> Self:
        self.net.clearState()
        return super().clearState()

    def resetStates(self) -> None:
        """Starts from states of zeros."""
        for rnn in self.rnns:
            rnn.forget()

    def forget(self) -> Self:
        """Starts from states of zeros; returns itself."""
        self.resetStates()
        return self

    def _set_views(self, input: Any) -> None:
        """Sets the sizes of the views, as the input has them."""
        batch, steps = input.shape
        self.view1.resetSize(batch * steps, -1)
        self.view2.resetSize(batch, steps, -1)
        for view in self.field("bn_view_in") or []:
            view.resetSize(batch * steps, -1)
        for view in self.field("bn_view_out") or []:
            view.resetSize(batch, steps, -1)

    def updateOutput(self, input: Any) -> Any:
        self._set_views(input)
        self.tensors.output = self.net.updateOutput(input)
        return self.tensors.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.tensors.gradInput = self.net.updateGradInput(input, gradOutput)
        return self.tensors.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Any = 1) -> None:
        self.net.accGradParameters(input, gradOutput, scale)

    def backward(self, input: Any, gradOutput: Any, scale: Any = 1) -> Any:
        self.tensors.gradInput = self.net.backward(input, gradOutput, scale)
        return self.tensors.gradInput
