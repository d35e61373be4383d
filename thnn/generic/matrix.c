#include "matrix.h"

/* Rows and columns of a block. A product of whole matrices runs at full speed from the larger size
 * on, and at nearly that from the smaller one on. */
enum { SMALL_BLOCK = 256, BLOCK = 512 };

/* A size cut into pieces of nearly the same length, a multiple of what vectors hold. */
typedef struct Pieces {
  int64_t count, length, size;
} Pieces;

static Pieces cut(int64_t size)
{
  const int64_t pieces = (size + BLOCK - 1) / BLOCK;
  const int64_t wanted = size >= 2 * SMALL_BLOCK && pieces < 2 ? 2 : pieces;
  const int64_t length = ((size + wanted - 1) / wanted + 15) / 16 * 16;
  return (Pieces){(size + length - 1) / length, length, size};
}

static int64_t pieceLength(const Pieces *pieces, int64_t piece)
{
  const int64_t left = pieces->size - piece * pieces->length;
  return left < pieces->length ? left : pieces->length;
}

/* The part of an operand that begins at (row, column) after transposition. */
static real *partOf(THNN_(Matrix) matrix, int64_t row, int64_t column)
{
  return (real *)matrix.data +
         (matrix.transposed ? row * matrix.leading + column : column * matrix.leading + row);
}

/* c += alpha * a * b for vectors a and b, a not transposed: a[m] times each element of b. */
static void addOuterProduct(const THNNState *state, int64_t m, int64_t n, real alpha,
                            THNN_(Matrix) a, THNN_(Matrix) b, real *c)
{
  const int threads = THNN_threads(state, n, (double)m * (double)n);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t j = 0; j < n; j++)
    THNN_(simd).pointwise.axpy(m, alpha * *partOf(b, 0, j), a.data, c + j * m);
}

/* Few columns b for a large matrix a: gemm would pack the matrix for them. */
static bool prefersSpread(int64_t m, int64_t n, int64_t k)
{
  enum { MOST = 3, LEAST_ELEMENTS = 1 << 19 };
  return n > 1 && n <= MOST && m * k >= LEAST_ELEMENTS;
}

/* c += a * b, on threads that share out the rows of a. */
static void spreadRows(const THNNState *state, int64_t m, int64_t n, int64_t k, THNN_(Matrix) a,
                       THNN_(Matrix) b, real *c, int64_t leading)
{
  enum { BLOCK_COLUMNS = 256 };
  const int64_t blocks = (m + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
  const int threads = THNN_threads(state, blocks, (double)m * (double)n * (double)k / 12);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < threads; i++) {
    const int64_t first = blocks * i / threads * BLOCK_COLUMNS;
    const int64_t end = blocks * (i + 1) / threads * BLOCK_COLUMNS;
    const THNN_(Dots) of = {.rows = n,
                            .columns = (end < m ? end : m) - first,
                            .terms = k,
                            .x = b.data,
                            .xStride = b.leading,
                            .w = a.data + first,
                            .wStride = a.leading,
                            .y = c + first,
                            .yStride = leading};
    THNN_(simd).dots.spread(&of);
  }
}

void THNN_(multiply)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                     THNN_(Matrix) a, THNN_(Matrix) b, real beta, real *c)
{
  THNN_(multiplyInto)(state, m, n, k, alpha, a, b, beta, c, m);
}

