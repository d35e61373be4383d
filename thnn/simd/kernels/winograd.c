/* The transforms of Winograd's algorithms F(2x2, 3x3), F(4x4, 3x3) and their weight gradients, and of
 * F(2, 3). winogradPoints.h has what happens along a line; across the lines it is done again. `side`
 * is a constant where functions are called with it. */
#include "simd/kernels/winogradPoints.h"
#include "simd/vector/prefetch.h"
#include "simd/vector/transpose.h"

enum {
  /* Room for each residue class of the elements of a line of dilated tiles. */
  APART = 2 * (THNN_MOST_TILES + LANES)
};

/* The residue classes of the elements of a line. */
typedef real SplitLine[MOST_SIDE][APART];

/* Reals that tiles share with those below. */
#define keptLines(SIDE) ((int64_t)OVERLAP * ((SIDE) + OVERLAP) * THNN_MOST_TILES)

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

/* Prefetches the part of a line, needed soon, that a vector of tiles covers; WHY, READ or WRITE, must
 * be a constant. */
#define FETCH_AHEAD(OF, SIDE, LINE, WHY)                                                           \
  do {                                                                                             \
    const int64_t bytes = (OF)->ahead * (int64_t)sizeof(real);                                     \
    for (int part = 0; part < (SIDE); part++)                                                      \
      __builtin_prefetch(THNN_ahead(LINE, bytes + part * VECTOR_BYTES), WHY, FIRST_LEVEL);         \
  } while (0)

/* How the tiles of a line are arranged: side by side, in pairs where columns are dilated by 2, or
 * in groups of any other size. Only tiles of 2x2 have pairs. */
typedef enum Spacing { SINGLE = 1, PAIRS = 2, GROUPS } Spacing;

INLINE Spacing spacingOf(const TileRow *of, const int side)
{
  if (of->columnStep == 1)
    return SINGLE;
  const bool pairs = of->columnStep == 2 && of->place == 0 && of->tiles % 2 == 0;
  return side == 2 && pairs ? PAIRS : GROUPS;
}

/* Separates the elements of a vector of tiles of 2x2; the first tile begins at line[column]. */
INLINE void separatePairs(const real *line, const Spacing spacing, int64_t column, int64_t width,
                          Vector *element)
{
  const Vector a = loadInside(line, column, width);
  const Vector b = loadInside(line, column + LANES, width);
  const Vector c = loadInside(line, column + 2 * spacing, width);
  const Vector d = loadInside(line, column + 2 * spacing + LANES, width);
  if (spacing == SINGLE) {
    element[0] = evenLanes(a, b);
    element[1] = oddLanes(a, b);
    element[2] = evenLanes(c, d);
    element[3] = oddLanes(c, d);
  } else {
    element[0] = evenPairs(a, b);
    element[1] = oddPairs(a, b);
    element[2] = evenPairs(c, d);
    element[3] = oddPairs(c, d);
  }
}

/* The same for tiles of 4x4, which are side by side. The last two elements of a tile are the first
 * ones of the next. */
INLINE void separateFours(const real *line, int64_t column, int64_t width, Vector *element)
{
  Vector part[MOST_SEEN];
#pragma GCC unroll 6
  for (int i = 0; i < MOST_SEEN; i++)
    part[i] = loadInside(line, column + (i < 4 ? i * LANES : 4 * LANES + i - 4), width);
  const Vector even[] = {evenLanes(part[0], part[1]), evenLanes(part[2], part[3])};
  const Vector odd[] = {oddLanes(part[0], part[1]), oddLanes(part[2], part[3])};
  element[0] = evenLanes(even[0], even[1]);
  element[1] = evenLanes(odd[0], odd[1]);
  element[2] = oddLanes(even[0], even[1]);
  element[3] = oddLanes(odd[0], odd[1]);
  element[4] = nextLanes(element[0], part[4]);
  element[5] = nextLanes(element[1], part[5]);
}

/* Transforms a vector of tiles along one line of the plane; the first tile begins at `column`. */
INLINE void spreadLine(const TileRow *of, const int side, const Spacing spacing, const real *plane,
                       int64_t row, int64_t column, Vector *y)
{
  if (row < 0 || row >= of->height) {
    for (int i = 0; i < side + OVERLAP; i++)
      y[i] = (Vector){0};
    return;
  }
  const real *line = plane + row * of->width;
  Vector element[MOST_SEEN];
  FETCH_AHEAD(of, side, line + column, READ);
  if (side == 2)
    separatePairs(line, spacing, column, of->width, element);
  else
    separateFours(line, column, of->width, element);
  spreadElements(side, element, y);
}

