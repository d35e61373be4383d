/* What direct convolution is expected to cost. */
#include "generic/convolution/engine/direct/direct.h"

#include <math.h>

#include "simd/tuning.h"

/* In a network of many layers, kept weights come from memory, partly while other products are
 * computed. What is left was measured to take between a fourteenth and a third of a cycle for each
 * weight, with a last-level cache of 32 MB, where packing takes a whole one: so many kept weights
 * count as one that is packed. */
enum { KEPT_PER_PACKED = 4 };

/* Fraction of positions that any tap reaches; if the image has a stride larger than the kernel,
 * some positions get none. */
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

/* Counts a panel's products if positions are taken singly. A tile of few positions waits for its
 * weights, and these are counted instead. */
static void countSingly(const DirectWorker *worker, const double *costs, double *counts)
{
  enum { TILE_ROWS = 8 };
  const THNNConvolution *g = &worker->g;
  const double positions = (double)g->batch * (double)worker->mapPositions;
  const double classes = fmax(THNN_(direct_classCount)(worker), 1);
  const double tiles = classes * ceil(ceil(positions / classes) / TILE_ROWS);
  const double vectors = (double)divideUp(g->outputPlanes, vectorLanes());
  const double terms =
      THNN_convolutionProducts(g) * g->inputPlanes / (double)maximum(worker->mapPositions, 1);
  const int product = vectors == 1 ? DIRECT_SINGLE : DIRECT_PRODUCT;
  const double products = terms * positions * vectors / (double)panelCount(g->outputPlanes);
  const double weights =
      terms * tiles * worker->plan.panelLanes / productsFor(g->outputPlanes)->lanes;
  counts[DIRECT_TILE] = terms * tiles;
  if (costs[product] * products >= costs[DIRECT_PANEL_WEIGHT] * weights)
    counts[product] = products;
  else
    counts[DIRECT_PANEL_WEIGHT] = weights;
}

/* The factor by which lines take longer than the cycles that are counted for them. */
static double lineFactor(const DirectWorker *worker, const double *costs)
{
  enum { ALIAS_BYTES = 2048, SHORT_VECTOR = 16 };
  const SimdProducts *loops = productsFor(worker->g.outputPlanes);
  const bool meet = worker->imagePositions * (int64_t)sizeof(real) % ALIAS_BYTES == 0 &&
                    worker->plan.panelLanes > loops->lanes;
  return (worker->plan.along < 2 ? costs[DIRECT_APART] : 1) * (meet ? costs[DIRECT_MEETING] : 1) *
         (loops->lanes * sizeof(real) == SHORT_VECTOR ? costs[DIRECT_NARROW] : 1);
}

/* Counts a panel's products if positions are taken in lines; returns false where that is
 * impossible. A tile of few positions waits for its sums, or with few vectors for its scalars. */
static bool countLines(const DirectWorker *worker, const double *costs, double *counts)
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
  const double perLoad =
      costs[loops->lanes * sizeof(real) == LONG_VECTOR ? DIRECT_LONG_LOAD : DIRECT_LOAD];
  double all = 0, chains = 0, tiles = 0, tileVectors = 0;
  if (count > ROOM)
    return false;
  for (const THNNConvolutionRun *run = runs; run < runs + count; run++)
    all += (double)run->positions * run->taps;
  for (const THNNConvolutionRun *run = runs; run < runs + count; run++) {
    THNNConvolutionRun part = *run;
    part.positions = minimum(part.positions, plan->boxes.box[THNN_DEPTH + plan->along]);
    const Line line = THNN_(direct_lineAlong)(&part);
    if (run->taps == 0)
      continue;
    if (line.positions == 0)
      return false;
    const double positions =
        (double)line.positions / divideUp(line.positions, loops->chains->longestTile[vectors - 1]);
    const int64_t taps = divideUp(line.taps, line.tapsApart);
    const double together = vectors == 1 ? (double)taps / divideUp(taps, THNN_CHAIN_TAPS) : 1;
    const double products = positions * together * vectors * inside / maximum(all, 1);
    const double busy = costs[DIRECT_MULTIPLIED] * products + costs[DIRECT_BUSY] + together;
    const double waiting = costs[DIRECT_WAIT_TAP] * together + costs[DIRECT_WAIT];
    const double loads = perLoad * (positions + costs[DIRECT_LOADED_TAPS] * together);
    chains += run->positions / positions * run->taps / together * fmax(fmax(busy, waiting), loads);
    const double started = run->positions / positions * minimum(line.tapsApart, line.taps);
    tiles += started;
    tileVectors += started * positions * vectors;
  }
  const double lines = (double)worker->mapPositions / g->output[plan->along];
  const double otherProducts = inside > 0 ? THNN_convolutionProducts(g) / inside : 0;
  const double starts = (double)g->batch * lines * groups;
  counts[DIRECT_LINE] =
      g->batch * chains * otherProducts * g->inputPlanes * lineFactor(worker, costs);
  counts[DIRECT_TILE_START] = starts * tiles;
  counts[DIRECT_TILE_VECTOR] = starts * tileVectors;
  return true;
}

