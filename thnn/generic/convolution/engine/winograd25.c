/* The row of winograd.c with tiles of 2x2 results of 5x5 taps. */
#include "generic/convolution/engine/winogradTiles.h"

bool THNN_(winograd25_planConvolution)(AlgorithmPlan *plan)
{
  static_assert((int)WINOGRAD_COSTS == (int)WINOGRAD25_COSTS, "tiles of any kind count the same");
  return THNN_(winograd_planTiles)(plan, &THNN_(simd).winograd.twoOfFive, costsInUse()->winograd25);
}

void THNN_(winograd25_keepWeights)(const AlgorithmPlan *plan, const real *weight, void *kept,
                                   void *scratch)
{
  THNN_(winograd_keepWeights)(plan, weight, kept, scratch);
}

bool THNN_(winograd25_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  return THNN_(winograd_runConvolution)(plan, of, scratch);
}
