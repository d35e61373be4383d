#include "generic/pooling/indices.h"

#include "geometry/indexCheck.h"
#include "work/scratch.h"
#include "work/sizes.h"

void THNN_(indices_describeTaps)(THNNPooledIndices *pooled, const THNNConvolution *g)
{
  pooled->element = THNN_elementOfTaps;
  pooled->window = THNN_tapWindow;
  pooled->decode = THNN_(simd).indices.decodeTaps;
  pooled->near = !pooled->optional && THNN_tapsAreNear(g);
  int64_t step = 1;
  for (int d = 2; d >= 0; d--) {
    pooled->step[d] = step * g->dilation[d];
    step *= g->input[d];
  }
  pooled->context = g;
}

/* Below, `small` has the shape of the indices, and `large` is the planes whose elements the indices
 * name. */

/* How values are moved. `far` moves n values of each of `planes` adjacent planes, which have `size`
 * elements that are numbered from `base`. `near` moves n values for indices that are near (see
 * THNNPooledIndices): elements have 32-bit numbers from 0. `kept` does for numbers that a check has
 * kept. */
typedef struct Move {
  void (*far)(int64_t planes, int64_t n, int64_t size, const int64_t *element, int64_t base,
              real *small, real *large);
  void (*near)(int64_t n, const uint32_t *element, real *small, real *large);
  void (*kept)(int64_t n, const uint16_t *element, real *small, real *large);
} Move;

static void addToSome(int64_t planes, int64_t n, int64_t size, const int64_t *element, int64_t base,
                      real *small, real *large)
{
  for (int64_t plane = 0; plane < planes; plane++, large += size)
    for (int64_t i = 0; i < n; i++, element++, small++)
      if (*element >= base)
        large[*element - base] += *small;
}

static void addToAll(int64_t planes, int64_t n, int64_t size, const int64_t *element, int64_t base,
                     real *small, real *large)
{
  THNN_(simd).indices.addToElements(planes, n, size, element, base, small, large);
}

static void addToNear(int64_t n, const uint32_t *element, real *small, real *large)
{
  THNN_(simd).indices.addToNearElements(n, element, small, large);
}

static void addSomeKept(int64_t n, const uint16_t *element, real *small, real *large)
{
  for (int64_t i = 0; i < n; i++)
    if (element[i] != THNN_NO_NUMBER)
      large[element[i]] += small[i];
}

static void addAllKept(int64_t n, const uint16_t *element, real *small, real *large)
{
  THNN_(simd).indices.addToNarrowElements(n, element, small, large);
}

static void setAll(int64_t planes, int64_t n, int64_t size, const int64_t *element, int64_t base,
                   real *small, real *large)
{
  for (int64_t plane = 0; plane < planes; plane++, large += size)
    for (int64_t i = 0; i < n; i++)
      large[*element++ - base] = *small++;
}

static void setNear(int64_t n, const uint32_t *element, real *small, real *large)
{
  for (int64_t i = 0; i < n; i++)
    large[element[i]] = small[i];
}

static void setKept(int64_t n, const uint16_t *element, real *small, real *large)
{
#pragma GCC unroll 8
  for (int64_t i = 0; i < n; i++)
    large[element[i]] = small[i];
}

static void getAll(int64_t planes, int64_t n, int64_t size, const int64_t *element, int64_t base,
                   real *small, real *large)
{
  for (int64_t plane = 0; plane < planes; plane++)
    THNN_(simd).indices.getElements(n, element + plane * n, base, large + plane * size,
                                    small + plane * n);
}

static void getNear(int64_t n, const uint32_t *element, real *small, real *large)
{
  THNN_(simd).indices.getNearElements(n, element, large, small);
}

static void getKept(int64_t n, const uint16_t *element, real *small, real *large)
{
  THNN_(simd).indices.getNarrowElements(n, element, large, small);
}

static const Move addSome = {addToSome, addToNear, addSomeKept},
                  addAll = {addToAll, addToNear, addAllKept}, set = {setAll, setNear, setKept},
                  get = {getAll, getNear, getKept};

/* A thread's walk over indices. These mostly name elements in about their own order, so the thread
 * prefetches and streams a plane in step with its indices, `step` elements (rounded up) per
 * index. */
typedef struct Walk {
  const THNNPooledIndices *pooled;
  Move move;
  const int64_t *indices;
  real *small;
  int64_t step;
  bool fetched;       /* the plane is prefetched */
  real *waiting, *to; /* the rest of a plane in a tile, and where it is to be streamed */
  int64_t left;
  THNNIndexRoom *room;
} Walk;

