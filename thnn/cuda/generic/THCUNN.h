/* The prototypes whose arguments have other names or types than on the CPU, once per real type:
 * included by ../THCUNN.h, which takes the others from THNN.h. */

/* One argument and its comment per line. */
/* clang-format off */

/* RReLU: output = noise * input, where noise is 1 above zero and random in [lower, upper) below;
 * when not training, LeakyReLU with the mean of lower and upper. The numbers are the state's
 * (THCState_setSeed). */
THC_API void THCUNN_(RReLU_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape; overwritten with the result when inplace */
    THCTensor *output, /* out: shape of input; shares its storage when inplace */
    THCTensor *noise,  /* out: shape of input; written only in training */
    double lower,      /* least slope below zero */
    double upper,      /* greatest slope below zero */
    bool train,        /* draw slopes */
    bool inplace,      /* work in input's storage */
    void *generator);  /* unused, may be NULL */

/* RReLU, backward: gradInput = noise * gradOutput, or as LeakyReLU when not training. */
THC_API void THCUNN_(RReLU_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: as many elements as gradOutput */
    THCTensor *gradOutput, /* in: any shape; overwritten when inplace */
    THCTensor *gradInput,  /* out: shape of gradOutput in training, else of input; shares gradOutput's storage when inplace */
    THCTensor *noise,      /* in, optional: of the forward call, as many elements as input; read in training unless upper - lower is at most 1e-6 */
    double lower,          /* as in the forward call */
    double upper,          /* as in the forward call */
    bool train,            /* as in the forward call */
    bool inplace);         /* work in gradOutput's storage */

/* ---- Normalising ----------------------------------------------------------------------------- */

/* Batch normalisation: output = (input - mean) / sqrt(var + eps) * weight + bias, plane by plane,
 * with mean and variance of the batch in training and the running ones otherwise. */
THC_API void THCUNN_(BatchNormalization_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input_,       /* in: batch x nPlane [x ...] */
    THCTensor *output_,      /* out: shape of input */
    THCTensor *weight_,      /* in, optional: nPlane; without it the factor is 1 */
    THCTensor *bias_,        /* in, optional: nPlane; without it nothing is added */
    THCTensor *runningMean_, /* inout: nPlane; updated in training, read otherwise */
    THCTensor *runningVar_,  /* inout: nPlane; updated in training (by n - 1), read otherwise */
    THCTensor *saveMean_,    /* out, optional: nPlane, not resized; the batch's, in training, where it is needed */
    THCTensor *saveStd_,     /* out, optional: nPlane, not resized; 1 / sqrt(var + eps), in training, where it is needed */
    bool train,              /* normalise by the batch */
    double momentum,         /* share of the batch in the new running mean and variance */
    double eps);             /* added to the variance */

/* Batch normalisation, backward: the gradient with respect to the input, and adds scale times the
 * gradients with respect to weight and bias. */
THC_API void THCUNN_(BatchNormalization_backward)(
    THCState *state,         /* where it runs */
    THCTensor *input_,       /* in: batch x nPlane [x ...] */
    THCTensor *gradOutput_,  /* in: shape of input */
    THCTensor *gradInput_,   /* out, optional: shape of input */
    THCTensor *gradWeight_,  /* accumulate, optional: nPlane */
    THCTensor *gradBias_,    /* accumulate, optional: nPlane */
    THCTensor *weight_,      /* in, optional: nPlane */
    THCTensor *runningMean_, /* in, optional: nPlane; needed and read when not training */
    THCTensor *runningVar_,  /* in, optional: nPlane; needed and read when not training */
    THCTensor *saveMean_,    /* in, optional: nPlane; needed and read in training */
    THCTensor *saveStd_,     /* in, optional: nPlane; needed and read in training */
    bool train,              /* as in the forward call */
    double scale,            /* factor of what is added to gradWeight and gradBias */
    double eps);             /* as in the forward call */

/* Pooling over windows of neighbouring features by the p-norm: output =
 * (sum of input^power)^(1/power). */
THC_API void THCUNN_(FeatureLPPooling_updateOutput)(
    THCState *state,     /* where it runs */
    THCTensor *inputTH,  /* in: [batch x] nFeature [x d1 [x d2]] */
    THCTensor *outputTH, /* out: the same with (nFeature - width) / stride + 1 features */
    accreal power,       /* p */
    int width,           /* features of a window: 2 to 16 */
    int stride,          /* features between windows: 1 to 4 */
    bool batchMode);     /* the first dimension is a batch */

