/* What the tests of the emulation have in common. */
#ifndef KERNELS_CUH
#define KERNELS_CUH

#include <vector>

#include <cuda/THC/THCReduce.cuh>
#include "check.h"

/* A copy of a host array in device memory. */
template <typename T> struct DeviceArray {
  T *data = nullptr;
  size_t count;

  explicit DeviceArray(size_t count) : count(count) { cudaMalloc(&data, count * sizeof(T)); }
  explicit DeviceArray(const std::vector<T> &values) : DeviceArray(values.size())
  {
    cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  }
  DeviceArray(const DeviceArray &) = delete;
  ~DeviceArray() { cudaFree(data); }

  std::vector<T> read() const
  {
    std::vector<T> values(count);
    cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }
};

/* Runs a test; an error that it does not expect ends it. */
#define RUN(test)                                                                                  \
  do {                                                                                             \
    if (setjmp(checkJump) == 0)                                                                    \
      test;                                                                                        \
    else                                                                                           \
      checkThat(0, checkMessage, #test, __LINE__);                                                 \
  } while (0)

/* The state of the tests' own launches. */
inline THCState *testState()
{
  static THCState *const state = THCState_new(0);
  return state;
}

/* Launches the way the library does, and raises what fails. */
template <typename... Parameters, typename... Arguments>
void launchNamed(const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                 size_t shared, Arguments... arguments)
{
  THCPlan plan;
  THC_planStart(&plan, "test", testState());
  THC_planAcquire(&plan);
  THC_launch(&plan, name, kernel, grid, block, shared, arguments...);
  THC_planRelease(&plan);
}
#define launch(kernel, ...) launchNamed(#kernel, kernel, __VA_ARGS__)

#endif
