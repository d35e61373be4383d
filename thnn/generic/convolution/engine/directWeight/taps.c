/* The weight gradient's groups of taps, through which the same positions see inside the image, and
 * the lists of their rows and terms. */
#include "generic/convolution/engine/directWeight/directWeight.h"

/* As roundUp(); all taps of a long kernel are clipped for each box and panel, and a division takes longer
 * than the rest of that. */
static int64_t roundUpToSpread(int64_t n, int64_t spread)
{
  return spread == 1 ? n : roundUp(n, spread);
}

THNNConvolutionTap THNN_(directWeight_clip)(const THNNConvolutionTap *tap,
                                            const THNNConvolutionBox *box, int dimension,
                                            int64_t spread)
{
  const int64_t first = box->first[THNN_DEPTH + dimension];
  const int64_t end = minimum(tap->end, box->end[THNN_DEPTH + dimension]);
  THNNConvolutionTap clipped = *tap;
  clipped.begin += roundUpToSpread(maximum(first - tap->begin, 0), spread);
  clipped.end = clipped.begin + roundUpToSpread(maximum(end - clipped.begin, 0), spread);
  return clipped;
}

TapGroup THNN_(directWeight_tapGroup)(const WeightWorker *worker, const THNNConvolutionBox *box,
                                      int dimension, int64_t first)
{
  const THNNConvolutionTap *taps = worker->tap[dimension];
  const int64_t kernel = geometryOf(worker)->kernel[dimension];
  const int64_t spread = worker->sides->correlation.spread[dimension];
  const int64_t step = worker->tapStep[dimension];
  TapGroup group = {first, first + step, step,
                    THNN_(directWeight_clip)(&taps[first], box, dimension, spread)};
  for (; group.end < kernel; group.end += step) {
    const THNNConvolutionTap next =
        THNN_(directWeight_clip)(&taps[group.end], box, dimension, spread);
    if (next.begin != group.range.begin || next.end != group.range.end)
      break;
  }
  return group;
}

int64_t THNN_(directWeight_nextGroup)(const TapGroup *group, int64_t kernel)
{
  if (group->end < kernel)
    return group->end;
  const int64_t residue = group->first % group->step + 1;
  return residue < group->step ? residue : kernel;
}

/* Writes the image planes of the block with each tap of the groups that belongs to the block: their
 * offsets in the image, from the groups' first taps, and in the sums. Returns their number. */
static int64_t writeRows(const WeightWorker *worker, const Meeting *meeting, THNNOffsets *row)
{
  const THNNConvolution *geometry = geometryOf(worker);
  const int64_t *kernel = geometry->kernel, *dilation = geometry->dilation;
  const int64_t *spread = worker->sides->correlation.spread;
  const Block *block = &meeting->task->block;
  const int64_t planes = block->planeEnd - block->planeFirst, lanes = meeting->task->panel.lanes;
  const TapGroup *z = &meeting->group[0], *y = &meeting->group[1], *x = &meeting->group[2];
  const int64_t apart = x->step * dilation[2] / spread[2];
  int64_t count = 0;
  for (int64_t tapZ = z->first; tapZ < z->end; tapZ += z->step)
    for (int64_t tapY = y->first; tapY < y->end; tapY += y->step) {
      const int64_t slice = (tapZ - z->first) * dilation[0] / spread[0];
      const int64_t line = (tapY - y->first) * dilation[1] / spread[1];
      int64_t element = (slice * meeting->size[1] + line) * meeting->size[2];
      for (int64_t tapX = x->first; tapX < x->end; tapX += x->step, element += apart) {
        const int64_t tap = (tapZ * kernel[1] + tapY) * kernel[2] + tapX;
        if (tap >= block->tapFirst && tap < block->tapEnd)
          row[count++] = (THNNOffsets){element, (tap - block->tapFirst) * lanes};
      }
    }
  const int64_t blockTaps = block->tapEnd - block->tapFirst;
  for (int64_t plane = 1; plane < planes; plane++) {
    const THNNOffsets by = {plane * meeting->planeElements, plane * blockTaps * lanes};
    moveOffsets(count, row, by, row + plane * count);
  }
  return planes * count;
}

/* Lists the rows, after those of the box's earlier groups. Keeps the previous box's list if it is
 * the same, which it is with one group, or if boxes are whole samples. */
