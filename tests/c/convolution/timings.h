#include <stdbool.h>

/* What benchmarks/fit.py fits the engine's costs to. */

/* Draws random layers of `least` to `most` operations for about `seconds` seconds and prints a line
 * of CSV for every part of each and every algorithm that applies and whose name begins with `rows`:
 * what the algorithm counts and the cycles that it took. With `keeps`, of the parts that have weights
 * as an operand, with weights that are kept and come from memory. The layers are the same each time.
 * Returns 0. */
int printTimings(double seconds, double least, double most, const char *rows, bool keeps);
