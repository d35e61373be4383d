#include "generic/padding/padding.h"

#include "work/sizes.h"

/* The columns of an output row: those inside show the input row itself; `others` has, from left to
 * right, the input column that each of the remaining ones shows, -1 for the constant. */
typedef struct PaddedColumns {
  THNNRange inside;
  bool isConstant;      /* whether the others are all the constant */
  int64_t width, first; /* output columns; the input column that inside.begin shows */
  int64_t *others;
} PaddedColumns;

/* The cost of a row, in operations. */
static int64_t rowCost(int64_t columns)
{
  return columns + 32;
}

static size_t otherColumns(const THNNPadding *p)
{
  const THNNRange inside = THNN_paddedInside(p, 2);
  return (size_t)(p->output[2] - (inside.end - inside.begin));
}

static PaddedColumns setColumns(const THNNPadding *p, int64_t *others)
{
  const THNNRange inside = THNN_paddedInside(p, 2);
  const PaddedColumns columns = {inside, p->mode == THNN_PADDING_CONSTANT, p->output[2],
                                 inside.begin - p->before[2], others};
  for (int64_t x = 0; x < inside.begin; x++)
    *others++ = THNN_paddedIndex(p, 2, x);
  for (int64_t x = inside.end; x < p->output[2]; x++)
    *others++ = THNN_paddedIndex(p, 2, x);
  return columns;
}

/* What an output row shows of the input row beside what lies inside. */
static void padEnds(const PaddedColumns *columns, const real *input, real *output)
{
  const THNNRange inside = columns->inside;
  const int64_t *right = columns->others + inside.begin, after = columns->width - inside.end;
  for (int64_t x = 0; x < inside.begin; x++)
    output[x] = input[columns->others[x]];
  for (int64_t x = 0; x < after; x++)
    output[inside.end + x] = input[right[x]];
}

/* output = `count` neighbouring rows of the input, of `width` columns, padded. */
static void padNeighbours(const PaddedColumns *columns, int64_t count, int64_t width,
                          const real *input, real value, real *output)
{
  const THNNRange inside = columns->inside;
  const RowPadding rows = {count,        inside.end - inside.begin,   width,
                           inside.begin, columns->width - inside.end, value};
  THNN_(simd).pointwise.padRows(&rows, input + columns->first, output);
  if (columns->isConstant)
    return;
  for (int64_t i = 0; i < count; i++)
    padEnds(columns, input + i * width, output + i * columns->width);
}

/* input = the transpose of padding a row, applied to output; the input row has `width` columns. */
static void foldRow(const PaddedColumns *columns, const real *output, int64_t width, real *input)
{
  const THNNRange inside = columns->inside;
  const int64_t *right = columns->others + inside.begin, after = columns->width - inside.end;
  const int64_t count = inside.end - inside.begin;
  if (columns->first > 0 || columns->first + count < width)
    THNN_(simd).pointwise.fill(width, 0, input);
  if (count > 0)
    THNN_(simd).pointwise.copy(count, output + inside.begin, input + columns->first);
  if (columns->isConstant)
    return;
  for (int64_t x = 0; x < inside.begin; x++)
    input[columns->others[x]] += output[x];
  for (int64_t x = 0; x < after; x++)
    input[right[x]] += output[inside.end + x];
}

/* Bytes of the shortest row that is streamed: assembling shorter ones into cache lines takes longer
 * than streaming stores save. */
enum { SHORTEST_STREAMED = 256 };

/* Pads `count` rows that begin with `row` into contiguous rows of the output, those that show
 * neighbouring input rows together. */
static void padRows(const THNNPaddingCall *call, const PaddedColumns *columns, const real *input,
                    THNNRow row, int64_t count, real *output)
{
  const THNNPadding *p = &call->padding;
  const THNNRange inside = THNN_paddedInside(p, 1);
  for (int64_t i = 0, together; i < count; i += together) {
    const int64_t z = THNN_paddedIndex(p, 0, row.z), y = THNN_paddedIndex(p, 1, row.y);
    const bool isInside = row.y >= inside.begin && row.y < inside.end;
    together = isInside ? minimum(inside.end - row.y, count - i) : 1;
    real *to = output + i * p->output[2];
    if (z < 0 || y < 0)
      THNN_(simd).pointwise.fill(together * p->output[2], call->value, to);
    else
      padNeighbours(columns, together, p->input[2],
                    input + ((row.plane * p->input[0] + z) * p->input[1] + y) * p->input[2],
                    call->value, to);
    row.y += together - 1;
    THNN_nextRow(&row);
  }
}

/* As padRows, with streaming stores, a few cache lines at a time, so that reading and writing
 * alternate quickly. */
static void streamRows(const THNNPaddingCall *call, const PaddedColumns *columns, const real *input,
                       THNNRow row, int64_t count, real *tile, real *output)
{
  const THNNPadding *p = &call->padding;
  const int64_t width = p->output[2], piece = 512 / (int64_t)sizeof(real);
  int64_t waiting = 0; /* elements in the tile */
  for (int64_t i = 0; i < count; i++, THNN_nextRow(&row)) {
    const int64_t z = THNN_paddedIndex(p, 0, row.z), y = THNN_paddedIndex(p, 1, row.y);
    if (z < 0 || y < 0) {
      THNN_(simd).pointwise.fill(width, call->value, tile + waiting);
    } else {
      const real *from = input + ((row.plane * p->input[0] + z) * p->input[1] + y) * p->input[2];
      THNN_fetchNextPage(from, p->input[2] * (int64_t)sizeof(real));
      padNeighbours(columns, 1, p->input[2], from, call->value, tile + waiting);
    }
    waiting += width;
    const bool last = i == count - 1;
    if (waiting < piece && !last)
      continue;
    const int64_t rest = last ? 0 : THNN_elementsPastCacheLine(output + waiting, sizeof(real));
    THNN_(simd).pointwise.stream(waiting - rest, tile, output);
    output += waiting - rest;
    THNN_(simd).pointwise.copy(rest, tile + waiting - rest, tile);
    waiting = rest;
  }
  THNN_(simd).pointwise.streamEnd();
}

