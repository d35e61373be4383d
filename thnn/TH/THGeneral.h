/* Names, errors, memory and threads, which every part of TH uses. */

#ifndef TH_GENERAL_H
#define TH_GENERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "THPortability.h"

#define TH_API TH_EXTERN_C TH_EXPORT

/* The lowest class target, lookup index and pooling index. */
#define TH_INDEX_BASE 1

#define TH_CONCAT_2_EXPAND(a, b) a##b
#define TH_CONCAT_3_EXPAND(a, b, c) a##b##c
#define TH_CONCAT_4_EXPAND(a, b, c, d) a##b##c##d
#define TH_CONCAT_2(a, b) TH_CONCAT_2_EXPAND(a, b)
#define TH_CONCAT_3(a, b, c) TH_CONCAT_3_EXPAND(a, b, c)
#define TH_CONCAT_4(a, b, c, d) TH_CONCAT_4_EXPAND(a, b, c, d)

/* ---- Errors ----------------------------------------------------------------------------------
 *
 * An error ends in a handler, which must not return: it leaves by longjmp, by an exception, or
 * ends the process. A handler set for the calling thread wins over the default one, which holds
 * for the whole process; without either the message goes to standard error and the process exits
 * with status -1. If a handler does return, the process aborts.
 *
 * Messages are at most TH_MESSAGE_LENGTH bytes with the terminating zero, and end in
 * " at <file>:<line>". Out-of-memory messages begin with "not enough memory". */

#define TH_MESSAGE_LENGTH 2048

typedef void (*THErrorHandlerFunction)(const char *message, void *data);
typedef void (*THArgErrorHandlerFunction)(int argNumber, const char *message, void *data);

/* Sets the calling thread's handler; NULL restores the default one. */
TH_API void THSetErrorHandler(THErrorHandlerFunction handler, void *data);
TH_API void THSetArgErrorHandler(THArgErrorHandlerFunction handler, void *data);

/* Sets the handler of all threads that have not set their own; NULL restores the built-in one. */
TH_API void THSetDefaultErrorHandler(THErrorHandlerFunction handler, void *data);
TH_API void THSetDefaultArgErrorHandler(THArgErrorHandlerFunction handler, void *data);

/* Raises an error. */
TH_API TH_NORETURN TH_COLD TH_PRINTF(3, 4) void _THError(const char *file, const int line,
                                                         const char *format, ...);

/* Raises an error about argument argNumber (counted from 1) unless the condition holds. */
TH_API TH_PRINTF(5, 6) void _THArgCheck(const char *file, int line, int condition, int argNumber,
                                        const char *format, ...);

/* Raises an error about an assertion that failed. */
TH_API TH_NORETURN TH_COLD TH_PRINTF(4, 5) void _THAssertionFailed(const char *file, const int line,
                                                                   const char *expression,
                                                                   const char *format, ...);

/* THError(format, ...) */
#define THError(...) _THError(__FILE__, __LINE__, __VA_ARGS__)

/* THArgCheck(condition, argNumber, format, ...): the message is only built on failure. */
#define THArgCheck(condition, argNumber, ...)                                                      \
  ((condition) ? (void)0 : _THArgCheck(__FILE__, __LINE__, 0, argNumber, __VA_ARGS__))

/* THAssert(condition), THAssertMsg(condition, format, ...) */
#define THAssert(condition) THAssertMsg(condition, "%s", "")
#define THAssertMsg(condition, ...)                                                                \
  ((condition) ? (void)0 : _THAssertionFailed(__FILE__, __LINE__, #condition, __VA_ARGS__))

/* A list of sizes as text, "[2 x 3]"; long lists end in "...". */
#define TH_DESC_BUFF_LEN 64
typedef struct THDescBuff {
  char str[TH_DESC_BUFF_LEN];
} THDescBuff;
TH_API THDescBuff _THSizeDesc(const int64_t *size, const int64_t nDimension);

/* ---- Memory ----------------------------------------------------------------------------------
 *
 * malloc, realloc and free (or the hooks of THMemory.h) that raise an error instead of returning
 * NULL. Zero bytes give NULL; THRealloc to zero bytes frees. */

TH_API void *THAlloc(ptrdiff_t bytes);
TH_API void *THRealloc(void *block, ptrdiff_t bytes);
TH_API void THFree(void *block);

/* ---- Threads ---------------------------------------------------------------------------------
 *
 * The number of threads that one call of a kernel may use. It is a setting of this library,
 * independent of what the host program tells OpenMP. Initially it is OMP_NUM_THREADS, or without
 * that variable the number of cores that the process may run on. */

TH_API void THSetNumThreads(int threads);
TH_API int THGetNumThreads(void);

/* The number of cores that the process may run on. */
TH_API int THGetNumCores(void);

/* Restores the initial number of threads. */
TH_API void THInferNumThreads(void);

#endif
