/* What direct convolution is expected to cost. */
#include "generic/convolution/engine/direct/direct.h"

#include <math.h>

/* Cycles. */
static const struct {
  double tile;                   /* of positions that are taken singly: for each term */
  double apart, meeting, narrow; /* factors of lines: for elements that are apart, planes that meet
                                  * in few sets of a first-level cache, and short vectors, which
                                  * have no fused multiply-add; measured */
  double load[2];                /* lines: a vector, if vectors are long and if not */
  double product;                /* lines: a vector with a scalar, in a large tile */
  double busy;                   /* lines: a tile, beside its products and the taps of a chain */
  double wait, waitTap;          /* lines: for the sums of a tile; for each tap of a chain */
  double loadedTaps;             /* lines: loads for each tap of a chain */
  double lineTile[2];            /* lines: starting a tile; a vector of its positions */
  double fetchedLine;            /* of a far image's cache line, for each panel */
  double class, list[2];         /* of a class in each group; listing it; listing a term */
  double boxPlane;               /* of an image plane in a box */
  double stored, storedAlone;    /* of a vector of the map; more, if it gets the bias only */
  double weight;                 /* packing an element of the weight */
} COST = {.tile = 0.7,
          .apart = 1.05,
          .meeting = 1.25,
          .narrow = 1.2,
          .load = {1, 0.5},
          .product = 0.5,
          .busy = 1,
          .wait = 2,
          .waitTap = 4,
          .loadedTaps = 2,
          .lineTile = {60, 2},
          .fetchedLine = 34,
          .class = 60,
          .list = {350, 0.5},
          .boxPlane = 25,
          .stored = 11,
          .storedAlone = 15,
          .weight = 0.9};

/* Fraction of positions that any tap reaches; with an image's stride beyond the kernel, some get
 * none. */
static double shareWithTaps(const THNNConvolution *g)
{
  double share = 1;
  for (int i = 0; i < 3; i++)
    if (g->transposed && g->kernel[i] < g->stride[i])
      share *= (double)g->kernel[i] / (double)g->stride[i];
  return share;
}

/* Number of class lists that are built. Boxes that differ only in their samples share them, unless
 * there are more classes than the lists hold. */
static double listedCount(const DirectPlan *plan, double classes)
{
  const int64_t samples = plan->boxes.boxes[THNN_SAMPLE];
  const bool again = THNN_convolutionBoxCount(&plan->boxes) > samples ||
                     classes > (double)samples * LISTED_CLASSES;
  return again ? classes : classes / (double)samples;
}

/* The cost of a panel's products if positions are taken singly. A tile of few positions waits for
 * its weights. */
static double singleProductsCost(const DirectWorker *worker)
{
  enum { TILE_ROWS = 8 };
  const THNNConvolution *g = &worker->g;
  const double positions = (double)g->batch * (double)worker->mapPositions;
  const double classes = fmax(THNN_(direct_classCount)(worker), 1);
  const double tiles = classes * ceil(ceil(positions / classes) / TILE_ROWS);
  const double panels = (double)panelCount(g->outputPlanes);
  const double products = positions * vectorsCost(g->outputPlanes) / panels;
  const double weights = tiles * worker->plan.panelLanes / productsFor(g->outputPlanes)->lanes;
  const double terms =
      THNN_convolutionProducts(g) * g->inputPlanes / (double)maximum(worker->mapPositions, 1);
  return terms * (COST.tile * tiles + fmax(products, weights));
}

/* The factor by which lines are slower than their products. */
static double lineFactor(const DirectWorker *worker)
{
  enum { ALIAS_BYTES = 2048, SHORT_VECTOR = 16 };
  const SimdProducts *loops = productsFor(worker->g.outputPlanes);
  const bool meet = worker->imagePositions * (int64_t)sizeof(real) % ALIAS_BYTES == 0 &&
                    worker->plan.panelLanes > loops->lanes;
  return (worker->plan.along < 2 ? COST.apart : 1) * (meet ? COST.meeting : 1) *
         (loops->lanes * sizeof(real) == SHORT_VECTOR ? COST.narrow : 1);
}

/* The cost of a panel's products if positions are taken in lines; infinite where that is
 * impossible. A tile of few positions waits for its sums, or with few vectors for its scalars. */
