/* What is done to results once their sums are complete, piece by piece, while a piece is in a near
 * cache. */
#ifndef THNN_GENERIC_FINISH_H
#define THNN_GENERIC_FINISH_H

#include "generic/template.h"

typedef struct Finish {
  const real *addend; /* added to the results first, element by element; NULL: nothing is added */
  bool rectifies;     /* then, what is not above 0 becomes 0 */
  Map map;            /* then, each result becomes what this loop makes of it; NULL: nothing */
  real parameters[2]; /* of the loop */
  bool adds; /* results are added to what is there, and nothing else is done; only if the plan's
              * `adds` allows it, and without a bias */
} Finish;

static inline bool finishes(Finish finish)
{
  return finish.addend || finish.rectifies || finish.map;
}

/* The finish of the results from number `place` on. */
static inline Finish finishFrom(Finish finish, int64_t place)
{
  if (finish.addend)
    finish.addend += place;
  return finish;
}

/* Finishes results [place, place + n), of which y is the first. */
static inline void finishResults(Finish finish, int64_t place, int64_t n, real *y)
{
  if (finish.addend || finish.rectifies)
    THNN_(simd).pointwise.finish(n, finishFrom(finish, place).addend, finish.rectifies, y);
  if (finish.map)
    finish.map(n, y, finish.parameters, y);
}

#endif
