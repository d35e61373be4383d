/* Copies between strided tensors and dense memory, element by element. */
#include "THCPlan.h"

#include "call/strided.h"
#include "THCDivision.cuh"

enum Direction { GATHER, SCATTER };

/* The offset of element i, counted in row-major order, in a strided tensor. */
template <typename Index> struct Layout {
  int nDimension;
  THCDivisor<Index> size[THNN_FOLDED_DIMENSIONS];
  int64_t stride[THNN_FOLDED_DIMENSIONS];

  explicit Layout(const THNNFolded &folded) : nDimension(folded.nDimension)
  {
    for (int d = 0; d < nDimension; d++) {
      size[d] = THCDivisor<Index>(folded.size[d]);
      stride[d] = folded.stride[d];
    }
  }
  __device__ int64_t offset(Index i) const
  {
    int64_t offset = 0;
    for (int d = nDimension - 1; d > 0; d--) {
      const THCSplit<Index> at = THC_divide(i, size[d]);
      offset += (int64_t)at.remainder * stride[d];
      i = at.quotient;
    }
    return offset + (int64_t)i * stride[0];
  }
};

/* Copies between `strided` and `dense`. Element is any type of the elements' size. */
template <typename Element, typename Index, Direction direction>
__global__ void __launch_bounds__(THC_THREADS)
    copyStrided(Index count, Layout<Index> layout, Element *strided, Element *dense)
{
  THC_FOR_ELEMENTS(Index, i, count)
  {
    if (direction == GATHER)
      dense[i] = strided[layout.offset(i)];
    else
      strided[layout.offset(i)] = dense[i];
  }
}

/* A scatter to a view whose elements may overlap runs in a single thread, so that its result is
 * defined. */
template <typename Element, typename Index, Direction direction>
static void launchCopy(THCPlan *plan, const THNNFolded &folded, int64_t count, void *strided,
                       void *dense)
{
  const bool alone = direction == SCATTER && THNN_mayShareElements(&folded);
  const dim3 grid = alone ? dim3(1) : THC_blocksFor(plan, count);
  THC_LAUNCH(plan, (copyStrided<Element, Index, direction>), grid, alone ? 1 : THC_THREADS, 0,
             count, Layout<Index>(folded), (Element *)strided, (Element *)dense);
}

template <typename Element, Direction direction>
static void copyElements(THCPlan *plan, const THNNView *view, void *dense)
{
  const int64_t count = THNN_product(view->nDimension, view->size);
  const THNNFolded folded = THNN_fold(view);
  if (count == 0)
    return;
  if (THC_fitsIndex(count))
    launchCopy<Element, uint32_t, direction>(plan, folded, count, view->data, dense);
  else
    launchCopy<Element, uint64_t, direction>(plan, folded, count, view->data, dense);
}

void THC_gather(THCPlan *plan, const THNNView *view, size_t elementSize, void *dense)
{
  if (elementSize == sizeof(uint32_t))
    copyElements<uint32_t, GATHER>(plan, view, dense);
  else
    copyElements<uint64_t, GATHER>(plan, view, dense);
}

void THC_scatter(THCPlan *plan, const THNNView *view, size_t elementSize, const void *dense)
{
  if (elementSize == sizeof(uint32_t))
    copyElements<uint32_t, SCATTER>(plan, view, (void *)dense);
  else
    copyElements<uint64_t, SCATTER>(plan, view, (void *)dense);
}
