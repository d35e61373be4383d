#include "THCIndex.cuh"

#include <stdio.h>

namespace
{
struct InRange {
  THCIndexRange range;
  __device__ void operator()(int64_t i, const int64_t *indices) const
  {
    THC_indexIsValid(indices[i], range);
  }
};
} // namespace

void THC_checkIndices(THCState *state, const char *function, THCudaLongTensor *indices,
                      const char *name, int position, int64_t low, int64_t high)
{
  THC_checkState(state, function);
  const InRange check = {THC_indexRange(state, function, low, high)};
  THC_checkValues<int64_t>(state, function, indices, name, position,
                           THCudaLongTensor_nElement(state, indices), check);
}

void THC_rejectReported(THCState *state, const char *function, const char *name, int position)
{
  volatile THCIndexReport *report = state->indexReport;
  if (!report->raised)
    return;
  const long long found = report->found, low = report->low, high = report->high;
  const char *domain = report->domain;
  report->raised = 0;
  report->claimed = 0;
  if (domain)
    THNN_reject(function, name, position, domain, "others");
  char expected[64], number[24];
  snprintf(expected, sizeof expected, "indices from %lld to %lld", low, high);
  snprintf(number, sizeof number, "%lld", found);
  THNN_reject(function, name, position, expected, number);
}
