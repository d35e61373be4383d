/* The convolution engine against its definition: unfolding and folding, and both algorithms in all
 * three parts, over random geometries of one to three dimensions. Strides above the kernel,
 * negative and full padding, dilation and outputs one smaller or larger than the formula are among
 * them.
 *
 *     test_convolution_float [geometries]     200 unless given
 *     test_convolution_float time [seconds [rows]]
 *                                             prints timings instead (timings.h)
 *
 * Scratch memory is filled with NaN and followed by a guard; results have to be the same, bit for
 * bit, with one to four threads. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "THNNExtra.h"
#include "generic/template.h"

#include "../check.h"
#include "generic/convolution/engine/algorithm.h"
#include "generic/convolution/engine/panels.h"
#include "timings.h"

#if defined(THNN_REAL_FLOAT)
static const double EPSILON = FLT_EPSILON;
#else
static const double EPSILON = DBL_EPSILON;
#endif

enum { MOST_THREADS = 4, GUARD_BYTES = 256, GUARD = 0xa5 };

/* ---- Random numbers -------------------------------------------------------------------------- */

static uint64_t randomState = 1;

static uint64_t randomBits(void)
{
  randomState = randomState * 6364136223846793005u + 1442695040888963407u;
  return randomState >> 33;
}

/* From low to high, both included. */
static int64_t randomBetween(int64_t low, int64_t high)
{
  return low + (int64_t)(randomBits() % (uint64_t)(high - low + 1));
}

static real *newArray(int64_t elements)
{
  real *x = malloc((size_t)(elements > 0 ? elements : 1) * sizeof(real));
  for (int64_t i = 0; i < elements; i++)
    x[i] = NAN;
  return x;
}

static real *newRandom(int64_t elements)
{
  real *x = newArray(elements);
  for (int64_t i = 0; i < elements; i++)
    x[i] = (real)randomBetween(-1000, 1000) / 1000;
  return x;
}

/* ---- The definition -------------------------------------------------------------------------- */

static int64_t product(const int64_t *size)
{
  return size[0] * size[1] * size[2];
}

static int64_t imageSize(const THNNConvolution *g)
{
  return g->batch * g->inputPlanes * product(g->input);
}

static int64_t mapSize(const THNNConvolution *g)
{
  return g->batch * g->outputPlanes * product(g->output);
}

static int64_t weightSize(const THNNConvolution *g)
{
  return g->inputPlanes * g->outputPlanes * product(g->kernel);
}

/* The image index that a tap sees from a map position, both flat; -1 outside. */
static int64_t seenIndex(const THNNConvolution *g, int64_t position, int64_t tap)
{
  int64_t index = 0, scale = 1;
  for (int i = 2; i >= 0; i--) {
    const int64_t o = position % g->output[i], t = tap % g->kernel[i];
    const int64_t x = o * g->stride[i] - g->pad[i] + t * g->dilation[i];
    if (x < 0 || x >= g->input[i])
      return -1;
    index += x * scale;
    scale *= g->input[i];
    position /= g->output[i];
    tap /= g->kernel[i];
  }
  return index;
}

/* Adds every product of the definition to the result of the part, and its size to `size`. */
static void addProducts(const THNNConvolution *g, THNNConvolutionPart part, const real *image,
                        const real *map, const real *weight, double *result, double *size)
{
  const int64_t imagePositions = product(g->input), positions = product(g->output);
  const int64_t taps = product(g->kernel);
  const bool forward = part == THNN_CONVOLUTION_FORWARD;
  const bool data = part == THNN_CONVOLUTION_BACKWARD_DATA;
  for (int64_t position = 0; position < positions; position++)
    for (int64_t tap = 0; tap < taps; tap++) {
      const int64_t seen = seenIndex(g, position, tap);
      for (int64_t n = 0; seen >= 0 && n < g->batch; n++)
        for (int64_t m = 0; m < g->outputPlanes; m++) {
          const int64_t y = (n * g->outputPlanes + m) * positions + position;
          int64_t x = n * g->inputPlanes * imagePositions + seen;
          int64_t w = m * g->inputPlanes * taps + tap;
          for (int64_t c = 0; c < g->inputPlanes; c++, x += imagePositions, w += taps) {
            const double term = forward ? (double)image[x] * weight[w]
                                : data  ? (double)map[y] * weight[w]
                                        : (double)image[x] * map[y];
            const int64_t to = forward ? y : data ? x : w;
            result[to] += term;
            size[to] += fabs(term);
          }
        }
    }
}

/* ---- Random geometries ----------------------------------------------------------------------- */

static void randomDimension(THNNConvolution *g, int i, int64_t largest)
{
  const int64_t kernels[] = {1, 1, 2, 3, 3, 3, 4, 5, 7};
  const int64_t kernel = kernels[randomBetween(0, 8)];
  const int64_t dilation = randomBetween(0, 3) ? 1 : randomBetween(2, 3);
  const int64_t stride = randomBetween(0, 2) ? 1 : randomBetween(2, 5);
  const int64_t extent = (kernel - 1) * dilation + 1;
  const int64_t pads[] = {0, 0, extent / 2, extent - 1, extent, -1, -2, randomBetween(0, extent)};
  const int64_t pad = pads[randomBetween(0, 7)];
  const int64_t input = randomBetween(1, largest);
  const int64_t span = input + 2 * pad - extent;
  int64_t output =
      (span < 0 ? 0 : span / stride + 1) + (randomBetween(0, 3) ? 0 : randomBetween(-1, 1));
  if (output < 1)
    output = randomBetween(1, 2);
  g->kernel[i] = kernel;
  g->dilation[i] = dilation;
  g->stride[i] = stride;
  g->pad[i] = pad;
  g->input[i] = input;
  g->output[i] = output;
}

