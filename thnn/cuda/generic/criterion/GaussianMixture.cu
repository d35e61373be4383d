/* The twin of generic/criterion/GaussianMixture.c. The parts of the density are computed anew where
 * they are needed: nothing of a sample is kept but its greatest part and the sum of all. */
#include "cuda/generic/shared/elementary.cuh"
#include "cuda/generic/shared/rows.cuh"
#include "generic/criterion/checks.h"

namespace
{

#if defined(THC_REAL_IS_FLOAT)
constexpr real LOWEST_WEIGHT = FLT_MIN;
#else
constexpr real LOWEST_WEIGHT = DBL_MIN;
#endif
constexpr real LOG_2_PI = real(1.8378770664093453);

/* A centre as a point sees it: the distances in deviations, and what correlation leaves of them. */
struct Placed {
  real z1, z2, correlation, rest, towards1, towards2;
};

struct Mixture {
  int64_t centres;
  const real *target1, *target2, *weight, *mean1, *mean2, *std1, *std2, *correlation;

  __device__ Placed place(int64_t row, int64_t i) const
  {
    Placed p;
    p.correlation = correlation[i];
    p.rest = (1 - p.correlation) * (1 + p.correlation);
    p.z1 = (target1[row] - mean1[i]) / std1[i];
    p.z2 = (target2[row] - mean2[i]) / std2[i];
    p.towards1 = (p.z1 - p.correlation * p.z2) / p.rest;
    p.towards2 = (p.z2 - p.correlation * p.z1) / p.rest;
    return p;
  }

  /* The logarithm of a part of the density, without the factor 1 / (2 pi). */
  __device__ real density(int64_t i, const Placed &p) const
  {
    const real lowest = weight[i] < LOWEST_WEIGHT ? LOWEST_WEIGHT : weight[i];
    const real distance = p.z1 * p.towards1 + p.z2 * p.towards2;
    return log(lowest) - log(std1[i] * std2[i] * sqrt(p.rest)) - distance / 2;
  }

  /* The greatest of a row's densities, and the sum of the parts over that. */
  template <typename Team> __device__ real most(int64_t row, Team) const
  {
    real own = -(real)INFINITY;
    for (int64_t c = Team::rank(); c < centres; c += Team::SIZE) {
      const int64_t i = row * centres + c;
      const real found = density(i, place(row, i));
      own = found > own ? found : own;
    }
    return Team::reduce(own, [](real a, real b) { return a > b ? a : b; });
  }
  template <typename Team> __device__ accreal total(int64_t row, real most, Team) const
  {
    accreal sum = 0;
    for (int64_t c = Team::rank(); c < centres; c += Team::SIZE) {
      const int64_t i = row * centres + c;
      sum += exp(density(i, place(row, i)) - most);
    }
    return Team::sum(sum);
  }
};

struct Forward {
  Mixture mixture;
  real *output, *responsibility; /* NULL where nobody wants it */

  template <typename Team> __device__ void operator()(int64_t row, Team team) const
  {
    const real most = mixture.most(row, team);
    const real total = (real)mixture.total(row, most, team);
    if (Team::rank() == 0)
      output[row] = LOG_2_PI - most - log(total);
    if (!responsibility)
      return;
    for (int64_t c = Team::rank(); c < mixture.centres; c += Team::SIZE) {
      const int64_t i = row * mixture.centres + c;
      responsibility[i] = exp(mixture.density(i, mixture.place(row, i)) - most) / total;
    }
  }
};

struct Backward {
  Mixture mixture;
  const real *gradOutput;
  int64_t step; /* 0 where one number counts for all samples */
  real *weight, *mean1, *mean2, *std1, *std2, *correlation;

  static __device__ void write(real *wanted, int64_t i, real value)
  {
    if (wanted)
      wanted[i] = value;
  }
  template <typename Team> __device__ void operator()(int64_t row, Team team) const
  {
    const Mixture &of = mixture;
    const real most = of.most(row, team);
    const real total = (real)of.total(row, most, team), gradient = gradOutput[row * step];
    for (int64_t c = Team::rank(); c < of.centres; c += Team::SIZE) {
      const int64_t i = row * of.centres + c;
      const Placed p = of.place(row, i);
      const real share = gradient * (exp(of.density(i, p) - most) / total);
      const real distance1 = p.z1 * p.towards1, distance2 = p.z2 * p.towards2;
      write(weight, i, gradient * of.weight[i] - share);
      write(mean1, i, -share * p.towards1 / of.std1[i]);
      write(mean2, i, -share * p.towards2 / of.std2[i]);
      write(std1, i, share - share * distance1);
      write(std2, i, share - share * distance2);
      write(correlation, i, -share * (p.z1 * p.z2 + p.correlation * (1 - (distance1 + distance2))));
    }
  }
};

/* The tensors that are read, and as declared to a plan. */
struct Operands {
  THCTensor *target1, *target2, *weight, *mean1, *mean2, *std1, *std2, *correlation;
};

THNNMixture checkOperands(const char *function, const Operands &of)
{
  const THCTensor *target1 = of.target1, *target2 = of.target2, *weight = of.weight;
  const THCTensor *mean1 = of.mean1, *mean2 = of.mean2, *std1 = of.std1, *std2 = of.std2;
  const THCTensor *correlation = of.correlation;
  const THNNShape others[] = {THNN_SHAPE(mean1, 5), THNN_SHAPE(mean2, 6), THNN_SHAPE(std1, 7),
                              THNN_SHAPE(std2, 8), THNN_SHAPE(correlation, 9)};
  return THNN_GaussianMixture_shapeCheck(function, THNN_SHAPE(target1, 2), THNN_SHAPE(target2, 3),
                                         THNN_SHAPE(weight, 4), others);
}

struct Buffers {
  const THNNBuffer *target1, *target2, *weight, *mean1, *mean2, *std1, *std2, *correlation;

