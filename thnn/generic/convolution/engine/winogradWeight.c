/* The weight gradient of a convolution with 3x3 taps and stride 1 by Winograd's algorithm. A tile
 * of 2x2 map gradients and the 4x4 image elements that it sees are transformed to 16 coefficients
 * each (simd/kernels/winograd.c); the code calls a coefficient's index `number`. Coefficient by
 * coefficient, they are multiplied and summed up over the tiles of all samples:
 *
 *   sums[number][slice][map plane] = sources[number][slice][tile] *
 *                                    gradients[number][tile][map plane]
 *
 * which takes 16 products where the definition has 36. A last transform of the sums makes the
 * gradients of the 3x3 weights between a slice and a map plane.
 *
 * A vector holds neighbouring map planes, which takes a transposed copy of the map gradients, as in
 * directWeight.c. A task is a panel of map planes times a block of slices, for all tiles. Where
 * that makes few tasks, the tiles are also divided into a fixed number of shares, whose partial
 * sums are added in order.
 *
 * If an element or a gradient is infinite, or nearly so, differences of infinities can arise. So
 * nothing is added to the weight gradient until everything that will be added is known to be
 * finite: results are kept, or if there is no room for that, elements and gradients are checked
 * first. */
#include "generic/convolution/engine/winogradTiles.h"

#include <math.h>

/* Most slices of a block, whose sums for a panel stay in the second-level cache, beside a block's
 * sources. */
enum { MOST_SLICES = 64 };
/* Bytes of a block's gradients, for one coefficient, which stay in the first-level cache. */
enum { NEAR_BYTES = 24 << 10 };

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct Worker {
  const THNNConvolutionPlan *plan;
  Sides sides;
  int64_t slices; /* number of image slices that a map position sees */
  TileGrid grid;  /* tiles of the map */
  int64_t pieces; /* number of segments in a row of tiles */
  const real *image, *map;
  real *results;  /* [share][panel][slice][tap][lane], or one task's if they are not kept */
  double *totals; /* sums of map gradients: [share][panel][lane] */

  real *sources;   /* [number][slice][tile] of a block */
  real *gradients; /* [number][tile][lane] */
  real *sums;      /* [number][slice][lane] */
  real *lines, *packed, *blockTotals;
  real *zeros; /* what sums start from */
  THNNOffsets *row, *term;
  Segment *segment; /* segments of a block */
} Worker;

/* ---- Planning -------------------------------------------------------------------------------- */

static Worker workerFor(const THNNConvolutionPlan *plan)
{
  Worker worker = {.plan = plan, .sides = sidesOf(plan)};
  worker.slices = worker.sides.sourcePlanes * plan->geometry.kernel[0];
  worker.grid = tileGrid(&plan->geometry, &worker.sides);
  worker.pieces = divideUp(worker.grid.columns, THNN_MOST_TILES);
  return worker;
}

static int64_t panels(const Worker *worker)
{
  return panelCountOf(&THNN_(simd).products, worker->sides.resultPlanes);
}

static int64_t mostLanes(const Worker *worker)
{
  return mostPanelLanesOf(&THNN_(simd).products, worker->sides.resultPlanes);
}

static Panel panelOfMap(const Worker *worker, int64_t index)
{
  return panelOf(&THNN_(simd).products, worker->sides.resultPlanes, index);
}

static int64_t segmentCount(const Worker *worker)
{
  return worker->plan->geometry.batch * worker->sides.result[0] * worker->grid.phases *
         worker->pieces * worker->grid.rows;
}

/* Most tiles of a block. */
static int64_t blockTiles(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  return winograd->blockSegments * divideUp(worker->grid.columns, worker->pieces);
}

/* Distance from one slice of the sources to the next, with room for a vector of tiles that is
 * written past a slice's end. */
static int64_t sliceStep(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  return roundUp(blockTiles(worker, winograd) + lanes(), lanes());
}

static int64_t sourceStep(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  return numberStep(winograd->blockSlices * sliceStep(worker, winograd));
}

