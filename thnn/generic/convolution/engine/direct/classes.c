/* Lists the positions of a box by class: those of a class share one list of terms. */
#include "generic/convolution/engine/direct/direct.h"

THNNConvolutionRun THNN_(direct_clipRun)(const THNNConvolutionRun *run, int64_t first, int64_t end)
{
  const int64_t skipped =
      first > run->first ? minimum(divideUp(first - run->first, run->step), run->positions) : 0;
  THNNConvolutionRun clipped = *run;
  clipped.first += skipped * run->step;
  clipped.image += skipped * run->imageStep;
  clipped.positions -= skipped;
  const int64_t left = end > clipped.first ? divideUp(end - clipped.first, run->step) : 0;
  clipped.positions = minimum(clipped.positions, left);
  return clipped;
}

/* Gets class number `index` as runs that are clipped to the box. */
static void classRuns(const DirectWorker *worker, const THNNConvolutionBox *box, int64_t index,
                      THNNConvolutionRun *run)
{
  const int64_t *runs = worker->plan.runs;
  for (int i = 2; i >= 0; i--) {
    run[i] = THNN_(direct_clipRun)(&worker->runs[i][index % runs[i]], box->first[THNN_DEPTH + i],
                                   box->end[THNN_DEPTH + i]);
    index /= runs[i];
  }
}

/* Lists the positions of a class as offsets from the box's first sample. Along the width they are
 * evenly spaced, in the image as well as in the sums. */
static void listPositions(const DirectWorker *worker, const Panel *panel,
                          const THNNConvolutionBox *box, const THNNConvolutionRun *run,
                          THNNOffsets *position)
{
  const int64_t *size = worker->g.input;
  const int64_t element = worker->elementStep;
  const THNNOffsets step = {run[2].imageStep * element, run[2].step * panel->lanes};
  const int64_t sampleStep = THNN_convolutionImageSample(&worker->g);
  for (int64_t n = 0; n < boxSize(box, THNN_SAMPLE); n++)
    for (int64_t z = 0; z < run[0].positions; z++)
      for (int64_t y = 0; y < run[1].positions; y++) {
        const int64_t imageZ = run[0].image + z * run[0].imageStep;
        const int64_t imageY = run[1].image + y * run[1].imageStep;
        const int64_t sumZ = run[0].first + z * run[0].step - box->first[THNN_DEPTH];
        const int64_t sumY = run[1].first + y * run[1].step - box->first[THNN_HEIGHT];
        const int64_t sumLine =
            (n * boxSize(box, THNN_DEPTH) + sumZ) * boxSize(box, THNN_HEIGHT) + sumY;
        const int64_t sum =
            sumLine * boxSize(box, THNN_WIDTH) + run[2].first - box->first[THNN_WIDTH];
        const int64_t line = (imageZ * size[1] + imageY) * size[2];
        const THNNOffsets first = {n * sampleStep + (line + run[2].image) * element,
                                   sum * panel->lanes};
        listOffsets(run[2].positions, first, step, position);
        position += run[2].positions;
      }
}

/* Lists the terms of a class for one group of image planes: plane slowest, then taps. */
static void listTerms(const DirectWorker *worker, const Panel *panel, const THNNConvolutionRun *run,
                      THNNOffsets *term)
{
  const int64_t *size = worker->g.input, *kernel = worker->g.kernel;
  const int64_t element = worker->elementStep;
  const THNNOffsets step = {run[2].tapImageStep * element, run[2].tapStep * panel->lanes};
  int64_t count = 0;
  for (int64_t z = 0; z < run[0].taps; z++)
    for (int64_t y = 0; y < run[1].taps; y++) {
      const int64_t tapZ = run[0].firstTap + z * run[0].tapStep;
      const int64_t tapY = run[1].firstTap + y * run[1].tapStep;
      const int64_t tap = (tapZ * kernel[1] + tapY) * kernel[2] + run[2].firstTap;
      const int64_t line = z * run[0].tapImageStep * size[1] + y * run[1].tapImageStep;
      const THNNOffsets first = {line * size[2] * element, tap * panel->lanes};
      listOffsets(run[2].taps, first, step, term + count);
      count += run[2].taps;
    }
  const int64_t planes = worker->plan.groupPlanes;
  const THNNOffsets nextPlane = {worker->planeStep, worker->taps * panel->lanes};
  if (count == 1)
    listOffsets(planes, *term, nextPlane, term);
  for (int64_t plane = 1; plane < planes && count > 1; plane++) {
    const THNNOffsets by = {plane * nextPlane.scalar, plane * nextPlane.vector};
    moveOffsets(count, term, by, term + plane * count);
  }
}

/* Whether all classes are still listed, from a box of the same place and size in other samples. */
static bool isListed(const DirectWorker *worker, const Panel *panel, const THNNConvolutionBox *box)
{
  const THNNConvolutionBox *last = &worker->listedBox;
  bool same = worker->listedLanes == panel->lanes &&
              boxSize(box, THNN_SAMPLE) == boxSize(last, THNN_SAMPLE);
  for (int i = THNN_DEPTH; i < THNN_BOX_DIMENSIONS; i++)
    same = same && box->first[i] == last->first[i] && box->end[i] == last->end[i];
  return same;
}

