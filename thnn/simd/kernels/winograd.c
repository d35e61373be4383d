/* The transforms of Winograd's algorithms F(2x2, 3x3), F(4x4, 3x3), F(2x2, 5x5), F(2x2, 2x2) and
 * F(4x4, 2x2), and their weight gradients, and of F(2, 3). The transforms along a line are in winogradPoints.h;
 * applied again across the lines they are those of a tile. `side` and `taps` are constants where
 * functions are called with them. */
#include "simd/kernels/winogradLines.h"
#include "simd/kernels/winogradPoints.h"
#include "simd/vector/prefetch.h"

enum {
  /* How many groups past the last one have elements that dilated tiles of the last group see. */
  MOST_GROUPS_MORE = (MOST_SEEN - 1) / 2,
  /* Elements of each residue class that a line of dilated tiles sees, with room for whole
   * vectors. */
  CLASS_ELEMENTS = (1 + MOST_GROUPS_MORE) * THNN_MOST_TILES + 2 * LANES
};

/* The elements of a line, separated by residue class. */
typedef real SplitLine[MOST_SIDE][CLASS_ELEMENTS];

/* Number of elements that a tile sees along a line. */
#define seenBy(SIDE, TAPS) ((SIDE) + (TAPS) - 1)

/* Number of transformed elements that a row of tiles shares with the row below. */
#define keptLines(SIDE, TAPS) ((int64_t)((TAPS) - 1) * seenBy(SIDE, TAPS) * THNN_MOST_TILES)

/* Prefetches what a vector of tiles covers of the line that is `ahead` elements further on; WHY,
 * READ or WRITE, must be a constant. */
#define FETCH_AHEAD(OF, SIDE, LINE, WHY)                                                           \
  do {                                                                                             \
    const int64_t bytes = (OF)->ahead * (int64_t)sizeof(real);                                     \
    for (int part = 0; part < (SIDE); part++)                                                      \
      __builtin_prefetch(THNN_ahead(LINE, bytes + part * VECTOR_BYTES), WHY, FIRST_LEVEL);         \
  } while (0)

/* Transforms a vector of tiles along one line of the plane; the first tile begins at `column`. */
INLINE void spreadLine(const TileRow *of, const int side, const int seen, const Spacing spacing,
                       const real *plane, int64_t row, int64_t column, const Inside *inside,
                       Vector *y)
{
  if (row < 0 || row >= of->height) {
    for (int i = 0; i < seen; i++)
      y[i] = (Vector){0};
    return;
  }
  const real *x = plane + row * of->width + column;
  Vector element[MOST_SEEN];
  FETCH_AHEAD(of, side, x, READ);
  if (side == 2)
    separatePairs(seen, x, spacing, inside, element);
  else
    separateFours(seen, x, spacing, inside, element);
  spreadElements(seen, element, y);
}

/* Transforms a vector of tiles, of which the first is `tile`, from dilated columns that splitLine()
 * has separated. */
