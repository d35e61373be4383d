/* Group normalisation: the planes of each sample in groups, each by its own mean and variance. With
 * one group for all planes of rows x columns it is layer normalisation, with one for each plane
 * instance normalisation.
 *   input, output, gradOutput, gradInput   batch x planes [x ...]
 *   weight, bias, gradWeight, gradBias     planes
 *   save_mean, save_std                    batch x groups: mean, and 1 / sqrt(variance + eps)
 *
 * normed = (input - mean) std;  output = normed weight + bias
 * gradInput = (g - mean(g) - normed mean(g normed)) std,  g = gradOutput weight
 * gradWeight += scale sum(gradOutput normed);  gradBias += scale sum(gradOutput) */
#include "generic/normalization/checks.h"
#include "generic/normalization/rowStatistics.h"
#include "generic/template.h"
#include "work/scratch.h"
#include "work/sizes.h"

#include <stdio.h>

enum {
  COST = 4,             /* what an element costs, as a multiple of copying it */
  SHORT_PLANE = 16,     /* planes of fewer positions are worked on together, a group at a time */
  SAMPLES_TOGETHER = 2, /* samples whose columns are added up after their gradients are written */
  MOST_BLOCKS = 64,     /* blocks of samples with sums of their own */
  FEW_SAMPLES = 64,     /* fewer are not cut into blocks for the sums of planes */
  PIECE = 256,          /* elements of a group whose gradient is written at a time */
  COLUMN_PIECE = 2048,  /* positions of a sample whose sums a thread adds up at a time */
  BLOCKS_BYTES = 2
      << 20, /* of the sums of all blocks: with many columns, pieces of these are enough */
  ROUND_BYTES = 256 << 10 /* of the sums of planes of some samples, which stay in a near cache */
};

#ifdef THNN_ONCE
THNNPlanes THNN_GroupNormalization_shapeCheck(const char *function, THNNShape input,
                                              THNNShape gradOutput, THNNScalar groups,
                                              THNNShape weight, THNNShape bias)
{
  const THNNPlanes shape = THNN_BatchNormalization_shapeCheck(function, input, gradOutput);
  if (groups.value < 1 || shape.planes % groups.value != 0) {
    char expected[64], found[32];
    snprintf(expected, sizeof expected, "a divisor of %lld, the planes of input",
             (long long)shape.planes);
    snprintf(found, sizeof found, "%lld", (long long)groups.value);
    THNN_reject(function, groups.name, groups.position, expected, found);
  }
  if (THNN_given(weight))
    THNN_checkVector(function, weight, shape.planes, "planes");
  if (THNN_given(bias))
    THNN_checkVector(function, bias, shape.planes, "planes");
  return shape;
}

void THNN_GroupNormalization_backwardCheck(const char *function, THNNPlanes shape, int64_t groups,
                                           THNNShape gradWeight, THNNShape gradBias, THNNShape mean,
                                           THNNShape std)
{
  const int64_t size[] = {shape.batch, groups};
  if (THNN_given(gradWeight))
    THNN_checkVector(function, gradWeight, shape.planes, "planes");
  if (THNN_given(gradBias))
    THNN_checkVector(function, gradBias, shape.planes, "planes");
  THNN_checkSizes(function, mean, 2, size, "batch x groups");
  THNN_checkSizes(function, std, 2, size, "batch x groups");
}
#endif

/* How a tensor is cut up: into samples of groups of planes. */
typedef struct Cut {
  int64_t samples, groups, planes; /* planes of a group */
  int64_t positions, elements;     /* of a plane, of a group */
  bool isShort;                    /* whether planes are so short that groups are worked on whole */
} Cut;

static Cut cutOf(THNNPlanes shape, int64_t groups)
{
  const int64_t planes = shape.planes / groups;
  return (Cut){shape.batch,
               groups,
               planes,
               shape.positions,
               planes * shape.positions,
               shape.positions < SHORT_PLANE};
}

/* values = for each position the number of its plane, or `none` for all. */
static void spread(const Cut *cut, const real *numbers, real none, real *values)
{
  const int64_t planes = cut->groups * cut->planes;
  if (!numbers) {
    THNN_(simd).pointwise.fill(planes * cut->positions, none, values);
    return;
  }
  for (int64_t p = 0; p < planes; p++)
    for (int64_t i = 0; i < cut->positions; i++)
      values[p * cut->positions + i] = numbers[p];
}

