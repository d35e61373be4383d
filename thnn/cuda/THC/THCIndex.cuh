/* Index values (class targets, lookup and pooling indices) are checked by the kernel that uses
 * them: a bad one is never followed, and leaves a report for the next call. */
#ifndef THC_INDEX_CUH
#define THC_INDEX_CUH

#include "THCLaunch.h"

/* The range that indices of a call must lie in, both ends included; a kernel's argument. */
struct THCIndexRange {
  int64_t low, high;
  const char *function; /* never followed on the device */
  THCIndexReport *report;
};

static inline THCIndexRange THC_indexRange(const THCPlan *plan, int64_t low, int64_t high)
{
  THCIndexRange range = {low, high, plan->plan.function, plan->state->deviceIndexReport};
  return range;
}

/* Whether the index is in range; if not, the first such index is reported. */
static __device__ inline bool THC_indexIsValid(int64_t index, const THCIndexRange &range)
{
  if (index >= range.low && index <= range.high)
    return true;
  if (atomicCAS(&range.report->claimed, 0, 1) == 0) {
    range.report->found = index;
    range.report->low = range.low;
    range.report->high = range.high;
    range.report->function = range.function;
    __threadfence_system();
    *(volatile int *)&range.report->raised = 1;
  }
  return false;
}

/* With the state's checkIndices: looks at all indices of a tensor argument and raises before
 * anything is changed. Waits for the stream. */
void THC_checkIndices(THCState *state, const char *function, THCudaLongTensor *indices,
                      const char *name, int position, int64_t low, int64_t high);

#endif
