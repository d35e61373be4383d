/* Products and sums of matrices against their definition: transposed operands, columns that lie
 * apart, factors, sizes around all that a path is chosen by. Each test runs with the instruction
 * set's own choice of paths, and with the choice forced to each of them.
 *
 * Gaps between columns hold NaN in operands and a number that has to stay in results. A result may
 * be off by an error bound: the terms of its sum times the unit roundoff times the sum of their
 * magnitudes. It has to be the same, bit for bit, with one to three threads. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "generic/template.h"

#include "../check.h"
#include "generic/shared/matrix.h"

#if defined(THNN_REAL_FLOAT)
static const double EPSILON = FLT_EPSILON;
#else
static const double EPSILON = DBL_EPSILON;
#endif

enum { MOST_THREADS = 3 };
static const real GAP = 77;

/* ---- Random numbers -------------------------------------------------------------------------- */

static uint64_t randomState = 1;

/* From low to high, both included. */
static int64_t randomBetween(int64_t low, int64_t high)
{
  randomState = randomState * 6364136223846793005u + 1442695040888963407u;
  return low + (int64_t)((randomState >> 33) % (uint64_t)(high - low + 1));
}

static real randomReal(void)
{
  return (real)randomBetween(-1000, 1000) / 1000;
}

/* ---- Matrices -------------------------------------------------------------------------------- */

/* `columns` columns of `rows` elements, `leading` elements apart, which end with the memory. */
static int64_t elementsOf(int64_t rows, int64_t columns, int64_t leading)
{
  return (columns - 1) * leading + rows;
}

static real *newMatrix(int64_t rows, int64_t columns, int64_t leading, real gap)
{
  const int64_t elements = elementsOf(rows, columns, leading);
  real *x = malloc((size_t)elements * sizeof(real));
  for (int64_t i = 0; i < elements; i++)
    x[i] = i % leading < rows ? randomReal() : gap;
  return x;
}

static real *newVector(int64_t elements)
{
  return newMatrix(elements, 1, elements, 0);
}

static real *copyOf(const real *x, int64_t elements)
{
  real *copy = malloc((size_t)elements * sizeof(real));
  return memcpy(copy, x, (size_t)elements * sizeof(real));
}

static double at(Matrix x, int64_t row, int64_t column)
{
  return (double)(x.transposed ? x.data[row * x.leading + column]
                               : x.data[column * x.leading + row]);
}

/* ---- What is tested -------------------------------------------------------------------------- */

/* Which paths products take. */
typedef enum Paths { MEASURED, PANELS, IN_PLACE, DOTS, GEMM, ALL_PATHS } Paths;

static Simd measured;

static void choosePaths(Paths paths)
{
  THNN_(simd) = measured;
  if (paths == MEASURED)
    return;
  THNN_(simd).panels.mostPacked = paths == PANELS ? INT64_MAX : 0;
  THNN_(simd).panels.mostInPlace = paths == IN_PLACE ? THNN_MOST_IN_PLACE : 0;
  const int64_t least = paths == PANELS || paths == IN_PLACE ? 0 : INT64_MAX;
  THNN_(simd).panels.leastProducts = least;
  THNN_(simd).panels.leastAlong = least;
  THNN_(simd).panels.leastAcross = least;
  const THNNDotsRange every = {1, INT64_MAX, 1, 0}, none = {INT64_MAX, 0, 1, 0};
  THNN_(simd).dots.ranges[0] = THNN_(simd).dots.ranges[1] = paths == DOTS ? every : none;
}

/* c[m x n] = alpha * a * b + beta * c + start; of `count` products, whose operands are aNext and
 * bNext elements apart. */
typedef struct Product {
  Paths paths;
  int64_t m, n, k, count, aNext, bNext;
  Matrix a, b;
  real alpha, beta;
  const real *start; /* a value for each row, or NULL */
  int64_t leading;
} Product;

static const char *const FUNCTIONS[] = {"multiplyInto", "addProducts", "affine", "multiplyEach"};
typedef enum Function { MULTIPLY_INTO, ADD_PRODUCTS, AFFINE, MULTIPLY_EACH } Function;

