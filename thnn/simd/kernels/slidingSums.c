/* Sums of small kernels' taps that slide over planes, the inner loops of depth-wise convolution. A strip
 * of vectors is summed up from the top: the sums of all rows of results that a line of the source reaches
 * stay in registers, so that each line is loaded once for each column of the kernel. */
#include "simd/vector/inside.h"
#include "simd/vector/prefetch.h"

/* Elsewhere masks are looked at lane by lane, and planes in lanes are faster. */
#if defined(__AVX__) && !defined(THNN_WIDE_VECTORS)
enum {
  MOST_SIDE = 5,
#  if defined(MANY_REGISTERS)
  MOST_VECTORS = 4, /* whose sums of rows are in registers at a time, beside the factors */
#  else
  MOST_VECTORS = 3,
#  endif
  MOST_WIDE = 2 /* the same for 5x5 taps */
};

/* One or several vectors of columns, of one or several planes. */
typedef struct Strip {
  int64_t column;       /* the first */
  int64_t xStep, yStep; /* from a vector to the next */
  const real *x;        /* the source at the first tap of the first result */
  real *y;              /* the first result */
  /* At ends of lines: the lanes that see the source, for each column of the kernel. */
  Lanes inside[MOST_SIDE];
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

/* Adds a line's products to the sums. */
INLINE void addLine(const int side, const int vectors, const bool ends, const Taps *taps,
                    const Strip *strip, const real *line, RowSums *sums)
{
#  pragma GCC unroll 5
  for (int tap = 0; tap < side; tap++) {
    Vector seen[MOST_VECTORS];
#  pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      const real *x = line + v * strip->xStep + tap;
      seen[v] = ends ? loadLanes(x, strip->inside[tap]) : load(x);
    }
#  pragma GCC unroll 5
    for (int row = 0; row < side; row++) {
      const Vector factor = broadcast(taps->factors[row * side + tap]);
#  pragma GCC unroll 4
      for (int v = 0; v < vectors; v++)
        sums->of[side - 1 - row][v] += factor * seen[v];
    }
  }
}

INLINE void addNothing(const int side, const int vectors, const Taps *taps, RowSums *sums)
{
  for (int row = 0; row < side; row++)
    for (int v = 0; v < vectors; v++)
      sums->of[side - 1 - row][v] += broadcast(taps->nothing[row]);
}

/* Stores the oldest sums, unless their row is before the first, and lets those of a new row begin. A
 * vector can end past the end of its row: what begins the next row is written after it, as strips are
 * summed up from the last to the first, and from the top. */
INLINE void finishRow(const int side, const int vectors, const bool ends, const SlidingSums *of,
                      const Strip *strip, int64_t row, RowSums *sums)
{
  const int64_t first = row * of->columns;
  const bool over = !ends || first + strip->column + LANES <= of->rows * of->columns;
#  pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    real *y = strip->y + first + v * strip->yStep;
    fetch(y, of->yAhead);
    if (row >= 0 && over)
      store(y, sums->of[0][v]);
    else if (row >= 0)
      storeInside(y, of->columns - strip->column, sums->of[0][v]);
#  pragma GCC unroll 5
    for (int i = 0; i < side - 1; i++)
      sums->of[i][v] = sums->of[i + 1][v];
    sums->of[side - 1][v] = broadcast(of->start);
  }
}

INLINE void sumStrip(const int side, const int vectors, const bool ends, const SlidingSums *of,
                     const Taps *kernel, const Strip *strip)
{
  const Taps own = *kernel, *taps = &own; /* which stores to results leave as they are */
  const int64_t first = 1 - side; /* of the rows whose sums begin before the first line is seen */
  RowSums sums;
  for (int row = 0; row < side; row++)
    for (int v = 0; v < vectors; v++)
      sums.of[row][v] = broadcast(of->start);
  int64_t row = first;
  for (; row < of->rows && row - first < of->above; row++) {
    addNothing(side, vectors, taps, &sums);
    finishRow(side, vectors, ends, of, strip, row, &sums);
  }
  for (; row < of->rows && row - first - of->above < of->height; row++) {
    const real *line = strip->x + (row - first - of->above) * of->width;
    addLine(side, vectors, ends, taps, strip, line, &sums);
#  pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
      fetch(line + v * strip->xStep, of->xAhead);
    finishRow(side, vectors, ends, of, strip, row, &sums);
  }
  for (; row < of->rows; row++) {
    addNothing(side, vectors, taps, &sums);
    finishRow(side, vectors, ends, of, strip, row, &sums);
  }
}

/* Makes the number of vectors a constant. */
INLINE void sumSome(const int side, int64_t vectors, const bool ends, const SlidingSums *of,
                    const Taps *taps, const Strip *strip)
{
  if (vectors == 1)
    sumStrip(side, 1, ends, of, taps, strip);
  else if (vectors == 2)
    sumStrip(side, 2, ends, of, taps, strip);
  else if (side < MOST_SIDE && vectors == 3)
    sumStrip(side, 3, ends, of, taps, strip);
  else if (side < MOST_SIDE)
    sumStrip(side, MOST_VECTORS, ends, of, taps, strip);
}

