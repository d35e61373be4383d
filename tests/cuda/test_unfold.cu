/* Unfolding, folding and the convolution engine against their definitions. All numbers are
 * multiples of a power of two, so that sums are exact in any order. */
#define THC_TYPE_CUDADOUBLE
#include <cuda/THCUNNExtra.h>
#include <cuda/generic/convolution/engine/engine.cuh>
#include <cuda/generic/convolution/engine/unfold.cuh>

#include "kernels.cuh"

static THCState *state;
static unsigned seed = 1;

/* A multiple of 1/8 from -1/2 to 3/8. */
static double next()
{
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 29) / 8.0 - 0.5;
}

static std::vector<double> random(int64_t count)
{
  std::vector<double> values(count);
  for (double &value : values)
    value = next();
  return values;
}

static int64_t product(const int64_t *size)
{
  return size[0] * size[1] * size[2];
}

/* The image element that a tap sees at a map position; -1 outside. */
static int64_t seen(const THNNConvolution &g, int64_t tap, int64_t position)
{
  int64_t at[3];
  for (int d = 2; d >= 0; d--) {
    at[d] = position % g.output[d] * g.stride[d] - g.pad[d] + tap % g.kernel[d] * g.dilation[d];
    position /= g.output[d];
    tap /= g.kernel[d];
    if (at[d] < 0 || at[d] >= g.input[d])
      return -1;
  }
  return (at[0] * g.input[1] + at[1]) * g.input[2] + at[2];
}

#define START(plan)                                                                                \
  THCPlan plan;                                                                                    \
  THC_planStart(&plan, "test", state);                                                             \
  THC_planBlas(&plan);                                                                             \
  THC_planAcquire(&plan)

static void testUnfoldAndFold(const THNNConvolution &g)
{
  const int64_t image = product(g.input), map = product(g.output), taps = product(g.kernel);
  const int64_t rows = g.inputPlanes * taps;
  const std::vector<double> images = random(g.batch * g.inputPlanes * image);
  std::vector<double> columns(g.batch * rows * map), folded(images.size(), 0.0);
  const std::vector<double> bias = random(g.inputPlanes), gradients = random(columns.size());
  for (int64_t n = 0; n < g.batch; n++)
    for (int64_t row = 0; row < rows; row++)
      for (int64_t p = 0; p < map; p++) {
        const int64_t at = seen(g, row % taps, p), i = (n * rows + row) * map + p;
        const int64_t plane = (n * g.inputPlanes + row / taps) * image;
        columns[i] = at < 0 ? 0 : images[plane + at];
        if (at >= 0)
          folded[plane + at] += gradients[i];
      }
  for (size_t i = 0; i < folded.size(); i++)
    folded[i] += bias[i / image % g.inputPlanes];

  DeviceArray<double> in(images), out(columns.size()), back(gradients), start(bias),
      sums(images.size());
  const int64_t stride = g.inputPlanes * image;
  START(plan);
  THCUNN_(unfold_toColumns)(&plan, &g,
                            Planes<const double>{in.data, g.batch, g.inputPlanes, stride},
                            Columns<double>{out.data, rows * map, map});
  THCUNN_(unfold_toImage)(&plan, &g, Columns<const double>{back.data, rows * map, map}, start.data,
                          Planes<double>{sums.data, g.batch, g.inputPlanes, stride});
  THC_planRelease(&plan);
  CHECK(out.read() == columns);
  CHECK(sums.read() == folded);
}

