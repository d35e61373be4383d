/* The prototypes, once per real type: included by ../THNN.h, which says what the roles mean, and
 * for CUDA by ../cuda/THCUNN.h. Lua Torch's cunn gives arguments of some functions other names or
 * types: those have prototypes of their own in ../cuda/generic/THCUNN.h, and THC_PROTOTYPES hides
 * these. */

/* One argument and its comment per line. */
/* clang-format off */

/* ---- Pointwise ------------------------------------------------------------------------------ */

/* Abs: output = |input|, element by element. */
THNN_API void THNN_(Abs_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *output); /* out: shape of input */

/* Abs, backward: gradInput = input >= 0 ? gradOutput : -gradOutput. */
THNN_API void THNN_(Abs_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape */
    THTensor *gradOutput, /* in: as many elements as input */
    THTensor *gradInput); /* out: shape of input */

/* ELU: output = input > 0 ? input : alpha (e^input - 1), element by element. */
THNN_API void THNN_(ELU_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: any shape; overwritten with the result when inplace */
    THTensor *output, /* out: shape of input; shares its storage when inplace */
    accreal alpha,    /* minus the limit far below zero */
    bool inplace);    /* work in input's storage */

/* ELU, backward: gradInput = output > 0 ? gradOutput : gradOutput (output + alpha). */
THNN_API void THNN_(ELU_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in, optional: as many elements as gradOutput; not read */
    THTensor *gradOutput, /* in: any shape; overwritten when inplace */
    THTensor *gradInput,  /* out: shape of output; shares gradOutput's storage when inplace */
    THTensor *output,     /* in: as many elements as gradOutput; of the forward call */
    accreal alpha,        /* as in the forward call */
    bool inplace);        /* work in gradOutput's storage */

/* Gated linear unit: output = first half of input * sigmoid(second half), along dimension dim. */
THNN_API void THNN_(GatedLinear_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: any shape, even in dimension dim */
    THTensor *output, /* out: shape of input, half the size in dimension dim */
    int dim);         /* the dimension that is halved, from 1 */

/* Gated linear unit, backward: sigmoid(second) gradOutput for the first half, and that times
 * (1 - sigmoid(second)) first for the second. */
THNN_API void THNN_(GatedLinear_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape, even in dimension dim */
    THTensor *gradOutput, /* in: half as many elements as input */
    THTensor *gradInput,  /* out: shape of input */
    int dim);             /* as in the forward call */

/* Hard shrinkage: output = input > lambda or input < -lambda ? input : 0. */
THNN_API void THNN_(HardShrink_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: any shape */
    THTensor *output, /* out: shape of input */
    accreal lambda);  /* values no farther from 0 become 0 */

/* Hard shrinkage, backward: gradInput = input > lambda or input < -lambda ? gradOutput : 0. */
THNN_API void THNN_(HardShrink_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape */
    THTensor *gradOutput, /* in: as many elements as input */
    THTensor *gradInput,  /* out: shape of input */
    accreal lambda);      /* as in the forward call */

/* HardTanh: output = input, but at least min_val and at most max_val. */
THNN_API void THNN_(HardTanh_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: any shape; overwritten with the result when inplace */
    THTensor *output, /* out: shape of input; shares its storage when inplace */
    accreal min_val,  /* the least result */
    accreal max_val,  /* the greatest result */
    bool inplace);    /* work in input's storage */

/* HardTanh, backward: gradInput = min_val < input < max_val ? gradOutput : 0. */
THNN_API void THNN_(HardTanh_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape */
    THTensor *gradOutput, /* in: as many elements as input; overwritten when inplace */
    THTensor *gradInput,  /* out: shape of input; shares gradOutput's storage when inplace */
    accreal min_val,      /* as in the forward call */
    accreal max_val,      /* as in the forward call */
    bool inplace);        /* work in gradOutput's storage */

/* LeakyReLU: output = input > 0 ? input : negval * input. */
THNN_API void THNN_(LeakyReLU_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: any shape; overwritten with the result when inplace */
    THTensor *output, /* out: shape of input; shares its storage when inplace */
    accreal negval,   /* slope below zero */
    bool inplace);    /* work in input's storage */

/* LeakyReLU, backward: gradInput = input > 0 ? gradOutput : negval * gradOutput. */
THNN_API void THNN_(LeakyReLU_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape; the output of the forward call serves when inplace */
    THTensor *gradOutput, /* in: as many elements as input; overwritten when inplace */
    THTensor *gradInput,  /* out: shape of input; shares gradOutput's storage when inplace */
    accreal negval,       /* as in the forward call; must not be negative when inplace */
    bool inplace);        /* work in gradOutput's storage */

/* LogSigmoid: output = log(1 / (1 + e^-input)). */
THNN_API void THNN_(LogSigmoid_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *output,  /* out: shape of input */
    THTensor *buffer); /* scratch, optional: unused */

/* LogSigmoid, backward: gradInput = gradOutput / (1 + e^input). */
THNN_API void THNN_(LogSigmoid_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape */
    THTensor *gradOutput, /* in: as many elements as input */
    THTensor *gradInput,  /* out: shape of gradOutput */
    THTensor *buffer);    /* scratch, optional: unused */

/* PReLU: output = input > 0 ? input : weight * input, with one weight for all or one per plane. */
THNN_API void THNN_(PReLU_updateOutput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: nOutputPlane, or batch x nOutputPlane [x ...]; any shape when nOutputPlane is 0 */
    THTensor *output,        /* out: shape of input */
    THTensor *weight,        /* in: nOutputPlane elements, or 1; those beyond are not read */
    THIndex_t nOutputPlane); /* planes; 0 for one weight shared by all elements */

/* PReLU, backward: gradInput = input > 0 ? gradOutput : weight * gradOutput. */
THNN_API void THNN_(PReLU_updateGradInput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: nOutputPlane, or batch x nOutputPlane [x ...]; any shape when nOutputPlane is 0 */
    THTensor *gradOutput,    /* in: as many elements as input */
    THTensor *gradInput,     /* out: shape of input */
    THTensor *weight,        /* in: nOutputPlane elements, or 1; those beyond are not read */
    THIndex_t nOutputPlane); /* planes; 0 for one weight shared by all elements */

/* PReLU, backward: adds scale times the gradient with respect to the weight, the sum of
 * input * gradOutput where input <= 0. */
THNN_API void THNN_(PReLU_accGradParameters)(
    THNNState *state,          /* may be NULL */
    THTensor *input,           /* in: nOutputPlane, or batch x nOutputPlane [x ...]; any shape when nOutputPlane is 0 */
    THTensor *gradOutput,      /* in: as many elements as input */
    THTensor *gradInput,       /* in, optional: unused */
    THTensor *weight,          /* in: any shape; not read */
    THTensor *gradWeight,      /* accumulate: nOutputPlane elements, or 1; those beyond stay */
    THTensor *gradWeightBuf,   /* scratch, optional: unused */
    THTensor *gradWeightBuf2,  /* scratch, optional: unused */
    THIndex_t nOutputPlane,    /* planes; 0 for one weight shared by all elements */
    accreal scale);            /* factor of what is added */

#ifndef THC_PROTOTYPES
/* RReLU: output = noise * input, where noise is 1 above zero and random in [lower, upper) below;
 * when not training, LeakyReLU with the mean of lower and upper. */
THNN_API void THNN_(RReLU_updateOutput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: any shape; overwritten with the result when inplace */
    THTensor *output,        /* out: shape of input; shares its storage when inplace */
    THTensor *noise,         /* out: shape of input; written only in training */
    accreal lower,           /* least slope below zero */
    accreal upper,           /* greatest slope below zero */
    bool train,              /* draw slopes */
    bool inplace,            /* work in input's storage */
    THGenerator *generator); /* source of the numbers, one per element that is not above zero */

/* RReLU, backward: gradInput = noise * gradOutput, or as LeakyReLU when not training. */
THNN_API void THNN_(RReLU_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: as many elements as gradOutput */
    THTensor *gradOutput, /* in: any shape; overwritten when inplace */
    THTensor *gradInput,  /* out: shape of gradOutput in training, else of input; shares gradOutput's storage when inplace */
    THTensor *noise,      /* in, optional: of the forward call, as many elements as input; read in training unless upper - lower is at most 1e-6 */
    accreal lower,        /* as in the forward call */
    accreal upper,        /* as in the forward call */
    bool train,           /* as in the forward call */
    bool inplace);        /* work in gradOutput's storage */
#endif

/* Logistic function: output = 1 / (1 + e^-input). */
THNN_API void THNN_(Sigmoid_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *output); /* out: shape of input */

/* Logistic function, backward: gradInput = gradOutput (1 - output) output. */
THNN_API void THNN_(Sigmoid_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in, optional: unused */
    THTensor *gradOutput, /* in: as many elements as output */
    THTensor *gradInput,  /* out: shape of output */
    THTensor *output);    /* in: any shape; of the forward call */

/* SoftPlus: output = log(1 + e^(beta input)) / beta, or input where beta input exceeds
 * threshold. */
THNN_API void THNN_(SoftPlus_updateOutput)(
    THNNState *state,   /* may be NULL */
    THTensor *input,    /* in: any shape */
    THTensor *output,   /* out: shape of input */
    accreal beta,       /* sharpness of the bend */
    accreal threshold); /* beta * input above which the result is the input */

/* SoftPlus, backward: gradInput = gradOutput (1 - e^(-beta output)), or gradOutput where beta
 * output exceeds threshold. */
