/* What the files of the convolution engine share. */
#ifndef THNN_GENERIC_CONVOLUTION_PARTS_H
#define THNN_GENERIC_CONVOLUTION_PARTS_H

#ifdef _OPENMP
#  include <omp.h>
#endif

#include "work/sizes.h"
#include "simd/simd.h"
#include "generic/convolution/engine/engine.h"

/* Number of blocks of work that keeps a handful of threads evenly busy. */
enum { ENOUGH_BLOCKS = 8 };

/* A matrix operand of more bytes than this is assumed not to stay in a near cache. */
enum { FAR_OPERAND_BYTES = 4 << 20 };

/* offsets = first, first + step, first + 2*step, … */
static inline void listOffsets(int64_t n, THNNOffsets first, THNNOffsets step, THNNOffsets *offsets)
{
  for (int64_t i = 0; i < n; i++) {
    offsets[i] = first;
    first.scalar += step.scalar;
    first.vector += step.vector;
  }
}

/* moved = offsets + by; the two do not overlap. */
static inline void moveOffsets(int64_t n, const THNNOffsets *offsets, THNNOffsets by,
                               THNNOffsets *moved)
{
  for (int64_t i = 0; i < n; i++) {
    moved[i].scalar = offsets[i].scalar + by.scalar;
    moved[i].vector = offsets[i].vector + by.vector;
  }
}

/* Scratch areas begin on cache lines. */
static inline int64_t scratchBytes(int64_t elements, size_t size)
{
  return roundUp(elements * (int64_t)size, 64);
}

/* Cuts the next area off a scratch block. */
static inline void *takeScratch(char **scratch, int64_t elements, size_t size)
{
  void *area = *scratch;
  *scratch += scratchBytes(elements, size);
  return area;
}

/* A thread's part of a scratch block. */
static inline void *scratchOfThread(void *scratch, size_t sharedBytes, size_t threadBytes,
                                    int64_t thread)
{
  return (char *)scratch + sharedBytes + (size_t)thread * threadBytes;
}

/* The calling thread's part of a scratch block. */
static inline void *threadScratchOf(void *scratch, size_t sharedBytes, size_t threadBytes)
{
#ifdef _OPENMP
  const int thread = omp_get_thread_num();
#else
  const int thread = 0;
#endif
  return scratchOfThread(scratch, sharedBytes, threadBytes, thread);
}

static inline void *threadScratch(const THNNConvolutionPlan *plan, void *scratch)
{
  return threadScratchOf(scratch, plan->sharedBytes, plan->threadBytes);
}

static inline bool isForward(const THNNConvolutionPlan *plan)
{
  return plan->part == THNN_CONVOLUTION_FORWARD;
}

/* The two sides of a computation, which makes results from a source: forward the map from the
 * image, backwardData the image from the map. backwardWeight has the sides of forward. */
typedef struct Sides {
  int64_t sourcePlanes, resultPlanes;
  int64_t source[3], result[3];
  int64_t sourcePositions, resultPositions;
} Sides;

static inline Sides sidesOf(const THNNConvolutionPlan *plan)
{
  const THNNConvolution *geometry = &plan->geometry;
  const bool forward = plan->part != THNN_CONVOLUTION_BACKWARD_DATA;
  Sides sides = {.sourcePositions = 1, .resultPositions = 1};
  sides.sourcePlanes = forward ? geometry->inputPlanes : geometry->outputPlanes;
  sides.resultPlanes = forward ? geometry->outputPlanes : geometry->inputPlanes;
  for (int i = 0; i < 3; i++) {
    sides.source[i] = forward ? geometry->input[i] : geometry->output[i];
    sides.result[i] = forward ? geometry->output[i] : geometry->input[i];
    sides.sourcePositions *= sides.source[i];
    sides.resultPositions *= sides.result[i];
  }
  return sides;
}

static inline double weightElements(const THNNConvolution *geometry)
{
  return (double)geometry->inputPlanes * geometry->outputPlanes * THNN_convolutionTaps(geometry);
}

/* Number of multiply-adds of the whole computation. */
static inline double convolutionOperations(const THNNConvolution *geometry)
{
  return geometry->batch * weightElements(geometry) * THNN_convolutionMapPositions(geometry);
}

/* The loops for a layer of `planes` planes. Planes that fit into half a vector get short vectors;
 * where the processor splits long vectors, full-length ones would take twice as long. */