/* a / b rounded up, both positive. */
INLINE int64_t divideUp(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

/* The most vectors at a time. */
INLINE int64_t mostVectors(const int side)
{
  return side < MOST_SIDE ? MOST_VECTORS : MOST_WIDE;
}

INLINE Strip stripAt(const SlidingSums *of, int64_t plane, int64_t vector)
{
  const int64_t column = vector * LANES;
  return (Strip){.column = column,
                 .xStep = LANES,
                 .yStep = LANES,
                 .x = of->x + plane * of->xPlane + column - of->left,
                 .y = of->y + plane * of->yPlane + column};
}

/* Sums up vector number `vector` of each plane. */
INLINE void sumEnds(const int side, const SlidingSums *of, const Taps *taps, int64_t vector)
{
  const int64_t groups = divideUp(of->planes, mostVectors(side));
  for (int64_t group = 0; group < groups; group++) {
    const int64_t plane = of->planes * group / groups;
    Strip strip = stripAt(of, plane, vector);
    const int64_t before = of->left - strip.column;
    for (int tap = 0; tap < side; tap++)
      strip.inside[tap] = lanesBetween(before - tap, before + of->width - tap);
    strip.xStep = of->xPlane, strip.yStep = of->yPlane;
    sumSome(side, of->planes * (group + 1) / groups - plane, true, of, taps, &strip);
  }
}

/* Sums up the vectors from `begin` to `end` of a plane, which see nothing outside of their lines. */
INLINE void sumMiddle(const int side, const SlidingSums *of, const Taps *taps, int64_t plane,
                      int64_t begin, int64_t end)
{
  const int64_t groups = divideUp(end - begin, mostVectors(side));
  for (int64_t group = 0; group < groups; group++) {
    const int64_t vector = begin + (end - begin) * group / groups;
    const Strip strip = stripAt(of, plane, vector);
    sumSome(side, begin + (end - begin) * (group + 1) / groups - vector, false, of, taps, &strip);
  }
}

INLINE void sumPlanes(const int side, const SlidingSums *of)
{
  const Taps taps = tapsOf(side, of);
  const int64_t vectors = divideUp(of->columns, LANES);
  const int64_t within =
      of->width + of->left - (side - 1); /* results that see nothing past the end */
  const int64_t whole = (within < of->columns ? within : of->columns) / LANES;
  const int64_t begin = of->left > 0 ? divideUp(of->left, LANES) : 0;
  const int64_t first = begin < vectors ? begin : vectors, end = whole > first ? whole : first;
  for (int64_t vector = vectors - 1; vector >= end; vector--)
    sumEnds(side, of, &taps, vector);
  for (int64_t plane = 0; plane < of->planes; plane++)
    sumMiddle(side, of, &taps, plane, first, end);
  for (int64_t vector = first - 1; vector >= 0; vector--)
    sumEnds(side, of, &taps, vector);
}

/* ---- Products of a source and a map ---------------------------------------------------------- */

/* Sums for some rows of a kernel, and the rows of the map that a line of the source meets. */
typedef struct TapSums {
  Vector of[MOST_SIDE][MOST_SIDE], map[MOST_SIDE], total;
} TapSums;

/* Where a strip is in its planes, and the lanes that are inside of both. */
typedef struct Column {
  const real *x, *map;
  Lanes inside[MOST_SIDE], ofMap;
} Column;

/* Adds a line's products. At the ends of the map, only those of the rows that there are. */
INLINE void dotLine(const int rows, const int side, const bool ends, const Column *column,
                    const real *line, int64_t first, int64_t mapRows, TapSums *sums)
{
#  pragma GCC unroll 5
  for (int tap = 0; tap < side; tap++) {
    const Vector seen = ends ? loadLanes(line + tap, column->inside[tap]) : load(line + tap);
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
      const real *map = column->map + i * of->columns;
      sums.map[0] = ends ? loadLanes(map, column->ofMap) : load(map);
      if (begin == 0) {
        sums.total += sums.map[0];
        fetch(map, of->mapAhead);
      }
    }
    if (line < 0 || line >= of->height)
      continue;
    const real *x = column->x + line * of->width;
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

/* As many rows of the kernel at a time as there are registers for their sums. */
INLINE void dotColumn(const int side, const bool ends, const SlidingDots *of, const Column *column)
{
  dotStrip(3, side, ends, of, 0, column);
  if (side > 3)
    dotStrip(2, side, ends, of, 3, column);
}

INLINE void dotPlanes(const int side, const SlidingDots *of)
{
  for (int64_t at = 0; at < of->columns; at += LANES) {
    const int64_t first = at - of->left; /* the column that the first tap sees in the first lane */
    Column column = {.x = of->x + first, .map = of->map + at};
    if (first >= 0 && first + LANES + side - 1 <= of->width && at + LANES <= of->columns) {
      dotColumn(side, false, of, &column);
      continue;
    }
    column.ofMap = lanesBetween(0, of->columns - at);
    for (int tap = 0; tap < side; tap++)
      column.inside[tap] = lanesBetween(-first - tap, of->width - first - tap) & column.ofMap;
    dotColumn(side, true, of, &column);
  }
}

static void dot(const SlidingDots *of)
{
#  if defined(MANY_REGISTERS)
  if (of->side > 3) {
    dotPlanes(MOST_SIDE, of);
    return;
  }
#  endif
  dotPlanes(3, of);
}

static void sum(const SlidingSums *of)
{
  if (of->side == 3)
    sumPlanes(3, of);
  else
    sumPlanes(5, of);
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
    .leastDotted = 100, /* maps of 14x14 take 0.75 of the time of planes in lanes, of 7x7 1.15 */
#  else
    .mostDotSide = 3,   /* the sums of 5x5 taps would need three passes: 1.4 of that time */
    .leastDotted = 400, /* maps of 20x20 take 0.9 of the time of planes in lanes, of 14x14 1.07 */
#  endif
    .sum = sum,
    .dot = dot,
};
#else
const SimdSliding SIMD_TABLE(Sliding, THNN_SIMD_LEVEL) = {.applies = false};
#endif
