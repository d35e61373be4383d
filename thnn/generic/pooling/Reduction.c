/* One number for all elements along a dimension: their sum or mean, the greatest or the least.
 *   input            any shape
 *   output, indices  the same without dimension dim, or with size 1 there
 * Sums are added up in double precision. Among equals the first element counts. NaN counts as the
 * greatest element, and as the least.
 *   gradOutput       an element for each of output
 *   gradInput        as input: the gradient of the result for each element of a sum, its share for
 *                    each of a mean, and for the element that an index names, with 0 for others */
#include "call/indices.h"
#include "generic/pooling/checks.h"
#include "generic/template.h"
#include "work/sizes.h"

#include <stdio.h>

enum {
  LEAST_COLUMNS = 256, /* of a piece: short pieces of long rows are slow to read */
  MOST_COLUMNS = 1024  /* whose sums stay in the first-level cache */
};

#ifdef THNN_ONCE
THNNPlanes THNN_Reduction_shapeCheck(const char *function, THNNShape input, THNNScalar dim,
                                     THNNScalar mode)
{
  THNN_checkDimensions(function, input, 1, THNN_MOST_REDUCED_DIMENSIONS, "any sizes");
  THNN_elements(function, input);
  if (dim.value < 1 || dim.value > input.nDimension) {
    char expected[48], found[32];
    snprintf(expected, sizeof expected, "1 to %d, a dimension of input", input.nDimension);
    snprintf(found, sizeof found, "%lld", (long long)dim.value);
    THNN_reject(function, dim.name, dim.position, expected, found);
  }
  THNN_checkAtLeast(function, mode, THNN_REDUCTION_SUM);
  THNN_checkAtMost(function, mode, THNN_REDUCTION_LEAST);
  const int before = (int)dim.value - 1, after = input.nDimension - before - 1;
  return (THNNPlanes){before > 0 ? THNN_product(before, input.size) : 1, input.size[before],
                      after > 0 ? THNN_product(after, input.size + before + 1) : 1};
}

void THNN_Reduction_gradientCheck(const char *function, THNNPlanes reduced, THNNReduction mode,
                                  THNNShape gradOutput, THNNShape indices)
{
  const int64_t results = reduced.batch * reduced.positions;
  THNN_checkElements(function, gradOutput, results, "one for each result");
  if (mode >= THNN_REDUCTION_GREATEST)
    THNN_checkElements(function, indices, results, "one for each result");
}

int THNN_reducedSizes(THNNShape input, int dim, bool keep, int64_t *size)
{
  int count = 0;
  for (int d = 0; d < input.nDimension; d++)
    if (d != dim - 1)
      size[count++] = input.size[d];
    else if (keep || input.nDimension == 1)
      size[count++] = 1;
  return count;
}
#endif

/* A call: what is reduced, and to what. `place` is NULL if the places are not wanted. */
typedef struct Reduced {
  THNNReduction mode;
  THNNPlanes shape;
  const real *x;
  real *y;
  int64_t *place;
} Reduced;

/* Computes results [begin, end), each from a row. */
static void reduceRows(const Reduced *call, int64_t begin, int64_t end)
{
  const int64_t n = call->shape.planes;
  if (call->mode <= THNN_REDUCTION_MEAN) {
    const double divisor = call->mode == THNN_REDUCTION_MEAN ? (double)n : 1;
    THNN_(simd).reduce.sumOfRows(end - begin, n, call->x + begin * n, divisor, call->y + begin);
    return;
  }
  for (int64_t i = begin; i < end; i++) {
    const real *row = call->x + i * n;
    const int64_t found = call->mode == THNN_REDUCTION_GREATEST
                              ? THNN_(simd).reduce.greatest(n, row)
                              : THNN_(simd).reduce.least(n, row);
    call->y[i] = row[found];
    if (call->place != NULL)
      call->place[i] = found + TH_INDEX_BASE;
  }
}

/* Computes results [begin, end) of a sample, each from a column. */
static void reduceColumns(const Reduced *call, int64_t sample, int64_t begin, int64_t end)
{
  const int64_t count = call->shape.planes, apart = call->shape.positions, n = end - begin;
  const real *x = call->x + sample * count * apart + begin;
  const int64_t at = sample * apart + begin;
  if (call->mode <= THNN_REDUCTION_MEAN) {
    const double divisor = call->mode == THNN_REDUCTION_MEAN ? (double)count : 1;
    THNN_(simd).reduce.sumOfColumns(n, count, apart, x, divisor, call->y + at);
    return;
  }
  int64_t *place = call->place != NULL ? call->place + at : NULL;
  if (call->mode == THNN_REDUCTION_GREATEST)
    THNN_(simd).reduce.greatestOfColumns(n, count, apart, x, call->y + at, place);
  else
    THNN_(simd).reduce.leastOfColumns(n, count, apart, x, call->y + at, place);
  if (place != NULL)
    for (int64_t i = 0; i < n; i++)
      place[i] += TH_INDEX_BASE;
}

/* Cuts the columns of a sample into pieces: as few as give work to all threads, since pieces of long
 * rows take longer to read than whole ones. A column's result does not depend on its piece. */
static THNNBlocks piecesOfColumns(const THNNState *state, THNNPlanes shape)
{
  const int64_t columns = shape.positions;
  const double operations = (double)shape.batch * (double)shape.planes * (double)columns;
  const int threads = THNN_threads(state, divideUp(columns, LEAST_COLUMNS), operations);
  const int64_t pieces =
      maximum(divideUp(columns, MOST_COLUMNS), shape.batch % threads == 0 ? 1 : threads);
  const int64_t length = divideUp(columns, pieces);
  return (THNNBlocks){divideUp(columns, length), length, columns};
}