/* Where a plane's parameters are: one for each plane, or for each position of short ones. */
typedef struct Parameters {
  const real *weight, *bias; /* NULL: 1 and 0 */
  int64_t step;              /* from one kind to the other, where they are spread */
} Parameters;

/* Writes a group's output; `of` holds its mean, 1 / deviation and 0. */
static void writeGroup(const SimdChannels *loops, const Cut *cut, int64_t group, const real *x,
                       const real *of, const Parameters *parameters, real *y)
{
  const bool isPlain = !parameters->weight && !parameters->bias;
  if (isPlain || cut->isShort) {
    loops->normalise.plane(cut->elements, x, NULL, of, y);
    if (!isPlain)
      loops->normalise.row(cut->elements, y, NULL,
                           parameters->weight - parameters->step + group * cut->elements,
                           parameters->step, y);
    return;
  }
  for (int64_t p = 0; p < cut->planes; p++) {
    const int64_t plane = group * cut->planes + p;
    const real ofPlane[] = {of[0], parameters->weight ? of[1] * parameters->weight[plane] : of[1],
                            parameters->bias ? parameters->bias[plane] : 0};
    loops->normalise.plane(cut->positions, x + p * cut->positions, NULL, ofPlane,
                           y + p * cut->positions);
  }
}

void THNN_(GroupNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THTensor *weight, THTensor *bias, THTensor *save_mean,
                                            THTensor *save_std, int64_t groups, accreal eps)
{
  const char *function = "GroupNormalization_updateOutput";
  const THNNPlanes shape = THNN_GroupNormalization_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SCALAR(groups, 8), THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5));
  const Cut cut = cutOf(shape, groups);
  const int64_t size[] = {shape.batch, groups}, rows = shape.batch * groups;
  const int64_t columns = groups * cut.elements;
  const bool spreads = cut.isShort && (weight || bias);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOutLike(&plan, output, 3, input);
  THNNBuffer *factors = weight ? THNN_planIn(&plan, weight, 4) : NULL;
  THNNBuffer *offsets = bias ? THNN_planIn(&plan, bias, 5) : NULL;
  THNNBuffer *means = THNN_planOut(&plan, save_mean, 6, 2, size);
  THNNBuffer *stds = THNN_planOut(&plan, save_std, 7, 2, size);
  /* For each position: what is subtracted, a factor, and what is added afterwards. */
  THNNBuffer *spreadOut =
      THNN_planScratch(&plan, spreads ? (size_t)(3 * columns) * sizeof(real) : 0);
  THNN_planAcquire(&plan);

  Parameters parameters = {factors ? factors->data : NULL, offsets ? offsets->data : NULL, columns};
  if (spreads) {
    real *of = spreadOut->data;
    THNN_(simd).pointwise.fill(columns, 0, of);
    spread(&cut, parameters.weight, 1, of + columns);
    spread(&cut, parameters.bias, 0, of + 2 * columns);
    parameters.weight = of + columns;
  }
  const SimdChannels *loops = &simdFor(state)->channels;
  const int threads = THNN_threads(state, rows, (double)rows * (double)cut.elements * COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t i = 0; i < rows; i++) {
    const real *x = (const real *)in->data + i * cut.elements;
    real of[] = {0, 0, 0};
    rowStatistics(&loops->moments, cut.elements, x, eps, &of[0], &of[1]);
    ((real *)means->data)[i] = of[0];
    ((real *)stds->data)[i] = of[1];
    writeGroup(loops, &cut, i % groups, x, of, &parameters, (real *)out->data + i * cut.elements);
  }
  THNN_planRelease(&plan);
}

/* A backward call: pointers are NULL for what was not given, or is not wanted. */
typedef struct Backward {
  Cut cut;
  const real *x, *g, *weight, *mean, *std;
  real *gradInput;
  bool fetches;     /* whether what comes next is prefetched */
  double *sums;     /* of planes: gradOutput, and gradOutput times normed */
  int64_t firstRow; /* the group of a sample whose planes' sums come first */
} Backward;

