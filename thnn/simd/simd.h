/* The vector loops: small functions on raw pointers, one thread each, compiled once per instruction
 * set and called through one table that is filled while the library loads:
 *
 *     THNN_(simd).pointwise.fill(n, 0, y);
 *
 * To add a loop, add a member to its topic's struct here, the function and its initializer to the
 * topic's source; to add a topic, also a row to the table in dispatch.c. Unless a comment says
 * otherwise, two pointers of one call are equal or their ranges do not overlap, nothing needs
 * alignment beyond the real's own, and n may be 0. */
#ifndef THNN_SIMD_LOOPS_H
#define THNN_SIMD_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "simd/loops/indexWindows.h"

/* y = f(x), element by element. */
typedef void (*Map)(int64_t n, const real *x, const real *parameters, real *y);
/* z = f(x, y), element by element. */
typedef void (*Map2)(int64_t n, const real *x, const real *y, const real *parameters, real *z);
/* Computes map(n, x, y, parameters, z) with ordinary or with streaming stores; may prefetch x and y
 * from `ahead` bytes further on. */
typedef void (*RunMap2)(Map2 map, int64_t n, const real *x, const real *y, const real *parameters,
                        int64_t ahead, real *z);
/* y = x, with ordinary or with streaming stores. */
typedef void (*Put)(int64_t n, const real *x, real *y);

typedef struct SimdPointwise {
  /* y = value */
  void (*fill)(int64_t n, real value, real *y);
  /* y = x */
  void (*copy)(int64_t n, const real *x, real *y);
  /* y = x[0], x[step], x[2*step], … */
  void (*copyFromSteps)(int64_t n, const real *x, int64_t step, real *y);
  /* y[0], y[step], y[2*step], … += x */
  void (*addToSteps)(int64_t n, const real *x, real *y, int64_t step);
  /* y += a * x */
  void (*axpy)(int64_t n, real a, const real *x, real *y);
  /* z = a * x + b * y */
  void (*blend)(int64_t n, real a, const real *x, real b, const real *y, real *z);
  /* y = x + value */
  void (*addScalar)(int64_t n, const real *x, real value, real *y);

  /* y = x, map(n, x, …, y) and map(n, x, y, …, z) with streaming stores, where the processor has
   * them: for results that no cache would hold until they are read. Other threads see what
   * `stream` wrote once streamEnd has been called. */
  Put stream;
  void (*streamEnd)(void);
  void (*streamMap)(Map map, int64_t n, const real *x, const real *parameters, real *y);
  RunMap2 streamMap2;
  /* map(n, x, y, …, z) with ordinary stores; `ahead` is not used. */
  RunMap2 runMap2;

  /* Modules' loops: one signature for forward and one for backward, so that one function of
   * generic/activation/pointwise.c runs them all. The comments name `parameters` last, in order. */

  /* y = x > threshold ? x : value; threshold, value */
  Map threshold;
  /* gradInput = x > threshold ? gradOutput : 0; threshold */
  Map2 thresholdBackward;
} SimdPointwise;

/* What the loops of criterions read, element by element; a pointer that a criterion has no use for
 * is NULL. Passed by address: in a copy, two pointers that were just stored are loaded as one
 * vector, which waits until all earlier stores, streaming ones included, are done. */
typedef struct LossOperands {
  const real *input, *target, *weights;
} LossOperands;

/* The sum of a loss; running sums are double and their order depends on n alone. */
typedef double (*LossSum)(int64_t n, const LossOperands *of, const real *parameters);
/* The gradient of a loss with respect to the input. */
typedef void (*LossGradient)(int64_t n, const LossOperands *of, const real *parameters,
                             real *gradInput);

/* x is the input, t the target; `norm` is the gradient's first parameter. */
typedef struct SimdCriterion {
  /* |x - t| */
  LossSum absLoss;
  LossGradient absGradient;
  /* Whether every x is between 0 and 1 */
  bool (*areProbabilities)(int64_t n, const real *x);
  /* -weight (t log x + (1 - t) log(1 - x)), with 1e-12 added to both arguments; weights or none */
  LossSum bceLoss;
  LossGradient bceGradient;
  /* t (log t - x) where t > 0, else 0 */
  LossSum distKLDivLoss;
  LossGradient distKLDivGradient;
  /* |x|; no target, no norm */
  LossSum l1Loss;
  LossGradient l1Gradient;
  /* max(0, margin - x t); margin is the loss's parameter and the gradient's second */
  LossSum marginLoss;
  LossGradient marginGradient;
  /* (x - t)^2 */
  LossSum mseLoss;
  LossGradient mseGradient;
  /* (x - t)^2 / 2 where |x - t| < 1, else |x - t| - 1/2 */
  LossSum smoothL1Loss;
  LossGradient smoothL1Gradient;
  /* log(1 + exp(-x t)) */
  LossSum softMarginLoss;
  LossGradient softMarginGradient;

  /* sum of max(0, x + offset), or of its square */
  double (*hinge)(int64_t n, const real *x, real offset);
  double (*squaredHinge)(int64_t n, const real *x, real offset);
  /* gradInput += factor times the gradient of that sum; returns the sum of what is added */
  double (*addHingeGradient)(int64_t n, const real *x, real offset, real factor, real *gradInput);
  double (*addSquaredHingeGradient)(int64_t n, const real *x, real offset, real factor,
                                    real *gradInput);
} SimdCriterion;

