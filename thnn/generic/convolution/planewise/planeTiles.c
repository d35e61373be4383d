#include "generic/convolution/planewise/planeTiles.h"

#include "work/sizes.h"

/* Limits on a tile: elements of its source, which stays in the first-level cache, and columns. */
enum { TILE_ELEMENTS = 16384 / sizeof(real), TILE_WIDTH = 256 };

Layout THNN_(planeTiles_layOut)(const int64_t *results, const int64_t *spans, const int64_t *stride)
{
  Layout layout;
  int64_t more[2]; /* rows or columns of a class, beyond those of the results */
  for (int axis = 0; axis < 2; axis++) {
    layout.residues[axis] = minimum(stride[axis], spans[axis]);
    more[axis] = (spans[axis] - 1) / stride[axis];
  }
  const int64_t room = TILE_ELEMENTS / (layout.residues[HEIGHT] * layout.residues[WIDTH]);
  const int64_t widest = minimum(TILE_WIDTH, room / (more[HEIGHT] + 1) - more[WIDTH]);
  layout.columns = maximum(1, minimum(results[WIDTH], widest));
  layout.pitch = layout.columns + more[WIDTH];
  layout.rows = maximum(1, minimum(results[HEIGHT], room / layout.pitch - more[HEIGHT]));
  layout.lines = layout.rows + more[HEIGHT];
  layout.sourceElements =
      layout.residues[HEIGHT] * layout.residues[WIDTH] * layout.lines * layout.pitch + SLACK;
  layout.sumElements = layout.rows * layout.pitch + SLACK;
  return layout;
}

void THNN_(planeTiles_listShifts)(const Layout *layout, const Axis *y, const Axis *x,
                                  int64_t *shifts)
{
  for (int64_t a = 0; a < y->taps; a++)
    for (int64_t b = 0; b < x->taps; b++) {
      const int64_t row = a * y->apart, column = b * x->apart;
      const int64_t residue = row % y->stride * layout->residues[WIDTH] + column % x->stride;
      *shifts++ = (residue * layout->lines + row / y->stride) * layout->pitch + column / x->stride;
    }
}

void THNN_(planeTiles_listFactors)(const Axis *y, const Axis *x, int64_t kernelWidth,
                                   const real *kernel, real *factors)
{
  for (int64_t a = 0; a < y->taps; a++)
    for (int64_t b = 0; b < x->taps; b++)
      *factors++ =
          kernel[(y->firstTap + a * y->tapStep) * kernelWidth + x->firstTap + b * x->tapStep];
}

/* Writes a rectangle of zeros, as padding with nothing inside. */
static void clearLines(int64_t lines, int64_t n, real *y, int64_t pitch)
{
  const PaddedRows zeros = {.rows = lines, .before = n, .step = 1, .y = y, .yStride = pitch};
  THNN_(simd).shifts.pad(&zeros);
}

void THNN_(planeTiles_load)(const Layout *layout, const Axis *y, const Axis *x, const Tile *tile,
                            const real *plane, real *source)
{
  const int64_t lines = tile->rows + (spanOf(y) - 1) / y->stride;
  const int64_t n = tile->columns + (spanOf(x) - 1) / x->stride;
  for (int64_t i = 0; i < layout->residues[HEIGHT]; i++) {
    const int64_t top = y->start + tile->row * y->stride + i;
    const THNNRange down = insideOf(y, top, lines);
    for (int64_t j = 0; j < layout->residues[WIDTH]; j++) {
      const int64_t left = x->start + tile->column * x->stride + j;
      const THNNRange across = insideOf(x, left, n);
      real *to = source + (i * layout->residues[WIDTH] + j) * layout->lines * layout->pitch;
      clearLines(down.begin, n, to, layout->pitch);
      if (down.end > down.begin) {
        const int64_t count = across.end - across.begin;
        const int64_t first = (top + down.begin * y->stride) * x->source;
        const PaddedRows padded = {
            .rows = down.end - down.begin,
            .before = across.begin,
            .count = count,
            .after = n - across.end,
            .x = plane + (count > 0 ? first + left + across.begin * x->stride : 0),
            .xStride = y->stride * x->source,
            .step = x->stride,
            .y = to + down.begin * layout->pitch,
            .yStride = layout->pitch,
        };
        THNN_(simd).shifts.pad(&padded);
      }
      clearLines(lines - down.end, n, to + down.end * layout->pitch, layout->pitch);
    }
  }
}

void THNN_(planeTiles_add)(const Layout *layout, const Axis *y, const Axis *x, const Tile *tile,
                           int64_t width, const real *sums, real *plane)
{
  real *to = placeOf(y, x, tile, width, plane);
  for (int64_t r = 0; r < tile->rows; r++, sums += layout->pitch, to += y->step * width)
    if (x->step == 1)
      THNN_(simd).pointwise.axpy(tile->columns, 1, sums, to);
    else
      for (int64_t i = 0; i < tile->columns; i++)
        to[i * x->step] += sums[i];
}

void THNN_(planeTiles_store)(const Layout *layout, const Axis *y, const Axis *x, const Tile *tile,
                             int64_t width, const real *sums, real *plane)
{
  real *to = placeOf(y, x, tile, width, plane);
  if (x->step == 1) {
    const PaddedRows padded = {.rows = tile->rows,
                               .count = tile->columns,
                               .x = sums,
                               .xStride = layout->pitch,
                               .step = 1,
                               .y = to,
                               .yStride = y->step * width};
    THNN_(simd).shifts.pad(&padded);
    return;
  }
  for (int64_t r = 0; r < tile->rows; r++, sums += layout->pitch, to += y->step * width)
    for (int64_t i = 0; i < tile->columns; i++)
      to[i * x->step] = sums[i];
}

void THNN_(planeTiles_storePair)(const Layout *layout, const Axis *y, const Axis *x,
                                 const Tile *tile, int64_t secondColumns, int64_t width,
                                 const real *first, const real *second, real *plane)
{
  real *to = placeOf(y, x, tile, width, plane);
  for (int64_t r = 0; r < tile->rows; r++, to += y->step * width)
    THNN_(simd).shifts.interleave(tile->columns + secondColumns, first + r * layout->pitch,
                                  second + r * layout->pitch, to);
}
