/* Sampling planes at the points of a grid. */
#ifndef THNN_SIMD_SAMPLING_H
#define THNN_SIMD_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* Points of a grid, located in a plane. A point inside is between four elements: `place` is the
 * number of the upper left one, `right` and `down` are the point's distances from it, and `weight`
 * has the shares of upper left, upper right, lower left and lower right. `others` of the points are
 * not inside; they have place 0, so that sample and addSlopes can treat them like the rest. Callers
 * replace the results of these points, and call neither function if no point is inside. */
enum { THNN_POINTS = 256 };
typedef struct Points {
  int64_t count, others;
  int32_t place[THNN_POINTS];
  real right[THNN_POINTS], down[THNN_POINTS], weight[4][THNN_POINTS];
  bool inside[THNN_POINTS];
} Points;

typedef struct SimdSampling {
  /* Finds n points in a plane; x and y of each go from -1 to 1. */
  void (*locate)(int64_t n, const real *grid, int64_t height, int64_t width, Points *points);
  /* y = the weighted mean of the four elements of x around each point */
  void (*sample)(const Points *points, const real *x, int64_t width, real *y);
  /* slopeX, slopeY += gradient times that mean's slope as the point moves to the right, and down */
  void (*addSlopes)(const Points *points, const real *x, int64_t width, const real *gradient,
                    real *slopeX, real *slopeY);
  /* adds the gradients of points `first` to end - 1 to their four elements of x, by weight */
  void (*spread)(const Points *points, int64_t first, int64_t end, const real *gradient,
                 int64_t width, real *x);
} SimdSampling;

#endif
