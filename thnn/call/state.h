/* The fields of a state, for calls that plan a part of their work under other settings. */
#ifndef THNN_CALL_STATE_H
#define THNN_CALL_STATE_H

#include <stdint.h>

#include <THNNState.h>

struct THNNState {
  uint64_t live;
  int threads;
  double minimumWork;
  size_t workspaceLimit;
  THNNConvolutionAlgorithm convolutionAlgorithm;
  bool deterministic;
};

/* The settings of a state, or the defaults for NULL. */
THNNState THNN_stateCopy(const THNNState *state);

#endif