/* Sums up the planes of a group of sample i / groups, and writes its gradient. */
static void backOfPlanes(const Simd *loops, const Backward *call, int64_t i)
{
  const Cut *cut = &call->cut;
  const real *x = call->x + i * cut->elements, *g = call->g + i * cut->elements;
  const real mean = call->mean[i], std = call->std[i];
  const real *weight = call->weight ? call->weight + i % cut->groups * cut->planes : NULL;
  double gradient = 0, product = 0;
  double *sums = call->sums + 2 * (i - call->firstRow) * cut->planes;
  loops->channels.gradientsOfEach(cut->planes, cut->positions, x, g, mean, sums);
  for (int64_t p = 0; p < cut->planes; p++, sums += 2) {
    sums[1] *= std;
    const double factor = weight ? weight[p] : 1;
    gradient += factor * sums[0];
    product += factor * sums[1];
  }
  if (!call->gradInput)
    return;
  const double scale = (double)std / (double)cut->elements;
  const real of[] = {mean, (real)(gradient * scale), (real)(product * scale * std), std};
  loops->channels.differentiateEach(cut->planes, cut->positions, x, g, of, weight,
                                    call->gradInput + i * cut->elements);
}

/* Writes the gradient of a group with short planes; `weight` is spread over positions. What is
 * `ahead` elements further on is prefetched, unless that is 0: the hardware's own prefetching stops
 * at the end of a page. */
static void backOfGroup(const Simd *loops, const Backward *call, const real *weight, int64_t i,
                        int64_t ahead)
{
  const Cut *cut = &call->cut;
  const int64_t n = cut->elements;
  const real *x = call->x + i * n, *g = call->g + i * n;
  const real mean = call->mean[i], std = call->std[i];
  real *y = call->gradInput + i * n;
  double sums[2] = {0, 0};
  if (weight) {
    loops->channels.weigh(n, x, g, weight + i % cut->groups * n, mean, sums, y);
    g = y;
  } else {
    loops->channels.gradients.planes(1, n, n, x, g, mean, sums);
  }
  const double projection = sums[1] / (double)n * (double)std * (double)std;
  const real of[] = {mean, (real)(sums[0] / (double)n), (real)projection, std};
  for (int64_t at = 0, count; at < n; at += count) {
    count = minimum(PIECE, n - at);
    if (ahead > 0) {
      const int64_t bytes = count * (int64_t)sizeof(real), distance = ahead * (int64_t)sizeof(real);
      THNN_fetchToSecondLevel(x + at, bytes, distance);
      THNN_fetchToSecondLevel(call->g + i * n + at, bytes, distance);
    }
    loops->channels.normaliseBackward.plane(count, x + at, g + at, of, y + at);
  }
}

/* Adds to the sums of columns [begin, end) what `count` samples from s on give to them: columns are
 * the positions of a sample, and `sums` has all of one kind before those of the other. */
static void addSamples(const SimdChannels *loops, const Backward *call, int64_t s, int64_t count,
                       int64_t begin, int64_t end, double *sums)
{
  const Cut *cut = &call->cut;
  const int64_t columns = cut->groups * cut->elements;
  for (int64_t at = begin, next; at < end; at = next) {
    const int64_t group = at / cut->elements, i = s * cut->groups + group;
    next = minimum((group + 1) * cut->elements, end);
    const RowGradients rows = {count,
                               columns,
                               cut->groups,
                               call->x + s * columns + at,
                               call->g + s * columns + at,
                               call->mean + i,
                               call->std + i};
    loops->addGradients(next - at, &rows, sums + at, sums + columns + at);
  }
}

/* How samples with short planes are summed up: in blocks of samples, or in pieces of columns. */
static THNNBlocks samplesTogether(const Cut *cut)
{
  const int64_t columns = cut->groups * cut->elements;
  int64_t most = minimum(MOST_BLOCKS, columns * cut->samples / THNN_BLOCK_LENGTH);
  if (cut->samples < FEW_SAMPLES)
    most = 1;
  most = minimum(most, BLOCKS_BYTES / (2 * columns * (int64_t)sizeof(double)));
  const int64_t length = divideUp(cut->samples, maximum(most, 1));
  return (THNNBlocks){divideUp(cut->samples, length), length, cut->samples};
}

