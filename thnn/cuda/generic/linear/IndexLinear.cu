/* Linear layer over sparse rows given by keys.
 *   keys, values   the entries of all samples, one after the other
 *   sizes          batch: how many entries each sample has
 *   weight         rows x outputs; key k stands for row k + keysOffset, counted from 0
 *   bias           outputs
 *   output         batch x outputs
 * output = bias + sum over a sample's keys of value * row of weight.
 *
 * A weight with four columns in front of the outputs makes the layer scale its values: those
 * columns are the largest magnitude that the key's values have had, its inverse, the factor of the
 * next update, and the key's own bias, which is added to the scaled value. Training updates the
 * magnitudes.
 *
 * Where the order of updates matters, keys are sorted, and one team of threads handles all keys of
 * a row. */
#include "cuda/THC/THCReduce.cuh"
#include "cuda/generic/linear/linear.cuh"
#include "cuda/generic/shared/segments.cuh"
#include "generic/linear/checks.h"

namespace
{

/* The index of each sample's first key, then the end of the last sample's keys. */
struct Starts {
  int64_t batch;
  const int64_t *starts;

  __device__ int64_t sampleOf(int64_t key) const
  {
    int64_t low = 0, high = batch;
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      if (starts[middle] <= key)
        low = middle;
      else
        high = middle;
    }
    return low;
  }
};

/* Computes the starts from the sizes, in one block. A bad size counts as 0; starts beyond the
 * number of keys are cut to it. Reports a bad size, or a sum of sizes that is not the number of
 * keys. */
__global__ void __launch_bounds__(THC_THREADS)
    findStarts(int64_t batch, THCIndexRange range, const int64_t *sizes, int64_t *starts)
{
  THC_SHARED(int64_t, sums, [THC_THREADS]);
  int64_t before = 0;
  for (int64_t first = 0; first < batch; first += THC_THREADS) {
    const int64_t i = first + threadIdx.x;
    const bool good = i < batch && THC_indexIsValid(sizes[i], range);
    sums[threadIdx.x] = good ? sizes[i] : 0;
    THC_sumUpTo(sums);
    const int64_t end = before + sums[threadIdx.x];
    if (i < batch)
      starts[i + 1] = end < range.high ? end : range.high;
    before += sums[THC_THREADS - 1];
    __syncthreads();
  }
  if (threadIdx.x > 0)
    return;
  starts[0] = 0;
  if (before != range.high) {
    const THCIndexRange all = {range.high, range.high, range.function, range.domain, range.report};
    THC_indexIsValid(before, all);
  }
}

Starts startsOf(THCPlan *plan, const THNNIndexLinear &shape, const THNNBuffer *sizes,
                const THNNBuffer *scratch)
{
  int64_t *starts = THC_pointer<int64_t>(scratch);
  THC_LAUNCH(plan, findStarts, 1, THC_THREADS, 0, shape.batch, THC_indexRange(plan, 0, shape.keys),
             THC_pointer<const int64_t>(sizes), starts);
  return Starts{shape.batch, starts};
}

int64_t startBytes(const THNNIndexLinear &shape)
{
  return (shape.batch + 1) * (int64_t)sizeof(int64_t);
}

/* If the state's checkIndices is set: raises before the work unless the sizes add up to the number
 * of keys. */
void checkSampleSizes(THCState *state, const char *function, THCIndexTensor *sizes,
                      const THNNIndexLinear &shape)
{
  THC_checkState(state, function);
  if (!state->checkIndices)
    return;
  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *lengths = THC_planIn(&plan, sizes, 5);
  const THNNBuffer *scratch = THC_planScratch(&plan, startBytes(shape));
  THC_planAcquire(&plan);
  startsOf(&plan, shape, lengths, scratch);
  THC_note(&plan.failure, "cudaStreamSynchronize", cudaStreamSynchronize(state->stream));
  THC_planRelease(&plan);
  THC_rejectReported(state, function, "sizes", 5);
}

void checkOffset(const char *function, int64_t keysOffset, int position)
{
  const int64_t largest = INT64_MAX / 2; /* so that no sum with keysOffset overflows */
  if (keysOffset > largest || keysOffset < -largest)
    THNN_reject(function, "keysOffset", position, "between -2^62 and 2^62", "a larger magnitude");
}

/* Finds the rows of weight that keys stand for. */
struct Rows {
  int64_t offset, columns, extra, outputs;
  THCIndexRange range;
  const int64_t *keys;

