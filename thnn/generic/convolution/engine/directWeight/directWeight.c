/* Direct convolution's weight gradient: chooses which of the two sides is the image, and runs. See
 * directWeight.h. */
#include "generic/convolution/engine/directWeight/directWeight.h"

/* The sides as the convolution has them. */
static WeightSides sidesInOrder(const THNNConvolution *geometry)
{
  return (WeightSides){.correlation = THNN_correlation(geometry), .bias = BIAS_FROM_MAP};
}

/* The sides exchanged. Boxes are made of positions of the convolution's image; only in a pointwise
 * convolution are these the positions of the map gradient, too. */
static WeightSides sidesExchanged(const THNNConvolution *geometry)
{
  const bool pointwise = THNN_convolutionIsPointwise(geometry);
  return (WeightSides){.correlation = THNN_correlationExchanged(geometry),
                       .bias = pointwise ? BIAS_FROM_IMAGE : BIAS_APART,
                       .reversed = true};
}

/* Whether exchanging the sides can fill more lanes, or leave fewer planes to transpose. */
static bool mayExchange(const THNNConvolution *geometry)
{
  return geometry->outputPlanes < geometry->inputPlanes ||
         (THNN_convolutionIsPointwise(geometry) && geometry->outputPlanes > geometry->inputPlanes);
}

bool THNN_(directWeight_planConvolution)(AlgorithmPlan *plan)
{
  AlgorithmPlan exchanged = *plan;
  const WeightSides inOrder = sidesInOrder(&plan->geometry);
  const bool possible = THNN_(directWeight_planSides)(plan, &inOrder);
  if (!mayExchange(&plan->geometry))
    return possible;
  const WeightSides reversed = sidesExchanged(&plan->geometry);
  if (!THNN_(directWeight_planSides)(&exchanged, &reversed))
    return possible;
  if (!possible || exchanged.cost < plan->cost)
    *plan = exchanged;
  return true;
}

/* Fills the tables of taps, and clears the sums for the bias gradient. */
static void beginShared(WeightWorker *worker)
{
  const THNNCorrelation *correlation = &worker->sides->correlation;
  const THNNConvolution *geometry = &correlation->geometry;
  for (int i = 0; i < 3; i++) {
    worker->tapStep[i] = THNN_correlationTapStep(correlation, i);
    for (int64_t t = 0; t < geometry->kernel[i]; t++) {
      THNNConvolutionTap *tap = &worker->tap[i][t];
      *tap = THNN_correlationTap(correlation, i, t);
      if (i >= 3 - worker->plan->paddedDimensions) { /* positions see the padding, too */
        tap->begin = 0;
        tap->end = geometry->output[i];
      }
    }
  }
  const int64_t sums = THNN_(directWeight_biasSums)(worker->plan, worker->sides);
  for (int64_t i = 0; i < sums; i++)
    worker->planeSums[i] = 0;
}

/* Computes the worker's gradients; the sums for the bias gradient are left to be added. */
static void runGroups(const WeightWorker *common, const AlgorithmPlan *plan, void *scratch)
{
  const int64_t boxes = THNN_convolutionBoxCount(&common->plan->boxes);
  const int64_t groupBoxes = common->plan->groupBoxes;
  const int threads = plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    WeightWorker worker = *common;
    Scratch own = threadScratch(plan, scratch);
    THNN_(directWeight_layOutOwn)(&worker, &own);
    memset(worker.kept, 0, (KEPT_ROWS + 1) * sizeof(Rows));
    for (int64_t first = 0; first < boxes; first += groupBoxes) {
      const THNNRange group = {first, minimum(first + groupBoxes, boxes)};
      THNN_(directWeight_prepareGroup)(&worker, group);
      THNN_(directWeight_runTasks)(&worker, group);
      if (worker.gradBias)
        THNN_(directWeight_addBoxSums)(&worker, group.end - group.begin);
    }
  }
}

bool THNN_(directWeight_runConvolution)(const AlgorithmPlan *plan, const Operands *of,
                                        void *scratch)
{
  const THNNConvolution *geometry = &plan->geometry;
  const int64_t taps = THNN_convolutionTaps(geometry);
  const int64_t planeTaps = geometry->inputPlanes * taps;
  WeightPlan own;
  OWN_OF(plan, own);
  WeightSides sides = sidesInOrder(geometry);
  WeightWorker worker = {.sides = &sides,
                         .plan = &own,
                         .image = of->image,
                         .map = of->gradMap,
                         .scale = (real)of->scale,
                         .gradient = {of->gradWeight, planeTaps, taps, 1}};
  if (own.exchanged) {
    sides = sidesExchanged(geometry);
    worker.image = of->gradMap;
    worker.map = of->image;
    worker.gradient = (WeightGradient){of->gradWeight + taps - 1, taps, planeTaps, -1};
  }
  if (sides.bias != BIAS_APART)
    worker.gradBias = of->gradBias;
  Scratch shared = {.base = scratch};
  THNN_(directWeight_layOutShared)(&worker, &shared);
  beginShared(&worker);
  runGroups(&worker, plan, scratch);
  if (worker.gradBias)
    THNN_(directWeight_addBias)(&worker, of->scale);
  else if (of->gradBias)
    THNN_(engine_addMapSums)(plan, of);
  return true;
}
