/* Sums of outer products along lines of positions, for chains of taps that share their scalars, and
 * the transposed sums: for chains of taps over lines of positions.
 *
 * As in outerProducts.c, a tile is summed up in registers. Neighbouring positions see the same
 * scalars with neighbouring taps: each scalar is loaded once for all of them. */
#include "simd/kernels/pieces.h"
#include "simd/vector/vector.h"

enum {
  /* Terms in one register sum: with short sums the error stays near that of a blocked product. */
  TERMS_PER_SUM = 256,
  /* The most positions whose sums fit into registers beside the factors of a chain and a scalar. */
  LONGEST_TILE = VECTOR_REGISTERS == 32 ? 24 : 12,
  MOST_CHAINS = VECTOR_REGISTERS == 32 ? 8 : 4, /* chains whose sums correlate() keeps in
                                                 * registers */
  /* With fewer registers, tiles load more for each product, and a processor that loads twice in a
   * cycle is slowed down by every other load: of an AMD EPYC's (Zen 2) limit, tiles of three vectors
   * reach 73 to 77 % instead of 66 to 71 if they know where a chain's factors are. */
  STEPS = VECTOR_REGISTERS == 16,
  /* If at most this many scalars are outside the image at either end of a chain, only these are
   * compared with the bounds. */
  CHECKED = 3
};

/* The most positions of a tile of VECTORS vectors. */
#define CHAIN_TILE(VECTORS)                                                                        \
  ((VECTORS) == 1 ? LONGEST_TILE : (VECTOR_REGISTERS - (VECTORS) - 1) / (VECTORS))

/* Adds one chain, or a part of its taps. The first scalar is at `scalar`, and only scalars [begin,
 * end) are added. If these are `nearly` all, only the first and the last CHECKED are compared with
 * the bounds. */
INLINE void addChain(const int positions, const int taps, const int vectors, const bool nearly,
                     int64_t begin, int64_t end, const real *scalar, int64_t spacing,
                     const real *factors, int64_t factorStep, Vector (*sum)[4])
{
  enum { STRIDE = 4 }; /* scalars that are addressed from one value of the pointer */
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

/* Adds chains [first, last), `taps` taps at a time, to `positions` positions of a line, of which
 * the first is `begin`. A scalar is loaded once for all taps that see it. `positions`, `taps` and
 * `vectors` are constants where this is called. */
INLINE void addChainTerms(const int positions, const int taps, const int vectors, const Chains *of,
                          const THNNOffsets *line, THNNAhead *ahead, int64_t begin, int64_t first,
                          int64_t last)
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
    const bool nearly = missed <= CHECKED && end >= positions + taps - 1 - CHECKED;
    THNN_fetchAhead(ahead);
    if (STEPS && nearly && of->vectorStep != 0)
      for (factors += chain->vector; chain < stop; chain++, factors += of->vectorStep)
        addChain(positions, taps, vectors, true, missed, end, scalars + chain->scalar, of->spacing,
                 factors, of->factorStep, sum);
    else if (nearly)
      for (; chain < stop; chain++)
        addChain(positions, taps, vectors, true, missed, end, scalars + chain->scalar, of->spacing,
                 factors + chain->vector, of->factorStep, sum);
    else
      for (; chain < stop; chain++)
        addChain(positions, taps, vectors, false, missed, end, scalars + chain->scalar, of->spacing,
                 factors + chain->vector, of->factorStep, sum);
  }
  /* Read before vectors are stored, which may change anything as far as the compiler knows. */
  const int64_t step = of->sumStep;
  const real *start = first == 0 ? of->start : NULL;
  real *total = of->sums + line->vector + begin * step;
#pragma GCC unroll 24
  for (int i = 0; i < positions; i++, total += step) {
    const real *before = start ? start : total;
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++)
      store(total + j * LANES, load(before + j * LANES) + sum[i][j]);
  }
}

INLINE void addChainTile(const int positions, const int taps, const int vectors, const Chains *of,
                         const THNNOffsets *line, THNNAhead *ahead, int64_t begin)
{
  const int64_t most = TERMS_PER_SUM / of->taps > 0 ? TERMS_PER_SUM / of->taps : 1;
  int64_t first = 0;
  do {
    const int64_t last = first + most < of->chains ? first + most : of->chains;
    addChainTerms(positions, taps, vectors, of, line, ahead, begin, first, last);
    first = last;
  } while (first < of->chains);
}

/* Each size of tile is a function of its own: the time to compile one function with all of them
 * grows faster than their number. */
