#include "geometry/convolution.h"

#include "geometry/inside.h"
#include "work/sizes.h"

static int64_t product(const int64_t *size)
{
  return size[0] * size[1] * size[2];
}

THNNConvolution THNN_convolutionTransposed(const THNNConvolution *geometry)
{
  THNNConvolution transposed = *geometry;
  transposed.inputPlanes = geometry->outputPlanes;
  transposed.outputPlanes = geometry->inputPlanes;
  for (int i = 0; i < 3; i++) {
    transposed.input[i] = geometry->output[i];
    transposed.output[i] = geometry->input[i];
    transposed.pad[i] = (geometry->kernel[i] - 1) * geometry->dilation[i] - geometry->pad[i];
  }
  transposed.transposed = !geometry->transposed;
  transposed.imageStep = geometry->mapStep;
  transposed.mapStep = geometry->imageStep;
  transposed.imageLast = geometry->mapLast;
  transposed.mapLast = geometry->imageLast;
  return transposed;
}

/* The description that is not transposed. */
static THNNConvolution ordinary(const THNNConvolution *geometry)
{
  return geometry->transposed ? THNN_convolutionTransposed(geometry) : *geometry;
}

THNNConvolutionTap THNN_convolutionTap(const THNNConvolution *geometry, int dimension, int64_t tap)
{
  const int64_t start = tap * geometry->dilation[dimension] - geometry->pad[dimension];
  const THNNRange positions = THNN_indicesInside(
      start, geometry->stride[dimension], geometry->output[dimension], geometry->input[dimension]);
  return (THNNConvolutionTap){start, positions.begin, positions.end};
}

/* The run of an ordinary convolution that begins at map position `o`. Tap t sees image index
 * o*stride - pad + t*dilation, so both ends of the taps inside the image move down as o grows. */
static THNNConvolutionRun ordinaryRun(const THNNConvolution *geometry, int dimension, int64_t o)
{
  const int64_t stride = geometry->stride[dimension], dilation = geometry->dilation[dimension];
  const int64_t pad = geometry->pad[dimension], input = geometry->input[dimension];
  const int64_t start = o * stride - pad;
  const THNNRange taps = THNN_indicesInside(start, dilation, geometry->kernel[dimension], input);
  int64_t next = geometry->output[dimension];
  if (taps.begin > 0)
    next = clamp(ceilDivide(pad - (taps.begin - 1) * dilation, stride), o + 1, next);
  if (taps.end > 0)
    next = clamp(ceilDivide(pad + input - (taps.end - 1) * dilation, stride), o + 1, next);
  return (THNNConvolutionRun){.first = o,
                              .step = 1,
                              .positions = next - o,
                              .firstTap = taps.begin,
                              .tapStep = 1,
                              .taps = taps.end - taps.begin,
                              .image = start + taps.begin * dilation,
                              .imageStep = stride,
                              .tapImageStep = dilation};
}

/* ---- Runs of a transposed convolution --------------------------------------------------------
 *
 * These are computed from the ordinary description, whose image positions are the results, and
 * whose map is what they see. */

/* The taps that image positions of one residue class of the stride see: every tapStep-th from
 * firstTap. The j-th of them sees map index q + offset - j*tapImageStep from image position
 * q*stride + residue. */
typedef struct ResidueTaps {
  int64_t firstTap, tapStep, taps;
  int64_t offset, tapImageStep;
} ResidueTaps;

/* The taps of a residue class whose first tap is `firstTap`. */
static ResidueTaps tapsFrom(const THNNConvolution *geometry, int dimension, int64_t residue,
                            int64_t firstTap)
{
  const int64_t stride = geometry->stride[dimension], dilation = geometry->dilation[dimension];
  const int64_t divisor = greatestCommonDivisor(stride, dilation);
  ResidueTaps taps = {
      .firstTap = firstTap, .tapStep = stride / divisor, .tapImageStep = dilation / divisor};
  taps.taps = ceilDivide(geometry->kernel[dimension] - firstTap, taps.tapStep);
  taps.offset = (residue + geometry->pad[dimension] - firstTap * dilation) / stride;
  return taps;
}

