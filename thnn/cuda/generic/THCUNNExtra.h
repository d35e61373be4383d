/* The prototypes of further modules, once per real type: included by ../THCUNNExtra.h. The comments
 * are as in THCUNN.h. */

/* clang-format off */

/* Hard shrinkage: output = input > lambda or input < -lambda ? input : 0. */
THC_API void THCUNN_(HardShrink_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape */
    THCTensor *output, /* out: shape of input */
    accreal lambda);   /* values no farther from 0 become 0 */

/* Hard shrinkage, backward: gradInput = input > lambda or input < -lambda ? gradOutput : 0. */
THC_API void THCUNN_(HardShrink_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: any shape */
    THCTensor *gradOutput, /* in: as many elements as input */
    THCTensor *gradInput,  /* out: shape of input */
    accreal lambda);       /* as in the forward call */

/* Linear layer: output = bias + weight * input. Nothing happens when input has neither one dimension
 * nor two. */
THC_API void THCUNN_(Linear_updateOutput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] inputs */
    THCTensor *output,     /* out: [batch x] outputs */
    THCTensor *weight,     /* in: outputs x inputs */
    THCTensor *bias,       /* in, optional: outputs */
    THCTensor *addBuffer); /* scratch, optional: unused */

/* Linear layer, backward: gradInput = weight^T * gradOutput; 0 when input has neither one dimension
 * nor two. */
THC_API void THCUNN_(Linear_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] inputs; only its shape matters */
    THCTensor *gradOutput, /* in: [batch x] outputs */
    THCTensor *gradInput,  /* out, optional: shape of input; NULL means that nothing happens */
    THCTensor *weight);    /* in: outputs x inputs */

/* Linear layer, backward: gradWeight += scale * gradOutput * input^T, gradBias += scale * gradOutput,
 * summed over the batch. Nothing happens when input has neither one dimension nor two. */
THC_API void THCUNN_(Linear_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] inputs */
    THCTensor *gradOutput, /* in: [batch x] outputs */
    THCTensor *gradInput,  /* in, optional: unused */
    THCTensor *weight,     /* in, optional: unused */
    THCTensor *bias,       /* in, optional: NULL means that gradBias stays as it is */
    THCTensor *gradWeight, /* accumulate: outputs x inputs */
    THCTensor *gradBias,   /* accumulate, optional: outputs; NULL only together with bias */
    THCTensor *addBuffer,  /* scratch, optional: unused */
    accreal scale);        /* factor of what is added */

/* 2-D convolution in which a table says which planes are joined: an output plane is its bias plus the
 * input planes connected to it, each convolved with the connection's kernel. outputHeight is
 * (height - kH) / dH + 1, rounded down, and outputWidth likewise. */
THC_API void THCUNN_(SpatialConvolutionMap_updateOutput)(
    THCState *state,      /* where it runs */
    THCTensor *input,     /* in: [batch x] nInputPlane x height x width */
    THCTensor *output,    /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *weight,    /* in: connections x kH x kW */
    THCTensor *bias,      /* in: nOutputPlane */
    THCTensor *connTable, /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,      /* input planes that connTable may name */
    int nOutputPlane,     /* planes of output */
    int dW,               /* horizontal stride */
    int dH);              /* vertical stride */

/* 2-D convolution by a connection table, backward: the gradient with respect to the input. */
THC_API void THCUNN_(SpatialConvolutionMap_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight,     /* in: connections x kH x kW */
    THCTensor *bias,       /* in, optional: unused */
    THCTensor *connTable,  /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,       /* input planes that connTable may name */
    int nOutputPlane,      /* planes of output */
    int dW,                /* horizontal stride */
    int dH);               /* vertical stride */

/* 2-D convolution by a connection table, backward: adds scale times the gradients with respect to
 * weight and bias. */
THC_API void THCUNN_(SpatialConvolutionMap_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: connections x kH x kW */
    THCTensor *gradBias,   /* accumulate: nOutputPlane */
    THCTensor *connTable,  /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,       /* input planes that connTable may name */
    int nOutputPlane,      /* planes of output */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    accreal scale);        /* factor of what is added */

