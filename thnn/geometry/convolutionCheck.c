#include "geometry/convolutionCheck.h"

#include <stdio.h>
#include <string.h>
#include <TH/TH.h>

#include "geometry/inside.h"

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

/* The size of the module's output in one dimension, in which its input has size `input`. Kernel,
 * dilation and padding are ints, whose products fit into 64 bits. A size can be anything (a tensor
 * that repeats its elements needs little memory), so its product with the stride is checked. */
static int64_t outputSize(const THNNConvolutionArguments *a, const THNNConvolution *g,
                          int dimension, int64_t input)
{
  const int d = dimension + 3 - a->nDimension;
  const int64_t reach = THNN_extent(g->kernel[d], g->dilation[d]);
  const int64_t painted[] = {input, g->stride[d]};
  if (THNN_product(2, painted) < 0)
    THNN_rejectShape(a->function, a->input, "a size that the stride %lld leaves representable",
                     (long long)g->stride[d]);
  if (a->transposed)
    return (input - 1) * g->stride[d] - 2 * g->pad[d] + reach + a->adjustment[dimension].value;
  const int64_t room = input + 2 * g->pad[d] - reach;
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

/* Checks that gradOutput has the output's sizes. Its batch may be larger than the input's; the
 * additional samples are ignored. */
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

  /* The module's own input and output. */
  int64_t *input = a->transposed ? geometry.output : geometry.input;
  int64_t *output = a->transposed ? geometry.input : geometry.output;
  bool small = false;
  for (int i = 0; i < a->nDimension; i++) {
    const int d = i + 3 - a->nDimension;
    input[d] = a->input.size[batched + 1 + i];
    output[d] = outputSize(a, &geometry, i, input[d]);
    small |= output[d] < 1;
  }
  if (small)
    rejectSmall(a, output + 3 - a->nDimension);
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

/* ---- Groups ---------------------------------------------------------------------------------- */

static void checkGroupScalars(const THNNGroupedArguments *a, int nDimension)
{
  THNN_checkPositive(a->function, a->settings.groups);
  for (int d = 3 - nDimension; d < 3; d++) {
    THNN_checkPositive(a->function, a->settings.stride[d]);
    THNN_checkPositive(a->function, a->settings.dilation[d]);
    if (a->sizes[d].name)
      THNN_checkPositive(a->function, a->sizes[d]);
  }
}

/* Checks the weight, whose first dimension is the planes of the map, and sets planes and kernel. */
static void readGroupedWeight(const THNNGroupedArguments *a, THNNGroups *groups)
{
  const THNNShape weight = a->weight;
  THNNConvolution *g = &groups->geometry;
  const int least = a->nDimension ? a->nDimension + 2 : 3;
  const int most = a->nDimension ? a->nDimension + 2 : 5;
  THNN_checkDimensions(a->function, weight, least, most,
                       a->transposed ? "nInputPlane x (nOutputPlane / groups) x kernel sizes"
                                     : "nOutputPlane x (nInputPlane / groups) x kernel sizes");
  THNN_elements(a->function, weight);
  groups->nDimension = weight.nDimension - 2;
  checkGroupScalars(a, groups->nDimension);
  groups->groups = a->settings.groups.value;
  if (weight.size[0] % groups->groups != 0)
    THNN_rejectShape(a->function, weight, "a multiple of the groups, %lld, in dimension 1",
                     (long long)groups->groups);
  g->outputPlanes = weight.size[0] / groups->groups;
  g->inputPlanes = weight.size[1];
  for (int i = 0; i < groups->nDimension; i++) {
    const int d = i + 3 - groups->nDimension;
    g->kernel[d] = weight.size[2 + i];
    g->stride[d] = a->settings.stride[d].value;
    g->dilation[d] = a->settings.dilation[d].value;
    g->pad[d] = a->settings.before[d].value;
    const int64_t reach[] = {g->kernel[d], g->dilation[d]};
    if (THNN_product(2, reach) < 0)
      THNN_rejectShape(a->function, weight, "a kernel that the dilation %lld leaves representable",
                       (long long)g->dilation[d]);
  }
  THNN_dropUnusedDilation(g);
}

/* The planes of the image or of the map, of all groups together. */
static int64_t allPlanes(const THNNGroups *groups, bool image)
{
  return groups->groups * (image ? groups->geometry.inputPlanes : groups->geometry.outputPlanes);
}

int THNN_groupedSizes(const THNNGroups *groups, bool image, int64_t *size)
{
  const int count =
      THNN_convolutionSizes(&groups->geometry, groups->nDimension, image, groups->batched, size);
  size[groups->batched] = allPlanes(groups, image);
  return count;
}

/* Reads the sizes of one side from its tensor, or from the arguments that give them. */
static void readSide(const THNNGroupedArguments *a, THNNGroups *groups, bool image)
{
  const THNNShape shape = image ? a->image : a->map;
  const int nDimension = groups->nDimension;
  int64_t *size = image ? groups->geometry.input : groups->geometry.output;
  if (shape.nDimension == THNN_NOT_PRESENT) {
    for (int d = 3 - nDimension; d < 3; d++)
      size[d] = a->sizes[d].name ? a->sizes[d].value : 1;
    return;
  }
  const bool isInput = image != a->transposed;
  THNN_checkDimensions(a->function, shape, nDimension + 1, nDimension + 2,
                       layouts[!isInput][nDimension - 1]);
  THNN_elements(a->function, shape);
  groups->batched = shape.nDimension == nDimension + 2;
  THNN_checkSize(a->function, shape, groups->batched, allPlanes(groups, image),
                 isInput ? "nInputPlane" : "nOutputPlane");
  groups->geometry.batch = groups->batched ? shape.size[0] : 1;
  for (int i = 0; i < nDimension; i++)
    size[i + 3 - nDimension] = shape.size[groups->batched + 1 + i];
}

/* Rejects a size of a transposed convolution's output that its input cannot lead to. */
static void checkImageSize(const THNNGroupedArguments *a, const THNNGroups *groups, int d)
{
  const THNNConvolution *g = &groups->geometry;
  const int64_t painted[] = {g->output[d], g->stride[d]};
  const int64_t padding = g->pad[d] + a->settings.after[d].value;
  const int64_t steps = THNN_product(2, painted);
  const int64_t least = steps - g->stride[d] - padding + THNN_extent(g->kernel[d], g->dilation[d]);
  const int64_t stride = g->stride[d], dilation = a->settings.dilation[d].value;
  const int64_t more = stride > dilation ? stride : dilation;
  if (steps >= 0 && g->input[d] >= least && g->input[d] < least + more)
    return;
  char expected[96], found[32];
  snprintf(expected, sizeof expected, "%lld to %lld, which the input's %lld can become",
           (long long)least, (long long)(least + more - 1), (long long)g->output[d]);
  snprintf(found, sizeof found, "%lld", (long long)g->input[d]);
  if (a->sizes[d].name && a->image.nDimension == THNN_NOT_PRESENT)
    THNN_reject(a->function, a->sizes[d].name, a->sizes[d].position, expected, found);
  THNN_rejectShape(a->function, a->image, "%s in dimension %d", expected,
                   groups->batched + 2 + d - (3 - groups->nDimension));
}

/* Sets the size of the map of an ordinary convolution, which its tensor has to have if it is given.
 * Returns whether the kernel fits into the image. */
static bool setMapSize(const THNNGroupedArguments *a, THNNGroups *groups, int d)
{
  THNNConvolution *g = &groups->geometry;
  const int64_t room = g->input[d] + g->pad[d] + a->settings.after[d].value -
                       THNN_extent(g->kernel[d], g->dilation[d]);
  const int64_t map = room < 0 ? 0 : room / g->stride[d] + 1;
  if (a->map.nDimension != THNN_NOT_PRESENT) {
    char meaning[64];
    snprintf(meaning, sizeof meaning, "of the output for the input's %lld", (long long)g->input[d]);
    THNN_checkSize(a->function, a->map, groups->batched + 1 + d - (3 - groups->nDimension), map,
                   meaning);
  }
  g->output[d] = map;
  return map > 0;
}

THNNGroups THNN_groupedCheck(const THNNGroupedArguments *a)
{
  THNNGroups groups = {.transposed = a->transposed, .flip = a->flip, .geometry = {.batch = 1}};
  THNNConvolution *g = &groups.geometry;
  for (int i = 0; i < 3; i++)
    g->input[i] = g->output[i] = g->kernel[i] = g->stride[i] = g->dilation[i] = 1;
  readGroupedWeight(a, &groups);
  if (THNN_given(a->bias))
    THNN_checkVector(a->function, a->bias, allPlanes(&groups, a->transposed), "nOutputPlane");
  const bool hasImage = a->image.nDimension != THNN_NOT_PRESENT;
  const bool hasMap = a->map.nDimension != THNN_NOT_PRESENT;
  readSide(a, &groups, !a->transposed && hasImage);
  const int64_t batch = g->batch;
  const bool batched = groups.batched;
  readSide(a, &groups, !(!a->transposed && hasImage));
  if (hasImage && hasMap && (batched != groups.batched || batch != g->batch)) {
    int64_t wanted[5];
    groups.batched = batched;
    g->batch = batch;
    const int count = THNN_groupedSizes(&groups, a->transposed, wanted);
    THNN_checkSizes(a->function, a->transposed ? a->image : a->map, count, wanted,
                    layouts[1][groups.nDimension - 1]);
  }
  int64_t size[5];
  THNN_elements(a->function,
                THNN_makeShape("output", 3, THNN_groupedSizes(&groups, true, size), size));
  bool small = false;
  for (int d = 3 - groups.nDimension; d < 3; d++) {
    if (a->transposed)
      checkImageSize(a, &groups, d);
    else
      small |= !setMapSize(a, &groups, d);
  }
  if (small)
    THNN_rejectShape(
        a->function, a->image,
        "an input large enough for kernel, padding and stride (the output would be %s)",
        THNN_shapeText(THNN_makeShape("", 0, groups.nDimension, g->output + 3 - groups.nDimension))
            .characters);
  THNN_elements(a->function,
                THNN_makeShape("output", 3, THNN_groupedSizes(&groups, false, size), size));
  if (THNN_given(a->target)) {
    const bool image = !a->transposed;
    const int count = THNN_groupedSizes(&groups, image, size);
    THNN_checkSizes(a->function, a->target, count, size, layouts[0][groups.nDimension - 1]);
  }
  return groups;
}

THNNPlaneSet THNN_biasPlanes(const char *function, int nDimension, THNNShape gradOutput,
                             THNNShape gradBias)
{
  THNN_checkDimensions(function, gradOutput, nDimension + 1, nDimension + 2,
                       layouts[1][nDimension - 1]);
  THNN_elements(function, gradOutput);
  const bool batched = gradOutput.nDimension == nDimension + 2;
  const int64_t planes = gradOutput.size[batched];
  THNN_checkVector(function, gradBias, planes, "nOutputPlane");
  const int64_t positions = THNN_product(nDimension, gradOutput.size + batched + 1);
  return (THNNPlaneSet){.batch = batched ? gradOutput.size[0] : 1,
                        .sample = planes * positions,
                        .planes = planes,
                        .step = 1,
                        .positions = positions};
}
