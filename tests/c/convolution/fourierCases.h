/* Special cases of the algorithms that multiply Fourier transforms. */
#ifndef FOURIER_CASES_H
#define FOURIER_CASES_H

#include <THNNState.h>

void testFourier(THNNState *state);

#endif
