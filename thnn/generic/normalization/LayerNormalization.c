/* Layer normalisation: each row by its own mean and variance.
 *   input, output, gradOutput, gradInput   rows x columns
 *   weight, bias                           columns
 *   save_mean, save_std                    rows: mean, and 1 / sqrt(variance + eps)
 *
 * normed = (input - mean) std;  output = normed weight + bias
 * gradInput = (g - mean(g) - normed mean(g normed)) std,  g = gradOutput weight */
#include "generic/normalization/checks.h"
#include "generic/normalization/rowStatistics.h"
#include "generic/template.h"

enum { COST = 4 }; /* what an element costs, as a multiple of copying it */

#ifdef THNN_ONCE
THNNRows THNN_LayerNormalization_shapeCheck(const char *function, THNNShape input, THNNShape weight,
                                            THNNShape bias)
{
  THNN_checkNotEmpty(function, input);
  THNN_checkDimensions(function, input, 2, 2, "rows x columns");
  const THNNRows sizes = {input.size[0], input.size[1]};
  if (THNN_given(weight))
    THNN_checkVector(function, weight, sizes.columns, "columns");
  if (THNN_given(bias))
    THNN_checkVector(function, bias, sizes.columns, "columns");
  return sizes;
}

THNNRows THNN_LayerNormalization_backwardCheck(const char *function, THNNShape input,
                                               THNNShape gradOutput, THNNShape weight,
                                               THNNShape mean, THNNShape std)
{
  const THNNRows sizes = THNN_LayerNormalization_shapeCheck(function, input, weight, THNN_NO_SHAPE);
  THNN_checkSizes(function, gradOutput, 2, input.size, "rows x columns");
  THNN_checkVector(function, mean, sizes.rows, "rows");
  THNN_checkVector(function, std, sizes.rows, "rows");
  return sizes;
}
#endif

void THNN_(LayerNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THTensor *weight, THTensor *bias, THTensor *save_mean,
                                            THTensor *save_std, accreal eps)
{
  const char *function = "LayerNormalization_updateOutput";
  const THNNRows sizes = THNN_LayerNormalization_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5));
  const int64_t rows = sizes.rows, columns = sizes.columns;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOutLike(&plan, output, 3, input);
  THNNBuffer *factors = weight ? THNN_planIn(&plan, weight, 4) : NULL;
  THNNBuffer *offsets = bias ? THNN_planIn(&plan, bias, 5) : NULL;
  THNNBuffer *means = THNN_planOut(&plan, save_mean, 6, 1, &rows);
  THNNBuffer *stds = THNN_planOut(&plan, save_std, 7, 1, &rows);
  /* For each element of a row: what is subtracted, a factor, and what is added afterwards. */
  THNNBuffer *parameters = THNN_planScratch(&plan, (size_t)(3 * columns) * sizeof(real));
  THNN_planAcquire(&plan);

  real *of = parameters->data;
  THNN_(simd).pointwise.fill(columns, 0, of);
  for (int i = 1; i < 3; i++) {
    const THNNBuffer *given = i == 1 ? factors : offsets;
    if (given)
      THNN_(simd).pointwise.copy(columns, given->data, of + i * columns);
    else
      THNN_(simd).pointwise.fill(columns, i == 1, of + i * columns);
  }
  const bool plain = !factors && !offsets;
  const int threads = THNN_threads(state, rows, (double)rows * (double)columns * COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < rows; i++) {
    const real *x = (const real *)in->data + i * columns;
    real *y = (real *)out->data + i * columns;
    real ofRow[] = {0, 0, 0};
    rowStatistics(&THNN_(simd).channels.moments, columns, x, eps, &ofRow[0], &ofRow[1]);
    ((real *)means->data)[i] = ofRow[0];
    ((real *)stds->data)[i] = ofRow[1];
    THNN_(simd).channels.normalise.plane(columns, x, NULL, ofRow, y);
    if (!plain)
      THNN_(simd).channels.normalise.row(columns, y, NULL, of, columns, y);
  }
  THNN_planRelease(&plan);
}

void THNN_(LayerNormalization_updateGradInput)(THNNState *state, THTensor *input,
                                               THTensor *gradOutput, THTensor *gradInput,
                                               THTensor *weight, THTensor *save_mean,
                                               THTensor *save_std)
{
  const char *function = "LayerNormalization_updateGradInput";
  const THNNRows sizes = THNN_LayerNormalization_backwardCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_SHAPE(save_mean, 6), THNN_SHAPE(save_std, 7));
  const int64_t rows = sizes.rows, columns = sizes.columns;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *factors = weight ? THNN_planIn(&plan, weight, 5) : NULL;
  THNNBuffer *means = THNN_planIn(&plan, save_mean, 6);
  THNNBuffer *stds = THNN_planIn(&plan, save_std, 7);
  THNN_planAcquire(&plan);

  const int threads = THNN_threads(state, rows, (double)rows * (double)columns * COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < rows; i++) {
    const real *x = (const real *)in->data + i * columns;
    const real *g = (const real *)from->data + i * columns;
    real *y = (real *)to->data + i * columns;
    const real mean = ((const real *)means->data)[i], std = ((const real *)stds->data)[i];
    double sums[2] = {0, 0};
    if (factors) {
      THNN_(simd).channels.weigh(columns, x, g, factors->data, mean, sums, y);
      g = y;
    } else {
      THNN_(simd).channels.gradients.planes(1, columns, columns, x, g, mean, sums);
    }
    const double projection = sums[1] / (double)columns * (double)std * (double)std;
    const real ofRow[] = {mean, (real)(sums[0] / (double)columns), (real)projection, std};
    THNN_(simd).channels.normaliseBackward.plane(columns, x, g, ofRow, y);
  }
  THNN_planRelease(&plan);
}
