/* Loops of pooling and sampling modules. A window is reduced in two steps: the rows under it are
 * combined column by column, and then its columns. Places decide between equal values, so that the
 * two steps choose what one walk through the window, row by row, would choose. */
#include "simd/tuning.h"
#include "simd/vector/transpose.h"
#include "simd/vector/vector.h"

enum { GROUP = 4 }; /* rows that are combined at a time */

/* Where parts of vectors can be loaded, two windows in a row take as long as with a plane in each lane,
 * and more of them up to a third of that. */
#if defined(__AVX__)
enum { FEWEST_ALTERNATE = 2 };
#else
enum { FEWEST_ALTERNATE = LANES };
#endif

INLINE void maxOfGroup(int64_t n, int64_t count, const real *const *rows, const Place *places,
                       bool first, real start, real *best, Place *place)
{
  const real *row[GROUP];
  Place rowPlace[GROUP];
  for (int64_t r = 0; r < count; r++) {
    row[r] = rows[r];
    rowPlace[r] = places[r];
  }
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    real greatest = first ? start : best[i];
    Place found = first ? -1 : place[i];
    for (int64_t r = 0; r < count; r++) {
      const real value = row[r][i];
      const bool take = value > greatest;
      greatest = take ? value : greatest;
      found = take ? rowPlace[r] : found;
    }
    best[i] = greatest;
    place[i] = found;
  }
}

INLINE void maxOfFewRows(int64_t n, int64_t count, const real *const *rows, const Place *places,
                         bool first, real start, real *best, Place *place)
{
  switch (count) {
  case 0:
    maxOfGroup(n, 0, rows, places, first, start, best, place);
    break;
  case 1:
    maxOfGroup(n, 1, rows, places, first, start, best, place);
    break;
  case 2:
    maxOfGroup(n, 2, rows, places, first, start, best, place);
    break;
  case 3:
    maxOfGroup(n, 3, rows, places, first, start, best, place);
    break;
  default:
    maxOfGroup(n, GROUP, rows, places, first, start, best, place);
  }
}

static void maxOfRows(int64_t n, int64_t count, const real *const *rows, const Place *places,
                      real start, real *best, Place *place)
{
  maxOfFewRows(n, count, rows, places, true, start, best, place);
  for (int64_t r = GROUP; r < count; r += GROUP)
    maxOfFewRows(n, count - r, rows + r, places + r, false, start, best, place);
}

/* Compares tap `tap` of each window with the best so far, or with the start value if it is the
 * first tap. */
INLINE void addTap(int64_t n, int64_t step, const ColumnWindows *columns, int64_t tap,
                   const real *best, const Place *place, real *chosen, Place *chosenPlace)
{
  const int64_t at = tap * columns->dilation;
  const Place shift = columns->firstPlace + (Place)tap * columns->tapPlace;
  const Place windowPlace = columns->windowPlace;
  const real start = columns->start;
#pragma omp simd
  for (Place i = 0; i < (Place)n; i++) {
    const real value = best[at + i * step], other = tap ? chosen[i] : start;
    const Place here = place[at + i * step] + shift + i * windowPlace;
    const Place there = tap ? chosenPlace[i] : -1;
    const bool take = (value > other) | ((value == other) & (here < there));
    chosen[i] = take ? value : other;
    chosenPlace[i] = take ? here : there;
  }
}

/* Windows of neighbouring columns; `step` and `kernel` are constants where this is called. */
INLINE void maxOfTaps(int64_t n, int64_t step, int64_t kernel, const ColumnWindows *columns,
                      const real *best, const Place *place, real *chosen, Place *chosenPlace)
{
  const Place firstPlace = columns->firstPlace, windowPlace = columns->windowPlace;
  const Place tapPlace = columns->tapPlace;
  const real start = columns->start;
#pragma omp simd
  for (Place i = 0; i < (Place)n; i++) {
    real value = start;
    Place found = -1;
    for (Place t = 0; t < (Place)kernel; t++) {
      const real next = best[i * step + t];
      const Place here = place[i * step + t] + firstPlace + i * windowPlace + t * tapPlace;
      const bool take = (next > value) | ((next == value) & (here < found));
      value = take ? next : value;
      found = take ? here : found;
    }
    chosen[i] = value;
    chosenPlace[i] = found;
  }
}

