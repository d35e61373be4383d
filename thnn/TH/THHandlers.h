/* The current error handlers, for a caller that replaces them for a while and restores them, and
 * what handlers learn beside the message. An extension: Torch7 has nothing like it. */

#ifndef TH_HANDLERS_H
#define TH_HANDLERS_H

#include "THGeneral.h"

/* The calling thread's handlers and their data; NULL where it uses the default ones. */
TH_API void THGetErrorHandler(THErrorHandlerFunction *handler, void **data);
TH_API void THGetArgErrorHandler(THArgErrorHandlerFunction *handler, void **data);

/* The error that a handler is called for. */
typedef struct THErrorFacts {
  size_t length; /* length of the message without " at <file>:<line>" */
  bool isMemory; /* whether there was not enough memory */
} THErrorFacts;

/* What is known of the last error of the calling thread. */
TH_API THErrorFacts THGetErrorFacts(void);

/* Sets the place in a program's source that the calling thread calls from; NULL for none. Until the
 * next error or the next place, messages end in " at <file>:<line>, called at <file>:<line>". The
 * string is not copied. THNNCaller.h sets the place of each call of a kernel. */
TH_API void THSetCaller(const char *file, int line);

#endif
