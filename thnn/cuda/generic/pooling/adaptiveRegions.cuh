/* The regions of adaptive pooling along one dimension: those of geometry/adaptive.h on the
 * device. */
#ifndef THCUNN_ADAPTIVE_REGIONS_CUH
#define THCUNN_ADAPTIVE_REGIONS_CUH

#include "cuda/generic/pooling/maxOfRegions.cuh"
#include "geometry/adaptive.h"

namespace
{

/* `input` indices divided among `output` regions; a 32-bit index holds (output + 1) * input. */
template <typename Index> struct Regions {
  Index input, output;
  Divisor<Index> byInput, byOutput;

  Regions(int64_t input, int64_t output)
      : input((Index)input), output((Index)output), byInput(input), byOutput(output)
  {
  }
  __device__ Range<Index> at(Index position) const
  {
    return {quotient(position * input, byOutput),
            quotient((position + 1) * input + output - 1, byOutput)};
  }
  /* The range of regions that contain an input index. */
  __device__ Range<Index> over(Index index) const
  {
    return {quotient(index * output, byInput), quotient((index + 1) * output + input - 1, byInput)};
  }
};

/* The regions of max pooling, which are computed in single precision. */
template <typename Index> struct MaxRegions {
  Index input, output;

  __device__ Index begin(Index position) const
  {
    const Index begin = (Index)((float)position / (float)output * (float)input);
    return begin < input ? begin : input - 1;
  }
  __device__ Range<Index> at(Index position) const
  {
    Range<Index> region = {begin(position),
                           (Index)ceilf((float)(position + 1) / (float)output * (float)input)};
    /* Corrects rounding, where a float no longer tells neighbouring indices apart. */
    region.end = region.end < input ? region.end : input;
    region.end = region.end > region.begin ? region.end : region.begin + 1;
    return region;
  }
};

/* Calls work(Index()) with the narrowest index type that suffices. */
template <typename Work> void chooseIndex(const THNNAdaptivePooling &pooling, Work work)
{
  const int64_t inputHeight = pooling.inputHeight, inputWidth = pooling.inputWidth;
  const int64_t outputHeight = pooling.outputHeight, outputWidth = pooling.outputWidth;
  if (THC_fitsIndex(pooling.planes * inputHeight * inputWidth) &&
      THC_fitsIndex(pooling.planes * outputHeight * outputWidth) &&
      THC_fitsIndex((inputHeight + 1) * (outputHeight + 1)) &&
      THC_fitsIndex((inputWidth + 1) * (outputWidth + 1)))
    work(int());
  else
    work(int64_t());
}

/* The sizes of an input plane; mapOf gives those of an output plane. */
template <typename Index> Box<Index> imageOf(const THNNAdaptivePooling &pooling)
{
  const int64_t size[] = {1, pooling.inputHeight, pooling.inputWidth};
  return Box<Index>(size);
}

template <typename Index> Box<Index> mapOf(const THNNAdaptivePooling &pooling)
{
  const int64_t size[] = {1, pooling.outputHeight, pooling.outputWidth};
  return Box<Index>(size);
}

inline int64_t imageElements(const THNNAdaptivePooling &pooling)
{
  return pooling.planes * pooling.inputHeight * pooling.inputWidth;
}

inline int64_t mapElements(const THNNAdaptivePooling &pooling)
{
  return pooling.planes * pooling.outputHeight * pooling.outputWidth;
}

/* Sets the output's sizes, the input's except for the last two; returns the number of
 * dimensions. */
inline int outputSize(const THNNAdaptivePooling &pooling, const THCTensor *input, int64_t *size)
{
  const int last = input->nDimension - 1;
  for (int i = 0; i < last - 1; i++)
    size[i] = input->size[i];
  size[last - 1] = pooling.outputHeight;
  size[last] = pooling.outputWidth;
  return input->nDimension;
}

} // namespace

#endif
