/* Convolution by Fourier transforms, also transposed. The map is computed in tiles.
 * The 16x16 elements that a tile sees, and the taps, are transformed, and the transforms multiplied
 * and summed up over the image planes, coefficient by coefficient:
 *
 *   sums[coefficient][tile][map plane] = tiles[coefficient][tile][image plane] *
 *                                        weights[coefficient][image plane][map plane]
 *
 * The transform back makes the map from the sums. A tile has 16 - k + 1 results along a dimension
 * with k taps; the correlation is cyclic, and its other results are not those of the definition.
 * With 7x7 taps, 382 products of reals take the place of 4900. Lanes are planes throughout. With
 * strides, the slices of planes (fourierTiles.h) take the place of planes.
 *
 * Weights are transformed for groups of panels of map planes, for all threads. A task is a block of
 * tiles and a panel of the group.
 *
 * The rounding errors of a result also depend on what else its tile sees, and if an element is
 * infinite, differences of infinities arise. So if any result is not finite, another algorithm
 * computes all of them. */
#include "generic/convolution/engine/fourierTiles.h"
#include "work/caches.h"

enum {
  MOST_VECTORS = 2, /* map planes of a panel; 8 tiles have as many sums as hide their latency */
  LEAST_TILES = 8,  /* of a block, so that each weight that is loaded has enough products */
  MOST_TILES = 32
};
/* Most bytes of a block's coefficients: so many as stay in a second-level cache beside the sums. */
static const int64_t BLOCK_BYTES = 1 << 20;

typedef struct FourierPlan {
  int64_t blockTiles;  /* tiles in a block */
  int64_t panelLanes;  /* map planes of a panel; the last one can have fewer */
  int64_t groupPanels; /* panels whose weights are transformed at a time */
  bool keepsWeights;
} FourierPlan;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct FourierWorker {
  FourierGrid grid;
  FourierPlan plan;
  const real *image, *weight, *bias;
  real *map;
  real *weights; /* [panel][coefficient][image plane][lane] */

  real *coefficients; /* [coefficient][tile][image plane] */
  real *sums;         /* [coefficient][tile][lane] */
  real *start;        /* the bias of a panel, or zeros */
  real *zeros;        /* a panel's, from which sums start */
  FourierRoom room;
  THNNOffsets *row, *term;
  int64_t block; /* whose tiles are transformed, or -1 */
} FourierWorker;

static int64_t panelsOf(const FourierWorker *worker)
{
  return divideUp(mapSlices(&worker->grid), worker->plan.panelLanes);
}

static Panel panelOfMap(const FourierWorker *worker, int64_t index)
{
  return panelOfLanes(mapSlices(&worker->grid), worker->plan.panelLanes, index);
}

/* Image planes rounded up to whole vectors. */
static int64_t imageLanes(const FourierGrid *grid)
{
  return wholeVectors(imageSlices(grid));
}

/* The distances from one coefficient to the next: of a panel's weights, of tiles, of sums. */
static int64_t weightStep(const FourierWorker *worker, const Panel *panel)
{
  return coefficientStep(imageSlices(&worker->grid) * panel->lanes);
}

static int64_t tileStep(const FourierWorker *worker)
{
  return coefficientStep(worker->plan.blockTiles * imageLanes(&worker->grid));
}

static int64_t sumStep(const FourierWorker *worker)
{
  return coefficientStep(worker->plan.blockTiles * worker->plan.panelLanes);
}

/* Elements of a whole panel's weights. */
static int64_t panelElements(const FourierWorker *worker)
{
  return worker->grid.transforms->coefficients *
         coefficientStep(imageSlices(&worker->grid) * worker->plan.panelLanes);
}

static void layOutShared(FourierWorker *worker, Scratch *scratch)
{
  if (!worker->plan.keepsWeights)
    worker->weights =
        THNN_take(scratch, worker->plan.groupPanels * panelElements(worker), sizeof(real));
}

