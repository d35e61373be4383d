/* Sums of shifted rows, whose lanes are neighbouring positions, where outerProducts.c has a plane
 * in each lane: the inner loops of convolutions that join single planes, and of engine/lines.c and
 * engine/linesWeight.c. */
#include "simd/kernels/pieces.h"
#include "simd/vector/prefetch.h"
#include "simd/vector/transpose.h"

enum {
  MOST_VECTORS = VECTOR_REGISTERS == 32 ? 8 : 4, /* vectors that are summed up at a time */
  MOST_TAPS = 4,                                 /* taps that are dotted at a time */
  /* Planes and taps of a tile, whose sums stay in registers beside a vector of each tap and one of
   * a plane. */
  TILE_PLANES = VECTOR_REGISTERS == 32 ? 4 : 2,
  TILE_TAPS = VECTOR_REGISTERS == 32 ? 6 : 5,
  MOST_SUM_VECTORS = 6
};

/* The most vectors of positions that are summed up at a time for a number of planes. */
static inline int mostSumVectors(int planes)
{
  const int most = TILE_PLANES * TILE_TAPS / planes;
  return most < MOST_SUM_VECTORS ? most : MOST_SUM_VECTORS;
}

/* Clears at least n elements of y, in whole vectors. */
INLINE void clearRow(int64_t n, real *y)
{
  for (int64_t i = 0; i < n; i += LANES)
    store(y + i, (Vector){0});
}

INLINE void padBySteps(const PaddedRows *padded, int64_t step)
{
  const int64_t before = padded->before, count = padded->count;
  for (int64_t r = 0; r < padded->rows; r++) {
    const real *x = padded->x + r * padded->xStride;
    real *y = padded->y + r * padded->yStride;
    clearRow(before, y);
    y += before;
    if (step == 1)
      copyRow(count, x, y);
    else
      for (int64_t i = 0; i < count; i++)
        y[i] = x[step * i];
    clearRow(padded->after, y + count);
  }
}

static void pad(const PaddedRows *padded)
{
  if (padded->step == 1)
    padBySteps(padded, 1);
  else if (padded->step == 2) /* compilers turn a constant step into shuffles instead of gathers */
    padBySteps(padded, 2);
  else
    padBySteps(padded, padded->step);
}

/* Prefetch distance in planes: their pieces are too far apart in memory for the hardware to
 * prefetch them. */
enum { PLANES_AHEAD = 4 };

static void cut(const Chunks *chunks)
{
  const int64_t length = chunks->length, chunk = chunks->first / length;
  const int64_t inChunk = chunks->first % length;
  const int64_t room = length - inChunk, begun = room < chunks->n ? room : chunks->n;
  for (int64_t plane = 0; plane < chunks->planes; plane++) {
    const real *x = chunks->x + plane * chunks->xStride, *end = x + chunks->n;
    real *y = chunks->y + chunk * chunks->yStride + plane * length;
    for (int64_t i = 0; i < chunks->n; i += 64 / (int64_t)sizeof(real))
      __builtin_prefetch(x + PLANES_AHEAD * chunks->xStride + i);
    copyRow(begun, x, y + inChunk);
    for (x += begun; x + length <= end; x += length) {
      y += chunks->yStride;
      copyRow(length, x, y);
    }
    if (x < end)
      copyRow(end - x, x, y + chunks->yStride);
  }
}

static void interleave(int64_t n, const real *a, const real *b, real *y)
{
  const int64_t pairs = n / 2;
#pragma omp simd
  for (int64_t i = 0; i < pairs; i++) {
    y[2 * i] = a[i];
    y[2 * i + 1] = b[i];
  }
  if (n % 2 > 0)
    y[n - 1] = a[pairs];
}

/* Sums up `vectors` vectors of a row, starting at i. The last one begins at `last`, so that it ends
 * where the row does, and can overlap the one before. */
INLINE void sumVectors(const int vectors, int64_t i, int64_t last, const ShiftedSums *of,
                       const real *x, real *y)
{
  Vector sum[MOST_VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++)
    sum[v] = broadcast(of->start);
  for (int64_t t = 0; t < of->taps; t++) {
    const real *shifted = x + of->offsets[t];
    const Vector factor = broadcast(of->factors[t]);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++)
      sum[v] += factor * load(shifted + (v == vectors - 1 ? last : i + v * LANES));
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++)
    store(y + (v == vectors - 1 ? last : i + v * LANES), sum[v]);
}

