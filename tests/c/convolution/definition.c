#include "definition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Random numbers -------------------------------------------------------------------------- */

static uint64_t randomState = 1;

void startRandom(int seed)
{
  randomState = (uint64_t)seed;
}

static uint64_t randomBits(void)
{
  randomState = randomState * 6364136223846793005u + 1442695040888963407u;
  return randomState >> 33;
}

int64_t randomBetween(int64_t low, int64_t high)
{
  return low + (int64_t)(randomBits() % (uint64_t)(high - low + 1));
}

real *newArray(int64_t elements)
{
  real *x = malloc((size_t)(elements > 0 ? elements : 1) * sizeof(real));
  for (int64_t i = 0; i < elements; i++)
    x[i] = NAN;
  return x;
}

real *newRandom(int64_t elements)
{
  real *x = newArray(elements);
  for (int64_t i = 0; i < elements; i++)
    x[i] = (real)randomBetween(-1000, 1000) / 1000;
  return x;
}

/* ---- The definition -------------------------------------------------------------------------- */

int64_t product(const int64_t *size)
{
  return size[0] * size[1] * size[2];
}

int64_t imageSize(const THNNConvolution *g)
{
  return g->batch * g->inputPlanes * product(g->input);
}

int64_t mapSize(const THNNConvolution *g)
{
  return g->batch * g->outputPlanes * product(g->output);
}

int64_t weightSize(const THNNConvolution *g)
{
  return g->inputPlanes * g->outputPlanes * product(g->kernel);
}

int64_t seenIndex(const THNNConvolution *g, int64_t position, int64_t tap)
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

/* Map positions in a row that see image elements through a tap: position + k sees element + k * stride. */
typedef struct Run {
  int64_t position, element, count;
} Run;

/* The runs of one tap, at most as many as there are positions. Returns their number. */
static int64_t findRuns(const THNNConvolution *g, int64_t tap, Run *runs)
{
  int64_t count = 0;
  for (int64_t position = 0; position < product(g->output); position++) {
    const int64_t seen = seenIndex(g, position, tap);
    if (seen < 0)
      continue;
    Run *last = runs + count - 1;
    if (count > 0 && last->position + last->count == position &&
        last->element + last->count * g->stride[2] == seen)
      last->count++;
    else
      runs[count++] = (Run){position, seen, 1};
  }
  return count;
}

/* y[k] += x[k * step] * w, and the sizes of the products to `size`. */
static void addToMap(int64_t n, const real *x, int64_t step, double w, double *restrict y,
                     double *restrict size)
{
  for (int64_t k = 0; k < n; k++) {
    const double term = x[k * step] * w;
    y[k] += term;
    size[k] += fabs(term);
  }
}

/* x[k * step] += y[k] * w */
static void addToImage(int64_t n, const real *y, int64_t step, double w, double *restrict x,
                       double *restrict size)
{
  for (int64_t k = 0; k < n; k++) {
    const double term = y[k] * w;
    x[k * step] += term;
    size[k * step] += fabs(term);
  }
}

/* *w += x[k * step] * y[k] */
static void addToWeight(int64_t n, const real *x, int64_t step, const real *y, double *w,
                        double *size)
{
  double sum = 0, sizes = 0;
  for (int64_t k = 0; k < n; k++) {
    const double term = (double)x[k * step] * y[k];
    sum += term;
    sizes += fabs(term);
  }
  *w += sum;
  *size += sizes;
}

void addProducts(const THNNConvolution *g, THNNConvolutionPart part, const real *image,
                 const real *map, const real *weight, double *result, double *size)
{
  const int64_t imagePositions = product(g->input), positions = product(g->output);
  const int64_t taps = product(g->kernel), step = g->stride[2];
  const int64_t planes = g->inputPlanes, pairs = planes * g->outputPlanes;
  Run *runs = malloc((size_t)positions * sizeof *runs);
  for (int64_t tap = 0; tap < taps; tap++) {
    const int64_t count = findRuns(g, tap, runs);
    for (int64_t i = 0; i < g->batch * pairs; i++) {
      const int64_t n = i / pairs, w = i % pairs * taps + tap;
      for (const Run *run = runs; run < runs + count; run++) {
        const int64_t x = (n * planes + i % planes) * imagePositions + run->element;
        const int64_t y = i / planes * positions + run->position;
        if (part == THNN_CONVOLUTION_FORWARD)
          addToMap(run->count, image + x, step, weight[w], result + y, size + y);
        else if (part == THNN_CONVOLUTION_BACKWARD_DATA)
          addToImage(run->count, map + y, step, weight[w], result + x, size + x);
        else
          addToWeight(run->count, image + x, step, map + y, result + w, size + w);
      }
    }
  }
  free(runs);
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

/* Gives a plane `taps` x `taps` taps, or with a stride of 2 twice as many along rows and columns, or one
 * less. */
static void setWinograd(THNNConvolution *g, int64_t taps, int64_t stride)
{
  g->stride[0] = 1;
  if (stride == 2)
    g->kernel[0] = 1;
  for (int i = 1; i < 3; i++) {
    g->kernel[i] = taps * stride - (stride == 2 ? randomBetween(0, 1) : 0);
    g->stride[i] = stride;
    g->dilation[i] = stride == 2 || randomBetween(0, 1) ? 1 : randomBetween(2, 6);
    const int64_t reach = (g->kernel[i] - 1) * g->dilation[i];
    g->pad[i] = g->input[i] <= reach ? reach : randomBetween(0, reach + 1);
    g->output[i] = (g->input[i] + 2 * g->pad[i] - reach - 1) / stride + 1;
    if (stride == 2)
      g->output[i] += randomBetween(0, 1);
  }
}

THNNConvolution randomGeometry(void)
{
  const int64_t imagePlanes[] = {1, 2, 3, 5, 8, 17, 33},
                mapPlanes[] = {1, 2, 3, 7, 9, 16, 17, 35, 70};
  const int64_t winogradTaps[] = {3, 3, 3, 3, 2, 5};
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
    setWinograd(&g, winogradTaps[randomBetween(0, 5)], randomBetween(1, 2));
  return g;
}

double operations(const THNNConvolution *g)
{
  return (double)mapSize(g) * g->inputPlanes * product(g->kernel);
}

void printGeometry(const THNNConvolution *g, const char *problem)
{
  printf("%s: batch %d, planes %d to %d", problem, (int)g->batch, (int)g->inputPlanes,
         (int)g->outputPlanes);
  for (int i = 0; i < 3; i++)
    printf(" | input %d output %d kernel %d stride %d pad %d dilation %d", (int)g->input[i],
           (int)g->output[i], (int)g->kernel[i], (int)g->stride[i], (int)g->pad[i],
           (int)g->dilation[i]);
  printf("\n");
}

THNNConvolution evenLayer(int64_t kernel, int64_t batch, int64_t imagePlanes, int64_t mapPlanes,
                          int64_t height, int64_t width)
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

THNNConvolution layerOf(int64_t batch, int64_t imagePlanes, int64_t mapPlanes, int64_t height,
                        int64_t width)
{
  return evenLayer(3, batch, imagePlanes, mapPlanes, height, width);
}

bool isSum(real found, double wanted)
{
  if (isfinite(wanted))
    return fabs(found - wanted) < 1e4 * EPSILON;
  return isnan(wanted) ? isnan(found) : found == wanted;
}
