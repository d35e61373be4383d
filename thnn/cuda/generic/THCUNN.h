/* The prototypes, once per real type: included by ../THCUNN.h. */

/* One argument and its comment per line. */
/* clang-format off */

/* ---- Pointwise ------------------------------------------------------------------------------ */

/* Abs: output = |input|, element by element. */
THC_API void THCUNN_(Abs_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: any shape */
    THCTensor *output); /* out: shape of input */

/* Abs, backward: gradInput = input >= 0 ? gradOutput : -gradOutput. */
THC_API void THCUNN_(Abs_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: any shape */
    THCTensor *gradOutput, /* in: as many elements as input */
    THCTensor *gradInput); /* out: shape of input */

/* ELU: output = input > 0 ? input : alpha (e^input - 1), element by element. */
THC_API void THCUNN_(ELU_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape; overwritten with the result when inplace */
    THCTensor *output, /* out: shape of input; shares its storage when inplace */
    accreal alpha,     /* minus the limit far below zero */
    bool inplace);     /* work in input's storage */

/* ELU, backward: gradInput = output > 0 ? gradOutput : gradOutput (output + alpha). */
THC_API void THCUNN_(ELU_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in, optional: as many elements as gradOutput; not read */
    THCTensor *gradOutput, /* in: any shape; overwritten when inplace */
    THCTensor *gradInput,  /* out: shape of output; shares gradOutput's storage when inplace */
    THCTensor *output,     /* in: as many elements as gradOutput; of the forward call */
    accreal alpha,         /* as in the forward call */
    bool inplace);         /* work in gradOutput's storage */

/* Gated linear unit: output = first half of input * sigmoid(second half), along dimension dim. */
THC_API void THCUNN_(GatedLinear_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape, even in dimension dim */
    THCTensor *output, /* out: shape of input, half the size in dimension dim */
    int dim);          /* the dimension that is halved, from 1 */

/* Gated linear unit, backward: sigmoid(second) gradOutput for the first half, and that times
 * (1 - sigmoid(second)) first for the second. */
THC_API void THCUNN_(GatedLinear_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: any shape, even in dimension dim */
    THCTensor *gradOutput, /* in: half as many elements as input */
    THCTensor *gradInput,  /* out: shape of input */
    int dim);              /* as in the forward call */

/* HardTanh: output = input, but at least min_val and at most max_val. */
THC_API void THCUNN_(HardTanh_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape; overwritten with the result when inplace */
    THCTensor *output, /* out: shape of input; shares its storage when inplace */
    accreal min_val,   /* the least result */
    accreal max_val,   /* the greatest result */
    bool inplace);     /* work in input's storage */

/* HardTanh, backward: gradInput = min_val < input < max_val ? gradOutput : 0. */
THC_API void THCUNN_(HardTanh_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: any shape */
    THCTensor *gradOutput, /* in: as many elements as input; overwritten when inplace */
    THCTensor *gradInput,  /* out: shape of input; shares gradOutput's storage when inplace */
    accreal min_val,       /* as in the forward call */
    accreal max_val,       /* as in the forward call */
    bool inplace);         /* work in gradOutput's storage */

/* LeakyReLU: output = input > 0 ? input : negval * input. */
THC_API void THCUNN_(LeakyReLU_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape; overwritten with the result when inplace */
    THCTensor *output, /* out: shape of input; shares its storage when inplace */
    accreal negval,    /* slope below zero */
    bool inplace);     /* work in input's storage */

/* LeakyReLU, backward: gradInput = input > 0 ? gradOutput : negval * gradOutput. */
THC_API void THCUNN_(LeakyReLU_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: any shape; the output of the forward call serves when inplace */
    THCTensor *gradOutput, /* in: as many elements as input; overwritten when inplace */
    THCTensor *gradInput,  /* out: shape of input; shares gradOutput's storage when inplace */
    accreal negval,        /* as in the forward call; must not be negative when inplace */
    bool inplace);         /* work in gradOutput's storage */

/* LogSigmoid: output = log(1 / (1 + e^-input)). */
THC_API void THCUNN_(LogSigmoid_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: any shape */
    THCTensor *output,  /* out: shape of input */
    THCTensor *buffer); /* scratch, optional: unused */

/* LogSigmoid, backward: gradInput = gradOutput / (1 + e^input). */
THC_API void THCUNN_(LogSigmoid_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: any shape */
    THCTensor *gradOutput, /* in: as many elements as input */
    THCTensor *gradInput,  /* out: shape of gradOutput */
    THCTensor *buffer);    /* scratch, optional: unused */

