/* Sums of outer products, the inner loop of direct convolution, and the transposition that brings
 * their operands into vectors.
 *
 * A tile of rows x vectors is summed up in registers: each term loads its vectors once and
 * multiplies them by one scalar per row. Tiles are as large as the registers allow beside the
 * vectors of a term and one scalar, so that multiplications far outnumber loads. */
#include <string.h>

#include "simd/kernels/pieces.h"
#include "simd/vector/prefetch.h"
#include "simd/vector/transpose.h"

enum {
  MOST_VECTORS = VECTOR_REGISTERS == 32 ? 4
  : VECTOR_BYTES == 32                  ? 3
                                        : 2,
  MOST_ROWS = 8, /* the pointers to more rows would not fit into the general registers */
  /* Terms in one register sum: with short sums the error stays near that of a blocked product. */
  TERMS_PER_SUM = 256,
  MOST_PARTS = 4, /* partial sums for each sum of a tile */
  MOST_FEW = 4,   /* up to so many columns take less time with rows in the lanes */
  /* As in chains.c: Winograd's algorithms take 0.93 to 1 of the time on that processor. */
  STEPS = VECTOR_REGISTERS == 16,
  LINE = 64 / sizeof(real) /* reals in a cache line */
};

/* Rows of a full tile with this many vectors. */
static inline int tileRows(int vectors)
{
  const int registers = VECTOR_REGISTERS - vectors - 1;
  const int rows = registers / vectors;
  return rows < MOST_ROWS ? rows : MOST_ROWS;
}

/* The number of partial sums for each sum of a tile. With one, every addition waits for the one
 * before, and a tile of few sums takes several times as long. */
static inline int partialSums(int rows, int vectors)
{
  return rows * vectors == 1 ? 4 : rows * vectors <= 4 ? 2 : 1;
}

/* Adds one term to the sums; `rows` and `vectors` are constants where this is called. */
INLINE void addTerm(const real *factors, int64_t place, const int rows, const int vectors,
                    const real *const *scalar, Vector (*sum)[4])
{
  Vector factor[4];
#pragma GCC unroll 8
  for (int j = 0; j < vectors; j++)
    factor[j] = load(factors + j * LANES);
#pragma GCC unroll 16
  for (int i = 0; i < rows; i++) {
    const Vector x = broadcast(scalar[i][place]);
#pragma GCC unroll 8
    for (int j = 0; j < vectors; j++)
      sum[i][j] += x * factor[j];
  }
}

/* Adds terms [first, last) to the sums, in `parts` partial sums. If it `steps`, vectors are evenly
 * apart and not looked up. `rows`, `vectors`, `parts` and `steps` are constants where this is
 * called. */
INLINE void addListed(const Products *p, THNNAhead *ahead, const int rows, const int vectors,
                      const int parts, const bool steps, int64_t first, int64_t last,
                      const real *const *scalar, Vector (*sum)[MOST_ROWS][4])
{
  const THNNOffsets *term = p->term + first, *end = p->term + last;
  const real *factors = steps ? p->factors + term->vector : p->factors;
  const int64_t step = steps ? p->vectorStep : 0;
  while (term < end) {
    const int64_t turn = p->streams ? LINE : ahead->left > 0 ? THNN_TERMS_PER_TURN : end - term;
    const THNNOffsets *stop = end - term > turn ? term + turn : end;
    THNN_fetchAhead(ahead);
    if (p->streams)
#pragma GCC unroll 8
      for (int i = 0; i < rows; i++)
        __builtin_prefetch(scalar[i] + rows * p->streams + term->scalar, READ, SECOND_LEVEL);
    for (; term + parts <= stop; term += parts)
#pragma GCC unroll 4
      for (int part = 0; part < parts; part++, factors += step)
        addTerm(steps ? factors : factors + term[part].vector, term[part].scalar, rows, vectors,
                scalar, sum[part]);
    for (; parts > 1 && term < stop; term++, factors += step)
      addTerm(steps ? factors : factors + term->vector, term->scalar, rows, vectors, scalar,
              sum[0]);
  }
}

