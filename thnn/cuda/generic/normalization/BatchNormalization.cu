/* The twin of generic/normalization/BatchNormalization.c. */
#include "cuda/generic/shared/channelwise.cuh"
#include "generic/normalization/checks.h"
#include "geometry/planes.h"

namespace
{

/* The number of elements, a reference value, and the sums of their distances from that and of the
 * squared distances. A thread's reference is its first element, so that a large mean costs no
 * precision. */
struct Moments {
  accreal count, first, sum, squares;

  __device__ accreal mean() const { return first + sum / count; }
  __device__ accreal distances() const { return squares - sum * (sum / count); }
};

struct MomentsTerm {
  typedef Moments Sum;
  const real *input;

  __device__ Sum none() const { return Sum{0, 0, 0, 0}; }
  __device__ void add(Sum &sum, int64_t i, int64_t plane) const
  {
    (void)plane;
    const accreal x = input[i];
    if (sum.count == 0)
      sum.first = x;
    const accreal distance = x - sum.first;
    sum.count += 1;
    sum.sum += distance;
    sum.squares += distance * distance;
  }
  __device__ Sum operator()(const Sum &a, const Sum &b) const
  {
    if (a.count == 0 || b.count == 0)
      return a.count == 0 ? b : a;
    const accreal count = a.count + b.count, shift = b.mean() - a.mean();
    const accreal share = b.count / count;
    return Sum{count, a.mean() + shift * share, 0,
               a.distances() + b.distances() + shift * shift * a.count * share};
  }
};

/* A plane's normalisation: output = (input - mean) * factor + offset. */
struct Normal {
  real mean, factor, offset;
};

struct Normalisation {
  double count, momentum, eps;
  const real *weight, *bias;
  real *runningMean, *runningVar, *saveMean, *saveStd; /* the last two only in training */
  Normal *normals;

  __device__ void set(int64_t plane, real mean, real std) const
  {
    normals[plane] = Normal{mean, std * (weight ? weight[plane] : 1), bias ? bias[plane] : real(0)};
  }

  /* Sets a plane's normalisation in training, by the statistics of the batch. */
  __device__ void operator()(int64_t plane, const Moments &moments) const
  {
    const double mean = moments.mean(), found = moments.distances();
    const double squares = found < 0 ? 0 : found, variance = squares / count;
    const real std = variance == 0 && eps == 0 ? real(0) : (real)(1 / sqrt(variance + eps));
    saveMean[plane] = (real)mean;
    saveStd[plane] = std;
    runningMean[plane] = (real)(momentum * mean + (1 - momentum) * runningMean[plane]);
    runningVar[plane] =
        (real)(momentum * (squares / (count - 1)) + (1 - momentum) * runningVar[plane]);
    set(plane, (real)mean, std);
  }

  /* Sets a plane's normalisation outside training, by the running averages. */
  __device__ void operator()(int64_t plane) const
  {
    set(plane, runningMean[plane], (real)(1 / sqrt(runningVar[plane] + eps)));
  }
};

/* The plane of an element. */
template <typename Index> struct PlaneOf {
  THCDivisor<Index> positions, planes;
  explicit PlaneOf(const THNNPlanes &shape) : positions(shape.positions), planes(shape.planes) {}
  __device__ Index operator()(int64_t i) const
  {
    return THC_divide(positions.quotient((Index)i), planes).remainder;
  }
};

template <typename Index> struct Normalise {
  PlaneOf<Index> planeOf;
  const Normal *normals;
  __device__ void operator()(int64_t i, real &output, const real &input) const
  {
    const Normal normal = normals[planeOf(i)];
    output = (input - normal.mean) * normal.factor + normal.offset;
  }
};

/* Sums of the gradient, and of its product with the input's distance from the mean. */
struct GradientSums {
  accreal gradient, product;
};

struct GradientTerm {
  typedef GradientSums Sum;
  const real *input, *gradOutput, *mean;

  __device__ Sum none() const { return Sum{0, 0}; }
  __device__ void add(Sum &sum, int64_t i, int64_t plane) const
  {
    const accreal gradient = gradOutput[i];
    sum.gradient += gradient;
    sum.product += gradient * (input[i] - mean[plane]);
  }
  __device__ Sum operator()(const Sum &a, const Sum &b) const
  {
    return Sum{a.gradient + b.gradient, a.product + b.product};
  }
};

/* A plane's backward pass: gradInput is factor times
 * gradOutput - gradient - (input - mean) * slope. */
struct Slope {
  real mean, gradient, slope, factor;
};

struct Differentiation {
  bool train;
  double count, scale, eps;
  const real *weight, *mean, *deviation; /* the last is std in training, otherwise the variance */
  real *gradWeight, *gradBias;
  Slope *slopes;

