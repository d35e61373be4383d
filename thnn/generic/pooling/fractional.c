#include "generic/pooling/fractional.h"

#include <stdio.h>

#include "generic/pooling/indices.h"
#include "geometry/adaptive.h"
#include "call/strided.h"
#include "call/planTensor.h"
#include "work/scratch.h"

/* Region `position` along one dimension: steps of (input - pool)/(output - 1), rounded down after
 * a random start; the last region ends where the input ends. */
static THNNRange regionAt(const THNNFractional *f, int dimension, real sample, int64_t position)
{
  const int64_t room = f->input[dimension] - f->pool[dimension], last = f->output[dimension] - 1;
  int64_t begin = room;
  if (position < last) {
    const real step = (real)room / (real)last;
    begin = (int64_t)(((real)position + sample) * step) - (int64_t)(sample * step);
  }
  if (begin > room) /* rounding, in long rows of floats */
    begin = room;
  return (THNNRange){begin, begin + f->pool[dimension]};
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

/* Outputs that are pooled at a time: several rows of one plane, or one longer row. */
enum { TOGETHER = 1024 };

/* How the work is divided: into blocks of output rows, of which `together` rows of one plane are
 * pooled at a time. */
typedef struct FractionalPartition {
  THNNBlocks blocks;
  int64_t together; /* rows that are pooled at a time */
  int threads;
  size_t threadBytes;
} FractionalPartition;

/* What a thread pools with: the offsets of a region's elements; where a plane's columns begin; the
 * first element of each region, and where its greatest one is. */
typedef struct Areas {
  Place *offsets, *columns, *at, *places;
} Areas;

static int64_t tapsOf(const THNNFractional *f)
{
  return f->pool[0] * f->pool[1] * f->pool[2];
}

static Areas layOut(const THNNFractional *f, int64_t together, Scratch *scratch)
{
  const int64_t width = f->output[2];
  Areas areas;
  areas.offsets = THNN_take(scratch, tapsOf(f), sizeof(Place));
  areas.columns = THNN_take(scratch, width, sizeof(Place));
  areas.at = THNN_take(scratch, together * width, sizeof(Place));
  areas.places = THNN_take(scratch, together * width, sizeof(Place));
  return areas;
}

static FractionalPartition partitionFor(const THNNState *state, const THNNFractional *f)
{
  FractionalPartition partition = {.together =
                                       f->output[2] < TOGETHER ? TOGETHER / f->output[2] : 1};
  const int64_t rows = f->planes * f->output[0] * f->output[1], width = f->output[2];
  const int64_t cost = (tapsOf(f) + 4) * width + 48;
  partition.blocks = THNN_rowBlocks(rows, cost);
  partition.threads = THNN_threads(state, partition.blocks.count, (double)rows * (double)cost);
  Scratch needed = {0};
  layOut(f, partition.together, &needed);
  partition.threadBytes = needed.used;
  return partition;
}

static void listTaps(const THNNFractional *f, Place *offsets)
{
  for (int64_t z = 0; z < f->pool[0]; z++)
    for (int64_t y = 0; y < f->pool[1]; y++)
      for (int64_t x = 0; x < f->pool[2]; x++)
        *offsets++ = (Place)((z * f->input[1] + y) * f->input[2] + x);
}

/* The index where a region begins along a dimension. */
static int64_t beginOf(const THNNFractional *f, const real *samples, int64_t plane, int dimension,
                       int64_t position)
{
  return regionAt(f, dimension, sampleOf(f, samples, plane, dimension), position).begin;
}

/* Lists the regions of rows of a plane, beginning with `row`. */
static void listRegions(const THNNFractional *f, const real *samples, THNNRow row, int64_t rows,
                        const Place *columns, Place *at)
{
  const int64_t width = f->output[2];
  for (int64_t i = 0; i < rows; i++, THNN_nextRow(&row)) {
    const int64_t z = f->nDimension == 3 ? beginOf(f, samples, row.plane, 0, row.z) : 0;
    const int64_t y = beginOf(f, samples, row.plane, 1, row.y);
    const Place first = (Place)((z * f->input[1] + y) * f->input[2]);
    for (int64_t x = 0; x < width; x++)
      *at++ = first + columns[x];
  }
}

static void poolBlock(const THNNFractional *f, const FractionalPartition *partition, int64_t block,
                      const real *input, const real *samples, real *output, int64_t *indices,
                      const Areas *areas)
{
  const int64_t planeRows = f->output[0] * f->output[1], width = f->output[2];
  const int64_t elements = f->input[0] * f->input[1] * f->input[2];
  const int64_t begin = block * partition->blocks.length;
  const int64_t end = begin + THNN_blockLength(&partition->blocks, block);
  for (int64_t first = begin, rows; first < end; first += rows) {
    const THNNRow row = THNN_rowAt(first, f->output[0], f->output[1]);
    const int64_t left = planeRows - first % planeRows;
    rows = end - first < left ? end - first : left;
    rows = rows < partition->together ? rows : partition->together;
    if (first == begin || first % planeRows == 0)
      for (int64_t x = 0; x < width; x++)
        areas->columns[x] = (Place)beginOf(f, samples, row.plane, 2, x);
    listRegions(f, samples, row, rows, areas->columns, areas->at);
    THNN_(simd).pooling.maxAround(rows * width, areas->at, tapsOf(f), areas->offsets,
                                  input + row.plane * elements, THNN_LOWEST, output + first * width,
                                  areas->places);
    THNN_(simd).indices.indexOfPlace(rows * width, areas->places, TH_INDEX_BASE, 0,
                                     indices + first * width);
  }
}

void THNN_(fractional_updateOutput)(const THNNFractionalCall *call, THTensor *input,
                                    THTensor *output, THIndexTensor *indices,
                                    THTensor *randomSamples)
{
  const THNNFractional *f = &call->pooling;
  int64_t size[5];
  const int nDimension = THNN_fractionalOutputSize(f, THNN_SHAPE(input, 2), size);

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  checkSamples(call, randomSamples);
  const FractionalPartition partition = partitionFor(call->state, f);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *numbers = THNN_planOut(&plan, indices, call->indicesPosition, nDimension, size);
  const THNNBuffer *samples = THNN_planIn(&plan, randomSamples, call->indicesPosition + 1);
  const THNNBuffer *scratch =
      THNN_planScratch(&plan, (size_t)partition.threads * partition.threadBytes);
  THNN_planAcquire(&plan);

#pragma omp parallel num_threads(partition.threads)
  {
    Scratch mine = THNN_scratchOf(scratch->data, partition.threadBytes, THNN_threadIndex());
    const Areas areas = layOut(f, partition.together, &mine);
    listTaps(f, areas.offsets);
#pragma omp for schedule(static)
    for (int64_t block = 0; block < partition.blocks.count; block++)
      poolBlock(f, &partition, block, in->data, samples->data, out->data, numbers->data, &areas);
  }
  THNN_planRelease(&plan);
}

void THNN_(fractional_updateGradInput)(const THNNFractionalCall *call, THTensor *input,
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

  THNN_(indices_updateGradInput)(&pooled, input, gradOutput, gradInput, indices,
                                 call->indicesPosition);
}
