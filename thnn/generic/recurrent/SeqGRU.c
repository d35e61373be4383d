/* All steps of a GRU whose parameters are those of Lua's SeqGRU, given the products of its input.
 *   gates    steps x batch x 3 units: x W, gates in the order r, u, n
 *   weight   units x 3 units: U          bias   3 units, may be NULL
 *   mask     steps x batch: padding where it is not 0; may be NULL
 *   output   (steps + 1) x batch x units: before and after the steps
 *   reset    steps x batch x units: r h, which the gradient of the weight needs
 *
 *   r, u = sigmoid(gates + h U + bias),  n = tanh(gates + (r h) U + bias); they replace gates
 *   h' = (1 - u) n + u h; gates and h' are 0 for padding
 *
 * Backward from the last step to the first, with g = gradState + gradOutput:
 *   gradGates_u = g (h - n) u (1 - u)      gradGates_n = g (1 - u) (1 - n^2)
 *   through = gradGates_n U_n^T            gradGates_r = through h r (1 - r)
 *   gradState = g u + through r + gradGates_r U_r^T + gradGates_u U_u^T */
#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/recurrent/fedBack.h"

enum {
  GATES = 3,
  FORWARD_COST = 20, /* cost of a unit in one of two loops, in copied elements */
  BACKWARD_COST = 6
};

void THNN_(SeqGRU_updateOutput)(THNNState *state, THTensor *gates, THTensor *weight, THTensor *bias,
                                THTensor *mask, THTensor *output, THTensor *reset)
{
  const char *function = "SeqGRU_updateOutput";
  const THNNSteps sizes =
      THNN_fedBackSteps_shapeCheck(function, GATES, THNN_SHAPE(gates, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepBias(function, GATES, &sizes, THNN_SHAPE(bias, 4));
  THNN_checkStepMask(function, &sizes, THNN_SHAPE(mask, 5));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 6));
  const int64_t units = sizes.units, batch = sizes.batch, width = GATES * units;
  const int64_t resetSize[] = {sizes.steps, batch, units};

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *all = THNN_planInOut(&plan, gates, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 4) : NULL;
  THNNBuffer *padding = mask ? THNN_planIn(&plan, mask, 5) : NULL;
  THNNBuffer *states = THNN_planInOut(&plan, output, 6);
  THNNBuffer *kept = THNN_planOut(&plan, reset, 7, 3, resetSize);
  THNNBuffer *recurrent = THNN_planScratch(&plan, (size_t)(batch * width) * sizeof(real));
  const THNNRoom room =
      THNN_(matrix_largerRoom)(THNN_(matrix_room)(state, 2 * units, batch, units, false, false),
                               THNN_(matrix_room)(state, units, batch, units, false, false));
  THNNBuffer *scratch = THNN_planRoom(&plan, room);
  THNN_planAcquire(&plan);

  const real *added = start ? start->data : NULL;
  const Matrix ofGates = {matrix->data, width, false};
  const Matrix ofNew = {ofGates.data + 2 * units, width, false};
  real *sums = recurrent->data;
  const int threads = THNN_threads(state, batch, (double)batch * (double)units * FORWARD_COST);
  for (int64_t step = 0; step < sizes.steps; step++) {
    real *gate = (real *)all->data + step * batch * width;
    const real *before = (const real *)states->data + step * batch * units;
    real *after = (real *)states->data + (step + 1) * batch * units;
    real *ofState = (real *)kept->data + step * batch * units;
    const Matrix h = {before, units, false}, rh = {ofState, units, false};
    THNN_(matrix_multiplyInto)(state, 2 * units, batch, units, 1, ofGates, h, 0, sums, width,
                               THNN_roomIn(room, scratch));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++)
      THNN_(simd).recurrent.gruReset(units, sums + i * width, added, before + i * units,
                                     gate + i * width, ofState + i * units);
    THNN_(matrix_multiplyInto)(state, units, batch, units, 1, ofNew, rh, 0, sums + 2 * units, width,
                               THNN_roomIn(room, scratch));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++) {
      if (isPadding(padding, step * batch + i)) {
        THNN_(simd).pointwise.fill(width, 0, gate + i * width);
        THNN_(simd).pointwise.fill(units, 0, ofState + i * units);
        THNN_(simd).pointwise.fill(units, 0, after + i * units);
      } else {
        THNN_(simd).recurrent.gruNew(units, sums + i * width, added, before + i * units,
                                     gate + i * width, after + i * units);
      }
    }
  }
  THNN_planRelease(&plan);
}

