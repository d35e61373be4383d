/* Loops of pooling and sampling modules. Windows are taken apart into the rows under them, which are
 * combined column by column, and then into columns. Equal values are told apart by their places, so
 * the two steps choose what one walk through the window, row by row, would have chosen. */
#include "vector.h"

typedef THNN_(Place) Place;

enum { GROUP = 4 }; /* rows that are combined at a time */

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

/* One tap more for each window, or the first. */
INLINE void addTap(int64_t n, int64_t step, const THNN_(Columns) * columns, int64_t tap,
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

/* Windows of neighbouring columns, a constant number of them. */
INLINE void maxOfTaps(int64_t n, int64_t step, int64_t kernel, const THNN_(Columns) * columns,
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

/* One window, of any number of columns. */
static void maxOfWindow(const THNN_(Columns) * columns, const real *best, const Place *place,
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

static void maxOfColumns(int64_t n, const THNN_(Columns) * columns, const real *best,
                         const Place *place, real *chosen, Place *chosenPlace)
{
  const int64_t step = columns->step, kernel = columns->kernel;
  if (n == 1 || kernel < 1)
    for (int64_t i = 0; i < n; i++)
      maxOfWindow(columns, best, place, chosen + i, chosenPlace + i);
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

static void indexOfPlace(int64_t n, const Place *place, int64_t first, int64_t none, int64_t *index)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    index[i] = place[i] < 0 ? none : place[i] + first;
}

/* No difference may be negative. */
static bool areWithin(int64_t n, const int64_t *value, int64_t first, int64_t last)
{
  uint64_t signs = 0;
#pragma omp simd reduction(| : signs)
  for (int64_t i = 0; i < n; i++)
    signs |= ((uint64_t)value[i] - (uint64_t)first) | ((uint64_t)last - (uint64_t)value[i]);
  return signs >> 63 == 0;
}

/* Numbers of elements. Without a sign, one below 0 is as wrong as one that is too large. */
enum { NUMBERS = VECTOR_BYTES / 8, TAP = 0xff };
typedef uint64_t Numbers __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

INLINE Numbers loadNumbers(const int64_t *x)
{
  return *(const Numbers *)x;
}

/* The first n values, followed by zeros. */
INLINE Numbers loadSomeNumbers(int64_t n, const int64_t *x)
{
  int64_t some[NUMBERS] = {0};
  for (int64_t i = 0; i < n; i++)
    some[i] = x[i];
  return loadNumbers(some);
}

/* 0, 1, 2, … */
INLINE Numbers lanes(void)
{
  Numbers number = {0};
  for (int i = 0; i < NUMBERS; i++)
    number[i] = (uint64_t)i;
  return number;
}

INLINE bool isZero(Numbers x)
{
  uint64_t any = 0;
  for (int i = 0; i < NUMBERS; i++)
    any |= x[i];
  return any == 0;
}

/* element = found where inside is all ones; returns the ones where it is not. */
INLINE Numbers storeFound(Numbers found, Numbers inside, int64_t outside, int64_t *element)
{
  *(Numbers *)element = (found & inside) | ((uint64_t)outside & ~inside);
  return ~inside;
}

/* Windows `column` to `column + NUMBERS` of a row. */
INLINE Numbers elementsOfWindows(const THNNTapWindows *w, bool dilated, uint64_t startY,
                                 int64_t column, Numbers packed, int64_t *element)
{
  const uint64_t height = (uint64_t)w->size[1], width = (uint64_t)w->size[2];
  const uint64_t startX = (uint64_t)(w->start[2] + column * w->strideX);
  Numbers z = packed & TAP, y = packed >> 8 & TAP, x = packed >> 16 & TAP;
  if (dilated) {
    z *= (uint64_t)w->dilation[0];
    y *= (uint64_t)w->dilation[1];
    x *= (uint64_t)w->dilation[2];
  }
  z += (uint64_t)w->start[0];
  y += startY;
  x += lanes() * (uint64_t)w->strideX + startX;
  const Numbers inside =
      (Numbers)(z < (uint64_t)w->size[0]) & (Numbers)(y < height) & (Numbers)(x < width);
  return storeFound((z * height + y) * width + x, inside, w->outside, element);
}

INLINE bool elementsOfTapRows(const THNNTapWindows *windows, bool dilated, const int64_t *index,
                              int64_t *element)
{
  const THNNTapWindows w = *windows;
  const int64_t columns = w.columns, last = columns - NUMBERS;
  Numbers bad = {0};
  for (int64_t row = 0; row < w.rows; row++, index += columns, element += columns) {
    const uint64_t startY = (uint64_t)(w.start[1] + row * w.strideY);
    for (int64_t i = 0; i < last; i += NUMBERS)
      bad |= elementsOfWindows(&w, dilated, startY, i, loadNumbers(index + i), element + i);
    if (last >= 0) { /* some of the last vector's once more */
      bad |=
          elementsOfWindows(&w, dilated, startY, last, loadNumbers(index + last), element + last);
    } else {
      int64_t some[NUMBERS];
      const Numbers wrong =
          elementsOfWindows(&w, dilated, startY, 0, loadSomeNumbers(columns, index), some);
      bad |= wrong & (Numbers)(lanes() < (uint64_t)columns);
      for (int64_t i = 0; i < columns; i++)
        element[i] = some[i];
    }
  }
  return isZero(bad);
}

static bool elementsOfTaps(const THNNTapWindows *windows, const int64_t *index, int64_t *element)
{
  const int64_t *dilation = windows->dilation;
  return dilation[0] == 1 && dilation[1] == 1 && dilation[2] == 1
             ? elementsOfTapRows(windows, false, index, element)
             : elementsOfTapRows(windows, true, index, element);
}

INLINE Numbers elementsAt(const THNNCorners *c, int64_t at, const int64_t *row,
                          const int64_t *column, int64_t *element)
{
  const Numbers down = loadNumbers(row + at) - 1, right = loadNumbers(column + at) - 1;
  const Numbers inside =
      (Numbers)(down < loadNumbers(c->down + at)) & (Numbers)(right < loadNumbers(c->right + at));
  return storeFound(loadNumbers(c->corner + at) + down * (uint64_t)c->width + right, inside,
                    c->outside, element + at);
}

static bool elementsOfRegions(const THNNCorners *corners, const int64_t *row, const int64_t *column,
                              int64_t *element)
{
  const THNNCorners c = *corners;
  const int64_t last = c.n - NUMBERS;
  if (last >= 0) {
    Numbers bad = {0};
    for (int64_t i = 0; i < last; i += NUMBERS)
      bad |= elementsAt(&c, i, row, column, element);
    bad |= elementsAt(&c, last, row, column, element);
    return isZero(bad);
  }
  bool all = true;
  for (int64_t i = 0; i < c.n; i++) {
    const uint64_t down = (uint64_t)row[i] - 1, right = (uint64_t)column[i] - 1;
    const bool inside = down < (uint64_t)c.down[i] && right < (uint64_t)c.right[i];
    element[i] = inside ? c.corner[i] + (int64_t)(down * (uint64_t)c.width + right) : c.outside;
    all = all && inside;
  }
  return all;
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

static void interleave(int64_t n, const real *x, const real *y, real *z)
{
  for (int64_t i = 0; i < n; i++) {
    z[2 * i] = x[i];
    z[2 * i + 1] = y[i];
  }
}

const THNN_(SimdPooling) SIMD_TABLE(Pooling, THNN_SIMD_LEVEL) = {
    .areWithin = areWithin,
    .elementsOfTaps = elementsOfTaps,
    .elementsOfRegions = elementsOfRegions,
    .maxOfRows = maxOfRows,
    .maxOfColumns = maxOfColumns,
    .indexOfPlace = indexOfPlace,
    .sumOfRows = sumOfRows,
    .sumOfColumns = sumOfColumns,
    .scale = scale,
    .multiplyAdd = multiplyAdd,
    .divide = divide,
    .interpolate = interpolate,
    .repeat = repeat,
    .interleave = interleave,
};
