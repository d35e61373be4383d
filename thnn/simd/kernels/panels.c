/* Products of matrices with panels. A panel is a few neighbouring columns of a matrix, read in
 * place or packed so that the columns of each term follow those of the term before.
 *
 * A tile of rows x vectors is summed up in registers: each term loads its vectors from the panel
 * and multiplies them by one scalar per row. The scalars of a tile stay in the first-level cache
 * for all panels, which come from the second-level cache as fast as they are used. Results may be
 * outside the caches: each tile prefetches those of the next one. */
#include "simd/vector/vector.h"

enum {
  /* Most vectors of a tile, whose sums, the vectors of a term and one scalar fill the registers. */
  MOST_VECTORS = 3,
  /* Prefetch distance in terms. */
  TERMS_AHEAD = 16,
  PREFETCHES = VECTOR_REGISTERS == 32,
  MOST_ROWS = VECTOR_REGISTERS == 32 ? 8 : 4,
  COLUMNS = MOST_VECTORS * LANES,
  STEP = VECTOR_BYTES / sizeof(real) > MOST_ROWS ? VECTOR_BYTES / sizeof(real) : MOST_ROWS,
  /* Rows of a tile of one vector, whose sums would otherwise wait for each other. */
  SINGLE_ROWS = 8,
  /* Up to MOST_FEW columns after the last panel take less time with rows in the lanes. */
  MOST_FEW = 4,
  MOST_SIDE_BY_SIDE = 4
};

/* The vectors of rows that are computed at a time for a few columns, so that their sums do not wait
 * for each other. */
#define SIDE_BY_SIDE(COLUMNS)                                                                      \
  (VECTOR_REGISTERS == 32 || (COLUMNS) <= 2 ? (int)MOST_SIDE_BY_SIDE : 2)

_Static_assert((int)STEP <= THNN_MOST_PANEL_STEP, "the bound holds");
_Static_assert((int)STEP % (int)LANES == 0, "groups of scalars are vectors");
_Static_assert((int)SINGLE_ROWS % (int)STEP == 0 || (int)STEP % (int)SINGLE_ROWS == 0,
               "tiles of one vector have whole groups of rows, or groups have whole tiles");

/* Where the scalar of a row's first term is: in each term, the scalars of STEP rows follow each
 * other. */
INLINE const real *scalarsOf(const Panels *p, int64_t row)
{
  return p->scalars + row / STEP * p->groupStep + row % STEP;
}

/* Where a tile's operands and results begin, what its sums start from, where the results of the
 * next tile begin, how many lanes of its last vector are stored, and what it fetches ahead. */
typedef struct Tile {
  const real *scalars, *panel, *source, *start;
  real *packed, *c, *next;
  int64_t left;
  THNNAhead *ahead, *aheadScalars;
} Tile;

/* Stores a tile's results; `add` and `whole`, whether all lanes of the last vector are stored, are
 * constants where this is called. */
INLINE void storeTile(const Panels *p, const Tile *tile, const int rows, const int vectors,
                      const bool add, const bool whole, Vector (*sum)[MOST_VECTORS])
{
  static const real zeros[SINGLE_ROWS];
  const real *start = tile->start ? tile->start : zeros;
  const int64_t step = p->cStride, left = tile->left;
  const Lanes last = firstLanes(left);
  real *c = tile->c;
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++, c += step) {
    const Vector first = broadcast(start[i]);
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++) {
      const bool all = whole || j < vectors - 1;
      const Vector before = !add  ? first
                            : all ? load(c + j * LANES)
                                  : loadLanes(c + j * LANES, last);
      if (all)
        store(c + j * LANES, before + sum[i][j]);
      else
        storeFirst(c + j * LANES, left, before + sum[i][j]);
    }
  }
}

/* Computes a tile, and packs its panel if `packs`. `rows`, `vectors` and `packs` are constants
 * where this is called. */
