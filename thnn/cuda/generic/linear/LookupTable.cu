/* Lookup table: takes rows of a weight, forward and backward, and renormalises rows.
 *   input, idx           indices of rows
 *   output               a row per index; zeros for a bad one
 *   gradOutput           a row per index, in any shape that has its elements in that order
 *   gradWeight, weight   rows x columns
 *
 * gradWeight[index] += scale * gradOutput, divided by how often the index occurs if
 * scaleGradByFreq is set; the index paddingValue is skipped.
 * Rows in idx whose norm exceeds maxNorm are multiplied by maxNorm / (norm + 1e-7). */
#include <math.h>
#include <stdio.h>

#include "cuda/generic/shared/segments.cuh"
#include "cuda/THC/THCDivision.cuh"
#include "generic/linear/checks.h"

namespace
{

/* An element of a row that an index asks for. */
template <typename Index> struct Look {
  THCDivisor<Index> columns;
  THCIndexRange range;
  const int64_t *input;
  const real *weight;

  __device__ void operator()(int64_t i, real &output) const
  {
    const THCSplit<Index> at = THC_divide((Index)i, columns);
    const int64_t row = input[at.quotient];
    output = THC_indexIsValid(row, range)
                 ? weight[(row - TH_INDEX_BASE) * (int64_t)columns.value + at.remainder]
                 : real(0);
  }
};

struct Gradients {
  int64_t columns;
  bool byFrequency;
  accreal scale;
  const real *gradOutput;
  real *gradWeight;

  __device__ accreal term(int64_t position, int64_t column) const
  {
    return gradOutput[position * columns + column];
  }
  __device__ void finish(const Segment &of, int64_t column, accreal sum) const
  {
    const accreal factor = byFrequency ? scale / (accreal)(of.end - of.first) : scale;
    gradWeight[of.key * columns + column] += (real)(factor * sum);
  }
};

/* Renormalises the row of the segment that begins at a sorted position, if one does. */
struct Renorm {
  THCSorted sorted;
  int64_t rows, columns;
  accreal most, p;
  real *weight;

  __device__ accreal power(accreal x) const { return p == 1 ? x : p == 2 ? x * x : pow(x, p); }
  __device__ accreal root(accreal x) const { return p == 1 ? x : p == 2 ? sqrt(x) : pow(x, 1 / p); }

  template <typename Team> __device__ void operator()(int64_t first, Team) const
  {
    if (THC_segmentEnd(sorted, first, rows) == first)
      return;
    real *row = weight + sorted.keys[first] * columns;
    accreal sum = 0;
    for (int64_t c = Team::rank(); c < columns; c += Team::SIZE)
      sum += power(fabs((accreal)row[c]));
    const accreal norm = root(Team::sum(sum));
    if (!(norm > most))
      return;
    const real factor = (real)(most / (norm + (accreal)1e-7));
    for (int64_t c = Team::rank(); c < columns; c += Team::SIZE)
      row[c] *= factor;
  }
};

} // namespace

void THCUNN_(LookupTable_updateOutput)(THCState *state, THCIndexTensor *input, THCTensor *weight,
                                       THCTensor *output)
{
  const char *function = "LookupTable_updateOutput";
  const THNNTable sizes = THNN_LookupTable_shapeCheck(function, THNN_SHAPE(input, 2), 2,
                                                      THNN_SHAPE(weight, 3), THNN_NO_SHAPE);
  THC_checkIndices(state, function, input, "input", 2, TH_INDEX_BASE,
                   sizes.rows - 1 + TH_INDEX_BASE);
  int64_t size[] = {input->size[0], sizes.columns, sizes.columns};
  if (input->nDimension == 2)
    size[1] = input->size[1];

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *table = THC_planIn(&plan, weight, 3);
  const THNNBuffer *out = THC_planOut(&plan, output, 4, input->nDimension + 1, size);
  THC_planAcquire(&plan);
  const int64_t count = sizes.indices * sizes.columns;
  THC_withIndex(count, [&](auto index) {
    typedef decltype(index) Index;
    const Look<Index> look = {THCDivisor<Index>(sizes.columns),
                              THC_indexRange(&plan, TH_INDEX_BASE, sizes.rows - 1 + TH_INDEX_BASE),
                              THC_pointer<const int64_t>(in), THC_pointer<const real>(table)};
    THC_apply(&plan, function, count, look, THC_pointer<real>(out));
  });
  THC_planRelease(&plan);
}

void THCUNN_(LookupTable_accGradParameters)(THCState *state, THCIndexTensor *input,
                                            THCTensor *gradOutput, THCTensor *gradWeight,
                                            THCIndexTensor *count, THCIndexTensor *sorted,
                                            THCIndexTensor *indices, bool scaleGradByFreq,
                                            int paddingValue, accreal scale)
{
  (void)count, (void)sorted, (void)indices;
  const char *function = "LookupTable_accGradParameters";
  const THNNTable sizes = THNN_LookupTable_shapeCheck(
      function, THNN_SHAPE(input, 2), 2, THNN_SHAPE(gradWeight, 4), THNN_SHAPE(gradOutput, 3));
  THC_checkIndices(state, function, input, "input", 2, TH_INDEX_BASE,
                   sizes.rows - 1 + TH_INDEX_BASE);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *scratch = THC_planScratch(&plan, THC_sortScratchBytes(sizes.indices));
  THC_planAcquire(&plan);
  const THCSorted rows = sortIndices(&plan, sizes.indices, THC_pointer<const int64_t>(in),
                                     sizes.rows, paddingValue, scratch);
  const Gradients gradients = {sizes.columns, scaleGradByFreq, scale, THC_pointer<const real>(from),
                               THC_pointer<real>(to)};
  sumSegments(&plan, rows, sizes.rows, sizes.columns, gradients);
  THC_planRelease(&plan);
}

void THCUNN_(LookupTable_renorm)(THCState *state, THCIndexTensor *idx, THCTensor *weight,
                                 accreal maxNorm, accreal normType)
{
  const char *function = "LookupTable_renorm";
  const THNNTable sizes = THNN_LookupTable_shapeCheck(function, THNN_SHAPE(idx, 2), 1,
                                                      THNN_SHAPE(weight, 3), THNN_NO_SHAPE);
  if (!(normType > 0)) {
    char found[32];
    snprintf(found, sizeof found, "%g", (double)normType);
    THNN_reject(function, "normType", 5, "more than 0", found);
  }
  THC_checkIndices(state, function, idx, "idx", 2, TH_INDEX_BASE, sizes.rows - 1 + TH_INDEX_BASE);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, idx, 2);
  const THNNBuffer *table = THC_planInOut(&plan, weight, 3);
  const THNNBuffer *scratch = THC_planScratch(&plan, THC_sortScratchBytes(sizes.indices));
  THC_planAcquire(&plan);
  const THCSorted rows = sortIndices(&plan, sizes.indices, THC_pointer<const int64_t>(in),
                                     sizes.rows, NO_PADDING, scratch);
  const Renorm renorm = {rows,    sizes.rows, sizes.columns,
                         maxNorm, normType,   THC_pointer<real>(table)};
  forRows(&plan, sizes.indices, sizes.columns, renorm);
  THC_planRelease(&plan);
}
