/* What becomes of results once their sums are complete: it is done piece by piece, while a piece is
 * in a near cache. */
#ifndef THNN_GENERIC_FINISH_H
#define THNN_GENERIC_FINISH_H

#include "generic/template.h"

typedef struct Finish {
  const real *addend; /* is added first, one element to each result; NULL: nothing is */
  bool rectifies;     /* what is not above 0 then becomes 0 */
  bool adds; /* to what is there, instead of all else; only where the run says that it can */
} Finish;

static inline bool finishes(Finish finish)
{
  return finish.addend || finish.rectifies;
}

/* The same for results that begin at number `place` of them. */
static inline Finish finishFrom(Finish finish, int64_t place)
{
  return (Finish){finish.addend ? finish.addend + place : NULL, finish.rectifies, finish.adds};
}

/* Finishes results [place, place + n), of which y is the first. */
static inline void finishResults(Finish finish, int64_t place, int64_t n, real *y)
{
  if (finishes(finish))
    THNN_(simd).pointwise.finish(n, finishFrom(finish, place).addend, finish.rectifies, y);
}

#endif
