/* Samples planes at the points of a grid, bilinearly.
 *   input   batch x planes x inputHeight x inputWidth
 *   grid    batch x height x width x 2: x and y of a point, the input's corners being -1 and 1
 *   output  batch x planes x height x width
 * A point between four input elements gets their mean, weighted by nearness; elements outside the
 * input count as 0. */
#include "generic/resampling/checks.h"
#include "generic/template.h"
#include "geometry/pooling.h"
#include "work/sizes.h"

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

typedef struct Sizes {
  int64_t batch, planes, inputHeight, inputWidth;
  int64_t inputElements, elements; /* elements in a plane of input, of output */
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

/* The points of one sample that are processed at a time. Points at edges or outside are processed
 * one by one. */
typedef struct Stretch {
  const Sizes *sizes;
  const real *grid;
  int64_t first; /* the first point */
  Points points;
  int16_t other[THNN_POINTS];
} Stretch;

/* A point at an edge and the four elements around it, some of them outside: upper left, upper
 * right, lower left, lower right. */
typedef struct Edge {
  bool near; /* at least one may be inside */
  real right, down;
  bool inside[4];
  int64_t place[4];
} Edge;

static Edge edgeAt(const Stretch *stretch, int64_t point)
{
  const Sizes *sizes = stretch->sizes;
  const int64_t width = sizes->inputWidth, height = sizes->inputHeight;
  const real x = (stretch->grid[2 * point] + 1) * ((real)(width - 1) / 2);
  const real y = (stretch->grid[2 * point + 1] + 1) * ((real)(height - 1) / 2);
  Edge edge = {.near = false};
  /* NaN, and numbers too large for an integer, have no elements around them. */
  if (!(x >= -1 && y >= -1 && x < (real)width && y < (real)height))
    return edge;
  const int64_t column = (int64_t)(x + 1) - 1, row = (int64_t)(y + 1) - 1;
  edge.near = true;
  edge.right = x - (real)column;
  edge.down = y - (real)row;
  for (int c = 0; c < 4; c++) {
    const int64_t atX = column + (c & 1), atY = row + (c >> 1);
    edge.inside[c] = atX >= 0 && atY >= 0 && atX < width && atY < height;
    edge.place[c] = atY * width + atX;
  }
  return edge;
}

/* Scratch of a thread for the gradient of input or of grid. */
typedef union PerThread {
  Edge edge[THNN_POINTS];
  real slopes[2 * THNN_POINTS];
} PerThread;

static real weightOf(const Edge *edge, int corner)
{
  return (corner & 1 ? edge->right : 1 - edge->right) * (corner & 2 ? edge->down : 1 - edge->down);
}

static real sampleAtEdge(const Edge *edge, const real *plane)
{
  real sum = 0;
  for (int c = 0; c < 4; c++)
    if (edge->inside[c])
      sum += weightOf(edge, c) * plane[edge->place[c]];
  return sum;
}

static void spreadAtEdge(const Edge *edge, real gradient, real *plane)
{
  for (int c = 0; c < 4; c++)
    if (edge->inside[c])
      plane[edge->place[c]] += weightOf(edge, c) * gradient;
}

/* Adds what one plane contributes to the gradients of a point's coordinates. */
static void addSlopesAtEdge(const Edge *edge, real gradient, const real *plane, real *slopeX,
                            real *slopeY)
{
  const real right = edge->right, down = edge->down;
  real value[4];
  if (!edge->near)
    return;
  for (int c = 0; c < 4; c++)
    value[c] = edge->inside[c] ? plane[edge->place[c]] : 0;
  *slopeX += gradient * ((value[1] - value[0]) * (1 - down) + (value[3] - value[2]) * down);
  *slopeY += gradient * ((value[2] - value[0]) * (1 - right) + (value[3] - value[1]) * right);
}

/* The number of stretches in one sample. */
static int64_t stretchesOf(const Sizes *sizes)
{
  return divideUp(sizes->elements, THNN_POINTS);
}

static void beginStretch(const Sizes *sizes, const real *grid, int64_t sample, int64_t number,
                         Stretch *stretch)
{
  Points *points = &stretch->points;
  const int64_t first = number * THNN_POINTS, left = sizes->elements - first;
  stretch->sizes = sizes;
  stretch->grid = grid + 2 * (sample * sizes->elements + first);
  stretch->first = first;
  THNN_(simd).sampling.locate(left < THNN_POINTS ? left : THNN_POINTS, stretch->grid,
                              sizes->inputHeight, sizes->inputWidth, points);
  int64_t others = 0;
  for (int64_t i = 0; others < points->others; i++) {
    stretch->other[others] = (int16_t)i;
    others += !points->inside[i];
  }
}

static bool someAreInside(const Stretch *stretch)
{
  return stretch->points.others < stretch->points.count;
}

static void sampleOthers(const Stretch *stretch, int64_t planes, const real *input, real *output)
{
  const Sizes *sizes = stretch->sizes;
  for (int64_t i = 0; i < stretch->points.others; i++) {
    const int64_t point = stretch->other[i];
    const Edge edge = edgeAt(stretch, point);
    for (int64_t plane = 0; plane < planes; plane++)
      output[plane * sizes->elements + point] =
          sampleAtEdge(&edge, input + plane * sizes->inputElements);
  }
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
  const double operations = (double)blocks * THNN_POINTS * (double)(4 * sizes.planes + 16);
#pragma omp parallel for num_threads(THNN_threads(state, blocks, operations)) schedule(static)
  for (int64_t block = 0; block < blocks; block++) {
    Stretch stretch;
    const int64_t sample = block / stretches;
    beginStretch(&sizes, at->data, sample, block % stretches, &stretch);
    const real *from = (const real *)in->data + sample * sizes.planes * sizes.inputElements;
    real *to = (real *)out->data + sample * sizes.planes * sizes.elements + stretch.first;
    for (int64_t plane = 0; plane < sizes.planes && someAreInside(&stretch); plane++)
      THNN_(simd).sampling.sample(&stretch.points, from + plane * sizes.inputElements,
                                  sizes.inputWidth, to + plane * sizes.elements);
    sampleOthers(&stretch, sizes.planes, from, to);
  }
  THNN_planRelease(&plan);
}

static void spreadPoints(const Stretch *stretch, const Edge *edge, const real *gradOutput,
                         real *plane)
{
  const Points *points = &stretch->points;
  const int64_t width = stretch->sizes->inputWidth;
  int64_t first = 0;
  for (int64_t i = 0; i < points->others; i++) {
    const int64_t point = stretch->other[i];
    THNN_(simd).sampling.spread(points, first, point, gradOutput, width, plane);
    spreadAtEdge(&edge[i], gradOutput[point], plane);
    first = point + 1;
  }
  THNN_(simd).sampling.spread(points, first, points->count, gradOutput, width, plane);
}

enum { PLANES = 16 }; /* planes of a sample for which points are located once */

/* Computes gradInput of some planes of one sample. */
static void gradInputOf(const Sizes *sizes, const real *grid, int64_t sample, int64_t firstPlane,
                        int64_t planes, const real *gradOutput, real *gradInput, Edge *edge)
{
  const int64_t first = sample * sizes->planes + firstPlane;
  THNN_(simd).pointwise.fill(planes * sizes->inputElements, 0,
                             gradInput + first * sizes->inputElements);
  for (int64_t number = 0; number < stretchesOf(sizes); number++) {
    Stretch stretch;
    beginStretch(sizes, grid, sample, number, &stretch);
    for (int64_t i = 0; i < stretch.points.others; i++)
      edge[i] = edgeAt(&stretch, stretch.other[i]);
    for (int64_t plane = first; plane < first + planes; plane++)
      spreadPoints(&stretch, edge, gradOutput + plane * sizes->elements + stretch.first,
                   gradInput + plane * sizes->inputElements);
  }
}

/* Computes gradGrid of one stretch of a sample's points. */
static void gradGridOf(const Sizes *sizes, const real *grid, int64_t sample, int64_t number,
                       const real *input, const real *gradOutput, real *gradGrid, real *slopes)
{
  Stretch stretch;
  real *slopeX = slopes, *slopeY = slopes + THNN_POINTS;
  THNN_(simd).pointwise.fill(2 * THNN_POINTS, 0, slopes);
  beginStretch(sizes, grid, sample, number, &stretch);
  const real *in = input + sample * sizes->planes * sizes->inputElements;
  const real *gradients = gradOutput + sample * sizes->planes * sizes->elements + stretch.first;
  for (int64_t plane = 0; plane < sizes->planes && someAreInside(&stretch); plane++)
    THNN_(simd).sampling.addSlopes(&stretch.points, in + plane * sizes->inputElements,
                                   sizes->inputWidth, gradients + plane * sizes->elements, slopeX,
                                   slopeY);
  for (int64_t i = 0; i < stretch.points.others; i++) {
    const int64_t point = stretch.other[i];
    const Edge edge = edgeAt(&stretch, point);
    slopeX[point] = slopeY[point] = 0;
    for (int64_t plane = 0; plane < sizes->planes; plane++)
      addSlopesAtEdge(&edge, gradients[plane * sizes->elements + point],
                      in + plane * sizes->inputElements, slopeX + point, slopeY + point);
  }
  real *to = gradGrid + 2 * (sample * sizes->elements + stretch.first);
  for (int64_t i = 0; i < stretch.points.count; i++) {
    to[2 * i] = slopeX[i] * (real)(sizes->inputWidth - 1) / 2;
    to[2 * i + 1] = slopeY[i] * (real)(sizes->inputHeight - 1) / 2;
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
  const int64_t groups = divideUp(sizes.planes, PLANES), stretches = stretchesOf(&sizes);
  const double points = (double)sizes.batch * (double)sizes.planes * (double)sizes.elements;
  const int groupThreads = THNN_threads(state, sizes.batch * groups, 8 * points);
  const int stretchThreads = THNN_threads(state, sizes.batch * stretches, 8 * points);
  const int threads = groupThreads > stretchThreads ? groupThreads : stretchThreads;
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)threads * sizeof(PerThread));
  THNN_planAcquire(&plan);
  PerThread *own = scratch->data;

#pragma omp parallel for num_threads(groupThreads) schedule(static)
  for (int64_t block = 0; block < sizes.batch * groups; block++) {
    const int64_t firstPlane = block % groups * PLANES, left = sizes.planes - firstPlane;
    gradInputOf(&sizes, at->data, block / groups, firstPlane, left < PLANES ? left : PLANES,
                from->data, toInput->data, own[THNN_threadIndex()].edge);
  }
#pragma omp parallel for num_threads(stretchThreads) schedule(static)
  for (int64_t block = 0; block < sizes.batch * stretches; block++)
    gradGridOf(&sizes, at->data, block / stretches, block % stretches, in->data, from->data,
               toGrid->data, own[THNN_threadIndex()].slopes);
  THNN_planRelease(&plan);
}
