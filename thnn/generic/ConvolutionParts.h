/* What the files of the convolution engine share. */
#ifndef THNN_GENERIC_CONVOLUTION_PARTS_H
#define THNN_GENERIC_CONVOLUTION_PARTS_H

#ifdef _OPENMP
#  include <omp.h>
#endif

#include "../simd/loops.h"
#include "Convolution.h"

static inline int64_t minimum(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline int64_t maximum(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* a / b rounded up, both positive. */
static inline int64_t divideUp(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

static inline int64_t roundUp(int64_t a, int64_t unit)
{
  return divideUp(a, unit) * unit;
}

/* The calling thread's part of the scratch block. */
static inline void *threadScratch(const THNNConvolutionPlan *plan, void *scratch)
{
#ifdef _OPENMP
  return (char *)scratch + (size_t)omp_get_thread_num() * plan->threadBytes;
#else
  (void)plan;
  return scratch;
#endif
}

/* Multiplications of the whole computation, each with an addition. */
static inline double convolutionOperations(const THNNConvolution *geometry)
{
  return (double)geometry->batch * geometry->inputPlanes * geometry->outputPlanes *
         THNN_convolutionTaps(geometry) * THNN_convolutionMapPositions(geometry);
}

/* The gemm algorithm: fills the plan's tiles, threads and scratch size. */
void THNN_(ConvolutionGemm_prepare)(THNNConvolutionPlan *plan, const THNNState *state);
void THNN_(ConvolutionGemm_forward)(const THNNConvolutionPlan *plan, const real *input,
                                    const real *weight, const real *bias, real *output,
                                    void *scratch);
void THNN_(ConvolutionGemm_backwardData)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                         const real *weight, const real *bias, real *gradInput,
                                         void *scratch);
void THNN_(ConvolutionGemm_backwardWeight)(const THNNConvolutionPlan *plan, const real *input,
                                           const real *gradOutput, accreal scale, real *gradWeight,
                                           void *scratch);

#endif
