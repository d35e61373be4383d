#include "generic/shared/matrix.h"

#include "generic/shared/panelProducts.h"
#include "work/sizes.h"

/* Rows and columns of a block for gemm, which runs at full speed from BLOCK upwards, and at nearly
 * full speed from SMALL_BLOCK. */
enum { SMALL_BLOCK = 256, BLOCK = 512 };

/* A size cut into pieces of nearly the same length, whole vectors each. A large one is cut into an
 * even number of pieces, for two threads. */
typedef struct Pieces {
  int64_t count, length, size;
} Pieces;

static Pieces cut(int64_t size)
{
  const int64_t pieces = divideUp(size, BLOCK);
  const int64_t wanted = size >= 2 * SMALL_BLOCK ? (pieces + 1) / 2 * 2 : 1;
  const int64_t length = roundUp(divideUp(size, wanted), 16);
  return (Pieces){divideUp(size, length), length, size};
}

/* Two halves of a size. */
static Pieces halves(int64_t size)
{
  const int64_t length = roundUp(divideUp(size, 2), 16);
  return (Pieces){divideUp(size, length), length, size};
}

/* Whether to cut a product of one piece all the same, for a second thread. With one thread, halves
 * were measured to take up to 3 % longer from LEAST_PRODUCTS on. */
static bool isWorthHalving(int64_t m, int64_t n, int64_t k)
{
  enum { LEAST_SIZE = 128 };
  static const double LEAST_PRODUCTS = 1 << 22;
  return maximum(m, n) >= LEAST_SIZE && (double)m * (double)n * (double)k >= LEAST_PRODUCTS;
}

static int64_t pieceLength(const Pieces *pieces, int64_t piece)
{
  return minimum(pieces->size - piece * pieces->length, pieces->length);
}

/* c += alpha * a * b for a column a, which is not transposed, and a row b. */
static void addOuterProduct(const THNNState *state, int64_t m, int64_t n, real alpha, Matrix a,
                            Matrix b, real *c, int64_t leading)
{
  const int threads = THNN_threads(state, n, (double)m * (double)n);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t j = 0; j < n; j++)
    THNN_(simd).pointwise.axpy(m, alpha * *matrixAt(b, 0, j), a.data, c + j * leading);
}

/* Whether b has so few columns, and a so many elements, that gemm would spend too much time on
 * packing a. */
static bool prefersSpread(int64_t m, int64_t n, int64_t k)
{
  enum { MOST = 3, LEAST_ELEMENTS = 1 << 15 };
  return n <= MOST && (m * k >= LEAST_ELEMENTS || !THNN_USES_BLAS);
}

/* The number of parts that the terms are cut into. All parts but the first have partial sums of
 * their own. */
static int64_t spreadParts(int64_t m, int64_t n, int64_t k)
{
  enum { PART_TERMS = 512, MOST_PARTS = 8, SUMS = (1 << 16) / sizeof(real) };
  int64_t parts = 1;
  while (parts < MOST_PARTS && parts * PART_TERMS < k && (2 * parts - 1) * m * n <= SUMS)
    parts *= 2;
  return parts;
}

/* c += a * b. Threads share parts of the terms, for which they read whole columns of a, and if
 * these cannot be shared evenly, also rows of a. When two threads took half of the rows each, it
 * was measured to take up to 2.8 times as long. The parts, and so the results, depend on the sizes
 * alone. */
