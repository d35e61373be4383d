/* The weight gradient of a convolution with stride 1 or 2 by Winograd's algorithms. A tile of map
 * gradients, and the image elements that it sees, are transformed to as many coefficients each as
 * there are such elements (simd/kernels/winograd.c). Coefficient by coefficient, they are
 * multiplied and summed up over the tiles of all samples:
 *
 *   sums[coefficient][slice][map plane] = elements[coefficient][slice][tile] *
 *                                         gradients[coefficient][tile][map plane]
 *
 * With 3x3 taps, this takes 16 products where the definition has 36 for tiles of 2x2, and 36 where
 * it has 144 for tiles of 4x4. A last transform of the sums makes the gradients of the weights
 * between a slice and a map plane.
 *
 * A vector holds neighbouring map planes, which takes a transposed copy of the map gradients, as in
 * directWeight/. A task is a group of panels of map planes times a block of slices, for all tiles:
 * the elements that a block of tiles sees are transformed once for all panels of the group. Where
 * that makes few tasks, the tiles are also divided into a fixed number of shares, whose partial sums
 * are added in order.
 *
 * If an element or a gradient is infinite, or nearly so, differences of infinities can arise. So
 * nothing is added to the weight gradient until everything that will be added is known to be
 * finite: results are kept, or if there is no room for that, elements and gradients are checked
 * first. */
#include <math.h>

#include "generic/convolution/engine/winogradWeightWorker.h"

/* ---- Planning -------------------------------------------------------------------------------- */

/* Most slices of a block, whose sums for a panel stay in the second-level cache, beside a block's
 * coefficients. */
enum { MOST_SLICES = 64 };
/* Bytes of a block's gradients, for one coefficient, which stay in the first-level cache. */
enum { NEAR_BYTES = 24 << 10 };

/* Most bytes of a group's sums, which take at most a quarter of the workspace. They come from the
 * last-level cache once for each block of tiles, which takes little time beside the products. */
static const int64_t SUM_BYTES = 2 << 20;

/* Counts products and fetching their sums; the transforms; the results. A register tile of one
 * vector spends most of its time on loads. */
static void setWinogradWeightCost(AlgorithmPlan *plan, const WinogradWeightWorker *worker,
                                  const double *costs)
{
  const WinogradWeightPlan *own = &worker->plan;
  const double coefficients = (double)coefficientsOf(worker);
  const double segments = (double)segmentCount(worker), groups = (double)own->groups;
  const double tiles = segments / (double)worker->pieces * (double)worker->grid.columns;
  const double vectors = (double)divideUp(worker->g.outputPlanes, vectorLanes());
  const double slices = (double)worker->slices;
  const double blocks = (double)blockCount(worker);
  const double gradients = (double)sliceBlocks(worker) * vectors;
  const double pieceVectors =
      (double)divideUp(divideUp(worker->grid.columns, worker->pieces), vectorLanes()) +
      costs[WINOGRAD_WEIGHT_PARTIAL];
  double counts[WINOGRAD_WEIGHT_COSTS] = {
      [WINOGRAD_WEIGHT_BLOCK] = coefficients * slices * vectors * blocks,
      [WINOGRAD_WEIGHT_SOURCE] = groups * segments * pieceVectors * slices,
      [WINOGRAD_WEIGHT_MOVED] = groups * segments / (double)worker->pieces * slices *
                                movedRows(&worker->grid, worker->g.dilation[2]),
      [WINOGRAD_WEIGHT_GRADIENT_TILE] = gradients * tiles,
      [WINOGRAD_WEIGHT_GRADIENT_SEGMENT] = gradients * segments,
      [WINOGRAD_WEIGHT_RESULT] = (double)own->shares * slices * vectors,
  };
  counts[vectors > 1 ? WINOGRAD_WEIGHT_PRODUCT : WINOGRAD_WEIGHT_SINGLE] =
      shareOfProducts(&worker->g, own->tiles) * coefficients * slices * vectors * tiles;
  setCost(plan, WINOGRAD_WEIGHT_COSTS, costs, counts);
}

