/* Unfolds images into columns and folds them back, in two and three dimensions.
 *
 * The column matrix of an image has a row per (plane, tap), plane slowest, and a column per map
 * position in row-major order. The matrices of several images can be stored one after the
 * other or side by side, according to the strides of Columns. */
#ifndef THCUNN_UNFOLD_CUH
#define THCUNN_UNFOLD_CUH

#include "geometry/convolution.h"
#include "cuda/generic/template.h"
#include "cuda/generic/shared/windows.cuh"

/* Planes of several images: of each image `count` planes, beginning at `data`. */
template <typename T> struct Planes {
  T *data;
  int64_t images, count;
  int64_t imageStride; /* elements from an image to the next */
};

template <typename T> struct Columns {
  T *data;
  int64_t imageStride;        /* elements from an image's matrix to the next one's */
  int64_t rowStride;          /* elements from a row to the next */
  int64_t positionStride = 1; /* elements from a map position to the next */
};

/* columns = what each tap sees at each map position, 0 outside the image. */
void THCUNN_(unfold_toColumns)(THCPlan *plan, const THNNConvolution *geometry,
                               Planes<const real> images, Columns<real> columns);

/* Each element of images = the sum of all columns' elements that unfold would copy it to, plus its
 * plane's bias unless `bias` is NULL, plus, with `add`, what it held before. */
void THCUNN_(unfold_toImage)(THCPlan *plan, const THNNConvolution *geometry,
                             Columns<const real> columns, const real *bias, Planes<real> images,
                             bool add = false);

#endif
