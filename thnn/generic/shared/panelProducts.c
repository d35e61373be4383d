#include "generic/shared/panelProducts.h"

#include "generic/shared/panelsAhead.h"
#include "work/sizes.h"

/* Rows of a block that are in whole panels. */
static int64_t wholePanels(const OperandBlock *block)
{
  return block->height - block->height % THNN_(simd).panels.columns;
}

/* Whether whole panels are packed by the first tile that multiplies them, in a part with `columns`
 * columns. */
static bool packsOnTheWay(const Product *p, int64_t columns)
{
  return !p->panels && !p->a.transposed && !readsInPlace(p) && columns >= THNN_(simd).panels.rows;
}

/* Computes a block. `all` says what it adds to and what it fetches ahead. Panels are packed in
 * `packed`, or the first tile packs them there, if `packs` is not NULL. */
static void multiplyBlock(const Product *p, const OperandBlock *block, const Panels *all,
                          const real *packed, real *packs, const real *scalars)
{
  const SimdPanels *loops = &THNN_(simd).panels;
  const int64_t inPlace = readsInPlace(p) ? wholePanels(block) : 0;
  Panels panels = *all;
  panels.rows = block->width;
  panels.columns = inPlace;
  panels.terms = block->terms;
  panels.scalars = scalars;
  panels.groupStep = loops->step * (p->scalars ? p->k : block->terms);
  panels.panel = matrixAt(p->a, block->row, block->term);
  panels.stride = p->a.leading;
  panels.panelStep = loops->columns;
  panels.start = p->start ? p->start + block->column : NULL;
  panels.c = p->c + block->column * p->leading + block->row;
  panels.cStride = p->leading;
  if (inPlace > 0) {
    loops->multiply(&panels);
    panels.ahead.count = 0;
  }
  panels.columns = block->height - inPlace;
  if (packs) {
    panels.source = panels.panel;
    panels.sourceStride = p->a.leading;
    panels.packed = packs;
  }
  panels.panel = packed;
  panels.stride = loops->columns;
  panels.panelStep = loops->columns * block->terms;
  panels.c += inPlace;
  loops->multiply(&panels);
}

/* The number of elements that a thread packs at a time: panels and scalars of the largest block. */
typedef struct PackedSizes {
  int64_t panels, scalars;
} PackedSizes;

static PackedSizes packedSizesOf(const Product *p)
{
  const SimdPanels *loops = &THNN_(simd).panels;
  const OperandBlock block = largestBlock(p, p->m, p->n);
  const int64_t panel = loops->columns, terms = block.terms;
  PackedSizes sizes;
  if (readsInPlace(p)) {
    sizes.panels = panel * terms; /* the panel of the last rows alone */
    sizes.scalars = roundUp(p->n, loops->step) * terms;
  } else {
    const int64_t most = panelElements() / terms / panel * panel;
    sizes.panels = minimum(roundUp(p->m, panel), most) * terms;
    sizes.scalars = minimum(block.width, roundUp(p->n, loops->step)) * terms;
  }
  const int64_t line = 64 / (int64_t)sizeof(real);
  return (PackedSizes){roundUp(sizes.panels, line), p->scalars ? 0 : roundUp(sizes.scalars, line)};
}

size_t THNN_(panelProducts_mostBytes)(int64_t m, int64_t n, int64_t k)
{
  const SimdPanels *loops = &THNN_(simd).panels;
  const int64_t line = 64 / (int64_t)sizeof(real), terms = minimum(k, PANEL_TERMS);
  const int64_t panels =
      minimum(roundUp(m, loops->columns) * terms, panelElements() + loops->columns * terms);
  const int64_t inPlace = roundUp(minimum(n, loops->mostInPlace), loops->step);
  const int64_t across = minimum(roundUp(n, loops->step), STEPS_ACROSS * loops->step);
  const int64_t scalars = maximum(across, inPlace) * terms;
  return (size_t)(roundUp(panels, line) + roundUp(scalars, line)) * sizeof(real);
}

/* Whether all of b is packed once, by all threads, before blocks of rows are multiplied with it; else
 * each block packs it again. The output of an LSTM of 512 units takes 0.98 to 0.99 of the time, with
 * 1024 samples of 512 elements, which are 2 MB; with 4 MB, packed b is too far away. */
