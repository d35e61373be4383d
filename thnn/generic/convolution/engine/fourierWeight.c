/* The weight gradient by Fourier transforms. With a tile's results, of which the rest
 * counts as 0, in the place of the taps, the same correlation as in fourier.c gives the gradients of
 * the taps. The products are summed up over tiles before the transform back:
 *
 *   sums[coefficient][image plane][map plane] = tiles[coefficient][tile][image plane] *
 *                                               gradients[coefficient][tile][map plane]
 *
 * With strides, the slices of image planes (fourierTiles.h) take the place of image planes.
 *
 * A task is a block of image planes and a panel of map planes, for which all tiles are transformed,
 * some at a time. Nothing else adds to their weights. */
#include <math.h>

#include "generic/convolution/engine/fourierTiles.h"

enum {
  /* Image planes and map planes of a task: so many that products take longer than transforms, and
   * so few that most layers have several tasks. A multiple of a vector's lanes. */
  BLOCK_PLANES = 32,
  BLOCK_TILES = 16 /* most tiles of a block, for each of which sums are fetched and stored */
};

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct FourierWeightWorker {
  FourierGrid grid;
  int64_t blockTiles;
  const real *image, *map;
  real scale;
  real *gradWeight;

  real *coefficients; /* [coefficient][tile][image plane] */
  real *gradients;    /* [coefficient][tile][map plane] */
  real *sums;         /* [coefficient][image plane][map plane] */
  real *zeros;        /* from which sums start */
  FourierRoom room;
  THNNOffsets *row, *term;
} FourierWeightWorker;

static int64_t blocksOf(int64_t planes)
{
  return divideUp(planes, BLOCK_PLANES);
}

/* The planes of block number `block`. */
static Panel planesOf(int64_t planes, int64_t block)
{
  return panelOfLanes(planes, BLOCK_PLANES, block);
}

static int64_t tileStep(const FourierWeightWorker *worker, const Panel *planes)
{
  return coefficientStep(worker->blockTiles * planes->lanes);
}

static int64_t sumStep(const Panel *images, const Panel *maps)
{
  return coefficientStep(images->planes * maps->lanes);
}

static void layOutThread(FourierWeightWorker *worker, Scratch *scratch)
{
  const Panel images = planesOf(imageSlices(&worker->grid), 0);
  const Panel maps = planesOf(worker->grid.g.outputPlanes, 0);
  const int64_t coefficients = worker->grid.transforms->coefficients;
  worker->coefficients = THNN_take(scratch, coefficients * tileStep(worker, &images), sizeof(real));
  worker->gradients = THNN_take(scratch, coefficients * tileStep(worker, &maps), sizeof(real));
  worker->sums = THNN_take(scratch, coefficients * sumStep(&images, &maps), sizeof(real));
  worker->zeros = THNN_take(scratch, maps.lanes, sizeof(real));
  worker->room = THNN_(fourierTiles_takeRoom)(&worker->grid, scratch);
  worker->row = THNN_take(scratch, images.planes, sizeof(THNNOffsets));
  worker->term = THNN_take(scratch, worker->blockTiles, sizeof(THNNOffsets));
}

static FourierWeightWorker workerFor(const THNNConvolution *g)
{
  const FourierGrid grid = THNN_(fourierTiles_grid)(g);
  return (FourierWeightWorker){.grid = grid,
                               .blockTiles = evenBlock(fourierTiles(&grid), BLOCK_TILES, 1)};
}

static int64_t tasksOf(const FourierWeightWorker *worker)
{
  return blocksOf(imageSlices(&worker->grid)) * blocksOf(worker->grid.g.outputPlanes);
}

/* ---- Planning -------------------------------------------------------------------------------- */

static void setFourierWeightCost(AlgorithmPlan *plan, const FourierWeightWorker *worker)
{
  const THNNConvolution *g = &worker->grid.g;
  const int64_t images = imageSlices(&worker->grid);
  const double tiles = (double)fourierTiles(&worker->grid);
  const double imageBlocks = (double)blocksOf(images);
  const double mapBlocks = (double)blocksOf(g->outputPlanes);
  const double imageVectors = (double)divideUp(images, vectorLanes());
  const double mapVectors = (double)divideUp(g->outputPlanes, vectorLanes());
  const double times = timesOfSlices(&worker->grid, true);
  const double sources = times * tiles * imageVectors * mapBlocks;
  const double gradients = tiles * mapVectors * imageBlocks;
  const double results = times * (double)images * mapVectors;
  const bool lines = hasLines(&worker->grid);
  const double sums = worker->grid.transforms->coefficients * (double)images * mapVectors;
  const double counts[FOURIER_WEIGHT_COSTS] = {
      [FOURIER_WEIGHT_PRODUCT] = mapVectors > 1 ? sums * tiles : 0,
      [FOURIER_WEIGHT_SINGLE] = mapVectors > 1 ? 0 : sums * tiles,
      [FOURIER_WEIGHT_BLOCK] = sums * ceil(tiles / (double)worker->blockTiles),
      [FOURIER_WEIGHT_SOURCE] = lines ? 0 : sources,
      [FOURIER_WEIGHT_GRADIENT] = lines ? 0 : gradients,
      [FOURIER_WEIGHT_RESULT] = lines ? 0 : results,
      [FOURIER_WEIGHT_LINE_SOURCE] = lines ? sources : 0,
      [FOURIER_WEIGHT_LINE_GRADIENT] = lines ? gradients : 0,
      [FOURIER_WEIGHT_LINE_RESULT] = lines ? results : 0,
  };
  setCost(plan, FOURIER_WEIGHT_COSTS, costsInUse()->fourierWeight, counts);
}

