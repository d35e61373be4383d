"""Cases of functions that are THNN's modules, and all cases of functions."""

from __future__ import annotations

import numpy as np

from .functional_cases import (
    Case,
    F,
    alone,
    apart,
    loss,
    normal,
    of_output,
    plain,
    pooling,
    rng,
    with_bias,
)
from .functional_layers import CASES as LAYERS

SIGNS = np.where(normal(3, 4) > 0, 1.0, -1.0)
LOG = np.log(F.softmax(normal(3, 4)))
CLASSES = np.array([0, 3, 1])
TABLE = [[0, 0], [1, 0], [1, 1]]
STEP = {"stride": (2, 1), "padding": (1, 0)}


CASES = {
    "absolute": plain("absolute", (apart(3, 4),)),
    "elu": of_output("elu", apart(3, 4), 0.7),
    "glu": plain("glu", (normal(3, 4),), 1),
    "hard_shrink": plain("hard_shrink", (apart(3, 4),)),
    "hard_tanh": plain("hard_tanh", (apart(3, 4),)),
    "leaky_relu": plain("leaky_relu", (apart(3, 4),)),
    "log_sigmoid": plain("log_sigmoid", (normal(3, 4),)),
    "prelu": plain("prelu", (apart(3, 4), normal(4))),
    "relu": plain("relu", (apart(3, 4),)),
    "sigmoid": of_output("sigmoid", normal(3, 4)),
    "soft_shrink": plain("soft_shrink", (apart(3, 4),)),
    "softplus": of_output("softplus", normal(3, 4), 2.0),
    "sqrt": of_output("sqrt", np.abs(normal(3, 4)) + 1),
    "square": plain("square", (normal(3, 4),)),
    "tanh": of_output("tanh", normal(3, 4)),
    "threshold": Case(
        (apart(3, 4),),
        lambda x: F.threshold(x, 0.1, -2.0),
        lambda g, x: F.threshold_backward(g, x, 0.1),
    ),
    "softmax": of_output("softmax", normal(3, 4, 2), 1),
    "softmax of one axis": of_output("softmax", normal(5)),
    "log_softmax": of_output("log_softmax", normal(3, 4, 2), 0),
    "batch_norm": Case(
        (normal(3, 2, 4), normal(2), normal(2)),
        lambda x, w, b: F.batch_norm(x, w, b)[0],
        lambda g, x, w, b: F.batch_norm_backward(g, x, w, *F.batch_norm(x, w, b)[1:]),
    ),
    "batch_norm in use": Case(
        (normal(3, 2, 4), normal(2), normal(2)),
        lambda x, w, b: F.batch_norm(
            x, w, b, np.array([1.0, 2.0]), np.array([3.0, 4.0]), training=False
        )[0],
        lambda g, x, w, _: F.batch_norm_backward(
            g, x, w, np.array([1.0, 2.0]), (np.array([3.0, 4.0]) + 1e-5) ** -0.5, training=False
        ),
    ),
    "feature_lp_pool": Case(
        (np.abs(normal(2, 7)) + 1,),
        lambda x: F.feature_lp_pool(x, 3.0, 3, 2),
        lambda g, x: F.feature_lp_pool_backward(g, x, F.feature_lp_pool(x, 3.0, 3, 2), 3.0, 3, 2),
    ),
    "cross_map_lrn": Case(
        (normal(1, 5, 2, 2),),
        lambda x: F.cross_map_lrn(x, 3, 0.5)[0],
        lambda g, x: F.cross_map_lrn_backward(g, x, *F.cross_map_lrn(x, 3, 0.5), 3, 0.5),
    ),
    "absolute_loss": loss("absolute_loss", apart(3, 4), np.zeros((3, 4))),
    "binary_cross_entropy": loss(
        "binary_cross_entropy",
        rng.uniform(0.1, 0.9, (3, 4)),
        rng.uniform(size=(3, 4)),
        rng.uniform(size=(3, 4)),
    ),
    "kl_div_loss": loss("kl_div_loss", LOG, F.softmax(normal(3, 4))),
    "l1_cost": loss("l1_cost", apart(3, 4)),
    "margin_loss": loss("margin_loss", apart(3, 4), SIGNS, 0.9),
    "mse_loss": loss("mse_loss", normal(3, 4), normal(3, 4)),
    "multi_label_margin_loss": loss(
        "multi_label_margin_loss", apart(2, 4) * 1.1, [[0, 2, -1, 0], [3, -1, 0, 0]]
    ),
    "multi_margin_loss": loss(
        "multi_margin_loss", apart(3, 4) * 1.1, CLASSES, [1.0, 2.0, 3.0, 4.0], p=2
    ),
    "nll_loss": loss("nll_loss", LOG, CLASSES, [1.0, 2.0, 3.0, 4.0], ignore_index=3),
    "nll_loss of one": loss("nll_loss", LOG[0], 2, average=False),
    "nll_loss2d": loss(
        "nll_loss2d", normal(2, 3, 2, 2), rng.integers(0, 3, (2, 2, 2)), [1.0, 2.0, 3.0]
    ),
    "smooth_l1_loss": loss("smooth_l1_loss", apart(3, 4), np.zeros((3, 4))),
    "soft_margin_loss": loss("soft_margin_loss", normal(3, 4), SIGNS),
    "linear": with_bias("linear", (normal(3, 4), normal(2, 4), normal(2))),
    "sparse_linear": Case(
        (normal(2, 3), normal(2)),
        lambda w, b: F.sparse_linear([0, 1, 1], [2, 0, 1], [1.0, 2.0, 3.0], w, b, 2),
        lambda g, w, _: F.sparse_linear_backward(g, [0, 1, 1], [2, 0, 1], [1.0, 2.0, 3.0], w),
    ),
    "index_linear": Case(
        (normal(3, 2), normal(2)),
        lambda w, b: F.index_linear([2, 0, 2], [1.0, 2.0, 3.0], [1, 2], w, b),
        lambda g, w, _: F.index_linear_backward(g, [2, 0, 2], [1.0, 2.0, 3.0], [1, 2], w),
    ),
    "embedding": Case(
        (normal(3, 2),),
        lambda w: F.embedding([[2, 0], [2, 1]], w),
        lambda g, w: F.embedding_backward(g, [[2, 0], [2, 1]], w),
    ),
    "embedding_bag": Case(
        (normal(3, 2),),
        lambda w: F.embedding_bag([2, 0, 2], [0, 1], w, mean=True)[0],
        lambda g, w: F.embedding_bag_backward(
            g, [2, 0, 2], F.embedding_bag([2, 0, 2], [0, 1], w, mean=True)[1], w, mean=True
        ),
    ),
    "embedding_bag of sums": Case(
        (normal(3, 2),),
        lambda w: F.embedding_bag([2, 0, 2], [0, 1], w, mode="sum")[0],
        lambda g, w: F.embedding_bag_backward(
            g, [2, 0, 2], F.embedding_bag([2, 0, 2], [0, 1], w, mode="sum")[1], w, mode="sum"
        ),
    ),
    "gru_cell": Case(
        (normal(2, 6), normal(2, 6), normal(2, 2)),
        lambda *a: F.gru_cell(*a)[0],
        lambda g, *a: F.gru_cell_backward(g, F.gru_cell(*a)[1]),
    ),
    "lstm_cell": Case(
        (normal(2, 8), normal(2, 2)),
        lambda x, cell: F.lstm_cell(x, np.zeros((2, 8)), cell)[0],
        lambda g, x, cell: F.lstm_cell_backward(
            g, np.zeros((2, 2)), cell, *F.lstm_cell(x, np.zeros((2, 8)), cell)[1:]
        ),
    ),
    "conv2d": with_bias(
        "conv2d", (normal(2, 3, 5, 6), normal(2, 3, 2, 3), normal(2)), dilation=(2, 1), **STEP
    ),
    "conv_transpose2d": with_bias(
        "conv_transpose2d",
        (normal(2, 3, 2, 3), normal(3, 2, 3, 2), normal(2)),
        output_padding=(1, 0),
        **STEP,
    ),
    "conv1d": with_bias(
        "conv1d",
        (normal(2, 4, 7), normal(6, 2, 3), normal(6)),
        groups=2,
        stride=2,
        padding=((1, 2),),
        flip=True,
    ),
    "conv1d_grad": alone(1, normal(2, 4, 7), normal(6, 2, 3), groups=2, padding="same"),
    "conv2d_grad": alone(2, normal(2, 3, 5, 6), normal(2, 3, 2, 3), dilation=(2, 1), **STEP),
    "conv3d_grad": alone(3, normal(1, 2, 3, 4, 3), normal(4, 1, 2, 1, 2), groups=2),
    "conv_transpose1d": with_bias(
        "conv_transpose1d",
        (normal(2, 4, 4), normal(4, 3, 3), normal(6)),
        groups=2,
        stride=2,
        output_size=10,
    ),
    "depthwise_conv2d": with_bias(
        "depthwise_conv2d", (normal(2, 3, 5, 6), normal(2, 3, 2, 3), normal(2, 3)), **STEP
    ),
    "conv2d_local": with_bias(
        "conv2d_local", (normal(2, 3, 4), normal(2, 2, 2, 2, 2, 3), normal(2, 2, 2))
    ),
    "conv2d_map": plain("conv2d_map", (normal(2, 3, 4), normal(3, 2, 3), normal(2)), TABLE),
    "conv_transpose2d_map": plain(
        "conv_transpose2d_map", (normal(2, 3, 4), normal(3, 2, 3), normal(2)), TABLE, stride=2
    ),
    "conv3d": with_bias(
        "conv3d",
        (normal(2, 3, 4, 4), normal(3, 2, 2, 2, 3), normal(3)),
        stride=(1, 2, 1),
        padding=1,
    ),
    "conv_transpose3d": with_bias(
        "conv_transpose3d",
        (normal(2, 2, 2, 3), normal(2, 3, 2, 2, 3), normal(3)),
        stride=(1, 2, 1),
        output_padding=(0, 1, 0),
    ),
    "temporal_conv1d": with_bias(
        "temporal_conv1d", (normal(2, 5, 3), normal(4, 6), normal(4)), 2, stride=2
    ),
    "row_conv1d": with_bias("row_conv1d", (normal(2, 5, 3), normal(3, 1, 2), normal(3)), padding=1),
    "max_pool1d": pooling("max_pool1d", apart(2, 6, 3), 3, 2),
    "max_pool1d of the last axis": pooling("max_pool1d", apart(2, 3, 6), 3, 2, axis=-1),
    "max_pool2d": pooling("max_pool2d", apart(2, 3, 6, 5), (3, 2), 2, padding=1, ceil_mode=True),
    "max_pool3d": pooling("max_pool3d", apart(2, 4, 5, 6), (2, 3, 2), padding=(0, 1, 1)),
    "adaptive_max_pool2d": Case(
        (apart(2, 5, 7),),
        lambda x: F.adaptive_max_pool2d(x, (2, 3))[0],
        lambda g, x: F.adaptive_max_pool2d_backward(g, x, F.adaptive_max_pool2d(x, (2, 3))[1]),
    ),
    "fractional_max_pool2d": Case(
        (apart(1, 2, 6, 7),),
        lambda x: F.fractional_max_pool2d(x, (3, 4), 2, np.full((1, 2, 2), 0.4))[0],
        lambda g, x: F.fractional_max_pool2d_backward(
            g, x, F.fractional_max_pool2d(x, (3, 4), 2, np.full((1, 2, 2), 0.4))[1], (3, 4), 2
        ),
    ),
    "fractional_max_pool3d": Case(
        (apart(1, 2, 5, 6, 7),),
        lambda x: F.fractional_max_pool3d(x, (3, 2, 2), 2, np.full((1, 2, 3), 0.4))[0],
        lambda g, x: F.fractional_max_pool3d_backward(
            g, x, F.fractional_max_pool3d(x, (3, 2, 2), 2, np.full((1, 2, 3), 0.4))[1], (3, 2, 2), 2
        ),
    ),
    "max_unpool2d": Case(
        (normal(1, 2, 2),),
        lambda x: F.max_unpool2d(x, [[[0, 3], [8, 15]]], 4),
        lambda g, x: F.max_unpool2d_backward(g, x, [[[0, 3], [8, 15]]]),
    ),
    "max_unpool3d": Case(
        (normal(1, 2, 2, 2),),
        lambda x: F.max_unpool3d(x, F.max_pool3d(normal(1, 4, 4, 4) * 0, 2)[1], 4, 2),
        lambda g, x: F.max_unpool3d_backward(g, x, F.max_pool3d(normal(1, 4, 4, 4) * 0, 2)[1], 2),
    ),
    "avg_pool2d": plain(
        "avg_pool2d", (normal(2, 3, 6, 5),), (3, 2), 2, padding=1, count_padding=False
    ),
    "avg_pool3d": plain("avg_pool3d", (normal(2, 4, 5, 6),), (2, 3, 2), padding=(0, 1, 1)),
    "adaptive_avg_pool2d": Case(
        (normal(2, 5, 7),),
        lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
        lambda g, x: F.adaptive_avg_pool2d_backward(g, x),
    ),
    "subsample1d": with_bias("subsample1d", (normal(6, 3), normal(3), normal(3)), 3, 2),
    "subsample2d": with_bias("subsample2d", (normal(3, 5, 6), normal(3), normal(3)), (2, 3)),
    "upsample_nearest2d": plain("upsample_nearest2d", (normal(2, 2, 3),), 3),
    "upsample_nearest3d": plain("upsample_nearest3d", (normal(2, 2, 3, 2),), 2),
    "upsample_bilinear2d": Case(
        (normal(2, 2, 3, 4),),
        lambda x: F.upsample_bilinear2d(x, (5, 6)),
        lambda g, x: F.upsample_bilinear2d_backward(g, x.shape),
    ),
    "upsample_trilinear3d": Case(
        (normal(2, 1, 2, 3, 2),),
        lambda x: F.upsample_trilinear3d(x, (3, 5, 4)),
        lambda g, x: F.upsample_trilinear3d_backward(g, x.shape),
    ),
    "upsample_bilinear2d of edges": Case(
        (normal(2, 2, 3, 4),),
        lambda x: F.upsample_bilinear2d(x, (5, 2), align_corners=False),
        lambda g, x: F.upsample_bilinear2d_backward(g, x.shape, align_corners=False),
    ),
    "upsample_trilinear3d of edges": Case(
        (normal(2, 1, 2, 3, 1),),
        lambda x: F.upsample_trilinear3d(x, (3, 2, 4), align_corners=False),
        lambda g, x: F.upsample_trilinear3d_backward(g, x.shape, align_corners=False),
    ),
    "grid_sample2d of edges": plain(
        "grid_sample2d", (normal(2, 3, 4, 5), normal(2, 2, 3, 2) / 3), align_corners=False
    ),
    "grid_sample2d of edges of one row": plain(
        "grid_sample2d", (normal(2, 3, 1, 5), normal(2, 2, 3, 2) / 3), align_corners=False
    ),
    "grid_sample2d": plain("grid_sample2d", (normal(2, 3, 4, 5), normal(2, 2, 3, 2) / 3)),
    "reflection_pad2d": plain("reflection_pad2d", (normal(2, 4, 5),), ((1, 2), (3, -1))),
    "replication_pad2d": plain("replication_pad2d", (normal(2, 4, 5),), 2),
    "replication_pad3d": plain(
        "replication_pad3d", (normal(2, 3, 4, 5),), ((1, 0), (0, 2), (1, 1))
    ),
}
CASES |= LAYERS
