#include "transforms.h"

#include <math.h>
#include <stdlib.h>

#define NEAR 0.70710678118654752
#define FAR 1.41421356237309505
Transforms transforms[TRANSFORMS] = {{.side = 2, .taps = 3, .point = {0, 1, -1}},
                                     {.side = 4, .taps = 3, .point = {0, NEAR, -NEAR, FAR, -FAR}},
                                     {.side = 2, .taps = 5, .point = {0, NEAR, -NEAR, FAR, -FAR}},
                                     {.side = 4, .taps = 2, .point = {0, 0.5, -1, 2}},
                                     {.side = 2, .taps = 2, .point = {0, 1}}};

static int seenBy(const Transforms *t)
{
  return t->side + t->taps - 1;
}

/* The absolute values of the coefficients of a polynomial in x: the product of x - q over all
 * points q except point number `without`. */
static void polynomialSizes(const Transforms *t, int without, double *size)
{
  const int points = seenBy(t) - 1;
  double c[MOST_SEEN + 1] = {1};
  for (int q = 0; q < points; q++)
    for (int k = MOST_SEEN; q != without && k >= 0; k--)
      c[k] = (k > 0 ? c[k - 1] : 0) - t->point[q] * c[k];
  for (int k = 0; k <= points; k++)
    size[k] = fabs(c[k]);
}

/* to[power][point] = the absolute value of the point's power, for powers from 0 to count - 1;
 * from[point][power] = the same divided by the product of the point's distances from the others. */
static void powerSizes(const Transforms *t, int count, double *from, double *to)
{
  const int seen = seenBy(t);
  for (int p = 0; p < seen; p++) {
    double power = 1, divisor = 1;
    for (int q = 0; p < seen - 1 && q < seen - 1; q++)
      divisor *= q == p ? 1 : fabs(t->point[p] - t->point[q]);
    for (int k = 0; k < count; k++) {
      const double size = p < seen - 1 ? power : k == count - 1;
      from[p * count + k] = size / divisor;
      to[k * seen + p] = size;
      power *= p < seen - 1 ? fabs(t->point[p]) : 0;
    }
  }
}

void makeTransforms(void)
{
  for (int i = 0; i < TRANSFORMS; i++) {
    Transforms *t = &transforms[i];
    for (int p = 0; p < seenBy(t); p++)
      polynomialSizes(t, p, t->elements + p * seenBy(t));
    powerSizes(t, t->taps, t->fromTaps, t->toTaps);
    powerSizes(t, t->side, t->gradients, t->results);
  }
}

/* number[p][q] = the sum over i and j of from[p][i] * |x[i][j]| * from[q][j] */
static void transformSizes(int seen, int n, const double *from, const double *x, double *number)
{
  double half[MOST_NUMBERS]; /* [i][q] */
  for (int i = 0; i < n; i++)
    for (int q = 0; q < seen; q++) {
      double sum = 0;
      for (int j = 0; j < n; j++)
        sum += fabs(x[i * n + j]) * from[q * n + j];
      half[i * seen + q] = sum;
    }
  for (int p = 0; p < seen; p++)
    for (int q = 0; q < seen; q++) {
      double sum = 0;
      for (int i = 0; i < n; i++)
        sum += from[p * n + i] * half[i * seen + q];
      number[p * seen + q] = sum;
    }
}

bool areFor(const Transforms *t, const THNNConvolution *g)
{
  bool are = g->stride[0] == 1;
  for (int i = 1; i < 3; i++)
    are = are && g->kernel[i] == t->taps && g->stride[i] == 1;
  return are;
}

/* The first position after `at` in one dimension where a tile begins. A tile has `side` positions
 * that are `step`, the dilation, apart; each residue class by `step` has tiles of its own. */
static int64_t nextTile(int side, int64_t at, int64_t step)
{
  at++;
  const int64_t place = at / step % side;
  return place ? at + (side - place) * step : at;
}

/* Copies n x n elements of a plane, `step` apart, beginning with (depth, row, column); zeros
 * outside. */
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

/* Adds the sizes of what a tile's results are made of, over all slices of the source, to the sizes
 * of these results in one slice. */