/* 2-D full (transposed) convolution in which a table says which planes are joined: each input element
 * paints its connections' kernels into the output. outputHeight is (height - 1) dH + kH, and
 * outputWidth likewise. */
THC_API void THCUNN_(SpatialFullConvolutionMap_updateOutput)(
    THCState *state,      /* where it runs */
    THCTensor *input,     /* in: nInputPlane x height x width */
    THCTensor *output,    /* out: nOutputPlane x outputHeight x outputWidth */
    THCTensor *weight,    /* in: connections x kH x kW */
    THCTensor *bias,      /* in: nOutputPlane */
    THCTensor *connTable, /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,      /* input planes that connTable may name */
    int nOutputPlane,     /* planes of output */
    int dW,               /* horizontal stride */
    int dH);              /* vertical stride */

/* 2-D full convolution by a connection table, backward: the gradient with respect to the input. */
THC_API void THCUNN_(SpatialFullConvolutionMap_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: nInputPlane x height x width; only its shape matters */
    THCTensor *gradOutput, /* in: nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight,     /* in: connections x kH x kW */
    THCTensor *bias,       /* in, optional: unused */
    THCTensor *connTable,  /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,       /* input planes that connTable may name */
    int nOutputPlane,      /* planes of output */
    int dW,                /* horizontal stride */
    int dH);               /* vertical stride */

/* 2-D full convolution by a connection table, backward: adds scale times the gradients with respect
 * to weight and bias. */
