/* 2-D convolution without weight sharing: each output position has kernels of its own.
 *   input    [batch x] nInputPlane x inputHeight x inputWidth
 *   weight   outputHeight x outputWidth x nOutputPlane x nInputPlane x kH x kW, or
 *            (outputHeight * outputWidth) x nOutputPlane x (nInputPlane * kH * kW)
 *   bias     nOutputPlane x outputHeight x outputWidth
 *   output   [batch x] nOutputPlane x outputHeight x outputWidth
 * The window that an output position sees is a column of nInputPlane * kH * kW elements. Windows of
 * several samples make a matrix, so a position takes one matrix product for all of them. */
#include <limits.h>

#include "generic/convolution/checks.h"
#include "generic/shared/matrix.h"
#include "geometry/convolution.h"
#include "work/scratch.h"
#include "work/sizes.h"

#ifdef THNN_ONCE
/* Checks the weight and returns the number of output planes. If the weight fits the other arguments
 * except for its number of input planes, the input is rejected rather than the weight. */
static int64_t checkedPlanes(const char *function, THNNShape input, THNNShape weight,
                             const int64_t *output, const int64_t *window)
{
  const int planes = input.nDimension == 4; /* the input's dimension of planes */
  if (weight.nDimension == 3) {
    const int64_t positions = THNN_product(2, output), elements = THNN_product(3, window);
    const int64_t taps = THNN_product(2, window + 1);
    THNN_checkDimensions(function, weight, 3, 3,
                         "(outputHeight * outputWidth) x nOutputPlane x (nInputPlane * kH * kW)");
    THNN_checkSize(function, weight, 0, positions, "outputHeight * outputWidth");
    if (weight.size[2] != elements && taps > 0 && weight.size[2] % taps == 0)
      THNN_checkSize(function, input, planes, weight.size[2] / taps, "nInputPlane");
    THNN_checkSize(function, weight, 2, elements, "nInputPlane * kH * kW");
    return weight.size[1];
  }
  const char *layout = "outputHeight x outputWidth x nOutputPlane x nInputPlane x kH x kW";
  THNN_checkDimensions(function, weight, 6, 6, layout);
  const int64_t wanted[] = {output[0],      output[1], weight.size[2],
                            weight.size[3], window[1], window[2]};
  THNN_checkSizes(function, weight, 6, wanted, layout);
  THNN_checkSize(function, input, planes, weight.size[3], "nInputPlane");
  return weight.size[2];
}

THNNConvolution THNN_SpatialConvolutionLocal_shapeCheck(const char *function, THNNShape input,
                                                        THNNShape gradOutput, THNNShape weight,
                                                        THNNShape bias, int firstPosition, int kW,
                                                        int kH, int dW, int dH, int padW, int padH,
                                                        int64_t inputWidth, int64_t inputHeight,
                                                        int64_t outputWidth, int64_t outputHeight)
{
  const int at = firstPosition;
  THNN_checkPositive(function, THNN_SCALAR(kW, at));
  THNN_checkPositive(function, THNN_SCALAR(kH, at + 1));
  THNN_checkPositive(function, THNN_SCALAR(dW, at + 2));
  THNN_checkPositive(function, THNN_SCALAR(dH, at + 3));
  THNN_checkPositive(function, THNN_SCALAR(outputWidth, at + 8));
  THNN_checkPositive(function, THNN_SCALAR(outputHeight, at + 9));
  THNN_checkDimensions(function, input, 3, 4, "[batch x] nInputPlane x inputHeight x inputWidth");
  THNN_elements(function, input);
  const bool batched = input.nDimension == 4;
  THNN_checkSize(function, input, batched + 1, inputHeight, "inputHeight");
  THNN_checkSize(function, input, batched + 2, inputWidth, "inputWidth");

  const int64_t batch = batched ? input.size[0] : 1;
  const int64_t output[] = {outputHeight, outputWidth}, window[] = {input.size[batched], kH, kW};
  const int64_t planes = checkedPlanes(function, input, weight, output, window);
  THNN_elements(function, weight);
  if (THNN_product(3, window) > INT_MAX || planes > INT_MAX)
    THNN_rejectShape(function, weight, "sizes that BLAS can count");
  const int64_t wanted[] = {batch, planes, outputHeight, outputWidth};
  if (bias.nDimension != THNN_NOT_PRESENT)
    THNN_checkSizes(function, bias, 3, wanted + 1, "nOutputPlane x outputHeight x outputWidth");
  const char *layout = "[batch x] nOutputPlane x outputHeight x outputWidth";
  if (gradOutput.nDimension != THNN_NOT_PRESENT && batched)
    THNN_checkSizesOrMore(function, gradOutput, 4, wanted, layout);
  else if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkSizes(function, gradOutput, 3, wanted + 1, layout);
  return (THNNConvolution){.batch = batch,
                           .inputPlanes = window[0],
                           .outputPlanes = planes,
                           .input = {1, inputHeight, inputWidth},
                           .output = {1, outputHeight, outputWidth},
                           .kernel = {1, kH, kW},
                           .stride = {1, dH, dW},
                           .pad = {0, padH, padW},
                           .dilation = {1, 1, 1}};
}
#endif

