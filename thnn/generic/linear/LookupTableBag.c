/* Sums or means over bags of rows of a table.
 *   input               indices of rows, bag after bag
 *   offsets             where bags begin in input, in order, the first at 1; a bag may be empty
 *   offset2bag          the bag of each index
 *   seq_length          the number of indices in each bag
 *   weight, gradWeight  rows x columns
 *   output, gradOutput  bags x columns */

#include "call/indices.h"
#include "generic/linear/checks.h"
#include "generic/template.h"
#include "work/rows.h"

enum { SUM, MEAN };

#ifdef THNN_ONCE
THNNTable THNN_LookupTableBag_shapeCheck(const char *function, THNNShape input, THNNShape weight,
                                         THNNScalar mode)
{
  THNN_checkAtLeast(function, mode, SUM);
  THNN_checkAtMost(function, mode, MEAN);
  THNN_checkDimensions(function, input, 1, 1, "indices");
  THNN_checkDimensions(function, weight, 2, 2, "rows x columns");
  THNN_elements(function, weight);
  return (THNNTable){input.size[0], weight.size[0], weight.size[1]};
}
#endif

static void checkRows(const char *function, const THNNState *state, const THIndexTensor *input,
                      const THNNTable *sizes)
{
  THNN_checkIndices(state, THNN_INDICES(function, input, 2), sizes->indices, TH_INDEX_BASE,
                    sizes->rows - 1 + TH_INDEX_BASE, "rows of the table");
}

static void checkOffsets(const char *function, const THIndexTensor *offsets, int64_t indices)
{
  int64_t least = TH_INDEX_BASE, most = TH_INDEX_BASE;
  for (int64_t b = 0; b < offsets->size[0]; b++) {
    const int64_t offset = THNN_indexAt(offsets, b);
    if (offset < least || offset > most)
      THNN_rejectIndex(THNN_INDICES(function, offsets, 3), least, most, "where a bag may begin",
                       offset);
    least = offset;
    most = indices + TH_INDEX_BASE;
  }
}

void THNN_(LookupTableBag_updateOutput)(THNNState *state, THIndexTensor *input,
                                        THIndexTensor *offsets, THTensor *weight, THTensor *output,
                                        THIndexTensor *offset2bag, int mode,
                                        THIndexTensor *seq_length)
{
  const char *function = "LookupTableBag_updateOutput";
  const THNNTable sizes = THNN_LookupTableBag_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 4), THNN_SCALAR(mode, 7));
  THNN_checkDimensions(function, THNN_SHAPE(offsets, 3), 1, 1, "bags");
  checkOffsets(function, offsets, sizes.indices);
  checkRows(function, state, input, &sizes);
  const int64_t columns = sizes.columns, bags = offsets->size[0];
  const int64_t outputSize[] = {bags, columns};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *starts = THNN_planIn(&plan, offsets, 3);
  THNNBuffer *table = THNN_planIn(&plan, weight, 4);
  THNNBuffer *out = THNN_planOut(&plan, output, 5, 2, outputSize);
  THNNBuffer *bagOf = THNN_planOut(&plan, offset2bag, 6, 1, &sizes.indices);
  THNNBuffer *lengths = mode == MEAN ? THNN_planOut(&plan, seq_length, 8, 1, &bags) : NULL;
  THNN_planAcquire(&plan);

  const int64_t *start = starts->data;
  const Bags all = {.bags = bags,
                    .indices = sizes.indices,
                    .base = TH_INDEX_BASE,
                    .columns = columns,
                    .index = in->data,
                    .start = start,
                    .table = table->data};
  const THNNBlocks blocks = THNN_rowBlocks(bags, sizes.indices / (bags > 0 ? bags : 1) * columns);
  const int threads = THNN_threads(state, blocks.count, (double)sizes.indices * (double)columns);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++) {
    const int64_t first = i * blocks.length, last = first + THNN_blockLength(&blocks, i);
    THNN_(simd).indices.sumOfBags(&all, first, last, out->data);
    for (int64_t b = first; b < last; b++) {
      const int64_t begin = start[b] - TH_INDEX_BASE;
      const int64_t end = b + 1 < bags ? start[b + 1] - TH_INDEX_BASE : sizes.indices;
      for (int64_t at = begin; at < end; at++)
        ((int64_t *)bagOf->data)[at] = b + TH_INDEX_BASE;
      if (mode == MEAN) {
        real *sum = (real *)out->data + b * columns;
        ((int64_t *)lengths->data)[b] = end - begin;
        if (end > begin)
          THNN_(simd).pooling.scale(columns, (real)(1 / (double)(end - begin)), sum, sum);
      }
    }
  }
  THNN_planRelease(&plan);
}

