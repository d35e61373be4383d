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

/* Full (transposed) 2-D convolution: each input pixel adds a kH x kW patch to every output plane;
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
