/* The prototypes, once per real type: included by ../THNN.h, which says what the roles mean. */

/* One argument and its comment per line. */
/* clang-format off */

/* ---- Pointwise ------------------------------------------------------------------------------ */

/* Threshold: output = input > threshold ? input : val, element by element. */
THNN_API void THNN_(Threshold_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape; overwritten with the result when inplace */
    THTensor *output,  /* out: shape of input; shares its storage when inplace */
    accreal threshold, /* values up to and including it are replaced */
    accreal val,       /* what they are replaced by */
    bool inplace);     /* work in input's storage */

/* Threshold, backward: gradInput = input > threshold ? gradOutput : 0. */
THNN_API void THNN_(Threshold_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape; the output of the forward call serves when inplace */
    THTensor *gradOutput, /* in: as many elements as input; overwritten when inplace */
    THTensor *gradInput,  /* out: shape of input; shares gradOutput's storage when inplace */
    accreal threshold,    /* as in the forward call */
    accreal val,          /* as in the forward call; must not exceed threshold when inplace */
    bool inplace);        /* work in gradOutput's storage */

/* ---- Criterions ----------------------------------------------------------------------------- */

/* Mean absolute error: output = sum of |input - target|, divided by the number of elements when
 * sizeAverage. */
THNN_API void THNN_(AbsCriterion_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *target,  /* in: as many elements as input */
    THTensor *output,  /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Mean absolute error, backward: gradInput = 1 where input >= target, else -1, divided by the number
 * of elements when sizeAverage. */
THNN_API void THNN_(AbsCriterion_updateGradInput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: any shape */
    THTensor *target,    /* in: as many elements as input */
    THTensor *gradInput, /* out: shape of input */
    bool sizeAverage);   /* divide by the number of elements */

/* Binary cross entropy: output = -sum of weights (target log input + (1 - target) log(1 - input)),
 * divided by the number of elements when sizeAverage. 1e-12 is added to what logarithms are taken of. */
THNN_API void THNN_(BCECriterion_updateOutput)(
    THNNState *state,   /* may be NULL */
    THTensor *input,    /* in: any shape; values from 0 to 1, others are an error */
    THTensor *target,   /* in: as many elements as input */
    THTensor *output,   /* inout: one element; overwritten, not resized */
    bool sizeAverage,   /* divide by the number of elements */
    THTensor *weights); /* in, optional: as many elements as input; NULL means 1 for each */

/* Binary cross entropy, backward: gradInput = weights (input - target) / (input (1 - input)), divided
 * by the number of elements when sizeAverage. 1e-12 is added to both factors of the divisor. */
THNN_API void THNN_(BCECriterion_updateGradInput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: any shape */
    THTensor *target,    /* in: as many elements as input */
    THTensor *gradInput, /* out: shape of input */
    bool sizeAverage,    /* divide by the number of elements */
    THTensor *weights);  /* in, optional: as many elements as input; NULL means 1 for each */

/* Negative log likelihood of one class per sample: output = minus the sum of
 * weights[target] * input[target], divided by total_weight, the sum of weights[target], when
 * sizeAverage and that is not 0. */
THNN_API void THNN_(ClassNLLCriterion_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] classes; log probabilities */
    THIndexTensor *target,  /* in: batch; without a batch the first element counts */
    THTensor *output,       /* inout: one element; overwritten, not resized */
    bool sizeAverage,       /* divide by total_weight */
    THTensor *weights,      /* in, optional: classes; NULL means 1 for each */
    THTensor *total_weight, /* inout: one element; overwritten, not resized */
    int64_t ignore_index);  /* targets of this value do not count */

/* Negative log likelihood, backward: gradInput at each target = -weights[target], divided by
 * total_weight when sizeAverage. Nothing is written when total_weight is not positive. */
THNN_API void THNN_(ClassNLLCriterion_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] classes; only its shape matters */
    THIndexTensor *target,  /* in: batch; without a batch the first element counts */
    THTensor *gradInput,    /* inout: shape of input, all 0; only the targets' elements are written */
    bool sizeAverage,       /* divide by total_weight */
    THTensor *weights,      /* in, optional: classes; NULL means 1 for each */
    THTensor *total_weight, /* in: one element, from the forward call */
    int64_t ignore_index);  /* targets of this value do not count */

/* Kullback-Leibler divergence: output = sum of target (log target - input) where target > 0, divided
 * by the number of elements when sizeAverage. */
