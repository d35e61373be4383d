#include "THNNRegions.h"

#include <math.h>

static int64_t quotientUp(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

THNNRegion THNN_adaptiveRegion(int64_t input, int64_t output, int64_t position)
{
  return (THNNRegion){position * input / output, quotientUp((position + 1) * input, output)};
}

THNNRegion THNN_adaptiveMaxRegion(int64_t input, int64_t output, int64_t position)
{
  const float end = (float)(position + 1) / (float)output * (float)input;
  THNNRegion region = {THNN_adaptiveMaxBegin(input, output, position), (int64_t)ceilf(end)};
  /* Where a float no longer tells neighbouring indices apart. */
  if (region.end > input)
    region.end = input;
  if (region.end <= region.begin)
    region.end = region.begin + 1;
  return region;
}

int64_t THNN_mostAdaptiveMaxLength(int64_t input, int64_t output)
{
  /* Four roundings put an end wrong by up to 4 * 2^-24 of the input, and then it is rounded to an index. */
  enum { ERRORS = 1 << 21 };
  const int64_t most = input / output + input / ERRORS + 4;
  return most < input ? most : input;
}

THNNRegion THNN_adaptiveRegionsOver(int64_t input, int64_t output, int64_t index)
{
  return (THNNRegion){index * output / input, quotientUp((index + 1) * output, input)};
}

int64_t THNN_adaptiveElements(const THNNAdaptivePooling *pooling)
{
  return pooling->planes * pooling->outputHeight * pooling->outputWidth;
}

int THNN_adaptiveOutputSize(const THNNAdaptivePooling *pooling, THNNShape input, int64_t *size)
{
  const int last = input.nDimension - 1;
  for (int i = 0; i < last - 1; i++)
    size[i] = input.size[i];
  size[last - 1] = pooling->outputHeight;
  size[last] = pooling->outputWidth;
  return input.nDimension;
}