static void sumRows(const ShiftedSums *of)
{
  const int64_t n = of->n;
  for (int64_t r = 0; r < of->rows; r++) {
    const real *x = of->x + r * of->xStride;
    real *y = of->y + r * of->yStride;
    if (n < LANES) {
      real short_[LANES];
      sumVectors(1, 0, 0, of, x, short_);
      copyRow(n, short_, y);
      continue;
    }
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES)
      sumVectors(4, i, i + 3 * LANES, of, x, y);
    const int64_t left = n - i, last = n - LANES;
    if (left > 3 * LANES)
      sumVectors(4, i, last, of, x, y);
    else if (left > 2 * LANES)
      sumVectors(3, i, last, of, x, y);
    else if (left > LANES)
      sumVectors(2, i, last, of, x, y);
    else if (left > 0)
      sumVectors(1, i, last, of, x, y);
  }
}

/* Adds to `vectors` vectors, starting at position i. */
INLINE void addVectors(const int vectors, int64_t i, int64_t taps, const int64_t *offsets,
                       const real *factors, const real *x, real *y)
{
  Vector sum[MOST_VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++)
    sum[v] = load(y + i + v * LANES);
  for (int64_t t = 0; t < taps; t++) {
    const real *shifted = x + offsets[t] + i;
    const Vector factor = broadcast(factors[t]);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++)
      sum[v] += factor * load(shifted + v * LANES);
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++)
    store(y + i + v * LANES, sum[v]);
}

static void add(int64_t n, int64_t taps, const int64_t *offsets, const real *factors, const real *x,
                real *y)
{
  int64_t i = 0;
  for (; i + (MOST_VECTORS - 1) * LANES < n; i += MOST_VECTORS * LANES)
    addVectors(MOST_VECTORS, i, taps, offsets, factors, x, y);
  for (; i + LANES < n; i += 2 * LANES)
    addVectors(2, i, taps, offsets, factors, x, y);
  if (i < n)
    addVectors(1, i, taps, offsets, factors, x, y);
}

INLINE double addLanes(Vector x)
{
  double sum = 0;
#pragma GCC unroll 16
  for (int l = 0; l < LANES; l++)
    sum += x[l];
  return sum;
}

INLINE void dotTaps(const int taps, const Shifted *of, const int64_t *offsets, double *sums)
{
  const Lanes last = firstLanes(of->n % LANES);
  Vector sum[MOST_TAPS];
#pragma GCC unroll 4
  for (int t = 0; t < taps; t++)
    sum[t] = (Vector){0};
  for (int64_t r = 0; r < of->rows; r++) {
    const real *x = of->x + r * of->xStride, *y = of->y + r * of->yStride;
    int64_t i = 0;
    for (; i + LANES <= of->n; i += LANES) {
      const Vector factor = load(y + i);
#pragma GCC unroll 4
      for (int t = 0; t < taps; t++)
        sum[t] += factor * load(x + offsets[t] + i);
    }
    if (i < of->n) {
      const Vector factor = load(y + i);
#pragma GCC unroll 4
      for (int t = 0; t < taps; t++)
        sum[t] += factor * loadLanes(x + offsets[t] + i, last);
    }
  }
#pragma GCC unroll 4
  for (int t = 0; t < taps; t++)
    sums[t] += addLanes(sum[t]);
}

static void dot(const Shifted *of, int64_t taps, const int64_t *offsets, double *sums)
{
  const int64_t groups = (taps + MOST_TAPS - 1) / MOST_TAPS;
  for (int64_t group = 0; group < groups; group++) {
    const int64_t begin = taps * group / groups, end = taps * (group + 1) / groups;
    switch (end - begin) {
    case 1:
      dotTaps(1, of, offsets + begin, sums + begin);
      break;
    case 2:
      dotTaps(2, of, offsets + begin, sums + begin);
      break;
    case 3:
      dotTaps(3, of, offsets + begin, sums + begin);
      break;
    default:
      dotTaps(MOST_TAPS, of, offsets + begin, sums + begin);
    }
  }
}

/* The operands and sums of a tile of dotLines(). In place of missing planes, it has the last plane
 * once more, with sums that are not used. */
typedef struct Tile {
  const LineDots *of;
  const real *x[TILE_TAPS], *y[TILE_PLANES];
  real *sums[TILE_PLANES], *totals[TILE_PLANES];
} Tile;