static THNNConvolution randomGeometry(void)
{
  const int64_t imagePlanes[] = {1, 2, 3, 5, 8, 17, 33},
                mapPlanes[] = {1, 2, 3, 7, 9, 16, 17, 35, 70};
  const int dimensions = (int)randomBetween(1, 3);
  const int64_t largest[] = {0, 120, 16, 7};
  THNNConvolution g = {.batch = randomBetween(0, 1) ? 1 : randomBetween(2, 7),
                       .inputPlanes = imagePlanes[randomBetween(0, 6)],
                       .outputPlanes = mapPlanes[randomBetween(0, 8)]};
  for (int i = 0; i < 3; i++) {
    if (i >= 3 - dimensions)
      randomDimension(&g, i, largest[dimensions]);
    else
      g.input[i] = g.output[i] = g.kernel[i] = g.stride[i] = g.dilation[i] = 1;
  }
  if (!randomBetween(0, 9)) /* a pointwise one: the image is its own column matrix */
    for (int i = 0; i < 3; i++) {
      g.kernel[i] = g.stride[i] = 1;
      g.pad[i] = 0;
      g.output[i] = g.input[i];
    }
  else if (dimensions >= 2 && !randomBetween(0, 3)) /* for Winograd's algorithm */
    for (int i = 1; i < 3; i++) {
      g.kernel[i] = 3;
      g.stride[0] = g.stride[i] = 1;
      const int64_t reach = 2 * (g.dilation[i] = randomBetween(0, 1) ? 1 : randomBetween(2, 6));
      g.pad[i] = g.input[i] <= reach ? reach : randomBetween(0, reach + 1);
      g.output[i] = g.input[i] + 2 * g.pad[i] - reach;
    }
  return g;
}

static double operations(const THNNConvolution *g)
{
  return (double)mapSize(g) * g->inputPlanes * product(g->kernel);
}

static void printGeometry(const THNNConvolution *g, const char *problem)
{
  printf("%s: batch %d, planes %d to %d", problem, (int)g->batch, (int)g->inputPlanes,
         (int)g->outputPlanes);
  for (int i = 0; i < 3; i++)
    printf(" | input %d output %d kernel %d stride %d pad %d dilation %d", (int)g->input[i],
           (int)g->output[i], (int)g->kernel[i], (int)g->stride[i], (int)g->pad[i],
           (int)g->dilation[i]);
  printf("\n");
}

/* ---- Unfolding ------------------------------------------------------------------------------- */

static void testUnfolding(const THNNConvolution *g)
{
  const int64_t positions = product(g->output), imagePositions = product(g->input);
  const int64_t rows = g->inputPlanes * product(g->kernel);
  real *image = newRandom(g->inputPlanes * imagePositions);
  real *columns = newArray(rows * positions), *folded = newArray(g->inputPlanes * imagePositions);
  double *sums = calloc((size_t)(g->inputPlanes * imagePositions), sizeof(double));
  THNN_(vol2col)(image, g->inputPlanes, g->input[0], g->input[1], g->input[2], g->output[0],
                 g->output[1], g->output[2], g->kernel[0], g->kernel[1], g->kernel[2], g->pad[0],
                 g->pad[1], g->pad[2], g->stride[0], g->stride[1], g->stride[2], g->dilation[0],
                 g->dilation[1], g->dilation[2], columns);
  bool same = true;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t position = 0; position < positions; position++) {
      const int64_t seen = seenIndex(g, position, row % product(g->kernel));
      const int64_t from = row / product(g->kernel) * imagePositions + seen;
      const real wanted = seen < 0 ? 0 : image[from];
      same = same && columns[row * positions + position] == wanted;
      if (seen >= 0)
        sums[from] += wanted;
    }
  THNN_(col2vol)(columns, g->inputPlanes, g->input[0], g->input[1], g->input[2], g->output[0],
                 g->output[1], g->output[2], g->kernel[0], g->kernel[1], g->kernel[2], g->pad[0],
                 g->pad[1], g->pad[2], g->stride[0], g->stride[1], g->stride[2], g->dilation[0],
                 g->dilation[1], g->dilation[2], folded);
  for (int64_t i = 0; i < g->inputPlanes * imagePositions; i++)
    same = same && fabs(folded[i] - sums[i]) <= 100 * EPSILON * (1 + fabs(sums[i]));
  CHECK(same);
  if (!same)
    printGeometry(g, "unfolding");
  free(image);
  free(columns);
  free(folded);
  free(sums);
}

/* ---- The parts ------------------------------------------------------------------------------- */

/* What one part reads and writes. */
typedef struct Computation {
  THNNConvolutionPart part;
  const real *image, *map, *weight;
  const real *bias; /* or NULL */
  int64_t planes;   /* of the bias */
  int64_t results;
  bool keeps; /* what is made of the weight */
} Computation;

/* `bytes` bytes of NaN, and a guard. */
static unsigned char *newGuarded(size_t bytes)
{
  unsigned char *block = aligned_alloc(64, (bytes + GUARD_BYTES + 63) / 64 * 64);
  memset(block, 0xff, bytes);
  memset(block + bytes, GUARD, GUARD_BYTES);
  return block;
}

static void freeGuarded(unsigned char *block, size_t bytes)
{
  for (int i = 0; i < GUARD_BYTES; i++)
    CHECK(block[bytes + (size_t)i] == GUARD);
  free(block);
}

