/* The row of winograd.c with tiles of 4x4 results of 3x3 taps. */
#include "generic/convolution/engine/winogradTiles.h"

bool THNN_(winograd4_planConvolution)(AlgorithmPlan *plan)
{
  static_assert((int)WINOGRAD_COSTS == (int)WINOGRAD4_COSTS, "tiles of any kind count the same");
  return THNN_(winograd_planTiles)(plan, &THNN_(simd).winograd.four, costsInUse()->winograd4);
}

void THNN_(winograd4_keepWeights)(const AlgorithmPlan *plan, const real *weight, void *kept,
                                  void *scratch)
{
  THNN_(winograd_keepWeights)(plan, weight, kept, scratch);
}

bool THNN_(winograd4_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  return THNN_(winograd_runConvolution)(plan, of, scratch);
}
