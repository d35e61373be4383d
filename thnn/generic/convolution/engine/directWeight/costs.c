/* What the weight gradient is expected to cost, in cycles of one core. */
#include "generic/convolution/engine/directWeight/directWeight.h"

/* Cycles. */
static const struct {
  double product, single, chained; /* of a row with a vector: of several, of the only one, in a
                                    * chain */
  double line, chainLine;          /* listing a line of positions, for each group of taps */
  double byte, vector[2]; /* transposing: a byte, a vector; with a spread, boxes are larger */
  double streamedLine;    /* pointwise: fetching a cache line more than once */
  double biasByte[2];     /* of the image: summing it up box by box, and apart */
  double boxRow;          /* of a row in a box */
  double weight[2];       /* adding to the weight gradient: transposed, and one by one */
} COST = {.product = 0.6,
          .single = 0.8,
          .chained = 0.57,
          .line = 41,
          .chainLine = 20,
          .byte = 0.07,
          .vector = {5.4, 3},
          .streamedLine = 5.5,
          .biasByte = {0.015, 0.04},
          .boxRow = 26,
          .weight = {1.2, 3.9}};

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
    for (int64_t t = 0; t < correlation->geometry.kernel[i]; t++) {
      const THNNConvolutionTap tap = THNN_correlationTap(correlation, i, t);
      THNNConvolutionTap last = {.begin = -1};
      if (t >= step)
        last = THNN_correlationTap(correlation, i, t - step);
      counts.groups[i] += tap.begin != last.begin || tap.end != last.end;
      counts.positions[i] += (tap.end - tap.begin) / correlation->spread[i];
    }
  }
  const int64_t chainStep = THNN_(directWeight_chainStep)(correlation);
  if (chainStep)
    counts.groups[2] = THNN_(directWeight_chainCount)(correlation, chainStep);
  return counts;
}

/* The counts with boxes padded along the innermost `dimensions` dimensions. */
static Counts paddedCounts(Counts counts, const THNNConvolution *geometry, int dimensions)
{
  for (int i = 3 - dimensions; i < 3; i++) {
    counts.groups[i] = 1;
    counts.positions[i] = geometry->kernel[i] * geometry->output[i];
  }
  return counts;
}

/* The cost of fetching cache lines in a pointwise convolution, which has only one tap to use what
 * it has read: each panel reads all planes, in short stretches. */
static double streamingCost(const THNNCorrelation *correlation)
{
  enum { LINE_BYTES = 64 };
  const THNNConvolution *geometry = &correlation->geometry;
  if (!THNN_correlationIsPointwise(correlation))
    return 0;
  const double lines = (double)geometry->inputPlanes * THNN_convolutionMapPositions(geometry) *
                       sizeof(real) / LINE_BYTES;
  const double vectorsPerLine = LINE_BYTES / (vectorLanes() * (double)sizeof(real));
  return COST.streamedLine * panelCount(geometry->outputPlanes) * lines * (vectorsPerLine - 1);
}

/* The cost of the bias gradient where the image is summed up: it is read once more, from a cache if
 * that is done box by box. */
static double biasCost(const WeightSides *sides)
{
  const THNNConvolution *geometry = &sides->correlation.geometry;
  if (sides->bias == BIAS_FROM_MAP)
    return 0;
  return COST.biasByte[sides->bias == BIAS_APART] * sizeof(real) * (double)geometry->batch *
         (double)geometry->inputPlanes * (double)THNN_convolutionImagePositions(geometry);
}

/* The total cost: products, where a single vector of planes needs a load for each except in chains;
 * listing the lines of each group of taps; the sums of each box; transposing and padding. */
static double totalCost(const WeightPlan *plan, const WeightSides *sides, const Counts *counts)
{
  const THNNCorrelation *correlation = &sides->correlation;
  const THNNConvolution *geometry = &correlation->geometry;
  const int64_t planes = geometry->outputPlanes, *spread = correlation->spread;
  const double vectors = (double)divideUp(planes, productsFor(planes)->lanes);
  const double panels = (double)panelCount(planes);
  const double rows = (double)geometry->inputPlanes * THNN_convolutionTaps(geometry);
  const double groups = (double)counts->groups[0] * counts->groups[1] * counts->groups[2];
  const double products = (double)counts->positions[0] * counts->positions[1] *
                          counts->positions[2] * geometry->inputPlanes;
  const double lines = (double)geometry->output[0] * geometry->output[1];
  const bool chains = THNN_(directWeight_chainStep)(correlation) > 0;
  const double perVector = COST.vector[spread[2] > 1];
  const double sample =
      products * (chains         ? COST.chained
                  : vectors == 1 ? COST.single
                                 : COST.product * vectors) +
      (chains ? COST.chainLine : COST.line) * panels * groups * lines / (double)spread[0] /
          (double)spread[1] +
      lines * geometry->output[2] * (COST.byte * sizeof(real) * planes + perVector * vectors) +
      streamingCost(correlation);
  double padding = 0;
  if (plan->paddedDimensions)
    padding = THNN_(paddedBoxes_cost)(geometry, &plan->boxes);
  return geometry->batch * sample +
         COST.boxRow * panels * rows * THNN_convolutionBoxCount(&plan->boxes) + padding +
         COST.weight[sides->reversed] * THNN_convolutionWeights(geometry) + biasCost(sides);
}

double THNN_(directWeight_choosePadding)(WeightPlan *plan, const WeightSides *sides,
                                         int64_t roomBytes)
{
  const THNNConvolution *geometry = &sides->correlation.geometry;
  const Counts counts = countGroups(&sides->correlation);
  double cost = totalCost(plan, sides, &counts);
  /* Chains skip what is outside the image anyway. With exchanged sides, zeros would be multiplied
   * with elements of the convolution's image on which the gradient must not depend. */
  if (THNN_(directWeight_chainStep)(&sides->correlation) || sides->reversed ||
      geometry->inputPlanes > MOST_PADDED_PLANES ||
      paddedElements(plan, geometry) * (int64_t)sizeof(real) > roomBytes)
    return cost;
  WeightPlan padded = *plan;
  for (int dimensions = 1; dimensions <= 3; dimensions++) {
    if (counts.groups[3 - dimensions] == 1)
      continue;
    const Counts fewer = paddedCounts(counts, geometry, dimensions);
    padded.paddedDimensions = dimensions;
    const double paddedCost = totalCost(&padded, sides, &fewer);
    if (paddedCost < cost) {
      cost = paddedCost;
      plan->paddedDimensions = dimensions;
    }
  }
  return cost;
}