/* Sums: the order of the additions depends on n alone, and the running sums are double. */
typedef struct SimdReduce {
  /* sum of x */
  double (*sum)(int64_t n, const real *x);
  /* sum of x * y */
  double (*dot)(int64_t n, const real *x, const real *y);
} SimdReduce;

#ifndef THNN_OFFSETS
#  define THNN_OFFSETS
/* Where one term of a sum of products, or one of its rows, finds a scalar and a vector: offsets
 * from the pointers of the structs below. */
typedef struct THNNOffsets {
  int64_t scalar, vector;
} THNNOffsets;

/* The most taps of a chain that are computed together. */
enum { THNN_CHAIN_TAPS = 3 };

/* An upper bound on SimdPanels.mostInPlace. */
enum { THNN_MOST_IN_PLACE = 64 };
#endif

/* A sum of outer products: for each row r and each lane l of `vectors` vectors
 *
 *   sums[r.vector + l] += sum over the terms t of
 *                         scalars[r.scalar + t.scalar] * factors[t.vector + l]
 *
 * Terms are added up in groups of a few hundred, which then join the sums one after the other. With
 * `start` the sums' old contents are not read: lane l starts from start[l]. */
typedef struct Products {
  const THNNOffsets *row;
  int64_t rows;
  const THNNOffsets *term;
  int64_t terms;
  int vectors; /* 1 to mostVectors */
  const real *scalars, *factors;
  /* Where each row's scalars are a contiguous stream from memory that the hardware does not
   * prefetch: the distance from one row's stream to the next row's. Otherwise 0. */
  int64_t streams;
  const real *start; /* or NULL */
  real *sums;
} Products;

/* Sums of outer products along lines of positions, for chains of taps that share their scalars: for
 * each line r, each of its positions i and each lane l
 *
 *   sums[r.vector + i*sumStep + l] += sum over the chains c and their taps k of
 *                                     scalars[r.scalar + c.scalar + (i + k)*spacing] *
 *                                     factors[c.vector + k*factorStep + l]
 *
 * Only the products with begin <= i + k < end are formed. */
typedef struct Chains {
  const THNNOffsets *line;
  int64_t lines, positions; /* positions of each line */
  int64_t begin, end;
  const THNNOffsets *chain;
  int64_t chains;
  int vectors;  /* 1 to mostVectors */
  int64_t taps; /* of each chain, at least 1 */
  int64_t spacing, sumStep, factorStep;
  const real *scalars, *factors;
  const real *start; /* or NULL */
  real *sums;
} Chains;

/* The transposed sums, for chains of taps over lines of positions: for each row r, each tap k of
 * its chain and each lane l of one vector
 *
 *   sums[r.vector + k*sumStep + l] += sum over the lines n and their positions i of
 *                                     scalars[r.scalar + n.scalar + (i + k)*spacing] *
 *                                     factors[n.vector + i*factorStep + l]
 *
 * Only the products with begin <= i + k < end are formed. */
typedef struct Correlations {
  const THNNOffsets *row;
  int64_t rows;
  int taps; /* of each chain, 2 to THNN_CHAIN_TAPS */
  const THNNOffsets *line;
  int64_t lines, positions; /* positions of each line, at least THNN_CHAIN_TAPS */
  int64_t begin, end;
  int64_t spacing, sumStep, factorStep;
  const real *scalars, *factors;
  real *sums;
} Correlations;

typedef struct SimdChains {
  int longestTile[4]; /* the most positions of a line in a tile, for 1 to 4 vectors */
  void (*add)(const Chains *chains);
  void (*correlate)(const Correlations *correlations);
} SimdChains;

typedef struct SimdProducts {
  int lanes;       /* reals in a vector */
  int mostVectors; /* the most vectors that one call takes */
  void (*add)(const Products *products);
  const SimdChains *chains;
  /* prefetches x into the second-level cache */
  void (*prefetch)(int64_t n, const real *x);
  /* y[column*yStride + row] = x[row*xStride + column]; x and y do not overlap */
  void (*transpose)(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                    int64_t yStride);
  /* y[column*lanes + lane] = x[lane*xStride + column], or 0 if lane >= rows; `lanes` is `rows`
   * rounded up to whole vectors */
  void (*pack)(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
               int64_t lanes);
  /* sums += the sum over all positions; x[position] is `vectors` vectors */
  void (*total)(int64_t positions, int vectors, const real *x, real *sums);
} SimdProducts;

