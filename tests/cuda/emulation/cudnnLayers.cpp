/* cuDNN's pooling, softmax and batch normalisation, by their definitions. */
#include "cudnn.h"

#include <cmath>

using namespace cudnn;

namespace
{

enum { MAX = 0, MEAN_OF_ALL = 1, MEAN_OF_ELEMENTS = 2, MAX_DETERMINISTIC = 3 };
enum { ACCURATE = 1, LOG = 2, ALONG_CHANNELS = 1 };
enum { PER_ACTIVATION = 0, SPATIAL = 1 };

/* ---- Pooling --------------------------------------------------------------------------------- */

int checkPooling(const Window *window, const Array *image, const Array *map)
{
  REQUIRE(areLive(window, image, map), "a descriptor that is none");
  const size_t n = image->size.size();
  REQUIRE(n == map->size.size() && n == window->size.size() + 2 && image->type == map->type &&
              image->size[0] == map->size[0] && image->size[1] == map->size[1],
          "descriptors that do not fit");
  for (size_t d = 2; d < n; d++)
    REQUIRE(map->size[d] == counted(image->size[d], window->padding[d - 2], window->size[d - 2],
                                    window->stride[d - 2]),
            "sizes of the map");
  return SUCCESS;
}

Places placesOf(const Window *window, const Array *image, const Array *map)
{
  return Places{Three(image->size, 2, 1),    Three(map->size, 2, 1),
                Three(window->size, 0, 1),   Three(window->padding, 0, 0),
                Three(window->stride, 0, 1), Three(std::vector<int>(3, 1), 0, 1)};
}

bool isMax(const Window *window)
{
  return window->mode == MAX || window->mode == MAX_DETERMINISTIC;
}

/* For each window: what each of its elements counts. */
struct Counts {
  std::vector<double> divisor;
  Counts(const Window *window, const Places &places) : divisor(places.map.volume())
  {
    places.visit([&](int64_t m, int64_t, int64_t i) {
      divisor[m] += window->mode == MEAN_OF_ALL || i >= 0 ? 1 : 0;
    });
  }
};

/* ---- Softmax along the second dimension ------------------------------------------------------ */

int checkSoftmax(int algorithm, int mode, const Array *one, const Array *other)
{
  REQUIRE(areLive(one, other) && sameSizes(one, other), "arrays that differ");
  REQUIRE((algorithm == ACCURATE || algorithm == LOG) && mode == ALONG_CHANNELS, "the algorithm");
  return SUCCESS;
}

/* Calls visit(first, step, count) for each row along the second dimension. */
template <typename Visit> void visitRows(const Array *array, Visit visit)
{
  const size_t count = (size_t)array->size[1];
  const size_t step = countOf(array) / array->size[0] / count;
  for (size_t b = 0; b < (size_t)array->size[0]; b++)
    for (size_t i = 0; i < step; i++)
      visit(b * count * step + i, step, count);
}

/* ---- Batch normalisation --------------------------------------------------------------------- */

/* Batch normalisation: what belongs to a plane. */
struct Norm {
  int64_t batch, planes, positions;
  Norm(const Array *x)
      : batch(x->size[0]), planes(x->size[1]),
        positions((int64_t)(countOf(x) / ((size_t)x->size[0] * x->size[1])))
  {
  }
  double count() const { return (double)(batch * positions); }
  template <typename Visit> void visit(int64_t plane, Visit visit) const
  {
    for (int64_t b = 0; b < batch; b++)
      for (int64_t i = 0; i < positions; i++)
        visit((size_t)((b * planes + plane) * positions + i));
  }
};

int checkNorm(int mode, const Array *x, const Array *y, const Array *statistics, double epsilon)
{
  REQUIRE(areLive(x, y, statistics) && sameSizes(x, y), "arrays that differ");
  REQUIRE(isBiasOf(statistics, x), "the shape of statistics");
  REQUIRE(mode == SPATIAL || isAll(std::vector<int>(x->size.begin() + 2, x->size.end()), 1),
          "statistics of each activation");
  REQUIRE(epsilon >= 0, "a negative epsilon");
  return SUCCESS;
}

} // namespace