static void printProduct(const Product *p, Function function, const char *problem)
{
  const char *const names[] = {"measured", "panels", "in place", "dots", "gemm"};
  checkFailures++;
  printf("%s (%s paths): %s: m %d n %d k %d, a%s leading %d, b%s leading %d, alpha %g beta %g, "
         "%d products, leading %d%s\n",
         FUNCTIONS[function], names[p->paths], problem, (int)p->m, (int)p->n, (int)p->k,
         p->a.transposed ? "^T" : "", (int)p->a.leading, p->b.transposed ? "^T" : "",
         (int)p->b.leading, (double)p->alpha, (double)p->beta, (int)p->count, (int)p->leading,
         p->start ? ", start" : "");
}

/* The room that a function says it needs, and no more; to be freed. */
static THNNRoom roomFor(const Product *p, Function function, const THNNState *state)
{
  THNNRoom room = {0};
  switch (function) {
  case MULTIPLY_INTO:
  case AFFINE:
    room = THNN_(matrix_room)(state, p->m, p->n, p->k, p->a.transposed, p->b.transposed);
    break;
  case ADD_PRODUCTS:
    room = THNN_(panelProducts_addRoom)(state, p->m, p->n, p->k, p->a.transposed, p->b.transposed,
                                        p->count);
    break;
  case MULTIPLY_EACH:
    room = THNN_(panelProducts_eachRoom)(state, p->m, p->n, p->k, p->count);
    break;
  }
  const size_t bytes = THNN_roomBytes(room);
  return THNN_roomAt(room, bytes > 0 ? aligned_alloc(64, bytes) : NULL);
}

static void run(const Product *p, Function function, const THNNState *state, real *c)
{
  const THNNRoom room = roomFor(p, function, state);
  switch (function) {
  case MULTIPLY_INTO:
    THNN_(matrix_multiplyInto)
    (state, p->m, p->n, p->k, p->alpha, p->a, p->b, p->beta, c, p->leading, room);
    break;
  case ADD_PRODUCTS:
    THNN_(panelProducts_add)
    (state, p->m, p->n, p->k, p->alpha, p->a, p->b, p->count, p->aNext, p->bNext, c, room);
    break;
  case AFFINE:
    THNN_(matrix_affine)
    (state, p->n, p->m, p->k, p->b.data, p->b.leading, p->a.data, p->start, c, p->leading, room);
    break;
  case MULTIPLY_EACH: /* not called here, since it has several results */
    break;
  }
  free(room.data);
}

/* Whether a result is what it was computed from, within the bound. */
static bool isClose(const Product *p, const real *before, const real *after)
{
  for (int64_t j = 0; j < p->n; j++)
    for (int64_t i = 0; i < p->m; i++) {
      const int64_t place = j * p->leading + i;
      double sum = p->beta == 0 ? 0 : (double)p->beta * (double)before[place];
      sum += p->start ? (double)p->start[i] : 0;
      double size = fabs(sum);
      Matrix a = p->a, b = p->b;
      for (int64_t l = 0; l < p->count; l++, a.data += p->aNext, b.data += p->bNext)
        for (int64_t t = 0; t < p->k; t++) {
          const double term = (double)p->alpha * at(a, i, t) * at(b, t, j);
          sum += term;
          size += fabs(term);
        }
      /* There are three roundings besides those of the sum: of a term, of the sum times alpha, and
       * of adding that to what was there. The sum of this test has as many roundings, so each is
       * counted as a whole epsilon in place of half of one. */
      const double bound = (double)(p->count * p->k + 4) * EPSILON * size;
      if (!(fabs((double)after[place] - sum) <= bound))
        return false;
    }
  return true;
}

static bool keepsGaps(const Product *p, const real *c)
{
  for (int64_t i = 0; i < elementsOf(p->m, p->n, p->leading); i++)
    if (i % p->leading >= p->m && c[i] != GAP)
      return false;
  return true;
}

/* Whether the product of packed a, with room for one step of b, has the bits of `wanted` and takes no
 * more than that room. */
static bool isSameOfRows(const Product *p, const real *kept, const real *wanted)
{
  enum { BEHIND = 64 };
  const int64_t results = elementsOf(p->m, p->n, p->leading);
  const int64_t room = THNN_(panelProducts_keptElements)(1, p->k);
  real *c = copyOf(wanted, results), *scalars = newVector(room + BEHIND);
  for (int64_t i = 0; i < BEHIND; i++)
    scalars[room + i] = GAP;
  THNN_(panelProducts_multiplyRows)
  (p->m, (THNNRange){0, p->m}, p->n, p->k, kept, scalars, p->b, c, p->leading);
  bool same = memcmp(c, wanted, (size_t)results * sizeof(real)) == 0;
  for (int64_t i = 0; i < BEHIND; i++)
    same = same && scalars[room + i] == GAP;
  free(c);
  free(scalars);
  return same;
}

