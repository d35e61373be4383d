/* The plan and the worker of Winograd's algorithm (winograd.c): where its operands and its areas of
 * scratch are, and how large these are. */
#ifndef THNN_CONVOLUTION_WINOGRAD_WORKER_H
#define THNN_CONVOLUTION_WINOGRAD_WORKER_H

#include "generic/convolution/engine/winogradTiles.h"

enum {
  /* Most planes of a panel, whose sums stay in the second-level cache beside a block's slices. */
  PANEL_PLANES = 48,
  /* Threads share out the map planes in parts of this many. It is fixed, since the size of a part
   * decides in which order sums are added, and results must not depend on the threads. */
  SHARED_PLANES = 16,
  /* Planes whose weights are transformed at a time; a multiple of a vector's lanes. */
  BLOCK_PLANES = 64,
  /* Bytes of the slices that are multiplied with a panel's weights at a time, which stay in the
   * first-level cache. */
  NEAR_BYTES = 24 << 10
};
/* Most bytes of the slices of a block; and of a group of blocks, which saves transforming the
 * weights again for each block. */
static const int64_t BLOCK_BYTES = 2304 << 10, GROUP_BYTES = 4608 << 10;
/* Bytes of transformed weights that stay near until they are multiplied: the second-level cache of
 * the processors whose timings the costs are fitted to. */
static const double NEAR_WEIGHT_BYTES = 1 << 20;

/* How many tiles are computed at a time, in blocks and groups, and how many weights are transformed
 * at a time. */
typedef struct WinogradPlan {
  const SimdTiles *tiles; /* their size and transforms */
  int64_t blockTiles;     /* tiles in a block, a multiple of a vector's lanes */
  int64_t groupBlocks;    /* blocks in a group */
  int64_t panelPlanes;    /* map planes whose products are formed at a time */
  bool sharesWeights;     /* all weights are transformed once, for all threads; otherwise those of a
                           * panel are, for each group */
  bool keepsWeights;      /* all weights are transformed only for the first of several calls */
  bool joinsPhases;       /* the phases are computed together, as if each were a map plane */
  bool gathersResults;    /* a block's results of a plane, which are whole rows, are gathered in the
                           * thread's scratch before they go to the map */
} WinogradPlan;

/* What all threads share; after the blank line, what each thread has to itself. The weight is
 * stored by the planes of the ordinary convolution: its outer planes are those of the map, or
 * transposed those of the image. */
typedef struct WinogradWorker {
  THNNConvolution g;                /* that of a phase, where the map has phases */
  THNNConvolution whole;            /* of all phases */
  int64_t outerPlanes, innerPlanes; /* outer and inner planes of the weight */
  int64_t filters; /* filters of up to tiles->taps^2 weights for a pair of planes */
  int64_t slices;  /* number of image slices that a map position sees */
  int64_t phases;  /* of the map: 1 or PHASES */
  /* Of the phase that is computed, or of the first one if they are joined. */
  int64_t phaseFilter;           /* the phase's filter; without phases 0 */
  int64_t phaseRow, phaseColumn; /* the phase's first row and column in the map */
  TileGrid grid;
  WinogradPlan plan;
  const real *image, *weight, *bias;
  real *map;
  Finish finish;
  /* [coefficient][vector of outer planes][inner plane][filter][lane], for all planes or a part of
   * them; filters are those of taps in depth, of slices or of phases. Kept ones have map planes in
   * lanes even if transposed, and then filters of phases before image planes: products read each
   * vector of map planes from one end to the other */
  real *weights;

  real *packed;       /* weights: [inner plane and filter][tap][lane] */
  real *ordered;      /* the same, where filters are not contiguous in `packed` */
  real *coefficients; /* of the image: [block][coefficient][slice][tile] */
  real *sums;         /* [block][coefficient][map plane of the panel][joined phase][tile] */
  real *lines;
  real *zeros;       /* zeros, from which sums start */
  real *rows;        /* rows of results that are not in the map yet: a segment's or a block's */
  THNNOffsets *row;  /* map planes of a panel and their joined phases: [LeftOut][row] */
  THNNOffsets *term; /* slices: [LeftOut][slice] */
  Segment *segment;  /* [block][segment] */
  int64_t *segments; /* number of segments, [block] */
} WinogradWorker;

