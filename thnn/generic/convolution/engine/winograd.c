/* Convolution with 3x3 taps and stride 1 by Winograd's algorithm, forward and backwardData. Results
 * are computed in tiles of 2x2, for which elements and weights are transformed to 16 coefficients
 * each (simd/kernels/winograd.c); the code calls a coefficient's index `number`. Coefficient by
 * coefficient, they are multiplied and summed up over the source planes:
 *
 *   sums[number][result plane][tile] = weights[number][result plane][source plane] *
 *                                      sources[number][source plane][tile]
 *
 * which takes 16 products where the definition has 36. A last transform makes results of the sums.
 * If there are taps in depth, a result sees a slice of each source plane through each of them:
 * these slices take the place of source planes. Dilated taps see one residue class of a slice's
 * rows and columns, which has tiles of its own (winogradTiles.h).
 *
 * A result depends on the elements that the definition has for it and no others, but if one of
 * those is infinite, differences of infinities can arise. So if any result is not finite, another
 * algorithm computes all of them. */
#include "generic/convolution/engine/winogradTiles.h"

enum {
  /* Most planes of a panel, whose sums stay in the second-level cache beside a block's sources. */
  PANEL_PLANES = 48,
  /* Result planes are divided among threads in parts of this many; with fewer, sums would be added
   * in another order. */
  SHARED_PLANES = 16,
  /* Planes whose weights are transformed at a time; a multiple of a vector's lanes. */
  BLOCK_PLANES = 64,
  /* Bytes of the sources that are multiplied with a panel's weights at a time, which stay in the
   * first-level cache. */
  NEAR_BYTES = 24 << 10
};
/* Most bytes of the sources of a block; and of a group of blocks, which saves transforming the
 * weights again for each block. */
static const int64_t BLOCK_BYTES = 2304 << 10, GROUP_BYTES = 4608 << 10;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct Worker {
  const THNNConvolutionPlan *plan;
  Sides sides;
  int64_t slices; /* number of source slices that a result sees */
  TileGrid grid;
  const real *source, *weight, *bias;
  real *result;
  /* [number][vector of map planes][image plane][tap in depth][lane], for all planes or some */
  real *weights;

  real *packed;  /* weights: [image plane and tap in depth][tap][lane] */
  real *sources; /* [block][number][slice][tile] */
  real *sums;    /* [block][number][result plane of the panel][tile] */
  real *lines;
  real *zeros; /* what sums start from */
  THNNOffsets *row, *term;
  Segment *segment;  /* [block][segment] */
  int64_t *segments; /* number of segments, [block] */
} Worker;

/* A group of blocks of tiles. */
typedef struct Group {
  int64_t first; /* index of the group's first tile among all tiles */
  int64_t blocks;
} Group;

/* The number of 3x3 filters that are stored one after the other for each map plane, one for each
 * image plane and tap in depth. */
static int64_t filtersOf(const THNNConvolutionPlan *plan, const THNNConvolutionWinograd *winograd)
{
  const int64_t depth = plan->geometry.kernel[0];
  if (winograd->sharesWeights)
    return plan->geometry.inputPlanes * depth;
  return isForward(plan) ? BLOCK_PLANES : winograd->panelPlanes * depth;
}

/* Distance from one coefficient of the weights to the next. */
static int64_t weightStep(const THNNConvolutionPlan *plan, const THNNConvolutionWinograd *winograd)
{
  const int64_t some = isForward(plan) ? winograd->panelPlanes : BLOCK_PLANES;
  const int64_t maps = winograd->sharesWeights ? plan->geometry.outputPlanes : some;
  return numberStep(roundUp(maps, lanes()) * filtersOf(plan, winograd));
}

static int64_t sourceStep(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  return numberStep(worker->slices * winograd->blockTiles);
}

static int64_t sumStep(const THNNConvolutionWinograd *winograd)
{
  return numberStep(winograd->panelPlanes * winograd->blockTiles);
}

static Worker workerFor(const THNNConvolutionPlan *plan)
{
  Worker worker = {.plan = plan, .sides = sidesOf(plan)};
  worker.slices = worker.sides.sourcePlanes * plan->geometry.kernel[0];
  worker.grid = tileGrid(&plan->geometry, &worker.sides);
  return worker;
}

