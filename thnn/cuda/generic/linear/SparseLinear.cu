/* Linear layer over sparse samples. The input lists the elements that are not 0:
 *   entries x 3, each (sample, feature, value); or, for the legacy functions,
 *   batch x entries x 2, each (feature, value)
 * in any order, features and samples counted from 1. Entries of value 0 do not count.
 *   weight  outputs x inputs      bias  outputs      output, gradOutput  batch x outputs
 * output = bias + weight * sample;  gradWeight += scale * gradOutput * sample^T + weightDecay *
 * weight;  gradBias += scale * gradOutput, summed over the batch. Zeroing gradients and updating
 * parameters touch only the columns of the last input's features.
 *
 * Entries are sorted by sample or by feature, and each sample or feature gathers its own
 * entries. */
#include "cuda/generic/linear/linear.cuh"
#include "cuda/generic/shared/segments.cuh"
#include "generic/linear/checks.h"
#include "geometry/planes.h"

namespace
{

/* An input tensor, with its name and position among the arguments. */
struct SparseInput {
  const char *function;
  THCTensor *tensor;
  const char *name;
  int position;
  bool legacy;
};

enum { SAMPLE_DOES_NOT_MATTER = -1 };

/* The entries of an input, as kernels see them. */
struct Entries {
  bool legacy;
  int64_t perSample; /* entries per sample of a legacy input */
  int64_t samples;   /* number of samples, or SAMPLE_DOES_NOT_MATTER */
  int64_t inputs;
  THCIndexRange sampleRange, featureRange;
  const int64_t *used; /* number of entries that are used; NULL: all */
  const real *data;

  __device__ real part(int64_t i, int which) const
  {
    return legacy ? data[2 * i + which - 1] : data[3 * i + which];
  }
  __device__ real value(int64_t i) const { return part(i, 2); }
  __device__ int64_t feature(int64_t i) const { return (int64_t)part(i, 1) - 1; }
  __device__ int64_t sample(int64_t i) const
  {
    return legacy ? i / perSample : (int64_t)part(i, 0) - 1;
  }

  /* Whether x, rounded down, is from 1 to `range.high`; reports it otherwise. */
  static __device__ bool isIndex(real x, const THCIndexRange &range)
  {
    if (x >= 1 && x < (real)range.high + 1)
      return true;
    THC_reportIndex((int64_t)x, range);
    return false;
  }

