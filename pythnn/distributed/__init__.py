"""Training by several processes, on one machine or on many, and models in workers of others.

Functions that accompany :mod:`pythnn.optim`: the processes of MPI (mpi4py: ``pip install
'.[mpi]'``) evaluate parts of each batch, and all take the same step::

    from pythnn import distributed, optim

    comm = distributed.world()
    distributed.broadcast(model, comm)
    parameters, sums = model.getParameters()

    def loss(_):
        return distributed.gradients(comm, model, shards, evaluate), sums

    optim.sgd(loss, parameters, config, state)

**The bits of a model do not depend on how many processes train it.** A batch is cut into shards,
whose number is the program's choice, and the gradients of shards are added in one binary tree over
the shards.

When a process fails, the others end too: an exception that nobody catches ends the whole program.

:class:`Predictor` needs no MPI: it is what Ray Data and Dask call in their workers.
"""

from ._checkpoint import checkpoint, resume
from ._gradients import gradients
from ._group import ProcessError, world
from ._predictor import Predictor
from ._spreading import broadcast, own_shards, scatter

__all__ = [
    "Predictor",
    "ProcessError",
    "broadcast",
    "checkpoint",
    "gradients",
    "own_shards",
    "resume",
    "scatter",
    "world",
]