#define EACH_TILE(OF, TAPS, VECTORS)                                                               \
  OF(1, TAPS, VECTORS)                                                                             \
  OF(2, TAPS, VECTORS)                                                                             \
  OF(3, TAPS, VECTORS)                                                                             \
  OF(4, TAPS, VECTORS)                                                                             \
  OF(5, TAPS, VECTORS)                                                                             \
  OF(6, TAPS, VECTORS)                                                                             \
  OF(7, TAPS, VECTORS)                                                                             \
  OF(8, TAPS, VECTORS)                                                                             \
  OF(9, TAPS, VECTORS)                                                                             \
  OF(10, TAPS, VECTORS)                                                                            \
  OF(11, TAPS, VECTORS) OF(12, TAPS, VECTORS) EACH_LONG_TILE(OF, TAPS, VECTORS)
#ifdef MANY_REGISTERS
#  define EACH_LONG_TILE(OF, TAPS, VECTORS)                                                        \
    OF(13, TAPS, VECTORS)                                                                          \
    OF(14, TAPS, VECTORS)                                                                          \
    OF(15, TAPS, VECTORS)                                                                          \
    OF(16, TAPS, VECTORS)                                                                          \
    OF(17, TAPS, VECTORS)                                                                          \
    OF(18, TAPS, VECTORS)                                                                          \
    OF(19, TAPS, VECTORS)                                                                          \
    OF(20, TAPS, VECTORS)                                                                          \
    OF(21, TAPS, VECTORS) OF(22, TAPS, VECTORS) OF(23, TAPS, VECTORS) OF(24, TAPS, VECTORS)
#else
#  define EACH_LONG_TILE(OF, TAPS, VECTORS)
#endif
#define DEFINE_TILE(POSITIONS, TAPS, VECTORS)                                                      \
  static void addTile##POSITIONS##x##TAPS##x##VECTORS(const Chains *of, const THNNOffsets *line,   \
                                                      THNNAhead *ahead, int64_t begin)             \
  {                                                                                                \
    if (POSITIONS <= CHAIN_TILE(VECTORS))                                                          \
      addChainTile(POSITIONS, TAPS, VECTORS, of, line, ahead, begin);                              \
  }
#define NAME_TILE(POSITIONS, TAPS, VECTORS) addTile##POSITIONS##x##TAPS##x##VECTORS,

typedef void (*const ChainTiles[LONGEST_TILE])(const Chains *of, const THNNOffsets *line,
                                               THNNAhead *ahead, int64_t begin);

/* Tiles of one vector; the list is indexed by the number of taps that are taken together, less
 * 1. */
EACH_TILE(DEFINE_TILE, 1, 1)
EACH_TILE(DEFINE_TILE, 2, 1)
EACH_TILE(DEFINE_TILE, 3, 1)
static ChainTiles TILES_OF_TAPS[THNN_CHAIN_TAPS] = {
    {EACH_TILE(NAME_TILE, 1, 1)}, {EACH_TILE(NAME_TILE, 2, 1)}, {EACH_TILE(NAME_TILE, 3, 1)}};

/* Tiles that take one tap at a time; the list is indexed by the number of vectors, less 2. */
EACH_TILE(DEFINE_TILE, 1, 2)
EACH_TILE(DEFINE_TILE, 1, 3)
EACH_TILE(DEFINE_TILE, 1, 4)
static ChainTiles TILES_OF_VECTORS[] = {
    {EACH_TILE(NAME_TILE, 1, 2)}, {EACH_TILE(NAME_TILE, 1, 3)}, {EACH_TILE(NAME_TILE, 1, 4)}};

/* Cuts lines into tiles of nearly equal length. */
static void addChainLines(ChainTiles tiles, const Chains *of, THNNAhead *ahead)
{
  const int64_t longest = CHAIN_TILE(of->vectors), count = (of->positions + longest - 1) / longest;
  const Pieces pieces = cutPieces(of->positions, count);
  for (const THNNOffsets *line = of->line; line < of->line + of->lines; line++) {
    Pieces cut = pieces;
    for (int64_t tile = 0; tile < count; tile++) {
      const THNNRange part = nextPiece(&cut);
      tiles[part.end - part.begin - 1](of, line, ahead, part.begin);
    }
  }
}

/* The parts in which the taps of chains are taken together. */
static int64_t partsOf(const Chains *of)
{
  return of->vectors > 1 ? of->taps : (of->taps + THNN_CHAIN_TAPS - 1) / THNN_CHAIN_TAPS;
}

/* Cuts chains into parts of nearly equal length: a part with a single tap would spend most of its
 * time on loads. */
