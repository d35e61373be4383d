/* Fills the table of vector loops with those of the level in use. */
#include "simd/tuning.h"
#include "simd/vector/template.h"

#include <THNNSimd.h>

/* Both macros list every topic. */
#define DECLARE_LOOPS(LEVEL)                                                                       \
  extern const SimdCriterion SIMD_TABLE(Criterion, LEVEL);                                         \
  extern const SimdPointwise SIMD_TABLE(Pointwise, LEVEL);                                         \
  extern const SimdReduce SIMD_TABLE(Reduce, LEVEL);                                               \
  extern const SimdProducts SIMD_TABLE(Products, LEVEL);                                           \
  extern const SimdDots SIMD_TABLE(Dots, LEVEL);                                                   \
  extern const SimdPanels SIMD_TABLE(Panels, LEVEL);                                               \
  extern const SimdWinograd SIMD_TABLE(Winograd, LEVEL);                                           \
  extern const SimdWinogradPlanes SIMD_TABLE(WinogradPlanes, LEVEL);                               \
  extern const SimdFourier SIMD_TABLE(Fourier, LEVEL);                                             \
  extern const SimdShifts SIMD_TABLE(Shifts, LEVEL);                                               \
  extern const SimdPlanes SIMD_TABLE(Planes, LEVEL);                                               \
  extern const SimdSliding SIMD_TABLE(Sliding, LEVEL);                                             \
  extern const SimdSpreading SIMD_TABLE(Spreading, LEVEL);                                         \
  extern const SimdIndices SIMD_TABLE(Indices, LEVEL);                                             \
  extern const SimdPadding SIMD_TABLE(Padding, LEVEL);                                             \
  extern const SimdPooling SIMD_TABLE(Pooling, LEVEL);                                             \
  extern const SimdSampling SIMD_TABLE(Sampling, LEVEL);                                           \
  extern const SimdElementary SIMD_TABLE(Elementary, LEVEL);                                       \
  extern const SimdActivation SIMD_TABLE(Activation, LEVEL);                                       \
  extern const SimdGates SIMD_TABLE(Gates, LEVEL);                                                 \
  extern const SimdChannels SIMD_TABLE(Channels, LEVEL);                                           \
  extern const SimdSoftmax SIMD_TABLE(Softmax, LEVEL);                                             \
  extern const SimdRecurrent SIMD_TABLE(Recurrent, LEVEL);                                         \
  extern const SimdMixture SIMD_TABLE(Mixture, LEVEL);                                             \
  extern const SimdRandom SIMD_TABLE(Random, LEVEL)

#define LOOPS_OF(LEVEL, NARROW)                                                                    \
  (Simd)                                                                                           \
  {                                                                                                \
    .criterion = SIMD_TABLE(Criterion, LEVEL), .pointwise = SIMD_TABLE(Pointwise, LEVEL),          \
    .reduce = SIMD_TABLE(Reduce, LEVEL), .products = SIMD_TABLE(Products, LEVEL),                  \
    .narrowProducts = SIMD_TABLE(Products, NARROW), .pooling = SIMD_TABLE(Pooling, LEVEL),         \
    .indices = SIMD_TABLE(Indices, LEVEL), .elementary = SIMD_TABLE(Elementary, LEVEL),            \
    .activation = SIMD_TABLE(Activation, LEVEL), .channels = SIMD_TABLE(Channels, LEVEL),          \
    .softmax = SIMD_TABLE(Softmax, LEVEL), .dots = SIMD_TABLE(Dots, LEVEL),                        \
    .shifts = SIMD_TABLE(Shifts, LEVEL), .planes = SIMD_TABLE(Planes, LEVEL),                      \
    .panels = SIMD_TABLE(Panels, LEVEL), .recurrent = SIMD_TABLE(Recurrent, LEVEL),                \
    .sampling = SIMD_TABLE(Sampling, LEVEL), .winograd = SIMD_TABLE(Winograd, LEVEL),              \
    .mixture = SIMD_TABLE(Mixture, LEVEL), .random = SIMD_TABLE(Random, LEVEL),                    \
    .winogradPlanes = SIMD_TABLE(WinogradPlanes, LEVEL), .padding = SIMD_TABLE(Padding, LEVEL),    \
    .fourier = SIMD_TABLE(Fourier, LEVEL), .sliding = SIMD_TABLE(Sliding, LEVEL),                  \
    .narrowSliding = SIMD_TABLE(Sliding, NARROW), .spreading = SIMD_TABLE(Spreading, LEVEL),       \
    .narrowSpreading = SIMD_TABLE(Spreading, NARROW), .gates = SIMD_TABLE(Gates, LEVEL),           \
  }

