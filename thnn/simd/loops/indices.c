/* Loops over the indices that pooling and table modules read and write. */
#include "simd/tuning.h"
#include "simd/vector/prefetch.h"
#include "simd/vector/vector.h"

/* Divides by the width through a product in double precision. Adding 1/2 to the place keeps the
 * product away from whole numbers, so that it rounds down to the right row. */
static void numbersOfPlace(int64_t n, const Place *place, int64_t width, const int64_t *begin,
                           int64_t *row, int64_t *column)
{
  const double rows = 1 / (double)width;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const int32_t at = (int32_t)place[i];
    const int32_t y = (int32_t)((at + 0.5) * rows);
    const int32_t x = at - y * (int32_t)width - (int32_t)begin[2 * i];
    row[i] = at < 0 ? 0 : y + 1;
    column[i] = at < 0 ? 0 : x + 1;
  }
}

static void indexOfPlace(int64_t n, const Place *place, int64_t first, int64_t none, int64_t *index)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    index[i] = place[i] < 0 ? none : place[i] + first;
}

/* The result has bit 63 set if any value is outside [first, last]: then one of its two differences
 * is negative. */
INLINE uint64_t signsOutside(int64_t n, const int64_t *value, int64_t first, int64_t last)
{
  uint64_t signs = 0;
#pragma omp simd reduction(| : signs)
  for (int64_t i = 0; i < n; i++)
    signs |= ((uint64_t)value[i] - (uint64_t)first) | ((uint64_t)last - (uint64_t)value[i]);
  return signs;
}

static bool areWithin(int64_t n, const int64_t *value, int64_t first, int64_t last)
{
  enum { PIECE = 64 };
  const int64_t ahead = THNN_tuning.prefetchBytes;
  uint64_t signs = 0;
  int64_t i = 0;
  for (; i + PIECE <= n; i += PIECE) {
    THNN_fetchToSecondLevel(value + i, PIECE * sizeof *value, ahead);
    signs |= signsOutside(PIECE, value + i, first, last);
  }
  signs |= signsOutside(n - i, value + i, first, last);
  return signs >> 63 == 0;
}

enum { TAP = 0xff };

/* A row is processed in blocks of this many windows; the last block overlaps the one before, which
 * does no harm. A shorter row is one block. */
enum { WINDOWS = 16 };

INLINE int64_t wholeBlocks(int64_t columns)
{
  return columns < WINDOWS ? columns : columns & -WINDOWS;
}

/* One row of THNNIndexWindows. */
typedef struct RowOfWindows {
  const int32_t *start;
  const uint32_t *limit[2];
  uint32_t rowStart, rowLimit[2];
} RowOfWindows;

INLINE RowOfWindows windowsOfRow(const THNNIndexWindows *w, int64_t row)
{
  RowOfWindows of = {.start = w->start, .rowStart = (uint32_t)w->rowStart[row] + w->firstStart};
  for (int i = 0; i < 2; i++) {
    of.limit[i] = w->limit[i];
    of.rowLimit[i] = w->rowLimit[i][row] | w->firstLimit[i];
  }
  return of;
}

