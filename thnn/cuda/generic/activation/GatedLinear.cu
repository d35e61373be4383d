/* The twin of generic/activation/GatedLinear.c. */
#include <string.h>

#include "cuda/THC/THCDivision.cuh"
#include "cuda/generic/shared/elementary.cuh"
#include "generic/activation/checks.h"

namespace
{

enum { MOST_DIMENSIONS = 64 };

/* Element i of the output is computed from element i + i / length * length of the input and from
 * the element `length` after that. */
template <typename Index> struct Forward {
  THCDivisor<Index> length;
  const real *input;
  __device__ void operator()(int64_t i, real &output) const
  {
    const Index first = (Index)i + length.quotient((Index)i) * length.value;
    output = input[first] * sigmoid(input[first + length.value]);
  }
};

template <typename Index> struct Backward {
  THCDivisor<Index> length;
  const real *input;
  real *gradInput;
  __device__ void operator()(int64_t i, const real &gradOutput) const
  {
    const Index first = (Index)i + length.quotient((Index)i) * length.value;
    const Index second = first + length.value;
    const real gate = input[second], through = sigmoid(gate) * gradOutput;
    const real gradGate = through * sigmoid(-gate) * input[first];
    gradInput[first] = through;
    gradInput[second] = gradGate;
  }
};

} // namespace

void THCUNN_(GatedLinear_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                       int dim)
{
  const char *function = "GatedLinear_updateOutput";
  const THNNHalves halves = THNN_GatedLinear_shapeCheck(function, THNN_SHAPE(input, 2),
                                                        THNN_NO_SHAPE, THNN_SCALAR(dim, 4));
  int64_t size[MOST_DIMENSIONS];
  memcpy(size, input->size, (size_t)input->nDimension * sizeof *size);
  size[dim - 1] /= 2;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, input->nDimension, size);
  THC_planAcquire(&plan);
  const int64_t count = halves.runs * halves.length;
  THC_withIndex(2 * count, [&](auto index) {
    typedef decltype(index) Index;
    const Forward<Index> map = {THCDivisor<Index>(halves.length), THC_pointer<const real>(in)};
    THC_apply(&plan, function, count, map, THC_pointer<real>(out));
  });
  THC_planRelease(&plan);
}

void THCUNN_(GatedLinear_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                          THCTensor *gradInput, int dim)
{
  const char *function = "GatedLinear_updateGradInput";
  const THNNHalves halves = THNN_GatedLinear_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SCALAR(dim, 5));

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  THC_planAcquire(&plan);
  const int64_t count = halves.runs * halves.length;
  THC_withIndex(2 * count, [&](auto index) {
    typedef decltype(index) Index;
    const Backward<Index> map = {THCDivisor<Index>(halves.length), THC_pointer<const real>(in),
                                 THC_pointer<real>(to)};
    THC_apply(&plan, function, count, map, THC_pointer<const real>(from));
  });
  THC_planRelease(&plan);
}
