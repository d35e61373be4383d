#include "generic/resampling/linear.h"

#include "work/scratch.h"

#include <math.h>

enum { BUFFERS = 2 }; /* input rows that an output row is mixed of */

/* How output indices lie: anyhow; so that no two mix the same input index, but perhaps the last; or
 * each at the input index of the same number. */
enum Spacing { ANYHOW, APART, SAME };

/* Where the output indices of one dimension are in the input: at before + share * (after -
 * before). */
typedef struct Axis {
  int64_t input, output;
  Place *before, *after, *first; /* first[i]: the first output index at or past i */
  real *share;
  enum Spacing *spacing;
} Axis;

static void layOutAxes(const THNNResampling *r, Axis axes[3], Scratch *scratch)
{
  for (int d = 0; d < 3; d++) {
    Axis *axis = &axes[d];
    axis->input = r->input[d];
    axis->output = r->output[d];
    axis->before = THNN_take(scratch, axis->output, sizeof(Place));
    axis->after = THNN_take(scratch, axis->output, sizeof(Place));
    axis->first = THNN_take(scratch, axis->input + 2, sizeof(Place));
    axis->share = THNN_take(scratch, axis->output, sizeof(real));
    axis->spacing = THNN_take(scratch, 1, sizeof(enum Spacing));
  }
}

static size_t axesBytes(const THNNResampling *r)
{
  Axis axes[3];
  Scratch scratch = {0};
  layOutAxes(r, axes, &scratch);
  return scratch.used;
}

/* Where output index i is. Without steps that is computed in single precision for either real type,
 * as it always was. */
static double placeOf(const THNNResampling *r, int d, int64_t i)
{
  if (r->hasSteps) {
    const double at = r->steps.start[d] + (double)i * r->steps.step[d];
    const double inside = at > 0 ? fmin(at, (double)(r->input[d] - 1)) : 0;
    return r->steps.isWhole ? floor(inside) : inside;
  }
  const float steps = (float)(r->output[d] - 1), last = (float)(r->input[d] - 1);
  const float ratio = r->output[d] > 1 ? last / steps : 0;
  return ratio * (float)i;
}

static enum Spacing spacingOf(const Axis *axis)
{
  bool same = axis->input == axis->output, apart = true;
  for (int64_t i = 0; i < axis->output; i++) {
    const Place before = axis->before[i];
    same &= before == (Place)i && axis->share[i] == 0;
    apart &= i == axis->output - 1 || axis->after[i] > before;
    apart &= i == 0 || before > axis->after[i - 1];
  }
  return same ? SAME : apart ? APART : ANYHOW;
}