/* Pooling over features by the p-norm, backward: gradInput = sum over the windows of
 * gradOutput (input / output)^(power - 1), or of 0 where output is 0. */
THC_API void THCUNN_(FeatureLPPooling_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *gradOutputTH, /* in: shape of output */
    THCTensor *inputTH,      /* in: [batch x] nFeature [x d1 [x d2]] */
    THCTensor *outputTH,     /* in: [batch x] windows [x d1 [x d2]], of the forward call */
    THCTensor *gradInputTH,  /* out: shape of input */
    accreal power,           /* as in the forward call */
    int width,               /* as in the forward call */
    int stride,              /* as in the forward call */
    bool batchMode);         /* as in the forward call */

/* ---- Criterions ------------------------------------------------------------------------------ */

/* Multi-label margin loss: per sample the sum over its targets t and the classes c that are no
 * targets of max(0, 1 - input[t] + input[c]), divided by the number of classes; output = the sum
 * over samples, divided by their number when sizeAverage. */
THC_API void THCUNN_(MultiLabelMarginCriterion_updateOutput)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] classes */
    THCIndexTensor *target, /* in: shape of input; a sample's targets, ended by 0 */
    THCTensor *output,      /* inout: one element; overwritten, not resized */
    THCTensor *istarget,    /* out: shape of input; 1 for the classes that are targets, else 0 */
    bool sizeaverage);      /* divide by the number of samples */

/* Multi-label margin loss, backward. */
THC_API void THCUNN_(MultiLabelMarginCriterion_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] classes */
    THCIndexTensor *target, /* in: shape of input; a sample's targets, ended by 0 */
    THCTensor *gradInput,   /* out: shape of input */
    THCTensor *istarget,    /* in: shape of input; from the forward call */
    bool sizeaverage);      /* divide by the number of samples */

/* ---- Linear and sparse ----------------------------------------------------------------------- */

/* Lookup table, backward: gradWeight[index] += scale * gradOutput for each index, divided by how
 * often the index occurs when scaleGradByFreq. */
THC_API void THCUNN_(LookupTable_accGradParameters)(
    THCState *state,         /* where it runs */
    THCIndexTensor *input,   /* in: indices of rows, in one dimension or two */
    THCTensor *gradOutput,   /* in: shape of input x columns; any shape with as many elements */
    THCTensor *gradWeight,   /* accumulate: rows x columns */
    THCIndexTensor *count,   /* scratch, optional: unused */
    THCIndexTensor *sorted,  /* scratch, optional: unused */
    THCIndexTensor *indices, /* scratch, optional: unused */
    bool scaleGradByFreq,    /* divide by the number of times that an index occurs */
    int paddingValue,        /* an index whose row gets no gradient; 0 for none */
    accreal scale);          /* factor of what is added */

/* ---- Recurrent ------------------------------------------------------------------------------- */

/* GRU cell, one step, given the products of its matrices, gates in the order r, z, n:
 * r = sigmoid(input_r + hidden_r + bias1_r + bias2_r), z likewise,
 * n = tanh(input_n + bias1_n + r (hidden_n + bias2_n)), output = n + z (hx - n). */
THC_API void THCUNN_(GRUFused_updateOutput)(
    THCState *state,     /* where it runs */
    THCTensor *input,    /* in: batch x (3 units); the weight's product with the cell's input */
    THCTensor *hidden,   /* in: batch x (3 units); the weight's product with hx */
    THCTensor *bias1,    /* in, optional: 3 units; of input */
    THCTensor *bias2,    /* in, optional: 3 units; of hidden; NULL if and only if bias1 is */
    THCTensor *hx,       /* in: batch x units; the state before */
    THCTensor *hy,       /* out: batch x units; the state after */
    THCTensor *storage); /* out: batch x (5 units); for the backward call */

/* LSTM cell, one step, given the products of its matrices, gates in the order i, f, c, o:
 * i, f and o are sigmoid(input + hidden + bias1 + bias2), c is tanh(…);
 * outputCell = f cell + i c, output = o tanh(outputCell). */
