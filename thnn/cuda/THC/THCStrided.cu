/* Copies between strided tensors and dense memory, element by element. */
#include "THCPlan.h"

#include "../../THNNStrided.h"
#include "THCLaunch.h"

enum Direction { GATHER, SCATTER };

/* Elements of any type of their size; `dense` counts row-major. */
template <typename Element, typename Index, Direction direction>
__global__ void __launch_bounds__(THC_THREADS)
    copyStrided(Index count, THNNFolded folded, Element *strided, Element *dense)
{
  THC_FOR_ELEMENTS(Index, i, count)
  {
    int64_t offset = 0;
    Index rest = i;
    for (int d = folded.nDimension - 1; d > 0; d--) {
      const Index size = (Index)folded.size[d];
      offset += (int64_t)(rest % size) * folded.stride[d];
      rest /= size;
    }
    offset += (int64_t)rest * folded.stride[0];
    if (direction == GATHER)
      dense[i] = strided[offset];
    else
      strided[offset] = dense[i];
  }
}

/* Where elements of the result may lie at the same place, one thread keeps it defined. */
template <typename Element, typename Index, Direction direction>
static void launchCopy(THCPlan *plan, const THNNFolded &folded, int64_t count, void *strided,
                       void *dense)
{
  const bool alone = direction == SCATTER && THNN_mayShareElements(&folded);
  const dim3 grid = alone ? dim3(1) : THC_blocksFor(plan, count);
  THC_LAUNCH(plan, (copyStrided<Element, Index, direction>), grid, alone ? 1 : THC_THREADS, 0,
             count, folded, (Element *)strided, (Element *)dense);
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
