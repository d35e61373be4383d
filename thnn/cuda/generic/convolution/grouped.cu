#include "cuda/generic/convolution/grouped.cuh"

#include "cuda/THC/THCApply.cuh"
#include "cuda/generic/convolution/engine/engine.cuh"
#include "cuda/generic/convolution/planewise/connected.cuh"
#include "generic/convolution/checks.h"

namespace
{

/* Kernels with outer and inner index exchanged: kernel [i][k], with i < outer and k < inner,
 * becomes kernel [k][i]. With `flip` each kernel is flipped. */
struct Rearranged {
  int64_t outer, inner, taps;
  bool flip;
  const real *from;

  __device__ void operator()(int64_t i, real &to) const
  {
    const int64_t kernel = i / taps, tap = i - kernel * taps;
    const int64_t source = kernel % outer * inner + kernel / outer;
    to = from[source * taps + (flip ? taps - 1 - tap : tap)];
  }
};

/* How one part of a convolution in groups is computed. */
struct Grouped {
  THNNGroups groups;
  THNNConvolutionPart part;
  bool planewise;
  THCPlanesCall planes;           /* all groups, if planewise */
  THCConvolutionPlan convolution; /* one group, for all samples */
  int64_t weights, taps;          /* elements of all weights, and of a kernel */

  Grouped(const char *function, THCState *state, const THNNGroups *of, THNNConvolutionPart part)
      : groups(*of), part(part), planewise(THNN_groupsJoinPlanes(of)),
        planes{function, state, false, THNN_joinsOfGroups(of, of->geometry.batch)},
        convolution(THCUNN_(engine_prepare)(state, &of->geometry, part))
  {
    const THNNConvolution &g = groups.geometry;
    convolution.imageStride *= groups.groups;
    convolution.mapStride *= groups.groups;
    taps = convolution.taps;
    weights = groups.groups * g.outputPlanes * g.inputPlanes * taps;
  }

  bool toImage() const { return part == THNN_CONVOLUTION_BACKWARD_DATA; }
  int64_t positions(bool image) const
  {
    return image ? convolution.imagePositions : convolution.mapPositions;
  }
  int64_t planesOf(bool image) const
  {
    return image ? groups.geometry.inputPlanes : groups.geometry.outputPlanes;
  }
  /* The elements from one group's planes to the next group's. */
  int64_t step(bool image) const { return planesOf(image) * positions(image); }

  /* Whether the weights are flipped, or put into the order of planewise/. */
  bool rearranges() const { return groups.flip || (planewise && groups.geometry.outputPlanes > 1); }
  int64_t weightBytes() const { return rearranges() ? weights * (int64_t)sizeof(real) : 0; }
  int64_t scratchBytes() const { return planewise ? 0 : convolution.scratchBytes; }

  /* Queues the copy to the order in which weights are used, or back from it. */
  void rearrange(THCPlan *plan, bool back, const real *from, real *to) const
  {
    const int64_t outer = planewise ? groups.groups : 1, inner = groups.geometry.outputPlanes;
    THC_apply(plan, "weights in order", weights,
              Rearranged{back && planewise ? inner : outer, back ? outer : inner, taps, groups.flip,
                         from},
              to);
  }

  void gather(THCPlan *plan, const real *source, const real *weight, const real *bias, bool add,
              real *result, real *rearranged, real *biases, real *scratch);
  void correlate(THCPlan *plan, const real *image, const real *map, accreal scale, real *gradWeight,
                 real *rearranged, real *scratch, accreal *partial) const;
};

/* Queues result = bias + what the source contributes, plus, with `add`, what it held before. */
void Grouped::gather(THCPlan *plan, const real *source, const real *weight, const real *bias,
                     bool add, real *result, real *rearranged, real *biases, real *scratch)
{
  const int64_t count = groups.groups, all = count * planesOf(toImage());
  if (rearranges()) {
    rearrange(plan, false, weight, rearranged);
    weight = rearranged;
    if (bias && planewise && !toImage()) {
      THC_apply(plan, "biases in order", all,
                Rearranged{count, groups.geometry.outputPlanes, 1, false, bias}, biases);
      bias = biases;
    }
  }
  if (planewise) {
    THCUNN_(connected_gather)(plan, &planes, toImage(), {source, weight, bias, result, add});
    return;
  }
  convolution.add = add;
  if (bias && count > 1) {
    THCUNN_(engine_fillWithBias)(plan, groups.geometry.batch, all, positions(toImage()), bias,
                                 result);
    convolution.add = true;
    bias = nullptr;
  }
  const auto compute = toImage() ? THCUNN_(engine_backwardData) : THCUNN_(engine_forward);
  for (int64_t i = 0; i < count; i++)
    compute(plan, &convolution, source + i * step(!toImage()), weight + i * (weights / count), bias,
            result + i * step(toImage()), scratch);
}

/* Queues the additions to the gradients of the weights. */
void Grouped::correlate(THCPlan *plan, const real *image, const real *map, accreal scale,
                        real *gradWeight, real *rearranged, real *scratch, accreal *partial) const
{
  real *sums = rearranges() ? rearranged : gradWeight;
  if (rearranges())
    rearrange(plan, false, gradWeight, sums);
  if (planewise)
    THCUNN_(connected_correlate)(plan, &planes, image, map, scale, sums, partial);
  for (int64_t i = 0; i < groups.groups && !planewise; i++)
    THCUNN_(engine_backwardWeight)(plan, &convolution, image + i * step(true),
                                   map + i * step(false), scale,
                                   sums + i * (weights / groups.groups), scratch);
  if (rearranges())
    rearrange(plan, true, sums, gradWeight);
}

} // namespace