static ResidueTaps residueTaps(const THNNConvolution *geometry, int dimension, int64_t residue)
{
  const int64_t kernel = geometry->kernel[dimension], stride = geometry->stride[dimension];
  const int64_t dilation = geometry->dilation[dimension];
  const int64_t shifted = residue + geometry->pad[dimension];
  const int64_t tapStep = stride / greatestCommonDivisor(stride, dilation);
  const int64_t different = minimum(kernel, tapStep);
  for (int64_t tap = 0; tap < different; tap++)
    if ((shifted - tap * dilation) % stride == 0)
      return tapsFrom(geometry, dimension, residue, tap);
  return (ResidueTaps){
      .firstTap = different, .tapStep = tapStep, .tapImageStep = tapStep * dilation / stride};
}

/* The run of image positions that begins at q*stride + residue. Tap j sees map index
 * q + offset - j*tapImageStep, so both ends of the taps inside the map move up as q grows. */
static THNNConvolutionRun transposedRun(const THNNConvolution *geometry, int dimension,
                                        const ResidueTaps *taps, int64_t residue, int64_t q)
{
  const int64_t stride = geometry->stride[dimension], step = taps->tapImageStep;
  const int64_t top = q + taps->offset, output = geometry->output[dimension];
  const int64_t begin = clamp(floorDivide(top - output, step) + 1, 0, taps->taps);
  const int64_t end = clamp(floorDivide(top, step) + 1, begin, taps->taps);
  int64_t next = ceilDivide(geometry->input[dimension] - residue, stride);
  if (begin < taps->taps)
    next = clamp(begin * step - taps->offset + output, q + 1, next);
  if (end < taps->taps)
    next = clamp(end * step - taps->offset, q + 1, next);
  return (THNNConvolutionRun){.first = q * stride + residue,
                              .step = stride,
                              .positions = next - q,
                              .firstTap = taps->firstTap + begin * taps->tapStep,
                              .tapStep = taps->tapStep,
                              .taps = end - begin,
                              .image = top - begin * step,
                              .imageStep = 1,
                              .tapImageStep = -step};
}

static int64_t ordinaryRuns(const THNNConvolution *geometry, int dimension, THNNConvolutionRun *run,
                            int64_t room)
{
  int64_t count = 0;
  for (int64_t o = 0; o < geometry->output[dimension]; count++) {
    const THNNConvolutionRun next = ordinaryRun(geometry, dimension, o);
    if (count < room)
      run[count] = next;
    o += next.positions;
  }
  return count;
}

/* Counts the runs of one residue class, and writes them from run[count] while there is room. */
static int64_t residueRuns(const THNNConvolution *geometry, int dimension, int64_t residue,
                           const ResidueTaps *taps, THNNConvolutionRun *run, int64_t count,
                           int64_t room)
{
  const int64_t stride = geometry->stride[dimension], input = geometry->input[dimension];
  int64_t runs = 0;
  for (int64_t q = 0; q * stride + residue < input; runs++) {
    const THNNConvolutionRun next = transposedRun(geometry, dimension, taps, residue, q);
    if (count + runs < room)
      run[count + runs] = next;
    q += next.positions;
  }
  return runs;
}

/* Visits only residue classes that see a tap, because the stride may be far larger than the kernel.
 * Each of the others is one run. Classes with as many positions and taps, which begin at the same
 * one, have as many runs; with a large stride most have as many as the class before. */
