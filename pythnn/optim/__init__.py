"""Lua Torch's optimisers: functions that move parameters, given a function and its gradient.

Each is called as ``optim.sgd(opfunc, x, config, state)``: ``opfunc(x)`` returns the value and the
gradient at `x`, an array that is changed in place; `config` is a dict with settings under Lua's
names, `state` one that the method keeps its own in from call to call (`config` unless given).
The result is `x` and a list of the values that opfunc gave.

`x` can be on a CUDA device, as an array of CuPy's; so do then its gradient, the arrays of the
state, and those among the settings.

Beside them are what accompanies training: :class:`ConfusionMatrix`, :class:`Logger`, and
:func:`checkgrad`, which compares gradients with differences.
"""

from ._adadelta import adadelta
from ._adagrad import adagrad
from ._adam import adam
from ._adamax import adamax
from ._asgd import asgd
from ._cg import cg
from ._checkgrad import checkgrad
from ._confusion import ConfusionMatrix
from ._lbfgs import lbfgs
from ._logger import Logger
from ._nag import nag
from ._rmsprop import rmsprop
from ._rprop import rprop
from ._sgd import sgd

__all__ = [
    "ConfusionMatrix",
    "Logger",
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "asgd",
    "cg",
    "checkgrad",
    "lbfgs",
    "nag",
    "rmsprop",
    "rprop",
    "sgd",
]