/* How often products were computed with a packed before, usually and reproducibly. */
static int metKept[2][ALL_PATHS];

/* Whether packing a first gives the bits of `wanted`, where a is packed at all; also if the product
 * is computed in two parts. */
static bool isSameKept(THNNState *state, const Product *p, const real *before, const real *wanted)
{
  const int64_t elements =
      THNN_(panelProducts_keptPanels)(state, p->m, p->n, p->k, p->a.transposed);
  if (elements == 0 || p->b.transposed || p->alpha != 1 || (p->beta != 0 && p->beta != 1))
    return true;
  const int64_t results = elementsOf(p->m, p->n, p->leading);
  real *c = copyOf(before, results), *kept = newVector(elements);
  THNN_(panelProducts_keepPanels)(state, p->m, p->k, p->a, kept);
  THNN_(panelProducts_multiplyKept)
  (state, p->m, p->n, p->k, kept, p->b, p->beta == 1, c, p->leading);
  bool same = memcmp(c, wanted, (size_t)results * sizeof(real)) == 0;
  const int64_t step = THNN_(panelProducts_keptStep)(state), middle = p->n / 2 / step * step;
  memcpy(c, before, (size_t)results * sizeof(real));
  THNN_(panelProducts_multiplyKeptPart)
  (state, p->m, middle, p->n, p->k, kept, p->b, p->beta == 1, c, p->leading);
  THNN_(panelProducts_multiplyKeptPart)
  (state, p->m, 0, middle, p->k, kept, p->b, p->beta == 1, c, p->leading);
  same = same && memcmp(c, wanted, (size_t)results * sizeof(real)) == 0;
  if (p->beta == 0 && !THNN_State_reproducible(state))
    same = same && isSameOfRows(p, kept, wanted);
  metKept[THNN_State_reproducible(state)][p->paths]++;
  free(c);
  free(kept);
  return same;
}

/* Runs a product whose sizes, factors and leading dimension are set. */
static void testProduct(THNNState *state, Product p, Function function)
{
  const int64_t elements = elementsOf(p.m, p.n, p.leading);
  real *before = newMatrix(p.m, p.n, p.leading, GAP), *first = NULL;
  choosePaths(p.paths);
  if (p.beta == 0)
    for (int64_t i = 0; i < elements; i++)
      before[i] = i % p.leading < p.m ? (real)NAN : GAP;
  for (int threads = 1; threads <= MOST_THREADS; threads++) {
    real *c = copyOf(before, elements);
    THNN_State_setThreads(state, threads);
    run(&p, function, state, c);
    if (!first) {
      first = c;
      if (!isClose(&p, before, c))
        printProduct(&p, function, "wrong result");
      if (!keepsGaps(&p, c))
        printProduct(&p, function, "writes between columns");
    }
    if (function == MULTIPLY_INTO && !isSameKept(state, &p, before, first))
      printProduct(&p, function, "another result with a packed before");
    if (c == first)
      continue;
    if (memcmp(first, c, (size_t)elements * sizeof(real)) != 0)
      printProduct(&p, function, "another result with more threads");
    free(c);
  }
  free(first);
  free(before);
}

/* An operand of the rows and columns that it has after transposition. */
static Matrix newOperand(int64_t rows, int64_t columns, bool transposed, int64_t gap)
{
  const int64_t length = transposed ? columns : rows;
  const real *data = newMatrix(length, transposed ? rows : columns, length + gap, (real)NAN);
  return (Matrix){data, length + gap, transposed};
}

static void freeOperands(const Product *p)
{
  free((real *)p->a.data);
  free((real *)p->b.data);
}

/* A bit for each of these. */
enum { A_TRANSPOSED = 1, B_TRANSPOSED = 2, A_GAP = 4, B_GAP = 8, C_GAP = 16, ALL_LAYOUTS = 32 };

static Product newProduct(int64_t m, int64_t n, int64_t k, int layout)
{
  return (Product){.m = m,
                   .n = n,
                   .k = k,
                   .count = 1,
                   .alpha = 1,
                   .a = newOperand(m, k, layout & A_TRANSPOSED, layout & A_GAP ? 3 : 0),
                   .b = newOperand(k, n, layout & B_TRANSPOSED, layout & B_GAP ? 2 : 0),
                   .leading = m + (layout & C_GAP ? 5 : 0)};
}

