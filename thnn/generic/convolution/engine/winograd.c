/* Convolution with stride 1 or 2 by Winograd's algorithms, also transposed. The map is computed in
 * tiles. The elements that a tile sees, and the weights, are transformed to as many coefficients
 * each as there are such elements (simd/kernels/winograd.c). Coefficient by coefficient, they are
 * multiplied and summed up over the image planes:
 *
 *   sums[coefficient][map plane][tile] = weights[coefficient][map plane][image plane] *
 *                                        slices[coefficient][image plane][tile]
 *
 * With 3x3 taps, this takes 16 products where the definition has 36 for tiles of 2x2, and 36 where
 * it has 144 for tiles of 4x4. A last transform makes the map from the sums. If there are taps in
 * depth, a map position sees a slice of each image plane through each of them: these slices take
 * the place of image planes. Dilated taps see one residue class of a slice's rows and columns,
 * which has tiles of its own; with a stride of 2, image planes have four slices, or the map four
 * phases (winogradTiles.h). If these see the same elements, they take the place of map planes;
 * otherwise they are computed one after the other.
 *
 * A task is a group of blocks of tiles; groups left over after an even split are divided by map
 * planes.
 *
 * With 3x3 taps and tiles of 2x2, a result depends on no elements but those of its definition; with
 * other tiles, its rounding errors also depend on what else its tile sees. If an element is
 * infinite, differences of infinities can arise. So if any result is not finite, another algorithm
 * computes all of them. Results that are added to what is there cannot be computed again: those of a
 * few tiles at a time are checked before they are added, and computed by the definition if they are
 * not finite. */
#include <math.h>

#include "generic/convolution/engine/offsets.h"
#include "generic/convolution/engine/winogradWorker.h"
#include "work/caches.h"

/* ---- Planning -------------------------------------------------------------------------------- */

/* Most bytes of kept weights whose fetching costs nothing. Where vectors of 64 bytes are computed in
 * halves, products take so long that the next weights, which are prefetched, arrive meanwhile, even
 * from memory, as was measured in networks of up to a hundred layers. With few planes and large
 * tiles, there is little that threads can share. Many tiles of F(2x2, 3x3) take longer than is
 * counted without fetching: of 256 planes of 14x14, a fifth longer than tiles of 4x4. */
static double fetchedMeanwhile(const WinogradWorker *worker)
{
  enum { LEAST_PARTS = 4, FEW_TILES = 32 };
  const bool small =
      worker->plan.tiles != &THNN_(simd).winograd.two || allTiles(worker) <= FEW_TILES;
  const bool hidden =
      THNN_USES_BLAS && THNN_tuning.splitsVectors && small && planeParts(worker) >= LEAST_PARTS;
  return hidden ? (double)THNN_mostKeptBytes(false) : 0;
}

/* Counts products and the three transforms. */
static void setWinogradCost(AlgorithmPlan *plan, const WinogradWorker *worker, const double *costs)
{
  const double coefficients = (double)coefficientsOf(worker);
  const double phases = (double)worker->phases;
  const double slices = (double)worker->slices, planes = phases * (double)worker->g.outputPlanes;
  const int64_t tiles = allTiles(worker), blocks = divideUp(tiles, worker->plan.blockTiles);
  const double vectors = (double)divideUp(tiles, vectorLanes());
  const double rows = (double)allRows(worker);
  const double lines =
      rows * ((double)divideUp(worker->grid.columns, vectorLanes()) + costs[WINOGRAD_PARTIAL]);
  const double transforms =
      worker->plan.sharesWeights ? 1 : (double)divideUp(blocks, worker->plan.groupBlocks);
  const bool kept = worker->plan.keepsWeights;
  /* Putting taps in order takes about as long as transforming them. */
  const double perWeight = worker->whole.stride[1] == 2 ? 2 : 1;
  const double share = shareOfProducts(&worker->whole, worker->plan.tiles);
  const double allCoefficients = coefficients * planes * slices;
  const double counts[WINOGRAD_COSTS] = {
      [WINOGRAD_PRODUCT] = kept ? 0 : share * allCoefficients * vectors,
      [WINOGRAD_BLOCK] = coefficients * planes * (double)blocks,
      [WINOGRAD_SOURCE] = lines * (double)passes(worker) * slices,
      [WINOGRAD_RESULT] = lines * planes,
      [WINOGRAD_MOVED] = rows * movedRows(&worker->grid, worker->g.dilation[2]) * (slices + planes),
      [WINOGRAD_WEIGHT] = kept ? 0 : perWeight * transforms * slices * planes,
      [WINOGRAD_KEPT_PRODUCT] = kept ? share * allCoefficients * vectors : 0,
      [WINOGRAD_KEPT_BLOCK] = kept ? allCoefficients * (double)blocks : 0,
      [WINOGRAD_KEPT_BYTE] =
          kept ? fmax(allCoefficients * sizeof(real) - fetchedMeanwhile(worker), 0) : 0,
      [WINOGRAD_FAR_BYTE] =
          kept ? 0 : fmax(transforms * allCoefficients * sizeof(real) - NEAR_WEIGHT_BYTES, 0),
  };
  setCost(plan, WINOGRAD_COSTS, costs, counts);
}

