/* Products are summed up over tiles before the transform back:
 *
 *   sums[coefficient][output][input] = the sum over tiles of
 *                                      gradients[coefficient][tile][output] *
 *                                      frames[coefficient][tile][input]
 *
 * A pass computes as many outputs as there is scratch for their sums. In each pass, threads transform
 * a block of tiles together and then share the products of the coefficients; blocks follow each
 * other, so that the order of sums depends on the problem alone. */
#include <math.h>

#include "generic/convolution/temporalTilesWeight.h"

#include "generic/convolution/coefficients.h"
#include "generic/shared/panelProducts.h"
#include "work/scratch.h"
#include "work/sizes.h"

enum {
  SEEN = THNN_FOURIER_SIDE,
  COEFFICIENTS = THNN_FOURIER_LINE_COEFFICIENTS,
  MOST_TILES = 128,
  TASK_OUTPUTS = 64 /* outputs of a coefficient that a thread computes at a time */
};
/* Limit on the bytes of the sums, which each block of tiles reads and writes. */
static const int64_t SUM_BYTES = 4 << 20;

typedef TemporalWeightTiles Tiles;

static int sideOf(const Tiles *of)
{
  return SEEN - of->taps + 1;
}

static int64_t allTiles(const Tiles *of)
{
  return of->batch * of->sampleTiles;
}

static int64_t frameStep(const Tiles *of)
{
  return coefficientStep(of->blockTiles * wholeVectors(of->inputSize));
}

static int64_t gradientStep(const Tiles *of)
{
  return coefficientStep(of->blockTiles * wholeVectors(of->pass));
}

static int64_t sumStep(const Tiles *of)
{
  return coefficientStep(of->pass * wholeVectors(of->inputSize));
}

/* What all threads share. */
typedef struct Areas {
  real *frames;    /* coefficients, [coefficient][tile][input] */
  real *gradients; /* [coefficient][tile][output of the pass] */
  real *sums;      /* [coefficient][output of the pass][input] */
  real *zeros;     /* a frame of zeros */
} Areas;

static Areas layOut(const Tiles *of, Scratch *scratch)
{
  return (Areas){.frames = THNN_take(scratch, COEFFICIENTS * frameStep(of), sizeof(real)),
                 .gradients = THNN_take(scratch, COEFFICIENTS * gradientStep(of), sizeof(real)),
                 .sums = THNN_take(scratch, COEFFICIENTS * sumStep(of), sizeof(real)),
                 .zeros = THNN_take(scratch, maximum(of->inputSize, of->pass), sizeof(real))};
}

static size_t sharedBytes(const Tiles *of)
{
  Scratch scratch = {0};
  layOut(of, &scratch);
  return scratch.used;
}

/* The bytes in which a thread packs operands. */
static size_t threadBytes(const Tiles *of)
{
  const int64_t line = 64, outputs = minimum(of->pass, TASK_OUTPUTS);
  const size_t bytes = THNN_(panelProducts_mostBytes)(of->inputSize, outputs, of->blockTiles);
  return (size_t)roundUp((int64_t)bytes, line);
}

/* Finds the longest passes, and then blocks, that the scratch is not too small for. Returns whether
 * there are any. */
static bool planPasses(Tiles *of)
{
  const size_t limit = THNN_State_workspaceLimit(of->state);
  const int64_t vectors = divideUp(of->outputSize, vectorLanes());
  of->sampleTiles = divideUp(of->results, sideOf(of));
  for (int64_t passes = 1; passes <= vectors; passes++) {
    of->pass = minimum(divideUp(vectors, passes) * vectorLanes(), of->outputSize);
    if (passes < vectors && COEFFICIENTS * sumStep(of) * (int64_t)sizeof(real) > SUM_BYTES)
      continue;
    const int64_t least = minimum(allTiles(of), MOST_TILES / 4);
    for (int64_t most = MOST_TILES; most >= least; most /= 2) {
      of->blockTiles = evenBlock(allTiles(of), most, 1);
      if (sharedBytes(of) + threadBytes(of) <= limit)
        return true;
    }
  }
  return false;
}