static void addParts(const Chains *of, THNNAhead *ahead)
{
  const int64_t parts = partsOf(of), taps = of->taps / parts;
  const int64_t before = of->taps % parts * (taps + 1);
  Chains part = *of;
  if (before > 0) {
    part.taps = before;
    addChainLines(TILES_OF_TAPS[taps], &part, ahead);
    part.start = NULL;
  }
  part.taps = of->taps - before;
  part.begin -= before;
  part.end -= before;
  part.scalars += before * of->spacing;
  part.factors += before * of->factorStep;
  addChainLines(TILES_OF_TAPS[taps - 1], &part, ahead);
}

static void addChains(const Chains *of)
{
  const int64_t longest = CHAIN_TILE(of->vectors), tiles = (of->positions + longest - 1) / longest;
  THNNAhead ahead = THNN_aheadOf(&of->ahead, of->lines * tiles * partsOf(of));
  if (of->vectors == 1)
    addParts(of, &ahead);
  else
    addChainLines(TILES_OF_VECTORS[of->vectors - 2], of, &ahead);
}

/* Adds to the rows' sums the products of the scalar at offset `at` of a line with taps
 * [first, end); factor[k] is what tap k multiplies it by. `rows`, `first` and `end` are constants
 * where this is called. */
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

/* Moves on by one scalar: each tap takes over the factors of the tap before it. */
INLINE void moveFactors(const int taps, const real *next, Vector *factor)
{
#pragma GCC unroll 3
  for (int k = taps - 1; k > 0; k--)
    factor[k] = factor[k - 1];
  factor[0] = load(next);
}

/* Computes the sums for `rows` chains of `taps` taps; both numbers are constants where this is
 * called. The first and the last scalars of a line meet only some of the taps. Scalars before
 * `begin` are skipped, except for the last few, whose turns load the factors that the scalar at
 * `begin` meets. */
INLINE void correlateTile(const int rows, const int taps, const Correlations *of,
                          const THNNOffsets *row)
{
  const int64_t positions = of->positions;
  const int64_t beyond = of->begin < positions ? of->begin : positions;
  const int64_t passedOver = beyond < taps ? 0 : beyond - (taps - 1);
  const int64_t whole = of->end < positions ? of->end : positions;
  Vector sum[MOST_CHAINS][THNN_CHAIN_TAPS];
#pragma GCC unroll 8
  for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
    for (int k = 0; k < taps; k++)
      sum[i][k] = (Vector){0};
  for (const THNNOffsets *line = of->line; line < of->line + of->lines; line++) {
    const real *scalar[MOST_CHAINS];
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

#define EACH_CORRELATION(OF, TAPS)                                                                 \
  OF(1, TAPS) OF(2, TAPS) OF(3, TAPS) OF(4, TAPS) EACH_HIGH_CORRELATION(OF, TAPS)
#ifdef MANY_REGISTERS
#  define EACH_HIGH_CORRELATION(OF, TAPS) OF(5, TAPS) OF(6, TAPS) OF(7, TAPS) OF(8, TAPS)
#else
#  define EACH_HIGH_CORRELATION(OF, TAPS)
#endif
#define DEFINE_CORRELATION(ROWS, TAPS)                                                             \
  static void correlate##ROWS##x##TAPS(const Correlations *of, const THNNOffsets *row)             \
  {                                                                                                \
    correlateTile(ROWS, TAPS, of, row);                                                            \
  }
#define NAME_CORRELATION(ROWS, TAPS) correlate##ROWS##x##TAPS,

EACH_CORRELATION(DEFINE_CORRELATION, 2)
EACH_CORRELATION(DEFINE_CORRELATION, 3)

/* Indexed by the number of taps, less 2, and the number of rows, less 1. */
static void (*const CORRELATIONS[][MOST_CHAINS])(const Correlations *of, const THNNOffsets *row) = {
    {EACH_CORRELATION(NAME_CORRELATION, 2)}, {EACH_CORRELATION(NAME_CORRELATION, 3)}};

static void correlate(const Correlations *of)
{
  const int64_t tiles = (of->rows + MOST_CHAINS - 1) / MOST_CHAINS;
  Pieces cut = cutPieces(of->rows, tiles);
  for (int64_t tile = 0; tile < tiles; tile++) {
    const THNNRange part = nextPiece(&cut);
    CORRELATIONS[of->taps - 2][part.end - part.begin - 1](of, of->row + part.begin);
  }
}

const SimdChains SIMD_TABLE(Chains, THNN_SIMD_LEVEL) = {
    .longestTile = {CHAIN_TILE(1), CHAIN_TILE(2), CHAIN_TILE(3), CHAIN_TILE(4)},
    .add = addChains,
    .correlate = correlate,
};