/* Limit in bytes on the windows of one product, and on its output elements, which then stay in the
 * second-level cache. A single sample can exceed it. */
enum { WINDOW_BYTES = 1 << 18 };

static int64_t positionsOf(const THNNConvolution *g)
{
  return g->output[1] * g->output[2];
}

static int64_t inputPositions(const THNNConvolution *g)
{
  return g->input[1] * g->input[2];
}

static int64_t tapsOf(const THNNConvolution *g)
{
  return g->kernel[1] * g->kernel[2];
}

/* The part of an output position's window that is inside the image. */
typedef struct Window {
  int64_t row, column; /* the window's first tap, which can be outside */
  int64_t firstRow, lastRow, firstColumn, lastColumn; /* taps [first, last) are inside */
} Window;

static Window windowAt(const THNNConvolution *g, int64_t position)
{
  Window w = {.row = position / g->output[2] * g->stride[1] - g->pad[1],
              .column = position % g->output[2] * g->stride[2] - g->pad[2]};
  w.firstRow = w.row < 0 ? minimum(-w.row, g->kernel[1]) : 0;
  w.lastRow = minimum(g->kernel[1], g->input[1] - w.row);
  w.firstColumn = w.column < 0 ? minimum(-w.column, g->kernel[2]) : 0;
  w.lastColumn = minimum(g->kernel[2], g->input[2] - w.column);
  return w;
}

/* elements = a window in `planes` planes, with 0 for what is outside the image. */
static void readWindow(const THNNConvolution *g, const Window *w, int64_t planes, const real *image,
                       real *elements)
{
  for (int64_t plane = 0; plane < planes; plane++)
    for (int64_t i = 0; i < g->kernel[1]; i++, elements += g->kernel[2]) {
      const bool inside = i >= w->firstRow && i < w->lastRow;
      const real *row = image + plane * inputPositions(g) + (w->row + i) * g->input[2] + w->column;
      for (int64_t j = 0; j < g->kernel[2]; j++)
        elements[j] = inside && j >= w->firstColumn && j < w->lastColumn ? row[j] : 0;
    }
}

/* Adds a window's elements to the image, except those outside it. */
static void addWindow(const THNNConvolution *g, const Window *w, int64_t planes,
                      const real *elements, real *image)
{
  for (int64_t plane = 0; plane < planes; plane++)
    for (int64_t i = w->firstRow; i < w->lastRow; i++) {
      const real *from = elements + plane * tapsOf(g) + i * g->kernel[2];
      real *row = image + plane * inputPositions(g) + (w->row + i) * g->input[2] + w->column;
      for (int64_t j = w->firstColumn; j < w->lastColumn; j++)
        row[j] += from[j];
    }
}

/* How the work is cut into products. */
typedef struct Cut {
  int64_t planes, samples; /* input planes (all but in updateGradInput) and samples of a product */
  int threads;
  size_t packedBytes, threadBytes;
} Cut;

/* A thread's scratch: the windows and the output elements of each sample of a product, and where
 * the product packs its operands. */
typedef struct Areas {
  real *windows, *elements;
  void *packing;
} Areas;

static Areas layOut(const THNNConvolution *g, const Cut *cut, Scratch *scratch)
{
  Areas areas;
  areas.windows = THNN_take(scratch, cut->samples * cut->planes * tapsOf(g), sizeof(real));
  areas.elements = THNN_take(scratch, cut->samples * g->outputPlanes, sizeof(real));
  areas.packing = THNN_take(scratch, (int64_t)cut->packedBytes, 1);
  return areas;
}

static Areas areasOf(const THNNConvolution *g, const Cut *cut, void *memory)
{
  Scratch scratch = THNN_scratchOf(memory, cut->threadBytes, THNN_threadIndex());
  return layOut(g, cut, &scratch);
}

static Cut cutWork(const THNNState *state, const THNNConvolution *g, int64_t planes,
                   int64_t (*tasks)(const THNNConvolution *, const Cut *))
{
  Cut cut = {.planes = planes};
  const int64_t window = planes * tapsOf(g), bytes = window * (int64_t)sizeof(real);
  const int64_t elementBytes = g->outputPlanes * (int64_t)sizeof(real);
  const int64_t most = bytes > elementBytes ? bytes : elementBytes;
  cut.samples = minimum(g->batch, most < WINDOW_BYTES ? WINDOW_BYTES / most : 1);
  const int64_t longest = maximum(window, maximum(g->outputPlanes, cut.samples));
  cut.packedBytes = THNN_(matrix_aloneBytes)(state, longest, longest, longest);
  Scratch needed = {0};
  layOut(g, &cut, &needed);
  cut.threadBytes = needed.used;
  /* Weights come from memory, so that a product takes as long as reading them. */
  cut.threads = THNN_blasThreads(state, tasks(g, &cut),
                                 (double)g->batch * (double)g->inputPlanes * (double)tapsOf(g) *
                                     (double)g->outputPlanes * (double)positionsOf(g) / 2);
  return cut;
}

