/* What the rows of the engine's table are expected to cost, and which is taken. */
#ifndef CHOICES_H
#define CHOICES_H

#include <THNNState.h>

void testStridedChoice(THNNState *state);
void testStridesByTransforms(THNNState *state);
void testTilesOfFewTerms(THNNState *state);
void testFewFilters(THNNState *state);
void testRoomForSums(THNNState *state);
void testPhases(THNNState *state);
void testShortVectors(THNNState *state);
void testNarrowTiles(void);
void testFewTerms(THNNState *state);
void testWinogradPlans(THNNState *state);

#endif
