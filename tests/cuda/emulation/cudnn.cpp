/* The part of cuDNN 9 that pythnn uses: each call's descriptors and arrays are checked, and results
 * computed by their definitions. What ran is listed for tests (cuemuCudnnCalls). Poolings, softmax
 * and batch normalisation are in cudnnLayers.cpp. */
#include "cudnn.h"

using namespace cudnn;

namespace
{

const size_t VERSION = 90000;

enum { CONVOLUTION = 0, CROSS_CORRELATION = 1 };
enum { FMA_MATH = 3 };

/* ---- Convolutions ---------------------------------------------------------------------------- */

/* The operations, as pythnn names them, and which argument is the image, the weight and the map. */
enum Operation { OUTPUT, GRAD_INPUT, GRAD_WEIGHT };

int checkConvolution(const Array *image, const Array *weight, const Array *map,
                     const Window *window)
{
  REQUIRE(areLive(image, weight, map, window), "a descriptor that is none");
  const size_t n = image->size.size();
  REQUIRE(n >= 4 && n <= MOST_DIMENSIONS && weight->size.size() == n && map->size.size() == n &&
              window->padding.size() == n - 2,
          "descriptors of different dimensions");
  REQUIRE(image->type == weight->type && image->type == map->type && image->type == window->type,
          "descriptors of different types");
  REQUIRE(image->size[0] == map->size[0], "batches that differ");
  REQUIRE(image->size[1] == weight->size[1] * window->groups, "planes of the image");
  REQUIRE(map->size[1] == weight->size[0] && weight->size[0] % window->groups == 0,
          "planes of the map");
  for (size_t d = 2; d < n; d++) {
    const int64_t extent = (int64_t)window->dilation[d - 2] * (weight->size[d] - 1) + 1;
    REQUIRE(map->size[d] ==
                counted(image->size[d], window->padding[d - 2], extent, window->stride[d - 2]),
            "sizes of the map");
  }
  return SUCCESS;
}

bool isSquare(const Array *weight, int size)
{
  return weight->size.size() == 4 && weight->size[2] == size && weight->size[3] == size;
}

/* cuDNN's numbers of algorithms, by operation. */
enum Algorithm { IMPLICIT, PRECOMPUTED, EXPLICIT, DIRECT, FFT, TILES, WINOGRAD, NONFUSED };
const std::vector<Algorithm> ALGORITHMS[] = {
    {IMPLICIT, PRECOMPUTED, EXPLICIT, DIRECT, FFT, TILES, WINOGRAD, NONFUSED},
    {IMPLICIT, PRECOMPUTED, FFT, TILES, WINOGRAD, NONFUSED},
    {IMPLICIT, PRECOMPUTED, FFT, EXPLICIT, WINOGRAD, NONFUSED, TILES}};

/* The scratch memory of an algorithm, or a status other than success where it does not apply. */
int scratchOf(Operation operation, const Array *image, const Array *weight, const Array *map,
              const Window *window, int number, size_t *bytes)
{
  REQUIRE(number >= 0 && number < (int)ALGORITHMS[operation].size(), "no such algorithm");
  const bool plain = isAll(window->stride, 1) && isAll(window->dilation, 1);
  const bool plane = image->size.size() == 4;
  const size_t element = image->type == DOUBLE ? sizeof(double) : sizeof(float);
  *bytes = 0;
  switch (ALGORITHMS[operation][number]) {
  case IMPLICIT:
    return SUCCESS;
  case PRECOMPUTED:
    *bytes = countOf(map) / map->size[0] / map->size[1] * sizeof(int);
    return SUCCESS;
  case EXPLICIT:
    *bytes =
        countOf(map) / map->size[0] / map->size[1] * countOf(weight) / weight->size[0] * element;
    return plane ? SUCCESS : fail(NOT_SUPPORTED, "planes only");
  case DIRECT:
    return fail(NOT_SUPPORTED, "no kernels");
  case FFT:
  case TILES:
    *bytes = 2 * (bytesOf(image) + bytesOf(weight) + bytesOf(map));
    return plain && plane ? SUCCESS : fail(NOT_SUPPORTED, "planes without strides only");
  case WINOGRAD:
    if (operation == GRAD_WEIGHT)
      return fail(NOT_SUPPORTED, "no kernels");
    return plain && isSquare(weight, 3) && image->type == FLOAT ? SUCCESS
                                                                : fail(NOT_SUPPORTED, "3 x 3");
  case NONFUSED:
    *bytes = 16 * countOf(weight) * element;
    return plain && (isSquare(weight, 3) || isSquare(weight, 5)) ? SUCCESS
                                                                 : fail(NOT_SUPPORTED, "sizes");
  }
  return NOT_SUPPORTED;
}

struct Advice {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
};

bool isDeterministic(Operation operation, Algorithm algorithm)
{
  return operation == OUTPUT || algorithm == PRECOMPUTED || algorithm >= FFT;
}

/* Lists algorithms as cuDNN does, the fastest first: those that need much memory. */
int advise(Operation operation, const Array *image, const Array *weight, const Array *map,
           const Window *window, int wanted, int *returned, Advice *advice)
{
  const int status = checkConvolution(image, weight, map, window);
  if (status)
    return status;
  const int count = (int)ALGORITHMS[operation].size();
  std::vector<Advice> all;
  for (int number = 0; number < count; number++) {
    Advice one = {number, SUCCESS, -1, 0, 0, window->math, {0, 0, 0}};
    one.determinism = isDeterministic(operation, ALGORITHMS[operation][number]);
    one.status = scratchOf(operation, image, weight, map, window, number, &one.memory);
    all.push_back(one);
  }
  std::stable_sort(all.begin(), all.end(), [](const Advice &one, const Advice &other) {
    return one.status != other.status ? one.status < other.status : one.memory > other.memory;
  });
  *returned = std::min(wanted, count);
  std::copy(all.begin(), all.begin() + *returned, advice);
  return SUCCESS;
}

/* Adds up all products of an element of the image, of the weight and of the map. */
template <typename Visit>
void visitProducts(const Array *image, const Array *weight, const Array *map, const Window *window,
                   Visit visit)
{
  const Places places = {Three(image->size, 2, 1),    Three(map->size, 2, 1),
                         Three(weight->size, 2, 1),   Three(window->padding, 0, 0),
                         Three(window->stride, 0, 1), Three(window->dilation, 0, 1)};
  const int64_t taps = places.kernel.volume(), inside = weight->size[1];
  const int64_t perGroup = weight->size[0] / window->groups;
  for (int64_t b = 0; b < image->size[0]; b++)
    for (int64_t o = 0; o < weight->size[0]; o++)
      for (int64_t c = 0; c < inside; c++)
        places.visit([&](int64_t m, int64_t k, int64_t i) {
          if (i < 0)
            return;
          const int64_t plane = b * image->size[1] + o / perGroup * inside + c;
          const int64_t tap = window->mode == CROSS_CORRELATION ? k : taps - 1 - k;
          visit(plane * places.image.volume() + i, (o * inside + c) * taps + tap,
                (b * weight->size[0] + o) * places.map.volume() + m);
        });
}

int convolve(const char *name, Operation operation, Handle *handle, const void *alpha,
             const Array *const arrays[3], const void *const data[2], void *to,
             const Window *window, int number, void *scratch, size_t scratchBytes, const void *beta)
{
  if (const int unready = checkHandle(handle))
    return unready;
  const Array *image = arrays[0], *weight = arrays[1], *map = arrays[2];
  size_t needed = 0;
  int status = checkConvolution(image, weight, map, window);
  if (!status)
    status = scratchOf(operation, image, weight, map, window, number, &needed);
  if (status)
    return status;
  REQUIRE(scratchBytes >= needed && (needed == 0 || scratch), "too little scratch memory");
  const Array *target = operation == OUTPUT ? map : operation == GRAD_INPUT ? image : weight;
  const Array *first = operation == OUTPUT || operation == GRAD_WEIGHT ? image : weight;
  const Array *second = operation == OUTPUT ? weight : map;
  openMemory();
  if (needed)
    libraryWrite(name, scratch, needed);
  {
    const Elements one(name, first, data[0]), other(name, second, data[1]);
    std::vector<double> sums(countOf(target));
    visitProducts(image, weight, map, window, [&](int64_t i, int64_t w, int64_t m) {
      if (operation == OUTPUT)
        sums[m] += one.at(i) * other.at(w);
      else if (operation == GRAD_INPUT)
        sums[i] += one.at(w) * other.at(m);
      else
        sums[w] += one.at(i) * other.at(m);
    });
    Result result(name, target, to, alpha, beta);
    for (size_t i = 0; i < sums.size(); i++)
      result.set(i, sums[i]);
  }
  closeMemory();
  note(handle, name, number, scratchBytes);
  return SUCCESS;
}
} // namespace