  __device__ double stdOf(int64_t plane) const
  {
    return train ? (double)deviation[plane] : 1 / sqrt(deviation[plane] + eps);
  }

  __device__ void operator()(int64_t plane, const GradientSums &sums) const
  {
    const double std = stdOf(plane);
    if (gradWeight)
      gradWeight[plane] = (real)(gradWeight[plane] + scale * sums.product * std);
    if (gradBias)
      gradBias[plane] = (real)(gradBias[plane] + scale * sums.gradient);
    const real factor = (real)std * (weight ? weight[plane] : 1);
    slopes[plane] = Slope{mean[plane], (real)(sums.gradient / count),
                          (real)(sums.product * std * std / count), factor};
  }

  /* Sets a plane's backward pass where neither training nor parameters need the sums. */
  __device__ void operator()(int64_t plane) const
  {
    slopes[plane] = Slope{0, 0, 0, (real)stdOf(plane) * (weight ? weight[plane] : 1)};
  }
};

template <typename Index> struct NormaliseBackward {
  PlaneOf<Index> planeOf;
  const Slope *slopes;
  __device__ void operator()(int64_t i, real &gradInput, const real &input,
                             const real &gradOutput) const
  {
    const Slope of = slopes[planeOf(i)];
    gradInput = (gradOutput - of.gradient - (input - of.mean) * of.slope) * of.factor;
  }
};

template <typename Index> struct Scale {
  PlaneOf<Index> planeOf;
  const Slope *slopes;
  __device__ void operator()(int64_t i, real &gradInput, const real &gradOutput) const
  {
    gradInput = gradOutput * slopes[planeOf(i)].factor;
  }
};

} // namespace

void THCUNN_(BatchNormalization_updateOutput)(THCState *state, THCTensor *input_,
                                              THCTensor *output_, THCTensor *weight_,
                                              THCTensor *bias_, THCTensor *runningMean_,
                                              THCTensor *runningVar_, THCTensor *saveMean_,
                                              THCTensor *saveStd_, bool train, double momentum,
                                              double eps)
{
  const char *function = "BatchNormalization_updateOutput";
  const THNNPlanes shape =
      THNN_BatchNormalization_shapeCheck(function, THNN_SHAPE(input_, 2), THNN_NO_SHAPE);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(weight_, 4), shape.planes, true);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(bias_, 5), shape.planes, true);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(runningMean_, 6), shape.planes, false);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(runningVar_, 7), shape.planes, false);
  if (train) {
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(saveMean_, 8), shape.planes, false);
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(saveStd_, 9), shape.planes, false);
  }
  const Channels channels = channelsOf(shape);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNRole running = train ? THNN_ROLE_INOUT : THNN_ROLE_IN;
  const THNNBuffer *in = THC_planIn(&plan, input_, 2);
  THNNBuffer *out = THC_planOutLike(&plan, output_, 3, input_);
  THNN_planElementwise(out);
  const THNNBuffer *factors = weight_ ? THC_planIn(&plan, weight_, 4) : nullptr;
  const THNNBuffer *offsets = bias_ ? THC_planIn(&plan, bias_, 5) : nullptr;
  const THNNBuffer *means = THC_planTensor(&plan, running, runningMean_, "runningMean_", 6);
  const THNNBuffer *variances = THC_planTensor(&plan, running, runningVar_, "runningVar_", 7);
  const THNNBuffer *savedMeans = train ? THC_planInOut(&plan, saveMean_, 8) : nullptr;
  const THNNBuffer *savedStds = train ? THC_planInOut(&plan, saveStd_, 9) : nullptr;
  const THNNBuffer *normals = THC_planScratch(&plan, shape.planes * (int64_t)sizeof(Normal));
  const THNNBuffer *scratch = THC_planScratch(&plan, channelScratchBytes<MomentsTerm>(channels));
  THC_planAcquire(&plan);

  const Normalisation normalisation = {(double)(shape.batch * shape.positions),
                                       momentum,
                                       eps,
                                       THC_pointer<const real>(factors),
                                       THC_pointer<const real>(offsets),
                                       THC_pointer<real>(means),
                                       THC_pointer<real>(variances),
                                       THC_pointer<real>(savedMeans),
                                       THC_pointer<real>(savedStds),
                                       THC_pointer<Normal>(normals)};
  const real *x = THC_pointer<const real>(in);
  if (train)
    sumChannels(&plan, channels, MomentsTerm{x}, normalisation, THC_pointer<Moments>(scratch));
  else
    THC_apply(&plan, function, shape.planes, normalisation);
  const int64_t count = shape.batch * shape.planes * shape.positions;
  THC_withIndex(count, [&](auto index) {
    typedef decltype(index) Index;
    THC_apply(&plan, function, count,
              Normalise<Index>{PlaneOf<Index>(shape), THC_pointer<const Normal>(normals)},
              THC_pointer<real>(out), x);
  });
  THC_planRelease(&plan);
}

