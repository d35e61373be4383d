/* Minus the logarithm of the density of a mixture of normal distributions in the plane, for a point
 * of each sample (Graves, 2013). A centre is one of these distributions.
 *   target1, target2   batch, or batch x 1: the coordinates of the points
 *   weight             batch x centres: probabilities
 *   mean1, mean2, std1, std2, correlation   batch x centres
 *   output             shape of target1
 *   responsibility     batch x centres
 *
 * z = (target - mean) / std, for each coordinate;  c = correlation;  rest = 1 - c^2
 * part = weight e^(-(z1^2 + z2^2 - 2 c z1 z2) / (2 rest)) / (2 pi std1 std2 sqrt(rest))
 * output = -log(sum of parts);  responsibility = part / sum of parts
 *
 * Gradients are those of what a network computes: logits of which softmax makes weight, means,
 * logarithms of the deviations, and the number whose tanh is correlation. With r = gradOutput
 * responsibility and t1 = (z1 - c z2) / rest, t2 = (z2 - c z1) / rest:
 * gradWeight = gradOutput weight - r;  gradMean = -r t / std;  gradStd = r (1 - z t)
 * gradCorrelation = -r (z1 z2 + c (1 - z1 t1 - z2 t2)) */
#include "generic/criterion/checks.h"
#include "generic/template.h"
#include "work/sizes.h"

/* What an element costs, as a multiple of copying it. */
enum { FORWARD_COST = 16, BACKWARD_COST = 24 };

#ifdef THNN_ONCE
THNNMixture THNN_GaussianMixture_shapeCheck(const char *function, THNNShape target1,
                                            THNNShape target2, THNNShape weight,
                                            const THNNShape others[5])
{
  static const char layout[] = "batch x centres";
  THNN_checkDimensions(function, target1, 1, 2, "batch, or batch x 1");
  if (target1.nDimension == 2)
    THNN_checkSize(function, target1, 1, 1, "batch x 1");
  const int64_t batch = target1.size[0];
  THNN_checkSizes(function, target2, target1.nDimension, target1.size, "the shape of target1");
  THNN_checkDimensions(function, weight, 2, 2, layout);
  THNN_checkSize(function, weight, 0, batch, "batch");
  THNN_elements(function, weight);
  for (int i = 0; i < 5; i++)
    THNN_checkSizes(function, others[i], 2, weight.size, layout);
  return (THNNMixture){batch, weight.size[1]};
}

bool THNN_GaussianMixture_gradientIsOne(const char *function, THNNShape gradOutput, int64_t batch)
{
  THNN_checkGiven(function, gradOutput);
  const bool one = gradOutput.nDimension == 1 && gradOutput.size[0] == 1;
  const int64_t found = THNN_product(gradOutput.nDimension, gradOutput.size);
  if (!one && (gradOutput.nDimension == 0 || found != batch))
    THNN_rejectShape(function, gradOutput, "%lld elements (batch), or one for all",
                     (long long)batch);
  return one;
}
#endif

/* The tensors that are read, and the check of them. */
typedef struct Operands {
  THTensor *target1, *target2, *weight, *mean1, *mean2, *std1, *std2, *correlation;
} Operands;

static THNNMixture checkOperands(const char *function, const Operands *of)
{
  const THTensor *target1 = of->target1, *target2 = of->target2, *weight = of->weight;
  const THTensor *mean1 = of->mean1, *mean2 = of->mean2, *std1 = of->std1, *std2 = of->std2;
  const THTensor *correlation = of->correlation;
  const THNNShape others[] = {THNN_SHAPE(mean1, 5), THNN_SHAPE(mean2, 6), THNN_SHAPE(std1, 7),
                              THNN_SHAPE(std2, 8), THNN_SHAPE(correlation, 9)};
  return THNN_GaussianMixture_shapeCheck(function, THNN_SHAPE(target1, 2), THNN_SHAPE(target2, 3),
                                         THNN_SHAPE(weight, 4), others);
}

/* These tensors as declared to a plan. */
typedef struct Buffers {
  const THNNBuffer *target1, *target2, *weight, *mean1, *mean2, *std1, *std2, *correlation;
} Buffers;

static Buffers planOperands(THNNPlan *plan, const Operands *of)
{
  THTensor *target1 = of->target1, *target2 = of->target2, *weight = of->weight;
  THTensor *mean1 = of->mean1, *mean2 = of->mean2, *std1 = of->std1, *std2 = of->std2;
  THTensor *correlation = of->correlation;
  return (Buffers){THNN_planIn(plan, target1, 2), THNN_planIn(plan, target2, 3),
                   THNN_planIn(plan, weight, 4),  THNN_planIn(plan, mean1, 5),
                   THNN_planIn(plan, mean2, 6),   THNN_planIn(plan, std1, 7),
                   THNN_planIn(plan, std2, 8),    THNN_planIn(plan, correlation, 9)};
}

static MixtureOperands operandsAt(const Buffers *of, int64_t row, int64_t centres)
{
  const int64_t at = row * centres;
  return (MixtureOperands){
      (const real *)of->target1->data + row, (const real *)of->target2->data + row,
      (const real *)of->weight->data + at,   (const real *)of->mean1->data + at,
      (const real *)of->mean2->data + at,    (const real *)of->std1->data + at,
      (const real *)of->std2->data + at,     (const real *)of->correlation->data + at};
}

/* How the rows are cut up: into groups of as many as are worked on together, and these into
 * blocks. */
typedef struct Groups {
  THNNBlocks blocks; /* of groups */
  int64_t rows;      /* of a group, the last one of the batch excepted */
  int64_t room;      /* elements of a group */
  int threads;
} Groups;

