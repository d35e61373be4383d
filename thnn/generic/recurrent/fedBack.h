/* The products of gradients with the weight of a state as Lua's sequences have it, units x (gates
 * units). Several steps multiply by its transpose, which is made once where that is faster. */
#ifndef THNN_FED_BACK_H
#define THNN_FED_BACK_H

#include "generic/template.h"
#include "geometry/cell.h"
#include "generic/shared/matrix.h"

/* Whether an element of a mask, which may be NULL, is not 0. */
static inline bool isPadding(const THNNBuffer *mask, int64_t i)
{
  return mask && ((const real *)mask->data)[i] != 0;
}

typedef struct FedBack {
  THNNPlan *plan;
  THNNState *state;
  int64_t units, batch, width;
  bool turns; /* whether the transpose is made */
  const real *weight;
  THNNRoom room;
  THNNBuffer *turned, *scratch;
} FedBack;

/* A product that transposes takes longer than one that does not by a half at most. */
enum { LEAST_STEPS = 3 };

/* Begins to declare the products of all steps; `width` is the number of columns of the weight. */
static inline FedBack fedBack(THNNPlan *plan, THNNState *state, const THNNSteps *sizes,
                              int64_t width)
{
  FedBack back = {.plan = plan,
                  .state = state,
                  .units = sizes->units,
                  .batch = sizes->batch,
                  .width = width,
                  .room = {.threads = 1}};
  back.turns = sizes->steps >= LEAST_STEPS &&
               THNN_(matrix_prefersTransposed)(state, back.batch, back.units, width);
  if (back.turns)
    back.turned = THNN_planScratch(plan, (size_t)(back.units * width) * sizeof(real));
  return back;
}

/* Declares products with `columns` of the columns. */
static inline void addFedBackPart(FedBack *back, int64_t columns)
{
  const THNNRoom room =
      THNN_(matrix_room)(back->state, back->units, back->batch, columns, !back->turns, false);
  back->room = THNN_(matrix_largerRoom)(back->room, room);
}

/* Ends the declaration. */
static inline void reserveFedBack(FedBack *back)
{
  back->scratch = THNN_planRoom(back->plan, back->room);
}

/* Takes the weight, once the plan has memory. */
static inline void turnFedBack(FedBack *back, const real *weight)
{
  back->weight = weight;
  if (back->turns)
    THNN_(matrix_transpose)(back->state, back->units, back->width, weight, back->turned->data);
}

/* gradState = gradGates * the transpose of `columns` columns of the weight, from `first` on; with
 * `adds` it is added. Rows of gradGates are those of all columns. */
static inline void multiplyFedBack(const FedBack *back, int64_t first, int64_t columns,
                                   const real *gradGates, bool adds, real *gradState)
{
  const Matrix b = {gradGates + first, back->width, false};
  Matrix a = {back->weight + first, back->width, true};
  if (back->turns)
    a = (Matrix){(const real *)back->turned->data + first * back->units, back->units, false};
  THNN_(matrix_multiply)(back->state, back->units, back->batch, columns, 1, a, b, adds, gradState,
                         THNN_roomIn(back->room, back->scratch));
}

#endif