/* Chooses the blocks of tiles and of slices, and shares of the tiles that make a few tasks of one
 * group of panels. */
static void chooseBlocks(WinogradWeightWorker *worker)
{
  WinogradWeightPlan *own = &worker->plan;
  const int64_t tiles = NEAR_BYTES / (mostLanes(worker) * (int64_t)sizeof(real));
  const int64_t segments = tiles / divideUp(worker->grid.columns, worker->pieces);
  const int64_t blocks = divideUp(segmentCount(worker), maximum(segments, 1));
  own->blockSlices = evenBlock(worker->slices, MOST_SLICES, 1);
  own->shares = 1;
  while (sliceBlocks(worker) * own->shares < ENOUGH_BLOCKS && 2 * own->shares <= blocks)
    own->shares *= 2;
  own->blockSegments = divideUp(segmentCount(worker), roundUp(blocks, own->shares));
}

/* The number of groups of panels: few, but enough for threads, and for the sums of a group to have
 * room. Results do not depend on it. */
static int64_t chooseGroups(const AlgorithmPlan *plan, const WinogradWeightWorker *worker,
                            int threads)
{
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(plan->state);
  const int64_t shares = worker->plan.shares, bytes = panelSums(worker) * (int64_t)sizeof(real);
  const int64_t fitting = maximum(minimum(SUM_BYTES, limitBytes / 4) / bytes, 1);
  const int64_t most = taskHasOneBlock(worker) ? panels(worker) : fitting;
  const int64_t tasks = threads > 1 ? divideUp(2 * threads, sliceBlocks(worker) * shares) : 1;
  return minimum(maximum(divideUp(panels(worker), most), tasks), panels(worker));
}

/* Measures the scratch; returns whether it fits. */
static bool measure(AlgorithmPlan *plan, WinogradWeightWorker *worker, bool keepsResults)
{
  Scratch shared = {0}, thread = {0};
  worker->plan.keepsResults = keepsResults;
  layOutShared(worker, &shared);
  layOutThread(worker, &thread);
  return fits(plan, &shared, &thread);
}

/* Chooses the groups of one thread: one panel each, if the sums of more have no room. Returns whether
 * the scratch fits. */
static bool fitsInGroups(AlgorithmPlan *plan, WinogradWeightWorker *worker, bool keepsResults)
{
  worker->plan.groups = chooseGroups(plan, worker, 1);
  if (measure(plan, worker, keepsResults))
    return true;
  worker->plan.groups = panels(worker);
  return measure(plan, worker, keepsResults);
}

/* Measures the scratch. Without room for the results of all shares there are fewer, and at last the
 * results are not kept. Returns whether it fits. */
static bool fitsSomehow(AlgorithmPlan *plan, WinogradWeightWorker *worker)
{
  WinogradWeightPlan *own = &worker->plan;
  for (int64_t shares = own->shares; shares > 0; shares /= 2) {
    own->shares = shares;
    if (fitsInGroups(plan, worker, true))
      return true;
  }
  return fitsInGroups(plan, worker, false);
}

bool THNN_(winogradWeight_planTiles)(AlgorithmPlan *plan, const SimdTiles *tilesOf,
                                     const double *costs)
{
  if (!takesTaps(&plan->geometry, tilesOf->taps) || !winogradApplies(plan, tilesOf))
    return false;
  WinogradWeightWorker worker = workerFor(&plan->geometry, tilesOf);
  WinogradWeightPlan *own = &worker.plan;
  chooseBlocks(&worker);
  if (!fitsSomehow(plan, &worker))
    return false;
  setWinogradWeightCost(plan, &worker, costs); /* with the groups of one thread */
  plan->threads = threadsFor(plan, panels(&worker) * sliceBlocks(&worker) * own->shares);
  own->groups = maximum(own->groups, chooseGroups(plan, &worker, plan->threads));
  KEEP_OWN(plan, *own);
  return true;
}

bool THNN_(winogradWeight_planConvolution)(AlgorithmPlan *plan)
{
  return THNN_(winogradWeight_planTiles)(plan, &THNN_(simd).winograd.two,
                                         costsInUse()->winogradWeight);
}

