/* Rectifier with a learnt slope below zero: one slope for all elements (nOutputPlane is 0), or one
 * per plane.
 *   input, output, gradOutput, gradInput  any shape, or nOutputPlane, or batch x nOutputPlane [x …]
 *   weight, gradWeight                    1 or nOutputPlane elements, or more
 * output = input > 0 ? input : weight * input;
 * gradInput = input > 0 ? gradOutput : weight * gradOutput;
 * gradWeight += scale * sum of input * gradOutput where input <= 0. */
#include "generic/activation/checks.h"
#include "generic/shared/channelwise.h"
#include "geometry/planes.h"

#ifdef THNN_ONCE
THNNPlanes THNN_PReLU_shapeCheck(const char *function, THNNShape input, THNNShape gradOutput,
                                 THNNShape weight, THNNScalar nOutputPlane)
{
  if (!THNN_given(input))
    THNN_rejectShape(function, input, "a tensor");
  THNN_checkAtLeast(function, nOutputPlane, 0);
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkSameElements(function, gradOutput, input);
  const int64_t planes = nOutputPlane.value;
  const int64_t needed = planes > 0 ? planes : 1;
  if (weight.nDimension != THNN_NOT_PRESENT &&
      (!THNN_given(weight) || THNN_elements(function, weight) < needed))
    THNN_rejectShape(function, weight, "at least %lld elements (nOutputPlane)", (long long)needed);
  const int64_t elements = THNN_elements(function, input);
  if (planes == 0)
    return (THNNPlanes){1, 1, elements};
  const int dimension = input.nDimension > 1;
  if (elements == 0)
    THNN_rejectShape(function, input, "a non-empty tensor ([batch x] nOutputPlane [x ...])");
  THNN_checkSize(function, input, dimension, planes, "nOutputPlane");
  const int64_t batch = dimension ? input.size[0] : 1;
  return (THNNPlanes){batch, planes, elements / (batch * planes)};
}
#endif

/* What a plane needs: its slope, or where its gradient goes. */
typedef struct Slopes {
  const real *weight;
  real *gradWeight;
  double scale;
} Slopes;

static void setSlope(const void *context, int64_t plane, real center, const double *sums,
                     real *parameters)
{
  (void)center, (void)sums;
  const Slopes *slopes = context;
  parameters[0] = slopes->weight[plane];
}

static void addGradient(const void *context, int64_t plane, real center, const double *sums,
                        real *parameters)
{
  (void)center, (void)parameters;
  const Slopes *slopes = context;
  slopes->gradWeight[plane] = (real)((double)slopes->gradWeight[plane] + slopes->scale * sums[0]);
}

/* Acquires the plan, maps in and gradients (NULL: none) to out, and releases it. */
static void runMap(THNNPlan *plan, THNNState *state, const ChannelMap *map, const THNNPlanes *shape,
                   const THNNBuffer *in, const THNNBuffer *gradients, const THNNBuffer *factors,
                   THNNBuffer *out)
{
  const THNNChannels channels = THNN_cutChannels(shape->batch, shape->planes, shape->positions);
  ChannelWork work = {.state = state, .channels = &channels, .finish = setSlope, .map = map};
  THNN_planElementwise(out);
  const THNNBuffer *scratch = THNN_planScratch(plan, THNN_(channelwise_scratchBytes)(&work));
  THNN_planAcquire(plan);

  const Slopes slopes = {.weight = factors->data};
  work.x = in->data;
  work.y = gradients ? gradients->data : NULL;
  work.z = out->data;
  work.context = &slopes;
  THNN_(channelwise_run)(&work, scratch->data);
  THNN_planRelease(plan);
}

void THNN_(PReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                               THTensor *weight, THIndex_t nOutputPlane)
{
  const char *function = "PReLU_updateOutput";
  const THNNPlanes shape =
      THNN_PReLU_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
                            THNN_SCALAR(nOutputPlane, 5));

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOutLike(&plan, output, 3, input);
  const THNNBuffer *factors = THNN_planIn(&plan, weight, 4);
  runMap(&plan, state, &THNN_(simd).activation.prelu, &shape, in, NULL, factors, out);
}

void THNN_(PReLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                  THTensor *gradInput, THTensor *weight, THIndex_t nOutputPlane)
{
  const char *function = "PReLU_updateGradInput";
  const THNNPlanes shape =
      THNN_PReLU_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                            THNN_SHAPE(weight, 5), THNN_SCALAR(nOutputPlane, 6));

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *gradients = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *out = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *factors = THNN_planIn(&plan, weight, 5);
  runMap(&plan, state, &THNN_(simd).activation.preluBackward, &shape, in, gradients, factors, out);
}

void THNN_(PReLU_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                    THTensor *gradInput, THTensor *weight, THTensor *gradWeight,
                                    THTensor *gradWeightBuf, THTensor *gradWeightBuf2,
                                    THIndex_t nOutputPlane, accreal scale)
{
  (void)gradInput, (void)gradWeightBuf, (void)gradWeightBuf2;
  const char *function = "PReLU_accGradParameters";
  if (!weight)
    THNN_rejectShape(function, THNN_SHAPE(weight, 5), "a tensor");
  const THNNPlanes shape =
      THNN_PReLU_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                            THNN_SHAPE(gradWeight, 6), THNN_SCALAR(nOutputPlane, 9));
  const THNNChannels channels = THNN_cutChannels(shape.batch, shape.planes, shape.positions);
  ChannelWork work = {.state = state,
                      .channels = &channels,
                      .sum = &THNN_(simd).channels.slopes,
                      .finish = addGradient};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *gradients = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *gradFactors = THNN_planInOut(&plan, gradWeight, 6);
  THNNBuffer *scratch = THNN_planScratch(&plan, THNN_(channelwise_scratchBytes)(&work));
  THNN_planAcquire(&plan);

  const Slopes slopes = {.gradWeight = gradFactors->data, .scale = scale};
  work.x = in->data;
  work.y = gradients->data;
  work.context = &slopes;
  THNN_(channelwise_run)(&work, scratch->data);
  THNN_planRelease(&plan);
}
