/* Sums of outer products, the inner loop of direct convolution, and the transposition that brings
 * their operands into vectors.
 *
 * A tile of rows x vectors is summed up in registers: each term loads its vectors once and
 * multiplies them by one scalar per row. Tiles are as large as the registers allow beside the
 * vectors of a term and one scalar, so that multiplications far outnumber loads. */
#include <string.h>

#include "simd/vector/prefetch.h"
#include "simd/vector/transpose.h"

enum {
  MOST_VECTORS = VECTOR_REGISTERS == 32 ? 4
  : VECTOR_BYTES == 32                  ? 3
                                        : 2,
  MOST_ROWS = 8, /* more pointers than that do not fit into the other registers */
  /* Terms in one register sum: with short sums the error stays near that of a blocked product. */
  TERMS_PER_SUM = 256,
  LINE = 64 / sizeof(real), /* of neighbours in cache */
  /* A line's sums, the factors of a chain and a scalar fit into the registers. */
  LONGEST_TILE = VECTOR_REGISTERS == 32 ? 24 : 12,
  MOST_CHAINS = VECTOR_REGISTERS == 32 ? 8 : 4, /* whose sums fit beside them */
  /* Scalars at either end of a chain of which padding often hides some. */
  CHECKED = 3
};

/* Rows of a full tile, by its vectors. */
static inline int tileRows(int vectors)
{
  const int registers = VECTOR_REGISTERS - vectors - 1;
  const int rows = registers / vectors;
  return rows < MOST_ROWS ? rows : MOST_ROWS;
}

typedef THNN_(Products) Products;

/* Sums that each sum of a tile is made of: products that wait for the one before take several times
 * as long. */
static inline int partialSums(int rows, int vectors)
{
  return rows * vectors == 1 ? 4 : rows * vectors <= 4 ? 2 : 1;
}

/* Adds one term to the sums; `rows` and `vectors` are constants where this is called. */
INLINE void addTerm(const Products *p, const THNNOffsets *term, const int rows, const int vectors,
                    const real *const *scalar, Vector (*sum)[4])
{
  Vector factor[4];
#pragma GCC unroll 8
  for (int j = 0; j < vectors; j++)
    factor[j] = load(p->factors + term->vector + j * LANES);
#pragma GCC unroll 16
  for (int i = 0; i < rows; i++) {
    const Vector x = broadcast(scalar[i][term->scalar]);
#pragma GCC unroll 8
    for (int j = 0; j < vectors; j++)
      sum[i][j] += x * factor[j];
  }
}

