/* 2-D max unpooling: each value goes back to where max pooling found it, zeros elsewhere.
 *   input, indices  [batch x] planes x height x width
 *   output          [batch x] planes x oheight x owidth
 * indices are numbers of elements in an output plane, from 1. An element that is named several
 * times gets the last value. */
#include "generic/pooling/checks.h"
#include "generic/pooling/indices.h"

#ifdef THNN_ONCE
int64_t THNN_SpatialMaxUnpooling_shapeCheck(const char *function, THNNShape input,
                                            THNNShape gradOutput, THNNShape indices,
                                            int owidthPosition, int owidth, int oheight)
{
  const char *layout = "[batch x] planes x height x width";
  THNN_checkPositive(function, THNN_SCALAR(owidth, owidthPosition));
  THNN_checkPositive(function, THNN_SCALAR(oheight, owidthPosition + 1));
  THNN_checkDimensions(function, input, 3, 4, layout);
  THNN_elements(function, input);
  THNN_checkSizes(function, indices, input.nDimension, input.size, "the sizes of input");
  if (gradOutput.nDimension != THNN_NOT_PRESENT) {
    const int leading = input.nDimension - 2;
    int64_t wanted[4] = {input.size[0], input.size[1]};
    wanted[leading] = oheight;
    wanted[leading + 1] = owidth;
    THNN_checkPlanes(function, gradOutput, input.nDimension, wanted, 2, layout);
  }
  return THNN_product(input.nDimension - 2, input.size);
}
#endif

static THNNPooledIndices pooledFor(const char *function, const THNNState *state, int64_t planes,
                                   const THTensor *input, int owidth, int oheight)
{
  const int last = input->nDimension - 1;
  return (THNNPooledIndices){.function = function,
                             .state = state,
                             .planes = planes,
                             .slices = 1,
                             .rows = input->size[last - 1],
                             .length = input->size[last],
                             .elements = (int64_t)oheight * owidth};
}

void THNN_(SpatialMaxUnpooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                             THIndexTensor *indices, int owidth, int oheight)
{
  const char *function = "SpatialMaxUnpooling_updateOutput";
  const int64_t planes = THNN_SpatialMaxUnpooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(indices, 4), 5, owidth, oheight);
  const THNNPooledIndices pooled = pooledFor(function, state, planes, input, owidth, oheight);
  const int leading = input->nDimension - 2;
  int64_t size[4] = {input->size[0], input->size[1]};
  size[leading] = oheight;
  size[leading + 1] = owidth;

  THNN_(indices_unpoolOutput)(&pooled, input, output, leading + 2, size, indices);
}

void THNN_(SpatialMaxUnpooling_updateGradInput)(THNNState *state, THTensor *input,
                                                THTensor *gradOutput, THTensor *gradInput,
                                                THIndexTensor *indices, int owidth, int oheight)
{
  const char *function = "SpatialMaxUnpooling_updateGradInput";
  const int64_t planes =
      THNN_SpatialMaxUnpooling_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                                          THNN_SHAPE(indices, 5), 6, owidth, oheight);
  const THNNPooledIndices pooled = pooledFor(function, state, planes, input, owidth, oheight);

  THNN_(indices_unpoolGradInput)(&pooled, input, gradOutput, gradInput, indices);
}
