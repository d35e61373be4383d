/* How much work is worth a thread. Includes nothing: the kernels use it beside Torch7's TH, too. */

#ifndef TH_WORK_H
#define TH_WORK_H

/* Arithmetic operations or memory accesses, about 10 microseconds of vector work; for less, waking
 * the pool takes longer than it saves. */
#define TH_MINIMUM_WORK (1 << 15)

#endif
