/* The twin of generic/normalization/SpatialCrossMapLRN.c. */
#include <math.h>

#include "cuda/THC/THCDivision.cuh"
#include "cuda/generic/template.h"
#include "generic/normalization/checks.h"
#include "geometry/planes.h"

namespace
{

/* The window of an element: `before` channels, its own, and `after` channels, as far as they
 * exist. */
template <typename Index> struct Windows {
  THCDivisor<Index> positions, channels;
  Index before, after;

  Windows(const THNNPlanes &shape, int64_t before, int64_t after)
      : positions(shape.positions), channels(shape.planes),
        before((Index)(before < shape.planes ? before : shape.planes)),
        after((Index)(after < shape.planes ? after : shape.planes))
  {
  }

  /* The sum of term(element) over the window of element i. */
  template <typename Term> __device__ accreal sum(int64_t i, const Term &term) const
  {
    const Index channel = THC_divide(positions.quotient((Index)i), channels).remainder;
    const Index left = channel < before ? channel : before;
    const Index behind = channels.value - 1 - channel, right = behind < after ? behind : after;
    const Index first = (Index)i - left * positions.value;
    accreal sum = 0;
    for (Index c = 0; c <= left + right; c++)
      sum += term(first + c * positions.value);
    return sum;
  }
};

template <typename Index> struct Forward {
  Windows<Index> windows;
  accreal factor, k;
  real beta;
  const real *input;

  __device__ void operator()(int64_t i, real &output, real &scale) const
  {
    const real *x = input;
    const accreal squares =
        windows.sum(i, [x](Index at) { return (accreal)x[at] * (accreal)x[at]; });
    scale = (real)(k + factor * squares);
    output = x[i] * pow(scale, -beta);
  }
};

template <typename Index> struct Backward {
  Windows<Index> windows;
  accreal factor;
  real beta;
  const real *gradOutput, *output, *scale;

  __device__ void operator()(int64_t i, real &gradInput, const real &input) const
  {
    const real *g = gradOutput, *y = output, *s = scale;
    const accreal sum = windows.sum(i, [=](Index at) { return (accreal)g[at] * y[at] / s[at]; });
    gradInput = (real)(g[i] * pow(s[i], -beta) - factor * input * sum);
  }
};

} // namespace

void THCUNN_(SpatialCrossMapLRN_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                              THCTensor *scale, int size, accreal alpha,
                                              accreal beta, accreal k)
{
  const char *function = "SpatialCrossMapLRN_updateOutput";
  const THNNPlanes shape =
      THNN_SpatialCrossMapLRN_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                                         THNN_NO_SHAPE, THNN_NO_SHAPE, THNN_SCALAR(size, 5));
  const int64_t before = (size - 1) / 2, after = size - 1 - before;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOutLike(&plan, output, 3, input);
  const THNNBuffer *scales = THC_planOutLike(&plan, scale, 4, input);
  THC_planAcquire(&plan);
  const int64_t count = THCTensor_(nElement)(state, input);
  THC_withIndex(count, [&](auto index) {
    typedef decltype(index) Index;
    const Forward<Index> map = {Windows<Index>(shape, before, after), alpha / (accreal)size, k,
                                (real)beta, THC_pointer<const real>(in)};
    THC_apply(&plan, function, count, map, THC_pointer<real>(out), THC_pointer<real>(scales));
  });
  THC_planRelease(&plan);
}

void THCUNN_(SpatialCrossMapLRN_updateGradInput)(THCState *state, THCTensor *input,
                                                 THCTensor *gradOutput, THCTensor *gradInput,
                                                 THCTensor *scale, THCTensor *output, int size,
                                                 accreal alpha, accreal beta, accreal k)
{
  (void)k;
  const char *function = "SpatialCrossMapLRN_updateGradInput";
  const THNNPlanes shape = THNN_SpatialCrossMapLRN_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(scale, 5),
      THNN_SHAPE(output, 6), THNN_SCALAR(size, 7));
  const int64_t before = (size - 1) / 2, after = size - 1 - before;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *scales = THC_planIn(&plan, scale, 5);
  const THNNBuffer *kept = THC_planIn(&plan, output, 6);
  THC_planAcquire(&plan);
  const int64_t count = THCTensor_(nElement)(state, input);
  THC_withIndex(count, [&](auto index) {
    typedef decltype(index) Index;
    /* The channels whose windows hold this one: `after` of them come before it. */
    const Backward<Index> map = {Windows<Index>(shape, after, before),
                                 2 * alpha * beta / (accreal)size,
                                 (real)beta,
                                 THC_pointer<const real>(from),
                                 THC_pointer<const real>(kept),
                                 THC_pointer<const real>(scales)};
    THC_apply(&plan, function, count, map, THC_pointer<real>(to), THC_pointer<const real>(in));
  });
  THC_planRelease(&plan);
}
