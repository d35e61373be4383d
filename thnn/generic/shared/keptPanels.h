/* Products with a weight whose packed panels a state keeps for later calls (THNN_State). */
#ifndef THNN_KEPT_PANELS_H
#define THNN_KEPT_PANELS_H

#include "generic/template.h"
#include "call/state.h"
#include "generic/shared/matrix.h"
#include "work/scratch.h"

/* What a state keeps of a weight that stays as it is. The panels follow this struct. */
typedef struct KeptPanels {
  THNNKept head;
  int64_t m, k;
  const real *weight; /* its address stands for its contents */
} KeptPanels;

/* Larger weights are not kept, to bound the memory of a second copy: it holds the largest layer of
 * AlexNet, and not that of VGG. */
static const int64_t MOST_KEPT_ELEMENTS = ((int64_t)256 << 20) / sizeof(real);

/* A product c[m x n] = a[m x k] * b[k x n] whose a is the weight or its transpose. */
typedef struct PanelKeeping {
  const THNNState *state;
  THNNKeptKind kind;
  int64_t m, n, k;
  THNNBuffer *left;    /* the block that this call leaves in the state, or NULL */
  const real *panels;  /* NULL: the product does without */
  THNNBuffer *scalars; /* for b */
} PanelKeeping;

static inline real *layOutPanels(const PanelKeeping *of, KeptPanels **kept, Scratch *scratch)
{
  *kept = THNN_take(scratch, 1, sizeof(KeptPanels));
  return THNN_take(scratch, THNN_(panelProducts_panelElements)(of->state, of->m, of->k),
                   sizeof(real));
}

static inline real *panelsIn(const PanelKeeping *of, const void *block)
{
  KeptPanels *kept;
  Scratch whole = {.base = (void *)block};
  return layOutPanels(of, &kept, &whole);
}

/* Looks for the panels in the state, and declares what the product needs. */
static inline PanelKeeping panelKeeping(THNNPlan *plan, const THNNState *state, THNNKeptKind kind,
                                        int64_t m, int64_t n, int64_t k, THTensor *weight)
{
  PanelKeeping of = {.state = state, .kind = kind, .m = m, .n = n, .k = k};
  if (!state->kept || !THTensor_(isContiguous)(weight) || m * k > MOST_KEPT_ELEMENTS ||
      !THNN_(panelProducts_prefersPanels)(state, m, n, k))
    return of;
  const KeptPanels *kept = (const KeptPanels *)THNN_keptBy(state, kind, sizeof(real));
  if (kept && kept->weight == THTensor_(data)(weight) && kept->m == m && kept->k == k) {
    of.panels = panelsIn(&of, kept);
  } else if (!TH_ATOMIC_LOAD(state->kept)) {
    KeptPanels *block;
    Scratch needed = {0};
    layOutPanels(&of, &block, &needed);
    of.left = THNN_planKept(plan, needed.used);
  }
  if (of.panels || of.left)
    of.scalars =
        THNN_planScratch(plan, (size_t)THNN_(panelProducts_keptElements)(n, k) * sizeof(real));
  return of;
}

/* Whether the product is computed by multiplyKeptPanels. */
static inline bool usesPanels(const PanelKeeping *of)
{
  return of->scalars;
}

/* Packs the weight if this call is to leave it, once the plan has memory. */
static inline void packKeptPanels(PanelKeeping *of, Matrix a, const real *weight)
{
  if (!of->left)
    return;
  real *panels = panelsIn(of, of->left->data);
  *(KeptPanels *)of->left->data = (KeptPanels){{of->kind, sizeof(real)}, of->m, of->k, weight};
  THNN_(panelProducts_keepPanels)(of->state, of->m, of->k, a, panels);
  of->panels = panels;
}

static inline void multiplyKeptPanels(const PanelKeeping *of, Matrix b, bool adds, real *c)
{
  THNN_(panelProducts_multiplyPanels)
  (of->state, of->m, of->n, of->k, of->panels, of->scalars->data, b, adds, c);
}

/* Gives the block to the state, after the plan's release. */
static inline void leaveKeptPanels(const PanelKeeping *of)
{
  if (of->left)
    THNN_leaveKept(of->state, of->left->data);
}

#endif