THNN_API void THNN_(SoftPlus_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in, optional: as many elements as gradOutput; not read */
    THTensor *gradOutput, /* in: as many elements as output */
    THTensor *gradInput,  /* out: shape of output */
    THTensor *output,     /* in: any shape; of the forward call */
    accreal beta,         /* as in the forward call */
    accreal threshold);   /* as in the forward call */

/* Soft shrinkage: output = input moved by lambda towards 0, and 0 where it is no farther from
 * it. */
THNN_API void THNN_(SoftShrink_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: any shape */
    THTensor *output, /* out: shape of input */
    accreal lambda);  /* how far values move */

/* Soft shrinkage, backward: gradInput = input > lambda or input < -lambda ? gradOutput : 0. */
THNN_API void THNN_(SoftShrink_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape */
    THTensor *gradOutput, /* in: as many elements as input */
    THTensor *gradInput,  /* out: shape of input */
    accreal lambda);      /* as in the forward call */

/* Square root: output = sqrt(input). */
THNN_API void THNN_(Sqrt_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: any shape */
    THTensor *output, /* out: shape of input */
    accreal eps);     /* not read */

/* Square root, backward: gradInput = output == 0 ? 0 : gradOutput / (2 output). */
THNN_API void THNN_(Sqrt_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: as many elements as gradOutput; only its shape matters */
    THTensor *gradOutput, /* in: shape of output */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *output);    /* in: any shape; of the forward call */

/* Square: output = input^2. */
THNN_API void THNN_(Square_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *output); /* out: shape of input */

/* Square, backward: gradInput = 2 input gradOutput. */
THNN_API void THNN_(Square_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: any shape */
    THTensor *gradOutput, /* in: shape of input */
    THTensor *gradInput); /* out: shape of input */

/* Hyperbolic tangent: output = tanh(input). */
THNN_API void THNN_(Tanh_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *output); /* out: shape of input */

/* Hyperbolic tangent, backward: gradInput = gradOutput (1 - output^2). */
THNN_API void THNN_(Tanh_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in, optional: unused */
    THTensor *gradOutput, /* in: shape of output */
    THTensor *gradInput,  /* out: shape of output */
    THTensor *output);    /* in: any shape; of the forward call */

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

/* ---- Normalising ---------------------------------------------------------------------------- */

/* Softmax over the planes: output = e^input / sum of e^input, at each position. */
THNN_API void THNN_(SoftMax_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: [batch x] nPlane [x height x width] */
    THTensor *output); /* out: shape of input */

/* Softmax, backward: gradInput = output (gradOutput - sum of output gradOutput). */
THNN_API void THNN_(SoftMax_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in, optional: shape of gradOutput; not read */
    THTensor *gradOutput, /* in: at least as many elements as output; those beyond are not read */
    THTensor *gradInput,  /* out: shape of output */
    THTensor *output);    /* in: [batch x] nPlane [x height x width]; of the forward call */

/* Logarithm of the softmax over the planes: output = input - log(sum of e^input). */
THNN_API void THNN_(LogSoftMax_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: [batch x] nPlane [x height x width] */
    THTensor *output); /* out: shape of input */

/* Logarithm of the softmax, backward: gradInput = gradOutput - e^output * sum of gradOutput. */
THNN_API void THNN_(LogSoftMax_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in, optional: shape of gradOutput; not read */
    THTensor *gradOutput, /* in: at least as many elements as output; those beyond are not read */
    THTensor *gradInput,  /* out: shape of output */
    THTensor *output);    /* in: [batch x] nPlane [x height x width]; of the forward call */

#ifndef THC_PROTOTYPES
/* Batch normalisation: output = (input - mean) / sqrt(var + eps) * weight + bias, plane by plane,
 * with mean and variance of the batch in training and the running ones otherwise. */
THNN_API void THNN_(BatchNormalization_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: batch x nPlane [x ...] */
    THTensor *output,       /* out: shape of input */
    THTensor *weight,       /* in, optional: nPlane; without it the factor is 1 */
    THTensor *bias,         /* in, optional: nPlane; without it nothing is added */
    THTensor *running_mean, /* inout: nPlane; updated in training, read otherwise */
    THTensor *running_var,  /* inout: nPlane; updated in training (by n - 1), read otherwise */
    THTensor *save_mean,    /* out, optional: nPlane, not resized; the batch's, in training, where it is needed */
    THTensor *save_std,     /* out, optional: nPlane, not resized; 1 / sqrt(var + eps), in training, where it is needed */
    bool train,             /* normalise by the batch */
    double momentum,        /* share of the batch in the new running mean and variance */
    double eps);            /* added to the variance */

/* Batch normalisation, backward: the gradient with respect to the input, and adds scale times the
 * gradients with respect to weight and bias. */
THNN_API void THNN_(BatchNormalization_backward)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: batch x nPlane [x ...] */
    THTensor *gradOutput,   /* in: shape of input */
    THTensor *gradInput,    /* out, optional: shape of input */
    THTensor *gradWeight,   /* accumulate, optional: nPlane */
    THTensor *gradBias,     /* accumulate, optional: nPlane */
    THTensor *weight,       /* in, optional: nPlane */
    THTensor *running_mean, /* in, optional: nPlane; needed and read when not training */
    THTensor *running_var,  /* in, optional: nPlane; needed and read when not training */
    THTensor *save_mean,    /* in, optional: nPlane; needed and read in training */
    THTensor *save_std,     /* in, optional: nPlane; needed and read in training */
    bool train,             /* as in the forward call */
    double scale,           /* factor of what is added to gradWeight and gradBias */
    double eps);            /* as in the forward call */

/* Pooling over windows of neighbouring features by the p-norm: output =
 * (sum of input^power)^(1/power). */
THNN_API void THNN_(FeatureLPPooling_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] nFeature [x d1 [x d2]] */
    THTensor *output, /* out: the same with (nFeature - width) / stride + 1 features */
    accreal power,    /* p */
    int width,        /* features of a window: 2 to 16 */
    int stride,       /* features between windows: 1 to 4 */
    bool batchMode);  /* the first dimension is a batch */

/* Pooling over features by the p-norm, backward: gradInput = sum over the windows of
 * gradOutput (input / output)^(power - 1), or of 0 where output is 0. */
THNN_API void THNN_(FeatureLPPooling_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *gradOutput, /* in: shape of output */
    THTensor *input,      /* in: [batch x] nFeature [x d1 [x d2]] */
    THTensor *output,     /* in: [batch x] windows [x d1 [x d2]], of the forward call */
    THTensor *gradInput,  /* out: shape of input */
    accreal power,        /* as in the forward call */
    int width,            /* as in the forward call */
    int stride,           /* as in the forward call */
    bool batchMode);      /* as in the forward call */
#endif

/* ---- Criterions ----------------------------------------------------------------------------- */

/* Mean absolute error: output = sum of |input - target|, divided by the number of elements when
 * sizeAverage. */
