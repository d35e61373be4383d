/* What element-by-element modules have in common: the module names its loop, these run it. */
#ifndef THNN_POINTWISE_H
#define THNN_POINTWISE_H

#include "generic/template.h"

/* What the functions below need to know about a module; fields that do not apply are 0. */
typedef struct Pointwise {
  const char *function;
  THNNState *state;
  bool inplace;
  int cost;               /* per element, relative to a copy; decides when threads pay */
  const real *parameters; /* parameters of the loop */

  /* Backward only. */
  THTensor *compared; /* argument #2 if not `saved`; must have as many elements; NULL: any */
  THTensor *like;     /* the tensor whose sizes gradInput takes; NULL: saved */
  bool sameSizes;     /* gradOutput must have the sizes of `saved`, not only as many elements */
} Pointwise;

/* Declares the tensor that a forward call reads, argument #2, and the one that it writes, #3; with
 * inplace they share memory. */
void THNN_(pointwise_plan)(THNNPlan *plan, bool inplace, THTensor *input, THTensor *output,
                           THNNBuffer **in, THNNBuffer **out);

/* output = map(input), arguments #2 and #3; in input's storage when inplace. */
void THNN_(pointwise_forward)(const Pointwise *run, Map map, THTensor *input, THTensor *output);

/* gradInput = map(saved, gradOutput), arguments #4 and #3, in gradOutput's storage when inplace.
 * `saved` is the forward call's input or output, argument #savedPosition. */
void THNN_(pointwise_backward)(const Pointwise *run, Map2 map, THTensor *saved,
                               const char *savedName, int savedPosition, THTensor *gradOutput,
                               THTensor *gradInput);

#endif
