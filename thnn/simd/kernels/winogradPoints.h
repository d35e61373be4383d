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
 *   the sum over k of m_k d_k, where the polynomial with the coefficients m_k is the product of
 *                             x - q over q in P, q != p
 *
 * the taps' coefficient is (g0 + p g1 + p^2 g2 + ...) / the product of p - q over q in P, q != p,
 * and result k is the sum of p^k times the products. At infinity, the polynomial is the product
 * over all of P, the taps' coefficient is the last tap, and the products join the last result. So
 * there can be any number of taps and of results: with the same points and six elements, F(2, 5)
 * takes six products for two results of five taps, and F(5, 2) for the gradients of these.
 *
 * For six elements, 0, 1 / a, -1 / a, a, -a, where a is the square root of 2, are one of the sets
 * of points with the smallest errors, a quarter of those of 0, 1, -1, 2, -2, and most factors are
 * exact. For five elements, 0, 1/2, -1, 2 are such a set: with it, F(4, 2) and F(2, 4) take five
 * products for four results of two taps. With 0 and 1, F(2, 2) takes three for two:
 *
 *   p0 = (d0 - d1) g0                       y0 = p0 + p1
 *   p1 = d1 (g0 + g1)                       y1 = p1 + p2
 *   p2 = (d2 - d1) g1
 *
 * (Winograd, Arithmetic Complexity of Computations, 1980; Lavin and Gray, Fast Algorithms for
 * Convolutional Neural Networks, 2015; Alam, Anderson, Barabasz and Gregg, Winograd Convolution for
 * Deep Neural Networks: Efficient Point Selection, 2022.) */
#ifndef THNN_SIMD_WINOGRAD_POINTS_H
#define THNN_SIMD_WINOGRAD_POINTS_H

#include "simd/vector/vector.h"

enum {
  MOST_SIDE = 4, /* results */
  MOST_TAPS = 5,
  MOST_SEEN = 6 /* elements */
};

/* The points for six elements beside 0 and infinity are these two and their negatives. */
#define NEAR_POINT ((real)0.70710678118654752440)
#define FAR_POINT ((real)1.41421356237309504880)

/* Transforms elements to as many coefficients. */
INLINE void spreadElements(const int seen, const Vector *d, Vector *y)
{
  if (seen == 3) {
    y[0] = d[0] - d[1];
    y[1] = d[1];
    y[2] = d[2] - d[1];
  } else if (seen == 4) {
    y[0] = d[0] - d[2];
    y[1] = d[1] + d[2];
    y[2] = d[2] - d[1];
    y[3] = d[1] - d[3];
  } else if (seen == 5) {
    const Vector middle = d[1] + d[2];
    y[0] = (d[0] + d[3]) - (real)1.5 * middle;
    y[1] = d[3] - d[2] - 2 * d[1];
    y[2] = (d[1] + d[3]) - (real)2.5 * d[2];
    y[3] = d[3] + (real)0.5 * (d[2] - d[1]);
    y[4] = (d[1] + d[4]) - (real)1.5 * (d[2] + d[3]);
  } else {
    const Vector nearEven = d[4] - 2 * d[2], nearOdd = d[3] - 2 * d[1];
    const Vector farEven = d[4] - (real)0.5 * d[2], farOdd = d[3] - (real)0.5 * d[1];
    y[0] = (d[0] + d[4]) - (real)2.5 * d[2];
    y[1] = nearEven + NEAR_POINT * nearOdd;
    y[2] = nearEven - NEAR_POINT * nearOdd;
    y[3] = farEven + FAR_POINT * farOdd;
    y[4] = farEven - FAR_POINT * farOdd;
    y[5] = (d[1] + d[5]) - (real)2.5 * d[3];
  }
}

/* The sum of ratio^j * x[first + 2*j] over all j with first + 2*j < count. */
INLINE Vector everySecond(const int count, const int first, const real ratio, const Vector *x)
{
  Vector sum = x[first];
  real factor = ratio;
#pragma GCC unroll 2
  for (int i = first + 2; i < count; i += 2, factor *= ratio)
    sum += factor * x[i];
  return sum;
}

/* Transforms `count` taps, or gradients of results, to coefficients of `seen` elements. */
INLINE void spreadFactors(const int seen, const int count, const Vector *g, Vector *y)
{
  if (seen == 3) {
    y[1] = g[0] + g[1];
  } else if (seen == 4) {
    const Vector even = everySecond(count, 0, 1, g), odd = everySecond(count, 1, 1, g);
    y[1] = (real)0.5 * (even + odd);
    y[2] = (real)0.5 * (even - odd);
  } else if (seen == 5) {
    const Vector even = everySecond(count, 0, 1, g), odd = everySecond(count, 1, 1, g);
    const Vector nearEven = everySecond(count, 0, (real)0.25, g);
    const Vector nearOdd = everySecond(count, 1, (real)0.25, g);
    const Vector farEven = everySecond(count, 0, 4, g), farOdd = everySecond(count, 1, 4, g);
    y[1] = (real)-8 / 9 * (nearEven + (real)0.5 * nearOdd);
    y[2] = (real)-2 / 9 * (even - odd);
    y[3] = (real)1 / 9 * (farEven + 2 * farOdd);
  } else {
    const Vector nearEven = everySecond(count, 0, (real)0.5, g);
    const Vector nearOdd = everySecond(count, 1, (real)0.5, g);
    const Vector farEven = everySecond(count, 0, 2, g), farOdd = everySecond(count, 1, 2, g);
    const real nearShare = (real)-1 / (real)1.5, farShare = (real)1 / 6;
    y[1] = nearShare * (nearEven + NEAR_POINT * nearOdd);
    y[2] = nearShare * (nearEven - NEAR_POINT * nearOdd);
    y[3] = farShare * (farEven + FAR_POINT * farOdd);
    y[4] = farShare * (farEven - FAR_POINT * farOdd);
  }
  y[0] = g[0];
  y[seen - 1] = g[count - 1];
}

/* Transforms the sums of products of `seen` coefficients to `count` results, or gradients of
 * taps. */
INLINE void gatherSums(const int seen, const int count, const Vector *p, Vector *y)
{
  if (seen == 4) {
    const Vector even = p[1] + p[2], odd = p[1] - p[2];
    y[0] = p[0] + even;
#pragma GCC unroll 2
    for (int k = 1; k < count; k++)
      y[k] = k % 2 ? odd : even;
    y[count - 1] -= p[3];
    return;
  }
  if (seen == 3) {
    y[0] = y[1] = p[1];
  } else if (seen == 5) {
    real near = 1, far = 1, sign = 1;
#pragma GCC unroll 4
    for (int k = 0; k < count; k++, near /= 2, far *= 2, sign = -sign)
      y[k] = (near * p[1] + sign * p[2]) + far * p[3];
  } else {
    const Vector nearEven = p[1] + p[2], nearOdd = p[1] - p[2];
    const Vector farEven = p[3] + p[4], farOdd = p[3] - p[4];
    real near = 1, far = 1;
#pragma GCC unroll 5
    for (int k = 0; k < count; k += 2, near /= 2, far *= 2) {
      y[k] = near * nearEven + far * farEven;
      if (k + 1 < count)
        y[k + 1] = NEAR_POINT * (near * nearOdd + 2 * far * farOdd);
    }
  }
  y[0] += p[0];
  y[count - 1] += p[seen - 1];
}

#endif