static int64_t gradientStep(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  return numberStep(blockTiles(worker, winograd) * mostLanes(worker));
}

static int64_t sumStep(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  return numberStep(winograd->blockSlices * mostLanes(worker));
}

/* Number of elements of a share's results. */
static int64_t resultElements(const Worker *worker)
{
  return panels(worker) * worker->slices * FILTER * mostLanes(worker);
}

/* Room for the two rows of map gradients of a segment: elements for a vector of planes. */
static int64_t packedElements(const Worker *worker)
{
  const int64_t tiles = divideUp(worker->grid.columns, worker->pieces);
  return SIDE * SIDE * (tiles + worker->plan->geometry.dilation[2]) * lanes();
}

/* The total cost: products and fetching their sums; the transforms; the results. Fitted to some 70
 * timings. A register tile of one vector spends most of its time on loads, of which other
 * algorithms have fewer. */
static double weightCost(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  const double segments = (double)segmentCount(worker), planes = (double)panels(worker);
  const double tiles = segments / (double)worker->pieces * (double)worker->grid.columns;
  const double vectors = (double)divideUp(worker->sides.resultPlanes, lanes());
  const double perTile = vectors > 1 ? 0.68 * vectors : 1.25, slices = (double)worker->slices;
  const double blocks = (double)divideUp(segmentCount(worker), winograd->blockSegments);
  const double sliceBlocks = (double)divideUp(worker->slices, winograd->blockSlices);
  const double pieceVectors =
      (double)divideUp(divideUp(worker->grid.columns, worker->pieces), lanes()) + 0.5;
  const double cost =
      NUMBERS * slices * (perTile * tiles + 6 * vectors * blocks) +
      planes * segments * pieceVectors * 0.85 * THNN_(simd).winograd.sourceCost * slices +
      1.5 * planes * segments / (double)worker->pieces * slices *
          movingCost(&worker->grid, worker->plan->geometry.dilation[2]) +
      sliceBlocks * vectors * (34 * tiles + 50 * segments) +
      (double)winograd->shares * slices * vectors * 170;
  return THNN_(simd).winograd.weightShare * cost;
}

/* Number of elements of a task's results; 0 if all results are kept. */
static int64_t taskElements(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  return winograd->keepsResults ? 0 : winograd->blockSlices * FILTER * mostLanes(worker);
}

static int64_t workerBytes(const Worker *worker, const THNNConvolutionWinograd *winograd)
{
  return scratchBytes(taskElements(worker, winograd), sizeof(real)) +
         scratchBytes(NUMBERS * sourceStep(worker, winograd), sizeof(real)) +
         scratchBytes(NUMBERS * gradientStep(worker, winograd), sizeof(real)) +
         scratchBytes(NUMBERS * sumStep(worker, winograd), sizeof(real)) +
         scratchBytes(THNN_(simd).winograd.lines, sizeof(real)) +
         scratchBytes(packedElements(worker), sizeof(real)) +
         2 * scratchBytes(mostLanes(worker), sizeof(real)) +
         scratchBytes(winograd->blockSlices, sizeof(THNNOffsets)) +
         scratchBytes(blockTiles(worker, winograd), sizeof(THNNOffsets)) +
         scratchBytes(winograd->blockSegments, sizeof(Segment));
}

static int64_t sharedBytes(const Worker *worker, const THNNConvolutionWinograd *winograd,
                           int64_t shares)
{
  const int64_t kept = winograd->keepsResults ? shares * resultElements(worker) : 0;
  return scratchBytes(kept, sizeof(real)) +
         scratchBytes(shares * panels(worker) * mostLanes(worker), sizeof(double));
}

/* The number of shares: enough for threads to have equally many tasks, if there are blocks and room
 * for them. */
