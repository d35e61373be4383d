/* Linear layer over sparse rows given by keys.
 *   keys, values   those of all samples, one sample after the other
 *   sizes          the number of keys of each sample
 *   weight         rows x outputs; key k stands for row k + keysOffset, counted from 0
 *   bias           outputs
 *   output         batch x outputs
 * output = bias + sum over a sample's keys of value * row of weight.
 *
 * A weight with four columns in front of the outputs makes the layer scale its values. The columns
 * are the largest magnitude that the key's values have had, its inverse, the factor of the next
 * update, and a bias of the key's own, which is added to the scaled value. Training updates the
 * magnitudes. (Other numbers of extra columns, three or more, work as in the original, which finds
 * two of them from the left in updateOutput and from the right elsewhere.) */
#include <math.h>

#include "call/indices.h"
#include "generic/linear/checks.h"
#include "generic/shared/matrix.h"
#include "work/rows.h"

enum { FEWEST_EXTRA_COLUMNS = 3 };

#ifdef THNN_ONCE
/* Checks weight and bias and returns their sizes. */
static THNNIndexLinear weightSizes(const char *function, THNNShape weight, THNNShape bias)
{
  THNN_checkDimensions(function, weight, 2, 2, "rows x outputs, or with more columns in front");
  THNN_elements(function, weight);
  THNN_checkNotEmpty(function, bias);
  THNNIndexLinear sizes = {0};
  sizes.rows = weight.size[0];
  sizes.columns = weight.size[1];
  sizes.outputs = bias.size[0];
  sizes.extra = sizes.columns - sizes.outputs;
  if (sizes.extra != 0 && sizes.extra < FEWEST_EXTRA_COLUMNS)
    THNN_rejectShape(function, weight, "rows x %lld outputs, or with more columns in front",
                     (long long)sizes.outputs);
  return sizes;
}

/* Checks keys, values and sizes, and adds the numbers of keys and samples to the result. */
static void addKeySizes(const char *function, THNNShape keys, THNNShape values, THNNShape sizes,
                        THNNIndexLinear *result)
{
  THNN_checkDimensions(function, keys, 1, 1, "keys");
  THNN_checkVector(function, values, keys.size[0], "keys");
  THNN_checkNotEmpty(function, sizes);
  result->keys = keys.size[0];
  result->batch = sizes.size[0];
}

THNNIndexLinear THNN_IndexLinear_shapeCheck(const char *function, THNNShape keys, THNNShape values,
                                            THNNShape sizes, THNNShape gradOutput, THNNShape weight,
                                            THNNShape bias)
{
  THNNIndexLinear result = weightSizes(function, weight, bias);
  addKeySizes(function, keys, values, sizes, &result);
  const int64_t wanted[] = {result.batch, result.outputs};
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkElements(function, gradOutput, THNN_product(2, wanted), "batch x outputs");
  return result;
}

THNNIndexLinear THNN_IndexLinear_gradientShapeCheck(const char *function, THNNShape keys,
                                                    THNNShape values, THNNShape sizes,
                                                    THNNShape gradOutput, THNNShape gradBias,
                                                    THNNShape weight, THNNShape bias)
{
  /* Only the columns of the weight matter. */
  if (weight.nDimension < 2)
    THNN_rejectShape(function, weight, "rows x outputs, or with more columns in front");
  THNN_checkNotEmpty(function, weight);
  THNN_checkNotEmpty(function, bias);
  THNNIndexLinear result = {0};
  result.outputs = bias.size[0];
  result.extra = weight.size[1] - result.outputs;
  addKeySizes(function, keys, values, sizes, &result);
  const int64_t wanted[] = {result.batch, result.outputs};
  THNN_checkElements(function, gradOutput, THNN_product(2, wanted), "batch x outputs");
  THNN_checkElements(function, gradBias, result.outputs, "outputs");
  return result;
}