static inline const THNN_(SimdProducts) * productsFor(int64_t planes)
{
  const THNN_(SimdProducts) *narrow = &THNN_(simd).narrowProducts;
  return planes <= narrow->lanes ? narrow : &THNN_(simd).products;
}

/* The cost of a term of a direct kernel for one position and all planes. A register tile of one
 * vector spends most of its time on loads. */
static inline double vectorsCost(int64_t planes)
{
  const int64_t vectors = divideUp(planes, THNN_(simd).products.lanes);
  return vectors == 1 ? 0.95 : 0.68 * (double)vectors;
}

/* Planes that a direct kernel computes at once: one vector lane each. */
typedef struct Panel {
  const THNN_(SimdProducts) * loops;
  int64_t first, planes; /* the last panel can have fewer planes than lanes */
  int64_t lanes;
  int vectors;
} Panel;

/* The number of panels that `planes` planes are cut into for `loops`, and the lanes of the
 * widest. */
static inline int64_t panelCountOf(const THNN_(SimdProducts) * loops, int64_t planes)
{
  return divideUp(divideUp(planes, loops->lanes), loops->mostVectors);
}

static inline int64_t mostPanelLanesOf(const THNN_(SimdProducts) * loops, int64_t planes)
{
  const int64_t vectors = divideUp(planes, loops->lanes);
  return divideUp(vectors, panelCountOf(loops, planes)) * loops->lanes;
}

/* Panel number `index`; panels differ by one vector at most. */
static inline Panel panelOf(const THNN_(SimdProducts) * loops, int64_t planes, int64_t index)
{
  const int64_t lanes = loops->lanes, panels = panelCountOf(loops, planes);
  const int64_t vectors = divideUp(planes, lanes);
  const int64_t begin = vectors * index / panels, end = vectors * (index + 1) / panels;
  const Panel panel = {.loops = loops,
                       .first = begin * lanes,
                       .planes = minimum(planes, end * lanes) - begin * lanes,
                       .lanes = (end - begin) * lanes,
                       .vectors = (int)(end - begin)};
  return panel;
}

/* The same three with the loops that productsFor chooses. */
static inline int64_t panelCount(int64_t planes)
{
  return panelCountOf(productsFor(planes), planes);
}

static inline int64_t mostPanelLanes(int64_t planes)
{
  return mostPanelLanesOf(productsFor(planes), planes);
}

static inline Panel panelAt(int64_t planes, int64_t index)
{
  return panelOf(productsFor(planes), planes, index);
}

/* Transposes the sums of a box, [position][lane], into the panel's planes of the result, one
 * contiguous stretch at a time. The result has `planes` planes of `positions` positions in each
 * sample. */
static inline void storeBox(const THNNConvolutionBoxes *boxes, const THNNConvolutionBox *box,
                            const Panel *panel, const real *sums, real *result, int64_t planes,
                            int64_t positions)
{
  for (int64_t sample = box->first[THNN_SAMPLE]; sample < box->end[THNN_SAMPLE]; sample++)
    for (int64_t stretch = 0; stretch < box->stretches; stretch++) {
      panel->loops->transpose(box->stretch, panel->planes, sums, panel->lanes,
                              result + (sample * planes + panel->first) * positions +
                                  THNN_convolutionStretch(boxes, box, stretch),
                              positions);
      sums += box->stretch * panel->lanes;
    }
}

/* sums[plane] += scale * the sum of one plane over the batch, sample after sample. */
void THNN_(Convolution_addPlaneSums)(const THNNConvolutionPlan *plan, int64_t planes,
                                     int64_t positions, const real *x, accreal scale, real *sums);

/* The gemm algorithm: fills the plan's tiles, threads, scratch size and cost. */
void THNN_(ConvolutionGemm_prepare)(THNNConvolutionPlan *plan, const THNNState *state);
void THNN_(ConvolutionGemm_forward)(const THNNConvolutionPlan *plan, const real *input,
                                    const real *weight, const real *bias, real *output,
                                    void *scratch);
void THNN_(ConvolutionGemm_backwardData)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                         const real *weight, const real *bias, real *gradInput,
                                         void *scratch);
void THNN_(ConvolutionGemm_backwardWeight)(const THNNConvolutionPlan *plan, const real *input,
                                           const real *gradOutput, accreal scale, real *gradWeight,
                                           void *scratch);

