#include "geometry/pooling.h"

#include <stdio.h>

#include "geometry/convolutionCheck.h"
#include "geometry/inside.h"
#include "work/sizes.h"

static const char *const layouts[2] = {"[batch x] planes x height x width",
                                       "[batch x] planes x depth x height x width"};

static void checkScalars(const THNNPoolingArguments *a)
{
  for (int i = 0; i < a->nDimension; i++) {
    THNN_checkPositive(a->function, a->kernel[i]);
    THNN_checkPositive(a->function, a->stride[i]);
    if (a->dilation[i].name)
      THNN_checkPositive(a->function, a->dilation[i]);
    const int64_t half = a->kernel[i].value / 2;
    if (a->pad[i].value <= half)
      continue;
    char expected[64], found[32];
    snprintf(expected, sizeof expected, "at most %lld, half of %s", (long long)half,
             a->kernel[i].name);
    snprintf(found, sizeof found, "%lld", (long long)a->pad[i].value);
    THNN_reject(a->function, a->pad[i].name, a->pad[i].position, expected, found);
  }
}

static void setGeometry(const THNNPoolingArguments *a, THNNConvolution *g)
{
  const bool batched = a->input.nDimension == a->nDimension + 2;
  *g = (THNNConvolution){.batch = batched ? a->input.size[0] : 1};
  g->inputPlanes = g->outputPlanes = a->input.size[batched];
  for (int i = 0; i < 3; i++)
    g->input[i] = g->output[i] = g->kernel[i] = g->stride[i] = g->dilation[i] = 1;
  for (int i = 0; i < a->nDimension; i++) {
    const int d = i + 3 - a->nDimension;
    g->input[d] = a->input.size[batched + 1 + i];
    g->kernel[d] = a->kernel[i].value;
    g->stride[d] = a->stride[i].value;
    g->pad[d] = a->pad[i].value;
    if (a->dilation[i].name)
      g->dilation[d] = a->dilation[i].value;
  }
  THNN_dropUnusedDilation(g);
}

/* The number of windows that fit; with ceilMode also one that begins inside but ends outside. */
static int64_t outputSize(const THNNConvolution *g, int dimension, bool ceilMode, bool padded)
{
  const int64_t reach = THNN_extent(g->kernel[dimension], g->dilation[dimension]);
  const int64_t room = g->input[dimension] + 2 * g->pad[dimension] - reach;
  const int64_t stride = g->stride[dimension];
  const int64_t output = 1 + (ceilMode ? ceilDivide(room, stride) : floorDivide(room, stride));
  /* Without any padding, the last window may begin outside if the stride is larger than the kernel:
   * sizes are those of the original library. */
  const bool beyond = (output - 1) * stride >= g->input[dimension] + g->pad[dimension];
  return padded && beyond ? output - 1 : output;
}

static void setOutput(const THNNPoolingArguments *a, THNNConvolution *g)
{
  const int first = 3 - a->nDimension;
  bool padded = false, small = false;
  for (int d = first; d < 3; d++)
    padded |= g->pad[d] != 0;
  for (int d = first; d < 3; d++) {
    g->output[d] = outputSize(g, d, a->ceilMode, padded);
    small |= g->output[d] < 1;
  }
  if (!small)
    return;
  const THNNText text = THNN_shapeText(THNN_makeShape("", 0, a->nDimension, g->output + first));
  THNN_rejectShape(a->function, a->input,
                   "an input large enough for kernel, padding and stride (the output would be %s)",
                   text.characters);
}

static void checkOutputShape(const THNNPoolingArguments *a, const THNNConvolution *g,
                             THNNShape shape)
{
  const bool batched = a->input.nDimension == a->nDimension + 2;
  int64_t wanted[5];
  const int count = THNN_convolutionSizes(g, a->nDimension, false, batched, wanted);
  if (batched)
    THNN_checkSizesOrMore(a->function, shape, count, wanted, layouts[a->nDimension - 2]);
  else
    THNN_checkSizes(a->function, shape, count, wanted, layouts[a->nDimension - 2]);
}

