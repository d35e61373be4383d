#include "THNNConvolution.h"

static int64_t product(const int64_t *size)
{
  return size[0] * size[1] * size[2];
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
  return value < low ? low : value > high ? high : value;
}

/* The first map position whose image index, position*stride + start, is at least `index`. */
static int64_t firstPositionFrom(int64_t index, int64_t start, int64_t stride)
{
  return index <= start ? 0 : (index - start + stride - 1) / stride;
}

THNNConvolutionTap THNN_convolutionTap(const THNNConvolution *geometry, int dimension, int64_t tap)
{
  const int64_t output = geometry->output[dimension], stride = geometry->stride[dimension];
  const int64_t start = tap * geometry->dilation[dimension] - geometry->pad[dimension];
  const int64_t begin = clamp(firstPositionFrom(0, start, stride), 0, output);
  const int64_t end =
      clamp(firstPositionFrom(geometry->input[dimension], start, stride), begin, output);
  return (THNNConvolutionTap){start, begin, end};
}

int64_t THNN_convolutionTaps(const THNNConvolution *geometry)
{
  return product(geometry->kernel);
}

int64_t THNN_convolutionImagePositions(const THNNConvolution *geometry)
{
  return product(geometry->input);
}

int64_t THNN_convolutionMapPositions(const THNNConvolution *geometry)
{
  return product(geometry->output);
}

bool THNN_convolutionIsPointwise(const THNNConvolution *geometry)
{
  for (int i = 0; i < 3; i++)
    if (geometry->kernel[i] != 1 || geometry->stride[i] != 1 || geometry->pad[i] != 0 ||
        geometry->input[i] != geometry->output[i])
      return false;
  return true;
}