/* y[i][j] = start[j] + the sum over the terms of x[i][t] * w[j][t]; without `start`, y is added to.
 * Strides are from one row of a matrix to the next. */
typedef struct Dots {
  int64_t rows, columns, terms;
  const real *x;
  int64_t xStride;
  const real *w;
  int64_t wStride;
  const real *start; /* or NULL */
  real *y;
  int64_t yStride;
} Dots;

/* Up to this many rows, dots are faster than panels. */
enum { THNN_FEW_ROWS = 20 };

/* Sizes for which dots are faster than gemm; leastProducts bounds rows * columns * terms. */
typedef struct THNNDotsRange {
  int64_t leastRows, mostRows, leastTerms, leastProducts;
} THNNDotsRange;

typedef struct SimdDots {
  THNNDotsRange ranges[2]; /* measured */
  void (*dots)(const Dots *of);
  /* y[i][j] += the sum over the terms of x[i][t] * w[t][j]; `start` is not used */
  void (*spread)(const Dots *of);
} SimdDots;

/* c[i][j] = start[i] + the sum over the terms t of s[t][i] * p[t][j]. The scalars s are stored in
 * groups of SimdPanels.step rows, [group][term][row], and p in panels of SimdPanels.columns
 * columns; the last panel may have fewer. Panels are read in whole vectors. */
typedef struct Panels {
  int64_t rows, columns, terms;
  const real *scalars;
  const real *panel;
  int64_t stride, panelStep; /* from one term, and from one panel, to the next */
  /* If not NULL, the first tile of rows, which must be a full one, also packs the full panels: it
   * reads them from `source` and writes them to `packed`, the memory of `panel`. */
  const real *source;
  int64_t sourceStride; /* from one term to the next; panels are adjacent */
  real *packed;
  bool add;          /* whether to add to c; `start` is not used then */
  const real *start; /* or NULL: 0 */
  real *c;
  int64_t cStride; /* from one row to the next */
} Panels;

typedef struct SimdPanels {
  int lanes;      /* reals in a vector */
  int columns;    /* columns of a panel */
  int rows;       /* rows of a tile */
  int step;       /* rows of a group of scalars: a multiple of `rows` and `lanes` */
  int fewColumns; /* after the last full panel, up to this many cost much less than a vector */
  /* Where gemm was measured to be slower: the least number of products if one operand is contiguous
   * along the sums (leastProducts), if both are (leastAlong) and if neither is (leastAcross); the
   * most columns of a product whose panels are read in place (mostInPlace); and whether panels also
   * win where they must be packed first (packs). */
  int64_t leastProducts, leastAlong, leastAcross, mostInPlace;
  bool packs;
  void (*multiply)(const Panels *panels);
  /* y[t*yStride + j] = x[t*xStride + j]; the lanes after the last column become 0 */
  void (*copy)(int64_t terms, int64_t columns, const real *x, int64_t xStride, real *y,
               int64_t yStride);
} SimdPanels;

/* A position in each of two arrays. */
typedef struct THNNPosition {
  int64_t x, y;
} THNNPosition;

/* Rows of x, which are read at offsets, and the rows of y that they are multiplied by. Up to a
 * vector's worth of elements is read past each row of y; they must be 0. */
typedef struct Shifted {
  int64_t rows, n;
  const real *x, *y;
  int64_t xStride, yStride; /* from one row to the next */
} Shifted;

/* A list of vectors of neighbouring positions in two arrays: first `whole` full vectors, then
 * `parts` partial ones, of `lanes` lanes each. */
typedef struct Vectors {
  const THNNPosition *at;
  int64_t whole, parts, lanes;
} Vectors;

/* sums[plane][tap][lane] += the sum over the vectors of x[offsets[tap]] * y[plane * yPlane]; the
 * caller adds up the lanes. Nothing is read past a partial vector. */
typedef struct LineDots {
  Vectors vectors;
  int64_t taps;
  const int64_t *offsets;
  int64_t planes, yPlane;
  const real *x, *y;
  real *sums;
  real *totals; /* [plane][lane] += the sums of y, or NULL */
} LineDots;

/* The vectors of y[plane * yPlane]: start[plane] + the sum over the taps of x[offsets[tap]] *
 * factors[group][tap][plane of group], where a group is tilePlanes planes. Without `start`, y is
 * added to. Past a partial vector, up to a vector's worth of x is read, but nothing is written. */
