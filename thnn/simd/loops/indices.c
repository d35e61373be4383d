/* Loops over the indices that pooling and table modules read and write. */
#include <string.h>

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

/* The lower half of an index, of which the upper half need not be read. */
typedef uint32_t Half __attribute__((may_alias));
enum { LOWER_HALF = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

INLINE const Half *lowerHalves(const int64_t *index)
{
  return (const Half *)index + LOWER_HALF;
}

static void narrowElements(int64_t n, const uint32_t *element, uint16_t *number)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    number[i] = (uint16_t)element[i];
}

/* One loop over many indices: reducing its vectors to what it returns takes as long as a few dozen
 * indices. */
static THNNIndexKind narrow(int64_t n, const int64_t *index, int64_t last, int64_t first,
                            uint16_t *number)
{
  const uint16_t before = (uint16_t)(first - 1);
  const Half *half = lowerHalves(index);
  uint64_t all = 0;
  uint16_t least = UINT16_MAX, greatest = 0;
#pragma omp simd reduction(| : all) reduction(min : least) reduction(max : greatest)
  for (int64_t i = 0; i < n; i++) {
    const uint16_t low = (uint16_t)half[2 * i];
    all |= (uint64_t)index[i];
    least = low < least ? low : least;
    greatest = low > greatest ? low : greatest;
    number[i] = (uint16_t)(low + before);
  }
  if (all > UINT16_MAX || greatest > last)
    return THNN_SOME_BAD;
  if (n == 0 || least > 0)
    return THNN_ALL_NAME;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    number[i] = index[i] == 0 ? THNN_NO_NUMBER : number[i];
  return THNN_SOME_NAME;
}

enum { TAP = 0xff };

/* Vectors of 32-bit numbers. */
#if defined(__AVX2__)
enum { NUMBERS = 8 };
#  define EVEN_NUMBERS 0, 2, 4, 6, 8, 10, 12, 14
#  define ODD_NUMBERS 1, 3, 5, 7, 9, 11, 13, 15
#else
enum { NUMBERS = 4 };
#  define EVEN_NUMBERS 0, 2, 4, 6
#  define ODD_NUMBERS 1, 3, 5, 7
#endif
typedef uint32_t Numbers
    __attribute__((vector_size(NUMBERS * sizeof(uint32_t)), aligned(sizeof(uint32_t)), may_alias));

INLINE Numbers loadNumbers(const void *x)
{
  return *(const Numbers *)x;
}

INLINE void storeNumbers(uint32_t *to, Numbers x)
{
  *(Numbers *)to = x;
}

/* The lower halves of NUMBERS indices; `either` |= both halves of each, in any order. */
INLINE Numbers loadLowerHalves(const int64_t *index, Numbers *either)
{
  const Numbers a = loadNumbers(index), b = loadNumbers(index + NUMBERS / 2);
  *either |= a | b;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_shufflevector(a, b, ODD_NUMBERS);
#else
  return __builtin_shufflevector(a, b, EVEN_NUMBERS);
#endif
}

/* The bits of all lower, or of all upper halves. */
INLINE uint32_t bitsOfHalves(Numbers either, bool upper)
{
  uint32_t bits = 0;
  for (int l = upper != LOWER_HALF; l < NUMBERS; l += 2)
    bits |= either[l];
  return bits;
}

