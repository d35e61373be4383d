/* Unfolding and folding, written once for every dimension.
 *
 * A row of the column matrix belongs to one channel and one tap. For such a row the map positions
 * that see inside the image form a box, known before the loop; within a line of the map they are
 * one run, which is copied without branches; all else is padding. */
#include "generic/template.h"

#include "simd/simd.h"
#include "generic/convolution/engine/engine.h"
#include "work/sizes.h"

/* A piece of one line of the map: positions [begin, end) along the width. */
typedef struct Run {
  int64_t z, y, begin, end;
} Run;

/* A row of the column matrix: its channel, and its tap along each dimension. */
typedef struct Row {
  int64_t channel;
  THNNConvolutionTap tap[3];
} Row;

static Row rowAt(const THNNConvolution *geometry, int64_t index)
{
  Row row;
  for (int i = 2; i >= 0; i--) {
    row.tap[i] = THNN_convolutionTap(geometry, i, index % geometry->kernel[i]);
    index /= geometry->kernel[i];
  }
  row.channel = index;
  return row;
}

/* The run that starts at a position and ends with its line, or earlier after `limit` positions. */
static Run runAt(const THNNConvolution *geometry, int64_t position, int64_t limit)
{
  const int64_t width = geometry->output[2], line = position / width;
  Run run = {line / geometry->output[1], line % geometry->output[1], position % width, width};
  if (run.end - run.begin > limit)
    run.end = run.begin + limit;
  return run;
}

static void advance(const THNNConvolution *geometry, Run *run, int64_t limit)
{
  run->begin = 0;
  run->end = geometry->output[2] < limit ? geometry->output[2] : limit;
  if (++run->y == geometry->output[1]) {
    run->y = 0;
    run->z++;
  }
}

static bool contains(const THNNConvolutionTap *tap, int64_t position)
{
  return position >= tap->begin && position < tap->end;
}

/* The part of the run that sees inside the image; if there is none, it is empty at the run's
 * begin. */
static Run insideOf(const Row *row, const Run *run)
{
  Run inside = *run;
  if (inside.begin < row->tap[2].begin)
    inside.begin = row->tap[2].begin;
  if (inside.end > row->tap[2].end)
    inside.end = row->tap[2].end;
  if (inside.begin >= inside.end || !contains(&row->tap[0], run->z) ||
      !contains(&row->tap[1], run->y))
    inside.begin = inside.end = run->begin;
  return inside;
}

/* The image index that the first position of a run sees, which is inside the image. */
static int64_t imageIndex(const THNNConvolution *geometry, const Row *row, const Run *inside)
{
  const int64_t z = inside->z * geometry->stride[0] + row->tap[0].start;
  const int64_t y = inside->y * geometry->stride[1] + row->tap[1].start;
  const int64_t x = inside->begin * geometry->stride[2] + row->tap[2].start;
  return ((row->channel * geometry->input[0] + z) * geometry->input[1] + y) * geometry->input[2] +
         x;
}

static void unfoldRow(const THNNConvolution *geometry, const real *image, const Row *row,
                      int64_t firstPosition, int64_t positions, real *column)
{
  Run run = runAt(geometry, firstPosition, positions);
  while (positions > 0) {
    const Run inside = insideOf(row, &run);
    const int64_t before = inside.begin - run.begin, count = inside.end - inside.begin;
    const int64_t length = run.end - run.begin;
    THNN_(simd).pointwise.fill(before, 0, column);
    if (count > 0)
      THNN_(simd).pointwise.copyFromSteps(count, image + imageIndex(geometry, row, &inside),
                                          geometry->stride[2], column + before);
    THNN_(simd).pointwise.fill(length - before - count, 0, column + before + count);
    column += length;
    positions -= length;
    advance(geometry, &run, positions);
  }
}

static void foldRow(const THNNConvolution *geometry, const real *column, const Row *row,
                    int64_t firstPosition, int64_t positions, real *image)
{
  Run run = runAt(geometry, firstPosition, positions);
  while (positions > 0) {
    const Run inside = insideOf(row, &run);
    const int64_t length = run.end - run.begin;
    if (inside.end > inside.begin)
      THNN_(simd).pointwise.addToSteps(
          inside.end - inside.begin, column + (inside.begin - run.begin),
          image + imageIndex(geometry, row, &inside), geometry->stride[2]);
    column += length;
    positions -= length;
    advance(geometry, &run, positions);
  }
}

void THNN_(unfold_toColumns)(const THNNConvolution *geometry, const real *image,
                             const Columns *columns)
{
  for (int64_t r = 0; r < columns->rows; r++) {
    const Row row = rowAt(geometry, columns->firstRow + r);
    unfoldRow(geometry, image, &row, columns->firstPosition, columns->positions,
              columns->data + r * columns->stride);
  }
}

void THNN_(unfold_toImage)(const THNNConvolution *geometry, const Columns *columns, real *image)
{
  for (int64_t r = 0; r < columns->rows; r++) {
    const Row row = rowAt(geometry, columns->firstRow + r);
    foldRow(geometry, columns->data + r * columns->stride, &row, columns->firstPosition,
            columns->positions, image);
  }
}

/* Adds `count` taps of a line, of which `row` is the first, at the positions of a run. From the last
 * position to the first, an image element gets them in the order that unfold_toImage adds them in. */
static void foldTaps(const THNNConvolution *geometry, const Row *row, int64_t count, const Run *run,
                     const real *column, int64_t columnStep, real *image)
{
  const Run lineStart = {run->z, run->y, 0, 0};
  real *taps = image + imageIndex(geometry, row, &lineStart);
  for (int64_t x = run->end; x-- > run->begin;) {
    const int64_t ahead = x * geometry->stride[2], place = row->tap[2].start + ahead;
    const int64_t begin = maximum(0, -place);
    const int64_t end = minimum(count, geometry->input[2] - place);
    if (begin < end)
      THNN_(simd).pointwise.axpy(end - begin, 1, column + (x - run->begin) * columnStep + begin,
                                 taps + ahead + begin);
  }
}

void THNN_(unfold_linesToImage)(const THNNConvolution *geometry, const Columns *columns,
                                real *image)
{
  const int64_t width = geometry->kernel[2];
  for (int64_t r = 0, count; r < columns->rows; r += count) {
    const Row row = rowAt(geometry, columns->firstRow + r);
    count = minimum(columns->rows - r, width - (columns->firstRow + r) % width);
    const real *column = columns->data + r;
    int64_t positions = columns->positions;
    Run run = runAt(geometry, columns->firstPosition, positions);
    while (positions > 0) {
      const int64_t length = run.end - run.begin;
      if (contains(&row.tap[0], run.z) && contains(&row.tap[1], run.y))
        foldTaps(geometry, &row, count, &run, column, columns->stride, image);
      column += length * columns->stride;
      positions -= length;
      advance(geometry, &run, positions);
    }
  }
}
