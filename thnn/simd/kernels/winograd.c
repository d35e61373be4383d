/* The transforms of Winograd's algorithm F(2x2, 3x3). Along a line, two results of three taps g
 * over four elements d take four products instead of six:
 *
 *   p0 = (d0 - d2) g0                       y0 = p0 + p1 + p2
 *   p1 = (d1 + d2) (g0 + g1 + g2) / 2       y1 = p1 - p2 - p3
 *   p2 = (d2 - d1) (g0 - g1 + g2) / 2
 *   p3 = (d1 - d3) g2
 *
 * and doing the same across the lines makes it 16 instead of 36. The products are summed up over
 * planes before the results are formed, which makes 16 products of matrices. The factors of the
 * products are the coefficients of a tile, and of weights.
 *
 * F(3x3, 2x2) computes the gradients w of the taps, from the same elements d and two gradients g of
 * results:
 *
 *   p0 = (d0 - d2) g0                       w0 = p0 + p1 + p2
 *   p1 = (d1 + d2) (g0 + g1) / 2            w1 = p1 - p2
 *   p2 = (d2 - d1) (g0 - g1) / 2            w2 = p1 + p2 - p3
 *   p3 = (d1 - d3) g1
 *
 * where the products are summed up over tiles.
 *
 * (Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, Fast Algorithms for
 * Convolutional Neural Networks, 2015.) */
#include "simd/vector/prefetch.h"
#include "simd/vector/transpose.h"

enum {
  SIDE = 4, /* coefficients of a tile along and across */
  /* Room for the even or the odd elements of a line of dilated tiles. */
  APART = 2 * (THNN_MOST_TILES + LANES)
};

/* Elements [column, column + LANES) of a line, 0 outside of it. */
INLINE Vector loadInside(const real *line, int64_t column, int64_t width)
{
  if (column >= 0 && column + LANES <= width)
    return load(line + column);
  const int64_t begin = column < 0 ? -column : 0;
  const int64_t end = width - column < LANES ? width - column : LANES;
  if (begin >= end)
    return (Vector){0};
  return loadLanes(line + column, firstLanes(end) & ~firstLanes(begin));
}

/* Transforms four elements, along or across a line, to coefficients. */
INLINE void spreadElements(const Vector *d, Vector *y)
{
  y[0] = d[0] - d[2];
  y[1] = d[1] + d[2];
  y[2] = d[2] - d[1];
  y[3] = d[1] - d[3];
}

/* Prefetches two vectors of a line that is needed soon; WHY, READ or WRITE, must be a constant. */
#define FETCH_AHEAD(OF, LINE, WHY)                                                                 \
  do {                                                                                             \
    const int64_t bytes = (OF)->ahead * (int64_t)sizeof(real);                                     \
    __builtin_prefetch(THNN_ahead(LINE, bytes), WHY, FIRST_LEVEL);                                 \
    __builtin_prefetch(THNN_ahead(LINE, bytes + VECTOR_BYTES), WHY, FIRST_LEVEL);                  \
  } while (0)

/* How the tiles of a line are arranged: side by side, in pairs where columns are dilated by 2, or
 * in groups of any other size. */
typedef enum Spacing { SINGLE = 1, PAIRS = 2, GROUPS } Spacing;

INLINE Spacing spacingOf(const TileRow *of)
{
  if (of->columnStep == 1)
    return SINGLE;
  return of->columnStep == 2 && of->place == 0 && of->tiles % 2 == 0 ? PAIRS : GROUPS;
}