  /* The row of key i; -1 for a bad key, which is reported. */
  __device__ int64_t at(int64_t i) const
  {
    return THC_indexIsValid(keys[i], range) ? keys[i] + offset : -1;
  }
};

Rows rowsOf(const THCPlan &plan, const THNNIndexLinear &shape, int64_t keysOffset,
            const THNNBuffer *keys)
{
  return Rows{keysOffset,
              shape.columns,
              shape.extra,
              shape.outputs,
              THC_indexRange(&plan, -keysOffset, shape.rows - 1 - keysOffset),
              THC_pointer<const int64_t>(keys)};
}

struct RowKey {
  Rows rows;
  int64_t ignored;
  __device__ void operator()(int64_t i, int64_t &key) const
  {
    const int64_t row = rows.at(i);
    key = row < 0 ? ignored : row;
  }
};

THCSorted sortRows(THCPlan *plan, const THNNIndexLinear &shape, const Rows &rows,
                   const THNNBuffer *scratch)
{
  THC_apply(plan, plan->plan.function, shape.keys, RowKey{rows, shape.rows}, THC_sortKeys(scratch));
  return THC_sort(plan, shape.keys, shape.rows, scratch);
}

/* ---- Forward -------------------------------------------------------------------------------- */

/* Scales the values of a row's keys, in order: each may raise the magnitude that scales the
 * next. */
struct ScaleValues {
  enum { LARGEST, INVERSE, FACTOR, BIAS };
  THCSorted sorted;
  int64_t columns;
  bool train;
  const real *values;
  real *weight, *scaled;

  __device__ void operator()(const Segment &of, int64_t column) const
  {
    (void)column;
    real *row = weight + of.key * columns;
    real largest = row[LARGEST], inverse = row[INVERSE];
    const real bias = row[BIAS];
    for (int64_t i = of.first; i < of.end; i++) {
      const int64_t position = sorted.positions[i];
      const real value = values[position], magnitude = value < 0 ? -value : value;
      if (train && magnitude > largest) {
        largest = magnitude;
        inverse = 1 / magnitude;
      }
      const real sign = real(value > 0) - real(value < 0);
      scaled[position] = (magnitude > largest ? sign : value * inverse) + bias;
    }
    if (!train)
      return;
    row[LARGEST] = largest;
    row[INVERSE] = inverse;
    row[FACTOR] = 1;
  }
};

/* A team computes the outputs of a sample. */
struct SumSample {
  Starts starts;
  Rows rows;
  const real *values, *weight, *bias;
  real *output;

  __device__ accreal term(int64_t i, int64_t o) const
  {
    const int64_t row = rows.at(i);
    return row < 0 ? 0 : (accreal)values[i] * weight[row * rows.columns + rows.extra + o];
  }

  template <typename Team> __device__ void operator()(int64_t sample, Team) const
  {
    const int64_t begin = starts.starts[sample], end = starts.starts[sample + 1];
    real *to = output + sample * rows.outputs;
    if (rows.outputs >= Team::SIZE) {
      for (int64_t o = Team::rank(); o < rows.outputs; o += Team::SIZE) {
        accreal sum = bias[o];
        for (int64_t i = begin; i < end; i++)
          sum += term(i, o);
        to[o] = (real)sum;
      }
      return;
    }
    for (int64_t o = 0; o < rows.outputs; o++) {
      accreal sum = 0;
      for (int64_t i = begin + Team::rank(); i < end; i += Team::SIZE)
        sum += term(i, o);
      sum = Team::sum(sum);
      if (Team::rank() == 0)
        to[o] = (real)(bias[o] + sum);
    }
  }
};

/* ---- Gradients ------------------------------------------------------------------------------ */

/* Computes one element of gradWeight. Where rows of weight have a bias, a key's row of gradWeight
 * begins with its sample's gradOutput, from which the bias's gradient is computed. */
struct KeyGradient {
  Starts starts;
  int64_t outputs, columns;
  accreal scale;
  const real *values, *gradOutput;
  __device__ void operator()(int64_t i, real &gradWeight) const
  {
    const int64_t key = i / columns, column = i % columns;
    const bool ofBias = column < columns - outputs;
    const int64_t o = ofBias ? column : column - (columns - outputs);
    const real gradient = gradOutput[starts.sampleOf(key) * outputs + o];
    gradWeight = (real)(ofBias ? scale : scale * values[key]) * gradient;
  }
};

