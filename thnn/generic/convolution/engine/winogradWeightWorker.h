/* What a weight gradient by Winograd's algorithms plans, and what its threads have. */
#ifndef THNN_CONVOLUTION_WINOGRAD_WEIGHT_WORKER_H
#define THNN_CONVOLUTION_WINOGRAD_WEIGHT_WORKER_H

#include "generic/convolution/engine/offsets.h"
#include "generic/convolution/engine/panels.h"
#include "generic/convolution/engine/winogradTiles.h"

/* A task is a group of panels of map planes times a block of image slices, over all blocks of tiles
 * or a share of them. */
typedef struct WinogradWeightPlan {
  const SimdTiles *tiles; /* their size and transforms */
  int64_t blockSegments;  /* rows of tiles, or pieces of rows, in a block */
  int64_t blockSlices;    /* image slices in a block */
  int64_t groups;         /* of panels */
  int64_t shares;         /* shares of the blocks of tiles, each with partial sums of its own */
  bool keepsResults;      /* results are kept until all are known to be finite */
} WinogradWeightPlan;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct WinogradWeightWorker {
  THNNConvolution g;
  int64_t slices; /* number of image slices that a map position sees */
  TileGrid grid;  /* tiles of the map */
  int64_t pieces; /* number of segments in a row of tiles */
  WinogradWeightPlan plan;
  const real *image, *map;
  real *results;  /* [share][panel][slice][tap][lane], or one panel's if they are not kept */
  double *totals; /* sums of map gradients: [share][panel][lane] */

  real *coefficients; /* of the image: [coefficient][slice][tile] of a block */
  real *gradients;    /* [coefficient][tile][lane] */
  real *sums;         /* [panel of a group][coefficient][slice][lane] */
  real *lines, *packed, *blockTotals;
  real *zeros;                 /* zeros, from which sums start */
  THNNOffsets *row;            /* slices of a task: [LeftOut][slice] */
  int64_t rows[LEFT_OUT_SETS]; /* and how many there are */
  THNNOffsets *term;
  Segment *segment; /* segments of a block */
} WinogradWeightWorker;

static inline WinogradWeightWorker workerFor(const THNNConvolution *g, const SimdTiles *tiles)
{
  WinogradWeightWorker worker = {.g = *g,
                                 .slices = g->inputPlanes * slicesOf(g),
                                 .grid = tileGrid(g, tiles),
                                 .plan.tiles = tiles};
  worker.pieces = divideUp(worker.grid.columns, THNN_MOST_TILES);
  return worker;
}

/* Coefficients of a tile. */
static inline int64_t coefficientsOf(const WinogradWeightWorker *worker)
{
  return worker->plan.tiles->coefficients;
}

static inline int64_t panels(const WinogradWeightWorker *worker)
{
  return panelCountOf(&THNN_(simd).products, worker->g.outputPlanes);
}

static inline int64_t mostLanes(const WinogradWeightWorker *worker)
{
  return mostPanelLanesOf(&THNN_(simd).products, worker->g.outputPlanes);
}

static inline Panel panelOfMap(const WinogradWeightWorker *worker, int64_t index)
{
  return panelOf(&THNN_(simd).products, worker->g.outputPlanes, index);
}

static inline int64_t segmentCount(const WinogradWeightWorker *worker)
{
  return worker->g.batch * worker->g.output[0] * worker->grid.residues * worker->pieces *
         worker->grid.rows;
}

/* Most tiles of a block. */
static inline int64_t blockTiles(const WinogradWeightWorker *worker)
{
  return worker->plan.blockSegments * divideUp(worker->grid.columns, worker->pieces);
}

/* Distance from one slice of the coefficients to the next, with room for a vector of tiles that is
 * written past a slice's end. */
static inline int64_t sliceStep(const WinogradWeightWorker *worker)
{
  return roundUp(blockTiles(worker) + vectorLanes(), vectorLanes());
}

static inline int64_t imageStep(const WinogradWeightWorker *worker)
{
  return coefficientStep(worker->plan.blockSlices * sliceStep(worker));
}

static inline int64_t gradientStep(const WinogradWeightWorker *worker)
{
  return coefficientStep(blockTiles(worker) * mostLanes(worker));
}

