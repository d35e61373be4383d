/* Sums and maps with parameters per channel. */
#ifndef THNN_SIMD_CHANNELWISE_H
#define THNN_SIMD_CHANNELWISE_H

#include "simd/loops/pointwise.h"

/* Two sums per channel, of terms of x, y and the channel's center. */
typedef struct ChannelSum {
  /* adds the terms of one channel to sums[0] and sums[1]: the channel has `count` runs of n
   * elements, which begin `step` elements apart */
  void (*planes)(int64_t count, int64_t step, int64_t n, const real *x, const real *y, real center,
                 double *sums);
  /* adds the terms of element i, whose channel has centers[i], to first[i] and second[i] */
  void (*row)(int64_t n, const real *x, const real *y, const real *centers, double *first,
              double *second);
} ChannelSum;

/* z = f(x, y) with `count` parameters per channel. */
typedef struct ChannelMap {
  /* n elements of one channel */
  Map2 plane;
  /* parameter p of element i is parameters[p*step + i] */
  void (*row)(int64_t n, const real *x, const real *y, const real *parameters, int64_t step,
              real *z);
  int count;
} ChannelMap;

/* `count` rows that begin `step` elements apart; the center and the scale of row r are centers[r *
 * apart] and scales[r * apart]. */
typedef struct RowGradients {
  int64_t count, step, apart;
  const real *x, *gradOutput, *centers, *scales;
} RowGradients;

typedef struct SimdChannels {
  /* distance d = x - center and d^2; y is not read */
  ChannelSum moments;
  /* gradOutput (y) and gradOutput * (x - center) */
  ChannelSum gradients;
  /* x <= 0 ? x * gradOutput : 0; the center is not read, there is no second sum */
  ChannelSum slopes;
  /* (x - center) * scale + shift; center, scale, shift; y is not read */
  ChannelMap normalise;
  /* (gradOutput - mean - (x - center) * projection) * scale; center, mean, projection, scale */
  ChannelMap normaliseBackward;
  /* y * factor; factor; x is not read */
  ChannelMap scale;
  /* the sums of `gradients` for each of `count` planes of n elements, which have one center */
  void (*gradientsOfEach)(int64_t count, int64_t n, const real *x, const real *gradOutput,
                          real center, double *sums);
  /* gradOutput * scale * weight - (x - center) * projection - mean, in `count` planes with a weight
   * each, or with 1 where that is NULL; center, mean, projection, scale */
  void (*differentiateEach)(int64_t count, int64_t n, const real *x, const real *gradOutput,
                            const real *parameters, const real *weight, real *gradInput);
  /* (x - center) * scale * weight + bias; each element of a row has a weight and a bias */
  void (*normaliseWeighted)(int64_t n, const real *x, real center, real scale, const real *weight,
                            const real *bias, real *z);
  /* The gradients of rows that are normalised, with a weight for each element of a row: that of x,
   * whose rows begin as far apart as those of x, and, unless `first` is NULL, what addGradients
   * adds. Elements `ahead` further on are prefetched, unless that is 0. */
  void (*differentiateRows)(int64_t n, const RowGradients *rows, const real *weight, int64_t ahead,
                            real *gradInput, double *first, double *second);
  /* first += gradOutput, second += gradOutput * (x - center) * scale, element by element and row
   * after row */
  void (*addGradients)(int64_t n, const RowGradients *rows, double *first, double *second);
} SimdChannels;

#endif
