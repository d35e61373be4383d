/* The three functions of convolutions in groups, transposed or not: a module checks its arguments
 * and calls these. Groups of a single image plane are joined plane by plane, all at once; others go
 * to the engine, group by group and all samples at once. */
#ifndef THCUNN_CONVOLUTION_GROUPED_CUH
#define THCUNN_CONVOLUTION_GROUPED_CUH

#include "cuda/generic/template.h"
#include "geometry/convolutionCheck.h"

/* The arguments: input #2, output #3, weight #4, bias #5 (may be NULL). */
void THCUNN_(grouped_updateOutput)(const char *function, THCState *state, const THNNGroups *groups,
                                   THCTensor *input, THCTensor *output, THCTensor *weight,
                                   THCTensor *bias);

/* The arguments: gradOutput #2, gradInput #3, weight #4. */
void THCUNN_(grouped_updateGradInput)(const char *function, THCState *state,
                                      const THNNGroups *groups, THCTensor *gradOutput,
                                      THCTensor *gradInput, THCTensor *weight, bool add);

/* The arguments: input #2, gradOutput #3, gradWeight #4, gradBias #5 (may be NULL). */
void THCUNN_(grouped_accGradParameters)(const char *function, THCState *state,
                                        const THNNGroups *groups, THCTensor *input,
                                        THCTensor *gradOutput, THCTensor *gradWeight,
                                        THCTensor *gradBias, accreal scale);

/* The gradient of the bias alone; nDimension counts the spatial dimensions. The arguments:
 * gradOutput #3, gradBias #5. */
void THCUNN_(grouped_accGradBias)(const char *function, THCState *state, int nDimension,
                                  THCTensor *gradOutput, THCTensor *gradBias, accreal scale);

#endif