  Buffers(THCPlan *plan, const Operands &of)
  {
    THCTensor *target1 = of.target1, *target2 = of.target2, *weight = of.weight;
    THCTensor *mean1 = of.mean1, *mean2 = of.mean2, *std1 = of.std1, *std2 = of.std2;
    THCTensor *correlation = of.correlation;
    this->target1 = THC_planIn(plan, target1, 2);
    this->target2 = THC_planIn(plan, target2, 3);
    this->weight = THC_planIn(plan, weight, 4);
    this->mean1 = THC_planIn(plan, mean1, 5);
    this->mean2 = THC_planIn(plan, mean2, 6);
    this->std1 = THC_planIn(plan, std1, 7);
    this->std2 = THC_planIn(plan, std2, 8);
    this->correlation = THC_planIn(plan, correlation, 9);
  }

  Mixture mixture(int64_t centres) const
  {
    return {centres,
            THC_pointer<const real>(target1),
            THC_pointer<const real>(target2),
            THC_pointer<const real>(weight),
            THC_pointer<const real>(mean1),
            THC_pointer<const real>(mean2),
            THC_pointer<const real>(std1),
            THC_pointer<const real>(std2),
            THC_pointer<const real>(correlation)};
  }
};

} // namespace

void THCUNN_(GaussianMixture_updateOutput)(THCState *state, THCTensor *target1, THCTensor *target2,
                                           THCTensor *weight, THCTensor *mean1, THCTensor *mean2,
                                           THCTensor *std1, THCTensor *std2, THCTensor *correlation,
                                           THCTensor *output, THCTensor *responsibility)
{
  const char *function = "GaussianMixture_updateOutput";
  const Operands of = {target1, target2, weight, mean1, mean2, std1, std2, correlation};
  const THNNMixture sizes = checkOperands(function, of);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const Buffers buffers(&plan, of);
  const THNNBuffer *out = THC_planOutLike(&plan, output, 10, target1);
  const THNNBuffer *shares =
      responsibility ? THC_planOutLike(&plan, responsibility, 11, weight) : nullptr;
  THC_planAcquire(&plan);
  forRows(
      &plan, sizes.batch, sizes.centres,
      Forward{buffers.mixture(sizes.centres), THC_pointer<real>(out), THC_pointer<real>(shares)});
  THC_planRelease(&plan);
}

void THCUNN_(GaussianMixture_updateGradInput)(
    THCState *state, THCTensor *target1, THCTensor *target2, THCTensor *weight, THCTensor *mean1,
    THCTensor *mean2, THCTensor *std1, THCTensor *std2, THCTensor *correlation,
    THCTensor *gradOutput, THCTensor *gradWeight, THCTensor *gradMean1, THCTensor *gradMean2,
    THCTensor *gradStd1, THCTensor *gradStd2, THCTensor *gradCorrelation)
{
  const char *function = "GaussianMixture_updateGradInput";
  const Operands of = {target1, target2, weight, mean1, mean2, std1, std2, correlation};
  const THNNMixture sizes = checkOperands(function, of);
  const int64_t step =
      !THNN_GaussianMixture_gradientIsOne(function, THNN_SHAPE(gradOutput, 10), sizes.batch);
  if (!gradWeight && !gradMean1 && !gradMean2 && !gradStd1 && !gradStd2 && !gradCorrelation)
    return;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const Buffers buffers(&plan, of);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 10);
#define WANTED(tensor, position)                                                                   \
  ((tensor) ? THC_planOutLike(&plan, tensor, position, weight) : nullptr)
  const THNNBuffer *toWeight = WANTED(gradWeight, 11), *toMean1 = WANTED(gradMean1, 12);
  const THNNBuffer *toMean2 = WANTED(gradMean2, 13), *toStd1 = WANTED(gradStd1, 14);
  const THNNBuffer *toStd2 = WANTED(gradStd2, 15), *toCorrelation = WANTED(gradCorrelation, 16);
#undef WANTED
  THC_planAcquire(&plan);
  forRows(&plan, sizes.batch, sizes.centres,
          Backward{buffers.mixture(sizes.centres), THC_pointer<const real>(from), step,
                   THC_pointer<real>(toWeight), THC_pointer<real>(toMean1),
                   THC_pointer<real>(toMean2), THC_pointer<real>(toStd1), THC_pointer<real>(toStd2),
                   THC_pointer<real>(toCorrelation)});
  THC_planRelease(&plan);
}
