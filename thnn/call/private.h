/* What libTHCUNN takes from inside libTHNN. */
#ifndef THNN_PRIVATE_H
#define THNN_PRIVATE_H

#include <THNNState.h>

/* Exports a function with the version THNN_PRIVATE, which ../private.map gives to the names in it. Both
 * libraries have to be of one build, and nothing else may use it. */
#define THNN_PRIVATE THNN_API

#endif