/* ---- The library and its objects ------------------------------------------------------------- */

API size_t cudnnGetVersion(void)
{
  return VERSION;
}

API const char *cudnnGetErrorString(int status)
{
  switch (status) {
  case SUCCESS:
    return "CUDNN_STATUS_SUCCESS";
  case NOT_INITIALIZED:
    return "CUDNN_STATUS_NOT_INITIALIZED";
  case BAD_PARAM:
    return "CUDNN_STATUS_BAD_PARAM";
  case NOT_SUPPORTED:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  }
  return "CUDNN_STATUS_EXECUTION_FAILED";
}

API void cudnnGetLastErrorString(char *text, size_t bytes)
{
  snprintf(text, bytes, "%s", lastError.c_str());
}

/* What has run since the list was last emptied: name, algorithm or mode, bytes of scratch
 * memory, the stream. */
API const char *cuemuCudnnCalls(void)
{
  return calls.c_str();
}

API void cuemuCudnnForget(void)
{
  calls.clear();
}

/* Sets whether all functions that compute say that they do not support the call. */
API void cuemuCudnnRefuse(int refuse)
{
  refusing = refuse != 0;
}

/* How many handles and descriptors there are. */
API size_t cuemuCudnnObjects(void)
{
  return live.size();
}

API int cudnnCreate(Handle **handle)
{
  const int status = create(handle);
  (*handle)->device = currentDevice();
  return status;
}

