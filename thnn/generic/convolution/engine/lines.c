/* Direct convolution line by line: the map, and with stride 1 the image gradient, for few result
 * planes or few source planes and taps.
 *
 * The lanes of a vector are neighbouring results of a line, so that few result planes still fill
 * vectors, and results are stored as they are, while vectors of planes would have to be transposed.
 * The source is read from frames (paddedLines.h), where neighbouring positions are contiguous
 * whatever the padding and the stride, or in place if there is only one tap. A weight is one scalar
 * for all lanes.
 *
 * A task is a band of result lines for all planes. Blocks of source planes are added to it in
 * turn. */
#include "generic/convolution/engine/paddedLines.h"

/* Most bytes of the frames of a band, which stay in the second-level cache. */
static const int64_t FRAME_BYTES = 256 << 10;
/* Positions of a band, unless its frames take too much memory. */
static const int64_t BAND_POSITIONS = 4096;
/* Planes of a block if the source is read in place: as many streams as the processor prefetches by
 * itself. With more than FEW_RESULTS result planes, adding to these again takes longer, and a block
 * has up to MOST_STREAMS. */
enum { FEW_STREAMS = 16, MOST_STREAMS = 512 / sizeof(real), FEW_RESULTS = 8 };
/* Bytes that a flat band reads of a block, which stay in the second-level cache, and the least
 * positions of the band. */
static const int64_t FLAT_BYTES = 64 << 10, LEAST_FLAT_POSITIONS = 512;
/* Most bytes of packed weights; those of a block stay in the second-level cache. */
static const int64_t WEIGHT_BYTES = 4 << 20;
/* Least products for each sum in a block: with fewer, fetching and storing the sums takes too much
 * of the time. */
static const int64_t WORTHWHILE_TERMS = 64;

/* What all threads share; after the blank line, what each thread has to itself. */
typedef struct Worker {
  const THNNConvolutionPlan *plan;
  THNNConvolution geometry; /* a forward convolution, from source to result */
  const real *source;
  real *result;
  const int64_t *offset;       /* offset in a frame of each source plane of a block and tap */
  const real *factors, *start; /* packed weights; the bias, with zeros for missing planes */

  real *frames;
  THNNPosition *at;
} Worker;

/* The convolution as a forward one: the image gradient is the convolution of the map gradient with
 * the weights in reverse. */
static THNNConvolution seenForward(const THNNConvolutionPlan *plan)
{
  const THNNConvolution *g = &plan->geometry;
  THNNConvolution seen = *g;
  if (plan->part == THNN_CONVOLUTION_FORWARD)
    return seen;
  seen.inputPlanes = g->outputPlanes;
  seen.outputPlanes = g->inputPlanes;
  for (int i = 0; i < 3; i++) {
    seen.input[i] = g->output[i];
    seen.output[i] = g->input[i];
    seen.pad[i] = (g->kernel[i] - 1) * g->dilation[i] - g->pad[i];
  }
  return seen;
}

/* Number of result planes, rounded up to whole groups. */
static int64_t wholePlanes(const THNNConvolution *seen)
{
  return roundUp(seen->outputPlanes, THNN_(simd).shifts.tilePlanes);
}

/* Number of source planes of a block times taps. */
static int64_t blockRows(const THNNConvolution *seen, const THNNConvolutionBands *bands)
{
  return bands->planes * THNN_convolutionTaps(seen);
}

/* Number of elements of a band's frames, or of a copy of what the partial vector of a flat band
 * sees. */
static int64_t frameElements(const THNNConvolution *seen, const THNNConvolutionBands *bands)
{
  return bands->flat ? bands->planes * THNN_(simd).shifts.lanes
                     : THNN_(lineFrames_elements)(seen, bands);
}

/* The cost of reading a source in place, in as many streams as it has planes. The constant is a
 * compromise between two processors, one of which takes twice as much and the other nothing. */
static double streamingCost(const THNNConvolution *seen, const THNNConvolutionBands *bands)
{
  const double bytes = (double)seen->batch * (double)seen->inputPlanes *
                       (double)THNN_convolutionImagePositions(seen) * sizeof(real);
  return bands->flat && bytes > FAR_OPERAND_BYTES ? 0.05 * bytes : 0;
}

/* The total cost: products of each vector with groups of planes, whose loads cross cache lines;
 * filling frames; fetching sums again for each block; and packing. */