/* ---- Updates -------------------------------------------------------------------------------- */

/* The gradients of keys that have rows of their own in gradWeight. */
struct OwnGradients {
  int64_t outputs, columns;
  const real *gradWeight;
  __device__ accreal value(int64_t i) const
  {
    (void)i;
    return 1;
  }
  __device__ const real *ofBias(int64_t i) const { return gradWeight + i * columns; }
  __device__ const real *ofWeights(int64_t i) const
  {
    return gradWeight + i * columns + columns - outputs;
  }
};

/* The gradients of keys that share their sample's row of gradOutput. */
struct SampleGradients {
  int64_t outputs;
  Starts starts;
  const real *values, *gradOutput;
  __device__ accreal value(int64_t i) const { return values[i]; }
  __device__ const real *ofBias(int64_t i) const { return ofWeights(i); }
  __device__ const real *ofWeights(int64_t i) const
  {
    return gradOutput + starts.sampleOf(i) * outputs;
  }
};

/* Steps of gradient descent on a row of the weight, one for each of its keys, in order. A row with
 * scaling columns also updates its bias, and has an update factor. */
template <typename Source> struct UpdateRow {
  THCSorted sorted;
  int64_t ignored, columns, extra, outputs;
  accreal rate, weightDecay;
  bool usesUpFactor; /* resets a row's update factor after its use */
  Source source;
  real *weight;

  template <typename Team> __device__ void step(int64_t i, real *row, accreal factor) const
  {
    const real *gradient = source.ofWeights(i), *biasGradient = source.ofBias(i);
    real *weights = row + extra;
    accreal own = rate, decay = weightDecay;
    if (extra) {
      own *= factor;
      /* The original lets the weights of a single output grow instead. */
      decay *= outputs == 1 ? -factor : factor;
      accreal product = 0;
      for (int64_t o = Team::rank(); o < outputs; o += Team::SIZE)
        product += (accreal)biasGradient[o] * weights[o];
      product = Team::sum(product);
      if (Team::rank() == 0)
        row[extra - 1] -= (real)(own * product);
    }
    const real keep = (real)(1 - decay), move = (real)(-own * source.value(i));
    for (int64_t o = Team::rank(); o < outputs; o += Team::SIZE)
      weights[o] = keep * weights[o] + move * gradient[o];
  }

  template <typename Team> __device__ void operator()(int64_t first, Team) const
  {
    const int64_t end = THC_segmentEnd(sorted, first, ignored);
    if (end == first)
      return;
    real *row = weight + sorted.keys[first] * columns;
    const bool leads = Team::rank() == 0;
    const accreal factor = extra ? Team::sum(leads ? (accreal)row[extra - 2] : 0) : 1;
    for (int64_t i = first; i < end; i++)
      step<Team>(sorted.positions[i], row, factor);
    if (extra && usesUpFactor && leads)
      row[extra - 2] = 0;
  }
};

template <typename Source>
UpdateRow<Source> updateOf(const THNNIndexLinear &shape, const THCSorted &sorted, accreal rate,
                           accreal weightDecay, const Source &source, const THNNBuffer *weight)
{
  return UpdateRow<Source>{
      sorted, shape.rows,  shape.columns, shape.extra, shape.outputs,
      rate,   weightDecay, false,         source,      THC_pointer<real>(weight)};
}

struct UpdateBias {
  real rate;
  real *bias;
  __device__ void operator()(int64_t o, const real &gradBias) const { bias[o] -= rate * gradBias; }
};

} // namespace

