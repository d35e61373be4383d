/* The prototypes, once per real type: included by ../THCUNN.h. */

/* clang-format off: one argument and its comment per line */

/* ---- Pointwise ------------------------------------------------------------------------------ */

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