/* Results [begin, end) of a sample or, where they come from rows, of all. */
typedef struct Piece {
  bool rows;
  int64_t sample, begin, end;
} Piece;

/* Calls run(call, piece) for all results, in pieces that threads share. */
static void runPieces(const THNNState *state, THNNPlanes shape,
                      void (*run)(const void *call, Piece piece), const void *call)
{
  const bool rows = shape.positions == 1;
  const THNNBlocks blocks =
      rows ? THNN_rowBlocks(shape.batch, shape.planes) : piecesOfColumns(state, shape);
  const int64_t pieces = rows ? blocks.count : shape.batch * blocks.count;
  const double elements = (double)shape.batch * (double)shape.planes * (double)shape.positions;
  const int threads = THNN_threads(state, pieces, elements);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < pieces; i++) {
    const int64_t block = i % blocks.count, begin = block * blocks.length;
    const int64_t end = begin + THNN_blockLength(&blocks, block);
    run(call, (Piece){rows, rows ? 0 : i / blocks.count, begin, end});
  }
}

static void reducePiece(const void *call, Piece piece)
{
  if (piece.rows)
    reduceRows(call, piece.begin, piece.end);
  else
    reduceColumns(call, piece.sample, piece.begin, piece.end);
}

void THNN_(Reduction_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                   THIndexTensor *indices, int dim, bool keep, int mode)
{
  const char *function = "Reduction_updateOutput";
  Reduced call = {.mode = (THNNReduction)mode};
  call.shape = THNN_Reduction_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SCALAR(dim, 5),
                                         THNN_SCALAR(mode, 7));
  int64_t size[THNN_MOST_REDUCED_DIMENSIONS];
  const int dimensions = THNN_reducedSizes(THNN_SHAPE(input, 2), dim, keep, size);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, dimensions, size);
  THNNBuffer *places = indices != NULL && call.mode >= THNN_REDUCTION_GREATEST
                           ? THNN_planOut(&plan, indices, 4, dimensions, size)
                           : NULL;
  THNN_planAcquire(&plan);

  call.x = in->data;
  call.y = out->data;
  call.place = places != NULL ? places->data : NULL;
  runPieces(state, call.shape, reducePiece, &call);
  THNN_planRelease(&plan);
}

/* A call backward. */
typedef struct Spread {
  THNNReduction mode;
  THNNPlanes shape;
  const real *gradOutput;
  const int64_t *place;
  real *gradInput;
} Spread;

/* Computes the gradients of the elements that make results [begin, end) of a sample. */
static void spreadColumns(const Spread *call, int64_t sample, int64_t begin, int64_t end)
{
  const int64_t count = call->shape.planes, apart = call->shape.positions, n = end - begin;
  const int64_t at = sample * apart + begin;
  const real *gradient = call->gradOutput + at;
  real *to = call->gradInput + sample * count * apart + begin;
  const bool sums = call->mode <= THNN_REDUCTION_MEAN;
  if (sums) {
    const real divisor = call->mode == THNN_REDUCTION_MEAN ? (real)count : 1;
    for (int64_t i = 0; i < n; i++)
      to[i] = gradient[i] / divisor;
  } else {
    THNN_(simd).pointwise.fill(n, 0, to);
  }
  for (int64_t k = 1; k < count; k++)
    if (sums)
      THNN_(simd).pointwise.copy(n, to, to + k * apart);
    else
      THNN_(simd).pointwise.fill(n, 0, to + k * apart);
  for (int64_t i = 0; i < n && !sums; i++)
    to[(call->place[at + i] - TH_INDEX_BASE) * apart + i] = gradient[i];
}

/* The same where results [begin, end) come from rows. */
static void spreadRows(const Spread *call, int64_t begin, int64_t end)
{
  const int64_t count = call->shape.planes;
  for (int64_t i = begin; i < end; i++) {
    real *row = call->gradInput + i * count;
    const real gradient = call->gradOutput[i];
    if (call->mode <= THNN_REDUCTION_MEAN) {
      const real divisor = call->mode == THNN_REDUCTION_MEAN ? (real)count : 1;
      THNN_(simd).pointwise.fill(count, gradient / divisor, row);
    } else {
      THNN_(simd).pointwise.fill(count, 0, row);
      row[call->place[i] - TH_INDEX_BASE] = gradient;
    }
  }
}

static void spreadPiece(const void *call, Piece piece)
{
  if (piece.rows)
    spreadRows(call, piece.begin, piece.end);
  else
    spreadColumns(call, piece.sample, piece.begin, piece.end);
}

void THNN_(Reduction_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                      THTensor *gradInput, THIndexTensor *indices, int dim,
                                      int mode)
{
  const char *function = "Reduction_updateGradInput";
  Spread call = {.mode = (THNNReduction)mode};
  call.shape = THNN_Reduction_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SCALAR(dim, 6),
                                         THNN_SCALAR(mode, 7));
  THNN_Reduction_gradientCheck(function, call.shape, call.mode, THNN_SHAPE(gradOutput, 3),
                               THNN_SHAPE(indices, 5));
  const bool extremes = call.mode >= THNN_REDUCTION_GREATEST;
  if (extremes)
    THNN_checkIndices(state, THNN_INDICES(function, indices, 5),
                      call.shape.batch * call.shape.positions, TH_INDEX_BASE,
                      call.shape.planes - 1 + TH_INDEX_BASE, "elements of dim");

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *places = extremes ? THNN_planIn(&plan, indices, 5) : NULL;
  THNN_planAcquire(&plan);

  call.gradOutput = from->data;
  call.gradInput = to->data;
  call.place = places != NULL ? places->data : NULL;
  runPieces(state, call.shape, spreadPiece, &call);
  THNN_planRelease(&plan);
}