/* The number of rows of tiles, and of tiles, in all samples. */
static int64_t allRows(const Worker *worker)
{
  return worker->plan->geometry.batch * worker->sides.result[0] * worker->grid.phases *
         worker->grid.rows;
}

static int64_t allTiles(const Worker *worker)
{
  return allRows(worker) * worker->grid.columns;
}

/* The number of parts in which the result planes are divided among threads. */
static int64_t planeParts(const Sides *sides)
{
  return maximum(sides->resultPlanes / SHARED_PLANES, 1);
}

/* The first plane of part number `part`; the last part can be larger than the others. */
static int64_t firstPlane(const Sides *sides, int64_t part)
{
  return part < planeParts(sides) ? part * SHARED_PLANES : sides->resultPlanes;
}

/* ---- Planning -------------------------------------------------------------------------------- */

/* The total cost: products and the three transforms, fitted to 180 timings of layers from 8 to 1024
 * planes. */
static double winogradCost(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  const double sources = (double)worker->slices, results = (double)worker->sides.resultPlanes;
  const int64_t tiles = allTiles(worker), blocks = divideUp(tiles, winograd->blockTiles);
  const double vectors = (double)divideUp(tiles, lanes());
  const double rows = (double)allRows(worker);
  const double lines = rows * ((double)divideUp(worker->grid.columns, lanes()) + 0.5);
  const double transforms =
      winograd->sharesWeights ? 1 : (double)divideUp(blocks, winograd->groupBlocks);
  return NUMBERS * results * (0.77 * sources * vectors + 8 * (double)blocks) +
         lines * (THNN_(simd).winograd.sourceCost * sources +
                  THNN_(simd).winograd.resultCost * results) +
         rows * movingCost(&worker->grid, worker->plan->geometry.dilation[2]) *
             (sources + results) +
         11 * transforms * sources * results;
}

static int64_t workerBytes(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  const int64_t tiles = winograd->blockTiles, blocks = winograd->groupBlocks;
  const int64_t packed = BLOCK_PLANES * FILTER * lanes();
  const int64_t weights =
      winograd->sharesWeights ? 0 : NUMBERS * weightStep(worker->plan, winograd);
  return scratchBytes(weights, sizeof(real)) + scratchBytes(packed, sizeof(real)) +
         scratchBytes(blocks * NUMBERS * sourceStep(worker, winograd), sizeof(real)) +
         scratchBytes(blocks * NUMBERS * sumStep(winograd), sizeof(real)) +
         scratchBytes(THNN_(simd).winograd.lines, sizeof(real)) +
         scratchBytes(tiles, sizeof(real)) +
         scratchBytes(winograd->panelPlanes, sizeof(THNNOffsets)) +
         scratchBytes(worker->slices, sizeof(THNNOffsets)) +
         scratchBytes(blocks * tiles, sizeof(Segment)) + scratchBytes(blocks, sizeof(int64_t));
}

/* Chooses the blocks of tiles, and whether memory holds all transformed weights beside one block;
 * otherwise weights are transformed again for each group of as many blocks as there is room for. */
static void chooseBlocks(const Worker *worker, int64_t limitBytes,
                         THNNConvolutionWinograd *winograd)
{
  const int64_t perTile = NUMBERS * worker->slices * (int64_t)sizeof(real);
  const int64_t vectors = divideUp(allTiles(worker), lanes());
  const int64_t room = minimum(BLOCK_BYTES, limitBytes / 2) / (perTile * lanes());
  const int64_t most = minimum(maximum(room, 1), THNN_(simd).products.mostVectors);
  winograd->blockTiles = evenBlock(vectors, most, 1) * lanes();
  winograd->groupBlocks = 1;
  winograd->panelPlanes =
      roundUp(evenBlock(worker->sides.resultPlanes, PANEL_PLANES, 1), SHARED_PLANES);
  winograd->sharesWeights = true;
  winograd->sharedBytes =
      (size_t)scratchBytes(NUMBERS * weightStep(worker->plan, winograd), sizeof(real));
  if ((int64_t)winograd->sharedBytes + workerBytes(worker, winograd) > limitBytes) {
    const int64_t blocks = divideUp(vectors * lanes(), winograd->blockTiles);
    const int64_t bytes = minimum(GROUP_BYTES, limitBytes / 2);
    winograd->groupBlocks =
        evenBlock(blocks, maximum(bytes / (perTile * winograd->blockTiles), 1), 1);
    winograd->sharesWeights = false;
    winograd->sharedBytes = 0;
  }
  winograd->threadBytes = (size_t)workerBytes(worker, winograd);
}