/* The lower half of an index, of which the upper half need not be read. */
typedef uint32_t Half __attribute__((may_alias));
enum { LOWER_HALF = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

INLINE const Half *lowerHalves(const int64_t *index)
{
  return (const Half *)index + LOWER_HALF;
}

/* element = the numbers of the elements that taps name; intermediate sums may wrap around 32 bits.
 * Returns whether any tap is outside its window's limits. Compares three bytes at once: the highest
 * bit of each is set before a subtraction, and stays set if the difference is not negative. */
INLINE uint32_t decodeTapsInRow(const RowOfWindows *w, const uint32_t *step, int64_t first,
                                int64_t n, const int64_t *index, uint32_t *element)
{
  const uint32_t taps = 0xffffff, tops = 0x808080;
  const uint32_t *least = w->limit[0] + first, *most = w->limit[1] + first;
  const uint32_t leastInRow = w->rowLimit[0], mostInRow = w->rowLimit[1] | tops;
  const int32_t *start = w->start + first;
  const uint32_t rowStart = w->rowStart, stepZ = step[0], stepY = step[1], stepX = step[2];
  const Half *half = lowerHalves(index + first);
  uint32_t outside = 0;
  element += first;
#pragma omp simd reduction(| : outside)
  for (int64_t i = 0; i < n; i++) {
    const uint32_t packed = half[2 * i] & taps;
    outside |=
        packed | ~((packed | tops) - (least[i] | leastInRow)) | ~((most[i] | mostInRow) - packed);
    element[i] = rowStart + (uint32_t)start[i] + (packed & TAP) * stepZ +
                 (packed >> 8 & TAP) * stepY + (packed >> 16) * stepX;
  }
  return outside & tops;
}

static bool decodeTaps(const THNNIndexWindows *w, const int64_t *index, const int64_t *second,
                       uint32_t *element)
{
  (void)second;
  const int64_t n = w->columns, whole = wholeBlocks(n);
  uint32_t outside = 0;
  for (int64_t row = 0; row < w->rows; row++, index += n, element += n) {
    const RowOfWindows windows = windowsOfRow(w, row);
    outside |= decodeTapsInRow(&windows, w->step, 0, whole, index, element);
    if (whole < n)
      outside |= decodeTapsInRow(&windows, w->step, n - WINDOWS, WINDOWS, index, element);
  }
  return outside == 0;
}

/* element = the numbers of the elements that places name. The result has bit 63 set if any place is
 * outside its window's limits. */
INLINE uint64_t decodePlacesInRow(const RowOfWindows *w, uint32_t width, int64_t first, int64_t n,
                                  const int64_t *row, const int64_t *column, uint32_t *element)
{
  const uint32_t *down = w->limit[0], *right = w->limit[1];
  const uint32_t rowDown = w->rowLimit[0], rowRight = w->rowLimit[1];
  const int32_t *start = w->start;
  const uint32_t before = w->rowStart - width - 1; /* rows and columns count from 1 */
  uint64_t outside = 0;
#pragma omp simd reduction(| : outside)
  for (int64_t i = first; i < first + n; i++) {
    outside |= ((uint64_t)row[i] - 1) | ((uint64_t)(down[i] | rowDown) - (uint64_t)row[i]) |
               ((uint64_t)column[i] - 1) | ((uint64_t)(right[i] | rowRight) - (uint64_t)column[i]);
    element[i] = before + (uint32_t)start[i] + (uint32_t)row[i] * width + (uint32_t)column[i];
  }
  return outside;
}

static bool decodePlaces(const THNNIndexWindows *w, const int64_t *row, const int64_t *column,
                         uint32_t *element)
{
  const int64_t n = w->columns, whole = wholeBlocks(n);
  uint64_t outside = 0;
  for (int64_t r = 0; r < w->rows; r++, row += n, column += n, element += n) {
    const RowOfWindows windows = windowsOfRow(w, r);
    outside |= decodePlacesInRow(&windows, w->step[1], 0, whole, row, column, element);
    if (whole < n)
      outside |=
          decodePlacesInRow(&windows, w->step[1], n - WINDOWS, WINDOWS, row, column, element);
  }
  return outside >> 63 == 0;
}

/* Adding to elements is bound by loads: values are loaded a few at a time and separated in
 * registers. */
typedef real Few __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));
enum { FEW = 16 / sizeof(real), TURN = 8 };

INLINE Few loadFew(const real *x)
{
  Few few = *(const Few *)x;
  KEEP_LOADED(few);
  return few;
}

/* Indices and values are read sequentially, but from too many places at a time for the hardware to
 * prefetch all. */
INLINE void addToPlane(int64_t n, const int64_t *element, int64_t base, const real *x, real *y)
{
  int64_t i = 0;
  for (; i + TURN <= n; i += TURN) {
    THNN_fetchToSecondLevel(element + i, TURN * sizeof *element, THNN_PAGE_BYTES);
    THNN_fetchToSecondLevel(x + i, TURN * sizeof *x, THNN_PAGE_BYTES);
#pragma GCC unroll 8
    for (int64_t j = i; j < i + TURN; j += FEW) {
      const Few few = loadFew(x + j);
#pragma GCC unroll 4
      for (int64_t k = 0; k < FEW; k++)
        y[element[j + k] - base] += few[k];
    }
  }
  for (; i < n; i++)
    y[element[i] - base] += x[i];
}

static void addToElements(int64_t planes, int64_t n, int64_t elements, const int64_t *element,
                          int64_t base, const real *x, real *y)
{
  for (int64_t plane = 0; plane < planes; plane++)
    addToPlane(n, element + plane * n, base, x + plane * n, y + plane * elements);
}

/* The numbers of two elements, loaded at once; the first has the lower address. */
typedef uint64_t Two __attribute__((aligned(sizeof(uint32_t)), may_alias));
enum { FIRST_BIT = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 32 : 0 };

static void addToNearElements(int64_t n, const uint32_t *element, const real *x, real *y)
{
  int64_t i = 0;
  for (; i + TURN <= n; i += TURN) {
    THNN_fetchToSecondLevel(x + i, TURN * sizeof *x, THNN_PAGE_BYTES);
#pragma GCC unroll 8
    for (int64_t j = i; j < i + TURN; j += FEW) {
      const Few few = loadFew(x + j);
#pragma GCC unroll 4
      for (int64_t k = 0; k < FEW; k += 2) {
        const uint64_t two = *(const Two *)(element + j + k);
        y[(uint32_t)(two >> FIRST_BIT)] += few[k];
        y[(uint32_t)(two >> (32 - FIRST_BIT))] += few[k + 1];
      }
    }
  }
  for (; i < n; i++)
    y[element[i]] += x[i];
}

INLINE void addNamedTo(int64_t n, const int64_t *index, int64_t number, const real *x, bool first,
                       real *sums)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real value = index[i] == number ? x[i] : 0;
    sums[i] = (first ? 0 : sums[i]) + value;
  }
}