static int64_t chooseShares(const Worker *worker, const THNNConvolutionWinograd *winograd,
                            int64_t roomBytes)
{
  const int64_t tasks = panels(worker) * divideUp(worker->slices, winograd->blockSlices);
  const int64_t blocks = divideUp(segmentCount(worker), winograd->blockSegments);
  int64_t shares = 1;
  while (winograd->keepsResults && tasks * shares % ENOUGH_BLOCKS > 0 &&
         tasks * shares < 2 * ENOUGH_BLOCKS && 2 * shares <= blocks &&
         sharedBytes(worker, winograd, 2 * shares) <= roomBytes)
    shares *= 2;
  return shares;
}

bool THNN_(ConvolutionWinogradWeight_prepare)(const THNNConvolutionPlan *plan,
                                              const THNNState *state,
                                              THNNConvolutionWinograd *winograd)
{
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  if (!winogradApplies(&plan->geometry))
    return false;
  const Worker worker = workerFor(plan);
  const int64_t tiles = NEAR_BYTES / (mostLanes(&worker) * (int64_t)sizeof(real));
  const int64_t segments = tiles / divideUp(worker.grid.columns, worker.pieces);
  winograd->blockSegments = evenBlock(segmentCount(&worker), maximum(segments, 1), 1);
  winograd->blockSlices = evenBlock(worker.slices, MOST_SLICES, 1);
  winograd->keepsResults = true;
  winograd->keepsResults =
      sharedBytes(&worker, winograd, 1) + workerBytes(&worker, winograd) <= limitBytes;
  const int64_t threadBytes = workerBytes(&worker, winograd);
  if (sharedBytes(&worker, winograd, 1) + threadBytes > limitBytes)
    return false;
  winograd->used = true;
  winograd->shares = chooseShares(&worker, winograd, limitBytes - threadBytes);
  winograd->sharedBytes = (size_t)sharedBytes(&worker, winograd, winograd->shares);
  winograd->threadBytes = (size_t)threadBytes;
  const int64_t tasks =
      panels(&worker) * divideUp(worker.slices, winograd->blockSlices) * winograd->shares;
  winograd->threads = THNN_threads(state, tasks, convolutionOperations(&plan->geometry));
  winograd->cost = weightCost(&worker, winograd);
  return true;
}

/* ---- Transforms ------------------------------------------------------------------------------ */

/* Lists segments [first, end), which make a block. They are ordered by piece of a row, and for each
 * piece from the top row to the bottom one. */
static void listSegments(const Worker *worker, int64_t first, int64_t end)
{
  const TileGrid *grid = &worker->grid;
  for (int64_t index = first; index < end; index++) {
    const int64_t row = index % grid->rows, place = index / grid->rows;
    const int64_t piece = place % worker->pieces, phase = place / worker->pieces % grid->phases;
    const int64_t slice = place / worker->pieces / grid->phases;
    const int64_t column = grid->columns * piece / worker->pieces;
    Segment *segment = &worker->segment[index - first];
    *segment = segmentAt(worker->plan, &worker->sides, slice, phase, row, column);
    segment->tiles = grid->columns * (piece + 1) / worker->pieces - column;
    segment->below = index > first && row > 0;
  }
}

/* Transforms slices [first, end) of the listed segments. Returns the number of their tiles. */
static int64_t transformSources(const Worker *worker, int64_t segments, int64_t first, int64_t end)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  const int64_t step = sourceStep(worker, winograd);
  int64_t tiles = 0;
  for (int64_t slice = first; slice < end; slice++) {
    real *to = worker->sources + (slice - first) * sliceStep(worker, winograd);
    tiles = 0;
    for (int64_t i = 0; i < segments; i++) {
      transformSlice(worker->plan, &worker->sides, &worker->segment[i], slice, worker->image,
                     worker->lines, step, to + tiles);
      tiles += worker->segment[i].tiles;
    }
  }
  return tiles;
}

/* Packs the two rows of map gradients of a segment, for a vector of planes from number `plane`,
 * with zeros outside the map. */
