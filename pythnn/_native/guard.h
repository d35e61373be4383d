/* The guard that turns TH's errors into return codes. Each extension module has its own copy. */

#ifndef PYTHNN_GUARD_H
#define PYTHNN_GUARD_H

#include <setjmp.h>

#include <TH/TH.h>
#include <TH/THHandlers.h>

/* Every call into the libraries runs between enter and leave. TH's handlers jump back to the
 * innermost guard of the thread, so an error unwinds no Python frame and needs no GIL. */

enum {
  PYTHNN_OK = 0,
  PYTHNN_ERROR = 1,          /* TH's general handler */
  PYTHNN_ARGUMENT_ERROR = 2, /* TH's argument handler */
  PYTHNN_MEMORY_ERROR = 3,
  PYTHNN_MISALIGNED = -1 /* no error: the array has to be copied */
};

/* The last error of the calling thread. */
typedef struct pythnn_Error {
  int code;
  int position; /* of the argument, from 1; 0 when unknown */
  char message[TH_MESSAGE_LENGTH];
} pythnn_Error;

pythnn_Error *pythnn_lastError(void);

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

/* Whether the last guarded call of this thread that returns a value failed; clears the answer. */
int pythnn_failed(void);

#define PYTHNN_PROTECT(guard) (pythnn_enter(&(guard)), setjmp((guard).target) == 0)

#endif
