/* 1-D convolution over frames: each output frame is a linear function of kW neighbouring frames.
 *   input    [batch x] nInputFrame x inputFrameSize
 *   weight   outputFrameSize x (kW * inputFrameSize)
 *   output   [batch x] nOutputFrame x outputFrameSize
 * nOutputFrame is (nInputFrame - kW) / dW + 1, rounded down.
 *
 * The frames of a window are contiguous, so the input need not be unfolded: every `period`-th
 * window is a row of a matrix whose rows do not overlap, and `period` products, each for all
 * samples, cover all windows. Only the weight's gradient, which also sums over samples, copies the
 * windows, a few samples at a time. */
#include "cuda/THC/THCBlas.h"
#include "cuda/THC/THCDivision.cuh"
#include "cuda/generic/shared/segmentSums.cuh"
#include "generic/convolution/checks.h"
#include "work/sizes.h"

namespace
{

const int64_t USUAL_CACHE_BYTES = 4 << 20; /* where the device does not report its L2 cache */

/* A residue class of windows: in each sample, `count` windows, every period-th beginning with
 * number `first`. */
struct ResidueClass {
  int64_t first, count;
};

/* The geometry, and sizes derived from it. */
struct Frames : THNNFrames {
  int64_t stride, window; /* elements from a window to the next, elements of a window */
  int64_t period;         /* the least distance of windows that do not overlap, in windows */

  Frames(const THNNFrames &frames, int64_t kW, int64_t dW)
      : THNNFrames(frames), stride(dW * frames.inputSize), window(kW * frames.inputSize),
        period((kW + dW - 1) / dW)
  {
  }
  int64_t residues() const { return minimum(period, outputFrames); }
  ResidueClass residue(int64_t first) const
  {
    return {first, (outputFrames - first + period - 1) / period};
  }
  /* The windows of a residue class as rows, in an array with the input's shape. */
  template <typename T> THCMatrix<T> windows(const ResidueClass &residue, T *input) const
  {
    return THC_matrix(input + residue.first * stride, period * stride, false,
                      inputFrames * inputSize);
  }
  /* The results of a residue class as rows, in an array of `frames` output frames for each
   * sample. */
  template <typename T>
  THCMatrix<T> results(const ResidueClass &residue, T *output, int64_t frames) const
  {
    return THC_matrix(output + residue.first * outputSize, period * outputSize, false,
                      frames * outputSize);
  }
};

/* output = bias in every frame */
struct Bias {
  THCDivisor<int64_t> columns;
  const real *bias;

  __device__ void operator()(int64_t i, real &output) const
  {
    output = bias[THC_divide(i, columns).remainder];
  }
};

struct Zero {
  __device__ void operator()(real &value) const { value = real(0); }
};

/* Term i of the bias's gradient: output frame i, counted over all samples. */
template <typename Index> struct FrameElement {
  THCDivisor<Index> outputFrames;
  Index gradientFrames, outputSize;
  const real *gradOutput;

  __device__ accreal operator()(Index column, Index i) const
  {
    const THCSplit<Index> frame = THC_divide(i, outputFrames);
    return gradOutput[(frame.quotient * gradientFrames + frame.remainder) * outputSize + column];
  }
};

template <typename Index>
void addBias(THCPlan *plan, const Frames &frames, const real *gradOutput, accreal scale,
             real *gradBias, accreal *partial)
{
  const FrameElement<Index> element = {THCDivisor<Index>(frames.outputFrames),
                                       (Index)frames.gradientFrames, (Index)frames.outputSize,
                                       gradOutput};
  addSums<Index>(plan, frames.outputSize, frames.batch * frames.outputFrames, element, scale,
                 gradBias, partial);
}

/* Copies `samples` samples with the given strides to `dense`, sample x frame x element. */
void copyFrames(THCPlan *plan, int64_t samples, int64_t frames, int64_t elements,
                int64_t sampleStride, int64_t frameStride, const real *from, real *dense)
{
  const int64_t size[] = {samples, frames, elements}, stride[] = {sampleStride, frameStride, 1};
  const THNNView view = {3, size, stride, (char *)from, samples * sampleStride, false, false};
  THC_gather(plan, &view, sizeof(real), dense);
}

/* gradWeight += scale * gradOutput^T * windows, `chunk` samples at a time; `scratch` has room for
 * their windows and their gradients. */
void addWeight(THCPlan *plan, const Frames &f, int64_t chunk, const real *input,
               const real *gradOutput, accreal scale, real *gradWeight, real *scratch)
{
  real *windows = scratch, *gradients = scratch + chunk * f.outputFrames * f.window;
  for (int64_t first = 0; first < f.batch; first += chunk) {
    const int64_t samples = minimum(chunk, f.batch - first);
    copyFrames(plan, samples, f.outputFrames, f.window, f.inputFrames * f.inputSize, f.stride,
               input + first * f.inputFrames * f.inputSize, windows);
    copyFrames(plan, samples, f.outputFrames, f.outputSize, f.gradientFrames * f.outputSize,
               f.outputSize, gradOutput + first * f.gradientFrames * f.outputSize, gradients);
    THC_multiply(plan, 1, f.outputSize, f.window, samples * f.outputFrames, (real)scale,
                 THC_matrix((const real *)gradients, f.outputSize, true),
                 THC_matrix((const real *)windows, f.window), real(1),
                 THC_matrix(gradWeight, f.window));
  }
}

} // namespace

