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
  COST = 4,                /* what an element costs, as a multiple of copying it */
  SHORT_PLANE = 16,        /* planes of fewer positions are worked on together, a group at a time */
  TOGETHER = 1024,         /* elements of samples that are worked on together */
  MOST_SAMPLES = 16,       /* of these */
  MOST_BLOCKS = 64,        /* blocks of samples with sums of their own */
  LEAST_SAMPLES = 4,       /* of a block */
  MANY_SAMPLES = 64,       /* the same where sums of all blocks exceed CACHED_BYTES */
  COLUMN_PIECE = 2048,     /* positions of a sample whose sums a thread adds up at a time */
  CACHED_BYTES = 256 << 10 /* of sums, which stay in a near cache */
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

/* One for each plane, or, where they are spread, for each position of short ones. */
typedef struct Parameters {
  const real *weight, *bias; /* NULL: 1 and 0 */
} Parameters;

/* Writes a group's output; `of` holds its mean, 1 / deviation and 0. */
static void writeGroup(const SimdChannels *loops, const Cut *cut, int64_t group, const real *x,
                       const real *of, const Parameters *parameters, real *y)
{
  const bool isPlain = !parameters->weight && !parameters->bias;
  if (isPlain || cut->isShort) {
    const int64_t first = group * cut->elements;
    if (isPlain)
      loops->normalise.plane(cut->elements, x, NULL, of, y);
    else
      loops->normaliseWeighted(cut->elements, x, of[0], of[1], parameters->weight + first,
                               parameters->bias + first, y);
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
  THNNBuffer *spreadOut =
      THNN_planScratch(&plan, spreads ? (size_t)(2 * columns) * sizeof(real) : 0);
  THNN_planAcquire(&plan);

  Parameters parameters = {factors ? factors->data : NULL, offsets ? offsets->data : NULL};
  if (spreads) {
    real *of = spreadOut->data;
    spread(&cut, parameters.weight, 1, of);
    spread(&cut, parameters.bias, 0, of + columns);
    parameters = (Parameters){of, of + columns};
  }
  const SimdChannels *loops = &simdFor(state)->channels;
  const int64_t together = rowsTogether(rows, cut.elements), blocks = divideUp(rows, together);
  const int threads = THNN_threads(state, blocks, (double)rows * (double)cut.elements * COST);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t block = 0; block < blocks; block++) {
    const int64_t first = block * together, end = minimum(first + together, rows);
    real *mean = means->data, *std = stds->data;
    rowStatistics(&loops->moments, end - first, cut.elements,
                  (const real *)in->data + first * cut.elements, eps, mean + first, std + first);
    for (int64_t i = first; i < end; i++)
      writeGroup(loops, &cut, i % groups, (const real *)in->data + i * cut.elements,
                 (const real[]){mean[i], std[i], 0}, &parameters,
                 (real *)out->data + i * cut.elements);
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

/* The rows of a group in `count` samples, from row i on, which is that of a sample's group. */
static RowGradients rowsOf(const Backward *call, int64_t i, int64_t count)
{
  const Cut *cut = &call->cut;
  return (RowGradients){count,
                        cut->groups * cut->elements,
                        cut->groups,
                        call->x + i * cut->elements,
                        call->g + i * cut->elements,
                        call->mean + i,
                        call->std + i};
}

/* Writes the gradients of a group in `count` samples, from row i on, and adds what they give to the
 * sums of columns, unless those are NULL. `weight` is spread over positions. What is `ahead`
 * elements further on is prefetched, unless that is 0: the hardware's own prefetching stops at the
 * end of a page. */
static void backOfRows(const SimdChannels *loops, const Backward *call, const real *weight,
                       int64_t i, int64_t count, int64_t ahead, double *sums)
{
  const Cut *cut = &call->cut;
  const int64_t n = cut->elements, at = i % cut->groups * n;
  const RowGradients rows = rowsOf(call, i, count);
  double *first = sums ? sums + at : NULL, *second = sums ? first + cut->groups * n : NULL;
  loops->differentiateRows(n, &rows, weight + at, ahead, call->gradInput + i * n, first, second);
}

/* Adds to the sums of columns [begin, end) what `count` samples from s on give to them: columns are
 * the positions of a sample, and `sums` has all of one kind before those of the other. */
static void addSamples(const SimdChannels *loops, const Backward *call, int64_t s, int64_t count,
                       int64_t begin, int64_t end, double *sums)
{
  const Cut *cut = &call->cut;
  const int64_t columns = cut->groups * cut->elements;
  for (int64_t at = begin, next; at < end; at = next) {
    const int64_t group = at / cut->elements;
    RowGradients rows = rowsOf(call, s * cut->groups + group, count);
    next = minimum((group + 1) * cut->elements, end);
    rows.x += at - group * cut->elements;
    rows.gradOutput += at - group * cut->elements;
    loops->addGradients(next - at, &rows, sums + at, sums + columns + at);
  }
}

/* How samples with short planes are summed up: in blocks of samples, or in pieces of columns where
 * that is one block. The number of blocks is a power of two, which two or four threads share
 * evenly. */
static THNNBlocks samplesTogether(const Cut *cut)
{
  const int64_t columns = cut->groups * cut->elements;
  const int64_t inCache = CACHED_BYTES / (2 * columns * (int64_t)sizeof(double));
  int64_t most = minimum(MOST_BLOCKS, columns * cut->samples / THNN_BLOCK_LENGTH);
  most = minimum(most, cut->samples / LEAST_SAMPLES);
  most = minimum(most, maximum(inCache, cut->samples / MANY_SAMPLES));
  int64_t blocks = 1;
  while (2 * blocks <= most)
    blocks *= 2;
  const int64_t length = divideUp(cut->samples, blocks);
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
    const int64_t together = minimum(maximum(TOGETHER / columns, 2), MOST_SAMPLES);
    const int64_t ahead = call->fetches ? together * columns : 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t block = 0; block < blocks.count; block++) {
      double *sums = call->sums ? call->sums + block * 2 * columns : NULL;
      for (int64_t i = 0; sums && i < 2 * columns; i++)
        sums[i] = 0;
      const int64_t last = block * blocks.length + THNN_blockLength(&blocks, block);
      for (int64_t s = block * blocks.length, next; s < last; s = next) {
        next = minimum(s + together, last);
        for (int64_t i = 0; call->gradInput && i < cut->groups; i++)
          backOfRows(&loops->channels, call, weight, s * cut->groups + i, next - s, ahead, sums);
        if (!call->gradInput)
          addSamples(&loops->channels, call, s, next - s, 0, columns, sums);
      }
    }
    return;
  }
  if (call->gradInput) {
    const int threads = THNN_threads(state, rows, operations);
    const int64_t ahead = call->fetches ? cut->elements : 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < rows; i++)
      backOfRows(&loops->channels, call, weight, i, 1, ahead, NULL);
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
  const int64_t most = CACHED_BYTES / (2 * planes * (int64_t)sizeof(double));
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
  const bool sums = gradWeight || gradBias, spreads = cut->isShort && gradInput;
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