/* Transforms a vector of tiles along one line of the plane; the first tile begins at `column`. */
INLINE void spreadLine(const TileRow *of, const Spacing spacing, const real *plane, int64_t row,
                       int64_t column, Vector *y)
{
  if (row < 0 || row >= of->height) {
    for (int i = 0; i < SIDE; i++)
      y[i] = (Vector){0};
    return;
  }
  const real *line = plane + row * of->width;
  FETCH_AHEAD(of, line + column, READ);
  const Vector a = loadInside(line, column, of->width);
  const Vector b = loadInside(line, column + LANES, of->width);
  const Vector c = loadInside(line, column + 2 * spacing, of->width);
  const Vector d = loadInside(line, column + 2 * spacing + LANES, of->width);
  if (spacing == SINGLE) {
    const Vector element[] = {evenLanes(a, b), oddLanes(a, b), evenLanes(c, d), oddLanes(c, d)};
    spreadElements(element, y);
  } else {
    const Vector element[] = {evenPairs(a, b), oddPairs(a, b), evenPairs(c, d), oddPairs(c, d)};
    spreadElements(element, y);
  }
}

/* Transforms a vector of tiles whose dilated columns splitLine() has separated. */
INLINE void spreadSplit(const real *even, const real *odd, int64_t step, Vector *y)
{
  const Vector element[SIDE] = {load(even), load(odd), load(even + step), load(odd + step)};
  spreadElements(element, y);
}

/* Tiles [first, end) of a line, which begin in neighbouring columns; `column` is the first
 * tile's. */
typedef struct Group {
  int64_t first, end, column;
} Group;

INLINE Group firstGroup(const TileRow *of)
{
  return (Group){0, of->columnStep - of->place, of->column};
}

INLINE Group nextGroup(const TileRow *of, Group last)
{
  return (Group){last.end, last.end + of->columnStep,
                 last.column + last.end - last.first + of->columnStep};
}

/* Separates a line of dilated columns: tile i has elements 0 and 2 at even[i] and even[i +
 * columnStep], 1 and 3 likewise in `odd`. Whole vectors are written, each over the end of the one
 * before; a vector of zeros follows the last element. */
static void splitLine(const TileRow *of, const real *plane, int64_t row, real *even, real *odd)
{
  const int64_t step = of->columnStep, count = of->tiles + step;
  const real *line = plane + row * of->width;
  if (row < 0 || row >= of->height) {
    for (int64_t i = 0; i < count + LANES; i += LANES) {
      store(even + i, (Vector){0});
      store(odd + i, (Vector){0});
    }
    return;
  }
  for (int64_t i = 0; i < 2 * of->tiles; i += 2 * LANES)
    FETCH_AHEAD(of, line + of->column + i, READ);
  for (Group group = firstGroup(of); group.first < count; group = nextGroup(of, group))
    for (int64_t i = group.first; i < group.end && i < count; i += LANES) {
      const int64_t column = group.column + i - group.first;
      store(even + i, loadInside(line, column, of->width));
      store(odd + i, loadInside(line, column + step, of->width));
    }
  store(even + count, (Vector){0});
  store(odd + count, (Vector){0});
}

