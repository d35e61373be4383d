/* The twin of generic/pooling/SpatialMaxUnpooling.c. */
#include "cuda/generic/pooling/maxUnpooling.cuh"
#include "generic/pooling/checks.h"
#include "geometry/convolution.h"

static THNNConvolution geometryOf(const THCTensor *input, int owidth, int oheight)
{
  const bool batched = input->nDimension == 4;
  const int64_t *size = input->size + batched;
  return {batched ? input->size[0] : 1,
          size[0],
          size[0],
          {1, oheight, owidth},
          {1, size[1], size[2]},
          {1, 1, 1},
          {1, 1, 1},
          {1, 1, 1},
          {0, 0, 0},
          false,
          0,
          0,
          false,
          false};
}

void THCUNN_(SpatialMaxUnpooling_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                               THCIndexTensor *indices, int owidth, int oheight)
{
  THCMaxPoolingCall call = {"SpatialMaxUnpooling_updateOutput", state, THC_NAMED_BY_NUMBER, 3, {}};
  THNN_SpatialMaxUnpooling_shapeCheck(call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                                      THNN_SHAPE(indices, 4), 5, owidth, oheight);
  call.geometry = geometryOf(input, owidth, oheight);
  THCUNN_(maxUnpooling_updateOutput)(&call, input, output, indices);
}

void THCUNN_(SpatialMaxUnpooling_updateGradInput)(THCState *state, THCTensor *input,
                                                  THCTensor *gradOutput, THCTensor *gradInput,
                                                  THCIndexTensor *indices, int owidth, int oheight)
{
  THCMaxPoolingCall call = {
      "SpatialMaxUnpooling_updateGradInput", state, THC_NAMED_BY_NUMBER, 3, {}};
  THNN_SpatialMaxUnpooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                      THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6, owidth,
                                      oheight);
  call.geometry = geometryOf(input, owidth, oheight);
  THCUNN_(maxUnpooling_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}
