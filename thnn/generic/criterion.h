/* What criterions that compare input and target element by element have in common. */
#ifndef THNN_CRITERION_H
#define THNN_CRITERION_H

#include "template.h"

/* The sum of a loss over a run of elements. */
typedef double (*THNN_(LossSum))(int64_t n, const real *x, const real *target);

/* output = sum of the loss, divided by the number of elements when sizeAverage; arguments input
 * #2, target #3, output #4. */
void THNN_(elementwiseCriterionForward)(const char *function, THNNState *state, THNN_(LossSum) sum,
                                        THTensor *input, THTensor *target, THTensor *output,
                                        bool sizeAverage);

/* gradInput = map(input, target) with the parameters given; arguments input #2, target #3,
 * gradInput #4. */
void THNN_(elementwiseCriterionBackward)(const char *function, THNNState *state, THNN_(Map2) map,
                                         const real *parameters, THTensor *input, THTensor *target,
                                         THTensor *gradInput);

#endif
