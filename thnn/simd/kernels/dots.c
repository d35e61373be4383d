/* Products of few rows with a matrix, the inner loops of a linear layer. Nothing is transposed or
 * packed: forward (dots), both operands are contiguous along the terms, and lanes are neighbouring
 * terms; backward (spread), the matrix is contiguous along the result, and lanes are neighbouring
 * results. */
#include "simd/kernels/pieces.h"
#include "simd/vector/prefetch.h"
#include "simd/vector/transpose.h"

enum {
  /* A tile's sums and the columns of a term stay in registers, beside one vector of a row. */
  MOST_ROWS = VECTOR_REGISTERS == 32 ? 6 : 4,
  MOST_COLUMNS = VECTOR_REGISTERS == 32 ? 4 : 3,
  /* Terms of a block: within it, the columns of a tile stay in the first-level cache while all rows
   * are multiplied with them. */
  BLOCK_TERMS = 4096 / sizeof(real),
  /* Terms of spread(), which are rows of the matrix, that are added at a time: SPREAD_TERMS to each
   * of SPREAD_ROWS rows of the result, SINGLE_TERMS to a single row. */
  SPREAD_TERMS = 4,
  SPREAD_ROWS = VECTOR_REGISTERS == 32 ? 4 : 2,
  SINGLE_TERMS = 8,
  /* Rows of at most this size end before the hardware has begun to prefetch: for these, the next
   * rows are prefetched explicitly. */
  SHORT_BYTES = 2048,
  /* Results of a block of spread(), which stay in the first-level cache. */
  BLOCK_RESULTS = 16384 / sizeof(real)
};

/* Adds terms to a tile; `rows` and `columns` are constants where this is called. */
INLINE void addTerms(const int rows, const int columns, const Dots *of, const real *x,
                     const real *w, int64_t terms, Vector (*sum)[4])
{
  int64_t t = 0;
  for (; t + LANES <= terms; t += LANES) {
    Vector factor[4];
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++)
      factor[j] = load(w + j * of->wStride + t);
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
      const Vector row = load(x + i * of->xStride + t);
#pragma GCC unroll 4
      for (int j = 0; j < columns; j++)
        sum[i][j] += row * factor[j];
    }
  }
  if (t == terms)
    return;
  const Lanes last = firstLanes(terms - t);
  Vector factor[4];
#pragma GCC unroll 4
  for (int j = 0; j < columns; j++)
    factor[j] = loadLanes(w + j * of->wStride + t, last);
#pragma GCC unroll 6
  for (int i = 0; i < rows; i++) {
    const Vector row = loadLanes(x + i * of->xStride + t, last);
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++)
      sum[i][j] += row * factor[j];
  }
}

INLINE void addTile(const int rows, const int columns, const Dots *of, int64_t row, int64_t column,
                    int64_t first)
{
  const int64_t left = of->terms - first, terms = left < BLOCK_TERMS ? left : BLOCK_TERMS;
  Vector sum[MOST_ROWS][4];
#pragma GCC unroll 6
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++)
      sum[i][j] = (Vector){0};
  addTerms(rows, columns, of, of->x + row * of->xStride + first,
           of->w + column * of->wStride + first, terms, sum);
#pragma GCC unroll 6
  for (int i = 0; i < rows; i++) {
    real sums[4];
    sumLanes(sum[i], sums);
    real *y = of->y + (row + i) * of->yStride + column;
    const real *before = of->start && first == 0 ? of->start + column : y;
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++)
      y[j] = before[j] + sums[j];
  }
}

/* Makes `rows` a constant. */
INLINE void addRows(int64_t rows, const int columns, const Dots *of, int64_t row, int64_t column,
                    int64_t first)
{
  switch (rows) {
  case 1:
    addTile(1, columns, of, row, column, first);
    break;
  case 2:
    addTile(2, columns, of, row, column, first);
    break;
  case 3:
    addTile(3, columns, of, row, column, first);
    break;
#if defined(MANY_REGISTERS)
  case 4:
    addTile(4, columns, of, row, column, first);
    break;
  case 5:
    addTile(5, columns, of, row, column, first);
    break;
#endif
  default:
    addTile(MOST_ROWS, columns, of, row, column, first);
  }
}

/* Computes some columns of all rows, in tiles of nearly equal height. */
INLINE void addColumns(const int columns, const Dots *of, int64_t column)
{
  const int64_t tiles = (of->rows + MOST_ROWS - 1) / MOST_ROWS;
  const Pieces pieces = cutPieces(of->rows, tiles);
  for (int64_t first = 0; first == 0 || first < of->terms; first += BLOCK_TERMS) {
    Pieces cut = pieces;
    for (int64_t tile = 0; tile < tiles; tile++) {
      const THNNRange part = nextPiece(&cut);
      addRows(part.end - part.begin, columns, of, part.begin, column, first);
    }
  }
}

