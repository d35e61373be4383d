/* Linear layer over sparse samples. The input lists the elements that are not 0:
 *   entries x 3, each (sample, feature, value); or, for the legacy functions,
 *   batch x entries x 2, each (feature, value)
 * in any order, features and samples counted from 1. Entries of value 0 are ignored.
 *   weight  outputs x inputs      bias  outputs      output, gradOutput  batch x outputs
 * output = bias + weight * sample;  gradWeight += scale * gradOutput * sample^T + weightDecay *
 * weight;  gradBias += scale * gradOutput, summed over the batch. Zeroing gradients and updating
 * parameters touch only the columns of features that the last input has.
 *
 * Threads share the rows of weight, and go through all entries for each row. */
#include <stdio.h>

#include "generic/linear/checks.h"
#include "generic/shared/matrix.h"

#ifdef THNN_ONCE
THNNSparseLinear THNN_SparseLinear_shapeCheck(const char *function, bool legacy, THNNShape input,
                                              THNNShape weight, THNNShape bias)
{
  THNNSparseLinear sizes = {0};
  if (legacy) {
    THNN_checkDimensions(function, input, 3, 3, "batch x entries x 2 (feature, value)");
    THNN_checkSize(function, input, 2, 2, "feature, value");
    sizes.batch = input.size[0];
    sizes.entries = THNN_elements(function, input) / 2;
  } else {
    THNN_checkDimensions(function, input, 2, 2, "entries x 3 (sample, feature, value)");
    THNN_checkSize(function, input, 1, 3, "sample, feature, value");
    sizes.entries = input.size[0];
  }
  THNN_checkDimensions(function, weight, 2, 2, "outputs x inputs");
  THNN_elements(function, weight);
  sizes.outputs = weight.size[0];
  sizes.inputs = weight.size[1];
  THNN_checkVector(function, bias, sizes.outputs, "outputs");
  return sizes;
}
#endif

/* An input, and how errors name it. */
typedef struct SparseInput {
  const char *function;
  THTensor *tensor;
  const char *name;
  int position;
  bool legacy;
} SparseInput;

static void rejectIndex(const SparseInput *input, const char *what, int64_t last, double found)
{
  char expected[64], text[32];
  snprintf(expected, sizeof expected, "%s indices from 1 to %lld", what, (long long)last);
  snprintf(text, sizeof text, "%g", found);
  THNN_reject(input->function, input->name, input->position, expected, text);
}

static bool isIndex(real x, int64_t last)
{
  return x >= 1 && x < (double)last + 1;
}

/* Part `part` of entry i, read from the tensor, which can be strided. */
static real partOf(const SparseInput *input, int64_t i, int part)
{
  const THTensor *t = input->tensor;
  const real *data = t->storage->data + t->storageOffset;
  if (input->legacy)
    return data[i / t->size[1] * t->stride[0] + i % t->size[1] * t->stride[1] +
                part * t->stride[2]];
  return data[i * t->stride[0] + part * t->stride[1]];
}

enum { SAMPLE_DOES_NOT_MATTER = -1 };

/* Checks that the feature of every entry is a column of the weight, and its sample at most
 * `samples`. */
static void checkEntries(const SparseInput *input, int64_t entries, int64_t samples, int64_t inputs)
{
  for (int64_t i = 0; i < entries; i++) {
    if (partOf(input, i, input->legacy ? 1 : 2) == 0)
      continue;
    const real feature = partOf(input, i, input->legacy ? 0 : 1);
    if (!isIndex(feature, inputs))
      rejectIndex(input, "feature", inputs, feature);
    if (!input->legacy && samples != SAMPLE_DOES_NOT_MATTER) {
      const real sample = partOf(input, i, 0);
      if (!isIndex(sample, samples))
        rejectIndex(input, "sample", samples, sample);
    }
  }
}

/* The number of entries up to the last one whose sample is at most `samples`; later ones are
 * ignored. */
static int64_t entriesOfSamples(const SparseInput *input, int64_t entries, int64_t samples)
{
  while (entries > 0 && partOf(input, entries - 1, 0) >= (double)samples + 1)
    entries--;
  return entries;
}

/* An entry with indices from 0. */
typedef struct Entry {
  int64_t sample, feature;
  real value;
} Entry;