void THCUNN_(IndexLinear_updateOutput)(THCState *state, THCIndexTensor *keys, int64_t keysOffset,
                                       THCTensor *values, THCIndexTensor *sizes,
                                       THCIndexTensor *cumSumSizes, THCTensor *output,
                                       THCTensor *weight, THCTensor *bias,
                                       THCTensor *normalizedValues, int train)
{
  const char *function = "IndexLinear_updateOutput";
  const THNNIndexLinear shape = THNN_IndexLinear_shapeCheck(
      function, THNN_SHAPE(keys, 2), THNN_SHAPE(values, 4), THNN_SHAPE(sizes, 5), THNN_NO_SHAPE,
      THNN_SHAPE(weight, 8), THNN_SHAPE(bias, 9));
  THNN_checkGiven(function, THNN_SHAPE(cumSumSizes, 6));
  THNN_checkGiven(function, THNN_SHAPE(normalizedValues, 10));
  checkOffset(function, keysOffset, 3);
  checkSampleSizes(state, function, sizes, shape);
  THC_checkIndices(state, function, keys, "keys", 2, -keysOffset, shape.rows - 1 - keysOffset);
  const bool scales = shape.extra > 0;
  const int64_t outputSize[] = {shape.batch, shape.outputs};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *index = THC_planIn(&plan, keys, 2);
  const THNNBuffer *in = THC_planIn(&plan, values, 4);
  const THNNBuffer *lengths = THC_planIn(&plan, sizes, 5);
  const THNNBuffer *out = THC_planOut(&plan, output, 7, 2, outputSize);
  const THNNBuffer *matrix =
      scales && train ? THC_planInOut(&plan, weight, 8) : THC_planIn(&plan, weight, 8);
  const THNNBuffer *start = THC_planIn(&plan, bias, 9);
  const THNNBuffer *scaled = scales ? THC_planOut(&plan, normalizedValues, 10, 1, &shape.keys) : in;
  const THNNBuffer *begins = THC_planScratch(&plan, startBytes(shape));
  const THNNBuffer *scratch = THC_planScratch(&plan, scales ? THC_sortScratchBytes(shape.keys) : 0);
  THC_planAcquire(&plan);
  const Starts starts = startsOf(&plan, shape, lengths, begins);
  const Rows rows = rowsOf(plan, shape, keysOffset, index);
  if (scales) {
    const THCSorted sorted = sortRows(&plan, shape, rows, scratch);
    forSegments(&plan, sorted, shape.rows, 1,
                ScaleValues{sorted, shape.columns, train != 0, THC_pointer<const real>(in),
                            THC_pointer<real>(matrix), THC_pointer<real>(scaled)});
  }
  forRows(&plan, shape.batch, shape.outputs,
          SumSample{starts, rows, THC_pointer<const real>(scaled), THC_pointer<const real>(matrix),
                    THC_pointer<const real>(start), THC_pointer<real>(out)});
  THC_planRelease(&plan);
}

void THCUNN_(IndexLinear_accGradParameters)(THCState *state, THCIndexTensor *keys,
                                            int64_t keysOffset, THCTensor *values,
                                            THCIndexTensor *sizes, THCIndexTensor *cumSumSizes,
                                            THCTensor *gradOutput, THCTensor *gradWeight,
                                            THCTensor *gradBias, THCTensor *weight, THCTensor *bias,
                                            THCTensor *valuesBuffer, accreal weightDecay,
                                            accreal scale)
{
  (void)keysOffset, (void)cumSumSizes, (void)valuesBuffer, (void)weightDecay;
  const char *function = "IndexLinear_accGradParameters";
  const THNNIndexLinear shape = THNN_IndexLinear_gradientShapeCheck(
      function, THNN_SHAPE(keys, 2), THNN_SHAPE(values, 4), THNN_SHAPE(sizes, 5),
      THNN_SHAPE(gradOutput, 7), THNN_SHAPE(gradBias, 9), THNN_SHAPE(weight, 10),
      THNN_SHAPE(bias, 11));
  checkSampleSizes(state, function, sizes, shape);
  const int64_t columns = (shape.extra ? 2 : 1) * shape.outputs;
  const int64_t gradSize[] = {shape.keys, columns};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, values, 4);
  const THNNBuffer *lengths = THC_planIn(&plan, sizes, 5);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 7);
  const THNNBuffer *to = THC_planOut(&plan, gradWeight, 8, 2, gradSize);
  const THNNBuffer *toBias = THC_planInOut(&plan, gradBias, 9);
  const THNNBuffer *begins = THC_planScratch(&plan, startBytes(shape));
  const THNNBuffer *sums = THC_planScratch(&plan, biasScratchBytes(shape.batch, shape.outputs));
  THC_planAcquire(&plan);
  const Starts starts = startsOf(&plan, shape, lengths, begins);
  const real *g = THC_pointer<const real>(from);
  THC_apply(&plan, function, shape.keys * columns,
            KeyGradient{starts, shape.outputs, columns, scale, THC_pointer<const real>(in), g},
            THC_pointer<real>(to));
  addBiasGradient(&plan, shape.batch, shape.outputs, scale, g, THC_pointer<real>(toBias), sums);
  THC_planRelease(&plan);
}

