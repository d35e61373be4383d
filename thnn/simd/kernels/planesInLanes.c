/* Sums and maxima of shifted rows with a plane in each lane, the inner loops of depth-wise
 * convolution and of pooling on planes that are too narrow for vectors of neighbouring positions
 * (shiftedRows.c). */
#include "simd/vector/transpose.h"

enum {
  MOST_POSITIONS = 8, /* positions that are summed up at a time */
  MOST_TAPS = 9,      /* taps that are dotted at a time */
  FEW_ELEMENTS = 4    /* elements of each plane for which transposing a square does not pay */
};

/* Elements of each plane in one square, LANES vectors that are transposed. */
INLINE int64_t squareElements(int64_t elements)
{
  return elements < LANES ? elements : LANES;
}

/* Where a square begins: the last one overlaps the one before it, so that all are whole. */
INLINE int64_t squareBegin(int64_t at, int64_t elements)
{
  return at + LANES <= elements || elements < LANES ? at : elements - LANES;
}

INLINE void loadSquare(const bool whole, const PlaneRows *of, int64_t columns, const real *x,
                       Vector *row)
{
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++)
    if (whole)
      row[i] = load(x + i * of->stride);
    else if (i >= of->planes)
      row[i] = (Vector){0};
    else
      row[i] = loadFirst(x + i * of->stride, columns);
}

/* Stores the vectors of a square, whose first element is `at`, where they belong in the rows. */
INLINE void scatterSquare(const PlaneRows *of, int64_t at, const Vector *row, real *y)
{
  int64_t column = at % of->n;
  real *to = y + at / of->n * of->pitch + column * LANES;
  const int64_t gap = of->pitch - of->n * LANES;
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++) {
    store(to, row[i]);
    column++;
    to += LANES + (column == of->n ? gap : 0);
    column = column == of->n ? 0 : column;
  }
}

/* A vector with one element of each plane; the first plane's is at x. */
INLINE Vector collect(const PlaneRows *of, const real *x)
{
  Vector all;
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++)
    all[i] = i < of->planes ? x[i * of->stride] : 0;
  return all;
}

static void loadPlanes(const PlaneRows *of, const real *x, real *y)
{
  const int64_t elements = of->rows * of->n, columns = squareElements(elements);
  for (int64_t i = 0; i < elements; i += LANES) {
    if (elements - i <= FEW_ELEMENTS) {
      for (int64_t e = i; e < elements; e++)
        store(y + e / of->n * of->pitch + e % of->n * LANES, collect(of, x + e));
      break;
    }
    const int64_t at = squareBegin(i, elements);
    Vector row[LANES];
    if (of->planes == LANES && columns == LANES)
      loadSquare(true, of, columns, x + at, row);
    else
      loadSquare(false, of, columns, x + at, row);
    transposeSquare(row);
    if (columns == LANES) {
      scatterSquare(of, at, row, y);
      continue;
    }
    for (int64_t e = 0; e < columns; e++)
      store(y + e / of->n * of->pitch + e % of->n * LANES, row[e]);
  }
}

static void storePlanes(const PlaneRows *of, const real *x, real *y)
{
  const int64_t elements = of->rows * of->n, columns = squareElements(elements);
  for (int64_t i = 0; i < elements; i += LANES) {
    if (elements - i <= FEW_ELEMENTS) {
      for (int64_t p = 0; p < of->planes; p++)
        for (int64_t e = i; e < elements; e++)
          y[p * of->stride + e] = x[e * LANES + p];
      break;
    }
    const int64_t at = squareBegin(i, elements);
    Vector row[LANES];
    if (columns == LANES) {
#pragma GCC unroll 16
      for (int e = 0; e < LANES; e++)
        row[e] = load(x + (at + e) * LANES);
    } else {
      for (int64_t e = 0; e < LANES; e++)
        row[e] = e < columns ? load(x + e * LANES) : (Vector){0};
    }
    transposeSquare(row);
    if (of->planes == LANES && columns == LANES) {
#pragma GCC unroll 16
      for (int p = 0; p < LANES; p++)
        store(y + p * of->stride + at, row[p]);
      continue;
    }
    for (int64_t p = 0; p < of->planes; p++)
      storeFirst(y + p * of->stride + at, columns, row[p]);
  }
}

