#include "call/strided.h"

#include <string.h>

#include "TH/THTransposition.h"
#include "work/threads.h"

bool THNN_isDense(const THNNView *view)
{
  int64_t expected = 1;
  for (int i = view->nDimension - 1; i >= 0; i--) {
    if (view->size[i] == 1)
      continue;
    if (view->stride[i] != expected)
      return false;
    expected *= view->size[i];
  }
  return true;
}

THNNFolded THNN_fold(const THNNView *view)
{
  THNNFolded folded = {.nDimension = 0};
  for (int i = 0; i < view->nDimension; i++) {
    const int64_t size = view->size[i], stride = view->stride[i];
    const int last = folded.nDimension - 1;
    if (size == 1)
      continue;
    if (last >= 0 && folded.stride[last] == stride * size) {
      folded.size[last] *= size;
      folded.stride[last] = stride;
    } else {
      folded.size[folded.nDimension] = size;
      folded.stride[folded.nDimension++] = stride;
    }
  }
  if (folded.nDimension == 0) {
    folded.size[0] = folded.stride[0] = 1;
    folded.nDimension = 1;
  }
  return folded;
}

typedef enum Direction { GATHER, SCATTER } Direction;

/* Copies `size` elements of `width` bytes; `width` is a constant wherever this is inlined. */
static inline void copyElements(Direction direction, char *strided, int64_t stride, char *dense,
                                int64_t size, size_t width)
{
  const int64_t step = stride * (int64_t)width;
  if (direction == GATHER)
    for (int64_t i = 0; i < size; i++, strided += step, dense += width)
      memcpy(dense, strided, width);
  else
    for (int64_t i = 0; i < size; i++, strided += step, dense += width)
      memcpy(strided, dense, width);
}

static void copyRow(Direction direction, char *strided, int64_t stride, char *dense, int64_t size,
                    size_t elementSize)
{
  if (stride == 1)
    copyElements(direction, strided, 1, dense, 1, (size_t)size * elementSize);
  else if (elementSize == 4)
    copyElements(direction, strided, stride, dense, size, 4);
  else
    copyElements(direction, strided, stride, dense, size, 8);
}

int64_t THNN_rowOffset(const THNNFolded *folded, int64_t row)
{
  int64_t offset = 0;
  for (int i = folded->nDimension - 2; i >= 0; i--) {
    offset += row % folded->size[i] * folded->stride[i];
    row /= folded->size[i];
  }
  return offset;
}

bool THNN_mayShareElements(const THNNFolded *folded)
{
  int64_t reach = 1;
  for (int i = 0; i < folded->nDimension; i++) {
    int64_t least = folded->stride[i] < 0 ? -folded->stride[i] : folded->stride[i];
    if (least == 0)
      return true;
    reach += (folded->size[i] - 1) * least;
  }
  int64_t elements = 1;
  for (int i = 0; i < folded->nDimension; i++)
    elements *= folded->size[i];
  return reach < elements;
}

/* The dimension before the last one whose elements are contiguous while those of the last one are
 * apart; -1 if there is none. */
static int denseDimension(const THNNFolded *folded)
{
  const int last = folded->nDimension - 1;
  for (int i = 0; i < last && folded->stride[last] != 1; i++)
    if (folded->stride[i] == 1)
      return i;
  return -1;
}

/* Copies matrices of the last dimension and one whose elements are contiguous, which are
 * transpositions, a strip of each at a time. */
static void transposeAll(const THNNState *state, Direction direction, const THNNView *view,
                         const THNNFolded *folded, int along, size_t elementSize, char *dense)
{
  enum { STRIP = 64 };
  const int last = folded->nDimension - 1;
  const int64_t bytes = (int64_t)elementSize, strips = (folded->size[along] + STRIP - 1) / STRIP;
  const int64_t length = folded->size[last], apart = folded->stride[last] * bytes;
  int64_t denseStep = length, outer = 1;
  for (int i = along + 1; i < last; i++)
    denseStep *= folded->size[i];
  for (int i = 0; i < last; i++)
    outer *= i == along ? 1 : folded->size[i];
  const int threads =
      THNN_threads(state, outer * strips, (double)outer * folded->size[along] * length);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t task = 0; task < outer * strips; task++) {
    const int64_t first = task % strips * STRIP, left = folded->size[along] - first;
    int64_t from = first, to = first * denseStep, rest = task / strips, step = length;
    for (int i = last - 1; i >= 0; step *= folded->size[i--]) {
      if (i == along)
        continue;
      from += rest % folded->size[i] * folded->stride[i];
      to += rest % folded->size[i] * step;
      rest /= folded->size[i];
    }
    const int64_t rows = left < STRIP ? left : STRIP;
    if (direction == GATHER)
      THTranspose(bytes, rows, length, view->data + from * bytes, apart, dense + to * bytes,
                  denseStep * bytes);
    else
      THTranspose(bytes, length, rows, dense + to * bytes, denseStep * bytes,
                  view->data + from * bytes, apart);
  }
}

static void copyAll(const THNNState *state, Direction direction, const THNNView *view,
                    size_t elementSize, char *dense)
{
  const THNNFolded folded = THNN_fold(view);
  const int along = denseDimension(&folded);
  if (along >= 0 && !(direction == SCATTER && THNN_mayShareElements(&folded))) {
    transposeAll(state, direction, view, &folded, along, elementSize, dense);
    return;
  }
  const int64_t length = folded.size[folded.nDimension - 1];
  const int64_t stride = folded.stride[folded.nDimension - 1];
  int64_t rows = 1;
  for (int i = 0; i < folded.nDimension - 1; i++)
    rows *= folded.size[i];
  /* Rows can be copied in any order, since no two elements of an output should share memory. Where
   * a caller passes an output whose elements do, a single thread keeps the result defined. */
  const bool alone = direction == SCATTER && THNN_mayShareElements(&folded);
  const int threads = alone ? 1 : THNN_threads(state, rows, (double)rows * (double)length);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t row = 0; row < rows; row++)
    copyRow(direction, view->data + THNN_rowOffset(&folded, row) * (int64_t)elementSize, stride,
            dense + row * length * (int64_t)elementSize, length, elementSize);
}

void THNN_gather(const THNNState *state, const THNNView *view, size_t elementSize, void *dense)
{
  copyAll(state, GATHER, view, elementSize, dense);
}

void THNN_gatherPart(const THNNFolded *folded, const void *data, size_t elementSize, int64_t first,
                     int64_t count, void *dense)
{
  const int64_t length = folded->size[folded->nDimension - 1];
  const int64_t stride = folded->stride[folded->nDimension - 1];
  for (char *to = dense; count > 0;) {
    const int64_t column = first % length, left = length - column;
    const int64_t size = left < count ? left : count;
    const int64_t offset = THNN_rowOffset(folded, first / length) + column * stride;
    copyRow(GATHER, (char *)data + offset * (int64_t)elementSize, stride, to, size, elementSize);
    to += size * (int64_t)elementSize;
    first += size;
    count -= size;
  }
}

void THNN_scatter(const THNNState *state, const THNNView *view, size_t elementSize,
                  const void *dense)
{
  copyAll(state, SCATTER, view, elementSize, (char *)dense);
}
