/* The twin of generic/linear/LookupTableBag.c. */
#include "cuda/generic/shared/segments.cuh"
#include "generic/linear/checks.h"

namespace
{

enum { SUM, MEAN };

/* Checks where bags begin: the first at 1, each other not before the previous one. */
struct Offsets {
  THCIndexRange range; /* valid beginnings of any bag */

  __device__ bool isValid(int64_t bag, const int64_t *offsets) const
  {
    THCIndexRange own = range;
    own.low = bag > 0 ? offsets[bag - 1] : TH_INDEX_BASE;
    own.high = bag > 0 ? range.high : TH_INDEX_BASE;
    return THC_indexIsValid(offsets[bag], own);
  }
  __device__ void operator()(int64_t bag, const int64_t *offsets) const { isValid(bag, offsets); }
};

/* A warp sums a strip of a bag's columns; a bag with a bad beginning or end counts as empty. */
struct SumBag {
  int64_t indices, bags, columns, strips;
  bool mean;
  Offsets check;
  THCIndexRange rows;
  const int64_t *input, *offsets;
  const real *weight;
  real *output;
  int64_t *offset2bag, *lengths; /* `lengths` is NULL for sums */

  __device__ int64_t begin(int64_t bag) const { return offsets[bag] - TH_INDEX_BASE; }
  __device__ int64_t end(int64_t bag) const { return bag + 1 < bags ? begin(bag + 1) : indices; }
  __device__ bool isValid(int64_t bag) const
  {
    const bool begins = check.isValid(bag, offsets);
    return (bag + 1 == bags || check.isValid(bag + 1, offsets)) && begins && begin(bag) >= 0 &&
           end(bag) <= indices;
  }

  template <typename Team> __device__ void operator()(int64_t task, Team) const
  {
    const int64_t bag = task / strips, strip = task % strips * SEGMENT_STRIP;
    const bool valid = isValid(bag);
    const int64_t from = valid ? begin(bag) : 0, to = valid ? end(bag) : 0;
    const accreal norm = mean && to > from ? 1 / (accreal)(to - from) : 1;
    for (int64_t c = strip + Team::rank(); c < columns && c < strip + SEGMENT_STRIP;
         c += Team::SIZE) {
      accreal sum = 0;
      for (int64_t i = from; i < to; i++)
        if (THC_indexIsValid(input[i], rows))
          sum += weight[(input[i] - TH_INDEX_BASE) * columns + c];
      output[bag * columns + c] = (real)(norm * sum);
    }
    if (strip > 0)
      return;
    for (int64_t i = from + Team::rank(); i < to; i += Team::SIZE)
      offset2bag[i] = bag + TH_INDEX_BASE;
    if (lengths && Team::rank() == 0)
      lengths[bag] = to - from;
  }
};

struct Gradients {
  int64_t columns;
  bool byFrequency;
  accreal scale;
  THCIndexRange bags, lengthRange;
  const real *gradOutput;
  const int64_t *offset2bag, *lengths; /* `lengths` is NULL for sums */
  real *gradWeight;

  __device__ accreal term(int64_t position, int64_t column) const
  {
    const int64_t bag = offset2bag[position];
    if (!THC_indexIsValid(bag, bags))
      return 0;
    const accreal gradient = gradOutput[(bag - TH_INDEX_BASE) * columns + column];
    if (!lengths)
      return gradient;
    const int64_t length = lengths[bag - TH_INDEX_BASE];
    return THC_indexIsValid(length, lengthRange) ? gradient / (accreal)length : 0;
  }
  __device__ void finish(const Segment &of, int64_t column, accreal sum) const
  {
    const accreal factor = byFrequency ? scale / (accreal)(of.end - of.first) : scale;
    gradWeight[of.key * columns + column] += (real)(factor * sum);
  }
};

} // namespace

