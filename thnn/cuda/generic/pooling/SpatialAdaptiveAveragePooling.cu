/* The twin of generic/pooling/SpatialAdaptiveAveragePooling.c. */
#include "cuda/generic/pooling/adaptiveRegions.cuh"
#include "generic/pooling/checks.h"
#include "geometry/adaptive.h"

namespace
{

template <typename Index> struct Forward {
  Box<Index> image, map;
  Regions<Index> rows, columns;
  const real *input;

  __device__ void operator()(int64_t i, real &output) const
  {
    const Place<Index> place = placeOf<2>((Index)i, map);
    const Range<Index> y = rows.at(place.at[1]), x = columns.at(place.at[2]);
    const real *plane = input + place.plane * image.volume();
    accreal sum = 0;
    for (Index atY = y.begin; atY < y.end; atY++)
      for (Index atX = x.begin; atX < x.end; atX++)
        sum += plane[atY * image.size[2] + atX];
    output = real(sum / accreal((y.end - y.begin) * (x.end - x.begin)));
  }
};

template <typename Index> struct Backward {
  Box<Index> image, map;
  Regions<Index> rows, columns;
  const real *gradOutput;

  __device__ void operator()(int64_t i, real &gradInput) const
  {
    const Place<Index> place = placeOf<2>((Index)i, image);
    const Range<Index> overY = rows.over(place.at[1]), overX = columns.over(place.at[2]);
    const real *plane = gradOutput + place.plane * map.volume();
    accreal sum = 0;
    for (Index atY = overY.begin; atY < overY.end; atY++)
      for (Index atX = overX.begin; atX < overX.end; atX++) {
        const Range<Index> y = rows.at(atY), x = columns.at(atX);
        sum += plane[atY * map.size[2] + atX] / accreal((y.end - y.begin) * (x.end - x.begin));
      }
    gradInput = real(sum);
  }
};

template <typename Index> Regions<Index> rowsOf(const THNNAdaptivePooling &pooling)
{
  return Regions<Index>(pooling.inputHeight, pooling.outputHeight);
}

template <typename Index> Regions<Index> columnsOf(const THNNAdaptivePooling &pooling)
{
  return Regions<Index>(pooling.inputWidth, pooling.outputWidth);
}

} // namespace

void THCUNN_(SpatialAdaptiveAveragePooling_updateOutput)(THCState *state, THCTensor *input,
                                                         THCTensor *output, int nOutputCols,
                                                         int nOutputRows)
{
  const char *function = "SpatialAdaptiveAveragePooling_updateOutput";
  const THNNAdaptivePooling pooling = THNN_SpatialAdaptiveAveragePooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, 4, nOutputCols, nOutputRows);
  int64_t size[4];
  const int nDimension = outputSize(pooling, input, size);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, nDimension, size);
  THC_planAcquire(&plan);
  chooseIndex(pooling, [&](auto index) {
    typedef decltype(index) Index;
    const Forward<Index> forward = {imageOf<Index>(pooling), mapOf<Index>(pooling),
                                    rowsOf<Index>(pooling), columnsOf<Index>(pooling),
                                    THC_pointer<const real>(in)};
    THC_apply(&plan, "adaptive average pooling", mapElements(pooling), forward,
              THC_pointer<real>(out));
  });
  THC_planRelease(&plan);
}

void THCUNN_(SpatialAdaptiveAveragePooling_updateGradInput)(THCState *state, THCTensor *input,
                                                            THCTensor *gradOutput,
                                                            THCTensor *gradInput)
{
  const char *function = "SpatialAdaptiveAveragePooling_updateGradInput";
  const THNNAdaptivePooling pooling = THNN_SpatialAdaptiveAveragePooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), 0, 0, 0);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  THC_planAcquire(&plan);
  chooseIndex(pooling, [&](auto index) {
    typedef decltype(index) Index;
    const Backward<Index> backward = {imageOf<Index>(pooling), mapOf<Index>(pooling),
                                      rowsOf<Index>(pooling), columnsOf<Index>(pooling),
                                      THC_pointer<const real>(from)};
    THC_apply(&plan, "adaptive average pooling backward", imageElements(pooling), backward,
              THC_pointer<real>(to));
  });
  THC_planRelease(&plan);
}
