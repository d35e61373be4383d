/* Frames and weights are transformed to coefficients (simd/kernels/winograd.c and fourier.c), and each
 * coefficient takes a matrix product:
 *
 *   sums[coefficient][tile] = weights[coefficient] * frames[coefficient][tile]
 *
 * Here weights[coefficient] is a matrix of `resultSize` x `sourceSize`, which is kept in panels. The
 * inverse transform of a tile's sums gives its results.
 *
 * A pass computes as many reals of all results as there is scratch for transformed weights. Its tasks
 * are blocks of tiles, of all samples. If there are fewer blocks than threads, the panels of a pass
 * are cut into parts, and a task is one part of a block. */
#include "generic/convolution/temporalTiles.h"

#include "generic/convolution/coefficients.h"
#include "generic/shared/matrix.h"
#include "work/scratch.h"
#include "work/sizes.h"

enum { MOST_SEEN = THNN_FOURIER_SIDE, MOST_TILES = 256, PACKED_TERMS = 32 };
/* Limit on the bytes of a block's transformed frames and sums, which then stay in a cache. */
static const int64_t BLOCK_BYTES = 2 << 20;

typedef TemporalTiles Tiles;

static int64_t coefficientsOf(const Tiles *of)
{
  return of->fourier ? THNN_FOURIER_LINE_COEFFICIENTS : 4;
}

/* Frames that a tile sees, and its results. */
static int seenOf(const Tiles *of)
{
  return of->fourier ? THNN_FOURIER_SIDE : 4;
}

static int sideOf(const Tiles *of)
{
  return seenOf(of) - of->taps + 1;
}

static int64_t allTiles(const Tiles *of)
{
  return of->batch * of->sampleTiles;
}

static int64_t panelWidth(void)
{
  return THNN_(simd).panels.columns;
}

static int64_t allPanels(const Tiles *of)
{
  return divideUp(of->resultSize, panelWidth());
}

/* The most reals of a result that a pass computes. */
static int64_t passReals(const Tiles *of)
{
  return minimum(of->passPanels * panelWidth(), of->resultSize);
}

static int64_t tilesOfBlock(const Tiles *of)
{
  const int64_t reals = wholeVectors(of->sourceSize) + wholeVectors(passReals(of));
  const int64_t bytes = coefficientsOf(of) * reals * (int64_t)sizeof(real);
  return evenBlock(allTiles(of), clamp(BLOCK_BYTES / bytes, 1, MOST_TILES), 1);
}

static int64_t blockCount(const Tiles *of)
{
  return divideUp(allTiles(of), of->blockTiles);
}

/* Sets the threads, and if there are fewer panels and blocks than these, cuts blocks as far as their
 * products do not become too small. */
static void shareTiles(Tiles *of)
{
  enum { LEAST_TILES = 16 };
  const double products = (double)allTiles(of) * (double)coefficientsOf(of) *
                          (double)of->sourceSize * (double)of->resultSize;
  const int64_t most = maximum(blockCount(of), divideUp(allTiles(of), LEAST_TILES));
  of->threads = THNN_threads(of->state, most * of->passPanels, products / 8);
  if (blockCount(of) * of->passPanels < of->threads) {
    const int64_t share = roundUp(divideUp(allTiles(of), of->threads), THNN_(simd).panels.rows);
    of->blockTiles = minimum(of->blockTiles, maximum(share, LEAST_TILES));
  }
}

/* ---- Scratch --------------------------------------------------------------------------------- */

/* What a thread has to itself. */
typedef struct Areas {
  real *coefficients; /* of frames, [coefficient][tile][real] */
  real *sums;         /* [coefficient][tile][real of the pass] */
  real *scalars;      /* frames of a coefficient, packed */
  real *zeros;        /* a frame of zeros */
  real *taps;         /* coefficients of taps, which are then packed */
} Areas;

static int64_t frameStep(const Tiles *of)
{
  return coefficientStep(of->blockTiles * wholeVectors(of->sourceSize));
}

static int64_t sumStep(const Tiles *of)
{
  return coefficientStep(of->blockTiles * wholeVectors(passReals(of)));
}

static int64_t tapStep(void)
{
  return coefficientStep(panelWidth() * wholeVectors(PACKED_TERMS));
}

static Areas layOut(const Tiles *of, Scratch *scratch)
{
  const int64_t coefficients = coefficientsOf(of);
  const int64_t scalars = THNN_(panelProducts_keptElements)(1, of->sourceSize);
  return (Areas){.coefficients = THNN_take(scratch, coefficients * frameStep(of), sizeof(real)),
                 .sums = THNN_take(scratch, coefficients * sumStep(of), sizeof(real)),
                 .scalars = THNN_take(scratch, scalars, sizeof(real)),
                 .zeros = THNN_take(scratch, maximum(of->sourceSize, of->resultSize), sizeof(real)),
                 .taps =
                     THNN_take(scratch, of->backward ? 0 : coefficients * tapStep(), sizeof(real))};
}

