/* Padded tiles (frames) of boxes of map positions: the piece of the image that a box sees, copied
 * with its padding, so that every position of the box sees inside the frame through every tap. A
 * frame is laid out as
 *
 *   [sample][image plane][depth][height][width] */
#ifndef THNN_GENERIC_BOX_FRAMES_H
#define THNN_GENERIC_BOX_FRAMES_H

#include "generic/template.h"

#include "generic/convolution/engine/algorithm.h"

/* Sizes of a frame's planes, the same for all boxes. */
static inline void boxFrameSize(const THNNConvolution *geometry, const THNNConvolutionBoxes *boxes,
                                int64_t *size)
{
  for (int i = 0; i < 3; i++)
    size[i] = (boxes->box[THNN_DEPTH + i] - 1) * geometry->stride[i] +
              (geometry->kernel[i] - 1) * geometry->dilation[i] + 1;
}

/* The image index at which the box's frame begins; it can be outside the image. */
static inline int64_t boxFrameFirst(const THNNConvolution *geometry, const THNNConvolutionBox *box,
                                    int dimension)
{
  return box->first[THNN_DEPTH + dimension] * geometry->stride[dimension] -
         geometry->pad[dimension];
}

/* Number of elements of a frame. */
int64_t THNN_(boxFrames_elements)(const THNNConvolution *geometry,
                                  const THNNConvolutionBoxes *boxes);

/* The cost of filling the frames of all boxes, in cycles. */
double THNN_(boxFrames_cost)(const THNNConvolution *geometry, const THNNConvolutionBoxes *boxes);
void THNN_(boxFrames_fill)(const THNNConvolution *geometry, const THNNConvolutionBoxes *boxes,
                           const THNNConvolutionBox *box, const real *image, real *frame);

#endif
