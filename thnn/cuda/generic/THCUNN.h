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

/* ---- Normalising ----------------------------------------------------------------------------- */

/* Softmax over the planes: output = e^input / sum of e^input, at each position. */
THC_API void THCUNN_(SoftMax_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: [batch x] nPlane [x height x width] */
    THCTensor *output); /* out: shape of input */

/* Softmax, backward: gradInput = output (gradOutput - sum of output gradOutput). */
THC_API void THCUNN_(SoftMax_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in, optional: shape of gradOutput; not read */
    THCTensor *gradOutput, /* in: at least as many elements as output; those beyond are not read */
    THCTensor *gradInput,  /* out: shape of output */
    THCTensor *output);    /* in: [batch x] nPlane [x height x width]; of the forward call */

/* Logarithm of the softmax over the planes: output = input - log(sum of e^input). */
THC_API void THCUNN_(LogSoftMax_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: [batch x] nPlane [x height x width] */
    THCTensor *output); /* out: shape of input */

/* Logarithm of the softmax, backward: gradInput = gradOutput - e^output * sum of gradOutput. */
THC_API void THCUNN_(LogSoftMax_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in, optional: shape of gradOutput; not read */
    THCTensor *gradOutput, /* in: at least as many elements as output; those beyond are not read */
    THCTensor *gradInput,  /* out: shape of output */
    THCTensor *output);    /* in: [batch x] nPlane [x height x width]; of the forward call */

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

/* Local response normalisation across channels: output = input * scale^-beta with
 * scale = k + alpha / size * sum of input^2 over the `size` channels around each one. */
THC_API void THCUNN_(SpatialCrossMapLRN_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: [batch x] channels x height x width */
    THCTensor *output, /* out: shape of input */
    THCTensor *scale,  /* out: shape of input; for the backward call */
    int size,          /* channels in a window: (size - 1) / 2, rounded down, before the one */
    accreal alpha,     /* factor of the mean square */
    accreal beta,      /* exponent */
    accreal k);        /* what the mean square is added to */

/* Local response normalisation across channels, backward. */
THC_API void THCUNN_(SpatialCrossMapLRN_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] channels x height x width */
    THCTensor *gradOutput, /* in: as many elements as input */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *scale,      /* in: as many elements as input; from the forward call */
    THCTensor *output,     /* in: as many elements as input; from the forward call */
    int size,              /* as in the forward call */
    accreal alpha,         /* as in the forward call */
    accreal beta,          /* as in the forward call */
    accreal k);            /* as in the forward call; unused */

/* ---- Criterions ------------------------------------------------------------------------------ */

/* Mean absolute error: output = sum of |input - target|, divided by the number of elements when
 * sizeAverage. */
THC_API void THCUNN_(AbsCriterion_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape */
    THCTensor *target, /* in: as many elements as input */
    THCTensor *output, /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Mean absolute error, backward: gradInput = 1 where input >= target, else -1, divided by the number
 * of elements when sizeAverage. */
THC_API void THCUNN_(AbsCriterion_updateGradInput)(
    THCState *state,      /* where it runs */
    THCTensor *input,     /* in: any shape */
    THCTensor *target,    /* in: as many elements as input */
    THCTensor *gradInput, /* out: shape of input */
    bool sizeAverage);    /* divide by the number of elements */

/* Binary cross entropy: output = -sum of weights (target log input + (1 - target) log(1 - input)),
 * divided by the number of elements when sizeAverage. 1e-12 is added to what logarithms are taken of. */
THC_API void THCUNN_(BCECriterion_updateOutput)(
    THCState *state,     /* where it runs */
    THCTensor *input,    /* in: any shape; values from 0 to 1, others are an error */
    THCTensor *target,   /* in: as many elements as input */
    THCTensor *output,   /* inout: one element; overwritten, not resized */
    bool sizeAverage,    /* divide by the number of elements */
    THCTensor *weights); /* in, optional: as many elements as input; NULL means 1 for each */

/* Binary cross entropy, backward: gradInput = weights (input - target) / (input (1 - input)), divided
 * by the number of elements when sizeAverage. 1e-12 is added to both factors of the divisor. */
THC_API void THCUNN_(BCECriterion_updateGradInput)(
    THCState *state,      /* where it runs */
    THCTensor *input,     /* in: any shape */
    THCTensor *target,    /* in: as many elements as input */
    THCTensor *gradInput, /* out: shape of input */
    bool sizeAverage,     /* divide by the number of elements */
    THCTensor *weights);  /* in, optional: as many elements as input; NULL means 1 for each */

/* Negative log likelihood of one class per sample: output = minus the sum of
 * weights[target] * input[target], divided by total_weight, the sum of weights[target], when
 * sizeAverage and that is not 0. */
THC_API void THCUNN_(ClassNLLCriterion_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] classes; log probabilities */
    THCIndexTensor *target,  /* in: batch; without a batch the first element counts */
    THCTensor *output,       /* inout: one element; overwritten, not resized */
    bool sizeAverage,        /* divide by total_weight */
    THCTensor *weights,      /* in, optional: classes; NULL means 1 for each */
    THCTensor *total_weight, /* inout: one element; overwritten, not resized */
    int64_t ignore_index);   /* targets of this value do not count */

/* Negative log likelihood, backward: gradInput at each target = -weights[target], divided by
 * total_weight when sizeAverage. Nothing is written when total_weight is not positive. */
THC_API void THCUNN_(ClassNLLCriterion_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] classes; only its shape matters */
    THCIndexTensor *target,  /* in: batch; without a batch the first element counts */
    THCTensor *gradInput,    /* inout: shape of input, all 0; only the targets' elements are written */
    bool sizeAverage,        /* divide by total_weight */
    THCTensor *weights,      /* in, optional: classes; NULL means 1 for each */
    THCTensor *total_weight, /* in: one element, from the forward call */
    int64_t ignore_index);   /* targets of this value do not count */

/* Kullback-Leibler divergence: output = sum of target (log target - input) where target > 0, divided
 * by the number of elements when sizeAverage. */
