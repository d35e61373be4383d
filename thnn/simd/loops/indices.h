/* Indices into windows, planes and tables: checking, decoding, and adding to or up what they name. */
#ifndef THNN_SIMD_INDICES_H
#define THNN_SIMD_INDICES_H

#include <stdbool.h>
#include <stdint.h>

#include "simd/loops/indexWindows.h"
#include "simd/place.h"

/* Bags of rows of a table. `index` lists the rows of all bags, `indices` of them; bag b begins at
 * index number start[b] and ends where the next one begins. Rows and starts count from `base`. */
typedef struct Bags {
  int64_t bags, indices, base, columns;
  const int64_t *index, *start;
  const real *table;
} Bags;

typedef struct SimdIndices {
  /* Whether first <= value <= last for all of n values; first and last are at least -1. */
  bool (*areWithin)(int64_t n, const int64_t *value, int64_t first, int64_t last);
  /* Decodes indices with taps t, h and w in bytes 0, 1 and 2: returns whether all taps are within
   * their windows' limits and, if so, element = the numbers of the elements that they name. `second`
   * is not used. */
  bool (*decodeTaps)(const THNNIndexWindows *windows, const int64_t *index, const int64_t *second,
                     uint32_t *element);
  /* The same for indices that are a row and a column, counted from 1 where the window begins. */
  bool (*decodePlaces)(const THNNIndexWindows *windows, const int64_t *row, const int64_t *column,
                       uint32_t *element);
  /* For n indices from 1 to `last`, which is below 2^16: number = index - 1 + first; for 0,
   * THNN_NO_NUMBER. */
  THNNIndexKind (*narrow)(int64_t n, const int64_t *index, int64_t last, int64_t first,
                          uint16_t *number);
  /* number = element, modulo 2^16 */
  void (*narrowElements)(int64_t n, const uint32_t *element, uint16_t *number);
  /* y[element - base] += x, in order, for n indices of each plane; a plane of y has `elements`
   * elements. An element may occur more than once. */
  void (*addToElements)(int64_t planes, int64_t n, int64_t elements, const int64_t *element,
                        int64_t base, const real *x, real *y);
  /* addToElements for one plane and base 0. */
  void (*addToNearElements)(int64_t n, const uint32_t *element, const real *x, real *y);
  void (*addToNarrowElements)(int64_t n, const uint16_t *element, const real *x, real *y);
  /* y[i] = x[element[i] - base], and the same for elements numbered from 0 */
  void (*getElements)(int64_t n, const int64_t *element, int64_t base, const real *x, real *y);
  void (*getNearElements)(int64_t n, const uint32_t *element, const real *x, real *y);
  void (*getNarrowElements)(int64_t n, const uint16_t *element, const real *x, real *y);
  /* sums += (index == number ? x : 0); if `first`, sums are set rather than added to */
  void (*addNamed)(int64_t n, const int64_t *index, int64_t number, const real *x, bool first,
                   real *sums);
  /* Rows of y, n elements each: y[number][i] = 0 + (index[i] == number ? x[i] : 0), for numbers 0 to
   * numbers - 1. Indices have 32 bits; n >= 8. */
  void (*setNamed)(int64_t n, const int64_t *index, int64_t numbers, const real *x, real *y);
  /* row b of sums = the sum of the rows in bag b, added up in order, for bags `first` to end - 1 */
  void (*sumOfBags)(const Bags *bags, int64_t first, int64_t end, real *sums);
  /* index = place + first, or `none` where nothing was found */
  void (*indexOfPlace)(int64_t n, const Place *place, int64_t first, int64_t none, int64_t *index);
  /* Splits places row*width + column, which are below 2^31, into row and column - begin[2*i], both
   * counted from 1; both are 0 where the place is negative. */
  void (*numbersOfPlace)(int64_t n, const Place *place, int64_t width, const int64_t *begin,
                         int64_t *row, int64_t *column);
} SimdIndices;

#endif