/* Measures the scratch; returns whether it fits. */
static bool measure(AlgorithmPlan *plan, WinogradWorker *worker)
{
  Scratch shared = {0}, thread = {0};
  layOutShared(worker, &shared);
  layOutThread(worker, &thread);
  return fits(plan, &shared, &thread);
}

/* The bytes of all transformed weights. */
static int64_t keptBytes(const WinogradWorker *worker)
{
  return coefficientsOf(worker) * weightStep(worker) * (int64_t)sizeof(real);
}

/* Chooses the blocks of tiles, and whether memory holds all transformed weights beside one block;
 * otherwise weights are transformed again for each group of as many blocks as there is room for.
 * Returns whether memory suffices. */
static bool chooseBlocks(AlgorithmPlan *plan, WinogradWorker *worker)
{
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(plan->state);
  WinogradPlan *own = &worker->plan;
  const int64_t perTile = coefficientsOf(worker) * worker->slices * (int64_t)sizeof(real);
  const int64_t vectors = divideUp(allTiles(worker), vectorLanes());
  const int64_t room = minimum(BLOCK_BYTES, limitBytes / 2) / (perTile * vectorLanes());
  const int64_t most = minimum(maximum(room, 1), THNN_(simd).products.mostVectors);
  own->groupBlocks = 1;
  own->panelPlanes = roundUp(
      evenBlock(worker->g.outputPlanes, PANEL_PLANES / phasesAtATime(worker), 1), SHARED_PLANES);
  own->sharesWeights = true;
  own->keepsWeights = plan->keeps; /* on which the bytes depend */
  own->keepsWeights &= keptBytes(worker) <= THNN_mostKeptBytes(!THNN_USES_BLAS);
  own->blockTiles = blockVectors(worker, most) * vectorLanes();
  if (measure(plan, worker))
    return true;
  const int64_t blocks = divideUp(vectors * vectorLanes(), own->blockTiles);
  const int64_t bytes = minimum(GROUP_BYTES, limitBytes / 2);
  own->groupBlocks = evenBlock(blocks, maximum(bytes / (perTile * own->blockTiles), 1), 1);
  own->sharesWeights = own->keepsWeights = false;
  return measure(plan, worker);
}

/* Chooses whether phases are joined, and blocks for that. Returns whether memory suffices: one after
 * the other, phases need less. */
static bool choosePhases(AlgorithmPlan *plan, WinogradWorker *worker)
{
  worker->plan.joinsPhases = canJoinPhases(worker);
  if (chooseBlocks(plan, worker))
    return true;
  worker->plan.joinsPhases = false;
  return canJoinPhases(worker) && chooseBlocks(plan, worker);
}

/* In a small layer with few blocks, threads would share the planes of a block, with a barrier before.
 * This cuts its tiles into equally many blocks for each thread instead. It does so only where results
 * are the same: where all slices are multiplied at a time, each tile of the kernel has so many sums
 * that it has no partial sums (partialSums in outerProducts.c), and blocks end with a row of tiles,
 * both those that are cut and those that would not be. Blocks of a single vector would load as much
 * as they multiply; and with many blocks for each thread, little is left over to be shared. */
