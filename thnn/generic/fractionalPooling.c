#include "fractionalPooling.h"

#include <stdio.h>

#include "pooledIndices.h"
#include "regionMax.h"
#include "../THNNStrided.h"
#include "../planTensor.h"

/* Region `position` along one dimension: steps of (input - pool)/(output - 1), rounded down after
 * a random start; the last region ends where the input ends. */
static THNNRegion regionAt(const THNNFractional *f, int dimension, real sample, int64_t position)
{
  const int64_t room = f->input[dimension] - f->pool[dimension], last = f->output[dimension] - 1;
  int64_t begin = room;
  if (position < last) {
    const real step = (real)room / (real)last;
    begin = (int64_t)(((real)position + sample) * step) - (int64_t)(sample * step);
  }
  if (begin > room) /* rounding, in long rows of floats */
    begin = room;
  return (THNNRegion){begin, begin + f->pool[dimension]};
}

/* A plane's samples come in the order of the arguments, width before height. */
static real sampleOf(const THNNFractional *f, const real *samples, int64_t plane, int dimension)
{
  return samples[plane * f->nDimension + 2 - dimension];
}

static void checkSamples(const THNNFractionalCall *call, THTensor *randomSamples)
{
  const int64_t wanted = call->pooling.planes * call->pooling.nDimension;
  const THNNView view = THNN_(TensorOperations).view(randomSamples);
  const THNNFolded folded = THNN_fold(&view);
  for (int64_t i = 0; i < wanted; i++) {
    real sample;
    THNN_gatherPart(&folded, view.data, sizeof sample, i, 1, &sample);
    if (sample >= 0 && sample <= 1)
      continue;
    char found[64];
    snprintf(found, sizeof found, "%g at element %lld", (double)sample, (long long)i + 1);
    THNN_reject(call->function, "randomSamples", call->indicesPosition + 1, "numbers from 0 to 1",
                found);
  }
}

/* The regions of a plane's columns. */
static void setColumns(const THNNFractional *f, const real *samples, int64_t plane,
                       THNNRegion *columns)
{
  const real sample = sampleOf(f, samples, plane, 2);
  for (int64_t i = 0; i < f->output[2]; i++)
    columns[i] = regionAt(f, 2, sample, i);
}

static void poolRow(const THNNFractional *f, const THNN_(RegionMax) * work, const real *input,
                    const real *samples, int64_t row, char *scratch, real *output, int64_t *indices)
{
  const int64_t planeRows = f->output[0] * f->output[1], plane = row / planeRows;
  const int64_t height = f->input[1], width = f->input[2], outputWidth = f->output[2];
  const THNNRegion z = f->nDimension == 3 ? regionAt(f, 0, sampleOf(f, samples, plane, 0),
                                                     row % planeRows / f->output[1])
                                          : (THNNRegion){0, 1};
  const THNNRegion y = regionAt(f, 1, sampleOf(f, samples, plane, 1), row % f->output[1]);
  const THNN_(Place) *places =
      THNN_(maxOfRegions)(work, input + plane * f->input[0] * height * width, z, y, scratch,
                          output + row * outputWidth);
  THNN_(simd).pooling.indexOfPlace(outputWidth, places,
                                   (z.begin * height + y.begin) * width + TH_INDEX_BASE, 0,
                                   indices + row * outputWidth);
}

void THNN_(fractionalUpdateOutput)(const THNNFractionalCall *call, THTensor *input,
                                   THTensor *output, THIndexTensor *indices,
                                   THTensor *randomSamples)
{
  const THNNFractional *f = &call->pooling;
  int64_t size[5];
  const int nDimension = THNN_fractionalOutputSize(f, THNN_SHAPE(input, 2), size);

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  checkSamples(call, randomSamples);
  THNN_(RegionMax)
  work = {.planes = f->planes,
          .input = {f->input[0], f->input[1], f->input[2]},
          .output = {f->output[0], f->output[1], f->output[2]},
          .columns = f->pool[2],
          .start = THNN_LOWEST};
  THNN_(prepareRegionMax)(&work, call->state, f->pool[0] * f->pool[1]);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *numbers = THNN_planOut(&plan, indices, call->indicesPosition, nDimension, size);
  const THNNBuffer *samples = THNN_planIn(&plan, randomSamples, call->indicesPosition + 1);
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)work.threads * work.threadBytes);
  THNN_planAcquire(&plan);

  const int64_t planeRows = f->output[0] * f->output[1];
#pragma omp parallel for num_threads(work.threads) schedule(static)
  for (int64_t block = 0; block < work.blocks.count; block++) {
    char *mine = (char *)scratch->data + (size_t)THNN_threadIndex() * work.threadBytes;
    const int64_t first = block * work.blocks.length;
    for (int64_t row = first; row < first + THNN_blockLength(&work.blocks, block); row++) {
      if (row == first || row % planeRows == 0)
        setColumns(f, samples->data, row / planeRows, THNN_(rowRegions)(&work, mine));
      poolRow(f, &work, in->data, samples->data, row, mine, out->data, numbers->data);
    }
  }
  THNN_planRelease(&plan);
}

void THNN_(fractionalUpdateGradInput)(const THNNFractionalCall *call, THTensor *input,
                                      THTensor *gradOutput, THTensor *gradInput,
                                      THIndexTensor *indices)
{
  const THNNFractional *f = &call->pooling;
  const THNNPooledIndices pooled = {.function = call->function,
                                    .state = call->state,
                                    .planes = f->planes,
                                    .slices = f->output[0],
                                    .rows = f->output[1],
                                    .length = f->output[2],
                                    .elements = f->input[0] * f->input[1] * f->input[2]};

  THNN_(pooledUpdateGradInput)(&pooled, input, gradOutput, gradInput, indices,
                               call->indicesPosition);
}