static bool packsOnce(const Product *p)
{
  enum { LEAST_ROW_BLOCKS = 2, MOST_BYTES = 2 << 20 };
  if (p->scalars || p->b.transposed || p->sums || p->count > 1 || readsInPlace(p) ||
      THNN_(panelProducts_keptElements)(p->n, p->k) > MOST_BYTES / (int64_t)sizeof(real))
    return false;
  return divideUp(p->m, largestBlock(p, p->m, p->n).height) >= LEAST_ROW_BLOCKS;
}

/* Where the calling thread packs. */
typedef struct Packing {
  real *panels, *scalars;
} Packing;

static Packing packingIn(const Product *p, THNNRoom room)
{
  real *own = (real *)((char *)room.data + room.bytes * (size_t)THNN_threadIndex());
  return (Packing){own, own + packedSizesOf(p).panels};
}

/* Sets the results of a block to what their sums are added to. */
static void startBlock(const Product *p, const OperandBlock *block)
{
  for (int64_t column = block->column; column < block->column + block->width; column++)
    THNN_(simd).pointwise.copy(block->height, p->bias + block->row,
                               p->c + column * p->leading + block->row);
}

/* Finishes a block of results, whose sums are complete. */
static void finishBlock(const Product *p, const OperandBlock *block)
{
  if (!finishes(p->finish))
    return;
  for (int64_t column = block->column; column < block->column + block->width; column++) {
    const int64_t place = column * p->leading + block->row;
    finishResults(p->finish, place, block->height, p->c + place);
  }
}

/* Computes product number `index`, for `height` rows of a part. */
static void addPanels(const Product *all, int64_t index, const OperandBlock *most, const Part *part,
                      int64_t row, int64_t height, const Packing *packing)
{
  Product one = *all;
  one.a.data += index * all->aNext;
  one.b.data += index * all->bNext;
  real *const own = packing->panels, *scalars = packing->scalars;
  OperandBlock block = {.row = row, .height = height};
  const int64_t first = part->first, end = part->end;
  const bool onTheWay = packsOnTheWay(&one, end - first);
  for (; block.term < one.k; block.term += most->terms) {
    block.terms = minimum(most->terms, one.k - block.term);
    const LaterBlock later = laterBlock(all, most, part, &block, index);
    const int64_t whole = onTheWay || readsInPlace(&one) ? wholePanels(&block) : 0;
    const real *packed = one.panels ? one.panels + panelsBefore(&one, &block) : own;
    if (!one.panels)
      packPanels(&one, &block, whole, own + (onTheWay ? whole * block.terms : 0));
    for (block.column = first; block.column < end; block.column += most->width) {
      block.width = minimum(most->width, end - block.column);
      Panels panels = {.add = one.add || one.bias || block.term > 0};
      if (one.bias && block.term == 0)
        startBlock(&one, &block);
      if (one.scalars) {
        panels.aheadScalars = laterScalars(&one, most, &block, first, end);
      } else {
        packScalars(&one, &block, scalars);
        panels.aheadScalars = laterPart(&one, most, &block, first, end);
      }
      if (one.sums && row == 0)
        addSums(&one, &block, scalars);
      fetchLater(&one, &later, part, &block, most->width, &panels);
      multiplyBlock(&one, &block, &panels, packed, onTheWay && block.column == first ? own : NULL,
                    one.scalars ? one.scalars + scalarsBefore(&one, &block) : scalars);
      if (block.term + block.terms >= one.k)
        finishBlock(&one, &block);
    }
  }
}

static void multiplyPart(const Product *p, const Part *part, const Packing *packing)
{
  const OperandBlock most = largestBlock(p, part->endRow - part->firstRow, part->end - part->first);
  for (int64_t row = part->firstRow; row < part->endRow; row += most.height)
    for (int64_t i = 0; i < p->count; i++)
      addPanels(p, i, &most, part, row, minimum(most.height, part->endRow - row), packing);
}

static bool hasProducts(const Product *p, int64_t least)
{
  return (double)p->m * (double)p->n * (double)p->k >= (double)least;
}

bool THNN_(panelProducts_readsInPlace)(const Product *p)
{
  return readsInPlace(p) && p->m * p->k <= FAR_ELEMENTS;
}

/* With fewer columns, other loops are faster. */
enum { LEAST_COLUMNS = 4 };

/* Whether gemm of OpenBLAS waits for the results that it adds to: few terms leave little to multiply
 * for each of them, they do not stay in a near cache, and their columns are whole pages apart, so
 * that those of a tile displace each other in the first-level cache. Panels fetch them ahead. With
 * results of 1024x1024 and 64 terms, they take 0.84 (AVX2) to 0.97 of the time, with 96 as long. */
