#include "generic/padding/padding.h"

#include "work/scratch.h"
#include "work/sizes.h"

/* The cost of a row, in operations. */
static int64_t rowCost(int64_t columns)
{
  return columns + 32;
}

/* Bytes of the shortest row that is streamed: assembling shorter ones into cache lines takes longer
 * than streaming stores save. */
enum { SHORTEST_STREAMED = 256 };

static PaddedPlanes layOutRows(const THNNPadding *p, Scratch *scratch)
{
  PaddedPlanes rows = {.planes = p->planes, .inside = THNN_paddedInside(p, 2)};
  for (int d = 0; d < 3; d++) {
    rows.input[d] = p->input[d];
    rows.output[d] = p->output[d];
    rows.shown[d] = THNN_take(scratch, p->output[d], sizeof(int64_t));
  }
  return rows;
}

/* The same with what shows each slice and row. */
static ShowingRows layOutShowing(const THNNPadding *p, PaddedPlanes *padded, Scratch *scratch)
{
  *padded = layOutRows(p, scratch);
  ShowingRows rows = {.padded = padded};
  for (int d = 0; d < 2; d++) {
    rows.showing[d] = THNN_take(scratch, p->output[d], sizeof(int64_t));
    rows.begin[d] = THNN_take(scratch, p->input[d] + 1, sizeof(int64_t));
  }
  return rows;
}

static size_t rowsBytes(const THNNPadding *p)
{
  Scratch scratch = {0};
  layOutRows(p, &scratch);
  return scratch.used;
}

static size_t showingBytes(const THNNPadding *p)
{
  Scratch scratch = {0};
  PaddedPlanes padded;
  layOutShowing(p, &padded, &scratch);
  return scratch.used;
}

static void setShown(const THNNPadding *p, PaddedPlanes *rows)
{
  for (int d = 0; d < 3; d++)
    for (int64_t i = 0; i < p->output[d]; i++)
      rows->shown[d][i] = THNN_paddedIndex(p, d, i);
}

static void setShowing(const THNNPadding *p, ShowingRows *rows)
{
  for (int d = 0; d < 2; d++) {
    int64_t count = 0;
    for (int64_t i = 0; i < p->input[d]; i++) {
      THNNRange run[THNN_PADDED_RUNS];
      const int runs = THNN_paddedRuns(p, d, i, run);
      rows->begin[d][i] = count;
      for (int r = 0; r < runs; r++)
        for (int64_t at = run[r].begin; at < run[r].end; at++)
          rows->showing[d][count++] = at;
    }
    rows->begin[d][p->input[d]] = count;
  }
}

/* Bytes of a thread's tile, in whole pages. Reading data that was just written across the end of a
 * page was measured to take three times as long. */
static size_t tileBytes(const THNNPadding *p)
{
  const size_t bytes = (size_t)p->output[2] * sizeof(real) + THNN_STREAMED_PIECE + THNN_LINE_BYTES;
  return (bytes + THNN_PAGE_BYTES - 1) / THNN_PAGE_BYTES * THNN_PAGE_BYTES;
}

void THNN_(padding_updateOutput)(const THNNPaddingCall *call, THTensor *input, THTensor *output)
{
  const THNNPadding *p = &call->padding;
  int64_t size[5];
  const int nDimension = THNN_paddedSize(p, call->nDimension, THNN_SHAPE(input, 2), size);

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  const int64_t count = p->planes * p->output[0] * p->output[1];
  const int64_t cost = rowCost(p->output[2]);
  const THNNBlocks blocks = THNN_rowBlocks(count, cost);
  const int threads = THNN_threads(call->state, blocks.count, (double)count * (double)cost);
  const bool stream = p->output[2] * (int64_t)sizeof(real) >= SHORTEST_STREAMED &&
                      THNN_streamsResult(1, count * p->output[2], sizeof(real));
  const size_t tile = tileBytes(p);
  const THNNBuffer *tiles =
      THNN_planScratch(&plan, stream ? (size_t)threads * tile + THNN_PAGE_BYTES : 0);
  const THNNBuffer *indices = THNN_planScratch(&plan, rowsBytes(p));
  THNN_planAcquire(&plan);

  Scratch scratch = {.base = indices->data};
  PaddedPlanes rows = layOutRows(p, &scratch);
  rows.value = call->value;
  setShown(p, &rows);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    const int64_t first = block * blocks.length, some = THNN_blockLength(&blocks, block);
    real *to = (real *)out->data + first * p->output[2];
    if (stream) {
      char *mine = THNN_nextPage(tiles->data) + (size_t)THNN_threadIndex() * tile;
      THNN_(simd).padding.stream(&rows, first, some, in->data, (real *)mine, to);
      THNN_(simd).pointwise.streamEnd();
    } else {
      THNN_(simd).padding.pad(&rows, first, some, in->data, to);
    }
  }
  THNN_planRelease(&plan);
}

void THNN_(padding_updateGradInput)(const THNNPaddingCall *call, THNNShape input,
                                    THTensor *gradOutput, int position, THTensor *gradInput)
{
  const THNNPadding *p = &call->padding;
  const int64_t count = p->planes * p->input[0] * p->input[1];

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const int64_t outputRows = p->output[0] * p->output[1];
  const int64_t cost = rowCost(p->output[2]) * (1 + outputRows / (p->input[0] * p->input[1]));
  const THNNBlocks blocks = THNN_rowBlocks(count, cost);
  const int threads = THNN_threads(call->state, blocks.count, (double)count * (double)cost);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, position);
  const THNNBuffer *to = THNN_planOut(&plan, gradInput, position + 1, input.nDimension, input.size);
  const int64_t room = THNN_wholeLines(p->output[2], sizeof(real));
  const THNNBuffer *sums = THNN_planScratch(&plan, (size_t)(threads * room) * sizeof(real));
  const THNNBuffer *indices = THNN_planScratch(&plan, showingBytes(p));
  THNN_planAcquire(&plan);

  Scratch scratch = {.base = indices->data};
  PaddedPlanes padded;
  ShowingRows rows = layOutShowing(p, &padded, &scratch);
  rows.ahead = THNN_leavesCaches(p->planes * outputRows * p->output[2], sizeof(real));
  setShown(p, &padded);
  setShowing(p, &rows);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    const int64_t first = block * blocks.length;
    THNN_(simd).padding.fold(&rows, first, THNN_blockLength(&blocks, block), from->data,
                             (real *)sums->data + THNN_threadIndex() * room,
                             (real *)to->data + first * p->input[2]);
  }
  THNN_planRelease(&plan);
}