bool THNN_(ConvolutionWinograd_prepare)(const THNNConvolutionPlan *plan, const THNNState *state,
                                        THNNConvolutionWinograd *winograd)
{
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  if (!winogradApplies(&plan->geometry))
    return false;
  const Worker worker = workerFor(plan);
  chooseBlocks(&worker, limitBytes, winograd);
  if ((int64_t)(winograd->sharedBytes + winograd->threadBytes) > limitBytes)
    return false;
  const int64_t groups = divideUp(allTiles(&worker), winograd->blockTiles * winograd->groupBlocks);
  winograd->used = true;
  winograd->threads = THNN_threads(state, groups * planeParts(&worker.sides),
                                   convolutionOperations(&plan->geometry));
  winograd->cost = winogradCost(&worker, winograd);
  return true;
}

/* ---- Transforms ------------------------------------------------------------------------------ */

/* Packs and transforms the weights of map planes [map, end), a vector of planes at a time:
 * `filters` filters of each, beginning with number `filter`. */
static void transformWeights(const Worker *worker, int64_t map, int64_t end, int64_t filter,
                             int64_t filters, real *weights)
{
  const THNNConvolutionPlan *plan = worker->plan;
  const int64_t stride = plan->geometry.inputPlanes * plan->geometry.kernel[0] * FILTER;
  const int64_t step = weightStep(plan, &plan->winograd);
  for (; map < end; map += lanes(), weights += filtersOf(plan, &plan->winograd) * lanes())
    for (int64_t first = 0; first < filters; first += BLOCK_PLANES) {
      const int64_t count = minimum(BLOCK_PLANES, filters - first);
      THNN_(simd).products.pack(minimum(end - map, lanes()), count * FILTER,
                                worker->weight + map * stride + (filter + first) * FILTER, stride,
                                worker->packed, lanes());
      THNN_(simd).winograd.weights(count, !isForward(plan), worker->packed, step,
                                   weights + first * lanes());
    }
}

/* Cuts tiles [first, end) of all samples into segments, and returns their number. */
static int64_t listSegments(const Worker *worker, int64_t first, int64_t end, Segment *segment)
{
  const TileGrid *grid = &worker->grid;
  int64_t segments = 0;
  for (; first < end; first += segment[segments++].tiles) {
    const int64_t line = first / grid->columns, column = first % grid->columns;
    const int64_t row = line % grid->rows, phase = line / grid->rows % grid->phases;
    const int64_t slice = line / grid->rows / grid->phases;
    Segment *next = &segment[segments];
    *next = segmentAt(worker->plan, &worker->sides, slice, phase, row, column);
    next->tiles = minimum(grid->columns - column, end - first);
    next->below = segments > 0 && row > 0 && next[-1].column == next->column;
  }
  return segments;
}

/* Group number `index`; lists its segments. */
static Group groupAt(const Worker *worker, int64_t index)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  const int64_t blockTiles = winograd->blockTiles, all = allTiles(worker);
  const int64_t first = index * winograd->groupBlocks * blockTiles;
  const Group group = {first, minimum(winograd->groupBlocks, divideUp(all - first, blockTiles))};
  for (int64_t block = 0; block < group.blocks; block++) {
    const int64_t begin = first + block * blockTiles;
    worker->segments[block] = listSegments(worker, begin, minimum(begin + blockTiles, all),
                                           worker->segment + block * blockTiles);
  }
  return group;
}

/* The number of vectors of tiles in a block of the group; the last block of all has fewer. */
static int64_t blockVectors(const Worker *worker, const Group *group, int64_t block)
{
  const int64_t blockTiles = worker->plan->winograd.blockTiles;
  return divideUp(minimum(allTiles(worker) - group->first - block * blockTiles, blockTiles),
                  lanes());
}

/* Transforms one slice of a block's listed segments. Whole vectors are written, so that the last
 * segment can reach into the next slice. */
