/* Convolutions whose plan and weights are kept in the state of their calls. */
#ifndef THNN_CONVOLUTION_KEPT_H
#define THNN_CONVOLUTION_KEPT_H

#include "call/state.h"
#include "generic/convolution/engine/engine.h"

/* What a call is to leave in its state. */
typedef struct LeavingConvolution {
  bool leaves;
  const THNNKept *seen; /* the latest block of the state when the call was planned */
} LeavingConvolution;

/* Plans a forward pass, of a transposed convolution if `part` is the backward pass to the image,
 * with the plan and the weights that the state keeps of earlier calls. `leaving->leaves` says that
 * the state should keep these and has none yet: then the caller provides a block of kept_bytes bytes
 * that outlives its call, fills it (kept_fill), and leaves it to the state (THNN_leaveKept).
 * Returns the plan of an earlier call, or `room`, which then holds a new one. */
const THNNConvolutionPlan *THNN_(kept_prepare)(THNNConvolutionPlan *room,
                                               LeavingConvolution *leaving, const THNNState *state,
                                               const THNNConvolution *geometry,
                                               THNNConvolutionPart part, THTensor *weight);

/* The number of bytes of a block for a plan, and for its weights unless another block has them. */
size_t THNN_(kept_bytes)(const THNNConvolutionPlan *plan);

/* Fills a block, and returns the plan that goes with it. */
const THNNConvolutionPlan *THNN_(kept_fill)(void *block, const THNNConvolutionPlan *plan,
                                            const LeavingConvolution *leaving,
                                            const THNNState *state, const THNNConvolution *geometry,
                                            const real *weight, void *scratch);

#endif
