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
  void **kept; /* where a call may leave a block (THNN_planKept) for later ones; NULL: nowhere */
};

/* The beginning of every block that a state keeps. */
typedef enum THNNKeptKind {
  THNN_KEPT_CONVOLUTION,
  THNN_KEPT_LINEAR,
  THNN_KEPT_LINEAR_BACK /* of a weight with a row for each term, as gradInput's and SeqLSTM's */
} THNNKeptKind;
typedef struct THNNKept {
  THNNKeptKind kind;
  int realBytes; /* bytes of an element of the type that the block is for */
} THNNKept;

/* The block that a state keeps; NULL where there is none, or one of another kind or type. */
const THNNKept *THNN_keptBy(const THNNState *state, THNNKeptKind kind, int realBytes);

/* Gives a block (THNN_planKept) to a state; frees it if another call was first. */
void THNN_leaveKept(const THNNState *state, void *block);

/* The settings of a state, or the defaults for NULL, for a call that computes one result: the
 * convolution algorithm that the state has for this result is set for all results. */
THNNState THNN_stateFor(const THNNState *state, THNNConvolutionResult which);

#endif
