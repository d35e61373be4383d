/* Convolutions of images and maps whose planes are the last dimension. */
#ifndef PLANES_LAST_H
#define PLANES_LAST_H

#include <THNNState.h>

/* Compares such convolutions with their definition: mixed orders, too, and tiles of every kind. */
void testPlanesLast(THNNState *state);

#endif