/* ---- Transforms ------------------------------------------------------------------------------ */

/* Lists segments [first, end), which make a block. They are ordered by piece of a row, and for each
 * piece from the top row to the bottom one. */
static void listSegments(const WinogradWeightWorker *worker, int64_t first, int64_t end)
{
  const TileGrid *grid = &worker->grid;
  for (int64_t index = first; index < end; index++) {
    const int64_t row = index % grid->rows, place = index / grid->rows;
    const int64_t piece = place % worker->pieces, residue = place / worker->pieces % grid->residues;
    const int64_t slice = place / worker->pieces / grid->residues;
    const int64_t column = grid->columns * piece / worker->pieces;
    Segment *segment = &worker->segment[index - first];
    *segment = segmentAt(&worker->g, grid, slice, residue, row, column);
    segment->tiles = grid->columns * (piece + 1) / worker->pieces - column;
    segment->below = index > first && row > 0;
  }
}

/* Transforms slices of the listed segments. Returns the number of their tiles. */
static int64_t transformSlices(const WinogradWeightWorker *worker, int64_t segments,
                               THNNRange slices)
{
  const int64_t step = imageStep(worker);
  int64_t tiles = 0;
  for (int64_t slice = slices.begin; slice < slices.end; slice++) {
    real *coefficients = worker->coefficients + (slice - slices.begin) * sliceStep(worker);
    tiles = 0;
    for (int64_t i = 0; i < segments; i++) {
      transformSlice(&worker->g, worker->plan.tiles, &worker->segment[i], slice, worker->image,
                     worker->lines, step, coefficients + tiles);
      tiles += worker->segment[i].tiles;
    }
  }
  return tiles;
}

/* Packs the rows of map gradients of a segment, for a vector of planes from number `plane`,
 * with zeros outside the map. */
static void packGradients(const WinogradWeightWorker *worker, const Segment *segment,
                          int64_t columns, int64_t plane)
{
  const THNNConvolution *g = &worker->g;
  const int64_t height = g->output[1], width = g->output[2], side = worker->plan.tiles->side;
  const int64_t positions = THNN_convolutionMapPositions(g), rowStep = g->dilation[1];
  const int64_t planes = minimum(g->outputPlanes - plane, vectorLanes());
  const int64_t inside = maximum(minimum(columns, width - segment->column), 0);
  const real *map = worker->map + segment->sample * THNN_convolutionMapSample(g) +
                    plane * positions + (segment->depth * height + segment->row) * width +
                    segment->column;
  if (columns == width && rowStep == 1 &&
      segment->row + side <= height) { /* the rows are contiguous */
    THNN_(simd).products.pack(planes, side * columns, map, positions, worker->packed,
                              vectorLanes());
    return;
  }
  real *packed = worker->packed;
  for (int64_t i = 0; i < side; i++, packed += columns * vectorLanes()) {
    const int64_t count = segment->row + i * rowStep < height ? inside : 0;
    if (count > 0)
      THNN_(simd).products.pack(planes, count, map + i * rowStep * width, positions, packed,
                                vectorLanes());
    THNN_(simd).pointwise.fill((columns - count) * vectorLanes(), 0,
                               packed + count * vectorLanes());
  }
}

/* Transforms the map gradients of the listed segments for a panel. */
static void transformGradients(const WinogradWeightWorker *worker, int64_t segments,
                               const Panel *panel)
{
  const int64_t step = gradientStep(worker);
  const int64_t columnStep = worker->g.dilation[2];
  real *to = worker->gradients;
  for (int64_t i = 0; i < segments; i++) {
    const Segment *segment = &worker->segment[i];
    const int64_t tiles = segment->tiles;
    const int64_t groups = divideUp(segment->place + tiles, columnStep);
    const int64_t columns = tiles + groups * (worker->plan.tiles->side - 1) * columnStep;
    const TileRow row = {.tiles = tiles, .columnStep = columnStep, .place = segment->place};
    for (int64_t lane = 0; lane < panel->lanes; lane += vectorLanes()) {
      packGradients(worker, segment, columns, panel->first + lane);
      worker->plan.tiles->gradients(&row, columns, worker->packed, step, panel->lanes, to + lane,
                                    worker->blockTotals + lane);
    }
    to += tiles * panel->lanes;
  }
}