/* Runs one part with guarded scratch full of NaN. Returns the result. */
static real *compute(const THNNConvolution *g, const Computation *of, THNNState *state,
                     THNNConvolutionPlan *plan)
{
  if (of->keeps)
    THNN_(engine_prepareKept)(plan, state, g, of->part);
  else
    THNN_(engine_prepare)(plan, state, g, of->part);
  const size_t keptBytes = plan->chosen.keptBytes;
  CHECK(of->keeps || keptBytes == 0);
  unsigned char *block = newGuarded(plan->scratchBytes), *kept = newGuarded(keptBytes);
  if (keptBytes > 0) {
    THNN_(engine_keep)(plan, of->weight, kept, block);
    plan->kept = kept;
    memset(block, 0xff, plan->scratchBytes);
  }
  real *result = newArray(of->results);
  if (of->part != THNN_CONVOLUTION_BACKWARD_WEIGHT) {
    const bool forward = of->part == THNN_CONVOLUTION_FORWARD;
    THNN_(engine_run)(plan, forward ? of->image : of->map, of->weight, of->bias, result, block);
  } else {
    memset(result, 0, (size_t)of->results * sizeof(real));
    THNN_(engine_backwardWeight)(plan, of->image, of->map, 1, result, NULL, block);
  }
  freeGuarded(block, plan->scratchBytes);
  freeGuarded(kept, keptBytes);
  plan->kept = NULL;
  return result;
}

/* ---- Sizes of what Winograd's algorithm sums up ---------------------------------------------- */

/* Sizes of the factors of Winograd's algorithms along one dimension: the numbers that `side` results, or
 * gradients of them, make of the side + 2 elements that they see; those of three taps; which of their
 * products are summed up to each result, and how often; and of F(3, side), where gradients are in the
 * place of taps, and three taps in that of results. */
typedef struct Transforms {
  int side;
  const double *elements, *taps, *results, *gradients, *toTaps;
} Transforms;

enum { MOST_SEEN = 6, MOST_NUMBERS = MOST_SEEN * MOST_SEEN };
#define NEAR 0.70710678118654752
#define FAR 1.41421356237309505
static const Transforms TRANSFORMS[] = {
    {.side = 2,
     .elements = (const double[]){1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1},
     .taps = (const double[]){1, 0, 0, .5, .5, .5, .5, .5, .5, 0, 0, 1},
     .results = (const double[]){1, 1, 1, 0, 0, 1, 1, 1},
     .gradients = (const double[]){1, 0, .5, .5, .5, .5, 0, 1},
     .toTaps = (const double[]){1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 1}},
    {.side = 4,
     .elements =
         (const double[]){1, 0,    2.5, 0,   1, 0, 0, FAR,  2,  NEAR, 1, 0, 0, FAR, 2, NEAR, 1, 0,
                          0, NEAR, .5,  FAR, 1, 0, 0, NEAR, .5, FAR,  1, 0, 0, 1,   0, 2.5,  0, 1},
     .taps = (const double[]){1, 0, 0, 2. / 3, NEAR * 2 / 3, 1. / 3, 2. / 3, NEAR * 2 / 3, 1. / 3,
                              1. / 6, FAR / 6, 1. / 3, 1. / 6, FAR / 6, 1. / 3, 0, 0, 1},
     .results = (const double[]){1, 1,  1,  1, 1, 0, 0, NEAR,     NEAR,     FAR,     FAR,     0,
                                 0, .5, .5, 2, 2, 0, 0, NEAR / 2, NEAR / 2, FAR * 2, FAR * 2, 1},
     .gradients = (const double[]){1,      0,
                                   0,      0,
                                   2. / 3, NEAR * 2 / 3,
                                   1. / 3, NEAR / 3,
                                   2. / 3, NEAR * 2 / 3,
                                   1. / 3, NEAR / 3,
                                   1. / 6, FAR / 6,
                                   1. / 3, FAR / 3,
                                   1. / 6, FAR / 6,
                                   1. / 3, FAR / 3,
                                   0,      0,
                                   0,      1},
     .toTaps = (const double[]){1, 1, 1, 1, 1, 0, 0, NEAR, NEAR, FAR, FAR, 0, 0, .5, .5, 2, 2, 1}}};

/* number[p][q] = the sum over i, j of from[p][i] * |x[i][j]| * from[q][j] */
static void transformSizes(int seen, int n, const double *from, const double *x, double *number)
{
  for (int p = 0; p < seen; p++)
    for (int q = 0; q < seen; q++) {
      double sum = 0;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          sum += from[p * n + i] * fabs(x[i * n + j]) * from[q * n + j];
      number[p * seen + q] = sum;
    }
}

static bool isForWinograd(const THNNConvolution *g)
{
  bool is = g->stride[0] == 1;
  for (int i = 1; i < 3; i++)
    is = is && g->kernel[i] == 3 && g->stride[i] == 1;
  return is;
}

/* The first position behind `at` in one dimension where a tile of `side` begins: those that lie a step, the
 * dilation, apart follow each other. */
static int64_t nextTile(int side, int64_t at, int64_t step)
{
  at++;
  const int64_t place = at / step % side;
  return place ? at + (side - place) * step : at;
}

/* The n x n elements of a plane from (depth, row, column) on, `step` apart, zeros outside. */
static void takeTile(int n, const real *plane, const int64_t *size, const int64_t *step,
                     int64_t depth, int64_t row, int64_t column, double *x)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const int64_t y = row + i * step[1], z = column + j * step[2];
      const bool inside =
          depth >= 0 && depth < size[0] && y >= 0 && y < size[1] && z >= 0 && z < size[2];
      x[i * n + j] = inside ? plane[(depth * size[1] + y) * size[2] + z] : 0;
    }
}

/* Adds what a tile's results are made of, all slices of the source, to their sizes in one slice. */
static void addTileSizes(const Transforms *t, int64_t slices, const double *weights,
                         const double *tiles, const int64_t *size, const int64_t *step, int64_t row,
                         int64_t column, double *plane)
{
  const int seen = t->side + 2, numbers = seen * seen;
  double sum[MOST_NUMBERS] = {0};
  for (int64_t i = 0; i < slices * numbers; i++)
    sum[i % numbers] += weights[i] * tiles[i];
  for (int i = 0; i < t->side && row + i * step[1] < size[1]; i++)
    for (int j = 0; j < t->side && column + j * step[2] < size[2]; j++)
      for (int k = 0; k < numbers; k++)
        plane[(row + i * step[1]) * size[2] + column + j * step[2]] +=
            t->results[i * seen + k / seen] * sum[k] * t->results[j * seen + k % seen];
}

