/* The row of winograd.c with tiles of 4x4 results of 2x2 taps. */
#include "generic/convolution/engine/winogradTiles.h"

bool THNN_(winograd42_planConvolution)(AlgorithmPlan *plan)
{
  static_assert((int)WINOGRAD_COSTS == (int)WINOGRAD42_COSTS, "tiles of any kind count the same");
  return THNN_(winograd_planTiles)(plan, &THNN_(simd).winograd.fourOfTwo, costsInUse()->winograd42);
}

void THNN_(winograd42_keepWeights)(const AlgorithmPlan *plan, const real *weight, void *kept,
                                   void *scratch)
{
  THNN_(winograd_keepWeights)(plan, weight, kept, scratch);
}

bool THNN_(winograd42_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  return THNN_(winograd_runConvolution)(plan, of, scratch);
}
