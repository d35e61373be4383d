#include "generic/convolution/engine/paddedLines.h"

#include "geometry/inside.h"

/* With fewer positions in a band, the same image lines would be copied too often. */
static const int64_t WORTHWHILE_POSITIONS = 128;

static int64_t copies(const THNNConvolution *geometry, const Bands *bands)
{
  return bands->copyPerTap ? geometry->kernel[2] : geometry->stride[2];
}

/* Columns of a padded tile's line, in whole vectors. */
static int64_t columns(const THNNConvolution *geometry, const Bands *bands)
{
  const int64_t farthest = (geometry->kernel[2] - 1) * geometry->dilation[2] / geometry->stride[2];
  return roundUp(geometry->output[2] + (bands->copyPerTap ? 0 : farthest), vectorLanes());
}

/* Number of image lines that `lines` map lines see. */
static int64_t imageLines(const THNNConvolution *geometry, int64_t lines)
{
  return (lines - 1) * geometry->stride[1] +
         THNN_extent(geometry->kernel[1], geometry->dilation[1]);
}

static int64_t copyElements(const THNNConvolution *geometry, const Bands *bands)
{
  return imageLines(geometry, bands->lines) * columns(geometry, bands);
}

static int64_t paddedElements(const THNNConvolution *geometry, const Bands *bands)
{
  return bands->planes * geometry->kernel[0] * copies(geometry, bands) *
         copyElements(geometry, bands);
}

/* ---- Bands ----------------------------------------------------------------------------------- */

Bands THNN_(paddedLines_bands)(const THNNConvolution *geometry, bool copyPerTap, int64_t most,
                               int64_t leastPlanes, int64_t bytes)
{
  const int64_t slices = geometry->batch * geometry->output[0];
  const int64_t height = geometry->output[1], width = geometry->output[2];
  const int64_t share = divideUp(slices * height * width, ENOUGH_BLOCKS);
  const int64_t positions = minimum(most, maximum(share, WORTHWHILE_POSITIONS));
  const int64_t room = bytes / (int64_t)sizeof(real) - vectorLanes();
  Bands bands = {.slices = 1,
                 .lines = minimum(height, maximum(positions / width, 1)),
                 .planes = 1,
                 .copyPerTap = copyPerTap};
  const int64_t least = minimum(leastPlanes, geometry->inputPlanes);
  while (bands.lines > 1 && least * paddedElements(geometry, &bands) > room)
    bands.lines = divideUp(bands.lines, 2);
  const int64_t planes = maximum(least, room / paddedElements(geometry, &bands));
  const int64_t blocks = divideUp(geometry->inputPlanes, minimum(planes, geometry->inputPlanes));
  bands.planes = divideUp(geometry->inputPlanes, blocks);
  if (bands.lines == height && blocks == 1) {
    const int64_t fitting = room / paddedElements(geometry, &bands);
    bands.slices = minimum(maximum(minimum(positions / (height * width), fitting), 1), slices);
  }
  bands.perSlice = divideUp(height, bands.lines);
  bands.lines = divideUp(height, bands.perSlice);
  bands.count = divideUp(slices, bands.slices) * bands.perSlice;
  return bands;
}

bool THNN_(paddedLines_areFlat)(const THNNConvolution *geometry)
{
  return THNN_convolutionIsPointwise(geometry) &&
         THNN_convolutionMapPositions(geometry) >= vectorLanes();
}

Bands THNN_(paddedLines_flatBands)(const THNNConvolution *geometry, int64_t positions,
                                   int64_t planes)
{
  const int64_t all = THNN_convolutionMapPositions(geometry);
  Bands bands = {.slices = 1,
                 .lines = minimum(positions, all),
                 .planes = minimum(planes, geometry->inputPlanes),
                 .flat = true};
  bands.perSlice = all / bands.lines;
  bands.count = geometry->batch * bands.perSlice;
  return bands;
}