THC_API void THCUNN_(SpatialFullConvolutionMap_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: nInputPlane x height x width */
    THCTensor *gradOutput, /* in: nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: connections x kH x kW */
    THCTensor *gradBias,   /* accumulate: nOutputPlane */
    THCTensor *connTable,  /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,       /* input planes that connTable may name */
    int nOutputPlane,      /* planes of output */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
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

/* Subsampling over time: output = weight * sum of kW frames + bias, column by column; nOutputFrame
 * is (nInputFrame - kW)/dW + 1, rounded down. */
THC_API void THCUNN_(TemporalSubSampling_updateOutput)(
    THCState *state,     /* where it runs */
    THCTensor *input,    /* in: nInputFrame x inputFrameSize */
    THCTensor *output,   /* out: nOutputFrame x inputFrameSize */
    THCTensor *weight,   /* in: inputFrameSize */
    THCTensor *bias,     /* in: inputFrameSize */
    int kW,              /* frames of a window */
    int dW,              /* distance of windows in frames */
    int inputFrameSize); /* columns of input */

/* Subsampling over time, backward: each gradient goes to the kW frames of its window, times
 * weight. */
THC_API void THCUNN_(TemporalSubSampling_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: nInputFrame x inputFrameSize */
    THCTensor *gradOutput, /* in: nOutputFrame x inputFrameSize */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight,     /* in: inputFrameSize */
    int kW,                /* as in the forward call */
    int dW);               /* as in the forward call */

/* Subsampling over time, parameters: gradWeight += scale * sum of gradOutput times window sum,
 * gradBias += scale * sum of gradOutput. */
THC_API void THCUNN_(TemporalSubSampling_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: nInputFrame x inputFrameSize */
    THCTensor *gradOutput, /* in: nOutputFrame x inputFrameSize */
    THCTensor *gradWeight, /* accumulate: inputFrameSize */
    THCTensor *gradBias,   /* accumulate: inputFrameSize */
    int kW,                /* as in the forward call */
    int dW,                /* as in the forward call */
    accreal scale);        /* factor of what is added */

/* Samples planes at the points of a grid: the weighted mean of the four elements around a point, 0
 * outside the input. */
THC_API void THCUNN_(SpatialGridSamplerBilinear_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: batch x planes x inputHeight x inputWidth */
    THCTensor *grid,    /* in: batch x height x width x 2; x and y, -1 and 1 at the corners */
    THCTensor *output); /* out: batch x planes x height x width */

/* Samples planes at the points of a grid, backward: gradients of the input and of the grid. */
THC_API void THCUNN_(SpatialGridSamplerBilinear_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: batch x planes x inputHeight x inputWidth */
    THCTensor *gradInput,   /* out: shape of input */
    THCTensor *grid,        /* in: batch x height x width x 2 */
    THCTensor *gradGrid,    /* out: shape of grid */
    THCTensor *gradOutput); /* in: batch x planes x height x width */

/* Convolution of groups of planes in one to three dimensions, which the weight has: sizes are
 * [[depth x] height x] width. Output sizes are (size + padding before + padding after - (dilation
 * (kernel - 1) + 1)) / stride + 1, rounded down. Padding can differ from side to side; negative
 * padding crops. */
THC_API void THCUNN_(GroupedConvolution_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: [batch x] nInputPlane x sizes */
    THCTensor *output,  /* out: [batch x] nOutputPlane x output sizes */
    THCTensor *weight,  /* in: nOutputPlane x (nInputPlane / groups) x kernel sizes */
    THCTensor *bias,    /* in, optional: nOutputPlane */
    bool flip,          /* whether kernels are flipped in all dimensions, as in a convolution of mathematics */
    int groups,         /* planes are cut into so many groups, each with weights of its own */
    int dT,             /* stride in depth */
    int dH,             /* vertical stride */
    int dW,             /* horizontal stride */
    int padFront,       /* zeros added in front */
    int padTop,         /* zeros added at the top */
    int padLeft,        /* zeros added on the left */
    int padBack,        /* zeros added behind */
    int padBottom,      /* zeros added at the bottom */
    int padRight,       /* zeros added on the right */
    int dilationT,      /* distance of taps in depth */
    int dilationH,      /* distance of taps from top to bottom */
    int dilationW);     /* distance of taps from left to right */

/* Convolution of groups of planes, backward: the gradient with respect to the input. */
THC_API void THCUNN_(GroupedConvolution_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *gradOutput,  /* in: [batch x] nOutputPlane x output sizes */
    THCTensor *gradInput,   /* out: [batch x] nInputPlane x sizes; added to with `add`, and then not resized */
    THCTensor *weight,      /* in: nOutputPlane x (nInputPlane / groups) x kernel sizes */
    int64_t inputDepth,     /* depth of the input; unused in less than three dimensions */
    int64_t inputHeight,    /* height of the input; unused in one dimension */
    int64_t inputWidth,     /* width of the input */
    bool add,               /* whether the gradient is added to gradInput */
    bool flip,              /* whether kernels are flipped in all dimensions, as in a convolution of mathematics */
    int groups,             /* planes are cut into so many groups, each with weights of its own */
    int dT,                 /* stride in depth */
    int dH,                 /* vertical stride */
    int dW,                 /* horizontal stride */
    int padFront,           /* zeros added in front */
    int padTop,             /* zeros added at the top */
    int padLeft,            /* zeros added on the left */
    int padBack,            /* zeros added behind */
    int padBottom,          /* zeros added at the bottom */
    int padRight,           /* zeros added on the right */
    int dilationT,          /* distance of taps in depth */
    int dilationH,          /* distance of taps from top to bottom */
    int dilationW);         /* distance of taps from left to right */

/* Convolution of groups of planes, backward: adds scale times the gradients with respect to weight
 * and bias, as far as these are given. */
THC_API void THCUNN_(GroupedConvolution_accGradParameters)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] nInputPlane x sizes */
    THCTensor *gradOutput,  /* in: [batch x] nOutputPlane x output sizes */
    THCTensor *gradWeight,  /* accumulate, optional: nOutputPlane x (nInputPlane / groups) x kernel sizes */
    THCTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    int dimensions,         /* 1, 2 or 3: depth and height are unused in one dimension, depth in two */
    bool flip,              /* whether kernels are flipped in all dimensions, as in a convolution of mathematics */
    int groups,             /* planes are cut into so many groups, each with weights of its own */
    int dT,                 /* stride in depth */
    int dH,                 /* vertical stride */
    int dW,                 /* horizontal stride */
    int padFront,           /* zeros added in front */
    int padTop,             /* zeros added at the top */
    int padLeft,            /* zeros added on the left */
    int padBack,            /* zeros added behind */
    int padBottom,          /* zeros added at the bottom */
    int padRight,           /* zeros added on the right */
    int dilationT,          /* distance of taps in depth */
    int dilationH,          /* distance of taps from top to bottom */
    int dilationW,          /* distance of taps from left to right */
    accreal scale);         /* factor of what is added */

