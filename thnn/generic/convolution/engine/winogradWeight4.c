/* The row of winogradWeight.c with tiles of 4x4 results of 3x3 taps. */
#include "generic/convolution/engine/winogradTiles.h"

bool THNN_(winogradWeight4_planConvolution)(AlgorithmPlan *plan)
{
  static_assert((int)WINOGRAD_WEIGHT_COSTS == (int)WINOGRAD_WEIGHT4_COSTS,
                "tiles of any kind count the same");
  return THNN_(winogradWeight_planTiles)(plan, &THNN_(simd).winograd.four,
                                         costsInUse()->winogradWeight4);
}

bool THNN_(winogradWeight4_runConvolution)(const AlgorithmPlan *plan, const Operands *of,
                                           void *scratch)
{
  return THNN_(winogradWeight_runConvolution)(plan, of, scratch);
}
