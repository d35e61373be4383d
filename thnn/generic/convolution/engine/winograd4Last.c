/* Winograd's F(4x4, 3x3) for image and map with the planes last, and kept weights. Each lane has a
 * plane: the transforms read and write whole vectors (simd/kernels/winogradPlanes.c), however small
 * the map is, and coefficient by coefficient
 *
 *   sums[coefficient][tile][map plane] = tiles[coefficient][tile][image plane] *
 *                                        weights[coefficient][image plane][map plane]
 *
 * A task is a panel of map planes in a block of rows of tiles. Blocks are parts of one sample and do
 * not depend on threads, on which bits would depend: how many tiles are multiplied at a time decides
 * about the order of sums. A thread takes neighbouring tasks, and transforms a block's tiles for the
 * first of them only; where threads have panels of the same block, each transforms its tiles.
 *
 * If a result is not finite, another algorithm computes all of them, as in winograd.c. */
#include "generic/convolution/engine/offsets.h"
#include "generic/convolution/engine/panels.h"
#include "generic/convolution/engine/winogradTiles.h"

enum {
  SIDE = 4,
  TAPS = 9,
  COEFFICIENTS = 36,
  PANEL_VECTORS = 2,  /* map planes of a panel; 8 tiles have as many sums as hide their latency */
  PACKED_PLANES = 64, /* image planes whose weights are transformed at a time */
  LEAST_TILES = 8,    /* of a block, so that each weight that is loaded has enough products */
  FAR_TILES = 16 /* the same for weights from far, even if their coefficients do not stay near */
};
/* Most bytes of weights that stay in a second-level cache, from which each block loads them. */
static const int64_t NEAR_WEIGHT_BYTES = 1 << 20;
/* Most bytes of a block's coefficients: so many as stay there beside these weights, or alone. */
static const int64_t BLOCK_BYTES = 512 << 10, FAR_BLOCK_BYTES = 1 << 20;
/* Bytes of image or map beyond which they come from a farther cache, or from memory. */
static const int64_t NEAR_BYTES = 512 << 10;
/* Most bytes of kept weights, which are read from one end to the other: with 512 planes of 14x14 and
 * 38 MB from memory, the layer was measured to take four fifths of the time of winograd.c. */
static const int64_t MOST_KEPT_BYTES = 40 << 20;

typedef struct LastPlan {
  int64_t rows, columns; /* of tiles in a sample */
  int64_t blockRows;     /* rows of tiles in a block; the last block can have fewer */
} LastPlan;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct LastWorker {
  THNNConvolution g;
  LastPlan plan;
  const real *image, *weight, *bias;
  real *map;
  Finish finish;
  const real *weights; /* [panel][coefficient][image plane][lane] */

  real *coefficients; /* [coefficient][tile][image plane] */
  real *sums;         /* [coefficient][tile][lane] */
  real *zeros;        /* a panel's, from which sums start */
  real *start;        /* the bias of a panel, or zeros */
  real *packed;       /* weights: [image plane][tap][lane] */
  real *made;         /* weights: [coefficient][image plane][lane] */
  THNNOffsets *row, *term;
  int64_t block; /* whose tiles are transformed, or -1 */
} LastWorker;

static int64_t blockTiles(const LastPlan *plan)
{
  return plan->blockRows * plan->columns;
}

/* Blocks of a sample. */
static int64_t blocksOf(const LastPlan *plan)
{
  return divideUp(plan->rows, plan->blockRows);
}

static int64_t panelsOf(const THNNConvolution *g)
{
  return divideUp(g->outputPlanes, PANEL_VECTORS * vectorLanes());
}

static int64_t keptElements(const THNNConvolution *g)
{
  return COEFFICIENTS * g->inputPlanes * g->outputPlanes;
}

static void layOutThread(LastWorker *worker, Scratch *scratch)
{
  const int64_t tiles = blockTiles(&worker->plan), planes = worker->g.inputPlanes;
  const int64_t lanes = PANEL_VECTORS * vectorLanes();
  worker->coefficients =
      THNN_take(scratch, COEFFICIENTS * coefficientStep(tiles * planes), sizeof(real));
  worker->sums = THNN_take(scratch, COEFFICIENTS * coefficientStep(tiles * lanes), sizeof(real));
  worker->zeros = THNN_take(scratch, lanes, sizeof(real));
  worker->start = THNN_take(scratch, lanes, sizeof(real));
  worker->packed = THNN_take(scratch, PACKED_PLANES * TAPS * vectorLanes(), sizeof(real));
  worker->made = THNN_take(scratch, COEFFICIENTS * PACKED_PLANES * vectorLanes(), sizeof(real));
  worker->row = THNN_take(scratch, tiles, sizeof(THNNOffsets));
  worker->term = THNN_take(scratch, planes, sizeof(THNNOffsets));
}