static void shareTiles(AlgorithmPlan *plan, WinogradWorker *worker)
{
  enum { LEAST_VECTORS = 2, FEW_BLOCKS = 4 };
  WinogradPlan *own = &worker->plan;
  const int64_t vectors = divideUp(allTiles(worker), vectorLanes());
  const int64_t blocks = divideUp(vectors * vectorLanes(), own->blockTiles);
  const int64_t near = NEAR_BYTES / (own->blockTiles * (int64_t)sizeof(real));
  const int threads = threadsFor(plan, vectors);
  const int64_t each = divideUp(vectors, roundUp(blocks, threads));
  const int64_t columns = worker->grid.columns;
  if (!own->sharesWeights || blocks > FEW_BLOCKS * threads || each < LEAST_VECTORS ||
      worker->slices > near || worker->g.outputPlanes % SHARED_PLANES != 0 ||
      each * vectorLanes() % columns != 0 || (blocks > 1 && own->blockTiles % columns != 0))
    return;
  own->blockTiles = each * vectorLanes();
  own->gathersResults = threads > 1 && followsRows(worker);
  if (!measure(plan, worker)) { /* without this memory, it needs no more than before */
    own->gathersResults = false;
    measure(plan, worker);
  }
}

bool THNN_(winograd_planTiles)(AlgorithmPlan *plan, const SimdTiles *tiles, const double *costs)
{
  if (!takesTaps(&plan->geometry, tiles->taps) || !winogradApplies(plan, tiles))
    return false;
  WinogradWorker worker = workerFor(&plan->geometry, tiles);
  if (!choosePhases(plan, &worker))
    return false;
  const WinogradPlan *own = &worker.plan;
  setWinogradCost(plan, &worker, costs);
  shareTiles(plan, &worker);
  const int64_t groups = divideUp(allTiles(&worker), own->blockTiles * own->groupBlocks);
  plan->threads = threadsFor(plan, groups * planeParts(&worker));
  /* Results of dilated taps and of phases are in short runs. Adding these one by one was measured to
   * take up to 17 % longer than adding a copy that stays in the caches. */
  plan->finishes = plan->adds = followsRows(&worker);
  if (own->keepsWeights)
    plan->keptBytes = (size_t)keptBytes(&worker);
  KEEP_OWN(plan, *own);
  return true;
}

bool THNN_(winograd_planConvolution)(AlgorithmPlan *plan)
{
  const SimdWinograd *winograd = &THNN_(simd).winograd;
  const int64_t taps = divideUp(plan->geometry.kernel[1], plan->geometry.stride[1]);
  return THNN_(winograd_planTiles)(plan, taps == 2 ? &winograd->twoOfTwo : &winograd->two,
                                   costsInUse()->winograd);
}

/* ---- Transforms ------------------------------------------------------------------------------ */

/* Cuts tiles [first, end) of all samples into segments, and returns their number. */
static int64_t listSegments(const WinogradWorker *worker, int64_t first, int64_t end,
                            Segment *segment)
{
  const TileGrid *grid = &worker->grid;
  int64_t segments = 0;
  for (; first < end; first += segment[segments++].tiles) {
    const int64_t line = first / grid->columns, column = first % grid->columns;
    const int64_t row = line % grid->rows, residue = line / grid->rows % grid->residues;
    const int64_t slice = line / grid->rows / grid->residues;
    Segment *next = &segment[segments];
    *next = segmentAt(&worker->g, grid, slice, residue, row, column);
    next->tiles = minimum(grid->columns - column, end - first);
    next->below = segments > 0 && row > 0 && next[-1].column == next->column;
  }
  return segments;
}

/* Group number `index`; lists its segments. */
static Group groupAt(const WinogradWorker *worker, int64_t index)
{
  const WinogradPlan *plan = &worker->plan;
  const int64_t blockTiles = plan->blockTiles, all = allTiles(worker);
  const int64_t first = index * plan->groupBlocks * blockTiles;
  const Group group = {first, minimum(plan->groupBlocks, divideUp(all - first, blockTiles))};
  for (int64_t block = 0; block < group.blocks; block++) {
    const int64_t begin = first + block * blockTiles;
    worker->segments[block] = listSegments(worker, begin, minimum(begin + blockTiles, all),
                                           worker->segment + block * blockTiles);
  }
  return group;
}

/* The number of tiles in a block of the group; the last block of all has fewer. */
static int64_t tilesInBlock(const WinogradWorker *worker, const Group *group, int64_t block)
{
  const int64_t blockTiles = worker->plan.blockTiles;
  return minimum(allTiles(worker) - group->first - block * blockTiles, blockTiles);
}

