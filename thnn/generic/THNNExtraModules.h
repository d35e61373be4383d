/* The prototypes of modules that the original has on CUDA only, or not at all, once per real type:
 * included by ../THNNExtra.h and, except for those under #ifndef THC_PROTOTYPES, which the CPU
 * alone has, by ../cuda/THCUNN.h. The comments are as in THNN.h. */

#include "generic/THNNExtraSequences.h"

/* clang-format off */

/* Sums or means of rows of a table: row b of output is that of the rows of weight whose indices
 * stand in input from offsets[b] on, up to the next bag; 0 for an empty bag. */
THNN_API void THNN_(LookupTableBag_updateOutput)(
    THNNState *state,           /* may be NULL */
    THIndexTensor *input,       /* in: indices; rows of weight */
    THIndexTensor *offsets,     /* in: bags; where each begins in input, the first one at 1 */
    THTensor *weight,           /* in: rows x columns */
    THTensor *output,           /* out: bags x columns */
    THIndexTensor *offset2bag,  /* out: indices; the bag of each index */
    int mode,                   /* 0: sums, 1: means */
    THIndexTensor *seq_length); /* out, optional: bags; number of indices in each, written for means, which need it */

/* Sums or means of rows of a table, backward: adds to the row of gradWeight of each index scale *
 * gradOutput of its bag, divided by the size of the bag for means, and by how often the index
 * occurs when scaleGradByFreq. */
THNN_API void THNN_(LookupTableBag_accGradParameters)(
    THNNState *state,             /* may be NULL */
    THIndexTensor *input,         /* in: indices; rows of gradWeight */
    THTensor *gradOutput,         /* in: bags x columns */
    THTensor *gradWeight,         /* accumulate: rows x columns */
    THIndexTensor *offset2bag,    /* in: indices; from the forward call */
    THIndexTensor *count,         /* scratch, optional: unused */
    THIndexTensor *sortedIndices, /* scratch, optional: unused */
    THIndexTensor *origIndices,   /* scratch, optional: unused */
    bool scaleGradByFreq,         /* divide by the number of times that an index occurs */
    int mode,                     /* 0: sums, 1: means */
    THIndexTensor *seq_length,    /* in, optional: bags; from the forward call, needed for means */
    accreal scale_);              /* factor of what is added */

/* Local response normalisation across channels: output = input * scale^-beta with
 * scale = k + alpha / size * sum of input^2 over the `size` channels around each one. */
THNN_API void THNN_(SpatialCrossMapLRN_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] channels x height x width */
    THTensor *output, /* out: shape of input */
    THTensor *scale,  /* out: shape of input; for the backward call */
    int size,         /* channels in a window: (size - 1) / 2, rounded down, before the one */
    accreal alpha,    /* factor of the mean square */
    accreal beta,     /* exponent */
    accreal k);       /* what the mean square is added to */

/* Local response normalisation across channels, backward. */
THNN_API void THNN_(SpatialCrossMapLRN_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] channels x height x width */
    THTensor *gradOutput, /* in: as many elements as input */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *scale,      /* in: as many elements as input; from the forward call */
    THTensor *output,     /* in: as many elements as input; from the forward call */
    int size,             /* as in the forward call */
    accreal alpha,        /* as in the forward call */
    accreal beta,         /* as in the forward call */
    accreal k);           /* as in the forward call; unused */

/* Convolution of groups of planes in one to three dimensions, which the weight has: sizes are
 * [[depth x] height x] width. Output sizes are (size + padding before + padding after - (dilation
 * (kernel - 1) + 1)) / stride + 1, rounded down. Padding can differ from side to side; negative
 * padding crops. */
