/* Lookup table: takes rows of a weight, forward and backward, and renormalises rows.
 *   input, idx           indices of rows
 *   output               a row per index
 *   gradOutput           a row per index, in any shape that has its elements in that order
 *   gradWeight, weight   rows x columns
 *
 * gradWeight[index] += scale * gradOutput, divided by how often the index occurs if scaleGradByFreq
 * is set; the index paddingValue is skipped. Rows in idx whose norm exceeds maxNorm are multiplied
 * by maxNorm / (norm + 1e-7). */
#include <math.h>
#include <stdio.h>

#include "call/indices.h"
#include "generic/linear/checks.h"
#include "generic/template.h"
#include "work/rows.h"

#ifdef THNN_ONCE
THNNTable THNN_LookupTable_shapeCheck(const char *function, THNNShape indices, int mostDimensions,
                                      THNNShape weight, THNNShape gradOutput)
{
  THNN_checkDimensions(function, indices, 1, mostDimensions, "indices");
  THNN_checkDimensions(function, weight, 2, 2, "rows x columns");
  THNN_elements(function, weight);
  const THNNTable sizes = {THNN_elements(function, indices), weight.size[0], weight.size[1]};
  if (gradOutput.nDimension != THNN_NOT_PRESENT) {
    const int64_t wanted[] = {sizes.indices, sizes.columns};
    THNN_checkElements(function, gradOutput, THNN_product(2, wanted), "indices x columns");
  }
  return sizes;
}
#endif

void THNN_(LookupTable_updateOutput)(THNNState *state, THIndexTensor *input, THTensor *weight,
                                     THTensor *output)
{
  const char *function = "LookupTable_updateOutput";
  const THNNTable sizes = THNN_LookupTable_shapeCheck(function, THNN_SHAPE(input, 2), 2,
                                                      THNN_SHAPE(weight, 3), THNN_NO_SHAPE);
  THNN_checkIndices(state, THNN_INDICES(function, input, 2), sizes.indices, TH_INDEX_BASE,
                    sizes.rows - 1 + TH_INDEX_BASE, "rows of weight");
  int64_t size[] = {input->size[0], sizes.columns, sizes.columns};
  if (input->nDimension == 2)
    size[1] = input->size[1];

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *table = THNN_planIn(&plan, weight, 3);
  THNNBuffer *out = THNN_planOut(&plan, output, 4, input->nDimension + 1, size);
  THNN_planAcquire(&plan);

  const int64_t *index = in->data, columns = sizes.columns;
  const real *rows = table->data;
  real *y = out->data;
  const THNNBlocks blocks = THNN_rowBlocks(sizes.indices, columns);
  const int threads = THNN_threads(state, blocks.count, (double)sizes.indices * (double)columns);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++) {
    const int64_t first = i * blocks.length, end = first + THNN_blockLength(&blocks, i);
    for (int64_t at = first; at < end; at++)
      THNN_(simd).pointwise.copy(columns, rows + (index[at] - TH_INDEX_BASE) * columns,
                                 y + at * columns);
  }
  THNN_planRelease(&plan);
}