THC_API void THCUNN_(LSTMFused_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* inout: batch x (4 units); the weight's product with the cell's input; becomes i, f, c, o */
    THCTensor *hidden, /* in: batch x (4 units); the weight's product with the output before */
    THCTensor *bias1,  /* in, optional: 4 units; of input */
    THCTensor *bias2,  /* in, optional: 4 units; of hidden; NULL if and only if bias1 is */
    THCTensor *cx,     /* in: batch x units; the cell's state before */
    THCTensor *hy,     /* out: batch x units */
    THCTensor *cy);    /* out: batch x units; the cell's state after */

/* LSTM cell, backward. */
THC_API void THCUNN_(LSTMFused_updateGradInput)(
    THCState *state,           /* where it runs */
    THCTensor *storage,        /* in: batch x (4 units); i, f, c, o, which the forward call left in input */
    THCTensor *gradInGates,    /* out: batch x (4 units); with respect to input, hidden, bias1 and bias2 */
    THCTensor *prevC,          /* in: batch x units; the cell's state before */
    THCTensor *cy,             /* in: batch x units; the cell's state after */
    THCTensor *gradOutput,     /* in: batch x units */
    THCTensor *gradOutputCell, /* in: batch x units; with respect to outputCell */
    THCTensor *gradInputCx);   /* out: batch x units; with respect to cell */

/* ---- Spatial convolutions ------------------------------------------------------------------- */

/* 2-D convolution: output = bias + weight * input, where outputHeight is
 * (height + 2 padH - kH) / dH + 1, rounded down, and outputWidth likewise. */
THC_API void THCUNN_(SpatialConvolutionMM_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: [batch x] nInputPlane x height x width */
    THCTensor *output,  /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *weight, /* in: nOutputPlane x nInputPlane x kH x kW, or with the last three in one */
    THCTensor *bias,    /* in, optional: nOutputPlane */
    THCTensor *columns, /* scratch, optional: unused */
    THCTensor *ones,    /* scratch, optional: unused */
    int kW,             /* kernel width */
    int kH,             /* kernel height */
    int dW,             /* horizontal stride */
    int dH,             /* vertical stride */
    int padW,           /* zeros added on the left and on the right */
    int padH);          /* zeros added at the top and at the bottom */

/* 2-D convolution, backward: the gradient with respect to the input. */
THC_API void THCUNN_(SpatialConvolutionMM_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THCTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradInput,   /* out: shape of input */
    THCTensor *weight, /* in: nOutputPlane x nInputPlane x kH x kW, or with the last three in one */
    THCTensor *gradColumns, /* scratch, optional: unused */
    THCTensor *ones,        /* scratch, optional: unused */
    int kW,                 /* kernel width */
    int kH,                 /* kernel height */
    int dW,                 /* horizontal stride */
    int dH,                 /* vertical stride */
    int padW,               /* zeros added on the left and on the right */
    int padH);              /* zeros added at the top and at the bottom */

/* 2-D convolution, backward: adds scale times the gradients with respect to weight and bias. */
THC_API void THCUNN_(SpatialConvolutionMM_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: nOutputPlane x nInputPlane x kH x kW, or the last three in one */
    THCTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THCTensor *columns,    /* scratch, optional: unused */
    THCTensor *ones,       /* scratch, optional: unused */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int padW,              /* zeros added on the left and on the right */
    int padH,              /* zeros added at the top and at the bottom */
    accreal scale);        /* factor of what is added */

/* 2-D convolution plane by plane: output plane c multiplier + m is input plane c convolved with
 * weight[m][c], plus bias[m][c]. nOutputPlane is nInputPlane multiplier; outputHeight is
 * (height + 2 padH - kH) / dH + 1, rounded down, and outputWidth likewise. */
THC_API void THCUNN_(SpatialDepthWiseConvolution_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: [batch x] nInputPlane x height x width */
    THCTensor *output,  /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *weight,  /* in: multiplier x nInputPlane x kH x kW, or with the last three in one */
    THCTensor *bias,    /* in, optional: multiplier x nInputPlane */
    THCTensor *columns, /* scratch, optional: unused */
    THCTensor *ones,    /* scratch, optional: unused */
    int kW,             /* kernel width */
    int kH,             /* kernel height */
    int dW,             /* horizontal stride */
    int dH,             /* vertical stride */
    int padW,           /* zeros added on the left and on the right */
    int padH);          /* zeros added at the top and at the bottom */