static double lineProductsCost(const DirectWorker *worker)
{
  enum { ROOM = 16, LONG_VECTOR = 64 };
  const THNNConvolution *g = &worker->g;
  const DirectPlan *plan = &worker->plan;
  const SimdProducts *loops = productsFor(g->outputPlanes);
  const int64_t vectors = plan->panelLanes / loops->lanes;
  const int64_t groups = divideUp(g->inputPlanes, plan->groupPlanes);
  THNNConvolutionRun runs[ROOM];
  const int64_t count = THNN_(direct_runs)(worker, plan->along, runs, ROOM);
  const double inside = THNN_convolutionProductsAlong(g, plan->along);
  const double perLoad = COST.load[loops->lanes * sizeof(real) != LONG_VECTOR];
  double all = 0, chains = 0, tiles = 0;
  if (count > ROOM)
    return INFINITY;
  for (const THNNConvolutionRun *run = runs; run < runs + count; run++)
    all += (double)run->positions * run->taps;
  for (const THNNConvolutionRun *run = runs; run < runs + count; run++) {
    THNNConvolutionRun part = *run;
    part.positions = minimum(part.positions, plan->boxes.box[THNN_DEPTH + plan->along]);
    const Line line = THNN_(direct_lineAlong)(&part);
    if (run->taps == 0)
      continue;
    if (line.positions == 0)
      return INFINITY;
    const double positions =
        (double)line.positions / divideUp(line.positions, loops->chains->longestTile[vectors - 1]);
    const int64_t taps = divideUp(line.taps, line.tapsApart);
    const double together = vectors == 1 ? (double)taps / divideUp(taps, THNN_CHAIN_TAPS) : 1;
    const double products = positions * together * vectors * inside / maximum(all, 1);
    const double busy = COST.product * products + COST.busy + together;
    const double waiting = COST.waitTap * together + COST.wait;
    const double loads = perLoad * (positions + COST.loadedTaps * together);
    chains += run->positions / positions * run->taps / together * fmax(fmax(busy, waiting), loads);
    tiles += run->positions / positions * minimum(line.tapsApart, line.taps) *
             (COST.lineTile[0] + COST.lineTile[1] * positions * vectors);
  }
  const double lines = (double)worker->mapPositions / g->output[plan->along];
  const double otherProducts = inside > 0 ? THNN_convolutionProducts(g) / inside : 0;
  const double products = chains * otherProducts * g->inputPlanes;
  return g->batch * (products * lineFactor(worker) + tiles * lines * groups);
}

/* The time that a panel waits for an image that is too large for the near caches: every panel
 * fetches it again, ahead of its products. With a stride beyond the kernel, some lines of the image
 * are never read. */
static double fetchingCost(const DirectWorker *worker)
{
  enum { LINE_BYTES = 64, FAR_BYTES = 8 << 20 };
  const THNNConvolution *g = &worker->g;
  double bytes = (double)g->batch * g->inputPlanes * worker->imagePositions * sizeof(real);
  for (int i = 0; i < 2; i++)
    if (!g->transposed && g->kernel[i] < g->stride[i])
      bytes *= (double)g->kernel[i] / (double)g->stride[i];
  return bytes > FAR_BYTES ? COST.fetchedLine * bytes / LINE_BYTES : 0;
}

/* The total cost: products, the overhead of classes and their lists, bringing the image into cache,
 * packing and storing. */
double THNN_(direct_cost)(const DirectWorker *worker)
{
  const THNNConvolution *g = &worker->g;
  const DirectPlan *plan = &worker->plan;
  const double positions = (double)g->batch * (double)worker->mapPositions;
  const double classes = THNN_(direct_classCount)(worker);
  const double terms = THNN_convolutionProducts(g) / (double)maximum(worker->mapPositions, 1);
  const double products = plan->along < 0 ? singleProductsCost(worker) : lineProductsCost(worker);
  const double perPanel =
      fmax(products, fetchingCost(worker)) +
      classes * COST.class * (double)divideUp(g->inputPlanes, plan->groupPlanes) +
      listedCount(plan, classes) * (COST.list[0] + COST.list[1] * terms * plan->groupPlanes) +
      THNN_convolutionBoxCount(&plan->boxes) * COST.boxPlane * (double)g->inputPlanes;
  /* Storing positions without taps overlaps with no products. */
  const double perVector = COST.stored + COST.storedAlone * (1 - shareWithTaps(g));
  /* Fetching kept weights from memory, in a network of many layers, takes as long as packing. */
  const bool again = !plan->keepsWeights && plan->blockPlanes < g->inputPlanes;
  const int64_t packings = again ? THNN_convolutionBoxCount(&plan->boxes) : 1;
  return positions * perVector * divideUp(g->outputPlanes, vectorLanes()) +
         panelCount(g->outputPlanes) * perPanel +
         COST.weight * packings * THNN_convolutionWeights(g);
}