static int64_t countTransposedRuns(const THNNConvolution *geometry, int dimension)
{
  const int64_t stride = geometry->stride[dimension], kernel = geometry->kernel[dimension];
  const int64_t dilation = geometry->dilation[dimension];
  const int64_t residues = minimum(stride, geometry->input[dimension]);
  const int64_t tapStep = stride / greatestCommonDivisor(stride, dilation);
  int64_t count = residues, runs = 0, positions = 0;
  ResidueTaps taps = {0};
  for (int64_t tap = 0; tap < kernel && tap < tapStep; tap++) {
    const int64_t start = tap * dilation - geometry->pad[dimension];
    const int64_t residue = start - floorDivide(start, stride) * stride;
    if (residue >= residues)
      continue;
    const ResidueTaps before = taps;
    const int64_t positionsBefore = positions;
    taps = tapsFrom(geometry, dimension, residue, tap);
    positions = ceilDivide(geometry->input[dimension] - residue, stride);
    if (taps.taps != before.taps || taps.offset != before.offset || positions != positionsBefore)
      runs = residueRuns(geometry, dimension, residue, &taps, NULL, 0, 0);
    count += runs - 1;
  }
  return count;
}

static int64_t transposedRuns(const THNNConvolution *geometry, int dimension,
                              THNNConvolutionRun *run, int64_t room)
{
  const int64_t residues = minimum(geometry->stride[dimension], geometry->input[dimension]);
  int64_t count = 0;
  for (int64_t residue = 0; residue < residues && count < room; residue++) {
    const ResidueTaps taps = residueTaps(geometry, dimension, residue);
    count += residueRuns(geometry, dimension, residue, &taps, run, count, room);
  }
  return count < room ? count : countTransposedRuns(geometry, dimension);
}

int64_t THNN_convolutionRuns(const THNNConvolution *geometry, int dimension,
                             THNNConvolutionRun *run, int64_t room)
{
  const THNNConvolution described = ordinary(geometry);
  return geometry->transposed ? transposedRuns(&described, dimension, run, room)
                              : ordinaryRuns(&described, dimension, run, room);
}

static int64_t wholeTransposedRuns(const THNNConvolution *geometry, int dimension,
                                   THNNConvolutionRun *run, int64_t room)
{
  const int64_t stride = geometry->stride[dimension], input = geometry->input[dimension];
  const int64_t residues = minimum(stride, input);
  for (int64_t residue = 0; residue < minimum(residues, room); residue++) {
    const ResidueTaps taps = residueTaps(geometry, dimension, residue);
    run[residue] = (THNNConvolutionRun){.first = residue,
                                        .step = stride,
                                        .positions = ceilDivide(input - residue, stride),
                                        .firstTap = taps.firstTap,
                                        .tapStep = taps.tapStep,
                                        .taps = taps.taps,
                                        .image = taps.offset,
                                        .imageStep = 1,
                                        .tapImageStep = -taps.tapImageStep};
  }
  return residues;
}

int64_t THNN_convolutionWholeRuns(const THNNConvolution *geometry, int dimension,
                                  THNNConvolutionRun *run, int64_t room)
{
  if (geometry->transposed) {
    const THNNConvolution described = ordinary(geometry);
    return wholeTransposedRuns(&described, dimension, run, room);
  }
  if (room > 0)
    run[0] = (THNNConvolutionRun){.step = 1,
                                  .positions = geometry->output[dimension],
                                  .tapStep = 1,
                                  .taps = geometry->kernel[dimension],
                                  .image = -geometry->pad[dimension],
                                  .imageStep = geometry->stride[dimension],
                                  .tapImageStep = geometry->dilation[dimension]};
  return 1;
}

THNNConvolutionBoxes THNN_convolutionBoxes(int64_t batch, const int64_t *size, int64_t samples,
                                           int64_t positions)
{
  THNNConvolutionBoxes boxes = {.size = {batch, size[0], size[1], size[2]}};
  int64_t inner = product(size);
  for (int i = 0; i < THNN_BOX_DIMENSIONS; i++) {
    const int64_t least = i == THNN_SAMPLE ? clamp(minimum(samples, positions), 1, batch) : 1;
    const int64_t most = clamp(positions / inner, least, boxes.size[i]);
    boxes.boxes[i] = ceilDivide(boxes.size[i], most);
    boxes.box[i] = ceilDivide(boxes.size[i], boxes.boxes[i]);
    positions /= boxes.box[i];
    if (i < THNN_WIDTH)
      inner /= boxes.size[i + 1];
  }
  return boxes;
}

