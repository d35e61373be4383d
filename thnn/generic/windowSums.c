#include "windowSums.h"

static int64_t maximum(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* Backward, an input column c belongs to phase b = c % dW. The windows over it begin dW apart, so
 * within a phase the sums over them are sums of neighbours in the output row, with zeros around:
 * `before` of them on its left, and enough on its right for every column. */
static int64_t zerosBefore(const THNNConvolution *g)
{
  const int64_t cropped = maximum(-g->pad[2], 0);
  return (g->kernel[2] + cropped) / g->stride[2] + 2;
}

static int64_t paddedWidth(const THNNConvolution *g)
{
  const int64_t last = (g->input[2] + maximum(g->pad[2], 0)) / g->stride[2] + 2;
  return zerosBefore(g) + maximum(g->output[2], last);
}

/* Rows or shifted rows that are summed at a time. */
static int64_t mostTerms(const THNNConvolution *g, bool backward)
{
  if (!backward)
    return THNN_mostRowsUnderWindow(g);
  const int64_t z = g->kernel[0] / g->stride[0] + 1, y = g->kernel[1] / g->stride[1] + 1;
  return maximum(z * y, g->kernel[2] / g->stride[2] + 1);
}

THNN_(WindowSums)
THNN_(windowSums)(const THNNState *state, const THNNConvolution *g, bool backward)
{
  THNN_(WindowSums) work = {.geometry = g, .windows = THNN_croppedWindows(g)};
  work.whole = THNN_wholeWindows(&work.windows, 2);
  const int64_t rows = THNN_poolingPlanes(g) * (backward ? THNN_inputRows(g) : THNN_outputRows(g));
  const int64_t terms = mostTerms(g, backward);
  const int64_t cost = backward ? terms * g->output[2] + 2 * g->input[2]
                                : terms * g->input[2] + maximum(g->kernel[2], 1) * g->output[2];
  work.blocks = THNN_rowBlocks(rows, cost);
  work.threads = THNN_threads(state, work.blocks.count, (double)rows * (double)cost / 2);
  work.rows = THNN_reserve(&work.threadBytes, (size_t)terms * sizeof(real *));
  work.sums = THNN_reserve(&work.threadBytes,
                           (size_t)(backward ? paddedWidth(g) : g->input[2]) * sizeof(real));
  if (backward)
    work.phases = THNN_reserve(&work.threadBytes,
                               2 * (size_t)maximum(g->input[2], g->output[2]) * sizeof(real));
  return work;
}

void THNN_(sumWindows)(const THNN_(WindowSums) * work, const real *plane, int64_t outputZ,
                       int64_t outputY, char *scratch, real *sums)
{
  const THNNConvolution *g = work->geometry;
  const real **rows = (const real **)(scratch + work->rows);
  real *columns = (real *)(scratch + work->sums);
  const THNNTaps z = THNN_tapsInside(&work->windows, 0, outputZ);
  const THNNTaps y = THNN_tapsInside(&work->windows, 1, outputY);
  int64_t count = 0;
  for (int64_t t = z.begin; t < z.end; t++)
    for (int64_t h = y.begin; h < y.end; h++)
      rows[count++] = plane + ((z.start + t) * g->input[1] + y.start + h) * g->input[2];
  THNN_(simd).pooling.sumOfRows(g->input[2], count, rows, columns);

  const THNNPositions whole = work->whole;
  if (whole.end > whole.begin)
    THNN_(simd).pooling.sumOfColumns(whole.end - whole.begin, g->stride[2], g->kernel[2],
                                     columns + whole.begin * g->stride[2] - g->pad[2],
                                     sums + whole.begin);
  for (int64_t x = 0; x < g->output[2]; x++) {
    if (x >= whole.begin && x < whole.end) {
      x = whole.end - 1;
      continue;
    }
    const THNNTaps taps = THNN_tapsInside(&work->windows, 2, x);
    THNN_(simd).pooling.sumOfColumns(1, 1, taps.end - taps.begin, columns + taps.start + taps.begin,
                                     sums + x);
  }
}

/* columns = the sum of the output rows whose windows cover an input row, each divided by its
 * divisors. */
static void collectRows(const THNN_(WindowSums) * work, const THNN_(WindowDivisors) * divisors,
                        const real *outputPlane, const THNNPositions *z, const THNNPositions *y,
                        char *scratch, real *columns)
{
  const THNNConvolution *g = work->geometry;
  const int64_t width = g->output[2];
  const real **rows = (const real **)(scratch + work->rows);
  real *part = (real *)(scratch + work->phases), *quotient = part + width;
  THNN_(simd).pointwise.fill(width, 0, columns);
  for (int64_t t = z->begin; t < z->end; t++)
    for (int64_t h = y->begin; h < y->end;) {
      /* Rows with the same divisor, all but those at the edges, are divided together. */
      const real divisor = divisors->columns ? divisors->slices[t] * divisors->rows[h] : 1;
      int64_t count = 0;
      for (;
           h < y->end && (!divisors->columns || divisors->slices[t] * divisors->rows[h] == divisor);
           h++)
        rows[count++] = outputPlane + (t * g->output[1] + h) * width;
      THNN_(simd).pooling.sumOfRows(width, count, rows, part);
      if (divisors->columns)
        THNN_(simd).pooling.divide(width, divisor, divisors->columns, part, quotient);
      THNN_(simd).pointwise.axpy(width, 1, divisors->columns ? quotient : part, columns);
    }
}

/* One phase of the input row: the columns b, b + dW, b + 2 dW, … */
static void spreadPhase(const THNN_(WindowSums) * work, int64_t b, const real *columns,
                        char *scratch, real *phase, int64_t *length)
{
  const THNNConvolution *g = work->geometry;
  const int64_t stride = g->stride[2], at = b + g->pad[2];
  /* Column b lies at tap `first` of window `window`, and at taps first + dW, … of those before. */
  const int64_t window = at >= 0 ? at / stride : -((-at + stride - 1) / stride);
  const int64_t first = at - window * stride;
  const real **terms = (const real **)(scratch + work->rows);
  int64_t count = 0;
  for (int64_t tap = first; tap < g->kernel[2]; tap += stride, count++)
    terms[count] = columns + zerosBefore(g) + window - count;
  *length = b < g->input[2] ? (g->input[2] - 1 - b) / stride + 1 : 0;
  THNN_(simd).pooling.sumOfRows(*length, count, terms, phase);
}

/* Windows side by side: each column lies in one of them, or behind the last, where there are zeros. */
static void repeatColumns(const THNNConvolution *g, const real *columns, real *row)
{
  const int64_t stride = g->stride[2], fitting = g->input[2] / stride;
  const int64_t count = g->output[2] < fitting ? g->output[2] : fitting;
  THNN_(simd).pooling.repeat(count, columns, stride, row);
  for (int64_t x = count * stride; x < g->input[2]; x++)
    row[x] = columns[x / stride];
}

static void spreadColumns(const THNN_(WindowSums) * work, const real *columns, char *scratch,
                          real *row)
{
  const THNNConvolution *g = work->geometry;
  const int64_t stride = g->stride[2];
  if (g->kernel[2] == stride && g->pad[2] == 0) {
    repeatColumns(g, columns + zerosBefore(g), row);
    return;
  }
  real *even = (real *)(scratch + work->phases), *odd = even + g->input[2];
  int64_t length, oddLength;
  if (stride == 1) {
    spreadPhase(work, 0, columns, scratch, row, &length);
  } else if (stride == 2) {
    spreadPhase(work, 0, columns, scratch, even, &length);
    spreadPhase(work, 1, columns, scratch, odd, &oddLength);
    THNN_(simd).pooling.interleave(oddLength, even, odd, row);
    if (length > oddLength)
      row[2 * oddLength] = even[oddLength];
  } else {
    for (int64_t b = 0; b < stride && b < g->input[2]; b++) {
      spreadPhase(work, b, columns, scratch, even, &length);
      for (int64_t i = 0; i < length; i++)
        row[i * stride + b] = even[i];
    }
  }
}

bool THNN_(sameWindowsOver)(const THNN_(WindowSums) * work, int64_t inputY)
{
  const THNNPositions here = THNN_windowsOver(&work->windows, 1, inputY);
  const THNNPositions before = THNN_windowsOver(&work->windows, 1, inputY - 1);
  return here.begin == before.begin && here.end == before.end;
}

void THNN_(spreadWindows)(const THNN_(WindowSums) * work, const THNN_(WindowDivisors) * divisors,
                          const real *outputPlane, int64_t inputZ, int64_t inputY, char *scratch,
                          real *row)
{
  const THNNConvolution *g = work->geometry;
  real *columns = (real *)(scratch + work->sums);
  const int64_t before = zerosBefore(g), padded = paddedWidth(g);
  const THNNPositions z = THNN_windowsOver(&work->windows, 0, inputZ);
  const THNNPositions y = THNN_windowsOver(&work->windows, 1, inputY);
  THNN_(simd).pointwise.fill(before, 0, columns);
  collectRows(work, divisors, outputPlane, &z, &y, scratch, columns + before);
  THNN_(simd).pointwise.fill(padded - before - g->output[2], 0, columns + before + g->output[2]);
  spreadColumns(work, columns, scratch, row);
  const int64_t width = work->windows.input[2];
  THNN_(simd).pointwise.fill(g->input[2] - width, 0, row + width);
}
