/* Fourier transforms of tiles of 16x16 elements and of lines of 16, with a lane for each plane, and of
 * 16 frames, with a lane for each of their reals.
 *
 * Of a tile, rows are transformed first, then columns. The transform of 16 reals is kept as 16
 * reals: the real parts of coefficients 0 to 8 at their numbers, the imaginary part of coefficient
 * k, from 1 to 7, at 16 - k. So columns 0 and 8 of the transformed rows are real, and columns k and
 * 16 - k are the two parts of a complex one.
 *
 * A transform of 16 is one of 8 of x[n] + x[n + 8], for the even coefficients, and for the odd ones
 * one of 4 of the complex (x[n] - x[n + 8] - i (x[n + 4] - x[n + 12])) w^n, where w is the 16th root
 * of unity exp(-2 pi i / 16): these are coefficients 1, 5, 9 and 13, and the last two the conjugates
 * of 7 and 3. */
#include "simd/vector/inside.h"
#include "simd/vector/prefetch.h"
#include "simd/vector/transpose.h"

#include "simd/kernels/fourier.h"

enum { SIDE = THNN_FOURIER_SIDE, HALF = SIDE / 2, PARTS = SIDE / LANES, NEXT = SIDE + HALF };

/* sin(pi / 4), cos(pi / 8), and the tangent of pi / 8. */
#define DIAGONAL ((real)0.70710678118654752440)
#define NEAR_COSINE ((real)0.92387953251128675613)
#define NEAR_TANGENT ((real)0.41421356237309504880)

typedef struct Complex {
  Vector re, im;
} Complex;

/* Coefficients of four complex elements at positions 1, 5, 9 and 13, by the transform of 4. */
INLINE void transformFour(const Complex *u, Complex *y)
{
  const Vector evenRe = u[0].re + u[2].re, evenIm = u[0].im + u[2].im;
  const Vector oddRe = u[0].re - u[2].re, oddIm = u[0].im - u[2].im;
  const Vector plusRe = u[1].re + u[3].re, plusIm = u[1].im + u[3].im;
  const Vector minusRe = u[1].re - u[3].re, minusIm = u[1].im - u[3].im;
  y[0] = (Complex){evenRe + plusRe, evenIm + plusIm};
  y[1] = (Complex){oddRe + minusIm, oddIm - minusRe};
  y[2] = (Complex){evenRe - plusRe, evenIm - plusIm};
  y[3] = (Complex){oddRe - minusIm, oddIm + minusRe};
}

/* Transforms 16 reals, of which with `few`, a constant where this is called, the second half is 0. */
INLINE void transformLine(const bool few, const Vector *x, Vector *y)
{
  Vector sum[HALF], difference[HALF];
#pragma GCC unroll 8
  for (int i = 0; i < HALF; i++) {
    sum[i] = difference[i] = x[i];
    if (!few) {
      sum[i] += x[i + HALF];
      difference[i] -= x[i + HALF];
    }
  }
  const Vector s0 = sum[0] + sum[4], s1 = sum[1] + sum[5];
  const Vector s2 = sum[2] + sum[6], s3 = sum[3] + sum[7];
  const Vector d0 = sum[0] - sum[4], d1 = sum[1] - sum[5];
  const Vector d2 = sum[2] - sum[6], d3 = sum[3] - sum[7];
  const Vector even = s0 + s2, odd = s1 + s3;
  y[0] = even + odd;
  y[8] = even - odd;
  y[4] = s0 - s2;
  y[12] = s3 - s1;
  const Vector less = d1 - d3, more = d1 + d3;
  y[2] = d0 + DIAGONAL * less;
  y[6] = d0 - DIAGONAL * less;
  y[14] = -d2 - DIAGONAL * more;
  y[10] = d2 - DIAGONAL * more;
  /* (a - ib)(cos - i sin) is a cos - b sin - i (b cos + a sin), of which the cosine, or the sine, is
   * taken out. */
  const Vector *d = difference;
  const Complex u[] = {
      {d[0], -d[4]},
      {NEAR_COSINE * (d[1] - NEAR_TANGENT * d[5]), -NEAR_COSINE * (d[5] + NEAR_TANGENT * d[1])},
      {DIAGONAL * (d[2] - d[6]), -DIAGONAL * (d[6] + d[2])},
      {NEAR_COSINE * (NEAR_TANGENT * d[3] - d[7]), -NEAR_COSINE * (NEAR_TANGENT * d[7] + d[3])}};
  Complex of[4];
  transformFour(u, of);
  y[1] = of[0].re;
  y[15] = of[0].im;
  y[5] = of[1].re;
  y[11] = of[1].im;
  y[7] = of[2].re;
  y[9] = -of[2].im;
  y[3] = of[3].re;
  y[13] = -of[3].im;
}

