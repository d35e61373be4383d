/* The convolution engine on a device: forward, gradient of the image and gradient of the weight,
 * for every module that convolves with shared weights. See geometry/convolution.h for the geometry;
 * the functions are those of the host's engine (generic/convolution/engine/engine.h).
 *
 * Images are unfolded a chunk at a time, so that a chunk's columns stay in the L2 cache. A chunk is
 * several images, with one batched product, where they are small, or some planes of one image where
 * it is large. Pointers are to dense memory. */
#ifndef THCUNN_ENGINE_CUH
#define THCUNN_ENGINE_CUH

#include "geometry/convolution.h"
#include "cuda/THC/THCBlas.h"
#include "cuda/generic/template.h"

/* How a convolution's forward call, or one of its gradients, is cut into chunks. */
struct THCConvolutionPlan {
  THNNConvolution geometry;
  int64_t taps, imagePositions, mapPositions;
  int64_t imageStride, mapStride;   /* elements from a sample to the next, which are more than a
                                       sample's if planes of other groups are between */
  bool add;                         /* forward and backwardData add to their results */
  bool readsImage;                  /* the image is the column matrix: nothing to unfold */
  int64_t chunkImages, chunkPlanes; /* images unfolded together, and planes of each */
  int64_t columnElements;           /* elements of a chunk's columns, at the start of scratch */
  int64_t scratchBytes;             /* size of the scratch memory, which the caller provides */
};

/* Chooses the chunks, for samples that follow each other and results that are overwritten. It
 * allocates nothing and cannot fail. */
THCConvolutionPlan THCUNN_(engine_prepare)(const THCState *state, const THNNConvolution *geometry,
                                           THNNConvolutionPart part);

/* output = bias + convolution(input); bias (one value per output plane) may be NULL. */
void THCUNN_(engine_forward)(THCPlan *plan, const THCConvolutionPlan *convolution,
                             const real *input, const real *weight, const real *bias, real *output,
                             real *scratch);

/* gradInput = bias + the gradients of all taps that see the element; bias (one value per input
 * plane) may be NULL. With a bias it is the forward call of the transposed convolution. */
void THCUNN_(engine_backwardData)(THCPlan *plan, const THCConvolutionPlan *convolution,
                                  const real *gradOutput, const real *weight, const real *bias,
                                  real *gradInput, real *scratch);

/* gradWeight += scale * the correlation of input with gradOutput. */
void THCUNN_(engine_backwardWeight)(THCPlan *plan, const THCConvolutionPlan *convolution,
                                    const real *input, const real *gradOutput, accreal scale,
                                    real *gradWeight, real *scratch);

/* output = bias, spread over batch and positions. */
void THCUNN_(engine_fillWithBias)(THCPlan *plan, int64_t batch, int64_t planes, int64_t positions,
                                  const real *bias, real *output);

/* gradBias[plane] += scale * the sum of gradients[batch][plane][position] over batch and positions,
 * in a fixed order. `partial` has THCUNN_(engine_biasScratchBytes) bytes. */
int64_t THCUNN_(engine_biasScratchBytes)(int64_t batch, int64_t planes, int64_t positions);
void THCUNN_(engine_backwardBias)(THCPlan *plan, int64_t batch, int64_t planes, int64_t positions,
                                  const real *gradients, accreal scale, real *gradBias,
                                  accreal *partial);

#endif
