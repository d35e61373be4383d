#include "TH/THWork.h"
#include "call/plan.h"
#include "call/state.h"

#include <stdlib.h>
#include <string.h>

#include <TH/TH.h>
#include <THNNSimd.h>

/* Tells a live state from a freed or foreign pointer. */
static const uint64_t LIVE = 0x7468656e6e737461u;
static const size_t DEFAULT_WORKSPACE_LIMIT = (size_t)8 << 20;
static const size_t MINIMUM_WORKSPACE_LIMIT = (size_t)64 << 10;

/* Whether calls without a state are reproducible. */
static bool reproducibleByDefault;

/* Runs before any caller can make a state. */
__attribute__((constructor)) static void readEnvironment(void)
{
  const char *value = getenv("THNN_REPRODUCIBLE");
  reproducibleByDefault = value && *value && strcmp(value, "0") != 0;
}

/* The settings of a state, or the defaults for NULL. */
static THNNState settingsOf(const THNNState *state)
{
  THNN_State_check(state, "State_copy");
  if (state)
    return *state;
  return (THNNState){.live = LIVE,
                     .minimumWork = TH_MINIMUM_WORK,
                     .workspaceLimit = DEFAULT_WORKSPACE_LIMIT,
                     .reproducible = reproducibleByDefault};
}

THNNState THNN_stateFor(const THNNState *state, THNNConvolutionResult which)
{
  THNNState copy = settingsOf(state);
  const THNNConvolutionAlgorithm algorithm = copy.convolutionAlgorithm[which];
  for (int i = 0; i < THNN_CONVOLUTION_RESULTS; i++)
    copy.convolutionAlgorithm[i] = algorithm;
  return copy;
}

bool THNN_mayKeep(const THNNState *state, THNNKeptKind kind, int realBytes, const void *weight,
                  const THNNKept **latest)
{
  if (!state->kept)
    return false;
  const THNNKept *kept = *latest = TH_ATOMIC_LOAD(state->kept);
  return !kept || (kept->kind == kind && kept->realBytes == realBytes && kept->weight == weight);
}

bool THNN_hasRoomForKept(const THNNKept *latest)
{
  /* As many as a program in Python keeps plans for (MOST_SIZES in pythnn/program/program.py). */
  enum { MOST_KEPT = 8 };
  int count = 0;
  for (; latest; latest = latest->next)
    count++;
  return count < MOST_KEPT;
}

void THNN_leaveKept(const THNNState *state, void *block)
{
  void *latest = (void *)((const THNNKept *)block)->next;
  if (!TH_ATOMIC_EXCHANGE_IF(state->kept, &latest, block))
    THNN_planFree(block);
}

THNNState *THNN_State_new(void)
{
  THNNState *state = THAlloc(sizeof *state);
  *state = settingsOf(NULL);
  return state;
}

void THNN_State_free(THNNState *state)
{
  if (!state)
    return;
  THNN_State_check(state, "State_free");
  THNN_State_setKeepsWeights(state, false);
  state->live = 0;
  THFree(state);
}

void THNN_State_check(const THNNState *state, const char *function)
{
  THArgCheck(!state || state->live == LIVE, 1,
             "%s: argument #1 'state': expected NULL or a state made by THNN_State_new, found "
             "something else",
             function);
  THArgCheck(state || !reproducibleByDefault || THNN_simdReproduces(), 1,
             "%s: the environment variable THNN_REPRODUCIBLE asks for results that take fused "
             "multiply-adds, which the instruction set in use (%s) does not have: unset it",
             function, THNN_simdLevelName());
}

/* Frees what is kept, after a change of a setting that its algorithm was chosen by. */
static void forget(THNNState *state)
{
  if (!state->kept)
    return;
  for (THNNKept *block = *state->kept; block;) {
    THNNKept *next = (THNNKept *)block->next;
    THNN_planFree(block);
    block = next;
  }
  *state->kept = NULL;
}

/* The setters reject NULL, which the other functions take as the default settings. */
static void checkGiven(const THNNState *state, const char *function)
{
  THArgCheck(state != NULL, 1, "%s: argument #1 'state': expected a state, found NULL", function);
  THNN_State_check(state, function);
}

void THNN_State_setThreads(THNNState *state, int threads)
{
  checkGiven(state, "State_setThreads");
  THArgCheck(threads >= 0, 2,
             "State_setThreads: argument #2 'threads': expected 0 (TH's setting) or more, found %d",
             threads);
  state->threads = threads;
}

int THNN_State_threads(const THNNState *state)
{
  THNN_State_check(state, "State_threads");
  return state ? state->threads : 0;
}

void THNN_State_setMinimumWork(THNNState *state, double operations)
{
  checkGiven(state, "State_setMinimumWork");
  THArgCheck(operations >= 1, 2,
             "State_setMinimumWork: argument #2 'operations': expected at least 1, found %g",
             operations);
  state->minimumWork = operations;
  forget(state);
}

double THNN_State_minimumWork(const THNNState *state)
{
  THNN_State_check(state, "State_minimumWork");
  return state ? state->minimumWork : TH_MINIMUM_WORK;
}

void THNN_State_setWorkspaceLimit(THNNState *state, size_t bytes)
{
  checkGiven(state, "State_setWorkspaceLimit");
  THArgCheck(bytes >= MINIMUM_WORKSPACE_LIMIT, 2,
             "State_setWorkspaceLimit: argument #2 'bytes': expected at least %zu, found %zu",
             MINIMUM_WORKSPACE_LIMIT, bytes);
  state->workspaceLimit = bytes;
  forget(state);
}

