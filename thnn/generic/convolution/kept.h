/* Convolutions whose plan and weights are kept in the state of their calls. */
#ifndef THNN_CONVOLUTION_KEPT_H
#define THNN_CONVOLUTION_KEPT_H

#include "call/state.h"
#include "generic/convolution/engine/engine.h"

/* Plans a forward pass, of a transposed convolution if `part` is the backward pass to the image,
 * with the plan and the weights that the state keeps of an earlier call. `*leaves` says that the
 * state should keep these and has none yet: then the caller provides a block of kept_bytes bytes
 * that outlives its call, fills it (kept_fill), and leaves it to the state (THNN_leaveKept).
 * Returns the plan of the earlier call, or `room`, which then holds a new one. */
const THNNConvolutionPlan *THNN_(kept_prepare)(THNNConvolutionPlan *room, bool *leaves,
                                               const THNNState *state,
                                               const THNNConvolution *geometry,
                                               THNNConvolutionPart part, THTensor *weight);

/* The number of bytes of a block for a plan and its weights. */
size_t THNN_(kept_bytes)(const THNNConvolutionPlan *plan);

/* Fills a block, and returns the plan that goes with it. */
const THNNConvolutionPlan *THNN_(kept_fill)(void *block, const THNNConvolutionPlan *plan,
                                            const THNNState *state, const THNNConvolution *geometry,
                                            const real *weight, void *scratch);

#endif