static void backOfShortPlanes(const THNNState *state, const Backward *call, const real *weight,
                              THNNBlocks blocks)
{
  const Cut *cut = &call->cut;
  const Simd *loops = simdFor(state);
  const int64_t columns = cut->groups * cut->elements, rows = cut->samples * cut->groups;
  const double operations = (double)rows * (double)cut->elements * COST;
  if (blocks.count > 1) {
    const int threads = THNN_threads(state, blocks.count, operations * 2);
    const int64_t ahead = call->fetches ? SAMPLES_TOGETHER * columns : 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t block = 0; block < blocks.count; block++) {
      double *sums = call->sums ? call->sums + block * 2 * columns : NULL;
      for (int64_t i = 0; sums && i < 2 * columns; i++)
        sums[i] = 0;
      const int64_t last = block * blocks.length + THNN_blockLength(&blocks, block);
      for (int64_t s = block * blocks.length, next; s < last; s = next) {
        next = minimum(s + SAMPLES_TOGETHER, last);
        for (int64_t i = s * cut->groups; call->gradInput && i < next * cut->groups; i++)
          backOfGroup(loops, call, weight, i, ahead);
        if (sums)
          addSamples(&loops->channels, call, s, next - s, 0, columns, sums);
      }
    }
    return;
  }
  if (call->gradInput) {
    const int threads = THNN_threads(state, rows, operations);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < rows; i++)
      backOfGroup(loops, call, weight, i, call->fetches ? cut->elements : 0);
  }
  if (call->sums) {
    const int64_t pieces = divideUp(columns, COLUMN_PIECE);
    const int threads = THNN_threads(state, pieces, operations);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t piece = 0; piece < pieces; piece++) {
      const int64_t begin = piece * COLUMN_PIECE, end = minimum(begin + COLUMN_PIECE, columns);
      for (int64_t i = begin; i < end; i++)
        call->sums[i] = call->sums[columns + i] = 0;
      addSamples(&loops->channels, call, 0, cut->samples, begin, end, call->sums);
    }
  }
}

/* Samples whose planes have sums at the same time. */
static int64_t roundOf(const Cut *cut)
{
  const int64_t planes = cut->groups * cut->planes;
  const int64_t most = ROUND_BYTES / (2 * planes * (int64_t)sizeof(double));
  return minimum(maximum(most, 1), cut->samples);
}

/* Works on the samples round by round; `totals` are the sums of planes over all of them. */
static void backOfLongPlanes(const THNNState *state, Backward call, double *totals)
{
  const Cut *cut = &call.cut;
  const int64_t groups = cut->groups, planes = groups * cut->planes, round = roundOf(cut);
  for (int64_t k = 0; k < 2 * planes; k++)
    totals[k] = 0;
  for (int64_t first = 0; first < cut->samples; first += round) {
    const int64_t samples = minimum(round, cut->samples - first);
    const int64_t rows = samples * groups, end = (first + samples) * groups;
    call.firstRow = first * groups;
    const int threads = THNN_threads(state, rows, (double)rows * (double)cut->elements * COST);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = call.firstRow; i < end; i++)
      backOfPlanes(simdFor(state), &call, i);
    for (int64_t s = 0; s < samples; s++)
      for (int64_t k = 0; k < 2 * planes; k++)
        totals[k] += call.sums[2 * s * planes + k];
  }
}

/* gradient += scale times the sums of a kind, 0: of gradOutput, 1: of its product with normed. */
static void addTotals(const Cut *cut, const double *totals, int kind, double scale, real *gradient)
{
  for (int64_t p = 0; p < cut->groups * cut->planes; p++)
    gradient[p] = (real)((double)gradient[p] + scale * totals[2 * p + kind]);
}

/* gradient += scale times the sums of a kind over all blocks and the positions of each plane;
 * `totals` has room for these. */
static void addSumsOfColumns(const Cut *cut, const double *sums, int64_t blocks, int kind,
                             double scale, double *totals, real *gradient)
{
  const int64_t planes = cut->groups * cut->planes, columns = planes * cut->positions;
  for (int64_t p = 0; p < planes; p++)
    totals[p] = 0;
  for (int64_t b = 0; b < blocks; b++) {
    const double *of = sums + (2 * b + kind) * columns;
    if (cut->positions == 1)
      for (int64_t p = 0; p < planes; p++)
        totals[p] += of[p];
    else
      for (int64_t p = 0; p < planes; p++)
        for (int64_t i = 0; i < cut->positions; i++)
          totals[p] += of[p * cut->positions + i];
  }
  for (int64_t p = 0; p < planes; p++)
    gradient[p] = (real)((double)gradient[p] + scale * totals[p]);
}

