"""The modules and criterions of Lua Torch's ``nn``, on arrays.

Names, arguments, defaults and fields are Lua's, and so are its conventions: dimensions, indices and
class targets count from 1. A table of tensors is a list of arrays.
"""

from . import tables
from ._node import Node
from ._object import Object, register, registry
from ._unknown import UnknownClassWarning
from .batch_normalization import *
from .border import *
from .branching import *
from .class_criterion import *
from .combined_criterion import *
from .container import *
from .conversion import *
from .criterion import *
from .decorator import *
from .distance import *
from .dpnn.layers import *
from .dpnn.reinforce import *
from .element_criterion import *
from .graph import *
from .index_linear import *
from .kmeans import *
from .linear import *
from .linear_weight_norm import *
from .local_normalization import *
from .lookup import *
from .lp_pooling import *
from .maxout import *
from .mixture import *
from .module import *
from .module_criterion import *
from .noise import *
from .normalization import *
from .other_packages import *
from .pair_criterion import *
from .partial_linear import *
from .plumbing import *
from .pointwise import *
from .product import *
from .rectifier import *
from .recurrent.attention import *
from .recurrent.cells import *
from .recurrent.masking import *
from .recurrent.recurrence import *
from .recurrent.sequence import *
from .recurrent.sequencer import *
from .recurrent.simple import *
from .recurrent.torch_rnn import *
from .recurrent.torch_rnn import TorchRnnLSTM
from .reduction import *
from .scalar import *
from .scaling import *
from .selection import *
from .shape import *
from .softmax import *
from .sparse_linear import *
from .spatial_convolution import *
from .spatial_pooling import *
from .stochastic_gradient import *
from .subsampling import *
from .table_arithmetic import *
from .table_convolution import *
from .table_shaping import *
from .temporal_convolution import *
from .temporal_pooling import *
from .upsampling import *
from .volumetric_convolution import *
from .volumetric_pooling import *
from .weight_norm import *

__all__ = [
    "Node",
    "Object",
    "TorchRnnLSTM",
    "UnknownClassWarning",
    "register",
    "registry",
    "tables",
    *(name.removeprefix("nn.") for name in registry if name.startswith("nn.")),
]
