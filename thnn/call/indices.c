#include "call/indices.h"

#include <stdbool.h>
#include <stdio.h>

#include "call/check.h"
#include "call/strided.h"
#include "work/threads.h"

void THNN_rejectIndex(THNNIndexArgument argument, int64_t first, int64_t last, const char *meaning,
                      int64_t found)
{
  char expected[128], value[32];
  snprintf(expected, sizeof expected, "values from %lld to %lld (%s)", (long long)first,
           (long long)last, meaning);
  snprintf(value, sizeof value, "%lld", (long long)found);
  THNN_reject(argument.function, argument.name, argument.position, expected, value);
}

typedef struct Range {
  int64_t least, greatest;
} Range;

static const Range NOTHING = {INT64_MAX, INT64_MIN};

static Range rangeOfRow(const int64_t *value, int64_t n, int64_t stride)
{
  Range range = NOTHING;
  for (int64_t i = 0; i < n; i++) {
    const int64_t v = value[i * stride];
    range.least = v < range.least ? v : range.least;
    range.greatest = v > range.greatest ? v : range.greatest;
  }
  return range;
}

static Range join(Range a, Range b)
{
  return (Range){a.least < b.least ? a.least : b.least,
                 a.greatest > b.greatest ? a.greatest : b.greatest};
}

/* Whether all n contiguous values are in [first, last], where last >= first - 1. */
static bool areWithin(const THNNState *state, const int64_t *value, int64_t n, int64_t first,
                      int64_t last)
{
  uint64_t signs = 0;
  const THNNBlocks blocks = THNN_blocks(n);
#pragma omp parallel for num_threads(THNN_threads(state, blocks.count, (double)n))                 \
    schedule(static) reduction(| : signs)
  for (int64_t i = 0; i < blocks.count; i++) {
    const int64_t begin = i * blocks.length, end = begin + THNN_blockLength(&blocks, i);
    for (int64_t at = begin; at < end; at++)
      signs |= ((uint64_t)value[at] - (uint64_t)first) | ((uint64_t)last - (uint64_t)value[at]);
  }
  return signs >> 63 == 0;
}

static Range rangeOfRows(const int64_t *value, const THNNFolded *folded, int64_t count)
{
  const int last = folded->nDimension - 1;
  const int64_t length = folded->size[last];
  Range range = NOTHING;
  for (int64_t row = 0; row * length < count; row++) {
    const int64_t left = count - row * length;
    range = join(range, rangeOfRow(value + THNN_rowOffset(folded, row),
                                   left < length ? left : length, folded->stride[last]));
  }
  return range;
}

void THNN_checkIndices(const THNNState *state, THNNIndexArgument argument, int64_t count,
                       int64_t first, int64_t last, const char *meaning)
{
  if (count == 0)
    return;
  const THLongTensor *tensor = argument.tensor;
  const THNNView view = {
      .nDimension = tensor->nDimension, .size = tensor->size, .stride = tensor->stride};
  const THNNFolded folded = THNN_fold(&view);
  const int64_t *value = tensor->storage->data + tensor->storageOffset;
  if (folded.nDimension == 1 && folded.stride[0] == 1 &&
      areWithin(state, value, count, first, last))
    return;
  const Range range = rangeOfRows(value, &folded, count);
  if (range.least < first)
    THNN_rejectIndex(argument, first, last, meaning, range.least);
  if (range.greatest > last)
    THNN_rejectIndex(argument, first, last, meaning, range.greatest);
}

int64_t THNN_indexAt(const THLongTensor *tensor, int64_t i)
{
  int64_t offset = tensor->storageOffset;
  for (int d = tensor->nDimension - 1; d > 0; d--) {
    offset += i % tensor->size[d] * tensor->stride[d];
    i /= tensor->size[d];
  }
  return tensor->storage->data[offset + i * tensor->stride[0]];
}

void THNN_countIndices(int64_t n, const int64_t *indices, int64_t *counts)
{
  for (int64_t i = 0; i < n; i++)
    counts[indices[i] - TH_INDEX_BASE] = 0;
  for (int64_t i = 0; i < n; i++)
    counts[indices[i] - TH_INDEX_BASE]++;
}