/* A group of blocks of tiles. */
typedef struct Group {
  int64_t first; /* index of the group's first tile among all tiles */
  int64_t blocks;
} Group;

/* The padding of a map with phases in dimension i, for an even number of taps. A tap of 0 past the last
 * one comes first, since taps are met in the reverse order: it sees one element more. */
static inline int64_t virtualPad(const THNNConvolution *g, int i)
{
  return g->pad[i] + (g->kernel[i] % 2 != 0 && !beginsWithZero(g, i));
}

/* Sets the geometry of a phase of the map. Position 2u + v of a phase that begins at v sees image
 * elements (2u + v - pad + t) / 2 where that is whole, through tap last - t. */
static inline void setPhase(WinogradWorker *worker, int64_t phase)
{
  const int64_t first[] = {0, phase / 2, phase % 2};
  worker->phaseRow = first[1];
  worker->phaseColumn = first[2];
  worker->phaseFilter = 0;
  for (int i = 1; i < 3; i++) {
    const int64_t pad = virtualPad(&worker->whole, i) - first[i];
    const bool odd = pad % 2 != 0; /* whether t is */
    worker->g.stride[i] = 1;
    worker->g.output[i] = (worker->whole.output[i] - first[i] + 1) / 2;
    worker->g.pad[i] = (pad - odd) / 2;
    worker->phaseFilter = 2 * worker->phaseFilter + !odd; /* last is odd */
  }
  worker->grid = tileGrid(&worker->g, worker->plan.tiles);
}

static inline WinogradWorker workerFor(const THNNConvolution *g, const SimdTiles *tiles)
{
  const bool strided = g->stride[1] == 2;
  const int64_t filters = strided ? PHASES : g->kernel[0];
  WinogradWorker worker = {.g = *g,
                           .whole = *g,
                           .outerPlanes = g->transposed ? g->inputPlanes : g->outputPlanes,
                           .innerPlanes = g->transposed ? g->outputPlanes : g->inputPlanes,
                           .filters = filters,
                           .slices = g->inputPlanes * (strided && g->transposed ? 1 : filters),
                           .phases = strided && g->transposed ? PHASES : 1,
                           .grid = tileGrid(g, tiles),
                           .plan.tiles = tiles};
  if (worker.phases > 1)
    setPhase(&worker, 0); /* the largest */
  return worker;
}

/* Whether all phases of the map see the same elements. */
static inline bool canJoinPhases(const WinogradWorker *worker)
{
  return worker->phases > 1 && virtualPad(&worker->whole, 1) % 2 != 0 &&
         virtualPad(&worker->whole, 2) % 2 != 0;
}

/* Coefficients of a tile. */
static inline int64_t coefficientsOf(const WinogradWorker *worker)
{
  return worker->plan.tiles->coefficients;
}

/* The passes in which the map is computed, one for each phase unless these are joined. */
static inline int64_t passes(const WinogradWorker *worker)
{
  return worker->plan.joinsPhases ? 1 : worker->phases;
}

/* The phases of a plane that are computed in one pass. */
static inline int64_t phasesAtATime(const WinogradWorker *worker)
{
  return worker->phases / passes(worker);
}

/* Filters of a pair of planes that are transformed at a time: those of all phases, or of one. */
static inline int64_t filtersOfPair(const WinogradWorker *worker)
{
  return passes(worker) > 1 && !worker->plan.sharesWeights ? 1 : worker->filters;
}

/* Weights of so many filters, which with phases are all of one pair of planes or of several. */
static inline int64_t weightsOf(const WinogradWorker *worker, int64_t filters)
{
  return filters * THNN_convolutionTaps(&worker->whole) / worker->filters;
}

/* Whether map positions see slices, and how many lists of them there are: one for each LeftOut. */
static inline bool hasSlices(const WinogradWorker *worker)
{
  return worker->whole.stride[1] == 2 && worker->phases == 1;
}