/* One window, with any number of columns. */
static void maxOfWindow(const ColumnWindows *columns, const real *best, const Place *place,
                        real *chosen, Place *chosenPlace)
{
  real value = columns->start;
  Place found = -1;
  for (int64_t t = 0; t < columns->kernel; t++) {
    const real next = best[t * columns->dilation];
    const Place here =
        place[t * columns->dilation] + columns->firstPlace + (Place)t * columns->tapPlace;
    if (next > value || (next == value && here < found)) {
      value = next;
      found = here;
    }
  }
  *chosen = value;
  *chosenPlace = found;
}

static void maxOfColumns(int64_t n, const ColumnWindows *columns, const real *best,
                         const Place *place, real *chosen, Place *chosenPlace)
{
  const int64_t step = columns->step, kernel = columns->kernel;
  if (n == 1 || kernel < 1)
    for (int64_t i = 0; i < n; i++)
      maxOfWindow(columns, best, place, chosen + i, chosenPlace + i);
  else if (columns->dilation == 1 && step == 1 && kernel == 2)
    maxOfTaps(n, 1, 2, columns, best, place, chosen, chosenPlace);
  else if (columns->dilation == 1 && step == 1 && kernel == 3)
    maxOfTaps(n, 1, 3, columns, best, place, chosen, chosenPlace);
  else if (columns->dilation == 1 && step == 2 && kernel == 2)
    maxOfTaps(n, 2, 2, columns, best, place, chosen, chosenPlace);
  else if (columns->dilation == 1 && step == 2 && kernel == 3)
    maxOfTaps(n, 2, 3, columns, best, place, chosen, chosenPlace);
  else if (step == 1)
    for (int64_t t = 0; t < kernel; t++)
      addTap(n, 1, columns, t, best, place, chosen, chosenPlace);
  else
    for (int64_t t = 0; t < kernel; t++)
      addTap(n, step, columns, t, best, place, chosen, chosenPlace);
}

/* The greatest of two numbers; the second where the first is NaN. */
INLINE real greater(real value, real other)
{
  return value > other ? value : other;
}

INLINE void greatestOfGroup(int64_t n, int64_t count, const real *const *rows, real start,
                            bool first, real *best)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    real greatest = first ? start : best[i];
    for (int64_t r = 0; r < count; r++)
      greatest = greater(rows[r][i], greatest);
    best[i] = greatest;
  }
}

static void greatestOfRows(int64_t n, int64_t count, const real *const *rows, real start,
                           real *best)
{
  if (count == 2)
    greatestOfGroup(n, 2, rows, start, true, best);
  else if (count == 3)
    greatestOfGroup(n, 3, rows, start, true, best);
  else
    greatestOfGroup(n, 0, rows, start, true, best);
  for (int64_t r = 0; r < count && count != 2 && count != 3; r++)
    greatestOfGroup(n, 1, rows + r, start, false, best);
}

INLINE void greatestOfTaps(int64_t n, int64_t step, int64_t kernel, int64_t dilation, real start,
                           const real *best, real *chosen)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    real greatest = start;
    for (int64_t t = 0; t < kernel; t++)
      greatest = greater(best[i * step + t * dilation], greatest);
    chosen[i] = greatest;
  }
}

static void greatestOfColumns(int64_t n, const ColumnWindows *columns, const real *best,
                              real *chosen)
{
  const int64_t step = columns->step, kernel = columns->kernel, dilation = columns->dilation;
  const real start = columns->start;
  if (dilation == 1 && step == 2 && kernel == 2)
    greatestOfTaps(n, 2, 2, 1, start, best, chosen);
  else if (dilation == 1 && step == 2 && kernel == 3)
    greatestOfTaps(n, 2, 3, 1, start, best, chosen);
  else if (dilation == 1 && step == 1 && kernel == 3)
    greatestOfTaps(n, 1, 3, 1, start, best, chosen);
  else
    greatestOfTaps(n, step, kernel, dilation, start, best, chosen);
}

