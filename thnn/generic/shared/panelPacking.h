/* How the operands of products from panels are cut into blocks, and packed. */
#ifndef THNN_PANEL_PACKING_H
#define THNN_PANEL_PACKING_H

#include "generic/template.h"
#include "generic/shared/panelProducts.h"
#include "work/sizes.h"

enum {
  /* Terms in one register sum: with short sums the error stays near that of a blocked product. */
  PANEL_TERMS = 256,
  /* Terms of a block whose panels are read in place: IN_PLACE_TERMS, or FEW_IN_PLACE_TERMS if b has
   * at most FEW_COLUMNS columns. */
  IN_PLACE_TERMS = 64,
  FEW_IN_PLACE_TERMS = 32,
  FEW_COLUMNS = 16,
  /* A matrix of more elements does not stay in a second-level cache. */
  FAR_ELEMENTS = (1 << 22) / sizeof(real),
  /* Terms that are packed at a time, for all panels: each is read from a page of its own, and these
   * are as many pages as are read side by side. */
  PACKED_TERMS = 16,
  /* Steps of columns of a transposed b that are packed at a time: each of the terms lies in a page of
   * its own, of which several lines are read then. Weight gradients of 512 to 2048 and of 1024 to
   * 4096 elements take 0.95 of the time that they took with single steps. */
  STEPS_ACROSS = 4,
  /* The most steps of a b that is not transposed, or packed already. */
  MOST_STEPS = 4
};

_Static_assert((int)MOST_STEPS <= (int)STEPS_ACROSS, "panelProducts_mostBytes counts the latter");

/* The elements of the panels that are packed at a time. */
static inline int64_t panelElements(void)
{
  return THNN_(simd).panels.panelBytes / (int64_t)sizeof(real);
}

/* Whether panels are read in place. For few columns, packing takes longer than it saves; with a
 * matrix of more than FAR_ELEMENTS elements that holds only for at most FEW_COLUMNS columns. */
static inline bool readsInPlace(const Product *p)
{
  const bool far = p->m * p->k > FAR_ELEMENTS;
  const int64_t most = THNN_(simd).panels.mostInPlace;
  return !p->packs && !p->a.transposed && p->n <= (far ? minimum(most, FEW_COLUMNS) : most);
}

/* A part of the operands: rows of a, terms, and columns of b. */
typedef struct OperandBlock {
  int64_t row, height, term, terms, column, width;
} OperandBlock;

/* The steps of columns of a block: several, so that its tiles of few columns do not wait for their
 * sums, but not all, since one block fetches what the next one reads. With panels that are packed
 * already, the caller has room for one step. */
static inline int64_t stepsTogether(const Product *p)
{
  enum { LEAST_BLOCKS = 4 };
  if (p->panels && !p->scalars)
    return 1;
  const bool across = p->b.transposed && !p->packs && !p->scalars;
  const int64_t steps = divideUp(p->n, THNN_(simd).panels.step);
  return across ? STEPS_ACROSS : maximum(minimum(steps / LEAST_BLOCKS, MOST_STEPS), 1);
}

/* The largest block of a product. Its terms, and with them the results, do not depend on
 * threads. */
static inline OperandBlock largestBlock(const Product *p, int64_t rows, int64_t columns)
{
  const int64_t panel = THNN_(simd).panels.columns, step = THNN_(simd).panels.step;
  if (readsInPlace(p)) {
    const int64_t most = p->n <= FEW_COLUMNS ? FEW_IN_PLACE_TERMS : IN_PLACE_TERMS;
    OperandBlock block = {.height = rows, .terms = evenBlock(p->k, most, 1), .width = columns};
    if (p->fetches) /* this block and the next stay in the second-level cache */
      block.height = evenBlock(rows, panelElements() / block.terms / panel * panel, panel);
    return block;
  }
  const int64_t terms = evenBlock(p->k, PANEL_TERMS, 1);
  const int64_t height = evenBlock(rows, panelElements() / terms / panel * panel, panel);
  return (OperandBlock){.height = height, .terms = terms, .width = stepsTogether(p) * step};
}

