/* Batch normalisation: each plane is brought to mean 0 and variance 1, by the statistics of the
 * batch in training and by running averages otherwise. Then its weight and bias are applied.
 *   input, output, gradOutput, gradInput                  batch x nPlane [x …]
 *   weight, bias, gradWeight, gradBias                    nPlane
 *   running_mean, running_var, save_mean, save_std        nPlane
 * output = (input - mean) * std * weight + bias, where std = 1 / sqrt(var + eps);
 * save_mean and save_std keep mean and std of the batch. */
#include "generic/normalization/checks.h"
#include "generic/shared/channelwise.h"
#include "geometry/planes.h"

#include <math.h>

#ifdef THNN_ONCE
THNNPlanes THNN_BatchNormalization_shapeCheck(const char *function, THNNShape input,
                                              THNNShape gradOutput)
{
  if (input.nDimension < 2 || THNN_elements(function, input) == 0)
    THNN_rejectShape(function, input, "a non-empty tensor of 2D or more (batch x nPlane [x ...])");
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkSizes(function, gradOutput, input.nDimension, input.size, "the sizes of input");
  return (THNNPlanes){input.size[0], input.size[1],
                      THNN_elements(function, input) / (input.size[0] * input.size[1])};
}

void THNN_BatchNormalization_vectorCheck(const char *function, THNNShape vector, int64_t planes,
                                         bool optional)
{
  if (optional && !THNN_given(vector))
    return;
  if (vector.nDimension != 1 || vector.size[0] < planes)
    THNN_rejectShape(function, vector, "a 1D tensor of at least %lld elements (nPlane)",
                     (long long)planes);
}
#endif

/* What finishForward and finishBackward need besides the sums of a plane. Pointers are NULL where
 * the caller gave no tensor. */
typedef struct Normalisation {
  double count; /* elements of a plane, over the batch */
  bool train;
  double momentum, eps, scale;
  const real *weight, *bias;
  real *runningMean, *runningVar, *saveMean, *saveStd, *gradWeight, *gradBias;
} Normalisation;

static void *dataOf(const THNNBuffer *buffer)
{
  return buffer ? buffer->data : NULL;
}

static void finishForward(const void *context, int64_t plane, real center, const double *sums,
                          real *parameters)
{
  const Normalisation *of = context;
  real mean, std;
  if (of->train) {
    /* The sums are those of distances from `center`, one of the plane's values, and of their
     * squares. */
    const double distance = sums[0] / of->count;
    const double difference = sums[1] - sums[0] * distance;
    const double squares = difference < 0 ? 0 : difference;
    const double variance = squares / of->count;
    mean = (real)((double)center + distance);
    std = variance == 0 && of->eps == 0 ? 0 : (real)(1 / sqrt(variance + of->eps));
    of->saveMean[plane] = mean;
    of->saveStd[plane] = std;
    of->runningMean[plane] = (real)(of->momentum * ((double)center + distance) +
                                    (1 - of->momentum) * (double)of->runningMean[plane]);
    of->runningVar[plane] = (real)(of->momentum * (squares / (of->count - 1)) +
                                   (1 - of->momentum) * (double)of->runningVar[plane]);
  } else {
    mean = of->runningMean[plane];
    std = (real)(1 / sqrt((double)of->runningVar[plane] + of->eps));
  }
  parameters[0] = mean;
  parameters[1] = std * (of->weight ? of->weight[plane] : 1);
  parameters[2] = of->bias ? of->bias[plane] : 0;
}

void THNN_(BatchNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THTensor *weight, THTensor *bias,
                                            THTensor *running_mean, THTensor *running_var,
                                            THTensor *save_mean, THTensor *save_std, bool train,
                                            double momentum, double eps)
{
  const char *function = "BatchNormalization_updateOutput";
  const THNNPlanes shape =
      THNN_BatchNormalization_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(weight, 4), shape.planes, true);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(bias, 5), shape.planes, true);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(running_mean, 6), shape.planes, false);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(running_var, 7), shape.planes, false);
  if (train) {
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(save_mean, 8), shape.planes, false);
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(save_std, 9), shape.planes, false);
  }
  const THNNChannels channels = THNN_cutChannels(shape.batch, shape.planes, shape.positions);
  ChannelWork work = {.state = state,
                      .channels = &channels,
                      .sum = train ? &THNN_(simd).channels.moments : NULL,
                      .finish = finishForward,
                      .map = &THNN_(simd).channels.normalise};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const THNNRole running = train ? THNN_ROLE_INOUT : THNN_ROLE_IN;
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOutLike(&plan, output, 3, input);
  THNN_planElementwise(out);
  THNNBuffer *factors = weight ? THNN_planIn(&plan, weight, 4) : NULL;
  THNNBuffer *offsets = bias ? THNN_planIn(&plan, bias, 5) : NULL;
  THNNBuffer *means = THNN_planTensor(&plan, running, THNN_ELEMENT_OF(running_mean), running_mean,
                                      "running_mean", 6);
  THNNBuffer *variances =
      THNN_planTensor(&plan, running, THNN_ELEMENT_OF(running_var), running_var, "running_var", 7);
  THNNBuffer *savedMeans = train ? THNN_planInOut(&plan, save_mean, 8) : NULL;
  THNNBuffer *savedStds = train ? THNN_planInOut(&plan, save_std, 9) : NULL;
  THNNBuffer *scratch = THNN_planScratch(&plan, THNN_(channelwise_scratchBytes)(&work));
  THNN_planAcquire(&plan);

  const Normalisation normalisation = {
      .count = (double)(shape.batch * shape.positions),
      .train = train,
      .momentum = momentum,
      .eps = eps,
      .weight = dataOf(factors),
      .bias = dataOf(offsets),
      .runningMean = means->data,
      .runningVar = variances->data,
      .saveMean = dataOf(savedMeans),
      .saveStd = dataOf(savedStds),
  };
  work.x = in->data;
  work.z = out->data;
  work.context = &normalisation;
  THNN_(channelwise_run)(&work, scratch->data);
  THNN_planRelease(&plan);
}