/* Adds terms [first, last) to one tile; `rows` and `vectors` are constants where this is called. */
INLINE void addTerms(const Products *p, const THNNOffsets *row, const int rows, const int vectors,
                     int64_t first, int64_t last)
{
  enum { MOST_PARTS = 4 };
  const int parts = partialSums(rows, vectors);
  Vector sum[MOST_PARTS][MOST_ROWS][4];
  const real *scalar[MOST_ROWS];
#pragma GCC unroll 16
  for (int i = 0; i < rows; i++) {
    scalar[i] = p->scalars + row[i].scalar;
#pragma GCC unroll 4
    for (int part = 0; part < parts; part++)
#pragma GCC unroll 8
      for (int j = 0; j < vectors; j++)
        sum[part][i][j] = (Vector){0};
  }
  const THNNOffsets *term = p->term + first, *end = p->term + last;
  while (term < end) {
    const THNNOffsets *stop = p->streams && end - term > LINE ? term + LINE : end;
    if (p->streams)
#pragma GCC unroll 8
      for (int i = 0; i < rows; i++)
        __builtin_prefetch(scalar[i] + rows * p->streams + term->scalar, READ, SECOND_LEVEL);
    for (; term + parts <= stop; term += parts)
#pragma GCC unroll 4
      for (int part = 0; part < parts; part++)
        addTerm(p, term + part, rows, vectors, scalar, sum[part]);
    for (; parts > 1 && term < stop; term++)
      addTerm(p, term, rows, vectors, scalar, sum[0]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; i++) {
    real *total = p->sums + row[i].vector;
    const real *before = p->start && first == 0 ? p->start : total;
#pragma GCC unroll 8
    for (int j = 0; j < vectors; j++) {
      Vector all = sum[0][i][j];
#pragma GCC unroll 4
      for (int part = 1; part < parts; part++)
        all += sum[part][i][j];
      store(total + j * LANES, load(before + j * LANES) + all);
    }
  }
}

INLINE void addRows(const Products *p, const THNNOffsets *row, const int rows, const int vectors)
{
  int64_t first = 0;
  do {
    const int64_t last = first + TERMS_PER_SUM;
    addTerms(p, row, rows, vectors, first, last < p->terms ? last : p->terms);
    first = last;
  } while (first < p->terms);
}

/* Makes `rows` a constant. */
INLINE void addTile(const Products *p, const THNNOffsets *row, int rows, const int vectors)
{
  if (rows < 1 || rows > tileRows(vectors))
    __builtin_unreachable();
  switch (rows) {
  case 1:
    return addRows(p, row, 1, vectors);
  case 2:
    return addRows(p, row, 2, vectors);
  case 3:
    return addRows(p, row, 3, vectors);
  case 4:
    return addRows(p, row, 4, vectors);
  case 5:
    return addRows(p, row, 5, vectors);
  case 6:
    return addRows(p, row, 6, vectors);
  case 7:
    return addRows(p, row, 7, vectors);
  default:
    return addRows(p, row, MOST_ROWS, vectors);
  }
}

/* Cuts the rows into tiles of nearly equal height: a tile of few rows is mostly loads. */
INLINE void addTiles(const Products *p, const int vectors)
{
  const int64_t tiles = (p->rows + tileRows(vectors) - 1) / tileRows(vectors);
  for (int64_t tile = 0; tile < tiles; tile++) {
    const int64_t begin = p->rows * tile / tiles, end = p->rows * (tile + 1) / tiles;
    addTile(p, p->row + begin, (int)(end - begin), vectors);
  }
}

static void add(const Products *p)
{
  if (p->vectors < 1 || p->vectors > MOST_VECTORS)
    __builtin_unreachable();
  switch (p->vectors) {
  case 1:
    return addTiles(p, 1);
  case 2:
    return addTiles(p, 2);
  case 3:
    return addTiles(p, 3);
  default:
    return addTiles(p, 4);
  }
}

/* Positions of the longest tile, by its vectors. */
#define CHAIN_TILE(VECTORS)                                                                        \
  ((VECTORS) == 1 ? LONGEST_TILE : (VECTOR_REGISTERS - (VECTORS) - 1) / (VECTORS))

/* Adds one chain, or a part of it, of whose scalars [begin, end) are seen; the first of all is at
 * `scalar`. Where `nearly` all are, only the first and the last few are checked. */
INLINE void addChain(const int positions, const int taps, const int vectors, const bool nearly,
                     int64_t begin, int64_t end, const real *scalar, int64_t spacing,
                     const real *factors, int64_t factorStep, Vector (*sum)[4])
{
  enum { STRIDE = 4 }; /* scalars whose addresses take no addition of their own */
  const int count = positions + taps - 1;
  Vector factor[THNN_CHAIN_TAPS][4];
#pragma GCC unroll 3
  for (int k = 0; k < taps; k++)
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++)
      factor[k][j] = load(factors + k * factorStep + j * LANES);
#pragma GCC unroll 26
  for (int seen = 0; seen < count; seen++) {
    if (seen > 0 && seen % STRIDE == 0)
      scalar += STRIDE * spacing;
    if ((!nearly || seen < CHECKED) && seen < begin)
      continue;
    if ((!nearly || seen >= count - CHECKED) && seen >= end)
      break;
    const Vector x = broadcast(scalar[seen % STRIDE * spacing]);
#pragma GCC unroll 3
    for (int k = 0; k < taps; k++)
      if (seen - k >= 0 && seen - k < positions)
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++)
          sum[seen - k][j] += x * factor[k][j];
  }
}