static size_t threadBytes(const Tiles *of)
{
  Scratch scratch = {0};
  layOut(of, &scratch);
  return scratch.used;
}

/* From the panels of a coefficient of a pass's weights to those of the next. */
static int64_t weightStep(const Tiles *of)
{
  return coefficientStep(of->passPanels * panelWidth() * of->sourceSize);
}

/* The transformed weights of a pass, which all threads share and which come first. */
static real *layOutWeights(const Tiles *of, Scratch *scratch)
{
  return THNN_take(scratch, coefficientsOf(of) * weightStep(of), sizeof(real));
}

static size_t sharedBytes(const Tiles *of)
{
  Scratch scratch = {0};
  layOutWeights(of, &scratch);
  return scratch.used;
}

/* ---- Choice ---------------------------------------------------------------------------------- */

/* Finds the longest passes that the scratch is not too small for. Returns whether there are any. */
static bool planPasses(Tiles *of)
{
  const size_t limit = THNN_State_workspaceLimit(of->state);
  of->sampleTiles = divideUp(of->results, sideOf(of));
  for (int64_t passes = 1; passes <= allPanels(of); passes++) {
    of->passPanels = divideUp(allPanels(of), passes);
    of->blockTiles = tilesOfBlock(of);
    if (sharedBytes(of) + threadBytes(of) <= limit)
      return true;
  }
  return false;
}

/* Whether F(2, 3) is worthwhile: with small frames, or few, the transforms and packing take longer
 * than the multiplications that they save. */
static bool winogradPays(const Tiles *of)
{
  enum { LEAST_SIZE = 64, LEAST_TILES = 24 };
  return minimum(of->sourceSize, of->resultSize) >= LEAST_SIZE && of->blockTiles >= LEAST_TILES;
}

static bool applies(const Tiles *of, bool fourier)
{
  enum { LEAST_SIDE = 3, FRAME_TAPS = 3 };
  return fourier ? of->taps > 1 && of->taps <= THNN_FOURIER_SIDE + 1 - LEAST_SIDE
                 : of->taps == FRAME_TAPS;
}

/* Whether Fourier transforms are worthwhile. Times are in products of each real of a frame with each
 * of a result: transforming a tile takes SHARE of those that a coefficient of a real or of a result
 * takes part in, and transforming the weights ALONG or ACROSS of them, twice that if they do not stay
 * in a second-level cache. By the definition, products take DIRECT of the time. The numbers were
 * fitted to ratios of times with AVX2 and AVX-512 in float and with AVX-512 in double, of 540 layers
 * with 4 to 11 taps, 20 to 600 frames of 16 to 512 reals and 1 to 64 samples, so that hardly any takes
 * longer than before. With fewer taps, F(2, 3) and the definition are as fast; with more, errors
 * grow. */
static bool fourierPays(const Tiles *of)
{
  enum { LEAST_TAPS = 4, MOST_TAPS = 11, LEAST_SIZE = 32, NEAR_BYTES = 2 << 20 };
  enum { SHARE = 6, ALONG = 250, ACROSS = 100 };
  static const double DIRECT = 0.75;
  const int64_t from = of->sourceSize, to = of->resultSize;
  if (of->taps < LEAST_TAPS || of->taps > MOST_TAPS || minimum(from, to) < LEAST_SIZE)
    return false;
  const double shares = SHARE / (double)from + SHARE / (double)passReals(of);
  const double products = (double)(allTiles(of) * coefficientsOf(of)) * (1 + shares);
  const double weights = (of->backward ? ACROSS : ALONG) * (sharedBytes(of) > NEAR_BYTES ? 2 : 1);
  return products + weights < DIRECT * (double)(of->batch * of->results * of->taps);
}

/* Chooses the tiles and the passes. Returns whether tiles are used. */
static bool choose(Tiles *of)
{
  const THNNConvolutionAlgorithm algorithm =
      THNN_State_convolutionAlgorithmOf(of->state, of->backward ? THNN_GRAD_INPUT : THNN_OUTPUT);
  const bool winograd = applies(of, false), fourier = applies(of, true);
  of->fourier = algorithm == THNN_CONVOLUTION_FFT_TILING;
  if ((of->fourier && fourier) || (algorithm == THNN_CONVOLUTION_WINOGRAD && winograd))
    return planPasses(of);
  if (algorithm == THNN_CONVOLUTION_GEMM || algorithm == THNN_CONVOLUTION_DIRECT ||
      !THNN_(simd).panels.packs)
    return false;
  of->fourier = true;
  if (fourier && planPasses(of) && fourierPays(of))
    return true;
  of->fourier = false;
  return winograd && planPasses(of) && winogradPays(of);
}

