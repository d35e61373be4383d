#include "matrix.h"

/* Rows and columns of a block. A product of whole matrices runs at full speed from the larger size
 * on, and at nearly that from the smaller one on. */
enum { SMALL_BLOCK = 256, BLOCK = 512 };

/* A size cut into pieces of nearly the same length, a multiple of what vectors hold; an even number of
 * them, for two threads. */
typedef struct Pieces {
  int64_t count, length, size;
} Pieces;

static Pieces cut(int64_t size)
{
  const int64_t pieces = (size + BLOCK - 1) / BLOCK;
  const int64_t wanted = size >= 2 * SMALL_BLOCK ? (pieces + 1) / 2 * 2 : 1;
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

/* Few columns b for a matrix a of some size: gemm would pack the matrix for them. */
static bool prefersSpread(int64_t m, int64_t n, int64_t k)
{
  enum { MOST = 3, LEAST_ELEMENTS = 1 << 15 };
  return n <= MOST && m * k >= LEAST_ELEMENTS;
}

/* c += a * b, on threads that share out the rows of a. */
static void spreadRows(const THNNState *state, int64_t m, int64_t n, int64_t k, THNN_(Matrix) a,
                       THNN_(Matrix) b, real *c, int64_t leading)
{
  enum { BLOCK_COLUMNS = 64 };
  const int64_t blocks = (m + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
  /* Reading the matrix takes longer than the products of a few columns. */
  const int threads = THNN_threads(state, blocks, (double)m * (double)k);
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

/* c[m x n] = alpha * the sum of `count` products a[m x k] * b[k x n], or added to c. The operands of
 * the next product lie `aNext` and `bNext` elements behind. */
typedef struct Product {
  int64_t m, n, k;
  real alpha;
  THNN_(Matrix) a, b;
  bool add;
  real *c;
  int64_t leading;
  int64_t count, aNext, bNext;
} Product;

enum {
  /* Terms in one register sum: with short sums the error stays near that of a blocked product. */
  PANEL_TERMS = 128,
  /* What lies on the stack: six full panels of three of the longest vectors, or more of fewer
   * terms, and the scalars of the columns that a vector holds. */
  PANEL_ELEMENTS = 6 * PANEL_TERMS * 3 * 64 / sizeof(real),
  MOST_SCALARS = 64 / sizeof(real),
  /* What is read where it is stays in the second-level cache. */
  IN_PLACE_ELEMENTS = (1 << 18) / sizeof(real)
};

/* What so many elements take in whole vectors. */
static int64_t wholeVectors(int64_t elements)
{
  const int64_t lanes = THNN_(simd).panels.lanes;
  return (elements + lanes - 1) / lanes * lanes;
}

/* Whether an operand that need not be transposed is read where it is: packing took longer than it saved
 * later, except for weight gradients of few terms. */
static bool readsInPlace(const Product *p, bool transposes)
{
  enum { FEW_TERMS = 32 };
  return !transposes && (!p->b.transposed || p->k > FEW_TERMS);
}

/* A panel of a, or scalars of b: from one term to the next. */
typedef struct Operand {
  const real *data;
  int64_t stride;
} Operand;

static int64_t panelColumns(int64_t left)
{
  const int64_t columns = THNN_(simd).panels.columns;
  return left < columns ? left : columns;
}

/* Packs terms [term, term + terms) of rows [row, row + height) of a: all panels, or the last one if it
 * is not a whole one. */
static void packPanels(const Product *p, int64_t row, int64_t height, int64_t term, int64_t terms,
                       real *packed)
{
  const THNN_(SimdPanels) *loops = &THNN_(simd).panels;
  const bool inPlace = readsInPlace(p, p->a.transposed);
  for (int64_t i = inPlace ? height - height % loops->columns : 0; i < height;
       i += loops->columns) {
    const int64_t columns = panelColumns(height - i);
    const real *from = partOf(p->a, row + i, term);
    if (p->a.transposed)
      THNN_(simd).products.pack(columns, terms, from, p->a.leading, packed, wholeVectors(columns));
    else
      loops->copy(terms, columns, from, p->a.leading, packed);
    packed += columns * terms;
  }
}

/* The panel from row `row + i` on. */
static Operand panelAt(const Product *p, int64_t row, int64_t i, int64_t height, int64_t term,
                       int64_t terms, const real *packed)
{
  const int64_t columns = panelColumns(height - i);
  if (!readsInPlace(p, p->a.transposed))
    return (Operand){packed + i * terms, wholeVectors(columns)};
  if (columns == THNN_(simd).panels.columns)
    return (Operand){partOf(p->a, row + i, term), p->a.leading};
  return (Operand){packed, wholeVectors(columns)};
}

/* Columns of b whose scalars are packed together: whole tiles and whole vectors. */
static int64_t scalarStep(void)
{
  const THNN_(SimdPanels) *loops = &THNN_(simd).panels;
  return loops->lanes > loops->rows ? loops->lanes : loops->rows;
}

/* Terms [term, term + terms) of columns [column, column + width) of b; `packed` has room for them. */
static Operand scalarsOf(const Product *p, int64_t term, int64_t terms, int64_t column,
                         int64_t width, real *packed)
{
  const real *from = partOf(p->b, term, column);
  if (readsInPlace(p, !p->b.transposed))
    return (Operand){from, p->b.leading};
  if (!p->b.transposed)
    THNN_(simd).products.pack(width, terms, from, p->b.leading, packed, wholeVectors(width));
  else
    THNN_(simd).panels.copy(terms, width, from, p->b.leading, packed);
  return (Operand){packed, wholeVectors(width)};
}

/* A block of the result: rows whose panels are packed where need be, columns with scalars. */
static void multiplyBlock(const Product *p, int64_t row, int64_t height, int64_t column,
                          int64_t width, int64_t term, int64_t terms, const real *packed,
                          Operand scalars)
{
  const THNN_(SimdPanels) *loops = &THNN_(simd).panels;
  for (int64_t j = 0; j < width; j += loops->rows)
    for (int64_t i = 0; i < height; i += loops->columns) {
      const Operand factors = panelAt(p, row, i, height, term, terms, packed);
      const THNN_(Panel) panel = {
          .rows = width - j < loops->rows ? width - j : loops->rows,
          .columns = panelColumns(height - i),
          .terms = terms,
          .scalars = scalars.data + j,
          .step = scalars.stride,
          .panel = factors.data,
          .stride = factors.stride,
          .scale = p->alpha,
          .add = p->add || term > 0,
          .c = p->c + (column + j) * p->leading + row + i,
          .cStride = p->leading,
      };
      loops->multiply(&panel);
    }
}

/* One of the products, for rows of the result that panels of `most` terms are taken for together. */
static void addPanels(const Product *p, int64_t row, int64_t height, int64_t firstColumn,
                      int64_t endColumn, int64_t most)
{
  _Alignas(64) real panels[PANEL_ELEMENTS], packed[PANEL_TERMS * MOST_SCALARS];
  const int64_t step = scalarStep();
  for (int64_t term = 0; term < p->k; term += most) {
    const int64_t terms = p->k - term < most ? p->k - term : most;
    packPanels(p, row, height, term, terms, panels);
    for (int64_t column = firstColumn; column < endColumn; column += step) {
      const int64_t width = endColumn - column < step ? endColumn - column : step;
      const Operand scalars = scalarsOf(p, term, terms, column, width, packed);
      multiplyBlock(p, row, height, column, width, term, terms, panels, scalars);
    }
  }
}

/* Rows [firstRow, endRow) and columns [firstColumn, endColumn) of the result. Rows stay in the
 * second-level cache until all products are added. */
static void multiplyPart(const Product *p, int64_t firstRow, int64_t endRow, int64_t firstColumn,
                         int64_t endColumn)
{
  const int64_t most = p->k < PANEL_TERMS ? p->k : PANEL_TERMS;
  const int64_t columns = THNN_(simd).panels.columns;
  const int64_t elements = readsInPlace(p, p->a.transposed) ? IN_PLACE_ELEMENTS : PANEL_ELEMENTS;
  const int64_t block = elements / (most * columns) * columns;
  for (int64_t row = firstRow; row < endRow; row += block) {
    Product one = *p;
    for (int64_t i = 0; i < p->count; i++) {
      addPanels(&one, row, endRow - row < block ? endRow - row : block, firstColumn, endColumn,
                most);
      one.a.data += p->aNext;
      one.b.data += p->bNext;
      one.add = true;
    }
  }
}

/* What gemm is slower at: it packs a large operand for few columns, or for few terms. Fitted beside
 * OpenBLAS at one thread, to linear layers of 4 to 256 rows: 128x128 to 4096x4096. The vector loops say
 * from which size on, and which of these cases. */
static bool prefersPanels(const Product *p)
{
  enum { MOST_TERMS = 256, LEAST_COLUMNS = 4, DOTS_COLUMNS = 32, MOST_COLUMNS = 256 };
  const THNN_(SimdPanels) *loops = &THNN_(simd).panels;
  if ((double)p->m * (double)p->n * (double)p->k < (double)loops->leastProducts)
    return false;
  if (!p->a.transposed && !p->b.transposed)
    return p->n >= LEAST_COLUMNS && p->n <= loops->mostInPlace;
  if (!loops->packs)
    return false;
  if (p->b.transposed)
    return !p->a.transposed && p->k > 1 && p->k <= MOST_TERMS;
  return p->n > DOTS_COLUMNS && p->n <= MOST_COLUMNS;
}

/* On threads that share out the longer side of the result; of a weight gradient its columns, since
 * pieces of all of them took 1.4 to 2 times as long. No element depends on where the result is cut. */
static void multiplyPanels(const THNNState *state, const Product *p)
{
  const bool rows = p->m >= p->n && !p->b.transposed;
  const int64_t size = rows ? p->m : p->n, step = rows ? THNN_(simd).panels.lanes : scalarStep();
  const int64_t steps = (size + step - 1) / step;
  const double terms = (double)p->count * (double)p->k;
  const int threads = THNN_threads(state, steps, (double)p->m * (double)p->n * terms / 12);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < threads; i++) {
    const int64_t first = steps * i / threads * step, next = steps * (i + 1) / threads * step;
    const int64_t end = next < size ? next : size;
    if (rows)
      multiplyPart(p, first, end, 0, p->n);
    else
      multiplyPart(p, 0, p->m, first, end);
  }
}

void THNN_(addProducts)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                        THNN_(Matrix) a, THNN_(Matrix) b, int64_t count, int64_t aNext,
                        int64_t bNext, real *c)
{
  const Product product = {m, n, k, alpha, a, b, true, c, m, count, aNext, bNext};
  multiplyPanels(state, &product);
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
  const Product product = {m, n, k, alpha, a, b, beta == 1, c, leading, 1, 0, 0};
  if ((beta == 0 || beta == 1) && prefersPanels(&product)) {
    multiplyPanels(state, &product);
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
  const THNN_(Matrix) a = {w, terms, true}, b = {x, xStride, false};
  const Product product = {.m = columns, .n = rows, .k = terms, .a = a, .b = b};
  if (THNN_(prefersDots)(rows, columns, terms) && !prefersPanels(&product)) {
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