void THCUNN_(IndexLinear_accUpdateGradParameters)(
    THCState *state, THCIndexTensor *keys, int64_t keysOffset, THCTensor *values,
    THCIndexTensor *sizes, THCIndexTensor *cumSumSizes, THCTensor *gradOutput, THCTensor *weight,
    THCTensor *bias, accreal weightDecay, accreal scale)
{
  (void)cumSumSizes;
  const char *function = "IndexLinear_accUpdateGradParameters";
  const THNNIndexLinear shape = THNN_IndexLinear_shapeCheck(
      function, THNN_SHAPE(keys, 2), THNN_SHAPE(values, 4), THNN_SHAPE(sizes, 5),
      THNN_SHAPE(gradOutput, 7), THNN_SHAPE(weight, 8), THNN_SHAPE(bias, 9));
  checkOffset(function, keysOffset, 3);
  checkSampleSizes(state, function, sizes, shape);
  THC_checkIndices(state, function, keys, "keys", 2, -keysOffset, shape.rows - 1 - keysOffset);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *index = THC_planIn(&plan, keys, 2);
  const THNNBuffer *in = THC_planIn(&plan, values, 4);
  const THNNBuffer *lengths = THC_planIn(&plan, sizes, 5);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 7);
  const THNNBuffer *matrix = THC_planInOut(&plan, weight, 8);
  const THNNBuffer *vector = THC_planInOut(&plan, bias, 9);
  const THNNBuffer *begins = THC_planScratch(&plan, startBytes(shape));
  const THNNBuffer *scratch = THC_planScratch(&plan, THC_sortScratchBytes(shape.keys));
  const THNNBuffer *sums = THC_planScratch(&plan, biasScratchBytes(shape.batch, shape.outputs));
  THC_planAcquire(&plan);
  const Starts starts = startsOf(&plan, shape, lengths, begins);
  const THCSorted sorted = sortRows(&plan, shape, rowsOf(plan, shape, keysOffset, index), scratch);
  const real *g = THC_pointer<const real>(from);
  const SampleGradients source = {shape.outputs, starts, THC_pointer<const real>(in), g};
  UpdateRow<SampleGradients> update = updateOf(shape, sorted, scale, weightDecay, source, matrix);
  update.usesUpFactor = shape.outputs == 1; /* as in the original */
  forRows(&plan, shape.keys, shape.outputs, update);
  addBiasGradient(&plan, shape.batch, shape.outputs, -scale, g, THC_pointer<real>(vector), sums);
  THC_planRelease(&plan);
}

void THCUNN_(IndexLinear_updateParameters)(THCState *state, THCTensor *gradWeight,
                                           THCTensor *gradBias, THCTensor *weight, THCTensor *bias,
                                           THCIndexTensor *runningKeys, THCIndexTensor *cumSumSizes,
                                           int64_t keysOffset, accreal weightDecay,
                                           accreal learningRate)
{
  (void)cumSumSizes;
  const char *function = "IndexLinear_updateParameters";
  const THNNIndexLinear shape = THNN_IndexLinear_updateShapeCheck(
      function, THNN_SHAPE(gradWeight, 2), THNN_SHAPE(gradBias, 3), THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), THNN_SHAPE(runningKeys, 6));
  checkOffset(function, keysOffset, 8);
  THC_checkIndices(state, function, runningKeys, "runningKeys", 6, -keysOffset,
                   shape.rows - 1 - keysOffset);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *from = THC_planIn(&plan, gradWeight, 2);
  const THNNBuffer *fromBias = THC_planIn(&plan, gradBias, 3);
  const THNNBuffer *matrix = THC_planInOut(&plan, weight, 4);
  const THNNBuffer *vector = THC_planInOut(&plan, bias, 5);
  const THNNBuffer *index = THC_planIn(&plan, runningKeys, 6);
  const THNNBuffer *scratch = THC_planScratch(&plan, THC_sortScratchBytes(shape.keys));
  THC_planAcquire(&plan);
  const THCSorted sorted = sortRows(&plan, shape, rowsOf(plan, shape, keysOffset, index), scratch);
  const OwnGradients source = {shape.outputs, (shape.extra ? 2 : 1) * shape.outputs,
                               THC_pointer<const real>(from)};
  forRows(&plan, shape.keys, shape.outputs,
          updateOf(shape, sorted, learningRate, weightDecay, source, matrix));
  THC_apply(&plan, function, shape.outputs,
            UpdateBias{(real)learningRate, THC_pointer<real>(vector)},
            THC_pointer<const real>(fromBias));
  THC_planRelease(&plan);
}
