/* The twin of generic/normalization/LayerNormalization.c. Sums are in accreal: the variance is that
 * of the distances from the mean, for which a row is read once more. */
#include "cuda/generic/shared/rows.cuh"
#include "generic/normalization/checks.h"

namespace
{

struct NormaliseRow {
  int64_t columns;
  accreal eps;
  const real *input, *weight, *bias;
  real *output, *means, *stds;

  /* Sums the distances of the elements from the first one, so that a large mean costs no
   * precision. */
  template <typename Team> __device__ void operator()(int64_t row, Team) const
  {
    const real *x = input + row * columns;
    const accreal first = x[0];
    accreal sum = 0, squares = 0;
    for (int64_t i = Team::rank(); i < columns; i += Team::SIZE)
      sum += x[i] - first;
    const accreal mean = first + Team::sum(sum) / columns;
    for (int64_t i = Team::rank(); i < columns; i += Team::SIZE)
      squares += (x[i] - mean) * (x[i] - mean);
    const accreal variance = Team::sum(squares) / columns;
    const real std = variance == 0 && eps == 0 ? real(0) : (real)(1 / sqrt(variance + eps));
    for (int64_t i = Team::rank(); i < columns; i += Team::SIZE)
      output[row * columns + i] =
          (real)((x[i] - mean) * std * (weight ? weight[i] : 1) + (bias ? bias[i] : 0));
    if (Team::rank() == 0) {
      means[row] = (real)mean;
      stds[row] = std;
    }
  }
};

struct NormaliseRowBackward {
  int64_t columns;
  const real *input, *gradOutput, *weight, *means, *stds;
  real *gradInput;

  template <typename Team> __device__ void operator()(int64_t row, Team) const
  {
    const real *x = input + row * columns, *g = gradOutput + row * columns;
    const accreal mean = means[row], std = stds[row];
    accreal gradient = 0, product = 0;
    for (int64_t i = Team::rank(); i < columns; i += Team::SIZE) {
      const accreal own = weight ? g[i] * weight[i] : g[i];
      gradient += own;
      product += own * (x[i] - mean);
    }
    gradient = Team::sum(gradient) / columns;
    const accreal slope = Team::sum(product) / columns * std * std;
    for (int64_t i = Team::rank(); i < columns; i += Team::SIZE) {
      const accreal own = weight ? g[i] * weight[i] : g[i];
      gradInput[row * columns + i] = (real)((own - gradient - (x[i] - mean) * slope) * std);
    }
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
          NormaliseRow{sizes.columns, eps, THC_pointer<const real>(in),
                       THC_pointer<const real>(factors), THC_pointer<const real>(offsets),
                       THC_pointer<real>(out), THC_pointer<real>(means), THC_pointer<real>(stds)});
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
          NormaliseRowBackward{sizes.columns, THC_pointer<const real>(in),
                               THC_pointer<const real>(from), THC_pointer<const real>(factors),
                               THC_pointer<const real>(means), THC_pointer<const real>(stds),
                               THC_pointer<real>(to)});
  THC_planRelease(&plan);
}
