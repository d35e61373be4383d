/* Convolutions of groups of planes: those of image and map are cut into as many groups, and each
 * group is a convolution of its own. Groups of a single image plane are joined plane by plane
 * (planewise/); all others go to the engine, group by group.
 *
 * A group's planes are contiguous in a sample, but not from sample to sample; the engine gets them
 * as they lie. Results that an algorithm cannot add to what is there are computed in scratch, for a
 * chunk of the batch at a time. */
#ifndef THNN_CONVOLUTION_GROUPED_H
#define THNN_CONVOLUTION_GROUPED_H

#include "generic/template.h"

#include "call/state.h"
#include "generic/convolution/engine/engine.h"
#include "generic/convolution/planewise/connected.h"
#include "geometry/convolutionCheck.h"

/* How one part of a convolution in groups is computed. A unit is one group of one chunk of the
 * batch, or all groups of a chunk if it is planewise. A prepared plan must not be copied, since the
 * engine's plan refers to the state in it. */
typedef struct THNNGroupedPlan {
  THNNGroups groups;
  THNNConvolutionPart part;
  bool add;                /* results are added to what is there */
  bool planewise;          /* all groups together, plane by plane */
  bool copiesResult;       /* a chunk of the result is computed in scratch, then added */
  int64_t samples, chunks; /* samples in a chunk, and chunks of the batch */
  int threads;             /* threads among which units are divided; 1: threads share each unit */
  int unitThreads;         /* threads that add a unit's results */
  THNNState state;         /* the settings that units are planned by */
  THNNPlaneJoins joins;    /* the joins of a chunk, if planewise */
  THNNConvolutionPlan convolution; /* the convolution of one group in a chunk */
  double cost;                     /* expected time, in cycles of one core */
  size_t scratchBytes;
} THNNGroupedPlan;

/* The functions of a module, which checks its arguments and calls these. */

/* input #2, output #3, weight #4, bias #5 (may be NULL) */
void THNN_(grouped_updateOutput)(const char *function, THNNState *state, const THNNGroups *groups,
                                 THTensor *input, THTensor *output, THTensor *weight,
                                 THTensor *bias);

/* gradOutput #2, gradInput #3, weight #4 */
void THNN_(grouped_updateGradInput)(const char *function, THNNState *state,
                                    const THNNGroups *groups, THTensor *gradOutput,
                                    THTensor *gradInput, THTensor *weight, bool add);

/* input #2, gradOutput #3, gradWeight #4, gradBias #5 (may be NULL) */
void THNN_(grouped_accGradParameters)(const char *function, THNNState *state,
                                      const THNNGroups *groups, THTensor *input,
                                      THTensor *gradOutput, THTensor *gradWeight,
                                      THTensor *gradBias, accreal scale);

/* The gradient of the bias alone: gradOutput #3, gradBias #5; nDimension counts the spatial
 * dimensions. */
void THNN_(grouped_accGradBias)(const char *function, THNNState *state, int nDimension,
                                THTensor *gradOutput, THTensor *gradBias, accreal scale);

#endif