/* The gemm algorithm's special case: one map position that sees the whole image. */
void THNN_(ConvolutionLinear_prepare)(THNNConvolutionPlan *plan, const THNNState *state);
void THNN_(ConvolutionLinear_forward)(const THNNConvolutionPlan *plan, const real *input,
                                      const real *weight, const real *bias, real *output,
                                      void *scratch);
void THNN_(ConvolutionLinear_backwardData)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                           const real *weight, const real *bias, real *gradInput,
                                           void *scratch);
void THNN_(ConvolutionLinear_backwardWeight)(const THNNConvolutionPlan *plan, const real *input,
                                             const real *gradOutput, accreal scale,
                                             real *gradWeight, void *scratch);

/* The direct algorithm. Preparing returns whether the algorithm applies to the geometry and fits
 * into the state's workspace limit; if not, it leaves the plan unchanged. */
bool THNN_(ConvolutionDirect_prepare)(THNNConvolutionPlan *plan, const THNNState *state);
bool THNN_(ConvolutionDirectWeight_prepare)(THNNConvolutionPlan *plan, const THNNState *state);
/* forward: source is the image, result the map; backwardData: the other way round. */
void THNN_(ConvolutionDirect_run)(const THNNConvolutionPlan *plan, const real *source,
                                  const real *weight, const real *bias, real *result,
                                  void *scratch);
void THNN_(ConvolutionDirectWeight_run)(const THNNConvolutionPlan *plan, const real *input,
                                        const real *gradOutput, accreal scale, real *gradWeight,
                                        real *gradBias, void *scratch);

/* The direct algorithm for one tap. */
bool THNN_(ConvolutionDirectPointwise_prepare)(THNNConvolutionPlan *plan, const THNNState *state);
void THNN_(ConvolutionDirectPointwise_run)(const THNNConvolutionPlan *plan, const real *source,
                                           const real *weight, const real *bias, real *result,
                                           void *scratch);

/* The direct algorithm for one tap, as products of whole matrices. */
bool THNN_(ConvolutionDirectProducts_prepare)(THNNConvolutionPlan *plan, const THNNState *state);
void THNN_(ConvolutionDirectProducts_run)(const THNNConvolutionPlan *plan, const real *source,
                                          const real *weight, const real *bias, real *result,
                                          void *scratch);
void THNN_(ConvolutionDirectProducts_backwardWeight)(const THNNConvolutionPlan *plan,
                                                     const real *input, const real *gradOutput,
                                                     accreal scale, real *gradWeight,
                                                     real *gradBias, void *scratch);

/* Winograd's algorithm for 3x3 taps. Preparing returns whether it applies to the geometry and fits
 * into the state's workspace limit. Running returns whether all results are finite: if not,
 * intermediate sums may have overflowed, and the caller has to run the plan's own algorithm. */
bool THNN_(ConvolutionWinograd_prepare)(const THNNConvolutionPlan *plan, const THNNState *state,
                                        THNNConvolutionWinograd *winograd);
bool THNN_(ConvolutionWinograd_run)(const THNNConvolutionPlan *plan, const real *source,
                                    const real *weight, const real *bias, real *result,
                                    void *scratch);
bool THNN_(ConvolutionWinogradWeight_prepare)(const THNNConvolutionPlan *plan,
                                              const THNNState *state,
                                              THNNConvolutionWinograd *winograd);
/* If it returns false, it has added nothing to the gradients. */
bool THNN_(ConvolutionWinogradWeight_run)(const THNNConvolutionPlan *plan, const real *input,
                                          const real *gradOutput, accreal scale, real *gradWeight,
                                          real *gradBias, void *scratch);

/* The direct algorithm line by line, for few result planes, or few source planes and taps. */
bool THNN_(ConvolutionDirectLines_prepare)(THNNConvolutionPlan *plan, const THNNState *state);
void THNN_(ConvolutionDirectLines_run)(const THNNConvolutionPlan *plan, const real *source,
                                       const real *weight, const real *bias, real *result,
                                       void *scratch);
bool THNN_(ConvolutionDirectLinesWeight_prepare)(THNNConvolutionPlan *plan, const THNNState *state);
void THNN_(ConvolutionDirectLinesWeight_run)(const THNNConvolutionPlan *plan, const real *input,
                                             const real *gradOutput, accreal scale,
                                             real *gradWeight, real *gradBias, void *scratch);

#endif
