/* Samples planes at the points of a grid, bilinearly.
 *   input   batch x planes x inputHeight x inputWidth
 *   grid    batch x height x width x 2: x and y of a point, the input's corners being -1 and 1
 *   output  batch x planes x height x width
 * A point between four input elements gets their mean, weighted by nearness; elements outside the
 * input count as 0. */
#include "template.h"
#include "../THNNPooling.h"

#ifdef THNN_ONCE
void THNN_SpatialGridSamplerBilinear_shapeCheck(const char *function, THNNShape input,
                                                THNNShape grid, THNNShape gradOutput)
{
  THNN_checkDimensions(function, input, 4, 4, "batch x planes x inputHeight x inputWidth");
  THNN_elements(function, input);
  THNN_checkPlaces(function, input, 2);
  THNN_checkDimensions(function, grid, 4, 4, "batch x height x width x 2");
  THNN_elements(function, grid);
  THNN_checkSize(function, grid, 0, input.size[0], "the batch size of input");
  THNN_checkSize(function, grid, 3, 2, "x and y");
  const int64_t output[] = {input.size[0], input.size[1], grid.size[1], grid.size[2]};
  THNN_elements(function, THNN_makeShape("output", 4, 4, output));
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkSizes(function, gradOutput, 4, output, "batch x planes x height x width");
}
#endif

typedef THNN_(Place) Place;

typedef struct Sizes {
  int64_t batch, planes, inputHeight, inputWidth;
  int64_t inputElements, elements; /* of a plane of the input and of the output */
} Sizes;

static Sizes sizesOf(const THTensor *input, const THTensor *grid)
{
  return (Sizes){input->size[0],
                 input->size[1],
                 input->size[2],
                 input->size[3],
                 input->size[2] * input->size[3],
                 grid->size[1] * grid->size[2]};
}

enum { POINTS = 256 }; /* that are worked on at a time */

/* A stretch of the points of one sample, and where they lie: element `place` is the upper left one
 * of the four around a point, `right` and `down` the point's distance from it. */
typedef struct Points {
  int64_t first, count;
  Place place[POINTS];
  real right[POINTS], down[POINTS];
  bool inside[POINTS];  /* all four lie in the input */
  bool outside[POINTS]; /* none does */
  Place column[POINTS], row[POINTS];
} Points;

static void locate(const Sizes *sizes, const real *grid, Points *points)
{
  const real halfWidth = (real)(sizes->inputWidth - 1) / 2;
  const real halfHeight = (real)(sizes->inputHeight - 1) / 2;
  const real *at = grid + 2 * points->first;
  for (int64_t i = 0; i < points->count; i++) {
    const real x = (at[2 * i] + 1) * halfWidth, y = (at[2 * i + 1] + 1) * halfHeight;
    /* NaN, and what no integer could hold, is outside. */
    const bool near =
        x > -1 && y > -1 && x < (real)sizes->inputWidth && y < (real)sizes->inputHeight;
    const Place column = near ? (Place)(x + 1) - 1 : 0, row = near ? (Place)(y + 1) - 1 : 0;
    points->column[i] = column;
    points->row[i] = row;
    points->place[i] = (Place)(row * sizes->inputWidth + column);
    points->right[i] = x - (real)column;
    points->down[i] = y - (real)row;
    points->outside[i] = !near;
    points->inside[i] = near && column >= 0 && row >= 0 && column < sizes->inputWidth - 1 &&
                        row < sizes->inputHeight - 1;
  }
}

/* The four elements around point i that lie inside: which of upper left, upper right, lower left,
 * lower right, and how far from the first. */
typedef struct Corner {
  bool inside;
  Place offset;
  real weight;
} Corner;

static void cornersOf(const Sizes *sizes, const Points *points, int64_t i, Corner corner[4])
{
  for (int c = 0; c < 4; c++) {
    const Place column = points->column[i] + (c & 1), row = points->row[i] + (c >> 1);
    corner[c].inside = !points->outside[i] && column >= 0 && row >= 0 &&
                       column < sizes->inputWidth && row < sizes->inputHeight;
    corner[c].offset = (Place)(row * sizes->inputWidth + column);
    corner[c].weight = (c & 1 ? points->right[i] : 1 - points->right[i]) *
                       (c & 2 ? points->down[i] : 1 - points->down[i]);
  }
}

static real sampleAtEdge(const Sizes *sizes, const Points *points, int64_t i, const real *plane)
{
  Corner corner[4];
  real sum = 0;
  cornersOf(sizes, points, i, corner);
  for (int c = 0; c < 4; c++)
    if (corner[c].inside)
      sum += corner[c].weight * plane[corner[c].offset];
  return sum;
}