static inline int64_t termLists(const WinogradWorker *worker)
{
  return hasSlices(worker) ? LEFT_OUT_SETS : 1;
}

/* Whether lanes of transformed weights are map planes, not image planes. */
static inline bool hasMapLanes(const WinogradWorker *worker)
{
  return !worker->g.transposed || worker->plan.keepsWeights;
}

/* The planes that are spread over lanes of transformed weights. */
static inline int64_t planesInLanes(const WinogradWorker *worker)
{
  return hasMapLanes(worker) ? worker->g.outputPlanes : worker->g.inputPlanes;
}

/* The number of filters that are stored one after the other for each plane in lanes, one for each
 * plane of the other side and for each of the filters of a pair of planes. */
static inline int64_t filtersOf(const WinogradWorker *worker)
{
  if (worker->plan.sharesWeights)
    return (hasMapLanes(worker) ? worker->g.inputPlanes : worker->g.outputPlanes) * worker->filters;
  const int64_t panel = worker->plan.panelPlanes * filtersOfPair(worker);
  return worker->g.transposed ? panel : BLOCK_PLANES;
}

/* Distance from one coefficient of the weights to the next. */
static inline int64_t weightStep(const WinogradWorker *worker)
{
  const int64_t some = worker->g.transposed ? BLOCK_PLANES : worker->plan.panelPlanes;
  const int64_t planes = worker->plan.sharesWeights ? planesInLanes(worker) : some;
  return coefficientStep(roundUp(planes, vectorLanes()) * filtersOf(worker));
}

static inline int64_t sliceStep(const WinogradWorker *worker)
{
  return coefficientStep(worker->slices * worker->plan.blockTiles);
}

/* The rows of products of a panel: its planes, or their joined phases. */
static inline int64_t panelRows(const WinogradWorker *worker)
{
  return worker->plan.panelPlanes * phasesAtATime(worker);
}

/* The lists of such rows: one for each LeftOut, or of all. */
static inline int64_t rowLists(const WinogradWorker *worker)
{
  return worker->plan.joinsPhases ? LEFT_OUT_SETS : 1;
}

static inline int64_t sumStep(const WinogradWorker *worker)
{
  return coefficientStep(panelRows(worker) * worker->plan.blockTiles);
}

static inline void layOutShared(WinogradWorker *worker, Scratch *scratch)
{
  if (worker->plan.sharesWeights && !worker->plan.keepsWeights)
    worker->weights = THNN_take(scratch, coefficientsOf(worker) * weightStep(worker), sizeof(real));
}

/* A thread's coefficients, which come first in its scratch. */
static inline void layOutCoefficients(WinogradWorker *worker, Scratch *scratch)
{
  worker->coefficients = THNN_take(
      scratch, worker->plan.groupBlocks * coefficientsOf(worker) * sliceStep(worker), sizeof(real));
}

/* Whether a segment's results follow each other in rows of the map; with dilated taps and in phases
 * they do not. */
static inline bool followsRows(const WinogradWorker *worker)
{
  return worker->g.dilation[1] == 1 && worker->g.dilation[2] == 1 && worker->phases == 1;
}

static inline void layOutThread(WinogradWorker *worker, Scratch *scratch)
{
  const int64_t tiles = worker->plan.blockTiles, blocks = worker->plan.groupBlocks;
  layOutCoefficients(worker, scratch);
  if (!worker->plan.sharesWeights)
    worker->weights = THNN_take(scratch, coefficientsOf(worker) * weightStep(worker), sizeof(real));
  const int64_t packed = BLOCK_PLANES * filterOf(worker->plan.tiles) * vectorLanes();
  worker->packed = THNN_take(scratch, packed, sizeof(real));
  if (worker->whole.stride[1] == 2)
    worker->ordered = THNN_take(scratch, packed, sizeof(real));
  worker->sums =
      THNN_take(scratch, blocks * coefficientsOf(worker) * sumStep(worker), sizeof(real));
  worker->lines = THNN_take(scratch, worker->plan.tiles->lines, sizeof(real));
  worker->zeros = THNN_take(scratch, tiles, sizeof(real));
  if (followsRows(worker)) {
    const int64_t rows = worker->plan.gathersResults ? tiles / worker->grid.columns : 1;
    worker->rows =
        THNN_take(scratch, rows * worker->plan.tiles->side * worker->g.output[2], sizeof(real));
  }
  if (worker->plan.joinsPhases) { /* a segment's, of two phases */
    const int64_t side = worker->plan.tiles->side;
    worker->rows = THNN_take(scratch, 2 * side * side * worker->grid.columns, sizeof(real));
  }
  worker->row = THNN_take(scratch, rowLists(worker) * panelRows(worker), sizeof(THNNOffsets));
  worker->term = THNN_take(scratch, termLists(worker) * worker->slices, sizeof(THNNOffsets));
  worker->segment = THNN_take(scratch, blocks * tiles, sizeof(Segment));
  worker->segments = THNN_take(scratch, blocks, sizeof(int64_t));
}

