#include "THCIndex.cuh"

static __global__ void __launch_bounds__(THC_THREADS)
    findBadIndex(int64_t count, const int64_t *indices, THCIndexRange range)
{
  THC_FOR_ELEMENTS(int64_t, i, count) THC_indexIsValid(indices[i], range);
}

void THC_checkIndices(THCState *state, const char *function, THCudaLongTensor *indices,
                      const char *name, int position, int64_t low, int64_t high)
{
  THCPlan plan;
  THC_planStart(&plan, function, state);
  if (!state->checkIndices)
    return;
  const THNNBuffer *values = THC_planTensor(&plan, THNN_ROLE_IN, indices, name, position);
  THC_planAcquire(&plan);
  const int64_t count = THCudaLongTensor_nElement(state, indices);
  THC_LAUNCH_ELEMENTS(&plan, findBadIndex, count, count, THC_pointer<const int64_t>(values),
                      THC_indexRange(&plan, low, high));
  THC_note(&plan.failure, "cudaStreamSynchronize", cudaStreamSynchronize(state->stream));
  THC_planRelease(&plan);

  volatile THCIndexReport *report = state->indexReport;
  if (!report->raised)
    return;
  const long long found = report->found;
  report->raised = 0;
  report->claimed = 0;
  THArgCheck(false, position,
             "%s: argument #%d '%s': expected indices from %lld to %lld, found %lld", function,
             position, name, (long long)low, (long long)high, found);
}
