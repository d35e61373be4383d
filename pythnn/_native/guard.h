/* The guard that turns TH's errors into return codes. Each extension module has its own copy. */

#ifndef PYTHNN_GUARD_H
#define PYTHNN_GUARD_H

#include <setjmp.h>

#include <TH/TH.h>
#include <TH/THHandlers.h>

#include "error.h"

/* Every call into the libraries runs between enter and leave. TH's handlers jump back to the
 * innermost guard of the thread, so an error unwinds no Python frame and needs no GIL. */

typedef struct pythnn_Guard {
  jmp_buf target;
  struct pythnn_Guard *outer;
  THErrorHandlerFunction errorHandler; /* what was installed before */
  void *errorData;
  THArgErrorHandlerFunction argumentHandler;
  void *argumentData;
  volatile int code;
} pythnn_Guard;

void pythnn_enter(pythnn_Guard *guard);
int pythnn_leave(pythnn_Guard *guard);

/* Records that a required pointer is NULL. */
int pythnn_rejectNull(const char *function, int position, const char *name);

#define PYTHNN_PROTECT(guard) (pythnn_enter(&(guard)), setjmp((guard).target) == 0)

#endif
