/* The row of winogradWeight.c with tiles of 2x2 results of 5x5 taps. */
#include "generic/convolution/engine/winogradTiles.h"

bool THNN_(winogradWeight25_planConvolution)(AlgorithmPlan *plan)
{
  static_assert((int)WINOGRAD_WEIGHT_COSTS == (int)WINOGRAD_WEIGHT25_COSTS,
                "tiles of any kind count the same");
  return THNN_(winogradWeight_planTiles)(plan, &THNN_(simd).winograd.twoOfFive,
                                         costsInUse()->winogradWeight25);
}

bool THNN_(winogradWeight25_runConvolution)(const AlgorithmPlan *plan, const Operands *of,
                                            void *scratch)
{
  return THNN_(winogradWeight_runConvolution)(plan, of, scratch);
}
