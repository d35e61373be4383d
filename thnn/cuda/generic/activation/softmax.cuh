/* Softmax and its logarithm over the planes of a tensor, in one implementation. A team of threads
 * works on each vector (../shared/vectors.cuh). Where there are few elements, each thread keeps its
 * own in registers, so that memory is read once. */
#ifndef THCUNN_SOFTMAX_CUH
#define THCUNN_SOFTMAX_CUH

#include "cuda/generic/shared/elementary.cuh"
#include "cuda/generic/shared/vectors.cuh"
#include "generic/activation/checks.h"

namespace
{

template <typename Work> void forVectors(THCPlan *plan, const THNNPlanes &shape, const Work &work)
{
  const bool rows = shape.positions == 1;
  const int64_t length = shape.planes;
  if (rows && length <= 4 * 4)
    launchRows<4, 4>(plan, shape, work);
  else if (rows && length <= 8 * 8)
    launchRows<8, 8>(plan, shape, work);
  else if (rows && length <= 4 * THC_WARP)
    launchRows<THC_WARP, 4>(plan, shape, work);
  else if (rows && length <= 16 * THC_WARP)
    launchRows<THC_WARP, 16>(plan, shape, work);
  else if (rows && length <= 32 * THC_WARP)
    launchRows<THC_WARP, 32>(plan, shape, work);
  else if (rows && length <= 16 * THC_THREADS)
    launchRows<THC_THREADS, 16>(plan, shape, work);
  else if (rows)
    launchRows<THC_THREADS, 0>(plan, shape, work);
  else if (length <= 4 * ColumnTeam::SIZE)
    launchColumns<4>(plan, shape, work);
  else if (length <= 32 * ColumnTeam::SIZE)
    launchColumns<32>(plan, shape, work);
  else
    launchColumns<0>(plan, shape, work);
}

/* The elements that a thread loads before it uses the first, where a vector is too long to keep:
 * one load at a time does not fill the memory bus. */
enum { AT_ONCE = 8 };

/* Calls work(first) for every AT_ONCE elements first, first + Team::SIZE, … of this thread. */
template <typename Team, typename Work> __device__ void forParts(const Vector &of, const Work &work)
{
  for (int64_t first = Team::rank(); first < of.length; first += AT_ONCE * Team::SIZE)
    work(first);
}

struct Greater {
  __device__ real operator()(real a, real b) const { return a > b ? a : b; }
};

template <bool logarithm> struct SoftmaxForward {
  const real *input;
  real *output;

  /* The logarithm of the sum, to subtract, or 1 / sum, to multiply by. */
  static __device__ accreal scaleOf(accreal sum) { return logarithm ? log(sum) : 1 / sum; }

  template <typename Team, int kept>
  __device__ void operator()(const Vector &of, Team, std::integral_constant<int, kept>) const
  {
    const real *x = input + of.first;
    real *y = output + of.first;
    if constexpr (kept > 0) {
      real values[kept], most = LOWEST;
      THC_UNROLL
      for (int k = 0; k < kept; k++) {
        const int64_t i = Team::rank() + k * Team::SIZE;
        values[k] = i < of.length ? x[i * of.stride] : -(real)INFINITY;
        most = values[k] > most ? values[k] : most;
      }
      most = Team::reduce(most, Greater());
      accreal sum = 0;
      THC_UNROLL
      for (int k = 0; k < kept; k++) {
        values[k] -= most;
        const real power = exp(values[k]);
        sum += power;
        values[k] = logarithm ? values[k] : power;
      }
      const real scale = (real)scaleOf(Team::sum(sum));
      THC_UNROLL
      for (int k = 0; k < kept; k++) {
        const int64_t i = Team::rank() + k * Team::SIZE;
        if (i < of.length)
          y[i * of.stride] = logarithm ? values[k] - scale : values[k] * scale;
      }
    } else {
      /* `sum` adds up e^(value - most), where `most` is the greatest value so far. */
      real most = LOWEST;
      accreal sum = 0;
      forParts<Team>(of, [&](int64_t first) {
        real values[AT_ONCE], next = most;
        THC_UNROLL
        for (int k = 0; k < AT_ONCE; k++) {
          const int64_t i = first + k * Team::SIZE;
          values[k] = i < of.length ? x[i * of.stride] : -(real)INFINITY;
          next = values[k] > next ? values[k] : next;
        }
        sum *= exp(most - next);
        most = next;
        THC_UNROLL
        for (int k = 0; k < AT_ONCE; k++)
          sum += exp(values[k] - most);
      });
      const real greatest = Team::reduce(most, Greater());
      const real scale = (real)scaleOf(Team::sum(sum * exp(most - greatest)));
      forParts<Team>(of, [&](int64_t first) {
        real values[AT_ONCE];
        THC_UNROLL
        for (int k = 0; k < AT_ONCE; k++) {
          const int64_t i = first + k * Team::SIZE;
          values[k] = i < of.length ? x[i * of.stride] - greatest : 0;
        }
        THC_UNROLL
        for (int k = 0; k < AT_ONCE; k++) {
          const int64_t i = first + k * Team::SIZE;
          if (i < of.length)
            y[i * of.stride] = logarithm ? values[k] - scale : exp(values[k]) * scale;
        }
      });
    }
  }
};

template <bool logarithm> struct SoftmaxBackward {
  const real *output, *gradOutput;
  real *gradInput;

  static __device__ real term(real y, real g) { return logarithm ? g : g * y; }
  static __device__ real result(real y, real g, real sum)
  {
    return logarithm ? g - exp(y) * sum : y * (g - sum);
  }

  template <typename Team, int kept>
  __device__ void operator()(const Vector &of, Team, std::integral_constant<int, kept>) const
  {
    const real *y = output + of.first, *g = gradOutput + of.first;
    real *to = gradInput + of.first;
    accreal sum = 0;
    if constexpr (kept > 0) {
      real ys[kept], gs[kept];
      THC_UNROLL
      for (int k = 0; k < kept; k++) {
        const int64_t i = Team::rank() + k * Team::SIZE;
        ys[k] = i < of.length ? y[i * of.stride] : 0;
        gs[k] = i < of.length ? g[i * of.stride] : 0;
        sum += term(ys[k], gs[k]);
      }
      const real total = (real)Team::sum(sum);
      THC_UNROLL
      for (int k = 0; k < kept; k++) {
        const int64_t i = Team::rank() + k * Team::SIZE;
        if (i < of.length)
          to[i * of.stride] = result(ys[k], gs[k], total);
      }
    } else {
      real ys[AT_ONCE], gs[AT_ONCE];
      const auto load = [&](int64_t first, bool outputs) {
        THC_UNROLL
        for (int k = 0; k < AT_ONCE; k++) {
          const int64_t i = first + k * Team::SIZE;
          ys[k] = outputs && i < of.length ? y[i * of.stride] : 0;
          gs[k] = i < of.length ? g[i * of.stride] : 0;
        }
      };
      forParts<Team>(of, [&](int64_t first) {
        load(first, !logarithm);
        THC_UNROLL
        for (int k = 0; k < AT_ONCE; k++)
          sum += term(ys[k], gs[k]);
      });
      const real total = (real)Team::sum(sum);
      forParts<Team>(of, [&](int64_t first) {
        load(first, true);
        THC_UNROLL
        for (int k = 0; k < AT_ONCE; k++) {
          const int64_t i = first + k * Team::SIZE;
          if (i < of.length)
            to[i * of.stride] = result(ys[k], gs[k], total);
        }
      });
    }
  }
};

/* Computes output (#3) from input (#2). */
template <bool logarithm>
void softmaxForward(const char *function, THCState *state, THCTensor *input, THCTensor *output)
{
  const THNNPlanes shape =
      THNN_SoftMax_shapeCheck(function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE);
  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  THNNBuffer *out = THC_planOutLike(&plan, output, 3, input);
  THNN_planElementwise(out);
  THC_planAcquire(&plan);
  forVectors(&plan, shape,
             SoftmaxForward<logarithm>{THC_pointer<const real>(in), THC_pointer<real>(out)});
  THC_planRelease(&plan);
}

/* Computes gradInput (#4) from gradOutput (#3) and the forward call's output (#5). Of input (#2)
 * only the sizes are used; it may be NULL. */
template <bool logarithm>
void softmaxBackward(const char *function, THCState *state, THCTensor *input, THCTensor *gradOutput,
                     THCTensor *gradInput, THCTensor *output)
{
  const THNNPlanes shape = THNN_SoftMax_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(output, 5));
  THCPlan plan;
  THC_planStart(&plan, function, state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, output);
  THNN_planElementwise(to);
  const THNNBuffer *kept = THC_planIn(&plan, output, 5);
  THC_planAcquire(&plan);
  forVectors(&plan, shape,
             SoftmaxBackward<logarithm>{THC_pointer<const real>(kept),
                                        THC_pointer<const real>(from), THC_pointer<real>(to)});
  THC_planRelease(&plan);
}

} // namespace

#endif
