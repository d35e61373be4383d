#include "geometry/indexCheck.h"

#include <stdio.h>

#include "call/check.h"
#include "call/indices.h"
#include "call/planTensor.h"
#include "call/strided.h"
#include "work/sizes.h"

#define THNN_REAL_FLOAT /* the loops over integers are the same for both real types */
#include "simd/vector/template.h"

/* The tensor that is checked. */
typedef struct Values {
  const int64_t *data;
  bool dense;
  THNNFolded folded;
} Values;

static Values valuesOf(const THLongTensor *indices)
{
  const THNNView view = THNN_LongTensorOperations.view(indices);
  return (Values){(const int64_t *)view.data, THNN_isDense(&view), THNN_fold(&view)};
}

/* `count` values in row-major order from number `first`; copied to `room` if they are not
 * contiguous. */
static const int64_t *readValues(const Values *values, int64_t first, int64_t count, int64_t *room)
{
  if (values->dense)
    return values->data + first;
  THNN_gatherPart(&values->folded, values->data, sizeof *room, first, count, room);
  return room;
}

/* What a check writes: the elements of planes from `plane` on, whose first index is number `at`; or
 * nothing, if `number` is NULL. */
typedef struct Target {
  uint16_t *number;
  int64_t plane, at;
} Target;

/* Scratch of a thread that checks. */
typedef struct CheckRoom {
  int64_t copies[2][THNN_DECODED];
  THNNIndexRoom room;
} CheckRoom;

/* The number of the first bad index of some slices, or INT64_MAX. */
static int64_t checkSlices(const THNNPooledIndices *pooled, const Values *values, THNNRange slices,
                           CheckRoom *own, Target to)
{
  int64_t (*copies)[THNN_DECODED] = own->copies;
  for (THNNIndexRun run = THNN_firstIndexRun(pooled, slices.begin, slices.end - slices.begin);
       run.at < run.end; THNN_nextIndexRun(pooled, &run)) {
    run.index[0] = readValues(values, run.at, run.count, copies[0]);
    if (pooled->halves)
      run.index[1] = readValues(values, THNN_pooledElements(pooled) + run.at, run.count, copies[1]);
    const int64_t bad = THNN_checkIndexRun(pooled, &run, &own->room, to.plane,
                                           to.number ? to.number + run.at - to.at : NULL);
    if (bad < run.count)
      return run.at + bad;
  }
  return INT64_MAX;
}

/* Planes with few indices are not divided among threads. */
static int64_t slicesTogether(const THNNPooledIndices *pooled)
{
  const int64_t plane = pooled->slices * pooled->rows * pooled->length;
  return plane <= THNN_DECODED ? pooled->slices : 1;
}

/* The number of the first bad index, or INT64_MAX. There is a room for each thread. */
static int64_t findFirstBad(const THNNIndexCheck *check, const Values *values, CheckRoom *rooms)
{
  const THNNPooledIndices *pooled = check->pooled;
  const int64_t together = slicesTogether(pooled);
  const int64_t pieces = pooled->planes * pooled->slices / together;
  int64_t first = INT64_MAX;
#pragma omp parallel for num_threads(check->threads) schedule(static) reduction(min : first)
  for (int share = 0; share < check->threads; share++) {
    THNNRange slices = THNN_shareOf(pieces, share, check->threads);
    slices.begin *= together;
    slices.end *= together;
    THNN_clearRoom(&rooms[share].room);
    first = minimum(first,
                    checkSlices(pooled, values, slices, &rooms[share], (Target){.number = NULL}));
  }
  return first;
}

static void reject(const THNNPooledIndices *pooled, const Values *values, int64_t at, int position)
{
  int64_t room;
  char found[96];
  const int64_t value = *readValues(values, at, 1, &room);
  if (pooled->halves) {
    const int64_t second = *readValues(values, THNN_pooledElements(pooled) + at, 1, &room);
    snprintf(found, sizeof found, "%lld and %lld at element %lld of each half", (long long)value,
             (long long)second, (long long)at + 1);
  } else {
    snprintf(found, sizeof found, "%lld at element %lld", (long long)value, (long long)at + 1);
  }
  THNN_reject(pooled->function, "indices", position, pooled->expected, found);
}

/* Raises if there is a bad index. */
static void rejectPlain(const THNNPooledIndices *pooled, THLongTensor *indices, int position)
{
  THNN_checkIndices(pooled->state, THNN_INDICES(pooled->function, indices, position),
                    THNN_pooledElements(pooled), pooled->optional ? 0 : 1, pooled->elements,
                    "elements of an input plane");
}