/* Transforms one slice of a block's listed segments. Whole vectors are written, so that the last
 * segment can reach into the next slice. */
static void transformSegments(const WinogradWorker *worker, int64_t block, int64_t slice,
                              int64_t step, real *y)
{
  const Segment *segment = worker->segment + block * worker->plan.blockTiles;
  for (int64_t i = 0; i < worker->segments[block]; i++) {
    transformSlice(&worker->g, worker->plan.tiles, &segment[i], slice, worker->image, worker->lines,
                   step, y);
    y += segment[i].tiles;
  }
}

/* Transforms slices [begin, end) of a group; other threads can transform the rest. */
static void transformSlices(const WinogradWorker *worker, const Group *group, int64_t begin,
                            int64_t end)
{
  const int64_t step = sliceStep(worker), tiles = worker->plan.blockTiles;
  for (int64_t block = 0; block < group->blocks; block++) {
    const int64_t room = roundUp(tilesInBlock(worker, group, block), vectorLanes());
    const bool last = group->first + block * tiles + room > allTiles(worker);
    real *coefficients = worker->coefficients + block * coefficientsOf(worker) * step;
    for (int64_t slice = begin; slice < end; slice++) {
      real *place = coefficients + slice * tiles;
      /* What is written past the last slice must not reach into that of another thread. */
      const bool alone = slice + 1 < end || end == worker->slices;
      const int64_t apart = alone ? step : sumStep(worker);
      real *y = alone ? place : worker->sums;
      /* The coefficients past the last tile are multiplied too, and have to be ordinary numbers. */
      for (int64_t coefficient = 0; last && coefficient < coefficientsOf(worker); coefficient++)
        THNN_(simd).pointwise.fill(room, 0, y + coefficient * apart);
      transformSegments(worker, block, slice, apart, y);
      for (int64_t coefficient = 0; !alone && coefficient < coefficientsOf(worker); coefficient++)
        THNN_(simd).pointwise.copy(room, y + coefficient * apart, place + coefficient * step);
    }
  }
}

/* ---- One task -------------------------------------------------------------------------------- */

/* Kept weights of a panel's planes for slices [first, end), which are prefetched: in a network of
 * several layers they come from a far cache. */
static THNNRanges laterWeights(const WinogradWorker *worker, int64_t planes, int64_t first,
                               int64_t end, const real *weights)
{
  const int64_t lanes = vectorLanes();
  if (!worker->plan.keepsWeights)
    return (THNNRanges){.count = 0};
  const int64_t phases = phasesAtATime(worker);
  return (THNNRanges){.first = weights + worker->row[0].scalar + worker->term[first].scalar,
                      .bytes = (end - first) * lanes * (int64_t)sizeof(real),
                      .count = divideUp(planes, lanes) * phases,
                      .stride = filtersOf(worker) / phases * lanes * (int64_t)sizeof(real)};
}

/* How many of the rows of products of so many planes are not left out at a coefficient. */
static int64_t remainingRows(const WinogradWorker *worker, LeftOut set, int64_t planes)
{
  int64_t remaining = 0;
  for (int64_t phase = 0; phase < phasesAtATime(worker); phase++)
    remaining += hasSlices(worker) || !leavesOut(&worker->whole, set, worker->phaseFilter + phase);
  return remaining * planes;
}

/* How many slices there are for each that is not left out. */
static int64_t slicesEach(const WinogradWorker *worker, LeftOut set)
{
  return hasSlices(worker) ? (set & ROWS ? 2 : 1) * (set & COLUMNS ? 2 : 1) : 1;
}

/* Sets the sums of phases that are left out to 0. */
static void clearLeftOut(const WinogradWorker *worker, LeftOut set, int64_t planes, real *sums)
{
  const int64_t tiles = worker->plan.blockTiles, phases = phasesAtATime(worker);
  for (int64_t row = 0; row < planes * phases; row++)
    if (leavesOut(&worker->whole, set, worker->phaseFilter + row % phases))
      THNN_(simd).pointwise.fill(tiles, 0, sums + row * tiles);
}