static void layOutThread(FourierWorker *worker, Scratch *scratch)
{
  const int64_t coefficients = worker->grid.transforms->coefficients;
  worker->coefficients = THNN_take(scratch, coefficients * tileStep(worker), sizeof(real));
  worker->sums = THNN_take(scratch, coefficients * sumStep(worker), sizeof(real));
  worker->start = THNN_take(scratch, worker->plan.panelLanes, sizeof(real));
  worker->zeros = THNN_take(scratch, worker->plan.panelLanes, sizeof(real));
  worker->room = THNN_(fourierTiles_takeRoom)(&worker->grid, scratch);
  worker->row = THNN_take(scratch, worker->plan.blockTiles, sizeof(THNNOffsets));
  worker->term = THNN_take(scratch, imageSlices(&worker->grid), sizeof(THNNOffsets));
}

/* ---- Planning -------------------------------------------------------------------------------- */

static bool measure(AlgorithmPlan *plan, FourierWorker *worker)
{
  Scratch shared = {0}, thread = {0};
  layOutShared(worker, &shared);
  layOutThread(worker, &thread);
  return fits(plan, &shared, &thread);
}

/* The bytes of all transformed weights. */
static int64_t keptBytes(const FourierWorker *worker)
{
  return panelsOf(worker) * panelElements(worker) * (int64_t)sizeof(real);
}

/* Chooses as many panels for a group as memory holds beside a block. Returns whether it holds one.
 * With `keeps`, all weights are kept if they take no more than a share of the last-level cache. */
static bool chooseGroup(AlgorithmPlan *plan, FourierWorker *worker, int64_t vectors, bool keeps)
{
  FourierPlan *own = &worker->plan;
  own->panelLanes = vectors * vectorLanes();
  own->keepsWeights = keeps && keptBytes(worker) <= THNN_mostKeptBytes(!THNN_USES_BLAS);
  const int64_t panels = panelsOf(worker);
  own->groupPanels = panels;
  while (!measure(plan, worker)) {
    if (own->groupPanels == 1)
      return false;
    own->groupPanels = evenBlock(panels, own->groupPanels - 1, 1);
  }
  return true;
}

/* Chooses the tiles of a block and the panels of a group. Returns whether memory suffices. Whether
 * panels have to be narrow depends on the sizes of image and map, on which kept weights, as they
 * are for all sizes, must not depend. */
static bool chooseBlocks(AlgorithmPlan *plan, FourierWorker *worker)
{
  FourierPlan *own = &worker->plan;
  const int64_t tileBytes =
      worker->grid.transforms->coefficients * imageLanes(&worker->grid) * (int64_t)sizeof(real);
  const int64_t most = clamp(BLOCK_BYTES / tileBytes, LEAST_TILES, MOST_TILES);
  const int64_t vectors = divideUp(mapSlices(&worker->grid), vectorLanes());
  own->blockTiles = minimum(most / LEAST_TILES * LEAST_TILES, fourierTiles(&worker->grid));
  return chooseGroup(plan, worker, minimum(MOST_VECTORS, vectors), plan->keeps) ||
         chooseGroup(plan, worker, 1, false);
}

static void setFourierCost(AlgorithmPlan *plan, const FourierWorker *worker)
{
  const FourierGrid *grid = &worker->grid;
  const FourierPlan *own = &worker->plan;
  const bool kept = own->keepsWeights, lines = hasLines(grid);
  const double tiles = (double)fourierTiles(&worker->grid);
  const double blocks = (double)divideUp(fourierTiles(&worker->grid), own->blockTiles);
  const double groups = (double)divideUp(panelsOf(worker), own->groupPanels);
  const double images = (double)imageSlices(grid);
  const double vectors = (double)divideUp(mapSlices(grid), vectorLanes());
  const double sources = timesOfSlices(grid, !grid->g.transposed) * tiles * groups *
                         (double)divideUp(imageSlices(grid), vectorLanes());
  const double results = timesOfSlices(grid, grid->g.transposed) * tiles * vectors;
  const double filters = kept ? 0 : timesOfSlices(grid, true) * images * vectors;
  const double weights = worker->grid.transforms->coefficients * images * vectors;
  const double counts[FOURIER_COSTS] = {
      [FOURIER_PRODUCT] = vectors > 1 ? weights * tiles : 0,
      [FOURIER_SINGLE] = vectors > 1 ? 0 : weights * tiles,
      [FOURIER_BLOCK] = weights * blocks,
      [FOURIER_SOURCE] = lines ? 0 : sources,
      [FOURIER_RESULT] = lines ? 0 : results,
      [FOURIER_WEIGHT] = lines ? 0 : filters,
      [FOURIER_LINE_SOURCE] = lines ? sources : 0,
      [FOURIER_LINE_RESULT] = lines ? results : 0,
      [FOURIER_LINE_WEIGHT] = lines ? filters : 0,
      [FOURIER_KEPT_BYTE] = kept ? weights * vectorLanes() * sizeof(real) : 0,
  };
  setCost(plan, FOURIER_COSTS, costsInUse()->fourier, counts);
}