static bool addsToPages(const Product *p)
{
  enum { MOST_TERMS = 64 };
  return p->b.transposed && p->k <= MOST_TERMS && p->m * p->n > FAR_ELEMENTS / 2 &&
         p->m * (int64_t)sizeof(real) % THNN_PAGE_BYTES == 0;
}

bool THNN_(panelProducts_win)(const Product *p)
{
  enum { LEAST_ROWS_ALONG = 24 };
  const SimdPanels *loops = &THNN_(simd).panels;
  if (!THNN_USES_BLAS)
    return true;
  const bool packs = p->n <= loops->mostPacked || (loops->packs && addsToPages(p));
  if (p->n < LEAST_COLUMNS || !(packs || readsInPlace(p)))
    return false;
  if (p->a.transposed)
    return p->n > THNN_FEW_ROWS && p->m >= LEAST_ROWS_ALONG && hasProducts(p, loops->leastAlong);
  return hasProducts(p, p->b.transposed ? loops->leastAcross : loops->leastProducts);
}

/* The size of the steps in a result, along its rows or its columns, and their number. It can be cut
 * between steps; with packed panels, these are not cut. */
static int64_t stepLength(const Product *p, bool rows)
{
  const SimdPanels *loops = &THNN_(simd).panels;
  return !rows ? loops->step : p->panels ? loops->columns : vectorLanes();
}

static int64_t stepCount(const Product *p, bool rows)
{
  return divideUp(rows ? p->m : p->n, stepLength(p, rows));
}

/* Computes one of the pieces that a result is cut into. No element depends on where the cuts
 * are. */
static void multiplyPiece(const Product *p, bool rows, int64_t piece, int64_t pieces,
                          const Packing *packing)
{
  const int64_t step = stepLength(p, rows), steps = stepCount(p, rows);
  const int64_t first = steps * piece / pieces * step;
  const int64_t end = minimum(steps * (piece + 1) / pieces * step, rows ? p->m : p->n);
  const Part part = {.firstRow = rows ? first : 0,
                     .endRow = rows ? end : p->m,
                     .first = rows ? 0 : first,
                     .end = rows ? p->n : end};
  multiplyPart(p, &part, packing);
}

/* For THNN_threads: a dozen multiplications take as long as copying an element. */
static double panelOperations(const Product *p)
{
  return (double)p->m * (double)p->n * (double)p->k / 12;
}

/* Whether threads share the rows of the result, or else its columns. They share the longer side,
 * but in a weight gradient always the columns: sharing the rows was measured to take 1.4 to 2 times
 * as long. */
static bool sharesRows(const Product *p)
{
  return p->m >= p->n && !p->b.transposed;
}

static THNNRoom panelRoom(const THNNState *state, const Product *p, int64_t steps)
{
  const PackedSizes sizes = packedSizesOf(p);
  return (THNNRoom){.threads = THNN_threads(state, steps, (double)p->count * panelOperations(p)),
                    .bytes = (size_t)(sizes.panels + sizes.scalars) * sizeof(real)};
}

/* Whether to fetch blocks of a ahead, for `count` products: where a is too large to stay in the
 * cache that holds its packed panels. Panels that are read in place are multiplied as fast without
 * that if a is in a farther cache, or if c has fewer columns than FETCHED_COLUMNS: if a is 4096x4096
 * and in memory, fetching takes 1.1 (AVX-512) and 0.9 (AVX2) of the time with 4 columns, 0.85 and 0.7
 * with 12. Panels that are packed already are not fetched for a single step of columns, which reads
 * each of them once. */
static bool fetchesLater(const Product *p, int64_t count)
{
  enum { FETCHED_COLUMNS = 5 };
  const int64_t elements = p->m * p->k * count;
  if (readsInPlace(p))
    return p->n >= FETCHED_COLUMNS && THNN_leavesCaches(elements, sizeof(real));
  if (p->panels && p->n <= THNN_(simd).panels.step)
    return false;
  return elements > panelElements();
}

/* Computes a product whose result threads share. They first pack all of b into `scalars`, unless that
 * is NULL. */
static void multiplyShared(const Product *p, real *scalars, THNNRoom room)
{
  const bool rows = sharesRows(p);
  const int64_t pieces = minimum(room.threads, stepCount(p, rows));
#pragma omp parallel num_threads((int)pieces) if (pieces > 1)
  {
    const Packing packing = packingIn(p, room);
    if (scalars)
#pragma omp for schedule(static)
      for (int64_t column = 0; column < p->n; column += THNN_(simd).panels.step)
        packColumns(p, column, scalars);
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < pieces; i++)
      multiplyPiece(p, rows, i, pieces, &packing);
  }
}