THNN_API void THNN_(DistKLDivCriterion_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape; log probabilities */
    THTensor *target,  /* in: as many elements as input; probabilities */
    THTensor *output,  /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Kullback-Leibler divergence, backward: gradInput = -target where target > 0, else 0, divided by the
 * number of elements when sizeAverage. */
THNN_API void THNN_(DistKLDivCriterion_updateGradInput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: any shape */
    THTensor *target,    /* in: as many elements as input; probabilities */
    THTensor *gradInput, /* out: shape of input */
    bool sizeAverage);   /* divide by the number of elements */

/* L1 norm: output = sum of |input|. */
THNN_API void THNN_(L1Cost_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *output); /* inout: one element; overwritten, not resized */

/* L1 norm, backward: gradInput = the sign of input, 0 for 0. */
THNN_API void THNN_(L1Cost_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape */
    THTensor *gradOutput, /* in, optional: as many elements as input; its values do not matter */
    THTensor *gradInput); /* out: shape of input */

/* Hinge loss of a two-class classifier: output = sum of max(0, margin - input * target), divided by
 * the number of elements when sizeAverage. */
THNN_API void THNN_(MarginCriterion_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: any shape */
    THTensor *target, /* in: as many elements as input, 1 or -1 */
    THTensor *output, /* inout: one element; overwritten, not resized */
    bool sizeAverage, /* divide by the number of elements */
    accreal margin);  /* no loss from here on */

/* Hinge loss, backward: gradInput = -target where input * target < margin, else 0, divided by the
 * number of elements when sizeAverage. */
THNN_API void THNN_(MarginCriterion_updateGradInput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: any shape */
    THTensor *target,    /* in: as many elements as input, 1 or -1 */
    THTensor *gradInput, /* out: shape of input */
    bool sizeAverage,    /* divide by the number of elements */
    accreal margin);     /* as in the forward call */

/* Mean squared error: output = sum of (input - target)^2, divided by the number of elements when
 * sizeAverage. */
THNN_API void THNN_(MSECriterion_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *target,  /* in: as many elements as input */
    THTensor *output,  /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Mean squared error, backward: gradInput = 2 (input - target), divided by the number of elements
 * when sizeAverage. */
THNN_API void THNN_(MSECriterion_updateGradInput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: any shape */
    THTensor *target,    /* in: as many elements as input */
    THTensor *gradInput, /* out: shape of input */
    bool sizeAverage);   /* divide by the number of elements */

/* Multi-label margin loss: per sample the sum over its targets t and the classes c that are no targets
 * of max(0, 1 - input[t] + input[c]), divided by the number of classes; output = the sum over samples,
 * divided by their number when sizeAverage. */
THNN_API void THNN_(MultiLabelMarginCriterion_updateOutput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] classes */
    THIndexTensor *target, /* in: shape of input; a sample's targets, ended by 0 */
    THTensor *output,      /* inout: one element; overwritten, not resized */
    THTensor *isTarget,    /* out: shape of input; 1 for the classes that are targets, else 0 */
    bool sizeAverage);     /* divide by the number of samples */

/* Multi-label margin loss, backward. */
THNN_API void THNN_(MultiLabelMarginCriterion_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] classes */
    THIndexTensor *target, /* in: shape of input; a sample's targets, ended by 0 */
    THTensor *gradInput,   /* out: shape of input */
    THTensor *isTarget,    /* in: shape of input; from the forward call */
    bool sizeAverage);     /* divide by the number of samples */

/* Multi-class margin loss: per sample weights[target] times the sum over the other classes c of
 * max(0, margin - input[target] + input[c])^p, divided by the number of classes; output = the sum over
 * samples, divided by their number when sizeAverage. */
THNN_API void THNN_(MultiMarginCriterion_updateOutput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] classes */
    THIndexTensor *target, /* in: batch; without a batch the first element counts */
    THTensor *output,      /* inout: one element; overwritten, not resized */
    bool sizeAverage,      /* divide by the number of samples */
    int p,                 /* 1 or 2 (which other values mean, too) */
    THTensor *weights,     /* in, optional: classes; NULL means 1 for each */
    accreal margin);       /* how far a target is to lie above the other classes */

/* Multi-class margin loss, backward. */
THNN_API void THNN_(MultiMarginCriterion_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] classes */
    THIndexTensor *target, /* in: batch; without a batch the first element counts */
    THTensor *gradInput,   /* out: shape of input */
    bool sizeAverage,      /* divide by the number of samples */
    int p,                 /* 1 or 2 (which other values mean, too) */
    THTensor *weights,     /* in, optional: classes; NULL means 1 for each */
    accreal margin);       /* how far a target is to lie above the other classes */

/* Smooth L1 loss: output = sum of e^2 / 2 where |e| < 1, of |e| - 1/2 elsewhere, with
 * e = input - target, divided by the number of elements when sizeAverage. */