THNNIndexLinear THNN_IndexLinear_updateShapeCheck(const char *function, THNNShape gradWeight,
                                                  THNNShape gradBias, THNNShape weight,
                                                  THNNShape bias, THNNShape runningKeys)
{
  THNNIndexLinear result = weightSizes(function, weight, bias);
  THNN_checkNotEmpty(function, runningKeys);
  result.keys = runningKeys.size[0];
  const int64_t wanted[] = {result.keys, (result.extra ? 2 : 1) * result.outputs};
  THNN_checkElements(function, gradWeight, THNN_product(2, wanted), "a row for each key");
  THNN_checkElements(function, gradBias, result.outputs, "outputs");
  return result;
}
#endif

/* Checks that every key stands for a row of the weight. */
static void checkKeys(const THNNState *state, THNNIndexArgument keys, int64_t count,
                      int64_t keysOffset, int keysOffsetPosition, int64_t rows)
{
  const int64_t largest = INT64_MAX / 2; /* so that nothing below overflows */
  if (keysOffset > largest || keysOffset < -largest)
    THNN_reject(keys.function, "keysOffset", keysOffsetPosition, "between -2^62 and 2^62",
                "a larger magnitude");
  THNN_checkIndices(state, keys, count, -keysOffset, rows - 1 - keysOffset,
                    "rows of weight, less keysOffset");
}

/* Checks that the sizes of the samples add up to the number of keys. */
static void checkSampleSizes(const char *function, const THIndexTensor *sizes, int64_t batch,
                             int64_t keys)
{
  int64_t left = keys;
  for (int64_t i = 0; i < batch; i++) {
    const int64_t size = THNN_indexAt(sizes, i);
    if (size < 0 || size > left)
      THNN_rejectIndex(THNN_INDICES(function, sizes, 5), 0, left, "keys that are left", size);
    left -= size;
  }
  if (left > 0)
    THNN_rejectShape(function, THNN_SHAPE(sizes, 5), "sizes that add up to %lld keys",
                     (long long)keys);
}

/* starts[i] = where the keys of sample i begin; starts[batch] = where the last ones end. */
static void setStarts(int64_t batch, const int64_t *sizes, int64_t *starts)
{
  starts[0] = 0;
  for (int64_t i = 0; i < batch; i++)
    starts[i + 1] = starts[i] + sizes[i];
}

/* Scales the values by the largest magnitudes of their rows, which training updates first. */
static void scaleValues(const THNNState *state, const THNNIndexLinear *sizes, const int64_t *keys,
                        int64_t keysOffset, const real *values, bool train, real *weight,
                        real *scaled)
{
  enum { LARGEST, INVERSE, FACTOR, BIAS };
  const THNNRowShares shares = THNN_shareRows(state, sizes->keys, 1, sizeof(real));
#pragma omp parallel for num_threads(shares.count) schedule(static, 1)
  for (int share = 0; share < shares.count; share++)
    for (int64_t i = 0; i < sizes->keys; i++) {
      if (!THNN_ownsRow(&shares, share, keys[i] + keysOffset))
        continue;
      real *row = weight + (keys[i] + keysOffset) * sizes->columns;
      const real value = values[i], magnitude = value < 0 ? -value : value;
      if (train && magnitude > row[LARGEST]) {
        row[LARGEST] = magnitude;
        row[INVERSE] = 1 / magnitude;
      }
      if (train)
        row[FACTOR] = 1;
      const real sign = (real)((value > 0) - (value < 0));
      scaled[i] = (magnitude > row[LARGEST] ? sign : value * row[INVERSE]) + row[BIAS];
    }
}

