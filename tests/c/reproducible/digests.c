/* Reproducible results: digests of generated calls, which are the same on every processor with
 * fused multiply-adds. `test_reproducible_float write` prints what tests/data/digests is to
 * hold. */
#include "../modules/module.h"

#include <THNNExtra.h>

/* ---- Numbers, the same everywhere ------------------------------------------------------------ */

static uint64_t randomState;

static uint32_t next(void)
{
  randomState = randomState * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(randomState >> 33);
}

/* A number from `least` to `most`. */
static int64_t between(int64_t least, int64_t most)
{
  return least + (int64_t)(next() % (uint32_t)(most - least + 1));
}

/* A tensor of multiples of 2^-20 from -2 up to 2. */
static Tensor *randomTensor(Numbers sizes)
{
  Tensor *tensor = tensorOf(sizes, NUMBERS(0));
  for (int64_t i = 0; i < TENSOR(nElement)(tensor); i++)
    TENSOR(data)(tensor)[i] =
        (Real)((double)((int64_t)(next() % (1u << 22)) - (1 << 21)) / (1 << 20));
  return tensor;
}

#define RANDOM(...) randomTensor(NUMBERS(__VA_ARGS__))

static Tensor *randomLike(Tensor *like)
{
  Tensor *tensor = emptyTensor();
  TENSOR(resizeAs)(tensor, like);
  for (int64_t i = 0; i < TENSOR(nElement)(tensor); i++)
    TENSOR(data)(tensor)[i] =
        (Real)((double)((int64_t)(next() % (1u << 22)) - (1 << 21)) / (1 << 20));
  return tensor;
}

static void freeTensors(void)
{
  while (tensorCount > 0)
    TENSOR(free)(tensors[--tensorCount]);
  while (indexTensorCount > 0)
    THLongTensor_free(indexTensors[--indexTensorCount]);
}

/* ---- Digests --------------------------------------------------------------------------------- */

typedef struct Digest {
  const char *function;
  uint64_t value;
} Digest;

enum { MOST_DIGESTS = 80 };
static Digest digests[MOST_DIGESTS];
static int digestCount;

/* Adds a result to a function's digest, by the FNV-1a hash of its bytes. */
static void add(const char *function, const Tensor *result)
{
  int i = 0;
  while (i < digestCount && strcmp(digests[i].function, function) != 0)
    i++;
  if (i == digestCount)
    digests[digestCount++] = (Digest){function, 14695981039346656037u};
  const unsigned char *bytes = (const unsigned char *)TENSOR(data)(result);
  const size_t count = (size_t)TENSOR(nElement)(result) * sizeof(Real);
  for (size_t b = 0; b < count; b++)
    digests[i].value = (digests[i].value ^ bytes[b]) * 1099511628211u;
}

