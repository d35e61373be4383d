/* 3-D max unpooling: each value goes back to where max pooling found it, zeros elsewhere.
 *   input, indices  [batch x] planes x depth x height x width
 *   output          [batch x] planes x oT x oH x oW
 * indices are those of VolumetricMaxPooling: bytes 0, 1 and 2 are offsets from
 * (z*dT - pT, y*dH - pH, x*dW - pW), the first element of the window that the value at (z, y, x)
 * came from. An element that is named several times gets the last value. */
#include "generic/pooling/checks.h"
#include "generic/pooling/indices.h"
#include "geometry/convolutionCheck.h"
#include "geometry/pooling.h"

#ifdef THNN_ONCE
THNNConvolution THNN_VolumetricMaxUnpooling_shapeCheck(const char *function, THNNShape input,
                                                       THNNShape gradOutput, THNNShape indices,
                                                       int firstPosition, int oT, int oW, int oH,
                                                       int dT, int dW, int dH, int pT, int pW,
                                                       int pH)
{
  const char *layout = "[batch x] planes x depth x height x width";
  const int at = firstPosition;
  const THNNScalar positive[] = {THNN_SCALAR(oT, at),     THNN_SCALAR(oW, at + 1),
                                 THNN_SCALAR(oH, at + 2), THNN_SCALAR(dT, at + 3),
                                 THNN_SCALAR(dW, at + 4), THNN_SCALAR(dH, at + 5)};
  for (int i = 0; i < 6; i++)
    THNN_checkPositive(function, positive[i]);
  THNN_checkDimensions(function, input, 4, 5, layout);
  THNN_elements(function, input);
  THNN_checkSizes(function, indices, input.nDimension, input.size, "the sizes of input");
  const bool batched = input.nDimension == 5;
  const int64_t *size = input.size + batched;
  const THNNConvolution geometry = {.batch = batched ? input.size[0] : 1,
                                    .inputPlanes = size[0],
                                    .outputPlanes = size[0],
                                    .input = {oT, oH, oW},
                                    .output = {size[1], size[2], size[3]},
                                    .kernel = {1, 1, 1},
                                    .stride = {dT, dH, dW},
                                    .dilation = {1, 1, 1},
                                    .pad = {pT, pH, pW}};
  const int64_t wanted[] = {geometry.batch, size[0], oT, oH, oW};
  THNN_elements(function, THNN_makeShape("output", 3, 5, wanted));
  if (gradOutput.nDimension != THNN_NOT_PRESENT && batched)
    THNN_checkSizesOrMore(function, gradOutput, 5, wanted, "batch x planes x oT x oH x oW");
  else if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkSizes(function, gradOutput, 4, wanted + 1, "planes x oT x oH x oW");
  return geometry;
}
#endif

static THNNPooledIndices pooledFor(const char *function, const THNNState *state,
                                   const THNNConvolution *geometry)
{
  THNNPooledIndices pooled = {.function = function,
                              .state = state,
                              .planes = THNN_poolingPlanes(geometry),
                              .slices = geometry->output[0],
                              .rows = geometry->output[1],
                              .length = geometry->output[2],
                              .elements = THNN_convolutionImagePositions(geometry),
                              .expected = "offsets of elements inside the output"};
  THNN_(indices_describeTaps)(&pooled, geometry);
  return pooled;
}

void THNN_(VolumetricMaxUnpooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                THIndexTensor *indices, int oT, int oW, int oH,
                                                int dT, int dW, int dH, int pT, int pW, int pH)
{
  const char *function = "VolumetricMaxUnpooling_updateOutput";
  const THNNConvolution geometry = THNN_VolumetricMaxUnpooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(indices, 4), 5, oT, oW, oH, dT, dW,
      dH, pT, pW, pH);
  const THNNPooledIndices pooled = pooledFor(function, state, &geometry);
  int64_t size[5];
  const int nDimension = THNN_convolutionSizes(&geometry, 3, true, input->nDimension == 5, size);

  THNN_(indices_unpoolOutput)(&pooled, input, output, nDimension, size, indices);
}

void THNN_(VolumetricMaxUnpooling_updateGradInput)(THNNState *state, THTensor *input,
                                                   THTensor *gradOutput, THTensor *gradInput,
                                                   THIndexTensor *indices, int oT, int oW, int oH,
                                                   int dT, int dW, int dH, int pT, int pW, int pH)
{
  const char *function = "VolumetricMaxUnpooling_updateGradInput";
  const THNNConvolution geometry = THNN_VolumetricMaxUnpooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6, oT, oW,
      oH, dT, dW, dH, pT, pW, pH);
  const THNNPooledIndices pooled = pooledFor(function, state, &geometry);

  THNN_(indices_unpoolGradInput)(&pooled, input, gradOutput, gradInput, indices);
}