/* output = bias + sum of value * row over the keys [begin, end). */
static void sumSample(const THNNIndexLinear *sizes, int64_t begin, int64_t end, const int64_t *keys,
                      int64_t keysOffset, const real *values, const real *weight, const real *bias,
                      real *output)
{
  if (sizes->outputs == 1) {
    double sum = bias[0];
    for (int64_t i = begin; i < end; i++)
      sum += (double)values[i] * weight[(keys[i] + keysOffset) * sizes->columns + sizes->extra];
    output[0] = (real)sum;
    return;
  }
  THNN_(simd).pointwise.copy(sizes->outputs, bias, output);
  for (int64_t i = begin; i < end; i++)
    THNN_(simd).pointwise.axpy(sizes->outputs, values[i],
                               weight + (keys[i] + keysOffset) * sizes->columns + sizes->extra,
                               output);
}

void THNN_(IndexLinear_updateOutput)(THNNState *state, THIndexTensor *keys, int64_t keysOffset,
                                     THTensor *values, THIndexTensor *sizes,
                                     THIndexTensor *cumSumSizes, THTensor *output, THTensor *weight,
                                     THTensor *bias, THTensor *normalizedValues, int train)
{
  const char *function = "IndexLinear_updateOutput";
  const THNNIndexLinear shape = THNN_IndexLinear_shapeCheck(
      function, THNN_SHAPE(keys, 2), THNN_SHAPE(values, 4), THNN_SHAPE(sizes, 5), THNN_NO_SHAPE,
      THNN_SHAPE(weight, 8), THNN_SHAPE(bias, 9));
  THNN_checkGiven(function, THNN_SHAPE(cumSumSizes, 6));
  THNN_checkGiven(function, THNN_SHAPE(normalizedValues, 10));
  checkSampleSizes(function, sizes, shape.batch, shape.keys);
  checkKeys(state, THNN_INDICES(function, keys, 2), shape.keys, keysOffset, 3, shape.rows);
  const bool scales = shape.extra > 0;
  const int64_t outputSize[] = {shape.batch, shape.outputs};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *index = THNN_planIn(&plan, keys, 2);
  THNNBuffer *in = THNN_planIn(&plan, values, 4);
  THNNBuffer *lengths = THNN_planIn(&plan, sizes, 5);
  THNNBuffer *out = THNN_planOut(&plan, output, 7, 2, outputSize);
  THNNBuffer *matrix =
      scales && train ? THNN_planInOut(&plan, weight, 8) : THNN_planIn(&plan, weight, 8);
  THNNBuffer *start = THNN_planIn(&plan, bias, 9);
  THNNBuffer *scaled = scales ? THNN_planOut(&plan, normalizedValues, 10, 1, &shape.keys) : in;
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)(shape.batch + 1) * sizeof(int64_t));
  THNN_planAcquire(&plan);

  int64_t *starts = scratch->data;
  setStarts(shape.batch, lengths->data, starts);
  if (scales)
    scaleValues(state, &shape, index->data, keysOffset, in->data, train, matrix->data,
                scaled->data);
  const int threads = THNN_threads(state, shape.batch, (double)shape.keys * (double)shape.outputs);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < shape.batch; i++)
    sumSample(&shape, starts[i], starts[i + 1], index->data, keysOffset, scaled->data, matrix->data,
              start->data, (real *)out->data + i * shape.outputs);
  THNN_planRelease(&plan);
}