  /* Whether an entry counts; a bad one is reported and does not count. */
  __device__ bool counts(int64_t i) const
  {
    if ((used && i >= *used) || value(i) == 0)
      return false;
    const bool featureIsGood = isIndex(part(i, 1), featureRange);
    const bool any = legacy || samples == SAMPLE_DOES_NOT_MATTER;
    return (any || isIndex(part(i, 0), sampleRange)) && featureIsGood;
  }
};

/* The key that sorts entries by sample. */
struct SampleKey {
  Entries entries;
  int64_t ignored;
  __device__ void operator()(int64_t i, int64_t &key) const
  {
    key = entries.counts(i) ? entries.sample(i) : ignored;
  }
};

/* The key that sorts entries by feature. */
struct FeatureKey {
  Entries entries;
  int64_t ignored;
  __device__ void operator()(int64_t i, int64_t &key) const
  {
    key = entries.counts(i) ? entries.feature(i) : ignored;
  }
};

struct CheckEntry {
  Entries entries;
  __device__ void operator()(int64_t i) const { entries.counts(i); }
};

/* Finds the number of entries up to the last one whose sample is not too large. */
struct LastEntry {
  typedef int64_t Sum;
  int64_t samples;
  const real *data;
  __device__ Sum none() const { return 0; }
  __device__ void add(Sum &sum, int64_t i, int64_t plane) const
  {
    (void)plane;
    if (!(data[3 * i] >= (real)samples + 1))
      sum = sum > i + 1 ? sum : i + 1;
  }
  __device__ Sum operator()(const Sum &a, const Sum &b) const { return a > b ? a : b; }
};

struct KeepLastEntry {
  int64_t *used;
  __device__ void operator()(int64_t plane, const int64_t &last) const
  {
    (void)plane;
    *used = last;
  }
};

Channels entryChannels(const THNNSparseLinear &sizes)
{
  return channelsOf(THNNPlanes{1, 1, sizes.entries});
}

Entries entriesOf(const THCPlan &plan, const SparseInput &source, const THNNSparseLinear &sizes,
                  int64_t samples, const THNNBuffer *in)
{
  return Entries{source.legacy,
                 source.legacy && sizes.batch > 0 ? sizes.entries / sizes.batch : 1,
                 samples,
                 sizes.inputs,
                 THC_indexRange(&plan, 1, samples),
                 THC_indexRange(&plan, 1, sizes.inputs),
                 nullptr,
                 THC_pointer<const real>(in)};
}

/* Size of the scratch memory for finding the last entry: its number, then the scratch of the
 * sums. */
int64_t lastEntryBytes(const THNNSparseLinear &sizes)
{
  return (int64_t)sizeof(int64_t) + channelScratchBytes<LastEntry>(entryChannels(sizes));
}

void findLastEntry(THCPlan *plan, const THNNSparseLinear &sizes, const THNNBuffer *scratch,
                   Entries *entries)
{
  int64_t *used = THC_pointer<int64_t>(scratch);
  sumChannels(plan, entryChannels(sizes), LastEntry{entries->samples, entries->data},
              KeepLastEntry{used}, used + 1);
  entries->used = used;
}

/* If the state's checkIndices is set: raises for a bad entry before the work. With mayEnd, trailing
 * entries whose sample is too large are ignored. */
void checkEntries(THCState *state, const SparseInput &source, const THNNSparseLinear &sizes,
                  int64_t samples, bool mayEnd)
{
  THC_checkState(state, source.function);
  if (!state->checkIndices)
    return;
  THCPlan plan;
  THC_planStart(&plan, source.function, state);
  const THNNBuffer *in =
      THC_planTensor(&plan, THNN_ROLE_IN, source.tensor, source.name, source.position);
  const THNNBuffer *scratch = THC_planScratch(&plan, mayEnd ? lastEntryBytes(sizes) : 0);
  THC_planAcquire(&plan);
  Entries entries = entriesOf(plan, source, sizes, samples, in);
  if (mayEnd)
    findLastEntry(&plan, sizes, scratch, &entries);
  THC_apply(&plan, source.function, sizes.entries, CheckEntry{entries});
  THC_note(&plan.failure, "cudaStreamSynchronize", cudaStreamSynchronize(state->stream));
  THC_planRelease(&plan);
  THC_rejectReported(state, source.function, source.name, source.position);
}

/* ---- Forward -------------------------------------------------------------------------------- */

struct Products {
  Entries entries;
  int64_t outputs;
  const real *weight;
  real *output;
  __device__ accreal term(int64_t i, int64_t o) const
  {
    return (accreal)entries.value(i) * weight[o * entries.inputs + entries.feature(i)];
  }
  __device__ void finish(const Segment &of, int64_t o, accreal sum) const
  {
    output[of.key * outputs + o] = (real)(output[of.key * outputs + o] + sum);
  }
};

void forward(THCState *state, const SparseInput &source, THNNSparseLinear sizes, THCTensor *output,
             THCTensor *weight, THCTensor *bias)
{
  const int64_t outputSize[] = {sizes.batch, sizes.outputs};
  THCTensor *input = source.tensor;
  checkEntries(state, source, sizes, sizes.batch, !source.legacy);

  THCPlan plan;
  THC_planStart(&plan, source.function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = source.legacy ? THC_planOut(&plan, output, 3, 2, outputSize)
                                        : THC_planInOut(&plan, output, 3);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 4);
  const THNNBuffer *start = THC_planIn(&plan, bias, 5);
  const THNNBuffer *scratch = THC_planScratch(&plan, THC_sortScratchBytes(sizes.entries));
  const THNNBuffer *last = THC_planScratch(&plan, lastEntryBytes(sizes));
  THC_planAcquire(&plan);
  Entries entries = entriesOf(plan, source, sizes, sizes.batch, in);
  if (!source.legacy)
    findLastEntry(&plan, sizes, last, &entries);
  real *y = THC_pointer<real>(out);
  repeatBias(&plan, sizes.batch, sizes.outputs, THC_pointer<const real>(start), y);
  THC_apply(&plan, source.function, sizes.entries, SampleKey{entries, sizes.batch},
            THC_sortKeys(scratch));
  const THCSorted sorted = THC_sort(&plan, sizes.entries, sizes.batch, scratch);
  sumSegments(&plan, sorted, sizes.batch, sizes.outputs,
              Products{entries, sizes.outputs, THC_pointer<const real>(matrix), y});
  THC_planRelease(&plan);
}

/* ---- Gradients ------------------------------------------------------------------------------ */

struct Gradients {
  Entries entries;
  int64_t outputs;
  accreal scale;
  const real *gradOutput;
  real *gradWeight;
  __device__ accreal term(int64_t i, int64_t o) const
  {
    return (accreal)entries.value(i) * gradOutput[entries.sample(i) * outputs + o];
  }
  __device__ void finish(const Segment &of, int64_t o, accreal sum) const
  {
    gradWeight[o * entries.inputs + of.key] += (real)(scale * sum);
  }
};

struct Decay {
  real factor;
  const real *weight;
  real *gradWeight;
  __device__ void operator()(int64_t i) const { gradWeight[i] += factor * weight[i]; }
};

THNNSparseLinear checkGradients(const SparseInput &source, THNNShape gradWeight, THNNShape gradBias,
                                THNNShape weight)
{
  const THCTensor *input = source.tensor;
  const THNNSparseLinear sizes = THNN_SparseLinear_shapeCheck(
      source.function, source.legacy, THNN_SHAPE(input, 2), gradWeight, gradBias);
  THNN_checkSizes(source.function, weight, 2, gradWeight.size, "the shape of gradWeight");
  return sizes;
}

/* Adds the gradients of weight and bias; gradOutput has `sizes.batch` rows, one for each sample. */
void addGradients(THCState *state, const SparseInput &source, THNNSparseLinear sizes,
                  THCTensor *gradOutput, THCTensor *gradWeight, THCTensor *gradBias,
                  THCTensor *weight, accreal weightDecay, accreal scale)
{
  THCTensor *input = source.tensor;
  checkEntries(state, source, sizes, sizes.batch, false);

  THCPlan plan;
  THC_planStart(&plan, source.function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *toBias = THC_planInOut(&plan, gradBias, 5);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 6);
  const THNNBuffer *scratch = THC_planScratch(&plan, THC_sortScratchBytes(sizes.entries));
  const THNNBuffer *sums = THC_planScratch(&plan, biasScratchBytes(sizes.batch, sizes.outputs));
  THC_planAcquire(&plan);
  const Entries entries = entriesOf(plan, source, sizes, sizes.batch, in);
  const real *g = THC_pointer<const real>(from);
  real *gradients = THC_pointer<real>(to);
  THC_apply(&plan, source.function, sizes.entries, FeatureKey{entries, sizes.inputs},
            THC_sortKeys(scratch));
  const THCSorted sorted = THC_sort(&plan, sizes.entries, sizes.inputs, scratch);
  sumSegments(&plan, sorted, sizes.inputs, sizes.outputs,
              Gradients{entries, sizes.outputs, scale, g, gradients});
  if (weightDecay != 0)
    THC_apply(&plan, source.function, sizes.outputs * sizes.inputs,
              Decay{(real)weightDecay, THC_pointer<const real>(matrix), gradients});
  addBiasGradient(&plan, sizes.batch, sizes.outputs, scale, g, THC_pointer<real>(toBias), sums);
  THC_planRelease(&plan);
}

/* ---- Columns of the last input's features ---------------------------------------------------- */

struct ZeroColumn {
  int64_t inputs;
  real *gradWeight;
  __device__ void operator()(const Segment &of, int64_t o) const
  {
    gradWeight[o * inputs + of.key] = 0;
  }
};

struct UpdateColumn {
  int64_t inputs;
  real rate;
  const real *gradWeight;
  real *weight;
  __device__ void operator()(const Segment &of, int64_t o) const
  {
    const int64_t i = o * inputs + of.key;
    weight[i] -= rate * gradWeight[i];
  }
};

struct Zero {
  __device__ void operator()(real &gradBias) const { gradBias = 0; }
};

struct UpdateBias {
  real rate;
  real *bias;
  __device__ void operator()(int64_t o, const real &gradBias) const { bias[o] -= rate * gradBias; }
};

/* Sorts the entries by feature. */
THCSorted sortFeatures(THCPlan *plan, const SparseInput &source, const THNNSparseLinear &sizes,
                       const THNNBuffer *in, const THNNBuffer *scratch)
{
  const Entries entries = entriesOf(*plan, source, sizes, SAMPLE_DOES_NOT_MATTER, in);
  THC_apply(plan, source.function, sizes.entries, FeatureKey{entries, sizes.inputs},
            THC_sortKeys(scratch));
  return THC_sort(plan, sizes.entries, sizes.inputs, scratch);
}

} // namespace