/* The same in each lane. */
INLINE Vector greaterLanes(Vector value, Vector other)
{
#if defined(__AVX512F__) && defined(THNN_REAL_FLOAT)
  return (Vector)_mm512_max_ps((__m512)value, (__m512)other);
#elif defined(__AVX512F__)
  return (Vector)_mm512_max_pd((__m512d)value, (__m512d)other);
#elif defined(__AVX__) && defined(THNN_REAL_FLOAT)
  return (Vector)_mm256_max_ps((__m256)value, (__m256)other);
#elif defined(__AVX__)
  return (Vector)_mm256_max_pd((__m256d)value, (__m256d)other);
#elif defined(__SSE2__) && defined(THNN_REAL_FLOAT)
  return (Vector)_mm_max_ps((__m128)value, (__m128)other);
#elif defined(__SSE2__)
  return (Vector)_mm_max_pd((__m128d)value, (__m128d)other);
#else
  const Comparison greater = value > other;
  return (Vector)((greater & (Comparison)value) | (~greater & (Comparison)other));
#endif
}

/* Some lanes of a vector of windows, and of the two vectors of columns that they see. */
typedef struct AlternateLanes {
  int64_t windows;
  Lanes left, right;
} AlternateLanes;

INLINE Vector loadThose(const real *x, const Lanes *lanes)
{
  return lanes ? loadLanes(x, *lanes) : load(x);
}

/* Goes down a vector of windows, or without `lanes` NULL some of its lanes. Of a row, two vectors of
 * columns are separated; the last one of a whole vector of windows of 3x3 sees one more. Rows that
 * two windows see are loaded once. */
INLINE void greatestDown(const AlternateWindows *windows, const int64_t kernel,
                         const AlternateLanes *lanes, const real *x, real *y)
{
  const Lanes *left = lanes ? &lanes->left : NULL, *right = lanes ? &lanes->right : NULL;
  const int64_t step = windows->rowStep, over = kernel == 3 && !lanes ? 2 * LANES : 0;
  const real start = windows->start;
  Vector a, b;
  real c;
  for (int64_t i = 0; i < windows->rows; i++, x += 2 * step, y += windows->columns) {
    if (kernel == 2 || i == 0)
      a = loadThose(x, left), b = loadThose(x + LANES, right), c = x[over];
    Vector lower = greaterLanes(a, broadcast(start)), upper = greaterLanes(b, broadcast(start));
    real last = greater(c, start);
    for (int64_t r = 1; r < kernel; r++) {
      const real *row = x + r * step;
      a = loadThose(row, left), b = loadThose(row + LANES, right), c = row[over];
      lower = greaterLanes(a, lower), upper = greaterLanes(b, upper), last = greater(c, last);
    }
    const Vector first = evenLanes(lower, upper);
    Vector greatest = greaterLanes(oddLanes(lower, upper), first);
    if (kernel == 3)
      greatest = greaterLanes(nextLanes(first, broadcast(last)), greatest);
    if (lanes)
      storeFirst(y, lanes->windows, greatest);
    else
      store(y, greatest);
  }
}

/* Fewer windows than lanes. */
static void greatestOfFewAlternate(const AlternateWindows *windows, const real *x, real *y)
{
  const int64_t columns = 2 * windows->count + windows->kernel - 2;
  const int64_t left = columns < LANES ? columns : LANES;
  const AlternateLanes lanes = {windows->count, firstLanes(left), firstLanes(columns - left)};
  if (windows->kernel == 2)
    greatestDown(windows, 2, &lanes, x, y);
  else
    greatestDown(windows, 3, &lanes, x, y);
}