void THNN_(IndexLinear_accGradParameters)(THNNState *state, THIndexTensor *keys, int64_t keysOffset,
                                          THTensor *values, THIndexTensor *sizes,
                                          THIndexTensor *cumSumSizes, THTensor *gradOutput,
                                          THTensor *gradWeight, THTensor *gradBias,
                                          THTensor *weight, THTensor *bias, THTensor *valuesBuffer,
                                          accreal weightDecay, accreal scale)
{
  const char *function = "IndexLinear_accGradParameters";
  const THNNIndexLinear shape = THNN_IndexLinear_gradientShapeCheck(
      function, THNN_SHAPE(keys, 2), THNN_SHAPE(values, 4), THNN_SHAPE(sizes, 5),
      THNN_SHAPE(gradOutput, 7), THNN_SHAPE(gradBias, 9), THNN_SHAPE(weight, 10),
      THNN_SHAPE(bias, 11));
  (void)keysOffset, (void)cumSumSizes, (void)valuesBuffer, (void)weightDecay;
  checkSampleSizes(function, sizes, shape.batch, shape.keys);
  const int64_t outputs = shape.outputs, columns = (shape.extra ? 2 : 1) * outputs;
  const int64_t gradSize[] = {shape.keys, columns};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, values, 4);
  THNNBuffer *lengths = THNN_planIn(&plan, sizes, 5);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 7);
  THNNBuffer *to = THNN_planOut(&plan, gradWeight, 8, 2, gradSize);
  THNNBuffer *toBias = THNN_planInOut(&plan, gradBias, 9);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)(shape.batch + 1) * sizeof(int64_t));
  THNN_planAcquire(&plan);

  int64_t *starts = scratch->data;
  setStarts(shape.batch, lengths->data, starts);
  const int threads = THNN_threads(state, shape.batch, (double)shape.keys * (double)columns);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t sample = 0; sample < shape.batch; sample++)
    for (int64_t i = starts[sample]; i < starts[sample + 1]; i++) {
      const real *gradient = (const real *)from->data + sample * outputs;
      const double value = ((const real *)in->data)[i];
      real *row = (real *)to->data + i * columns;
      if (shape.extra) /* the gradient of the row's own bias: see updateRow */
        THNN_(simd).pooling.scale(outputs, (real)scale, gradient, row);
      THNN_(simd).pooling.scale(outputs, (real)(scale * value), gradient, row + columns - outputs);
    }
  THNN_(matrix_addRowSum)(state, shape.batch, outputs, (real)scale, from->data, outputs,
                          toBias->data);
  THNN_planRelease(&plan);
}

/* One step of gradient descent on rows of the weight. */
typedef struct RowUpdate {
  const THNNIndexLinear *shape;
  double rate, weightDecay;
} RowUpdate;

/* Updates one row by -rate * value * gradient. A row that is scaled also has an update factor, and
 * a bias of its own, which biasGradient changes. */
static void updateRow(const RowUpdate *update, const real *biasGradient, const real *gradient,
                      double value, real *row)
{
  const THNNIndexLinear *shape = update->shape;
  real *weights = row + shape->extra;
  double rate = update->rate, decay = update->weightDecay;
  if (shape->extra) {
    const double factor = row[shape->extra - 2];
    rate *= factor;
    /* As in the original, weight decay makes the weights of a single output grow. */
    decay *= shape->outputs == 1 ? -factor : factor;
    row[shape->extra - 1] -=
        (real)(rate * THNN_(simd).reduce.dot(shape->outputs, biasGradient, weights));
  }
  THNN_(simd).pointwise.blend(shape->outputs, (real)(1 - decay), weights, (real)(-rate * value),
                              gradient, weights);
}

void THNN_(IndexLinear_accUpdateGradParameters)(THNNState *state, THIndexTensor *keys,
                                                int64_t keysOffset, THTensor *values,
                                                THIndexTensor *sizes, THIndexTensor *cumSumSizes,
                                                THTensor *gradOutput, THTensor *weight,
                                                THTensor *bias, accreal weightDecay, accreal scale)
{
  const char *function = "IndexLinear_accUpdateGradParameters";
  const THNNIndexLinear shape = THNN_IndexLinear_shapeCheck(
      function, THNN_SHAPE(keys, 2), THNN_SHAPE(values, 4), THNN_SHAPE(sizes, 5),
      THNN_SHAPE(gradOutput, 7), THNN_SHAPE(weight, 8), THNN_SHAPE(bias, 9));
  (void)cumSumSizes;
  checkSampleSizes(function, sizes, shape.batch, shape.keys);
  checkKeys(state, THNN_INDICES(function, keys, 2), shape.keys, keysOffset, 3, shape.rows);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *index = THNN_planIn(&plan, keys, 2);
  THNNBuffer *in = THNN_planIn(&plan, values, 4);
  THNNBuffer *lengths = THNN_planIn(&plan, sizes, 5);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 7);
  THNNBuffer *matrix = THNN_planInOut(&plan, weight, 8);
  THNNBuffer *vector = THNN_planInOut(&plan, bias, 9);
  THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)(shape.batch + 1) * sizeof(int64_t));
  THNN_planAcquire(&plan);

  const RowUpdate update = {&shape, scale, weightDecay};
  const int64_t *key = index->data;
  const real *value = in->data;
  int64_t *starts = scratch->data;
  setStarts(shape.batch, lengths->data, starts);
  const THNNRowShares shares = THNN_shareRows(state, shape.keys, shape.columns, sizeof(real));
