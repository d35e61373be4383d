/* Direct convolution: each map position gathers what it sees of the image; also transposed.
 *
 * A map position is a sum over image planes and taps of an image element times a weight. A vector
 * holds neighbouring map planes at one position; the image element is one scalar for all of them,
 * read in place. So nothing is unfolded or padded: stride, dilation and transposition only change
 * which scalars are read, and positions near an edge have fewer terms. No product with padding is
 * formed.
 *
 * Along each dimension positions fall into runs that see the same taps (THNN_convolutionRuns); a
 * run per dimension makes a class of positions that share one list of terms.
 *
 * Where it is cheaper, positions are taken in lines along one dimension: then those at the edges
 * are in one class with the others, and the loops skip products with elements outside the image.
 * Neighbours in a line see the same image element through neighbouring taps. A panel of one vector
 * has one product for each scalar and would spend most of its time on loads; in lines it loads a
 * scalar once for several products.
 *
 * If a small map has about as many classes as positions, images can be copied with zeros around
 * them: then all positions see all taps, and share one list of terms. Of these zeros, weights that
 * are not finite make NaN.
 *
 * A task is a box of positions times a panel of planes. Its weights are packed as
 * [image plane][tap][lane]; its sums are kept as [position][lane], start from the bias and are
 * transposed into the map at the end. */
#include "generic/convolution/engine/direct/direct.h"

/* ---- One task -------------------------------------------------------------------------------- */

/* Packs the panel's weights for image planes [first, end). Lanes without a plane hold zeros. */
static void packWeights(DirectWorker *worker, const Panel *panel, int64_t first, int64_t end)
{
  const THNNConvolution *g = &worker->g;
  const int64_t taps = worker->taps;
  if (!g->transposed) {
    const int64_t stride = g->inputPlanes * taps;
    panel->loops->pack(panel->planes, (end - first) * taps,
                       worker->weight + panel->first * stride + first * taps, stride,
                       worker->weights, panel->lanes);
    return;
  }
  for (int64_t plane = first; plane < end; plane++)
    panel->loops->pack(panel->planes, taps,
                       worker->weight + (plane * g->outputPlanes + panel->first) * taps, taps,
                       worker->weights + (plane - first) * taps * panel->lanes, panel->lanes);
}

/* Sets what the sums of every position start from: the bias, or zero. */
static void listBias(DirectWorker *worker, const Panel *panel)
{
  THNN_(simd).pointwise.fill(panel->lanes, 0, worker->start);
  if (worker->bias)
    THNN_(simd).pointwise.copy(panel->planes, worker->bias + panel->first, worker->start);
}

/* Adds the terms of `planes` image planes to listed positions [first, end) of a class. `image`
 * and `weights` are those of the first of these planes; `ahead` is prefetched. */
static void addSingly(const DirectWorker *worker, const Panel *panel, const Class *class,
                      int64_t first, int64_t end, int64_t planes, const real *image,
                      const real *weights, const real *start, THNNRanges ahead)
{
  const Products products = {.row = class->position + first,
                             .rows = end - first,
                             .term = class->term,
                             .terms = planes * class->taps,
                             .vectorStep = class->vectorStep,
                             .vectors = panel->vectors,
                             .scalars = image,
                             .factors = weights,
                             .start = start,
                             .sums = worker->sums,
                             .ahead = ahead};
  panel->loops->add(&products);
}

/* Does the same for a class of lines. Each residue class of taps modulo `tapsApart` is a chain. */
static void addLines(const DirectWorker *worker, const Panel *panel, const Class *class,
                     int64_t first, int64_t end, int64_t planes, const real *image,
                     const real *weights, const real *start, THNNRanges ahead)
{
  const Line *line = &class->line;
  Chains chains = {.line = class->position + first,
                   .lines = end - first,
                   .positions = line->positions,
                   .chain = class->term,
                   .chains = planes * class->taps,
                   .vectorStep = class->vectorStep,
                   .vectors = panel->vectors,
                   .spacing = line->spacing * line->element,
                   .sumStep = line->positionSum,
                   .factorStep = line->tapsApart * line->tapFactor,
                   .start = start,
                   .sums = worker->sums,
                   .ahead = ahead};
  for (int64_t residue = 0; residue < minimum(line->tapsApart, line->taps); residue++) {
    const int64_t seen = line->first + residue * line->tapStep;
    chains.begin = seen < 0 ? divideUp(-seen, line->spacing) : 0;
    chains.end = seen < line->size ? divideUp(line->size - seen, line->spacing) : 0;
    chains.taps = divideUp(line->taps - residue, line->tapsApart);
    chains.scalars = image + residue * line->tapStep * line->element;
    chains.factors = weights + residue * line->tapFactor;
    panel->loops->chains->add(&chains);
    chains.start = NULL;
    chains.ahead.count = 0;
  }
}