static void finishBackward(const void *context, int64_t plane, real center, const double *sums,
                           real *parameters)
{
  const Normalisation *of = context;
  const double std =
      of->train ? (double)of->saveStd[plane] : 1 / sqrt((double)of->runningVar[plane] + of->eps);
  if (of->gradWeight)
    of->gradWeight[plane] = (real)((double)of->gradWeight[plane] + of->scale * sums[1] * std);
  if (of->gradBias)
    of->gradBias[plane] = (real)((double)of->gradBias[plane] + of->scale * sums[0]);
  if (!parameters)
    return;
  const real factor = (real)std * (of->weight ? of->weight[plane] : 1);
  if (of->train) {
    parameters[0] = center;
    parameters[1] = (real)(sums[0] / of->count);
    parameters[2] = (real)(sums[1] * std * std / of->count);
    parameters[3] = factor;
  } else {
    parameters[0] = factor;
  }
}

void THNN_(BatchNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, THTensor *gradWeight,
                                        THTensor *gradBias, THTensor *weight,
                                        THTensor *running_mean, THTensor *running_var,
                                        THTensor *save_mean, THTensor *save_std, bool train,
                                        double scale, double eps)
{
  const char *function = "BatchNormalization_backward";
  const THNNPlanes shape =
      THNN_BatchNormalization_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3));
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(gradWeight, 5), shape.planes, true);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(gradBias, 6), shape.planes, true);
  THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(weight, 7), shape.planes, true);
  if (train) {
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(save_mean, 10), shape.planes, false);
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(save_std, 11), shape.planes, false);
  } else {
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(running_mean, 8), shape.planes, false);
    THNN_BatchNormalization_vectorCheck(function, THNN_SHAPE(running_var, 9), shape.planes, false);
  }
  const THNNChannels channels = THNN_cutChannels(shape.batch, shape.planes, shape.positions);
  ChannelWork work = {.state = state,
                      .channels = &channels,
                      .sum =
                          train || gradWeight || gradBias ? &THNN_(simd).channels.gradients : NULL,
                      .finish = finishBackward,
                      .map = !gradInput ? NULL
                             : train    ? &THNN_(simd).channels.normaliseBackward
                                        : &THNN_(simd).channels.scale};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *gradients = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *out = gradInput ? THNN_planOutLike(&plan, gradInput, 4, input) : NULL;
  if (out)
    THNN_planElementwise(out);
  THNNBuffer *gradFactors = gradWeight ? THNN_planInOut(&plan, gradWeight, 5) : NULL;
  THNNBuffer *gradOffsets = gradBias ? THNN_planInOut(&plan, gradBias, 6) : NULL;
  THNNBuffer *factors = weight ? THNN_planIn(&plan, weight, 7) : NULL;
  THNNBuffer *means =
      train ? THNN_planIn(&plan, save_mean, 10) : THNN_planIn(&plan, running_mean, 8);
  THNNBuffer *deviations =
      train ? THNN_planIn(&plan, save_std, 11) : THNN_planIn(&plan, running_var, 9);
  THNNBuffer *scratch = THNN_planScratch(&plan, THNN_(channelwise_scratchBytes)(&work));
  THNN_planAcquire(&plan);

  const Normalisation normalisation = {
      .count = (double)(shape.batch * shape.positions),
      .train = train,
      .eps = eps,
      .scale = scale,
      .weight = dataOf(factors),
      .runningVar = train ? NULL : deviations->data,
      .saveStd = train ? deviations->data : NULL,
      .gradWeight = dataOf(gradFactors),
      .gradBias = dataOf(gradOffsets),
  };
  work.x = in->data;
  work.y = gradients->data;
  work.centers = means->data;
  work.z = dataOf(out);
  work.context = &normalisation;
  THNN_(channelwise_run)(&work, scratch->data);
  THNN_planRelease(&plan);
}