/* 2-D convolution plane by plane, backward: the gradient with respect to the input. */
THC_API void THCUNN_(SpatialDepthWiseConvolution_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THCTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradInput,   /* out: shape of input */
    THCTensor *weight, /* in: multiplier x nInputPlane x kH x kW, or with the last three in one */
    THCTensor *gradColumns, /* scratch, optional: unused */
    THCTensor *ones,        /* scratch, optional: unused */
    int kW,                 /* kernel width */
    int kH,                 /* kernel height */
    int dW,                 /* horizontal stride */
    int dH,                 /* vertical stride */
    int padW,               /* zeros added on the left and on the right */
    int padH);              /* zeros added at the top and at the bottom */

/* 2-D convolution plane by plane, backward: adds scale times the gradients with respect to weight
 * and bias. */
THC_API void THCUNN_(SpatialDepthWiseConvolution_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: multiplier x nInputPlane x kH x kW, or with the last three in one */
    THCTensor *gradBias,   /* accumulate, optional: multiplier x nInputPlane */
    THCTensor *columns,    /* scratch, optional: unused */
    THCTensor *ones,       /* scratch, optional: unused */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int padW,              /* zeros added on the left and on the right */
    int padH,              /* zeros added at the top and at the bottom */
    accreal scale);        /* factor of what is added */

/* ---- Volumetric convolutions ---------------------------------------------------------------- */

/* 3-D convolution; the kernel's sizes are those of the weight. outputDepth is (depth + 2 padT - kT)
 * / dT + 1, rounded down. */
THC_API void THCUNN_(VolumetricConvolution_updateOutput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x depth x height x width */
    THCTensor *output, /* out: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *weight,     /* in: nOutputPlane x nInputPlane x kT x kH x kW */
    THCTensor *bias,       /* in, optional: nOutputPlane */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int dT,                /* stride in depth */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int padT,              /* zeros added in front and behind */
    int padW,              /* zeros added on the left and on the right */
    int padH);             /* zeros added at the top and at the bottom */

/* 3-D convolution, backward: the gradient with respect to the input. */
THC_API void THCUNN_(VolumetricConvolution_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input, /* in: [batch x] nInputPlane x depth x height x width; only its shape matters */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight,     /* in: nOutputPlane x nInputPlane x kT x kH x kW */
    THCTensor *finput,     /* scratch, optional: unused */
    int dT,                /* stride in depth */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int padT,              /* zeros added in front and behind */
    int padW,              /* zeros added on the left and on the right */
    int padH);             /* zeros added at the top and at the bottom */

/* 3-D convolution, backward: adds scale times the gradients with respect to weight and bias. */
THC_API void THCUNN_(VolumetricConvolution_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x depth x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: nOutputPlane x nInputPlane x kT x kH x kW */
    THCTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int dT,                /* stride in depth */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int padT,              /* zeros added in front and behind */
    int padW,              /* zeros added on the left and on the right */
    int padH,              /* zeros added at the top and at the bottom */
    accreal scale);        /* factor of what is added */

/* Full (transposed) 3-D convolution: each input voxel paints a kT x kH x kW block of every output
 * volume; the kernel's sizes are those of the weight. outputDepth is (depth - 1) dT - 2 padT + kT +
 * adjT. */
THC_API void THCUNN_(VolumetricFullConvolution_updateOutput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x depth x height x width */
    THCTensor *output, /* out: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *weight,     /* in: nInputPlane x nOutputPlane x kT x kH x kW */
    THCTensor *bias,       /* in, optional: nOutputPlane */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int padT,              /* slices cut off in front and behind */
    int padW,              /* columns cut off on the left and on the right */
    int padH,              /* rows cut off at the top and at the bottom */
    int adjT,              /* slices added behind; less than dT */
    int adjW,              /* columns added on the right; less than dW */
    int adjH);             /* rows added at the bottom; less than dH */