static double linesCost(const THNNConvolution *seen, const THNNConvolutionBands *bands)
{
  const int64_t lanes = THNN_(simd).shifts.lanes, planes = seen->outputPlanes;
  const int64_t map = THNN_convolutionMapPositions(seen);
  const int64_t width = bands->flat ? map : seen->output[2];
  const double vectors = (double)seen->batch * (map / width) * divideUp(width, lanes);
  const double perLoad = 0.55 + 0.0125 * (double)(lanes * (int64_t)sizeof(real));
  const double loads = (double)divideUp(planes, THNN_(simd).shifts.tilePlanes) +
                       (double)planes / THNN_(simd).shifts.tileTaps;
  const double perRow = 0.1 * (double)planes + perLoad * loads;
  const double blocks = (double)divideUp(seen->inputPlanes, bands->planes);
  const double perVector = perRow * (double)frameRows(seen) + (0.9 + 1.5 * blocks) * (double)planes;
  return vectors * perVector * (bands->flat ? 1.25 : 1) + streamingCost(seen, bands) +
         THNN_(lineFrames_cost)(seen, bands) + 2.5 * weightElements(seen);
}

static THNNConvolutionBands flatBands(const THNNConvolution *seen)
{
  const int64_t planes =
      minimum(seen->inputPlanes, seen->outputPlanes <= FEW_RESULTS ? FEW_STREAMS : MOST_STREAMS);
  const int64_t positions = FLAT_BYTES / (maximum(planes, 1) * (int64_t)sizeof(real));
  return THNN_(lineFrames_flatBands)(
      seen, minimum(maximum(positions, LEAST_FLAT_POSITIONS), BAND_POSITIONS), planes);
}

bool THNN_(ConvolutionDirectLines_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const int64_t *stride = plan->geometry.stride;
  /* With a stride, neighbours in a line of the image do not see neighbours in the map. */
  if (plan->part == THNN_CONVOLUTION_BACKWARD_DATA &&
      (stride[0] > 1 || stride[1] > 1 || stride[2] > 1))
    return false;
  const THNNConvolution seen = seenForward(plan);
  const int64_t limitBytes = (int64_t)THNN_State_workspaceLimit(state);
  const int64_t rows = frameRows(&seen), planes = wholePlanes(&seen);
  const THNNConvolutionBands bands =
      THNN_(lineFrames_areFlat)(&seen)
          ? flatBands(&seen)
          : THNN_(lineFrames_bands)(&seen, false, BAND_POSITIONS,
                                    divideUp(WORTHWHILE_TERMS, THNN_convolutionTaps(&seen)),
                                    FRAME_BYTES);
  const int64_t weightBytes = scratchBytes(planes * rows, sizeof(real));
  const int64_t frameBytes = scratchBytes(frameElements(&seen, &bands), sizeof(real));
  const int64_t threadBytes =
      frameBytes + scratchBytes(THNN_(lineFrames_vectors)(&seen, &bands), sizeof(THNNPosition));
  const int64_t sharedBytes = weightBytes + scratchBytes(planes, sizeof(real)) +
                              scratchBytes(blockRows(&seen, &bands), sizeof(int64_t));
  if (weightBytes > WEIGHT_BYTES || frameBytes > FRAME_BYTES ||
      sharedBytes + threadBytes > limitBytes)
    return false;
  plan->algorithm = THNN_CONVOLUTION_DIRECT;
  plan->variant = THNN_CONVOLUTION_LINES;
  plan->bands = bands;
  plan->cost = linesCost(&seen, &bands);
  plan->threads = THNN_threads(state, bands.count, convolutionOperations(&plan->geometry));
  plan->sharedBytes = (size_t)sharedBytes;
  plan->threadBytes = (size_t)threadBytes;
  plan->scratchBytes = plan->sharedBytes + plan->threadBytes * (size_t)plan->threads;
  return true;
}

/* Number of source planes of the block that begins with `first`. */
static int64_t blockPlanes(const THNNConvolutionPlan *plan, const THNNConvolution *seen,
                           int64_t first)
{
  return minimum(plan->bands.planes, seen->inputPlanes - first);
}

/* Packs the weights of the block of source planes that begins with `first`, as
 * [group of planes][source plane and tap][plane of group], with zeros for missing planes. */
static void packBlock(const THNNConvolutionPlan *plan, const THNNConvolution *seen, int64_t first,
                      const real *weight, real *factors)
{
  const bool forward = plan->part == THNN_CONVOLUTION_FORWARD;
  const int64_t taps = THNN_convolutionTaps(seen), group = THNN_(simd).shifts.tilePlanes;
  const int64_t end = first + blockPlanes(plan, seen, first), rows = (end - first) * taps;
  for (int64_t plane = 0; plane < wholePlanes(seen); plane++) {
    real *factor = factors + plane / group * group * rows + plane % group;
    for (int64_t source = first; source < end; source++)
      for (int64_t tap = 0; tap < taps; tap++, factor += group)
        if (plane >= seen->outputPlanes)
          *factor = 0;
        else if (forward)
          *factor = weight[(plane * seen->inputPlanes + source) * taps + tap];
        else
          *factor = weight[(source * seen->outputPlanes + plane) * taps + taps - 1 - tap];
  }
}