/* Adds chains [first, last), `taps` taps at a time, to neighbours of a line from number `begin` on.
 * Their number `positions`, `taps` and `vectors` are constants where this is called. A scalar is
 * loaded once for all taps that see it. */
INLINE void addChainTerms(const int positions, const int taps, const int vectors,
                          const THNN_(Chains) * of, const THNNOffsets *line, int64_t begin,
                          int64_t first, int64_t last)
{
  Vector sum[LONGEST_TILE][4];
#pragma GCC unroll 24
  for (int i = 0; i < positions; i++)
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++)
      sum[i][j] = (Vector){0};
  for (int64_t tap = 0; tap < of->taps; tap += taps) {
    const int64_t before = begin + tap, missed = of->begin - before, end = of->end - before;
    const real *scalars = of->scalars + line->scalar + before * of->spacing;
    const real *factors = of->factors + tap * of->factorStep;
    const THNNOffsets *chain = of->chain + first, *stop = of->chain + last;
    if (missed <= CHECKED && end >= positions + taps - 1 - CHECKED)
      for (; chain < stop; chain++)
        addChain(positions, taps, vectors, true, missed, end, scalars + chain->scalar, of->spacing,
                 factors + chain->vector, of->factorStep, sum);
    else
      for (; chain < stop; chain++)
        addChain(positions, taps, vectors, false, missed, end, scalars + chain->scalar, of->spacing,
                 factors + chain->vector, of->factorStep, sum);
  }
  real *total = of->sums + line->vector + begin * of->sumStep;
  const bool begins = of->start && first == 0;
#pragma GCC unroll 24
  for (int i = 0; i < positions; i++) {
    const real *before = begins ? of->start : total + i * of->sumStep;
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++)
      store(total + i * of->sumStep + j * LANES, load(before + j * LANES) + sum[i][j]);
  }
}

INLINE void addChainTile(const int positions, const int taps, const int vectors,
                         const THNN_(Chains) * of, const THNNOffsets *line, int64_t begin)
{
  const int64_t most = TERMS_PER_SUM / of->taps > 0 ? TERMS_PER_SUM / of->taps : 1;
  int64_t first = 0;
  do {
    const int64_t last = first + most < of->chains ? first + most : of->chains;
    addChainTerms(positions, taps, vectors, of, line, begin, first, last);
    first = last;
  } while (first < of->chains);
}

/* Makes `positions` a constant. */
INLINE void addChainsTo(int64_t positions, const int taps, const int vectors,
                        const THNN_(Chains) * of, const THNNOffsets *line, int64_t begin)
{
#define CASE(POSITIONS)                                                                            \
  case POSITIONS:                                                                                  \
    if (POSITIONS <= CHAIN_TILE(vectors))                                                          \
      addChainTile(POSITIONS, taps, vectors, of, line, begin);                                     \
    return
  switch (positions) {
    CASE(1);
    CASE(2);
    CASE(3);
    CASE(4);
    CASE(5);
    CASE(6);
    CASE(7);
    CASE(8);
    CASE(9);
    CASE(10);
    CASE(11);
    CASE(12);
#ifdef MANY_REGISTERS
    CASE(13);
    CASE(14);
    CASE(15);
    CASE(16);
    CASE(17);
    CASE(18);
    CASE(19);
    CASE(20);
    CASE(21);
    CASE(22);
    CASE(23);
    CASE(24);
#endif
  default:
    __builtin_unreachable();
  }
#undef CASE
}