/* Compares all digests with those of the file. */
static void compare(void)
{
  FILE *file = fopen(DIGESTS, "r");
  if (!file) {
    checkThat(0, "digests can be read: " DIGESTS, __FILE__, __LINE__);
    return;
  }
  char function[128], message[256];
  unsigned long long wanted;
  int lines = 0;
  for (; fscanf(file, "%127s %llx", function, &wanted) == 2; lines++) {
    const Digest *found = digests;
    while (found < digests + digestCount && strcmp(found->function, function) != 0)
      found++;
    const uint64_t value = found < digests + digestCount ? found->value : 0;
    snprintf(message, sizeof message, "%s has the digest %016llx, found %016llx", function, wanted,
             (unsigned long long)value);
    checkThat(value == wanted, message, __FILE__, __LINE__);
  }
  fclose(file);
  snprintf(message, sizeof message, "the file has %d digests, found %d", digestCount, lines);
  checkThat(lines == digestCount, message, __FILE__, __LINE__);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static THNNState *state;

/* Results do not depend on threads. */
static void changeThreads(void)
{
  THNN_State_setThreads(state, (int)between(1, 3));
}

/* Few planes, and the numbers at which vectors and panels are full. */
static int64_t planes(void)
{
  static const int64_t some[] = {1, 2, 3, 4, 7, 8, 12, 16, 17, 24, 32, 40, 48, 64, 96};
  return some[between(0, sizeof some / sizeof *some - 1)];
}

static void convolveWith(int64_t in, int64_t out, int k, int s, int d, int p, int size)
{
  const int64_t batch = between(1, 3);
  Tensor *input = RANDOM((double)batch, (double)in, size, size + 3), *output = emptyTensor();
  Tensor *weight = RANDOM((double)out, (double)in, k, k), *bias = RANDOM((double)out);
  Tensor *gradInput = emptyTensor(), *gradWeight = randomLike(weight), *gradBias = randomLike(bias);
  MODULE(SpatialDilatedConvolution_updateOutput)
  (state, input, output, weight, bias, NULL, NULL, k, k, s, s, p, p, d, d);
  Tensor *gradOutput = randomLike(output);
  MODULE(SpatialDilatedConvolution_updateGradInput)
  (state, input, gradOutput, gradInput, weight, NULL, k, k, s, s, p, p, d, d);
  MODULE(SpatialDilatedConvolution_accGradParameters)
  (state, input, gradOutput, gradWeight, gradBias, NULL, NULL, k, k, s, s, p, p, d, d, 0.75);
  add("SpatialDilatedConvolution_updateOutput", output);
  add("SpatialDilatedConvolution_updateGradInput", gradInput);
  add("SpatialDilatedConvolution_accGradParameters", gradWeight);
  add("SpatialDilatedConvolution_accGradParameters", gradBias);
}

static void convolve(void)
{
  const int k = (int)between(1, 4), d = (int)between(1, 2), s = between(0, 2) ? 1 : 2;
  const int p = (int)between(0, k - 1), size = (k - 1) * d + (int)between(1, 14);
  const int64_t in = planes(), out = planes();
  convolveWith(in, out, k, s, d, p, size);
}

/* Sizes for which algorithms with fewer multiplications pay. */
static void convolveMany(void)
{
  const int64_t in = between(16, 80), out = between(16, 80);
  const int size = (int)between(8, 24);
  convolveWith(in, out, 3, 1, 1, 1, size);
}

static void convolveTransposed(void)
{
  const int k = (int)between(1, 4), s = (int)between(1, 2), p = (int)between(0, (k - 1) / 2);
  const int64_t batch = between(1, 2), in = planes(), out = planes();
  Tensor *input = RANDOM((double)batch, (double)in, (double)between(2, 8), (double)between(2, 8));
  Tensor *weight = RANDOM((double)in, (double)out, k, k), *bias = RANDOM((double)out);
  Tensor *output = emptyTensor(), *gradInput = emptyTensor();
  Tensor *gradWeight = randomLike(weight), *gradBias = randomLike(bias);
  MODULE(SpatialFullConvolution_updateOutput)
  (state, input, output, weight, bias, NULL, NULL, k, k, s, s, p, p, 0, 0);
  Tensor *gradOutput = randomLike(output);
  MODULE(SpatialFullConvolution_updateGradInput)
  (state, input, gradOutput, gradInput, weight, NULL, k, k, s, s, p, p, 0, 0);
  MODULE(SpatialFullConvolution_accGradParameters)
  (state, input, gradOutput, gradWeight, gradBias, NULL, NULL, k, k, s, s, p, p, 0, 0, 1);
  add("SpatialFullConvolution_updateOutput", output);
  add("SpatialFullConvolution_updateGradInput", gradInput);
  add("SpatialFullConvolution_accGradParameters", gradWeight);
  add("SpatialFullConvolution_accGradParameters", gradBias);
}

static void convolvePlanes(void)
{
  const int k = (int)between(1, 5), s = (int)between(1, 2), p = (int)between(0, k / 2);
  const int64_t batch = between(1, 3), in = planes(), multiplier = between(1, 2);
  const int size = k + (int)between(0, 20);
  Tensor *input = RANDOM((double)batch, (double)in, size, size), *output = emptyTensor();
  Tensor *weight = RANDOM((double)multiplier, (double)in, k, k);
  Tensor *bias = RANDOM((double)multiplier, (double)in), *gradInput = emptyTensor();
  Tensor *gradWeight = randomLike(weight), *gradBias = randomLike(bias);
  MODULE(SpatialDepthWiseConvolution_updateOutput)
  (state, input, output, weight, bias, NULL, NULL, k, k, s, s, p, p);
  Tensor *gradOutput = randomLike(output);
  MODULE(SpatialDepthWiseConvolution_updateGradInput)
  (state, input, gradOutput, gradInput, weight, NULL, NULL, k, k, s, s, p, p);
  MODULE(SpatialDepthWiseConvolution_accGradParameters)
  (state, input, gradOutput, gradWeight, gradBias, NULL, NULL, k, k, s, s, p, p, 1);
  add("SpatialDepthWiseConvolution_updateOutput", output);
  add("SpatialDepthWiseConvolution_updateGradInput", gradInput);
  add("SpatialDepthWiseConvolution_accGradParameters", gradWeight);
  add("SpatialDepthWiseConvolution_accGradParameters", gradBias);
}

static void convolveLocally(void)
{
  const int64_t batch = between(1, 9), in = between(1, 9), out = planes(), w = between(3, 6);
  Tensor *input = RANDOM((double)batch, (double)in, (double)w, (double)w), *output = emptyTensor();
  Tensor *weight = RANDOM((double)w, (double)w, (double)out, (double)in, 3, 3);
  Tensor *bias = RANDOM((double)out, (double)w, (double)w), *gradInput = emptyTensor();
  Tensor *gradWeight = randomLike(weight), *gradBias = randomLike(bias);
  MODULE(SpatialConvolutionLocal_updateOutput)
  (state, input, output, weight, bias, NULL, NULL, 3, 3, 1, 1, 1, 1, w, w, w, w);
  Tensor *gradOutput = randomLike(output);
  MODULE(SpatialConvolutionLocal_updateGradInput)
  (state, input, gradOutput, gradInput, weight, NULL, NULL, 3, 3, 1, 1, 1, 1, w, w, w, w);
  MODULE(SpatialConvolutionLocal_accGradParameters)
  (state, input, gradOutput, gradWeight, gradBias, NULL, NULL, 3, 3, 1, 1, 1, 1, w, w, w, w, 2);
  add("SpatialConvolutionLocal_updateOutput", output);
  add("SpatialConvolutionLocal_updateGradInput", gradInput);
  add("SpatialConvolutionLocal_accGradParameters", gradWeight);
  add("SpatialConvolutionLocal_accGradParameters", gradBias);
}

static void convolveVolumes(void)
{
  const int64_t k = between(1, 3), in = planes(), out = planes();
  const int s = (int)between(1, 2), p = (int)between(0, k - 1);
  Tensor *input = RANDOM(2, (double)in, (double)(k + between(0, 4)), 6, 7);
  Tensor *weight = RANDOM((double)out, (double)in, (double)k, (double)k, (double)k);
  Tensor *bias = RANDOM((double)out), *output = emptyTensor(), *gradInput = emptyTensor();
  Tensor *gradWeight = randomLike(weight), *gradBias = randomLike(bias);
  MODULE(VolumetricConvolution_updateOutput)
  (state, input, output, weight, bias, NULL, NULL, s, s, s, p, p, p);
  Tensor *gradOutput = randomLike(output);
  MODULE(VolumetricConvolution_updateGradInput)
  (state, input, gradOutput, gradInput, weight, NULL, s, s, s, p, p, p);
  MODULE(VolumetricConvolution_accGradParameters)
  (state, input, gradOutput, gradWeight, gradBias, NULL, NULL, s, s, s, p, p, p, 1);
  add("VolumetricConvolution_updateOutput", output);
  add("VolumetricConvolution_updateGradInput", gradInput);
  add("VolumetricConvolution_accGradParameters", gradWeight);
  add("VolumetricConvolution_accGradParameters", gradBias);
}

static void convolveFrames(void)
{
  const int kW = (int)between(1, 4), dW = (int)between(1, 2), in = (int)planes();
  const int out = (int)planes();
  const int64_t frames = kW + between(0, 60);
  Tensor *input = RANDOM(2, (double)frames, in), *output = emptyTensor();
  Tensor *weight = RANDOM(out, kW * in), *bias = RANDOM(out), *gradInput = emptyTensor();
  Tensor *gradWeight = randomLike(weight), *gradBias = randomLike(bias);
  MODULE(TemporalConvolution_updateOutput)(state, input, output, weight, bias, kW, dW, in, out);
  Tensor *gradOutput = randomLike(output);
  MODULE(TemporalConvolution_updateGradInput)(state, input, gradOutput, gradInput, weight, kW, dW);
  MODULE(TemporalConvolution_accGradParameters)
  (state, input, gradOutput, gradWeight, gradBias, kW, dW, 1);
  add("TemporalConvolution_updateOutput", output);
  add("TemporalConvolution_updateGradInput", gradInput);
  add("TemporalConvolution_accGradParameters", gradWeight);
  add("TemporalConvolution_accGradParameters", gradBias);
}

static void multiply(void)
{
  static const int64_t batches[] = {1, 2, 3, 5, 16, 20, 21, 33, 64, 130};
  const double batch = (double)batches[between(0, 9)];
  const double in = (double)between(1, 700), out = (double)between(1, 150);
  Tensor *input = RANDOM(batch, in), *weight = RANDOM(out, in), *bias = RANDOM(out);
  Tensor *output = emptyTensor(), *gradInput = emptyTensor();
  Tensor *gradWeight = randomLike(weight), *gradBias = randomLike(bias);
  MODULE(Linear_updateOutput)(state, input, output, weight, bias, NULL);
  Tensor *gradOutput = randomLike(output);
  MODULE(Linear_updateGradInput)(state, input, gradOutput, gradInput, weight);
  MODULE(Linear_accGradParameters)
  (state, input, gradOutput, NULL, weight, bias, gradWeight, gradBias, NULL, 0.5);
  add("Linear_updateOutput", output);
  add("Linear_updateGradInput", gradInput);
  add("Linear_accGradParameters", gradWeight);
  add("Linear_accGradParameters", gradBias);
}

static void recur(void)
{
  const double steps = (double)between(1, 4), batch = (double)between(1, 24);
  const double units = (double)between(1, 70);
  Tensor *gates = RANDOM(steps, batch, 4 * units), *u = RANDOM(4 * units, units);
  Tensor *output = RANDOM(steps + 1, batch, units), *cells = RANDOM(steps + 1, batch, units);
  Tensor *bias1 = RANDOM(4 * units), *bias2 = RANDOM(4 * units);
  MODULE(LSTMSteps_updateOutput)(state, gates, u, bias1, bias2, output, cells, false);
  add("LSTMSteps_updateOutput", output);
  add("LSTMSteps_updateOutput", cells);
  Tensor *input = RANDOM(steps, batch, 3 * units), *v = RANDOM(3 * units, units);
  Tensor *bias3 = RANDOM(3 * units), *bias4 = RANDOM(3 * units);
  Tensor *hidden = RANDOM(steps + 1, batch, units), *storage = RANDOM(steps, batch, 5 * units);
  MODULE(GRUSteps_updateOutput)(state, input, v, bias3, bias4, hidden, storage, false);
  add("GRUSteps_updateOutput", hidden);
  Tensor *products = RANDOM(steps, batch, units), *w = RANDOM(units, units);
  Tensor *bias = RANDOM(units), *states = RANDOM(steps + 1, batch, units);
  MODULE(RNNSteps_updateOutput)(state, products, w, bias, states, batch > 12, false);
  add("RNNSteps_updateOutput", states);
  Tensor *products4 = RANDOM(steps, batch, 4 * units), *w4 = RANDOM(units, 4 * units);
  Tensor *cells4 = RANDOM(steps + 1, batch, units), *gradGates = emptyTensor();
  Tensor *gradState = RANDOM(batch, units), *gradCell = RANDOM(batch, units);
  MODULE(SeqLSTM_updateOutput)(state, products4, w4, NULL, NULL, states, cells4);
  add("SeqLSTM_updateOutput", states);
  MODULE(SeqLSTM_updateGradInput)
  (state, products4, w4, NULL, cells4, NULL, gradGates, gradState, gradCell);
  add("SeqLSTM_updateGradInput", gradGates);
  Tensor *products3 = RANDOM(steps, batch, 3 * units), *w3 = RANDOM(units, 3 * units);
  Tensor *reset = emptyTensor();
  MODULE(SeqGRU_updateOutput)(state, products3, w3, NULL, NULL, states, reset);
  add("SeqGRU_updateOutput", states);
  MODULE(SeqGRU_updateGradInput)(state, products3, w3, NULL, states, NULL, gradGates, gradState);
  add("SeqGRU_updateGradInput", gradGates);
}

static void map(void)
{
  Tensor *x = RANDOM(5, (double)between(1, 300)), *g = randomLike(x), *y = emptyTensor();
  Tensor *gradInput = emptyTensor();
  for (int64_t i = 0; i < TENSOR(nElement)(x); i += 3)
    TENSOR(data)(x)[i] *= 16;
#define FORWARD(NAME)                                                                              \
  MODULE(NAME##_updateOutput)(state, x, y);                                                        \
  add(#NAME "_updateOutput", y)
#define BACKWARD(NAME, ...)                                                                        \
  MODULE(NAME##_updateGradInput)(state, x, g, gradInput, __VA_ARGS__);                             \
  add(#NAME "_updateGradInput", gradInput)
  FORWARD(GELU);
  MODULE(GELU_updateGradInput)(state, x, g, gradInput);
  add("GELU_updateGradInput", gradInput);
  FORWARD(GELUTanh);
  MODULE(GELUTanh_updateGradInput)(state, x, g, gradInput);
  add("GELUTanh_updateGradInput", gradInput);
  FORWARD(SiLU);
  MODULE(SiLU_updateGradInput)(state, x, g, gradInput);
  add("SiLU_updateGradInput", gradInput);
  Tensor *noise = emptyTensor();
  MODULE(Dropout_updateOutput)(state, x, y, noise, 0.25, 11);
  add("Dropout_updateOutput", y);
  add("Dropout_updateOutput", noise);
  FORWARD(Tanh);
  BACKWARD(Tanh, y);
  FORWARD(Sigmoid);
  BACKWARD(Sigmoid, y);
  FORWARD(SoftMax);
  BACKWARD(SoftMax, y);
  FORWARD(LogSoftMax);
  BACKWARD(LogSoftMax, y);
  MODULE(LogSigmoid_updateOutput)(state, x, y, NULL);
  add("LogSigmoid_updateOutput", y);
  BACKWARD(LogSigmoid, NULL);
}

static void classify(void)
{
  const double classes = (double)between(2, 70);
  Tensor *x = RANDOM(3, classes), *gradInput = emptyTensor();
  THLongTensor *target = INDICES_OF((3), 1, classes, 2);
  for (int p = 1; p <= 2; p++) {
    MODULE(MultiMarginCriterion_updateGradInput)(state, x, target, gradInput, true, p, NULL, 1);
    add("MultiMarginCriterion_updateGradInput", gradInput);
  }
}

static void mix(void)
{
  const double batch = (double)between(1, 40), centres = (double)between(1, 300);
  Tensor *x1 = RANDOM(batch), *x2 = RANDOM(batch), *gradOutput = RANDOM(batch);
  Tensor *weight = RANDOM(batch, centres), *std1 = randomLike(weight), *std2 = randomLike(weight);
  Tensor *correlation = randomLike(weight), *mean1 = randomLike(weight);
  Tensor *mean2 = randomLike(weight), *grads[6], *output = emptyTensor(), *shares = emptyTensor();
  for (int64_t i = 0; i < TENSOR(nElement)(weight); i++) {
    Real *const of[] = {TENSOR(data)(weight) + i, TENSOR(data)(std1) + i, TENSOR(data)(std2) + i};
    for (int k = 0; k < 3; k++)
      *of[k] = *of[k] / 4 + (Real)0.75;
    TENSOR(data)(correlation)[i] /= 4;
  }
  MODULE(GaussianMixture_updateOutput)
  (state, x1, x2, weight, mean1, mean2, std1, std2, correlation, output, shares);
  add("GaussianMixture_updateOutput", output);
  add("GaussianMixture_updateOutput", shares);
  for (int i = 0; i < 6; i++)
    grads[i] = emptyTensor();
  MODULE(GaussianMixture_updateGradInput)
  (state, x1, x2, weight, mean1, mean2, std1, std2, correlation, gradOutput, grads[0], grads[1],
   grads[2], grads[3], grads[4], grads[5]);
  for (int i = 0; i < 6; i++)
    add("GaussianMixture_updateGradInput", grads[i]);
}

static void resample(void)
{
  const int height = (int)between(2, 40), width = (int)between(2, 40);
  Tensor *input = RANDOM(2, 3, 9, 11), *output = emptyTensor();
  MODULE(SpatialUpSamplingBilinear_updateOutput)(state, input, output, height, width);
  add("SpatialUpSamplingBilinear_updateOutput", output);
}

/* Samples of one group, or of several, with planes of one to many positions. */
static void normalise(void)
{
  static const int64_t lengths[] = {1, 3, 16, 37, 300};
  const int64_t groups = between(1, 4), planes = groups * between(1, 40);
  const double batch = (double)between(1, 70), length = (double)lengths[between(0, 4)];
  Tensor *input = RANDOM(batch, (double)planes, length), *output = emptyTensor();
  Tensor *weight = RANDOM((double)planes), *bias = RANDOM((double)planes);
  Tensor *mean = emptyTensor(), *deviation = emptyTensor(), *gradInput = emptyTensor();
  Tensor *gradWeight = randomLike(weight), *gradBias = randomLike(bias);
  MODULE(GroupNormalization_updateOutput)
  (state, input, output, weight, bias, mean, deviation, groups, 1e-5);
  Tensor *gradOutput = randomLike(output);
  MODULE(GroupNormalization_backward)
  (state, input, gradOutput, gradInput, gradWeight, gradBias, weight, mean, deviation, groups, 0.5);
  add("GroupNormalization_updateOutput", output);
  add("GroupNormalization_backward", gradInput);
  add("GroupNormalization_backward", gradWeight);
  add("GroupNormalization_backward", gradBias);

  Tensor *rows = RANDOM(batch, (double)planes);
  MODULE(LayerNormalization_updateOutput)
  (state, rows, output, weight, bias, mean, deviation, 1e-5);
  Tensor *gradRows = randomLike(rows);
  MODULE(LayerNormalization_updateGradInput)
  (state, rows, gradRows, gradInput, weight, mean, deviation);
  add("LayerNormalization_updateOutput", output);
  add("LayerNormalization_updateGradInput", gradInput);
}

static void convolveGroups(void)
{
  const int groups = (int)between(2, 5), k = (int)between(1, 3), s = (int)between(1, 2);
  const int64_t in = groups * between(1, 20), out = groups * between(1, 20);
  const int size = (int)between(5, 16), p = k / 2;
  Tensor *input = RANDOM(2, (double)in, size, size), *output = emptyTensor();
  Tensor *weight = RANDOM((double)out, (double)(in / groups), k, k), *bias = RANDOM((double)out);
  Tensor *gradInput = emptyTensor(), *gradWeight = randomLike(weight), *gradBias = randomLike(bias);
  MODULE(GroupedConvolution_updateOutput)
  (state, input, output, weight, bias, false, groups, 1, s, s, 0, p, p, 0, p, p, 1, 1, 1);
  Tensor *gradOutput = randomLike(output);
  MODULE(GroupedConvolution_updateGradInput)
  (state, gradOutput, gradInput, weight, 1, size, size, false, false, groups, 1, s, s, 0, p, p, 0,
   p, p, 1, 1, 1);
  MODULE(GroupedConvolution_accGradParameters)
  (state, input, gradOutput, gradWeight, gradBias, 2, false, groups, 1, s, s, 0, p, p, 0, p, p, 1,
   1, 1, 0.5);
  add("GroupedConvolution_updateOutput", output);
  add("GroupedConvolution_updateGradInput", gradInput);
  add("GroupedConvolution_accGradParameters", gradWeight);
  add("GroupedConvolution_accGradParameters", gradBias);
}

static void convolveGroupsTransposed(void)
{
  const int groups = (int)between(2, 4), k = (int)between(2, 4), s = (int)between(1, 2);
  const int64_t in = groups * between(1, 16), out = groups * between(1, 16);
  const int size = (int)between(3, 9), large = (size - 1) * s + k;
  Tensor *input = RANDOM(2, (double)in, size, size), *output = emptyTensor();
  Tensor *weight = RANDOM((double)in, (double)(out / groups), k, k), *bias = RANDOM((double)out);
  Tensor *gradInput = emptyTensor(), *gradWeight = randomLike(weight), *gradBias = randomLike(bias);
  MODULE(GroupedFullConvolution_updateOutput)
  (state, input, output, weight, bias, 1, large, large, groups, 1, s, s, 0, 0, 0, 0, 0, 0, 1, 1, 1);
  Tensor *gradOutput = randomLike(output);
  MODULE(GroupedFullConvolution_updateGradInput)
  (state, gradOutput, gradInput, weight, 1, size, size, false, groups, 1, s, s, 0, 0, 0, 0, 0, 0, 1,
   1, 1);
  MODULE(GroupedFullConvolution_accGradParameters)
  (state, input, gradOutput, gradWeight, gradBias, 2, groups, 1, s, s, 0, 0, 0, 0, 0, 0, 1, 1, 1,
   0.5);
  add("GroupedFullConvolution_updateOutput", output);
  add("GroupedFullConvolution_updateGradInput", gradInput);
  add("GroupedFullConvolution_accGradParameters", gradWeight);
  add("GroupedFullConvolution_accGradParameters", gradBias);
}

/* Whatever the activation, the numbers that it takes make it do something. */
static void convolveJoined(void)
{
  const int64_t in = planes(), out = planes();
  const int size = (int)between(4, 20);
  const int activation = (int)between(THNN_ACTIVATION_NONE, THNN_ACTIVATION_SIGMOID);
  Tensor *input = RANDOM(2, (double)in, size, size), *output = emptyTensor();
  Tensor *weight = RANDOM((double)out, (double)in, 3, 3), *bias = RANDOM((double)out);
  Tensor *addend = RANDOM(2, (double)out, size, size);
  MODULE(SpatialConvolutionJoined_updateOutput)
  (state, input, output, weight, bias, addend, activation, 0.25, 0.5, 3, 3, 1, 1, 1, 1, 1, 1);
  add("SpatialConvolutionJoined_updateOutput", output);
  Tensor *spread = RANDOM((double)in, (double)out, 4, 4), *more = emptyTensor();
  MODULE(SpatialFullConvolutionJoined_updateOutput)
  (state, input, more, spread, bias, NULL, activation, 0.25, 0.5, 4, 4, 2, 2, 1, 1, 1, 1, 0, 0);
  add("SpatialFullConvolutionJoined_updateOutput", more);
}

static void sumUp(void)
{
  Tensor *input = RANDOM((double)between(1, 90), (double)between(1, 400)), *output = emptyTensor();
  for (int dim = 1; dim <= 2; dim++) {
    MODULE(Reduction_updateOutput)(state, input, output, NULL, dim, false, 2);
    add("Reduction_updateOutput", output);
  }
}

static void interpolate(void)
{
  const int from = (int)between(2, 20), to = (int)between(1, 45);
  const double step = (double)from / to;
  Tensor *input = RANDOM(2, 3, 1, from, from), *output = emptyTensor(), *gradInput = emptyTensor();
  for (int mode = 0; mode <= 4; mode++) {
    MODULE(Interpolation_updateOutput)(state, input, output, 1, to, to, 1, step, step, mode);
    Tensor *gradOutput = randomLike(output);
    MODULE(Interpolation_updateGradInput)
    (state, gradOutput, gradInput, 1, from, from, 1, step, step, mode);
    add("Interpolation_updateOutput", output);
    add("Interpolation_updateGradInput", gradInput);
  }
}

/* Makes `count` calls, each from numbers of its own. */
static void repeat(int count, void (*call)(void))
{
  for (int i = 0; i < count; i++) {
    randomState = (uint64_t)i + 1;
    for (int skipped = 0; skipped < 8; skipped++)
      next();
    changeThreads();
    call();
    freeTensors();
  }
}

int main(int argc, char **argv)
{
  catchErrors();
  state = THNN_State_new();
  if (!THNN_simdReproduces()) {
    CHECK_RAISES(THNN_State_setReproducible(state, true),
                 "expected false without fused multiply-adds");
    THNN_State_free(state);
    return checkResult();
  }
  THNN_State_setReproducible(state, true);
  THNN_State_setMinimumWork(state, 1);
  repeat(60, convolve);
  repeat(12, convolveMany);
  repeat(30, convolveTransposed);
  repeat(30, convolvePlanes);
  repeat(10, convolveLocally);
  repeat(16, convolveVolumes);
  repeat(20, convolveFrames);
  repeat(40, multiply);
  repeat(12, recur);
  repeat(12, map);
  repeat(12, classify);
  repeat(12, resample);
  repeat(12, mix);
  repeat(30, normalise);
  repeat(16, convolveGroups);
  repeat(16, convolveGroupsTransposed);
  repeat(16, convolveJoined);
  repeat(12, sumUp);
  repeat(12, interpolate);
  THNN_State_free(state);
  if (argc > 1 && !strcmp(argv[1], "write"))
    for (int i = 0; i < digestCount; i++)
      printf("%s %016llx\n", digests[i].function, (unsigned long long)digests[i].value);
  else
    compare();
  return finish();
}
