/* Sums of small kernels' taps that slide over planes, the inner loops of depth-wise convolution. A strip
 * of vectors is summed up from the top: the sums of all rows of results that a line of the source reaches
 * stay in registers, so that each line is loaded once for each column of the kernel. */
#include "simd/vector/inside.h"
#include "simd/vector/prefetch.h"
#include "simd/vector/transpose.h"

/* Elsewhere masks are looked at lane by lane, and planes in lanes are faster. */
#if defined(__AVX__) && !defined(THNN_WIDE_VECTORS)
enum {
  MOST_SIDE = 5,
#  if defined(MANY_REGISTERS)
  MOST_VECTORS = 4, /* whose sums of rows are in registers at a time, beside the factors */
#  else
  MOST_VECTORS = 3,
#  endif
  MOST_WIDE = 2 /* the same for 5x5 taps, and with stride 2 */
};

#  if defined(__AVX512VL__)
#    define ANY_LANES /* one instruction puts any lanes of two vectors in any order */
enum { SHIFTS = true };
#  else
enum { SHIFTS = false };
#  endif

/* Every second element of two vectors, in an order that `inOrder` ends: AVX2 moves no single elements
 * between halves of vectors, so that quarters change places once, at the end. */
INLINE Vector evenOf(Vector a, Vector b)
{
#  if defined(ANY_LANES)
  return evenLanes(a, b);
#  elif defined(THNN_REAL_FLOAT)
  return (Vector)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
#  else
  return (Vector)_mm256_unpacklo_pd((__m256d)a, (__m256d)b);
#  endif
}

INLINE Vector oddOf(Vector a, Vector b)
{
#  if defined(ANY_LANES)
  return oddLanes(a, b);
#  elif defined(THNN_REAL_FLOAT)
  return (Vector)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
#  else
  return (Vector)_mm256_unpackhi_pd((__m256d)a, (__m256d)b);
#  endif
}

INLINE Vector inOrder(Vector x)
{
#  if defined(ANY_LANES)
  return x;
#  else
  return (Vector)_mm256_permute4x64_pd((__m256d)x, 0xd8); /* its quarters 0, 2, 1, 3 */
#  endif
}

/* The vectors that are loaded of a line. */
typedef struct Loads {
  int64_t tapStep;
  Lanes inside[MOST_SIDE + 1]; /* at ends of lines: the lanes of each that see the source */
} Loads;

/* One or several vectors of columns, of one or several planes. */
typedef struct Strip {
  int64_t column;       /* the first */
  int64_t xStep, yStep; /* from a vector to the next */
  const real *x;        /* the source at the first tap of the first result */
  real *y;              /* the first result */
  Loads loads;
} Strip;

/* The sums of all rows that a line reaches: the oldest first. */
typedef struct RowSums {
  Vector of[MOST_SIDE][MOST_VECTORS];
} RowSums;

/* The kernel's factors, and what stands for its products with zeros. */
typedef struct Taps {
  real factors[MOST_SIDE * MOST_SIDE];
  real nothing[MOST_SIDE]; /* what a row of the kernel adds where it sees zeros: 0 or NaN */
} Taps;

INLINE Taps tapsOf(const int side, const SlidingSums *of)
{
  Taps taps;
  for (int row = 0; row < side; row++) {
    taps.nothing[row] = -(real)0; /* which leaves the sign of a zero to the products */
    for (int tap = 0; tap < side; tap++) {
      taps.factors[row * side + tap] = of->factors[row * side + tap];
      taps.nothing[row] += 0 * of->factors[row * side + tap];
    }
  }
  return taps;
}

/* Fetches the vector that is `distance` reals ahead. Planes are read in columns of vectors, of which the
 * processor fetches little by itself: where they come from memory, this halves the time. Between the
 * products, `THNN_fetchToSecondLevel` would take 3 to 8 % more, as nothing moves past its fetches. */
INLINE void fetch(const real *x, int64_t distance)
{
  __builtin_prefetch(THNN_ahead(x, distance * (int64_t)sizeof(real)), READ, SECOND_LEVEL);
}

/* Where the vectors begin that are loaded of a line, counted from what the first tap sees. With stride 2
 * these are two for each two taps; or if what a tap sees is shifted for the tap two after it, two for the
 * first taps, and then the elements that come in. */