static inline int64_t sumStep(const WinogradWeightWorker *worker)
{
  return coefficientStep(worker->plan.blockSlices * mostLanes(worker));
}

/* Number of elements of a panel's sums. */
static inline int64_t panelSums(const WinogradWeightWorker *worker)
{
  return coefficientsOf(worker) * sumStep(worker);
}

/* The number of blocks of tiles. */
static inline int64_t blockCount(const WinogradWeightWorker *worker)
{
  return divideUp(segmentCount(worker), worker->plan.blockSegments);
}

/* The number of blocks of slices. */
static inline int64_t sliceBlocks(const WinogradWeightWorker *worker)
{
  return divideUp(worker->slices, worker->plan.blockSlices);
}

/* The number of parts of the work: groups of panels times blocks of slices. */
static inline int64_t partCount(const WinogradWeightWorker *worker)
{
  return worker->plan.groups * sliceBlocks(worker);
}

/* Whether no task has more than one block of tiles: one panel's sums are finished after the other. */
static inline bool taskHasOneBlock(const WinogradWeightWorker *worker)
{
  return blockCount(worker) <= worker->plan.shares;
}

/* The most panels of a group whose sums are there at a time. */
static inline int64_t panelsAtATime(const WinogradWeightWorker *worker)
{
  return taskHasOneBlock(worker) ? 1 : divideUp(panels(worker), worker->plan.groups);
}

/* Number of elements of a share's results. */
static inline int64_t resultElements(const WinogradWeightWorker *worker)
{
  return panels(worker) * worker->slices * filterOf(worker->plan.tiles) * mostLanes(worker);
}

/* Number of elements of a segment's rows of map gradients, for a vector of planes. */
static inline int64_t packedElements(const WinogradWeightWorker *worker)
{
  const int64_t tiles = divideUp(worker->grid.columns, worker->pieces);
  const int64_t side = worker->plan.tiles->side;
  return side * (side * tiles + 2 * (side - 1) * worker->g.dilation[2]) * vectorLanes();
}

/* Number of elements of a panel's results of a task; 0 if all results are kept. */
static inline int64_t taskElements(const WinogradWeightWorker *worker)
{
  const int64_t rows = worker->plan.blockSlices * filterOf(worker->plan.tiles);
  return worker->plan.keepsResults ? 0 : rows * mostLanes(worker);
}

/* Lists of slices: one for each LeftOut, or of all. */
static inline int64_t rowLists(const WinogradWeightWorker *worker)
{
  return worker->g.stride[1] == 2 ? LEFT_OUT_SETS : 1;
}

static inline void layOutShared(WinogradWeightWorker *worker, Scratch *scratch)
{
  const int64_t shares = worker->plan.shares;
  if (worker->plan.keepsResults)
    worker->results = THNN_take(scratch, shares * resultElements(worker), sizeof(real));
  worker->totals = THNN_take(scratch, shares * panels(worker) * mostLanes(worker), sizeof(double));
}

static inline void layOutThread(WinogradWeightWorker *worker, Scratch *scratch)
{
  if (!worker->plan.keepsResults)
    worker->results = THNN_take(scratch, taskElements(worker), sizeof(real));
  worker->coefficients =
      THNN_take(scratch, coefficientsOf(worker) * imageStep(worker), sizeof(real));
  worker->gradients =
      THNN_take(scratch, coefficientsOf(worker) * gradientStep(worker), sizeof(real));
  worker->sums = THNN_take(scratch, panelsAtATime(worker) * panelSums(worker), sizeof(real));
  worker->lines = THNN_take(scratch, worker->plan.tiles->lines, sizeof(real));
  worker->packed = THNN_take(scratch, packedElements(worker), sizeof(real));
  worker->blockTotals = THNN_take(scratch, mostLanes(worker), sizeof(real));
  worker->zeros = THNN_take(scratch, mostLanes(worker), sizeof(real));
  worker->row =
      THNN_take(scratch, rowLists(worker) * worker->plan.blockSlices, sizeof(THNNOffsets));
  worker->term = THNN_take(scratch, blockTiles(worker), sizeof(THNNOffsets));
  worker->segment = THNN_take(scratch, worker->plan.blockSegments, sizeof(Segment));
}

#endif