static Walk startWalk(const THNNPooledIndices *pooled, Move move, const int64_t *indices,
                      real *small, THNNIndexRoom *room)
{
  const int64_t count = THNN_planeIndices(pooled) ? THNN_planeIndices(pooled) : 1;
  Walk walk = {.pooled = pooled, .move = move, .indices = indices, .small = small, .room = room};
  walk.step = divideUp(pooled->elements, count);
  if (room)
    THNN_clearRoom(room);
  return walk;
}

/* Streams about `n` of the waiting elements, up to a cache-line boundary. */
static void streamSome(Walk *walk, int64_t n)
{
  n = n < walk->left ? n - THNN_elementsPastCacheLine(walk->to + n, sizeof(real)) : walk->left;
  if (n < 1)
    return;
  THNN_(simd).pointwise.stream(n, walk->waiting, walk->to);
  walk->waiting += n;
  walk->to += n;
  walk->left -= n;
}

/* The elements of a run: kept or near ones, or others, which are numbered from `base`. */
typedef struct Elements {
  const uint16_t *kept;
  const uint32_t *near;
  const int64_t *far;
  int64_t base;
} Elements;

/* Moves n values, beginning with number `at`, and between them prefetches and streams the elements
 * that belong to them, so that processor and memory work at the same time. */
static void moveRun(Walk *walk, int64_t at, int64_t n, Elements elements, real *large)
{
  const int64_t piece = walk->fetched || walk->left ? 64 : n;
  const int64_t inPlane = walk->fetched ? at % THNN_planeIndices(walk->pooled) : 0;
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t count = n - i < piece ? n - i : piece;
    if (walk->fetched)
      THNN_fetchNextPage(large + (inPlane + i) * walk->step,
                         count * walk->step * (int64_t)sizeof(real));
    if (elements.kept)
      walk->move.kept(count, elements.kept + i, walk->small + at + i, large);
    else if (elements.near)
      walk->move.near(count, elements.near + i, walk->small + at + i, large);
    else
      walk->move.far(1, count, 0, elements.far + i, elements.base, walk->small + at + i, large);
    if (walk->left)
      streamSome(walk, count * walk->step + 64 / (int64_t)sizeof(real));
  }
}

/* Moves the values of planes [first, first + planes), which are adjacent in `large`. Plain indices
 * are used as they are; others are decoded run by run. */
static void movePart(Walk *walk, int64_t first, int64_t planes, real *large)
{
  const THNNPooledIndices *pooled = walk->pooled;
  if (!pooled->element) {
    const int64_t count = THNN_planeIndices(pooled);
    if (!walk->fetched && !walk->left) {
      walk->move.far(planes, count, pooled->elements, walk->indices + first * count, TH_INDEX_BASE,
                     walk->small + first * count, large);
      return;
    }
    for (int64_t plane = first; plane < first + planes; plane++)
      moveRun(walk, plane * count, count,
              (Elements){.far = walk->indices + plane * count, .base = TH_INDEX_BASE},
              large + (plane - first) * pooled->elements);
    return;
  }
  const int64_t *second = pooled->halves ? walk->indices + THNN_pooledElements(pooled) : NULL;
  const THNNIndexRoom *room = walk->room; /* not NULL where indices are decoded */
  const Elements decoded =
      pooled->near ? (Elements){.near = room->nearElement} : (Elements){.far = room->element};
  for (THNNIndexRun run =
           THNN_firstIndexRun(pooled, first * pooled->slices, planes * pooled->slices);
       run.at < run.end; THNN_nextIndexRun(pooled, &run)) {
    run.index[0] = walk->indices + run.at;
    run.index[1] = second ? second + run.at : NULL;
    THNN_decodeIndices(pooled, &run, walk->room);
    moveRun(walk, run.at, run.count, decoded, large + (run.plane - first) * pooled->elements);
  }
}

/* Tiles for planes that are written. Where the result leaves the caches anyway, a plane that fits
 * the second-level cache is assembled in a tile, and streamed while the next one is assembled. */
enum { MOST_TILE_BYTES = 256 << 10, TILES = 2 };