INLINE int64_t loadedAt(const int stride, const bool shifts, int64_t tapStep, const int number)
{
  if (stride == 1)
    return number * tapStep;
  if (shifts && number >= 2)
    return 2 * LANES + number - 2;
  return number / 2 * 2 + number % 2 * LANES;
}

INLINE Vector loaded(const int stride, const bool shifts, const int number, const bool ends,
                     const Loads *loads, const real *x)
{
  const real *from = x + loadedAt(stride, shifts, loads->tapStep, number);
  return ends ? loadLanes(from, loads->inside[number]) : load(from);
}

/* What tap `tap` sees of a line, of which the first tap sees x; `before` is what the tap two before it has
 * seen. With stride 2 this is every second element. */
INLINE Vector seenBy(const int stride, const bool shifts, const int tap, const bool ends,
                     const Loads *loads, const real *x, Vector before)
{
  if (stride == 1)
    return loaded(stride, shifts, tap, ends, loads, x);
  if (shifts && tap >= 2)
    return nextLanes(before, ends ? loaded(stride, shifts, tap, ends, loads, x)
                                  : broadcast(x[loadedAt(stride, shifts, 1, tap)]));
  const int even = tap / 2 * 2;
  const Vector a = loaded(stride, shifts, even, ends, loads, x);
  const Vector b = loaded(stride, shifts, even + 1, ends, loads, x);
  return tap == even ? evenOf(a, b) : oddOf(a, b);
}

/* The number of rows that are summed up at a time. */
INLINE int liveRows(const int side, const int stride)
{
  return (side + stride - 1) / stride;
}

/* The row of the kernel that meets a line in row `live` of the sums. With stride 2, every second line is
 * `odd`, which comes before a new row of sums. */
INLINE int kernelRow(const int side, const int stride, const bool odd, const int live)
{
  return stride * (liveRows(side, stride) - 1 - live) - odd;
}

/* Adds a line's products to the sums. */
INLINE void addLine(const int side, const int stride, const int vectors, const bool ends,
                    const bool odd, const Taps *taps, const Strip *strip, const real *line,
                    RowSums *sums)
{
  Vector seen[MOST_SIDE][MOST_VECTORS];
#  pragma GCC unroll 5
  for (int tap = 0; tap < side; tap++) {
#  pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
      seen[tap][v] = seenBy(stride, SHIFTS, tap, ends, &strip->loads, line + v * strip->xStep,
                            tap < 2 ? (Vector){0} : seen[tap - 2][v]);
#  pragma GCC unroll 5
    for (int live = liveRows(side, stride) - 1; live >= 0; live--) {
      const int row = kernelRow(side, stride, odd, live);
      if (row < 0 || row >= side)
        continue;
      const Vector factor = broadcast(taps->factors[row * side + tap]);
#  pragma GCC unroll 4
      for (int v = 0; v < vectors; v++)
        sums->of[live][v] += factor * seen[tap][v];
    }
  }
}

INLINE void addNothing(const int side, const int stride, const int vectors, const bool odd,
                       const Taps *taps, RowSums *sums)
{
  for (int live = 0; live < liveRows(side, stride); live++) {
    const int row = kernelRow(side, stride, odd, live);
    for (int v = 0; row >= 0 && row < side && v < vectors; v++)
      sums->of[live][v] += broadcast(taps->nothing[row]);
  }
}

/* Adds line number `line`. With `outside` it can be outside of the source, and is with stride 1. */
INLINE void addNumber(const int side, const int stride, const int vectors, const bool ends,
                      const bool odd, const bool outside, const SlidingSums *of, const Taps *taps,
                      const Strip *strip, int64_t line, RowSums *sums)
{
  if (outside && (stride == 1 || line < 0 || line >= of->height)) {
    addNothing(side, stride, vectors, odd, taps, sums);
    return;
  }
  const real *x = strip->x + line * of->xLine;
  addLine(side, stride, vectors, ends, odd, taps, strip, x, sums);
#  pragma GCC unroll 4
  for (int v = 0; v < vectors; v++)
#  pragma GCC unroll 2
    for (int i = 0; i < stride; i++)
      fetch(x + v * strip->xStep + i * LANES, of->xAhead);
}

/* Stores the oldest sums, unless their row is before the first, and lets those of a new row begin. A
 * vector can end past the end of its row, if all rows of its plane are summed up together: what begins the
 * next row is written after it, as strips are summed up from the last to the first, and from the top. */