/* Adds for each result of a layer of 3x3 kernels with stride 1 the sizes of what Winograd's algorithm
 * sums up: also elements times weights that meet in the tile, but not in the result. */
static void addTransformedSizes(const Transforms *t, const THNNConvolution *g,
                                const Computation *of, double *size)
{
  const int seen = t->side + 2, numbers = seen * seen;
  const bool forward = of->part == THNN_CONVOLUTION_FORWARD;
  const int64_t sources = forward ? g->inputPlanes : g->outputPlanes;
  const int64_t results = forward ? g->outputPlanes : g->inputPlanes;
  const int64_t *from = forward ? g->input : g->output, *to = forward ? g->output : g->input;
  const int64_t depth = g->kernel[0], slices = sources * depth;
  const int64_t *step = g->dilation;
  const int64_t pad[] = {forward ? g->pad[1] : 2 * step[1] - g->pad[1],
                         forward ? g->pad[2] : 2 * step[2] - g->pad[2]};
  const real *source = forward ? of->image : of->map;
  double *weights = calloc((size_t)(results * slices * numbers), sizeof(double));
  double *tiles = calloc((size_t)(slices * numbers), sizeof(double));
  for (int64_t r = 0; r < results; r++)
    for (int64_t s = 0; s < slices; s++) {
      const int64_t planes = forward ? r * sources + s / depth : s / depth * results + r;
      const real *filter = of->weight + (planes * depth + s % depth) * 9;
      double taps[9];
      for (int i = 0; i < 9; i++)
        taps[i] = filter[forward ? i : 8 - i];
      transformSizes(seen, 3, t->taps, taps, weights + (r * slices + s) * numbers);
    }
  for (int64_t n = 0; n < g->batch * to[0]; n++)
    for (int64_t row = 0; row < to[1]; row = nextTile(t->side, row, step[1]))
      for (int64_t column = 0; column < to[2]; column = nextTile(t->side, column, step[2])) {
        const int64_t sample = n / to[0], z = n % to[0];
        for (int64_t s = 0; s < slices; s++) {
          const int64_t start = s % depth * g->dilation[0] - g->pad[0];
          double x[MOST_NUMBERS];
          takeTile(seen, source + (sample * sources + s / depth) * product(from), from, step,
                   forward ? z + start : z - start, row - pad[0], column - pad[1], x);
          transformSizes(seen, seen, t->elements, x, tiles + s * numbers);
        }
        for (int64_t r = 0; r < results; r++)
          addTileSizes(t, slices, weights + r * slices * numbers, tiles, to, step, row, column,
                       size + (sample * results + r) * product(to) + z * to[1] * to[2]);
      }
  free(weights);
  free(tiles);
}

/* The same for the weight gradient: the numbers of each filter are summed up over all tiles first. */
static void addTransformedWeightSizes(const Transforms *t, const THNNConvolution *g,
                                      const Computation *of, double *size)
{
  const int seen = t->side + 2, count = seen * seen;
  const int64_t depth = g->kernel[0], slices = g->inputPlanes * depth, maps = g->outputPlanes;
  double *elements = calloc((size_t)(slices * count), sizeof(double));
  double *numbers = calloc((size_t)(maps * slices * count), sizeof(double));
  for (int64_t n = 0; n < g->batch * g->output[0]; n++)
    for (int64_t row = 0; row < g->output[1]; row = nextTile(t->side, row, g->dilation[1]))
      for (int64_t column = 0; column < g->output[2];
           column = nextTile(t->side, column, g->dilation[2])) {
        const int64_t sample = n / g->output[0], z = n % g->output[0];
        double x[MOST_NUMBERS], gradients[MOST_NUMBERS];
        for (int64_t s = 0; s < slices; s++) {
          takeTile(seen, of->image + (sample * g->inputPlanes + s / depth) * product(g->input),
                   g->input, g->dilation, z + s % depth * g->dilation[0] - g->pad[0],
                   row - g->pad[1], column - g->pad[2], x);
          transformSizes(seen, seen, t->elements, x, elements + s * count);
        }
        for (int64_t m = 0; m < maps; m++) {
          takeTile(t->side, of->map + (sample * maps + m) * product(g->output), g->output,
                   g->dilation, z, row, column, x);
          transformSizes(seen, t->side, t->gradients, x, gradients);
          for (int64_t i = 0; i < slices * count; i++)
            numbers[m * slices * count + i] += gradients[i % count] * elements[i];
        }
      }
  for (int64_t i = 0; i < maps * slices * 9; i++)
    for (int k = 0; k < count; k++)
      size[i] += t->toTaps[i % 9 / 3 * seen + k / seen] * numbers[i / 9 * count + k] *
                 t->toTaps[i % 3 * seen + k % seen];
  free(elements);
  free(numbers);
}

/* The largest error, in units of EPSILON times the sum of the terms' sizes; NaN if one is NaN. */
static double largestError(const real *result, const double *wanted, const double *size, int64_t n)
{
  double largest = 0;
  for (int64_t i = 0; i < n; i++) {
    const double error = fabs(result[i] - wanted[i]) / (EPSILON * size[i] + DBL_MIN);
    if (!(error <= largest))
      largest = error;
  }
  return largest;
}

enum { MOST_ROWS = 16 };

/* How often each row of the engine's table was met in each part; and Winograd's algorithm with weights
 * that are transformed once (or weight gradients with several shares) and otherwise, and weight
 * gradients whose results are not kept; and plans that keep something of the weights. */
