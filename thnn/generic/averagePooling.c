#include "averagePooling.h"
#include "windowSums.h"

/* The number of elements of a window is a product of three: one for its slice, one for its row, one
 * for its column. */
static size_t divisorBytes(const THNNConvolution *g)
{
  return (size_t)(g->output[0] + g->output[1] + g->output[2]) * sizeof(real);
}

static THNN_(WindowDivisors) setDivisors(const THNNAveragePoolingCall *call, real *memory)
{
  const THNNConvolution *g = &call->geometry;
  const THNNConvolution windows = THNN_croppedWindows(g);
  real *next = memory;
  for (int d = 0; d < 3; d++)
    for (int64_t i = 0; i < g->output[d]; i++)
      *next++ = (real)THNN_windowLength(&windows, d, i, call->countPadding);
  return (THNN_(WindowDivisors)){memory, memory + g->output[0],
                                 memory + g->output[0] + g->output[1]};
}

void THNN_(averagePoolingUpdateOutput)(const THNNAveragePoolingCall *call, THTensor *input,
                                       THTensor *output)
{
  const THNNConvolution *g = &call->geometry;
  int64_t size[5];
  const int nDimension = THNN_convolutionSizes(g, call->nDimension, false,
                                               input->nDimension == call->nDimension + 2, size);

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const THNN_(WindowSums) work = THNN_(windowSums)(call->state, g, false);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *lengths = THNN_planScratch(&plan, divisorBytes(g));
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)work.threads * work.threadBytes);
  THNN_planAcquire(&plan);

  const THNN_(WindowDivisors) divisors = setDivisors(call, lengths->data);
  const int64_t elements = THNN_convolutionImagePositions(g), width = g->output[2];
#pragma omp parallel for num_threads(work.threads) schedule(static)
  for (int64_t block = 0; block < work.blocks.count; block++) {
    char *mine = (char *)scratch->data + (size_t)THNN_threadIndex() * work.threadBytes;
    const int64_t first = block * work.blocks.length;
    THNNRow row = THNN_rowAt(first, g->output[0], g->output[1]);
    for (int64_t i = 0; i < THNN_blockLength(&work.blocks, block); i++, THNN_nextRow(&row)) {
      real *to = (real *)out->data + (first + i) * width;
      THNN_(sumWindows)(&work, (const real *)in->data + row.plane * elements, row.z, row.y, mine,
                        to);
      THNN_(simd).pooling.divide(width, divisors.slices[row.z] * divisors.rows[row.y],
                                 divisors.columns, to, to);
    }
  }
  THNN_planRelease(&plan);
}

void THNN_(averagePoolingUpdateGradInput)(const THNNAveragePoolingCall *call, THTensor *input,
                                          THTensor *gradOutput, THTensor *gradInput)
{
  const THNNConvolution *g = &call->geometry;
  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const THNN_(WindowSums) work = THNN_(windowSums)(call->state, g, true);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *lengths = THNN_planScratch(&plan, divisorBytes(g));
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)work.threads * work.threadBytes);
  THNN_planAcquire(&plan);

  const THNN_(WindowDivisors) divisors = setDivisors(call, lengths->data);
  const int64_t elements = THNN_convolutionMapPositions(g), width = g->input[2];
#pragma omp parallel for num_threads(work.threads) schedule(static)
  for (int64_t block = 0; block < work.blocks.count; block++) {
    char *mine = (char *)scratch->data + (size_t)THNN_threadIndex() * work.threadBytes;
    const int64_t first = block * work.blocks.length;
    THNNRow row = THNN_rowAt(first, g->input[0], g->input[1]);
    for (int64_t i = 0; i < THNN_blockLength(&work.blocks, block); i++, THNN_nextRow(&row)) {
      real *gradient = (real *)to->data + (first + i) * width;
      if (g->stride[1] > 1 && i > 0 && row.y > 0 && THNN_(sameWindowsOver)(&work, row.y))
        THNN_(simd).pointwise.copy(width, gradient - width, gradient);
      else
        THNN_(spreadWindows)(&work, &divisors, (const real *)from->data + row.plane * elements,
                             row.z, row.y, mine, gradient);
    }
  }
  THNN_planRelease(&plan);
}