THNN_API void THNN_(AbsCriterion_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *target,  /* in: as many elements as input */
    THTensor *output,  /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Mean absolute error, backward: gradInput = 1 where input >= target, else -1, divided by the
 * number of elements when sizeAverage. */
THNN_API void THNN_(AbsCriterion_updateGradInput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: any shape */
    THTensor *target,    /* in: as many elements as input */
    THTensor *gradInput, /* out: shape of input */
    bool sizeAverage);   /* divide by the number of elements */

/* Binary cross entropy: output = -sum of weights (target log input + (1 - target) log(1 - input)),
 * divided by the number of elements when sizeAverage. 1e-12 is added to what logarithms are taken
 * of. */
THNN_API void THNN_(BCECriterion_updateOutput)(
    THNNState *state,   /* may be NULL */
    THTensor *input,    /* in: any shape; values from 0 to 1, others are an error */
    THTensor *target,   /* in: as many elements as input */
    THTensor *output,   /* inout: one element; overwritten, not resized */
    bool sizeAverage,   /* divide by the number of elements */
    THTensor *weights); /* in, optional: as many elements as input; NULL means 1 for each */

/* Binary cross entropy, backward: gradInput = weights (input - target) / (input (1 - input)),
 * divided by the number of elements when sizeAverage. 1e-12 is added to both factors of the
 * divisor. */
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

/* Kullback-Leibler divergence: output = sum of target (log target - input) where target > 0,
 * divided by the number of elements when sizeAverage. */
THNN_API void THNN_(DistKLDivCriterion_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape; log probabilities */
    THTensor *target,  /* in: as many elements as input; probabilities */
    THTensor *output,  /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Kullback-Leibler divergence, backward: gradInput = -target where target > 0, else 0, divided by
 * the number of elements when sizeAverage. */
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
    accreal margin);  /* input * target from which there is no loss */

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

#ifndef THC_PROTOTYPES
/* Multi-label margin loss: per sample the sum over its targets t and the classes c that are no
 * targets of max(0, 1 - input[t] + input[c]), divided by the number of classes; output = the sum
 * over samples, divided by their number when sizeAverage. */
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
#endif

/* Multi-class margin loss: per sample weights[target] times the sum over the other classes c of
 * max(0, margin - input[target] + input[c])^p, divided by the number of classes; output = the sum
 * over samples, divided by their number when sizeAverage. */
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

/* Logistic loss of a two-class classifier: output = sum of log(1 + exp(-input * target)), divided
 * by the number of elements when sizeAverage. */
THNN_API void THNN_(SoftMarginCriterion_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: any shape */
    THTensor *target,  /* in: as many elements as input, 1 or -1 */
    THTensor *output,  /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Logistic loss, backward: gradInput = -target / (1 + exp(input * target)), divided by the number
 * of elements when sizeAverage. */
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

/* Linear layer: output = bias + weight * input. Nothing happens when input has neither one
 * dimension nor two. */
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

/* Linear layer, backward: gradWeight += scale * gradOutput * input^T, gradBias += scale *
 * gradOutput, summed over the batch. Nothing happens when input has neither one dimension nor
 * two. */
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

/* Linear layer over sparse rows: output = bias + sum over a sample's keys of value * the key's row
 * of weight, which is row key + keysOffset counted from 0. With four more columns in front weight
 * scales the values: see IndexLinear.c. */
THNN_API void THNN_(IndexLinear_updateOutput)(
    THNNState *state,            /* may be NULL */
    THIndexTensor *keys,         /* in: keys; those of all samples, one after the other */
    int64_t keysOffset,          /* what to add to a key to get its row */
    THTensor *values,            /* in: keys */
    THIndexTensor *sizes,        /* in: batch; number of keys of each sample */
    THIndexTensor *cumSumSizes,  /* in: any shape; unused */
    THTensor *output,            /* out: batch x outputs */
    THTensor *weight,            /* inout: rows x outputs, or rows x (4 + outputs); modified when it scales and train is not 0 */
    THTensor *bias,              /* in: outputs */
    THTensor *normalizedValues,  /* out: keys; the scaled values, left alone when weight does not scale */
    int train);                  /* not 0: keep the largest magnitudes of the values */

/* Linear layer over sparse rows, backward: overwrites gradWeight with one row per key, scale *
 * value * gradOutput, after scale * gradOutput when weight scales; gradBias += scale * gradOutput,
 * summed over the batch. */
THNN_API void THNN_(IndexLinear_accGradParameters)(
    THNNState *state,            /* may be NULL */
    THIndexTensor *keys,         /* in: keys; only their number matters */
    int64_t keysOffset,          /* unused */
    THTensor *values,            /* in: keys; the forward call's normalizedValues when weight scales */
    THIndexTensor *sizes,        /* in: batch; number of keys of each sample */
    THIndexTensor *cumSumSizes,  /* in, optional: unused */
    THTensor *gradOutput,        /* in: batch x outputs */
    THTensor *gradWeight,        /* out: keys x outputs, or keys x (2 * outputs) when weight scales */
    THTensor *gradBias,          /* accumulate: outputs */
    THTensor *weight,            /* in: rows x outputs, or rows x (4 + outputs); only its shape matters */
    THTensor *bias,              /* in: outputs; only its shape matters */
    THTensor *valuesBuffer,      /* scratch, optional: unused */
    accreal weightDecay,         /* unused */
    accreal scale);              /* factor of the gradients */

/* Linear layer over sparse rows, backward and update in one: for each key in order the row of
 * weight becomes (1 - weightDecay) * row - scale * value * gradOutput; bias -= scale * gradOutput,
 * summed over the batch. */
THNN_API void THNN_(IndexLinear_accUpdateGradParameters)(
    THNNState *state,            /* may be NULL */
    THIndexTensor *keys,         /* in: keys; those of all samples, one after the other */
    int64_t keysOffset,          /* what to add to a key to get its row */
    THTensor *values,            /* in: keys */
    THIndexTensor *sizes,        /* in: batch; number of keys of each sample */
    THIndexTensor *cumSumSizes,  /* in, optional: unused */
    THTensor *gradOutput,        /* in: batch x outputs */
    THTensor *weight,            /* inout: rows x outputs, or rows x (4 + outputs) */
    THTensor *bias,              /* inout: outputs */
    accreal weightDecay,         /* share of a row that each of its updates takes away */
    accreal scale);              /* learning rate */

/* Linear layer over sparse rows, update: row key of weight becomes (1 - weightDecay) * row -
 * learningRate * its row of gradWeight; bias -= learningRate * gradBias. */
THNN_API void THNN_(IndexLinear_updateParameters)(
    THNNState *state,            /* may be NULL */
    THTensor *gradWeight,        /* in: keys x outputs, or keys x (2 * outputs) when weight scales */
    THTensor *gradBias,          /* in: outputs */
    THTensor *weight,            /* inout: rows x outputs, or rows x (4 + outputs) */
    THTensor *bias,              /* inout: outputs */
    THIndexTensor *runningKeys,  /* in: keys; those of gradWeight's rows */
    THIndexTensor *cumSumSizes,  /* in, optional: unused */
    int64_t keysOffset,          /* what to add to a key to get its row */
    accreal weightDecay,         /* share of a row that its update takes away */
    accreal learningRate);       /* factor of the gradients */

#ifndef THC_PROTOTYPES
/* Lookup table, backward: gradWeight[index] += scale * gradOutput for each index, divided by how
 * often the index occurs when scaleGradByFreq. */
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
#endif

/* Lookup table: rows whose p-norm exceeds maxNorm are multiplied by maxNorm / (norm + 1e-7). */
THNN_API void THNN_(LookupTable_renorm)(
    THNNState *state,   /* may be NULL */
    THIndexTensor *idx, /* in: indices of rows; each row is looked at once */
    THTensor *weight,   /* inout: rows x columns */
    accreal maxNorm,    /* largest norm */
    accreal normType);  /* p, more than 0 */

/* Linear layer over sparse samples: output = bias + weight * sample. Samples and features count
 * from 1, entries of value 0 do not count. */
THNN_API void THNN_(SparseLinear_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: entries x 3; each (sample, feature, value), in any order */
    THTensor *output, /* inout: batch x outputs; overwritten, not resized */
    THTensor *weight, /* in: outputs x inputs */
    THTensor *bias);  /* in: outputs */

/* Linear layer over sparse samples, backward: gradWeight += scale * gradOutput * sample^T +
 * weightDecay * weight, gradBias += scale * gradOutput, summed over the batch. */
THNN_API void THNN_(SparseLinear_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: entries x 3; each (sample, feature, value), in any order */
    THTensor *gradOutput, /* in: batch x outputs */
    THTensor *gradWeight, /* accumulate: outputs x inputs */
    THTensor *gradBias,   /* accumulate: outputs */
    THTensor *weight,     /* in: outputs x inputs */
    THTensor *bias,       /* in, optional: unused */
    accreal weightDecay,  /* factor of weight, not multiplied by scale */
    accreal scale);       /* factor of what else is added */

/* Zeroes gradBias, and the columns of gradWeight for the features in lastInput. */
THNN_API void THNN_(SparseLinear_zeroGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *gradWeight, /* inout: outputs x inputs */
    THTensor *gradBias,   /* inout: outputs */
    THTensor *lastInput); /* in: entries x 3; each (sample, feature, value), in any order */

/* bias -= learningRate * gradBias, and likewise the columns of weight for the features in
 * lastInput, each once. */
THNN_API void THNN_(SparseLinear_updateParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *weight,      /* inout: outputs x inputs */
    THTensor *bias,        /* inout: outputs */
    THTensor *gradWeight,  /* in: outputs x inputs */
    THTensor *gradBias,    /* in: outputs */
    THTensor *lastInput,   /* in: entries x 3; each (sample, feature, value), in any order */
    accreal learningRate); /* factor of the gradients */

/* Linear layer over sparse samples: output = bias + weight * sample. Samples and features count
 * from 1, entries of value 0 do not count. Legacy form: as many entries for each sample. */
THNN_API void THNN_(SparseLinear_legacyUpdateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: batch x entries x 2; each (feature, value) */
    THTensor *output, /* out: batch x outputs */
    THTensor *weight, /* in: outputs x inputs */
    THTensor *bias);  /* in: outputs */

/* Linear layer over sparse samples, backward: gradWeight += scale * gradOutput * sample^T +
 * weightDecay * weight, gradBias += scale * gradOutput, summed over the batch. Legacy form. */
THNN_API void THNN_(SparseLinear_legacyAccGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: batch x entries x 2; each (feature, value) */
    THTensor *gradOutput, /* in: batch x outputs */
    THTensor *gradWeight, /* accumulate: outputs x inputs */
    THTensor *gradBias,   /* accumulate: outputs */
    THTensor *weight,     /* in: outputs x inputs */
    THTensor *bias,       /* in, optional: unused */
    accreal weightDecay,  /* factor of weight, not multiplied by scale */
    accreal scale);       /* factor of what else is added */

#ifndef THC_PROTOTYPES
/* Zeroes gradBias, and the columns of gradWeight for the features in lastInput. Legacy form. */
THNN_API void THNN_(SparseLinear_legacyZeroGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *gradWeight, /* inout: outputs x inputs */
    THTensor *gradBias,   /* inout: outputs */
    THTensor *lastInput); /* in: batch x entries x 2; each (feature, value) */

/* bias -= learningRate * gradBias, and likewise the columns of weight for the features in
 * lastInput, each once. Legacy form. */
THNN_API void THNN_(SparseLinear_legacyUpdateParameters)(
    THNNState *state,      /* may be NULL */
    THTensor *weight,      /* inout: outputs x inputs */
    THTensor *bias,        /* inout: outputs */
    THTensor *gradWeight,  /* in: outputs x inputs */
    THTensor *gradBias,    /* in: outputs */
    THTensor *lastInput,   /* in: batch x entries x 2; each (feature, value) */
    accreal learningRate); /* factor of the gradients */

/* ---- Recurrent ------------------------------------------------------------------------------- */

/* GRU cell, one step, given the products of its matrices, gates in the order r, z, n:
 * r = sigmoid(input_r + hidden_r + bias1_r + bias2_r), z likewise,
 * n = tanh(input_n + bias1_n + r (hidden_n + bias2_n)), output = n + z (hx - n). */
THNN_API void THNN_(GRUFused_updateOutput)(
    THNNState *state,   /* may be NULL */
    THTensor *input,    /* in: batch x (3 units); the weight's product with the cell's input */
    THTensor *hidden,   /* in: batch x (3 units); the weight's product with hx */
    THTensor *bias1,    /* in, optional: 3 units; of input */
    THTensor *bias2,    /* in, optional: 3 units; of hidden; NULL if and only if bias1 is */
    THTensor *hx,       /* in: batch x units; the state before */
    THTensor *output,   /* out: batch x units; the state after */
    THTensor *storage); /* out: batch x (5 units); for the backward call */
#endif

/* GRU cell, backward. */
THNN_API void THNN_(GRUFused_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *gradInInput,  /* out: batch x (3 units); with respect to input and bias1 */
    THTensor *gradInHidden, /* out: batch x (3 units); with respect to hidden and bias2 */
    THTensor *gradOutput,   /* in: batch x units */
    THTensor *gradInputHx,  /* out: batch x units; with respect to hx, products aside */
    THTensor *storage);     /* in: batch x (5 units); from the forward call */

#ifndef THC_PROTOTYPES
/* LSTM cell, one step, given the products of its matrices, gates in the order i, f, c, o:
 * i, f and o are sigmoid(input + hidden + bias1 + bias2), c is tanh(…);
 * outputCell = f cell + i c, output = o tanh(outputCell). */
THNN_API void THNN_(LSTMFused_updateOutput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* inout: batch x (4 units); the weight's product with the cell's input; becomes i, f, c, o */
    THTensor *hidden,      /* in: batch x (4 units); the weight's product with the output before */
    THTensor *bias1,       /* in, optional: 4 units; of input */
    THTensor *bias2,       /* in, optional: 4 units; of hidden; NULL if and only if bias1 is */
    THTensor *cell,        /* in: batch x units; the cell's state before */
    THTensor *output,      /* out: batch x units */
    THTensor *outputCell); /* out: batch x units; the cell's state after */

/* LSTM cell, backward. */
THNN_API void THNN_(LSTMFused_updateGradInput)(
    THNNState *state,         /* may be NULL */
    THTensor *storage,        /* in: batch x (4 units); i, f, c, o, which the forward call left in input */
    THTensor *gradInGates,    /* out: batch x (4 units); with respect to input, hidden, bias1 and bias2 */
    THTensor *cx,             /* in: batch x units; the cell's state before */
    THTensor *cy,             /* in: batch x units; the cell's state after */
    THTensor *gradOutput,     /* in: batch x units */
    THTensor *gradOutputCell, /* in: batch x units; with respect to outputCell */
    THTensor *gradInputCx);   /* out: batch x units; with respect to cell */
#endif

/* ---- Temporal convolutions ------------------------------------------------------------------- */

/* 1-D convolution over frames: output frame t is bias + weight * (the kW input frames that begin
 * with frame t dW); nOutputFrame is (nInputFrame - kW) / dW + 1, rounded down. */
THNN_API void THNN_(TemporalConvolution_updateOutput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputFrame x inputFrameSize */
    THTensor *output,     /* out: [batch x] nOutputFrame x outputFrameSize */
    THTensor *weight,     /* in: outputFrameSize x (kW inputFrameSize) */
    THTensor *bias,       /* in: outputFrameSize elements */
    int kW,               /* frames in a window */
    int dW,               /* frames from one window to the next */
    int inputFrameSize,   /* elements of an input frame */
    int outputFrameSize); /* elements of an output frame */

/* 1-D convolution over frames, backward: the gradient with respect to the input. */
THNN_API void THNN_(TemporalConvolution_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputFrame x inputFrameSize; only its shape matters */
    THTensor *gradOutput, /* in: [batch x] nOutputFrame x outputFrameSize */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *weight,     /* in: outputFrameSize x (kW inputFrameSize) */
    int kW,               /* frames in a window */
    int dW);              /* frames from one window to the next */

/* 1-D convolution over frames, backward: adds scale times the gradients with respect to weight and
 * bias. */
THNN_API void THNN_(TemporalConvolution_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputFrame x inputFrameSize */
    THTensor *gradOutput, /* in: [batch x] nOutputFrame x outputFrameSize */
    THTensor *gradWeight, /* accumulate: outputFrameSize x (kW inputFrameSize) */
    THTensor *gradBias,   /* accumulate: outputFrameSize elements */
    int kW,               /* frames in a window */
    int dW,               /* frames from one window to the next */
    accreal scale);       /* factor of what is added */

/* 1-D convolution over frames, feature by feature: each feature has a kernel of its own.
 * nOutputFrame is (nInputFrame + 2 padW - kW) / dW + 1, rounded down. With featFirst, features come
 * before frames in input and output. */
THNN_API void THNN_(TemporalRowConvolution_updateOutput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputFrame x nFeature */
    THTensor *output,     /* out: [batch x] nOutputFrame x nFeature */
    THTensor *weight,     /* in: nFeature x 1 x kW */
    THTensor *bias,       /* in, optional: nFeature */
    THTensor *finput,     /* scratch, optional: unused */
    THTensor *fgradInput, /* scratch, optional: unused */
    int kW,               /* frames in a window */
    int dW,               /* frames from one window to the next */
    int padW,             /* zero frames added before the first and after the last */
    bool featFirst);      /* features come before frames */

/* Feature-wise 1-D convolution over frames, backward: the gradient with respect to the input. */
THNN_API void THNN_(TemporalRowConvolution_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputFrame x nFeature; only its shape matters */
    THTensor *gradOutput, /* in: [batch x] nOutputFrame x nFeature */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *weight,     /* in: nFeature x 1 x kW */
    THTensor *finput,     /* scratch, optional: unused */
    THTensor *fgradInput, /* scratch, optional: unused */
    int kW,               /* frames in a window */
    int dW,               /* frames from one window to the next */
    int padW,             /* zero frames added before the first and after the last */
    bool featFirst);      /* features come before frames */

/* Feature-wise 1-D convolution over frames, backward: adds scale times the gradients with respect
 * to weight and bias. */
THNN_API void THNN_(TemporalRowConvolution_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputFrame x nFeature */
    THTensor *gradOutput, /* in: [batch x] nOutputFrame x nFeature */
    THTensor *gradWeight, /* accumulate: nFeature x 1 x kW */
    THTensor *gradBias,   /* accumulate, optional: nFeature */
    THTensor *finput,     /* scratch, optional: unused */
    THTensor *fgradInput, /* scratch, optional: unused */
    int kW,               /* frames in a window */
    int dW,               /* frames from one window to the next */
    int padW,             /* zero frames added before the first and after the last */
    bool featFirst,       /* features come before frames */
    accreal scale);       /* factor of what is added */

/* ---- Spatial convolutions ------------------------------------------------------------------- */

#ifndef THC_PROTOTYPES
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
#endif

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

/* Full 2-D convolution, backward: adds scale times the gradients with respect to weight and
 * bias. */
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

#ifndef THC_PROTOTYPES
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

/* 2-D convolution plane by plane: output plane c multiplier + m is input plane c convolved with
 * weight[m][c], plus bias[m][c]. nOutputPlane is nInputPlane multiplier; outputHeight is
 * (height + 2 padH - kH) / dH + 1, rounded down, and outputWidth likewise. */
THNN_API void THNN_(SpatialDepthWiseConvolution_updateOutput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THTensor *output,     /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *weight,     /* in: multiplier x nInputPlane x kH x kW, or with the last three in one */
    THTensor *bias,       /* in, optional: multiplier x nInputPlane */
    THTensor *finput,     /* scratch, optional: unused */
    THTensor *fgradInput, /* scratch, optional: unused */
    int kW,               /* kernel width */
    int kH,               /* kernel height */
    int dW,               /* horizontal stride */
    int dH,               /* vertical stride */
    int padW,             /* zeros added on the left and on the right */
    int padH);            /* zeros added at the top and at the bottom */

/* 2-D convolution plane by plane, backward: the gradient with respect to the input. */
THNN_API void THNN_(SpatialDepthWiseConvolution_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *weight,     /* in: multiplier x nInputPlane x kH x kW, or with the last three in one */
    THTensor *finput,     /* scratch, optional: unused */
    THTensor *fgradInput, /* scratch, optional: unused */
    int kW,               /* kernel width */
    int kH,               /* kernel height */
    int dW,               /* horizontal stride */
    int dH,               /* vertical stride */
    int padW,             /* zeros added on the left and on the right */
    int padH);            /* zeros added at the top and at the bottom */

/* 2-D convolution plane by plane, backward: adds scale times the gradients with respect to weight
 * and bias. */
THNN_API void THNN_(SpatialDepthWiseConvolution_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradWeight, /* accumulate: multiplier x nInputPlane x kH x kW, or with the last three in one */
    THTensor *gradBias,   /* accumulate, optional: multiplier x nInputPlane */
    THTensor *finput,     /* scratch, optional: unused */
    THTensor *fgradInput, /* scratch, optional: unused */
    int kW,               /* kernel width */
    int kH,               /* kernel height */
    int dW,               /* horizontal stride */
    int dH,               /* vertical stride */
    int padW,             /* zeros added on the left and on the right */
    int padH,             /* zeros added at the top and at the bottom */
    accreal scale);       /* factor of what is added */
#endif

/* 2-D convolution without weight sharing: each output position has kernels and biases of its
 * own. */
THNN_API void THNN_(SpatialConvolutionLocal_updateOutput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x inputHeight x inputWidth */
    THTensor *output,      /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *weight,      /* in: outputHeight x outputWidth x nOutputPlane x nInputPlane x kH x kW, or with the first two and the last three in one */
    THTensor *bias,        /* in: nOutputPlane x outputHeight x outputWidth */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int padW,              /* zeros added on the left and on the right */
    int padH,              /* zeros added at the top and at the bottom */
    int64_t inputWidth,    /* width of input */
    int64_t inputHeight,   /* height of input */
    int64_t outputWidth,   /* width of output */
    int64_t outputHeight); /* height of output */

/* 2-D convolution without weight sharing, backward: the gradient with respect to the input. */
THNN_API void THNN_(SpatialConvolutionLocal_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: [batch x] nInputPlane x inputHeight x inputWidth; only its shape matters */
    THTensor *gradOutput,  /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradInput,   /* out: shape of input */
    THTensor *weight,      /* in: outputHeight x outputWidth x nOutputPlane x nInputPlane x kH x kW, or with the first two and the last three in one */
    THTensor *finput,      /* scratch, optional: unused */
    THTensor *fgradInput,  /* scratch, optional: unused */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int padW,              /* zeros added on the left and on the right */
    int padH,              /* zeros added at the top and at the bottom */
    int64_t inputWidth,    /* width of input */
    int64_t inputHeight,   /* height of input */
    int64_t outputWidth,   /* width of output */
    int64_t outputHeight); /* height of output */

/* 2-D convolution without weight sharing, backward: adds scale times the gradients with respect to
 * weight and bias. */
THNN_API void THNN_(SpatialConvolutionLocal_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x inputHeight x inputWidth */
    THTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradWeight, /* accumulate: outputHeight x outputWidth x nOutputPlane x nInputPlane x kH x kW, or with the first two and the last three in one */
    THTensor *gradBias,   /* accumulate: nOutputPlane x outputHeight x outputWidth */
    THTensor *finput,     /* scratch, optional: unused */
    THTensor *fgradInput, /* scratch, optional: unused */
    int kW,               /* kernel width */
    int kH,               /* kernel height */
    int dW,               /* horizontal stride */
    int dH,               /* vertical stride */
    int padW,             /* zeros added on the left and on the right */
    int padH,             /* zeros added at the top and at the bottom */
    int64_t inputWidth,   /* width of input */
    int64_t inputHeight,  /* height of input */
    int64_t outputWidth,  /* width of output */
    int64_t outputHeight, /* height of output */
    accreal scale);       /* factor of what is added */

/* 2-D convolution in which a table says which planes are joined: an output plane is its bias plus
 * the input planes connected to it, each convolved with the connection's kernel. outputHeight is
 * (height - kH) / dH + 1, rounded down, and outputWidth likewise. */
THNN_API void THNN_(SpatialConvolutionMap_updateOutput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: [batch x] nInputPlane x height x width */
    THTensor *output,    /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *weight,    /* in: connections x kH x kW */
    THTensor *bias,      /* in: nOutputPlane */
    THTensor *connTable, /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,     /* input planes that connTable may name */
    int nOutputPlane,    /* planes of output */
    int dW,              /* horizontal stride */
    int dH);             /* vertical stride */

/* 2-D convolution by a connection table, backward: the gradient with respect to the input. */
THNN_API void THNN_(SpatialConvolutionMap_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x height x width; only its shape matters */
    THTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *weight,     /* in: connections x kH x kW */
    THTensor *bias,       /* in, optional: unused */
    THTensor *connTable,  /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,      /* input planes that connTable may name */
    int nOutputPlane,     /* planes of output */
    int dW,               /* horizontal stride */
    int dH);              /* vertical stride */

/* 2-D convolution by a connection table, backward: adds scale times the gradients with respect to
 * weight and bias. */
THNN_API void THNN_(SpatialConvolutionMap_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THTensor *gradWeight, /* accumulate: connections x kH x kW */
    THTensor *gradBias,   /* accumulate: nOutputPlane */
    THTensor *connTable,  /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,      /* input planes that connTable may name */
    int nOutputPlane,     /* planes of output */
    int dW,               /* horizontal stride */
    int dH,               /* vertical stride */
    accreal scale);       /* factor of what is added */

/* 2-D full (transposed) convolution in which a table says which planes are joined: each input
 * element paints its connections' kernels into the output. outputHeight is (height - 1) dH + kH,
 * and outputWidth likewise. */
THNN_API void THNN_(SpatialFullConvolutionMap_updateOutput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: nInputPlane x height x width */
    THTensor *output,    /* out: nOutputPlane x outputHeight x outputWidth */
    THTensor *weight,    /* in: connections x kH x kW */
    THTensor *bias,      /* in: nOutputPlane */
    THTensor *connTable, /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,     /* input planes that connTable may name */
    int nOutputPlane,    /* planes of output */
    int dW,              /* horizontal stride */
    int dH);             /* vertical stride */

/* 2-D full convolution by a connection table, backward: the gradient with respect to the input. */
THNN_API void THNN_(SpatialFullConvolutionMap_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: nInputPlane x height x width; only its shape matters */
    THTensor *gradOutput, /* in: nOutputPlane x outputHeight x outputWidth */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *weight,     /* in: connections x kH x kW */
    THTensor *bias,       /* in, optional: unused */
    THTensor *connTable,  /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,      /* input planes that connTable may name */
    int nOutputPlane,     /* planes of output */
    int dW,               /* horizontal stride */
    int dH);              /* vertical stride */

/* 2-D full convolution by a connection table, backward: adds scale times the gradients with respect
 * to weight and bias. */
THNN_API void THNN_(SpatialFullConvolutionMap_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: nInputPlane x height x width */
    THTensor *gradOutput, /* in: nOutputPlane x outputHeight x outputWidth */
    THTensor *gradWeight, /* accumulate: connections x kH x kW */
    THTensor *gradBias,   /* accumulate: nOutputPlane */
    THTensor *connTable,  /* in: connections x 2 (input plane, output plane; from 1) */
    int nInputPlane,      /* input planes that connTable may name */
    int nOutputPlane,     /* planes of output */
    int dW,               /* horizontal stride */
    int dH,               /* vertical stride */
    accreal scale);       /* factor of what is added */

/* ---- Volumetric convolutions ---------------------------------------------------------------- */

#ifndef THC_PROTOTYPES
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
#endif

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

#ifndef THC_PROTOTYPES
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
#endif

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

#ifndef THC_PROTOTYPES
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
#endif

/* ---- Temporal pooling ------------------------------------------------------------------------ */

/* Max pooling over time: output is the greatest of kW frames, column by column; nOutputFrame is
 * (nInputFrame - kW)/dW + 1, rounded down. */
THNN_API void THNN_(TemporalMaxPooling_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] nInputFrame x frameSize */
    THTensor *output,       /* out: [batch x] nOutputFrame x frameSize */
    THIndexTensor *indices, /* out: shape of output; frame in the window, from 0, or -1 for none */
    int kW,                 /* frames of a window */
    int dW);                /* distance of windows in frames */

/* Max pooling over time, backward: each gradient goes to the element that was chosen. */
THNN_API void THNN_(TemporalMaxPooling_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] nInputFrame x frameSize */
    THTensor *gradOutput,   /* in: [batch x] nOutputFrame x frameSize */
    THTensor *gradInput,    /* out: shape of input */
    THIndexTensor *indices, /* in: shape of gradOutput; as left by the forward call */
    int kW,                 /* as in the forward call */
    int dW);                /* as in the forward call */