typedef struct LineSums {
  Vectors vectors;
  int64_t taps;
  const int64_t *offsets;
  int64_t planes, yPlane;
  const real *factors;
  const real *start; /* or NULL */
  const real *x;
  bool streams; /* x comes from memory rather than from a cache, one stream for each tap */
  real *y;
} LineSums;

/* Each row of y becomes `before` zeros, `count` elements of x that are `step` apart, and `after`
 * zeros. Rows are written in order, zeros in whole vectors: less than a vector past a row's end. */
typedef struct PaddedRows {
  int64_t rows, before, count, after;
  const real *x;
  int64_t xStride, step;
  real *y;
  int64_t yStride;
} PaddedRows;

/* Cuts `n` neighbouring positions of some planes into chunks of `length`: element i of a plane of
 * x, at position p = first + i, becomes element p % length of its plane's piece of chunk p /
 * length. The pieces of a chunk follow each other, plane by plane. */
typedef struct Chunks {
  int64_t planes, n, first;
  const real *x;
  int64_t xStride; /* from one plane to the next */
  int64_t length;
  real *y;
  int64_t yStride; /* from one chunk to the next */
} Chunks;

/* For each row: y[i] = start + the sum over the taps of factors[t] * x[offsets[t] + i]. Up to a
 * vector's worth of elements is read past each row of x. */
typedef struct ShiftedSums {
  int64_t rows, n, taps;
  const int64_t *offsets;
  const real *factors;
  real start;
  const real *x;
  int64_t xStride;
  real *y;
  int64_t yStride;
} ShiftedSums;

typedef struct SimdShifts {
  int64_t lanes;                /* reals in a vector */
  int64_t tilePlanes, tileTaps; /* of a tile of dotLines; tiles of sumLines have as many planes */
  void (*frame)(const PaddedRows *frame);
  void (*cut)(const Chunks *chunks);
  void (*sumRows)(const ShiftedSums *sums);
  /* y = a[0], b[0], a[1], b[1], …, n of each */
  void (*interleave)(int64_t n, const real *a, const real *b, real *y);
  /* y[i] += the sum over the taps of factors[t] * x[offsets[t] + i]; works on whole vectors: the
   * elements past n must be readable and writable, and hold no meaningful values afterwards */
  void (*add)(int64_t n, int64_t taps, const int64_t *offsets, const real *factors, const real *x,
              real *y);
  /* sums[t] += the sum over all rows of x[offsets[t] + i] * y[i] */
  void (*dot)(const Shifted *of, int64_t taps, const int64_t *offsets, double *sums);
  void (*dotLines)(const LineDots *of);
  void (*sumLines)(const LineSums *of);
  /* sums[i] = the sum of the lanes of vector i */
  void (*addLanes)(int64_t n, const real *vectors, real *sums);
} SimdShifts;

/* Up to a vector's worth of planes. In memory each plane is rows * n contiguous elements. In
 * scratch each plane has a lane: a vector holds one element of every plane, and rows begin `pitch`
 * reals apart. */
typedef struct PlaneRows {
  int64_t planes, stride; /* the number of planes; from one to the next in memory */
  int64_t rows, n, pitch;
} PlaneRows;

/* Rows of n positions, each a vector, of x and y: rows are xRow and yRow apart, positions xStep and
 * yStep. Tap t of a position is at offsets[t] from it, and its factors, a vector, are at
 * factorAt[t]. All of these are counted in reals. */
typedef struct PlaneSums {
  int64_t rows, n, taps;
  const int64_t *offsets, *factorAt;
  const real *factors;
  const real *start; /* a vector that sums start from, or NULL: y itself */
  const real *x;
  int64_t xRow, xStep;
  real *y;
  int64_t yRow, yStep;
} PlaneSums;

/* Where in a window or plane a value was found; as wide as a real, so that the two move through
 * vectors together. -1 means that nothing was found, unless a comment says otherwise. */
#if defined(THNN_REAL_FLOAT)
typedef int32_t Place;
#else
typedef int64_t Place;
#endif

/* A row of windows over the same input rows, with taps that are `dilation` reals apart. The place
 * of tap t of a window is its row's place + window.number * numberPlace + t * tapPlace. */
typedef struct PlaneWindows {
  int64_t rows, columns; /* rows under each window; number of windows */
  const real *const *row;
  const Place *rowPlace;
  const THNNTapSpan *window;
  int64_t dilation;
  Place numberPlace, tapPlace, none; /* `none` is the place where nothing is found */
  real start;                        /* what a value must exceed */
} PlaneWindows;

