/* 2-D convolution without weight sharing: each output position has kernels of its own.
 *   input    [batch x] nInputPlane x inputHeight x inputWidth
 *   weight   outputHeight x outputWidth x nOutputPlane x nInputPlane x kH x kW, or
 *            (outputHeight * outputWidth) x nOutputPlane x (nInputPlane * kH * kW)
 *   bias     nOutputPlane x outputHeight x outputWidth
 *   output   [batch x] nOutputPlane x outputHeight x outputWidth
 * The windows of one output position in several samples are the rows of a matrix, so there is one
 * product for each position. One batched call computes them for all positions and a few samples. */
#include "cuda/THC/THCBlas.h"
#include "cuda/generic/convolution/engine/unfold.cuh"
#include "generic/convolution/checks.h"
#include "work/sizes.h"

namespace
{

const int64_t SCRATCH_BYTES = 64 << 20; /* limit for a chunk of more than one sample */

/* Samples [first, first + samples) of a call. Their windows (position x sample x window) and output
 * elements (position x sample x plane) are in scratch. */
struct Chunk {
  const THNNConvolution *geometry;
  int64_t positions, window, planes;
  int64_t largest; /* number of samples of a full chunk */
  int64_t first, samples;
  real *windows, *elements;

  Chunk(const THNNConvolution *g)
      : geometry(g), positions(volumeOf(g->output)), window(g->inputPlanes * volumeOf(g->kernel)),
        planes(g->outputPlanes), first(0)
  {
    const int64_t bytes = positions * (window + planes) * (int64_t)sizeof(real);
    largest = minimum(g->batch, SCRATCH_BYTES / bytes > 1 ? SCRATCH_BYTES / bytes : 1);
    samples = largest;
  }

  int64_t scratchBytes() const
  {
    return largest * positions * (window + planes) * (int64_t)sizeof(real);
  }
  void use(const THNNBuffer *scratch)
  {
    windows = THC_pointer<real>(scratch);
    elements = windows + largest * positions * window;
  }
  bool exists() const { return first < geometry->batch; }
  void next()
  {
    first += largest;
    samples = minimum(largest, geometry->batch - first);
  }

  template <typename T> Planes<T> images(T *input) const
  {
    const int64_t stride = geometry->inputPlanes * volumeOf(geometry->input);
    return {input + first * stride, samples, geometry->inputPlanes, stride};
  }
  template <typename T> Columns<T> columns() const
  {
    return {windows, window, 1, samples * window};
  }

  /* Batches with one matrix for each position. */
  template <typename T> THCMatrix<T> weights(T *weight, bool transposed) const
  {
    return THC_matrix(weight, window, transposed, planes * window);
  }
  THCMatrix<const real> windowRows() const
  {
    return THC_matrix((const real *)windows, window, false, samples * window);
  }
  THCMatrix<const real> elementRows(bool transposed) const
  {
    return THC_matrix((const real *)elements, planes, transposed, samples * planes);
  }

  /* Copies the elements of gradOutput to `elements`. */
  void readElements(THCPlan *plan, const real *gradOutput) const
  {
    const int64_t size[] = {positions, samples, planes};
    const int64_t stride[] = {1, planes * positions, positions};
    const char *from = (const char *)(gradOutput + first * planes * positions);
    const THNNView view = {3,     size, stride, (char *)from, samples * planes * positions,
                           false, false};
    THC_gather(plan, &view, sizeof(real), elements);
  }
};

/* Writes one element of the output: its bias plus its element of the product. */
struct PutElement {
  THCDivisor<int64_t> positions, planes;
  int64_t samples;
  const real *bias, *elements;

  __device__ void operator()(int64_t i, real &output) const
  {
    const THCSplit<int64_t> position = THC_divide(i, positions);
    const THCSplit<int64_t> plane = THC_divide(position.quotient, planes);
    output =
        bias[plane.remainder * positions.value + position.remainder] +
        elements[(position.remainder * samples + plane.quotient) * planes.value + plane.remainder];
  }
};

/* gradBias += scale * gradOutput, summed over the samples */
struct AddSamples {
  int64_t batch, sampleElements;
  accreal scale;
  const real *gradOutput;

  __device__ void operator()(int64_t i, real &gradBias, const real &old) const
  {
    accreal sum = 0;
    for (int64_t sample = 0; sample < batch; sample++)
      sum += gradOutput[sample * sampleElements + i];
    gradBias = old + real(scale * sum);
  }
};

} // namespace