/* PReLU: output = input > 0 ? input : weight * input, with one weight for all or one per plane. */
THC_API void THCUNN_(PReLU_updateOutput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: nOutputPlane, or batch x nOutputPlane [x ...]; any shape when nOutputPlane is 0 */
    THCTensor *output,     /* out: shape of input */
    THCTensor *weight,     /* in: nOutputPlane elements, or 1; those beyond are not read */
    int64_t nOutputPlane); /* planes; 0 for one weight shared by all elements */

/* PReLU, backward: gradInput = input > 0 ? gradOutput : weight * gradOutput. */
THC_API void THCUNN_(PReLU_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: nOutputPlane, or batch x nOutputPlane [x ...]; any shape when nOutputPlane is 0 */
    THCTensor *gradOutput, /* in: as many elements as input */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight,     /* in: nOutputPlane elements, or 1; those beyond are not read */
    int64_t nOutputPlane); /* planes; 0 for one weight shared by all elements */

/* PReLU, backward: adds scale times the gradient with respect to the weight, the sum of
 * input * gradOutput where input <= 0. */
THC_API void THCUNN_(PReLU_accGradParameters)(
    THCState *state,           /* where it runs */
    THCTensor *input,          /* in: nOutputPlane, or batch x nOutputPlane [x ...]; any shape when nOutputPlane is 0 */
    THCTensor *gradOutput,     /* in: as many elements as input */
    THCTensor *gradInput,      /* in, optional: unused */
    THCTensor *weight,         /* in: any shape; not read */
    THCTensor *gradWeight,     /* accumulate: nOutputPlane elements, or 1; those beyond stay */
    THCTensor *gradWeightBuf,  /* scratch, optional: unused */
    THCTensor *gradWeightBuf2, /* scratch, optional: unused */
    int64_t nOutputPlane,      /* planes; 0 for one weight shared by all elements */
    accreal scale);            /* factor of what is added */

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

/* Logistic function: output = 1 / (1 + e^-input). */
THC_API void THCUNN_(Sigmoid_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: any shape */
    THCTensor *output); /* out: shape of input */

/* Logistic function, backward: gradInput = gradOutput (1 - output) output. */
THC_API void THCUNN_(Sigmoid_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in, optional: unused */
    THCTensor *gradOutput, /* in: as many elements as output */
    THCTensor *gradInput,  /* out: shape of output */
    THCTensor *output);    /* in: any shape; of the forward call */

/* SoftPlus: output = log(1 + e^(beta input)) / beta, or input where beta input exceeds threshold. */
THC_API void THCUNN_(SoftPlus_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: any shape */
    THCTensor *output,  /* out: shape of input */
    accreal beta,       /* sharpness of the bend */
    accreal threshold); /* from where on the result is the input */

/* SoftPlus, backward: gradInput = gradOutput (1 - e^(-beta output)), or gradOutput where beta
 * output exceeds threshold. */
THC_API void THCUNN_(SoftPlus_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in, optional: as many elements as gradOutput; not read */
    THCTensor *gradOutput, /* in: as many elements as output */
    THCTensor *gradInput,  /* out: shape of output */
    THCTensor *output,     /* in: any shape; of the forward call */
    accreal beta,          /* as in the forward call */
    accreal threshold);    /* as in the forward call */

/* Soft shrinkage: output = input moved by lambda towards 0, and 0 where it is no farther from it. */
THC_API void THCUNN_(SoftShrink_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape */
    THCTensor *output, /* out: shape of input */
    accreal lambda);   /* how far values move */

/* Soft shrinkage, backward: gradInput = input > lambda or input < -lambda ? gradOutput : 0. */
THC_API void THCUNN_(SoftShrink_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: any shape */
    THCTensor *gradOutput, /* in: as many elements as input */
    THCTensor *gradInput,  /* out: shape of input */
    accreal lambda);       /* as in the forward call */

/* Square root: output = sqrt(input). */
THC_API void THCUNN_(Sqrt_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape */
    THCTensor *output, /* out: shape of input */
    accreal eps);      /* not read */

/* Square root, backward: gradInput = output == 0 ? 0 : gradOutput / (2 output). */
THC_API void THCUNN_(Sqrt_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: as many elements as gradOutput; only its shape matters */
    THCTensor *gradOutput, /* in: shape of output */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *output);    /* in: any shape; of the forward call */

/* Square: output = input^2. */
THC_API void THCUNN_(Square_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: any shape */
    THCTensor *output); /* out: shape of input */