/* Subsampling over time: output = weight * sum of kW frames + bias, column by column; nOutputFrame
 * is (nInputFrame - kW)/dW + 1, rounded down. */
THNN_API void THNN_(TemporalSubSampling_updateOutput)(
    THNNState *state,    /* may be NULL */
    THTensor *input,     /* in: nInputFrame x inputFrameSize */
    THTensor *output,    /* out: nOutputFrame x inputFrameSize */
    THTensor *weight,    /* in: inputFrameSize */
    THTensor *bias,      /* in: inputFrameSize */
    int kW,              /* frames of a window */
    int dW,              /* distance of windows in frames */
    int inputFrameSize); /* columns of input */

/* Subsampling over time, backward: each gradient goes to the kW frames of its window, times
 * weight. */
THNN_API void THNN_(TemporalSubSampling_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: nInputFrame x inputFrameSize */
    THTensor *gradOutput, /* in: nOutputFrame x inputFrameSize */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *weight,     /* in: inputFrameSize */
    int kW,               /* as in the forward call */
    int dW);              /* as in the forward call */

/* Subsampling over time, parameters: gradWeight += scale * sum of gradOutput times window sum,
 * gradBias += scale * sum of gradOutput. */
THNN_API void THNN_(TemporalSubSampling_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: nInputFrame x inputFrameSize */
    THTensor *gradOutput, /* in: nOutputFrame x inputFrameSize */
    THTensor *gradWeight, /* accumulate: inputFrameSize */
    THTensor *gradBias,   /* accumulate: inputFrameSize */
    int kW,               /* as in the forward call */
    int dW,               /* as in the forward call */
    accreal scale);       /* factor of what is added */