static Groups groupsOf(const THNNState *state, THNNMixture sizes, int64_t cost)
{
  const int64_t rows = maximum(simdFor(state)->mixture.together / sizes.centres, 1);
  const int64_t room = rows * sizes.centres, groups = divideUp(sizes.batch, rows);
  const THNNBlocks blocks = THNN_rowBlocks(groups, room * cost);
  const double work = (double)sizes.batch * (double)sizes.centres * (double)cost;
  return (Groups){blocks, rows, room, THNN_threads(state, blocks.count, work)};
}

void THNN_(GaussianMixture_updateOutput)(THNNState *state, THTensor *target1, THTensor *target2,
                                         THTensor *weight, THTensor *mean1, THTensor *mean2,
                                         THTensor *std1, THTensor *std2, THTensor *correlation,
                                         THTensor *output, THTensor *responsibility)
{
  const char *function = "GaussianMixture_updateOutput";
  const Operands of = {target1, target2, weight, mean1, mean2, std1, std2, correlation};
  const THNNMixture sizes = checkOperands(function, &of);
  const int64_t centres = sizes.centres;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const Groups groups = groupsOf(state, sizes, FORWARD_COST);
  const Buffers buffers = planOperands(&plan, &of);
  const THNNBuffer *out = THNN_planOutLike(&plan, output, 10, target1);
  const THNNBuffer *shares =
      responsibility
          ? THNN_planOutLike(&plan, responsibility, 11, weight)
          : THNN_planScratch(&plan, (size_t)(groups.threads * groups.room) * sizeof(real));
  THNN_planAcquire(&plan);

  const THNNBlocks *blocks = &groups.blocks;
#pragma omp parallel for num_threads(groups.threads) schedule(static)
  for (int64_t block = 0; block < blocks->count; block++) {
    const int64_t first = block * blocks->length;
    for (int64_t i = first; i < first + THNN_blockLength(blocks, block); i++) {
      const int64_t row = i * groups.rows, rows = minimum(groups.rows, sizes.batch - row);
      const MixtureOperands here = operandsAt(&buffers, row, centres);
      const int64_t at = responsibility ? row * centres : THNN_threadIndex() * groups.room;
      simdFor(state)->mixture.forward(rows, centres, &here, (real *)shares->data + at,
                                      (real *)out->data + row);
    }
  }
  THNN_planRelease(&plan);
}

static real *elementsAt(const THNNBuffer *wanted, int64_t at)
{
  return wanted ? (real *)wanted->data + at : NULL;
}

void THNN_(GaussianMixture_updateGradInput)(THNNState *state, THTensor *target1, THTensor *target2,
                                            THTensor *weight, THTensor *mean1, THTensor *mean2,
                                            THTensor *std1, THTensor *std2, THTensor *correlation,
                                            THTensor *gradOutput, THTensor *gradWeight,
                                            THTensor *gradMean1, THTensor *gradMean2,
                                            THTensor *gradStd1, THTensor *gradStd2,
                                            THTensor *gradCorrelation)
{
  const char *function = "GaussianMixture_updateGradInput";
  const Operands of = {target1, target2, weight, mean1, mean2, std1, std2, correlation};
  const THNNMixture sizes = checkOperands(function, &of);
  const int64_t step =
      !THNN_GaussianMixture_gradientIsOne(function, THNN_SHAPE(gradOutput, 10), sizes.batch);
  if (!gradWeight && !gradMean1 && !gradMean2 && !gradStd1 && !gradStd2 && !gradCorrelation)
    return;
  const int64_t centres = sizes.centres;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const Groups groups = groupsOf(state, sizes, BACKWARD_COST);
  const Buffers buffers = planOperands(&plan, &of);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 10);
#define WANTED(tensor, position)                                                                   \
  ((tensor) ? THNN_planOutLike(&plan, tensor, position, weight) : NULL)
  const THNNBuffer *toWeight = WANTED(gradWeight, 11), *toMean1 = WANTED(gradMean1, 12);
  const THNNBuffer *toMean2 = WANTED(gradMean2, 13), *toStd1 = WANTED(gradStd1, 14);
  const THNNBuffer *toStd2 = WANTED(gradStd2, 15), *toCorrelation = WANTED(gradCorrelation, 16);
#undef WANTED
  const THNNBuffer *shares =
      THNN_planScratch(&plan, (size_t)(groups.threads * groups.room) * sizeof(real));
  THNN_planAcquire(&plan);

  const THNNBlocks *blocks = &groups.blocks;
#pragma omp parallel for num_threads(groups.threads) schedule(static)
  for (int64_t block = 0; block < blocks->count; block++) {
    real *mine = (real *)shares->data + THNN_threadIndex() * groups.room;
    const int64_t first = block * blocks->length;
    for (int64_t i = first; i < first + THNN_blockLength(blocks, block); i++) {
      const int64_t row = i * groups.rows, rows = minimum(groups.rows, sizes.batch - row);
      const int64_t at = row * centres;
      const MixtureOperands here = operandsAt(&buffers, row, centres);
      const MixtureGradients there = {elementsAt(toWeight, at), elementsAt(toMean1, at),
                                      elementsAt(toMean2, at),  elementsAt(toStd1, at),
                                      elementsAt(toStd2, at),   elementsAt(toCorrelation, at)};
      simdFor(state)->mixture.backward(rows, centres, &here, (const real *)from->data + row * step,
                                       step, mine, &there);
    }
  }
  THNN_planRelease(&plan);
}
