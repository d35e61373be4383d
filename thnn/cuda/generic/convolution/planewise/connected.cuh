/* Convolutions that join single planes: each connection is one kernel between a plane of the image
 * and a plane of the map. A table says which planes it joins, or they follow from its number where
 * every image plane has maps of its own (depth-wise). */
#ifndef THCUNN_CONNECTED_CUH
#define THCUNN_CONNECTED_CUH

#include "cuda/THC/THCPlan.h"
#include "cuda/generic/template.h"
#include "generic/convolution/checks.h"

/* A call whose arguments have been checked. */
struct THCPlanesCall {
  const char *function;
  THCState *state;
  bool framesFirst; /* in the tensors, positions come before planes */
  THNNPlaneJoins joins;
};

/* The three functions of a module. The argument positions are those of every convolution module;
 * `connTable` is #6 (#7 for updateGradInput), NULL for a depth-wise convolution. */

/* The arguments: input #2, output #3, weight #4, bias #5 (may be NULL). */
void THCUNN_(connected_updateOutput)(const THCPlanesCall *call, THCTensor *input, THCTensor *output,
                                     THCTensor *weight, THCTensor *bias, THCTensor *connTable);

/* The arguments: input #2, gradOutput #3, gradInput #4, weight #5. */
void THCUNN_(connected_updateGradInput)(const THCPlanesCall *call, THCTensor *input,
                                        THCTensor *gradOutput, THCTensor *gradInput,
                                        THCTensor *weight, THCTensor *connTable);

/* The arguments: input #2, gradOutput #3, gradWeight #4, gradBias #5 (may be NULL). */
void THCUNN_(connected_accGradParameters)(const THCPlanesCall *call, THCTensor *input,
                                          THCTensor *gradOutput, THCTensor *gradWeight,
                                          THCTensor *gradBias, THCTensor *connTable, accreal scale);

/* The computations on dense memory, of depth-wise convolutions. */

struct THCPlanesOperands {
  const real *source, *weight, *bias; /* bias may be NULL */
  real *result;
  bool add; /* whether the result is added to */
};

/* Computes the image from the map (toImage), or the map from the image. */
void THCUNN_(connected_gather)(THCPlan *plan, const THCPlanesCall *call, bool toImage,
                               const THCPlanesOperands &operands);

/* gradWeight += scale * the correlation of image and map. `partial` has connected_scratchBytes
 * bytes. */
int64_t THCUNN_(connected_scratchBytes)(const THNNPlaneJoins &joins);
void THCUNN_(connected_correlate)(THCPlan *plan, const THCPlanesCall *call, const real *image,
                                  const real *map, accreal scale, real *gradWeight,
                                  accreal *partial);

#endif