DECLARE_LOOPS(baseline);
DECLARE_LOOPS(avx2);
DECLARE_LOOPS(avx512);
DECLARE_LOOPS(wide);
extern const SimdProducts SIMD_TABLE(Products, narrow);
extern const SimdSliding SIMD_TABLE(Sliding, narrow);
extern const SimdSpreading SIMD_TABLE(Spreading, narrow);
extern const Map SIMD_TABLE(FormulaTanh, avx512);

Simd THNN_(simd), THNN_REPRODUCIBLE_SIMD;

#if defined(THNN_SIMD_HAS_AVX2) || defined(THNN_SIMD_HAS_WIDE)
/* Sets the loops of reproducible calls, which have vectors of 32 bytes on every processor. These
 * calls never use BLAS: panels or dot products take every size, and which of the two does depends
 * on nothing but the size. */
static void reproduceWith(Simd loops)
{
  loops.panels.packs = true;
  loops.panels.mostInPlace = 16;
  loops.dots.ranges[0] = (THNNDotsRange){1, THNN_FEW_ROWS, 64, 0};
  loops.dots.ranges[1] = loops.dots.ranges[0];
  THNN_REPRODUCIBLE_SIMD = loops;
}
#endif

/* Runs while the library loads, before any caller can reach a kernel. */
__attribute__((constructor)) static void chooseLoops(void)
{
  switch (THNN_simdLevel()) {
#ifdef THNN_SIMD_HAS_AVX512
  case THNN_SIMD_AVX512:
    THNN_(simd) = LOOPS_OF(avx512, narrow);
    if (THNN_tuning.splitsVectors) { /* vectors of 64 bytes take longer to convert to doubles */
      THNN_(simd).channels = SIMD_TABLE(Channels, avx2);
      THNN_(simd).reduce.sum = SIMD_TABLE(Reduce, avx2).sum;
      THNN_(simd).reduce.sumOfRows = SIMD_TABLE(Reduce, avx2).sumOfRows;
      THNN_(simd).reduce.sumOfColumns = SIMD_TABLE(Reduce, avx2).sumOfColumns;
      /* Zen 4 has 1 MB of second-level cache. An LSTM of 512 units, forward and backward, takes 0.96
       * of the time that it takes with 512 KB of panels, one of 1024 units 0.97. */
      THNN_(simd).panels.panelBytes = 3 << 18;
    }
    break;
#endif
#ifdef THNN_SIMD_HAS_AVX2
  case THNN_SIMD_AVX2:
    THNN_(simd) = LOOPS_OF(avx2, avx2);
    break;
#endif
  default:
    THNN_(simd) = LOOPS_OF(baseline, baseline);
  }
#if defined(THNN_SIMD_HAS_AVX2)
  if (THNN_simdReproduces())
    reproduceWith(LOOPS_OF(avx2, avx2));
#  if defined(THNN_SIMD_HAS_AVX512)
  if (THNN_simdLevel() == THNN_SIMD_AVX512) /* its bits are those of AVX2's tanh */
    THNN_REPRODUCIBLE_SIMD.elementary.tanh = SIMD_TABLE(FormulaTanh, avx512);
#  endif
#elif defined(THNN_SIMD_HAS_WIDE)
  reproduceWith(LOOPS_OF(wide, wide));
#endif
}
