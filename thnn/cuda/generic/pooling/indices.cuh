/* Index tensors of pooling modules: which element of an input plane each element of the output came
 * from. Positions are those of Windows: the map is the output, the image the input. */
#ifndef THCUNN_POOLED_INDICES_CUH
#define THCUNN_POOLED_INDICES_CUH

#include "cuda/THC/THCIndex.cuh"
#include "cuda/generic/template.h"
#include "cuda/generic/shared/windows.cuh"

namespace
{

constexpr int NO_ELEMENT = -1;  /* the index says that there is none */
constexpr int BAD_ELEMENT = -2; /* the index is invalid */

/* The structs below decode a module's indices. They have functions of an output position and its
 * index:
 *   element   the number, from 0, of the element in the input plane, or one of the two above
 *   isStray   whether that element, if there is one, is not under a tap of the window
 *   isTap     whether the index names this tap of the window, which sees that element */

/* Indices that are numbers of elements in the plane, from 1; if `optional`, 0 means none. */
template <typename Index> struct NumberNames {
  Windows<Index> windows;
  bool optional;

  __device__ Index element(const Place<Index> &, int64_t index) const
  {
    if (index == 0 && optional)
      return NO_ELEMENT;
    return index >= 1 && index <= windows.image.volume() ? (Index)index - 1 : BAD_ELEMENT;
  }
  __device__ bool isStray(const Place<Index> &map, int64_t index) const
  {
    const Place<Index> image = placeOf<3>((Index)index - 1, windows.image);
    for (int d = 0; d < 3; d++) {
      const Index dilation = windows.dilation[d];
      const Index from = image.at[d] - windows.start(d, map.at[d]);
      if (from < 0 || from > (windows.kernel[d] - 1) * dilation)
        return true;
      if (dilation > 1 && from % dilation != 0)
        return true;
    }
    return false;
  }
  __device__ bool isTap(int64_t index, const Index *, Index element) const
  {
    return index == element + 1;
  }
};

/* Indices that have the taps t, h, w of the window in bytes 0, 1 and 2. If `optional`, those of
 * windows outside the input mean none. */
template <typename Index> struct TapNames {
  Windows<Index> windows;
  bool optional;

  static __device__ Index tap(int64_t index, int d) { return (Index)(index >> 8 * d & 255); }

  __device__ bool isOutside(const Place<Index> &map) const
  {
    for (int d = 0; d < 3; d++) {
      bool sees = false;
      for (Index tap = 0; tap < windows.kernel[d] && !sees; tap++)
        sees = windows.image.contains(d, windows.start(d, map.at[d]) + tap * windows.dilation[d]);
      if (!sees)
        return true;
    }
    return false;
  }
  __device__ Index element(const Place<Index> &map, int64_t index) const
  {
    Index at[3];
    bool inside = true;
    for (int d = 0; d < 3; d++) {
      at[d] = windows.start(d, map.at[d]) + tap(index, d) * windows.dilation[d];
      inside = inside && windows.image.contains(d, at[d]);
    }
    if (inside)
      return windows.image.flat(at);
    return optional && isOutside(map) ? NO_ELEMENT : BAD_ELEMENT;
  }
  __device__ bool isStray(const Place<Index> &, int64_t index) const
  {
    return tap(index, 0) >= windows.kernel[0] || tap(index, 1) >= windows.kernel[1] ||
           tap(index, 2) >= windows.kernel[2];
  }
  __device__ bool isTap(int64_t index, const Index *taps, Index) const
  {
    return tap(index, 0) == taps[0] && tap(index, 1) == taps[1] && tap(index, 2) == taps[2];
  }
};

/* Indices that are the tap along the height, from 0; -1 means none. */
template <typename Index> struct FrameNames {
  Windows<Index> windows;

  __device__ Index element(const Place<Index> &map, int64_t index) const
  {
    const Index first = windows.start(1, map.at[1]);
    if (index == -1)
      return NO_ELEMENT;
    if (index < 0 || index >= windows.image.size[1] - first)
      return BAD_ELEMENT;
    return (first + (Index)index) * windows.image.size[2] + map.at[2];
  }
  __device__ bool isStray(const Place<Index> &, int64_t index) const
  {
    return index >= windows.kernel[1];
  }
  __device__ bool isTap(int64_t index, const Index *taps, Index) const { return index == taps[1]; }
};

/* ---- Checks --------------------------------------------------------------------------------- */

/* Reports an invalid index. */
template <typename Index, typename Names> struct NameCheck {
  Names names;
  THCIndexRange range;

  __device__ void operator()(int64_t i, const int64_t *indices) const
  {
    if (names.element(placeOf<3>((Index)i, names.windows.map), indices[i]) == BAD_ELEMENT)
      THC_reportIndex(indices[i], range);
  }
};

/* If the state's checkIndices is set: checks the indices of `planes` planes of the map, and raises
 * before anything is changed. */
template <typename Index, typename Names>
void checkNames(THCState *state, const char *function, const Names &names, int64_t planes,
                THCudaLongTensor *indices, int position, const char *expected)
{
  const Index *map = names.windows.map.size;
  const NameCheck<Index, Names> check = {names, THC_valueDomain(state, function, expected)};
  THC_checkValues<int64_t>(state, function, indices, "indices", position,
                           planes * map[0] * map[1] * map[2], check);
}

} // namespace

#endif