static int met[3][MOST_ROWS], metWinograd[3][2], metUnkept, metKept;

static bool isWinograd(const THNNConvolutionPlan *plan)
{
  return strncmp(plan->chosen.algorithm->name, "winograd", strlen("winograd")) == 0;
}

/* The sizes of what the plan's algorithm sums up: among those of the definition, of Winograd's algorithm
 * with tiles of 2x2, and of 4x4. */
static const double *sizeFor(const THNNConvolutionPlan *plan, double *const *sizes)
{
  const bool four = strchr(plan->chosen.algorithm->name, '4') != NULL;
  return sizes[isWinograd(plan) ? four ? 2 : 1 : 0];
}

static bool isRow(const THNNConvolutionPlan *plan, const char *name)
{
  return strcmp(plan->chosen.algorithm->name, name) == 0;
}

static int rowOf(const THNNConvolutionPlan *plan)
{
  int row = 0;
  while (!isRow(plan, THNN_(engine_rowName)(row)))
    row++;
  return row;
}

static void meet(const THNNConvolution *g, const THNNConvolutionPlan *plan)
{
  const THNNConvolutionPart part = plan->chosen.part;
  met[part][rowOf(plan)]++;
  if (!isWinograd(plan))
    return;
  /* What one share keeps, beside which its totals are small. */
  const SimdProducts *loops = &THNN_(simd).products;
  const int64_t lanes =
      panelCountOf(loops, g->outputPlanes) * mostPanelLanesOf(loops, g->outputPlanes);
  const size_t share = (size_t)(g->inputPlanes * product(g->kernel) * lanes) * sizeof(real);
  const size_t shared = plan->chosen.sharedBytes;
  metUnkept += part == THNN_CONVOLUTION_BACKWARD_WEIGHT && shared < share;
  metWinograd[part][part == THNN_CONVOLUTION_BACKWARD_WEIGHT ? shared > share * 2 : shared > 0]++;
}

/* Whether scratch stays within the limit, which is for each thread. The room in which matrix
 * products pack their operands is their own. */
static bool isWithinLimit(const AlgorithmPlan *plan, const THNNState *state)
{
  const char *name = plan->algorithm->name;
  const bool products = !strcmp(name, "packedProducts") || !strcmp(name, "linear");
  return (products ? 0 : plan->threadBytes) + plan->sharedBytes <= THNN_State_workspaceLimit(state);
}

/* `sizes` are what the algorithms sum up for each result (sizeFor). */
static void testAlgorithm(const THNNConvolution *g, const Computation *of, const double *wanted,
                          double *const *sizes, THNNState *state)
{
  THNNConvolutionPlan plan;
  THNN_State_setThreads(state, 1);
  real *first = compute(g, of, state, &plan);
  if (!of->keeps)
    meet(g, &plan);
  metKept += plan.chosen.keptBytes > 0;
  const double error = largestError(first, wanted, sizeFor(&plan, sizes), of->results);
  CHECK(error < 16);
  CHECK(isWithinLimit(&plan.chosen, state) && isWithinLimit(&plan.otherwise, state));
  bool same = true;
  for (int threads = 2; threads <= MOST_THREADS; threads++) {
    THNN_State_setThreads(state, threads);
    real *other = compute(g, of, state, &plan);
    same = same && !memcmp(first, other, (size_t)of->results * sizeof(real));
    free(other);
  }
  CHECK(same);
  if (!(error < 16) || !same) {
    printf("part %d, algorithm %s, error %g\n", (int)of->part, plan.chosen.algorithm->name, error);
    printGeometry(g, same ? "wrong" : "threads differ");
  }
  free(first);
}

/* Every row of the table by its name, where it applies. */
static void testRows(const THNNConvolution *g, const Computation *of, const double *wanted,
                     double *const *sizes, THNNState *state)
{
  const char *name;
  for (int row = 0; (name = THNN_(engine_rowName)(row)); row++) {
    THNNConvolutionPlan plan;
    if (!THNN_(engine_prepareRow)(&plan, state, g, of->part, row))
      continue;
    THNN_State_setConvolutionRow(state, name);
    THNN_(engine_prepare)(&plan, state, g, of->part);
    CHECK(rowOf(&plan) == row);
    testAlgorithm(g, of, wanted, sizes, state);
    THNN_State_setConvolutionRow(state, NULL);
  }
}

static void testPart(const THNNConvolution *g, Computation of, THNNState *state)
{
  double *wanted = calloc((size_t)of.results, sizeof(double));
  double *size = calloc((size_t)of.results, sizeof(double));
  const int64_t positions = of.results / g->batch / (of.bias ? of.planes : 1);
  for (int64_t i = 0; of.bias && i < of.results; i++) {
    wanted[i] = of.bias[i / positions % of.planes];
    size[i] = fabs(wanted[i]);
  }
  double *sizes[3] = {size};
  for (int i = 0; i < 2; i++) {
    sizes[i + 1] = calloc((size_t)of.results, sizeof(double));
    memcpy(sizes[i + 1], size, (size_t)of.results * sizeof(double));
    if (isForWinograd(g))
      (of.part == THNN_CONVOLUTION_BACKWARD_WEIGHT
           ? addTransformedWeightSizes
           : addTransformedSizes)(&TRANSFORMS[i], g, &of, sizes[i + 1]);
  }
  addProducts(g, of.part, of.image, of.map, of.weight, wanted, size);
  for (int algorithm = THNN_CONVOLUTION_AUTO; algorithm <= THNN_CONVOLUTION_WINOGRAD4;
       algorithm++) {
    THNN_State_setConvolutionAlgorithm(state, (THNNConvolutionAlgorithm)algorithm);
    testAlgorithm(g, &of, wanted, sizes, state);
  }
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
  testRows(g, &of, wanted, sizes, state);
  of.keeps = of.part != THNN_CONVOLUTION_BACKWARD_WEIGHT;
  if (of.keeps)
    testRows(g, &of, wanted, sizes, state);
  for (int i = 0; i < 3; i++)
    free(sizes[i]);
  free(wanted);
}