/* Sums up `positions` positions of a row. */
INLINE void sumPositions(const int positions, const PlaneSums *of, int64_t xStep, const real *x,
                         real *y)
{
  Vector sum[MOST_POSITIONS];
#pragma GCC unroll 8
  for (int i = 0; i < positions; i++)
    sum[i] = load(of->start ? of->start : y + i * of->yStep);
  for (int64_t t = 0; t < of->taps; t++) {
    const Vector factor = load(of->factors + of->factorAt[t]);
    const real *from = x + of->offsets[t];
#pragma GCC unroll 8
    for (int i = 0; i < positions; i++)
      sum[i] += factor * load(from + i * xStep);
  }
#pragma GCC unroll 8
  for (int i = 0; i < positions; i++)
    store(y + i * of->yStep, sum[i]);
}

/* Makes `positions` a constant. */
INLINE void sumSome(int64_t positions, const PlaneSums *of, int64_t xStep, const real *x, real *y)
{
  switch (positions) {
  case 1:
    sumPositions(1, of, xStep, x, y);
    break;
  case 2:
    sumPositions(2, of, xStep, x, y);
    break;
  case 3:
    sumPositions(3, of, xStep, x, y);
    break;
  case 4:
    sumPositions(4, of, xStep, x, y);
    break;
  case 5:
    sumPositions(5, of, xStep, x, y);
    break;
  case 6:
    sumPositions(6, of, xStep, x, y);
    break;
  case 7:
    sumPositions(7, of, xStep, x, y);
    break;
  default:
    sumPositions(MOST_POSITIONS, of, xStep, x, y);
  }
}

/* Cuts rows into runs of nearly equal length: in a short run, each addition waits for the one
 * before. */
INLINE void sumRows(const PlaneSums *of, int64_t xStep)
{
  const int64_t runs = (of->n + MOST_POSITIONS - 1) / MOST_POSITIONS;
  for (int64_t r = 0; r < of->rows; r++)
    for (int64_t run = 0; run < runs; run++) {
      const int64_t begin = of->n * run / runs, end = of->n * (run + 1) / runs;
      sumSome(end - begin, of, xStep, of->x + r * of->xRow + begin * xStep,
              of->y + r * of->yRow + begin * of->yStep);
    }
}

static void sum(const PlaneSums *of)
{
  if (of->xStep == LANES)
    sumRows(of, LANES);
  else if (of->xStep == 2 * LANES)
    sumRows(of, 2 * LANES);
  else
    sumRows(of, of->xStep);
}

/* Adds the products of one row with `taps` taps, which are consecutive in the lists of offsets and
 * sums. */
INLINE void dotRow(const int taps, const int64_t *offsets, int64_t n, int64_t xStep, const real *x,
                   int64_t yStep, const real *y, Vector *sum)
{
  for (int64_t i = 0; i < n; i++) {
    const Vector factor = load(y + i * yStep);
#pragma GCC unroll 9
    for (int t = 0; t < taps; t++)
      sum[t] += factor * load(x + offsets[t] + i * xStep);
  }
}

INLINE void dotTaps(const int taps, const PlaneSums *of, const int64_t *offsets, real *sums)
{
  Vector sum[MOST_TAPS];
#pragma GCC unroll 9
  for (int t = 0; t < taps; t++)
    sum[t] = load(sums + t * LANES);
  for (int64_t r = 0; r < of->rows; r++)
    dotRow(taps, offsets, of->n, of->xStep, of->x + r * of->xRow, of->yStep, of->y + r * of->yRow,
           sum);
#pragma GCC unroll 9
  for (int t = 0; t < taps; t++)
    store(sums + t * LANES, sum[t]);
}

