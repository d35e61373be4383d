#include "THNNPooledIndices.h"

#include <stdio.h>

#include "THNNCheck.h"
#include "THNNIndices.h"
#include "THNNPooling.h"
#include "THNNStrided.h"
#include "planTensor.h"

static bool windowIsOutside(const THNNConvolution *g, const int64_t position[3])
{
  for (int d = 0; d < 3; d++) {
    const THNNTaps taps = THNN_tapsInside(g, d, position[d]);
    if (taps.begin == taps.end)
      return true;
  }
  return false;
}

/* Where taps along one dimension lie: tap t of the first window at start + t*dilation. */
typedef struct TapLine {
  int64_t start, dilation, size;
} TapLine;

static TapLine tapLine(const THNNConvolution *g, int dimension, int64_t position)
{
  return (TapLine){position * g->stride[dimension] - g->pad[dimension], g->dilation[dimension],
                   g->input[dimension]};
}

/* Where the tap in the lowest byte lies; a size or more where that is outside, as negative numbers
 * are without a sign. */
static uint64_t tapIndex(const TapLine *line, int64_t packed)
{
  return (uint64_t)(line->start + (packed & ((1 << THNN_TAP_BITS) - 1)) * line->dilation);
}

static bool isInside(const TapLine *line, uint64_t index)
{
  return index < (uint64_t)line->size;
}

void THNN_elementsOfTaps(const THNNPooledIndices *pooled, const THNNIndexRun *run, int64_t *element)
{
  const THNNConvolution *g = pooled->context;
  const int64_t position[] = {run->row.z, run->row.y, run->first}, stride = g->stride[2];
  const TapLine z = tapLine(g, 0, position[0]), y = tapLine(g, 1, position[1]);
  TapLine x = tapLine(g, 2, position[2]);
  bool bad = false;
  for (int64_t i = 0; i < run->count; i++, x.start += stride) {
    const int64_t packed = run->index[0][i];
    const uint64_t atZ = tapIndex(&z, packed), atY = tapIndex(&y, packed >> THNN_TAP_BITS);
    const uint64_t atX = tapIndex(&x, packed >> 2 * THNN_TAP_BITS);
    const bool inside = isInside(&z, atZ) & isInside(&y, atY) & isInside(&x, atX);
    const uint64_t at = (atZ * (uint64_t)y.size + atY) * (uint64_t)x.size + atX;
    element[i] = inside ? (int64_t)at : THNN_BAD_ELEMENT;
    bad |= !inside;
  }
  if (!bad || !pooled->optional)
    return;
  for (int64_t i = 0; i < run->count; i++) {
    const int64_t window[] = {position[0], position[1], position[2] + i};
    if (element[i] == THNN_BAD_ELEMENT && windowIsOutside(g, window))
      element[i] = THNN_NO_ELEMENT;
  }
}

int64_t THNN_pooledElements(const THNNPooledIndices *pooled)
{
  return pooled->planes * pooled->slices * pooled->rows * pooled->length;
}

/* The tensor that is checked. */
typedef struct Values {
  const int64_t *data;
  bool dense;
  THNNFolded folded;
} Values;

static Values valuesOf(const THLongTensor *indices)
{
  const THNNView view = THNN_LongTensorOperations.view(indices);
  return (Values){(const int64_t *)view.data, THNN_isDense(&view), THNN_fold(&view)};
}