THNN_API void THNN_(SmoothL1Criterion_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *target,  /* in: as many elements as input */
    THTensor *output,  /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Smooth L1 loss, backward: gradInput = input - target, cut to [-1, 1], divided by the number of
 * elements when sizeAverage. */
THNN_API void THNN_(SmoothL1Criterion_updateGradInput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: any shape */
    THTensor *target,    /* in: as many elements as input */
    THTensor *gradInput, /* out: shape of input */
    bool sizeAverage);   /* divide by the number of elements */

/* Logistic loss of a two-class classifier: output = sum of log(1 + exp(-input * target)), divided by
 * the number of elements when sizeAverage. */
THNN_API void THNN_(SoftMarginCriterion_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *target,  /* in: as many elements as input, 1 or -1 */
    THTensor *output,  /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Logistic loss, backward: gradInput = -target / (1 + exp(input * target)), divided by the number of
 * elements when sizeAverage. */
THNN_API void THNN_(SoftMarginCriterion_updateGradInput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: any shape */
    THTensor *target,    /* in: as many elements as input, 1 or -1 */
    THTensor *gradInput, /* out: shape of input */
    bool sizeAverage);   /* divide by the number of elements */

/* Negative log likelihood of one class per position: output = minus the sum of
 * weights[target] * input[target], divided by total_weight, the sum of weights[target], when
 * sizeAverage and that is not 0. */
THNN_API void THNN_(SpatialClassNLLCriterion_updateOutput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: batch x classes x height x width; log probabilities */
    THIndexTensor *target,   /* in: batch x height x width */
    THTensor *output,        /* inout: one element; overwritten, not resized */
    bool sizeAverage,        /* divide by total_weight */
    THTensor *weights,       /* in, optional: classes; NULL means 1 for each */
    THTensor *total_weight); /* inout: one element; overwritten, not resized */

/* Negative log likelihood of one class per position, backward: gradInput at each target =
 * -weights[target], divided by total_weight when sizeAverage. Nothing is written when total_weight
 * is not positive. */
THNN_API void THNN_(SpatialClassNLLCriterion_updateGradInput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: batch x classes x height x width; only its shape matters */
    THIndexTensor *target,   /* in: batch x height x width */
    THTensor *gradInput,     /* inout: shape of input, all 0; only the targets' elements are written */
    bool sizeAverage,        /* divide by total_weight */
    THTensor *weights,       /* in, optional: classes; NULL means 1 for each */
    THTensor *total_weight); /* in: one element, from the forward call */

/* ---- Linear and sparse ---------------------------------------------------------------------- */

/* Linear layer: output = bias + weight * input. Nothing happens when input has neither one dimension
 * nor two. */
THNN_API void THNN_(Linear_updateOutput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] inputs */
    THTensor *output,     /* out: [batch x] outputs */
    THTensor *weight,     /* in: outputs x inputs */
    THTensor *bias,       /* in, optional: outputs */
    THTensor *addBuffer); /* scratch, optional: unused */

/* Linear layer, backward: gradInput = weight^T * gradOutput; 0 when input has neither one dimension
 * nor two. */
THNN_API void THNN_(Linear_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] inputs; only its shape matters */
    THTensor *gradOutput, /* in: [batch x] outputs */
    THTensor *gradInput,  /* out, optional: shape of input; NULL means that nothing happens */
    THTensor *weight);    /* in: outputs x inputs */

/* Linear layer, backward: gradWeight += scale * gradOutput * input^T, gradBias += scale * gradOutput,
 * summed over the batch. Nothing happens when input has neither one dimension nor two. */
THNN_API void THNN_(Linear_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] inputs */
    THTensor *gradOutput, /* in: [batch x] outputs */
    THTensor *gradInput,  /* in, optional: unused */
    THTensor *weight,     /* in, optional: unused */
    THTensor *bias,       /* in, optional: NULL means that gradBias stays as it is */
    THTensor *gradWeight, /* accumulate: outputs x inputs */
    THTensor *gradBias,   /* accumulate, optional: outputs; NULL only together with bias */
    THTensor *addBuffer,  /* scratch, optional: unused */
    accreal scale);       /* factor of what is added */

/* Lookup table, backward: gradWeight[index] += scale * gradOutput for each index, divided by how often
 * the index occurs when scaleGradByFreq. */
THNN_API void THNN_(LookupTable_accGradParameters)(
    THNNState *state,        /* may be NULL */
    THIndexTensor *input,    /* in: indices of rows, in one dimension or two */
    THTensor *gradOutput,    /* in: shape of input x columns; any shape with as many elements */
    THTensor *gradWeight,    /* accumulate: rows x columns */
    THIntegerTensor *count,  /* scratch, optional: unused */
    THTensor *sorted,        /* scratch, optional: unused */
    THIndexTensor *indices,  /* scratch, optional: unused */
    bool scaleGradByFreq,    /* divide by the number of times that an index occurs */
    int paddingValue,        /* an index whose row gets no gradient; 0 for none */
    accreal scale);          /* factor of what is added */

/* Lookup table: rows whose p-norm exceeds maxNorm are multiplied by maxNorm / (norm + 1e-7). */
THNN_API void THNN_(LookupTable_renorm)(
    THNNState *state,   /* may be NULL */
    THIndexTensor *idx, /* in: indices of rows; each row is looked at once */
    THTensor *weight,   /* inout: rows x columns */
    accreal maxNorm,    /* largest norm */
    accreal normType);  /* p, more than 0 */

/* ---- Spatial convolutions ------------------------------------------------------------------- */