/* Bytes of a thread's tile: a row and the elements that may wait before it, in whole pages. Reading
 * data that was just written across the end of a page was measured to take three times as long. */
static size_t tileBytes(const THNNPadding *p)
{
  const size_t bytes = (size_t)p->output[2] * sizeof(real) + 1024;
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
  const int64_t rows = p->planes * p->output[0] * p->output[1];
  const int64_t cost = rowCost(p->output[2]);
  const THNNBlocks blocks = THNN_rowBlocks(rows, cost);
  const int threads = THNN_threads(call->state, blocks.count, (double)rows * (double)cost);
  const bool stream = p->output[2] * (int64_t)sizeof(real) >= SHORTEST_STREAMED &&
                      THNN_streamsResult(1, rows * p->output[2], sizeof(real));
  const size_t tile = tileBytes(p);
  const THNNBuffer *tiles =
      THNN_planScratch(&plan, stream ? (size_t)threads * tile + THNN_PAGE_BYTES : 0);
  const THNNBuffer *others = THNN_planScratch(&plan, otherColumns(p) * sizeof(int64_t));
  THNN_planAcquire(&plan);

  const PaddedColumns columns = setColumns(p, others->data);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    const int64_t first = block * blocks.length, count = THNN_blockLength(&blocks, block);
    const THNNRow row = THNN_rowAt(first, p->output[0], p->output[1]);
    real *to = (real *)out->data + first * p->output[2];
    if (stream) {
      char *mine = THNN_nextPage(tiles->data) + (size_t)THNN_threadIndex() * tile;
      streamRows(call, &columns, in->data, row, count, (real *)mine, to);
    } else {
      padRows(call, &columns, in->data, row, count, to);
    }
  }
  THNN_planRelease(&plan);
}

/* The sum of the output rows that show an input row: the row itself when there is only one. */
static const real *collectRows(const THNNPadding *p, const real *outputPlane, int64_t inputZ,
                               int64_t inputY, real *sum)
{
  THNNRange z[THNN_PADDED_RUNS], y[THNN_PADDED_RUNS];
  const int zRuns = THNN_paddedRuns(p, 0, inputZ, z), yRuns = THNN_paddedRuns(p, 1, inputY, y);
  const int64_t width = p->output[2];
  const real *first = NULL;
  for (int i = 0; i < zRuns; i++)
    for (int64_t atZ = z[i].begin; atZ < z[i].end; atZ++)
      for (int j = 0; j < yRuns; j++)
        for (int64_t atY = y[j].begin; atY < y[j].end; atY++) {
          const real *row = outputPlane + (atZ * p->output[1] + atY) * width;
          if (!first) {
            first = row;
            continue;
          }
          THNN_(simd).pointwise.blend(width, 1, first, 1, row, sum);
          first = sum;
        }
  if (!first)
    THNN_(simd).pointwise.fill(width, 0, sum);
  return first ? first : sum;
}

void THNN_(padding_updateGradInput)(const THNNPaddingCall *call, THNNShape input,
                                    THTensor *gradOutput, int position, THTensor *gradInput)
{
  const THNNPadding *p = &call->padding;
  const int64_t rows = p->planes * p->input[0] * p->input[1];

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const int64_t outputRows = p->output[0] * p->output[1];
  const int64_t cost = rowCost(p->output[2]) * (1 + outputRows / (p->input[0] * p->input[1]));
  const THNNBlocks blocks = THNN_rowBlocks(rows, cost);
  const int threads = THNN_threads(call->state, blocks.count, (double)rows * (double)cost);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, position);
  const THNNBuffer *to = THNN_planOut(&plan, gradInput, position + 1, input.nDimension, input.size);
  const int64_t room = THNN_wholeLines(p->output[2], sizeof(real));
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)(threads * room) * sizeof(real));
  const THNNBuffer *others = THNN_planScratch(&plan, otherColumns(p) * sizeof(int64_t));
  THNN_planAcquire(&plan);

  const PaddedColumns columns = setColumns(p, others->data);
  /* output elements per input row */
  const int64_t step = outputRows * p->output[2] / (p->input[0] * p->input[1]);
  const bool fetched = THNN_leavesCaches(p->planes * outputRows * p->output[2], sizeof(real));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    real *sum = (real *)scratch->data + THNN_threadIndex() * room;
    const int64_t first = block * blocks.length;
    THNNRow row = THNN_rowAt(first, p->input[0], p->input[1]);
    for (int64_t i = 0; i < THNN_blockLength(&blocks, block); i++, THNN_nextRow(&row)) {
      const real *plane = (const real *)from->data + row.plane * outputRows * p->output[2];
      if (fetched)
        THNN_fetchNextPage(plane + (row.z * p->input[1] + row.y) * step,
                           step * (int64_t)sizeof(real));
      foldRow(&columns, collectRows(p, plane, row.z, row.y, sum), p->input[2],
              (real *)to->data + (first + i) * p->input[2]);
    }
  }
  THNN_planRelease(&plan);
}
