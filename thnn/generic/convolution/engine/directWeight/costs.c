/* What the weight gradient is expected to cost. */
#include "generic/convolution/engine/directWeight/directWeight.h"

/* With more image planes, padded boxes cost more by products with zeros than they save. */
static const int64_t MOST_PADDED_PLANES = 16;

/* For each dimension: the number of groups of taps, or of chains; and the number of positions that
 * see inside the image, summed over all taps. */
typedef struct Counts {
  int64_t groups[3], positions[3];
} Counts;

static Counts countGroups(const THNNCorrelation *correlation)
{
  Counts counts = {.groups = {0}};
  for (int i = 0; i < 3; i++) {
    const int64_t step = THNN_correlationTapStep(correlation, i);
    THNNConvolutionTap tap = {.begin = -1};
    for (int64_t t = 0; t < correlation->geometry.kernel[i]; t++) {
      THNNConvolutionTap last = tap;
      if (step > 1)
        last = t < step ? (THNNConvolutionTap){.begin = -1}
                        : THNN_correlationTap(correlation, i, t - step);
      tap = THNN_correlationTap(correlation, i, t);
      counts.groups[i] += tap.begin != last.begin || tap.end != last.end;
      counts.positions[i] += (tap.end - tap.begin) / correlation->spread[i];
    }
  }
  const int64_t chainStep = THNN_(directWeight_chainStep)(correlation);
  if (chainStep)
    counts.groups[2] = THNN_(directWeight_chainCount)(correlation, chainStep);
  return counts;
}

/* What the counts become if boxes are padded along the innermost `dimensions` dimensions. */
static Counts paddedCounts(Counts counts, const THNNConvolution *geometry, int dimensions)
{
  for (int i = 3 - dimensions; i < 3; i++) {
    counts.groups[i] = 1;
    counts.positions[i] = geometry->kernel[i] * geometry->output[i];
  }
  return counts;
}

/* The cache lines that a pointwise convolution fetches more than once, since it has only one tap to
 * use what it has read: each panel reads all planes, in short stretches. */
static double streamedLines(const THNNCorrelation *correlation)
{
  enum { LINE_BYTES = 64 };
  const THNNConvolution *geometry = &correlation->geometry;
  if (!THNN_correlationIsPointwise(correlation))
    return 0;
  const double lines = (double)geometry->inputPlanes * THNN_convolutionMapPositions(geometry) *
                       sizeof(real) / LINE_BYTES;
  const double vectorsPerLine = LINE_BYTES / (vectorLanes() * (double)sizeof(real));
  return panelCount(geometry->outputPlanes) * lines * (vectorsPerLine - 1);
}

/* Counts the bias gradient where the image is summed up: it is read once more, from a cache if that
 * is done box by box. */
static void countBias(const WeightSides *sides, double *counts)
{
  const THNNConvolution *geometry = &sides->correlation.geometry;
  if (sides->bias == BIAS_FROM_MAP)
    return;
  counts[sides->bias == BIAS_APART ? DIRECT_WEIGHT_BIAS_APART_BYTE : DIRECT_WEIGHT_BIAS_BYTE] =
      sizeof(real) * (double)geometry->batch * (double)geometry->inputPlanes *
      (double)THNN_convolutionImagePositions(geometry);
}

/* Counts products, where a single vector of planes needs a load for each except in chains; listing
 * the lines of each group of taps; the sums of each box; transposing and padding. */
static void countAll(const WeightPlan *plan, const WeightSides *sides, const Counts *of,
                     double *counts)
{
  const THNNCorrelation *correlation = &sides->correlation;
  const THNNConvolution *geometry = &correlation->geometry;
  const int64_t planes = geometry->outputPlanes, *spread = correlation->spread;
  const double vectors = (double)divideUp(planes, productsFor(planes)->lanes);
  const double panels = (double)panelCount(planes);
  const double rows = (double)geometry->inputPlanes * THNN_convolutionTaps(geometry);
  const double groups = (double)of->groups[0] * of->groups[1] * of->groups[2];
  const double products = (double)geometry->batch * of->positions[0] * of->positions[1] *
                          of->positions[2] * geometry->inputPlanes;
  const double lines = (double)geometry->batch * geometry->output[0] * geometry->output[1];
  const double positions = lines * geometry->output[2];
  const bool chains = THNN_(directWeight_chainStep)(correlation) > 0;
  counts[chains         ? DIRECT_WEIGHT_CHAINED
         : vectors == 1 ? DIRECT_WEIGHT_SINGLE
                        : DIRECT_WEIGHT_PRODUCT] = products * (chains ? 1 : vectors);
  counts[chains ? DIRECT_WEIGHT_CHAIN_LINE : DIRECT_WEIGHT_LINE] =
      panels * groups * lines / (double)spread[0] / (double)spread[1];
  counts[DIRECT_WEIGHT_BYTE] = positions * sizeof(real) * planes;
  counts[spread[2] > 1 ? DIRECT_WEIGHT_SPREAD_VECTOR : DIRECT_WEIGHT_VECTOR] = positions * vectors;
  counts[DIRECT_WEIGHT_STREAMED_LINE] = (double)geometry->batch * streamedLines(correlation);
  counts[DIRECT_WEIGHT_BOX_ROW] = panels * rows * THNN_convolutionBoxCount(&plan->boxes);
  if (plan->paddedDimensions)
    THNN_(paddedBoxes_count)(geometry, &plan->boxes, &counts[DIRECT_WEIGHT_PADDED_LINE],
                             &counts[DIRECT_WEIGHT_PADDED_VECTOR]);
  counts[sides->reversed ? DIRECT_WEIGHT_REVERSED_WEIGHT : DIRECT_WEIGHT_WEIGHT] =
      THNN_convolutionWeights(geometry);
  countBias(sides, counts);
}

static void setTotalCost(AlgorithmPlan *to, const WeightPlan *plan, const WeightSides *sides,
                         const Counts *of)
{
  double counts[DIRECT_WEIGHT_COSTS] = {0};
  countAll(plan, sides, of, counts);
  const int64_t planes = sides->correlation.geometry.outputPlanes;
  for (int i = 0; gainsFromShortVectors(planes) && i < DIRECT_WEIGHT_COSTS; i++)
    counts[i] /= 2;
  setCost(to, DIRECT_WEIGHT_COSTS, costsInUse()->directWeight, counts);
}

void THNN_(directWeight_choosePadding)(AlgorithmPlan *to, WeightPlan *plan,
                                       const WeightSides *sides, int64_t roomBytes)
{
  const THNNConvolution *geometry = &sides->correlation.geometry;
  const Counts counts = countGroups(&sides->correlation);
  setTotalCost(to, plan, sides, &counts);
  /* Chains skip what is outside the image anyway. With exchanged sides, zeros would be multiplied
   * with elements of the convolution's image on which the gradient must not depend. */
  if (THNN_(directWeight_chainStep)(&sides->correlation) || sides->reversed ||
      geometry->inputPlanes > MOST_PADDED_PLANES ||
      paddedElements(plan, geometry) * (int64_t)sizeof(real) > roomBytes)
    return;
  WeightPlan padded = *plan;
  AlgorithmPlan other = *to;
  for (int dimensions = 1; dimensions <= 3; dimensions++) {
    if (counts.groups[3 - dimensions] == 1)
      continue;
    const Counts fewer = paddedCounts(counts, geometry, dimensions);
    padded.paddedDimensions = dimensions;
    setTotalCost(&other, &padded, sides, &fewer);
    if (other.cost < to->cost) {
      *to = other;
      plan->paddedDimensions = dimensions;
    }
  }
}