size_t THNN_(temporalTiles_bytes)(Tiles *of)
{
  THNN_REPRODUCIBLY_GET(of->state, temporalTiles_bytes, (of))
  if (!choose(of))
    return 0;
  shareTiles(of);
  return sharedBytes(of) + (size_t)of->threads * threadBytes(of);
}

/* ---- Weights --------------------------------------------------------------------------------- */

static void transformTaps(const Tiles *of, int64_t n, const real *const *taps, int64_t step,
                          real *y)
{
  if (of->fourier)
    THNN_(simd).fourier.frameTaps(n, of->taps, taps, step, y);
  else
    THNN_(simd).winograd.frameWeights(n, taps, step, y);
}

/* The taps of output plane `plane` from input plane `input` on. */
static void findTaps(const Tiles *of, const real *weight, int64_t plane, int64_t input,
                     const real **taps)
{
  const int64_t inputs = of->backward ? of->resultSize : of->sourceSize;
  for (int k = 0; k < of->taps; k++) {
    const int64_t tap = of->backward ? of->taps - 1 - k : k;
    taps[k] = weight + (plane * of->taps + tap) * inputs + input;
  }
}

/* Up to PACKED_TERMS terms of a panel, which is `rows` reals of the results from `row` on; and where
 * they are packed. */
typedef struct Terms {
  int64_t row, rows, first, count;
  real *packed;
} Terms;

/* For gradInput, terms are output planes, and the reals of a panel are next to each other. */
static void packAcross(const Tiles *of, const real *weight, const Terms *terms)
{
  const real *taps[MOST_SEEN];
  for (int64_t i = 0; i < terms->count; i++) {
    findTaps(of, weight, terms->first + i, terms->row, taps);
    transformTaps(of, terms->rows, taps, weightStep(of), terms->packed + i * panelWidth());
  }
}

/* For output, terms are next to each other, and the reals of a panel are output planes. */
static void packAlong(const Tiles *of, const real *weight, const Terms *terms, real *transformed)
{
  const real *taps[MOST_SEEN];
  const int64_t length = wholeVectors(PACKED_TERMS);
  for (int64_t i = 0; i < terms->rows; i++) {
    findTaps(of, weight, terms->row + i, terms->first, taps);
    transformTaps(of, terms->count, taps, tapStep(), transformed + i * length);
  }
  for (int64_t k = 0; k < coefficientsOf(of); k++)
    THNN_(simd).products.pack(terms->rows, terms->count, transformed + k * tapStep(), length,
                              terms->packed + k * weightStep(of), panelWidth());
}

/* Transforms the weights of terms [begin, end) of panel `panel` of a pass, which begins at real `first`
 * of the results. */
static void packTerms(const Tiles *of, const real *weight, int64_t first, int64_t panel,
                      int64_t begin, int64_t end, real *weights, const Areas *areas)
{
  const int64_t most = THNN_(panelProducts_blockTerms)(of->sourceSize);
  const int64_t width = panelWidth(), row = first + panel * width;
  for (int64_t term = begin; term < end;) {
    const int64_t block = term / most * most, blockTerms = minimum(most, of->sourceSize - block);
    real *packed = weights + (block * of->passPanels + panel * blockTerms + term - block) * width;
    const Terms terms = {row, minimum(width, of->resultSize - row), term,
                         minimum(end, block + blockTerms) - term, packed};
    if (of->backward)
      packAcross(of, weight, &terms);
    else
      packAlong(of, weight, &terms, areas->taps);
    term += terms.count;
  }
}

/* ---- Blocks of tiles ------------------------------------------------------------------------- */

/* A part of a pass, and tiles that it is computed for. */
typedef struct Task {
  THNNRange tiles;
  THNNRange reals; /* of the results of the pass */
} Task;

static void transformTiles(const Tiles *of, THNNRange tiles, const real *source, const Areas *areas)
{
  const int64_t from = of->sourceSize, pad = of->backward ? of->taps - 1 : 0;
  real *y = areas->coefficients;
  for (int64_t tile = tiles.begin; tile < tiles.end; tile++, y += wholeVectors(from)) {
    const real *sample = source + tile / of->sampleTiles * of->sourceSample;
    const int64_t first = tile % of->sampleTiles * sideOf(of) - pad;
    const real *seen[MOST_SEEN];
    for (int k = 0; k < seenOf(of); k++) {
      const int64_t frame = first + k;
      seen[k] = frame >= 0 && frame < of->sources ? sample + frame * from : areas->zeros;
    }
    if (of->fourier)
      THNN_(simd).fourier.frames(from, seen, frameStep(of), y);
    else
      THNN_(simd).winograd.frames(from, seen, frameStep(of), y);
  }
}