API int cudnnDestroy(Handle *handle)
{
  return destroy(handle);
}

API int cudnnSetStream(Handle *handle, cudaStream_t stream)
{
  if (!areLive(handle))
    return fail(NOT_INITIALIZED, "no handle");
  handle->stream = stream;
  return SUCCESS;
}

#define OBJECTS(NAME, TYPE)                                                                        \
  API int cudnnCreate##NAME##Descriptor(TYPE **made)                                               \
  {                                                                                                \
    return create(made);                                                                           \
  }                                                                                                \
  API int cudnnDestroy##NAME##Descriptor(TYPE *object)                                             \
  {                                                                                                \
    return destroy(object);                                                                        \
  }
OBJECTS(Tensor, Array)
OBJECTS(Filter, Array)
OBJECTS(Convolution, Window)
OBJECTS(Pooling, Window)

namespace
{

bool areFrom(const int *values, int count, int least)
{
  return std::all_of(values, values + count, [=](int value) { return value >= least; });
}

int setArray(Array *array, int type, int count, const int *sizes)
{
  REQUIRE(areLive(array), "no descriptor");
  REQUIRE(type == FLOAT || type == DOUBLE, "the type of elements");
  REQUIRE(count >= 4 && count <= MOST_DIMENSIONS && areFrom(sizes, count, 1), "sizes");
  array->type = type;
  array->size.assign(sizes, sizes + count);
  return SUCCESS;
}

} // namespace

