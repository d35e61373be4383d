/* What products from panels fetch ahead: the operands of the next block. */
#ifndef THNN_PANELS_AHEAD_H
#define THNN_PANELS_AHEAD_H

#include "generic/shared/panelPacking.h"

/* A part of the result: rows [firstRow, endRow) and columns [first, end). */
typedef struct Part {
  int64_t firstRow, endRow, first, end;
} Part;

/* A block of a that is packed later, or multiplied later if it is packed already, as lines of adjacent
 * elements. */
typedef struct LaterBlock {
  const real *data;
  int64_t lines, length, stride; /* from one line to the next */
} LaterBlock;

/* The block of panels that are packed already, which follow each other. Multiplying by a weight of
 * 4096x1024 that stays in no near cache takes 0.95 of the time with that (AVX2). */
static inline LaterBlock laterPanels(const Product *p, const OperandBlock *next)
{
  const int64_t line = THNN_LINE_BYTES / (int64_t)sizeof(real);
  const int64_t elements = roundUp(next->height, THNN_(simd).panels.columns) * next->terms;
  return (LaterBlock){.data = p->panels + panelsBefore(p, next),
                      .lines = elements / line,
                      .length = line,
                      .stride = line};
}

/* The block of a that comes next after a block of product number `index`: that of the next terms;
 * after the last terms that of the next product; after the last product that of the next rows; and
 * after the last rows that of `after`. It has no data if there is none, or if a stays in a near
 * cache. */
static inline LaterBlock laterBlock(const Product *p, const OperandBlock *most, const Part *part,
                                    const OperandBlock *block, int64_t index)
{
  const LaterBlock none = {.data = NULL};
  OperandBlock next = {.row = block->row, .term = block->term + most->terms};
  Matrix a = p->a;
  if (!p->fetches)
    return none;
  if (next.term < p->k) {
    a.data += index * p->aNext;
  } else {
    next.term = 0;
    if (index + 1 < p->count) {
      a.data += (index + 1) * p->aNext;
    } else if (next.row + most->height < part->endRow) {
      next.row += most->height;
    } else {
      a.data = p->after;
      next.row = part->firstRow;
    }
  }
  if (!a.data)
    return none;
  next.height = minimum(most->height, part->endRow - next.row);
  next.terms = minimum(most->terms, p->k - next.term);
  if (p->panels)
    return laterPanels(p, &next);
  return (LaterBlock){.data = matrixAt(a, next.row, next.term),
                      .lines = a.transposed ? next.height : next.terms,
                      .length = a.transposed ? next.terms : next.height,
                      .stride = a.leading};
}

/* Makes the tiles of a block, a step of `width` columns, fetch their share of a later block. Where
 * panels are packed, the first step does that, and fetches nothing. */
static inline void fetchLater(const Product *p, const LaterBlock *later, const Part *part,
                              const OperandBlock *block, int64_t width, Panels *panels)
{
  const int64_t packing = readsInPlace(p) || p->panels ? 0 : width;
  const int64_t before = block->column - part->first - packing;
  const int64_t all = part->end - part->first - packing;
  if (!later->data || before < 0)
    return;
  const int64_t first = later->lines * before / all;
  const int64_t count = later->lines * (before + block->width) / all - first;
  const bool adjacent = later->stride == later->length;
  panels->ahead =
      (THNNRanges){.first = later->data + first * later->stride,
                   .bytes = (adjacent ? count : 1) * later->length * (int64_t)sizeof(real),
                   .count = adjacent && count > 0 ? 1 : count,
                   .stride = later->stride * (int64_t)sizeof(real)};
}

/* The block of scalars that follows another one in columns [first, end); it has no terms if there is
 * none. */
static inline OperandBlock laterColumns(const Product *p, const OperandBlock *most,
                                        const OperandBlock *block, int64_t first, int64_t end)
{
  OperandBlock next = *block;
  next.column += most->width;
  if (next.column >= end) {
    next.column = first;
    next.term += most->terms;
  }
  next.width = minimum(most->width, end - next.column);
  next.terms = maximum(minimum(most->terms, p->k - next.term), 0);
  return next;
}

/* The part of b that is packed after a block in columns [first, end), unless b stays in a near cache.
 * Gradients of weights, whose b is packed from one page for each term, take 0.97 to 0.98 of the time
 * with that, other products 0.99. */
static inline THNNRanges laterPart(const Product *p, const OperandBlock *most,
                                   const OperandBlock *block, int64_t first, int64_t end)
{
  const OperandBlock next = laterColumns(p, most, block, first, end);
  if (next.terms == 0 || p->n * p->k <= panelElements())
    return (THNNRanges){.count = 0};
  const int64_t length = p->b.transposed ? next.width : next.terms;
  const real *from = matrixAt(p->b, next.term, next.column);
  const int64_t past = THNN_elementsPastCacheLine(from, sizeof(real));
  return (THNNRanges){.first = THNN_ahead(from, -past * (int64_t)sizeof(real)),
                      .bytes = (past + length) * (int64_t)sizeof(real),
                      .count = p->b.transposed ? next.terms : next.width,
                      .stride = p->b.leading * (int64_t)sizeof(real)};
}

/* The packed scalars of the block that follows another one in columns [first, end). */
static inline THNNRanges laterScalars(const Product *p, const OperandBlock *most,
                                      const OperandBlock *block, int64_t first, int64_t end)
{
  const OperandBlock next = laterColumns(p, most, block, first, end);
  if (next.terms == 0)
    return (THNNRanges){.count = 0};
  const int64_t step = THNN_(simd).panels.step;
  return (THNNRanges){.first = p->scalars + scalarsBefore(p, &next),
                      .bytes = next.terms * step * (int64_t)sizeof(real),
                      .count = divideUp(next.width, step),
                      .stride = p->k * step * (int64_t)sizeof(real)};
}

#endif
