/* Sums of shifted rows, the inner loops of convolutions that join one plane with one other: here
 * all lanes are neighbouring positions, where products.c has a plane in each lane. */
#include "vector.h"

enum {
  MOST_VECTORS = VECTOR_REGISTERS == 32 ? 8 : 4, /* summed up at a time */
  MOST_TAPS = 4                                  /* dotted at a time */
};

/* Zeros from y on, in whole vectors. */
INLINE void clearRow(int64_t n, real *y)
{
  for (int64_t i = 0; i < n; i += LANES)
    store(y + i, (Vector){0});
}

INLINE void frameRows(const THNN_(Frame) * frame, int64_t step)
{
  const int64_t before = frame->before, count = frame->count;
  for (int64_t r = 0; r < frame->rows; r++) {
    const real *x = frame->x + r * frame->xStride;
    real *y = frame->y + r * frame->yStride;
    clearRow(before, y);
    y += before;
    if (step == 1)
      copyRow(count, x, y);
    else
      for (int64_t i = 0; i < count; i++)
        y[i] = x[step * i];
    clearRow(frame->after, y + count);
  }
}

static void frame(const THNN_(Frame) * frame)
{
  if (frame->step == 1)
    frameRows(frame, 1);
  else if (frame->step == 2) /* a constant step becomes shuffles instead of gathers */
    frameRows(frame, 2);
  else
    frameRows(frame, frame->step);
}

static void interleave(int64_t n, const real *a, const real *b, real *y)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    y[2 * i] = a[i];
    y[2 * i + 1] = b[i];
  }
}

/* `vectors` vectors of a row, the last one moved back to end where the row does. */
INLINE void sumVectors(const int vectors, int64_t i, int64_t last, const THNN_(ShiftedSums) * of,
                       const real *x, real *y)
{
  Vector sum[MOST_VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++)
    sum[v] = broadcast(of->start);
  for (int64_t t = 0; t < of->taps; t++) {
    const real *shifted = x + of->offsets[t];
    const Vector factor = broadcast(of->factors[t]);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++)
      sum[v] += factor * load(shifted + (v == vectors - 1 ? last : i + v * LANES));
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++)
    store(y + (v == vectors - 1 ? last : i + v * LANES), sum[v]);
}

static void sumRows(const THNN_(ShiftedSums) * of)
{
  const int64_t n = of->n;
  for (int64_t r = 0; r < of->rows; r++) {
    const real *x = of->x + r * of->xStride;
    real *y = of->y + r * of->yStride;
    if (n < LANES) {
      real short_[LANES];
      sumVectors(1, 0, 0, of, x, short_);
      copyRow(n, short_, y);
      continue;
    }
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES)
      sumVectors(4, i, i + 3 * LANES, of, x, y);
    const int64_t left = n - i, last = n - LANES;
    if (left > 3 * LANES)
      sumVectors(4, i, last, of, x, y);
    else if (left > 2 * LANES)
      sumVectors(3, i, last, of, x, y);
    else if (left > LANES)
      sumVectors(2, i, last, of, x, y);
    else if (left > 0)
      sumVectors(1, i, last, of, x, y);
  }
}

/* `vectors` vectors from position i on. */
INLINE void addVectors(const int vectors, int64_t i, int64_t taps, const int64_t *offsets,
                       const real *factors, const real *x, real *y)
{
  Vector sum[MOST_VECTORS];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++)
    sum[v] = load(y + i + v * LANES);
  for (int64_t t = 0; t < taps; t++) {
    const real *shifted = x + offsets[t] + i;
    const Vector factor = broadcast(factors[t]);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; v++)
      sum[v] += factor * load(shifted + v * LANES);
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; v++)
    store(y + i + v * LANES, sum[v]);
}

static void add(int64_t n, int64_t taps, const int64_t *offsets, const real *factors, const real *x,
                real *y)
{
  int64_t i = 0;
  for (; i + (MOST_VECTORS - 1) * LANES < n; i += MOST_VECTORS * LANES)
    addVectors(MOST_VECTORS, i, taps, offsets, factors, x, y);
  for (; i + LANES < n; i += 2 * LANES)
    addVectors(2, i, taps, offsets, factors, x, y);
  if (i < n)
    addVectors(1, i, taps, offsets, factors, x, y);
}

typedef THNN_(Place) Bits __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real))));

/* All bits set in the first `count` lanes. */
INLINE Bits firstLanes(int64_t count)
{
  Bits bits;
  for (int l = 0; l < LANES; l++)
    bits[l] = l < count ? -1 : 0;
  return bits;
}

INLINE double addLanes(Vector x)
{
  double sum = 0;
#pragma GCC unroll 16
  for (int l = 0; l < LANES; l++)
    sum += x[l];
  return sum;
}

INLINE void dotTaps(const int taps, const THNN_(Shifted) * of, const int64_t *offsets, double *sums)
{
  const Bits last = firstLanes(of->n % LANES);
  Vector sum[MOST_TAPS];
#pragma GCC unroll 4
  for (int t = 0; t < taps; t++)
    sum[t] = (Vector){0};
  for (int64_t r = 0; r < of->rows; r++) {
    const real *x = of->x + r * of->xStride, *y = of->y + r * of->yStride;
    int64_t i = 0;
    for (; i + LANES <= of->n; i += LANES) {
      const Vector factor = load(y + i);
#pragma GCC unroll 4
      for (int t = 0; t < taps; t++)
        sum[t] += factor * load(x + offsets[t] + i);
    }
    if (i < of->n) {
      const Vector factor = load(y + i);
#pragma GCC unroll 4
      for (int t = 0; t < taps; t++)
        sum[t] += factor * (Vector)((Bits)load(x + offsets[t] + i) & last);
    }
  }
#pragma GCC unroll 4
  for (int t = 0; t < taps; t++)
    sums[t] += addLanes(sum[t]);
}

static void dot(const THNN_(Shifted) * of, int64_t taps, const int64_t *offsets, double *sums)
{
  const int64_t groups = (taps + MOST_TAPS - 1) / MOST_TAPS;
  for (int64_t group = 0; group < groups; group++) {
    const int64_t begin = taps * group / groups, end = taps * (group + 1) / groups;
    switch (end - begin) {
    case 1:
      dotTaps(1, of, offsets + begin, sums + begin);
      break;
    case 2:
      dotTaps(2, of, offsets + begin, sums + begin);
      break;
    case 3:
      dotTaps(3, of, offsets + begin, sums + begin);
      break;
    default:
      dotTaps(MOST_TAPS, of, offsets + begin, sums + begin);
    }
  }
}

const THNN_(SimdShifts) SIMD_TABLE(Shifts, THNN_SIMD_LEVEL) = {
    .frame = frame,
    .sumRows = sumRows,
    .interleave = interleave,
    .add = add,
    .dot = dot,
};
