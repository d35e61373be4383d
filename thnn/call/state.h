/* The fields of a state, for calls that plan a part of their work under other settings. */
#ifndef THNN_CALL_STATE_H
#define THNN_CALL_STATE_H

#include <stdint.h>

#include <THNNState.h>

enum { THNN_LONGEST_ROW = 31 };

struct THNNState {
  uint64_t live;
  int threads;
  double minimumWork;
  size_t workspaceLimit;
  THNNConvolutionAlgorithm convolutionAlgorithm[THNN_CONVOLUTION_RESULTS];
  char convolutionRow[THNN_LONGEST_ROW + 1]; /* empty: none */
  THNNAccuracy accuracy;
  bool deterministic, reproducible;
  void **kept; /* the latest of the blocks that calls have left for later ones; NULL: none may */
};

typedef enum THNNKeptKind {
  THNN_KEPT_CONVOLUTION,
  THNN_KEPT_LINEAR,
  THNN_KEPT_LINEAR_BACK /* of a weight with a row for each term, as gradInput's and SeqLSTM's */
} THNNKeptKind;

/* The beginning of every block that a state keeps. All blocks of a state are of one kind, type and
 * weight. */
typedef struct THNNKept {
  THNNKeptKind kind;
  int realBytes;               /* bytes of an element of the type that the block is for */
  const void *weight;          /* its address stands for its contents */
  size_t bytes;                /* of the block */
  const struct THNNKept *next; /* the block that was the latest before */
} THNNKept;

/* Whether calls with this weight may use and leave blocks of a kind and a type. If so, `*latest` is
 * the latest block, or NULL. */
bool THNN_mayKeep(const THNNState *state, THNNKeptKind kind, int realBytes, const void *weight,
                  const THNNKept **latest);

/* Whether a state has room for a block more than `latest` and those before it. */
bool THNN_hasRoomForKept(const THNNKept *latest);

/* Gives a block (THNN_planKept) to a state. If its `next` is no longer the latest one, another call
 * was first, whose block may be for the same sizes: then this one is freed. */
void THNN_leaveKept(const THNNState *state, void *block);

/* The settings of a state, or the defaults for NULL, for a call that computes one result: the
 * convolution algorithm that the state has for this result is set for all results. */
THNNState THNN_stateFor(const THNNState *state, THNNConvolutionResult which);

#endif