/* Half of 16 times the inverse transform, of coefficients of which 0 and 8 are halved. */
INLINE void transformBack(const Vector *y, Vector *x)
{
  const Vector even = y[0] + y[8], odd = y[0] - y[8];
  const Vector p[] = {even + y[4], odd - y[12], even - y[4], odd + y[12]};
  const Vector a = y[2] - y[6], b = y[14] + y[10];
  const Vector q[] = {y[2] + y[6], DIAGONAL * (a - b), y[10] - y[14], -DIAGONAL * (a + b)};
  const Complex given[] = {{y[1], -y[15]}, {y[5], -y[11]}, {y[7], y[9]}, {y[3], y[13]}};
  Complex v[4]; /* conjugates, as the transform of 4 is not the inverse one */
  transformFour(given, v);
  const Vector z[] = {v[0].re,
                      NEAR_COSINE * (v[1].re + NEAR_TANGENT * v[1].im),
                      DIAGONAL * (v[2].re + v[2].im),
                      NEAR_COSINE * (NEAR_TANGENT * v[3].re + v[3].im),
                      v[0].im,
                      NEAR_COSINE * (v[1].im - NEAR_TANGENT * v[1].re),
                      DIAGONAL * (v[2].im - v[2].re),
                      NEAR_COSINE * (NEAR_TANGENT * v[3].im - v[3].re)};
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) {
    const Vector first = p[i] + q[i], second = p[i] - q[i];
    x[i] = first + z[i];
    x[i + HALF] = first - z[i];
    x[i + 4] = second + z[i + 4];
    x[i + 4 + HALF] = second - z[i + 4];
  }
}

/* ---- Forward --------------------------------------------------------------------------------- */

/* Prefetches what the next tile of the row sees or covers: planes are too far apart for the hardware to
 * do so. WHY, READ or WRITE, must be a constant. */
#define fetchNext(LINE, WHY)                                                                       \
  __builtin_prefetch(THNN_ahead(LINE, NEXT *(int64_t)sizeof(real)), WHY, FIRST_LEVEL)

/* Finds which lanes of each part of a row are columns of the tile inside the plane. */
INLINE void findInside(const FourierTile *of, InsideLanes *inside)
{
  const int64_t end = of->column + of->columns, width = end < of->width ? end : of->width;
#pragma GCC unroll 8
  for (int part = 0; part < PARTS; part++)
    inside[part] = insideLanes(of->column + part * LANES, width);
}

/* Loads a row of a tile: x[column] has a lane for each plane. */
INLINE void loadRow(const FourierTile *of, const InsideLanes *inside, const real *planes,
                    int64_t row, Vector *x)
{
  const real *line = planes + (of->row + row) * of->width;
  for (int64_t p = 0; p < of->planes; p++)
    fetchNext(line + p * of->step + of->column, READ);
#pragma GCC unroll 8
  for (int part = 0; part < PARTS; part++) {
    for (int p = 0; p < LANES; p++)
      x[part * LANES + p] =
          p < of->planes
              ? loadInsideLanes(line + p * of->step + of->column + part * LANES, inside[part])
              : (Vector){0};
    transposeSquare(x + part * LANES);
  }
}

/* What a tile is in a product of two, and so which numbers are stored for its coefficients. The
 * three products of two complex coefficients a + bi and c + di are a (d - c), b (c + d) and
 * (a + b) c. */
typedef enum Role {
  ELEMENTS,    /* a, b, a + b */
  TAPS,        /* d - c, c + d, c of the conjugate, for a correlation */
  FLIPPED_TAPS /* d - c, c + d, c, for a correlation with flipped taps */
} Role;