/* Adds products for whole vectors of tiles, and then for a few tiles after them, at which `products` is left. */
static void multiplyTiles(Products *products, int64_t few)
{
  if (products->vectors > 0)
    THNN_(simd).products.add(products);
  if (few == 0)
    return;
  const int64_t first = products->vectors * vectorLanes();
  products->factors += first;
  products->start = products->start ? products->start + first : NULL;
  products->sums += first;
  THNN_(simd).products.addFew(products, (int)few);
}

/* Adds the products of slices [first, end) with `weights` to a panel's sums, for the tiles of a block of
 * the group. */
static void multiplySlices(const WinogradWorker *worker, const Group *group, int64_t block,
                           int64_t planes, int64_t first, int64_t end, const real *weights)
{
  const int64_t step = sliceStep(worker), tiles = worker->plan.blockTiles;
  const int64_t count = tilesInBlock(worker, group, block), few = fewTiles(worker, count);
  const int vectors = (int)divideUp(count - few, vectorLanes());
  const int64_t unit = hasSlices(worker) ? PHASES : 1;
  const int64_t near =
      minimum(NEAR_BYTES / (tiles * (int64_t)sizeof(real)), MOST_TERMS) / unit * unit;
  const int64_t terms = evenBlock(end - first, near, unit);
  for (int64_t coefficient = 0; coefficient < coefficientsOf(worker); coefficient++) {
    const int64_t place = block * coefficientsOf(worker) + coefficient;
    const LeftOut set = leftOutAt(&worker->whole, worker->plan.tiles, coefficient);
    const int64_t each = slicesEach(worker, set);
    const THNNOffsets *term = worker->term + (hasSlices(worker) ? (int)set * worker->slices : 0);
    real *sums = worker->sums + place * sumStep(worker);
    if (first == 0 && set != NONE && !hasSlices(worker))
      clearLeftOut(worker, set, planes, sums);
    for (int64_t slice = first; slice < end; slice += terms) {
      const int64_t added = minimum(terms, end - slice);
      Products products = {.row = worker->row +
                                  (worker->plan.joinsPhases ? (int)set * panelRows(worker) : 0),
                           .rows = remainingRows(worker, set, planes),
                           .term = term + (slice - first) / each,
                           .terms = added / each,
                           .vectorStep = each == 1 ? tiles : 0,
                           .vectors = vectors,
                           .scalars = weights + coefficient * weightStep(worker),
                           .factors = worker->coefficients + place * step + first * tiles,
                           .start = slice == 0 ? worker->zeros : NULL,
                           .sums = sums};
      if (slice + terms < end)
        products.ahead = laterWeights(worker, planes, slice + terms,
                                      minimum(slice + 2 * terms, end), products.scalars);
      else if (coefficient + 1 < coefficientsOf(worker))
        products.ahead = laterWeights(worker, planes, first, minimum(first + terms, end),
                                      products.scalars + weightStep(worker));
      /* A group's coefficients do not fit into the second-level cache. */
      if (!worker->plan.sharesWeights && coefficient + 1 < coefficientsOf(worker))
        THNN_(simd).products.prefetch(added * tiles,
                                      products.factors + step + (slice - first) * tiles);
      multiplyTiles(&products, few);
    }
  }
}

/* Adds all products of map planes [first, first + planes) of a panel for a group, whose slices are
 * transformed. */
static void multiplyPanel(const WinogradWorker *worker, int64_t first, int64_t planes,
                          const Group *group)
{
  const int64_t filters = filtersOfPair(worker);
  const bool transposed = worker->g.transposed;
  if (worker->plan.sharesWeights) {
    const int64_t apart =
        hasMapLanes(worker) ? worker->g.inputPlanes * worker->filters : vectorLanes() * filters;
    for (int64_t block = 0; block < group->blocks; block++)
      multiplySlices(worker, group, block, planes, 0, worker->slices,
                     worker->weights + first * apart);
    return;
  }
  /* Each slice has a filter of its own; transposed, the slices of an image plane share filters. */
  const int64_t steps = transposed ? worker->g.inputPlanes : worker->slices;
  const int64_t slices = worker->slices / steps;
  for (int64_t begin = 0; begin < steps; begin += BLOCK_PLANES) {
    const int64_t end = minimum(begin + BLOCK_PLANES, steps);
    if (transposed)
      THNN_(winogradFilters_transform)(worker, begin, end, first * filters, planes * filters,
                                       worker->weights);
    else
      THNN_(winogradFilters_transform)(worker, first, first + planes, begin, end - begin,
                                       worker->weights);
    for (int64_t block = 0; block < group->blocks; block++)
      multiplySlices(worker, group, block, planes, begin * slices, end * slices, worker->weights);
  }
}