/* Counts products and transforms, which cost what they do in winograd4. No vector is filled in part,
 * neither in products nor in transforms. */
static void setLastCost(AlgorithmPlan *plan, const LastPlan *own)
{
  const THNNConvolution *g = &plan->geometry;
  const double tiles = (double)(g->batch * own->rows * own->columns), lanes = vectorLanes();
  const double images = (double)g->inputPlanes, maps = (double)g->outputPlanes;
  const double blocks = (double)(g->batch * blocksOf(own));
  const double counts[WINOGRAD4_COSTS] = {
      [WINOGRAD4_SOURCE] = tiles * images / lanes,
      [WINOGRAD4_RESULT] = tiles * maps / lanes,
      [WINOGRAD4_KEPT_PRODUCT] = COEFFICIENTS * tiles * images * maps / lanes,
      [WINOGRAD4_KEPT_BLOCK] = COEFFICIENTS * blocks * images * maps / lanes,
  };
  setCost(plan, WINOGRAD4_COSTS, costsInUse()->winograd4, counts);
}

/* Chooses the rows of tiles in a block: as many as fit, or fewer to make a few equal blocks for
 * threads, where the weights are near. */
static int64_t chooseRows(const THNNConvolution *g, const LastPlan *own)
{
  enum { ENOUGH = 4 };
  const int64_t rowBytes = COEFFICIENTS * own->columns * g->inputPlanes * (int64_t)sizeof(real);
  const bool near = keptElements(g) * (int64_t)sizeof(real) <= NEAR_WEIGHT_BYTES;
  const int64_t fitting = (near ? BLOCK_BYTES : FAR_BLOCK_BYTES) / rowBytes;
  const int64_t worthwhile = divideUp(near ? 1 : FAR_TILES, own->columns);
  const int64_t most = clamp(maximum(fitting, worthwhile), 1, own->rows);
  int64_t blocks = divideUp(own->rows, most);
  if (near)
    while (blocks < ENOUGH && own->rows / (2 * blocks) * own->columns >= LEAST_TILES)
      blocks *= 2;
  return divideUp(own->rows, blocks);
}

/* Whether the algorithm applies: with planes that are whole vectors, and weights that are kept. */
static bool takes(const AlgorithmPlan *plan)
{
  const THNNConvolution *g = &plan->geometry;
  const SimdTiles *tiles = &THNN_(simd).winograd.four;
  const int64_t lanes = vectorLanes();
  return plan->keeps && g->imageLast && g->mapLast && g->kernel[0] == 1 && g->input[0] == 1 &&
         g->pad[0] == 0 && g->dilation[1] == 1 && g->dilation[2] == 1 && hasTaps(g, tiles->taps) &&
         winogradApplies(plan, tiles) && g->inputPlanes % lanes == 0 &&
         g->outputPlanes % lanes == 0 && keptElements(g) * (int64_t)sizeof(real) <= MOST_KEPT_BYTES;
}

bool THNN_(winograd4Last_planConvolution)(AlgorithmPlan *plan)
{
  const THNNConvolution *g = &plan->geometry;
  if (!takes(plan))
    return false;
  LastWorker worker = {
      .g = *g,
      .plan = {.rows = divideUp(g->output[1], SIDE), .columns = divideUp(g->output[2], SIDE)}};
  worker.plan.blockRows = chooseRows(g, &worker.plan);
  Scratch shared = {0}, thread = {0};
  layOutThread(&worker, &thread);
  if (!fits(plan, &shared, &thread))
    return false;
  setLastCost(plan, &worker.plan);
  plan->threads = threadsFor(plan, g->batch * blocksOf(&worker.plan) * panelsOf(g));
  plan->keptBytes = (size_t)keptElements(g) * sizeof(real);
  plan->finishes = true;
  KEEP_OWN(plan, worker.plan);
  return true;
}

