/* The twin of generic/linear/Linear.c. */
#include "cuda/THC/THCBlas.h"
#include "cuda/generic/linear/linear.cuh"
#include "generic/linear/checks.h"

namespace
{
struct Zero {
  __device__ void operator()(real &element) const { element = 0; }
};
} // namespace

void THCUNN_(Linear_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                  THCTensor *weight, THCTensor *bias, THCTensor *addBuffer)
{
  const char *function = "Linear_updateOutput";
  const THNNLinear sizes = THNN_Linear_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                                                  THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5));
  THNN_checkGiven(function, THNN_SHAPE(output, 3));
  (void)addBuffer;
  if (sizes.batch == 0)
    return;
  const int64_t outputSize[] = {sizes.batch, sizes.outputs};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out =
      THC_planOut(&plan, output, 3, input->nDimension, outputSize + (input->nDimension == 1));
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 4);
  const THNNBuffer *start = bias ? THC_planIn(&plan, bias, 5) : nullptr;
  THC_planBlas(&plan);
  THC_planAcquire(&plan);
  real *y = THC_pointer<real>(out);
  if (start)
    repeatBias(&plan, sizes.batch, sizes.outputs, THC_pointer<const real>(start), y);
  THC_multiply(&plan, 1, sizes.batch, sizes.outputs, sizes.inputs, real(1),
               THC_matrix(THC_pointer<const real>(in), sizes.inputs),
               THC_matrix(THC_pointer<const real>(matrix), sizes.inputs, true), real(start ? 1 : 0),
               THC_matrix(y, sizes.outputs));
  THC_planRelease(&plan);
}

void THCUNN_(Linear_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                     THCTensor *gradInput, THCTensor *weight)
{
  const char *function = "Linear_updateGradInput";
  const THNNLinear sizes =
      THNN_Linear_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                             THNN_SHAPE(weight, 5), THNN_NO_SHAPE);
  if (!gradInput)
    return;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 5);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);
  real *gradient = THC_pointer<real>(to);
  if (sizes.batch == 0)
    THC_apply(&plan, function, THCTensor_(nElement)(state, input), Zero{}, gradient);
  else
    THC_multiply(&plan, 1, sizes.batch, sizes.inputs, sizes.outputs, real(1),
                 THC_matrix(THC_pointer<const real>(from), sizes.outputs),
                 THC_matrix(THC_pointer<const real>(matrix), sizes.inputs), real(0),
                 THC_matrix(gradient, sizes.inputs));
  THC_planRelease(&plan);
}

void THCUNN_(Linear_accGradParameters)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                       THCTensor *gradInput, THCTensor *weight, THCTensor *bias,
                                       THCTensor *gradWeight, THCTensor *gradBias,
                                       THCTensor *addBuffer, accreal scale)
{
  const char *function = "Linear_accGradParameters";
  const THNNLinear sizes = THNN_Linear_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 7),
      bias ? THNN_SHAPE(gradBias, 8) : THNN_NO_SHAPE);
  (void)gradInput, (void)weight, (void)addBuffer;
  if (bias)
    THNN_checkGiven(function, THNN_SHAPE(gradBias, 8));
  if (sizes.batch == 0)
    return;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *matrix = THC_planInOut(&plan, gradWeight, 7);
  const THNNBuffer *vector = bias ? THC_planInOut(&plan, gradBias, 8) : nullptr;
  const THNNBuffer *scratch = THC_planScratch(&plan, biasScratchBytes(sizes.batch, sizes.outputs));
  THC_planBlas(&plan);
  THC_planAcquire(&plan);
  const real *g = THC_pointer<const real>(from);
  THC_multiply(&plan, 1, sizes.outputs, sizes.inputs, sizes.batch, (real)scale,
               THC_matrix(g, sizes.outputs, true),
               THC_matrix(THC_pointer<const real>(in), sizes.inputs), real(1),
               THC_matrix(THC_pointer<real>(matrix), sizes.inputs));
  if (vector)
    addBiasGradient(&plan, sizes.batch, sizes.outputs, scale, g, THC_pointer<real>(vector),
                    scratch);
  THC_planRelease(&plan);
}
