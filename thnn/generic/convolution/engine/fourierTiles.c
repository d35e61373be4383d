/* Where the elements, taps and results of tiles are in image, weight and map, and their transforms.
 * Slices are copied to tiles of their own before they are transformed, and results of slices are
 * copied to the map from such tiles. */
#include "generic/convolution/engine/fourierTiles.h"

enum { SIDE = THNN_FOURIER_SIDE, TILE = SIDE * SIDE };

/* The most taps that a slice has in dimension `i`. */
static int64_t tapsAlong(const THNNConvolution *g, int i)
{
  return divideUp(g->kernel[i], g->stride[i]);
}

FourierGrid THNN_(fourierTiles_grid)(const THNNConvolution *g)
{
  const bool lines = tapsAlong(g, 1) == 1;
  FourierGrid grid = {.g = *g,
                      .transforms = lines ? &THNN_(simd).fourier.line : &THNN_(simd).fourier.tile,
                      .slices = g->stride[1] * g->stride[2]};
  for (int i = 0; i < 2; i++) {
    const int64_t kernel = g->kernel[i + 1], stride = g->stride[i + 1], pad = g->pad[i + 1];
    int64_t end = g->output[i + 1];
    grid.taps[i] = tapsAlong(g, i + 1);
    grid.side[i] = lines && i == 0 ? 1 : SIDE + 1 - grid.taps[i];
    grid.pad[i] = pad;
    if (g->transposed) {
      grid.pad[i] = kernel - 1 - pad;
      grid.first[i] = floorDivide(grid.pad[i], stride);
      end = floorDivide(grid.pad[i] + end - 1, stride) + 1;
    }
    grid.tiles[i] = divideUp(end - grid.first[i], grid.side[i]);
  }
  return grid;
}

FourierRoom THNN_(fourierTiles_takeRoom)(const FourierGrid *grid, Scratch *scratch)
{
  FourierRoom room;
  room.lines = THNN_take(scratch, grid->transforms->lines, sizeof(real));
  room.tiles = THNN_take(scratch, vectorLanes() * TILE, sizeof(real));
  return room;
}

/* Whether there may be so few products for each result as to be worth the transforms. With up to 3x3
 * taps, Winograd's tiles of 4x4 need about as few, and a tenth of the numbers for each filter. But
 * their transforms take longer, which shows where there are few filters, though not in gradients of
 * the weight; with fewer planes, no transforms gain. Lines need 23 for 15 results of two taps, which
 * is hardly less than the definition's 30. */
static bool mayGain(const AlgorithmPlan *plan)
{
  enum { FEWEST_PLANES = 3, FEW_TAPS = 3, FEW_PLANES = 16, FEW_FILTERS = 1024 };
  const THNNConvolution *g = &plan->geometry;
  const int64_t planes = minimum(g->inputPlanes, g->outputPlanes);
  if (planes < FEWEST_PLANES)
    return false;
  if (tapsAlong(g, 1) == 1)
    return tapsAlong(g, 2) >= FEW_TAPS;
  const bool fewFilters = planes >= FEW_PLANES && g->inputPlanes * g->outputPlanes <= FEW_FILTERS &&
                          plan->part != THNN_CONVOLUTION_BACKWARD_WEIGHT;
  return maximum(g->kernel[1], g->kernel[2]) > FEW_TAPS || fewFilters ||
         THNN_State_accuracy(plan->state) == THNN_ACCURACY_HIGH;
}

/* They are for planes without a depth whose slices all have taps, but leave a tile results. */
bool THNN_(fourierTiles_apply)(const AlgorithmPlan *plan)
{
  enum { MOST_TAPS = SIDE - 2 };
  const THNNConvolution *g = &plan->geometry;
  bool apply = g->kernel[0] == 1 && g->input[0] == 1 && g->output[0] == 1 && g->pad[0] == 0;
  for (int i = 1; i < 3; i++)
    apply = apply && g->stride[i] <= g->kernel[i] && g->dilation[i] == 1 &&
            tapsAlong(g, i) <= MOST_TAPS;
  return apply && g->stride[0] == 1 && (plan->asked || mayGain(plan));
}

/* ---- Where they are -------------------------------------------------------------------------- */

/* The first result of a tile, and its sample. */
typedef struct TilePlace {
  int64_t sample, row, column;
} TilePlace;

static TilePlace placeOf(const FourierGrid *grid, int64_t tile)
{
  const int64_t *tiles = grid->tiles;
  return (TilePlace){.sample = tile / (tiles[0] * tiles[1]),
                     .row = grid->first[0] + tile / tiles[1] % tiles[0] * grid->side[0],
                     .column = grid->first[1] + tile % tiles[1] * grid->side[1]};
}