/* Adds the products of one vector, a whole one or its first `lanes`. */
INLINE void addTile(const int taps, const bool whole, Lanes lanes, const Tile *tile,
                    THNNPosition at, Vector (*sum)[TILE_TAPS])
{
  Vector shifted[TILE_TAPS];
#pragma GCC unroll 6
  for (int t = 0; t < taps; t++)
    shifted[t] = whole ? load(tile->x[t] + at.x) : loadLanes(tile->x[t] + at.x, lanes);
#pragma GCC unroll 4
  for (int p = 0; p < TILE_PLANES; p++) {
    const Vector factor = whole ? load(tile->y[p] + at.y) : loadLanes(tile->y[p] + at.y, lanes);
#pragma GCC unroll 6
    for (int t = 0; t < taps; t++)
      sum[p][t] += factor * shifted[t];
  }
}

/* Computes a tile. It goes through a list of vectors instead of looping over lines: with short
 * lines, starting the next one was measured to take nearly as long as the products. */
INLINE void dotTile(const int taps, const Tile *tile)
{
  const LineDots *of = tile->of;
  const Lanes lanes = firstLanes(of->vectors.lanes);
  const THNNPosition *at = of->vectors.at, *parts = at + of->vectors.whole;
  const THNNPosition *end = parts + of->vectors.parts;
  Vector sum[TILE_PLANES][TILE_TAPS] = {{{0}}};
  for (; at < parts; at++)
    addTile(taps, true, lanes, tile, *at, sum);
  for (; at < end; at++)
    addTile(taps, false, lanes, tile, *at, sum);
#pragma GCC unroll 4
  for (int p = 0; p < TILE_PLANES; p++)
#pragma GCC unroll 6
    for (int t = 0; t < taps; t++)
      store(tile->sums[p] + t * LANES, load(tile->sums[p] + t * LANES) + sum[p][t]);
}

/* Adds the vectors of y to the planes' totals. */
INLINE void totalTile(const Tile *tile)
{
  const LineDots *of = tile->of;
  const Lanes lanes = firstLanes(of->vectors.lanes);
  const THNNPosition *at = of->vectors.at, *parts = at + of->vectors.whole;
  const THNNPosition *end = parts + of->vectors.parts;
  Vector sum[TILE_PLANES] = {{0}};
  for (; at < parts; at++)
#pragma GCC unroll 4
    for (int p = 0; p < TILE_PLANES; p++)
      sum[p] += load(tile->y[p] + at->y);
  for (; at < end; at++)
#pragma GCC unroll 4
    for (int p = 0; p < TILE_PLANES; p++)
      sum[p] += loadLanes(tile->y[p] + at->y, lanes);
#pragma GCC unroll 4
  for (int p = 0; p < TILE_PLANES; p++)
    store(tile->totals[p], load(tile->totals[p]) + sum[p]);
}

/* Makes `taps` a constant. */
INLINE void dotSome(int64_t taps, const Tile *tile)
{
  switch (taps) {
  case 1:
    dotTile(1, tile);
    break;
  case 2:
    dotTile(2, tile);
    break;
  case 3:
    dotTile(3, tile);
    break;
  case 4:
    dotTile(4, tile);
    break;
  case 5:
    dotTile(5, tile);
    break;
  default:
    dotTile(TILE_TAPS, tile);
  }
}

/* Prefetches part `group` of `groups` of planes [first, end) of y, while the tiles before them are
 * computed. */
static void prefetchPart(const LineDots *of, int64_t first, int64_t end, int64_t group,
                         int64_t groups)
{
  const int64_t count = of->vectors.whole + of->vectors.parts;
  const THNNPosition *last = of->vectors.at + count * (group + 1) / groups;
  for (const THNNPosition *at = of->vectors.at + count * group / groups; at < last; at++)
    for (int64_t plane = first; plane < end; plane++)
      __builtin_prefetch(of->y + plane * of->yPlane + at->y);
}

/* The tile of taps [begin, end) and of planes starting with `first`. */
static Tile tileAt(const LineDots *of, int64_t first, int64_t begin, int64_t end, real *unused)
{
  Tile tile = {.of = of};
  for (int64_t t = begin; t < end; t++)
    tile.x[t - begin] = of->x + of->offsets[t];
  for (int64_t p = 0; p < TILE_PLANES; p++) {
    const bool present = first + p < of->planes;
    tile.y[p] = of->y + (present ? first + p : of->planes - 1) * of->yPlane;
    tile.sums[p] = present ? of->sums + ((first + p) * of->taps + begin) * LANES : unused;
    tile.totals[p] = present && of->totals ? of->totals + (first + p) * LANES : unused;
  }
  return tile;
}

