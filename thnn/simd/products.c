/* Sums of outer products, the inner loop of direct convolution, and the transposition that brings
 * their operands into vectors.
 *
 * A tile of rows x vectors is summed up in registers: each term loads its vectors once and
 * multiplies them by one scalar per row. Tiles are as large as the registers allow beside the
 * vectors of a term and one scalar, so that multiplications far outnumber loads. */
#include "vector.h"

enum {
  MOST_VECTORS = VECTOR_REGISTERS == 32 ? 4 : 3,
  MOST_ROWS = 12,
  /* Terms in one register sum: with short sums the error stays near that of a blocked product. */
  TERMS_PER_SUM = 256
};

/* Rows of a full tile, by its vectors. */
static inline int tileRows(int vectors)
{
  const int registers = VECTOR_REGISTERS - vectors - 1;
  const int rows = registers / vectors;
  return rows < MOST_ROWS ? rows : MOST_ROWS;
}

typedef THNN_(Products) Products;

/* Adds terms [first, last) to one tile; `rows` and `vectors` are constants where this is called. */
INLINE void addTerms(const Products *p, const THNNOffsets *row, const int rows, const int vectors,
                     int64_t first, int64_t last)
{
  Vector sum[MOST_ROWS][MOST_VECTORS];
  const real *scalar[MOST_ROWS];
#pragma GCC unroll 16
  for (int i = 0; i < rows; i++) {
    scalar[i] = p->scalars + row[i].scalar;
#pragma GCC unroll 8
    for (int j = 0; j < vectors; j++)
      sum[i][j] = (Vector){0};
  }
  for (const THNNOffsets *term = p->term + first; term < p->term + last; term++) {
    Vector factor[MOST_VECTORS];
#pragma GCC unroll 8
    for (int j = 0; j < vectors; j++)
      factor[j] = load(p->factors + term->vector + j * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
      const Vector x = broadcast(scalar[i][term->scalar]);
#pragma GCC unroll 8
      for (int j = 0; j < vectors; j++)
        sum[i][j] += x * factor[j];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
    for (int j = 0; j < vectors; j++) {
      real *total = p->sums + row[i].vector + j * LANES;
      store(total, load(total) + sum[i][j]);
    }
}

INLINE void addRows(const Products *p, const THNNOffsets *row, const int rows, const int vectors)
{
  for (int64_t first = 0; first < p->terms; first += TERMS_PER_SUM) {
    const int64_t last = first + TERMS_PER_SUM;
    addTerms(p, row, rows, vectors, first, last < p->terms ? last : p->terms);
  }
}

/* Makes `rows` a constant. */
INLINE void addTile(const Products *p, const THNNOffsets *row, int rows, const int vectors)
{
  if (rows < 1 || rows > tileRows(vectors))
    __builtin_unreachable();
  switch (rows) {
  case 1:
    return addRows(p, row, 1, vectors);
  case 2:
    return addRows(p, row, 2, vectors);
  case 3:
    return addRows(p, row, 3, vectors);
  case 4:
    return addRows(p, row, 4, vectors);
  case 5:
    return addRows(p, row, 5, vectors);
  case 6:
    return addRows(p, row, 6, vectors);
  case 7:
    return addRows(p, row, 7, vectors);
  case 8:
    return addRows(p, row, 8, vectors);
  case 9:
    return addRows(p, row, 9, vectors);
  case 10:
    return addRows(p, row, 10, vectors);
  case 11:
    return addRows(p, row, 11, vectors);
  default:
    return addRows(p, row, MOST_ROWS, vectors);
  }
}

/* Cuts the rows into tiles of nearly equal height: a tile of few rows is mostly loads. */
INLINE void addTiles(const Products *p, const int vectors)
{
  const int64_t tiles = (p->rows + tileRows(vectors) - 1) / tileRows(vectors);
  for (int64_t tile = 0; tile < tiles; tile++) {
    const int64_t begin = p->rows * tile / tiles, end = p->rows * (tile + 1) / tiles;
    addTile(p, p->row + begin, (int)(end - begin), vectors);
  }
}

static void add(const Products *p)
{
  switch (p->vectors) {
  case 1:
    return addTiles(p, 1);
  case 2:
    return addTiles(p, 2);
  case 3:
    return addTiles(p, 3);
  default:
    return addTiles(p, MOST_VECTORS);
  }
}

static void listOffsets(int64_t n, THNNOffsets first, THNNOffsets step, THNNOffsets *offsets)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    offsets[i].scalar = first.scalar + i * step.scalar;
    offsets[i].vector = first.vector + i * step.vector;
  }
}

/* Interleaves the lower or the upper halves of two vectors: a0 b0 a1 b1 … */
#if defined(__AVX512F__) && defined(THNN_REAL_FLOAT)
#  define LOWER_HALVES 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#  define UPPER_HALVES 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif defined(__AVX512F__) || (defined(__AVX__) && defined(THNN_REAL_FLOAT))
#  define LOWER_HALVES 0, 8, 1, 9, 2, 10, 3, 11
#  define UPPER_HALVES 4, 12, 5, 13, 6, 14, 7, 15
#elif defined(__AVX__) || defined(THNN_REAL_FLOAT)
#  define LOWER_HALVES 0, 4, 1, 5
#  define UPPER_HALVES 2, 6, 3, 7
#else
#  define LOWER_HALVES 0, 2
#  define UPPER_HALVES 1, 3
#endif

INLINE Vector interleaveLower(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, LOWER_HALVES);
}

INLINE Vector interleaveUpper(Vector a, Vector b)
{
  return __builtin_shufflevector(a, b, UPPER_HALVES);
}

/* Transposes a square of LANES x LANES. Interleaving the first half of the rows with the second
 * moves one bit of an element's row number into its column number; after as many turns as a number
 * has bits, rows and columns have changed places. */
static void transposeSquare(const real *x, int64_t xStride, real *y, int64_t yStride)
{
  Vector row[LANES], mixed[LANES];
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++)
    row[i] = load(x + i * xStride);
#pragma GCC unroll 4
  for (int turn = 1; turn < LANES; turn *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < LANES / 2; i++) {
      mixed[2 * i] = interleaveLower(row[i], row[i + LANES / 2]);
      mixed[2 * i + 1] = interleaveUpper(row[i], row[i + LANES / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
      row[i] = mixed[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++)
    store(y + i * yStride, row[i]);
}

static void transposeSmall(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                           int64_t yStride)
{
  for (int64_t column = 0; column < columns; column++)
    for (int64_t row = 0; row < rows; row++)
      y[column * yStride + row] = x[row * xStride + column];
}

static void transpose(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                      int64_t yStride)
{
  const int64_t wholeRows = rows / LANES * LANES, wholeColumns = columns / LANES * LANES;
  for (int64_t row = 0; row < wholeRows; row += LANES)
    for (int64_t column = 0; column < wholeColumns; column += LANES)
      transposeSquare(x + row * xStride + column, xStride, y + column * yStride + row, yStride);
  transposeSmall(wholeRows, columns - wholeColumns, x + wholeColumns, xStride,
                 y + wholeColumns * yStride, yStride);
  transposeSmall(rows - wholeRows, columns, x + wholeRows * xStride, xStride, y + wholeRows,
                 yStride);
}

const THNN_(SimdProducts) SIMD_TABLE(Products, THNN_SIMD_LEVEL) = {
    .lanes = LANES,
    .mostVectors = MOST_VECTORS,
    .add = add,
    .listOffsets = listOffsets,
    .transpose = transpose,
};