INLINE uint32_t bitsOf(Numbers x)
{
  uint32_t bits = 0;
  for (int l = 0; l < NUMBERS; l++)
    bits |= x[l];
  return bits;
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

/* Prefetches what is as far behind a row's indices as the processor wants it. That pays for indices
 * from memory, so it is done for planes of several rows. */
INLINE void fetchRow(const int64_t *index, int64_t n)
{
  THNN_fetchToSecondLevel(index, n * (int64_t)sizeof *index, THNN_tuning.prefetchBytes);
}

/* A row is processed in blocks of NUMBERS windows; the last block overlaps the one before, which does
 * no harm. Of a shorter row, what there is is copied to a block. */
typedef struct ShortRow {
  int64_t index[2][NUMBERS];
  int32_t start[NUMBERS];
  uint32_t limit[2][NUMBERS], element[NUMBERS];
} ShortRow;

/* The windows and indices of a short row, with copies of its last one behind them. */
INLINE RowOfWindows copyShortRow(const RowOfWindows *w, int64_t n, const int64_t *index,
                                 const int64_t *second, ShortRow *copy)
{
  for (int64_t i = 0; i < NUMBERS; i++) {
    const int64_t from = i < n ? i : n - 1;
    copy->index[0][i] = index[from];
    copy->index[1][i] = second ? second[from] : 0;
    copy->start[i] = w->start[from];
    copy->limit[0][i] = w->limit[0][from];
    copy->limit[1][i] = w->limit[1][from];
  }
  RowOfWindows row = *w;
  row.start = copy->start;
  row.limit[0] = copy->limit[0];
  row.limit[1] = copy->limit[1];
  return row;
}

/* The windows from number i on: element = the numbers of the elements that taps name; intermediate
 * sums may wrap around 32 bits. Returns the highest bit of a byte where a tap is outside its
 * window's limits. Compares three bytes at once: the highest bit of each is set before a
 * subtraction, and stays set if the difference is not negative. */
INLINE Numbers decodeTapsAt(const RowOfWindows *w, const uint32_t *step, int64_t i,
                            const int64_t *index, uint32_t *element)
{
  const uint32_t taps = 0xffffff, tops = 0x808080;
  Numbers unused = {0};
  const Numbers packed = loadLowerHalves(index + i, &unused) & taps;
  const Numbers least = loadNumbers(w->limit[0] + i) | w->rowLimit[0];
  const Numbers most = loadNumbers(w->limit[1] + i) | w->rowLimit[1] | tops;
  const Numbers start = loadNumbers(w->start + i) + w->rowStart;
  storeNumbers(element + i, start + (packed & TAP) * step[0] + (packed >> 8 & TAP) * step[1] +
                                (packed >> 16) * step[2]);
  return packed | ~((packed | tops) - least) | ~(most - packed);
}

static bool decodeTaps(const THNNIndexWindows *w, const int64_t *index, const int64_t *second,
                       uint32_t *element)
{
  (void)second;
  const uint32_t step[3] = {w->step[0], w->step[1], w->step[2]}, tops = 0x808080;
  const int64_t n = w->columns;
  Numbers outside = {0};
  for (int64_t r = 0; r < w->rows; r++, index += n, element += n) {
    const RowOfWindows row = windowsOfRow(w, r);
    if (n < NUMBERS) {
      ShortRow copy;
      const RowOfWindows copied = copyShortRow(&row, n, index, NULL, &copy);
      outside |= decodeTapsAt(&copied, step, 0, copy.index[0], copy.element);
      memcpy(element, copy.element, (size_t)n * sizeof *element);
      continue;
    }
    if (w->rows > 1)
      fetchRow(index, n);
    for (int64_t i = 0; i + NUMBERS <= n; i += NUMBERS)
      outside |= decodeTapsAt(&row, step, i, index, element);
    if (n % NUMBERS > 0)
      outside |= decodeTapsAt(&row, step, n - NUMBERS, index, element);
  }
  return (bitsOf(outside) & tops) == 0;
}

/* What is found of places: they are all inside their windows' limits if their upper halves are 0,
 * and no difference is negative that is computed of lower halves. */
typedef struct PlaceBits {
  Numbers either, differences;
} PlaceBits;

/* The same for places. */
INLINE void decodePlacesAt(const RowOfWindows *w, uint32_t width, int64_t i, const int64_t *row,
                           const int64_t *column, PlaceBits *found, uint32_t *element)
{
  const Numbers y = loadLowerHalves(row + i, &found->either) - 1; /* places count from 1 */
  const Numbers x = loadLowerHalves(column + i, &found->either) - 1;
  const Numbers down = (loadNumbers(w->limit[0] + i) | w->rowLimit[0]) - 1;
  const Numbers right = (loadNumbers(w->limit[1] + i) | w->rowLimit[1]) - 1;
  found->differences |= y | x | (down - y) | (right - x);
  storeNumbers(element + i, loadNumbers(w->start + i) + w->rowStart + y * width + x);
}

static bool decodePlaces(const THNNIndexWindows *w, const int64_t *row, const int64_t *column,
                         uint32_t *element)
{
  const int64_t n = w->columns;
  const uint32_t width = w->step[1];
  PlaceBits found = {{0}, {0}};
  for (int64_t r = 0; r < w->rows; r++, row += n, column += n, element += n) {
    const RowOfWindows windows = windowsOfRow(w, r);
    if (n < NUMBERS) {
      ShortRow copy;
      const RowOfWindows copied = copyShortRow(&windows, n, row, column, &copy);
      decodePlacesAt(&copied, width, 0, copy.index[0], copy.index[1], &found, copy.element);
      memcpy(element, copy.element, (size_t)n * sizeof *element);
      continue;
    }
    if (w->rows > 1) {
      fetchRow(row, n);
      fetchRow(column, n);
    }
    for (int64_t i = 0; i + NUMBERS <= n; i += NUMBERS)
      decodePlacesAt(&windows, width, i, row, column, &found, element);
    if (n % NUMBERS > 0)
      decodePlacesAt(&windows, width, n - NUMBERS, row, column, &found, element);
  }
  return bitsOfHalves(found.either, true) == 0 && bitsOf(found.differences) >> 31 == 0;
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

/* The numbers of four elements, loaded at once. */
typedef uint64_t Four __attribute__((aligned(sizeof(uint16_t)), may_alias));
enum { FOUR = sizeof(Four) / sizeof(uint16_t), NUMBER_BITS = 16 };

INLINE uint16_t numberOfFour(uint64_t four, int k)
{
  const int place = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? FOUR - 1 - k : k;
  return (uint16_t)(four >> place * NUMBER_BITS);
}

static void addToNarrowElements(int64_t n, const uint16_t *element, const real *x, real *y)
{
  int64_t i = 0;
  for (; i + TURN <= n; i += TURN) {
    THNN_fetchToSecondLevel(x + i, TURN * sizeof *x, THNN_PAGE_BYTES);
#pragma GCC unroll 2
    for (int64_t j = i; j < i + TURN; j += FOUR) {
      const uint64_t four = *(const Four *)(element + j);
#pragma GCC unroll 2
      for (int k = 0; k < FOUR; k += FEW) {
        const Few few = loadFew(x + j + k);
#pragma GCC unroll 4
        for (int l = 0; l < FEW; l++)
          y[numberOfFour(four, k + l)] += few[l];
      }
    }
  }
  for (; i < n; i++)
    y[element[i]] += x[i];
}

/* Getting elements is bound by loads and stores: a few values are stored at once. */
INLINE void storeFew(real *y, Few few)
{
  *(Few *)y = few;
}

#define DEFINE_GETTING(NAME, NUMBER)                                                               \
  INLINE void NAME(int64_t n, const NUMBER *element, int64_t base, const real *x, real *y)         \
  {                                                                                                \
    int64_t i = 0;                                                                                 \
    _Pragma("GCC unroll 4") for (; i + FEW <= n; i += FEW)                                         \
    {                                                                                              \
      Few few = {0};                                                                               \
      _Pragma("GCC unroll 4") for (int64_t k = 0; k < FEW; k++)                                    \
      {                                                                                            \
        few[k] = x[element[i + k] - base];                                                         \
      }                                                                                            \
      storeFew(y + i, few);                                                                        \
    }                                                                                              \
    for (; i < n; i++)                                                                             \
      y[i] = x[element[i] - base];                                                                 \
  }

DEFINE_GETTING(getNumbered, int64_t)
DEFINE_GETTING(getNumbered32, uint32_t)
DEFINE_GETTING(getNumbered16, uint16_t)

static void getElements(int64_t n, const int64_t *element, int64_t base, const real *x, real *y)
{
  getNumbered(n, element, base, x, y);
}

static void getNearElements(int64_t n, const uint32_t *element, const real *x, real *y)
{
  getNumbered32(n, element, 0, x, y);
}

static void getNarrowElements(int64_t n, const uint16_t *element, const real *x, real *y)
{
  getNumbered16(n, element, 0, x, y);
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

/* Numbers as wide as values, so that vectors of both have the same lanes. */
#ifdef THNN_REAL_FLOAT
typedef int32_t WideNumber;
#else
typedef int64_t WideNumber;
#endif

/* Values are taken eight at a time. The last eight overlap those before, which does no harm. There
 * are eight at least; the compiler has to see that none is before the first one. */
enum { EIGHT = 8 };

INLINE int64_t eightAt(int64_t i, int64_t n)
{
  const int64_t last = n > EIGHT ? n - EIGHT : 0;
  return i < last ? i : last;
}

INLINE void narrowEight(const int64_t *index, WideNumber *named)
{
#pragma omp simd
  for (int j = 0; j < EIGHT; j++)
    named[j] = (WideNumber)index[j];
}

INLINE void setEight(const WideNumber *named, WideNumber wanted, const real *x, real *y)
{
#pragma omp simd
  for (int j = 0; j < EIGHT; j++) {
    const real value = x[j];
    y[j] = 0 + (named[j] == wanted ? value : 0);
  }
}

static void setNamed(int64_t n, const int64_t *index, int64_t numbers, const real *x, real *y)
{
  enum { PIECE = 128 };
  WideNumber named[PIECE];
  for (int64_t i = 0; i < n; i += PIECE) {
    const int64_t first = eightAt(i, n), count = n - first < PIECE ? n - first : PIECE;
    for (int64_t j = 0; j < count; j += EIGHT)
      narrowEight(index + first + eightAt(j, count), named + eightAt(j, count));
    for (int64_t number = 0; number < numbers; number++)
      for (int64_t j = 0; j < count; j += EIGHT) {
        const int64_t at = eightAt(j, count);
        setEight(named + at, (WideNumber)number, x + first + at, y + number * n + first + at);
      }
  }
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
INLINE void sumOfBagColumns(const int vectors, const bool whole, int64_t lanes, int64_t column,
                            const Bags *bags, int64_t begin, int64_t end, int64_t ahead, real *sum)
{
  enum { LINE_BYTES = 64, PER_LINE = VECTOR_BYTES < LINE_BYTES ? LINE_BYTES / VECTOR_BYTES : 1 };
  const real *table = bags->table + column;
  const Lanes some = firstLanes(lanes);
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
      sums[v] += whole || v + 1 < vectors ? load(x) : loadLanes(x, some);
    }
  }
#pragma GCC unroll 16
  for (int v = 0; v < vectors; v++)
    if (whole || v + 1 < vectors)
      store(sum + column + v * LANES, sums[v]);
    else
      storeFirst(sum + column + v * LANES, lanes, sums[v]);
}

/* As sumOfBagColumns, for at most FEW_BAG_VECTORS vectors. */
INLINE void sumOfFewBagColumns(int64_t vectors, const bool whole, int64_t lanes, int64_t column,
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
  for (int64_t b = first; b < end; b++) {
    const int64_t begin = bags->start[b] - bags->base;
    const int64_t next = b + 1 < bags->bags ? bags->start[b + 1] - bags->base : bags->indices;
    real *sum = sums + b * n;
    int64_t i = 0;
    for (; i + MOST_BAG_VECTORS * LANES <= n; i += MOST_BAG_VECTORS * LANES)
      sumOfBagColumns(MOST_BAG_VECTORS, true, LANES, i, bags, begin, next, ahead, sum);
    for (; i + FEW_BAG_VECTORS * LANES <= n; i += FEW_BAG_VECTORS * LANES)
      sumOfBagColumns(FEW_BAG_VECTORS, true, LANES, i, bags, begin, next, ahead, sum);
    if (rest == 0)
      sumOfFewBagColumns((n - i) / LANES, true, LANES, i, bags, begin, next, ahead, sum);
    else
      sumOfFewBagColumns((n - i) / LANES + 1, false, rest, i, bags, begin, next, ahead, sum);
  }
}

const SimdIndices SIMD_TABLE(Indices, THNN_SIMD_LEVEL) = {
    .areWithin = areWithin,
    .decodeTaps = decodeTaps,
    .decodePlaces = decodePlaces,
    .narrow = narrow,
    .narrowElements = narrowElements,
    .addToElements = addToElements,
    .addToNearElements = addToNearElements,
    .addToNarrowElements = addToNarrowElements,
    .getElements = getElements,
    .getNearElements = getNearElements,
    .getNarrowElements = getNarrowElements,
    .addNamed = addNamed,
    .setNamed = setNamed,
    .sumOfBags = sumOfBags,
    .indexOfPlace = indexOfPlace,
    .numbersOfPlace = numbersOfPlace,
};
