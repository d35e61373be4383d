/* Panels: the planes that a direct kernel computes at once, a vector lane for each. */
#ifndef THNN_CONVOLUTION_PANELS_H
#define THNN_CONVOLUTION_PANELS_H

#include "generic/template.h"

#include "generic/shared/finish.h"
#include "geometry/convolution.h"
#include "simd/tuning.h"
#include "work/sizes.h"

/* The loops for a layer of `planes` planes. Planes that fit into half a vector get short vectors;
 * where the processor splits long vectors, full-length ones would take twice as long. */
static inline const SimdProducts *productsFor(int64_t planes)
{
  const SimdProducts *narrow = &THNN_(simd).narrowProducts;
  return planes <= narrow->lanes ? narrow : &THNN_(simd).products;
}

/* Whether vectors for so many planes take half the time of long ones. Costs are those of processors
 * where short ones take as long; where long ones are split, only algorithms with short ones gain. */
static inline bool gainsFromShortVectors(int64_t planes)
{
  enum { LONG_VECTOR = 64 };
  return THNN_tuning.splitsVectors && vectorLanes() * (int64_t)sizeof(real) == LONG_VECTOR &&
         productsFor(planes)->lanes < vectorLanes();
}

/* Planes that a direct kernel computes at once: one vector lane each. */
typedef struct Panel {
  const SimdProducts *loops;
  int64_t first, planes; /* the last panel can have fewer planes than lanes */
  int64_t lanes;
  int vectors;
} Panel;

/* The number of panels that `planes` planes are cut into for `loops`, and the lanes of the
 * widest. */
static inline int64_t panelCountOf(const SimdProducts *loops, int64_t planes)
{
  return divideUp(divideUp(planes, loops->lanes), loops->mostVectors);
}

static inline int64_t mostPanelLanesOf(const SimdProducts *loops, int64_t planes)
{
  const int64_t vectors = divideUp(planes, loops->lanes);
  return divideUp(vectors, panelCountOf(loops, planes)) * loops->lanes;
}

/* Panel number `index`; panels differ by one vector at most. */
static inline Panel panelOf(const SimdProducts *loops, int64_t planes, int64_t index)
{
  const int64_t lanes = loops->lanes, panels = panelCountOf(loops, planes);
  const int64_t vectors = divideUp(planes, lanes);
  const int64_t begin = vectors * index / panels, end = vectors * (index + 1) / panels;
  const Panel panel = {.loops = loops,
                       .first = begin * lanes,
                       .planes = minimum(planes, end * lanes) - begin * lanes,
                       .lanes = (end - begin) * lanes,
                       .vectors = (int)(end - begin)};
  return panel;
}

/* The same three functions, with the loops that productsFor chooses. */
static inline int64_t panelCount(int64_t planes)
{
  return panelCountOf(productsFor(planes), planes);
}

static inline int64_t mostPanelLanes(int64_t planes)
{
  return mostPanelLanesOf(productsFor(planes), planes);
}

static inline Panel panelAt(int64_t planes, int64_t index)
{
  return panelOf(productsFor(planes), planes, index);
}

/* Panel number `index` of those of `lanes` lanes, whole vectors; the last one can have fewer. */
static inline Panel panelOfLanes(int64_t planes, int64_t lanes, int64_t index)
{
  const int64_t first = index * lanes, count = minimum(lanes, planes - first);
  const int64_t vectors = divideUp(count, vectorLanes());
  return (Panel){.loops = &THNN_(simd).products,
                 .first = first,
                 .planes = count,
                 .lanes = vectors * vectorLanes(),
                 .vectors = (int)vectors};
}

/* result += the sums of `count` positions, transposed in pieces that stay in a near cache. */
static inline void addTransposed(const Panel *panel, int64_t count, const real *sums, real *result,
                                 int64_t positions)
{
  enum { PIECE = 8192 / sizeof(real) };
  real piece[PIECE];
  const int64_t lanes = panel->loops->lanes, most = PIECE / lanes;
  for (int64_t first = 0; first < count; first += most)
    for (int64_t plane = 0; plane < panel->planes; plane += lanes) {
      const int64_t n = minimum(most, count - first);
      const int64_t planes = minimum(lanes, panel->planes - plane);
      panel->loops->transpose(n, planes, sums + first * panel->lanes + plane, panel->lanes, piece,
                              n);
      for (int64_t i = 0; i < planes; i++)
        THNN_(simd).pointwise.axpy(n, 1, piece + i * n, result + (plane + i) * positions + first);
    }
}

/* Transposes the sums of a box, [position][lane], into the panel's planes of the result, one
 * contiguous stretch at a time, and finishes that. The result has planes of `positions` positions,
 * and its samples are `sampleStep` elements apart. The sums are no longer needed then. */
static inline void storeBox(const THNNConvolutionBoxes *boxes, const THNNConvolutionBox *box,
                            const Panel *panel, real *sums, Finish finish, real *result,
                            int64_t sampleStep, int64_t positions)
{
  /* All planes at once, before they are transposed; activations that take long only where each lane
   * has a plane. */
  if (finishes(finish) && !finish.addend && (!finish.map || panel->planes == panel->lanes)) {
    finishResults(finish, 0, box->positions * panel->lanes, sums);
    finish.rectifies = false;
    finish.map = NULL;
  }
  for (int64_t sample = box->first[THNN_SAMPLE]; sample < box->end[THNN_SAMPLE]; sample++)
    for (int64_t stretch = 0; stretch < box->stretches; stretch++) {
      const int64_t place = sample * sampleStep + panel->first * positions +
                            THNN_convolutionStretch(boxes, box, stretch);
      if (finish.adds)
        addTransposed(panel, box->stretch, sums, result + place, positions);
      else
        panel->loops->transpose(box->stretch, panel->planes, sums, panel->lanes, result + place,
                                positions);
      for (int64_t plane = 0; plane < panel->planes && finishes(finish); plane++)
        finishResults(finish, place + plane * positions, box->stretch,
                      result + place + plane * positions);
      sums += box->stretch * panel->lanes;
    }
}

/* Does the same for a result whose planes, `planes` of them, are its last dimension. */
static inline void placeBox(const THNNConvolutionBoxes *boxes, const THNNConvolutionBox *box,
                            const Panel *panel, int64_t planes, const real *sums, Finish finish,
                            real *result, int64_t sampleStep)
{
  const bool whole = panel->planes == planes && panel->lanes == planes;
  for (int64_t sample = box->first[THNN_SAMPLE]; sample < box->end[THNN_SAMPLE]; sample++)
    for (int64_t stretch = 0; stretch < box->stretches; stretch++) {
      int64_t place = sample * sampleStep + THNN_convolutionStretch(boxes, box, stretch) * planes +
                      panel->first;
      const int64_t pieces = whole ? 1 : box->stretch;
      const int64_t length = whole ? box->stretch * planes : panel->planes;
      for (int64_t i = 0; i < pieces; i++, place += planes, sums += panel->lanes) {
        THNN_(simd).pointwise.copy(length, sums, result + place);
        finishResults(finish, place, length, result + place);
      }
      sums += whole ? (box->stretch - 1) * panel->lanes : 0;
    }
}

#endif