static void setAxis(const THNNResampling *r, int d, Axis *axis)
{
  Place next = 0;
  for (int64_t i = 0; i < axis->output; i++) {
    const double at = placeOf(r, d, i);
    Place before = (Place)at;
    if (before > axis->input - 1)
      before = (Place)(axis->input - 1);
    axis->before[i] = before;
    axis->after[i] = before < axis->input - 1 ? before + 1 : before;
    axis->share[i] = (real)(at - (double)before);
    while (next <= before)
      axis->first[next++] = (Place)i;
  }
  while (next <= axis->input)
    axis->first[next++] = (Place)axis->output;
  *axis->spacing = spacingOf(axis);
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

/* One output slice of a plane, with the input rows interpolated last: neighbouring output rows
 * share them. */
typedef struct Slice {
  const Axis *axes;
  const real *before, *after; /* the input slices on either side */
  real share;
  int64_t held[BUFFERS]; /* the input rows that they hold, interpolated along z and x */
  real *buffer, *mixed;
} Slice;

static void beginSlice(Slice *slice, const real *plane, int64_t outputZ)
{
  const Axis *z = &slice->axes[0];
  const int64_t elements = slice->axes[1].input * slice->axes[2].input;
  slice->before = plane + z->before[outputZ] * elements;
  slice->after = plane + z->after[outputZ] * elements;
  slice->share = z->share[outputZ];
  slice->held[0] = slice->held[1] = -1;
}

/* Input row `index`, interpolated along z and x. Rows are asked for in ascending order and
 * neighbours use different buffers, so a row is replaced only when it is no longer needed. */
static const real *interpolatedRow(Slice *slice, int64_t index)
{
  const Axis *x = &slice->axes[2];
  real *row = slice->buffer + index % BUFFERS * x->output;
  if (slice->held[index % BUFFERS] == index)
    return row;
  const real *from = slice->before + index * x->input;
  if (slice->share != 0) {
    THNN_(simd).pointwise.blend(x->input, 1 - slice->share, from, slice->share,
                                slice->after + index * x->input, slice->mixed);
    from = slice->mixed;
  }
  THNN_(simd).pooling.interpolate(x->output, x->before, x->after, x->share, from, row);
  slice->held[index % BUFFERS] = index;
  return row;
}

/* Whether to compute element by element: output rows are short, and so far apart that they share no
 * input row, so that interpolating whole rows would take longer. */
static bool isSparse(const THNNResampling *r)
{
  enum { FEW_COLUMNS = 16 };
  return r->output[2] <= FEW_COLUMNS && r->input[1] - 1 >= 2 * (r->output[1] - 1);
}

/* Computes output row `outputY` element by element. */
static void sampleRow(const Slice *slice, int64_t outputY, real *row)
{
  const Axis *y = &slice->axes[1], *x = &slice->axes[2];
  const real *above = slice->before + y->before[outputY] * x->input;
  const real *below = slice->before + y->after[outputY] * x->input;
  const real down = y->share[outputY];
  for (int64_t i = 0; i < x->output; i++) {
    const int64_t before = x->before[i], after = x->after[i];
    const real right = x->share[i];
    row[i] = (1 - down) * ((1 - right) * above[before] + right * above[after]) +
             down * ((1 - right) * below[before] + right * below[after]);
  }
}

/* row = the elements of the input at the places of an output row. */
static void takeRow(const Axis axes[3], const real *plane, int64_t z, int64_t y, real *row)
{
  const Axis *x = &axes[2];
  const int64_t above = axes[0].before[z] * axes[1].input + axes[1].before[y];
  const real *from = plane + above * x->input;
  for (int64_t i = 0; i < x->output; i++)
    row[i] = from[x->before[i]];
}

static void resampleForward(const THNNResampling *r, void *places, const real *input, THNNRow row,
                            int64_t count, real *scratch, real *output)
{
  Axis axes[3];
  axesIn(r, places, axes);
  const int64_t elements = r->input[0] * r->input[1] * r->input[2], width = r->output[2];
  const bool sparse = isSparse(r), isWhole = r->hasSteps && r->steps.isWhole;
  Slice slice = {.axes = axes, .buffer = scratch, .mixed = scratch + BUFFERS * width};
  for (int64_t i = 0; i < count; i++, THNN_nextRow(&row)) {
    const int64_t y = row.y;
    const real *plane = input + row.plane * elements;
    if (i == 0 || y == 0)
      beginSlice(&slice, plane, row.z);
    real *result = output + i * width;
    if (isWhole) {
      const bool again = i > 0 && y > 0 && axes[1].before[y] == axes[1].before[y - 1];
      if (again)
        THNN_(simd).pointwise.copy(width, result - width, result);
      else
        takeRow(axes, plane, row.z, y, result);
      continue;
    }
    if (sparse && slice.share == 0) {
      sampleRow(&slice, y, result);
      continue;
    }
    const real share = axes[1].share[y];
    const real *above = interpolatedRow(&slice, axes[1].before[y]);
    const real *below = interpolatedRow(&slice, axes[1].after[y]);
    THNN_(simd).pointwise.blend(width, 1 - share, above, share, below, result);
  }
}

void THNN_(linear_updateOutput)(const THNNResamplingCall *call, THTensor *input, THTensor *output)
{
  const THNNResampling *r = &call->resampling;
  const ResampledRows rows = {.cost = 3 * r->output[2] + r->input[2],
                              .outputRows = BUFFERS,
                              .placesBytes = axesBytes(r),
                              .setPlaces = setPlaces,
                              .compute = resampleForward};
  THNN_(rows_resample)(call, &rows, input, output);
}

/* The output indices that may mix an input index. */
static inline THNNRange mixing(const Axis *axis, int64_t input)
{
  return (THNNRange){axis->first[input > 0 ? input - 1 : 0], axis->first[input + 1]};
}

/* The weight of an input index in an output index. */
static real weightOf(const Axis *axis, int64_t output, int64_t input)
{
  const real share = axis->share[output];
  return (axis->before[output] == input ? 1 - share : 0) +
         (axis->after[output] == input ? share : 0);
}

/* `weight` times a row, which is NULL where there is none. */
typedef struct WeightedRow {
  const real *row;
  real weight;
} WeightedRow;

/* The weighted sum of the output rows that an input row contributed to: a single one as it is, and
 * others added up in `sum`. */
static WeightedRow collectRows(const Axis axes[3], const real *outputPlane, int64_t inputZ,
                               int64_t inputY, real *sum)
{
  const Axis *z = &axes[0], *y = &axes[1], *x = &axes[2];
  WeightedRow found = {NULL, 1};
  const THNNRange slices = mixing(z, inputZ), rows = mixing(y, inputY);
  for (int64_t i = slices.begin; i < slices.end; i++)
    for (int64_t j = rows.begin; j < rows.end; j++) {
      const real weight = weightOf(z, i, inputZ) * weightOf(y, j, inputY);
      const real *row = outputPlane + (i * y->output + j) * x->output;
      if (weight == 0)
        continue;
      if (!found.row) {
        found = (WeightedRow){row, weight};
        continue;
      }
      if (found.row != sum)
        THNN_(simd).pooling.scale(x->output, found.weight, found.row, sum);
      THNN_(simd).pointwise.axpy(x->output, weight, row, sum);
      found = (WeightedRow){sum, 1};
    }
  return found;
}

/* row = for each input element the weighted sum of the output elements along x that it contributed
 * to. Both ways of computing it add these in the order of the output. */
static void spreadRow(const Axis *x, bool isWhole, const real *sum, real *row)
{
  if (isWhole) {
    THNN_(simd).pointwise.fill(x->input, 0, row);
    for (int64_t at = 0; at < x->output; at++)
      row[x->before[at]] += sum[at];
    return;
  }
  real fromBefore = 0;
  for (int64_t i = 0; i < x->input; i++) {
    real total = fromBefore;
    fromBefore = 0;
    for (Place at = x->first[i]; at < x->first[i + 1]; at++) {
      total += (1 - x->share[at]) * sum[at];
      fromBefore += x->share[at] * sum[at];
    }
    row[i] = total;
  }
  row[x->input - 1] += fromBefore;
}

static void addToBoth(const Axis *x, int64_t at, real value, real *row)
{
  row[x->before[at]] += (1 - x->share[at]) * value;
  row[x->after[at]] += x->share[at] * value;
}

/* The same where the output row is no longer than the input row, which is 0 at first. */
static void scatterRow(const Axis *x, WeightedRow sum, real *row)
{
  const int64_t last = x->output - 1;
  if (*x->spacing == SAME) {
    THNN_(simd).pooling.scale(x->output, sum.weight, sum.row, row);
    return;
  }
  if (*x->spacing == APART)
    for (int64_t at = 0; at < last; at++) {
      const real value = sum.weight * sum.row[at];
      row[x->before[at]] = 0 + (1 - x->share[at]) * value;
      row[x->after[at]] = 0 + x->share[at] * value;
    }
  else
    for (int64_t at = 0; at < last; at++)
      addToBoth(x, at, sum.weight * sum.row[at], row);
  addToBoth(x, last, sum.weight * sum.row[last], row);
}

static void resampleBackward(const THNNResampling *r, void *places, const real *gradOutput,
                             THNNRow row, int64_t count, real *sum, real *gradInput)
{
  Axis axes[3];
  axesIn(r, places, axes);
  const int64_t elements = r->output[0] * r->output[1] * r->output[2];
  const bool isWhole = r->hasSteps && r->steps.isWhole;
  const bool scatters = r->output[2] <= r->input[2] && !isWhole;
  if (scatters)
    THNN_(simd).pointwise.fill(count * r->input[2], 0, gradInput);
  for (int64_t i = 0; i < count; i++, THNN_nextRow(&row)) {
    const THNNRange mixed = mixing(&axes[1], row.y);
    if (scatters && mixed.begin == mixed.end)
      continue;
    real *result = gradInput + i * r->input[2];
    const real *plane = gradOutput + row.plane * elements;
    WeightedRow found = collectRows(axes, plane, row.z, row.y, sum);
    if (scatters && found.row) {
      scatterRow(&axes[2], found, result);
    } else if (found.row) {
      if (found.row != sum)
        THNN_(simd).pooling.scale(r->output[2], found.weight, found.row, sum);
      spreadRow(&axes[2], isWhole, sum, result);
    } else if (!scatters) {
      THNN_(simd).pointwise.fill(r->input[2], 0, result);
    }
  }
}

void THNN_(linear_updateGradInput)(const THNNResamplingCall *call, THTensor *gradOutput,
                                   THTensor *gradInput)
{
  const THNNResampling *r = &call->resampling;
  const int64_t inputRows = r->input[0] * r->input[1], outputRows = r->output[0] * r->output[1];
  const ResampledRows rows = {.backward = true,
                              .cost = (4 * outputRows / inputRows + 3) * r->output[2] + r->input[2],
                              .outputRows = 1,
                              .placesBytes = axesBytes(r),
                              .setPlaces = setPlaces,
                              .compute = resampleBackward};
  THNN_(rows_resample)(call, &rows, gradOutput, gradInput);
}
