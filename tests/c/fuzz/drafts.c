/* What to call: recorded calls with other sizes, and with something wrong about them. */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static Random *drawing; /* of the call that is made up */

static int64_t draw(int64_t least, int64_t most)
{
  return between(drawing, least, most);
}

static bool percent(int n)
{
  return chance(drawing, n);
}

#define ONE_OF(LIST) ((LIST)[draw(0, (int64_t)(sizeof(LIST) / sizeof *(LIST)) - 1)])

/* ---- Recorded calls, with other sizes ----------------------------------------------------------- */

enum {
  MOST_MULTIPLE = 5,    /* LSTM and GRU have tensors of 3 to 5 times as many columns as units */
  MOST_ELEMENTS = 1000, /* of a call, mostly: it is to take microseconds */
  MOST_FOLLOWING = 4 * MOST_ELEMENTS
};

static int64_t newSize(int64_t size, const Changes *changes)
{
  for (int i = 0; i < changes->count; i++) {
    const Replaced *replaced = &changes->replaced[i];
    if (size == replaced->from)
      return replaced->to;
    if (replaced->isOfMultiples && size % replaced->from == 0 &&
        size / replaced->from <= MOST_MULTIPLE)
      return size / replaced->from * replaced->to;
  }
  return size;
}

static int64_t newInteger(int64_t integer, const Changes *changes)
{
  for (int i = 0; i < changes->count; i++)
    if (changes->replaced[i].isOfIntegers && integer == changes->replaced[i].from)
      return changes->replaced[i].to;
  return integer;
}

static Value recordedValue(const Recorded *from, const Changes *changes)
{
  Value value = {.number = from->number,
                 .integer =
                     fabs(from->number) < 0x1p62 ? newInteger((int64_t)from->number, changes) : 0,
                 .isNull = from->isNull,
                 .dimensions = from->dimensions,
                 .least = from->least,
                 .most = from->most,
                 .isWhole = from->isWhole,
                 .elements = from->elements < 0 ? NULL : &recordedElements[from->elements],
                 .same = -1,
                 .shares = -1};
  for (int d = 0; d < from->dimensions; d++) {
    value.size[d] = newSize(from->size[d], changes);
    if (value.size[d] != from->size[d])
      value.elements = NULL;
  }
  /* Whole numbers up to a size may be indices: they are to stay within it. */
  for (int i = 0; i < changes->count; i++) {
    const Replaced *replaced = &changes->replaced[i];
    if (value.isWhole && value.most <= (double)replaced->from &&
        value.most > (double)replaced->to) {
      value.most = (double)replaced->to;
      value.least = fmin(value.least, value.most);
      value.elements = NULL;
    }
  }
  return value;
}

static const Recorded *recordedCall(const Function *function, int64_t number)
{
  return &recorded[function->recorded + number * function->parameterCount];
}

static const Recorded *someRecorded(const Function *function)
{
  return recordedCall(function, draw(0, function->recordedCalls - 1));
}

void draftExactly(Call *call, const Function *function, int number, bool isDouble)
{
  const Recorded *values = recordedCall(function, number);
  *call = (Call){.function = function, .isDouble = isDouble, .isRecorded = true};
  for (int i = 0; i < function->parameterCount; i++)
    call->values[i] = recordedValue(&values[i], &(Changes){0});
}

/* Some sizes of the call's tensors are to be others. */
static Changes someChanges(const Function *function, const Recorded *values)
{
  Changes changes = {0};
  const int wanted = percent(30) ? 0 : (int)draw(1, MOST_REPLACED);
  for (int tries = 0; changes.count < wanted && tries < 8; tries++) {
    const Recorded *value = &values[draw(0, function->parameterCount - 1)];
    if (value->dimensions == 0)
      continue;
    changes.replaced[changes.count++] =
        (Replaced){value->size[draw(0, value->dimensions - 1)],
                   percent(80) ? draw(1, 6) : draw(7, 20), percent(50), percent(50)};
  }
  return changes;
}

static int64_t elementsOf(const Call *call)
{
  int64_t count = 0;
  for (int i = 0; i < call->function->parameterCount; i++)
    count += elementCount(&call->values[i]);
  return count;
}