/* Lists the entries whose value is not 0, from dense data, and returns their number. */
static int64_t listEntries(bool legacy, int64_t batch, int64_t entries, const real *data,
                           Entry *list)
{
  int64_t count = 0;
  const int64_t perSample = legacy ? entries / batch : 1;
  for (int64_t i = 0; i < entries; i++) {
    const real *entry = data + i * (legacy ? 2 : 3);
    const real value = entry[legacy ? 1 : 2];
    if (value != 0)
      list[count++] = (Entry){legacy ? i / perSample : (int64_t)entry[0] - 1,
                              (int64_t)entry[legacy ? 0 : 1] - 1, value};
  }
  return count;
}

static int threadsFor(const THNNState *state, const THNNSparseLinear *sizes)
{
  return THNN_threads(state, sizes->outputs, (double)sizes->outputs * (double)sizes->entries);
}

/* Computes output, with a row per sample, from the first `sizes.entries` entries. */
static void forward(THNNState *state, const SparseInput *source, THNNSparseLinear sizes,
                    bool resize, THTensor *output, THTensor *weight, THTensor *bias)
{
  const int64_t outputSize[] = {sizes.batch, sizes.outputs};
  THTensor *input = source->tensor;
  THNNPlan plan;
  THNN_planStart(&plan, source->function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out =
      resize ? THNN_planOut(&plan, output, 3, 2, outputSize) : THNN_planInOut(&plan, output, 3);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 4);
  THNNBuffer *start = THNN_planIn(&plan, bias, 5);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)sizes.entries * sizeof(Entry));
  THNN_planAcquire(&plan);

  const Entry *entry = scratch->data;
  const int64_t count =
      listEntries(source->legacy, sizes.batch, sizes.entries, in->data, scratch->data);
  THNN_(matrix_repeatRow)(state, sizes.batch, sizes.outputs, start->data, out->data, sizes.outputs);
#pragma omp parallel for num_threads(threadsFor(state, &sizes)) schedule(static)
  for (int64_t o = 0; o < sizes.outputs; o++) {
    const real *row = (const real *)matrix->data + o * sizes.inputs;
    real *y = (real *)out->data + o;
    for (int64_t i = 0; i < count; i++)
      y[entry[i].sample * sizes.outputs] += entry[i].value * row[entry[i].feature];
  }
  THNN_planRelease(&plan);
}

void THNN_(SparseLinear_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                      THTensor *weight, THTensor *bias)
{
  const char *function = "SparseLinear_updateOutput";
  const SparseInput source = {function, input, "input", 2, false};
  THNNSparseLinear sizes = THNN_SparseLinear_shapeCheck(function, false, THNN_SHAPE(input, 2),
                                                        THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5));
  THNN_checkDimensions(function, THNN_SHAPE(output, 3), 2, 2, "batch x outputs");
  THNN_checkSize(function, THNN_SHAPE(output, 3), 1, sizes.outputs, "rows of weight");
  sizes.batch = output->size[0];
  sizes.entries = entriesOfSamples(&source, sizes.entries, sizes.batch);
  checkEntries(&source, sizes.entries, sizes.batch, sizes.inputs);
  forward(state, &source, sizes, false, output, weight, bias);
}

void THNN_(SparseLinear_legacyUpdateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THTensor *weight, THTensor *bias)
{
  const char *function = "SparseLinear_legacyUpdateOutput";
  const SparseInput source = {function, input, "input", 2, true};
  const THNNSparseLinear sizes = THNN_SparseLinear_shapeCheck(
      function, true, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5));
  checkEntries(&source, sizes.entries, sizes.batch, sizes.inputs);
  forward(state, &source, sizes, true, output, weight, bias);
}

/* Adds to gradWeight and gradBias. gradOutput has a row for each of `sizes.batch` samples. */
static void addGradients(THNNState *state, const SparseInput *source, THNNSparseLinear sizes,
                         THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                         THTensor *weight, double weightDecay, double scale)
{
  THTensor *input = source->tensor;
  THNNPlan plan;
  THNN_planStart(&plan, source->function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planInOut(&plan, gradWeight, 4);
  THNNBuffer *toBias = THNN_planInOut(&plan, gradBias, 5);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 6);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)sizes.entries * sizeof(Entry));
  THNN_planAcquire(&plan);

  const Entry *entry = scratch->data;
  const int64_t count =
      listEntries(source->legacy, sizes.batch, sizes.entries, in->data, scratch->data);
#pragma omp parallel for num_threads(threadsFor(state, &sizes)) schedule(static)
  for (int64_t o = 0; o < sizes.outputs; o++) {
    const real *gradient = (const real *)from->data + o;
    real *row = (real *)to->data + o * sizes.inputs;
    for (int64_t i = 0; i < count; i++)
      row[entry[i].feature] +=
          (real)(scale * entry[i].value) * gradient[entry[i].sample * sizes.outputs];
    if (weightDecay != 0)
      THNN_(simd).pointwise.axpy(sizes.inputs, (real)weightDecay,
                                 (const real *)matrix->data + o * sizes.inputs, row);
  }
  THNN_(matrix_addRowSum)(state, sizes.batch, sizes.outputs, (real)scale, from->data, sizes.outputs,
                          toBias->data);
  THNN_planRelease(&plan);
}