Band THNN_(paddedLines_band)(const THNNConvolution *geometry, const Bands *bands, int64_t index)
{
  if (bands->flat) {
    const int64_t sample = index / bands->perSlice, place = index % bands->perSlice;
    const bool last = place == bands->perSlice - 1;
    return (Band){.firstSlice = sample,
                  .endSlice = sample + 1,
                  .first = place * bands->lines,
                  .end =
                      last ? THNN_convolutionMapPositions(geometry) : (place + 1) * bands->lines};
  }
  const int64_t slices = geometry->batch * geometry->output[0];
  const int64_t firstSlice = index / bands->perSlice * bands->slices;
  const int64_t first = index % bands->perSlice * bands->lines;
  return (Band){.firstSlice = firstSlice,
                .endSlice = minimum(firstSlice + bands->slices, slices),
                .first = first,
                .end = minimum(first + bands->lines, geometry->output[1])};
}

int64_t THNN_(paddedLines_elements)(const THNNConvolution *geometry, const Bands *bands)
{
  if (bands->flat)
    return 0;
  /* One vector more, since whole vectors are read and written and reach past the end. */
  return bands->slices * paddedElements(geometry, bands) + vectorLanes();
}

int64_t THNN_(paddedLines_vectors)(const THNNConvolution *geometry, const Bands *bands)
{
  if (bands->flat)
    return divideUp(2 * bands->lines, vectorLanes());
  return bands->slices * bands->lines * divideUp(geometry->output[2], vectorLanes());
}

LineCounts THNN_(paddedLines_counts)(const THNNConvolution *geometry, const Bands *bands)
{
  LineCounts counts = {0};
  if (bands->flat)
    return counts;
  const double lines = (double)geometry->batch * geometry->output[0] * bands->perSlice *
                       geometry->inputPlanes * geometry->kernel[0] *
                       imageLines(geometry, bands->lines);
  const double vectors = lines * (double)(columns(geometry, bands) / vectorLanes());
  counts.fetched = vectors * (double)geometry->stride[2];
  counts.copies = lines * (double)copies(geometry, bands);
  *(geometry->stride[2] > 1 ? &counts.mixed : &counts.copied) =
      vectors * (double)copies(geometry, bands);
  return counts;
}

/* ---- Filling --------------------------------------------------------------------------------- */

void THNN_(paddedLines_copy)(const THNNConvolution *geometry, int64_t stride, int64_t width,
                             const real *slice, int64_t line, int64_t column, int64_t lines,
                             real *copy)
{
  const int64_t inputWidth = geometry->input[2];
  const THNNRange y = THNN_indicesInside(line, 1, lines, geometry->input[1]);
  const THNNRange x = THNN_indicesInside(column, stride, width, inputWidth);
  const PaddedRows inside = {.rows = y.end - y.begin,
                             .before = x.begin,
                             .count = x.end - x.begin,
                             .after = width - x.end,
                             .x = slice + (line + y.begin) * inputWidth + column + x.begin * stride,
                             .xStride = inputWidth,
                             .step = stride,
                             .y = copy + y.begin * width,
                             .yStride = width};
  THNN_(simd).pointwise.fill(y.begin * width, 0, copy);
  if (inside.rows)
    THNN_(simd).shifts.pad(&inside);
  THNN_(simd).pointwise.fill((lines - y.end) * width, 0, copy + y.end * width);
}

static void fillPadded(const THNNConvolution *geometry, const Bands *bands, const Band *band,
                       int64_t firstPlane, const real *image, int64_t slice, real *padded)
{
  const int64_t *input = geometry->input, *pad = geometry->pad;
  const int64_t *stride = geometry->stride, *dilation = geometry->dilation;
  const int64_t sample = slice / geometry->output[0], mapZ = slice % geometry->output[0];
  const int64_t elements = copyElements(geometry, bands), width = columns(geometry, bands);
  const int64_t lines = imageLines(geometry, band->end - band->first);
  const int64_t endPlane = minimum(firstPlane + bands->planes, geometry->inputPlanes);
  for (int64_t plane = firstPlane; plane < endPlane; plane++)
    for (int64_t tap = 0; tap < geometry->kernel[0]; tap++) {
      const int64_t z = mapZ * stride[0] - pad[0] + tap * dilation[0];
      const bool inside = z >= 0 && z < input[0];
      const real *slices = image + sample * THNN_convolutionImageSample(geometry);
      for (int64_t copy = 0; copy < copies(geometry, bands); copy++, padded += elements)
        if (inside)
          THNN_(paddedLines_copy)(
              geometry, stride[2], width, slices + (plane * input[0] + z) * input[1] * input[2],
              band->first * stride[1] - pad[1],
              copy * (bands->copyPerTap ? dilation[2] : 1) - pad[2], lines, padded);
        else
          THNN_(simd).pointwise.fill(elements, 0, padded);
    }
}

