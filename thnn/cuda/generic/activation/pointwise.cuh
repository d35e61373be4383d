/* Shared by element-by-element modules: a module provides its function of one element, and the
 * functions here run it. */
#ifndef THCUNN_POINTWISE_CUH
#define THCUNN_POINTWISE_CUH

#include "cuda/generic/template.h"
#include "generic/activation/checks.h"

namespace
{

/* A module's call. */
struct Pointwise {
  const char *function;
  THCState *state;
  bool inplace = false;

  /* Backward only. */
  THCTensor *compared = nullptr; /* argument #2, to check its size; NULL where it is `saved` */
  THCTensor *like = nullptr;     /* the tensor whose sizes gradInput takes; NULL: saved */
  bool sameSizes = false; /* gradOutput must have the sizes of saved, not only as many elements */
};

/* The gradient of both shrinkages. */
struct ShrinkBackward {
  real lambda;
  __device__ void operator()(real &gradInput, const real &input, const real &gradOutput) const
  {
    gradInput = input > lambda || input < -lambda ? gradOutput : 0;
  }
};

/* Declares the tensor that a forward call reads, argument #2, and the one that it writes, #3; they
 * are the same buffer when inplace. */
inline void pointwisePlan(THCPlan *plan, bool inplace, THCTensor *input, THCTensor *output,
                          THNNBuffer **in, THNNBuffer **out)
{
  if (inplace) {
    *in = *out = THC_planInOut(plan, input, 2);
    THC_planShare(plan, output, 3, input);
  } else {
    *in = THC_planIn(plan, input, 2);
    *out = THC_planOutLike(plan, output, 3, input);
  }
  THNN_planElementwise(*out);
}

/* Calls map(output, input) for each element of arguments #3 and #2; writes to input when
 * inplace. */
template <typename Map>
void pointwiseForward(const Pointwise &run, Map map, THCTensor *input, THCTensor *output)
{
  THCPlan plan;
  THC_planStart(&plan, run.function, run.state);
  THNNBuffer *in, *out;
  pointwisePlan(&plan, run.inplace, input, output, &in, &out);
  THC_planAcquire(&plan);
  THC_apply(&plan, run.function, THCTensor_(nElement)(run.state, input), map,
            THC_pointer<real>(out), THC_pointer<const real>(in));
  THC_planRelease(&plan);
}

inline void pointwiseCheck(const Pointwise &run, THNNShape saved, THCTensor *gradOutput)
{
  THCTensor *input = run.compared;
  if (run.sameSizes)
    THNN_pointwise_sizeCheck(run.function, saved, THNN_SHAPE(gradOutput, 3));
  else
    THNN_pointwise_shapeCheck(run.function, saved, THNN_SHAPE(gradOutput, 3));
  THNN_pointwise_inputCheck(run.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3));
}

/* Calls map(gradInput, saved, gradOutput) for each element of arguments #4, #savedPosition and #3;
 * writes to gradOutput when inplace. `saved` is the forward call's input or output. */
template <typename Map>
void pointwiseBackward(const Pointwise &run, Map map, THCTensor *saved, const char *savedName,
                       int savedPosition, THCTensor *gradOutput, THCTensor *gradInput)
{
  pointwiseCheck(run,
                 THNN_makeShape(savedName, savedPosition,
                                saved ? saved->nDimension : THNN_NULL_TENSOR,
                                saved ? saved->size : NULL),
                 gradOutput);
  THCTensor *like = run.like ? run.like : saved;

  THCPlan plan;
  THC_planStart(&plan, run.function, run.state);
  THNNBuffer *in = THC_planTensor(&plan, THNN_ROLE_IN, saved, savedName, savedPosition);
  THNNBuffer *from, *to;
  if (run.inplace) {
    from = to = THC_planInOut(&plan, gradOutput, 3);
    THC_planShare(&plan, gradInput, 4, gradOutput);
  } else {
    from = THC_planIn(&plan, gradOutput, 3);
    to = THC_planOutLike(&plan, gradInput, 4, like);
  }
  THNN_planElementwise(to);
  THC_planAcquire(&plan);
  THC_apply(&plan, run.function, THCTensor_(nElement)(run.state, gradOutput), map,
            THC_pointer<real>(to), THC_pointer<const real>(in), THC_pointer<const real>(from));
  THC_planRelease(&plan);
}

} // namespace

#endif