void THCUNN_(SparseLinear_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                        THCTensor *weight, THCTensor *bias)
{
  const SparseInput source = {"SparseLinear_updateOutput", input, "input", 2, false};
  THNNSparseLinear sizes = THNN_SparseLinear_shapeCheck(
      source.function, false, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5));
  THNN_checkDimensions(source.function, THNN_SHAPE(output, 3), 2, 2, "batch x outputs");
  THNN_checkSize(source.function, THNN_SHAPE(output, 3), 1, sizes.outputs, "rows of weight");
  sizes.batch = output->size[0];
  forward(state, source, sizes, output, weight, bias);
}

void THCUNN_(SparseLinear_legacyUpdateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                              THCTensor *weight, THCTensor *bias)
{
  const SparseInput source = {"SparseLinear_legacyUpdateOutput", input, "input", 2, true};
  const THNNSparseLinear sizes = THNN_SparseLinear_shapeCheck(
      source.function, true, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5));
  forward(state, source, sizes, output, weight, bias);
}

void THCUNN_(SparseLinear_accGradParameters)(THCState *state, THCTensor *input,
                                             THCTensor *gradOutput, THCTensor *gradWeight,
                                             THCTensor *gradBias, THCTensor *weight,
                                             THCTensor *bias, accreal weightDecay, accreal scale)
{
  (void)bias;
  const SparseInput source = {"SparseLinear_accGradParameters", input, "input", 2, false};
  THNNSparseLinear sizes = checkGradients(source, THNN_SHAPE(gradWeight, 4),
                                          THNN_SHAPE(gradBias, 5), THNN_SHAPE(weight, 6));
  THNN_checkDimensions(source.function, THNN_SHAPE(gradOutput, 3), 2, 2, "batch x outputs");
  THNN_checkSize(source.function, THNN_SHAPE(gradOutput, 3), 1, sizes.outputs,
                 "rows of gradWeight");
  sizes.batch = gradOutput->size[0];
  addGradients(state, source, sizes, gradOutput, gradWeight, gradBias, weight, weightDecay, scale);
}