/* Adds terms [first, last) to one tile; `rows` and `vectors` are constants where this is called. */
INLINE void addTerms(const Products *p, const THNNOffsets *row, THNNAhead *ahead, const int rows,
                     const int vectors, int64_t first, int64_t last)
{
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
  if (STEPS && p->vectorStep != 0)
    addListed(p, ahead, rows, vectors, parts, true, first, last, scalar, sum);
  else
    addListed(p, ahead, rows, vectors, parts, false, first, last, scalar, sum);
  /* Read before vectors are stored, which may change anything as far as the compiler knows. */
  real *sums = p->sums;
  const real *start = first == 0 ? p->start : NULL;
#pragma GCC unroll 16
  for (int i = 0; i < rows; i++) {
    real *total = sums + row[i].vector;
    const real *before = start ? start : total;
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

/* Each size of tile is a function of its own: the time to compile one function with all of them
 * grows faster than their number. */
#define EACH_TILE(OF, VECTORS)                                                                     \
  OF(1, VECTORS)                                                                                   \
  OF(2, VECTORS)                                                                                   \
  OF(3, VECTORS) OF(4, VECTORS) OF(5, VECTORS) OF(6, VECTORS) OF(7, VECTORS) OF(8, VECTORS)
#define DEFINE_TILE(ROWS, VECTORS)                                                                 \
  static void addTile##ROWS##x##VECTORS(const Products *p, const THNNOffsets *row,                 \
                                        THNNAhead *ahead, int64_t first, int64_t last)             \
  {                                                                                                \
    if (VECTORS <= MOST_VECTORS && ROWS <= tileRows(VECTORS))                                      \
      addTerms(p, row, ahead, ROWS, VECTORS, first, last);                                         \
  }
#define NAME_TILE(ROWS, VECTORS) addTile##ROWS##x##VECTORS,

EACH_TILE(DEFINE_TILE, 1)
EACH_TILE(DEFINE_TILE, 2)
EACH_TILE(DEFINE_TILE, 3)
EACH_TILE(DEFINE_TILE, 4)

static void (*const TILES[][MOST_ROWS])(const Products *p, const THNNOffsets *row, THNNAhead *ahead,
                                        int64_t first, int64_t last) = {
    {EACH_TILE(NAME_TILE, 1)},
    {EACH_TILE(NAME_TILE, 2)},
    {EACH_TILE(NAME_TILE, 3)},
    {EACH_TILE(NAME_TILE, 4)},
};

/* Cuts the rows into tiles of nearly equal height: a tile of few rows spends most of its time on
 * loads. All tiles add up the terms of one register sum before those of the next: the terms' factors
 * stay in the first-level cache meanwhile. */
static void add(const Products *p)
{
  const int64_t most = tileRows(p->vectors), tiles = (p->rows + most - 1) / most;
  const int64_t turns = tiles * ((p->terms + THNN_TERMS_PER_TURN - 1) / THNN_TERMS_PER_TURN);
  THNNAhead ahead = THNN_aheadOf(&p->ahead, turns);
  const Pieces pieces = cutPieces(p->rows, tiles);
  int64_t first = 0;
  do {
    const int64_t last = first + TERMS_PER_SUM < p->terms ? first + TERMS_PER_SUM : p->terms;
    Pieces cut = pieces;
    for (int64_t tile = 0; tile < tiles; tile++) {
      const THNNRange part = nextPiece(&cut);
      TILES[p->vectors - 1][part.end - part.begin - 1](p, p->row + part.begin, &ahead, first, last);
    }
    first = last;
  } while (first < p->terms);
}

/* Adds the totals of a vector of rows, of which the first is `row`, to their sums. */
static __attribute__((noinline)) void addTotals(const Products *p, int64_t row, int columns,
                                                real (*total)[LANES])
{
  const int64_t rows = p->rows - row < LANES ? p->rows - row : LANES;
  for (int64_t l = 0; l < rows; l++)
    for (int j = 0; j < columns; j++) {
      real *sum = p->sums + p->row[row + l].vector + j;
      *sum = (p->start ? p->start[j] : *sum) + total[j][l];
    }
}

/* Adds all terms to `columns` columns of `vectors` vectors of rows, of which the first row is
 * `row`; both numbers are constants where this is called. The sums are those of addTerms() where it has no
 * partial sums. */
INLINE void addAcross(const Products *p, int64_t row, const int vectors, const int columns)
{
  Vector sum[MOST_ROWS][MOST_FEW];
  const real *scalar[MOST_ROWS];
#pragma GCC unroll 8
  for (int i = 0; i < vectors; i++) {
    scalar[i] = p->scalars + p->row[row + i * LANES].scalar;
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++)
      sum[i][j] = (Vector){0};
  }
  for (const THNNOffsets *term = p->term; term < p->term + p->terms; term++) {
    Vector factor[MOST_FEW];
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++)
      factor[j] = broadcast(p->factors[term->vector + j]);
#pragma GCC unroll 8
    for (int i = 0; i < vectors; i++) {
      const Vector x = load(scalar[i] + term->scalar);
#pragma GCC unroll 4
      for (int j = 0; j < columns; j++)
        sum[i][j] += x * factor[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < vectors; i++) {
    real total[MOST_FEW][LANES];
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++)
      store(total[j], sum[i][j]);
    addTotals(p, row + i * LANES, columns, total);
  }
}