/* Full (transposed) convolution of groups of planes in one to three dimensions, which the weight
 * has: sizes are [[depth x] height x] width. Output sizes are (size - 1) stride - padding before -
 * padding after + dilation (kernel - 1) + 1, or more by less than the larger of stride and
 * dilation. */
THC_API void THCUNN_(GroupedFullConvolution_updateOutput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x sizes */
    THCTensor *output,     /* out: [batch x] nOutputPlane x output sizes */
    THCTensor *weight,     /* in: nInputPlane x (nOutputPlane / groups) x kernel sizes */
    THCTensor *bias,       /* in, optional: nOutputPlane */
    int64_t outputDepth,   /* depth of the output; unused in less than three dimensions */
    int64_t outputHeight,  /* height of the output; unused in one dimension */
    int64_t outputWidth,   /* width of the output */
    int groups,            /* planes are cut into so many groups, each with weights of its own */
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
THC_API void THCUNN_(GroupedFullConvolution_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *gradOutput,  /* in: [batch x] nOutputPlane x output sizes */
    THCTensor *gradInput,   /* out: [batch x] nInputPlane x sizes; added to with `add`, and then not resized */
    THCTensor *weight,      /* in: nInputPlane x (nOutputPlane / groups) x kernel sizes */
    int64_t inputDepth,     /* depth of the input; unused in less than three dimensions */
    int64_t inputHeight,    /* height of the input; unused in one dimension */
    int64_t inputWidth,     /* width of the input */
    bool add,               /* whether the gradient is added to gradInput */
    int groups,             /* planes are cut into so many groups, each with weights of its own */
    int dT,                 /* stride in depth */
    int dH,                 /* vertical stride */
    int dW,                 /* horizontal stride */
    int padFront,           /* slices cut off in front */
    int padTop,             /* rows cut off at the top */
    int padLeft,            /* columns cut off on the left */
    int padBack,            /* slices cut off behind */
    int padBottom,          /* rows cut off at the bottom */
    int padRight,           /* columns cut off on the right */
    int dilationT,          /* distance of taps in depth */
    int dilationH,          /* distance of taps from top to bottom */
    int dilationW);         /* distance of taps from left to right */

/* Full (transposed) convolution of groups of planes, backward: adds scale times the gradients with
 * respect to weight and bias, as far as these are given. */
THC_API void THCUNN_(GroupedFullConvolution_accGradParameters)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] nInputPlane x sizes */
    THCTensor *gradOutput,  /* in: [batch x] nOutputPlane x output sizes */
    THCTensor *gradWeight,  /* accumulate, optional: nInputPlane x (nOutputPlane / groups) x kernel sizes */
    THCTensor *gradBias,    /* accumulate, optional: nOutputPlane */
    int dimensions,         /* 1, 2 or 3: depth and height are unused in one dimension, depth in two */
    int groups,             /* planes are cut into so many groups, each with weights of its own */
    int dT,                 /* stride in depth */
    int dH,                 /* vertical stride */
    int dW,                 /* horizontal stride */
    int padFront,           /* slices cut off in front */
    int padTop,             /* rows cut off at the top */
    int padLeft,            /* columns cut off on the left */
    int padBack,            /* slices cut off behind */
    int padBottom,          /* rows cut off at the bottom */
    int padRight,           /* columns cut off on the right */
    int dilationT,          /* distance of taps in depth */
    int dilationH,          /* distance of taps from top to bottom */
    int dilationW,          /* distance of taps from left to right */
    accreal scale);         /* factor of what is added */
