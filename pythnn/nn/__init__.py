"""The modules and criterions of Lua Torch's ``nn``, on arrays.

Names, arguments, defaults and fields are Lua's, and so are its conventions: dimensions, indices and
class targets count from 1. A table of tensors is a list of arrays.
"""

from . import tables
from .activation.noise import *
from .activation.pointwise import *
from .activation.rectifier import *
from .activation.scalar import *
from .activation.softmax import *
from .checking import check_gradients
from .containers.branching import *
from .containers.container import *
from .containers.decorator import *
from .containers.weight_norm import *
from .convolution.connected import *
from .convolution.spatial import *
from .convolution.temporal import *
from .convolution.volumetric import *
from .criterion.classes import *
from .criterion.combined import *
from .criterion.criterion import *
from .criterion.elements import *
from .criterion.modules import *
from .criterion.pairs import *
from .dpnn.images import *
from .dpnn.layers import *
from .dpnn.noise_contrastive import *
from .dpnn.reinforce import *
from .graph.graph import *
from .linear.distance import *
from .linear.index_linear import *
from .linear.kmeans import *
from .linear.linear import *
from .linear.linear_weight_norm import *
from .linear.lookup import *
from .linear.maxout import *
from .linear.partial_linear import *
from .linear.product import *
from .linear.scaling import *
from .linear.sparse_linear import *
from .normalization.batch import *
from .normalization.local import *
from .normalization.normalization import *
from .object.module import *
from .object.node import Node
from .object.object import Object, register
from .object.registry import registry
from .object.unknown import UnknownClassWarning
from .other_packages import *
from .packages import cudnn, inn, w2nn
from .packages.densecap import *
from .packages.neuraltalk import *
from .packages.neuraltalk import NeuraltalkLanguageModel
from .packages.nnx import *
from .packages.nnx_other import *
from .packages.projects import *
from .packages.stn import *
from .packages.style import *
from .packages.tree import *
from .padding.border import *
from .pooling.lp import *
from .pooling.spatial import *
from .pooling.subsampling import *
from .pooling.temporal import *
from .pooling.volumetric import *
from .recurrent.attention import *
from .recurrent.cells import *
from .recurrent.masking import *
from .recurrent.recurrence import *
from .recurrent.recursor import *
from .recurrent.sequence import *
from .recurrent.sequencer import *
from .recurrent.simple import *
from .recurrent.step import *
from .recurrent.torch_rnn import *
from .recurrent.torch_rnn import TorchRnnLSTM
from .resampling.upsampling import *
from .shape.conversion import *
from .shape.plumbing import *
from .shape.reduction import *
from .shape.selection import *
from .shape.shape import *
from .stochastic_gradient import *
from .table.arithmetic import *
from .table.mixture import *
from .table.shaping import *

__all__ = [
    "NeuraltalkLanguageModel",
    "Node",
    "Object",
    "TorchRnnLSTM",
    "UnknownClassWarning",
    "check_gradients",
    "cudnn",
    "inn",
    "register",
    "registry",
    "tables",
    "w2nn",
    *(name.removeprefix("nn.") for name in registry if name.startswith("nn.")),
]
