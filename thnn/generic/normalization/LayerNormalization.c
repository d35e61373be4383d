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

/* Copies the parameters of a row's elements, or fills in what stands for them. */
static void copyOr(int64_t columns, const THNNBuffer *given, real none, real *parameters)
{
  if (given)
    THNN_(simd).pointwise.copy(columns, given->data, parameters);
  else
    THNN_(simd).pointwise.fill(columns, none, parameters);
}

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
  THNNBuffer *parameters = THNN_planScratch(&plan, (size_t)(2 * columns) * sizeof(real));
  THNN_planAcquire(&plan);

  real *weights = parameters->data, *biases = weights + columns;
  copyOr(columns, factors, 1, weights);
  copyOr(columns, offsets, 0, biases);
  const bool plain = !factors && !offsets;
  const int64_t together = rowsTogether(rows, columns), blocks = divideUp(rows, together);
  const int threads = THNN_threads(state, blocks, (double)rows * (double)columns * COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks; block++) {
    const int64_t first = block * together, end = minimum(first + together, rows);
    real *mean = means->data, *std = stds->data;
    rowStatistics(&THNN_(simd).channels.moments, end - first, columns,
                  (const real *)in->data + first * columns, eps, mean + first, std + first);
    for (int64_t i = first; i < end; i++) {
      const real *x = (const real *)in->data + i * columns;
      real *y = (real *)out->data + i * columns;
      if (plain)
        THNN_(simd).channels.normalise.plane(columns, x, NULL, (const real[]){mean[i], std[i], 0},
                                             y);
      else
        THNN_(simd).channels.normaliseWeighted(columns, x, mean[i], std[i], weights, biases, y);
    }
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
  THNNBuffer *ones = THNN_planScratch(&plan, factors ? 0 : (size_t)columns * sizeof(real));
  THNN_planAcquire(&plan);

  const real *weights = factors ? factors->data : ones->data;
  if (!factors)
    THNN_(simd).pointwise.fill(columns, 1, ones->data);
  const THNNBlocks blocks = THNN_rowBlocks(rows, columns);
  const int threads = THNN_threads(state, blocks.count, (double)rows * (double)columns * COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    const int64_t i = block * blocks.length;
    const RowGradients of = {THNN_blockLength(&blocks, block),
                             columns,
                             1,
                             (const real *)in->data + i * columns,
                             (const real *)from->data + i * columns,
                             (const real *)means->data + i,
                             (const real *)stds->data + i};
    THNN_(simd).channels.differentiateRows(columns, &of, weights, 0, (real *)to->data + i * columns,
                                           NULL, NULL);
  }
  THNN_planRelease(&plan);
}