#define DEFINE_ACROSS(VECTORS, COLUMNS)                                                            \
  static void addAcross##VECTORS##x##COLUMNS(const Products *p, int64_t row)                       \
  {                                                                                                \
    if (VECTORS <= tileRows(COLUMNS))                                                              \
      addAcross(p, row, VECTORS, COLUMNS);                                                         \
  }
#define NAME_ACROSS(VECTORS, COLUMNS) addAcross##VECTORS##x##COLUMNS,

EACH_TILE(DEFINE_ACROSS, 1)
EACH_TILE(DEFINE_ACROSS, 2)
EACH_TILE(DEFINE_ACROSS, 3)
EACH_TILE(DEFINE_ACROSS, 4)

static void (*const ACROSS[MOST_FEW][MOST_ROWS])(const Products *p, int64_t row) = {
    {EACH_TILE(NAME_ACROSS, 1)},
    {EACH_TILE(NAME_ACROSS, 2)},
    {EACH_TILE(NAME_ACROSS, 3)},
    {EACH_TILE(NAME_ACROSS, 4)},
};

static void addFew(const Products *p, int columns)
{
  const int64_t vectors = (p->rows + LANES - 1) / LANES, most = tileRows(columns);
  const int64_t tiles = (vectors + most - 1) / most;
  Pieces cut = cutPieces(vectors, tiles);
  for (int64_t tile = 0; tile < tiles; tile++) {
    const THNNRange part = nextPiece(&cut);
    ACROSS[columns - 1][part.end - part.begin - 1](p, part.begin * LANES);
  }
}

static void prefetch(int64_t n, const real *x)
{
  for (int64_t i = 0; i < n; i += LINE)
    __builtin_prefetch(x + i, READ, SECOND_LEVEL);
}

/* Transposes a block of LANES rows and LANES columns. */
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

/* Transposes a block of LANES rows and fewer columns. Reads whole vectors: what follows a row's
 * columns is dropped, but must be readable. */
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

/* Transposes whole blocks; if the sizes are no multiples of a block's, the last blocks overlap
 * those before. If it `fetches`, each block prefetches the same columns of the next rows, for rows
 * that are too far apart in memory for the hardware to do so. */
INLINE void transposeWide(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                          int64_t yStride, const bool fetches)
{
  for (int64_t r = 0; r < rows; r += LANES) {
    const int64_t row = r + LANES <= rows ? r : rows - LANES;
    for (int64_t c = 0; c < columns; c += LANES) {
      const int64_t column = c + LANES <= columns ? c : columns - LANES;
      if (fetches && c % LINE == 0) {
#pragma GCC unroll 16
        for (int64_t i = row + LANES; i < row + 2 * LANES; i++)
          __builtin_prefetch(THNN_ahead(x, (i * xStride + column) * (int64_t)sizeof(real)), READ,
                             FIRST_LEVEL);
      }
      transposeBlock(x + row * xStride + column, xStride, y + column * yStride + row, yStride);
    }
  }
}

static void transposeNarrow(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                            int64_t yStride)
{
  const int64_t elements = (rows - 1) * xStride + columns; /* the span of x */
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
    transposeWide(rows, columns, x, xStride, y, yStride, false);
  else if (rows >= LANES && columns >= WORTHWHILE_COLUMNS)
    transposeNarrow(rows, columns, x, xStride, y, yStride);
  else
    for (int64_t column = 0; column < columns; column++)
      for (int64_t row = 0; row < rows; row++)
        y[column * yStride + row] = x[row * xStride + column];
}

/* Transposes a block of up to LANES rows and columns; lanes without a row become 0. */
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
  if (whole && columns >= LANES)
    transposeWide(whole, columns, x, xStride, y, lanes, true);
  else if (whole)
    transpose(whole, columns, x, xStride, y, lanes);
  if (whole == lanes)
    return;
  for (int64_t c = 0; c < columns; c += LANES) {
    /* Where `columns` is no multiple of LANES, the last block overlaps the one before. */
    const int64_t column = c + LANES <= columns || columns < LANES ? c : columns - LANES;
    packBlock(rows - whole, columns < LANES ? columns : LANES, x + whole * xStride + column,
              xStride, y + column * lanes + whole, lanes);
  }
}

/* The sum of one vector of each position, from partial sums that do not wait for each other. */
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

extern const SimdChains SIMD_TABLE(Chains, THNN_SIMD_LEVEL);

const SimdProducts SIMD_TABLE(Products, THNN_SIMD_LEVEL) = {
    .lanes = LANES,
    .mostVectors = MOST_VECTORS,
    .fewColumns = MOST_FEW < LANES / 2 ? MOST_FEW : LANES / 2,
    .add = add,
    .addFew = addFew,
    .chains = &SIMD_TABLE(Chains, THNN_SIMD_LEVEL),
    .prefetch = prefetch,
    .transpose = transpose,
    .pack = pack,
    .total = total,
};