/* The bytes of b, packed for all threads, and of what each thread packs beside it. */
typedef struct SharedSizes {
  size_t shared, thread;
} SharedSizes;

static SharedSizes sharedSizesOf(const Product *p)
{
  const int64_t line = 64, kept = THNN_(panelProducts_keptElements)(p->n, p->k);
  return (SharedSizes){(size_t)roundUp(kept * (int64_t)sizeof(real), line),
                       (size_t)packedSizesOf(p).panels * sizeof(real)};
}

void THNN_(panelProducts_multiply)(const Product *all, THNNRoom room)
{
  Product product = *all;
  product.fetches = fetchesLater(all, all->count);
  const SharedSizes sizes = sharedSizesOf(all);
  const bool fits = THNN_roomBytes(room) >= sizes.shared + (size_t)room.threads * sizes.thread;
  if (!packsOnce(all) || !fits) {
    multiplyShared(&product, NULL, room);
    return;
  }
  real *scalars = room.data;
  product.scalars = scalars;
  room.data = (char *)room.data + sizes.shared;
  room.bytes = sizes.thread;
  multiplyShared(&product, scalars, room);
}

THNNRoom THNN_(panelProducts_room)(const THNNState *state, const Product *p)
{
  THNNRoom room = panelRoom(state, p, stepCount(p, sharesRows(p)));
  if (packsOnce(p)) {
    const SharedSizes sizes = sharedSizesOf(p);
    const int64_t line = 64, share = divideUp((int64_t)sizes.shared, room.threads);
    room.bytes = sizes.thread + (size_t)roundUp(share, line);
  }
  return room;
}

THNNRoom THNN_(panelProducts_addRoom)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                      bool aTransposed, bool bTransposed, int64_t count)
{
  THNN_REPRODUCIBLY_GET(state, panelProducts_addRoom,
                        (state, m, n, k, aTransposed, bTransposed, count))
  Product product = shapeOf(m, n, k, aTransposed, bTransposed);
  product.count = count;
  return THNN_(panelProducts_room)(state, &product);
}

THNNRoom THNN_(panelProducts_eachRoom)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                       int64_t count)
{
  Product product = shapeOf(m, n, k, false, false);
  product.packs = true;
  product.count = count;
  return panelRoom(state, &product, count * stepCount(&product, m >= n));
}

void THNN_(panelProducts_add)(const THNNState *state, int64_t m, int64_t n, int64_t k, real alpha,
                              Matrix a, Matrix b, int64_t count, int64_t aNext, int64_t bNext,
                              real *c, THNNRoom room)
{
  THNN_REPRODUCIBLY(state, panelProducts_add,
                    (state, m, n, k, alpha, a, b, count, aNext, bNext, c, room))
  Product product = productOf(m, n, k, alpha, a, b, c, m);
  product.add = true;
  product.count = count;
  product.aNext = aNext;
  product.bNext = bNext;
  THNN_(panelProducts_multiply)(&product, room);
}

void THNN_(panelProducts_each)(int64_t m, int64_t n, int64_t k, Matrix a, Matrix b,
                               const real *start, int64_t count, int64_t aNext, Finish finish,
                               real *c, int64_t cNext, real *packed, THNNRoom room)
{
  Product first = productOf(m, n, k, 1, a, b, c, m);
  first.packs = true;
  first.add = finish.adds;
  first.start = start;
  first.scalars = packed;
  first.fetches = fetchesLater(&first, count);
  const bool rows = m >= n;
  const int64_t steps = stepCount(&first, rows);
  const int64_t cuts = evenCuts(count, steps, room.threads);
#pragma omp parallel num_threads(room.threads) if (room.threads > 1)
  {
    const Packing packing = packingIn(&first, room);
    if (packed && b.data)
#pragma omp for schedule(static)
      for (int64_t column = 0; column < n; column += THNN_(simd).panels.step)
        packColumns(&first, column, packed);
#pragma omp for schedule(static) collapse(2) nowait
    for (int64_t i = 0; i < count; i++)
      for (int64_t cut = 0; cut < cuts; cut++) {
        Product product = first;
        product.a.data += i * aNext;
        product.after = cuts == 1 && i + 1 < count ? product.a.data + aNext : NULL;
        product.c += i * cNext;
        product.finish = finishFrom(finish, i * cNext);
        multiplyPiece(&product, rows, cut, cuts, &packing);
      }
  }
}