/* The results of a task: `start` and `result` begin at the first real of the pass. Returns whether
 * all of them are finite. */
static bool transformSums(const Tiles *of, const Task *task, const real *start, real *result,
                          const Areas *areas)
{
  const int64_t begin = task->reals.begin, reals = task->reals.end - begin;
  const real *sums = areas->sums + begin, *from = start ? start + begin : NULL;
  bool finite = true;
  for (int64_t tile = task->tiles.begin; tile < task->tiles.end; tile++) {
    const int64_t frame = tile % of->sampleTiles * sideOf(of);
    const int count = (int)minimum(sideOf(of), of->results - frame);
    real *to = result + tile / of->sampleTiles * of->resultSample + frame * of->resultSize + begin;
    finite &= of->fourier ? THNN_(simd).fourier.frameResults(reals, sums, sumStep(of), from, count,
                                                             of->resultSize, to)
                          : THNN_(simd).winograd.frameResults(reals, sums, sumStep(of), from, count,
                                                              of->resultSize, to);
    sums += wholeVectors(passReals(of));
  }
  return finite;
}

static bool runTask(const Tiles *of, const Task *task, const real *source, const real *weights,
                    const real *start, real *result, const Areas *areas)
{
  const int64_t from = of->sourceSize, tiles = task->tiles.end - task->tiles.begin;
  transformTiles(of, task->tiles, source, areas);
  for (int64_t k = 0; k < coefficientsOf(of); k++) {
    const Matrix frames = {areas->coefficients + k * frameStep(of), wholeVectors(from), false};
    THNN_(panelProducts_multiplyRows)
    (passReals(of), task->reals, tiles, from, weights + k * weightStep(of), areas->scalars, frames,
     areas->sums + k * sumStep(of), wholeVectors(passReals(of)));
  }
  return transformSums(of, task, start, result, areas);
}

/* Part number `part` of the reals of a pass; parts begin at whole panels. */
static THNNRange partAt(const Tiles *of, int64_t part, int64_t parts, int64_t reals)
{
  const int64_t panels = of->passPanels;
  return (THNNRange){minimum(panels * part / parts * panelWidth(), reals),
                     minimum(panels * (part + 1) / parts * panelWidth(), reals)};
}

bool THNN_(temporalTiles_run)(const Tiles *of, const real *source, const real *weight,
                              const real *start, real *result, void *scratch)
{
  THNN_REPRODUCIBLY_GET(of->state, temporalTiles_run, (of, source, weight, start, result, scratch))
  const int64_t block = of->blockTiles, blocks = blockCount(of), pass = passReals(of);
  const int threads = of->threads;
  const int64_t parts = blocks < threads ? evenCuts(blocks, of->passPanels, threads) : 1;
  int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(| : wrong) if (threads > 1)
  {
    Scratch own = {.base = (char *)scratch + sharedBytes(of) +
                           (size_t)THNN_threadIndex() * threadBytes(of)};
    const Areas areas = layOut(of, &own);
    THNN_(simd).pointwise.fill(of->sourceSize, 0, areas.zeros);
    for (int64_t first = 0; first < of->resultSize; first += pass) {
      const int64_t reals = minimum(pass, of->resultSize - first);
      if (first > 0) { /* all threads have used the weights of the pass before */
#pragma omp barrier
      }
#pragma omp for schedule(static) collapse(2)
      for (int64_t panel = 0; panel < divideUp(reals, panelWidth()); panel++)
        for (int64_t term = 0; term < of->sourceSize; term += PACKED_TERMS)
          packTerms(of, weight, first, panel, term, minimum(term + PACKED_TERMS, of->sourceSize),
                    scratch, &areas);
#pragma omp for schedule(static) collapse(2) nowait
      for (int64_t i = 0; i < blocks; i++)
        for (int64_t part = 0; part < parts; part++) {
          const Task task = {{i * block, minimum((i + 1) * block, allTiles(of))},
                             partAt(of, part, parts, reals)};
          wrong |= task.reals.begin < task.reals.end &&
                   !runTask(of, &task, source, scratch, start ? start + first : NULL,
                            result + first, &areas);
        }
    }
  }
  return !wrong;
}