INLINE void spreadSplit(const int side, const int seen, real (*split)[CLASS_ELEMENTS], int64_t tile,
                        int64_t step, Vector *y)
{
  Vector element[MOST_SEEN];
#pragma GCC unroll 6
  for (int i = 0; i < seen; i++)
    element[i] = load(split[i % side] + tile + i / side * step);
  spreadElements(seen, element, y);
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

/* Separates a line of dilated columns: tile i has element k at split[k][i], and the next tiles'
 * first elements, which it overlaps, at split[k][i + columnStep] and so on. Whole vectors are
 * written, each over the end of the one before; a vector of zeros follows the last element. */
INLINE void splitLine(const TileRow *of, const int side, const int seen, const real *plane,
                      int64_t row, real (*split)[CLASS_ELEMENTS])
{
  const int64_t step = of->columnStep, count = of->tiles + (seen - 1) / side * step;
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
INLINE void sourceTiles(const TileRow *of, const int side, const int taps, const Spacing spacing,
                        const real *plane, bool below, real *lines, int64_t step, real *y)
{
  const int seen = seenBy(side, taps), overlap = taps - 1;
  SplitLine *split = (SplitLine *)(lines + keptLines(side, taps));
  for (int i = below ? overlap : 0; spacing == GROUPS && i < seen; i++)
    splitLine(of, side, seen, plane, of->row + i * of->rowStep, split[i]);
  for (int64_t tile = 0; tile < of->tiles; tile += LANES) {
    const int64_t column = of->column + side * tile * (spacing == ALTERNATE ? 2 : 1);
    const Inside inside = insideOf(side, seen, spacing, column, of->width);
    const int64_t next = unknownDistance(step);
    Vector line[MOST_SEEN][MOST_SEEN];
#pragma GCC unroll 6
    for (int i = 0; i < seen; i++) {
      if (below && i < overlap) {
#pragma GCC unroll 6
        for (int j = 0; j < seen; j++)
          line[i][j] = load(lines + (i * seen + j) * THNN_MOST_TILES + tile);
      } else if (spacing == GROUPS) {
        spreadSplit(side, seen, split[i], tile, of->columnStep, line[i]);
      } else {
        spreadLine(of, side, seen, spacing, plane, of->row + i * of->rowStep, column, &inside,
                   line[i]);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < overlap; i++)
#pragma GCC unroll 6
      for (int j = 0; j < seen; j++)
        store(lines + (i * seen + j) * THNN_MOST_TILES + tile, line[side + i][j]);
#pragma GCC unroll 6
    for (int j = 0; j < seen; j++) {
      Vector across[MOST_SEEN], coefficient[MOST_SEEN];
#pragma GCC unroll 6
      for (int i = 0; i < seen; i++) {
        across[i] = line[i][j];
        if (seen > 4) /* some lines are zeros: GCC would multiply them by 2.5 apart, and round */
          KEEP_LOADED(across[i]);
      }
      spreadElements(seen, across, coefficient);
#pragma GCC unroll 6
      for (int i = 0; i < seen; i++)
        store(y + (i * seen + j) * next + tile, coefficient[i]);
    }
  }
}

INLINE void sourceOf(const TileRow *of, const int side, const int taps, const real *plane,
                     bool below, real *lines, int64_t step, real *y)
{
  switch (spacingOf(of, side)) {
  case SINGLE:
    sourceTiles(of, side, taps, SINGLE, plane, below, lines, step, y);
    break;
  case ALTERNATE:
    sourceTiles(of, side, taps, ALTERNATE, plane, below, lines, step, y);
    break;
  case PAIRS:
    sourceTiles(of, side, taps, PAIRS, plane, below, lines, step, y);
    break;
  case GROUPS:
    sourceTiles(of, side, taps, GROUPS, plane, below, lines, step, y);
  }
}

INLINE void weightsOf(const int side, const int taps, int64_t times, bool flipped, const real *x,
                      int64_t step, real *y)
{
  const int first = flipped ? taps * taps - 1 : 0, turn = flipped ? -1 : 1;
  const int seen = seenBy(side, taps);
  for (int64_t time = 0; time < times; time++, x += taps * taps * LANES, y += LANES) {
    const int64_t next = unknownDistance(step);
    Vector along[MOST_TAPS][MOST_SEEN];
#pragma GCC unroll 5
    for (int i = 0; i < taps; i++) {
      Vector tap[MOST_TAPS];
#pragma GCC unroll 5
      for (int j = 0; j < taps; j++)
        tap[j] = load(x + (first + turn * (i * taps + j)) * LANES);
      spreadFactors(seen, taps, tap, along[i]);
    }
#pragma GCC unroll 6
    for (int j = 0; j < seen; j++) {
      Vector across[MOST_TAPS], coefficient[MOST_SEEN];
#pragma GCC unroll 5
      for (int i = 0; i < taps; i++)
        across[i] = along[i][j];
      spreadFactors(seen, taps, across, coefficient);
#pragma GCC unroll 6
      for (int i = 0; i < seen; i++)
        store(y + (i * seen + j) * next, coefficient[i]);
    }
  }
}

/* Assembles a line of dilated columns from split[k], which holds result k of each tile. */
INLINE void mergeLine(const TileRow *of, const int side, real (*split)[CLASS_ELEMENTS], real *line)
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

/* Does the same with every second element of the line. */
INLINE void storeAlternate(real *line, int64_t count, Vector x)
{
  for (int l = 0; l < LANES && l < count; l++)
    line[2 * l] = x[l];
}

/* Stores the first `count` results along a line, of tiles that are not in groups. */
INLINE void storeResults(const int side, const Spacing spacing, const Vector *results,
                         int64_t count, real *line)
{
  Vector part[MOST_SIDE];
  if (side == 4) {
    interleaveFourths(results, part);
  } else if (spacing == PAIRS) {
    part[0] = interleaveLowerPairs(results[0], results[1]);
    part[1] = interleaveUpperPairs(results[0], results[1]);
  } else {
    part[0] = interleaveLower(results[0], results[1]);
    part[1] = interleaveUpper(results[0], results[1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < side; i++)
    if (spacing == ALTERNATE)
      storeAlternate(line + 2 * i * LANES, count - i * LANES, part[i]);
    else
      storeInside(line + i * LANES, count - i * LANES, part[i]);
}

/* `spacing` is a constant where this is called. */
INLINE bool resultTiles(const TileRow *of, const int side, const int taps, const Spacing spacing,
                        const real *x, int64_t step, real bias, real *lines, real *plane)
{
  const int seen = seenBy(side, taps);
  const int apart = spacing == ALTERNATE ? 2 : 1;
  const int64_t most = (of->width - of->column + apart - 1) / apart;
  const int64_t count = side * of->tiles < most ? side * of->tiles : most;
  SplitLine *split = (SplitLine *)lines;
  Vector undefined = {0};
  for (int64_t tile = 0; tile < of->tiles; tile += LANES) {
    const int64_t tiles = of->tiles - tile < LANES ? of->tiles - tile : LANES;
    const int64_t next = unknownDistance(step);
    Vector across[MOST_SIDE][MOST_SEEN];
#pragma GCC unroll 6
    for (int j = 0; j < seen; j++) {
      Vector sum[MOST_SEEN], results[MOST_SIDE];
#pragma GCC unroll 6
      for (int i = 0; i < seen; i++)
        sum[i] = loadFirst(x + (i * seen + j) * next + tile, tiles);
      gatherSums(seen, side, sum, results);
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
      gatherSums(seen, side, across[i], results);
      real *line = plane + row * of->width + of->column + side * tile * apart;
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

INLINE bool resultOf(const TileRow *of, const int side, const int taps, const real *x, int64_t step,
                     real bias, real *lines, real *plane)
{
  switch (spacingOf(of, side)) {
  case SINGLE:
    return resultTiles(of, side, taps, SINGLE, x, step, bias, lines, plane);
  case ALTERNATE:
    return resultTiles(of, side, taps, ALTERNATE, x, step, bias, lines, plane);
  case PAIRS:
    return resultTiles(of, side, taps, PAIRS, x, step, bias, lines, plane);
  default:
    return resultTiles(of, side, taps, GROUPS, x, step, bias, lines, plane);
  }
}

INLINE void gradientsOf(const TileRow *of, const int side, const int taps, int64_t columns,
                        const real *x, int64_t step, int64_t tileStep, real *y, real *sums)
{
  const int seen = seenBy(side, taps);
  const int64_t column = of->columnStep * LANES;
  int64_t left = of->columnStep - of->place; /* tiles left in the group */
  Vector total = load(sums);
  for (int64_t tile = 0; tile < of->tiles; tile++, x += LANES, y += tileStep) {
    const int64_t next = unknownDistance(step);
    Vector along[MOST_SIDE][MOST_SEEN];
#pragma GCC unroll 4
    for (int i = 0; i < side; i++) {
      Vector given[MOST_SIDE], sum = {0};
#pragma GCC unroll 4
      for (int k = 0; k < side; k++) {
        given[k] = load(x + i * columns * LANES + k * column);
        sum += given[k];
      }
      spreadFactors(seen, side, given, along[i]);
      total += sum;
    }
#pragma GCC unroll 6
    for (int j = 0; j < seen; j++) {
      Vector across[MOST_SIDE], coefficient[MOST_SEEN];
#pragma GCC unroll 4
      for (int i = 0; i < side; i++)
        across[i] = along[i][j];
      spreadFactors(seen, side, across, coefficient);
#pragma GCC unroll 6
      for (int i = 0; i < seen; i++)
        store(y + (i * seen + j) * next, coefficient[i]);
    }
    if (--left == 0) {
      x += (side - 1) * column;
      left = of->columnStep;
    }
  }
  store(sums, total);
}

INLINE bool tapsOf(const int side, const int taps, int64_t filters, int64_t lanes, const real *x,
                   int64_t step, real *y)
{
  const int seen = seenBy(side, taps);
  Vector undefined = {0};
  for (int64_t filter = 0; filter < filters; filter++, y += taps * taps * lanes)
    for (int64_t lane = 0; lane < lanes; lane += LANES, x += LANES) {
      const int64_t next = unknownDistance(step);
      Vector across[MOST_TAPS][MOST_SEEN];
#pragma GCC unroll 6
      for (int j = 0; j < seen; j++) {
        Vector sum[MOST_SEEN], results[MOST_TAPS];
#pragma GCC unroll 6
        for (int i = 0; i < seen; i++)
          sum[i] = load(x + (i * seen + j) * next);
        gatherSums(seen, taps, sum, results);
#pragma GCC unroll 5
        for (int i = 0; i < taps; i++)
          across[i][j] = results[i];
      }
#pragma GCC unroll 5
      for (int i = 0; i < taps; i++) {
        Vector results[MOST_TAPS];
        gatherSums(seen, taps, across[i], results);
#pragma GCC unroll 5
        for (int j = 0; j < taps; j++) {
          store(y + (i * taps + j) * lanes + lane, results[j]);
          undefined += 0 * results[j];
        }
      }
    }
  return isZero(undefined);
}

/* The functions for tiles of side x side results of taps x taps. */
#define DEFINE_TILES(NAME, SIDE, TAPS)                                                             \
  static void NAME##Source(const TileRow *of, const real *plane, bool below, real *lines,          \
                           int64_t step, real *y)                                                  \
  {                                                                                                \
    sourceOf(of, SIDE, TAPS, plane, below, lines, step, y);                                        \
  }                                                                                                \
  static void NAME##Weights(int64_t times, bool flipped, const real *x, int64_t step, real *y)     \
  {                                                                                                \
    weightsOf(SIDE, TAPS, times, flipped, x, step, y);                                             \
  }                                                                                                \
  static bool NAME##Result(const TileRow *of, const real *x, int64_t step, real bias, real *lines, \
                           real *plane)                                                            \
  {                                                                                                \
    return resultOf(of, SIDE, TAPS, x, step, bias, lines, plane);                                  \
  }                                                                                                \
  static void NAME##Gradients(const TileRow *of, int64_t columns, const real *x, int64_t step,     \
                              int64_t tileStep, real *y, real *sums)                               \
  {                                                                                                \
    gradientsOf(of, SIDE, TAPS, columns, x, step, tileStep, y, sums);                              \
  }                                                                                                \
  static bool NAME##Taps(int64_t filters, int64_t lanes, const real *x, int64_t step, real *y)     \
  {                                                                                                \
    return tapsOf(SIDE, TAPS, filters, lanes, x, step, y);                                         \
  }

DEFINE_TILES(two, 2, 3)
DEFINE_TILES(four, 4, 3)
DEFINE_TILES(twoOfFive, 2, 5)
DEFINE_TILES(twoOfTwo, 2, 2)
DEFINE_TILES(fourOfTwo, 4, 2)

#define TILES(NAME, SIDE, TAPS)                                                                    \
  {.side = (SIDE),                                                                                 \
   .taps = (TAPS),                                                                                 \
   .coefficients = seenBy(SIDE, TAPS) * seenBy(SIDE, TAPS),                                        \
   .lines =                                                                                        \
       keptLines(SIDE, TAPS) + seenBy(SIDE, TAPS) * (int64_t)(sizeof(SplitLine) / sizeof(real)),   \
   .source = NAME##Source,                                                                         \
   .weights = NAME##Weights,                                                                       \
   .result = NAME##Result,                                                                         \
   .gradients = NAME##Gradients,                                                                   \
   .toTaps = NAME##Taps}

enum { FRAMES = 2, FRAME_TAPS = 3, FRAME_COEFFICIENTS = FRAMES + FRAME_TAPS - 1 };

/* Transforms `count` frames or taps, vector by vector; `count` and `elements`, which says
 * that they are frames, are constants where this is called. */
INLINE void spreadVectors(const bool elements, const int count, int64_t n, const real *const *x,
                          int64_t step, real *y)
{
  for (int64_t i = 0; i < n; i += LANES) {
    const int64_t left = n - i < LANES ? n - i : LANES;
    Vector given[FRAME_COEFFICIENTS], coefficient[FRAME_COEFFICIENTS];
#pragma GCC unroll 4
    for (int k = 0; k < count; k++)
      given[k] = loadFirst(x[k] + i, left);
    if (elements)
      spreadElements(FRAME_COEFFICIENTS, given, coefficient);
    else
      spreadFactors(FRAME_COEFFICIENTS, count, given, coefficient);
#pragma GCC unroll 4
    for (int k = 0; k < FRAME_COEFFICIENTS; k++)
      storeInside(y + k * step + i, left, coefficient[k]);
  }
}

static void frames(int64_t n, const real *const *x, int64_t step, real *y)
{
  spreadVectors(true, FRAME_COEFFICIENTS, n, x, step, y);
}

static void frameWeights(int64_t n, const real *const *x, int64_t step, real *y)
{
  spreadVectors(false, FRAME_TAPS, n, x, step, y);
}

static bool frameResults(int64_t n, const real *x, int64_t step, const real *start, int results,
                         int64_t yStep, real *y)
{
  Vector undefined = {0};
  for (int64_t i = 0; i < n; i += LANES) {
    const int64_t left = n - i < LANES ? n - i : LANES;
    const Vector before = start ? loadFirst(start + i, left) : (Vector){0};
    Vector p[FRAME_COEFFICIENTS], result[FRAMES];
#pragma GCC unroll 4
    for (int k = 0; k < FRAME_COEFFICIENTS; k++)
      p[k] = loadFirst(x + k * step + i, left);
    gatherSums(FRAME_COEFFICIENTS, FRAMES, p, result);
    for (int k = 0; k < results; k++) {
      const Vector sum = before + result[k];
      storeInside(y + k * yStep + i, left, sum);
      undefined += 0 * sum;
    }
  }
  return isZero(undefined);
}

const SimdWinograd SIMD_TABLE(Winograd, THNN_SIMD_LEVEL) = {
    .two = TILES(two, 2, 3),
    .four = TILES(four, 4, 3),
    .twoOfFive = TILES(twoOfFive, 2, 5),
    .twoOfTwo = TILES(twoOfTwo, 2, 2),
    .fourOfTwo = TILES(fourOfTwo, 4, 2),
    .frames = frames,
    .frameWeights = frameWeights,
    .frameResults = frameResults,
};