/* Full (transposed) 3-D convolution, backward: the gradient with respect to the input. */
THC_API void THCUNN_(VolumetricFullConvolution_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input, /* in: [batch x] nInputPlane x depth x height x width; only its shape matters */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight,     /* in: nInputPlane x nOutputPlane x kT x kH x kW */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int padT,              /* slices cut off in front and behind */
    int padW,              /* columns cut off on the left and on the right */
    int padH,              /* rows cut off at the top and at the bottom */
    int adjT,              /* slices added behind; less than dT */
    int adjW,              /* columns added on the right; less than dW */
    int adjH);             /* rows added at the bottom; less than dH */

/* Full (transposed) 3-D convolution, backward: adds scale times the gradients with respect to
 * weight and bias. */
THC_API void THCUNN_(VolumetricFullConvolution_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x depth x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: nInputPlane x nOutputPlane x kT x kH x kW */
    THCTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int padT,              /* slices cut off in front and behind */
    int padW,              /* columns cut off on the left and on the right */
    int padH,              /* rows cut off at the top and at the bottom */
    int adjT,              /* slices added behind; less than dT */
    int adjW,              /* columns added on the right; less than dW */
    int adjH,              /* rows added at the bottom; less than dH */
    accreal scale);        /* factor of what is added */

/* Full (transposed) 3-D convolution with a dilated kernel: each input voxel paints kT x kH x kW
 * voxels that lie dilationT, dilationH and dilationW apart; the kernel's sizes are those of the
 * weight. outputDepth is (depth - 1) dT - 2 padT + dilationT (kT - 1) + 1 + adjT. */
THC_API void THCUNN_(VolumetricFullDilatedConvolution_updateOutput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x depth x height x width */
    THCTensor *output, /* out: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *weight,     /* in: nInputPlane x nOutputPlane x kT x kH x kW */
    THCTensor *bias,       /* in, optional: nOutputPlane */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int padT,              /* slices cut off in front and behind */
    int padW,              /* columns cut off on the left and on the right */
    int padH,              /* rows cut off at the top and at the bottom */
    int dilationT,         /* slices from one tap to the next */
    int dilationW,         /* columns from one tap to the next */
    int dilationH,         /* rows from one tap to the next */
    int adjT,              /* slices added behind; less than dT or dilationT */
    int adjW,              /* columns added on the right; less than dW or dilationW */
    int adjH);             /* rows added at the bottom; less than dH or dilationH */

/* Full (transposed) 3-D convolution with a dilated kernel, backward: the gradient with respect to
 * the input. */
THC_API void THCUNN_(VolumetricFullDilatedConvolution_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input, /* in: [batch x] nInputPlane x depth x height x width; only its shape matters */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight,     /* in: nInputPlane x nOutputPlane x kT x kH x kW */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int padT,              /* slices cut off in front and behind */
    int padW,              /* columns cut off on the left and on the right */
    int padH,              /* rows cut off at the top and at the bottom */
    int dilationT,         /* slices from one tap to the next */
    int dilationW,         /* columns from one tap to the next */
    int dilationH,         /* rows from one tap to the next */
    int adjT,              /* slices added behind; less than dT or dilationT */
    int adjW,              /* columns added on the right; less than dW or dilationW */
    int adjH);             /* rows added at the bottom; less than dH or dilationH */

/* Full (transposed) 3-D convolution with a dilated kernel, backward: adds scale times the
 * gradients with respect to weight and bias. */
THC_API void THCUNN_(VolumetricFullDilatedConvolution_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x depth x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: nInputPlane x nOutputPlane x kT x kH x kW */
    THCTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int dT,                /* stride of the patches in depth */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int padT,              /* slices cut off in front and behind */
    int padW,              /* columns cut off on the left and on the right */
    int padH,              /* rows cut off at the top and at the bottom */
    int dilationT,         /* slices from one tap to the next */
    int dilationW,         /* columns from one tap to the next */
    int dilationH,         /* rows from one tap to the next */
    int adjT,              /* slices added behind; less than dT or dilationT */
    int adjW,              /* columns added on the right; less than dW or dilationW */
    int adjH,              /* rows added at the bottom; less than dH or dilationH */
    accreal scale);        /* factor of what is added */

/* ---- Spatial pooling ------------------------------------------------------------------------- */

/* 2-D max pooling to a given output size: output row y is taken over the input rows from
 * y*height/nOutputRows, rounded down, up to (y + 1)*height/nOutputRows, rounded up; columns
 * likewise. */
