/* How kernels are launched and declare shared memory. Kernels follow a few rules, so that the same
 * source compiles for a GPU and for the emulation in tests/cuda:
 *   - __launch_bounds__ on each, at most THC_MAXIMUM_THREADS threads in a block;
 *   - a grid-stride loop over the elements (THC_FOR_ELEMENTS), so that any grid will do;
 *   - shared memory through THC_SHARED and THC_DYNAMIC_SHARED;
 *   - no atomic additions of real numbers: let each result gather what belongs to it. */
#ifndef THC_LAUNCH_H
#define THC_LAUNCH_H

#include "THCPlan.h"

enum {
  THC_THREADS = 256, /* threads of a block, unless a kernel needs another number */
  THC_MAXIMUM_THREADS = 512,
  THC_BLOCKS_PER_PROCESSOR = 16
};

/* The most blocks of a grid whose blocks can do several tasks each. */
const int64_t THC_MOST_BLOCKS = 65535;

/* THC_SHARED(float, tile, [32][33]): an array shared by the threads of a block.
 * THC_DYNAMIC_SHARED(float, tile): the shared array whose size the launch gives.
 * THC_UNROLL: unrolls the following loop, of constant length.
 * THC_UNROLL_LOADS: unrolls the following loop by 4, so that several loads are in flight. */
#ifdef CUDA_EMULATION
#  define THC_UNROLL
#  define THC_UNROLL_LOADS
#else
#  define THC_UNROLL _Pragma("unroll")
#  define THC_UNROLL_LOADS _Pragma("unroll 4")
#  define THC_SHARED(T, name, dimensions) __shared__ T name dimensions
#  define THC_DYNAMIC_SHARED(T, name)                                                              \
    extern __shared__ __align__(16) unsigned char name##Bytes[];                                   \
    T *name = reinterpret_cast<T *>(name##Bytes)
#endif

/* THC_FOR_ELEMENTS(int64_t, i, count): a loop over this thread's share of `count` elements, which
 * the whole grid divides. A 32-bit index is faster where THC_fitsIndex(count) allows it. */
#define THC_FOR_ELEMENTS(Index, i, count)                                                          \
  for (Index i = (Index)blockIdx.x * blockDim.x + threadIdx.x; i < (Index)(count);                 \
       i += (Index)blockDim.x * gridDim.x)

/* The largest count that 32-bit indices serve; tests lower it to run kernels with 64-bit
 * indices. */
#ifdef CUDA_EMULATION
extern __attribute__((visibility("default"))) int64_t THC_largestIndex;
#else
extern int64_t THC_largestIndex;
#endif

/* Whether a 32-bit index, signed or not, can count to `count` without overflow. */
static inline bool THC_fitsIndex(int64_t count)
{
  return count <= THC_largestIndex;
}

/* The grid of a grid-stride loop: enough blocks to fill the device. Their number depends on the
 * device, so no result may depend on it. */
static inline dim3 THC_blocksFor(const THCPlan *plan, int64_t count)
{
  const int64_t needed = (count + THC_THREADS - 1) / THC_THREADS;
  const int64_t enough = (int64_t)plan->state->processors * THC_BLOCKS_PER_PROCESSOR;
  return dim3((unsigned)(needed < enough ? needed : enough));
}

/* Whether the plan can launch a kernel: nothing has failed, and grid and block have valid sizes. */
bool THC_mayLaunch(THCPlan *plan, const char *name, dim3 grid, dim3 block);

template <typename... Parameters>
void THC_launchConverted(THCPlan *plan, const char *name, void (*kernel)(Parameters...), dim3 grid,
                         dim3 block, size_t sharedBytes, Parameters... values)
{
#ifdef CUDA_EMULATION
  const cudaError_t status =
      cuemu::launch(name, kernel, grid, block, sharedBytes, plan->state->stream, values...);
#else
  void *arguments[] = {const_cast<void *>(static_cast<const volatile void *>(&values))...};
  const cudaError_t status = cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block,
                                              arguments, sharedBytes, plan->state->stream);
#endif
  THC_note(&plan->failure, name, status);
}

template <typename... Parameters, typename... Arguments>
void THC_launch(THCPlan *plan, const char *name, void (*kernel)(Parameters...), dim3 grid,
                dim3 block, size_t sharedBytes, Arguments... arguments)
{
  if (THC_mayLaunch(plan, name, grid, block))
    THC_launchConverted<Parameters...>(plan, name, kernel, grid, block, sharedBytes,
                                       static_cast<Parameters>(arguments)...);
}

/* THC_LAUNCH(&plan, kernel<real>, grid, block, sharedBytes, arguments …): queues a kernel on the
 * plan's stream. Put a kernel's name in parentheses if it contains commas. THC_planRelease raises a
 * failure; nothing is launched after one. */
#define THC_LAUNCH(plan, kernel, grid, block, sharedBytes, ...)                                    \
  THC_launch(plan, #kernel, kernel, grid, block, sharedBytes, __VA_ARGS__)

/* Queues a kernel with a grid-stride loop over `count` elements; none if there are no elements. */
#define THC_LAUNCH_ELEMENTS(plan, kernel, count, ...)                                              \
  do {                                                                                             \
    if ((count) > 0)                                                                               \
      THC_LAUNCH(plan, kernel, THC_blocksFor(plan, count), THC_THREADS, 0, __VA_ARGS__);           \
  } while (0)

#endif
