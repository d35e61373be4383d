#include "generic/resampling/cubic.h"

#include "work/scratch.h"
#include "work/sizes.h"

#include <math.h>

enum { TAPS = 4 };

/* Where the output indices of one dimension are in the input: each is the sum of `place` elements,
 * of which those outside are replaced by the nearest ones, times `weight`. */
typedef struct Axis {
  int64_t input, output;
  Place *place;
  real *weight;
  Place *first, *end; /* the output indices that an input index has a weight in */
  bool isIdentity;    /* one index that stays as it is */
} Axis;

static void layOutAxes(const THNNResampling *r, Axis axes[3], Scratch *scratch)
{
  for (int d = 0; d < 3; d++) {
    Axis *axis = &axes[d];
    axis->input = r->input[d];
    axis->output = r->output[d];
    axis->place = THNN_take(scratch, TAPS * axis->output, sizeof(Place));
    axis->weight = THNN_take(scratch, TAPS * axis->output, sizeof(real));
    axis->first = THNN_take(scratch, axis->input, sizeof(Place));
    axis->end = THNN_take(scratch, axis->input, sizeof(Place));
    axis->isIdentity = axis->input == 1 && axis->output == 1;
  }
}

static size_t axesBytes(const THNNResampling *r)
{
  Axis axes[3];
  Scratch scratch = {0};
  layOutAxes(r, axes, &scratch);
  return scratch.used;
}