THC_API void THCUNN_(DistKLDivCriterion_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape; log probabilities */
    THCTensor *target, /* in: as many elements as input; probabilities */
    THCTensor *output, /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Kullback-Leibler divergence, backward: gradInput = -target where target > 0, else 0, divided by the
 * number of elements when sizeAverage. */
THC_API void THCUNN_(DistKLDivCriterion_updateGradInput)(
    THCState *state,      /* where it runs */
    THCTensor *input,     /* in: any shape */
    THCTensor *target,    /* in: as many elements as input; probabilities */
    THCTensor *gradInput, /* out: shape of input */
    bool sizeAverage);    /* divide by the number of elements */

/* L1 norm: output = sum of |input|. */
THC_API void THCUNN_(L1Cost_updateOutput)(
    THCState *state,    /* where it runs */
    THCTensor *input,   /* in: any shape */
    THCTensor *output); /* inout: one element; overwritten, not resized */

/* L1 norm, backward: gradInput = the sign of input, 0 for 0. */
THC_API void THCUNN_(L1Cost_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: any shape */
    THCTensor *gradOutput, /* in, optional: as many elements as input; its values do not matter */
    THCTensor *gradInput); /* out: shape of input */

/* Hinge loss of a two-class classifier: output = sum of max(0, margin - input * target), divided by
 * the number of elements when sizeAverage. */
THC_API void THCUNN_(MarginCriterion_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape */
    THCTensor *target, /* in: as many elements as input, 1 or -1 */
    THCTensor *output, /* inout: one element; overwritten, not resized */
    bool sizeAverage,  /* divide by the number of elements */
    accreal margin);   /* no loss from here on */

/* Hinge loss, backward: gradInput = -target where input * target < margin, else 0, divided by the
 * number of elements when sizeAverage. */
THC_API void THCUNN_(MarginCriterion_updateGradInput)(
    THCState *state,      /* where it runs */
    THCTensor *input,     /* in: any shape */
    THCTensor *target,    /* in: as many elements as input, 1 or -1 */
    THCTensor *gradInput, /* out: shape of input */
    bool sizeAverage,     /* divide by the number of elements */
    accreal margin);      /* as in the forward call */

/* Mean squared error: output = sum of (input - target)^2, divided by the number of elements when
 * sizeAverage. */
THC_API void THCUNN_(MSECriterion_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape */
    THCTensor *target, /* in: as many elements as input */
    THCTensor *output, /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Mean squared error, backward: gradInput = 2 (input - target), divided by the number of elements
 * when sizeAverage. */
THC_API void THCUNN_(MSECriterion_updateGradInput)(
    THCState *state,      /* where it runs */
    THCTensor *input,     /* in: any shape */
    THCTensor *target,    /* in: as many elements as input */
    THCTensor *gradInput, /* out: shape of input */
    bool sizeAverage);    /* divide by the number of elements */

/* Multi-label margin loss: per sample the sum over its targets t and the classes c that are no targets
 * of max(0, 1 - input[t] + input[c]), divided by the number of classes; output = the sum over samples,
 * divided by their number when sizeAverage. */
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

/* Multi-class margin loss: per sample weights[target] times the sum over the other classes c of
 * max(0, margin - input[target] + input[c])^p, divided by the number of classes; output = the sum over
 * samples, divided by their number when sizeAverage. */
THC_API void THCUNN_(MultiMarginCriterion_updateOutput)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] classes */
    THCIndexTensor *target, /* in: batch; without a batch the first element counts */
    THCTensor *output,      /* inout: one element; overwritten, not resized */
    bool sizeAverage,       /* divide by the number of samples */
    int p,                  /* 1 or 2 (which other values mean, too) */
    THCTensor *weights,     /* in, optional: classes; NULL means 1 for each */
    accreal margin);        /* how far a target is to lie above the other classes */

/* Multi-class margin loss, backward. */
THC_API void THCUNN_(MultiMarginCriterion_updateGradInput)(
    THCState *state,        /* where it runs */
    THCTensor *input,       /* in: [batch x] classes */
    THCIndexTensor *target, /* in: batch; without a batch the first element counts */
    THCTensor *gradInput,   /* out: shape of input */
    bool sizeAverage,       /* divide by the number of samples */
    int p,                  /* 1 or 2 (which other values mean, too) */
    THCTensor *weights,     /* in, optional: classes; NULL means 1 for each */
    accreal margin);        /* how far a target is to lie above the other classes */

/* Smooth L1 loss: output = sum of e^2 / 2 where |e| < 1, of |e| - 1/2 elsewhere, with
 * e = input - target, divided by the number of elements when sizeAverage. */
