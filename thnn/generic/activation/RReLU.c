/* Rectifier with a random slope below zero: drawn for each element in training, the mean of its
 * bounds otherwise.
 *   input, output, noise, gradOutput, gradInput   any shape
 * training:  noise = input > 0 ? 1 : a number in [lower, upper);  output = noise * input;
 *            gradInput = noise * gradOutput;
 * otherwise: LeakyReLU with (lower + upper) / 2. */
#include "generic/activation/checks.h"
#include "generic/activation/pointwise.h"

static real meanSlope(accreal lower, accreal upper)
{
  return ((real)lower + (real)upper) / 2;
}

/* Numbers are drawn in the order of the elements, and only for those that need one. */
static void drawNoise(THGenerator *generator, real lower, real upper, int64_t n, const real *x,
                      real *noise)
{
  for (int64_t i = 0; i < n; i++)
    noise[i] = x[i] <= 0 ? (real)THRandom_uniform(generator, lower, upper) : 1;
}

static void forwardWithNoise(const Pointwise *run, THTensor *input, THTensor *output,
                             THTensor *noise, real lower, real upper, THGenerator *generator)
{
  THNNPlan plan;
  THNNBuffer *in, *out;
  THNN_planStart(&plan, run->function, run->state);
  THNN_(pointwise_plan)(&plan, run->inplace, input, output, &in, &out);
  THNNBuffer *drawn = THNN_planOutLike(&plan, noise, 4, input);
  THNN_planAcquire(&plan);

  const real *x = in->data;
  real *y = out->data, *factors = drawn->data;
  const THNNBlocks blocks = THNN_blocks(THTensor_(nElement)(input));
  drawNoise(generator, lower, upper, blocks.elements, x, factors);
  const int threads = THNN_threads(run->state, blocks.count, (double)blocks.elements);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < blocks.count; i++) {
    const int64_t at = i * blocks.length;
    THNN_(simd).activation.product(THNN_blockLength(&blocks, i), factors + at, x + at, NULL,
                                   y + at);
  }
  THNN_planRelease(&plan);
}

void THNN_(RReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *noise,
                               accreal lower, accreal upper, bool train, bool inplace,
                               THGenerator *generator)
{
  const real parameters[] = {meanSlope(lower, upper)};
  const Pointwise run = {.function = "RReLU_updateOutput",
                         .state = state,
                         .inplace = inplace,
                         .cost = 1,
                         .parameters = parameters};
  if (!noise)
    THNN_rejectShape(run.function, THNN_SHAPE(noise, 4), "a tensor");
  if (!train) {
    THNN_(pointwise_forward)(&run, THNN_(simd).activation.leakyRelu, input, output);
    return;
  }
  if (!generator)
    THNN_reject(run.function, "generator", 9, "a generator", "NULL");
  forwardWithNoise(&run, input, output, noise, (real)lower, (real)upper, generator);
}

void THNN_(RReLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                  THTensor *gradInput, THTensor *noise, accreal lower,
                                  accreal upper, bool train, bool inplace)
{
  const real parameters[] = {meanSlope(lower, upper)};
  Pointwise run = {.function = "RReLU_updateGradInput",
                   .state = state,
                   .inplace = inplace,
                   .cost = 1,
                   .parameters = parameters};
  /* With bounds this close the slope was practically constant, and `noise` need not be set. */
  if (!train || (real)upper - (real)lower <= (real)1e-6) {
    THNN_(pointwise_backward)(&run, THNN_(simd).activation.leakyReluBackward, input, "input", 2,
                              gradOutput, gradInput);
    return;
  }
  THNN_pointwise_shapeCheck(run.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3));
  THNN_pointwise_shapeCheck(run.function, THNN_SHAPE(gradOutput, 3), THNN_SHAPE(noise, 5));
  run.like = gradOutput;
  THNN_(pointwise_backward)(&run, THNN_(simd).activation.product, noise, "noise", 5, gradOutput,
                            gradInput);
}