/* Tiles of rows x columns elements in FourierRoom. */
static FourierTile ownTile(int64_t rows, int64_t columns, int64_t planes)
{
  return (FourierTile){.height = rows,
                       .width = SIDE,
                       .rows = rows,
                       .columns = columns,
                       .step = TILE,
                       .planes = planes};
}

/* A slice of a plane of `size` with `pad` zeros around it, from the element in a row and a column of
 * the slice on. */
static FourierSlice sliceFrom(const FourierGrid *grid, int64_t slice, int64_t row, int64_t column,
                              const int64_t *pad, const int64_t *size)
{
  const int64_t *stride = grid->g.stride + 1, number = slice % grid->slices;
  return (FourierSlice){.row = row * stride[0] + number / stride[1] - pad[0],
                        .column = column * stride[1] + number % stride[1] - pad[1],
                        .rowStep = stride[0],
                        .columnStep = stride[1],
                        .height = size[0],
                        .width = size[1]};
}

/* ---- Image and map --------------------------------------------------------------------------- */

void THNN_(fourierTiles_elements)(const FourierGrid *grid, int64_t tile, int64_t slice,
                                  const real *image, FourierRoom room, int64_t apart, real *y)
{
  const THNNConvolution *g = &grid->g;
  const TilePlace place = placeOf(grid, tile);
  const int64_t planes = minimum(imageSlices(grid) - slice, vectorLanes());
  const int64_t rows = hasLines(grid) ? 1 : SIDE, positions = THNN_convolutionImagePositions(g);
  const real *sample = image + place.sample * THNN_convolutionImageSample(g);
  if (imageSlices(grid) == g->inputPlanes) {
    const FourierTile of = {.row = place.row - (g->transposed ? grid->taps[0] - 1 : grid->pad[0]),
                            .column =
                                place.column - (g->transposed ? grid->taps[1] - 1 : grid->pad[1]),
                            .height = g->input[1],
                            .width = g->input[2],
                            .rows = rows,
                            .columns = SIDE,
                            .step = positions,
                            .planes = planes};
    grid->transforms->elements(&of, sample + slice * positions, room.lines, apart, y);
    return;
  }
  const FourierTile own = ownTile(rows, SIDE, planes);
  for (int64_t i = 0; i < planes; i++) {
    FourierSlice of = sliceFrom(grid, slice + i, place.row, place.column, grid->pad, g->input + 1);
    of.rows = rows;
    of.columns = SIDE;
    THNN_(simd).fourier.collect(&of, sample + (slice + i) / grid->slices * positions,
                                room.tiles + i * TILE);
  }
  grid->transforms->elements(&own, room.tiles, room.lines, apart, y);
}

/* A tile of the map, whose planes have no slices, or whose rows and columns are those of all. */
static FourierTile mapTile(const FourierGrid *grid, const TilePlace *place, int64_t planes)
{
  const THNNConvolution *g = &grid->g;
  return (FourierTile){.row = place->row - grid->first[0],
                       .column = place->column - grid->first[1],
                       .height = g->output[1],
                       .width = g->output[2],
                       .rows = grid->side[0],
                       .columns = grid->side[1],
                       .step = THNN_convolutionMapPositions(g),
                       .planes = planes};
}

bool THNN_(fourierTiles_results)(const FourierGrid *grid, int64_t tile, int64_t slice,
                                 const real *x, int64_t apart, const real *bias, FourierRoom room,
                                 real *map)
{
  const THNNConvolution *g = &grid->g;
  const TilePlace place = placeOf(grid, tile);
  const int64_t planes = minimum(mapSlices(grid) - slice, vectorLanes());
  const int64_t firstRow = g->transposed ? grid->taps[0] - 1 : 0;
  const int64_t firstColumn = g->transposed ? grid->taps[1] - 1 : 0;
  const int64_t positions = THNN_convolutionMapPositions(g);
  real *sample = map + place.sample * THNN_convolutionMapSample(g);
  if (mapSlices(grid) == g->outputPlanes) {
    const FourierTile of = mapTile(grid, &place, planes);
    return grid->transforms->results(&of, firstRow, firstColumn, x, apart, bias, room.lines,
                                     sample + slice * positions);
  }
  const FourierTile own = ownTile(grid->side[0], grid->side[1], planes);
  const bool finite = grid->transforms->results(&own, firstRow, firstColumn, x, apart, bias,
                                                room.lines, room.tiles);
  for (int64_t i = 0, count; i < planes; i += count) {
    const int64_t column = (slice + i) % g->stride[2]; /* of slices whose rows are the same */
    FourierSlice of = sliceFrom(grid, slice + i, place.row, place.column, grid->pad, g->output + 1);
    count = minimum(g->stride[2] - column, planes - i);
    of.rows = own.rows;
    of.columns = own.columns;
    THNN_(simd).fourier.spread(&of, (int)count, room.tiles + i * TILE,
                               sample + (slice + i) / grid->slices * positions);
  }
  return finite;
}

