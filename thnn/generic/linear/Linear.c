/* Linear layer.
 *   input    [batch x] inputs      output   [batch x] outputs
 *   weight   outputs x inputs      bias     outputs
 * output = bias + weight * input;  gradInput = weight^T * gradOutput;  gradWeight += scale *
 * gradOutput * input^T;  gradBias += scale * gradOutput; both summed over the batch.
 *
 * An input with another number of dimensions is ignored, as in the original: output and gradients
 * stay as they are, and gradInput becomes 0. */
#include "call/state.h"
#include "generic/linear/checks.h"
#include "generic/shared/keptPanels.h"

#ifdef THNN_ONCE
THNNLinear THNN_Linear_shapeCheck(const char *function, THNNShape input, THNNShape gradOutput,
                                  THNNShape weight, THNNShape bias)
{
  THNN_checkGiven(function, input);
  THNN_checkDimensions(function, weight, 2, 2, "outputs x inputs");
  THNN_checkBlasSizes(function, weight);
  THNN_elements(function, weight);
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkGiven(function, gradOutput);
  if (input.nDimension != 1 && input.nDimension != 2)
    return (THNNLinear){0, 0, 0};

  const bool batched = input.nDimension == 2;
  const THNNLinear sizes = {batched ? input.size[0] : 1, weight.size[1], weight.size[0]};
  const int64_t inputSize[] = {sizes.batch, sizes.inputs};
  const int64_t outputSize[] = {sizes.batch, sizes.outputs};
  THNN_checkDimensions(function, input, 1, 2, "[batch x] inputs");
  THNN_checkSizes(function, input, input.nDimension, inputSize + !batched, "[batch x] inputs");
  THNN_checkBlasSizes(function, input);
  THNN_elements(function, input);
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkSizes(function, gradOutput, input.nDimension, outputSize + !batched,
                    "[batch x] outputs");
  if (THNN_given(bias))
    THNN_checkVector(function, bias, sizes.outputs, "outputs");
  return sizes;
}
#endif

void THNN_(Linear_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                THTensor *weight, THTensor *bias, THTensor *addBuffer)
{
  const char *function = "Linear_updateOutput";
  const THNNLinear sizes = THNN_Linear_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                                                  THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5));
  THNN_checkGiven(function, THNN_SHAPE(output, 3));
  (void)addBuffer;
  if (sizes.batch == 0)
    return;
  const int64_t outputSize[] = {sizes.batch, sizes.outputs};
  const THNNState settings = THNN_stateFor(state, THNN_OUTPUT);
  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out =
      THNN_planOut(&plan, output, 3, input->nDimension, outputSize + (input->nDimension == 1));
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 4);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 5) : NULL;
  PanelKeeping keeping = panelKeeping(&plan, &settings, THNN_KEPT_LINEAR, sizes.outputs,
                                      sizes.batch, sizes.inputs, weight);
  const THNNRoom room =
      THNN_(matrix_room)(state, sizes.outputs, sizes.batch, sizes.inputs, true, false);
  THNNBuffer *scratch = usesPanels(&keeping) ? NULL : THNN_planRoom(&plan, room);
  THNN_planAcquire(&plan);

  const real *added = start ? start->data : NULL;
  const Matrix w = {matrix->data, sizes.inputs, true}, x = {in->data, sizes.inputs, false};
  packKeptPanels(&keeping, w, matrix->data);
  if (usesPanels(&keeping))
    multiplyKeptPanels(&keeping, x, added, out->data);
  else
    THNN_(matrix_affine)(state, sizes.batch, sizes.outputs, sizes.inputs, in->data, sizes.inputs,
                         matrix->data, added, out->data, sizes.outputs, THNN_roomIn(room, scratch));
  THNN_planRelease(&plan);
  leaveKeptPanels(&keeping);
}

void THNN_(Linear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                   THTensor *gradInput, THTensor *weight)
{
  const char *function = "Linear_updateGradInput";
  const THNNLinear sizes =
      THNN_Linear_shapeCheck(function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3),
                             THNN_SHAPE(weight, 5), THNN_NO_SHAPE);
  if (!gradInput)
    return;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 5);
  const THNNState settings = THNN_stateFor(state, THNN_GRAD_INPUT);
  PanelKeeping keeping = panelKeeping(&plan, &settings, THNN_KEPT_LINEAR_BACK, sizes.inputs,
                                      sizes.batch, sizes.outputs, weight);
  const THNNRoom room =
      THNN_(matrix_room)(state, sizes.inputs, sizes.batch, sizes.outputs, false, false);
  THNNBuffer *scratch = usesPanels(&keeping) ? NULL : THNN_planRoom(&plan, room);
  THNN_planAcquire(&plan);

  if (sizes.batch == 0) {
    THNN_(simd).pointwise.fill(THTensor_(nElement)(input), 0, to->data);
  } else {
    const Matrix w = {matrix->data, sizes.inputs, false};
    const Matrix g = {from->data, sizes.outputs, false};
    packKeptPanels(&keeping, w, matrix->data);
    if (usesPanels(&keeping))
      multiplyKeptPanels(&keeping, g, NULL, to->data);
    else
      THNN_(matrix_multiply)(state, sizes.inputs, sizes.batch, sizes.outputs, 1, w, g, 0, to->data,
                             THNN_roomIn(room, scratch));
  }
  THNN_planRelease(&plan);
  leaveKeptPanels(&keeping);
}

void THNN_(Linear_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                     THTensor *gradInput, THTensor *weight, THTensor *bias,
                                     THTensor *gradWeight, THTensor *gradBias, THTensor *addBuffer,
                                     accreal scale)
{
  const char *function = "Linear_accGradParameters";
  const THNNLinear sizes = THNN_Linear_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 7),
      bias ? THNN_SHAPE(gradBias, 8) : THNN_NO_SHAPE);
  (void)gradInput, (void)weight, (void)addBuffer;
  if (bias)
    THNN_checkGiven(function, THNN_SHAPE(gradBias, 8));
  if (sizes.batch == 0)
    return;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *matrix = THNN_planInOut(&plan, gradWeight, 7);
  THNNBuffer *vector = bias ? THNN_planInOut(&plan, gradBias, 8) : NULL;
  const THNNRoom room =
      THNN_(matrix_room)(state, sizes.inputs, sizes.outputs, sizes.batch, false, true);
  THNNBuffer *scratch = THNN_planRoom(&plan, room);
  THNN_planAcquire(&plan);

  const Matrix x = {in->data, sizes.inputs, false}, g = {from->data, sizes.outputs, true};
  THNN_(matrix_multiply)(state, sizes.inputs, sizes.outputs, sizes.batch, (real)scale, x, g, 1,
                         matrix->data, THNN_roomIn(room, scratch));
  if (vector)
    THNN_(matrix_addRowSum)(state, sizes.batch, sizes.outputs, (real)scale, from->data,
                            sizes.outputs, vector->data);
  THNN_planRelease(&plan);
}
