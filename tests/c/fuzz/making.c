/* Makes a call and checks what holds for every call:
 *
 * - what is refused for its arguments leaves every tensor and every block of memory as it was, and the
 *   message names the function; what is refused for want of memory leaves the tensors' sizes and
 *   elements, while a storage may have grown;
 * - what is accepted leaves alone what it only reads, and the gaps between elements; its tensors lie
 *   in their storages; with one thread it gives the same bits. */
#include "fuzz.h"

#include <TH/TH.h>
#include <TH/THHandlers.h>
#include <THNN.h>
#include <THNNSimd.h>

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../allocations.h"

enum {
  MOST_LEFT = 1 << 18, /* elements that calls of a session leave */
  MOST_BYTES = 1 << 18 /* of a block: sizes at the ends of their range are refused at once */
};

static jmp_buf jump;
static char message[TH_MESSAGE_LENGTH];

static double left[MOST_LEFT];
static size_t leftCount;

void forgetElements(void)
{
  leftCount = 0;
}

static void caught(const char *text, void *data)
{
  (void)data;
  snprintf(message, sizeof message, "%s", text);
  longjmp(jump, 1);
}

static void caughtArgument(int argument, const char *text, void *data)
{
  (void)argument;
  caught(text, data);
}

void startMaking(void)
{
  THSetErrorHandler(caught, NULL);
  THSetArgErrorHandler(caughtArgument, NULL);
  countAllocations();
}

TH_NORETURN TH_PRINTF(1, 2) static void fail(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fputs("failed: ", stdout);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
  abort();
}

/* ---- Tensors ------------------------------------------------------------------------------------ */

static const double GAP = 1e6; /* what stands between elements */

/* Where the elements of a value lie. */
typedef struct Places {
  int64_t size[MOST_DIMENSIONS], stride[MOST_DIMENSIONS];
  ptrdiff_t offset, storageSize;
} Places;

static Places placesOf(const Value *value)
{
  Places places = {.offset = value->layout == LAYOUT_SHIFTED ? 3 : 0};
  const int n = value->dimensions;
  int64_t step = value->layout == LAYOUT_SPREAD ? 2 : 1, reach = 0;
  for (int i = 0; i < n; i++) {
    const bool isReversed = value->layout == LAYOUT_REVERSED || value->layout == LAYOUT_SPREAD;
    const int d = isReversed ? i : n - 1 - i;
    places.size[d] = value->size[d];
    places.stride[d] = value->layout == LAYOUT_EXPANDED && d == 0 ? 0 : step;
    reach += (value->size[d] - 1) * places.stride[d];
    step *= value->size[d] + (value->layout == LAYOUT_SPREAD);
  }
  places.storageSize = places.offset + reach + 1;
  return places;
}

static double elementOf(const Value *value, int64_t i, Random *random)
{
  if (value->elements)
    return value->elements[i];
  if (value->isWhole)
    return (double)between(random, (int64_t)value->least, (int64_t)value->most);
  return uniform(random, value->least, value->most);
}

/* A tensor of any element type. */
typedef struct Look {
  int dimensions;
  const int64_t *size, *stride;
  ptrdiff_t offset;
  const void *storage;
  const char *data;
  ptrdiff_t storageSize;
  size_t elementBytes;
} Look;

#define Real Float
#define real float
#define LEAST ((double)-INFINITY)
#define MOST ((double)INFINITY)
#include "tensor.h"

#define Real Double
#define real double
#define LEAST ((double)-INFINITY)
#define MOST ((double)INFINITY)
#include "tensor.h"

#define Real Long
#define real int64_t
#define LEAST ((double)INT64_MIN)
#define MOST ((double)INT64_MAX)
#include "tensor.h"

#define Real Int
#define real int32_t
#define LEAST ((double)INT32_MIN)
#define MOST ((double)INT32_MAX)
#include "tensor.h"

typedef struct Type {
  void *(*make)(const Value *, Random *);
  void *(*share)(const Value *, void *, Random *);
  void (*release)(void *);
  Look (*look)(const void *);
  double (*read)(const Look *, int64_t);
} Type;

#define TYPE(REAL) {make_##REAL, share_##REAL, release_##REAL, look_##REAL, read_##REAL}