THC_API void THCUNN_(SmoothL1Criterion_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape */
    THCTensor *target, /* in: as many elements as input */
    THCTensor *output, /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Smooth L1 loss, backward: gradInput = input - target, cut to [-1, 1], divided by the number of
 * elements when sizeAverage. */
THC_API void THCUNN_(SmoothL1Criterion_updateGradInput)(
    THCState *state,      /* where it runs */
    THCTensor *input,     /* in: any shape */
    THCTensor *target,    /* in: as many elements as input */
    THCTensor *gradInput, /* out: shape of input */
    bool sizeAverage);    /* divide by the number of elements */

/* Logistic loss of a two-class classifier: output = sum of log(1 + exp(-input * target)), divided by
 * the number of elements when sizeAverage. */
THC_API void THCUNN_(SoftMarginCriterion_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: any shape */
    THCTensor *target, /* in: as many elements as input, 1 or -1 */
    THCTensor *output, /* inout: one element; overwritten, not resized */
    bool sizeAverage); /* divide by the number of elements */

/* Logistic loss, backward: gradInput = -target / (1 + exp(input * target)), divided by the number of
 * elements when sizeAverage. */
THC_API void THCUNN_(SoftMarginCriterion_updateGradInput)(
    THCState *state,      /* where it runs */
    THCTensor *input,     /* in: any shape */
    THCTensor *target,    /* in: as many elements as input, 1 or -1 */
    THCTensor *gradInput, /* out: shape of input */
    bool sizeAverage);    /* divide by the number of elements */

/* Negative log likelihood of one class per position: output = minus the sum of
 * weights[target] * input[target], divided by total_weight, the sum of weights[target], when
 * sizeAverage and that is not 0. */
THC_API void THCUNN_(SpatialClassNLLCriterion_updateOutput)(
    THCState *state,          /* where it runs */
    THCTensor *input,         /* in: batch x classes x height x width; log probabilities */
    THCIndexTensor *target,   /* in: batch x height x width */
    THCTensor *output,        /* inout: one element; overwritten, not resized */
    bool sizeAverage,         /* divide by total_weight */
    THCTensor *weights,       /* in, optional: classes; NULL means 1 for each */
    THCTensor *total_weight); /* inout: one element; overwritten, not resized */

/* Negative log likelihood of one class per position, backward: gradInput at each target =
 * -weights[target], divided by total_weight when sizeAverage. Nothing is written when total_weight
 * is not positive. */
THC_API void THCUNN_(SpatialClassNLLCriterion_updateGradInput)(
    THCState *state,          /* where it runs */
    THCTensor *input,         /* in: batch x classes x height x width; only its shape matters */
    THCIndexTensor *target,   /* in: batch x height x width */
    THCTensor *gradInput,     /* inout: shape of input, all 0; only the targets' elements are written */
    bool sizeAverage,         /* divide by total_weight */
    THCTensor *weights,       /* in, optional: classes; NULL means 1 for each */
    THCTensor *total_weight); /* in: one element, from the forward call */

/* ---- Linear and sparse ----------------------------------------------------------------------- */

/* Linear layer over sparse rows: output = bias + sum over a sample's keys of value * the key's row of
 * weight, which is row key + keysOffset counted from 0. With four more columns in front weight scales
 * the values: see IndexLinear.c. */
THC_API void THCUNN_(IndexLinear_updateOutput)(
    THCState *state,             /* where it runs */
    THCIndexTensor *keys,        /* in: keys; those of all samples, one after the other */
    int64_t keysOffset,          /* what to add to a key to get its row */
    THCTensor *values,           /* in: keys */
    THCIndexTensor *sizes,       /* in: batch; number of keys of each sample */
    THCIndexTensor *cumSumSizes, /* in: any shape; unused */
    THCTensor *output,           /* out: batch x outputs */
    THCTensor *weight,           /* inout: rows x outputs, or rows x (4 + outputs); modified when it scales and train is not 0 */
    THCTensor *bias,             /* in: outputs */
    THCTensor *normalizedValues, /* out: keys; the scaled values, left alone when weight does not scale */
    int train);                  /* not 0: keep the largest magnitudes of the values */

/* Linear layer over sparse rows, backward: overwrites gradWeight with one row per key, scale * value *
 * gradOutput, after scale * gradOutput when weight scales; gradBias += scale * gradOutput, summed over
 * the batch. */
THC_API void THCUNN_(IndexLinear_accGradParameters)(
    THCState *state,             /* where it runs */
    THCIndexTensor *keys,        /* in: keys; only their number matters */
    int64_t keysOffset,          /* unused */
    THCTensor *values,           /* in: keys; the forward call's normalizedValues when weight scales */
    THCIndexTensor *sizes,       /* in: batch; number of keys of each sample */
    THCIndexTensor *cumSumSizes, /* in, optional: unused */
    THCTensor *gradOutput,       /* in: batch x outputs */
    THCTensor *gradWeight,       /* out: keys x outputs, or keys x (2 * outputs) when weight scales */
    THCTensor *gradBias,         /* accumulate: outputs */
    THCTensor *weight,           /* in: rows x outputs, or rows x (4 + outputs); only its shape matters */
    THCTensor *bias,             /* in: outputs; only its shape matters */
    THCTensor *valuesBuffer,     /* scratch, optional: unused */
    accreal weightDecay,         /* unused */
    accreal scale);              /* factor of the gradients */

/* Linear layer over sparse rows, backward and update in one: for each key in order the row of weight
 * becomes (1 - weightDecay) * row - scale * value * gradOutput; bias -= scale * gradOutput, summed over
 * the batch. */
THC_API void THCUNN_(IndexLinear_accUpdateGradParameters)(
    THCState *state,             /* where it runs */
    THCIndexTensor *keys,        /* in: keys; those of all samples, one after the other */
    int64_t keysOffset,          /* what to add to a key to get its row */
    THCTensor *values,           /* in: keys */
    THCIndexTensor *sizes,       /* in: batch; number of keys of each sample */
    THCIndexTensor *cumSumSizes, /* in, optional: unused */
    THCTensor *gradOutput,       /* in: batch x outputs */
    THCTensor *weight,           /* inout: rows x outputs, or rows x (4 + outputs) */
    THCTensor *bias,             /* inout: outputs */
    accreal weightDecay,         /* share of a row that each of its updates takes away */
    accreal scale);              /* learning rate */

/* Linear layer over sparse rows, update: row key of weight becomes (1 - weightDecay) * row -
 * learningRate * its row of gradWeight; bias -= learningRate * gradBias. */
THC_API void THCUNN_(IndexLinear_updateParameters)(
    THCState *state,             /* where it runs */
    THCTensor *gradWeight,       /* in: keys x outputs, or keys x (2 * outputs) when weight scales */
    THCTensor *gradBias,         /* in: outputs */
    THCTensor *weight,           /* inout: rows x outputs, or rows x (4 + outputs) */
    THCTensor *bias,             /* inout: outputs */
    THCIndexTensor *runningKeys, /* in: keys; those of gradWeight's rows */
    THCIndexTensor *cumSumSizes, /* in, optional: unused */
    int64_t keysOffset,          /* what to add to a key to get its row */
    accreal weightDecay,         /* share of a row that its update takes away */
    accreal learningRate);       /* factor of the gradients */

/* Lookup table, backward: gradWeight[index] += scale * gradOutput for each index, divided by how often
 * the index occurs when scaleGradByFreq. */
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

/* Lookup table: rows whose p-norm exceeds maxNorm are multiplied by maxNorm / (norm + 1e-7). */
THC_API void THCUNN_(LookupTable_renorm)(
    THCState *state,     /* where it runs */
    THCIndexTensor *idx, /* in: indices of rows; each row is looked at once */
    THCTensor *weight,   /* inout: rows x columns */
    accreal maxNorm,     /* largest norm */
    accreal normType);   /* p, more than 0 */

/* Linear layer over sparse samples: output = bias + weight * sample. Samples and features count from 1,
 * entries of value 0 do not count. */
THC_API void THCUNN_(SparseLinear_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: entries x 3; each (sample, feature, value), in any order */
    THCTensor *output, /* inout: batch x outputs; overwritten, not resized */
    THCTensor *weight, /* in: outputs x inputs */
    THCTensor *bias);  /* in: outputs */

/* Linear layer over sparse samples, backward: gradWeight += scale * gradOutput * sample^T + weightDecay *
 * weight, gradBias += scale * gradOutput, summed over the batch. */
THC_API void THCUNN_(SparseLinear_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: entries x 3; each (sample, feature, value), in any order */
    THCTensor *gradOutput, /* in: batch x outputs */
    THCTensor *gradWeight, /* accumulate: outputs x inputs */
    THCTensor *gradBias,   /* accumulate: outputs */
    THCTensor *weight,     /* in: outputs x inputs */
    THCTensor *bias,       /* in, optional: unused */
    accreal weightDecay,   /* factor of weight, not multiplied by scale */
    accreal scale);        /* factor of what else is added */

/* Zeroes gradBias, and of gradWeight the columns of the features in lastInput. */
THC_API void THCUNN_(SparseLinear_zeroGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *gradWeight, /* inout: outputs x inputs */
    THCTensor *gradBias,   /* inout: outputs */
    THCTensor *lastInput); /* in: entries x 3; each (sample, feature, value), in any order */

/* bias -= learningRate * gradBias, and of weight the columns of the features in lastInput likewise, each
 * once. */
THC_API void THCUNN_(SparseLinear_updateParameters)(
    THCState *state,       /* where it runs */
    THCTensor *weight,     /* inout: outputs x inputs */
    THCTensor *bias,       /* inout: outputs */
    THCTensor *gradWeight, /* in: outputs x inputs */
    THCTensor *gradBias,   /* in: outputs */
    THCTensor *lastInput,  /* in: entries x 3; each (sample, feature, value), in any order */
    accreal learningRate); /* factor of the gradients */

/* Linear layer over sparse samples: output = bias + weight * sample. Samples and features count from 1,
 * entries of value 0 do not count. Legacy form: as many entries for each sample. */
THC_API void THCUNN_(SparseLinear_legacyUpdateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: batch x entries x 2; each (feature, value) */
    THCTensor *output, /* out: batch x outputs */
    THCTensor *weight, /* in: outputs x inputs */
    THCTensor *bias);  /* in: outputs */

/* Linear layer over sparse samples, backward: gradWeight += scale * gradOutput * sample^T + weightDecay *
 * weight, gradBias += scale * gradOutput, summed over the batch. Legacy form. */
THC_API void THCUNN_(SparseLinear_legacyAccGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: batch x entries x 2; each (feature, value) */
    THCTensor *gradOutput, /* in: batch x outputs */
    THCTensor *gradWeight, /* accumulate: outputs x inputs */
    THCTensor *gradBias,   /* accumulate: outputs */
    THCTensor *weight,     /* in: outputs x inputs */
    THCTensor *bias,       /* in, optional: unused */
    accreal weightDecay,   /* factor of weight, not multiplied by scale */
    accreal scale);        /* factor of what else is added */

/* Sums or means of rows of a table: row b of output is that of the rows of weight whose indices stand
 * in input from offsets[b] on, up to the next bag; 0 for an empty bag. */
THC_API void THCUNN_(LookupTableBag_updateOutput)(
    THCState *state,             /* where it runs */
    THCIndexTensor *input,       /* in: indices; rows of weight */
    THCIndexTensor *offsets,     /* in: bags; where each begins in input, the first one at 1 */
    THCTensor *weight,           /* in: rows x columns */
    THCTensor *output,           /* out: bags x columns */
    THCIndexTensor *offset2bag,  /* out: indices; the bag of each index */
    int mode,                    /* 0: sums, 1: means */
    THCIndexTensor *seq_length); /* out, optional: bags; number of indices in each, written for means, which need it */

/* Sums or means of rows of a table, backward: adds to the row of gradWeight of each index scale *
 * gradOutput of its bag, divided by the size of the bag for means, and by how often the index occurs
 * when scaleGradByFreq. */
THC_API void THCUNN_(LookupTableBag_accGradParameters)(
    THCState *state,               /* where it runs */
    THCIndexTensor *input,         /* in: indices; rows of gradWeight */
    THCTensor *gradOutput,         /* in: bags x columns */
    THCTensor *gradWeight,         /* accumulate: rows x columns */
    THCIndexTensor *offset2bag,    /* in: indices; from the forward call */
    THCIndexTensor *count,         /* scratch, optional: unused */
    THCIndexTensor *sortedIndices, /* scratch, optional: unused */
    THCIndexTensor *origIndices,   /* scratch, optional: unused */
    bool scaleGradByFreq,          /* divide by the number of times that an index occurs */
    int mode,                      /* 0: sums, 1: means */
    THCIndexTensor *seq_length,    /* in, optional: bags; from the forward call, needed for means */
    accreal scale_);               /* factor of what is added */

/* ---- Recurrent ------------------------------------------------------------------------------- */

/* GRU cell, one step from the products of its matrices on, gates in the order r, z, n:
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

/* GRU cell, backward. */
THC_API void THCUNN_(GRUFused_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *gradInInput,  /* out: batch x (3 units); with respect to input and bias1 */
    THCTensor *gradInHidden, /* out: batch x (3 units); with respect to hidden and bias2 */
    THCTensor *gradOutput,   /* in: batch x units */
    THCTensor *gradInputHx,  /* out: batch x units; with respect to hx, products aside */
    THCTensor *storage);     /* in: batch x (5 units); from the forward call */

/* LSTM cell, one step from the products of its matrices on, gates in the order i, f, c, o:
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

/* ---- Temporal convolutions ------------------------------------------------------------------- */

/* 1-D convolution over frames: output frame t is bias + weight * (the kW input frames from t dW on);
 * nOutputFrame is (nInputFrame - kW) / dW + 1, rounded down. */
THC_API void THCUNN_(TemporalConvolution_updateOutput)(
    THCState *state,      /* where it runs */
    THCTensor *input,     /* in: [batch x] nInputFrame x inputFrameSize */
    THCTensor *output,    /* out: [batch x] nOutputFrame x outputFrameSize */
    THCTensor *weight,    /* in: outputFrameSize x (kW inputFrameSize) */
    THCTensor *bias,      /* in: outputFrameSize elements */
    int kW,               /* frames in a window */
    int dW,               /* frames from one window to the next */
    int inputFrameSize,   /* elements of an input frame */
    int outputFrameSize); /* elements of an output frame */

/* 1-D convolution over frames, backward: the gradient with respect to the input. */
THC_API void THCUNN_(TemporalConvolution_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputFrame x inputFrameSize; only its shape matters */
    THCTensor *gradOutput, /* in: [batch x] nOutputFrame x outputFrameSize */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight,     /* in: outputFrameSize x (kW inputFrameSize) */
    int kW,                /* frames in a window */
    int dW);               /* frames from one window to the next */

/* 1-D convolution over frames, backward: adds scale times the gradients with respect to weight and
 * bias. */
THC_API void THCUNN_(TemporalConvolution_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputFrame x inputFrameSize */
    THCTensor *gradOutput, /* in: [batch x] nOutputFrame x outputFrameSize */
    THCTensor *gradWeight, /* accumulate: outputFrameSize x (kW inputFrameSize) */
    THCTensor *gradBias,   /* accumulate: outputFrameSize elements */
    int kW,                /* frames in a window */
    int dW,                /* frames from one window to the next */
    accreal scale);        /* factor of what is added */

/* 1-D convolution over frames, feature by feature: each feature has a kernel of its own. nOutputFrame
 * is (nInputFrame + 2 padW - kW) / dW + 1, rounded down. With featFirst, features come before
 * frames in input and output. */
THC_API void THCUNN_(TemporalRowConvolution_updateOutput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputFrame x nFeature */
    THCTensor *output,     /* out: [batch x] nOutputFrame x nFeature */
    THCTensor *weight,     /* in: nFeature x 1 x kW */
    THCTensor *bias,       /* in, optional: nFeature */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int kW,                /* frames in a window */
    int dW,                /* frames from one window to the next */
    int padW,              /* zero frames added before the first and after the last */
    bool featFirst);       /* features come before frames */

/* Feature-wise 1-D convolution over frames, backward: the gradient with respect to the input. */
THC_API void THCUNN_(TemporalRowConvolution_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputFrame x nFeature; only its shape matters */
    THCTensor *gradOutput, /* in: [batch x] nOutputFrame x nFeature */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight,     /* in: nFeature x 1 x kW */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int kW,                /* frames in a window */
    int dW,                /* frames from one window to the next */
    int padW,              /* zero frames added before the first and after the last */
    bool featFirst);       /* features come before frames */

/* Feature-wise 1-D convolution over frames, backward: adds scale times the gradients with respect to
 * weight and bias. */
THC_API void THCUNN_(TemporalRowConvolution_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputFrame x nFeature */
    THCTensor *gradOutput, /* in: [batch x] nOutputFrame x nFeature */
    THCTensor *gradWeight, /* accumulate: nFeature x 1 x kW */
    THCTensor *gradBias,   /* accumulate, optional: nFeature */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int kW,                /* frames in a window */
    int dW,                /* frames from one window to the next */
    int padW,              /* zero frames added before the first and after the last */
    bool featFirst,        /* features come before frames */
    accreal scale);        /* factor of what is added */

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

/* 2-D convolution plane by plane, backward: adds scale times the gradients with respect to weight and
 * bias. */
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

/* 2-D convolution without weight sharing: each output position has kernels and biases of its own. */
THC_API void THCUNN_(SpatialConvolutionLocal_updateOutput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x inputHeight x inputWidth */
    THCTensor *output,     /* out: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *weight, /* in: outputHeight x outputWidth x nOutputPlane x nInputPlane x kH x kW, or with the first two and the last three in one */
    THCTensor *bias,       /* in: nOutputPlane x outputHeight x outputWidth */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
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
THC_API void THCUNN_(SpatialConvolutionLocal_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input, /* in: [batch x] nInputPlane x inputHeight x inputWidth; only its shape matters */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight, /* in: outputHeight x outputWidth x nOutputPlane x nInputPlane x kH x kW, or with the first two and the last three in one */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
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
THC_API void THCUNN_(SpatialConvolutionLocal_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x inputHeight x inputWidth */
    THCTensor *gradOutput, /* in: [batch x] nOutputPlane x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: outputHeight x outputWidth x nOutputPlane x nInputPlane x kH x kW, or with the first two and the last three in one */
    THCTensor *gradBias,   /* accumulate: nOutputPlane x outputHeight x outputWidth */
    THCTensor *finput,     /* scratch, optional: unused */
    THCTensor *fgradInput, /* scratch, optional: unused */
    int kW,                /* kernel width */
    int kH,                /* kernel height */
    int dW,                /* horizontal stride */
    int dH,                /* vertical stride */
    int padW,              /* zeros added on the left and on the right */
    int padH,              /* zeros added at the top and at the bottom */
    int64_t inputWidth,    /* width of input */
    int64_t inputHeight,   /* height of input */
    int64_t outputWidth,   /* width of output */
    int64_t outputHeight,  /* height of output */
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

/* ---- Temporal pooling ------------------------------------------------------------------------ */

/* Max pooling over time: output is the greatest of kW frames, column by column; nOutputFrame is
 * (nInputFrame - kW)/dW + 1, rounded down. */
THC_API void THCUNN_(TemporalMaxPooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] nInputFrame x frameSize */
    THCTensor *output,       /* out: [batch x] nOutputFrame x frameSize */
    THCIndexTensor *indices, /* out: shape of output; frame in the window, from 0, or -1 for none */
    int kW,                  /* frames of a window */
    int dW);                 /* distance of windows in frames */

/* Max pooling over time, backward: each gradient goes to the element that was chosen. */
THC_API void THCUNN_(TemporalMaxPooling_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] nInputFrame x frameSize */
    THCTensor *gradOutput,   /* in: [batch x] nOutputFrame x frameSize */
    THCTensor *gradInput,    /* out: shape of input */
    THCIndexTensor *indices, /* in: shape of gradOutput; as left by the forward call */
    int kW,                  /* as in the forward call */
    int dW);                 /* as in the forward call */

/* ---- Spatial pooling ------------------------------------------------------------------------- */

/* 2-D max pooling: output is the greatest element of each kH x kW window, the first of equals;
 * outputHeight is (height + 2 padH - kH)/dH + 1, rounded down, or up with ceil_mode. */
THC_API void THCUNN_(SpatialMaxPooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x height x width */
    THCTensor *output,       /* out: [batch x] planes x outputHeight x outputWidth */
    THCIndexTensor *indices, /* out: shape of output; element of the plane, from 1; 0 for none */
    int kW,                  /* width of a window */
    int kH,                  /* height of a window */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padW,                /* columns of padding on the left and on the right; at most kW/2 */
    int padH,                /* rows of padding at the top and at the bottom; at most kH/2 */
    bool ceil_mode);         /* a last window that is cut off counts as well */

/* 2-D max pooling, backward: each gradient goes to the element that was chosen. */
THC_API void THCUNN_(SpatialMaxPooling_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x height x width */
    THCTensor *gradOutput,   /* in: [batch x] planes x outputHeight x outputWidth */
    THCTensor *gradInput,    /* out: shape of input */
    THCIndexTensor *indices, /* in: shape of gradOutput; as left by the forward call */
    int kW,                  /* as in the forward call, like the rest */
    int kH,                  /* height of a window */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padW,                /* columns of padding on either side */
    int padH,                /* rows of padding on either side */
    bool ceil_mode);         /* a last window that is cut off counts as well */

/* 2-D max pooling over windows with gaps: the kH x kW elements of a window lie dilationH rows and
 * dilationW columns apart. */
THC_API void THCUNN_(SpatialDilatedMaxPooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x height x width */
    THCTensor *output,       /* out: [batch x] planes x outputHeight x outputWidth */
    THCIndexTensor *indices, /* out: shape of output; element of the plane, from 1; 0 for none */
    int kW,                  /* width of a window */
    int kH,                  /* height of a window */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padW,                /* columns of padding on the left and on the right; at most kW/2 */
    int padH,                /* rows of padding at the top and at the bottom; at most kH/2 */
    int dilationW,           /* horizontal distance of the elements of a window */
    int dilationH,           /* vertical distance of the elements of a window */
    bool ceil_mode);         /* a last window that is cut off counts as well */

/* 2-D max pooling over windows with gaps, backward: each gradient goes to the element that was
 * chosen. */
THC_API void THCUNN_(SpatialDilatedMaxPooling_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x height x width */
    THCTensor *gradOutput,   /* in: [batch x] planes x outputHeight x outputWidth */
    THCTensor *gradInput,    /* out: shape of input */
    THCIndexTensor *indices, /* in: shape of gradOutput; as left by the forward call */
    int kW,                  /* as in the forward call, like the rest */
    int kH,                  /* height of a window */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padW,                /* columns of padding on either side */
    int padH,                /* rows of padding on either side */
    int dilationW,           /* horizontal distance of the elements of a window */
    int dilationH,           /* vertical distance of the elements of a window */
    bool ceil_mode);         /* a last window that is cut off counts as well */

/* 2-D average pooling: output is the mean of each kH x kW window; outputHeight is (height + 2 padH
 * - kH)/dH + 1, rounded down, or up with ceil_mode. */
THC_API void THCUNN_(SpatialAveragePooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x height x width */
    THCTensor *output,       /* out: [batch x] planes x outputHeight x outputWidth */
    int kW,                  /* width of a window */
    int kH,                  /* height of a window */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padW,                /* columns of padding on the left and on the right; at most kW/2 */
    int padH,                /* rows of padding at the top and at the bottom; at most kH/2 */
    bool ceil_mode,          /* a last window that is cut off counts as well */
    bool count_include_pad); /* elements in the padding count as zeros; otherwise not at all */

/* 2-D average pooling, backward: each gradient goes to the elements of its window in equal shares. */
THC_API void THCUNN_(SpatialAveragePooling_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x height x width */
    THCTensor *gradOutput,   /* in: [batch x] planes x outputHeight x outputWidth */
    THCTensor *gradInput,    /* out: shape of input */
    int kW,                  /* as in the forward call, like the rest */
    int kH,                  /* height of a window */
    int dW,                  /* horizontal distance of windows */
    int dH,                  /* vertical distance of windows */
    int padW,                /* columns of padding on either side */
    int padH,                /* rows of padding on either side */
    bool ceil_mode,          /* a last window that is cut off counts as well */
    bool count_include_pad); /* elements in the padding count as zeros; otherwise not at all */

/* 2-D max pooling to a given output size: output row y is taken over the input rows from
 * y*height/nOutputRows, rounded down, up to (y + 1)*height/nOutputRows, rounded up; columns likewise. */
THC_API void THCUNN_(SpatialAdaptiveMaxPooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x height x width */
    THCTensor *output,       /* out: [batch x] planes x nOutputRows x nOutputCols */
    THCIndexTensor *indices, /* out: 2 x shape of output; row, column in the region, from 1, or 0 */
    int nOutputCols,         /* columns of output */
    int nOutputRows);        /* rows of output */

/* 2-D max pooling to a given output size, backward: each gradient goes to the element that was
 * chosen. */
THC_API void THCUNN_(SpatialAdaptiveMaxPooling_updateGradInput)(
    THCState *state,          /* where it runs */
    THCTensor *input,         /* in: [batch x] planes x height x width */
    THCTensor *gradOutput,    /* in: [batch x] planes x oheight x owidth */
    THCTensor *gradInput,     /* out: shape of input */
    THCIndexTensor *indices); /* in: 2 x shape of gradOutput; as left by the forward call */

/* 2-D average pooling to a given output size: output row y is taken over the input rows from
 * y*height/nOutputRows, rounded down, up to (y + 1)*height/nOutputRows, rounded up; columns likewise. */
THC_API void THCUNN_(SpatialAdaptiveAveragePooling_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: [batch x] planes x height x width */
    THCTensor *output, /* out: [batch x] planes x nOutputRows x nOutputCols */
    int nOutputCols,   /* columns of output */
    int nOutputRows);  /* rows of output */

/* 2-D average pooling to a given output size, backward: each gradient goes to the elements of its
 * region in equal shares. */
THC_API void THCUNN_(SpatialAdaptiveAveragePooling_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] planes x height x width */
    THCTensor *gradOutput, /* in: [batch x] planes x oheight x owidth */
    THCTensor *gradInput); /* out: shape of input */

/* 2-D max pooling over regions of poolSizeH x poolSizeW elements at pseudo-random places: with
 * random number u, region i of n begins at floor((i + u)*step) - floor(u*step), where step is
 * (size - poolSize)/(n - 1); the last one ends with the input. */
THC_API void THCUNN_(SpatialFractionalMaxPooling_updateOutput)(
    THCState *state,           /* where it runs */
    THCTensor *input,          /* in: [batch x] planes x height x width */
    THCTensor *output,         /* out: [batch x] planes x outputH x outputW */
    int outputW,               /* columns of output */
    int outputH,               /* rows of output; at most height - poolSizeH */
    int poolSizeW,             /* width of a region */
    int poolSizeH,             /* height of a region */
    THCIndexTensor *indices,   /* out: shape of output; element of the plane, from 1; 0 for none */
    THCTensor *randomSamples); /* in: batch x planes x 2; from 0 to 1: for columns, for rows */

/* 2-D fractional max pooling, backward: each gradient goes to the element that was chosen. */
THC_API void THCUNN_(SpatialFractionalMaxPooling_updateGradInput)(
    THCState *state,          /* where it runs */
    THCTensor *input,         /* in: [batch x] planes x height x width */
    THCTensor *gradOutput,    /* in: [batch x] planes x outputH x outputW */
    THCTensor *gradInput,     /* out: shape of input */
    int outputW,              /* columns of gradOutput */
    int outputH,              /* rows of gradOutput */
    int poolSizeW,            /* unused */
    int poolSizeH,            /* unused */
    THCIndexTensor *indices); /* in: shape of gradOutput; as left by the forward call */

/* 2-D max unpooling: each value goes to the element that its index names, of several the last; 0
 * elsewhere. */
THC_API void THCUNN_(SpatialMaxUnpooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x height x width */
    THCTensor *output,       /* out: [batch x] planes x oheight x owidth */
    THCIndexTensor *indices, /* in: shape of input; element of the output plane, from 1 */
    int owidth,              /* columns of output */
    int oheight);            /* rows of output */

/* 2-D max unpooling, backward: gradInput is the gradient of the element that the index names. */
THC_API void THCUNN_(SpatialMaxUnpooling_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x height x width */
    THCTensor *gradOutput,   /* in: [batch x] planes x oheight x owidth */
    THCTensor *gradInput,    /* out: shape of input */
    THCIndexTensor *indices, /* in: shape of input; as in the forward call */
    int owidth,              /* columns of gradOutput */
    int oheight);            /* rows of gradOutput */

/* 2-D subsampling: output = weight * sum of each kH x kW window + bias, plane by plane;
 * outputHeight is (height - kH)/dH + 1, rounded down. */
THC_API void THCUNN_(SpatialSubSampling_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: [batch x] nInputPlane x height x width */
    THCTensor *output, /* out: [batch x] nInputPlane x outputHeight x outputWidth */
    THCTensor *weight, /* in: nInputPlane */
    THCTensor *bias,   /* in: nInputPlane */
    int kW,            /* width of a window */
    int kH,            /* height of a window */
    int dW,            /* horizontal distance of windows */
    int dH);           /* vertical distance of windows */

/* 2-D subsampling, backward: each gradient goes to the elements of its window, times weight. */
THC_API void THCUNN_(SpatialSubSampling_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THCTensor *gradOutput, /* in: [batch x] nInputPlane x outputHeight x outputWidth */
    THCTensor *gradInput,  /* out: shape of input */
    THCTensor *weight,     /* in: nInputPlane */
    int kW,                /* width of a window */
    int kH,                /* height of a window */
    int dW,                /* horizontal distance of windows */
    int dH);               /* vertical distance of windows */

/* 2-D subsampling, parameters: gradWeight += scale * sum of gradOutput times window sum, gradBias
 * += scale * sum of gradOutput. */
THC_API void THCUNN_(SpatialSubSampling_accGradParameters)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] nInputPlane x height x width */
    THCTensor *gradOutput, /* in: [batch x] nInputPlane x outputHeight x outputWidth */
    THCTensor *gradWeight, /* accumulate: nInputPlane */
    THCTensor *gradBias,   /* accumulate: nInputPlane */
    int kW,                /* width of a window */
    int kH,                /* height of a window */
    int dW,                /* horizontal distance of windows */
    int dH,                /* vertical distance of windows */
    accreal scale);        /* factor of what is added */

