/* Convolutions over frames with stride 1 by transforms of tiles of them, which take fewer products
 * than the definition: Winograd's F(2, 3), where a tile has two results of three taps that take four
 * products, and Fourier transforms of 16 frames, where a tile of 17 - k results of k taps takes
 * 23. */
#ifndef THNN_GENERIC_TEMPORAL_TILES_H
#define THNN_GENERIC_TEMPORAL_TILES_H

#include "generic/template.h"

/* results[r] = start + the sum over taps k of weight[k] * sources[r + k - pad], where sources
 * outside are zero. */
typedef struct TemporalTiles {
  THNNState *state;
  int taps;
  int64_t batch, sources, results;    /* samples, and frames of a sample */
  int64_t sourceSize, resultSize;     /* reals of a frame */
  int64_t sourceSample, resultSample; /* reals from one sample to the next */
  bool backward; /* computes gradInput from gradOutput: taps are reversed, pad is taps - 1, not 0 */
  /* Set by temporalTiles_bytes: */
  bool fourier;                    /* whether tiles are those of Fourier transforms */
  int64_t sampleTiles, blockTiles; /* tiles of a sample, and of a block */
  int64_t passPanels;              /* panels of reals of a result that are computed in a pass */
  int threads;                     /* threads that the scratch is for */
} TemporalTiles;

/* Chooses the tiles and returns the bytes of scratch. Returns 0 if no tiles are to be used: the state
 * asks for another algorithm or limits the scratch, or the definition is as fast. */
size_t THNN_(temporalTiles_bytes)(TemporalTiles *of);

/* Returns whether the results are right. If some are not finite, intermediate sums may have
 * overflowed, and the caller has to compute all of them by the definition. The weight is
 * outputFrameSize x (taps * inputFrameSize). */
bool THNN_(temporalTiles_run)(const TemporalTiles *of, const real *source, const real *weight,
                              const real *start, real *result, void *scratch);

#endif