/* ---- One task -------------------------------------------------------------------------------- */

/* The slices of part number `part` of the work. */
static THNNRange slicesOfPart(const WinogradWeightWorker *worker, int64_t part)
{
  const int64_t most = worker->plan.blockSlices, first = part % sliceBlocks(worker) * most;
  return (THNNRange){first, minimum(first + most, worker->slices)};
}

/* Its panels. */
static THNNRange panelsOfPart(const WinogradWeightWorker *worker, int64_t part)
{
  const int64_t group = part / sliceBlocks(worker), count = panels(worker);
  const int64_t groups = worker->plan.groups;
  return (THNNRange){count * group / groups, count * (group + 1) / groups};
}

/* Lists the slices of a task, for a panel of so many lanes. */
static void listSlices(WinogradWeightWorker *worker, THNNRange slices, int64_t lanes)
{
  for (int set = 0; set < rowLists(worker); set++) {
    THNNOffsets *row = worker->row + set * worker->plan.blockSlices;
    worker->rows[set] = 0;
    for (int64_t slice = slices.begin; slice < slices.end; slice++)
      if (!leavesOut(&worker->g, (LeftOut)set, slice % PHASES)) {
        const int64_t place = slice - slices.begin;
        row[worker->rows[set]++] = (THNNOffsets){place * sliceStep(worker), place * lanes};
      }
  }
}

/* Multiplies a block of tiles, and adds to the panel's sums, or begins them. */
static void multiplyBlock(const WinogradWeightWorker *worker, const Panel *panel, int64_t slices,
                          int64_t tiles, bool begins, real *all)
{
  for (int64_t coefficient = 0; coefficient < coefficientsOf(worker); coefficient++) {
    const LeftOut set = leftOutAt(&worker->g, worker->plan.tiles, coefficient);
    real *sums = all + coefficient * sumStep(worker);
    if (begins && set != NONE)
      THNN_(simd).pointwise.fill(slices * panel->lanes, 0, sums);
    const Products products = {.row = worker->row + (int)set * worker->plan.blockSlices,
                               .rows = worker->rows[set],
                               .term = worker->term,
                               .terms = tiles,
                               .vectorStep = panel->lanes,
                               .vectors = panel->vectors,
                               .scalars = worker->coefficients + coefficient * imageStep(worker),
                               .factors = worker->gradients + coefficient * gradientStep(worker),
                               .start = begins && set == NONE ? worker->zeros : NULL,
                               .sums = sums};
    THNN_(simd).products.add(&products);
  }
}

/* Where a share's results of a panel are for the slices from number `slice`, which is the first of
 * a task. */
static real *resultsOf(const WinogradWeightWorker *worker, int64_t share, int64_t panel,
                       int64_t slice)
{
  if (!worker->plan.keepsResults)
    return worker->results;
  return worker->results + share * resultElements(worker) +
         (panel * worker->slices + slice) * filterOf(worker->plan.tiles) * mostLanes(worker);
}

/* Where a share's totals of a panel are. */
static double *totalsOf(const WinogradWeightWorker *worker, int64_t share, int64_t panel)
{
  return worker->totals + (share * panels(worker) + panel) * mostLanes(worker);
}

/* Adds the taps that `count` filters of slices have, the first of which is number `filter`, to the
 * gradient of the weight of a layer with a stride. */
static void addSlices(const WinogradWeightWorker *worker, int64_t filter, int64_t count,
                      const real *results, real scale, real *gradWeight)
{
  const THNNConvolution *g = &worker->g;
  const int64_t side = worker->plan.tiles->taps;
  for (const int64_t end = filter + count; filter < end; filter++)
    for (int64_t tap = 0; tap < side * side; tap++) {
      const int64_t place = placeOfTap(g, filter % PHASES, side, tap);
      const real share = scale * *results++; /* rounded here with every compiler */
      if (place >= 0)
        gradWeight[filter / PHASES * THNN_convolutionTaps(g) + place] += share;
    }
}