/* Computes map planes [begin, end) of a group, whose slices are transformed. Returns whether all
 * results are finite. */
static bool runPlanes(const WinogradWorker *worker, const Group *group, int64_t begin, int64_t end)
{
  const int64_t panel = worker->plan.panelPlanes;
  bool finite = true;
  for (int64_t plane = begin; plane < end;) {
    const int64_t planes = minimum((plane / panel + 1) * panel, end) - plane;
    multiplyPanel(worker, plane, planes, group);
    for (int64_t block = 0; block < group->blocks; block++)
      finite &= THNN_(winogradResults_transformSums)(worker, block, plane, planes);
    plane += planes;
  }
  return finite;
}

/* Lists where the products of map planes and slices find their weights and tiles. The filters of
 * planes that are spread over lanes are consecutive vectors. */
static void listPlanes(WinogradWorker *worker)
{
  const bool mapLanes = hasMapLanes(worker);
  const int64_t vector = filtersOf(worker) * vectorLanes(), tiles = worker->plan.blockTiles;
  const int64_t perPlane = worker->slices / worker->g.inputPlanes, filters = filtersOfPair(worker);
  for (int64_t set = 0; set < rowLists(worker); set++) {
    THNNOffsets *row = worker->row + set * panelRows(worker);
    for (int64_t index = 0; index < panelRows(worker); index++) {
      const int64_t plane = index / phasesAtATime(worker), phase = index % phasesAtATime(worker);
      const int64_t filter = filters > 1 ? worker->phaseFilter + phase : 0;
      const int64_t lane = plane / vectorLanes() * vector + plane % vectorLanes();
      const int64_t outer = lane + filter * worker->slices * vectorLanes();
      const int64_t inner = (plane * filters + filter) * vectorLanes();
      if (!leavesOut(&worker->whole, (LeftOut)set, phase))
        *row++ = (THNNOffsets){mapLanes ? outer : inner, index * tiles};
    }
  }
  for (int64_t set = 0; set < termLists(worker); set++) {
    THNNOffsets *term = worker->term + set * worker->slices;
    for (int64_t slice = 0; slice < worker->slices; slice++) {
      const int64_t plane = slice / perPlane, filter = slice % perPlane * vectorLanes();
      const int64_t outer = plane / vectorLanes() * vector + plane % vectorLanes() + filter;
      if (!leavesOut(&worker->whole, (LeftOut)set, slice % PHASES))
        *term++ = (THNNOffsets){mapLanes ? slice * vectorLanes() : outer, slice * tiles};
    }
  }
}

/* ---- Running --------------------------------------------------------------------------------- */

static WinogradWorker workerOf(const AlgorithmPlan *plan)
{
  WinogradPlan own;
  OWN_OF(plan, own);
  WinogradWorker worker = workerFor(&plan->geometry, own.tiles);
  worker.plan = own;
  return worker;
}

/* The first part of `group` that share number `share` of `shares` takes. Each of the `groups`
 * groups has `parts` parts. These are dealt round-robin, one of each group in turn, and every share
 * is an equal run of that sequence. */
static int64_t shareBegin(int64_t parts, int64_t group, int64_t groups, int64_t share,
                          int64_t shares)
{
  return (parts * groups * share / shares + groups - 1 - group) / groups;
}

/* Transforms all weights. All threads of the parallel region call this. */
static void transformAllWeights(const WinogradWorker *worker, real *weights)
{
  const int64_t filters = filtersOf(worker), planes = planesInLanes(worker);
  const bool transposed = worker->g.transposed;
#pragma omp for schedule(static)
  for (int64_t plane = 0; plane < planes; plane += vectorLanes())
    if (transposed && hasMapLanes(worker))
      THNN_(winogradFilters_transformMapLanes)(worker, plane, weights + plane * filters);
    else
      THNN_(winogradFilters_transform)(worker, plane, minimum(plane + vectorLanes(), planes), 0,
                                       filters, weights + plane * filters);
}