bool THNN_(fourierWeight_planConvolution)(AlgorithmPlan *plan)
{
  if (!THNN_(fourierTiles_apply)(plan))
    return false;
  FourierWeightWorker worker = workerFor(&plan->geometry);
  Scratch shared = {0}, thread = {0};
  layOutThread(&worker, &thread);
  if (!fits(plan, &shared, &thread))
    return false;
  setFourierWeightCost(plan, &worker);
  const int64_t tasks = tasksOf(&worker);
  plan->threads = threadsFor(plan, tasks);
  return true;
}

/* ---- One task -------------------------------------------------------------------------------- */

/* Transforms what tiles [begin, end) see of the image planes, and their gradients of the map
 * planes. */
static void transformTiles(const FourierWeightWorker *worker, THNNRange tiles, const Panel *images,
                           const Panel *maps)
{
  real *elements = worker->coefficients, *gradients = worker->gradients;
  for (int64_t tile = tiles.begin; tile < tiles.end; tile++) {
    for (int64_t lane = 0; lane < images->lanes; lane += vectorLanes())
      THNN_(fourierTiles_elements)(&worker->grid, tile, images->first + lane, worker->image,
                                   worker->room, tileStep(worker, images), elements + lane);
    for (int64_t lane = 0; lane < maps->lanes; lane += vectorLanes())
      THNN_(fourierTiles_gradients)(&worker->grid, tile, maps->first + lane, worker->map,
                                    worker->room, tileStep(worker, maps), gradients + lane);
    elements += images->lanes;
    gradients += maps->lanes;
  }
}

static void multiplyTiles(const FourierWeightWorker *worker, int64_t tiles, const Panel *images,
                          const Panel *maps, bool begins)
{
  const int64_t lanes = vectorLanes(), mostVectors = THNN_(simd).products.mostVectors;
  const int64_t most = evenBlock(maps->lanes / lanes, mostVectors, 1) * lanes;
  for (int64_t coefficient = 0; coefficient < worker->grid.transforms->coefficients; coefficient++)
    for (int64_t lane = 0; lane < maps->lanes; lane += most) {
      const Products products = {
          .row = worker->row,
          .rows = images->planes,
          .term = worker->term,
          .terms = tiles,
          .vectorStep = maps->lanes,
          .vectors = (int)(minimum(most, maps->lanes - lane) / lanes),
          .scalars = worker->coefficients + coefficient * tileStep(worker, images),
          .factors = worker->gradients + coefficient * tileStep(worker, maps) + lane,
          .start = begins ? worker->zeros : NULL,
          .sums = worker->sums + coefficient * sumStep(images, maps) + lane};
      THNN_(simd).products.add(&products);
    }
}

/* Adds the gradients of all filters of a task to those of the weight. */
static void addFilters(const FourierWeightWorker *worker, const Panel *images, const Panel *maps)
{
  for (int64_t i = 0; i < images->planes; i++)
    for (int64_t lane = 0; lane < maps->lanes; lane += vectorLanes())
      THNN_(fourierTiles_addTaps)(&worker->grid, images->first + i, maps->first + lane,
                                  worker->sums + i * maps->lanes + lane, sumStep(images, maps),
                                  worker->zeros, worker->scale, worker->room, worker->gradWeight);
}

static void runTask(const FourierWeightWorker *worker, int64_t task)
{
  const int64_t mapPlanes = worker->grid.g.outputPlanes, mapBlocks = blocksOf(mapPlanes);
  const int64_t tiles = fourierTiles(&worker->grid), most = worker->blockTiles;
  const Panel images = planesOf(imageSlices(&worker->grid), task / mapBlocks);
  const Panel maps = planesOf(mapPlanes, task % mapBlocks);
  const THNNOffsets none = {0, 0};
  listOffsets(images.planes, none, (THNNOffsets){1, maps.lanes}, worker->row);
  listOffsets(most, none, (THNNOffsets){images.lanes, maps.lanes}, worker->term);
  for (int64_t first = 0; first < tiles; first += most) {
    const THNNRange block = {first, minimum(first + most, tiles)};
    transformTiles(worker, block, &images, &maps);
    multiplyTiles(worker, block.end - block.begin, &images, &maps, first == 0);
  }
  addFilters(worker, &images, &maps);
}

bool THNN_(fourierWeight_runConvolution)(const AlgorithmPlan *plan, const Operands *of,
                                         void *scratch)
{
  const THNNConvolution *g = &plan->geometry;
  FourierWeightWorker common = workerFor(g);
  common.image = of->image;
  common.map = of->gradMap;
  common.scale = (real)of->scale;
  common.gradWeight = of->gradWeight;
  const int threads = plan->threads;
  if (!THNN_(winogradWeight_staysFinite)(g, of->image, of->gradMap, threads))
    return false;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    FourierWeightWorker worker = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&worker, &own);
    THNN_(simd).pointwise.fill(planesOf(g->outputPlanes, 0).lanes, 0, worker.zeros);
#pragma omp for schedule(static) nowait
    for (int64_t task = 0; task < tasksOf(&common); task++)
      runTask(&worker, task);
  }
  if (of->gradBias)
    THNN_(engine_addMapSums)(plan, of);
  return true;
}