static size_t tileBytes(const THNNPooledIndices *pooled)
{
  const size_t bytes = (size_t)pooled->elements * sizeof(real);
  const int64_t written = (int64_t)sizeof(real) * pooled->planes * pooled->elements;
  const int64_t read = (int64_t)(sizeof(real) + sizeof(int64_t)) * THNN_pooledElements(pooled);
  /* What is read passes through the caches, too. */
  const bool pays = THNN_leavesCaches(written, 1) && THNN_leavesLargeCaches(written + read / 8, 1);
  return pays && bytes <= MOST_TILE_BYTES ? (bytes + 63) / 64 * 64 : 0;
}

/* Moving a value takes about three operations, or six where its index is decoded; filling an
 * element takes a quarter of one. */
static int threadsFor(const THNNPooledIndices *pooled)
{
  const double indices = (double)THNN_pooledElements(pooled) * (pooled->element ? 6 : 3);
  const double elements = (double)pooled->planes * (double)pooled->elements;
  return THNN_threads(pooled->state, pooled->planes, indices + elements / 4);
}

/* How the threads of a call share its planes, in groups, and its scratch. Each has room for
 * decoding, if indices are decoded, and tiles, if planes are assembled in them. */
typedef struct Sharing {
  int threads;
  int64_t together; /* planes of a group, of which the last can have fewer */
  bool decodes;
  size_t tileBytes, threadBytes;
  THNNBuffer *buffer;
} Sharing;

typedef struct Areas {
  THNNIndexRoom *room;
  char *tiles;
} Areas;

static Areas layOut(const Sharing *sharing, Scratch *scratch)
{
  Areas areas = {.room = NULL};
  if (sharing->decodes)
    areas.room = THNN_take(scratch, 1, sizeof(THNNIndexRoom));
  areas.tiles = THNN_take(scratch, TILES, sharing->tileBytes);
  return areas;
}

static Areas areasOf(const Sharing *sharing, int thread)
{
  Scratch scratch = THNN_scratchOf(sharing->buffer->data, sharing->threadBytes, thread);
  return layOut(sharing, &scratch);
}

/* Planes of a group, which fits the second-level cache. Those of few indices to decode are larger,
 * since a check begins anew in each group; 16 bits must hold the numbers of their elements. */
static int64_t planesTogether(const THNNPooledIndices *pooled)
{
  const int64_t most = THNN_rowBlocks(pooled->planes, pooled->elements).length;
  const int64_t count = THNN_planeIndices(pooled);
  if (!pooled->element || count == 0 || pooled->elements == 0)
    return most;
  const int64_t numbered = (THNN_NO_NUMBER - 1) / pooled->elements;
  return maximum(most, minimum(divideUp(THNN_DECODED, count), numbered));
}

static Sharing planSharing(THNNPlan *plan, const THNNPooledIndices *pooled, bool tiles)
{
  Sharing sharing = {.threads = threadsFor(pooled),
                     .decodes = pooled->element != NULL,
                     .tileBytes = tiles ? tileBytes(pooled) : 0};
  const int64_t inShare = maximum(divideUp(pooled->planes, sharing.threads), 1);
  const int64_t most = sharing.tileBytes ? 1 : planesTogether(pooled);
  sharing.together = divideUp(inShare, divideUp(inShare, most)); /* equal work for all threads */
  Scratch needed = {0};
  layOut(&sharing, &needed);
  sharing.threadBytes = needed.used;
  sharing.buffer = THNN_planScratch(plan, (size_t)sharing.threads * needed.used);
  return sharing;
}

/* Values to move: `small` to, or from, elements of `large`, which is 0 at first if it is `cleared`. */
typedef struct Moved {
  Move move;
  bool cleared;
  real *small, *large;
} Moved;

static void moveGroup(Walk *walk, const THNNIndexCheck *check, int64_t group, int64_t planes,
                      real *large)
{
  const int64_t first = group * check->planes, count = THNN_planeIndices(walk->pooled);
  const uint16_t *kept = THNN_keptElements(check, group);
  if (kept)
    moveRun(walk, first * count, planes * count, (Elements){.kept = kept}, large);
  else
    movePart(walk, first, planes, large);
}

static void moveGroups(const THNNIndexCheck *check, THNNRange groups, const Moved *moved,
                       Walk *walk, size_t tileBytes, char *tiles)
{
  const THNNPooledIndices *pooled = check->pooled;
  for (int64_t group = groups.begin; group < groups.end; group++) {
    const int64_t first = group * check->planes;
    const int64_t planes = minimum(check->planes, pooled->planes - first);
    real *result = moved->large + first * pooled->elements;
    real *to = tileBytes ? (real *)(tiles + (size_t)(group % TILES) * tileBytes) : result;
    if (moved->cleared)
      THNN_(simd).pointwise.fill(planes * pooled->elements, 0, to);
    moveGroup(walk, check, group, planes, to);
    if (tileBytes) {
      streamSome(walk, walk->left);
      walk->waiting = to;
      walk->to = result;
      walk->left = pooled->elements;
    }
  }
}

