/* The gradient of the weight of convolutions over frames with stride 1, by Fourier transforms of tiles
 * of 16 frames. With the gradients of a tile's results in the place of the taps, which are up to
 * 17 - k, the same correlation as in temporalTiles.c gives the gradients of k taps. */
#ifndef THNN_GENERIC_TEMPORAL_TILES_WEIGHT_H
#define THNN_GENERIC_TEMPORAL_TILES_WEIGHT_H

#include "generic/template.h"

/* gradWeight[output][k] += scale * the sum over frames r of gradOutput[r][output] * input[r + k]. */
typedef struct TemporalWeightTiles {
  THNNState *state;
  int taps;
  int64_t batch, frames, results; /* samples, and frames of a sample that there are gradients of */
  int64_t inputSize, outputSize;  /* reals of a frame */
  int64_t inputSample, gradientSample; /* reals from one sample to the next */
  /* Set by temporalTilesWeight_bytes: */
  int64_t sampleTiles, blockTiles; /* tiles of a sample, and of a block */
  int64_t pass;                    /* outputs whose gradients are computed at a time */
  int threads;                     /* threads that the scratch is for */
} TemporalWeightTiles;

/* Plans passes and blocks and returns the bytes of scratch. Returns 0 if tiles are not to be used: the
 * state asks for another algorithm or limits the scratch, or the definition is as fast. */
size_t THNN_(temporalTilesWeight_bytes)(TemporalWeightTiles *of);

/* Returns whether gradients were added. They are not if sums of transforms might overflow, and the
 * caller has to compute them by the definition. The weight is outputSize x (taps * inputSize). */
bool THNN_(temporalTilesWeight_run)(const TemporalWeightTiles *of, const real *input,
                                    const real *gradOutput, real scale, real *gradWeight,
                                    void *scratch);

#endif