static void dots(const Dots *of)
{
  int64_t column = 0;
  for (; column + MOST_COLUMNS <= of->columns; column += MOST_COLUMNS)
    addColumns(MOST_COLUMNS, of, column);
  for (; column < of->columns; column++)
    addColumns(1, of, column);
}

/* Adds a few terms to columns [begin, end), whole vectors, of some rows; `rows` and `terms` are
 * constants where this is called. */
INLINE void spreadVectors(const int rows, const int terms, const Dots *of, int64_t row,
                          int64_t term, int64_t begin, int64_t end)
{
  Vector factor[SPREAD_ROWS][SINGLE_TERMS];
#pragma GCC unroll 4
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
    for (int t = 0; t < terms; t++)
      factor[i][t] = broadcast(of->x[(row + i) * of->xStride + term + t]);
  const real *w = of->w + term * of->wStride;
  real *y = of->y + row * of->yStride;
  const bool fetches = (end - begin) * (int64_t)sizeof(real) <= SHORT_BYTES;
  for (int64_t c = begin; c < end; c += LANES) {
    if (fetches) {
#pragma GCC unroll 8
      for (int t = 0; t < terms; t++)
        __builtin_prefetch(w + (terms + t) * of->wStride + c, READ, FIRST_LEVEL);
    }
    Vector line[SINGLE_TERMS];
#pragma GCC unroll 8
    for (int t = 0; t < terms; t++)
      line[t] = load(w + t * of->wStride + c);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
      Vector sum = load(y + i * of->yStride + c);
#pragma GCC unroll 8
      for (int t = 0; t < terms; t++)
        sum += factor[i][t] * line[t];
      store(y + i * of->yStride + c, sum);
    }
  }
}

INLINE void spreadTerms(const int rows, const Dots *of, int64_t row, int64_t begin, int64_t end)
{
  const int most = rows == 1 ? SINGLE_TERMS : SPREAD_TERMS;
  int64_t term = 0;
  for (; term + most <= of->terms; term += most)
    spreadVectors(rows, most, of, row, term, begin, end);
  for (; term < of->terms; term++)
    spreadVectors(rows, 1, of, row, term, begin, end);
}

/* Computes the columns after the last whole vector, of which the first is `begin`. */
static void spreadRest(const Dots *of, int64_t begin)
{
  const Lanes lanes = firstLanes(of->columns - begin);
  for (int64_t row = 0; row < of->rows; row++) {
    real *y = of->y + row * of->yStride + begin;
    Vector sum = loadLanes(y, lanes);
    for (int64_t term = 0; term < of->terms; term++)
      sum += of->x[row * of->xStride + term] * loadLanes(of->w + term * of->wStride + begin, lanes);
    storeFirst(y, of->columns - begin, sum);
  }
}

static void spread(const Dots *of)
{
  const int64_t whole = of->columns - of->columns % LANES;
  const int64_t rows = of->rows < SPREAD_ROWS ? of->rows : SPREAD_ROWS;
  const int64_t block = BLOCK_RESULTS / rows / LANES * LANES;
  for (int64_t begin = 0; begin < whole; begin += block) {
    const int64_t end = begin + block < whole ? begin + block : whole;
    int64_t row = 0;
    for (; row + SPREAD_ROWS <= of->rows; row += SPREAD_ROWS)
      spreadTerms(SPREAD_ROWS, of, row, begin, end);
#if defined(MANY_REGISTERS)
    for (; row + 3 <= of->rows; row += 3) /* two rows and one would read the matrix twice */
      spreadTerms(3, of, row, begin, end);
#endif
    for (; row + 2 <= of->rows; row += 2)
      spreadTerms(2, of, row, begin, end);
    if (row < of->rows)
      spreadTerms(1, of, row, begin, end);
  }
  if (whole < of->columns)
    spreadRest(of, whole);
}

const SimdDots SIMD_TABLE(Dots, THNN_SIMD_LEVEL) = {
#if defined(__AVX512F__)
    .ranges = {{2, 512 / sizeof(real), 256, 500000}, {4, THNN_FEW_ROWS, 48, 80000}},
#elif defined(__AVX2__)
    /* With 2 to 8 rows, OpenBLAS was measured to take 1.02 to 1.7 times as long for 48 to 255 terms, too; of
     * doubles, with up to 16. */
    .ranges = {{2, 32, 256, 0}, {2, 2 * sizeof(real), 48, 0}},
#else
    .ranges = {{2, 16, 256, 0}},
#endif
    .dots = dots,
    .spread = spread,
};