/* `spacing` is a constant where this is called. */
INLINE void sourceTiles(const TileRow *of, const Spacing spacing, const real *plane, bool below,
                        real *lines, int64_t step, real *y)
{
  real even[SIDE][APART], odd[SIDE][APART];
  for (int i = below ? SIDE / 2 : 0; spacing == GROUPS && i < SIDE; i++)
    splitLine(of, plane, of->row + i * of->rowStep, even[i], odd[i]);
  for (int64_t tile = 0; tile < of->tiles; tile += LANES) {
    const int64_t column = of->column + 2 * tile;
    Vector line[SIDE][SIDE];
#pragma GCC unroll 2
    for (int i = 0; i < SIDE / 2; i++) {
      if (below) {
#pragma GCC unroll 4
        for (int j = 0; j < SIDE; j++)
          line[i][j] = load(lines + (i * SIDE + j) * THNN_MOST_TILES + tile);
      } else if (spacing == GROUPS) {
        spreadSplit(even[i] + tile, odd[i] + tile, of->columnStep, line[i]);
      } else {
        spreadLine(of, spacing, plane, of->row + i * of->rowStep, column, line[i]);
      }
    }
#pragma GCC unroll 2
    for (int i = SIDE / 2; i < SIDE; i++) {
      if (spacing == GROUPS)
        spreadSplit(even[i] + tile, odd[i] + tile, of->columnStep, line[i]);
      else
        spreadLine(of, spacing, plane, of->row + i * of->rowStep, column, line[i]);
#pragma GCC unroll 4
      for (int j = 0; j < SIDE; j++)
        store(lines + ((i - SIDE / 2) * SIDE + j) * THNN_MOST_TILES + tile, line[i][j]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < SIDE; j++) {
      const Vector across[SIDE] = {line[0][j], line[1][j], line[2][j], line[3][j]};
      Vector number[SIDE];
      spreadElements(across, number);
#pragma GCC unroll 4
      for (int i = 0; i < SIDE; i++)
        store(y + (i * SIDE + j) * step + tile, number[i]);
    }
  }
}

static void source(const TileRow *of, const real *plane, bool below, real *lines, int64_t step,
                   real *y)
{
  switch (spacingOf(of)) {
  case SINGLE:
    sourceTiles(of, SINGLE, plane, below, lines, step, y);
    break;
  case PAIRS:
    sourceTiles(of, PAIRS, plane, below, lines, step, y);
    break;
  case GROUPS:
    sourceTiles(of, GROUPS, plane, below, lines, step, y);
  }
}

/* Transforms three taps, along or across a line, to coefficients. */
INLINE void spreadTaps(const Vector *g, Vector *y)
{
  const Vector ends = g[0] + g[2];
  y[0] = g[0];
  y[1] = (real)0.5 * (ends + g[1]);
  y[2] = (real)0.5 * (ends - g[1]);
  y[3] = g[2];
}

static void weights(int64_t times, bool flipped, const real *x, int64_t step, real *y)
{
  enum { TAPS = 3 };
  const int first = flipped ? TAPS * TAPS - 1 : 0, next = flipped ? -1 : 1;
  for (int64_t time = 0; time < times; time++, x += TAPS * TAPS * LANES, y += LANES) {
    Vector along[TAPS][SIDE];
#pragma GCC unroll 3
    for (int i = 0; i < TAPS; i++) {
      Vector tap[TAPS];
#pragma GCC unroll 3
      for (int j = 0; j < TAPS; j++)
        tap[j] = load(x + (first + next * (i * TAPS + j)) * LANES);
      spreadTaps(tap, along[i]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < SIDE; j++) {
      const Vector across[TAPS] = {along[0][j], along[1][j], along[2][j]};
      Vector number[SIDE];
      spreadTaps(across, number);
#pragma GCC unroll 4
      for (int i = 0; i < SIDE; i++)
        store(y + (i * SIDE + j) * step, number[i]);
    }
  }
}

/* Transforms sums of four products, along or across a line, to two results. */
INLINE void gatherResults(const Vector *p, Vector *y)
{
  y[0] = p[0] + p[1] + p[2];
  y[1] = p[1] - p[2] - p[3];
}

/* Stores the first `count` elements of a vector; `count` can be negative, or more than LANES. */
INLINE void storeInside(real *line, int64_t count, Vector x)
{
  if (count >= LANES)
    store(line, x);
  else if (count > 0)
    storeLanes(line, firstLanes(count), x);
}

/* Whether a sum of terms 0 * x is 0; it is NaN where an x is infinite or NaN. */
INLINE bool isZero(Vector sum)
{
  real any = 0;
  for (int l = 0; l < LANES; l++)
    any += sum[l];
  return any == 0;
}

/* Assembles a line of dilated columns from the first and second results of its tiles. */
static void mergeLine(const TileRow *of, const real *even, const real *odd, real *line)
{
  const int64_t step = of->columnStep;
  for (Group group = firstGroup(of); group.first < of->tiles; group = nextGroup(of, group)) {
    const int64_t end = group.end < of->tiles ? group.end : of->tiles;
    for (int64_t i = group.first; i < end; i += LANES) {
      const int64_t column = group.column + i - group.first;
      const int64_t first = of->width - column, second = first - step;
      storeInside(line + column, end - i < first ? end - i : first, load(even + i));
      storeInside(line + column + step, end - i < second ? end - i : second, load(odd + i));
    }
  }
}

/* `spacing` is a constant where this is called. */
INLINE bool resultTiles(const TileRow *of, const Spacing spacing, const real *x, int64_t step,
                        real bias, real *plane)
{
  const int64_t most = of->width - of->column;
  const int64_t count = 2 * of->tiles < most ? 2 * of->tiles : most;
  real even[2][APART], odd[2][APART];
  Vector undefined = {0};
  for (int64_t tile = 0; tile < of->tiles; tile += LANES) {
    const int64_t tiles = of->tiles - tile < LANES ? of->tiles - tile : LANES;
    Vector across[2][SIDE];
#pragma GCC unroll 4
    for (int j = 0; j < SIDE; j++) {
      Vector sum[SIDE], results[2];
#pragma GCC unroll 4
      for (int i = 0; i < SIDE; i++)
        sum[i] = loadFirst(x + (i * SIDE + j) * step + tile, tiles);
      gatherResults(sum, results);
      across[0][j] = results[0];
      across[1][j] = results[1];
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
      const int64_t row = of->row + i * of->rowStep;
      if (row >= of->height)
        break;
      Vector results[2];
      gatherResults(across[i], results);
      real *line = plane + row * of->width + of->column + 2 * tile;
      FETCH_AHEAD(of, line, WRITE);
      results[0] += bias;
      results[1] += bias;
      undefined += 0 * results[0] + 0 * results[1];
      if (spacing == GROUPS) {
        store(even[i] + tile, results[0]);
        store(odd[i] + tile, results[1]);
        continue;
      }
      const bool pairs = spacing == PAIRS;
      storeInside(line, count - 2 * tile,
                  pairs ? interleaveLowerPairs(results[0], results[1])
                        : interleaveLower(results[0], results[1]));
      storeInside(line + LANES, count - 2 * tile - LANES,
                  pairs ? interleaveUpperPairs(results[0], results[1])
                        : interleaveUpper(results[0], results[1]));
    }
  }
  for (int i = 0; spacing == GROUPS && i < 2 && of->row + i * of->rowStep < of->height; i++)
    mergeLine(of, even[i], odd[i], plane + (of->row + i * of->rowStep) * of->width);
  return isZero(undefined);
}

static bool result(const TileRow *of, const real *x, int64_t step, real bias, real *plane)
{
  switch (spacingOf(of)) {
  case SINGLE:
    return resultTiles(of, SINGLE, x, step, bias, plane);
  case PAIRS:
    return resultTiles(of, PAIRS, x, step, bias, plane);
  default:
    return resultTiles(of, GROUPS, x, step, bias, plane);
  }
}

/* Transforms two gradients of results, along or across a line, to coefficients. */
INLINE void spreadGradients(const Vector *g, Vector *y)
{
  y[0] = g[0];
  y[1] = (real)0.5 * (g[0] + g[1]);
  y[2] = (real)0.5 * (g[0] - g[1]);
  y[3] = g[1];
}

static void gradients(const TileRow *of, int64_t columns, const real *x, int64_t step,
                      int64_t tileStep, real *y, real *sums)
{
  const int64_t second = of->columnStep * LANES;
  int64_t left = of->columnStep - of->place; /* tiles left in the group */
  Vector total = load(sums);
  for (int64_t tile = 0; tile < of->tiles; tile++, x += LANES, y += tileStep) {
    Vector along[2][SIDE];
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
      const real *row = x + i * columns * LANES;
      const Vector pair[2] = {load(row), load(row + second)};
      spreadGradients(pair, along[i]);
      total += pair[0] + pair[1];
    }
#pragma GCC unroll 4
    for (int j = 0; j < SIDE; j++) {
      const Vector across[2] = {along[0][j], along[1][j]};
      Vector number[SIDE];
      spreadGradients(across, number);
#pragma GCC unroll 4
      for (int i = 0; i < SIDE; i++)
        store(y + (i * SIDE + j) * step, number[i]);
    }
    if (--left == 0) {
      x += second;
      left = of->columnStep;
    }
  }
  store(sums, total);
}

/* Transforms sums of four products, along or across a line, to the gradients of three taps. */
INLINE void gatherTaps(const Vector *p, Vector *y)
{
  const Vector sum = p[1] + p[2];
  y[0] = p[0] + sum;
  y[1] = p[1] - p[2];
  y[2] = sum - p[3];
}

static bool taps(int64_t filters, int64_t lanes, const real *x, int64_t step, real *y)
{
  enum { TAPS = 3 };
  Vector undefined = {0};
  for (int64_t filter = 0; filter < filters; filter++, y += TAPS * TAPS * lanes)
    for (int64_t lane = 0; lane < lanes; lane += LANES, x += LANES) {
      Vector across[TAPS][SIDE];
#pragma GCC unroll 4
      for (int j = 0; j < SIDE; j++) {
        Vector sum[SIDE], results[TAPS];
#pragma GCC unroll 4
        for (int i = 0; i < SIDE; i++)
          sum[i] = load(x + (i * SIDE + j) * step);
        gatherTaps(sum, results);
#pragma GCC unroll 3
        for (int i = 0; i < TAPS; i++)
          across[i][j] = results[i];
      }
#pragma GCC unroll 3
      for (int i = 0; i < TAPS; i++) {
        Vector results[TAPS];
        gatherTaps(across[i], results);
#pragma GCC unroll 3
        for (int j = 0; j < TAPS; j++) {
          store(y + (i * TAPS + j) * lanes + lane, results[j]);
          undefined += 0 * results[j];
        }
      }
    }
  return isZero(undefined);
}

/* Transforms `count` frames or taps, vector by vector; `count` and `spread` are constants where
 * this is called. */
INLINE void spreadVectors(void (*spread)(const Vector *x, Vector *y), const int count, int64_t n,
                          const real *const *x, int64_t step, real *y)
{
  for (int64_t i = 0; i < n; i += LANES) {
    const int64_t left = n - i < LANES ? n - i : LANES;
    Vector given[SIDE], number[SIDE];
#pragma GCC unroll 4
    for (int k = 0; k < count; k++)
      given[k] = loadFirst(x[k] + i, left);
    spread(given, number);
#pragma GCC unroll 4
    for (int k = 0; k < SIDE; k++)
      storeInside(y + k * step + i, left, number[k]);
  }
}

static void frames(int64_t n, const real *const *x, int64_t step, real *y)
{
  spreadVectors(spreadElements, SIDE, n, x, step, y);
}

static void frameWeights(int64_t n, const real *const *x, int64_t step, real *y)
{
  spreadVectors(spreadTaps, 3, n, x, step, y);
}

static bool frameResults(int64_t n, const real *x, int64_t step, const real *start, int results,
                         real *y)
{
  Vector undefined = {0};
  for (int64_t i = 0; i < n; i += LANES) {
    const int64_t left = n - i < LANES ? n - i : LANES;
    const Vector before = start ? loadFirst(start + i, left) : (Vector){0};
    Vector p[SIDE], result[2];
#pragma GCC unroll 4
    for (int k = 0; k < SIDE; k++)
      p[k] = loadFirst(x + k * step + i, left);
    gatherResults(p, result);
    for (int k = 0; k < results; k++) {
      const Vector sum = before + result[k];
      storeInside(y + k * n + i, left, sum);
      undefined += 0 * sum;
    }
  }
  return isZero(undefined);
}

const SimdWinograd SIMD_TABLE(Winograd, THNN_SIMD_LEVEL) = {
    .source = source,
    .lines = SIDE / 2 * SIDE * THNN_MOST_TILES,
    .weights = weights,
    .result = result,
    .gradients = gradients,
    .taps = taps,
    .frames = frames,
    .frameWeights = frameWeights,
    .frameResults = frameResults,
};