/* Adds a group of image planes to all listed classes; `weights` are its packed weights. */
static void addGroup(DirectWorker *worker, const Panel *panel, const THNNConvolutionBox *box,
                     int64_t plane, int64_t planes, const real *weights)
{
  const real *image = worker->image +
                      box->first[THNN_SAMPLE] * THNN_convolutionImageSample(&worker->g) +
                      plane * worker->planeStep;
  const real *start = plane == 0 ? worker->start : NULL;
  int64_t before = 0; /* positions of the classes and slices that are done */
  for (const Class *class = worker->class; class < worker->class + worker->classes; class++)
    for (int64_t done = 0; done < class->positions; done += THNN_(direct_slicePositions)(class)) {
      const int64_t end = minimum(done + THNN_(direct_slicePositions)(class), class->positions);
      const int64_t count = (end - done) * class->line.positions;
      const THNNRanges ahead = THNN_(direct_shareOfWeights)(worker, before, count);
      before += count;
      THNN_(direct_fetchAhead)(&worker->aheadImage);
      THNN_(direct_fetchAhead)(&worker->aheadMap);
      if (class->line.spacing > 0)
        addLines(worker, panel, class, done, end, planes, image, weights, start, ahead);
      else
        addSingly(worker, panel, class, done, end, planes, image, weights, start, ahead);
    }
}

/* Adds image planes [first, end), whose weights are packed, to the sums of the box. `next` is the
 * box that follows, or NULL. */
static void addPlanes(DirectWorker *worker, const Panel *panel, const THNNConvolutionBox *box,
                      const THNNConvolutionBox *next, int64_t first, int64_t end)
{
  const DirectPlan *plan = &worker->plan;
  const int64_t classes = plan->runs[0] * plan->runs[1] * plan->runs[2];
  const int64_t group = plan->groupPlanes;
  const Ahead image = THNN_(direct_imageOf)(worker, box);
  const Ahead nextImage = next ? THNN_(direct_imageOf)(worker, next) : (Ahead){0};
  for (int64_t listed = 0; listed < classes;) {
    listed = THNN_(direct_listClasses)(worker, panel, box, listed);
    for (int64_t plane = first; plane < end; plane += group) {
      if (plane + group < worker->g.inputPlanes)
        THNN_(direct_aimAtImage)(worker, &image, plane + group);
      else
        THNN_(direct_aimAtImage)(worker, &nextImage, 0);
      if (plane + group >= worker->g.inputPlanes)
        THNN_(direct_aimAtMap)(worker, panel, box);
      const int64_t planes = minimum(group, end - plane), perPlane = worker->taps * panel->lanes;
      const real *weights = worker->weights + (plane - first) * perPlane;
      if (worker->fetchesWeights)
        THNN_(direct_aimAtWeights)(worker, panel, weights + planes * perPlane);
      addGroup(worker, panel, box, plane, planes, weights);
    }
  }
}

/* Runs one task. Tasks are ordered panel by panel, so that a thread packs the weights of few
 * panels. */
static void runTask(DirectWorker *worker, int64_t task, int64_t tasks, int threads)
{
  const DirectPlan *plan = &worker->plan;
  const int64_t boxes = THNN_convolutionBoxCount(&plan->boxes), index = task / boxes;
  const int64_t planes = worker->g.inputPlanes, block = plan->blockPlanes;
  const Panel panel = panelAt(worker->g.outputPlanes, index);
  const THNNConvolutionBox box = THNN_convolutionBox(&plan->boxes, task % boxes);
  /* A guess at this thread's next task, which would be right if threads took turns. */
  const int64_t nextTask = task + threads;
  const THNNConvolutionBox next = THNN_convolutionBox(&plan->boxes, nextTask % boxes);
  /* Kept weights are prefetched for a panel's first box only: later boxes find them in a near
   * cache. */
  worker->fetchesWeights = worker->kept && task % boxes == 0;
  worker->laterElements = 0;
  listBias(worker, &panel);
  for (int64_t first = 0; first < planes; first += block) {
    const int64_t end = minimum(first + block, planes);
    if (worker->kept)
      worker->weights = worker->kept + panel.first * planes * worker->taps;
    else if (worker->packed != index)
      packWeights(worker, &panel, first, end);
    worker->packed = block >= planes ? index : -1;
    addPlanes(worker, &panel, &box, nextTask < tasks ? &next : NULL, first, end);
  }
  const int64_t sample = THNN_convolutionMapSample(&worker->g);
  if (worker->g.mapLast)
    placeBox(&plan->boxes, &box, &panel, worker->g.outputPlanes, worker->sums, worker->finish,
             worker->map, sample);
  else
    storeBox(&plan->boxes, &box, &panel, worker->sums, worker->finish, worker->map, sample,
             worker->mapPositions);
}