THC_API void THCUNN_(SpatialAdaptiveMaxPooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x height x width */
    THCTensor *output,       /* out: [batch x] planes x nOutputRows x nOutputCols */
    THCIndexTensor *indices, /* out: 2 x shape of output; row, column in the region, from 1, or 0 */
    int nOutputCols,         /* columns of output */
    int nOutputRows);        /* rows of output */

/* 2-D average pooling to a given output size: output row y is taken over the input rows from
 * y*height/nOutputRows, rounded down, up to (y + 1)*height/nOutputRows, rounded up; columns
 * likewise. */
THC_API void THCUNN_(SpatialAdaptiveAveragePooling_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: [batch x] planes x height x width */
    THCTensor *output, /* out: [batch x] planes x nOutputRows x nOutputCols */
    int nOutputCols,   /* columns of output */
    int nOutputRows);  /* rows of output */

/* ---- Spatial sampling and padding ------------------------------------------------------------ */

/* 2-D padding by reflection: the input goes on mirrored at its first and last row and column,
 * which are not repeated; a padding is less than the size. */
THC_API void THCUNN_(SpatialReflectionPadding_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: [batch x] planes x height x width */
    THCTensor *output, /* out: [batch x] planes x height + padT + padB x width + padL + padR */
    int padL,          /* columns added on the left; negative: cut off */
    int padR,          /* columns added on the right; negative: cut off */
    int padT,          /* rows added at the top; negative: cut off */
    int padB);         /* rows added at the bottom; negative: cut off */

/* 2-D padding by reflection, backward: the sum of the gradients of all elements that show an input
 * element. */
THC_API void THCUNN_(SpatialReflectionPadding_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] planes x height x width */
    THCTensor *gradOutput, /* in: shape of the forward call's output */
    THCTensor *gradInput,  /* out: shape of input */
    int padL,              /* columns added on the left; negative: cut off */
    int padR,              /* columns added on the right; negative: cut off */
    int padT,              /* rows added at the top; negative: cut off */
    int padB);             /* rows added at the bottom; negative: cut off */

/* 2-D padding by replication: the first and the last row and column go on for ever. */
THC_API void THCUNN_(SpatialReplicationPadding_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: [batch x] planes x height x width */
    THCTensor *output, /* out: [batch x] planes x height + padT + padB x width + padL + padR */
    int padL,          /* columns added on the left; negative: cut off */
    int padR,          /* columns added on the right; negative: cut off */
    int padT,          /* rows added at the top; negative: cut off */
    int padB);         /* rows added at the bottom; negative: cut off */

/* 2-D padding by replication, backward: the sum of the gradients of all elements that show an
 * input element. */
THC_API void THCUNN_(SpatialReplicationPadding_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] planes x height x width */
    THCTensor *gradOutput, /* in: shape of the forward call's output */
    THCTensor *gradInput,  /* out: shape of input */
    int padL,              /* columns added on the left; negative: cut off */
    int padR,              /* columns added on the right; negative: cut off */
    int padT,              /* rows added at the top; negative: cut off */
    int padB);             /* rows added at the bottom; negative: cut off */

/* ---- Volumetric pooling ---------------------------------------------------------------------- */

/* 3-D max pooling: output is the greatest element of each kT x kH x kW window, the first of
 * equals; outputDepth is (depth + 2 padT - kT)/dT + 1, rounded down, or up with ceilMode. */
THC_API void THCUNN_(VolumetricMaxPooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x depth x height x width */
    THCTensor *output,       /* out: [batch x] planes x outputDepth x outputHeight x outputWidth */
    THCIndexTensor *indices, /* out: shape of output; bytes 0, 1, 2: offsets t, h, w in the window */
    int kT,                  /* depth of a window */
    int kW,                  /* width of a window */
    int kH,                  /* height of a window */
    int dT,                  /* distance of windows in depth */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padT,                /* slices of padding on either side; at most kT/2 */
    int padW,                /* columns of padding on either side; at most kW/2 */
    int padH,                /* rows of padding on either side; at most kH/2 */
    bool ceilMode);          /* a last window that is cut off counts as well */

