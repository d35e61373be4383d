#include "geometry/adaptive.h"

#include <math.h>
#include <string.h>

#include "work/sizes.h"

THNNRange THNN_adaptiveRegion(int64_t input, int64_t output, int64_t position)
{
  return (THNNRange){position * input / output, divideUp((position + 1) * input, output)};
}

THNNRange THNN_adaptiveMaxRegion(int64_t input, int64_t output, int64_t position)
{
  const float end = (float)(position + 1) / (float)output * (float)input;
  THNNRange region = {THNN_adaptiveMaxBegin(input, output, position), (int64_t)ceilf(end)};
  /* A float cannot tell neighbouring large indices apart, so that an end can be off. */
  if (region.end > input)
    region.end = input;
  if (region.end <= region.begin)
    region.end = region.begin + 1;
  return region;
}

int64_t THNN_mostAdaptiveMaxLength(int64_t input, int64_t output)
{
  /* Each rounding moves an end by at most 2^-24 of the input before it becomes an index. There are
   * three at either end, of the position, the quotient and the product; the two of the sizes move
   * both ends in proportion, so that they lengthen a region by no more than two such parts. In all
   * that is 8 * 2^-24. */
  enum { ERRORS = 1 << 21 };
  const int64_t most = input / output + input / ERRORS + 4;
  return most < input ? most : input;
}

THNNRange THNN_adaptiveRegionsOver(int64_t input, int64_t output, int64_t index)
{
  return (THNNRange){index * output / input, divideUp((index + 1) * output, input)};
}

int64_t THNN_adaptiveElements(const THNNAdaptivePooling *pooling)
{
  return pooling->planes * pooling->outputHeight * pooling->outputWidth;
}

THNNRegionSums THNN_adaptiveRegionSums(const THNNAdaptivePooling *pooling, bool backward)
{
  const int64_t input[3] = {1, pooling->inputHeight, pooling->inputWidth};
  const int64_t output[3] = {1, pooling->outputHeight, pooling->outputWidth};
  THNNRegionSums sums = {.planes = pooling->planes, .backward = backward, .divided = true};
  const int64_t *source = backward ? output : input, *result = backward ? input : output;
  memcpy(sums.source, source, sizeof sums.source);
  memcpy(sums.result, result, sizeof sums.result);
  /* Rounding to indices can lengthen a region by 1 at either end. */
  sums.mostRows = source[1] / result[1] + 2;
  if (input[2] % output[2] == 0) {
    sums.regular = (THNNRange){0, output[2]};
    sums.step = input[2] / output[2];
  }
  return sums;
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
