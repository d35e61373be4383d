#include "guard.h"

#include <stdio.h>
#include <string.h>

static TH_THREAD_LOCAL pythnn_Guard *innermost;
static TH_THREAD_LOCAL pythnn_Error lastError;
static TH_THREAD_LOCAL int failed;

pythnn_Error *pythnn_lastError(void)
{
  return &lastError;
}

static void record(int code, int position, const char *message)
{
  /* "not enough memory", or "<function>: not enough memory" */
  if (code == PYTHNN_ERROR && strstr(message, "not enough memory"))
    code = PYTHNN_MEMORY_ERROR;
  lastError.code = code;
  lastError.position = position;
  snprintf(lastError.message, sizeof lastError.message, "%s", message);
}

static void jump(int code, int position, const char *message)
{
  record(code, position, message);
  innermost->code = lastError.code;
  longjmp(innermost->target, 1);
}

static void onError(const char *message, void *data)
{
  (void)data;
  jump(PYTHNN_ERROR, 0, message);
}

static void onArgumentError(int position, const char *message, void *data)
{
  (void)data;
  jump(PYTHNN_ARGUMENT_ERROR, position, message);
}

void pythnn_enter(pythnn_Guard *guard)
{
  guard->code = PYTHNN_OK;
  guard->outer = innermost;
  innermost = guard;
  THGetErrorHandler(&guard->errorHandler, &guard->errorData);
  THGetArgErrorHandler(&guard->argumentHandler, &guard->argumentData);
  THSetErrorHandler(onError, NULL);
  THSetArgErrorHandler(onArgumentError, NULL);
}

int pythnn_leave(pythnn_Guard *guard)
{
  THSetErrorHandler(guard->errorHandler, guard->errorData);
  THSetArgErrorHandler(guard->argumentHandler, guard->argumentData);
  innermost = guard->outer;
  failed = guard->code;
  return guard->code;
}

int pythnn_rejectNull(const char *function, int position, const char *name)
{
  char message[256];
  snprintf(message, sizeof message, "%s: argument #%d '%s': expected an object, found NULL",
           function, position, name);
  record(PYTHNN_ARGUMENT_ERROR, position, message);
  failed = PYTHNN_ARGUMENT_ERROR;
  return PYTHNN_ARGUMENT_ERROR;
}

int pythnn_failed(void)
{
  const int answer = failed;
  failed = 0;
  return answer;
}