/* 3-D max pooling, backward: each gradient goes to the element that was chosen. */
THC_API void THCUNN_(VolumetricMaxPooling_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x depth x height x width */
    THCTensor *gradOutput,   /* in: [batch x] planes x outputDepth x outputHeight x outputWidth */
    THCTensor *gradInput,    /* out: shape of input */
    THCIndexTensor *indices, /* in: shape of gradOutput; as left by the forward call */
    int kT,                  /* depth of a window */
    int kW,                  /* width of a window */
    int kH,                  /* height of a window */
    int dT,                  /* distance of windows in depth */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padT,                /* slices of padding on either side; at most kT/2 */
    int padW,                /* columns of padding on either side; at most kW/2 */
    int padH,                /* rows of padding on either side; at most kH/2 */
    bool ceilMode);          /* a last window that is cut off counts as well */

/* 3-D max pooling over windows with gaps: the elements of a window lie dilationT slices, dilationH
 * rows and dilationW columns apart. */
THC_API void THCUNN_(VolumetricDilatedMaxPooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x depth x height x width */
    THCTensor *output,       /* out: [batch x] planes x outputDepth x outputHeight x outputWidth */
    THCIndexTensor *indices, /* out: shape of output; bytes 0, 1, 2: element t, h, w of the window */
    int kT,                  /* depth of a window */
    int kW,                  /* width of a window */
    int kH,                  /* height of a window */
    int dT,                  /* distance of windows in depth */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padT,                /* slices of padding on either side; at most kT/2 */
    int padW,                /* columns of padding on either side; at most kW/2 */
    int padH,                /* rows of padding on either side; at most kH/2 */
    int dilationT,           /* distance of the elements of a window in depth */
    int dilationW,           /* horizontal distance of the elements of a window */
    int dilationH,           /* vertical distance of the elements of a window */
    bool ceilMode);          /* a last window that is cut off counts as well */

/* 3-D max pooling over windows with gaps, backward: each gradient goes to the element that was
 * chosen. */
THC_API void THCUNN_(VolumetricDilatedMaxPooling_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x depth x height x width */
    THCTensor *gradOutput,   /* in: [batch x] planes x outputDepth x outputHeight x outputWidth */
    THCTensor *gradInput,    /* out: shape of input */
    THCIndexTensor *indices, /* in: shape of gradOutput; as left by the forward call */
    int kT,                  /* depth of a window */
    int kW,                  /* width of a window */
    int kH,                  /* height of a window */
    int dT,                  /* distance of windows in depth */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padT,                /* slices of padding on either side; at most kT/2 */
    int padW,                /* columns of padding on either side; at most kW/2 */
    int padH,                /* rows of padding on either side; at most kH/2 */
    int dilationT,           /* distance of the elements of a window in depth */
    int dilationW,           /* horizontal distance of the elements of a window */
    int dilationH,           /* vertical distance of the elements of a window */
    bool ceilMode);          /* a last window that is cut off counts as well */

/* 3-D max unpooling: each value goes to the element that its index names, of several the last; 0
 * elsewhere. */
THC_API void THCUNN_(VolumetricMaxUnpooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x depth x height x width */
    THCTensor *output,       /* out: [batch x] planes x outputTime x outputHeight x outputWidth */
    THCIndexTensor *indices, /* in: shape of input; bytes 0, 1, 2: offsets t, h, w in the window */
    int outputTime,          /* slices of output */
    int outputWidth,         /* columns of output */
    int outputHeight,        /* rows of output */
    int dT,                  /* distance of windows in depth in the pooling */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padT,                /* slices of padding in the pooling */
    int padW,                /* columns of padding */
    int padH);               /* rows of padding */

/* 3-D max unpooling, backward: gradInput is the gradient of the element that the index names. */
THC_API void THCUNN_(VolumetricMaxUnpooling_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x depth x height x width */
    THCTensor *gradOutput,   /* in: [batch x] planes x outputTime x outputHeight x outputWidth */
    THCTensor *gradInput,    /* out: shape of input */
    THCIndexTensor *indices, /* in: shape of input; as in the forward call */
    int outputTime,          /* slices of output */
    int outputWidth,         /* columns of output */
    int outputHeight,        /* rows of output */
    int dT,                  /* distance of windows in depth in the pooling */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padT,                /* slices of padding in the pooling */
    int padW,                /* columns of padding */
    int padH);               /* rows of padding */
