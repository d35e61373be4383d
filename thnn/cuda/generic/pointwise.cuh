/* What element-by-element modules have in common: the module gives its function of one element,
 * these run it. */
#ifndef THCUNN_POINTWISE_CUH
#define THCUNN_POINTWISE_CUH

#include "template.h"

/* map(output, input) for each element of arguments #2 and #3; in input's storage when inplace. */
template <typename Map>
static void pointwiseForward(const char *function, THCState *state, bool inplace, Map map,
                             THCTensor *input, THCTensor *output)
{
  THCPlan plan;
  THC_planStart(&plan, function, state);
  THNNBuffer *in, *out;
  if (inplace) {
    in = out = THC_planInOut(&plan, input, 2);
    THC_planShare(&plan, output, 3, input);
  } else {
    in = THC_planIn(&plan, input, 2);
    out = THC_planOutLike(&plan, output, 3, input);
  }
  THNN_planElementwise(out);
  THC_planAcquire(&plan);
  THC_apply(&plan, function, THCTensor_(nElement)(state, input), map, THC_pointer<real>(out),
            THC_pointer<const real>(in));
  THC_planRelease(&plan);
}

/* map(gradInput, saved, gradOutput) for each element of arguments #4, #savedPosition and #3; in
 * gradOutput's storage when inplace. `saved` is the forward call's input or output. */
template <typename Map>
static void pointwiseBackward(const char *function, THCState *state, bool inplace, Map map,
                              THCTensor *saved, const char *savedName, int savedPosition,
                              THCTensor *gradOutput, THCTensor *gradInput)
{
  const THNNShape of =
      THNN_makeShape(savedName, savedPosition, saved ? saved->nDimension : THNN_NULL_TENSOR,
                     saved ? saved->size : NULL);
  THNN_pointwise_shapeCheck(function, of, THNN_SHAPE(gradOutput, 3));

  THCPlan plan;
  THC_planStart(&plan, function, state);
  THNNBuffer *in = THC_planTensor(&plan, THNN_ROLE_IN, saved, savedName, savedPosition);
  THNNBuffer *from, *to;
  if (inplace) {
    from = to = THC_planInOut(&plan, gradOutput, 3);
    THC_planShare(&plan, gradInput, 4, gradOutput);
  } else {
    from = THC_planIn(&plan, gradOutput, 3);
    to = THC_planOutLike(&plan, gradInput, 4, saved);
  }
  THNN_planElementwise(to);
  THC_planAcquire(&plan);
  THC_apply(&plan, function, THCTensor_(nElement)(state, gradOutput), map, THC_pointer<real>(to),
            THC_pointer<const real>(in), THC_pointer<const real>(from));
  THC_planRelease(&plan);
}

#endif