/* Stores the numbers of a complex coefficient. */
INLINE void storeComplex(const Role role, Vector re, Vector im, int64_t apart, real *y)
{
  if (role == ELEMENTS) {
    store(y, re);
    store(y + apart, im);
    store(y + 2 * apart, re + im);
  } else if (role == TAPS) {
    store(y, -im - re);
    store(y + apart, re - im);
    store(y + 2 * apart, re);
  } else {
    store(y, im - re);
    store(y + apart, re + im);
    store(y + 2 * apart, re);
  }
}

/* Transforms a column of the transformed rows. */
INLINE void transformColumn(const bool few, const real *lines, Vector *y)
{
  const int rows = few ? HALF : SIDE;
  Vector x[SIDE];
#pragma GCC unroll 16
  for (int i = 0; i < rows; i++)
    x[i] = load(lines + i * SIDE * LANES);
  transformLine(few, x, y);
}

/* Stores the numbers of a line's coefficients; returns where the next ones begin. */
INLINE real *storeLine(const Role role, const Vector *of, int64_t apart, real *y)
{
  store(y, of[0]);
  store(y + apart, of[HALF]);
  y += 2 * apart;
#pragma GCC unroll 7
  for (int k = 1; k < HALF; k++, y += 3 * apart)
    storeComplex(role, of[k], of[SIDE - k], apart, y);
  return y;
}

/* Transforms a real column; returns where the next column's numbers begin. */
INLINE real *spreadReal(const Role role, const bool few, const real *lines, int64_t apart, real *y)
{
  Vector of[SIDE];
  transformColumn(few, lines, of);
  return storeLine(role, of, apart, y);
}

/* The same for a complex column, whose parts are at `re` and `im`. */
INLINE real *spreadComplex(const Role role, const bool few, const real *re, const real *im,
                           int64_t apart, real *y)
{
  Vector a[SIDE], b[SIDE];
  transformColumn(few, re, a);
  transformColumn(few, im, b);
  storeComplex(role, a[0], b[0], apart, y);
  storeComplex(role, a[HALF], b[HALF], apart, y + 3 * apart);
  y += 6 * apart;
#pragma GCC unroll 7
  for (int k = 1; k < HALF; k++, y += 6 * apart) {
    storeComplex(role, a[k] - b[SIDE - k], a[SIDE - k] + b[k], apart, y);
    storeComplex(role, a[k] + b[SIDE - k], b[k] - a[SIDE - k], apart, y + 3 * apart);
  }
  return y;
}

/* `role` and `few`, which says that no row is in the second half, are constants where this is
 * called. */
INLINE void spreadTile(const FourierTile *of, const Role role, const bool few, const real *planes,
                       real *lines, int64_t apart, real *y)
{
  InsideLanes inside[PARTS];
  findInside(of, inside);
  for (int64_t row = 0; row < (few ? HALF : SIDE); row++) {
    real *line = lines + row * SIDE * LANES;
    if (row >= of->rows || of->row + row < 0 || of->row + row >= of->height) {
      for (int i = 0; i < SIDE; i++)
        store(line + i * LANES, (Vector){0});
      continue;
    }
    Vector x[SIDE], coefficients[SIDE];
    loadRow(of, inside, planes, row, x);
    transformLine(false, x, coefficients);
#pragma GCC unroll 16
    for (int i = 0; i < SIDE; i++)
      store(line + i * LANES, coefficients[i]);
  }
  y = spreadReal(role, few, lines, apart, y);
  y = spreadReal(role, few, lines + HALF * LANES, apart, y);
  for (int k = 1; k < HALF; k++)
    y = spreadComplex(role, few, lines + k * LANES, lines + (SIDE - k) * LANES,
                      unknownDistance(apart), y);
}

static void tileElements(const FourierTile *of, const real *planes, real *lines, int64_t apart,
                         real *y)
{
  spreadTile(of, ELEMENTS, false, planes, lines, apart, y);
}

static void tileTaps(const FourierTile *of, bool flipped, const real *planes, real *lines,
                     int64_t apart, real *y)
{
  const bool few = of->rows <= HALF;
  if (flipped && few)
    spreadTile(of, FLIPPED_TAPS, true, planes, lines, apart, y);
  else if (flipped)
    spreadTile(of, FLIPPED_TAPS, false, planes, lines, apart, y);
  else if (few)
    spreadTile(of, TAPS, true, planes, lines, apart, y);
  else
    spreadTile(of, TAPS, false, planes, lines, apart, y);
}