static void spreadRows(const THNNState *state, int64_t m, int64_t n, int64_t k, Matrix a, Matrix b,
                       real *c, int64_t leading, THNNRoom room)
{
  enum { BLOCK_ROWS = 64 };
  real *sums = room.data;
  const int64_t parts = spreadParts(m, n, k);
  const int64_t blocks = divideUp(m, BLOCK_ROWS);
  /* Reading the matrix takes longer than the products of a few columns. */
  const int threads = THNN_threads(state, parts * blocks, (double)m * (double)k);
  const int64_t cuts = evenCuts(parts, blocks, threads);
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
  for (int64_t part = 0; part < parts; part++)
    for (int64_t i = 0; i < cuts; i++) {
      const int64_t first = blocks * i / cuts * BLOCK_ROWS;
      const int64_t end = minimum(blocks * (i + 1) / cuts * BLOCK_ROWS, m);
      const int64_t term = k * part / parts;
      Dots of = {.rows = n,
                 .columns = end - first,
                 .terms = k * (part + 1) / parts - term,
                 .x = b.data + term,
                 .xStride = b.leading,
                 .w = a.data + term * a.leading + first,
                 .wStride = a.leading,
                 .y = c + first,
                 .yStride = leading};
      if (part > 0) {
        of.y = sums + (part - 1) * m * n + first;
        of.yStride = m;
        for (int64_t j = 0; j < n; j++)
          THNN_(simd).pointwise.fill(of.columns, 0, of.y + j * m);
      }
      THNN_(simd).dots.spread(&of);
    }
  for (int64_t part = 1; part < parts; part++)
    for (int64_t j = 0; j < n; j++)
      THNN_(simd).pointwise.axpy(m, 1, sums + ((part - 1) * n + j) * m, c + j * leading);
}

static void gemm(int64_t m, int64_t n, int64_t k, real alpha, Matrix a, Matrix b, real beta,
                 real *c, int64_t leading)
{
  THBlas_(gemm)(a.transposed ? 't' : 'n', b.transposed ? 't' : 'n', m, n, k, alpha, (real *)a.data,
                a.leading, (real *)b.data, b.leading, beta, c, leading);
}

/* The product with a vector b. */
static void gemv(int64_t m, int64_t k, real alpha, Matrix a, Matrix b, real beta, real *c)
{
  const int64_t step =
      b.transposed ? b.leading : 1; /* from one element of the vector to the next */
  THBlas_(gemv)(a.transposed ? 't' : 'n', a.transposed ? k : m, a.transposed ? m : k, alpha,
                (real *)a.data, a.leading, (real *)b.data, step, beta, c, 1);
}

THNNRoom THNN_(matrix_largerRoom)(THNNRoom a, THNNRoom b)
{
  return (THNNRoom){.threads = a.threads > b.threads ? a.threads : b.threads,
                    .bytes = a.bytes > b.bytes ? a.bytes : b.bytes};
}

THNNRoom THNN_(matrix_room)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                            bool aTransposed, bool bTransposed)
{
  THNN_REPRODUCIBLY_GET(state, matrix_room, (state, m, n, k, aTransposed, bTransposed))
  const Product product = shapeOf(m, n, k, aTransposed, bTransposed);
  THNNRoom room = {.threads = 1};
  if (m == 0 || n == 0 || k == 0)
    return room; /* nothing to multiply */
  if (!aTransposed && !bTransposed && prefersSpread(m, n, k)) {
    const int64_t sums = (spreadParts(m, n, k) - 1) * m * n;
    room.bytes = (size_t)roundUp(sums * (int64_t)sizeof(real), 64);
  }
  if (THNN_(panelProducts_win)(&product))
    room = THNN_(matrix_largerRoom)(room, THNN_(panelProducts_room)(state, &product));
  return room;
}

void THNN_(matrix_multiply)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                            Matrix a, Matrix b, real beta, real *c, THNNRoom room)
{
  THNN_(matrix_multiplyInto)(state, m, n, k, alpha, a, b, beta, c, m, room);
}