void THNN_(fourierTiles_gradients)(const FourierGrid *grid, int64_t tile, int64_t slice,
                                   const real *gradMap, FourierRoom room, int64_t apart, real *y)
{
  const THNNConvolution *g = &grid->g;
  const TilePlace place = placeOf(grid, tile);
  const FourierTile of = mapTile(grid, &place, minimum(g->outputPlanes - slice, vectorLanes()));
  grid->transforms->taps(&of, false,
                         gradMap + place.sample * THNN_convolutionMapSample(g) + slice * of.step,
                         room.lines, apart, y);
}

/* ---- Taps ------------------------------------------------------------------------------------ */

/* Where the taps of a pair of planes are. */
static int64_t filterOfPair(const THNNConvolution *g, int64_t image, int64_t map)
{
  const int64_t pair = g->transposed ? image * g->outputPlanes + map : map * g->inputPlanes + image;
  return pair * g->kernel[1] * g->kernel[2];
}

/* A vector of filters of a layer without strides, from a map plane on. */
static FourierTile filterTile(const FourierGrid *grid, int64_t image, int64_t map, int64_t planes)
{
  const THNNConvolution *g = &grid->g;
  return (FourierTile){.height = g->kernel[1],
                       .width = g->kernel[2],
                       .rows = g->kernel[1],
                       .columns = g->kernel[2],
                       .step = filterOfPair(g, image, map + 1) - filterOfPair(g, image, map),
                       .planes = planes};
}

void THNN_(fourierTiles_taps)(const FourierGrid *grid, int64_t imageSlice, int64_t slice,
                              const real *weight, FourierRoom room, int64_t apart, real *y)
{
  const THNNConvolution *g = &grid->g;
  const int64_t planes = minimum(mapSlices(grid) - slice, vectorLanes());
  if (grid->slices == 1) {
    const FourierTile of = filterTile(grid, imageSlice, slice, planes);
    grid->transforms->taps(&of, g->transposed, weight + filterOfPair(g, imageSlice, slice),
                           room.lines, apart, y);
    return;
  }
  static const int64_t none[] = {0, 0};
  const FourierTile own = ownTile(grid->taps[0], grid->taps[1], planes);
  for (int64_t i = 0; i < planes; i++) {
    const int64_t image = g->transposed ? imageSlice : imageSlice / grid->slices;
    const int64_t map = g->transposed ? (slice + i) / grid->slices : slice + i;
    FourierSlice of =
        sliceFrom(grid, g->transposed ? slice + i : imageSlice, 0, 0, none, g->kernel + 1);
    of.rows = own.rows;
    of.columns = own.columns;
    THNN_(simd).fourier.collect(&of, weight + filterOfPair(g, image, map), room.tiles + i * TILE);
  }
  grid->transforms->taps(&own, g->transposed, room.tiles, room.lines, apart, y);
}

/* Adds a slice's taps to those of a filter. */
static void addSlice(const FourierGrid *grid, int64_t slice, const real *taps, real scale,
                     real *filter)
{
  const THNNConvolution *g = &grid->g;
  const int64_t *stride = g->stride + 1, number = slice % grid->slices;
  for (int64_t row = number / stride[1]; row < g->kernel[1]; row += stride[0], taps += SIDE)
    for (int64_t column = number % stride[1], i = 0; column < g->kernel[2];
         column += stride[1], i++) {
      const real share = scale * taps[i]; /* rounded here with every compiler */
      filter[row * g->kernel[2] + column] += share;
    }
}

void THNN_(fourierTiles_addTaps)(const FourierGrid *grid, int64_t imageSlice, int64_t slice,
                                 const real *x, int64_t apart, const real *zeros, real scale,
                                 FourierRoom room, real *gradWeight)
{
  const THNNConvolution *g = &grid->g;
  const int64_t planes = minimum(g->outputPlanes - slice, vectorLanes());
  const FourierTile own = ownTile(grid->taps[0], grid->taps[1], planes);
  grid->transforms->results(&own, 0, 0, x, apart, zeros, room.lines, room.tiles);
  for (int64_t i = 0; i < planes; i++)
    addSlice(grid, imageSlice, room.tiles + i * TILE, scale,
             gradWeight + filterOfPair(g, imageSlice / grid->slices, slice + i));
}