INLINE void finishRow(const int side, const int stride, const int vectors, const bool ends,
                      const SlidingSums *of, const Strip *strip, int64_t row, RowSums *sums)
{
  const int newest = liveRows(side, stride) - 1;
  const int64_t first = row * of->yRow;
  const bool over =
      !ends || (of->yRow == of->columns && first + strip->column + LANES <= of->rows * of->columns);
#  pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    const Vector sum = stride == 1 ? sums->of[0][v] : inOrder(sums->of[0][v]);
    real *y = strip->y + first + v * strip->yStep;
    fetch(y, of->yAhead);
    if (row >= 0 && over)
      store(y, sum);
    else if (row >= 0)
      storeInside(y, of->columns - strip->column, sum);
#  pragma GCC unroll 5
    for (int i = 0; i < newest; i++)
      sums->of[i][v] = sums->of[i + 1][v];
    sums->of[newest][v] = broadcast(of->start);
  }
}

/* Adds the lines that come with a row of results. The first finishes the oldest sums. */
INLINE void addLines(const int side, const int stride, const int vectors, const bool ends,
                     const bool outside, const SlidingSums *of, const Taps *taps,
                     const Strip *strip, int64_t row, int64_t line, RowSums *sums)
{
  addNumber(side, stride, vectors, ends, false, outside, of, taps, strip, line, sums);
  finishRow(side, stride, vectors, ends, of, strip, row, sums);
  if (stride == 2)
    addNumber(side, stride, vectors, ends, true, outside, of, taps, strip, line + 1, sums);
}

INLINE void sumStrip(const int side, const int stride, const int vectors, const bool ends,
                     const SlidingSums *planes, const Taps *kernel, const Strip *strip)
{
  /* Copies, which stores to results leave as they are, as far as the compiler knows. With those of
   * planes, strips take 0.76 to 0.99 of the time, but ends with stride 1 a tenth more. */
  const Taps own = *kernel, *taps = &own;
  const SlidingSums copy = *planes;
  const SlidingSums *of = ends && stride == 1 ? planes : &copy;
  const int live = liveRows(side, stride);
  RowSums sums;
  for (int row = 0; row < live; row++)
    for (int v = 0; v < vectors; v++)
      sums.of[row][v] = broadcast(of->start);
  /* With stride 2, loops of their own for lines outside would be no faster, and compile slowly. */
  int64_t row = 1 - live, line = -of->above;
  for (; stride == 1 && row < of->rows && line < 0; row++, line += stride)
    addLines(side, stride, vectors, ends, true, of, taps, strip, row, line, &sums);
  for (; stride == 1 && row < of->rows && line < of->height; row++, line += stride)
    addLines(side, stride, vectors, ends, false, of, taps, strip, row, line, &sums);
  for (; row < of->rows; row++, line += stride)
    addLines(side, stride, vectors, ends, true, of, taps, strip, row, line, &sums);
}

/* Makes the number of vectors a constant. */
INLINE void sumSome(const int side, const int stride, int64_t vectors, const bool ends,
                    const SlidingSums *of, const Taps *taps, const Strip *strip)
{
  if (vectors == 1)
    sumStrip(side, stride, 1, ends, of, taps, strip);
  else if (vectors == 2)
    sumStrip(side, stride, 2, ends, of, taps, strip);
  else if (side < MOST_SIDE && stride == 1 && vectors == 3)
    sumStrip(side, stride, 3, ends, of, taps, strip);
  else if (side < MOST_SIDE && stride == 1)
    sumStrip(side, stride, MOST_VECTORS, ends, of, taps, strip);
}

