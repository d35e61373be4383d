#include "boxFrames.h"

int64_t THNN_(boxFrames_elements)(const THNNConvolution *geometry,
                                  const THNNConvolutionBoxes *boxes)
{
  int64_t size[3];
  boxFrameSize(geometry, boxes, size);
  /* A vector more: zeros may be written behind the end. */
  return boxes->box[THNN_SAMPLE] * geometry->inputPlanes * size[0] * size[1] * size[2] +
         THNN_(simd).shifts.lanes;
}

double THNN_(boxFrames_cost)(const THNNConvolution *geometry, const THNNConvolutionBoxes *boxes)
{
  int64_t size[3];
  boxFrameSize(geometry, boxes, size);
  const double lines = (double)THNN_convolutionBoxCount(boxes) * boxes->box[THNN_SAMPLE] *
                       geometry->inputPlanes * size[0] * size[1];
  return lines * (11 + 5 * (double)divideUp(size[2], THNN_(simd).shifts.lanes));
}

typedef struct Range {
  int64_t begin, end;
} Range;

/* Those of `count` indices from `start` on that lie inside the image. */
static Range insideImage(int64_t start, int64_t count, int64_t size)
{
  const int64_t begin = maximum(minimum(-start, count), 0);
  return (Range){begin, maximum(minimum(size - start, count), begin)};
}

/* Copies a slice of a plane, whose first element in the frame is image element (line, column). */
static void fillSlice(const THNNConvolution *geometry, const int64_t *size, const real *slice,
                      int64_t line, int64_t column, real *frame)
{
  const int64_t width = size[2], inputWidth = geometry->input[2];
  const Range y = insideImage(line, size[1], geometry->input[1]);
  const Range x = insideImage(column, width, inputWidth);
  const THNN_(Frame) inside = {.rows = y.end - y.begin,
                               .before = x.begin,
                               .count = x.end - x.begin,
                               .after = width - x.end,
                               .x = slice + (line + y.begin) * inputWidth + column + x.begin,
                               .xStride = inputWidth,
                               .step = 1,
                               .y = frame + y.begin * width,
                               .yStride = width};
  THNN_(simd).pointwise.fill(y.begin * width, 0, frame);
  if (inside.rows)
    THNN_(simd).shifts.frame(&inside);
  THNN_(simd).pointwise.fill((size[1] - y.end) * width, 0, frame + y.end * width);
}

void THNN_(boxFrames_fill)(const THNNConvolution *geometry, const THNNConvolutionBoxes *boxes,
                           const THNNConvolutionBox *box, const real *image, real *frame)
{
  const int64_t *input = geometry->input;
  const int64_t first = box->first[THNN_SAMPLE] * geometry->inputPlanes;
  const int64_t end = box->end[THNN_SAMPLE] * geometry->inputPlanes;
  const int64_t depth = boxFrameFirst(geometry, box, 0);
  int64_t size[3];
  boxFrameSize(geometry, boxes, size);
  for (int64_t plane = first; plane < end; plane++)
    for (int64_t z = depth; z < depth + size[0]; z++, frame += size[1] * size[2])
      if (z >= 0 && z < input[0])
        fillSlice(geometry, size, image + (plane * input[0] + z) * input[1] * input[2],
                  boxFrameFirst(geometry, box, 1), boxFrameFirst(geometry, box, 2), frame);
      else
        THNN_(simd).pointwise.fill(size[1] * size[2], 0, frame);
}
