/* One thread pool, OpenMP's. Work is cut into blocks that depend on the problem alone, so results
 * do not depend on the number of threads. */
#ifndef THNN_THREADS_H
#define THNN_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <THNNState.h>

#include "simd/range.h"

/* The number of threads for `blocks` independent blocks that take about `operations` arithmetic
 * operations or memory accesses together: 1 if waking the pool would cost more than it saves, and
 * in a forked child. */
int THNN_threads(const THNNState *state, int64_t blocks, double operations);

/* The number of threads for a region whose threads call BLAS. */
int THNN_blasThreads(const THNNState *state, int64_t blocks, double operations);

/* The calling thread's number in the innermost parallel region, from 0. */
int THNN_threadIndex(void);

/* A long run of elements cut into blocks of equal length, the last one shorter. */
typedef struct THNNBlocks {
  int64_t count, length, elements;
} THNNBlocks;

enum { THNN_BLOCK_LENGTH = 1 << 14 }; /* a few blocks of doubles fit the second-level cache */

static inline THNNBlocks THNN_blocks(int64_t elements)
{
  const int64_t length = THNN_BLOCK_LENGTH;
  return (THNNBlocks){(elements + length - 1) / length, length, elements};
}

/* Cuts rows that cost about `cost` operations each into blocks of about THNN_BLOCK_LENGTH
 * operations. */
static inline THNNBlocks THNN_rowBlocks(int64_t rows, int64_t cost)
{
  const int64_t length = cost < THNN_BLOCK_LENGTH ? THNN_BLOCK_LENGTH / (cost > 0 ? cost : 1) : 1;
  return (THNNBlocks){(rows + length - 1) / length, length, rows};
}

static inline int64_t THNN_blockLength(const THNNBlocks *blocks, int64_t block)
{
  const int64_t left = blocks->elements - block * blocks->length;
  return left < blocks->length ? left : blocks->length;
}

/* The range of `count` pieces of work that one share gets; shares differ by at most one piece. */
static inline THNNRange THNN_shareOf(int64_t count, int share, int shares)
{
  const int64_t each = count / shares, more = count % shares;
  const int64_t begin = each * share + (share < more ? share : more);
  return (THNNRange){begin, begin + each + (share < more)};
}

/* The place of a row in planes of `depth` slices of `height` rows; THNN_nextRow moves it without
 * divisions. */
typedef struct THNNRow {
  int64_t plane, z, y, depth, height;
} THNNRow;

static inline THNNRow THNN_rowAt(int64_t number, int64_t depth, int64_t height)
{
  const int64_t slice = number / height;
  return (THNNRow){slice / depth, slice % depth, number % height, depth, height};
}

static inline void THNN_nextRow(THNNRow *row)
{
  if (++row->y < row->height)
    return;
  row->y = 0;
  if (++row->z < row->depth)
    return;
  row->z = 0;
  row->plane++;
}

/* Enclose a region whose threads call BLAS: inside, BLAS itself uses one thread. Pairs may nest. */
void THNN_blasBegin(void);
void THNN_blasEnd(void);

#endif
