/* Errors: messages, and the handlers that receive them. */

#include "THGeneral.h"
#include "THHandlers.h"
#include "THMemory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void printAndExit(const char *message, void *data)
{
  (void)data;
  fprintf(stderr, "Error: %s\n", message);
  exit(-1);
}

static void printArgumentAndExit(int argNumber, const char *message, void *data)
{
  (void)data;
  fprintf(stderr, "Error: invalid argument %d: %s\n", argNumber, message);
  exit(-1);
}

typedef struct Handler {
  THErrorHandlerFunction function;
  void *data;
} Handler;

typedef struct ArgHandler {
  THArgErrorHandlerFunction function;
  void *data;
} ArgHandler;

static Handler defaultHandler = {printAndExit, NULL};
static ArgHandler defaultArgHandler = {printArgumentAndExit, NULL};
static TH_THREAD_LOCAL Handler threadHandler;
static TH_THREAD_LOCAL ArgHandler threadArgHandler;
static TH_THREAD_LOCAL THErrorFacts lastError;

typedef struct Place {
  const char *file;
  int line;
} Place;

static TH_THREAD_LOCAL Place caller;

void THSetCaller(const char *file, int line)
{
  caller = (Place){file, line};
}

THErrorFacts THGetErrorFacts(void)
{
  return lastError;
}

void THSetErrorHandler(THErrorHandlerFunction handler, void *data)
{
  threadHandler = (Handler){handler, data};
}

void THSetArgErrorHandler(THArgErrorHandlerFunction handler, void *data)
{
  threadArgHandler = (ArgHandler){handler, data};
}

void THGetErrorHandler(THErrorHandlerFunction *handler, void **data)
{
  *handler = threadHandler.function;
  *data = threadHandler.data;
}

void THGetArgErrorHandler(THArgErrorHandlerFunction *handler, void **data)
{
  *handler = threadArgHandler.function;
  *data = threadArgHandler.data;
}

void THSetDefaultErrorHandler(THErrorHandlerFunction handler, void *data)
{
  defaultHandler = (Handler){handler ? handler : printAndExit, data};
}

void THSetDefaultArgErrorHandler(THArgErrorHandlerFunction handler, void *data)
{
  defaultArgHandler = (ArgHandler){handler ? handler : printArgumentAndExit, data};
}

/* Ends the process when an error handler has returned: the caller cannot go on. */
static TH_NORETURN void handlerReturned(const char *message)
{
  fprintf(stderr, "Error: %s\n(the error handler returned, which it must not)\n", message);
  abort();
}

static TH_NORETURN void callHandler(const char *message)
{
  Handler handler = threadHandler.function ? threadHandler : defaultHandler;
  handler.function(message, handler.data);
  handlerReturned(message);
}

static TH_NORETURN void callArgHandler(int argNumber, const char *message)
{
  ArgHandler handler = threadArgHandler.function ? threadArgHandler : defaultArgHandler;
  handler.function(argNumber, message, handler.data);
  handlerReturned(message);
}

/* Appends to a message of `length` bytes; returns the new length. */
static TH_PRINTF(4, 0) int append(char *message, int length, int limit, const char *format,
                                  va_list arguments)
{
  int added = vsnprintf(message + length, (size_t)(limit - length), format, arguments);
  if (added < 0)
    return length;
  return added < limit - length ? length + added : limit - 1;
}

static TH_PRINTF(4, 5) int appendText(char *message, int length, int limit, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  length = append(message, length, limit, format, arguments);
  va_end(arguments);
  return length;
}

/* Bytes kept for the places at the end of a message: the message may be cut, but not its places. */
#define PLACE_LENGTH 256

/* The end of a path, of which a very long one is cut at its beginning. */
static const char *endOfPath(const char *path, size_t most)
{
  const size_t length = strlen(path);
  return length > most ? path + length - most : path;
}

/* Appends " at <file>:<line>" to a message that is complete, and the place of the call. */
static void appendPlace(char *message, int length, const char *file, int line)
{
  const Place from = caller;
  caller = (Place){NULL, 0}; /* the call ends here */
  lastError = (THErrorFacts){.length = (size_t)length};
  const size_t most = (from.file ? PLACE_LENGTH / 2 : PLACE_LENGTH) - 32;
  length = appendText(message, length, TH_MESSAGE_LENGTH, " at %s:%d", endOfPath(file, most), line);
  if (from.file)
    appendText(message, length, TH_MESSAGE_LENGTH, ", called at %s:%d", endOfPath(from.file, most),
               from.line);
}

static TH_PRINTF(4, 0) void compose(char *message, const char *file, int line, const char *format,
                                    va_list arguments)
{
  const int length = append(message, 0, TH_MESSAGE_LENGTH - PLACE_LENGTH, format, arguments);
  appendPlace(message, length, file, line);
}

void _THError(const char *file, const int line, const char *format, ...)
{
  char message[TH_MESSAGE_LENGTH];
  va_list arguments;
  va_start(arguments, format);
  compose(message, file, line, format, arguments);
  va_end(arguments);
  callHandler(message);
}

void _THMemoryError(const char *file, int line, const char *format, ...)
{
  char message[TH_MESSAGE_LENGTH];
  va_list arguments;
  va_start(arguments, format);
  compose(message, file, line, format, arguments);
  va_end(arguments);
  lastError.isMemory = true;
  callHandler(message);
}

void _THArgCheck(const char *file, int line, int condition, int argNumber, const char *format, ...)
{
  if (condition)
    return;
  char message[TH_MESSAGE_LENGTH];
  va_list arguments;
  va_start(arguments, format);
  compose(message, file, line, format, arguments);
  va_end(arguments);
  callArgHandler(argNumber, message);
}

void _THAssertionFailed(const char *file, const int line, const char *expression,
                        const char *format, ...)
{
  const int limit = TH_MESSAGE_LENGTH - PLACE_LENGTH;
  char message[TH_MESSAGE_LENGTH];
  int length = appendText(message, 0, limit, "Assertion `%s' failed. ", expression);
  va_list arguments;
  va_start(arguments, format);
  length = append(message, length, limit, format, arguments);
  va_end(arguments);
  appendPlace(message, length, file, line);
  callHandler(message);
}

THDescBuff _THSizeDesc(const int64_t *size, const int64_t nDimension)
{
  THDescBuff text;
  int length = appendText(text.str, 0, TH_DESC_BUFF_LEN, "[");
  for (int64_t d = 0; d < nDimension; d++)
    length = appendText(text.str, length, TH_DESC_BUFF_LEN, d == 0 ? "%lld" : " x %lld",
                        (long long)size[d]);
  if (length + 1 < TH_DESC_BUFF_LEN)
    appendText(text.str, length, TH_DESC_BUFF_LEN, "]");
  else
    appendText(text.str, TH_DESC_BUFF_LEN - 5, TH_DESC_BUFF_LEN, "...]");
  return text;
}
