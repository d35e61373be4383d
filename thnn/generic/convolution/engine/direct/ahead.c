/* Prefetches what a task reads and writes while another one is computed. */
#include "generic/convolution/engine/direct/direct.h"

/* Positions that are computed between two turns of prefetching the next group's image. */
static const int64_t SLICE_POSITIONS = 24;

/* Begins with the first place, and shares the places out over `turns` turns. */
static void startAhead(Ahead *ahead, int64_t turns)
{
  const int64_t places = ahead->count[0] * ahead->count[1] * ahead->count[2];
  ahead->next = 0;
  ahead->perTurn = divideUp(places, maximum(turns, 1));
}

void THNN_(direct_fetchAhead)(Ahead *ahead)
{
  const int64_t *count = ahead->count, *stride = ahead->stride;
  const int64_t places = count[0] * count[1] * count[2];
  const int64_t end = minimum(ahead->next + ahead->perTurn, places);
  for (; ahead->next < end; ahead->next++) {
    const int64_t inner = ahead->next % count[2], rest = ahead->next / count[2];
    THNN_(simd).products.prefetch(ahead->length, ahead->first + inner * stride[2] +
                                                     rest % count[1] * stride[1] +
                                                     rest / count[1] * stride[0]);
  }
}

/* The image indices [first, end) that a box reads along one dimension. Lines can reach past the
 * image; indices outside are left out. */
static void windowOf(const DirectWorker *worker, const THNNConvolutionBox *box, int dimension,
                     int64_t *first, int64_t *end)
{
  *first = worker->g.input[dimension];
  *end = 0;
  for (int64_t i = 0; i < worker->plan.runs[dimension]; i++) {
    const THNNConvolutionRun run =
        THNN_(direct_clipRun)(&worker->runs[dimension][i], box->first[THNN_DEPTH + dimension],
                              box->end[THNN_DEPTH + dimension]);
    if (run.positions == 0 || run.taps == 0)
      continue;
    const int64_t alongTaps = (run.taps - 1) * run.tapImageStep;
    const int64_t last = run.image + (run.positions - 1) * run.imageStep;
    *first = minimum(*first, minimum(run.image, run.image + alongTaps));
    *end = maximum(*end, maximum(last, last + alongTaps) + 1);
  }
  *first = maximum(*first, 0);
  *end = minimum(*end, worker->g.input[dimension]);
}

int64_t THNN_(direct_slicePositions)(const Class *class)
{
  return divideUp(SLICE_POSITIONS, class->line.positions);
}

/* Number of turns of prefetching while the listed classes are computed for one group. */
static int64_t sliceCount(const DirectWorker *worker)
{
  int64_t slices = 0;
  for (int64_t i = 0; i < worker->classes; i++)
    slices += divideUp(worker->class[i].positions, THNN_(direct_slicePositions)(&worker->class[i]));
  return slices;
}

/* With the planes last, a box reads few long pieces of memory, which the hardware prefetches: there
 * are no places then. The same goes for the map. */
Ahead THNN_(direct_imageOf)(const DirectWorker *worker, const THNNConvolutionBox *box)
{
  const int64_t *size = worker->g.input, positions = worker->imagePositions;
  int64_t first[3], end[3];
  for (int i = 0; i < 3; i++)
    windowOf(worker, box, i, &first[i], &end[i]);
  const int64_t sample = THNN_convolutionImageSample(&worker->g);
  const int64_t line = (first[0] * size[1] + first[1]) * size[2];
  return (Ahead){.first = worker->image + box->first[THNN_SAMPLE] * sample + line + first[2],
                 .length = (end[1] - 1 - first[1]) * size[2] + end[2] - first[2],
                 .count = {worker->g.imageLast ? 0 : boxSize(box, THNN_SAMPLE),
                           worker->plan.groupPlanes, maximum(end[0] - first[0], 0)},
                 .stride = {sample, positions, size[1] * size[2]}};
}

void THNN_(direct_aimAtImage)(DirectWorker *worker, const Ahead *image, int64_t plane)
{
  worker->aheadImage = *image;
  worker->aheadImage.first += plane * worker->imagePositions;
  worker->aheadImage.count[1] = minimum(image->count[1], worker->g.inputPlanes - plane);
  startAhead(&worker->aheadImage, sliceCount(worker));
}

void THNN_(direct_aimAtMap)(DirectWorker *worker, const Panel *panel, const THNNConvolutionBox *box)
{
  const THNNConvolutionBoxes *boxes = &worker->plan.boxes;
  const int64_t positions = worker->mapPositions, sample = THNN_convolutionMapSample(&worker->g);
  worker->aheadMap =
      (Ahead){.first = worker->map + box->first[THNN_SAMPLE] * sample + panel->first * positions +
                       THNN_convolutionStretch(boxes, box, 0),
              .length = box->stretch,
              .count = {worker->g.mapLast ? 0 : boxSize(box, THNN_SAMPLE), panel->planes,
                        box->stretches == 1},
              .stride = {sample, positions, 0}};
  startAhead(&worker->aheadMap, sliceCount(worker));
}

void THNN_(direct_aimAtWeights)(DirectWorker *worker, const Panel *panel, const real *end)
{
  const int64_t group = worker->plan.groupPlanes * worker->taps * panel->lanes;
  const int64_t left = THNN_(direct_packedElements)(worker) - (end - worker->kept);
  worker->laterWeights = end;
  worker->laterElements = minimum(group, left);
  worker->listedPositions = 0;
  for (int64_t i = 0; i < worker->classes; i++)
    worker->listedPositions += worker->class[i].positions * worker->class[i].line.positions;
}

THNNRanges THNN_(direct_shareOfWeights)(const DirectWorker *worker, int64_t done, int64_t count)
{
  if (worker->laterElements == 0)
    return (THNNRanges){.count = 0};
  const int64_t line = THNN_LINE_BYTES / (int64_t)sizeof(real), all = worker->listedPositions;
  const int64_t lines = divideUp(worker->laterElements, line);
  const int64_t first = lines * done / all, end = lines * (done + count) / all;
  return (THNNRanges){.first = worker->laterWeights + first * line,
                      .bytes = (end - first) * THNN_LINE_BYTES,
                      .count = end > first};
}