/* What a backward call needs for itself. */
typedef struct Room {
  double *sums, *totals;
  real *weight; /* spread over positions */
} Room;

static Room layOut(const Cut *cut, int64_t blocks, bool sums, bool spreads, Scratch *scratch)
{
  const int64_t columns = cut->groups * cut->elements, planes = cut->groups * cut->planes;
  Room room = {NULL, NULL, NULL};
  if (!cut->isShort) {
    room.sums = THNN_take(scratch, 2 * roundOf(cut) * planes, sizeof(double));
    room.totals = THNN_take(scratch, 2 * planes, sizeof(double));
  } else if (sums) {
    room.sums = THNN_take(scratch, 2 * blocks * columns, sizeof(double));
    room.totals = THNN_take(scratch, planes, sizeof(double));
  }
  if (spreads)
    room.weight = THNN_take(scratch, columns, sizeof(real));
  return room;
}

void THNN_(GroupNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, THTensor *gradWeight,
                                        THTensor *gradBias, THTensor *weight, THTensor *save_mean,
                                        THTensor *save_std, int64_t groups, accreal scale)
{
  const char *function = "GroupNormalization_backward";
  const THNNPlanes shape = THNN_GroupNormalization_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SCALAR(groups, 10),
      THNN_SHAPE(weight, 7), THNN_NO_SHAPE);
  THNN_GroupNormalization_backwardCheck(function, shape, groups, THNN_SHAPE(gradWeight, 5),
                                        THNN_SHAPE(gradBias, 6), THNN_SHAPE(save_mean, 8),
                                        THNN_SHAPE(save_std, 9));
  if (!gradInput && !gradWeight && !gradBias)
    return;
  Backward call = {.cut = cutOf(shape, groups)};
  const Cut *cut = &call.cut;
  const bool sums = gradWeight || gradBias, spreads = weight && cut->isShort && gradInput;
  const THNNBlocks blocks = samplesTogether(cut);
  Scratch needed = {0};
  layOut(cut, blocks.count, sums, spreads, &needed);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = gradInput ? THNN_planOutLike(&plan, gradInput, 4, input) : NULL;
  THNNBuffer *toWeight = gradWeight ? THNN_planInOut(&plan, gradWeight, 5) : NULL;
  THNNBuffer *toBias = gradBias ? THNN_planInOut(&plan, gradBias, 6) : NULL;
  THNNBuffer *factors = weight ? THNN_planIn(&plan, weight, 7) : NULL;
  THNNBuffer *means = THNN_planIn(&plan, save_mean, 8);
  THNNBuffer *stds = THNN_planIn(&plan, save_std, 9);
  THNNBuffer *scratch = THNN_planScratch(&plan, needed.used);
  THNN_planAcquire(&plan);

  Scratch taken = {.base = scratch->data};
  const Room room = layOut(cut, blocks.count, sums, spreads, &taken);
  call.x = in->data;
  call.g = from->data;
  call.weight = factors ? factors->data : NULL;
  call.mean = means->data;
  call.std = stds->data;
  call.gradInput = to ? to->data : NULL;
  call.fetches = THNN_leavesCaches(2 * cut->samples * cut->groups * cut->elements, sizeof(real));
  call.sums = room.sums;
  if (cut->isShort) {
    if (spreads)
      spread(cut, call.weight, 1, room.weight);
    backOfShortPlanes(state, &call, room.weight, blocks);
  } else {
    backOfLongPlanes(state, call, room.totals);
  }
  for (int kind = 0; kind < 2; kind++) {
    const THNNBuffer *wanted = kind ? toWeight : toBias;
    if (wanted && cut->isShort)
      addSumsOfColumns(cut, call.sums, blocks.count, kind, scale, room.totals, wanted->data);
    else if (wanted)
      addTotals(cut, room.totals, kind, scale, wanted->data);
  }
  THNN_planRelease(&plan);
}