/* Only dense tensors: pythnn has no others. */
API int cudnnSetTensorNdDescriptor(Array *array, int type, int count, const int *sizes,
                                   const int *strides)
{
  const int status = setArray(array, type, count, sizes);
  int64_t dense = 1;
  for (int d = count - 1; !status && d >= 0; dense *= sizes[d--])
    REQUIRE(strides[d] == dense, "strides with gaps");
  return status;
}

API int cudnnSetFilterNdDescriptor(Array *array, int type, int format, int count, const int *sizes)
{
  REQUIRE(format == 0, "the format NCHW only");
  return setArray(array, type, count, sizes);
}

API int cudnnSetConvolutionNdDescriptor(Window *window, int count, const int *padding,
                                        const int *stride, const int *dilation, int mode, int type)
{
  REQUIRE(areLive(window), "no descriptor");
  REQUIRE((count == 2 || count == 3) && areFrom(padding, count, 0) && areFrom(stride, count, 1) &&
              areFrom(dilation, count, 1),
          "numbers of the window");
  REQUIRE((mode == CONVOLUTION || mode == CROSS_CORRELATION) && (type == FLOAT || type == DOUBLE),
          "the mode or the type of sums");
  window->padding.assign(padding, padding + count);
  window->stride.assign(stride, stride + count);
  window->dilation.assign(dilation, dilation + count);
  window->mode = mode;
  window->type = type;
  window->groups = 1;
  window->math = 0;
  return SUCCESS;
}

API int cudnnSetConvolutionGroupCount(Window *window, int groups)
{
  REQUIRE(areLive(window) && groups >= 1, "groups");
  window->groups = groups;
  return SUCCESS;
}

API int cudnnSetConvolutionMathType(Window *window, int math)
{
  REQUIRE(areLive(window) && math >= 0 && math <= FMA_MATH, "the kind of arithmetic");
  window->math = math;
  return SUCCESS;
}

/* ---- Convolutions ---------------------------------------------------------------------------- */

API int cudnnGetConvolutionForwardAlgorithm_v7(Handle *handle, const Array *x, const Array *w,
                                               const Window *window, const Array *y, int wanted,
                                               int *returned, Advice *advice)
{
  REQUIRE(areLive(handle), "no handle");
  return advise(OUTPUT, x, w, y, window, wanted, returned, advice);
}

API int cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle *handle, const Array *w, const Array *dy,
                                                    const Window *window, const Array *dx,
                                                    int wanted, int *returned, Advice *advice)
{
  REQUIRE(areLive(handle), "no handle");
  return advise(GRAD_INPUT, dx, w, dy, window, wanted, returned, advice);
}

API int cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle *handle, const Array *x,
                                                      const Array *dy, const Window *window,
                                                      const Array *dw, int wanted, int *returned,
                                                      Advice *advice)
{
  REQUIRE(areLive(handle), "no handle");
  return advise(GRAD_WEIGHT, x, dw, dy, window, wanted, returned, advice);
}

namespace
{

int scratch(Operation operation, const Handle *handle, const Array *image, const Array *weight,
            const Array *map, const Window *window, int number, size_t *bytes)
{
  REQUIRE(areLive(handle), "no handle");
  const int status = checkConvolution(image, weight, map, window);
  return status ? status : scratchOf(operation, image, weight, map, window, number, bytes);
}

} // namespace

API int cudnnGetConvolutionForwardWorkspaceSize(Handle *handle, const Array *x, const Array *w,
                                                const Window *window, const Array *y, int number,
                                                size_t *bytes)
{
  return scratch(OUTPUT, handle, x, w, y, window, number, bytes);
}

