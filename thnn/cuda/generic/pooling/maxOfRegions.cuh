/* Max pooling over regions that are not regular windows, for adaptive and fractional pooling: the
 * greatest value of a region, and the backward pass. */
#ifndef THCUNN_MAX_OF_REGIONS_CUH
#define THCUNN_MAX_OF_REGIONS_CUH

#include "cuda/generic/pooling/indices.cuh"

namespace
{

/* The greatest element of a region, the first of equals, as its index in the plane, with *best set
 * to its value; NO_ELEMENT if none exceeds *best. */
template <typename Index>
__device__ Index greatestIn(const Box<Index> &image, const real *plane, Range<Index> z,
                            Range<Index> y, Range<Index> x, real *best)
{
  Index found = NO_ELEMENT;
  for (Index atZ = z.begin; atZ < z.end; atZ++)
    for (Index atY = y.begin; atY < y.end; atY++) {
      const Index row = (atZ * image.size[1] + atY) * image.size[2];
      for (Index atX = x.begin; atX < x.end; atX++)
        if (plane[row + atX] > *best) {
          *best = plane[row + atX];
          found = row + atX;
        }
    }
  return found;
}

/* ---- Backward ------------------------------------------------------------------------------- */

/* The output elements that name an input element form a linked list. A link is the number of an
 * output element, from 1, counted over all planes; 0 ends the list. */
template <typename Index>
using Link = std::conditional_t<sizeof(Index) == 4, unsigned, unsigned long long>;

template <typename Index> int64_t linkBytes(int64_t inputElements, int64_t outputElements)
{
  return (inputElements + outputElements) * (int64_t)sizeof(Link<Index>);
}

template <typename Index, typename Names>
__global__ void __launch_bounds__(THC_THREADS)
    linkNamed(Index count, Names names, const int64_t *indices, Link<Index> *first,
              Link<Index> *next, THCIndexRange range)
{
  THC_FOR_ELEMENTS(Index, i, count)
  {
    const Place<Index> place = placeOf<3>(i, names.map);
    const Index element = names.element(place, i, indices);
    if (element >= 0)
      next[i] =
          atomicExch(&first[place.plane * names.image.volume() + element], (Link<Index>)i + 1);
    else
      THC_reportIndex(indices[i], range);
  }
}

/* The order of a list depends on the timing of threads, so its members are added in ascending
 * order: each step searches the list for the least one beyond the last. Lists are usually short. */
template <typename Index> struct AddLinked {
  const real *gradOutput;
  const Link<Index> *next;

  __device__ void operator()(real &gradInput, const Link<Index> &first) const
  {
    accreal sum = 0;
    Link<Index> last = 0;
    while (true) {
      Link<Index> least = 0, members = 0;
      for (Link<Index> link = first; link; link = next[link - 1], members++)
        if (link > last && (!least || link < least))
          least = link;
      if (!least)
        break;
      sum += gradOutput[least - 1];
      last = least;
      if (members == 1)
        break;
    }
    gradInput = real(sum);
  }
};

/* gradInput = for each element, the sum of the gradients of the output elements that name it.
 * `links` has linkBytes bytes. */
template <typename Index, typename Names>
void addNamed(THCPlan *plan, const Names &names, int64_t inputElements, int64_t outputElements,
              const int64_t *indices, const char *expected, const real *gradOutput, real *gradInput,
              Link<Index> *links)
{
  Link<Index> *next = links + inputElements;
  const AddLinked<Index> add = {gradOutput, next};
  THC_note(&plan->failure, "cudaMemsetAsync",
           cudaMemsetAsync(links, 0, (size_t)inputElements * sizeof *links, plan->state->stream));
  THC_LAUNCH_ELEMENTS(plan, (linkNamed<Index, Names>), outputElements, outputElements, names,
                      indices, links, next, THC_valueDomain(plan, expected));
  THC_apply(plan, "max pooling backward", inputElements, add, gradInput,
            (const Link<Index> *)links);
}

} // namespace

#endif