/* ---- Spatial pooling ------------------------------------------------------------------------- */

/* 2-D max pooling: output is the greatest element of each kH x kW window, the first of equals;
 * outputHeight is (height + 2 padH - kH)/dH + 1, rounded down, or up with ceil_mode. */
THNN_API void THNN_(SpatialMaxPooling_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x height x width */
    THTensor *output,       /* out: [batch x] planes x outputHeight x outputWidth */
    THIndexTensor *indices, /* out: shape of output; element of the plane, from 1; 0 for none */
    int kW,                 /* width of a window */
    int kH,                 /* height of a window */
    int dW,                 /* horizontal distance of windows */
    int dH,                 /* vertical distance of windows */
    int padW,               /* columns of padding on the left and on the right; at most kW/2 */
    int padH,               /* rows of padding at the top and at the bottom; at most kH/2 */
    bool ceil_mode);        /* a last window that is cut off counts as well */

/* 2-D max pooling, backward: each gradient goes to the element that was chosen. */
THNN_API void THNN_(SpatialMaxPooling_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x height x width */
    THTensor *gradOutput,   /* in: [batch x] planes x outputHeight x outputWidth */
    THTensor *gradInput,    /* out: shape of input */
    THIndexTensor *indices, /* in: shape of gradOutput; as left by the forward call */
    int kW,                 /* as in the forward call, like the rest */
    int kH,                 /* height of a window */
    int dW,                 /* horizontal distance of windows */
    int dH,                 /* vertical distance of windows */
    int padW,               /* columns of padding on either side */
    int padH,               /* rows of padding on either side */
    bool ceil_mode);        /* a last window that is cut off counts as well */