/* 2-D convolution: output = bias + weight * input, where outputHeight is
 * (height + 2 padH - kH) / dH + 1, rounded down, and outputWidth likewise. */
THNN_API void THNN_(SpatialConvolutionMM_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] nInputPlane x height x width */
    THTensor *output, /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *weight, /* in: nOutputPlane x nInputPlane x kH x kW, or with the last three in one */
    THTensor *bias,   /* in, optional: nOutputPlane */
    THTensor *finput, /* scratch, optional: unused */
    THTensor *fgradInput, /* scratch, optional: unused */
    int kW,               /* kernel width */
    int kH,               /* kernel height */
    int dW,               /* horizontal stride */
    int dH,               /* vertical stride */
    int padW,             /* zeros added on the left and on the right */
    int padH);            /* zeros added at the top and at the bottom */

/* 2-D convolution, backward: the gradient with respect to the input. */
THNN_API void THNN_(SpatialConvolutionMM_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *weight, /* in: nOutputPlane x nInputPlane x kH x kW, or with the last three in one */
    THTensor *finput, /* scratch, optional: unused */
    THTensor *fgradInput, /* scratch, optional: unused */
    int kW,               /* kernel width */
    int kH,               /* kernel height */
    int dW,               /* horizontal stride */
    int dH,               /* vertical stride */
    int padW,             /* zeros added on the left and on the right */
    int padH);            /* zeros added at the top and at the bottom */

/* 2-D convolution, backward: adds scale times the gradients with respect to weight and bias. */
THNN_API void THNN_(SpatialConvolutionMM_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *
        gradWeight, /* accumulate: nOutputPlane x nInputPlane x kH x kW, or the last three in one */
    THTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THTensor *finput,     /* scratch, optional: unused */
    THTensor *fgradInput, /* scratch, optional: unused */
    int kW,               /* kernel width */
    int kH,               /* kernel height */
    int dW,               /* horizontal stride */
    int dH,               /* vertical stride */
    int padW,             /* zeros added on the left and on the right */
    int padH,             /* zeros added at the top and at the bottom */
    accreal scale);       /* factor of what is added */

/* Full (transposed) 2-D convolution: each input pixel paints a kH x kW patch of every output plane;
 * outputHeight is (height - 1) dH - 2 padH + kH + adjH, and outputWidth likewise. */
THNN_API void THNN_(SpatialFullConvolution_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: [batch x] nInputPlane x height x width */
    THTensor *output,  /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *weight,  /* in: nInputPlane x nOutputPlane x kH x kW */
    THTensor *bias,    /* in, optional: nOutputPlane */
    THTensor *columns, /* scratch, optional: unused */
    THTensor *ones,    /* scratch, optional: unused */
    int kW,            /* kernel width */
    int kH,            /* kernel height */
    int dW,            /* horizontal stride of the patches */
    int dH,            /* vertical stride of the patches */
    int padW,          /* columns cut off on the left and on the right */
    int padH,          /* rows cut off at the top and at the bottom */
    int adjW,          /* columns added on the right; less than dW */
    int adjH);         /* rows added at the bottom; less than dH */

/* Full 2-D convolution, backward: the gradient with respect to the input. */
THNN_API void THNN_(SpatialFullConvolution_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradInput,   /* out: shape of input */
    THTensor *weight,      /* in: nInputPlane x nOutputPlane x kH x kW */
    THTensor *gradColumns, /* scratch, optional: unused */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int padW,              /* columns cut off on the left and on the right */
    int padH,              /* rows cut off at the top and at the bottom */
    int adjW,              /* columns added on the right; less than dW */
    int adjH);             /* rows added at the bottom; less than dH */

/* Full 2-D convolution, backward: adds scale times the gradients with respect to weight and bias. */
THNN_API void THNN_(SpatialFullConvolution_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradWeight, /* accumulate: nInputPlane x nOutputPlane x kH x kW */
    THTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THTensor *columns,    /* scratch, optional: unused */
    THTensor *ones,       /* scratch, optional: unused */
    int kW,               /* kernel width */
    int kH,               /* kernel height */
    int dW,               /* horizontal stride of the patches */
    int dH,               /* vertical stride of the patches */
    int padW,             /* columns cut off on the left and on the right */
    int padH,             /* rows cut off at the top and at the bottom */
    int adjW,             /* columns added on the right; less than dW */
    int adjH,             /* rows added at the bottom; less than dH */
    accreal scale);       /* factor of what is added */

/* 2-D convolution with a dilated kernel: its taps lie dilationH rows and dilationW columns apart.
 * outputHeight is (height + 2 padH - (dilationH (kH - 1) + 1)) / dH + 1, rounded down. */