/* Whether it is worthwhile, by a rule as in temporalTiles.c, fitted to times of 780 layers with 3 to 11
 * taps. RESULTS is what the transforms back take. */
static bool pays(const Tiles *of)
{
  enum { LEAST_TAPS = 3, MOST_TAPS = 11, LEAST_SIZE = 32, SHARE = 6, RESULTS = 250 };
  static const double DIRECT = 0.7;
  const int64_t from = of->inputSize, to = of->outputSize;
  if (of->taps < LEAST_TAPS || of->taps > MOST_TAPS || minimum(from, to) < LEAST_SIZE)
    return false;
  const double shares = SHARE / (double)from + SHARE / (double)of->pass;
  const double products = (double)(allTiles(of) * COEFFICIENTS) * (1 + shares);
  return products + RESULTS < DIRECT * (double)(of->batch * of->results * of->taps);
}

static bool choose(Tiles *of)
{
  enum { LEAST_SIDE = 3 };
  const THNNConvolutionAlgorithm algorithm =
      THNN_State_convolutionAlgorithmOf(of->state, THNN_GRAD_WEIGHT);
  const bool asked = algorithm == THNN_CONVOLUTION_FFT_TILING;
  const bool others = algorithm == THNN_CONVOLUTION_GEMM || algorithm == THNN_CONVOLUTION_DIRECT;
  if (of->taps < 2 || sideOf(of) < LEAST_SIDE || others || !planPasses(of))
    return false;
  return asked || (THNN_(simd).panels.packs && pays(of));
}

size_t THNN_(temporalTilesWeight_bytes)(Tiles *of)
{
  THNN_REPRODUCIBLY_GET(of->state, temporalTilesWeight_bytes, (of))
  if (!choose(of))
    return 0;
  const double products =
      (double)allTiles(of) * COEFFICIENTS * (double)of->inputSize * (double)of->outputSize;
  of->threads = THNN_threads(of->state, COEFFICIENTS, products / 8);
  return sharedBytes(of) + (size_t)of->threads * threadBytes(of);
}

/* The square of the norm of all frames. */
static double squareOf(int64_t batch, int64_t sample, int64_t reals, const real *x, int threads)
{
  double sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum) if (threads > 1)
  for (int64_t i = 0; i < batch; i++)
    sum += THNN_(simd).reduce.dot(reals, x + i * sample, x + i * sample);
  return sum;
}

/* Whether all sums will certainly be finite. By the Cauchy-Schwarz inequality, a sum of products of
 * coefficients is at most the product of the norms of frames and gradients, times what the transforms
 * multiply these by, which is at most 16, twice that for a difference of two parts, and again for the
 * sum of two products, and times the up to 6 tiles that a frame is in: the factor below is more than
 * enough. */
static bool staysFinite(const Tiles *of, const real *input, const real *gradOutput)
{
  const double most = -THNN_LOWEST / 100000;
  const double frames =
      sqrt(squareOf(of->batch, of->inputSample, of->frames * of->inputSize, input, of->threads));
  const double gradients = sqrt(squareOf(of->batch, of->gradientSample,
                                         of->results * of->outputSize, gradOutput, of->threads));
  return frames < most && gradients < most && frames * gradients < most;
}

/* Transforms tile number `index` of all, which is number `place` of its block: its frames, and the
 * gradients of its results from output `first` on. */
static void transformTile(const Tiles *of, int64_t index, int64_t place, int64_t first,
                          int64_t outputs, const real *input, const real *gradOutput,
                          const Areas *areas)
{
  const int64_t sample = index / of->sampleTiles, frame = index % of->sampleTiles * sideOf(of);
  const real *x = input + sample * of->inputSample;
  const real *g = gradOutput + sample * of->gradientSample + first;
  const real *frames[SEEN], *gradients[SEEN];
  for (int k = 0; k < SEEN; k++) {
    const bool inside = frame + k < of->frames, counts = frame + k < of->results;
    frames[k] = inside ? x + (frame + k) * of->inputSize : areas->zeros;
    gradients[k] = counts ? g + (frame + k) * of->outputSize : areas->zeros;
  }
  THNN_(simd).fourier.frames(of->inputSize, frames, frameStep(of),
                             areas->frames + place * wholeVectors(of->inputSize));
  THNN_(simd).fourier.frameTaps(outputs, sideOf(of), gradients, gradientStep(of),
                                areas->gradients + place * wholeVectors(of->pass));
}