/* 2-D max pooling over windows with gaps: the kH x kW elements of a window lie dilationH rows and
 * dilationW columns apart. */
THNN_API void THNN_(SpatialDilatedMaxPooling_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x height x width */
    THTensor *output,       /* out: [batch x] planes x outputHeight x outputWidth */
    THIndexTensor *indices, /* out: shape of output; element of the plane, from 1; 0 for none */
    int kW,                 /* width of a window */
    int kH,                 /* height of a window */
    int dW,                 /* horizontal distance of windows */
    int dH,                 /* vertical distance of windows */
    int padW,               /* columns of padding on the left and on the right; at most kW/2 */
    int padH,               /* rows of padding at the top and at the bottom; at most kH/2 */
    int dilationW,          /* horizontal distance of the elements of a window */
    int dilationH,          /* vertical distance of the elements of a window */
    bool ceil_mode);        /* a last window that is cut off counts as well */

/* 2-D max pooling over windows with gaps, backward: each gradient goes to the element that was
 * chosen. */
THNN_API void THNN_(SpatialDilatedMaxPooling_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x height x width */
    THTensor *gradOutput,   /* in: [batch x] planes x outputHeight x outputWidth */
    THTensor *gradInput,    /* out: shape of input */
    THIndexTensor *indices, /* in: shape of gradOutput; as left by the forward call */
    int kW,                 /* as in the forward call, like the rest */
    int kH,                 /* height of a window */
    int dW,                 /* horizontal distance of windows */
    int dH,                 /* vertical distance of windows */
    int padW,               /* columns of padding on either side */
    int padH,               /* rows of padding on either side */
    int dilationW,          /* horizontal distance of the elements of a window */
    int dilationH,          /* vertical distance of the elements of a window */
    bool ceil_mode);        /* a last window that is cut off counts as well */

/* 2-D average pooling: output is the mean of each kH x kW window; outputHeight is (height + 2 padH
 * - kH)/dH + 1, rounded down, or up with ceil_mode. */
THNN_API void THNN_(SpatialAveragePooling_updateOutput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: [batch x] planes x height x width */
    THTensor *output,        /* out: [batch x] planes x outputHeight x outputWidth */
    int kW,                  /* width of a window */
    int kH,                  /* height of a window */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padW,                /* columns of padding on the left and on the right; at most kW/2 */
    int padH,                /* rows of padding at the top and at the bottom; at most kH/2 */
    bool ceil_mode,          /* a last window that is cut off counts as well */
    bool count_include_pad); /* elements in the padding count as zeros; otherwise not at all */

/* 2-D average pooling, backward: each gradient goes to the elements of its window in equal
 * shares. */
THNN_API void THNN_(SpatialAveragePooling_updateGradInput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: [batch x] planes x height x width */
    THTensor *gradOutput,    /* in: [batch x] planes x outputHeight x outputWidth */
    THTensor *gradInput,     /* out: shape of input */
    int kW,                  /* as in the forward call, like the rest */
    int kH,                  /* height of a window */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padW,                /* columns of padding on either side */
    int padH,                /* rows of padding on either side */
    bool ceil_mode,          /* a last window that is cut off counts as well */
    bool count_include_pad); /* elements in the padding count as zeros; otherwise not at all */

#ifndef THC_PROTOTYPES
/* 2-D max pooling to a given output size: output row y is taken over the input rows from
 * y*height/oheight, rounded down, up to (y + 1)*height/oheight, rounded up; columns likewise. */
THNN_API void THNN_(SpatialAdaptiveMaxPooling_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x height x width */
    THTensor *output,       /* out: [batch x] planes x oheight x owidth */
    THIndexTensor *indices, /* out: 2 x shape of output; row, column in the region, from 1, or 0 */
    int owidth,             /* columns of output */
    int oheight);           /* rows of output */
#endif

/* 2-D max pooling to a given output size, backward: each gradient goes to the element that was
 * chosen. */
THNN_API void THNN_(SpatialAdaptiveMaxPooling_updateGradInput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: [batch x] planes x height x width */
    THTensor *gradOutput,    /* in: [batch x] planes x oheight x owidth */
    THTensor *gradInput,     /* out: shape of input */
    THIndexTensor *indices); /* in: 2 x shape of gradOutput; as left by the forward call */

#ifndef THC_PROTOTYPES
/* 2-D average pooling to a given output size: output row y is taken over the input rows from
 * y*height/oheight, rounded down, up to (y + 1)*height/oheight, rounded up; columns likewise. */
THNN_API void THNN_(SpatialAdaptiveAveragePooling_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] planes x height x width */
    THTensor *output, /* out: [batch x] planes x oheight x owidth */
    int owidth,       /* columns of output */
    int oheight);     /* rows of output */
#endif

/* 2-D average pooling to a given output size, backward: each gradient goes to the elements of its
 * region in equal shares. */
THNN_API void THNN_(SpatialAdaptiveAveragePooling_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] planes x height x width */
    THTensor *gradOutput, /* in: [batch x] planes x oheight x owidth */
    THTensor *gradInput); /* out: shape of input */

/* 2-D max pooling over regions of poolSizeH x poolSizeW elements at pseudo-random places: with
 * random number u, region i of n begins at floor((i + u)*step) - floor(u*step), where step is
 * (size - poolSize)/(n - 1); the last one ends with the input. */
THNN_API void THNN_(SpatialFractionalMaxPooling_updateOutput)(
    THNNState *state,         /* may be NULL */
    THTensor *input,          /* in: [batch x] planes x height x width */
    THTensor *output,         /* out: [batch x] planes x outputH x outputW */
    int outputW,              /* columns of output */
    int outputH,              /* rows of output; at most height - poolSizeH */
    int poolSizeW,            /* width of a region */
    int poolSizeH,            /* height of a region */
    THIndexTensor *indices,   /* out: shape of output; element of the plane, from 1; 0 for none */
    THTensor *randomSamples); /* in: batch x planes x 2; from 0 to 1: for columns, for rows */

/* 2-D fractional max pooling, backward: each gradient goes to the element that was chosen. */
THNN_API void THNN_(SpatialFractionalMaxPooling_updateGradInput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: [batch x] planes x height x width */
    THTensor *gradOutput,    /* in: [batch x] planes x outputH x outputW */
    THTensor *gradInput,     /* out: shape of input */
    int outputW,             /* columns of gradOutput */
    int outputH,             /* rows of gradOutput */
    int poolSizeW,           /* unused */
    int poolSizeH,           /* unused */
    THIndexTensor *indices); /* in: shape of gradOutput; as left by the forward call */

/* 2-D max unpooling: each value goes to the element that its index names, of several the last; 0
 * elsewhere. */
THNN_API void THNN_(SpatialMaxUnpooling_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x height x width */
    THTensor *output,       /* out: [batch x] planes x oheight x owidth */
    THIndexTensor *indices, /* in: shape of input; element of the output plane, from 1 */
    int owidth,             /* columns of output */
    int oheight);           /* rows of output */

/* 2-D max unpooling, backward: gradInput is the gradient of the element that the index names. */
THNN_API void THNN_(SpatialMaxUnpooling_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x height x width */
    THTensor *gradOutput,   /* in: [batch x] planes x oheight x owidth */
    THTensor *gradInput,    /* out: shape of input */
    THIndexTensor *indices, /* in: shape of input; as in the forward call */
    int owidth,             /* columns of gradOutput */
    int oheight);           /* rows of gradOutput */

/* 2-D subsampling: output = weight * sum of each kH x kW window + bias, plane by plane;
 * outputHeight is (height - kH)/dH + 1, rounded down. */
THNN_API void THNN_(SpatialSubSampling_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] nInputPlane x height x width */
    THTensor *output, /* out: [batch x] nInputPlane x outputHeight x outputWidth */
    THTensor *weight, /* in: nInputPlane */
    THTensor *bias,   /* in: nInputPlane */
    int kW,           /* width of a window */
    int kH,           /* height of a window */
    int dW,           /* horizontal distance of windows */
    int dH);          /* vertical distance of windows */