static FourierWorker workerFor(const THNNConvolution *g)
{
  return (FourierWorker){.grid = THNN_(fourierTiles_grid)(g), .block = -1};
}

bool THNN_(fourier_planConvolution)(AlgorithmPlan *plan)
{
  if (!THNN_(fourierTiles_apply)(plan))
    return false;
  FourierWorker worker = workerFor(&plan->geometry);
  if (!chooseBlocks(plan, &worker))
    return false;
  setFourierCost(plan, &worker);
  const int64_t blocks = divideUp(fourierTiles(&worker.grid), worker.plan.blockTiles);
  plan->threads = threadsFor(plan, blocks * worker.plan.groupPanels);
  if (worker.plan.keepsWeights)
    plan->keptBytes = (size_t)keptBytes(&worker);
  KEEP_OWN(plan, worker.plan);
  return true;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* Transforms the filters of an image plane and a panel's map planes. */
static void transformFilters(const FourierWorker *worker, const Panel *panel, int64_t image,
                             real *weights)
{
  for (int64_t lane = 0; lane < panel->lanes; lane += vectorLanes())
    THNN_(fourierTiles_taps)(&worker->grid, image, panel->first + lane, worker->weight,
                             worker->room, weightStep(worker, panel),
                             weights + image * panel->lanes + lane);
}

/* Transforms the weights of panels [first, first + count). All threads of the parallel region call
 * this. */
static void transformPanels(const FourierWorker *worker, int64_t first, int64_t count,
                            real *weights)
{
  const int64_t images = imageSlices(&worker->grid);
#pragma omp for schedule(static)
  for (int64_t i = 0; i < count * images; i++) {
    const Panel panel = panelOfMap(worker, first + i / images);
    transformFilters(worker, &panel, i % images, weights + i / images * panelElements(worker));
  }
}

void THNN_(fourier_keepWeights)(const AlgorithmPlan *plan, const real *weight, void *kept,
                                void *scratch)
{
  FourierWorker common = workerFor(&plan->geometry);
  OWN_OF(plan, common.plan);
  common.weight = weight;
  const int threads = plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    FourierWorker worker = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&worker, &own);
    transformPanels(&worker, 0, panelsOf(&worker), kept);
  }
}

/* ---- One task -------------------------------------------------------------------------------- */

/* The tiles of block number `block`. */
static THNNRange tilesOf(const FourierWorker *worker, int64_t block)
{
  const int64_t first = block * worker->plan.blockTiles;
  return (THNNRange){first, minimum(first + worker->plan.blockTiles, fourierTiles(&worker->grid))};
}

static void transformTiles(FourierWorker *worker, int64_t block)
{
  const FourierGrid *grid = &worker->grid;
  const THNNRange tiles = tilesOf(worker, block);
  real *y = worker->coefficients;
  for (int64_t tile = tiles.begin; tile < tiles.end; tile++, y += imageLanes(grid))
    for (int64_t plane = 0; plane < imageSlices(grid); plane += vectorLanes())
      THNN_(fourierTiles_elements)(grid, tile, plane, worker->image, worker->room, tileStep(worker),
                                   y + plane);
  worker->block = block;
}