typedef struct SimdPlanes {
  /* y = the planes in lanes, 0 in lanes that have none */
  void (*load)(const PlaneRows *rows, const real *x, real *y);
  /* the reverse, for rows without gaps: the pitch is not used */
  void (*store)(const PlaneRows *rows, const real *x, real *y);
  /* y = start + the sums over the taps of x * factor */
  void (*sum)(const PlaneSums *sums);
  /* sums[t] += the sum over all positions of y * tap t of x, a vector for each tap */
  void (*dot)(const PlaneSums *of, real *sums);
  /* best = the greatest value of each window, the first among equals, and place = where it is: a
   * vector for each window. NaN is never chosen. */
  void (*max)(const PlaneWindows *of, real *best, Place *place);
  /* sums += part; part = 0 */
  void (*settle)(int64_t n, real *part, double *sums);
  /* vector i of y = the sum, in order, of the vectors of x in its span */
  void (*sumSpans)(int64_t n, const THNNRange *spans, const real *x, real *y);
  /* vector i of y = vector i of x / (factor * divisors[i]) */
  void (*divide)(int64_t n, real factor, const real *divisors, const real *x, real *y);
} SimdPlanes;

/* Windows over the columns that maxOfRows leaves: window i has `kernel` columns, `dilation` apart,
 * of which the first is i*step. The place of its tap t is the one that maxOfRows found in the
 * column + firstPlace + i*windowPlace + t*tapPlace. */
typedef struct ColumnWindows {
  int64_t step, dilation, kernel;
  Place firstPlace, windowPlace, tapPlace;
  real start;
} ColumnWindows;

/* Bags of rows of a table. `index` lists the rows of all bags, `indices` of them; bag b begins at
 * index number start[b] and ends where the next one begins. Rows and starts count from `base`. */
typedef struct Bags {
  int64_t bags, indices, base, columns;
  const int64_t *index, *start;
  const real *table;
} Bags;

/* Spans of a row, in groups of one per lane. For spans that are near each other, `index` is where
 * each begins, counted from the first of its group, and `count` its length; empty spans complete
 * the last group. */
typedef struct Spans {
  const THNNRange *spans;
  const THNNSpanVector *vectors;
  const Place *index, *count;
} Spans;

typedef struct SimdPooling {
  /* Whether first <= value <= last for all of n values; first and last are at least -1. */
  bool (*areWithin)(int64_t n, const int64_t *value, int64_t first, int64_t last);
  /* For indices with taps t, h and w in bytes 0, 1 and 2: whether all taps are within their
   * windows' limits and, if so, the numbers of the elements that they name. `second` is not
   * used. */
  bool (*areTaps)(const THNNIndexWindows *windows, const int64_t *index, const int64_t *second);
  void (*elementsOfTaps)(const THNNIndexWindows *windows, const int64_t *index,
                         const int64_t *second, uint32_t *element);
  /* The same for indices that are a row and a column, counted from 1 where the window begins. */
  bool (*arePlaces)(const THNNIndexWindows *windows, const int64_t *row, const int64_t *column);
  void (*elementsOfPlaces)(const THNNIndexWindows *windows, const int64_t *row,
                           const int64_t *column, uint32_t *element);
  /* y[element - base] += x, in order, for n indices of each plane; a plane of y has `elements`
   * elements. An element may occur more than once. */
  void (*addToElements)(int64_t planes, int64_t n, int64_t elements, const int64_t *element,
                        int64_t base, const real *x, real *y);
  /* addToElements for one plane and base 0. */
  void (*addToNearElements)(int64_t n, const uint32_t *element, const real *x, real *y);
  /* sums += (index == number ? x : 0); if `first`, sums are set rather than added to */
  void (*addNamed)(int64_t n, const int64_t *index, int64_t number, const real *x, bool first,
                   real *sums);
  /* In each column, best = the greatest of the rows' values above `start`, the first among equals,
   * and place = its row's place; `start` and -1 where there is none. NaN is never chosen. */
  void (*maxOfRows)(int64_t n, int64_t count, const real *const *rows, const Place *places,
                    real start, real *best, Place *place);
  /* The same over the columns of each window; among equals, the smallest place wins. */
  void (*maxOfColumns)(int64_t n, const ColumnWindows *columns, const real *best,
                       const Place *place, real *chosen, Place *chosenPlace);
  /* best = the greatest of x[at[i] + offsets[t]] above `start` over the taps, of which there is at
   * least one, the first among equals, and place = at[i] + its offset; `start` and -1 where there
   * is none. NaN is never chosen. */
  void (*maxAround)(int64_t n, const Place *at, int64_t taps, const Place *offsets, const real *x,
                    real start, real *best, Place *place);
  /* index = place + first, or `none` where nothing was found */
  void (*indexOfPlace)(int64_t n, const Place *place, int64_t first, int64_t none, int64_t *index);
  /* Splits places row*width + column, which are below 2^31, into row and column - begin[2*i], both
   * counted from 1; both are 0 where the place is negative. */
  void (*numbersOfPlace)(int64_t n, const Place *place, int64_t width, const int64_t *begin,
                         int64_t *row, int64_t *column);
  /* sum = the sum of the rows, added up in order */
  void (*sumOfRows)(int64_t n, int64_t count, const real *const *rows, real *sum);
  /* row b of sums = the sum of the rows in bag b, added up in order, for bags `first` to end - 1 */
  void (*sumOfBags)(const Bags *bags, int64_t first, int64_t end, real *sums);
  /* sum[i] = x[i*step] + … + x[i*step + kernel - 1] */
  void (*sumOfColumns)(int64_t n, int64_t step, int64_t kernel, const real *x, real *sum);
  /* y[i] = the sum of the elements of span i, in order. Up to a vector's worth of elements is read
   * past the last span. */
  void (*sumOfSpans)(int64_t n, const Spans *spans, const real *x, real *y);
  /* y = factor * x */
  void (*scale)(int64_t n, real factor, const real *x, real *y);
  /* sum = x * y + z */
  void (*multiplyAdd)(int64_t n, const real *x, const real *y, const real *z, real *sum);
  /* y = x / (factor * divisors) */
  void (*divide)(int64_t n, real factor, const real *divisors, const real *x, real *y);
  /* y[i] = (1 - share[i]) * x[before[i]] + share[i] * x[after[i]] */
  void (*interpolate)(int64_t n, const Place *before, const Place *after, const real *share,
                      const real *x, real *y);
  /* y = x with each element `times` times */
  void (*repeat)(int64_t n, const real *x, int64_t times, real *y);
  /* y = `times` rows that are x */
  void (*repeatRow)(int64_t n, const real *x, int64_t times, real *y);
} SimdPooling;

