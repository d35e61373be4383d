/* The shape checks of recurrent cells: GRUFused, LSTMFused, and all steps of a layer. */
#ifndef THNN_GEOMETRY_CELL_H
#define THNN_GEOMETRY_CELL_H

#include "call/check.h"

/* The sizes of a fused recurrent cell. */
typedef struct THNNCell {
  int64_t batch, units;
} THNNCell;

/* Checks GRUFused_updateOutput or LSTMFused_updateOutput: `units` is the tensor of batch x units
 * elements; input and hidden have `gates` times as many. Both biases are given, or neither. */
THNN_PRIVATE THNNCell THNN_fusedCell_shapeCheck(const char *function, int gates, THNNShape units,
                                                THNNShape input, THNNShape hidden, THNNShape bias1,
                                                THNNShape bias2);

/* The sizes of all steps of a recurrent layer. */
typedef struct THNNSteps {
  int64_t steps, batch, units;
} THNNSteps;

/* A step in the order of a direction: its place, and those of the states around it. */
typedef struct THNNStep {
  int64_t step, before, after;
} THNNStep;

static inline THNNStep THNN_stepAt(const THNNSteps *sizes, int64_t number, bool reverse)
{
  const int64_t step = reverse ? sizes->steps - 1 - number : number;
  return (THNNStep){step, step + reverse, step + !reverse};
}

/* Checks what all steps of a layer are computed from: steps x batch x (gates units), and a weight
 * of (gates units) x units. */
THNN_PRIVATE THNNSteps THNN_steps_shapeCheck(const char *function, int gates, THNNShape input,
                                             THNNShape weight);

/* Checks the same weight, and what the forward call has stored, steps x batch x (stored units). */
THNN_PRIVATE THNNSteps THNN_storedSteps_shapeCheck(const char *function, int gates, int stored,
                                                   THNNShape storage, THNNShape weight);

/* Checks the weight of a layer with one gate, and states before and after each step. */
THNN_PRIVATE THNNSteps THNN_statesSteps_shapeCheck(const char *function, THNNShape states,
                                                   THNNShape weight);

/* Checks the products of the input, and the weight of a state as Lua's sequences have it: units x
 * (gates units). */
THNN_PRIVATE THNNSteps THNN_fedBackSteps_shapeCheck(const char *function, int gates,
                                                    THNNShape products, THNNShape weight);

/* Checks states before and after each step, a bias, both biases or neither, a mask of steps x batch,
 * and gradients: of the output, steps x batch x units, if it is given, and of a state, batch x
 * units. */
THNN_PRIVATE void THNN_checkStates(const char *function, const THNNSteps *sizes, THNNShape states);
THNN_PRIVATE void THNN_checkStepBias(const char *function, int gates, const THNNSteps *sizes,
                                     THNNShape bias);
THNN_PRIVATE void THNN_checkStepMask(const char *function, const THNNSteps *sizes, THNNShape mask);
THNN_PRIVATE void THNN_checkStepBiases(const char *function, int gates, const THNNSteps *sizes,
                                       THNNShape bias1, THNNShape bias2);
THNN_PRIVATE void THNN_checkStepGradients(const char *function, const THNNSteps *sizes,
                                          THNNShape gradOutput, THNNShape gradState);

/* Checks that a tensor has `times` times as many elements as `units`. */
THNN_PRIVATE void THNN_checkCellElements(const char *function, THNNShape shape, int times,
                                         THNNShape units);

#endif