static const Type *typeOf(const Call *call, int argument)
{
  static const Type types[] = {TYPE(Float), TYPE(Double), TYPE(Long), TYPE(Int)};
  const Kind kind = call->function->parameters[argument].kind;
  return &types[kind == KIND_INDEX ? 2 : kind == KIND_INTEGER ? 3 : call->isDouble];
}

/* ---- Digests ------------------------------------------------------------------------------------ */

static uint64_t mixed(uint64_t digest, uint64_t word)
{
  digest = (digest ^ word) * 0x9fb21c651e98df25u;
  return digest ^ (digest >> 32);
}

static uint64_t mixedBytes(uint64_t digest, const void *bytes, size_t count)
{
  const char *at = bytes;
  for (; count >= sizeof(uint64_t); count -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    digest = mixed(digest, word);
  }
  uint64_t rest = 0;
  memcpy(&rest, at, count);
  return mixed(digest, rest);
}

/* Of sizes, strides and place. */
static uint64_t shapeDigest(const Look *look)
{
  uint64_t digest = mixed((uint64_t)look->dimensions, (uint64_t)(uintptr_t)look->storage);
  digest = mixed(mixed(digest, (uint64_t)look->offset), (uint64_t)(uintptr_t)look->data);
  for (int d = 0; d < look->dimensions; d++)
    digest = mixed(mixed(digest, (uint64_t)look->size[d]), (uint64_t)look->stride[d]);
  return digest;
}

/* Of that and the whole storage. */
static uint64_t wholeDigest(const Look *look)
{
  const size_t bytes = (size_t)look->storageSize * look->elementBytes;
  return look->data ? mixedBytes(shapeDigest(look), look->data, bytes) : shapeDigest(look);
}

static int64_t elementsOf(const Look *look)
{
  int64_t count = look->dimensions > 0;
  for (int d = 0; d < look->dimensions; d++)
    count *= look->size[d];
  return count;
}

/* The place of an element in the storage, by its number in the order of rows. */
static int64_t placeOf(const Look *look, int64_t number)
{
  int64_t place = look->offset;
  for (int d = look->dimensions - 1; d >= 0; d--) {
    place += number % look->size[d] * look->stride[d];
    number /= look->size[d];
  }
  return place;
}

/* Of sizes and elements, wherever they lie. */
static uint64_t seenDigest(const Look *look)
{
  uint64_t digest = (uint64_t)look->dimensions;
  for (int d = 0; d < look->dimensions; d++)
    digest = mixed(digest, (uint64_t)look->size[d]);
  const int64_t count = elementsOf(look);
  uint64_t word = 0;
  for (int64_t i = 0; i < count; i++) {
    memcpy(&word, look->data + (size_t)placeOf(look, i) * look->elementBytes, look->elementBytes);
    digest = mixed(digest, word);
  }
  return digest;
}

/* Of what lies between the elements. */
static uint64_t gapDigest(const Look *look)
{
  static bool isElement[MOST_LEFT];
  const int64_t count = elementsOf(look);
  if (look->storageSize > MOST_LEFT)
    return 0;
  memset(isElement, 0, (size_t)look->storageSize);
  for (int64_t i = 0; i < count; i++)
    isElement[placeOf(look, i)] = true;
  uint64_t digest = 0;
  for (ptrdiff_t i = 0; i < look->storageSize; i++)
    if (!isElement[i])
      digest = mixedBytes(digest, look->data + (size_t)i * look->elementBytes, look->elementBytes);
  return digest;
}

static bool isInside(const Look *look)
{
  int64_t last = look->offset;
  for (int d = 0; d < look->dimensions; d++)
    last += (look->size[d] - 1) * look->stride[d];
  return elementsOf(look) == 0 || (look->offset >= 0 && last < look->storageSize);
}

/* ---- A call ------------------------------------------------------------------------------------- */

typedef struct Made {
  Word words[MOST_ARGUMENTS];
  uint64_t whole[MOST_ARGUMENTS], shape[MOST_ARGUMENTS], gaps[MOST_ARGUMENTS];
} Made;