void THNN_(matrix_multiplyInto)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                                Matrix a, Matrix b, real beta, real *c, int64_t leading,
                                THNNRoom room)
{
  THNN_REPRODUCIBLY(state, matrix_multiplyInto,
                    (state, m, n, k, alpha, a, b, beta, c, leading, room))
  if (k == 1 && beta == 1 && !a.transposed) {
    addOuterProduct(state, m, n, alpha, a, b, c, leading);
    return;
  }
  if (alpha == 1 && (beta == 0 || beta == 1) && !a.transposed && !b.transposed &&
      prefersSpread(m, n, k)) {
    for (int64_t column = 0; beta == 0 && column < n; column++)
      THNN_(simd).pointwise.fill(m, 0, c + column * leading);
    spreadRows(state, m, n, k, a, b, c, leading, room);
    return;
  }
  if (!THNN_USES_BLAS && beta != 0 && beta != 1) {
    for (int64_t i = 0; i < m * n; i++)
      c[i / m * leading + i % m] *= beta;
    beta = 1;
  }
  Product product = productOf(m, n, k, alpha, a, b, c, leading);
  product.add = beta == 1;
  if ((beta == 0 || beta == 1) && THNN_(panelProducts_win)(&product)) {
    THNN_(panelProducts_multiply)(&product, room);
    return;
  }
  Pieces rows = cut(m), columns = cut(n);
  if (rows.count * columns.count == 1 && isWorthHalving(m, n, k))
    *(m >= n ? &rows : &columns) = halves(maximum(m, n));
  /* A product with a vector takes as long as reading the matrix; others multiply a dozen times
   * while one element is copied. */
  const double operations = (double)m * (double)n * (double)k / (n == 1 ? 1 : 12);
  const int threads = THNN_blasThreads(state, rows.count * columns.count, operations);
  THNN_blasBegin();
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
  for (int64_t j = 0; j < columns.count; j++)
    for (int64_t i = 0; i < rows.count; i++) {
      const int64_t row = i * rows.length, column = j * columns.length;
      const int64_t height = pieceLength(&rows, i), width = pieceLength(&columns, j);
      const Matrix aPart = {matrixAt(a, row, 0), a.leading, a.transposed};
      const Matrix bPart = {matrixAt(b, 0, column), b.leading, b.transposed};
      real *cPart = c + column * leading + row;
      if (n > 1)
        gemm(height, width, k, alpha, aPart, bPart, beta, cPart, leading);
      else
        gemv(height, k, alpha, aPart, bPart, beta, cPart);
    }
  THNN_blasEnd();
}

/* Whether the product of a row a with b is that of the transpose of b, whose columns are contiguous,
 * with a column; and whether that is faster. With AVX2, 512 terms and 4608 results it takes 0.36 of
 * the time, with AVX-512 as long. */
static bool spreadsRow(int64_t m, int64_t n, int64_t k, Matrix a, Matrix b, int64_t leading)
{
  return m == 1 && leading == 1 && (a.transposed || a.leading == 1) && b.transposed &&
         prefersSpread(n, m, k);
}

size_t THNN_(matrix_aloneBytes)(const THNNState *state, int64_t m, int64_t n, int64_t k)
{
  THNN_REPRODUCIBLY_GET(state, matrix_aloneBytes, (state, m, n, k))
  return THNN_USES_BLAS ? 0 : THNN_(panelProducts_mostBytes)(m, n, k);
}

void THNN_(matrix_multiplyAlone)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                 real alpha, Matrix a, Matrix b, real beta, real *c,
                                 int64_t leading, void *packing)
{
  THNN_REPRODUCIBLY(state, matrix_multiplyAlone,
                    (state, m, n, k, alpha, a, b, beta, c, leading, packing))
  if (THNN_USES_BLAS && alpha == 1 && spreadsRow(m, n, k, a, b, leading)) {
    if (beta == 0)
      THNN_(simd).pointwise.fill(n, 0, c);
    const Dots of = {.rows = 1,
                     .columns = n,
                     .terms = k,
                     .x = a.data,
                     .w = b.data,
                     .wStride = b.leading,
                     .y = c};
    THNN_(simd).dots.spread(&of);
    return;
  }
  if (THNN_USES_BLAS) {
    gemm(m, n, k, alpha, a, b, beta, c, leading);
    return;
  }
  Product product = productOf(m, n, k, alpha, a, b, c, leading);
  product.add = beta == 1;
  const THNNRoom room = {1, THNN_(panelProducts_mostBytes)(m, n, k), packing};
  THNN_(panelProducts_multiply)(&product, room);
}

bool THNN_(matrix_prefersDots)(const THNNState *state, int64_t rows, int64_t columns, int64_t terms)
{
  THNN_REPRODUCIBLY_GET(state, matrix_prefersDots, (state, rows, columns, terms))
  const double products = (double)rows * (double)columns * (double)terms;
  for (int i = 0; i < 2; i++) {
    const THNNDotsRange *range = &THNN_(simd).dots.ranges[i];
    if (rows >= range->leastRows && rows <= range->mostRows && terms >= range->leastTerms &&
        products >= (double)range->leastProducts)
      return true;
  }
  return false;
}