THNN_API void THNN_(SpatialDilatedConvolution_updateOutput)(
    THNNState *state,   /* may be NULL */
    THTensor *input,    /* in: [batch x] nInputPlane x height x width */
    THTensor *output,   /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *weight,   /* in: nOutputPlane x nInputPlane x kH x kW */
    THTensor *bias,     /* in, optional: nOutputPlane */
    THTensor *columns,  /* scratch, optional: unused */
    THTensor *ones,     /* scratch, optional: unused */
    int kW,             /* kernel width */
    int kH,             /* kernel height */
    int dW,             /* horizontal stride */
    int dH,             /* vertical stride */
    int padW,           /* zeros added on the left and on the right */
    int padH,           /* zeros added at the top and at the bottom */
    int dilationW,      /* columns from one tap to the next */
    int dilationH);     /* rows from one tap to the next */

/* 2-D convolution with a dilated kernel, backward: the gradient with respect to the input. */
THNN_API void THNN_(SpatialDilatedConvolution_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THTensor *gradOutput,   /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradInput,    /* out: shape of input */
    THTensor *weight,       /* in: nOutputPlane x nInputPlane x kH x kW */
    THTensor *gradColumns,  /* scratch, optional: unused */
    int kW,                 /* kernel width */
    int kH,                 /* kernel height */
    int dW,                 /* horizontal stride */
    int dH,                 /* vertical stride */
    int padW,               /* zeros added on the left and on the right */
    int padH,               /* zeros added at the top and at the bottom */
    int dilationW,          /* columns from one tap to the next */
    int dilationH);         /* rows from one tap to the next */

/* 2-D convolution with a dilated kernel, backward: adds scale times the gradients with respect to
 * weight and bias. */
THNN_API void THNN_(SpatialDilatedConvolution_accGradParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x height x width */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradWeight,  /* accumulate: nOutputPlane x nInputPlane x kH x kW */
    THTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    THTensor *columns,     /* scratch, optional: unused */
    THTensor *ones,        /* scratch, optional: unused */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int padW,              /* zeros added on the left and on the right */
    int padH,              /* zeros added at the top and at the bottom */
    int dilationW,         /* columns from one tap to the next */
    int dilationH,         /* rows from one tap to the next */
    accreal scale);        /* factor of what is added */

/* Full (transposed) 2-D convolution with a dilated kernel: each input pixel paints kH x kW pixels
 * that lie dilationH rows and dilationW columns apart. outputHeight is (height - 1) dH - 2 padH +
 * dilationH (kH - 1) + 1 + adjH. */
THNN_API void THNN_(SpatialFullDilatedConvolution_updateOutput)(
    THNNState *state,   /* may be NULL */
    THTensor *input,    /* in: [batch x] nInputPlane x height x width */
    THTensor *output,   /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *weight,   /* in: nInputPlane x nOutputPlane x kH x kW */
    THTensor *bias,     /* in, optional: nOutputPlane */
    THTensor *columns,  /* scratch, optional: unused */
    THTensor *ones,     /* scratch, optional: unused */
    int kW,             /* kernel width */
    int kH,             /* kernel height */
    int dW,             /* horizontal stride of the patches */
    int dH,             /* vertical stride of the patches */
    int padW,           /* columns cut off on the left and on the right */
    int padH,           /* rows cut off at the top and at the bottom */
    int dilationW,      /* columns from one tap to the next */
    int dilationH,      /* rows from one tap to the next */
    int adjW,           /* columns added on the right; less than dW or dilationW */
    int adjH);          /* rows added at the bottom; less than dH or dilationH */

/* Full (transposed) 2-D convolution with a dilated kernel, backward: the gradient with respect to
 * the input. */
THNN_API void THNN_(SpatialFullDilatedConvolution_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THTensor *gradOutput,   /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradInput,    /* out: shape of input */
    THTensor *weight,       /* in: nInputPlane x nOutputPlane x kH x kW */
    THTensor *gradColumns,  /* scratch, optional: unused */
    int kW,                 /* kernel width */
    int kH,                 /* kernel height */
    int dW,                 /* horizontal stride of the patches */
    int dH,                 /* vertical stride of the patches */
    int padW,               /* columns cut off on the left and on the right */
    int padH,               /* rows cut off at the top and at the bottom */
    int dilationW,          /* columns from one tap to the next */
    int dilationH,          /* rows from one tap to the next */
    int adjW,               /* columns added on the right; less than dW or dilationW */
    int adjH);              /* rows added at the bottom; less than dH or dilationH */

/* Full (transposed) 2-D convolution with a dilated kernel, backward: adds scale times the
 * gradients with respect to weight and bias. */
THNN_API void THNN_(SpatialFullDilatedConvolution_accGradParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x height x width */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradWeight,  /* accumulate: nInputPlane x nOutputPlane x kH x kW */
    THTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    THTensor *columns,     /* scratch, optional: unused */
    THTensor *ones,        /* scratch, optional: unused */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int padW,              /* columns cut off on the left and on the right */
    int padH,              /* rows cut off at the top and at the bottom */
    int dilationW,         /* columns from one tap to the next */
    int dilationH,         /* rows from one tap to the next */
    int adjW,              /* columns added on the right; less than dW or dilationW */
    int adjH,              /* rows added at the bottom; less than dH or dilationH */
    accreal scale);        /* factor of what is added */