INLINE void addTile(const Panels *p, const Tile *tile, const int rows, const int vectors,
                    const bool packs)
{
  Vector sum[SINGLE_ROWS][MOST_VECTORS];
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++) {
      sum[i][j] = (Vector){0};
      if (j * VECTOR_BYTES % THNN_LINE_BYTES == 0) /* once for each line */
        __builtin_prefetch(tile->next + i * p->cStride + j * LANES, WRITE, FIRST_LEVEL);
    }
  const real *scalars = tile->scalars, *factors = packs ? tile->source : tile->panel;
  real *packed = tile->packed;
  const int64_t stride = packs ? p->sourceStride : p->stride;
  const int64_t ahead = TERMS_AHEAD * stride * (int64_t)sizeof(real);
  const real *end = scalars + p->terms * STEP;
  while (scalars < end) {
    const bool fetches = tile->ahead->left > 0 || tile->aheadScalars->left > 0;
    const int64_t turn = THNN_TERMS_PER_TURN * STEP;
    const real *stop = fetches && end - scalars > turn ? scalars + turn : end;
    THNN_fetchAhead(tile->ahead);
    THNN_fetchAhead(tile->aheadScalars);
    for (; scalars < stop; scalars += STEP, factors += stride) {
      Vector factor[MOST_VECTORS];
#pragma GCC unroll 4
      for (int j = 0; j < vectors; j++)
        factor[j] = load(factors + j * LANES);
      /* With fewer registers, tiles are bound by loads, and prefetches would add to these; while
       * packing, the operand comes from far away, and prefetching pays. */
      if (PREFETCHES || packs) {
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++)
          __builtin_prefetch(THNN_ahead(factors, ahead + j * VECTOR_BYTES), READ, FIRST_LEVEL);
      }
      if (packs) {
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++)
          store(packed + j * LANES, factor[j]);
        packed += COLUMNS;
      }
#pragma GCC unroll 8
      for (int i = 0; i < rows; i++) {
        const Vector x = broadcast(scalars[i / STEP * p->groupStep + i % STEP]);
#pragma GCC unroll 4
        for (int j = 0; j < vectors; j++)
          sum[i][j] += x * factor[j];
      }
    }
  }
  const bool whole = tile->left == LANES;
  if (whole && !p->add)
    storeTile(p, tile, rows, vectors, false, true, sum);
  else if (whole)
    storeTile(p, tile, rows, vectors, true, true, sum);
  else if (!p->add)
    storeTile(p, tile, rows, vectors, false, false, sum);
  else
    storeTile(p, tile, rows, vectors, true, false, sum);
}

/* Each size of tile is a function of its own: the time to compile one function with all of them
 * grows faster than their number. */
#define EACH_TILE(OF, VECTORS)                                                                     \
  OF(1, VECTORS) OF(2, VECTORS) OF(3, VECTORS) OF(4, VECTORS) EACH_HIGH_TILE(OF, VECTORS)
#ifdef MANY_REGISTERS
#  define EACH_HIGH_TILE(OF, VECTORS) OF(5, VECTORS) OF(6, VECTORS) OF(7, VECTORS) OF(8, VECTORS)
#else
#  define EACH_HIGH_TILE(OF, VECTORS)
#endif
#define DEFINE_TILE(ROWS, VECTORS)                                                                 \
  static void addTile##ROWS##x##VECTORS(const Panels *p, const Tile *tile)                         \
  {                                                                                                \
    addTile(p, tile, ROWS, VECTORS, false);                                                        \
  }
#define NAME_TILE(ROWS, VECTORS) addTile##ROWS##x##VECTORS,

EACH_TILE(DEFINE_TILE, 1)
EACH_TILE(DEFINE_TILE, 2)
EACH_TILE(DEFINE_TILE, 3)

static void (*const TILES[MOST_VECTORS][MOST_ROWS])(const Panels *p, const Tile *tile) = {
    {EACH_TILE(NAME_TILE, 1)}, {EACH_TILE(NAME_TILE, 2)}, {EACH_TILE(NAME_TILE, 3)}};

static void addSingleTile(const Panels *p, const Tile *tile)
{
  addTile(p, tile, SINGLE_ROWS, 1, false);
}

static void packTile(const Panels *p, const Tile *tile)
{
  addTile(p, tile, MOST_ROWS, MOST_VECTORS, true);
}

/* Stores the results of a vector of rows, of which the first is `row`, from the sums of each
 * column. */
static __attribute__((noinline)) void finishColumns(const Panels *p, int64_t row, int columns,
                                                    real (*sum)[LANES], real *c)
{
  const int64_t rows = p->rows - row < LANES ? p->rows - row : LANES;
  for (int64_t l = 0; l < rows; l++)
    for (int j = 0; j < columns; j++) {
      real *to = c + (row + l) * p->cStride + j;
      *to = (p->add ? *to : p->start ? p->start[row + l] : 0) + sum[j][l];
    }
}