API int cudnnSetPoolingNdDescriptor(Window *window, int mode, int nan, int count, const int *size,
                                    const int *padding, const int *stride)
{
  REQUIRE(areLive(window), "no descriptor");
  REQUIRE(mode >= MAX && mode <= MAX_DETERMINISTIC && nan >= 0 && nan <= 1, "the mode");
  REQUIRE(count == 2 || count == 3, "dimensions");
  for (int d = 0; d < count; d++)
    REQUIRE(size[d] >= 1 && stride[d] >= 1 && padding[d] >= 0 && padding[d] < size[d],
            "numbers of the window");
  window->size.assign(size, size + count);
  window->padding.assign(padding, padding + count);
  window->stride.assign(stride, stride + count);
  window->mode = mode;
  return SUCCESS;
}

API int cudnnPoolingForward(Handle *handle, const Window *window, const void *alpha, const Array *x,
                            const void *xData, const void *beta, const Array *y, void *yData)
{
  if (const int unready = checkHandle(handle))
    return unready;
  const int status = checkPooling(window, x, y);
  if (status)
    return status;
  const char *name = "PoolingForward";
  const Places places = placesOf(window, x, y);
  const int64_t planes = (int64_t)x->size[0] * x->size[1];
  openMemory();
  {
    const Elements image(name, x, xData);
    Result result(name, y, yData, alpha, beta);
    const Counts counts(window, places);
    for (int64_t plane = 0; plane < planes; plane++) {
      std::vector<double> found(places.map.volume(), isMax(window) ? -INFINITY : 0);
      places.visit([&](int64_t m, int64_t, int64_t i) {
        if (i < 0)
          return;
        const double value = image.at(plane * places.image.volume() + i);
        found[m] = isMax(window) ? std::max(found[m], value) : found[m] + value;
      });
      for (int64_t m = 0; m < places.map.volume(); m++)
        result.set(plane * places.map.volume() + m,
                   isMax(window) ? found[m] : found[m] / counts.divisor[m]);
    }
  }
  closeMemory();
  note(handle, name, window->mode, 0);
  return SUCCESS;
}

API int cudnnPoolingBackward(Handle *handle, const Window *window, const void *alpha,
                             const Array *y, const void *yData, const Array *dy, const void *dyData,
                             const Array *x, const void *xData, const void *beta, const Array *dx,
                             void *dxData)
{
  if (const int unready = checkHandle(handle))
    return unready;
  const int status = checkPooling(window, x, y);
  if (status)
    return status;
  REQUIRE(areLive(dy, dx) && sameSizes(dy, y) && sameSizes(dx, x), "shapes of gradients");
  const char *name = "PoolingBackward";
  const Places places = placesOf(window, x, y);
  const int64_t planes = (int64_t)x->size[0] * x->size[1];
  openMemory();
  {
    const Elements image(name, x, xData), pooled(name, y, yData), grad(name, dy, dyData);
    Result result(name, dx, dxData, alpha, beta);
    const Counts counts(window, places);
    for (int64_t plane = 0; plane < planes; plane++) {
      const int64_t first = plane * places.image.volume(), firstOfMap = plane * places.map.volume();
      std::vector<double> sums(places.image.volume());
      std::vector<char> done(places.map.volume()); /* the first of equal maxima has the gradient */
      places.visit([&](int64_t m, int64_t, int64_t i) {
        if (i < 0)
          return;
        if (!isMax(window)) {
          sums[i] += grad.at(firstOfMap + m) / counts.divisor[m];
        } else if (!done[m] && image.at(first + i) == pooled.at(firstOfMap + m)) {
          sums[i] += grad.at(firstOfMap + m);
          done[m] = 1;
        }
      });
      for (int64_t i = 0; i < places.image.volume(); i++)
        result.set(first + i, sums[i]);
    }
  }
  closeMemory();
  note(handle, name, window->mode, 0);
  return SUCCESS;
}

