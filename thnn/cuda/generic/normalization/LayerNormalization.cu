/* The twin of generic/normalization/LayerNormalization.c. */
#include "cuda/generic/normalization/normaliseRows.cuh"
#include "generic/normalization/checks.h"

namespace
{

struct Columns {
  int64_t columns;
  __device__ int64_t elements() const { return columns; }
  __device__ int64_t parameter(int64_t row, int64_t i) const
  {
    (void)row;
    return i;
  }
};

} // namespace

void THCUNN_(LayerNormalization_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                              THCTensor *weight, THCTensor *bias,
                                              THCTensor *save_mean, THCTensor *save_std,
                                              accreal eps)
{
  const char *function = "LayerNormalization_updateOutput";
  const THNNRows sizes = THNN_LayerNormalization_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5));

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOutLike(&plan, output, 3, input);
  const THNNBuffer *factors = weight ? THC_planIn(&plan, weight, 4) : nullptr;
  const THNNBuffer *offsets = bias ? THC_planIn(&plan, bias, 5) : nullptr;
  const THNNBuffer *means = THC_planOut(&plan, save_mean, 6, 1, &sizes.rows);
  const THNNBuffer *stds = THC_planOut(&plan, save_std, 7, 1, &sizes.rows);
  THC_planAcquire(&plan);
  forRows(&plan, sizes.rows, sizes.columns,
          NormaliseRow<Columns>{{sizes.columns},
                                eps,
                                THC_pointer<const real>(in),
                                THC_pointer<const real>(factors),
                                THC_pointer<const real>(offsets),
                                THC_pointer<real>(out),
                                THC_pointer<real>(means),
                                THC_pointer<real>(stds)});
  THC_planRelease(&plan);
}

void THCUNN_(LayerNormalization_updateGradInput)(THCState *state, THCTensor *input,
                                                 THCTensor *gradOutput, THCTensor *gradInput,
                                                 THCTensor *weight, THCTensor *save_mean,
                                                 THCTensor *save_std)
{
  const char *function = "LayerNormalization_updateGradInput";
  const THNNRows sizes = THNN_LayerNormalization_backwardCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_SHAPE(save_mean, 6), THNN_SHAPE(save_std, 7));

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *factors = weight ? THC_planIn(&plan, weight, 5) : nullptr;
  const THNNBuffer *means = THC_planIn(&plan, save_mean, 6);
  const THNNBuffer *stds = THC_planIn(&plan, save_std, 7);
  THC_planAcquire(&plan);
  forRows(&plan, sizes.rows, sizes.columns,
          NormaliseRowBackward<Columns>{{sizes.columns},
                                        THC_pointer<const real>(in),
                                        THC_pointer<const real>(from),
                                        THC_pointer<const real>(factors),
                                        THC_pointer<const real>(means),
                                        THC_pointer<const real>(stds),
                                        THC_pointer<real>(to)});
  THC_planRelease(&plan);
}