/* Computes `columns` columns of `vectors` vectors of rows, of which the first row is `row`; both
 * numbers are constants where this is called. Terms are added in the order of addTile(). */
INLINE void addColumns(const Panels *p, int64_t row, const int vectors, const int columns,
                       const real *panel, real *c)
{
  Vector sum[MOST_SIDE_BY_SIDE][MOST_FEW] = {{{0}}};
  const real *scalars[MOST_SIDE_BY_SIDE];
#pragma GCC unroll 4
  for (int i = 0; i < vectors; i++)
    scalars[i] = scalarsOf(p, row + i * LANES);
  for (int64_t t = 0; t < p->terms; t++, panel += p->stride)
#pragma GCC unroll 4
    for (int i = 0; i < vectors; i++) {
      const Vector x = load(scalars[i] + t * STEP);
#pragma GCC unroll 4
      for (int j = 0; j < columns; j++)
        sum[i][j] += x * broadcast(panel[j]);
    }
#pragma GCC unroll 4
  for (int i = 0; i < vectors; i++) {
    real total[MOST_FEW][LANES];
#pragma GCC unroll 4
    for (int j = 0; j < columns; j++)
      store(total[j], sum[i][j]);
    finishColumns(p, row + i * LANES, columns, total, c);
  }
}

#define EACH_COLUMNS(OF) OF(1) OF(2) OF(3) OF(4)
#define DEFINE_COLUMNS(COLUMNS)                                                                    \
  static void addColumns##COLUMNS(const Panels *p, int64_t row, const real *panel, real *c)        \
  {                                                                                                \
    addColumns(p, row, 1, COLUMNS, panel, c);                                                      \
  }                                                                                                \
  static void addSideBySide##COLUMNS(const Panels *p, int64_t row, const real *panel, real *c)     \
  {                                                                                                \
    addColumns(p, row, SIDE_BY_SIDE(COLUMNS), COLUMNS, panel, c);                                  \
  }
#define NAME_COLUMNS(COLUMNS) addColumns##COLUMNS,
#define NAME_SIDE_BY_SIDE(COLUMNS) addSideBySide##COLUMNS,

typedef void (*const FewColumns[MOST_FEW])(const Panels *p, int64_t row, const real *panel,
                                           real *c);

EACH_COLUMNS(DEFINE_COLUMNS)
static FewColumns COLUMNS_ALONE = {EACH_COLUMNS(NAME_COLUMNS)};
static FewColumns COLUMNS_SIDE_BY_SIDE = {EACH_COLUMNS(NAME_SIDE_BY_SIDE)};

/* Computes the last `few` columns. */
static void multiplyFew(const Panels *p, int64_t few)
{
  const int64_t whole = p->columns - few;
  const real *panel = p->panel + whole / COLUMNS * p->panelStep;
  const int64_t together = SIDE_BY_SIDE(few) * LANES, most = p->rows - p->rows % together;
  for (int64_t row = 0; row < most; row += together)
    COLUMNS_SIDE_BY_SIDE[few - 1](p, row, panel, p->c + whole);
  for (int64_t row = most; row < p->rows; row += LANES)
    COLUMNS_ALONE[few - 1](p, row, panel, p->c + whole);
}

/* What the tiles of a call share the fetching of. */
typedef struct Fetching {
  THNNAhead ahead, aheadScalars;
} Fetching;

/* Computes the tiles of `rows` rows from row i on, for columns [column, end). There are at most
 * MOST_ROWS rows; or SINGLE_ROWS, with columns of one vector. */
static void multiplyRows(const Panels *p, int64_t i, int64_t rows, int64_t column, int64_t end,
                         Fetching *fetching)
{
  Tile tile = {.scalars = scalarsOf(p, i),
               .panel = p->panel + column / COLUMNS * p->panelStep,
               .source = p->source,
               .packed = p->packed,
               .start = p->start ? p->start + i : NULL,
               .c = p->c + i * p->cStride + column,
               .ahead = &fetching->ahead,
               .aheadScalars = &fetching->aheadScalars};
  for (int64_t j = column; j < end; j += COLUMNS) {
    const int64_t columns = end - j < COLUMNS ? end - j : COLUMNS;
    const int64_t vectors = (columns + LANES - 1) / LANES;
    tile.left = columns - (vectors - 1) * LANES;
    tile.next = j + COLUMNS < end ? tile.c + COLUMNS : p->c + (i + rows) * p->cStride + column;
    if (p->source && i == 0 && columns == COLUMNS)
      packTile(p, &tile);
    else if (rows > MOST_ROWS)
      addSingleTile(p, &tile);
    else
      TILES[vectors - 1][rows - 1](p, &tile);
    tile.panel += p->panelStep;
    tile.c += COLUMNS;
    if (p->source) {
      tile.source += COLUMNS;
      tile.packed += p->panelStep;
    }
  }
}