/* The number of rows of tiles, and of tiles, in all samples. */
static inline int64_t allRows(const WinogradWorker *worker)
{
  return worker->g.batch * worker->g.output[0] * worker->grid.residues * worker->grid.rows;
}

static inline int64_t allTiles(const WinogradWorker *worker)
{
  return allRows(worker) * worker->grid.columns;
}

/* How many of a block's `count` tiles are computed with map planes in the lanes: a few after the last whole
 * vector, if the weights have such lanes. A single vector before them would load more than it
 * multiplies, and takes less time together with them. */
static inline int64_t fewTiles(const WinogradWorker *worker, int64_t count)
{
  const int64_t whole = count / vectorLanes(), left = count % vectorLanes();
  const bool across = hasMapLanes(worker) && phasesAtATime(worker) == 1 && whole != 1;
  return across && left <= THNN_(simd).products.fewColumns ? left : 0;
}

/* The vectors of tiles in a block, at most `most`. Blocks are nearly equal, but a tile or two after the last
 * whole vector have a block of their own where they would else come after a single vector: odd numbers
 * of rows of as many tiles leave one over after vectors of eight. With AVX2, 128 planes of 28x28 take
 * nine tenths of the time. */
static inline int64_t blockVectors(const WinogradWorker *worker, int64_t most)
{
  enum { MOST_ALONE = 2 };
  const int64_t tiles = allTiles(worker), lanes = vectorLanes(), whole = tiles / lanes;
  const int64_t block = evenBlock(divideUp(tiles, lanes), most, 1), few = fewTiles(worker, tiles);
  const bool afterOne = whole > 1 && whole % block == 1;
  return few > 0 && few <= MOST_ALONE && afterOne ? evenBlock(whole, most, 1) : block;
}

/* The number of parts in which the map planes are divided among threads. */
static inline int64_t planeParts(const WinogradWorker *worker)
{
  return maximum(worker->g.outputPlanes / SHARED_PLANES, 1);
}

/* The first plane of part number `part`; the last part can be larger than the others. */
static inline int64_t firstPlane(const WinogradWorker *worker, int64_t part)
{
  return part < planeParts(worker) ? part * SHARED_PLANES : worker->g.outputPlanes;
}

/* winogradFilters.c: Packs and transforms the weights of outer planes [outer, end), a vector of planes
 * at a time: `filters` filters of each, beginning with number `filter`. */
void THNN_(winogradFilters_transform)(const WinogradWorker *worker, int64_t outer, int64_t end,
                                      int64_t filter, int64_t filters, real *weights);

/* Packs and transforms the weights that all image planes have for a vector of map planes, of which
 * the first is `plane`, in a transposed layer. */
void THNN_(winogradFilters_transformMapLanes)(const WinogradWorker *worker, int64_t plane,
                                              real *weights);

/* winogradResults.c: Makes the map of the sums of planes [first, first + planes) in a block of the
 * group. Returns whether another algorithm need not compute it, since all of it is finite, or has
 * been added. */
bool THNN_(winogradResults_transformSums)(const WinogradWorker *worker, int64_t block,
                                          int64_t first, int64_t planes);

#endif