static void transformSegments(const Worker *worker, int64_t block, int64_t slice, int64_t step,
                              real *to)
{
  const Segment *segment = worker->segment + block * worker->plan->winograd.blockTiles;
  for (int64_t i = 0; i < worker->segments[block]; i++) {
    transformSlice(worker->plan, &worker->sides, &segment[i], slice, worker->source, worker->lines,
                   step, to);
    to += segment[i].tiles;
  }
}

/* Transforms slices [begin, end) of a group's sources; other threads can transform the rest. */
static void transformSources(const Worker *worker, const Group *group, int64_t begin, int64_t end)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  const int64_t step = sourceStep(worker, winograd);
  for (int64_t block = 0; block < group->blocks; block++) {
    const int64_t room = blockVectors(worker, group, block) * lanes();
    const bool last = group->first + block * winograd->blockTiles + room > allTiles(worker);
    real *sources = worker->sources + block * NUMBERS * step;
    for (int64_t slice = begin; slice < end; slice++) {
      real *place = sources + slice * winograd->blockTiles;
      /* What is written past the last slice must not reach into that of another thread. */
      const bool alone = slice + 1 < end || end == worker->slices;
      const int64_t apart = alone ? step : sumStep(winograd);
      real *to = alone ? place : worker->sums;
      /* The coefficients past the last tile are multiplied too, and have to be ordinary numbers. */
      for (int64_t number = 0; last && number < NUMBERS; number++)
        THNN_(simd).pointwise.fill(room, 0, to + number * apart);
      transformSegments(worker, block, slice, apart, to);
      for (int64_t number = 0; !alone && number < NUMBERS; number++)
        THNN_(simd).pointwise.copy(room, to + number * apart, place + number * step);
    }
  }
}

/* Makes results of the sums of planes [first, first + planes) in a block of the group. Returns
 * whether all of them are finite. */
static bool transformSums(const Worker *worker, int64_t block, int64_t first, int64_t planes)
{
  enum { AHEAD_PLANES = 2 }; /* prefetch distance, in planes */
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  const Sides *sides = &worker->sides;
  const int64_t step = sumStep(winograd);
  const Segment *segment = worker->segment + block * winograd->blockTiles;
  bool finite = true;
  for (int64_t plane = first; plane < first + planes; plane++) {
    const real *sums =
        worker->sums + block * NUMBERS * step + (plane - first) * winograd->blockTiles;
    const real bias = worker->bias ? worker->bias[plane] : 0;
    for (int64_t i = 0; i < worker->segments[block]; i++) {
      const THNN_(TileRow) row = {.tiles = segment[i].tiles,
                                  .height = sides->result[1],
                                  .width = sides->result[2],
                                  .row = segment[i].row,
                                  .column = segment[i].column,
                                  .rowStep = worker->plan->geometry.dilation[1],
                                  .columnStep = worker->plan->geometry.dilation[2],
                                  .place = segment[i].place,
                                  .ahead = AHEAD_PLANES * sides->resultPositions};
      const int64_t result = segment[i].sample * sides->resultPlanes + plane;
      finite &= THNN_(simd).winograd.result(&row, sums, step, bias,
                                            worker->result + result * sides->resultPositions +
                                                segment[i].depth * row.height * row.width);
      sums += segment[i].tiles;
    }
  }
  return finite;
}

/* ---- One task -------------------------------------------------------------------------------- */

/* Adds the products of slices [first, end) with `weights` to a panel's sums, for `vectors` vectors
 * of tiles in a block of the group. */
static void multiplySlices(const Worker *worker, int64_t block, int64_t vectors, int64_t planes,
                           int64_t first, int64_t end, const real *weights)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  const int64_t step = sourceStep(worker, winograd), tiles = winograd->blockTiles;
  const int64_t near = NEAR_BYTES / (tiles * (int64_t)sizeof(real));
  const int64_t terms = evenBlock(end - first, near, 1);
  for (int64_t number = 0; number < NUMBERS; number++)
    for (int64_t slice = first; slice < end; slice += terms) {
      const int64_t place = block * NUMBERS + number;
      const THNN_(Products)
          products = {.row = worker->row,
                      .rows = planes,
                      .term = worker->term + slice - first,
                      .terms = minimum(terms, end - slice),
                      .vectors = (int)vectors,
                      .scalars = weights + number * weightStep(worker->plan, winograd),
                      .factors = worker->sources + place * step + first * tiles,
                      .start = slice == 0 ? worker->zeros : NULL,
                      .sums = worker->sums + place * sumStep(winograd)};
      /* A group's sources do not fit into the second-level cache. */
      if (!winograd->sharesWeights && number + 1 < NUMBERS)
        THNN_(simd).products.prefetch(products.terms * tiles,
                                      products.factors + step + (slice - first) * tiles);
      THNN_(simd).products.add(&products);
    }
}

