#include "generic/convolution/engine/paddedBoxes.h"

#include "generic/convolution/engine/paddedLines.h"

int64_t THNN_(paddedBoxes_elements)(const THNNConvolution *geometry,
                                    const THNNConvolutionBoxes *boxes)
{
  int64_t size[3];
  paddedBoxSize(geometry, boxes, size);
  /* One vector more, since zeros are written in whole vectors and reach past the end. */
  return boxes->box[THNN_SAMPLE] * geometry->inputPlanes * size[0] * size[1] * size[2] +
         vectorLanes();
}

void THNN_(paddedBoxes_count)(const THNNConvolution *geometry, const THNNConvolutionBoxes *boxes,
                              double *lines, double *vectors)
{
  int64_t size[3];
  paddedBoxSize(geometry, boxes, size);
  *lines = (double)THNN_convolutionBoxCount(boxes) * (double)boxes->box[THNN_SAMPLE] *
           (double)geometry->inputPlanes * (double)size[0] * (double)size[1];
  *vectors = *lines * (double)divideUp(size[2], vectorLanes());
}

void THNN_(paddedBoxes_fill)(const THNNConvolution *geometry, const THNNConvolutionBoxes *boxes,
                             const THNNConvolutionBox *box, const real *image, real *padded)
{
  const int64_t *input = geometry->input;
  const int64_t planes = geometry->inputPlanes, depth = paddedBoxFirst(geometry, box, 0);
  const int64_t positions = THNN_convolutionImagePositions(geometry);
  int64_t size[3];
  paddedBoxSize(geometry, boxes, size);
  for (int64_t i = box->first[THNN_SAMPLE] * planes; i < box->end[THNN_SAMPLE] * planes; i++) {
    const real *plane =
        image + i / planes * THNN_convolutionImageSample(geometry) + i % planes * positions;
    for (int64_t z = depth; z < depth + size[0]; z++, padded += size[1] * size[2])
      if (z >= 0 && z < input[0])
        THNN_(paddedLines_copy)(geometry, 1, size[2], plane + z * input[1] * input[2],
                                paddedBoxFirst(geometry, box, 1), paddedBoxFirst(geometry, box, 2),
                                size[1], padded);
      else
        THNN_(simd).pointwise.fill(size[1] * size[2], 0, padded);
  }
}
