/* Element-by-element work on dense memory. */
#ifndef THC_APPLY_CUH
#define THC_APPLY_CUH

#include "THCLaunch.h"

template <typename Function, typename... Element>
__global__ void __launch_bounds__(THC_THREADS)
    THC_applyKernel(int64_t count, Function function, Element *...elements)
{
  THC_FOR_ELEMENTS(int64_t, i, count) function(elements[i]...);
}

/* function(elements[i]...) for all i: a struct with a __device__ operator() const that takes
 * references. `name` stands for the kernel in error messages. */
template <typename Function, typename... Element>
void THC_apply(THCPlan *plan, const char *name, int64_t count, Function function,
               Element *...elements)
{
  if (count > 0)
    THC_launch(plan, name, THC_applyKernel<Function, Element...>, THC_blocksFor(plan, count),
               THC_THREADS, 0, count, function, elements...);
}

#endif
