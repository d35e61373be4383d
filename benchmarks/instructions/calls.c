/* Makes one call of libTHNN in float, so that its instructions can be counted: calls NAME. Without a name, it lists
 * the names. */

#include <THNN.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef THFloatTensor Tensor;

static THGenerator *generator;

/* A tensor of up to four dimensions, 0 for those that it lacks, with normally distributed numbers. */
static Tensor *numbers(int64_t a, int64_t b, int64_t c, int64_t d)
{
  Tensor *tensor = d   ? THFloatTensor_newWithSize4d(a, b, c, d)
                   : c ? THFloatTensor_newWithSize3d(a, b, c)
                   : b ? THFloatTensor_newWithSize2d(a, b)
                       : THFloatTensor_newWithSize1d(a);
  THFloatTensor_normal(tensor, generator, 0, 1);
  return tensor;
}

/* A square convolution, padded so that results without a stride are as large as the image. */
static void convolve(THNNState *state, int inputs, int outputs, int size, int kernel, int stride)
{
  int padding = kernel / 2;
  THNN_FloatSpatialConvolutionMM_updateOutput(
      state, numbers(1, inputs, size, size), THFloatTensor_new(),
      numbers(outputs, inputs, kernel, kernel), numbers(outputs, 0, 0, 0), NULL, NULL, kernel,
      kernel, stride, stride, padding, padding);
}

static void winograd(THNNState *state)
{
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_WINOGRAD4);
  convolve(state, 64, 64, 28, 3, 1);
}

static void direct(THNNState *state)
{
  THNN_State_setConvolutionAlgorithm(state, THNN_CONVOLUTION_DIRECT);
  convolve(state, 64, 64, 28, 3, 1);
}

static void pointwise(THNNState *state)
{
  convolve(state, 256, 128, 14, 1, 1);
}

static void strided(THNNState *state)
{
  convolve(state, 3, 64, 112, 7, 2);
}

static void depthwise(THNNState *state)
{
  THNN_FloatSpatialDepthWiseConvolution_updateOutput(
      state, numbers(1, 64, 56, 56), THFloatTensor_new(), numbers(1, 64, 3, 3),
      numbers(1, 64, 0, 0), NULL, NULL, 3, 3, 1, 1, 1, 1);
}

static void narrowDepthwise(THNNState *state)
{
  THNN_FloatSpatialDepthWiseConvolution_updateOutput(
      state, numbers(1, 256, 7, 7), THFloatTensor_new(), numbers(1, 256, 3, 3),
      numbers(1, 256, 0, 0), NULL, NULL, 3, 3, 1, 1, 1, 1);
}

static void multiply(THNNState *state, int rows)
{
  THNN_FloatLinear_updateOutput(state, numbers(rows, 256, 0, 0), THFloatTensor_new(),
                                numbers(256, 256, 0, 0), numbers(256, 0, 0, 0), NULL);
}

static void fewRows(THNNState *state)
{
  multiply(state, 4);
}

/* Of many rows, reproducible calls alone leave no product to BLAS. */
static void reproducibleRows(THNNState *state)
{
  THNN_State_setReproducible(state, true);
  multiply(state, 128);
}

static void lstm(THNNState *state)
{
  THNN_FloatLSTMFused_updateOutput(
      state, numbers(32, 1024, 0, 0), numbers(32, 1024, 0, 0), numbers(1024, 0, 0, 0),
      numbers(1024, 0, 0, 0), numbers(32, 256, 0, 0), THFloatTensor_new(), THFloatTensor_new());
}

static void logSoftMax(THNNState *state)
{
  THNN_FloatLogSoftMax_updateOutput(state, numbers(32, 1000, 0, 0), THFloatTensor_new());
}

static void tanH(THNNState *state)
{
  THNN_FloatTanh_updateOutput(state, numbers(32, 1000, 0, 0), THFloatTensor_new());
}

static const struct {
  const char *name;
  void (*make)(THNNState *state);
} calls[] = {
    {"3x3, Winograd's", winograd},
    {"3x3, direct", direct},
    {"1x1", pointwise},
    {"7x7, stride 2", strided},
    {"depth-wise 3x3", depthwise},
    {"depth-wise 3x3 of 7x7", narrowDepthwise},
    {"product of 4 rows", fewRows},
    {"product of 128 rows, reproducible", reproducibleRows},
    {"LSTM's gates", lstm},
    {"logarithm of softmax", logSoftMax},
    {"tanh", tanH},
};

static void stop(const char *message, void *data)
{
  (void)data;
  fprintf(stderr, "calls: %s\n", message);
  exit(EXIT_FAILURE);
}

static void stopAtArgument(int argument, const char *message, void *data)
{
  (void)argument;
  stop(message, data);
}

int main(int count, char **arguments)
{
  THSetErrorHandler(stop, NULL);
  THSetArgErrorHandler(stopAtArgument, NULL);
  generator = THGenerator_new();
  THRandom_manualSeed(generator, 1);
  for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
    if (count == 1)
      puts(calls[i].name);
    else if (!strcmp(arguments[1], calls[i].name)) {
      calls[i].make(THNN_State_new()); /* the end of the process frees everything */
      return EXIT_SUCCESS;
    }
  }
  return count == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
