/* Lookup table: the backward pass of taking rows of a weight, and the renormalisation of rows.
 *   input, idx           indices of rows
 *   gradOutput           a row per index, in any shape that has its elements in that order
 *   gradWeight, weight   rows x columns
 *
 * gradWeight[index] += scale * gradOutput, divided by how often the index occurs if
 * scaleGradByFreq is set; the index paddingValue is skipped.
 * Rows in idx whose norm exceeds maxNorm are multiplied by maxNorm / (norm + 1e-7). */
#include <math.h>
#include <stdio.h>

#include "cuda/generic/shared/segments.cuh"
#include "generic/linear/checks.h"

namespace
{

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
