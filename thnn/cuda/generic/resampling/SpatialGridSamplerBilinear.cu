/* The twin of generic/resampling/SpatialGridSamplerBilinear.c. Backward, points are sorted by the
 * cell that contains them, so that each input element gathers from the four cells around it. */
#include "cuda/THC/THCSort.cuh"
#include "cuda/generic/shared/windows.cuh"
#include "cuda/generic/template.h"
#include "generic/resampling/checks.h"

namespace
{

/* The place of a point: it is in the cell between four elements. (row, column) is the upper left
 * one, which can be outside the input; `right` and `down` are the point's distances from that. */
template <typename Index> struct Point {
  bool near; /* whether one of the four elements is inside the input */
  Index column, row;
  real right, down;

  /* The weight of a corner: upper left (0), upper right, lower left or lower right (3). */
  __device__ real weight(int corner) const
  {
    return (corner & 1 ? right : 1 - right) * (corner & 2 ? down : 1 - down);
  }
};

/* The sizes of a call; points and output elements are counted over the batch. */
template <typename Index> struct Sampling {
  Box<Index> input, output;
  Divisor<Index> planes;
  real halfWidth, halfHeight;
  const real *grid;

  Sampling(const int64_t *input, const int64_t *output, int64_t planes, const real *grid)
      : input(input), output(output), planes(planes), halfWidth((real)(input[2] - 1) / 2),
        halfHeight((real)(input[1] - 1) / 2), grid(grid)
  {
  }

  __device__ Point<Index> locate(Index point) const
  {
    const real x = (grid[2 * point] + 1) * halfWidth, y = (grid[2 * point + 1] + 1) * halfHeight;
    Point<Index> at = {false, 0, 0, 0, 0};
    /* NaN, and coordinates too large for an index, are outside. */
    at.near = x >= -1 && y >= -1 && x < (real)input.size[2] && y < (real)input.size[1];
    if (!at.near)
      return at;
    at.column = (Index)(x + 1) - 1;
    at.row = (Index)(y + 1) - 1;
    at.right = x - (real)at.column;
    at.down = y - (real)at.row;
    return at;
  }

  /* The element at a corner of a point's cell; 0 outside the input. */
  __device__ real corner(const real *plane, const Point<Index> &at, int corner) const
  {
    const Index column = at.column + (corner & 1), row = at.row + (corner >> 1);
    const bool inside = at.near && input.contains(2, column) && input.contains(1, row);
    return inside ? plane[row * input.size[2] + column] : real(0);
  }

  /* The number of a cell, counted over the batch. A sample has one row and one column of cells more
   * than of elements. */
  __device__ int64_t cell(Index sample, Index row, Index column) const
  {
    return ((int64_t)sample * (input.size[1] + 1) + row + 1) * (input.size[2] + 1) + column + 1;
  }
};

template <typename Index> struct Forward {
  Sampling<Index> sampling;
  const real *input;

  __device__ void operator()(int64_t i, real &output) const
  {
    const Place<Index> place = placeOf<2>((Index)i, sampling.output);
    const Index sample = quotient(place.plane, sampling.planes);
    const Point<Index> at =
        sampling.locate(sample * sampling.output.volume() + sampling.output.flat(place.at));
    const real *plane = input + place.plane * sampling.input.volume();
    real sum = 0;
    for (int corner = 0; corner < 4; corner++)
      sum += at.weight(corner) * sampling.corner(plane, at, corner);
    output = sum;
  }
};

/* A gradient for x and y. */
struct Pair {
  real x, y;
};

/* The gradient of a point's coordinates. */
template <typename Index> struct GradGrid {
  Sampling<Index> sampling;
  Divisor<Index> points; /* number of points of a sample */
  const real *input, *gradOutput;

  __device__ void operator()(int64_t i, Pair &gradient) const
  {
    const Point<Index> at = sampling.locate((Index)i);
    const Index sample = quotient((Index)i, points), count = (Index)points.value;
    const Index planes = (Index)sampling.planes.value;
    accreal x = 0, y = 0;
    for (Index plane = sample * planes; at.near && plane < (sample + 1) * planes; plane++) {
      const real *elements = input + plane * sampling.input.volume();
      const real gradient = gradOutput[plane * count + (Index)i - sample * count];
      real value[4];
      for (int corner = 0; corner < 4; corner++)
        value[corner] = sampling.corner(elements, at, corner);
      x += gradient * ((value[1] - value[0]) * (1 - at.down) + (value[3] - value[2]) * at.down);
      y += gradient * ((value[2] - value[0]) * (1 - at.right) + (value[3] - value[1]) * at.right);
    }
    gradient.x = real(x) * sampling.halfWidth;
    gradient.y = real(y) * sampling.halfHeight;
  }
};

/* key = the cell of a point; `outside` if none of its corners is inside the input. */
template <typename Index> struct CellOf {
  Sampling<Index> sampling;
  Divisor<Index> points;
  int64_t outside;

  __device__ void operator()(int64_t i, int64_t &key) const
  {
    const Point<Index> at = sampling.locate((Index)i);
    key = at.near ? sampling.cell(quotient((Index)i, points), at.row, at.column) : outside;
  }
};

/* first[cell] = the number, from 1, of the cell's first point in sorted order; cells without points
 * stay 0. */
__global__ void __launch_bounds__(THC_THREADS)
    findCells(int64_t count, THCSorted sorted, int64_t cells, int64_t *first)
{
  THC_FOR_ELEMENTS(int64_t, i, count)
  {
    const int64_t cell = sorted.keys[i];
    if (cell < cells && (i == 0 || sorted.keys[i - 1] != cell))
      first[cell] = i + 1;
  }
}

template <typename Index> struct GradInput {
  Sampling<Index> sampling;
  THCSorted sorted;
  const int64_t *first;
  const real *gradOutput;

  __device__ void operator()(int64_t i, real &gradInput) const
  {
    const Place<Index> place = placeOf<2>((Index)i, sampling.input);
    const Index sample = quotient(place.plane, sampling.planes);
    const Index points = sampling.output.volume();
    const real *plane = gradOutput + place.plane * points;
    accreal sum = 0;
    for (int corner = 0; corner < 4; corner++) {
      const int64_t cell =
          sampling.cell(sample, place.at[1] - (corner >> 1), place.at[2] - (corner & 1));
      int64_t next = first[cell] - 1;
      for (; next >= 0 && next < sorted.count && sorted.keys[next] == cell; next++) {
        const Index point = (Index)sorted.positions[next];
        sum += sampling.locate(point).weight(corner) * plane[point - sample * points];
      }
    }
    gradInput = real(sum);
  }
};

/* Calls work(sampling, Index()) with the narrowest index type that suffices. */
template <typename Work>
void chooseSampling(const THCTensor *input, const THCTensor *grid, const real *points, Work work)
{
  const int64_t from[] = {1, input->size[2], input->size[3]};
  const int64_t to[] = {1, grid->size[1], grid->size[2]};
  const int64_t planes = input->size[0] * input->size[1];
  if (THC_fitsIndex(planes * volumeOf(from)) && THC_fitsIndex(planes * volumeOf(to)) &&
      THC_fitsIndex(2 * input->size[0] * volumeOf(to)))
    work(Sampling<int>(from, to, input->size[1], points), int());
  else
    work(Sampling<int64_t>(from, to, input->size[1], points), int64_t());
}

} // namespace

