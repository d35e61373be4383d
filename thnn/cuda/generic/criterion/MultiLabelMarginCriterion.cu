/* The twin of generic/criterion/MultiLabelMarginCriterion.c. */
#include "cuda/generic/criterion/rowLosses.cuh"
#include "generic/criterion/checks.h"

namespace
{

struct Samples {
  int64_t classes;
  THCIndexRange range;
  const real *input;
  const int64_t *target;
};

/* One sample, as a thread sees it. */
struct Sample {
  int64_t classes;
  const real *x;
  const int64_t *target;
  int64_t targets; /* number of targets before the 0 that ends them */
  THCIndexRange range;

  __device__ bool isTarget(int64_t i, int64_t wanted) const
  {
    return target[i] == wanted + TH_INDEX_BASE;
  }

  /* The class of target i, from 0; -1 for a bad one, which is reported. */
  __device__ int64_t targetAt(int64_t i) const
  {
    return THC_indexIsValid(target[i], range) ? target[i] - TH_INDEX_BASE : -1;
  }

  /* How many of the targets are this class. */
  __device__ int64_t times(int64_t wanted) const
  {
    int64_t count = 0;
    for (int64_t i = 0; i < targets; i++)
      count += isTarget(i, wanted);
    return count;
  }
};

template <typename Team> __device__ Sample sampleAt(const Samples &samples, int64_t row)
{
  const int64_t classes = samples.classes;
  Sample sample = {classes, samples.input + row * classes, samples.target + row * classes, classes,
                   samples.range};
  for (int64_t i = Team::rank(); i < classes; i += Team::SIZE)
    if (sample.target[i] == 0 && i < sample.targets)
      sample.targets = i;
  sample.targets = Team::reduce(sample.targets, [](int64_t a, int64_t b) { return a < b ? a : b; });
  return sample;
}

struct Loss {
  Samples samples;
  real *isTarget;

  template <typename Team> __device__ accreal operator()(int64_t row, Team) const
  {
    const Sample sample = sampleAt<Team>(samples, row);
    accreal sum = 0;
    for (int64_t c = Team::rank(); c < sample.classes; c += Team::SIZE) {
      const bool marked = sample.times(c) > 0;
      isTarget[row * sample.classes + c] = marked;
      for (int64_t i = 0; !marked && i < sample.targets; i++) {
        const int64_t t = sample.targetAt(i);
        const real missing = t < 0 ? 0 : 1 - sample.x[t] + sample.x[c];
        sum += missing > 0 ? missing : 0;
      }
    }
    return Team::sum(sum) / (accreal)sample.classes;
  }
};

struct Gradient {
  Samples samples;
  real factor;
  const real *isTarget;
  real *gradInput;

  /* The gradient of a class that is not a target: 1 for each target within the margin of it. */
  __device__ int64_t slopeOfOther(const Sample &sample, int64_t c) const
  {
    int64_t count = 0;
    for (int64_t i = 0; i < sample.targets; i++) {
      const int64_t t = sample.targetAt(i);
      count += t >= 0 && 1 - sample.x[t] + sample.x[c] > 0;
    }
    return count;
  }

  /* The negative gradient of a target: 1 for each class within the margin that is not a target. */
  __device__ int64_t slopeOfTarget(const Sample &sample, const real *marks, int64_t t) const
  {
    int64_t count = 0;
    for (int64_t c = 0; c < sample.classes; c++)
      count += marks[c] == 0 && 1 - sample.x[t] + sample.x[c] > 0;
    return count;
  }

  template <typename Team> __device__ void operator()(int64_t row, Team) const
  {
    const Sample sample = sampleAt<Team>(samples, row);
    const real *marks = isTarget + row * sample.classes;
    for (int64_t c = Team::rank(); c < sample.classes; c += Team::SIZE) {
      int64_t slope = marks[c] == 0 ? slopeOfOther(sample, c) : 0;
      const int64_t times = sample.times(c);
      if (times > 0)
        slope -= times * slopeOfTarget(sample, marks, c);
      gradInput[row * sample.classes + c] = factor * (real)slope;
    }
  }
};

Samples samplesOf(const THCPlan &plan, THNNClasses sizes, const THNNBuffer *in,
                  const THNNBuffer *wanted)
{
  return Samples{sizes.classes,
                 THC_indexRange(&plan, TH_INDEX_BASE, sizes.classes - 1 + TH_INDEX_BASE),
                 THC_pointer<const real>(in), THC_pointer<const int64_t>(wanted)};
}

/* If the state's checkIndices is set: raises for a bad target before the work. The 0 that ends
 * targets is valid too. */
void checkTargets(THCState *state, const char *function, THCIndexTensor *target, THNNClasses sizes)
{
  checkFirstTargets(state, function, target, sizes.batch * sizes.classes, TH_INDEX_BASE - 1,
                    sizes.classes - 1 + TH_INDEX_BASE);
}

} // namespace

void THCUNN_(MultiLabelMarginCriterion_updateOutput)(THCState *state, THCTensor *input,
                                                     THCIndexTensor *target, THCTensor *output,
                                                     THCTensor *istarget, bool sizeaverage)
{
  const char *function = "MultiLabelMarginCriterion_updateOutput";
  const THNNClasses sizes = THNN_MultiLabelMarginCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_NO_SHAPE);
  THNN_checkFirstElement(function, THNN_SHAPE(output, 4));
  checkTargets(state, function, target, sizes);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *wanted = THC_planIn(&plan, target, 3);
  const THNNBuffer *out = THC_planInOut(&plan, output, 4);
  const THNNBuffer *marks = THC_planOutLike(&plan, istarget, 5, input);
  const THNNBuffer *scratch = THC_planScratch(&plan, rowLossScratchBytes(sizes.batch));
  THC_planAcquire(&plan);
  const Loss loss = {samplesOf(plan, sizes, in, wanted), THC_pointer<real>(marks)};
  sumRowLosses(&plan, sizes.batch, sizes.classes, loss, sizeaverage, THC_pointer<real>(out),
               THC_pointer<accreal>(scratch));
  THC_planRelease(&plan);
}

void THCUNN_(MultiLabelMarginCriterion_updateGradInput)(THCState *state, THCTensor *input,
                                                        THCIndexTensor *target,
                                                        THCTensor *gradInput, THCTensor *istarget,
                                                        bool sizeaverage)
{
  const char *function = "MultiLabelMarginCriterion_updateGradInput";
  const THNNClasses sizes = THNN_MultiLabelMarginCriterion_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(target, 3), THNN_SHAPE(istarget, 5));
  checkTargets(state, function, target, sizes);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *wanted = THC_planIn(&plan, target, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *marks = THC_planIn(&plan, istarget, 5);
  THC_planAcquire(&plan);
  const double norm = 1 / ((double)sizes.classes * (sizeaverage ? (double)sizes.batch : 1));
  const Gradient gradient = {samplesOf(plan, sizes, in, wanted), (real)norm,
                             THC_pointer<const real>(marks), THC_pointer<real>(to)};
  forRows(&plan, sizes.batch, sizes.classes, gradient);
  THC_planRelease(&plan);
}
