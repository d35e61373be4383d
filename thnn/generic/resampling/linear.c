#include "generic/resampling/linear.h"

#include "work/scratch.h"

#include <math.h>

/* Where the output indices of one dimension are in the input: at before + share * (after -
 * before). */
typedef struct Axis {
  int64_t input, output;
  Place *before, *after, *first; /* first[i]: the first output index at or past i */
  real *share;
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
}

static void setAxes(const THNNResampling *r, void *memory, Axis axes[3])
{
  Scratch scratch = {.base = memory};
  layOutAxes(r, axes, &scratch);
  for (int d = 0; d < 3; d++)
    setAxis(r, d, &axes[d]);
}

/* How the work is divided, forward and backward: into blocks of rows of the result, each thread
 * with scratch for some rows. */
typedef struct ResamplingPartition {
  THNNBlocks blocks;
  int threads;
  size_t threadBytes;
} ResamplingPartition;

/* Two rows of the output, or their sum, and one of the input. */
static real *layOutRows(const THNNResampling *r, Scratch *scratch)
{
  return THNN_take(scratch, 2 * r->output[2] + r->input[2], sizeof(real));
}

static ResamplingPartition partitionFor(const THNNState *state, const THNNResampling *r,
                                        const int64_t result[3], int64_t cost)
{
  const int64_t rows = r->batch * r->planes * result[0] * result[1];
  ResamplingPartition partition = {.threadBytes = 0};
  partition.blocks = THNN_rowBlocks(rows, cost);
  partition.threads = THNN_threads(state, partition.blocks.count, (double)rows * (double)cost);
  Scratch needed = {0};
  layOutRows(r, &needed);
  partition.threadBytes = needed.used;
  return partition;
}

/* One output slice of a plane, with the input rows interpolated last: neighbouring output rows
 * share them. */