/* Multiplies coefficient number `k` of a block's tiles, for outputs [begin, end) of the pass. The sums
 * begin with the first block. */
static void multiply(const Tiles *of, int64_t k, THNNRange outputs, int64_t tiles, bool begins,
                     const Areas *areas, THNNRoom room)
{
  const Matrix frames = {areas->frames + k * frameStep(of), wholeVectors(of->inputSize), false};
  const Matrix gradients = {areas->gradients + k * gradientStep(of) + outputs.begin,
                            wholeVectors(of->pass), true};
  const int64_t leading = wholeVectors(of->inputSize);
  Product product =
      productOf(of->inputSize, outputs.end - outputs.begin, tiles, 1, frames, gradients,
                areas->sums + k * sumStep(of) + outputs.begin * leading, leading);
  product.packs = true;
  product.add = !begins;
  THNN_(panelProducts_multiply)(&product, room);
}

/* Adds the gradients of the taps to output `output` of the pass, which begins with output `first`. */
static void addTaps(const Tiles *of, int64_t first, int64_t output, real scale, real *gradWeight,
                    const Areas *areas)
{
  const int64_t inputs = of->inputSize, step = sumStep(of);
  real *sums = areas->sums + output * wholeVectors(inputs);
  real *to = gradWeight + (first + output) * of->taps * inputs;
  THNN_(simd).fourier.frameResults(inputs, sums, step, NULL, of->taps, step, sums);
  for (int64_t k = 0; k < of->taps; k++)
    THNN_(simd).pointwise.axpy(inputs, scale, sums + k * step, to + k * inputs);
}

bool THNN_(temporalTilesWeight_run)(const Tiles *of, const real *input, const real *gradOutput,
                                    real scale, real *gradWeight, void *scratch)
{
  THNN_REPRODUCIBLY_GET(of->state, temporalTilesWeight_run,
                        (of, input, gradOutput, scale, gradWeight, scratch))
  if (!staysFinite(of, input, gradOutput))
    return false;
  Scratch shared = {.base = scratch};
  const Areas areas = layOut(of, &shared);
  THNN_(simd).pointwise.fill(maximum(of->inputSize, of->pass), 0, areas.zeros);
#pragma omp parallel num_threads(of->threads) if (of -> threads > 1)
  {
    const size_t bytes = threadBytes(of);
    const THNNRoom room = {1, 0,
                           (char *)scratch + shared.used + bytes * (size_t)THNN_threadIndex()};
    for (int64_t first = 0; first < of->outputSize; first += of->pass) {
      const int64_t outputs = minimum(of->pass, of->outputSize - first);
      for (int64_t tile = 0; tile < allTiles(of); tile += of->blockTiles) {
        const int64_t tiles = minimum(of->blockTiles, allTiles(of) - tile);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < tiles; i++)
          transformTile(of, tile + i, i, first, outputs, input, gradOutput, &areas);
#pragma omp for schedule(static) collapse(2)
        for (int64_t k = 0; k < COEFFICIENTS; k++)
          for (int64_t output = 0; output < outputs; output += TASK_OUTPUTS) {
            const THNNRange part = {output, minimum(output + TASK_OUTPUTS, outputs)};
            multiply(of, k, part, tiles, tile == 0, &areas, room);
          }
      }
      /* Threads that go on to the next pass transform tiles first, and wait for the others then. */
#pragma omp for schedule(static) nowait
      for (int64_t output = 0; output < outputs; output++)
        addTaps(of, first, output, scale, gradWeight, &areas);
    }
  }
  return true;
}