/* The exported functions on one image: they are unfold and fold. */
static void testExported(const THNNConvolution &g)
{
  const int64_t image = product(g.input), map = product(g.output), taps = product(g.kernel);
  const std::vector<double> pixels = random(g.inputPlanes * image);
  const std::vector<double> gradients = random(g.inputPlanes * taps * map);
  std::vector<double> columns(gradients.size()), folded(pixels.size());
  for (int64_t row = 0; row < g.inputPlanes * taps; row++)
    for (int64_t p = 0; p < map; p++) {
      const int64_t at = seen(g, row % taps, p), plane = row / taps * image;
      columns[row * map + p] = at < 0 ? 0 : pixels[plane + at];
      if (at >= 0)
        folded[plane + at] += gradients[row * map + p];
    }
  DeviceArray<double> x(pixels), out(columns.size()), back(gradients), sums(pixels.size());
  THNN_CudaDoublevol2col(state, x.data, g.inputPlanes, g.input[0], g.input[1], g.input[2],
                         g.output[0], g.output[1], g.output[2], g.kernel[0], g.kernel[1],
                         g.kernel[2], g.pad[0], g.pad[1], g.pad[2], g.stride[0], g.stride[1],
                         g.stride[2], g.dilation[0], g.dilation[1], g.dilation[2], out.data);
  THNN_CudaDoublecol2vol(state, back.data, g.inputPlanes, g.input[0], g.input[1], g.input[2],
                         g.output[0], g.output[1], g.output[2], g.kernel[0], g.kernel[1],
                         g.kernel[2], g.pad[0], g.pad[1], g.pad[2], g.stride[0], g.stride[1],
                         g.stride[2], g.dilation[0], g.dilation[1], g.dilation[2], sums.data);
  CHECK(out.read() == columns);
  CHECK(sums.read() == folded);
  if (g.input[0] != 1 || g.output[0] != 1)
    return;
  DeviceArray<double> plain(columns.size()), total(pixels.size());
  THNN_CudaDoubleim2col(state, x.data, g.inputPlanes, g.input[1], g.input[2], g.output[1],
                        g.output[2], g.kernel[1], g.kernel[2], g.pad[1], g.pad[2], g.stride[1],
                        g.stride[2], g.dilation[1], g.dilation[2], plain.data);
  THNN_CudaDoublecol2im(state, back.data, g.inputPlanes, g.input[1], g.input[2], g.output[1],
                        g.output[2], g.kernel[1], g.kernel[2], g.pad[1], g.pad[2], g.stride[1],
                        g.stride[2], g.dilation[1], g.dilation[2], total.data);
  CHECK(plain.read() == columns);
  CHECK(total.read() == folded);
}

static void testConvolution(const THNNConvolution &g)
{
  const int64_t image = product(g.input), map = product(g.output), taps = product(g.kernel);
  const std::vector<double> images = random(g.batch * g.inputPlanes * image);
  const std::vector<double> maps = random(g.batch * g.outputPlanes * map);
  const std::vector<double> weight = random(g.outputPlanes * g.inputPlanes * taps);
  const std::vector<double> biasOfMaps = random(g.outputPlanes),
                            biasOfImages = random(g.inputPlanes);
  const double scale = 0.75;
  std::vector<double> forward(maps.size()), data(images.size()), gradWeight = weight,
                                                                 gradBias = biasOfMaps;
  for (size_t i = 0; i < forward.size(); i++) {
    forward[i] = biasOfMaps[i / map % g.outputPlanes];
    gradBias[i / map % g.outputPlanes] += scale * maps[i];
  }
  for (size_t i = 0; i < data.size(); i++)
    data[i] = biasOfImages[i / image % g.inputPlanes];
  for (int64_t n = 0; n < g.batch; n++)
    for (int64_t m = 0; m < g.outputPlanes; m++)
      for (int64_t c = 0; c < g.inputPlanes; c++)
        for (int64_t t = 0; t < taps; t++)
          for (int64_t p = 0; p < map; p++) {
            const int64_t at = seen(g, t, p);
            if (at < 0)
              continue;
            const int64_t w = (m * g.inputPlanes + c) * taps + t;
            const int64_t x = (n * g.inputPlanes + c) * image + at;
            const int64_t y = (n * g.outputPlanes + m) * map + p;
            forward[y] += weight[w] * images[x];
            data[x] += weight[w] * maps[y];
            gradWeight[w] += scale * images[x] * maps[y];
          }

  DeviceArray<double> x(images), y(maps), w(weight), bm(biasOfMaps), bi(biasOfImages);
  DeviceArray<double> forwardFound(maps.size()), dataFound(images.size()), plain(maps.size());
  const THCConvolutionPlan of[] = {
      THCUNN_(engine_prepare)(state, &g, THNN_CONVOLUTION_FORWARD),
      THCUNN_(engine_prepare)(state, &g, THNN_CONVOLUTION_BACKWARD_DATA),
      THCUNN_(engine_prepare)(state, &g, THNN_CONVOLUTION_BACKWARD_WEIGHT)};
  int64_t bytes = THCUNN_(engine_biasScratchBytes)(g.batch, g.outputPlanes, map);
  for (const THCConvolutionPlan &part : of)
    bytes = part.scratchBytes > bytes ? part.scratchBytes : bytes;
  DeviceArray<double> scratch(bytes / sizeof(double));
  START(plan);
  THCUNN_(engine_forward)(&plan, &of[0], x.data, w.data, bm.data, forwardFound.data, scratch.data);
  THCUNN_(engine_forward)(&plan, &of[0], x.data, w.data, NULL, plain.data, scratch.data);
  THCUNN_(engine_backwardData)(&plan, &of[1], y.data, w.data, bi.data, dataFound.data,
                               scratch.data);
  THCUNN_(engine_backwardWeight)(&plan, &of[2], x.data, y.data, scale, w.data, scratch.data);
  THCUNN_(engine_backwardBias)(&plan, g.batch, g.outputPlanes, map, y.data, scale, bm.data,
                               scratch.data);
  THC_planRelease(&plan);
  std::vector<double> withoutBias = forward;
  for (size_t i = 0; i < forward.size(); i++)
    withoutBias[i] -= biasOfMaps[i / map % g.outputPlanes];
  CHECK(forwardFound.read() == forward);
  CHECK(plain.read() == withoutBias);
  CHECK(dataFound.read() == data);
  CHECK(w.read() == gradWeight);
  CHECK(bm.read() == gradBias);
}

