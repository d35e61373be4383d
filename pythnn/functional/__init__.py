"""Every module of THNN as a pair of functions on arrays: forward, and ``…_backward``.

For example::

    from pythnn import functional as F

    y = F.conv2d(x, weight, bias, padding=1)
    grad_x, grad_weight, grad_bias = F.conv2d_backward(grad_y, x, weight, padding=1)

Conventions are Python's: axes, targets and indices count from 0. Arguments are float32 or float64
arrays (integers become float64), all of one type, and are not changed; results are new arrays.
Arrays on a CUDA device give CuPy's arrays on that device; all of a call must be there.
Backward functions take the gradient of the output first and return gradients of what the forward
function took. Wrong arguments raise :class:`pythnn.THNNArgumentError`, which names the function and
its argument.
"""

from .activation import *
from .algorithms import *
from .channels import *
from .convolution import *
from .gates import *
from .likelihood import *
from .linear import *
from .loss import *
from .noise import *
from .normalisation import *
from .padding import *
from .pooling import *
from .products import *
from .recurrent import *
from .regions import *
from .resampling import *
from .sequences import *
from .softmax import *
from .special_convolution import *
from .tables import *
from .transposed_convolution import *