static bool checkPlain(const THNNPooledIndices *pooled, THLongTensor *indices, int position)
{
  const Values values = valuesOf(indices);
  const int64_t count = THNN_pooledElements(pooled);
  if (values.dense && THNN_areAllWithin(pooled->state, count, values.data, 1, pooled->elements))
    return false;
  rejectPlain(pooled, indices, position);
  return pooled->optional;
}

/* ---- Keeping elements ------------------------------------------------------------------------ */

/* Each thread's share of the groups begins with those whose elements are kept. */
static uint16_t *placeOfGroup(const THNNIndexCheck *check, int64_t group)
{
  int share = 0;
  while (group >= THNN_shareOf(check->groups, share, check->threads).end)
    share++;
  const int64_t inShare = group - THNN_shareOf(check->groups, share, check->threads).begin;
  if (inShare >= check->kept)
    return NULL;
  return (uint16_t *)check->elements->data +
         (share * check->kept + inShare) * check->planes * THNN_planeIndices(check->pooled);
}

const uint16_t *THNN_keptElements(const THNNIndexCheck *check, int64_t group)
{
  return check->elements ? placeOfGroup(check, group) : NULL;
}

/* As many groups of each thread as are kept. Numbers of elements have 16 bits, and are kept in what
 * the call's other scratch leaves of the workspace. */
static int64_t groupsToKeep(const THNNIndexCheck *check, const THNNPlaneGroups *groups)
{
  const THNNPooledIndices *pooled = check->pooled;
  const int64_t bytes = groups->planes * THNN_planeIndices(pooled) * (int64_t)sizeof(uint16_t);
  enum { FEWEST_IN_GROUP = 64 };
  if (groups->planes * pooled->elements >= THNN_NO_NUMBER || check->groups < groups->threads ||
      groups->planes * THNN_planeIndices(pooled) <
          minimum(FEWEST_IN_GROUP, THNN_pooledElements(pooled)))
    return 0;
  const int64_t left = (int64_t)THNN_State_workspaceLimit(pooled->state) -
                       (int64_t)(groups->threadBytes + sizeof(CheckRoom));
  return left < bytes ? 0 : minimum(divideUp(check->groups, groups->threads), left / bytes);
}

/* Plain indices are kept for sums: four narrow ones are loaded at once where one is else, and each
 * value waits for loads of its sum as well. Only to copy, reading the indices again takes as long.
 * Narrowing a plane costs a fixed time, too: 1.4 times the time was measured with 64 and 100 indices
 * of a plane, 0.8 with 196. */
static bool paysToKeep(const THNNPooledIndices *pooled, const THNNPlaneGroups *groups,
                       THLongTensor *indices)
{
  enum { FEWEST = 1 << 13, FEWEST_IN_PLANE = 192 };
  if (pooled->element)
    return pooled->near;
  return groups->adds && THNN_pooledElements(pooled) >= FEWEST &&
         THNN_planeIndices(pooled) >= FEWEST_IN_PLANE && valuesOf(indices).dense;
}

/* Checks a group of plain indices, and keeps what they name. */
static THNNIndexKind narrowGroup(const THNNPooledIndices *pooled, const int64_t *index,
                                 int64_t planes, uint16_t *number)
{
  const int64_t count = THNN_planeIndices(pooled);
  THNNIndexKind kind = THNN_ALL_NAME;
  for (int64_t plane = 0; plane < planes; plane++) {
    const THNNIndexKind found =
        THNN_(simd).indices.narrow(count, index + plane * count, pooled->elements,
                                   plane * pooled->elements, number + plane * count);
    kind = found > kind ? found : kind;
  }
  return kind;
}

static THNNIndexKind checkPlainGroup(const THNNPooledIndices *pooled, const int64_t *index,
                                     int64_t planes, uint16_t *number)
{
  if (number)
    return narrowGroup(pooled, index, planes, number);
  const int64_t count = planes * THNN_planeIndices(pooled);
  if (THNN_(simd).indices.areWithin(count, index, 1, pooled->elements))
    return THNN_ALL_NAME;
  return THNN_(simd).indices.areWithin(count, index, 0, pooled->elements) ? THNN_SOME_NAME
                                                                          : THNN_SOME_BAD;
}

/* What was found in some groups. */
typedef struct Found {
  THNNIndexKind kind;
  int64_t bad; /* the number of the first bad index, if they are not plain */
} Found;