THNN_API void THNN_(GroupedConvolution_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: [batch x] nInputPlane x sizes */
    THTensor *output,  /* out: [batch x] nOutputPlane x output sizes */
    THTensor *weight,  /* in: nOutputPlane x (nInputPlane / groups) x kernel sizes */
    THTensor *bias,    /* in, optional: nOutputPlane */
    bool flip,         /* whether kernels are flipped, as in a mathematical convolution */
    int groups,        /* number of groups of planes, each with weights of its own */
    int dT,            /* stride in depth */
    int dH,            /* vertical stride */
    int dW,            /* horizontal stride */
    int padFront,      /* zeros added in front */
    int padTop,        /* zeros added at the top */
    int padLeft,       /* zeros added on the left */
    int padBack,       /* zeros added behind */
    int padBottom,     /* zeros added at the bottom */
    int padRight,      /* zeros added on the right */
    int dilationT,     /* distance of taps in depth */
    int dilationH,     /* distance of taps from top to bottom */
    int dilationW);    /* distance of taps from left to right */

/* Convolution of groups of planes, backward: the gradient with respect to the input. */
THNN_API void THNN_(GroupedConvolution_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x output sizes */
    THTensor *gradInput,   /* out: [batch x] nInputPlane x sizes; added to with `add`, and then not resized */
    THTensor *weight,      /* in: nOutputPlane x (nInputPlane / groups) x kernel sizes */
    int64_t inputDepth,    /* depth of the input; unused in less than three dimensions */
    int64_t inputHeight,   /* height of the input; unused in one dimension */
    int64_t inputWidth,    /* width of the input */
    bool add,              /* whether the gradient is added to gradInput */
    bool flip,             /* whether kernels are flipped, as in a mathematical convolution */
    int groups,            /* number of groups of planes, each with weights of its own */
    int dT,                /* stride in depth */
    int dH,                /* vertical stride */
    int dW,                /* horizontal stride */
    int padFront,          /* zeros added in front */
    int padTop,            /* zeros added at the top */
    int padLeft,           /* zeros added on the left */
    int padBack,           /* zeros added behind */
    int padBottom,         /* zeros added at the bottom */
    int padRight,          /* zeros added on the right */
    int dilationT,         /* distance of taps in depth */
    int dilationH,         /* distance of taps from top to bottom */
    int dilationW);        /* distance of taps from left to right */

/* Convolution of groups of planes, backward: adds scale times the gradients with respect to weight
 * and bias, as far as these are given. */
THNN_API void THNN_(GroupedConvolution_accGradParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x sizes */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x output sizes */
    THTensor *gradWeight,  /* accumulate, optional: nOutputPlane x (nInputPlane / groups) x kernel sizes */
    THTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    int dimensions,        /* 1, 2 or 3: depth and height are unused in one dimension, depth in two */
    bool flip,             /* whether kernels are flipped, as in a mathematical convolution */
    int groups,            /* number of groups of planes, each with weights of its own */
    int dT,                /* stride in depth */
    int dH,                /* vertical stride */
    int dW,                /* horizontal stride */
    int padFront,          /* zeros added in front */
    int padTop,            /* zeros added at the top */
    int padLeft,           /* zeros added on the left */
    int padBack,           /* zeros added behind */
    int padBottom,         /* zeros added at the bottom */
    int padRight,          /* zeros added on the right */
    int dilationT,         /* distance of taps in depth */
    int dilationH,         /* distance of taps from top to bottom */
    int dilationW,         /* distance of taps from left to right */
    accreal scale);        /* factor of what is added */

/* Full (transposed) convolution of groups of planes in one to three dimensions, which the weight
 * has: sizes are [[depth x] height x] width. Output sizes are (size - 1) stride - padding before -
 * padding after + dilation (kernel - 1) + 1, or more by less than the larger of stride and
 * dilation. */
THNN_API void THNN_(GroupedFullConvolution_updateOutput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x sizes */
    THTensor *output,      /* out: [batch x] nOutputPlane x output sizes */
    THTensor *weight,      /* in: nInputPlane x (nOutputPlane / groups) x kernel sizes */
    THTensor *bias,        /* in, optional: nOutputPlane */
    int64_t outputDepth,   /* depth of the output; unused in less than three dimensions */
    int64_t outputHeight,  /* height of the output; unused in one dimension */
    int64_t outputWidth,   /* width of the output */
    int groups,            /* number of groups of planes, each with weights of its own */
    int dT,                /* stride in depth */
    int dH,                /* vertical stride */
    int dW,                /* horizontal stride */
    int padFront,          /* slices cut off in front */
    int padTop,            /* rows cut off at the top */
    int padLeft,           /* columns cut off on the left */
    int padBack,           /* slices cut off behind */
    int padBottom,         /* rows cut off at the bottom */
    int padRight,          /* columns cut off on the right */
    int dilationT,         /* distance of taps in depth */
    int dilationH,         /* distance of taps from top to bottom */
    int dilationW);        /* distance of taps from left to right */