/* `role` is a constant where this is called. */
INLINE void spreadLine(const FourierTile *of, const Role role, const real *planes, int64_t apart,
                       real *y)
{
  InsideLanes inside[PARTS];
  findInside(of, inside);
  Vector x[SIDE], coefficients[SIDE];
  if (of->row >= 0 && of->row < of->height)
    loadRow(of, inside, planes, 0, x);
  else
    for (int i = 0; i < SIDE; i++)
      x[i] = (Vector){0};
  transformLine(false, x, coefficients);
  storeLine(role, coefficients, apart, y);
}

static void lineElements(const FourierTile *of, const real *planes, real *lines, int64_t apart,
                         real *y)
{
  (void)lines;
  spreadLine(of, ELEMENTS, planes, apart, y);
}

static void lineTaps(const FourierTile *of, bool flipped, const real *planes, real *lines,
                     int64_t apart, real *y)
{
  (void)lines;
  if (flipped)
    spreadLine(of, FLIPPED_TAPS, planes, apart, y);
  else
    spreadLine(of, TAPS, planes, apart, y);
}

/* ---- Back ------------------------------------------------------------------------------------ */

/* The complex number of three sums of products, in `left` lanes. */
INLINE Complex sumProducts(const real *x, int64_t apart, int64_t left)
{
  const Vector third = loadFirst(x + 2 * apart, left);
  return (Complex){third - loadFirst(x + apart, left), third + loadFirst(x, left)};
}

/* Transforms the sums of products of a line back, times 8; returns where the next ones begin. */
INLINE const real *gatherLine(const real *x, int64_t apart, int64_t left, Vector *y)
{
  Vector of[SIDE];
  of[0] = (real)0.5 * loadFirst(x, left);
  of[HALF] = (real)0.5 * loadFirst(x + apart, left);
  x += 2 * apart;
#pragma GCC unroll 7
  for (int k = 1; k < HALF; k++, x += 3 * apart) {
    const Complex sum = sumProducts(x, apart, left);
    of[k] = sum.re;
    of[SIDE - k] = sum.im;
  }
  transformBack(of, y);
  return x;
}

INLINE const real *gatherReal(const real *x, int64_t apart, real *lines)
{
  Vector y[SIDE];
  x = gatherLine(x, apart, LANES, y);
#pragma GCC unroll 16
  for (int i = 0; i < SIDE; i++)
    store(lines + i * SIDE * LANES, y[i]);
  return x;
}

/* Separates the coefficients of the two parts, which are those of reals, times 2. */
INLINE const real *gatherComplex(const real *x, int64_t apart, real *re, real *im)
{
  Vector a[SIDE], b[SIDE], y[SIDE];
  const Complex zero = sumProducts(x, apart, LANES);
  const Complex half = sumProducts(x + 3 * apart, apart, LANES);
  a[0] = zero.re;
  b[0] = zero.im;
  a[HALF] = half.re;
  b[HALF] = half.im;
  x += 6 * apart;
#pragma GCC unroll 7
  for (int k = 1; k < HALF; k++, x += 6 * apart) {
    const Complex first = sumProducts(x, apart, LANES);
    const Complex second = sumProducts(x + 3 * apart, apart, LANES);
    a[k] = first.re + second.re;
    a[SIDE - k] = first.im - second.im;
    b[k] = first.im + second.im;
    b[SIDE - k] = second.re - first.re;
  }
  transformBack(a, y);
#pragma GCC unroll 16
  for (int i = 0; i < SIDE; i++)
    store(re + i * SIDE * LANES, y[i]);
  transformBack(b, y);
#pragma GCC unroll 16
  for (int i = 0; i < SIDE; i++)
    store(im + i * SIDE * LANES, y[i]);
  return x;
}

/* How many of a tile's results along a dimension are inside the plane. */
INLINE int64_t countInside(int64_t count, int64_t left)
{
  return count < left ? count : left;
}

/* Clears what lies behind a row of results, of which whole vectors of columns are stored. */
INLINE void clearUnused(Vector *result)
{
#pragma GCC unroll 16
  for (int i = SIDE; i < 2 * SIDE; i++)
    result[i] = (Vector){0};
}

