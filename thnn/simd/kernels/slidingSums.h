/* Correlations of planes with small kernels, with a lane for each of neighbouring results. */
#ifndef THNN_SIMD_SLIDING_SUMS_H
#define THNN_SIMD_SLIDING_SUMS_H

#include <stdbool.h>

/* Planes with the same kernel of side x side taps, 3x3 or 5x5. Around the source there are zeros. All
 * distances are counted in reals. A dilated kernel's lines, and the rows of its results, are every nth of
 * their planes. */
typedef struct SlidingSums {
  int64_t side, stride;  /* of 1 or 2 */
  int64_t tapStep;       /* from a tap of a row to the next; with stride 2 it is 1 */
  const real *factors;   /* the kernel, row by row */
  real start;            /* what sums start from */
  int64_t height, width; /* of a source plane: its lines, and their elements */
  int64_t rows, columns; /* of the results of a plane */
  int64_t xLine, yRow;   /* from a line of the source to the next, and from a row of results */
  /* Zeros that the first result sees before the source; less than 0: what it does not see of it. */
  int64_t above, left;
  int64_t planes;
  const real *x; /* the first source plane */
  int64_t xPlane;
  real *y; /* the first result */
  int64_t yPlane;
  int64_t xAhead, yAhead; /* from these planes to those that are summed up next */
} SlidingSums;

/* One source plane and one map, whose rows' products are summed up for each tap of a kernel. */
typedef struct SlidingDots {
  int64_t side, stride, tapStep; /* these and what follows as for SlidingSums */
  int64_t height, width;
  int64_t rows, columns; /* of the map */
  int64_t xLine, mapRow;
  int64_t above, left;
  const real *x, *map;
  int64_t xAhead, mapAhead; /* from these planes to those that are next */
  real *sums; /* side * side + 1 vectors: one for each tap, and one for the elements of the map */
} SlidingDots;

typedef struct SimdSliding {
  bool applies;   /* whether ends of lines are loaded by masks; otherwise there is nothing else */
  int64_t lanes;  /* results of a vector */
  int64_t planes; /* planes whose ends are summed up at a time, at most */
  /* From where on they are faster than planes in lanes: percent of the lanes that have results; and for
   * `dot` the largest kernel and the fewest positions of a map; and the largest kernel of `sum` with
   * stride 2. */
  int64_t leastFull, mostDotSide, leastDotted, mostStridedSide;
  /* The same for dilated kernels: results that are summed up together; and for `dot` percent of the lanes
   * that have positions. */
  int64_t leastDilated, leastDilatedFull;

  /* y = start + the correlation of x with the factors, which are added row by row. */
  void (*sum)(const SlidingSums *of);

  /* Adds products to sums, for kernels of at most mostDotSide, or with stride 2 of 3x3; a column of the map
   * has the lane of its place in a vector. */
  void (*dot)(const SlidingDots *of);
} SimdSliding;

#endif