#pragma omp parallel for num_threads(shares.count) schedule(static, 1)
  for (int share = 0; share < shares.count; share++) {
    for (int64_t sample = 0; sample < shape.batch; sample++) {
      const real *gradient = (const real *)from->data + sample * shape.outputs;
      for (int64_t i = starts[sample]; i < starts[sample + 1]; i++)
        if (THNN_ownsRow(&shares, share, key[i] + keysOffset))
          updateRow(&update, gradient, gradient, value[i],
                    (real *)matrix->data + (key[i] + keysOffset) * shape.columns);
    }
    /* With a single output, an update sets the factors of its rows to 0, as in the original. */
    if (shape.extra && shape.outputs == 1)
      for (int64_t i = 0; i < shape.keys; i++)
        if (THNN_ownsRow(&shares, share, key[i] + keysOffset))
          ((real *)matrix->data)[(key[i] + keysOffset) * shape.columns + shape.extra - 2] = 0;
  }
  THNN_(matrix_addRowSum)(state, shape.batch, shape.outputs, (real)-scale, from->data,
                          shape.outputs, vector->data);
  THNN_planRelease(&plan);
}

void THNN_(IndexLinear_updateParameters)(THNNState *state, THTensor *gradWeight, THTensor *gradBias,
                                         THTensor *weight, THTensor *bias,
                                         THIndexTensor *runningKeys, THIndexTensor *cumSumSizes,
                                         int64_t keysOffset, accreal weightDecay,
                                         accreal learningRate)
{
  const char *function = "IndexLinear_updateParameters";
  const THNNIndexLinear shape = THNN_IndexLinear_updateShapeCheck(
      function, THNN_SHAPE(gradWeight, 2), THNN_SHAPE(gradBias, 3), THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), THNN_SHAPE(runningKeys, 6));
  (void)cumSumSizes;
  checkKeys(state, THNN_INDICES(function, runningKeys, 6), shape.keys, keysOffset, 8, shape.rows);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradWeight, 2);
  THNNBuffer *fromBias = THNN_planIn(&plan, gradBias, 3);
  THNNBuffer *matrix = THNN_planInOut(&plan, weight, 4);
  THNNBuffer *vector = THNN_planInOut(&plan, bias, 5);
  THNNBuffer *index = THNN_planIn(&plan, runningKeys, 6);
  THNN_planAcquire(&plan);

  const RowUpdate update = {&shape, learningRate, weightDecay};
  const int64_t *key = index->data, gradColumns = (shape.extra ? 2 : 1) * shape.outputs;
  const THNNRowShares shares = THNN_shareRows(state, shape.keys, shape.columns, sizeof(real));
#pragma omp parallel for num_threads(shares.count) schedule(static, 1)
  for (int share = 0; share < shares.count; share++)
    for (int64_t i = 0; i < shape.keys; i++) {
      const real *gradient = (const real *)from->data + i * gradColumns;
      if (THNN_ownsRow(&shares, share, key[i] + keysOffset))
        updateRow(&update, gradient, gradient + gradColumns - shape.outputs, 1,
                  (real *)matrix->data + (key[i] + keysOffset) * shape.columns);
    }
  THNN_(simd).pointwise.axpy(shape.outputs, (real)-learningRate, fromBias->data, vector->data);
  THNN_planRelease(&plan);
}