API int cudnnSoftmaxForward(Handle *handle, int algorithm, int mode, const void *alpha,
                            const Array *x, const void *xData, const void *beta, const Array *y,
                            void *yData)
{
  if (const int unready = checkHandle(handle))
    return unready;
  const int status = checkSoftmax(algorithm, mode, x, y);
  if (status)
    return status;
  const char *name = "SoftmaxForward";
  openMemory();
  {
    const Elements from(name, x, xData);
    Result to(name, y, yData, alpha, beta);
    visitRows(x, [&](size_t first, size_t step, size_t count) {
      double greatest = -INFINITY, sum = 0;
      for (size_t i = 0; i < count; i++)
        greatest = std::max(greatest, from.at(first + i * step));
      for (size_t i = 0; i < count; i++)
        sum += std::exp(from.at(first + i * step) - greatest);
      for (size_t i = 0; i < count; i++) {
        const double value = from.at(first + i * step) - greatest;
        to.set(first + i * step, algorithm == LOG ? value - std::log(sum) : std::exp(value) / sum);
      }
    });
  }
  closeMemory();
  note(handle, name, algorithm, 0);
  return SUCCESS;
}

API int cudnnSoftmaxBackward(Handle *handle, int algorithm, int mode, const void *alpha,
                             const Array *y, const void *yData, const Array *dy, const void *dyData,
                             const void *beta, const Array *dx, void *dxData)
{
  if (const int unready = checkHandle(handle))
    return unready;
  const int status = checkSoftmax(algorithm, mode, y, dy);
  if (status)
    return status;
  REQUIRE(areLive(dx) && sameSizes(dx, y), "the shape of the gradient");
  const char *name = "SoftmaxBackward";
  openMemory();
  {
    const Elements output(name, y, yData), grad(name, dy, dyData);
    Result to(name, dx, dxData, alpha, beta);
    visitRows(y, [&](size_t first, size_t step, size_t count) {
      double sum = 0;
      for (size_t i = first; i < first + count * step; i += step)
        sum += algorithm == LOG ? grad.at(i) : grad.at(i) * output.at(i);
      for (size_t i = first; i < first + count * step; i += step)
        to.set(i, algorithm == LOG ? grad.at(i) - std::exp(output.at(i)) * sum
                                   : output.at(i) * (grad.at(i) - sum));
    });
  }
  closeMemory();
  note(handle, name, algorithm, 0);
  return SUCCESS;
}

API int cudnnBatchNormalizationForwardTraining(Handle *handle, int mode, const void *alpha,
                                               const void *beta, const Array *x, const void *xData,
                                               const Array *y, void *yData, const Array *statistics,
                                               const void *scale, const void *bias, double momentum,
                                               void *runningMean, void *runningVariance,
                                               double epsilon, void *savedMean, void *savedInverse)
{
  if (const int unready = checkHandle(handle))
    return unready;
  const int status = checkNorm(mode, x, y, statistics, epsilon);
  if (status)
    return status;
  REQUIRE(!runningMean == !runningVariance && !savedMean == !savedInverse, "half of a pair");
  const char *name = "BatchNormalizationForwardTraining";
  const Norm norm(x);
  REQUIRE(norm.count() > 1, "planes of one element");
  openMemory();
  {
    const Elements from(name, x, xData), factor(name, statistics, scale),
        shift(name, statistics, bias);
    Result to(name, y, yData, alpha, beta);
    for (int64_t plane = 0; plane < norm.planes; plane++) {
      double mean = 0, squares = 0;
      norm.visit(plane, [&](size_t i) { mean += from.at(i) / norm.count(); });
      norm.visit(plane, [&](size_t i) { squares += std::pow(from.at(i) - mean, 2); });
      const double inverse = 1 / std::sqrt(squares / norm.count() + epsilon);
      norm.visit(plane, [&](size_t i) {
        to.set(i, (from.at(i) - mean) * inverse * factor.at(plane) + shift.at(plane));
      });
      if (runningMean) {
        Elements means(name, statistics, runningMean, true);
        Elements variances(name, statistics, runningVariance, true);
        const double variance = squares / (norm.count() - 1);
        means.set(plane, momentum * mean + (1 - momentum) * means.at(plane));
        variances.set(plane, momentum * variance + (1 - momentum) * variances.at(plane));
      }
      if (savedMean) {
        Elements(name, statistics, savedMean, true, false).set(plane, mean);
        Elements(name, statistics, savedInverse, true, false).set(plane, inverse);
      }
    }
  }
  closeMemory();
  note(handle, name, mode, 0);
  return SUCCESS;
}

