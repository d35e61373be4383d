#include "cuda/generic/convolution/module.cuh"

#include "cuda/generic/convolution/engine/engine.cuh"
#include "geometry/convolutionCheck.h"

void THCUNN_(module_updateOutput)(const THCConvolutionCall *call, THCTensor *input,
                                  THCTensor *output, THCTensor *weight, THCTensor *bias)
{
  const THNNConvolution *geometry = &call->geometry;
  const bool batched = input->nDimension == call->nDimension + 2;
  int64_t size[5];
  const int nDimension =
      THNN_convolutionSizes(geometry, call->nDimension, call->transposed, batched, size);

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THCConvolutionPlan convolution = THCUNN_(engine_prepare)(
      call->state, geometry,
      call->transposed ? THNN_CONVOLUTION_BACKWARD_DATA : THNN_CONVOLUTION_FORWARD);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *kernel = THC_planIn(&plan, weight, 4);
  const THNNBuffer *start = bias ? THC_planIn(&plan, bias, 5) : nullptr;
  const THNNBuffer *scratch = THC_planScratch(&plan, convolution.scratchBytes);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const auto compute = call->transposed ? THCUNN_(engine_backwardData) : THCUNN_(engine_forward);
  compute(&plan, &convolution, THC_pointer<const real>(in), THC_pointer<const real>(kernel),
          THC_pointer<const real>(start), THC_pointer<real>(out), THC_pointer<real>(scratch));
  THC_planRelease(&plan);
}

void THCUNN_(module_updateGradInput)(const THCConvolutionCall *call, THCTensor *input,
                                     THCTensor *gradOutput, THCTensor *gradInput, THCTensor *weight)
{
  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THCConvolutionPlan convolution = THCUNN_(engine_prepare)(
      call->state, &call->geometry,
      call->transposed ? THNN_CONVOLUTION_FORWARD : THNN_CONVOLUTION_BACKWARD_DATA);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *kernel = THC_planIn(&plan, weight, 5);
  const THNNBuffer *scratch = THC_planScratch(&plan, convolution.scratchBytes);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const auto compute = call->transposed ? THCUNN_(engine_forward) : THCUNN_(engine_backwardData);
  compute(&plan, &convolution, THC_pointer<const real>(from), THC_pointer<const real>(kernel),
          nullptr, THC_pointer<real>(to), THC_pointer<real>(scratch));
  THC_planRelease(&plan);
}

void THCUNN_(module_accGradParameters)(const THCConvolutionCall *call, THCTensor *input,
                                       THCTensor *gradOutput, THCTensor *gradWeight,
                                       THCTensor *gradBias, accreal scale)
{
  const THNNConvolution *geometry = &call->geometry;
  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THCConvolutionPlan convolution =
      THCUNN_(engine_prepare)(call->state, geometry, THNN_CONVOLUTION_BACKWARD_WEIGHT);
  const int64_t planes = call->transposed ? geometry->inputPlanes : geometry->outputPlanes;
  const int64_t positions =
      call->transposed ? convolution.imagePositions : convolution.mapPositions;
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *kernel = THC_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *start = gradBias ? THC_planInOut(&plan, gradBias, 5) : nullptr;
  const THNNBuffer *scratch = THC_planScratch(&plan, convolution.scratchBytes);
  const THNNBuffer *partial = THC_planScratch(
      &plan, gradBias ? THCUNN_(engine_biasScratchBytes)(geometry->batch, planes, positions) : 0);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const real *gradients = THC_pointer<const real>(from);
  const real *image = call->transposed ? gradients : THC_pointer<const real>(in);
  const real *map = call->transposed ? THC_pointer<const real>(in) : gradients;
  THCUNN_(engine_backwardWeight)(&plan, &convolution, image, map, scale, THC_pointer<real>(kernel),
                                 THC_pointer<real>(scratch));
  if (gradBias)
    THCUNN_(engine_backwardBias)(&plan, geometry->batch, planes, positions, gradients, scale,
                                 THC_pointer<real>(start), THC_pointer<accreal>(partial));
  THC_planRelease(&plan);
}