static Panel panelOfMap(const THNNConvolution *g, int64_t index)
{
  return panelOfLanes(g->outputPlanes, PANEL_VECTORS * vectorLanes(), index);
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* Transforms the weights of a vector of map planes, of which the first is `plane`, to their lanes of
 * the panel. */
static void transformVector(const LastWorker *worker, const Panel *panel, int64_t plane, real *kept)
{
  const int64_t images = worker->g.inputPlanes, lanes = vectorLanes();
  const int64_t step = PACKED_PLANES * lanes;
  for (int64_t first = 0; first < images; first += PACKED_PLANES) {
    const int64_t count = minimum(PACKED_PLANES, images - first);
    THNN_(simd).products.pack(lanes, count * TAPS, worker->weight + (plane * images + first) * TAPS,
                              images * TAPS, worker->packed, lanes);
    THNN_(simd).winograd.four.weights(count, false, worker->packed, step, worker->made);
    for (int64_t coefficient = 0; coefficient < COEFFICIENTS; coefficient++)
      for (int64_t i = 0; i < count; i++)
        THNN_(simd).pointwise.copy(lanes, worker->made + coefficient * step + i * lanes,
                                   kept + (coefficient * images + first + i) * panel->lanes +
                                       plane - panel->first);
  }
}

void THNN_(winograd4Last_keepWeights)(const AlgorithmPlan *plan, const real *weight, void *kept,
                                      void *scratch)
{
  LastWorker common = {.g = plan->geometry, .weight = weight};
  OWN_OF(plan, common.plan);
  const int threads = plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    LastWorker worker = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&worker, &own);
#pragma omp for schedule(static) nowait
    for (int64_t index = 0; index < panelsOf(&worker.g); index++) {
      const Panel panel = panelOfMap(&worker.g, index);
      real *place = (real *)kept + panel.first * COEFFICIENTS * worker.g.inputPlanes;
      for (int64_t plane = panel.first; plane < panel.first + panel.planes; plane += vectorLanes())
        transformVector(&worker, &panel, plane, place);
    }
  }
}

/* ---- One task -------------------------------------------------------------------------------- */

/* The rows of tiles of block number `block`, which counts over all samples. */
static THNNRange rowsOf(const LastPlan *plan, int64_t block)
{
  const int64_t first = block % blocksOf(plan) * plan->blockRows;
  return (THNNRange){first, minimum(first + plan->blockRows, plan->rows)};
}

static int64_t sampleOf(const LastPlan *plan, int64_t block)
{
  return block / blocksOf(plan);
}

/* Whether image and map come from a far cache or from memory. What two tiles see is too far apart for
 * the hardware to prefetch it. */
static bool isFar(const THNNConvolution *g)
{
  const int64_t planes = maximum(g->inputPlanes, g->outputPlanes);
  return g->batch * g->output[1] * g->output[2] * planes * (int64_t)sizeof(real) > NEAR_BYTES;
}

static void transformTiles(LastWorker *worker, int64_t block)
{
  const THNNConvolution *g = &worker->g;
  const LastPlan *plan = &worker->plan;
  const THNNRange rows = rowsOf(plan, block);
  const real *image = worker->image + sampleOf(plan, block) * THNN_convolutionImageSample(g);
  const int64_t apart = coefficientStep(blockTiles(plan) * g->inputPlanes);
  real *y = worker->coefficients;
  for (int64_t row = rows.begin; row < rows.end; row++)
    for (int64_t column = 0; column < plan->columns; column++, y += g->inputPlanes) {
      const PlanesTile tile = {.row = row * SIDE - g->pad[1],
                               .column = column * SIDE - g->pad[2],
                               .height = g->input[1],
                               .width = g->input[2],
                               .step = g->inputPlanes,
                               .planes = g->inputPlanes,
                               .fetches = isFar(g)};
      THNN_(simd).winogradPlanes.source(&tile, image, apart, y);
    }
  worker->block = block;
}

/* Multiplies a block's tiles with a panel's weights. The weights of the next coefficient are
 * prefetched: in a network of several layers they come from a far cache. */
