#include "generic/convolution/module.h"

#include <stdio.h>

#include "call/state.h"
#include "generic/convolution/kept.h"
#include "geometry/convolutionCheck.h"

/* The pass that computes the image from the map if `image` is true, else the map from the image. */
static THNNConvolutionPart passTo(bool image)
{
  return image ? THNN_CONVOLUTION_BACKWARD_DATA : THNN_CONVOLUTION_FORWARD;
}

/* Rejects what is no THNNActivation. */
static void checkActivation(const THNNConvolutionCall *call)
{
  char found[16];
  if (call->activation >= THNN_ACTIVATION_NONE && call->activation <= THNN_ACTIVATION_SIGMOID)
    return;
  snprintf(found, sizeof found, "%d", call->activation);
  THNN_reject(call->function, "activation", 7, "a THNNActivation, 0 to 6", found);
}

/* How results are finished that `more` is added to, unless it is NULL. */
static Finish finishOf(const THNNConvolutionCall *call, const THNNState *state, const real *more)
{
  const Simd *simd = simdFor(state);
  Finish finish = {.addend = more,
                   .parameters = {(real)call->parameters[0], (real)call->parameters[1]}};
  switch ((THNNActivation)call->activation) {
  case THNN_ACTIVATION_NONE:
    break;
  case THNN_ACTIVATION_THRESHOLD:
    finish.rectifies = finish.parameters[0] == 0 && finish.parameters[1] == 0;
    finish.map = finish.rectifies ? NULL : simd->pointwise.threshold;
    break;
  case THNN_ACTIVATION_LEAKY_RELU:
    finish.map = simd->activation.leakyRelu;
    break;
  case THNN_ACTIVATION_HARD_TANH:
    finish.map = simd->activation.hardTanh;
    break;
  case THNN_ACTIVATION_ELU:
    finish.map = simd->activation.elu;
    break;
  case THNN_ACTIVATION_TANH:
    finish.map = simd->elementary.tanh;
    break;
  case THNN_ACTIVATION_SIGMOID:
    finish.map = simd->elementary.sigmoid;
    break;
  }
  return finish;
}

/* Notes in the geometry which tensors have their planes last, and that they are computed with as they
 * are. It does so only for programs, which choose that order where it takes less time: other calls
 * give the bits that contiguous tensors give. */
static void notePlanesLast(const THNNConvolutionCall *call, const THNNState *state,
                           const THNNBuffer *in, const THNNBuffer *out, THNNConvolution *geometry)
{
  if (!THNN_State_keepsWeights(state) || THNN_State_reproducible(state) || call->nDimension != 2 ||
      call->transposed || !THNN_hasWantedSize(out))
    return;
  geometry->imageLast = THNN_hasPlanesLast(in);
  geometry->mapLast = THNN_hasPlanesLast(out);
}

void THNN_(module_updateOutput)(const THNNConvolutionCall *call, THTensor *input, THTensor *output,
                                THTensor *weight, THTensor *bias)
{
  THNNConvolution geometry = call->geometry;
  const bool batched = input->nDimension == call->nDimension + 2;
  int64_t size[5];
  const int nDimension =
      THNN_convolutionSizes(&geometry, call->nDimension, call->transposed, batched, size);
  THTensor *addend = call->addend;
  checkActivation(call);
  if (addend)
    THNN_checkSizes(call->function, THNN_SHAPE(addend, 6), nDimension, size, "shape of output");

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  const THNNState state = THNN_stateFor(call->state, THNN_OUTPUT);
  THNNConvolutionPlan room;
  LeavingConvolution leaving;
  const THNNConvolutionPart part = passTo(call->transposed);
  notePlanesLast(call, &state, in, out, &geometry);
  const THNNConvolutionPlan *convolution =
      THNN_(kept_prepare)(&room, &leaving, &state, &geometry, part, weight);
  if (!THNN_(engine_applies)(convolution)) {
    geometry.imageLast = geometry.mapLast = false;
    convolution = THNN_(kept_prepare)(&room, &leaving, &state, &geometry, part, weight);
  }
  THNNBuffer *kernel = THNN_planIn(&plan, weight, 4);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 5) : NULL;
  THNNBuffer *more = addend ? THNN_planIn(&plan, addend, 6) : NULL;
  if (geometry.imageLast)
    THNN_planPlanesLast(in);
  if (geometry.mapLast)
    THNN_planPlanesLast(out);
  if (geometry.mapLast && more)
    THNN_planPlanesLast(more);
  THNNBuffer *scratch = THNN_planScratch(&plan, convolution->scratchBytes);
  THNNBuffer *left = leaving.leaves ? THNN_planKept(&plan, THNN_(kept_bytes)(convolution)) : NULL;
  THNN_planAcquire(&plan);

  if (left)
    convolution = THNN_(kept_fill)(left->data, convolution, &leaving, &state, &geometry,
                                   kernel->data, scratch->data);
  const Finish finish = finishOf(call, &state, more ? more->data : NULL);
  THNN_(engine_runAndFinish)(convolution, in->data, kernel->data, start ? start->data : NULL,
                             finish, out->data, scratch->data);
  THNN_planRelease(&plan);
  if (left)
    THNN_leaveKept(&state, left->data);
}

void THNN_(module_updateGradInput)(const THNNConvolutionCall *call, THTensor *input,
                                   THTensor *gradOutput, THTensor *gradInput, THTensor *weight)
{
  const THNNState state = THNN_stateFor(call->state, THNN_GRAD_INPUT);
  THNNConvolutionPlan convolution;
  THNN_(engine_prepare)(&convolution, &state, &call->geometry, passTo(!call->transposed));

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  THNNBuffer *gradOut = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *gradIn = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *kernel = THNN_planIn(&plan, weight, 5);
  THNNBuffer *scratch = THNN_planScratch(&plan, convolution.scratchBytes);
  THNN_planAcquire(&plan);

  THNN_(engine_run)(&convolution, gradOut->data, kernel->data, NULL, gradIn->data, scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(module_accGradParameters)(const THNNConvolutionCall *call, THTensor *input,
                                     THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                     accreal scale)
{
  const THNNState state = THNN_stateFor(call->state, THNN_GRAD_WEIGHT);
  THNNConvolutionPlan convolution;
  THNN_(engine_prepare)(&convolution, &state, &call->geometry, THNN_CONVOLUTION_BACKWARD_WEIGHT);

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *gradOut = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *kernel = THNN_planInOut(&plan, gradWeight, 4);
  THNNBuffer *start = gradBias ? THNN_planInOut(&plan, gradBias, 5) : NULL;
  THNNBuffer *scratch = THNN_planScratch(&plan, convolution.scratchBytes);
  THNN_planAcquire(&plan);

  real *bias = start ? start->data : NULL;
  if (call->transposed) {
    THNN_(engine_backwardWeight)(&convolution, gradOut->data, in->data, scale, kernel->data, NULL,
                                 scratch->data);
    if (bias)
      THNN_(engine_backwardTransposedBias)(&convolution, gradOut->data, scale, bias);
  } else {
    THNN_(engine_backwardWeight)(&convolution, in->data, gradOut->data, scale, kernel->data, bias,
                                 scratch->data);
  }
  THNN_planRelease(&plan);
}
