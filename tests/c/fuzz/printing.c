/* A call as one line. */
#include "fuzz.h"

#include <inttypes.h>
#include <stdio.h>

static void printTensor(const Value *value, const Function *function)
{
  static const char *const layouts[] = {"", " shifted", " reversed", " spread", " expanded"};
  if (value->isNull) {
    printf("NULL");
    return;
  }
  if (value->same >= 0) {
    printf("%s", function->parameters[value->same].name);
    return;
  }
  printf("%s", value->dimensions ? "" : "empty");
  for (int d = 0; d < value->dimensions; d++)
    printf("%s%" PRId64, d ? "x" : "", value->size[d]);
  printf("%s", layouts[value->layout]);
  if (value->shares >= 0)
    printf(" in %s", function->parameters[value->shares].name);
  for (int h = 0; h < value->hitCount; h++)
    printf(" with %g", value->hits[h].value);
}

static void printSettings(const Settings *settings)
{
  if (settings->isGiven)
    printf("{%d threads, work %g, limit %zu, algorithm %d, accuracy %d%s}", settings->threads,
           settings->minimumWork, settings->workspaceLimit, settings->algorithm, settings->accuracy,
           settings->isReproducible ? ", reproducible" : "");
  else
    printf("NULL");
}

void printCall(const Call *call)
{
  const Function *function = call->function;
  printf("THNN_%s%s(", call->isDouble ? "Double" : "Float", function->name);
  for (int i = 0; i < function->parameterCount; i++) {
    const Parameter *parameter = &function->parameters[i];
    const Value *value = &call->values[i];
    printf("%s%s=", i ? ", " : "", parameter->name);
    if (parameter->kind == KIND_STATE)
      printSettings(&call->settings);
    else if (isTensor(parameter))
      printTensor(value, function);
    else if (parameter->kind == KIND_DOUBLE)
      printf("%g", value->number);
    else if (parameter->kind == KIND_GENERATOR)
      printf("%s", value->isNull ? "NULL" : "a generator");
    else
      printf("%" PRId64, value->integer);
  }
  printf(")");
  if (call->failing)
    printf(" without the %ld. allocation", call->failing);
  putchar('\n');
}
