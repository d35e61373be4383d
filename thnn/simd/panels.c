/* Products of matrices with panels: a few neighbouring columns of a matrix, where they are, or packed so
 * that those of each term follow those of the term before.
 *
 * A tile of rows x vectors is summed up in registers: each term loads its vectors from the panel and
 * multiplies them by one scalar per row. The panel stays in the first-level cache for all rows. */
#include "vector.h"

enum {
  /* A tile's sums, the vectors of a term and one scalar fill the registers. */
  MOST_VECTORS = 3,
  MOST_ROWS = VECTOR_REGISTERS == 32 ? 8 : 4
};

typedef THNN_(Panel) Panel;

/* `rows` and `vectors` are constants where this is called. */
INLINE void addTile(const Panel *p, const int rows, const int vectors)
{
  Vector sum[MOST_ROWS][MOST_VECTORS];
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++)
      sum[i][j] = (Vector){0};
  const real *scalars = p->scalars, *factors = p->panel;
  for (int64_t t = 0; t < p->terms; t++, scalars += p->step, factors += p->stride) {
    Vector factor[MOST_VECTORS];
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++)
      factor[j] = load(factors + j * LANES);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++) {
      const Vector x = broadcast(scalars[i]);
#pragma GCC unroll 4
      for (int j = 0; j < vectors; j++)
        sum[i][j] += x * factor[j];
    }
  }
  const Vector scale = broadcast(p->scale);
  const int64_t left = p->columns - (vectors - 1) * LANES;
  const Lanes last = firstLanes(left);
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    real *c = p->c + i * p->cStride;
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++) {
      const bool whole = j < vectors - 1 || left == LANES;
      Vector before = {0};
      if (p->add)
        before = whole ? load(c + j * LANES) : loadLanes(c + j * LANES, last);
      const Vector after = before + scale * sum[i][j];
      if (whole)
        store(c + j * LANES, after);
      else
        storeLanes(c + j * LANES, last, after);
    }
  }
}

/* Makes `rows` a constant. */
INLINE void addRows(const Panel *p, const int vectors)
{
  switch (p->rows) {
  case 1:
    return addTile(p, 1, vectors);
  case 2:
    return addTile(p, 2, vectors);
  case 3:
    return addTile(p, 3, vectors);
#if defined(MANY_REGISTERS)
  case 4:
    return addTile(p, 4, vectors);
  case 5:
    return addTile(p, 5, vectors);
  case 6:
    return addTile(p, 6, vectors);
  case 7:
    return addTile(p, 7, vectors);
#endif
  default:
    return addTile(p, MOST_ROWS, vectors);
  }
}

static void multiply(const Panel *p)
{
  switch ((p->columns + LANES - 1) / LANES) {
  case 1:
    return addRows(p, 1);
  case 2:
    return addRows(p, 2);
  default:
    return addRows(p, MOST_VECTORS);
  }
}

static void copy(int64_t terms, int64_t columns, const real *x, int64_t stride, real *panel)
{
  const int64_t vectors = (columns + LANES - 1) / LANES, last = columns - (vectors - 1) * LANES;
  if (columns == MOST_VECTORS * LANES) {
    for (int64_t t = 0; t < terms; t++, x += stride, panel += columns)
#pragma GCC unroll 4
      for (int j = 0; j < MOST_VECTORS; j++)
        store(panel + j * LANES, load(x + j * LANES));
    return;
  }
  for (int64_t t = 0; t < terms; t++, x += stride, panel += vectors * LANES) {
    for (int64_t j = 0; j < vectors - 1; j++)
      store(panel + j * LANES, load(x + j * LANES));
    store(panel + (vectors - 1) * LANES, loadFirst(x + (vectors - 1) * LANES, last));
  }
}

const THNN_(SimdPanels) SIMD_TABLE(Panels, THNN_SIMD_LEVEL) = {
    .lanes = LANES,
    .columns = MOST_VECTORS * LANES,
    .rows = MOST_ROWS,
#if defined(__AVX512F__)
    .leastProducts = 500000, /* OpenBLAS has kernels for small products */
    .mostInPlace = 256,
    .packs = true,
#elif defined(__AVX2__)
    .leastProducts = 10000,
    .mostInPlace = 16,
#endif
    .multiply = multiply,
    .copy = copy,
};