static void testGeometry(const THNNConvolution *g, THNNState *state)
{
  real *image = newRandom(imageSize(g)), *map = newRandom(mapSize(g));
  real *weight = newRandom(weightSize(g));
  real *mapBias = newRandom(g->outputPlanes), *imageBias = newRandom(g->inputPlanes);
  const bool biased = randomBetween(0, 1);
  testPart(g,
           (Computation){THNN_CONVOLUTION_FORWARD, image, map, weight, biased ? mapBias : NULL,
                         g->outputPlanes, mapSize(g), false},
           state);
  testPart(g,
           (Computation){THNN_CONVOLUTION_BACKWARD_DATA, image, map, weight,
                         biased ? imageBias : NULL, g->inputPlanes, imageSize(g), false},
           state);
  testPart(g,
           (Computation){THNN_CONVOLUTION_BACKWARD_WEIGHT, image, map, weight, NULL, 1,
                         weightSize(g), false},
           state);
  free(image);
  free(map);
  free(weight);
  free(mapBias);
  free(imageBias);
}

/* ---- Special cases --------------------------------------------------------------------------- */

static const THNNConvolution PADDED = {.batch = 2,
                                       .inputPlanes = 3,
                                       .outputPlanes = 5,
                                       .input = {1, 9, 20},
                                       .output = {1, 9, 20},
                                       .kernel = {1, 3, 3},
                                       .stride = {1, 1, 1},
                                       .dilation = {1, 1, 1},
                                       .pad = {0, 1, 1}};

/* Infinite weights of one map plane reach that plane only: no other shares a sum with them. */
static void testInfiniteWeights(THNNState *state)
{
  const THNNConvolution *g = &PADDED;
  real *image = newRandom(imageSize(g)), *weight = newRandom(weightSize(g));
  const int64_t perPlane = weightSize(g) / g->outputPlanes, positions = product(g->output);
  for (int64_t i = 0; i < perPlane; i++)
    weight[perPlane + i] = INFINITY;
  const Computation of = {
      THNN_CONVOLUTION_FORWARD, image, NULL, weight, NULL, 1, mapSize(g), false};
  THNNConvolutionPlan plan;
  real *map = compute(g, &of, state, &plan);
  bool finite = true;
  for (int64_t i = 0; i < mapSize(g); i++)
    finite = finite && (i / positions % g->outputPlanes == 1 || isfinite(map[i]));
  CHECK(finite);
  free(image);
  free(weight);
  free(map);
}

/* A NaN in the image reaches the map positions that see it, and all of them. */
static void testNaNInImage(THNNState *state)
{
  const THNNConvolution *g = &PADDED;
  real *image = newRandom(imageSize(g)), *weight = newRandom(weightSize(g));
  const int64_t positions = product(g->output), where = 4 * g->input[2] + 19;
  image[where] = NAN;
  const Computation of = {
      THNN_CONVOLUTION_FORWARD, image, NULL, weight, NULL, 1, mapSize(g), false};
  THNNConvolutionPlan plan;
  real *map = compute(g, &of, state, &plan);
  bool right = true;
  for (int64_t i = 0; i < mapSize(g); i++) {
    bool sees = false;
    for (int64_t tap = 0; tap < product(g->kernel); tap++)
      sees = sees || (i < g->outputPlanes * positions && seenIndex(g, i % positions, tap) == where);
    right = right && sees == isnan(map[i]);
  }
  CHECK(right);
  free(image);
  free(weight);
  free(map);
}

/* gradWeight += scale * …, gradBias += scale * … */
static void testScale(THNNState *state)
{
  const THNNConvolution *g = &PADDED;
  real *image = newRandom(imageSize(g)), *map = newRandom(mapSize(g));
  const Computation of = {
      THNN_CONVOLUTION_BACKWARD_WEIGHT, image, map, NULL, NULL, 1, weightSize(g), false};
  THNNConvolutionPlan plan;
  real *once = compute(g, &of, state, &plan), *again = newRandom(weightSize(g));
  real *before = newArray(weightSize(g));
  memcpy(before, again, (size_t)weightSize(g) * sizeof(real));
  void *scratch = aligned_alloc(64, (plan.scratchBytes + 64) / 64 * 64);
  real bias[5] = {1, 1, 1, 1, 1}, imageBias[3] = {0, 0, 0};
  THNN_(engine_backwardWeight)(&plan, image, map, -0.5, again, bias, scratch);
  bool right = true;
  for (int64_t i = 0; i < weightSize(g); i++)
    right = right && fabs(again[i] - (before[i] - 0.5 * once[i])) < 1000 * EPSILON;
  CHECK(right);

  double sum = 0, imageSum = 0;
  for (int64_t i = 0; i < product(g->output); i++)
    for (int64_t n = 0; n < g->batch; n++) {
      sum += map[(n * g->outputPlanes + 4) * product(g->output) + i];
      imageSum += image[(n * g->inputPlanes + 2) * product(g->input) + i];
    }
  THNN_(engine_backwardTransposedBias)(&plan, image, 2, imageBias);
  CHECK(fabs(bias[4] - (1 - 0.5 * sum)) < 1000 * EPSILON);
  CHECK(fabs(imageBias[2] - 2 * imageSum) < 1000 * EPSILON);
  free(image);
  free(map);
  free(once);
  free(again);
  free(before);
  free(scratch);
}