void THNN_(paddedLines_fill)(const THNNConvolution *geometry, const Bands *bands, const Band *band,
                             int64_t firstPlane, const real *image, real *padded)
{
  if (bands->flat)
    return;
  /* No result depends on what is read past the end, but denormal numbers there would slow the loops
   * down. */
  THNN_(simd).pointwise.fill(vectorLanes(), 0,
                             padded + bands->slices * paddedElements(geometry, bands));
  for (int64_t slice = band->firstSlice; slice < band->endSlice; slice++)
    fillPadded(geometry, bands, band, firstPlane, image, slice,
               padded + (slice - band->firstSlice) * paddedElements(geometry, bands));
}

/* ---- Listing --------------------------------------------------------------------------------- */

void THNN_(paddedLines_offsets)(const THNNConvolution *geometry, const Bands *bands,
                                int64_t *offset)
{
  const int64_t *kernel = geometry->kernel, *dilation = geometry->dilation;
  for (int64_t plane = 0; plane < bands->planes && bands->flat; plane++)
    offset[plane] = plane * THNN_convolutionImagePositions(geometry);
  if (bands->flat)
    return;
  const int64_t elements = copyElements(geometry, bands), width = columns(geometry, bands);
  const int64_t all = copies(geometry, bands), stride = geometry->stride[2];
  for (int64_t plane = 0; plane < bands->planes * kernel[0]; plane++)
    for (int64_t y = 0; y < kernel[1]; y++)
      for (int64_t x = 0; x < kernel[2]; x++) {
        const int64_t copy = bands->copyPerTap ? x : x * dilation[2] % stride;
        const int64_t column = bands->copyPerTap ? 0 : x * dilation[2] / stride;
        *offset++ = (plane * all + copy) * elements + y * dilation[1] * width + column;
      }
}

/* The offset at which a slice of the batch begins, in the map's first plane. */
static int64_t sliceBegin(const THNNConvolution *geometry, int64_t slice)
{
  const int64_t depth = geometry->output[0];
  return slice / depth * THNN_convolutionMapSample(geometry) +
         slice % depth * geometry->output[1] * geometry->output[2];
}

/* Lists the vectors of a flat band. */
static Vectors listFlat(const THNNConvolution *geometry, const Band *band, THNNPosition *at)
{
  const int64_t positions = band->end - band->first, whole = positions / vectorLanes();
  const THNNPosition first = {band->firstSlice * THNN_convolutionImageSample(geometry) +
                                  band->first,
                              band->firstSlice * THNN_convolutionMapSample(geometry) + band->first};
  for (int64_t i = 0; i * vectorLanes() < positions; i++)
    at[i] = (THNNPosition){first.x + i * vectorLanes(), first.y + i * vectorLanes()};
  return (Vectors){.at = at,
                   .whole = whole,
                   .parts = positions % vectorLanes() > 0,
                   .lanes = positions % vectorLanes()};
}

Vectors THNN_(paddedLines_list)(const THNNConvolution *geometry, const Bands *bands,
                                const Band *band, THNNPosition *at)
{
  if (bands->flat)
    return listFlat(geometry, band, at);
  const int64_t width = geometry->output[2], whole = width - width % vectorLanes();
  const int64_t lines = band->end - band->first, slices = band->endSlice - band->firstSlice;
  THNNPosition *vector = at, *part = at + slices * lines * (whole / vectorLanes());
  const Vectors vectors = {.at = at,
                           .whole = part - at,
                           .parts = whole < width ? slices * lines : 0,
                           .lanes = width - whole};
  for (int64_t i = 0; i < slices; i++)
    for (int64_t line = 0; line < lines; line++) {
      const THNNPosition first = {i * paddedElements(geometry, bands) +
                                      line * geometry->stride[1] * columns(geometry, bands),
                                  sliceBegin(geometry, band->firstSlice + i) +
                                      (band->first + line) * width};
      for (int64_t x = 0; x < whole; x += vectorLanes())
        *vector++ = (THNNPosition){first.x + x, first.y + x};
      if (whole < width)
        *part++ = (THNNPosition){first.x + whole, first.y + whole};
    }
  return vectors;
}