/* Multiplies a block's tiles with a panel's weights. */
static void multiplyTiles(const FourierWorker *worker, const Panel *panel, int64_t tiles,
                          const real *weights)
{
  const int64_t images = imageSlices(&worker->grid), step = weightStep(worker, panel);
  listOffsets(tiles, (THNNOffsets){0, 0}, (THNNOffsets){imageLanes(&worker->grid), panel->lanes},
              worker->row);
  listOffsets(images, (THNNOffsets){0, 0}, (THNNOffsets){1, panel->lanes}, worker->term);
  for (int64_t coefficient = 0; coefficient < worker->grid.transforms->coefficients;
       coefficient++) {
    const Products products = {
        .row = worker->row,
        .rows = tiles,
        .term = worker->term,
        .terms = images,
        .vectorStep = panel->lanes,
        .vectors = panel->vectors,
        .scalars = worker->coefficients + coefficient * tileStep(worker),
        .factors = weights + coefficient * step,
        .start = worker->zeros,
        .sums = worker->sums + coefficient * sumStep(worker),
        .ahead = {.first = weights + (coefficient + 1) * step,
                  .bytes = step * (int64_t)sizeof(real),
                  .count = coefficient + 1 < worker->grid.transforms->coefficients}};
    panel->loops->add(&products);
  }
}

/* Makes the panel's planes of a block's results. Returns whether all are finite. */
static bool makeResults(const FourierWorker *worker, const Panel *panel, int64_t block)
{
  const THNNRange tiles = tilesOf(worker, block);
  const real *sums = worker->sums;
  bool finite = true;
  for (int64_t tile = tiles.begin; tile < tiles.end; tile++, sums += panel->lanes)
    for (int64_t lane = 0; lane < panel->lanes; lane += vectorLanes())
      finite &= THNN_(fourierTiles_results)(&worker->grid, tile, panel->first + lane, sums + lane,
                                            sumStep(worker), worker->start + lane, worker->room,
                                            worker->map);
  return finite;
}

/* Sets the bias of a panel's lanes. */
static void setBias(const FourierWorker *worker, const Panel *panel)
{
  const int64_t each = mapSlices(&worker->grid) / worker->grid.g.outputPlanes;
  THNN_(simd).pointwise.fill(panel->lanes, 0, worker->start);
  for (int64_t lane = 0; worker->bias && lane < panel->planes; lane++)
    worker->start[lane] = worker->bias[(panel->first + lane) / each];
}

static bool runTask(FourierWorker *worker, int64_t block, int64_t index, const real *weights)
{
  const Panel panel = panelOfMap(worker, index);
  const THNNRange tiles = tilesOf(worker, block);
  if (worker->block != block)
    transformTiles(worker, block);
  multiplyTiles(worker, &panel, tiles.end - tiles.begin, weights);
  setBias(worker, &panel);
  return makeResults(worker, &panel, block);
}

/* Computes the map planes of a group of panels from number `first` on. All threads of the parallel
 * region call this. Returns whether this thread's share is finite. */
static bool runGroup(FourierWorker *worker, int64_t first)
{
  const int64_t panels = minimum(worker->plan.groupPanels, panelsOf(worker) - first);
  const int64_t tiles = fourierTiles(&worker->grid);
  const int64_t tasks = divideUp(tiles, worker->plan.blockTiles) * panels;
  const real *weights = worker->weights;
  bool finite = true;
  if (worker->plan.keepsWeights)
    weights += first * panelElements(worker);
  else
    transformPanels(worker, first, panels, worker->weights);
#pragma omp for schedule(static)
  for (int64_t task = 0; task < tasks; task++)
    finite &= runTask(worker, task / panels, first + task % panels,
                      weights + task % panels * panelElements(worker));
  return finite;
}

bool THNN_(fourier_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  FourierWorker common = workerFor(&plan->geometry);
  OWN_OF(plan, common.plan);
  common.image = of->image;
  common.weight = of->weight;
  common.bias = of->bias;
  common.map = of->map;
  Scratch shared = {.base = scratch};
  layOutShared(&common, &shared);
  if (common.plan.keepsWeights)
    common.weights = (real *)of->kept; /* only read */
  const int threads = plan->threads;
  int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(| : wrong) if (threads > 1)
  {
    FourierWorker worker = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&worker, &own);
    THNN_(simd).pointwise.fill(worker.plan.panelLanes, 0, worker.zeros);
    for (int64_t first = 0; first < panelsOf(&worker); first += worker.plan.groupPanels)
      wrong |= !runGroup(&worker, first);
  }
  return !wrong;
}
