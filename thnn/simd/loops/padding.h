/* Rows of planes with padding around them. */
#ifndef THNN_SIMD_PADDING_H
#define THNN_SIMD_PADDING_H

#include <stdbool.h>
#include <stdint.h>

#include "simd/range.h"

/* Planes of slices of rows, and what shows what: `shown[d][i]` is the input index that output index
 * i shows along dimension d, slices first, or -1 where the value stands. */
typedef struct PaddedPlanes {
  int64_t planes, input[3], output[3];
  int64_t *shown[3];
  THNNRange inside; /* the columns of an output row that show the input row itself */
  real value;
} PaddedPlanes;

/* The same the other way round, for slices and rows: those that show input index i are
 * `showing[d]`[`begin[d][i]`, `begin[d][i + 1]`), in ascending order. */
typedef struct ShowingRows {
  const PaddedPlanes *padded;
  int64_t *showing[2], *begin[2];
  bool ahead; /* whether to prefetch */
} ShowingRows;

typedef struct SimdPadding {
  /* y = `count` rows of the output, from row `first` on. x is the whole input. */
  void (*pad)(const PaddedPlanes *rows, int64_t first, int64_t count, const real *x, real *y);
  /* The same with streaming stores; other threads see them after pointwise.streamEnd. `tile` has
   * room for THNN_STREAMED_PIECE bytes, a cache line and a row. */
  void (*stream)(const PaddedPlanes *rows, int64_t first, int64_t count, const real *x, real *tile,
                 real *y);
  /* x = `count` rows of the input, from row `first` on, each element the sum of those of y that
   * show it: first of the rows, then, column by column, the one inside, those to the left of it, and
   * those to its right. y is the whole output; `sum` has room for a row in whole cache lines. */
  void (*fold)(const ShowingRows *rows, int64_t first, int64_t count, const real *y, real *sum,
               real *x);
} SimdPadding;

enum { THNN_STREAMED_PIECE = 512 };

#endif
