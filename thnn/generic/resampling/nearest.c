#include "generic/resampling/nearest.h"

#include "generic/resampling/checks.h"
#include "work/scratch.h"

#ifdef THNN_ONCE
void THNN_nearest_shapeCheck(const char *function, int nDimension, THNNShape input,
                             THNNShape gradOutput, THNNScalar factor, int64_t *size)
{
  const char *layout = nDimension == 3 ? "[batch x] planes x depth x height x width"
                                       : "[batch x] planes x height x width";
  THNN_checkAtLeast(function, factor, 2);
  THNN_checkDimensions(function, input, nDimension + 1, nDimension + 2, layout);
  THNN_elements(function, input);
  for (int i = 0; i < input.nDimension; i++) {
    const int64_t factors[] = {input.size[i], factor.value};
    size[i] = THNN_product(i < input.nDimension - nDimension ? 1 : 2, factors);
  }
  THNN_elements(function, THNN_makeShape("output", 3, input.nDimension, size));
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkSizes(function, gradOutput, input.nDimension, size, layout);
}
#endif

/* How the work is divided into rows of the input, and the number of output rows that each
 * becomes. */
typedef struct Rows {
  THNNBlocks blocks;
  int threads;
  int64_t factor, slices; /* an input row becomes slices x factor output rows */
  int64_t height, width;  /* size of the input */
} Rows;

static Rows rowsOf(const THNNNearestCall *call, const THTensor *input)
{
  const int last = input->nDimension - 1;
  Rows rows = {.factor = call->factor,
               .slices = call->nDimension == 3 ? call->factor : 1,
               .height = input->size[last - 1],
               .width = input->size[last]};
  const int64_t count = THTensor_(nElement)(input) / rows.width;
  const int64_t cost = rows.slices * rows.factor * rows.factor * rows.width;
  rows.blocks = THNN_rowBlocks(count, cost);
  rows.threads = THNN_threads(call->state, rows.blocks.count, (double)count * (double)cost);
  return rows;
}

/* The index of output row `number` of those that input row `row` becomes. */
static int64_t outputRow(const Rows *rows, int64_t row, int64_t number)
{
  const int64_t slice = row / rows->height * rows->slices + number / rows->factor;
  return (slice * rows->height + row % rows->height) * rows->factor + number % rows->factor;
}

/* Whether to write output rows with streaming stores. The result must exceed the caches, of which
 * it may fill nearly all, since the input is much smaller; and no two rows may share a cache line,
 * since streaming a part of a line is slower than storing it. */
static bool streams(const Rows *rows, int64_t elements)
{
  const size_t line = 64, rowBytes = (size_t)(rows->factor * rows->width) * sizeof(real);
  return rowBytes % line == 0 && THNN_leavesCaches(elements / 2, sizeof(real));
}

void THNN_(nearest_updateOutput)(const THNNNearestCall *call, THTensor *input, THTensor *output)
{
  int64_t size[5];
  THNN_nearest_shapeCheck(call->function, call->nDimension, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                          THNN_makeScalar("scale_factor", 4, call->factor), size);
  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const Rows rows = rowsOf(call, input);
  const int64_t width = rows.factor * rows.width, copies = rows.slices * rows.factor;
  const bool stream = streams(&rows, THTensor_(nElement)(input) * rows.factor * copies);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, input->nDimension, size);
  const THNNBuffer *scratch =
      THNN_planScratch(&plan, stream ? (size_t)(rows.threads * width) * sizeof(real) : 0);
  THNN_planAcquire(&plan);

  void (*put)(int64_t, const real *, real *) =
      stream ? THNN_(simd).pointwise.stream : THNN_(simd).pointwise.copy;
#pragma omp parallel for num_threads(rows.threads) schedule(static)
  for (int64_t block = 0; block < rows.blocks.count; block++) {
    for (int64_t i = 0; i < THNN_blockLength(&rows.blocks, block); i++) {
      const int64_t row = block * rows.blocks.length + i;
      real *first = stream ? (real *)scratch->data + THNN_threadIndex() * width
                           : (real *)out->data + outputRow(&rows, row, 0) * width;
      THNN_(simd).pooling.repeat(rows.width, (const real *)in->data + row * rows.width, rows.factor,
                                 first);
      for (int64_t n = !stream; n < copies; n++)
        put(width, first, (real *)out->data + outputRow(&rows, row, n) * width);
    }
    if (stream)
      THNN_(simd).pointwise.streamEnd();
  }
  THNN_planRelease(&plan);
}

enum { AHEAD = 4 }; /* prefetch distance in rows */

/* A thread's scratch for gradInput: the rows of gradOutput that belong to one input row, and their
 * sum. */
typedef struct Areas {
  const real **rows;
  real *sum;
} Areas;

static Areas layOut(int64_t copies, int64_t width, Scratch *scratch)
{
  Areas areas;
  areas.rows = THNN_take(scratch, copies, sizeof(real *));
  areas.sum = THNN_take(scratch, width, sizeof(real));
  return areas;
}

void THNN_(nearest_updateGradInput)(const THNNNearestCall *call, THTensor *input,
                                    THTensor *gradOutput, THTensor *gradInput)
{
  int64_t size[5];
  THNN_nearest_shapeCheck(call->function, call->nDimension, THNN_SHAPE(input, 2),
                          THNN_SHAPE(gradOutput, 3),
                          THNN_makeScalar("scale_factor", 5, call->factor), size);
  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const Rows rows = rowsOf(call, input);
  const int64_t width = rows.factor * rows.width, count = rows.slices * rows.factor;
  Scratch needed = {0};
  layOut(count, width, &needed);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)rows.threads * needed.used);
  THNN_planAcquire(&plan);

  const real *gradients = from->data;
  const int64_t last = rows.blocks.elements - 1;
#pragma omp parallel for num_threads(rows.threads) schedule(static)
  for (int64_t block = 0; block < rows.blocks.count; block++) {
    Scratch mine = THNN_scratchOf(scratch->data, needed.used, THNN_threadIndex());
    const Areas areas = layOut(count, width, &mine);
    for (int64_t i = 0; i < THNN_blockLength(&rows.blocks, block); i++) {
      const int64_t row = block * rows.blocks.length + i;
      const int64_t ahead = row + AHEAD < last ? row + AHEAD : last;
      for (int64_t n = 0; n < count; n++) {
        areas.rows[n] = gradients + outputRow(&rows, row, n) * width;
        THNN_(simd).products.prefetch(width, gradients + outputRow(&rows, ahead, n) * width);
      }
      THNN_(simd).pooling.sumOfRows(width, count, areas.rows, areas.sum);
      THNN_(simd).pooling.sumOfColumns(rows.width, rows.factor, rows.factor, areas.sum,
                                       (real *)to->data + row * rows.width);
    }
  }
  THNN_planRelease(&plan);
}
