/* The twin of generic/pooling/Reduction.c. Sums are in accreal. */
#include "cuda/generic/shared/vectors.cuh"
#include "cuda/THC/THCIndex.cuh"
#include "generic/pooling/checks.h"

namespace
{

struct Sums {
  accreal divisor;
  const real *input;
  real *output;

  template <typename Team, int kept>
  __device__ void operator()(const Vector &of, Team, std::integral_constant<int, kept>) const
  {
    accreal sum = 0;
    for (int64_t i = Team::rank(); i < of.length; i += Team::SIZE)
      sum += input[of.first + i * of.stride];
    sum = Team::sum(sum);
    if (Team::rank() == 0 && of.length > 0)
      output[of.number] = (real)(sum / divisor);
  }
};

/* The greatest elements, or the least, and their places. */
template <bool greatest> struct Extremes {
  const real *input;
  real *output;
  int64_t *places; /* NULL where nobody wants them */

  static __device__ bool isBeyond(real a, real b)
  {
    return (greatest ? a > b : a < b) || (a != a && b == b);
  }
  static __device__ bool isSame(real a, real b) { return a == b || (a != a && b != b); }

  template <typename Team, int kept>
  __device__ void operator()(const Vector &of, Team, std::integral_constant<int, kept>) const
  {
    /* A thread without elements of its own starts with the last one of the vector, which changes no
     * result, since another thread has it too. */
    const int64_t last = of.length - 1;
    int64_t place = Team::rank() < last ? Team::rank() : last;
    real own = of.length > 0 ? input[of.first + place * of.stride] : real(0);
    for (int64_t i = Team::rank() + Team::SIZE; i < of.length; i += Team::SIZE) {
      const real value = input[of.first + i * of.stride];
      if (isBeyond(value, own)) {
        own = value;
        place = i;
      }
    }
    const real found = Team::reduce(own, [](real a, real b) { return isBeyond(b, a) ? b : a; });
    const int64_t none = of.length;
    place = Team::reduce(isSame(own, found) ? place : none,
                         [](int64_t a, int64_t b) { return a < b ? a : b; });
    if (Team::rank() > 0 || of.length == 0)
      return;
    output[of.number] = input[of.first + place * of.stride];
    if (places)
      places[of.number] = place + TH_INDEX_BASE;
  }
};

/* The gradients of a result for the elements that it came from; none for a bad place. */
struct Spread {
  accreal divisor;
  const real *gradOutput;
  const int64_t *places; /* NULL: every element has a share */
  real *gradInput;

  template <typename Team, int kept>
  __device__ void operator()(const Vector &of, Team, std::integral_constant<int, kept>) const
  {
    if (of.length == 0)
      return;
    const real share = (real)(gradOutput[of.number] / divisor);
    for (int64_t i = Team::rank(); i < of.length; i += Team::SIZE)
      gradInput[of.first + i * of.stride] =
          !places || places[of.number] - TH_INDEX_BASE == i ? share : real(0);
  }
};

template <typename Work> void reduce(THCPlan *plan, const THNNPlanes &shape, const Work &work)
{
  if (shape.positions > 1)
    launchColumns<0>(plan, shape, work);
  else
    THC_withTeam(shape.planes,
                 [&](auto threads) { launchRows<decltype(threads)::value, 0>(plan, shape, work); });
}

} // namespace

void THCUNN_(Reduction_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                     THCIndexTensor *indices, int dim, bool keep, int mode)
{
  const char *function = "Reduction_updateOutput";
  const THNNPlanes shape = THNN_Reduction_shapeCheck(function, THNN_SHAPE(input, 2),
                                                     THNN_SCALAR(dim, 5), THNN_SCALAR(mode, 7));
  int64_t size[THNN_MOST_REDUCED_DIMENSIONS];
  const int dimensions = THNN_reducedSizes(THNN_SHAPE(input, 2), dim, keep, size);
  const bool sums = mode <= THNN_REDUCTION_MEAN;

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, dimensions, size);
  const THNNBuffer *found =
      indices && !sums ? THC_planOut(&plan, indices, 4, dimensions, size) : nullptr;
  THC_planAcquire(&plan);
  const real *x = THC_pointer<const real>(in);
  real *y = THC_pointer<real>(out);
  int64_t *places = THC_pointer<int64_t>(found);
  if (sums)
    reduce(&plan, shape,
           Sums{mode == THNN_REDUCTION_MEAN ? (accreal)shape.planes : accreal(1), x, y});
  else if (mode == THNN_REDUCTION_GREATEST)
    reduce(&plan, shape, Extremes<true>{x, y, places});
  else
    reduce(&plan, shape, Extremes<false>{x, y, places});
  THC_planRelease(&plan);
}

void THCUNN_(Reduction_updateGradInput)(THCState *state, THCTensor *input, THCTensor *gradOutput,
                                        THCTensor *gradInput, THCIndexTensor *indices, int dim,
                                        int mode)
{
  const char *function = "Reduction_updateGradInput";
  const THNNPlanes shape = THNN_Reduction_shapeCheck(function, THNN_SHAPE(input, 2),
                                                     THNN_SCALAR(dim, 6), THNN_SCALAR(mode, 7));
  THNN_Reduction_gradientCheck(function, shape, (THNNReduction)mode, THNN_SHAPE(gradOutput, 3),
                               THNN_SHAPE(indices, 5));
  const bool extremes = mode >= THNN_REDUCTION_GREATEST;
  if (extremes)
    THC_checkIndices(state, function, indices, "indices", 5, TH_INDEX_BASE,
                     shape.planes - 1 + TH_INDEX_BASE);

  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *places = extremes ? THC_planIn(&plan, indices, 5) : nullptr;
  THC_planAcquire(&plan);
  reduce(&plan, shape,
         Spread{mode == THNN_REDUCTION_MEAN ? (accreal)shape.planes : accreal(1),
                THC_pointer<const real>(from), THC_pointer<const int64_t>(places),
                THC_pointer<real>(to)});
  THC_planRelease(&plan);
}