static THNNSparseLinear checkGradients(const SparseInput *source, THNNShape gradWeight,
                                       THNNShape gradBias, THNNShape weight)
{
  const THTensor *input = source->tensor;
  const THNNSparseLinear sizes = THNN_SparseLinear_shapeCheck(
      source->function, source->legacy, THNN_SHAPE(input, 2), gradWeight, gradBias);
  THNN_checkSizes(source->function, weight, 2, gradWeight.size, "the shape of gradWeight");
  return sizes;
}

void THNN_(SparseLinear_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                           THTensor *gradWeight, THTensor *gradBias,
                                           THTensor *weight, THTensor *bias, accreal weightDecay,
                                           accreal scale)
{
  const char *function = "SparseLinear_accGradParameters";
  (void)bias;
  const SparseInput source = {function, input, "input", 2, false};
  THNNSparseLinear sizes = checkGradients(&source, THNN_SHAPE(gradWeight, 4),
                                          THNN_SHAPE(gradBias, 5), THNN_SHAPE(weight, 6));
  THNN_checkDimensions(function, THNN_SHAPE(gradOutput, 3), 2, 2, "batch x outputs");
  THNN_checkSize(function, THNN_SHAPE(gradOutput, 3), 1, sizes.outputs, "rows of gradWeight");
  sizes.batch = gradOutput->size[0];
  checkEntries(&source, sizes.entries, sizes.batch, sizes.inputs);
  addGradients(state, &source, sizes, gradOutput, gradWeight, gradBias, weight, weightDecay, scale);
}

void THNN_(SparseLinear_legacyAccGradParameters)(THNNState *state, THTensor *input,
                                                 THTensor *gradOutput, THTensor *gradWeight,
                                                 THTensor *gradBias, THTensor *weight,
                                                 THTensor *bias, accreal weightDecay, accreal scale)
{
  const char *function = "SparseLinear_legacyAccGradParameters";
  (void)bias;
  const SparseInput source = {function, input, "input", 2, true};
  const THNNSparseLinear sizes = checkGradients(&source, THNN_SHAPE(gradWeight, 4),
                                                THNN_SHAPE(gradBias, 5), THNN_SHAPE(weight, 6));
  const int64_t wanted[] = {sizes.batch, sizes.outputs};
  THNN_checkElements(function, THNN_SHAPE(gradOutput, 3), THNN_product(2, wanted),
                     "batch x outputs");
  checkEntries(&source, sizes.entries, SAMPLE_DOES_NOT_MATTER, sizes.inputs);
  addGradients(state, &source, sizes, gradOutput, gradWeight, gradBias, weight, weightDecay, scale);
}

/* Lists the features of entries whose value is not 0, each once, and returns their number.
 * `isListed` is scratch with a mark for every feature. */
static int64_t listFeatures(bool legacy, const THNNSparseLinear *sizes, const real *data,
                            bool *isListed, int64_t *features)
{
  int64_t count = 0;
  for (int64_t f = 0; f < sizes->inputs; f++)
    isListed[f] = false;
  for (int64_t i = 0; i < sizes->entries; i++) {
    const real *entry = data + i * (legacy ? 2 : 3);
    if (entry[legacy ? 1 : 2] == 0)
      continue;
    const int64_t feature = (int64_t)entry[legacy ? 0 : 1] - 1;
    if (!isListed[feature])
      features[count++] = feature;
    isListed[feature] = true;
  }
  return count;
}

