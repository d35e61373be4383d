#include <limits>

#include "cuda/generic/pooling/fractional.cuh"

#include "cuda/generic/pooling/maxOfRegions.cuh"
#include "geometry/fractional.h"

namespace
{

const char *const EXPECTED_SAMPLES = "numbers from 0 to 1";
const char *const EXPECTED_INDICES = "numbers of elements of an input plane, from 1";

__device__ bool isSample(real sample)
{
  return sample >= 0 && sample <= 1;
}

struct SampleCheck {
  THCIndexRange range;

  __device__ void operator()(int64_t i, const real *samples) const
  {
    if (!isSample(samples[i]))
      THC_reportIndex(0, range);
  }
};

/* Computes one output element and its index. */
template <typename Index> struct GreatestOf {
  Box<Index> image, map;
  Index pool[3];
  int nDimension;
  const real *input, *samples;
  real lowest; /* the value that an element must exceed */
  THCIndexRange range;

  /* Region `position` along one dimension: steps of (input - pool)/(output - 1), rounded down after
   * a random start; the last region ends where the input ends. */
  __device__ Range<Index> regionAt(int d, Index plane, Index position) const
  {
    const Index room = image.size[d] - pool[d], last = map.size[d] - 1;
    /* A plane's samples come in the order of the arguments, width before height. */
    const real sample = nDimension > 2 - d ? samples[plane * nDimension + 2 - d] : real(0);
    if (!isSample(sample)) {
      THC_reportIndex(0, range);
      return {room, room + pool[d]};
    }
    Index begin = room;
    if (position < last) {
      const real step = (real)room / (real)last;
      begin = (Index)(((real)position + sample) * step) - (Index)(sample * step);
    }
    if (begin > room) /* rounding can do this in long rows of floats */
      begin = room;
    return {begin, begin + pool[d]};
  }

  __device__ void operator()(int64_t i, real &output, int64_t &index) const
  {
    const Place<Index> place = placeOf<3>((Index)i, map);
    output = lowest;
    index =
        1 + greatestIn(image, input + place.plane * image.volume(),
                       regionAt(0, place.plane, place.at[0]), regionAt(1, place.plane, place.at[1]),
                       regionAt(2, place.plane, place.at[2]), &output);
  }
};

/* Decodes indices that are numbers of elements in the plane, from 1. */
template <typename Index> struct Numbers {
  Box<Index> image, map;

  __device__ Index element(const Place<Index> &, Index i, const int64_t *indices) const
  {
    const int64_t index = indices[i];
    return index >= 1 && index <= image.volume() ? (Index)index - 1 : BAD_ELEMENT;
  }
};

struct NumberCheck {
  THCIndexRange range;

  __device__ void operator()(int64_t i, const int64_t *indices) const
  {
    THC_indexIsValid(indices[i], range);
  }
};

/* Calls work(Index()) with the narrowest index type that suffices. */
template <typename Work> void chooseIndex(const THNNFractional &pooling, Work work)
{
  if (THC_fitsIndex(pooling.planes * volumeOf(pooling.input)) &&
      THC_fitsIndex(pooling.planes * volumeOf(pooling.output)))
    work(int());
  else
    work(int64_t());
}

} // namespace

void THCUNN_(fractional_updateOutput)(const THCFractionalCall *call, THCTensor *input,
                                      THCTensor *output, THCIndexTensor *indices,
                                      THCTensor *randomSamples)
{
  const THNNFractional &pooling = call->pooling;
  const int position = call->indicesPosition;
  int64_t size[5];
  const int nDimension = input->nDimension, leading = nDimension - pooling.nDimension;
  for (int i = 0; i < nDimension; i++)
    size[i] = i < leading ? input->size[i] : pooling.output[3 - nDimension + i];
  const SampleCheck check = {THC_valueDomain(call->state, call->function, EXPECTED_SAMPLES)};
  THC_checkValues<real>(call->state, call->function, randomSamples, "randomSamples", position + 1,
                        pooling.planes * pooling.nDimension, check);

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *numbers = THC_planOut(&plan, indices, position, nDimension, size);
  const THNNBuffer *samples = THC_planIn(&plan, randomSamples, position + 1);
  THC_planAcquire(&plan);
  chooseIndex(pooling, [&](auto index) {
    typedef decltype(index) Index;
    const GreatestOf<Index> greatest = {
        Box<Index>(pooling.input),
        Box<Index>(pooling.output),
        {(Index)pooling.pool[0], (Index)pooling.pool[1], (Index)pooling.pool[2]},
        pooling.nDimension,
        THC_pointer<const real>(in),
        THC_pointer<const real>(samples),
        std::numeric_limits<real>::lowest(),
        THC_valueDomain(&plan, EXPECTED_SAMPLES)};
    THC_apply(&plan, "fractional max pooling", pooling.planes * volumeOf(pooling.output), greatest,
              THC_pointer<real>(out), THC_pointer<int64_t>(numbers));
  });
  THC_planRelease(&plan);
}

void THCUNN_(fractional_updateGradInput)(const THCFractionalCall *call, THCTensor *input,
                                         THCTensor *gradOutput, THCTensor *gradInput,
                                         THCIndexTensor *indices)
{
  const THNNFractional &pooling = call->pooling;
  const int64_t inputElements = pooling.planes * volumeOf(pooling.input);
  const int64_t outputElements = pooling.planes * volumeOf(pooling.output);
  const NumberCheck check = {
      THC_indexRange(call->state, call->function, 1, volumeOf(pooling.input))};
  THC_checkValues<int64_t>(call->state, call->function, indices, "indices", call->indicesPosition,
                           outputElements, check);
  chooseIndex(pooling, [&](auto index) {
    typedef decltype(index) Index;
    THCPlan plan;
    THC_planStart(&plan, call->function, call->state);
    const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
    const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
    const THNNBuffer *numbers = THC_planIn(&plan, indices, call->indicesPosition);
    const THNNBuffer *links =
        THC_planScratch(&plan, linkBytes<Index>(inputElements, outputElements));
    THC_planAcquire(&plan);
    const Numbers<Index> names = {Box<Index>(pooling.input), Box<Index>(pooling.output)};
    addNamed<Index>(&plan, names, inputElements, outputElements,
                    THC_pointer<const int64_t>(numbers), EXPECTED_INDICES,
                    THC_pointer<const real>(from), THC_pointer<real>(to),
                    THC_pointer<Link<Index>>(links));
    THC_planRelease(&plan);
  });
}