/* Makes `taps` a constant. */
INLINE void dotSome(int64_t taps, const PlaneSums *of, const int64_t *offsets, real *sums)
{
  switch (taps) {
  case 1:
    dotTaps(1, of, offsets, sums);
    break;
  case 2:
    dotTaps(2, of, offsets, sums);
    break;
  case 3:
    dotTaps(3, of, offsets, sums);
    break;
  case 4:
    dotTaps(4, of, offsets, sums);
    break;
  case 5:
    dotTaps(5, of, offsets, sums);
    break;
  case 6:
    dotTaps(6, of, offsets, sums);
    break;
  case 7:
    dotTaps(7, of, offsets, sums);
    break;
  case 8:
    dotTaps(8, of, offsets, sums);
    break;
  default:
    dotTaps(MOST_TAPS, of, offsets, sums);
  }
}

static void dot(const PlaneSums *of, real *sums)
{
  const int64_t groups = (of->taps + MOST_TAPS - 1) / MOST_TAPS;
  for (int64_t group = 0; group < groups; group++) {
    const int64_t begin = of->taps * group / groups, end = of->taps * (group + 1) / groups;
    dotSome(end - begin, of, of->offsets + begin, sums + begin * LANES);
  }
}

/* In lanes where x is greater, *best and *found become x and `place`. */
INLINE void takeGreater(Vector x, Comparison place, Vector *best, Comparison *found)
{
#if defined(__AVX512F__) && defined(THNN_REAL_FLOAT)
  const __mmask16 greater = _mm512_cmp_ps_mask((__m512)x, (__m512)*best, _CMP_GT_OQ);
  *best = (Vector)_mm512_mask_mov_ps((__m512)*best, greater, (__m512)x);
  *found = (Comparison)_mm512_mask_mov_epi32((__m512i)*found, greater, (__m512i)place);
#elif defined(__AVX512F__)
  const __mmask8 greater = _mm512_cmp_pd_mask((__m512d)x, (__m512d)*best, _CMP_GT_OQ);
  *best = (Vector)_mm512_mask_mov_pd((__m512d)*best, greater, (__m512d)x);
  *found = (Comparison)_mm512_mask_mov_epi64((__m512i)*found, greater, (__m512i)place);
#else
  const Comparison greater = x > *best;
  *best = (Vector)((greater & (Comparison)x) | (~greater & (Comparison)*best));
  *found = (greater & place) | (~greater & *found);
#endif
}

static void maxOfWindows(const PlaneWindows *of, real *best, Place *place)
{
  const Comparison zeros = {0}, none = zeros + of->none, tapPlace = zeros + of->tapPlace;
  const Vector start = broadcast(of->start);
  for (int64_t i = 0; i < of->columns; i++) {
    const THNNTapSpan window = of->window[i];
    const Place first = (Place)window.number * of->numberPlace;
    Vector greatest = start;
    Comparison found = none;
    for (int64_t r = 0; r < of->rows; r++) {
      const real *x = of->row[r] + window.first * (int64_t)LANES;
      Comparison here = zeros + (of->rowPlace[r] + first);
      for (int32_t t = 0; t < window.taps; t++, x += of->dilation, here += tapPlace)
        takeGreater(load(x), here, &greatest, &found);
    }
    store(best + i * LANES, greatest);
    store((real *)(place + i * LANES), (Vector)found);
  }
}

static void settle(int64_t n, real *part, double *sums)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    sums[i] += part[i];
    part[i] = 0;
  }
}

static void sumSpans(int64_t n, const THNNRange *spans, const real *x, real *y)
{
  for (int64_t i = 0; i < n; i++) {
    Vector sum = {0};
    for (int64_t j = spans[i].begin; j < spans[i].end; j++)
      sum += load(x + j * LANES);
    store(y + i * LANES, sum);
  }
}

static void divide(int64_t n, real factor, const real *divisors, const real *x, real *y)
{
  for (int64_t i = 0; i < n; i++)
    store(y + i * LANES, load(x + i * LANES) / broadcast(factor * divisors[i]));
}

const SimdPlanes SIMD_TABLE(Planes, THNN_SIMD_LEVEL) = {
    .load = loadPlanes,
    .store = storePlanes,
    .sum = sum,
    .dot = dot,
    .max = maxOfWindows,
    .settle = settle,
    .sumSpans = sumSpans,
    .divide = divide,
};
