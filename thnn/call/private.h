/* What libTHCUNN takes from inside libTHNN. */
#ifndef THNN_PRIVATE_H
#define THNN_PRIVATE_H

#include <THNNState.h>

/* Exports a function with the symbol version THNN_PRIVATE, which ../private.map gives to the names
 * that it lists. Both libraries have to come from one build, and nothing else may call it. */
#define THNN_PRIVATE THNN_API

#endif