int64_t THNN_(panelProducts_packedElements)(int64_t m, int64_t n, int64_t k, int64_t count)
{
  Product product = {.m = m, .n = n, .k = k, .packs = true};
  const bool once = count == 1 && largestBlock(&product, m, n).height >= m;
  return once ? 0 : THNN_(panelProducts_keptElements)(n, k);
}

int64_t THNN_(panelProducts_keptElements)(int64_t n, int64_t k)
{
  return roundUp(n, THNN_(simd).panels.step) * k;
}

void THNN_(panelProducts_keep)(int64_t n, int64_t k, Matrix b, real *packed)
{
  Product product = productOf(1, n, k, 1, b, b, NULL, 1);
  product.packs = true;
  product.a.transposed = false;
  for (int64_t column = 0; column < n; column += THNN_(simd).panels.step)
    packColumns(&product, column, packed);
}

/* ---- Products with one a, packed once -------------------------------------------------------- */

/* The elements of all of a, packed. */
static int64_t panelElementsOf(int64_t m, int64_t k)
{
  return roundUp(m, THNN_(simd).panels.columns) * k;
}

int64_t THNN_(panelProducts_panelElements)(const THNNState *state, int64_t m, int64_t k)
{
  THNN_REPRODUCIBLY_GET(state, panelProducts_panelElements, (state, m, k))
  return panelElementsOf(m, k);
}

bool THNN_(panelProducts_prefersPanels)(const THNNState *state, int64_t m, int64_t n, int64_t k)
{
  /* Kept panels win with more columns than those that each call packs: with AVX2, 20 take 0.7 of
   * OpenBLAS's time, 64 take 0.9; 256 to 1024 and 512 to 10,000 rows 0.86 to 0.99, 100 rows 1.15. */
  enum { MOST_COLUMNS = 128, LARGE_ROWS = 512, MOST_OF_LARGE = 1024 };
  THNN_REPRODUCIBLY_GET(state, panelProducts_prefersPanels, (state, m, n, k))
  const SimdPanels *loops = &THNN_(simd).panels;
  const Product product = shapeOf(m, n, k, false, false);
  const int64_t kept = m >= LARGE_ROWS ? MOST_OF_LARGE : MOST_COLUMNS;
  const int64_t most = THNN_USES_BLAS && loops->packs ? kept : 0;
  const bool few = n <= maximum(loops->mostPacked, most) || readsInPlace(&product);
  return k > 1 && n >= LEAST_COLUMNS && few && hasProducts(&product, loops->leastProducts);
}

int64_t THNN_(panelProducts_keptPanels)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                        bool aTransposed)
{
  THNN_REPRODUCIBLY_GET(state, panelProducts_keptPanels, (state, m, n, k, aTransposed))
  const Product product = shapeOf(m, n, k, aTransposed, false);
  /* matrix_affine prefers dots to these loops only where BLAS is not used. */
  const bool dots = !THNN_USES_BLAS && aTransposed && THNN_(matrix_prefersDots)(state, n, m, k);
  const bool packs =
      k > 1 && !dots && THNN_(panelProducts_win)(&product) && !readsInPlace(&product);
  return packs ? panelElementsOf(m, k) + THNN_(panelProducts_keptElements)(n, k) : 0;
}

void THNN_(panelProducts_keepPanels)(const THNNState *state, int64_t m, int64_t k, Matrix a,
                                     real *packed)
{
  THNN_REPRODUCIBLY(state, panelProducts_keepPanels, (state, m, k, a, packed))
  const int64_t panel = THNN_(simd).panels.columns, panels = divideUp(m, panel);
  const int64_t terms = evenBlock(k, PANEL_TERMS, 1);
  Product product = shapeOf(m, 1, k, a.transposed, false);
  product.a = a;
  const int threads = THNN_threads(state, panels, (double)m * (double)k);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < panels; i++)
    for (int64_t term = 0; term < k; term += terms) {
      const OperandBlock block = {.row = i * panel,
                                  .height = minimum(panel, m - i * panel),
                                  .term = term,
                                  .terms = minimum(terms, k - term)};
      packPanels(&product, &block, 0, packed + panelsBefore(&product, &block));
    }
}

/* Whether to fetch blocks of panels ahead that are multiplied once, where tiles do not fetch their
 * panels by themselves. With AVX2, 10,000x512 panels and 12 to 32 columns take 0.83 to 0.86 of the
 * time, 4096x4096 and 12, 16 and 24 columns 1.07, 0.92 and 0.85; panels of 8 MB take 1.02, since they
 * stay in the caches. */
