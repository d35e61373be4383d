/* Copies between tensors of any strides and types. */

#include "internal.h"

#include <string.h>

#include "../THTransposition.h"

/* Raises an error unless source and destination have the same number of elements. */
static void checkCount(int64_t written, int64_t available)
{
  THArgCheck(written == available, 2, "a tensor of %lld elements is needed, this one has %lld",
             (long long)written, (long long)available);
}

/* ---- Same type, same sizes */

/* One dimension of two arrays of the same sizes; strides in elements. */
typedef struct Axis {
  int64_t size, yStride, xStride;
} Axis;

/* Collects the dimensions of the arrays without those of size 1, and joins neighbours that both
 * arrays can walk as one. Returns their number. */
static int collectAxes(Axis *axes, int nDimension, const int64_t *size, const int64_t *yStride,
                       const int64_t *xStride)
{
  int n = 0;
  for (int d = nDimension - 1; d >= 0; d--) {
    Axis *inner = &axes[n - 1];
    if (size[d] == 1)
      continue;
    if (n > 0 && yStride[d] == inner->size * inner->yStride &&
        xStride[d] == inner->size * inner->xStride)
      inner->size *= size[d];
    else
      axes[n++] = (Axis){size[d], yStride[d], xStride[d]};
  }
  return n;
}

/* Removes the axis at `place` from the list and returns it. */
static Axis takeAxis(Axis *axes, int *n, int place)
{
  Axis taken = axes[place];
  (*n)--;
  memmove(axes + place, axes + place + 1, (size_t)(*n - place) * sizeof(Axis));
  return taken;
}

static int64_t smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static void copyLine(real *y, const real *x, Axis line)
{
  if (line.yStride == 1 && line.xStride == 1) {
    memcpy(y, x, (size_t)line.size * sizeof(real));
    return;
  }
  for (int64_t i = 0; i < line.size; i++)
    y[i * line.yStride] = x[i * line.xStride];
}

/* Copies a plane where x is denser along one axis and y along the other, in tiles, so that every
 * cache line of both arrays is used completely; a transposition if they are dense there. */
static void copyPlane(real *y, const real *x, Axis a, Axis b)
{
  const int64_t tile = 32;
  if (a.xStride == 1 && b.yStride == 1) {
    THTranspose(sizeof(real), a.size, b.size, (const char *)x, b.xStride * (int64_t)sizeof(real),
                (char *)y, a.yStride * (int64_t)sizeof(real));
    return;
  }
  for (int64_t i = 0; i < a.size; i += tile) {
    for (int64_t j = 0; j < b.size; j += tile) {
      real *yTile = y + i * a.yStride + j * b.yStride;
      const real *xTile = x + i * a.xStride + j * b.xStride;
      int64_t rows = smaller(tile, a.size - i);
      Axis line = {smaller(tile, b.size - j), b.yStride, b.xStride};
      for (int64_t row = 0; row < rows; row++)
        copyLine(yTile + row * a.yStride, xTile + row * a.xStride, line);
    }
  }
}

void THTensor_(copyStrided)(int nDimension, const int64_t *size, real *y, const int64_t *yStride,
                            const real *x, const int64_t *xStride)
{
  Axis axes[TH_CURSOR_DIMENSIONS];
  int64_t index[TH_CURSOR_DIMENSIONS] = {0};
  int n = collectAxes(axes, nDimension, size, yStride, xStride);

  int yFast = 0, xFast = 0;
  for (int d = 1; d < n; d++) {
    if (axes[d].yStride < axes[yFast].yStride)
      yFast = d;
    if (axes[d].xStride < axes[xFast].xStride)
      xFast = d;
  }
  bool transposed = yFast != xFast;
  Axis line = takeAxis(axes, &n, yFast);
  Axis across = {0};
  if (transposed)
    across = takeAxis(axes, &n, xFast > yFast ? xFast - 1 : xFast);

  for (;;) {
    if (transposed)
      copyPlane(y, x, across, line);
    else
      copyLine(y, x, line);
    int d = 0;
    for (; d < n; d++) {
      y += axes[d].yStride;
      x += axes[d].xStride;
      if (++index[d] < axes[d].size)
        break;
      y -= axes[d].size * axes[d].yStride;
      x -= axes[d].size * axes[d].xStride;
      index[d] = 0;
    }
    if (d == n)
      return;
  }
}

/* ---- Same type, any sizes */

/* Copies between tensors of different sizes. */
static void copyReshaped(THTensor *self, const THTensor *tensor, int64_t elements)
{
  real *y = THTensor_(data)(self);
  const real *x = THTensor_(data)(tensor);
  THCursor to, from;
  THTensor_(startCursor)(&to, self);
  THTensor_(startCursor)(&from, tensor);
  while (elements > 0) {
    int64_t run = THCursor_common(&to, &from);
    copyLine(y + to.offset, x + from.offset, (Axis){run, to.stride, from.stride});
    THCursor_advance(&to, run);
    THCursor_advance(&from, run);
    elements -= run;
  }
}

/* Copies n elements that may overlap. */
static void copyDense(real *y, const real *x, int64_t n)
{
  const int threads = THThreadsForBytes(2 * n * (int64_t)sizeof(real));
  if (threads == 1 || !THTensor_(areApart)(y, x, n)) {
    memmove(y, x, (size_t)n * sizeof(real));
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int i = 0; i < threads; i++) {
    const int64_t begin = THShareBegin(n, i, threads);
    memcpy(y + begin, x + begin, (size_t)(THShareBegin(n, i + 1, threads) - begin) * sizeof(real));
  }
}

void THTensor_(copy)(THTensor *self, THTensor *source)
{
  int64_t elements = THTensor_(nElement)(self);
  checkCount(elements, THTensor_(nElement)(source));
  if (elements == 0 || self == source || THTensor_(isSetTo)(self, source))
    return;
  if (THTensor_(isContiguous)(self) && THTensor_(isContiguous)(source))
    copyDense(THTensor_(data)(self), THTensor_(data)(source), elements);
  else if (THTensor_(isSameSizeAs)(self, source))
    THTensor_(copyStrided)(self->nDimension, self->size, THTensor_(data)(self), self->stride,
                           THTensor_(data)(source), source->stride);
  else
    copyReshaped(self, source, elements);
}

/* ---- Other types */

#define source float
#define Source Float
#include "copyFrom.h"
#undef source
#undef Source

#define source double
#define Source Double
#include "copyFrom.h"
#undef source
#undef Source

#define source int64_t
#define Source Long
#include "copyFrom.h"
#undef source
#undef Source

#define source int
#define Source Int
#include "copyFrom.h"
#undef source
#undef Source
