/* Matrix products for a linear layer: one map position that sees the whole image, as in the last
 * layers of many networks. With n samples, m map planes and k image elements
 *   forward         map (n x m)        = bias + image (n x k) * weight^T (k x m)
 *   transposed      map (n x k)        = bias + image (n x m) * weight (m x k)
 *   weight          weight (m x k)    += scale * map^T (m x n) * image (n x k)
 * The products choose their blocks and threads themselves. */
#include "generic/convolution/engine/algorithm.h"
#include "generic/shared/matrix.h"

/* Sizes of the products. */
typedef struct Sizes {
  int64_t batch, planes, rows;
  int64_t imageStep, mapStep; /* elements from one sample to the next */
} Sizes;

static Sizes sizesOf(const THNNConvolution *g)
{
  return (Sizes){.batch = g->batch,
                 .planes = g->transposed ? g->inputPlanes : g->outputPlanes,
                 .rows =
                     (g->transposed ? g->outputPlanes : g->inputPlanes) * THNN_convolutionTaps(g),
                 .imageStep = THNN_convolutionImageSample(g),
                 .mapStep = THNN_convolutionMapSample(g)};
}

bool THNN_(linear_planConvolution)(AlgorithmPlan *plan)
{
  const Sizes s = sizesOf(&plan->geometry);
  const THNNRoom room =
      plan->part == THNN_CONVOLUTION_FORWARD
          ? THNN_(matrix_room)(plan->state, s.planes, s.batch, s.rows, true, false)
      : plan->part == THNN_CONVOLUTION_BACKWARD_DATA
          ? THNN_(matrix_room)(plan->state, s.rows, s.batch, s.planes, false, false)
          : THNN_(matrix_room)(plan->state, s.rows, s.planes, s.batch, false, true);
  const double elements = THNN_convolutionWeights(&plan->geometry);
  const double counts[LINEAR_COSTS] = {
      [LINEAR_PRODUCT] = (double)s.batch * elements / (double)vectorLanes(),
      [LINEAR_WEIGHT] = elements,
      [LINEAR_RESULT] = plan->part == THNN_CONVOLUTION_FORWARD ? (double)(s.batch * s.planes)
                        : plan->part == THNN_CONVOLUTION_BACKWARD_DATA ? (double)(s.batch * s.rows)
                                                                       : elements};
  setCost(plan, LINEAR_COSTS, costsInUse()->linear, counts);
  plan->threads = room.threads;
  plan->threadBytes = room.bytes;
  plan->adds = true;
  return true;
}

static void runForward(const AlgorithmPlan *plan, const Sizes *s, const Operands *of, THNNRoom room)
{
  const Matrix w = {of->weight, s->rows, true}, x = {of->image, s->imageStep, false};
  if (of->finish.adds)
    THNN_(matrix_multiplyInto)(plan->state, s->planes, s->batch, s->rows, 1, w, x, 1, of->map,
                               s->mapStep, room);
  else
    THNN_(matrix_affine)(plan->state, s->batch, s->planes, s->rows, of->image, s->imageStep,
                         of->weight, of->bias, of->map, s->mapStep, room);
}

static void runTransposed(const AlgorithmPlan *plan, const Sizes *s, const Operands *of,
                          THNNRoom room)
{
  const int64_t planes = plan->geometry.outputPlanes, taps = THNN_convolutionTaps(&plan->geometry);
  if (of->bias)
    for (int64_t i = 0; i < s->batch * planes; i++)
      THNN_(simd).pointwise.fill(taps, of->bias[i % planes],
                                 of->map + i / planes * s->mapStep + i % planes * taps);
  const Matrix w = {of->weight, s->rows, false}, x = {of->image, s->imageStep, false};
  THNN_(matrix_multiplyInto)(plan->state, s->rows, s->batch, s->planes, 1, w, x,
                             of->bias || of->finish.adds ? 1 : 0, of->map, s->mapStep, room);
}

static void runWeight(const AlgorithmPlan *plan, const Sizes *s, const Operands *of, THNNRoom room)
{
  const Matrix x = {of->image, s->imageStep, false}, g = {of->gradMap, s->mapStep, true};
  THNN_(matrix_multiply)(plan->state, s->rows, s->planes, s->batch, (real)of->scale, x, g, 1,
                         of->gradWeight, room);
  if (of->gradBias)
    THNN_(matrix_addRowSum)(plan->state, s->batch, s->planes, (real)of->scale, of->gradMap,
                            s->mapStep, of->gradBias);
}

bool THNN_(linear_runConvolution)(const AlgorithmPlan *plan, const Operands *of, void *scratch)
{
  const Sizes s = sizesOf(&plan->geometry);
  const THNNRoom room = {plan->threads, plan->threadBytes, scratch};
  if (plan->part == THNN_CONVOLUTION_FORWARD)
    runForward(plan, &s, of, room);
  else if (plan->part == THNN_CONVOLUTION_BACKWARD_DATA)
    runTransposed(plan, &s, of, room);
  else
    runWeight(plan, &s, of, room);
  return true;
}