static void multiplyTiles(const LastWorker *worker, const Panel *panel, int64_t tiles)
{
  const int64_t images = worker->g.inputPlanes, all = blockTiles(&worker->plan);
  const int64_t weightStep = images * panel->lanes;
  const real *weights = worker->weights + panel->first * COEFFICIENTS * images;
  listOffsets(tiles, (THNNOffsets){0}, (THNNOffsets){images, panel->lanes}, worker->row);
  listOffsets(images, (THNNOffsets){0}, (THNNOffsets){1, panel->lanes}, worker->term);
  const int64_t terms = evenBlock(images, MOST_TERMS, 1);
  for (int64_t coefficient = 0; coefficient < COEFFICIENTS; coefficient++)
    for (int64_t first = 0; first < images; first += terms) {
      const Products products = {
          .row = worker->row,
          .rows = tiles,
          .term = worker->term + first,
          .terms = minimum(terms, images - first),
          .vectorStep = panel->lanes,
          .vectors = panel->vectors,
          .scalars = worker->coefficients + coefficient * coefficientStep(all * images),
          .factors = weights + coefficient * weightStep,
          .start = first == 0 ? worker->zeros : NULL,
          .sums = worker->sums + coefficient * coefficientStep(all * panel->lanes),
          .ahead = {.first = weights + (coefficient + 1) * weightStep + first * panel->lanes,
                    .bytes = minimum(terms, images - first) * panel->lanes * (int64_t)sizeof(real),
                    .count = coefficient + 1 < COEFFICIENTS}};
      panel->loops->add(&products);
    }
}

/* Makes the panel's planes of a block's results. Returns whether all are finite. */
static bool makeResults(const LastWorker *worker, const Panel *panel, int64_t block)
{
  const THNNConvolution *g = &worker->g;
  const LastPlan *plan = &worker->plan;
  const THNNRange rows = rowsOf(plan, block);
  const int64_t place = sampleOf(plan, block) * THNN_convolutionMapSample(g) + panel->first;
  const int64_t apart = coefficientStep(blockTiles(plan) * panel->lanes);
  const real *addend = worker->finish.addend ? worker->finish.addend + place : NULL;
  const real *sums = worker->sums;
  bool finite = true;
  for (int64_t row = rows.begin; row < rows.end; row++)
    for (int64_t column = 0; column < plan->columns; column++, sums += panel->lanes) {
      const PlanesTile tile = {.row = row * SIDE,
                               .column = column * SIDE,
                               .height = g->output[1],
                               .width = g->output[2],
                               .step = g->outputPlanes,
                               .planes = panel->planes,
                               .fetches = isFar(g)};
      finite &= THNN_(simd).winogradPlanes.result(&tile, sums, apart, worker->start, addend,
                                                  worker->finish.rectifies, worker->map + place);
    }
  if (worker->finish.map) {
    const Finish rest = {
        .map = worker->finish.map,
        .parameters = {worker->finish.parameters[0], worker->finish.parameters[1]}};
    const int64_t first = rows.begin * SIDE, end = minimum(rows.end * SIDE, g->output[1]);
    real *y = worker->map + place + first * g->output[2] * g->outputPlanes;
    for (int64_t i = 0; i < (end - first) * g->output[2]; i++, y += g->outputPlanes)
      finishResults(rest, 0, panel->planes, y);
  }
  return finite;
}

static bool runTask(LastWorker *worker, int64_t task)
{
  const int64_t panels = panelsOf(&worker->g), block = task / panels;
  const Panel panel = panelOfMap(&worker->g, task % panels);
  const THNNRange rows = rowsOf(&worker->plan, block);
  if (worker->block != block)
    transformTiles(worker, block);
  multiplyTiles(worker, &panel, (rows.end - rows.begin) * worker->plan.columns);
  THNN_(simd).pointwise.fill(panel.lanes, 0, worker->start);
  if (worker->bias)
    THNN_(simd).pointwise.copy(panel.planes, worker->bias + panel.first, worker->start);
  return makeResults(worker, &panel, block);
}

bool THNN_(winograd4Last_runConvolution)(const AlgorithmPlan *plan, const Operands *of,
                                         void *scratch)
{
  LastWorker common = {.g = plan->geometry,
                       .image = of->image,
                       .bias = of->bias,
                       .map = of->map,
                       .finish = of->finish,
                       .weights = of->kept,
                       .block = -1};
  OWN_OF(plan, common.plan);
  const int64_t tasks = common.g.batch * blocksOf(&common.plan) * panelsOf(&common.g);
  const int threads = plan->threads;
  int wrong = 0;
#pragma omp parallel num_threads(threads) reduction(| : wrong) if (threads > 1)
  {
    LastWorker worker = common;
    Scratch own = threadScratch(plan, scratch);
    layOutThread(&worker, &own);
    THNN_(simd).pointwise.fill(PANEL_VECTORS * vectorLanes(), 0, worker.zeros);
#pragma omp for schedule(static) nowait
    for (int64_t task = 0; task < tasks; task++)
      wrong |= !runTask(&worker, task);
  }
  return !wrong;
}
