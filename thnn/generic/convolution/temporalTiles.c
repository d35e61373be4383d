/* Frames and weights are transformed to four coefficients each (simd/kernels/winograd.c), and each
 * coefficient takes a matrix product:
 *
 *   sums[coefficient][tile] = weights[coefficient] * frames[coefficient][tile]
 *
 * Here weights[coefficient] is a matrix of `resultSize` x `sourceSize`. The inverse transform of a
 * tile's four sums gives its two results.
 *
 * A task is a block of tiles. If there are fewer blocks than threads, the reals of a block's
 * results are cut into parts, and a task is one part. */
#include "generic/convolution/temporalWinograd.h"

#include "generic/shared/matrix.h"
#include "work/scratch.h"
#include "work/sizes.h"

enum { SIDE = 2, TAPS = 3, COEFFICIENTS = 4, MOST_TILES = 256 };
/* Limit on the bytes of a block's transformed frames and sums, which then stay in a cache. */
static const int64_t BLOCK_BYTES = 2 << 20;

typedef TemporalWinograd Temporal;

static int64_t tilesOf(const Temporal *of)
{
  return divideUp(of->results, SIDE);
}

/* Tiles in a block. A block belongs to one sample. */
static int64_t blockTiles(const Temporal *of)
{
  const int64_t perTile = COEFFICIENTS * (of->sourceSize + of->resultSize) * (int64_t)sizeof(real);
  const int64_t most = minimum(BLOCK_BYTES / perTile, MOST_TILES);
  return evenBlock(tilesOf(of), maximum(most, 1), 1);
}

static int64_t blockCount(const Temporal *of)
{
  return of->batch * divideUp(tilesOf(of), blockTiles(of));
}

static int64_t matrixElements(const Temporal *of)
{
  return of->sourceSize * of->resultSize;
}

/* The number of parts that the reals of a result can be cut into. */
static int64_t mostParts(const Temporal *of)
{
  return divideUp(of->resultSize, vectorLanes());
}

static int threadsFor(const Temporal *of)
{
  return THNN_threads(of->state, blockCount(of) * mostParts(of),
                      (double)of->batch * (double)of->results * (double)matrixElements(of) / 4);
}

/* The room in which a thread packs the operands of a block's products. */
static THNNRoom productRoom(const Temporal *of)
{
  THNNRoom room =
      THNN_(panelProducts_eachRoom)(of->state, of->resultSize, blockTiles(of), of->sourceSize, 1);
  room.threads = 1;
  return room;
}

/* A thread's scratch. */
typedef struct Areas {
  THNNRoom room;
  real *coefficients; /* the frames' coefficients */
  real *sums;
  real *zeros; /* a frame of zeros */
} Areas;

static Areas layOut(const Temporal *of, Scratch *scratch)
{
  const int64_t tiles = COEFFICIENTS * blockTiles(of);
  Areas areas = {.room = productRoom(of)};
  areas.room.data = THNN_take(scratch, (int64_t)THNN_roomBytes(areas.room), 1);
  areas.coefficients = THNN_take(scratch, tiles * of->sourceSize, sizeof(real));
  areas.sums = THNN_take(scratch, tiles * of->resultSize, sizeof(real));
  areas.zeros = THNN_take(scratch, of->sourceSize, sizeof(real));
  return areas;
}

static size_t threadBytes(const Temporal *of)
{
  Scratch scratch = {0};
  layOut(of, &scratch);
  return scratch.used;
}

/* The transformed weights, which come first. */
static real *layOutWeights(const Temporal *of, Scratch *scratch)
{
  return THNN_take(scratch, COEFFICIENTS * matrixElements(of), sizeof(real));
}

static size_t sharedBytes(const Temporal *of)
{
  Scratch scratch = {0};
  layOutWeights(of, &scratch);
  return scratch.used;
}

/* Whether the algorithm is worthwhile: with small frames, or few, the transforms and packing take
 * longer than the multiplications that they save. */
static bool pays(const Temporal *of)
{
  enum { LEAST_SIZE = 64, LEAST_TILES = 24 };
  return minimum(of->sourceSize, of->resultSize) >= LEAST_SIZE && blockTiles(of) >= LEAST_TILES;
}

size_t THNN_(temporalWinograd_bytes)(Temporal *of)
{
  THNN_REPRODUCIBLY_GET(of->state, temporalWinograd_bytes, (of))
  const THNNConvolutionAlgorithm algorithm =
      THNN_State_convolutionAlgorithmOf(of->state, of->backward ? THNN_GRAD_INPUT : THNN_OUTPUT);
  const bool asked = algorithm == THNN_CONVOLUTION_WINOGRAD;
  const bool automatic = algorithm == THNN_CONVOLUTION_AUTO && THNN_(simd).panels.packs && pays(of);
  if (!(asked || automatic) ||
      sharedBytes(of) + threadBytes(of) > THNN_State_workspaceLimit(of->state))
    return 0;
  of->threads = threadsFor(of);
  return sharedBytes(of) + (size_t)of->threads * threadBytes(of);
}

