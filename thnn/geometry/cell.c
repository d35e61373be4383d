#include "geometry/cell.h"

void THNN_checkCellElements(const char *function, THNNShape shape, int times, THNNShape units)
{
  const int64_t wanted[] = {times, THNN_elements(function, units)};
  if (THNN_given(shape) && THNN_elements(function, shape) == THNN_product(2, wanted))
    return;
  const THNNText text = THNN_shapeText(units);
  THNN_rejectShape(function, shape, "%d times as many elements as %s %s", times, units.name,
                   text.characters);
}

THNNCell THNN_fusedCell_shapeCheck(const char *function, int gates, THNNShape units,
                                   THNNShape input, THNNShape hidden, THNNShape bias1,
                                   THNNShape bias2)
{
  THNN_checkNotEmpty(function, units);
  THNNCell cell;
  cell.units = units.size[units.nDimension - 1];
  cell.batch = THNN_elements(function, units) / cell.units;
  THNN_checkCellElements(function, input, gates, units);
  THNN_checkCellElements(function, hidden, gates, units);
  if (THNN_given(bias1) != THNN_given(bias2))
    THNN_rejectShape(function, THNN_given(bias1) ? bias2 : bias1, "a tensor like the other bias");
  const THNNShape unit = THNN_makeShape(units.name, units.position, 1, &cell.units);
  if (THNN_given(bias1)) {
    THNN_checkCellElements(function, bias1, gates, unit);
    THNN_checkCellElements(function, bias2, gates, unit);
  }
  return cell;
}

/* Checks the weight of a state, and returns the number of units. */
static int64_t unitsOf(const char *function, int gates, THNNShape weight)
{
  THNN_checkNotEmpty(function, weight);
  THNN_checkDimensions(function, weight, 2, 2, "gates x units");
  THNN_checkBlasSizes(function, weight);
  const int64_t units = weight.size[1];
  const int64_t gateSize[] = {gates, units};
  const int64_t weightSize[] = {THNN_product(2, gateSize), units};
  THNN_checkSizes(function, weight, 2, weightSize, "gates x units");
  return units;
}

/* Checks what has `stored` numbers for each step and unit, and returns the sizes. */
static THNNSteps sizesOf(const char *function, int stored, THNNShape storage, int64_t units)
{
  THNN_checkNotEmpty(function, storage);
  THNN_checkDimensions(function, storage, 3, 3, "steps x batch x gates");
  const THNNSteps sizes = {storage.size[0], storage.size[1], units};
  const int64_t rowSize[] = {stored, units};
  const int64_t storageSize[] = {sizes.steps, sizes.batch, THNN_product(2, rowSize)};
  THNN_checkSizes(function, storage, 3, storageSize, "steps x batch x gates");
  THNN_checkBlasSizes(function, storage);
  return sizes;
}

THNNSteps THNN_storedSteps_shapeCheck(const char *function, int gates, int stored,
                                      THNNShape storage, THNNShape weight)
{
  return sizesOf(function, stored, storage, unitsOf(function, gates, weight));
}

THNNSteps THNN_fedBackSteps_shapeCheck(const char *function, int gates, THNNShape products,
                                       THNNShape weight)
{
  THNN_checkNotEmpty(function, weight);
  THNN_checkDimensions(function, weight, 2, 2, "units x gates");
  THNN_checkBlasSizes(function, weight);
  const int64_t units = weight.size[0];
  const int64_t gateSize[] = {gates, units};
  const int64_t weightSize[] = {units, THNN_product(2, gateSize)};
  THNN_checkSizes(function, weight, 2, weightSize, "units x gates");
  return sizesOf(function, gates, products, units);
}

THNNSteps THNN_steps_shapeCheck(const char *function, int gates, THNNShape input, THNNShape weight)
{
  return THNN_storedSteps_shapeCheck(function, gates, gates, input, weight);
}

THNNSteps THNN_statesSteps_shapeCheck(const char *function, THNNShape states, THNNShape weight)
{
  THNNSteps sizes = {.units = unitsOf(function, 1, weight)};
  THNN_checkNotEmpty(function, states);
  THNN_checkDimensions(function, states, 3, 3, "(steps + 1) x batch x units");
  if (states.size[0] < 2)
    THNN_rejectShape(function, states, "states before and after at least 1 step");
  sizes.steps = states.size[0] - 1;
  sizes.batch = states.size[1];
  THNN_checkStates(function, &sizes, states);
  THNN_checkBlasSizes(function, states);
  return sizes;
}

void THNN_checkStates(const char *function, const THNNSteps *sizes, THNNShape states)
{
  const int64_t size[] = {sizes->steps + 1, sizes->batch, sizes->units};
  THNN_checkGiven(function, states);
  THNN_checkSizes(function, states, 3, size, "(steps + 1) x batch x units");
}

void THNN_checkStepBiases(const char *function, int gates, const THNNSteps *sizes, THNNShape bias1,
                          THNNShape bias2)
{
  if (THNN_given(bias1) != THNN_given(bias2))
    THNN_rejectShape(function, THNN_given(bias1) ? bias2 : bias1, "a tensor like the other bias");
  if (!THNN_given(bias1))
    return;
  const int64_t count = gates * sizes->units;
  THNN_checkVector(function, bias1, count, "gates");
  THNN_checkVector(function, bias2, count, "gates");
}

void THNN_checkStepBias(const char *function, int gates, const THNNSteps *sizes, THNNShape bias)
{
  if (THNN_given(bias))
    THNN_checkVector(function, bias, gates * sizes->units, gates > 1 ? "gates" : "units");
}

void THNN_checkStepMask(const char *function, const THNNSteps *sizes, THNNShape mask)
{
  const int64_t size[] = {sizes->steps, sizes->batch};
  if (THNN_given(mask))
    THNN_checkSizes(function, mask, 2, size, "steps x batch");
}

void THNN_checkStepGradients(const char *function, const THNNSteps *sizes, THNNShape gradOutput,
                             THNNShape gradState)
{
  const int64_t size[] = {sizes->steps, sizes->batch, sizes->units};
  if (THNN_given(gradOutput))
    THNN_checkSizes(function, gradOutput, 3, size, "steps x batch x units");
  THNN_checkGiven(function, gradState);
  THNN_checkSizes(function, gradState, 2, size + 1, "batch x units");
}
