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

enum { NUMBERS = VECTOR_BYTES / 8, TAP = 0xff };
typedef uint64_t Numbers __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

INLINE Numbers loadNumbers(const int64_t *x)
{
  return *(const Numbers *)x;
}

/* 0, 1, 2, … */
INLINE Numbers lanes(void)
{
  Numbers number = {0};
  for (int i = 0; i < NUMBERS; i++)
    number[i] = (uint64_t)i;
  return number;
}

/* Whether the sign of any is set: what must not be below 0 is joined by `|`. */
INLINE bool anySign(Numbers x)
{
  uint64_t signs = 0;
  for (int i = 0; i < NUMBERS; i++)
    signs |= x[i];
  return signs >> 63;
}

/* Where the taps of windows `column` to `column + NUMBERS` of a row lie. */
typedef struct Places {
  Numbers z, y, x;
} Places;

INLINE Places placesOf(const THNNTapWindows *w, bool dilated, uint64_t startY, int64_t column,
                       Numbers packed)
{
  const uint64_t startX = (uint64_t)(w->start[2] + column * w->strideX);
  Places at = {packed & TAP, packed >> 8 & TAP, packed >> 16 & TAP};
  if (dilated) {
    at.z *= (uint64_t)w->dilation[0];
    at.y *= (uint64_t)w->dilation[1];
    at.x *= (uint64_t)w->dilation[2];
  }
  at.z += (uint64_t)w->start[0];
  at.y += startY;
  at.x += lanes() * (uint64_t)w->strideX + startX;
  return at;
}

/* A sign where one of them is outside. */
INLINE Numbers outsideOf(const THNNTapWindows *w, Places at)
{
  return at.z | ((uint64_t)w->size[0] - 1 - at.z) | at.y | ((uint64_t)w->size[1] - 1 - at.y) |
         at.x | ((uint64_t)w->size[2] - 1 - at.x);
}

INLINE Numbers elementsOf(const THNNTapWindows *w, Places at)
{
  return (at.z * (uint64_t)w->size[1] + at.y) * (uint64_t)w->size[2] + at.x;
}

/* Goes through the windows in vectors, some of a row's last one once more. Finds the elements, or
 * without room for them returns signs where one is outside. */
INLINE Numbers throughTaps(const THNNTapWindows *windows, bool dilated, const int64_t *index,
                           int64_t *element)
{
  const THNNTapWindows w = *windows;
  const int64_t columns = w.columns, last = columns - NUMBERS;
  Numbers outside = {0};
  for (int64_t row = 0; row < w.rows; row++, index += columns) {
    const uint64_t startY = (uint64_t)(w.start[1] + row * w.strideY);
    for (int64_t next = 0; next < columns; next += NUMBERS) {
      const int64_t i = next < last ? next : last;
      const Places at = placesOf(&w, dilated, startY, i, loadNumbers(index + i));
      if (element)
        *(Numbers *)(element + row * columns + i) = elementsOf(&w, at);
      else
        outside |= outsideOf(&w, at);
    }
  }
  return outside;
}

/* Rows shorter than a vector, one window after the other. */
static bool throughShortRows(const THNNTapWindows *w, const int64_t *index, int64_t *element)
{
  int64_t outside = 0;
  for (int64_t row = 0; row < w->rows; row++)
    for (int64_t i = 0; i < w->columns; i++, index++) {
      const int64_t z = w->start[0] + (*index & TAP) * w->dilation[0];
      const int64_t y = w->start[1] + row * w->strideY + (*index >> 8 & TAP) * w->dilation[1];
      const int64_t x = w->start[2] + i * w->strideX + (*index >> 16 & TAP) * w->dilation[2];
      outside |= z | (w->size[0] - 1 - z) | y | (w->size[1] - 1 - y) | x | (w->size[2] - 1 - x);
      if (element)
        *element++ = (z * w->size[1] + y) * w->size[2] + x;
    }
  return outside >= 0;
}

static bool isDilated(const THNNTapWindows *w)
{
  return w->dilation[0] != 1 || w->dilation[1] != 1 || w->dilation[2] != 1;
}

static bool areTaps(const THNNTapWindows *windows, const int64_t *index)
{
  if (windows->columns < NUMBERS)
    return throughShortRows(windows, index, NULL);
  return !anySign(isDilated(windows) ? throughTaps(windows, true, index, NULL)
                                     : throughTaps(windows, false, index, NULL));
}

static void elementsOfTaps(const THNNTapWindows *windows, const int64_t *index, int64_t *element)
{
  if (windows->columns < NUMBERS)
    throughShortRows(windows, index, element);
  else if (isDilated(windows))
    throughTaps(windows, true, index, element);
  else
    throughTaps(windows, false, index, element);
}

static bool areInRegions(const THNNCorners *corners, const int64_t *row, const int64_t *column)
{
  const int64_t *down = corners->down, *right = corners->right, n = corners->n;
  uint64_t outside = 0;
  Numbers signs = {0};
  int64_t i = 0;
  for (; i + NUMBERS <= n; i += NUMBERS) {
    const Numbers y = loadNumbers(row + i), x = loadNumbers(column + i);
    signs |= (y - 1) | (loadNumbers(down + i) - y) | (x - 1) | (loadNumbers(right + i) - x);
  }
  for (; i < n; i++)
    outside |= ((uint64_t)row[i] - 1) | ((uint64_t)down[i] - (uint64_t)row[i]) |
               ((uint64_t)column[i] - 1) | ((uint64_t)right[i] - (uint64_t)column[i]);
  return !anySign(signs | outside);
}

static void elementsOfRegions(const THNNCorners *corners, const int64_t *row, const int64_t *column,
                              int64_t *element)
{
  const int64_t *corner = corners->corner, width = corners->width;
#pragma omp simd
  for (int64_t i = 0; i < corners->n; i++)
    element[i] = corner[i] + (row[i] - 1) * width + column[i] - 1;
}

static void elementsOfFrames(int64_t n, int64_t first, int64_t frameSize, const int64_t *frame,
                             int64_t *element)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const int64_t found = first + i + frame[i] * frameSize;
    element[i] = frame[i] < 0 ? -1 : found;
  }
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
    .areTaps = areTaps,
    .elementsOfTaps = elementsOfTaps,
    .areInRegions = areInRegions,
    .elementsOfRegions = elementsOfRegions,
    .elementsOfFrames = elementsOfFrames,
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