static void addTileSizes(const Transforms *t, int64_t slices, const double *weights,
                         const double *tiles, const int64_t *size, const int64_t *step, int64_t row,
                         int64_t column, double *plane)
{
  const int seen = seenBy(t), numbers = seen * seen;
  double sum[MOST_NUMBERS] = {0};
  for (int64_t s = 0; s < slices; s++, weights += numbers, tiles += numbers)
    for (int k = 0; k < numbers; k++)
      sum[k] += weights[k] * tiles[k];
  for (int i = 0; i < t->side && row + i * step[1] < size[1]; i++) {
    double line[MOST_SEEN] = {0};
    for (int p = 0; p < seen; p++)
      for (int q = 0; q < seen; q++)
        line[q] += t->results[i * seen + p] * sum[p * seen + q];
    for (int j = 0; j < t->side && column + j * step[2] < size[2]; j++)
      for (int q = 0; q < seen; q++)
        plane[(row + i * step[1]) * size[2] + column + j * step[2]] +=
            line[q] * t->results[j * seen + q];
  }
}

void addTransformedSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                         double *size)
{
  const int seen = seenBy(t), numbers = seen * seen, taps = t->taps, filter = taps * taps;
  const bool forward = of->part == THNN_CONVOLUTION_FORWARD;
  const int64_t sources = forward ? g->inputPlanes : g->outputPlanes;
  const int64_t results = forward ? g->outputPlanes : g->inputPlanes;
  const int64_t *from = forward ? g->input : g->output, *to = forward ? g->output : g->input;
  const int64_t depth = g->kernel[0], slices = sources * depth;
  const int64_t *step = g->dilation;
  const int64_t pad[] = {forward ? g->pad[1] : (taps - 1) * step[1] - g->pad[1],
                         forward ? g->pad[2] : (taps - 1) * step[2] - g->pad[2]};
  const real *source = forward ? of->image : of->map;
  double *weights = calloc((size_t)(results * slices * numbers), sizeof(double));
  double *tiles = calloc((size_t)(slices * numbers), sizeof(double));
  for (int64_t r = 0; r < results; r++)
    for (int64_t s = 0; s < slices; s++) {
      const int64_t planes = forward ? r * sources + s / depth : s / depth * results + r;
      const real *given = of->weight + (planes * depth + s % depth) * filter;
      double tap[MOST_NUMBERS];
      for (int i = 0; i < filter; i++)
        tap[i] = given[forward ? i : filter - 1 - i];
      transformSizes(seen, taps, t->fromTaps, tap, weights + (r * slices + s) * numbers);
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

bool areForPhases(const Transforms *t, const THNNConvolution *g)
{
  bool are = g->stride[0] == 1 && g->kernel[0] == 1;
  for (int i = 1; i < 3; i++)
    are = are && (g->kernel[i] + 1) / 2 == t->taps && g->stride[i] == 2 && g->dilation[i] == 1;
  return are;
}

/* The place of a tap in its filter, of every second row and column of taps from (row, column) on; -1 if
 * it is past the last one. */
static int64_t placeOfTap(const Transforms *t, const THNNConvolution *g, int tap, int row,
                          int column)
{
  row += 2 * (tap / t->taps);
  column += 2 * (tap % t->taps);
  return row < g->kernel[1] && column < g->kernel[2] ? row * g->kernel[2] + column : -1;
}

/* The weights of every second tap, from (row, column) on, 0 past the last one: those of a pair of
 * planes follow those of the one before after `step` filters. */
static void takeTaps(const Transforms *t, const THNNConvolution *g, const real *weight, int row,
                     int column, int64_t step, real *y)
{
  const int filter = t->taps * t->taps;
  for (int64_t pair = 0; pair < g->outputPlanes * g->inputPlanes; pair++)
    for (int i = 0; i < filter; i++) {
      const int64_t place = placeOfTap(t, g, i, row, column);
      y[pair * step * filter + i] = place < 0 ? 0 : weight[pair * product(g->kernel) + place];
    }
}

/* Of each image plane the four slices that map positions see, as planes of stride 1. */
static THNNConvolution sliceGeometry(const Transforms *t, const THNNConvolution *g)
{
  THNNConvolution slices = *g;
  slices.inputPlanes *= 4;
  for (int i = 1; i < 3; i++) {
    slices.kernel[i] = t->taps;
    slices.stride[i] = 1;
    slices.pad[i] = 0;
    slices.input[i] = g->output[i] + t->taps - 1;
  }
  return slices;
}

static real *takeSlices(const THNNConvolution *g, const THNNConvolution *slices, const real *image)
{
  real *taken = newArray(imageSize(slices));
  const int64_t height = slices->input[1], width = slices->input[2];
  for (int64_t i = 0; i < imageSize(slices); i++) {
    const int64_t plane = i / product(slices->input), z = i / (height * width) % slices->input[0];
    const int64_t row = 2 * (i / width % height) + plane % 4 / 2 - g->pad[1];
    const int64_t column = 2 * (i % width) + plane % 2 - g->pad[2];
    const bool inside = row >= 0 && row < g->input[1] && column >= 0 && column < g->input[2];
    const int64_t place = ((plane / 4 * g->input[0] + z) * g->input[1] + row) * g->input[2];
    taken[i] = inside ? image[place + column] : 0;
  }
  return taken;
}

/* The map. */
static void addSliceSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                          double *size)
{
  const THNNConvolution slices = sliceGeometry(t, g);
  real *image = takeSlices(g, &slices, of->image), *weight = newArray(weightSize(&slices));
  for (int phase = 0; phase < 4; phase++)
    takeTaps(t, g, of->weight, phase / 2, phase % 2, 4, weight + phase * t->taps * t->taps);
  Computation computation = *of;
  computation.image = image;
  computation.weight = weight;
  addTransformedSizes(t, &slices, &computation, size);
  free(image);
  free(weight);
}

/* The gradient of the weight. */
static void addSliceWeightSizes(const Transforms *t, const THNNConvolution *g,
                                const Computation *of, double *size)
{
  const THNNConvolution slices = sliceGeometry(t, g);
  const int filter = t->taps * t->taps;
  real *image = takeSlices(g, &slices, of->image);
  double *sizes = calloc((size_t)weightSize(&slices), sizeof(double));
  Computation computation = *of;
  computation.image = image;
  addTransformedWeightSizes(t, &slices, &computation, sizes);
  for (int64_t i = 0; i < weightSize(&slices); i++) {
    const int slice = (int)(i / filter % 4);
    const int64_t place = placeOfTap(t, g, (int)(i % filter), slice / 2, slice % 2);
    if (place >= 0)
      size[i / filter / 4 * product(g->kernel) + place] += sizes[i];
  }
  free(image);
  free(sizes);
}

/* The gradient of the image: every second row and column of it, from (row, column) on. */
static void addPhaseSizesAt(const Transforms *t, const THNNConvolution *g, const Computation *of,
                            int row, int column, double *size)
{
  const int first[] = {0, row, column};
  int64_t odd[3] = {0};
  THNNConvolution phase = *g;
  for (int i = 1; i < 3; i++) {
    odd[i] = (g->pad[i] + first[i]) % 2 != 0;
    phase.kernel[i] = t->taps;
    phase.stride[i] = 1;
    phase.pad[i] = (g->pad[i] + first[i] - odd[i]) / 2;
    phase.input[i] = (g->input[i] - first[i] + 1) / 2;
  }
  real *weight = newArray(weightSize(&phase));
  takeTaps(t, g, of->weight, (int)odd[1], (int)odd[2], 1, weight);
  double *sizes = calloc((size_t)imageSize(&phase) + 1, sizeof(double));
  Computation computation = *of;
  computation.weight = weight;
  addTransformedSizes(t, &phase, &computation, sizes);
  for (int64_t i = 0; i < imageSize(&phase); i++) {
    const int64_t y = i / phase.input[2], slice = y / phase.input[1];
    const int64_t to = slice * g->input[1] + 2 * (y % phase.input[1]) + row;
    size[to * g->input[2] + 2 * (i % phase.input[2]) + column] += sizes[i];
  }
  free(weight);
  free(sizes);
}

void addTransformedWeightSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                               double *size)
{
  const int seen = seenBy(t), count = seen * seen, taps = t->taps, filter = taps * taps;
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
          double *number = numbers + m * slices * count;
          for (int64_t s = 0; s < slices; s++)
            for (int k = 0; k < count; k++)
              number[s * count + k] += gradients[k] * elements[s * count + k];
        }
      }
  for (int64_t i = 0; i < maps * slices * filter; i++)
    for (int k = 0; k < count; k++)
      size[i] += t->toTaps[i % filter / taps * seen + k / seen] * numbers[i / filter * count + k] *
                 t->toTaps[i % taps * seen + k % seen];
  free(elements);
  free(numbers);
}

void addPhaseSizes(const Transforms *t, const THNNConvolution *g, const Computation *of,
                   double *size)
{
  if (of->part == THNN_CONVOLUTION_FORWARD)
    addSliceSizes(t, g, of, size);
  else if (of->part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
    addSliceWeightSizes(t, g, of, size);
  else
    for (int phase = 0; phase < 4; phase++)
      addPhaseSizesAt(t, g, of, phase / 2, phase % 2, size);
}
