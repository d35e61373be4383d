/* Sums that the taps of small kernels spread from planes with stride 2, the inner loops of the gradient of
 * depth-wise convolution's image. With 3x3 taps, every second row of results sees two lines of the source,
 * and every second result of a row two elements of each line; the others see one. Both kinds are summed up
 * apart, and their lanes interleaved. */
#include "simd/vector/inside.h"

/* Elsewhere masks are looked at lane by lane, and planes in lanes are faster. */
#if defined(__AVX__) && !defined(THNN_WIDE_VECTORS)
enum {
  MOST_SIDE = 5,
  MOST_SEEN = (MOST_SIDE + 1) / 2, /* lines that a row of results sees, and elements of a line */
  MOST_VECTORS = 2                 /* that are summed up at a time */
};

/* Vectors of neighbouring elements, and the results that they spread to. */
typedef struct Strip {
  const real *x; /* the first element of the first line */
  Lanes inside[MOST_VECTORS][MOST_SEEN];
  real *y; /* the first result of the first row */
  int64_t columns;
} Strip;

/* What some vectors of results see of a line: elements, and those after them. */
typedef struct Seen {
  Vector of[MOST_VECTORS][MOST_SEEN];
} Seen;

/* The number of lines that a row of results sees at most. */
INLINE int seenBy(const int side)
{
  return (side + 1) / 2;
}

INLINE Seen seenOf(const int side, const int vectors, const bool ends, const SpreadSums *of,
                   const Strip *strip, int64_t line)
{
  Seen seen = {0};
  if (line < 0 || line >= of->height)
    return seen;
  const real *x = strip->x + line * of->width;
  const int count = seenBy(side);
#  pragma GCC unroll 2
  for (int v = 0; v < vectors; v++)
#  pragma GCC unroll 3
    for (int i = 0; i < count; i++) {
      const real *from = x + v * LANES + i;
      seen.of[v][i] = ends ? loadLanes(from, strip->inside[v][i]) : load(from);
    }
  return seen;
}

/* Two vectors of results: those that see as many elements as any, and those between, which see one less;
 * if they begin with an `odd` one, the latter come first. */
typedef struct Results {
  Vector most, fewer;
} Results;

INLINE void addLine(const int side, const bool odd, const real *factors, const Vector *seen,
                    Results *sums)
{
  const int most = seenBy(side), fewer = side - most;
  Vector x[MOST_SEEN];
#  pragma GCC unroll 3
  for (int i = 0; i < most; i++) {
    x[i] = seen[i];
    KEEP_LOADED(x[i]); /* else GCC multiplies before it is known what is stored, and rounds */
    sums->most += broadcast(factors[2 * i]) * x[i];
  }
#  pragma GCC unroll 2
  for (int i = 0; i < fewer; i++)
    sums->fewer += broadcast(factors[2 * i + 1]) * x[odd ? i : i + 1];
}

INLINE void storeResults(const bool odd, const bool ends, real *y, int64_t columns, Results sums)
{
  const Vector first = odd ? sums.fewer : sums.most, second = odd ? sums.most : sums.fewer;
  storeInTurns(y, ends ? columns : 2 * LANES, first, second);
}

/* Sums up all rows, two with each line that is the last to reach them. */
INLINE void sumStrip(const int side, const bool odd, const int vectors, const bool ends,
                     const SpreadSums *of, const real *factors, const Strip *strip)
{
  const int64_t first = of->above >> 1,
                end = (of->above + of->rows + 1) >> 1; /* halves, rounded down */
  const int newest = seenBy(side) - 1;
  Seen seen[MOST_SEEN]; /* the lines that a row sees */
#  pragma GCC unroll 2
  for (int i = 0; i < newest; i++)
    seen[i] = seenOf(side, vectors, ends, of, strip, first - newest + i);
  for (int64_t line = first; line < end; line++) {
    const int64_t row = 2 * line - of->above;
    seen[newest] = seenOf(side, vectors, ends, of, strip, line);
#  pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      real *y = strip->y + row * of->columns + 2 * v * LANES;
      const int64_t columns = strip->columns - 2 * v * LANES;
      Results sums = {broadcast(of->start), broadcast(of->start)}, next = sums;
#  pragma GCC unroll 3
      for (int i = 0; i <= newest; i++)
        addLine(side, odd, factors + 2 * i * side, seen[i].of[v], &sums);
      if (row >= 0)
        storeResults(odd, ends, y, columns, sums);
#  pragma GCC unroll 2
      for (int i = 0; i < newest; i++)
        addLine(side, odd, factors + (2 * i + 1) * side, seen[i + 1].of[v], &next);
      if (row + 1 < of->rows)
        storeResults(odd, ends, y + of->columns, columns, next);
    }
#  pragma GCC unroll 2
    for (int i = 0; i < newest; i++)
      seen[i] = seen[i + 1];
  }
}

/* Sums up all rows of results from column `column` on, of as many columns as vectors hold. */
INLINE void sumColumns(const int side, const bool odd, const int vectors, const SpreadSums *of,
                       const real *factors, int64_t column)
{
  const int last = seenBy(side) - 1;
  const int64_t from =
      ((of->left + 1) >> 1) - last + column / 2; /* the first element that is seen */
  Strip strip = {.x = of->x + from, .y = of->y + column, .columns = of->columns - column};
  if (from >= 0 && from + vectors * LANES + last <= of->width &&
      strip.columns >= 2 * vectors * LANES) {
    sumStrip(side, odd, vectors, false, of, factors, &strip);
    return;
  }
  for (int v = 0; v < vectors; v++)
    for (int i = 0; i <= last; i++) {
      const int64_t begin = from + v * LANES + i;
      strip.inside[v][i] = lanesBetween(-begin, of->width - begin);
    }
  sumStrip(side, odd, vectors, true, of, factors, &strip);
}

INLINE void sumPlane(const int side, const bool odd, const SpreadSums *of)
{
  real factors[MOST_SIDE * MOST_SIDE]; /* which stores to results leave as they are */
  for (int i = 0; i < side * side; i++)
    factors[i] = of->factors[i];
  int64_t column = 0;
  for (; column + 2 * LANES < of->columns; column += 2 * MOST_VECTORS * LANES)
    sumColumns(side, odd, MOST_VECTORS, of, factors, column);
  if (column < of->columns)
    sumColumns(side, odd, 1, of, factors, column);
}

/* Each kind has a function of its own, as in slidingSums.c. */
#  define SUM(name, side, odd)                                                                     \
    static __attribute__((noinline)) void name(const SpreadSums *of)                               \
    {                                                                                              \
      sumPlane(side, odd, of);                                                                     \
    }
SUM(sum3, 3, false)
SUM(sum3Odd, 3, true)
SUM(sum5, 5, false)
SUM(sum5Odd, 5, true)

static void sum(const SpreadSums *of)
{
  const bool odd = of->left % 2 != 0;
  if (of->side == 3)
    (odd ? sum3Odd : sum3)(of);
  else
    (odd ? sum5Odd : sum5)(of);
}

const SimdSpreading SIMD_TABLE(Spreading, THNN_SIMD_LEVEL) = {
    .applies = true,
    .lanes = LANES,
    .sum = sum,
};
#else
const SimdSpreading SIMD_TABLE(Spreading, THNN_SIMD_LEVEL) = {.applies = false};
#endif