void THCUNN_(BatchNormalization_backward)(THCState *state, THCTensor *input_,
                                          THCTensor *gradOutput_, THCTensor *gradInput_,
                                          THCTensor *gradWeight_, THCTensor *gradBias_,
                                          THCTensor *weight_, THCTensor *runningMean_,
                                          THCTensor *runningVar_, THCTensor *saveMean_,
                                          THCTensor *saveStd_, bool train, double scale, double eps)
{
  const char *function = "BatchNormalization_backward";
  const THNNPlanes shape = THNN_BatchNormalization_shapeCheck(function, THNN_SHAPE(input_, 2),
                                                              THNN_SHAPE(gradOutput_, 3));
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(gradWeight_, 5), shape.planes, true);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(gradBias_, 6), shape.planes, true);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(weight_, 7), shape.planes, true);
  if (train) {
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(saveMean_, 10), shape.planes, false);
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(saveStd_, 11), shape.planes, false);
  } else {
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(runningMean_, 8), shape.planes, false);
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(runningVar_, 9), shape.planes, false);
  }
  const Channels channels = channelsOf(shape);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input_, 2);
  const THNNBuffer *gradients = THC_planIn(&plan, gradOutput_, 3);
  THNNBuffer *out = gradInput_ ? THC_planOutLike(&plan, gradInput_, 4, input_) : nullptr;
  if (out)
    THNN_planElementwise(out);
  const THNNBuffer *gradFactors = gradWeight_ ? THC_planInOut(&plan, gradWeight_, 5) : nullptr;
  const THNNBuffer *gradOffsets = gradBias_ ? THC_planInOut(&plan, gradBias_, 6) : nullptr;
  const THNNBuffer *factors = weight_ ? THC_planIn(&plan, weight_, 7) : nullptr;
  const THNNBuffer *means =
      train ? THC_planIn(&plan, saveMean_, 10) : THC_planIn(&plan, runningMean_, 8);
  const THNNBuffer *deviations =
      train ? THC_planIn(&plan, saveStd_, 11) : THC_planIn(&plan, runningVar_, 9);
  const THNNBuffer *slopes = THC_planScratch(&plan, shape.planes * (int64_t)sizeof(Slope));
  const THNNBuffer *scratch = THC_planScratch(&plan, channelScratchBytes<GradientTerm>(channels));
  THC_planAcquire(&plan);

  const Differentiation differentiation = {train,
                                           (double)(shape.batch * shape.positions),
                                           scale,
                                           eps,
                                           THC_pointer<const real>(factors),
                                           THC_pointer<const real>(means),
                                           THC_pointer<const real>(deviations),
                                           THC_pointer<real>(gradFactors),
                                           THC_pointer<real>(gradOffsets),
                                           THC_pointer<Slope>(slopes)};
  const real *x = THC_pointer<const real>(in), *g = THC_pointer<const real>(gradients);
  if (train || gradWeight_ || gradBias_)
    sumChannels(&plan, channels, GradientTerm{x, g, THC_pointer<const real>(means)},
                differentiation, THC_pointer<GradientSums>(scratch));
  else
    THC_apply(&plan, function, shape.planes, differentiation);
  const int64_t count = out ? shape.batch * shape.planes * shape.positions : 0;
  THC_withIndex(count, [&](auto index) {
    typedef decltype(index) Index;
    const PlaneOf<Index> planeOf(shape);
    const Slope *of = THC_pointer<const Slope>(slopes);
    if (train)
      THC_apply(&plan, function, count, NormaliseBackward<Index>{planeOf, of},
                THC_pointer<real>(out), x, g);
    else
      THC_apply(&plan, function, count, Scale<Index>{planeOf, of}, THC_pointer<real>(out), g);
  });
  THC_planRelease(&plan);
}
