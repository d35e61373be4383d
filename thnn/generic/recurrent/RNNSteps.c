/* All steps of a plain recurrent layer, given the products of its input.
 *   input    steps x batch x units: W x and its bias
 *   weight   units x units: U            bias   units, may be NULL
 *   output   (steps + 1) x batch x units: before and after the steps
 *
 *   h' = f(input + U h + bias), where f is tanh, or max(x, 0) if the layer rectifies
 *
 * Backward from the last step to the first, with f' as h' has it:
 *   gradInput = f' (gradState + gradOutput),  gradState = gradInput U */
#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/recurrent/stepProducts.h"

enum {
  GATES = 1,
  FORWARD_COST = 8, /* cost of a unit, in copied elements */
  BACKWARD_COST = 3
};

/* What the cells of all steps read and write. */
typedef struct ForwardCells {
  int64_t units, batch;
  const real *input;
  real *states;
  bool rectify;
  Map tanh;
} ForwardCells;

/* Computes the state of a sample. */
static void forwardCell(const void *cells, THNNStep at, int64_t sample)
{
  const ForwardCells *of = cells;
  const int64_t units = of->units;
  real *row = of->states + (at.after * of->batch + sample) * units;
  THNN_(simd).pointwise.finish(units, of->input + (at.step * of->batch + sample) * units,
                               of->rectify, row);
  if (!of->rectify)
    of->tanh(units, row, NULL, row);
}

void THNN_(RNNSteps_updateOutput)(THNNState *state, THTensor *input, THTensor *weight,
                                  THTensor *bias, THTensor *output, bool rectify, bool reverse)
{
  const char *function = "RNNSteps_updateOutput";
  const THNNSteps sizes =
      THNN_steps_shapeCheck(function, GATES, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepBias(function, GATES, &sizes, THNN_SHAPE(bias, 4));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 5));
  const int64_t units = sizes.units, batch = sizes.batch;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *all = THNN_planIn(&plan, input, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 4) : NULL;
  THNNBuffer *states = THNN_planInOut(&plan, output, 5);
  StepProducts products = stepProducts(&plan, state, &sizes, units, units, false);
  THNN_planAcquire(&plan);

  takeWeight(&products, matrix->data);
  const ForwardCells of = {.units = units,
                           .batch = batch,
                           .input = all->data,
                           .states = states->data,
                           .rectify = rectify,
                           .tanh = simdFor(state)->elementary.tanh};
  const StepLayer layer = {.x = states->data,
                           .start = start ? start->data : NULL,
                           .y = states->data,
                           .isState = true,
                           .cell = forwardCell,
                           .of = &of,
                           .cost = (double)units * FORWARD_COST};
  computeSteps(&products, &layer, &sizes, reverse);
  THNN_planRelease(&plan);
}

/* What the gradients of the cells of all steps read and write; `given` may be NULL. */
typedef struct BackwardCells {
  int64_t units, batch;
  const real *states, *given;
  real *gradInput, *carried;
  Map2 slope;
} BackwardCells;

/* Computes the gradient of a sample's sums. */
static void backwardCell(const void *cells, THNNStep at, int64_t sample)
{
  const BackwardCells *of = cells;
  const int64_t units = of->units, place = at.step * of->batch + sample;
  real *row = of->carried + sample * units;
  if (of->given)
    THNN_(simd).pointwise.axpy(units, 1, of->given + place * units, row);
  const real zero = 0;
  of->slope(units, of->states + (at.after * of->batch + sample) * units, row, &zero,
            of->gradInput + place * units);
}

void THNN_(RNNSteps_updateGradInput)(THNNState *state, THTensor *output, THTensor *weight,
                                     THTensor *gradOutput, THTensor *gradInput, THTensor *gradState,
                                     bool rectify, bool reverse)
{
  const char *function = "RNNSteps_updateGradInput";
  const THNNSteps sizes =
      THNN_statesSteps_shapeCheck(function, THNN_SHAPE(output, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 4), THNN_SHAPE(gradState, 6));
  const int64_t units = sizes.units, batch = sizes.batch;
  const int64_t inputSize[] = {sizes.steps, batch, units};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *states = THNN_planIn(&plan, output, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *from = gradOutput ? THNN_planIn(&plan, gradOutput, 4) : NULL;
  THNNBuffer *to = THNN_planOut(&plan, gradInput, 5, 3, inputSize);
  THNNBuffer *carried = THNN_planInOut(&plan, gradState, 6);
  StepProducts products = stepProducts(&plan, state, &sizes, units, units, true);
  THNN_planAcquire(&plan);

  takeWeight(&products, matrix->data);
  const BackwardCells of = {.units = units,
                            .batch = batch,
                            .states = states->data,
                            .given = from ? from->data : NULL,
                            .gradInput = to->data,
                            .carried = carried->data,
                            .slope = rectify ? THNN_(simd).pointwise.thresholdBackward
                                             : THNN_(simd).activation.tanhBackward};
  const StepLayer layer = {.backward = true,
                           .x = to->data,
                           .y = carried->data,
                           .cell = backwardCell,
                           .of = &of,
                           .cost = (double)units * BACKWARD_COST};
  computeSteps(&products, &layer, &sizes, reverse);
  THNN_planRelease(&plan);
}