/* The same for rows [first, last), `most` at a time. */
static void multiplyTiles(const Panels *p, int64_t most, int64_t first, int64_t last,
                          int64_t column, int64_t end, Fetching *fetching)
{
  for (int64_t i = first; i < last; i += most)
    multiplyRows(p, i, last - i < most ? last - i : most, column, end, fetching);
}

static void multiply(const Panels *p)
{
  const int64_t left = p->columns % COLUMNS, few = left <= MOST_FEW ? left : 0;
  const int64_t single = few == 0 && left <= LANES ? left : 0; /* columns of a last vector */
  const int64_t end = p->columns - few, whole = end - single;
  const int64_t tiles = (p->rows + MOST_ROWS - 1) / MOST_ROWS * ((end + COLUMNS - 1) / COLUMNS);
  const int64_t turns = tiles * ((p->terms + THNN_TERMS_PER_TURN - 1) / THNN_TERMS_PER_TURN);
  Fetching fetching = {THNN_aheadOf(&p->ahead, turns), THNN_aheadOf(&p->aheadScalars, turns)};
  if (whole > 0)
    multiplyTiles(p, MOST_ROWS, 0, p->rows, 0, whole, &fetching);
  if (single > 0) {
    const int64_t rows = p->rows - p->rows % SINGLE_ROWS;
    multiplyTiles(p, SINGLE_ROWS, 0, rows, whole, end, &fetching);
    multiplyTiles(p, MOST_ROWS, rows, p->rows, whole, end, &fetching);
  }
  if (few > 0)
    multiplyFew(p, few);
}

static void copy(int64_t terms, int64_t columns, const real *x, int64_t xStride, real *y,
                 int64_t yStride)
{
  const int64_t vectors = (columns + LANES - 1) / LANES, last = columns - (vectors - 1) * LANES;
  if (columns == COLUMNS) {
    for (int64_t t = 0; t < terms; t++, x += xStride, y += yStride)
#pragma GCC unroll 4
      for (int j = 0; j < MOST_VECTORS; j++)
        store(y + j * LANES, load(x + j * LANES));
    return;
  }
  for (int64_t t = 0; t < terms; t++, x += xStride, y += yStride) {
    for (int64_t j = 0; j < vectors - 1; j++)
      store(y + j * LANES, load(x + j * LANES));
    store(y + (vectors - 1) * LANES, loadFirst(x + (vectors - 1) * LANES, last));
  }
}

static void scale(int64_t n, real factor, real *x)
{
  for (int64_t i = 0; i < n; i += LANES)
    store(x + i, factor * load(x + i));
}

const SimdPanels SIMD_TABLE(Panels, THNN_SIMD_LEVEL) = {
    .lanes = LANES,
    .columns = COLUMNS,
    .rows = MOST_ROWS,
    .step = STEP,
    .panelBytes = VECTOR_BYTES == 64 ? 1 << 19 : 1 << 18, /* half of a small second-level cache */
    .prefetches = PREFETCHES,
    .fewColumns = MOST_FEW,
#if defined(__AVX512F__)
    .leastProducts = 400000, /* below this, OpenBLAS has kernels of its own for small products */
    .leastAlong = 130000,
    .leastAcross = 500000,
    .mostInPlace = sizeof(real) == sizeof(float) ? 32 : 48,
    .mostPacked = INT64_MAX,
    .packs = true,
#elif defined(__AVX2__)
    .leastProducts = 10000,
    .leastAlong = INT64_MAX, /* OpenBLAS is as fast */
    .leastAcross = 500000,
    .mostInPlace = 16,
    .mostPacked = sizeof(real) == sizeof(float) ? 16 : 32,
    .packs = true,
#endif
    .multiply = multiply,
    .copy = copy,
    .scale = scale,
};