static void greatestOfAlternate(const AlternateWindows *windows, const real *x, real *y)
{
  const int64_t n = windows->count;
  if (n < LANES) {
    greatestOfFewAlternate(windows, x, y);
    return;
  }
  for (int64_t i = 0; i < n; i += LANES) { /* the last vector overlaps the one before it */
    const int64_t at = i + LANES <= n ? i : n - LANES;
    if (windows->kernel == 2)
      greatestDown(windows, 2, NULL, x + 2 * at, y + at);
    else
      greatestDown(windows, 3, NULL, x + 2 * at, y + at);
  }
}

INLINE void maxOfFewTaps(int64_t n, const Place *at, int64_t taps, const Place *offsets,
                         const real *x, bool first, real start, real *best, Place *place)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    real greatest = first ? start : best[i];
    Place found = first ? -1 : place[i];
    for (int64_t t = 0; t < taps; t++) {
      const Place here = at[i] + offsets[t];
      const real value = x[here];
      const bool take = value > greatest;
      greatest = take ? value : greatest;
      found = take ? here : found;
    }
    best[i] = greatest;
    place[i] = found;
  }
}

static void maxAround(int64_t n, const Place *at, int64_t taps, const Place *offsets, const real *x,
                      real start, real *best, Place *place)
{
  int64_t t = (taps - 1) % GROUP + 1; /* taps of the first turn */
  switch (t) {
  case 1:
    maxOfFewTaps(n, at, 1, offsets, x, true, start, best, place);
    break;
  case 2:
    maxOfFewTaps(n, at, 2, offsets, x, true, start, best, place);
    break;
  case 3:
    maxOfFewTaps(n, at, 3, offsets, x, true, start, best, place);
    break;
  default:
    maxOfFewTaps(n, at, GROUP, offsets, x, true, start, best, place);
  }
  for (; t < taps; t += GROUP)
    maxOfFewTaps(n, at, GROUP, offsets + t, x, false, start, best, place);
}

INLINE void sumOfGroup(int64_t n, int64_t count, const real *const *rows, bool first, real *sum)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    real s = first ? 0 : sum[i];
    for (int64_t r = 0; r < count; r++)
      s += rows[r][i];
    sum[i] = s;
  }
}

INLINE void sumOfFewRows(int64_t n, int64_t count, const real *const *rows, bool first, real *sum)
{
  switch (count) {
  case 0:
    sumOfGroup(n, 0, rows, first, sum);
    break;
  case 1:
    sumOfGroup(n, 1, rows, first, sum);
    break;
  case 2:
    sumOfGroup(n, 2, rows, first, sum);
    break;
  case 3:
    sumOfGroup(n, 3, rows, first, sum);
    break;
  default:
    sumOfGroup(n, GROUP, rows, first, sum);
  }
}

static void sumOfRows(int64_t n, int64_t count, const real *const *rows, real *sum)
{
  sumOfFewRows(n, count, rows, true, sum);
  for (int64_t r = GROUP; r < count; r += GROUP)
    sumOfFewRows(n, count - r, rows + r, false, sum);
}

INLINE void sumOfTaps(int64_t n, int64_t step, int64_t kernel, const real *x, real *sum)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    real s = 0;
    for (int64_t t = 0; t < kernel; t++)
      s += x[i * step + t];
    sum[i] = s;
  }
}

static void sumOfColumns(int64_t n, int64_t step, int64_t kernel, const real *x, real *sum)
{
  if (step == 1 && kernel == 2)
    sumOfTaps(n, 1, 2, x, sum);
  else if (step == 1 && kernel == 3)
    sumOfTaps(n, 1, 3, x, sum);
  else if (step == 2 && kernel == 2)
    sumOfTaps(n, 2, 2, x, sum);
  else if (step == 2 && kernel == 3)
    sumOfTaps(n, 2, 3, x, sum);
  else
    sumOfTaps(n, step, kernel, x, sum);
}

typedef Place Places __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(Place)), may_alias));

/* A vector of sums of spans that begin one element apart: adds the first element of each span, then
 * the second of each, … */