/* Moves values group by group, in order. If nothing is cleared, the elements are prefetched where
 * these and the indices do not fit the caches. */
static void movePlanes(const THNNIndexCheck *check, const int64_t *indices, const Moved *moved,
                       const Sharing *sharing)
{
  const THNNPooledIndices *pooled = check->pooled;
  const int64_t bytesRead = (int64_t)sizeof(real) * pooled->planes * pooled->elements +
                            (int64_t)sizeof(int64_t) * THNN_pooledElements(pooled);
  const int threads = sharing->threads;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int share = 0; share < threads; share++) {
    const Areas mine = areasOf(sharing, share);
    Walk walk = startWalk(pooled, moved->move, indices, moved->small, mine.room);
    walk.fetched = !moved->cleared && THNN_leavesCaches(bytesRead, 1);
    moveGroups(check, THNN_shareOf(check->groups, share, threads), moved, &walk, sharing->tileBytes,
               mine.tiles);
    if (sharing->tileBytes) {
      streamSome(&walk, walk.left);
      THNN_(simd).pointwise.streamEnd();
    }
  }
}

static THNNIndexCheck planCheck(THNNPlan *plan, const THNNPooledIndices *pooled,
                                THIndexTensor *indices, int position, const Sharing *sharing,
                                bool adds, bool keep)
{
  const THNNPlaneGroups groups = {sharing->together, sharing->threads, sharing->threadBytes, adds};
  return THNN_planIndexCheck(plan, pooled, indices, position, &groups, keep);
}

/* Moves values to the elements that indices name: by `all` if each names one, else by `some`. The
 * plan has these values and the result. */
static void moveToElements(const THNNPooledIndices *pooled, THNNPlan *plan, Move all, Move some,
                           THIndexTensor *indices, int position, const THNNBuffer *from,
                           const THNNBuffer *to)
{
  const Sharing sharing = planSharing(plan, pooled, true);
  THNNIndexCheck check = planCheck(plan, pooled, indices, position, &sharing, all.far == addToAll,
                                   THNN_hasWantedSize(to));
  const THNNBuffer *index = THNN_planIn(plan, indices, position);
  THNN_acquireChecked(plan, &check);
  const Moved moved = {check.mayMiss ? some : all, true, from->data, to->data};
  movePlanes(&check, index->data, &moved, &sharing);
  THNN_planRelease(plan);
}

void THNN_(indices_updateGradInput)(const THNNPooledIndices *pooled, THTensor *input,
                                    THTensor *gradOutput, THTensor *gradInput,
                                    THIndexTensor *indices, int indicesPosition)
{
  THNNPlan plan;
  THNN_planStart(&plan, pooled->function, pooled->state);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  moveToElements(pooled, &plan, addAll, addSome, indices, indicesPosition, from, to);
}

void THNN_(indices_unpoolOutput)(const THNNPooledIndices *pooled, THTensor *input, THTensor *output,
                                 int nDimension, const int64_t *size, THIndexTensor *indices)
{
  THNNPlan plan;
  THNN_planStart(&plan, pooled->function, pooled->state);
  const THNNBuffer *from = THNN_planIn(&plan, input, 2);
  const THNNBuffer *to = THNN_planOut(&plan, output, 3, nDimension, size);
  moveToElements(pooled, &plan, set, set, indices, 4, from, to);
}

void THNN_(indices_unpoolGradInput)(const THNNPooledIndices *pooled, THTensor *input,
                                    THTensor *gradOutput, THTensor *gradInput,
                                    THIndexTensor *indices)
{
  THNNPlan plan;
  THNN_planStart(&plan, pooled->function, pooled->state);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  const Sharing sharing = planSharing(&plan, pooled, false);
  THNNIndexCheck check =
      planCheck(&plan, pooled, indices, 5, &sharing, false, THNN_hasWantedSize(to));
  const THNNBuffer *index = THNN_planIn(&plan, indices, 5);
  THNN_acquireChecked(&plan, &check);
  const Moved moved = {get, false, to->data, from->data};
  movePlanes(&check, index->data, &moved, &sharing);
  THNN_planRelease(&plan);
}