/* Packs the panels of a block from its row `first` on. */
static inline void packPanels(const Product *p, const OperandBlock *block, int64_t first,
                              real *packed)
{
  const SimdPanels *loops = &THNN_(simd).panels;
  const int64_t most = p->a.transposed ? block->terms : PACKED_TERMS;
  for (int64_t term = 0; term < block->terms; term += most) {
    const int64_t terms = minimum(most, block->terms - term);
    real *to = packed + term * loops->columns;
    for (int64_t i = first; i < block->height;
         i += loops->columns, to += loops->columns * block->terms) {
      const int64_t columns = minimum(loops->columns, block->height - i);
      const real *from = matrixAt(p->a, block->row + i, block->term + term);
      if (p->a.transposed)
        THNN_(simd).products.pack(columns, terms, from, p->a.leading, to, loops->columns);
      else
        loops->copy(terms, columns, from, p->a.leading, to, loops->columns);
    }
  }
}

/* The index of a block's panels in all of packed a. Blocks of terms follow each other, and in each
 * of them the panels of all rows. */
static inline int64_t panelsBefore(const Product *p, const OperandBlock *block)
{
  return block->term * roundUp(p->m, THNN_(simd).panels.columns) + block->row * block->terms;
}

/* Packs the columns of a block of b, times alpha, so that tiles of any shape only add sums of
 * products to c. If they multiplied by alpha there, tiles of some shapes would round once and
 * others twice. */
static inline void packScalars(const Product *p, const OperandBlock *block, real *packed)
{
  const SimdPanels *loops = &THNN_(simd).panels;
  const int64_t group = loops->step * block->terms, groups = divideUp(block->width, loops->step);
  const int64_t most = p->b.transposed ? PACKED_TERMS : block->terms;
  for (int64_t term = 0; term < block->terms; term += most)
    for (int64_t i = 0; i < groups; i++) {
      const int64_t terms = minimum(most, block->terms - term), j = i * loops->step;
      const int64_t columns = minimum(loops->step, block->width - j);
      const real *from = matrixAt(p->b, block->term + term, block->column + j);
      real *to = packed + i * group + term * loops->step;
      if (p->b.transposed)
        loops->copy(terms, columns, from, p->b.leading, to, loops->step);
      else
        THNN_(simd).products.pack(columns, terms, from, p->b.leading, to, loops->step);
    }
  if (p->alpha != 1)
    loops->scale(groups * group, p->alpha, packed);
}

/* Adds the packed columns of a block to their sums. */
static inline void addSums(const Product *p, const OperandBlock *block, const real *packed)
{
  const int64_t step = THNN_(simd).panels.step;
  real sums[THNN_MOST_PANEL_STEP];
  for (int64_t j = 0; j < block->width; j += step, packed += step * block->terms) {
    real *to = p->sums + block->column + j;
    THNN_(simd).pointwise.fill(step, 0, sums);
    THNN_(simd).products.total(block->terms, (int)(step / vectorLanes()), packed, sums);
    THNN_(simd).pointwise.axpy(minimum(step, block->width - j), 1, sums, to);
  }
}

/* The index of a block's scalars in all of packed b. Steps of columns follow each other, and in
 * each step its blocks of terms. */
static inline int64_t scalarsBefore(const Product *p, const OperandBlock *block)
{
  return block->column * p->k + block->term * THNN_(simd).panels.step;
}

/* Packs columns [column, column + step) of b. */
static inline void packColumns(const Product *p, int64_t column, real *packed)
{
  const int64_t terms = largestBlock(p, p->m, p->n).terms;
  OperandBlock block = {.column = column, .width = minimum(THNN_(simd).panels.step, p->n - column)};
  for (; block.term < p->k; block.term += terms) {
    block.terms = minimum(terms, p->k - block.term);
    packScalars(p, &block, packed + scalarsBefore(p, &block));
  }
}

#endif
