#include "THNNPooledIndices.h"

#include <stdio.h>

#include "THNNCheck.h"
#include "THNNIndices.h"
#include "THNNPooling.h"
#include "THNNStrided.h"
#include "THNNThreads.h"
#include "planTensor.h"

/* Where a tap of a window lies along one dimension, and whether that is inside the input. */
static bool tapIndex(const THNNConvolution *g, int dimension, int64_t position, int64_t packed,
                     int64_t *at)
{
  const int64_t tap = packed >> dimension * THNN_TAP_BITS & ((1 << THNN_TAP_BITS) - 1);
  *at = position * g->stride[dimension] - g->pad[dimension] + tap * g->dilation[dimension];
  return *at >= 0 && *at < g->input[dimension];
}

static bool windowIsOutside(const THNNConvolution *g, const int64_t position[3])
{
  for (int d = 0; d < 3; d++) {
    const THNNTaps taps = THNN_tapsInside(g, d, position[d]);
    if (taps.begin == taps.end)
      return true;
  }
  return false;
}

void THNN_elementsOfTaps(const THNNPooledIndices *pooled, int64_t row, int64_t first, int64_t count,
                         const int64_t *const index[2], int64_t *element)
{
  const THNNConvolution *g = pooled->context;
  for (int64_t i = 0; i < count; i++) {
    const int64_t position[] = {row / g->output[1] % g->output[0], row % g->output[1], first + i};
    int64_t at[3];
    bool inside = true;
    for (int d = 0; d < 3; d++)
      inside &= tapIndex(g, d, position[d], index[0][i], &at[d]);
    if (inside)
      element[i] = (at[0] * g->input[1] + at[1]) * g->input[2] + at[2];
    else
      element[i] =
          pooled->optional && windowIsOutside(g, position) ? THNN_NO_ELEMENT : THNN_BAD_ELEMENT;
  }
}

static void readIndices(const THNNFolded *folded, const void *data, int64_t first, int64_t count,
                        int64_t *values)
{
  THNN_gatherPart(folded, data, sizeof *values, first, count, values);
}

static int64_t outputElements(const THNNPooledIndices *pooled)
{
  return pooled->planes * pooled->planeRows * pooled->length;
}

/* The first of `count` indices that is bad, or `count`. */
static int64_t firstBad(const THNNPooledIndices *pooled, int64_t count, const int64_t *element)
{
  int64_t bad = 0;
  for (int64_t i = 0; i < count; i++)
    bad |= (element[i] < THNN_NO_ELEMENT) | (element[i] >= pooled->elements);
  if (!bad)
    return count;
  int64_t i = 0;
  while (element[i] >= THNN_NO_ELEMENT && element[i] < pooled->elements)
    i++;
  return i;
}

/* The position of the first bad index of an output row in the tensor, or -1. */
static int64_t checkRow(const THNNPooledIndices *pooled, const THNNFolded *folded, const void *data,
                        int64_t row)
{
  int64_t value[2][THNN_DECODED], element[THNN_DECODED];
  for (int64_t first = 0; first < pooled->length; first += THNN_DECODED) {
    const int64_t left = pooled->length - first;
    const int64_t count = left < THNN_DECODED ? left : THNN_DECODED;
    const int64_t at = row * pooled->length + first;
    readIndices(folded, data, at, count, value[0]);
    if (pooled->halves)
      readIndices(folded, data, outputElements(pooled) + at, count, value[1]);
    const int64_t *const index[2] = {value[0], value[1]};
    pooled->decode(pooled, row, first, count, index, element);
    const int64_t bad = firstBad(pooled, count, element);
    if (bad < count)
      return at + bad;
  }
  return -1;
}

static void reject(const THNNPooledIndices *pooled, const THNNFolded *folded, const void *data,
                   int64_t at, int position)
{
  int64_t value[2];
  char found[96];
  readIndices(folded, data, at, 1, &value[0]);
  if (pooled->halves) {
    readIndices(folded, data, outputElements(pooled) + at, 1, &value[1]);
    snprintf(found, sizeof found, "%lld and %lld at element %lld of each half", (long long)value[0],
             (long long)value[1], (long long)at + 1);
  } else {
    snprintf(found, sizeof found, "%lld at element %lld", (long long)value[0], (long long)at + 1);
  }
  THNN_reject(pooled->function, "indices", position, pooled->expected, found);
}

/* The position of the first bad index, or INT64_MAX. */
static int64_t checkAll(const THNNPooledIndices *pooled, const THNNView *view,
                        const THNNFolded *folded)
{
  const int64_t rows = pooled->planes * pooled->planeRows;
  const THNNBlocks blocks = THNN_rowBlocks(rows, pooled->length);
  const int threads = THNN_threads(pooled->state, blocks.count, (double)outputElements(pooled));
  int64_t bad = INT64_MAX;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min : bad)
  for (int64_t block = 0; block < blocks.count; block++)
    for (int64_t i = 0; i < THNN_blockLength(&blocks, block); i++) {
      const int64_t at = checkRow(pooled, folded, view->data, block * blocks.length + i);
      if (at >= 0 && at < bad)
        bad = at;
    }
  return bad;
}

void THNN_checkPooledIndices(const THNNPooledIndices *pooled, THLongTensor *indices, int position)
{
  if (!pooled->decode) {
    THNN_checkIndices(pooled->state, THNN_INDICES(pooled->function, indices, position),
                      outputElements(pooled), pooled->optional ? 0 : 1, pooled->elements,
                      "elements of an input plane");
    return;
  }
  const THNNView view = THNN_LongTensorOperations.view(indices);
  const THNNFolded folded = THNN_fold(&view);
  const int64_t bad = checkAll(pooled, &view, &folded);
  if (bad < INT64_MAX)
    reject(pooled, &folded, view.data, bad, position);
}

void THNN_decodeIndices(const THNNPooledIndices *pooled, const int64_t *index, int64_t row,
                        int64_t first, int64_t count, int64_t *element)
{
  const int64_t *here = index + row * pooled->length + first;
  if (!pooled->decode) {
    for (int64_t i = 0; i < count; i++)
      element[i] = here[i] - 1;
    return;
  }
  const int64_t *const both[2] = {here, pooled->halves ? here + outputElements(pooled) : NULL};
  pooled->decode(pooled, row, first, count, both, element);
}