/* Full (transposed) convolution of groups of planes, backward: the gradient with respect to the
 * input. */
THNN_API void THNN_(GroupedFullConvolution_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x output sizes */
    THTensor *gradInput,   /* out: [batch x] nInputPlane x sizes; added to with `add`, and then not resized */
    THTensor *weight,      /* in: nInputPlane x (nOutputPlane / groups) x kernel sizes */
    int64_t inputDepth,    /* depth of the input; unused in less than three dimensions */
    int64_t inputHeight,   /* height of the input; unused in one dimension */
    int64_t inputWidth,    /* width of the input */
    bool add,              /* whether the gradient is added to gradInput */
    int groups,            /* number of groups of planes, each with weights of its own */
    int dT,                /* stride in depth */
    int dH,                /* vertical stride */
    int dW,                /* horizontal stride */
    int padFront,          /* slices cut off in front */
    int padTop,            /* rows cut off at the top */
    int padLeft,           /* columns cut off on the left */
    int padBack,           /* slices cut off behind */
    int padBottom,         /* rows cut off at the bottom */
    int padRight,          /* columns cut off on the right */
    int dilationT,         /* distance of taps in depth */
    int dilationH,         /* distance of taps from top to bottom */
    int dilationW);        /* distance of taps from left to right */

/* Full (transposed) convolution of groups of planes, backward: adds scale times the gradients with
 * respect to weight and bias, as far as these are given. */
THNN_API void THNN_(GroupedFullConvolution_accGradParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x sizes */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x output sizes */
    THTensor *gradWeight,  /* accumulate, optional: nInputPlane x (nOutputPlane / groups) x kernel sizes */
    THTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    int dimensions,        /* 1, 2 or 3: depth and height are unused in one dimension, depth in two */
    int groups,            /* number of groups of planes, each with weights of its own */
    int dT,                /* stride in depth */
    int dH,                /* vertical stride */
    int dW,                /* horizontal stride */
    int padFront,          /* slices cut off in front */
    int padTop,            /* rows cut off at the top */
    int padLeft,           /* columns cut off on the left */
    int padBack,           /* slices cut off behind */
    int padBottom,         /* rows cut off at the bottom */
    int padRight,          /* columns cut off on the right */
    int dilationT,         /* distance of taps in depth */
    int dilationH,         /* distance of taps from top to bottom */
    int dilationW,         /* distance of taps from left to right */
    accreal scale);        /* factor of what is added */

#ifndef THC_PROTOTYPES
/* 2-D convolution with what follows it in a network: the numbers of SpatialDilatedConvolution, then
 * of a sum with a tensor, then of an activation's module. */
THNN_API void THNN_(SpatialConvolutionJoined_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] nInputPlane x height x width */
    THTensor *output, /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *weight, /* in: nOutputPlane x nInputPlane x kH x kW, or nOutputPlane x (nInputPlane * kH * kW) */
    THTensor *bias,   /* in, optional: nOutputPlane */
    THTensor *addend, /* in, optional: shape of output; is added to the convolution */
    int activation,   /* what is then done to each element, a THNNActivation */
    accreal first,    /* its first parameter */
    accreal second,   /* its second one */
    int kW,           /* kernel width */
    int kH,           /* kernel height */
    int dW,           /* horizontal stride */
    int dH,           /* vertical stride */
    int padW,         /* zeros added on the left and on the right */
    int padH,         /* zeros added at the top and at the bottom */
    int dilationW,    /* distance of taps from left to right */
    int dilationH);   /* distance of taps from top to bottom */

