/* Index values (class targets, lookup and pooling indices) are checked by the kernel that uses
 * them: a bad one is never followed, and leaves a report for the next call. */
#ifndef THC_INDEX_CUH
#define THC_INDEX_CUH

#include "THCLaunch.h"

/* The range of a call's valid indices, both ends included; an argument of kernels. */
struct THCIndexRange {
  int64_t low, high;
  const char *function; /* a host address, which the device only copies */
  const char *domain;   /* likewise: the valid values in words; NULL: low to high */
  THCIndexReport *report;
};

static inline THCIndexRange THC_indexRange(const THCState *state, const char *function, int64_t low,
                                           int64_t high)
{
  THCIndexRange range = {low, high, function, nullptr, state ? state->deviceIndexReport : nullptr};
  return range;
}

static inline THCIndexRange THC_indexRange(const THCPlan *plan, int64_t low, int64_t high)
{
  return THC_indexRange(plan->state, plan->plan.function, low, high);
}

/* A range for values that two bounds cannot describe: `domain`, a string literal, says what is
 * valid. */
static inline THCIndexRange THC_valueDomain(const THCState *state, const char *function,
                                            const char *domain)
{
  THCIndexRange range = {0, 0, function, domain, state ? state->deviceIndexReport : nullptr};
  return range;
}

static inline THCIndexRange THC_valueDomain(const THCPlan *plan, const char *domain)
{
  return THC_valueDomain(plan->state, plan->plan.function, domain);
}

/* Writes a report, unless there already is one. */
static __device__ inline void THC_reportIndex(int64_t index, const THCIndexRange &range)
{
  if (atomicCAS(&range.report->claimed, 0, 1) != 0)
    return;
  range.report->found = index;
  range.report->low = range.low;
  range.report->high = range.high;
  range.report->function = range.function;
  range.report->domain = range.domain;
  __threadfence_system();
  *(volatile int *)&range.report->raised = 1;
}

/* Whether the index is in range; if not, the first such index is reported. */
static __device__ inline bool THC_indexIsValid(int64_t index, const THCIndexRange &range)
{
  if (index >= range.low && index <= range.high)
    return true;
  THC_reportIndex(index, range);
  return false;
}

/* If the state's checkIndices is set: checks all indices of a tensor argument, waits for the
 * stream, and raises before anything is changed. */
void THC_checkIndices(THCState *state, const char *function, THCudaLongTensor *indices,
                      const char *name, int position, int64_t low, int64_t high);

/* Calls check(i, values), which reports a bad value, for the first `count` elements of a tensor
 * argument in dense memory. */
template <typename Check, typename T>
__global__ void __launch_bounds__(THC_THREADS)
    THC_checkKernel(int64_t count, const T *values, Check check)
{
  THC_FOR_ELEMENTS(int64_t, i, count) check(i, values);
}

/* Raises an error if a check before the work has left a report. */
void THC_rejectReported(THCState *state, const char *function, const char *name, int position);

/* If the state's checkIndices is set: runs a check on the first `count` elements of a tensor
 * argument, waits for the stream, and raises before anything is changed. */
template <typename T, typename Tensor, typename Check>
void THC_checkValues(THCState *state, const char *function, Tensor *tensor, const char *name,
                     int position, int64_t count, const Check &check)
{
  THCPlan plan;
  THC_planStart(&plan, function, state);
  if (!state->checkIndices)
    return;
  const THNNBuffer *values = THC_planTensor(&plan, THNN_ROLE_IN, tensor, name, position);
  THC_planAcquire(&plan);
  THC_LAUNCH_ELEMENTS(&plan, (THC_checkKernel<Check, T>), count, count,
                      THC_pointer<const T>(values), check);
  THC_note(&plan.failure, "cudaStreamSynchronize", cudaStreamSynchronize(state->stream));
  THC_planRelease(&plan);
  THC_rejectReported(state, function, name, position);
}

#endif