/* Adds up the shares' results of a panel and some slices, and adds them to the weight gradient. */
static void storeResults(const WinogradWeightWorker *worker, int64_t index, THNNRange slices,
                         real scale, real *gradWeight)
{
  const WinogradWeightPlan *plan = &worker->plan;
  const Panel panel = panelOfMap(worker, index);
  const int64_t taps = filterOf(plan->tiles), count = slices.end - slices.begin;
  const int64_t rows = count * taps;
  real *results = resultsOf(worker, 0, index, slices.begin), *transposed = worker->sums;
  for (int64_t share = 1; share < plan->shares; share++)
    THNN_(simd).pointwise.axpy(rows * panel.lanes, 1, resultsOf(worker, share, index, slices.begin),
                               results);
  THNN_(simd).products.transpose(rows, panel.planes, results, panel.lanes, transposed, rows);
  for (int64_t lane = 0; lane < panel.planes; lane++, transposed += rows) {
    const int64_t filter = (panel.first + lane) * worker->slices + slices.begin;
    if (worker->g.stride[1] == 1)
      THNN_(simd).pointwise.axpy(rows, scale, transposed, gradWeight + filter * taps);
    else
      addSlices(worker, filter, count, transposed, scale, gradWeight);
  }
}

/* The sums of a panel of the group. */
static real *sumsOf(const WinogradWeightWorker *worker, int64_t place)
{
  return worker->sums + place % panelsAtATime(worker) * panelSums(worker);
}

/* Adds the products of a panel, which is number `place` of its group, with a block's transformed
 * slices to its sums, and its gradients to `totals`; both begin with the first block. */
static void addPanel(WinogradWeightWorker *worker, const Panel *panel, int64_t place,
                     int64_t segments, int64_t tiles, THNNRange slices, bool begins, double *totals)
{
  listSlices(worker, slices, panel->lanes);
  listOffsets(tiles, (THNNOffsets){0, 0}, (THNNOffsets){1, panel->lanes}, worker->term);
  THNN_(simd).pointwise.fill(panel->lanes, 0, worker->blockTotals);
  transformGradients(worker, segments, panel);
  for (int64_t lane = 0; slices.begin == 0 && lane < panel->lanes; lane++)
    totals[lane] = (begins ? 0 : totals[lane]) + worker->blockTotals[lane];
  multiplyBlock(worker, panel, slices.end - slices.begin, tiles, begins, sumsOf(worker, place));
}

/* Runs a task: a part, which is a group of panels and a block of slices, for one share. Adds the
 * results to the weight gradient, if they are not kept. Returns whether all of them are finite. */
static bool runTask(WinogradWeightWorker *worker, int64_t part, int64_t share, const Operands *of)
{
  const WinogradWeightPlan *plan = &worker->plan;
  const THNNRange group = panelsOfPart(worker, part), slices = slicesOfPart(worker, part);
  const int64_t segments = segmentCount(worker), blocks = blockCount(worker);
  const int64_t beginBlock = blocks * share / plan->shares;
  const int64_t endBlock = blocks * (share + 1) / plan->shares;
  bool finite = true;
  for (int64_t block = beginBlock; block < endBlock; block++) {
    const int64_t begin = block * plan->blockSegments;
    const int64_t stop = minimum(begin + plan->blockSegments, segments);
    listSegments(worker, begin, stop);
    const int64_t tiles = transformSlices(worker, stop - begin, slices);
    for (int64_t index = group.begin; index < group.end; index++) {
      const Panel panel = panelOfMap(worker, index);
      const int64_t place = index - group.begin;
      addPanel(worker, &panel, place, stop - begin, tiles, slices, block == beginBlock,
               totalsOf(worker, share, index));
      if (block + 1 < endBlock)
        continue;
      finite &= plan->tiles->toTaps(slices.end - slices.begin, panel.lanes, sumsOf(worker, place),
                                    sumStep(worker), resultsOf(worker, share, index, slices.begin));
      if (!plan->keepsResults)
        storeResults(worker, index, slices, (real)of->scale, of->gradWeight);
    }
  }
  return finite;
}

