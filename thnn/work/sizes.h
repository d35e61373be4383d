/* Arithmetic of sizes and of the blocks that they are cut into. */
#ifndef THNN_SIZES_H
#define THNN_SIZES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline int64_t minimum(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline int64_t maximum(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static inline int64_t clamp(int64_t value, int64_t low, int64_t high)
{
  return value < low ? low : value > high ? high : value;
}

/* a / b rounded down and up, for any a and a positive b. */
static inline int64_t floorDivide(int64_t a, int64_t b)
{
  return b == 1 ? a : a / b - (a % b < 0);
}

static inline int64_t ceilDivide(int64_t a, int64_t b)
{
  return b == 1 ? a : a / b + (a % b > 0);
}

/* a / b rounded up, both positive. */
static inline int64_t divideUp(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

static inline int64_t roundUp(int64_t a, int64_t unit)
{
  return divideUp(a, unit) * unit;
}

/* Both numbers are positive. */
static inline int64_t greatestCommonDivisor(int64_t a, int64_t b)
{
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Whether two lists of sizes or strides are the same; an empty one may be NULL. */
static inline bool sameNumbers(int count, const int64_t *a, const int64_t *b)
{
  return count < 1 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

/* The length of the nearly equal blocks that `size` is cut into: at most `limit`, and a multiple of
 * `unit` unless that would exceed `limit` or `size`. */
static inline int64_t evenBlock(int64_t size, int64_t limit, int64_t unit)
{
  const int64_t block = roundUp(divideUp(size, divideUp(size, limit)), unit);
  return minimum(block, minimum(size, limit));
}

/* The smallest number of pieces to cut each of `parts` parts into so that all threads get equally
 * many pieces; `most` if no number up to that does. */
static inline int64_t evenCuts(int64_t parts, int64_t most, int64_t threads)
{
  int64_t cuts = 1;
  while (cuts < most && parts * cuts % threads > 0)
    cuts++;
  return cuts;
}

#endif
