/* Cutting sums into tiles. */
#ifndef THNN_SIMD_PIECES_H
#define THNN_SIMD_PIECES_H

#include "simd/range.h"

/* Pieces of nearly equal length of `all` indices, one after the other: piece number i is
 * [all * i / pieces, all * (i + 1) / pieces). Computed so, the ends of a piece would take two divisions:
 * on an AMD EPYC (Zen 2), as long as two terms of a tile's sums. */
typedef struct Pieces {
  int64_t pieces, least; /* their number, and the length of the shortest ones */
  int64_t longer;        /* how many of them are longer by one */
  int64_t rest, end; /* of the last piece's end: the remainder of the division, and the result */
} Pieces;

static inline Pieces cutPieces(int64_t all, int64_t pieces)
{
  const int64_t divisor = pieces > 0 ? pieces : 1, least = all / divisor;
  return (Pieces){.pieces = pieces, .least = least, .longer = all - least * divisor};
}

static inline THNNRange nextPiece(Pieces *cut)
{
  const int64_t begin = cut->end;
  cut->end += cut->least;
  cut->rest += cut->longer;
  if (cut->rest >= cut->pieces) {
    cut->rest -= cut->pieces;
    cut->end++;
  }
  return (THNNRange){begin, cut->end};
}

#endif
