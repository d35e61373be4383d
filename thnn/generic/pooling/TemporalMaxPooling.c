/* 1-D max pooling over time.
 *   input            [batch x] nInputFrame x frameSize
 *   output, indices  [batch x] nOutputFrame x frameSize
 * nOutputFrame is (nInputFrame - kW)/dW + 1, rounded down. indices is the frame of the greatest
 * element in the window, the first of equals, counted from 0; -1 where no element exceeds the
 * lowest finite number. */
#include "call/planTensor.h"
#include "call/strided.h"
#include "generic/pooling/checks.h"
#include "generic/pooling/indices.h"
#include "geometry/pooling.h"
#include "work/scratch.h"

#ifdef THNN_ONCE
/* The frames are the rows of a pooling along the height; every column is pooled by itself. */
THNNConvolution THNN_TemporalMaxPooling_shapeCheck(const char *function, THNNShape input,
                                                   THNNShape gradOutput, THNNShape indices,
                                                   int firstPosition, int kW, int dW)
{
  const char *layout = "[batch x] nFrame x frameSize";
  THNN_checkPositive(function, THNN_SCALAR(kW, firstPosition));
  THNN_checkPositive(function, THNN_SCALAR(dW, firstPosition + 1));
  THNN_checkDimensions(function, input, 2, 3, layout);
  THNN_elements(function, input);
  const bool batched = input.nDimension == 3;
  const int64_t frames = input.size[batched], frameSize = input.size[batched + 1];
  if (frames < kW)
    THNN_rejectShape(function, input, "at least kW = %d frames", kW);
  const THNNConvolution geometry = {.batch = batched ? input.size[0] : 1,
                                    .inputPlanes = 1,
                                    .outputPlanes = 1,
                                    .input = {1, frames, frameSize},
                                    .output = {1, (frames - kW) / dW + 1, frameSize},
                                    .kernel = {1, kW, 1},
                                    .stride = {1, dW, 1},
                                    .dilation = {1, 1, 1}};
  const int64_t wanted[] = {geometry.batch, geometry.output[1], frameSize};
  const THNNShape outputs[] = {gradOutput, indices};
  for (int i = 0; i < 2; i++)
    if (outputs[i].nDimension != THNN_NOT_PRESENT && batched)
      THNN_checkSizesOrMore(function, outputs[i], 3, wanted, layout);
    else if (outputs[i].nDimension != THNN_NOT_PRESENT)
      THNN_checkSizes(function, outputs[i], 2, wanted + 1, layout);
  return geometry;
}
#endif

/* A thread's scratch: the frames of a window, their numbers, and for each column the number of the
 * frame with the greatest value. */
typedef struct Areas {
  const real **window;
  Place *number, *places;
} Areas;

static Areas layOut(int64_t frames, int64_t frameSize, Scratch *scratch)
{
  Areas areas;
  areas.window = THNN_take(scratch, frames, sizeof(real *));
  areas.number = THNN_take(scratch, frames, sizeof(Place));
  areas.places = THNN_take(scratch, frameSize, sizeof(Place));
  return areas;
}

void THNN_(TemporalMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THIndexTensor *indices, int kW, int dW)
{
  const char *function = "TemporalMaxPooling_updateOutput";
  const THNNConvolution g = THNN_TemporalMaxPooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE, 5, kW, dW);
  const int nDimension = input->nDimension;
  const int64_t frames = g.input[1], outputFrames = g.output[1], frameSize = g.input[2];
  const int64_t sizes[] = {g.batch, outputFrames, frameSize};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const int64_t rows = g.batch * outputFrames, cost = kW * frameSize;
  const THNNBlocks blocks = THNN_rowBlocks(rows, cost);
  const int threads = THNN_threads(state, blocks.count, (double)rows * (double)cost);
  Scratch needed = {0};
  layOut(kW, frameSize, &needed);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, sizes + 3 - nDimension);
  const THNNBuffer *numbers = THNN_planOut(&plan, indices, 4, nDimension, sizes + 3 - nDimension);
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)threads * needed.used);
  THNN_planAcquire(&plan);

#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    Scratch mine = THNN_scratchOf(scratch->data, needed.used, THNN_threadIndex());
    const Areas areas = layOut(kW, frameSize, &mine);
    for (int64_t i = 0; i < THNN_blockLength(&blocks, block); i++) {
      const int64_t row = block * blocks.length + i;
      const int64_t first = row / outputFrames * frames + row % outputFrames * dW;
      for (int k = 0; k < kW; k++) {
        areas.window[k] = (const real *)in->data + (first + k) * frameSize;
        areas.number[k] = k;
      }
      THNN_(simd).pooling.maxOfRows(frameSize, kW, areas.window, areas.number, THNN_LOWEST,
                                    (real *)out->data + row * frameSize, areas.places);
      THNN_(simd).indices.indexOfPlace(frameSize, areas.places, 0, -1,
                                       (int64_t *)numbers->data + row * frameSize);
    }
  }
  THNN_planRelease(&plan);
}