static Found checkGroups(const THNNIndexCheck *check, const Values *values, THNNRange groups,
                         CheckRoom *own)
{
  const THNNPooledIndices *pooled = check->pooled;
  Found found = {THNN_ALL_NAME, INT64_MAX};
  THNN_clearRoom(&own->room);
  for (int64_t g = groups.begin; g < groups.end && found.kind != THNN_SOME_BAD; g++) {
    const int64_t first = g * check->planes,
                  planes = minimum(check->planes, pooled->planes - first);
    const Target to = {placeOfGroup(check, g), first, first * THNN_planeIndices(pooled)};
    THNNIndexKind kind = THNN_ALL_NAME;
    if (pooled->element) {
      const THNNRange slices = {first * pooled->slices, (first + planes) * pooled->slices};
      found.bad = checkSlices(pooled, values, slices, own, to);
      kind = found.bad < INT64_MAX ? THNN_SOME_BAD : THNN_ALL_NAME;
    } else {
      kind = checkPlainGroup(pooled, values->data + to.at, planes, to.number);
    }
    found.kind = kind > found.kind ? kind : found.kind;
  }
  return found;
}

/* ---- Planning and running checks -------------------------------------------------------------- */

/* Checks with scratch from `plan`, which is acquired, and which is given up before an error. */
static void checkIn(THNNPlan *plan, const THNNIndexCheck *check)
{
  const Values values = valuesOf(check->indices);
  const int64_t bad = findFirstBad(check, &values, check->rooms->data);
  if (bad == INT64_MAX)
    return;
  THNN_planAbandon(plan);
  reject(check->pooled, &values, bad, check->position);
}

/* The same for a plan that is reserved; elements are kept. */
static void checkAndKeep(THNNPlan *plan, THNNIndexCheck *check)
{
  const THNNPooledIndices *pooled = check->pooled;
  const Values values = valuesOf(check->indices);
  CheckRoom *rooms = check->rooms->data;
  int64_t bad = INT64_MAX;
  int kind = THNN_ALL_NAME;
#pragma omp parallel for num_threads(check->threads) schedule(static) reduction(min : bad)         \
    reduction(max : kind)
  for (int share = 0; share < check->threads; share++) {
    const Found found = checkGroups(
        check, &values, THNN_shareOf(check->groups, share, check->threads), &rooms[share]);
    bad = minimum(bad, found.bad);
    kind = (int)found.kind > kind ? (int)found.kind : kind;
  }
  if (bad < INT64_MAX) {
    THNN_planAbandon(plan);
    reject(pooled, &values, bad, check->position);
  }
  check->mayMiss = kind != THNN_ALL_NAME;
  if (kind == THNN_SOME_BAD || (kind == THNN_SOME_NAME && !pooled->optional)) {
    THNN_planAbandon(plan);
    rejectPlain(pooled, check->indices, check->position);
  }
}

THNNIndexCheck THNN_planIndexCheck(THNNPlan *plan, const THNNPooledIndices *pooled,
                                   THLongTensor *indices, int position,
                                   const THNNPlaneGroups *groups, bool keep)
{
  THNNIndexCheck check = {.pooled = pooled, .indices = indices, .position = position};
  const int64_t count = THNN_pooledElements(pooled);
  check.planes = groups->planes;
  check.groups = divideUp(pooled->planes, groups->planes);
  check.kept = keep && paysToKeep(pooled, groups, indices) ? groupsToKeep(&check, groups) : 0;
  if (check.kept > 0) {
    check.threads = groups->threads;
    check.rooms = THNN_planScratch(plan, (size_t)check.threads * sizeof(CheckRoom));
    const int64_t numbers = check.threads * check.kept * check.planes * THNN_planeIndices(pooled);
    check.elements = THNN_planScratch(plan, (size_t)numbers * sizeof(uint16_t));
    return check;
  }
  if (!pooled->element) {
    check.mayMiss = checkPlain(pooled, indices, position);
    return check;
  }
  const int64_t pieces = pooled->planes * pooled->slices / slicesTogether(pooled);
  check.mayMiss = !pooled->near;
  check.threads = THNN_threads(pooled->state, pieces, 2 * (double)count);
  THNNPlan own;
  THNN_planStart(&own, pooled->function, pooled->state);
  check.rooms = THNN_planScratch(&own, (size_t)check.threads * sizeof(CheckRoom));
  THNN_planAcquire(&own);
  checkIn(&own, &check);
  THNN_planRelease(&own);
  check.rooms = NULL;
  return check;
}

void THNN_acquireChecked(THNNPlan *plan, THNNIndexCheck *check)
{
  if (!check->elements) {
    THNN_planAcquire(plan);
    return;
  }
  THNN_planReserve(plan);
  checkAndKeep(plan, check);
  THNN_planBegin(plan);
}
