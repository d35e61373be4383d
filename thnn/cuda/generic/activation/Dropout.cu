/* The twin of generic/activation/Dropout.c, with the same random numbers. */
#include "cuda/THC/THCRandom.cuh"
#include "cuda/generic/template.h"
#include "generic/activation/checks.h"

namespace
{

/* Groups of four words whose elements lie side by side: see simd/loops/random.c. */
enum { GROUPS = 16 };

/* A group's words are those of two neighbouring elements, and of the two that are 2 * GROUPS further
 * on. */
__global__ void __launch_bounds__(THC_THREADS)
    drop(int64_t count, int64_t groups, uint64_t seed, uint32_t least, real factor,
         const real *input, real *output, real *noise)
{
  THC_FOR_ELEMENTS(int64_t, group, groups)
  {
    const THCRandomWords words = THC_randomWords(seed, group);
    const int64_t first = group / GROUPS * (4 * GROUPS) + group % GROUPS * 2;
    THC_UNROLL
    for (int k = 0; k < 4; k++) {
      const int64_t i = first + k / 2 * (2 * GROUPS) + k % 2;
      if (i >= count)
        continue;
      const real drawn = words.word[k] >= least ? factor : real(0);
      noise[i] = drawn;
      output[i] = input[i] * drawn;
    }
  }
}

} // namespace

void THCUNN_(Dropout_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                   THCTensor *noise, double p, int64_t seed)
{
  const char *function = "Dropout_updateOutput";
  const THNNDropped dropped = THNN_Dropout_check(function, p, seed);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOutLike(&plan, output, 3, input);
  const THNNBuffer *drawn = THC_planOutLike(&plan, noise, 4, input);
  THC_planAcquire(&plan);
  const int64_t count = THCTensor_(nElement)(state, input);
  const int64_t groups = (count + 4 * GROUPS - 1) / (4 * GROUPS) * GROUPS;
  THC_LAUNCH_ELEMENTS(&plan, drop, groups, count, groups, dropped.seed, dropped.least,
                      (real)dropped.factor, THC_pointer<const real>(in), THC_pointer<real>(out),
                      THC_pointer<real>(drawn));
  THC_planRelease(&plan);
}