/* Computes the last `rest` groups, beginning with number `first`, in which threads share slices and
 * then planes; the coefficients of the i-th of these groups are in the scratch of thread i. All
 * threads of the parallel region call this. Returns whether this thread's share of the map is
 * finite. */
static bool runShared(const AlgorithmPlan *plan, WinogradWorker *worker, int64_t first,
                      int64_t rest, void *scratch)
{
  const int64_t parts = planeParts(worker), slices = worker->slices;
  const int shares = plan->threads;
  bool finite = true;
#pragma omp for schedule(static)
  for (int64_t share = 0; share < shares; share++)
    for (int64_t index = 0; index < rest; index++) {
      const Group group = groupAt(worker, first + index);
      Scratch owner = scratchOf(plan, scratch, (int)index);
      layOutCoefficients(worker, &owner);
      transformSlices(worker, &group, shareBegin(slices, index, rest, share, shares),
                      shareBegin(slices, index, rest, share + 1, shares));
    }
#pragma omp for schedule(static) nowait
  for (int64_t share = 0; share < shares; share++)
    for (int64_t index = 0; index < rest; index++) {
      const int64_t begin = shareBegin(parts, index, rest, share, shares);
      const int64_t end = shareBegin(parts, index, rest, share + 1, shares);
      const Group group = groupAt(worker, first + index);
      Scratch owner = scratchOf(plan, scratch, (int)index);
      layOutCoefficients(worker, &owner);
      finite &= runPlanes(worker, &group, firstPlane(worker, begin), firstPlane(worker, end));
    }
  return finite;
}

void THNN_(winograd_keepWeights)(const AlgorithmPlan *plan, const real *weight, void *kept,
                                 void *scratch)
{
  WinogradWorker common = workerOf(plan);
  common.weight = weight;
  const int threads = plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    WinogradWorker worker = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&worker, &own);
    transformAllWeights(&worker, kept);
  }
}

/* Computes the map, or a phase of it that is not joined. All threads of the parallel region call this.
 * Returns whether this thread's share of it is finite. */
static bool runPhase(const AlgorithmPlan *plan, WinogradWorker *worker, void *scratch)
{
  const int64_t groupTiles = worker->plan.blockTiles * worker->plan.groupBlocks;
  /* Threads take equally many groups each, and work together on the groups that are left over, one
   * of which can be smaller. */
  const int64_t fullGroups = allTiles(worker) / groupTiles;
  const int64_t whole = fullGroups - fullGroups % plan->threads;
  const int64_t rest = divideUp(allTiles(worker), groupTiles) - whole;
  bool finite = true;
  Scratch own = threadScratch(plan, scratch);
  layOutCoefficients(worker, &own); /* runShared leaves those of another thread */
  listPlanes(worker);
#pragma omp for schedule(static) nowait
  for (int64_t index = 0; index < whole; index++) {
    const Group group = groupAt(worker, index);
    transformSlices(worker, &group, 0, worker->slices);
    finite &= runPlanes(worker, &group, 0, worker->g.outputPlanes);
  }
  /* Each barrier between threads takes as long as a small layer's transforms. This one is for
   * coefficients that are written where those of whole groups were. */
  if (rest > 0) {
#pragma omp barrier
    finite &= runShared(plan, worker, whole, rest, scratch);
  }
  return finite;
}

bool THNN_(winograd_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  WinogradWorker common = workerOf(plan);
  common.image = of->image;
  common.weight = of->weight;
  common.bias = of->bias;
  common.map = of->map;
  common.finish = of->finish;
  Scratch shared = {.base = scratch};
  layOutShared(&common, &shared);
  if (common.plan.keepsWeights)
    common.weights = (real *)of->kept; /* only read */
  const int threads = plan->threads;
  int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(| : wrong) if (threads > 1)
  {
    WinogradWorker worker = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&worker, &own);
    THNN_(simd).pointwise.fill(worker.plan.blockTiles, 0, worker.zeros);
    if (worker.plan.sharesWeights && !worker.plan.keepsWeights)
      transformAllWeights(&worker, common.weights);
    for (int64_t phase = 0; phase < passes(&worker); phase++) {
      if (phase > 0) { /* the coefficients that threads share have been read */
#pragma omp barrier
        setPhase(&worker, phase);
      }
      wrong |= !runPhase(plan, &worker, scratch);
    }
  }
  return !wrong;
}