int64_t THNN_convolutionBoxCount(const THNNConvolutionBoxes *boxes)
{
  return boxes->boxes[0] * product(boxes->boxes + 1);
}

int64_t THNN_convolutionBoxPositions(const THNNConvolutionBoxes *boxes)
{
  return boxes->box[0] * product(boxes->box + 1);
}

THNNConvolutionBox THNN_convolutionBox(const THNNConvolutionBoxes *boxes, int64_t index)
{
  THNNConvolutionBox box = {.positions = 1};
  int64_t count[THNN_BOX_DIMENSIONS];
  for (int i = THNN_WIDTH; i >= 0; i--) {
    box.first[i] = index % boxes->boxes[i] * boxes->box[i];
    box.end[i] = minimum(box.first[i] + boxes->box[i], boxes->size[i]);
    count[i] = box.end[i] - box.first[i];
    box.positions *= count[i];
    index /= boxes->boxes[i];
  }
  /* Whole lines are contiguous with their neighbours, and so are whole slices. */
  box.stretch = count[THNN_WIDTH];
  int outer = THNN_HEIGHT;
  while (outer > THNN_SAMPLE && count[outer + 1] == boxes->size[outer + 1])
    box.stretch *= count[outer--];
  box.stretches = count[THNN_SAMPLE] ? box.positions / count[THNN_SAMPLE] / box.stretch : 0;
  return box;
}

int64_t THNN_convolutionStretch(const THNNConvolutionBoxes *boxes, const THNNConvolutionBox *box,
                                int64_t stretch)
{
  const int64_t first = stretch * box->stretch,
                width = box->end[THNN_WIDTH] - box->first[THNN_WIDTH];
  const int64_t height = box->end[THNN_HEIGHT] - box->first[THNN_HEIGHT];
  const int64_t z = box->first[THNN_DEPTH] + first / width / height;
  const int64_t y = box->first[THNN_HEIGHT] + first / width % height;
  return (z * boxes->size[THNN_HEIGHT] + y) * boxes->size[THNN_WIDTH] + box->first[THNN_WIDTH];
}

double THNN_convolutionWeights(const THNNConvolution *geometry)
{
  return (double)geometry->inputPlanes * geometry->outputPlanes * THNN_convolutionTaps(geometry);
}

double THNN_convolutionOperations(const THNNConvolution *geometry)
{
  const int64_t *positions = geometry->transposed ? geometry->input : geometry->output;
  return geometry->batch * THNN_convolutionWeights(geometry) * product(positions);
}

/* The positions of taps [first, end) along a dimension that see an element. */
static int64_t insideOf(const THNNConvolution *geometry, int dimension, int64_t first, int64_t end)
{
  int64_t inside = 0;
  for (int64_t t = first; t < end; t++) {
    const THNNConvolutionTap tap = THNN_convolutionTap(geometry, dimension, t);
    inside += tap.end - tap.begin;
  }
  return inside;
}

/* The products of one dimension of an ordinary convolution; the transposed one has equally many.
 * Most taps of a long kernel see an element from all positions: [whole, last). */
static double productsAlong(const THNNConvolution *geometry, int dimension)
{
  const int64_t kernel = geometry->kernel[dimension], output = geometry->output[dimension];
  const int64_t dilation = geometry->dilation[dimension], pad = geometry->pad[dimension];
  const int64_t reach = (output - 1) * geometry->stride[dimension];
  const int64_t room = geometry->input[dimension] - 1 + pad - reach;
  const int64_t whole = clamp(ceilDivide(pad, dilation), 0, kernel);
  const int64_t last = clamp(floorDivide(room, dilation) + 1, whole, kernel);
  return (double)(insideOf(geometry, dimension, 0, whole) + (last - whole) * output +
                  insideOf(geometry, dimension, last, kernel));
}

double THNN_convolutionProductsAlong(const THNNConvolution *geometry, int dimension)
{
  const THNNConvolution described = ordinary(geometry);
  return productsAlong(&described, dimension);
}