/* Cuts lines into tiles of nearly equal length. */
INLINE void addChainLines(const int taps, const int vectors, const THNN_(Chains) * of)
{
  const int64_t tiles = (of->positions + CHAIN_TILE(vectors) - 1) / CHAIN_TILE(vectors);
  for (const THNNOffsets *line = of->line; line < of->line + of->lines; line++)
    for (int64_t tile = 0; tile < tiles; tile++) {
      const int64_t begin = of->positions * tile / tiles, end = of->positions * (tile + 1) / tiles;
      addChainsTo(end - begin, taps, vectors, of, line, begin);
    }
}

/* `taps` at a time. */
static void addEqualParts(int64_t taps, const THNN_(Chains) * of)
{
  switch (taps) {
  case 1:
    return addChainLines(1, 1, of);
  case 2:
    return addChainLines(2, 1, of);
  default:
    return addChainLines(THNN_CHAIN_TAPS, 1, of);
  }
}

/* Cuts chains into parts of nearly equal length: one tap alone would be mostly loads. */
static void addParts(const THNN_(Chains) * of)
{
  const int64_t parts = (of->taps + THNN_CHAIN_TAPS - 1) / THNN_CHAIN_TAPS, taps = of->taps / parts;
  const int64_t before = of->taps % parts * (taps + 1);
  THNN_(Chains) part = *of;
  if (before > 0) {
    part.taps = before;
    addEqualParts(taps + 1, &part);
    part.start = NULL;
  }
  part.taps = of->taps - before;
  part.begin -= before;
  part.end -= before;
  part.scalars += before * of->spacing;
  part.factors += before * of->factorStep;
  addEqualParts(taps, &part);
}

static void addChains(const THNN_(Chains) * of)
{
  if (of->vectors < 1 || of->vectors > MOST_VECTORS)
    __builtin_unreachable();
  switch (of->vectors) {
  case 1:
    return addParts(of);
  case 2:
    return addChainLines(1, 2, of);
  case 3:
    return addChainLines(1, 3, of);
  default:
    return addChainLines(1, 4, of);
  }
}

/* Adds to the rows' sums what position `at` of a line, counted in scalars, has to do with taps
 * [first, end); `factor[k]` are the factors that tap k meets there. All but the scalars are
 * constants where this is called. */
INLINE void correlatePosition(const int rows, const int first, const int end,
                              const real *const *scalar, int64_t at, const Vector *factor,
                              Vector (*sum)[THNN_CHAIN_TAPS])
{
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++) {
    const Vector x = broadcast(scalar[i][at]);
#pragma GCC unroll 3
    for (int k = first; k < end; k++)
      sum[i][k] += x * factor[k];
  }
}

/* Moves the factors on by one position: each tap meets those that the tap before has met. */
INLINE void moveFactors(const int taps, const real *next, Vector *factor)
{
#pragma GCC unroll 3
  for (int k = taps - 1; k > 0; k--)
    factor[k] = factor[k - 1];
  factor[0] = load(next);
}

/* `rows` chains of `taps` taps, both constants where this is called. The first and the last scalars
 * of a line meet only some of the taps; of those before `begin` only as many are passed as it takes
 * to have the factors that the next one meets. */