void THCUNN_(grouped_updateOutput)(const char *function, THCState *state, const THNNGroups *groups,
                                   THCTensor *input, THCTensor *output, THCTensor *weight,
                                   THCTensor *bias)
{
  int64_t size[5];
  const int nDimension = THNN_groupedSizes(groups, groups->transposed, size);
  THCPlan plan;
  THC_planStart(&plan, function, state);
  Grouped grouped(function, state, groups,
                  groups->transposed ? THNN_CONVOLUTION_BACKWARD_DATA : THNN_CONVOLUTION_FORWARD);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *kernels = THC_planIn(&plan, weight, 4);
  const THNNBuffer *start = bias ? THC_planIn(&plan, bias, 5) : nullptr;
  const THNNBuffer *rearranged = THC_planScratch(&plan, grouped.weightBytes());
  const THNNBuffer *biases = THC_planScratch(&plan, bias ? grouped.weightBytes() : 0);
  const THNNBuffer *scratch = THC_planScratch(&plan, grouped.scratchBytes());
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  grouped.gather(&plan, THC_pointer<const real>(in), THC_pointer<const real>(kernels),
                 THC_pointer<const real>(start), false, THC_pointer<real>(out),
                 THC_pointer<real>(rearranged), THC_pointer<real>(biases),
                 THC_pointer<real>(scratch));
  THC_planRelease(&plan);
}

void THCUNN_(grouped_updateGradInput)(const char *function, THCState *state,
                                      const THNNGroups *groups, THCTensor *gradOutput,
                                      THCTensor *gradInput, THCTensor *weight, bool add)
{
  int64_t size[5];
  const int nDimension = THNN_groupedSizes(groups, !groups->transposed, size);
  THCPlan plan;
  THC_planStart(&plan, function, state);
  Grouped grouped(function, state, groups,
                  groups->transposed ? THNN_CONVOLUTION_FORWARD : THNN_CONVOLUTION_BACKWARD_DATA);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 2);
  const THNNBuffer *to =
      add ? THC_planInOut(&plan, gradInput, 3) : THC_planOut(&plan, gradInput, 3, nDimension, size);
  const THNNBuffer *kernels = THC_planIn(&plan, weight, 4);
  const THNNBuffer *rearranged = THC_planScratch(&plan, grouped.weightBytes());
  const THNNBuffer *scratch = THC_planScratch(&plan, grouped.scratchBytes());
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  grouped.gather(&plan, THC_pointer<const real>(from), THC_pointer<const real>(kernels), nullptr,
                 add, THC_pointer<real>(to), THC_pointer<real>(rearranged), nullptr,
                 THC_pointer<real>(scratch));
  THC_planRelease(&plan);
}

void THCUNN_(grouped_accGradParameters)(const char *function, THCState *state,
                                        const THNNGroups *groups, THCTensor *input,
                                        THCTensor *gradOutput, THCTensor *gradWeight,
                                        THCTensor *gradBias, accreal scale)
{
  const bool transposed = groups->transposed;
  const int64_t batch = groups->geometry.batch;
  THCPlan plan;
  THC_planStart(&plan, function, state);
  const Grouped grouped(function, state, groups, THNN_CONVOLUTION_BACKWARD_WEIGHT);
  const int64_t planes = groups->groups * grouped.planesOf(transposed);
  const int64_t positions = grouped.positions(transposed);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *kernels = THC_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *start = gradBias ? THC_planInOut(&plan, gradBias, 5) : nullptr;
  const THNNBuffer *rearranged = THC_planScratch(&plan, grouped.weightBytes());
  const THNNBuffer *scratch = THC_planScratch(&plan, grouped.scratchBytes());
  const THNNBuffer *partial = THC_planScratch(
      &plan, grouped.planewise ? THCUNN_(connected_scratchBytes)(grouped.planes.joins) : 0);
  const THNNBuffer *biasPartial = THC_planScratch(
      &plan, gradBias ? THCUNN_(engine_biasScratchBytes)(batch, planes, positions) : 0);
  THC_planBlas(&plan);
  THC_planAcquire(&plan);

  const real *gradients = THC_pointer<const real>(from), *x = THC_pointer<const real>(in);
  grouped.correlate(&plan, transposed ? gradients : x, transposed ? x : gradients, scale,
                    THC_pointer<real>(kernels), THC_pointer<real>(rearranged),
                    THC_pointer<real>(scratch), THC_pointer<accreal>(partial));
  if (gradBias)
    THCUNN_(engine_backwardBias)(&plan, batch, planes, positions, gradients, scale,
                                 THC_pointer<real>(start), THC_pointer<accreal>(biasPartial));
  THC_planRelease(&plan);
}

void THCUNN_(grouped_accGradBias)(const char *function, THCState *state, int nDimension,
                                  THCTensor *gradOutput, THCTensor *gradBias, accreal scale)
{
  const THNNPlaneSet set =
      THNN_biasPlanes(function, nDimension, THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradBias, 5));
  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *start = THC_planInOut(&plan, gradBias, 5);
  const THNNBuffer *partial = THC_planScratch(
      &plan, THCUNN_(engine_biasScratchBytes)(set.batch, set.planes, set.positions));
  THC_planAcquire(&plan);

  THCUNN_(engine_backwardBias)(&plan, set.batch, set.planes, set.positions,
                               THC_pointer<const real>(from), scale, THC_pointer<real>(start),
                               THC_pointer<accreal>(partial));
  THC_planRelease(&plan);
}