static void testMultiplyInto(THNNState *state, Paths paths, int64_t m, int64_t n, int64_t k,
                             int layout, real alpha, real beta)
{
  Product p = newProduct(m, n, k, layout);
  p.paths = paths;
  p.alpha = alpha;
  p.beta = beta;
  testProduct(state, p, MULTIPLY_INTO);
  freeOperands(&p);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Every combination of small sizes, layouts and factors. */
static void testSmall(THNNState *state)
{
  enum { MOST = 4 };
  const real alphas[] = {1, 0.5, -2}, betas[] = {0, 1, 0.25};
  for (int paths = MEASURED; paths < ALL_PATHS; paths++)
    for (int size = 0; size < MOST * MOST * MOST; size++)
      for (int layout = 0; layout < ALL_LAYOUTS; layout++)
        for (int factors = 0; factors < 9; factors++)
          testMultiplyInto(state, (Paths)paths, 1 + size % MOST, 1 + size / MOST % MOST,
                           1 + size / MOST / MOST, layout, alphas[factors % 3], betas[factors / 3]);
}

/* A size that something may depend on, or one beside it: of vectors, tiles, panels, blocks. */
static int64_t randomSize(int64_t most)
{
  const SimdPanels *panels = &measured.panels;
  const int64_t units[] = {1,
                           panels->lanes,
                           panels->rows,
                           panels->step,
                           panels->columns,
                           2 * panels->columns,
                           16,
                           24,
                           32,
                           THNN_FEW_ROWS,
                           48,
                           64,
                           256,
                           512,
                           1024};
  const int64_t unit = units[randomBetween(0, sizeof units / sizeof *units - 1)];
  const int64_t size = unit * randomBetween(1, 2) + randomBetween(-1, 1);
  return size < 1 ? 1 : size > most ? randomBetween(1, most) : size;
}

/* Random sizes, one of them short as often as not. */
static void testSizes(THNNState *state, int products)
{
  const int64_t few[] = {1, 2, 3, 4, 17};
  for (int i = 0; i < products; i++) {
    int64_t size[3];
    for (int j = 0; j < 3; j++)
      size[j] = randomSize(randomBetween(0, 2) ? 70 : 2100);
    if (randomBetween(0, 1))
      size[randomBetween(0, 2)] = few[randomBetween(0, 4)];
    if ((double)size[0] * (double)size[1] * (double)size[2] > 3e6)
      continue;
    const real beta = (real[]){0, 1, 1, 0.25}[randomBetween(0, 3)];
    THNN_State_setReproducible(state, i % 3 == 0 && THNN_simdReproduces());
    testMultiplyInto(state, (Paths)randomBetween(MEASURED, ALL_PATHS - 1), size[0], size[1],
                     size[2], (int)randomBetween(0, ALL_LAYOUTS - 1),
                     randomBetween(0, 1) ? 1 : (real)-0.75, beta);
  }
  THNN_State_setReproducible(state, false);
}

/* Sizes around the limits by which a path is chosen: elements, rows and terms of a matrix that is
 * multiplied by few columns; the numbers of multiplications that are left to panels and to dots;
 * matrices that are too large for the second-level cache and for all caches; and results whose
 * columns are pages apart. */
static void testThresholds(THNNState *state)
{
  const int64_t spread[][2] = {{64, 512},  {63, 520},  {33, 1025}, {64, 513},  {65, 1023},
                               {66, 1024}, {67, 2049}, {17, 4097}, {181, 181}, {2341, 14},
                               {2340, 14}, {9000, 6},  {1, 32768}, {1, 32767}, {780, 1100}};
  for (size_t i = 0; i < sizeof spread / sizeof *spread; i++)
    for (int64_t n = 1; n <= 4; n++)
      for (int layout = 0; layout < ALL_LAYOUTS; layout += A_GAP) {
        const real beta = (real)(layout / 4 % 2);
        testMultiplyInto(state, MEASURED, spread[i][0], n, spread[i][1], layout, 1, beta);
      }
  const int64_t least[] = {measured.panels.leastProducts, measured.panels.leastAlong,
                           measured.panels.leastAcross, measured.dots.ranges[0].leastProducts,
                           measured.dots.ranges[1].leastProducts};
  for (size_t i = 0; i < sizeof least / sizeof *least; i++)
    for (int n = 3; n <= 33 && least[i] < 1 << 20; n += 5)
      for (int layout = 0; layout < ALL_LAYOUTS; layout += 9) {
        const int64_t k = 40 + layout, m = least[i] / (n * k);
        for (int64_t more = 0; more < 2; more++)
          testMultiplyInto(state, MEASURED, m + 1 + more, n, k, layout, 1, (real)(n % 2));
      }
  const int64_t far = (1 << 22) / (int64_t)sizeof(real);
  for (int64_t n = 15; n <= 17; n++)
    testMultiplyInto(state, MEASURED, far / 512 + (n - 16), n, 512, C_GAP | A_GAP, 1, 1);
  for (int64_t n = 4; n <= 6; n++)
    testMultiplyInto(state, MEASURED, 4 * far / 512 + (n - 5), n, 512, C_GAP | A_GAP, 1, 1);
  const int64_t pages = 8192 / (int64_t)sizeof(real);
  for (int64_t k = 63; k <= 65; k++)
    testMultiplyInto(state, MEASURED, pages, far / 2 / pages + (k - 63), k, B_TRANSPOSED, 1, 1);
}

/* Sums of several products, whose operands may overlap as the windows of a convolution do. */
static void testAddProducts(THNNState *state, int products)
{
  for (int i = 0; i < products; i++) {
    Product p = {.paths = (Paths)randomBetween(MEASURED, IN_PLACE),
                 .m = randomSize(80),
                 .n = randomSize(80),
                 .k = randomSize(randomBetween(0, 1) ? 70 : 600),
                 .count = randomBetween(1, 3),
                 .alpha = randomBetween(0, 1) ? 1 : (real)-0.5,
                 .beta = 1};
    p.leading = p.m;
    p.a.transposed = randomBetween(0, 1);
    p.b.transposed = randomBetween(0, 1);
    const int64_t aLength = p.a.transposed ? p.k : p.m, bLength = p.b.transposed ? p.n : p.k;
    p.a.leading = randomBetween(0, 1) ? randomBetween(1, aLength) : aLength + 1;
    p.b.leading = randomBetween(0, 1) ? randomBetween(1, bLength) : bLength + 1;
    p.aNext = randomBetween(0, 9);
    p.bNext = randomBetween(0, 9);
    const int64_t aColumns = p.a.transposed ? p.m : p.k, bColumns = p.b.transposed ? p.k : p.n;
    const int64_t more = p.count - 1;
    p.a.data = newVector(elementsOf(aLength, aColumns, p.a.leading) + more * p.aNext);
    p.b.data = newVector(elementsOf(bLength, bColumns, p.b.leading) + more * p.bNext);
    testProduct(state, p, ADD_PRODUCTS);
    freeOperands(&p);
  }
}

/* One run of several products with one operand in common, each with its result and a gap behind
 * it. */
static real *multiplyEach(const THNNState *state, const Product *p, int64_t cNext)
{
  real *c = newVector(cNext * p->count);
  for (int64_t i = 0; i < cNext * p->count; i++)
    c[i] = i % cNext < p->m * p->n ? (real)NAN : GAP;
  const int64_t elements = THNN_(panelProducts_packedElements)(p->m, p->n, p->k, p->count);
  real *packed = elements > 0 ? newVector(elements) : NULL;
  const THNNRoom room = roomFor(p, MULTIPLY_EACH, state);
  THNN_(panelProducts_each)
  (p->m, p->n, p->k, p->a, p->b, p->start, p->count, p->aNext, (Finish){0}, c, cNext, packed, room);
  free(room.data);
  free(packed);
  return c;
}

static void checkEach(const Product *p, const real *c, int64_t cNext)
{
  Product one = *p;
  one.count = 1;
  one.start = NULL;
  real *before = newVector(p->m * p->n);
  for (int64_t i = 0; i < p->m * p->n; i++)
    before[i] = p->start ? p->start[i / p->m] : 0;
  for (int64_t i = 0; i < p->count; i++, one.a.data += p->aNext, c += cNext) {
    if (!isClose(&one, before, c))
      printProduct(p, MULTIPLY_EACH, "wrong result");
    for (int64_t j = p->m * p->n; j < cNext; j++)
      CHECK(c[j] == GAP);
  }
  free(before);
}

static void testMultiplyEach(THNNState *state, int products)
{
  for (int i = 0; i < products; i++) {
    Product p = {.paths = (Paths)randomBetween(MEASURED, IN_PLACE),
                 .m = randomSize(300),
                 .n = randomSize(80),
                 .k = randomSize(300),
                 .count = randomBetween(1, 4),
                 .alpha = 1,
                 .beta = 1};
    choosePaths(p.paths);
    p.leading = p.m;
    p.a.transposed = randomBetween(0, 1);
    p.a.leading = (p.a.transposed ? p.k : p.m) + randomBetween(0, 2);
    p.aNext = p.a.leading * (p.a.transposed ? p.m : p.k) + randomBetween(0, 3);
    p.a.data = newVector(p.aNext * p.count);
    p.b = newOperand(p.k, p.n, randomBetween(0, 1), randomBetween(0, 2));
    const int64_t cNext = p.m * p.n + 3;
    real *start = newVector(p.n), *first = NULL;
    p.start = randomBetween(0, 1) ? start : NULL;
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
      THNN_State_setThreads(state, threads);
      real *c = multiplyEach(state, &p, cNext);
      if (!first) {
        first = c;
        checkEach(&p, c, cNext);
        continue;
      }
      if (memcmp(first, c, (size_t)(cNext * p.count) * sizeof(real)) != 0)
        printProduct(&p, MULTIPLY_EACH, "another result with more threads");
      free(c);
    }
    free(first);
    free(start);
    freeOperands(&p);
  }
}