/* Adds the kept results of a part to the weight gradient. */
static void storePart(const WinogradWeightWorker *worker, int64_t part, const Operands *of)
{
  const THNNRange group = panelsOfPart(worker, part);
  for (int64_t index = group.begin; index < group.end; index++)
    storeResults(worker, index, slicesOfPart(worker, part), (real)of->scale, of->gradWeight);
}

static void addTotals(const WinogradWeightWorker *worker, accreal scale, real *gradBias)
{
  for (int64_t index = 0; index < panels(worker); index++) {
    const Panel panel = panelOfMap(worker, index);
    for (int64_t lane = 0; lane < panel.planes; lane++) {
      double total = 0;
      for (int64_t share = 0; share < worker->plan.shares; share++)
        total += totalsOf(worker, share, index)[lane];
      gradBias[panel.first + lane] += (real)(scale * total);
    }
  }
}

/* The largest sum of squares of a plane's elements, among all planes of all samples, which are
 * `step` elements apart; infinite if an element is NaN. */
static double largestSquare(int64_t samples, int64_t step, int64_t planes, int64_t positions,
                            const real *x, int threads)
{
  double largest = 0;
#pragma omp parallel for num_threads(threads) schedule(static)                                     \
    reduction(max : largest) if (threads > 1)
  for (int64_t i = 0; i < samples * planes; i++) {
    const real *plane = x + i / planes * step + i % planes * positions;
    const double square = THNN_(simd).reduce.dot(positions, plane, plane);
    if (!(square <= largest))
      largest = isnan(square) ? INFINITY : square;
  }
  return largest;
}

/* Whether all sums will certainly be finite. By the Cauchy-Schwarz inequality, a sum of products of
 * coefficients is at most the product of the norms of elements and gradients, times what the
 * transforms multiply these by, which is less than 4000 with 5x5 taps, times the root of the number
 * of tiles that an element is in, nine. With Fourier transforms it is, by Parseval's theorem, less
 * than 2000, and an element is in up to 36 tiles. The factor 100000 below is more than enough. */
bool THNN_(winogradWeight_staysFinite)(const THNNConvolution *g, const real *image, const real *map,
                                       int threads)
{
  const double samples = (double)g->batch;
  const double elements =
      sqrt(samples * largestSquare(g->batch, THNN_convolutionImageSample(g), g->inputPlanes,
                                   THNN_convolutionImagePositions(g), image, threads));
  const double gradients =
      sqrt(samples * largestSquare(g->batch, THNN_convolutionMapSample(g), g->outputPlanes,
                                   THNN_convolutionMapPositions(g), map, threads));
  const double most = -THNN_LOWEST / 100000;
  return elements < most && gradients < most && elements * gradients < most;
}

bool THNN_(winogradWeight_runConvolution)(const AlgorithmPlan *plan, const Operands *of,
                                          void *scratch)
{
  WinogradWeightPlan chosen;
  OWN_OF(plan, chosen);
  WinogradWeightWorker common = workerFor(&plan->geometry, chosen.tiles);
  common.plan = chosen;
  common.image = of->image;
  common.map = of->gradMap;
  Scratch shared = {.base = scratch};
  layOutShared(&common, &shared);
  const int64_t parts = partCount(&common);
  const bool keeps = common.plan.keepsResults;
  const int threads = plan->threads;
  int wrong = 0;
  if (!keeps && !THNN_(winogradWeight_staysFinite)(&common.g, common.image, common.map, threads))
    return false;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    WinogradWeightWorker worker = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&worker, &own);
    THNN_(simd).pointwise.fill(mostLanes(&worker), 0, worker.zeros);
#pragma omp for schedule(static) reduction(| : wrong)
    for (int64_t task = 0; task < parts * common.plan.shares; task++)
      wrong |= !runTask(&worker, task % parts, task / parts, of);
#pragma omp for schedule(static)
    for (int64_t part = 0; part < (wrong || !keeps ? 0 : parts); part++)
      storePart(&worker, part, of);
  }
  if (wrong)
    return false;
  if (of->gradBias)
    addTotals(&common, of->scale, of->gradBias);
  return true;
}
