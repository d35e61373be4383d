/* Gated linear unit: the first half along a dimension, weighted by the second.
 *   input, gradInput     any shape, even in dimension dim
 *   output, gradOutput   the same, half the size in dimension dim
 * output = first * sigmoid(second);
 * gradients: sigmoid(second) * gradOutput, and that times (1 - sigmoid(second)) * first. */
#include "generic/activation/checks.h"
#include "generic/template.h"

#include <stdio.h>
#include <string.h>

enum { MOST_DIMENSIONS = 64 };

#ifdef THNN_ONCE
THNNHalves THNN_GatedLinear_shapeCheck(const char *function, THNNShape input, THNNShape gradOutput,
                                       THNNScalar dim)
{
  THNN_checkDimensions(function, input, 1, MOST_DIMENSIONS, "even in dimension dim");
  if (dim.value < 1 || dim.value > input.nDimension) {
    char expected[48], found[32];
    snprintf(expected, sizeof expected, "1 to %d, a dimension of input", input.nDimension);
    snprintf(found, sizeof found, "%lld", (long long)dim.value);
    THNN_reject(function, dim.name, dim.position, expected, found);
  }
  const int dimension = (int)dim.value - 1;
  if (input.size[dimension] % 2 != 0)
    THNN_rejectShape(function, input, "an even size in dimension %d (dim)", dimension + 1);
  const int64_t half = THNN_elements(function, input) / 2;
  if (gradOutput.nDimension != THNN_NOT_PRESENT &&
      (!THNN_given(gradOutput) || THNN_elements(function, gradOutput) != half))
    THNN_rejectShape(function, gradOutput, "%lld elements, half as many as input", (long long)half);
  const int64_t runs = dimension > 0 ? THNN_product(dimension, input.size) : 1;
  return (THNNHalves){runs, half / runs};
}
#endif

/* How a halved tensor is cut into blocks: a block is a piece of a long run, or several short
 * runs. */
typedef struct Pieces {
  int64_t blocks, perRun, length, runs;
} Pieces;

static Pieces piecesOf(const THNNHalves *halves)
{
  Pieces pieces;
  pieces.length = halves->length < THNN_BLOCK_LENGTH ? halves->length : THNN_BLOCK_LENGTH;
  pieces.perRun = (halves->length + pieces.length - 1) / pieces.length;
  pieces.runs = THNN_BLOCK_LENGTH / pieces.length;
  pieces.blocks = (halves->runs + pieces.runs - 1) / pieces.runs * pieces.perRun;
  return pieces;
}

/* One block: elements [start, start + length) of runs [firstRun, endRun). */
typedef struct Piece {
  int64_t firstRun, endRun, start, length;
} Piece;

static Piece pieceAt(const THNNHalves *halves, const Pieces *pieces, int64_t block)
{
  Piece piece;
  piece.firstRun = block / pieces->perRun * pieces->runs;
  piece.endRun = piece.firstRun + pieces->runs;
  if (piece.endRun > halves->runs)
    piece.endRun = halves->runs;
  piece.start = block % pieces->perRun * pieces->length;
  piece.length = halves->length - piece.start;
  if (piece.length > pieces->length)
    piece.length = pieces->length;
  return piece;
}

static int threadsFor(const THNNState *state, const THNNHalves *halves, const Pieces *pieces)
{
  return THNN_threads(state, pieces->blocks, 8 * (double)(halves->runs * halves->length));
}

void THNN_(GatedLinear_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int dim)
{
  const char *function = "GatedLinear_updateOutput";
  const THNNHalves halves = THNN_GatedLinear_shapeCheck(function, THNN_SHAPE(input, 2),
                                                        THNN_NO_SHAPE, THNN_SCALAR(dim, 4));
  int64_t size[MOST_DIMENSIONS];
  memcpy(size, input->size, (size_t)input->nDimension * sizeof *size);
  size[dim - 1] /= 2;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, input->nDimension, size);
  THNN_planAcquire(&plan);

  const real *x = in->data;
  real *y = out->data;
  const Pieces pieces = piecesOf(&halves);
  const int threads = threadsFor(state, &halves, &pieces);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < pieces.blocks; i++) {
    const Piece piece = pieceAt(&halves, &pieces, i);
    for (int64_t run = piece.firstRun; run < piece.endRun; run++) {
      const real *first = x + 2 * run * halves.length + piece.start;
      THNN_(simd).gates.gated(piece.length, first, first + halves.length,
                              y + run * halves.length + piece.start);
    }
  }
  THNN_planRelease(&plan);
}

void THNN_(GatedLinear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, int dim)
{
  const char *function = "GatedLinear_updateGradInput";
  const THNNHalves halves = THNN_GatedLinear_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SCALAR(dim, 5));

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNN_planAcquire(&plan);

  const real *x = in->data, *g = from->data;
  real *gradient = to->data;
  const Pieces pieces = piecesOf(&halves);
  const int threads = threadsFor(state, &halves, &pieces);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < pieces.blocks; i++) {
    const Piece piece = pieceAt(&halves, &pieces, i);
    for (int64_t run = piece.firstRun; run < piece.endRun; run++) {
      const int64_t at = 2 * run * halves.length + piece.start;
      THNN_(simd).gates.gatedBackward(piece.length, x + at, x + at + halves.length,
                                      g + run * halves.length + piece.start, gradient + at,
                                      gradient + at + halves.length);
    }
  }
  THNN_planRelease(&plan);
}
