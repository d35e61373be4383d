/* The one place for compiler extensions: everything else is C11.
 *
 * It includes no other header of TH, so it also works with the headers of an installed Torch7. */

#ifndef TH_PORTABILITY_H
#define TH_PORTABILITY_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)

#  define TH_EXPORT __attribute__((__visibility__("default")))
#  define TH_NORETURN __attribute__((__noreturn__))
#  define TH_PRINTF(formatPosition, firstArgument)                                                 \
    __attribute__((__format__(__printf__, formatPosition, firstArgument)))
#  define TH_COLD __attribute__((__cold__))

/* Atomic counters are plain integers, not C11's _Atomic: the layout of their structs is fixed. */
#  define TH_ATOMIC_LOAD(pointer) __atomic_load_n(pointer, __ATOMIC_ACQUIRE)
#  define TH_ATOMIC_STORE(pointer, value) __atomic_store_n(pointer, value, __ATOMIC_RELEASE)
#  define TH_ATOMIC_FETCH_ADD(pointer, value) __atomic_fetch_add(pointer, value, __ATOMIC_ACQ_REL)
/* Stores a value where *expected is found, and returns whether it was; if not, what is there is put
 * into *expected. */
#  define TH_ATOMIC_EXCHANGE_IF(pointer, expected, value)                                          \
    __atomic_compare_exchange_n(pointer, expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

/* True when the result does not fit into 64 bits; *result must not be used then. */
#  define TH_MULTIPLY_OVERFLOWS(a, b, result) __builtin_mul_overflow(a, b, result)
#  define TH_ADD_OVERFLOWS(a, b, result) __builtin_add_overflow(a, b, result)

#else
#  error "THPortability.h: add the equivalents of these GNU extensions for this compiler"
#endif

#ifdef __cplusplus
#  define TH_EXTERN_C extern "C"
#  define TH_THREAD_LOCAL thread_local
#else
#  define TH_EXTERN_C extern
#  define TH_THREAD_LOCAL _Thread_local
#endif

#endif