void THCUNN_(SpatialGridSamplerBilinear_updateOutput)(THCState *state, THCTensor *input,
                                                      THCTensor *grid, THCTensor *output)
{
  const char *function = "SpatialGridSamplerBilinear_updateOutput";
  THNN_SpatialGridSamplerBilinear_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(grid, 3),
                                             THNN_NO_SHAPE);
  const int64_t size[] = {input->size[0], input->size[1], grid->size[1], grid->size[2]};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *at = THC_planIn(&plan, grid, 3);
  const THNNBuffer *out = THC_planOut(&plan, output, 4, 4, size);
  THC_planAcquire(&plan);
  chooseSampling(input, grid, THC_pointer<const real>(at), [&](const auto &sampling, auto index) {
    const Forward<decltype(index)> forward = {sampling, THC_pointer<const real>(in)};
    THC_apply(&plan, function, size[0] * size[1] * size[2] * size[3], forward,
              THC_pointer<real>(out));
  });
  THC_planRelease(&plan);
}

void THCUNN_(SpatialGridSamplerBilinear_updateGradInput)(THCState *state, THCTensor *input,
                                                         THCTensor *gradInput, THCTensor *grid,
                                                         THCTensor *gradGrid, THCTensor *gradOutput)
{
  const char *function = "SpatialGridSamplerBilinear_updateGradInput";
  THNN_SpatialGridSamplerBilinear_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(grid, 4),
                                             THNN_SHAPE(gradOutput, 6));
  const int64_t *size = input->size;
  const int64_t cells = size[0] * (size[2] + 1) * (size[3] + 1);
  const int64_t samplePoints = grid->size[1] * grid->size[2], points = size[0] * samplePoints;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *toInput = THC_planOutLike(&plan, gradInput, 3, input);
  const THNNBuffer *at = THC_planIn(&plan, grid, 4);
  const THNNBuffer *toGrid = THC_planOutLike(&plan, gradGrid, 5, grid);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 6);
  const THNNBuffer *toSort = THC_planScratch(&plan, THC_sortScratchBytes(points));
  const THNNBuffer *starts = THC_planScratch(&plan, cells * (int64_t)sizeof(int64_t));
  THC_planAcquire(&plan);
  chooseSampling(input, grid, THC_pointer<const real>(at), [&](const auto &sampling, auto index) {
    typedef decltype(index) Index;
    const real *gradients = THC_pointer<const real>(from);
    const Divisor<Index> divisor(samplePoints);
    const GradGrid<Index> slopes = {sampling, divisor, THC_pointer<const real>(in), gradients};
    THC_apply(&plan, function, points, slopes, THC_pointer<Pair>(toGrid));

    int64_t *first = THC_pointer<int64_t>(starts);
    THC_note(&plan.failure, "cudaMemsetAsync",
             cudaMemsetAsync(first, 0, (size_t)cells * sizeof *first, state->stream));
    THC_apply(&plan, function, points, CellOf<Index>{sampling, divisor, cells},
              THC_sortKeys(toSort));
    const THCSorted sorted = THC_sort(&plan, points, cells, toSort);
    THC_LAUNCH_ELEMENTS(&plan, findCells, points, points, sorted, cells, first);
    const GradInput<Index> gather = {sampling, sorted, first, gradients};
    THC_apply(&plan, function, size[0] * size[1] * size[2] * size[3], gather,
              THC_pointer<real>(toInput));
  });
  THC_planRelease(&plan);
}
