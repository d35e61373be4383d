#include "geometry/cell.h"

void THNN_checkCellElements(const char *function, THNNShape shape, int times, THNNShape units)
{
  const int64_t wanted[] = {times, THNN_elements(function, units)};
  const THNNText text = THNN_shapeText(units);
  if (!THNN_given(shape) || THNN_elements(function, shape) != THNN_product(2, wanted))
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
