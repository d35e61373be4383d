/* Errors as Python meets them. */

#ifndef PYTHNN_ERROR_H
#define PYTHNN_ERROR_H

#include <TH/TH.h>

/* What Python sees: the build reads it from these headers. */
#define PYTHNN_API __attribute__((__visibility__("default")))

/* What a guarded call returns. */
enum {
  PYTHNN_OK = 0,
  PYTHNN_ERROR = 1,          /* TH's general handler */
  PYTHNN_ARGUMENT_ERROR = 2, /* TH's argument handler */
  PYTHNN_MEMORY_ERROR = 3,
  PYTHNN_MISALIGNED = -1, /* no error: the array has to be copied */
  PYTHNN_CHANGED = -2     /* no error: a call that was recorded cannot be made again */
};

/* The last error of the calling thread. Texts are empty where nothing is known. */
typedef struct pythnn_Error {
  int code;
  int position; /* of the argument, from 1; 0 when unknown */
  char function[128];
  char argument[64];
  char location[320]; /* of the check that failed: <file>:<line> */
  char message[TH_MESSAGE_LENGTH];
} pythnn_Error;

PYTHNN_API pythnn_Error *pythnn_lastError(void);

/* Whether the last guarded call of this thread that returns a value failed; clears the answer. */
PYTHNN_API int pythnn_failed(void);

#endif