/* Square, backward: gradInput = 2 input gradOutput. */
THC_API void THCUNN_(Square_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: any shape */
    THCTensor *gradOutput, /* in: shape of input */
    THCTensor *gradInput); /* out: shape of input */

/* Hyperbolic tangent: output = tanh(input). */
THC_API void THCUNN_(Tanh_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: any shape */
    THCTensor *output); /* out: shape of input */

/* Hyperbolic tangent, backward: gradInput = gradOutput (1 - output^2). */
THC_API void THCUNN_(Tanh_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in, optional: unused */
    THCTensor *gradOutput, /* in: shape of output */
    THCTensor *gradInput,  /* out: shape of output */
    THCTensor *output);    /* in: any shape; of the forward call */

/* Threshold: output = input > threshold ? input : val, element by element. */
THC_API void THCUNN_(Threshold_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape; overwritten with the result when inplace */
    THCTensor *output, /* out: shape of input; shares its storage when inplace */
    accreal threshold, /* values up to and including it are replaced */
    accreal val,       /* what they are replaced by */
    bool inplace);     /* work in input's storage */

/* Threshold, backward: gradInput = input > threshold ? gradOutput : 0. */
THC_API void THCUNN_(Threshold_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: any shape; the output of the forward call serves when inplace */
    THCTensor *gradOutput, /* in: as many elements as input; overwritten when inplace */
    THCTensor *gradInput,  /* out: shape of input; shares gradOutput's storage when inplace */
    accreal threshold,     /* as in the forward call */
    accreal val,           /* as in the forward call; must not exceed threshold when inplace */
    bool inplace);         /* work in gradOutput's storage */

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

/* Full (transposed) 2-D convolution: each input pixel paints a kH x kW patch of every output plane;
 * outputHeight is (height - 1) dH - 2 padH + kH + adjH, and outputWidth likewise. */
THC_API void THCUNN_(SpatialFullConvolution_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: [batch x] nInputPlane x height x width */
    THCTensor *output,  /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *weight,  /* in: nInputPlane x nOutputPlane x kH x kW */
    THCTensor *bias,    /* in, optional: nOutputPlane */
    THCTensor *columns, /* scratch, optional: unused */
    THCTensor *ones,    /* scratch, optional: unused */
    int kW,             /* kernel width */
    int kH,             /* kernel height */
    int dW,             /* horizontal stride of the patches */
    int dH,             /* vertical stride of the patches */
    int padW,           /* columns cut off on the left and on the right */
    int padH,           /* rows cut off at the top and at the bottom */
    int adjW,           /* columns added on the right; less than dW */
    int adjH);          /* rows added at the bottom; less than dH */

/* Full 2-D convolution, backward: the gradient with respect to the input. */
THC_API void THCUNN_(SpatialFullConvolution_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THCTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradInput,   /* out: shape of input */
    THCTensor *weight,      /* in: nInputPlane x nOutputPlane x kH x kW */
    THCTensor *gradColumns, /* scratch, optional: unused */
    int kW,                 /* kernel width */
    int kH,                 /* kernel height */
    int dW,                 /* horizontal stride of the patches */
    int dH,                 /* vertical stride of the patches */
    int padW,               /* columns cut off on the left and on the right */
    int padH,               /* rows cut off at the top and at the bottom */
    int adjW,               /* columns added on the right; less than dW */
    int adjH);              /* rows added at the bottom; less than dH */

/* Full 2-D convolution, backward: adds scale times the gradients with respect to weight and bias. */
THC_API void THCUNN_(SpatialFullConvolution_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: nInputPlane x nOutputPlane x kH x kW */
    THCTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THCTensor *columns,    /* scratch, optional: unused */
    THCTensor *ones,       /* scratch, optional: unused */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dW,                /* horizontal stride of the patches */
    int dH,                /* vertical stride of the patches */
    int padW,              /* columns cut off on the left and on the right */
    int padH,              /* rows cut off at the top and at the bottom */
    int adjW,              /* columns added on the right; less than dW */
    int adjH,              /* rows added at the bottom; less than dH */
    accreal scale);        /* factor of what is added */

/* 2-D convolution with a dilated kernel: its taps lie dilationH rows and dilationW columns apart.
 * outputHeight is (height + 2 padH - (dilationH (kH - 1) + 1)) / dH + 1, rounded down. */