/* The points of a stretch in the order in which all planes sample them: those inside, with the
 * weights of the four elements around each, then the others. */
typedef struct Samples {
  int64_t inside;
  Place number[POINTS], place[POINTS];
  real weights[4 * POINTS];
} Samples;

static void weigh(const Points *points, Samples *samples)
{
  int64_t inside = 0, others = points->count;
  for (int64_t i = 0; i < points->count; i++) {
    if (!points->inside[i]) {
      samples->number[--others] = (Place)i;
      continue;
    }
    const real right = points->right[i], down = points->down[i];
    real *weights = samples->weights + 4 * inside;
    weights[0] = (1 - right) * (1 - down);
    weights[1] = right * (1 - down);
    weights[2] = (1 - right) * down;
    weights[3] = right * down;
    samples->place[inside] = points->place[i];
    samples->number[inside++] = (Place)i;
  }
  samples->inside = inside;
}

static void samplePlane(const Sizes *sizes, const Points *points, const Samples *samples,
                        const real *plane, real *output)
{
  THNN_(simd).pooling.sumOfCorners(samples->inside, samples->place, samples->number,
                                   samples->weights, plane, sizes->inputWidth, output);
  for (int64_t i = samples->inside; i < points->count; i++) {
    const Place number = samples->number[i];
    output[number] = sampleAtEdge(sizes, points, number, plane);
  }
}

/* Stretches of the points of one sample. */
static int64_t stretchesOf(const Sizes *sizes)
{
  return (sizes->elements + POINTS - 1) / POINTS;
}

static void beginStretch(const Sizes *sizes, const real *grid, int64_t sample, int64_t stretch,
                         Points *points)
{
  points->first = stretch * POINTS;
  const int64_t left = sizes->elements - points->first;
  points->count = left < POINTS ? left : POINTS;
  locate(sizes, grid + sample * 2 * sizes->elements, points);
}

void THNN_(SpatialGridSamplerBilinear_updateOutput)(THNNState *state, THTensor *input,
                                                    THTensor *grid, THTensor *output)
{
  const char *function = "SpatialGridSamplerBilinear_updateOutput";
  THNN_SpatialGridSamplerBilinear_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(grid, 3),
                                             THNN_NO_SHAPE);
  const Sizes sizes = sizesOf(input, grid);
  const int64_t size[] = {sizes.batch, sizes.planes, grid->size[1], grid->size[2]};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *at = THNN_planIn(&plan, grid, 3);
  const THNNBuffer *out = THNN_planOut(&plan, output, 4, 4, size);
  THNN_planAcquire(&plan);

  const int64_t stretches = stretchesOf(&sizes), blocks = sizes.batch * stretches;
  const double operations = (double)blocks * POINTS * (double)(4 * sizes.planes + 16);
#pragma omp parallel for num_threads(THNN_threads(state, blocks, operations)) schedule(static)
  for (int64_t block = 0; block < blocks; block++) {
    Points points;
    Samples samples;
    const int64_t sample = block / stretches;
    beginStretch(&sizes, at->data, sample, block % stretches, &points);
    weigh(&points, &samples);
    for (int64_t plane = sample * sizes.planes; plane < (sample + 1) * sizes.planes; plane++)
      samplePlane(&sizes, &points, &samples, (const real *)in->data + plane * sizes.inputElements,
                  (real *)out->data + plane * sizes.elements + points.first);
  }
  THNN_planRelease(&plan);
}

static void spreadPoints(const Sizes *sizes, const Points *points, const real *gradOutput,
                         real *plane)
{
  const int64_t width = sizes->inputWidth;
  for (int64_t i = 0; i < points->count; i++) {
    if (!points->inside[i]) {
      Corner corner[4];
      cornersOf(sizes, points, i, corner);
      for (int c = 0; c < 4; c++)
        if (corner[c].inside)
          plane[corner[c].offset] += corner[c].weight * gradOutput[i];
      continue;
    }
    real *above = plane + points->place[i], *below = above + width;
    const real lower = gradOutput[i] * points->down[i], upper = gradOutput[i] - lower;
    const real right = points->right[i];
    above[0] += upper * (1 - right);
    above[1] += upper * right;
    below[0] += lower * (1 - right);
    below[1] += lower * right;
  }
}

/* Adds what one plane contributes to the gradients of the points' coordinates, which are measured
 * in input elements here. */