INLINE Vector sumOfSteps(int64_t length, const real *x)
{
  Vector sum = load(x);
  for (int64_t t = 1; t < length; t++)
    sum += load(x + t);
  return sum;
}

INLINE Vector sumOfNearSpans(int64_t most, const Place *index, const Place *count, const real *x)
{
  Vector sum = {0};
#if defined(VECTOR_PERMUTES)
  const Places from = *(const Places *)index, end = *(const Places *)count;
  for (Place t = 0; t < (Place)most; t++)
    sum += keepWhere(end > t, permute(load(x + t), from));
#else
  (void)most;
  for (int l = 0; l < LANES; l++)
    for (Place t = 0; t < count[l]; t++)
      sum[l] += x[index[l] + t];
#endif
  return sum;
}

static void sumOfFarSpans(int64_t n, const THNNRange *spans, const real *x, real *y)
{
  for (int64_t i = 0; i < n; i++) {
    real sum = 0;
    for (int64_t j = spans[i].begin; j < spans[i].end; j++)
      sum += x[j];
    y[i] = sum;
  }
}

static void sumOfSpans(int64_t n, const Spans *of, const real *x, real *y)
{
  for (int64_t i = 0; i < n; i += LANES) {
    const THNNSpanVector vector = of->vectors[i / LANES];
    const real *from = x + of->spans[i].begin;
    const int64_t lanes = n - i < LANES ? n - i : LANES;
    if (vector.kind == THNN_STEPS)
      store(y + i, sumOfSteps(vector.most, from));
    else if (vector.kind == THNN_FAR_SPANS)
      sumOfFarSpans(lanes, of->spans + i, x, y + i);
    else if (lanes == LANES)
      store(y + i, sumOfNearSpans(vector.most, of->index + i, of->count + i, from));
    else
      storeFirst(y + i, lanes, sumOfNearSpans(vector.most, of->index + i, of->count + i, from));
  }
}

static void scale(int64_t n, real factor, const real *x, real *y)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = factor * x[i];
}

static void multiplyAdd(int64_t n, const real *x, const real *y, const real *z, real *sum)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    sum[i] = x[i] * y[i] + z[i];
}

static void divide(int64_t n, real factor, const real *divisors, const real *x, real *y)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] / (factor * divisors[i]);
}

static void interpolate(int64_t n, const Place *before, const Place *after, const real *share,
                        const real *x, real *y)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    y[i] = (1 - share[i]) * x[before[i]] + share[i] * x[after[i]];
}

static void repeat(int64_t n, const real *x, int64_t times, real *y)
{
  if (times == 2)
    for (int64_t i = 0; i < n; i++) {
      y[2 * i] = x[i];
      y[2 * i + 1] = x[i];
    }
  else
    for (int64_t i = 0; i < n; i++)
      for (int64_t t = 0; t < times; t++)
        y[i * times + t] = x[i];
}

static void repeatRow(int64_t n, const real *x, int64_t times, real *y)
{
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const Vector row = load(x + i);
    for (int64_t t = 0; t < times; t++)
      store(y + t * n + i, row);
  }
  if (i == n)
    return;
  const Vector row = loadFirst(x + i, n - i);
  for (int64_t t = 0; t < times; t++)
    storeFirst(y + t * n + i, n - i, row);
}

const SimdPooling SIMD_TABLE(Pooling, THNN_SIMD_LEVEL) = {
    .maxOfRows = maxOfRows,
    .maxOfColumns = maxOfColumns,
    .greatestOfRows = greatestOfRows,
    .greatestOfColumns = greatestOfColumns,
    .greatestOfAlternate = greatestOfAlternate,
    .fewestAlternate = FEWEST_ALTERNATE,
    .maxAround = maxAround,
    .sumOfRows = sumOfRows,
    .sumOfColumns = sumOfColumns,
    .sumOfSpans = sumOfSpans,
    .scale = scale,
    .multiplyAdd = multiplyAdd,
    .divide = divide,
    .interpolate = interpolate,
    .repeat = repeat,
    .repeatRow = repeatRow,
};