/* The cache lines of an image that is too large for the near caches: every panel fetches it again,
 * ahead of its products. With a stride beyond the kernel, some lines of the image are never
 * read. */
static double fetchedLines(const DirectWorker *worker)
{
  enum { LINE_BYTES = 64, FAR_BYTES = 8 << 20 };
  const THNNConvolution *g = &worker->g;
  double bytes = (double)g->batch * g->inputPlanes * worker->imagePositions * sizeof(real);
  for (int i = 0; i < 2; i++)
    if (!g->transposed && g->kernel[i] < g->stride[i])
      bytes *= (double)g->kernel[i] / (double)g->stride[i];
  return bytes > FAR_BYTES ? bytes / LINE_BYTES : 0;
}

/* Counts all panels' products and what fetching the image adds to these, or fetching it where that
 * takes longer: the two overlap, though not entirely. All algorithms fetch it once, in timings partly
 * from the last-level cache, where the call before had left it; further panels find little of it
 * there. */
static bool countPanels(const DirectWorker *worker, const double *costs, double *counts)
{
  if (worker->plan.along < 0)
    countSingly(worker, costs, counts);
  else if (!countLines(worker, costs, counts))
    return false;
  double products = 0;
  for (int i = 0; i < DIRECT_COSTS; i++)
    products += costs[i] * counts[i];
  const double fetched = fetchedLines(worker);
  const double beside = products + costs[DIRECT_FETCHED_BESIDE] * fetched;
  const double others = (double)(panelCount(worker->g.outputPlanes) - 1);
  const bool first = costs[DIRECT_FETCHED_LINE] * fetched > beside;
  const bool again = costs[DIRECT_FETCHED_AGAIN] * fetched > beside;
  for (int i = 0; i < DIRECT_COSTS; i++)
    counts[i] *= (first ? 0 : 1) + (again ? 0 : others);
  counts[DIRECT_FETCHED_LINE] = first ? fetched : 0;
  counts[DIRECT_FETCHED_AGAIN] = again ? fetched * others : 0;
  counts[DIRECT_FETCHED_BESIDE] = fetched * ((first ? 0 : 1) + (again ? 0 : others));
  return true;
}

/* Counts products, the overhead of classes and their lists, bringing the image into cache, packing
 * and storing. */
bool THNN_(direct_setCost)(AlgorithmPlan *plan, const DirectWorker *worker)
{
  const double *costs = costsInUse()->direct;
  const THNNConvolution *g = &worker->g;
  const DirectPlan *own = &worker->plan;
  const double stored = (double)g->batch * (double)worker->mapPositions *
                        (double)divideUp(g->outputPlanes, vectorLanes());
  const double classes = THNN_(direct_classCount)(worker);
  const double terms = THNN_convolutionProducts(g) / (double)maximum(worker->mapPositions, 1);
  const double boxes = (double)THNN_convolutionBoxCount(&own->boxes);
  const double copied = own->surrounds ? (double)g->batch * g->inputPlanes * g->input[0] *
                                             g->input[1] * divideUp(g->input[2], vectorLanes())
                                       : 0;
  const double panels = (double)panelCount(g->outputPlanes);
  double counts[DIRECT_COSTS] = {0};
  if (!countPanels(worker, costs, counts))
    return false;
  counts[DIRECT_CLASS] = panels * classes * (double)divideUp(g->inputPlanes, own->groupPlanes);
  counts[DIRECT_LIST] = panels * listedCount(own, classes);
  counts[DIRECT_LISTED_TERM] = counts[DIRECT_LIST] * terms * (double)own->groupPlanes;
  counts[DIRECT_BOX_PLANE] = panels * boxes * (double)g->inputPlanes;
  counts[DIRECT_STORED] = stored + copied;
  /* Storing positions without taps overlaps with no products. */
  counts[DIRECT_STORED_ALONE] = stored * (1 - shareWithTaps(g));
  const double weights = THNN_convolutionWeights(g);
  const bool again = !own->keepsWeights && own->blockPlanes < g->inputPlanes;
  counts[DIRECT_WEIGHT] =
      own->keepsWeights ? weights / KEPT_PER_PACKED : (again ? boxes : 1) * weights;
  for (int i = 0; gainsFromShortVectors(g->outputPlanes) && i < DIRECT_COSTS; i++)
    counts[i] /= 2;
  setCost(plan, DIRECT_COSTS, costs, counts);
  return true;
}