/* Full (transposed) 2-D convolution with what follows it in a network: the numbers of
 * SpatialFullDilatedConvolution, then of a sum with a tensor, then of an activation's module. */
THNN_API void THNN_(SpatialFullConvolutionJoined_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] nInputPlane x height x width */
    THTensor *output, /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *weight, /* in: nInputPlane x nOutputPlane x kH x kW */
    THTensor *bias,   /* in, optional: nOutputPlane */
    THTensor *addend, /* in, optional: shape of output; is added to the convolution */
    int activation,   /* what is then done to each element, a THNNActivation */
    accreal first,    /* its first parameter */
    accreal second,   /* its second one */
    int kW,           /* kernel width */
    int kH,           /* kernel height */
    int dW,           /* horizontal stride of the patches */
    int dH,           /* vertical stride of the patches */
    int padW,         /* columns cut off on the left and on the right */
    int padH,         /* rows cut off at the top and at the bottom */
    int dilationW,    /* columns from one tap to the next */
    int dilationH,    /* rows from one tap to the next */
    int adjW,         /* columns added on the right; less than dW or dilationW */
    int adjH);        /* rows added at the bottom; less than dH or dilationH */

/* Max pooling of which only the values are wanted: SpatialDilatedMaxPooling without indices. */
THNN_API void THNN_(SpatialGreatest_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] planes x height x width */
    THTensor *output, /* out: [batch x] planes x outputHeight x outputWidth */
    int kW,           /* width of a window */
    int kH,           /* height of a window */
    int dW,           /* horizontal stride */
    int dH,           /* vertical stride */
    int padW,         /* padding on the left and on the right, at most half of kW */
    int padH,         /* padding at the top and at the bottom, at most half of kH */
    int dilationW,    /* distance of columns of a window */
    int dilationH,    /* distance of rows of a window */
    bool ceil_mode);  /* whether the last window of a row may reach beyond the input */
#endif

/* One number for all elements along a dimension: their sum or mean, the greatest or the least, the
 * first among equals. NaN counts as the greatest, and as the least. */
THNN_API void THNN_(Reduction_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: any shape */
    THTensor *output,       /* out: the same without dimension dim */
    THIndexTensor *indices, /* out, optional: the same; places in dimension dim of greatest or least elements */
    int dim,                /* the dimension, counted from 1 */
    bool keep,              /* whether output keeps dim, with size 1; it does if that is the only dimension */
    int mode);              /* 0: sums, 1: means, 2: greatest, 3: least */

/* The same reduction, backward. */
THNN_API void THNN_(Reduction_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: as in the forward call; only its sizes count */
    THTensor *gradOutput,   /* in: an element for each of the forward call's output */
    THTensor *gradInput,    /* out: as input */
    THIndexTensor *indices, /* in, optional: as the forward call returned it; must be there in modes 2 and 3 */
    int dim,                /* as in the forward call */
    int mode);              /* as in the forward call */

/* Rows of a table: row i of output is that row of weight whose number is index i. */
THNN_API void THNN_(LookupTable_updateOutput)(
    THNNState *state,     /* may be NULL */
    THIndexTensor *input, /* in: [batch x] indices; rows of weight */
    THTensor *weight,     /* in: rows x columns */
    THTensor *output);    /* out: [batch x] indices x columns */

/* Layer normalisation: output = (input - mean) / sqrt(var + eps) * weight + bias, with mean and
 * variance of each row. */
THNN_API void THNN_(LayerNormalization_updateOutput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: rows x columns */
    THTensor *output,    /* out: shape of input */
    THTensor *weight,    /* in, optional: columns; 1 if NULL */
    THTensor *bias,      /* in, optional: columns; 0 if NULL */
    THTensor *save_mean, /* out: rows; for the backward call */
    THTensor *save_std,  /* out: rows; 1 / sqrt(var + eps), for the backward call */
    accreal eps);        /* added to the variance */