API int cudnnGetConvolutionBackwardDataWorkspaceSize(Handle *handle, const Array *w,
                                                     const Array *dy, const Window *window,
                                                     const Array *dx, int number, size_t *bytes)
{
  return scratch(GRAD_INPUT, handle, dx, w, dy, window, number, bytes);
}

API int cudnnGetConvolutionBackwardFilterWorkspaceSize(Handle *handle, const Array *x,
                                                       const Array *dy, const Window *window,
                                                       const Array *dw, int number, size_t *bytes)
{
  return scratch(GRAD_WEIGHT, handle, x, dw, dy, window, number, bytes);
}

API int cudnnConvolutionForward(Handle *handle, const void *alpha, const Array *x,
                                const void *xData, const Array *w, const void *wData,
                                const Window *window, int number, void *scratch, size_t bytes,
                                const void *beta, const Array *y, void *yData)
{
  const Array *const arrays[] = {x, w, y};
  const void *const data[] = {xData, wData};
  return convolve("ConvolutionForward", OUTPUT, handle, alpha, arrays, data, yData, window, number,
                  scratch, bytes, beta);
}

API int cudnnConvolutionBackwardData(Handle *handle, const void *alpha, const Array *w,
                                     const void *wData, const Array *dy, const void *dyData,
                                     const Window *window, int number, void *scratch, size_t bytes,
                                     const void *beta, const Array *dx, void *dxData)
{
  const Array *const arrays[] = {dx, w, dy};
  const void *const data[] = {wData, dyData};
  return convolve("ConvolutionBackwardData", GRAD_INPUT, handle, alpha, arrays, data, dxData,
                  window, number, scratch, bytes, beta);
}

API int cudnnConvolutionBackwardFilter(Handle *handle, const void *alpha, const Array *x,
                                       const void *xData, const Array *dy, const void *dyData,
                                       const Window *window, int number, void *scratch,
                                       size_t bytes, const void *beta, const Array *dw,
                                       void *dwData)
{
  const Array *const arrays[] = {x, dw, dy};
  const void *const data[] = {xData, dyData};
  return convolve("ConvolutionBackwardFilter", GRAD_WEIGHT, handle, alpha, arrays, data, dwData,
                  window, number, scratch, bytes, beta);
}

API int cudnnConvolutionBackwardBias(Handle *handle, const void *alpha, const Array *dy,
                                     const void *dyData, const void *beta, const Array *db,
                                     void *dbData)
{
  if (const int unready = checkHandle(handle))
    return unready;
  REQUIRE(isBiasOf(db, dy), "the shape of the bias");
  const char *name = "ConvolutionBackwardBias";
  openMemory();
  {
    const Elements grad(name, dy, dyData);
    Result result(name, db, dbData, alpha, beta);
    const size_t planes = (size_t)dy->size[1], positions = countOf(dy) / dy->size[0] / planes;
    std::vector<double> sums(planes);
    for (size_t i = 0; i < countOf(dy); i++)
      sums[i / positions % planes] += grad.at(i);
    for (size_t plane = 0; plane < planes; plane++)
      result.set(plane, sums[plane]);
  }
  closeMemory();
  note(handle, name, 0, 0);
  return SUCCESS;
}

API int cudnnAddTensor(Handle *handle, const void *alpha, const Array *bias, const void *biasData,
                       const void *beta, const Array *to, void *toData)
{
  if (const int unready = checkHandle(handle))
    return unready;
  REQUIRE(isBiasOf(bias, to), "the shape of the bias");
  const char *name = "AddTensor";
  openMemory();
  {
    const Elements added(name, bias, biasData);
    Result result(name, to, toData, alpha, beta);
    const size_t planes = (size_t)to->size[1], positions = countOf(to) / to->size[0] / planes;
    for (size_t i = 0; i < countOf(to); i++)
      result.set(i, added.at(i / positions % planes));
  }
  closeMemory();
  note(handle, name, 0, 0);
  return SUCCESS;
}