double THNN_convolutionProducts(const THNNConvolution *geometry)
{
  const THNNConvolution described = ordinary(geometry);
  double products = 1;
  for (int i = 0; i < 3; i++)
    products *= productsAlong(&described, i);
  return products;
}

void THNN_dropUnusedDilation(THNNConvolution *geometry)
{
  for (int i = 0; i < 3; i++)
    if (geometry->kernel[i] == 1)
      geometry->dilation[i] = 1;
}

bool THNN_convolutionIsExtreme(const THNNConvolution *geometry)
{
  const double most = 0x1p60;
  double elements =
      (double)geometry->batch * (double)maximum(geometry->inputPlanes, geometry->outputPlanes);
  for (int i = 0; i < 3; i++) {
    const double kernel = (double)geometry->kernel[i];
    const double pad = (double)geometry->pad[i];
    elements *= kernel * ((double)geometry->input[i] + 2 * (pad < 0 ? -pad : pad) +
                          (kernel - 1) * (double)geometry->dilation[i] +
                          (double)geometry->output[i] * (double)geometry->stride[i]);
  }
  return elements > most;
}

int64_t THNN_convolutionTaps(const THNNConvolution *geometry)
{
  return product(geometry->kernel);
}

int64_t THNN_convolutionImagePositions(const THNNConvolution *geometry)
{
  return product(geometry->input);
}

int64_t THNN_convolutionMapPositions(const THNNConvolution *geometry)
{
  return product(geometry->output);
}

int64_t THNN_convolutionImageSample(const THNNConvolution *geometry)
{
  const int64_t planes = geometry->inputPlanes * THNN_convolutionImagePositions(geometry);
  return geometry->imageStep ? geometry->imageStep : planes;
}

int64_t THNN_convolutionMapSample(const THNNConvolution *geometry)
{
  const int64_t planes = geometry->outputPlanes * THNN_convolutionMapPositions(geometry);
  return geometry->mapStep ? geometry->mapStep : planes;
}

bool THNN_convolutionLayersAreEqual(const THNNConvolution *one, const THNNConvolution *other)
{
  bool equal = one->inputPlanes == other->inputPlanes && one->outputPlanes == other->outputPlanes &&
               one->transposed == other->transposed && one->imageLast == other->imageLast &&
               one->mapLast == other->mapLast;
  for (int i = 0; i < 3; i++)
    equal = equal && one->kernel[i] == other->kernel[i] && one->stride[i] == other->stride[i] &&
            one->dilation[i] == other->dilation[i];
  return equal;
}

bool THNN_convolutionsAreEqual(const THNNConvolution *one, const THNNConvolution *other)
{
  bool equal = THNN_convolutionLayersAreEqual(one, other) && one->batch == other->batch &&
               one->imageStep == other->imageStep && one->mapStep == other->mapStep;
  for (int i = 0; i < 3; i++)
    equal = equal && one->input[i] == other->input[i] && one->output[i] == other->output[i] &&
            one->pad[i] == other->pad[i];
  return equal;
}

bool THNN_convolutionIsPointwise(const THNNConvolution *geometry)
{
  for (int i = 0; i < 3; i++)
    if (geometry->kernel[i] != 1 || geometry->stride[i] != 1 || geometry->pad[i] != 0 ||
        geometry->input[i] != geometry->output[i])
      return false;
  return true;
}

bool THNN_convolutionHasOneTap(const THNNConvolution *geometry)
{
  if (geometry->transposed)
    return THNN_convolutionIsPointwise(geometry);
  for (int i = 0; i < 3; i++)
    if (geometry->kernel[i] != 1 || geometry->pad[i] != 0 ||
        (geometry->output[i] - 1) * geometry->stride[i] >= geometry->input[i])
      return false;
  return true;
}

bool THNN_convolutionIsLinear(const THNNConvolution *geometry)
{
  for (int i = 0; i < 3; i++)
    if (geometry->output[i] != 1 || geometry->kernel[i] != geometry->input[i] ||
        geometry->pad[i] != 0 || (geometry->dilation[i] != 1 && geometry->kernel[i] != 1))
      return false;
  return true;
}