/* Computes affine for few rows; threads share blocks of columns. */
static void affineDots(const THNNState *state, int64_t columns, const Dots *all)
{
  enum { BLOCK_COLUMNS = 64 };
  const int64_t blocks = divideUp(columns, BLOCK_COLUMNS);
  const double operations = (double)all->rows * (double)columns * (double)all->terms / 12;
#pragma omp parallel for num_threads(THNN_threads(state, blocks, operations)) schedule(static)
  for (int64_t i = 0; i < blocks; i++) {
    const int64_t first = i * BLOCK_COLUMNS;
    Dots block = *all;
    block.columns = minimum(columns - first, BLOCK_COLUMNS);
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

void THNN_(matrix_affine)(const THNNState *state, int64_t rows, int64_t columns, int64_t terms,
                          const real *x, int64_t xStride, const real *w, const real *start, real *y,
                          int64_t yStride, THNNRoom room)
{
  THNN_REPRODUCIBLY(state, matrix_affine,
                    (state, rows, columns, terms, x, xStride, w, start, y, yStride, room))
  const Matrix a = {w, terms, true}, b = {x, xStride, false};
  const Product product = productOf(columns, rows, terms, 1, a, b, y, yStride);
  if (THNN_(matrix_prefersDots)(state, rows, columns, terms) &&
      !(THNN_USES_BLAS && THNN_(panelProducts_win)(&product))) {
    const Dots all = {.rows = rows,
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
    THNN_(matrix_repeatRow)(state, rows, columns, start, y, yStride);
  THNN_(matrix_multiplyInto)(state, columns, rows, terms, 1, a, b, start ? 1 : 0, y, yStride, room);
}

bool THNN_(matrix_prefersTransposed)(const THNNState *state, int64_t rows, int64_t columns,
                                     int64_t terms)
{
  THNN_REPRODUCIBLY_GET(state, matrix_prefersTransposed, (state, rows, columns, terms))
  const Product product = shapeOf(columns, rows, terms, false, false);
  return THNN_(panelProducts_readsInPlace)(&product) && THNN_(panelProducts_win)(&product);
}

void THNN_(matrix_addRowSum)(const THNNState *state, int64_t rows, int64_t columns, real scale,
                             const real *x, int64_t xStride, real *y)
{
  const Pieces pieces = cut(columns);
  const int threads = THNN_threads(state, pieces.count, (double)rows * (double)columns);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < pieces.count; i++)
    for (int64_t row = 0; row < rows; row++)
      THNN_(simd).pointwise.axpy(pieceLength(&pieces, i), scale,
                                 x + row * xStride + i * pieces.length, y + i * pieces.length);
}

void THNN_(matrix_transpose)(const THNNState *state, int64_t rows, int64_t columns, const real *x,
                             real *y)
{
  enum { SIDE = 64 }; /* of squares, whose both sides are in a near cache */
  const int64_t down = divideUp(rows, SIDE), across = divideUp(columns, SIDE);
  const int threads = THNN_threads(state, down * across, (double)rows * (double)columns);
#pragma omp parallel for num_threads(threads) schedule(static) collapse(2)
  for (int64_t j = 0; j < across; j++)
    for (int64_t i = 0; i < down; i++) {
      const int64_t row = i * SIDE, column = j * SIDE;
      THNN_(simd).products.transpose(minimum(rows - row, SIDE), minimum(columns - column, SIDE),
                                     x + row * columns + column, columns, y + column * rows + row,
                                     rows);
    }
}

void THNN_(matrix_repeatRow)(const THNNState *state, int64_t rows, int64_t columns, const real *x,
                             real *y, int64_t yStride)
{
  const int threads = THNN_threads(state, rows, (double)rows * (double)columns);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t row = 0; row < rows; row++)
    THNN_(simd).pointwise.copy(columns, x, y + row * yStride);
}