/* Transforms a vector of tiles, beginning with number `tile`, whose dilated columns splitLine() has
 * separated. */
INLINE void spreadSplit(const int side, real (*split)[APART], int64_t tile, int64_t step, Vector *y)
{
  Vector element[MOST_SEEN];
#pragma GCC unroll 6
  for (int i = 0; i < side + OVERLAP; i++)
    element[i] = load(split[i % side] + tile + i / side * step);
  spreadElements(side, element, y);
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

INLINE Group nextGroup(const TileRow *of, const int side, Group last)
{
  return (Group){last.end, last.end + of->columnStep,
                 last.column + last.end - last.first + (side - 1) * of->columnStep};
}

/* Separates a line of dilated columns: tile i has element k at split[k][i], and the next tile's first
 * elements, which it overlaps, at split[k][i + columnStep]. Whole vectors are written, each over the
 * end of the one before; a vector of zeros follows the last element. */
INLINE void splitLine(const TileRow *of, const int side, const real *plane, int64_t row,
                      real (*split)[APART])
{
  const int64_t step = of->columnStep, count = of->tiles + step;
  const real *line = plane + row * of->width;
  if (row < 0 || row >= of->height) {
    for (int64_t i = 0; i < count + LANES; i += LANES)
      for (int k = 0; k < side; k++)
        store(split[k] + i, (Vector){0});
    return;
  }
  for (int64_t i = 0; i < of->tiles; i += LANES)
    FETCH_AHEAD(of, side, line + of->column + side * i, READ);
  for (Group group = firstGroup(of); group.first < count; group = nextGroup(of, side, group))
    for (int64_t i = group.first; i < group.end && i < count; i += LANES) {
      const int64_t column = group.column + i - group.first;
      for (int k = 0; k < side; k++)
        store(split[k] + i, loadInside(line, column + k * step, of->width));
    }
  for (int k = 0; k < side; k++)
    store(split[k] + count, (Vector){0});
}

/* `spacing` is a constant where this is called. */
INLINE void sourceTiles(const TileRow *of, const int side, const Spacing spacing, const real *plane,
                        bool below, real *lines, int64_t step, real *y)
{
  const int seen = side + OVERLAP;
  SplitLine *split = (SplitLine *)(lines + keptLines(side));
  for (int i = below ? OVERLAP : 0; spacing == GROUPS && i < seen; i++)
    splitLine(of, side, plane, of->row + i * of->rowStep, split[i]);
  for (int64_t tile = 0; tile < of->tiles; tile += LANES) {
    const int64_t column = of->column + side * tile;
    Vector line[MOST_SEEN][MOST_SEEN];
#pragma GCC unroll 6
    for (int i = 0; i < seen; i++) {
      if (below && i < OVERLAP) {
#pragma GCC unroll 6
        for (int j = 0; j < seen; j++)
          line[i][j] = load(lines + (i * seen + j) * THNN_MOST_TILES + tile);
      } else if (spacing == GROUPS) {
        spreadSplit(side, split[i], tile, of->columnStep, line[i]);
      } else {
        spreadLine(of, side, spacing, plane, of->row + i * of->rowStep, column, line[i]);
      }
    }
#pragma GCC unroll 2
    for (int i = 0; i < OVERLAP; i++)
#pragma GCC unroll 6
      for (int j = 0; j < seen; j++)
        store(lines + (i * seen + j) * THNN_MOST_TILES + tile, line[side + i][j]);
#pragma GCC unroll 6
    for (int j = 0; j < seen; j++) {
      Vector across[MOST_SEEN], number[MOST_SEEN];
#pragma GCC unroll 6
      for (int i = 0; i < seen; i++)
        across[i] = line[i][j];
      spreadElements(side, across, number);
#pragma GCC unroll 6
      for (int i = 0; i < seen; i++)
        store(y + (i * seen + j) * step + tile, number[i]);
    }
  }
}

INLINE void sourceOf(const TileRow *of, const int side, const real *plane, bool below, real *lines,
                     int64_t step, real *y)
{
  switch (spacingOf(of, side)) {
  case SINGLE:
    sourceTiles(of, side, SINGLE, plane, below, lines, step, y);
    break;
  case PAIRS:
    sourceTiles(of, side, PAIRS, plane, below, lines, step, y);
    break;
  case GROUPS:
    sourceTiles(of, side, GROUPS, plane, below, lines, step, y);
  }
}

INLINE void weightsOf(const int side, int64_t times, bool flipped, const real *x, int64_t step,
                      real *y)
{
  const int first = flipped ? TAPS * TAPS - 1 : 0, next = flipped ? -1 : 1;
  const int seen = side + OVERLAP;
  for (int64_t time = 0; time < times; time++, x += TAPS * TAPS * LANES, y += LANES) {
    Vector along[TAPS][MOST_SEEN];
#pragma GCC unroll 3
    for (int i = 0; i < TAPS; i++) {
      Vector tap[TAPS];
#pragma GCC unroll 3
      for (int j = 0; j < TAPS; j++)
        tap[j] = load(x + (first + next * (i * TAPS + j)) * LANES);
      spreadTaps(side, tap, along[i]);
    }
#pragma GCC unroll 6
    for (int j = 0; j < seen; j++) {
      const Vector across[TAPS] = {along[0][j], along[1][j], along[2][j]};
      Vector number[MOST_SEEN];
      spreadTaps(side, across, number);
#pragma GCC unroll 6
      for (int i = 0; i < seen; i++)
        store(y + (i * seen + j) * step, number[i]);
    }
  }
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

/* Assembles a line of dilated columns from the first results of its tiles, the second ones and so
 * on. */
INLINE void mergeLine(const TileRow *of, const int side, real (*split)[APART], real *line)
{
  const int64_t step = of->columnStep;
  for (Group group = firstGroup(of); group.first < of->tiles; group = nextGroup(of, side, group)) {
    const int64_t end = group.end < of->tiles ? group.end : of->tiles;
    for (int64_t i = group.first; i < end; i += LANES)
      for (int k = 0; k < side; k++) {
        const int64_t column = group.column + i - group.first + k * step;
        const int64_t left = of->width - column;
        storeInside(line + column, end - i < left ? end - i : left, load(split[k] + i));
      }
  }
}

/* Stores a line of results of tiles side by side, or in pairs; there is room for `count` results. */
INLINE void storeResults(const int side, const Spacing spacing, const Vector *results,
                         int64_t count, real *line)
{
  Vector part[MOST_SIDE];
  if (side == 4) {
    const Vector even[] = {interleaveLower(results[0], results[2]),
                           interleaveUpper(results[0], results[2])};
    const Vector odd[] = {interleaveLower(results[1], results[3]),
                          interleaveUpper(results[1], results[3])};
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
      part[2 * i] = interleaveLower(even[i], odd[i]);
      part[2 * i + 1] = interleaveUpper(even[i], odd[i]);
    }
  } else if (spacing == PAIRS) {
    part[0] = interleaveLowerPairs(results[0], results[1]);
    part[1] = interleaveUpperPairs(results[0], results[1]);
  } else {
    part[0] = interleaveLower(results[0], results[1]);
    part[1] = interleaveUpper(results[0], results[1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < side; i++)
    storeInside(line + i * LANES, count - i * LANES, part[i]);
}

/* `spacing` is a constant where this is called. */
INLINE bool resultTiles(const TileRow *of, const int side, const Spacing spacing, const real *x,
                        int64_t step, real bias, real *lines, real *plane)
{
  const int seen = side + OVERLAP;
  const int64_t most = of->width - of->column;
  const int64_t count = side * of->tiles < most ? side * of->tiles : most;
  SplitLine *split = (SplitLine *)lines;
  Vector undefined = {0};
  for (int64_t tile = 0; tile < of->tiles; tile += LANES) {
    const int64_t tiles = of->tiles - tile < LANES ? of->tiles - tile : LANES;
    Vector across[MOST_SIDE][MOST_SEEN];
#pragma GCC unroll 6
    for (int j = 0; j < seen; j++) {
      Vector sum[MOST_SEEN], results[MOST_SIDE];
#pragma GCC unroll 6
      for (int i = 0; i < seen; i++)
        sum[i] = loadFirst(x + (i * seen + j) * step + tile, tiles);
      gatherResults(side, sum, results);
#pragma GCC unroll 4
      for (int i = 0; i < side; i++)
        across[i][j] = results[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < side; i++) {
      const int64_t row = of->row + i * of->rowStep;
      if (row >= of->height)
        break;
      Vector results[MOST_SIDE];
      gatherResults(side, across[i], results);
      real *line = plane + row * of->width + of->column + side * tile;
      FETCH_AHEAD(of, side, line, WRITE);
#pragma GCC unroll 4
      for (int k = 0; k < side; k++) {
        results[k] += bias;
        undefined += 0 * results[k];
      }
      if (spacing == GROUPS)
#pragma GCC unroll 4
        for (int k = 0; k < side; k++)
          store(split[i][k] + tile, results[k]);
      else
        storeResults(side, spacing, results, count - side * tile, line);
    }
  }
  for (int i = 0; spacing == GROUPS && i < side && of->row + i * of->rowStep < of->height; i++)
    mergeLine(of, side, split[i], plane + (of->row + i * of->rowStep) * of->width);
  return isZero(undefined);
}

INLINE bool resultOf(const TileRow *of, const int side, const real *x, int64_t step, real bias,
                     real *lines, real *plane)
{
  switch (spacingOf(of, side)) {
  case SINGLE:
    return resultTiles(of, side, SINGLE, x, step, bias, lines, plane);
  case PAIRS:
    return resultTiles(of, side, PAIRS, x, step, bias, lines, plane);
  default:
    return resultTiles(of, side, GROUPS, x, step, bias, lines, plane);
  }
}

INLINE void gradientsOf(const TileRow *of, const int side, int64_t columns, const real *x,
                        int64_t step, int64_t tileStep, real *y, real *sums)
{
  const int seen = side + OVERLAP;
  const int64_t next = of->columnStep * LANES;
  int64_t left = of->columnStep - of->place; /* tiles left in the group */
  Vector total = load(sums);
  for (int64_t tile = 0; tile < of->tiles; tile++, x += LANES, y += tileStep) {
    Vector along[MOST_SIDE][MOST_SEEN];
#pragma GCC unroll 4
    for (int i = 0; i < side; i++) {
      Vector given[MOST_SIDE], sum = {0};
#pragma GCC unroll 4
      for (int k = 0; k < side; k++) {
        given[k] = load(x + i * columns * LANES + k * next);
        sum += given[k];
      }
      spreadGradients(side, given, along[i]);
      total += sum;
    }
#pragma GCC unroll 6
    for (int j = 0; j < seen; j++) {
      Vector across[MOST_SIDE], number[MOST_SEEN];
#pragma GCC unroll 4
      for (int i = 0; i < side; i++)
        across[i] = along[i][j];
      spreadGradients(side, across, number);
#pragma GCC unroll 6
      for (int i = 0; i < seen; i++)
        store(y + (i * seen + j) * step, number[i]);
    }
    if (--left == 0) {
      x += (side - 1) * next;
      left = of->columnStep;
    }
  }
  store(sums, total);
}

INLINE bool tapsOf(const int side, int64_t filters, int64_t lanes, const real *x, int64_t step,
                   real *y)
{
  const int seen = side + OVERLAP;
  Vector undefined = {0};
  for (int64_t filter = 0; filter < filters; filter++, y += TAPS * TAPS * lanes)
    for (int64_t lane = 0; lane < lanes; lane += LANES, x += LANES) {
      Vector across[TAPS][MOST_SEEN];
#pragma GCC unroll 6
      for (int j = 0; j < seen; j++) {
        Vector sum[MOST_SEEN], results[TAPS];
#pragma GCC unroll 6
        for (int i = 0; i < seen; i++)
          sum[i] = load(x + (i * seen + j) * step);
        gatherTaps(side, sum, results);
#pragma GCC unroll 3
        for (int i = 0; i < TAPS; i++)
          across[i][j] = results[i];
      }
#pragma GCC unroll 3
      for (int i = 0; i < TAPS; i++) {
        Vector results[TAPS];
        gatherTaps(side, across[i], results);
#pragma GCC unroll 3
        for (int j = 0; j < TAPS; j++) {
          store(y + (i * TAPS + j) * lanes + lane, results[j]);
          undefined += 0 * results[j];
        }
      }
    }
  return isZero(undefined);
}

/* The functions for tiles of side x side results. */
#define DEFINE_TILES(SIDE)                                                                         \
  static void source##SIDE(const TileRow *of, const real *plane, bool below, real *lines,          \
                           int64_t step, real *y)                                                  \
  {                                                                                                \
    sourceOf(of, SIDE, plane, below, lines, step, y);                                              \
  }                                                                                                \
  static void weights##SIDE(int64_t times, bool flipped, const real *x, int64_t step, real *y)     \
  {                                                                                                \
    weightsOf(SIDE, times, flipped, x, step, y);                                                   \
  }                                                                                                \
  static bool result##SIDE(const TileRow *of, const real *x, int64_t step, real bias, real *lines, \
                           real *plane)                                                            \
  {                                                                                                \
    return resultOf(of, SIDE, x, step, bias, lines, plane);                                        \
  }                                                                                                \
  static void gradients##SIDE(const TileRow *of, int64_t columns, const real *x, int64_t step,     \
                              int64_t tileStep, real *y, real *sums)                               \
  {                                                                                                \
    gradientsOf(of, SIDE, columns, x, step, tileStep, y, sums);                                    \
  }                                                                                                \
  static bool taps##SIDE(int64_t filters, int64_t lanes, const real *x, int64_t step, real *y)     \
  {                                                                                                \
    return tapsOf(SIDE, filters, lanes, x, step, y);                                               \
  }

DEFINE_TILES(2)
DEFINE_TILES(4)

/* What is the same for tiles of any size. */
#define TILES(SIDE)                                                                                \
  .side = (SIDE), .numbers = ((SIDE) + OVERLAP) * ((SIDE) + OVERLAP),                              \
  .lines = keptLines(SIDE) + ((SIDE) + OVERLAP) * (int64_t)(sizeof(SplitLine) / sizeof(real)),     \
  .source = source##SIDE, .weights = weights##SIDE, .result = result##SIDE,                        \
  .gradients = gradients##SIDE, .taps = taps##SIDE

enum { FRAMES = 2, FRAME_NUMBERS = FRAMES + OVERLAP };

/* Transforms `count` frames or taps, vector by vector; `count` and `spread` are constants where
 * this is called. */
INLINE void spreadVectors(void (*spread)(const int side, const Vector *x, Vector *y),
                          const int count, int64_t n, const real *const *x, int64_t step, real *y)
{
  for (int64_t i = 0; i < n; i += LANES) {
    const int64_t left = n - i < LANES ? n - i : LANES;
    Vector given[FRAME_NUMBERS], number[FRAME_NUMBERS];
#pragma GCC unroll 4
    for (int k = 0; k < count; k++)
      given[k] = loadFirst(x[k] + i, left);
    spread(FRAMES, given, number);
#pragma GCC unroll 4
    for (int k = 0; k < FRAME_NUMBERS; k++)
      storeInside(y + k * step + i, left, number[k]);
  }
}

static void frames(int64_t n, const real *const *x, int64_t step, real *y)
{
  spreadVectors(spreadElements, FRAME_NUMBERS, n, x, step, y);
}

static void frameWeights(int64_t n, const real *const *x, int64_t step, real *y)
{
  spreadVectors(spreadTaps, TAPS, n, x, step, y);
}

static bool frameResults(int64_t n, const real *x, int64_t step, const real *start, int results,
                         int64_t yStep, real *y)
{
  Vector undefined = {0};
  for (int64_t i = 0; i < n; i += LANES) {
    const int64_t left = n - i < LANES ? n - i : LANES;
    const Vector before = start ? loadFirst(start + i, left) : (Vector){0};
    Vector p[FRAME_NUMBERS], result[FRAMES];
#pragma GCC unroll 4
    for (int k = 0; k < FRAME_NUMBERS; k++)
      p[k] = loadFirst(x + k * step + i, left);
    gatherResults(FRAMES, p, result);
    for (int k = 0; k < results; k++) {
      const Vector sum = before + result[k];
      storeInside(y + k * yStep + i, left, sum);
      undefined += 0 * sum;
    }
  }
  return isZero(undefined);
}

const SimdWinograd SIMD_TABLE(Winograd, THNN_SIMD_LEVEL) = {
    .two = {TILES(2)},
    .four = {TILES(4)},
    .frames = frames,
    .frameWeights = frameWeights,
    .frameResults = frameResults,
};