void THCUNN_(SpatialConvolutionLocal_updateOutput)(
    THCState *state, THCTensor *input, THCTensor *output, THCTensor *weight, THCTensor *bias,
    THCTensor *finput, THCTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH,
    int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight)
{
  (void)finput, (void)fgradInput;
  const char *function = "SpatialConvolutionLocal_updateOutput";
  const THNNConvolution g = THNN_SpatialConvolutionLocal_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5), 8,
      kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight);
  const bool batched = input->nDimension == 4;
  const int64_t size[] = {g.batch, g.outputPlanes, outputHeight, outputWidth};
  Chunk chunk(&g);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, 3 + batched, size + !batched);
  const THNNBuffer *kernels = THC_planIn(&plan, weight, 4);
  const THNNBuffer *start = THC_planIn(&plan, bias, 5);
  const THNNBuffer *scratch = THC_planScratch(&plan, chunk.scratchBytes());
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const int64_t sampleElements = chunk.planes * chunk.positions;
  for (chunk.use(scratch); chunk.exists(); chunk.next()) {
    THCUNN_(unfold_toColumns)(&plan, &g, chunk.images(THC_pointer<const real>(in)),
                              chunk.columns<real>());
    THC_multiply(&plan, chunk.positions, chunk.samples, chunk.planes, chunk.window, real(1),
                 chunk.windowRows(), chunk.weights(THC_pointer<const real>(kernels), true), real(0),
                 THC_matrix(chunk.elements, chunk.planes, false, chunk.samples * chunk.planes));
    const PutElement put = {THCDivisor<int64_t>(chunk.positions), THCDivisor<int64_t>(chunk.planes),
                            chunk.samples, THC_pointer<const real>(start), chunk.elements};
    THC_apply(&plan, function, chunk.samples * sampleElements, put,
              THC_pointer<real>(out) + chunk.first * sampleElements);
  }
  THC_planRelease(&plan);
}

void THCUNN_(SpatialConvolutionLocal_updateGradInput)(THCState *state, THCTensor *input,
                                                      THCTensor *gradOutput, THCTensor *gradInput,
                                                      THCTensor *weight, THCTensor *finput,
                                                      THCTensor *fgradInput, int kW, int kH, int dW,
                                                      int dH, int padW, int padH,
                                                      int64_t inputWidth, int64_t inputHeight,
                                                      int64_t outputWidth, int64_t outputHeight)
{
  (void)finput, (void)fgradInput;
  const char *function = "SpatialConvolutionLocal_updateGradInput";
  const THNNConvolution g = THNN_SpatialConvolutionLocal_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 8, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth,
      outputHeight);
  Chunk chunk(&g);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *kernels = THC_planIn(&plan, weight, 5);
  const THNNBuffer *scratch = THC_planScratch(&plan, chunk.scratchBytes());
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  for (chunk.use(scratch); chunk.exists(); chunk.next()) {
    chunk.readElements(&plan, THC_pointer<const real>(from));
    THC_multiply(&plan, chunk.positions, chunk.samples, chunk.window, chunk.planes, real(1),
                 chunk.elementRows(false), chunk.weights(THC_pointer<const real>(kernels), false),
                 real(0),
                 THC_matrix(chunk.windows, chunk.window, false, chunk.samples * chunk.window));
    THCUNN_(unfold_toImage)(&plan, &g, chunk.columns<const real>(), nullptr,
                            chunk.images(THC_pointer<real>(to)));
  }
  THC_planRelease(&plan);
}

void THCUNN_(SpatialConvolutionLocal_accGradParameters)(
    THCState *state, THCTensor *input, THCTensor *gradOutput, THCTensor *gradWeight,
    THCTensor *gradBias, THCTensor *finput, THCTensor *fgradInput, int kW, int kH, int dW, int dH,
    int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth,
    int64_t outputHeight, accreal scale)
{
  (void)finput, (void)fgradInput;
  const char *function = "SpatialConvolutionLocal_accGradParameters";
  const THNNConvolution g = THNN_SpatialConvolutionLocal_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth,
      outputHeight);
  Chunk chunk(&g);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *kernels = THC_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *start = THC_planInOut(&plan, gradBias, 5);
  const THNNBuffer *scratch = THC_planScratch(&plan, chunk.scratchBytes());
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const real *gradients = THC_pointer<const real>(from);
  for (chunk.use(scratch); chunk.exists(); chunk.next()) {
    THCUNN_(unfold_toColumns)(&plan, &g, chunk.images(THC_pointer<const real>(in)),
                              chunk.columns<real>());
    chunk.readElements(&plan, gradients);
    THC_multiply(&plan, chunk.positions, chunk.planes, chunk.window, chunk.samples, (real)scale,
                 chunk.elementRows(true), chunk.windowRows(), real(1),
                 chunk.weights(THC_pointer<real>(kernels), false));
  }
  const int64_t sampleElements = chunk.planes * chunk.positions;
  const AddSamples add = {g.batch, sampleElements, scale, gradients};
  THC_apply(&plan, function, sampleElements, add, THC_pointer<real>(start),
            THC_pointer<const real>(start));
  THC_planRelease(&plan);
}