/* A layer of square kernels whose maps are as large as its images. */
static THNNConvolution evenLayer(int64_t kernel, int64_t batch, int64_t imagePlanes,
                                 int64_t mapPlanes, int64_t height, int64_t width)
{
  return (THNNConvolution){.batch = batch,
                           .inputPlanes = imagePlanes,
                           .outputPlanes = mapPlanes,
                           .input = {1, height, width},
                           .output = {1, height, width},
                           .kernel = {1, kernel, kernel},
                           .stride = {1, 1, 1},
                           .dilation = {1, 1, 1},
                           .pad = {0, kernel / 2, kernel / 2}};
}

static THNNConvolution layerOf(int64_t batch, int64_t imagePlanes, int64_t mapPlanes,
                               int64_t height, int64_t width)
{
  return evenLayer(3, batch, imagePlanes, mapPlanes, height, width);
}

static THNNConvolution pointwise(int64_t batch, int64_t imagePlanes, int64_t mapPlanes,
                                 int64_t height, int64_t width)
{
  return evenLayer(1, batch, imagePlanes, mapPlanes, height, width);
}

/* A layer whose only map position sees the whole image. */
static THNNConvolution linearLayer(int64_t batch, int64_t imagePlanes, int64_t mapPlanes,
                                   int64_t size)
{
  THNNConvolution g = evenLayer(size, batch, imagePlanes, mapPlanes, size, size);
  for (int i = 1; i < 3; i++) {
    g.output[i] = 1;
    g.pad[i] = 0;
  }
  return g;
}

/* Larger than random ones: source planes in several blocks, more groups of taps than are kept from
 * box to box, chains of taps that are cut into parts, one tap with many planes or
 * positions, and linear layers. */
static void testLarge(THNNState *state)
{
  const THNNConvolution large[] = {evenLayer(5, 1, 256, 1, 24, 40),
                                   {.batch = 3,
                                    .inputPlanes = 2,
                                    .outputPlanes = 20,
                                    .input = {5, 5, 6},
                                    .output = {5, 5, 6},
                                    .kernel = {5, 5, 5},
                                    .stride = {1, 1, 1},
                                    .dilation = {1, 1, 1},
                                    .pad = {2, 2, 2}},
                                   {.batch = 2,
                                    .inputPlanes = 5,
                                    .outputPlanes = 7,
                                    .input = {1, 20, 30},
                                    .output = {1, 20, 15},
                                    .kernel = {1, 7, 8},
                                    .stride = {1, 1, 2},
                                    .dilation = {1, 1, 1},
                                    .pad = {0, 3, 3}},
                                   pointwise(2, 96, 96, 13, 15),
                                   {.batch = 2,
                                    .inputPlanes = 70,
                                    .outputPlanes = 90,
                                    .input = {1, 13, 15},
                                    .output = {1, 7, 5},
                                    .kernel = {1, 1, 1},
                                    .stride = {1, 2, 3},
                                    .dilation = {1, 1, 1}},
                                   pointwise(2, 300, 40, 11, 13),
                                   pointwise(2, 40, 300, 11, 13),
                                   pointwise(1, 20, 40, 30, 41),
                                   pointwise(30, 70, 64, 1, 3),
                                   linearLayer(5, 4, 33, 3),
                                   linearLayer(40, 20, 7, 6)};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++)
    testGeometry(&large[i], state);
}

/* Winograd's algorithm with room for some tiles and weights only: several groups of blocks, of which the
 * last ones have fewer, and panels of both sides of the weights. */
static void testGroups(THNNState *state)
{
  THNNConvolution g = layerOf(3, 150, 115, 22, 25);
  THNN_State_setWorkspaceLimit(state, sizeof(real) << 18);
  testGeometry(&g, state);
  g = layerOf(2, 50, 65, 12, 15); /* also with taps in depth */
  g.kernel[0] = 3;
  g.pad[0] = g.dilation[0] = 2;
  g.input[0] = g.output[0] = 4;
  testGeometry(&g, state);
  g = layerOf(2, 130, 150, 12, 15); /* and dilated */
  g.pad[1] = g.dilation[1] = 2;
  g.pad[2] = g.dilation[2] = 3;
  for (int elements = 1 << 17; elements <= 1 << 19; elements *= 2) {
    THNN_State_setWorkspaceLimit(state, sizeof(real) * (size_t)elements);
    testGeometry(&g, state);
  }
  THNN_State_setWorkspaceLimit(state, 8 << 20);
  g = layerOf(3, 20, 33, 40, 145); /* tiles enough for shares of them, and for pieces of a row */
  testGeometry(&g, state);
  g.pad[2] = g.dilation[2] = 7; /* which cut groups of tiles */
  testGeometry(&g, state);
}

/* Where it pays, by the costs: with many planes on large maps, also dilated. */
static void testWinogradPlans(THNNState *state)
{
  const THNNConvolution few = layerOf(1, 3, 64, 56, 56);
  THNNConvolutionPlan plan;
  THNN_State_setThreads(state, 1);
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
  for (int part = THNN_CONVOLUTION_FORWARD; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++) {
    for (int dilation = 1; dilation <= 2; dilation++) {
      THNNConvolution many = layerOf(1, 128, 128, 56, 56);
      for (int i = 1; i < 3; i++)
        many.pad[i] = many.dilation[i] = dilation;
      THNN_(engine_prepare)(&plan, state, &many, (THNNConvolutionPart)part);
      CHECK(isWinograd(&plan));
    }
    THNN_(engine_prepare)(&plan, state, &few, (THNNConvolutionPart)part);
    CHECK(!isWinograd(&plan));
  }
}

/* Asking for Winograd's algorithm leaves the choice for other convolutions to the costs: here all of
 * the image in one position of the map, for which the direct algorithm is not chosen. */
