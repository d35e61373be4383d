/* Element-by-element work on dense memory.
 *
 * A module's function of one element is a struct with a __device__ operator() const: it sets the
 * outputs, which are references, and must not read them; inputs are references to constants. Each
 * thread loads a few elements of every input before it computes, since one load at a time does not
 * fill the memory bus; it uses one access of up to 16 bytes for each array where all of them are
 * aligned to 16 bytes. So an output may be the same array as an input, but must not overlap an
 * input otherwise.
 *
 * An operator() with an int64_t as an additional first parameter gets the element's index in it,
 * and can read other memory by it. */
#ifndef THC_APPLY_CUH
#define THC_APPLY_CUH

#include <algorithm>
#include <type_traits>

#include "THCLaunch.h"

enum { THC_APPLY_AT_ONCE = 4 };

/* A thread's elements first, first + blockDim, … of one array: inputs are loaded before the work,
 * outputs stored after it. */
template <typename T> struct THCElements {
  T *memory;
  std::remove_const_t<T> values[THC_APPLY_AT_ONCE];
};

template <typename T>
__device__ THCElements<T> THC_loadElements(T *memory, int64_t first, int64_t count)
{
  THCElements<T> elements = {memory, {}};
  if constexpr (std::is_const<T>::value) {
    THC_UNROLL
    for (int k = 0; k < THC_APPLY_AT_ONCE; k++) {
      const int64_t i = first + (int64_t)k * blockDim.x;
      if (i < count)
        elements.values[k] = memory[i];
    }
  }
  return elements;
}

template <typename T>
__device__ void THC_storeElements(const THCElements<T> &elements, int64_t first, int64_t count)
{
  if constexpr (!std::is_const<T>::value) {
    THC_UNROLL
    for (int k = 0; k < THC_APPLY_AT_ONCE; k++) {
      const int64_t i = first + (int64_t)k * blockDim.x;
      if (i < count)
        elements.memory[i] = elements.values[k];
    }
  }
}

template <typename Function, typename... Element>
__device__ void THC_applyOnce(const Function &function, int64_t first, int64_t count,
                              THCElements<Element>... elements)
{
  THC_UNROLL
  for (int k = 0; k < THC_APPLY_AT_ONCE; k++) {
    if constexpr (std::is_invocable<Function, int64_t, Element &...>::value) {
      const int64_t i = first + (int64_t)k * blockDim.x;
      if (i < count)
        function(i, elements.values[k]...);
    } else {
      function(elements.values[k]...);
    }
  }
  (THC_storeElements(elements, first, count), ...);
}

template <typename Function, typename... Element>
__global__ void __launch_bounds__(THC_THREADS)
    THC_applyKernel(int64_t count, Function function, Element *...elements)
{
  const int64_t step = (int64_t)gridDim.x * blockDim.x * THC_APPLY_AT_ONCE;
  int64_t first = (int64_t)blockIdx.x * blockDim.x * THC_APPLY_AT_ONCE + threadIdx.x;
  for (; first < count; first += step)
    THC_applyOnce(function, first, count, THC_loadElements(elements, first, count)...);
}

/* The widest access of a thread. */
enum { THC_VECTOR_BYTES = 16 };

/* How many elements of the largest type a thread loads with one access. With two accesses, each
 * would fill half of every sector of memory, and stores of half sectors are slow. */
template <typename... Element>
constexpr int THC_vectorLength = (int)(THC_VECTOR_BYTES / std::max({sizeof(Element)...}));

/* Neighbouring elements, which a thread loads and stores with one access. */
template <int length, typename T> struct alignas(length * sizeof(T)) THCVector {
  std::remove_const_t<T> values[length];
};

template <int length, typename T>
__device__ THCVector<length, T> THC_loadVector(T *memory, int64_t vector)
{
  if constexpr (std::is_const<T>::value)
    return reinterpret_cast<const THCVector<length, T> *>(memory)[vector];
  else
    return {};
}

template <int length, typename T>
__device__ void THC_storeVector(T *memory, int64_t vector, const THCVector<length, T> &values)
{
  if constexpr (!std::is_const<T>::value)
    reinterpret_cast<THCVector<length, T> *>(memory)[vector] = values;
}

template <int length, typename Function, typename... Element>
__device__ void THC_applyToVector(const Function &function, int64_t vector, Element *...elements,
                                  THCVector<length, Element>... values)
{
  THC_UNROLL
  for (int k = 0; k < length; k++)
    function(values.values[k]...);
  (THC_storeVector<length>(elements, vector, values), ...);
}

template <typename Function, typename... Element>
__global__ void __launch_bounds__(THC_THREADS)
    THC_applyToVectors(int64_t count, Function function, Element *...elements)
{
  constexpr int length = THC_vectorLength<Element...>;
  const int64_t vectors = count / length;
  THC_FOR_ELEMENTS(int64_t, vector, vectors)
  THC_applyToVector<length, Function, Element...>(function, vector, elements...,
                                                  THC_loadVector<length>(elements, vector)...);
  const int64_t last = vectors * length + threadIdx.x;
  if (blockIdx.x == 0 && last < count)
    THC_applyOnce(function, last, last + 1, THC_loadElements(elements, last, last + 1)...);
}

template <typename T> bool THC_isVectorAligned(const T *memory)
{
  return (uintptr_t)memory % THC_VECTOR_BYTES == 0;
}

/* Calls function(elements[i]...) for all i < count. `name` names the kernel in error messages. */
template <typename Function, typename... Element>
void THC_apply(THCPlan *plan, const char *name, int64_t count, Function function,
               Element *...elements)
{
  int64_t threads = (count + THC_APPLY_AT_ONCE - 1) / THC_APPLY_AT_ONCE;
  void (*kernel)(int64_t, Function, Element *...) = THC_applyKernel<Function, Element...>;
  /* A function that takes the index reads other memory too, best where neighbouring threads have
   * neighbouring elements. */
  if constexpr (!std::is_invocable<Function, int64_t, Element &...>::value)
    if ((THC_isVectorAligned(elements) && ...)) {
      kernel = THC_applyToVectors<Function, Element...>;
      threads = count / THC_vectorLength<Element...> + 1;
    }
  if (count > 0)
    THC_launch(plan, name, kernel, THC_blocksFor(plan, threads), THC_THREADS, 0, count, function,
               elements...);
}

#endif