/* Points of a grid, located in a plane. A point inside is between four elements: `place` is the
 * number of the upper left one, `right` and `down` are the point's distances from it, and `weight`
 * has the shares of upper left, upper right, lower left and lower right. The `others` have place 0,
 * so that sample and addSlopes can treat them like the rest; callers replace their results, and
 * call neither if no point is inside. */
enum { THNN_POINTS = 256 };
typedef struct Points {
  int64_t count, others;
  int32_t place[THNN_POINTS];
  real right[THNN_POINTS], down[THNN_POINTS], weight[4][THNN_POINTS];
  bool inside[THNN_POINTS];
} Points;

typedef struct SimdSampling {
  /* Finds n points in a plane; x and y of each go from -1 to 1. */
  void (*locate)(int64_t n, const real *grid, int64_t height, int64_t width, Points *points);
  /* y = the weighted mean of the four elements of x around each point */
  void (*sample)(const Points *points, const real *x, int64_t width, real *y);
  /* slopeX, slopeY += gradient times that mean's slope as the point moves to the right, and down */
  void (*addSlopes)(const Points *points, const real *x, int64_t width, const real *gradient,
                    real *slopeX, real *slopeY);
  /* adds the gradients of points `first` to end - 1 to their four elements of x, by weight */
  void (*spread)(const Points *points, int64_t first, int64_t end, const real *gradient,
                 int64_t width, real *x);
} SimdSampling;

/* Elementary functions, element by element; only power has a parameter, the exponent. */
typedef struct SimdElementary {
  Map exp, expm1, log, log1p, sigmoid, logSigmoid, tanh, power;
} SimdElementary;

/* Two sums per channel, of terms of x, y and the channel's center. */
typedef struct ChannelSum {
  /* adds the terms of one channel to sums[0] and sums[1]: the channel has `count` runs of n
   * elements, which begin `step` elements apart */
  void (*planes)(int64_t count, int64_t step, int64_t n, const real *x, const real *y, real center,
                 double *sums);
  /* adds the terms of element i, whose channel has centers[i], to first[i] and second[i] */
  void (*row)(int64_t n, const real *x, const real *y, const real *centers, double *first,
              double *second);
} ChannelSum;

/* z = f(x, y) with `count` parameters per channel. */
typedef struct ChannelMap {
  /* n elements of one channel */
  Map2 plane;
  /* parameter p of element i is parameters[p*step + i] */
  void (*row)(int64_t n, const real *x, const real *y, const real *parameters, int64_t step,
              real *z);
  int count;
} ChannelMap;

/* The loops of element-by-element modules. The comments name `parameters` last, in order. Backward
 * loops take the forward call's input (x) or result (y) as their first pointer, gradOutput as their
 * second. */
