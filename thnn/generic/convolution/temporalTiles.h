/* Winograd's algorithm F(2, 3) for convolutions of three taps over frames with stride 1: two
 * neighbouring results take four products of frames and weights where the definition has six. */
#ifndef THNN_GENERIC_TEMPORAL_WINOGRAD_H
#define THNN_GENERIC_TEMPORAL_WINOGRAD_H

#include "generic/template.h"

/* results[r] = start + the sum over taps k of weight[k] * sources[r + k - pad], where sources
 * outside are zero. */
typedef struct TemporalWinograd {
  THNNState *state;
  int64_t batch, sources, results;    /* samples, and frames of a sample */
  int64_t sourceSize, resultSize;     /* reals of a frame */
  int64_t sourceSample, resultSample; /* reals from one sample to the next */
  int threads;                        /* threads that the scratch is for */
  bool backward; /* computes gradInput from gradOutput: taps are reversed, pad is 2 and not 0 */
} TemporalWinograd;

/* Sets `threads` and returns the bytes of scratch. Returns 0 if the algorithm is not to be used:
 * the state asks for another or limits the scratch, or this one is slower. */
size_t THNN_(temporalWinograd_bytes)(TemporalWinograd *of);

/* Returns whether the results are right. If some are not finite, intermediate sums may have
 * overflowed, and the caller has to compute all of them by the definition. The weight is
 * outputFrameSize x (3 * inputFrameSize). */
bool THNN_(temporalWinograd_run)(const TemporalWinograd *of, const real *source, const real *weight,
                                 const real *start, real *result, void *scratch);

#endif