/* The offset of the factors of the block that begins with `first`. */
static int64_t blockFactors(const THNNConvolution *seen, int64_t first)
{
  return wholePlanes(seen) * first * THNN_convolutionTaps(seen);
}

/* Adds a block of source planes to a flat band. The partial vector at its end reads a copy, filled
 * up with zeros: denormal numbers left in the scratch would make it ten times as slow. */
static void addFlat(const Worker *worker, int64_t first, THNN_(LineSums) sums)
{
  const THNN_(Vectors) all = sums.vectors;
  const int64_t positions = THNN_convolutionImagePositions(&worker->geometry);
  sums.x = worker->source + first * positions;
  sums.vectors.parts = 0;
  THNN_(simd).shifts.sumLines(&sums);
  if (all.parts == 0)
    return;
  const THNNPosition *part = &all.at[all.whole];
  const THNNPosition copied = {0, part->y};
  int64_t offset[MOST_STREAMS];
  for (int64_t plane = 0; plane < sums.taps; plane++) {
    offset[plane] = plane * THNN_(simd).shifts.lanes;
    THNN_(simd).pointwise.copy(all.lanes, sums.x + part->x + plane * positions,
                               worker->frames + offset[plane]);
    THNN_(simd).pointwise.fill(THNN_(simd).shifts.lanes - all.lanes, 0,
                               worker->frames + offset[plane] + all.lanes);
  }
  sums.vectors = (THNN_(Vectors)){.at = &copied, .parts = 1, .lanes = all.lanes};
  sums.offsets = offset;
  sums.x = worker->frames;
  sums.streams = false;
  THNN_(simd).shifts.sumLines(&sums);
}

static void addBand(const Worker *worker, int64_t index)
{
  const THNNConvolution *seen = &worker->geometry;
  const THNNConvolutionBands *bands = &worker->plan->bands;
  const THNNBand band = THNN_(lineFrames_band)(seen, bands, index);
  THNN_(LineSums)
  sums = {.vectors = THNN_(lineFrames_list)(seen, bands, &band, worker->at),
          .offsets = worker->offset,
          .planes = seen->outputPlanes,
          .yPlane = THNN_convolutionMapPositions(seen),
          .start = worker->start,
          .x = worker->frames,
          .streams = bands->flat,
          .y = worker->result};
  for (int64_t first = 0; first < seen->inputPlanes; first += bands->planes) {
    sums.taps = blockPlanes(worker->plan, seen, first) * THNN_convolutionTaps(seen);
    sums.factors = worker->factors + blockFactors(seen, first);
    if (bands->flat) {
      addFlat(worker, first, sums);
    } else {
      THNN_(lineFrames_fill)(seen, bands, &band, first, worker->source, worker->frames);
      THNN_(simd).shifts.sumLines(&sums);
    }
    sums.start = NULL;
  }
}

void THNN_(ConvolutionDirectLines_run)(const THNNConvolutionPlan *plan, const real *source,
                                       const real *weight, const real *bias, real *result,
                                       void *scratch)
{
  const THNNConvolution seen = seenForward(plan);
  const int64_t planes = wholePlanes(&seen);
  char *shared = scratch;
  real *factors = takeScratch(&shared, planes * frameRows(&seen), sizeof(real));
  real *start = takeScratch(&shared, planes, sizeof(real));
  int64_t *offset = takeScratch(&shared, blockRows(&seen, &plan->bands), sizeof(int64_t));
  for (int64_t first = 0; first < seen.inputPlanes; first += plan->bands.planes)
    packBlock(plan, &seen, first, weight, factors + blockFactors(&seen, first));
  THNN_(simd).pointwise.fill(planes, 0, start);
  if (bias)
    THNN_(simd).pointwise.copy(seen.outputPlanes, bias, start);
  THNN_(lineFrames_offsets)(&seen, &plan->bands, offset);
  const Worker common = {.plan = plan,
                         .geometry = seen,
                         .source = source,
                         .result = result,
                         .offset = offset,
                         .factors = factors,
                         .start = start};
  const int threads = plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Worker worker = common;
    char *own = threadScratch(plan, scratch);
    worker.frames = takeScratch(&own, frameElements(&seen, &plan->bands), sizeof(real));
    worker.at =
        takeScratch(&own, THNN_(lineFrames_vectors)(&seen, &plan->bands), sizeof(THNNPosition));
#pragma omp for schedule(static)
    for (int64_t band = 0; band < plan->bands.count; band++)
      addBand(&worker, band);
  }
}