/* Unfolds an image into columns: row (c, i, j) holds what tap (i, j) of the kernel sees of plane c,
 * output position by output position, and 0 outside the image. Takes no state. */
THNN_API void THNN_(unfolded_copy)(
    THTensor *finput,  /* inout: at least nInputPlane kH kW outputHeight outputWidth elements, in any shape; overwritten, not resized */
    THTensor *input,   /* in: at least nInputPlane inputHeight inputWidth elements, in any shape */
    int kW,            /* kernel width */
    int kH,            /* kernel height */
    int dW,            /* horizontal stride */
    int dH,            /* vertical stride */
    int padW,          /* zeros added on the left and on the right */
    int padH,          /* zeros added at the top and at the bottom */
    int nInputPlane,   /* planes of the image */
    int inputWidth,    /* columns of the image */
    int inputHeight,   /* rows of the image */
    int outputWidth,   /* output positions in a row */
    int outputHeight); /* rows of output positions */

/* Adds columns to the image elements that unfolded_copy reads them from. Takes no state. */
THNN_API void THNN_(unfolded_acc)(
    THTensor *finput,  /* in: at least nInputPlane kH kW outputHeight outputWidth elements, in any shape */
    THTensor *input,   /* accumulate: at least nInputPlane inputHeight inputWidth elements, in any shape */
    int kW,            /* kernel width */
    int kH,            /* kernel height */
    int dW,            /* horizontal stride */
    int dH,            /* vertical stride */
    int padW,          /* zeros added on the left and on the right */
    int padH,          /* zeros added at the top and at the bottom */
    int nInputPlane,   /* planes of the image */
    int inputWidth,    /* columns of the image */
    int inputHeight,   /* rows of the image */
    int outputWidth,   /* output positions in a row */
    int outputHeight); /* rows of output positions */

/* ---- Volumetric convolutions ---------------------------------------------------------------- */

/* 3-D convolution; the kernel's sizes are those of the weight. outputDepth is (depth + 2 pT - kT)
 * / dT + 1, rounded down. */
THNN_API void THNN_(VolumetricConvolution_updateOutput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width */
    THTensor *output,      /* out: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *weight,      /* in: nOutputPlane x nInputPlane x kT x kH x kW */
    THTensor *bias,        /* in, optional: nOutputPlane */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int dT,                /* stride in depth */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int pT,                /* zeros added in front and behind */
    int pW,                /* zeros added on the left and on the right */
    int pH);               /* zeros added at the top and at the bottom */

/* 3-D convolution, backward: the gradient with respect to the input. */
THNN_API void THNN_(VolumetricConvolution_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width; only its shape matters */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *gradInput,   /* out: shape of input */
    THTensor *weight,      /* in: nOutputPlane x nInputPlane x kT x kH x kW */
    THTensor *finput,      /* scratch, optional: unused */
    int dT,                /* stride in depth */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int pT,                /* zeros added in front and behind */
    int pW,                /* zeros added on the left and on the right */
    int pH);               /* zeros added at the top and at the bottom */

/* 3-D convolution, backward: adds scale times the gradients with respect to weight and bias. */
THNN_API void THNN_(VolumetricConvolution_accGradParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *gradWeight,  /* accumulate: nOutputPlane x nInputPlane x kT x kH x kW */
    THTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int dT,                /* stride in depth */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int pT,                /* zeros added in front and behind */
    int pW,                /* zeros added on the left and on the right */
    int pH,                /* zeros added at the top and at the bottom */
    accreal scale);        /* factor of what is added */

/* 3-D convolution. outputDepth is (depth + 2 pT - kT) / dT + 1, rounded down. */
THNN_API void THNN_(VolumetricConvolutionMM_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: [batch x] nInputPlane x depth x height x width */
    THTensor *output,  /* out: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *weight,  /* in: nOutputPlane x nInputPlane x kT x kH x kW, or with the last four in one */
    THTensor *bias,    /* in, optional: nOutputPlane */
    THTensor *finput,  /* scratch, optional: unused */
    int kT,            /* kernel depth */
    int kW,            /* kernel width */
    int kH,            /* kernel height */
    int dT,            /* stride in depth */
    int dW,            /* horizontal stride */
    int dH,            /* vertical stride */
    int pT,            /* zeros added in front and behind */
    int pW,            /* zeros added on the left and on the right */
    int pH);           /* zeros added at the top and at the bottom */

/* 3-D convolution, backward: the gradient with respect to the input. */
THNN_API void THNN_(VolumetricConvolutionMM_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width; only its shape matters */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *gradInput,   /* out: shape of input */
    THTensor *weight,      /* in: nOutputPlane x nInputPlane x kT x kH x kW, or with the last four in one */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int kT,                /* kernel depth */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dT,                /* stride in depth */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int pT,                /* zeros added in front and behind */
    int pW,                /* zeros added on the left and on the right */
    int pH);               /* zeros added at the top and at the bottom */

