#include "generic/shared/weightBlocks.h"

#include "work/sizes.h"
#include "work/threads.h"

/* Columns of a block: its rows are half a kilobyte and more, so that a block is read as one stream,
 * and two threads can share the blocks of a small weight. */
enum { WIDTH = 128 };

bool THNN_(weightBlocks_fit)(const THNNState *state, int64_t rows, int64_t columns, int64_t terms)
{
  THNN_REPRODUCIBLY_GET(state, weightBlocks_fit, (state, rows, columns, terms))
  enum {
    MOST_ROWS = 3,
    LEAST_ELEMENTS = 1 << 15 /* smaller weights are in a near cache in any order */
  };
  return rows <= MOST_ROWS && columns * terms >= LEAST_ELEMENTS;
}

int64_t THNN_(weightBlocks_elements)(const THNNState *state, int64_t columns, int64_t terms)
{
  THNN_REPRODUCIBLY_GET(state, weightBlocks_elements, (state, columns, terms))
  return roundUp(columns, WIDTH) * terms;
}

void THNN_(weightBlocks_pack)(const THNNState *state, int64_t columns, int64_t terms,
                              const real *weight, real *blocks)
{
  THNN_REPRODUCIBLY(state, weightBlocks_pack, (state, columns, terms, weight, blocks))
  const int64_t count = divideUp(columns, WIDTH);
  const int threads = THNN_threads(state, count, (double)columns * (double)terms);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < count; i++) {
    const int64_t first = i * WIDTH, held = minimum(WIDTH, columns - first);
    for (int64_t term = 0; term < terms; term++) {
      real *to = blocks + first * terms + term * WIDTH;
      THNN_(simd).pointwise.copy(held, weight + term * columns + first, to);
      THNN_(simd).pointwise.fill(WIDTH - held, 0, to + held);
    }
  }
}

void THNN_(weightBlocks_multiply)(const THNNState *state, int64_t rows, int64_t columns,
                                  int64_t terms, const real *x, const real *blocks, bool backwards,
                                  real *y)
{
  THNN_REPRODUCIBLY(state, weightBlocks_multiply,
                    (state, rows, columns, terms, x, blocks, backwards, y))
  const int64_t count = divideUp(columns, WIDTH);
  const int shares = THNN_threads(state, count, (double)columns * (double)terms);
#pragma omp parallel for num_threads(shares) schedule(static)
  for (int64_t share = 0; share < shares; share++) {
    const int64_t begin = count * share / shares, end = count * (share + 1) / shares;
    for (int64_t i = begin; i < end; i++) {
      const int64_t first = (backwards ? begin + end - 1 - i : i) * WIDTH;
      const Dots of = {.rows = rows,
                       .columns = minimum(WIDTH, columns - first),
                       .terms = terms,
                       .x = x,
                       .xStride = terms,
                       .w = blocks + first * terms,
                       .wStride = WIDTH,
                       .y = y + first,
                       .yStride = columns};
      for (int64_t row = 0; row < rows; row++)
        THNN_(simd).pointwise.fill(of.columns, 0, of.y + row * columns);
      THNN_(simd).dots.spread(&of);
    }
  }
}
