#include "generic/resampling/rows.h"

#include "work/scratch.h"

static real *layOutScratch(const THNNResampling *r, const ResampledRows *rows, Scratch *scratch)
{
  return THNN_take(scratch, rows->outputRows * r->output[2] + r->input[2], sizeof(real));
}

void THNN_(rows_resample)(const THNNResamplingCall *call, const ResampledRows *rows,
                          THTensor *given, THTensor *result)
{
  const THNNResampling *r = &call->resampling;
  const int64_t *of = rows->backward ? r->input : r->output, width = of[2];
  const int64_t size[] = {r->batch, r->planes, of[3 - call->nDimension], of[4 - call->nDimension],
                          width};
  const int64_t count = r->batch * r->planes * of[0] * of[1];
  const THNNBlocks blocks = THNN_rowBlocks(count, rows->cost);
  const int threads = THNN_threads(call->state, blocks.count, (double)count * (double)rows->cost);
  Scratch needed = {0};
  layOutScratch(r, rows, &needed);

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const THNNBuffer *from = THNN_planIn(&plan, given, 2);
  const THNNBuffer *to = THNN_planOut(&plan, result, 3, call->nDimension + 2, size);
  const THNNBuffer *places = THNN_planScratch(&plan, rows->placesBytes);
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)threads * needed.used);
  THNN_planAcquire(&plan);

  rows->setPlaces(r, places->data);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    Scratch mine = THNN_scratchOf(scratch->data, needed.used, THNN_threadIndex());
    const int64_t first = block * blocks.length;
    rows->compute(r, places->data, from->data, THNN_rowAt(first, of[0], of[1]),
                  THNN_blockLength(&blocks, block), layOutScratch(r, rows, &mine),
                  (real *)to->data + first * width);
  }
  THNN_planRelease(&plan);
}