/* 3-D convolution, backward: adds scale times the gradients with respect to weight and bias. */
THNN_API void THNN_(VolumetricConvolutionMM_accGradParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *gradWeight,  /* accumulate: nOutputPlane x nInputPlane x kT x kH x kW, or with the last four in one */
    THTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    THTensor *finput,      /* scratch, optional: unused */
    int kT,                /* kernel depth */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dT,                /* stride in depth */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int pT,                /* zeros added in front and behind */
    int pW,                /* zeros added on the left and on the right */
    int pH,                /* zeros added at the top and at the bottom */
    accreal scale);        /* factor of what is added */

/* Full (transposed) 3-D convolution: each input voxel paints a kT x kH x kW block of every output
 * volume; the kernel's sizes are those of the weight. outputDepth is (depth - 1) dT - 2 pT + kT +
 * aT. */
THNN_API void THNN_(VolumetricFullConvolution_updateOutput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width */
    THTensor *output,      /* out: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *weight,      /* in: nInputPlane x nOutputPlane x kT x kH x kW */
    THTensor *bias,        /* in, optional: nOutputPlane */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int pT,                /* slices cut off in front and behind */
    int pW,                /* columns cut off on the left and on the right */
    int pH,                /* rows cut off at the top and at the bottom */
    int aT,                /* slices added behind; less than dT */
    int aW,                /* columns added on the right; less than dW */
    int aH);               /* rows added at the bottom; less than dH */

/* Full (transposed) 3-D convolution, backward: the gradient with respect to the input. */
THNN_API void THNN_(VolumetricFullConvolution_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width; only its shape matters */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *gradInput,   /* out: shape of input */
    THTensor *weight,      /* in: nInputPlane x nOutputPlane x kT x kH x kW */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int pT,                /* slices cut off in front and behind */
    int pW,                /* columns cut off on the left and on the right */
    int pH,                /* rows cut off at the top and at the bottom */
    int aT,                /* slices added behind; less than dT */
    int aW,                /* columns added on the right; less than dW */
    int aH);               /* rows added at the bottom; less than dH */

/* Full (transposed) 3-D convolution, backward: adds scale times the gradients with respect to
 * weight and bias. */
THNN_API void THNN_(VolumetricFullConvolution_accGradParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *gradWeight,  /* accumulate: nInputPlane x nOutputPlane x kT x kH x kW */
    THTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int pT,                /* slices cut off in front and behind */
    int pW,                /* columns cut off on the left and on the right */
    int pH,                /* rows cut off at the top and at the bottom */
    int aT,                /* slices added behind; less than dT */
    int aW,                /* columns added on the right; less than dW */
    int aH,                /* rows added at the bottom; less than dH */
    accreal scale);        /* factor of what is added */

/* 3-D convolution with a dilated kernel: its taps lie dilationT, dilationH and dilationW apart.
 * outputDepth is (depth + 2 padT - (dilationT (kT - 1) + 1)) / dT + 1, rounded down. */
THNN_API void THNN_(VolumetricDilatedConvolution_updateOutput)(
    THNNState *state,   /* may be NULL */
    THTensor *input,    /* in: [batch x] nInputPlane x depth x height x width */
    THTensor *output,   /* out: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *weight,   /* in: nOutputPlane x nInputPlane x kT x kH x kW */
    THTensor *bias,     /* in, optional: nOutputPlane */
    THTensor *columns,  /* scratch, optional: unused */
    THTensor *ones,     /* scratch, optional: unused */
    int kT,             /* kernel depth */
    int kW,             /* kernel width */
    int kH,             /* kernel height */
    int dT,             /* stride in depth */
    int dW,             /* horizontal stride */
    int dH,             /* vertical stride */
    int padT,           /* zeros added in front and behind */
    int padW,           /* zeros added on the left and on the right */
    int padH,           /* zeros added at the top and at the bottom */
    int dilationT,      /* slices from one tap to the next */
    int dilationW,      /* columns from one tap to the next */
    int dilationH);     /* rows from one tap to the next */

/* 3-D convolution with a dilated kernel, backward: the gradient with respect to the input. */
THNN_API void THNN_(VolumetricDilatedConvolution_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] nInputPlane x depth x height x width; only its shape matters */
    THTensor *gradOutput,   /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *gradInput,    /* out: shape of input */
    THTensor *weight,       /* in: nOutputPlane x nInputPlane x kT x kH x kW */
    THTensor *gradColumns,  /* scratch, optional: unused */
    int kT,                 /* kernel depth */
    int kW,                 /* kernel width */
    int kH,                 /* kernel height */
    int dT,                 /* stride in depth */
    int dW,                 /* horizontal stride */
    int dH,                 /* vertical stride */
    int padT,               /* zeros added in front and behind */
    int padW,               /* zeros added on the left and on the right */
    int padH,               /* zeros added at the top and at the bottom */
    int dilationT,          /* slices from one tap to the next */
    int dilationW,          /* columns from one tap to the next */
    int dilationH);         /* rows from one tap to the next */