/* Checks that every bag with an index in it has a length. */
static void checkLengths(const char *function, const THIndexTensor *offset2bag,
                         const THIndexTensor *seq_length, int64_t indices)
{
  for (int64_t i = 0; i < indices; i++) {
    const int64_t length = THNN_indexAt(seq_length, THNN_indexAt(offset2bag, i) - TH_INDEX_BASE);
    if (length < 1 || length > indices)
      THNN_rejectIndex(THNN_INDICES(function, seq_length, 11), 1, indices,
                       "numbers of indices in bags", length);
  }
}

void THNN_(LookupTableBag_accGradParameters)(THNNState *state, THIndexTensor *input,
                                             THTensor *gradOutput, THTensor *gradWeight,
                                             THIndexTensor *offset2bag, THIndexTensor *count,
                                             THIndexTensor *sortedIndices,
                                             THIndexTensor *origIndices, bool scaleGradByFreq,
                                             int mode, THIndexTensor *seq_length, accreal scale_)
{
  const char *function = "LookupTableBag_accGradParameters";
  const THNNTable sizes = THNN_LookupTableBag_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradWeight, 4), THNN_SCALAR(mode, 10));
  (void)count, (void)sortedIndices, (void)origIndices;
  const int64_t columns = sizes.columns;
  THNN_checkDimensions(function, THNN_SHAPE(gradOutput, 3), 2, 2, "bags x columns");
  THNN_checkSize(function, THNN_SHAPE(gradOutput, 3), 1, columns, "columns of gradWeight");
  const int64_t bags = gradOutput->size[0];
  THNN_checkVector(function, THNN_SHAPE(offset2bag, 5), sizes.indices, "a bag for each index");
  checkRows(function, state, input, &sizes);
  THNN_checkIndices(state, THNN_INDICES(function, offset2bag, 5), sizes.indices, TH_INDEX_BASE,
                    bags - 1 + TH_INDEX_BASE, "bags");
  if (mode == MEAN) {
    THNN_checkVector(function, THNN_SHAPE(seq_length, 11), bags, "bags");
    checkLengths(function, offset2bag, seq_length, sizes.indices);
  }

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planInOut(&plan, gradWeight, 4);
  THNNBuffer *bagOf = THNN_planIn(&plan, offset2bag, 5);
  THNNBuffer *lengths = mode == MEAN ? THNN_planIn(&plan, seq_length, 11) : NULL;
  THNNBuffer *scratch =
      THNN_planScratch(&plan, scaleGradByFreq ? (size_t)sizes.rows * sizeof(int64_t) : 0);
  THNN_planAcquire(&plan);

  const int64_t *index = in->data, *bag = bagOf->data;
  int64_t *counts = scratch->data;
  if (scaleGradByFreq)
    THNN_countIndices(sizes.indices, index, counts);
  const THNNRowShares shares = THNN_shareRows(state, sizes.indices, columns, sizeof(real));
#pragma omp parallel for num_threads(shares.count) schedule(static, 1)
  for (int share = 0; share < shares.count; share++)
    for (int64_t i = 0; i < sizes.indices; i++) {
      const int64_t row = index[i] - TH_INDEX_BASE, b = bag[i] - TH_INDEX_BASE;
      if (!THNN_ownsRow(&shares, share, row))
        continue;
      double factor = scale_;
      if (mode == MEAN)
        factor /= (double)((const int64_t *)lengths->data)[b];
      if (scaleGradByFreq)
        factor /= (double)counts[row];
      THNN_(simd).pointwise.axpy(columns, (real)factor, (const real *)from->data + b * columns,
                                 (real *)to->data + row * columns);
    }
  THNN_planRelease(&plan);
}
