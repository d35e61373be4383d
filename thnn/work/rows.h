/* Updates of rows of a matrix, in an order that matters where a row is updated more than once.
 * Threads share the rows, not the updates: each thread scans all updates and does those of its own
 * rows, so every row gets its updates in order and results do not depend on the number of shares.
 *
 *   const THNNRowShares shares = THNN_shareRows(state, updates, columns, sizeof(real));
 *   #pragma omp parallel for num_threads(shares.count) schedule(static, 1)
 *   for (int share = 0; share < shares.count; share++)
 *     for each update of a row
 *       if (THNN_ownsRow(&shares, share, row))
 *         … */
#ifndef THNN_ROWS_H
#define THNN_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "work/threads.h"

typedef struct THNNRowShares {
  int count;
  int64_t together; /* neighbouring rows in one share, so that few cache lines are written by two
                     * threads */
} THNNRowShares;

static inline THNNRowShares THNN_shareRows(const THNNState *state, int64_t updates, int64_t columns,
                                           size_t elementSize)
{
  const int64_t rowBytes = columns * (int64_t)elementSize, lines = 256; /* bytes of four lines */
  THNNRowShares shares;
  shares.count = THNN_threads(state, updates, (double)updates * (double)columns);
  shares.together = rowBytes < lines ? lines / rowBytes : 1;
  return shares;
}

static inline bool THNN_ownsRow(const THNNRowShares *shares, int share, int64_t row)
{
  return row / shares->together % shares->count == share;
}

#endif
