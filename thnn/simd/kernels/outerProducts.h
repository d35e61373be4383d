/* Sums of outer products, with a lane for each result plane; transposition and packing. */
#ifndef THNN_SIMD_OUTER_PRODUCTS_H
#define THNN_SIMD_OUTER_PRODUCTS_H

#include "simd/kernels/chains.h"

/* A sum of outer products: for each row r and each lane l of `vectors` vectors
 *
 *   sums[r.vector + l] += sum over the terms t of
 *                         scalars[r.scalar + t.scalar] * factors[t.vector + l]
 *
 * Terms are added up in groups of a few hundred, which then join the sums one after the other. With
 * `start` the sums' old contents are not read: lane l starts from start[l]. */
typedef struct Products {
  const THNNOffsets *row;
  int64_t rows;
  const THNNOffsets *term;
  int64_t terms;
  int64_t vectorStep; /* from each term's `vector` to the next one's, or 0 if that differs */
  int vectors;        /* 1 to mostVectors */
  const real *scalars, *factors;
  /* The distance from one row's scalars to the next row's, if each row's are a contiguous stream
   * from memory that the hardware does not prefetch; otherwise 0. */
  int64_t streams;
  const real *start; /* or NULL */
  real *sums;
  THNNRanges ahead; /* what a later call reads: all tiles fetch some of it */
} Products;

typedef struct SimdProducts {
  int lanes;       /* reals in a vector */
  int mostVectors; /* the most vectors that one call takes */
  int fewColumns;  /* the most columns that addFew() takes */
  void (*add)(const Products *products);
  /* The same sums of the first `columns` lanes of a vector, with all terms in one group. The scalars of `lanes` rows must follow each
   * other in memory, and those of the last ones be followed by as many as fill a vector. */
  void (*addFew)(const Products *products, int columns);
  const SimdChains *chains;
  /* prefetches x into the second-level cache */
  void (*prefetch)(int64_t n, const real *x);
  /* y[column*yStride + row] = x[row*xStride + column]; x and y do not overlap */
  void (*transpose)(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
                    int64_t yStride);
  /* y[column*lanes + lane] = x[lane*xStride + column], or 0 if lane >= rows; `lanes` is `rows`
   * rounded up to whole vectors */
  void (*pack)(int64_t rows, int64_t columns, const real *x, int64_t xStride, real *y,
               int64_t lanes);
  /* sums += the sum over all positions; x[position] is `vectors` vectors */
  void (*total)(int64_t positions, int vectors, const real *x, real *sums);
} SimdProducts;

#endif