#define ORDINARY(...) {__VA_ARGS__, false, 0, 0, false, false}

/*  batch, planes in, out   input      output     kernel     stride     dilation   pad */
static const THNNConvolution geometries[] = {
    ORDINARY(2, 3, 4, {1, 5, 6}, {1, 3, 4}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}),
    ORDINARY(1, 2, 3, {1, 7, 6}, {1, 4, 3}, {1, 3, 2}, {1, 2, 2}, {1, 1, 1}, {0, 1, 0}),
    ORDINARY(3, 2, 2, {1, 9, 9}, {1, 3, 5}, {1, 3, 3}, {1, 3, 2}, {1, 2, 3}, {0, 1, 3}),
    ORDINARY(2, 1, 2, {1, 8, 8}, {1, 2, 2}, {1, 3, 3}, {1, 6, 4}, {1, 4, 6}, {0, 4, 5}),
    ORDINARY(2, 2, 2, {1, 6, 7}, {1, 3, 3}, {1, 2, 3}, {1, 1, 1}, {1, 1, 1}, {0, -1, -1}),
    /* beyond */
    ORDINARY(1, 2, 2, {1, 4, 4}, {1, 7, 9}, {1, 3, 3}, {1, 2, 1}, {1, 1, 1}, {0, 2, 4}),
    ORDINARY(2, 2, 3, {4, 5, 6}, {3, 2, 5}, {2, 3, 2}, {1, 2, 1}, {1, 1, 1}, {0, 0, 0}),
    ORDINARY(2, 2, 2, {5, 5, 5}, {3, 3, 2}, {3, 2, 3}, {2, 1, 3}, {1, 2, 2}, {1, 0, 2}),
    /* pointwise */
    ORDINARY(3, 4, 5, {1, 3, 3}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}),
    ORDINARY(1, 4, 5, {2, 3, 3}, {2, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}),
    /* larger than a chunk: several planes, several images, one image side by side */
    ORDINARY(2, 9, 2, {1, 24, 24}, {1, 24, 24}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}),
    ORDINARY(9, 2, 3, {1, 9, 9}, {1, 9, 9}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}),
    ORDINARY(2, 3, 2, {1, 34, 34}, {1, 33, 33}, {1, 2, 2}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}),
    ORDINARY(2, 1, 2, {1, 99, 99}, {1, 99, 99}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}),
};

int main(void)
{
  catchErrors();
  state = THCState_new(0);
  for (int largeIndices = 0; largeIndices < 2; largeIndices++) {
    if (largeIndices)
      THC_largestIndex = 0;
    for (const THNNConvolution &geometry : geometries) {
      RUN(testUnfoldAndFold(geometry));
      RUN(testExported(geometry));
      RUN(testConvolution(geometry));
    }
  }
  THCState_free(state);
  return checkResult();
}
