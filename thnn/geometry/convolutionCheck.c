#include "geometry/convolutionCheck.h"

#include <stdio.h>
#include <string.h>
#include <TH/TH.h>

static const char *const layouts[2][3] = {
    {"[batch x] nInputPlane x width", "[batch x] nInputPlane x height x width",
     "[batch x] nInputPlane x depth x height x width"},
    {"[batch x] nOutputPlane x width", "[batch x] nOutputPlane x height x width",
     "[batch x] nOutputPlane x depth x height x width"},
};

static const char *const weightLayouts[2][3] = {
    {"nOutputPlane x nInputPlane x kW", "nOutputPlane x nInputPlane x kH x kW",
     "nOutputPlane x nInputPlane x kT x kH x kW"},
    {"nInputPlane x nOutputPlane x kW", "nInputPlane x nOutputPlane x kH x kW",
     "nInputPlane x nOutputPlane x kT x kH x kW"},
};

/* The image elements from the first tap to the last, both included. */
static int64_t spread(int64_t kernel, int64_t dilation)
{
  return dilation * (kernel - 1) + 1;
}

static void checkScalars(const THNNConvolutionArguments *a)
{
  for (int i = 0; i < a->nDimension; i++) {
    if (a->kernel[i].name)
      THNN_checkPositive(a->function, a->kernel[i]);
    THNN_checkPositive(a->function, a->stride[i]);
    if (a->dilation[i].name)
      THNN_checkPositive(a->function, a->dilation[i]);
  }
  for (int i = 0; i < a->nDimension; i++) {
    const THNNScalar adjustment = a->adjustment[i];
    if (!adjustment.name)
      continue;
    /* A larger adjustment would add rows that no input reaches. */
    const int64_t dilation = a->dilation[i].name ? a->dilation[i].value : 1;
    if (adjustment.value < a->stride[i].value || adjustment.value < dilation)
      continue;
    char expected[96], found[32];
    snprintf(expected, sizeof expected, "less than the stride %lld or the dilation %lld",
             (long long)a->stride[i].value, (long long)dilation);
    snprintf(found, sizeof found, "%lld", (long long)adjustment.value);
    THNN_reject(a->function, adjustment.name, adjustment.position, expected, found);
  }
}

/* nInputPlane of a weight that is nOutputPlane x (nInputPlane * kernel). */
static int64_t flatInputPlanes(const THNNConvolutionArguments *a)
{
  int64_t kernel[3];
  for (int i = 0; i < a->nDimension; i++)
    kernel[i] = a->kernel[i].value;
  const int64_t volume = THNN_product(a->nDimension, kernel);
  const THNNText text = THNN_shapeText(THNN_makeShape("", 0, a->nDimension, kernel));
  if (volume < 0 || a->weight.size[1] % volume != 0)
    THNN_rejectShape(a->function, a->weight,
                     "a multiple of the kernel's elements %s in dimension 2", text.characters);
  return a->weight.size[1] / volume;
}

/* Checks the weight and sets planes and kernel. The weight's first dimension is the planes of the
 * map: an ordinary convolution's output, a transposed one's input. */
static void readWeight(const THNNConvolutionArguments *a, THNNConvolution *geometry)
{
  const THNNShape weight = a->weight;
  if (a->flatWeight && weight.nDimension == 2) {
    THNN_checkDimensions(a->function, weight, 2, 2, "nOutputPlane x (nInputPlane * kernel)");
    geometry->inputPlanes = flatInputPlanes(a);
  } else {
    THNN_checkDimensions(a->function, weight, a->nDimension + 2, a->nDimension + 2,
                         weightLayouts[a->transposed][a->nDimension - 1]);
    geometry->inputPlanes = weight.size[1];
    for (int i = 0; i < a->nDimension; i++) {
      if (a->kernel[i].name)
        THNN_checkSize(a->function, weight, 2 + i, a->kernel[i].value, a->kernel[i].name);
      geometry->kernel[i + 3 - a->nDimension] = weight.size[2 + i];
    }
  }
  geometry->outputPlanes = weight.size[0];
  THNN_elements(a->function, weight);
  THNN_dropUnusedDilation(geometry);
}

/* The size of the module's output in one dimension, whose input has size `near`. Kernel, dilation
 * and padding are ints, whose products fit into 64 bits. A size can be anything (a tensor that
 * repeats its elements needs little memory), so its product with the stride is checked. */