typedef struct SimdActivation {
  /* |x| */
  Map abs;
  /* x >= 0 ? gradOutput : -gradOutput */
  Map2 absBackward;
  /* x <= 0 ? alpha * (e^x - 1) : x; alpha */
  Map elu;
  /* y <= 0 ? gradOutput * (y + alpha) : gradOutput; alpha */
  Map2 eluBackward;
  /* y = x * sigmoid(gate) */
  void (*gated)(int64_t n, const real *x, const real *gate, real *y);
  void (*gatedBackward)(int64_t n, const real *x, const real *gate, const real *gradOutput,
                        real *gradX, real *gradGate);
  /* x where it is beyond lambda on either side, otherwise 0; lambda */
  Map hardShrink;
  /* hardShrink's result, moved by lambda towards 0; lambda */
  Map softShrink;
  /* for both shrinks: x beyond lambda on either side ? gradOutput : 0; lambda */
  Map2 shrinkBackward;
  /* x, but at least min and at most max; min, max */
  Map hardTanh;
  /* min < x < max ? gradOutput : 0; min, max */
  Map2 hardTanhBackward;
  /* x > 0 ? x : slope * x; slope */
  Map leakyRelu;
  /* x > 0 ? gradOutput : slope * gradOutput; slope */
  Map2 leakyReluBackward;
  /* leakyRelu with a slope per channel; prelu does not read y */
  ChannelMap prelu, preluBackward;
  /* gradOutput * sigmoid(-x) */
  Map2 logSigmoidBackward;
  /* x * y */
  Map2 product;
  /* gradOutput * (1 - y) * y */
  Map2 sigmoidBackward;
  /* beta * x > threshold ? x : log(1 + e^(beta * x)) / beta; beta, threshold */
  Map softPlus;
  /* beta * y > threshold ? gradOutput : gradOutput * (1 - e^(-beta * y)); beta, threshold */
  Map2 softPlusBackward;
  /* square root of x */
  Map sqrt;
  /* y == 0 ? 0 : gradOutput / (2 * y) */
  Map2 sqrtBackward;
  /* x^2 */
  Map square;
  /* 2 * x * gradOutput */
  Map2 squareBackward;
  /* gradOutput * (1 - y^2) */
  Map2 tanhBackward;
  /* for a p-norm y: y == 0 ? 0 : gradOutput * (x / y)^exponent; exponent */
  void (*normBackward)(int64_t n, const real *x, const real *y, const real *gradOutput,
                       const real *parameters, real *z);
} SimdActivation;

typedef struct SimdChannels {
  /* distance d = x - center and d^2; y is not read */
  ChannelSum moments;
  /* gradOutput (y) and gradOutput * (x - center) */
  ChannelSum gradients;
  /* x <= 0 ? x * gradOutput : 0; the center is not read, there is no second sum */
  ChannelSum slopes;
  /* (x - center) * scale + shift; center, scale, shift; y is not read */
  ChannelMap normalise;
  /* (gradOutput - mean - (x - center) * projection) * scale; center, mean, projection, scale */
  ChannelMap normaliseBackward;
  /* y * factor; factor; x is not read */
  ChannelMap scale;
} SimdChannels;

/* Softmax, or its logarithm, over channels. The channels of a row are contiguous; in a tile,
 * positions are contiguous and the channels of each are `step` apart. Backward takes the forward
 * call's result y. `run` writes the rows, except short ones; `put` writes the tiles, unless it is
 * NULL. */
typedef struct SimdSoftmax {
  int64_t tile; /* the most positions of a tile */
  void (*forwardRows)(bool logarithm, int64_t rows, int64_t channels, const real *x, real *y);
  void (*backwardRows)(bool logarithm, int64_t rows, int64_t channels, const real *y,
                       const real *gradOutput, RunMap2 run, real *gradInput);
  void (*forwardTile)(bool logarithm, int64_t channels, int64_t step, int64_t positions,
                      const real *x, real *y);
  void (*backwardTile)(bool logarithm, int64_t channels, int64_t step, int64_t positions,
                       const real *y, const real *gradOutput, Put put, real *gradInput);
} SimdSoftmax;

/* What the gates of one row of a recurrent cell of n units are computed from, gate after gate. */
typedef struct GateRows {
  const real *input, *hidden;
  const real *bias1, *bias2; /* both or neither */
} GateRows;

/* What flows back into one row of an LSTM cell, and the cell's states. */
typedef struct LstmGradients {
  const real *cx, *cy, *gradOutput, *gradCy;
} LstmGradients;

/* Rows of recurrent cells of n units; the modules' files say what they compute. */
typedef struct SimdRecurrent {
  /* gates r, z, n; storage is r, z, n, hx, hidden_n + bias2_n */
  void (*gru)(int64_t n, const GateRows *of, const real *hx, real *hy, real *storage);
  void (*gruBackward)(int64_t n, const real *storage, const real *gradOutput, real *gradInput,
                      real *gradHidden, real *gradHx);
  /* gates i, f, c, o; `gates` takes their values and may be of->input */
  void (*lstm)(int64_t n, const GateRows *of, const real *cx, real *gates, real *hy, real *cy);
  void (*lstmBackward)(int64_t n, const real *gates, const LstmGradients *of, real *gradGates,
                       real *gradCx);
} SimdRecurrent;