/* Transforms the weights of one output plane to weights[coefficient][output plane][input plane]. */
static void transformWeights(const Temporal *of, int64_t plane, const real *weight, real *weights)
{
  const int64_t inputs = of->backward ? of->resultSize : of->sourceSize;
  const real *kernels = weight + plane * TAPS * inputs;
  const real *taps[TAPS];
  for (int k = 0; k < TAPS; k++)
    taps[k] = kernels + (of->backward ? TAPS - 1 - k : k) * inputs;
  THNN_(simd).winograd.frameWeights(inputs, taps, matrixElements(of), weights + plane * inputs);
}

/* Computes reals `part` of the results of tiles [first, end) of a sample; `source` and `result` are
 * its first frames. Returns whether all results are finite. */
static bool runBlock(const Temporal *of, int64_t first, int64_t end, THNNRange part,
                     const real *source, const real *weights, const real *start, real *result,
                     const Areas *areas)
{
  const int64_t most = blockTiles(of), tiles = end - first;
  const int64_t pad = of->backward ? TAPS - 1 : 0;
  const int64_t from = of->sourceSize, to = of->resultSize, reals = part.end - part.begin;
  real *coefficients = areas->coefficients, *sums = areas->sums;
  THNN_(simd).pointwise.fill(from, 0, areas->zeros);
  for (int64_t tile = 0; tile < tiles; tile++) {
    const real *seen[COEFFICIENTS];
    for (int k = 0; k < COEFFICIENTS; k++) {
      const int64_t frame = (first + tile) * SIDE + k - pad;
      seen[k] = frame >= 0 && frame < of->sources ? source + frame * from : areas->zeros;
    }
    THNN_(simd).winograd.frames(from, seen, most * from, coefficients + tile * from);
  }
  for (int coefficient = 0; coefficient < COEFFICIENTS; coefficient++) {
    const Matrix all = {weights + coefficient * matrixElements(of), of->backward ? to : from,
                        !of->backward};
    const Matrix w = {matrixAt(all, part.begin, 0), all.leading, all.transposed};
    const Matrix x = {coefficients + coefficient * most * from, from, false};
    THNN_(panelProducts_each)(reals, tiles, from, w, x, NULL, 1, 0, (Finish){0},
                              sums + coefficient * most * reals, 0, NULL, areas->room);
  }
  bool finite = true;
  for (int64_t tile = 0; tile < tiles; tile++) {
    const int64_t frame = (first + tile) * SIDE;
    finite &= THNN_(simd).winograd.frameResults(
        reals, sums + tile * reals, most * reals, start ? start + part.begin : NULL,
        (int)minimum(SIDE, of->results - frame), to, result + frame * to + part.begin);
  }
  return finite;
}

/* Reals of a result in a part; parts begin at whole vectors, so that no sum depends on them. */
static THNNRange partAt(const Temporal *of, int64_t part, int64_t parts)
{
  const int64_t vectors = mostParts(of);
  return (THNNRange){vectors * part / parts * vectorLanes(),
                     minimum(vectors * (part + 1) / parts * vectorLanes(), of->resultSize)};
}

bool THNN_(temporalWinograd_run)(const Temporal *of, const real *source, const real *weight,
                                 const real *start, real *result, void *scratch)
{
  THNN_REPRODUCIBLY_GET(of->state, temporalWinograd_run,
                        (of, source, weight, start, result, scratch))
  const int64_t planes = of->backward ? of->sourceSize : of->resultSize;
  const int64_t blocks = divideUp(tilesOf(of), blockTiles(of));
  const int threads = of->threads;
  const int64_t tasks = of->batch * blocks;
  const int64_t parts = tasks < threads ? evenCuts(tasks, mostParts(of), threads) : 1;
  int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(| : wrong) if (threads > 1)
  {
    Scratch own = {.base = (char *)scratch + sharedBytes(of) +
                           (size_t)THNN_threadIndex() * threadBytes(of)};
    const Areas areas = layOut(of, &own);
#pragma omp for schedule(static)
    for (int64_t plane = 0; plane < planes; plane++)
      transformWeights(of, plane, weight, scratch);
#pragma omp for schedule(static) collapse(2) nowait
    for (int64_t i = 0; i < tasks; i++)
      for (int64_t part = 0; part < parts; part++) {
        const int64_t sample = i / blocks, first = i % blocks * blockTiles(of);
        wrong |= !runBlock(of, first, minimum(first + blockTiles(of), tilesOf(of)),
                           partAt(of, part, parts), source + sample * of->sourceSample, scratch,
                           start, result + sample * of->resultSample, &areas);
      }
  }
  return !wrong;
}
