/* Checking the index tensors of pooling modules, before anything is changed, and keeping what their
 * indices name until it is used. */
#ifndef THNN_GEOMETRY_INDEX_CHECK_H
#define THNN_GEOMETRY_INDEX_CHECK_H

#include "call/plan.h"
#include "geometry/indices.h"

/* How a call goes through planes: in groups of this many planes, and by this many threads, each of
 * which needs so much scratch beside that of the check. With `adds`, values are added up. */
typedef struct THNNPlaneGroups {
  int64_t planes;
  int threads;
  size_t threadBytes;
  bool adds;
} THNNPlaneGroups;

/* The check of an index tensor, which has at least as many elements as the output, or, with halves,
 * twice as many; they are used in order. */
typedef struct THNNIndexCheck {
  const THNNPooledIndices *pooled;
  THLongTensor *indices;
  int position, threads;
  bool mayMiss;         /* some indices may name no element */
  THNNBuffer *elements; /* or NULL: the numbers of the elements that are named, of some groups */
  int64_t planes;       /* in a group; the last one can have fewer */
  int64_t groups, kept; /* groups in all, and those of each thread whose elements are kept */
  THNNBuffer *rooms;
} THNNIndexCheck;

/* Checks an index tensor; rejects it if it has a value that is not an index. If `keep`, and that
 * pays, only declares the check in a plan, and where it keeps the elements: no output of the plan
 * may have to be resized then. */
THNNIndexCheck THNN_planIndexCheck(THNNPlan *plan, const THNNPooledIndices *pooled,
                                   THLongTensor *indices, int position,
                                   const THNNPlaneGroups *groups, bool keep);

/* Acquires the plan, after a check that has only been declared. */
void THNN_acquireChecked(THNNPlan *plan, THNNIndexCheck *check);

/* After acquire: the numbers, from 0, of the elements that a group's indices name among those of
 * its planes, or THNN_NO_NUMBER; NULL if they are not kept. */
const uint16_t *THNN_keptElements(const THNNIndexCheck *check, int64_t group);

#endif