void THNN_(LookupTable_accGradParameters)(THNNState *state, THIndexTensor *input,
                                          THTensor *gradOutput, THTensor *gradWeight,
                                          THIntegerTensor *count, THTensor *sorted,
                                          THIndexTensor *indices, bool scaleGradByFreq,
                                          int paddingValue, accreal scale)
{
  const char *function = "LookupTable_accGradParameters";
  const THNNTable sizes = THNN_LookupTable_shapeCheck(
      function, THNN_SHAPE(input, 2), 2, THNN_SHAPE(gradWeight, 4), THNN_SHAPE(gradOutput, 3));
  THNN_checkIndices(state, THNN_INDICES(function, input, 2), sizes.indices, TH_INDEX_BASE,
                    sizes.rows - 1 + TH_INDEX_BASE, "rows of gradWeight");
  (void)count, (void)sorted, (void)indices;
  const size_t countBytes = scaleGradByFreq ? (size_t)sizes.rows * sizeof(int64_t) : 0;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planInOut(&plan, gradWeight, 4);
  THNNBuffer *scratch = THNN_planScratch(&plan, countBytes);
  THNN_planAcquire(&plan);

  const int64_t *index = in->data, columns = sizes.columns;
  int64_t *counts = scratch->data;
  if (scaleGradByFreq)
    THNN_countIndices(sizes.indices, index, counts);
  const THNNRowShares shares = THNN_shareRows(state, sizes.indices, columns, sizeof(real));
#pragma omp parallel for num_threads(shares.count) schedule(static, 1)
  for (int share = 0; share < shares.count; share++)
    for (int64_t i = 0; i < sizes.indices; i++) {
      const int64_t row = index[i] - TH_INDEX_BASE;
      if (index[i] == paddingValue || !THNN_ownsRow(&shares, share, row))
        continue;
      const double factor = scaleGradByFreq ? scale / (double)counts[row] : scale;
      THNN_(simd).pointwise.axpy(columns, (real)factor, (const real *)from->data + i * columns,
                                 (real *)to->data + row * columns);
    }
  THNN_planRelease(&plan);
}

/* The p-norm of one row; `terms` is scratch for n elements. */
static double normOf(int64_t n, const real *x, double p, real *terms)
{
  if (p == 2) {
    THNN_(simd).activation.square(n, x, NULL, terms);
  } else {
    const real exponent = (real)p;
    THNN_(simd).activation.abs(n, x, NULL, terms);
    if (p != 1)
      THNN_(simd).elementary.power(n, terms, &exponent, terms);
  }
  const double sum = THNN_(simd).reduce.sum(n, terms);
  return p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

/* Lists the rows that occur in `index`, each once, and returns their number. `isListed` is scratch
 * with a mark for every row of the weight. */
static int64_t listRows(int64_t n, const int64_t *index, bool *isListed, int64_t *rows)
{
  for (int64_t i = 0; i < n; i++)
    isListed[index[i] - TH_INDEX_BASE] = false;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t row = index[i] - TH_INDEX_BASE;
    if (!isListed[row])
      rows[count++] = row;
    isListed[row] = true;
  }
  return count;
}

void THNN_(LookupTable_renorm)(THNNState *state, THIndexTensor *idx, THTensor *weight,
                               accreal maxNorm, accreal normType)
{
  const char *function = "LookupTable_renorm";
  const THNNTable sizes = THNN_LookupTable_shapeCheck(function, THNN_SHAPE(idx, 2), 1,
                                                      THNN_SHAPE(weight, 3), THNN_NO_SHAPE);
  if (!(normType > 0)) {
    char found[32];
    snprintf(found, sizeof found, "%g", normType);
    THNN_reject(function, "normType", 5, "more than 0", found);
  }
  THNN_checkIndices(state, THNN_INDICES(function, idx, 2), sizes.indices, TH_INDEX_BASE,
                    sizes.rows - 1 + TH_INDEX_BASE, "rows of weight");
  const int64_t columns = sizes.columns;
  const int threads = THNN_threads(state, sizes.indices, (double)sizes.indices * (double)columns);
  const int64_t room = THNN_wholeLines(columns, sizeof(real));

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, idx, 2);
  THNNBuffer *table = THNN_planInOut(&plan, weight, 3);
  THNNBuffer *marks = THNN_planScratch(&plan, (size_t)sizes.rows * sizeof(bool));
  THNNBuffer *list = THNN_planScratch(&plan, (size_t)sizes.indices * sizeof(int64_t));
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)(threads * room) * sizeof(real));
  THNN_planAcquire(&plan);

  const int64_t *rows = list->data;
  const int64_t count = listRows(sizes.indices, in->data, marks->data, list->data);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < count; i++) {
    real *row = (real *)table->data + rows[i] * columns;
    const double norm =
        normOf(columns, row, normType, (real *)scratch->data + THNN_threadIndex() * room);
    if (norm > maxNorm)
      THNN_(simd).pooling.scale(columns, (real)(maxNorm / (norm + 1e-7)), row, row);
  }
  THNN_planRelease(&plan);
}