typedef struct Slice {
  const Axis *axes;
  const real *before, *after; /* the input slices on either side */
  real share;
  int64_t held[2]; /* the input rows that the buffers hold, interpolated along z and x */
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
  real *row = slice->buffer + index % 2 * x->output;
  if (slice->held[index % 2] == index)
    return row;
  const real *from = slice->before + index * x->input;
  if (slice->share != 0) {
    THNN_(simd).pointwise.blend(x->input, 1 - slice->share, from, slice->share,
                                slice->after + index * x->input, slice->mixed);
    from = slice->mixed;
  }
  THNN_(simd).pooling.interpolate(x->output, x->before, x->after, x->share, from, row);
  slice->held[index % 2] = index;
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

void THNN_(linear_updateOutput)(const THNNResamplingCall *call, THTensor *input, THTensor *output)
{
  const THNNResampling *r = &call->resampling;
  const int64_t size[] = {r->batch, r->planes, r->output[3 - call->nDimension],
                          r->output[4 - call->nDimension], r->output[2]};

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const ResamplingPartition partition =
      partitionFor(call->state, r, r->output, 3 * r->output[2] + r->input[2]);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, call->nDimension + 2, size);
  const THNNBuffer *places = THNN_planScratch(&plan, axesBytes(r));
  const THNNBuffer *scratch =
      THNN_planScratch(&plan, (size_t)partition.threads * partition.threadBytes);
  THNN_planAcquire(&plan);

  Axis axes[3];
  setAxes(r, places->data, axes);
  const int64_t elements = r->input[0] * r->input[1] * r->input[2], width = r->output[2];
  const bool sparse = isSparse(r), isWhole = r->hasSteps && r->steps.isWhole;
#pragma omp parallel for num_threads(partition.threads) schedule(static)
  for (int64_t block = 0; block < partition.blocks.count; block++) {
    Scratch mine = THNN_scratchOf(scratch->data, partition.threadBytes, THNN_threadIndex());
    real *rows = layOutRows(r, &mine);
    Slice slice = {.axes = axes, .buffer = rows, .mixed = rows + 2 * width};
    const int64_t first = block * partition.blocks.length;
    THNNRow row = THNN_rowAt(first, r->output[0], r->output[1]);
    for (int64_t i = 0; i < THNN_blockLength(&partition.blocks, block); i++, THNN_nextRow(&row)) {
      const int64_t y = row.y;
      const real *plane = (const real *)in->data + row.plane * elements;
      if (i == 0 || y == 0)
        beginSlice(&slice, plane, row.z);
      real *result = (real *)out->data + (first + i) * width;
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
  THNN_planRelease(&plan);
}

/* The weight of an input index in an output index. */
static real weightOf(const Axis *axis, int64_t output, int64_t input)
{
  const real share = axis->share[output];
  return (axis->before[output] == input ? 1 - share : 0) +
         (axis->after[output] == input ? share : 0);
}

/* sum = the weighted sum of the output rows that an input row contributed to. Returns whether there
 * are any; if there are none, nothing is written. */
static bool collectRows(const Axis axes[3], const real *outputPlane, int64_t inputZ, int64_t inputY,
                        real *sum)
{
  const Axis *z = &axes[0], *y = &axes[1], *x = &axes[2];
  bool any = false;
  for (int64_t i = z->first[inputZ > 0 ? inputZ - 1 : 0]; i < z->first[inputZ + 1]; i++)
    for (int64_t j = y->first[inputY > 0 ? inputY - 1 : 0]; j < y->first[inputY + 1]; j++) {
      const real weight = weightOf(z, i, inputZ) * weightOf(y, j, inputY);
      const real *row = outputPlane + (i * y->output + j) * x->output;
      if (weight == 0)
        continue;
      if (any)
        THNN_(simd).pointwise.axpy(x->output, weight, row, sum);
      else
        THNN_(simd).pooling.scale(x->output, weight, row, sum);
      any = true;
    }
  return any;
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
  if (x->output <= x->input) {
    THNN_(simd).pointwise.fill(x->input, 0, row);
    for (int64_t at = 0; at < x->output; at++) {
      row[x->before[at]] += (1 - x->share[at]) * sum[at];
      row[x->after[at]] += x->share[at] * sum[at];
    }
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

void THNN_(linear_updateGradInput)(const THNNResamplingCall *call, THTensor *gradOutput,
                                   THTensor *gradInput)
{
  const THNNResampling *r = &call->resampling;
  const int64_t size[] = {r->batch, r->planes, r->input[3 - call->nDimension],
                          r->input[4 - call->nDimension], r->input[2]};
  const int64_t inputRows = r->input[0] * r->input[1], outputRows = r->output[0] * r->output[1];

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  const ResamplingPartition partition = partitionFor(
      call->state, r, r->input, (4 * outputRows / inputRows + 3) * r->output[2] + r->input[2]);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 2);
  const THNNBuffer *to = THNN_planOut(&plan, gradInput, 3, call->nDimension + 2, size);
  const THNNBuffer *places = THNN_planScratch(&plan, axesBytes(r));
  const THNNBuffer *scratch =
      THNN_planScratch(&plan, (size_t)partition.threads * partition.threadBytes);
  THNN_planAcquire(&plan);

  Axis axes[3];
  setAxes(r, places->data, axes);
  const int64_t elements = outputRows * r->output[2];
#pragma omp parallel for num_threads(partition.threads) schedule(static)
  for (int64_t block = 0; block < partition.blocks.count; block++) {
    Scratch mine = THNN_scratchOf(scratch->data, partition.threadBytes, THNN_threadIndex());
    real *sum = layOutRows(r, &mine);
    const int64_t first = block * partition.blocks.length;
    THNNRow row = THNN_rowAt(first, r->input[0], r->input[1]);
    for (int64_t i = 0; i < THNN_blockLength(&partition.blocks, block); i++, THNN_nextRow(&row)) {
      real *result = (real *)to->data + (first + i) * r->input[2];
      if (collectRows(axes, (const real *)from->data + row.plane * elements, row.z, row.y, sum))
        spreadRow(&axes[2], r->hasSteps && r->steps.isWhole, sum, result);
      else
        THNN_(simd).pointwise.fill(r->input[2], 0, result);
    }
  }
  THNN_planRelease(&plan);
}