THC_API void THCUNN_(SpatialDilatedConvolution_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: [batch x] nInputPlane x height x width */
    THCTensor *output,  /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *weight,  /* in: nOutputPlane x nInputPlane x kH x kW */
    THCTensor *bias,    /* in, optional: nOutputPlane */
    THCTensor *columns, /* scratch, optional: unused */
    THCTensor *ones,    /* scratch, optional: unused */
    int kW,             /* kernel width */
    int kH,             /* kernel height */
    int dW,             /* horizontal stride */
    int dH,             /* vertical stride */
    int padW,           /* zeros added on the left and on the right */
    int padH,           /* zeros added at the top and at the bottom */
    int dilationW,      /* columns from one tap to the next */
    int dilationH);     /* rows from one tap to the next */

/* 2-D convolution with a dilated kernel, backward: the gradient with respect to the input. */
THC_API void THCUNN_(SpatialDilatedConvolution_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THCTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradInput,   /* out: shape of input */
    THCTensor *weight,      /* in: nOutputPlane x nInputPlane x kH x kW */
    THCTensor *gradColumns, /* scratch, optional: unused */
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
THC_API void THCUNN_(SpatialDilatedConvolution_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: nOutputPlane x nInputPlane x kH x kW */
    THCTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THCTensor *columns,    /* scratch, optional: unused */
    THCTensor *ones,       /* scratch, optional: unused */
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
THC_API void THCUNN_(SpatialFullDilatedConvolution_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: [batch x] nInputPlane x height x width */
    THCTensor *output,  /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *weight,  /* in: nInputPlane x nOutputPlane x kH x kW */
    THCTensor *bias,    /* in, optional: nOutputPlane */
    THCTensor *columns, /* scratch, optional: unused */
    THCTensor *ones,    /* scratch, optional: unused */
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
THC_API void THCUNN_(SpatialFullDilatedConvolution_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THCTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradInput,   /* out: shape of input */
    THCTensor *weight,      /* in: nInputPlane x nOutputPlane x kH x kW */
    THCTensor *gradColumns, /* scratch, optional: unused */
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
THC_API void THCUNN_(SpatialFullDilatedConvolution_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: nInputPlane x nOutputPlane x kH x kW */
    THCTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THCTensor *columns,    /* scratch, optional: unused */
    THCTensor *ones,       /* scratch, optional: unused */
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

/* 3-D convolution. outputDepth is (depth + 2 pT - kT) / dT + 1, rounded down. */
THC_API void THCUNN_(VolumetricConvolutionMM_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: [batch x] nInputPlane x depth x height x width */
    THCTensor *output, /* out: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *weight, /* in: nOutputPlane x nInputPlane x kT x kH x kW, or with the last four in one */
    THCTensor *bias,   /* in, optional: nOutputPlane */
    THCTensor *finput, /* scratch, optional: unused */
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
THC_API void THCUNN_(VolumetricConvolutionMM_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input, /* in: [batch x] nInputPlane x depth x height x width; only its shape matters */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight, /* in: nOutputPlane x nInputPlane x kT x kH x kW, or with the last four in one */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
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
THC_API void THCUNN_(VolumetricConvolutionMM_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x depth x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: nOutputPlane x nInputPlane x kT x kH x kW, or with the last four in one */
    THCTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THCTensor *finput,     /* scratch, optional: unused */
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

/* 3-D convolution with a dilated kernel: its taps lie dilationT, dilationH and dilationW apart.
 * outputDepth is (depth + 2 padT - (dilationT (kT - 1) + 1)) / dT + 1, rounded down. */
THC_API void THCUNN_(VolumetricDilatedConvolution_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: [batch x] nInputPlane x depth x height x width */
    THCTensor *output,  /* out: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *weight,  /* in: nOutputPlane x nInputPlane x kT x kH x kW */
    THCTensor *bias,    /* in, optional: nOutputPlane */
    THCTensor *columns, /* scratch, optional: unused */
    THCTensor *ones,    /* scratch, optional: unused */
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
THC_API void THCUNN_(VolumetricDilatedConvolution_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *input, /* in: [batch x] nInputPlane x depth x height x width; only its shape matters */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *gradInput,   /* out: shape of input */
    THCTensor *weight,      /* in: nOutputPlane x nInputPlane x kT x kH x kW */
    THCTensor *gradColumns, /* scratch, optional: unused */
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
THC_API void THCUNN_(VolumetricDilatedConvolution_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x depth x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: nOutputPlane x nInputPlane x kT x kH x kW */
    THCTensor *gradBias,   /* accumulate, optional: nOutputPlane */
    THCTensor *columns,    /* scratch, optional: unused */
    THCTensor *ones,       /* scratch, optional: unused */
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
