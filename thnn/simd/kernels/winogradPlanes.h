/* Transforms of tiles to Winograd's coefficients and back, with a lane for each plane. */
#ifndef THNN_SIMD_WINOGRAD_PLANES_H
#define THNN_SIMD_WINOGRAD_PLANES_H

#include <stdbool.h>
#include <stdint.h>

/* A tile of 4x4 results of 3x3 taps, which sees 6x6 elements, in whole vectors of planes that are
 * the last dimension. */
typedef struct PlanesTile {
  int64_t row, column;   /* its first element in the plane; of elements that are seen, it can be
                          * outside */
  int64_t height, width; /* size of the plane */
  int64_t step;          /* reals from one position to the next */
  int64_t planes;        /* a multiple of a vector's lanes */
  bool fetches;          /* whether to prefetch what the next tile of the row reads and writes */
} PlanesTile;

typedef struct SimdWinogradPlanes {
  /* Coefficient k of plane c of the elements that a tile sees, which are 0 outside of the plane, goes
   * to y[k * apart + c]. */
  void (*source)(const PlanesTile *of, const real *image, int64_t apart, real *y);
  /* The results of the tile inside the plane: bias[c] + the transform of the sums of products
   * x[k * apart + c], plus the element of `addend` at the same place, unless that is NULL. With
   * `rectifies`, what is not above 0 becomes 0 then. Returns whether all results were finite before
   * that. */
  bool (*result)(const PlanesTile *of, const real *x, int64_t apart, const real *bias,
                 const real *addend, bool rectifies, real *map);
} SimdWinogradPlanes;

#endif
