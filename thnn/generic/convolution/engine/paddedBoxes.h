/* Padded tiles of boxes of map positions: the piece of the image that a box sees, copied with its
 * padding, so that every position of the box sees inside the tile through every tap. A padded box
 * is laid out as
 *
 *   [sample][image plane][depth][height][width] */
#ifndef THNN_CONVOLUTION_PADDED_BOXES_H
#define THNN_CONVOLUTION_PADDED_BOXES_H

#include "generic/template.h"

#include "generic/convolution/engine/algorithm.h"
#include "geometry/inside.h"

/* Sizes of a padded box's planes, the same for all boxes. */
static inline void paddedBoxSize(const THNNConvolution *geometry, const THNNConvolutionBoxes *boxes,
                                 int64_t *size)
{
  for (int i = 0; i < 3; i++)
    size[i] = (boxes->box[THNN_DEPTH + i] - 1) * geometry->stride[i] +
              THNN_extent(geometry->kernel[i], geometry->dilation[i]);
}

/* The image index at which the padded box begins; it can be outside the image. */
static inline int64_t paddedBoxFirst(const THNNConvolution *geometry, const THNNConvolutionBox *box,
                                     int dimension)
{
  return box->first[THNN_DEPTH + dimension] * geometry->stride[dimension] -
         geometry->pad[dimension];
}

/* Number of elements of a padded box. */
int64_t THNN_(paddedBoxes_elements)(const THNNConvolution *geometry,
                                    const THNNConvolutionBoxes *boxes);

/* Counts the lines of all padded boxes, and the vectors of these. */
void THNN_(paddedBoxes_count)(const THNNConvolution *geometry, const THNNConvolutionBoxes *boxes,
                              double *lines, double *vectors);
void THNN_(paddedBoxes_fill)(const THNNConvolution *geometry, const THNNConvolutionBoxes *boxes,
                             const THNNConvolutionBox *box, const real *image, real *padded);

#endif