API int cudnnBatchNormalizationForwardInference(Handle *handle, int mode, const void *alpha,
                                                const void *beta, const Array *x, const void *xData,
                                                const Array *y, void *yData,
                                                const Array *statistics, const void *scale,
                                                const void *bias, const void *mean,
                                                const void *variance, double epsilon)
{
  if (const int unready = checkHandle(handle))
    return unready;
  const int status = checkNorm(mode, x, y, statistics, epsilon);
  if (status)
    return status;
  const char *name = "BatchNormalizationForwardInference";
  const Norm norm(x);
  openMemory();
  {
    const Elements from(name, x, xData), factor(name, statistics, scale),
        shift(name, statistics, bias), means(name, statistics, mean),
        variances(name, statistics, variance);
    Result to(name, y, yData, alpha, beta);
    for (int64_t plane = 0; plane < norm.planes; plane++) {
      const double inverse = 1 / std::sqrt(variances.at(plane) + epsilon);
      norm.visit(plane, [&](size_t i) {
        to.set(i, (from.at(i) - means.at(plane)) * inverse * factor.at(plane) + shift.at(plane));
      });
    }
  }
  closeMemory();
  note(handle, name, mode, 0);
  return SUCCESS;
}

API int cudnnBatchNormalizationBackward(Handle *handle, int mode, const void *alphaData,
                                        const void *betaData, const void *alphaScale,
                                        const void *betaScale, const Array *x, const void *xData,
                                        const Array *dy, const void *dyData, const Array *dx,
                                        void *dxData, const Array *statistics, const void *scale,
                                        void *dScale, void *dBias, double epsilon,
                                        const void *savedMean, const void *savedInverse)
{
  if (const int unready = checkHandle(handle))
    return unready;
  const int status = checkNorm(mode, x, dy, statistics, epsilon);
  if (status)
    return status;
  REQUIRE(areLive(dx) && sameSizes(dx, x), "the shape of the gradient");
  REQUIRE(savedMean && savedInverse, "saved statistics"); /* pythnn always has them */
  const char *name = "BatchNormalizationBackward";
  const Norm norm(x);
  openMemory();
  {
    const Elements from(name, x, xData), grad(name, dy, dyData), factor(name, statistics, scale),
        means(name, statistics, savedMean), inverses(name, statistics, savedInverse);
    Result to(name, dx, dxData, alphaData, betaData);
    Result ofScale(name, statistics, dScale, alphaScale, betaScale);
    Result ofBias(name, statistics, dBias, alphaScale, betaScale);
    for (int64_t plane = 0; plane < norm.planes; plane++) {
      const double mean = means.at(plane), inverse = inverses.at(plane);
      double sum = 0, product = 0;
      norm.visit(plane, [&](size_t i) {
        sum += grad.at(i);
        product += grad.at(i) * (from.at(i) - mean) * inverse;
      });
      norm.visit(plane, [&](size_t i) {
        const double along = (from.at(i) - mean) * inverse * product;
        to.set(i, factor.at(plane) * inverse * (grad.at(i) - (sum + along) / norm.count()));
      });
      ofScale.set(plane, product);
      ofBias.set(plane, sum);
    }
  }
  closeMemory();
  note(handle, name, mode, 0);
  return SUCCESS;
}
