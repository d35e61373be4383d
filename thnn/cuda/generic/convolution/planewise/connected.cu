#include "cuda/generic/convolution/planewise/connected.cuh"

#include "cuda/THC/THCIndex.cuh"
#include "cuda/generic/shared/segmentSums.cuh"
#include "cuda/generic/shared/windows.cuh"
#include "generic/convolution/checks.h"
#include "geometry/convolutionCheck.h"

namespace
{

const char *const EXPECTED = "numbers of input and output planes, from 1";

/* ---- Connections ---------------------------------------------------------------------------- */

/* The plane that a table's entry names, from 0; -1 if there is no such plane. */
__device__ int64_t entryPlane(real entry, int64_t planes)
{
  return entry >= 1 && (double)entry < (double)(planes + 1) ? (int64_t)entry - 1 : -1;
}

/* Reports a table's entries that name no plane, in the columns that must be valid. */
struct TableCheck {
  int64_t columns, planes[2]; /* columns of the table, planes that columns 0 and 1 can name */
  bool must[2];               /* whether columns 0 and 1 must be valid */
  THCIndexRange range;

  __device__ void operator()(int64_t i, const real *entries) const
  {
    const int64_t column = i % columns;
    const real entry = entries[i];
    if (column < 2 && must[column] && entryPlane(entry, planes[column]) < 0)
      THC_reportIndex((int64_t)entry, range);
  }
};

/* The planes of the image or of the map: those of the tensor, the first `named` of which take
 * part. */
template <typename Index> struct Side {
  Box<Index> box;
  Divisor<Index> planes;
  Index named;
  bool framesFirst;

  Side(const THNNPlaneJoins &joins, bool image, bool framesFirst)
      : box(image ? joins.geometry.input : joins.geometry.output),
        planes(image ? joins.geometry.inputPlanes : joins.geometry.outputPlanes),
        named((Index)(image ? joins.imagePlanes : joins.mapPlanes)), framesFirst(framesFirst)
  {
  }

  /* The offset of a plane's first element, and the step from an element to the next. */
  __device__ Index first(Index sample, Index plane) const
  {
    const Index number = (Index)planes.value;
    return framesFirst ? sample * box.volume() * number + plane
                       : (sample * number + plane) * box.volume();
  }
  __device__ Index step() const { return framesFirst ? (Index)planes.value : 1; }

  /* The sample, plane and position of an element of the tensor. */
  __device__ Place<Index> place(Index i, Index *sample) const
  {
    const Index number = (Index)planes.value;
    Index plane = 0;
    if (framesFirst) {
      const Index rest = quotient(i, planes);
      plane = i - rest * number;
      i = rest;
    }
    Place<Index> place = placeOf<2>(i, box);
    *sample = framesFirst ? place.plane : quotient(place.plane, planes);
    place.plane = framesFirst ? plane : place.plane - *sample * number;
    return place;
  }
};

template <typename Index> struct Joins {
  Windows<Index> windows;
  Side<Index> image, map;
  Index connections, multiplier, columns;
  Divisor<Index> byImagePlanes, byMultiplier;
  bool transposed;
  const real *table; /* NULL for a depth-wise convolution */

  Joins(const THCPlanesCall *call, const real *table, int64_t columns)
      : windows(call->joins.geometry), image(call->joins, true, call->framesFirst),
        map(call->joins, false, call->framesFirst), connections((Index)call->joins.connections),
        multiplier((Index)call->joins.multiplier), columns((Index)columns),
        byImagePlanes(call->joins.imagePlanes), byMultiplier(call->joins.multiplier),
        transposed(call->joins.transposed), table(table)
  {
  }

  /* The connection of a map plane in a depth-wise convolution: connections are counted multiplier x
   * image planes, map planes are counted image planes x multiplier. */
  __device__ Index depthWise(Index plane) const
  {
    const Index imagePlane = quotient(plane, byMultiplier);
    return (plane - imagePlane * multiplier) * image.named + imagePlane;
  }

  __device__ Index imagePlane(Index number) const
  {
    /* The first column names planes of the module's input, which is the map when transposed. */
    return table ? (Index)entryPlane(table[number * columns + transposed], image.named)
                 : number - quotient(number, byImagePlanes) * image.named;
  }
  __device__ Index mapPlane(Index number) const
  {
    if (table)
      return (Index)entryPlane(table[number * columns + !transposed], map.named);
    const Index repeat = quotient(number, byImagePlanes);
    return (number - repeat * image.named) * multiplier + repeat;
  }
  __device__ const real *kernel(Index number, const real *weight) const
  {
    return weight + number * windows.kernel[1] * windows.kernel[2];
  }

  /* Calls join(number) for every connection of a map plane. */
  template <typename Join> __device__ void ofMap(Index plane, Join join) const
  {
    if (!table && plane < map.named)
      join(depthWise(plane));
    for (Index number = 0; table && number < connections; number++)
      if (mapPlane(number) == plane && imagePlane(number) >= 0)
        join(number);
  }
  /* Calls join(number) for every connection of an image plane. */
  template <typename Join> __device__ void ofImage(Index plane, Join join) const
  {
    for (Index i = 0; !table && plane < image.named && i < multiplier; i++)
      join(i * image.named + plane);
    for (Index number = 0; table && number < connections; number++)
      if (imagePlane(number) == plane && mapPlane(number) >= 0)
        join(number);
  }
  /* The index of a map plane's bias; depth-wise biases are in the order of the weights. */
  __device__ Index biasIndex(Index plane) const { return table ? plane : depthWise(plane); }
};

/* ---- Forward, and backward to the image ------------------------------------------------------ */

/* Computes one element of the map from what its connections' windows see. */
template <typename Index> struct SeeImage {
  Joins<Index> joins;
  const real *images, *weight, *bias, *before;

  __device__ void operator()(int64_t i, real &result) const
  {
    const Windows<Index> &windows = joins.windows;
    const Box<Index> &box = windows.image;
    Index sample;
    const Place<Index> place = joins.map.place((Index)i, &sample);
    const Index top = windows.start(1, place.at[1]), left = windows.start(2, place.at[2]);
    accreal sum = before ? before[i] : real(0);
    if (bias)
      sum += bias[joins.biasIndex(place.plane)];
    joins.ofMap(place.plane, [&](Index number) {
      const real *plane = images + joins.image.first(sample, joins.imagePlane(number));
      const real *kernel = joins.kernel(number, weight);
      for (Index i = 0; i < windows.kernel[1]; i++)
        for (Index j = 0; j < windows.kernel[2]; j++) {
          const Index y = top + i * windows.dilation[1], x = left + j * windows.dilation[2];
          if (box.contains(1, y) && box.contains(2, x))
            sum += plane[(y * box.size[2] + x) * joins.image.step()] *
                   kernel[i * windows.kernel[2] + j];
        }
    });
    result = real(sum);
  }
};

/* Computes one element of the image from the windows that see it. */
template <typename Index> struct GatherMap {
  Joins<Index> joins;
  const real *maps, *weight, *bias, *before;

  __device__ void operator()(int64_t i, real &result) const
  {
    const Windows<Index> &windows = joins.windows;
    Index sample;
    const Place<Index> place = joins.image.place((Index)i, &sample);
    accreal sum = before ? before[i] : real(0);
    if (bias)
      sum += bias[place.plane];
    joins.ofImage(place.plane, [&](Index number) {
      const real *plane = maps + joins.map.first(sample, joins.mapPlane(number));
      const real *kernel = joins.kernel(number, weight);
      seeAll<2>(windows, place.at, [&](const Index *tap, const Index *map) {
        sum += plane[windows.map.flat(map) * joins.map.step()] *
               kernel[tap[1] * windows.kernel[2] + tap[2]];
      });
    });
    result = real(sum);
  }
};

/* ---- Backward to the weights ---------------------------------------------------------------- */

/* Term i of a weight's gradient: map position i, counted over all samples. */
template <typename Index> struct Correlate {
  Joins<Index> joins;
  Divisor<Index> taps, width;
  const real *images, *maps;

  __device__ accreal operator()(Index weight, Index i) const
  {
    const Windows<Index> &windows = joins.windows;
    const Index number = quotient(weight, taps), tap = weight - number * (Index)taps.value;
    const Index tapY = quotient(tap, width), tapX = tap - tapY * windows.kernel[2];
    const Index imagePlane = joins.imagePlane(number), mapPlane = joins.mapPlane(number);
    const Place<Index> place = placeOf<2>(i, windows.map);
    const Index y = windows.start(1, place.at[1]) + tapY * windows.dilation[1];
    const Index x = windows.start(2, place.at[2]) + tapX * windows.dilation[2];
    if (imagePlane < 0 || mapPlane < 0 || !windows.image.contains(1, y) ||
        !windows.image.contains(2, x))
      return 0;
    const real *image = images + joins.image.first(place.plane, imagePlane);
    const real *map = maps + joins.map.first(place.plane, mapPlane);
    return image[(y * windows.image.size[2] + x) * joins.image.step()] *
           map[windows.map.flat(place.at) * joins.map.step()];
  }
};

/* Term i of a bias's gradient: position i of the module's output, counted over all samples. */
template <typename Index> struct PlaneElement {
  Joins<Index> joins;
  Divisor<Index> positions;
  const real *gradOutput;

  __device__ accreal operator()(Index bias, Index i) const
  {
    const Side<Index> &side = joins.transposed ? joins.image : joins.map;
    const Index sample = quotient(i, positions), position = i - sample * (Index)positions.value;
    const Index plane = joins.table ? bias : joins.mapPlane(bias);
    return gradOutput[side.first(sample, plane) + position * side.step()];
  }
};

/* ---- The functions of a module -------------------------------------------------------------- */

/* Calls work(Index()) with the narrowest index type that suffices. */
template <typename Work> void chooseIndex(const THNNPlaneJoins &joins, Work work)
{
  const THNNConvolution &g = joins.geometry;
  const int64_t planes = g.inputPlanes > g.outputPlanes ? g.inputPlanes : g.outputPlanes;
  if (fitsWindows(g, g.batch * planes) &&
      THC_fitsIndex(joins.connections * g.kernel[1] * g.kernel[2]))
    work(int());
  else
    work(int64_t());
}

TableCheck makeCheck(const THCPlanesCall *call, const THCTensor *table, bool input, bool output)
{
  const THNNPlaneJoins &joins = call->joins;
  const int64_t inputs = joins.transposed ? joins.mapPlanes : joins.imagePlanes;
  const int64_t outputs = joins.transposed ? joins.imagePlanes : joins.mapPlanes;
  return {table->size[1],
          {inputs, outputs},
          {input, output},
          THC_valueDomain(call->state, call->function, EXPECTED)};
}

/* If the state's checkIndices is set: raises before the work if a column that must be valid is
 * not. */
void checkTable(const THCPlanesCall *call, THCTensor *connTable, int position, bool input,
                bool output)
{
  if (connTable)
    THC_checkValues<real>(call->state, call->function, connTable, "connTable", position,
                          connTable->size[0] * connTable->size[1],
                          makeCheck(call, connTable, input, output));
}

/* A table between acquire and release; nothing without one. */
struct PlaneTable {
  const real *entries;
  int64_t columns;
};

PlaneTable tableIn(const THCTensor *connTable, const THNNBuffer *entries)
{
  return {THC_pointer<const real>(entries), connTable ? connTable->size[1] : 0};
}

/* Queues the check of the table, whose report the next call will raise. */
void reportTable(THCPlan *plan, const THCPlanesCall *call, const THCTensor *connTable,
                 const THNNBuffer *entries, bool input, bool output)
{
  if (!connTable)
    return;
  const int64_t count = connTable->size[0] * connTable->size[1];
  THC_LAUNCH_ELEMENTS(plan, (THC_checkKernel<TableCheck, real>), count, count,
                      THC_pointer<const real>(entries), makeCheck(call, connTable, input, output));
}

/* Queues the additions to the gradients of the weights. */
void correlate(THCPlan *plan, const THCPlanesCall *call, const PlaneTable &table, const real *image,
               const real *map, accreal scale, real *gradWeight, accreal *partial)
{
  const THNNConvolution &g = call->joins.geometry;
  const int64_t taps = g.kernel[1] * g.kernel[2];
  chooseIndex(call->joins, [&](auto index) {
    typedef decltype(index) Index;
    const Joins<Index> joins(call, table.entries, table.columns);
    const Correlate<Index> terms = {joins, Divisor<Index>(taps), Divisor<Index>(g.kernel[2]), image,
                                    map};
    addSums<Index>(plan, call->joins.connections * taps, g.batch * volumeOf(g.output), terms, scale,
                   gradWeight, partial);
  });
}

/* Queues the computation of the image from the map (toImage) or of the map from the image. */
void carry(THCPlan *plan, const THCPlanesCall *call, bool toImage, const PlaneTable &table,
           const THCPlanesOperands &of)
{
  const THNNConvolution &g = call->joins.geometry;
  const real *before = of.add ? of.result : nullptr;
  chooseIndex(call->joins, [&](auto index) {
    typedef decltype(index) Index;
    const Joins<Index> joins(call, table.entries, table.columns);
    if (toImage)
      THC_apply(plan, "convolution of planes", g.batch * g.inputPlanes * volumeOf(g.input),
                GatherMap<Index>{joins, of.source, of.weight, of.bias, before}, of.result);
    else
      THC_apply(plan, "convolution of planes", g.batch * g.outputPlanes * volumeOf(g.output),
                SeeImage<Index>{joins, of.source, of.weight, of.bias, before}, of.result);
  });
}

} // namespace