void THCUNN_(LookupTableBag_updateOutput)(THCState *state, THCIndexTensor *input,
                                          THCIndexTensor *offsets, THCTensor *weight,
                                          THCTensor *output, THCIndexTensor *offset2bag, int mode,
                                          THCIndexTensor *seq_length)
{
  const char *function = "LookupTableBag_updateOutput";
  const THNNTable sizes = THNN_LookupTableBag_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 4), THNN_SCALAR(mode, 7));
  THNN_checkDimensions(function, THNN_SHAPE(offsets, 3), 1, 1, "bags");
  THC_checkState(state, function);
  const Offsets check = {
      THC_indexRange(state, function, TH_INDEX_BASE, sizes.indices + TH_INDEX_BASE)};
  const int64_t columns = sizes.columns, bags = offsets->size[0];
  THC_checkValues<int64_t>(state, function, offsets, "offsets", 3, bags, check);
  THC_checkIndices(state, function, input, "input", 2, TH_INDEX_BASE,
                   sizes.rows - 1 + TH_INDEX_BASE);
  const int64_t outputSize[] = {bags, columns};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *starts = THC_planIn(&plan, offsets, 3);
  const THNNBuffer *table = THC_planIn(&plan, weight, 4);
  const THNNBuffer *out = THC_planOut(&plan, output, 5, 2, outputSize);
  const THNNBuffer *bagOf = THC_planOut(&plan, offset2bag, 6, 1, &sizes.indices);
  const THNNBuffer *lengths = mode == MEAN ? THC_planOut(&plan, seq_length, 8, 1, &bags) : nullptr;
  THC_planAcquire(&plan);
  const int64_t strips = (columns + SEGMENT_STRIP - 1) / SEGMENT_STRIP;
  const SumBag work = {sizes.indices,
                       bags,
                       columns,
                       strips,
                       mode == MEAN,
                       check,
                       THC_indexRange(&plan, TH_INDEX_BASE, sizes.rows - 1 + TH_INDEX_BASE),
                       THC_pointer<const int64_t>(in),
                       THC_pointer<const int64_t>(starts),
                       THC_pointer<const real>(table),
                       THC_pointer<real>(out),
                       THC_pointer<int64_t>(bagOf),
                       THC_pointer<int64_t>(lengths)};
  forRows(&plan, bags * strips, SEGMENT_STRIP, work);
  THC_planRelease(&plan);
}

void THCUNN_(LookupTableBag_accGradParameters)(THCState *state, THCIndexTensor *input,
                                               THCTensor *gradOutput, THCTensor *gradWeight,
                                               THCIndexTensor *offset2bag, THCIndexTensor *count,
                                               THCIndexTensor *sortedIndices,
                                               THCIndexTensor *origIndices, bool scaleGradByFreq,
                                               int mode, THCIndexTensor *seq_length, accreal scale_)
{
  (void)count, (void)sortedIndices, (void)origIndices;
  const char *function = "LookupTableBag_accGradParameters";
  const THNNTable sizes = THNN_LookupTableBag_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradWeight, 4), THNN_SCALAR(mode, 10));
  const int64_t columns = sizes.columns;
  THNN_checkDimensions(function, THNN_SHAPE(gradOutput, 3), 2, 2, "bags x columns");
  THNN_checkSize(function, THNN_SHAPE(gradOutput, 3), 1, columns, "columns of gradWeight");
  const int64_t bags = gradOutput->size[0];
  THNN_checkVector(function, THNN_SHAPE(offset2bag, 5), sizes.indices, "a bag for each index");
  THC_checkIndices(state, function, input, "input", 2, TH_INDEX_BASE,
                   sizes.rows - 1 + TH_INDEX_BASE);
  THC_checkIndices(state, function, offset2bag, "offset2bag", 5, TH_INDEX_BASE,
                   bags - 1 + TH_INDEX_BASE);
  if (mode == MEAN) {
    THNN_checkVector(function, THNN_SHAPE(seq_length, 11), bags, "bags");
    THC_checkIndices(state, function, seq_length, "seq_length", 11, 0, sizes.indices);
  }

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *bagOf = THC_planIn(&plan, offset2bag, 5);
  const THNNBuffer *lengths = mode == MEAN ? THC_planIn(&plan, seq_length, 11) : nullptr;
  const THNNBuffer *scratch = THC_planScratch(&plan, THC_sortScratchBytes(sizes.indices));
  THC_planAcquire(&plan);
  const THCSorted rows = sortIndices(&plan, sizes.indices, THC_pointer<const int64_t>(in),
                                     sizes.rows, NO_PADDING, scratch);
  const Gradients gradients = {columns,
                               scaleGradByFreq,
                               scale_,
                               THC_indexRange(&plan, TH_INDEX_BASE, bags - 1 + TH_INDEX_BASE),
                               THC_indexRange(&plan, 1, sizes.indices),
                               THC_pointer<const real>(from),
                               THC_pointer<const int64_t>(bagOf),
                               THC_pointer<const int64_t>(lengths),
                               THC_pointer<real>(to)};
  sumSegments(&plan, rows, sizes.rows, columns, gradients);
  THC_planRelease(&plan);
}