INLINE void correlateTile(const int rows, const int taps, const THNN_(Correlations) * of,
                          const THNNOffsets *row)
{
  const int64_t positions = of->positions;
  const int64_t beyond = of->begin < positions ? of->begin : positions;
  const int64_t passedOver = beyond < taps ? 0 : beyond - (taps - 1);
  const int64_t whole = of->end < positions ? of->end : positions;
  Vector sum[MOST_ROWS][THNN_CHAIN_TAPS];
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
    for (int k = 0; k < taps; k++)
      sum[i][k] = (Vector){0};
  for (const THNNOffsets *line = of->line; line < of->line + of->lines; line++) {
    const real *scalar[MOST_ROWS];
    const real *next = of->factors + line->vector + passedOver * of->factorStep;
    Vector factor[THNN_CHAIN_TAPS] = {{0}};
    int64_t at = passedOver;
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
      scalar[i] = of->scalars + row[i].scalar + line->scalar;
#pragma GCC unroll 3
    for (int met = 1; met < taps; met++, at++) {
      moveFactors(taps, next, factor);
      if (at >= of->begin && at < of->end)
        correlatePosition(rows, 0, met, scalar, at * of->spacing, factor, sum);
      next += of->factorStep;
    }
    for (; at < whole; at++) {
      moveFactors(taps, next, factor);
      correlatePosition(rows, 0, taps, scalar, at * of->spacing, factor, sum);
      next += of->factorStep;
    }
    at = positions;
    next -= of->factorStep;
#pragma GCC unroll 3
    for (int passed = 1; passed < taps; passed++, at++) {
      moveFactors(taps, next, factor);
      if (at >= of->begin && at < of->end)
        correlatePosition(rows, passed, taps, scalar, at * of->spacing, factor, sum);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
    for (int k = 0; k < taps; k++) {
      real *total = of->sums + row[i].vector + k * of->sumStep;
      store(total, load(total) + sum[i][k]);
    }
}

/* Makes `rows` a constant. */
INLINE void correlateSome(int64_t rows, const int taps, const THNN_(Correlations) * of,
                          const THNNOffsets *row)
{
  switch (rows) {
  case 1:
    return correlateTile(1, taps, of, row);
  case 2:
    return correlateTile(2, taps, of, row);
  case 3:
    return correlateTile(3, taps, of, row);
  case 4:
    return correlateTile(4, taps, of, row);
#ifdef MANY_REGISTERS
  case 5:
    return correlateTile(5, taps, of, row);
  case 6:
    return correlateTile(6, taps, of, row);
  case 7:
    return correlateTile(7, taps, of, row);
#endif
  default:
    return correlateTile(MOST_CHAINS, taps, of, row);
  }
}

INLINE void correlateTiles(const int taps, const THNN_(Correlations) * of)
{
  const int64_t tiles = (of->rows + MOST_CHAINS - 1) / MOST_CHAINS;
  for (int64_t tile = 0; tile < tiles; tile++) {
    const int64_t begin = of->rows * tile / tiles, end = of->rows * (tile + 1) / tiles;
    correlateSome(end - begin, taps, of, of->row + begin);
  }
}

static void correlate(const THNN_(Correlations) * of)
{
  if (of->taps == 2)
    correlateTiles(2, of);
  else
    correlateTiles(THNN_CHAIN_TAPS, of);
}

static void prefetch(int64_t n, const real *x)
{
  for (int64_t i = 0; i < n; i += LINE)
    __builtin_prefetch(x + i, READ, SECOND_LEVEL);
}

/* A block of LANES rows and LANES columns. */
static void transposeBlock(const real *x, int64_t xStride, real *y, int64_t yStride)
{
  Vector row[LANES];
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++)
    row[i] = load(x + i * xStride);
  transposeSquare(row);
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++)
    store(y + i * yStride, row[i]);
}

/* A block of LANES rows and fewer columns. Reads whole vectors: what lies behind a row's columns
 * is dropped, but must be readable. */
static void transposeNarrowBlock(int64_t columns, const real *x, int64_t xStride, real *y,
                                 int64_t yStride)
{
  Vector row[LANES];
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++)
    row[i] = load(x + i * xStride);
  transposeSquare(row);
  for (int64_t i = 0; i < columns; i++)
    store(y + i * yStride, row[i]);
}

/* Whole blocks; where they do not fit, the last ones overlap those before. */
static void transposeWide(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                          int64_t yStride)
{
  for (int64_t r = 0; r < rows; r += LANES) {
    const int64_t row = r + LANES <= rows ? r : rows - LANES;
    for (int64_t c = 0; c < columns; c += LANES) {
      const int64_t column = c + LANES <= columns ? c : columns - LANES;
      transposeBlock(x + row * xStride + column, xStride, y + column * yStride + row, yStride);
    }
  }
}