/* Adds all products of planes [result, result + planes) of a panel for a group, whose sources are
 * transformed. */
static void multiplyPanel(const Worker *worker, int64_t result, int64_t planes, const Group *group)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  const int64_t sources = worker->sides.sourcePlanes;
  const int64_t depth = worker->plan->geometry.kernel[0];
  const bool forward = isForward(worker->plan);
  if (winograd->sharesWeights) {
    const int64_t apart = (forward ? worker->plan->geometry.inputPlanes : lanes()) * depth;
    for (int64_t block = 0; block < group->blocks; block++)
      multiplySlices(worker, block, blockVectors(worker, group, block), planes, 0, worker->slices,
                     worker->weights + result * apart);
    return;
  }
  /* Forward, each slice has a filter of its own; backward, the slices of a map plane share its
   * filters. */
  const int64_t steps = forward ? worker->slices : sources, slices = forward ? 1 : depth;
  for (int64_t first = 0; first < steps; first += BLOCK_PLANES) {
    const int64_t end = minimum(first + BLOCK_PLANES, steps);
    if (forward)
      transformWeights(worker, result, result + planes, first, end - first, worker->weights);
    else
      transformWeights(worker, first, end, result * depth, planes * depth, worker->weights);
    for (int64_t block = 0; block < group->blocks; block++)
      multiplySlices(worker, block, blockVectors(worker, group, block), planes, first * slices,
                     end * slices, worker->weights);
  }
}

/* Computes result planes [begin, end) of a group, whose sources are transformed. Returns whether
 * all results are finite. */
static bool runPlanes(const Worker *worker, const Group *group, int64_t begin, int64_t end)
{
  const int64_t panel = worker->plan->winograd.panelPlanes;
  bool finite = true;
  for (int64_t plane = begin; plane < end;) {
    const int64_t planes = minimum((plane / panel + 1) * panel, end) - plane;
    multiplyPanel(worker, plane, planes, group);
    for (int64_t block = 0; block < group->blocks; block++)
      finite &= transformSums(worker, block, plane, planes);
    plane += planes;
  }
  return finite;
}

/* Lists where the products of result planes and slices find their weights and tiles. Map planes are
 * spread over lanes, and their filters are consecutive vectors. */
static void listPlanes(Worker *worker)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  const bool forward = isForward(worker->plan);
  const int64_t vector = filtersOf(worker->plan, winograd) * lanes();
  const int64_t taps = worker->plan->geometry.kernel[0];
  for (int64_t plane = 0; plane < winograd->panelPlanes; plane++) {
    const int64_t map = plane / lanes() * vector + plane % lanes(), image = plane * taps * lanes();
    worker->row[plane] = (THNNOffsets){forward ? map : image, plane * winograd->blockTiles};
  }
  for (int64_t slice = 0; slice < worker->slices; slice++) {
    const int64_t plane = slice / taps, filter = slice % taps * lanes();
    const int64_t map = plane / lanes() * vector + plane % lanes() + filter;
    worker->term[slice] =
        (THNNOffsets){forward ? slice * lanes() : map, slice * winograd->blockTiles};
  }
}