void THCUNN_(SparseLinear_legacyAccGradParameters)(THCState *state, THCTensor *input,
                                                   THCTensor *gradOutput, THCTensor *gradWeight,
                                                   THCTensor *gradBias, THCTensor *weight,
                                                   THCTensor *bias, accreal weightDecay,
                                                   accreal scale)
{
  (void)bias;
  const SparseInput source = {"SparseLinear_legacyAccGradParameters", input, "input", 2, true};
  const THNNSparseLinear sizes = checkGradients(source, THNN_SHAPE(gradWeight, 4),
                                                THNN_SHAPE(gradBias, 5), THNN_SHAPE(weight, 6));
  const int64_t wanted[] = {sizes.batch, sizes.outputs};
  THNN_checkElements(source.function, THNN_SHAPE(gradOutput, 3), THNN_product(2, wanted),
                     "batch x outputs");
  addGradients(state, source, sizes, gradOutput, gradWeight, gradBias, weight, weightDecay, scale);
}

void THCUNN_(SparseLinear_zeroGradParameters)(THCState *state, THCTensor *gradWeight,
                                              THCTensor *gradBias, THCTensor *lastInput)
{
  const SparseInput source = {"SparseLinear_zeroGradParameters", lastInput, "lastInput", 4, false};
  const THNNSparseLinear sizes =
      THNN_SparseLinear_shapeCheck(source.function, false, THNN_SHAPE(lastInput, 4),
                                   THNN_SHAPE(gradWeight, 2), THNN_SHAPE(gradBias, 3));
  checkEntries(state, source, sizes, SAMPLE_DOES_NOT_MATTER, false);

  THCPlan plan;
  THC_planStart(&plan, source.function, state);
  const THNNBuffer *to = THC_planInOut(&plan, gradWeight, 2);
  const THNNBuffer *toBias = THC_planInOut(&plan, gradBias, 3);
  const THNNBuffer *in = THC_planIn(&plan, lastInput, 4);
  const THNNBuffer *scratch = THC_planScratch(&plan, THC_sortScratchBytes(sizes.entries));
  THC_planAcquire(&plan);
  const THCSorted sorted = sortFeatures(&plan, source, sizes, in, scratch);
  forSegments(&plan, sorted, sizes.inputs, sizes.outputs,
              ZeroColumn{sizes.inputs, THC_pointer<real>(to)});
  THC_apply(&plan, source.function, sizes.outputs, Zero{}, THC_pointer<real>(toBias));
  THC_planRelease(&plan);
}