static void transposeNarrow(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                            int64_t yStride)
{
  const int64_t elements = (rows - 1) * xStride + columns; /* from the first to the last */
  for (int64_t r = 0; r < rows; r += LANES) {
    const int64_t row = r + LANES <= rows ? r : rows - LANES;
    if ((row + LANES - 1) * xStride + LANES <= elements) {
      transposeNarrowBlock(columns, x + row * xStride, xStride, y + row, yStride);
    } else {
      real copy[LANES * LANES] = {0};
      for (int64_t i = 0; i < LANES; i++)
        memcpy(copy + i * LANES, x + (row + i) * xStride, (size_t)columns * sizeof(real));
      transposeNarrowBlock(columns, copy, LANES, y + row, yStride);
    }
  }
}

static void transpose(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                      int64_t yStride)
{
  enum { WORTHWHILE_COLUMNS = 4 };
  if (rows >= LANES && columns >= LANES)
    transposeWide(rows, columns, x, xStride, y, yStride);
  else if (rows >= LANES && columns >= WORTHWHILE_COLUMNS)
    transposeNarrow(rows, columns, x, xStride, y, yStride);
  else
    for (int64_t column = 0; column < columns; column++)
      for (int64_t row = 0; row < rows; row++)
        y[column * yStride + row] = x[row * xStride + column];
}

/* A block of up to LANES rows and columns; what it has no row for becomes 0. */
static void packBlock(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                      int64_t lanes)
{
  Vector row[LANES];
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++) {
    if (i >= rows)
      row[i] = (Vector){0};
    else
      row[i] = loadFirst(x + i * xStride, columns);
  }
  transposeSquare(row);
  for (int64_t i = 0; i < columns; i++)
    store(y + i * lanes, row[i]);
}

static void pack(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                 int64_t lanes)
{
  const int64_t whole = rows - rows % LANES;
  if (whole)
    transpose(whole, columns, x, xStride, y, lanes);
  if (whole == lanes)
    return;
  for (int64_t c = 0; c < columns; c += LANES) {
    /* Where columns are no multiple of LANES, the last block overlaps the one before. */
    const int64_t column = c + LANES <= columns || columns < LANES ? c : columns - LANES;
    packBlock(rows - whole, columns < LANES ? columns : LANES, x + whole * xStride + column,
              xStride, y + column * lanes + whole, lanes);
  }
}

/* One vector of each position, in a few sums that do not wait for each other. */
INLINE Vector totalVector(int64_t positions, int64_t step, const real *x)
{
  Vector part[4] = {{0}, {0}, {0}, {0}};
  int64_t i = 0;
  for (; i + 4 <= positions; i += 4)
#pragma GCC unroll 4
    for (int p = 0; p < 4; p++)
      part[p] += load(x + (i + p) * step);
  for (; i < positions; i++)
    part[0] += load(x + i * step);
  return (part[0] + part[1]) + (part[2] + part[3]);
}

static void total(int64_t positions, int vectors, const real *x, real *sums)
{
  for (int v = 0; v < vectors; v++)
    store(sums + v * LANES,
          load(sums + v * LANES) + totalVector(positions, vectors * LANES, x + v * LANES));
}

const THNN_(SimdProducts) SIMD_TABLE(Products, THNN_SIMD_LEVEL) = {
    .lanes = LANES,
    .mostVectors = MOST_VECTORS,
    .add = add,
    .longestTile = {CHAIN_TILE(1), CHAIN_TILE(2), CHAIN_TILE(3), CHAIN_TILE(4)},
    .addChains = addChains,
    .correlate = correlate,
    .prefetch = prefetch,
    .transpose = transpose,
    .pack = pack,
    .total = total,
};