/* An index is a frame of its window that is in the sequence, or -1 for none. */
static int64_t elementOfFrame(const THNNPooledIndices *pooled, const int64_t *position,
                              int64_t frame, int64_t second)
{
  (void)second;
  const THNNConvolution *g = pooled->context;
  const int64_t first = position[1] * g->stride[1];
  if (frame < -1 || frame >= g->input[1] - first)
    return THNN_BAD_INDEX;
  return frame < 0 ? THNN_NO_ELEMENT : (first + frame) * g->input[2] + position[2];
}

/* Computes a part of a frame of gradInput: the sum of the gradients whose index names the frame. */
static void addFrame(const THNNConvolution *g, int64_t frame, bool fetched, int64_t n,
                     const int64_t *indices, const real *gradOutput, real *gradInput)
{
  const THNNRange windows = THNN_windowsOver(g, 1, frame);
  if (windows.begin == windows.end)
    THNN_(simd).pointwise.fill(n, 0, gradInput);
  for (int64_t window = windows.begin; window < windows.end; window++) {
    const int64_t at = window * g->input[2];
    if (fetched) {
      THNN_fetchToSecondLevel(indices + at, n * (int64_t)sizeof *indices, THNN_PAGE_BYTES);
      THNN_fetchToSecondLevel(gradOutput + at, n * (int64_t)sizeof(real), THNN_PAGE_BYTES);
    }
    THNN_(simd).indices.addNamed(n, indices + at, frame - window * g->stride[1], gradOutput + at,
                                 window == windows.begin, gradInput);
  }
}

/* Frames of fewer values are too short to fill vectors. */
enum { NARROW = 32 };

/* Computes narrow frames [begin, end) of a sequence value by value. Only values of windows that
 * reach beyond these frames are tested for whether their frame is among them. */
static void addNarrow(const THNNConvolution *g, int64_t begin, int64_t end, const int64_t *indices,
                      const real *gradOutput, real *gradInput)
{
  const int64_t frameSize = g->input[2], last = THNN_windowsOver(g, 1, end - 1).end;
  THNN_(simd).pointwise.fill((end - begin) * frameSize, 0, gradInput + begin * frameSize);
  for (int64_t window = THNN_windowsOver(g, 1, begin).begin; window < last; window++) {
    const int64_t first = window * g->stride[1];
    const bool whole = begin <= first && first + g->kernel[1] <= end;
    const int64_t *index = indices + window * frameSize;
    const real *value = gradOutput + window * frameSize;
    real *to = gradInput + first * frameSize;
    for (int64_t i = 0; i < frameSize; i++)
      if (index[i] >= 0 && (whole || (begin <= first + index[i] && first + index[i] < end)))
        to[index[i] * frameSize + i] += value[i];
  }
}

/* Computes a block of narrow frames, sequence by sequence. */
static void addNarrowBlock(const THNNConvolution *g, int64_t first, int64_t count,
                           const int64_t *indices, const real *gradOutput, real *gradInput)
{
  const int64_t frames = g->input[1], frameSize = g->input[2];
  while (count > 0) {
    const int64_t sequence = first / frames, begin = first % frames;
    const int64_t end = begin + count < frames ? begin + count : frames;
    const int64_t from = sequence * g->output[1] * frameSize;
    addNarrow(g, begin, end, indices + from, gradOutput + from,
              gradInput + sequence * frames * frameSize);
    first += end - begin;
    count -= end - begin;
  }
}

/* With 8 and 12 values, adding them one by one was measured to take nine tenths of the time. */
enum { LEAST_VALUES = 16 };

/* Whether each frame is in one window at most, which alone decides about it. */
static bool areApart(const THNNConvolution *g)
{
  return g->kernel[1] <= g->stride[1] && g->input[2] >= LEAST_VALUES;
}

/* Computes the frames of windows that are apart, and those behind them that are in none. A result
 * that leaves the caches anyway is written with streaming stores. */
