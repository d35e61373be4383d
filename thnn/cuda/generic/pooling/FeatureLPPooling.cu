/* Pooling over neighbouring features: the p-norm of each window.
 *   inputTH, gradInputTH     [batch x] nFeature [x d1 [x d2]]; the batch is there when batchMode
 *   outputTH, gradOutputTH   the same with (nFeature - width) / stride + 1 features
 * output = (sum of input^power over the window)^(1/power);
 * gradInput = sum over the windows of gradOutput (input / output)^(power - 1); a window with
 * output 0 contributes 0. */
#include <math.h>

#include "cuda/THC/THCDivision.cuh"
#include "cuda/generic/template.h"
#include "generic/pooling/checks.h"

namespace
{

/* x^exponent, without a call of pow for the usual exponents. */
struct Power {
  real exponent;
  __device__ real operator()(real x) const
  {
    return exponent == 1 ? x : exponent == 2 ? x * x : pow(x, exponent);
  }
};

/* x^(1/exponent), likewise. */
struct Root {
  real exponent;
  __device__ real operator()(real x) const
  {
    return exponent == 1 ? x : exponent == 2 ? sqrt(x) : pow(x, 1 / exponent);
  }
};

/* The output of one window at one position. */
template <typename Index> struct Forward {
  THCDivisor<Index> positions, windows;
  Index features;
  int width, stride;
  Power power;
  Root root;
  const real *input;

  __device__ void operator()(int64_t i, real &output) const
  {
    const THCSplit<Index> at = THC_divide((Index)i, positions);
    const THCSplit<Index> window = THC_divide(at.quotient, windows);
    const Index first = window.quotient * features + window.remainder * stride;
    const real *x = input + first * positions.value + at.remainder;
    accreal sum = 0;
    for (int w = 0; w < width; w++)
      sum += power(x[w * positions.value]);
    output = root((real)sum);
  }
};

/* The gradient of one feature at one position: a sum over the windows that hold the feature. */
template <typename Index> struct Backward {
  THCDivisor<Index> columns, rows, features, stride;
  Index windows, outputRows, outputColumns;
  int width;
  Power power;
  const real *output, *gradOutput;

  __device__ void operator()(int64_t i, real &gradInput, const real &input) const
  {
    const THCSplit<Index> line = THC_divide((Index)i, columns);
    const THCSplit<Index> plane = THC_divide(line.quotient, rows);
    const THCSplit<Index> sample = THC_divide(plane.quotient, features);
    const Index feature = sample.remainder;
    Index last = stride.quotient(feature);
    if (last >= windows)
      last = windows - 1;
    accreal sum = 0;
    for (Index o = feature < (Index)width ? 0 : stride.quotient(feature - width) + 1; o <= last;
         o++) {
      const Index window = sample.quotient * windows + o;
      const Index at = (window * outputRows + plane.remainder) * outputColumns + line.remainder;
      const real y = output[at];
      sum += y == 0 ? 0 : gradOutput[at] * power(input / y);
    }
    gradInput = (real)sum;
  }
};

} // namespace

void THCUNN_(FeatureLPPooling_updateOutput)(THCState *state, THCTensor *inputTH,
                                            THCTensor *outputTH, accreal power, int width,
                                            int stride, bool batchMode)
{
  const char *function = "FeatureLPPooling_updateOutput";
  const THNNFeaturePooling pooling = THNN_FeatureLPPooling_shapeCheck(
      function, THNN_SHAPE(inputTH, 2), THNN_NO_SHAPE, THNN_NO_SHAPE, THNN_SCALAR(width, 5),
      THNN_SCALAR(stride, 6), batchMode);
  int64_t size[4];
  for (int i = 0; i < inputTH->nDimension; i++)
    size[i] = i == (batchMode ? 1 : 0) ? pooling.windows : inputTH->size[i];

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, inputTH, 2);
  const THNNBuffer *out = THC_planOut(&plan, outputTH, 3, inputTH->nDimension, size);
  THC_planAcquire(&plan);
  const int64_t positions = pooling.rows * pooling.columns;
  THC_withIndex(pooling.batch * pooling.features * positions, [&](auto index) {
    typedef decltype(index) Index;
    const Forward<Index> map = {THCDivisor<Index>(positions),
                                THCDivisor<Index>(pooling.windows),
                                (Index)pooling.features,
                                width,
                                stride,
                                {(real)power},
                                {(real)power},
                                THC_pointer<const real>(in)};
    THC_apply(&plan, function, pooling.batch * pooling.windows * positions, map,
              THC_pointer<real>(out));
  });
  THC_planRelease(&plan);
}

void THCUNN_(FeatureLPPooling_updateGradInput)(THCState *state, THCTensor *gradOutputTH,
                                               THCTensor *inputTH, THCTensor *outputTH,
                                               THCTensor *gradInputTH, accreal power, int width,
                                               int stride, bool batchMode)
{
  const char *function = "FeatureLPPooling_updateGradInput";
  const THNNFeaturePooling pooling = THNN_FeatureLPPooling_shapeCheck(
      function, THNN_SHAPE(inputTH, 3), THNN_SHAPE(gradOutputTH, 2), THNN_SHAPE(outputTH, 4),
      THNN_SCALAR(width, 7), THNN_SCALAR(stride, 8), batchMode);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutputTH, 2);
  const THNNBuffer *in = THC_planIn(&plan, inputTH, 3);
  const THNNBuffer *kept = THC_planIn(&plan, outputTH, 4);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInputTH, 5, inputTH);
  THC_planAcquire(&plan);
  const int64_t count = THCTensor_(nElement)(state, inputTH);
  const int64_t outputs = THCTensor_(nElement)(state, outputTH);
  THC_withIndex(count > outputs ? count : outputs, [&](auto index) {
    typedef decltype(index) Index;
    const Backward<Index> map = {THCDivisor<Index>(pooling.columns),
                                 THCDivisor<Index>(pooling.rows),
                                 THCDivisor<Index>(pooling.features),
                                 THCDivisor<Index>(stride),
                                 (Index)pooling.windows,
                                 (Index)pooling.outputRows,
                                 (Index)pooling.outputColumns,
                                 width,
                                 {(real)power - 1},
                                 THC_pointer<const real>(kept),
                                 THC_pointer<const real>(from)};
    THC_apply(&plan, function, count, map, THC_pointer<real>(to), THC_pointer<const real>(in));
  });
  THC_planRelease(&plan);
}