/* 2-D subsampling, backward: each gradient goes to the elements of its window, times weight. */
THNN_API void THNN_(SpatialSubSampling_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THTensor *gradOutput, /* in: [batch x] nInputPlane x outputHeight x outputWidth */
    THTensor *gradInput,  /* out: shape of input */
    THTensor *weight,     /* in: nInputPlane */
    int kW,               /* width of a window */
    int kH,               /* height of a window */
    int dW,               /* horizontal distance of windows */
    int dH);              /* vertical distance of windows */

/* 2-D subsampling, parameters: gradWeight += scale * sum of gradOutput times window sum, gradBias
 * += scale * sum of gradOutput. */
THNN_API void THNN_(SpatialSubSampling_accGradParameters)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THTensor *gradOutput, /* in: [batch x] nInputPlane x outputHeight x outputWidth */
    THTensor *gradWeight, /* accumulate: nInputPlane */
    THTensor *gradBias,   /* accumulate: nInputPlane */
    int kW,               /* width of a window */
    int kH,               /* height of a window */
    int dW,               /* horizontal distance of windows */
    int dH,               /* vertical distance of windows */
    accreal scale);       /* factor of what is added */

/* ---- Spatial sampling and padding ------------------------------------------------------------ */

/* 2-D nearest-neighbour upsampling: each element becomes a square of scale_factor x
 * scale_factor. */
THNN_API void THNN_(SpatialUpSamplingNearest_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: [batch x] planes x height x width */
    THTensor *output,  /* out: [batch x] planes x height*scale_factor x width*scale_factor */
    int scale_factor); /* 2 or more */

/* 2-D nearest-neighbour upsampling, backward: the sum of the gradients in each square. */
THNN_API void THNN_(SpatialUpSamplingNearest_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] planes x height x width */
    THTensor *gradOutput, /* in: [batch x] planes x height*scale_factor x width*scale_factor */
    THTensor *gradInput,  /* out: shape of input */
    int scale_factor);    /* as in the forward call */

/* Bilinear resampling of planes. The corners of input and output coincide: output row y lies at y
 * (height - 1)/(outputHeight - 1). */
THNN_API void THNN_(SpatialUpSamplingBilinear_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: batch x planes x height x width */
    THTensor *output, /* out: batch x planes x outputHeight x outputWidth */
    int outputHeight, /* rows of the output */
    int outputWidth); /* columns of the output */

/* Bilinear resampling of planes, backward: each gradient goes to the four elements that its output
 * element lay between, in the same shares. */
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

/* Samples planes at the points of a grid: the weighted mean of the four elements around a point, 0
 * outside the input. */
THNN_API void THNN_(SpatialGridSamplerBilinear_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: batch x planes x inputHeight x inputWidth */
    THTensor *grid,    /* in: batch x height x width x 2; x and y, -1 and 1 at the corners */
    THTensor *output); /* out: batch x planes x height x width */

/* Samples planes at the points of a grid, backward: gradients of the input and of the grid. */
THNN_API void THNN_(SpatialGridSamplerBilinear_updateGradInput)(
    THNNState *state,      /* may be NULL */
    THTensor *input,       /* in: batch x planes x inputHeight x inputWidth */
    THTensor *gradInput,   /* out: shape of input */
    THTensor *grid,        /* in: batch x height x width x 2 */
    THTensor *gradGrid,    /* out: shape of grid */
    THTensor *gradOutput); /* in: batch x planes x height x width */

#ifndef THC_PROTOTYPES
/* 2-D padding by reflection: the input goes on mirrored at its first and last row and column,
 * which are not repeated; a padding is less than the size. */
THNN_API void THNN_(SpatialReflectionPadding_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] planes x height x width */
    THTensor *output, /* out: [batch x] planes x height + pad_t + pad_b x width + pad_l + pad_r */
    int pad_l,        /* columns added on the left; negative: cut off */
    int pad_r,        /* columns added on the right; negative: cut off */
    int pad_t,        /* rows added at the top; negative: cut off */
    int pad_b);       /* rows added at the bottom; negative: cut off */

/* 2-D padding by reflection, backward: the sum of the gradients of all elements that show an input
 * element. */
THNN_API void THNN_(SpatialReflectionPadding_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] planes x height x width */
    THTensor *gradOutput, /* in: shape of the forward call's output */
    THTensor *gradInput,  /* out: shape of input */
    int pad_l,            /* columns added on the left; negative: cut off */
    int pad_r,            /* columns added on the right; negative: cut off */
    int pad_t,            /* rows added at the top; negative: cut off */
    int pad_b);           /* rows added at the bottom; negative: cut off */

/* 2-D padding by replication: the first and the last row and column go on for ever. */
THNN_API void THNN_(SpatialReplicationPadding_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] planes x height x width */
    THTensor *output, /* out: [batch x] planes x height + pad_t + pad_b x width + pad_l + pad_r */
    int pad_l,        /* columns added on the left; negative: cut off */
    int pad_r,        /* columns added on the right; negative: cut off */
    int pad_t,        /* rows added at the top; negative: cut off */
    int pad_b);       /* rows added at the bottom; negative: cut off */

/* 2-D padding by replication, backward: the sum of the gradients of all elements that show an
 * input element. */
THNN_API void THNN_(SpatialReplicationPadding_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] planes x height x width */
    THTensor *gradOutput, /* in: shape of the forward call's output */
    THTensor *gradInput,  /* out: shape of input */
    int pad_l,            /* columns added on the left; negative: cut off */
    int pad_r,            /* columns added on the right; negative: cut off */
    int pad_t,            /* rows added at the top; negative: cut off */
    int pad_b);           /* rows added at the bottom; negative: cut off */

/* ---- Volumetric pooling ---------------------------------------------------------------------- */

/* 3-D max pooling: output is the greatest element of each kT x kH x kW window, the first of
 * equals; outputDepth is (depth + 2 pT - kT)/dT + 1, rounded down, or up with ceilMode. */
THNN_API void THNN_(VolumetricMaxPooling_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x depth x height x width */
    THTensor *output,       /* out: [batch x] planes x outputDepth x outputHeight x outputWidth */
    THIndexTensor *indices, /* out: shape of output; bytes 0, 1, 2: offsets t, h, w in the window */
    int kT,                 /* depth of a window */
    int kW,                 /* width of a window */
    int kH,                 /* height of a window */
    int dT,                 /* distance of windows in depth */
    int dW,                 /* horizontal distance of windows */
    int dH,                 /* vertical distance of windows */
    int pT,                 /* slices of padding on either side; at most kT/2 */
    int pW,                 /* columns of padding on either side; at most kW/2 */
    int pH,                 /* rows of padding on either side; at most kH/2 */
    bool ceilMode);         /* a last window that is cut off counts as well */

/* 3-D max pooling, backward: each gradient goes to the element that was chosen. */
THNN_API void THNN_(VolumetricMaxPooling_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x depth x height x width */
    THTensor *gradOutput,   /* in: [batch x] planes x outputDepth x outputHeight x outputWidth */
    THTensor *gradInput,    /* out: shape of input */
    THIndexTensor *indices, /* in: shape of gradOutput; as left by the forward call */
    int kT,                 /* depth of a window */
    int kW,                 /* width of a window */
    int kH,                 /* height of a window */
    int dT,                 /* distance of windows in depth */
    int dW,                 /* horizontal distance of windows */
    int dH,                 /* vertical distance of windows */
    int pT,                 /* slices of padding on either side; at most kT/2 */
    int pW,                 /* columns of padding on either side; at most kW/2 */
    int pH,                 /* rows of padding on either side; at most kH/2 */
    bool ceilMode);         /* a last window that is cut off counts as well */

/* 3-D max pooling over windows with gaps: the elements of a window lie dilationT slices, dilationH
 * rows and dilationW columns apart. */
THNN_API void THNN_(VolumetricDilatedMaxPooling_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x depth x height x width */
    THTensor *output,       /* out: [batch x] planes x outputDepth x outputHeight x outputWidth */
    THIndexTensor *indices, /* out: shape of output; bytes 0, 1, 2: element t, h, w of the window */
    int kT,                 /* depth of a window */
    int kW,                 /* width of a window */
    int kH,                 /* height of a window */
    int dT,                 /* distance of windows in depth */
    int dW,                 /* horizontal distance of windows */
    int dH,                 /* vertical distance of windows */
    int pT,                 /* slices of padding on either side; at most kT/2 */
    int pW,                 /* columns of padding on either side; at most kW/2 */
    int pH,                 /* rows of padding on either side; at most kH/2 */
    int dilationT,          /* distance of the elements of a window in depth */
    int dilationW,          /* horizontal distance of the elements of a window */
    int dilationH,          /* vertical distance of the elements of a window */
    bool ceilMode);         /* a last window that is cut off counts as well */

/* 3-D max pooling over windows with gaps, backward: each gradient goes to the element that was
 * chosen. */