/* Layer normalisation, backward, with respect to input. */
THNN_API void THNN_(LayerNormalization_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: rows x columns */
    THTensor *gradOutput, /* in: shape of input */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *weight,     /* in, optional: columns; as in the forward call */
    THTensor *save_mean,  /* in: rows; from the forward call */
    THTensor *save_std);  /* in: rows; from the forward call */

/* Group normalisation: output = (input - mean) / sqrt(var + eps) * weight + bias, with mean and
 * variance of each group of planes of each sample. */
THNN_API void THNN_(GroupNormalization_updateOutput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: batch x planes [x ...] */
    THTensor *output,    /* out: shape of input */
    THTensor *weight,    /* in, optional: planes; 1 if NULL */
    THTensor *bias,      /* in, optional: planes; 0 if NULL */
    THTensor *save_mean, /* out: batch x groups; for the backward call */
    THTensor *save_std,  /* out: batch x groups; 1 / sqrt(var + eps), for the backward call */
    int64_t groups,      /* how many groups the planes of a sample are divided into */
    accreal eps);        /* added to the variance */

/* Group normalisation, backward. Layer normalisation of rows x columns is that of one group. */
THNN_API void THNN_(GroupNormalization_backward)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: batch x planes [x ...] */
    THTensor *gradOutput, /* in: shape of input */
    THTensor *gradInput,  /* out, optional: shape of input; not computed if NULL */
    THTensor *gradWeight, /* accumulate, optional: planes; not computed if NULL */
    THTensor *gradBias,   /* accumulate, optional: planes; not computed if NULL */
    THTensor *weight,     /* in, optional: planes; as in the forward call */
    THTensor *save_mean,  /* in: batch x groups; from the forward call */
    THTensor *save_std,   /* in: batch x groups; from the forward call */
    int64_t groups,       /* as in the forward call */
    accreal scale);       /* factor of what is added to gradWeight and gradBias */

/* Gaussian error linear unit: input times the normal distribution's probability of a number below
 * it. */
THNN_API void THNN_(GELU_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *output); /* out: shape of input */

/* Gaussian error linear unit, backward. */
THNN_API void THNN_(GELU_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape */
    THTensor *gradOutput, /* in: shape of input */
    THTensor *gradInput); /* out: shape of input */

/* Gaussian error linear unit, with (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 for the
 * probability of a number below x. */
THNN_API void THNN_(GELUTanh_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *output); /* out: shape of input */

/* The approximate Gaussian error linear unit, backward. */
THNN_API void THNN_(GELUTanh_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape */
    THTensor *gradOutput, /* in: shape of input */
    THTensor *gradInput); /* out: shape of input */

/* Sigmoid linear unit: input times its sigmoid. */
THNN_API void THNN_(SiLU_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *output); /* out: shape of input */

/* Sigmoid linear unit, backward. */
THNN_API void THNN_(SiLU_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape */
    THTensor *gradOutput, /* in: shape of input */
    THTensor *gradInput); /* out: shape of input */

/* Dropout: noise is 0 with probability p, else 1 / (1 - p), and output = noise * input. Which
 * elements are dropped depends on the seed and on the number of elements before them, and is the
 * same on CPU and GPU and for both real types. */
THNN_API void THNN_(Dropout_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: any shape */
    THTensor *output, /* out: shape of input */
    THTensor *noise,  /* out: shape of input */
    double p,         /* probability of 0, from 0 to 1 */
    int64_t seed);    /* of the random numbers */

/* Minus the logarithm of the density of a mixture of normal distributions in the plane, for a point
 * of each sample. */
THNN_API void THNN_(GaussianMixture_updateOutput)(
    THNNState *state,          /* may be NULL */
    THTensor *target1,         /* in: batch, or batch x 1; the points' first coordinates */
    THTensor *target2,         /* in: shape of target1; their second coordinates */
    THTensor *weight,          /* in: batch x centres; probabilities */
    THTensor *mean1,           /* in: shape of weight */
    THTensor *mean2,           /* in: shape of weight */
    THTensor *std1,            /* in: shape of weight; above 0 */
    THTensor *std2,            /* in: shape of weight; above 0 */
    THTensor *correlation,     /* in: shape of weight; between -1 and 1 */
    THTensor *output,          /* out: shape of target1 */
    THTensor *responsibility); /* out, optional: shape of weight; the probability of each centre, given the point */

