/* What the functions of LSTMs have in common. */
#ifndef THNN_LSTM_H
#define THNN_LSTM_H

#include "generic/template.h"

enum {
  LSTM_GATES = 4,
  LSTM_FORWARD_COST = 60, /* cost of a unit, in copied elements */
  LSTM_BACKWARD_COST = 24
};

/* The order i, f, c, o. */
static const LstmOrder LSTM_ORDER = {.input = 0, .forget = 1, .cell = 2, .output = 3};

#endif
