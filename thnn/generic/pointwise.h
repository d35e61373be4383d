/* What element-by-element modules have in common: the module names its loop, these run it. */
#ifndef THNN_POINTWISE_H
#define THNN_POINTWISE_H

#include "template.h"

/* A module's loop and what the run needs to know about it. */
typedef struct THNN_(Pointwise) {
  const char *function;
  THNNState *state;
  bool inplace;
  int cost;               /* of an element, a copy being 1: decides when threads pay */
  const real *parameters; /* the loop's */
} THNN_(Pointwise);

/* output = map(input), arguments #2 and #3; in input's storage when inplace. */
void THNN_(pointwiseForward)(const THNN_(Pointwise) * run, THNN_(Map) map, THTensor *input,
                             THTensor *output);

/* gradInput = map(saved, gradOutput), arguments #4 and #3, in gradOutput's storage when inplace.
 * `saved` is the forward call's input or output, argument #savedPosition. */
void THNN_(pointwiseBackward)(const THNN_(Pointwise) * run, THNN_(Map2) map, THTensor *saved,
                              const char *savedName, int savedPosition, THTensor *gradOutput,
                              THTensor *gradInput);

#endif