/* ---- Spatial sampling and padding ------------------------------------------------------------ */

/* 2-D nearest-neighbour upsampling: each element becomes a square of scale_factor x scale_factor. */
THC_API void THCUNN_(SpatialUpSamplingNearest_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: [batch x] planes x height x width */
    THCTensor *output, /* out: [batch x] planes x height*scale_factor x width*scale_factor */
    int scale_factor); /* 2 or more */

/* 2-D nearest-neighbour upsampling, backward: the sum of the gradients in each square. */
THC_API void THCUNN_(SpatialUpSamplingNearest_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] planes x height x width */
    THCTensor *gradOutput, /* in: [batch x] planes x height*scale_factor x width*scale_factor */
    THCTensor *gradInput,  /* out: shape of input */
    int scale_factor);     /* as in the forward call */

/* Bilinear resampling of planes. The corners of input and output coincide: output row y lies at y
 * (height - 1)/(outputHeight - 1). */
THC_API void THCUNN_(SpatialUpSamplingBilinear_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: batch x planes x height x width */
    THCTensor *output, /* out: batch x planes x outputHeight x outputWidth */
    int outputHeight,  /* rows of the output */
    int outputWidth);  /* columns of the output */

/* Bilinear resampling of planes, backward: each gradient goes to the four elements that its output
 * element lay between, in the same shares. */