void THCUNN_(connected_gather)(THCPlan *plan, const THCPlanesCall *call, bool toImage,
                               const THCPlanesOperands &operands)
{
  carry(plan, call, toImage, {nullptr, 0}, operands);
}

int64_t THCUNN_(connected_scratchBytes)(const THNNPlaneJoins &joins)
{
  const THNNConvolution &g = joins.geometry;
  return segmentBytes(joins.connections * g.kernel[1] * g.kernel[2], g.batch * volumeOf(g.output));
}

void THCUNN_(connected_correlate)(THCPlan *plan, const THCPlanesCall *call, const real *image,
                                  const real *map, accreal scale, real *gradWeight,
                                  accreal *partial)
{
  correlate(plan, call, {nullptr, 0}, image, map, scale, gradWeight, partial);
}

void THCUNN_(connected_updateOutput)(const THCPlanesCall *call, THCTensor *input, THCTensor *output,
                                     THCTensor *weight, THCTensor *bias, THCTensor *connTable)
{
  const THNNPlaneJoins &joins = call->joins;
  checkTable(call, connTable, 6, true, false);
  const bool batched = input->nDimension == joins.nDimension + 2;
  int64_t size[5];
  const int nDimension =
      THNN_convolutionSizes(&joins.geometry, joins.nDimension, joins.transposed, batched, size);
  if (call->framesFirst) {
    size[batched] = joins.geometry.output[2];
    size[batched + 1] = joins.geometry.outputPlanes;
  }

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *out = THC_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *kernels = THC_planIn(&plan, weight, 4);
  const THNNBuffer *start = bias ? THC_planIn(&plan, bias, 5) : nullptr;
  const THNNBuffer *entries = connTable ? THC_planIn(&plan, connTable, 6) : nullptr;
  THC_planAcquire(&plan);
  reportTable(&plan, call, connTable, entries, true, false);
  carry(&plan, call, joins.transposed, tableIn(connTable, entries),
        {THC_pointer<const real>(in), THC_pointer<const real>(kernels),
         THC_pointer<const real>(start), THC_pointer<real>(out), false});
  THC_planRelease(&plan);
}

