/* The transforms of F(4x4, 3x3) of one tile after the other, where each lane has a plane: what a
 * tile sees is whole vectors in memory, and nothing has to be brought into lanes. The transforms
 * along a line are in winogradPoints.h. */
#include "simd/kernels/winogradPoints.h"
#include "simd/vector/inside.h"
#include "simd/vector/prefetch.h"

enum { SIDE = 4, SEEN = 6 };

/* Whether positions [first, first + count) are inside of [0, size). */
INLINE bool isInside(int64_t first, int64_t count, int64_t size)
{
  return first >= 0 && first + count <= size;
}

/* Prefetches the place that is a tile further on. */
INLINE void fetchNext(const PlanesTile *of, const real *place, const int why)
{
  const int64_t bytes = SIDE * of->step * (int64_t)sizeof(real);
  if (why == WRITE)
    __builtin_prefetch(THNN_ahead(place, bytes), WRITE, FIRST_LEVEL);
  else
    __builtin_prefetch(THNN_ahead(place, bytes), READ, FIRST_LEVEL);
}

/* `inside`, a constant where this is called, says that all elements are inside of the plane. */
INLINE void sourceTile(const PlanesTile *of, const bool inside, const real *image, int64_t apart,
                       real *y)
{
  const real *first = image + (of->row * of->width + of->column) * of->step;
  for (int64_t plane = 0; plane < of->planes; plane += LANES) {
    const int64_t next = unknownDistance(apart);
    const int64_t column = unknownDistance(of->step), row = unknownDistance(of->width * of->step);
    Vector down[SEEN][SEEN]; /* transformed down the columns */
#pragma GCC unroll 6
    for (int j = 0; j < SEEN; j++) {
      Vector element[SEEN], coefficient[SEEN];
      const bool seen = inside || (of->column + j >= 0 && of->column + j < of->width);
#pragma GCC unroll 6
      for (int i = 0; i < SEEN; i++) {
        const bool reads = inside || (seen && of->row + i >= 0 && of->row + i < of->height);
        if (of->fetches && j >= SEEN - SIDE)
          fetchNext(of, first + i * row + j * column + plane, READ);
        element[i] = reads ? load(first + i * row + j * column + plane) : (Vector){0};
      }
      spreadElements(SEEN, element, coefficient);
#pragma GCC unroll 6
      for (int i = 0; i < SEEN; i++)
        down[i][j] = coefficient[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < SEEN; i++) {
      Vector coefficient[SEEN];
      spreadElements(SEEN, down[i], coefficient);
#pragma GCC unroll 6
      for (int j = 0; j < SEEN; j++)
        store(y + (i * SEEN + j) * next + plane, coefficient[j]);
    }
  }
}

static void source(const PlanesTile *of, const real *image, int64_t apart, real *y)
{
  if (isInside(of->row, SEEN, of->height) && isInside(of->column, SEEN, of->width))
    sourceTile(of, true, image, apart, y);
  else
    sourceTile(of, false, image, apart, y);
}

/* `adds` and `rectifies` are constants where this is called. */
INLINE bool resultTile(const PlanesTile *of, const bool adds, const bool rectifies, const real *x,
                       int64_t apart, const real *bias, const real *addend, real *map)
{
  const int64_t rows = of->height - of->row, columns = of->width - of->column;
  const int64_t place = (of->row * of->width + of->column) * of->step;
  Vector undefined = {0};
  for (int64_t plane = 0; plane < of->planes; plane += LANES) {
    const Vector start = load(bias + plane);
    const int64_t next = unknownDistance(apart);
    Vector across[SIDE][SEEN];
#pragma GCC unroll 6
    for (int j = 0; j < SEEN; j++) {
      Vector sum[SEEN], gathered[SIDE];
#pragma GCC unroll 6
      for (int i = 0; i < SEEN; i++)
        sum[i] = load(x + (i * SEEN + j) * next + plane);
      gatherSums(SEEN, SIDE, sum, gathered);
#pragma GCC unroll 4
      for (int i = 0; i < SIDE; i++)
        across[i][j] = gathered[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < SIDE; i++) {
      Vector results[SIDE];
      if (i >= rows)
        break;
      gatherSums(SEEN, SIDE, across[i], results);
#pragma GCC unroll 4
      for (int j = 0; j < SIDE; j++) {
        const int64_t at = place + (i * of->width + j) * of->step + plane;
        Vector result = results[j] + start;
        undefined += 0 * result;
        if (j >= columns)
          continue;
        if (of->fetches) {
          fetchNext(of, map + at, WRITE);
          if (adds)
            fetchNext(of, addend + at, READ);
        }
        if (adds)
          result += load(addend + at);
        store(map + at, rectifies ? keepWhere(result > (Vector){0}, result) : result);
      }
    }
  }
  return isZero(undefined);
}

static bool result(const PlanesTile *of, const real *x, int64_t apart, const real *bias,
                   const real *addend, bool rectifies, real *map)
{
  if (addend)
    return rectifies ? resultTile(of, true, true, x, apart, bias, addend, map)
                     : resultTile(of, true, false, x, apart, bias, addend, map);
  return rectifies ? resultTile(of, false, true, x, apart, bias, NULL, map)
                   : resultTile(of, false, false, x, apart, bias, NULL, map);
}

const SimdWinogradPlanes SIMD_TABLE(WinogradPlanes, THNN_SIMD_LEVEL) = {
    .source = source,
    .result = result,
};
