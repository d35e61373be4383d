#include "call/check.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <TH/TH.h>
#include "work/sizes.h"

/* Bytes of the largest element of any tensor type: numbers of elements are limited so that their
 * bytes can be counted. */
enum { LARGEST_ELEMENT = 8 };

THNNText THNN_shapeText(THNNShape shape)
{
  THNNText text;
  char *to = text.characters;
  const size_t room = sizeof text.characters;
  if (shape.nDimension < 0) {
    snprintf(to, room, "NULL");
    return text;
  }
  if (shape.nDimension == 0) {
    snprintf(to, room, "an empty tensor");
    return text;
  }
  size_t used = 0;
  const char *before = "[";
  for (int i = 0; i < shape.nDimension; i++) {
    const size_t left = room - used;
    const int length = snprintf(to + used, left, "%s%lld", before, (long long)shape.size[i]);
    /* Keep room for an ending that says that the text is cut. */
    if ((size_t)length + sizeof " …]" > left) {
      snprintf(to + used, left, " …]");
      return text;
    }
    used += (size_t)length;
    before = " x ";
  }
  snprintf(to + used, room - used, "]");
  return text;
}

static _Thread_local THNNRejection rejection;

THNNRejection THNN_takeRejection(void)
{
  const THNNRejection taken = rejection;
  rejection = (THNNRejection){0};
  return taken;
}

void THNN_reject(const char *function, const char *name, int position, const char *expected,
                 const char *found)
{
  rejection = (THNNRejection){.function = function, .name = name, .position = position};
  THArgCheck(0, position, "%s: argument #%d '%s': expected %s, found %s", function, position, name,
             expected, found);
}

void THNN_rejectShape(const char *function, THNNShape shape, const char *expected, ...)
{
  char text[512];
  va_list arguments;
  va_start(arguments, expected);
  vsnprintf(text, sizeof text, expected, arguments);
  va_end(arguments);
  const THNNText found = THNN_shapeText(shape);
  THNN_reject(function, shape.name, shape.position, text, found.characters);
}

void THNN_checkGiven(const char *function, THNNShape shape)
{
  if (!THNN_given(shape))
    THNN_rejectShape(function, shape, "a tensor");
}

static bool hasZeroSize(THNNShape shape)
{
  for (int i = 0; i < shape.nDimension; i++)
    if (shape.size[i] < 1)
      return true;
  return false;
}

void THNN_checkDimensions(const char *function, THNNShape shape, int least, int most,
                          const char *layout)
{
  const bool fits = shape.nDimension >= least && shape.nDimension <= most && !hasZeroSize(shape);
  if (fits)
    return;
  if (least == most)
    THNN_rejectShape(function, shape, "a non-empty %dD tensor (%s)", least, layout);
  else
    THNN_rejectShape(function, shape, "a non-empty %dD or %dD tensor (%s)", least, most, layout);
}

void THNN_checkNotEmpty(const char *function, THNNShape shape)
{
  if (shape.nDimension < 1 || hasZeroSize(shape))
    THNN_rejectShape(function, shape, "a non-empty tensor");
}

void THNN_checkSize(const char *function, THNNShape shape, int dimension, int64_t wanted,
                    const char *meaning)
{
  if (dimension >= shape.nDimension || shape.size[dimension] != wanted)
    THNN_rejectShape(function, shape, "size %lld (%s) in dimension %d", (long long)wanted, meaning,
                     dimension + 1);
}

void THNN_checkSizes(const char *function, THNNShape shape, int nDimension, const int64_t *wanted,
                     const char *layout)
{
  if (shape.nDimension == nDimension && sameNumbers(nDimension, shape.size, wanted))
    return;
  const THNNText text = THNN_shapeText(THNN_makeShape("", 0, nDimension, wanted));
  THNN_rejectShape(function, shape, "%s (%s)", text.characters, layout);
}

