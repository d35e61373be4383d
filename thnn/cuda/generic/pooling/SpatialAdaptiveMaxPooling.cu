/* The twin of generic/pooling/SpatialAdaptiveMaxPooling.c. */
#include <float.h>

#include "cuda/generic/pooling/adaptiveRegions.cuh"
#include "generic/pooling/checks.h"
#include "geometry/adaptive.h"

namespace
{

const char *const EXPECTED = "rows and columns, from 1, inside the input plane";

/* Computes one output element and the row and column of its input element. */
template <typename Index> struct Greatest {
  Box<Index> image, map;
  MaxRegions<Index> rows, columns;
  const real *input;

  __device__ void operator()(int64_t i, real &output, int64_t &row, int64_t &column) const
  {
    const Place<Index> place = placeOf<2>((Index)i, map);
    const Range<Index> y = rows.at(place.at[1]), x = columns.at(place.at[2]);
    output = -FLT_MAX;
    const Index element =
        greatestIn(image, input + place.plane * image.volume(), Range<Index>{0, 1}, y, x, &output);
    const Index atY = element < 0 ? 0 : quotient(element, image.divisor[2]);
    row = element < 0 ? 0 : atY - y.begin + 1;
    column = element < 0 ? 0 : element - atY * image.size[2] - x.begin + 1;
  }
};

/* Decodes indices that are a row and a column, from 1 at the beginning of the region. */
template <typename Index> struct RowsAndColumns {
  Box<Index> image, map;
  MaxRegions<Index> rows, columns;
  int64_t count; /* elements from a row to its column in the index tensor */

  __device__ bool isRow(const Place<Index> &place, int64_t row) const
  {
    return row >= 1 && row <= rows.input - rows.begin(place.at[1]);
  }
  __device__ bool isColumn(const Place<Index> &place, int64_t column) const
  {
    return column >= 1 && column <= columns.input - columns.begin(place.at[2]);
  }
  __device__ Index element(const Place<Index> &place, Index i, const int64_t *indices) const
  {
    const int64_t row = indices[i], column = indices[i + count];
    if (!isRow(place, row) || !isColumn(place, column))
      return BAD_ELEMENT;
    return (rows.begin(place.at[1]) + (Index)row - 1) * image.size[2] + columns.begin(place.at[2]) +
           (Index)column - 1;
  }
};

/* Reports bad rows and columns in a tensor that has all rows first, then all columns. */
template <typename Index> struct RowsAndColumnsCheck {
  RowsAndColumns<Index> names;
  THCIndexRange range;

  __device__ void operator()(int64_t i, const int64_t *indices) const
  {
    const int64_t index = indices[i];
    const bool isRow = i < names.count;
    const Place<Index> place = placeOf<2>((Index)(isRow ? i : i - names.count), names.map);
    if (!(isRow ? names.isRow(place, index) : names.isColumn(place, index)))
      THC_reportIndex(index, range);
  }
};

} // namespace

void THCUNN_(SpatialAdaptiveMaxPooling_updateOutput)(THCState *state, THCTensor *input,
                                                     THCTensor *output, THCIndexTensor *indices,
                                                     int nOutputCols, int nOutputRows)
{
  const char *function = "SpatialAdaptiveMaxPooling_updateOutput";
  const THNNAdaptivePooling pooling = THNN_SpatialAdaptiveMaxPooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE, 5, nOutputCols, nOutputRows);
  int64_t size[5] = {2};
  const int nDimension = outputSize(pooling, input, size + 1);
  const int64_t count = mapElements(pooling);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, nDimension, size + 1);
  const THNNBuffer *names = THC_planOut(&plan, indices, 4, nDimension + 1, size);
  THC_planAcquire(&plan);
  chooseIndex(pooling, [&](auto index) {
    typedef decltype(index) Index;
    const Greatest<Index> greatest = {imageOf<Index>(pooling),
                                      mapOf<Index>(pooling),
                                      {(Index)pooling.inputHeight, (Index)pooling.outputHeight},
                                      {(Index)pooling.inputWidth, (Index)pooling.outputWidth},
                                      THC_pointer<const real>(in)};
    int64_t *rows = THC_pointer<int64_t>(names);
    THC_apply(&plan, "adaptive max pooling", count, greatest, THC_pointer<real>(out), rows,
              rows + count);
  });
  THC_planRelease(&plan);
}

void THCUNN_(SpatialAdaptiveMaxPooling_updateGradInput)(THCState *state, THCTensor *input,
                                                        THCTensor *gradOutput, THCTensor *gradInput,
                                                        THCIndexTensor *indices)
{
  const char *function = "SpatialAdaptiveMaxPooling_updateGradInput";
  const THNNAdaptivePooling pooling = THNN_SpatialAdaptiveMaxPooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 0, 0, 0);
  const int64_t count = mapElements(pooling);
  chooseIndex(pooling, [&](auto index) {
    typedef decltype(index) Index;
    const RowsAndColumns<Index> names = {imageOf<Index>(pooling),
                                         mapOf<Index>(pooling),
                                         {(Index)pooling.inputHeight, (Index)pooling.outputHeight},
                                         {(Index)pooling.inputWidth, (Index)pooling.outputWidth},
                                         count};
    const RowsAndColumnsCheck<Index> check = {names, THC_valueDomain(state, function, EXPECTED)};
    THC_checkValues<int64_t>(state, function, indices, "indices", 5, 2 * count, check);

    THCPlan plan;
    THC_planStart(&plan, function, state);
    const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
    const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
    const THNNBuffer *numbers = THC_planIn(&plan, indices, 5);
    const THNNBuffer *links =
        THC_planScratch(&plan, linkBytes<Index>(imageElements(pooling), count));
    THC_planAcquire(&plan);
    addNamed<Index>(&plan, names, imageElements(pooling), count,
                    THC_pointer<const int64_t>(numbers), EXPECTED, THC_pointer<const real>(from),
                    THC_pointer<real>(to), THC_pointer<Link<Index>>(links));
    THC_planRelease(&plan);
  });
}