static int64_t farSize(const THNNConvolutionArguments *a, const THNNConvolution *g, int dimension,
                       int64_t near)
{
  const int d = dimension + 3 - a->nDimension;
  const int64_t reach = spread(g->kernel[d], g->dilation[d]);
  const int64_t painted[] = {near, g->stride[d]};
  if (THNN_product(2, painted) < 0)
    THNN_rejectShape(a->function, a->input, "a size that the stride %lld leaves representable",
                     (long long)g->stride[d]);
  if (a->transposed)
    return (near - 1) * g->stride[d] - 2 * g->pad[d] + reach + a->adjustment[dimension].value;
  const int64_t room = near + 2 * g->pad[d] - reach;
  return room < 0 ? 0 : room / g->stride[d] + 1;
}

/* Rejects an input that is too small for the kernel. */
static void rejectSmall(const THNNConvolutionArguments *a, const int64_t *output)
{
  const THNNText text = THNN_shapeText(THNN_makeShape("", 0, a->nDimension, output));
  THNN_rejectShape(a->function, a->input,
                   "an input large enough for kernel, padding and stride (the output would be %s)",
                   text.characters);
}

static void setGeometry(const THNNConvolutionArguments *a, THNNConvolution *g)
{
  *g = (THNNConvolution){.batch = 1};
  for (int i = 0; i < 3; i++)
    g->input[i] = g->output[i] = g->kernel[i] = g->stride[i] = g->dilation[i] = 1;
  for (int i = 0; i < a->nDimension; i++) {
    const int d = i + 3 - a->nDimension;
    if (a->kernel[i].name)
      g->kernel[d] = a->kernel[i].value;
    g->stride[d] = a->stride[i].value;
    g->pad[d] = a->pad[i].value;
    if (a->dilation[i].name)
      g->dilation[d] = a->dilation[i].value;
  }
}

/* Rejects an output whose sizes are representable but whose number of elements is not. */
static void checkOutput(const THNNConvolutionArguments *a, const THNNConvolution *g, bool batched)
{
  int64_t size[5];
  const int dimensions = THNN_convolutionSizes(g, a->nDimension, a->transposed, batched, size);
  THNN_elements(a->function, THNN_makeShape("output", 3, dimensions, size));
}

/* Checks that gradOutput has the output's sizes. Its batch may be larger than the input's: further
 * samples are ignored. */
static void checkGradOutput(const THNNConvolutionArguments *a, const THNNConvolution *g,
                            bool batched)
{
  const char *layout = layouts[1][a->nDimension - 1];
  const int dimensions = a->nDimension + 1 + batched;
  int64_t wanted[5];
  THNN_convolutionSizes(g, a->nDimension, a->transposed, batched, wanted);
  const THNNShape shape = a->gradOutput;
  THNN_checkDimensions(a->function, shape, dimensions, dimensions, layout);
  if (batched && shape.size[0] > wanted[0])
    wanted[0] = shape.size[0];
  THNN_checkSizes(a->function, shape, dimensions, wanted, layout);
  THNN_elements(a->function, shape);
}

THNNConvolution THNN_convolutionCheck(const THNNConvolutionArguments *a)
{
  THNNConvolution geometry;
  checkScalars(a);
  setGeometry(a, &geometry);
  readWeight(a, &geometry);
  if (THNN_given(a->bias))
    THNN_checkVector(a->function, a->bias,
                     a->transposed ? geometry.inputPlanes : geometry.outputPlanes, "nOutputPlane");

  const char *layout = layouts[0][a->nDimension - 1];
  THNN_checkDimensions(a->function, a->input, a->nDimension + 1, a->nDimension + 2, layout);
  THNN_elements(a->function, a->input);
  const bool batched = a->input.nDimension == a->nDimension + 2;
  THNN_checkSize(a->function, a->input, batched,
                 a->transposed ? geometry.outputPlanes : geometry.inputPlanes, "nInputPlane");
  if (batched)
    geometry.batch = a->input.size[0];

  int64_t *near = a->transposed ? geometry.output : geometry.input;
  int64_t *far = a->transposed ? geometry.input : geometry.output;
  bool small = false;
  for (int i = 0; i < a->nDimension; i++) {
    const int d = i + 3 - a->nDimension;
    near[d] = a->input.size[batched + 1 + i];
    far[d] = farSize(a, &geometry, i, near[d]);
    small |= far[d] < 1;
  }
  if (small)
    rejectSmall(a, far + 3 - a->nDimension);
  if (a->gradOutput.nDimension != THNN_NOT_PRESENT)
    checkGradOutput(a, &geometry, batched);
  else
    checkOutput(a, &geometry, batched);
  return geometry;
}

int THNN_convolutionSizes(const THNNConvolution *geometry, int nDimension, bool image, bool batched,
                          int64_t *size)
{
  int count = 0;
  if (batched)
    size[count++] = geometry->batch;
  size[count++] = image ? geometry->inputPlanes : geometry->outputPlanes;
  const int64_t *spatial = image ? geometry->input : geometry->output;
  for (int d = 3 - nDimension; d < 3; d++)
    size[count++] = spatial[d];
  return count;
}
