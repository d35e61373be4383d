/* The points of Winograd's algorithms: their transforms along, or across, a line. `side` is the
 * number of results, 2 or 4, and a constant where these functions are called.
 *
 * Along a line, two results of three taps g over four elements d take four products instead of six
 * in F(2, 3), whose points are 0, 1, -1 and infinity:
 *
 *   p0 = (d0 - d2) g0                       y0 = p0 + p1 + p2
 *   p1 = (d1 + d2) (g0 + g1 + g2) / 2       y1 = p1 - p2 - p3
 *   p2 = (d2 - d1) (g0 - g1 + g2) / 2
 *   p3 = (d1 - d3) g2
 *
 * and doing the same across the lines makes it 16 instead of 36. The products are summed up over
 * planes before the results are formed, which makes 16 products of matrices. The factors of the
 * products are the coefficients of a tile, and of weights.
 *
 * F(3, 2) computes the gradients w of the taps, from the same elements d and two gradients g of
 * results:
 *
 *   p0 = (d0 - d2) g0                       w0 = p0 + p1 + p2
 *   p1 = (d1 + d2) (g0 + g1) / 2            w1 = p1 - p2
 *   p2 = (d2 - d1) (g0 - g1) / 2            w2 = p1 + p2 - p3
 *   p3 = (d1 - d3) g1
 *
 * where the products are summed up over tiles.
 *
 * F(4, 3) and F(3, 4) take six products for four results: 36 for 16, instead of 144. In general the
 * elements' coefficient at a point p of the points P is
 *
 *   the sum over k of m_k d_k, where the sum of m_k x^k is the product over q in P, q != p, of x - q
 *
 * the taps' is (g0 + p g1 + p^2 g2 + ...) / the product over q in P, q != p, of p - q, and result k
 * is the sum of p^k times the products; at infinity, the polynomial is the product over all of P,
 * the taps' coefficient is the last of them, and the products join the last result. The points
 * 0, 1 / a, -1 / a, a, -a with a the root of 2 have one of the smallest errors, a quarter of that of
 * 0, 1, -1, 2, -2, and most factors are exact.
 *
 * (Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, Fast Algorithms for
 * Convolutional Neural Networks, 2015; Alam, Anderson, Barabasz and Gregg, Winograd Convolution for
 * Deep Neural Networks: Efficient Point Selection, 2022.) */
#ifndef THNN_SIMD_WINOGRAD_POINTS_H
#define THNN_SIMD_WINOGRAD_POINTS_H

#include "simd/vector/vector.h"

enum {
  TAPS = 3,
  OVERLAP = TAPS - 1, /* elements that a tile shares with its neighbour */
  MOST_SIDE = 4,
  MOST_SEEN = MOST_SIDE + OVERLAP
};

/* The points of F(4, 3) beside 0 and infinity are these two and their negatives. */
#define NEAR_POINT ((real)0.70710678118654752440)
#define FAR_POINT ((real)1.41421356237309504880)

/* Transforms side + OVERLAP elements to as many coefficients. */
INLINE void spreadElements(const int side, const Vector *d, Vector *y)
{
  if (side == 2) {
    y[0] = d[0] - d[2];
    y[1] = d[1] + d[2];
    y[2] = d[2] - d[1];
    y[3] = d[1] - d[3];
    return;
  }
  const Vector nearEven = d[4] - 2 * d[2], nearOdd = d[3] - 2 * d[1];
  const Vector farEven = d[4] - (real)0.5 * d[2], farOdd = d[3] - (real)0.5 * d[1];
  y[0] = (d[0] + d[4]) - (real)2.5 * d[2];
  y[1] = nearEven + NEAR_POINT * nearOdd;
  y[2] = nearEven - NEAR_POINT * nearOdd;
  y[3] = farEven + FAR_POINT * farOdd;
  y[4] = farEven - FAR_POINT * farOdd;
  y[5] = (d[1] + d[5]) - (real)2.5 * d[3];
}

/* The coefficients at the four points of F(4, 3) that are neither 0 nor infinity, from sums of the
 * even and of the odd powers. */
INLINE void dividePoints(Vector nearEven, Vector nearOdd, Vector farEven, Vector farOdd, Vector *y)
{
  const real nearShare = (real)-1 / (real)1.5, farShare = (real)1 / 6;
  y[1] = nearShare * (nearEven + NEAR_POINT * nearOdd);
  y[2] = nearShare * (nearEven - NEAR_POINT * nearOdd);
  y[3] = farShare * (farEven + FAR_POINT * farOdd);
  y[4] = farShare * (farEven - FAR_POINT * farOdd);
}

/* Transforms three taps to coefficients. */
INLINE void spreadTaps(const int side, const Vector *g, Vector *y)
{
  if (side == 2) {
    const Vector ends = g[0] + g[2];
    y[1] = (real)0.5 * (ends + g[1]);
    y[2] = (real)0.5 * (ends - g[1]);
  } else {
    dividePoints(g[0] + (real)0.5 * g[2], g[1], g[0] + 2 * g[2], g[1], y);
  }
  y[0] = g[0];
  y[side + OVERLAP - 1] = g[2];
}

/* Transforms sums of products to results. */
INLINE void gatherResults(const int side, const Vector *p, Vector *y)
{
  if (side == 2) {
    y[0] = p[0] + p[1] + p[2];
    y[1] = p[1] - p[2] - p[3];
    return;
  }
  const Vector nearEven = p[1] + p[2], nearOdd = p[1] - p[2];
  const Vector farEven = p[3] + p[4], farOdd = p[3] - p[4];
  y[0] = p[0] + nearEven + farEven;
  y[1] = NEAR_POINT * (nearOdd + 2 * farOdd);
  y[2] = (real)0.5 * nearEven + 2 * farEven;
  y[3] = p[5] + NEAR_POINT * ((real)0.5 * nearOdd + 4 * farOdd);
}

/* Transforms the gradients of results to coefficients. */
INLINE void spreadGradients(const int side, const Vector *g, Vector *y)
{
  if (side == 2) {
    y[1] = (real)0.5 * (g[0] + g[1]);
    y[2] = (real)0.5 * (g[0] - g[1]);
  } else {
    dividePoints(g[0] + (real)0.5 * g[2], g[1] + (real)0.5 * g[3], g[0] + 2 * g[2], g[1] + 2 * g[3],
                 y);
  }
  y[0] = g[0];
  y[side + OVERLAP - 1] = g[side - 1];
}

/* Transforms sums of products to the gradients of three taps. */
INLINE void gatherTaps(const int side, const Vector *p, Vector *y)
{
  const Vector even = p[1] + p[2], odd = p[1] - p[2];
  if (side == 2) {
    y[0] = p[0] + even;
    y[1] = odd;
    y[2] = even - p[3];
    return;
  }
  const Vector farEven = p[3] + p[4], farOdd = p[3] - p[4];
  y[0] = p[0] + even + farEven;
  y[1] = NEAR_POINT * (odd + 2 * farOdd);
  y[2] = p[5] + (real)0.5 * even + 2 * farEven;
}

#endif