/* Makes a row of a tile's results of what has been transformed back: bias + scale * result[column],
 * from column `first` on. `result` has room for a vector of columns more, which are not used.
 * Returns a sum of terms 0 * result. */
INLINE Vector storeRow(const FourierTile *of, int64_t row, int64_t first, Vector bias, real scale,
                       Vector *result, real *planes)
{
  const int64_t columns = countInside(of->columns, of->width - of->column);
  const int64_t count = of->planes, step = of->step;
  Vector undefined = {0};
  for (int64_t i = first; i < first + columns; i++) {
    result[i] = bias + scale * result[i];
    undefined += 0 * result[i];
  }
  for (int64_t column = 0; column < columns; column += LANES) {
    Vector square[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
      square[i] = result[first + column + i];
    transposeSquare(square);
    real *to = planes + (of->row + row) * of->width + of->column + column;
#pragma GCC unroll 16
    for (int p = 0; p < LANES; p++, to += step)
      if (p < count) {
        storeInside(to, columns - column, square[p]);
        fetchNext(to, WRITE);
      }
  }
  return undefined;
}

static bool tileResults(const FourierTile *of, int64_t firstRow, int64_t firstColumn, const real *x,
                        int64_t apart, const real *bias, real *lines, real *planes)
{
  x = gatherReal(x, apart, lines);
  x = gatherReal(x, apart, lines + HALF * LANES);
  for (int k = 1; k < HALF; k++)
    x = gatherComplex(x, unknownDistance(apart), lines + k * LANES, lines + (SIDE - k) * LANES);
  const int64_t rows = countInside(of->rows, of->height - of->row);
  Vector undefined = {0}, result[2 * SIDE];
  clearUnused(result);
  for (int64_t row = 0; row < rows; row++) {
    const real *line = lines + (firstRow + row) * SIDE * LANES;
    Vector given[SIDE];
#pragma GCC unroll 16
    for (int i = 0; i < SIDE; i++)
      given[i] = load(line + i * LANES);
    transformBack(given, result);
    undefined +=
        storeRow(of, row, firstColumn, load(bias), (real)1 / (HALF * SIDE), result, planes);
  }
  return isZero(undefined);
}

static bool lineResults(const FourierTile *of, int64_t firstRow, int64_t firstColumn, const real *x,
                        int64_t apart, const real *bias, real *lines, real *planes)
{
  (void)firstRow, (void)lines;
  Vector result[2 * SIDE];
  clearUnused(result);
  gatherLine(x, apart, LANES, result);
  return isZero(storeRow(of, 0, firstColumn, load(bias), (real)1 / HALF, result, planes));
}

/* ---- Slices ---------------------------------------------------------------------------------- */

/* The numbers of a tile's first element inside the plane along a dimension, and of the first behind
 * it. */
typedef struct Inside {
  int64_t begin, end;
} Inside;

INLINE Inside insideOf(int64_t first, int64_t step, int64_t size, int64_t count)
{
  const int64_t begin = first < 0 ? (step - 1 - first) / step : 0;
  const int64_t end = first < size ? (size - first + step - 1) / step : 0;
  return (Inside){begin, end < count ? end : count};
}

/* Every second element of a line from number `column` on, 0 outside of it. */
INLINE void collectHalf(const real *line, int64_t column, int64_t width, real *y)
{
#pragma GCC unroll 8
  for (int64_t i = 0; i < SIDE; i += LANES) {
    const real *from = line + column + 2 * i;
    fetchNext(from, READ);
    fetchNext(from + LANES, READ);
    store(y + i, evenLanes(loadInside(line, column + 2 * i, width),
                           loadInside(line, column + 2 * i + LANES, width)));
  }
}

static void collect(const FourierSlice *of, const real *plane, real *tile)
{
  const Inside columns = insideOf(of->column, of->columnStep, of->width, of->columns);
  for (int64_t i = 0, row = of->row; i < of->rows; i++, row += of->rowStep, tile += SIDE) {
    const real *line = plane + row * of->width;
    const bool inside = row >= 0 && row < of->height;
    if (inside && of->columnStep == 2 && of->columns == SIDE) {
      collectHalf(line, of->column, of->width, tile);
      continue;
    }
    for (int64_t column = 0; column < SIDE; column++)
      tile[column] = 0;
    for (int64_t column = columns.begin; inside && column < columns.end; column++)
      tile[column] = line[of->column + column * of->columnStep];
  }
}

/* Stores `columns` pairs of elements of two lines. */
INLINE void interleaveLines(int64_t columns, const real *even, const real *odd, real *y)
{
#pragma GCC unroll 8
  for (int64_t i = 0; i < SIDE; i += LANES)
    storeInTurns(y + 2 * i, 2 * (columns - i), load(even + i), load(odd + i));
}

static void spread(const FourierSlice *of, int count, const real *tiles, real *plane)
{
  const int64_t step = of->columnStep;
  const Inside rows = insideOf(of->row, of->rowStep, of->height, of->rows);
  for (int64_t row = rows.begin; row < rows.end; row++) {
    const real *tile = tiles + row * SIDE;
    real *line = plane + (of->row + row * of->rowStep) * of->width;
    if (step == 2 && count == 2 && of->column >= 0 && of->column + 2 * of->columns <= of->width) {
      interleaveLines(of->columns, tile, tile + SIDE * SIDE, line + of->column);
      continue;
    }
    for (int i = 0; i < count; i++, tile += SIDE * SIDE) {
      const Inside columns = insideOf(of->column + i, step, of->width, of->columns);
      for (int64_t column = columns.begin; column < columns.end; column++)
        line[of->column + i + column * step] = tile[column];
    }
  }
}

/* ---- Along frames ---------------------------------------------------------------------------- */

/* Transforms `count` frames or taps, vector by vector. `role` and `few`, which says that there are no
 * more than HALF, are constants where this is called. */
INLINE void spreadFrames(const Role role, const bool few, const int count, int64_t n,
                         const real *const *x, int64_t step, real *y)
{
  for (int64_t i = 0; i < n; i += LANES, y += LANES) {
    const int64_t left = n - i < LANES ? n - i : LANES;
    Vector given[SIDE], of[SIDE];
#pragma GCC unroll 16
    for (int k = 0; k < SIDE; k++)
      given[k] = k < count ? loadFirst(x[k] + i, left) : (Vector){0};
    transformLine(few, given, of);
    storeLine(role, of, unknownDistance(step), y);
  }
}

static void frames(int64_t n, const real *const *x, int64_t step, real *y)
{
  spreadFrames(ELEMENTS, false, SIDE, n, x, step, y);
}

static void frameTaps(int64_t n, int count, const real *const *x, int64_t step, real *y)
{
  if (count <= HALF)
    spreadFrames(TAPS, true, count, n, x, step, y);
  else
    spreadFrames(TAPS, false, count, n, x, step, y);
}

static bool frameResults(int64_t n, const real *x, int64_t step, const real *start, int results,
                         int64_t yStep, real *y)
{
  const real scale = (real)1 / HALF;
  Vector undefined = {0};
  for (int64_t i = 0; i < n; i += LANES) {
    const int64_t left = n - i < LANES ? n - i : LANES;
    const Vector before = start ? loadFirst(start + i, left) : (Vector){0};
    Vector result[SIDE];
    gatherLine(x + i, unknownDistance(step), left, result);
#pragma GCC unroll 16
    for (int k = 0; k < SIDE; k++)
      if (k < results) {
        const Vector sum = before + scale * result[k];
        storeInside(y + k * yStep + i, left, sum);
        undefined += 0 * sum;
      }
  }
  return isZero(undefined);
}

/* Two columns of the transformed rows are real, and have those of a line; of the others, each pair is
 * complex and has three for each element. */
enum { TILE_COEFFICIENTS = 2 * THNN_FOURIER_LINE_COEFFICIENTS + 3 * (HALF - 1) * SIDE };

const SimdFourier SIMD_TABLE(Fourier, THNN_SIMD_LEVEL) = {
    .tile = {.coefficients = TILE_COEFFICIENTS,
             .lines = SIDE * SIDE * LANES,
             .elements = tileElements,
             .taps = tileTaps,
             .results = tileResults},
    .line = {.coefficients = THNN_FOURIER_LINE_COEFFICIENTS,
             .elements = lineElements,
             .taps = lineTaps,
             .results = lineResults},
    .collect = collect,
    .spread = spread,
    .frames = frames,
    .frameTaps = frameTaps,
    .frameResults = frameResults,
};