void THCUNN_(TemporalConvolution_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                               THCTensor *weight, THCTensor *bias, int kW, int dW,
                                               int inputFrameSize, int outputFrameSize)
{
  const char *function = "TemporalConvolution_updateOutput";
  const Frames frames(THNN_TemporalConvolution_shapeCheck(
                          function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
                          THNN_SHAPE(bias, 5), THNN_SCALAR(kW, 6), THNN_SCALAR(dW, 7)),
                      kW, dW);
  const bool batched = input->nDimension == 3;
  THNN_checkSize(function, THNN_SHAPE(input, 2), 1 + batched, inputFrameSize, "inputFrameSize");
  THNN_checkSize(function, THNN_SHAPE(weight, 4), 0, outputFrameSize, "outputFrameSize");
  const int64_t size[] = {frames.batch, frames.outputFrames, frames.outputSize};

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, 2 + batched, size + !batched);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 4);
  const THNNBuffer *start = THC_planIn(&plan, bias, 5);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const real *x = THC_pointer<const real>(in), *w = THC_pointer<const real>(matrix);
  real *y = THC_pointer<real>(out);
  const Bias fill = {THCDivisor<int64_t>(frames.outputSize), THC_pointer<const real>(start)};
  THC_apply(&plan, function, frames.batch * frames.outputFrames * frames.outputSize, fill, y);
  for (int64_t i = 0; i < frames.residues(); i++) {
    const ResidueClass residue = frames.residue(i);
    THC_multiply(&plan, frames.batch, residue.count, frames.outputSize, frames.window, real(1),
                 frames.windows(residue, x), THC_matrix(w, frames.window, true), real(1),
                 frames.results(residue, y, frames.outputFrames));
  }
  THC_planRelease(&plan);
}

void THCUNN_(TemporalConvolution_updateGradInput)(THCState *state, THCTensor *input,
                                                  THCTensor *gradOutput, THCTensor *gradInput,
                                                  THCTensor *weight, int kW, int dW)
{
  const char *function = "TemporalConvolution_updateGradInput";
  const Frames frames(THNN_TemporalConvolution_shapeCheck(function, THNN_SHAPE(input, 2),
                                                          THNN_SHAPE(gradOutput, 3),
                                                          THNN_SHAPE(weight, 5), THNN_NO_SHAPE,
                                                          THNN_SCALAR(kW, 6), THNN_SCALAR(dW, 7)),
                      kW, dW);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *matrix = THC_planIn(&plan, weight, 5);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const real *g = THC_pointer<const real>(from), *w = THC_pointer<const real>(matrix);
  real *x = THC_pointer<real>(to);
  THC_apply(&plan, function, frames.batch * frames.inputFrames * frames.inputSize, Zero(), x);
  for (int64_t i = 0; i < frames.residues(); i++) {
    const ResidueClass residue = frames.residue(i);
    THC_multiply(&plan, frames.batch, residue.count, frames.window, frames.outputSize, real(1),
                 frames.results(residue, g, frames.gradientFrames), THC_matrix(w, frames.window),
                 real(1), frames.windows(residue, x));
  }
  THC_planRelease(&plan);
}

void THCUNN_(TemporalConvolution_accGradParameters)(THCState *state, THCTensor *input,
                                                    THCTensor *gradOutput, THCTensor *gradWeight,
                                                    THCTensor *gradBias, int kW, int dW,
                                                    accreal scale)
{
  const char *function = "TemporalConvolution_accGradParameters";
  const Frames frames(
      THNN_TemporalConvolution_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                                          THNN_SHAPE(gradWeight, 4), THNN_SHAPE(gradBias, 5),
                                          THNN_SCALAR(kW, 6), THNN_SCALAR(dW, 7)),
      kW, dW);
  const int64_t terms = frames.batch * frames.outputFrames;
  const int64_t sampleElements = frames.outputFrames * (frames.window + frames.outputSize);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const int64_t cacheBytes = state->cacheBytes > 0 ? state->cacheBytes : USUAL_CACHE_BYTES;
  const int64_t fitting = cacheBytes / 2 / (int64_t)sizeof(real) / sampleElements;
  const int64_t chunk = minimum(frames.batch, fitting > 1 ? fitting : 1);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *matrix = THC_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *vector = THC_planInOut(&plan, gradBias, 5);
  const THNNBuffer *scratch =
      THC_planScratch(&plan, chunk * sampleElements * (int64_t)sizeof(real));
  const THNNBuffer *partial = THC_planScratch(&plan, segmentBytes(frames.outputSize, terms));
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const real *gradients = THC_pointer<const real>(from);
  addWeight(&plan, frames, chunk, THC_pointer<const real>(in), gradients, scale,
            THC_pointer<real>(matrix), THC_pointer<real>(scratch));
  const bool small = THC_fitsIndex(frames.batch * frames.gradientFrames * frames.outputSize);
  const auto add = small ? addBias<uint32_t> : addBias<uint64_t>;
  add(&plan, frames, gradients, scale, THC_pointer<real>(vector), THC_pointer<accreal>(partial));
  THC_planRelease(&plan);
}
