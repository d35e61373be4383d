/* The twin of generic/pooling/TemporalMaxPooling.c. */
#include "cuda/generic/pooling/max.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(TemporalMaxPooling_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                              THCIndexTensor *indices, int kW, int dW)
{
  THCMaxPoolingCall call = {"TemporalMaxPooling_updateOutput", state, THC_NAMED_BY_FRAME, 2, {}};
  call.geometry = THNN_TemporalMaxPooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                     THNN_NO_SHAPE, THNN_NO_SHAPE, 5, kW, dW);
  THCUNN_(max_updateOutput)(&call, input, output, indices);
}

void THCUNN_(TemporalMaxPooling_updateGradInput)(THCState *state, THCTensor *input,
                                                 THCTensor *gradOutput, THCTensor *gradInput,
                                                 THCIndexTensor *indices, int kW, int dW)
{
  THCMaxPoolingCall call = {"TemporalMaxPooling_updateGradInput", state, THC_NAMED_BY_FRAME, 2, {}};
  call.geometry = THNN_TemporalMaxPooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                     THNN_SHAPE(gradOutput, 3),
                                                     THNN_SHAPE(indices, 5), 6, kW, dW);
  THCUNN_(max_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}
