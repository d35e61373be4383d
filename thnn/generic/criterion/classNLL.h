/* Negative log likelihood of class targets, one per sample or one per position of a sample: what
 * the flat and the spatial criterion have in common. Targets must have been checked. */
#ifndef THNN_CLASS_NLL_H
#define THNN_CLASS_NLL_H

#include "generic/criterion/checks.h"
#include "generic/template.h"

typedef struct ClassNLL {
  const char *function;
  THNNState *state;
  THTensor *input;       /* argument #2, batch x classes x positions */
  THIndexTensor *target; /* argument #3, batch x positions */
  THTensor *weights;     /* argument #6, classes; NULL: all 1 */
  THNNClasses sizes;
  const int64_t *ignored; /* targets of this value do not count; NULL: there is none */
} ClassNLL;

/* total_weight (argument #7) = sum of the targets' weights; output (argument #4) = minus the sum of
 * the weighted inputs at the targets, divided by total_weight when sizeAverage. Only the first
 * element of each is written. */
void THNN_(classNLL_forward)(const ClassNLL *run, THTensor *output, THTensor *total_weight,
                             bool sizeAverage);

/* Where total_weight is positive: gradInput (argument #4) at the targets = minus the weight,
 * divided by total_weight when `divide`. */
void THNN_(classNLL_backward)(const ClassNLL *run, THTensor *gradInput, THTensor *total_weight,
                              bool divide);

#endif