/* The weight of an element at a distance from 0 on (Keys, 1981). */
static double cubicWeight(double distance)
{
  const double a = -3 / (double)4, d = distance;
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

static void setAxis(const THNNResampling *r, int d, Axis *axis)
{
  const int64_t last = axis->input - 1;
  for (int64_t j = 0; j <= last; j++)
    axis->first[j] = axis->end[j] = 0;
  for (int64_t i = 0; i < axis->output; i++) {
    const double at = r->steps.start[d] + (double)i * r->steps.step[d];
    const double before = floor(at), share = at - before;
    for (int k = 0; k < TAPS; k++) {
      const double index = before + (k - 1);
      const Place place = (Place)(index > 0 ? fmin(index, (double)last) : 0);
      axis->place[TAPS * i + k] = place;
      axis->weight[TAPS * i + k] = (real)cubicWeight(fabs(share - (k - 1)));
      if (axis->end[place] == 0)
        axis->first[place] = (Place)i;
      axis->end[place] = (Place)(i + 1);
    }
  }
}

/* The axes in memory that setPlaces has filled. */
static void axesIn(const THNNResampling *r, void *memory, Axis axes[3])
{
  Scratch scratch = {.base = memory};
  layOutAxes(r, axes, &scratch);
}

static void setPlaces(const THNNResampling *r, void *memory)
{
  Axis axes[3];
  axesIn(r, memory, axes);
  for (int d = 0; d < 3; d++)
    setAxis(r, d, &axes[d]);
}

/* sum = the weighted sum of rows of n elements. */
static void addTaps(int64_t n, const real *weight, const real *const rows[TAPS], real *sum)
{
  THNN_(simd).pointwise.blend(n, weight[0], rows[0], weight[1], rows[1], sum);
  for (int k = 2; k < TAPS; k++)
    THNN_(simd).pointwise.axpy(n, weight[k], rows[k], sum);
}

/* One output slice of a plane, with the input rows that were resampled last: neighbouring output
 * rows share them. */
typedef struct Slice {
  const Axis *axes;
  const real *plane;
  int64_t z;
  int64_t held[TAPS]; /* the input rows that the buffers hold, resampled along z and x */
  real *buffer, *mixed;
} Slice;

static void beginSlice(Slice *slice, const real *plane, int64_t z)
{
  slice->plane = plane;
  slice->z = z;
  for (int k = 0; k < TAPS; k++)
    slice->held[k] = -1;
}

/* Input row `index`, resampled along z and x. Rows are asked for in ascending order, and those of
 * one output row use different buffers. */
static const real *resampledRow(Slice *slice, int64_t index)
{
  const Axis *z = &slice->axes[0], *x = &slice->axes[2];
  real *row = slice->buffer + index % TAPS * x->output;
  if (slice->held[index % TAPS] == index)
    return row;
  const real *from = slice->plane + index * x->input;
  if (!z->isIdentity) {
    const real *rows[TAPS];
    for (int k = 0; k < TAPS; k++)
      rows[k] = from + z->place[TAPS * slice->z + k] * slice->axes[1].input * x->input;
    addTaps(x->input, z->weight + TAPS * slice->z, rows, slice->mixed);
    from = slice->mixed;
  }
  const Place *place = x->place;
  const real *weight = x->weight;
  for (int64_t i = 0; i < x->output; i++, place += TAPS, weight += TAPS)
    row[i] = (weight[0] * from[place[0]] + weight[1] * from[place[1]]) +
             (weight[2] * from[place[2]] + weight[3] * from[place[3]]);
  slice->held[index % TAPS] = index;
  return row;
}

static void convolveForward(const THNNResampling *r, void *places, const real *input, THNNRow row,
                            int64_t count, real *scratch, real *output)
{
  Axis axes[3];
  axesIn(r, places, axes);
  const int64_t elements = r->input[0] * r->input[1] * r->input[2], width = r->output[2];
  Slice slice = {.axes = axes, .buffer = scratch, .mixed = scratch + TAPS * width};
  for (int64_t i = 0; i < count; i++, THNN_nextRow(&row)) {
    if (i == 0 || row.y == 0)
      beginSlice(&slice, input + row.plane * elements, row.z);
    const real *rows[TAPS];
    for (int k = 0; k < TAPS; k++)
      rows[k] = resampledRow(&slice, axes[1].place[TAPS * row.y + k]);
    addTaps(width, axes[1].weight + TAPS * row.y, rows, output + i * width);
  }
}

void THNN_(cubic_updateOutput)(const THNNResamplingCall *call, THTensor *input, THTensor *output)
{
  const THNNResampling *r = &call->resampling;
  const ResampledRows rows = {.cost = 2 * TAPS * r->output[2] + r->input[2],
                              .outputRows = TAPS,
                              .placesBytes = axesBytes(r),
                              .setPlaces = setPlaces,
                              .compute = convolveForward};
  THNN_(rows_resample)(call, &rows, input, output);
}

/* The weight of an input index in an output index. */
static real weightOf(const Axis *axis, int64_t output, int64_t input)
{
  real sum = 0;
  for (int k = 0; k < TAPS; k++)
    if (axis->place[TAPS * output + k] == input)
      sum += axis->weight[TAPS * output + k];
  return sum;
}

/* sum = the weighted sum of the output rows that an input row has a weight in. */
static void collectRows(const Axis axes[3], const real *outputPlane, int64_t inputZ, int64_t inputY,
                        real *sum)
{
  const Axis *z = &axes[0], *y = &axes[1], *x = &axes[2];
  THNN_(simd).pointwise.fill(x->output, 0, sum);
  for (int64_t i = z->first[inputZ]; i < z->end[inputZ]; i++) {
    const real share = z->isIdentity ? 1 : weightOf(z, i, inputZ);
    for (int64_t j = y->first[inputY]; j < y->end[inputY]; j++)
      THNN_(simd).pointwise.axpy(x->output, share * weightOf(y, j, inputY),
                                 outputPlane + (i * y->output + j) * x->output, sum);
  }
}

/* row = for each input element the weighted sum of the output elements along x that it has a weight
 * in, added up in the order of the output. */
static void spreadRow(const Axis *x, const real *sum, real *row)
{
  THNN_(simd).pointwise.fill(x->input, 0, row);
  const Place *place = x->place;
  const real *weight = x->weight;
  for (int64_t at = 0; at < x->output; at++, place += TAPS, weight += TAPS)
    for (int k = 0; k < TAPS; k++)
      row[place[k]] += weight[k] * sum[at];
}

static void convolveBackward(const THNNResampling *r, void *places, const real *gradOutput,
                             THNNRow row, int64_t count, real *sum, real *gradInput)
{
  Axis axes[3];
  axesIn(r, places, axes);
  const int64_t elements = r->output[0] * r->output[1] * r->output[2];
  for (int64_t i = 0; i < count; i++, THNN_nextRow(&row)) {
    collectRows(axes, gradOutput + row.plane * elements, row.z, row.y, sum);
    spreadRow(&axes[2], sum, gradInput + i * r->input[2]);
  }
}

void THNN_(cubic_updateGradInput)(const THNNResamplingCall *call, THTensor *gradOutput,
                                  THTensor *gradInput)
{
  const THNNResampling *r = &call->resampling;
  const int64_t inputRows = r->input[0] * r->input[1], outputRows = r->output[0] * r->output[1];
  const ResampledRows rows = {.backward = true,
                              .cost = TAPS * (divideUp(TAPS * outputRows, inputRows) + 2) *
                                      r->output[2],
                              .outputRows = 1,
                              .placesBytes = axesBytes(r),
                              .setPlaces = setPlaces,
                              .compute = convolveBackward};
  THNN_(rows_resample)(call, &rows, gradOutput, gradInput);
}
