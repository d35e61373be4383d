#include "transforms.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SEEN = 6, MOST_NUMBERS = MOST_SEEN * MOST_SEEN };
#define NEAR 0.70710678118654752
#define FAR 1.41421356237309505
const Transforms TRANSFORMS[] = {
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

bool isForWinograd(const THNNConvolution *g)
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

void addTransformedSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                         double *size)
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

void addTransformedWeightSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                               double *size)
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