static int64_t positionTasks(const THNNConvolution *g, const Cut *cut)
{
  (void)cut;
  return positionsOf(g);
}

/* windows = what an output position sees in samples [first, first + count). */
static void readWindows(const THNNConvolution *g, const Cut *cut, int64_t position, int64_t first,
                        int64_t count, const real *input, real *windows)
{
  const Window w = windowAt(g, position);
  for (int64_t i = 0; i < count; i++)
    readWindow(g, &w, cut->planes, input + (first + i) * g->inputPlanes * inputPositions(g),
               windows + i * cut->planes * tapsOf(g));
}

/* elements[sample][plane] = gradOutput at a position, in samples [first, first + count). */
static void readElements(const THNNConvolution *g, int64_t position, int64_t first, int64_t count,
                         const real *gradOutput, real *elements)
{
  const real *from = gradOutput + first * g->outputPlanes * positionsOf(g) + position;
  THNN_(simd).pointwise.copyFromSteps(count * g->outputPlanes, from, positionsOf(g), elements);
}

void THNN_(SpatialConvolutionLocal_updateOutput)(THNNState *state, THTensor *input,
                                                 THTensor *output, THTensor *weight, THTensor *bias,
                                                 THTensor *finput, THTensor *fgradInput, int kW,
                                                 int kH, int dW, int dH, int padW, int padH,
                                                 int64_t inputWidth, int64_t inputHeight,
                                                 int64_t outputWidth, int64_t outputHeight)
{
  (void)finput, (void)fgradInput;
  const char *function = "SpatialConvolutionLocal_updateOutput";
  const THNNConvolution g = THNN_SpatialConvolutionLocal_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5), 8,
      kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight);
  const bool batched = input->nDimension == 4;
  const int64_t size[] = {g.batch, g.outputPlanes, outputHeight, outputWidth};
  const Cut cut = cutWork(state, &g, g.inputPlanes, positionTasks);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, 3 + batched, size + !batched);
  THNNBuffer *kernels = THNN_planIn(&plan, weight, 4);
  THNNBuffer *start = THNN_planIn(&plan, bias, 5);
  THNNBuffer *scratch = THNN_planScratch(&plan, cut.threadBytes * (size_t)cut.threads);
  THNN_planAcquire(&plan);

  const int64_t window = g.inputPlanes * tapsOf(&g), planes = g.outputPlanes;
  const int64_t positions = positionsOf(&g);
  THNN_blasBegin();
#pragma omp parallel for num_threads(cut.threads) schedule(static)
  for (int64_t p = 0; p < positions; p++) {
    const Areas areas = areasOf(&g, &cut, scratch->data);
    real *windows = areas.windows, *elements = areas.elements;
    real *kernel = (real *)kernels->data + p * planes * window;
    for (int64_t first = 0; first < g.batch; first += cut.samples) {
      const int64_t count = minimum(cut.samples, g.batch - first);
      readWindows(&g, &cut, p, first, count, in->data, windows);
      THNN_(simd).pointwise.copyFromSteps(planes, (real *)start->data + p, positions, elements);
      for (int64_t i = 1; i < count; i++)
        THNN_(simd).pointwise.copy(planes, elements, elements + i * planes);
      const Matrix a = {kernel, window, true}, b = {windows, window, false};
      THNN_(matrix_multiplyAlone)(state, planes, count, window, 1, a, b, 1, elements, planes,
                                  areas.packing);
      real *to = (real *)out->data + first * planes * positions + p;
      for (int64_t i = 0; i < count * planes; i++)
        to[i * positions] = elements[i];
    }
  }
  THNN_blasEnd();
  THNN_planRelease(&plan);
}

/* A task of updateGradInput is a group of input planes in a group of samples. */
static int64_t planeTasks(const THNNConvolution *g, const Cut *cut)
{
  return ((g->inputPlanes + cut->planes - 1) / cut->planes) *
         ((g->batch + cut->samples - 1) / cut->samples);
}

/* Input planes in a group: as few as make windows of 64 elements, or all of them. */
static int64_t groupPlanes(const THNNConvolution *g)
{
  const int64_t wanted = (64 + tapsOf(g) - 1) / tapsOf(g);
  return minimum(g->inputPlanes, wanted);
}