/* The first task of share number `share` of `shares`. Panels differ by a vector: shares of equally many
 * tasks would take as long as the one with the widest. */
static int64_t shareBegin(const DirectWorker *worker, int64_t share, int64_t shares)
{
  const int64_t planes = worker->g.outputPlanes, panels = panelCount(planes);
  const int64_t boxes = THNN_convolutionBoxCount(&worker->plan.boxes);
  int64_t lanes = roundUp(planes, productsFor(planes)->lanes) * boxes * share / shares;
  for (int64_t index = 0; index < panels; index++) {
    const Panel panel = panelAt(planes, index);
    if (lanes < panel.lanes * boxes)
      return index * boxes + (lanes + panel.lanes / 2) / panel.lanes;
    lanes -= panel.lanes * boxes;
  }
  return panels * boxes;
}

/* Copies the images with zeros around them. All threads of the parallel region call this. */
static void surroundImages(const DirectWorker *worker, const THNNConvolution *geometry,
                           const real *image)
{
  const int64_t *size = geometry->input, *wide = worker->g.input;
  const int64_t planes = geometry->inputPlanes, sample = THNN_convolutionImageSample(geometry);
  const int64_t positions = THNN_convolutionImagePositions(geometry);
  int64_t before[3];
  for (int i = 0; i < 3; i++)
    before[i] = geometry->pad[i] - worker->g.pad[i];
#pragma omp for schedule(static)
  for (int64_t plane = 0; plane < geometry->batch * planes; plane++) {
    const real *from = image + plane / planes * sample + plane % planes * positions;
    real *to = worker->surrounded + plane * worker->imagePositions;
    THNN_(simd).pointwise.fill(worker->imagePositions, 0, to);
    for (int64_t z = 0; z < size[0]; z++)
      for (int64_t y = 0; y < size[1]; y++, from += size[2])
        THNN_(simd).pointwise.copy(
            size[2], from, to + ((z + before[0]) * wide[1] + y + before[1]) * wide[2] + before[2]);
  }
}

/* Lists the runs, which all threads share. */
static void listRuns(DirectWorker *worker)
{
  for (int i = 0; i < 3; i++)
    THNN_(direct_runs)(worker, i, worker->runs[i], worker->plan.runs[i]);
}

void THNN_(direct_keepWeights)(const AlgorithmPlan *plan, const real *weight, void *kept,
                               void *scratch)
{
  (void)scratch;
  DirectWorker worker = workerFor(&plan->geometry);
  worker.weight = weight;
  for (int64_t index = 0; index < panelCount(worker.g.outputPlanes); index++) {
    const Panel panel = panelAt(worker.g.outputPlanes, index);
    worker.weights = (real *)kept + panel.first * worker.g.inputPlanes * worker.taps;
    packWeights(&worker, &panel, 0, worker.g.inputPlanes);
  }
}

bool THNN_(direct_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  DirectPlan own;
  OWN_OF(plan, own);
  const THNNConvolution *given = &plan->geometry;
  const THNNConvolution geometry = own.surrounds ? surroundedGeometry(given) : *given;
  DirectWorker common = workerFor(&geometry);
  common.plan = own;
  common.weight = of->weight;
  common.bias = of->bias;
  common.map = of->map;
  common.finish = of->finish;
  if (common.plan.keepsWeights)
    common.kept = (real *)of->kept; /* only read */
  Scratch shared = {.base = scratch};
  THNN_(direct_layOutShared)(&common, &shared);
  common.image = own.surrounds ? common.surrounded : of->image;
  listRuns(&common);
  const int64_t tasks =
      THNN_convolutionBoxCount(&common.plan.boxes) * panelCount(common.g.outputPlanes);
  const int threads = plan->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    DirectWorker worker = common;
    Scratch scratchOfThread = threadScratch(plan, scratch);
    THNN_(direct_layOutThread)(&worker, &scratchOfThread);
    if (own.surrounds)
      surroundImages(&worker, given, of->image);
#pragma omp for schedule(static) nowait
    for (int share = 0; share < threads; share++) {
      const int64_t end = shareBegin(&worker, share + 1, threads);
      for (int64_t task = shareBegin(&worker, share, threads); task < end; task++)
        runTask(&worker, task, tasks, threads);
    }
  }
  return true;
}