static void packGradients(const Worker *worker, const Segment *segment, int64_t columns,
                          int64_t plane)
{
  const Sides *sides = &worker->sides;
  const int64_t height = sides->result[1], width = sides->result[2];
  const int64_t rowStep = worker->plan->geometry.dilation[1];
  const int64_t planes = minimum(sides->resultPlanes - plane, lanes());
  const int64_t inside = maximum(minimum(columns, width - segment->column), 0);
  const real *map = worker->map +
                    (segment->sample * sides->resultPlanes + plane) * sides->resultPositions +
                    (segment->depth * height + segment->row) * width + segment->column;
  if (columns == width && rowStep == 1 && segment->row + 1 < height) { /* the rows are contiguous */
    THNN_(simd).products.pack(planes, SIDE * columns, map, sides->resultPositions, worker->packed,
                              lanes());
    return;
  }
  real *packed = worker->packed;
  for (int64_t i = 0; i < SIDE; i++, packed += columns * lanes()) {
    const int64_t count = segment->row + i * rowStep < height ? inside : 0;
    if (count > 0)
      THNN_(simd).products.pack(planes, count, map + i * rowStep * width, sides->resultPositions,
                                packed, lanes());
    THNN_(simd).pointwise.fill((columns - count) * lanes(), 0, packed + count * lanes());
  }
}

/* Transforms the map gradients of the listed segments for a panel. */
static void transformGradients(const Worker *worker, int64_t segments, const Panel *panel)
{
  const int64_t step = gradientStep(worker, &worker->plan->winograd);
  const int64_t columnStep = worker->plan->geometry.dilation[2];
  real *to = worker->gradients;
  for (int64_t i = 0; i < segments; i++) {
    const Segment *segment = &worker->segment[i];
    const int64_t tiles = segment->tiles;
    const int64_t groups = divideUp(segment->place + tiles, columnStep);
    const int64_t columns = tiles + groups * columnStep;
    const THNN_(TileRow) row = {.tiles = tiles, .columnStep = columnStep, .place = segment->place};
    for (int64_t lane = 0; lane < panel->lanes; lane += lanes()) {
      packGradients(worker, segment, columns, panel->first + lane);
      THNN_(simd).winograd.gradients(&row, columns, worker->packed, step, panel->lanes, to + lane,
                                     worker->blockTotals + lane);
    }
    to += tiles * panel->lanes;
  }
}

/* ---- One task -------------------------------------------------------------------------------- */

static void multiplyBlock(const Worker *worker, const Panel *panel, int64_t slices, int64_t tiles,
                          bool begins)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  for (int64_t number = 0; number < NUMBERS; number++) {
    const THNN_(Products)
        products = {.row = worker->row,
                    .rows = slices,
                    .term = worker->term,
                    .terms = tiles,
                    .vectors = panel->vectors,
                    .scalars = worker->sources + number * sourceStep(worker, winograd),
                    .factors = worker->gradients + number * gradientStep(worker, winograd),
                    .start = begins ? worker->zeros : NULL,
                    .sums = worker->sums + number * sumStep(worker, winograd)};
    THNN_(simd).products.add(&products);
  }
}

/* Where a share's results of a panel are for the slices from number `slice`, which is the first of
 * a task. */
static real *resultsOf(const Worker *worker, int64_t share, int64_t panel, int64_t slice)
{
  if (!worker->plan->winograd.keepsResults)
    return worker->results;
  return worker->results + share * resultElements(worker) +
         (panel * worker->slices + slice) * FILTER * mostLanes(worker);
}

/* Where a share's totals of a panel are. */
static double *totalsOf(const Worker *worker, int64_t share, int64_t panel)
{
  return worker->totals + (share * panels(worker) + panel) * mostLanes(worker);
}

/* Runs a task: part number `part`, which is a panel and a block of slices, for one share. Returns
 * whether all its results are finite. */