static void dotLines(const LineDots *of)
{
  real unused[TILE_TAPS * LANES];
  const int64_t groups = (of->taps + TILE_TAPS - 1) / TILE_TAPS;
  for (int64_t first = 0; first < of->planes; first += TILE_PLANES) {
    const int64_t next = first + TILE_PLANES, left = of->planes - next;
    for (int64_t group = 0; group < groups; group++) {
      const int64_t begin = of->taps * group / groups, end = of->taps * (group + 1) / groups;
      const Tile tile = tileAt(of, first, begin, end, unused);
      prefetchPart(of, next, next + (left < TILE_PLANES ? left : TILE_PLANES), group, groups);
      dotSome(end - begin, &tile);
      if (of->totals && group == 0)
        totalTile(&tile);
    }
  }
}

/* Sums up `vectors` vectors of `planes` planes: if they are not all whole, the first ones before
 * `parts` are, and of the others the first `lanes`. */
INLINE void sumTile(const int planes, const int vectors, const bool whole, int64_t lanes,
                    const LineSums *of, int64_t firstPlane, const THNNPosition *at,
                    const THNNPosition *parts)
{
  const real *factor = of->factors + firstPlane * of->taps, *x[MOST_SUM_VECTORS];
  Vector sum[TILE_PLANES][MOST_SUM_VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++)
    x[v] = of->x + at[v].x;
#pragma GCC unroll 4
  for (int p = 0; p < planes; p++)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++) {
      const real *y = of->y + (firstPlane + p) * of->yPlane + at[v].y;
      if (of->start)
        sum[p][v] = broadcast(of->start[firstPlane + p]);
      else
        sum[p][v] = whole || at + v < parts ? load(y) : loadFirst(y, lanes);
    }
  for (int64_t t = 0; t < of->taps; t++, factor += TILE_PLANES) {
    const int64_t offset = of->offsets[t];
    Vector shifted[MOST_SUM_VECTORS];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++)
      shifted[v] = load(x[v] + offset);
#pragma GCC unroll 4
    for (int p = 0; p < planes; p++) {
      const Vector one = broadcast(factor[p]);
#pragma GCC unroll 8
      for (int v = 0; v < vectors; v++)
        sum[p][v] += shifted[v] * one;
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < planes; p++)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++) {
      real *y = of->y + (firstPlane + p) * of->yPlane + at[v].y;
      if (whole || at + v < parts)
        store(y, sum[p][v]);
      else
        storeFirst(y, lanes, sum[p][v]);
    }
}

/* Makes `vectors` a constant. */
INLINE void sumSome(const int planes, int64_t vectors, const bool whole, int64_t lanes,
                    const LineSums *of, int64_t firstPlane, const THNNPosition *at,
                    const THNNPosition *parts)
{
#define CASE(VECTORS)                                                                              \
  case VECTORS:                                                                                    \
    if (VECTORS <= mostSumVectors(planes))                                                         \
      sumTile(planes, VECTORS, whole, lanes, of, firstPlane, at, parts);                           \
    break
  switch (vectors) {
    CASE(1);
    CASE(2);
    CASE(3);
    CASE(4);
    CASE(5);
    CASE(6);
  }
#undef CASE
}

INLINE void sumVectorsOf(const int planes, const bool whole, const LineSums *of, int64_t firstPlane,
                         const THNNPosition *at, int64_t count)
{
  const int64_t lanes = of->vectors.lanes;
  const int64_t most = mostSumVectors(planes), tiles = (count + most - 1) / most;
  const THNNPosition *parts = of->vectors.at + of->vectors.whole;
  Pieces cut = cutPieces(count, tiles);
  for (int64_t tile = 0; tile < tiles; tile++) {
    const THNNRange part = nextPiece(&cut);
    sumSome(planes, part.end - part.begin, whole, lanes, of, firstPlane, at + part.begin, parts);
  }
}

/* Sums up the planes of a group; the last group may have fewer. */
INLINE void sumGroup(const bool whole, const LineSums *of, int64_t firstPlane,
                     const THNNPosition *at, int64_t count)
{
  switch (of->planes - firstPlane) {
  case 1:
    sumVectorsOf(1, whole, of, firstPlane, at, count);
    break;
  case 2:
    sumVectorsOf(2, whole, of, firstPlane, at, count);
    break;
#ifdef MANY_REGISTERS
  case 3:
    sumVectorsOf(3, whole, of, firstPlane, at, count);
    break;
#endif
  default:
    sumVectorsOf(TILE_PLANES, whole, of, firstPlane, at, count);
  }
}