THNNConvolution THNN_poolingCheck(const THNNPoolingArguments *a)
{
  THNNConvolution geometry;
  checkScalars(a);
  THNN_checkDimensions(a->function, a->input, a->nDimension + 1, a->nDimension + 2,
                       layouts[a->nDimension - 2]);
  THNN_elements(a->function, a->input);
  setGeometry(a, &geometry);
  setOutput(a, &geometry);
  if (a->gradOutput.nDimension != THNN_NOT_PRESENT)
    checkOutputShape(a, &geometry, a->gradOutput);
  if (a->indices.nDimension != THNN_NOT_PRESENT)
    checkOutputShape(a, &geometry, a->indices);
  return geometry;
}

void THNN_checkPlaces(const char *function, THNNShape input, int nDimension)
{
  const int64_t *size = input.size + input.nDimension - nDimension;
  if (THNN_product(nDimension, size) > INT32_MAX)
    THNN_rejectShape(function, input, "planes of at most %d elements", INT32_MAX);
}

THNNTaps THNN_tapsInside(const THNNConvolution *g, int dimension, int64_t position)
{
  const int64_t start = position * g->stride[dimension] - g->pad[dimension];
  const THNNRange taps =
      THNN_indicesInside(start, g->dilation[dimension], g->kernel[dimension], g->input[dimension]);
  return (THNNTaps){start, taps.begin, taps.end};
}

THNNConvolution THNN_croppedWindows(const THNNConvolution *g)
{
  THNNConvolution windows = *g;
  for (int d = 0; d < 3; d++)
    windows.input[d] += minimum(g->pad[d], 0);
  return windows;
}

int64_t THNN_windowLength(const THNNConvolution *g, int dimension, int64_t position,
                          bool countPadding)
{
  const int64_t start = position * g->stride[dimension] - g->pad[dimension];
  const int64_t end = start + g->kernel[dimension], size = g->input[dimension];
  const int64_t length = countPadding ? minimum(end, size + maximum(g->pad[dimension], 0)) - start
                                      : minimum(end, size) - maximum(start, 0);
  return maximum(length, 1);
}

THNNRange THNN_wholeWindows(const THNNConvolution *g, int dimension)
{
  const int64_t last = g->kernel[dimension] - 1;
  const int64_t begin = THNN_convolutionTap(g, dimension, 0).begin;
  const int64_t end = THNN_convolutionTap(g, dimension, maximum(last, 0)).end;
  return (THNNRange){begin, maximum(begin, end)};
}

THNNRange THNN_windowsOver(const THNNConvolution *g, int dimension, int64_t index)
{
  const int64_t stride = g->stride[dimension], at = index + g->pad[dimension];
  const int64_t begin = maximum(ceilDivide(at - g->kernel[dimension] + 1, stride), 0);
  const int64_t end =
      minimum(index < g->input[dimension] ? floorDivide(at, stride) + 1 : 0, g->output[dimension]);
  return (THNNRange){begin, maximum(begin, end)};
}

int64_t THNN_mostRowsUnderWindow(const THNNConvolution *g)
{
  return maximum(minimum(g->kernel[0], g->input[0]), 0) *
         maximum(minimum(g->kernel[1], g->input[1]), 0);
}

int64_t THNN_outputRows(const THNNConvolution *g)
{
  return g->output[0] * g->output[1];
}

int64_t THNN_poolingPlanes(const THNNConvolution *g)
{
  return g->batch * g->inputPlanes;
}

static int64_t mostWindowsOver(const THNNConvolution *g, int dimension)
{
  return minimum((g->kernel[dimension] - 1) / g->stride[dimension] + 1, g->output[dimension]);
}

THNNRegionSums THNN_windowRegionSums(const THNNConvolution *g, bool backward)
{
  const THNNConvolution windows = THNN_croppedWindows(g);
  THNNRegionSums sums = {.planes = THNN_poolingPlanes(g),
                         .backward = backward,
                         .regular = THNN_wholeWindows(&windows, 2),
                         .step = g->stride[2]};
  for (int d = 0; d < 3; d++) {
    sums.source[d] = backward ? g->output[d] : g->input[d];
    sums.result[d] = backward ? g->input[d] : g->output[d];
  }
  sums.mostRows =
      backward ? mostWindowsOver(g, 0) * mostWindowsOver(g, 1) : THNN_mostRowsUnderWindow(g);
  return sums;
}

THNNRange THNN_windowSpan(const THNNConvolution *g, int dimension, int64_t index, bool backward)
{
  if (backward)
    return THNN_windowsOver(g, dimension, index);
  const THNNTaps taps = THNN_tapsInside(g, dimension, index);
  return (THNNRange){taps.start + taps.begin, taps.start + taps.end};
}