/* Computes gradInput for one task, position after position. */
static void spreadPlanes(const THNNState *state, const THNNConvolution *g, const Cut *cut,
                         int64_t task, const real *gradOutput, real *weight, real *gradInput,
                         void *scratch)
{
  const int64_t groups = (g->inputPlanes + cut->planes - 1) / cut->planes;
  const int64_t firstPlane = task % groups * cut->planes, first = task / groups * cut->samples;
  const int64_t planes = minimum(cut->planes, g->inputPlanes - firstPlane);
  const int64_t count = minimum(cut->samples, g->batch - first);
  const int64_t window = planes * tapsOf(g), wholeWindow = g->inputPlanes * tapsOf(g);
  const int64_t plane = inputPositions(g);
  const Areas areas = areasOf(g, cut, scratch);
  real *windows = areas.windows, *elements = areas.elements;
  real *image = gradInput + (first * g->inputPlanes + firstPlane) * plane;

  for (int64_t i = 0; i < count; i++)
    THNN_(simd).pointwise.fill(planes * plane, 0, image + i * g->inputPlanes * plane);
  for (int64_t p = 0; p < positionsOf(g); p++) {
    const Window w = windowAt(g, p);
    readElements(g, p, first, count, gradOutput, elements);
    const real *kernels = weight + p * g->outputPlanes * wholeWindow + firstPlane * tapsOf(g);
    const Matrix a = {kernels, wholeWindow, false}, b = {elements, g->outputPlanes, false};
    THNN_(matrix_multiplyAlone)(state, window, count, g->outputPlanes, 1, a, b, 0, windows, window,
                                areas.packing);
    for (int64_t i = 0; i < count; i++)
      addWindow(g, &w, planes, windows + i * window, image + i * g->inputPlanes * plane);
  }
}

void THNN_(SpatialConvolutionLocal_updateGradInput)(
    THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight,
    THTensor *finput, THTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH,
    int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight)
{
  (void)finput, (void)fgradInput;
  const char *function = "SpatialConvolutionLocal_updateGradInput";
  const THNNConvolution g = THNN_SpatialConvolutionLocal_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 8, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth,
      outputHeight);
  const Cut cut = cutWork(state, &g, groupPlanes(&g), planeTasks);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *kernels = THNN_planIn(&plan, weight, 5);
  THNNBuffer *scratch = THNN_planScratch(&plan, cut.threadBytes * (size_t)cut.threads);
  THNN_planAcquire(&plan);

  THNN_blasBegin();
#pragma omp parallel for num_threads(cut.threads) schedule(static)
  for (int64_t task = 0; task < planeTasks(&g, &cut); task++)
    spreadPlanes(state, &g, &cut, task, from->data, kernels->data, to->data, scratch->data);
  THNN_blasEnd();
  THNN_planRelease(&plan);
}

void THNN_(SpatialConvolutionLocal_accGradParameters)(
    THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight,
    THTensor *gradBias, THTensor *finput, THTensor *fgradInput, int kW, int kH, int dW, int dH,
    int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth,
    int64_t outputHeight, accreal scale)
{
  (void)finput, (void)fgradInput;
  const char *function = "SpatialConvolutionLocal_accGradParameters";
  const THNNConvolution g = THNN_SpatialConvolutionLocal_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth,
      outputHeight);
  const Cut cut = cutWork(state, &g, g.inputPlanes, positionTasks);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *kernels = THNN_planInOut(&plan, gradWeight, 4);
  THNNBuffer *start = THNN_planInOut(&plan, gradBias, 5);
  THNNBuffer *scratch = THNN_planScratch(&plan, cut.threadBytes * (size_t)cut.threads);
  THNN_planAcquire(&plan);

  const int64_t window = g.inputPlanes * tapsOf(&g), planes = g.outputPlanes;
  THNN_blasBegin();
#pragma omp parallel for num_threads(cut.threads) schedule(static)
  for (int64_t p = 0; p < positionsOf(&g); p++) {
    const Areas areas = areasOf(&g, &cut, scratch->data);
    real *windows = areas.windows, *elements = areas.elements;
    for (int64_t first = 0; first < g.batch; first += cut.samples) {
      const int64_t count = minimum(cut.samples, g.batch - first);
      readWindows(&g, &cut, p, first, count, in->data, windows);
      readElements(&g, p, first, count, from->data, elements);
      const Matrix a = {windows, window, false}, b = {elements, planes, true};
      THNN_(matrix_multiplyAlone)(state, window, planes, count, (real)scale, a, b, 1,
                                  (real *)kernels->data + p * planes * window, window,
                                  areas.packing);
    }
  }
  THNN_blasEnd();
  THNN_(matrix_addRowSum)(state, g.batch, planes * positionsOf(&g), (real)scale, from->data,
                          planes * positionsOf(&g), start->data);
  THNN_planRelease(&plan);
}
