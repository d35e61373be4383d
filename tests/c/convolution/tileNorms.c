#include "tileNorms.h"

#include <math.h>
#include <stdlib.h>

#include "work/sizes.h"

enum { SIDE = 16, FEWEST_RESULTS = 3 };

/* Most taps of a slice along dimension `i`. */
static int64_t tapsOfSlice(const THNNConvolution *g, int i)
{
  return divideUp(g->kernel[i], g->stride[i]);
}

bool haveTiles(const THNNConvolution *g)
{
  bool have = g->kernel[0] == 1 && g->stride[0] == 1 && g->pad[0] == 0 && g->input[0] == 1;
  for (int i = 1; i < 3; i++)
    have = have && g->stride[i] <= g->kernel[i] && g->dilation[i] == 1 &&
           SIDE + 1 - tapsOfSlice(g, i) >= FEWEST_RESULTS;
  return have;
}

/* Elements of a tile along dimension `i`: tiles are lines where taps are in a row. */
static int64_t elementsAlong(const THNNConvolution *g, int i)
{
  return i == 1 && g->kernel[1] == 1 ? 1 : SIDE;
}

/* Results of a tile along dimension `i`. */
static int64_t resultsAlong(const THNNConvolution *g, int i)
{
  return elementsAlong(g, i) + 1 - g->kernel[i];
}

/* The norm of the elements of a plane from (row, column) on, of which the plane may have a part. */
static double normOf(const real *plane, const int64_t *size, int64_t row, int64_t column,
                     int64_t rows, int64_t columns)
{
  double sum = 0;
  for (int64_t y = row; y < row + rows; y++)
    for (int64_t x = column; x < column + columns; x++)
      if (y >= 0 && y < size[1] && x >= 0 && x < size[2]) {
        const double element = plane[y * size[2] + x];
        sum += element * element;
      }
  return sqrt(sum);
}

/* Map or gradient of the image: the norms of the tile at (row, column) of a sample's planes. */
static void addNormsOfTile(const THNNConvolution *g, const Computation *of, const double *taps,
                           int64_t sample, int64_t row, int64_t column, double *size)
{
  const bool forward = of->part == THNN_CONVOLUTION_FORWARD;
  const int64_t sources = forward ? g->inputPlanes : g->outputPlanes;
  const int64_t results = forward ? g->outputPlanes : g->inputPlanes;
  const int64_t *from = forward ? g->input : g->output, *to = forward ? g->output : g->input;
  const real *source = (forward ? of->image : of->map) + sample * sources * product(from);
  int64_t pad[3];
  for (int i = 1; i < 3; i++)
    pad[i] = forward ? g->pad[i] : g->kernel[i] - 1 - g->pad[i];
  double *norms = calloc((size_t)sources, sizeof(double));
  for (int64_t s = 0; s < sources; s++)
    norms[s] = normOf(source + s * product(from), from, row - pad[1], column - pad[2],
                      elementsAlong(g, 1), elementsAlong(g, 2));
  for (int64_t r = 0; r < results; r++) {
    double sum = 0;
    for (int64_t s = 0; s < sources; s++)
      sum += norms[s] * taps[forward ? r * sources + s : s * results + r];
    double *plane = size + (sample * results + r) * product(to);
    for (int64_t y = row; y < row + resultsAlong(g, 1) && y < to[1]; y++)
      for (int64_t x = column; x < column + resultsAlong(g, 2) && x < to[2]; x++)
        plane[y * to[2] + x] += sum;
  }
  free(norms);
}

/* The gradient of the weight. */
static void addNormsOfGradients(const THNNConvolution *g, const Computation *of, int64_t sample,
                                int64_t row, int64_t column, double *size)
{
  const int64_t taps = product(g->kernel);
  const real *image = of->image + sample * g->inputPlanes * product(g->input);
  const real *map = of->map + sample * g->outputPlanes * product(g->output);
  double *norms = calloc((size_t)g->inputPlanes, sizeof(double));
  for (int64_t i = 0; i < g->inputPlanes; i++)
    norms[i] = normOf(image + i * product(g->input), g->input, row - g->pad[1], column - g->pad[2],
                      elementsAlong(g, 1), elementsAlong(g, 2));
  for (int64_t m = 0; m < g->outputPlanes; m++) {
    const double norm = normOf(map + m * product(g->output), g->output, row, column,
                               resultsAlong(g, 1), resultsAlong(g, 2));
    for (int64_t k = 0; k < g->inputPlanes * taps; k++)
      size[m * g->inputPlanes * taps + k] += norms[k / taps] * norm;
  }
  free(norms);
}