void draftRecorded(Call *call, const Function *function, Random *random, Changes *changes)
{
  drawing = random;
  *call = (Call){.function = function, .isDouble = percent(50)};
  do {
    const Recorded *values = someRecorded(function);
    *changes = someChanges(function, values);
    for (int i = 0; i < function->parameterCount; i++)
      call->values[i] = recordedValue(&values[i], changes);
  } while (elementsOf(call) > MOST_ELEMENTS && (changes->count > 0 || !percent(2)));
}

/* ---- Backward calls ----------------------------------------------------------------------------- */

/* The argument of this name and kind; -1 if there is none. */
static int named(const Function *function, const char *name, Kind kind)
{
  for (int i = 0; i < function->parameterCount; i++)
    if (strcmp(function->parameters[i].name, name) == 0 && function->parameters[i].kind == kind)
      return i;
  return -1;
}

/* What a gradient is of: "gradOutput" is "output"'s. */
static int ofGradient(const Function *function, const Parameter *parameter)
{
  char name[64];
  if (strncmp(parameter->name, "grad", 4) != 0 || !parameter->name[4])
    return -1;
  snprintf(name, sizeof name, "%c%s", parameter->name[4] - 'A' + 'a', parameter->name + 5);
  return named(function, name, parameter->kind);
}

bool draftFollowing(Call *call, const Function *function, const Call *before,
                    const Changes *changes, Random *random)
{
  drawing = random;
  const Recorded *values = someRecorded(function);
  *call = (Call){.function = function, .isDouble = before->isDouble};
  for (int i = 0; i < function->parameterCount; i++) {
    const Parameter *parameter = &function->parameters[i];
    const int same = named(before->function, parameter->name, parameter->kind);
    const int of = ofGradient(before->function, parameter);
    Value *value = &call->values[i];
    *value = recordedValue(&values[i], changes);
    if (same >= 0)
      *value = before->values[same];
    else if (of >= 0)
      *value = (Value){.dimensions = before->values[of].dimensions,
                       .isNull = before->values[of].isNull,
                       .least = -1,
                       .most = 1};
    value->same = value->shares = -1; /* arguments of another function have other numbers */
    if (same < 0 && of >= 0)
      memcpy(value->size, before->values[of].size, sizeof value->size);
    if (parameter->role == ROLE_OUT && !value->isNull && percent(50))
      value->dimensions = 0;
  }
  return elementsOf(call) <= MOST_FOLLOWING;
}

/* ---- What leaves a call valid ------------------------------------------------------------------- */

static void varySettings(Settings *settings)
{
  static const double someWork[] = {1, 1, 1000, 32768};
  static const size_t someLimits[] = {64 << 10, 256 << 10, 8 << 20};
  *settings = (Settings){.isGiven = percent(60),
                         .threads = percent(80) ? 1 : (int)draw(2, 4),
                         .minimumWork = ONE_OF(someWork),
                         .workspaceLimit = ONE_OF(someLimits),
                         .algorithm = percent(50) ? 0 : (int)draw(0, 4),
                         .accuracy = percent(80) ? 0 : 1,
                         .isReproducible = percent(20)};
}

void varyCall(Call *call, Random *random)
{
  drawing = random;
  call->seed = next(random);
  varySettings(&call->settings);
  call->comparesThreads = call->settings.isGiven && call->settings.threads > 1;
  for (int i = 0; i < call->function->parameterCount; i++) {
    const Parameter *parameter = &call->function->parameters[i];
    Value *value = &call->values[i];
    if (parameter->kind == KIND_BOOL && percent(20))
      value->integer = !value->integer;
    if (!isTensor(parameter))
      continue;
    if (percent(30))
      value->layout = (Layout)draw(LAYOUT_DENSE, LAYOUT_SPREAD);
    if (percent(10) && (parameter->isOptional || parameter->role == ROLE_SCRATCH))
      value->isNull = true;
  }
}

/* ---- What makes it invalid ---------------------------------------------------------------------- */

static int64_t someInteger(Kind kind)
{
  static const int64_t some[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1,     2,   46341, 1 << 30,
                                 INT32_MAX, INT32_MAX - 1, -2, 3, 65536, 1000};
  static const int64_t more[] = {INT64_MIN, INT64_MAX, 1LL << 32, 3037000500, 1LL << 62, -1, 0};
  return kind == KIND_INT64 && percent(50) ? ONE_OF(more) : ONE_OF(some);
}

