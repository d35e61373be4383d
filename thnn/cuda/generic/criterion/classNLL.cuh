/* Negative log likelihood of class targets, one per sample or one per position of a sample, for the
 * flat and the spatial criterion. */
#ifndef THCUNN_CLASS_NLL_CUH
#define THCUNN_CLASS_NLL_CUH

#include "cuda/THC/THCIndex.cuh"
#include "cuda/generic/shared/channelwise.cuh"
#include "generic/criterion/checks.h"
#include "geometry/planes.h"

namespace
{

struct ClassNLL {
  const char *function;
  THCState *state;
  THCTensor *input;       /* argument #2, batch x classes x positions */
  THCIndexTensor *target; /* argument #3, batch x positions */
  THCTensor *weights;     /* argument #6, classes; NULL: all 1 */
  THNNClasses sizes;
  bool ignores; /* targets equal to `ignored` do not count */
  int64_t ignored;
};

/* Finds the index, in batch x classes x positions, of the element that a target selects. */
template <typename Index> struct TargetPlaces {
  THCDivisor<Index> positions;
  Index classes;
  bool ignores;
  int64_t ignored;
  Index elements; /* number of elements of that tensor */
  THCIndexRange range;

  /* Whether target i counts; a bad one is reported and does not count. */
  __device__ bool find(int64_t i, int64_t target, Index *place) const
  {
    if ((ignores && target == ignored) || !THC_indexIsValid(target, range))
      return false;
    const THCSplit<Index> at = THC_divide((Index)i, positions);
    *place =
        (at.quotient * classes + (Index)(target - TH_INDEX_BASE)) * positions.value + at.remainder;
    if (*place < elements)
      return true;
    THC_reportIndex(target, range);
    return false;
  }

  __device__ void operator()(int64_t i, const int64_t *target) const
  {
    Index place;
    find(i, target[i], &place);
  }
};

template <typename Index> TargetPlaces<Index> targetPlaces(const ClassNLL &run, int64_t elements)
{
  const int64_t classes = run.sizes.classes;
  return TargetPlaces<Index>{
      THCDivisor<Index>(run.sizes.positions),
      (Index)classes,
      run.ignores,
      run.ignored,
      (Index)elements,
      THC_indexRange(run.state, run.function, TH_INDEX_BASE, classes - 1 + TH_INDEX_BASE)};
}

/* If the state's checkIndices is set: raises for a bad target before the work. `elements` is the
 * number of elements of the tensor that targets select from. */
inline void checkTargets(const ClassNLL &run, int64_t elements)
{
  THC_checkState(run.state, run.function);
  THC_checkValues<int64_t>(run.state, run.function, run.target, "target", 3,
                           run.sizes.batch * run.sizes.positions,
                           targetPlaces<uint64_t>(run, elements));
}

struct LossAndWeight {
  accreal loss, weight;
};

template <typename Index> struct TargetTerm {
  typedef LossAndWeight Sum;
  TargetPlaces<Index> places;
  const real *input, *weights;
  const int64_t *target;

  __device__ Sum none() const { return Sum{0, 0}; }
  __device__ void add(Sum &sum, int64_t i, int64_t plane) const
  {
    (void)plane;
    const int64_t wanted = target[i];
    Index place;
    if (!places.find(i, wanted, &place))
      return;
    const accreal weight = weights ? weights[wanted - TH_INDEX_BASE] : 1;
    sum.loss -= weight * input[place];
    sum.weight += weight;
  }
  __device__ Sum operator()(const Sum &a, const Sum &b) const
  {
    return Sum{a.loss + b.loss, a.weight + b.weight};
  }
};

struct WriteLossAndWeight {
  bool divide;
  real *output, *totalWeight;
  __device__ void operator()(int64_t plane, const LossAndWeight &sum) const
  {
    (void)plane;
    *totalWeight = (real)sum.weight;
    *output = (real)(divide && sum.weight != 0 ? sum.loss / sum.weight : sum.loss);
  }
};

/* total_weight (argument #7) = sum of the targets' weights; output (argument #4) = minus the sum of
 * the weighted inputs at the targets, divided by total_weight when sizeAverage. The first
 * element of each is written. */
inline void classNLLForward(const ClassNLL &run, THCTensor *output, THCTensor *total_weight,
                            bool sizeAverage)
{
  THCTensor *input = run.input, *weights = run.weights;
  THCIndexTensor *target = run.target;
  const int64_t elements = THCTensor_(nElement)(run.state, input);
  checkTargets(run, elements);
  const Channels channels = channelsOf(THNNPlanes{1, 1, run.sizes.batch * run.sizes.positions});

  THCPlan plan;
  THC_planStart(&plan, run.function, run.state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *wanted = THC_planIn(&plan, target, 3);
  const THNNBuffer *out = THC_planInOut(&plan, output, 4);
  const THNNBuffer *factors = weights ? THC_planIn(&plan, weights, 6) : nullptr;
  const THNNBuffer *total = THC_planInOut(&plan, total_weight, 7);
  const THNNBuffer *scratch =
      THC_planScratch(&plan, channelScratchBytes<TargetTerm<uint64_t>>(channels));
  THC_planAcquire(&plan);
  const WriteLossAndWeight finish = {sizeAverage, THC_pointer<real>(out), THC_pointer<real>(total)};
  THC_withIndex(elements, [&](auto index) {
    typedef decltype(index) Index;
    const TargetTerm<Index> term = {targetPlaces<Index>(run, elements), THC_pointer<const real>(in),
                                    THC_pointer<const real>(factors),
                                    THC_pointer<const int64_t>(wanted)};
    sumChannels(&plan, channels, term, finish, THC_pointer<LossAndWeight>(scratch));
  });
  THC_planRelease(&plan);
}

template <typename Index> struct TargetGradient {
  TargetPlaces<Index> places;
  bool divide;
  const real *weights, *totalWeight;
  real *gradInput;

  __device__ void operator()(int64_t i, const int64_t &target) const
  {
    const accreal total = *totalWeight;
    Index place;
    if (!places.find(i, target, &place) || !(total > 0))
      return;
    const accreal weight = weights ? weights[target - TH_INDEX_BASE] : 1;
    gradInput[place] = (real)(divide ? -weight / total : -weight);
  }
};

/* If total_weight is positive: gradInput (argument #4) at the targets = minus the weight, divided
 * by total_weight when `divide`. */
inline void classNLLBackward(const ClassNLL &run, THCTensor *gradInput, THCTensor *total_weight,
                             bool divide)
{
  THCTensor *weights = run.weights;
  THCIndexTensor *target = run.target;
  const int64_t elements = THCTensor_(nElement)(run.state, gradInput);
  checkTargets(run, elements);

  THCPlan plan;
  THC_planStart(&plan, run.function, run.state);
  const THNNBuffer *wanted = THC_planIn(&plan, target, 3);
  const THNNBuffer *to = THC_planInOut(&plan, gradInput, 4);
  const THNNBuffer *factors = weights ? THC_planIn(&plan, weights, 6) : nullptr;
  const THNNBuffer *total = THC_planIn(&plan, total_weight, 7);
  THC_planAcquire(&plan);
  const THNNClasses sizes = run.sizes;
  const int64_t places = sizes.batch * sizes.classes * sizes.positions;
  THC_withIndex(places > elements ? places : elements, [&](auto index) {
    typedef decltype(index) Index;
    const TargetGradient<Index> map = {targetPlaces<Index>(run, elements), divide,
                                       THC_pointer<const real>(factors),
                                       THC_pointer<const real>(total), THC_pointer<real>(to)};
    THC_apply(&plan, run.function, sizes.batch * sizes.positions, map,
              THC_pointer<const int64_t>(wanted));
  });
  THC_planRelease(&plan);
}

} // namespace

#endif
