/* A block of a matrix product from panels, packed or in place. */
#ifndef THNN_SIMD_PANELS_H
#define THNN_SIMD_PANELS_H

#include <stdbool.h>
#include <stdint.h>

#include "simd/vector/ahead.h"

/* An upper bound on SimdPanels.mostInPlace. */
enum { THNN_MOST_IN_PLACE = 64 };
/* An upper bound on SimdPanels.step. */
enum { THNN_MOST_PANEL_STEP = 16 };

/* c[i][j] = start[i] + the sum over the terms t of s[t][i] * p[t][j]. The scalars s are stored in
 * groups of SimdPanels.step rows, [group][term][row], and p in panels of SimdPanels.columns
 * columns; the last panel may have fewer. Panels are read in whole vectors, so that the memory
 * after the last column must be readable. */
typedef struct Panels {
  int64_t rows, columns, terms;
  const real *scalars;
  int64_t groupStep; /* from a group of scalars to the next */
  const real *panel;
  int64_t stride, panelStep; /* from one term, and from one panel, to the next */
  /* If not NULL, the first tile of rows, which must be a full one, also packs the full panels: it
   * reads them from `source` and writes them to `packed`, the memory of `panel`. */
  const real *source;
  int64_t sourceStride; /* from one term to the next; panels are adjacent */
  real *packed;
  /* What later calls pack, and their scalars: all tiles fetch some of them, so that waiting for
   * memory overlaps with multiplying. */
  THNNRanges ahead, aheadScalars;
  bool add;          /* whether to add to c; `start` is not used then */
  const real *start; /* or NULL: 0 */
  real *c;
  int64_t cStride; /* from one row to the next */
} Panels;

typedef struct SimdPanels {
  int lanes;       /* reals in a vector */
  int columns;     /* columns of a panel */
  int rows;        /* rows of a tile */
  int step;        /* rows of a group of scalars: a multiple of `rows` and `lanes` */
  int panelBytes;  /* bytes of the panels that are packed at a time, to stay in the second-level
                    * cache */
  bool prefetches; /* whether tiles prefetch their panels even if they do not pack them */
  int fewColumns;  /* up to this many columns after the last full panel cost much less than a
                    * vector */
  /* Sizes from which these loops were measured to be faster than gemm of OpenBLAS: the least number
   * of multiplications if one operand is contiguous along the terms (leastProducts), if both are
   * (leastAlong) and if neither is (leastAcross); the most columns of a product whose panels are
   * read in place (mostInPlace), and of one whose panels have to be packed (mostPacked). The
   * convolution engine decides by its own costs instead, since it packs operands once for many
   * products. */
  int64_t leastProducts, leastAlong, leastAcross, mostInPlace, mostPacked;
  bool packs; /* whether convolutions may take these loops */
  void (*multiply)(const Panels *panels);
  /* y[t*yStride + j] = x[t*xStride + j]; the lanes after the last column become 0 */
  void (*copy)(int64_t terms, int64_t columns, const real *x, int64_t xStride, real *y,
               int64_t yStride);
  /* x[i] *= factor, for whole vectors */
  void (*scale)(int64_t n, real factor, real *x);
} SimdPanels;

#endif