THNN_API void THNN_(VolumetricDilatedMaxPooling_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x depth x height x width */
    THTensor *gradOutput,   /* in: [batch x] planes x outputDepth x outputHeight x outputWidth */
    THTensor *gradInput,    /* out: shape of input */
    THIndexTensor *indices, /* in: shape of gradOutput; as left by the forward call */
    int kT,                 /* depth of a window */
    int kW,                 /* width of a window */
    int kH,                 /* height of a window */
    int dT,                 /* distance of windows in depth */
    int dW,                 /* horizontal distance of windows */
    int dH,                 /* vertical distance of windows */
    int pT,                 /* slices of padding on either side; at most kT/2 */
    int pW,                 /* columns of padding on either side; at most kW/2 */
    int pH,                 /* rows of padding on either side; at most kH/2 */
    int dilationT,          /* distance of the elements of a window in depth */
    int dilationW,          /* horizontal distance of the elements of a window */
    int dilationH,          /* vertical distance of the elements of a window */
    bool ceilMode);         /* a last window that is cut off counts as well */
#endif

/* 3-D average pooling: output is the mean of each kT x kH x kW window; outputDepth is (depth + 2
 * padT - kT)/dT + 1, rounded down, or up with ceil_mode. */
THNN_API void THNN_(VolumetricAveragePooling_updateOutput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: [batch x] planes x depth x height x width */
    THTensor *output,        /* out: [batch x] planes x outputDepth x outputHeight x outputWidth */
    int kT,                  /* depth of a window */
    int kW,                  /* width of a window */
    int kH,                  /* height of a window */
    int dT,                  /* distance of windows in depth */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padT,                /* slices of padding on either side; at most kT/2 */
    int padW,                /* columns of padding on either side; at most kW/2 */
    int padH,                /* rows of padding on either side; at most kH/2 */
    bool ceil_mode,          /* a last window that is cut off counts as well */
    bool count_include_pad); /* elements in the padding count as zeros; otherwise not at all */

/* 3-D average pooling, backward: each gradient goes to the elements of its window in equal
 * shares. */
THNN_API void THNN_(VolumetricAveragePooling_updateGradInput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: [batch x] planes x depth x height x width */
    THTensor *gradOutput,    /* in: [batch x] planes x outputDepth x outputHeight x outputWidth */
    THTensor *gradInput,     /* out: shape of input */
    int kT,                  /* depth of a window */
    int kW,                  /* width of a window */
    int kH,                  /* height of a window */
    int dT,                  /* distance of windows in depth */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padT,                /* slices of padding on either side; at most kT/2 */
    int padW,                /* columns of padding on either side; at most kW/2 */
    int padH,                /* rows of padding on either side; at most kH/2 */
    bool ceil_mode,          /* a last window that is cut off counts as well */
    bool count_include_pad); /* elements in the padding count as zeros; otherwise not at all */

/* 3-D max pooling over regions of poolSizeH x poolSizeW x poolSizeT elements at pseudo-random
 * places, as in SpatialFractionalMaxPooling. Time is the last dimension. */
THNN_API void THNN_(VolumetricFractionalMaxPooling_updateOutput)(
    THNNState *state,         /* may be NULL */
    THTensor *input,          /* in: [batch x] planes x height x width x time */
    THTensor *output,         /* out: [batch x] planes x outputH x outputW x outputT */
    int outputT,              /* size of output in time; at most time - poolSizeT */
    int outputW,              /* columns of output */
    int outputH,              /* rows of output */
    int poolSizeT,            /* size of a region in time */
    int poolSizeW,            /* width of a region */
    int poolSizeH,            /* height of a region */
    THIndexTensor *indices,   /* out: shape of output; element of the plane, from 1; 0 for none */
    THTensor *randomSamples); /* in: batch x planes x 3; from 0 to 1: for time, columns, rows */

/* 3-D fractional max pooling, backward: each gradient goes to the element that was chosen. */
THNN_API void THNN_(VolumetricFractionalMaxPooling_updateGradInput)(
    THNNState *state,        /* may be NULL */
    THTensor *input,         /* in: [batch x] planes x height x width x time */
    THTensor *gradOutput,    /* in: [batch x] planes x outputH x outputW x outputT */
    THTensor *gradInput,     /* out: shape of input */
    int outputT,             /* size of gradOutput in time */
    int outputW,             /* columns of gradOutput */
    int outputH,             /* rows of gradOutput */
    int poolSizeT,           /* unused */
    int poolSizeW,           /* unused */
    int poolSizeH,           /* unused */
    THIndexTensor *indices); /* in: shape of gradOutput; as left by the forward call */

#ifndef THC_PROTOTYPES
/* 3-D max unpooling: each value goes to the element that its index names, of several the last; 0
 * elsewhere. */
THNN_API void THNN_(VolumetricMaxUnpooling_updateOutput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x depth x height x width */
    THTensor *output,       /* out: [batch x] planes x oT x oH x oW */
    THIndexTensor *indices, /* in: shape of input; bytes 0, 1, 2: offsets t, h, w in the window */
    int oT,                 /* slices of output */
    int oW,                 /* columns of output */
    int oH,                 /* rows of output */
    int dT,                 /* distance of windows in depth in the pooling */
    int dW,                 /* horizontal distance of windows */
    int dH,                 /* vertical distance of windows */
    int pT,                 /* slices of padding in the pooling */
    int pW,                 /* columns of padding */
    int pH);                /* rows of padding */

/* 3-D max unpooling, backward: gradInput is the gradient of the element that the index names. */
THNN_API void THNN_(VolumetricMaxUnpooling_updateGradInput)(
    THNNState *state,       /* may be NULL */
    THTensor *input,        /* in: [batch x] planes x depth x height x width */
    THTensor *gradOutput,   /* in: [batch x] planes x oT x oH x oW */
    THTensor *gradInput,    /* out: shape of input */
    THIndexTensor *indices, /* in: shape of input; as in the forward call */
    int oT,                 /* slices of output */
    int oW,                 /* columns of output */
    int oH,                 /* rows of output */
    int dT,                 /* distance of windows in depth in the pooling */
    int dW,                 /* horizontal distance of windows */
    int dH,                 /* vertical distance of windows */
    int pT,                 /* slices of padding in the pooling */
    int pW,                 /* columns of padding */
    int pH);                /* rows of padding */
#endif

/* ---- Volumetric sampling and padding --------------------------------------------------------- */

/* 3-D padding by replication: the first and the last slice, row and column go on for ever. */
THNN_API void THNN_(VolumetricReplicationPadding_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: [batch x] planes x depth x height x width */
    THTensor *output, /* out: as input, each size with the padding on either side */
    int pleft,        /* columns added on the left; negative: cut off */
    int pright,       /* columns added on the right; negative: cut off */
    int ptop,         /* rows added at the top; negative: cut off */
    int pbottom,      /* rows added at the bottom; negative: cut off */
    int pfront,       /* slices added at the front; negative: cut off */
    int pback);       /* slices added at the back; negative: cut off */

/* 3-D padding by replication, backward: the sum of the gradients of all elements that show an
 * input element. */
THNN_API void THNN_(VolumetricReplicationPadding_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] planes x depth x height x width */
    THTensor *gradOutput, /* in: shape of the forward call's output */
    THTensor *gradInput,  /* out: shape of input */
    int pleft,            /* columns added on the left; negative: cut off */
    int pright,           /* columns added on the right; negative: cut off */
    int ptop,             /* rows added at the top; negative: cut off */
    int pbottom,          /* rows added at the bottom; negative: cut off */
    int pfront,           /* slices added at the front; negative: cut off */
    int pback);           /* slices added at the back; negative: cut off */

/* 3-D nearest-neighbour upsampling: each element becomes a cube with scale_factor elements on each
 * side. */
THNN_API void THNN_(VolumetricUpSamplingNearest_updateOutput)(
    THNNState *state,  /* may be NULL */
    THTensor *input,   /* in: [batch x] planes x depth x height x width */
    THTensor *output,  /* out: as input, the last three sizes times scale_factor */
    int scale_factor); /* 2 or more */

/* 3-D nearest-neighbour upsampling, backward: the sum of the gradients in each cube. */
THNN_API void THNN_(VolumetricUpSamplingNearest_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *input,      /* in: [batch x] planes x depth x height x width */
    THTensor *gradOutput, /* in: shape of the forward call's output */
    THTensor *gradInput,  /* out: shape of input */
    int scale_factor);    /* as in the forward call */

/* Trilinear resampling of volumes. The corners of input and output coincide: output slice z lies
 * at z (depth - 1)/(outputDepth - 1). */
THNN_API void THNN_(VolumetricUpSamplingTrilinear_updateOutput)(
    THNNState *state, /* may be NULL */
    THTensor *input,  /* in: batch x planes x depth x height x width */
    THTensor *output, /* out: batch x planes x outputDepth x outputHeight x outputWidth */
    int outputDepth,  /* slices of the output */
    int outputHeight, /* rows of the output */
    int outputWidth); /* columns of the output */

/* Trilinear resampling of volumes, backward: each gradient goes to the eight elements that its
 * output element lay between, in the same shares. */
THNN_API void THNN_(VolumetricUpSamplingTrilinear_updateGradInput)(
    THNNState *state,     /* may be NULL */
    THTensor *gradOutput, /* in: nbatch x nchannels x outputDepth x outputHeight x outputWidth */
    THTensor *gradInput,  /* out: nbatch x nchannels x inputDepth x inputHeight x inputWidth */
    int nbatch,           /* samples */
    int nchannels,        /* planes of a sample */
    int inputDepth,       /* slices of the forward call's input */
    int inputHeight,      /* rows of the forward call's input */
    int inputWidth,       /* columns of the forward call's input */
    int outputDepth,      /* slices of the forward call's output */
    int outputHeight,     /* rows of the forward call's output */
    int outputWidth);     /* columns of the forward call's output */