/* `count` values in row-major order, copied to `room` where they do not lie side by side. */
static const int64_t *readValues(const Values *values, int64_t first, int64_t count, int64_t *room)
{
  if (values->dense)
    return values->data + first;
  THNN_gatherPart(&values->folded, values->data, sizeof *room, first, count, room);
  return room;
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

/* The number of the first bad index of an output row, which begins at number `at`, or -1. */
static int64_t checkRow(const THNNPooledIndices *pooled, const Values *values, THNNRow row,
                        int64_t at)
{
  int64_t room[2][THNN_DECODED], element[THNN_DECODED];
  for (int64_t first = 0; first < pooled->length; first += THNN_DECODED) {
    const int64_t left = pooled->length - first;
    THNNIndexRun run = {row, first, left < THNN_DECODED ? left : THNN_DECODED, {NULL, NULL}};
    run.index[0] = readValues(values, at + first, run.count, room[0]);
    if (pooled->halves)
      run.index[1] =
          readValues(values, THNN_pooledElements(pooled) + at + first, run.count, room[1]);
    pooled->decode(pooled, &run, element);
    const int64_t bad = firstBad(pooled, run.count, element);
    if (bad < run.count)
      return at + first + bad;
  }
  return -1;
}

/* The number of the first bad index, or INT64_MAX. */
static int64_t checkAll(const THNNPooledIndices *pooled, const Values *values)
{
  const int64_t rows = pooled->planes * pooled->slices * pooled->rows;
  const THNNBlocks blocks = THNN_rowBlocks(rows, pooled->length);
  const int threads =
      THNN_threads(pooled->state, blocks.count, (double)THNN_pooledElements(pooled));
  int64_t least = INT64_MAX;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min : least)
  for (int64_t block = 0; block < blocks.count; block++) {
    const int64_t first = block * blocks.length;
    THNNRow row = THNN_rowAt(first, pooled->slices, pooled->rows);
    for (int64_t i = 0; i < THNN_blockLength(&blocks, block); i++, THNN_nextRow(&row)) {
      const int64_t bad = checkRow(pooled, values, row, (first + i) * pooled->length);
      if (bad >= 0 && bad < least)
        least = bad;
    }
  }
  return least;
}

static void reject(const THNNPooledIndices *pooled, const Values *values, int64_t at, int position)
{
  int64_t room;
  char found[96];
  const int64_t value = *readValues(values, at, 1, &room);
  if (pooled->halves) {
    const int64_t second = *readValues(values, THNN_pooledElements(pooled) + at, 1, &room);
    snprintf(found, sizeof found, "%lld and %lld at element %lld of each half", (long long)value,
             (long long)second, (long long)at + 1);
  } else {
    snprintf(found, sizeof found, "%lld at element %lld", (long long)value, (long long)at + 1);
  }
  THNN_reject(pooled->function, "indices", position, pooled->expected, found);
}

/* Whether all values lie between two numbers from 0 on: no difference may be negative. */
static bool allWithin(const int64_t *value, int64_t count, int64_t first, int64_t last)
{
  uint64_t signs = 0;
  for (int64_t i = 0; i < count; i++)
    signs |= ((uint64_t)value[i] - (uint64_t)first) | ((uint64_t)last - (uint64_t)value[i]);
  return signs >> 63 == 0;
}

/* Plain indices. Most are fine, which is quickly seen where they lie side by side. */
static void checkNumbers(const THNNPooledIndices *pooled, const Values *values,
                         THNNIndexArgument argument)
{
  const int64_t first = pooled->optional ? 0 : 1;
  const THNNBlocks blocks = THNN_blocks(THNN_pooledElements(pooled));
  const int threads = THNN_threads(pooled->state, blocks.count, (double)blocks.elements);
  bool fine = values->dense;
  if (values->dense) {
#pragma omp parallel for num_threads(threads) schedule(static) reduction(&& : fine)
    for (int64_t i = 0; i < blocks.count; i++)
      fine = fine && allWithin(values->data + i * blocks.length, THNN_blockLength(&blocks, i),
                               first, pooled->elements);
  }
  if (!fine)
    THNN_checkIndices(pooled->state, argument, blocks.elements, first, pooled->elements,
                      "elements of an input plane");
}

void THNN_checkPooledIndices(const THNNPooledIndices *pooled, THLongTensor *indices, int position)
{
  const Values values = valuesOf(indices);
  if (!pooled->decode) {
    checkNumbers(pooled, &values, THNN_INDICES(pooled->function, indices, position));
    return;
  }
  const int64_t bad = checkAll(pooled, &values);
  if (bad < INT64_MAX)
    reject(pooled, &values, bad, position);
}
