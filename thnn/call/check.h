/* Argument checks, shared by both real types and by the CUDA twins: they see the sizes of tensors,
 * not their contents. A failed check raises through TH's argument handler and says
 *   <function>: argument #<position> '<name>': expected <what>, found <what>
 * where positions count the C arguments from 1. No argument has been changed by then. */
#ifndef THNN_CHECK_H
#define THNN_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call/private.h"

/* The shape of a tensor argument. */
typedef struct THNNShape {
  const char *name;
  int position;
  int nDimension; /* THNN_NULL_TENSOR when NULL was passed */
  const int64_t *size;
} THNNShape;

enum {
  THNN_NULL_TENSOR = -1, /* the caller passed NULL */
  THNN_NOT_PRESENT = -2  /* the function has no such argument */
};

/* The value of an integer argument. */
typedef struct THNNScalar {
  const char *name;
  int position;
  int64_t value;
} THNNScalar;

static inline THNNShape THNN_makeShape(const char *name, int position, int nDimension,
                                       const int64_t *size)
{
  THNNShape shape;
  shape.name = name;
  shape.position = position;
  shape.nDimension = nDimension;
  shape.size = size;
  return shape;
}

static inline THNNScalar THNN_makeScalar(const char *name, int position, int64_t value)
{
  THNNScalar scalar;
  scalar.name = name;
  scalar.position = position;
  scalar.value = value;
  return scalar;
}

/* The shape of a tensor of any type, which must be a variable named as in the prototype. */
#define THNN_SHAPE(tensor, position)                                                               \
  THNN_makeShape(#tensor, position, (tensor) ? (tensor)->nDimension : THNN_NULL_TENSOR,            \
                 (tensor) ? (tensor)->size : NULL)

/* Stands for a tensor that only another function of the module has. */
#define THNN_NO_SHAPE THNN_makeShape("", 0, THNN_NOT_PRESENT, NULL)

#define THNN_SCALAR(variable, position) THNN_makeScalar(#variable, position, (int64_t)(variable))

/* Whether a tensor was passed (neither NULL nor absent). */
static inline bool THNN_given(THNNShape shape)
{
  return shape.nDimension >= 0;
}

/* "[2 x 3 x 4]", "an empty tensor" or "NULL", for messages. */
typedef struct THNNText {
  char characters[192];
} THNNText;
THNNText THNN_shapeText(THNNShape shape);

/* The argument for which a call was refused. */
typedef struct THNNRejection {
  const char *function; /* NULL: none */
  const char *name;
  int position;
} THNNRejection;

/* What THNN_reject raised last on the calling thread, for an error handler; the next call returns
 * no function unless THNN_reject has raised again. */
THNNRejection THNN_takeRejection(void);

/* Raises "<function>: argument #… '…': expected <expected>, found <found>". */
THNN_PRIVATE void THNN_reject(const char *function, const char *name, int position,
                              const char *expected, const char *found);

/* Raises for a tensor; `expected` is a printf format. */
THNN_PRIVATE void THNN_rejectShape(const char *function, THNNShape shape, const char *expected,
                                   ...);

/* A tensor, not NULL. */
THNN_PRIVATE void THNN_checkGiven(const char *function, THNNShape shape);

/* A tensor, not NULL, with `least` to `most` dimensions, none of size 0. `layout` names the
 * dimensions in the message, as in "[batch x] nInputPlane x height x width". */
THNN_PRIVATE void THNN_checkDimensions(const char *function, THNNShape shape, int least, int most,
                                       const char *layout);

/* A tensor, not NULL, with at least one element. */
THNN_PRIVATE void THNN_checkNotEmpty(const char *function, THNNShape shape);

/* Size `wanted` in dimension `dimension` (from 0), called `meaning` in the message. */
THNN_PRIVATE void THNN_checkSize(const char *function, THNNShape shape, int dimension,
                                 int64_t wanted, const char *meaning);

/* Exactly these sizes. */
THNN_PRIVATE void THNN_checkSizes(const char *function, THNNShape shape, int nDimension,
                                  const int64_t *wanted, const char *layout);

/* These sizes, but the first one may be larger: elements beyond it are ignored. */
void THNN_checkSizesOrMore(const char *function, THNNShape shape, int nDimension,
                           const int64_t *wanted, const char *layout);

/* nDimension dimensions of which the last `trailing` have the wanted sizes; the product of the
 * others must be at least the wanted one. Planes are used in order, those beyond are ignored. */
void THNN_checkPlanes(const char *function, THNNShape shape, int nDimension, const int64_t *wanted,
                      int trailing, const char *layout);

/* At least `wanted` elements, in any shape; those beyond are ignored. A negative `wanted`, which
 * THNN_product returns on overflow, rejects every tensor. */
THNN_PRIVATE void THNN_checkElements(const char *function, THNNShape shape, int64_t wanted,
                                     const char *meaning);

/* A vector of `wanted` elements in one dimension. */
THNN_PRIVATE void THNN_checkVector(const char *function, THNNShape shape, int64_t wanted,
                                   const char *meaning);

/* The same number of elements as `like`, in any shape. */
THNN_PRIVATE void THNN_checkSameElements(const char *function, THNNShape shape, THNNShape like);

/* One dimension of one element, to which a criterion writes its loss. */
THNN_PRIVATE void THNN_checkOneElement(const char *function, THNNShape shape);

/* One dimension with at least one element, the first of which is written. */
THNN_PRIVATE void THNN_checkFirstElement(const char *function, THNNShape shape);

/* Sizes that BLAS can count. */
void THNN_checkBlasSizes(const char *function, THNNShape shape);

void THNN_checkPositive(const char *function, THNNScalar scalar);
THNN_PRIVATE void THNN_checkAtLeast(const char *function, THNNScalar scalar, int64_t least);
THNN_PRIVATE void THNN_checkAtMost(const char *function, THNNScalar scalar, int64_t most);

/* The number of elements; raises when their bytes would not fit into memory's address range. */
int64_t THNN_elements(const char *function, THNNShape shape);

/* The product of the sizes, or -1 where that many elements exceed the address range. */
THNN_PRIVATE int64_t THNN_product(int nDimension, const int64_t *size);

#endif