/* A run with its taps in the order of their image elements. */
static THNNConvolutionRun ascendingTaps(THNNConvolutionRun run)
{
  if (run.tapImageStep < 0 && run.taps > 1) {
    run.firstTap += (run.taps - 1) * run.tapStep;
    run.image += (run.taps - 1) * run.tapImageStep;
    run.tapStep = -run.tapStep;
    run.tapImageStep = -run.tapImageStep;
  }
  return run;
}

/* How far apart the weights of listed terms are, or 0 if that differs, as it does where a class sees
 * only some of the taps. */
static int64_t vectorStep(const THNNOffsets *term, int64_t terms)
{
  if (terms < 2)
    return 0;
  const int64_t step = term[1].vector - term[0].vector;
  for (int64_t i = 2; i < terms; i++)
    if (term[i].vector - term[i - 1].vector != step)
      return 0;
  return step;
}

/* Lists a class that is taken in lines, as one class for each set of interleaved lines. Reduces the
 * run along the lines to one tap and one result. Returns the end of the listed positions. */
static THNNOffsets *listLines(DirectWorker *worker, const Panel *panel,
                              const THNNConvolutionBox *box, THNNConvolutionRun *run,
                              THNNOffsets *position, THNNOffsets *term)
{
  const int along = worker->plan.along;
  const int64_t *size = worker->g.input, *kernel = worker->g.kernel;
  int64_t imageStep = worker->elementStep, tapStep = panel->lanes, sumStep = panel->lanes;
  for (int i = 2; i > along; i--) {
    imageStep *= size[i];
    tapStep *= kernel[i];
    sumStep *= boxSize(box, THNN_DEPTH + i);
  }
  run[along] = ascendingTaps(run[along]);
  const THNNConvolutionRun whole = run[along];
  const Line line = THNN_(direct_lineAlong)(&whole);
  const int64_t sublines = minimum(line.spacing / whole.imageStep, whole.positions);
  run[along].taps = 1;
  run[along].positions = 1;
  listTerms(worker, panel, run, term);
  const int64_t taps = run[0].taps * run[1].taps * run[2].taps;
  const int64_t step = vectorStep(term, taps * worker->plan.groupPlanes);
  for (int64_t i = 0; i < sublines; i++) {
    run[along].first = whole.first + i * whole.step;
    run[along].image = whole.image + i * whole.imageStep;
    Class *class = &worker->class[worker->classes++];
    *class = (Class){.position = position,
                     .positions = boxSize(box, THNN_SAMPLE) * run[0].positions * run[1].positions *
                                  run[2].positions,
                     .term = term,
                     .taps = taps,
                     .vectorStep = step,
                     .line = line};
    class->line.positions = divideUp(whole.positions - i, sublines);
    class->line.first += i * whole.imageStep;
    class->line.size = size[along];
    class->line.element = imageStep;
    class->line.tapFactor = whole.tapStep * tapStep;
    class->line.positionSum = sublines * whole.step * sumStep;
    listPositions(worker, panel, box, run, position);
    position += class->positions;
  }
  return position;
}

/* Lists a class position by position. Returns the end of the listed positions. */
static THNNOffsets *listSingly(DirectWorker *worker, const Panel *panel,
                               const THNNConvolutionBox *box, THNNConvolutionRun *run,
                               THNNOffsets *position, THNNOffsets *term)
{
  Class *class = &worker->class[worker->classes++];
  *class = (Class){.position = position,
                   .positions = boxSize(box, THNN_SAMPLE) * run[0].positions * run[1].positions *
                                run[2].positions,
                   .term = term,
                   .taps = run[0].taps * run[1].taps * run[2].taps,
                   .line = {.positions = 1}};
  listPositions(worker, panel, box, run, position);
  listTerms(worker, panel, run, term);
  class->vectorStep = vectorStep(term, class->taps * worker->plan.groupPlanes);
  return position + class->positions;
}

int64_t THNN_(direct_listClasses)(DirectWorker *worker, const Panel *panel,
                                  const THNNConvolutionBox *box, int64_t index)
{
  const DirectPlan *plan = &worker->plan;
  const int64_t all = plan->runs[0] * plan->runs[1] * plan->runs[2], first = index;
  THNNOffsets *position = worker->position, *term = worker->term;
  if (isListed(worker, panel, box))
    return all;
  worker->classes = 0;
  for (; index < all && worker->classes + MOST_SUBLINES <= LISTED_CLASSES; index++) {
    THNNConvolutionRun run[3];
    classRuns(worker, box, index, run);
    const int64_t taps = run[0].taps * run[1].taps * run[2].taps;
    if (run[0].positions * run[1].positions * run[2].positions == 0)
      continue;
    if (term + plan->groupPlanes * taps > worker->term + plan->listedTerms)
      break;
    if (plan->along >= 0 && run[plan->along].taps > 0)
      position = listLines(worker, panel, box, run, position, term);
    else
      position = listSingly(worker, panel, box, run, position, term);
    term += plan->groupPlanes * worker->class[worker->classes - 1].taps;
  }
  worker->listedLanes = first == 0 && index == all ? panel->lanes : 0;
  worker->listedBox = *box;
  return index;
}
