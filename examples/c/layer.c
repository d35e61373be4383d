/* A linear layer learns a matrix from examples of its products: forward, backward, update.
 *   cc layer.c $(pkg-config --cflags --libs thnn) -o layer && ./layer */

#include <THNN.h>

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 32, INPUTS = 4, OUTPUTS = 3, STEPS = 200 };

/* Called for every error, such as a tensor of the wrong shape; it must not return. */
static void stop(const char *message, void *data)
{
  (void)data;
  fprintf(stderr, "layer: %s\n", message);
  exit(EXIT_FAILURE);
}

static void stopAtArgument(int argument, const char *message, void *data)
{
  (void)argument;
  stop(message, data);
}

int main(void)
{
  THSetErrorHandler(stop, NULL);
  THSetArgErrorHandler(stopAtArgument, NULL);
  THGenerator *random = THGenerator_new();
  THRandom_manualSeed(random, 1);

  /* The targets are products with `matrix`, which the layer does not know. */
  THFloatTensor *input = THFloatTensor_newWithSize2d(BATCH, INPUTS);
  THFloatTensor *matrix = THFloatTensor_newWithSize2d(OUTPUTS, INPUTS);
  THFloatTensor *target = THFloatTensor_new();
  THFloatTensor_normal(input, random, 0, 1);
  THFloatTensor_normal(matrix, random, 0, 1);
  THNN_FloatLinear_updateOutput(NULL, input, target, matrix, NULL, NULL);

  THFloatTensor *weight = THFloatTensor_newWithSize2d(OUTPUTS, INPUTS);
  THFloatTensor *bias = THFloatTensor_newWithSize1d(OUTPUTS);
  THFloatTensor *gradWeight = THFloatTensor_newWithSize2d(OUTPUTS, INPUTS);
  THFloatTensor *gradBias = THFloatTensor_newWithSize1d(OUTPUTS);
  THFloatTensor *output = THFloatTensor_new(), *gradOutput = THFloatTensor_new();
  THFloatTensor *loss = THFloatTensor_newWithSize1d(1);
  THFloatTensor_normal(weight, random, 0, 0.1);
  THFloatTensor_zero(bias);

  double first = 0, last = 0;
  for (int step = 0; step < STEPS; step++) {
    THNN_FloatLinear_updateOutput(NULL, input, output, weight, bias, NULL);
    THNN_FloatMSECriterion_updateOutput(NULL, output, target, loss, true);
    THNN_FloatMSECriterion_updateGradInput(NULL, output, target, gradOutput, true);
    THFloatTensor_zero(gradWeight);
    THFloatTensor_zero(gradBias);
    THNN_FloatLinear_accGradParameters(NULL, input, gradOutput, NULL, weight, bias, gradWeight,
                                       gradBias, NULL, 1);
    THFloatTensor_cadd(weight, weight, -0.5f, gradWeight);
    THFloatTensor_cadd(bias, bias, -0.5f, gradBias);
    last = THFloatTensor_get1d(loss, 0);
    if (step == 0)
      first = last;
  }
  printf("mean squared error: %g at first, %g after %d steps\n", first, last, STEPS);

  THFloatTensor *tensors[] = {input,    matrix,     target, weight,     bias,
                              gradBias, gradWeight, output, gradOutput, loss};
  for (size_t i = 0; i < sizeof(tensors) / sizeof(*tensors); i++)
    THFloatTensor_free(tensors[i]);
  THGenerator_free(random);
  return last < first / 1000 ? EXIT_SUCCESS : EXIT_FAILURE;
}
