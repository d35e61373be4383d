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