size_t THNN_State_workspaceLimit(const THNNState *state)
{
  THNN_State_check(state, "State_workspaceLimit");
  return state ? state->workspaceLimit : DEFAULT_WORKSPACE_LIMIT;
}

static void checkAlgorithm(const char *function, int position, THNNConvolutionAlgorithm algorithm)
{
  THArgCheck((int)algorithm >= THNN_CONVOLUTION_AUTO &&
                 (int)algorithm <= THNN_CONVOLUTION_FFT_TILING,
             position,
             "%s: argument #%d 'algorithm': expected 0 (auto), 1 (gemm), 2 (direct), 3 "
             "(winograd), 4 (winograd4) or 5 (fft_tiling), found %d",
             function, position, (int)algorithm);
}

static void checkResult(const char *function, THNNConvolutionResult which)
{
  THArgCheck((int)which >= THNN_OUTPUT && (int)which < THNN_CONVOLUTION_RESULTS, 2,
             "%s: argument #2 'which': expected 0 (output), 1 (gradInput) or 2 (gradWeight), found "
             "%d",
             function, (int)which);
}

void THNN_State_setConvolutionAlgorithm(THNNState *state, THNNConvolutionAlgorithm algorithm)
{
  const char *function = "State_setConvolutionAlgorithm";
  checkGiven(state, function);
  checkAlgorithm(function, 2, algorithm);
  for (int which = 0; which < THNN_CONVOLUTION_RESULTS; which++)
    state->convolutionAlgorithm[which] = algorithm;
  forget(state);
}

THNNConvolutionAlgorithm THNN_State_convolutionAlgorithm(const THNNState *state)
{
  return THNN_State_convolutionAlgorithmOf(state, THNN_OUTPUT);
}

void THNN_State_setConvolutionAlgorithmOf(THNNState *state, THNNConvolutionResult which,
                                          THNNConvolutionAlgorithm algorithm)
{
  const char *function = "State_setConvolutionAlgorithmOf";
  checkGiven(state, function);
  checkResult(function, which);
  checkAlgorithm(function, 3, algorithm);
  state->convolutionAlgorithm[which] = algorithm;
  forget(state);
}

THNNConvolutionAlgorithm THNN_State_convolutionAlgorithmOf(const THNNState *state,
                                                           THNNConvolutionResult which)
{
  THNN_State_check(state, "State_convolutionAlgorithm");
  checkResult("State_convolutionAlgorithmOf", which);
  return state ? state->convolutionAlgorithm[which] : THNN_CONVOLUTION_AUTO;
}

void THNN_State_setConvolutionRow(THNNState *state, const char *row)
{
  checkGiven(state, "State_setConvolutionRow");
  THArgCheck(!row || (*row && strlen(row) <= THNN_LONGEST_ROW), 2,
             "State_setConvolutionRow: argument #2 'row': expected NULL or a name of 1 to %d "
             "characters, found %zu",
             THNN_LONGEST_ROW, row ? strlen(row) : 0);
  strcpy(state->convolutionRow, row ? row : "");
  forget(state);
}

const char *THNN_State_convolutionRow(const THNNState *state)
{
  THNN_State_check(state, "State_convolutionRow");
  return state && *state->convolutionRow ? state->convolutionRow : NULL;
}

void THNN_State_setAccuracy(THNNState *state, THNNAccuracy accuracy)
{
  checkGiven(state, "State_setAccuracy");
  THArgCheck((int)accuracy >= THNN_ACCURACY_STANDARD && (int)accuracy <= THNN_ACCURACY_HIGH, 2,
             "State_setAccuracy: argument #2 'accuracy': expected 0 (standard) or 1 (high), "
             "found %d",
             (int)accuracy);
  state->accuracy = accuracy;
  forget(state);
}

THNNAccuracy THNN_State_accuracy(const THNNState *state)
{
  THNN_State_check(state, "State_accuracy");
  return state ? state->accuracy : THNN_ACCURACY_STANDARD;
}

void THNN_State_setDeterministic(THNNState *state, bool deterministic)
{
  checkGiven(state, "State_setDeterministic");
  state->deterministic = deterministic;
}

bool THNN_State_deterministic(const THNNState *state)
{
  THNN_State_check(state, "State_deterministic");
  return state ? state->deterministic : false;
}

void THNN_State_setReproducible(THNNState *state, bool reproducible)
{
  checkGiven(state, "State_setReproducible");
  THArgCheck(!reproducible || THNN_simdReproduces(), 2,
             "State_setReproducible: argument #2 'reproducible': expected false without fused "
             "multiply-adds, which the instruction set in use (%s) does not have, found true",
             THNN_simdLevelName());
  state->reproducible = reproducible;
  forget(state);
}

bool THNN_State_reproducible(const THNNState *state)
{
  THNN_State_check(state, "State_reproducible");
  return state ? state->reproducible : reproducibleByDefault;
}

void THNN_State_setKeepsWeights(THNNState *state, bool keeps)
{
  checkGiven(state, "State_setKeepsWeights");
  if (keeps && !state->kept) {
    state->kept = THAlloc(sizeof *state->kept);
    *state->kept = NULL;
  } else if (!keeps && state->kept) {
    forget(state);
    THFree(state->kept);
    state->kept = NULL;
  }
}

bool THNN_State_keepsWeights(const THNNState *state)
{
  THNN_State_check(state, "State_keepsWeights");
  return state && state->kept;
}

size_t THNN_State_keptBytes(const THNNState *state)
{
  THNN_State_check(state, "State_keptBytes");
  size_t bytes = 0;
  const THNNKept *kept = state && state->kept ? TH_ATOMIC_LOAD(state->kept) : NULL;
  for (; kept; kept = kept->next)
    bytes += kept->bytes;
  return bytes;
}