static double someReal(void)
{
  static const double some[] = {NAN, INFINITY, -INFINITY, 0,      -0.0, 1,
                                -1,  1e300,    -1e300,    1e-300, 0.5};
  return ONE_OF(some);
}

/* Of indices and other elements. */
static double someElement(const Parameter *parameter, const Value *value)
{
  if (parameter->kind == KIND_REAL && percent(60))
    return someReal();
  if (percent(50))
    return value->most + (double)draw(-1, 2);
  return (double)someInteger(KIND_INT64);
}

static void setSizes(Value *value, int dimensions, const int64_t *size)
{
  value->dimensions = dimensions;
  memmove(value->size, size, (size_t)dimensions * sizeof *size);
  value->elements = NULL;
}

static void insertDimension(Value *value, int at, int64_t size)
{
  int64_t sizes[MOST_DIMENSIONS];
  memcpy(sizes, value->size, (size_t)at * sizeof *sizes);
  sizes[at] = size;
  memcpy(sizes + at + 1, value->size + at, (size_t)(value->dimensions - at) * sizeof *sizes);
  setSizes(value, value->dimensions + 1, sizes);
}

static void removeDimension(Value *value, int at)
{
  int64_t sizes[MOST_DIMENSIONS];
  memcpy(sizes, value->size, (size_t)at * sizeof *sizes);
  memcpy(sizes + at, value->size + at + 1, (size_t)(value->dimensions - at - 1) * sizeof *sizes);
  setSizes(value, value->dimensions - 1, sizes);
}

static void damageShape(Value *value)
{
  const int n = value->dimensions, at = n > 0 ? (int)draw(0, n - 1) : 0;
  switch (draw(0, 5)) {
  case 0:
    if (n > 1)
      removeDimension(value, at);
    break;
  case 1:
    if (n > 0 && n < MOST_DIMENSIONS)
      insertDimension(value, at, draw(1, 2));
    break;
  case 2:
    value->dimensions = 0;
    break;
  case 3:
    if (n > 0)
      setSizes(value, n,
               (int64_t[MOST_DIMENSIONS]){draw(1, 4), draw(1, 4), draw(1, 4), draw(1, 4),
                                          draw(1, 4), 1, 1, 1});
    break;
  default:
    if (n > 0) {
      const int64_t changed = value->size[at] + (percent(50) ? 1 : -1);
      value->size[at] = changed < 1 ? draw(1, 9) : changed;
      value->elements = NULL;
    }
  }
}

static void damageTensor(Call *call, int i)
{
  const Parameter *parameter = &call->function->parameters[i];
  Value *value = &call->values[i];
  const int other = (int)draw(0, call->function->parameterCount - 1);
  switch (draw(0, 7)) {
  case 0:
  case 1:
  case 2:
    damageShape(value);
    break;
  case 3:
    value->isNull = true;
    break;
  case 4:
    if (other < i && call->function->parameters[other].kind == parameter->kind)
      *(percent(50) ? &value->same : &value->shares) = other;
    break;
  case 5:
    if (parameter->role == ROLE_IN)
      value->layout = LAYOUT_EXPANDED;
    break;
  default:
    if (value->hitCount < MOST_HITS)
      value->hits[value->hitCount++] = (Hit){next(drawing), someElement(parameter, value)};
  }
}

void damageCall(Call *call, Random *random)
{
  drawing = random;
  if (percent(10)) {
    call->failing = draw(1, 6);
    return;
  }
  for (int64_t n = percent(70) ? 1 : draw(2, 3); n > 0; n--) {
    const int i = (int)draw(0, call->function->parameterCount - 1);
    const Parameter *parameter = &call->function->parameters[i];
    Value *value = &call->values[i];
    if (isTensor(parameter))
      damageTensor(call, i);
    else if (parameter->kind == KIND_DOUBLE)
      value->number = someReal();
    else if (parameter->kind == KIND_GENERATOR)
      value->isNull = true;
    else if (parameter->kind == KIND_INT || parameter->kind == KIND_INT64)
      value->integer = percent(50) && value->integer != INT64_MIN && value->integer != INT64_MAX
                           ? value->integer + draw(-1, 1)
                           : someInteger(parameter->kind);
  }
}