static void addSlopes(const Sizes *sizes, const Points *points, const real *plane,
                      const real *gradOutput, real *gradX, real *gradY)
{
  const int64_t width = sizes->inputWidth;
  for (int64_t i = 0; i < points->count; i++) {
    real value[4] = {0, 0, 0, 0};
    if (points->inside[i]) {
      const real *above = plane + points->place[i], *below = above + width;
      value[0] = above[0];
      value[1] = above[1];
      value[2] = below[0];
      value[3] = below[1];
    } else {
      Corner corner[4];
      cornersOf(sizes, points, i, corner);
      for (int c = 0; c < 4; c++)
        value[c] = corner[c].inside ? plane[corner[c].offset] : 0;
    }
    const real right = points->right[i], down = points->down[i];
    if (points->outside[i])
      continue;
    gradX[i] += gradOutput[i] * ((value[1] - value[0]) * (1 - down) + (value[3] - value[2]) * down);
    gradY[i] +=
        gradOutput[i] * ((value[2] - value[0]) * (1 - right) + (value[3] - value[1]) * right);
  }
}

enum { PLANES = 16 }; /* of one sample that share the work of locating the points */

/* gradInput of some planes of one sample. */
static void gradInputOf(const Sizes *sizes, const real *grid, int64_t sample, int64_t firstPlane,
                        int64_t planes, const real *gradOutput, real *gradInput)
{
  const int64_t first = sample * sizes->planes + firstPlane;
  THNN_(simd).pointwise.fill(planes * sizes->inputElements, 0,
                             gradInput + first * sizes->inputElements);
  for (int64_t stretch = 0; stretch < stretchesOf(sizes); stretch++) {
    Points points;
    beginStretch(sizes, grid, sample, stretch, &points);
    for (int64_t plane = first; plane < first + planes; plane++)
      spreadPoints(sizes, &points, gradOutput + plane * sizes->elements + points.first,
                   gradInput + plane * sizes->inputElements);
  }
}

/* gradGrid of a stretch of one sample's points. */
static void gradGridOf(const Sizes *sizes, const real *grid, int64_t sample, int64_t stretch,
                       const real *input, const real *gradOutput, real *gradGrid)
{
  Points points;
  real gradX[POINTS] = {0}, gradY[POINTS] = {0};
  beginStretch(sizes, grid, sample, stretch, &points);
  for (int64_t plane = sample * sizes->planes; plane < (sample + 1) * sizes->planes; plane++)
    addSlopes(sizes, &points, input + plane * sizes->inputElements,
              gradOutput + plane * sizes->elements + points.first, gradX, gradY);
  real *to = gradGrid + 2 * (sample * sizes->elements + points.first);
  for (int64_t i = 0; i < points.count; i++) {
    to[2 * i] = gradX[i] * (real)(sizes->inputWidth - 1) / 2;
    to[2 * i + 1] = gradY[i] * (real)(sizes->inputHeight - 1) / 2;
  }
}

void THNN_(SpatialGridSamplerBilinear_updateGradInput)(THNNState *state, THTensor *input,
                                                       THTensor *gradInput, THTensor *grid,
                                                       THTensor *gradGrid, THTensor *gradOutput)
{
  const char *function = "SpatialGridSamplerBilinear_updateGradInput";
  THNN_SpatialGridSamplerBilinear_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(grid, 4),
                                             THNN_SHAPE(gradOutput, 6));
  const Sizes sizes = sizesOf(input, grid);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *toInput = THNN_planOutLike(&plan, gradInput, 3, input);
  const THNNBuffer *at = THNN_planIn(&plan, grid, 4);
  const THNNBuffer *toGrid = THNN_planOutLike(&plan, gradGrid, 5, grid);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 6);
  THNN_planAcquire(&plan);

  const int64_t groups = (sizes.planes + PLANES - 1) / PLANES, stretches = stretchesOf(&sizes);
  const double points = (double)sizes.batch * (double)sizes.planes * (double)sizes.elements;
  const int groupThreads = THNN_threads(state, sizes.batch * groups, 8 * points);
#pragma omp parallel for num_threads(groupThreads) schedule(static)
  for (int64_t block = 0; block < sizes.batch * groups; block++) {
    const int64_t firstPlane = block % groups * PLANES, left = sizes.planes - firstPlane;
    gradInputOf(&sizes, at->data, block / groups, firstPlane, left < PLANES ? left : PLANES,
                from->data, toInput->data);
  }
  const int stretchThreads = THNN_threads(state, sizes.batch * stretches, 8 * points);
#pragma omp parallel for num_threads(stretchThreads) schedule(static)
  for (int64_t block = 0; block < sizes.batch * stretches; block++)
    gradGridOf(&sizes, at->data, block / stretches, block % stretches, in->data, from->data,
               toGrid->data);
  THNN_planRelease(&plan);
}