void THCUNN_(connected_updateGradInput)(const THCPlanesCall *call, THCTensor *input,
                                        THCTensor *gradOutput, THCTensor *gradInput,
                                        THCTensor *weight, THCTensor *connTable)
{
  checkTable(call, connTable, 7, false, true);

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THC_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *kernels = THC_planIn(&plan, weight, 5);
  const THNNBuffer *entries = connTable ? THC_planIn(&plan, connTable, 7) : nullptr;
  THC_planAcquire(&plan);
  reportTable(&plan, call, connTable, entries, false, true);
  carry(&plan, call, !call->joins.transposed, tableIn(connTable, entries),
        {THC_pointer<const real>(from), THC_pointer<const real>(kernels), nullptr,
         THC_pointer<real>(to), false});
  THC_planRelease(&plan);
}

void THCUNN_(connected_accGradParameters)(const THCPlanesCall *call, THCTensor *input,
                                          THCTensor *gradOutput, THCTensor *gradWeight,
                                          THCTensor *gradBias, THCTensor *connTable, accreal scale)
{
  const THNNPlaneJoins &shape = call->joins;
  const THNNConvolution &g = shape.geometry;
  checkTable(call, connTable, 6, true, true);
  const int64_t biases = shape.transposed ? shape.imagePlanes : shape.mapPlanes;
  const int64_t positions = volumeOf(shape.transposed ? g.input : g.output);
  const int64_t biasTerms = g.batch * positions;

  THCPlan plan;
  THC_planStart(&plan, call->function, call->state);
  const THNNBuffer *in = THC_planIn(&plan, input, 2);
  const THNNBuffer *from = THC_planIn(&plan, gradOutput, 3);
  const THNNBuffer *kernels = THC_planInOut(&plan, gradWeight, 4);
  const THNNBuffer *start = gradBias ? THC_planInOut(&plan, gradBias, 5) : nullptr;
  const THNNBuffer *entries = connTable ? THC_planIn(&plan, connTable, 6) : nullptr;
  const THNNBuffer *partial = THC_planScratch(&plan, THCUNN_(connected_scratchBytes)(shape));
  const THNNBuffer *biasPartial = THC_planScratch(&plan, segmentBytes(biases, biasTerms));
  THC_planAcquire(&plan);
  reportTable(&plan, call, connTable, entries, true, true);
  const PlaneTable table = tableIn(connTable, entries);
  const real *gradients = THC_pointer<const real>(from), *x = THC_pointer<const real>(in);
  correlate(&plan, call, table, shape.transposed ? gradients : x, shape.transposed ? x : gradients,
            scale, THC_pointer<real>(kernels), THC_pointer<accreal>(partial));
  chooseIndex(shape, [&](auto index) {
    typedef decltype(index) Index;
    const Joins<Index> joins(call, table.entries, table.columns);
    const PlaneElement<Index> element = {joins, Divisor<Index>(positions), gradients};
    if (start)
      addSums<Index>(&plan, biases, biasTerms, element, scale, THC_pointer<real>(start),
                     THC_pointer<accreal>(biasPartial));
  });
  THC_planRelease(&plan);
}
