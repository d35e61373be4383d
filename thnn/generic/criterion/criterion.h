/* What criterions that compare input and target element by element have in common: the module names
 * its loops, these run them. */
#ifndef THNN_CRITERION_H
#define THNN_CRITERION_H

#include "generic/template.h"

/* What the functions below need to know about a module; fields that do not apply are 0. */
typedef struct Criterion {
  const char *function;
  THNNState *state;
  THTensor *input;        /* argument #2 */
  THTensor *target;       /* argument #3 */
  const real *parameters; /* parameters of the loop */
  int work;               /* per element, beyond a copy, which is 1; decides when threads pay */
  bool inputOnly;         /* there is no target: output is argument #3 */
  THTensor *weights;      /* argument #6, factors of the loss; NULL: none */
  bool targetOnly;        /* the gradient does not read input */

  /* Forward: refuses an input outside the loss's domain, which `domain` names in the message. */
  bool (*accepts)(int64_t n, const real *x);
  const char *domain;
  bool longOutput; /* output may have more elements, of which the first is written */
} Criterion;

/* output = sum of the loss, divided by the number of elements when sizeAverage. */
void THNN_(criterion_forward)(const Criterion *run, LossSum sum, THTensor *output,
                              bool sizeAverage);

/* gradInput (argument #4) = gradient of the loss. */
void THNN_(criterion_backward)(const Criterion *run, LossGradient gradient, THTensor *gradInput);

/* The factor that makes a gradient that of the mean when sizeAverage. */
static inline real THNN_(criterionNorm)(const THTensor *input, bool sizeAverage)
{
  return (real)(input && sizeAverage ? 1 / (double)THTensor_(nElement)(input) : 1);
}

#endif