/* a / b rounded up, both positive. */
INLINE int64_t divideUp(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* The most vectors at a time. */
INLINE int64_t mostVectors(const int side, const int stride)
{
  return side < MOST_SIDE && stride == 1 ? MOST_VECTORS : MOST_WIDE;
}

INLINE Strip stripAt(const int stride, int64_t tapStep, const SlidingSums *of, int64_t plane,
                     int64_t vector)
{
  const int64_t column = vector * LANES;
  return (Strip){.column = column,
                 .xStep = stride * LANES,
                 .yStep = LANES,
                 .x = of->x + plane * of->xPlane + stride * column - of->left,
                 .y = of->y + plane * of->yPlane + column,
                 .loads = {.tapStep = tapStep}};
}

/* Sums up vector number `vector` of each plane. */
INLINE void sumEnds(const int side, const int stride, int64_t tapStep, const SlidingSums *of,
                    const Taps *taps, int64_t vector)
{
  const int64_t groups = divideUp(of->planes, mostVectors(side, stride));
  for (int64_t group = 0; group < groups; group++) {
    const int64_t plane = of->planes * group / groups;
    Strip strip = stripAt(stride, tapStep, of, plane, vector);
    const int64_t before = of->left - stride * strip.column;
    for (int i = 0; i < side + stride - 1; i++) {
      const int64_t from = loadedAt(stride, SHIFTS, tapStep, i);
      strip.loads.inside[i] = lanesBetween(before - from, before + of->width - from);
    }
    strip.xStep = of->xPlane, strip.yStep = of->yPlane;
    sumSome(side, stride, of->planes * (group + 1) / groups - plane, true, of, taps, &strip);
  }
}

/* Sums up the vectors from `begin` to `end` of a plane, which see nothing outside of their lines. */
INLINE void sumMiddle(const int side, const int stride, int64_t tapStep, const SlidingSums *of,
                      const Taps *taps, int64_t plane, int64_t begin, int64_t end)
{
  const int64_t groups = divideUp(end - begin, mostVectors(side, stride));
  for (int64_t group = 0; group < groups; group++) {
    const int64_t vector = begin + (end - begin) * group / groups;
    const Strip strip = stripAt(stride, tapStep, of, plane, vector);
    sumSome(side, stride, begin + (end - begin) * (group + 1) / groups - vector, false, of, taps,
            &strip);
  }
}

INLINE void sumPlanes(const int side, const int stride, int64_t tapStep, const SlidingSums *of)
{
  const Taps taps = tapsOf(side, of);
  const int64_t vectors = divideUp(of->columns, LANES), step = stride * LANES;
  const int64_t reach = (side - 1) * tapStep;
  const int64_t inside = (of->width + of->left - reach) / step; /* which see nothing past it */
  const int64_t whole = inside < of->columns / LANES ? inside : of->columns / LANES;
  const int64_t begin = of->left > 0 ? divideUp(of->left, step) : 0;
  const int64_t first = begin < vectors ? begin : vectors, end = whole > first ? whole : first;
  for (int64_t vector = vectors - 1; vector >= end; vector--)
    sumEnds(side, stride, tapStep, of, &taps, vector);
  for (int64_t plane = 0; plane < of->planes; plane++)
    sumMiddle(side, stride, tapStep, of, &taps, plane, first, end);
  for (int64_t vector = first - 1; vector >= 0; vector--)
    sumEnds(side, stride, tapStep, of, &taps, vector);
}

/* ---- Products of a source and a map ---------------------------------------------------------- */

/* Sums for some rows of a kernel, and the rows of the map that a line of the source meets. */
typedef struct TapSums {
  Vector of[MOST_SIDE][MOST_SIDE], map[MOST_SIDE], total;
} TapSums;

/* Where a strip is in its planes, and the lanes that are inside of both. */
typedef struct Column {
  const real *x, *map;
  Loads loads;
  Lanes ofMap;
} Column;

/* Adds a line's products. At the ends of the map, only those of the rows that there are. */
INLINE void dotLine(const int rows, const int side, const bool ends, const Column *column,
                    const real *line, int64_t first, int64_t mapRows, TapSums *sums)
{
#  pragma GCC unroll 5
  for (int tap = 0; tap < side; tap++) {
    const Vector seen = loaded(1, false, tap, ends, &column->loads, line);
#  pragma GCC unroll 5
    for (int row = 0; row < rows; row++)
      if (first - row >= 0 && first - row < mapRows)
        sums->of[row][tap] += seen * sums->map[row];
  }
}

/* The sums of rows `begin` to `begin` + `rows` of a kernel, over one vector of columns. */
INLINE void dotStrip(const int rows, const int side, const bool ends, const SlidingDots *of,
                     const int begin, const Column *column)
{
  TapSums sums;
  real *at = of->sums + begin * side * LANES, *total = of->sums + side * side * LANES;
#  pragma GCC unroll 5
  for (int row = 0; row < rows; row++) {
    sums.map[row] = (Vector){0};
#  pragma GCC unroll 5
    for (int tap = 0; tap < side; tap++)
      sums.of[row][tap] = load(at + (row * side + tap) * LANES);
  }
  sums.total = load(total);
  for (int64_t i = 0; i < of->rows + rows - 1; i++) { /* row i of the map begins to be seen */
    const int64_t line = i + begin - of->above;
#  pragma GCC unroll 5
    for (int row = rows - 1; row > 0; row--)
      sums.map[row] = sums.map[row - 1];
    if (i < of->rows) {
      const real *map = column->map + i * of->mapRow;
      sums.map[0] = ends ? loadLanes(map, column->ofMap) : load(map);
      if (begin == 0) {
        sums.total += sums.map[0];
        fetch(map, of->mapAhead);
      }
    }
    if (line < 0 || line >= of->height)
      continue;
    const real *x = column->x + line * of->xLine;
    if (begin == 0)
      fetch(x, of->xAhead);
    if (i >= rows - 1 && i < of->rows) /* all rows are there */
      dotLine(rows, side, ends, column, x, rows - 1, rows, &sums);
    else
      dotLine(rows, side, ends, column, x, i, of->rows, &sums);
  }
#  pragma GCC unroll 5
  for (int row = 0; row < rows; row++)
#  pragma GCC unroll 5
    for (int tap = 0; tap < side; tap++)
      store(at + (row * side + tap) * LANES, sums.of[row][tap]);
  if (begin == 0)
    store(total, sums.total);
}

/* The same with stride 2: every second line, which is `odd`, comes after a row of the map begins to be seen
 * and meets that alone; the other lines meet the row before it, too. */
INLINE void dotAlternateLine(const bool odd, const bool ends, const Column *column,
                             const real *line, bool begun, bool before, TapSums *sums)
{
#  pragma GCC unroll 3
  for (int tap = 0; tap < 3; tap++) {
    const Vector seen = seenBy(2, false, tap, ends, &column->loads, line, (Vector){0});
    if (begun)
      sums->of[odd][tap] += seen * sums->map[0];
    if (!odd && before)
      sums->of[2][tap] += seen * sums->map[1];
  }
}

/* Sums for 3x3 taps with stride 2, over one vector of columns. */
INLINE void dotAlternateColumn(const bool ends, const SlidingDots *of, const Column *column)
{
  TapSums sums = {.total = load(of->sums + 9 * LANES)};
#  pragma GCC unroll 9
  for (int tap = 0; tap < 9; tap++)
    sums.of[tap / 3][tap % 3] = load(of->sums + tap * LANES);
  for (int64_t row = 0; row <= of->rows; row++) {
    const int64_t line = 2 * row - of->above;
    const real *x = column->x + line * of->xLine;
    const bool begun = row < of->rows;
    sums.map[1] = sums.map[0];
    if (begun) {
      const real *map = column->map + row * of->mapRow;
      sums.map[0] = inOrder(ends ? loadLanes(map, column->ofMap) : load(map));
      sums.total += sums.map[0];
      fetch(map, of->mapAhead);
    }
    if (line >= 0 && line < of->height) {
      dotAlternateLine(false, ends, column, x, begun, row > 0, &sums);
      fetch(x, of->xAhead), fetch(x + LANES, of->xAhead);
    }
    if (begun && line + 1 >= 0 && line + 1 < of->height) {
      dotAlternateLine(true, ends, column, x + of->xLine, true, false, &sums);
      fetch(x + of->xLine, of->xAhead), fetch(x + of->xLine + LANES, of->xAhead);
    }
  }
#  pragma GCC unroll 9
  for (int tap = 0; tap < 9; tap++)
    store(of->sums + tap * LANES, sums.of[tap / 3][tap % 3]);
  store(of->sums + 9 * LANES, sums.total);
}

/* As many rows of the kernel at a time as there are registers for their sums. */
INLINE void dotColumn(const int side, const int stride, const bool ends, const SlidingDots *of,
                      const Column *column)
{
  if (stride == 2) {
    dotAlternateColumn(ends, of, column);
    return;
  }
  dotStrip(3, side, ends, of, 0, column);
  if (side > 3)
    dotStrip(2, side, ends, of, 3, column);
}

INLINE void dotPlanes(const int side, const int stride, int64_t tapStep, const SlidingDots *of)
{
  for (int64_t at = 0; at < of->columns; at += LANES) {
    const int64_t first = stride * at - of->left; /* what the first tap sees in the first lane */
    const int64_t columns = of->columns - at;
    Column column = {.x = of->x + first,
                     .map = of->map + at,
                     .loads = {.tapStep = tapStep},
                     .ofMap = lanesBetween(0, columns)};
    const int64_t seenTo = first + stride * LANES + (side - 1) * tapStep;
    const bool ends = first < 0 || seenTo > of->width || columns < LANES;
    for (int i = 0; ends && i < side + stride - 1; i++) {
      const int64_t from = first + loadedAt(stride, false, tapStep, i);
      const int64_t seen = stride == 1 ? columns : 2 * columns - i % 2 * LANES;
      column.loads.inside[i] =
          lanesBetween(-from, of->width - from < seen ? of->width - from : seen);
    }
    if (ends)
      dotColumn(side, stride, true, of, &column);
    else
      dotColumn(side, stride, false, of, &column);
  }
}

/* Each kind of kernel has a function of its own: in one for all, 3x3 sums took a fifth to a third more time
 * with AVX2. Without dilation, taps have a constant distance: 2 to 4 % less time. */
#  define SUM(name, side, stride, tapStep)                                                         \
    static __attribute__((noinline)) void name(const SlidingSums *of)                              \
    {                                                                                              \
      sumPlanes(side, stride, tapStep, of);                                                        \
    }
#  define DOT(name, side, stride, tapStep)                                                         \
    static __attribute__((noinline)) void name(const SlidingDots *of)                              \
    {                                                                                              \
      dotPlanes(side, stride, tapStep, of);                                                        \
    }
SUM(sum3, 3, 1, 1)
SUM(sum3Dilated, 3, 1, of->tapStep)
SUM(sum3Alternate, 3, 2, 1)
SUM(sum5, 5, 1, 1)
SUM(sum5Dilated, 5, 1, of->tapStep)
DOT(dot3, 3, 1, 1)
DOT(dot3Dilated, 3, 1, of->tapStep)
DOT(dot3Alternate, 3, 2, 1)
#  if defined(MANY_REGISTERS)
SUM(sum5Alternate, 5, 2, 1)
DOT(dot5, 5, 1, 1)
DOT(dot5Dilated, 5, 1, of->tapStep)
#  endif

static void dot(const SlidingDots *of)
{
  if (of->stride == 2)
    dot3Alternate(of);
  else if (of->side == 3 && of->tapStep == 1)
    dot3(of);
  else if (of->side == 3)
    dot3Dilated(of);
#  if defined(MANY_REGISTERS)
  else if (of->tapStep == 1)
    dot5(of);
  else
    dot5Dilated(of);
#  endif
}

static void sum(const SlidingSums *of)
{
  if (of->side == 3 && of->stride == 2)
    sum3Alternate(of);
  else if (of->side == 3 && of->tapStep == 1)
    sum3(of);
  else if (of->side == 3)
    sum3Dilated(of);
#  if defined(MANY_REGISTERS)
  else if (of->stride == 2)
    sum5Alternate(of);
#  endif
  else if (of->tapStep == 1)
    sum5(of);
  else
    sum5Dilated(of);
}

const SimdSliding SIMD_TABLE(Sliding, THNN_SIMD_LEVEL) = {
    .applies = true,
    .lanes = LANES,
    .planes = MOST_VECTORS,
#  if defined(LONGEST_VECTORS)
    .leastFull = 60, /* full vectors take 0.46 of the time of planes in lanes, 0.55 for 5x5 taps */
#  else
    .leastFull = 75, /* 0.65 and 0.74 */
#  endif
#  if defined(MANY_REGISTERS)
    .mostDotSide = MOST_SIDE,
    .mostStridedSide = MOST_SIDE,
    .leastDotted = 100, /* maps of 14x14 take 0.75 of the time of planes in lanes, of 7x7 1.15 */
    .leastDilated = 95, /* 98 take 0.83 to 1.04 of that time, 90 1.06 */
    .leastDilatedFull = 75, /* 33 of 48 lanes take 0.95 to 1.18, 28 of 32 0.77 to 0.88 */
#  else
    .mostStridedSide = 3, /* 5x5 taps would take 0.9 to 1.03 of the time of planes in lanes */
    .mostDotSide = 3,     /* the sums of 5x5 taps would need three passes: 1.4 of that time */
    .leastDotted = 400,   /* maps of 20x20 take 0.9 of the time of planes in lanes, of 14x14 1.07 */
    .leastDilated = 200,  /* 182 take 1.14 of that time, 363 0.87 */
    .leastDilatedFull = 100, /* 56 of 56 lanes take 0.75 to 0.84, 65 of 72 1.08 to 1.26 */
#  endif
    .sum = sum,
    .dot = dot,
};
#else
const SimdSliding SIMD_TABLE(Sliding, THNN_SIMD_LEVEL) = {.applies = false};
#endif
