/* The vector loops: small functions on raw pointers, one thread each, compiled once per instruction
 * set and called through one table that is filled while the library loads:
 *
 *     THNN_(simd).pointwise.fill(n, 0, y);
 *
 * To add a loop, add a member to the struct in its topic's header, the function and its initializer
 * to the source beside it; to add a topic, also a member here and a row to dispatch.c. Unless a
 * comment says otherwise, two pointers of one call are equal or their ranges do not overlap,
 * nothing needs alignment beyond the real's own, and n may be 0. */
#ifndef THNN_SIMD_SIMD_H
#define THNN_SIMD_SIMD_H

#include "simd/kernels/dots.h"
#include "simd/kernels/fourier.h"
#include "simd/kernels/outerProducts.h"
#include "simd/kernels/panels.h"
#include "simd/kernels/planesInLanes.h"
#include "simd/kernels/shiftedRows.h"
#include "simd/kernels/slidingSums.h"
#include "simd/kernels/spreadSums.h"
#include "simd/kernels/winograd.h"
#include "simd/kernels/winogradPlanes.h"
#include "simd/loops/activation.h"
#include "simd/loops/channelwise.h"
#include "simd/loops/criterion.h"
#include "simd/loops/elementary.h"
#include "simd/loops/gates.h"
#include "simd/loops/indices.h"
#include "simd/loops/mixture.h"
#include "simd/loops/padding.h"
#include "simd/loops/pointwise.h"
#include "simd/loops/pooling.h"
#include "simd/loops/random.h"
#include "simd/loops/recurrent.h"
#include "simd/loops/reduce.h"
#include "simd/loops/sampling.h"
#include "simd/loops/softmax.h"

typedef struct Simd {
  SimdPointwise pointwise;
  SimdReduce reduce;
  SimdCriterion criterion;
  SimdProducts products;
  SimdProducts narrowProducts; /* for layers of few planes: at AVX-512 with half its vectors */
  SimdDots dots;
  SimdPanels panels;
  SimdWinograd winograd;
  SimdWinogradPlanes winogradPlanes;
  SimdFourier fourier;
  SimdShifts shifts;
  SimdPlanes planes;
  SimdSliding sliding;
  SimdSliding narrowSliding; /* for rows that half a vector of AVX-512 holds */
  SimdSpreading spreading;
  SimdSpreading narrowSpreading;
  SimdPadding padding;
  SimdPooling pooling;
  SimdIndices indices;
  SimdSampling sampling;
  SimdElementary elementary;
  SimdActivation activation;
  SimdGates gates;
  SimdChannels channels;
  SimdSoftmax softmax;
  SimdRecurrent recurrent;
  SimdMixture mixture;
  SimdRandom random;
} Simd;

extern Simd THNN_(simd);

#endif
