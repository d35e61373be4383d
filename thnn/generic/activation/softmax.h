/* Softmax and its logarithm, over the planes of a tensor: one implementation, with the logarithm as
 * a variant. */
#ifndef THNN_SOFTMAX_H
#define THNN_SOFTMAX_H

#include "generic/template.h"

/* output (#3) from input (#2). */
void THNN_(softmax_forward)(const char *function, THNNState *state, bool logarithm, THTensor *input,
                            THTensor *output);

/* gradInput (#4) from gradOutput (#3) and the forward call's output (#5); input (#2) may be NULL:
 * only its sizes are used. */
void THNN_(softmax_backward)(const char *function, THNNState *state, bool logarithm,
                             THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                             THTensor *output);

#endif