static void setFrames(const THNNState *state, const THNNConvolution *g, const int64_t *indices,
                      const real *gradOutput, real *gradInput)
{
  enum { TILE = 8192 / sizeof(real) };
  const int64_t windows = g->batch * g->output[1], n = g->input[2], inWindow = g->kernel[1] * n;
  const int64_t cost = g->stride[1] * n;
  const THNNBlocks blocks = THNN_rowBlocks(windows, cost);
  const int threads = THNN_threads(state, blocks.count, (double)windows * (double)cost);
  const bool leaves = THNN_leavesCaches(g->batch * g->input[1] * n, sizeof(real));
  const bool stream = leaves && inWindow <= TILE;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    real tile[TILE] __attribute__((aligned(64)));
    const int64_t first = block * blocks.length;
    THNNRow row = THNN_rowAt(first, 1, g->output[1]);
    for (int64_t i = 0; i < THNN_blockLength(&blocks, block); i++, THNN_nextRow(&row)) {
      const int64_t at = (first + i) * n, frame = row.y * g->stride[1];
      const int64_t next = row.y + 1 < g->output[1] ? frame + g->stride[1] : g->input[1];
      real *to = gradInput + (row.plane * g->input[1] + frame) * n;
      if (leaves) {
        THNN_fetchToSecondLevel(indices + at, n * (int64_t)sizeof *indices, THNN_PAGE_BYTES);
        THNN_fetchToSecondLevel(gradOutput + at, n * (int64_t)sizeof(real), THNN_PAGE_BYTES);
      }
      THNN_(simd).indices.setNamed(n, indices + at, g->kernel[1], gradOutput + at,
                                   stream ? tile : to);
      if (stream)
        THNN_(simd).pointwise.stream(inWindow, tile, to);
      if (frame + g->kernel[1] < next)
        THNN_(simd).pointwise.fill((next - frame) * n - inWindow, 0, to + inWindow);
    }
    if (stream)
      THNN_(simd).pointwise.streamEnd();
  }
}

/* Each index is a frame of its own window, or -1. A result that leaves the caches anyway is written
 * with streaming stores. */
static void addFrames(const THNNState *state, const THNNConvolution *g, const int64_t *indices,
                      const real *gradOutput, real *gradInput)
{
  enum { PIECE = 2048 / sizeof(real) };
  const int64_t frames = g->batch * g->input[1], frameSize = g->input[2];
  const int64_t cost = (g->kernel[1] / g->stride[1] + 1) * frameSize;
  const THNNBlocks blocks = THNN_rowBlocks(frames, cost);
  const int threads = THNN_threads(state, blocks.count, (double)frames * (double)cost);
  const bool stream = THNN_leavesCaches(frames * frameSize, sizeof(real));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++) {
    if (frameSize < NARROW) {
      addNarrowBlock(g, block * blocks.length, THNN_blockLength(&blocks, block), indices,
                     gradOutput, gradInput);
      continue;
    }
    real tile[PIECE] __attribute__((aligned(64)));
    for (int64_t i = 0; i < THNN_blockLength(&blocks, block); i++) {
      const int64_t number = block * blocks.length + i;
      const int64_t first = number / g->input[1] * g->output[1] * frameSize;
      real *gradient = gradInput + number * frameSize;
      for (int64_t x = 0; x < frameSize; x += PIECE) {
        const int64_t n = frameSize - x < PIECE ? frameSize - x : PIECE;
        addFrame(g, number % g->input[1], stream, n, indices + first + x, gradOutput + first + x,
                 stream ? tile : gradient + x);
        if (stream)
          THNN_(simd).pointwise.stream(n, tile, gradient + x);
      }
    }
    if (stream)
      THNN_(simd).pointwise.streamEnd();
  }
}

void THNN_(TemporalMaxPooling_updateGradInput)(THNNState *state, THTensor *input,
                                               THTensor *gradOutput, THTensor *gradInput,
                                               THIndexTensor *indices, int kW, int dW)
{
  const char *function = "TemporalMaxPooling_updateGradInput";
  const THNNConvolution g = THNN_TemporalMaxPooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6, kW, dW);
  const THNNPooledIndices pooled = {.function = function,
                                    .state = state,
                                    .planes = g.batch,
                                    .slices = 1,
                                    .rows = g.output[1],
                                    .length = g.output[2],
                                    .elements = g.input[1] * g.input[2],
                                    .element = elementOfFrame,
                                    .expected =
                                        "frames of the windows, from 0, inside the input, or -1",
                                    .context = &g};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const THNNView view = THNN_LongTensorOperations.view(indices);
  if (!THNN_isDense(&view) || !THNN_areAllWithin(state, THNN_pooledElements(&pooled),
                                                 (const int64_t *)view.data, -1, kW - 1)) {
    THNN_(indices_updateGradInput)(&pooled, input, gradOutput, gradInput, indices, 5);
    return;
  }
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *index = THNN_planIn(&plan, indices, 5);
  THNN_planAcquire(&plan);
  if (areApart(&g))
    setFrames(state, &g, index->data, from->data, to->data);
  else
    addFrames(state, &g, index->data, from->data, to->data);
  THNN_planRelease(&plan);
}