static void zeroGradients(THNNState *state, const char *function, bool legacy, THTensor *gradWeight,
                          THTensor *gradBias, THTensor *lastInput)
{
  const SparseInput source = {function, lastInput, "lastInput", 4, legacy};
  const THNNSparseLinear sizes =
      THNN_SparseLinear_shapeCheck(function, legacy, THNN_SHAPE(lastInput, 4),
                                   THNN_SHAPE(gradWeight, 2), THNN_SHAPE(gradBias, 3));
  checkEntries(&source, sizes.entries, SAMPLE_DOES_NOT_MATTER, sizes.inputs);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *to = THNN_planInOut(&plan, gradWeight, 2);
  THNNBuffer *toBias = THNN_planInOut(&plan, gradBias, 3);
  THNNBuffer *in = THNN_planIn(&plan, lastInput, 4);
  THNNBuffer *marks = THNN_planScratch(&plan, (size_t)sizes.inputs * sizeof(bool));
  THNNBuffer *list = THNN_planScratch(&plan, (size_t)sizes.entries * sizeof(int64_t));
  THNN_planAcquire(&plan);

  const int64_t *features = list->data;
  const int64_t count = listFeatures(legacy, &sizes, in->data, marks->data, list->data);
#pragma omp parallel for num_threads(threadsFor(state, &sizes)) schedule(static)
  for (int64_t o = 0; o < sizes.outputs; o++)
    for (int64_t i = 0; i < count; i++)
      ((real *)to->data)[o * sizes.inputs + features[i]] = 0;
  THNN_(simd).pointwise.fill(sizes.outputs, 0, toBias->data);
  THNN_planRelease(&plan);
}

void THNN_(SparseLinear_zeroGradParameters)(THNNState *state, THTensor *gradWeight,
                                            THTensor *gradBias, THTensor *lastInput)
{
  zeroGradients(state, "SparseLinear_zeroGradParameters", false, gradWeight, gradBias, lastInput);
}

void THNN_(SparseLinear_legacyZeroGradParameters)(THNNState *state, THTensor *gradWeight,
                                                  THTensor *gradBias, THTensor *lastInput)
{
  zeroGradients(state, "SparseLinear_legacyZeroGradParameters", true, gradWeight, gradBias,
                lastInput);
}

static void updateParameters(THNNState *state, const char *function, bool legacy, THTensor *weight,
                             THTensor *bias, THTensor *gradWeight, THTensor *gradBias,
                             THTensor *lastInput, double learningRate)
{
  const SparseInput source = {function, lastInput, "lastInput", 6, legacy};
  const THNNSparseLinear sizes = THNN_SparseLinear_shapeCheck(
      function, legacy, THNN_SHAPE(lastInput, 6), THNN_SHAPE(weight, 2), THNN_SHAPE(bias, 3));
  THNN_checkSizes(function, THNN_SHAPE(gradWeight, 4), 2, weight->size, "the shape of weight");
  THNN_checkVector(function, THNN_SHAPE(gradBias, 5), sizes.outputs, "outputs");
  checkEntries(&source, sizes.entries, SAMPLE_DOES_NOT_MATTER, sizes.inputs);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *to = THNN_planInOut(&plan, weight, 2);
  THNNBuffer *toBias = THNN_planInOut(&plan, bias, 3);
  THNNBuffer *from = THNN_planIn(&plan, gradWeight, 4);
  THNNBuffer *fromBias = THNN_planIn(&plan, gradBias, 5);
  THNNBuffer *in = THNN_planIn(&plan, lastInput, 6);
  THNNBuffer *marks = THNN_planScratch(&plan, (size_t)sizes.inputs * sizeof(bool));
  THNNBuffer *list = THNN_planScratch(&plan, (size_t)sizes.entries * sizeof(int64_t));
  THNN_planAcquire(&plan);

  const int64_t *features = list->data;
  const int64_t count = listFeatures(legacy, &sizes, in->data, marks->data, list->data);
  const real rate = (real)learningRate;
#pragma omp parallel for num_threads(threadsFor(state, &sizes)) schedule(static)
  for (int64_t o = 0; o < sizes.outputs; o++) {
    const real *gradient = (const real *)from->data + o * sizes.inputs;
    real *row = (real *)to->data + o * sizes.inputs;
    for (int64_t i = 0; i < count; i++)
      row[features[i]] -= rate * gradient[features[i]];
  }
  THNN_(simd).pointwise.axpy(sizes.outputs, -rate, fromBias->data, toBias->data);
  THNN_planRelease(&plan);
}

void THNN_(SparseLinear_updateParameters)(THNNState *state, THTensor *weight, THTensor *bias,
                                          THTensor *gradWeight, THTensor *gradBias,
                                          THTensor *lastInput, accreal learningRate)
{
  updateParameters(state, "SparseLinear_updateParameters", false, weight, bias, gradWeight,
                   gradBias, lastInput, learningRate);
}

void THNN_(SparseLinear_legacyUpdateParameters)(THNNState *state, THTensor *weight, THTensor *bias,
                                                THTensor *gradWeight, THTensor *gradBias,
                                                THTensor *lastInput, accreal learningRate)
{
  updateParameters(state, "SparseLinear_legacyUpdateParameters", true, weight, bias, gradWeight,
                   gradBias, lastInput, learningRate);
}