/* The same for a convolution without strides. */
static void addNorms(const THNNConvolution *g, const Computation *of, double *size)
{
  const int64_t pairs = g->inputPlanes * g->outputPlanes;
  const int64_t *to = of->part == THNN_CONVOLUTION_BACKWARD_DATA ? g->input : g->output;
  double *taps = calloc((size_t)pairs, sizeof(double));
  for (int64_t i = 0; of->weight && i < pairs; i++)
    taps[i] =
        normOf(of->weight + i * product(g->kernel), g->kernel, 0, 0, g->kernel[1], g->kernel[2]);
  for (int64_t sample = 0; sample < g->batch; sample++)
    for (int64_t row = 0; row < to[1]; row += resultsAlong(g, 1))
      for (int64_t column = 0; column < to[2]; column += resultsAlong(g, 2))
        if (of->part == THNN_CONVOLUTION_BACKWARD_WEIGHT)
          addNormsOfGradients(g, of, sample, row, column, size);
        else
          addNormsOfTile(g, of, taps, sample, row, column, size);
  free(taps);
}

/* ---- Slices ---------------------------------------------------------------------------------- */

/* Every nth row and column of planes, where n is the stride, from (row, column) on, which can be
 * outside. */
typedef struct Slices {
  int64_t planes, row, column;
  const int64_t *stride, *whole, *size; /* of the planes, and of the slices */
} Slices;

/* The element of the planes that element `index` of the slices is, or -1 if it is outside. */
static int64_t elementOf(const Slices *of, int64_t index)
{
  const int64_t i = index % (of->size[1] * of->size[2]),
                plane = index / (of->size[1] * of->size[2]);
  const int64_t row = of->row + i / of->size[2] * of->stride[1];
  const int64_t column = of->column + i % of->size[2] * of->stride[2];
  const bool inside = row >= 0 && row < of->whole[1] && column >= 0 && column < of->whole[2];
  return inside ? (plane * of->whole[1] + row) * of->whole[2] + column : -1;
}

static int64_t elementsOf(const Slices *of)
{
  return of->planes * of->size[1] * of->size[2];
}

static real *copySlices(const Slices *of, const real *planes)
{
  real *slices = calloc((size_t)elementsOf(of), sizeof(real));
  for (int64_t i = 0; i < elementsOf(of); i++)
    slices[i] = elementOf(of, i) < 0 ? 0 : planes[elementOf(of, i)];
  return slices;
}

static void addSlices(const Slices *of, const double *slices, double *planes)
{
  for (int64_t i = 0; i < elementsOf(of); i++)
    if (elementOf(of, i) >= 0)
      planes[elementOf(of, i)] += slices[i];
}

/* Adds the norms of the tiles of a slice of the image, which begins at (row, column) of the image with
 * its zeros: a convolution without strides, with the taps that it meets. Where the image's gradient
 * is computed, its first element that is inside of the image, or in another slice, is the first. */
static void addNormsOfSlice(const THNNConvolution *g, const Computation *of, int64_t row,
                            int64_t column, double *size)
{
  const bool backward = of->part == THNN_CONVOLUTION_BACKWARD_DATA;
  const int64_t first[] = {0, row, column};
  int64_t from[3] = {0};
  THNNConvolution slice = *g;
  for (int i = 1; i < 3; i++) {
    const int64_t stride = g->stride[i], end = g->input[i] + g->pad[i];
    from[i] = backward ? floorDivide(g->pad[i], stride) : 0;
    slice.kernel[i] = tapsOfSlice(g, i);
    slice.stride[i] = 1;
    slice.pad[i] = from[i];
    slice.input[i] = maximum(divideUp(end, stride) - from[i], 0);
  }
  const Slices image = {.planes = g->batch * g->inputPlanes,
                        .row = first[1] + from[1] * g->stride[1] - g->pad[1],
                        .column = first[2] + from[2] * g->stride[2] - g->pad[2],
                        .stride = g->stride,
                        .whole = g->input,
                        .size = slice.input};
  const Slices taps = {.planes = g->inputPlanes * g->outputPlanes,
                       .row = row,
                       .column = column,
                       .stride = g->stride,
                       .whole = g->kernel,
                       .size = slice.kernel};
  real *elements = of->image ? copySlices(&image, of->image) : NULL;
  real *weight = of->weight ? copySlices(&taps, of->weight) : NULL;
  const Computation part = {.part = of->part, .image = elements, .map = of->map, .weight = weight};
  if (of->part == THNN_CONVOLUTION_FORWARD) {
    addNorms(&slice, &part, size);
  } else {
    const Slices *results = backward ? &image : &taps;
    double *sizes = calloc((size_t)elementsOf(results), sizeof(double));
    addNorms(&slice, &part, sizes);
    addSlices(results, sizes, size);
    free(sizes);
  }
  free(elements);
  free(weight);
}

void addTileNorms(const THNNConvolution *g, const Computation *of, double *size)
{
  for (int64_t row = 0; row < g->stride[1]; row++)
    for (int64_t column = 0; column < g->stride[2]; column++)
      if (g->stride[1] * g->stride[2] > 1)
        addNormsOfSlice(g, of, row, column, size);
      else
        addNorms(g, of, size);
}