/* Rows through a layer of weights, with and without a bias. */
static void testAffine(THNNState *state, int products)
{
  for (int i = 0; i < products; i++) {
    const int64_t rows = randomSize(40), columns = randomSize(300);
    const int64_t terms = randomSize(randomBetween(0, 1) ? 300 : 2100);
    if ((double)rows * (double)columns * (double)terms > 3e6)
      continue;
    const int gaps = (randomBetween(0, 1) ? B_GAP : 0) | (randomBetween(0, 1) ? C_GAP : 0);
    Product p = newProduct(columns, rows, terms, A_TRANSPOSED | gaps);
    p.paths = (Paths)randomBetween(MEASURED, ALL_PATHS - 1);
    real *start = newVector(columns);
    p.start = randomBetween(0, 1) ? start : NULL;
    testProduct(state, p, AFFINE);
    freeOperands(&p);
    free(start);
  }
}

/* Sums of rows, and rows that are repeated. */
static void testRows(THNNState *state)
{
  const int64_t sizes[] = {1, 2, 3, 15, 16, 17, 255, 256, 257, 511, 512, 513, 1025};
  const int count = sizeof sizes / sizeof *sizes;
  choosePaths(MEASURED);
  for (int i = 0; i < count * count; i++) {
    const int64_t rows = sizes[i / count], columns = sizes[i % count], stride = columns + i % 3;
    const real ones[] = {1}, scale = (real)-0.5;
    real *x = newMatrix(columns, rows, stride, GAP), *before = newVector(columns);
    real *y = copyOf(before, columns), *repeated = newMatrix(columns, rows, stride, GAP);
    THNN_State_setThreads(state, 1 + i % MOST_THREADS);
    THNN_(matrix_addRowSum)(state, rows, columns, scale, x, stride, y);
    Product p = {.m = columns,
                 .n = 1,
                 .k = rows,
                 .count = 1,
                 .alpha = scale,
                 .beta = 1,
                 .a = {x, stride, false},
                 .b = {ones, 0, true},
                 .leading = columns};
    CHECK(isClose(&p, before, y));
    THNN_(matrix_repeatRow)(state, rows, columns, before, repeated, stride);
    for (int64_t j = 0; j < elementsOf(columns, rows, stride); j++)
      CHECK(repeated[j] == (j % stride < columns ? before[j % stride] : GAP));
    free(x);
    free(before);
    free(y);
    free(repeated);
  }
}

int main(void)
{
  catchErrors();
  measured = THNN_(simd);
  THNNState *state = THNN_State_new();
  THNN_State_setMinimumWork(state, 1);
  testSmall(state);
  testSizes(state, 1500);
  testThresholds(state);
  testAddProducts(state, 600);
  testMultiplyEach(state, 300);
  testAffine(state, 1000);
  testRows(state);
  CHECK(metKept[0][PANELS] > 0 && metKept[0][IN_PLACE] == 0 && metKept[0][GEMM] == 0);
  CHECK(metKept[1][GEMM] > 0 || !THNN_simdReproduces());
  THNN_State_free(state);
  return checkResult();
}