static void addNamed(int64_t n, const int64_t *index, int64_t number, const real *x, bool first,
                     real *sums)
{
  if (first)
    addNamedTo(n, index, number, x, true, sums);
  else
    addNamedTo(n, index, number, x, false, sums);
}

/* Prefetch distance in rows, which can be anywhere in a table: large enough to hide the latency of
 * memory, small enough for rows to stay in the first-level cache. */
static int64_t rowsAhead(int64_t columns)
{
  enum { BYTES_AHEAD = 1 << 13, MOST = 16 };
  const int64_t fitting = BYTES_AHEAD / (columns * (int64_t)sizeof(real) + 1) + 1;
  return fitting < MOST ? fitting : MOST;
}

enum { MOST_BAG_VECTORS = VECTOR_REGISTERS / 2, FEW_BAG_VECTORS = 4 };

/* Sums `vectors` vectors of columns over indices `begin` to end - 1; unless `whole`, only `lanes` of
 * the last one. */
INLINE void sumOfBagColumns(const int vectors, const bool whole, Lanes lanes, int64_t column,
                            const Bags *bags, int64_t begin, int64_t end, int64_t ahead, real *sum)
{
  enum { LINE_BYTES = 64, PER_LINE = VECTOR_BYTES < LINE_BYTES ? LINE_BYTES / VECTOR_BYTES : 1 };
  const real *table = bags->table + column;
  Vector sums[MOST_BAG_VECTORS] = {{0}};
  for (int64_t i = begin; i < end; i++) {
    const int64_t after = i + ahead < bags->indices ? i + ahead : i;
    const real *row = table + (bags->index[i] - bags->base) * bags->columns;
    const real *next = table + (bags->index[after] - bags->base) * bags->columns;
#pragma GCC unroll 16
    for (int v = 0; v < vectors; v++) {
      const real *x = row + v * LANES;
      if (v % PER_LINE == 0)
        __builtin_prefetch(next + v * LANES, READ, FIRST_LEVEL);
      sums[v] += whole || v + 1 < vectors ? load(x) : loadLanes(x, lanes);
    }
  }
#pragma GCC unroll 16
  for (int v = 0; v < vectors; v++)
    if (whole || v + 1 < vectors)
      store(sum + column + v * LANES, sums[v]);
    else
      storeLanes(sum + column + v * LANES, lanes, sums[v]);
}

/* As sumOfBagColumns, for at most FEW_BAG_VECTORS vectors. */
INLINE void sumOfFewBagColumns(int64_t vectors, const bool whole, Lanes lanes, int64_t column,
                               const Bags *bags, int64_t begin, int64_t end, int64_t ahead,
                               real *sum)
{
  if (vectors == 4)
    sumOfBagColumns(4, whole, lanes, column, bags, begin, end, ahead, sum);
  else if (vectors == 3)
    sumOfBagColumns(3, whole, lanes, column, bags, begin, end, ahead, sum);
  else if (vectors == 2)
    sumOfBagColumns(2, whole, lanes, column, bags, begin, end, ahead, sum);
  else if (vectors == 1)
    sumOfBagColumns(1, whole, lanes, column, bags, begin, end, ahead, sum);
}

static void sumOfBags(const Bags *bags, int64_t first, int64_t end, real *sums)
{
  const int64_t n = bags->columns, ahead = rowsAhead(n), rest = n % LANES;
  const Lanes all = firstLanes(LANES), some = firstLanes(rest);
  for (int64_t b = first; b < end; b++) {
    const int64_t begin = bags->start[b] - bags->base;
    const int64_t next = b + 1 < bags->bags ? bags->start[b + 1] - bags->base : bags->indices;
    real *sum = sums + b * n;
    int64_t i = 0;
    for (; i + MOST_BAG_VECTORS * LANES <= n; i += MOST_BAG_VECTORS * LANES)
      sumOfBagColumns(MOST_BAG_VECTORS, true, all, i, bags, begin, next, ahead, sum);
    for (; i + FEW_BAG_VECTORS * LANES <= n; i += FEW_BAG_VECTORS * LANES)
      sumOfBagColumns(FEW_BAG_VECTORS, true, all, i, bags, begin, next, ahead, sum);
    if (rest == 0)
      sumOfFewBagColumns((n - i) / LANES, true, all, i, bags, begin, next, ahead, sum);
    else
      sumOfFewBagColumns((n - i) / LANES + 1, false, some, i, bags, begin, next, ahead, sum);
  }
}

const SimdIndices SIMD_TABLE(Indices, THNN_SIMD_LEVEL) = {
    .areWithin = areWithin,
    .decodeTaps = decodeTaps,
    .decodePlaces = decodePlaces,
    .addToElements = addToElements,
    .addToNearElements = addToNearElements,
    .addNamed = addNamed,
    .sumOfBags = sumOfBags,
    .indexOfPlace = indexOfPlace,
    .numbersOfPlace = numbersOfPlace,
};