void THCUNN_(SparseLinear_updateParameters)(THCState *state, THCTensor *weight, THCTensor *bias,
                                            THCTensor *gradWeight, THCTensor *gradBias,
                                            THCTensor *lastInput, accreal learningRate)
{
  const SparseInput source = {"SparseLinear_updateParameters", lastInput, "lastInput", 6, false};
  const THNNSparseLinear sizes = THNN_SparseLinear_shapeCheck(
      source.function, false, THNN_SHAPE(lastInput, 6), THNN_SHAPE(weight, 2), THNN_SHAPE(bias, 3));
  THNN_checkSizes(source.function, THNN_SHAPE(gradWeight, 4), 2, weight->size,
                  "the shape of weight");
  THNN_checkVector(source.function, THNN_SHAPE(gradBias, 5), sizes.outputs, "outputs");
  checkEntries(state, source, sizes, SAMPLE_DOES_NOT_MATTER, false);

  THCPlan plan;
  THC_planStart(&plan, source.function, state);
  const THNNBuffer *to = THC_planInOut(&plan, weight, 2);
  const THNNBuffer *toBias = THC_planInOut(&plan, bias, 3);
  const THNNBuffer *from = THC_planIn(&plan, gradWeight, 4);
  const THNNBuffer *fromBias = THC_planIn(&plan, gradBias, 5);
  const THNNBuffer *in = THC_planIn(&plan, lastInput, 6);
  const THNNBuffer *scratch = THC_planScratch(&plan, THC_sortScratchBytes(sizes.entries));
  THC_planAcquire(&plan);
  const THCSorted sorted = sortFeatures(&plan, source, sizes, in, scratch);
  const real rate = (real)learningRate;
  forSegments(
      &plan, sorted, sizes.inputs, sizes.outputs,
      UpdateColumn{sizes.inputs, rate, THC_pointer<const real>(from), THC_pointer<real>(to)});
  THC_apply(&plan, source.function, sizes.outputs, UpdateBias{rate, THC_pointer<real>(toBias)},
            THC_pointer<const real>(fromBias));
  THC_planRelease(&plan);
}