static bool runTask(const Worker *worker, int64_t part, int64_t share)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  const int64_t sliceBlocks = divideUp(worker->slices, winograd->blockSlices);
  const int64_t index = part / sliceBlocks, first = part % sliceBlocks * winograd->blockSlices;
  const int64_t end = minimum(first + winograd->blockSlices, worker->slices);
  const int64_t segments = segmentCount(worker);
  const int64_t blocks = divideUp(segments, winograd->blockSegments);
  const int64_t beginBlock = blocks * share / winograd->shares;
  const int64_t endBlock = blocks * (share + 1) / winograd->shares;
  const Panel panel = panelOfMap(worker, index);
  double *totals = totalsOf(worker, share, index);
  const THNNOffsets none = {0, 0};
  listOffsets(end - first, none, (THNNOffsets){sliceStep(worker, winograd), panel.lanes},
              worker->row);
  listOffsets(blockTiles(worker, winograd), none, (THNNOffsets){1, panel.lanes}, worker->term);
  for (int64_t lane = 0; first == 0 && lane < panel.lanes; lane++)
    totals[lane] = 0;
  for (int64_t block = beginBlock; block < endBlock; block++) {
    const int64_t begin = block * winograd->blockSegments;
    const int64_t stop = minimum(begin + winograd->blockSegments, segments);
    listSegments(worker, begin, stop);
    const int64_t tiles = transformSources(worker, stop - begin, first, end);
    THNN_(simd).pointwise.fill(panel.lanes, 0, worker->blockTotals);
    transformGradients(worker, stop - begin, &panel);
    for (int64_t lane = 0; first == 0 && lane < panel.lanes; lane++)
      totals[lane] += worker->blockTotals[lane];
    multiplyBlock(worker, &panel, end - first, tiles, block == beginBlock);
  }
  return THNN_(simd).winograd.taps(end - first, panel.lanes, worker->sums,
                                   sumStep(worker, winograd),
                                   resultsOf(worker, share, index, first));
}

/* Adds up the shares' results of a part, and adds them to the weight gradient. */
static void storeResults(const Worker *worker, int64_t part, real scale, real *gradWeight)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  const int64_t sliceBlocks = divideUp(worker->slices, winograd->blockSlices);
  const int64_t index = part / sliceBlocks, first = part % sliceBlocks * winograd->blockSlices;
  const int64_t end = minimum(first + winograd->blockSlices, worker->slices);
  const Panel panel = panelOfMap(worker, index);
  const int64_t rows = (end - first) * FILTER;
  real *results = resultsOf(worker, 0, index, first), *transposed = worker->sums;
  for (int64_t share = 1; share < winograd->shares; share++)
    THNN_(simd).pointwise.axpy(rows * panel.lanes, 1, resultsOf(worker, share, index, first),
                               results);
  THNN_(simd).products.transpose(rows, panel.planes, results, panel.lanes, transposed, rows);
  for (int64_t lane = 0; lane < panel.planes; lane++)
    THNN_(simd).pointwise.axpy(rows, scale, transposed + lane * rows,
                               gradWeight +
                                   ((panel.first + lane) * worker->slices + first) * FILTER);
}

static void addTotals(const Worker *worker, accreal scale, real *gradBias)
{
  for (int64_t index = 0; index < panels(worker); index++) {
    const Panel panel = panelOfMap(worker, index);
    for (int64_t lane = 0; lane < panel.planes; lane++) {
      double total = 0;
      for (int64_t share = 0; share < worker->plan->winograd.shares; share++)
        total += totalsOf(worker, share, index)[lane];
      gradBias[panel.first + lane] += (real)(scale * total);
    }
  }
}