void THNN_(multiplyInto)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                         THNN_(Matrix) a, THNN_(Matrix) b, real beta, real *c, int64_t leading)
{
  if (k == 1 && beta == 1 && !a.transposed) {
    addOuterProduct(state, m, n, alpha, a, b, c);
    return;
  }
  if (alpha == 1 && (beta == 0 || beta == 1) && !a.transposed && !b.transposed &&
      prefersSpread(m, n, k)) {
    for (int64_t column = 0; beta == 0 && column < n; column++)
      THNN_(simd).pointwise.fill(m, 0, c + column * leading);
    spreadRows(state, m, n, k, a, b, c, leading);
    return;
  }
  const Pieces rows = cut(m), columns = cut(n);
  const int64_t bStep = b.transposed ? b.leading : 1; /* down a column */
  /* A vector's product reads the matrix once; others compute a dozen times as fast as they copy. */
  const double operations = (double)m * (double)n * (double)k / (n == 1 ? 1 : 12);
  const int threads = THNN_blasThreads(state, rows.count * columns.count, operations);
  THNN_blasBegin();
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
  for (int64_t j = 0; j < columns.count; j++)
    for (int64_t i = 0; i < rows.count; i++) {
      const int64_t row = i * rows.length, column = j * columns.length;
      const int64_t height = pieceLength(&rows, i), width = pieceLength(&columns, j);
      real *aPart = partOf(a, row, 0), *bPart = partOf(b, 0, column);
      real *cPart = c + column * leading + row;
      if (n > 1)
        THBlas_(gemm)(a.transposed ? 't' : 'n', b.transposed ? 't' : 'n', height, width, k, alpha,
                      aPart, a.leading, bPart, b.leading, beta, cPart, leading);
      else if (a.transposed)
        THBlas_(gemv)('t', k, height, alpha, aPart, a.leading, bPart, bStep, beta, cPart, 1);
      else
        THBlas_(gemv)('n', height, k, alpha, aPart, a.leading, bPart, bStep, beta, cPart, 1);
    }
  THNN_blasEnd();
}

bool THNN_(prefersDots)(int64_t rows, int64_t columns, int64_t terms)
{
  enum { LEAST_TERMS = 256 }; /* to be worth adding up the lanes */
  const THNN_(SimdDots) *loops = &THNN_(simd).dots;
  return rows > 1 && rows <= loops->mostRows && terms >= LEAST_TERMS &&
         (double)rows * (double)columns * (double)terms >= (double)loops->leastProducts;
}

/* Blocks of columns for the threads, for few rows. */
static void affineDots(const THNNState *state, int64_t columns, const THNN_(Dots) * all)
{
  enum { BLOCK_COLUMNS = 64 };
  const int64_t blocks = (columns + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
  const double operations = (double)all->rows * (double)columns * (double)all->terms / 12;
#pragma omp parallel for num_threads(THNN_threads(state, blocks, operations)) schedule(static)
  for (int64_t i = 0; i < blocks; i++) {
    const int64_t first = i * BLOCK_COLUMNS;
    THNN_(Dots) block = *all;
    block.columns = columns - first < BLOCK_COLUMNS ? columns - first : BLOCK_COLUMNS;
    block.w += first * block.wStride;
    block.y += first;
    if (block.start)
      block.start += first;
    else
      for (int64_t row = 0; row < block.rows; row++)
        THNN_(simd).pointwise.fill(block.columns, 0, block.y + row * block.yStride);
    THNN_(simd).dots.dots(&block);
  }
}

void THNN_(affine)(const THNNState *state, int64_t rows, int64_t columns, int64_t terms,
                   const real *x, int64_t xStride, const real *w, const real *start, real *y,
                   int64_t yStride)
{
  if (THNN_(prefersDots)(rows, columns, terms)) {
    const THNN_(Dots) all = {.rows = rows,
                             .terms = terms,
                             .x = x,
                             .xStride = xStride,
                             .w = w,
                             .wStride = terms,
                             .start = start,
                             .y = y,
                             .yStride = yStride};
    affineDots(state, columns, &all);
    return;
  }
  if (start)
    THNN_(repeatRow)(state, rows, columns, start, y, yStride);
  const THNN_(Matrix) a = {w, terms, true}, b = {x, xStride, false};
  THNN_(multiplyInto)(state, columns, rows, terms, 1, a, b, start ? 1 : 0, y, yStride);
}

void THNN_(addRowSum)(const THNNState *state, int64_t rows, int64_t columns, real scale,
                      const real *x, real *y)
{
  const Pieces pieces = cut(columns);
  const int threads = THNN_threads(state, pieces.count, (double)rows * (double)columns);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < pieces.count; i++)
    for (int64_t row = 0; row < rows; row++)
      THNN_(simd).pointwise.axpy(pieceLength(&pieces, i), scale,
                                 x + row * columns + i * pieces.length, y + i * pieces.length);
}

void THNN_(repeatRow)(const THNNState *state, int64_t rows, int64_t columns, const real *x, real *y,
                      int64_t yStride)
{
  const int threads = THNN_threads(state, rows, (double)rows * (double)columns);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t row = 0; row < rows; row++)
    THNN_(simd).pointwise.copy(columns, x, y + row * yStride);
}
