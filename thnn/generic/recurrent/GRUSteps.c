/* All steps of a GRU layer, given the products of its input.
 *   input    steps x batch x 3 units: W x, gates in the order r, z, n
 *   weight   3 units x units: U          bias1, bias2   3 units: added to W x and to U h
 *   output   (steps + 1) x batch x units: before and after the steps
 *   storage  steps x batch x 5 units: what the gradients need
 *
 * A step is that of GRUFused.c, with hidden = U h; so are the gradients, from the last step to the
 * first. */
#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/recurrent/stepProducts.h"

enum {
  GATES = 3,
  STORED = 5,
  FORWARD_COST = 40, /* cost of a unit, in copied elements */
  BACKWARD_COST = 12
};

/* What the cells of all steps read and write; biases may be NULL. */
typedef struct ForwardCells {
  int64_t units, batch;
  const real *input;
  real *states, *stored;
  const real *recurrent, *inBias, *recurrentBias;
} ForwardCells;

/* Computes the cell of a sample. */
static void forwardCell(const void *cells, THNNStep at, int64_t sample)
{
  const ForwardCells *of = cells;
  const int64_t units = of->units, width = GATES * units;
  const int64_t place = at.step * of->batch + sample;
  const GateRows rows = {of->input + place * width, of->recurrent + sample * width, of->inBias,
                         of->recurrentBias};
  THNN_(simd).recurrent.gru(units, &rows, of->states + (at.before * of->batch + sample) * units,
                            of->states + (at.after * of->batch + sample) * units,
                            of->stored + place * STORED * units);
}

void THNN_(GRUSteps_updateOutput)(THNNState *state, THTensor *input, THTensor *weight,
                                  THTensor *bias1, THTensor *bias2, THTensor *output,
                                  THTensor *storage, bool reverse)
{
  const char *function = "GRUSteps_updateOutput";
  const THNNSteps sizes =
      THNN_steps_shapeCheck(function, GATES, THNN_SHAPE(input, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepBiases(function, GATES, &sizes, THNN_SHAPE(bias1, 4), THNN_SHAPE(bias2, 5));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 6));
  const int64_t units = sizes.units, batch = sizes.batch, width = GATES * units;
  const int64_t storageSize[] = {sizes.steps, batch, STORED * units};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *all = THNN_planIn(&plan, input, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *inBias = bias1 ? THNN_planIn(&plan, bias1, 4) : NULL;
  THNNBuffer *recurrentBias = bias2 ? THNN_planIn(&plan, bias2, 5) : NULL;
  THNNBuffer *states = THNN_planInOut(&plan, output, 6);
  THNNBuffer *stored = THNN_planOut(&plan, storage, 7, 3, storageSize);
  THNNBuffer *recurrent = THNN_planScratch(&plan, (size_t)(batch * width) * sizeof(real));
  StepProducts products = stepProducts(&plan, state, &sizes, width, units, false);
  THNN_planAcquire(&plan);

  takeWeight(&products, matrix->data);
  const ForwardCells of = {.units = units,
                           .batch = batch,
                           .input = all->data,
                           .states = states->data,
                           .stored = stored->data,
                           .recurrent = recurrent->data,
                           .inBias = inBias ? inBias->data : NULL,
                           .recurrentBias = recurrentBias ? recurrentBias->data : NULL};
  const StepLayer layer = {.x = states->data,
                           .y = recurrent->data,
                           .cell = forwardCell,
                           .of = &of,
                           .cost = (double)units * FORWARD_COST};
  computeSteps(&products, &layer, &sizes, reverse);
  THNN_planRelease(&plan);
}

/* What the gradients of the cells of all steps read and write; `given` may be NULL. */
typedef struct BackwardCells {
  int64_t units, batch;
  const real *stored, *given;
  real *gradIn, *gradHidden, *carried;
} BackwardCells;

/* Computes the gradients of the cell of a sample. */
static void backwardCell(const void *cells, THNNStep at, int64_t sample)
{
  const BackwardCells *of = cells;
  const int64_t units = of->units, width = GATES * units;
  const int64_t place = at.step * of->batch + sample;
  real *row = of->carried + sample * units;
  if (of->given)
    THNN_(simd).pointwise.axpy(units, 1, of->given + place * units, row);
  THNN_(simd).recurrent.gruBackward(units, of->stored + place * STORED * units, row,
                                    of->gradIn + place * width, of->gradHidden + place * width,
                                    row);
}

void THNN_(GRUSteps_updateGradInput)(THNNState *state, THTensor *storage, THTensor *weight,
                                     THTensor *gradOutput, THTensor *gradInInput,
                                     THTensor *gradInHidden, THTensor *gradState, bool reverse)
{
  const char *function = "GRUSteps_updateGradInput";
  const THNNSteps sizes = THNN_storedSteps_shapeCheck(
      function, GATES, STORED, THNN_SHAPE(storage, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 4), THNN_SHAPE(gradState, 7));
  const int64_t units = sizes.units, batch = sizes.batch, width = GATES * units;
  const int64_t gateSize[] = {sizes.steps, batch, width};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *stored = THNN_planIn(&plan, storage, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *from = gradOutput ? THNN_planIn(&plan, gradOutput, 4) : NULL;
  THNNBuffer *toInput = THNN_planOut(&plan, gradInInput, 5, 3, gateSize);
  THNNBuffer *toHidden = THNN_planOut(&plan, gradInHidden, 6, 3, gateSize);
  THNNBuffer *carried = THNN_planInOut(&plan, gradState, 7);
  StepProducts products = stepProducts(&plan, state, &sizes, units, width, true);
  THNN_planAcquire(&plan);

  takeWeight(&products, matrix->data);
  const BackwardCells of = {.units = units,
                            .batch = batch,
                            .stored = stored->data,
                            .given = from ? from->data : NULL,
                            .gradIn = toInput->data,
                            .gradHidden = toHidden->data,
                            .carried = carried->data};
  /* So far the gradient of the states before a step has what passes the products by; U^T gradHidden
   * is added, which comes through them. */
  const StepLayer layer = {.backward = true,
                           .x = toHidden->data,
                           .adds = true,
                           .y = carried->data,
                           .cell = backwardCell,
                           .of = &of,
                           .cost = (double)units * BACKWARD_COST};
  computeSteps(&products, &layer, &sizes, reverse);
  THNN_planRelease(&plan);
}
