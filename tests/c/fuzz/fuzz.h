/* Random calls of every function: what the parts of the program share. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_DIMENSIONS = 8, MOST_ARGUMENTS = 32, MOST_REPLACED = 2, MOST_HITS = 3 };

/* ---- The table, which tables.py writes ---------------------------------------------------------- */

typedef union Word {
  void *object;
  int64_t whole;
  double real;
} Word;

typedef enum Kind {
  KIND_STATE,
  KIND_GENERATOR,
  KIND_INT,
  KIND_INT64,
  KIND_DOUBLE,
  KIND_BOOL,
  KIND_REAL, /* from here on tensors */
  KIND_INDEX,
  KIND_INTEGER
} Kind;

typedef enum Role { ROLE_NONE, ROLE_IN, ROLE_OUT, ROLE_INOUT, ROLE_ACCUMULATE, ROLE_SCRATCH } Role;

typedef struct Parameter {
  const char *name;
  Kind kind;
  Role role;
  bool isOptional;
} Parameter;

/* An argument of a call to begin with. */
typedef struct Recorded {
  bool isNull;
  int dimensions;
  int64_t size[MOST_DIMENSIONS];
  double least, most; /* of the elements */
  bool isWhole;       /* whether both are whole numbers */
  int elements;       /* where they begin in recordedElements; -1 for any between least and most */
  double number;
} Recorded;

typedef struct Function {
  const char *name;
  int parameterCount;
  const Parameter *parameters;
  void (*call[2])(const Word *); /* of float, and of double */
  int recorded;                  /* the first argument of the first call */
  int recordedCalls;
} Function;

extern const double recordedElements[];
extern const Recorded recorded[];
extern const Function functions[];
extern const int functionCount;

/* ---- Random numbers ----------------------------------------------------------------------------- */

typedef struct Random {
  uint64_t state;
} Random;

/* splitmix64 */
static inline uint64_t next(Random *random)
{
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline int64_t between(Random *random, int64_t least, int64_t most)
{
  return least + (int64_t)(next(random) % (uint64_t)(most - least + 1));
}

/* True in `percent` of all cases. */
static inline bool chance(Random *random, int percent)
{
  return between(random, 0, 99) < percent;
}

static inline double uniform(Random *random, double least, double most)
{
  return least + (most - least) * (double)(next(random) >> 11) * 0x1p-53;
}

/* ---- Calls -------------------------------------------------------------------------------------- */

typedef enum Layout {
  LAYOUT_DENSE,
  LAYOUT_SHIFTED,  /* dense, but not from the start of its storage */
  LAYOUT_REVERSED, /* dense with the dimensions in reverse order */
  LAYOUT_SPREAD,   /* gaps between elements and rows */
  LAYOUT_EXPANDED  /* the first dimension has stride 0 */
} Layout;

/* An element that is to have a value. */
typedef struct Hit {
  uint64_t place; /* modulo the number of elements */
  double value;
} Hit;

/* An argument. */
typedef struct Value {
  double number; /* of what is no tensor and no integer */
  int64_t integer;
  bool isNull;
  int dimensions;
  int64_t size[MOST_DIMENSIONS];
  double least, most;
  bool isWhole;
  const double *elements; /* NULL for any */
  Layout layout;
  int hitCount;
  Hit hits[MOST_HITS];
  int same;   /* the argument whose tensor this is, too; -1 for none */
  int shares; /* the argument in whose storage this tensor lies; -1 for none */
} Value;

typedef struct Settings {
  bool isGiven; /* whether there is a state */
  int threads;
  double minimumWork;
  size_t workspaceLimit;
  int algorithm, accuracy;
  bool isReproducible;
} Settings;

typedef struct Call {
  const Function *function;
  bool isDouble;
  Value values[MOST_ARGUMENTS];
  Settings settings;
  uint64_t seed;        /* of elements */
  long failing;         /* the allocation that fails, 0 for none */
  bool comparesThreads; /* whether it is made with one thread, too */
  bool isKept;          /* whether others may follow, which take what it leaves */
  bool isRecorded;      /* whether it is as recorded: its blocks may be of any size */
} Call;

static inline bool isTensor(const Parameter *parameter)
{
  return parameter->kind >= KIND_REAL;
}

static inline int64_t elementCount(const Value *value)
{
  int64_t count = value->dimensions > 0;
  for (int d = 0; d < value->dimensions; d++)
    count *= value->size[d];
  return count;
}

/* ---- drafts.c: what to call --------------------------------------------------------------------- */

/* Numbers that become others in all arguments of a session. */
typedef struct Replaced {
  int64_t from, to;
  bool isOfMultiples, isOfIntegers;
} Replaced;

typedef struct Changes {
  int count;
  Replaced replaced[MOST_REPLACED];
} Changes;

/* One of the recorded calls of a function, as it is. */
void draftExactly(Call *call, const Function *function, int number, bool isDouble);
/* A recorded call of a function, with sizes replaced by others wherever they stand. */
void draftRecorded(Call *call, const Function *function, Random *random, Changes *changes);
/* A call with what another one has left, by name: a backward call after its forward call. Returns false
 * if that is too much. */
bool draftFollowing(Call *call, const Function *function, const Call *before,
                    const Changes *changes, Random *random);
/* Layouts, settings, and what makes no valid call invalid. */
void varyCall(Call *call, Random *random);
/* Makes something wrong, or strange at least. */
void damageCall(Call *call, Random *random);

/* ---- making.c: a call and its checks ------------------------------------------------------------ */

typedef enum Outcome { OUTCOME_ACCEPTED, OUTCOME_REFUSED, OUTCOME_NO_MEMORY, OUTCOMES } Outcome;

/* Makes a call; aborts after a message when it does something that it should not. A call that is kept
 * gets the sizes and elements that it has left; they hold until forgetElements. */
Outcome makeCall(Call *call);
void forgetElements(void);
void startMaking(void);
void printCall(const Call *call);

#endif