void THNN_(SeqGRU_updateGradInput)(THNNState *state, THTensor *gates, THTensor *weight,
                                   THTensor *mask, THTensor *output, THTensor *gradOutput,
                                   THTensor *gradGates, THTensor *gradState)
{
  const char *function = "SeqGRU_updateGradInput";
  const THNNSteps sizes =
      THNN_fedBackSteps_shapeCheck(function, GATES, THNN_SHAPE(gates, 2), THNN_SHAPE(weight, 3));
  THNN_checkStepMask(function, &sizes, THNN_SHAPE(mask, 4));
  THNN_checkStates(function, &sizes, THNN_SHAPE(output, 5));
  THNN_checkStepGradients(function, &sizes, THNN_SHAPE(gradOutput, 6), THNN_SHAPE(gradState, 8));
  const int64_t units = sizes.units, batch = sizes.batch, width = GATES * units;

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *all = THNN_planIn(&plan, gates, 2);
  THNNBuffer *matrix = THNN_planIn(&plan, weight, 3);
  THNNBuffer *padding = mask ? THNN_planIn(&plan, mask, 4) : NULL;
  THNNBuffer *states = THNN_planIn(&plan, output, 5);
  THNNBuffer *from = gradOutput ? THNN_planIn(&plan, gradOutput, 6) : NULL;
  THNNBuffer *to = THNN_planOutLike(&plan, gradGates, 7, gates);
  THNNBuffer *carried = THNN_planInOut(&plan, gradState, 8);
  THNNBuffer *through = THNN_planScratch(&plan, (size_t)(batch * units) * sizeof(real));
  FedBack back = fedBack(&plan, state, &sizes, width);
  addFedBackPart(&back, units);
  addFedBackPart(&back, 2 * units);
  reserveFedBack(&back);
  THNN_planAcquire(&plan);

  turnFedBack(&back, matrix->data);
  real *ofState = carried->data, *ofReset = through->data;
  const int threads = THNN_threads(state, batch, (double)batch * (double)units * BACKWARD_COST);
  for (int64_t step = sizes.steps; step-- > 0;) {
    const real *gate = (const real *)all->data + step * batch * width;
    const real *before = (const real *)states->data + step * batch * units;
    const real *given = from ? (const real *)from->data + step * batch * units : NULL;
    real *gradGate = (real *)to->data + step * batch * width;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++) {
      real *row = ofState + i * units;
      if (isPadding(padding, step * batch + i)) {
        THNN_(simd).pointwise.fill(width, 0, gradGate + i * width);
        THNN_(simd).pointwise.fill(units, 0, row);
        continue;
      }
      if (given)
        THNN_(simd).pointwise.axpy(units, 1, given + i * units, row);
      THNN_(simd).recurrent.gruNewBackward(units, gate + i * width, before + i * units, row,
                                           gradGate + i * width);
    }
    multiplyFedBack(&back, 2 * units, units, gradGate, false, ofReset);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < batch; i++)
      THNN_(simd).recurrent.gruResetBackward(units, gate + i * width, before + i * units,
                                             ofReset + i * units, gradGate + i * width,
                                             ofState + i * units);
    multiplyFedBack(&back, 0, 2 * units, gradGate, true, ofState);
  }
  THNN_planRelease(&plan);
}