static void takeWorkerScratch(Worker *worker, char *scratch)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  const int64_t tiles = winograd->blockTiles, blocks = winograd->groupBlocks;
  worker->sources =
      takeScratch(&scratch, blocks * NUMBERS * sourceStep(worker, winograd), sizeof(real));
  if (!winograd->sharesWeights)
    worker->weights =
        takeScratch(&scratch, NUMBERS * weightStep(worker->plan, winograd), sizeof(real));
  worker->packed = takeScratch(&scratch, BLOCK_PLANES * FILTER * lanes(), sizeof(real));
  worker->sums = takeScratch(&scratch, blocks * NUMBERS * sumStep(winograd), sizeof(real));
  worker->lines = takeScratch(&scratch, THNN_(simd).winograd.lines, sizeof(real));
  worker->zeros = takeScratch(&scratch, tiles, sizeof(real));
  worker->row = takeScratch(&scratch, winograd->panelPlanes, sizeof(THNNOffsets));
  worker->term = takeScratch(&scratch, worker->slices, sizeof(THNNOffsets));
  worker->segment = takeScratch(&scratch, blocks * tiles, sizeof(Segment));
  worker->segments = takeScratch(&scratch, blocks, sizeof(int64_t));
  THNN_(simd).pointwise.fill(tiles, 0, worker->zeros);
  listPlanes(worker);
}

/* The first part of `group` that share number `share` of `shares` takes. Each of the `groups`
 * groups has `parts` parts. These are dealt round-robin, one of each group in turn, and every share
 * is an equal run of that sequence. */
static int64_t shareBegin(int64_t parts, int64_t group, int64_t groups, int64_t share,
                          int64_t shares)
{
  return (parts * groups * share / shares + groups - 1 - group) / groups;
}

/* A thread's transformed sources, which come first in its scratch. */
static real *sourcesOf(const THNNConvolutionPlan *plan, void *scratch, int64_t thread)
{
  return scratchOfThread(scratch, plan->winograd.sharedBytes, plan->winograd.threadBytes, thread);
}

bool THNN_(ConvolutionWinograd_run)(const THNNConvolutionPlan *plan, const real *source,
                                    const real *weight, const real *bias, real *result,
                                    void *scratch)
{
  const THNNConvolutionWinograd *winograd = &plan->winograd;
  const int64_t filters = plan->geometry.inputPlanes * plan->geometry.kernel[0];
  const int64_t maps = plan->geometry.outputPlanes;
  Worker common = workerFor(plan);
  common.source = source;
  common.weight = weight;
  common.bias = bias;
  common.result = result;
  common.weights = scratch;
  const int64_t groupTiles = winograd->blockTiles * winograd->groupBlocks;
  const int64_t planes = common.sides.resultPlanes, parts = planeParts(&common.sides);
  const int64_t shared = winograd->sharesWeights ? maps : 0;
  const int threads = winograd->threads;
  /* Threads take equally many groups each, and work together on the groups that are left over, one
   * of which can be smaller. */
  const int64_t fullGroups = allTiles(&common) / groupTiles;
  const int64_t whole = fullGroups - fullGroups % threads;
  const int64_t rest = divideUp(allTiles(&common), groupTiles) - whole;
  int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(| : wrong) if (threads > 1)
  {
    Worker worker = common;
    takeWorkerScratch(&worker,
                      threadScratchOf(scratch, winograd->sharedBytes, winograd->threadBytes));
#pragma omp for schedule(static)
    for (int64_t map = 0; map < shared; map += lanes())
      transformWeights(&worker, map, minimum(map + lanes(), maps), 0, filters,
                       common.weights + map * filters);
#pragma omp for schedule(static)
    for (int64_t index = 0; index < whole; index++) {
      const Group group = groupAt(&worker, index);
      transformSources(&worker, &group, 0, worker.slices);
      wrong |= !runPlanes(&worker, &group, 0, planes);
    }
#pragma omp for schedule(static)
    for (int64_t share = 0; share < threads; share++)
      for (int64_t index = 0; index < rest; index++) {
        const Group group = groupAt(&worker, whole + index);
        worker.sources = sourcesOf(plan, scratch, index);
        transformSources(&worker, &group, shareBegin(worker.slices, index, rest, share, threads),
                         shareBegin(worker.slices, index, rest, share + 1, threads));
      }
#pragma omp for schedule(static)
    for (int64_t share = 0; share < threads; share++)
      for (int64_t index = 0; index < rest; index++) {
        const int64_t begin = shareBegin(parts, index, rest, share, threads);
        const int64_t end = shareBegin(parts, index, rest, share + 1, threads);
        const Group group = groupAt(&worker, whole + index);
        worker.sources = sourcesOf(plan, scratch, index);
        wrong |= !runPlanes(&worker, &group, firstPlane(&worker.sides, begin),
                            firstPlane(&worker.sides, end));
      }
  }
  return !wrong;
}