const Rows *THNN_(directWeight_listRows)(WeightWorker *worker, Meeting *meeting)
{
  const int64_t place = meeting->listed++;
  Rows *kept = &worker->kept[minimum(place, KEPT_ROWS)];
  struct RowsOf of = {.block = meeting->task->block,
                      .lanes = meeting->task->panel.lanes,
                      .first = place ? kept[-1].of.first + kept[-1].count : 0};
  for (int i = 0; i < 3; i++) {
    of.firstTap[i] = meeting->group[i].first;
    of.endTap[i] = meeting->group[i].end;
  }
  if (memcmp(&kept->of, &of, sizeof of) == 0)
    return kept;
  /* The next list has to be built anew, since these rows can overwrite its rows. */
  if (place < KEPT_ROWS)
    kept[1].of.lanes = 0;
  kept->of = of;
  kept->count = writeRows(worker, meeting, worker->row + of.first);
  return kept;
}

/* Lists the positions of the box that see inside the image through the groups' taps. Returns their
 * number. From one of them to the next, the image index grows by the stride. */
int64_t THNN_(directWeight_listTerms)(const WeightWorker *worker, const Meeting *meeting)
{
  const THNNCorrelation *correlation = &worker->sides->correlation;
  const int64_t *stride = correlation->geometry.stride, *spread = correlation->spread;
  const THNNConvolutionBox *box = meeting->box;
  const THNNConvolutionTap *z = &meeting->group[0].range, *y = &meeting->group[1].range;
  const THNNConvolutionTap *x = &meeting->group[2].range;
  const int64_t lanes = meeting->task->panel.lanes, *size = meeting->size;
  const int64_t height = box->end[THNN_HEIGHT] - box->first[THNN_HEIGHT];
  const int64_t width = box->end[THNN_WIDTH] - box->first[THNN_WIDTH];
  const int64_t samplePositions = (box->end[THNN_DEPTH] - box->first[THNN_DEPTH]) * height * width;
  const int64_t positions = (x->end - x->begin) / spread[2];
  const THNNOffsets step = {stride[2], spread[2] * lanes};
  int64_t first[3];
  for (int i = 0; i < 3; i++) {
    const THNNConvolutionTap *range = &meeting->group[i].range;
    first[i] =
        THNN_correlationIndex(correlation, i, range->begin, range->start) - meeting->first[i];
  }
  int64_t count = 0;
  for (int64_t n = 0; n < box->end[THNN_SAMPLE] - box->first[THNN_SAMPLE]; n++) {
    int64_t slice = first[0];
    for (int64_t mapZ = z->begin; mapZ < z->end; mapZ += spread[0], slice += stride[0]) {
      int64_t line = slice * size[1] + first[1];
      for (int64_t mapY = y->begin; mapY < y->end; mapY += spread[1], line += stride[1]) {
        const int64_t mapLine =
            (mapZ - box->first[THNN_DEPTH]) * height + mapY - box->first[THNN_HEIGHT];
        const int64_t position =
            n * samplePositions + mapLine * width + x->begin - box->first[THNN_WIDTH];
        const THNNOffsets begin = {n * meeting->sampleElements + line * size[2] + first[2],
                                   position * lanes};
        listOffsets(positions, begin, step, worker->term + count);
        count += positions;
      }
    }
  }
  return count;
}

void THNN_(directWeight_addGroups)(WeightWorker *worker, Meeting *meeting)
{
  const Panel *panel = &meeting->task->panel;
  const Rows *rows = THNN_(directWeight_listRows)(worker, meeting);
  if (!rows->count)
    return;
  const bool pointwise = THNN_correlationIsPointwise(&worker->sides->correlation);
  const Products products = {.row = worker->row + rows->of.first,
                             .rows = rows->count,
                             .term = worker->term,
                             .terms = THNN_(directWeight_listTerms)(worker, meeting),
                             .vectors = panel->vectors,
                             .scalars = meeting->scalars,
                             .factors = meeting->factors,
                             .streams = pointwise ? meeting->planeElements : 0,
                             .sums = worker->sums};
  if (products.terms)
    panel->loops->add(&products);
}

void THNN_(directWeight_addTaps)(WeightWorker *worker, Meeting *meeting)
{
  const int64_t kernel = geometryOf(worker)->kernel[2];
  TapGroup *group = &meeting->group[2];
  for (int64_t first = 0; first < kernel; first = THNN_(directWeight_nextGroup)(group, kernel)) {
    *group = THNN_(directWeight_tapGroup)(worker, meeting->box, 2, first);
    THNN_(directWeight_addGroups)(worker, meeting);
  }
}