/* A row of tiles for Winograd's algorithms F(2x2, 3x3) and F(3x3, 2x2). A tile is 2x2 results of a
 * correlation with 3x3 taps and sees 4x4 elements, which overlap its neighbours' by two. With
 * dilation, the elements and results of a tile are a step apart: columnStep tiles, a group, begin
 * in neighbouring columns, and the next group begins two steps after this one. */
typedef struct TileRow {
  int64_t tiles;               /* up to THNN_MOST_TILES */
  int64_t height, width;       /* of the plane that is read or written */
  int64_t row, column;         /* of the first tile's first element in the plane; can be outside */
  int64_t rowStep, columnStep; /* the dilation; columnStep is up to THNN_MOST_TILES */
  int64_t place;               /* of the first tile in its group, from 0 */
  int64_t ahead;               /* prefetch distance in elements */
} TileRow;

enum {
  THNN_TILE_NUMBERS = 16, /* coefficients that a tile, or 3x3 weights, are transformed into */
  THNN_MOST_TILES = 64    /* tiles that are transformed at a time */
};

/* Coefficient k of tile or filter i of a transform is at [k * step + i]. Whole vectors are written:
 * up to a vector past the last tile is overwritten. */
typedef struct SimdWinograd {
  double sourceCost, resultCost; /* measured cycles for a vector of tiles */
  double weightShare;            /* the weight gradient's measured cost, relative to its estimate */
  /* The transform of the elements that the tiles see, which are 0 outside of the plane. `lines`
   * keeps what the tiles below share with them. `below` says that the previous call was for the row
   * of tiles above and had at least as many tiles. */
  void (*source)(const TileRow *of, const real *plane, bool below, real *lines, int64_t step,
                 real *y);
  int64_t lines; /* reals in `lines` */
  /* The transforms of `times` vectors of filters, [time][lane], from x[time][tap][lane]; `flipped`
   * reverses the taps. */
  void (*weights)(int64_t times, bool flipped, const real *x, int64_t step, real *y);
  /* The results of the tiles inside the plane: bias + the transform of sums of products. Returns
   * whether all of them are finite. */
  bool (*result)(const TileRow *of, const real *x, int64_t step, real bias, real *plane);
  /* The transforms of the gradients of the tiles' results, for a vector of planes, from the columns
   * that the tiles cover: x[row of two][column][lane]. Coefficient k of a tile goes to
   * y[k * step + tile * tileStep]. Adds the gradients to `sums`. */
  void (*gradients)(const TileRow *of, int64_t columns, const real *x, int64_t step,
                    int64_t tileStep, real *y, real *sums);
  /* y[filter][tap][lane], the gradients of 3x3 weights, from sums of products of those coefficients
   * and the elements', x[coefficient * step + filter * lanes + lane]. Returns whether all are
   * finite. */
  bool (*taps)(int64_t filters, int64_t lanes, const real *x, int64_t step, real *y);

  /* F(2, 3) along frames of n reals, with coefficient k at y[k * step]: the transforms of the four
   * frames that two results see, and of three weights of n reals each. */
  void (*frames)(int64_t n, const real *const *x, int64_t step, real *y);
  void (*frameWeights)(int64_t n, const real *const *x, int64_t step, real *y);
  /* One or two consecutive result frames: start + the transform of sums of products; start may be
   * NULL. Returns whether all of them are finite. */
  bool (*frameResults)(int64_t n, const real *x, int64_t step, const real *start, int results,
                       real *y);
} SimdWinograd;

typedef struct Simd {
  SimdPointwise pointwise;
  SimdReduce reduce;
  SimdCriterion criterion;
  SimdProducts products;
  SimdProducts narrowProducts; /* with vectors of half the size where that can pay */
  SimdDots dots;
  SimdPanels panels;
  SimdWinograd winograd;
  SimdShifts shifts;
  SimdPlanes planes;
  SimdPooling pooling;
  SimdSampling sampling;
  SimdElementary elementary;
  SimdActivation activation;
  SimdChannels channels;
  SimdSoftmax softmax;
  SimdRecurrent recurrent;
} Simd;

extern Simd THNN_(simd);

/* The names of these types in convolution/engine/. */
typedef Chains THNN_(Chains);
typedef Chunks THNN_(Chunks);
typedef Correlations THNN_(Correlations);
typedef PaddedRows THNN_(Frame);
typedef LineDots THNN_(LineDots);
typedef LineSums THNN_(LineSums);
typedef Products THNN_(Products);
typedef SimdPanels THNN_(SimdPanels);
typedef SimdProducts THNN_(SimdProducts);
typedef TileRow THNN_(TileRow);
typedef Vectors THNN_(Vectors);

#endif