/* The same mixture, backward, with respect to what a network computes: logits of which softmax makes
 * weight, means, logarithms of deviations, and the number whose tanh is correlation. */
THNN_API void THNN_(GaussianMixture_updateGradInput)(
    THNNState *state,           /* may be NULL */
    THTensor *target1,          /* in: as in the forward call */
    THTensor *target2,          /* in: as in the forward call */
    THTensor *weight,           /* in: as in the forward call */
    THTensor *mean1,            /* in: as in the forward call */
    THTensor *mean2,            /* in: as in the forward call */
    THTensor *std1,             /* in: as in the forward call */
    THTensor *std2,             /* in: as in the forward call */
    THTensor *correlation,      /* in: as in the forward call */
    THTensor *gradOutput,       /* in: batch elements, or one for all samples */
    THTensor *gradWeight,       /* out, optional: shape of weight; not computed if NULL */
    THTensor *gradMean1,        /* out, optional: shape of weight; not computed if NULL */
    THTensor *gradMean2,        /* out, optional: shape of weight; not computed if NULL */
    THTensor *gradStd1,         /* out, optional: shape of weight; not computed if NULL */
    THTensor *gradStd2,         /* out, optional: shape of weight; not computed if NULL */
    THTensor *gradCorrelation); /* out, optional: shape of weight; not computed if NULL */

/* Padding of planes and volumes by a value or by what is inside. Negative padding crops. */
THNN_API void THNN_(Padding_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: planes x depth x height x width */
    THTensor *output, /* out: planes x (pfront + depth + pback) x (ptop + height + pbottom) x (pleft + width + pright) */
    int pleft,        /* columns added on the left */
    int pright,       /* columns added on the right */
    int ptop,         /* rows added at the top */
    int pbottom,      /* rows added at the bottom */
    int pfront,       /* slices added in front */
    int pback,        /* slices added behind */
    int mode,         /* 0: a value, 1: what is inside, mirrored at the outermost elements, 2: these, repeated, 3: what is at the other end */
    accreal value);   /* the value of mode 0 */

/* The same padding, backward. */
THNN_API void THNN_(Padding_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *gradOutput, /* in: shape of the forward call's output */
    THTensor *gradInput,  /* out: shape of the forward call's input */
    int pleft,            /* as in the forward call */
    int pright,           /* as in the forward call */
    int ptop,             /* as in the forward call */
    int pbottom,          /* as in the forward call */
    int pfront,           /* as in the forward call */
    int pback,            /* as in the forward call */
    int mode);            /* as in the forward call */

/* Linear resampling of volumes to any places, cubic convolution, or their elements there. */
THNN_API void THNN_(Interpolation_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: batch x planes x inputDepth x inputHeight x inputWidth */
    THTensor *output,  /* out: batch x planes x outputDepth x outputHeight x outputWidth */
    int outputDepth,   /* slices of the output */
    int outputHeight,  /* rows of the output */
    int outputWidth,   /* columns of the output */
    double stepDepth,  /* distance of neighbouring slices of the output, in those of the input */
    double stepHeight, /* the same of rows */
    double stepWidth,  /* the same of columns */
    int mode); /* 0: the outer edges of the first elements coincide; 1: these elements; 2: these, and
                * each element is the one at or before its place; 3, 4: cubic convolution at the
                * places of 0 and 1 */

/* The same resampling, backward. */
THNN_API void THNN_(Interpolation_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *gradOutput, /* in: batch x planes x outputDepth x outputHeight x outputWidth */
    THTensor *gradInput,  /* out: batch x planes x inputDepth x inputHeight x inputWidth */
    int inputDepth,       /* slices of the input */
    int inputHeight,      /* rows of the input */
    int inputWidth,       /* columns of the input */
    double stepDepth,     /* as in the forward call */
    double stepHeight,    /* as in the forward call */
    double stepWidth,     /* as in the forward call */
    int mode);            /* as in the forward call */
