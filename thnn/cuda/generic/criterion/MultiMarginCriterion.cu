/* The twin of generic/criterion/MultiMarginCriterion.c. */
#include "cuda/generic/criterion/rowLosses.cuh"
#include "generic/criterion/checks.h"

namespace
{

struct Samples {
  int64_t batch, classes;
  real margin;
  bool squared;
  THCIndexRange range;
  const real *input, *weights;
  const int64_t *target;

  /* The target's class, from 0; -1 for a bad one. */
  __device__ int64_t targetOf(int64_t row) const
  {
    const int64_t index = target[row];
    return THC_indexIsValid(index, range) ? index - TH_INDEX_BASE : -1;
  }
  __device__ real weightOf(int64_t wanted) const { return weights ? weights[wanted] : real(1); }
};

struct Loss {
  Samples samples;

  template <typename Team> __device__ accreal operator()(int64_t row, Team) const
  {
    const int64_t classes = samples.classes, wanted = samples.targetOf(row);
    const real *x = samples.input + row * classes;
    const real offset = wanted < 0 ? 0 : samples.margin - x[wanted];
    accreal sum = 0;
    for (int64_t i = Team::rank(); wanted >= 0 && i < classes; i += Team::SIZE) {
      const real missing = x[i] + offset;
      if (i != wanted && missing > 0)
        sum += samples.squared ? missing * missing : missing;
    }
    sum = Team::sum(sum);
    return wanted < 0 ? 0 : sum * samples.weightOf(wanted) / (accreal)classes;
  }
};

struct Gradient {
  Samples samples;
  accreal norm;
  real *gradInput;

  template <typename Team> __device__ void operator()(int64_t row, Team) const
  {
    const int64_t classes = samples.classes, wanted = samples.targetOf(row);
    const real *x = samples.input + row * classes;
    real *to = gradInput + row * classes;
    const real offset = wanted < 0 ? 0 : samples.margin - x[wanted];
    const real factor = wanted < 0 ? 0 : (real)(norm * samples.weightOf(wanted));
    accreal sum = 0;
    for (int64_t i = Team::rank(); i < classes; i += Team::SIZE) {
      const real missing = x[i] + offset;
      const real slope = missing > 0 ? (samples.squared ? 2 * factor * missing : factor) : 0;
      if (i == wanted)
        continue;
      to[i] = slope;
      sum += slope;
    }
    sum = Team::sum(sum);
    if (wanted >= 0 && Team::rank() == 0)
      to[wanted] = (real)-sum;
  }
};

/* The last class that can be a target, from 1; there can be fewer weights than classes. */
int64_t lastTarget(THNNClasses sizes, const THCTensor *weights)
{
  const int64_t given = weights ? THCTensor_(nElement)(nullptr, weights) : sizes.classes;
  return given < sizes.classes ? given : sizes.classes;
}

/* The weights, or NULL where they have no elements. */
THCTensor *usedWeights(THCTensor *weights)
{
  return weights && THCTensor_(nElement)(nullptr, weights) > 0 ? weights : nullptr;
}

Samples samplesOf(const THCPlan &plan, THNNClasses sizes, const THCTensor *weights, accreal margin,
                  int p)
{
  const THCIndexRange range =
      THC_indexRange(&plan, TH_INDEX_BASE, lastTarget(sizes, weights) - 1 + TH_INDEX_BASE);
  return Samples{sizes.batch, sizes.classes, (real)margin, p != 1,
                 range,       nullptr,       nullptr,      nullptr};
}

} // namespace

void THCUNN_(MultiMarginCriterion_updateOutput)(THCState *state, THCTensor *input,
                                                THCIndexTensor *target, THCTensor *output,
                                                bool sizeAverage, int p, THCTensor *weights,
                                                accreal margin)
{
  const char *function = "MultiMarginCriterion_updateOutput";
  const THNNClasses sizes = THNN_MultiMarginCriterion_shapeCheck(function, THNN_SHAPE(input, 2),
                                                                 THNN_SHAPE(target, 3), false);
  THNN_checkFirstElement(function, THNN_SHAPE(output, 4));
  weights = usedWeights(weights);
  checkFirstTargets(state, function, target, sizes.batch, TH_INDEX_BASE,
                    lastTarget(sizes, weights) - 1 + TH_INDEX_BASE);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *wanted = THC_planIn(&plan, target, 3);
  const THNNBuffer *out = THC_planInOut(&plan, output, 4);
  const THNNBuffer *factors = weights ? THC_planIn(&plan, weights, 7) : nullptr;
  const THNNBuffer *scratch = THC_planScratch(&plan, rowLossScratchBytes(sizes.batch));
  THC_planAcquire(&plan);
  Loss loss = {samplesOf(plan, sizes, weights, margin, p)};
  loss.samples.input = THC_pointer<const real>(in);
  loss.samples.target = THC_pointer<const int64_t>(wanted);
  loss.samples.weights = THC_pointer<const real>(factors);
  sumRowLosses(&plan, sizes.batch, sizes.classes, loss, sizeAverage, THC_pointer<real>(out),
               THC_pointer<accreal>(scratch));
  THC_planRelease(&plan);
}

void THCUNN_(MultiMarginCriterion_updateGradInput)(THCState *state, THCTensor *input,
                                                   THCIndexTensor *target, THCTensor *gradInput,
                                                   bool sizeAverage, int p, THCTensor *weights,
                                                   accreal margin)
{
  const char *function = "MultiMarginCriterion_updateGradInput";
  const THNNClasses sizes = THNN_MultiMarginCriterion_shapeCheck(function, THNN_SHAPE(input, 2),
                                                                 THNN_SHAPE(target, 3), true);
  weights = usedWeights(weights);
  checkFirstTargets(state, function, target, sizes.batch, TH_INDEX_BASE,
                    lastTarget(sizes, weights) - 1 + TH_INDEX_BASE);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *wanted = THC_planIn(&plan, target, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *factors = weights ? THC_planIn(&plan, weights, 7) : nullptr;
  THC_planAcquire(&plan);
  const double norm = 1 / ((double)sizes.classes * (sizeAverage ? (double)sizes.batch : 1));
  Gradient gradient = {samplesOf(plan, sizes, weights, margin, p), (accreal)norm,
                       THC_pointer<real>(to)};
  gradient.samples.input = THC_pointer<const real>(in);
  gradient.samples.target = THC_pointer<const int64_t>(wanted);
  gradient.samples.weights = THC_pointer<const real>(factors);
  forRows(&plan, sizes.batch, sizes.classes, gradient);
  THC_planRelease(&plan);
}