/* Prefetches part `group` of `groups` of what some vectors read of x, while the vectors before them
 * are computed. */
static void prefetchStreams(const LineSums *of, const THNNPosition *at, int64_t vectors,
                            int64_t group, int64_t groups)
{
  const int64_t end = of->taps * (group + 1) / groups;
  for (int64_t t = of->taps * group / groups; t < end; t++)
    for (int64_t v = 0; v < vectors; v++)
      __builtin_prefetch(of->x + of->offsets[t] + at[v].x);
}

/* Prefetches the sums of a group of planes in some vectors. */
static void prefetchSums(const LineSums *of, const THNNPosition *at, int64_t vectors, int64_t group)
{
  const int64_t first = group * TILE_PLANES, end = first + TILE_PLANES;
  for (int64_t plane = first; plane < end && plane < of->planes; plane++)
    for (int64_t v = 0; v < vectors; v++)
      __builtin_prefetch(of->y + plane * of->yPlane + at[v].y, WRITE);
}

/* The most vectors of a tile. */
static int64_t tileVectors(const LineSums *of)
{
  return mostSumVectors(of->planes < TILE_PLANES ? (int)of->planes : TILE_PLANES);
}

/* Number of vectors in a strip, which is summed up for all planes before the next strip. A strip is
 * as long as its part of x stays in the first-level cache or a small part of the second, since
 * longer strips write longer runs of y. If y is much larger than x, all vectors are one strip. */
static int64_t stripVectors(const LineSums *of, int64_t count)
{
  enum { STRIP_BYTES = 48 << 10, MANY_TIMES = 4 };
  if (of->planes >= MANY_TIMES * of->taps)
    return count;
  const int64_t tile = tileVectors(of);
  const int64_t tiles = STRIP_BYTES / (of->taps * tile * VECTOR_BYTES);
  return tiles > 1 ? tiles * tile : tile;
}

INLINE void sumStrips(const bool whole, const LineSums *of, const THNNPosition *at, int64_t count)
{
  if (count == 0)
    return;
  const int64_t most = stripVectors(of, count), strips = (count + most - 1) / most;
  const int64_t groups = (of->planes + TILE_PLANES - 1) / TILE_PLANES;
  for (int64_t strip = 0; strip < strips; strip++) {
    const int64_t begin = count * strip / strips, end = count * (strip + 1) / strips;
    const int64_t next = count * (strip + 2) / strips;
    for (int64_t group = 0; group < groups; group++) {
      if (strips > 1 && group + 1 < groups)
        prefetchSums(of, at + begin, end - begin, group + 1);
      else if (strip + 1 < strips)
        prefetchSums(of, at + end, next - end, 0);
      if (of->streams && strip + 1 < strips)
        prefetchStreams(of, at + end, next - end, group, groups);
      sumGroup(whole, of, group * TILE_PLANES, at + begin, end - begin);
    }
  }
}

/* Partial vectors that do not fill a tile share one with whole vectors: a tile of one vector would
 * wait for its sums. */
static void sumLines(const LineSums *of)
{
  const Vectors *vectors = &of->vectors;
  const int64_t all = vectors->whole + vectors->parts, most = tileVectors(of);
  const int64_t tiles = (all + most - 1) / most;
  int64_t whole = vectors->whole;
  if (vectors->parts > 0 && vectors->parts < most && all * (tiles - 1) / tiles < whole)
    whole = all * (tiles - 1) / tiles;
  sumStrips(true, of, vectors->at, whole);
  sumStrips(false, of, vectors->at + whole, all - whole);
}

static void addAllLanes(int64_t n, const real *vectors, real *sums)
{
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const Vector four[4] = {load(vectors + i * LANES), load(vectors + (i + 1) * LANES),
                            load(vectors + (i + 2) * LANES), load(vectors + (i + 3) * LANES)};
    sumLanes(four, sums + i);
  }
  for (; i < n; i++) {
    const Vector last[4] = {load(vectors + i * LANES)};
    real four[4];
    sumLanes(last, four);
    sums[i] = four[0];
  }
}

const SimdShifts SIMD_TABLE(Shifts, THNN_SIMD_LEVEL) = {
    .tilePlanes = TILE_PLANES,
    .tileTaps = TILE_TAPS,
    .pad = pad,
    .cut = cut,
    .sumRows = sumRows,
    .interleave = interleave,
    .add = add,
    .dot = dot,
    .dotLines = dotLines,
    .sumLines = sumLines,
    .addLanes = addAllLanes,
};