static void testWinogradOtherwise(THNNState *state)
{
  THNNConvolution g = layerOf(4, 16, 16, 5, 5);
  for (int i = 1; i < 3; i++) {
    g.kernel[i] = 5;
    g.pad[i] = 0;
    g.output[i] = 1;
  }
  THNNConvolutionPlan asked, automatic;
  for (int part = THNN_CONVOLUTION_FORWARD; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++) {
    THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_WINOGRAD);
    THNN_(engine_prepare)(&asked, state, &g, (THNNConvolutionPart)part);
    THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
    THNN_(engine_prepare)(&automatic, state, &g, (THNNConvolutionPart)part);
    CHECK(isRow(&asked, "linear") && isRow(&automatic, "linear"));
  }
}

/* Bits would differ if the choice depended on the number of threads. */
static void testChoiceForThreads(THNNState *state)
{
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
  for (int i = 0; i < 300; i++) {
    const int part = (int)randomBetween(THNN_CONVOLUTION_FORWARD, THNN_CONVOLUTION_BACKWARD_WEIGHT);
    const THNNConvolution g =
        layerOf(randomBetween(1, 9), randomBetween(1, 300), randomBetween(1, 300),
                randomBetween(3, 60), randomBetween(3, 60));
    THNNConvolutionPlan one, many;
    THNN_State_setThreads(state, 1);
    THNN_(engine_prepare)(&one, state, &g, (THNNConvolutionPart)part);
    THNN_State_setThreads(state, 2 + i % 10);
    THNN_(engine_prepare)(&many, state, &g, (THNNConvolutionPart)part);
    CHECK(one.chosen.cost == many.chosen.cost && one.otherwise.cost == many.otherwise.cost);
    CHECK(rowOf(&one) == rowOf(&many));
  }
}

/* The direct algorithm takes every ordinary geometry, and scratch stays bounded for any batch; also
 * where it chooses to bring samples together, and what a stride sees. */
static void testPlans(THNNState *state)
{
  THNNConvolution geometries[] = {PADDED,
                                  {.inputPlanes = 512,
                                   .outputPlanes = 700,
                                   .input = {1, 7, 7},
                                   .output = {1, 7, 7},
                                   .kernel = {1, 1, 1},
                                   .stride = {1, 1, 1},
                                   .dilation = {1, 1, 1}},
                                  {.inputPlanes = 256,
                                   .outputPlanes = 512,
                                   .input = {1, 13, 14},
                                   .output = {1, 7, 7},
                                   .kernel = {1, 1, 1},
                                   .stride = {1, 2, 2},
                                   .dilation = {1, 1, 1}}};
  THNNConvolutionPlan plan, large;
  THNN_State_setThreads(state, 1);
  for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
    for (int part = THNN_CONVOLUTION_FORWARD; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++) {
      THNNConvolution *g = &geometries[i];
      THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_DIRECT);
      g->batch = 1000;
      THNN_(engine_prepare)(&plan, state, g, (THNNConvolutionPart)part);
      g->batch = 100000;
      THNN_(engine_prepare)(&large, state, g, (THNNConvolutionPart)part);
      CHECK(!isRow(&plan, "gemm"));
      CHECK(large.scratchBytes <= (size_t)8 << 20);
      THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_GEMM);
      THNN_(engine_prepare)(&plan, state, g, (THNNConvolutionPart)part);
      CHECK(isRow(&plan, "gemm"));
    }
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_AUTO);
}

/* Every row was met in every part that it is for; and those for any kernel often. */
static void checkMet(int geometries)
{
  const char *name;
  for (int row = 0; (name = THNN_(engine_rowName)(row)); row++) {
    const bool weight = strstr(name, "Weight") != NULL;
    const bool all =
        !strcmp(name, "gemm") || !strcmp(name, "linear") || !strcmp(name, "packedProducts");
    const bool often =
        !strncmp(name, "direct", 6) || !strncmp(name, "lines", 5) || !strcmp(name, "gemm");
    const bool packs = THNN_(simd).panels.packs || strcmp(name, "packedProducts");
    for (int part = 0; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++)
      if (packs && (all || weight == (part == THNN_CONVOLUTION_BACKWARD_WEIGHT)))
        CHECK(met[part][row] > (often ? geometries / 20 : 0));
  }
}

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], "time"))
    return printTimings(argc > 2 ? atof(argv[2]) : 60, argc > 3 ? argv[3] : "");
  const int geometries = argc > 1 ? atoi(argv[1]) : 200;
  const size_t limits[] = {64 << 10, 200000, 8 << 20};
  catchErrors();
  THNNState *state = THNN_State_new();
  testPlans(state);
  testLarge(state);
  testGroups(state);
  testWinogradPlans(state);
  testWinogradOtherwise(state);
  testChoiceForThreads(state);
  for (int algorithm = THNN_CONVOLUTION_AUTO; algorithm <= THNN_CONVOLUTION_WINOGRAD4;
       algorithm++) {
    THNN_State_setConvolutionAlgorithm(state, (THNNConvolutionAlgorithm)algorithm);
    testInfiniteWeights(state);
    testNaNInImage(state);
    testScale(state);
  }
  for (int i = 0; i < geometries; i++) {
    const THNNConvolution g = randomGeometry();
    if (operations(&g) > 4e6)
      continue;
    THNN_State_setWorkspaceLimit(state, limits[randomBetween(0, 2)]);
    testUnfolding(&g);
    testGeometry(&g, state);
  }
  for (int part = THNN_CONVOLUTION_FORWARD; part <= THNN_CONVOLUTION_BACKWARD_WEIGHT; part++)
    CHECK(metWinograd[part][true] > 0 && metWinograd[part][false] > 0);
  CHECK(metUnkept > 0);
  CHECK(metKept > 0);
  checkMet(geometries);
  THNN_State_free(state);
  return checkResult();
}
