#include "generic/pooling/average.h"

#include "generic/pooling/windowSums.h"
#include "geometry/convolutionCheck.h"

static WindowSums sumsOf(const THNNAveragePoolingCall *call, bool backward)
{
  THNNRegionSums of = THNN_windowRegionSums(&call->geometry, backward);
  of.divided = true;
  return THNN_(windowSums_plan)(call->state, &of);
}

/* The number of elements of a window is a product of three: one for its slice, one for its row, one
 * for its column. */
static void pool(const THNNAveragePoolingCall *call, const WindowSums *sums, void *memory,
                 const real *source, real *result)
{
  const THNNConvolution windows = THNN_croppedWindows(&call->geometry);
  for (int d = 0; d < 3; d++) {
    THNNRange *spans = THNN_(windowSums_listSpans)(sums, memory, d);
    for (int64_t i = 0; i < sums->of.result[d]; i++)
      spans[i] = THNN_windowSpan(&windows, d, i, sums->of.backward);
    real *divisors = THNN_(windowSums_listDivisors)(sums, memory, d);
    for (int64_t i = 0; i < windows.output[d]; i++)
      divisors[i] = (real)THNN_windowLength(&windows, d, i, call->countPadding);
  }
  THNN_(windowSums_run)(sums, memory, source, result);
}

void THNN_(average_updateOutput)(const THNNAveragePoolingCall *call, THTensor *input,
                                 THTensor *output)
{
  int64_t size[5];
  const int nDimension = THNN_convolutionSizes(&call->geometry, call->nDimension, false,
                                               input->nDimension == call->nDimension + 2, size);
  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const WindowSums sums = sumsOf(call, false);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *scratch = THNN_planScratch(&plan, sums.bytes);
  THNN_planAcquire(&plan);

  pool(call, &sums, scratch->data, in->data, out->data);
  THNN_planRelease(&plan);
}

void THNN_(average_updateGradInput)(const THNNAveragePoolingCall *call, THTensor *input,
                                    THTensor *gradOutput, THTensor *gradInput)
{
  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const WindowSums sums = sumsOf(call, true);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *scratch = THNN_planScratch(&plan, sums.bytes);
  THNN_planAcquire(&plan);

  pool(call, &sums, scratch->data, from->data, to->data);
  THNN_planRelease(&plan);
}