void THNN_checkSizesOrMore(const char *function, THNNShape shape, int nDimension,
                           const int64_t *wanted, const char *layout)
{
  THNN_checkPlanes(function, shape, nDimension, wanted, nDimension - 1, layout);
}

void THNN_checkPlanes(const char *function, THNNShape shape, int nDimension, const int64_t *wanted,
                      int trailing, const char *layout)
{
  const int leading = nDimension - trailing;
  if (shape.nDimension == nDimension &&
      sameNumbers(trailing, shape.size + leading, wanted + leading) &&
      THNN_product(leading, shape.size) >= THNN_product(leading, wanted))
    return;
  const THNNText text = THNN_shapeText(THNN_makeShape("", 0, nDimension, wanted));
  THNN_rejectShape(function, shape, "%s (%s)", text.characters, layout);
}

void THNN_checkElements(const char *function, THNNShape shape, int64_t wanted, const char *meaning)
{
  if (wanted < 0)
    wanted = INT64_MAX;
  if (!THNN_given(shape) || THNN_elements(function, shape) < wanted)
    THNN_rejectShape(function, shape, "at least %lld elements (%s)", (long long)wanted, meaning);
}

void THNN_checkVector(const char *function, THNNShape shape, int64_t wanted, const char *meaning)
{
  if (shape.nDimension != 1 || shape.size[0] != wanted)
    THNN_rejectShape(function, shape, "[%lld] (%s)", (long long)wanted, meaning);
}

void THNN_checkSameElements(const char *function, THNNShape shape, THNNShape like)
{
  const int64_t wanted = THNN_elements(function, like);
  if (shape.nDimension >= 0 && THNN_elements(function, shape) == wanted)
    return;
  const THNNText text = THNN_shapeText(like);
  THNN_rejectShape(function, shape, "%lld elements like %s %s", (long long)wanted, like.name,
                   text.characters);
}

void THNN_checkOneElement(const char *function, THNNShape shape)
{
  THNN_checkVector(function, shape, 1, "one element; it is not resized");
}

void THNN_checkFirstElement(const char *function, THNNShape shape)
{
  if (shape.nDimension != 1 || shape.size[0] < 1)
    THNN_rejectShape(function, shape, "a vector; its first element is written");
}

void THNN_checkBlasSizes(const char *function, THNNShape shape)
{
  for (int i = 0; i < shape.nDimension; i++)
    if (shape.size[i] > INT_MAX)
      THNN_rejectShape(function, shape, "sizes of at most %d", INT_MAX);
}

void THNN_checkPositive(const char *function, THNNScalar scalar)
{
  THNN_checkAtLeast(function, scalar, 1);
}

static void rejectScalar(const char *function, THNNScalar scalar, const char *bound, int64_t limit)
{
  char expected[48], found[32];
  snprintf(expected, sizeof expected, "%s %lld", bound, (long long)limit);
  snprintf(found, sizeof found, "%lld", (long long)scalar.value);
  THNN_reject(function, scalar.name, scalar.position, expected, found);
}

void THNN_checkAtLeast(const char *function, THNNScalar scalar, int64_t least)
{
  if (scalar.value < least)
    rejectScalar(function, scalar, "at least", least);
}

void THNN_checkAtMost(const char *function, THNNScalar scalar, int64_t most)
{
  if (scalar.value > most)
    rejectScalar(function, scalar, "at most", most);
}

int64_t THNN_product(int nDimension, const int64_t *size)
{
  int64_t product = nDimension > 0 ? 1 : 0;
  for (int i = 0; i < nDimension; i++) {
    if (size[i] <= 0)
      return size[i] < 0 ? -1 : 0;
    if (product > INT64_MAX / LARGEST_ELEMENT / size[i])
      return -1;
    product *= size[i];
  }
  return product;
}

int64_t THNN_elements(const char *function, THNNShape shape)
{
  const int64_t elements = THNN_product(shape.nDimension, shape.size);
  if (elements < 0)
    THNN_rejectShape(function, shape, "sizes whose product fits into memory");
  return elements;
}