static THNNState *stateOf(const Settings *settings)
{
  if (!settings->isGiven)
    return NULL;
  THNNState *state = THNN_State_new();
  THNN_State_setThreads(state, settings->threads);
  THNN_State_setMinimumWork(state, settings->minimumWork);
  THNN_State_setWorkspaceLimit(state, settings->workspaceLimit);
  THNN_State_setConvolutionAlgorithm(state, (THNNConvolutionAlgorithm)settings->algorithm);
  THNN_State_setAccuracy(state, (THNNAccuracy)settings->accuracy);
  if (THNN_simdReproduces())
    THNN_State_setReproducible(state, settings->isReproducible);
  return state;
}

static void *tensorOf(const Call *call, int i, Made *made, Random *random)
{
  const Value *value = &call->values[i];
  const Type *type = typeOf(call, i);
  void *tensor = NULL;
  if (value->isNull)
    return NULL;
  if (value->same >= 0)
    return made->words[value->same].object;
  if (value->shares >= 0 && made->words[value->shares].object)
    tensor = type->share(value, made->words[value->shares].object, random);
  return tensor ? tensor : type->make(value, random);
}

/* Whether an argument is a tensor, and the first that is this one. */
static bool isOwner(const Call *call, int i)
{
  return isTensor(&call->function->parameters[i]) && call->values[i].same < 0;
}

static void prepare(const Call *call, Made *made)
{
  Random random = {call->seed};
  for (int i = 0; i < call->function->parameterCount; i++) {
    const Parameter *parameter = &call->function->parameters[i];
    const Value *value = &call->values[i];
    Word *word = &made->words[i];
    if (parameter->kind == KIND_STATE) {
      word->object = stateOf(&call->settings);
    } else if (parameter->kind == KIND_GENERATOR) {
      word->object = value->isNull ? NULL : THGenerator_new();
      if (word->object)
        THRandom_manualSeed(word->object, call->seed);
    } else if (parameter->kind == KIND_DOUBLE) {
      word->real = value->number;
    } else if (!isTensor(parameter)) {
      word->whole = value->integer;
    } else {
      word->object = tensorOf(call, i, made, &random);
    }
  }
  for (int i = 0; i < call->function->parameterCount; i++)
    if (isOwner(call, i) && made->words[i].object) {
      const Look look = typeOf(call, i)->look(made->words[i].object);
      made->whole[i] = wholeDigest(&look);
      made->shape[i] = shapeDigest(&look);
      made->gaps[i] = call->values[i].layout == LAYOUT_DENSE ? 0 : gapDigest(&look);
    }
}

static void release(const Call *call, Made *made)
{
  for (int i = 0; i < call->function->parameterCount; i++) {
    const Kind kind = call->function->parameters[i].kind;
    if (kind == KIND_STATE)
      THNN_State_free(made->words[i].object);
    else if (kind == KIND_GENERATOR)
      THGenerator_free(made->words[i].object);
    else if (isOwner(call, i))
      typeOf(call, i)->release(made->words[i].object);
  }
}

/* Whether an argument lies in memory of another one's. */
static bool isShared(const Call *call, int i)
{
  if (call->values[i].same >= 0 || call->values[i].shares >= 0)
    return true;
  for (int j = 0; j < call->function->parameterCount; j++)
    if (call->values[j].same == i || call->values[j].shares == i)
      return true;
  return false;
}

/* Whether the call writes into the memory of what it otherwise only reads. */
static bool isInPlace(const Call *call)
{
  for (int i = 0; i < call->function->parameterCount; i++)
    if (strcmp(call->function->parameters[i].name, "inplace") == 0)
      return call->values[i].integer != 0;
  return false;
}

static void checkRefused(const Call *call, const Made *made)
{
  for (int i = 0; i < call->function->parameterCount; i++)
    if (isOwner(call, i) && made->words[i].object) {
      const Look look = typeOf(call, i)->look(made->words[i].object);
      if (wholeDigest(&look) != made->whole[i])
        fail("%s has changed, though the call was refused: %s", call->function->parameters[i].name,
             message);
    }
  if (!strstr(message, call->function->name))
    fail("a message without the function's name: %s", message);
}

