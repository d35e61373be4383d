/* What stands for cuDNN 9: its objects, and how calls check them and compute by definition. The
 * numbers are those of cuDNN's interface. */
#ifndef CUEMU_CUDNN_H
#define CUEMU_CUDNN_H

#include "cuemu.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <stdint.h>
#include <stdio.h>

namespace cudnn
{

using namespace cuemu;

enum Status {
  SUCCESS = 0,
  NOT_INITIALIZED = 1001,
  BAD_PARAM = 2000,
  NOT_SUPPORTED = 3000,
  EXECUTION_FAILED = 5000
};
enum { FLOAT = 0, DOUBLE = 1 };
enum { MOST_DIMENSIONS = 5 };

struct Handle {
  cudaStream_t stream;
  int device;
};

/* A tensor or a filter. */
struct Array {
  int type;
  std::vector<int> size;
};

/* A convolution or a pooling. */
struct Window {
  std::vector<int> size, padding, stride, dilation;
  int mode, type, groups, math;
};

inline std::set<const void *> live; /* handles and descriptors */
inline std::string lastError, calls;
inline bool refusing = false;

inline int fail(int status, const char *why)
{
  lastError = why;
  return status;
}

#define REQUIRE(condition, why)                                                                    \
  do {                                                                                             \
    if (!(condition))                                                                              \
      return fail(BAD_PARAM, why);                                                                 \
  } while (0)

template <typename T> int create(T **made)
{
  *made = new T();
  live.insert(*made);
  return SUCCESS;
}

template <typename T> int destroy(T *object)
{
  REQUIRE(live.erase(object), "no such object to destroy");
  delete object;
  return SUCCESS;
}

template <typename... T> bool areLive(const T *...objects)
{
  return (... && live.count(objects));
}

/* The status of a call that computes before it looks at anything but its handle. */
inline int checkHandle(const Handle *handle)
{
  if (!areLive(handle) || handle->device != currentDevice() ||
      checkStream(handle->stream) != cudaSuccess)
    return fail(NOT_INITIALIZED, "no handle of the current device");
  return refusing ? fail(NOT_SUPPORTED, "refused") : SUCCESS;
}

inline size_t countOf(const Array *array)
{
  size_t count = 1;
  for (int size : array->size)
    count *= (size_t)size;
  return count;
}

inline size_t bytesOf(const Array *array)
{
  return countOf(array) * (array->type == DOUBLE ? sizeof(double) : sizeof(float));
}

/* The elements of a dense array on the device, while its memory is open. */
class Elements
{
public:
  Elements(const char *what, const Array *array, const void *data, bool write = false,
           bool read = true)
      : type(array->type), data((char *)data)
  {
    if (read)
      libraryRead(what, data, bytesOf(array));
    if (write)
      libraryWrite(what, (void *)data, bytesOf(array));
  }
  double at(size_t i) const
  {
    return type == DOUBLE ? ((const double *)data)[i] : ((const float *)data)[i];
  }
  void set(size_t i, double value)
  {
    if (type == DOUBLE)
      ((double *)data)[i] = value;
    else
      ((float *)data)[i] = (float)value;
  }

private:
  int type;
  char *data;
};

inline double factorOf(const Array *array, const void *factor)
{
  return array->type == DOUBLE ? *(const double *)factor : *(const float *)factor;
}

/* A result that replaces `beta` times what was there; without beta, that is not read. */
class Result
{
public:
  Result(const char *what, const Array *array, void *data, const void *alpha, const void *beta)
      : alpha(factorOf(array, alpha)), beta(factorOf(array, beta)),
        elements(what, array, data, true, this->beta != 0)
  {
  }
  void set(size_t i, double value)
  {
    elements.set(i, alpha * value + (beta != 0 ? beta * elements.at(i) : 0));
  }

private:
  double alpha, beta;
  Elements elements;
};

inline bool sameSizes(const Array *one, const Array *other)
{
  return one->type == other->type && one->size == other->size;
}

inline void note(const Handle *handle, const char *name, int number, size_t scratch)
{
  char text[128];
  snprintf(text, sizeof text, "%s %d %zu %zu\n", name, number, scratch,
           (size_t)(uintptr_t)handle->stream);
  calls += text;
}

inline bool isAll(const std::vector<int> &values, int value)
{
  return std::all_of(values.begin(), values.end(), [=](int v) { return v == value; });
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* Up to three sizes as three, with ones (or `rest`) in front. */
struct Three {
  int64_t at[3];
  Three(const std::vector<int> &values, size_t skipped, int rest)
  {
    const size_t n = values.size() - skipped;
    for (size_t i = 0; i < 3; i++)
      at[i] = i < 3 - n ? rest : values[skipped + i - (3 - n)];
  }
  int64_t volume() const { return at[0] * at[1] * at[2]; }
};

/* For each element of a map, each tap of a window, and the element of the image under it. */
struct Places {
  Three image, map, kernel, padding, stride, dilation;

  template <typename Visit> void visit(Visit visit) const
  {
    for (int64_t m = 0; m < map.volume(); m++)
      for (int64_t k = 0; k < kernel.volume(); k++)
        visit(m, k, under(m, k));
  }
  /* The element of the image; -1 in the padding. */
  int64_t under(int64_t m, int64_t k) const
  {
    int64_t place = 0, stepM = map.volume(), stepK = kernel.volume();
    for (int d = 0; d < 3; d++) {
      stepM /= map.at[d];
      stepK /= kernel.at[d];
      const int64_t i = m / stepM % map.at[d] * stride.at[d] +
                        k / stepK % kernel.at[d] * dilation.at[d] - padding.at[d];
      if (i < 0 || i >= image.at[d])
        return -1;
      place = place * image.at[d] + i;
    }
    return place;
  }
};

inline int64_t counted(int64_t image, int64_t padding, int64_t extent, int64_t stride)
{
  return (image + 2 * padding - extent) / stride + 1;
}

/* Whether an array has the shape of one number for each plane. */
inline bool isBiasOf(const Array *bias, const Array *planes)
{
  if (!areLive(bias, planes) || bias->type != planes->type ||
      bias->size.size() != planes->size.size())
    return false;
  for (size_t d = 0; d < bias->size.size(); d++)
    if (bias->size[d] != (d == 1 ? planes->size[1] : 1))
      return false;
  return true;
}

} // namespace cudnn

#define API extern "C" __attribute__((visibility("default")))

#endif
