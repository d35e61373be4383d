/* Products with a weight that a state keeps packed for later calls (THNN_State): in panels, or in
 * blocks for few columns of b. */
#ifndef THNN_KEPT_PANELS_H
#define THNN_KEPT_PANELS_H

#include "generic/template.h"
#include "call/state.h"
#include "generic/shared/matrix.h"
#include "generic/shared/weightBlocks.h"
#include "work/scratch.h"

/* What a state keeps of a weight that stays as it is. Panels or blocks follow this struct. */
typedef struct KeptPanels {
  THNNKept head;
  bool blocks;
  int64_t m, k;
} KeptPanels;

/* Larger weights are not kept, to bound the memory of a second copy: it holds the largest layer of
 * AlexNet, and not that of VGG. */
static const int64_t MOST_KEPT_ELEMENTS = ((int64_t)256 << 20) / sizeof(real);

/* A product c[m x n] = a[m x k] * b[k x n] whose a is the weight or its transpose. */
typedef struct PanelKeeping {
  const THNNState *state;
  THNNKeptKind kind;
  int64_t m, n, k;
  bool blocks;      /* whether the weight is in blocks, not in panels */
  THNNBuffer *left; /* memory that this call leaves in the state, or NULL */
  size_t leftBytes;
  const THNNKept *seen; /* the latest block of the state when the call was planned */
  const real *panels;   /* NULL: the product does without */
  THNNBuffer *scalars;  /* for b, with panels */
} PanelKeeping;

static inline real *layOutPanels(const PanelKeeping *of, KeptPanels **kept, Scratch *scratch)
{
  *kept = THNN_take(scratch, 1, sizeof(KeptPanels));
  const int64_t elements = of->blocks ? THNN_(weightBlocks_elements)(of->state, of->m, of->k)
                                      : THNN_(panelProducts_panelElements)(of->state, of->m, of->k);
  return THNN_take(scratch, elements, sizeof(real));
}

static inline real *panelsIn(const PanelKeeping *of, const void *block)
{
  KeptPanels *kept;
  Scratch whole = {.base = (void *)block};
  return layOutPanels(of, &kept, &whole);
}

/* The panels or blocks of these sizes in a block of a state or in those before it, or NULL. */
static inline const KeptPanels *panelsAmong(const PanelKeeping *of, const THNNKept *latest)
{
  for (; latest; latest = latest->next) {
    const KeptPanels *kept = (const KeptPanels *)latest;
    if (kept->m == of->m && kept->k == of->k && kept->blocks == of->blocks)
      return kept;
  }
  return NULL;
}

/* Looks for the weight in the state, and declares what the product needs. */
static inline void findKept(PanelKeeping *of, THNNPlan *plan, THTensor *weight)
{
  if (!THTensor_(isContiguous)(weight) || of->m * of->k > MOST_KEPT_ELEMENTS ||
      !THNN_mayKeep(of->state, of->kind, sizeof(real), THTensor_(data)(weight), &of->seen))
    return;
  const KeptPanels *kept = panelsAmong(of, of->seen);
  if (kept) {
    of->panels = panelsIn(of, kept);
  } else if (THNN_hasRoomForKept(of->seen)) {
    KeptPanels *block;
    Scratch needed = {0};
    layOutPanels(of, &block, &needed);
    of->leftBytes = needed.used;
    of->left = THNN_planKept(plan, needed.used);
  }
  if ((of->panels || of->left) && !of->blocks)
    of->scalars = THNN_planScratch(plan, (size_t)THNN_(panelProducts_keptElements)(of->n, of->k) *
                                             sizeof(real));
}

/* Begins a product with any weight, whose panels are used from some columns on. */
static inline PanelKeeping panelKeeping(THNNPlan *plan, const THNNState *state, THNNKeptKind kind,
                                        int64_t m, int64_t n, int64_t k, THTensor *weight)
{
  PanelKeeping of = {.state = state, .kind = kind, .m = m, .n = n, .k = k};
  if (state->kept && THNN_(panelProducts_prefersPanels)(state, m, n, k))
    findKept(&of, plan, weight);
  return of;
}

/* Begins the products of several steps with a weight that has a row for each term. */
static inline PanelKeeping stepKeeping(THNNPlan *plan, const THNNState *state, THNNKeptKind kind,
                                       int64_t m, int64_t n, int64_t k, THTensor *weight)
{
  PanelKeeping of = {.state = state, .kind = kind, .m = m, .n = n, .k = k};
  of.blocks = THNN_(weightBlocks_fit)(state, n, m, k);
  if (state->kept && (of.blocks || THNN_(panelProducts_prefersPanels)(state, m, n, k)))
    findKept(&of, plan, weight);
  return of;
}

/* Whether the product is computed by the functions below. */
static inline bool usesPanels(const PanelKeeping *of)
{
  return of->panels || of->left;
}

/* Packs the weight if this call is to leave it, once the plan has memory. */
static inline void packKeptPanels(PanelKeeping *of, Matrix a, const real *weight)
{
  if (!of->left)
    return;
  real *panels = panelsIn(of, of->left->data);
  *(KeptPanels *)of->left->data = (KeptPanels){
      {of->kind, sizeof(real), weight, of->leftBytes, of->seen}, of->blocks, of->m, of->k};
  if (of->blocks)
    THNN_(weightBlocks_pack)(of->state, of->m, of->k, weight, panels);
  else
    THNN_(panelProducts_keepPanels)(of->state, of->m, of->k, a, panels);
  of->panels = panels;
}

static inline void multiplyKeptPanels(const PanelKeeping *of, Matrix b, const real *bias, real *c)
{
  THNN_(panelProducts_multiplyPanels)
  (of->state, of->m, of->n, of->k, of->panels, of->scalars->data, b, bias, c);
}

/* The product of a step, from panels or blocks; x and y are dense. */
static inline void multiplyKeptStep(const PanelKeeping *of, int64_t step, const real *x, real *y)
{
  const Matrix b = {x, of->k, false};
  if (of->blocks)
    THNN_(weightBlocks_multiply)(of->state, of->n, of->m, of->k, x, of->panels, step % 2 == 1, y);
  else
    multiplyKeptPanels(of, b, NULL, y);
}

/* Gives the memory to the state, after the plan's release. */
static inline void leaveKeptPanels(const PanelKeeping *of)
{
  if (of->left)
    THNN_leaveKept(of->state, of->left->data);
}

#endif