/* Compares the sizes and elements of all tensors with others, but for scratch. */
static void compare(const Call *call, const Made *made, const Made *other, const char *what)
{
  for (int i = 0; i < call->function->parameterCount; i++) {
    const Parameter *parameter = &call->function->parameters[i];
    if (!isOwner(call, i) || !made->words[i].object || parameter->role == ROLE_SCRATCH)
      continue;
    const Look one = typeOf(call, i)->look(made->words[i].object);
    const Look more = typeOf(call, i)->look(other->words[i].object);
    if (seenDigest(&one) != seenDigest(&more))
      fail("%s %s", parameter->name, what);
  }
}

/* Storages may have grown in a call for which there was not enough memory. */
static void checkWithoutMemory(const Call *call, const Made *made)
{
  Made again = {0};
  prepare(call, &again);
  compare(call, made, &again, "has changed, though there was not enough memory");
  release(call, &again);
}

static void checkAccepted(const Call *call, const Made *made)
{
  for (int i = 0; i < call->function->parameterCount; i++) {
    if (!isOwner(call, i) || !made->words[i].object)
      continue;
    const Parameter *parameter = &call->function->parameters[i];
    const Look look = typeOf(call, i)->look(made->words[i].object);
    if (!isInside(&look))
      fail("%s reaches outside of its storage", parameter->name);
    if (isShared(call, i) || isInPlace(call))
      continue;
    if (parameter->role == ROLE_IN && wholeDigest(&look) != made->whole[i])
      fail("%s has changed, which is only read", parameter->name);
    if (call->values[i].layout != LAYOUT_DENSE && shapeDigest(&look) == made->shape[i] &&
        gapDigest(&look) != made->gaps[i])
      fail("what lies between the elements of %s has changed", parameter->name);
  }
}

static void keep(Call *call, const Made *made)
{
  for (int i = 0; i < call->function->parameterCount; i++) {
    if (!isTensor(&call->function->parameters[i]) || !made->words[i].object)
      continue;
    const Type *type = typeOf(call, i);
    const Look look = type->look(made->words[i].object);
    Value *value = &call->values[i];
    const int64_t count = elementsOf(&look);
    if (look.dimensions > MOST_DIMENSIONS || leftCount + (size_t)count > MOST_LEFT)
      continue;
    value->dimensions = look.dimensions;
    for (int d = 0; d < look.dimensions; d++)
      value->size[d] = look.size[d];
    value->elements = &left[leftCount];
    for (int64_t e = 0; e < count; e++)
      left[leftCount++] = type->read(&look, placeOf(&look, e));
    value->hitCount = 0;
    if (value->layout == LAYOUT_EXPANDED)
      value->layout = LAYOUT_DENSE;
  }
}

static void stopFailing(void)
{
  failAllocation(0);
  limitAllocations(SIZE_MAX);
}

static Outcome attempt(const Call *call, Made *made)
{
  limitAllocations(call->isRecorded ? SIZE_MAX : MOST_BYTES);
  failAllocation(call->failing);
  if (setjmp(jump) == 0) {
    call->function->call[call->isDouble](made->words);
    stopFailing();
    return OUTCOME_ACCEPTED;
  }
  stopFailing();
  return THGetErrorFacts().isMemory ? OUTCOME_NO_MEMORY : OUTCOME_REFUSED;
}

/* Makes an accepted call again with one thread. */
static void compareThreads(const Call *call, const Made *several)
{
  Made made = {0};
  Call alone = *call;
  alone.settings.threads = 1;
  prepare(&alone, &made);
  if (attempt(&alone, &made) == OUTCOME_ACCEPTED)
    compare(call, &made, several, "depends on the number of threads");
  release(&alone, &made);
}

Outcome makeCall(Call *call)
{
  const long before = liveAllocations;
  Made made = {0};
  prepare(call, &made);
  const long prepared = liveAllocations;
  const Outcome outcome = attempt(call, &made);
  if (outcome == OUTCOME_REFUSED) {
    checkRefused(call, &made);
    if (liveAllocations != prepared)
      fail("%ld blocks left by a call that was refused: %s", liveAllocations - prepared, message);
  } else if (outcome == OUTCOME_NO_MEMORY) {
    checkWithoutMemory(call, &made);
  } else {
    checkAccepted(call, &made);
    if (call->comparesThreads)
      compareThreads(call, &made);
    if (call->isKept)
      keep(call, &made);
  }
  release(call, &made);
  if (liveAllocations != before)
    fail("%ld blocks left", liveAllocations - before);
  return outcome;
}