THC_API void THCUNN_(SpatialUpSamplingBilinear_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *gradOutput, /* in: nbatch x nchannels x outputHeight x outputWidth */
    THCTensor *gradInput,  /* out: nbatch x nchannels x inputHeight x inputWidth */
    int nbatch,            /* samples */
    int nchannels,         /* planes of a sample */
    int inputHeight,       /* rows of the forward call's input */
    int inputWidth,        /* columns of the forward call's input */
    int outputHeight,      /* rows of the forward call's output */
    int outputWidth);      /* columns of the forward call's output */

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

/* 3-D average pooling: output is the mean of each kT x kH x kW window; outputDepth is (depth + 2
 * padT - kT)/dT + 1, rounded down, or up with ceil_mode. */
THC_API void THCUNN_(VolumetricAveragePooling_updateOutput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x depth x height x width */
    THCTensor *output,       /* out: [batch x] planes x outputDepth x outputHeight x outputWidth */
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

/* 3-D average pooling, backward: each gradient goes to the elements of its window in equal shares. */
THC_API void THCUNN_(VolumetricAveragePooling_updateGradInput)(
    THCState *state,         /* where it runs */
    THCTensor *input,        /* in: [batch x] planes x depth x height x width */
    THCTensor *gradOutput,   /* in: [batch x] planes x outputDepth x outputHeight x outputWidth */
    THCTensor *gradInput,    /* out: shape of input */
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
THC_API void THCUNN_(VolumetricFractionalMaxPooling_updateOutput)(
    THCState *state,           /* where it runs */
    THCTensor *input,          /* in: [batch x] planes x height x width x time */
    THCTensor *output,         /* out: [batch x] planes x outputH x outputW x outputT */
    int outputT,               /* size of output in time; at most time - poolSizeT */
    int outputW,               /* columns of output */
    int outputH,               /* rows of output */
    int poolSizeT,             /* size of a region in time */
    int poolSizeW,             /* width of a region */
    int poolSizeH,             /* height of a region */
    THCIndexTensor *indices,   /* out: shape of output; element of the plane, from 1; 0 for none */
    THCTensor *randomSamples); /* in: batch x planes x 3; from 0 to 1: for time, columns, rows */

/* 3-D fractional max pooling, backward: each gradient goes to the element that was chosen. */
THC_API void THCUNN_(VolumetricFractionalMaxPooling_updateGradInput)(
    THCState *state,          /* where it runs */
    THCTensor *input,         /* in: [batch x] planes x height x width x time */
    THCTensor *gradOutput,    /* in: [batch x] planes x outputH x outputW x outputT */
    THCTensor *gradInput,     /* out: shape of input */
    int outputT,              /* size of gradOutput in time */
    int outputW,              /* columns of gradOutput */
    int outputH,              /* rows of gradOutput */
    int poolSizeT,            /* unused */
    int poolSizeW,            /* unused */
    int poolSizeH,            /* unused */
    THCIndexTensor *indices); /* in: shape of gradOutput; as left by the forward call */

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

/* ---- Volumetric sampling and padding --------------------------------------------------------- */

/* 3-D padding by replication: the first and the last slice, row and column go on for ever. */
THC_API void THCUNN_(VolumetricReplicationPadding_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: [batch x] planes x depth x height x width */
    THCTensor *output, /* out: as input, each size with the padding on either side */
    int pleft,         /* columns added on the left; negative: cut off */
    int pright,        /* columns added on the right; negative: cut off */
    int ptop,          /* rows added at the top; negative: cut off */
    int pbottom,       /* rows added at the bottom; negative: cut off */
    int pfront,        /* slices added at the front; negative: cut off */
    int pback);        /* slices added at the back; negative: cut off */

/* 3-D padding by replication, backward: the sum of the gradients of all elements that show an
 * input element. */
THC_API void THCUNN_(VolumetricReplicationPadding_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] planes x depth x height x width */
    THCTensor *gradOutput, /* in: shape of the forward call's output */
    THCTensor *gradInput,  /* out: shape of input */
    int pleft,             /* columns added on the left; negative: cut off */
    int pright,            /* columns added on the right; negative: cut off */
    int ptop,              /* rows added at the top; negative: cut off */
    int pbottom,           /* rows added at the bottom; negative: cut off */
    int pfront,            /* slices added at the front; negative: cut off */
    int pback);            /* slices added at the back; negative: cut off */

/* 3-D nearest-neighbour upsampling: each element becomes a cube with scale_factor elements on each
 * side. */
THC_API void THCUNN_(VolumetricUpSamplingNearest_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: [batch x] planes x depth x height x width */
    THCTensor *output, /* out: as input, the last three sizes times scale_factor */
    int scale_factor); /* 2 or more */

/* 3-D nearest-neighbour upsampling, backward: the sum of the gradients in each cube. */
THC_API void THCUNN_(VolumetricUpSamplingNearest_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *input,      /* in: [batch x] planes x depth x height x width */
    THCTensor *gradOutput, /* in: shape of the forward call's output */
    THCTensor *gradInput,  /* out: shape of input */
    int scale_factor);     /* as in the forward call */

/* Trilinear resampling of volumes. The corners of input and output coincide: output slice z lies
 * at z (depth - 1)/(outputDepth - 1). */
THC_API void THCUNN_(VolumetricUpSamplingTrilinear_updateOutput)(
    THCState *state,   /* where it runs */
    THCTensor *input,  /* in: batch x planes x depth x height x width */
    THCTensor *output, /* out: batch x planes x outputDepth x outputHeight x outputWidth */
    int outputDepth,   /* slices of the output */
    int outputHeight,  /* rows of the output */
    int outputWidth);  /* columns of the output */

/* Trilinear resampling of volumes, backward: each gradient goes to the eight elements that its
 * output element lay between, in the same shares. */
THC_API void THCUNN_(VolumetricUpSamplingTrilinear_updateGradInput)(
    THCState *state,       /* where it runs */
    THCTensor *gradOutput, /* in: nbatch x nchannels x outputDepth x outputHeight x outputWidth */
    THCTensor *gradInput,  /* out: nbatch x nchannels x inputDepth x inputHeight x inputWidth */
    int nbatch,            /* samples */
    int nchannels,         /* planes of a sample */
    int inputDepth,        /* slices of the forward call's input */
    int inputHeight,       /* rows of the forward call's input */
    int inputWidth,        /* columns of the forward call's input */
    int outputDepth,       /* slices of the forward call's output */
    int outputHeight,      /* rows of the forward call's output */
    int outputWidth);      /* columns of the forward call's output */