static bool fetchesKept(const Product *p)
{
  enum { FETCHED_COLUMNS = 16 };
  return !THNN_(simd).panels.prefetches && p->n >= FETCHED_COLUMNS &&
         THNN_leavesCaches(p->m * p->k, sizeof(real));
}

static Product productOfPanels(int64_t m, int64_t n, int64_t k, const real *panels, real *scalars,
                               Matrix b, real *c, int64_t leading)
{
  const Matrix a = {panels, THNN_(simd).panels.columns, true};
  Product product = productOf(m, n, k, 1, a, b, c, leading);
  product.panels = panels;
  product.scalars = scalars;
  return product;
}

/* The same with panels that the next product reads again. */
static Product productOfKept(int64_t m, int64_t n, int64_t k, const real *kept, real *scalars,
                             Matrix b, real *c, int64_t leading)
{
  Product product = productOfPanels(m, n, k, kept, scalars, b, c, leading);
  product.fetches = fetchesLater(&product, 1);
  product.after = kept;
  return product;
}

int THNN_(panelProducts_packedThreads)(const THNNState *state, int64_t m, int64_t n, int64_t k)
{
  THNN_REPRODUCIBLY_GET(state, panelProducts_packedThreads, (state, m, n, k))
  const int64_t steps = divideUp(maximum(m, n), THNN_(simd).panels.columns);
  const Product product = shapeOf(m, n, k, false, false);
  return THNN_threads(state, steps, panelOperations(&product));
}

void THNN_(panelProducts_multiplyPanels)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                         const real *panels, real *scalars, Matrix b,
                                         const real *bias, real *c)
{
  THNN_REPRODUCIBLY(state, panelProducts_multiplyPanels,
                    (state, m, n, k, panels, scalars, b, bias, c))
  Product product = productOfPanels(m, n, k, panels, scalars, b, c, m);
  product.bias = bias;
  product.fetches = fetchesKept(&product);
  const THNNRoom room = {.threads = THNN_(panelProducts_packedThreads)(state, m, n, k)};
  multiplyShared(&product, scalars, room);
}

void THNN_(panelProducts_multiplyKept)(const THNNState *state, int64_t m, int64_t n, int64_t k,
                                       real *kept, Matrix b, bool adds, real *c, int64_t leading)
{
  THNN_REPRODUCIBLY(state, panelProducts_multiplyKept, (state, m, n, k, kept, b, adds, c, leading))
  real *scalars = kept + panelElementsOf(m, k);
  Product product = productOfKept(m, n, k, kept, scalars, b, c, leading);
  product.add = adds;
  const THNNRoom room = {.threads = THNN_(panelProducts_packedThreads)(state, m, n, k)};
  multiplyShared(&product, scalars, room);
}

void THNN_(panelProducts_multiplyKeptPart)(const THNNState *state, int64_t m, int64_t first,
                                           int64_t end, int64_t k, real *kept, Matrix b, bool adds,
                                           real *c, int64_t leading)
{
  THNN_REPRODUCIBLY(state, panelProducts_multiplyKeptPart,
                    (state, m, first, end, k, kept, b, adds, c, leading))
  real *scalars = kept + panelElementsOf(m, k);
  Product product = productOfKept(m, end, k, kept, scalars, b, c, leading);
  product.add = adds;
  for (int64_t column = first; column < end; column += THNN_(simd).panels.step)
    packColumns(&product, column, scalars);
  const Part part = {.endRow = m, .first = first, .end = end};
  const Packing none = {NULL, NULL};
  multiplyPart(&product, &part, &none);
}

void THNN_(panelProducts_multiplyRows)(int64_t m, THNNRange rows, int64_t n, int64_t k,
                                       const real *panels, real *scalars, Matrix b, real *c,
                                       int64_t leading)
{
  const Product product = productOfPanels(m, n, k, panels, NULL, b, c, leading);
  const Part part = {.firstRow = rows.begin, .endRow = rows.end, .end = n};
  const Packing packing = {NULL, scalars};
  multiplyPart(&product, &part, &packing);
}

int64_t THNN_(panelProducts_blockTerms)(int64_t k)
{
  return evenBlock(k, PANEL_TERMS, 1);
}

int64_t THNN_(panelProducts_keptStep)(const THNNState *state)
{
  THNN_REPRODUCIBLY_GET(state, panelProducts_keptStep, (state))
  return THNN_(simd).panels.step;
}