/* 3-D convolution with a dilated kernel, backward: adds scale times the gradients with respect to
 * weight and bias. */
THNN_API void THNN_(VolumetricDilatedConvolution_accGradParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *gradWeight,  /* accumulate: nOutputPlane x nInputPlane x kT x kH x kW */
    THTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    THTensor *columns,     /* scratch, optional: unused */
    THTensor *ones,        /* scratch, optional: unused */
    int kT,                /* kernel depth */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dT,                /* stride in depth */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int padT,              /* zeros added in front and behind */
    int padW,              /* zeros added on the left and on the right */
    int padH,              /* zeros added at the top and at the bottom */
    int dilationT,         /* slices from one tap to the next */
    int dilationW,         /* columns from one tap to the next */
    int dilationH,         /* rows from one tap to the next */
    accreal scale);        /* factor of what is added */

/* Full (transposed) 3-D convolution with a dilated kernel: each input voxel paints kT x kH x kW
 * voxels that lie dilationT, dilationH and dilationW apart; the kernel's sizes are those of the
 * weight. outputDepth is (depth - 1) dT - 2 pT + dilationT (kT - 1) + 1 + aT. */
THNN_API void THNN_(VolumetricFullDilatedConvolution_updateOutput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width */
    THTensor *output,      /* out: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *weight,      /* in: nInputPlane x nOutputPlane x kT x kH x kW */
    THTensor *bias,        /* in, optional: nOutputPlane */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int pT,                /* slices cut off in front and behind */
    int pW,                /* columns cut off on the left and on the right */
    int pH,                /* rows cut off at the top and at the bottom */
    int dilationT,         /* slices from one tap to the next */
    int dilationW,         /* columns from one tap to the next */
    int dilationH,         /* rows from one tap to the next */
    int aT,                /* slices added behind; less than dT or dilationT */
    int aW,                /* columns added on the right; less than dW or dilationW */
    int aH);               /* rows added at the bottom; less than dH or dilationH */

/* Full (transposed) 3-D convolution with a dilated kernel, backward: the gradient with respect to
 * the input. */
THNN_API void THNN_(VolumetricFullDilatedConvolution_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width; only its shape matters */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *gradInput,   /* out: shape of input */
    THTensor *weight,      /* in: nInputPlane x nOutputPlane x kT x kH x kW */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int pT,                /* slices cut off in front and behind */
    int pW,                /* columns cut off on the left and on the right */
    int pH,                /* rows cut off at the top and at the bottom */
    int dilationT,         /* slices from one tap to the next */
    int dilationW,         /* columns from one tap to the next */
    int dilationH,         /* rows from one tap to the next */
    int aT,                /* slices added behind; less than dT or dilationT */
    int aW,                /* columns added on the right; less than dW or dilationW */
    int aH);               /* rows added at the bottom; less than dH or dilationH */

/* Full (transposed) 3-D convolution with a dilated kernel, backward: adds scale times the
 * gradients with respect to weight and bias. */
THNN_API void THNN_(VolumetricFullDilatedConvolution_accGradParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x depth x height x width */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THTensor *gradWeight,  /* accumulate: nInputPlane x nOutputPlane x kT x kH x kW */
    THTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int pT,                /* slices cut off in front and behind */
    int pW,                /* columns cut off on the left and on the right */
    int pH,                /* rows cut off at the top and at the bottom */
    int dilationT,         /* slices from one tap to the next */
    int dilationW,         /* columns from one tap to the next */
    int dilationH,         /* rows from one tap to the next */
    int aT,                /* slices added behind; less than dT or dilationT */
    int aW,                /* columns added on the right; less than dW or dilationW */
    int aH,                /* rows added at the bottom; less than dH or dilationH */
    accreal scale);        /* factor of what is added */

/* ---- Spatial resampling --------------------------------------------------------------------- */

/* Bilinear resampling of planes. The corners of input and output coincide: output pixel y lies at
 * y (height - 1) / (outputHeight - 1). */
THNN_API void THNN_(SpatialUpSamplingBilinear_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: batch x planes x height x width */
    THTensor *output, /* out: batch x planes x outputHeight x outputWidth */
    int outputHeight, /* rows of the output */
    int outputWidth); /* columns of the output */

/* Bilinear resampling of planes, backward: each gradient goes to the four pixels that its output
 * pixel lay between, in the same shares. */
THNN_API void THNN_(SpatialUpSamplingBilinear_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *gradOutput, /* in: nbatch x nchannels x outputHeight x outputWidth */
    THTensor *gradInput,  /* out: nbatch x nchannels x inputHeight x inputWidth */
    int nbatch,           /* samples */
    int nchannels,        /* planes of a sample */
    int inputHeight,      /* rows of the forward call's input */
    int inputWidth,       /* columns of the forward call's input */
    int outputHeight,     /* rows of the forward call's output */
    int outputWidth);     /* columns of the forward call's output */
