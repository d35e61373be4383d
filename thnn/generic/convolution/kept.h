/* Convolutions whose plan and weights are kept in the state of their calls. */
#ifndef THNN_CONVOLUTION_KEPT_H
#define THNN_CONVOLUTION_KEPT_H

#include "call/state.h"
#include "generic/convolution/engine/engine.h"

/* Plans a forward pass, transposed if `part` is that of the image, by what the state keeps.
 * `*leaves` says whether what is made of the weight has to be made first: then the call gets a block
 * of kept_bytes that outlives it, fills it, and leaves it (THNN_leaveKept). Returns a plan: that of an earlier call,
 * or `room`, which it has filled. */
const THNNConvolutionPlan *THNN_(kept_prepare)(THNNConvolutionPlan *room, bool *leaves,
                                               const THNNState *state,
                                               const THNNConvolution *geometry,
                                               THNNConvolutionPart part, THTensor *weight);

/* The bytes of a block. */
size_t THNN_(kept_bytes)(const THNNConvolutionPlan *plan);

/* Fills a block, and returns the plan that goes with it. */
const THNNConvolutionPlan *THNN_(kept_fill)(void *block, const THNNConvolutionPlan *plan,
                                            const THNNState *state, const THNNConvolution *geometry,
                                            const real *weight, void *scratch);

#endif