static void takeWorkerScratch(Worker *worker, char *scratch)
{
  const THNNConvolutionWinograd *winograd = &worker->plan->winograd;
  if (!winograd->keepsResults)
    worker->results = takeScratch(&scratch, taskElements(worker, winograd), sizeof(real));
  worker->sources = takeScratch(&scratch, NUMBERS * sourceStep(worker, winograd), sizeof(real));
  worker->gradients = takeScratch(&scratch, NUMBERS * gradientStep(worker, winograd), sizeof(real));
  worker->sums = takeScratch(&scratch, NUMBERS * sumStep(worker, winograd), sizeof(real));
  worker->lines = takeScratch(&scratch, THNN_(simd).winograd.lines, sizeof(real));
  worker->packed = takeScratch(&scratch, packedElements(worker), sizeof(real));
  worker->blockTotals = takeScratch(&scratch, mostLanes(worker), sizeof(real));
  worker->zeros = takeScratch(&scratch, mostLanes(worker), sizeof(real));
  worker->row = takeScratch(&scratch, winograd->blockSlices, sizeof(THNNOffsets));
  worker->term = takeScratch(&scratch, blockTiles(worker, winograd), sizeof(THNNOffsets));
  worker->segment = takeScratch(&scratch, winograd->blockSegments, sizeof(Segment));
  THNN_(simd).pointwise.fill(mostLanes(worker), 0, worker->zeros);
}

/* The largest sum of squares of a plane's elements, among all planes of all samples; infinite if an
 * element is NaN. */
static double largestSquare(const Worker *worker, int64_t planes, int64_t positions, const real *x)
{
  const int threads = worker->plan->winograd.threads;
  double largest = 0;
#pragma omp parallel for num_threads(threads) schedule(static)                                     \
    reduction(max : largest) if (threads > 1)
  for (int64_t plane = 0; plane < planes; plane++) {
    const double square =
        THNN_(simd).reduce.dot(positions, x + plane * positions, x + plane * positions);
    if (!(square <= largest))
      largest = isnan(square) ? INFINITY : square;
  }
  return largest;
}

/* Whether all sums will certainly be finite. A coefficient is the sum of four elements of a tile,
 * an element is in at most sixteen coefficients, and a result is made of the sums of nine
 * coefficients: by the Cauchy-Schwarz inequality, the factor 1000 below is more than enough. */
static bool staysFinite(const Worker *worker)
{
  const Sides *sides = &worker->sides;
  const int64_t batch = worker->plan->geometry.batch;
  const double samples = (double)batch;
  const double elements = sqrt(samples * largestSquare(worker, batch * sides->sourcePlanes,
                                                       sides->sourcePositions, worker->image));
  const double gradients = sqrt(samples * largestSquare(worker, batch * sides->resultPlanes,
                                                        sides->resultPositions, worker->map));
  const double most = -THNN_LOWEST / 1000;
  return elements < most && gradients < most && elements * gradients < most;
}

bool THNN_(ConvolutionWinogradWeight_run)(const THNNConvolutionPlan *plan, const real *input,
                                          const real *gradOutput, accreal scale, real *gradWeight,
                                          real *gradBias, void *scratch)
{
  const THNNConvolutionWinograd *winograd = &plan->winograd;
  Worker common = workerFor(plan);
  common.image = input;
  common.map = gradOutput;
  char *shared = scratch;
  if (winograd->keepsResults)
    common.results = takeScratch(&shared, winograd->shares * resultElements(&common), sizeof(real));
  common.totals =
      takeScratch(&shared, winograd->shares * panels(&common) * mostLanes(&common), sizeof(double));
  const int64_t parts = panels(&common) * divideUp(common.slices, winograd->blockSlices);
  const bool keeps = winograd->keepsResults;
  const int threads = winograd->threads;
  int wrong = 0;
  if (!keeps && !staysFinite(&common))
    return false;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Worker worker = common;
    takeWorkerScratch(&worker,
                      threadScratchOf(scratch, winograd->sharedBytes, winograd->threadBytes));
#pragma omp for schedule(static) reduction(| : wrong)
    for (int64_t task = 0; task < parts * winograd->shares; task++) {
      wrong |= !runTask(&worker, task % parts, task / parts);
      if (!keeps)
        storeResults(&worker, task, (real)scale, gradWeight);
    }
#pragma omp for schedule(static)
    for (int64_t part = 0; part < (wrong || !keeps ? 0 : parts); part++)
      storeResults(&worker, part, (real)scale, gradWeight);
  }
  if (wrong)
    return false;
  if (gradBias)
    addTotals(&common, scale, gradBias);
  return true;
}
